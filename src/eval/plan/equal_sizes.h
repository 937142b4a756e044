// Which sizes of a model's inputs must be equal, by what the graph calls them.
#pragma once

#include <vector>

#include "eval/plan/plan.h"

namespace sardonyx::eval {

// The axes of the graph's inputs that are declared with one name, or one expression. A value that
// is optional counts where it is given. In models of scripts, whose names are one size each, so do
// the items of inputs that are sequences; others write one name there for sizes that differ.
std::vector<Plan::EqualSizes> equal_sizes(const ir::Model& model, const ir::Graph& graph);

}  // namespace sardonyx::eval
