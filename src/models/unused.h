// What no result of a model needs.
#pragma once

#include <cstddef>
#include <vector>

#include "ir/ir.h"

namespace sardonyx::models {

struct Removed {
    size_t nodes = 0, initializers = 0, functions = 0;
};

// Takes out of the graph the nodes that no output needs, and initializers that nothing reads; and
// functions that nothing calls. Inputs stay.
Removed remove_unused(ir::Model& model);
// Takes the nodes out; nothing else may read what they make.
void remove_nodes(const std::vector<ir::Node*>& nodes);

}  // namespace sardonyx::models
