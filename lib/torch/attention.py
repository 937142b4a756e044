"""Attention."""

import math

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
def causal(query, key):
    """Which keys each query may look at: its own and those before, from the upper left corner."""
    rows = op.Unsqueeze(op.Range(0, query.shape[-2], 1), [1])
    columns = op.Unsqueeze(op.Range(0, key.shape[-2], 1), [0])
    return columns <= rows


@aten("scaled_dot_product_attention.default")
def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False,
                                 *, scale=None, enable_gqa=False):  # fmt: skip
    assert dropout_p == 0, "dropout in attention: export after `module.eval()`"
    if enable_gqa:
        key, value = grouped(key, query), grouped(value, query)
    by = 1.0 / math.sqrt(float(query.shape[-1])) if scale is None else scale
    turned = op.Transpose(key, perm=[*range(key.ndim - 2), key.ndim - 1, key.ndim - 2])
    weights = op.MatMul(query * by, turned)
    mask = causal(query, key) if is_causal else attn_mask
    if mask is not None and mask.dtype == BOOL.dtype:
        weights = op.Where(mask, weights, -math.inf)
    elif mask is not None:
        weights = weights + cast(mask, weights.dtype)
    share = op.Softmax(weights, axis=-1)
    if mask is not None and not is_causal:
        # A query that may look at nothing gives zeros.
        share = op.Where(op.IsNaN(share), 0.0, share)
    return op.MatMul(share, value)
