"""Elements by their places: gather, scatter, masks, embeddings."""

import numpy as np
from sardonyx import BOOL, DOUBLE, FLOAT, INT32, INT64

from .declare import aten, inline, op
from .types import (
    END,
    axis,
    cast,
    full_of,
    highest,
    is_half,
    kind,
    lowest,
    moved,
    picked,
    result_type,
    tensor,
)


@inline
def as_places(index):
    """Indices as ONNX wants them."""
    return cast(index, INT64.dtype)


@aten("embedding.default")
def embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    return op.Gather(weight, indices, axis=0)


@aten("index_select.default")
def index_select(self, dim, index):
    if self.ndim == 0:
        return op.Identity(self)
    return op.Gather(self, op.Reshape(index, [-1]) if index.ndim == 0 else index, axis=dim)


@inline
def wide(x):
    return op.Reshape(x, [1]) if x.ndim == 0 else x


@aten("gather.default")
def gather(self, dim, index, *, sparse_grad=False):
    y = op.GatherElements(wide(self), wide(as_places(index)), axis=dim)
    return y if index.ndim > 0 else op.Squeeze(y, [0])


@aten("take_along_dim.default")
def take_along_dim(self, indices, dim=None):
    if dim is None:
        return op.GatherElements(op.Reshape(self, [-1]), op.Reshape(indices, [-1]), axis=0)
    dim = axis(dim, self.ndim)
    rank = self.ndim
    ours = [1 if one == dim else self.shape[one] for one in range(rank)]
    theirs = [1 if one == dim else indices.shape[one] for one in range(rank)]
    indices = op.Expand(as_places(indices), ours)
    return op.GatherElements(op.Expand(self, theirs), indices, axis=dim)


@aten("take.default")
def take(self, index):
    flat = op.Reshape(self, [-1])
    return op.Gather(flat, index, axis=0)


# --- Several index tensors


@inline
def places_of(indices):
    """Masks as the places of what they choose; the rest as INT64, None where all is chosen."""
    found = []
    for index in indices:
        if index is None:
            found.append(None)
        elif index.dtype == BOOL.dtype or index.dtype.name == "UINT8":
            rows = op.NonZero(cast(index, BOOL.dtype))
            for i in range(index.ndim):
                found.append(op.Gather(rows, i, axis=0))
        else:
            found.append(as_places(index))
    return found


@inline
def at_front(x, places):
    """The indexed dimensions first; and the order that puts them there."""
    chosen = [i for i in range(len(places)) if places[i] is not None]
    rest = [i for i in range(x.ndim) if i not in chosen]
    perm = chosen + rest
    return (op.Transpose(x, perm=perm) if perm != list(range(x.ndim)) else x), perm


@inline
def joined_places(x, places):
    """Index tensors broadcast against each other and put side by side, for GatherND."""
    chosen = [one for one in places if one is not None]
    total = chosen[0]
    for one in chosen[1:]:
        total = total + one * 0
    shape = total.shape
    columns = []
    for one in chosen:
        same = one if len(chosen) == 1 else (op.Expand(one, shape) if total.ndim > 0 else one)
        columns.append(op.Unsqueeze(same, [-1]))
    return op.Concat(*columns, axis=-1) if len(columns) > 1 else columns[0]


@aten("index.Tensor", "_unsafe_index.Tensor")
def index(self, indices):
    places = places_of(indices)
    chosen = [i for i in range(len(places)) if places[i] is not None]
    if len(chosen) == 0:
        return op.Identity(self)
    first, count = chosen[0], len(chosen)
    if count == 1:
        return op.Gather(self, places[first], axis=first)
    x, _ = at_front(self, places)
    joined = joined_places(x, places)
    y = op.GatherND(x, joined)
    rank = joined.ndim - 1
    is_together = chosen == list(range(first, first + count))
    if not is_together or first == 0:
        return y
    # The dimensions of the indices stand where the first indexed dimension was.
    perm = [*range(rank, rank + first), *range(rank), *range(rank + first, y.ndim)]
    return op.Transpose(y, perm=perm)


@aten("index_put.default", "_unsafe_index_put.default")
def index_put(self, indices, values, accumulate=False):
    values = cast(values, self.dtype)
    mask = indices[0]
    if len(indices) == 1 and mask is not None and mask.dtype == BOOL.dtype and values.ndim == 0:
        where = (
            mask
            if mask.ndim == self.ndim
            else op.Unsqueeze(mask, list(range(mask.ndim, self.ndim)))
        )
        if accumulate:
            values = op.Or(self, values) if self.dtype == BOOL.dtype else self + values
        return picked(where, values, self, self.dtype)
    places = places_of(indices)
    x, perm = at_front(self, places)
    chosen = [i for i in range(len(places)) if places[i] is not None]
    joined = joined_places(x, places)
    rank, first, count = joined.ndim - 1, chosen[0], len(chosen)
    rest = list(x.shape[count:])
    shape = [*joined.shape[:-1], *rest]
    is_together = chosen == list(range(first, first + count))
    if is_together and first > 0:
        # Values have the dimensions of the indices in the middle.
        middle = [*rest[:first], *joined.shape[:-1], *rest[first:]]
        values = op.Expand(values, middle)
        values = op.Transpose(values, perm=[*range(first, first + rank), *range(first),
                                            *range(first + rank, len(middle))])  # fmt: skip
    elif len(shape) > 0:
        values = op.Expand(values, shape)
    if accumulate:
        y = reduced_at(lambda x, v: op.ScatterND(x, joined, v, reduction="add"), x, values)
    else:
        y = op.ScatterND(x, joined, values)
    if perm == list(range(self.ndim)):
        return y
    back = [perm.index(i) for i in range(self.ndim)]
    return op.Transpose(y, perm=back)


# --- Scatter


@inline
def reduced_at(f, x, values, reduction="add"):
    """`f`, a scatter with a reduction, which ONNX Runtime has neither for BOOL nor for FLOAT16."""
    if reduction == "none" or not (is_half(x.dtype) or x.dtype == BOOL.dtype):
        return f(x, values)
    wider = FLOAT.dtype if is_half(x.dtype) else INT32.dtype
    return op.Cast(f(op.Cast(x, to=wider), op.Cast(values, to=wider)), to=x.dtype)


@inline
def scattered(self, dim, index, values, reduction):
    index = wide(as_places(index))
    y = reduced_at(lambda x, v: op.ScatterElements(x, index, v, axis=dim, reduction=reduction),
                   wide(self), wide(values), reduction)  # fmt: skip
    return y if self.ndim > 0 else op.Squeeze(y, [0])


@inline
def cut(src, index):
    """As much of the values as there are places."""
    if src.ndim == 0 or (src.type.shape == index.type.shape and None not in src.type.shape):
        return src
    ends = list(index.shape)
    return op.Slice(src, [0] * src.ndim, ends, list(range(src.ndim)))


@inline
def filled_like(index, value, dtype):
    return op.Expand(tensor(value, dtype), index.shape) if index.ndim > 0 else tensor(value, dtype)


_REDUCTIONS = {"add": "add", "sum": "add", "multiply": "mul", "prod": "mul", "amax": "max",
               "amin": "min"}  # fmt: skip


@aten("scatter.src")
def scatter(self, dim, index, src):
    return scattered(self, dim, index, cut(src, index), "none")


@aten("scatter.value")
def scatter_value(self, dim, index, value):
    return scattered(self, dim, index, filled_like(index, value, self.dtype), "none")


@aten("scatter.reduce")
def scatter_by(self, dim, index, src, *, reduce):
    return scattered(self, dim, index, cut(src, index), _REDUCTIONS[reduce])


@aten("scatter.value_reduce")
def scatter_value_by(self, dim, index, value, *, reduce):
    values = filled_like(index, value, self.dtype)
    return scattered(self, dim, index, values, _REDUCTIONS[reduce])


@aten("scatter_add.default")
def scatter_add(self, dim, index, src):
    return scattered(self, dim, index, cut(src, index), "add")


@inline
def neutral(reduce, dtype):
    if reduce == "amax":
        return lowest(dtype)
    if reduce == "amin":
        return highest(dtype)
    return 1 if reduce == "prod" else 0


@aten("scatter_reduce.two")
def scatter_reduce(self, dim, index, src, reduce, *, include_self=True):
    values = cut(src, index)
    one = filled_like(index, 1, self.dtype)
    base = self
    if not include_self:
        nothing = filled_like(index, neutral(reduce, self.dtype), self.dtype)
        base = scattered(self, dim, index, nothing, "none")
    if reduce != "mean":
        return scattered(base, dim, index, values, _REDUCTIONS[reduce])
    total = scattered(base, dim, index, values, "add")
    start = filled_like(self, 1, self.dtype)
    if not include_self:
        start = scattered(start, dim, index, filled_like(index, 0, self.dtype), "none")
    count = scattered(start, dim, index, one, "add")
    count = op.Max(count, tensor(1, self.dtype))
    return total / count if kind(self.dtype) == 2 else total // count


@inline
def along(self, dim, index, source):
    """One index for each slice along a dimension, as indices of elements."""
    places = op.Reshape(as_places(index), [-1 if i == dim else 1 for i in range(self.ndim)])
    return op.Expand(places, [1 if i == dim else self.shape[i] for i in range(self.ndim)])


@aten("index_add.default")
def index_add(self, dim, index, source, *, alpha=1):
    source = cast(source, self.dtype)
    source = source if alpha == 1 else source * alpha
    if self.ndim == 0:
        return self + (
            op.Reshape(source, np.array([], dtype=np.int64)) if source.ndim > 0 else source
        )
    dim = axis(dim, self.ndim)
    return scattered(self, dim, along(self, dim, index, source), source, "add")


@aten("index_copy.default")
def index_copy(self, dim, index, source):
    if self.ndim == 0:
        return op.Reshape(source, np.array([], dtype=np.int64)) if source.ndim > 0 else source
    dim = axis(dim, self.ndim)
    places = along(self, dim, index, source)
    return op.ScatterElements(self, places, op.Reshape(source, places.shape), axis=dim)


@aten("index_fill.int_Scalar", "index_fill.int_Tensor")
def index_fill(self, dim, index, value):
    filling = tensor(value, self.dtype)
    if self.ndim == 0:
        return filling
    dim = axis(dim, self.ndim)
    places = along(self, dim, index, self)
    return op.ScatterElements(self, places, op.Expand(filling, places.shape), axis=dim)


@aten("index_reduce.default")
def index_reduce(self, dim, index, source, reduce, *, include_self=True):
    if self.ndim == 0:
        y = scatter_reduce(op.Reshape(self, [1]), 0, op.Reshape(index, [1]),
                           op.Reshape(source, [1]), reduce, include_self=include_self)  # fmt: skip
        return op.Squeeze(y, [0])
    dim = axis(dim, self.ndim)
    places = along(self, dim, index, source)
    return scatter_reduce(self, dim, places, source, reduce, include_self=include_self)


# --- Masks


@aten("masked_fill.Scalar", "masked_fill.Tensor")
def masked_fill(self, mask, value):
    return picked(cast(mask, BOOL.dtype), value, self, self.dtype)


@aten("masked_select.default")
def masked_select(self, mask):
    mask = cast(mask, BOOL.dtype)
    if self.type.shape != mask.type.shape or None in self.type.shape:
        self = op.Expand(self, mask.shape) if mask.ndim > 0 else self
        mask = op.Expand(mask, self.shape) if self.ndim > 0 else mask
    kept = op.Reshape(mask, [-1])
    return moved(lambda v: op.Compress(v, kept), op.Reshape(self, [-1]))


@aten("masked_scatter.default")
def masked_scatter(self, mask, source):
    wanted = cast(mask, BOOL.dtype)
    base = op.Expand(self, mask.shape) if mask.ndim > self.ndim else self
    flat = op.Reshape(op.Expand(wanted, base.shape) if base.ndim > 0 else wanted, [-1])
    order = op.CumSum(op.Cast(flat, to=INT64.dtype), 0) - 1
    values = op.Gather(op.Reshape(source, [-1]), op.Max(order, 0), axis=0)
    y = picked(flat, values, op.Reshape(base, [-1]), self.dtype)
    return op.Reshape(y, base.shape, allowzero=1) if base.ndim > 0 else op.Squeeze(y, [0])


@inline
def places_other_than_zero(x):
    """ONNX Runtime has no kernel of NonZero for DOUBLE and most integers."""
    is_wide = x.dtype == INT32.dtype or x.dtype == INT64.dtype
    return op.NonZero(x if is_wide or x.dtype == FLOAT.dtype else cast(x, BOOL.dtype))


@aten("nonzero.default", "argwhere.default")
def nonzero(self):
    if self.ndim == 0:
        found = places_other_than_zero(op.Reshape(self, [1]))
        return op.Slice(op.Transpose(found), [0], [0], [1])
    return op.Transpose(places_other_than_zero(self))


@aten("nonzero_numpy.default")
def nonzero_numpy(self):
    found = places_other_than_zero(self if self.ndim > 0 else op.Reshape(self, [1]))
    return [op.Gather(found, i, axis=0) for i in range(max(self.ndim, 1))]


@aten("one_hot.default")
def one_hot(self, num_classes=-1):
    depth = num_classes
    if num_classes == -1:
        depth = op.ReduceMax(self, keepdims=0) + 1
    if len(self.shape) == 0:  # OneHot takes no scalars
        return op.Reshape(op.OneHot(op.Reshape(self, [1]), depth, [0, 1], axis=-1), [-1])
    return op.OneHot(self, depth, [0, 1], axis=-1)


@aten("bucketize.Tensor", "bucketize.Scalar")
def bucketize(self, boundaries, *, out_int32=False, right=False):
    return counted(tensor(self), boundaries, out_int32, right)


@inline
def counted(x, edges, out_int32, right):
    """How many edges are below each value."""
    dtype = result_type(x, edges)
    column = op.Unsqueeze(cast(x, dtype), [-1])
    edges = cast(edges, dtype)
    # NaN lies behind all edges.
    below = op.Not(edges > column if right else edges >= column)
    from_ints = op.ReduceSum(op.Cast(below, to=INT64.dtype), [-1], keepdims=0)
    return op.Cast(from_ints, to=6) if out_int32 else from_ints


@aten("isin.Tensor_Tensor")
def isin(elements, test_elements, *, assume_unique=False, invert=False):
    return are_among(elements, test_elements, invert)


@aten("isin.Tensor_Scalar")
def isin_scalar(elements, test_element, *, assume_unique=False, invert=False):
    return are_among(elements, test_element, invert)


@aten("isin.Scalar_Tensor")
def isin_tensor(element, test_elements, *, assume_unique=False, invert=False):
    return are_among(element, test_elements, invert)


@aten("where.default")
def where_of(condition):
    return nonzero_numpy(condition)


@aten("bincount.default")
def bincount(self, weights=None, minlength=0):
    # The count of a tensor without elements is `minlength`.
    most = op.ReduceMax(op.Concat(as_places(self), [minlength - 1], axis=0), keepdims=0)
    start = full_of([most + 1], 0, INT64.dtype)
    if weights is None:
        ones = op.Expand(tensor(1, INT64.dtype), self.shape)
        return op.ScatterElements(start, as_places(self), ones, axis=0, reduction="add")
    dtype = weights.dtype if weights.dtype == FLOAT.dtype else DOUBLE.dtype
    start, weights = cast(start, dtype), cast(weights, dtype)
    return op.ScatterElements(start, as_places(self), weights, axis=0, reduction="add")


@inline
def are_among(elements, test_elements, invert):
    dtype = result_type(elements, test_elements)
    row = op.Reshape(tensor(test_elements, dtype), [-1])
    same = op.Unsqueeze(tensor(elements, dtype), [-1]) == row
    found = op.Cast(op.ReduceMax(op.Cast(same, to=6), [-1], keepdims=0), to=BOOL.dtype)
    return op.Not(found) if invert else found


@aten("put.default")
def put(self, index, source, accumulate=False):
    flat = op.Reshape(self, [-1])
    places, values = op.Reshape(index, [-1]), op.Reshape(source, [-1])
    if accumulate:
        y = scattered(flat, 0, places, values, "add")
    else:
        y = op.ScatterElements(flat, places, values, axis=0)
    return op.Reshape(y, self.shape, allowzero=1) if self.ndim > 0 else op.Squeeze(y, [0])


@aten("searchsorted.Tensor", "searchsorted.Scalar")
def searchsorted(sorted_sequence, self, *, out_int32=False, right=False, side=None, sorter=None):
    edges = sorted_sequence
    if sorter is not None:
        edges = op.GatherElements(edges, sorter, axis=-1)
    is_right = right or side == "right"
    x = tensor(self)
    if edges.ndim > 1:
        edges = op.Unsqueeze(edges, [-2])
    return counted(x, edges, out_int32, is_right)


@aten("embedding_bag.padding_idx", "embedding_bag.default", "_embedding_bag.default",
      "_embedding_bag_forward_only.default")  # fmt: skip
def embedding_bag(weight, indices, offsets, scale_grad_by_freq=False, mode=0, sparse=False,
                  per_sample_weights=None, include_last_offset=False, padding_idx=-1):  # fmt: skip
    padding = None if padding_idx is None or padding_idx < 0 else padding_idx
    flat = op.Reshape(indices, [-1])
    rows = op.Gather(weight, flat, axis=0)
    ends = offsets if not include_last_offset else op.Slice(offsets, [0], [-1], [0])
    places = op.Unsqueeze(op.Range(0, flat.shape[0], 1), [0])
    begin = op.Unsqueeze(cast(ends, INT64.dtype), [1])
    after = op.Concat(op.Slice(begin, [1], [END], [0]),
                      op.Reshape(flat.shape[0], [1, 1]), axis=0)  # fmt: skip
    inside = (places >= begin) & (places < after)
    if padding is not None:
        inside = inside & op.Unsqueeze(flat != padding, [0])
    member = op.Cast(inside, to=weight.dtype)
    count = op.ReduceSum(member, [1], keepdims=1)
    if include_last_offset and padding is None and weight.dtype != DOUBLE.dtype:
        # PyTorch's fast kernel ends the last bag at the last offset, but counts to the last index.
        last = op.Slice(cast(offsets, INT64.dtype), [-1], [END], [0])
        member = member * op.Cast(places < op.Unsqueeze(last, [1]), to=weight.dtype)
    if mode == 2:
        low = op.Where(op.Unsqueeze(inside, [2]), op.Unsqueeze(rows, [0]), lowest(weight.dtype))
        found = op.ReduceMax(low, [1], keepdims=0)
        bag = op.Where(count > 0.0, found, 0.0)
        # The index of each element of the bag.
        greatest = op.Gather(flat, op.ArgMax(low, axis=1, keepdims=0), axis=0)
        greatest = op.Where(count > 0.0, greatest, op.CastLike(0, greatest))
    else:
        if per_sample_weights is not None:
            rows = rows * op.Unsqueeze(op.Reshape(per_sample_weights, [-1]), [1])
        bag = op.MatMul(member, rows)
        if mode == 1:
            bag = bag / op.Max(count, cast(1.0, weight.dtype))
    bag_of = op.ReduceSum(op.Cast(places >= begin, to=INT64.dtype), [0], keepdims=0) - 1
    # Sums need no sizes, and PyTorch leaves zeros for them.
    sizes = op.Cast(op.Squeeze(count * 0.0 if mode == 0 else count, [1]), to=INT64.dtype)
    return bag, bag_of, sizes, greatest if mode == 2 else sizes


@aten("repeat_interleave.self_Tensor")
def repeat_interleave_by(self, repeats, dim=None, *, output_size=None):
    x, dim = (op.Reshape(self, [-1]), 0) if dim is None else (self, axis(dim, self.ndim))
    count = as_places(repeats)
    n = x.shape[dim]
    if count.ndim == 0 or count.type.shape[0] == 1:
        count = op.Expand(op.Reshape(count, [1]), [n])
    ends = op.CumSum(count, 0)
    total = op.ReduceSum(count, keepdims=0)
    places = op.Unsqueeze(op.Range(0, total, 1), [1])
    # Each place belongs to the first element whose end is behind it.
    before = op.Cast(op.Unsqueeze(ends, [0]) <= places, to=INT64.dtype)
    return op.Gather(x, op.ReduceSum(before, [1], keepdims=0), axis=dim)


@aten("repeat_interleave.Tensor")
def repeat_interleave_places(repeats, *, output_size=None):
    return repeat_interleave_by(op.Range(0, repeats.shape[0], 1), repeats, 0)


@inline
def clamped(self, indices):
    """Indices of which those outside of the tensor, where a mask is false, are put inside."""
    safe = []
    for i in range(len(indices)):
        one = indices[i]
        if one is not None:
            limit = op.CastLike(self.shape[i] - 1, one)
            one = op.Max(op.Min(one, limit), -limit - 1)
        safe.append(one)
    return safe


@inline
def over_rest(mask, x):
    """The mask of the first axes of x, for all axes."""
    more = list(range(mask.ndim, x.ndim))
    return mask if len(more) == 0 else op.Unsqueeze(mask, more)


@aten("_unsafe_masked_index.default")
def unsafe_masked_index(self, mask, indices, fill):
    found = index(self, clamped(self, indices))
    inside = over_rest(mask, found)
    return picked(cast(inside, BOOL.dtype), found, fill, self.dtype)


@inline
def unpooled(self, indices, output_size, n):
    """Each element back to its place within its channel, zeros elsewhere."""
    x = op.Unsqueeze(self, [0]) if self.ndim < n + 2 else self
    places = op.Unsqueeze(indices, [0]) if self.ndim < n + 2 else indices
    batch, channels = x.shape[0], x.shape[1]
    size = 1
    for one in output_size:
        size = size * one
    empty = op.Expand(tensor(0, x.dtype), [batch, channels, size])
    values = op.Reshape(x, [batch, channels, -1])
    y = op.ScatterElements(empty, op.Reshape(places, [batch, channels, -1]), values, axis=2)
    y = op.Reshape(y, [batch, channels, *output_size])
    return op.Squeeze(y, [0]) if self.ndim < n + 2 else y


@aten("max_unpool2d.default")
def max_unpool2d(self, indices, output_size):
    return unpooled(self, indices, output_size, 2)


@aten("max_unpool3d.default")
def max_unpool3d(self, indices, output_size, stride, padding):
    return unpooled(self, indices, output_size, 3)


@aten("nonzero_static.default")
def nonzero_static(self, *, size, fill_value=-1):
    found = nonzero(self)
    fill = op.Expand(tensor(fill_value, INT64.dtype), [size, found.shape[1]])
    return op.Slice(op.Concat(found, fill, axis=0), [0], [size], [0])
