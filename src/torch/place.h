// Where a node comes from, of what torch has noted with it.
#pragma once

#include <memory>
#include <string_view>

#include "base/json_reader.h"
#include "torch/program.h"

namespace sardonyx::torch {

// Of a node of a .pt2 file.
std::shared_ptr<const Place> read_place(JsonValue metadata);

// Sets the line that the user wrote, of the place's trace: neither one in torch, whose files have
// `torch_folder` in their paths, nor one in made code.
void find_line(Place& place, std::string_view torch_folder);

}  // namespace sardonyx::torch
