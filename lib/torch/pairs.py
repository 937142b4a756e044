"""Complex tensors, as pairs of their real and imaginary parts.

What does the same to both parts, such as a reshape, has no function here: it is called for each.
"""

import math

import numpy as np
from sardonyx import BOOL, DOUBLE, FLOAT, FLOAT16

from .conv import conv
from .create import filled
from .declare import inline, op, pairs
from .pointwise import atan2
from .reduce import vector_norm
from .resize import pad_
from .types import axis, cast, full_of, is_number, tensor


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


@pairs("abs.default")
def absolute(self):
    # The squares of FLOAT numbers stay in the range of DOUBLE.
    a, b = cast(self[0], DOUBLE.dtype), cast(self[1], DOUBLE.dtype)
    return cast(op.Sqrt(a * a + b * b), self[0].dtype)


@pairs("conj.default", "_conj.default", "conj_physical.default")
def conj(self):
    return self[0], op.Neg(self[1])


@pairs("resolve_conj.default")
def resolve_conj(self):
    return self


@pairs("of_real")
def of_real(self):
    """A real tensor among complex ones."""
    return parts(self)


# --- Pairs out of nothing, or out of real tensors


@inline
def filled_pair(size, value, dtype):
    re, im = parts(value)
    return filled(size, re, dtype), filled(size, im, dtype)


@pairs("zeros.default", "empty.memory_format")
def zeros(size, *, dtype=None):
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


@pairs("new_zeros.default", "new_empty.default")
def new_zeros(self, size, *, dtype=None):
    x = parts(self)[0]
    return filled_pair(size, 0.0, x.dtype if dtype is None else dtype)


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


@pairs("where.self")
def where(condition, self, other):
    (a, b), (c, d) = parts(self), parts(other)
    return op.Where(condition, a, c), op.Where(condition, b, d)


@pairs("masked_fill.Scalar", "masked_fill.Tensor")
def masked_fill(self, mask, value):
    re, im = parts(value)
    dtype = self[0].dtype
    return (op.Where(mask, tensor(re, dtype), self[0]),
            op.Where(mask, tensor(im, dtype), self[1]))  # fmt: skip


@pairs("neg.default")
def neg(self):
    return op.Neg(self[0]), op.Neg(self[1])


@pairs("add.Tensor", "add.Scalar")
def add(self, other, *, alpha=1):
    (a, b), (c, d) = parts(self), parts(other)
    return a + c * alpha, b + d * alpha


@pairs("sub.Tensor", "sub.Scalar")
def sub(self, other, *, alpha=1):
    (a, b), (c, d) = parts(self), parts(other)
    return a - c * alpha, b - d * alpha


@pairs("rsub.Tensor", "rsub.Scalar")
def rsub(self, other, *, alpha=1):
    return sub(other, self, alpha=alpha)


@pairs("mul.Tensor", "mul.Scalar")
def mul(self, other):
    if not isinstance(self, tuple):
        return self * other[0], self * other[1]
    if not isinstance(other, tuple):
        return self[0] * other, self[1] * other
    (a, b), (c, d) = self, other
    return a * c - b * d, a * d + b * c


@pairs("div.Tensor", "div.Scalar")
def div(self, other):
    if not isinstance(other, tuple):
        return self[0] / other, self[1] / other
    (a, b), (c, d) = parts(self), other
    size = c * c + d * d
    return (a * c + b * d) / size, (b * c - a * d) / size


@pairs("reciprocal.default")
def reciprocal(self):
    size = self[0] * self[0] + self[1] * self[1]
    return self[0] / size, op.Neg(self[1]) / size


@pairs("square.default")
def square(self):
    return mul(self, self)


@pairs("pow.Tensor_Scalar")
def power(self, exponent):
    if isinstance(exponent, int) and 1 <= exponent <= 8:
        y = self
        for _ in range(exponent - 1):
            y = mul(y, self)
        return y
    assert not isinstance(exponent, tuple), "a complex tensor to the power of a complex number"
    size, turn = op.Pow(absolute(self), float(exponent)), angle(self) * float(exponent)
    return size * op.Cos(turn), size * op.Sin(turn)


@pairs("angle.default")
def angle(self):
    return atan2(self[1], self[0])


@pairs("log.default")
def log(self):
    return op.Log(absolute(self)), angle(self)


@pairs("sqrt.default")
def sqrt(self):
    size, turn = op.Sqrt(absolute(self)), angle(self) * 0.5
    return size * op.Cos(turn), size * op.Sin(turn)


@pairs("sgn.default")
def sgn(self):
    size = absolute(self)
    safe = op.Where(size == 0.0, 1.0, size)
    return self[0] / safe, self[1] / safe


@pairs("eq.Tensor", "eq.Scalar")
def eq(self, other):
    (a, b), (c, d) = parts(self), parts(other)
    return op.And(a == c, b == d)


@pairs("ne.Tensor", "ne.Scalar")
def ne(self, other):
    return op.Not(eq(self, other))


@pairs("exp.default")
def exp(self):
    size = op.Exp(self[0])
    return size * op.Cos(self[1]), size * op.Sin(self[1])


@pairs("matmul.default", "mm.default", "bmm.default")
def matmul(self, mat2):
    (a, b), (c, d) = parts(self), parts(mat2)
    return op.MatMul(a, c) - op.MatMul(b, d), op.MatMul(a, d) + op.MatMul(b, c)


@pairs("linear.default")
def linear(input, weight, bias=None):
    a, b = matmul(input, (op.Transpose(weight[0]), op.Transpose(weight[1])))
    return (a, b) if bias is None else add((a, b), bias)


@pairs("addmm.default")
def addmm(self, mat1, mat2, *, beta=1, alpha=1):
    a, b = matmul(mat1, mat2)
    c, d = parts(self)
    return c * beta + a * alpha, d * beta + b * alpha


@pairs("einsum.default")
def einsum(equation, tensors, *, path=None):
    assert len(tensors) <= 2, "einsum of more than two tensors, where one is complex"
    text = equation.replace(" ", "")
    if len(tensors) == 1:
        a, b = tensors[0]
        return op.Einsum(a, equation=text), op.Einsum(b, equation=text)
    (a, b), (c, d) = parts(tensors[0]), parts(tensors[1])
    return (op.Einsum(a, c, equation=text) - op.Einsum(b, d, equation=text),
            op.Einsum(a, d, equation=text) + op.Einsum(b, c, equation=text))  # fmt: skip


@pairs("conv1d.default", "conv2d.default", "conv3d.default", "conv1d.padding", "conv2d.padding",
       "conv3d.padding")  # fmt: skip
def conv_pair(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    (a, b), (c, d) = parts(input), parts(weight)
    re, im = (None, None) if bias is None else parts(bias)
    return (conv(a, c, re, stride, padding, dilation, groups)
            - conv(b, d, None, stride, padding, dilation, groups),
            conv(a, d, im, stride, padding, dilation, groups)
            + conv(b, c, None, stride, padding, dilation, groups))  # fmt: skip


@pairs("pad.default", "constant_pad_nd.default")
def padded(self, pad, mode="constant", value=None):
    (a, b), (re, im) = self, parts(0.0 if value is None else value)
    return pad_(a, pad, mode, re), pad_(b, pad, mode, im)


@pairs("linalg_vector_norm.default")
def linalg_vector_norm(self, ord=2, dim=None, keepdim=False, *, dtype=None):
    return vector_norm(absolute(self), ord, dim, keepdim, dtype=dtype)


# --- Fourier's transforms


@inline
def scale_of(norm, n, inverse):
    """What the sum is multiplied by; ONNX divides inverse transforms by n already."""
    if norm == "ortho":
        return math.sqrt(n) if inverse else 1.0 / math.sqrt(n)
    if norm == "forward":
        return n if inverse else 1.0 / n
    return 1.0


@inline
def sized(x, n, dim):
    """Cut, or with zeros behind, to a length; the parts are the last dimension."""
    if n is None:
        return x
    have = x.shape[dim]
    if n < have:
        return op.Slice(x, [0], [n], [dim])
    if n == have:
        return x
    rank = x.ndim
    return op.Pad(x, [0] * rank + [n - have if i == dim else 0 for i in range(rank)])


@inline
def transformed(x, dim, inverse=0, onesided=0):
    """DFT along a dimension of a tensor whose last dimension is the parts."""
    if op.version >= 20:
        return op.DFT(x, None, dim, inverse=inverse, onesided=onesided)
    return op.DFT(x, axis=dim, inverse=inverse, onesided=onesided)


@inline
def fft_along(x, n, dim, norm, inverse):
    x = sized(x, n, dim)
    y = transformed(x, dim, inverse)
    scale = scale_of(norm, x.shape[dim], inverse)
    return y if norm is None or norm == "backward" else y * scale


@inline
def rank_of(x):
    return x[0].ndim if isinstance(x, tuple) else x.ndim


@inline
def joined(x):
    return together(x) if isinstance(x, tuple) else op.Unsqueeze(in_floats(x), [-1])


@inline
def in_floats(x):
    return x if x.dtype.is_floating_point() else op.Cast(x, to=FLOAT.dtype)


@inline
def both_parts(x):
    """Two parts, where a real tensor has one."""
    return x if x.type.shape[-1] == 2 else op.Concat(x, x * 0, axis=-1)


@pairs("fft_fft.default")
def fft_fft(self, n=None, dim=-1, norm=None):
    return apart(fft_along(joined(self), n, axis(dim, rank_of(self)), norm, 0))


@pairs("fft_ifft.default")
def fft_ifft(self, n=None, dim=-1, norm=None):
    return apart(fft_along(both_parts(joined(self)), n, axis(dim, rank_of(self)), norm, 1))


@inline
def half(y, dim):
    """The first half of a transform of real numbers; the rest mirrors it."""
    return op.Slice(y, [0], [y.shape[dim] // 2 + 1], [dim])


@pairs("fft_rfft.default")
def fft_rfft(self, n=None, dim=-1, norm=None):
    at = axis(dim, self.ndim)
    return apart(half(fft_along(joined(self), n, at, norm, 0), at))


@inline
def mirrored(x, n, dim):
    """The whole transform of real numbers, of its first half; `n` is their count."""
    count = n // 2 + 1
    x = sized(x, count, dim)
    first = n - count
    # Elements n-count, ..., 1 of the half, conjugated, go behind it.
    back = op.Slice(x, [first], [0], [dim], [-1])
    signs = np.array([1.0, -1.0], dtype=np.float32)
    return op.Concat(x, back * op.CastLike(signs, x), axis=dim) if first > 0 else x


@pairs("fft_irfft.default")
def fft_irfft(self, n=None, dim=-1, norm=None):
    at = axis(dim, rank_of(self))
    x = both_parts(joined(self))
    count = 2 * (x.shape[at] - 1) if n is None else n
    y = fft_along(mirrored(x, count, at), None, at, norm, 1)
    return op.Gather(y, 0, axis=-1)


@inline
def along_all(self, s, dim, norm, inverse):
    rank = rank_of(self)
    if dim is None:
        dims = list(range(rank)) if s is None else list(range(rank - len(s), rank))
    else:
        dims = [axis(one, rank) for one in dim]
    x = both_parts(joined(self))
    for i in range(len(dims)):
        n = None if s is None or s[i] == -1 else s[i]
        x = fft_along(x, n, dims[i], norm, inverse)
    return apart(x)


@pairs("fft_fft2.default")
def fft_fft2(self, s=None, dim=(-2, -1), norm=None):
    return along_all(self, s, dim, norm, 0)


@pairs("fft_ifft2.default")
def fft_ifft2(self, s=None, dim=(-2, -1), norm=None):
    return along_all(self, s, dim, norm, 1)


@pairs("fft_fftn.default")
def fft_fftn(self, s=None, dim=None, norm=None):
    return along_all(self, s, dim, norm, 0)


@pairs("fft_ifftn.default")
def fft_ifftn(self, s=None, dim=None, norm=None):
    return along_all(self, s, dim, norm, 1)


@inline
def lengths_of(self, s, dim):
    """The dimensions of a transform along several, and their lengths; None: as they are."""
    rank = rank_of(self)
    if dim is None:
        dims = list(range(rank)) if s is None else list(range(rank - len(s), rank))
    else:
        dims = [axis(one, rank) for one in dim]
    return dims, [None if s is None or s[i] == -1 else s[i] for i in range(len(dims))]


@inline
def real_along_all(self, s, dim, norm):
    """The last dimension is of real numbers, and gives one half."""
    dims, lengths = lengths_of(self, s, dim)
    x = fft_rfft(self, lengths[-1], dims[-1], norm)
    for i in range(len(dims) - 1):
        x = fft_fft(x, lengths[i], dims[i], norm)
    return x


@inline
def to_real_along_all(self, s, dim, norm):
    dims, lengths = lengths_of(self, s, dim)
    x = self
    for i in range(len(dims) - 1):
        x = fft_ifft(x, lengths[i], dims[i], norm)
    return fft_irfft(x, lengths[-1], dims[-1], norm)


@pairs("fft_rfft2.default")
def fft_rfft2(self, s=None, dim=(-2, -1), norm=None):
    return real_along_all(self, s, dim, norm)


@pairs("fft_rfftn.default")
def fft_rfftn(self, s=None, dim=None, norm=None):
    return real_along_all(self, s, dim, norm)


@pairs("fft_irfft2.default")
def fft_irfft2(self, s=None, dim=(-2, -1), norm=None):
    return to_real_along_all(self, s, dim, norm)


@pairs("fft_irfftn.default")
def fft_irfftn(self, s=None, dim=None, norm=None):
    return to_real_along_all(self, s, dim, norm)


@inline
def turned_norm(norm):
    """Hermitian transforms are the others' inverses: what divides there multiplies here."""
    if norm == "ortho":
        return "ortho"
    return "backward" if norm == "forward" else "forward"


@pairs("fft_hfft.default")
def fft_hfft(self, n=None, dim=-1, norm=None):
    return fft_irfft(conj(float_parts(self)), n, dim, turned_norm(norm))


@pairs("fft_ihfft.default")
def fft_ihfft(self, n=None, dim=-1, norm=None):
    return conj(fft_rfft(self, n, dim, turned_norm(norm)))


@inline
def short_time(x, n_fft, hop_length, win_length, window, normalized, onesided, return_complex):
    hop = n_fft // 4 if hop_length is None else hop_length
    width = n_fft if win_length is None else win_length
    rows = op.Unsqueeze(x, [0]) if x.ndim == 1 else x
    count = 1 + (rows.shape[1] - n_fft) // hop
    starts = op.Unsqueeze(op.Range(0, count, 1) * hop, [1])
    frames = op.Gather(rows, starts + op.Unsqueeze(op.Range(0, n_fft, 1), [0]), axis=1)
    if window is not None:
        before = (n_fft - width) // 2
        wide = op.Pad(window, [before, n_fft - width - before]) if width != n_fft else window
        frames = frames * wide
    elif width != n_fft:
        before = (n_fft - width) // 2
        inside = [1.0 if before <= i < before + width else 0.0 for i in range(n_fft)]
        frames = frames * inside
    y = transformed(op.Unsqueeze(frames, [-1]), 2)
    y = half(y, 2) if onesided is None or onesided else y
    y = y / math.sqrt(n_fft) if normalized else y
    y = op.Transpose(y, perm=[0, 2, 1, 3])
    y = op.Squeeze(y, [0]) if x.ndim == 1 else y
    return apart(y) if return_complex else y


@pairs("stft.default")
def stft(self, n_fft, hop_length=None, win_length=None, window=None, normalized=False,
         onesided=None, return_complex=None, align_to_window=None):  # fmt: skip
    return short_time(self, n_fft, hop_length, win_length, window, normalized, onesided,
                      return_complex)  # fmt: skip


@pairs("stft.center")
def stft_center(self, n_fft, hop_length=None, win_length=None, window=None, center=True,
                pad_mode="reflect", normalized=False, onesided=None, return_complex=None,
                align_to_window=None):  # fmt: skip
    x = self
    if center:
        side = n_fft // 2
        pads = [side, side] if x.ndim == 1 else [0, side, 0, side]
        modes = {"constant": "constant", "reflect": "reflect", "replicate": "edge"}
        x = op.Pad(x, pads, mode=modes[pad_mode])
    return short_time(x, n_fft, hop_length, win_length, window, normalized, onesided,
                      return_complex)  # fmt: skip


@inline
def wide_window(window, n_fft, width, dtype):
    """The window in the middle of a frame."""
    before = (n_fft - width) // 2
    if window is None:
        inside = [1.0 if before <= i < before + width else 0.0 for i in range(n_fft)]
        return op.Cast(inside, to=dtype)
    return op.Pad(window, [before, n_fft - width - before]) if width != n_fft else window


@pairs("istft.default")
def istft(self, n_fft, hop_length=None, win_length=None, window=None, center=True,
          normalized=False, onesided=None, length=None, return_complex=False):  # fmt: skip
    assert not return_complex, "istft(return_complex=True)"
    hop = n_fft // 4 if hop_length is None else hop_length
    x = joined(self)
    is_single = x.ndim == 3
    x = op.Transpose(op.Unsqueeze(x, [0]) if is_single else x, perm=[0, 2, 1, 3])
    x = x * math.sqrt(n_fft) if normalized else x
    # Of a spectrum with both sides torch reads the first.
    half = x if onesided is None or onesided else x[:, :, : n_fft // 2 + 1]
    frames = op.Gather(transformed(mirrored(half, n_fft, 2), 2, 1), 0, axis=-1)
    wide = wide_window(window, n_fft, n_fft if win_length is None else win_length, x.dtype)
    batch, count = frames.shape[0], frames.shape[1]
    # Frames overlap: each of their elements is added to its place in the wave.
    starts = op.Unsqueeze(op.Range(0, count, 1) * hop, [1])
    places = op.Reshape(starts + op.Unsqueeze(op.Range(0, n_fft, 1), [0]), [-1])
    total = (count - 1) * hop + n_fft
    wave = op.ScatterElements(
        full_of([batch, total], 0, x.dtype), op.Expand(places, [batch, count * n_fft]),
        op.Reshape(frames * wide, [batch, -1]), axis=1, reduction="add")  # fmt: skip
    weight = op.Reshape(op.Expand(wide * wide, [count, n_fft]), [-1])
    weights = op.ScatterElements(full_of([total], 0, x.dtype), places, weight, axis=0,
                                 reduction="add")  # fmt: skip
    first = n_fft // 2 if center else 0
    last = total - first if length is None else first + length
    y = op.Slice(wave / weights, [first], [last], [1])
    if length is not None and length > total - first:
        y = op.Pad(y, [0, 0, 0, length - (total - first)])
    return op.Squeeze(y, [0]) if is_single else y


@inline
def float_parts(x):
    return x if isinstance(x, tuple) else parts(in_floats(x))


@pairs("fft_hfft2.default")
def fft_hfft2(self, s=None, dim=(-2, -1), norm=None):
    return to_real_along_all(conj(float_parts(self)), s, dim, turned_norm(norm))


@pairs("fft_hfftn.default")
def fft_hfftn(self, s=None, dim=None, norm=None):
    return to_real_along_all(conj(float_parts(self)), s, dim, turned_norm(norm))


@pairs("fft_ihfft2.default")
def fft_ihfft2(self, s=None, dim=(-2, -1), norm=None):
    return conj(real_along_all(self, s, dim, turned_norm(norm)))


@pairs("fft_ihfftn.default")
def fft_ihfftn(self, s=None, dim=None, norm=None):
    return conj(real_along_all(self, s, dim, turned_norm(norm)))


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
