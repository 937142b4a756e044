// Nodes that need not be in the text: those that give what they get, and those that nobody reads.
#pragma once

#include <string>
#include <unordered_set>

#include "torch/functional.h"
#include "torch/program.h"

namespace sardonyx::torch {

// Leaves out nodes that give what they get; `is_own` tells operators that the user has declared.
void remove_copies(Program& program, const IsKnown& is_own);

// The values that outputs and writes are made of, and the nodes that write.
std::unordered_set<std::string> used_names(const Program& program);

// Leaves out nodes whose results nothing reads, which do nothing else, and bodies that no node
// calls.
void remove_unused(Program& program);

}  // namespace sardonyx::torch
