// What names are behind two branches: one value, or a diagnostic.
#pragma once

#include <optional>

#include "elaborate/objects/context.h"
#include "elaborate/scopes/branch.h"

namespace sardonyx::elaborate {

// Adds the object as an output of the graph, as a tensor of `type` where it is static. Null after
// an error.
ir::Value* output_of(Context& c, ir::Graph* graph, const Object& object, ElementType type,
                     syntax::Range range);

// One If node for both branches; names that they leave with different values become its outputs
// when they are read after the byte `after`. The jump is what both have in common; a return of one
// of them alone is left in the flags (jumps.h).
Jump merge(Context& c, ir::Value* condition, Branch& yes, Branch& no, syntax::Range range,
           uint32_t after);

// The same for one object of each branch besides. Nothing: they cannot be one value.
std::optional<Object> merge_values(Context& c, ir::Value* condition, Branch& yes, Branch& no,
                                   const Object& a, const Object& b, syntax::Range range,
                                   uint32_t after);

}  // namespace sardonyx::elaborate
