"""Attention."""

import math

import numpy as np
from sardonyx import BOOL

from .declare import aten, inline, op
from .types import cast


@inline
def grouped(x, query):
    """Key or value heads repeated for the heads of the query."""
    heads, own = query.shape[-3], x.shape[-3]
    if heads == own:
        return x
    shape = x.shape
    wide = op.Unsqueeze(x, [x.ndim - 2])
    wide = op.Expand(wide, [1] * (x.ndim - 2) + [heads // own, 1, 1])
    return op.Reshape(wide, [*shape[:-3], heads, *shape[-2:]])


@inline
def causal(weights):
    """What is added so that a query looks at its own key and those before, from the upper left."""
    rows, columns = weights.type.shape[-2:]
    if isinstance(rows, int) and isinstance(columns, int) and rows * columns <= 4096:
        mask = [[0.0 if j <= i else -math.inf for j in range(columns)] for i in range(rows)]
        return np.array(mask, dtype=weights.dtype)
    # Not every runtime has Trilu of halves.
    nothing = op.ConstantOfShape(op.Shape(weights, start=-2), value=np.array([-np.inf], np.float32))
    return cast(op.Trilu(nothing, 1, upper=1), weights.dtype)


@aten("scaled_dot_product_attention.default")
def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False,
                                 *, scale=None, enable_gqa=False):  # fmt: skip
    assert dropout_p == 0, "dropout in attention: export after `module.eval()`"
    if enable_gqa:
        key, value = grouped(key, query), grouped(value, query)
    by = 1.0 / math.sqrt(float(query.shape[-1])) if scale is None else scale
    turned = op.Transpose(key, perm=[*range(key.ndim - 2), key.ndim - 1, key.ndim - 2])
    weights = op.MatMul(query * by, turned)
    if is_causal:
        weights = weights + causal(weights)
    elif attn_mask is not None and attn_mask.dtype == BOOL.dtype:
        weights = op.Where(attn_mask, weights, -math.inf)
    elif attn_mask is not None:
        weights = weights + cast(attn_mask, weights.dtype)
    share = op.Softmax(weights, axis=-1)
    if attn_mask is not None and not is_causal:
        # A query that may look at nothing gives zeros.
        share = op.Where(op.IsNaN(share), 0.0, share)
    return op.MatMul(share, value)
