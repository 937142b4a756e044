// The two operands of an operator as values of one element type.
#pragma once

#include <string_view>

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// An operand and where it stands. For the length of a call: it holds on to nothing.
struct Operand {
    const Object& object;
    syntax::Range range;
};

// The element type that both operands of an operator should have, from the one whose type is known.
void as_operands(Context& c, const Operand& first, const Operand& second, ir::Value*& left,
                 ir::Value*& right);

[[gnu::cold]] Object refuse_operand(Context& c, std::string_view symbol, const Object& a,
                                    const Object& b, syntax::Range range);

// Whether one is an int of NumPy, which is INT64 and no literal, beside a tensor of another type.
bool meets_numpys_int(const Object& a, const Object& b);

[[gnu::cold]] Object refuse_numpys_int(Context& c, syntax::Range range);

bool is_collection(const Object& object);

bool is_operand(const Object& object);

}  // namespace sardonyx::elaborate
