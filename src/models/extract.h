// A function of a model as a model of its own.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "ir/ir.h"

namespace sardonyx::models {

struct ExtractRequest {
    std::string function;  // its name, or "domain:name" or "domain:name:overload"
    // Of inputs: "FLOAT[N,4]"; the others have those of the first call.
    std::vector<std::pair<std::string, std::string>> types;
};

// Makes the model one call of the function: its inputs and outputs are those of the function, its
// attributes those of the first call, or the defaults. Functions that it calls stay. Error, and the
// model is no longer of use: there is no such function, a type that nobody says.
Result<void> extract_function(ir::Model& model, const ExtractRequest& request);

}  // namespace sardonyx::models
