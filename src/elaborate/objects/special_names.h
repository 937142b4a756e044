// The names of Python's special methods whose meaning the compiler takes from a class.
#pragma once

#include <string_view>
#include <vector>

#include "lowering/operators.h"
#include "syntax/tree.h"

namespace sardonyx::elaborate {

// Of an operator or comparison: what the left operand is asked for, and what the right one.
struct MethodNames {
    std::string_view symbol, left, right;
    bool is_compare = false;
};

const MethodNames& binary_names(lowering::Binary op);
const MethodNames& compare_names(syntax::CompareOp op);  // of `==` to `>=`

// -a and the like; empty: there is none.
std::string_view unary_name(syntax::UnaryOp op);

// What Python calls of a plain class for operators, comparisons, texts and truth values.
std::vector<std::string_view> special_methods();

// Whether a plain class may have a special method of this name, beside those that make its
// instances, call them and give their items. What prints an instance, or makes a key of it, is
// refused where a program does that.
bool is_special_method(std::string_view name);

}  // namespace sardonyx::elaborate
