// Nested functions and lambdas: called in place, or as subgraphs.
#pragma once

#include <span>

#include "elaborate/calls.h"
#include "elaborate/context.h"

namespace sardonyx::elaborate {

// Runs a nested function or lambda in place.
Object call_closure(Context& c, const Closure& closure, const Arguments& arguments);

// The body of a closure as a subgraph with inputs of these types (extra types from annotations).
// Null after an error.
ir::Graph* closure_graph(Context& c, const Closure& closure, std::span<const Type> input_types,
                         syntax::Range range);

}  // namespace sardonyx::elaborate
