"""A cumulative sum by Scan, whose body is a nested `@graph` function.

The body takes the state and one slice of the scanned input, and returns the next state and one
slice of the result. It may also use what is around it, here `decay`: names from outside are
captured, as in any Python closure.
"""

from onnxscript import FLOAT, graph, script
from onnxscript import opset18 as op


@script()
def cumulative_sum(x: FLOAT["N", "M"], decay: FLOAT) -> tuple[FLOAT["M"], FLOAT["N", "M"]]:
    """Sums along the rows; older rows count less by the factor `decay` with every step."""

    @graph()
    def step(total, row):
        next_total = total * decay + row
        return next_total, op.Identity(next_total)

    start = op.ReduceSum(x * 0.0, [0], keepdims=0)
    last, sums = op.Scan(start, x, body=step, num_scan_inputs=1)
    return last, sums
