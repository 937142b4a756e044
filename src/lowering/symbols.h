// Python's operators by their symbols, and on what a program gives: values, and literals beside
// them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "lowering/operators.h"

namespace sardonyx::lowering {

// Of kBinarySymbols, kUnarySymbols or kCompareSymbols. Nothing: none is written so.
template <typename Operator, size_t kCount>
std::optional<Operator> operator_of(const std::string_view (&symbols)[kCount],
                                    std::string_view symbol) {
    const auto* found = std::find(std::begin(symbols), std::end(symbols), symbol);
    return found == std::end(symbols) ? std::nullopt
                                      : std::optional(static_cast<Operator>(found - symbols));
}

// The element type of a literal as the right operand of a value whose type is `left`; kUndefined:
// its own. The exponent of Pow has a type of its own: x ** 2 and x ** 0.5 both mean what they say.
// But that of integers is an integer.
inline ElementType type_of_right_literal(Binary op, ElementType left, bool is_float) {
    bool is_own = op == Binary::kPow && !(is_integer(left) && is_float);
    return is_own ? ElementType::kUndefined : left;
}

[[gnu::cold]] inline std::string negative_power_text() {
    return std::string(kNegativePower) + ": " + std::string(kNegativePowerHelp);
}

// Python's operator on two arguments, of which a literal takes the type that the other settles.
// Null: one of them is no operand, or the emitter has failed. `operands` has
//   ElementType settled_type(argument)    // of a value; kUndefined: it is a literal, or not known
//   bool is_float(argument)               // a literal that is a float of Python
//   bool is_negative_int(argument)        // a literal that is an int below 0
//   Value value(e, argument, type)        // a literal as one of this type; null: it is no operand
//   [[noreturn]] refuse_value(message)
template <typename E, typename Operands, typename Argument>
typename E::Value lower_binary_of(E& e, Binary op, const Operands& operands, Argument left,
                                  Argument right) {
    ElementType type = operands.settled_type(left);
    if (op == Binary::kPow && is_integer(type) && operands.is_negative_int(right)) [[unlikely]] {
        operands.refuse_value(negative_power_text());
    }
    bool is_float = operands.is_float(right);
    typename E::Value b = operands.value(e, right, type_of_right_literal(op, type, is_float));
    typename E::Value a =
        b == nullptr ? nullptr : operands.value(e, left, operands.settled_type(right));
    return a == nullptr ? nullptr : lower_binary(e, op, a, b);
}

}  // namespace sardonyx::lowering
