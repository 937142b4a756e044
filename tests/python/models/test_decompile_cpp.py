"""`decompile --to cpp`: the program is compiled and run, and makes the same model.

The same is what is isomorphic (`src/decompile/isomorphic.h`), and gives the same bits.
"""

from __future__ import annotations

import functools
import os
import pathlib
import shutil
import subprocess
from typing import Any

import numpy as np
import onnx
import onnx.helper
import onnx.parser
import pytest
import sardonyx
from onnx import TensorProto, numpy_helper
from sardonyx._core import first_difference

from models.corpora import backend_cases, examples
from models.test_decompile import NAMES, chain, run, same_bits, with_weights
from places import BUILD, ROOT

pytestmark = pytest.mark.filterwarnings("ignore")

COMPILER = os.environ.get("CXX") or shutil.which("c++") or "c++"


@functools.cache
def includes() -> list[str]:
    """Where the headers are, those of the operators among them."""
    (generated,) = {path.parents[1] for path in BUILD.glob("**/sardonyx/op20.h")
                    if "installed" not in path.parts}  # fmt: skip
    return [f"-I{ROOT}/include", f"-I{generated}"]


def program(model: bytes, folder: pathlib.Path) -> str:
    """The text; beside it, its weights."""
    folder.mkdir(exist_ok=True)
    (folder / "model.onnx").write_bytes(model)
    done = run("decompile", folder / "model.onnx", "--to", "cpp", "-o", folder / "made.cpp")
    assert done.returncode == 0, done.stderr
    assert "made.cpp: program `" in done.stdout
    return (folder / "made.cpp").read_text()


def made(folder: pathlib.Path) -> bytes:
    """What the program makes."""
    compiled = subprocess.run(
        [COMPILER, "-std=c++20", "-O0", "-Wall", "-Werror", *includes(),
         "made.cpp", f"-L{BUILD}", f"-Wl,-rpath,{BUILD}", "-lsardonyx", "-o", "made"],
        cwd=folder, capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    assert compiled.returncode == 0, compiled.stderr
    done = subprocess.run(
        ["./made", "made.onnx"], cwd=folder, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return (folder / "made.onnx").read_bytes()


def check(model: bytes, folder: pathlib.Path, data_sets: list[list[Any]]) -> str:
    text = program(model, folder)
    assert text == program(model, folder)
    again = made(folder)
    onnx.checker.check_model(onnx.load_from_string(again))
    first, second = sardonyx.load(model), sardonyx.load(again)
    assert first.inputs == second.inputs
    assert [name for name, _ in first.outputs] == [name for name, _ in second.outputs]
    if not first.functions:  # their bodies stand in the place of their calls
        assert first_difference(first, second) is None
    for given in data_sets:
        feed = {name: array for (name, _), array in zip(first.inputs, given, strict=True)}
        assert same_bits(first.run(feed), second.run(feed))
    return text


CONTROL = """\
< ir_version: 10, opset_import: ["" : 20, "local" : 1], producer_name: "pytest" >
"control flow" (float[N,4] x, int64 n, bool flag) => (float[N,4] y, float[K,4] "rows/0", float z)
< float[4] half = {0.5, 1, 2, 4}, int64[2] shape = {0, -1}, int64[1] first = {0},
  float z0 = {0}, float minus = {-1} >
{
    s = local.scaled <k: float = 2.0> (x)
    flat = Reshape(s, shape)
    last, rows = Loop (n, , flat) <
        body: graph = body (int64 i, bool c, float[N,4] v) => (cc, next, row) {
            cc = Identity(c)
            f = Cast <to: int = 1> (i)
            next = Add(v, f)
            row = ReduceMax <keepdims: int = 0> (next, first)
        }
    >
    total = ReduceSum <keepdims: int = 0> (last)
    go = Greater(total, z0)
    z = Loop ( , go, total) <
        body: graph = body2 (int64 j, bool d, float w) => (dd, w2) {
            w2 = Mul(w, minus)
            dd = Greater(w2, z0)
        }
    >
    y = If (flag) <
        then_branch: graph = g () => (a) { a = Mul(last, half) },
        else_branch: graph = g2 () => (e) { e = Elu <alpha: float = 0.1> (last) }
    >
    "rows/0" = Identity(rows)
}
< domain: "local", opset_import: ["" : 20] >
scaled <k> (v) => (r) { c = Constant <value_float: float = @k> () r = Mul(v, c) }
"""


def test_control_flow_and_functions(tmp_path: pathlib.Path) -> None:
    x = np.arange(8, dtype=np.float32).reshape(2, 4)
    data_sets = [[x, np.int64(n), np.array(flag)] for n in (1, 3) for flag in (True, False)]
    text = check(onnx.parser.parse_model(CONTROL).SerializeToString(), tmp_path, data_sets)
    for words in ("b.loop(", "b.if_(", "op::Elu(", "{.alpha = 0.1f}", "Model make_control_flow()"):
        assert words in text
    assert max(map(len, text.split("\n"))) <= 100


def test_weights_stand_beside(tmp_path: pathlib.Path) -> None:
    x = np.random.default_rng(1).normal(size=(3, 8)).astype(np.float32)
    text = check(with_weights().SerializeToString(), tmp_path, [[x]])
    assert 'sardonyx::load_weights("made.safetensors")' in text
    # On standard output the text reads them from the model.
    done = run("decompile", "model.onnx", "--to", "cpp", cwd=tmp_path)
    assert 'load_weights("model.onnx")' in done.stdout


def test_names_and_texts_cannot_break_out(tmp_path: pathlib.Path) -> None:
    names = [*NAMES, "int", "b", "std", "NULL", "INT64_MAX", "errno", "sardonyx", "main",
             "weights", "Array", "Builder", "Expr"]  # fmt: skip
    hostile = 'a"\\\n??/\n#include <x>\n*/ \x1b[2J // \\'
    node = onnx.helper.make_node(
        "Own", ["in"], ["own"], domain="own", text=hostile, texts=[hostile]
    )
    model = chain([name for name in names if "\x00" not in name], hostile)
    model.graph.node.insert(0, node)
    model.graph.node[-1].input.append("own")
    model.opset_import.append(onnx.helper.make_opsetid("own", 2))
    text = check(model.SerializeToString(), tmp_path, [])
    assert text.isascii()
    assert "#include <x>" not in [line.strip() for line in text.split("\n")]


@pytest.mark.parametrize(
    "name",
    ["test_lstm_defaults", "test_batchnorm_epsilon_training_mode", "test_top_k", "test_scan9_sum",
     "test_split_equal_parts_1d_opset18", "test_resize_upsample_scales_cubic",
     "test_sequence_insert_at_back", "test_constant_pad",
     "test_ai_onnx_ml_label_encoder_tensor_mapping"],
)  # fmt: skip
def test_node_cases(name: str, tmp_path: pathlib.Path) -> None:
    data, data_sets = backend_cases()[name]
    if name == "test_scan9_sum":
        (tmp_path / "scan.onnx").write_bytes(data)
        done = run("decompile", tmp_path / "scan.onnx", "--to", "cpp")
        assert done.returncode == 1
        assert 'cannot express the graphs of the node "y" ("Scan")' in done.stderr
        return
    check(data, tmp_path, data_sets)


def test_an_old_opset_and_numbers_that_are_none(tmp_path: pathlib.Path) -> None:
    """Without a header of functions; attributes and tensors with every bit."""
    nan = np.array([np.nan, np.inf, -np.inf, -0.0, 1e-45], np.float32)
    halves = onnx.helper.make_tensor("h", TensorProto.BFLOAT16, [2], [1.0, 2.0])
    nodes = [
        onnx.helper.make_node("Constant", [], ["c"], value=numpy_helper.from_array(nan)),
        onnx.helper.make_node("Selu", ["x"], ["s"], alpha=float("inf"), gamma=-0.0),
        onnx.helper.make_node("Add", ["s", "c"], ["y"]),
        onnx.helper.make_node("Cast", ["h"], ["z"], to=TensorProto.FLOAT),
        onnx.helper.make_node("Cast", ["i"], ["k"], to=TensorProto.DOUBLE),
    ]
    least = np.array([np.iinfo(np.int64).min, -1], np.int64)
    graph = onnx.helper.make_graph(
        nodes,
        "clock",  # a function of the C library
        [onnx.helper.make_tensor_value_info("x", 1, [5])],
        [onnx.helper.make_tensor_value_info(name, kind, None) for name, kind in
         (("y", 1), ("z", 1), ("k", TensorProto.DOUBLE))],
        [halves, numpy_helper.from_array(least, "i")],
    )  # fmt: skip
    opsets = [onnx.helper.make_opsetid("", 13)]
    model = onnx.helper.make_model(graph, opset_imports=opsets, ir_version=8)
    text = check(model.SerializeToString(), tmp_path, [[np.ones(5, np.float32)]])
    assert "namespace op" not in text


def test_an_example(tmp_path: pathlib.Path) -> None:
    check(examples()["transformer_block.py:transformer_block"], tmp_path, [])


def test_what_is_refused(tmp_path: pathlib.Path) -> None:
    model = chain(["a"])
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    done = run("decompile", tmp_path / "m.onnx", "--to", "c++")
    assert done.returncode == 2
    assert "use python, cpp or text" in done.stderr
    done = run("decompile", tmp_path / "m.onnx", "--to", "cpp", "--exact")
    assert done.returncode == 2
    done = run("decompile", tmp_path / "m.onnx", "--to", "cpp", "-o", tmp_path / "no" / "m.cpp")
    assert done.returncode == 1
    model.graph.initializer.append(numpy_helper.from_array(np.ones(2, np.float32), "in"))
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    done = run("decompile", tmp_path / "m.onnx", "--to", "cpp")
    assert done.returncode == 1
    assert 'the default of the input "in"' in done.stderr
