// Other types for the values of a model.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "ir/ir.h"

namespace sardonyx::models {

struct ShapeRequest {
    // Of values of the main graph: "FLOAT[N,4]", or "[N,4]" with the element type that it has.
    std::vector<std::pair<std::string, std::string>> types;
    std::vector<std::pair<std::string, int64_t>> sizes;  // of named dimensions, everywhere
};

// Types of inner values that depend on the values named are forgotten, and those of the outputs
// inferred. Error, and the model is no longer of use: no type, a name that is not, or a type that
// contradicts the operators.
Result<void> set_shapes(ir::Model& model, const ShapeRequest& request);

}  // namespace sardonyx::models
