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
    ("a = ([1], 2)\na[0] += [3]\nreturn a[0]", "unsupported-statement"),
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


# What `op=` changes is changed for every name that refers to it.
SHARED = [
    "a = [1, 2]\nb = a\nb *= 2\na.append(7)\nb += (8, 9)\nreturn a, b",
    "d = {'a': 1}\ne = d\ne |= {'b': 2}\nreturn d['b'], len(d)",
    "s = {1}\nt = s\nt |= {2}\nt ^= {1, 5}\nreturn len(s), 5 in s",
    "d = {'a': [1]}\nb = d['a']\nd['a'] += [2]\nd['a'] *= 2\nreturn b, d['a']",
    (
        "a = [[1], {'q': 1}, {1}]\nb, d, s = a\na[0] *= 3\na[1] |= {'z': 2}\na[2] |= {5}\n"
        "return b, len(d), len(s)"
    ),
    "def double(q):\n    q *= 2\na = [1]\ndouble(a)\nreturn a",
    "a = [x]\nb = a\na *= 3\nreturn len(b)",
    "a = [1]\nif x[0] > 0:\n    a *= 2\n    a += [3]\nreturn a",
    "d = {'a': [1]}\nif x[0] > 0:\n    d['a'] += [2]\nreturn d['a']",
    (
        "for v in x:\n    a = [1, 2] + [3]\n    b = a\n    b += (4,)\n"
        "    b *= 2\n    x = x * len(a)\n"
        "return x"
    ),
]


@pytest.mark.parametrize("body", SHARED)
def test_changes_of_a_list_with_two_names(body: str, tmp_path: pathlib.Path) -> None:
    check(body, in_python(body), tmp_path, x=X)


SHARED_AND_REFUSED = [
    "a = [1]\nb = a\nif x[0] > 0:\n    a += [2]\nreturn b",
    "a = [1]\nb = a\nif x[0] > 0:\n    a *= 2\nreturn b",
    "d = {'a': 1}\ne = d\nif x[0] > 0:\n    d |= {'a': 2}\nreturn e['a']",
    # A script is compiled again and again: what is older than the compilation stays.
    "W = [1]\n---\nv = W\nv *= 2\nreturn x * len(W)",
    "W = {'a': 1}\n---\nv = W\nv |= {'b': 2}\nreturn x * len(W)",
    "W = {'a': [1]}\n---\nv = W['a']\nv[0] = 2\nreturn x * W['a'][0]",
    "class C:\n    w = [1]\n---\nC.w.append(2)\nreturn x * len(C.w)",
    "class C:\n    w = [1]\n---\nv = C.w\nif x[0] > 0:\n    v[0] = 2\nreturn x * C.w[0]",
    (
        "class C:\n    def __init__(self):\n        self.w = [[1]]\nc = C()\n---\n"
        "v = c.w[0]\nv += [2]\nreturn x * len(c.w[0])"
    ),
    "W = [3, 1]\ndef first(q):\n    q.sort()\n    return q[0]\n---\nreturn x * first(W) + W[0]",
]


@pytest.mark.parametrize("body", SHARED_AND_REFUSED)
def test_changes_of_a_list_that_are_refused(body: str, tmp_path: pathlib.Path) -> None:
    test_lists_that_are_refused(body, "unsupported-statement", tmp_path)


# To Python the list is one of two, and a change of it changes that one.
CHOSEN_AND_CHANGED = [
    "a = [1]\nb = [2]\nv = a if x[0] > 0 else b\nv.append(3)\nreturn a",
    "a = [1]\nif x[0] > 0:\n    v = a\nelse:\n    v = [7]\nv[0] = 5\nreturn a",
    "a = [1]\nb = a\nif x[0] < 0:\n    a = [2]\nb.append(5)\nreturn a",
    "a = {'k': 1}\nv = a if x[0] > 0 else {'k': 2}\nif x[1] > 0:\n    v['k'] = 3\nreturn a['k']",
    # Of different lengths: a list that the graph makes.
    "a = [x, x]\nv = a if x[0] > 0 else [-x]\nv.append(x * 2.0)\nreturn op.Concat(*a, axis=0)",
    "a = [x, x]\nv = a if x[0] > 0 else [-x]\nv += [x * 2.0]\nreturn op.Concat(*a, axis=0)",
    "a = [x, x]\nv = [-x]\nif x[0] > 0:\n    v = a\nv[0] = x * 2.0\nreturn a[0]",
    "a = [1, 2]\nv = a if x[0] > 0 else [3]\nv.append(4)\nreturn x * len(a)",
]


@pytest.mark.parametrize("body", CHOSEN_AND_CHANGED)
def test_changes_of_one_of_two_lists_are_refused(body: str, tmp_path: pathlib.Path) -> None:
    test_lists_that_are_refused(body, "aliased-item-assignment", tmp_path)


CHANGED_AFTER_A_BRANCH = [
    (
        "a = [1]\nif x[0] > 0:\n    a.append(2)\n    if x[1] > 0:\n        a.append(3)\n"
        "    a.append(4)\na.append(5)\nreturn a"
    ),
    (
        "a = [1, 2]\nif x[0] > 0:\n    if x[1] > 0:\n        a[0] = 3\n"
        "    a[1] = 4\na[0] += 5\nreturn a"
    ),
    "a = [1]\nb = list(a if x[0] > 0 else [7])\nb.append(3)\nreturn a, b",
    "a = [1] if x[0] > 0 else [2]\na.append(3)\na *= 2\nreturn a",
    "a = [x, x] if x[0] > 0 else [x]\na.append(-x)\nreturn a[0] + a[-1] * 2.0",
    "a = [x]\nif x[0] > 0:\n    a = [x, x]\na += [-x]\nreturn a[0] + a[-1] * 2.0",
]


@pytest.mark.parametrize("body", CHANGED_AFTER_A_BRANCH)
def test_changes_after_a_branch(body: str, tmp_path: pathlib.Path) -> None:
    check(body, in_python(body), tmp_path, x=X)


# Functions of Python are called with the lists of the script, and not with copies.
LENT = [
    (("def first(q):\n    q.sort()\n    return q[0]\n---\n"
     "w = [3, 1]\nk = first(w)\nreturn x * k + w[0]"), X + 1),
    ("def same(q):\n    return q\n---\nw = [1]\nv = same(w)\nv.append(2)\nreturn x * len(w)",
     X * 2),
    (("def inner(d):\n    d['k'][0] += 4\n    return 1\n---\n"
     "w = {'k': [1]}\nk = inner(w)\nreturn x * w['k'][0] + k"), X * 5 + 1),
    ("def many(n):\n    return [n] * n\n---\nw = many(3)\nw.append(1)\nreturn x * len(w)", X * 4),
]  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), LENT)
def test_lists_that_functions_are_called_with(
    body: str, expected: Any, tmp_path: pathlib.Path
) -> None:
    check(body, expected, tmp_path, x=X)


# Of lists of tensors that a loop has stacked.
OF_TENSORS = [
    ("return max(v * v for v in x), min([v + 1 for v in x])", (X[2] * X[2], X[0] + 1)),
    ("return any(v > 2 for v in x), all(v > 2 for v in x)", (np.True_, np.False_)),
    ("return x * sum(v * v for v in x)", X * np.float32(14)),
    ("return x + sum((v * v for v in x), 1.0)", X + np.float32(15)),
    ("return sum([v * 2 for v in x], x[0])", np.float32(13)),
    ("a = [v * 2 for v in x]\nb = a[::-1]\nreturn b[0], len(a[1:]), len(b), a[-2:][0]",
     (X[2] * 2, np.int64(2), np.int64(3), X[1] * 2)),
    ("a = [v * 2 for v in x][1:]\nreturn op.ConcatFromSequence(a, axis=0, new_axis=1)", X[1:] * 2),
    ("t = x * 0\nfor v in [v * 2 for v in x][::-1]:\n    t = t * 10 + v\nreturn t",
     X * 0 + np.float32(642)),
]  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), OF_TENSORS, ids=[row[0] for row in OF_TENSORS])
def test_lists_of_tensors(body: str, expected: Any, tmp_path: pathlib.Path) -> None:
    check(body, expected, tmp_path, x=X)


@pytest.mark.parametrize("x", [np.zeros(0, np.float32), X])
def test_lists_of_tensors_that_may_be_empty(x: np.ndarray, tmp_path: pathlib.Path) -> None:
    y = np.float32(2)
    body = "return any(v > 2 for v in x), all(v > 2 for v in x), y * sum(v * v for v in x)"
    check(body, (any(v > 2 for v in x), all(v > 2 for v in x), y * sum(v * v for v in x)),
          tmp_path, x=x, y=y)  # fmt: skip


# What Python gives for no items has another type, or another shape.
@pytest.mark.parametrize("body", ["return sum(v * v for v in x)", "return sum([x * v for v in x])"])
def test_the_sum_of_tensors_of_which_there_may_be_none(body: str) -> None:
    answer, _ = shared_compiler().compile(text_of(body, True, {"x": X}), "f")
    assert answer[0] == "error" and answer[1].startswith("unsupported-operand"), answer


METHODS_OF_MADE = ["pop()", "insert(0, x)", "sort()", "reverse()"]


@pytest.mark.parametrize("call", METHODS_OF_MADE)
@pytest.mark.parametrize("item", ["v", "int(v)"])
def test_methods_that_lists_of_the_graph_lack(call: str, item: str, tmp_path: pathlib.Path) -> None:
    body = f"a = [{item} for v in x]\na.{call}\nreturn a"
    said = f"`{call.partition('(')[0]}` of a list whose length is known only when the graph runs"
    test_lists_that_are_refused(body, "unknown-member", tmp_path)
    path = tmp_path / "program.py"
    path.write_text(text_of(body, True, {"x": X}))
    with pytest.raises(sardonyx.CompileError, match=said):
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


# Lists and dicts that a loop of the graph changes, for `n` of 3.
CARRIED = [
    (("h = [x, x * 2]\nfor i in range(n):\n    for k in range(2):\n        h[k] = h[k] + x\n"
     "return h[0], h[1]"), (X * 4, X * 5)),
    (("d = {'h': x, 'kind': 'a', 'k': 0}\nwhile d['k'] < n:\n    d['h'] = d['h'] + 1\n"
     "    d['k'] += 1\nreturn d['h'] * len(d['kind'])"), X + 3),
    (("d = {'a': x, 'b': x * 2}\nfor i in range(n):\n    d = {k: v + 1 for k, v in d.items()}\n"
     "return d['a'] + d['b']"), X * 3 + 6),
    (("b = [x, x * 2, x * 3]\nfor i in range(n):\n    last = b.pop()\n    b.insert(0, last + 1)\n"
     "return b[0], b[2]"), (X + 1, X * 3 + 1)),
    (("h = [x, x * 2]\nfor i in range(n):\n    h[0] = h[0] + h[1]\n    if i == 1:\n        break\n"
     "    h[1] = h[1] * 2\nreturn h[0], h[1]"), (X * 7, X * 4)),
    (("s = ([x, x], {'a': x})\nfor i in range(n):\n    s[0][1] = s[0][1] + 1\n"
     "    s[1]['a'] = s[0][1] * 2\nreturn s[1]['a']"), (X + 3) * 2),
    (("c = [0, 0]\nfor i in range(n):\n    if i % 2 == 0:\n        c[0] += 1\n    else:\n"
     "        c[1] += 2\nreturn x * c[0] + c[1]"), X * 2 + 2),
    (("if n > 2:\n    h = [x, x]\n    for i in range(n):\n        h[0] = h[0] + 1\nelse:\n"
     "    h = [x, x]\nh[1] = h[0] * 2\nreturn h[1]"), (X + 3) * 2),
    ("h = {'a': x}\ny = h['a']\nfor i in range(n):\n    h = {'b': x}\n    y = y + h['b']\nreturn y",
     X * 4),
]  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), CARRIED)
def test_what_loops_carry(body: str, expected: Any, tmp_path: pathlib.Path) -> None:
    check(body, expected, tmp_path, x=X, n=np.int64(3))


# Python changes what another name refers to as well.
SHARED = [
    "h = [x, x]\ng = h\nfor i in range(n):\n    h[0] = h[0] + 1\nreturn g[0]",
    "h = {'a': x}\ng = h\nfor i in range(n):\n    h |= {'a': h['a'] + 1}\nreturn g['a']",
    "row = [x, x]\nh = [row, row]\nfor i in range(n):\n    h[0][0] = h[0][0] + 1\nreturn h[1][0]",
    "h = [x, x]\ng = [x, x]\nfor i in range(n):\n    g = h\n    h[0] = h[0] + 1\nreturn g[0]",
]  # fmt: skip


@pytest.mark.parametrize("body", SHARED)
def test_what_loops_share(body: str) -> None:
    text = text_of(body, True, {"x": X, "n": np.int64(3)})
    answer, _ = shared_compiler().compile(text, "f")
    assert answer[0] == "error" and answer[1].startswith("aliased-item-assignment"), answer
