// Finishing a graph: dead nodes out, names in.
#pragma once

#include "ir/ir.h"

namespace sardonyx::elaborate {

// Gives every value of the graph and its subgraphs a name that is unique among them: the script's
// name for it where there is one (until now a hint in Value::name), else the operator's in lower
// case, with _1, _2, ... after the first. Inputs of `graph` keep theirs. Nodes are named node_0,
// node_1, ...
void name_values(ir::Model& model, ir::Graph& graph);

// Takes out the nodes of the graph and its subgraphs whose results nobody uses: what was emitted
// for facts that turned out to be static, and dead operators of the script. If and Loop nodes lose
// the outputs that nobody uses.
void remove_dead_nodes(ir::Model& model, ir::Graph& graph);
// Takes out the initializers that nothing reads: loops are typed more than once.
void remove_unused_initializers(ir::Graph& graph);

}  // namespace sardonyx::elaborate
