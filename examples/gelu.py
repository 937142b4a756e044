"""GELU as a function, and a model that calls it.

The start of everything: a `@script` with untyped parameters is an ONNX function that takes tensors
of any element type and shape; a `@script` whose annotations say what goes in and out is a model.
The number `M_SQRT1_2` is computed when the file is compiled and becomes a constant of the graph.
"""

import math

from onnxscript import FLOAT, script
from onnxscript import opset18 as op

M_SQRT1_2 = math.sqrt(0.5)


@script()
def gelu(x):
    """x times the probability that a standard normal variable is below x."""
    probability = 0.5 * (1.0 + op.Erf(M_SQRT1_2 * x))
    return x * probability


@script()
def gelu_model(x: FLOAT["N", "M"]) -> FLOAT["N", "M"]:
    return gelu(x)
