#include "base/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/vfs.h>
#endif

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "base/name_hash.h"

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
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
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
        Result<std::string> text = read_to_end(file.get(), path, SIZE_MAX);
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
      guard_(bytes.data(), bytes.size()),
      first_(now()) {}

FileStamp::~FileStamp() {
    ::close(descriptor_);
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

std::string folder_of(const std::string& path) {
    size_t slash = path.rfind('/');
    return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

std::string hex(uint64_t number) {
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(number));
    return text;
}

// What the names of temporary files for `path` begin with; short, whatever the name is.
std::string temporary_prefix(const std::string& path) {
    return ".sardonyx-" + hex(name_hash(path.substr(path.rfind('/') + 1))) + "-";
}

// Removes what killed processes have left of their files for `path`: nobody has a lock on it.
void remove_left_over(const std::string& path) {
    std::string folder = folder_of(path), prefix = temporary_prefix(path);
    DIR* entries = ::opendir(folder.c_str());
    if (entries == nullptr) {
        return;
    }
    while (const dirent* entry = ::readdir(entries)) {
        if (std::strncmp(entry->d_name, prefix.c_str(), prefix.size()) != 0) {
            continue;
        }
        std::string left = folder + "/" + entry->d_name;
        Descriptor file(::open(left.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
        if (file.get() >= 0 && ::flock(file.get(), LOCK_EX | LOCK_NB) == 0) {
            ::unlink(left.c_str());
        }
    }
    ::closedir(entries);
}

// A file on its way to its place. Until then it has no name, where the system can, and goes with
// the process; elsewhere it has a temporary one.
class NewFile {
  public:
    explicit NewFile(const std::string& given)
        : given_(given), path_(target_of(given)), file_(-1) {}
    ~NewFile() {
        if (!temporary_.empty()) {
            ::unlink(temporary_.c_str());
        }
    }
    NewFile(const NewFile&) = delete;
    NewFile& operator=(const NewFile&) = delete;

    Result<void> write(std::span<const std::string_view> parts, WriteMode mode, bool flush);
    Result<void> put_in_place();

  private:
    bool open();
    bool name();
    std::string random_name() const {
        std::random_device random;
        return folder_of(path_) + "/" + temporary_prefix(path_) +
               hex(uint64_t{random()} << 32 | random());
    }

    std::string given_;
    std::string path_;
    std::string temporary_;  // empty: it has no name
    Descriptor file_;
    bool is_device_ = false;  // written into at once
};

bool NewFile::open() {
    remove_left_over(path_);
#if defined(O_TMPFILE)
    if (::access("/proc/self/fd", X_OK) == 0) {  // name() needs it
        file_ = Descriptor(::open(folder_of(path_).c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666));
    }
#endif
    if (file_.get() < 0) {
        temporary_ = random_name();
        file_ = Descriptor(
            ::open(temporary_.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0666));
    }
    if (file_.get() < 0) {
        return false;
    }
    // The lock says that somebody is at it; where there are none, nothing is removed either.
    [[maybe_unused]] int locked = ::flock(file_.get(), LOCK_EX | LOCK_NB);
    return true;
}

Result<void> NewFile::write(std::span<const std::string_view> parts, WriteMode mode, bool flush) {
    struct stat status {};
    bool exists = ::stat(path_.c_str(), &status) == 0;
    is_device_ = exists && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
    if (is_device_) {
        // A device or pipe is written into, not replaced.
        file_ = Descriptor(::open(path_.c_str(), O_WRONLY | O_CLOEXEC));
        bool is_done = file_.get() >= 0 && write_all(file_.get(), parts);
        return is_done ? Result<void>() : file_error("write", given_);
    }
    if (!open()) {
        Error error = file_error("create a file in the folder of", given_);
        temporary_.clear();
        return error;
    }
    bool keeps = exists && mode == WriteMode::kKeepRights;
    bool is_done = write_all(file_.get(), parts) &&
                   (!keeps || ::fchmod(file_.get(), status.st_mode & 07777) == 0) &&
                   (!flush || ::fsync(file_.get()) == 0);
    return is_done ? Result<void>() : file_error("write", given_);
}

// Gives the file a temporary name, since only a name can replace another.
bool NewFile::name() {
    if (!temporary_.empty()) {
        return true;
    }
    std::string open_file = "/proc/self/fd/" + std::to_string(file_.get());
    std::string chosen = random_name();
    if (::linkat(AT_FDCWD, open_file.c_str(), AT_FDCWD, chosen.c_str(), AT_SYMLINK_FOLLOW) != 0) {
        return false;
    }
    temporary_ = std::move(chosen);
    return true;
}

Result<void> NewFile::put_in_place() {
    if (is_device_) {
        return {};
    }
    if (!name() || ::rename(temporary_.c_str(), path_.c_str()) != 0) {
        return file_error("write", given_);
    }
    temporary_.clear();
    return {};
}

}  // namespace

Result<void> write_file(const std::string& path, std::string_view bytes, WriteMode mode) {
    NewFile file(path);
    SDX_TRY(file.write({&bytes, 1}, mode, false));
    return file.put_in_place();
}

Result<void> write_files(std::span<const FileParts> files) {
    std::vector<std::unique_ptr<NewFile>> written;
    for (const FileParts& file : files) {
        written.push_back(std::make_unique<NewFile>(file.path));
        SDX_TRY(written.back()->write(file.parts, WriteMode::kNewRights, files.size() > 1));
    }
    for (const auto& file : written) {
        SDX_TRY(file->put_in_place());
    }
    return {};
}

}  // namespace sardonyx
