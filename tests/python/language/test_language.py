"""The language: small scripts compiled natively, against NumPy on four runtimes' worth of opinions."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import onnx.checker
import pytest

from language import (
    HEADER,
    Cases,
    Compiler,
    check_everywhere,
    run_reference,
    same,
    shared_compiler,
    shared_evaluator,
    wrong_programs,
)

pytestmark = pytest.mark.filterwarnings("ignore")

CASES = Cases()
case = CASES.case
expression = CASES.expression


@pytest.fixture(scope="module")
def compiler() -> Compiler:
    return shared_compiler()


F = np.array([-2.5, -1.0, 0.5, 3.0, 7.25], np.float32)
G = np.array([1.5, -2.0, 0.75, 2.0, -3.5], np.float32)
I = np.array([-7, -1, 0, 5, 9], np.int64)  # noqa: E741
J = np.array([3, -2, 4, -3, 2], np.int64)
U = np.array([7, 1, 0, 5, 250], np.uint8)
V = np.array([3, 2, 4, 3, 7], np.uint8)
P = np.array([True, True, False, False])
Q = np.array([True, False, True, False])
M = np.arange(12, dtype=np.float32).reshape(3, 4)
T = np.arange(24, dtype=np.float32).reshape(2, 3, 4)

for symbol in ("+", "-", "*"):
    expression(f"x {symbol} y", x=F, y=G)
    expression(f"x {symbol} y", x=I, y=J)
    expression(f"2 {symbol} x {symbol} 3", x=I)
    expression(f"2 {symbol} x", x=F, expect=f"np.float32(2) {symbol} x")
for symbol in ("//", "%"):
    expression(f"x {symbol} y", x=F, y=G)
    expression(f"x {symbol} y", x=I, y=J)
    expression(f"x {symbol} y", x=I.astype(np.int32), y=J.astype(np.int32))
    expression(f"x {symbol} y", x=U, y=V)
    expression(f"x {symbol} -2", x=I)
    expression(f"x {symbol} 2", x=F)
    expression(f"7 {symbol} x", x=G)
    expression(f"x {symbol} y", x=F.astype(np.float64), y=G.astype(np.float64))
expression("x // y", x=np.array([1.0, 0.3, 1.0], np.float64), y=np.array([0.1, 0.1, -0.1]))
expression("x / y", x=F, y=G)
expression("x / 2", x=F)
expression("1 / x", x=F)
expression("x ** y", x=np.abs(F), y=G)
expression("x ** 2", x=F)
expression("x ** 0.5", x=np.abs(F))
expression("2 ** x", x=F, expect="np.float32(2) ** x")
expression("x ** 2", x=I)
expression("x ** -1", x=F, expect="1 / x")
expression("x @ y", x=M, y=M.T.copy())
for symbol in ("&", "|", "^"):
    expression(f"x {symbol} y", x=P, y=Q)
    expression(f"x {symbol} y", x=I, y=J)
    expression(f"x {symbol} y", x=U, y=V)
    expression(f"x {symbol} 6", x=I)
expression("x << 2", x=U, expect="np.left_shift(x, np.uint8(2))")
expression("x >> y", x=U, y=V)
expression("x << 3", x=I)
expression("x >> 1", x=I)
expression("x >> y", x=I, y=np.abs(J))
expression("1 << x", x=np.abs(J), expect="np.int64(1) << x")
expression("~x", x=I)
expression("~x", x=U)
expression("~x", x=P)
expression("not x", x=np.array(True), expect="np.logical_not(x)")
expression("-x", x=F)
expression("-x", x=I)
expression("+x", x=I)
for symbol in ("<", "<=", ">", ">=", "==", "!="):
    expression(f"x {symbol} y", x=F, y=G)
    expression(f"x {symbol} y", x=I, y=J)
    expression(f"0 {symbol} x", x=I)
expression("x == y", x=P, y=Q)
expression("x != y", x=P, y=Q)
# Python refuses a chain of comparisons of more than one element; the graph is elementwise.
expression("-1 < x <= 3", x=np.float32(3), expect="(-1 < x) & (x <= 3)")
expression("y > x >= -2 != y", x=F[0], y=G[0], expect="(y > x) & (x >= -2) & (-2 != y)")
expression("1 < 2 < x", x=F, expect="2 < x")
expression("2 < 1 < x", x=F, expect="np.array(False)")
expression("x > 0 and y > 0", x=np.float32(1), y=np.float32(2), expect="np.array(True)")
expression("x > 0 or y > 0", x=np.float32(-1), y=np.float32(2), expect="np.array(True)")
expression("x > 0 and True", x=np.float32(-1), expect="np.array(False)")
expression("not (x > 0 or y > 5)", x=np.float32(-1), y=np.float32(2), expect="np.array(True)")
expression("x + 1 * 2 - 3 / 4", x=F, expect="x + np.float32(1.25)")
expression("(x + y) * (x - y) / 2 + x * -y", x=F, y=G)
expression("[1, 2, 3, 4, 5] * x", x=F, expect="np.array([1, 2, 3, 4, 5], np.float32) * x")
expression("x + [[1.0], [2.0]]", x=M[0], expect="x + np.array([[1], [2]], np.float32)")
expression("x + np.array([1, 2, 3, 4], np.float32)", x=M)
expression(
    "x * math.pi + math.sqrt(2.0)", x=F, expect="x * np.float32(math.pi) + np.float32(2**.5)"
)
expression("x + (2.0 if y else 3.0)", x=F, y=np.array(True), expect="x + np.float32(2)")
expression("x if y else -x", x=F, y=np.array(False), expect="-x")
expression("x if 3 > 2 else -x", x=F, expect="x")
# Eager Python has its own `max`, and no `astype` yet.
expression("abs(x) + max(y, y * 2)", x=F, y=G[0], expect="np.abs(x) + np.maximum(y, y * 2)")

# Subscripts, each beside NumPy.
for index in (
    "0", "-1", "1:", ":-1", "::-1", "::2", "-2:", "1:3", "3:1:-1", "-1:0:-1", "-9::-1", "-9:-12:-1",
    "-5:-6:-1", "-3:-9:-2", "-3:-2:-1", "-2:1:-1", "10:", "-10:2", ":",
    "...", "None", "0, 1", "-1, 2", "-1, 1:", "1:, -1", ":, 0", ":, -1", ":, 1:3", "::-1, ::-2",
    "..., 0", "0, ...", "None, 0", "0, None", ":, None, 1", "..., None", "None, ..., 1, None",
    "1:2, None, ::2", "0:0", "5::-2", "[0, 2]", "[2, 0], 1:", ":, [1, -1]", "[0, 1], [2, 3]",
):  # fmt: skip
    expression(f"x[{index}]", x=M)
for index in (
    "0, 1, 2", "-1, -1, -1", "0, :, 1", ":, 1", ":, :, -1", "1, ..., ::2", "..., 1, :", "0, 1:, None",
    "None, :, None, 0", ":, [0, 2], :", "0, [0, 2]", "0, :, [1, 2]", "[0, 1], :, [1, 2]",
    ":, [0, 1], [1, 2]", "::-1, ::2, 3:0:-2", "1, None, 2",
):  # fmt: skip
    expression(f"x[{index}]", x=T)
expression("x[i]", x=M, i=np.int64(1))
expression("x[i]", x=M, i=np.int64(-1))
expression("x[i]", x=M, i=np.array([2, 0, 2]))
expression("x[i, j]", x=M, i=np.int64(1), j=np.int64(2), as_function=False)
expression("x[i, 1:]", x=M, i=np.int64(1))
expression("x[:, j]", x=M, j=np.int64(-2))
expression("x[i:j]", x=M, i=np.int64(1), j=np.int64(3))
expression("x[i:]", x=M, i=np.int64(-2))
expression("x[:, :j]", x=M, j=np.int64(2))
expression("x[::i]", x=M, i=np.int64(-1))
for begin in (-1, -2, -4, -9, 1, 2**63 - 1, -(2**63)):
    expression("x[i::-1]", x=M, i=np.int64(begin))
    expression("x[i:j:-2]", x=M, i=np.int64(begin), j=np.int64(-9))
    expression("x[i:0:j]", x=M, i=np.int64(begin), j=np.int64(-1))
    expression("x[i:2:j]", x=M, i=np.int64(begin), j=np.int64(1))
expression("x[i:j:2, 1]", x=M, i=np.int64(0), j=np.int64(3))
expression("x[i, j]", x=M, i=np.array([0, 1]), j=np.array([3, 2]))
expression("x[i, j]", x=M, i=np.array([[0], [1]]), j=np.array([3, 2]))
expression("x[m]", x=M, m=M > 5)
expression("x[m]", x=M, m=np.array([True, False, True]))
expression("x[x > 4]", x=M)
expression("x[i]", x=M, i=np.array([0, 1], np.int32))
expression("x[i + 1, None]", x=M, i=np.int64(0), as_function=False)


case(
    "assign",
    """\
@script()
def f(x: FLOAT[5]) -> FLOAT[5]:
    y = op.Abs(x)
    z = y
    y = op.Neg(y)
    return y + z
""",
    lambda x: np.zeros(5, np.float32),
    F,
)
case(
    "chained_assign",
    """\
@script()
def f(x: FLOAT[5]) -> FLOAT[5]:
    a = b = op.Abs(x)
    a += 1.0
    return a * b
""",
    lambda x: (np.abs(x) + 1) * np.abs(x),
    F,
)
case(
    "swap",
    """\
@script()
def f(x: FLOAT[5], y: FLOAT[5]):
    a, b = x, y
    a, b = b, a
    a, b, c = b - a, a, b
    return a - b + c
""",
    lambda x, y: (x - y) - y + x,
    F,
    G,
)
case(
    "unpack",
    """\
@script()
def f(x: FLOAT[6]):
    (a, b), c = op.Split(x, num_outputs=2), 2.0
    [d, e] = op.TopK(a, [2])
    first, *rest = op.Split(x, num_outputs=3)
    return a * c + b, d, e, rest[1]
""",
    lambda x: (x[:3] * 2 + x[3:], np.sort(x[:3])[:0:-1], np.argsort(x[:3])[:0:-1], x[4:]),
    np.array([3, 1, 2, 6, 5, 4], np.float32),
)
case(
    "annotated",
    """\
@script()
def f(x: FLOAT[5]):
    y: FLOAT[5] = op.Abs(x)
    z: FLOAT[5]
    z = y + 1.0
    return z
""",
    lambda x: np.abs(x) + 1,
    F,
)
case(
    "augmented",
    """\
@script()
def f(x: FLOAT[5]):
    x += 1
    x -= 0.5
    x *= 2
    x /= 4
    x **= 2
    x //= 1
    x %= 3
    return x
""",
    lambda x: np.float32((((x + 1 - 0.5) * 2 / 4) ** 2 // 1) % 3),
    F,
)
case(
    "walrus",
    """\
@script()
def f(x: FLOAT[5]):
    y = (z := op.Abs(x)) + 1.0
    return y * z
""",
    lambda x: (np.abs(x) + 1) * np.abs(x),
    F,
)
case(
    "walrus_in_loop",
    """\
@script(default_opset=op)
def f(x: FLOAT[5], n: INT64):
    s = x
    y = x
    for i in range(n):
        y = (s := s + 1.0) * 2.0
    return s, y
""",
    lambda x, n: (x + 3, (x + 3) * 2),
    F,
    np.int64(3),
)
case(
    "results",
    """\
@script()
def f(x: FLOAT[5]) -> Tuple[FLOAT[5], FLOAT[5], FLOAT[5]]:
    y = op.Abs(x)
    return y, y, x
""",
    lambda x: (np.abs(x), np.abs(x), x),
    F,
)
case(
    "return_constant",
    """\
@script(default_opset=op)
def f(x: FLOAT[5]):
    return 1.5, 3, True, [1, 2]
""",
    lambda x: (np.float32(1.5), np.int64(3), np.array(True), np.array([1, 2])),
    F,
)
case(
    "literal_types",
    """\
@script()
def f(x: DOUBLE[3], y: INT32[3], z: FLOAT16[3]):
    return x + 1, 2 * y, z / 2, op.Add(x, 0.1), op.Where(y > 1, y, 0)
""",
    lambda x, y, z: (x + 1, 2 * y, z / 2, x + 0.1, np.where(y > 1, y, np.int32(0))),
    np.array([1.0, 2, 3]),
    np.array([1, 2, 3], np.int32),
    np.array([1, 2, 3], np.float16),
)
case(
    "untyped_function",
    """\
@script()
def g(x, y):
    return op.Max(x * 2, 1) + y

@script()
def f(x: INT32[3], y: INT32[3]):
    return g(x, y)
""",
    lambda x, y: np.maximum(x * 2, np.int32(1)) + y,
    np.array([-1, 2, 3], np.int32),
    np.array([4, 5, 6], np.int32),
)
case(
    "two_types_of_one_function",
    """\
@script()
def twice(x):
    return x * 2 + 1

@script()
def f(x: INT64[5], y: FLOAT[5]):
    return twice(x), twice(y)
""",
    lambda x, y: (x * 2 + 1, y * 2 + 1),
    I,
    F,
)
case(
    "optional_inputs",
    """\
@script()
def f(x: FLOAT[3, 4]):
    a = op.Clip(x, None, 6.0)
    b = op.Clip(x, max=3.0)
    c = op.Clip(x, min=2.0)
    return a, b, c
""",
    lambda x: (np.minimum(x, 6), np.minimum(x, 3), np.maximum(x, 2)),
    M,
)
case(
    "keyword_inputs",
    """\
@script()
def f(x: FLOAT[3, 4]):
    return op.Gather(indices=[1, 0], data=x, axis=1), op.Sub(B=x, A=1.0)
""",
    lambda x: (x[:, [1, 0]], 1 - x),
    M,
)
case(
    "variadic",
    """\
@script()
def f(x: FLOAT[5], y: FLOAT[5]):
    parts = [x, y, x]
    return op.Concat(x, y, axis=0), op.Sum(x, y, 1.0), op.Max(*parts), op.Concat(*parts, axis=-1)
""",
    lambda x, y: (np.concatenate([x, y]), x + y + 1, np.maximum(x, y), np.concatenate([x, y, x])),
    F,
    G,
)
case(
    "attribute_default_model",
    """\
@script(default_opset=op)
def f(x: FLOAT[5], k: float = 2.0, n: int = 3, flag: bool = True):
    y = x * k
    for i in range(n):
        y = y + 1.0
    if flag:
        y = -y
    if n > 2:
        y = y * 2.0
    return y, x[n]
""",
    lambda x: (-(x * 2 + 3) * 2, x[3]),
    F,
    attributes={"k": 2.0, "n": 3, "flag": 1},
)
case(
    "attribute_given",
    """\
@script(default_opset=op)
def g(x, k: float = 2.0, n: int = 3, flag: bool = True):
    y = x * op.CastLike(k, x)
    for i in range(n):
        y = y + 1.0
    if flag:
        y = op.Neg(y)
    return y

@script()
def f(x: FLOAT[5]):
    return g(x), g(x, k=0.5), g(x, n=1, flag=False), g(x, 4.0, 0)
""",
    lambda x: (-(x * 2 + 3), -(x * 0.5 + 3), x * 2 + 1, -(x * 4)),
    F,
)
case(
    "attribute_as_index",
    """\
@script(default_opset=op)
def g(x, axis: int, at: int = 1):
    return op.Gather(x, [0], axis=axis), x[at]

@script()
def f(x: FLOAT[3, 4]):
    a, b = g(x, axis=1)
    c, d = g(x, 0, at=2)
    return a, b, c, d
""",
    lambda x: (x[:, :1], x[1], x[:1], x[2]),
    M,
)
case(
    "attribute_list",
    """\
@script()
def g(x, perm: List[int], names: List[str] = ("a",), scales: List[float] = (1.0, 2.0)):
    return op.Transpose(x, perm=perm) * op.CastLike(op.Gather(scales, 1), x)

@script()
def f(x: FLOAT[3, 4]):
    return g(x, perm=[1, 0])
""",
    lambda x: x.T * 2,
    M,
)
case(
    "attribute_string",
    """\
@script()
def g(x, mode: str = "constant"):
    return op.Pad(x, [1, 1], mode=mode)

@script()
def f(x: FLOAT[5]):
    return g(x), g(x, mode="reflect")
""",
    lambda x: (np.pad(x, 1), np.pad(x, 1, mode="reflect")),
    F,
)
case(
    "module_constants",
    """\
SCALE = math.sqrt(0.5)
TABLE = np.array([1.0, 2.0, 3.0, 4.0, 5.0], dtype=np.float32)
SIZES = [1, 2] * 2
DEEP = {"a": (1, 2.5), "b": [3]}
N = len(SIZES) + DEEP["b"][0]

@script()
def f(x: FLOAT[5]):
    y = x * SCALE + TABLE
    for i in range(N):
        y = y + DEEP["a"][1]
    return y
""",
    lambda x: x * np.float32(math.sqrt(0.5)) + np.arange(1, 6, dtype=np.float32) + 17.5,
    F,
)
case(
    "closure_and_lambda",
    """\
def helper(x, by=2.0):
    return x * by

@script(default_opset=op)
def f(x: FLOAT[5]):
    scale = 3.0
    def add(a, b=1.0):
        return a + b * scale
    double = lambda v: v + v
    return add(x), add(helper(x), b=x), double(helper(x, by=0.5))
""",
    lambda x: (x + 3, x * 2 + x * 3, x),
    F,
)
case(
    "if_else",
    """\
@script(default_opset=op)
def f(x: FLOAT[5], c: BOOL):
    if c:
        y = op.Abs(x)
        z = 1.0
    else:
        y = op.Neg(x)
        z = x
    return y + z
""",
    lambda x, c: np.abs(x) + 1,
    F,
    np.array(True),
)
case(
    "if_without_else",
    """\
@script(default_opset=op)
def f(x: FLOAT[5], c: BOOL):
    y = x
    k = 2.0
    if c:
        y = op.Abs(x)
        k = 5.0
    return y * k
""",
    lambda x, c: x * 2,
    F,
    np.array(False),
)
case(
    "elif",
    """\
@script(default_opset=op)
def f(x: FLOAT[5]):
    s = op.ReduceSum(x, keepdims=0)
    if s < -5:
        y = x
    elif s < 5:
        y = x * 2
    elif s < 50:
        y = x * 3
    else:
        y = -x
    return y
""",
    lambda x: x * 3,
    F,
)
case(
    "condition_of_rank_1",
    """\
@script(default_opset=op)
def f(x: FLOAT[5]):
    if op.ReduceSum(x) > 0:
        y = x
    else:
        y = -x
    return y
""",
    lambda x: x,
    F,
)
case(
    "number_as_condition",
    """\
@script(default_opset=op)
def f(x: FLOAT[5], n: INT64):
    if n:
        return x
    return -x
""",
    lambda x, n: -x,
    F,
    np.int64(0),
)
case(
    "early_return",
    """\
@script(default_opset=op)
def f(x: FLOAT[5], a: BOOL, b: BOOL):
    if a:
        return x
    y = x * 2.0
    if b:
        y = y + 1.0
        return y
    z = y * y
    return z
""",
    lambda x, a, b: x * 2 + 1,
    F,
    np.array(False),
    np.array(True),
)
case(
    "nested_returns",
    """\
@script(default_opset=op)
def f(x: FLOAT[5], a: BOOL, b: BOOL):
    if a:
        if b:
            return x
        x = x + 10.0
    else:
        x = x * 2.0
    return x + 1.0
""",
    lambda x, a, b: x + 11,
    F,
    np.array(True),
    np.array(False),
)
case(
    "for_static",
    """\
@script(default_opset=op)
def f(x: FLOAT[5]):
    y = x
    for i in range(1, 6, 2):
        y = y * 1.0 + i
    for k, s in enumerate([0.5, 2.0]):
        y = y * s + k
    for a, b in zip([1, 2], (3, 4)):
        y = y + a * b
    return y
""",
    lambda x: ((x + 9) * 0.5) * 2 + 1 + 11,
    F,
)
case(
    "for_static_jumps",
    """\
@script(default_opset=op)
def f(x: FLOAT[5]):
    for i in range(10):
        if i == 2:
            continue
        if i == 5:
            break
        x = x + i
    else:
        x = x * 100.0
    for j in range(2):
        x = x - 1.0
    else:
        x = x * 2.0
    return x + i
""",
    lambda x: (x + 8 - 2) * 2 + 5,
    F,
)
case(
    "for_tensor",
    """\
@script(default_opset=op)
def f(x: FLOAT[5], n: INT64):
    y = x
    for i in range(n):
        y = y + op.Cast(i, to=FLOAT.dtype)
    return y
""",
    lambda x, n: x + 6,
    F,
    np.int64(4),
)
case(
    "for_tensor_range",
    """\
@script(default_opset=op)
def f(n: INT64, m: INT64, k: INT64):
    s = 0
    t = 1
    for i in range(n, m):
        s = s + i
    for i in range(m, n, k):
        t = t * 2 + i
    return s, t
""",
    lambda n, m, k: (np.int64(sum(range(-2, 5))), np.int64(_fold(range(5, -2, -3)))),
    np.int64(-2),
    np.int64(5),
    np.int64(-3),
)
case(
    "for_zero_times",
    """\
@script(default_opset=op)
def f(x: FLOAT[5], n: INT64):
    y = x
    for i in range(n):
        y = y + 1.0
    return y
""",
    lambda x, n: x,
    F,
    np.int64(-3),
)
case(
    "for_rows",
    """\
@script(default_opset=op)
def f(x: FLOAT[3, 4]):
    s = op.Expand(0.0, [4])
    for row in x:
        s = s * 2.0 + row
    return s
""",
    lambda x: x[0] * 4 + x[1] * 2 + x[2],
    M,
)
case(
    "for_break",
    """\
@script(default_opset=op)
def f(x: FLOAT[5], n: INT64):
    s = x
    for i in range(n):
        s = s + 1.0
        if op.ReduceSum(s, keepdims=0) > 15:
            break
        s = s * 1.5
    return s
""",
    lambda x, n: _for_break(x, n),
    F,
    np.int64(10),
)
case(
    "for_static_dynamic_break",
    """\
@script(default_opset=op)
def f(x: FLOAT[5]):
    s = x
    for i in range(1, 9, 2):
        if op.ReduceSum(s, keepdims=0) > 20:
            break
        s = s + op.CastLike(i, s)
    return s
""",
    lambda x: x + 4,
    F,
)
case(
    "for_continue",
    """\
@script(default_opset=op)
def f(x: FLOAT[5], n: INT64):
    s = x
    for i in range(n):
        if i % 2 == 0:
            continue
        s = s + op.Cast(i, to=1)
        if i > 6:
            continue
        s = s * 2.0
    return s
""",
    lambda x, n: _for_continue(x, n),
    F,
    np.int64(10),
)
case(
    "break_in_both",
    """\
@script(default_opset=op)
def f(x: FLOAT[5], n: INT64):
    s = x
    for i in range(n):
        if i == 3:
            s = s * 2.0
            break
        else:
            if i == 1:
                s = s - 1.0
                continue
            s = s + 10.0
        s = s + 1.0
    return s
""",
    lambda x, n: _break_in_both(x, n),
    F,
    np.int64(10),
)
case(
    "while_name",
    """\
@script(default_opset=op)
def f(x: FLOAT[5]):
    s = x
    c = op.ReduceSum(s, keepdims=0) < 30
    while c:
        s = s + 1.0
        c = op.ReduceSum(s, keepdims=0) < 30
    return s
""",
    lambda x: _while(x, 30),
    F,
)
case(
    "while_expression",
    """\
@script(default_opset=op)
def f(x: FLOAT[5], n: INT64):
    i = 0
    while i < n and op.ReduceSum(x, keepdims=0) < 100:
        x = x * 1.5
        i = i + 1
    return x, i
""",
    lambda x, n: (x * np.float32(1.5) ** 3, np.int64(3)),
    F,
    np.int64(3),
)
case(
    "while_condition_and_break",
    """\
@script(default_opset=op)
def f(x: FLOAT[5]):
    s = x
    c = op.ReduceSum(s, keepdims=0) < 30
    while c:
        s = s + 1.0
        c = op.ReduceSum(s, keepdims=0) < 30
        d = op.ReduceSum(s, keepdims=0) > 20
        if d:
            break
    return s
""",
    lambda x: _while(x, 20.0001),
    F,
)
case(
    "while_true",
    """\
@script(default_opset=op)
def f(x: FLOAT[5]):
    k = 0
    while True:
        x = x + 1.0
        k = k + 1
        if op.ReduceSum(x, keepdims=0) > 30:
            break
    return x, k
""",
    lambda x: (_while(x, 30.0001), np.int64(5)),
    F,
)
case(
    "nested_loops",
    """\
@script(default_opset=op)
def f(x: FLOAT[5], n: INT64):
    s = x
    for i in range(n):
        for j in range(i):
            if j == 2:
                break
            s = s + 1.0
        k = 0
        while k < i:
            k = k + 1
            s = s * 1.5
            if k == 2:
                break
    return s
""",
    lambda x, n: _nested(x, n),
    F,
    np.int64(4),
)
case(
    "loop_carried_chain",
    """\
@script(default_opset=op)
def f(n: INT64):
    a = 0
    b = 0
    c = 0
    for i in range(n):
        a = b
        b = c
        c = c + 1
    return a, b, c
""",
    lambda n: (np.int64(3), np.int64(4), np.int64(5)),
    np.int64(5),
)
case(
    "loop_grows",
    """\
@script(default_opset=op)
def f(x: FLOAT[1, 2], n: INT64):
    y = x
    for i in range(n):
        y = op.Concat(y, x, axis=0)
    return y
""",
    lambda x, n: np.tile(x, (4, 1)),
    np.array([[1, 2]], np.float32),
    np.int64(3),
)
case(
    "if_in_loop",
    """\
@script(default_opset=op)
def f(x: FLOAT[5], n: INT64):
    m = 0.0
    for i in range(n):
        if i == 2:
            m = m + 5.0
        elif i == 3:
            y = m * 2.0
            m = y
        else:
            m = m + 1.0
    return x * m
""",
    lambda x, n: x * np.float32(15),
    F,
    np.int64(5),
)
case(
    "loop_in_if",
    """\
@script(default_opset=op)
def f(x: FLOAT[5], c: BOOL, n: INT64):
    y = x
    if c:
        for i in range(n):
            y = y * 2.0
        z = y
    else:
        z = x
    return y + z
""",
    lambda x, c, n: x * 16,
    F,
    np.array(True),
    np.int64(3),
)
case(
    "scan",
    """\
@script()
def f(x: FLOAT[3, 4]):
    @graph()
    def step(total, row):
        after = op.Add(total, row)
        return after, after

    zero = op.Expand(0.0, [4])
    last, every = op.Scan(zero, x, body=step, num_scan_inputs=1)
    return last, every
""",
    lambda x: (x.sum(0), np.cumsum(x, 0)),
    M,
)
case(
    "loop_graph",
    """\
@script()
def f(x: FLOAT[5], n: INT64):
    @graph()
    def step(i, go, s):
        after = s + op.Cast(i, to=1)
        return op.Identity(go), after, after
    last, every = op.Loop(n, None, x, body=step)
    return last, every
""",
    lambda x, n: (x + 3, np.stack([x, x + 1, x + 3])),
    F,
    np.int64(3),
)
case(
    "sequence_map",
    """\
@script()
def f(x: FLOAT[6]):
    @graph()
    def square(y):
        return y * y
    parts = op.SplitToSequence(x, [2, 4])
    squares = op.SequenceMap(parts, body=square)
    return op.ConcatFromSequence(squares, axis=0)
""",
    lambda x: x * x,
    np.arange(6, dtype=np.float32),
)
case(
    "if_graph",
    """\
@script()
def f(x: FLOAT[5], c: BOOL):
    @graph()
    def yes():
        return op.Abs(x)
    @graph()
    def no():
        return op.Neg(x)
    return op.If(c, then_branch=yes, else_branch=no)
""",
    lambda x, c: -x,
    F,
    np.array(False),
)
case(
    "sequences",
    """\
@script()
def f(x: FLOAT[6]):
    parts = op.SplitToSequence(x, 2)
    a = parts[0]
    b = parts[-1]
    parts = op.SequenceInsert(parts, b)
    n = op.SequenceLength(parts)
    built = op.SequenceConstruct(a, b)
    return a, n, op.ConcatFromSequence(parts, axis=0), op.ConcatFromSequence(built, axis=0)
""",
    lambda x: (x[:2], np.int64(4), np.r_[x, x[4:]], np.r_[x[:2], x[4:]]),
    np.arange(6, dtype=np.float32),
)
case(
    "sequence_result",
    """\
@script()
def f(x: FLOAT[6]):
    return op.SplitToSequence(x, 3)
""",
    lambda x: ([x[:3], x[3:]],),
    np.arange(6, dtype=np.float32),
    as_function=False,
)
case(
    "for_over_sequence",
    """\
@script(default_opset=op)
def f(x: FLOAT[6]):
    parts = op.SplitToSequence(x, 2)
    s = op.Expand(0.0, [2])
    for part in parts:
        s = s * 2.0 + part
    return s
""",
    lambda x: x[:2] * 4 + x[2:4] * 2 + x[4:],
    np.arange(6, dtype=np.float32),
)
case(
    "shape_facts",
    """\
@script(default_opset=op)
def f(x: FLOAT[3, 4]):
    if len(x.shape) == 2 and x.rank == 2:
        y = x * x.shape[1]
    else:
        y = -x
    if x.dtype == FLOAT.dtype:
        y = y + len(x)
    for i in range(x.shape[0]):
        y = y + i
    return y
""",
    lambda x: x * 4 + 3 + 3,
    M,
)
case(
    "symbolic_dims",
    """\
@script(default_opset=op)
def f(x: FLOAT["N", "M"], y: FLOAT["M"]) -> FLOAT["N", "2*M"]:
    n = x.shape[0]
    z = op.Reshape(x, op.Concat(op.Reshape(n, [1]), [-1], axis=0))
    return op.Concat(z, x + y, axis=1)
""",
    lambda x, y: np.concatenate([x, x + y], 1),
    M,
    M[0],
)
case(
    "bare_float",
    """\
@script(default_opset=op)
def f(x: FLOAT, y: FLOAT[...]) -> FLOAT[...]:
    if x > 2:
        return y * x
    return y
""",
    lambda x, y: y * 3,
    np.float32(3),
    F,
)
case(
    "script_calls",
    """\
my = values.Opset("my.domain", 1)

@script(my)
def square(x):
    return op.Mul(x, x)

@script(my, default_opset=op)
def norm(x):
    return op.Sqrt(op.ReduceSum(square(x), keepdims=0))

@script()
def f(x: FLOAT[5]):
    return op.Div(x, norm(x)), square(x)
""",
    lambda x: (x / np.sqrt((x * x).sum()), x * x),
    F,
)
case(
    "script_defined_later",
    """\
@script()
def f(x: FLOAT[5]):
    return later(x) + later(op.Neg(x))

@script()
def later(x):
    return op.Relu(x)
""",
    lambda x: np.abs(x),
    F,
)
case(
    "script_results",
    """\
@script()
def halves(x):
    a, b = op.Split(x, num_outputs=2)
    return a, b

@script()
def f(x: FLOAT[6]):
    a, b = halves(x)
    both = halves(b)
    return a, both[1]
""",
    lambda x: (x[:3], x[5:]),
    np.arange(6, dtype=np.float32),
)
case(
    "optional_parameter",
    """\
@script(default_opset=op)
def linear(x, w, b: Optional[FLOAT[...]] = None):
    y = x @ w
    if b is not None:
        y = y + b
    return y

@script()
def f(x: FLOAT[3, 4], w: FLOAT[4, 2], b: FLOAT[2]):
    return linear(x, w), linear(x, w, b), linear(x, w, b=b)
""",
    lambda x, w, b: (x @ w, x @ w + b, x @ w + b),
    M,
    np.arange(8, dtype=np.float32).reshape(4, 2),
    np.array([1, 2], np.float32),
)
case(
    "default_tensor_input",
    """\
@script(default_opset=op)
def g(x, y: FLOAT[...] = 2.0):
    return x * y

@script()
def f(x: FLOAT[5]):
    return g(x), g(x, x)
""",
    lambda x: (x * 2, x * x),
    F,
)
case(
    "strings",
    """\
from onnxscript import opset21
@script()
def f(x: STRING[2]):
    return opset21.StringConcat(x, ["a", "b"]), opset21.Equal(x, "p")
""",
    lambda x: (np.array(["pa", "qb"]), np.array([True, False])),
    np.array(["p", "q"]),
    as_function=False,
    without=("reference", "ort", "ours"),
)
case(
    "element_types",
    """\
from onnxscript import opset21
@script(default_opset=opset21)
def f(x: FLOAT[5]):
    a = opset21.Cast(x, to=INT8.dtype)
    b = opset21.Cast(a, to=DOUBLE.dtype) * 0.5
    c = x.astype(INT32.dtype) + 1
    d = opset21.Cast(x, to=FLOAT16.dtype) + 1.5
    e = opset21.Cast(x, to=BFLOAT16.dtype)
    g = opset21.Cast(c, to=BOOL.dtype)
    return a, b, c, d, opset21.Cast(e, to=1), g
""",
    lambda x: (
        x.astype(np.int8),
        x.astype(np.int8) * 0.5,
        x.astype(np.int32) + 1,
        x.astype(np.float16) + np.float16(1.5),
        x.astype(ml_dtypes.bfloat16).astype(np.float32),
        (x.astype(np.int32) + 1).astype(bool),
    ),
    F,
)
case(
    "static_lists",
    """\
@script(default_opset=op)
def f(x: FLOAT[5]):
    xs = [x, x + 1.0]
    xs.append(x * 2.0)
    ys = [y * k for k, y in enumerate(xs) if k != 1]
    total = sum(ys)
    pads = [0] * 2 + [1]
    return total + len(xs) + pads[-1], op.Concat(*xs[1:], axis=0)
""",
    lambda x: (x * 4 + 4, np.concatenate([x + 1, x * 2])),
    F,
)
case(
    "f_string",
    """\
@script(default_opset=op)
def f(x: FLOAT[1, 1, 2, 2]):
    kind = "edge"
    return op.Pad(x, [0, 0, 1, 0, 0, 0, 0, 1], mode=f"{kind[:2]}{'ge'}")
""",
    lambda x: np.pad(x, ((0, 0), (0, 0), (1, 0), (0, 1)), mode="edge"),
    np.arange(4, dtype=np.float32).reshape(1, 1, 2, 2),
)
case(
    "shadowed_names",
    """\
@script(default_opset=op)
def f(x: FLOAT[5], n: INT64):
    i = 7
    ys = [i * 2 for i in range(3)]
    y = x + i
    for i in range(n):
        y = y + 1.0
    return y + ys[2]
""",
    lambda x, n: x + 7 + 3 + 4,
    F,
    np.int64(3),
)
case(
    "dropout",
    """\
@script(default_opset=op)
def f(x: FLOAT[5], training: BOOL):
    if training:
        mask = x > 0
        out = op.Where(mask, x * 2.0, 0.0)
    else:
        mask = x == x
        out = x
    return out, mask
""",
    lambda x, training: (x, np.ones(5, bool)),
    F,
    np.array(False),
)
case(
    "print_and_docs",
    '''\
@script(default_opset=op)
def f(x: FLOAT[5]):
    """What it does."""
    y = x + 1.0
    "a remark"
    pass
    assert len(x.shape) == 1, "rank"
    print("static", 1)
    del y
    return x
''',
    lambda x: x,
    F,
)


def _fold(items: Any) -> int:
    t = 1
    for i in items:
        t = t * 2 + i
    return t


def _for_break(s: Any, n: Any) -> Any:
    for _ in range(n):
        s = s + 1
        if s.sum() > 15:
            break
        s = s * np.float32(1.5)
    return s


def _for_continue(s: Any, n: Any) -> Any:
    for i in range(n):
        if i % 2 == 0:
            continue
        s = s + np.float32(i)
        if i > 6:
            continue
        s = s * 2
    return s


def _break_in_both(s: Any, n: Any) -> Any:
    for i in range(n):
        if i == 3:
            s = s * 2
            break
        if i == 1:
            s = s - 1
            continue
        s = s + 11
    return s


def _while(s: Any, limit: float) -> Any:
    while s.sum() < limit:
        s = s + np.float32(1)
    return s


def _nested(s: Any, n: Any) -> Any:
    for i in range(n):
        for j in range(i):
            if j == 2:
                break
            s = s + 1
        for _ in range(min(2, i)):
            s = s * np.float32(1.5)
    return s


test_model, test_function, test_eager = CASES.tests()


# --- Wrong programs: each mistake has its code and its line, all of them in one run ---------------

# Bodies of `f(x: FLOAT[3, 4], c: BOOL, n: INT64)`, whose first line is line 1 here.
WRONG = [
    ("return op.Foo(x)", ["unknown-operator:1"]),
    ("return op.Gelu(x)", ["operator-not-in-opset:1"]),
    ("return op.Geluu(x)", ["unknown-operator:1"]),
    # One mistake, one finding.
    ("try:\n    y = x + 1\nexcept ValueError:\n    z = x\nreturn y + z", ["unsupported-statement:1"]),
    ("with open('a') as g:\n    y = x\nreturn y", ["unsupported-statement:1"]),
    ("match c:\n    case 1:\n        y = x\nreturn y", ["unsupported-statement:1"]),
    ("nonlocal q\nreturn x", ["unknown-name:1"]),
    ("def h(v, w=missing):\n    return v * w\nreturn h(x)", ["unknown-name:1"]),
    ("return values.Opset('mine', 1).Op(x, a={'b': 1})", ["attribute-type:1"]),
    ("return values.Opset('mine', 1).Op(x, a=[1, 'b'])", ["attribute-type:1"]),
    ("return op.Upsample(x, [1.0, 1.0])", ["deprecated-operator:1"]),
    ("return op.Softmax(x, axes=1)", ["unknown-attribute:1"]),
    ("return op.Softmax(x, axis=1.5)", ["attribute-type:1"]),
    ("return op.Softmax(x, axis='a')", ["attribute-type:1"]),
    ("return op.Softmax(x, axis=n)", ["static-required:1"]),
    ("return op.Softmax(x, axis=7)", ["axis-out-of-range:1"]),
    ("return op.Cast(x)", ["missing-attribute:1"]),
    ("return op.Pad(x, [0, 1, 0, 1], mode='reflekt')", ["illegal-enumeration:1"]),
    ("return op.Add(x, x, x)", ["too-many-inputs:1"]),
    ("return op.Add(x)", ["too-few-inputs:1"]),
    ("return op.Add()", ["too-few-inputs:1"]),
    ("return op.Add(x, A=x)", ["duplicate-argument:1"]),
    ("a, b = op.Add(x, x)\nreturn a", ["result-count:1"]),
    ("a, b, c = op.TopK(x, [1])\nreturn a", ["result-count:1"]),
    ("a, b = x, x, x\nreturn a", ["result-count:1"]),
    ("return y", ["unknown-name:1"]),
    ("y = z + 1\nw = y + q\nreturn w", ["unknown-name:1", "unknown-name:2"]),
    ("return foo(x)", ["unknown-name:1"]),
    ("if c:\n    y = x\nreturn y", ["unbound-name:3"]),
    ("if c:\n    y = x\nelse:\n    y = x > 0\nreturn y", ["branch-type-mismatch:5"]),
    ("y = x\nif c:\n    y = x > 0\nreturn y", ["branch-type-mismatch:4"]),
    ("y = x\ndel y\nreturn y", ["unbound-name:3"]),
    ("y = None\nfor i in range(n):\n    y = x\nreturn y", ["unbound-name:4"]),
    # A name of the file that the function binds, too, is its own from the first line on.
    ("y = np.float32(2)\nnp = x\nreturn np * y", ["unbound-name:1"]),
    ("del np\nreturn x", ["unbound-name:1"]),
    ("y = np.float32(2)\n(np := x)\nreturn y", ["unbound-name:1"]),
    ("if n.shape == (3,):\n    np = x\nreturn x * np.float32(2)", ["unbound-name:3"]),
    ("s = 'a'\ny = x\nfor i in range(n):\n    y = y + len(s)\n    s = 'b'\nreturn y",
     ["unbound-name:4"]),
    ("return x + n", ["type-mismatch:1"]),
    ("return x + [1, 2, 3]", ["broadcast-mismatch:1"]),
    ("return x @ x", ["shape-mismatch:1"]),
    ("return x[0, 0, 0]", ["unsupported-operand:1"]),
    ("return x[1.5]", ["unsupported-operand:1"]),
    ("return x['a']", ["unsupported-operand:1"]),
    ("return x[1:2:0]", ["unsupported-operand:1"]),
    ("return n + 1.5", ["lossy-literal:1"]),
    ("return n ** 0.5", ["lossy-literal:1"]),
    ("return x << 1", ["unsupported-operand:1"]),
    ("x.foo = 1.0\nreturn x", ["unsupported-statement:1"]),
    ("try:\n    y = -x\nexcept ValueError:\n    y = x\nreturn x", ["unsupported-statement:1"]),
    ("with x:\n    pass\nreturn x", ["unsupported-statement:1"]),
    ("import json\nreturn x", ["unsupported-statement:1"]),
    ("global y\ny = x\nreturn x", ["unsupported-statement:1"]),
    ("class A:\n    pass\nreturn x", ["unsupported-statement:1"]),
    ("raise ValueError('x')", ["static-error:1"]),
    ("return {1, 2}", ["unsupported-operand:1"]),
    ("return x * 1j", ["unsupported-expression:1"]),
    ("return f'{x}'", ["static-required:1"]),
    ("assert n > 0\nreturn x", ["static-required:1"]),
    ("assert 1 > 2, 'no'\nreturn x", ["static-error:1"]),
    ("k = 1 // 0\nreturn x", ["static-error:1"]),
    ("k = [1, 2][5]\nreturn x", ["static-error:1"]),
    ("k = 2 ** 200\nreturn x", ["static-error:1"]),
    ("k = 999999999999999999999999999999999999999999\nreturn x", ["static-error:1"]),
    ("k = {'a': 1}['b']\nreturn x", ["static-error:1"]),
    ("return x.foo", ["unknown-member:1"]),
    ("return math.foo(1.0) * x", ["unknown-member:1"]),
    ("k = 3\nreturn k(x)", ["not-callable:2"]),
    ("y = x", ["missing-return:0"]),
    ("if c:\n    return x", ["missing-return:1"]),
    ("if c:\n    return x\nreturn x, x", ["branch-type-mismatch:1"]),
    ("if c:\n    return x\nreturn n", ["branch-type-mismatch:1"]),
    ("y = x\nfor i in range(n):\n    y = op.Cast(y, to=7)\nreturn y", ["branch-type-mismatch:2"]),
    ("xs = [x]\nadd = lambda v: xs.append(v)\nif c:\n    add(x)\nreturn xs[0]",
     ["unsupported-statement:2"]),
    ("xs = [x]\nxs.append(xs)\nreturn x", ["static-error:2"]),
    ("break\nreturn x", ["unsupported-statement:1"]),
    ("for i in 5:\n    pass\nreturn x", ["unsupported-operand:1"]),
    ("f2 = lambda v: v\nreturn f2(x, x)", ["argument-mismatch:2"]),
    ("f2 = lambda v: v\nreturn f2(w=x)", ["argument-mismatch:2"]),
    ("return f(x, c, n)", ["recursive-script:1"]),
    ("y = op.Foo(x)\nz = y + 1\nw = z[99]\nif z > 1:\n    w = y\nreturn w + op.Bar(x)",
     ["unknown-operator:1", "unknown-operator:6"]),
    ("return op.Reshape(x, [5, 5])", ["shape-mismatch:1"]),
    ("return op.Concat(x, op.Cast(x, to=7), axis=0)", ["type-mismatch:1"]),
]  # fmt: skip


test_wrong_program = wrong_programs(WRONG)


# --- Bad input: everything ends, soon, in a diagnostic --------------------------------------------

SIGNATURE = "@script(default_opset=op)\ndef f(x: FLOAT[5], n: INT64, c: BOOL, d: BOOL):\n"


def nested_loops(depth: int, head: str) -> str:
    lines = [f"{'    ' * (i + 1)}{head.format(i)}" for i in range(depth)]
    inside = "    " * (depth + 1)
    return "\n".join(["    s = 0.0", *lines, f"{inside}s = s + 1.0", f"{inside}x = x + s"])


HOSTILE = {
    "nested_loops": (SIGNATURE + nested_loops(40, "for i{} in range(n):"), None),
    "nested_static_loops": (SIGNATURE + nested_loops(40, "for i{} in range(3):"), "limit-exceeded"),
    "unrolled": (SIGNATURE + "    for i in range(10**15):\n        pass", "limit-exceeded"),
    "forever": (SIGNATURE + "    while True:\n        k = 1", "limit-exceeded"),
    "list": (SIGNATURE + "    x = x + [0] * 10**12", "static-error"),
    "string": (SIGNATURE + "    s = 'ab'\n    for i in range(99):\n        s = s + s", "static-error"),
    "shared_lists": (
        SIGNATURE + "    s = t = [1]\n    for i in range(90):\n        s, t = [s, s], [t, t]\n"
        "    x = x + (1 if s == t else 2)",
        "limit-exceeded",
    ),
    "deep_list": (
        SIGNATURE + "    s = [1]\n    for i in range(10**5):\n        s = [s]",
        "limit-exceeded",
    ),
    "deep_calls": (
        "".join(f"@script()\ndef g{i}(x):\n    return g{i + 1}(x)\n" for i in range(2000))
        + SIGNATURE + "    x = g0(x)",
        "limit-exceeded",
    ),
    "shared_calls": (
        "".join(
            f"@script(default_opset=op)\ndef g{i}(x):\n    return g{i + 1}(x) + g{i + 1}(x)\n"
            for i in range(14)
        ) + "@script()\ndef g14(x):\n    return op.Neg(x)\n" + SIGNATURE + "    x = g0(x)",
        None,
    ),
    "endless_lambda": (SIGNATURE + "    g = lambda v: g(v)\n    x = g(x)", "limit-exceeded"),
    "mutual": (
        "@script()\ndef a(x):\n    return b(x)\n@script()\ndef b(x):\n    return a(x)\n"
        + SIGNATURE + "    x = a(x)",
        "recursive-script",
    ),
    "constants": (
        "".join(f"a{i} = a{i + 1} + 1\n" for i in range(3000)) + "a3000 = 1\n"
        + SIGNATURE + "    x = x + a0",
        "unknown-name",  # a file runs from its top
    ),
    "constants_in_order": (
        "a0 = 1\n" + "".join(f"a{i + 1} = a{i} + 1\n" for i in range(3000))
        + SIGNATURE + "    x = x + a3000",
        None,
    ),
    "own_constant": ("a = a + 1\n" + SIGNATURE + "    x = x + a", "unknown-name"),
    "deep_expression": (SIGNATURE + f"    x = {'-' * 5000}x", "nested-too-deeply"),
    "long_expression": (SIGNATURE + f"    x = x{' + x' * 150}", None),
    "sizes": ("A = np.zeros((10**6, 10**6, 10**6))\n" + SIGNATURE + "    x = x + A", "static-error"),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_script(name: str, compiler: Compiler) -> None:
    source, code = HOSTILE[name]
    answer, _ = compiler.compile(HEADER + source + "\n    return x\n", "f")
    if code is None:
        assert answer[0] == "ok", answer
    else:
        assert answer[0] == "error"
        assert code in {finding.split(":")[0] for finding in answer[1:]}


def test_optional_input_of_a_function_alone(compiler: Compiler) -> None:
    source = (
        "@script(default_opset=op)\ndef f(x: FLOAT[5], b: Optional[FLOAT[5]] = None):\n"
        "    if b is None:\n        return x\n    return x + b\n"
    )
    answer, _ = compiler.compile(HEADER + source, "f")
    assert [one.split(":")[0] for one in answer] == ["ok", "omitted-input"]
    answer, _ = compiler.compile(HEADER + source, "f", "function")
    assert answer[1].split(":")[0] == "static-required"


def test_has_element_of_an_input_left_out(compiler: Compiler) -> None:
    source = (
        "@script(default_opset=op)\ndef g(x, b: Optional[FLOAT[5]] = None):\n"
        "    if op.OptionalHasElement(b):\n        y = b\n    else:\n        y = op.Neg(x)\n"
        "    return y\n\n"
        "@script(default_opset=op)\ndef f(x: FLOAT[5]):\n    return g(x) + g(x, x)\n"
    )
    answer, data = compiler.compile(HEADER + source, "f")
    assert answer == ["ok"]
    x = np.arange(5, dtype=np.float32)
    check_everywhere(shared_evaluator(), onnx.load_from_string(data), {"x": x}, [x - x])


# A name that only a refused loop has changed has a value all the same.
def test_nothing_follows_from_a_refused_loop(compiler: Compiler) -> None:
    source = """@script(default_opset=op)
def f(x: FLOAT[4], n: INT64):
    b = x
    m = op.Concat(x[None], x[None], axis=0)
    for row in m:
        b = b + row
        m = m * 0.5
        for _ in range(n):
            m[0] = b
            b = x * 3.0
    return b
"""
    answer, _ = compiler.compile(HEADER + source, "f")
    assert [one.split(":")[0] for one in answer] == ["error", "aliased-item-assignment"]


# Heads of `f`, and what is said of them alone: nothing follows from the mistake.
@pytest.mark.parametrize(
    ("head", "kind", "codes"),
    [
        ("x: FLOAT[..., 'N']", "model", ["invalid-annotation"]),
        ("x: NOPE", "model", ["unknown-name"]),
        ("x: FLOAT[3], **more", "model", ["unsupported-statement"]),
        ("*x: FLOAT[3]", "model", ["missing-input-type"]),
        ("*x: FLOAT[3]", "function", ["unsupported-statement"]),
    ],
)
def test_one_mistake_of_a_head(compiler: Compiler, head: str, kind: str, codes: list[str]) -> None:
    source = f"@script(default_opset=op)\ndef f({head}):\n    return op.Max(x[0], x[1])\n"
    answer, _ = compiler.compile(HEADER + source, "f", kind)
    assert [finding.split(":")[0] for finding in answer[1:]] == codes


def test_files_that_import_each_other(compiler: Compiler) -> None:
    folder = compiler.path("")
    folder.mkdir()
    (folder / "one.py").write_text(
        HEADER + "from two import *\nimport one\nfrom one import f as again\n"
        "@script(default_opset=op)\ndef f(x: FLOAT[5]):\n    return g(x) + 1.0\n"
        "@script()\ndef h(x):\n    return op.Abs(x)\n"
        "@script(default_opset=op)\ndef bad(x: FLOAT[5]):\n    return nowhere(x)\n"
    )
    (folder / "two.py").write_text(
        HEADER + "from one import *\nfrom one import h\n"
        "@script(default_opset=op)\ndef g(x):\n    return h(op.Neg(x)) * 2\n"
    )
    answer, data = compiler.compile_file(folder / "one.py", "f", "model")
    assert answer[0] == "ok", answer
    x = np.array([1, -2, 3, 4, 5], np.float32)
    same(run_reference(onnx.load_from_string(data), {"x": x}), [np.abs(x) * 2 + 1], 1e-6)
    answer, _ = compiler.compile_file(folder / "one.py", "bad", "model")
    assert [finding.split(":")[0] for finding in answer[1:]] == ["unknown-name"]
