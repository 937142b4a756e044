"""Numbers in ordinary programs: called as Python, compiled from Python, and built from the command
line, with static and with named sizes, a program means what CPython and NumPy say, or all refuse
it.
"""

from __future__ import annotations

import math
import pathlib
from typing import Any

import numpy as np
import onnx
import pytest

from language import HEADER, shared_compiler
from surfaces import check, refused

pytestmark = pytest.mark.filterwarnings("ignore")

D = np.array([1.75, 0.1, -2.5], np.float64)
F = np.array([1.75, 0.1, -2.5], np.float32)
I = np.array([1, 2, 3], np.int64)  # noqa: E741
U = np.array([2**64 - 5, 7, 9], np.uint64)
B = np.array([250, 1, 2], np.uint8)
T = np.array([1250, -151, 149, 150, 250, -150, -250, -50, 50, 7, -8])


def trips(start: float) -> int:
    count = 0
    while start < 10:
        start, count = start * 2, count + 1
    return count


NUMBERS: list[tuple[str, Any, dict[str, Any]]] = [
    ("return x * (float(x[0]) * 3)", D * 5.25, {"x": D}),
    ("return x * (float(x[0]) * 3)", F * np.float32(5.25), {"x": F}),
    ("s = float(x[0])\nreturn x * (2 if s > 1 else 3)", D * 2, {"x": D}),
    ("s = float(x[0])\nn = 0\nwhile s < 10:\n    s = s * 2\n    n += 1\nreturn n",
     np.int64(trips(1.75)), {"x": D}),
    ("return x * (math.sqrt(x[0]) * 2)", D * (math.sqrt(1.75) * 2), {"x": D}),
    ("return x * math.exp(x[1])", D * math.exp(0.1), {"x": D}),
    ("return x + float(n)", D + float(2**24 + 1), {"x": D, "n": np.int64(2**24 + 1)}),
    ("t = 0.1 if c else 0.2\nreturn x * t", D * 0.1, {"x": D, "c": np.bool_(True)}),
    ("t = 0.0\nfor i in range(len(x)):\n    t += 0.1\nreturn x * t",
     D * (0.1 + 0.1 + 0.1), {"x": D}),
    ("return int(x[0]) // 3 == 6148914691236517203", np.bool_(True), {"x": U}),
    ("t = int(x[0]) // 2\nreturn x * -t", I * 0, {"x": I}),
    ("t = int(x[2])\nreturn x * -t, x * abs(-t), x * (t // 2), x * max(t, 1)",
     (I * -3, I * 3, I, I * 3), {"x": I}),
    ("return x * max(1.0, float(x[0])), x * max(float(x[0]), 1.0)",
     (np.array([np.nan, 1.0]), np.array([np.nan, np.nan])), {"x": np.array([np.nan, 1.0])}),
    ("return max(x[1], x[0]), min(x[0], x[1])",
     (np.float64(1), np.float64(np.nan)), {"x": np.array([np.nan, 1.0])}),
    ("return x * round(float(x[2]))", D * -2, {"x": D}),
    ("return round(x, -2), round(x, -1), round(x[0], -2), x * round(int(x[3]), -2)",
     (np.round(T, -2), np.round(T, -1), np.int64(1200), T * 200), {"x": T}),
    ("return round(x, -1)", np.round(B, -1), {"x": B}),
    ("return x * (len(x) / 2) ** 2", D * 2.25, {"x": D}),
    ("def g(v, t):\n    return v * t\nreturn g(x, float(x[1]) * 3)", D * (0.1 * 3), {"x": D}),
    (("@script(default_opset=op)\ndef g(v, t):\n    return v * t\n\n---\n"
      "return g(x, float(x[1]) * 3)"),
     D * (0.1 * 3), {"x": D}),
    ("return float(x[0]) * 2.0", np.float32(3.5), {"x": D}),
    ("w = x * 0\nfor s in [0.1, 0.2]:\n    w = w + s\n    if w[0] > 5.0:\n        break\nreturn w",
     D * 0 + 0.1 + 0.2, {"x": D}),
    ("return x + (x[0] > 1) * 0 if False else x", D, {"x": D}),
    ("n = 0\nfor i in range(len(x)):\n    n = n + (float(x[i]) > 0)\nreturn n",
     np.int64(2), {"x": D}),
]  # fmt: skip


@pytest.mark.parametrize(("body", "expected", "inputs"), NUMBERS, ids=[row[0] for row in NUMBERS])
def test_numbers_of_tensors_are_pythons(
    body: str, expected: Any, inputs: dict[str, Any], tmp_path: pathlib.Path
) -> None:
    check(body, expected, tmp_path, **inputs)


# --- Literals beside tensors whose type is known where the script is called ---

UNTYPED = "@script(default_opset=op)\ndef g(v):\n    return {}\n\n---\nreturn g(x)"

LITERALS: list[tuple[str, Any, Any]] = [
    ("v * 0.1", D, D * 0.1),
    ("v * 0.1", F, F * np.float32(0.1)),
    ("v * 1e60", D, D * 1e60),
    ("v + [0.1, 0.2, 0.3]", D, D + np.array([0.1, 0.2, 0.3])),
    ("v * 2.0", I, I * 2),
    ("v + 3", B, B + np.uint8(3)),
    ("v < 2.0", I, I < 2.0),
    ("op.CastLike(2.5, v)", I, np.int64(2)),
]


@pytest.mark.parametrize(("text", "x", "expected"), LITERALS)
def test_literals_in_untyped_scripts_are_exact(
    text: str, x: Any, expected: Any, tmp_path: pathlib.Path
) -> None:
    check(UNTYPED.format(text), expected, tmp_path, x=x)


@pytest.mark.parametrize(("text", "x"), [("v * 2.5", I), ("v < 2.5", I), ("v + 300", B)])
def test_literals_that_do_not_fit_are_refused_at_the_call(
    text: str, x: Any, tmp_path: pathlib.Path
) -> None:
    refused(UNTYPED.format(text), tmp_path, "lossy-literal", x=x)


# --- What Python does not evaluate ----------------------------------------------------------------

SKIPPED: list[tuple[str, Any, dict[str, Any]]] = [
    ("k = 1\nif n > 5 and (k := 7) > 1:\n    x = x + 1\nreturn x * k",
     I, {"x": I, "n": np.int64(3)}),
    ("k = 1\nif n > 5 and (k := 7) > 1:\n    x = x + 1\nreturn x * k", (I + 1) * 7,
     {"x": I, "n": np.int64(6)}),
    ("i = 0\nwhile i < len(x) and x[i] > 0.0:\n    i += 1\nreturn i",
     np.int64(3), {"x": np.abs(F)}),
    ("i = 0\nwhile i < len(x) and x[i] > 0.0:\n    i += 1\nreturn i", np.int64(2), {"x": F}),
    ("return n != 0 and 10 // n > 1", np.bool_(False), {"n": np.int64(0)}),
    ("return n != 0 and 10 // n > 1", np.bool_(True), {"n": np.int64(5)}),
    ("return n == 0 or 10 // n > 1", np.bool_(True), {"n": np.int64(0)}),
    ("return 0 < n < 10 // n", np.bool_(False), {"n": np.int64(0)}),
    ("return 0 < n < 10 // n < 9", np.bool_(True), {"n": np.int64(2)}),
    ("k = 1\ny = (k := 5) if n > 5 else 2\nreturn x * k + y", I + 2, {"x": I, "n": np.int64(3)}),
    ("k = 1\ny = (k := 5) if n > 5 else 2\nreturn x * k + y",
     I * 5 + 5, {"x": I, "n": np.int64(6)}),
    ("return 0 if n == 0 else 10 // n", np.int64(0), {"n": np.int64(0)}),
    ("return n > 1 and x[n] > 0 and x[n] < 9", np.bool_(False), {"x": I, "n": np.int64(0)}),
]  # fmt: skip


@pytest.mark.parametrize(("body", "expected", "inputs"), SKIPPED)
def test_operands_that_python_skips_are_not_evaluated(
    body: str, expected: Any, inputs: dict[str, Any], tmp_path: pathlib.Path
) -> None:
    check(body, expected, tmp_path, **inputs)


def test_operands_that_cannot_fail_are_computed() -> None:
    text = (
        HEADER + "@script(default_opset=op)\ndef f(x: FLOAT, y: FLOAT):\n    return 0 < x < y * 2\n"
    )
    answer, data = shared_compiler().compile(text, "f")
    assert answer[0] == "ok", answer
    assert "If" not in {node.op_type for node in onnx.load_from_string(data).graph.node}


# --- Division of integers -------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64])
def test_floor_division_is_exact_at_the_limits(dtype: Any, tmp_path: pathlib.Path) -> None:
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    a = np.array([low, low + 1, low + 2, -7, -1, 0, 1, 7, high - 1, high], dtype)
    for divisor in (3, -3, 7, high, low + 1):
        b = dtype(divisor)
        check(f"return x // {divisor}, x % {divisor}", (a // b, a % b), tmp_path, x=a)
        check("return x // y, x % y, divmod(x, y)[0]", (a // b, a % b, a // b), tmp_path, x=a, y=b)
