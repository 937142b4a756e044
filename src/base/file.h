// Files: reading whole or mapped, and writing so that a failure leaves no half-written file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sardonyx {

// The bytes of a file, mapped read-only where the system can; freed with the last owner.
struct MappedFile {
    std::shared_ptr<const void> owner;
    std::span<const std::byte> bytes;
};

// Errors: missing, unreadable, not a regular file (pipes and devices are read to the end instead).
Result<MappedFile> map_file(const std::string& path);

// Reads a whole file as text. Errors: as map_file, and larger than `limit` bytes.
Result<std::string> read_file(const std::string& path, size_t limit);

// The rights of a file that is replaced: those that a new file gets, or those that it had.
enum class WriteMode { kNewRights, kKeepRights };

// Writes a temporary file beside `path`, then renames it: readers see the old bytes or the new. A
// link leads to the file that is replaced; a device or pipe is written into.
Result<void> write_file(const std::string& path, std::string_view bytes,
                        WriteMode mode = WriteMode::kNewRights);
// The same for bytes in parts, one after the other.
Result<void> write_file(const std::string& path, std::span<const std::string_view> parts,
                        WriteMode mode = WriteMode::kNewRights);

}  // namespace sardonyx
