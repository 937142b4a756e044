// Elementwise operators of two operands and more: arithmetic, comparison, logic, bits, selection.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "eval/kernels/cast.h"
#include "eval/kernels/standard_kernels.h"
#include "eval/loops/elementwise.h"
#include "eval/loops/functors.h"
#include "eval/operators/kernel.h"

namespace sardonyx::eval::kernels {
namespace {

// `fmod` = 1: the sign of the dividend, as in C.
struct Remainder {
    template <typename T>
    bool admits(T, T y) const {
        return y != T(0);
    }
    template <typename T>
    T operator()(T x, T y) const {
        if constexpr (std::is_floating_point_v<T>) {
            return std::fmod(x, y);
        } else if constexpr (std::is_signed_v<T>) {
            return y == -1 ? T(0) : static_cast<T>(x % y);
        } else {
            return x % y;
        }
    }
};

// `fmod` = 0: the sign of the divisor, as in Python.
struct Modulo {
    template <typename T>
    bool admits(T, T y) const {
        return y != T(0);
    }
    template <typename T>
    T operator()(T x, T y) const {
        T rest = Remainder{}(x, y);
        if constexpr (std::is_floating_point_v<T>) {
            return rest == 0 ? std::copysign(T(0), y) : (rest < 0) != (y < 0) ? rest + y : rest;
        } else if constexpr (std::is_signed_v<T>) {
            return rest != 0 && (rest < 0) != (y < 0) ? static_cast<T>(rest + y) : rest;
        } else {
            return rest;
        }
    }
};

// NaN wins, from either side.
struct Maximum {
    template <typename T>
    T operator()(T x, T y) const {
        return x > y || x != x ? x : y;
    }
};
struct Minimum {
    template <typename T>
    T operator()(T x, T y) const {
        return x < y || x != x ? x : y;
    }
};

#define SDX_RELATION(identifier, symbol)                \
    struct identifier {                                 \
        template <typename T>                           \
        bool operator()(const T& x, const T& y) const { \
            return x symbol y;                          \
        }                                               \
    }
SDX_RELATION(Equals, ==);
SDX_RELATION(Greater, >);
SDX_RELATION(GreaterOrEqual, >=);
SDX_RELATION(Less, <);
SDX_RELATION(LessOrEqual, <=);
#undef SDX_RELATION

#define SDX_LOGICAL(identifier, symbol)               \
    struct identifier {                               \
        bool operator()(uint8_t x, uint8_t y) const { \
            return ((x != 0) symbol(y != 0)) != 0;    \
        }                                             \
    }
SDX_LOGICAL(LogicalAnd, &);
SDX_LOGICAL(LogicalOr, |);
SDX_LOGICAL(LogicalXor, ^);
#undef SDX_LOGICAL

#define SDX_BITWISE(identifier, symbol)        \
    struct identifier {                        \
        template <typename T>                  \
        T operator()(T x, T y) const {         \
            return static_cast<T>(x symbol y); \
        }                                      \
    }
SDX_BITWISE(BitwiseAnd, &);
SDX_BITWISE(BitwiseOr, |);
SDX_BITWISE(BitwiseXor, ^);
#undef SDX_BITWISE

// A shift by the width or more leaves nothing (but the sign, to the right).
struct ShiftLeft {
    template <typename T>
    T operator()(T x, T y) const {
        bool far = y < 0 || static_cast<uint64_t>(y) >= sizeof(T) * 8;
        return far ? T(0) : static_cast<T>(static_cast<uint64_t>(x) << y);
    }
};
struct ShiftRight {
    template <typename T>
    T operator()(T x, T y) const {
        bool far = y < 0 || static_cast<uint64_t>(y) >= sizeof(T) * 8;
        return far ? static_cast<T>(x < 0 ? -1 : 0) : static_cast<T>(x >> y);
    }
};

struct Power {
    // Integers: by squaring, wrapping; a negative exponent gives the reciprocal rounded to zero.
    template <typename T>
    static T integer_power(T base, int64_t exponent) {
        using W = Wrapping<T>;
        if (exponent < 0) {
            if (base == T(1)) {
                return base;
            }
            bool minus_one = std::is_signed_v<T> && base == static_cast<T>(-1);
            return minus_one ? (exponent % 2 == 0 ? T(1) : base) : T(0);
        }
        W result = 1;
        W square = static_cast<W>(base);
        for (uint64_t left = exponent; left != 0; left >>= 1) {
            result *= (left & 1) != 0 ? square : W(1);
            square *= square;
        }
        return static_cast<T>(result);
    }
    template <typename T, typename U>
    T operator()(T x, U y) const {
        if constexpr (std::is_integral_v<T> && std::is_integral_v<U>) {
            return integer_power(x, y);
        } else if constexpr (std::is_integral_v<T>) {
            return saturate<T>(std::pow(static_cast<double>(x), y));
        } else {
            return static_cast<T>(std::pow(x, y));
        }
    }
};

template <typename T>
T operand_power(T x, int exponent) {
    return exponent == 1 ? x : exponent == 2 ? x * x : x * x * x;
}
struct SmallPower {
    int exponent;  // 1, 2 or 3
    template <typename T>
    T operator()(T x) const {
        return operand_power(x, exponent);
    }
};

// x - x*... of two floats by a small whole exponent is far cheaper than pow().
int small_exponent(KernelContext& c) {
    if (c.tensor(1).count() != 1 || c.rank(1) > c.rank(0) || !is_floating(c.type(0))) {
        return 0;
    }
    Result<double> exponent = c.real_scalar(1);
    bool small = exponent.ok() && (*exponent == 1 || *exponent == 2 || *exponent == 3);
    return small ? static_cast<int>(*exponent) : 0;
}

using ShortFloats =
    TypeList<Typed<ElementType::kFloat16, Float16>, Typed<ElementType::kBfloat16, BFloat16>>;
bool is_short_float(ElementType type) {
    return type == ElementType::kFloat16 || type == ElementType::kBfloat16;
}

// The sum of all inputs, of 16-bit floats, as FLOAT.
Result<Tensor> sum_as_float(KernelContext& c) {
    BinaryLoop loop = pick(ShortFloats{}, c.type(0), []<typename T>() -> BinaryLoop {
        return &binary_loop<Add, float, T, float>;
    });
    Add add;
    SDX_ASSIGN(Tensor total, cast_tensor(c, c.tensor(0), ElementType::kFloat));
    for (size_t i = 1; i < c.input_count(); ++i) {
        SDX_ASSIGN(total, apply_binary(c, total, c.tensor(i), {loop, &add, ElementType::kFloat}));
    }
    return total;
}

// Folds a variadic operator from the left.
template <typename List, typename Op>
Status fold(KernelContext& c, List list, const Op& op) {
    if (c.input_count() == 2) {
        return binary(c, list, op);
    }
    Tensor result = c.tensor(0);
    for (size_t i = 1; i < c.input_count(); ++i) {
        SDX_ASSIGN(Tensor next,
                   apply_binary(c, result, c.tensor(i), binary_call(list, c.type(0), op)));
        result = std::move(next);
    }
    c.set_output(0, std::move(result));
    return {};
}

}  // namespace

#define SDX_BINARY(name, driver, list, Op) \
    Status name(KernelContext& c) {        \
        return driver(c, list{}, Op{});    \
    }
using EqualTypes = Join<NumbersAndBools, Strings>;
SDX_BINARY(add, binary, Numbers, Add)
SDX_BINARY(bitwise_and, binary, Ints, BitwiseAnd)
SDX_BINARY(bitwise_or, binary, Ints, BitwiseOr)
SDX_BINARY(bitwise_xor, binary, Ints, BitwiseXor)
SDX_BINARY(divide, binary, Numbers, Divide)
SDX_BINARY(equal, binary_to_bool, EqualTypes, Equals)
SDX_BINARY(greater, binary_to_bool, Numbers, Greater)
SDX_BINARY(greater_or_equal, binary_to_bool, Numbers, GreaterOrEqual)
SDX_BINARY(less, binary_to_bool, Numbers, Less)
SDX_BINARY(less_or_equal, binary_to_bool, Numbers, LessOrEqual)
SDX_BINARY(logical_and, binary, BoolBytes, LogicalAnd)
SDX_BINARY(logical_or, binary, BoolBytes, LogicalOr)
SDX_BINARY(logical_xor, binary, BoolBytes, LogicalXor)
SDX_BINARY(maximum, fold, Numbers, Maximum)
SDX_BINARY(minimum, fold, Numbers, Minimum)
SDX_BINARY(multiply, binary, Numbers, Multiply)
SDX_BINARY(subtract, binary, Numbers, Subtract)
#undef SDX_BINARY

Status sum(KernelContext& c) {
    if (!is_short_float(c.type(0)) || c.input_count() < 3) {
        return fold(c, Numbers{}, Add{});
    }
    SDX_ASSIGN(Tensor total, sum_as_float(c));
    SDX_ASSIGN(total, cast_tensor(c, total, c.type(0)));
    c.set_output(0, std::move(total));
    return {};
}

Status mean(KernelContext& c) {
    // The sum is this call's own unless there is one input, which must not be written.
    if (c.input_count() == 1) {
        c.set_output(0, c.tensor(0));
        return {};
    }
    Tensor total;
    if (is_short_float(c.type(0))) {
        SDX_ASSIGN(total, sum_as_float(c));
    } else {
        SDX_TRY(fold(c, Floats{}, Add{}));
        total = c.result(0).tensor();
    }
    SDX_TRY(visit(Floats{}, total.element_type(), [&]<typename T>() -> Status {
        for (T& element : total.mutable_elements<T>()) {
            element = static_cast<T>(static_cast<Compute<T>>(element) /
                                     static_cast<Compute<T>>(c.input_count()));
        }
        return {};
    }));
    SDX_ASSIGN(total, cast_tensor(c, total, c.type(0)));
    c.set_output(0, std::move(total));
    return {};
}

Status mod(KernelContext& c) {
    return c.int_attribute("fmod") != 0 ? binary(c, Numbers{}, Remainder{})
                                        : binary(c, Numbers{}, Modulo{});
}

Status bit_shift(KernelContext& c) {
    return c.string_attribute("direction") == "LEFT" ? binary(c, Ints{}, ShiftLeft{})
                                                     : binary(c, Ints{}, ShiftRight{});
}

Status power(KernelContext& c) {
    if (int exponent = small_exponent(c); exponent != 0) {
        return unary(c, Floats{}, SmallPower{exponent});
    }
    if (c.type(0) == c.type(1) && is_floating(c.type(0))) {
        return binary(c, Floats{}, Power{});
    }
    Power op;
    bool integers = is_integer(c.type(0)) && is_integer(c.type(1));
    SDX_ASSIGN(Tensor exponent,
               cast_tensor(c, c.tensor(1), integers ? ElementType::kInt64 : ElementType::kDouble));
    BinaryLoop loop =
        integers
            ? pick(Ints{}, c.type(0),
                   []<typename T>() -> BinaryLoop { return &binary_loop<Power, T, int64_t, T>; })
            : pick(Numbers{}, c.type(0),
                   []<typename T>() -> BinaryLoop { return &binary_loop<Power, T, double, T>; });
    SDX_ASSIGN(Tensor out, apply_binary(c, c.tensor(0), exponent, {loop, &op, c.type(0)}));
    c.set_output(0, std::move(out));
    return {};
}

}  // namespace sardonyx::eval::kernels
