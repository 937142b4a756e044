"""Several tensors: joining them, and cutting one into several."""

from .declare import aten, inline, op
from .types import END, axis, cast, is_static, result_type_of


@inline
def in_one_type(tensors):
    dtype = result_type_of(tensors)
    return [cast(one, dtype) for one in tensors]


@inline
def has_elements(x):
    """torch.cat leaves out tensors of shape (0,), whatever the shape of the others."""
    return x.ndim != 1 or x.type.shape[0] != 0


@aten("cat.default", "concat.default", "concatenate.default")
def cat(tensors, dim=0):
    tensors = in_one_type(tensors)
    some = [one for one in tensors if has_elements(one)]
    some = some if len(some) > 0 else tensors
    return op.Concat(*some, axis=axis(dim, some[0].ndim)) if len(some) > 1 else op.Identity(some[0])


@aten("stack.default")
def stack(tensors, dim=0):
    dim = axis(dim, tensors[0].ndim + 1)
    rows = [op.Unsqueeze(one, [dim]) for one in in_one_type(tensors)]
    return op.Concat(*rows, axis=dim) if len(rows) > 1 else rows[0]


@inline
def with_rank(x, rank):
    """At least so many dimensions, as torch.atleast_1d, _2d and _3d give them."""
    if x.ndim >= rank:
        return x
    if x.ndim == 0:
        return op.Reshape(x, [1] * rank)
    if x.ndim == 1:
        return op.Unsqueeze(x, [0] if rank == 2 else [0, 2])
    return op.Unsqueeze(x, [2])


@aten("atleast_1d.default")
def atleast_1d(self):
    return with_rank(self, 1) if self.ndim < 1 else op.Identity(self)


@aten("atleast_2d.default")
def atleast_2d(self):
    return with_rank(self, 2) if self.ndim < 2 else op.Identity(self)


@aten("atleast_3d.default")
def atleast_3d(self):
    return with_rank(self, 3) if self.ndim < 3 else op.Identity(self)


@aten("atleast_1d.Sequence")
def each_atleast_1d(tensors):
    return [atleast_1d(one) for one in tensors]


@aten("atleast_2d.Sequence")
def each_atleast_2d(tensors):
    return [atleast_2d(one) for one in tensors]


@aten("atleast_3d.Sequence")
def each_atleast_3d(tensors):
    return [atleast_3d(one) for one in tensors]


@aten("hstack.default")
def hstack(tensors):
    rows = [with_rank(one, 1) for one in in_one_type(tensors)]
    return op.Concat(*rows, axis=0 if rows[0].ndim == 1 else 1)


@aten("vstack.default", "row_stack.default")
def vstack(tensors):
    return op.Concat(*[with_rank(one, 2) for one in in_one_type(tensors)], axis=0)


@aten("dstack.default")
def dstack(tensors):
    return op.Concat(*[with_rank(one, 3) for one in in_one_type(tensors)], axis=2)


@aten("column_stack.default")
def column_stack(tensors):
    rows = in_one_type(tensors)
    rows = [op.Reshape(one, [-1, 1]) if one.ndim < 2 else one for one in rows]
    return op.Concat(*rows, axis=1)


@inline
def parts_of(x, sizes, dim):
    if len(sizes) == 1:
        return [op.Identity(x)]
    return list(op.Split(x, list(sizes), axis=dim))


@aten("split.Tensor", "unsafe_split.Tensor", "split_copy.Tensor")
def split(self, split_size, dim=0):
    length = self.shape[dim]
    if not (is_static(split_size) and is_static(length)):
        # torch.export fixes the number of parts, which ONNX gives as a sequence.
        return op.SplitToSequence(self, split_size, axis=axis(dim, self.ndim))
    if split_size == 0:
        return [op.Identity(self)]
    sizes = [min(split_size, length - start) for start in range(0, length, split_size)]
    return parts_of(self, sizes if len(sizes) > 0 else [0], dim)


@aten("split.sizes")
def split_sizes(self, split_size, dim=0):
    return parts_of(self, split_size, dim)


@aten("split_with_sizes.default", "split_with_sizes_copy.default")
def split_with_sizes(self, split_sizes, dim=0):
    return parts_of(self, split_sizes, dim)


@aten("chunk.default", "unsafe_chunk.default")
def chunk(self, chunks, dim=0):
    length = self.shape[dim]
    size = (length + chunks - 1) // chunks
    if not isinstance(self.type.shape[dim], int):
        # torch exports only lengths that give as many parts as were asked for.
        return parts_of(self, [*[size] * (chunks - 1), length - size * (chunks - 1)], dim)
    if size == 0:
        return [op.Identity(self) for _ in range(chunks)]
    sizes = [min(size, length - start) for start in range(0, length, size)]
    return parts_of(self, sizes, dim)


@inline
def even_sizes(length, count):
    return [length // count + (1 if i < length % count else 0) for i in range(count)]


@aten("tensor_split.sections")
def tensor_split(self, sections, dim=0):
    return parts_of(self, even_sizes(self.shape[dim], sections), dim)


@aten("tensor_split.indices")
def tensor_split_indices(self, indices, dim=0):
    starts = [0, *indices]
    ends = [*indices, END]
    parts = []
    for i in range(len(starts)):
        parts.append(op.Slice(self, [starts[i]], [ends[i]], [dim]))
    return parts


@aten("tensor_split.tensor_indices_or_sections")
def tensor_split_at(self, tensor_indices_or_sections, dim=0):
    at = tensor_indices_or_sections
    assert at.ndim == 1, "tensor_split by a tensor that is the number of parts: give an int"
    return tensor_split_indices(self, [at[i] for i in range(at.shape[0])], dim)


@aten("hsplit.int")
def hsplit(self, sections):
    dim = 0 if self.ndim == 1 else 1
    return parts_of(self, even_sizes(self.shape[dim], sections), dim)


@aten("vsplit.int")
def vsplit(self, sections):
    return parts_of(self, even_sizes(self.shape[0], sections), 0)


@aten("dsplit.int")
def dsplit(self, sections):
    return parts_of(self, even_sizes(self.shape[2], sections), 2)


@aten("hsplit.array")
def hsplit_array(self, indices):
    return tensor_split_indices(self, indices, 0 if self.ndim == 1 else 1)


@aten("vsplit.array")
def vsplit_array(self, indices):
    return tensor_split_indices(self, indices, 0)


@aten("dsplit.array")
def dsplit_array(self, indices):
    return tensor_split_indices(self, indices, 2)


@aten("unbind.int", "unbind_copy.int")
def unbind(self, dim=0):
    return [op.Gather(self, i, axis=dim) for i in range(self.shape[dim])]


@aten("meshgrid.default", "meshgrid.indexing")
def meshgrid(tensors, indexing="ij"):
    sizes = [one.shape[0] if one.ndim > 0 else 1 for one in tensors]
    order = list(range(len(sizes)))
    if indexing == "xy" and len(sizes) > 1:
        order = [1, 0, *range(2, len(sizes))]
    shape = [sizes[one] for one in order]
    grids = []
    for i in range(len(sizes)):
        place = order.index(i)
        column = op.Reshape(tensors[i], [-1 if j == place else 1 for j in range(len(sizes))])
        grids.append(op.Expand(column, shape))
    return grids


@aten("block_diag.default")
def block_diag(tensors):
    blocks = [with_rank(one, 2) for one in in_one_type(tensors)]
    width = sum([one.shape[1] for one in blocks])
    rows, before = [], 0
    for one in blocks:
        after = width - before - one.shape[1]
        rows.append(op.Pad(one, [0, before, 0, after]))
        before = before + one.shape[1]
    return op.Concat(*rows, axis=0)


@aten("cartesian_prod.default")
def cartesian_prod(tensors):
    if len(tensors) == 1:
        return op.Identity(tensors[0])
    return op.Concat(*[op.Reshape(one, [-1, 1]) for one in meshgrid(tensors)], axis=1)
