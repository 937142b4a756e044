// Other names for the parts of a model.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "ir/ir.h"

namespace sardonyx::models {

using NamePairs = std::vector<std::pair<std::string, std::string>>;  // old, new

struct Renaming {
    NamePairs values;  // of the main graph and its subgraphs
    NamePairs nodes;
    NamePairs dims;       // of sizes
    NamePairs functions;  // "domain:name", to another name or "domain:name"
    std::string graph;    // empty: its name stays
};
// All are renamed at once: two may change places. Error: a name that is not, or is another's.
Result<void> rename(ir::Model& model, const Renaming& renaming);

}  // namespace sardonyx::models
