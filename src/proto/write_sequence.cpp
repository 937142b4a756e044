// SequenceProto and MapProto, which stand in files of test data alone.
#include <cstdint>
#include <vector>

#include "proto/proto.h"

namespace sardonyx::proto {
namespace {

void put_number(std::string& bytes, uint64_t number) {
    constexpr uint64_t kMore = 0x80;
    for (; number >= kMore; number >>= 7U) {
        bytes += static_cast<char>(number | kMore);
    }
    bytes += static_cast<char>(number);
}

void put_field(std::string& bytes, char key, std::string_view content) {
    bytes += key;
    put_number(bytes, content.size());
    bytes += content;
}

}  // namespace

std::string write_sequence(ItemKind kind, std::span<const std::string> items,
                           std::string_view name) {
    constexpr char kName = 0x0A, kElementType = 0x10;
    std::string bytes;
    if (!name.empty()) {
        put_field(bytes, kName, name);
    }
    bytes += kElementType;
    bytes += static_cast<char>(kind);
    // Each kind of item has a field of its own.
    char key = kind == ItemKind::kTensor ? 0x1A : kind == ItemKind::kSequence ? 0x2A : 0x32;
    for (const std::string& item : items) {
        put_field(bytes, key, item);
    }
    return bytes;
}

std::string write_map(const Tensor& keys, const Tensor& values, std::string_view name) {
    constexpr char kName = 0x0A, kKeyType = 0x10, kKeys = 0x18, kStringKeys = 0x22, kValues = 0x2A;
    std::string bytes;
    if (!name.empty()) {
        put_field(bytes, kName, name);
    }
    bytes += kKeyType;
    bytes += static_cast<char>(keys.element_type());
    if (keys.element_type() == ElementType::kString) {
        for (const std::string& key : keys.elements<std::string>()) {
            put_field(bytes, kStringKeys, key);
        }
    } else {
        for (int64_t key : to_int64s(keys, keys.count()).value_or(std::vector<int64_t>())) {
            bytes += kKeys;
            put_number(bytes, static_cast<uint64_t>(key));
        }
    }
    std::vector<std::string> items;
    for (int64_t i = 0; i < values.count(); ++i) {
        items.push_back(write_tensor(values.part(i, {}), {}));
    }
    put_field(bytes, kValues, write_sequence(ItemKind::kTensor, items, {}));
    return bytes;
}

}  // namespace sardonyx::proto
