// Types of attributes: one enumeration for schemas, graphs and files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace sardonyx {

// The numbers are those of AttributeProto.AttributeType.
enum class AttributeType : uint8_t {
    kUndefined = 0,
    kFloat = 1,
    kInt = 2,
    kString = 3,
    kTensor = 4,
    kGraph = 5,
    kFloats = 6,
    kInts = 7,
    kStrings = 8,
    kTensors = 9,
    kGraphs = 10,
    kSparseTensor = 11,
    kSparseTensors = 12,
    kTypeProto = 13,
    kTypeProtos = 14,
};

inline constexpr std::string_view kAttributeTypeNames[] = {
    "UNDEFINED",      "FLOAT",      "INT",        "STRING",  "TENSOR", "GRAPH",
    "FLOATS",         "INTS",       "STRINGS",    "TENSORS", "GRAPHS", "SPARSE_TENSOR",
    "SPARSE_TENSORS", "TYPE_PROTO", "TYPE_PROTOS"};
inline constexpr size_t kAttributeTypeCount = std::size(kAttributeTypeNames);
static_assert(kAttributeTypeCount == static_cast<size_t>(AttributeType::kTypeProtos) + 1);

constexpr std::string_view name(AttributeType type) {  // "INT", "FLOATS", ...
    return kAttributeTypeNames[static_cast<size_t>(type)];
}

// kUndefined: none is called so.
constexpr AttributeType attribute_type_from_name(std::string_view name) {
    for (size_t i = 1; i < kAttributeTypeCount; ++i) {
        if (kAttributeTypeNames[i] == name) {
            return static_cast<AttributeType>(i);
        }
    }
    return AttributeType::kUndefined;
}

}  // namespace sardonyx
