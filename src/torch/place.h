// Where a node of a .pt2 file comes from, of what torch has noted with it.
#pragma once

#include <memory>

#include "base/json_reader.h"
#include "torch/program.h"

namespace sardonyx::torch {

std::shared_ptr<const Place> read_place(JsonValue metadata);

}  // namespace sardonyx::torch
