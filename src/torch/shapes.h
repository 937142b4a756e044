// Changes of a tensor's shape in place, such as `unsqueeze_`: they are views of it.
#pragma once

#include <string_view>
#include <vector>

#include "torch/program.h"

namespace sardonyx::torch {

// Whether the overload changes the shape of its first argument and none of its elements.
bool changes_shape(std::string_view overload);

// Makes views of them; what reads the tensor later reads the view. Returns those that change what
// the caller of the program sees, which a value cannot.
std::vector<Problem> replace_shape_changes(Program& program);

}  // namespace sardonyx::torch
