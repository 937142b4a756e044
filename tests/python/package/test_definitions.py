"""Mistakes that no type is needed for are reported where a script is defined, and only those that
nothing later puts right: the command line, which knows the whole file, is the second opinion."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys

import pytest
import sardonyx

from places import PROGRAM

HEAD = """\
from sardonyx import FLOAT, INT64, Opset, opset9, opset18 as op, script
"""

# The body of a script of `x`, and the first words that are said.
WRONG = {
    "return op.Relux(x)": "`ai.onnx` has no operator `Relux`",
    "y = op.Abs(x)\n    op.Softmax(y, axes=1)\n    return y": "`Softmax` has no attribute `axes`",
    "return op.Add(x)": "`Add` takes 2 inputs, and `B` is missing",
    "return op.Add(x, None)": "`Add` takes 2 inputs, and `B` is missing",
    "return op.Abs(x, x)": "`Abs` takes 1 input, not 2",
    "return op.Reshape(x, 2, 3)": "`Reshape` takes 2 inputs, not 3",
    "return op.Add(x, A=x)": "`Add` gets its input `A` twice",
    "return op.Cast(x)": "`Cast` needs the attribute `to`",
    "return op.Cast(x, to=None)": "`Cast` needs the attribute `to`",
    "return op.MaxPool(x, kernel_shape=[2], auto_pad='SAME')": "`SAME` is not a value of",
    "return x + 1.0 * op.Relux(x) + 2.0 + 3.0": "`ai.onnx` has no operator `Relux`",
    "for y in op.Relux(x):\n        x = y\n    return x": "`ai.onnx` has no operator `Relux`",
    "while op.Lesss(x, 1.0):\n        x = x + 1.0\n    return x": "`ai.onnx` has no operator",
    "return [op.Relux(x), op.Tanhh(x)]": "`ai.onnx` has no operator `Relux` (and 1 more)",
    "return op.Abs(op.Relux(x), 2)": "`ai.onnx` has no operator `Relux`",
    "return op.Relux(*[x])": "`ai.onnx` has no operator `Relux`",
}

# What the definition leaves to the compilation, or what is no mistake.
LEFT = [
    "if op.version >= 20:\n        return op.Relux(x)\n    return op.Relu(x)",
    "if op.version < 20:\n        return op.Relu(x)\n    return op.Relux(x)",
    "if False:\n        x = op.Relux(x)\n    return x",
    "for i in range(0):\n        x = op.Relux(x)\n    return x",
    "return x\n    return op.Relux(x)",
    "try:\n        return op.Relux(x)\n    except Exception:\n        return x",
    "raise NotImplementedError\n    op.Relux(x)",
    "assert op.version > 20\n    return op.Relux(x)",
    "return op.Relux(x) if 'Relux' in op else op.Relu(x)",
    "return 'Relux' in op and op.Relux(x)",
    "return 1 < 0 < op.Relux(x)",
    "f = lambda y: op.Relux(y)\n    return op.Relu(x)",
    "def inner(y):\n        return op.Relux(y)\n    return op.Relu(x)",
    "return [op.Relux(x) for _ in range(0)]",
    "op = Opset('my.own', 1)\n    return op.Relux(x)",
    "import elsewhere as op\n    return op.Relux(x)",
    "with open('x') as op:\n        pass\n    return op.Relux(x)",
    "return [op.Relux(x) for op in [1]]",
    "return Opset('my.own', 1).Relux(x)",
    "return later.Relux(x)",
    "return own.Relux(x)",
    "return op.Add(*pair(x))",
    "return op.Softmax(x, **some(x))",
    # Another `opset=` of the compilation takes them.
    "return op.Gelu(x)",
    "return op.Concat(x, x)",
    "return op.ReduceSum(x, axes=[0])",
    "return opset9.Dropout(x, 0.5, True)",
]


def define(body: str, path: pathlib.Path, head: str = HEAD) -> None:
    path.write_text(f"{head}\n@script()\ndef f(x: FLOAT['N']):\n    {body}\n")
    exec(compile(path.read_text(), path, "exec"), {"__name__": "defined"})


@pytest.mark.parametrize("body", WRONG)
def test_what_is_certain_is_said_at_the_definition(body, tmp_path):
    path = tmp_path / "wrong.py"
    with pytest.raises(sardonyx.CompileError) as caught:
        define(body, path)
    first = str(caught.value).split("\n")[0]
    place, said = first.split(": ", 1)
    assert said.startswith(WRONG[body])
    here = caught.value.diagnostics
    # The same findings as those of the program, to the last word.
    done = subprocess.run(
        [PROGRAM, "check", "--json", path], capture_output=True, text=True, check=False
    )
    there = [one for one in json.loads(done.stdout) if one["severity"] == "error"]
    assert [one for one in there if one in here] == here
    assert place == f"{path}, line {here[0]['range']['start']['line']}"


@pytest.mark.parametrize("body", LEFT)
def test_what_may_be_right_is_left_to_the_compilation(body, tmp_path):
    head = (
        HEAD + "class Own(Opset):\n    def Relux(self, x):\n        return x\nown = Own('', 18)\n"
    )
    define(body, tmp_path / "left.py", head)


def test_parameters_hide_opsets(tmp_path):
    path = tmp_path / "hidden.py"
    path.write_text(
        HEAD + "@script()\ndef f(x: FLOAT['N'], op: int = 1):\n    return op.Relux(x)\n"
    )
    exec(compile(path.read_text(), path, "exec"), {})


def test_another_opset_of_the_compilation_still_helps():
    @sardonyx.script()
    def newer(x: sardonyx.FLOAT["N"]):
        return sardonyx_op.Gelu(x)

    with pytest.raises(sardonyx.CompileError, match="not in opset 18"):
        newer.to_model_bytes()
    assert newer.to_model_bytes(opset=20)


sardonyx_op = sardonyx.opset18


def test_sources_for_onnxscript_are_left_to_the_compilation(tmp_path):
    define("return op.Relux(x)", tmp_path / "old.py", HEAD + "if 0:\n    import onnxscript\n")


def test_an_import_stops_there(tmp_path):
    (tmp_path / "module.py").write_text(
        f"{HEAD}\n@script()\ndef f(x: FLOAT['N']):\n    return op.Relux(x)\nprint('not reached')\n"
    )
    package = str(pathlib.Path(sardonyx.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = [{package!r}]; import module"],
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert done.stdout == ""
    assert "module.py:5:15" in done.stderr and "did you mean `Relu`?" in done.stderr
