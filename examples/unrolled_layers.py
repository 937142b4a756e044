"""A network from a list of layers: a loop that runs while compiling.

The list and its NumPy arrays are known when the file is compiled, so `for` is unrolled, `if` on the
index is decided, and the arrays become constants of the graph. Nothing of the loop is left.
"""

import numpy as np
from onnxscript import FLOAT, script
from onnxscript import opset18 as op

LAYERS = [
    (
        np.array([[0.5, -1.0, 0.25], [1.5, 0.75, -0.5]], dtype=np.float32),
        np.array([0.1, 0.2, -0.3], dtype=np.float32),
    ),
    (
        np.array([[1.0, -0.5], [0.25, 2.0], [-1.0, 0.5]], dtype=np.float32),
        np.array([0.0, -0.1], dtype=np.float32),
    ),
    (
        np.array([[2.0], [-1.0]], dtype=np.float32),
        np.array([0.5], dtype=np.float32),
    ),
]
SLOPES = {0: 0.1, 1: 0.2}


@script()
def unrolled_layers(x: FLOAT["N", 2]) -> FLOAT["N", 1]:
    hidden = x
    for index, (weight, bias) in enumerate(LAYERS):
        hidden = hidden @ weight + bias
        if index < len(LAYERS) - 1:
            hidden = op.LeakyRelu(hidden, alpha=SLOPES[index])
    return hidden
