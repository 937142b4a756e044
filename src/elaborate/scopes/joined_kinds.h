// What a value that is one or the other of two is to Python.
#pragma once

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// A shape meets tuples alone, and tensors meet tensors of their rank.
bool are_same_to_python(const Object& x, const Object& y);

// What the value that is one or the other is to Python.
Object joined_kind(const Object& x, const Object& y, ir::Value* output);

}  // namespace sardonyx::elaborate
