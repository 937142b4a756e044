// ZIP archives, read where they lie: the central directory at the end of the file, and where the
// bytes of each entry are (APPNOTE.TXT of PKWARE, sections 4.3 to 4.5; with ZIP64).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sardonyx {

constexpr uint64_t kZipStored = 0, kZipDeflated = 8;

struct ZipEntry {
    std::string name;
    uint64_t method = 0;
    uint64_t size = 0;  // as the directory says
    bool is_encrypted = false;
    std::span<const std::byte> bytes;  // as they are stored
};

// The entries in the order of the directory. Nothing: it is no archive, or is damaged; entries that
// have more bytes together than the file, which overlap, are damage, too.
std::optional<std::vector<ZipEntry>> read_zip(std::span<const std::byte> bytes);

}  // namespace sardonyx
