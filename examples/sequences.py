"""Sequences of tensors: filling, reading, mapping and joining them.

A sequence holds tensors of one element type whose shapes may differ. One that a loop fills is
carried by the loop like any other value; SequenceMap applies a nested function to each element.
"""

from onnxscript import FLOAT, INT64, graph, script
from onnxscript import opset18 as op


@script()
def sequences(x: FLOAT["N"]) -> tuple[FLOAT["M"], INT64, FLOAT["K"]]:
    """The beginnings of x, from the shortest to the longest, each divided by its last element."""

    @graph()
    def divide_by_last(prefix):
        return prefix / prefix[-1:]

    prefixes = op.SequenceEmpty(dtype=FLOAT.dtype)
    for i in range(op.Squeeze(op.Shape(x))):
        prefixes = op.SequenceInsert(prefixes, x[: i + 1])
    divided = op.SequenceMap(prefixes, body=divide_by_last)
    joined = op.ConcatFromSequence(divided, axis=0)
    return joined, op.SequenceLength(divided), op.SequenceAt(divided, 1)
