#include "base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace sardonyx {
namespace {

Error file_error(const char* action, const std::string& path) {
    return Error{std::string("cannot ") + action + " `" + path + "`: " + std::strerror(errno)};
}

class Descriptor {
  public:
    explicit Descriptor(int fd) : fd_(fd) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() {
        if (fd_ >= 0) {
            ::close(fd_);
        }
    }
    int get() const { return fd_; }
    int release() {
        int fd = fd_;
        fd_ = -1;
        return fd;
    }

  private:
    int fd_;
};

Result<std::string> read_to_end(int fd, const std::string& path, size_t limit) {
    std::string text;
    char buffer[64 * 1024];
    for (;;) {
        ssize_t count = ::read(fd, buffer, sizeof buffer);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0) {
            return file_error("read", path);
        }
        if (count == 0) {
            return text;
        }
        text.append(buffer, static_cast<size_t>(count));
        if (text.size() > limit) {
            return Error{"`" + path + "` is larger than " + std::to_string(limit) + " bytes"};
        }
    }
}

}  // namespace

Result<MappedFile> map_file(const std::string& path) {
    Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.get() < 0) {
        return file_error("open", path);
    }
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) {
        return file_error("read", path);
    }
    if (!S_ISREG(status.st_mode)) {
        Result<std::string> text = read_to_end(file.get(), path, SIZE_MAX);
        SDX_TRY(text);
        auto owner = std::make_shared<std::string>(std::move(*text));
        std::span<const char> bytes(*owner);
        return MappedFile{owner, std::as_bytes(bytes)};
    }
    size_t size = static_cast<size_t>(status.st_size);
    if (size == 0) {
        return MappedFile{};
    }
    void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
    if (data == MAP_FAILED) {
        return file_error("map", path);
    }
    std::shared_ptr<const void> owner(
        data, [size](const void* mapped) { ::munmap(const_cast<void*>(mapped), size); });
    return MappedFile{owner, {static_cast<const std::byte*>(data), size}};
}

Result<std::string> read_file(const std::string& path, size_t limit) {
    Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.get() < 0) {
        return file_error("open", path);
    }
    return read_to_end(file.get(), path, limit);
}

namespace {

bool write_part(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        ssize_t count = ::write(fd, bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0) {
            return false;
        }
        bytes.remove_prefix(static_cast<size_t>(count));
    }
    return true;
}

bool write_all(int fd, std::span<const std::string_view> parts) {
    return std::all_of(parts.begin(), parts.end(),
                       [fd](std::string_view part) { return write_part(fd, part); });
}

// The file that a path leads to: a link stays, and its target is replaced.
std::string target_of(const std::string& path) {
    char* resolved = ::realpath(path.c_str(), nullptr);
    std::string target = resolved != nullptr ? resolved : path;
    std::free(resolved);
    return target;
}

}  // namespace

Result<void> write_file(const std::string& path, std::string_view bytes, WriteMode mode) {
    return write_file(path, std::span<const std::string_view>(&bytes, 1), mode);
}

Result<void> write_file(const std::string& given, std::span<const std::string_view> parts,
                        WriteMode mode) {
    std::string path = target_of(given);
    struct stat status {};
    bool exists = ::stat(path.c_str(), &status) == 0;
    if (exists && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) {
        // A device or pipe is written into, not replaced.
        Descriptor device(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
        bool is_done = device.get() >= 0 && write_all(device.get(), parts);
        return is_done ? Result<void>() : file_error("write", given);
    }
    std::string temporary = path + ".XXXXXX";
    Descriptor file(::mkstemp(temporary.data()));
    if (file.get() < 0) {
        return file_error("write beside", given);
    }
    auto fail = [&](const char* action) {
        Error error = file_error(action, given);
        ::unlink(temporary.c_str());
        return error;
    };
    if (!write_all(file.get(), parts)) {
        return fail("write");
    }
    // mkstemp makes the file private to its owner; a result has the rights that the umask gives.
    mode_t mask = ::umask(0);
    ::umask(mask);
    bool keeps = exists && mode == WriteMode::kKeepRights;
    mode_t rights = keeps ? status.st_mode & 07777 : 0666 & ~mask;
    if (::fchmod(file.get(), rights) != 0 || ::close(file.release()) != 0) {
        return fail("write");
    }
    if (::rename(temporary.c_str(), path.c_str()) != 0) {
        return fail("write");
    }
    return {};
}

}  // namespace sardonyx
