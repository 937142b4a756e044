// The ways back into the interpreter, for what is below it: builtins call functions that they are
// given and make nodes of operators, and a function that is an attribute is run for its graph.
#pragma once

#include <string_view>

#include "elaborate/objects/arguments.h"
#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

Object call(Context& c, const Object& callee, const Arguments& arguments, size_t wanted = 0);

// object[index], where no index stands in the source.
Object item_of(Context& c, const Object& object, const Object& index, syntax::Range range);

Object call_operator(Context& c, const OpsetObject& opset, std::string_view name,
                     const Arguments& arguments, size_t wanted);

// The body of a closure as a subgraph with inputs of these types (extra types from annotations).
// Null after an error.
ir::Graph* closure_graph(Context& c, const Closure& closure, std::span<const Type> input_types,
                         syntax::Range range);

}  // namespace sardonyx::elaborate
