// How a model runs, as text.
#pragma once

#include <string>

#include "base/result.h"
#include "ir/ir.h"

namespace sardonyx::cli {

// The plan of the model with all types that inference finds, which stay out of it.
Result<std::string> plan_text(const ir::Model& model);

}  // namespace sardonyx::cli
