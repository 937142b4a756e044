"""Lists of Python's numbers that the run makes, on all surfaces: their items are numbers, and the
list is one tensor where a tensor is needed."""

from __future__ import annotations

import pathlib
import runpy
from typing import Any

import numpy as np
import pytest
import sardonyx

from language import shared_compiler
from surfaces import check, text_of

pytestmark = pytest.mark.filterwarnings("ignore")

X = np.array([1, 2, 3], np.float32)


def floats(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


MADE = [
    ("return [int(v) for v in x]", ints(1, 2, 3)),
    ("return [float(v) for v in x]", X),
    ("return [bool(v > 1) for v in x]", np.array([False, True, True])),
    ("a = [int(v) for v in x]\nreturn a[0] / 2, a[-1] // 2, a[1:][0] / 4", None),
    ("a = [float(v) for v in x]\nreturn sum(a) * 0.5, max(a), min(a), len(a)", None),
    ("a = [int(v) for v in x]\nreturn op.Add(a, 1), op.ReduceSum(a, keepdims=0), x * a", None),
    ("a = [int(v) for v in x]\nreturn [v / 2 for v in a if v > 1]", floats(1, 1.5)),
    ("a = [i * 2 for i in range(len(x))]\nreturn x * a[1] + a[-1] / 4, sum(a), 4 in a, any(a)",
     None),
    ("a = []\nfor v in x:\n    a.append(int(v) + 1)\nreturn a[-1] / 8, a", None),
    ("a = [1, 2]\nfor i in range(len(x)):\n    a.append(a[i] * 2)\nreturn a, a[-1] / 8", None),
    ("a = [0.5]\nfor v in x:\n    a = [float(v)] + a + [2.0]\nreturn a, len(a)", None),
    ("a = []\nfor i in range(len(x)):\n    if x[i] > 1:\n        a.append(i)\nreturn a, len(a)",
     (ints(1, 2), np.int64(2))),
    ("a = [int(v) for v in x]\na.extend([7, 8])\na += [9]\nreturn a, list(a)[3] / 2", None),
    ("a = [int(v) for v in x]\nwhile a[-1] < 10:\n    a.append(a[-1] * 2)\nreturn a",
     ints(1, 2, 3, 6, 12)),
    ("a = [1, 2]\nfor v in x:\n    a = [a[1], a[0] + 1]\nreturn a[0] / 2, a", None),
    ("a = [int(v) for v in x]\nfor i, v in enumerate(a):\n    x = x + v / 2 * i\nreturn x", None),
    ("a = [int(v) for v in x]\nreturn op.Reshape(op.Reshape(x, a[:1] + [3]), [3])", X),
    ("a = [int(v) for v in x]\nreturn x * (2 if isinstance(a, list) and a else 3)", X * 2),
    (("best = []\nfor v in x:\n    if not best or v > best[-1]:\n        best.append(v)\n"
     "return best[2]"),
     X[2]),
    ("a = [int(v) for v in x]\nb = []\nfor v in a:\n    b.append(v + 1)\nreturn b, a, b[-1] / 2",
     None),
    (("a = []\nfor v in x:\n    a.append(v * 2)\nb = [x[0]]\nfor v in a:\n    b.append(v)\n"
      "return b[3] / 2, a[2], len(a), len(b)"),
     None),
]  # fmt: skip


def in_python(body: str) -> Any:
    """The body over NumPy, with operators of the same meaning."""

    class Shim:
        Add = staticmethod(np.add)
        Reshape = staticmethod(np.reshape)

        @staticmethod
        def ReduceSum(x: Any, **_: Any) -> Any:
            return np.sum(np.asarray(x))

    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    scope: dict[str, Any] = {"op": Shim, "np": np}
    exec(f"def f(x):\n{lines}", scope)
    result = scope["f"](X.copy())
    results = list(result) if isinstance(result, tuple) else [result]

    def as_array(value: Any) -> np.ndarray:
        value = np.asarray(value)
        return value.astype(np.float32) if value.dtype == np.float64 else value

    return tuple(as_array(one) for one in results)


@pytest.mark.parametrize(("body", "expected"), MADE, ids=[row[0] for row in MADE])
def test_lists_of_numbers(body: str, expected: Any, tmp_path: pathlib.Path) -> None:
    check(body, in_python(body) if expected is None else expected, tmp_path, x=X)


CHOSEN = [
    ("a = [1, 2] if c else [3, 4]\nreturn a[0] / 2, a[1] * 0.5, x * a[0], a", None),
    ("a = [1, 2]\nif c:\n    a.append(3)\nreturn a[0] / 2, a", None),
    ("a = [1, 2]\nif c:\n    a[0] = 7\nreturn a[0] / 2, a", None),
    ("a = [int(v) for v in x]\nif c:\n    a.append(5)\nreturn a[len(a) - 1] / 2, a", None),
]


@pytest.mark.parametrize(("body", "_"), CHOSEN, ids=[row[0] for row in CHOSEN])
@pytest.mark.parametrize("c", [False, True])
def test_lists_that_a_branch_chooses(body: str, _: Any, c: bool, tmp_path: pathlib.Path) -> None:
    expected = in_python(f"c = {c}\n{body}")
    check(body, expected, tmp_path, x=X, c=np.bool_(c))


REFUSED = [
    ("a = [int(v) for v in x]\nb = a if x[0] > 1 else [1]\nfor v in a:\n    b.append(v)\nreturn a",
     "aliased-item-assignment"),
    (("a = []\nfor v in x:\n    a.append(v * 2)\nb = a\nfor v in a:\n    b.append(v)\n"
      "return len(a)"),
     "aliased-item-assignment"),
    ("a = [int(v) for v in x]\nfor v in a:\n    a.append(v)\nreturn a", "aliased-item-assignment"),
    ("a = [int(v) for v in x]\nreturn x * (a == [1, 2, 3])", "unsupported-operand"),
    ("a = [int(v) for v in x]\nb = a\nb.append(3)\nreturn len(a)", "aliased-item-assignment"),
    ("a = [0]\nfor v in x:\n    a.append(float(v))\nreturn a", "unsupported-operand"),
    ("a = [0]\nfor v in x:\n    a.append(v)\nreturn a", "unsupported-operand"),
    ("@script()\ndef g(a):\n    return a[0] / 2\n---\nreturn g([int(v) for v in x])",
     "unsupported-operand"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "code"), REFUSED)
def test_lists_that_are_refused(body: str, code: str, tmp_path: pathlib.Path) -> None:
    for named in (False, True):
        text = text_of(body, named, {"x": X})
        answer, _ = shared_compiler().compile(text, "f")
        assert answer[0] == "error" and answer[1].startswith(code), answer
        path = tmp_path / f"program_{named}.py"
        path.write_text(text)
        with pytest.raises(sardonyx.CompileError, match=code):
            runpy.run_path(str(path))["f"].to_model_bytes()


METHODS = """\
class Scaled:
    def __init__(self, w):
        self.w = w
    def __call__(self, v):
        return self.f(v) * 2
    def f(self, v):
        return v + self.w
    @staticmethod
    def s(v):
        return v * 3
c = Scaled(np.array([1, 2, 3], np.float32))
cs = [Scaled(2.0), Scaled(3.0)]
def times(k):
    return lambda v: v * k
def plus(k):
    def inner(v):
        return v + k
    return inner
triple, five = times(3), plus(5)
---
"""


def test_methods_of_objects(tmp_path: pathlib.Path) -> None:
    body = "for one in cs:\n    x = one(x)\nreturn c(x) + c.f(x) + Scaled.s(x), triple(five(x))"
    y = ((X + 2) * 2 + 3) * 2
    w = np.array([1, 2, 3], np.float32)
    check(METHODS + body, ((y + w) * 2 + y + w + y * 3, (y + 5) * 3), tmp_path, x=X)
