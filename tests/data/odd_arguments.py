"""Calls operators and Tensors with whatever comes: SEED, then how often."""

import random, sys
import ml_dtypes, numpy as np
from sardonyx import EvalError, Tensor, onnx_opset

# Never an error of our own: SystemError, or one that C++ threw and nobody expected.
EXPECTED = (
    TypeError,
    ValueError,
    EvalError,
    IndexError,
    AttributeError,
    OverflowError,
    NotImplementedError,
    BufferError,
    RecursionError,
    KeyError,
    ZeroDivisionError,
    MemoryError,
)
random.seed(int(sys.argv[1]))


class Odd:
    def __init__(self, answer):
        self.answer = answer

    def __array__(self, *args, **kwargs):
        return self.answer

    def __dlpack__(self, *args, **kwargs):
        return self.answer

    def __index__(self):
        return self.answer

    def __len__(self):
        return self.answer

    def __iter__(self):
        return iter(self.answer)


class Shrinking(list):
    def __iter__(self):
        for item in list(self):
            self.clear()
            yield item


looped = [1]
looped.append(looped)
LEAVES = [
    None,
    True,
    0,
    1,
    -1,
    2,
    3,
    2**31,
    2**63,
    -(2**63),
    2**70,
    0.0,
    -0.5,
    1e300,
    float("nan"),
    float("inf"),
    "",
    "a",
    "\ud800",
    b"\xff",
    1j,
    (),
    [],
    {},
    {1: 2.0},
    {"a": 1},
    {1.5: 2},
    [[1, 2], [3]],
    [[], [1]],
    [1, "a"],
    [None],
    looped,
    object(),
    int,
    np.float32,
    np.dtype("M8[s]"),
    lambda *a: a,
    Ellipsis,
    slice(1),
    Odd(None),
    Odd(3),
    Odd(-1),
    Odd(np.zeros(2)),
    Odd([1]),
    Shrinking([1, 2, 3]),
    np.float32(2),
    np.array(["a", "b"], object),
    np.array([1, None], object),
    np.array("2020", "M8[D]"),
    np.zeros((0, 3), np.float32),
    np.zeros(2**20, np.int8)[::-3],
    np.array(["x"], "U3"),
    np.arange(4).astype(ml_dtypes.int4),
    np.ones(3, ml_dtypes.bfloat16),
    np.ones((2, 3)),
    np.arange(24, dtype=np.float32).reshape(2, 3, 4),
    np.arange(6),
    np.array(5),
    np.array([True, False]),
    np.zeros((1,) * 40, np.float32),
    np.array([1 + 2j]),
    np.array([2**63 - 1]),
    np.array([-(2**63), 0]),
    np.longdouble(1),
    np.zeros(3, [("a", "f4")]),
    np.frombuffer(b"12345678", ">i4"),
]
LEAVES += [
    Tensor(x) for x in (1, 2.5, [1, 2, 3], ["a"], np.ones((2, 3), np.float32), np.zeros((0,)))
]
LEAVES += [Tensor.__new__(Tensor)]


def value(depth=0):
    if depth < 2 and random.random() < 0.15:
        items = [value(depth + 1) for _ in range(random.randrange(4))]
        return random.choice((list, tuple))(items)
    return random.choice(LEAVES)


def attempt(function, *args, **kwargs):
    try:
        function(*args, **kwargs)
    except EXPECTED:
        pass


names = [
    "__add__",
    "__radd__",
    "__sub__",
    "__mul__",
    "__matmul__",
    "__pow__",
    "__rpow__",
    "__mod__",
    "__floordiv__",
    "__divmod__",
    "__lshift__",
    "__rshift__",
    "__and__",
    "__eq__",
    "__lt__",
    "__getitem__",
    "astype",
    "__array__",
    "__dlpack__",
    "to_device",
    "__round__",
    "__contains__",
]
opsets = [
    opset
    for (domain, version), opset in onnx_opset.all_opsets.items()
    if version in (1, 3, 9, 13, 21)
]
operators = [getattr(opset, name) for opset in opsets for name in dir(opset)]
for _ in range(int(sys.argv[2])):
    op = random.choice(operators)
    attributes = {}
    if op.op_schema is not None and random.random() < 0.7:
        for name in op.op_schema.attributes:
            if random.random() < 0.5:
                attributes[name] = value()
    attempt(op, *[value() for _ in range(random.randrange(5))], **attributes)
    tensor = random.choice([one for one in LEAVES if isinstance(one, Tensor)])
    method = getattr(Tensor, random.choice(names), None)
    if method is not None:
        attempt(method, tensor, value())
    attempt(Tensor(np.ones((2, 3), np.float32)).__setitem__, value(), value())
    attempt(Tensor, value())
print("done")
