"""A library of functions in a domain of its own.

`Opset("my.vectors", 1)` names the domain, and every `@script(vectors)` defines one of its
operators. A runtime that knows nothing of the domain runs them all the same: their bodies travel
with the model. `nearest_vector.py` uses them from another file.
"""

from onnxscript import opset18 as op
from onnxscript import script
from onnxscript.values import Opset

vectors = Opset("my.vectors", 1)


@script(vectors, default_opset=op)
def Dot(a, b):
    """The product of vectors along the last axis, which stays with size 1."""
    return op.ReduceSum(a * b, op.Constant(value_ints=[-1]), keepdims=1)


@script(vectors, default_opset=op)
def Length(a):
    return op.Sqrt(Dot(a, a))


@script(vectors, default_opset=op)
def Normalize(a, epsilon: float = 1e-6):
    """Vectors of length 1; `epsilon` keeps the null vector from a division by zero."""
    return a / op.Max(Length(a), op.CastLike(op.Constant(value_float=epsilon), a))


@script(vectors, default_opset=op)
def Cosine(a, b):
    """The cosine of the angle between vectors."""
    return Dot(Normalize(a), Normalize(b))
