"""Systems of linear equations: elimination, written out for matrices of a known size."""

from sardonyx import INT32, INT64

from .declare import aten, inline, op
from .products import cholesky, product
from .types import END, axis, cast, count_of, full_of, tensor


@inline
def unit(size, dtype):
    places = op.Range(0, size, 1)
    return op.Cast(op.Unsqueeze(places, [1]) == op.Unsqueeze(places, [0]), to=dtype)


@inline
def eliminated(a, b):
    """`a @ x = b` by Gauss and Jordan, with the greatest element of each column as its pivot."""
    n = a.shape[-1]
    rank = a.ndim
    work = op.Concat(a, b, axis=-1)
    rows = op.Unsqueeze(op.Range(0, n, 1), [1])
    for j in range(n):
        column = op.Slice(work, [j], [j + 1], [rank - 1])
        size = op.Where(rows >= j, op.Abs(column), op.CastLike(-1.0, column))
        best = op.ArgMax(size, axis=rank - 2, keepdims=1)
        is_best = op.Cast(rows == best, to=work.dtype)
        pivot = op.ReduceSum(work * is_best, [rank - 2], keepdims=1)
        own = op.Slice(work, [j], [j + 1], [rank - 2])
        # The rows j and `best` change places.
        work = op.Where(rows == best, own, work)
        pivot = pivot / op.Slice(pivot, [j], [j + 1], [rank - 1])
        column = op.Slice(work, [j], [j + 1], [rank - 1])
        work = op.Where(rows == j, pivot, work - column * pivot)
    return op.Slice(work, [n], [END], [rank - 1])


@inline
def inverse_of(a):
    one = op.Expand(unit(a.shape[-1], a.dtype), a.shape)
    return eliminated(a, one)


@aten("inverse.default")
def inverse(self):
    return inverse_of(self)


@aten("linalg_inv.default")
def linalg_inv(A):
    return inverse_of(A)


@inline
def no_error(a):
    """The status that torch returns beside its results: zeros."""
    shape = a.shape[:-2]
    zero = tensor(0, INT32.dtype)
    return op.Expand(zero, shape) if len(shape) > 0 else zero


@aten("linalg_inv_ex.default")
def linalg_inv_ex(A, *, check_errors=False):
    return inverse_of(A), no_error(A)


@inline
def solved(a, b, left):
    is_vector = b.ndim == 1 or (b.ndim == a.ndim - 1 and b.type.shape == a.type.shape[:-1])
    if not left:
        turned = list(range(a.ndim - 2)) + [a.ndim - 1, a.ndim - 2]
        back = list(range(b.ndim - 2)) + [b.ndim - 1, b.ndim - 2]
        y = solved(op.Transpose(a, perm=turned), op.Transpose(b, perm=back), True)
        return op.Transpose(y, perm=list(range(y.ndim - 2)) + [y.ndim - 1, y.ndim - 2])
    b = op.Unsqueeze(b, [-1]) if is_vector else b
    if a.ndim == b.ndim and a.type.shape[:-2] == b.type.shape[:-2]:
        y = eliminated(a, b)
    else:
        y = product(inverse_of(a), b)
    return op.Squeeze(y, [-1]) if is_vector else y


@aten("linalg_solve.default")
def linalg_solve(A, B, *, left=True):
    return solved(A, B, left)


@aten("linalg_solve_ex.default")
def linalg_solve_ex(A, B, *, left=True, check_errors=False):
    return solved(A, B, left), no_error(A)


@inline
def triangle_of(a, upper, unitriangular):
    a = op.Trilu(a, 0, upper=1 if upper else 0)
    if not unitriangular:
        return a
    one = unit(a.shape[-1], a.dtype)
    return op.Where(one == 1.0, one, a)


@aten("linalg_solve_triangular.default")
def linalg_solve_triangular(self, B, *, upper, left=True, unitriangular=False):
    a = triangle_of(self, upper, unitriangular)
    inverted = inverse_of(a)
    return product(inverted, B) if left else product(B, inverted)


@aten("triangular_solve.default")
def triangular_solve(self, A, upper=True, transpose=False, unitriangular=False):
    a = triangle_of(A, upper, unitriangular)
    inverted = inverse_of(a)
    turned = list(range(a.ndim - 2)) + [a.ndim - 1, a.ndim - 2]
    inverted = op.Transpose(inverted, perm=turned) if transpose else inverted
    y = product(inverted, self)
    clone = op.Expand(A, y.shape[:-2] + A.shape[-2:]) if y.ndim > A.ndim else op.Identity(A)
    return y, clone


@aten("linalg_cholesky_ex.default")
def linalg_cholesky_ex(self, *, upper=False, check_errors=False):
    return cholesky(self, upper=upper), no_error(self)


@inline
def turned(x):
    return op.Transpose(x, perm=[*range(x.ndim - 2), x.ndim - 1, x.ndim - 2])


@aten("cholesky_inverse.default")
def cholesky_inverse(self, upper=False):
    low = op.Trilu(self, 0, upper=1) if upper else op.Trilu(self, 0, upper=0)
    square = product(turned(low), low) if upper else product(low, turned(low))
    return inverse_of(square)


@aten("cholesky_solve.default")
def cholesky_solve(self, input2, upper=False):
    low = op.Trilu(input2, 0, upper=1) if upper else op.Trilu(input2, 0, upper=0)
    square = product(turned(low), low) if upper else product(low, turned(low))
    return product(inverse_of(square), self)


@aten("logdet.default")
def logdet(self):
    return op.Log(op.Det(self))


@aten("linalg_slogdet.default")
def linalg_slogdet(A):
    value = op.Det(A)
    return op.Sign(value), op.Log(op.Abs(value))


@aten("slogdet.default")
def slogdet(self):
    value = op.Det(self)
    return op.Sign(value), op.Log(op.Abs(value))


@aten("linalg_tensorinv.default")
def linalg_tensorinv(self, ind=2):
    rows = count_of(self, list(range(ind)))
    y = inverse_of(op.Reshape(self, [rows, rows]))
    return op.Reshape(y, [*self.shape[ind:], *self.shape[:ind]])


@aten("linalg_tensorsolve.default")
def linalg_tensorsolve(self, other, dims=None):
    a = self
    if dims is not None:
        moved = [axis(one, a.ndim) for one in dims]
        a = op.Transpose(a, perm=[i for i in range(a.ndim) if i not in moved] + moved)
    rest = list(a.shape[other.ndim :])
    size = other.size
    y = eliminated(op.Reshape(a, [size, size]), op.Reshape(other, [size, 1]))
    return op.Reshape(y, rest)


@inline
def greatest_row(sizes, j):
    """The row from `j` on with the greatest number of a column."""
    rows = op.Unsqueeze(op.Range(0, sizes.shape[-2], 1), [1])
    numbers = op.Where(rows >= j, sizes, op.CastLike(-1.0, sizes))
    return op.ArgMax(numbers, axis=sizes.ndim - 2, keepdims=1)


@inline
def exchanged(x, j, best):
    """The rows `j` and `best` in each other's place."""
    rows = op.Unsqueeze(op.Range(0, x.shape[-2], 1), [1])
    own, is_best = op.Slice(x, [j], [j + 1], [x.ndim - 2]), rows == best
    other = op.ReduceSum(op.Where(is_best, x, tensor(0.0, x.dtype)), [x.ndim - 2], keepdims=1)
    return op.Where(rows == j, other, op.Where(is_best, own, x))


@inline
def below_pivot(work, j, factor, changed):
    """The step `j` of an elimination: the factors take the place of what becomes zero."""
    rows = op.Unsqueeze(op.Range(0, work.shape[-2], 1), [1])
    columns = op.Unsqueeze(op.Range(0, work.shape[-1], 1), [0])
    changed = op.Where(columns > j, changed, op.Where(columns == j, factor, work))
    return op.Where(rows > j, changed, work)


@inline
def exchanges_of(a, places):
    """torch's list of exchanges, which counts from 1."""
    if len(places) == 0:
        return op.Expand(tensor(0, INT32.dtype), [*a.shape[:-2], 0])
    counted = [op.Squeeze(one, [a.ndim - 2]) + 1 for one in places]
    return op.Cast(op.Concat(*counted, axis=-1), to=INT32.dtype)


@inline
def steps(a):
    """L and U in one matrix, by elimination with pivots, and the row of each pivot."""
    work, places = op.Identity(a), []
    for j in range(min(a.shape[-2], a.shape[-1])):
        best = greatest_row(op.Abs(op.Slice(work, [j], [j + 1], [a.ndim - 1])), j)
        places.append(best)
        work = exchanged(work, j, best)
        row = op.Slice(work, [j], [j + 1], [a.ndim - 2])
        column = op.Slice(work, [j], [j + 1], [a.ndim - 1])
        pivot = op.Slice(row, [j], [j + 1], [a.ndim - 1])
        # Of a singular matrix, all below a pivot that is 0 is 0 as well.
        factor = op.Where(pivot == 0.0, column, column / pivot)
        work = below_pivot(work, j, factor, work - factor * row)
    return work, places


@inline
def decomposed(a):
    work, places = steps(a)
    return work, exchanges_of(a, places)


@inline
def order_by(a, places):
    """The permutation matrix by which the rows of L and U are those of `a`."""
    m = a.shape[-2]
    y = op.Expand(unit(m, a.dtype), [*a.shape[:-2], m, m])
    for j in range(len(places)):
        y = exchanged(y, j, places[j])
    return turned(y)


@inline
def lower_and_upper(lu):
    m, n = lu.shape[-2], lu.shape[-1]
    k = min(m, n)
    low = op.Trilu(op.Slice(lu, [0], [k], [lu.ndim - 1]), -1, upper=0)
    rows, columns = op.Unsqueeze(op.Range(0, m, 1), [1]), op.Unsqueeze(op.Range(0, k, 1), [0])
    low = low + op.Cast(rows == columns, to=lu.dtype)
    return low, op.Trilu(op.Slice(lu, [0], [k], [lu.ndim - 2]), 0, upper=1)


@aten("linalg_lu_factor.default")
def linalg_lu_factor(A, *, pivot=True):
    lu, pivots = decomposed(A)
    return lu, pivots


@aten("linalg_lu_factor_ex.default")
def linalg_lu_factor_ex(A, *, pivot=True, check_errors=False):
    lu, pivots = decomposed(A)
    return lu, pivots, no_error(A)


@aten("_lu_with_info.default")
def lu_with_info(self, pivot=True, check_errors=True):
    lu, pivots = decomposed(self)
    return lu, pivots, no_error(self)


@aten("linalg_lu.default")
def linalg_lu(A, *, pivot=True):
    assert pivot, "linalg.lu(pivot=False)"
    lu, places = steps(A)
    low, high = lower_and_upper(lu)
    return order_by(A, places), low, high


@inline
def reflected(a):
    """Q and R by Householder's reflections, with LAPACK's signs; Q is square."""
    m, n = a.shape[-2], a.shape[-1]
    rank = a.ndim
    r = op.Identity(a)
    q = op.Expand(unit(m, a.dtype), [*a.shape[:-2], m, m])
    rows = op.Unsqueeze(op.Range(0, m, 1), [1])
    for j in range(min(m - 1, n)):
        x = op.Where(rows >= j, op.Slice(r, [j], [j + 1], [rank - 1]), tensor(0.0, a.dtype))
        first = op.Slice(x, [j], [j + 1], [rank - 2])
        length = op.Sqrt(op.ReduceSum(x * x, [rank - 2], keepdims=1))
        below = op.ReduceSum(
            op.Where(rows > j, op.Abs(x), tensor(0.0, a.dtype)), [rank - 2], keepdims=1
        )
        goal = op.Where(first >= 0.0, -length, length)
        v = op.Where(rows == j, first - goal, x)
        square = op.ReduceSum(v * v, [rank - 2], keepdims=1)
        # A column that is zero below the diagonal is left as it is.
        scale = op.Where(below == 0.0, 0.0, 2.0 / square)
        r = r - scale * op.MatMul(v, op.MatMul(turned(v), r))
        q = q - scale * op.MatMul(op.MatMul(q, v), turned(v))
    return q, op.Trilu(r, 0, upper=1)


@inline
def q_and_r(a, mode):
    m, n = a.shape[-2], a.shape[-1]
    q, r = reflected(a)
    if mode == "r":
        r = op.Slice(r, [0], [min(m, n)], [a.ndim - 2])
        return op.Expand(tensor(0.0, a.dtype), [0]), r
    if mode == "reduced":
        k = min(m, n)
        return op.Slice(q, [0], [k], [a.ndim - 1]), op.Slice(r, [0], [k], [a.ndim - 2])
    return q, r


@aten("linalg_qr.default")
def linalg_qr(A, mode="reduced"):
    return q_and_r(A, mode)


@aten("qr.default")
def qr(self, some=True):
    return q_and_r(self, "reduced" if some else "complete")


@aten("matrix_power.default", "linalg_matrix_power.default")
def matrix_power(self, n):
    base = self if n >= 0 else inverse_of(self)
    y = op.Expand(unit(self.shape[-1], self.dtype), self.shape)
    for _ in range(abs(n)):
        y = product(y, base)
    return y


@aten("matrix_exp.default", "linalg_matrix_exp.default")
def matrix_exp(self):
    """Taylor's series of the matrix over 2**12, squared twelve times, in DOUBLE."""
    size = self.shape[-1]
    x = op.Cast(self, to=11) / 4096.0
    one = op.Expand(unit(size, x.dtype), x.shape)
    y = one
    for k in range(10, 0, -1):
        y = one + op.MatMul(x, y) / float(k)
    for _ in range(12):
        y = op.MatMul(y, y)
    return cast(y, self.dtype)


# --- Factors that LAPACK packs into one matrix


@inline
def order_of(pivots, m):
    """Which row stands at each place after torch's list of exchanges, which counts from 1."""
    places = op.Range(0, m, 1)
    order = op.Expand(places, [*pivots.shape[:-1], m])
    for i in range(pivots.shape[-1]):
        other = cast(op.Slice(pivots, [i], [i + 1], [pivots.ndim - 1]), INT64.dtype) - 1
        ours = op.Slice(order, [i], [i + 1], [pivots.ndim - 1])
        theirs = op.GatherElements(order, other, axis=-1)
        order = op.Where(places == i, theirs, op.Where(places == other, ours, order))
    return order


@inline
def permutation_of(pivots, m, dtype):
    order = op.Unsqueeze(order_of(pivots, m), [-1])
    return turned(op.Cast(order == op.Range(0, m, 1), to=dtype))


@aten("lu_unpack.default")
def lu_unpack(LU_data, LU_pivots, unpack_data=True, unpack_pivots=True):
    empty = op.Expand(tensor(0.0, LU_data.dtype), [0])
    low, high = lower_and_upper(LU_data) if unpack_data else (empty, empty)
    if not unpack_pivots:
        return empty, low, high
    return permutation_of(LU_pivots, LU_data.shape[-2], LU_data.dtype), low, high


@inline
def lu_solved(lu, pivots, b, left, adjoint):
    if not left:
        return turned(lu_solved(lu, pivots, turned(b), True, not adjoint))
    low, high = lower_and_upper(lu)
    low, high = inverse_of(low), inverse_of(high)
    moved = permutation_of(pivots, lu.shape[-2], lu.dtype)
    if adjoint:
        return product(moved, product(turned(low), product(turned(high), b)))
    return product(high, product(low, product(turned(moved), b)))


@aten("linalg_lu_solve.default")
def linalg_lu_solve(LU, pivots, B, *, left=True, adjoint=False):
    return lu_solved(LU, pivots, B, left, adjoint)


@aten("lu_solve.default")
def lu_solve(self, LU_data, LU_pivots):
    return lu_solved(LU_data, LU_pivots, self, True, False)


@aten("_linalg_det.default")
def linalg_det_parts(A):
    lu, pivots = decomposed(A)
    return op.Det(A), lu, pivots


@aten("_linalg_slogdet.default")
def linalg_slogdet_parts(A):
    lu, pivots = decomposed(A)
    sign, size = linalg_slogdet(A)
    return sign, size, lu, pivots


@aten("_linalg_solve_ex.default")
def linalg_solve_parts(A, B, *, left=True, check_errors=False):
    lu, pivots = decomposed(A)
    return solved(A, B, left), lu, pivots, no_error(A)


# --- Householder's reflections, as LAPACK keeps them


@aten("geqrf.default")
def geqrf(self):
    m, n = self.shape[-2], self.shape[-1]
    last = self.ndim - 1
    rows = op.Unsqueeze(op.Range(0, m, 1), [1])
    zero = tensor(0.0, self.dtype)
    r = op.Identity(self)
    vectors, factors = [], []
    for j in range(min(m, n)):
        x = op.Where(rows >= j, op.Slice(r, [j], [j + 1], [last]), zero)
        first = op.Slice(x, [j], [j + 1], [last - 1])
        below = op.ReduceSum(op.Where(rows > j, op.Abs(x), zero), [last - 1], keepdims=1)
        length = op.Sqrt(op.ReduceSum(x * x, [last - 1], keepdims=1))
        goal = op.Where(first >= 0.0, -length, length)
        is_done = below == 0.0
        tau = op.Where(is_done, zero, (goal - first) / goal)
        v = op.Where(is_done, zero, x / (first - goal))
        v = op.Where(rows == j, tensor(1.0, self.dtype), v)
        r = r - tau * op.MatMul(v, op.MatMul(turned(v), r))
        vectors.append(v)
        factors.append(op.Squeeze(tau, [last - 1]))
    if len(vectors) == 0:
        return r, op.Expand(zero, [*self.shape[:-2], 0])
    return packed(r, vectors), op.Concat(*factors, axis=-1)


@inline
def packed(r, vectors):
    """R, and below its diagonal the vectors of the reflections."""
    m, n = r.shape[-2], r.shape[-1]
    low = op.Trilu(op.Concat(*vectors, axis=-1), -1, upper=0)
    if n > m:
        low = op.Concat(low, full_of([*r.shape[:-1], n - m], 0, r.dtype), axis=-1)
    return op.Trilu(r, 0, upper=1) + low


@inline
def vector_at(columns, j, head):
    """The vector of a reflection, of which `head`, at the diagonal, is not kept."""
    rows = op.Unsqueeze(op.Range(0, columns.shape[-2], 1), [1])
    v = op.Slice(columns, [j], [j + 1], [columns.ndim - 1])
    v = op.Where(rows > j, v, tensor(0.0, columns.dtype))
    return op.Where(rows == j, tensor(head, columns.dtype), v)


@inline
def reflected_by(columns, taus, y, is_first_first):
    """`y` after the reflections of the packed columns, the first or the last of them first."""
    count = taus.shape[-1]
    for k in range(count):
        j = k if is_first_first else count - 1 - k
        v = vector_at(columns, j, 1.0)
        tau = op.Unsqueeze(op.Slice(taus, [j], [j + 1], [taus.ndim - 1]), [-1])
        y = y - tau * op.MatMul(v, op.MatMul(turned(v), y))
    return y


@aten("linalg_householder_product.default")
def householder_product(input, tau):
    one = op.Slice(unit(input.shape[-2], input.dtype), [0], [input.shape[-1]], [1])
    return reflected_by(input, tau, op.Expand(one, input.shape), False)


@aten("orgqr.default")
def orgqr(self, input2):
    return householder_product(self, input2)


@aten("ormqr.default")
def ormqr(self, input2, input3, left=True, transpose=False):
    if left:
        return reflected_by(self, input2, input3, transpose)
    return turned(reflected_by(self, input2, turned(input3), not transpose))
