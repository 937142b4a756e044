#include "base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/vfs.h>
#endif

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>

#include "base/descriptor.h"

namespace sardonyx {
namespace {

Error file_error(const char* action, const std::string& path) {
    return Error{std::string("cannot ") + action + " `" + path + "`: " + std::strerror(errno)};
}

FileState state_of(const struct stat& status) {
#if defined(__APPLE__)
    const timespec& time = status.st_mtimespec;
#else
    const timespec& time = status.st_mtim;
#endif
    return {static_cast<int64_t>(status.st_size), static_cast<int64_t>(time.tv_sec),
            static_cast<int64_t>(time.tv_nsec)};
}

Result<std::string> read_to_end(int fd, const std::string& path, size_t limit) {
    std::string text;
    char buffer[64 * 1024];
    for (;;) {
        ssize_t count = read_some(fd, buffer, sizeof buffer);
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

// Below that a copy costs no more than the pages of a mapping.
constexpr int64_t kSmallest = 1 << 20;

// Whether the file is of a network or of a program, where a mapping may fail at any time.
bool is_shared([[maybe_unused]] int descriptor) {
#if defined(__linux__)
    constexpr uint32_t kShared[] = {0x6969,     0x517B,     0xFF534D42, 0xFE534D42,
                                    0x65735546, 0x01021997, 0x00C36400, 0x0BD00BD0};
    struct statfs status {};
    return ::fstatfs(descriptor, &status) == 0 &&
           std::find(std::begin(kShared), std::end(kShared),
                     static_cast<uint32_t>(status.f_type)) != std::end(kShared);
#else
    return false;
#endif
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
    if (!S_ISREG(status.st_mode) || status.st_size < kSmallest || is_shared(file.get())) {
        size_t limit = S_ISREG(status.st_mode) ? SIZE_MAX : kLargestStream;
        Result<std::string> text = read_to_end(file.get(), path, limit);
        SDX_TRY(text);
        auto owner = std::make_shared<std::string>(std::move(*text));
        std::span<const char> bytes(*owner);
        return MappedFile{owner, std::as_bytes(bytes), nullptr};
    }
    size_t size = static_cast<size_t>(status.st_size);
    void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
    if (data == MAP_FAILED) {
        return file_error("map", path);
    }
    std::span<const std::byte> bytes(static_cast<const std::byte*>(data), size);
    auto stamp = std::make_shared<FileStamp>(file.release(), path, bytes);
    std::shared_ptr<const void> owner(data, [size, stamp](const void* mapped) {
        stamp->forget_mapping();
        ::munmap(const_cast<void*>(mapped), size);
    });
    return MappedFile{std::move(owner), bytes, std::move(stamp)};
}

std::optional<FileState> file_state(const std::string& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 ? std::optional(state_of(status)) : std::nullopt;
}

FileStamp::FileStamp(int descriptor, std::string path, std::span<const std::byte> bytes)
    : descriptor_(descriptor),
      path_(std::move(path)),
      bytes_(bytes),
      guard_(bytes.data(), bytes.size()),
      first_(now()) {}

FileStamp::~FileStamp() {
    ::close(descriptor_);
}

std::optional<int64_t> FileStamp::offset_of(std::string_view part) const {
    const char* first = reinterpret_cast<const char*>(bytes_.data());
    std::less<> is_before;
    bool is_inside = !is_before(part.data(), first) &&
                     !is_before(first + bytes_.size(), part.data() + part.size());
    return is_inside ? std::optional<int64_t>(part.data() - first) : std::nullopt;
}

bool FileStamp::is_file(const std::string& path) const {
    struct stat own {};
    struct stat named {};
    return ::fstat(descriptor_, &own) == 0 && ::stat(path.c_str(), &named) == 0 &&
           own.st_dev == named.st_dev && own.st_ino == named.st_ino;
}

FileState FileStamp::now() const {
    struct stat status {};
    return ::fstat(descriptor_, &status) == 0 ? state_of(status) : FileState{};
}

Result<void> FileStamp::check() const {
    FileState state = now();
    if (state == first_ && !guard_.is_damaged()) {
        return {};
    }
    bool is_shorter = state.size < first_.size || guard_.is_damaged();
    return Error{
        "`" + path_ + "` was " + (is_shorter ? "truncated" : "overwritten") +
        " after it was loaded: load it again; to replace a file that is in use, write a new "
        "one and rename it"};
}

Result<void> check_unchanged(const FileStamps& stamps) {
    for (const auto& stamp : stamps) {
        SDX_TRY(stamp->check());
    }
    return {};
}

MappedReading::MappedReading(const FileStamps& stamps) : stamps_(stamps) {
    for (const auto& stamp : stamps_) {
        stamp->guard().begin_reading();
    }
}

MappedReading::~MappedReading() {
    for (const auto& stamp : stamps_) {
        stamp->guard().end_reading();
    }
}

Result<std::string> read_file(const std::string& path, size_t limit) {
    Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.get() < 0) {
        return file_error("open", path);
    }
    return read_to_end(file.get(), path, limit);
}

}  // namespace sardonyx
