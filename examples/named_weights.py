"""Weights by name, as a checkpoint has them, and dimensions that are checked.

`WEIGHTS` stands for a file: `load_weights("model.safetensors")` gives the same dict, mapped and not
read. The loop over the layers runs while compiling, and its keys are computed; each annotation says
what the names of the dimensions stand for, and is checked.
"""

import numpy as np
from sardonyx import FLOAT, script
from sardonyx import opset21 as op

WEIGHTS = {
    "layer.0.weight": np.array([[0.5, -1.0, 0.25], [1.5, 0.75, -0.5]], dtype=np.float32),
    "layer.0.bias": np.array([0.1, 0.2, -0.3], dtype=np.float32),
    "layer.1.weight": np.array([[1.0, -0.5], [0.25, 2.0], [-1.0, 0.5]], dtype=np.float32),
    "layer.1.bias": np.array([0.0, -0.1], dtype=np.float32),
}


@script()
def linear(
    x: FLOAT["N", "In"], weight: FLOAT["In", "Out"], bias: FLOAT["Out"]
) -> FLOAT["N", "Out"]:
    return op.Gemm(x, weight, bias)


@script()
def named_weights(x: FLOAT["N", 2]) -> FLOAT["N", 2]:
    for i in range(len(WEIGHTS) // 2):
        x = linear(x, WEIGHTS[f"layer.{i}.weight"], WEIGHTS[f"layer.{i}.bias"])
        x = op.Tanh(x)
    result: FLOAT["N", 2] = x
    return result
