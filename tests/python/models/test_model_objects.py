"""Models as objects: walked, changed, typed, verified, copied and saved, and what is refused.

The second opinions are the checker of onnx, its reference evaluator and Python's own rules for
containers. The page docs/models.md runs here, too.
"""

from __future__ import annotations

import collections.abc
import contextlib
import copy
import gc
import io
import json
import pathlib
import pickle
import random
import subprocess
import sys
from collections.abc import Iterable
from typing import Any

import numpy as np
import onnx
import onnx.checker
import onnx.parser
import onnx.reference
import pytest
import sardonyx
from sardonyx.onnx_types import FLOAT, INT64

from places import ROOT

TEXT = """
< ir_version: 10, opset_import: ["" : 20, "local" : 1], producer_name: "pytest" >
mlp (float[N,4] x, float[4,4] w, bool flag) => (float[N,4] y)
< float[4] half = {0.5, 1, 2, 4}, int64[2] shape = {0, -1} >
{
    h = MatMul(x, w)
    h_1 = local.scaled <k: float = 2.0> (h)
    flat = Reshape(h_1, shape)
    s = Softmax <axis: int = -1> (flat)
    y = If (flag) <
        then_branch: graph = g () => (a) { a = Mul(s, half) },
        else_branch: graph = g () => (b) { b = Elu <alpha = 0.1> (s) }
    >
}
< domain: "local", opset_import: ["" : 20] >
scaled <k> (v) => (r) {
    c = Constant <value_float: float = @k> ()
    r = Mul(v, c)
}
"""
FEED = {
    "x": np.arange(8, dtype=np.float32).reshape(2, 4) / 8,
    "w": np.eye(4, dtype=np.float32),
    "flag": np.array(True),
}


def proto(text: str = TEXT) -> onnx.ModelProto:
    return onnx.parser.parse_model(text)


@pytest.fixture
def model() -> sardonyx.Model:
    return sardonyx.load(proto())


def refused(match: str, error: type[Exception] = sardonyx.ModelError) -> Any:
    return pytest.raises(error, match=match)


# --- Walking -------------------------------------------------------------------------------------


def test_what_a_model_says(model: sardonyx.Model) -> None:
    assert model.graph.name == "mlp"
    assert dict(model.opset_imports) == {"": 20, "local": 1}
    assert (model.producer_name, model.ir_version, dict(model.metadata)) == ("pytest", 10, {})
    assert [value.name for value in model.graph.inputs] == ["x", "w", "flag"]
    assert [node.op_type for node in model.graph.nodes] == [
        "MatMul", "scaled", "Reshape", "Softmax", "If",
    ]  # fmt: skip
    x, w, flag = model.graph.inputs
    assert (x.type, x.shape, x.dtype) == ("FLOAT[N, 4]", ("N", 4), np.dtype(np.float32))
    assert (flag.type, flag.shape) == ("BOOL", ())
    matmul = model.graph.nodes[0]
    assert matmul.inputs == (x, w)
    assert matmul.outputs[0].producer is matmul
    assert x.producer is None
    assert w.uses == ((matmul, 1),)
    assert x.is_input and not x.is_initializer and not x.is_output
    assert model.graph["y"].is_output
    (function,) = model.functions
    assert (function.domain, function.name, function.attributes) == ("local", "scaled", ("k",))
    constant = function.body.nodes[0]
    assert constant.attributes["value_float"] == sardonyx.AttributeReference("k", "FLOAT")
    with pytest.raises(KeyError):
        model.graph["nothing"]


def test_subgraphs(model: sardonyx.Model) -> None:
    choice = model.graph.nodes[-1]
    assert list(choice.subgraphs) == ["then_branch", "else_branch"]
    branch = choice.subgraphs["else_branch"]
    assert branch.parent is model.graph
    (elu,) = branch
    assert elu.attributes["alpha"] == np.float32(0.1)
    assert elu.inputs[0] is model.graph["s"]
    assert [node.op_type for node in model.graph.walk()][-2:] == ["Mul", "Elu"]


def test_nodes_are_a_sequence(model: sardonyx.Model) -> None:
    nodes = model.graph.nodes
    assert len(nodes) == len(model.graph) == 5
    assert [*reversed(nodes)] == [*nodes][::-1]
    assert nodes[1:3] == [nodes[1], nodes[2]]
    assert nodes[-1] in nodes
    assert model.functions[0].body.nodes[0] not in nodes
    with pytest.raises(IndexError):
        nodes[5]


def test_an_object_is_one_object_and_keeps_the_model_alive() -> None:
    value = sardonyx.load(proto()).graph["s"]
    gc.collect()
    node = value.producer
    assert node is not None
    assert node is value.producer
    assert len({node, value.producer}) == 1
    assert node.op_type == "Softmax"
    assert value.graph.nodes[-1].subgraphs["then_branch"].nodes[0].inputs[1].const_value is not None


def test_weights_are_views(tmp_path: pathlib.Path) -> None:
    weights = np.arange(1 << 20, dtype=np.float32)
    made = onnx.helper.make_model(
        onnx.helper.make_graph(
            [onnx.helper.make_node("Identity", ["w"], ["y"])], "g", [],
            [onnx.helper.make_tensor_value_info("y", 1, [1 << 20])],
            [onnx.numpy_helper.from_array(weights, "w")],
        ),
        opset_imports=[onnx.helper.make_opsetid("", 20)], ir_version=10,
    )  # fmt: skip
    onnx.save(made, tmp_path / "m.onnx")
    value = sardonyx.load(tmp_path / "m.onnx").graph.initializers[0]
    first, second = value.const_value, value.const_value
    assert first is not None and second is not None
    assert np.shares_memory(first, second)
    assert not first.flags.writeable
    np.testing.assert_array_equal(first, weights)


# --- Changing ------------------------------------------------------------------------------------


def run(model: sardonyx.Model, **feed: Any) -> Any:
    """The first result, by us and by the reference of onnx from the model's bytes."""
    given = {**FEED, **feed}
    onnx.checker.check_model(model.to_proto(), full_check=True)
    (ours,) = model.run({value.name: given[value.name] for value in model.graph.inputs})
    theirs = onnx.reference.ReferenceEvaluator(model.to_proto()).run(
        None, {value.name: given[value.name] for value in model.graph.inputs}
    )
    np.testing.assert_allclose(ours, theirs[0], rtol=1e-6)
    return ours


def test_an_edit_is_what_the_next_run_runs(model: sardonyx.Model) -> None:
    before = run(model)
    graph = model.graph
    softmax = graph["s"].producer
    assert softmax is not None
    sigmoid = graph.insert_after(softmax, "Sigmoid", [graph["flat"]], outputs=["s2"])
    graph["s"].replace_all_uses(sigmoid.outputs[0])
    graph.remove(softmax)
    assert [str(finding) for finding in model.infer()] == []
    assert model.verify() == []
    after = run(model)
    assert not np.allclose(before, after)
    softmax_again = graph.insert_before(
        graph.nodes[-1], "Softmax", [graph["flat"]], {"axis": -1}, outputs="s"
    )
    sigmoid.outputs[0].replace_all_uses(softmax_again.outputs[0])
    graph.remove(sigmoid)
    np.testing.assert_array_equal(run(model), before)


def test_nodes_may_go_while_they_are_walked() -> None:
    text = '<ir_version: 10, opset_import: ["" : 20]> g (float[2] x) => (float[2] y) {{ {} }}'
    lines = ["v0 = Neg(x)"] + [f"v{i} = Neg(v{i - 1})" for i in range(1, 50)] + ["y = Abs(v49)"]
    model = sardonyx.load(proto(text.format("\n".join(lines))))
    seen = 0
    for node in model.graph.nodes:
        seen += 1
        if node.op_type == "Neg":
            value = node.inputs[0]
            assert value is not None
            node.outputs[0].replace_all_uses(value)
            model.graph.remove(node)
    assert seen == 51
    assert len(model.graph) == 1
    (y,) = model.run({"x": np.array([-1, 2], np.float32)})
    np.testing.assert_array_equal(y, [1, 2])
    # The next ones go with it; what is put behind the one where it stands comes next.
    model = sardonyx.load(proto(text.format("\n".join(lines))))
    model.graph.outputs = [model.graph["v0"]]
    names = []
    for node in model.graph.nodes:
        names.append(node.outputs[0].name)
        if node.outputs[0].name == "v0":
            model.graph.remove([*model.graph.nodes][1:])
            model.graph.append("Exp", [node.outputs[0]], outputs="last")
    assert names == ["v0", "last"]


def test_wrong_edits_raise_and_change_nothing(model: sardonyx.Model) -> None:
    other = sardonyx.load(proto())
    graph, before = model.graph, str(model)
    matmul, called, _, softmax, choice = graph.nodes
    inner = choice.subgraphs["then_branch"]
    with refused("`local.scaled`.* reads its output `h`"):
        graph.remove(matmul)
    with refused("`y` is an output of graph `mlp`"):
        graph.remove(choice)
    with refused("`s` is not available there"):
        matmul.set_input(0, graph["s"])
    with refused("computes it itself"):
        softmax.inputs = [softmax.outputs[0]]
    with refused("`a` is not visible in graph `mlp`"):
        softmax.set_input(0, inner["a"])
    with refused("`x` is of another model"):
        matmul.set_input(0, other.graph["x"])
    with refused("`y` is not available there"):
        graph["x"].replace_all_uses(graph["y"])
    with refused("is of another model"):
        graph.insert_before(other.graph.nodes[0], "Neg", [graph["x"]])
    with refused(r"the node of `a` \(`Mul`\) is not in graph `mlp`"):
        graph.insert_before(inner.nodes[0], "Neg", [graph["x"]])
    with refused("another value is named `h`"):
        graph["x"].name = "h"
    with refused("`Softmax` has no attribute `axes`: did you mean `axis`"):
        softmax.attributes["axes"] = 1
    with refused("takes INT", TypeError):
        softmax.attributes["axis"] = 1.5
    with refused("the type of an empty list is not known", TypeError):
        called.attributes["empty"] = []
    with refused("a list of one kind", TypeError):
        called.attributes["mixed"] = [1, "a"]
    with refused("a graph can be used only once"):
        called.attributes["body"] = inner
    with refused("`h` is an output of .*: remove the node"):
        graph.remove(graph["h"])
    with refused("`x` cannot be removed: .*`MatMul`.* reads it"):
        graph.remove(graph["x"])
    with refused("`scaled` cannot be removed: .* calls it"):
        model.remove_function(model.functions[0])
    with refused("`half` is that of its tensor"):
        graph["half"].type = "FLOAT[4]"
    with refused("cannot come before"):
        graph.insert_before(matmul, softmax)
    with refused("has no attribute `wrong`"):
        graph.append("Softmax", [graph["x"]], {"wrong": 1})
    with refused("take one of its `outputs`", TypeError):
        graph.append("Neg", [matmul])  # type: ignore[list-item]
    with refused("values come in a list", TypeError):
        graph.append("Neg", graph["x"])  # type: ignore[arg-type]
    with refused("is not a type", TypeError):
        graph.add_input("z", "FLOTA[2]")
    with pytest.raises(TypeError):
        model.metadata["a"] = "b"  # type: ignore[index]
    with pytest.raises(AttributeError):
        softmax.operator = "Neg"  # type: ignore[attr-defined]
    assert str(model) == before
    assert model.verify() == []


def test_what_was_removed_says_so(model: sardonyx.Model) -> None:
    graph = model.graph
    choice = graph.nodes[-1]
    branch = choice.subgraphs["then_branch"]
    inner, attributes, y = branch.nodes[0], choice.attributes, graph["y"]
    graph.outputs = [graph["s"]]
    nodes = branch.nodes
    graph.remove(choice)
    for ask in (
        lambda: choice.op_type,
        lambda: inner.inputs,
        lambda: branch.nodes,
        lambda: attributes["then_branch"],
        lambda: y.type,
        lambda: graph.append("Neg", [y]),
        lambda: branch.append("Neg", [graph["s"]]),
        lambda: graph.remove(choice),
        lambda: setattr(graph, "outputs", [y]),
    ):
        with refused("no longer in the model"):
            ask()
    assert [*nodes] == []
    assert "removed" in repr(choice) and "removed" in repr(y) and "removed" in repr(branch)
    assert model.infer() == []
    assert model.verify() == []


def test_attributes(model: sardonyx.Model) -> None:
    softmax = model.graph["s"].producer
    assert softmax is not None
    attributes = softmax.attributes
    assert dict(attributes.items()) == {"axis": -1}
    attributes["axis"] = 0
    assert run(model).shape == (2, 4)
    del attributes["axis"]
    assert (len(attributes), "axis" in attributes, attributes.get("axis", 7)) == (0, False, 7)
    with pytest.raises(KeyError):
        attributes["axis"]
    node = model.graph.append("Custom", [], domain="other", outputs=0)
    values: dict[str, Any] = {
        "i": 3, "f": 0.5, "s": "text", "b": True, "ints": [1, 2], "floats": [1, 0.5],
        "strings": ["a", "b"],
    }  # fmt: skip
    for name, value in values.items():
        node.attributes[name] = value
    assert dict(node.attributes.items()) == values
    array = np.ones(3, np.float32)
    node.attributes["t"] = array
    array[:] = 7  # is the caller's
    np.testing.assert_array_equal(node.attributes["t"], [1, 1, 1])
    node.attributes["type"] = FLOAT["N"]
    assert node.attributes["type"] == "FLOAT[N]"
    with refused("empty list", TypeError):
        node.attributes["e"] = []
    with refused("cannot be", TypeError):
        node.attributes["e"] = object()


def test_sparse_attributes_are_set_as_they_are_read() -> None:
    def sparse(*values: float) -> onnx.SparseTensorProto:
        array = onnx.numpy_helper.from_array
        parts = array(np.array(values, np.float32)), array(np.array([0, 3]))
        return onnx.helper.make_sparse_tensor(*parts, [5])

    constant = onnx.helper.make_node("Constant", [], ["y"], sparse_value=sparse(1, 2))
    result = onnx.helper.make_tensor_value_info("y", 1, [5])
    graph = onnx.helper.make_graph([constant], "g", [], [result])
    model = sardonyx.load(onnx.helper.make_model(graph))
    attributes = model.graph.nodes[0].attributes
    for given in (sparse(3, 4), attributes["sparse_value"], (np.float32([5, 6]), [1, 2], [5])):
        attributes["sparse_value"] = given
        values, indices, dims = attributes["sparse_value"]
        expected = np.zeros(5, np.float32)
        expected[indices] = values
        np.testing.assert_array_equal(model.run({})[0], expected)
        assert dims == (5,)
    with pytest.raises(TypeError, match=r"give \(values, indices, dims\) or a SparseTensorProto"):
        attributes["sparse_value"] = [1, 2]


def test_types_that_edits_make_unknown() -> None:
    text = """<ir_version: 10, opset_import: ["" : 20]>
    g (float[2] x) => (float[M] y) { s = Shape(x) n = Size(x) z = Concat <axis: int = 0> (x, x)
    y = Abs(z) }"""
    model = sardonyx.load(proto(text))
    assert model.infer() == []
    assert (model.graph["z"].shape, model.graph["s"].type) == ((4,), "INT64[1]")
    model.graph["x"].type = FLOAT["N"]
    assert model.graph["z"].type is None
    assert model.infer() == []
    assert model.graph["z"].shape == ("2*N",)
    assert model.graph["s"].const_value is None
    model.opset_imports = {"": 21}
    assert dict(model.opset_imports) == {"": 21}
    model.graph["x"].type = "DOUBLE[3]"
    (finding,) = model.infer()
    assert "Abs" in finding.message and finding.severity == "error"


def test_a_model_that_runs_is_not_changed(model: sardonyx.Model) -> None:
    class Meddler:
        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            model.graph["half"].const_value = np.zeros(4, np.float32)

    with pytest.raises(RuntimeError, match="cannot be changed while it runs"):
        model.run({**FEED, "x": Meddler()})
    run(model)


def test_subgraphs_by_hand() -> None:
    model = sardonyx.load(
        proto("""<ir_version: 10, opset_import: ["" : 20]>
        g (float[2] x, bool c) => (float[2] y) { y = Neg(x) }""")
    )
    graph = model.graph
    choice = graph.append("If", [graph["c"]], outputs="z")
    for name, operator in (("then_branch", "Exp"), ("else_branch", "Abs")):
        branch = choice.add_subgraph(name)
        branch.outputs = branch.append(operator, [graph["y"]]).outputs
    graph.outputs = [choice.outputs[0]]
    assert model.infer() == []
    onnx.checker.check_model(model.to_proto(), full_check=True)
    (z,) = model.run({"x": np.array([1, -2], np.float32), "c": np.array(False)})
    np.testing.assert_array_equal(z, [1, 2])


def test_inputs_and_initializers(model: sardonyx.Model) -> None:
    graph = model.graph
    added = graph.add_initializer("bias", np.arange(4, dtype=np.float32))
    node = graph.insert_after(graph.nodes[0], "Add", [graph["h"], added])
    graph.nodes[2].set_input(0, node.outputs[0])
    assert graph.nodes[2].op_type == "scaled"
    first = run(model)
    added.const_value = np.zeros(4, np.float32)
    assert not np.array_equal(run(model), first)
    unused = graph.add_input("unused", INT64)
    assert unused.type == "INT64"
    graph.remove(unused)
    assert [value.name for value in graph.inputs] == ["x", "w", "flag"]


# --- Models as values ----------------------------------------------------------------------------


def test_copies_are_models_of_their_own(model: sardonyx.Model) -> None:
    others = [
        copy.copy(model),
        copy.deepcopy(model),
        model.copy(),
        pickle.loads(pickle.dumps(model)),
    ]
    assert all(other == model for other in others)
    assert model != object()
    model.graph["x"].name = "z"
    for other in others:
        assert other != model
        assert other.graph.inputs[0].name == "x"
        run(other)
    model.graph["z"].name = "x"
    assert others[0] == model
    others[0].graph["half"].const_value = np.zeros(4, np.float32)
    assert others[0] != model


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, pickle.dumps])
def test_parts_of_models_are_not_copied(model: sardonyx.Model, again: Any) -> None:
    graph = model.graph
    for part in (graph, graph.nodes[0], graph.inputs[0]):
        name = type(part).__name__
        with pytest.raises(TypeError, match=rf"a {name} is a part of its model .*`model.copy\(\)`"):
            again(part)
    with pytest.raises(TypeError, match=r"the nodes are .*`list\(graph.nodes\)`"):
        again(graph.nodes)
    with pytest.raises(TypeError, match=r"`dict\(node.attributes\)`"):
        again(graph.nodes[0].attributes)


def test_references_to_attributes_are_copied() -> None:
    one = sardonyx.AttributeReference("alpha", "float")
    assert pickle.loads(pickle.dumps(one)) == copy.deepcopy(one) == copy.copy(one) == one


def test_every_way_in_and_out(model: sardonyx.Model, tmp_path: pathlib.Path) -> None:
    data = model.to_bytes()
    (tmp_path / "m.onnx").write_bytes(data)
    for source in (
        data, bytearray(data), memoryview(data), io.BytesIO(data), tmp_path / "m.onnx",
        str(tmp_path / "m.onnx"), model.to_proto(), model,
    ):  # fmt: skip
        assert sardonyx.load(source) == model
    with (tmp_path / "m.onnx").open("rb") as file:
        assert sardonyx.load(file) == model
    with pytest.raises(TypeError, match="binary"), (tmp_path / "m.onnx").open() as text:
        sardonyx.load(text)
    onnx_ir = pytest.importorskip("onnx_ir")
    there = model.to_onnx_ir()
    assert isinstance(there, onnx_ir.Model)
    assert [node.op_type for node in sardonyx.load(there).graph] == [
        node.op_type for node in model.graph
    ]


def test_what_cannot_be_loaded(tmp_path: pathlib.Path) -> None:
    with pytest.raises(FileNotFoundError):
        sardonyx.load(tmp_path / "none.onnx")
    with pytest.raises(IsADirectoryError):
        sardonyx.load(tmp_path)
    for data in (b"\xff\xff", proto().SerializeToString()[:-9]):
        with pytest.raises(ValueError):
            sardonyx.load(data)
    broken = proto()
    broken.graph.node[3].op_type = "Softmex"
    with refused("Softmex"):
        sardonyx.load(broken)
    loaded = sardonyx.load(broken, check=False)
    assert any("Softmex" in finding.message for finding in loaded.verify())
    with refused("Softmex"):
        loaded.run(FEED)
    loaded.graph.nodes[3].op_type = "Softmax"
    assert loaded.verify() == []
    run(loaded)
    assert pickle.loads(pickle.dumps(sardonyx.load(broken, check=False))) is not None


def test_nodes_without_a_name_go_by_their_output() -> None:
    def model_of(operator: str, domains: str = "") -> onnx.ModelProto:
        return onnx.parser.parse_model(
            f'<ir_version: 8, opset_import: ["": 18{domains}]>'
            f"g (float[N] x) => (float[N] y) {{ y = {operator}(x) }}"
        )

    with refused(r"the node of `y` \(`Foo`\): there is no such operator"):
        sardonyx.load(model_of("Foo"))
    # The first run looks up those of other domains.
    loaded = sardonyx.load(model_of("my.ops.Foo", ', "my.ops": 1'))
    with refused(r"the node of `y` \(`my.ops.Foo`\): the evaluator", sardonyx.EvalError):
        loaded.run({"x": [1.0]})


def test_texts(model: sardonyx.Model) -> None:
    model.graph["h"].name = "a/b:0"
    text = str(model)
    assert '"a/b:0" = MatMul' in text
    assert "</svg>" in (model._repr_svg_() or "")
    assert repr(model) == "<Model 'mlp': 5 nodes>"
    assert repr(model.graph["x"]) == "<Value 'x': FLOAT[N, 4]>"
    assert repr(model.graph.nodes[0]) == "<Node a/b:0 = MatMul(x, w)>"
    assert repr(model.graph) == "<Graph 'mlp': 3 inputs, 1 outputs, 5 nodes>"


def test_outputs_of_subgraphs_are_their_own_values(model: sardonyx.Model) -> None:
    branch = model.graph.nodes[-1].subgraphs["then_branch"]
    for edit in (
        lambda: setattr(branch, "outputs", [model.graph["s"]]),
        lambda: branch.outputs[0].replace_all_uses(model.graph["s"]),
    ):
        with refused("pass `s` through `Identity`"):
            edit()
    branch.outputs = branch.append("Identity", [model.graph["s"]]).outputs
    assert model.verify() == []


def edit_by_chance(graph: sardonyx.Graph, drawn: random.Random) -> None:
    nodes, values = graph.walk(), graph.values
    node, value = drawn.choice(nodes), drawn.choice(values)
    other = drawn.choice(drawn.choice(nodes).graph.values)
    kind = drawn.randrange(10)
    if kind < 3:
        node.graph.append("Add", [value, other])
    elif kind == 3:
        node.graph.insert_before(node, "Neg", [value])
    elif kind == 4:
        node.graph.remove(node)
    elif kind == 5:
        node.set_input(0, other)
    elif kind == 6:
        value.replace_all_uses(other)
    elif kind == 7:
        node.graph.insert_before(drawn.choice(nodes), node)
    elif kind == 8:
        node.graph.outputs = [value]
    else:
        value.name = drawn.choice("abcdef")


def test_random_edits() -> None:
    """Whatever is asked for is done or refused, and what comes of it is a model."""
    drawn = random.Random(5)
    model = sardonyx.load(proto())
    done = refusals = 0
    for step in range(600):
        try:
            edit_by_chance(model.graph, drawn)
            done += 1
        except (sardonyx.ModelError, IndexError):
            refusals += 1
        if step % 100 == 99:
            model.infer()
            broken = [one.message for one in model.verify() if one.code == "invalid-model"]
            assert all("no type" in message for message in broken), broken
            assert sardonyx.load(model.to_bytes(), check=False) == model
    assert done > 100
    assert refusals > 100


# --- Saving --------------------------------------------------------------------------------------


def large_model(count: int) -> onnx.ModelProto:
    """A sum of so many weights of 4 MiB."""
    names = [f"w{i}" for i in range(count)]
    weights = [onnx.numpy_helper.from_array(np.full(1 << 20, i, np.float32), n)
               for i, n in enumerate(names)]  # fmt: skip
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Sum", names, ["y"])], "g", [],
        [onnx.helper.make_tensor_value_info("y", 1, [1 << 20])], weights,
    )  # fmt: skip
    imports = [onnx.helper.make_opsetid("", 20)]
    return onnx.helper.make_model(graph, opset_imports=imports, ir_version=10)


def test_saving(model: sardonyx.Model, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "saved.onnx"
    model.save(path)
    assert path.read_bytes() == model.to_bytes()
    assert sardonyx.load(path) == model
    with pytest.raises(FileNotFoundError):
        model.save(tmp_path / "none" / "saved.onnx")
    with pytest.raises(IsADirectoryError):
        model.save(tmp_path)


def test_saving_with_external_data_and_onto_itself(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "m.onnx"
    onnx.save(large_model(3), path)
    model = sardonyx.load(path)
    model.save(path, external_bytes=1024)  # the file that it is mapped from
    assert path.stat().st_size < 4096
    assert sum(1 for _ in tmp_path.iterdir()) == 2
    again = sardonyx.load(path)
    assert again == model
    onnx.checker.check_model(str(path))
    np.testing.assert_array_equal(again.run({})[0][:2], [3, 3])
    again.graph["w1"].const_value = np.full(1 << 20, 5, np.float32)
    again.save(path, external_bytes=1024)
    assert sum(1 for _ in tmp_path.iterdir()) == 2  # the old data have gone
    np.testing.assert_array_equal(sardonyx.load(path).run({})[0][:2], [7, 7])
    again.save(tmp_path / "one.onnx", external_bytes=0)
    assert (tmp_path / "one.onnx").read_bytes() == again.to_bytes()
    again.save(tmp_path / "two.onnx")  # its weights were beside it, and are so again
    assert (tmp_path / "two.onnx").stat().st_size < 4096
    assert sardonyx.load(tmp_path / "two.onnx") == again


def test_saving_streams(tmp_path: pathlib.Path) -> None:
    """What is written comes from the mapped file: memory of the size of the graph is enough."""
    onnx.save(large_model(10), tmp_path / "m.onnx")
    script = """
import resource, sys, sardonyx
model = sardonyx.load("m.onnx")
def data():  # private memory that can be written, in KiB: what the limit is about
    rows = dict(line.split(":", 1) for line in open("/proc/self/status"))
    return int(rows["VmData"].split()[0])
resource.setrlimit(resource.RLIMIT_DATA, ((data() + 16_000) * 1024, resource.RLIM_INFINITY))
model.save("n.onnx")
model.save("e.onnx", external_bytes=1024)
"""
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True)
    assert (tmp_path / "n.onnx").read_bytes() == sardonyx.load(tmp_path / "m.onnx").to_bytes()
    assert sardonyx.load(tmp_path / "e.onnx") == sardonyx.load(tmp_path / "m.onnx")


# --- The page ------------------------------------------------------------------------------------


def test_the_page_does_what_it_says(tmp_path: pathlib.Path) -> None:
    blocks = (ROOT / "docs/models.md").read_text().split("```")[1::2]
    namespace: dict[str, Any] = {"__name__": "page"}
    printed = ""
    for number, block in enumerate(blocks):
        language, _, text = block.partition("\n")
        if language == "py":
            path = tmp_path / f"block{number}.py"
            path.write_text(text)
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(text, path, "exec"), namespace)
            printed = out.getvalue()
        else:
            assert printed.strip() == text.strip()


EXPRESSIONS = """
< ir_version: 10, opset_import: ["" : 20] >
g (float[N,3,height,width] x, float[8,3,3,3] w) => (float[N,8,a,b] y)
{
    c = Conv <pads = [1, 1, 1, 1], strides = [2, 2]> (x, w)
    d = Unknown.op(x)
    e = Concat <axis = 1> (c, d)
    y = Add(c, d)
}
"""


def test_names_of_dimensions_that_are_expressions() -> None:
    model = proto(EXPRESSIONS)
    for node in model.graph.node:
        node.ClearField("domain") if not node.domain else None
    named = ["N", 8, "floor(height/2 - 1/2) + 1", "1 + (width - 1)//2"]
    told = onnx.helper.make_tensor_value_info("d", 1, named)
    told.type.tensor_type.shape.dim[2].denotation = "DATA_FEATURE"
    model.graph.value_info.append(told)
    strange = ["N", "batch size", "height/2", "sqrt(width)"]  # no expressions, or no integers
    model.graph.output[0].CopyFrom(onnx.helper.make_tensor_value_info("y", 1, named))
    model.graph.output.append(onnx.helper.make_tensor_value_info("x2", 1, strange))
    model.graph.node.append(onnx.helper.make_node("Other", ["x"], ["x2"], domain="Unknown"))
    loaded = sardonyx.load(model, check=False)
    assert loaded.to_bytes() == model.SerializeToString(deterministic=True)
    half = ("N", 8, "(height+1)//2", "(width+1)//2")
    assert loaded.graph["d"].shape == loaded.graph["y"].shape == half
    assert loaded.graph["x2"].shape == tuple(strange)
    loaded.infer()
    assert loaded.graph["c"].shape == half
    assert loaded.graph["e"].shape == ("N", 16, *half[2:])
    again = loaded.to_proto()
    assert next(one for one in again.graph.value_info if one.name == "d") == told
    loaded.graph["y"].type = FLOAT["N", 8, "floor(height/2)", 4]  # is written as it prints
    dims = loaded.to_proto().graph.output[0].type.tensor_type.shape.dim
    assert [dim.dim_param or dim.dim_value for dim in dims] == ["N", 8, "height//2", 4]


def test_attributes_are_a_mapping() -> None:
    model = sardonyx.load(proto())
    relu = model.graph.append("Custom", [], {"a": 1, "b": [1.5]}, domain="x")
    attributes = relu.attributes
    assert isinstance(attributes, collections.abc.MutableMapping)
    assert attributes == {"a": 1, "b": [1.5]} and attributes != {"a": 1}
    attributes.update({"a": 2}, c="text")
    attributes.update([("d", [1, 2])])
    attributes |= {"e": 5}
    assert dict(attributes) == {"a": 2, "b": [1.5], "c": "text", "d": [1, 2], "e": 5}
    assert attributes.pop("a") == 2 and attributes.pop("a", None) is None
    assert attributes.popitem() == ("e", 5)
    assert attributes.setdefault("c", "other") == "text" and attributes.setdefault("f", 6) == 6
    with pytest.raises(KeyError, match="a"):
        attributes.pop("a")
    with pytest.raises(TypeError):
        attributes.update({"g": object()})
    with pytest.raises(TypeError, match="not a string"):
        attributes.update({1: 2})
    attributes.clear()
    assert dict(attributes) == {}
    with pytest.raises(KeyError):
        attributes.popitem()
    with pytest.raises(TypeError, match="unhashable"):
        hash(attributes)


def test_a_path_with_a_null_byte() -> None:
    with pytest.raises(ValueError, match="null byte"):
        sardonyx.load("a\0b")


def test_objects_live_as_long_as_the_model() -> None:
    model = sardonyx.load(proto())
    node = model.graph.nodes[0]
    places = {id(value) for one in model.graph for value in (*one.inputs, *one.outputs)}
    again = {id(value) for one in model.graph for value in (*one.inputs, *one.outputs)}
    assert places == again  # nothing is made twice
    assert node.inputs is node.inputs
    before = node.inputs
    node.inputs = node.inputs[::-1]
    assert node.inputs == before[::-1]
    graph = model.graph
    del model  # a part is enough to keep the rest
    assert next(iter(graph)).op_type == "MatMul"
    assert graph.nodes[0] is node
    value = graph["h"]
    assert value.shape is None
    value.type = FLOAT[1, 2]
    assert value.shape == (1, 2) and value.type == "FLOAT[1, 2]"
    with pytest.raises(AttributeError):
        value.shape = (3,)  # type: ignore[misc]
    with pytest.raises(AttributeError, match="deleted"):
        del value.name
    with pytest.raises(TypeError, match="not a string"):
        node.name = 3  # type: ignore[assignment]


def test_objects_live_as_long_as_a_graph() -> None:
    def seen(nodes: Iterable[sardonyx.Node]) -> set[int]:
        return {
            id(one) for node in nodes
            for one in (node, *node.inputs, *node.outputs, *(o.producer for o in node.outputs))
        }  # fmt: skip

    graph = sardonyx.load(proto()).graph  # nothing else has the model
    assert seen(graph) == seen(graph.nodes)
    assert graph[graph.nodes[0].outputs[0].name].uses is graph.nodes[0].outputs[0].uses
    nodes = iter(sardonyx.load(proto()).graph)  # not even the graph
    first = next(nodes)
    assert first.outputs[0].producer is first
    node = next(nodes)
    del graph, nodes, first
    gc.collect()
    assert node.op_type and node.outputs[0].producer == node.outputs[0].producer


def test_objects_of_a_graph_are_freed_with_it() -> None:
    """Nodes keep the model, and a graph keeps its nodes: none of them may keep the graph."""
    resource = pytest.importorskip("resource")
    value = onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1])
    weight = onnx.numpy_helper.from_array(np.zeros(1 << 20, np.float32), "w")
    node = onnx.helper.make_node("Add", ["x", "w"], ["y"])
    made = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)
    graph = onnx.helper.make_graph([node], "g", [value], [made], [weight])
    data = onnx.helper.make_model(graph).SerializeToString()
    rounds = 100
    for i in range(2 * rounds):
        if i == rounds:
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for one in sardonyx.load(bytearray(data)).graph:
            assert one.outputs[0].producer is one and one.graph.nodes[0] is one
    more = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert more < rounds / 4 * len(data) / 1024, f"{more} KiB"


def test_types_are_objects() -> None:
    model = sardonyx.load(proto())
    x = model.graph["x"]
    kind = x.type
    assert isinstance(kind, sardonyx.Type) and kind == "FLOAT[N, 4]"
    assert (kind.kind, kind.element_type, kind.dtype) == ("tensor", "FLOAT", np.float32)
    assert kind.shape == ("N", 4) and kind.element is None and kind.key is None
    assert model.graph["y"].type == sardonyx.Type("FLOAT[N,4]")
    nested = sardonyx.Type("Optional[Sequence[Map[INT64, FLOAT[...]]]]")
    assert nested.kind == "optional" and nested.element is not None
    inner = nested.element.element
    assert inner is not None and (inner.kind, inner.key) == ("map", "INT64")
    assert inner.element == "FLOAT[...]" and inner.element.shape is None
    assert sardonyx.Type("Sequence[?]").element is None
    for one in (kind, nested):
        assert pickle.loads(pickle.dumps(one)) == copy.deepcopy(one) == one
        assert type(copy.copy(one)) is sardonyx.Type
    for text in ("FLOTA", "FLOAT[", "", "?"):
        with pytest.raises(ValueError, match="not a type"):
            sardonyx.Type(text)
    x.type = sardonyx.Type("INT64[M]")
    assert x.type == "INT64[M]" and x.shape == ("M",)


def test_dimensions_are_computed_with() -> None:
    n = sardonyx.load(proto()).graph["x"].shape[0]  # type: ignore[index]
    assert isinstance(n, sardonyx.Dim) and n == "N" and f"{n}!" == "N!"
    m = sardonyx.Dim("M")
    results = {
        "N+1": n + 1, "2-N": 2 - n, "2*N": n * 2, "M*N": n * m, "N//2": n // 2, "7//N": 7 // n,
        "N%3": n % 3, "-N": -n, "(N+1)//2": sardonyx.Dim("floor(N/2 - 1/2) + 1"),
        "2*M+3": sardonyx.Dim("2*K + 1").substitute(K=m + 1),
        "batch size": sardonyx.Dim("batch size"),
    }  # fmt: skip
    for text, result in results.items():
        assert type(result) is sardonyx.Dim and result == text
    assert n - n == 0 and type(n * 0) is int
    assert n * 2**62 * 4 is None  # more than any size can be
    assert (n + m * 2).symbols == ("M", "N")
    assert (n // 2 + 1).substitute(N=7) == 4
    assert "size: " + n + "!" == "size: N!"  # beside texts it is a text
    assert pickle.loads(pickle.dumps(n)) == n and {n: 1}["N"] == 1
    with pytest.raises(TypeError):
        n + 1.5
    with pytest.raises(TypeError):
        n // "M"


def test_isomorphic_models() -> None:
    """Names and the order of nodes are free; operators, attributes, edges and weights are not."""

    def model(first: str, alpha: float, weight: float, swap: bool = False) -> sardonyx.Model:
        b = sardonyx.Builder(opset=20)
        x = b.input("x" + first, sardonyx.FLOAT["N"])
        parts = [lambda: b.op.Elu(x, alpha=alpha, _outputs=[first]), lambda: b.op.Neg(x)]
        made = [part() for part in (reversed(parts) if swap else parts)]
        elu, neg = reversed(made) if swap else made
        b.output(elu - neg * b.initializer(np.float32([weight])), name="y" + first)
        return b.model()

    one = model("a", 0.5, 2)
    assert one.is_isomorphic(model("b", 0.5, 2)) and one.is_isomorphic(model("c", 0.5, 2, True))
    assert one != model("b", 0.5, 2)
    assert not one.is_isomorphic(model("a", 0.25, 2))
    assert not one.is_isomorphic(model("a", 0.5, 3))
    with pytest.raises(TypeError):
        one.is_isomorphic("no model")  # type: ignore[arg-type]


def test_either_of_two_isomorphic_models_may_be_asked() -> None:
    """A condition that is left out and one that is true, an input and its copy."""

    def loop(first: str, result: str) -> sardonyx.Model:
        return sardonyx.from_text(f"""
            <ir_version: 9, opset_import: ["": 17]>
            g (float[2] x) => (float[2] y, float[2] z) {{
                n = Constant <value_int = 2> ()
                k = Constant <value_int = 1> ()
                c = Constant <value: tensor = bool {{1}}> ()
                y = Loop (n, {first}, x) <
                    body = b (int64 i, bool d, float[2] u) => (bool e, float[2] v) {{
                    e = Less (i, k)
                    v = Neg (u)
                }}>
                z = {result}
            }}""")

    models = [loop('""', "Relu (y)"), loop("c", "Relu (y)")]
    assert all(a.is_isomorphic(b) for a in models for b in models)
    other = loop("c", "Neg (y)")
    assert not any(a.is_isomorphic(other) or other.is_isomorphic(a) for a in models)

    def copy(result: str, node: str) -> sardonyx.Model:
        return sardonyx.from_text(f"""
            <ir_version: 9, opset_import: ["": 17]>
            g (float[2] x) => (float[2] y, float[2] {result}) {{ y = Neg (x) {node} }}""")

    models = [copy("x", ""), copy("z", "z = Identity (x)")]
    assert all(a.is_isomorphic(b) for a in models for b in models)


@pytest.mark.parametrize("member", ["metadata", "opset_imports"])
def test_entries_say_how_they_are_changed(member: str) -> None:
    """They are read as a dict, copied to one, and assigned as a whole."""
    model = sardonyx.load(proto())
    model.metadata = {"author": "me"}
    entries = getattr(model, member)
    for one in (copy.copy(entries), copy.deepcopy(entries), pickle.loads(pickle.dumps(entries))):
        assert type(one) is dict and one == entries
    assert json.loads(json.dumps(entries)) == entries
    for change in (
        lambda: entries.__setitem__("b", 1), lambda: entries.update(b=1), entries.clear,
        lambda: entries.pop(next(iter(entries))), lambda: entries.setdefault("b", 1),
    ):  # fmt: skip
        with pytest.raises(
            TypeError, match=rf"`model.{member} = {{\*\*model.{member}, key: value}}`"
        ):
            change()
    assert getattr(model, member) == entries


def test_uses_are_of_now() -> None:
    """What Python keeps of a value is not older than the graph."""
    model = sardonyx.load(proto())
    graph = model.graph
    s = graph["s"]
    (then, _), first = graph.nodes[4].subgraphs.values(), s.uses
    assert [node.op_type for node, _ in first] == ["Mul", "Elu"] and s.uses is first
    # Python that runs within an edit sees the graph before it.
    made = graph.insert_after(s.producer, "Add", (one for one in (s, s) if len(s.uses) == 2))
    assert len(s.uses) == 4 and s.producer is graph["s"].producer
    made.inputs = (one for one in (s, graph["half"]) if len(s.uses) == 4)
    assert len(s.uses) == 3
    graph.remove(one for one in (made,) if len(s.uses) == 3)
    assert len(s.uses) == 2 and {node.graph for node, _ in s.uses} > {then}
    # Nodes that outlive the object of their model answer as before, and all goes with the last.
    x = model.graph["x"]
    del model, graph, s, then, first, made, _
    gc.collect()
    assert x.uses[0][0].outputs[0].producer is not None and x.producer is None


def test_outputs_without_names_are_named_when_they_are_read(model: sardonyx.Model) -> None:
    """A value without a name cannot be read: in the file that is an input that is left out."""
    graph = model.graph
    readers = {
        "append": lambda value: graph.append("Neg", [value]),
        "inputs": lambda value: setattr(graph.append("Neg", [graph["s"]]), "inputs", [value]),
        "set_input": lambda value: graph.append("Neg", [graph["s"]]).set_input(0, value),
        "replace": lambda value: graph.append("Neg", []).outputs[0].replace_all_uses(value),
        "outputs": lambda value: setattr(graph, "outputs", [graph["y"], value]),
    }  # fmt: skip
    for way, read in readers.items():
        inputs = [graph["s"], graph["shape"]]
        made = graph.insert_after(graph["s"].producer, "TopK", inputs, outputs=["", ""])
        kept, unwanted = made.outputs
        assert unwanted.name == kept.name == ""
        read(unwanted)
        assert (unwanted.name != "") == (way != "replace") and kept.name == "", way
    again = sardonyx.load(model.to_bytes(), check=False)
    assert again == model
    assert [one.name for one in again.graph.nodes[5].inputs] != [None]


def test_versions_that_there_are_not(model: sardonyx.Model) -> None:
    """What could not be loaded again is refused."""
    before = model.to_bytes()
    for imports in ({"": 10**6}, {"": 0}, {"other": 1 << 40}):
        with pytest.raises(sardonyx.ModelError, match="version"):
            model.opset_imports = {"local": 1, **imports}
    for number in (2, 10**6, -1):
        with pytest.raises(ValueError, match="IR version"):
            model.ir_version = number
    assert model.to_bytes() == before
