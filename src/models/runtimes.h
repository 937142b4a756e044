// Which release of ONNX Runtime a model needs.
#pragma once

#include <string>

#include "ir/ir.h"

namespace sardonyx::models {

// "1.17": the first release known to take the model's opsets and IR version; empty: none is known.
// Operators of other domains say nothing here.
std::string needed_runtime(const ir::Model& model);

}  // namespace sardonyx::models
