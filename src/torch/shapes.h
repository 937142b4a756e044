// Changes of a tensor's shape in place, such as `unsqueeze_`: they are views of it.
#pragma once

#include <string_view>
#include <vector>

#include "torch/functional.h"
#include "torch/program.h"

namespace sardonyx::torch {

// Whether the overload changes the shape of its first argument and none of its elements.
bool changes_shape(std::string_view overload);

// Makes views of them; what reads the tensor later reads the view. `changes` gets the views that
// inputs and weights have become at the end. Returns those of the inputs of bodies, which have no
// results for them.
std::vector<Problem> replace_shape_changes(Program& program, Changes& changes);

}  // namespace sardonyx::torch
