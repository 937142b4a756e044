// Two models as one.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "ir/ir.h"

namespace sardonyx::models {

struct MergeRequest {
    // An output of the first model and the input of the second that takes it; empty: those of equal
    // names.
    std::vector<std::pair<std::string, std::string>> links;
    std::string prefix;  // before all names of the second model; empty: before those that are taken
    bool keeps_linked = false;  // outputs that go into inputs stay outputs as well
};

struct Merge {
    std::vector<std::pair<std::string, std::string>> links;
    std::vector<std::pair<std::string, std::string>> renamed;  // values of the second model
    std::vector<std::string> inputs, outputs;
};

// Puts the second model behind the first one, which becomes both. The others of the second one's
// inputs become inputs, and its outputs outputs. Functions of equal names that differ get
// overloads. Error, and the first model is no longer of use: names that are not, types or versions
// of opsets that contradict each other, two interfaces with one name.
Result<Merge> merge(ir::Model& first, const ir::Model& second, const MergeRequest& request);

}  // namespace sardonyx::models
