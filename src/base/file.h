// Files that are read, whole or mapped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapping_guard.h"
#include "base/result.h"

namespace sardonyx {

// What changes when a file is written: its size in bytes and its time of change.
struct FileState {
    int64_t size = -1;
    int64_t seconds = 0;
    int64_t nanoseconds = 0;
    friend bool operator==(const FileState&, const FileState&) = default;
};
// Nothing: there is no such file, or it may not be looked at.
std::optional<FileState> file_state(const std::string& path);

// Tells whether a mapped file is as it was: one that is overwritten changes what is read through
// the mapping, and reading what a truncated one has lost ends the process (SIGBUS) but where a
// MappedReading lives. Replacing the file by another of its name does neither.
class FileStamp {
  public:
    FileStamp(int descriptor, std::string path, std::span<const std::byte> bytes);
    ~FileStamp();
    FileStamp(const FileStamp&) = delete;
    FileStamp& operator=(const FileStamp&) = delete;

    // Error: its size or its time of change are others, or it could not be read.
    Result<void> check() const;
    const MappingGuard& guard() const { return guard_; }
    void forget_mapping() {
        guard_.forget();
        bytes_ = {};
    }
    // Where a part of the mapping stands in the file; nothing for other bytes.
    std::optional<int64_t> offset_of(std::string_view part) const;
    // The file itself, which may have another name by now.
    int descriptor() const { return descriptor_; }
    bool is_file(const std::string& path) const;  // it has this name

  private:
    FileState now() const;

    int descriptor_;
    std::string path_;
    std::span<const std::byte> bytes_;
    MappingGuard guard_;
    FileState first_;
};
using FileStamps = std::vector<std::shared_ptr<const FileStamp>>;
// Those who read mapped files ask before they begin, and throw away what they made when the answer
// is another afterwards.
Result<void> check_unchanged(const FileStamps& stamps);

// While one lives, what these files have lost reads as zeros, and check_unchanged() says so.
class MappedReading {
  public:
    explicit MappedReading(const FileStamps& stamps);  // they stay as they are
    ~MappedReading();
    MappedReading(const MappedReading&) = delete;
    MappedReading& operator=(const MappedReading&) = delete;

  private:
    const FileStamps& stamps_;
};

// The bytes of a file, mapped read-only; freed with the last owner. Small files, and those of a
// network, are copied.
struct MappedFile {
    std::shared_ptr<const void> owner;
    std::span<const std::byte> bytes;
    std::shared_ptr<const FileStamp> stamp;  // null: a copy
};

// The most bytes that are read of a pipe or a device, which may never end: as many as protobuf
// allows.
constexpr size_t kLargestStream = size_t{1} << 31U;

// Errors: missing, unreadable. Pipes and devices are read to the end; error: more than
// kLargestStream.
Result<MappedFile> map_file(const std::string& path);

// Reads a whole file as text. Errors: as map_file, and larger than `limit` bytes.
Result<std::string> read_file(const std::string& path, size_t limit);

}  // namespace sardonyx
