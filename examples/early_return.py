"""Returning early, from the middle of a script.

A graph has one end only. What follows an `if` that returns is therefore compiled into its other
branch; the script reads as Python does, and means the same.
"""

from sardonyx import FLOAT, script
from sardonyx import opset18 as op


@script()
def settle(x: FLOAT["N"], limit: FLOAT) -> FLOAT["N"]:
    """Scales x down to the limit, if it is a limit at all and x is above it."""
    if limit <= 0.0:
        return x
    largest = op.ReduceMax(op.Abs(x), keepdims=0)
    if largest <= limit:
        return x
    if largest == float("inf"):
        return op.Clip(x, -limit, limit)
    return x * (limit / largest)
