"""Dropout: a condition in the graph chooses between training and inference.

`training_mode` is a tensor, so `if` becomes an If node: both branches are compiled, and the model
decides when it runs. The two results, the output and the mask, come out of either branch. In
training, kept elements are scaled up, so that the mean stays what it was.
"""

from onnxscript import BOOL, FLOAT, script
from onnxscript import opset18 as op


@script()
def dropout(x, ratio, training_mode, seed: float = 1.0):
    if training_mode:
        chance = op.RandomUniformLike(x, dtype=FLOAT.dtype, seed=seed)
        mask = chance >= ratio
        output = op.Where(mask, x, 0.0) / (1.0 - ratio)
    else:
        mask = op.Cast(op.ConstantOfShape(op.Shape(x)), to=BOOL.dtype)
        mask = op.Not(mask)
        output = op.Identity(x)
    return output, mask


@script()
def dropout_model(
    x: FLOAT["N", "M"], ratio: FLOAT, training_mode: BOOL
) -> tuple[FLOAT["N", "M"], BOOL["N", "M"]]:
    output, mask = dropout(x, ratio, training_mode, seed=7.0)
    return output, mask
