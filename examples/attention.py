"""Softmax and scaled dot-product attention, by hand.

`causal` is an attribute parameter. The model below gives it a value, and the function's If node
looks at it; the attention weights are shown as a second result.
"""

from sardonyx import FLOAT, script
from sardonyx import opset18 as op


@script()
def stable_softmax(x):
    """Along the last axis; the largest element is taken away first, so that Exp cannot overflow."""
    shifted = x - op.ReduceMax(x, [-1], keepdims=1)
    weights = op.Exp(shifted)
    return weights / op.ReduceSum(weights, [-1], keepdims=1)


@script()
def attend(query, key, value, causal: bool = False):
    """The weighted values, and the weights."""
    width = op.CastLike(op.Shape(query)[-1], query)
    scores = op.MatMul(query, op.Transpose(key, perm=[0, 2, 1])) / op.Sqrt(width)
    if causal:
        future = op.Trilu(op.Expand(op.CastLike(1.0, scores), op.Shape(scores)), 1, upper=1)
        masked = scores - future * 10000.0
    else:
        masked = op.Identity(scores)
    weights = stable_softmax(masked)
    return weights @ value, weights


@script()
def attention(
    query: FLOAT["heads", "time", "width"],
    key: FLOAT["heads", "time", "width"],
    value: FLOAT["heads", "time", "width"],
) -> tuple[FLOAT["heads", "time", "width"], FLOAT["heads", "time", "time"]]:
    output, weights = attend(query, key, value, causal=True)
    return output, weights
