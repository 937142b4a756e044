// Python's comparisons where lists, tuples and dicts hold what only the graph knows: what is
// certain is decided, the rest becomes one BOOL or is refused.
#pragma once

#include <optional>

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// Whether Python takes a and b for equal: a bool, or a BOOL scalar of the graph; the error object
// after a diagnostic.
Object equal_objects(Context& c, const Object& a, const Object& b, syntax::Range range);

// ==, !=, <, <=, > and >= where at least one operand is a list, tuple, dict or shape. Nothing: the
// other one is a tensor, and each element is compared, as in NumPy.
std::optional<Object> compare_containers(Context& c, syntax::CompareOp op, const Object& a,
                                         const Object& b, syntax::Range range);

// A comparison whose answer must be known now; the error object after a diagnostic.
Object certain_compare(Context& c, syntax::CompareOp op, const Object& a, const Object& b,
                       syntax::Range range);

// The value of a key, null where the dict has none; nothing after a diagnostic.
std::optional<const Object*> find_key(Context& c, const DictObject& dict, const Object& key,
                                      syntax::Range range);

}  // namespace sardonyx::elaborate
