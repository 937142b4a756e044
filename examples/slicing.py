"""Indexing and slicing as in NumPy: one result for each kind.

Integers drop their axis, slices keep it, `...` stands for the axes in between, `None` is a new
axis, negative numbers count from the end, and tensors may stand wherever numbers do. Where sizes
are known, the results' sizes are known too.
"""

from sardonyx import FLOAT, INT64, script
from sardonyx import opset18 as op


@script()
def slicing(x: FLOAT[4, 5, "C"], i: INT64, rows: INT64["R"]):
    return (
        x[1],  # one integer: FLOAT[5, C]
        x[-1, 2],  # two integers, from the end: FLOAT[C]
        x[1:3],  # FLOAT[2, 5, C]
        x[:, ::2],  # every second: FLOAT[4, 3, C]
        x[::-1, -2::-1],  # backwards: FLOAT[4, 4, C]
        x[..., 0],  # the last axis: FLOAT[4, 5]
        x[:, None, 0],  # a new axis: FLOAT[4, 1, C]
        x[i],  # by an input: FLOAT[5, C]
        x[i : i + 2, 1],  # from one to the other, FLOAT[?, C]
        x[rows],  # a tensor of indices: FLOAT[R, 5, C]
        x[rows, 0, ..., 1:],  # mixed
        op.Shape(x[1:, :-1])[1],  # a shape is a tensor as well
    )
