"""OPTIONAL[...]: values that may be absent when the model runs, on all surfaces."""

from __future__ import annotations

import pathlib
import pickle
import runpy
import subprocess
from typing import Any

import numpy as np
import onnx
import pytest
import sardonyx

from language import run_ort
from places import PROGRAM

PROGRAM_TEXT = """
from collections.abc import Sequence

from sardonyx import BOOL, FLOAT, OPTIONAL, script
from sardonyx import opset18 as op


@script()
def held(x: OPTIONAL[FLOAT["N"]], other: FLOAT["N"]) -> FLOAT["N"]:
    if x is None:
        y = other * 2
    else:
        y = op.OptionalGetElement(x)
    return y


@script()
def is_there(x: OPTIONAL[FLOAT["N"]]) -> tuple[BOOL, BOOL]:
    return x is not None, op.OptionalHasElement(x)


@script()
def calls(x: FLOAT["N"]) -> FLOAT["N"]:
    return held(x, x) + held(None, x) + held(op.Optional(x), x)


@script()
def passed(x: OPTIONAL[Sequence[FLOAT[3]]]) -> OPTIONAL[Sequence[FLOAT[3]]]:
    return op.Identity(x)


@script()
def made(c: BOOL, x: FLOAT[3]) -> OPTIONAL[Sequence[FLOAT[3]]]:
    if c:
        y = op.Optional(type=Sequence[FLOAT[3]])
    else:
        y = op.Optional(op.SequenceConstruct(x))
    return y
"""
# What is read where a test by `is None` has found a value is the value.
NARROWED_TEXT = """
from sardonyx import FLOAT, OPTIONAL, script
from sardonyx import opset18 as op


@script()
def if_there(x: FLOAT["N"], w: OPTIONAL[FLOAT["N"]]) -> FLOAT["N"]:
    if w is not None:
        x = x * w
    return x


@script()
def by_default(x: FLOAT["N"], w: OPTIONAL[FLOAT["N"]]) -> FLOAT["N"]:
    if w is None:
        w = x + 1
    return x * w


@script()
def returns_early(x: FLOAT["N"], w: OPTIONAL[FLOAT["N"]]) -> FLOAT["N"]:
    if w is None:
        return x
    y = w * 2
    for i in range(3):
        y = y + w[0]
    return x * w + y


@script()
def chosen(x: FLOAT["N"], w: OPTIONAL[FLOAT["N"]]) -> FLOAT["N"]:
    return x if w is None else x * w


@script()
def one_and(x: FLOAT["N"], w: OPTIONAL[FLOAT["N"]]) -> FLOAT["N"]:
    if w is not None and op.ReduceSum(w, keepdims=0) > 3.0:
        y = w - x
    else:
        y = x
    return y


@script()
def either(x: FLOAT["N"], w: OPTIONAL[FLOAT["N"]], v: OPTIONAL[FLOAT["N"]]) -> FLOAT["N"]:
    if w is None or v is None:
        return x
    return w * v


@script()
def in_loops(x: FLOAT["N"], w: OPTIONAL[FLOAT["N"]]) -> FLOAT["N"]:
    if not (w is None):
        if x[0] > 0.0:
            w = w * 2
        for i in range(2):
            w = w + x
        y = w
    else:
        y = x
    return y


@script()
def taken_out(x: FLOAT["N"], w: OPTIONAL[FLOAT["N"]]) -> FLOAT["N"]:
    if w is not None:
        y = op.OptionalGetElement(w) * w
        if w is not None:
            y = y + 1
        if op.OptionalHasElement(w):
            y = y + 1
    else:
        y = x
    return y


def chosen_by_host(x, w):
    return x if w is None else x * w


@script()
def inlined(x: FLOAT["N"], w: OPTIONAL[FLOAT["N"]]) -> FLOAT["N"]:
    return chosen_by_host(x, w)


@script()
def bound_there(x: FLOAT["N"], w: OPTIONAL[FLOAT["N"]]) -> FLOAT["N"]:
    if (v := w) is not None:
        x = x * v
    return x

@script()
def rebound(x: FLOAT["N"], w: OPTIONAL[FLOAT["N"]]) -> FLOAT["N"]:
    if w is not None:
        w = w * 2
    if w is not None:
        x = x + w
    return x


@script()
def bound_before(x: FLOAT["N"], w: OPTIONAL[FLOAT["N"]]) -> FLOAT["N"]:
    if x[0] > 5.0:
        w = x * 2
    return x if w is None else x * w


@script()
def in_rounds(x: FLOAT["N"], w: OPTIONAL[FLOAT["N"]]) -> FLOAT["N"]:
    for i in range(op.Cast(x[2], to=7)):
        if w is not None:
            w = w + x
    return x if w is None else x * w


@script()
def returned(x: FLOAT["N"], w: OPTIONAL[FLOAT["N"]]) -> OPTIONAL[FLOAT["N"]]:
    if x[0] > 5.0:
        return x
    return w
"""
X = np.array([1, 2, 3], np.float32)
# A script, its arguments, its results.
RUNS: list[tuple[str, dict[str, Any], Any]] = [
    ("held", {"x": None, "other": X}, [2 * X]),
    ("held", {"x": 3 * X, "other": X}, [3 * X]),
    ("is_there", {"x": None}, [False, False]),
    ("is_there", {"x": X}, [True, True]),
    ("calls", {"x": X}, [4 * X]),
    ("passed", {"x": None}, [None]),
    ("passed", {"x": [X, X]}, [[X, X]]),
    ("made", {"c": np.array(True), "x": X}, [None]),
    ("made", {"c": np.array(False), "x": X}, [[X]]),
]
# With nothing, and with these weights.
W = 3 * X
NARROWED: list[tuple[str, Any, Any]] = [
    ("if_there", X, X * W),
    ("by_default", X * (X + 1), X * W),
    ("returns_early", X, X * W + 2 * W + 3 * W[0]),
    ("chosen", X, X * W),
    ("one_and", X, W - X),
    ("either", X, W * W),
    ("in_loops", X, 2 * W + 2 * X),
    ("taken_out", X, W * W + 2),
    ("inlined", X, X * W),
    ("bound_there", X, X * W),
    ("rebound", X, X + 2 * W),
    ("bound_before", X, X * W),
    ("in_rounds", X, X * (W + 3 * X)),
    ("returned", None, W),
]


@pytest.fixture(name="program")
def _program(tmp_path) -> pathlib.Path:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM_TEXT)
    return path


def same(got: Any, expected: Any) -> None:
    if expected is None:
        assert got is None
    elif isinstance(expected, list):
        assert len(got) == len(expected)
        for one, wanted in zip(got, expected, strict=True):
            same(one, wanted)
    else:
        np.testing.assert_array_equal(np.asarray(got), expected)


@pytest.mark.parametrize(("name", "inputs", "expected"), RUNS)
def test_one_answer(program, name, inputs, expected):
    function = runpy.run_path(str(program))[name]
    called = function(**inputs)
    same(list(called) if isinstance(called, tuple) else [called], expected)
    target = program.with_suffix(".onnx")
    subprocess.run([PROGRAM, "build", f"{program}:{name}", "-o", target, "-q"], check=True)
    data = function.to_model_bytes()
    assert target.read_bytes() == data
    onnx.checker.check_model(onnx.load_from_string(data), full_check=True)
    model = sardonyx.load(data)
    same(model.run(inputs), expected)
    text = sardonyx.decompile(model)
    again = program.with_name("again.py")
    again.write_text(text)
    built = runpy.run_path(str(again))[name].to_model_bytes()
    assert sardonyx.load(built).is_isomorphic(model)
    exact = program.with_name("exact.py")
    exact.write_text(sardonyx.decompile(model, exact=True))
    subprocess.run([PROGRAM, "build", exact, "-o", target, "-q"], check=True)
    assert target.read_bytes() == data
    if name == "calls":
        same(run_ort(onnx.load_from_string(data), inputs), expected)


@pytest.mark.parametrize(("name", "without", "given"), NARROWED)
def test_narrowed(program, name, without, given):
    program.write_text(NARROWED_TEXT)
    for w, expected in ((None, without), (W, given)):
        inputs = {"x": X, "w": w, **({"v": w} if name == "either" else {})}
        test_one_answer(program, name, inputs, [expected])
        data = runpy.run_path(str(program))[name].to_model_bytes()
        if w is not None:  # ONNX Runtime takes no missing inputs
            same(run_ort(onnx.load_from_string(data), inputs), [expected])


def test_on_the_command_line(program):
    run = [PROGRAM, "run", f"{program}:held", "-q", "other=[1.0, 2.0]"]
    done = subprocess.run([*run, "x=None"], capture_output=True, text=True, check=True)
    assert "[2.0 4.0]" in done.stdout
    done = subprocess.run([*run, "x=[5.0, 6.0]"], capture_output=True, text=True, check=True)
    assert "[5.0 6.0]" in done.stdout


@pytest.mark.parametrize(
    ("body", "code", "words"),
    [
        ("x: OPTIONAL[FLOAT]):\n    return x + 1", "unsupported-operand", "OptionalGetElement"),
        ("x: OPTIONAL[FLOAT]):\n    return 1 < x", "unsupported-operand", "OptionalGetElement"),
        ("x: OPTIONAL[FLOAT]):\n    y = x if x is None else 1.0\n    return x * y",
         "branch-type-mismatch", "cast one of them"),
        ("x: OPTIONAL[FLOAT]):\n    for i in range(op.Size(x)):\n        x = x\n    return x * 2",
         "unsupported-operand", "`is not None` holds"),
        ("x: OPTIONAL[FLOAT]):\n    if x is None or op.Abs(2.0) > 1.0:\n        return x + 1",
         "unsupported-operand", "OptionalGetElement"),
        ("x: OPTIONAL[FLOAT]):\n    if x:\n        return 1.0\n    return 2.0",
         "unsupported-operand", "Optional[FLOAT[...]]"),
        ("x: OPTIONAL[3]):\n    return x", "unknown-annotation", "OPTIONAL[3]"),
        ("x: INT64['N']):\n    return held(x, op.Cast(x, to=1))", "argument-mismatch",
         "give a value of that type"),
        ("x: FLOAT):\n    return op.Optional(x, type=OPTIONAL)", "attribute-type", "takes a type"),
    ],
)  # fmt: skip
def test_mistakes(program, body, code, words):
    program.write_text(
        PROGRAM_TEXT + f"\nfrom sardonyx import INT64\n\n\n@script()\ndef mistaken({body}\n"
    )
    done = subprocess.run([PROGRAM, "check", program], capture_output=True, text=True, check=False)
    assert (
        done.returncode == (code != "unknown-annotation")
        and f"[{code}]" in done.stdout + done.stderr
    )
    assert words in done.stdout + done.stderr


def test_the_type_of_python():
    kind = sardonyx.OPTIONAL[sardonyx.FLOAT["N"]]
    assert kind == sardonyx.OPTIONAL[sardonyx.FLOAT["N"]]
    assert pickle.loads(pickle.dumps(kind)) == kind
