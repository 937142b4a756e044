"""Pooling."""

import math

from sardonyx import DOUBLE, INT64

from .conv import batched
from .declare import aten, inline, op
from .types import cast, in_float, is_static, kind, repeated, wide


@inline
def poolable(x):
    """Integers that MaxPool has no form for as DOUBLE, which holds them all."""
    is_between = kind(x.dtype) == 1 and 8 < x.dtype.bitwidth < 64
    return op.Cast(x, to=DOUBLE.dtype) if is_between else wide(x)


@inline
def pooled_max(input, kernel_size, stride, padding, dilation, ceil_mode, n, indices):
    kernel = repeated(kernel_size, n)
    strides = (
        repeated(stride, n) if not isinstance(stride, (list, tuple)) or len(stride) > 0 else kernel
    )
    x = op.Unsqueeze(input, [0]) if input.ndim < n + 2 else input
    pads = repeated(padding, n) * 2
    y, places = op.MaxPool(poolable(x), kernel_shape=kernel, strides=strides, pads=pads,
                           dilations=repeated(dilation, n), ceil_mode=ceil_mode)  # fmt: skip
    y = cast(y, x.dtype)
    if indices:
        # torch counts places within a channel, ONNX in the whole tensor.
        size = math.prod(x.shape[2:])
        places = places % size
    if input.ndim < n + 2:
        return op.Squeeze(y, [0]), op.Squeeze(places, [0]) if indices else places
    return y, places


@aten("max_pool1d.default")
def max_pool1d(self, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False):
    return pooled_max(self, kernel_size, stride, padding, dilation, ceil_mode, 1, False)[0]


@aten("max_pool2d.default")
def max_pool2d(self, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False):
    return pooled_max(self, kernel_size, stride, padding, dilation, ceil_mode, 2, False)[0]


@aten("max_pool3d.default")
def max_pool3d(self, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False):
    return pooled_max(self, kernel_size, stride, padding, dilation, ceil_mode, 3, False)[0]


@aten("max_pool1d_with_indices.default")
def max_pool1d_with_indices(self, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False):
    return pooled_max(self, kernel_size, stride, padding, dilation, ceil_mode, 1, True)


@aten("max_pool2d_with_indices.default")
def max_pool2d_with_indices(self, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False):
    return pooled_max(self, kernel_size, stride, padding, dilation, ceil_mode, 2, True)


@aten("max_pool3d_with_indices.default")
def max_pool3d_with_indices(self, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False):
    return pooled_max(self, kernel_size, stride, padding, dilation, ceil_mode, 3, True)


@inline
def places_of_windows(size, kernel, stride, pad, ceil_mode):
    """How many windows there are; the last one begins in the input or the pads before it."""
    span = size + 2 * pad - kernel
    if not ceil_mode:
        return span // stride + 1
    count = (span + stride - 1) // stride + 1
    return count - 1 if (count - 1) * stride >= size + pad else count


@inline
def summed_windows(x, kernel, strides, pads, ceil_mode):
    """The sum of each window, with zeros where it is outside."""
    n = len(kernel)
    after = []
    for i in range(n):
        size = x.shape[x.ndim - n + i]
        count = places_of_windows(size, kernel[i], strides[i], pads[i], ceil_mode)
        after.append(max((count - 1) * strides[i] + kernel[i] - size - pads[i], 0))
    before = [0] * (x.ndim - n) + pads[:n]
    padded = op.Pad(wide(x), before + [0] * (x.ndim - n) + after)
    y = batched(lambda v: op.AveragePool(v, kernel_shape=kernel, strides=strides), padded, n + 2)
    return cast(y * float(math.prod(kernel)), x.dtype)


@inline
def pooled_average(self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor, n):
    kernel = repeated(kernel_size, n)
    strides = (
        repeated(stride, n) if not isinstance(stride, (list, tuple)) or len(stride) > 0 else kernel
    )
    pads = repeated(padding, n) * 2
    if divisor is not None:
        return summed_windows(self, kernel, strides, pads, ceil_mode) / float(divisor)
    y = batched(lambda v: op.AveragePool(
        v, kernel_shape=kernel, strides=strides, pads=pads, ceil_mode=ceil_mode,
        count_include_pad=count_include_pad), wide(self), n + 2)  # fmt: skip
    return cast(y, self.dtype)


@aten("avg_pool1d.default")
def avg_pool1d(self, kernel_size, stride=(), padding=0, ceil_mode=False, count_include_pad=True):
    return pooled_average(self, kernel_size, stride, padding, ceil_mode, count_include_pad, None, 1)


@aten("avg_pool2d.default")
def avg_pool2d(self, kernel_size, stride=(), padding=0, ceil_mode=False, count_include_pad=True,
               divisor_override=None):  # fmt: skip
    return pooled_average(self, kernel_size, stride, padding, ceil_mode, count_include_pad,
                          divisor_override, 2)  # fmt: skip


@aten("avg_pool3d.default")
def avg_pool3d(self, kernel_size, stride=(), padding=0, ceil_mode=False, count_include_pad=True,
               divisor_override=None):  # fmt: skip
    return pooled_average(self, kernel_size, stride, padding, ceil_mode, count_include_pad,
                          divisor_override, 3)  # fmt: skip


@inline
def averaged_in_parts(x, dim, want):
    """The means of as many parts of a dimension as a size of the run says."""
    have = x.shape[dim]
    k = op.Unsqueeze(op.Range(0, want, 1), [1])
    start, end = k * have // want, ((k + 1) * have + want - 1) // want
    places = op.Unsqueeze(op.Range(0, have, 1), [0])
    share = op.Cast((places >= start) & (places < end), to=x.dtype) / op.CastLike(end - start, x)
    perm = [*[i for i in range(x.ndim) if i != dim], dim]
    back = [i if i < dim else (x.ndim - 1 if i == dim else i - 1) for i in range(x.ndim)]
    y = op.MatMul(op.Transpose(x, perm=perm), op.Transpose(share, perm=[1, 0]))
    return op.Transpose(y, perm=back)


@inline
def adaptive(self, output_size, n, f):
    """Each output is `f` of its part of the input, one dimension after the other."""
    sizes = repeated(output_size, n)
    x = self
    for i in range(n):
        dim = x.ndim - n + i
        want, have = sizes[i], x.shape[dim]
        if want is None:
            continue
        if not is_static(want):
            x = averaged_in_parts(x, dim, want)
        elif want == have:
            continue
        elif want == 1:
            x = f(x, dim)
        else:
            parts = []
            for k in range(want):
                start, end = k * have // want, ((k + 1) * have + want - 1) // want
                parts.append(f(op.Slice(x, [start], [end], [dim]), dim))
            x = op.Concat(*parts, axis=dim)
    return x


@inline
def averaged(x, dim):
    return op.ReduceMean(x, [dim], keepdims=1)


@inline
def greatest(x, dim):
    return op.ReduceMax(x, [dim], keepdims=1)


@inline
def are_ones(output_size):
    known = [one for one in output_size if one is not None and is_static(one)]
    return len(known) == len(output_size) and len([one for one in known if one != 1]) == 0


@aten("adaptive_avg_pool1d.default")
def adaptive_avg_pool1d(self, output_size):
    return adaptive(self, output_size, 1, averaged)


@aten("adaptive_avg_pool2d.default", "_adaptive_avg_pool2d.default")
def adaptive_avg_pool2d(self, output_size):
    if are_ones(output_size) and self.ndim == 4:
        return in_float(op.GlobalAveragePool, self)
    return adaptive(self, output_size, 2, averaged)


@aten("adaptive_avg_pool3d.default", "_adaptive_avg_pool3d.default")
def adaptive_avg_pool3d(self, output_size):
    if are_ones(output_size) and self.ndim == 5:
        return in_float(op.GlobalAveragePool, self)
    return adaptive(self, output_size, 3, averaged)


@inline
def drawn_starts(sample, have, kernel, want):
    """The first places of windows that lie at random but cover everything, for each channel."""
    last = op.Expand(op.CastLike(have - kernel, sample), [*sample.shape, 1])
    if want == 1:
        return op.Cast(last, to=INT64.dtype)
    step = (have - kernel) / (want - 1)
    places = op.Cast(op.Range(0, want - 1, 1), to=sample.dtype)
    one = op.Unsqueeze(sample, [-1])
    starts = op.Floor((places + one) * step) - op.Floor(one * step)
    return op.Cast(op.Concat(starts, last, axis=-1), to=INT64.dtype)


@inline
def pooled_at_random(self, kernel_size, output_size, random_samples, n):
    x = op.Unsqueeze(self, [0]) if self.ndim < n + 2 else self
    places = op.Constant(value_ints=[0])
    for i in range(n):
        # Of two dimensions, torch has the sample of the last one first.
        sample = op.Gather(random_samples, 1 - i if n == 2 else i, axis=-1)
        starts = drawn_starts(sample, x.shape[2 + i], kernel_size[i], output_size[i])
        inside = op.Unsqueeze(starts, [-1]) + op.Range(0, kernel_size[i], 1)
        before, after = list(range(2, 2 + i)), list(range(3 + i, 2 + n))
        # [n, channel, place ..., place in the window ...]
        wide = op.Unsqueeze(inside, [*before, *after, *[n + one for one in before],
                                     *[n + one for one in after]])  # fmt: skip
        places = places * x.shape[2 + i] + wide
    batch = [x.shape[0], x.shape[1]]
    flat = op.Reshape(x, [*batch, -1])
    found = op.Reshape(places, [*batch, math.prod(output_size), math.prod(kernel_size)])
    wide = op.Reshape(found, [*batch, -1])
    values = op.Reshape(op.GatherElements(flat, wide, axis=2), found.shape)
    best = op.ArgMax(values, axis=-1, keepdims=1)
    shape = [*batch, *output_size]
    y = op.Reshape(op.GatherElements(values, best, axis=-1), shape)
    at = op.Reshape(op.GatherElements(found, best, axis=-1), shape)
    if self.ndim < n + 2:
        return op.Squeeze(y, [0]), op.Squeeze(at, [0])
    return y, at


@aten("fractional_max_pool2d.default")
def fractional_max_pool2d(self, kernel_size, output_size, random_samples):
    return pooled_at_random(self, kernel_size, output_size, random_samples, 2)


@aten("fractional_max_pool3d.default")
def fractional_max_pool3d(self, kernel_size, output_size, random_samples):
    return pooled_at_random(self, kernel_size, output_size, random_samples, 3)


@aten("adaptive_max_pool1d.default")
def adaptive_max_pool1d(self, output_size):
    return adaptive_max(self, output_size, 1)


@aten("adaptive_max_pool2d.default")
def adaptive_max_pool2d(self, output_size):
    return adaptive_max(self, output_size, 2)


@aten("adaptive_max_pool3d.default")
def adaptive_max_pool3d(self, output_size):
    return adaptive_max(self, output_size, 3)


@inline
def adaptive_max(self, output_size, n):
    """The greatest elements, and their places within a channel."""
    sizes = [self.shape[self.ndim - n + i] for i in range(n)]
    places = op.Reshape(op.Range(0, math.prod(sizes), 1), sizes)
    places = op.Expand(places, self.shape)
    x = self
    wanted = repeated(output_size, n)
    for i in range(n):
        dim = x.ndim - n + i
        have = x.shape[dim]
        want = have if wanted[i] is None else wanted[i]
        values, found = [], []
        for k in range(want):
            start, end = k * have // want, ((k + 1) * have + want - 1) // want
            part = op.Slice(x, [start], [end], [dim])
            at = op.ArgMax(part, axis=dim, keepdims=1)
            values.append(op.GatherElements(part, at, axis=dim))
            found.append(op.GatherElements(op.Slice(places, [start], [end], [dim]), at, axis=dim))
        x = op.Concat(*values, axis=dim) if len(values) > 1 else values[0]
        places = op.Concat(*found, axis=dim) if len(found) > 1 else found[0]
    return x, places
