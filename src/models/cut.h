// A part of a model as a model.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "ir/ir.h"
#include "models/unused.h"

namespace sardonyx::models {

// Names of values of the main graph; empty: the inputs or outputs that it has.
struct CutRequest {
    std::vector<std::string> inputs, outputs;
};

struct Cut {
    std::vector<std::string> inputs, outputs;  // of what is left
    // Inputs of the model that the outputs need beside those that were named.
    std::vector<std::string> also_needed;
    Removed removed;
};

// Makes the model what computes `outputs` from `inputs`: these become its inputs and outputs, and
// what nobody needs any more goes. Types that the model does not state are inferred. Error, and
// the model is no longer of use: a name that is not, twice or in a subgraph; an input that no
// output needs; a value whose type nobody knows.
Result<Cut> cut(ir::Model& model, const CutRequest& request);

}  // namespace sardonyx::models
