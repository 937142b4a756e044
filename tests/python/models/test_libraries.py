"""Script libraries as .onnx files of functions alone, and back."""

from __future__ import annotations

import importlib.util
import pathlib
import sys
from typing import Any

import numpy as np
import onnx
import onnx.checker
import onnx.inliner
import onnx.parser
import onnx.reference
import pytest
import sardonyx
from onnx import TensorProto, helper

from program import run

LIBRARY = """\
from sardonyx import script, opset20 as op
from sardonyx.values import Opset

mine = Opset("mine.lib", 1)


@script(mine)
def scaled(x, k: float = 2.0):
    return x * op.CastLike(op.Constant(value_float=k), x)


@script(mine)
def swish(x, *, beta: float):
    return scaled(x, k=3.0) * op.Sigmoid(scaled(x, k=beta))


@script(mine)
def both(x, flag):
    if flag:
        y = swish(x, beta=1.5)
    else:
        y = op.Neg(x)
    return y, op.Abs(x)
"""
NAMES = ["scaled", "swish", "both"]


@pytest.fixture
def library(tmp_path: pathlib.Path) -> pathlib.Path:
    (tmp_path / "lib.py").write_text(LIBRARY)
    done = run("build", "--library", tmp_path / "lib.py", "-o", tmp_path / "lib.onnx")
    assert "a library of 3 functions" in done.stdout
    return tmp_path / "lib.onnx"


def imported(path: pathlib.Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def calling(proto: onnx.ModelProto) -> onnx.ModelProto:
    """A model that calls functions of the library."""
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [3]),
              helper.make_tensor_value_info("flag", TensorProto.BOOL, [])]  # fmt: skip
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [3]) for name in "yzw"]
    nodes = [helper.make_node("both", ["x", "flag"], ["y", "z"], domain="mine.lib"),
             helper.make_node("scaled", ["x"], ["w"], domain="mine.lib", k=5.0)]  # fmt: skip
    graph = helper.make_graph(nodes, "g", inputs, outputs)
    return helper.make_model(graph, functions=proto.functions, opset_imports=proto.opset_import,
                             ir_version=proto.ir_version)  # fmt: skip


def test_there(library: pathlib.Path) -> None:
    proto = onnx.load(library)
    onnx.checker.check_model(proto)
    assert sorted(one.name for one in proto.functions) == sorted(NAMES)
    assert not proto.graph.node and not proto.graph.output
    assert {one.domain: one.version for one in proto.opset_import} == {"": 20, "mine.lib": 1}
    # The same functions as compiled from Python.
    scripts = imported(library.with_name("lib.py"))
    for one in proto.functions:
        function = getattr(scripts, one.name).to_function_proto()
        assert function.SerializeToString() == one.SerializeToString()
    # They are what onnx takes for functions, and mean what a call does.
    x = np.array([-1, 0.5, 2], np.float32)
    feed = {"x": x, "flag": np.array(True)}
    model = calling(proto)
    ours = sardonyx.load(model).run(feed)
    for result, expected in zip(
        ours, onnx.reference.ReferenceEvaluator(model).run(None, feed), strict=True
    ):
        np.testing.assert_allclose(result, expected, rtol=1e-6)
    np.testing.assert_array_equal(ours[0], scripts.both(x, np.array(True))[0])
    assert [one.name for one in sardonyx.load(library).functions] == [
        one.name for one in proto.functions
    ]


def test_and_back(library: pathlib.Path) -> None:
    back = library.with_name("back.py")
    done = run("decompile", library, "-o", back)
    assert "a library" in done.stdout
    scripts, first = imported(back), imported(library.with_name("lib.py"))
    x = np.array([-1, 0.5, 2], np.float32)
    for flag in (np.array(True), np.array(False)):
        for one, other in zip(scripts.both(x, flag), first.both(x, flag), strict=True):
            np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(scripts.scaled(x, k=4.0), x * 4)
    run("build", "--library", back, "-o", library.with_name("again.onnx"))
    done = run("decompile", library.with_name("again.onnx"))
    body = back.read_text().partition("import")[2]
    assert done.stdout.partition("import")[2] == body
    # From Python, and in a form that is text.
    assert sardonyx.decompile(sardonyx.load(library)).partition("import")[2] == body
    text = sardonyx.load(library).to_text()
    assert sardonyx.from_text(text).to_bytes() == sardonyx.load(library).to_bytes()


def test_mistakes(library: pathlib.Path) -> None:
    source, out = library.with_name("lib.py"), library.with_name("no.onnx")
    for words in (["--function"], ["--input", "x=FLOAT[3]"], ["--like", library]):
        done = run("build", "--library", source, "-o", out, *words, status=2)
        assert "takes all scripts as they are" in done.stderr
    run("build", "--library", f"{source}:scaled", "-o", out, status=2)
    done = run("decompile", library, "--exact", status=1)
    assert "has no main script" in done.stderr
    source.write_text("x = 1\n")
    assert "no scripts" in run("build", "--library", source, "-o", out, status=2).stderr
    source.write_text(LIBRARY.replace("op.Neg(x)", "op.Negg(x)"))
    assert "Negg" in run("build", "--library", source, "-o", out, status=1).stderr
    assert not out.exists()


USER = """\
from sardonyx import BOOL, FLOAT, load_library, opset20, script

lib = load_library("lib.onnx")


@script(default_opset=opset20)
def model(x: FLOAT[3], flag: BOOL):
    y, z = lib.both(x, flag)
    return y + lib.scaled(z, k=5.0)
"""


def test_called_from_python(library: pathlib.Path) -> None:
    """Eagerly and in scripts; a relative path begins at the file that calls."""
    first = imported(library.with_name("lib.py"))
    library.with_name("user.py").write_text(USER)
    user = imported(library.with_name("user.py"))
    assert user.lib.__name__ == "lib" and sorted(user.lib.__all__) == sorted(NAMES)
    x = np.array([-1, 0.5, 2], np.float32)
    np.testing.assert_array_equal(user.lib.scaled(x, k=4.0), x * 4)
    proto = user.model.to_model_proto()
    onnx.checker.check_model(proto, full_check=True)
    assert sorted((one.domain, one.name) for one in proto.functions) == sorted(
        ("mine.lib", name) for name in NAMES
    )
    for flag in (np.array(True), np.array(False)):
        y, z = first.both(x, flag)
        for results in (
            user.model(x, flag),
            sardonyx.load(proto)(x, flag),
            onnx.reference.ReferenceEvaluator(proto).run(None, {"x": x, "flag": flag})[0],
        ):
            np.testing.assert_allclose(np.asarray(results), y + z * 5, rtol=1e-6)


def test_a_library_that_is_none(tmp_path: pathlib.Path) -> None:
    """Whatever sardonyx.load takes; the names of others stay out of the module."""
    with pytest.raises(FileNotFoundError):
        sardonyx.load_library(tmp_path / "missing.onnx")
    with pytest.raises(sardonyx.EvalError):
        sardonyx.load_library(b"no model")
    graph = onnx.parser.parse_model(
        '< ir_version: 10, opset_import: ["" : 20] > half (float[N] x) => (float[N] y) '
        "< float two = {2} > { y = Div(x, two) }"
    )
    module = sardonyx.load_library(graph)
    assert module.__all__ == ["half"]
    np.testing.assert_array_equal(module.half(np.float32([3])), np.float32([1.5]))
