"""Complex tensors, as pairs of their real and imaginary parts.

What does the same to both parts, such as a reshape, has no function here: it is called for each.
"""

from sardonyx import BOOL, DOUBLE, FLOAT, FLOAT16

from .bins import slopes
from .chance import normal_of, uniform_of
from .create import evenly, filled
from .create import eye as eye_of
from .create import linspace_tensor as linspace_of
from .declare import inline, op, pairs
from .index import cut, filled_like, index_fill, scattered, unsafe_masked_index
from .join import meshgrid as meshgrid_of
from .pointwise import where as where_promoted
from .reduce import diff as diff_of
from .resize import pad_
from .types import cast, full_of, is_number, kind, result_type, tensor
from .view import broadcast_tensors as broadcast
from .view import expand_as as real_expand_as
from .view import resize_as as real_resize_as
from .view import view_as as real_view_as


@inline
def parts(x):
    """A pair; of a tensor or number, with no imaginary part."""
    if isinstance(x, tuple):
        return x
    if is_number(x):
        return x, 0.0
    return x, nothing_like(x)


@inline
def nothing_like(x):
    return full_of(x.shape, 0, x.dtype) if x.ndim > 0 else tensor(0, x.dtype)


@inline
def first(x):
    """What has the shape and the element type of a pair; a tensor or number itself."""
    return x[0] if isinstance(x, tuple) else x


@inline
def each(f, x):
    """`f` of each part."""
    return f(x[0]), f(x[1])


@inline
def in_type(x, dtype):
    return (cast(x[0], dtype), cast(x[1], dtype)) if isinstance(x, tuple) else cast(x, dtype)


@inline
def common(self, other):
    """Both, with parts of the element type that torch promotes them to; what is real stays so."""
    dtype = result_type(first(self), first(other))
    dtype = dtype if kind(dtype) == 2 else FLOAT.dtype
    return in_type(self, dtype), in_type(other, dtype)


@inline
def together(x):
    """A pair as one tensor whose last dimension is the two parts."""
    return op.Concat(op.Unsqueeze(x[0], [-1]), op.Unsqueeze(x[1], [-1]), axis=-1)


@inline
def apart(x):
    return op.Gather(x, 0, axis=-1), op.Gather(x, 1, axis=-1)


@pairs("view_as_complex.default")
def view_as_complex(self):
    return apart(self)


@pairs("view_as_real.default")
def view_as_real(self):
    return together(self)


@pairs("real.default")
def real(self):
    return self[0]


@pairs("imag.default")
def imag(self):
    return self[1]


@pairs("complex.default")
def complex_(real, imag):
    if real.type.shape == imag.type.shape:
        return real, imag
    shape = op.Or(real == real, imag == imag).shape
    return op.Expand(real, shape), op.Expand(imag, shape)


@pairs("polar.default")
def polar(abs, angle):
    return abs * op.Cos(angle), abs * op.Sin(angle)


@inline
def size_of(self):
    """The absolute value as DOUBLE, whose range the squares of FLOAT numbers do not leave."""
    a, b = cast(self[0], DOUBLE.dtype), cast(self[1], DOUBLE.dtype)
    return op.Sqrt(a * a + b * b)


@pairs("abs.default", "absolute.default")
def absolute(self):
    return cast(size_of(self), self[0].dtype)


@pairs("conj.default", "_conj.default", "conj_physical.default",
       "_conj_physical.default")  # fmt: skip
def conj(self):
    return self[0], op.Neg(self[1])


@pairs("resolve_conj.default")
def resolve_conj(self):
    return self


@pairs("isreal.default")
def isreal(self):
    return self[1] == 0.0


@pairs("put_back_real")
def put_back_real(self, view):
    """What a pair is after a write to its real part; so are the next three."""
    return view, self[1]


@pairs("put_back_imag")
def put_back_imag(self, view):
    return self[0], view


@pairs("put_back_view_as_real")
def put_back_view_as_real(self, view):
    return apart(view)


@pairs("put_back_view_as_complex")
def put_back_view_as_complex(self, view):
    return together(view)


@pairs("of_real")
def of_real(self):
    """A real tensor among complex ones."""
    return parts(self)


# --- Pairs out of nothing, or out of real tensors


@inline
def filled_pair(size, value, dtype):
    re, im = parts(value)
    return filled(size, re, dtype), filled(size, im, dtype)


@pairs("zeros.default", "empty.memory_format", "empty_permuted.default",
       "empty_strided.default")  # fmt: skip
def zeros(size, stride=None, *, dtype=None):
    return filled_pair(size, 0.0, dtype)


@pairs("ones.default")
def ones(size, *, dtype=None):
    return filled_pair(size, 1.0, dtype)


@pairs("full.default")
def full(size, fill_value, *, dtype=None):
    return filled_pair(size, fill_value, FLOAT.dtype if dtype is None else dtype)


@inline
def like(self, value, dtype):
    x = self[0] if isinstance(self, tuple) else self
    return filled_pair(x.shape, value, x.dtype if dtype is None else dtype)


@pairs("zeros_like.default", "empty_like.default")
def zeros_like(self, *, dtype=None):
    return like(self, 0.0, dtype)


@pairs("ones_like.default")
def ones_like(self, *, dtype=None):
    return like(self, 1.0, dtype)


@pairs("full_like.default")
def full_like(self, fill_value, *, dtype=None):
    return like(self, fill_value, dtype)


@pairs("zero.default")
def zero(self):
    return like(self, 0.0, None)


@pairs("fill.Scalar", "fill.Tensor")
def fill(self, value):
    return like(self, value, None)


@inline
def type_like(self, dtype):
    return first(self).dtype if dtype is None else dtype


@pairs("new_zeros.default", "new_empty.default", "new_empty_strided.default")
def new_zeros(self, size, stride=None, *, dtype=None):
    return filled_pair(size, 0.0, type_like(self, dtype))


@pairs("new_ones.default")
def new_ones(self, size, *, dtype=None):
    return filled_pair(size, 1.0, type_like(self, dtype))


@pairs("new_full.default")
def new_full(self, size, fill_value, *, dtype=None):
    return filled_pair(size, fill_value, type_like(self, dtype))


@pairs("scalar_tensor.default")
def scalar_tensor(s, *, dtype=None):
    return filled_pair([], s, FLOAT.dtype if dtype is None else dtype)


@pairs("eye.default")
def eye(n, *, dtype=None):
    return parts(eye_of(n, dtype=dtype))


@pairs("eye.m")
def eye_m(n, m, *, dtype=None):
    return parts(op.EyeLike(filled([n, m], 0, FLOAT.dtype if dtype is None else dtype)))


@pairs("linspace.default")
def linspace(start, end, steps, *, dtype=None):
    dtype = FLOAT.dtype if dtype is None else dtype
    if steps == 0:
        return filled_pair([0], 0.0, dtype)
    (a, b), (c, d) = parts(start), parts(end)
    return cast(evenly(a, c, steps), dtype), cast(evenly(b, d, steps), dtype)


@pairs("linspace.Tensor_Tensor", "linspace.Tensor_Scalar", "linspace.Scalar_Tensor")
def linspace_tensor(start, end, steps, *, dtype=None):
    (a, b), (c, d) = parts(start), parts(end)
    return linspace_of(a, c, steps, dtype=dtype), linspace_of(b, d, steps, dtype=dtype)


# --- Random numbers: the variance of a complex number is that of both parts together


@inline
def drawn(like, mean=0.0, std=1.0):
    re, im = parts(mean)
    return normal_of(like, re, std * 0.5**0.5), normal_of(like, im, std * 0.5**0.5)


@pairs("randn.default")
def randn(size, *, dtype=None):
    return drawn(filled(size, 0, FLOAT.dtype if dtype is None else dtype))


@pairs("randn_like.default")
def randn_like(self, *, dtype=None):
    return drawn(cast(first(self), dtype))


@pairs("normal_functional.default")
def normal_functional(self, mean=0.0, std=1.0):
    return drawn(self[0], mean, std)


@pairs("rand.default")
def rand(size, *, dtype=None):
    x = filled(size, 0, FLOAT.dtype if dtype is None else dtype)
    return uniform_of(x, 0.0, 1.0), uniform_of(x, 0.0, 1.0)


@pairs("rand_like.default")
def rand_like(self, *, dtype=None):
    x = cast(first(self), dtype)
    return uniform_of(x, 0.0, 1.0), uniform_of(x, 0.0, 1.0)


@pairs("uniform.default")
def uniform(self, from_=0.0, to=1.0):
    return uniform_of(self[0], from_, to), uniform_of(self[0], from_, to)


# --- Copies, choices and places


@pairs("to.dtype", "_to_copy.default", "to.dtype_layout")
def to(self, dtype=None, copy=False):
    a, b = parts(self)
    return cast(a, dtype), cast(b, dtype)


# The real part alone, or whether there is any for BOOL; the exporter chooses it by the result.
@pairs("to_real")
def to_real(self, dtype=None, copy=False):
    a, b = parts(self)
    return (a != 0) | (b != 0) if dtype == BOOL.dtype else cast(a, dtype)


@pairs("copy.default")
def copy(self, src):
    a, b = parts(src)
    shape, dtype = self[0].shape, self[0].dtype
    if self[0].ndim == 0:
        return cast(a, dtype), cast(b, dtype)
    return op.Expand(cast(a, dtype), shape), op.Expand(cast(b, dtype), shape)


@pairs("where.self", "where.ScalarOther", "where.ScalarSelf", "where.Scalar")
def where(condition, self, other):
    self, other = common(self, other)
    (a, b), (c, d) = parts(self), parts(other)
    return where_promoted(condition, a, c), where_promoted(condition, b, d)


@pairs("masked_fill.Scalar", "masked_fill.Tensor")
def masked_fill(self, mask, value):
    (a, b), (re, im) = self, parts(value)
    return (op.Where(mask, tensor(re, a.dtype), a), op.Where(mask, tensor(im, b.dtype), b))


@pairs("pad.default")
def padded(self, pad, mode="constant", value=None):
    (a, b), (re, im) = self, parts(0.0 if value is None else value)
    return pad_(a, pad, mode, re), pad_(b, pad, mode, im)


@pairs("constant_pad_nd.default")
def constant_pad_nd(self, pad, value=0.0):
    return padded(self, pad, "constant", value)


@pairs("index_fill.int_Scalar", "index_fill.int_Tensor")
def index_filled(self, dim, index, value):
    (a, b), (re, im) = self, parts(value)
    return index_fill(a, dim, index, re), index_fill(b, dim, index, im)


@inline
def scattered_source(self, dim, index, src, reduction):
    (a, b), (c, d) = self, parts(src)
    return (scattered(a, dim, index, cut(c, index), reduction),
            scattered(b, dim, index, cut(d, index), reduction))  # fmt: skip


@inline
def scattered_value(self, dim, index, value, reduction):
    (a, b), (re, im) = self, parts(value)
    return (scattered(a, dim, index, filled_like(index, re, a.dtype), reduction),
            scattered(b, dim, index, filled_like(index, im, b.dtype), reduction))  # fmt: skip


@pairs("scatter.src")
def scatter(self, dim, index, src):
    return scattered_source(self, dim, index, src, "none")


@pairs("scatter.value")
def scatter_value(self, dim, index, value):
    return scattered_value(self, dim, index, value, "none")


@pairs("scatter.reduce")
def scatter_by(self, dim, index, src, *, reduce):
    assert reduce == "add", "products of complex numbers that are scattered"
    return scattered_source(self, dim, index, src, "add")


@pairs("scatter.value_reduce")
def scatter_value_by(self, dim, index, value, *, reduce):
    assert reduce == "add", "products of complex numbers that are scattered"
    return scattered_value(self, dim, index, value, "add")


@pairs("_unsafe_masked_index.default")
def masked_index(self, mask, indices, fill):
    (a, b), (re, im) = self, parts(fill)
    return unsafe_masked_index(a, mask, indices, re), unsafe_masked_index(b, mask, indices, im)


# --- The shape of another tensor


@inline
def shaped_as(f, self, other):
    x = first(other)
    return (f(self[0], x), f(self[1], x)) if isinstance(self, tuple) else f(self, x)


@pairs("view_as.default", "reshape_as.default")
def view_as(self, other):
    return shaped_as(real_view_as, self, other)


@pairs("expand_as.default")
def expand_as(self, other):
    return shaped_as(real_expand_as, self, other)


@pairs("resize_as.default")
def resize_as(self, the_template):
    return shaped_as(real_resize_as, self, the_template)


@inline
def of_each(f, tensors):
    """`f` of the real and of the imaginary parts of tensors, as a list of pairs."""
    re = f([parts(one)[0] for one in tensors])
    im = f([parts(one)[1] for one in tensors])
    # What was real stays so.
    return [(re[i], im[i]) if isinstance(tensors[i], tuple) else re[i] for i in range(len(re))]


@pairs("broadcast_tensors.default")
def broadcast_tensors(tensors):
    return of_each(broadcast, tensors)


@pairs("meshgrid.default", "meshgrid.indexing")
def meshgrid(tensors, indexing="ij"):
    return of_each(lambda v: meshgrid_of(v, indexing), tensors)


@pairs("diff.default")
def diff(self, n=1, dim=-1, prepend=None, append=None):
    a, b = self
    p, q = (None, None) if prepend is None else parts(prepend)
    r, s = (None, None) if append is None else parts(append)
    return diff_of(a, n, dim, p, r), diff_of(b, n, dim, q, s)


@inline
def slopes_of(self, spacing, dim, edge_order):
    re, im = slopes(self[0], spacing, dim, edge_order), slopes(self[1], spacing, dim, edge_order)
    return [(re[i], im[i]) for i in range(len(re))]


@pairs("gradient.scalarint", "gradient.scalarrayint")
def gradient(self, *, spacing=None, dim=None, edge_order=1):
    return slopes_of(self, spacing, dim, edge_order)


@pairs("gradient.scalararray", "gradient.scalarrayarray")
def gradient_along(self, *, spacing, dim, edge_order=1):
    return slopes_of(self, spacing, dim, edge_order)


@pairs("gradient.array")
def gradient_array(self, *, dim, edge_order=1):
    return slopes_of(self, None, dim, edge_order)


@pairs("chalf.default")
def chalf(self):
    a, b = parts(self)
    return cast(a, FLOAT16.dtype), cast(b, FLOAT16.dtype)


@pairs("matrix_H.default", "mH.default", "adjoint.default")
def adjoint(self):
    a, b = self
    if a.ndim < 2:
        return conj(self)
    perm = [*range(a.ndim - 2), a.ndim - 1, a.ndim - 2]
    return op.Transpose(a, perm=perm), op.Neg(op.Transpose(b, perm=perm))
