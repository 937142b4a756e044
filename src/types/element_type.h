// The element types of ONNX tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sardonyx {

// The numbers are those of TensorProto.DataType. kUndefined means: not known.
enum class ElementType : uint8_t {
    kUndefined = 0,
#define SDX_ELEMENT_TYPE(identifier, number, name, schema_name, bits, class_) identifier = number,
#include "types/element_types.def"
#undef SDX_ELEMENT_TYPE
};

inline constexpr int kElementTypeCount = 29;  // with kUndefined

enum class ElementClass : uint8_t {
    kNone,
    kFloating,
    kSigned,
    kUnsigned,
    kBoolean,
    kComplex,
    kText
};

struct ElementTypeInfo {
    std::string_view name;         // "FLOAT"
    std::string_view schema_name;  // "float", as in "tensor(float)"
    uint8_t bits;                  // 0 for STRING and for kUndefined
    ElementClass element_class;
};

inline constexpr ElementTypeInfo kElementTypeInfos[kElementTypeCount] = {
    {"UNDEFINED", "undefined", 0, ElementClass::kNone},
#define SDX_ELEMENT_TYPE(identifier, number, name, schema_name, bits, class_) \
    {name, schema_name, bits, ElementClass::class_},
#include "types/element_types.def"
#undef SDX_ELEMENT_TYPE
};

constexpr const ElementTypeInfo& info(ElementType type) {
    return kElementTypeInfos[static_cast<size_t>(type)];
}
constexpr std::string_view name(ElementType type) {
    return info(type).name;
}
constexpr ElementClass element_class(ElementType type) {
    return info(type).element_class;
}
constexpr bool is_floating(ElementType type) {
    return element_class(type) == ElementClass::kFloating;
}
constexpr bool is_integer(ElementType type) {
    return element_class(type) == ElementClass::kSigned ||
           element_class(type) == ElementClass::kUnsigned;
}

// kUndefined for a number or a name ("FLOAT") that is none.
constexpr ElementType element_type_from_number(int64_t number) {
    return number > 0 && number < kElementTypeCount ? static_cast<ElementType>(number)
                                                    : ElementType::kUndefined;
}
constexpr ElementType element_type_from_name(std::string_view name) {
    for (int i = 1; i < kElementTypeCount; ++i) {
        if (kElementTypeInfos[i].name == name) {
            return static_cast<ElementType>(i);
        }
    }
    return ElementType::kUndefined;
}

// The element type of a C++ type.
template <typename T>
inline constexpr ElementType kElementTypeOf = ElementType::kUndefined;
template <>
inline constexpr ElementType kElementTypeOf<float> = ElementType::kFloat;
template <>
inline constexpr ElementType kElementTypeOf<double> = ElementType::kDouble;
template <>
inline constexpr ElementType kElementTypeOf<int8_t> = ElementType::kInt8;
template <>
inline constexpr ElementType kElementTypeOf<int16_t> = ElementType::kInt16;
template <>
inline constexpr ElementType kElementTypeOf<int32_t> = ElementType::kInt32;
template <>
inline constexpr ElementType kElementTypeOf<int64_t> = ElementType::kInt64;
template <>
inline constexpr ElementType kElementTypeOf<uint8_t> = ElementType::kUint8;
template <>
inline constexpr ElementType kElementTypeOf<uint16_t> = ElementType::kUint16;
template <>
inline constexpr ElementType kElementTypeOf<uint32_t> = ElementType::kUint32;
template <>
inline constexpr ElementType kElementTypeOf<uint64_t> = ElementType::kUint64;
template <>
inline constexpr ElementType kElementTypeOf<bool> = ElementType::kBool;

}  // namespace sardonyx
