"""Sparse tensors, which are dense ones here: what PyTorch computes with them is the same."""

from .declare import aten, op
from .products import addmm
from .types import cast, tensor


@aten("sparse_coo_tensor.indices_size")
def sparse_coo_tensor(indices, values, size, *, dtype=None, is_coalesced=None):
    values = values if dtype is None else cast(values, dtype)
    start = op.Expand(tensor(0, values.dtype), size)
    return op.ScatterND(start, op.Transpose(indices, perm=[1, 0]), values, reduction="add")


@aten("_sparse_coo_tensor_with_dims_and_tensors.default")
def sparse_coo_tensor_with_dims(sparse_dim, dense_dim, size, indices, values, *, dtype=None,
                                is_coalesced=None):  # fmt: skip
    return sparse_coo_tensor(indices, values, size, dtype=dtype)


@aten("to_sparse.default")
def to_sparse(self, *, blocksize=None, dense_dim=None):
    return op.Identity(self)


@aten("to_sparse.sparse_dim")
def to_sparse_dim(self, sparse_dim):
    return op.Identity(self)


@aten("coalesce.default")
def coalesce(self):
    return op.Identity(self)


@aten("to_dense.default")
def to_dense(self, dtype=None, *, masked_grad=None):
    return op.Identity(self) if dtype is None else cast(self, dtype)


@aten("_sparse_mm.default")
def sparse_mm(sparse, dense):
    return op.MatMul(sparse, dense)


@aten("_sparse_addmm.default")
def sparse_addmm(self, mat1, mat2, *, beta=1, alpha=1):
    return addmm(self, mat1, mat2, beta=beta, alpha=alpha)


@aten("_sparse_sum.default")
def sparse_sum(self):
    return op.ReduceSum(self, keepdims=0)


@aten("_sparse_sum.dim")
def sparse_sum_dim(self, dim):
    return op.ReduceSum(self, dim, keepdims=0)
