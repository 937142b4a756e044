"""A linear layer with bias, and GELU from another file.

Python's `@` is MatMul and `+` broadcasts. The imported `gelu` becomes a function of this model.
Nobody says what the result's shape is: it is inferred, `FLOAT[batch, units]`.
"""

from gelu import gelu
from onnxscript import FLOAT, script
from onnxscript import opset18 as op


@script()
def linear(x, weight, bias):
    """The weight has one row per unit, as trained layers usually come."""
    return x @ op.Transpose(weight, perm=[1, 0]) + bias


@script()
def linear_gelu(
    x: FLOAT["batch", "features"],
    weight: FLOAT["units", "features"],
    bias: FLOAT["units"],
):
    return gelu(linear(x, weight, bias))
