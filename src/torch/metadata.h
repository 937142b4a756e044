// metadata_props of nodes: where they come from, under the keys of torch.onnx.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "torch/program.h"

namespace sardonyx::torch {

using Metadata = std::vector<std::pair<std::string, std::string>>;

// Of the nodes that the lines of a script make, by the number of the line, from 1.
std::vector<std::pair<uint32_t, Metadata>> metadata_by_line(const std::vector<const Node*>& lines);

}  // namespace sardonyx::torch
