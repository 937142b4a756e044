// Which sizes of a model's inputs must be equal, by what the graph calls them.
#pragma once

#include <vector>

#include "eval/plan/plan.h"

namespace sardonyx::eval {

// The axes of the graph's inputs that are declared with one name, or one expression.
std::vector<std::vector<Plan::Place>> equal_sizes(const ir::Graph& graph);

}  // namespace sardonyx::eval
