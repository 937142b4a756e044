// Type dispatch: from an element type known at run time to a C++ type, through one list of types.
#pragma once

#include <complex>
#include <cstdint>
#include <string>
#include <type_traits>

#include "eval/operators/kernel.h"
#include "types/small_floats.h"
#include "types/tensor.h"

namespace sardonyx::eval {

template <ElementType E, typename T>
struct Typed {
    static constexpr ElementType kElement = E;
    using Type = T;
};

template <typename... Entries>
struct TypeList {};

template <typename A, typename B>
struct JoinLists;
template <typename... A, typename... B>
struct JoinLists<TypeList<A...>, TypeList<B...>> {
    using Type = TypeList<A..., B...>;
};
template <typename A, typename B>
using Join = typename JoinLists<A, B>::Type;

using Floats =
    TypeList<Typed<ElementType::kFloat, float>, Typed<ElementType::kDouble, double>,
             Typed<ElementType::kFloat16, Float16>, Typed<ElementType::kBfloat16, BFloat16>>;
using SignedInts =
    TypeList<Typed<ElementType::kInt8, int8_t>, Typed<ElementType::kInt16, int16_t>,
             Typed<ElementType::kInt32, int32_t>, Typed<ElementType::kInt64, int64_t>>;
using UnsignedInts =
    TypeList<Typed<ElementType::kUint8, uint8_t>, Typed<ElementType::kUint16, uint16_t>,
             Typed<ElementType::kUint32, uint32_t>, Typed<ElementType::kUint64, uint64_t>>;
using Ints = Join<SignedInts, UnsignedInts>;
using Numbers = Join<Floats, Ints>;
using Bools = TypeList<Typed<ElementType::kBool, bool>>;
// As bytes, whose loops are vectorised: 0 or 1.
using BoolBytes = TypeList<Typed<ElementType::kBool, uint8_t>>;
using Strings = TypeList<Typed<ElementType::kString, std::string>>;
using NumbersAndBools = Join<Numbers, Bools>;
using Complexes = TypeList<Typed<ElementType::kComplex64, std::complex<float>>,
                           Typed<ElementType::kComplex128, std::complex<double>>>;
template <typename T>
inline constexpr bool kIsComplex =
    std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;

// What arithmetic on T is done in: float for the 16-bit floats, T itself for the others.
template <typename T>
using Compute =
    std::conditional_t<std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>, float, T>;
// Numbers whose functions of real numbers are worked out as double.
template <typename T>
double as_double(T x) {
    return static_cast<double>(static_cast<Compute<T>>(x));
}
// What many terms are added up in.
template <typename T>
using Accumulator = std::conditional_t<std::is_floating_point_v<Compute<T>>, double, T>;

// Integer arithmetic that wraps: the same operation on the unsigned type of that width.
template <typename T, bool = std::is_integral_v<T> && !std::is_same_v<T, bool>>
struct WrappingType {
    using Type = T;
};
template <typename T>
struct WrappingType<T, true> {
    // 8 and 16 bits would be promoted to int, whose overflow is undefined.
    using Type = std::conditional_t<(sizeof(T) < 4), uint32_t, std::make_unsigned_t<T>>;
};
template <typename T>
using Wrapping = typename WrappingType<T>::Type;

Error unsupported_type(ElementType type);

// Calls `body.template operator()<T>()`, a Status, with the C++ type of `type`; an error where the
// list does not have it.
template <typename... Entries, typename Body>
Status visit(TypeList<Entries...>, ElementType type, Body&& body) {
    Status status;
    bool found = ((type == Entries::kElement
                       ? (status = body.template operator()<typename Entries::Type>(), true)
                       : false) ||
                  ...);
    return found ? status : Status(unsupported_type(type));
}

// The entry for `type` of a function template that is a constant expression per type:
// `pick(Numbers{}, type, []<typename T>() { return &loop<T>; })`. Null where the list has none.
template <typename... Entries, typename Body>
auto pick(TypeList<Entries...>, ElementType type, Body&& body) {
    using First = std::tuple_element_t<0, std::tuple<Entries...>>;
    decltype(body.template operator()<typename First::Type>()) result = nullptr;
    (void)((type == Entries::kElement
                ? (result = body.template operator()<typename Entries::Type>(), true)
                : false) ||
           ...);
    return result;
}

// Elements as plain bytes of a width, for operators that only move them.
struct Bytes16 {
    uint64_t low, high;
};
using Movable =
    TypeList<Typed<ElementType::kUint8, uint8_t>, Typed<ElementType::kUint16, uint16_t>,
             Typed<ElementType::kUint32, uint32_t>, Typed<ElementType::kUint64, uint64_t>,
             Typed<ElementType::kComplex128, Bytes16>, Typed<ElementType::kString, std::string>>;

// The entry of Movable that stands for every element type of that width.
ElementType movable_type(ElementType type);

template <typename Body>
Status visit_width(ElementType type, Body&& body) {
    return visit(Movable{}, movable_type(type), std::forward<Body>(body));
}

}  // namespace sardonyx::eval
