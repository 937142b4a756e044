"""`sardonyx.compile`: texts without Python, with values, libraries and metadata of lines."""

from __future__ import annotations

import pathlib
import subprocess
from typing import Any

import numpy as np
import onnx
import pytest
import sardonyx

from places import PROGRAM

TEXT = """\
from sardonyx import FLOAT, opset21 as op, script
from shared.layers import scaled

@script()
def f(x: FLOAT["N", 2]):
    y = scaled(x, WEIGHTS["w"])
    return y * n + SMALL
"""
LIBRARY = """\
from sardonyx import opset21 as op, script


@script(inline=True)
def scaled(x, w):
    return op.Mul(x, w)
"""
GIVEN = {
    "WEIGHTS": {"w": np.array([2, 3], np.float32)},
    "n": 3,
    "SMALL": np.ones(2, np.float32),
}


@pytest.fixture
def library(tmp_path: pathlib.Path) -> pathlib.Path:
    folder = tmp_path / "libraries"
    (folder / "shared").mkdir(parents=True)
    (folder / "shared/layers.py").write_text(LIBRARY)
    return folder


def test_values_libraries_and_lines(library: pathlib.Path) -> None:
    model = sardonyx.compile(
        TEXT,
        globals=GIVEN,
        filename="made.py",
        library_path=library,
        line_metadata={6: {"module": "layer.0"}},
    )
    x = np.array([[1, -1]], np.float32)
    np.testing.assert_array_equal(model(x), x * [2, 3] * 3 + 1)
    proto = model.to_proto()
    onnx.checker.check_model(proto, full_check=True)
    assert [one.name for one in proto.graph.initializer] == ["w"]
    noted = [
        (node.op_type, one.key, one.value)
        for node in proto.graph.node
        for one in node.metadata_props
    ]
    assert noted == [("Mul", "module", "layer.0")]


def test_arrays_that_change_later_change_no_model() -> None:
    weight = np.ones(2, np.float32)
    text = TEXT.replace("from shared.layers import scaled", "").replace("scaled(x, ", "op.Mul(x, ")
    model = sardonyx.compile(text, globals={**GIVEN, "WEIGHTS": {"w": weight}})
    weight[:] = 5
    np.testing.assert_array_equal(model(np.ones((1, 2), np.float32)), [[4, 4]])


def test_mistakes(library: pathlib.Path) -> None:
    with pytest.raises(sardonyx.CompileError, match=r"no module `shared\.layers` here"):
        sardonyx.compile(TEXT, globals=GIVEN)
    with pytest.raises(sardonyx.CompileError, match=r"made\.py, line 7.*`n`"):
        sardonyx.compile(TEXT, globals={"WEIGHTS": GIVEN["WEIGHTS"]}, filename="made.py",
                         library_path=[library])  # fmt: skip
    with pytest.raises(ValueError, match="no script `g`"):
        sardonyx.compile(TEXT, globals=GIVEN, library_path=[library], script="g")
    with pytest.raises(TypeError, match="`n` of `globals` is of type `object`"):
        sardonyx.compile(TEXT, globals={"n": object()})
    cyclic: list[object] = [1]
    cyclic.append(cyclic)
    with pytest.raises(TypeError, match="`n` of `globals` is of type `list`"):
        sardonyx.compile(TEXT, globals={"n": cyclic})
    with pytest.raises(ValueError, match="has line 0: lines count from 1"):
        sardonyx.compile(TEXT, line_metadata={0: {"a": "b"}})
    for wrong in ({"globals": {1: 2}}, {"line_metadata": {1: {"a": 2}}}):
        with pytest.raises(TypeError, match="is no text"):
            sardonyx.compile(TEXT, **wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="positive numbers"):
        sardonyx.compile(TEXT, ir_version=-3)
    with pytest.raises(TypeError, match="takes the text"):
        sardonyx.compile(library)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"not OnnxFunction\(scaled\): call its `compile\(\)`"):
        sardonyx.compile(sardonyx.script.from_source(LIBRARY))  # type: ignore[arg-type]


@pytest.mark.parametrize("path", ["gelu.py", "/srv/gelu.py", pathlib.Path("gelu.py")])
def test_a_path_is_no_text(path: Any) -> None:
    with pytest.raises(TypeError, match=r"not .*gelu.py'\)?, as `pathlib.Path\(path\).read_text"):
        sardonyx.compile(path)


def test_no_python_runs_it(tmp_path: pathlib.Path) -> None:
    text = f"open({str(tmp_path / 'touched')!r}, 'w')\n" + TEXT.replace(
        "from shared.layers import scaled", "from sardonyx import FLOAT as scaled"
    )
    with pytest.raises(sardonyx.CompileError):
        sardonyx.compile(text, globals=GIVEN)
    assert not (tmp_path / "touched").exists()


def test_the_command_line_has_the_same_folders(
    library: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    path = tmp_path / "own" / "model.py"
    path.parent.mkdir()
    values = "import numpy as np\nWEIGHTS = {'w': np.ones(2, np.float32)}\nn = 1\nSMALL = 0.0\n"
    path.write_text(values + TEXT)

    def run(*words: object, folder: pathlib.Path = tmp_path) -> subprocess.CompletedProcess[str]:
        command = [str(PROGRAM), *map(str, words)]
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)

    out = tmp_path / "m.onnx"
    assert "no module `shared.layers`" in run("build", path, "-o", out).stderr
    for extra in ([], ["--python"]):
        done = run("build", *extra, path, "-o", out, "--library-path", library)
        assert done.returncode == 0, done
    assert run("check", path, "--library-path", library).returncode == 0
    done = run("run", path, "x=[[1,2]]", "--library-path", library)
    assert done.returncode == 0 and "[[1.0 2.0]]" in done.stdout, done
    (path.parent / "pyproject.toml").write_text(
        '[tool.sardonyx]\nlibrary-path = ["../libraries"]\n'
    )
    assert run("check", "model.py", folder=path.parent).returncode == 0
    (path.parent / "pyproject.toml").write_text('[tool.sardonyx]\nlibrary-path = "x"\n')
    assert "is a list of strings" in run("check", "model.py", folder=path.parent).stderr


def test_many_calls_one_after_the_other() -> None:
    count = 40_000
    lines = "    x = scaled(x, 2)\n" * count
    text = (
        "from sardonyx import FLOAT, opset21 as op, script\n"
        "def scaled(x, k):\n    many = [i * k for i in range(25)]\n    return x * float(many[1])\n"
        f'@script()\ndef f(x: FLOAT["N"]):\n{lines}    return x\n'
    )
    nodes = sardonyx.compile(text).to_proto().graph.node
    assert [node.op_type for node in nodes].count("Mul") == count
    endless = text.replace("25", "250_000").replace(lines, "    x = scaled(x, 2)\n" * 30)
    with pytest.raises(sardonyx.CompileError, match="static iterations"):
        sardonyx.compile(endless)
