// What a value that is one or the other of two is to Python.
#pragma once

#include <optional>
#include <string>

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// A shape meets tuples alone, and tensors meet tensors of their rank.
bool are_same_to_python(const Object& x, const Object& y);

// What the value that is one or the other is to Python.
Object joined_kind(const Object& x, const Object& y, ir::Value* output);

// The element type of the items of both lists. Nothing: they have none in common.
std::optional<ElementType> item_type(const Object& a, const Object& b);

// Whether lists of different lengths meet: they become a sequence. (Numbers alone are a tensor.)
bool are_sequences(const Object& a, const Object& b);

// Whether lists of Python's numbers meet of which the run decides how long they are.
bool are_numbers(const Object& a, const Object& b);

// The type of the numbers of both. Nothing: they have none in common, or nothing says it.
std::optional<ElementType> type_of_numbers(const Object& a, const Object& b);

// How messages call an object: a tensor by its type.
std::string describe(const Object& object);

// Why a graph cannot choose between what two branches give, as in "is an int in one branch ...".
std::string difference(const Object& yes, const Object& no);

}  // namespace sardonyx::elaborate
