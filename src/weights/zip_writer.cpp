// The form is that of PKWARE's APPNOTE 6.3: 4.3.7 local headers, 4.3.12 the central directory,
// 4.3.16 its end.
#include "weights/zip_writer.h"

#include <array>

namespace sardonyx::weights {
namespace {

constexpr size_t kMostBytes = UINT32_MAX;
constexpr size_t kMostFiles = UINT16_MAX;

void put(std::string& out, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) {
        out += static_cast<char>(value >> (8 * i));
    }
}

constexpr std::array<uint32_t, 256> make_crc_table() {
    std::array<uint32_t, 256> table{};
    for (uint32_t i = 0; i < table.size(); ++i) {
        uint32_t crc = i;
        for (int bit = 0; bit < 8; ++bit) {
            crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? 0xedb88320U : 0U);
        }
        table[i] = crc;
    }
    return table;
}

uint32_t crc32(std::string_view bytes) {
    static constexpr std::array<uint32_t, 256> kTable = make_crc_table();
    uint32_t crc = UINT32_MAX;
    for (char c : bytes) {
        crc = (crc >> 8U) ^ kTable[(crc ^ static_cast<unsigned char>(c)) & 0xffU];
    }
    return ~crc;
}

// What the local header and the directory have in common, after their signatures.
std::string shared_fields(std::string_view name, std::string_view bytes) {
    constexpr uint64_t kVersion = 20, kUtf8 = 0x800, kStored = 0, kMidnight = 0, kFirstDay = 0x21;
    std::string fields;
    for (uint64_t value : {kVersion, kUtf8, kStored, kMidnight, kFirstDay}) {
        put(fields, value, 2);
    }
    for (uint64_t value :
         {uint64_t{crc32(bytes)}, uint64_t{bytes.size()}, uint64_t{bytes.size()}}) {
        put(fields, value, 4);
    }
    put(fields, name.size(), 2);
    put(fields, 0, 2);  // of the extra field
    return fields;
}

}  // namespace

Result<void> ZipWriter::add(std::string_view name, std::string_view bytes) {
    constexpr size_t kHeaders = 1024;  // more than the headers of a file
    bool is_large =
        out_.size() + directory_.size() + bytes.size() + name.size() + kHeaders > kMostBytes;
    if (is_large || count_ == kMostFiles || name.size() > UINT16_MAX) {
        return Error{"the results are too large for one .npz file: name a folder"};
    }
    std::string fields = shared_fields(name, bytes);
    size_t place = out_.size();
    put(out_, 0x04034b50, 4);
    out_ += fields;
    out_ += name;
    out_ += bytes;
    put(directory_, 0x02014b50, 4);
    put(directory_, 20, 2);  // the version that wrote it
    directory_ += fields;
    directory_.append(2 + 2 + 2 + 4, '\0');  // comment, disk, attributes
    put(directory_, place, 4);
    directory_ += name;
    ++count_;
    return {};
}

std::string ZipWriter::finish() {
    size_t place = out_.size();
    out_ += directory_;
    put(out_, 0x06054b50, 4);
    put(out_, 0, 4);  // disks
    put(out_, count_, 2);
    put(out_, count_, 2);
    put(out_, directory_.size(), 4);
    put(out_, place, 4);
    put(out_, 0, 2);  // comment
    return std::move(out_);
}

}  // namespace sardonyx::weights
