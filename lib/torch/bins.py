"""Histograms, segments, differences along a grid, and what gradients of a few operators are."""

import math

from sardonyx import INT64

from .declare import aten, inline, op
from .index import clamped, counted, index_put, over_rest, scattered
from .types import END, axes, axis, cast, floating, picked, tensor

# --- Histograms


@inline
def edges_between(low, high, count):
    """The ends of so many bins; of values that are all the same, half a unit to each side."""
    is_flat = low == high
    low, high = op.Where(is_flat, low - 0.5, low), op.Where(is_flat, high + 0.5, high)
    places = op.Cast(op.Range(0, count + 1, 1), to=low.dtype)
    step = (high - low) / float(count)
    # torch.linspace goes from both ends to the middle.
    return op.Where(places < (count + 1) // 2, low + step * places,
                    high - step * (float(count) - places))  # fmt: skip


@inline
def edges_of(x, bins, low, high):
    """The edges along one column of values; `bins` are their number or themselves."""
    if not isinstance(bins, int):
        return bins
    if low is None:
        return edges_between(op.ReduceMin(x, keepdims=0), op.ReduceMax(x, keepdims=0), bins)
    return edges_between(tensor(float(low), x.dtype), tensor(float(high), x.dtype), bins)


@inline
def bin_of(x, edges):
    """The place of each value, and whether it has one; the last edge belongs to the last bin."""
    last = edges.shape[0] - 1
    place = counted(x, edges, False, True) - 1
    place = op.Where(x == op.Gather(edges, last, axis=0), last - 1, place)
    inside = (place >= 0) & (place < last) & (x == x)
    return op.Where(inside, place, 0), inside


@inline
def densities(hist, weights, edges, density):
    """Counts, or shares by the sizes of their bins."""
    if not density:
        return hist
    hist = hist / op.ReduceSum(hist, keepdims=0)
    for i in range(len(edges)):
        width = op.Slice(edges[i], [1], [END], [0]) - op.Slice(edges[i], [0], [-1], [0])
        hist = hist / op.Reshape(width, [-1 if k == i else 1 for k in range(len(edges))])
    return hist


@inline
def summed_bins(place, inside, weight, size, dtype):
    one = tensor(1.0, dtype)
    values = op.Expand(one, place.shape) if weight is None else op.Reshape(weight, [-1])
    values = op.Where(inside, values, tensor(0.0, dtype))
    start = op.Expand(tensor(0.0, dtype), [size])
    return op.ScatterElements(start, place, values, axis=0, reduction="add")


@inline
def histogram_of(self, bins, low, high, weight, density):
    x = op.Reshape(self, [-1])
    edges = edges_of(x, bins, low, high)
    place, inside = bin_of(x, edges)
    hist = summed_bins(place, inside, weight, edges.shape[0] - 1, self.dtype)
    return densities(hist, weight, [edges], density), op.Identity(edges)


@aten("histogram.bin_ct")
def histogram(self, bins=100, *, range=None, weight=None, density=False):
    low, high = (None, None) if range is None else (range[0], range[1])
    return histogram_of(self, bins, low, high, weight, density)


@aten("histogram.bins_tensor")
def histogram_bins(self, bins, *, weight=None, density=False):
    return histogram_of(self, bins, None, None, weight, density)


@aten("histogramdd.default", "histogramdd.TensorList_bins")
def histogramdd(self, bins, range=None, weight=None, density=False):
    return histogram_of_many(self, list(bins), range, weight, density)


@aten("histogramdd.int_bins")
def histogramdd_int(self, bins, range=None, weight=None, density=False):
    count = self.type.shape[self.ndim - 1]
    return histogram_of_many(self, [bins] * count, range, weight, density)


@inline
def histogram_of_many(self, bins, limits, weight, density):
    count = len(bins)
    rows = op.Reshape(self, [-1, count])
    place, inside, edges = 0, True, []
    for i in range(count):
        x = op.Gather(rows, i, axis=1)
        low, high = (None, None) if limits is None else (limits[2 * i], limits[2 * i + 1])
        edges.append(edges_of(x, bins[i], low, high))
        one, is_in = bin_of(x, edges[i])
        place = one if i == 0 else place * (edges[i].shape[0] - 1) + one
        inside = is_in if i == 0 else inside & is_in
    sizes = [one.shape[0] - 1 for one in edges]
    hist = summed_bins(place, inside, weight, math.prod(sizes), self.dtype)
    hist = densities(op.Reshape(hist, sizes), weight, edges, density)
    return hist, [op.Identity(one) for one in edges]


# --- Segments


@aten("segment_reduce.default")
def segment_reduce(data, reduce, *, lengths=None, indices=None, offsets=None, axis=0,
                   unsafe=False, initial=None):  # fmt: skip
    assert indices is None, "segment_reduce by indices"
    at = axis + data.ndim if axis < 0 else axis
    if lengths is not None:
        count = cast(lengths, INT64.dtype)
        end = op.CumSum(count, at)
        start = end - count
    else:
        ends = cast(offsets, INT64.dtype)
        start, end = op.Slice(ends, [0], [-1], [at]), op.Slice(ends, [1], [END], [at])
    places = op.Range(0, data.shape[at], 1)
    inside = (places >= op.Unsqueeze(start, [-1])) & (places < op.Unsqueeze(end, [-1]))
    size = op.ReduceSum(op.Cast(inside, to=INT64.dtype), [-1], keepdims=0)
    more = data.ndim - at - 1
    if more > 0:
        inside = op.Unsqueeze(inside, list(range(at + 2, at + 2 + more)))
        size = op.Unsqueeze(size, list(range(at + 1, at + 1 + more)))
    values = op.Unsqueeze(data, [at])
    if reduce == "max" or reduce == "min":
        none = -math.inf if reduce == "max" else math.inf
        values = op.Where(inside, values, none)
        if reduce == "max":
            y = op.ReduceMax(values, [at + 1], keepdims=0)
            return y if initial is None else op.Max(y, tensor(float(initial), y.dtype))
        y = op.ReduceMin(values, [at + 1], keepdims=0)
        return y if initial is None else op.Min(y, tensor(float(initial), y.dtype))
    if reduce == "prod":
        y = op.ReduceProd(op.Where(inside, values, 1.0), [at + 1], keepdims=0)
        return y if initial is None else y * float(initial)
    y = op.ReduceSum(op.Where(inside, values, 0.0), [at + 1], keepdims=0)
    y = y if initial is None else y + float(initial)
    if reduce == "sum":
        return y
    assert reduce == "mean", f"segment_reduce({reduce!r})"
    share = y / op.Cast(op.Max(size, 1), to=y.dtype)
    nothing = math.nan if initial is None else float(initial)
    return op.Where(size > 0, share, nothing)


@aten("_chunk_cat.default")
def chunk_cat(tensors, dim, num_chunks):
    at = axis(dim, tensors[0].ndim)
    rows = []
    for one in tensors:
        size = one.shape[at]
        length = (size + num_chunks - 1) // num_chunks
        pads = [0] * (2 * one.ndim - 1)
        pads.insert(one.ndim + at, length * num_chunks - size)
        whole = op.Pad(one, pads)
        rows.append(op.Reshape(whole, [*one.shape[:at], num_chunks, -1]))
    return op.Concat(*rows, axis=at + 1) if len(rows) > 1 else rows[0]


# --- Differences along a grid


@inline
def part(x, first, last, dim):
    return op.Slice(x, [first], [last], [dim])


@inline
def slope_even(x, h, dim, edge_order):
    """Central differences; at the ends one-sided ones, of two or three places."""
    middle = (part(x, 2, END, dim) - part(x, 0, -2, dim)) / (2.0 * h)
    first, last = part(x, 0, 1, dim), part(x, -1, END, dim)
    second, before = part(x, 1, 2, dim), part(x, -2, -1, dim)
    if edge_order == 1:
        return op.Concat((second - first) / h, middle, (last - before) / h, axis=dim)
    third, far = part(x, 2, 3, dim), part(x, -3, -2, dim)
    head = (second * 2.0 - first * 1.5 - third * 0.5) / h
    tail = (last * 1.5 - before * 2.0 + far * 0.5) / h
    return op.Concat(head, middle, tail, axis=dim)


@inline
def slope_at(x, places, dim, edge_order):
    """The same on places that are not even."""
    step = op.Slice(places, [1], [END], [0]) - op.Slice(places, [0], [-1], [0])
    wide = op.Reshape(step, [-1 if i == dim else 1 for i in range(x.ndim)])
    a, b = part(wide, 0, -1, dim), part(wide, 1, END, dim)
    middle = (part(x, 0, -2, dim) * -b / (a * (a + b)) + part(x, 1, -1, dim) * (b - a) / (a * b)
              + part(x, 2, END, dim) * a / (b * (a + b)))  # fmt: skip
    first, last = part(x, 0, 1, dim), part(x, -1, END, dim)
    second, before = part(x, 1, 2, dim), part(x, -2, -1, dim)
    c, d = part(wide, 0, 1, dim), part(wide, -1, END, dim)
    if edge_order == 1:
        return op.Concat((second - first) / c, middle, (last - before) / d, axis=dim)
    third, far = part(x, 2, 3, dim), part(x, -3, -2, dim)
    e, f = part(wide, 1, 2, dim), part(wide, -2, -1, dim)
    head = (first * -(c * 2.0 + e) / (c * (c + e)) + second * (c + e) / (c * e)
            - third * c / (e * (c + e)))  # fmt: skip
    tail = (far * d / (f * (d + f)) - before * (d + f) / (d * f)
            + last * (d * 2.0 + f) / (d * (d + f)))  # fmt: skip
    return op.Concat(head, middle, tail, axis=dim)


@inline
def slopes(x, spacing, dim, edge_order):
    """`spacing` is a number for each dimension, or the places along it."""
    dims = axes(dim, x.ndim)
    if isinstance(dim, (list, tuple)):
        dims = [axis(one, x.ndim) for one in dim]
    x, found = floating(x), []
    for i in range(len(dims)):
        one = spacing[i] if isinstance(spacing, (list, tuple)) else spacing
        if one is None or isinstance(one, (int, float)):
            h = 1.0 if one is None else float(one)
            found.append(slope_even(x, h, dims[i], edge_order))
        else:
            found.append(slope_at(x, one, dims[i], edge_order))
    return found


@aten("gradient.scalarint", "gradient.scalarrayint", "gradient.tensorarrayint")
def gradient(self, *, spacing=None, dim=None, edge_order=1):
    return slopes(self, spacing, dim, edge_order)


@aten("gradient.scalararray", "gradient.scalarrayarray", "gradient.tensorarray")
def gradient_along(self, *, spacing, dim, edge_order=1):
    return slopes(self, spacing, dim, edge_order)


@aten("gradient.array")
def gradient_array(self, *, dim, edge_order=1):
    return slopes(self, None, dim, edge_order)


# --- Gradients of operators, as torch's own functions call them


@aten("_softmax_backward_data.default")
def softmax_backward_data(grad_output, output, dim, input_dtype):
    product = grad_output * output
    if output.ndim == 0:
        return cast(product - output * product, input_dtype)
    return cast(product - output * op.ReduceSum(product, [dim], keepdims=1), input_dtype)


@aten("_log_softmax_backward_data.default")
def log_softmax_backward_data(grad_output, output, dim, input_dtype):
    if output.ndim == 0:
        return cast(grad_output - op.Exp(output) * grad_output, input_dtype)
    total = op.ReduceSum(grad_output, [dim], keepdims=1)
    return cast(grad_output - op.Exp(output) * total, input_dtype)


@aten("native_dropout_backward.default")
def native_dropout_backward(grad_output, mask, scale):
    given = floating(grad_output)
    return given * cast(mask, given.dtype) * float(scale)


@aten("max_pool2d_with_indices_backward.default")
def max_pool2d_with_indices_backward(grad_output, self, kernel_size, stride, padding, dilation,
                                     ceil_mode, indices):  # fmt: skip
    batch = list(self.shape[:-2])
    zero = op.Expand(tensor(0.0, self.dtype), [*batch, self.shape[-2] * self.shape[-1]])
    places = op.Reshape(indices, [*batch, -1])
    values = op.Reshape(grad_output, [*batch, -1])
    y = scattered(zero, self.ndim - 2, places, values, "add")
    return op.Reshape(y, self.shape, allowzero=1)


@aten("_unsafe_masked_index_put_accumulate.default")
def unsafe_masked_index_put_accumulate(self, mask, indices, values):
    # Places outside of the mask get nothing.
    kept = picked(over_rest(mask, values), values, 0, values.dtype)
    return index_put(self, clamped(self, indices), kept, True)
