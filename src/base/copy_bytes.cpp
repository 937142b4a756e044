#include "base/copy_bytes.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <string>

#include "base/descriptor.h"

namespace sardonyx {
namespace {

constexpr size_t kPiece = 1 << 18;        // what is written at once from memory
constexpr size_t kJoined = 1 << 16;       // smaller parts are written together
constexpr size_t kSystemPiece = 1 << 26;  // what the system copies at once

// Where bytes stand in an open file.
struct FilePlace {
    int descriptor;
    int64_t offset;

    FilePlace after(size_t size) const { return {descriptor, offset + static_cast<int64_t>(size)}; }
};

bool is_regular(int descriptor) {
    struct stat status {};
    return ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
}

// How many bytes from here on have no place on the disk, and read as zeros.
size_t size_of_hole([[maybe_unused]] FilePlace from, [[maybe_unused]] size_t most) {
#if defined(SEEK_DATA)
    off_t data = ::lseek(from.descriptor, static_cast<off_t>(from.offset), SEEK_DATA);
    if (data < 0) {
        return errno == ENXIO ? most : 0;  // there are no more
    }
    return std::min(most, static_cast<size_t>(data - from.offset));
#else
    return 0;
#endif
}

// Before the next hole.
size_t size_of_data([[maybe_unused]] FilePlace from, size_t most) {
#if defined(SEEK_DATA)
    off_t hole = ::lseek(from.descriptor, static_cast<off_t>(from.offset), SEEK_HOLE);
    return hole > from.offset ? std::min(most, static_cast<size_t>(hole - from.offset)) : most;
#else
    return most;
#endif
}

class Copy {
  public:
    Copy(int descriptor, const CopyOptions& options, ContentHash* hash)
        : descriptor_(descriptor),
          options_(options),
          hash_(hash),
          can_skip_(is_regular(descriptor)) {}

    bool add(std::string_view part) {
        if (part.size() < kJoined) {
            joined_ += part;
            return joined_.size() < kPiece || flush();
        }
        return flush() && add_large(part);
    }
    bool flush() {
        bool is_done = write(joined_);
        joined_.clear();
        return is_done;
    }
    bool finish() {
        return flush() &&
               (!has_holes_ || ::ftruncate(descriptor_, ::lseek(descriptor_, 0, SEEK_CUR)) == 0);
    }

  private:
    bool add_large(std::string_view part);
    bool add_hole(size_t size);
    bool add_data(std::optional<FilePlace> from, std::string_view part);
    std::string_view read_again(FilePlace from, std::string_view piece);
    size_t copy_by_system(FilePlace from, size_t size);
    std::optional<FilePlace> place_of(std::string_view part) const;

    bool write(std::string_view bytes) {
        if (hash_ != nullptr) {
            hash_->add(bytes);
        }
        return write_bytes(descriptor_, bytes) && report(bytes.size());
    }
    bool report(size_t size) const {
        if (options_.watch != nullptr && size != 0) {
            options_.watch(size);
        }
        return true;
    }

    int descriptor_;
    const CopyOptions& options_;
    ContentHash* hash_;
    bool can_skip_;
    bool has_holes_ = false;
    std::string joined_;
    std::unique_ptr<char[]> buffer_;
};

std::optional<FilePlace> Copy::place_of(std::string_view part) const {
    for (const auto& stamp : options_.sources) {
        if (std::optional<int64_t> offset = stamp->offset_of(part)) {
            return FilePlace{stamp->descriptor(), *offset};
        }
    }
    return std::nullopt;
}

// How many bytes the system has copied: none where it cannot, as to other kinds of file.
size_t Copy::copy_by_system([[maybe_unused]] FilePlace from, [[maybe_unused]] size_t size) {
    size_t done = 0;
#if defined(__linux__)
    off_t offset = static_cast<off_t>(from.offset);
    while (done < size) {
        ssize_t count = ::copy_file_range(from.descriptor, &offset, descriptor_, nullptr,
                                          std::min(kSystemPiece, size - done), 0);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            break;
        }
        done += static_cast<size_t>(count);
        report(static_cast<size_t>(count));
    }
#endif
    return done;
}

// The same bytes from the file: pages of a mapping that are read stay in memory. What the file has
// lost comes from the mapping, which says so (MappedReading).
std::string_view Copy::read_again(FilePlace from, std::string_view piece) {
    if (buffer_ == nullptr) {
        buffer_ = std::make_unique<char[]>(kPiece);
    }
    size_t done = 0;
    while (done < piece.size()) {
        ssize_t count = ::pread(from.descriptor, buffer_.get() + done, piece.size() - done,
                                static_cast<off_t>(from.offset + static_cast<int64_t>(done)));
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            return piece;
        }
        done += static_cast<size_t>(count);
    }
    return {buffer_.get(), done};
}

bool Copy::add_data(std::optional<FilePlace> from, std::string_view part) {
    size_t done = from && hash_ == nullptr ? copy_by_system(*from, part.size()) : 0;
    while (done < part.size()) {
        std::string_view piece = part.substr(done, kPiece);
        if (!write(from ? read_again(from->after(done), piece) : piece)) {
            return false;
        }
        done += piece.size();
    }
    return true;
}

// A hole in the new file, too.
bool Copy::add_hole(size_t size) {
    static constexpr char kZeros[kJoined] = {};
    for (size_t left = hash_ != nullptr ? size : 0; left > 0;) {
        size_t count = std::min(left, sizeof kZeros);
        hash_->add({kZeros, count});
        left -= count;
    }
    has_holes_ = true;
    return ::lseek(descriptor_, static_cast<off_t>(size), SEEK_CUR) >= 0 && report(size);
}

bool Copy::add_large(std::string_view part) {
    std::optional<FilePlace> from = place_of(part);
    while (!part.empty()) {
        size_t hole = from && can_skip_ ? size_of_hole(*from, part.size()) : 0;
        size_t size = hole != 0 ? hole : from ? size_of_data(*from, part.size()) : part.size();
        if (!(hole != 0 ? add_hole(hole) : add_data(from, part.substr(0, size)))) {
            return false;
        }
        part.remove_prefix(size);
        from = from ? std::optional(from->after(size)) : from;
    }
    return true;
}

}  // namespace

bool copy_bytes(int descriptor, std::span<const std::string_view> parts, const CopyOptions& options,
                ContentHash* hash) {
    Copy copy(descriptor, options, hash);
    return std::all_of(parts.begin(), parts.end(),
                       [&](std::string_view part) { return copy.add(part); }) &&
           copy.finish();
}

}  // namespace sardonyx
