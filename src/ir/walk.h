// What is in a node: its subgraphs, and all that it reads.
#pragma once

#include <vector>

#include "ir/ir.h"

namespace sardonyx::ir {

// Calls visit(Graph&) for each graph that the attribute holds.
template <typename Visit>
void for_each_subgraph(const Attribute& attribute, Visit visit) {
    if (Graph* const* graph = attribute.get<Graph*>()) {
        visit(**graph);
    } else if (const auto* graphs = attribute.get<std::vector<Graph*>>()) {
        for (Graph* each : *graphs) {
            visit(*each);
        }
    }
}

template <typename Visit>
void for_each_subgraph(const Node& node, Visit visit) {
    for (const Attribute& attribute : node.attributes) {
        for_each_subgraph(attribute, visit);
    }
}

// Calls visit(Node&) for each node of the graph, and after it for those of its subgraphs.
template <typename Visit>
void for_each_node(const Graph& graph, const Visit& visit) {
    for (Node& node : graph) {
        visit(node);
        for_each_subgraph(node, [&](const Graph& inner) { for_each_node(inner, visit); });
    }
}

// Calls visit(const Value&) for each input of the node, and for all that is read in its subgraphs.
template <typename Visit>
void for_each_read(const Node& node, const Visit& visit) {
    for (const Use& use : node.inputs()) {
        if (use.value != nullptr) {
            visit(*use.value);
        }
    }
    for_each_subgraph(node, [&](const Graph& subgraph) {
        for (const Node& inner : subgraph) {
            for_each_read(inner, visit);
        }
        for (const Value* output : subgraph.outputs) {
            visit(*output);
        }
    });
}

}  // namespace sardonyx::ir
