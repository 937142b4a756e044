"""A small transformer block from parts of other files.

Attention comes from `attention.py`, GELU from `gelu.py`, each with its own helpers. The number of
heads is a Python constant, so the loop over the heads is unrolled, and the list of their outputs is
concatenated at the end.
"""

from attention import attend
from gelu import gelu
from onnxscript import FLOAT, script
from onnxscript import opset18 as op

HEADS = 2
WIDTH = 4


@script()
def normalize_layer(x, scale, epsilon: float = 1e-5):
    mean = op.ReduceMean(x, [-1], keepdims=1)
    centered = x - mean
    variance = op.ReduceMean(centered * centered, [-1], keepdims=1)
    return centered / op.Sqrt(variance + epsilon) * scale


@script()
def transformer_block(
    x: FLOAT["batch", "time", 8],
    scale: FLOAT[8],
    projection: FLOAT[8, 24],
    output: FLOAT[8, 8],
    up: FLOAT[8, 16],
    down: FLOAT[16, 8],
) -> FLOAT["batch", "time", 8]:
    query, key, value = op.Split(normalize_layer(x, scale) @ projection, axis=2, num_outputs=3)
    heads = []
    for head in range(HEADS):
        begin = head * WIDTH
        end = begin + WIDTH
        mixed, _ = attend(
            query[..., begin:end], key[..., begin:end], value[..., begin:end], causal=True
        )
        heads.append(mixed)
    x = x + op.Concat(*heads, axis=-1) @ output
    return x + gelu(normalize_layer(x, scale) @ up) @ down
