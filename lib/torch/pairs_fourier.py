"""Fourier's transforms, whose results or arguments are complex tensors."""

import math

import numpy as np
from sardonyx import FLOAT

from .declare import inline, op, pairs
from .pairs import apart, conj, parts, together
from .types import axis, full_of


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
    dims, lengths = lengths_of(self, s, dim)
    x = both_parts(joined(self))
    for i in range(len(dims)):
        x = fft_along(x, lengths[i], dims[i], norm, inverse)
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
def framed(x, n_fft, hop, width, window):
    """Pieces of a wave, one after the other, under the window."""
    rows = op.Unsqueeze(x, [0]) if x.ndim == 1 else x
    count = 1 + (rows.shape[1] - n_fft) // hop
    starts = op.Unsqueeze(op.Range(0, count, 1) * hop, [1])
    frames = op.Gather(rows, starts + op.Unsqueeze(op.Range(0, n_fft, 1), [0]), axis=1)
    if window is not None:
        before = (n_fft - width) // 2
        wide = op.Pad(window, [before, n_fft - width - before]) if width != n_fft else window
        return frames * wide
    if width == n_fft:
        return frames
    before = (n_fft - width) // 2
    return frames * [1.0 if before <= i < before + width else 0.0 for i in range(n_fft)]


@inline
def short_time(x, n_fft, hop_length, win_length, window, normalized, onesided, return_complex):
    hop = n_fft // 4 if hop_length is None else hop_length
    width = n_fft if win_length is None else win_length
    if isinstance(x, tuple):
        frames = together([framed(one, n_fft, hop, width, window) for one in x])
    else:
        frames = op.Unsqueeze(framed(x, n_fft, hop, width, window), [-1])
    y = transformed(frames, 2)
    is_half = not isinstance(x, tuple) if onesided is None else onesided
    y = half(y, 2) if is_half else y
    y = y / math.sqrt(n_fft) if normalized else y
    y = op.Transpose(y, perm=[0, 2, 1, 3])
    y = op.Squeeze(y, [0]) if rank_of(x) == 1 else y
    is_pair = isinstance(x, tuple) if return_complex is None else return_complex
    return apart(y) if is_pair else y


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
        pads = [side, side] if rank_of(x) == 1 else [0, side, 0, side]
        mode = {"constant": "constant", "reflect": "reflect", "replicate": "edge"}[pad_mode]
        if isinstance(x, tuple):
            x = op.Pad(x[0], pads, mode=mode), op.Pad(x[1], pads, mode=mode)
        else:
            x = op.Pad(x, pads, mode=mode)
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


# --- What PyTorch decomposes them into. A sum is divided by 1, by the root of the number of its
# terms, or by this number

_FORWARD = ("backward", "ortho", "forward")
_BACK = ("forward", "ortho", "backward")


@pairs("_fft_c2c.default")
def fft_c2c(self, dim, normalization, forward):
    for one in dim:
        if forward:
            self = fft_fft(self, None, one, _FORWARD[normalization])
        else:
            self = fft_ifft(self, None, one, _BACK[normalization])
    return self


@pairs("_fft_r2c.default")
def fft_r2c(self, dim, normalization, onesided):
    first = fft_rfft if onesided else fft_fft
    x = first(self, None, dim[-1], _FORWARD[normalization])
    return fft_c2c(x, dim[:-1], normalization, True)


@pairs("_fft_c2r.default")
def fft_c2r(self, dim, normalization, last_dim_size):
    x = fft_c2c(self, dim[:-1], normalization, False)
    return fft_irfft(x, last_dim_size, dim[-1], _BACK[normalization])
