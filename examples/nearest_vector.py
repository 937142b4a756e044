"""Functions of a custom domain, called from another file.

Imported scripts are called like operators. The model carries those functions that it needs, each
under the domain that `vectors.py` gives them, and those that they call themselves.
"""

from onnxscript import FLOAT, INT64, script
from onnxscript import opset18 as op
from vectors import Cosine, Normalize


@script()
def nearest_vector(
    queries: FLOAT["Q", "D"], known: FLOAT["K", "D"]
) -> tuple[INT64["Q"], FLOAT["Q"], FLOAT["Q", "D"]]:
    """For each query: which known vector points most nearly its way, how nearly, and that one."""
    one_by_one = op.Unsqueeze(queries, [1])
    cosines = op.Squeeze(Cosine(one_by_one, known), [-1])
    best = op.ArgMax(cosines, axis=1, keepdims=0)
    return best, op.ReduceMax(cosines, [1], keepdims=0), Normalize(known[best])
