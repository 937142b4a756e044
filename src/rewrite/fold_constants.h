// Nodes that compute the same in each run: their results in place of them.
#pragma once

#include <cstddef>

#include "ir/ir.h"

namespace sardonyx::rewrite {

// Runs each node whose inputs are Constant nodes, and makes it a Constant node itself if its one
// result is a tensor of at most `max_bytes`; Constant nodes that nobody reads any more are taken
// out. Stays as it is: what depends on chance or on attributes of a function, has graphs, or fails.
// Initializers are no Constant nodes: they keep their names and are not computed with.
void fold_constants(ir::Model& model, size_t max_bytes);

}  // namespace sardonyx::rewrite
