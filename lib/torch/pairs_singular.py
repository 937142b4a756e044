"""Singular values and eigenvalues of complex matrices, by Jacobi's rotations (singular.py).

A rotation of a pair of columns turns their product, which is complex, onto the real axis as well.
"""

from sardonyx import DOUBLE, INT64

from .declare import inline, op, pairs
from .factorise import unit
from .pairs import absolute, adjoint, conj, each, in_type, parts, size_of
from .pairs_factorise import geqrf, nothing, q_of
from .pairs_math import mul, sub
from .pairs_products import inverse, matmul
from .reduce import normed
from .singular import (
    SWEEPS,
    columns_at,
    counted,
    fixed_sizes,
    inverted,
    matrix_norm_of,
    mirrored,
    next_places,
    norm_by,
    nothing_of,
    or_endless,
    rectangle,
    sides,
    tangents,
    units,
)
from .types import axis, cast, full_of, is_empty, tensor


@inline
def angles(own, product, side):
    """Tangents of the angles, in the directions of the products."""
    size = size_of(product)
    t = tangents(own, size, side) / op.Where(size == 0.0, op.CastLike(1.0, size), size)
    return product[0] * t, op.Neg(product[1] * t)


@inline
def turned_columns(x, t, order):
    length = op.Sqrt(t[0] * t[0] + t[1] * t[1] + 1.0)
    moved = sub(x, mul(t, each(lambda one: mirrored(one, -1), x)))
    return each(lambda one: op.Gather(one / length, order, axis=-1), moved)


@inline
def squares(x):
    return op.ReduceSum(x[0] * x[0] + x[1] * x[1], [-2], keepdims=1)


@inline
def with_orthogonal_columns(a, v):
    n = a[0].shape[-1]
    side, order = sides(n, a[0].dtype), next_places(n)
    for _ in range(op.Cast(n * SWEEPS, to=INT64.dtype)):
        products = mul(conj(a), each(lambda one: mirrored(one, -1), a))
        product = each(lambda one: op.ReduceSum(one, [-2], keepdims=1), products)
        t = angles(squares(a), product, side)
        a, v = turned_columns(a, t, order), turned_columns(v, t, order)
    return a, v


@inline
def diagonalised(a, v):
    n = a[0].shape[-1]
    side, order, one = sides(n, a[0].dtype), next_places(n), unit(n, a[0].dtype)
    other = mirrored(one, -1)
    for _ in range(op.Cast(n * SWEEPS, to=INT64.dtype)):
        own = op.ReduceSum(a[0] * one, [-2], keepdims=1)
        re, im = each(lambda x: op.ReduceSum(x * other, [-2], keepdims=1), a)
        # Rounded differently, the two angles of a pair would not be those of one rotation.
        product = re + mirrored(re, -1), mirrored(im, -1) - im
        t = angles(own, each(lambda one: one * 0.5, product), side)
        a = adjoint(turned_columns(adjoint(turned_columns(a, t, order)), t, order))
        v = turned_columns(v, t, order)
    return op.ReduceSum(a[0] * one, [-2], keepdims=0), v


@inline
def tall_svd(a, vectors, full):
    """Of a matrix that has no more columns than rows: U, S and V."""
    m, n = a[0].shape[-2], a[0].shape[-1]
    a, v = with_orthogonal_columns(a, parts(units(a[0], n)))
    s, places = op.TopK(op.Squeeze(op.Sqrt(squares(a)), [-2]), [n], axis=-1)
    if not vectors:
        return v, s, v
    # Householder's reflections give the directions of columns that are 0, and those beside them.
    columns, taus = geqrf(each(lambda one: columns_at(one, places), a))
    diagonal = op.ReduceSum(columns[0] * rectangle(columns[0]), [-2], keepdims=1)
    signs = op.Where(diagonal < 0.0, tensor(-1.0, s.dtype), tensor(1.0, s.dtype))
    if full:
        signs = op.Concat(signs, full_of([*signs.shape[:-1], m - n], 1, s.dtype), axis=-1)
    u = each(lambda one: one * signs, q_of(columns, taus, m if full else n))
    return u, s, each(lambda one: columns_at(one, places), v)


@inline
def svd_of(a, vectors, full):
    """U, S and V in the type of the matrix; without vectors, S alone is meant."""
    m, n = fixed_sizes(a[0])
    if is_empty(a[0]):
        u, s, v = nothing_of(a[0], m, n, full)
        return parts(u), s, parts(v)
    x, dtype = in_type(a, DOUBLE.dtype), a[0].dtype
    if m >= n:
        u, s, v = tall_svd(x, vectors, full)
    else:
        v, s, u = tall_svd(adjoint(x), vectors, full)
    return in_type(u, dtype), cast(s, dtype), in_type(v, dtype)


@inline
def singular_values(a):
    return svd_of(a, False, False)[1]


@pairs("linalg_svd.default")
def linalg_svd(A, full_matrices=True, *, driver=None):
    u, s, v = svd_of(A, True, full_matrices)
    return u, s, adjoint(v)


@pairs("_linalg_svd.default")
def linalg_svd_parts(A, full_matrices=False, compute_uv=True, *, driver=None):
    if not compute_uv:
        empty = nothing(A[0].dtype)
        return empty, singular_values(A), empty
    return linalg_svd(A, full_matrices)


@pairs("svd.default")
def svd(self, some=True, compute_uv=True):
    if compute_uv:
        return svd_of(self, True, not some)
    a = self[0]
    batch, m, n = a.shape[:-2], a.shape[-2], a.shape[-1]
    return (parts(full_of([*batch, m, m], 0, a.dtype)), singular_values(self),
            parts(full_of([*batch, n, n], 0, a.dtype)))  # fmt: skip


@pairs("linalg_svdvals.default")
def linalg_svdvals(A, *, driver=None):
    return singular_values(A)


# --- Hermitian matrices


@inline
def hermitian_of(a, UPLO):
    """The matrix whose one triangle is that of `a`; the diagonal is real."""
    low = adjoint(a) if UPLO == "U" or UPLO == "u" else a
    below = each(lambda one: op.Trilu(one, -1, upper=0), low)
    re, im = adjoint(below)
    return op.Trilu(low[0], 0, upper=0) + re, below[1] + im


@inline
def eigh_of(a, UPLO):
    re = a[0]
    if is_empty(re):
        return full_of(re.shape[:-1], 0, re.dtype), a
    x = in_type(hermitian_of(a, UPLO), DOUBLE.dtype)
    values, vectors = diagonalised(x, parts(units(x[0], re.shape[-1])))
    values, places = op.TopK(values, [re.shape[-1]], axis=-1, largest=0)
    vectors = each(lambda one: columns_at(one, places), vectors)
    return cast(values, re.dtype), in_type(vectors, re.dtype)


@pairs("linalg_eigh.default")
def linalg_eigh(self, UPLO="L"):
    return eigh_of(self, UPLO)


@pairs("_linalg_eigh.default")
def linalg_eigh_parts(A, UPLO="L", compute_v=True):
    return eigh_of(A, UPLO)


@pairs("linalg_eigvalsh.default")
def linalg_eigvalsh(self, UPLO="L"):
    return eigh_of(self, UPLO)[0]


# --- Inverses, ranks, condition


@inline
def pinv_of(a, atol, rtol, hermitian):
    if is_empty(a[0]):
        return adjoint(a)
    u, s, v = svd_of(hermitian_of(a, "L") if hermitian else a, True, False)
    weights = inverted(a[0], s, atol, rtol)
    return matmul(each(lambda one: one * weights, v), adjoint(u))


@pairs("linalg_pinv.default")
def linalg_pinv(self, rcond, hermitian=False):
    return pinv_of(self, 0.0, float(rcond), hermitian)


@pairs("linalg_pinv.rcond_tensor")
def linalg_pinv_tensor(self, rcond, hermitian=False):
    return pinv_of(self, 0.0, rcond, hermitian)


@pairs("linalg_pinv.atol_rtol_float", "linalg_pinv.atol_rtol_tensor")
def linalg_pinv_by(self, *, atol=None, rtol=None, hermitian=False):
    return pinv_of(self, atol, rtol, hermitian)


@pairs("pinverse.default")
def pinverse(self, rcond=1e-15):
    return pinv_of(self, 0.0, float(rcond), False)


@inline
def rank_of(a, atol, rtol, hermitian):
    x = hermitian_of(a, "L") if hermitian else a
    return counted(a[0], singular_values(x), atol, rtol)


@pairs("linalg_matrix_rank.default")
def matrix_rank(self, tol, hermitian=False):
    return rank_of(self, float(tol), 0.0, hermitian)


@pairs("linalg_matrix_rank.tol_tensor")
def matrix_rank_tensor(input, tol, hermitian=False):
    return rank_of(input, tol, 0.0, hermitian)


@pairs("linalg_matrix_rank.atol_rtol_float")
def matrix_rank_by(self, *, atol=None, rtol=None, hermitian=False):
    return rank_of(self, atol, rtol, hermitian)


@pairs("linalg_matrix_rank.atol_rtol_tensor")
def matrix_rank_by_tensors(input, *, atol=None, rtol=None, hermitian=False):
    return rank_of(input, atol, rtol, hermitian)


@inline
def condition_of(a, p):
    if p == 2 or p == -2:
        s = singular_values(a)
        return norm_by(s, p) / norm_by(s, -p)
    dims = [-2, -1]
    return or_endless(matrix_norm(a, p, dims, False, None)
                      * matrix_norm(inverse(a), p, dims, False, None))  # fmt: skip


@pairs("linalg_cond.default")
def linalg_cond(self, p=None):
    return condition_of(self, 2 if p is None else p)


@pairs("linalg_cond.p_str")
def linalg_cond_str(self, p):
    return condition_of(self, p)


# --- Norms: those that are not of singular values are those of absolute values


@inline
def matrix_norm(self, ord, dim, keepdim, dtype):
    if ord != "nuc" and ord != 2 and ord != -2:
        return matrix_norm_of(cast(absolute(self), dtype), ord, dim, keepdim)
    rank = self[0].ndim
    at = [axis(one, rank) for one in dim]
    perm = [one for one in range(rank) if one not in at] + at
    x = each(lambda one: op.Transpose(one, perm=perm), in_type(self, dtype))
    y = norm_by(singular_values(x), ord)
    return op.Unsqueeze(y, sorted(at)) if keepdim else y


@pairs("linalg_matrix_norm.default", "linalg_matrix_norm.str_ord")
def linalg_matrix_norm(self, ord="fro", dim=(-2, -1), keepdim=False, *, dtype=None):
    return matrix_norm(self, ord, dim, keepdim, dtype)


@pairs("nuclear_norm.default")
def nuclear_norm(self, keepdim=False):
    return matrix_norm(self, "nuc", [-2, -1], keepdim, None)


@pairs("nuclear_norm.dim")
def nuclear_norm_dim(self, dim, keepdim=False):
    return matrix_norm(self, "nuc", dim, keepdim, None)


@pairs("linalg_norm.default")
def linalg_norm(self, ord=None, dim=None, keepdim=False, *, dtype=None):
    is_vector = (dim is not None and len(dim) == 1) or (dim is None and self[0].ndim == 1)
    if ord is None or is_vector:
        x = cast(absolute(self), dtype)
        return normed(x, 2 if ord is None else ord, dim, keepdim)
    return matrix_norm(self, ord, [-2, -1] if dim is None else dim, keepdim, dtype)


@pairs("linalg_norm.ord_str")
def linalg_norm_str(self, ord, dim=None, keepdim=False, *, dtype=None):
    return matrix_norm(self, ord, [-2, -1] if dim is None else dim, keepdim, dtype)
