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
// So many bytes have the dense forms of a model's sparse tensors, all together.
inline constexpr int64_t kMostDensified = int64_t{4} << 30;

// The tensor of an initializer, dense or made so. Error: it names the initializer.
Result<Tensor> dense_tensor(const Value& initializer, int64_t max_bytes = kMostDensified);
// Whether the model has sparse initializers, or constants that are sparse.
bool has_sparse(const Model& model);
// Makes all of them dense.
Result<void> make_dense(Model& model);

}  // namespace sardonyx::ir
