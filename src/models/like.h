// A model that takes the words of another one.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "ir/ir.h"

namespace sardonyx::models {

struct Likeness {
    bool is_same = false;  // isomorphic: the result is the other model, to the last word
    size_t nodes = 0;      // of the graph that have a counterpart there
};

// Gives a model names, documentation, metadata and what else does not count for its results from
// `like`: all, with the order of nodes and the types that are stated, where both are isomorphic
// (as `difference` says); else those of values and nodes that have a counterpart (matching.h),
// and those of the model itself. Names stay unique.
// `difference` tells what differs between two models; nothing: they are isomorphic.
using FirstDifference = std::string (*)(const ir::Model& a, const ir::Model& b);
Likeness make_like(std::unique_ptr<ir::Model>& model, const ir::Model& like,
                   FirstDifference difference);

}  // namespace sardonyx::models
