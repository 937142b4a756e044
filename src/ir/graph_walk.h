// The nodes and values of one graph, without those of its subgraphs.
#pragma once

#include <cstddef>

#include "ir/ir.h"

namespace sardonyx::ir {

size_t node_count(const Graph& graph);
// Whether it is that graph or one inside it; null is not.
bool encloses(const Graph& outer, const Graph* graph);

// The node at this place, which the graph has; from the nearer end.
Node& node_at(const Graph& graph, size_t index);

// Whether the value is an output of its graph. Outputs of graphs are no uses.
bool is_graph_output(const Value& value);

// Calls visit(Value*) for each value that the graph has or makes, in order: inputs, initializers
// that are no inputs, results.
template <typename Visit>
void for_each_own_value(const Graph& graph, const Visit& visit) {
    for (Value* value : graph.inputs) {
        visit(value);
    }
    for (Value* value : graph.initializers) {
        if (!value->is_graph_input()) {
            visit(value);
        }
    }
    for (const Node& node : graph) {
        for (Value* value : node.outputs()) {
            visit(value);
        }
    }
}

// Null: there is none of this name.
Value* find_own_value(const Graph& graph, std::string_view name);

// Walks a graph that may be edited meanwhile: nodes that are put behind the one where it stands are
// met, and when that one is taken out, it goes on with what was next.
class NodeCursor {
  public:
    explicit NodeCursor(const Graph& graph) : graph_(&graph) {}

    // The next node; null: there is none.
    Node* advance();

  private:
    const Graph* graph_;
    Node* current_ = nullptr;
    Node* next_ = nullptr;
    bool has_begun_ = false;
};

}  // namespace sardonyx::ir
