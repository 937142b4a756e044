// Which node of one graph is which of another.
#pragma once

#include <unordered_map>

#include "ir/ir.h"

namespace sardonyx::models {

// Pairs, in both directions; what is in neither has no counterpart.
struct Matching {
    std::unordered_map<const ir::Value*, const ir::Value*> values, values_back;
    std::unordered_map<const ir::Node*, const ir::Node*> nodes, nodes_back;

    void bind(const ir::Value& a, const ir::Value& b);
    const ir::Value* of(const ir::Value* a) const;  // null: none
    const ir::Node* of(const ir::Node& a) const;
    const ir::Node* back_of(const ir::Node& b) const;
};

// Adds the pairs of two graphs, to those of the values around them. Inputs go by their names, then
// by their places. Nodes go by what they compute: operator, attributes and inputs down to the
// inputs of the graph and the bytes of weights; then without the bytes; then by who reads them and
// whom they read, from the outputs and inputs on; then by their names; and at last those that stand
// between the same others, whatever their operators. Each takes the next in order that is free.
void match_graphs(const ir::Graph& a, const ir::Graph& b, Matching& matching);

}  // namespace sardonyx::models
