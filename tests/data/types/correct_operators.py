"""Correct calls of operators, in the ways that people write them."""

from typing import Annotated

import numpy as np
import numpy.typing as npt
from sardonyx import BOOL, FLOAT, FLOAT16, INT64, STRING, graph, script
from sardonyx import opset18 as op18
from sardonyx import opset21 as op
from sardonyx import opset_ai_onnx_ml3 as ml

WEIGHTS = np.ones((4, 3), np.float32)


@script()
def activations(X: FLOAT["N", 4]) -> FLOAT["N", 4]:
    y = op.LeakyRelu(op.Relu(X), alpha=0.1)
    return op.Softmax(op.Elu(y, alpha=1), axis=-1)


@script()
def numbers_and_lists(X: FLOAT["N", 4]) -> FLOAT["N", 4]:
    y = op.Max(op.Add(X, 1.0), 0, [1.0, 2.0, 3.0, 4.0])
    return op.Where(op.Greater(y, 2), y, op.Neg(y))


@script()
def global_weights(X: FLOAT["N", 4]) -> FLOAT["N", 3]:
    return op.MatMul(X, WEIGHTS)


@script()
def convolution(X: FLOAT["N", 3, 8, 8], W: FLOAT[6, 3, 3, 3]) -> FLOAT["N", 6, 4, 4]:
    y = op.Conv(X, W, pads=[1, 1, 1, 1], strides=(1, 1), group=1, auto_pad="NOTSET")
    return op.MaxPool(y, kernel_shape=[2, 2], strides=[2, 2])


@script()
def optional_inputs(X: FLOAT["N"], most: FLOAT) -> FLOAT["N"]:
    y = op.Clip(X, None, most)
    return op.Clip(y, 0.0)


@script()
def optional_results(X: FLOAT["N", 3, 8, 8]):
    y, where = op.MaxPool(X, kernel_shape=[2, 2])
    z, mask = op.Dropout(y, 0.5)
    return z, where, mask


@script()
def results(X: FLOAT["N", 8], k: INT64[1]):
    values, indices = op.TopK(X, k, axis=-1, largest=True)
    pair = op.TopK(X, [2])
    return values, indices, pair[0] * 2.0


@script()
def splits(X: FLOAT["N", 8]):
    a, b = op.Split(X, num_outputs=2, axis=1)
    c, d, e = op.Split(X, [2, 2, 4], axis=1)
    return a + b, c + d, e


@script()
def casts(X: FLOAT["N"], Y: FLOAT16["N"]):
    a = op.Cast(X, to=INT64.dtype)
    b = op.Cast(X, to=Y.dtype)
    c = op.Cast(X, to=11)
    return a, b + Y, c, op.CastLike(X, Y)


@script()
def shapes(X: FLOAT["N", "M"]) -> FLOAT["M", "N"]:
    shape = op.Shape(X, start=1)
    y = op.Reshape(X, op.Concat(shape, [-1], axis=0))
    return op.Transpose(op.Reshape(y, op.Shape(X)), perm=[1, 0])


@script()
def reductions(X: FLOAT["N", 4]) -> FLOAT["N"]:
    total = op18.ReduceSum(X, [1], keepdims=0)
    return op18.ReduceMax(X, axes=[1], keepdims=False) - total


@script()
def resized(X: FLOAT[1, 3, 4, 4]) -> FLOAT[1, 3, 8, 8]:
    return op.Resize(
        X,
        None,
        [1.0, 1.0, 2.0, 2.0],
        mode="linear",
        coordinate_transformation_mode="align_corners",
    )


@script()
def strings(X: STRING["N"]) -> BOOL["N"]:
    return op.Equal(X, "yes")


@script()
def constants(X: FLOAT["N"]) -> FLOAT["N"]:
    two = op.Constant(value_float=2.0)
    many = op.ConstantOfShape(op.Shape(X))
    return X * two + many


@script()
def scaled(X: FLOAT["N", 2]) -> FLOAT["N", 2]:
    return ml.Scaler(X, offset=[0.0, 1.0], scale=[2.0, 2.0])


@script()
def sequences(X: FLOAT["N", 2]) -> FLOAT["K", 2]:
    parts = op.SequenceConstruct(X, X + 1.0)
    more = op.SequenceInsert(parts, X)
    first = op.SequenceAt(more, 0)
    return op.Concat(first, op.ConcatFromSequence(more, axis=0), axis=0)


@script()
def scanned(X: FLOAT["N", 2]) -> FLOAT["N", 2]:
    @graph()
    def step(total, row):
        total = total + row
        return total, total

    last, sums = op.Scan([0.0, 0.0], X, body=step, num_scan_inputs=1)
    return sums + last


@script()
def annotated(X: Annotated[FLOAT, "N", 4], Y: Annotated[FLOAT, 4]) -> Annotated[FLOAT, "N", 4]:
    y: Annotated[FLOAT, "N", 4] = op.Relu(X)
    return y + Y


def eager(x: npt.NDArray[np.float32]) -> None:
    print(op.Relu(x), op.Add(x, 1.0), op.TopK(x, [1])[0])
    print(np.asarray(op.Relu(x)).mean())
