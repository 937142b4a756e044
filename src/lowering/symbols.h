// Python's operators by their symbols, and what a literal beside one is.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
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

}  // namespace sardonyx::lowering
