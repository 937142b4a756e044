// The two operands of an operator as values of one element type.
#pragma once

#include <string_view>

#include "elaborate/context.h"

namespace sardonyx::elaborate {

// The element type that both operands of an operator should have, from the one whose type is known.
void as_operands(Context& c, const Object& a, const Object& b, syntax::Range a_range,
                 syntax::Range b_range, ir::Value*& left, ir::Value*& right);

Object refuse_operand(Context& c, std::string_view symbol, const Object& a, const Object& b,
                      syntax::Range range);

bool is_collection(const Object& object);

bool is_operand(const Object& object);

}  // namespace sardonyx::elaborate
