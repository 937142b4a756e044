"""Sums, extremes and statistics along dimensions."""

import math

from sardonyx import BOOL, INT32, INT64, UINT8

from .declare import aten, inline, op
from .types import (
    END,
    axes,
    axis,
    cast,
    computed,
    count_of,
    floating,
    full_of,
    in_ints,
    kind,
    promoted,
    tensor,
    to_power,
    with_dims,
)

# Longer running products are a loop.
UNROLLED = 64


@inline
def is_short(x, dim):
    size = x.type.shape[dim]
    return isinstance(size, int) and size <= UNROLLED


@inline
def reduced(f, x, dim, keepdim):
    """A reduction of ONNX along `dim`, in a type that it is defined for."""
    dims = axes(dim, x.ndim)
    if x.ndim == 0:
        return f(x, keepdims=0)
    if op.version >= 18:
        return f(x, dims, keepdims=keepdim)
    return f(x, axes=dims, keepdims=keepdim)


@inline
def summed_type(x, dtype):
    """Integers are added up in INT64."""
    if dtype is not None:
        return cast(x, dtype)
    return x if kind(x.dtype) == 2 else cast(x, INT64.dtype)


@aten("sum.dim_IntList", "sum.default")
def sum_(self, dim=None, keepdim=False, *, dtype=None):
    return total_of(op.ReduceSum, summed_type(self, dtype), dim, keepdim)


@inline
def total_of(f, x, dim, keepdim):
    """Of small integers and BOOL, if they are asked for, by what INT32 leaves of it."""
    return in_ints(lambda v: reduced(f, v, dim, keepdim), x)


@aten("nansum.default")
def nansum(self, dim=None, keepdim=False, *, dtype=None):
    x = summed_type(self, dtype)
    x = op.Where(op.IsNaN(x), 0.0, x) if kind(x.dtype) == 2 else x
    return total_of(op.ReduceSum, x, dim, keepdim)


@aten("mean.dim", "mean.default")
def mean(self, dim=None, keepdim=False, *, dtype=None):
    return reduced(op.ReduceMean, cast(self, dtype), dim, keepdim)


@aten("nanmean.default")
def nanmean(self, dim=None, keepdim=False, *, dtype=None):
    x = cast(self, dtype)
    is_number = op.Not(op.IsNaN(x))
    total = reduced(op.ReduceSum, op.Where(is_number, x, 0.0), dim, keepdim)
    return total / reduced(op.ReduceSum, op.Cast(is_number, to=x.dtype), dim, keepdim)


@aten("prod.dim_int")
def prod_dim(self, dim, keepdim=False, *, dtype=None):
    return total_of(op.ReduceProd, summed_type(self, dtype), dim, keepdim)


@aten("prod.default")
def prod(self, *, dtype=None):
    return total_of(op.ReduceProd, summed_type(self, dtype), None, False)


@inline
def extreme(f, x, dim, keepdim):
    if x.dtype == BOOL.dtype:
        return op.Cast(reduced(f, op.Cast(x, to=UINT8.dtype), dim, keepdim), to=BOOL.dtype)
    return in_ints(lambda v: reduced(f, v, dim, keepdim), x)


@aten("amax.default")
def amax(self, dim=(), keepdim=False):
    return extreme(op.ReduceMax, self, dim, keepdim)


@aten("amin.default")
def amin(self, dim=(), keepdim=False):
    return extreme(op.ReduceMin, self, dim, keepdim)


@aten("max.default")
def max_(self):
    return extreme(op.ReduceMax, self, None, False)


@aten("min.default")
def min_(self):
    return extreme(op.ReduceMin, self, None, False)


@inline
def place_of(f, x, dim, keepdim):
    """ArgMax and ArgMin, which know no booleans."""
    x = op.Cast(x, to=UINT8.dtype) if x.dtype == BOOL.dtype else x
    return with_dims(lambda v: f(v, axis=dim, keepdims=keepdim), x) if x.ndim > 0 else op.Cast(
        op.Cast(x, to=BOOL.dtype) & False, to=INT64.dtype)  # fmt: skip


@aten("max.dim")
def max_dim(self, dim, keepdim=False):
    return extreme(op.ReduceMax, self, dim, keepdim), place_of(op.ArgMax, self, dim, keepdim)


@aten("min.dim")
def min_dim(self, dim, keepdim=False):
    return extreme(op.ReduceMin, self, dim, keepdim), place_of(op.ArgMin, self, dim, keepdim)


@aten("aminmax.default")
def aminmax(self, *, dim=None, keepdim=False):
    return extreme(op.ReduceMin, self, dim, keepdim), extreme(op.ReduceMax, self, dim, keepdim)


@inline
def place_in_all(f, x, keepdim):
    y = place_of(f, op.Reshape(x, [-1]), 0, False)
    return op.Reshape(y, [1] * x.ndim) if keepdim and x.ndim > 0 else y


@aten("argmax.default")
def argmax(self, dim=None, keepdim=False):
    if dim is None:
        return place_in_all(op.ArgMax, self, keepdim)
    return place_of(op.ArgMax, self, dim, keepdim)


@aten("argmin.default")
def argmin(self, dim=None, keepdim=False):
    if dim is None:
        return place_in_all(op.ArgMin, self, keepdim)
    return place_of(op.ArgMin, self, dim, keepdim)


@inline
def truths(f, self, dim, keepdim):
    y = reduced(f, op.Cast(cast(self, BOOL.dtype), to=INT32.dtype), dim, keepdim)
    found = y > 0  # the greatest of nothing is the least number
    return op.Cast(found, to=UINT8.dtype) if self.dtype == UINT8.dtype else found


@aten("all.default", "all.dim", "all.dims")
def all_(self, dim=None, keepdim=False):
    return truths(op.ReduceMin, self, dim, keepdim)


@aten("any.default", "any.dim", "any.dims")
def any_(self, dim=None, keepdim=False):
    return truths(op.ReduceMax, self, dim, keepdim)


@aten("count_nonzero.default", "count_nonzero.dim_IntList")
def count_nonzero(self, dim=None):
    found = op.Cast(cast(self, BOOL.dtype), to=INT64.dtype)
    return reduced(op.ReduceSum, found, dim, False)


# --- Statistics


@inline
def moments(self, dim, correction, keepdim):
    """The variance and the mean."""
    x = computed(self)
    middle = reduced(op.ReduceMean, x, dim, True)
    away = x - middle
    total = reduced(op.ReduceSum, away * away, dim, keepdim)
    elements = 1 if x.ndim == 0 else count_of(x, axes(dim, x.ndim))
    count = float(elements) - float(correction)
    spread = total / op.Max(cast(tensor(count), x.dtype), tensor(0.0, x.dtype))
    short = middle if keepdim or x.ndim == 0 else op.Squeeze(middle, axes(dim, x.ndim))
    return cast(spread, self.dtype), cast(short, self.dtype)


@inline
def correction_of(unbiased):
    return 1 if unbiased else 0


@inline
def or_one(correction):
    return 1 if correction is None else correction


@aten("var.correction")
def var(self, dim=None, *, correction=None, keepdim=False):
    return moments(self, dim, or_one(correction), keepdim)[0]


@aten("var.dim")
def var_dim(self, dim, unbiased=True, keepdim=False):
    return moments(self, dim, correction_of(unbiased), keepdim)[0]


@aten("var.default")
def var_default(self, unbiased=True):
    return moments(self, None, correction_of(unbiased), False)[0]


@aten("std.correction")
def std(self, dim=None, *, correction=None, keepdim=False):
    return op.Sqrt(moments(self, dim, or_one(correction), keepdim)[0])


@aten("std.dim")
def std_dim(self, dim, unbiased=True, keepdim=False):
    return op.Sqrt(moments(self, dim, correction_of(unbiased), keepdim)[0])


@aten("std.default")
def std_default(self, unbiased=True):
    return op.Sqrt(moments(self, None, correction_of(unbiased), False)[0])


@aten("var_mean.correction")
def var_mean(self, dim=None, *, correction=None, keepdim=False):
    return moments(self, dim, or_one(correction), keepdim)


@aten("var_mean.dim")
def var_mean_dim(self, dim, unbiased=True, keepdim=False):
    return moments(self, dim, correction_of(unbiased), keepdim)


@aten("var_mean.default")
def var_mean_default(self, unbiased=True):
    return moments(self, None, correction_of(unbiased), False)


@aten("std_mean.correction")
def std_mean(self, dim=None, *, correction=None, keepdim=False):
    spread, middle = moments(self, dim, or_one(correction), keepdim)
    return op.Sqrt(spread), middle


@aten("std_mean.dim")
def std_mean_dim(self, dim, unbiased=True, keepdim=False):
    spread, middle = moments(self, dim, correction_of(unbiased), keepdim)
    return op.Sqrt(spread), middle


@aten("std_mean.default")
def std_mean_default(self, unbiased=True):
    spread, middle = moments(self, None, correction_of(unbiased), False)
    return op.Sqrt(spread), middle


@aten("logsumexp.default", "special_logsumexp.default")
def logsumexp(self, dim, keepdim=False):
    x = floating(self)
    if x.ndim == 0:
        return op.Identity(x)
    high = reduced(op.ReduceMax, x, dim, True)
    safe = op.Where(op.Abs(high) == math.inf, 0.0, high)
    total = op.Log(reduced(op.ReduceSum, op.Exp(x - safe), dim, keepdim))
    return total + (safe if keepdim else op.Squeeze(safe, axes(dim, x.ndim)))


@inline
def normed(x, ord, dim, keepdim):
    x = op.Abs(x)
    if ord == math.inf:
        return reduced(op.ReduceMax, x, dim, keepdim)
    if ord == -math.inf:
        return reduced(op.ReduceMin, x, dim, keepdim)
    if ord == 0:
        return reduced(op.ReduceSum, op.Cast(x != 0.0, to=x.dtype), dim, keepdim)
    if ord == 1:
        return reduced(op.ReduceSum, x, dim, keepdim)
    if ord == 2:
        return reduced(op.ReduceL2, x, dim, keepdim)
    # Powers leave the range of the halves soon.
    total = reduced(op.ReduceSum, to_power(computed(x), float(ord)), dim, keepdim)
    return cast(to_power(total, 1.0 / ord), x.dtype)


@aten("linalg_vector_norm.default")
def vector_norm(self, ord=2, dim=None, keepdim=False, *, dtype=None):
    return normed(floating(cast(self, dtype)), ord, dim, keepdim)


@aten("norm.ScalarOpt_dim", "norm.ScalarOpt_dim_dtype", "norm.ScalarOpt_dtype")
def norm(self, p, dim=None, keepdim=False, *, dtype=None):
    return normed(floating(cast(self, dtype)), 2 if p is None else p, dim, keepdim)


@aten("norm.Scalar")
def norm_scalar(self, p=2):
    return normed(floating(self), p, None, False)


@aten("dist.default")
def dist(self, other, p=2):
    self, other = promoted(self, other)
    return normed(self - other, p, None, False)


# --- Running sums


@inline
def running(x, dim):
    return with_dims(lambda v: op.CumSum(v, dim), x)


@aten("cumsum.default")
def cumsum(self, dim, *, dtype=None):
    return in_ints(lambda v: running(v, dim), summed_type(self, dtype))


@aten("cumprod.default")
def cumprod(self, dim, *, dtype=None):
    x = summed_type(self, dtype)
    if x.ndim == 0:
        return op.Identity(x)
    dim = axis(dim, x.ndim)
    length = x.shape[dim]
    if is_short(x, dim):
        rows = []
        for i in range(length):
            one = op.Gather(x, i, axis=dim)
            rows.append(one if i == 0 else rows[-1] * one)
        parts = [op.Unsqueeze(one, [dim]) for one in rows]
        return op.Concat(*parts, axis=dim) if length > 0 else op.Identity(x)
    rest = [x.shape[i] for i in range(x.ndim) if i != dim]
    total = full_of(rest, 1, x.dtype) if len(rest) > 0 else tensor(1, x.dtype)
    found = [op.Slice(x, [0], [0], [dim])]
    for i in range(length):
        total = total * op.Gather(x, i, axis=dim)
        found.append(op.Unsqueeze(total, [dim]))
    return op.ConcatFromSequence(found, axis=dim)


@aten("logcumsumexp.default")
def logcumsumexp(self, dim):
    x = computed(self)
    if x.ndim == 0:
        return op.Identity(self)
    last = axis(dim, x.ndim) == x.ndim - 1
    perm = list(range(x.ndim))
    perm[axis(dim, x.ndim)] = x.ndim - 1
    perm[-1] = axis(dim, x.ndim)
    x = x if last else op.Transpose(x, perm=perm)
    # Each sum has a maximum of its own: what is small beside a later one stays.
    places = op.Range(0, x.shape[-1], 1)
    inside = op.Unsqueeze(places, [0]) <= op.Unsqueeze(places, [1])
    rows = op.Where(inside, op.Unsqueeze(x, [-2]), -math.inf)
    high = op.ReduceMax(rows, [-1], keepdims=1)
    high = op.Where(op.IsInf(high), 0.0, high)
    y = op.Log(op.ReduceSum(op.Exp(rows - high), [-1], keepdims=0)) + op.Squeeze(high, [-1])
    return cast(y if last else op.Transpose(y, perm=perm), self.dtype)


@aten("trace.default")
def trace(self):
    rows, columns = self.shape
    on_line = op.Unsqueeze(op.Range(0, rows, 1), [1]) == op.Unsqueeze(op.Range(0, columns, 1), [0])
    x = summed_type(self, None)
    return op.ReduceSum(op.Where(on_line, x, tensor(0, x.dtype)), keepdims=0)


@aten("diff.default")
def diff(self, n=1, dim=-1, prepend=None, append=None):
    dim = axis(dim, self.ndim)
    x = self
    if prepend is not None:
        x = op.Concat(prepend, x, axis=dim)
    if append is not None:
        x = op.Concat(x, append, axis=dim)
    for _ in range(n):
        later = op.Slice(x, [1], [END], [dim])
        before = op.Slice(x, [0], [-1], [dim])
        x = op.Xor(later, before) if x.dtype == BOOL.dtype else later - before
    return x


# --- Integrals and the like


@inline
def trapezoids(y, dim):
    """The sum of each element and the one before it, which PyTorch takes in the type of `y`."""
    return op.Slice(y, [1], [END], [dim]) + op.Slice(y, [0], [-1], [dim])


@inline
def area_of(y, dx, dim):
    """Below a curve whose places have the same distance."""
    if kind(y.dtype) == 2:
        return op.ReduceSum(trapezoids(y, dim), [dim], keepdims=0) * (0.5 * dx)
    # PyTorch adds the ends alone in the type of integers.
    ends = op.Gather(y, 0, axis=dim) + op.Gather(y, -1, axis=dim)
    total = total_of(op.ReduceSum, summed_type(y, None), dim, False)
    return (floating(total) - floating(ends) * 0.5) * dx


@inline
def widths(x, dim, rank):
    """The differences of the places, to stand beside the values."""
    if x.ndim == 1:
        x = op.Reshape(x, [1] * dim + [-1] + [1] * (rank - dim - 1))
    away = x.ndim - (rank - dim)
    return op.Slice(x, [1], [END], [away]) - op.Slice(x, [0], [-1], [away])


@aten("trapezoid.x", "trapz.x")
def trapezoid(y, x, *, dim=-1):
    dim = axis(dim, y.ndim)
    parts, between = promoted(trapezoids(y, dim), widths(x, dim, y.ndim))
    return op.ReduceSum(floating(parts * between), [dim], keepdims=0) * 0.5


@aten("trapezoid.dx")
def trapezoid_dx(y, *, dx=1, dim=-1):
    return area_of(y, dx, axis(dim, y.ndim))


@aten("trapz.dx")
def trapz_dx(y, *, dx=1.0, dim=-1):
    return area_of(y, dx, axis(dim, y.ndim))


@aten("cumulative_trapezoid.x")
def cumulative_trapezoid(y, x, *, dim=-1):
    dim = axis(dim, y.ndim)
    parts, between = promoted(trapezoids(y, dim), widths(x, dim, y.ndim))
    return op.CumSum(floating(parts * between), dim) * 0.5


@aten("cumulative_trapezoid.dx")
def cumulative_trapezoid_dx(y, *, dx=1, dim=-1):
    dim = axis(dim, y.ndim)
    return op.CumSum(floating(trapezoids(y, dim)), dim) * (0.5 * dx)


@aten("renorm.default")
def renorm(self, p, dim, maxnorm):
    dim = axis(dim, self.ndim)
    length = normed(self, p, [one for one in range(self.ndim) if one != dim], True)
    return self * op.Where(length > maxnorm, maxnorm / (length + 1e-7), op.CastLike(1.0, length))


@aten("embedding_renorm.default")
def embedding_renorm(self, indices, max_norm, norm_type):
    """The rows that are read, no longer than `max_norm`."""
    length = normed(self, norm_type, [1], True)
    short = op.Where(length > max_norm, self * (max_norm / (length + 1e-7)), self)
    read = op.Unsqueeze(op.Reshape(indices, [-1]), [1])
    return op.ScatterND(self, read, op.Gather(short, op.Squeeze(read, [1]), axis=0))


@aten("sum_to_size.default")
def sum_to_size(self, size):
    more = self.ndim - len(size)
    x = op.ReduceSum(self, list(range(more)), keepdims=0) if more > 0 else self
    ones = [i for i in range(len(size)) if size[i] == 1 and x.type.shape[i] != 1]
    return op.ReduceSum(x, ones, keepdims=1) if len(ones) > 0 else op.Identity(x)


@aten("histc.default")
def histc(self, bins=100, min=0, max=0):
    x = op.Reshape(self, [-1])
    if min == max:
        low, high = op.ReduceMin(x, keepdims=0), op.ReduceMax(x, keepdims=0)
        is_flat = low == high
        low, high = op.Where(is_flat, low - 1.0, low), op.Where(is_flat, high + 1.0, high)
    else:
        low, high = tensor(float(min), x.dtype), tensor(float(max), x.dtype)
    place = op.Floor((x - low) * float(bins) / (high - low))
    place = op.Where(x == high, float(bins - 1), place)
    inside = (x >= low) & (x <= high)
    columns = op.Unsqueeze(op.Cast(op.Range(0, bins, 1), to=x.dtype), [0])
    hits = op.And(op.Unsqueeze(place, [1]) == columns, op.Unsqueeze(inside, [1]))
    return op.ReduceSum(op.Cast(hits, to=x.dtype), [0], keepdims=0)
