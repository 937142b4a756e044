"""Quantized tensors as pt2e writes them: kept as QuantizeLinear and DequantizeLinear."""

from sardonyx import DOUBLE, FLOAT, INT8, INT64, UINT8

from .declare import aten, inline, op
from .types import cast, tensor


@inline
def limited(y, low, high, dtype):
    """Codes of fewer bits than their type has."""
    bits = dtype.bitwidth
    least = -(2 ** (bits - 1)) if dtype.is_signed() else 0
    most = 2 ** (bits - 1) - 1 if dtype.is_signed() else 2**bits - 1
    if low == least and high == most:
        return y
    return op.Clip(y, low, high)


@inline
def single(x):
    """The one element of a vector, as choose_qparams gives it, as a scalar."""
    return x if x.ndim == 0 else op.Reshape(x, op.Constant(value_ints=[]))


@aten("choose_qparams.tensor", namespace="quantized_decomposed")
def choose_qparams(input, quant_min, quant_max, eps, dtype):
    """The scale and zero point of codes that reach from the least to the greatest, and 0."""
    least = op.Min(op.ReduceMin(input, keepdims=0), tensor(0.0, input.dtype))
    most = op.Max(op.ReduceMax(input, keepdims=0), tensor(0.0, input.dtype))
    scale = cast((most - least) / float(quant_max - quant_min), FLOAT.dtype)
    scale = op.Max(op.Reshape(scale, [1]), tensor(float(eps)))
    zero_point = quant_min - cast(op.Round(cast(least, FLOAT.dtype) / scale), INT64.dtype)
    return cast(scale, DOUBLE.dtype), op.Clip(zero_point, quant_min, quant_max)


@aten("choose_qparams_symmetric.tensor", namespace="quantized_decomposed")
def choose_qparams_symmetric(input, quant_min, quant_max, eps, dtype):
    most = op.ReduceMax(op.Abs(input), keepdims=0)
    scale = cast(most / (float(quant_max - quant_min) / 2), FLOAT.dtype)
    scale = op.Max(op.Reshape(scale, [1]), tensor(float(eps)))
    zero_point = op.Constant(value_ints=[0 if dtype.is_signed() else 128])
    return cast(scale, DOUBLE.dtype), zero_point


@aten("quantize_per_tensor.default", namespace="quantized_decomposed")
def quantize_per_tensor(input, scale, zero_point, quant_min, quant_max, dtype):
    y = op.QuantizeLinear(input, tensor(float(scale), input.dtype), tensor(zero_point, dtype))
    return limited(y, quant_min, quant_max, dtype)


@aten("quantize_per_tensor.tensor", namespace="quantized_decomposed")
def quantize_per_tensor_tensor(input, scale, zero_point, quant_min, quant_max, dtype):
    y = op.QuantizeLinear(input, cast(single(scale), input.dtype), cast(single(zero_point), dtype))
    return limited(y, quant_min, quant_max, dtype)


@aten("dequantize_per_tensor.default", namespace="quantized_decomposed")
def dequantize_per_tensor(input, scale, zero_point, quant_min, quant_max, dtype, *, out_dtype=None):
    y = op.DequantizeLinear(input, tensor(float(scale)), tensor(zero_point, input.dtype))
    return cast(y, out_dtype)


@aten("dequantize_per_tensor.tensor", namespace="quantized_decomposed")
def dequantize_per_tensor_tensor(input, scale, zero_point, quant_min, quant_max, dtype, *,
                                 out_dtype=None):  # fmt: skip
    y = op.DequantizeLinear(
        input, cast(single(scale), FLOAT.dtype), cast(single(zero_point), input.dtype)
    )
    return cast(y, out_dtype)


@aten("quantize_per_channel.default", namespace="quantized_decomposed")
def quantize_per_channel(input, scales, zero_points, axis, quant_min, quant_max, dtype):
    y = op.QuantizeLinear(input, cast(scales, input.dtype), cast(zero_points, dtype), axis=axis)
    return limited(y, quant_min, quant_max, dtype)


@aten("dequantize_per_channel.default", namespace="quantized_decomposed")
def dequantize_per_channel(input, scales, zero_points, axis, quant_min, quant_max, dtype, *,
                           out_dtype=None):  # fmt: skip
    if zero_points is None:
        y = op.DequantizeLinear(input, cast(scales, FLOAT.dtype), axis=axis)
    else:
        y = op.DequantizeLinear(
            input, cast(scales, FLOAT.dtype), cast(zero_points, input.dtype), axis=axis
        )
    return cast(y, out_dtype)


# --- Rounded to what a quantized tensor can hold, without being one


@inline
def along(x, values, axis):
    """One value for each index of this dimension; None: one for all."""
    if axis is None:
        return values
    return op.Reshape(values, [-1 if i == axis else 1 for i in range(x.ndim)])


@inline
def places(x, scale, zero_point, axis):
    """Which of the quantized values each element is next to."""
    zero = along(x, cast(zero_point, x.dtype), axis)
    y = x * (1.0 / along(x, cast(scale, x.dtype), axis))
    return op.Round(y + zero) if zero_point.dtype.is_floating_point() else op.Round(y) + zero


@inline
def fake_quantized(x, scale, zero_point, axis, low, high):
    code = INT8.dtype if low < 0 else UINT8.dtype
    if x.dtype == FLOAT.dtype and not zero_point.dtype.is_floating_point() and high - low < 256:
        fits = low >= -128 and high <= 127 if low < 0 else high <= 255
        if fits:
            at = 1 if axis is None else axis
            scale, zero_point = cast(scale, FLOAT.dtype), cast(zero_point, code)
            y = limited(op.QuantizeLinear(x, scale, zero_point, axis=at), low, high, code)
            return op.DequantizeLinear(y, scale, zero_point, axis=at)
    y = op.Clip(places(x, scale, zero_point, axis), low, high)
    scale, zero_point = cast(scale, x.dtype), cast(zero_point, x.dtype)
    return (y - along(x, zero_point, axis)) * along(x, scale, axis)


@inline
def is_inside(x, scale, zero_point, axis, low, high):
    y = places(x, scale, zero_point, axis)
    return op.And(y >= low, y <= high)


@aten("fake_quantize_per_tensor_affine.default")
def fake_quantize_per_tensor_affine(self, scale, zero_point, quant_min, quant_max):
    return fake_quantized(self, tensor(float(scale)), tensor(zero_point), None, quant_min,
                          quant_max)  # fmt: skip


@aten("fake_quantize_per_tensor_affine.tensor_qparams")
def fake_quantize_per_tensor_affine_tensor(self, scale, zero_point, quant_min, quant_max):
    scale, zero_point = op.Reshape(scale, []), op.Reshape(zero_point, [])
    return fake_quantized(self, scale, zero_point, None, quant_min, quant_max)


@aten("fake_quantize_per_tensor_affine_cachemask.default")
def fake_quantize_per_tensor_affine_cachemask(self, scale, zero_point, quant_min, quant_max):
    scale, zero_point = tensor(float(scale)), tensor(zero_point)
    return (fake_quantized(self, scale, zero_point, None, quant_min, quant_max),
            is_inside(self, scale, zero_point, None, quant_min, quant_max))  # fmt: skip


@aten("fake_quantize_per_channel_affine.default")
def fake_quantize_per_channel_affine(self, scale, zero_point, axis, quant_min, quant_max):
    return fake_quantized(self, scale, zero_point, axis, quant_min, quant_max)


@aten("fake_quantize_per_channel_affine_cachemask.default")
def fake_quantize_per_channel_affine_cachemask(self, scale, zero_point, axis, quant_min,
                                               quant_max):  # fmt: skip
    return (fake_quantized(self, scale, zero_point, axis, quant_min, quant_max),
            is_inside(self, scale, zero_point, axis, quant_min, quant_max))  # fmt: skip
