"""Views, shapes, and the order of elements."""

import math

import numpy as np
from sardonyx import BOOL, INT32, INT64

from .declare import aten, inline, op
from .types import (
    END,
    axes,
    axis,
    cast,
    converted,
    in_ints,
    is_empty,
    is_static,
    kind,
    moved,
    picked,
    repeated,
    tensor,
)


@inline
def reshaped(self, size):
    # In an empty tensor, 0 is a size of its own.
    if len(size) > 0 and is_empty(self):
        return op.Reshape(self, list(size), allowzero=1)
    return op.Reshape(self, list(size) if len(size) > 0 else np.array([], dtype=np.int64))


@aten("reshape.default")
def reshape(self, shape):
    return view(self, shape)


@aten("view.default", "_unsafe_view.default", "_reshape_copy.default", "view_copy.default")
def view(self, size):
    return reshaped(self, size)


@aten("view.dtype", "view_copy.dtype")
def view_dtype(self, dtype):
    """The same bits as another type."""
    if self.dtype == dtype:
        return op.Identity(self)
    if self.dtype.bitwidth != dtype.bitwidth:
        raise NotImplementedError("`view` as a type of another width")
    if kind(self.dtype) < 2 and kind(dtype) < 2:
        return op.Cast(self, to=dtype)  # which keeps the bits of integers
    if "BitCast" in op:
        return op.BitCast(self, to=dtype)
    raise NotImplementedError("`view` as a type of another kind needs BitCast of opset 26")


@aten("view_as.default", "reshape_as.default")
def view_as(self, other):
    return reshaped(self, other.shape)


@aten("flatten.using_ints")
def flatten(self, start_dim=0, end_dim=-1):
    if self.ndim == 0:
        return op.Reshape(self, [1])
    first, last = axis(start_dim, self.ndim), axis(end_dim, self.ndim)
    shape = self.shape
    if first == last:
        return op.Identity(self)
    return reshaped(self, [*shape[:first], math.prod(shape[first : last + 1]), *shape[last + 1 :]])


@aten("ravel.default")
def ravel(self):
    return op.Reshape(self, [-1])


@aten("unflatten.int")
def unflatten(self, dim, sizes):
    dim = axis(dim, self.ndim)
    shape = self.shape
    return reshaped(self, [*shape[:dim], *sizes, *shape[dim + 1 :]])


@aten("unsqueeze.default", "unsqueeze_copy.default")
def unsqueeze(self, dim):
    return op.Unsqueeze(self, [dim])


@aten("squeeze.dims", "squeeze_copy.dims")
def squeeze_dims(self, dim):
    return squeeze(self, dim) if len(dim) > 0 else op.Identity(self)


@aten("squeeze.dim", "squeeze.default", "squeeze_copy.default", "squeeze_copy.dim")
def squeeze(self, dim=None):
    # Sizes that have a name are not taken for 1, as torch does not.
    sizes = self.type.shape
    ones = [one for one in axes(dim, self.ndim) if one < self.ndim and sizes[one] == 1]
    return op.Squeeze(self, ones) if len(ones) > 0 else op.Identity(self)


@aten("swapaxes.default")
def swapaxes(self, axis0, axis1):
    return transpose(self, axis0, axis1)


@aten("transpose.int", "swapdims.default", "transpose_copy.int")
def transpose(self, dim0, dim1):
    if self.ndim < 2:
        return op.Identity(self)
    perm = list(range(self.ndim))
    a, b = axis(dim0, self.ndim), axis(dim1, self.ndim)
    perm[a] = b
    perm[b] = a
    return op.Transpose(self, perm=perm)


@aten("permute.default", "permute_copy.default")
def permute(self, dims):
    if len(dims) == 0:
        return op.Identity(self)
    return op.Transpose(self, perm=[axis(one, self.ndim) for one in dims])


@aten("t.default", "t_copy.default", "matrix_H.default")
def t(self):
    return op.Transpose(self, perm=[1, 0]) if self.ndim == 2 else op.Identity(self)


@aten("numpy_T.default")
def numpy_t(self):
    return op.Transpose(self) if self.ndim > 0 else op.Identity(self)


@aten("mT.default", "mH.default", "adjoint.default")
def m_t(self):
    if self.ndim == 0:
        return op.Identity(self)
    return op.Transpose(self, perm=[*range(self.ndim - 2), self.ndim - 1, self.ndim - 2])


@aten("movedim.int", "movedim.intlist", "moveaxis.int", "moveaxis.intlist")
def movedim(self, source, destination):
    if self.ndim == 0:
        return op.Identity(self)
    source = [axis(one, self.ndim) for one in repeated(source, 1)]
    destination = [axis(one, self.ndim) for one in repeated(destination, 1)]
    rest = [one for one in range(self.ndim) if one not in source]
    perm = []
    for place in range(self.ndim):
        if place in destination:
            perm.append(source[destination.index(place)])
        else:
            perm.append(rest[place - len([one for one in destination if one < place])])
    return op.Transpose(self, perm=perm)


@inline
def resized_flat(x, count):
    """The first so many elements in their order, and zeros where there are too few."""
    flat = op.Reshape(x, [-1])
    return op.Slice(op.Pad(flat, [0, max(count - x.size, 0)]), [0], [count], [0])


@aten("resize.default")
def resize(self, size):
    return reshaped(resized_flat(self, math.prod(size)), list(size))


@aten("resize_as.default")
def resize_as(self, the_template):
    return resize(self, the_template.shape)


@aten("expand.default", "expand_copy.default")
def expand(self, size, *, implicit=False):
    if len(size) == 0:
        return op.Identity(self)
    return op.Expand(self, [1 if is_static(n) and n == -1 else n for n in size])


@aten("expand_as.default")
def expand_as(self, other):
    return op.Expand(self, other.shape) if other.ndim > 0 else op.Identity(self)


@aten("broadcast_to.default")
def broadcast_to(self, size):
    return expand(self, size)


@inline
def known_sizes(x):
    """Of weights in lists too, which are arrays until they are an argument of their own."""
    return x.type.shape


@inline
def widest(tensors):
    """The tensor whose shape all are broadcast to; None where none is known to have it."""
    for wide in tensors:
        is_widest = True
        for one in tensors:
            sizes, others = known_sizes(wide), known_sizes(one)
            if len(others) > len(sizes):
                is_widest = False
            else:
                for i in range(len(others)):
                    size = sizes[len(sizes) - len(others) + i]
                    if others[i] != 1 and (others[i] is None or others[i] != size):
                        is_widest = False
        if is_widest:
            return wide
    return None


@aten("broadcast_tensors.default")
def broadcast_tensors(tensors):
    if len(tensors) == 1:
        return [op.Identity(tensors[0])]
    wide = widest(tensors)
    if wide is not None:
        sizes = known_sizes(wide)
        return [one if known_sizes(one) == sizes else op.Expand(one, wide.shape) for one in tensors]
    total = tensors[0] != tensors[0]
    for one in tensors:
        total = op.Or(total, one != one)
    return [op.Expand(one, total.shape) if total.ndim > 0 else one for one in tensors]


@aten("contiguous.default", "clone.default", "alias.default", "detach.default",
      "alias_copy.default", "lift_fresh_copy.default", "lift_fresh.default", "lift.default",
      "resolve_conj.default", "resolve_neg.default", "detach_copy.default",
      "pin_memory.default")  # fmt: skip
def contiguous(self):
    return op.Identity(self)


@aten("to.dtype", "to.dtype_layout", "_to_copy.default")
def to(self, dtype=None, copy=False):
    x = tensor(self)
    return converted(x, dtype) if dtype is not None else op.Identity(x)


@aten("to.device")
def to_device(self, device=None, dtype=None, copy=False):
    return converted(self, dtype) if dtype is not None else op.Identity(self)


@aten("to.other")
def to_other(self, other, copy=False):
    return converted(self, other.dtype)


@aten("type_as.default")
def type_as(self, other):
    return converted(self, other.dtype)


@aten("select.int", "select_copy.int")
def select(self, dim, index):
    return op.Gather(self, index, axis=dim)


@aten("slice.Tensor", "slice_copy.Tensor")
def slice_(self, dim=0, start=None, end=None, step=1):
    start = 0 if start is None else start
    end = END if end is None else end
    return op.Slice(self, [start], [end], [dim], [step])


@aten("narrow.default")
def narrow(self, dim, start, length):
    first = start_of(self, dim, start)
    return op.Slice(self, [first], [first + length], [dim])


@inline
def start_of(self, dim, start):
    """A place counted from the front."""
    return start + self.shape[dim] if isinstance(start, int) and start < 0 else start


@inline
def start_at(self, dim, start):
    """The same of a tensor's element."""
    begin = op.Cast(op.Reshape(start, [1]), to=INT64.dtype)
    return op.Where(begin < 0, begin + self.shape[dim], begin)


@aten("narrow.Tensor")
def narrow_tensor(self, dim, start, length):
    begin = start_at(self, dim, start)
    return op.Slice(self, begin, begin + length, [dim])


@aten("linalg_diagonal.default")
def linalg_diagonal(A, *, offset=0, dim1=-2, dim2=-1):
    return diagonal(A, offset, dim1, dim2)


@aten("diagonal.default", "diagonal_copy.default")
def diagonal(self, offset=0, dim1=0, dim2=1):
    first, second = axis(dim1, self.ndim), axis(dim2, self.ndim)
    rest = [one for one in range(self.ndim) if one != first and one != second]
    x = op.Transpose(self, perm=[*rest, first, second])
    rows, columns = self.shape[first], self.shape[second]
    count = max(min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns), 0)
    places = op.Range(0, count, 1)
    row = places - offset if offset < 0 else places
    column = places + offset if offset > 0 else places
    flat = op.Reshape(x, [*[self.shape[one] for one in rest], rows * columns])
    return op.Gather(flat, row * columns + column, axis=-1)


@inline
def triangle_of(self, diagonal, upper):
    """ONNX Runtime has no kernel of Trilu for small integers and BFLOAT16."""
    if self.dtype == BOOL.dtype:
        return op.Trilu(self, diagonal, upper=upper)
    return moved(lambda x: in_ints(lambda y: op.Trilu(y, diagonal, upper=upper), x), self)


@aten("tril.default")
def tril(self, diagonal=0):
    return triangle_of(self, diagonal, 0)


@aten("triu.default")
def triu(self, diagonal=0):
    return triangle_of(self, diagonal, 1)


@aten("flip.default")
def flip(self, dims):
    dims = [axis(one, self.ndim) for one in dims]
    if len(dims) == 0 or self.ndim == 0:
        return op.Identity(self)
    count = len(dims)
    return op.Slice(self, [-1] * count, [-END - 1] * count, dims, [-1] * count)


@aten("fliplr.default")
def fliplr(self):
    return op.Slice(self, [-1], [-END - 1], [1], [-1])


@aten("flipud.default")
def flipud(self):
    return op.Slice(self, [-1], [-END - 1], [0], [-1])


@inline
def rolled(x, shift, dim):
    if x.type.shape[dim] == 0:
        return x
    start = -shift % max(x.shape[dim], 1)
    return op.Concat(op.Slice(x, [start], [END], [dim]), op.Slice(x, [0], [start], [dim]), axis=dim)


@aten("roll.default")
def roll(self, shifts, dims=()):
    if self.ndim == 0:
        return op.Identity(self)
    shifts = repeated(shifts, 1)
    if len(dims) == 0:
        return op.Reshape(rolled(op.Reshape(self, [-1]), shifts[0], 0), self.shape, allowzero=1)
    x = self
    for i in range(len(dims)):
        x = rolled(x, shifts[i], axis(dims[i], self.ndim))
    return x


@aten("rot90.default")
def rot90(self, k=1, dims=(0, 1)):
    first, second = axis(dims[0], self.ndim), axis(dims[1], self.ndim)
    perm = list(range(self.ndim))
    perm[first] = second
    perm[second] = first
    turns = k % 4
    if turns == 0:
        return op.Identity(self)
    if turns == 2:
        return flip(self, [first, second])
    if turns == 1:
        return op.Transpose(flip(self, [second]), perm=perm)
    return flip(op.Transpose(self, perm=perm), [second])


@aten("repeat.default")
def repeat(self, repeats):
    if len(repeats) == 0:
        return op.Identity(self)
    more = len(repeats) - self.ndim
    x = op.Reshape(self, [1] * more + list(self.shape)) if more > 0 else self
    return op.Tile(x, list(repeats))


@aten("tile.default")
def tile(self, dims):
    if len(dims) < self.ndim:
        dims = [1] * (self.ndim - len(dims)) + list(dims)
    return repeat(self, dims)


@aten("repeat_interleave.self_int")
def repeat_interleave(self, repeats, dim=None, *, output_size=None):
    if dim is None:
        x, dim = op.Reshape(self, [-1]), 0
    else:
        x, dim = (op.Reshape(self, [1]), 0) if self.ndim == 0 else (self, axis(dim, self.ndim))
    shape = x.shape
    wide = op.Unsqueeze(x, [dim + 1])
    wide = op.Expand(wide, [1] * (dim + 1) + [repeats] + [1] * (x.ndim - dim - 1))
    return op.Reshape(wide, [*shape[:dim], shape[dim] * repeats, *shape[dim + 1 :]])


@aten("unfold.default")
def unfold(self, dimension, size, step):
    if self.ndim == 0:
        return op.Expand(self, [size])
    dim = axis(dimension, self.ndim)
    count = (self.shape[dim] - size) // step + 1
    starts = op.Unsqueeze(op.Range(0, count, 1) * step, [1])
    places = starts + op.Unsqueeze(op.Range(0, size, 1), [0])
    x = op.Gather(self, places, axis=dim)
    rest = [one for one in range(x.ndim) if one != dim + 1]
    return op.Transpose(x, perm=[*rest, dim + 1])


@aten("pixel_shuffle.default")
def pixel_shuffle(self, upscale_factor):
    shape = self.shape
    if kind(self.dtype) != 2:  # ONNX Runtime has DepthToSpace for floats
        r, n = upscale_factor, self.ndim - 3
        *batch, channels, height, width = shape
        x = reshaped(self, [*batch, channels // (r * r), r, r, height, width])
        x = op.Transpose(x, perm=[*range(n), n, n + 3, n + 1, n + 4, n + 2])
        return reshaped(x, [*batch, channels // (r * r), height * r, width * r])
    x = op.Reshape(self, [-1, *shape[-3:]]) if self.ndim != 4 else self
    y = op.DepthToSpace(x, blocksize=upscale_factor, mode="CRD")
    return op.Reshape(y, [*shape[:-3], *y.shape[1:]]) if self.ndim != 4 else y


@aten("pixel_unshuffle.default")
def pixel_unshuffle(self, downscale_factor):
    r = downscale_factor
    *batch, channels, height, width = self.shape
    x = reshaped(self, [*batch, channels, height // r, r, width // r, r])
    n = len(batch)
    x = op.Transpose(x, perm=[*range(n), n, n + 2, n + 4, n + 1, n + 3])
    return reshaped(x, [*batch, channels * (r * r), height // r, width // r])


@aten("channel_shuffle.default", "native_channel_shuffle.default")
def channel_shuffle(self, groups):
    n, channels, *rest = self.shape
    x = op.Reshape(self, [n, groups, channels // groups, *rest])
    x = op.Transpose(x, perm=[0, 2, 1, *range(3, x.ndim)])
    return op.Reshape(x, [n, channels, *rest])


# --- What a changed view makes of its base


@aten("select_scatter.default")
def select_scatter(self, src, dim, index):
    dim = axis(dim, self.ndim)
    wide = op.Unsqueeze(op.Expand(cast(src, self.dtype), self.shape[:dim] + self.shape[dim + 1 :])
                        if self.ndim > 1 else cast(src, self.dtype), [dim])  # fmt: skip
    place = start_of(self, dim, index)
    return op.ScatterElements(self, op.Expand(place, wide.shape), wide, axis=dim)


@aten("slice_scatter.default")
def slice_scatter(self, src, dim=0, start=None, end=None, step=1):
    dim = axis(dim, self.ndim)
    places = op.Slice(op.Range(0, self.shape[dim], 1), [0 if start is None else start],
                      [END if end is None else end], [0], [step])  # fmt: skip
    return scattered_slice(self, src, dim, places)


@inline
def scattered_slice(self, src, dim, places):
    values = cast(src, self.dtype)
    if values.ndim < self.ndim:
        values = op.Expand(values, [*self.shape[:dim], places.shape[0], *self.shape[dim + 1 :]])
    wide = op.Reshape(places, [1] * dim + [-1] + [1] * (self.ndim - dim - 1))
    return op.ScatterElements(self, op.Expand(wide, values.shape), values, axis=dim)


@aten("put_back_narrow", namespace="sardonyx")
def put_back_narrow(self, view, dim, start, length):
    first = start_of(self, dim, start)
    return slice_scatter(self, view, dim, first, first + length)


@aten("put_back_narrow_at", namespace="sardonyx")
def put_back_narrow_at(self, view, dim, start, length):
    begin = start_at(self, dim, start)
    places = op.Slice(op.Range(0, self.shape[dim], 1), begin, begin + length, [0])
    return scattered_slice(self, view, axis(dim, self.ndim), places)


@aten("copy.default")
def copy(self, src):
    value = converted(src, self.dtype)
    return op.Expand(value, self.shape) if self.ndim > 0 else value


@aten("fill_diagonal_.default")
def fill_diagonal(self, fill_value, wrap=False):
    """The new value: of all axes alike, or of two, where `wrap` goes on below a tall one's end."""
    places = op.Range(0, math.prod(self.shape), 1)
    step = 1
    for size in self.shape[1:]:
        step = step * size + 1
    is_on = places % step == 0
    if self.ndim == 2 and not wrap:
        is_on = op.And(is_on, places < self.shape[1] * self.shape[1])
    is_on = op.Reshape(is_on, self.shape, allowzero=1)
    return picked(is_on, fill_value, self, self.dtype)


@aten("into", namespace="sardonyx")
def into(self, value):
    """What an in-place operator writes: in the element type of its target."""
    return converted(tensor(value), self.dtype)


@aten("put_back", namespace="sardonyx")
def put_back(self, view):
    """The base of a view of all of its elements in their order."""
    return reshaped(view, self.shape)


@aten("put_back_bits", namespace="sardonyx")
def put_back_bits(self, view):
    """The base of a view as another element type."""
    return view_dtype(view, self.dtype)


@aten("put_back_part", namespace="sardonyx")
def put_back_part(parts, changed, index, dim):
    """The base of a split, one part of which has been changed; hsplit of a row is along axis 0."""
    dim = min(dim, changed.ndim - 1)
    if not is_static(len(parts)):  # a sequence
        others = op.SequenceErase(parts, index)
        return op.ConcatFromSequence(op.SequenceInsert(others, changed, index), axis=dim)
    index = index if index >= 0 else index + len(parts)
    return op.Concat(*[changed if i == index else parts[i] for i in range(len(parts))], axis=dim)


@aten("put_back_row", namespace="sardonyx")
def put_back_row(parts, changed, index, dim):
    """The base of an unbind, one part of which has been changed."""
    index = index if index >= 0 else index + len(parts)
    rows = [changed if i == index else parts[i] for i in range(len(parts))]
    return op.Concat(*[op.Unsqueeze(one, [dim]) for one in rows], axis=dim)


@aten("put_back_diagonal", namespace="sardonyx")
def put_back_diagonal(self, view, axes):
    """The base of a diagonal that einsum takes: `axes` has the axis of the view for each of the
    base, so that those of the diagonal have the same."""
    firsts = [one for one in range(len(axes)) if axes.index(axes[one]) == one]
    y = op.Transpose(view, perm=[axes[one] for one in firsts])
    repeats = [one for one in range(len(axes)) if one not in firsts]
    y = op.Unsqueeze(y, repeats)
    for one in repeats:
        rank = len(axes)
        line = op.Range(0, self.shape[one], 1)
        row = op.Unsqueeze(line, [i for i in range(rank) if i != axes.index(axes[one])])
        column = op.Unsqueeze(line, [i for i in range(rank) if i != one])
        y = picked(row == column, y, self, self.dtype)
    return y


@aten("put_back_repeated", namespace="sardonyx")
def put_back_repeated(self, view):
    """The base of a view that repeats elements. A write to one of them reaches all: the new one is
    that which differs."""
    is_new = view != op.Expand(self, view.shape)
    more = view.ndim - self.ndim
    for one in range(view.ndim):
        if one < more or self.type.shape[one - more] == 1:
            place = op.ArgMax(op.Cast(is_new, to=INT32.dtype), axis=one, keepdims=1)
            view = op.GatherElements(view, place, axis=one)
            is_new = op.GatherElements(is_new, place, axis=one)
    return reshaped(view, self.shape)


@aten("put_back_windows", namespace="sardonyx")
def put_back_windows(self, view, dimension, size, step):
    """The base of an unfold, whose windows may share elements: the new ones are those that differ.
    The others are written to one place more, which is left out."""
    dim = axis(dimension, self.ndim)
    last = self.ndim
    perm = [*range(dim + 1), last, *range(dim + 1, last)]
    shape = [*self.shape[:dim], -1, *self.shape[dim + 1 :]]
    is_new = view != unfold(self, dimension, size, step)
    is_new = op.Reshape(op.Transpose(is_new, perm=perm), shape)
    values = op.Reshape(op.Transpose(view, perm=perm), shape)
    starts = op.Unsqueeze(op.Range(0, view.shape[dim], 1) * step, [1])
    wide = [1] * dim + [-1] + [1] * (last - dim - 1)
    places = op.Reshape(starts + op.Range(0, size, 1), wide)
    longer = op.Concat(self, op.Gather(self, [0], axis=dim), axis=dim)
    places = op.Where(is_new, places, self.shape[dim])
    y = op.ScatterElements(longer, places, values, axis=dim)
    return op.Slice(y, [0], [self.shape[dim]], [dim])


@inline
def strided_places(size, stride, storage_offset):
    """Where the elements lie, in a tensor whose elements lie one after the other."""
    places = op.Reshape(0 if storage_offset is None else storage_offset, [1] * len(size))
    for i in range(len(size)):
        shape = [-1 if k == i else 1 for k in range(len(size))]
        places = places + op.Reshape(op.Range(0, size[i], 1) * stride[i], shape)
    return places


@aten("as_strided.default", "as_strided_copy.default")
def as_strided(self, size, stride, storage_offset=None):
    flat = op.Reshape(self, [-1])
    if len(size) == 0:
        return op.Gather(flat, 0 if storage_offset is None else storage_offset, axis=0)
    return op.Gather(flat, strided_places(size, stride, storage_offset), axis=0)


@aten("as_strided_scatter.default")
def as_strided_scatter(self, src, size, stride, storage_offset=None):
    places = op.Reshape(strided_places(size, stride, storage_offset), [-1])
    y = op.ScatterElements(op.Reshape(self, [-1]), places, op.Reshape(src, [-1]), axis=0)
    return reshaped(y, self.shape)


@aten("put_back_strided", namespace="sardonyx")
def put_back_strided(self, view, size, stride, storage_offset=None):
    """The base of such a view, as that of an unfold."""
    flat = op.Reshape(self, [-1])
    places = strided_places(size, stride, storage_offset)
    is_new = view != op.Gather(flat, places, axis=0)
    places = op.Where(is_new, places, flat.shape[0])
    longer = op.Concat(flat, op.Gather(flat, [0], axis=0), axis=0)
    y = op.ScatterElements(longer, op.Reshape(places, [-1]), op.Reshape(view, [-1]), axis=0)
    return reshaped(op.Slice(y, [0], [flat.shape[0]]), self.shape)


@aten("diagonal_scatter.default")
def diagonal_scatter(self, src, offset=0, dim1=0, dim2=1):
    first, second = axis(dim1, self.ndim), axis(dim2, self.ndim)
    rest = [one for one in range(self.ndim) if one != first and one != second]
    perm = [*rest, first, second]
    x = op.Transpose(self, perm=perm)
    rows, columns = self.shape[first], self.shape[second]
    r = op.Unsqueeze(op.Range(0, rows, 1), [1])
    c = op.Unsqueeze(op.Range(0, columns, 1), [0])
    on_line = c - r == offset
    place = op.Where(on_line, op.Min(r, c), 0)
    flat = op.Gather(converted(src, self.dtype), op.Reshape(place, [-1]), axis=-1)
    values = op.Reshape(flat, [*[self.shape[one] for one in rest], rows, columns])
    y = picked(on_line, values, x, x.dtype)
    return op.Transpose(y, perm=[perm.index(i) for i in range(self.ndim)])


@aten("narrow_copy.default")
def narrow_copy(self, dim, start, length):
    return narrow(self, dim, start, length)


@aten("unfold_copy.default")
def unfold_copy(self, dimension, size, step):
    return unfold(self, dimension, size, step)


@aten(
    "conj.default",
    "conj_physical.default",
    "_conj.default",
    "_conj_physical.default",
    "real.default",
)
def conj(self):
    return op.Identity(self)


@aten("fft_fftshift.default")
def fftshift(self, dim=None):
    dims = axes(dim, self.ndim)
    x = self
    for one in dims:
        x = rolled(x, x.shape[one] // 2, one)
    return x


@aten("fft_ifftshift.default")
def ifftshift(self, dim=None):
    dims = axes(dim, self.ndim)
    x = self
    for one in dims:
        x = rolled(x, -(x.shape[one] // 2), one)
    return x
