"""Singular values and eigenvalues, by Jacobi's rotations, and what is made of them.

A step turns the columns i and n - 1 - i of a matrix, for all i at once, so that they, or they in
the quadratic form, stand at right angles; then the columns change places, so that each meets all
others within n steps. Vectors have the signs that come out: they are as good as LAPACK's.
"""

import math

from sardonyx import DOUBLE, INT64

from .declare import aten, inline, op
from .factorise import inverse_of, reflected, turned, unit
from .reduce import normed, reduced
from .types import END, axis, cast, floating, is_empty, tensor

# Rounds in which each pair is turned once; convergence is quadratic.
SWEEPS = 14


@inline
def mirrored(x, dim):
    return op.Slice(x, [-1], [-END - 1], [dim], [-1])


@inline
def sides(n, dtype):
    """1 for the first of a pair, -1 for the second, 0 for a column that has no partner."""
    return op.Cast(op.Sign((n - 1) - op.Range(0, n, 1) * 2), to=dtype)


@inline
def next_places(n):
    """Where the column of each place was: the first stays if their number is even."""
    first = 1 - n % 2
    places = op.Range(0, n, 1)
    return op.Where(places < first, places, (places - (first + 1)) % max(n - first, 1) + first)


@inline
def tangents(own, product, side):
    """Of the angles that make the product of each pair 0."""
    ratio = (mirrored(own, -1) - own) / (product * 2.0)
    way = op.Where(ratio == 0.0, side, op.Sign(ratio))
    t = way / (op.Abs(ratio) + op.Sqrt(ratio * ratio + 1.0))
    return op.Where((product == 0.0) | (side == 0.0), 0.0, t)


@inline
def turned_columns(x, t):
    return (x - t * mirrored(x, -1)) / op.Sqrt(t * t + 1.0)


@inline
def with_orthogonal_columns(a, v):
    """`a` times rotations, so that its columns are at right angles, and `v` times the same."""
    n = a.shape[-1]
    side, order = sides(n, a.dtype), next_places(n)
    for _ in range(op.Cast(n * SWEEPS, to=INT64.dtype)):
        own = op.ReduceSum(a * a, [-2], keepdims=1)
        product = op.ReduceSum(a * mirrored(a, -1), [-2], keepdims=1)
        t = tangents(own, product, side)
        a = op.Gather(turned_columns(a, t), order, axis=-1)
        v = op.Gather(turned_columns(v, t), order, axis=-1)
    return a, v


@inline
def diagonalised(a, v):
    """A symmetric matrix turned from both sides until it is diagonal, and `v` from the right."""
    n = a.shape[-1]
    side, order, one = sides(n, a.dtype), next_places(n), unit(n, a.dtype)
    other = mirrored(one, -1)
    for _ in range(op.Cast(n * SWEEPS, to=INT64.dtype)):
        own = op.ReduceSum(a * one, [-2], keepdims=1)
        product = op.ReduceSum(a * other, [-2], keepdims=1)
        # Rounded differently, the two angles of a pair would not be those of one rotation.
        t = tangents(own, (product + mirrored(product, -1)) * 0.5, side)
        a = op.Gather(turned_columns(a, t), order, axis=-1)
        a = turned(op.Gather(turned_columns(turned(a), t), order, axis=-1))
        v = op.Gather(turned_columns(v, t), order, axis=-1)
    return op.ReduceSum(a * one, [-2], keepdims=0), v


@inline
def columns_at(x, places):
    """The columns in another order, of which each matrix has its own."""
    wide = op.Expand(op.Unsqueeze(places, [-2]), x.shape)
    return op.GatherElements(x, wide, axis=-1)


@inline
def units(a, n):
    return op.Expand(unit(n, a.dtype), [*a.shape[:-2], n, n])


@inline
def tall_svd(a, vectors, full):
    """Of a matrix that has no more columns than rows: U, S and V."""
    n = a.shape[-1]
    a, v = with_orthogonal_columns(a, units(a, n))
    s, places = op.TopK(op.Sqrt(op.ReduceSum(a * a, [-2], keepdims=0)), [n], axis=-1)
    if not vectors:
        return v, s, v
    # Householder's reflections give the directions of columns that are 0, and those beside them.
    q, r = reflected(columns_at(a, places))
    signs = op.ReduceSum(r * rectangle(r), [-2], keepdims=1)
    signs = op.Where(signs < 0.0, tensor(-1.0, a.dtype), tensor(1.0, a.dtype))
    u = op.Slice(q, [0], [n], [a.ndim - 1]) * signs
    if full:
        u = op.Concat(u, op.Slice(q, [n], [END], [a.ndim - 1]), axis=-1)
    return u, s, columns_at(v, places)


@inline
def rectangle(x):
    rows, columns = op.Range(0, x.shape[-2], 1), op.Range(0, x.shape[-1], 1)
    return op.Cast(op.Unsqueeze(rows, [1]) == op.Unsqueeze(columns, [0]), to=x.dtype)


@inline
def nothing_of(a, m, n, full):
    """Of an empty matrix, or of no matrix: vectors of nothing are the unit vectors."""
    k, batch = min(m, n), list(a.shape[:-2])
    u, v = unit(m, a.dtype), unit(n, a.dtype)
    if not full:
        u, v = op.Slice(u, [0], [k], [1]), op.Slice(v, [0], [k], [1])
    wide = [op.Expand(one, [*batch, *one.shape]) for one in (u, v)]
    return wide[0], op.Expand(tensor(0.0, a.dtype), [*batch, k]), wide[1]


@inline
def fixed_sizes(a):
    m, n = a.type.shape[-2], a.type.shape[-1]
    assert isinstance(m, int) and isinstance(n, int), (
        "singular values of a matrix whose numbers of rows and columns are not fixed"
    )
    return m, n


@inline
def svd_of(a, vectors, full):
    """U, S and V in the type of the matrix; without vectors, S alone is meant."""
    m, n = fixed_sizes(a)
    if is_empty(a):
        return nothing_of(a, m, n, full)
    x = op.Cast(a, to=DOUBLE.dtype)
    if m >= n:
        u, s, v = tall_svd(x, vectors, full)
    else:
        v, s, u = tall_svd(turned(x), vectors, full)
    return cast(u, a.dtype), cast(s, a.dtype), cast(v, a.dtype)


@aten("linalg_svd.default")
def linalg_svd(A, full_matrices=True, *, driver=None):
    u, s, v = svd_of(A, True, full_matrices)
    return u, s, turned(v)


@aten("_linalg_svd.default")
def linalg_svd_parts(A, full_matrices=False, compute_uv=True, *, driver=None):
    if not compute_uv:
        empty = op.Expand(tensor(0.0, A.dtype), [0])
        return empty, svd_of(A, False, False)[1], empty
    return linalg_svd(A, full_matrices)


@aten("svd.default")
def svd(self, some=True, compute_uv=True):
    if compute_uv:
        return svd_of(self, True, not some)
    m, n = self.shape[-2], self.shape[-1]
    zero = tensor(0.0, self.dtype)
    batch = self.shape[:-2]
    return (op.Expand(zero, [*batch, m, m]), svd_of(self, False, False)[1],
            op.Expand(zero, [*batch, n, n]))  # fmt: skip


@aten("linalg_svdvals.default")
def linalg_svdvals(A, *, driver=None):
    return svd_of(A, False, False)[1]


# --- Symmetric matrices


@inline
def symmetric(a, UPLO):
    """The matrix whose one triangle is that of `a`."""
    if UPLO == "U" or UPLO == "u":
        return op.Trilu(a, 0, upper=1) + turned(op.Trilu(a, 1, upper=1))
    return op.Trilu(a, 0, upper=0) + turned(op.Trilu(a, -1, upper=0))


@inline
def eigh_of(a, UPLO):
    n = a.shape[-1]
    if is_empty(a):
        return op.Expand(tensor(0.0, a.dtype), a.shape[:-1]), op.Identity(a)
    x = op.Cast(symmetric(a, UPLO), to=DOUBLE.dtype)
    values, vectors = diagonalised(x, units(x, n))
    values, places = op.TopK(values, [n], axis=-1, largest=0)
    return cast(values, a.dtype), cast(columns_at(vectors, places), a.dtype)


@aten("linalg_eigh.default")
def linalg_eigh(self, UPLO="L"):
    return eigh_of(self, UPLO)


@aten("_linalg_eigh.default")
def linalg_eigh_parts(A, UPLO="L", compute_v=True):
    return eigh_of(A, UPLO)


@aten("linalg_eigvalsh.default")
def linalg_eigvalsh(self, UPLO="L"):
    return eigh_of(self, UPLO)[0]


# --- Inverses, ranks, condition


@inline
def precision_of(dtype):
    return 2.220446049250313e-16 if dtype == DOUBLE.dtype else 1.1920928955078125e-07


@inline
def column(x):
    """A number, or one for each matrix, to stand beside their singular values."""
    return x if isinstance(x, float) or x.ndim == 0 else op.Unsqueeze(x, [-1])


@inline
def limit_of(a, s, atol, rtol):
    """Singular values up to it count as 0."""
    top = op.ReduceMax(s, [-1], keepdims=1)
    size = float(max(a.shape[-2], a.shape[-1]))
    if rtol is None and isinstance(atol, float) and atol > 0.0:
        rtol = 0.0
    elif rtol is None:
        rtol = size * precision_of(a.dtype)
        if atol is not None and not isinstance(atol, float):
            rtol = op.Where(atol > 0.0, tensor(0.0, a.dtype), tensor(rtol, a.dtype))
    atol = 0.0 if atol is None else atol
    atol = tensor(atol, a.dtype) if isinstance(atol, float) else cast(column(atol), a.dtype)
    rtol = rtol if isinstance(rtol, float) else cast(column(rtol), a.dtype)
    return op.Max(top * rtol, atol)


@inline
def inverted(a, s, atol, rtol):
    """1 over each singular value, beside the columns of vectors; 0 for those that count as 0."""
    kept = s > limit_of(a, s, atol, rtol)
    y = op.Where(kept, 1.0 / op.Where(kept, s, tensor(1.0, s.dtype)), 0.0)
    return op.Unsqueeze(y, [-2])


@inline
def pinv_of(a, atol, rtol, hermitian):
    x = symmetric(a, "L") if hermitian else a
    if is_empty(a):
        return turned(a)
    u, s, v = svd_of(x, True, False)
    return op.MatMul(v * inverted(a, s, atol, rtol), turned(u))


@aten("linalg_pinv.default")
def linalg_pinv(self, rcond, hermitian=False):
    return pinv_of(self, 0.0, float(rcond), hermitian)


@aten("linalg_pinv.rcond_tensor")
def linalg_pinv_tensor(self, rcond, hermitian=False):
    return pinv_of(self, 0.0, rcond, hermitian)


@aten("linalg_pinv.atol_rtol_float", "linalg_pinv.atol_rtol_tensor")
def linalg_pinv_by(self, *, atol=None, rtol=None, hermitian=False):
    return pinv_of(self, atol, rtol, hermitian)


@aten("pinverse.default")
def pinverse(self, rcond=1e-15):
    return pinv_of(self, 0.0, float(rcond), False)


@inline
def rank_of(a, atol, rtol, hermitian):
    return counted(a, svd_of(symmetric(a, "L") if hermitian else a, False, False)[1], atol, rtol)


@inline
def counted(a, s, atol, rtol):
    """How many singular values do not count as 0."""
    if is_empty(a):
        zero, batch = tensor(0, INT64.dtype), a.shape[:-2]
        return op.Expand(zero, batch) if len(batch) > 0 else zero
    kept = op.Cast(s > limit_of(a, s, atol, rtol), to=INT64.dtype)
    return op.ReduceSum(kept, [-1], keepdims=0)


@aten("linalg_matrix_rank.default")
def matrix_rank(self, tol, hermitian=False):
    return rank_of(self, float(tol), 0.0, hermitian)


@aten("linalg_matrix_rank.tol_tensor")
def matrix_rank_tensor(input, tol, hermitian=False):
    return rank_of(input, tol, 0.0, hermitian)


@aten("linalg_matrix_rank.atol_rtol_float")
def matrix_rank_by(self, *, atol=None, rtol=None, hermitian=False):
    return rank_of(self, atol, rtol, hermitian)


@aten("linalg_matrix_rank.atol_rtol_tensor")
def matrix_rank_by_tensors(input, *, atol=None, rtol=None, hermitian=False):
    return rank_of(input, atol, rtol, hermitian)


# --- Norms of matrices


@inline
def norm_by(s, ord):
    """The norm that is of the singular values."""
    if ord == "nuc":
        return op.ReduceSum(s, [-1], keepdims=0)
    return op.ReduceMax(s, [-1], keepdims=0) if ord > 0 else op.ReduceMin(s, [-1], keepdims=0)


@inline
def matrix_norm_of(x, ord, dim, keepdim):
    rows, columns = axis(dim[0], x.ndim), axis(dim[1], x.ndim)
    if ord == "fro":
        return reduced(op.ReduceL2, x, list(dim), keepdim)
    if ord == "nuc" or abs(ord) == 2:
        rest = [one for one in range(x.ndim) if one != rows and one != columns]
        y = norm_by(svd_of(op.Transpose(x, perm=[*rest, rows, columns]), False, False)[1], ord)
        return op.Unsqueeze(y, sorted([rows, columns])) if keepdim else y
    assert ord in (1, -1, math.inf, -math.inf), f"linalg.matrix_norm(ord={ord!r})"
    first, second = (rows, columns) if abs(ord) == 1 else (columns, rows)
    sums = reduced(op.ReduceSum, op.Abs(x), [first], True)
    y = reduced(op.ReduceMax if ord > 0 else op.ReduceMin, sums, [second], True)
    return y if keepdim else op.Squeeze(y, [rows, columns])


@aten("linalg_matrix_norm.default")
def matrix_norm(self, ord, dim=(-2, -1), keepdim=False, *, dtype=None):
    return matrix_norm_of(floating(cast(self, dtype)), ord, dim, keepdim)


@aten("linalg_matrix_norm.str_ord")
def matrix_norm_str(self, ord="fro", dim=(-2, -1), keepdim=False, *, dtype=None):
    return matrix_norm_of(floating(cast(self, dtype)), ord, dim, keepdim)


@aten("nuclear_norm.default")
def nuclear_norm(self, keepdim=False):
    return matrix_norm_of(self, "nuc", [-2, -1], keepdim)


@aten("nuclear_norm.dim")
def nuclear_norm_dim(self, dim, keepdim=False):
    return matrix_norm_of(self, "nuc", dim, keepdim)


@aten("linalg_norm.default")
def linalg_norm(self, ord=None, dim=None, keepdim=False, *, dtype=None):
    x = floating(cast(self, dtype))
    is_vector = (dim is not None and len(dim) == 1) or (dim is None and self.ndim == 1)
    if ord is None or is_vector:
        return normed(x, 2 if ord is None else ord, dim, keepdim)
    return matrix_norm_of(x, ord, [-2, -1] if dim is None else dim, keepdim)


@aten("linalg_norm.ord_str")
def linalg_norm_str(self, ord, dim=None, keepdim=False, *, dtype=None):
    x = floating(cast(self, dtype))
    return matrix_norm_of(x, ord, [-2, -1] if dim is None else dim, keepdim)


@inline
def condition_of(a, p):
    if p == 2 or p == -2:
        s = svd_of(a, False, False)[1]
        return norm_by(s, p) / norm_by(s, -p)
    dims = [-2, -1]
    return or_endless(
        matrix_norm_of(a, p, dims, False) * matrix_norm_of(inverse_of(a), p, dims, False)
    )


@inline
def or_endless(x):
    """The condition of a matrix that has no inverse is infinite."""
    return op.Where(op.IsNaN(x), op.CastLike(math.inf, x), x)


@aten("linalg_cond.default")
def linalg_cond(self, p=None):
    return condition_of(self, 2 if p is None else p)


@aten("linalg_cond.p_str")
def linalg_cond_str(self, p):
    return condition_of(self, p)
