"""Model.info, Model.diff, and `build --like`: what is left of a model after its script."""

from __future__ import annotations

import pathlib
import subprocess
import time

import onnx
import onnx.parser
import pytest
import sardonyx

from places import PROGRAM

TEXT = """< ir_version: 9, opset_import: ["" : 18, "local" : 2], producer_name: "pytest",
  producer_version: "3", model_version: 7, doc_string: "words", metadata_props: ["a" : "b"] >
net (float[N,4] x, bool flag) => (float[N,4] y_1, float[N,4] also)
< float[4] w = {1,2,3,4}, float[N,4] h_1,
  float[4,4] big = {1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16} >
{
    h_1 = Relu(x)
    twice = local.scaled <k: float = 2.0> (h_1)
    also = Abs(x)
    m = MatMul(twice, big)
    y_1 = If (flag) <
        then_branch: graph = yes () => (p_1) { p_1 = Add(m, w) },
        else_branch: graph = no () => (q) { q = Neg(m) }
    >
}
< domain: "local", opset_import: ["" : 18] >
scaled <k> (v) => (r) { c = Constant <value_float: float = @k> () r = Mul(v, c) }
"""


def run(*words: object, folder: pathlib.Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [PROGRAM, *map(str, words)], cwd=folder, check=True, capture_output=True, text=True
    )


@pytest.fixture(name="model", autouse=True)
def make_model(tmp_path: pathlib.Path) -> onnx.ModelProto:
    made = onnx.parser.parse_model(TEXT)
    data = made.SerializeToString()
    for name in (b"y", b"h", b"p"):  # which onnx's text form cannot say
        data = data.replace(name + b"_1", name + b".1")
    made = onnx.ModelProto.FromString(data)
    for i, node in enumerate(made.graph.node):
        node.name, node.doc_string = f"node/{i}", f"the {i}th"
        node.metadata_props.add(key="place", value=str(i))
    made.ir_version = 10
    onnx.checker.check_model(made)
    onnx.save(made, tmp_path / "model.onnx")
    return made


def test_a_script_and_its_model_give_the_bytes(tmp_path: pathlib.Path) -> None:
    """Names, order, documentation, metadata, stated types and imports come back."""
    run("decompile", "model.onnx", "-o", "model.py", folder=tmp_path)
    run("build", "model.py", "--like", "model.onnx", "-o", "out.onnx", folder=tmp_path)
    saved = sardonyx.load(tmp_path / "model.onnx").to_bytes()
    assert (tmp_path / "out.onnx").read_bytes() == saved


def test_an_edited_script_keeps_the_names(tmp_path: pathlib.Path) -> None:
    run("decompile", "model.onnx", "-o", "model.py", folder=tmp_path)
    text = (tmp_path / "model.py").read_text()
    assert "op.Abs(x)" in text
    (tmp_path / "model.py").write_text(text.replace("op.Abs(x)", "op.Exp(op.Abs(x))"))
    run("build", "model.py", "--like", "model.onnx", "-o", "out.onnx", folder=tmp_path)
    built = onnx.load(tmp_path / "out.onnx")
    onnx.checker.check_model(built, full_check=True)
    names = {node.name: node for node in built.graph.node}
    assert names["node/0"].output == ["h.1"] and names["node/0"].doc_string == "the 0th"
    assert names["node/3"].metadata_props[0].value == "3"
    assert [one.name for one in built.graph.input] == ["x", "flag"]
    assert built.graph.output[0].name == "y.1" and built.producer_name == "pytest"
    assert (built.doc_string, built.model_version) == ("words", 7)
    changes = sardonyx.load(tmp_path / "model.onnx").diff(sardonyx.load(tmp_path / "out.onnx"))
    assert {one.kind for one in changes} <= {"added", "edge", "operator", "interface"}
    added = [one.after for one in changes if one.kind == "added"]
    assert len(added) == 1 and ("Exp(" in added[0] or "Abs(" in added[0])


def test_info_and_diff_in_python(model: onnx.ModelProto) -> None:
    ours = sardonyx.Model(model)
    found = ours.info({"N": 3})
    assert found["parameters"] == 20 and found["operations"] == 12 + 12 + 12 + 2 * 4 * 12 + 12
    with pytest.raises(sardonyx.ModelError, match="no value has a dimension `M`; there are `N`"):
        ours.info({"M": 3})
    assert ours.diff(sardonyx.Model(model)) == []
    other = ours.copy()
    other.graph["h.1"].name = "hidden"
    assert ours.diff(other) == []
    assert [one.kind for one in ours.diff(other, names=True)] == ["name"]
    other.graph["also"].producer.op_type = "Sqrt"
    (change,) = ours.diff(other)
    assert change.kind == "operator" and "Sqrt(x)" in change.after


def branches(count: int) -> sardonyx.Model:
    ends = [
        onnx.helper.make_tensor_value_info(name, kind, dims)
        for name, kind, dims in (("x", 1, [3]), ("c", 9, []), ("t", 1, [3]), ("y", 1, [3]))
    ]
    bodies = [
        onnx.helper.make_graph([onnx.helper.make_node(op, ["x"], ["t"])], op, [], [ends[2]])
        for op in ("Neg", "Abs")
    ]
    names = [f"w{i}" for i in range(count)]
    nodes = [
        onnx.helper.make_node("If", ["c"], [name], then_branch=bodies[0], else_branch=bodies[1])
        for name in names
    ]
    nodes.append(onnx.helper.make_node("Sum", names, ["y"]))
    graph = onnx.helper.make_graph(nodes, "net", ends[:2], ends[3:])
    imports = [onnx.helper.make_opsetid("", 20)]
    return sardonyx.load(onnx.helper.make_model(graph, opset_imports=imports, ir_version=10))


def test_models_with_many_subgraphs_are_compared_in_proportion() -> None:
    """Each subgraph was matched by a walk over all nodes of the models: 25 times as long."""
    seconds = []
    for count in (1000, 5000):
        first, second = branches(count), branches(count)
        begin = time.process_time()
        assert first.diff(second) == []
        seconds.append(time.process_time() - begin)
    assert seconds[1] < 14 * seconds[0]
