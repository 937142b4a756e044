"""Objects of ordinary programs: iterators, sets, names that helpers change, what Python's own
functions take. On all surfaces a program means what CPython says, or all refuse it."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import pytest

from language import shared_compiler
from surfaces import check, first_finding, refused, text_of

pytestmark = pytest.mark.filterwarnings("ignore")

I = np.array([1, 2, 3], np.int64)  # noqa: E741

# Programs over X = [1, 2, 3] and what Python gives.
OBJECTS: list[tuple[str, Any]] = [
    # Iterators: late bound, following changes.
    ("k = 2\ng = (v * k for v in [1, 2])\nk = 5\nreturn x * sum(g)", I * 15),
    ("xs = [1]\nz = zip(xs, [5, 6])\nxs.append(2)\nreturn x * len(list(z))", I * 2),
    ("xs = [1]\nm = map(lambda v: v * 2, xs)\nxs.append(2)\nreturn x * sum(m)", I * 6),
    ("xs = [1]\ne = enumerate(xs)\nxs.append(2)\nreturn x * len([v for v in e])", I * 2),
    ("xs = [1, 0]\nf = filter(None, xs)\nxs.append(2)\nreturn x * sum(f)", I * 3),
    ('d = {"a": 1}\nv = d.values()\nd["b"] = 2\nreturn x * (sum(v) + len(v) + sum(v))', I * 8),
    ("xs = [1, 2]\nr = reversed(xs)\nxs.append(9)\nreturn x * list(r)[0]", I * 2),
    ("xs = [1, 2]\nr = reversed(xs)\nxs.pop()\nreturn x * (len(list(r)) + 1)", I),
    ("a, b = zip([1, 2], [3, 4])\nreturn x * (a[1] + b[0])", I * (3 + 2)),
    ("xs = [1]\nxs += (v for v in [2, 3])\nreturn x * sum(xs)", I * 6),
    ("return x * max(v * 2 for v in [1, 4, 2])", I * 8),
    ("r = reversed([1, 2])\na, b = r\nreturn x * (a * 10 + b)", I * 21),
    ('d = {"a": 1, "b": 2}\nt = 0\nfor v in d.values():\n    d["b"] = 5\n    t += v\nreturn x * t',
     I * 6),
    # `:=` in a comprehension binds outside.
    ("k = 1\nys = [(k := v) for v in [4, 7]]\nreturn x * k", I * 7),
    # Sets, identity and ranges.
    ("s = {1}\nt = s\nt |= {3}\nreturn x * len(s)", I * 2),
    ("s = frozenset({1})\nt = s\nt |= {3}\nreturn x * len(s)", I),
    ("return x * (1 if [1] is [1] else 2)", I * 2),
    ("a = [1]\nb = a\nreturn x * (1 if a is b else 2)", I),
    ("return x * (1 if range(0, 10, 2) == range(0, 9, 2) else 2)", I),
    ("return x * (1 if range(0) == range(2, 1) else 2)", I),
    # Python's own functions.
    ("return x * round(1250, -2), x * round(1350, -2), x * round(-16, -1)",
     (I * 1200, I * 1400, I * -20)),
    ('return x * int("ff", 16), x * int("0b101", 0), x * int(" -1_0 ")', (I * 255, I * 5, I * -10)),
    ('return x * len(max(["a", "bbb", "cc"], key=len)), x * max([], default=4)', (I * 3, I * 4)),
    ('return x * len("%03d|%s|%5.2f" % (7, "a", 1.5))', I * 11),
    ("return min([x[0]]), max([x[2], x[0]])", (np.int64(1), np.int64(3))),
    ('return x * int("11", base=2)', I * 3),
    ('return x * int(float(" 1_0.5e1 ")), x * (float("-Infinity") < 0)', (I * 105, I)),
    ("ﬁ = 3\nreturn x * fi", I * 3),
    # any() and all() stop asking.
    ("k = 1\nb = any((k := v) > 3 for v in [1, 5, 7])\nreturn x * k", I * 5),
    ("k = 1\nb = all((k := v) < 3 for v in [1, 5, 7])\nreturn x * k", I * 5),
    ("k = 1\nb = any([(k := v) > 3 for v in [1, 5, 7]])\nreturn x * k", I * 7),
    ("return x * any(10 // v > 3 for v in [1, 0])", I),
    # Lambdas of the file.
    ("k = 3\ng = lambda v, n=4: v * k + n\n---\nreturn g(x) + g(x, n=1) + g(2)", I * 6 + 15),
    # Items that a helper assigns are the caller's.
    ("def g(y):\n    y[0] = 100\n\nx = x + 0\ng(x)\nreturn x", np.array([100, 2, 3])),
    ("def g(y):\n    y[0] = 100\n---\nx = x + 0\ng(x)\nreturn x", np.array([100, 2, 3])),
    ("def g(y):\n    y[0] = 100\n---\ng(x)\nreturn x", np.array([100, 2, 3])),
    ("def g(y):\n    y[0] = 100\n    return y\n---\nx = x + 0\nz = g(x)\nreturn x, z",
     (np.array([100, 2, 3]), np.array([100, 2, 3]))),
    ("def g(y):\n    y[1] = 7\ndef h(z):\n    g(z)\n    z[0] = 5\n---\nx = x + 0\nh(x)\nreturn x",
     np.array([5, 7, 3])),
    ("def g(y):\n    y = y + 0\n    y[0] = 9\n    return y\n---\nx = x + 0\nz = g(x)\nreturn x, z",
     (I, np.array([9, 2, 3]))),
    ("def g(v):\n    v[0] = 0\n    return v\n\nx = x + 0\ny = g(x)\nreturn x + y",
     np.array([0, 4, 6])),
]  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), OBJECTS)
def test_objects_are_pythons(body: str, expected: Any, tmp_path: pathlib.Path) -> None:
    check(body, expected, tmp_path, x=I)


def test_a_list_among_the_results_is_a_sequence(tmp_path: pathlib.Path) -> None:
    check("return x, [x, x * 2]", (I, [I, I * 2]), tmp_path, x=I)


def test_a_tuple_among_the_results_is_refused(tmp_path: pathlib.Path) -> None:
    refused("return x, (x, x * 2)", tmp_path, "unsupported-operand", x=I)


@pytest.mark.parametrize(
    "body",
    [
        "z = zip([1], [2])\na = list(z)\nreturn x * len(list(z))",
        "g = (v for v in [1, 2])\nb = 1 in g\nreturn x * sum(g)",
        "z = zip([1], [2])\nreturn x * len(z)",
    ],
)
def test_iterators_that_are_used_twice_are_refused(body: str) -> None:
    answer, _ = shared_compiler().compile(text_of(body, False, {"x": I}), "f")
    assert answer[0] == "error", answer


@pytest.mark.parametrize(
    ("body", "code"),
    [
        # What an expression has evaluated before the helper changes it.
        ("def g(y):\n    y[0] = 9\n    return 1\n---\nx = x + 0\nreturn x + g(x)", "aliased-item"),
        ("def g(y):\n    y[0] = 9\n    return 1\n---\nx = x + 0\nz = [x, g(x)]\nreturn z[0]",
         "aliased-item"),
        ("def g(y):\n    y[0] = 9\n    return y\n---\nx = x + 0\nz = [*map(g, [x])]\nreturn x",
         "aliased-item"),
        # One tensor for two parameters; one that may be the caller's.
        ("def g(y, z):\n    y[0] = 9\n    return z * 1\n---\nx = x + 0\nz = g(x, x)\nreturn x, z",
         "aliased-item"),
        ("def g(y):\n    z = y if y[0] else y + 2\n    z[0] = 9\n---\nx = x + 0\ng(x)\nreturn x",
         "aliased-item"),
        ("def g(y):\n    for i in range(y[1]):\n        y[i] = i\n---\nx = x + 0\ng(x)\nreturn x",
         "aliased-item"),
        # Defaults hold what they were made of.
        ("y = x + 0\ndef h(z=y):\n    return z\n\ny[0] = 100\nreturn h()", "aliased-item"),
        ("y = x + 0\ndef h(*, z=y):\n    return z + 0\n\ny[0] = 100\nreturn h()", "aliased-item"),
        ("y = x + 0\nh = lambda z=y: z\ny[0] = 100\nreturn h()", "aliased-item"),
        # What is not known to have been asked for.
        ("k = 1\ng = ((k := v) > 3 for v in [1, 5, 7])\nb = any(g)\nreturn x * k",
         "unsupported-expression"),
        ("k = 1\nb = any((k := v) > x[1] for v in [1, 5, 7])\nreturn x * k",
         "unsupported-expression"),
        ("xs = [1, 2]\nt = 0\nfor v in map(int, xs):\n    xs[1] = 5\n    t += v\nreturn x * t",
         "unsupported-operand"),
        ("xs = [1, 2, 3]\nys = [xs.pop() for v in xs]\nreturn x * sum(ys)", "unsupported-operand"),
        ("xs = []\nm = map(xs.append, [1, 2])\nn = len(list(m))\nreturn x + len(xs) + n",
         "unsupported-operand"),
    ],
)  # fmt: skip
def test_changes_that_cannot_be_followed_are_refused(body: str, code: str) -> None:
    for named in (False, True):
        answer, _ = shared_compiler().compile(text_of(body, named, {"x": I}), "f")
        assert answer[0] == "error" and first_finding(answer).startswith(code), answer


# Numbers of two types, as the run decides: alone they would be a tensor of two types.
EITHER = [
    "t = 7 if x[0] > 0 else 2.5\nreturn t",
    "t = 7 if x[0] > 0 else 2.5\nreturn t // 2",
    "t = 7 if x[0] > 0 else 2.5\nreturn op.Identity(t)",
    "t = 7 if x[0] > 0 else 2.5\nreturn op.Identity([t, 1])",
    "t = 7 if x[0] > 0 else 2.5\nreturn x * isinstance(t, int)",
    "t = 7.5 if x[0] > 0 else 2.5\nreturn -max(t, 1)",
    "t = True if x[0] > 0 else 2\nreturn t",
    "t = 1\nwhile x[0] > 5:\n    t = 2.5\nreturn t",
    "t = 1\nfor i in range(x[0]):\n    t = t / 2\nreturn abs(t)",
    "t = 1\nu = 2.0\nfor i in range(x[0]):\n    t, u = u, t\nreturn t, u",
    "t = 0\nfor i in range(x[0]):\n    t = t + op.Cast(x, to=FLOAT.dtype)\nreturn t",
    "t = 1\nif x[0] > 5:\n    t = op.Cast(x, to=FLOAT.dtype)\nreturn t * 2",
]


@pytest.mark.parametrize("body", EITHER)
def test_a_number_of_two_types_has_none_alone(body: str) -> None:
    for named in (False, True):
        answer, _ = shared_compiler().compile(text_of(body, named, {"x": I}), "f")
        assert answer[0] == "error", answer


NUMBERS: list[tuple[str, Any]] = [
    ("t = 7 if x[0] > 0 else 2.5\nreturn float(t), int(t)", (np.float32(7), np.int64(7))),
    ("t = 7 if x[0] > 0 else 2.5\nreturn t / 2, round(t)", (np.float32(3.5), np.int64(7))),
    ("t = 7 if x[0] > 0 else 2.5\nreturn t + 0.5", np.float32(7.5)),
    ("t = 7 if x[0] > 0 else 2.5\nreturn op.Cast(x, to=FLOAT.dtype) * t",
     np.array([7, 14, 21], np.float32)),
    ("t = 7 if x[0] > 0 else 3\nreturn t // 2, -t, abs(t), max(t, 1)",
     tuple(np.int64(v) for v in (3, -7, 7, 7))),
    ("t = 1\nfor i in range(3):\n    t = t / 2\nreturn t", np.float32(0.125)),
    ("t = 1\nwhile True:\n    t = t / 2\n    if float(x[0]) > t:\n        break\nreturn t",
     np.float32(0.5)),
    ("t = 0\nfor i in range(x[0]):\n    t = t + x[0]\nreturn t", np.int64(1)),
    ("t = 0\nfor i in range(x[1]):\n    t = t + 1\nreturn t, x * t", (np.int64(2), I * 2)),
]  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), NUMBERS)
def test_numbers_that_the_run_decides(body: str, expected: Any, tmp_path: pathlib.Path) -> None:
    check(body, expected, tmp_path, x=I)


def test_an_int_of_the_run_that_may_not_fit_in_8_bits_is_refused() -> None:
    bytes_ = np.array([250, 1, 2], np.uint8)
    answer, _ = shared_compiler().compile(text_of("return x + len(x) * 100", True, {"x": bytes_}))
    assert answer[0] == "error" and answer[1].startswith("unsupported-operand"), answer


def test_an_int_of_the_run_that_fits_in_8_bits(tmp_path: pathlib.Path) -> None:
    x = np.array([250, 1, 2], np.uint8)
    check("return x + (3 if x[1] > 0 else 4), x + int(x[1])", (x + 3, x + 1), tmp_path, x=x)


ENDLESS = """def powers():
    k = 1
    while True:
        yield k
        k *= 2
---
"""
IT = "import itertools as it\nimport operator\nimport statistics\nimport enum\n---\n"

PAIR = """import operator
from typing import NamedTuple
class P(NamedTuple):
    a: int
    b: int
---
"""
UNIQUE = """import enum
@enum.unique
class Mode(enum.IntEnum):
    A = 1
    B = 2
---
"""

# Iterators of which some items are taken, and the modules that work on them.
TAKEN: list[tuple[str, Any]] = [
    ("g = (v * 2 for v in [1, 2, 3])\na = next(g)\nreturn x * a + next(g)", I * 2 + 4),
    ("g = iter([1, 2, 3])\na = next(g)\nreturn x * sum(g) + a", I * 5 + 1),
    ("k = 1\ng = (v * k for v in [1, 2])\na = next(g)\nk = 5\nreturn x * a + next(g)", I + 10),
    ("g = iter([1])\na = next(g)\nreturn x * next(g, 7) * next(g, 1)", I * 7),
    ("g = zip([1, 2], [3, 4])\nnext(g)\na, b = next(g)\nreturn x * a + b", I * 2 + 4),
    (ENDLESS + "g = powers()\nreturn x + next(g) * 100 + next(g) * 10 + next(g)", I + 124),
    (ENDLESS + "t = x\nfor i, p in zip([5, 6, 7], powers()):\n    t = t * p + i\nreturn t",
     ((I + 5) * 2 + 6) * 4 + 7),
    (ENDLESS + "return x * sum(a * b for a, b in zip(powers(), [1, 1, 1]))", I * 7),
    (IT.replace("---\n", ENDLESS) + "return x * sum(it.islice(powers(), 4))", I * 15),
    (IT + "t = x\nfor i, k in zip(it.count(2), [1, 1, 5]):\n    t = t * k + i\nreturn t",
     (I + 2 + 3) * 5 + 4),
    (IT + "return x * sum(it.islice(it.cycle([1, 2, 3]), 5)) + sum(it.islice(it.count(5, -2), 3))",
     I * 9 + 9),
    (IT + "c = it.count(1)\nnext(c)\nreturn x * next(c) + next(c)", I * 2 + 3),
    (IT + "return x * sum(it.takewhile(lambda v: v < 4, it.count(1)))", I * 6),
    (IT + "a, b = it.dropwhile(lambda v: v < 4, [1, 5, 2])\nreturn x * a + b", I * 5 + 2),
    (IT + "return x * sum(it.filterfalse(lambda v: v % 2, [1, 2, 4]))", I * 6),
    (IT + "return x * sum(it.compress([1, 2, 4], [1, 0, True]))", I * 5),
    (IT + "pick = operator.itemgetter(1)\nreturn x * pick([1, 5])", I * 5),
    (IT + "a, b = operator.itemgetter('u', 'v')(dict(u=2, v=x))\nreturn a * b", I * 2),
    (IT + "xs = sorted([('b', 2), ('a', 7)], key=operator.itemgetter(0))\nreturn x * xs[0][1]",
     I * 7),
    (IT + "return operator.itemgetter(0, -1)(x)", (np.int64(1), np.int64(3))),
    (PAIR + "ps = sorted([P(3, 1), P(1, 2)], key=operator.attrgetter('a'))\nreturn x * ps[0].b",
     I * 2),
    (IT + "return x * statistics.mean([1, 2, 6]), x * int(statistics.median([5, 1, 3]))",
     (I * 3, I * 3)),
    (IT + "return statistics.mean([1, 2]), statistics.mean([0.5, 1.0]), statistics.median([4, 1])",
     (np.float32(1.5), np.float32(0.75), np.float32(2.5))),
    (UNIQUE + "return x * Mode.B", I * 2),
    # Loops that a jump ends, while compiling or in the graph.
    (IT + "for i in it.count(2, 3):\n    x = x + i\n    if i > 7:\n        break\nelse:\n"
     "    x = x * 0\nreturn x + i", I + 2 + 5 + 8 + 8),
    (IT + "c = it.count()\nnext(c)\nfor i in c:\n    if i * i > 20:\n        return x * i", I * 5),
    (IT + "for i in it.count(5, -2):\n    x = x + i\n    if x[0] > 8:\n        break\nreturn x, i",
     (I + 8, np.int64(3))),
    (IT + "for i in it.count(1):\n    x = x * 2\n    if max(x) > 20:\n        return x + i",
     I * 8 + 3),
]  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), TAKEN)
def test_items_are_taken_one_by_one(body: str, expected: Any, tmp_path: pathlib.Path) -> None:
    check(body, expected, tmp_path, x=I)


# What cannot be told, or has no end.
UNTAKEN = [
    "xs = [1, 2]\ng = iter(xs)\na = next(g)\nxs[1] = 5\nreturn x * next(g) + a",
    "g = (v for v in [1, 2, 3] if v > 1)\na = next(g)\nreturn x * next(g) + a",
    "import itertools as it\n---\nreturn x * sum(it.count())",
    "import itertools as it\n---\nfor i in it.count():\n    x = x + i\nreturn x",
    "import itertools as it\n---\nc = it.count()\nfor i in c:\n    break\nreturn x + next(c)",
    ENDLESS.replace("k *= 2", "k += 1") + "return x * sum(powers())",
]


@pytest.mark.parametrize("body", UNTAKEN)
def test_items_that_are_not_known_are_refused(body: str) -> None:
    answer, _ = shared_compiler().compile(text_of(body, False, {"x": I}), "f")
    assert answer[0] == "error" and first_finding(answer)[:5] in ("unsup", "limit"), answer
