"""Programs of which the surfaces gave different answers: called as Python, compiled from Python and
built from the command line, with static and with named sizes, they mean what CPython and NumPy say,
or the compiler refuses them.
"""

from __future__ import annotations

import math
import pathlib
import runpy
from typing import Any

import numpy as np
import onnx
import onnx.reference
import onnxruntime
import pytest
import sardonyx
from sardonyx import Model

from language import HEADER, shared_compiler
from surfaces import check, first_finding, text_of

pytestmark = pytest.mark.filterwarnings("ignore")

D = np.array([1.75, 0.1, -2.5], np.float64)
F = np.array([-1, 2, 3], np.float32)
I = np.array([7, -7, 3], np.int64)  # noqa: E741
ARRAY = "W = np.array([7, -7, 3], np.int64)\n---\n"
W = I


def refused(body: str, code: str, **values: Any) -> None:
    """By the compiler, from Python and from the command line, whatever is known of the sizes."""
    inputs = {name: np.asarray(value) for name, value in values.items()}
    for named in (False, True):
        answer, _ = shared_compiler().compile(text_of(body, named, inputs), "f")
        assert answer[0] == "error" and answer[1].startswith(code), answer


# --- Arrays in the body of a script are NumPy's ---

ARRAYS: list[tuple[str, Any, dict[str, Any]]] = [
    ("return x + op.Cast(W / 2, to=1)", F + (W / 2).astype(np.float32), {"x": F}),
    ("return x + op.Cast(W[1] / 2, to=1)", F + np.float32(-3.5), {"x": F}),
    ("return x + op.Cast(W[i] / 2, to=1)", F + np.float32(-3.5), {"x": F, "i": np.int64(1)}),
    ("for i in range(n):\n    x = x + op.Cast((W[i] + 1) / 2, to=1)\nreturn x",
     F + np.float32(4) + np.float32(-3), {"x": F, "n": np.int64(2)}),
    ("for w in W:\n    x = x + op.Cast(w / 2, to=1)\nreturn x", F + np.float32(1.5), {"x": F}),
    ("return op.Cast(W / len(x), to=1), op.Cast(len(x) / W, to=1)",
     ((W / 3).astype(np.float32), (3 / W).astype(np.float32)), {"x": F}),
    ("return W // 2, W % 2, -W, W ** 2, W > 2, ~W, W & 3",
     (W // 2, W % 2, -W, W**2, W > 2, ~W, W & 3), {"x": F}),
    ("return W * 2.5 + x", None, {"x": D}),
    ("return x / W", I // np.array([7, -7, 3]), {"x": I}),
]  # fmt: skip


@pytest.mark.parametrize(("body", "expected", "inputs"), ARRAYS, ids=[row[0] for row in ARRAYS])
def test_arrays_in_a_body_are_numpys(
    body: str, expected: Any, inputs: dict[str, Any], tmp_path: pathlib.Path
) -> None:
    check(ARRAY + body, W * 2.5 + D if expected is None else expected, tmp_path, **inputs)


def test_arrays_are_not_changed_in_place() -> None:
    refused(ARRAY + "y = W\ny += 1\nreturn y + x", "unsupported-statement", x=I)
    refused(ARRAY + "y = W * 2\nz = y\ny += 1\nreturn z + x", "unsupported-statement", x=I)


# --- The greater one of a tensor and a number ---

OF_TWO_TYPES = [
    "return max(x[0], 0)",
    "return max(x[0], 0) * 2",
    "return max(x[0], 0) / 2",
    "t = min(0, x[0])\nreturn t + 1",
    "return op.Relu(max(x[0], 0))",
    "m = 0\nfor i in range(len(x)):\n    m = max(m, x[i])\nreturn m",
    "t = x[0] if x[1] > 0 else 0\nreturn op.Relu(t)",
]


@pytest.mark.parametrize("body", OF_TWO_TYPES)
def test_the_greater_of_a_tensor_and_an_int_has_no_type_alone(body: str) -> None:
    refused(body, "unsupported-operand", x=F)


@pytest.mark.parametrize(
    "body",
    [
        "return max(x[0], 1) / 2",
        "return (x[0] if x[1] > 0 else 1) / 2",
        "t = 0\nfor i in range(x[1]):\n    t = t + x[0]\nreturn t / 2",
    ],
)
def test_a_tensor_or_an_int_is_not_divided(body: str) -> None:
    refused(body, "unsupported-operand", x=I)


GREATER: list[tuple[str, Any, Any]] = [
    ("return x * max(x[0], 0), max(x[0], 0.5), max(x[0], 0) * 2.0",
     (F * np.float32(0), np.float32(0.5), np.float32(0)), F),
    ("return max(x[0], 0), min(x[1], 1) * 3 - 1, max(x[1], 1) // 2, x / max(x[1], 2)",
     (np.int64(7), np.int64(-22), np.int64(0), np.array([3, -3, 1])), I),
]  # fmt: skip


@pytest.mark.parametrize(("body", "expected", "x"), GREATER)
def test_the_greater_of_a_tensor_and_a_number_takes_the_type_of_what_it_meets(
    body: str, expected: Any, x: Any, tmp_path: pathlib.Path
) -> None:
    check(body, expected, tmp_path, x=x)


def test_the_greater_of_a_tensor_and_an_int_as_annotated(tmp_path: pathlib.Path) -> None:
    text = HEADER.replace("onnxscript", "sardonyx") + (
        "@script(default_opset=op)\ndef f(x: FLOAT[3]) -> FLOAT:\n    return max(x[0], 0)\n"
    )
    path = tmp_path / "file.py"
    path.write_text(text)
    function = runpy.run_path(str(path))["f"]
    assert function(F) == 0 and function(F).dtype == np.float32
    assert Model(function.to_model_bytes())(F).dtype == np.float32


def test_the_greater_one_keeps_its_rank(tmp_path: pathlib.Path) -> None:
    x = F[1:2]
    text = HEADER.replace("onnxscript", "sardonyx") + (
        "@script(default_opset=op)\ndef f(x: FLOAT[{0}], y: FLOAT[{0}]):\n    return max(x, y)\n"
    )
    for size in ("1", '"N"'):
        path = tmp_path / "file.py"
        path.write_text(text.format(size))
        function = runpy.run_path(str(path))["f"]
        for call in (function, Model(function.to_model_bytes())):
            np.testing.assert_array_equal(call(x, x + 1), x + 1)
    refused("return max(x, 0.1)", "unsupported-operand", x=x)
    refused("return max(x, x[0])", "unsupported-operand", x=x)


def test_integers_to_the_power_of_a_float(tmp_path: pathlib.Path) -> None:
    check("return x ** 2.0", I**2, tmp_path, x=I)
    refused("return x ** 2.5", "lossy-literal", x=I)


# --- A list that is returned is one sequence ---

LISTS: list[tuple[str, list[Any], Any]] = [
    ("return [x, x * 2]", [F, F * 2], F),
    ("return [x]", [F], F),
    ("xs = []\nfor i in range(len(x)):\n    xs.append(x[i])\nreturn xs", list(F), F),
    ("xs = [x, x * 2]\nxs.append(x + 1)\nreturn xs", [F, F * 2, F + 1], F),
    ("return [v * 2 for v in x]", list(F * 2), F),
    ("return [x[0], 1.0]", [F[0], np.float32(1)], F),
    ("if x[0] > 0:\n    return [x, x]\nreturn [x * 2, x]", [F * 2, F], F),
]


@pytest.mark.parametrize(("body", "expected", "x"), LISTS, ids=[row[0] for row in LISTS])
def test_a_list_is_one_result(
    body: str, expected: list[Any], x: Any, tmp_path: pathlib.Path
) -> None:
    for named in (False, True):
        text = text_of(body, named, {"x": x})
        path = tmp_path / f"file_{named}.py"
        path.write_text(text)
        function = runpy.run_path(str(path))["f"]
        answer, data = shared_compiler().compile(text, "f")
        assert answer[0] == "ok", answer
        onnx.checker.check_model(onnx.load_from_string(data), full_check=True)
        for result in (function(x), Model(function.to_model_bytes())(x), Model(data)(x)):
            assert isinstance(result, list) and len(result) == len(expected), result
            for one, other in zip(result, expected, strict=True):
                np.testing.assert_array_equal(one, other)


def test_lists_that_are_no_sequence_are_refused() -> None:
    refused("return []", "unsupported-operand", x=F)
    refused("return [[x, x], [x, x]]", "unsupported-operand", x=F)
    # Sources that import onnxscript are told less (compatibility/test_callers.py).
    text = HEADER.replace("onnxscript", "sardonyx") + (
        "@script(default_opset=op)\ndef f(x: FLOAT['N']) -> Tuple[FLOAT['N'], FLOAT['N']]:\n"
        "    return [x, x * 2]\n"
    )
    answer, _ = shared_compiler().compile(text, "f")
    assert answer[0] == "error" and answer[1].startswith("return-type-mismatch"), answer


# --- Ints beside floats are compared exactly ---

BIG = np.int64(2**53 + 1)
COMPARED: list[tuple[str, Any, dict[str, Any]]] = [
    ("t = int(n)\nreturn t > 9007199254740992.0, t == 9007199254740992.0, t <= 9007199254740992.0",
     (True, False, False), {"n": BIG}),
    ("t = int(n)\nreturn t < 1e300, t > -1e300, t == 1e300, t < float('nan'), t != float('nan')",
     (True, True, False, False, True), {"n": BIG}),
    ("return float(n) < int(n), float(n) == int(n), int(n) >= float(n), int(n) <= float(n)",
     (True, False, True, False), {"n": BIG}),
    ("return int(n) < float(n), float(n) > int(n), int(n) == float(n), int(n) > float(n)",
     (True, True, False, False), {"n": np.int64(2**63 - 1)}),
    ("return int(n) < float(n), int(n) == float(n), int(n) <= float(n)",
     (False, True, True), {"n": np.int64(-(2**63))}),
    ("s = float(n)\nreturn s < 2**53 + 1, s == 2**53 + 1, 2**53 + 1 < s + 2, s != 2**53 + 1",
     (True, False, True, True), {"n": np.int64(2**53)}),
    ("return int(n) < float(x[0]), int(n) == float(x[1]), len(x) > float(x[1])",
     (True, False, True), {"n": np.int64(1), "x": D}),
]  # fmt: skip


@pytest.mark.parametrize(("body", "expected", "inputs"), COMPARED)
def test_ints_and_floats_are_compared_exactly(
    body: str, expected: Any, inputs: dict[str, Any], tmp_path: pathlib.Path
) -> None:
    check(body, tuple(np.bool_(one) for one in expected), tmp_path, **inputs)


def test_numbers_of_lists_are_pythons(tmp_path: pathlib.Path) -> None:
    n = np.int64(1)
    check("return x * [0.1, 0.2][n], [0.1, 0.2][n]", (D * 0.2, np.float32(0.2)), tmp_path, x=D, n=n)
    check("return x * [1, 2.5][n]", D * 2.5, tmp_path, x=D, n=n)
    refused("return [1, 2.5][n]", "unsupported-operand", n=n)
    refused("return x * [2**53 + 1, 2.5][n]", "unsupported-operand", x=D, n=n)


def test_powers_of_ints(tmp_path: pathlib.Path) -> None:
    refused("return 2 ** int(n)", "static-error", n=np.int64(-2))
    body = "t = 0\nfor i in range(n):\n    t += 2 ** i + 3 ** (i + 1)\nreturn t, 2 ** len(x)"
    check(body, (np.int64(3 + 12), np.int64(8)), tmp_path, n=np.int64(2), x=D)
    check("return x * 2.0 ** int(n)", D * 0.25, tmp_path, x=D, n=np.int64(-2))


def test_an_int_that_a_float_does_not_hold_joins_none() -> None:
    body = "t = 2**53 + 1 if c else 2.5\nreturn x * (2 if t > 2**53 else 3)"
    refused(body, "unsupported-operand", x=D, c=np.bool_(True))
    body = "t = 2**53 + 1\nfor i in range(n):\n    t = t + 0.5\nreturn x * t"
    refused(body, "unsupported-operand", x=D, n=np.int64(1))


# --- What changes while it is iterated over ---


@pytest.mark.parametrize(
    "body",
    [
        'd = {"a": 1}\nfor k in d:\n    d["b"] = 2\nreturn x * len(d)',
        'd = {"a": 1}\nfor k in d:\n    del d[k]\n    d["b"] = 5\nreturn x * d["b"]',
        'd = {"a": 1, "b": 2}\nfor k in d:\n    d.pop("b", None)\nreturn x * len(d)',
        'd = {"a": 1}\nfor k in d.keys():\n    del d[k]\n    d["b"] = 5\nreturn x * d["b"]',
        "xs = [1, 2, 3, 4]\nfor i, k in zip([1, 2, 3], xs):\n    xs.pop()\nreturn x * len(xs)",
        "xs = [1, 2, 3, 4]\nfor k in reversed(xs):\n    xs.pop(0)\nreturn x * len(xs)",
    ],
)
def test_changes_of_what_is_iterated_over_are_refused(body: str) -> None:
    refused(body, "unsupported-operand", x=F)


ITERATED: list[tuple[str, int]] = [
    ('d = {"a": 1}\nfor k in d:\n    d["b"] = 2\n    break\nreturn x * len(d)', 2),
    ('d = {"a": 1, "b": 2}\nfor k in d:\n    d["b"] = 3\nreturn x * d["b"]', 3),
    ('d = {"a": 1}\nfor k in list(d):\n    d[k + "x"] = 3\nreturn x * len(d)', 2),
    ("xs = [1]\nfor k in xs:\n    if k < 5:\n        xs.append(k + 1)\nreturn x * len(xs)", 5),
    ("xs = [1, 2, 3, 4]\nfor k in xs:\n    xs.remove(k)\nreturn x * len(xs)", 2),
    ("xs = [1, 2, 3]\nfor i, k in enumerate(xs, 1):\n    xs[0] += i * k\nreturn x * xs[0]", 15),
    ("xs = [1, 2, 3, 4]\nfor i, k in enumerate(xs):\n    xs.pop()\nreturn x * len(xs)", 2),
]  # fmt: skip


@pytest.mark.parametrize(("body", "factor"), ITERATED)
def test_changes_that_python_allows(body: str, factor: int, tmp_path: pathlib.Path) -> None:
    check(body, F * np.float32(factor), tmp_path, x=F)


# --- Functions that the compiler runs change nothing ---

CHANGING = """\
COUNT = 0
TABLE = np.zeros(3, np.float32)
SEEN = {}

class Counter:
    total = 0
    def __init__(self):
        self.n = 0
    def next(self):
        self.n += 1
        return self.n

COUNTER = Counter()

def helper(v, acc=[]):
    global COUNT
    COUNT += 1
    acc.append(v)
    TABLE[0] += 1
    SEEN[v] = len(SEEN)
    return len(acc)

@script(default_opset=op)
def f(x: FLOAT["N"]):
    return x * helper(3) + helper(4)

@script(default_opset=op)
def g(x: FLOAT["N"]):
    return x * COUNTER.next() + COUNTER.next()
"""


def test_compiling_changes_no_object_of_python(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "file.py"
    path.write_text(HEADER.replace("onnxscript", "sardonyx") + CHANGING)
    names = runpy.run_path(str(path))
    names = names["f"].__wrapped__.__globals__
    first = names["f"].to_model_bytes()
    assert names["f"].to_model_bytes() == first
    assert names["helper"].__defaults__ == ([],) and names["COUNT"] == 0 and not names["SEEN"]
    np.testing.assert_array_equal(names["TABLE"], 0)
    np.testing.assert_array_equal(Model(first)(F), F + 2)
    np.testing.assert_array_equal(names["f"](F), F + 2)  # as Python, it does
    assert names["COUNT"] == 2
    first = names["g"].to_model_bytes()
    assert names["g"].to_model_bytes() == first and names["COUNTER"].n == 0
    np.testing.assert_array_equal(Model(first)(F), F + 2)


STATEFUL = """\
def counter():
    n = 0
    def step():
        nonlocal n
        n += 1
        return n
    return step

class Calls:
    total = 0
    def __call__(self):
        Calls.total += 1
        Calls.seen = True
        return Calls.total

class Reading:
    n = 0
    @property
    def next(self):
        self.n += 1
        return self.n

class Odd(int):
    def __add__(self, other):
        return 42

STEP, CALLS, READING, ODD = counter(), Calls(), Reading(), Odd(3)
STEP()

@script(default_opset=op)
def f(x: FLOAT["N"]):
    return x * STEP() + STEP()

@script(default_opset=op)
def g(x: FLOAT["N"]):
    return x * CALLS() + CALLS()

@script(default_opset=op)
def h(x: FLOAT["N"]):
    return x * READING.next

@script(default_opset=op)
def k(x: FLOAT["N"]):
    return x * (ODD + 1)
"""


def test_compiling_changes_no_cell_and_no_class(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "file.py"
    path.write_text(HEADER.replace("onnxscript", "sardonyx") + STATEFUL)
    names = runpy.run_path(str(path))
    for name, expected in (("f", F * 2 + 3), ("g", F + 2)):
        first = names[name].to_model_bytes()
        assert names[name].to_model_bytes() == first
        np.testing.assert_array_equal(Model(first)(F), expected)
    assert names["Calls"].total == 0 and not hasattr(names["Calls"], "seen")
    np.testing.assert_array_equal(names["f"](F), F * 2 + 3)  # as Python, it does
    np.testing.assert_array_equal(names["f"](F), F * 4 + 5)
    for name in "hk":  # a property that changes its object, an int of another meaning
        with pytest.raises(sardonyx.CompileError):
            names[name].to_model_bytes()
    assert names["READING"].n == 0


# --- Tensors without elements ---


@pytest.mark.parametrize(
    ("body", "expected", "x"),
    [
        ("return sum(x)", np.float32(0), np.zeros(0, np.float32)),
        ("return sum(x) * 2 + 1", np.int64(1), np.zeros(0, np.int64)),
        ("def g(v):\n    return sum(v)\nreturn g(x)", np.float32(0), np.zeros(0, np.float32)),
        ("return x + sum(x)", np.zeros(0, np.float32), np.zeros(0, np.float32)),
    ],
)
def test_the_sum_of_nothing(body: str, expected: Any, x: Any, tmp_path: pathlib.Path) -> None:
    check(body, expected, tmp_path, x=x)


@pytest.mark.parametrize("x", [[1, np.nan, 3], [np.nan, 1, 3], [np.nan, np.nan], [-np.inf, np.nan]])
def test_nan_among_the_elements(x: list[float], tmp_path: pathlib.Path) -> None:
    for type_ in (np.float32, np.float64):
        check("return max(x), min(x)", (type_(max(x)), type_(min(x))), tmp_path,
              x=np.array(x, type_))  # fmt: skip


@pytest.mark.parametrize("word", ["max", "min"])
def test_the_greatest_of_nothing_is_an_error(word: str, tmp_path: pathlib.Path) -> None:
    empty = np.zeros(0, np.float32)
    text = text_of(f"return {word}(x)", True, {"x": empty})
    path = tmp_path / "file.py"
    path.write_text(text)
    function = runpy.run_path(str(path))["f"]
    with pytest.raises(ValueError):
        function(empty)
    model = Model(function.to_model_bytes())
    with pytest.raises(Exception, match=r"out of|range|Gather"):
        model(empty)
    np.testing.assert_array_equal(model(F), {"max": F.max(), "min": F.min()}[word])
    answer, _ = shared_compiler().compile(text_of(f"return {word}(x)", False, {"x": empty}), "f")
    assert answer[0] == "error", answer


# --- Names of dimensions ---


def test_runs_check_the_names_of_dimensions(tmp_path: pathlib.Path) -> None:
    text = HEADER.replace("onnxscript", "sardonyx") + (
        '@script(default_opset=op)\ndef f(x: FLOAT["N"], y: FLOAT["N"], z: FLOAT["N+1"]):\n'
        "    return op.Concat(x, y, z, axis=0)\n"
    )
    path = tmp_path / "file.py"
    path.write_text(text)
    function = runpy.run_path(str(path))["f"]
    one, two, three = (np.ones(n, np.float32) for n in (1, 2, 3))
    model = Model(function.to_model_bytes())
    for call in (function, model):
        with pytest.raises((TypeError, ValueError, sardonyx.EvalError)):
            call(one, two, three)
    assert model(two, two, three).shape == (7,)


# --- Keywords, enumerations and sets ---

MODES = """\
from enum import Enum
class Mode(Enum):
    ADD = 1
    MUL = 2
    PLUS = 1
---
"""
KEYWORDS = """\
def g(a, *rest, scale=2.0, **others):
    others.setdefault("z", 4.0)
    for name, value in others.items():
        a = a + value
    return a * scale
def passes_on(a, **others):
    others["scale"] = others["scale"] + 1.0
    return g(a, **others)
GIVEN = {"scale": 3.0, "y": 1.0}
---
"""
SETS = "S = {1, 2, 3}\nWORDS = frozenset(['a', 'bc'])\n---\n"

GIVEN = """\
from dataclasses import dataclass
from enum import Enum
@dataclass
class Config:
    k: float = 2.0
class Mode(Enum):
    ADD = 1
    MUL = 2
@script(default_opset=op)
def take(v, i):
    return v[i]
@script(default_opset=op)
def count(v, xs):
    for i in xs:
        v = v + i
    return v * len(xs)
@script(default_opset=op)
def scale(v, config, mode):
    return v * config.k if mode is Mode.MUL else v + config.k
---
"""

OF_PYTHON: list[tuple[str, Any]] = [
    (GIVEN + "return take(x, slice(1, None))", F[1:]),
    (("import math as m\nfrom math import sqrt, floor as down\nimport numpy as other\n"
      "return x * sqrt(4.0) + m.ceil(2.2) + down(1.7) + other.float32(0.5)"), F * 2 + 4.5),
    (("def half(v):\n    from sardonyx import opset18\n    return opset18.Abs(v) / 2\n"
      "---\nreturn half(x)"), np.abs(F) / 2),
    (GIVEN + "return count(x, range(1, 3))", (F + 1 + 2) * 2),
    (GIVEN + "return scale(x, Config(), Mode.ADD) * scale(x, Config(3.0), Mode.MUL)",
     (F + 2) * (F * 3)),
    (KEYWORDS + "return g(x)", (F + 4) * 2),
    (KEYWORDS + "return g(x, z=1.0, y=x)", (F + 1 + F) * 2),
    (KEYWORDS + "return g(x, x, scale=1.0, z=x)", F + F),
    (KEYWORDS + "return passes_on(x, **GIVEN) + GIVEN['scale']", (F + 1 + 4) * 4 + 3),
    (MODES + "for m in Mode:\n    x = x * 2.0 + float(m.value)\nreturn x", (F * 2 + 1) * 2 + 2),
    (MODES + "if Mode['PLUS'] is Mode.ADD and Mode(2) is Mode.MUL:\n"
             "    x = x * float(len(Mode))\nreturn x", F * 2),
    (MODES + "if isinstance(Mode.ADD, Mode):\n    x = -x\nreturn x",
     -F),
    (SETS + "return x * float(len(S | {9})) + float(sum(S)) + float(max(S))", F * 4 + 9),
    (SETS + "n = 0\nfor w in sorted(WORDS):\n    n += len(w)\nreturn x * float(n)", F * 3),
    (SETS + "return x * 2.0 if 2 in S and 5 not in S else x", F * 2),
    (("class C:\n    k = 2.0\n---\nif hasattr(C, 'k') and not hasattr(C, 'z'):\n"
      "    x = x * getattr(C, 'k') + getattr(C, 'z', 5.0)\nreturn x"), F * 2 + 5),
    ("if hasattr(x, 'shape'):\n    x = x * 2.0\nreturn x", F * 2),
    ("if hasattr(x, 'detach') or hasattr(x + 1.0, 'append'):\n    x = -x\nreturn x", F),
    ("return x * getattr(x, 'scale', 2.0)", F * 2),
    ("from numpy import float32\n---\nreturn x + float32(0.5)", F + np.float32(0.5)),
    (("if 'silu' in op or 'Relu' not in op:\n    x = -x\nreturn x"), F),
    (("if hasattr(op, 'silu') or not hasattr(op, 'Relu'):\n    x = -x\n"
      "return getattr(op, 'silu', op.Abs)(x)"), np.abs(F)),
    (("try:\n    A = op.silu\nexcept AttributeError:\n    A = op.Neg\n"
      "B = hasattr(op, 'Upsample')\n---\nreturn A(x) if B else x"), -F),
]  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), OF_PYTHON, ids=[row[0] for row in OF_PYTHON])
def test_objects_of_python_mean_the_same_everywhere(
    body: str, expected: Any, tmp_path: pathlib.Path
) -> None:
    check(body, np.asarray(expected, np.float32), tmp_path, x=F)


ORDERED = """\
from collections import OrderedDict
from sardonyx import FLOAT, opset20, script

TABLE = OrderedDict(a=1.0, b=2.0)

@script(default_opset=opset20)
def f(x: FLOAT["N"]):
    total = 0.0
    if isinstance(TABLE, dict) and not isinstance(TABLE, (list, int)):
        for _, value in TABLE.items():
            total += value
    return x * total * float(len(TABLE))
"""


def test_python_answers_for_what_only_it_knows(tmp_path: pathlib.Path) -> None:
    (tmp_path / "ordered.py").write_text(ORDERED)
    function = runpy.run_path(str(tmp_path / "ordered.py"))["f"]
    [compiled] = Model(function.to_model_proto()).run({"x": F})
    np.testing.assert_array_equal(compiled, F * 6)
    np.testing.assert_array_equal(function(F), F * 6)


def test_members_that_scripts_may_not_know_are_not_denied() -> None:
    for name in dir(sardonyx.Tensor):
        body = f"return x if hasattr(x, '{name}') else -x"
        answer, _ = shared_compiler().compile(text_of(body, False, {"x": F}), "f")
        is_known = name in ("T", "astype", "dtype", "ndim", "rank", "shape", "size", "type")
        assert answer[0] == "ok" if is_known else first_finding(answer).startswith("static-error:")
    refused("return x if hasattr(x, 'tolist') else -x", "static-error", x=F)
    refused("return x if hasattr(op, '__class__') else -x", "static-error", x=F)
    # Calls of a domain without schemas are compiled, but as Python it has no operators.
    domain = "from sardonyx import Opset\nother = Opset('my.domain', 1)\n---\n"
    refused(domain + "return x if hasattr(other, 'Foo') else -x", "static-error", x=F)


def test_an_operator_that_is_not_there_is_no_value() -> None:
    refused("y = op.silu\nreturn y(x)", "unknown-operator", x=F)
    refused("return [op.Relu, op.silu][0](x)", "unknown-operator", x=F)


# --- Masks ---

MASKS = ("[True, False, True]", "np.array([True, False, True])")


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("line", ["y = x[{}]", "y = x[{}, None]", "y = x * 1\ny[{}] = 5"])
def test_a_mask_is_of_the_size_of_its_axis(mask: str, line: str, tmp_path: pathlib.Path) -> None:
    body = line.format(mask) + "\nreturn y"
    expected: dict[str, Any] = {"x": F}
    exec(line.format(mask), {"np": np}, expected)
    check(body, expected["y"], tmp_path, x=F)
    for size in (2, 4):
        given = np.arange(size, dtype=np.float32)
        path = tmp_path / f"mask{size}.py"
        path.write_text(text_of(body, True, {"x": given}))
        function = runpy.run_path(str(path))["f"]
        with pytest.raises(IndexError):
            function(given)
        with pytest.raises(Exception, match="Reshape"):
            Model(function.to_model_bytes())(given)
        answer, _ = shared_compiler().compile(text_of(body, False, {"x": given}), "f")
        assert answer[0] == "error", answer


def test_a_mask_of_the_same_named_size_needs_no_check() -> None:
    text = text_of("return x[x > 0]", True, {"x": F})
    answer, data = shared_compiler().compile(text, "f")
    assert answer[0] == "ok", answer
    operators = [node.op_type for node in onnx.load_from_string(data).graph.node]
    assert "Reshape" not in operators


# A Reshape alone takes a mask of the same number of elements.
@pytest.mark.parametrize(
    ("line", "types"),
    [
        ("y = x[m]", ('FLOAT["A", "B"]', 'BOOL["C", "D"]')),
        ("y = x * 1\ny[m] = 5", ('FLOAT["A", "B"]', 'BOOL["C", "D"]')),
        ("y = x[None, m]", ('FLOAT["A", "B"]', 'BOOL["C", "D"]')),
        ("y = x[m]", ("FLOAT[...]", "BOOL[...]")),
        ("y = x * 1\ny[m] = 5", ("FLOAT[...]", "BOOL[...]")),
    ],
)
def test_a_mask_of_several_axes_has_their_sizes(line: str, types: tuple[str, str]) -> None:
    text = (
        "from sardonyx import script, opset22 as op, FLOAT, BOOL\n\n@script(default_opset=op)\n"
        f"def f(x: {types[0]}, m: {types[1]}) -> FLOAT[...]:\n"
        + "".join(f"    {each}\n" for each in [*line.split("\n"), "return y"])
    )
    answer, data = shared_compiler().compile(text, "f")
    assert answer[0] == "ok", answer
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    peer = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    reference = onnx.reference.ReferenceEvaluator(onnx.load_from_string(data))
    runs = [
        lambda m: Model(data)(x, m),
        lambda m: peer.run(None, {"x": x, "m": m})[0],
        lambda m: reference.run(None, {"x": x, "m": m})[0],
    ]
    for run in runs:
        names: dict[str, Any] = {"x": x, "m": x % 2 == 0}
        exec(line, names)
        np.testing.assert_array_equal(run(names["m"]), names["y"])
        for shape in [(3, 2), (2, 2), (1, 6), (6, 1), (1, 3), (2, 4)]:
            with pytest.raises(Exception):  # noqa: B017
                run(np.ones(shape, np.bool_))


# --- Floats that are known ---


@pytest.mark.parametrize(
    "number",
    [
        "1.0 // 0.1",
        "-1.0 // 0.1",
        "6.0 // 0.2",
        "-7.5 // 2",
        "5.5 % -2",
        "-0.3 % 0.1",
        "math.copysign(1, 6.0 % -3.0)",
        "math.copysign(1, -6.0 % 3.0)",
        "math.copysign(1, 0.0 // -3.0)",
        "divmod(1.0, 0.1)[0]",
    ],
)
def test_known_floats_are_divided_as_in_python(number: str, tmp_path: pathlib.Path) -> None:
    expected = F * np.float32(eval(number, {"math": math}))
    check(f"import math\n---\nreturn x * ({number})", expected, tmp_path, x=F)


@pytest.mark.parametrize(
    "number", ["0.0 ** -1", "1e200 ** 2.5", "math.log(8, 1)", "math.log(-8, 2)"]
)
def test_what_fails_in_python_is_refused(number: str) -> None:
    refused(f"import math\n---\nreturn x * ({number})", "static-error", x=F)


# --- Numbers where an operator takes a vector, and vectors where it takes a number ----------------

RANKS = [
    "op.Expand(x, 2)", "op.Tile(x, 2)", "op.ConstantOfShape(2)", "op.Compress(x, True)",
    "op.CenterCropPad(x, 1)", "op.Slice(x, 0, 1)", "op.TopK(x, 1)[0]", "op.ReduceSum(x, 0)",
    "op.Squeeze(op.Unsqueeze(x, [0]), 0)", "op.Reshape(x, 3)", "op.Pad(x, 1)",
    "op.HannWindow([3])", "op.Range(0, 4, [2])", "op.DFT(op.Reshape(x, [1, 3, 1]), [4])",
    "op.STFT(op.Reshape(x, [1, 3, 1]), [1], frame_length=2)",
    "op.Col2Im(op.Reshape(x, [1, 3, 1]), 3, 1)", "op.ConstantOfShape([2], value=[1.0, 2.0])",
]  # fmt: skip


@pytest.mark.parametrize("expression", RANKS)
def test_ranks_of_small_inputs(expression: str, tmp_path: pathlib.Path) -> None:
    body = f"return {expression}"
    answer, _ = shared_compiler().compile(text_of(body, False, {"x": F}), "f")
    assert answer[0] == "error", answer
    path = tmp_path / "program.py"
    path.write_text(text_of(body, False, {"x": F}))
    with pytest.raises((sardonyx.EvalError, TypeError, ValueError)):
        runpy.run_path(str(path))["f"](F)


@pytest.mark.parametrize("value", ["1.0", "np.float32(1)", "np.array(1.0, np.float32)", "[[1.0]]"])
def test_the_value_of_a_constant_of_shape(value: str, tmp_path: pathlib.Path) -> None:
    """onnx and ONNX Runtime take a vector alone."""
    body = f"return op.ConstantOfShape([2], value={value})"
    check(body, np.ones(2, np.float32), tmp_path, x=F)


NUMBERS_OF_NUMPY = """\
from sardonyx import script, FLOAT, opset21 as op
K = np.array([3, 2])
H = np.array([0.5, 2.0], np.float16)

@script(default_opset=op)
def scaled(x: FLOAT[...], alpha: float = 1.0) -> FLOAT[...]:
    return x * alpha

@script(default_opset=op)
def counted(x: FLOAT[...], n: int = 1) -> FLOAT[...]:
    return x * n
---
"""


@pytest.mark.parametrize(
    ("expression", "factor"),
    [("scaled(x, K.max())", 3), ("scaled(x, alpha=K[1])", 2), ("scaled(x, H[0])", 0.5),
     ("counted(x, K[0])", 3), ("counted(x, n=np.int8(2))", 2)],
)  # fmt: skip
def test_attributes_that_are_numbers_of_numpy(
    expression: str, factor: float, tmp_path: pathlib.Path
) -> None:
    check(f"{NUMBERS_OF_NUMPY}return {expression}", F * np.float32(factor), tmp_path, x=F)


# --- Numbers of the run that are divided by zero ---


@pytest.mark.parametrize(
    "body",
    [
        "return x + len([q % 0 for q in x.shape])",
        "k = len(x) // 0\nreturn x",
        "k = len(x) / 0.0\nreturn x",
        "return x * divmod(len(x), 0)[0]",
        "k = float(x[0]) % 0\nreturn x",
    ],
)
def test_a_division_by_zero_is_refused(body: str) -> None:
    refused(body, "static-error", x=F)


def test_a_division_by_zero_is_caught(tmp_path: pathlib.Path) -> None:
    body = "n = len(x)\ntry:\n    k = n // 0\nexcept ZeroDivisionError:\n    k = 3\nreturn x + k"
    check(body, F + np.float32(3), tmp_path, x=F)


# --- A float of the run beside integers, where ONNX takes two types ---


@pytest.mark.parametrize(
    "body",
    [
        "return float(x[0]) ** x",
        "return (int(x[0]) / 2) ** x",
        "return x << float(x[0])",
        "return x >> int(x[0]) / 2",
        "return x * (len(x) << float(x[0]))",
    ],
)
def test_a_float_of_the_run_is_not_made_an_integer(body: str) -> None:
    refused(body, "static-error", x=I)
