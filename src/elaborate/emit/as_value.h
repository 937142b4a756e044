// Objects as values of the graph.
#pragma once

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// Refuses what is of two types to Python (Object::is_either) where it would be a tensor of its own.
[[gnu::cold]] void report_either(Context& c, syntax::Range range);

// The object as a value of the graph: tensors as they are; static ones as constants of `type`, or,
// when that is unknown and `like` is given, of the type of `like` by CastLike. Null, and a
// diagnostic, when it cannot be.
ir::Value* as_value(Context& c, const Object& object, syntax::Range range,
                    ElementType type = ElementType::kUndefined, ir::Value* like = nullptr);

// CastLike where a literal or a number takes the type of what stands beside it: refused where that
// type turns out not to hold it.
ir::Value* cast_like(Context& c, ir::Value* value, ir::Value* like, syntax::Range range);

}  // namespace sardonyx::elaborate
