"""Element types: what `torch.result_type` says of tensors and numbers, axes, and sizes."""

import math

import numpy as np
from sardonyx import BFLOAT16, BOOL, DOUBLE, FLOAT, FLOAT16, INT16, INT32, INT64, UINT8

from .declare import inline, op

END = 9223372036854775807  # of a slice: that of the dimension


@inline
def is_number(x):
    return isinstance(x, (bool, int, float))


@inline
def kind(dtype):
    """0: BOOL, 1: integers, 2: floats."""
    if dtype == BOOL.dtype:
        return 0
    return 2 if dtype.is_floating_point() else 1


@inline
def wider(a, b):
    """What `torch.promote_types` gives."""
    if a == b:
        return a
    if kind(a) != kind(b):
        return a if kind(a) > kind(b) else b
    if a.bitwidth != b.bitwidth:
        return a if a.bitwidth > b.bitwidth else b
    return FLOAT.dtype if kind(a) == 2 else INT16.dtype  # the two halves; UINT8 and INT8


@inline
def type_of(x):
    """The element type of a tensor, or the one that a number has where nothing else says."""
    if not is_number(x):
        return x.dtype
    if isinstance(x, bool):
        return BOOL.dtype
    return INT64.dtype if isinstance(x, int) else FLOAT.dtype


@inline
def weight_of(x):
    """Tensors with dimensions decide before those without, and these before numbers."""
    if is_number(x):
        return 0
    return 2 if x.ndim > 0 else 1


@inline
def result_type(a, b):
    # The operands of most calls: tensors of one type, or a tensor of floats and a number.
    if not is_number(a):
        if not is_number(b):
            if a.dtype == b.dtype:
                return a.dtype
        elif a.dtype.is_floating_point():
            return a.dtype
    first, second = type_of(a), type_of(b)
    if first == second:
        return first
    if weight_of(a) == weight_of(b):
        return wider(first, second)
    high, low = (first, second) if weight_of(a) > weight_of(b) else (second, first)
    return low if kind(low) > kind(high) else high


@inline
def result_type_of(xs):
    """Of a list: each class of operands is joined first, then the classes, as torch does."""
    best = None
    for weight in (2, 1, 0):
        types = [type_of(x) for x in xs if weight_of(x) == weight]
        joined = None
        for one in types:
            joined = one if joined is None else wider(joined, one)
        if best is None or (joined is not None and kind(joined) > kind(best)):
            best = joined
    return best


@inline
def wrapped(x, dtype):
    """An int that the type cannot hold, by its last bits, as PyTorch takes it."""
    if isinstance(x, (bool, float)) or dtype is None or kind(dtype) != 1 or dtype.bitwidth == 64:
        return x
    if not is_static(x % 2):  # a size
        return op.Cast(x, to=dtype)
    least, most = lowest(dtype), highest(dtype)
    return x if least <= x <= most else (x - least) % 2**dtype.bitwidth + least


@inline
def cast(x, dtype):
    """`x` in this element type; a number stays one, which takes the type of what it meets."""
    if is_number(x):
        x = int(x) if isinstance(x, bool) and dtype is not None and dtype != BOOL.dtype else x
        return wrapped(x, dtype)
    if dtype is None or x.dtype == dtype:
        return x
    return op.Cast(x, to=dtype)


@inline
def converted(x, dtype):
    """As PyTorch converts floats that a small integer cannot hold, which ONNX leaves open: to what
    their last bits are."""
    if kind(x.dtype) == 2 and kind(dtype) == 1 and dtype.bitwidth < 32:
        x = op.Cast(x, to=INT64.dtype)
    return cast(x, dtype)


@inline
def number(x, dtype):
    """A number as a tensor without dimensions."""
    if isinstance(x, bool) and dtype == BOOL.dtype:
        return op.Cast(x, to=dtype)
    if isinstance(x, bool):
        x = int(x)
    if isinstance(x, float) and dtype == DOUBLE.dtype:
        return op.Identity(np.array(x, dtype=np.float64))  # not by way of FLOAT
    return op.Cast(x, to=dtype)


@inline
def tensor(x, dtype=None):
    """A tensor of this type, of a tensor or a number."""
    if is_number(x):
        return number(x, type_of(x) if dtype is None else dtype)
    return cast(x, dtype)


@inline
def promoted(a, b):
    dtype = result_type(a, b)
    return cast(a, dtype), cast(b, dtype)


@inline
def promoted_floats(a, b):
    """The same for operators that have floats as their result in any case."""
    dtype = result_type(a, b)
    if kind(dtype) != 2:
        dtype = FLOAT.dtype
    return cast(a, dtype), cast(b, dtype)


@inline
def floating(x):
    """Integers and booleans as FLOAT."""
    return x if x.dtype.is_floating_point() else op.Cast(x, to=FLOAT.dtype)


@inline
def is_half(dtype):
    return dtype == FLOAT16.dtype or dtype == BFLOAT16.dtype


@inline
def is_lost(x, dtype):
    """Whether FLOAT16 makes infinity, zero, or few digits of a factor, which PyTorch takes as it
    is where it multiplies and divides: of a number, or of a tensor without dimensions."""
    if dtype != FLOAT16.dtype:
        return False
    if not is_number(x):
        return x.ndim == 0 and x.dtype != dtype and kind(x.dtype) != 0
    return 0 < abs(x) < 2.0**-14 or 65504 < abs(x) < math.inf


@inline
def computed(x):
    """The type that sums are computed in: FLOAT for the halves."""
    return op.Cast(x, to=FLOAT.dtype) if is_half(x.dtype) else x


@inline
def without_bfloat16(x):
    """BFLOAT16 as FLOAT, for operators that no opset, or only a late one, has for it."""
    return op.Cast(x, to=FLOAT.dtype) if x.dtype == BFLOAT16.dtype else x


@inline
def wide(x):
    """The same for operators that have it from opset 22 on, as most do."""
    return without_bfloat16(x) if op.version < 22 else x


@inline
def in_float(f, x):
    return cast(f(wide(x)), x.dtype)


@inline
def moved(f, x):
    return cast(f(without_bfloat16(x)), x.dtype)


@inline
def in_ints(f, x):
    """`f`, which ONNX has for INT32 but not for BOOL and small integers, of `x`."""
    if kind(x.dtype) == 2 or x.dtype == INT32.dtype or x.dtype == INT64.dtype:
        return f(x)
    if x.dtype == BOOL.dtype or x.dtype == UINT8.dtype or x.dtype.bitwidth < 32:
        return op.Cast(f(op.Cast(x, to=INT32.dtype)), to=x.dtype)
    return op.Cast(f(op.Cast(x, to=INT64.dtype)), to=x.dtype)


@inline
def truth_of(x):
    """A number as a value of BOOL, unless it is a size; a tensor is one already."""
    is_known = isinstance(x, float) or (is_number(x) and is_static(x % 2))
    return x != 0 if is_known else x


@inline
def picked(mask, a, b, dtype):
    """Where, of tensors or numbers in this type; ONNX Runtime has no kernel of it for BOOL."""
    if dtype != BOOL.dtype:
        return op.Where(mask, tensor(a, dtype), tensor(b, dtype))
    a, b = truth_of(a), truth_of(b)
    if isinstance(a, bool):
        b = tensor(b, dtype)
        return op.Or(mask, b) if a else op.And(op.Not(mask), b)
    if isinstance(b, bool):
        a = tensor(a, dtype)
        return op.Or(op.Not(mask), a) if b else op.And(mask, a)
    return op.Or(op.And(mask, tensor(a, dtype)), op.And(op.Not(mask), tensor(b, dtype)))


@inline
def axis(dim, rank):
    """A dimension counted from the front; that of a tensor without dimensions is 0."""
    return dim + max(rank, 1) if dim < 0 else dim


@inline
def axes(dim, rank):
    """Dimensions as a sorted list; None, and nothing, mean all of them."""
    if dim is None:
        return list(range(rank))
    if isinstance(dim, int):
        dim = [dim]
    if len(dim) == 0:
        return list(range(rank))
    return sorted([axis(one, rank) for one in dim])


@inline
def repeated(value, count):
    """`2` and `[2]` as `[2, 2]`."""
    if isinstance(value, int):
        return [value] * count
    return list(value) * count if len(value) == 1 else list(value)


@inline
def count_of(self, dims):
    """The number of elements along the dimensions."""
    return math.prod([self.shape[one] for one in dims])


@inline
def lowest(dtype):
    """The least value of the type, as a number."""
    if dtype == BOOL.dtype:
        return False
    if dtype.is_floating_point():
        return -math.inf
    return -(2 ** (dtype.bitwidth - 1)) if dtype.is_signed() else 0


@inline
def highest(dtype):
    if dtype == BOOL.dtype:
        return True
    if dtype.is_floating_point():
        return math.inf
    return 2 ** (dtype.bitwidth - (1 if dtype.is_signed() else 0)) - 1


@inline
def full_of(shape, value, dtype):
    """A tensor of one value."""
    return op.Expand(tensor(value, dtype), list(shape))


@inline
def is_empty(x):
    """Whether it is known to have no elements."""
    return x.ndim > 0 and 0 in x.type.shape


@inline
def is_static(size):
    """Whether a size is known while compiling."""
    return isinstance(op.Range(0, size, 1).type.shape[0], int)


@inline
def to_power(x, exponent):
    """`x ** exponent` for a number, which is not rounded to FLOAT for a tensor of DOUBLE."""
    is_exact = isinstance(exponent, int) or x.dtype != DOUBLE.dtype
    return op.Pow(x, exponent if is_exact else tensor(exponent, DOUBLE.dtype))


@inline
def with_dims(f, self):
    """`f` of a tensor that has a dimension; a tensor without any is given one for it."""
    if self.ndim > 0:
        return f(self)
    return op.Reshape(f(op.Reshape(self, [1])), np.array([], dtype=np.int64))
