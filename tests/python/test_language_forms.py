"""The forms of the language in a table: a body in a few words, and what it gives in NumPy.

Other files test what a construct means in its corners; this one that no accepted form gets lost.
"""

from __future__ import annotations

import numpy as np
import pytest
from language import Cases

pytestmark = pytest.mark.filterwarnings("ignore")

CASES = Cases()

VALUES = {
    "x": np.array([1.0, -2.0, 3.5], np.float32),
    "m": np.arange(12, dtype=np.float32).reshape(4, 3) - 5,
    "k": np.array([4, -7, 2], np.int64),
    "c": np.array(True),
    "d": np.array(False),
    "n": np.array(2, np.int64),
    "i": np.array(1, np.int64),
}
TYPES = {
    "x": 'FLOAT["N"]',
    "m": 'FLOAT["R", "N"]',
    "k": 'INT64["N"]',
    "c": "BOOL",
    "d": "BOOL",
    "n": "INT64",
    "i": "INT64",
}
GLOBALS = """\
from onnx import TensorProto
from onnx.helper import make_tensor
G_INT = 3
G_FLOAT = 1.5
G_TRUE = True
G_NONE = None
G_LIST = [1, 0]
G_ARRAY = np.array([1.0, 2.0, 3.0], np.float32)
G_PROTO = make_tensor("t", TensorProto.FLOAT, [3], [4.0, 5.0, 6.0])

@script(default_opset=op)
def scaled(a, b, by: float = 2.0):
    return a * by + b

"""
FLOATS = np.array([1.0, 2.0, 3.0], np.float32)

# The parameters, the body, and the result in NumPy.
FORMS = [
    # --- Assignment
    ("x", "y = op.Abs(x)\nreturn y", "np.abs(x)"),
    ("x", 'y: FLOAT["N"] = op.Abs(x)\nreturn y', "np.abs(x)"),
    ("x", 'y: FLOAT["N"]\ny = -x\nreturn y', "-x"),
    ("x", "a = b = op.Abs(x)\nreturn a + b", "np.abs(x) * 2"),
    ("x", "a, b = op.Abs(x), op.Neg(x)\nreturn a + b", "np.abs(x) - x"),
    ("x", "a, b = -x, x * 2.0\na, b = b, a\nreturn a - b + a", "5 * x"),
    ("x", "[a, b] = x, -x\nreturn a - b", "2 * x"),
    ("x", "(a, _) = op.TopK(x, [1])\nreturn a", "x[2:]"),
    ("x", "a, _ = op.TopK(x, [1])\nb, _ = op.TopK(-x, [1])\nreturn a + b", "x[2:] + 2"),
    ("x", "a, (b, c) = x, (x * 2.0, -x)\nreturn a + b * c", "x - 2 * x * x"),
    ("x", "a, *b = x, x * 2.0, x * 3.0\nreturn a + b[0] * b[1]", "x + 6 * x * x"),
    ("x", "t = x, -x\na, b = t\nreturn a * b", "-x * x"),
    ("x", "x += 1.0\nx *= 2.0\nx -= 1.0\nx /= 2.0\nreturn x", "((x + 1) * 2 - 1) / 2"),
    ("k", "k //= 2\nk %= 3\nk **= 2\nreturn k", "(k // 2 % 3) ** 2"),
    ("x", "y = (z := op.Abs(x))\nreturn y + z", "2 * np.abs(x)"),
    ("x", "y = x\ndel x\nreturn y", "x"),
    ("x", '"""doc"""\npass\n"text"\nassert True\nprint("v", 1)\nreturn x', "x"),
    ("x", "op.Abs(x)\nreturn op.Neg(x)", "-x"),
    ("x", "G_INT = op.Abs(x)\nreturn G_INT", "np.abs(x)"),
    ("x", "x[0] = 1.0\nx[1:] += 2.0\nreturn x", "np.array([1, 0, 5.5], np.float32)"),
    # --- Return
    ("x", "return x, op.Neg(x)", "(x, -x)"),
    ("x", "y = -x\nreturn y, y", "(-x, -x)"),
    ("x", "return 1.0, x", "(np.float32(1), x)"),
    ("x c", "if c:\n    return x\nreturn -x", "x"),
    ("x c d", "if d:\n    return x\nelif c:\n    return x * 2.0\nreturn -x", "2 * x"),
    # --- Branches
    ("x c", "if c:\n    y = op.Abs(x)\nelse:\n    y = -x\nreturn y", "np.abs(x)"),
    ("x d", "y = -x\nif d: y = op.Abs(x)\nreturn y", "-x"),
    ("x c", "y = x\nif c:\n    z = -x\n    y = z\nreturn y", "-x"),
    ("x c d", "y = x\nif c:\n    if not d:\n        y = -x\nreturn y", "-x"),
    ("x c", "if c:\n    a, b = -x, x\nelse:\n    a, b = x, -x\nreturn a - b", "-2 * x"),
    ("x c d", "return x if c & d else -x", "-x"),
    ("x c d", "return x if c and not d else -x", "x"),
    ("x c d", "return x if c or d else -x", "x"),
    ("x n", "return x if 0 < n <= 2 else -x", "x"),
    ("x c", "if c:\n    c = op.Not(c)\nreturn op.Where(c, x, x + 1.0)", "x + 1"),
    ("x", "if G_TRUE and not G_NONE:\n    return -x\nreturn x", "-x"),
    ("x", "if G_INT == 3 and 1 in G_LIST and G_INT not in G_LIST:\n    return -x\nreturn x", "-x"),
    ("x", "if op.ReduceSum(x) > 0.0:\n    y = -x\nelse:\n    y = x\nreturn y", "-x"),
    # --- Loops
    ("x", "s = x\nfor i in range(G_INT):\n    s = s + i\nreturn s", "x + 3"),
    ("x n", "s = x\nfor i in range(2 * n + 1):\n    s = s + x * i\nreturn s", "x + 10 * x"),
    ("x n", "s = x\nfor i in range(6, n, -2):\n    s = s + i\nreturn s", "x + 10"),
    ("x n", "s = 0.0\nfor i in range(n):\n    s = s + x\nreturn s", "2 * x"),
    ("x n", "for i in range(n):\n    y = x + i\nreturn y", "x + 1"),
    ("x n", "for i in range(9):\n    if i == n:\n        break\n    x = -x\nreturn x, i", "(x, 2)"),
    ("x n", "for i in range(5):\n    if i < n:\n        continue\n    x = x + i\nreturn x",
     "x + 9"),
    ("x n", "for i in range(n):\n    x = -x\nelse:\n    x = x + 1.0\nreturn x", "x + 1"),
    ("x n", "while n < 5:\n    n = n + 1\n    x = x * 2.0\nreturn x", "x * 8"),
    ("x n", "while True:\n    n += 3\n    if n > 9:\n        return x, n", "(x, n + 9)"),
    ("m", "s = m[0]\nfor row in m:\n    s = s + row\nreturn s", "m[0] + m.sum(0)"),
    ("m", "s = m[0]\nfor j, row in enumerate(m):\n    s += row * j\nreturn s",
     "m[0] + m[1] + 2 * m[2] + 3 * m[3]"),
    ("m k", "s = m[0]\nfor a, b in zip(m, k):\n    s += a * op.Cast(b, to=1)\nreturn s",
     "m[0] + 4 * m[0] - 7 * m[1] + 2 * m[2]"),
    ("x", "for a, b in [(1.0, 2.0), (3.0, 4.0)]:\n    x = x * a + b\nreturn x", "(x + 2) * 3 + 4"),
    ("x n", ("xs = []\nfor j in range(n):\n    xs.append(x * j)\n"
     "return op.Concat(xs[0], xs[1], axis=0)"), "np.concatenate([x * 0, x])"),
    ("x", ("s = op.SequenceEmpty()\nfor j in range(3):\n    s = op.SequenceInsert(s, x)\n"
     "return op.ConcatFromSequence(s, axis=0)"), "np.concatenate([x, x, x])"),
    # --- Operators
    ("x", "return 1 - x + (-2.0) + (2.0 + 3.0) * x", "1 - x - 2 + 5 * x"),
    ("x", "return x % 1.5, x // 2, x ** 2, -x", "(x % 1.5, x // 2, x ** 2, -x)"),
    ("k", "return k % 3, k // 3, k & 6, k | 1, k ^ 5, ~k, k << 1, k >> 1",
     "(k % 3, k // 3, k & 6, k | 1, k ^ 5, ~k, k << 1, k >> 1)"),
    ("x", "return x == x, x != x, x < 0.0, x <= 1.0, x > 0, x >= 1",
     "(x == x, x != x, x < 0, x <= 1, x > 0, x >= 1)"),
    ("x", "return (x > 1.0) & (x < 4.0) | ~(x > 0.0)", "(x > 1) & (x < 4) | ~(x > 0)"),
    ("m x", "return m @ x", "m @ x"),
    ("x", "return x + float('inf'), x * G_FLOAT + G_INT, x + (-G_FLOAT)",
     "(x + np.float32(np.inf), x * np.float32(1.5) + 3, x - np.float32(1.5))"),
    ("x", "return x + [1, 2.0, 3] + G_ARRAY + G_PROTO", "x + 2 * A + A + 3"),
    ("x", "return abs(x), max(x), min(x), sum(x), len(x)",
     "(np.abs(x), x.max(), x.min(), x.sum(), np.int64(3))"),
    ("x n", "return int(n), float(n), bool(n), round(x)",
     "(np.int64(2), np.float32(2), np.True_, np.round(x))"),
    ("m", "return m.T, m.shape[0], m.rank", "(m.T, np.int64(4), np.int64(2))"),
    ("x", "return x.astype(INT64.dtype)", "x.astype(np.int64)"),
    # --- Calls and attributes
    ("x", "return op.Add(A=x, B=x)", "2 * x"),
    ("x", "return op.Clip(x, None, 2.0), op.Clip(x, 1.0, None)",
     "(x.clip(None, 2), x.clip(1, None))"),
    ("x", "return op.Max(x, -x, 1.0)", "np.maximum(np.maximum(x, -x), 1)"),
    ("x", "return (op.Abs)(x)", "np.abs(x)"),
    ("x", "return scaled(x, x), scaled(x, x, by=3.0), scaled(b=x, a=-x)", "(3 * x, 4 * x, -x)"),
    ("x", "a, b, c = op.Split(x, num_outputs=3)\nreturn a + b * c", "x[:1] + x[1:2] * x[2:]"),
    ("m", "return op.Transpose(m, perm=G_LIST), op.Transpose(m, perm=(1, 0))", "(m.T, m.T)"),
    ("m", "return op.Transpose(m, perm=[j for j in (1, 0)])", "m.T"),
    ("x", "return op.Cast(x, to=TensorProto.DOUBLE), op.Cast(x, to=3 + 4)",
     "(x.astype(np.float64), x.astype(np.int64))"),
    ("x", "return op.ReduceSum(x, keepdims=False), op.ReduceSum(x, keepdims=G_TRUE)",
     "(x.sum(), x.sum(keepdims=True))"),
    ("x", "return x + op.Constant(value=make_tensor('t', TensorProto.FLOAT, [1], [2.0]))", "x + 2"),
    ("x", "return x + op.Constant(value_floats=[2.0, 3.0, 4.0])", "x + A + 1"),
    ("x", "f2 = lambda a, b=2.0: a * b\nreturn f2(x) + f2(x, 3.0)", "5 * x"),
    ("x", "def g(a):\n    return a + x\nreturn g(x) * g(-x)", "0 * x"),
    ("x", "def twice(h, a):\n    return h(h(a))\nreturn twice(lambda a: a * 3.0, x)", "9 * x"),
    ("k", ("@graph()\ndef body(s, a):\n    t = s + a\n    return t, op.Identity(t)\n"
     "z = op.Constant(value_int=0)\n_, r = op.Scan(z, k, body=body, num_scan_inputs=1)\nreturn r"),
     "np.cumsum(k)"),
    ("x c", ("@graph()\ndef a():\n    return x + 1.0\n@graph()\ndef b():\n    return -x\n"
     "return op.If(c, then_branch=a, else_branch=b)"), "x + 1"),
    # --- Static evaluation
    ("x", "ws = [j * 0.5 for j in range(4) if j % 2]\nfor w in ws:\n    x = x + w\nreturn x",
     "x + 2"),
    ("x", "d = {'a': 2.0, **{'b': 3.0}}\nreturn x * d['a'] + d.get('b')", "2 * x + 3"),
    ("x", "return x * sum(G_LIST) + max(G_LIST) + len(G_LIST) + sorted(G_LIST)[0]", "x + 3"),
    ("x", "return x if isinstance(G_INT, int) and G_NONE is None else -x", "x"),
    ("x", "return x * {1, 2, 2}.__len__() if False else x * len({1, 2, 2})", "2 * x"),
]  # fmt: skip

for index in (
    "0", "-1", "1:2", "1:", ":2", ":-1", "::2", "::-1", ":0:-1", "2:0:-1", "1:-1", ":, 1", "1, 2",
    "-1, :", "-1, 1:", "0, :0:-1", ":2, 0", ":2, :1", "[0, 2]", "[0, 2], :", "(0, 1)",
    "0:2, [1, 2]", "slice(0, 2)", ":", "...", "None", "..., 0", "None, 1:, None", "m > 2.0",
    "G_INT - 1", "-G_INT", "G_INT:",
):  # fmt: skip
    FORMS.append(("m", f"return m[{index}]", f"m[{index}]"))
for index in (
    "i",
    "i:i + 2",
    "i:i + 2, i",
    "i, 1:3",
    "i, i",
    "i, 0",
    "-i",
    "i:",
    "[0, 2], i",
    "::i",
):
    FORMS.append(("m i", f"return m[{index}]", f"m[{index}]"))
FORMS += [
    ("m", "return (m + 1.0)[0], op.Abs(m)[0], m[0][1]", "((m + 1)[0], np.abs(m)[0], m[0][1])"),
    ("m", "return op.Shape(m)[-1]", "np.int64(3)"),
    ("m k", "return m[op.Abs(k) % 4]", "m[np.abs(k) % 4]"),
]

for number, (names, body, result) in enumerate(FORMS):
    parameters = names.split()
    signature = ", ".join(f"{name}: {TYPES[name]}" for name in parameters)
    lines = "".join(f"    {line}\n" for line in body.split("\n"))

    def expected(_result: str = result, **values: np.ndarray) -> object:
        given = {name: value[()] for name, value in values.items()}
        with np.errstate(all="ignore"):
            return eval(_result, {"np": np, "A": FLOATS, "G_INT": 3}, given)

    CASES.case(
        f"{number}: {body}",
        f"{GLOBALS}@script(default_opset=op)\ndef f({signature}):\n{lines}",
        expected,
        *(VALUES[name] for name in parameters),
        as_function=False,
    )

test_model, _, test_eager = CASES.tests()
