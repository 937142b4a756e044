// Copies of models.
#pragma once

#include <memory>

#include "ir/ir.h"

namespace sardonyx::ir {

// A model that says the same and shares nothing that can be changed: tensors keep their storage,
// which nobody writes to.
std::unique_ptr<Model> copy(const Model& model);

}  // namespace sardonyx::ir
