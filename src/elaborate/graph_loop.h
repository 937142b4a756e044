// Loops that become Loop nodes, from the names that they carry to the names after them.
#pragma once

#include "elaborate/objects/context.h"
#include "elaborate/scopes/loop_parts.h"

namespace sardonyx::elaborate {

// Runs the loop in the graph; names and the flags of a return are bound as they are after it.
// Returns whether it was left by a jump: static, or a BOOL tensor.
Object run_graph_loop(Context& c, const GraphLoop& loop);

}  // namespace sardonyx::elaborate
