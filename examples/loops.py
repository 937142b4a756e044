"""Loops that run in the graph: `for`, `while` and `break` on tensor values.

A loop over `range(n)` with a tensor `n`, or with a condition on a tensor, becomes a Loop node. What
the body assigns and what existed before is carried from one iteration to the next.
"""

from sardonyx import FLOAT, INT64, script
from sardonyx import opset18 as op


@script()
def polynomial(x: FLOAT["N"], n: INT64) -> FLOAT["N"]:
    """1 + x + x^2/2 + ... with n terms: the exponential function for a large n."""
    term = op.Exp(x * 0.0)
    total = x * 0.0
    for i in range(n):
        total = total + term
        term = term * x / (op.Cast(i, to=FLOAT.dtype) + 1.0)
    return total


@script()
def collatz_steps(start: INT64) -> INT64:
    """How many steps of the 3n+1 rule lead to 1."""
    value = start
    steps = op.Constant(value_int=0)
    while value != 1:
        if value % 2 == 0:
            value = value // 2
        else:
            value = 3 * value + 1
        steps = steps + 1
    return steps


@script()
def square_root(x: FLOAT["N"], most_steps: INT64) -> tuple[FLOAT["N"], INT64]:
    """Newton's method, until a step moves no element by more than 0.0001."""
    root = x
    steps = op.Constant(value_int=0)
    for _ in range(most_steps):
        better = 0.5 * (root + x / root)
        moved = op.ReduceMax(op.Abs(better - root), keepdims=0)
        root = better
        steps = steps + 1
        if moved < 0.0001:
            break
    return root, steps
