// Subgraphs of functions that are given to an operator.
#pragma once

#include <span>

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// The subgraph of a body given to an operator (Scan, Loop, SequenceMap, If), whose input types
// follow from the operator's inputs and attributes. Null after an error.
ir::Graph* body_graph(Context& c, const ops::Schema& schema, std::span<ir::Value* const> inputs,
                      std::span<const ir::Attribute> attributes, const Closure& closure,
                      syntax::Range range);

}  // namespace sardonyx::elaborate
