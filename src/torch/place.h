// Where a node comes from, of what torch has noted with it.
#pragma once

#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include "base/json_reader.h"
#include "torch/program.h"

namespace sardonyx::torch {

// The places of the nodes of a .pt2 file, of which many have one.
class Places {
  public:
    std::shared_ptr<const Place> read(JsonValue metadata);

  private:
    // By the texts of JSON for the modules and for the trace.
    std::map<std::pair<std::string_view, std::string_view>, std::shared_ptr<const Place>> known_;
};

// Sets the line that the user wrote, of the place's trace: neither one in torch, whose files have
// `torch_folder` in their paths, nor one in made code.
void find_line(Place& place, std::string_view torch_folder);

}  // namespace sardonyx::torch
