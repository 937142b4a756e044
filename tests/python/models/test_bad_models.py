"""Models that are broken on purpose: each must be a finding of `check`, and no valid one may be.

Mutations are of two kinds, by how they are made: those that leave a model valid, and those after
which it is not. SDX_MUTATIONS=3000 draws more of them than the few that every run has.
"""

from __future__ import annotations

import json
import os
import pathlib
import random
import subprocess
from collections.abc import Callable

import numpy as np
import onnx
import onnxruntime
import pytest
import sardonyx
from onnx import TensorProto, helper, numpy_helper

from places import PROGRAM

COUNT = int(os.environ.get("SDX_MUTATIONS", "120"))

Model = onnx.ModelProto
Random = random.Random


def info(name: str, *dims: int | str, kind: int = TensorProto.FLOAT) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, dims)


def opsets(**versions: int) -> list[onnx.OperatorSetIdProto]:
    return [helper.make_opsetid("" if d == "ai_onnx" else d, v) for d, v in versions.items()]


def weights(name: str, *dims: int) -> TensorProto:
    return numpy_helper.from_array(np.ones(dims, np.float32), name)


def network() -> Model:
    """A layer, a reduction, a branch and a loop."""
    branches = [
        helper.make_graph([helper.make_node(op, ["h"], [op])], op, [], [info(op, "N", 1)])
        for op in ("Relu", "Neg")
    ]
    body = helper.make_graph(
        [helper.make_node("Identity", ["c"], ["d"]), helper.make_node("Add", ["v", "v"], ["w2"])],
        "body",
        [info("i", kind=TensorProto.INT64), info("c", kind=TensorProto.BOOL), info("v", "N", 1)],
        [info("d", kind=TensorProto.BOOL), info("w2", "N", 1)],
    )
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["m"], name="product"),
        helper.make_node("Softmax", ["m"], ["s"], axis=-1),
        helper.make_node("ReduceSum", ["s", "axes"], ["h"], keepdims=1),
        helper.make_node("If", ["flag"], ["t"], then_branch=branches[0], else_branch=branches[1]),
        helper.make_node("Loop", ["trips", "flag", "t"], ["y"], body=body),
    ]
    graph = helper.make_graph(
        nodes,
        "network",
        [info("x", "N", 4), info("flag", kind=TensorProto.BOOL)],
        [info("y", "N", 1)],
        [
            weights("w", 4, 3),
            numpy_helper.from_array(np.array([1]), "axes"),
            numpy_helper.from_array(np.array(3), "trips"),
        ],
        value_info=[info("m", "N", 3)],
    )
    return helper.make_model(graph, opset_imports=opsets(ai_onnx=21))


def with_functions() -> Model:
    def function(name: str, op: str, domain: str) -> onnx.FunctionProto:
        node = helper.make_node(op, ["a"], ["b"], domain=domain)
        return helper.make_function(
            "local", name, ["a"], ["b"], [node], opsets(ai_onnx=21, local=1)
        )

    nodes = [helper.make_node("outer", ["x"], ["y"], domain="local")]
    graph = helper.make_graph(nodes, "calls", [info("x", "N")], [info("y", "N")])
    functions = [function("inner", "Relu", ""), function("outer", "inner", "local")]
    return helper.make_model(graph, functions=functions, opset_imports=opsets(ai_onnx=21, local=1))


def classifier() -> Model:
    node = helper.make_node(
        "LinearClassifier",
        ["x"],
        ["label", "scores"],
        domain="ai.onnx.ml",
        classlabels_ints=[0, 1],
        coefficients=[1.0] * 6,
        intercepts=[0.0] * 2,
    )
    outputs = [info("label", "N", kind=TensorProto.INT64), info("scores", "N", 2)]
    graph = helper.make_graph([node], "classifier", [info("x", "N", 3)], outputs)
    versions = [helper.make_opsetid("ai.onnx.ml", 1)]
    return helper.make_model(graph, opset_imports=versions)


BASES: list[Callable[[], Model]] = [network, with_functions, classifier]

# --- Mutations that leave a model valid ----------------------------------------------------------


def rename_graph(model: Model, draw: Random) -> None:
    model.graph.name = f"g{draw.randrange(1000)}"


def add_metadata(model: Model, draw: Random) -> None:
    helper.set_model_props(model, {"author": f"{draw.randrange(1000)}"})
    model.producer_name = "somebody"
    model.model_version = draw.randrange(2**40)


def import_more(model: Model, draw: Random) -> None:
    model.opset_import.append(helper.make_opsetid(f"my.{draw.random()}", draw.randrange(1, 2**31)))


def repeat_import(model: Model, draw: Random) -> None:
    model.opset_import.append(draw.choice(list(model.opset_import)))


def name_nodes(model: Model, draw: Random) -> None:
    for i, node in enumerate(model.graph.node):
        node.name = f"n{i}_{draw.randrange(10)}"


def forget_value_info(model: Model, _: Random) -> None:
    del model.graph.value_info[:]


def keep_stale_value_info(model: Model, draw: Random) -> None:
    model.graph.value_info.append(info("nobody", draw.randrange(2**30), "K"))


def add_unused_weights(model: Model, draw: Random) -> None:
    name = f"unused{len(model.graph.initializer)}"
    model.graph.initializer.append(weights(name, draw.randrange(1, 9)))


def add_unused_function(model: Model, draw: Random) -> None:
    node = helper.make_node("Relu", ["a"], ["b"])
    model.functions.append(
        helper.make_function("local", f"f{draw.random()}", ["a"], ["b"], [node], opsets(ai_onnx=21))
    )


def keep_stale_external(model: Model, draw: Random) -> None:
    for tensor in model.graph.initializer:
        entry = tensor.external_data.add()
        entry.key, entry.value = "length", str(draw.randrange(2**20))


def train(model: Model, _: Random) -> None:
    added = model.training_info.add().initialization
    added.name = "start"
    added.initializer.append(weights("start", 2))


def flip_flag(model: Model, _: Random) -> None:
    for node in model.graph.node:
        for attribute in node.attribute:
            if attribute.name == "keepdims":
                attribute.i = 1


def names_out_of_sight(model: Model, _: Random) -> None:
    """Branches with equal names, which the graph uses again after them."""
    if any(value.name == "flag_" for value in model.graph.initializer):
        return
    flag = numpy_helper.from_array(np.array(True), "flag_")
    branches = [
        helper.make_graph(
            [helper.make_node("Not", ["flag_"], ["inner_"])],
            name,
            [],
            [info("inner_", kind=TensorProto.BOOL)],
        )
        for name in ("then_", "else_")
    ]
    model = with_standard(model)
    model.graph.initializer.append(flag)
    add_node(model, "If", ["flag_"], ["if_"], then_branch=branches[0], else_branch=branches[1])
    add_node(model, "Not", ["if_"], ["inner_"])


def add_sparse_weights(model: Model, draw: Random) -> None:
    """Operators read them as dense tensors."""
    values = weights(f"sparse{len(model.graph.sparse_initializer)}", 1)
    indices = numpy_helper.from_array(np.array([draw.randrange(6)]))
    model.graph.sparse_initializer.append(helper.make_sparse_tensor(values, indices, [2, 3]))
    add_node(model, "Abs", [values.name], [f"{values.name}_abs"])


VALID = [
    rename_graph,
    add_metadata,
    import_more,
    repeat_import,
    name_nodes,
    forget_value_info,
    keep_stale_value_info,
    add_unused_weights,
    add_unused_function,
    keep_stale_external,
    train,
    flip_flag,
    names_out_of_sight,
    add_sparse_weights,
]

# --- Mutations after which a model is not valid --------------------------------------------------


def drop_imports(model: Model, _: Random) -> None:
    del model.opset_import[:]


def import_twice(model: Model, draw: Random) -> None:
    one = draw.choice(list(model.opset_import))
    domain = draw.choice(["", "ai.onnx"]) if one.domain == "" else one.domain
    model.opset_import.append(helper.make_opsetid(domain, one.version + draw.choice([-3, 1, 2])))


def absurd_opset(model: Model, draw: Random) -> None:
    numbers = [0, -1, 2**31, 2**40, 2**62, -(2**40)]
    draw.choice(list(model.opset_import)).version = draw.choice(numbers)


def future_opset(model: Model, draw: Random) -> None:
    for one in model.opset_import:
        if one.domain in ("", "ai.onnx.ml"):
            one.version += draw.choice([100, 1000, 10**6])


def too_old_opset(model: Model, _: Random) -> None:
    for graph in [model, *model.functions]:
        for one in graph.opset_import:
            if one.domain == "":
                one.version = 1
    node = model.graph.node[0]
    node.op_type, node.domain = "Gelu", ""
    del node.attribute[:]


def unknown_operator(model: Model, draw: Random) -> None:
    node = draw.choice(list(model.graph.node))
    node.op_type, node.overload = draw.choice(["Rellu", "X", "relu"]), ""
    node.domain = draw.choice(["", "ai.onnx.ml"])


def unknown_domain(model: Model, draw: Random) -> None:
    draw.choice(list(model.graph.node)).domain = draw.choice(["nowhere", "com.microsoft"])


def no_operator(model: Model, draw: Random) -> None:
    draw.choice(list(model.graph.node)).op_type = ""


def unknown_input(model: Model, draw: Random) -> None:
    draw.choice(list(model.graph.node)).input[0] = "nothing"


def define_twice(model: Model, draw: Random) -> None:
    node = draw.choice(list(model.graph.node))
    node.output[0] = model.graph.input[0].name


def unmade_output(model: Model, _: Random) -> None:
    model.graph.output[0].name = "nothing"


def recursion(model: Model, draw: Random) -> None:
    length = draw.randrange(1, 5)
    for i in range(length):
        node = helper.make_node(f"r{(i + 1) % length}", ["a"], ["b"], domain="turning")
        model.functions.append(
            helper.make_function(
                "turning", f"r{i}", ["a"], ["b"], [node], opsets(ai_onnx=21, turning=1)
            )
        )
    model.opset_import.append(helper.make_opsetid("turning", 1))


def absurd_flag(model: Model, draw: Random) -> None:
    value = draw.choice([2, -1, 2**31, 2**40, -(2**63)])
    added = helper.make_node("ReduceMax", [model.graph.input[0].name], ["r"], keepdims=value)
    if all(one.domain for one in model.opset_import):
        model.opset_import.extend(opsets(ai_onnx=21))
    model.graph.node.append(added)


def absurd_training_dims(model: Model, draw: Random) -> None:
    tensor = draw.choice(
        [model.training_info.add().initialization, model.training_info.add().algorithm]
    ).initializer.add()
    tensor.name, tensor.data_type = "w", TensorProto.FLOAT
    tensor.dims.append(draw.choice([2**40, -1, 2**62]))


def absurd_external_length(model: Model, draw: Random) -> None:
    tensor = model.graph.initializer.add()
    tensor.CopyFrom(weights("stale", 2))
    entry = tensor.external_data.add()
    entry.key = draw.choice(["length", "length", "offset"])
    entry.value = draw.choice([str(2**40), str(2**62)]) if entry.key == "length" else "-5"


def absurd_value_info(model: Model, draw: Random) -> None:
    model.graph.value_info.append(info("nobody", 2**40, draw.choice([2**40, 2**30])))


def absurd_dims(model: Model, draw: Random) -> None:
    tensor = model.graph.initializer.add()
    tensor.CopyFrom(weights("long", 2))
    tensor.dims[0] = draw.choice([2**40, 3, 1, -2, 2**62])


def element_type(model: Model, draw: Random) -> None:
    model.graph.input[0].type.tensor_type.elem_type = draw.choice([99, -1, 2**20])


def wrong_type(model: Model, _: Random) -> None:
    model.graph.input[0].type.tensor_type.elem_type = TensorProto.STRING
    model.graph.node.append(helper.make_node("Abs", [model.graph.input[0].name], ["abs_"]))
    if all(one.domain for one in model.opset_import):
        model.opset_import.extend(opsets(ai_onnx=21))


def attribute_twice(model: Model, draw: Random) -> None:
    node = draw.choice(list(model.graph.node))
    node.attribute.extend([helper.make_attribute("axis", 0)] * 2)


def attribute_type(model: Model, _: Random) -> None:
    if all(one.domain for one in model.opset_import):
        model.opset_import.extend(opsets(ai_onnx=21))
    added = helper.make_node("Softmax", [model.graph.input[0].name], ["soft_"], axis="last")
    model.graph.node.append(added)


def swap_order(model: Model, _: Random) -> None:
    model.graph.node.insert(
        0, helper.make_node("Identity", [model.graph.output[0].name], ["early"])
    )


def ir_version(model: Model, draw: Random) -> None:
    model.ir_version = draw.choice([0, 1, 2, 1000, -5, 2**40])


def bad_text(model: Model, _: Random) -> bytes:
    data = model.SerializeToString()
    name = model.graph.name.encode()
    return data.replace(name, b"\xff" * len(name))


def with_standard(model: Model) -> Model:
    if all(one.domain for one in model.opset_import):
        model.opset_import.extend(opsets(ai_onnx=21))
    return model


def add_node(model: Model, op: str, inputs: list[str], outputs: list[str], **more: object) -> None:
    node = helper.make_node(op, inputs, outputs, **more)  # type: ignore[arg-type]
    with_standard(model).graph.node.append(node)


def unknown_attribute(model: Model, draw: Random) -> None:
    x = model.graph.input[0].name
    name, value = draw.choice([("axs", 0), ("modex", "constant"), ("largest", 1)])
    add_node(model, "Flatten", [x], ["flat_"], **{name: value})


def too_many_inputs(model: Model, draw: Random) -> None:
    x = model.graph.input[0].name
    add_node(model, draw.choice(["Sigmoid", "Elu", "Shape"]), [x, x], ["more_"])


def too_few_inputs(model: Model, draw: Random) -> None:
    add_node(model, draw.choice(["MatMul", "Gather", "Where"]), [model.graph.input[0].name], ["f_"])


def too_many_outputs(model: Model, _: Random) -> None:
    add_node(model, "Tan", [model.graph.input[0].name], ["one_", "two_"])


def left_out_input(model: Model, draw: Random) -> None:
    x = model.graph.input[0].name
    inputs = draw.choice([["", x], [x, ""]])
    add_node(model, draw.choice(["Mul", "Max", "Mean"]), inputs, ["left_"])


def left_out_output(model: Model, _: Random) -> None:
    add_node(model, "Cos", [model.graph.input[0].name], [""])


def missing_attribute(model: Model, _: Random) -> None:
    add_node(model, "Cast", [model.graph.input[0].name], ["cast_"])


def split_without_parts(model: Model, _: Random) -> None:
    add_node(model, "Split", [model.graph.input[0].name], ["a_", "b_"])


def constant_without_value(model: Model, _: Random) -> None:
    add_node(model, "Constant", [], ["constant_"])


def nameless_graph(model: Model, draw: Random) -> None:
    graphs = [model.graph]
    for node in model.graph.node:
        graphs += [attribute.g for attribute in node.attribute if attribute.HasField("g")]
    draw.choice(graphs).name = ""


def contrary_default(model: Model, draw: Random) -> None:
    tensor = draw.choice([np.zeros((2, 3, 4), np.float32), np.zeros((2, 3), np.int8)])
    model.graph.initializer.append(numpy_helper.from_array(tensor, model.graph.input[0].name))


def typeless_input(model: Model, _: Random) -> None:
    model.graph.input[0].type.tensor_type.elem_type = TensorProto.UNDEFINED


def initializers_of_old(model: Model, _: Random) -> None:
    """In IR version 3 each is an input."""
    model.ir_version = 3
    model.graph.initializer.append(weights("w3", 2))


def no_type(model: Model, draw: Random) -> None:
    draw.choice([*model.graph.input, *model.graph.output]).ClearField("type")


def untyped_attribute(model: Model, _: Random) -> None:
    node = model.graph.node.add(op_type="Flatten", input=[model.graph.input[0].name], output=["z_"])
    node.attribute.append(helper.make_attribute("axis", 1))
    node.attribute[0].ClearField("type")


def input_of_two_types(model: Model, _: Random) -> None:
    model.graph.output.append(info(model.graph.input[0].name, 3, 5, 7))


def output_of_outer_graph(model: Model, draw: Random) -> None:
    """A branch that gives a value of the graph around it as it is."""
    flag = numpy_helper.from_array(np.array(True), "outer_")
    model.graph.initializer.append(flag)
    negated = helper.make_node("Not", ["outer_"], ["inner_"])
    own = helper.make_graph([negated], "own", [], [info("inner_", kind=TensorProto.BOOL)])
    outer = helper.make_graph([], "outer", [], [info("outer_", kind=TensorProto.BOOL)])
    first, second = draw.sample([own, outer], 2)
    add_node(model, "If", ["outer_"], ["if_"], then_branch=first, else_branch=second)


def cut_off(model: Model, draw: Random) -> bytes:
    data = model.SerializeToString()
    # Within the graph, whose length is said before it.
    start = data.index(model.graph.name.encode())
    return data[: draw.randrange(1, start)]


INVALID: list[Callable[[Model, Random], bytes | None]] = [
    drop_imports,
    import_twice,
    absurd_opset,
    future_opset,
    too_old_opset,
    unknown_operator,
    unknown_domain,
    no_operator,
    unknown_input,
    define_twice,
    unmade_output,
    recursion,
    absurd_flag,
    absurd_training_dims,
    absurd_external_length,
    absurd_value_info,
    absurd_dims,
    element_type,
    wrong_type,
    attribute_twice,
    attribute_type,
    swap_order,
    ir_version,
    bad_text,
    unknown_attribute,
    too_many_inputs,
    too_few_inputs,
    too_many_outputs,
    left_out_input,
    left_out_output,
    missing_attribute,
    split_without_parts,
    constant_without_value,
    nameless_graph,
    contrary_default,
    typeless_input,
    initializers_of_old,
    no_type,
    untyped_attribute,
    input_of_two_types,
    output_of_outer_graph,
    cut_off,
]

# These run all the same: what is wrong with them is beside what is run, or a formality.
RUNNABLE = {
    "recursion",
    "absurd_flag",
    "left_out_output",
    "nameless_graph",
    "contrary_default",
    "typeless_input",
    "initializers_of_old",
    "no_type",
    "untyped_attribute",
    "input_of_two_types",
    "output_of_outer_graph",
}


def mutants(mutations: list[Callable[[Model, Random], bytes | None]]) -> dict[str, bytes]:
    """Each mutation of each model, then random ones; the same in every run."""
    draw = Random(13)
    made: dict[str, bytes] = {}
    for number in range(max(COUNT, len(mutations) * len(BASES))):
        base = BASES[number % len(BASES)]()
        mutation = mutations[number // len(BASES) % len(mutations)]
        if number >= len(mutations) * len(BASES):
            for harmless in draw.sample(VALID, 2):
                harmless(base, draw)
        data = mutation(base, draw)
        made[f"{mutation.__name__}-{number}"] = data or base.SerializeToString()
    return made


def errors_of(folder: pathlib.Path, models: dict[str, bytes]) -> dict[str, list[str]]:
    """What `check` says of each model."""
    for name, data in models.items():
        (folder / f"{name}.onnx").write_bytes(data)
    done = subprocess.run(
        [PROGRAM, "check", "--json", *(f"{name}.onnx" for name in models)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    found: dict[str, list[str]] = {name: [] for name in models}
    for finding in json.loads(done.stdout):
        if finding["severity"] == "error":
            found[pathlib.Path(finding["file"]).stem].append(finding["message"])
    return found


def test_every_invalid_mutant_is_found(tmp_path: pathlib.Path) -> None:
    found = errors_of(tmp_path, mutants(INVALID))
    assert [name for name, messages in found.items() if not messages] == []
    assert max(len(message) for messages in found.values() for message in messages) < 1000


def test_no_valid_mutant_is_refused(tmp_path: pathlib.Path) -> None:
    models = mutants(VALID)
    assert {name: said for name, said in errors_of(tmp_path, models).items() if said} == {}
    for data in models.values():
        sardonyx.load(data)


def test_what_cannot_run_is_not_loaded() -> None:
    loaded = []
    for name, data in mutants(INVALID).items():
        try:
            sardonyx.load(data)
        except RuntimeError:
            continue
        loaded.append(name.partition("-")[0])
    assert set(loaded) <= RUNNABLE


@pytest.mark.parametrize("kind", ["initializer", "input"])
def test_names_that_a_subgraph_hides(kind: str) -> None:
    """By the standard, only names of node outputs differ from all in sight; as ONNX Runtime."""
    w, inner = (numpy_helper.from_array(np.array([v, v], np.float32), "w") for v in (1, 10))
    flag, number = (helper.make_tensor_value_info(n, t, []) for n, t in (("c", 9), ("i", 7)))
    is_input = kind == "input"
    body = helper.make_graph(
        [helper.make_node("Identity", ["c"], ["d"]), helper.make_node("Add", ["v", "w"], ["r"])],
        "body",
        [number, flag, *(helper.make_tensor_value_info(n, 1, [2]) for n in "vw"[: 1 + is_input])],
        [helper.make_tensor_value_info("d", 9, []), helper.make_tensor_value_info("r", 1, [2])],
        [] if is_input else [inner],
    )
    if is_input:
        body.node.add(op_type="Neg", input=["w"], output=["s"])
        body.output.append(helper.make_tensor_value_info("s", 1, [2]))
    states = ["x", "x"] if is_input else ["x"]
    loop = helper.make_node("Loop", ["n", "", *states], ["y", "z"][: len(states)], body=body)
    graph = helper.make_graph(
        [loop, helper.make_node("Mul", ["y", "w"], ["out"])],
        "g",
        [helper.make_tensor_value_info("x", 1, [2])],
        [helper.make_tensor_value_info("out", 1, [2])],
        [w, numpy_helper.from_array(np.array(2), "n")],
    )
    opsets = [helper.make_opsetid("", 18)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=9)
    onnx.checker.check_model(model, full_check=True)
    x = np.ones(2, np.float32)
    [wanted] = onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": x})
    loaded = sardonyx.load(model)
    assert loaded.verify() == []
    np.testing.assert_array_equal(loaded(x), wanted)
    text = sardonyx.decompile(model)
    np.testing.assert_array_equal(sardonyx.compile(text)(x), wanted)
    add = loaded.graph.nodes[0].subgraphs["body"].nodes[1]
    with pytest.raises(sardonyx.ModelError, match="another `w`, of graph `body`, hides it"):
        add.set_input(0, loaded.graph["w"])


def test_a_called_function_that_cannot_run_is_not_loaded() -> None:
    model = with_functions()
    model.functions[0].node[0].attribute.append(helper.make_attribute("alpha", 1.0))
    with pytest.raises(RuntimeError, match="has no attribute `alpha`"):
        sardonyx.load(model.SerializeToString())
    # What nobody calls is not run.
    model.graph.node[0].op_type, model.graph.node[0].domain = "Relu", ""
    sardonyx.load(model.SerializeToString())


@pytest.mark.parametrize("version", [23, 24, 25, 28])
@pytest.mark.parametrize("outputs", [["y", "k"], ["y", "", "v"], ["y", "k", "v"]])
def test_one_present_output_of_attention(
    tmp_path: pathlib.Path, version: int, outputs: list[str]
) -> None:
    """Each of them by itself before version 25, as onnx's full check has it."""
    node = helper.make_node("Attention", ["q", "k0", "v0"], outputs)
    graph = helper.make_graph(
        [node],
        "g",
        [info(name, 1, 2, 3, 4) for name in ("q", "k0", "v0")],
        [info(name, 1, 2, 3, 4) for name in outputs if name],
    )
    model = helper.make_model(graph, opset_imports=opsets(ai_onnx=version), ir_version=13)
    found = errors_of(tmp_path, {"m": model.SerializeToString()})["m"]
    assert bool(found) == (version >= 25 and outputs != ["y", "k", "v"])


def test_external_data_under_two_names(tmp_path: pathlib.Path) -> None:
    model = network()
    path = tmp_path / "model.onnx"
    onnx.save(model, path, save_as_external_data=True, location="data.bin", size_threshold=0)
    assert sardonyx.load(str(path)) is not None
    os.link(tmp_path / "data.bin", tmp_path / "elsewhere.bin")
    with pytest.raises(RuntimeError, match="hard link"):
        sardonyx.load(str(path))
