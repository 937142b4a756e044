// .npz: a zip archive of .npy files. Only what numpy.savez and savez_compressed write is read:
// stored and deflated entries, found by the central directory at the archive's end (APPNOTE.TXT of
// PKWARE, sections 4.3 to 4.5). zlib inflates them where it is installed.
#include <fmt/format.h>

#if __has_include(<zlib.h>)
#include <zlib.h>
#endif

#include <algorithm>
#include <cstring>

#include "base/quote.h"
#include "base/shared_library.h"
#include "weights/npy.h"
#include "weights/weights.h"

namespace sardonyx::weights {
namespace {

constexpr uint32_t kEnd = 0x06054b50, kEnd64 = 0x06064b50, kEnd64Locator = 0x07064b50;
constexpr uint32_t kCentral = 0x02014b50, kLocal = 0x04034b50;
constexpr size_t kEndSize = 22, kLocatorSize = 20, kEnd64Size = 56;
constexpr size_t kCentralSize = 46, kLocalSize = 30;
constexpr size_t kMaxComment = 0xFFFF;
constexpr uint64_t kStored = 0, kDeflated = 8;
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

Error damaged() {
    return Error{"it is not an .npz archive, or is damaged"};
}

struct Directory {
    uint64_t count = 0;
    uint64_t at = 0;
};

Result<Directory> find_directory(const Zip& zip) {
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
            return damaged();
        }
        uint64_t end64 = zip.number(at - kLocatorSize + 8, 8);
        if (!zip.is_record(end64, kEnd64Size, kEnd64)) {
            return damaged();
        }
        size_t record = static_cast<size_t>(end64);
        return Directory{zip.number(record + 32, 8), zip.number(record + 48, 8)};
    }
    return damaged();
}

struct Entry {
    std::string name;
    uint64_t method = 0;
    uint64_t size = 0;
    uint64_t compressed = 0;
    uint64_t offset = 0;
    uint64_t next = 0;  // where the next record of the directory begins
};

Error no_zlib(const Entry& entry) {
    return Error{
        fmt::format("{} is compressed, and zlib is not installed: save it with "
                    "`numpy.savez`, whose arrays can be mapped, too",
                    quoted(entry.name))};
}

// The zip64 extra field has those of size, compressed size and offset that are too large, in this
// order.
void read_extra(const Zip& zip, size_t at, size_t size, Entry& entry) {
    for (size_t end = at + size; at + 4 <= end;) {
        size_t field = at + 4, length = static_cast<size_t>(zip.number(at + 2, 2));
        if (zip.number(at, 2) == 1 && field + length <= end) {
            for (uint64_t* value : {&entry.size, &entry.compressed, &entry.offset}) {
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

Result<Entry> read_entry(const Zip& zip, uint64_t where) {
    if (!zip.is_record(where, kCentralSize, kCentral)) {
        return damaged();
    }
    size_t at = static_cast<size_t>(where);
    size_t name = static_cast<size_t>(zip.number(at + 28, 2));
    size_t extra = static_cast<size_t>(zip.number(at + 30, 2));
    Entry entry;
    entry.next = where + kCentralSize + name + extra + zip.number(at + 32, 2);
    if (!zip.has(where, entry.next - where)) {
        return damaged();
    }
    entry.name = zip.text(at + kCentralSize, name);
    entry.method = zip.number(at + 10, 2);
    entry.size = zip.number(at + 24, 4);
    entry.offset = zip.number(at + 42, 4);
    entry.compressed = zip.number(at + 20, 4);
    read_extra(zip, at + kCentralSize + name, extra, entry);
    return entry;
}

using Inflated = std::vector<std::byte>;

#if __has_include(<zlib.h>)

const SharedLibrary& zlib() {
    static const SharedLibrary library("libz.so.1");
    return library;
}

// The bytes of a deflated entry. Its size is believed as far as deflate can go.
Result<std::shared_ptr<Inflated>> inflated(std::span<const std::byte> bytes, const Entry& entry) {
    constexpr uint64_t kMostPerByte = 1032, kSome = 64;
    if (entry.size > bytes.size() * kMostPerByte + kSome) {
        return damaged();
    }
    LibraryFunction<decltype(&inflateInit2_)> start(zlib(), "inflateInit2_");
    LibraryFunction<decltype(&inflate)> run(zlib(), "inflate");
    LibraryFunction<decltype(&inflateEnd)> end(zlib(), "inflateEnd");
    if (!start || !run || !end) {
        return no_zlib(entry);
    }
    auto whole = std::make_shared<Inflated>(static_cast<size_t>(entry.size));
    z_stream stream{};
    constexpr int kRaw = -15;  // without zlib's own header
    if (start(&stream, kRaw, ZLIB_VERSION, static_cast<int>(sizeof stream)) != Z_OK) {
        return no_zlib(entry);
    }
    constexpr size_t kMostAtOnce = size_t{1} << 30;
    size_t read = 0, written = 0;
    int status = Z_OK;
    while (status == Z_OK) {
        size_t input = std::min(bytes.size() - read, kMostAtOnce);
        size_t output = std::min(whole->size() - written, kMostAtOnce);
        stream.next_in =
            reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data() + read));  // only read
        stream.next_out = reinterpret_cast<Bytef*>(whole->data() + written);
        stream.avail_in = static_cast<uInt>(input);
        stream.avail_out = static_cast<uInt>(output);
        status = run(&stream, Z_NO_FLUSH);  // Z_BUF_ERROR when it gets no further
        read += input - stream.avail_in;
        written += output - stream.avail_out;
    }
    end(&stream);
    return status == Z_STREAM_END && written == whole->size()
               ? Result<std::shared_ptr<Inflated>>(std::move(whole))
               : damaged();
}

#else

Result<std::shared_ptr<Inflated>> inflated(std::span<const std::byte>, const Entry& entry) {
    return no_zlib(entry);
}

#endif

Result<Tensor> read_tensor(const Zip& zip, const Entry& entry,
                           const std::shared_ptr<const void>& owner) {
    if (entry.method != kStored && entry.method != kDeflated) {
        return Error{
            fmt::format("{} is compressed in a way that NumPy does not write", quoted(entry.name))};
    }
    if (!zip.is_record(entry.offset, kLocalSize, kLocal)) {
        return damaged();
    }
    size_t at = static_cast<size_t>(entry.offset);
    uint64_t data = entry.offset + kLocalSize + zip.number(at + 26, 2) + zip.number(at + 28, 2);
    if (!zip.has(data, entry.compressed)) {
        return damaged();
    }
    std::span<const std::byte> bytes = zip.part(data, entry.compressed);
    std::shared_ptr<const void> keeper = owner;
    if (entry.method == kDeflated) {
        Result<std::shared_ptr<Inflated>> whole = inflated(bytes, entry);
        SDX_TRY(whole);
        bytes = **whole;
        keeper = *whole;
    }
    Result<Tensor> tensor = read_npy(bytes, keeper);
    if (!tensor.ok()) {
        return Error{fmt::format("{}: {}", quoted(entry.name), tensor.error().message)};
    }
    return tensor;
}

}  // namespace

bool has_zlib() {
#if __has_include(<zlib.h>)
    return zlib().is_loaded();
#else
    return false;
#endif
}

Result<NamedTensors> read_npz(std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
    Zip zip(bytes);
    Result<Directory> directory = find_directory(zip);
    SDX_TRY(directory);
    NamedTensors tensors;
    uint64_t at = directory->at, total = 0;
    for (uint64_t i = 0; i < directory->count; ++i) {
        Result<Entry> entry = read_entry(zip, at);
        SDX_TRY(entry);
        // Entries that share their bytes would make more copies than the file has bytes.
        if (entry->compressed > bytes.size() - total ||
            (entry->method == kStored && entry->size != entry->compressed)) {
            return damaged();
        }
        total += entry->compressed;
        Result<Tensor> tensor = read_tensor(zip, *entry, owner);
        SDX_TRY(tensor);
        std::string_view name = entry->name;
        constexpr std::string_view kSuffix = ".npy";
        bool has_suffix =
            name.size() > kSuffix.size() && name.substr(name.size() - kSuffix.size()) == kSuffix;
        tensors.emplace_back(name.substr(0, name.size() - (has_suffix ? kSuffix.size() : 0)),
                             std::move(*tensor));
        at = entry->next;
    }
    return tensors;
}

}  // namespace sardonyx::weights
