"""Eigenvalues and eigenvectors of matrices that are not symmetric, as pairs (pairs.py).

The matrix becomes a Hessenberg matrix, and this a triangular one by QR steps with Wilkinson's
shifts; eigenvectors of the triangle are found from its last row to its first. A batch takes the
steps together: a matrix whose eigenvalues are found stays as it is.
"""

from sardonyx import DOUBLE, INT64

from .declare import inline, op, pairs
from .factorise import turned, unit
from .pairs import adjoint, each, in_type, parts, size_of
from .pairs_math import div, mul, sqrt, sub
from .pairs_products import matmul
from .singular import columns_at, units
from .types import cast, full_of, is_empty

PRECISION = 2.220446049250313e-16
# QR steps for each eigenvalue, at most; LAPACK allows as many. Two or three are usual.
STEPS = 30


@inline
def minus(x):
    return each(op.Neg, x)


@inline
def conjugate(x):
    return x[0], op.Neg(x[1])


@inline
def plus(x, y):
    return x[0] + y[0], x[1] + y[1]


@inline
def chosen(condition, x, y):
    return op.Where(condition, x[0], y[0]), op.Where(condition, x[1], y[1])


@inline
def at(x, place, dim):
    """The row or column `place`, which stays a dimension."""
    places = op.Reshape(place, [1])
    return each(lambda one: op.Gather(one, places, axis=dim), x)


@inline
def only(x, mask, dim):
    """The elements of rows or columns for which the mask is 1, one of each."""
    return each(lambda one: op.ReduceSum(one * mask, [dim], keepdims=1), x)


@inline
def length_of(x, dim):
    return op.Sqrt(op.ReduceSum(x[0] * x[0] + x[1] * x[1], [dim], keepdims=1))


@inline
def or_one(x):
    return op.Where(x == 0.0, 1.0, x)


@inline
def hessenberg(a, q):
    """`a` with zeros below the diagonal that is next to the main one, and `q` times the turns."""
    n = a[0].shape[-1]
    rows = op.Unsqueeze(op.Range(0, n, 1), [1])
    for j in range(op.Cast(n - 2, to=INT64.dtype)):
        x = each(lambda one: op.Where(rows > j, one, 0.0), at(a, j, -1))
        head = at(x, j + 1, -2)
        size = size_of(head)
        # Along the first element, so that nothing cancels.
        way = op.Where(size == 0.0, 1.0, head[0] / or_one(size)), head[1] / or_one(size)
        goal = mul(way, length_of(x, -2))
        v = plus(x, chosen(rows == j + 1, goal, parts(goal[0] * 0.0)))
        v = each(lambda one: one / or_one(length_of(v, -2)), v)
        a = sub(a, mul(matmul(v, matmul(adjoint(v), a)), 2.0))
        a = sub(a, mul(matmul(matmul(a, v), adjoint(v)), 2.0))
        q = sub(q, mul(matmul(matmul(q, v), adjoint(v)), 2.0))
    return each(lambda one: op.Trilu(one, -1, upper=1), a), q


@inline
def factored(h):
    """Q and R of a Hessenberg matrix, by a rotation of each two rows."""
    n = h[0].shape[-1]
    places = op.Range(0, n, 1)
    rows, columns = op.Unsqueeze(places, [1]), op.Unsqueeze(places, [0])
    q = parts(units(h[0], n))
    for j in range(op.Cast(n - 1, to=INT64.dtype)):
        first, second = at(h, j, -2), at(h, j + 1, -2)
        a, b = at(first, j, -1), at(second, j, -1)
        size = op.Sqrt(a[0] * a[0] + a[1] * a[1] + b[0] * b[0] + b[1] * b[1])
        c = op.Where(size == 0.0, 1.0, a[0] / or_one(size)), a[1] / or_one(size)
        s = each(lambda one: one / or_one(size), b)
        above = plus(mul(conjugate(c), first), mul(conjugate(s), second))
        below = sub(mul(c, second), mul(s, first))
        h = chosen(rows == j, above, chosen(rows == j + 1, below, h))
        first, second = at(q, j, -1), at(q, j + 1, -1)
        before = plus(mul(first, c), mul(second, s))
        after = sub(mul(second, conjugate(c)), mul(first, conjugate(s)))
        q = chosen(columns == j, before, chosen(columns == j + 1, after, q))
    return q, each(lambda one: op.Trilu(one, 0, upper=1), h)


@inline
def deflated(h, one):
    """Without the elements below the diagonal that are as small as errors of rounding."""
    size = op.Abs(h[0]) + op.Abs(h[1])
    diagonal = op.ReduceSum(size * one, [-2], keepdims=1)
    beside = turned(diagonal) + diagonal
    limit = op.Where(beside == 0.0, op.ReduceMax(size, [-2, -1], keepdims=1), beside) * PRECISION
    is_small = op.Trilu(op.Cast(size <= limit, to=DOUBLE.dtype), -1, upper=0) == 1.0
    return each(lambda x: op.Where(is_small, 0.0, x), h)


@inline
def last_open(h, n):
    """The last row with an element before the diagonal; 0 for a triangle."""
    below = op.Trilu(op.Abs(h[0]) + op.Abs(h[1]), -1, upper=0)
    is_open = op.ReduceMax(below, [-1], keepdims=1) > 0.0
    rows = op.Unsqueeze(op.Range(0, n, 1), [1])
    return op.ReduceMax(op.Where(is_open, rows, rows * 0), [-2], keepdims=1)


@inline
def shift_of(h, k, step):
    """The eigenvalue of the last two open rows that is next to the last element."""
    n = h[0].shape[-1]
    places = op.Range(0, n, 1)
    last = cast(op.Unsqueeze(places, [1]) == k, DOUBLE.dtype)
    before = cast(op.Unsqueeze(places, [1]) == k - 1, DOUBLE.dtype)
    low, high = only(h, last, -2), only(h, before, -2)
    last, before = turned(last), turned(before)
    a, b = only(high, before, -1), only(high, last, -1)
    c, d = only(low, before, -1), only(low, last, -1)
    half = mul(sub(a, d), 0.5)
    root = sqrt(plus(mul(half, half), mul(b, c)))
    root = chosen(half[0] * root[0] + half[1] * root[1] < 0.0, minus(root), root)
    whole = plus(half, root)
    safe = chosen((whole[0] == 0.0) & (whole[1] == 0.0), parts(whole[0] * 0.0 + 1.0), whole)
    shift = sub(d, div(mul(b, c), safe))
    # Every tenth step a shift that is not of the matrix, in case of a circle.
    other = d[0] + size_of(c) * 0.75, d[1] + size_of(c) * 0.25
    return chosen(step % 10 == 9, other, shift)


@inline
def triangular(a):
    """T and Q: `a` is Q T times the adjoint of Q."""
    n = a[0].shape[-1]
    one = unit(n, DOUBLE.dtype)
    h, q = hessenberg(a, parts(units(a[0], n)))
    h = deflated(h, one)
    k = last_open(h, n)
    step = op.CastLike(0, k)
    while (op.ReduceMax(k, keepdims=0) > 0) & (step < n * STEPS):
        shift = shift_of(h, k, step)
        moved = each(lambda x: op.Where(k > 0, x, 0.0) * one, shift)
        turn, rest = factored(sub(h, moved))
        is_open = k > 0
        h = deflated(chosen(is_open, plus(matmul(rest, turn), moved), h), one)
        q = chosen(is_open, matmul(q, turn), q)
        k = last_open(h, n)
        step = step + 1
    return h, q


@inline
def vectors_of(t, values):
    """Of a triangle: its columns are those of another one, whose diagonal is 1."""
    n = t[0].shape[-1]
    places = op.Range(0, n, 1)
    rows, columns = op.Unsqueeze(places, [1]), op.Unsqueeze(places, [0])
    size = op.ReduceMax(op.Abs(t[0]) + op.Abs(t[1]), [-2, -1], keepdims=1)
    least = or_one(size) * PRECISION
    x = parts(units(t[0], n))
    for j in range(op.Cast(n - 1, to=INT64.dtype)):
        i = op.CastLike(n - 2, j) - j
        row = at(t, i, -2)
        whole = matmul(each(lambda one: op.Where(columns > i, one, 0.0), row), x)
        beside = sub(values, at(row, i, -1))
        is_small = op.Abs(beside[0]) + op.Abs(beside[1]) < least
        found = div(whole, chosen(is_small, parts(least), beside))
        x = chosen((rows == i) & (columns > i), found, x)
    return x


@inline
def with_length_one(v):
    """As LAPACK's: the greatest element of each is real."""
    v = each(lambda one: one / length_of(v, -2), v)
    size = v[0] * v[0] + v[1] * v[1]
    best = op.ArgMax(size, axis=-2, keepdims=1)
    head = each(lambda one: op.GatherElements(one, best, axis=-2), v)
    return div(mul(v, conjugate(head)), size_of(head))


@inline
def without_errors(values, size, is_real):
    """Eigenvalues of a real matrix whose imaginary part is an error of rounding are real."""
    if not is_real:
        return values
    return values[0], op.Where(op.Abs(values[1]) <= size * PRECISION * 16.0, 0.0, values[1])


@inline
def in_pairs(values):
    """The places of eigenvalues of a real matrix in LAPACK's order: those with a positive imaginary
    part stand just before their conjugates."""
    n = values[0].shape[-1]
    away = sub(values, each(turned, conjugate(values)))
    partner = op.ArgMin(op.Abs(away[0]) + op.Abs(away[1]), axis=-2, keepdims=1)
    own = op.Range(0, n, 1)
    key = op.Min(own, partner) * 2 + op.Cast(values[1] < 0.0, to=INT64.dtype)
    return op.TopK(op.Squeeze(key, [-2]), [n], axis=-1, largest=0)[1]


@inline
def eig_of(self, with_vectors):
    a = parts(self)
    n, dtype = a[0].shape[-1], a[0].dtype
    if is_empty(a[0]):
        return parts(full_of(a[0].shape[:-1], 0, dtype)), a
    t, q = triangular(in_type(a, DOUBLE.dtype))
    values = each(lambda one: op.ReduceSum(one * unit(n, DOUBLE.dtype), [-2], keepdims=1), t)
    size = op.ReduceMax(op.Abs(t[0]) + op.Abs(t[1]), [-2, -1], keepdims=1)
    is_real = not isinstance(self, tuple)
    result = without_errors(values, size, is_real)
    vectors = with_length_one(matmul(q, vectors_of(t, values))) if with_vectors else a
    if is_real:
        places = in_pairs(result)
        result = each(lambda one: columns_at(one, places), result)
        vectors = each(lambda one: columns_at(one, places), vectors) if with_vectors else a
    return in_type(each(lambda one: op.Squeeze(one, [-2]), result), dtype), in_type(vectors, dtype)


@pairs("linalg_eig.default")
def linalg_eig(self):
    return eig_of(self, True)


@pairs("linalg_eigvals.default", "_linalg_eigvals.default")
def linalg_eigvals(self):
    return eig_of(self, False)[0]
