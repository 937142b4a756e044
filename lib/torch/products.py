"""Products of matrices and vectors."""

import numpy as np
from sardonyx import BOOL, INT32, INT64

from .declare import aten, inline, op
from .types import (
    axis,
    cast,
    count_of,
    full_of,
    kind,
    promoted,
    result_type_of,
    tensor,
    without_bfloat16,
)


@inline
def product(a, b):
    """MatMul, which has no small integers and no booleans."""
    if kind(a.dtype) == 2 or a.dtype == INT32.dtype or a.dtype == INT64.dtype:
        return op.MatMul(a, b)
    return op.Cast(op.MatMul(op.Cast(a, to=INT32.dtype), op.Cast(b, to=INT32.dtype)), to=a.dtype)


@aten("linear.default")
def linear(input, weight, bias=None):
    is_gemm = kind(input.dtype) == 2  # of integers ONNX Runtime has none
    if is_gemm and input.ndim == 2 and weight.ndim == 2 and bias is not None and bias.ndim <= 1:
        return op.Gemm(input, weight, bias, transB=1)
    turned = op.Transpose(weight, perm=[1, 0]) if weight.ndim == 2 else weight
    y = product(input, turned)
    return y if bias is None else y + bias


@aten("matmul.default", "linalg_matmul.default", "vdot.default")
def matmul(self, other):
    return product(self, other)


@aten("mm.default", "bmm.default")
def mm(self, mat2):
    return product(self, mat2)


@aten("_int_mm.default")
def int_mm(self, mat2):
    """The sums of products of bytes, as 32-bit numbers."""
    return op.MatMulInteger(self, mat2)


@aten("mv.default")
def mv(self, vec):
    return product(self, vec)


@aten("dot.default")
def dot(self, tensor):
    return product(self, tensor)


@aten("inner.default")
def inner(self, other):
    if self.ndim == 0 or other.ndim == 0:
        return self * other
    if other.ndim == 1:
        return product(self, other)
    y = product(self, op.Transpose(op.Reshape(other, [-1, other.shape[-1]])))
    return op.Reshape(y, [*self.shape[:-1], *other.shape[:-1]])


@aten("linalg_vecdot.default")
def vecdot(x, y, *, dim=-1):
    return op.ReduceSum(x * y, [dim], keepdims=0)


@inline
def weighted(self, product, beta, alpha):
    """beta * self + alpha * product, where self is not looked at if beta is 0."""
    scaled = product if alpha == 1 else product * alpha
    if beta == 0:
        return scaled
    return (self if beta == 1 else self * beta) + scaled


@aten("addmm.default")
def addmm(self, mat1, mat2, *, beta=1, alpha=1):
    if kind(self.dtype) == 2 and self.ndim <= 2 and beta != 0:
        return op.Gemm(mat1, mat2, self, alpha=float(alpha), beta=float(beta))
    return weighted(self, product(mat1, mat2), beta, alpha)


@aten("addmv.default")
def addmv(self, mat, vec, *, beta=1, alpha=1):
    return weighted(self, product(mat, vec), beta, alpha)


@aten("baddbmm.default")
def baddbmm(self, batch1, batch2, *, beta=1, alpha=1):
    return weighted(self, product(batch1, batch2), beta, alpha)


@aten("addbmm.default")
def addbmm(self, batch1, batch2, *, beta=1, alpha=1):
    total = op.ReduceSum(product(batch1, batch2), [0], keepdims=0)
    return weighted(self, total, beta, alpha)


@inline
def between(x, first, last, dim):
    return op.Slice(x, op.Reshape(first, [1]), op.Reshape(last, [1]), [dim])


@aten("_grouped_mm.default")
def grouped_mm(self, mat2, offs=None, bias=None, out_dtype=None):
    """Products of groups, as of a mixture of experts; `offs` has where each group ends along the
    rows, the columns, or the dimension that is summed."""
    assert bias is None, "_grouped_mm with a bias, which torch has not either"
    if offs is None:
        return cast(product(self, mat2), out_dtype)
    first = op.Constant(value_int=0)
    ends = op.Cast(offs, to=INT64.dtype)
    parts = []
    for i in range(offs.type.shape[0]):
        last = op.Gather(ends, i)
        if self.ndim == 3:
            a, b = op.Gather(self, i), between(mat2, first, last, 1)
        elif mat2.ndim == 3:
            a, b = between(self, first, last, 0), op.Gather(mat2, i)
        else:
            a, b = between(self, first, last, 1), between(mat2, first, last, 0)
        parts.append(product(a, b))
        first = last
    if self.ndim == 2 and mat2.ndim == 2:
        y = op.Concat(*[op.Unsqueeze(one, [0]) for one in parts], axis=0)
    elif self.ndim == 3:
        y = op.Concat(*parts, axis=1)
    else:
        # What torch leaves as it finds it, behind the last group, is 0.
        y = op.Concat(*parts, axis=0)
        rest = op.Sub(self.shape[0], first)
        y = op.Pad(y, op.Concat([0, 0], op.Reshape(rest, [1]), [0], axis=0))
    return cast(y, out_dtype)


@aten("addr.default")
def addr(self, vec1, vec2, *, beta=1, alpha=1):
    dtype = result_type_of([self, vec1, vec2])
    outer = op.Unsqueeze(cast(vec1, dtype), [1]) * op.Unsqueeze(cast(vec2, dtype), [0])
    return weighted(cast(self, dtype), outer, beta, alpha)


@inline
def times(a, b):
    return op.And(a, b) if a.dtype == BOOL.dtype else a * b


@aten("outer.default", "ger.default")
def outer(self, vec2):
    a, b = promoted(self, vec2)
    return times(op.Unsqueeze(a, [1]), op.Unsqueeze(b, [0]))


@aten("chain_matmul.default")
def chain_matmul(matrices):
    return multi_dot(matrices)


@aten("linalg_multi_dot.default")
def multi_dot(tensors):
    y = tensors[0]
    for one in tensors[1:]:
        y = product(y, one)
    return y


@aten("kron.default")
def kron(self, other):
    self, other = promoted(self, other)
    rank = max(self.ndim, other.ndim)
    if rank == 0:
        return times(self, other)
    a = op.Reshape(self, [1] * (rank - self.ndim) + list(self.shape))
    b = op.Reshape(other, [1] * (rank - other.ndim) + list(other.shape))
    left = op.Unsqueeze(a, [2 * i + 1 for i in range(rank)])
    right = op.Unsqueeze(b, [2 * i for i in range(rank)])
    return op.Reshape(times(left, right), [a.shape[i] * b.shape[i] for i in range(rank)])


@inline
def reduced_ones(x, dims, sizes):
    """Sums along the dimensions where the other tensor has 1."""
    ones = [dims[i] for i in range(len(dims)) if sizes[i] == 1 and x.type.shape[dims[i]] != 1]
    return op.ReduceSum(x, ones, keepdims=1) if len(ones) > 0 else x


@aten("tensordot.default")
def tensordot(self, other, dims_self, dims_other):
    left = [axis(one, self.ndim) for one in dims_self]
    right = [axis(one, other.ndim) for one in dims_other]
    rest = [one for one in range(self.ndim) if one not in left]
    more = [one for one in range(other.ndim) if one not in right]
    # A dimension of 1 goes with one of any size.
    a = reduced_ones(self, left, [other.type.shape[one] for one in right])
    b = reduced_ones(other, right, [self.type.shape[one] for one in left])
    self, other = a, b
    size = count_of(self, left)
    a = op.Transpose(self, perm=rest + left) if self.ndim > 1 else self
    b = op.Transpose(other, perm=right + more) if other.ndim > 1 else other
    y = product(op.Reshape(a, [-1, size]), op.Reshape(b, [size, -1]))
    shape = [self.shape[one] for one in rest] + [other.shape[one] for one in more]
    return op.Reshape(y, shape) if len(shape) > 0 else op.Reshape(y, np.array([], dtype=np.int64))


@inline
def adds_up(equation):
    """Whether einsum of one tensor sums, which makes INT64 of integers."""
    source, *given = equation.split("->")
    once = "".join([letter for letter in source if source.count(letter) == 1])
    goal = given[0] if len(given) > 0 else once
    return any(letter != "." and letter not in goal for letter in source)


@aten("einsum.default")
def einsum(equation, tensors, *, path=None):
    dtype = result_type_of(tensors)
    equation = equation.replace(" ", "")
    wide = dtype
    if kind(dtype) != 2:
        if len(tensors) == 1 and adds_up(equation):
            dtype = INT64.dtype
            wide = dtype
        elif dtype != INT64.dtype:
            wide = INT32.dtype  # ONNX has it for no BOOL, ONNX Runtime for no small integers
    wider = [without_bfloat16(cast(one, wide)) for one in tensors]
    terms = equation.split("->")[0].split(",")
    # `...` stands for as many dimensions of each tensor: ONNX Runtime wants it, torch does not.
    ranks = [x.ndim - len(term.replace("...", "")) for x, term in zip(tensors, terms, strict=True)]
    most = max(0 if "..." not in terms[i] else ranks[i] for i in range(len(terms)))
    for i in range(len(terms)):
        first = terms[i].find("...")
        if first >= 0 and ranks[i] < most:
            wider[i] = op.Unsqueeze(wider[i], list(range(first, first + most - ranks[i])))
    return cast(op.Einsum(*wider, equation=equation), dtype)


@aten("linalg_cross.default")
def linalg_cross(self, other, *, dim=-1):
    total = self + other
    a, b = op.Expand(self, total.shape), op.Expand(other, total.shape)
    places = [[1, 2, 0], [2, 0, 1]]
    return (op.Gather(a, places[0], axis=dim) * op.Gather(b, places[1], axis=dim)
            - op.Gather(a, places[1], axis=dim) * op.Gather(b, places[0], axis=dim))  # fmt: skip


@aten("cross.default")
def cross(self, other, dim=None):
    if dim is None:
        dim = [i for i in range(self.ndim) if self.type.shape[i] == 3]
        dim = dim[0]
    return linalg_cross(self, other, dim=dim)


@aten("bilinear.default")
def bilinear(input1, input2, weight, bias=None):
    batch = list(input1.shape[:-1])
    a = op.Reshape(input1, [-1, input1.shape[-1]])
    b = op.Reshape(input2, [-1, input2.shape[-1]])
    y = einsum("bi,oij,bj->bo", [a, weight, b])
    y = op.Reshape(y, [*batch, weight.shape[0]])
    return y if bias is None else y + bias


@aten("linalg_det.default")
def linalg_det(A):
    return op.Det(A)


@aten("det.default")
def det(self):
    return op.Det(self)


@aten("cholesky.default")
def cholesky_of(self, upper=False):
    return cholesky(self, upper=upper)


@aten("linalg_cholesky.default")
def cholesky(self, *, upper=False):
    # As in LAPACK one triangle is looked at.
    low, rest = full_of(self.shape, 0, self.dtype), self.mT if upper else self
    rows = op.Unsqueeze(op.Range(0, self.shape[-1], 1), [1])
    for j in range(self.shape[-1]):
        column = op.Gather(rest, [j], axis=-1)
        column = column / op.Sqrt(op.Gather(column, [j], axis=-2))
        column = op.Where(rows < j, tensor(0.0, self.dtype), column)
        low[..., j : j + 1] = column
        rest = rest - column @ column.mT
    return low.mT if upper else low


@aten("grouped_mm_fallback.default", namespace="transformers")
def grouped_mm_fallback(input, weight, offs):
    """Each expert's rows, which end at its offset, by its matrix: transformers' own operator."""
    rows, start = [], 0
    for expert in range(weight.shape[0]):
        end = offs[expert]
        rows.append(input[start:end] @ weight[expert])
        start = end
    return op.Concat(*rows, axis=0) if len(rows) > 1 else rows[0]
