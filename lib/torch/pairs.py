"""Complex tensors, as pairs of their real and imaginary parts.

What does the same to both parts, such as a reshape, has no function here: it is called for each.
"""

import math

import numpy as np
from sardonyx import FLOAT

from .declare import inline, op, pairs
from .types import axis, is_number


@inline
def parts(x):
    """A pair; of a tensor or number, with no imaginary part."""
    if isinstance(x, tuple):
        return x
    if is_number(x):
        return x, 0.0
    return x, x * 0


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
    return op.Sqrt(self[0] * self[0] + self[1] * self[1])


@pairs("conj.default", "_conj.default", "conj_physical.default")
def conj(self):
    return self[0], op.Neg(self[1])


@pairs("resolve_conj.default")
def resolve_conj(self):
    return self


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


@pairs("exp.default")
def exp(self):
    size = op.Exp(self[0])
    return size * op.Cos(self[1]), size * op.Sin(self[1])


@pairs("matmul.default", "mm.default", "bmm.default")
def matmul(self, mat2):
    (a, b), (c, d) = parts(self), parts(mat2)
    return op.MatMul(a, c) - op.MatMul(b, d), op.MatMul(a, d) + op.MatMul(b, c)


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
