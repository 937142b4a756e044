"""Sizes that are known only by name, and computing with them.

`x.shape` is a tuple: sizes that are numbers are Python numbers, the others stand for what they will
be when the model runs. Inference follows them, so that the result's type reads
`FLOAT[N, 2, 12]` and `FLOAT[N*24]`, and an annotation that contradicts it would be an error.
"""

from sardonyx import FLOAT, INT64, script
from sardonyx import opset18 as op


@script()
def symbolic_shapes(
    x: FLOAT["N", 4, 6],
) -> tuple[FLOAT["N", 2, 12], FLOAT["24*N"], FLOAT["N", 4], INT64]:
    batch, rows, columns = x.shape
    folded = op.Reshape(x, [batch, rows // 2, columns * 2])
    flat = op.Reshape(x, [-1])
    if columns % 2 == 0:  # decided while compiling
        means = op.ReduceMean(x, [2], keepdims=0)
    else:
        means = x[:, :, columns // 2]
    return folded, flat, means, op.Size(x) // (rows * columns)
