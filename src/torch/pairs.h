// Complex tensors: which operators have a form for pairs, and pairs at the ends of a program.
#pragma once

#include <vector>

#include "torch/functional.h"
#include "torch/program.h"

namespace sardonyx::torch {

// Gives each operator on complex tensors its form for pairs; a problem for each that has none.
std::vector<Problem> choose_pairs(Program& program, const IsKnown& is_known);

// Inputs, weights and results that are complex have the parts as their last dimension.
void make_ends_real(Program& program);

}  // namespace sardonyx::torch
