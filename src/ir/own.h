// Models that depend on nobody's memory.
#pragma once

#include "ir/ir.h"

namespace sardonyx::ir {

// Gives every tensor of the model storage of its own, where it borrows that of an array or of a
// file, which others may change. Tensors that share storage go on sharing.
void own_tensors(Model& model);

}  // namespace sardonyx::ir
