"""Sorting, and what is found by it."""

import math

from sardonyx import BOOL, DOUBLE, INT32, INT64

from .declare import aten, inline, op
from .reduce import is_short
from .types import END, axis, cast, highest, is_empty, kind, moved, tensor, without_bfloat16


@inline
def sortable(f, x):
    """`f` of a type that TopK has, which gives values and places."""
    if x.dtype == BOOL.dtype or (kind(x.dtype) != 2 and x.dtype.bitwidth < 32):
        values, places = f(op.Cast(x, to=INT32.dtype))
        return cast(values, x.dtype), places
    values, places = f(without_bfloat16(x) if op.version < 24 else x)
    return cast(values, x.dtype), places


@inline
def sorted_by(x, dim, descending):
    if x.ndim == 0:
        return op.Identity(x), op.Cast(op.Cast(x, to=BOOL.dtype) & False, to=INT64.dtype)
    n = x.shape[axis(dim, x.ndim)]
    return sortable(lambda v: op.TopK(v, [n], axis=dim, largest=descending, sorted=1), x)


@aten("sort.default")
def sort(self, dim=-1, descending=False):
    return sorted_by(self, dim, descending)


@aten("sort.stable")
def sort_stable(self, *, stable, dim=-1, descending=False):
    return sorted_by(self, dim, descending)


@aten("argsort.default")
def argsort(self, dim=-1, descending=False):
    return sorted_by(self, dim, descending)[1]


@aten("argsort.stable")
def argsort_stable(self, *, stable, dim=-1, descending=False):
    return sorted_by(self, dim, descending)[1]


@aten("msort.default")
def msort(self):
    return sorted_by(self, 0, False)[0]


@aten("topk.default")
def topk(self, k, dim=-1, largest=True, sorted=True):
    if self.ndim == 0:
        return sorted_by(self, 0, False)
    return sortable(lambda v: op.TopK(v, [k], axis=dim, largest=largest, sorted=1), self)


@inline
def chosen(values, places, k, dim, keepdim):
    """The element `k` in order, and its place."""
    if values.ndim == 0:
        return values, places
    if keepdim:
        return op.Slice(values, [k], [k + 1], [dim]), op.Slice(places, [k], [k + 1], [dim])
    return op.Gather(values, k, axis=dim), op.Gather(places, k, axis=dim)


@aten("kthvalue.default")
def kthvalue(self, k, dim=-1, keepdim=False):
    return chosen(*sorted_by(self, dim, False), k - 1, dim, keepdim)


@inline
def sorted_or_nan(x, dim):
    """In order; where there is a NaN along the axis, it and its place alone."""
    values, places = sorted_by(x, dim, False)
    if kind(x.dtype) != 2 or x.ndim == 0:
        return values, places
    is_nan = op.Cast(op.IsNaN(x), to=INT32.dtype)
    has_nan = op.ReduceMax(is_nan, [dim], keepdims=1) > 0
    first = op.ArgMax(is_nan, axis=dim, keepdims=1)
    return op.Where(has_nan, math.nan, values), op.Where(has_nan, first, places)


@aten("median.dim")
def median_dim(self, dim, keepdim=False):
    n = 1 if self.ndim == 0 else self.shape[dim]
    return chosen(*sorted_or_nan(self, dim), (n + 1) // 2 - 1, dim, keepdim)


@aten("median.default")
def median(self):
    flat = op.Reshape(self, [-1])
    values = sorted_or_nan(flat, 0)[0]
    return op.Gather(values, (flat.shape[0] - 1) // 2, axis=0)


@inline
def neighbours(rank, interpolation):
    """The whole ranks between which a quantile lies."""
    below, above = op.Floor(rank), op.Ceil(rank)
    if interpolation == "nearest":
        below = op.Round(rank)
        above = below
    elif interpolation == "lower":
        above = below
    elif interpolation == "higher":
        below = above
    return below, above


@inline
def quantiles(self, q, dim, keepdim, interpolation):
    x = op.Reshape(self, [-1]) if dim is None else self
    at = 0 if dim is None else axis(dim, max(self.ndim, 1))
    x = op.Reshape(x, [1]) if x.ndim == 0 else x
    values = sorted_or_nan(x, at)[0]
    n = x.shape[at]
    rank = op.Reshape(q, [-1]) * float(n - 1)
    below, above = neighbours(rank, interpolation)
    low = op.Gather(values, op.Cast(below, to=INT64.dtype), axis=at)
    high = op.Gather(values, op.Cast(above, to=INT64.dtype), axis=at)
    share = op.Reshape(rank - below, [-1 if i == at else 1 for i in range(x.ndim)])
    if interpolation == "midpoint":
        share = op.Where(share > 0.0, share * 0.0 + 0.5, share * 0.0)
    elif interpolation != "linear":
        share = share * 0.0
    # As PyTorch, from the nearer end: the other one may be infinite.
    near, far = low + (high - low) * share, high - (high - low) * (1.0 - share)
    y = op.Where(share < 0.5, near, far)
    y = op.Transpose(y, perm=[at, *[i for i in range(x.ndim) if i != at]])
    rest = [x.shape[i] for i in range(x.ndim) if i != at]
    if keepdim:
        rest = [1] * self.ndim if dim is None else [*rest[:at], 1, *rest[at:]]
    if self.ndim == 0:
        rest = []
    shape = ([] if q.ndim == 0 else [q.shape[0]]) + rest
    return op.Reshape(y, shape) if len(shape) > 0 else op.Squeeze(y)


@aten("quantile.default")
def quantile(self, q, dim=None, keepdim=False, *, interpolation="linear"):
    return quantiles(self, q, dim, keepdim, interpolation)


@aten("quantile.scalar")
def quantile_scalar(self, q, dim=None, keepdim=False, *, interpolation="linear"):
    return quantiles(self, tensor(float(q), self.dtype), dim, keepdim, interpolation)


@inline
def better(x, i, dim, best, place, is_max):
    """The better one of the best so far and element i, and its place."""
    one = op.Gather(x, i, axis=dim)
    is_better = one >= best if is_max else one <= best
    if kind(x.dtype) == 2:
        is_better = is_better | op.IsNaN(one)
        is_better = is_better & (op.Not(op.IsNaN(best)) | op.IsNaN(one))
    return op.Where(is_better, one, best), op.Where(is_better, i, place)


@inline
def running_extreme(x, dim, is_max):
    """The greatest element so far, and its last place."""
    if x.dtype == BOOL.dtype:
        y, places = running_extreme(op.Cast(x, to=INT32.dtype), dim, is_max)
        return op.Cast(y, to=BOOL.dtype), places
    if x.ndim == 0:
        return sorted_by(x, 0, False)
    if is_empty(x):
        return op.Identity(x), op.Cast(x, to=INT64.dtype)
    dim = axis(dim, x.ndim)
    length = x.shape[dim]
    best = op.Gather(x, 0, axis=dim)
    place = op.Cast(best != best, to=INT64.dtype) * 0
    if is_short(x, dim):
        values, places = [], []
        for i in range(length):
            best, place = better(x, i, dim, best, place, is_max)
            values.append(op.Unsqueeze(best, [dim]))
            places.append(op.Unsqueeze(place, [dim]))
        return op.Concat(*values, axis=dim), op.Concat(*places, axis=dim)
    found, found_places = [], []
    for i in range(length):
        best, place = better(x, i, dim, best, place, is_max)
        found.append(best)
        found_places.append(place)
    y = op.ConcatFromSequence(found, axis=dim, new_axis=1)
    return y, op.ConcatFromSequence(found_places, axis=dim, new_axis=1)


@aten("cummax.default")
def cummax(self, dim):
    values, places = running_extreme(without_bfloat16(self), dim, True)
    return cast(values, self.dtype), places


@aten("cummin.default")
def cummin(self, dim):
    values, places = running_extreme(without_bfloat16(self), dim, False)
    return cast(values, self.dtype), places


@aten("unique_consecutive.default")
def unique_consecutive(self, return_inverse=False, return_counts=False, dim=None):
    along = 0 if dim is None else axis(dim, self.ndim)
    x = op.Reshape(self, [-1]) if dim is None else self
    before, after = op.Slice(x, [0], [-1], [along]), op.Slice(x, [1], [END], [along])
    rest = [i for i in range(x.ndim) if i != along]
    differs = op.Cast(before != after, to=INT32.dtype)
    differs = differs if len(rest) == 0 else op.ReduceMax(differs, rest, keepdims=0)
    places = op.Range(0, x.shape[along], 1)
    is_new = op.Concat(op.Slice(places == 0, [0], [1], [0]), differs == 1, axis=0)
    values = moved(lambda v: op.Compress(v, is_new, axis=along), x)
    inverse = op.CumSum(op.Cast(is_new, to=INT64.dtype), 0) - 1
    starts = op.Compress(places, is_new)
    ends = op.Concat(op.Slice(starts, [1], [END], [0]), op.Reshape(x.shape[along], [1]), axis=0)
    inverse = op.Reshape(inverse, self.shape, allowzero=1) if dim is None else inverse
    return values, inverse, ends - starts


@inline
def comparable(x):
    """Without types that ONNX Runtime has no Unique for."""
    if kind(x.dtype) == 2:
        return without_bfloat16(x)
    return x if x.dtype.name == "UINT64" else cast(x, INT64.dtype)


@aten("_unique2.default")
def unique2(self, sorted=True, return_inverse=False, return_counts=False):
    x = without_bfloat16(op.Reshape(self, [-1]))
    if kind(x.dtype) == 2:
        values, inverse, counts = unique_with_nan(x)
    else:
        values, _, inverse, counts = op.Unique(comparable(x), sorted=1)
    return cast(values, self.dtype), op.Reshape(inverse, self.shape, allowzero=1), counts


@inline
def unique_with_nan(x):
    """Each NaN is an element of its own, behind all others; ONNX has one for all of them, and ONNX
    Runtime drops numbers beside them."""
    is_nan = op.IsNaN(x)
    is_fine = op.Not(is_nan)
    values, _, inverse, counts = op.Unique(op.Compress(x, is_fine), sorted=1)
    wrong = op.Compress(x, is_nan)
    # The place of each element among the numbers, or among those that are none.
    fine_place = op.CumSum(op.Cast(is_fine, to=INT64.dtype), 0) - 1
    wrong_place = op.CumSum(op.Cast(is_nan, to=INT64.dtype), 0) - 1 + op.Size(values)
    found = op.Gather(op.Concat(inverse, [0], axis=0), op.Max(fine_place, 0), axis=0)
    ones = op.Cast(wrong != wrong, to=INT64.dtype)
    return (op.Concat(values, wrong, axis=0), op.Where(is_nan, wrong_place, found),
            op.Concat(counts, ones, axis=0))  # fmt: skip


@aten("unique_dim.default")
def unique_dim(self, dim, sorted=True, return_inverse=False, return_counts=False):
    values, _, inverse, counts = op.Unique(comparable(self), axis=dim, sorted=1)
    return cast(values, self.dtype), inverse, counts


@aten("nanmedian.default")
def nanmedian(self):
    return nanmedian_dim(op.Reshape(self, [-1]), 0, False)[0]


@aten("mode.default")
def mode(self, dim=-1, keepdim=False):
    if self.ndim == 0:
        return sorted_by(self, 0, False)
    dim = axis(dim, self.ndim)
    # How often each element occurs; of those that occur most the least value, at its last place.
    same = op.Unsqueeze(self, [dim]) == op.Unsqueeze(self, [dim + 1])
    count = op.ReduceSum(op.Cast(same, to=INT64.dtype), [dim + 1], keepdims=0)
    most = op.ReduceMax(count, [dim], keepdims=1)
    is_most = count == most
    # In a type that has all values of the tensor's.
    wide = op.Cast(self, to=DOUBLE.dtype if kind(self.dtype) == 2 else INT64.dtype)
    values = op.Where(is_most, wide, highest(wide.dtype))
    least = op.ReduceMin(values, [dim], keepdims=1)
    place = op.ArgMax(
        op.Cast(is_most & (values == least), to=INT32.dtype), axis=dim, keepdims=1,
        select_last_index=1,
    )  # fmt: skip
    value = op.GatherElements(self, place, axis=dim)
    if keepdim:
        return value, place
    return op.Squeeze(value, [dim]), op.Squeeze(place, [dim])


@aten("nanmedian.dim")
def nanmedian_dim(self, dim, keepdim=False):
    if self.ndim == 0 or kind(self.dtype) != 2:
        return median_dim(self, dim, keepdim)
    dim = axis(dim, self.ndim)
    # NaN goes behind all others.
    high = op.Where(op.IsNaN(self), math.inf, self)
    _, places = sorted_by(high, dim, False)
    values = op.GatherElements(self, places, axis=dim)
    count = op.ReduceSum(op.Cast(op.Not(op.IsNaN(self)), to=INT64.dtype), [dim], keepdims=1)
    middle = op.Max((count - 1) // 2, 0)
    value = op.GatherElements(values, middle, axis=dim)
    place = op.GatherElements(places, middle, axis=dim)
    if keepdim:
        return value, place
    return op.Squeeze(value, [dim]), op.Squeeze(place, [dim])


@inline
def nan_quantiles(self, q, dim, keepdim, interpolation):
    """Quantiles of what is a number, one after the other."""
    x = op.Reshape(self, [-1]) if dim is None else self
    at = 0 if dim is None else axis(dim, max(self.ndim, 1))
    x = op.Reshape(x, [1]) if x.ndim == 0 else x
    is_nan = op.IsNaN(x)
    values = sorted_by(op.Where(is_nan, math.inf, x), at, False)[0]
    count = op.ReduceSum(op.Cast(op.Not(is_nan), to=x.dtype), [at], keepdims=1)
    rank = op.Max(count - 1.0, op.CastLike(0.0, count)) * q
    below, above = neighbours(rank, interpolation)
    low = op.GatherElements(values, op.Cast(below, to=INT64.dtype), axis=at)
    high = op.GatherElements(values, op.Cast(above, to=INT64.dtype), axis=at)
    share = rank - below
    if interpolation == "midpoint":
        share = op.Where(share > 0.0, 0.5 + share * 0.0, share * 0.0)
    y = op.Where(share == 0.0, low, low + (high - low) * share)
    y = op.Where(count == 0.0, math.nan, y)
    if keepdim and self.ndim > 0:
        return op.Reshape(y, [1] * self.ndim) if dim is None else y
    return op.Squeeze(y, [at])


@aten("nanquantile.scalar")
def nanquantile_scalar(self, q, dim=None, keepdim=False, *, interpolation="linear"):
    return nan_quantiles(self, float(q), dim, keepdim, interpolation)


@aten("nanquantile.default")
def nanquantile(self, q, dim=None, keepdim=False, *, interpolation="linear"):
    if q.ndim == 0:
        return nan_quantiles(self, q, dim, keepdim, interpolation)
    rows = []
    for i in range(q.shape[0]):
        one = nan_quantiles(self, op.Gather(q, i, axis=0), dim, keepdim, interpolation)
        rows.append(op.Unsqueeze(one, [0]))
    return op.Concat(*rows, axis=0)
