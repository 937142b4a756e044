"""Annotations, dimensions and what reveal_type says; the numbers are in language.md's programs."""

import json
import pathlib
import subprocess

import numpy as np
import onnx
import pytest
from sardonyx import FLOAT, INT64, script
from sardonyx import opset21 as op

from language import Cases
from places import PROGRAM

cases = Cases()
case = cases.case
X = np.array([[1.5, -2.0, 3.0], [-4.5, 5.0, 0.5]], np.float32)
V = np.array([1, 2, 3], np.float32)

case(
    "several dims in one string",
    "@script(default_opset=op)\ndef f(x: FLOAT['N M'], b: FLOAT['M']) -> FLOAT['N M']:\n"
    "    return x + b\n",
    lambda x, b: x + b,
    X,
    V,
)
case(
    "Annotated dims",
    "from typing import Annotated\n@script(default_opset=op)\n"
    "def f(x: Annotated[FLOAT, 'N', 3]) -> Annotated[FLOAT, 'N', 3]:\n    return x * 2\n",
    lambda x: x * 2,
    X,
)
case(
    "annotated assignment names a dimension",
    "@script(default_opset=op)\ndef f(x: FLOAT['N', 'M']) -> INT64['K']:\n"
    "    rows: INT64[2, 'K'] = op.NonZero(x)\n    return rows[0]\n",
    lambda x: np.nonzero(x)[0],
    X,
)
case(
    "reveal_type is its argument",
    "@script(default_opset=op)\ndef f(x: FLOAT['N', 'M']):\n    return reveal_type(x) + 1\n",
    lambda x: x + 1,
    X,
)

test_model, test_function, test_eager = cases.tests()


def findings(text: str, folder: pathlib.Path) -> list[tuple[int, str, str]]:
    """(line, code, message) of each finding."""
    path = folder / "example.py"
    path.write_text(text)
    done = subprocess.run([PROGRAM, "check", "--json", path], capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    return [
        (one["range"]["start"]["line"], one["code"], one["message"])
        for one in json.loads(done.stdout)
    ]


IMPORTS = (
    "from typing import Annotated, Optional, Sequence; from sardonyx import *; "
    "from sardonyx import FLOAT, INT64, TensorType, script, opset21 as op\n"
)

REVEALED = {
    "x: FLOAT": "FLOAT",
    "x: FLOAT[...]": "FLOAT[...]",
    "x: FLOAT['N', 4]": "FLOAT[N, 4]",
    "x: FLOAT['N 4 M']": "FLOAT[N, 4, M]",
    "x: FLOAT['N + 1']": "FLOAT[N+1]",
    "x: FLOAT['2*N (M+1)//2']": "FLOAT[2*N, (M+1)//2]",
    "x: FLOAT[None, '?']": "FLOAT[?, ?]",
    "x: Annotated[FLOAT, 'M', 'N']": "FLOAT[M, N]",
    "x: Annotated[FLOAT['N'], 'some words']": "FLOAT[N]",
    "x: 'FLOAT[\"N\"]'": "FLOAT[N]",
    "x: Optional[FLOAT['N']]": "FLOAT[N]",
    "x: FLOAT['N'] | None": "FLOAT[N]",
    "x: Sequence[FLOAT['N']]": "Sequence[FLOAT[N]]",
    "x: list[INT64]": "Sequence[INT64[...]]",
    "x: Sequence[FLOAT[()]]": "Sequence[FLOAT]",
    "x: OPTIONAL[FLOAT]": "Optional[FLOAT[...]]",
    "x: OPTIONAL[Sequence[FLOAT]]": "Optional[Sequence[FLOAT[...]]]",
    "x: dict[STRING, FLOAT]": "Map[STRING, FLOAT]",
    "x: int": "attribute INT",
    "x: bool": "attribute BOOL",
    "x: Sequence[float]": "attribute FLOATS",
    "x: int = 3": "static int 3",
    "x: float = 0.5": "static float 0.5",
    "x: TensorType": "?[...]",
}


@pytest.mark.parametrize("parameter", REVEALED)
def test_annotation(parameter: str, tmp_path: pathlib.Path) -> None:
    text = (
        f"{IMPORTS}@script(op)\ndef f({parameter}):\n    reveal_type(x)\n    return op.Abs(1.0)\n"
    )
    messages = [one[2] for one in findings(text, tmp_path) if one[1] == "revealed-type"]
    assert messages[-1] == REVEALED[parameter]


@pytest.mark.parametrize(
    "annotation", ["FLOAT[..., 'N']", "FLOAT['... N']", "FLOAT[-1]", "FLOAT['']", "FLOAT['N -1']"]
)
def test_no_dimension(annotation: str, tmp_path: pathlib.Path) -> None:
    text = f"{IMPORTS}@script(op)\ndef f(x: {annotation}):\n    return op.Abs(1.0)\n"
    found = findings(text, tmp_path)
    # "N -1" is the expression N-1.
    codes = {one[1] for one in found if one[1] != "unused-import"}
    assert codes == (set() if "N -1" in annotation else {"invalid-annotation"})


def test_no_invented_name_is_shown(tmp_path: pathlib.Path) -> None:
    text = (
        f"{IMPORTS}@script(op)\ndef f(x: FLOAT['N']) -> FLOAT['N']:\n"
        "    rows = op.NonZero(x)\n    reveal_type(rows)\n"
        "    y: FLOAT[3, 'K'] = rows\n    return rows + x\n"
        "@script(op)\ndef g(x: FLOAT['N'], y: FLOAT[3, 'M']) -> FLOAT['N']:\n"
        "    return op.MatMul(op.NonZero(x), y) + f(op.NonZero(x))\n"
    )
    found = findings(text, tmp_path)
    assert (5, "revealed-type", "INT64[1, ?]") in found
    assert "unk__" not in json.dumps(found)


def test_python_and_file_agree_on_dims() -> None:
    assert FLOAT["M N"] is FLOAT["M", "N"]
    assert FLOAT["M N"].shape == ("M", "N")
    assert FLOAT["N"].shape == "N"
    for wrong in ((..., "N"), "... N", "", -1, True):
        with pytest.raises(TypeError):
            FLOAT[wrong]


def test_contradicting_given_types(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "f.py"
    path.write_text(
        f"{IMPORTS}@script(op)\ndef f(x: FLOAT['N'], y: FLOAT['N+1']):\n"
        "    return op.Concat(x, y, axis=0)\n"
    )

    def build(*words: str) -> subprocess.CompletedProcess[str]:
        command = [PROGRAM, "build", path, "-o", tmp_path / "f.onnx", *words]
        return subprocess.run(command, capture_output=True, text=True)

    done = build("--input", "x=FLOAT[3]", "--input", "y=FLOAT[3]")
    assert done.returncode == 1
    assert "argument-mismatch" in done.stderr and "`N` is `3` here" in done.stderr
    assert build("--input", "x=FLOAT[3]").returncode == 0
    model = onnx.load(tmp_path / "f.onnx")
    dims = [d.dim_value for info in model.graph.input for d in info.type.tensor_type.shape.dim]
    assert dims == [3, 4]
    assert model.graph.output[0].type.tensor_type.shape.dim[0].dim_value == 7


SHOWN = """\
from sardonyx import FLOAT, INT64, script, opset21 as op


@script(op)
def double(x: FLOAT["M"]):  # x: FLOAT[M]
    return x + x            # return: FLOAT[M]


@script()
def f(x: FLOAT["N", 4], n: INT64, k: int = 2):  # x: FLOAT[N, 4]; n: INT64; k: static int 2
    y, z = x[:, ::k], [k, x[0]]                 # y: FLOAT[N, 2]; z: list [static int 2, FLOAT[4]]
    for i in range(n):                          # i: INT64
        y = y + double(y[0])                    # y: FLOAT[N, 2]
    for j in range(3):                          # j: static int 2
        y = y * j                               # y: FLOAT[N, 2]
    return y                                    # return: FLOAT[N, 2]
"""


def test_check_types(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "f.py"
    path.write_text("\n".join(line.partition("  #")[0].rstrip() for line in SHOWN.split("\n")))
    done = subprocess.run([PROGRAM, "check", "-q", "--types", path], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    # The column is that of the longest line of the file.
    assert [line.split() for line in done.stdout.split("\n")] == [
        line.split() for line in SHOWN.split("\n")
    ]
    columns = {line.index("  # ") for line in done.stdout.split("\n") if "  # " in line}
    assert len(columns) >= 1
    again = subprocess.run([PROGRAM, "check", "--types", path], capture_output=True, text=True)
    assert again.stdout == done.stdout
    done = subprocess.run(
        [PROGRAM, "check", "--types", "--json", path], capture_output=True, text=True
    )
    types = json.loads(done.stdout)
    assert ("y", "FLOAT[N, 2]") in {(one["name"], one["text"]) for one in types}
    lines = path.read_text().split("\n")
    for one in types:
        start, end = one["range"]["start"], one["range"]["end"]
        assert lines[start["line"] - 1][start["column"] - 1 : end["column"] - 1] == one["name"]


def test_findings_with_types_go_to_stderr(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "f.py"
    path.write_text(
        f"{IMPORTS}@script(op)\ndef f(x: FLOAT['N']):\n    y = op.Abbs(x)\n    return x\n"
    )
    done = subprocess.run([PROGRAM, "check", "--types", path], capture_output=True, text=True)
    assert done.returncode == 1
    assert "unknown-operator" in done.stderr and "# x: FLOAT[N]" in done.stdout


def subgraph_infos(graph: onnx.GraphProto) -> list[onnx.ValueInfoProto]:
    found = list(graph.value_info)
    for node in graph.node:
        for attribute in node.attribute:
            found += subgraph_infos(attribute.g)
    return found


def test_all_that_is_known_is_written() -> None:
    @script()
    def inner(x: FLOAT["N"]):
        y = op.Abs(x)
        return y + 1.0

    @script()
    def f(x: FLOAT["N", None], n: INT64) -> FLOAT["N", "M"]:
        a = op.Abs(x)
        for _ in range(n):
            b = op.Neg(a)
            a = op.Exp(b)
        return a + inner(x[0])

    model = f.to_model_proto()
    onnx.checker.check_model(model, full_check=True)
    infos = {info.name: info.type.tensor_type for info in subgraph_infos(model.graph)}
    for name in ("a", "b"):
        dims = infos[name].shape.dim
        assert infos[name].elem_type == onnx.TensorProto.FLOAT
        assert dims[0].dim_param == "N" and len(dims) == 2
    function = model.functions[0]
    known = {info.name: info.type.tensor_type for info in function.value_info}
    assert known["y"].shape.dim[0].dim_param == "N"
