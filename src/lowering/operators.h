// What Python's operators mean in ONNX, over any emitter: elaborate emits nodes, the eager entry
// runs kernels, and both come out the same because both use this text.
//
// An Emitter has
//   using Value = ...;                        // copyable; Value{} after a failure
//   Value emit(std::string_view op_type, std::initializer_list<Value> inputs,
//              std::initializer_list<ir::Attribute> attributes = {});
//   Value emit_variadic(std::string_view op_type, std::span<const Value> inputs,
//                       std::initializer_list<ir::Attribute> attributes = {});
//   ElementType element(const Value&);        // kUndefined: not known
//   int rank(const Value&);                   // -1: not known
//   int64_t dim(const Value&, int64_t axis);  // -1: not known; a negative axis counts from the end
//   bool same_dim(const Value&, int64_t axis, const Value&, int64_t other);  // false: not certain
//   Value int64s(std::vector<int64_t>);       // a rank-1 INT64 constant
//   Value int64_scalar(int64_t);
//   Value scalar_like(const Value&, double);  // a rank-0 constant of the element type of the value
//   bool same_shape(const Value&, const Value& other);  // of the other one; false: not certain
//   std::optional<int64_t> known(const Value&);  // of an integer tensor of one known element
//   bool is_size(const Value&);  // of sizes, which are far from the limits of their type
//   int64_t opset();                          // of ai.onnx
//   Value fail(std::string message, std::string help);  // reports; returns Value{}
//   Value fail_index(std::string message, std::string help);  // the same, of an index
//
// Sources: Python Language Reference 6.7-6.9 (arithmetic, shifting, bitwise), NumPy's floor_divide
// and remainder for floats, ONNX operators Div, Mod, Pow, BitShift.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/ir.h"
#include "types/element_type.h"

namespace sardonyx::lowering {

// In the order of syntax::BinaryOp.
enum class Binary : uint8_t {
    kAdd,
    kSub,
    kMul,
    kMatMul,
    kDiv,
    kMod,
    kPow,
    kLeftShift,
    kRightShift,
    kBitOr,
    kBitXor,
    kBitAnd,
    kFloorDiv,
};
inline constexpr std::string_view kBinarySymbols[] = {"+",  "-",  "*", "@", "/", "%", "**",
                                                      "<<", ">>", "|", "^", "&", "//"};

// Python gives a float, which a tensor of integers cannot hold.
inline constexpr std::string_view kNegativePower = "an integer tensor to a negative power";
inline constexpr std::string_view kNegativePowerHelp =
    "cast it first, as in `op.Cast(x, to=FLOAT.dtype)`";

enum class Unary : uint8_t { kInvert, kNot, kPlus, kMinus };  // in the order of syntax::UnaryOp
inline constexpr std::string_view kUnarySymbols[] = {"~", "not", "+", "-"};

enum class Compare : uint8_t {
    kEq,
    kNotEq,
    kLt,
    kLtE,
    kGt,
    kGtE
};  // in the order of syntax::CompareOp
inline constexpr std::string_view kCompareSymbols[] = {"==", "!=", "<", "<=", ">", ">="};

template <typename E>
typename E::Value cast(E& e, typename E::Value a, ElementType type) {
    return e.element(a) == type
               ? a
               : e.emit("Cast", {a}, {ir::make_attribute("to", static_cast<int64_t>(type))});
}

template <typename E>
typename E::Value lower_compare(E& e, Compare op, typename E::Value a, typename E::Value b) {
    switch (op) {
        case Compare::kEq:
            return e.emit("Equal", {a, b});
        case Compare::kNotEq:
            return e.emit("Not", {e.emit("Equal", {a, b})});
        case Compare::kLt:
            return e.emit("Less", {a, b});
        case Compare::kGt:
            return e.emit("Greater", {a, b});
        case Compare::kLtE:
        case Compare::kGtE: {
            bool less = op == Compare::kLtE;
            if (e.opset() >= 12) {
                return e.emit(less ? "LessOrEqual" : "GreaterOrEqual", {a, b});
            }
            // Not(Greater) would be true for nan.
            return e.emit("Or",
                          {e.emit(less ? "Less" : "Greater", {a, b}), e.emit("Equal", {a, b})});
        }
    }
    return {};
}

// The remainder with the sign of the divisor, zeros included. ONNX Mod has it for integers; for
// floats it is C's fmod, corrected as NumPy's remainder does.
template <typename E>
typename E::Value lower_modulo(E& e, typename E::Value a, typename E::Value b) {
    if (!is_floating(e.element(a)) && !is_floating(e.element(b))) {
        if (e.element(a) == ElementType::kUndefined && e.element(b) == ElementType::kUndefined) {
            return e.fail(
                "`%` on a tensor whose element type is not known",
                "annotate the input, as in `x: FLOAT[...]`, or call `op.Mod` with `fmod`");
        }
        return e.emit("Mod", {a, b});
    }
    // As if the divisor were positive; the last product gives zeros its sign, which ONNX Runtime's
    // Where would not keep.
    auto sign = e.emit("Sign", {b});
    auto rest =
        e.emit("Mul", {e.emit("Mod", {a, b}, {ir::make_attribute("fmod", int64_t{1})}), sign});
    auto is_negative = e.emit("Less", {rest, e.scalar_like(rest, 0.0)});
    auto positive = e.emit(
        "Where", {is_negative, e.emit("Add", {rest, e.emit("Abs", {b})}), e.emit("Abs", {rest})});
    return e.emit("Mul", {positive, sign});
}

// floor(a / b) would round twice: 1.0 // 0.1 is 9. With the remainder off, the division is exact
// but for its last bit, which Round puts right; then, as in Python, one less where the remainder
// has the other sign. Zeros are NumPy's: 0 // b has the sign of the quotient, a // 0 is infinite,
// and what is rounded to zero is not negative.
template <typename E>
typename E::Value lower_float_floor_divide(E& e, typename E::Value a, typename E::Value b) {
    auto rest = e.emit("Mod", {a, b}, {ir::make_attribute("fmod", int64_t{1})});
    auto zero = e.scalar_like(rest, 0.0);
    auto other_sign = e.emit("Xor", {e.emit("Less", {rest, zero}), e.emit("Less", {b, zero})});
    auto inexact = e.emit("Not", {e.emit("Equal", {rest, zero})});
    auto rounded = e.emit("Round", {e.emit("Div", {e.emit("Sub", {a, rest}), b})});
    auto whole = e.emit("Where", {e.emit("Equal", {rounded, zero}), zero, rounded});
    auto floor = e.emit("Where", {e.emit("And", {inexact, other_sign}),
                                  e.emit("Sub", {whole, e.scalar_like(whole, 1.0)}), whole});
    auto has_zero = e.emit("Or", {e.emit("Equal", {a, zero}), e.emit("Equal", {b, zero})});
    return e.emit("Where", {has_zero, e.emit("Div", {a, b}), floor});
}

template <typename E>
typename E::Value lower_floor_divide(E& e, typename E::Value a, typename E::Value b) {
    ElementType type = e.element(a) != ElementType::kUndefined ? e.element(a) : e.element(b);
    if (type == ElementType::kUndefined) {
        return e.fail("`//` on a tensor whose element type is not known",
                      "annotate the input, as in `x: FLOAT[...]`");
    }
    if (is_floating(type)) {
        return lower_float_floor_divide(e, a, b);
    }
    if (element_class(type) == ElementClass::kUnsigned) {
        return e.emit("Div", {a, b});
    }
    if (e.is_size(a)) {
        // Div truncates; taking the remainder (of the divisor's sign) off first makes the division
        // exact, and inference can follow it. Near the limits of the type this would overflow.
        return e.emit("Div", {e.emit("Sub", {a, e.emit("Mod", {a, b})}), b});
    }
    // Div truncates: one less where that has gone up.
    auto whole = e.emit("Div", {a, b});
    auto product = e.emit("Mul", {whole, b});
    std::optional<int64_t> divisor = e.known(b);
    auto is_up =
        divisor && *divisor != 0
            ? e.emit(*divisor > 0 ? "Less" : "Greater", {a, product})
            : e.emit("Not",
                     {e.emit("Equal", {e.emit("Sub", {a, product}), e.emit("Mod", {a, b})})});
    return e.emit("Sub", {whole, cast(e, is_up, type)});
}

// v in x: whether any element is equal to it, as NumPy says it.
template <typename E>
typename E::Value lower_contains(E& e, typename E::Value x, typename E::Value v) {
    auto hits = e.emit("Cast", {e.emit("Equal", {x, v})},
                       {ir::make_attribute("to", static_cast<int64_t>(ElementType::kInt64))});
    auto count = e.emit("ReduceSum", {hits}, {ir::make_attribute("keepdims", int64_t{0})});
    return e.emit("Greater", {count, e.int64_scalar(0)});
}

// Whether bits are left to shift: BitShift by as many places as there are bits, or by more, means
// another thing to every runtime.
template <typename E>
typename E::Value within_bits(E& e, typename E::Value by, int64_t bits) {
    auto wide = cast(e, by, ElementType::kInt64);
    auto is_negative = e.emit("Less", {wide, e.int64_scalar(0)});
    return e.emit("And",
                  {e.emit("Less", {wide, e.int64_scalar(bits)}), e.emit("Not", {is_negative})});
}

enum class Shift : uint8_t { kLeft, kRight };

// BitShift is for unsigned integers alone (and runtimes leave out UINT16). A shift to the left is a
// product with a power of two; a shift to the right of a negative x is that of ~x, complemented.
// Past the last bit there are zeros, or the sign: Python's integers have no last bit, and NumPy's,
// which have as many as these, say the same.
template <typename E>
typename E::Value lower_shift(E& e, Shift shift_to, typename E::Value a, typename E::Value b) {
    bool left = shift_to == Shift::kLeft;
    ElementType type = e.element(a);
    ElementClass kind = element_class(type);
    if (kind != ElementClass::kUnsigned && kind != ElementClass::kSigned) {
        return e.fail(
            std::string("`") + (left ? "<<" : ">>") + "` on a tensor of " + std::string(name(type)),
            "shift integers; multiply or divide floats by a power of two");
    }
    std::optional<int64_t> known = e.known(b);
    if (known && *known < 0) {
        return e.fail("a shift by a negative number of bits", "shift the other way");
    }
    constexpr ElementType kWide = ElementType::kUint64;
    bool is_narrow = kind == ElementClass::kUnsigned && type != ElementType::kUint16;
    int64_t bits = is_narrow ? info(type).bits : 64;
    bool is_within = known && *known < bits;
    // As `to`; by a number of bits that may be too large, it is zero. (Runtimes have no Where for
    // unsigned integers.)
    auto shift = [&](typename E::Value value, typename E::Value by, ElementType to) {
        auto shifted =
            e.emit("BitShift", {value, by},
                   {ir::make_attribute("direction", std::string(left ? "LEFT" : "RIGHT"))});
        if (!is_within) {
            shifted = e.emit("Where", {within_bits(e, by, bits),
                                       cast(e, shifted, ElementType::kInt64), e.int64_scalar(0)});
        }
        return cast(e, shifted, to);
    };
    if (is_narrow) {
        return shift(a, b, type);
    }
    auto by = cast(e, b, kWide);
    if (kind == ElementClass::kUnsigned) {
        return shift(cast(e, a, kWide), by, type);
    }
    if (left) {
        auto one = cast(e, e.int64_scalar(1), kWide);
        return e.emit("Mul", {a, shift(one, by, type)});
    }
    auto wide = cast(e, a, ElementType::kInt64);
    auto minus_one = e.int64_scalar(-1);
    auto negative = e.emit("Less", {wide, e.int64_scalar(0)});
    auto positive = e.emit("Where", {negative, e.emit("Sub", {minus_one, wide}), wide});
    auto shifted = shift(cast(e, positive, kWide), by, ElementType::kInt64);
    return cast(e, e.emit("Where", {negative, e.emit("Sub", {minus_one, shifted}), shifted}), type);
}

// `&`, `|`, `^`: logical on BOOL (and where the element type is not known), bitwise on integers.
template <typename E>
typename E::Value lower_bitwise(E& e, std::string_view logical, std::string_view bitwise,
                                typename E::Value a, typename E::Value b) {
    ElementType type = e.element(a) != ElementType::kUndefined ? e.element(a) : e.element(b);
    if (!is_integer(type)) {
        return e.emit(logical, {a, b});
    }
    if (e.opset() < 18) {
        return e.fail("bitwise operators on integers need opset 18",
                      "import opset18 or newer, or compare the integers first");
    }
    return e.emit(bitwise, {a, b});
}

// Pow has the element type of its base: an integer to a float power would be cut to an integer.
template <typename E>
typename E::Value lower_power(E& e, typename E::Value a, typename E::Value b) {
    if (is_integer(e.element(a)) && is_floating(e.element(b))) {
        return e.fail("a tensor of " + std::string(name(e.element(a))) +
                          " to the power of one of " + std::string(name(e.element(b))),
                      "cast the base first, as in `op.Cast(x, to=FLOAT.dtype)`");
    }
    return e.emit("Pow", {a, b});
}

template <typename E>
typename E::Value lower_binary(E& e, Binary op, typename E::Value a, typename E::Value b) {
    switch (op) {
        case Binary::kAdd:
            return e.emit("Add", {a, b});
        case Binary::kSub:
            return e.emit("Sub", {a, b});
        case Binary::kMul:
            return e.emit("Mul", {a, b});
        case Binary::kMatMul:
            return e.emit("MatMul", {a, b});
        case Binary::kDiv:
            return e.emit("Div", {a, b});
        case Binary::kMod:
            return lower_modulo(e, a, b);
        case Binary::kPow:
            return lower_power(e, a, b);
        case Binary::kLeftShift:
            return lower_shift(e, Shift::kLeft, a, b);
        case Binary::kRightShift:
            return lower_shift(e, Shift::kRight, a, b);
        case Binary::kBitOr:
            return lower_bitwise(e, "Or", "BitwiseOr", a, b);
        case Binary::kBitXor:
            return lower_bitwise(e, "Xor", "BitwiseXor", a, b);
        case Binary::kBitAnd:
            return lower_bitwise(e, "And", "BitwiseAnd", a, b);
        case Binary::kFloorDiv:
            return lower_floor_divide(e, a, b);
    }
    return {};
}

template <typename E>
typename E::Value lower_unary(E& e, Unary op, typename E::Value a) {
    switch (op) {
        case Unary::kPlus:
            return a;
        case Unary::kNot:
            return e.emit("Not", {a});
        case Unary::kMinus:
            if (element_class(e.element(a)) == ElementClass::kUnsigned) {
                return e.emit("Sub", {e.scalar_like(a, 0.0), a});  // Neg is for signed types
            }
            return e.emit("Neg", {a});
        case Unary::kInvert:
            if (!is_integer(e.element(a))) {
                return e.emit("Not", {a});
            }
            if (e.opset() >= 18) {
                return e.emit("BitwiseNot", {a});
            }
            if (element_class(e.element(a)) == ElementClass::kUnsigned) {
                return e.fail("`~` on unsigned integers needs opset 18", "import opset18 or newer");
            }
            return e.emit("Sub", {e.scalar_like(a, -1.0), a});  // two's complement: ~x is -1 - x
    }
    return {};
}

}  // namespace sardonyx::lowering
