"""The commands on models, beside onnx, onnx.reference and ONNX Runtime."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
from typing import Any

import numpy as np
import onnx
import onnx.parser
import onnx.reference
import onnx.utils
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from places import PROGRAM, ROOT
from program import run

FIRST = """\
< ir_version: 8, opset_import: ["" : 18, "local" : 1], producer_name: "pytest",
  metadata_props: ["classes" : "cat,dog"] >
first (float[N,4] x, bool flag) => (float[N,3] y, float[N,4] also)
< float[4,3] w = {1,2,3,4,5,6,7,8,9,10,11,12}, float[3] b = {1,2,3}, float[4] lost = {0,0,0,0} >
{
    h = Relu(x)
    twice = local.scaled <k: float = 2.0> (h)
    dead = Exp(x)
    chosen = If (flag) <
        then_branch: graph = yes () => (p) { p = Add(twice, h) },
        else_branch: graph = no () => (q) { q = Neg(h) }
    >
    m = MatMul(chosen, w)
    y = Add(m, b)
    also = Abs(chosen)
}
< domain: "local", opset_import: ["" : 18] >
scaled <k> (v) => (r) { c = Constant <value_float: float = @k> () r = Mul(v, c) }
< domain: "local", opset_import: ["" : 18] >
unused (v) => (r) { r = Neg(v) }
"""
SECOND = """\
< ir_version: 8, opset_import: ["" : 18] >
second (float[N,3] y, float[N] x) => (float[N,3] z)
< float[3] b = {5,6,7} >
{
    h = Mul(y, b)
    one = Constant <value_ints: ints = [1]> ()
    column = Unsqueeze(x, one)
    z = Add(h, column)
}
"""


def report(*words: Any) -> Any:
    return json.loads(run(*words, "--json").stdout)


@pytest.fixture(autouse=True)
def folder(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    monkeypatch.chdir(tmp_path)
    onnx.save(onnx.parser.parse_model(FIRST), "first.onnx")
    onnx.save(onnx.parser.parse_model(SECOND), "second.onnx")
    return tmp_path


RNG = np.random.default_rng(1)
X = RNG.standard_normal((5, 4)).astype(np.float32)


def results(path: str | pathlib.Path, **inputs: Any) -> list[np.ndarray]:
    """What ONNX Runtime gives, which must be what onnx.reference does; the checker is content."""
    onnx.checker.check_model(str(path), full_check=True)
    session = onnxruntime.InferenceSession(str(path))
    got = session.run(None, inputs)
    for ours, theirs in zip(
        got, onnx.reference.ReferenceEvaluator(str(path)).run(None, inputs), strict=True
    ):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)
    return got


def external_copy(path: str, name: str) -> None:
    model = onnx.load(path)
    for tensor in model.graph.initializer:  # onnx moves raw data alone
        tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor), tensor.name))
    onnx.save(
        model, name, save_as_external_data=True, location=name + ".data", size_threshold=0
    )  # fmt: skip


# --- info ----------------------------------------------------------------------------------------


def test_info_of_a_convolution() -> None:
    text = """\
    < ir_version: 9, opset_import: ["" : 20] >
    net (float[N,3,H,32] x) => (float[M,10] y)
    { c = Conv <pads = [1,1,1,1]> (x, w, b)  r = Relu(c)
      p = MaxPool <kernel_shape = [2,2], strides = [2,2]> (r)
      f = Flatten(p)  y = Gemm <transB = 1> (f, v) }
    """
    model = onnx.parser.parse_model(text)
    for name, shape in {"w": (8, 3, 3, 3), "b": (8,), "v": (10, 8 * 8 * 16)}.items():
        model.graph.initializer.append(numpy_helper.from_array(np.ones(shape, np.float32), name))
    onnx.save(model, "net.onnx")
    found = report("info", "net.onnx", "--dim", "N=2", "--dim", "H=16")
    pixels = 2 * 16 * 32
    conv, relu, pool = pixels * 8 * (2 * 27 + 1), pixels * 8, pixels * 8 // 4 * 4
    gemm = 2 * 2 * 1024 * 10
    counts = [node["operations"] for node in found["nodes"]]
    assert counts == [conv, relu, pool, 0, gemm] and found["operations"] == sum(counts)
    assert found["nodes"][1]["bytes_read"] == found["nodes"][1]["bytes_written"] == 4 * pixels * 8
    # The input stays, and Conv's result beside Relu's is the most.
    assert found["run_bytes"] == 4 * (pixels * 3 + 2 * pixels * 8)
    assert found["parameters"] == 8 * 27 + 8 + 10 * 1024
    assert found["weight_bytes"] == 4 * found["parameters"]
    named = report("info", "net.onnx")
    assert named["run_bytes"] is None and "N" in str(named["operations"])
    assert "`--dim H=...` gives a size" in run("info", "net.onnx").stdout
    # What ONNX Runtime gives for these sizes has the type that info says.
    (y,) = results("net.onnx", x=np.ones((2, 3, 16, 32), np.float32))
    assert found["outputs"] == [{"name": "y", "type": f"FLOAT[{y.shape[0]}, {y.shape[1]}]"}]


def test_info_of_functions_and_branches() -> None:
    found = report("info", "first.onnx", "--dim", "N=5")
    by_name = {node["name"]: node["operations"] for node in found["nodes"]}
    assert by_name == {
        "h": 20, "twice": 20, "dead": 20, "chosen": 20, "m": 2 * 4 * 15, "y": 15, "also": 20,
    }  # fmt: skip
    assert found["functions"] == [
        {"name": "local:scaled", "nodes": 2, "calls": 1},
        {"name": "local:unused", "nodes": 1, "calls": 0},
    ]
    assert found["metadata"] == {"classes": "cat,dog"} and found["opsets"]["ai.onnx"] == 18
    text = run("info", "first.onnx", "--nodes").stdout
    for words in ("runs on     ONNX Runtime 1.14 or newer", "x: FLOAT[N, 4]", "local.scaled"):
        assert words in text


def test_info_knows_what_the_runtime_takes() -> None:
    """The version that is installed loads what info says that it does."""
    own = tuple(map(int, onnxruntime.__version__.split(".")[:2]))
    session_options = onnxruntime.SessionOptions()
    session_options.log_severity_level = 4
    for opset in range(7, onnx.defs.onnx_opset_version() + 1):
        nodes = [helper.make_node("Relu", ["x"], ["y"])]
        value = [helper.make_tensor_value_info(name, 1, [1]) for name in "xy"]
        graph = helper.make_graph(nodes, "g", value[:1], value[1:])
        imports = [helper.make_opsetid("", opset)]
        model = helper.make_model(graph, opset_imports=imports, ir_version=4)
        onnx.save(model, "one.onnx")
        needed = report("info", "one.onnx")["onnxruntime"]
        try:
            onnxruntime.InferenceSession("one.onnx", session_options)
            loads = True
        except Exception:
            loads = False
        says = needed is not None and tuple(map(int, needed.split("."))) <= own
        assert says == loads, (opset, needed)


def test_info_of_scripts_and_pipes() -> None:
    pathlib.Path("s.py").write_text(
        'from sardonyx import FLOAT, opset18 as op, script\n@script()\ndef s(x: FLOAT["N"]):\n'
        "    return op.Relu(x)\n"
    )
    assert report("info", "s.py")["operators"] == [
        {"domain": "ai.onnx", "name": "Relu", "count": 1}
    ]
    data = pathlib.Path("first.onnx").read_bytes()
    piped = run("info", "-", "--json", input=data, text=False).stdout
    assert json.loads(piped) == report("info", "first.onnx")


# --- cut -----------------------------------------------------------------------------------------


def test_cut_between_values() -> None:
    found = report("cut", "first.onnx", "--from", "h", "--to", "m", "-o", "part.onnx")
    assert found["inputs"] == ["h", "flag"] and found["also_needed"] == ["flag"]
    assert found["outputs"] == ["m"] and found["removed_initializers"] == 2
    assert found["removed_functions"] == 1 and found["removed_nodes"] == 4
    for flag in (True, False):
        (m,) = results("part.onnx", h=np.maximum(X, 0), flag=np.array(flag))
        y, _ = results("first.onnx", x=X, flag=np.array(flag))
        np.testing.assert_allclose(m + np.array([1, 2, 3]), y, rtol=1e-6)
    part = onnx.load("part.onnx")
    assert {e.key: e.value for e in part.metadata_props} == {"classes": "cat,dog"}


def test_cut_gives_what_onnx_extracts() -> None:
    """Of a graph without branches, whose reads onnx.utils does not follow."""
    text = """< ir_version: 8, opset_import: ["" : 18] >
    g (float[N,4] x, float[N,4] u) => (float[N,3] y) < float[4,3] w = {1,2,3,4,5,6,7,8,9,10,11,12} >
    { h = Relu(x)  k = Add(h, u)  m = MatMul(k, w)  y = Neg(m) }"""
    onnx.save(onnx.shape_inference.infer_shapes(onnx.parser.parse_model(text)), "plain.onnx")
    onnx.utils.extract_model("plain.onnx", "theirs.onnx", ["h", "u"], ["m"])
    run("cut", "plain.onnx", "--from", "h", "--from", "u", "--to", "m", "-o", "ours.onnx")
    given = {"h": X, "u": X}
    np.testing.assert_array_equal(results("ours.onnx", **given), results("theirs.onnx", **given))
    assert run("diff", "ours.onnx", "theirs.onnx").stdout == ""


def test_cut_at_one_of_several_results_and_at_weights() -> None:
    text = """< ir_version: 8, opset_import: ["" : 18] >
    g (float[4,2] x) => (float[2,2] y) < float[2] w = {1,2} >
    { a, b = Split <num_outputs = 2> (x)  c = Mul(a, w)  y = Add(c, b) }"""
    onnx.save(onnx.parser.parse_model(text), "split.onnx")
    run("cut", "split.onnx", "--from", "a", "-o", "out.onnx")
    x, a = np.ones((4, 2), np.float32), np.full((2, 2), 3, np.float32)
    np.testing.assert_array_equal(results("out.onnx", a=a, x=x)[0], [[4, 7], [4, 7]])
    run("cut", "split.onnx", "--from", "w", "--to", "c", "-o", "out.onnx")
    np.testing.assert_array_equal(
        results("out.onnx", w=np.array([5, 6], np.float32), x=x)[0], [[5, 6], [5, 6]]
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--from", "hh"], "there is no value `hh` in the graph; did you mean `h`?"),
        (["--to", "p"], "value `p` is in the subgraph `yes`"),
        (["--from", "dead"], "no output needs `dead`"),
        (["--to", "y", "--to", "y"], "`--to y` is given twice"),
        ([], "specify where to cut"),
    ],
)
def test_cut_refuses(words: list[str], message: str) -> None:
    done = run("cut", "first.onnx", *words, "-o", "out.onnx", status=None)
    assert done.returncode != 0 and message in done.stderr
    assert not pathlib.Path("out.onnx").exists()


# --- rename and set-shape ------------------------------------------------------------------------


def test_rename() -> None:
    run(
        "rename", "first.onnx", "x=y", "y=x", "p=inner", "--dim", "N=batch", "--graph", "main",
        "--function", "scaled=other:times", "-o", "out.onnx",
    )  # fmt: skip
    flag = np.array(True)
    before, after = results("first.onnx", x=X, flag=flag), results("out.onnx", y=X, flag=flag)
    for one, other in zip(before, after, strict=True):
        np.testing.assert_array_equal(one, other)
    model = onnx.load("out.onnx")
    assert [value.name for value in model.graph.output] == ["x", "also"]
    assert model.graph.input[0].type.tensor_type.shape.dim[0].dim_param == "batch"
    assert model.graph.name == "main"
    assert (model.functions[0].domain, model.functions[0].name) == ("other", "times")
    run("rename", "out.onnx", "y=x", "x=y", "--dim", "batch=N", "--function",
        "times=local:scaled", "-o", "back.onnx")  # fmt: skip
    assert run("diff", "first.onnx", "back.onnx", status=1).stdout.count("opset") == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["xx=y"], "there is no value `xx`; did you mean `x`?"),
        (["x=y"], "`x` cannot be called `y`: there is a value of that name"),
        (["x="], "a value has a name"),
        (["x=a", "x=b"], "`x` is given twice"),
        (["--node", "n=m"], "there is no node `n`"),
        (["--dim", "M=K"], "there is no dimension `M`"),
        (["--function", "scald=x"], "there is no function `scald`"),
        (["--function", "scaled=unused"], "there is such a function"),
        (["word"], "`word` has no name"),
    ],
)
def test_rename_refuses(words: list[str], message: str) -> None:
    done = run("rename", "first.onnx", *words, "-o", "out.onnx", status=None)
    assert done.returncode != 0 and message in done.stderr, done.stderr
    assert not pathlib.Path("out.onnx").exists()


def test_set_shape() -> None:
    found = report("set-shape", "first.onnx", "--dim", "N=5", "-o", "out.onnx")
    assert found["outputs"] == ["y=FLOAT[5, 3]", "also=FLOAT[5, 4]"]
    results("out.onnx", x=X, flag=np.array(True))
    found = report("set-shape", "first.onnx", "x=[batch,4]", "-o", "out.onnx")
    assert found["inputs"] == ["x=FLOAT[batch, 4]", "flag=BOOL"]
    assert found["outputs"] == ["y=FLOAT[batch, 3]", "also=FLOAT[batch, 4]"]
    for words, message in [
        (["x=FLOAT[N,5]"], "the operators contradict it"),
        (["x=FLOT[4]"], "this is not a type"),
        (["x=f16[4]"], "did you mean `FLOAT16[4]`?"),
        (["w=FLOAT[3,4]"], "`w` holds a tensor of type FLOAT[4, 3]"),
        (["z=[4]"], "there is no value `z`"),
        (["--dim", "M=4"], "there is no dimension `M`"),
        (["--dim", "N=four"], "a size is an integer of 0 or more"),
    ]:
        done = run("set-shape", "first.onnx", *words, "-o", "no.onnx", status=None)
        assert done.returncode != 0 and message in done.stderr, done.stderr
    assert not pathlib.Path("no.onnx").exists()


# --- merge ---------------------------------------------------------------------------------------


def test_merge() -> None:
    done = run("merge", "first.onnx", "second.onnx", "-o", "out.onnx", status=1)
    assert "both models have a value `x`, which is an input of the second" in done.stderr
    found = report("merge", "first.onnx", "second.onnx", "--prefix", "s/", "-o", "out.onnx")
    assert found["links"] == ["y=y"] and found["inputs"] == ["x", "flag", "s/x"]
    assert found["outputs"] == ["also", "s/z"]
    flag, column = np.array(False), np.arange(5, dtype=np.float32)
    y, also = results("first.onnx", x=X, flag=flag)
    (z,) = results("second.onnx", y=y, x=column)
    both = results("out.onnx", **{"x": X, "flag": flag, "s/x": column})
    np.testing.assert_array_equal(both[0], also)
    np.testing.assert_array_equal(both[1], z)
    theirs = onnx.compose.merge_models(
        onnx.compose.add_prefix(onnx.load("first.onnx"), "f/", rename_functions=False),
        onnx.compose.add_prefix(onnx.load("second.onnx"), "s/"),
        [("f/y", "s/y")],
    )
    onnx.save(theirs, "theirs.onnx")
    same = results("theirs.onnx", **{"f/x": X, "f/flag": flag, "s/x": column})
    np.testing.assert_array_equal(same[1], z)


def test_merge_keeps_what_a_name_of_a_size_means() -> None:
    text = '< ir_version: 8, opset_import: ["" : 18] > g (float[N] {0}) => (float[M] {1}) '
    one = (text + "{{ b = Concat <axis = 0> (a, a) }}").format("a", "b")
    two = (text + "{{ d = Neg(c) }}").format("c", "d").replace("float[M]", "float[N]")
    onnx.save(onnx.parser.parse_model(one), "one.onnx")
    onnx.save(onnx.parser.parse_model(two), "two.onnx")
    run("merge", "one.onnx", "two.onnx", "--link", "b=c", "-o", "out.onnx")
    assert run("check", "out.onnx", status=None).returncode == 0
    (d,) = results("out.onnx", a=X[0])
    np.testing.assert_array_equal(d, -np.concatenate([X[0], X[0]]))
    sizes = onnx.load("out.onnx").graph
    assert sizes.input[0].type.tensor_type.shape.dim[0].dim_param == "N"
    assert sizes.output[0].type.tensor_type.shape.dim[0].dim_param == "M"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--link", "z=x"], "the link would be a cycle"),
        (["--link", "yy=y"], "the first model has no output `yy`; did you mean `y`?"),
        (["--link", "y=q"], "the second model has no input `q`"),
        (["--link", "y=y", "--link", "also=y"], "the input `y` is linked twice"),
        (["--link", "also=x"], "the output `also` is FLOAT[N, 4], the input `x` takes FLOAT[N]"),
        (["--link", "y"], "write it as `--link OUTPUT=INPUT`"),
    ],
)
def test_merge_refuses(words: list[str], message: str) -> None:
    done = run("merge", "first.onnx", "second.onnx", *words, "-o", "out.onnx", status=None)
    assert done.returncode != 0 and message in done.stderr, done.stderr
    assert not pathlib.Path("out.onnx").exists()


def test_merge_of_functions_and_opsets() -> None:
    run("merge", "first.onnx", "first.onnx", "--link", "also=x", "--prefix", "b/", "-o", "o.onnx")
    assert len(onnx.load("o.onnx").functions) == 2
    flag = {"flag": np.array(True), "b/flag": np.array(True)}
    _, also = results("first.onnx", x=X, flag=np.array(True))
    again = results("first.onnx", x=also, flag=np.array(True))
    np.testing.assert_array_equal(results("o.onnx", x=X, **flag)[1], again[0])
    changed = onnx.parser.parse_model(FIRST.replace("r = Mul(v, c)", "r = Add(v, c)"))
    onnx.save(changed, "changed.onnx")
    run("merge", "first.onnx", "changed.onnx", "--link", "also=x", "--prefix", "b/", "-o", "o.onnx")
    functions = [(one.name, one.overload) for one in onnx.load("o.onnx").functions]
    assert functions == [("scaled", ""), ("unused", ""), ("scaled", "_1")]
    onnx.checker.check_model("o.onnx", full_check=True)
    onnx.save(onnx.parser.parse_model(SECOND.replace(": 18]", ": 17]")), "old.onnx")
    done = run("merge", "first.onnx", "old.onnx", "-o", "x", status=1)
    assert "the first model has version 18 of ai.onnx, the second one 17" in done.stderr


# --- strip, weights, extract ---------------------------------------------------------------------


def test_strip() -> None:
    model = onnx.shape_inference.infer_shapes(onnx.load("first.onnx"))
    model.doc_string = model.graph.doc_string = "words"
    model.graph.node[0].name = "relu"
    onnx.save(model, "full.onnx")
    found = report("strip", "full.onnx", "-o", "out.onnx")
    assert found["docs"] == 3 and found["metadata"] == 1 and found["names"] == 1
    assert found["removed_nodes"] == 1 and found["removed_functions"] == 1
    assert found["removed_initializers"] == 1 and found["types"] >= 4
    before = results("full.onnx", x=X, flag=np.array(True))
    for one, other in zip(before, results("out.onnx", x=X, flag=np.array(True)), strict=True):
        np.testing.assert_array_equal(one, other)
    found = report("strip", "full.onnx", "-o", "out.onnx", "--keep", "docs,metadata,unused,types")
    assert found["docs"] == found["metadata"] == found["removed_nodes"] == found["types"] == 0
    done = run("strip", "full.onnx", "-o", "out.onnx", "--keep", "doc", status=2)
    assert "did you mean `docs`?" in done.stderr


def test_weights() -> None:
    rows = report("weights", "first.onnx", "--statistics")
    w = np.arange(1, 13, dtype=np.float32)
    assert [row["name"] for row in rows] == ["w", "b", "lost"]
    assert rows[0]["least"] == 1 and rows[0]["greatest"] == 12
    assert rows[0]["mean"] == pytest.approx(w.mean())
    assert rows[0]["deviation"] == pytest.approx(w.std())
    assert rows[2]["zeros"] == 4 and rows[2]["reads"] == 0
    done = run("weights", "first.onnx", "w", "--extract", "w.safetensors", "--json")
    size = pathlib.Path("w.safetensors").stat().st_size
    assert json.loads(done.stdout) == {"output": "w.safetensors", "bytes": size, "tensors": 1}
    both = run("weights", "first.onnx", "--extract", "-", "--json", status=2).stderr
    assert "cannot be used for both" in both
    data = pathlib.Path("w.safetensors").read_bytes()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    assert header == {"w": {"dtype": "F32", "shape": [4, 3], "data_offsets": [0, 48]}}
    np.testing.assert_array_equal(np.frombuffer(data[8 + size :], np.float32), w)
    doubled = data[: 8 + size] + (2 * w).tobytes()
    pathlib.Path("w2.safetensors").write_bytes(doubled)
    found = report("weights", "first.onnx", "--replace", "w2.safetensors", "-o", "out.onnx")
    assert found["changed"] == ["w"]
    flag = np.array(True)
    before, after = results("first.onnx", x=X, flag=flag), results("out.onnx", x=X, flag=flag)
    np.testing.assert_allclose(after[0] - [1, 2, 3], 2 * (before[0] - [1, 2, 3]), rtol=1e-5)
    np.savez("bad.npz", w=np.ones((3, 4), np.float32))
    done = run("weights", "first.onnx", "--replace", "bad.npz", "-o", "x.onnx", status=1)
    assert "the weight `w` is FLOAT[4, 3], but its replacement is FLOAT[3, 4]" in done.stderr
    np.savez("bad.npz", ww=np.ones((3, 4), np.float32))
    done = run("weights", "first.onnx", "--replace", "bad.npz", "-o", "x.onnx", status=1)
    assert "there is no weight `ww`; did you mean `w`?" in done.stderr
    assert "needs `-o`" in run("weights", "first.onnx", "--replace", "b", status=2).stderr
    to_output = run("weights", "first.onnx", "lost", "--extract", "-").stdout
    assert to_output.startswith('{"lost"', 8) and not pathlib.Path("-").exists()


@pytest.mark.parametrize(
    "words",
    [
        ["decompile", "first.onnx", "-o", ""],
        ["weights", "first.onnx", "--extract="],
        ["run", "first.onnx", "--output", ""],
        ["view", "first.onnx", "--svg", ""],
    ],
)
def test_an_empty_path_is_refused(words: list[str]) -> None:
    """As of a variable that the shell does not have; the file was not written, without a word."""
    assert "needs a path, and is given an empty one" in run(*words, status=2).stderr


def test_extract() -> None:
    run("extract", "first.onnx", "scaled", "-o", "out.onnx")
    (r,) = results("out.onnx", v=X)
    np.testing.assert_array_equal(r, 2 * X)
    run("extract", "first.onnx", "local:unused", "--input", "v=INT32[3]", "-o", "out.onnx")
    (r,) = results("out.onnx", v=np.array([1, 2, 3], np.int32))
    np.testing.assert_array_equal(r, [-1, -2, -3])
    for words, message in [
        (["scald"], "there is no function `scald`; did you mean `scaled`?"),
        (["unused"], "the type of the input `v` is not known"),
        (["scaled", "--input", "w=FLOAT"], "the function has no input `w`; did you mean `v`?"),
        (["scaled", "--input", "v=FLOT"], "this is not a type"),
    ]:
        done = run("extract", "first.onnx", *words, "-o", "no.onnx", status=1)
        assert message in done.stderr, done.stderr


# --- Notes that name values ----------------------------------------------------------------------


def test_notes_that_name_values_are_not_left_wrong(folder: pathlib.Path) -> None:
    text = (
        '<ir_version: 10, opset_import: ["" : 21]> g (float[3] x) => (float[3] y) '
        "<float[3] w = {1, 2, 3}, float s = {0.5}> { h = Add(x, w) y = Relu(h) }"
    )
    plain = onnx.parser.parse_model(text)
    onnx.save(plain, folder / "plain.onnx")
    quantized, trained = onnx.parser.parse_model(text), onnx.parser.parse_model(text)
    note = quantized.graph.quantization_annotation.add(tensor_name="h")
    note.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="s")
    trained.training_info.add().update_binding.add(key="w", value="w2")
    for model in (quantized, trained):
        onnx.save(model, "m.onnx")
        link = ("--link", "y=x", "--prefix", "p_", "-o", "o.onnx")
        for words in (
            ("rename", "m.onnx", "w=v", "-o", "o.onnx"),
            ("cut", "m.onnx", "--to", "h", "-o", "o.onnx"),
            ("cut", "m.onnx", "--from", "h", "-o", "o.onnx"),
            ("merge", "plain.onnx", "m.onnx", *link),
        ):
            assert "has notes of quantization" in run(*words, status=1).stderr
        run("merge", "m.onnx", "plain.onnx", *link)
        merged = onnx.load("o.onnx")
        assert merged.graph.quantization_annotation == model.graph.quantization_annotation
        assert merged.training_info == model.training_info
        run("strip", "m.onnx", "--keep", "docs,metadata,types,names,unused", "-o", "s.onnx")
        run("cut", "s.onnx", "--to", "h", "-o", "o.onnx")


# --- testcase ------------------------------------------------------------------------------------


def test_testcase(folder: pathlib.Path) -> None:
    pathlib.Path("s.py").write_text(
        "from sardonyx import FLOAT, opset18 as op, script\n@script()\n"
        'def s(x: FLOAT["N", 2], y: FLOAT[2]):\n    return op.Relu(x) + y, op.SplitToSequence(x)\n'
    )
    done = run("testcase", "s.py", "y=[1.0, 2.0]", "--dim", "N=3", "--seed", "7", "-o", "case")
    assert done.stdout == "case: 2 inputs, 2 outputs\n"
    model = onnx.load("case/model.onnx")
    onnx.checker.check_model(model, full_check=True)
    inputs = {}
    for i, value in enumerate(model.graph.input):
        tensor = TensorProto.FromString(
            (folder / f"case/test_data_set_0/input_{i}.pb").read_bytes()
        )
        assert tensor.name == value.name
        inputs[value.name] = numpy_helper.to_array(tensor)
    assert inputs["x"].shape == (3, 2)
    y, parts = onnx.reference.ReferenceEvaluator(model).run(None, inputs)
    data = (folder / "case/test_data_set_0/output_0.pb").read_bytes()
    np.testing.assert_allclose(numpy_helper.to_array(TensorProto.FromString(data)), y, rtol=1e-6)
    data = (folder / "case/test_data_set_0/output_1.pb").read_bytes()
    listed = numpy_helper.to_list(onnx.SequenceProto.FromString(data))
    for one, other in zip(listed, parts, strict=True):
        np.testing.assert_array_equal(one, other)
    (folder / "case/mine.txt").write_text("words")
    assert "`mine.txt`" in run("testcase", "s.py", "-o", "case", "--dim", "N=3", status=1).stderr


def test_a_testcase_that_cannot_be_written_changes_nothing(folder: pathlib.Path) -> None:
    (folder / "s.py").write_text(
        "from sardonyx import FLOAT, script, opset20 as op\n"
        "@script()\ndef f(x: FLOAT[2]) -> FLOAT[2]:\n    return op.Abs(x)\n"
    )
    (folder / "new/model.onnx").mkdir(parents=True)
    (folder / "old/model.onnx").mkdir(parents=True)
    (folder / "old/test_data_set_0").mkdir()
    (folder / "old/test_data_set_0/input_3.pb").write_bytes(b"a")
    for name, left in (("new", ["model.onnx"]), ("old", ["model.onnx", "test_data_set_0"])):
        run("testcase", "s.py", "x=[1.0, -2.0]", "-o", name, status=1)
        assert sorted(one.name for one in (folder / name).iterdir()) == left
    assert [one.name for one in (folder / "old/test_data_set_0").iterdir()] == ["input_3.pb"]


def test_testcase_of_maps(folder: pathlib.Path) -> None:
    """Sequences of maps, as classifiers give them, and of sequences."""
    for labels in ({"classlabels_strings": ["cat", "dög"]}, {"classlabels_int64s": [7, -3]}):
        entry = helper.make_map_type_proto(
            TensorProto.STRING if "classlabels_strings" in labels else TensorProto.INT64,
            helper.make_tensor_type_proto(TensorProto.FLOAT, []),
        )
        m = helper.make_value_info("m", helper.make_sequence_type_proto(entry))
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 2])
        nodes = [helper.make_node("ZipMap", ["x"], ["m"], domain="ai.onnx.ml", **labels)]
        imports = [helper.make_opsetid("", 18), helper.make_opsetid("ai.onnx.ml", 3)]
        graph = helper.make_graph(nodes, "g", [x], [m])
        model = helper.make_model(graph, opset_imports=imports, ir_version=8)
        pathlib.Path("m.onnx").write_bytes(model.SerializeToString())
        run("testcase", "m.onnx", "x=[[0.25, 0.75], [1.0, 0.0]]", "-o", "case")
        data = (folder / "case/test_data_set_0/output_0.pb").read_bytes()
        rows = numpy_helper.to_list(onnx.SequenceProto.FromString(data))
        (names,) = labels.values()
        keys = [name.encode() if isinstance(name, str) else name for name in names]
        assert [{key: float(one) for key, one in row.items()} for row in rows] == [
            dict(zip(keys, (0.25, 0.75), strict=True)),
            dict(zip(keys, (1.0, 0.0), strict=True)),
        ]


# --- diff ----------------------------------------------------------------------------------------


def changes(before: str, after: str, *words: str) -> list[tuple[str, str, str, str]]:
    pathlib.Path("a.onnx").write_bytes(onnx.parser.parse_model(before).SerializeToString())
    pathlib.Path("b.onnx").write_bytes(onnx.parser.parse_model(after).SerializeToString())
    done = run("diff", "a.onnx", "b.onnx", "--json", *words, status=None)
    found = json.loads(done.stdout)
    assert done.returncode == (0 if found["same"] else 1)
    text = run("diff", "a.onnx", "b.onnx", *words, status=done.returncode).stdout
    assert (text == "") == found["same"]
    run("diff", "a.onnx", "b.onnx", "--html", "d.html", *words, status=done.returncode)
    assert "<script" not in pathlib.Path("d.html").read_text()
    return [tuple(one[k] for k in ("kind", "what", "before", "after")) for one in found["changes"]]


def test_diff_of_equal_models() -> None:
    assert changes(FIRST, FIRST) == []
    renamed = FIRST.replace("twice", "double").replace("chosen", "picked").replace("p)", "pp)")
    renamed = renamed.replace("{ p =", "{ pp =")
    assert changes(FIRST, renamed) == []
    assert {one[0] for one in changes(FIRST, renamed, "--names")} == {"name"}
    # Nodes may stand in another order, and a default may be said.
    moved = FIRST.replace("    dead = Exp(x)\n", "").replace(
        "    h = Relu", "    dead = Exp(x)\n    h = Relu"
    )
    assert changes(FIRST, moved) == []
    softmax = FIRST.replace("Abs(chosen)", "Softmax(chosen)")
    assert changes(softmax, softmax.replace("Softmax(", "Softmax <axis = -1> (")) == []


def test_diff_of_sparse_initializers() -> None:
    def model(value: float) -> bytes:
        indices = helper.make_tensor("", TensorProto.INT64, [1], [1])
        sparse = helper.make_sparse_tensor(helper.make_tensor("w", 1, [1], [value]), indices, [2])
        body = helper.make_graph([helper.make_node("Identity", ["w"], ["a"])], "b", [],
                                 [helper.make_tensor_value_info("a", 1, [2])])  # fmt: skip
        c = helper.make_tensor_value_info("c", TensorProto.BOOL, [])
        y = helper.make_tensor_value_info("y", 1, [2])
        nodes = [helper.make_node("If", ["c"], ["y"], then_branch=body, else_branch=body)]
        graph = helper.make_graph(nodes, "g", [c], [y], sparse_initializer=[sparse])
        imports = [helper.make_opsetid("", 18)]
        made = helper.make_model(graph, opset_imports=imports, ir_version=8)
        return made.SerializeToString()

    pathlib.Path("a.onnx").write_bytes(model(1))
    pathlib.Path("b.onnx").write_bytes(model(2))
    assert run("diff", "a.onnx", "a.onnx").stdout == ""
    found = json.loads(run("diff", "a.onnx", "b.onnx", "--json", status=1).stdout)
    assert {(one["kind"], one["what"]) for one in found["changes"]} == {("weight", "`w`")}


def sparse_model(values: Any, indices: Any, dims: list[int], is_default: bool = False) -> Any:
    """`y` is the sparse initializer `w`, and so is `z` where `c` is true."""
    tensor = numpy_helper.from_array(np.asarray(values), "w")
    places = numpy_helper.from_array(np.array(indices, np.int64))
    kind = tensor.data_type
    branches = [
        helper.make_graph([helper.make_node("Identity", [name], [made])], made, [],
                          [helper.make_tensor_value_info(made, kind, dims)])
        for name, made in (("w", "yes"), ("x", "no"))
    ]  # fmt: skip
    nodes = [
        helper.make_node("Identity", ["w"], ["y"]),
        helper.make_node("If", ["c"], ["z"], then_branch=branches[0], else_branch=branches[1]),
    ]
    inputs = [("c", TensorProto.BOOL, []), ("x", kind, dims), ("w", kind, dims)]
    graph = helper.make_graph(
        nodes, "g",
        [helper.make_tensor_value_info(*one) for one in inputs[: 3 if is_default else 2]],
        [helper.make_tensor_value_info(name, kind, dims) for name in "yz"],
        sparse_initializer=[helper.make_sparse_tensor(tensor, places, dims)],
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


@pytest.mark.parametrize(
    ("values", "indices"),
    [
        (np.array([5, 7], np.float32), [1, 5]),
        (np.array([5, 7], np.float32), [[0, 1], [1, 2]]),
        (np.array([5, 7, -1], np.int64), [0, 3, 4]),
        (np.array([True]), [[1, 1]]),
        (np.array([0.5], np.float16), [2]),
        (np.array([], np.float64), []),
    ],
)
@pytest.mark.parametrize("is_default", [False, True])
def test_sparse_initializers_are_dense(values: Any, indices: Any, is_default: bool) -> None:
    model = sparse_model(values, indices, [2, 3], is_default)
    onnx.checker.check_model(model)
    onnx.save(model, "sparse.onnx")
    x = np.ones((2, 3), values.dtype)
    np.save("x.npy", x)
    session = onnxruntime.InferenceSession("sparse.onnx")
    wanted = session.run(None, {"c": np.array(True), "x": x})
    run("run", "sparse.onnx", "c=True", "x=x.npy", "-o", "results.npz")
    results = np.load("results.npz")
    for name, expected in zip("yz", wanted, strict=True):
        assert results[name].dtype == expected.dtype
        np.testing.assert_array_equal(results[name], expected)
    if is_default:
        run("run", "sparse.onnx", "c=True", "x=x.npy", "w=x.npy", "-o", "results.npz")
        np.testing.assert_array_equal(np.load("results.npz")["z"], x)
    assert run("check", "sparse.onnx").stderr.startswith("no errors or warnings")
    for words in (["strip"], ["convert"]):
        run(*words, "sparse.onnx", "-o", "again.onnx")
        assert run("diff", "sparse.onnx", "again.onnx").stdout == ""
        assert onnx.load("again.onnx").graph.sparse_initializer == model.graph.sparse_initializer
    # A script has the dense tensor; all of the file is in it with `--exact`.
    run("decompile", "sparse.onnx", "--exact", "-o", "sparse.py")
    assert run("build", "sparse.py", "-o", "again.onnx").returncode == 0
    assert onnx.load("again.onnx") == model
    run("decompile", "sparse.onnx", "-o", "sparse.py")
    run("run", "sparse.py", "c=True", "x=x.npy", "-o", "results.npz")
    for expected, got in zip(wanted, np.load("results.npz").values(), strict=True):
        np.testing.assert_array_equal(got, expected)
    row = report("weights", "sparse.onnx", "--statistics")[0]
    assert (row["name"], row["elements"], row["sparse"]) == ("w", 6, True)
    assert row["bytes"] == values.nbytes + 8 * np.size(indices)
    if values.dtype != bool:
        assert row["least"] == wanted[0].min() and row["zeros"] == (wanted[0] == 0).sum()
    run("weights", "sparse.onnx", "--extract", "w.safetensors")
    same = report("weights", "sparse.onnx", "--replace", "w.safetensors", "-o", "again.onnx")
    assert same["changed"] == [] and onnx.load("again.onnx") == model
    np.savez("w.npz", w=x)
    report("weights", "sparse.onnx", "--replace", "w.npz", "-o", "again.onnx")
    (dense,) = onnx.load("again.onnx").graph.initializer
    np.testing.assert_array_equal(numpy_helper.to_array(dense), x)


def test_sizes_of_sparse_initializers_are_bounded() -> None:
    model = sparse_model(np.array([1], np.float32), [1], [1 << 20, 1 << 20])
    onnx.save(model, "huge.onnx")
    done = run("run", "huge.onnx", "c=True", "x=[[1]]", status=1)
    assert "initializer `w`: the dense form" in done.stderr and "the limit" in done.stderr
    # One that nobody reads is not made.
    del model.graph.node[:], model.graph.output[:], model.graph.input[1:]
    model.graph.node.append(helper.make_node("Not", ["c"], ["y"]))
    model.graph.output.append(helper.make_tensor_value_info("y", TensorProto.BOOL, []))
    onnx.save(model, "huge.onnx")
    assert "False" in run("run", "huge.onnx", "c=True").stdout


def test_diff_of_parts() -> None:
    assert changes(FIRST, FIRST.replace(": 18, ", ": 19, ")) == [
        ("header", "opset ai.onnx", "18", "19")
    ]
    assert changes(FIRST, FIRST.replace("cat,dog", "cat")) == [
        ("header", "metadata classes", "cat,dog", "cat")
    ]
    (one,) = changes(FIRST, FIRST.replace("Abs(chosen)", "Sqrt(chosen)"))
    assert one[0] == "operator" and "Abs(" in one[2] and "Sqrt(" in one[3]
    (one,) = changes(FIRST, FIRST.replace("float[N,3] y, ", "float[K,3] y, "))
    assert one == ("interface", "output", "y: FLOAT[N, 3]", "y: FLOAT[K, 3]")
    (one,) = changes(FIRST, FIRST.replace("k: float = 2.0", "k: float = 3.0"))
    assert one[0] == "attribute" and one[2:] == ("2.0", "3.0")
    (one,) = changes(FIRST, FIRST.replace("q = Neg(h)", "q = Exp(h)"))
    assert one[0] == "operator" and one[1].startswith("the node of `q`")
    (one,) = changes(FIRST, FIRST.replace("r = Neg(v)", "r = Abs(v)"))
    assert one[0] == "operator"
    (one,) = changes(FIRST, FIRST.replace("Add(m, b)", "Sub(m, b)"))
    assert one[0] == "operator"
    (one,) = changes(FIRST, FIRST.replace("Add(twice, h)", "Add(twice, twice)"))
    assert one[0] == "edge" and one[1].startswith("input 1 of the node of `p`")


def test_diff_of_weights() -> None:
    (one,) = changes(FIRST, FIRST.replace("10,11,12}", "10,11,12.5}"))
    assert one[:3] == ("weight", "`w`", "FLOAT[4, 3]")
    assert one[3] == "1 of 12 elements differ, by at most 0.5 (0.042 of the largest)"
    (one,) = changes(FIRST, FIRST.replace("b = {1,2,3}", "b = {1,2,4}"))
    assert one == ("weight", "`b`", "FLOAT[3] {1, 2, 3}", "FLOAT[3] {1, 2, 4}")


def test_diff_of_added_and_removed_nodes() -> None:
    longer = FIRST.replace("also = Abs(chosen)", "e = Exp(chosen) also = Abs(e)")
    found = changes(FIRST, longer)
    assert [one[0] for one in found] == ["added", "edge"]
    assert [one[0] for one in changes(longer, FIRST)] == ["removed", "edge"]
    assert "+ e = Exp(chosen)" in run("diff", "b.onnx", "a.onnx", status=1).stdout
    assert changes(FIRST, FIRST.replace(") => (float[N,3] y", ", float[2] more) => (float[N,3] y"))[
        0
    ] == ("interface", "input", "", "more: FLOAT[2]")


def test_diff_of_scripts_and_what_cannot_be_read() -> None:
    script = (
        "from sardonyx import FLOAT, opset18 as op, script\n@script()\n"
        'def s(x: FLOAT["N"]) -> FLOAT["N"]:\n    return op.Relu(x)\n'
    )
    pathlib.Path("s.py").write_text(script)
    run("build", "s.py", "-o", "s.onnx")
    assert run("diff", "s.py", "s.onnx").stdout == ""
    pathlib.Path("t.py").write_text(script.replace("Relu", "Mish"))
    assert "Mish" in run("diff", "s.py", "t.py", status=1).stdout
    data = pathlib.Path("s.onnx").read_bytes()
    run("diff", "-", "s.py", input=data, text=False)
    assert "No such file" in run("diff", "none.onnx", "s.onnx", status=2).stderr
    pathlib.Path("bad.onnx").write_bytes(b"words")
    assert "`bad.onnx`" in run("diff", "s.onnx", "bad.onnx", status=2).stderr
    run("diff", "s.onnx", ".", status=2)
    pathlib.Path("w.py").write_text(script.replace("Relu", "Rellu"))
    assert "unknown-operator" in run("diff", "s.py", "w.py", status=2).stderr
    assert "holds one model" in run("diff", "-", "-", status=2).stderr


def test_git_shows_models(folder: pathlib.Path) -> None:
    """The settings of docs/onnx.md."""
    page = (ROOT / "docs/onnx.md").read_text()
    assert "*.onnx diff=onnx" in page and "sardonyx info --nodes" in page

    def git(*words: str) -> str:
        done = subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false",
             *words],
            capture_output=True, text=True, timeout=60, check=True, cwd=folder,
            env={**os.environ, "PATH": f"{PROGRAM.parent}:{os.environ['PATH']}",
                 "GIT_CONFIG_GLOBAL": "/dev/null"},
        )  # fmt: skip
        return done.stdout

    git("init", "-q")
    (folder / ".gitattributes").write_text("*.onnx diff=onnx\n")
    git("config", "diff.onnx.textconv", "sardonyx info --nodes")
    git("config", "difftool.sardonyx.cmd", 'sardonyx diff "$LOCAL" "$REMOTE"')
    git("add", ".")
    git("commit", "-qm", "first")
    onnx.save(onnx.parser.parse_model(FIRST.replace("Abs(", "Sqrt(")), "first.onnx")
    assert "+  also (Sqrt)" in git("diff", "first.onnx")
    assert "Sqrt(chosen)" in git("difftool", "--no-prompt", "-t", "sardonyx", "first.onnx")


# --- Files and pipes -----------------------------------------------------------------------------


def test_pipes() -> None:
    cut = run("cut", "first.onnx", "--to", "m", "-o", "-", text=False).stdout
    named = run("rename", "-", "m=out", "-o", "-", input=cut, text=False).stdout
    run("strip", "-", "-o", "out.onnx", input=named, text=False)
    assert [value.name for value in onnx.load("out.onnx").graph.output] == ["out"]
    done = run("strip", "-", "-o", "-", "--json", status=2, input=cut, text=False)
    assert b"standard output cannot be used for both the model and `--json`" in done.stderr
    done = run("merge", "-", "-", "-o", "x.onnx", status=2, input=cut, text=False)
    assert b"standard input holds one model" in done.stderr
    assert run("strip", "-", "-o", "x.onnx", status=1, input=b"", text=False).stderr


def test_in_place_and_external_data(folder: pathlib.Path) -> None:
    external_copy("first.onnx", "e.onnx")
    data = (folder / "e.onnx.data").read_bytes()
    flag = np.array(True)
    before = results("e.onnx", x=X, flag=flag)
    done = run("strip", "e.onnx", "-o", "e.onnx.data", status=1)
    assert "`e.onnx.data` holds weights of the model that is read" in done.stderr
    done = run("weights", "e.onnx", "--extract", "e.onnx.data", status=1)
    assert "holds weights" in done.stderr
    assert (folder / "e.onnx.data").read_bytes() == data
    run("strip", "e.onnx", "-o", "e.onnx")  # the model itself, whose weights stay where they were
    for one, other in zip(before, results("e.onnx", x=X, flag=flag), strict=True):
        np.testing.assert_array_equal(one, other)
    model = onnx.load("first.onnx")
    model.graph.initializer.append(numpy_helper.from_array(np.ones(1000, np.float32), "big"))
    model.graph.node.append(helper.make_node("Identity", ["big"], ["out"]))
    model.graph.output.append(helper.make_tensor_value_info("out", 1, [1000]))
    onnx.save(model, "big.onnx", save_as_external_data=True, location="big.bin")
    run("rename", "big.onnx", "x=pixels", "-o", "named.onnx")
    tensors = onnx.load("named.onnx", load_external_data=False).graph.initializer
    places = {one.name: one.data_location for one in tensors}
    assert places["big"] == TensorProto.EXTERNAL and places["w"] == TensorProto.DEFAULT
    results("named.onnx", pixels=X, flag=flag)
    done = run("info", "-", input=(folder / "big.onnx").read_bytes(), text=False, status=1)
    assert b"external data" in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["cut", "{}", "--to", "y", "-o", "out.onnx"], ["info", "{}"], ["weights", "{}"],
        ["strip", "{}", "-o", "out.onnx"], ["merge", "first.onnx", "{}", "-o", "out.onnx"],
        ["extract", "{}", "f", "-o", "out.onnx"], ["rename", "{}", "x=y", "-o", "out.onnx"],
        ["set-shape", "{}", "x=[1]", "-o", "out.onnx"], ["diff", "first.onnx", "{}"],
    ],
    ids=lambda words: words[0],
)  # fmt: skip
def test_bad_files(folder: pathlib.Path, words: list[str]) -> None:
    (folder / "broken.onnx").write_bytes((folder / "first.onnx").read_bytes()[:-7])
    (folder / "empty.onnx").write_bytes(b"")
    (folder / "folder.onnx").mkdir()
    (folder / "function.onnx").write_bytes(
        onnx.ModelProto(ir_version=8, functions=onnx.load("first.onnx").functions)
        .SerializeToString()
    )  # fmt: skip
    for name in ("none.onnx", "broken.onnx", "empty.onnx", "folder.onnx", "function.onnx"):
        done = run(*[word.format(name) for word in words], status=None)
        if name != "function.onnx" or words[0] not in ("extract", "diff"):
            assert done.returncode != 0 and done.stderr.startswith("error: "), (name, done)
        assert done.stdout == "" or name == "function.onnx"
    assert not (folder / "out.onnx").exists()


def test_unwritable_places(folder: pathlib.Path) -> None:
    for place in ("nowhere/out.onnx", "."):
        done = run("strip", "first.onnx", "-o", place, status=1)
        assert done.stderr.startswith("error: ")
    assert sorted(path.name for path in folder.iterdir()) == ["first.onnx", "second.onnx"]


def test_names_cannot_move_the_cursor() -> None:
    model = onnx.load("first.onnx")
    model.graph.node[0].name = "\x1b[2Jrelu\n+ fake"
    model.doc_string = "\x1b[31m"
    model.graph.output.append(helper.make_tensor_value_info("\x1b]0;t\x07<b>", 1, [1]))
    model.graph.node.append(helper.make_node("Identity", ["x"], ["\x1b]0;t\x07<b>"]))
    onnx.save(model, "evil.onnx")
    for words in (
        ["info", "evil.onnx", "--nodes"], ["diff", "evil.onnx", "first.onnx", "--names"],
        ["diff", "first.onnx", "evil.onnx", "--html", "-"],
        ["cut", "evil.onnx", "--to", "y", "--to", "\x1b]0;t\x07<b>", "-o", "out.onnx"],
    ):  # fmt: skip
        text = run(*words, status=None).stdout
        assert "\x1b" not in text and "\n+ fake" not in text
