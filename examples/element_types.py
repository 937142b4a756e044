"""Element types: literals take the type of the tensor beside them.

The same `2.0 * x + 1.0` is computed in half precision for a FLOAT16 tensor and in double precision
for a DOUBLE one. Nothing is ever converted silently between two tensors: that needs a Cast.
"""

from onnxscript import BOOL, DOUBLE, FLOAT, FLOAT16, INT8, INT32, UINT8, script
from onnxscript import opset18 as op


@script(default_opset=op)
def twice_and_one(x):
    """Of any element type: CastLike gives the numbers that of x."""
    return 2 * x + 1


@script()
def element_types(
    half: FLOAT16["N"], double: DOUBLE["N"], count: INT32["N"]
) -> tuple[FLOAT16["N"], DOUBLE["N"], INT32["N"], INT32["N"], BOOL["N"], UINT8["N"], INT8["N"]]:
    mixed = op.Cast(half, to=DOUBLE.dtype) * double / 3.0
    halves = count // 2
    odd = (count & 6) | 1
    far = op.Abs(op.Cast(half, to=FLOAT.dtype)) > 1.5
    pixel = op.Cast(op.Clip(op.Round(double * 255.0), 0.0, 255.0), to=UINT8.dtype)
    small = op.Cast(-count, to=INT8.dtype)
    return twice_and_one(half), mixed, twice_and_one(halves), odd, far, pixel, small
