#include "base/write_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <unordered_map>
#include <utility>

#include "base/descriptor.h"
#include "base/name_hash.h"

namespace sardonyx {
namespace {

Error write_error(const char* action, const std::string& path) {
    return Error{std::string("cannot ") + action + " `" + path + "`: " + std::strerror(errno)};
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

// What all names of temporary files begin with.
constexpr std::string_view kTemporary = ".sardonyx-";

// What the names of temporary files for `path` begin with; short, whatever the name is.
std::string temporary_prefix(const std::string& path) {
    return std::string(kTemporary) + hex(name_hash(path.substr(path.rfind('/') + 1))) + "-";
}

// A NewFiles has at most so many files open; the others have their temporary names early.
constexpr size_t kMostOpen = 128;

// Who gives several files their names has the locks of their folders, so that those of two
// processes do not mix. A folder that cannot be locked, as on some network file systems, is not.
class FolderLocks {
  public:
    void lock(const std::set<std::string>& folders) {
        // In the order of the system's numbers, which all processes have: none waits for another
        // that waits for it.
        std::map<std::pair<dev_t, ino_t>, Descriptor> opened;
        for (const std::string& folder : folders) {
            Descriptor one(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
            struct stat status {};
            if (one.get() >= 0 && ::fstat(one.get(), &status) == 0) {
                opened.emplace(std::pair(status.st_dev, status.st_ino), std::move(one));
            }
        }
        for (auto& [number, folder] : opened) {
            [[maybe_unused]] int locked = ::flock(folder.get(), LOCK_EX);
            locked_.push_back(std::move(folder));
        }
    }

  private:
    std::vector<Descriptor> locked_;
};

}  // namespace

// What killed processes have left in the folders that are written to: each folder is read once.
class NewFiles::LeftOvers {
  public:
    // Removes what is left of files for `path`: nobody has a lock on it.
    void remove_those_of(const std::string& path) {
        std::string folder = folder_of(path), prefix = temporary_prefix(path);
        for (const std::string& name : in_folder(folder)) {
            if (!name.starts_with(prefix)) {
                continue;
            }
            std::string left = folder;
            left += '/';
            left += name;
            Descriptor file(::open(left.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
            if (file.get() >= 0 && ::flock(file.get(), LOCK_EX | LOCK_NB) == 0) {
                ::unlink(left.c_str());
            }
        }
    }

  private:
    const std::vector<std::string>& in_folder(const std::string& folder) {
        auto [names, is_new] = names_.try_emplace(folder);
        DIR* entries = is_new ? ::opendir(folder.c_str()) : nullptr;
        if (entries != nullptr) {
            while (const dirent* entry = ::readdir(entries)) {
                if (std::string_view(entry->d_name).starts_with(kTemporary)) {
                    names->second.emplace_back(entry->d_name);
                }
            }
            ::closedir(entries);
        }
        return names->second;
    }

    std::unordered_map<std::string, std::vector<std::string>> names_;
};

// A file on its way to its place. Until then it has no name, where the system can, and goes with
// the process; elsewhere it has a temporary one.
class NewFiles::File {
  public:
    explicit File(const std::string& given)
        : given_(given), path_(target_of(given)), first_path_(path_), file_(-1) {}
    // One whose name comes later, in the folder of `beside`.
    static std::unique_ptr<File> unnamed(const std::string& beside) {
        auto file = std::make_unique<File>(beside);
        file->given_ = file->path_ = file->first_path_ = beside;
        file->is_unnamed_ = true;
        return file;
    }
    ~File() {
        if (!temporary_.empty()) {
            ::unlink(temporary_.c_str());
        }
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    Result<void> write(std::span<const std::string_view> parts, WriteMode mode,
                       const CopyOptions& options, LeftOvers& left_overs, ContentHash* hash);
    void set_path(const std::string& path) { given_ = path_ = path; }
    bool is_closed() const { return !is_device_ && file_.get() < 0; }
    std::string folder() const { return folder_of(path_); }
    Result<void> flush();
    // The same of all files that were closed, on this file's file system.
    Result<void> flush_closed() const;
    // Leaves the file its temporary name alone. Its lock goes, too.
    Result<void> close();
    Result<void> put_in_place();

  private:
    bool open(LeftOvers& left_overs);
    bool name();
    std::string random_name() const {
        std::random_device random;
        return folder_of(path_) + "/" + temporary_prefix(first_path_) +
               hex(uint64_t{random()} << 32 | random());
    }

    std::string given_;
    std::string path_;
    // The path that is known from the start: what a killed process leaves is found by it, also
    // where the name of the file is made of its content.
    std::string first_path_;
    std::string temporary_;  // empty: it has no name
    Descriptor file_;
    bool is_unnamed_ = false;
    bool is_device_ = false;  // written into at once
};

bool NewFiles::File::open(LeftOvers& left_overs) {
    left_overs.remove_those_of(path_);
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

Result<void> NewFiles::File::write(std::span<const std::string_view> parts, WriteMode mode,
                                   const CopyOptions& options, LeftOvers& left_overs,
                                   ContentHash* hash) {
    struct stat status {};
    bool exists = !is_unnamed_ && ::stat(path_.c_str(), &status) == 0;
    is_device_ = exists && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
    if (is_device_) {
        // A device or pipe is written into, not replaced.
        file_ = Descriptor(::open(path_.c_str(), O_WRONLY | O_CLOEXEC));
        bool is_done = file_.get() >= 0 && copy_bytes(file_.get(), parts, options, hash);
        return is_done ? Result<void>() : write_error("write", given_);
    }
    if (!open(left_overs)) {
        Error error = write_error("create a file in the folder of", given_);
        temporary_.clear();
        return error;
    }
    bool keeps = exists && mode == WriteMode::kKeepRights;
    bool is_done = copy_bytes(file_.get(), parts, options, hash) &&
                   (!keeps || ::fchmod(file_.get(), status.st_mode & 07777) == 0);
    return is_done ? Result<void>() : write_error("write", given_);
}

Result<void> NewFiles::File::flush() {
    bool is_done = is_device_ || file_.get() < 0 || ::fsync(file_.get()) == 0;
    return is_done ? Result<void>() : write_error("write", given_);
}

// One call for thousands of files, where the system has it: each by itself takes milliseconds.
#if defined(__linux__)
constexpr bool kSyncsFileSystems = true;
Result<void> NewFiles::File::flush_closed() const {
    Descriptor folder(::open(folder_of(path_).c_str(), O_RDONLY | O_CLOEXEC));
    bool is_done = folder.get() >= 0 && ::syncfs(folder.get()) == 0;
    return is_done ? Result<void>() : write_error("write", given_);
}
#else
constexpr bool kSyncsFileSystems = false;
Result<void> NewFiles::File::flush_closed() const {
    return {};
}
#endif

Result<void> NewFiles::File::close() {
    SDX_TRY(kSyncsFileSystems ? Result<void>() : flush());
    if (!is_device_ && !name()) {
        return write_error("write", given_);
    }
    file_ = Descriptor(-1);
    return {};
}

// Gives the file a temporary name, since only a name can replace another.
bool NewFiles::File::name() {
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

Result<void> NewFiles::File::put_in_place() {
    if (is_device_) {
        return {};
    }
    if (!name() || ::rename(temporary_.c_str(), path_.c_str()) != 0) {
        return write_error("write", given_);
    }
    temporary_.clear();
    return {};
}

NewFiles::NewFiles(CopyOptions options)
    : options_(std::move(options)), left_overs_(std::make_unique<LeftOvers>()) {}
NewFiles::~NewFiles() = default;

Result<void> NewFiles::write(const std::string& path, std::span<const std::string_view> parts,
                             WriteMode mode) {
    files_.push_back(std::make_unique<File>(path));
    SDX_TRY(files_.back()->write(parts, mode, options_, *left_overs_, nullptr));
    return files_.size() > kMostOpen ? files_.back()->close() : Result<void>();
}

Result<std::string> NewFiles::write_named(
    const std::string& beside, std::span<const std::string_view> parts,
    const std::function<std::string(uint64_t hash)>& path_of) {
    ContentHash hash;
    files_.push_back(File::unnamed(beside));
    SDX_TRY(files_.back()->write(parts, WriteMode::kNewRights, options_, *left_overs_, &hash));
    std::string path = path_of(hash.value());
    files_.back()->set_path(path);
    SDX_TRY(files_.size() > kMostOpen ? files_.back()->close() : Result<void>());
    return path;
}

Result<void> NewFiles::put_in_place() {
    std::set<std::string> folders, flushed;
    for (const auto& file : files_) {
        SDX_TRY(files_.size() > 1 ? file->flush() : Result<void>());
        folders.insert(file->folder());
        if (file->is_closed() && flushed.insert(file->folder()).second) {
            SDX_TRY(file->flush_closed());
        }
    }
    FolderLocks locks;
    if (files_.size() > 1) {
        locks.lock(folders);
    }
    for (const auto& file : files_) {
        SDX_TRY(file->put_in_place());
    }
    files_.clear();
    return {};
}

Result<void> NewFiles::put(const std::string& path, std::string_view bytes) {
    SDX_TRY(write(path, {&bytes, 1}));
    return put_in_place();
}

Result<void> write_file(const std::string& path, std::string_view bytes, WriteMode mode) {
    NewFiles files;
    SDX_TRY(files.write(path, {&bytes, 1}, mode));
    return files.put_in_place();
}

Result<void> write_files(std::span<const FileParts> parts) {
    NewFiles files;
    for (const FileParts& file : parts) {
        SDX_TRY(files.write(file.path, file.parts));
    }
    return files.put_in_place();
}

}  // namespace sardonyx
