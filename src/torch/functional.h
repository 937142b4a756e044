// Mutation, solved: an operator that writes into a tensor makes a new value instead.
//
// A write to a view is written into its base as well, by the inverse of the view, and other views
// of the base are made again when they are read next. Views are told by their storage, so that a
// reshape that copies is none.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "torch/overloads.h"
#include "torch/program.h"

namespace sardonyx::torch {

// The inputs and weights that a program changes, with the values that they have at its end.
using Changes = std::vector<std::pair<std::string, std::string>>;
// Rewrites the program. False: `problem` says which mutation has no form without it.
bool remove_mutation(Program& program, const IsKnown& is_known, Changes& changes, Problem& problem);

// Whether the results of an operator have new values of its running statistics, which its schema
// says that it writes itself.
bool gives_statistics(std::string_view overload);

// Normalisation in training changes buffers, and its schema does not say so: adds the writes where
// there is a form of them, and returns those without one.
std::vector<Problem> change_statistics(Program& program);

}  // namespace sardonyx::torch
