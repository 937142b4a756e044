"""Correct scripts that use Python: operators, indexing, control flow, other scripts, classes."""

import math
from typing import List, Optional, Sequence, Tuple

import numpy as np
import numpy.typing as npt
import sardonyx
from sardonyx import BOOL, FLOAT, INT64, OnnxFunction, Opset, script
from sardonyx import opset21 as op
from sardonyx.onnx_opset import opset21 as same
from sardonyx.onnx_types import DOUBLE
from sardonyx.tensor import Tensor

custom = Opset("my.domain", 1)
SIZES = (1, 2, 4)


@script(default_opset=op)
def operators(X: FLOAT["N"], Y: FLOAT["N"]) -> FLOAT["N"]:
    y = (X + Y) * 2 - 1.0 / X
    y = -(y**2) + abs(Y) % 3.0
    y += X
    return y


@script(default_opset=op)
def scalar(X: FLOAT, Y: FLOAT = 1.0) -> FLOAT:
    return X * Y


@script(default_opset=op)
def comparisons(X: FLOAT["N"], Y: FLOAT["N"]) -> BOOL["N"]:
    return ((X > Y) & (X <= 2)) | ~(Y == 0.0) ^ (1.0 < X)


@script(default_opset=op)
def matrices(A: FLOAT["M", "K"], B: FLOAT["K", "N"]) -> FLOAT["N", "M"]:
    return (A @ B).T


@script(default_opset=op)
def indexing(X: FLOAT["N", 4], i: INT64):
    first, last = X[0], X[-1]
    part = X[1:, ::2]
    return first + last, part, X[i], X[..., None], X[:, 1:3]


@script(default_opset=op)
def stored(X: FLOAT["N", 4]) -> FLOAT["N", 4]:
    y = op.Identity(X)
    y[0] = 1.0
    y[:, 1] = X[:, 2]
    return y


@script(default_opset=op)
def shapes(X: FLOAT["N", 4]) -> FLOAT["N", 4]:
    rows, columns = X.shape
    scale = 1.0 / math.sqrt(X.shape[1])
    return X * scale + columns


@script(default_opset=op)
def branches(X: FLOAT["N"], c: BOOL) -> FLOAT["N"]:
    if c:
        y = X + 1.0
    elif op.ReduceSum(X, keepdims=0) > 0.0:
        y = X
    else:
        y = -X
    return y


@script(default_opset=op)
def loops(X: FLOAT["N"], n: INT64) -> FLOAT["N"]:
    y = X
    for i in range(n):
        y = y * 2.0 + op.Cast(i, to=FLOAT.dtype)
    while op.ReduceMax(y, keepdims=0) > 10.0:
        y = y / 2.0
    return y


@script(default_opset=op)
def unrolled(X: FLOAT["N"]) -> FLOAT["N"]:
    parts = [X * size for size in SIZES]
    y = parts[0]
    for i, part in enumerate(parts[1:]):
        y = y + part * float(i)
    return y


@script(default_opset=op)
def attributes(X: FLOAT["N"], alpha: float = 0.5, axis: int = 0, keep: bool = True) -> FLOAT["N"]:
    return op.Softmax(X * alpha, axis=axis)


@script(default_opset=op)
def optional(X: FLOAT["N"], bias: Optional[FLOAT["N"]] = None) -> FLOAT["N"]:
    if bias is None:
        return X
    return X + bias


@script(default_opset=op)
def calls(X: FLOAT["N"]) -> FLOAT["N"]:
    y = attributes(X, alpha=0.25)
    y = attributes(y, 2.0, axis=-1)
    return optional(operators(y, X)) + optional(X, y)


@script(default_opset=op)
def tuples(X: FLOAT["N"]) -> Tuple[FLOAT["N"], FLOAT["N"]]:
    a, b = X, X
    a, b = b + 1.0, a
    return a, b


@script(default_opset=op)
def newer_syntax(X: DOUBLE["N"], Y: DOUBLE["N"]) -> tuple[DOUBLE["N"], INT64]:
    y = X if X.shape[0] == 2 else X + Y
    return y, same.Size(y)


@script(default_opset=op)
def any_shape(X: FLOAT[...], Y: FLOAT[2, None]) -> FLOAT:
    return op.ReduceSum(X, keepdims=0) + op.ReduceSum(Y, keepdims=0)


def helper(x: Tensor, sizes: Sequence[int]) -> Tensor:
    return x * float(len(sizes))


@script(default_opset=op, inline=True, doc_string="calls a Python function")
def with_helper(X: FLOAT["N"]) -> FLOAT["N"]:
    return X + 1.0


@script(custom)
def of_domain(X: FLOAT["N"]) -> FLOAT["N"]:
    return op.Relu(X)


class Layer:
    def __init__(self, scale: float) -> None:
        self.scale = scale

    @script(default_opset=op)
    def forward(self, X: FLOAT["N"], shift: FLOAT = 0.0) -> FLOAT["N"]:
        return X * self.scale + shift


def uses(path: str, x: npt.NDArray[np.float32], functions: List[OnnxFunction[..., object]]) -> None:
    operators(x, x).mean()
    y: npt.NDArray[np.float32] = operators(x, [1.0, 2.0])
    scalar(2, 1.0)
    low, high = tuples(x)
    print(np.allclose(y, low), high.tolist(), operators.name, operators.opset.version)
    print(operators.to_model_proto(input_types=[FLOAT[2], FLOAT["M"]], ir_version=9).graph.name)
    print(operators.to_function_proto().node, operators.compile().run({"X": x, "Y": x}))
    print(sardonyx.load(path).inputs, [one.name for one in functions], FLOAT.dtype, FLOAT["N"])
    operators.save(path, external_bytes=1024, input_types=[FLOAT[2], FLOAT[2]])
    print(operators.check(), operators.source, sardonyx.script.from_source("", "f").name)
    print(Layer(2.0).forward(x, 1.0), Layer(2.0).forward.to_model_proto().graph)
    tensor = Tensor(x)
    print(tensor.shape, tensor.rank, tensor.dtype.itemsize, (tensor + 1).value, float(tensor[0]))
    print(helper(tensor, [1, 2]), custom.Anything(x), operators.__wrapped__)
