"""Splitting a tensor into chunks, with attribute parameters.

`chunks` and `dim` are annotated as `int`, so they are attributes of the function and not inputs:
the caller fixes them. The result is a sequence, because their number differs from call to call.
As `torch.chunk` does, every chunk but the last has the same size.
"""

from onnxscript import FLOAT, script
from onnxscript import opset18 as op


@script()
def split_chunks(x, chunks: int, dim: int = 0):
    axis = op.Constant(value_int=dim)
    pieces = op.Constant(value_int=chunks)
    size = op.Gather(op.Shape(x), axis)
    chunk_size = op.Div(size + pieces - 1, pieces)
    return op.SplitToSequence(x, chunk_size, axis=dim)


@script()
def split_model(x: FLOAT["N", "M"]):
    """The sums of the first and the last chunk, how many there are, and all of them."""
    parts = split_chunks(x, chunks=10, dim=1)
    first = op.ReduceSum(op.SequenceAt(parts, 0))
    last = op.ReduceSum(op.SequenceAt(parts, -1))
    return first, last, op.SequenceLength(parts), parts
