// What a value that is one or the other of two is to Python.
#pragma once

#include <optional>

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// A shape meets tuples alone, and tensors meet tensors of their rank.
bool are_same_to_python(const Object& x, const Object& y);

// What the value that is one or the other is to Python.
Object joined_kind(const Object& x, const Object& y, ir::Value* output);

// The element type of the items of both lists. Nothing: they have none in common.
std::optional<ElementType> item_type(const Object& a, const Object& b);

}  // namespace sardonyx::elaborate
