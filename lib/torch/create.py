"""Tensors out of nothing, or out of the shape and type of another one."""

import math

import numpy as np
from sardonyx import DOUBLE, FLOAT, INT64

from .declare import aten, inline, op
from .types import cast, is_number, number, picked, tensor, type_of


@inline
def filled(size, value, dtype):
    x = number(value, dtype) if is_number(value) else cast(value, dtype)
    return op.Expand(x, list(size)) if len(size) > 0 else x


@aten("zeros.default", "empty.memory_format")
def zeros(size, *, dtype=None):
    return filled(size, 0, FLOAT.dtype if dtype is None else dtype)


@aten("ones.default")
def ones(size, *, dtype=None):
    return filled(size, 1, FLOAT.dtype if dtype is None else dtype)


@aten("full.default")
def full(size, fill_value, *, dtype=None):
    return filled(size, fill_value, type_of(fill_value) if dtype is None else dtype)


@aten("zeros_like.default", "empty_like.default")
def zeros_like(self, *, dtype=None):
    return filled(self.shape, 0, self.dtype if dtype is None else dtype)


@aten("ones_like.default")
def ones_like(self, *, dtype=None):
    return filled(self.shape, 1, self.dtype if dtype is None else dtype)


@aten("full_like.default")
def full_like(self, fill_value, *, dtype=None):
    return filled(self.shape, fill_value, self.dtype if dtype is None else dtype)


@aten("new_zeros.default", "new_empty.default")
def new_zeros(self, size, *, dtype=None):
    return filled(size, 0, self.dtype if dtype is None else dtype)


@aten("new_ones.default")
def new_ones(self, size, *, dtype=None):
    return filled(size, 1, self.dtype if dtype is None else dtype)


@aten("new_full.default")
def new_full(self, size, fill_value, *, dtype=None):
    return filled(size, fill_value, self.dtype if dtype is None else dtype)


@aten("empty_permuted.default")
def empty_permuted(size, physical_layout, *, dtype=None):
    return filled(size, 0, FLOAT.dtype if dtype is None else dtype)


@aten("empty_strided.default")
def empty_strided(size, stride, *, dtype=None):
    return filled(size, 0, FLOAT.dtype if dtype is None else dtype)


@aten("new_empty_strided.default")
def new_empty_strided(self, size, stride, *, dtype=None):
    return filled(size, 0, self.dtype if dtype is None else dtype)


@aten("fill.Scalar", "fill.Tensor")
def fill(self, value):
    return filled(self.shape, value, self.dtype)


@aten("zero.default")
def zero(self):
    return filled(self.shape, 0, self.dtype)


@aten("fft_fftfreq.default")
def fftfreq(n, d=1.0, *, dtype=None):
    half = (n - 1) // 2 + 1
    places = [i if i < half else i - n for i in range(n)]
    return tensor(np.array(places) / (n * d), FLOAT.dtype if dtype is None else dtype)


@aten("fft_rfftfreq.default")
def rfftfreq(n, d=1.0, *, dtype=None):
    places = list(range(n // 2 + 1))
    return tensor(np.array(places) / (n * d), FLOAT.dtype if dtype is None else dtype)


@aten("scalar_tensor.default")
def scalar_tensor(s, *, dtype=None):
    return number(s, FLOAT.dtype if dtype is None else dtype)


@inline
def steps(start, end, step, dtype):
    """arange in this type: integers are counted in INT64, as sizes are."""
    if isinstance(start, int) and isinstance(end, int) and isinstance(step, int):
        return cast(op.Range(start, end, step), dtype)
    count = math.ceil((end - start) / step)
    places = op.Cast(op.Range(0, count, 1), to=DOUBLE.dtype)
    return cast(places * float(step) + float(start), dtype)


@inline
def type_of_steps(dtype, *values):
    if dtype is not None:
        return dtype
    return FLOAT.dtype if len([x for x in values if isinstance(x, float)]) > 0 else INT64.dtype


@aten("arange.default")
def arange(end, *, dtype=None):
    return steps(0, end, 1, type_of_steps(dtype, end))


@aten("arange.start")
def arange_start(start, end, *, dtype=None):
    return steps(start, end, 1, type_of_steps(dtype, start, end))


@aten("arange.start_step")
def arange_start_step(start, end, step=1, *, dtype=None):
    return steps(start, end, step, type_of_steps(dtype, start, end, step))


@aten("eye.default")
def eye(n, *, dtype=None):
    dtype = FLOAT.dtype if dtype is None else dtype
    places = op.Range(0, n, 1)
    return op.Cast(op.Unsqueeze(places, [1]) == op.Unsqueeze(places, [0]), to=dtype)


@aten("eye.m")
def eye_m(n, m, *, dtype=None):
    dtype = FLOAT.dtype if dtype is None else dtype
    rows, columns = op.Range(0, n, 1), op.Range(0, m, 1)
    return op.Cast(op.Unsqueeze(rows, [1]) == op.Unsqueeze(columns, [0]), to=dtype)


@inline
def evenly(start, end, count):
    """In DOUBLE, and from both ends, as torch computes it."""
    if count == 1:
        return op.Reshape(tensor(float(start), DOUBLE.dtype), [1])
    places = op.Cast(op.Range(0, count, 1), to=DOUBLE.dtype)
    step = (float(end) - float(start)) / (count - 1)
    up = places * step + float(start)
    down = float(end) - ((count - 1) - places) * step
    return op.Where(places < count // 2, up, down)


@aten("linspace.default")
def linspace(start, end, steps, *, dtype=None):
    if steps == 0:
        return filled([0], 0, FLOAT.dtype if dtype is None else dtype)
    return cast(evenly(start, end, steps), FLOAT.dtype if dtype is None else dtype)


@aten("logspace.default")
def logspace(start, end, steps, base=10.0, *, dtype=None):
    if steps == 0:
        return filled([0], 0, FLOAT.dtype if dtype is None else dtype)
    powers = op.Pow(tensor(float(base), DOUBLE.dtype), evenly(start, end, steps))
    return cast(powers, FLOAT.dtype if dtype is None else dtype)


@inline
def triangle(row, col, offset, is_upper, dtype):
    places = op.Range(0, row * col, 1)
    r, c = op.Div(places, col), op.Mod(places, col)
    chosen = c >= r + offset if is_upper else c <= r + offset
    found = op.Compress(places, chosen)
    both = op.Concat(
        op.Unsqueeze(op.Div(found, col), [0]), op.Unsqueeze(op.Mod(found, col), [0]), axis=0
    )
    return cast(both, INT64.dtype if dtype is None else dtype)


@aten("tril_indices.default")
def tril_indices(row, col, offset=0, *, dtype=None):
    return triangle(row, col, offset, False, dtype)


@aten("triu_indices.default")
def triu_indices(row, col, offset=0, *, dtype=None):
    return triangle(row, col, offset, True, dtype)


@aten("diag_embed.default")
def diag_embed(self, offset=0, dim1=-2, dim2=-1):
    n = self.shape[-1]
    size = n + abs(offset)
    rows = op.Unsqueeze(op.Range(0, size, 1), [1])
    columns = op.Unsqueeze(op.Range(0, size, 1), [0])
    on_line = columns - rows == offset
    within = op.Where(on_line, rows if offset >= 0 else columns, 0)
    line = op.Expand(within, [size, size])
    flat = op.Gather(self, op.Reshape(line, [-1]), axis=-1)
    square = op.Reshape(flat, [*self.shape[:-1], size, size])
    square = picked(on_line, square, 0, self.dtype)
    rank = self.ndim + 1
    first = dim1 + rank if dim1 < 0 else dim1
    second = dim2 + rank if dim2 < 0 else dim2
    perm, at = [], 0
    for place in range(rank):
        if place == first:
            perm.append(rank - 2)
        elif place == second:
            perm.append(rank - 1)
        else:
            perm.append(at)
            at = at + 1
    return op.Transpose(square, perm=perm)


@aten("diag.default")
def diag(self, diagonal=0):
    if self.ndim == 1:
        return diag_embed(self, diagonal)
    rows, columns = self.shape
    count = max(
        min(rows, columns - diagonal) if diagonal >= 0 else min(rows + diagonal, columns), 0
    )
    places = op.Range(0, count, 1)
    row = places - diagonal if diagonal < 0 else places
    column = places + diagonal if diagonal > 0 else places
    return op.Gather(op.Reshape(self, [-1]), row * columns + column, axis=0)


@aten("diagflat.default")
def diagflat(self, offset=0):
    return diag_embed(op.Reshape(self, [-1]), offset)


@aten("vander.default")
def vander(x, N=None, increasing=False):
    count = x.shape[0] if N is None else N
    powers = op.Cast(op.Range(0, count, 1), to=x.dtype)
    if not increasing:
        powers = (count - 1) - powers
    return op.Pow(op.Unsqueeze(x, [1]), op.Unsqueeze(powers, [0]))


@aten("linspace.Tensor_Tensor", "linspace.Tensor_Scalar", "linspace.Scalar_Tensor")
def linspace_tensor(start, end, steps, *, dtype=None):
    dtype = FLOAT.dtype if dtype is None else dtype
    return cast(between(start, end, steps), dtype)


@aten("logspace.Tensor_Tensor", "logspace.Tensor_Scalar", "logspace.Scalar_Tensor")
def logspace_tensor(start, end, steps, base=10.0, *, dtype=None):
    powers = op.Pow(tensor(float(base), DOUBLE.dtype), between(start, end, steps))
    return cast(powers, FLOAT.dtype if dtype is None else dtype)


@inline
def between(start, end, count):
    low, high = tensor(start, DOUBLE.dtype), tensor(end, DOUBLE.dtype)
    places = op.Cast(op.Range(0, count, 1), to=DOUBLE.dtype)
    return low + places * ((high - low) / float(max(count - 1, 1)))


@inline
def chosen_places(n, r, with_replacement):
    """The ways to choose `r` of `n` places in order, as rows, for a number of the run."""
    line = op.Range(0, n, 1)
    mask = op.Reshape(line, [-1] + [1] * (r - 1)) >= 0
    for i in range(r - 1):
        first = op.Reshape(line, [1] * i + [-1] + [1] * (r - 1 - i))
        second = op.Reshape(line, [1] * (i + 1) + [-1] + [1] * (r - 2 - i))
        mask = mask & (first <= second if with_replacement else first < second)
    return op.Transpose(op.NonZero(mask), perm=[1, 0])


@aten("combinations.default")
def combinations(self, r=2, with_replacement=False):
    if not isinstance(self.type.shape[0], int) and r > 0:
        return op.Gather(self, chosen_places(self.shape[0], r, with_replacement), axis=0)
    n = self.shape[0]
    chosen = [[]]
    for _ in range(r):
        longer = []
        for one in chosen:
            first = 0 if len(one) == 0 else (one[-1] if with_replacement else one[-1] + 1)
            for i in range(first, n):
                longer.append([*one, i])
        chosen = longer
    if len(chosen) == 0 or r == 0:
        return op.Expand(cast(tensor(0), self.dtype), [0, r] if r > 0 else [0])
    return op.Gather(self, op.Reshape([i for one in chosen for i in one], [-1, r]), axis=0)


@aten("linalg_vander.default")
def linalg_vander(x, *, N=None):
    x = op.Reshape(x, [1]) if x.ndim == 0 else x
    count = x.shape[-1] if N is None else N
    wide = op.Unsqueeze(x, [-1])
    columns = [op.Identity(wide) * 0 + 1]
    for _ in range(1, count):
        columns.append(columns[-1] * wide)
    return op.Concat(*columns, axis=-1)


@inline
def window_of(count, periodic, dtype, terms):
    """A sum of cosines over one period, which a periodic window ends one place later."""
    if count == 1:
        return filled([1], 1, FLOAT.dtype if dtype is None else dtype)
    n = count if periodic else count - 1
    places = op.Cast(op.Range(0, count, 1), to=DOUBLE.dtype)
    total = places * 0.0
    for i in range(len(terms)):
        total = total + terms[i] * op.Cos(places * (2.0 * math.pi * i / float(n)))
    return cast(total, FLOAT.dtype if dtype is None else dtype)


@aten("hann_window.default")
def hann_window(window_length, *, dtype=None):
    return window_of(window_length, True, dtype, [0.5, -0.5])


@aten("hann_window.periodic")
def hann_window_periodic(window_length, periodic, *, dtype=None):
    return window_of(window_length, periodic, dtype, [0.5, -0.5])


@aten("hamming_window.default")
def hamming_window(window_length, *, dtype=None):
    return window_of(window_length, True, dtype, [0.54, -0.46])


@aten("hamming_window.periodic")
def hamming_window_periodic(window_length, periodic, *, dtype=None):
    return window_of(window_length, periodic, dtype, [0.54, -0.46])


@aten("blackman_window.default")
def blackman_window(window_length, *, dtype=None):
    return window_of(window_length, True, dtype, [0.42, -0.5, 0.08])


@aten("blackman_window.periodic")
def blackman_window_periodic(window_length, periodic, *, dtype=None):
    return window_of(window_length, periodic, dtype, [0.42, -0.5, 0.08])


@aten("hamming_window.periodic_alpha")
def hamming_window_alpha(window_length, periodic, alpha, *, dtype=None):
    return window_of(window_length, periodic, dtype, [alpha, -0.46])


@aten("hamming_window.periodic_alpha_beta")
def hamming_window_alpha_beta(window_length, periodic, alpha, beta, *, dtype=None):
    return window_of(window_length, periodic, dtype, [alpha, -beta])


@inline
def slopes_of(count, periodic):
    """From -1 to 1 over one period."""
    n = count if periodic else count - 1
    return op.Cast(op.Range(0, count, 1), to=DOUBLE.dtype) * (2.0 / float(n)) - 1.0


@aten("bartlett_window.periodic")
def bartlett_window_periodic(window_length, periodic, *, dtype=None):
    dtype = FLOAT.dtype if dtype is None else dtype
    if window_length == 1:
        return filled([1], 1, dtype)
    return cast(1.0 - op.Abs(slopes_of(window_length, periodic)), dtype)


@aten("bartlett_window.default")
def bartlett_window(window_length, *, dtype=None):
    return bartlett_window_periodic(window_length, True, dtype=dtype)
