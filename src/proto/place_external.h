// Which initializers are written to files of their own, and where they are there.
#pragma once

#include <string>
#include <unordered_map>

#include "proto/proto.h"

namespace sardonyx::proto {

// Where the elements of an initializer are in a file of their own.
struct Place {
    std::string location, offset, length;
};
using Places = std::unordered_map<const ir::Value*, Place>;

// The places of the large initializers of the main graph in `external` (null: there are none),
// whose files are filled.
Result<Places> place_initializers(const ir::Model& model, External* external);

}  // namespace sardonyx::proto
