// Static objects, and lists of values, as tensors.
#pragma once

#include <cstdint>
#include <optional>

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// The tensor of a number, string, list (nested lists give a rank) or array; `type` kUndefined: the
// type that Python's values imply (int INT64, float FLOAT, bool BOOL, str STRING). Nothing, and a
// diagnostic, when it has none.
std::optional<Tensor> static_tensor(Context& c, const Object& object, ElementType type,
                                    syntax::Range range);

// How much of lists may be looked at: a list may hold itself, and others again and again.
struct ListWalk {
    int64_t items = int64_t{1} << 24;
    int depth = 64;  // the most dimensions that an array of NumPy has
};

// Whether a float is in it.
bool has_float(const Object& object);

// Whether an array that is known is in a list, or in lists in it.
bool has_array(const Object& list);

// [1, n], [[a, b], [c, 1.0]], [row, row]: one Concat, and a Reshape where lists are nested.
ir::Value* mixed_list(Context& c, const Object& object, syntax::Range range, ElementType type,
                      ir::Value* like);

}  // namespace sardonyx::elaborate
