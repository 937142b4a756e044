"""Quantized tensors as pt2e writes them: kept as QuantizeLinear and DequantizeLinear."""

from sardonyx import FLOAT

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


@aten("quantize_per_tensor.default", namespace="quantized_decomposed")
def quantize_per_tensor(input, scale, zero_point, quant_min, quant_max, dtype):
    y = op.QuantizeLinear(input, tensor(float(scale), input.dtype), tensor(zero_point, dtype))
    return limited(y, quant_min, quant_max, dtype)


@aten("quantize_per_tensor.tensor", namespace="quantized_decomposed")
def quantize_per_tensor_tensor(input, scale, zero_point, quant_min, quant_max, dtype):
    y = op.QuantizeLinear(input, cast(scale, input.dtype), cast(zero_point, dtype))
    return limited(y, quant_min, quant_max, dtype)


@aten("dequantize_per_tensor.default", namespace="quantized_decomposed")
def dequantize_per_tensor(input, scale, zero_point, quant_min, quant_max, dtype, *, out_dtype=None):
    y = op.DequantizeLinear(input, tensor(float(scale)), tensor(zero_point, input.dtype))
    return cast(y, out_dtype)


@aten("dequantize_per_tensor.tensor", namespace="quantized_decomposed")
def dequantize_per_tensor_tensor(input, scale, zero_point, quant_min, quant_max, dtype, *,
                                 out_dtype=None):  # fmt: skip
    y = op.DequantizeLinear(input, cast(scale, FLOAT.dtype), cast(zero_point, input.dtype))
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
