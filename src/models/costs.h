// What nodes cost: floating-point operations, and the bytes that they read and write, as far as the
// types of their values tell. Sizes with names give expressions of the names.
//
// A product and the sum that follows it are two operations; an operator on elements is one for each
// element of its result, softmax and normalizations are a few for each (kRules in costs.cpp).
// Moving and copying costs none.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/ir.h"

namespace sardonyx::models {

struct Cost {
    // Unknown: sizes are, or nobody knows what the operator does.
    Dim operations;
    Dim bytes_read, bytes_written;
};

// Of a node whose inputs and outputs have types. A node with subgraphs costs what they do: the
// dearest branch of an If, the body as often as a Loop or Scan runs it where that is known.
Cost cost_of(const ir::Model& model, const ir::Node& node);

// The most bytes that inputs, results and intermediate values of a run take at once, when each is
// kept from the node that makes it to the last that reads it, and nodes run in the order of the
// graph. Weights do not count.
struct Peak {
    std::optional<int64_t> bytes;
    std::string unknown;  // the first value whose size is not a number, with its type
};
Peak peak_of(const ir::Graph& graph);

}  // namespace sardonyx::models
