// Operators whose meaning the class of an operand says: `__add__`, `__eq__`, `__bool__`.
#pragma once

#include <optional>
#include <string_view>

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// The method of this name of an instance of one of the program's classes, made here or by Python,
// and its call. Nothing: it is none, or its class has no such method.
std::optional<Object> call_special(Context& c, const Object& instance, std::string_view name,
                                   std::vector<Object> arguments, syntax::Range range);

// Whether there is one.
bool has_special(Context& c, const Object& instance, std::string_view name);

// An instance of a dataclass of the program that Python has made as one of the compiler's, to be
// compared with `other`, which is one; others as they are.
Object data_instance_of(Context& c, const Object& object, const Object& other);

// a + b and the like, where a class says what it is; nothing: none does.
std::optional<Object> special_binary(Context& c, syntax::BinaryOp op, const Object& a,
                                     const Object& b, syntax::Range range);

// Whether `a op= b` of a list or set does not change it: the method of b's class gives another
// value, which the name then has.
bool is_left_to_right(Context& c, syntax::BinaryOp op, const Object& a, const Object& b);

// -a and the like.
std::optional<Object> special_unary(Context& c, syntax::UnaryOp op, const Object& a,
                                    syntax::Range range);

// a == b, a < b, a in b and the like, except for `is`.
std::optional<Object> special_compare(Context& c, syntax::CompareOp op, const Object& a,
                                      const Object& b, syntax::Range range);

// Whether it is a class of the environment that does not say itself what its instances are, and
// that is true.
bool is_class_outside(Context& c, const Object& type);

// The truth value that `__bool__` or `__len__` gives: static, or a BOOL tensor of one element.
std::optional<Object> special_truth(Context& c, const Object& object, syntax::Range range);

}  // namespace sardonyx::elaborate
