// Models that depend on nobody's memory.
#pragma once

#include "ir/ir.h"

namespace sardonyx::ir {

// Gives every tensor of the model storage of its own, where it borrows that of an array or of a
// file, which others may change. Tensors that share storage go on sharing.
void own_tensors(Model& model);

// The tensor with elements of its own, which nobody else can change; not of strings.
Tensor copy_of(const Tensor& tensor);

}  // namespace sardonyx::ir
