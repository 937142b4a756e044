// Operators that write their results into several tensors, such as `torch.max(x, 1, out=(a, b))`:
// made of the operator without `out` and a write of each result.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "torch/program.h"

namespace sardonyx::torch {

// The overload without `out` of one that writes into several tensors; empty: it is none.
std::string_view form_without_outs(std::string_view overload);

// Replaces such nodes of the program, and operators of lists (`torch/foreach.h`). Returns writes
// without a form.
std::vector<Problem> split_outs(Program& program);

}  // namespace sardonyx::torch
