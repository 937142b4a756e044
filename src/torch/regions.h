// Regions of a graph that run once, such as those of `torch.no_grad()` and of `torch.autocast`:
// where something is written in place, their nodes become those of the graph around them, because
// a write in a region reaches the tensors outside of it, and views go through its results.
#pragma once

#include <functional>
#include <string>

#include "torch/program.h"

namespace sardonyx::torch {

// Tells what a value of a body is called in the program.
using SeeOpened =
    std::function<void(const std::string& body, const std::string& name, const std::string& now)>;
// Opens the regions of a program in which something is written, in it or in them.
void open_regions(Program& program, const SeeOpened& see);

// Whether a node writes in place, also one in a region.
bool has_writes(const Program& program);

}  // namespace sardonyx::torch
