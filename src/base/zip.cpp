#include "base/zip.h"

#include <algorithm>

namespace sardonyx {
namespace {

constexpr uint32_t kEnd = 0x06054b50, kEnd64 = 0x06064b50, kEnd64Locator = 0x07064b50;
constexpr uint32_t kCentral = 0x02014b50, kLocal = 0x04034b50;
constexpr size_t kEndSize = 22, kLocatorSize = 20, kEnd64Size = 56;
constexpr size_t kCentralSize = 46, kLocalSize = 30;
constexpr size_t kMaxComment = 0xFFFF;
constexpr uint32_t kIn64 = 0xFFFFFFFF;  // the field stands in the zip64 record instead

class Zip {
  public:
    explicit Zip(std::span<const std::byte> bytes) : bytes_(bytes) {}

    bool has(uint64_t at, uint64_t size) const {
        return at <= bytes_.size() && size <= bytes_.size() - at;
    }
    // Little-endian; the bytes must be there.
    uint64_t number(size_t at, size_t size) const {
        uint64_t value = 0;
        for (size_t i = 0; i < size; ++i) {
            value |= static_cast<uint64_t>(bytes_[at + i]) << (8 * i);
        }
        return value;
    }
    bool is_record(uint64_t at, uint64_t size, uint32_t signature) const {
        return has(at, size) && number(static_cast<size_t>(at), 4) == signature;
    }
    std::string text(size_t at, size_t size) const {
        return {reinterpret_cast<const char*>(bytes_.data()) + at, size};
    }
    std::span<const std::byte> part(uint64_t at, uint64_t size) const {
        return bytes_.subspan(static_cast<size_t>(at), static_cast<size_t>(size));
    }
    size_t size() const { return bytes_.size(); }

  private:
    std::span<const std::byte> bytes_;
};

struct Directory {
    uint64_t count = 0;
    uint64_t at = 0;
};

std::optional<Directory> find_directory(const Zip& zip) {
    size_t lowest = zip.size() - std::min(zip.size(), kEndSize + kMaxComment);
    for (size_t at = zip.size() - std::min(zip.size(), kEndSize) + 1; at-- > lowest;) {
        if (!zip.is_record(at, kEndSize, kEnd)) {
            continue;
        }
        Directory found{zip.number(at + 10, 2), zip.number(at + 16, 4)};
        if (found.at != kIn64 && found.count != 0xFFFF) {
            return found;
        }
        if (at < kLocatorSize || !zip.is_record(at - kLocatorSize, kLocatorSize, kEnd64Locator)) {
            return std::nullopt;
        }
        uint64_t end64 = zip.number(at - kLocatorSize + 8, 8);
        if (!zip.is_record(end64, kEnd64Size, kEnd64)) {
            return std::nullopt;
        }
        size_t record = static_cast<size_t>(end64);
        return Directory{zip.number(record + 32, 8), zip.number(record + 48, 8)};
    }
    return std::nullopt;
}

struct Record {
    ZipEntry entry;
    uint64_t compressed = 0;
    uint64_t offset = 0;
    uint64_t next = 0;  // where the next record of the directory begins
};

// The zip64 extra field has those of size, compressed size and offset that are too large, in this
// order.
void read_extra(const Zip& zip, size_t at, size_t size, Record& record) {
    for (size_t end = at + size; at + 4 <= end;) {
        size_t field = at + 4, length = static_cast<size_t>(zip.number(at + 2, 2));
        if (zip.number(at, 2) == 1 && field + length <= end) {
            for (uint64_t* value : {&record.entry.size, &record.compressed, &record.offset}) {
                if (*value == kIn64 && length >= 8) {
                    *value = zip.number(field, 8);
                    field += 8;
                    length -= 8;
                }
            }
            return;
        }
        at = field + length;
    }
}

std::optional<Record> read_record(const Zip& zip, uint64_t where) {
    if (!zip.is_record(where, kCentralSize, kCentral)) {
        return std::nullopt;
    }
    size_t at = static_cast<size_t>(where);
    size_t name = static_cast<size_t>(zip.number(at + 28, 2));
    size_t extra = static_cast<size_t>(zip.number(at + 30, 2));
    Record record;
    record.next = where + kCentralSize + name + extra + zip.number(at + 32, 2);
    if (!zip.has(where, record.next - where)) {
        return std::nullopt;
    }
    record.entry.name = zip.text(at + kCentralSize, name);
    record.entry.is_encrypted = (zip.number(at + 8, 2) & 1) != 0;
    record.entry.method = zip.number(at + 10, 2);
    record.compressed = zip.number(at + 20, 4);
    record.entry.size = zip.number(at + 24, 4);
    record.offset = zip.number(at + 42, 4);
    read_extra(zip, at + kCentralSize + name, extra, record);
    return record;
}

}  // namespace

std::optional<std::vector<ZipEntry>> read_zip(std::span<const std::byte> bytes) {
    Zip zip(bytes);
    std::optional<Directory> directory = find_directory(zip);
    if (!directory) {
        return std::nullopt;
    }
    std::vector<ZipEntry> entries;
    uint64_t at = directory->at, total = 0;
    for (uint64_t i = 0; i < directory->count; ++i) {
        std::optional<Record> record = read_record(zip, at);
        if (!record || !zip.is_record(record->offset, kLocalSize, kLocal)) {
            return std::nullopt;
        }
        // The lengths of the local header are its own.
        size_t local = static_cast<size_t>(record->offset);
        uint64_t data =
            record->offset + kLocalSize + zip.number(local + 26, 2) + zip.number(local + 28, 2);
        ZipEntry& entry = record->entry;
        if (!zip.has(data, record->compressed) || record->compressed > bytes.size() - total ||
            (entry.method == kZipStored && entry.size != record->compressed)) {
            return std::nullopt;
        }
        total += record->compressed;
        entry.bytes = zip.part(data, record->compressed);
        entries.push_back(std::move(entry));
        at = record->next;
    }
    return entries;
}

}  // namespace sardonyx
