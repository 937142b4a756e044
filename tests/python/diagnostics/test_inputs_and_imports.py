"""Inputs of another element type and missing imports: each message says how to mend it."""

from __future__ import annotations

import pathlib
import subprocess

import numpy as np
import pytest
from sardonyx import FLOAT, EvalError, script
from sardonyx import opset18 as op

from places import PROGRAM

SOURCE = """\
from sardonyx import FLOAT, opset18 as op, script
@script()
def f(x: FLOAT["N"]) -> FLOAT["N"]:
    return op.Relu(x)
"""
HELP = ': convert it, as NumPy\'s `x.astype("float32")` does'


def said(command: str, *words: str | pathlib.Path) -> str:
    done = subprocess.run(
        [PROGRAM, command, *words], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 1, done.stdout
    return done.stdout + done.stderr


@script()
def f(x: FLOAT["N"]) -> FLOAT["N"]:
    return op.Relu(x)


def test_another_element_type_as_python() -> None:
    x = np.ones(3)
    with pytest.raises(TypeError) as error:
        f(x)
    assert str(error.value) == "`x` of `f` is `FLOAT[N]`, and `DOUBLE[3]` is given" + HELP
    assert f(x.astype("float32")).tolist() == [1.0, 1.0, 1.0]


def test_another_element_type_compiled() -> None:
    with pytest.raises(EvalError) as error:
        f.compile()(np.ones(3))
    assert str(error.value) == "input `x` is DOUBLE[3], but the graph declares FLOAT[N]" + HELP
    # Another shape is nothing that a conversion mends.
    with pytest.raises(EvalError) as error:
        f.compile()(np.ones((3, 1), np.float32))
    assert "astype" not in str(error.value)


def test_another_element_type_on_the_command_line(tmp_path: pathlib.Path) -> None:
    (tmp_path / "f.py").write_text(SOURCE)
    np.save(tmp_path / "x.npy", np.ones(3))
    f.save(tmp_path / "f.onnx")
    value = f"x={tmp_path / 'x.npy'}"
    assert HELP in said("run", tmp_path / "f.py", value)
    assert HELP in said("run", tmp_path / "f.onnx", value)


@pytest.mark.parametrize(
    ("old", "new", "message", "way"),
    [
        ("opset18 as op, ", "", "`op` is not defined",
         "import an opset under this name: `from sardonyx import opset23 as op`"),
        ("x: FLOAT[\"N\"]", "x: float32", "`float32` is not defined",
         "this element type is `FLOAT`: `from sardonyx import FLOAT`"),
        ("(x: FLOAT[\"N\"])", "(x: FLOAT[\"N\"], k: int64)", "`int64` is not defined",
         "this element type is `INT64`: `from sardonyx import INT64`"),
        ("x: FLOAT[\"N\"]", "x: FLOAT64[\"N\"]", "`FLOAT64` is not defined",
         "this element type is `DOUBLE`: `from sardonyx import DOUBLE`"),
        ("import FLOAT", "import FLOAT64 as FLOAT", "`sardonyx` has no member `FLOAT64`",
         "did you mean `DOUBLE`?"),
        ("import FLOAT", "import HALF as FLOAT", "`sardonyx` has no member `HALF`",
         "did you mean `FLOAT16`?"),
        ("import FLOAT", "import BF16 as FLOAT", "`sardonyx` has no member `BF16`",
         "did you mean `BFLOAT16`?"),
    ],
)  # fmt: skip
def test_names_that_are_not_imported(
    old: str, new: str, message: str, way: str, tmp_path: pathlib.Path
) -> None:
    assert old in SOURCE
    (tmp_path / "f.py").write_text(SOURCE.replace(old, new))
    found = said("check", tmp_path / "f.py")
    assert message in found and f"= help: {way}\n" in found


def test_an_array_as_the_annotation_of_an_input(tmp_path: pathlib.Path) -> None:
    """It is the type of an attribute; whoever writes it means an input."""
    text = "import numpy as np\n" + SOURCE.replace('x: FLOAT["N"]', "x: np.ndarray")
    (tmp_path / "f.py").write_text(text)
    help_text = "help: annotate an input with a tensor type, as in `x: FLOAT[...]`"
    assert help_text in said("build", tmp_path / "f.py", "-o", tmp_path / "f.onnx")
    attributes = text.replace("np.ndarray", "int")
    (tmp_path / "f.py").write_text(attributes)
    assert "help: give it a default" in said("build", tmp_path / "f.py", "-o", tmp_path / "f.onnx")
