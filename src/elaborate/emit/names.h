// Finishing a graph: dead nodes out, names in.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

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

// An operator Gradient has names of values in its attributes. Until name_values writes those that
// the values get, they are the script's, and the values stand as inputs behind the node's own, so
// that they stay. Here are these attributes' strings, in the order of those inputs: `xs`, `zs`,
// `y`. None: it is another operator, or one of them is a parameter of the function.
struct DifferentiatedName {
    std::string_view attribute;
    std::string* text;
};
std::vector<DifferentiatedName> differentiated_names(std::string_view domain,
                                                     std::string_view op_type,
                                                     std::span<ir::Attribute> attributes);

}  // namespace sardonyx::elaborate
