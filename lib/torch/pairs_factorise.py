"""Factors of complex matrices, as pairs of real ones, with LAPACK's pivots and signs."""

from .create import filled
from .declare import inline, op, pairs
from .factorise import (
    below_pivot,
    exchanged,
    exchanges_of,
    greatest_row,
    lower_and_upper,
    no_error,
    order_by,
    packed,
    permutation_of,
    turned,
    unit,
    vector_at,
)
from .pairs import adjoint, conj, each, filled_pair, parts, size_of, where, zeros_like
from .pairs_math import div, mul, sgn, sub
from .pairs_products import inverse, matmul, transposed_pair, triangle
from .pairs_sums import multiplied, part
from .pointwise import atan2
from .types import cast, full_of, is_empty, tensor


@inline
def nothing(dtype):
    """What torch returns in place of factors that are not asked for."""
    return parts(full_of([0], 0, dtype))


@inline
def is_zero(x):
    return (x[0] == 0.0) & (x[1] == 0.0)


# --- Cholesky


@inline
def cholesky_of(self, upper):
    # As in LAPACK one triangle is looked at, and the real part of the diagonal.
    a, b = adjoint(self) if upper else self
    re, im = zeros_like(self)
    rest = a, op.Trilu(b, -1, upper=0)
    rows = op.Unsqueeze(op.Range(0, a.shape[-1], 1), [1])
    for j in range(a.shape[-1]):
        column = each(lambda one: op.Gather(one, [j], axis=-1), rest)
        column = where(rows < j, 0.0, div(column, op.Sqrt(op.Gather(column[0], [j], axis=-2))))
        re[..., j : j + 1], im[..., j : j + 1] = column
        rest = sub(rest, matmul(column, adjoint(column)))
    return adjoint((re, im)) if upper else (re, im)


@pairs("cholesky.default")
def cholesky(self, upper=False):
    return cholesky_of(self, upper)


@pairs("linalg_cholesky.default")
def linalg_cholesky(self, *, upper=False):
    return cholesky_of(self, upper)


@pairs("linalg_cholesky_ex.default")
def linalg_cholesky_ex(self, *, upper=False, check_errors=False):
    return cholesky_of(self, upper), no_error(self[0])


@pairs("cholesky_inverse.default")
def cholesky_inverse(self, upper=False):
    low = inverse(triangle(self, upper, False))
    return matmul(low, adjoint(low)) if upper else matmul(adjoint(low), low)


@pairs("cholesky_solve.default")
def cholesky_solve(self, input2, upper=False):
    return matmul(cholesky_inverse(input2, upper), self)


@pairs("triangular_solve.default")
def triangular_solve(self, A, upper=True, transpose=False, unitriangular=False):
    inverted = inverse(triangle(A, upper, unitriangular))
    y = matmul(transposed_pair(inverted) if transpose else inverted, self)
    wide = [*y[0].shape[:-2], *A[0].shape[-2:]]
    return y, each(lambda one: op.Expand(one, wide), A)


# --- Elimination with pivots


@inline
def steps(a):
    """L and U in one matrix, by elimination with pivots, and the row of each pivot."""
    work, places = a, []
    for j in range(min(a[0].shape[-2], a[0].shape[-1])):
        re, im = part(work, j, j + 1, -1)
        best = greatest_row(op.Abs(re) + op.Abs(im), j)
        places.append(best)
        work = below_pivots(each(lambda one: exchanged(one, j, best), work), j)
    return work, places


@inline
def decomposed(a):
    work, places = steps(a)
    return work, exchanges_of(a[0], places)


@inline
def below_pivots(work, j):
    row, column = part(work, j, j + 1, -2), part(work, j, j + 1, -1)
    pivot = part(row, j, j + 1, -1)
    factor = div(column, where(is_zero(pivot), 1.0, pivot))
    changed = sub(work, mul(factor, row))
    return (below_pivot(work[0], j, factor[0], changed[0]),
            below_pivot(work[1], j, factor[1], changed[1]))  # fmt: skip


@inline
def factors_of(lu):
    (low, high), (below, above) = lower_and_upper(lu[0]), lower_and_upper(lu[1])
    # The ones of the diagonal have no imaginary part.
    return (low, op.Trilu(below, -1, upper=0)), (high, above)


@pairs("linalg_lu_factor.default")
def linalg_lu_factor(A, *, pivot=True):
    return decomposed(A)


@pairs("linalg_lu_factor_ex.default")
def linalg_lu_factor_ex(A, *, pivot=True, check_errors=False):
    lu, pivots = decomposed(A)
    return lu, pivots, no_error(A[0])


@pairs("_lu_with_info.default")
def lu_with_info(self, pivot=True, check_errors=True):
    return linalg_lu_factor_ex(self)


@pairs("lu_unpack.default")
def lu_unpack(LU_data, LU_pivots, unpack_data=True, unpack_pivots=True):
    a = LU_data[0]
    empty = nothing(a.dtype)
    low, high = factors_of(LU_data) if unpack_data else (empty, empty)
    if not unpack_pivots:
        return empty, low, high
    return parts(permutation_of(LU_pivots, a.shape[-2], a.dtype)), low, high


@pairs("linalg_lu.default")
def linalg_lu(A, *, pivot=True):
    assert pivot, "linalg.lu(pivot=False)"
    lu, places = steps(A)
    low, high = factors_of(lu)
    return parts(order_by(A[0], places)), low, high


@inline
def lu_solved(lu, pivots, b, left, is_adjoint):
    if not left:
        return adjoint(lu_solved(lu, pivots, adjoint(b), True, not is_adjoint))
    low, high = factors_of(lu)
    low, high = inverse(low), inverse(high)
    moved = permutation_of(pivots, lu[0].shape[-2], lu[0].dtype)
    if is_adjoint:
        return matmul(moved, matmul(adjoint(low), matmul(adjoint(high), b)))
    return matmul(high, matmul(low, matmul(turned(moved), b)))


@pairs("linalg_lu_solve.default")
def linalg_lu_solve(LU, pivots, B, *, left=True, adjoint=False):
    return lu_solved(LU, pivots, B, left, adjoint)


@pairs("lu_solve.default")
def lu_solve(self, LU_data, LU_pivots):
    return lu_solved(LU_data, LU_pivots, self, True, False)


# --- Determinants


@inline
def diagonal_of(lu, pivots):
    """Of U; an element whose row was exchanged is negated, so that the product is that of A."""
    n, dtype = lu[0].shape[-1], lu[0].dtype
    one, places = unit(n, dtype), cast(op.Range(1, n + 1, 1), pivots.dtype)
    signs = op.Where(pivots == places, tensor(1.0, dtype), tensor(-1.0, dtype))
    return each(lambda x: op.ReduceSum(x * one, [-2], keepdims=0) * signs, lu)


@inline
def det_of(lu, pivots):
    if is_empty(lu[0]):
        return filled_pair(lu[0].shape[:-2], 1.0, lu[0].dtype)
    return product_of(diagonal_of(lu, pivots))


@inline
def product_of(x):
    return each(lambda one: op.Squeeze(one, [-1]), multiplied(x, x[0].ndim - 1))


@inline
def sign_and_size(lu, pivots):
    """The direction of a determinant, and the logarithm of its absolute value."""
    if is_empty(lu[0]):
        return det_of(lu, pivots), filled(lu[0].shape[:-2], 0.0, lu[0].dtype)
    x = diagonal_of(lu, pivots)
    size = op.ReduceSum(op.Log(size_of(x)), [-1], keepdims=0)
    return product_of(sgn(x)), cast(size, x[0].dtype)


@pairs("_linalg_det.default")
def linalg_det_parts(A):
    lu, pivots = decomposed(A)
    return det_of(lu, pivots), lu, pivots


@pairs("det.default", "linalg_det.default")
def det(self):
    return linalg_det_parts(self)[0]


@pairs("_linalg_slogdet.default")
def linalg_slogdet_parts(A):
    lu, pivots = decomposed(A)
    sign, size = sign_and_size(lu, pivots)
    return sign, size, lu, pivots


@pairs("linalg_slogdet.default")
def linalg_slogdet(A):
    sign, size, _, _ = linalg_slogdet_parts(A)
    return sign, size


@pairs("slogdet.default")
def slogdet(self):
    return linalg_slogdet(self)


@pairs("logdet.default")
def logdet(self):
    (re, im), size = linalg_slogdet(self)
    return size, atan2(im, re)


# --- Householder's reflections: the diagonal of R is real


@inline
def reflection(x, j):
    """The vector and the factor, in LAPACK's form, that clear a column below its row `j`."""
    rows = op.Unsqueeze(op.Range(0, x[0].shape[-2], 1), [1])
    zero = tensor(0.0, x[0].dtype)
    x = each(lambda one: op.Where(rows >= j, one, zero), x)
    re, im = part(x, j, j + 1, -2)
    square = op.ReduceSum(x[0] * x[0] + x[1] * x[1], [-2], keepdims=1)
    length = op.Sqrt(square)
    goal = op.Where(re >= 0.0, op.Neg(length), length)
    beside = op.ReduceSum(op.Where(rows > j, op.Abs(x[0]), zero) + op.Abs(x[1]), [-2], keepdims=1)
    is_done = beside == 0.0
    v = div(x, where(is_done, 1.0, (re - goal, im)))
    v = each(lambda one: op.Where((rows == j) | is_done, zero, one), v)
    v = v[0] + op.Cast(rows == j, to=x[0].dtype), v[1]
    safe = op.Where(is_done, op.CastLike(1.0, goal), goal)
    tau = (goal - re) / safe, op.Neg(im) / safe
    return v, each(lambda one: op.Where(is_done, zero, one), tau)


@inline
def reflected(v, tau, y):
    return sub(y, mul(tau, matmul(v, matmul(adjoint(v), y))))


@pairs("geqrf.default")
def geqrf(self):
    r, vectors, factors = self, [], []
    for j in range(min(self[0].shape[-2], self[0].shape[-1])):
        v, tau = reflection(part(r, j, j + 1, -1), j)
        r = reflected(v, conj(tau), r)
        vectors.append(v)
        factors.append(each(lambda one: op.Squeeze(one, [-2]), tau))
    if len(vectors) == 0:
        return r, parts(full_of([*self[0].shape[:-2], 0], 0, self[0].dtype))
    r = r[0], op.Trilu(r[1], 1, upper=1)
    both = packed(r[0], [v[0] for v in vectors]), packed(r[1], [v[1] for v in vectors])
    return both, (op.Concat(*[one[0] for one in factors], axis=-1),
                  op.Concat(*[one[1] for one in factors], axis=-1))  # fmt: skip


@inline
def reflected_by(columns, taus, y, is_adjoint):
    """Q, or its adjoint, of packed columns times `y`."""
    count = taus[0].shape[-1]
    for k in range(count):
        j = k if is_adjoint else count - 1 - k
        v = vector_at(columns[0], j, 1.0), vector_at(columns[1], j, 0.0)
        tau = each(lambda one: op.Unsqueeze(one, [-1]), part(taus, j, j + 1, -1))
        y = reflected(v, conj(tau) if is_adjoint else tau, y)
    return y


@inline
def q_of(columns, taus, width):
    """The first columns of Q."""
    m = columns[0].shape[-2]
    one = op.Slice(unit(m, columns[0].dtype), [0], [width], [1])
    wide = op.Expand(one, [*columns[0].shape[:-2], m, width])
    return reflected_by(columns, taus, parts(wide), False)


@pairs("linalg_householder_product.default")
def householder_product(input, tau):
    return q_of(input, tau, input[0].shape[-1])


@pairs("orgqr.default")
def orgqr(self, input2):
    return householder_product(self, input2)


@pairs("ormqr.default")
def ormqr(self, input2, input3, left=True, transpose=False):
    if left:
        return reflected_by(self, input2, input3, transpose)
    return adjoint(reflected_by(self, input2, adjoint(input3), not transpose))


@inline
def q_and_r(a, mode):
    m, n = a[0].shape[-2], a[0].shape[-1]
    columns, taus = geqrf(a)
    width = m if mode == "complete" else min(m, n)
    r = each(lambda one: op.Trilu(one, 0, upper=1), part(columns, 0, width, -2))
    return (nothing(a[0].dtype) if mode == "r" else q_of(columns, taus, width)), r


@pairs("linalg_qr.default")
def linalg_qr(A, mode="reduced"):
    return q_and_r(A, mode)


@pairs("qr.default")
def qr(self, some=True):
    return q_and_r(self, "reduced" if some else "complete")
