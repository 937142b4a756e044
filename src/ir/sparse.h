// Sparse tensors as the dense ones that they stand for.
#pragma once

#include "base/result.h"
#include "ir/ir.h"

namespace sardonyx::ir {

// As Model::add_default().
void add_sparse_default(Model& model, Value* input, SparseTensor tensor);
// That of the tensor with its zeros, which operators read.
Type dense_type(const SparseTensor& sparse);
// That tensor. A few bytes may stand for any size: beyond `max_bytes`, and where the
// indices do not fit the values or the dims, it is an error.
Result<Tensor> densified(const SparseTensor& sparse, int64_t max_bytes);

}  // namespace sardonyx::ir
