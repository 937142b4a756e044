"""Pads, and images in other sizes."""

import math

from sardonyx import DOUBLE, FLOAT, INT32, UINT8

from .declare import aten, inline, op
from .types import cast, computed, tensor, wide


@inline
def padded(x, pad, mode, value=None):
    """`pad` begins with the last dimension."""
    n = len(pad) // 2
    front = [0] * (x.ndim - n) + [pad[2 * i] for i in range(n - 1, -1, -1)]
    back = [0] * (x.ndim - n) + [pad[2 * i + 1] for i in range(n - 1, -1, -1)]
    if mode == "constant":
        fill = tensor(0 if value is None else value, x.dtype)
        return op.Pad(x, front + back, fill)
    return op.Pad(x, front + back, mode=mode)


@aten("constant_pad_nd.default")
def constant_pad_nd(self, pad, value=0):
    return padded(self, pad, "constant", value)


@aten("pad.default")
def pad_(self, pad, mode="constant", value=None):
    names = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}
    if mode == "circular":
        return wrapped(self, pad)
    return padded(self, pad, names[mode], value)


@inline
def wrapped(x, pad):
    n = len(pad) // 2
    for i in range(n):
        dim = x.ndim - 1 - i
        before, after = pad[2 * i], pad[2 * i + 1]
        if before < 0 or after < 0:  # what is cut off is not repeated either
            x = op.Slice(x, [max(-before, 0)], [x.shape[dim] - max(-after, 0)], [dim])
        size = x.shape[dim]
        parts = [x]
        if before > 0:
            parts = [op.Slice(x, [size - before], [size], [dim]), x]
        if after > 0:
            parts.append(op.Slice(x, [0], [after], [dim]))
        x = op.Concat(*parts, axis=dim) if len(parts) > 1 else parts[0]
    return x


@aten("_pad_circular.default")
def pad_circular(self, pad):
    return wrapped(self, pad)


@aten("reflection_pad1d.default", "reflection_pad2d.default", "reflection_pad3d.default")
def reflection_pad(self, padding):
    return padded(self, padding, "reflect")


@aten("replication_pad1d.default", "replication_pad2d.default", "replication_pad3d.default")
def replication_pad(self, padding):
    return padded(self, padding, "edge")


# --- Interpolation


@inline
def resized(x, output_size, scales, mode, align_corners):
    """To a size, or by factors, of the dimensions behind the first two."""
    if x.dtype != UINT8.dtype or mode == "nearest":
        return resized_numbers(x, output_size, scales, mode, align_corners)
    # As torch: the rows first, then the columns, and pixels are rounded after each.
    if output_size is not None:
        between = [x.shape[2], output_size[1]]
        y = rounded_pixels(x, between, None, mode, align_corners)
        return rounded_pixels(y, output_size, None, mode, align_corners)
    y = rounded_pixels(x, None, [1.0, scales[1]], mode, align_corners)
    return rounded_pixels(y, None, [scales[0], 1.0], mode, align_corners)


@inline
def rounded_pixels(x, output_size, scales, mode, align_corners):
    y = resized_numbers(op.Cast(x, to=FLOAT.dtype), output_size, scales, mode, align_corners)
    return op.Cast(op.Clip(op.Floor(y + 0.5), 0.0, 255.0), to=UINT8.dtype)


@inline
def resized_numbers(x, output_size, scales, mode, align_corners):
    n = x.ndim - 2
    where = "align_corners" if align_corners else "half_pixel"
    where = "asymmetric" if mode == "nearest" else where
    if align_corners and output_size is None:
        # Corners are those of whole pixels.
        output_size = [math.floor(x.shape[2 + i] * scales[i]) for i in range(n)]
    if output_size is not None:
        sizes = [x.shape[0], x.shape[1], *output_size]
        return op.Resize(x, None, None, sizes, mode=mode, nearest_mode="floor",
                         coordinate_transformation_mode=where, cubic_coeff_a=-0.75)  # fmt: skip
    # torch computes sizes by factors, and places by the factors that it is given.
    return op.Resize(x, None, op.Constant(value_floats=[1.0, 1.0, *scales]), mode=mode,
                     nearest_mode="floor", coordinate_transformation_mode=where,
                     cubic_coeff_a=-0.75)  # fmt: skip


@aten("upsample_nearest1d.vec", "upsample_nearest2d.vec", "upsample_nearest3d.vec")
def upsample_nearest(input, output_size, scale_factors):
    return resized(input, output_size, scale_factors, "nearest", False)


@aten("_upsample_nearest_exact1d.vec", "_upsample_nearest_exact2d.vec",
      "_upsample_nearest_exact3d.vec")  # fmt: skip
def upsample_nearest_exact(input, output_size, scale_factors):
    if output_size is not None:
        sizes = [input.shape[0], input.shape[1], *output_size]
        return op.Resize(input, None, None, sizes, mode="nearest", nearest_mode="round_prefer_ceil",
                         coordinate_transformation_mode="half_pixel")  # fmt: skip
    return op.Resize(input, None, op.Constant(value_floats=[1.0, 1.0, *scale_factors]),
                     mode="nearest", nearest_mode="round_prefer_ceil",
                     coordinate_transformation_mode="half_pixel")  # fmt: skip


@aten("upsample_linear1d.vec", "upsample_bilinear2d.vec", "upsample_trilinear3d.vec")
def upsample_linear(input, output_size, align_corners, scale_factors):
    return resized(input, output_size, scale_factors, "linear", align_corners)


@aten("upsample_bicubic2d.vec")
def upsample_bicubic2d(input, output_size, align_corners, scale_factors):
    return resized(input, output_size, scale_factors, "cubic", align_corners)


@aten("upsample_nearest2d.default")
def upsample_nearest2d(self, output_size, scales_h=None, scales_w=None):
    return resized(self, output_size, None, "nearest", False)


@aten("upsample_bilinear2d.default")
def upsample_bilinear2d(self, output_size, align_corners, scales_h=None, scales_w=None):
    return resized(self, output_size, None, "linear", align_corners)


@inline
def smoothing_weights(have, want, scale, align_corners, cubic):
    """How much each element counts in each result: the filter is as wide as the step is long."""
    if align_corners:
        step = (have - 1) / (want - 1) if want > 1 else 0.0
    else:
        step = have / want if scale is None else 1.0 / scale
    width = max(step, 1.0)
    middle = op.Unsqueeze((op.Cast(op.Range(0, want, 1), to=DOUBLE.dtype) + 0.5) * step, [1])
    reach = (2.0 if cubic else 1.0) * width
    first = op.Max(op.Floor(middle - reach + 0.5), 0.0)
    last = op.Floor(middle + reach + 0.5)
    places = op.Cast(op.Range(0, have, 1), to=DOUBLE.dtype)
    x = op.Abs(places - middle + 0.5) / width
    if cubic:
        near = (1.5 * x - 2.5) * x * x + 1.0
        far = ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0
        y = op.Where(x < 1.0, near, op.Where(x < 2.0, far, 0.0))
    else:
        y = op.Max(1.0 - x, 0.0)
    y = op.Where((places >= first) & (places < last), y, 0.0)
    return y / op.ReduceSum(y, [1], keepdims=1)


@inline
def smoothed(x, sizes, scales, align_corners, cubic):
    """Images in another size, as torch and Pillow make them smaller without artefacts."""
    rows, columns = x.shape[2], x.shape[3]
    left = smoothing_weights(rows, sizes[0], scales[0], align_corners, cubic)
    right = smoothing_weights(columns, sizes[1], scales[1], align_corners, cubic)
    if x.dtype == UINT8.dtype:
        return smoothed_pixels(x, left, op.Transpose(right))
    wide = computed(x)
    y = op.MatMul(wide, op.Transpose(op.Cast(right, to=wide.dtype)))
    return cast(op.MatMul(op.Cast(left, to=wide.dtype), y), x.dtype)


@inline
def smoothed_pixels(x, left, right):
    """As torch: the columns first, then the rows, with weights that are integers."""
    weights, unit = weights_of_pixels(right)
    y = pixels(op.MatMul(op.Cast(x, to=INT32.dtype), weights), unit)
    weights, unit = weights_of_pixels(left)
    return op.Cast(pixels(op.MatMul(weights, y), unit), to=UINT8.dtype)


@inline
def weights_of_pixels(weights):
    """The weights in parts of one, a power of 2 with which the largest has 15 bits; this power."""
    bits = op.Ceil(op.Log(32767.5 / op.ReduceMax(weights, keepdims=0)) / math.log(2.0)) - 1.0
    unit = op.Pow(op.Cast(2, to=DOUBLE.dtype), op.Clip(bits, 0.0, 22.0))
    whole = weights * unit
    whole = op.Sign(whole) * op.Floor(op.Abs(whole) + 0.5)
    return op.Cast(whole, to=INT32.dtype), op.Cast(unit, to=INT32.dtype)


@inline
def pixels(y, unit):
    return op.Clip((y + unit / 2) / unit, 0, 255)


@inline
def smoothed_by(x, output_size, scale_factors, align_corners, cubic):
    if output_size is not None:
        return smoothed(x, output_size, [None, None], align_corners, cubic)
    sizes = [math.floor(x.shape[2 + i] * scale_factors[i]) for i in range(2)]
    return smoothed(x, sizes, scale_factors, align_corners, cubic)


@aten("_upsample_bilinear2d_aa.vec")
def upsample_bilinear2d_aa_by(input, output_size, align_corners, scale_factors):
    return smoothed_by(input, output_size, scale_factors, align_corners, False)


@aten("_upsample_bicubic2d_aa.vec")
def upsample_bicubic2d_aa_by(input, output_size, align_corners, scale_factors):
    return smoothed_by(input, output_size, scale_factors, align_corners, True)


@aten("_upsample_bilinear2d_aa.default")
def upsample_bilinear2d_aa(self, output_size, align_corners, scales_h=None, scales_w=None):
    return smoothed(self, output_size, [scales_h, scales_w], align_corners, False)


@aten("_upsample_bicubic2d_aa.default")
def upsample_bicubic2d_aa(self, output_size, align_corners, scales_h=None, scales_w=None):
    return smoothed(self, output_size, [scales_h, scales_w], align_corners, True)


@inline
def place_with_border(size, at, align_corners):
    n = op.CastLike(size, at)
    at = (at + 1.0) * (n - 1.0) / 2.0 if align_corners else ((at + 1.0) * n - 1.0) / 2.0
    at = op.Max(op.Min(at, n), op.CastLike(-1.0, at)) + 2.0
    wider = n + 4.0
    return at * 2.0 / (wider - 1.0) - 1.0 if align_corners else (at * 2.0 + 1.0) / wider - 1.0


@inline
def with_border(x, grid, align_corners):
    """An image with two more pixels at each border, and the places of a grid in it.

    For cubic weights, ONNX brings a point into the image before it takes the pixels around it,
    and PyTorch each of these pixels.
    """
    padded = op.Pad(x, [0, 0, 2, 2, 0, 0, 2, 2], mode="edge")
    places = [place_with_border(x.shape[3 - i], op.Gather(grid, [i], axis=-1), align_corners)
              for i in range(2)]  # fmt: skip
    return padded, op.Concat(*places, axis=-1)


@aten("grid_sampler.default", "grid_sampler_2d.default", "grid_sampler_3d.default")
def grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners):
    old = ["bilinear", "nearest", "bicubic"][interpolation_mode]
    new = ["linear", "nearest", "cubic"][interpolation_mode]
    edges = ["zeros", "border", "reflection"][padding_mode]
    x, at = wide(input), wide(grid)
    if old == "bicubic" and edges == "border":
        x, at = with_border(x, at, align_corners)
        edges = "zeros"
    y = op.GridSample(x, at, mode=new if op.version >= 20 else old,
                      padding_mode=edges, align_corners=1 if align_corners else 0)  # fmt: skip
    return cast(y, input.dtype)


@aten("affine_grid_generator.default")
def affine_grid_generator(theta, size, align_corners):
    return op.AffineGrid(theta, list(size), align_corners=1 if align_corners else 0)


@aten("im2col.default")
def im2col(self, kernel_size, dilation, padding, stride):
    x = op.Unsqueeze(self, [0]) if self.ndim == 3 else self
    n, channels = x.shape[0], x.shape[1]
    (kh, kw), (dh, dw), (sh, sw) = kernel_size, dilation, stride
    ph, pw = padding
    x = op.Pad(x, [0, 0, ph, pw, 0, 0, ph, pw])
    rows = (x.shape[2] - dh * (kh - 1) - 1) // sh + 1
    columns = (x.shape[3] - dw * (kw - 1) - 1) // sw + 1
    r = op.Unsqueeze(op.Range(0, kh, 1) * dh, [1]) + op.Unsqueeze(op.Range(0, rows, 1) * sh, [0])
    c = op.Unsqueeze(op.Range(0, kw, 1) * dw, [1]) + op.Unsqueeze(op.Range(0, columns, 1) * sw, [0])
    y = op.Gather(op.Gather(x, r, axis=2), c, axis=4)  # [n, c, kh, rows, kw, columns]
    y = op.Transpose(y, perm=[0, 1, 2, 4, 3, 5])
    y = op.Reshape(y, [n, channels * kh * kw, rows * columns])
    return op.Squeeze(y, [0]) if self.ndim == 3 else y


@aten("col2im.default")
def col2im(self, output_size, kernel_size, dilation, padding, stride):
    x = op.Unsqueeze(self, [0]) if self.ndim == 2 else self
    y = op.Col2Im(x, list(output_size), list(kernel_size), dilations=dilation,
                  pads=[*padding, *padding], strides=stride)  # fmt: skip
    return op.Squeeze(y, [0]) if self.ndim == 2 else y


@aten("pad_sequence.default")
def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    length = max([one.shape[0] for one in sequences])
    at = 0 if batch_first else 1
    rows = []
    for one in sequences:
        rest = length - one.shape[0]
        ends = [0, rest] if padding_side == "right" else [rest, 0]
        row = padded(one, [0] * (2 * one.ndim - 2) + ends, "constant", padding_value)
        rows.append(op.Unsqueeze(row, [at]))
    return op.Concat(*rows, axis=at)
