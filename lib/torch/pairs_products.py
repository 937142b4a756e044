"""Products of complex matrices and vectors, and convolutions, as pairs of real tensors."""

from .conv import conv, conv_transpose, convolution
from .declare import inline, op, pairs
from .factorise import inverse_of, matrix_exp, no_error, solved, triangle_of, unit
from .pairs import conj, parts
from .pairs_math import add, mul, one_like, scaled
from .products import cross, inner, kron, linalg_cross, outer, product, tensordot
from .types import axis, count_of


@inline
def by_parts(f, x, y):
    """`f`, which is linear in each of its two arguments, one of which may be real."""
    if not isinstance(x, tuple):
        return f(x, y[0]), f(x, y[1])
    if not isinstance(y, tuple):
        return f(x[0], y), f(x[1], y)
    (a, b), (c, d) = x, y
    return f(a, c) - f(b, d), f(a, d) + f(b, c)


@pairs("matmul.default", "linalg_matmul.default", "mm.default", "bmm.default", "mv.default",
       "dot.default")  # fmt: skip
def matmul(self, mat2):
    return by_parts(product, self, mat2)


@pairs("vdot.default")
def vdot(self, other):
    return matmul(conj(parts(self)), other)


@pairs("linalg_vecdot.default")
def vecdot(x, y, *, dim=-1):
    a, b = mul(conj(parts(x)), y)
    return op.ReduceSum(a, [dim], keepdims=0), op.ReduceSum(b, [dim], keepdims=0)


@pairs("inner.default")
def inner_(self, other):
    return by_parts(inner, self, other)


@pairs("outer.default", "ger.default")
def outer_(self, vec2):
    return by_parts(outer, self, vec2)


@pairs("kron.default")
def kron_(self, other):
    return by_parts(kron, self, other)


@pairs("tensordot.default")
def tensordot_(self, other, dims_self, dims_other):
    return by_parts(lambda a, b: tensordot(a, b, dims_self, dims_other), self, other)


@pairs("linalg_cross.default")
def linalg_cross_(self, other, *, dim=-1):
    return by_parts(lambda a, b: linalg_cross(a, b, dim=dim), self, other)


@pairs("cross.default")
def cross_(self, other, dim=None):
    return by_parts(lambda a, b: cross(a, b, dim), self, other)


@pairs("linalg_multi_dot.default", "chain_matmul.default")
def multi_dot(tensors):
    y = tensors[0]
    for one in tensors[1:]:
        y = matmul(y, one) if isinstance(y, tuple) or isinstance(one, tuple) else product(y, one)
    return y


@pairs("linear.default")
def linear(input, weight, bias=None):
    y = by_parts(lambda x, w: op.MatMul(x, op.Transpose(w)), input, weight)
    return y if bias is None else add(y, bias)


@inline
def weighted(self, product, beta, alpha):
    """beta * self + alpha * product, where self is not looked at if beta is 0."""
    scaled_product = scaled(product, alpha)
    is_nothing = beta == (0.0, 0.0) if isinstance(beta, tuple) else beta == 0
    return scaled_product if is_nothing else add(scaled(self, beta), scaled_product)


@pairs("addmm.default")
def addmm(self, mat1, mat2, *, beta=1, alpha=1):
    return weighted(self, matmul(mat1, mat2), beta, alpha)


@pairs("addmv.default")
def addmv(self, mat, vec, *, beta=1, alpha=1):
    return weighted(self, matmul(mat, vec), beta, alpha)


@pairs("baddbmm.default")
def baddbmm(self, batch1, batch2, *, beta=1, alpha=1):
    return weighted(self, matmul(batch1, batch2), beta, alpha)


@pairs("addbmm.default")
def addbmm(self, batch1, batch2, *, beta=1, alpha=1):
    a, b = matmul(batch1, batch2)
    total = op.ReduceSum(a, [0], keepdims=0), op.ReduceSum(b, [0], keepdims=0)
    return weighted(self, total, beta, alpha)


@pairs("addr.default")
def addr(self, vec1, vec2, *, beta=1, alpha=1):
    return weighted(self, outer_(vec1, vec2), beta, alpha)


@pairs("einsum.default")
def einsum(equation, tensors, *, path=None):
    assert len(tensors) <= 2, "einsum of more than two tensors, where one is complex"
    text = equation.replace(" ", "")
    if len(tensors) == 1:
        a, b = tensors[0]
        return op.Einsum(a, equation=text), op.Einsum(b, equation=text)
    return by_parts(lambda a, b: op.Einsum(a, b, equation=text), tensors[0], tensors[1])


# --- Matrices


@inline
def as_real(x):
    """The real matrix [[a, -b], [b, a]], of which sums, products and inverses are as of a + ib."""
    a, b = x
    upper, lower = op.Concat(a, op.Neg(b), axis=-1), op.Concat(b, a, axis=-1)
    return op.Concat(upper, lower, axis=-2)


@inline
def stacked(x):
    return op.Concat(x[0], x[1], axis=-2)


@inline
def unstacked(x, columns):
    """The pair of matrices that stand one below the other, of so many columns."""
    n = x.shape[-2] // 2
    x = op.Slice(x, [0], [columns], [x.ndim - 1])
    return op.Slice(x, [0], [n], [x.ndim - 2]), op.Slice(x, [n], [2 * n], [x.ndim - 2])


@pairs("matrix_exp.default", "linalg_matrix_exp.default")
def matrix_exp_(self):
    return unstacked(matrix_exp(as_real(self)), self[0].shape[-1])


@pairs("inverse.default")
def inverse(self):
    return unstacked(inverse_of(as_real(self)), self[0].shape[-1])


@pairs("linalg_inv.default")
def linalg_inv(A):
    return inverse(A)


@pairs("linalg_inv_ex.default")
def linalg_inv_ex(A, *, check_errors=False):
    return inverse(A), no_error(A[0])


@inline
def transposed_pair(x):
    perm = [*range(x[0].ndim - 2), x[0].ndim - 1, x[0].ndim - 2]
    return op.Transpose(x[0], perm=perm), op.Transpose(x[1], perm=perm)


@pairs("linalg_solve.default")
def linalg_solve(A, B, *, left=True):
    if not left:
        return transposed_pair(linalg_solve(transposed_pair(A), transposed_pair(B)))
    a, b = A[0], B[0]
    is_vector = b.ndim == 1 or (b.ndim == a.ndim - 1 and b.type.shape == a.type.shape[:-1])
    right = (op.Unsqueeze(B[0], [-1]), op.Unsqueeze(B[1], [-1])) if is_vector else B
    y = unstacked(solved(as_real(A), stacked(right), True), right[0].shape[-1])
    return (op.Squeeze(y[0], [-1]), op.Squeeze(y[1], [-1])) if is_vector else y


@pairs("linalg_solve_ex.default")
def linalg_solve_ex(A, B, *, left=True, check_errors=False):
    return linalg_solve(A, B, left=left), no_error(A[0])


@inline
def triangle(x, upper, unitriangular):
    # The diagonal of a matrix with ones there has no imaginary part.
    first = 0 if not unitriangular else (1 if upper else -1)
    imaginary = op.Trilu(x[1], first, upper=1 if upper else 0)
    return triangle_of(x[0], upper, unitriangular), imaginary


@pairs("linalg_solve_triangular.default")
def linalg_solve_triangular(self, B, *, upper, left=True, unitriangular=False):
    inverted = inverse(triangle(self, upper, unitriangular))
    return matmul(inverted, B) if left else matmul(B, inverted)


@pairs("linalg_tensorinv.default")
def tensorinv(self, ind=2):
    shape = self[0].shape
    rows = count_of(self[0], list(range(ind)))
    a, b = inverse((op.Reshape(self[0], [rows, rows]), op.Reshape(self[1], [rows, rows])))
    shape = [*shape[ind:], *shape[:ind]]
    return op.Reshape(a, shape), op.Reshape(b, shape)


@pairs("linalg_tensorsolve.default")
def tensorsolve(self, other, dims=None):
    (a, b), (c, d) = self, other
    if dims is not None:
        moved = [axis(one, a.ndim) for one in dims]
        perm = [i for i in range(a.ndim) if i not in moved] + moved
        a, b = op.Transpose(a, perm=perm), op.Transpose(b, perm=perm)
    rest, size = list(a.shape[c.ndim :]), c.size
    re, im = linalg_solve((op.Reshape(a, [size, size]), op.Reshape(b, [size, size])),
                          (op.Reshape(c, [size]), op.Reshape(d, [size])))  # fmt: skip
    return op.Reshape(re, rest), op.Reshape(im, rest)


@pairs("matrix_power.default", "linalg_matrix_power.default")
def matrix_power(self, n):
    a = self[0]
    y = parts(op.Expand(unit(a.shape[-1], a.dtype), a.shape))
    base = self if n >= 0 else inverse(self)
    for _ in range(abs(n)):
        y = matmul(y, base)
    return y


@pairs("linalg_vander.default")
def linalg_vander(x, *, N=None):
    x = (op.Reshape(x[0], [1]), op.Reshape(x[1], [1])) if x[0].ndim == 0 else x
    count = x[0].shape[-1] if N is None else N
    wide = op.Unsqueeze(x[0], [-1]), op.Unsqueeze(x[1], [-1])
    columns = [one_like(wide[0])]
    for _ in range(1, count):
        columns.append(mul(columns[-1], wide))
    return (op.Concat(*[one[0] for one in columns], axis=-1),
            op.Concat(*[one[1] for one in columns], axis=-1))  # fmt: skip


# --- Convolutions


@inline
def with_bias(f, input, weight, bias):
    """A convolution of pairs: the biases go with the first product of each part."""
    (a, b), (c, d) = parts(input), parts(weight)
    re, im = (None, None) if bias is None else parts(bias)
    return f(a, c, re) - f(b, d, None), f(a, d, im) + f(b, c, None)


@pairs("conv1d.default", "conv2d.default", "conv3d.default", "conv1d.padding", "conv2d.padding",
       "conv3d.padding")  # fmt: skip
def conv_pair(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    return with_bias(lambda x, w, b: conv(x, w, b, stride, padding, dilation, groups),
                     input, weight, bias)  # fmt: skip


@pairs("conv_transpose1d.default", "conv_transpose2d.input", "conv_transpose3d.input")
def conv_transpose_pair(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1,
                        dilation=1):  # fmt: skip
    return with_bias(
        lambda x, w, b: conv_transpose(x, w, b, stride, padding, output_padding, groups, dilation),
        input, weight, bias)  # fmt: skip


@pairs("convolution.default")
def convolution_pair(input, weight, bias, stride, padding, dilation, transposed, output_padding,
                     groups):  # fmt: skip
    return with_bias(
        lambda x, w, b: convolution(x, w, b, stride, padding, dilation, transposed,
                                    output_padding, groups),
        input, weight, bias)  # fmt: skip
