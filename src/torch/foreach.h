// Operators of lists of tensors, such as `torch._foreach_add_([a, b], 1)`: made of the operator of
// each tensor.
#pragma once

#include <string_view>
#include <vector>

#include "torch/program.h"

namespace sardonyx::torch {

// Whether the operator of aten computes a list, one tensor after the other, or writes to it.
bool is_of_lists(std::string_view packet);

// Replaces such nodes of the program. Those without a form stay if they only compute; returns those
// that write.
std::vector<Problem> split_lists(Program& program);

}  // namespace sardonyx::torch
