"""If, Loop and Scan: every type that each version allows for the values that pass through.

Their bodies hand the values on, so that what is wanted are the bits that went in: of all numbers,
not-a-numbers and text alike, of tensors, sequences and optionals.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnx.defs
import onnx.helper
import pytest
from onnx import TensorProto, TypeProto

from eval.test_node_cases import Evaluator, onnxruntime_run
from eval.test_schemas import schema_versions
from eval.test_types import TYPES, is_int, limits

make_node = onnx.helper.make_node
DIMS = (2, 3)


def versions_and_types(op: str) -> list[tuple[int, str]]:
    return [
        (version, name)
        for version in schema_versions()["", op]
        for name in sorted(onnx.defs.get_schema(op, version).outputs[0].types)
    ]


def element_of(name: str) -> str:
    """`tensor(float)` of `optional(seq(tensor(float)))`."""
    return name[name.index("tensor(") :].rstrip(")") + ")"


def type_of(name: str, dims: tuple[int, ...]) -> TypeProto:
    """The type that a schema calls so, with a shape."""
    element = onnx.helper.np_dtype_to_tensor_dtype(TYPES[element_of(name)])
    result = onnx.helper.make_tensor_type_proto(element, dims)
    if "seq(" in name:
        result = onnx.helper.make_sequence_type_proto(result)
    if "optional(" in name:
        result = onnx.helper.make_optional_type_proto(result)
    return result


def info_of(value: str, name: str, dims: tuple[int, ...] = DIMS) -> onnx.ValueInfoProto:
    return onnx.helper.make_value_info(value, type_of(name, dims))


def any_bits(dtype: np.dtype, dims: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    if dtype.kind == "O":
        return np.vectorize(lambda n: "ä" * n, otypes=[object])(rng.integers(0, 30, dims))
    if dtype.kind == "b":
        return rng.integers(0, 2, dims).astype(bool)
    if dtype.name == "float4_e2m1fn":
        return rng.integers(0, 16, dims).astype("uint8").view(dtype)
    if is_int(dtype) and dtype.kind == "V":  # of less than a byte
        low, high = limits(dtype)
        return rng.integers(int(low), int(high) + 1, dims).astype(dtype)
    data = rng.integers(0, 256, (*dims, dtype.itemsize), "uint8")
    return data.view(dtype).reshape(dims)


def values_of(name: str, count: int) -> list[Any]:
    """Different values of a type; one of an optional type is none."""
    rng = np.random.default_rng(len(name))
    dtype = TYPES[element_of(name)]
    values: list[Any] = [
        [any_bits(dtype, DIMS, rng) for _ in range(2 + i)]
        if "seq(" in name
        else any_bits(dtype, DIMS, rng)
        for i in range(count)
    ]
    if "optional(" in name:
        values[-1] = None
    return values


def hand_on(source: str, result: str, name: str, opset: int) -> onnx.NodeProto | None:
    """Identity, or None where it does not know the type in this version."""
    allowed = onnx.defs.get_schema("Identity", opset).inputs[0].types
    return make_node("Identity", [source], [result]) if name in allowed else None


def body_of(
    name: str,
    opset: int,
    inputs: list[onnx.ValueInfoProto],
    outputs: list[tuple[str, str]],
    condition: str = "",
) -> onnx.GraphProto:
    """A graph whose outputs (name, source) are values from around it or inputs."""
    nodes, infos = [], []
    if condition:
        nodes.append(make_node("Identity", [condition], ["again"]))
        infos.append(onnx.helper.make_tensor_value_info("again", TensorProto.BOOL, []))
    for result, source in outputs:
        node = hand_on(source, result, name, opset)
        nodes += [node] if node else []
        infos.append(info_of(result if node else source, name))
    return onnx.helper.make_graph(nodes, "body", inputs, infos)


def run(
    evaluator: Evaluator,
    node: onnx.NodeProto,
    opset: int,
    inputs: dict[str, tuple[TypeProto, Any]],
) -> list[Any]:
    infos = [onnx.helper.make_value_info(name, given) for name, (given, _) in inputs.items()]
    outputs = [onnx.helper.make_empty_tensor_value_info(name) for name in node.output]
    graph = onnx.helper.make_graph([node], "g", infos, outputs)
    imports = [onnx.helper.make_opsetid("", opset)]
    model = onnx.helper.make_model(graph, opset_imports=imports)
    return evaluator.run(model, {name: value for name, (_, value) in inputs.items()})


def check_bits(got: Any, wanted: Any) -> None:
    if isinstance(wanted, list):
        assert isinstance(got, list) and len(got) == len(wanted)
        for one, other in zip(got, wanted, strict=True):
            check_bits(one, other)
    elif wanted is None:
        assert got is None
    else:
        assert got.dtype == wanted.dtype and got.shape == wanted.shape
        if got.dtype.kind == "O":
            assert got.tolist() == wanted.tolist()
        else:
            assert got.tobytes() == wanted.tobytes()


SCALARS = {
    np.dtype("bool"): onnx.helper.make_tensor_type_proto(TensorProto.BOOL, []),
    np.dtype("int64"): onnx.helper.make_tensor_type_proto(TensorProto.INT64, []),
}


def scalar(value: Any) -> tuple[TypeProto, np.ndarray]:
    array = np.array(value)
    return SCALARS[array.dtype], array


@pytest.mark.parametrize(("version", "name"), versions_and_types("If"))
def test_if(evaluator: Evaluator, version: int, name: str) -> None:
    x, y = values_of(name, 2)
    node = make_node(
        "If",
        ["condition"],
        ["r"],
        then_branch=body_of(name, version, [], [("t", "x")]),
        else_branch=body_of(name, version, [], [("e", "y")]),
    )
    given = {"x": (type_of(name, DIMS), x), "y": (type_of(name, DIMS), y)}
    for condition, wanted in ((True, x), (False, y)):
        [got] = run(evaluator, node, version, {"condition": scalar(condition), **given})
        check_bits(got, wanted)


@pytest.mark.parametrize(("version", "name"), versions_and_types("Loop"))
def test_loop(evaluator: Evaluator, version: int, name: str) -> None:
    """The two values change places in every iteration; a scan output keeps the first."""
    x, y = values_of(name, 2)
    scans = [("row", "a")] if name.startswith("tensor") else []
    counters = [
        onnx.helper.make_tensor_value_info("i", TensorProto.INT64, []),
        onnx.helper.make_tensor_value_info("c", TensorProto.BOOL, []),
    ]
    places = [info_of("a", name), info_of("b", name)]
    body = body_of(name, version, counters + places, [("p", "b"), ("q", "a"), *scans], "c")
    node = make_node("Loop", ["n", "go", "x", "y"], ["r", "s", *(["rows"] * len(scans))], body=body)
    given = {"x": (type_of(name, DIMS), x), "y": (type_of(name, DIMS), y)}
    for trips in (3, 0):
        inputs = {"n": scalar(trips), "go": scalar(True), **given}
        got = run(evaluator, node, version, inputs)
        check_bits(got[:2], [y, x] if trips else [x, y])
        if scans:
            check_bits(got[2], np.stack([x, y, x])[:trips])


@pytest.mark.parametrize(
    ("version", "name"), [row for row in versions_and_types("Scan") if row[0] > 8]
)
def test_scan(evaluator: Evaluator, version: int, name: str) -> None:
    """The state is the last row; the scan output, along its axis 1, the one before each."""
    rng = np.random.default_rng(version)
    state, rows = (any_bits(TYPES[name], dims, rng) for dims in (DIMS, (2, 4, 3)))
    infos = [info_of("a", name), info_of("b", name)]
    body = body_of(name, version, infos, [("p", "b"), ("q", "a")])
    axes = {"scan_input_axes": [1], "scan_output_axes": [1]}
    for backwards in (0, 1):
        directions = {"scan_input_directions": [backwards], "scan_output_directions": [backwards]}
        node = make_node(
            "Scan", ["x", "xs"], ["r", "o"], body=body, num_scan_inputs=1, **axes, **directions
        )
        inputs = {
            "x": (type_of(name, DIMS), state),
            "xs": (type_of(name, rows.shape), rows),
        }
        got = run(evaluator, node, version, inputs)
        if backwards:
            before = np.concatenate([rows[:, 1:], state[:, None]], axis=1)
        else:
            before = np.concatenate([state[:, None], rows[:, :-1]], axis=1)
        check_bits(got, [rows[:, 0 if backwards else -1], before])


@pytest.mark.parametrize(
    ("version", "name"), [row for row in versions_and_types("Scan") if row[0] > 8]
)
def test_scan_over_nothing(evaluator: Evaluator, version: int, name: str) -> None:
    state, rows = (any_bits(TYPES[name], dims, np.random.default_rng(0)) for dims in (DIMS, (0, 3)))
    infos = [info_of("a", name), info_of("b", name, (3,))]
    body = body_of(name, version, infos, [("p", "a"), ("q", "a")])
    node = make_node("Scan", ["x", "xs"], ["r", "o"], body=body, num_scan_inputs=1)
    inputs = {"x": (type_of(name, DIMS), state), "xs": (type_of(name, (0, 3)), rows)}
    check_bits(run(evaluator, node, version, inputs), [state, np.zeros((0, *DIMS), state.dtype)])


def undeclared(name: str) -> onnx.ValueInfoProto:
    return onnx.ValueInfoProto(name=name)


def around(node: onnx.NodeProto, place: str) -> tuple[list[onnx.NodeProto], list[Any], list[Any]]:
    """Nodes that run it there, functions of the model, and its imports."""
    imports = [onnx.helper.make_opsetid("", 17), onnx.helper.make_opsetid("d", 1)]
    if place == "function":
        names = ["n", "x", "w"]
        function = onnx.helper.make_function("d", "F", names, ["y"], [node], imports)
        return [make_node("F", names, ["y"], domain="d")], [function], imports
    if place == "branch":
        inner = make_node("Identity", ["x"], ["e"])
        node.output[0] = "t"
        branches = [
            onnx.helper.make_graph([each], "b", [], [undeclared(each.output[0])])
            for each in (node, inner)
        ]
        return (
            [
                make_node("Equal", ["n", "n"], ["same"]),
                make_node("If", ["same"], ["y"], then_branch=branches[0], else_branch=branches[1]),
            ],
            [],
            imports,
        )
    return [node], [], imports


@pytest.mark.parametrize("row", ["nothing", "FLOAT", "FLOAT[A]"])
@pytest.mark.parametrize("place", ["graph", "function", "branch"])
@pytest.mark.parametrize("op", ["Loop", "Scan"])
def test_no_iteration_and_no_declared_row(
    evaluator: Evaluator, op: str, place: str, row: str
) -> None:
    """The row is inferred, as ONNX Runtime does it, and in a function from its calls."""
    value_info = onnx.helper.make_tensor_value_info
    dims = ["A"] if row.endswith("]") else None
    info = undeclared("r") if row == "nothing" else value_info("r", TensorProto.FLOAT, dims)
    if op == "Loop":
        nodes = [make_node("Identity", ["c"], ["p"]), make_node("Gather", ["x", "i"], ["r"])]
        given = [value_info("i", TensorProto.INT64, []), value_info("c", TensorProto.BOOL, [])]
        body = onnx.helper.make_graph(nodes, "b", given, [undeclared("p"), info])
        node = make_node("Loop", ["n", ""], ["y"], body=body)
    else:
        nodes = [make_node("Add", ["e", "w"], ["r"])]
        body = onnx.helper.make_graph(nodes, "b", [undeclared("e")], [info])
        node = make_node("Scan", ["x"], ["y"], body=body, num_scan_inputs=1)
    nodes, functions, imports = around(node, place)
    given = [
        value_info("n", TensorProto.INT64, []),
        value_info("x", TensorProto.FLOAT, ["N", 3]),
        value_info("w", TensorProto.FLOAT, [3]),
    ]
    graph = onnx.helper.make_graph(nodes, "g", given, [value_info("y", TensorProto.FLOAT, None)])
    model = onnx.helper.make_model(graph, opset_imports=imports, functions=functions, ir_version=8)
    inputs = {"n": np.array(0), "x": np.zeros((0, 3), "float32"), "w": np.zeros(3, "float32")}
    wanted = [np.zeros((0, 3), "float32")]
    check_bits(evaluator.run(model, inputs), wanted)
    if op == "Loop":  # ONNX Runtime has no Scan over nothing
        check_bits(onnxruntime_run(model, inputs), wanted)


@pytest.mark.parametrize("name", sorted(onnx.defs.get_schema("Scan", 8).outputs[0].types))
def test_scan_of_a_batch(evaluator: Evaluator, name: str) -> None:
    """Version 8: each element of the batch has a length, and zeros after it."""
    rng = np.random.default_rng(8)
    state, rows = (any_bits(TYPES[name], dims, rng) for dims in ((2, 3), (2, 4, 3)))
    infos = [info_of("a", name, (3,)), info_of("b", name, (3,))]
    body = body_of(name, 8, infos, [("p", "b"), ("q", "a")])
    lengths = [4, 2]
    for backwards in (0, 1):
        node = make_node(
            "Scan",
            ["n", "x", "xs"],
            ["r", "o"],
            body=body,
            num_scan_inputs=1,
            directions=[backwards],
        )
        inputs = {
            "n": (onnx.helper.make_tensor_type_proto(TensorProto.INT64, [2]), np.array(lengths)),
            "x": (type_of(name, (2, 3)), state),
            "xs": (type_of(name, (2, 4, 3)), rows),
        }
        last, before = np.empty_like(state), np.empty_like(rows)
        before[...] = "" if state.dtype.kind == "O" else 0
        for i, length in enumerate(lengths):
            order = rows[i, :length][::-1] if backwards else rows[i, :length]
            last[i] = order[-1]
            before[i, :length] = [state[i], *order[:-1]]
        check_bits(run(evaluator, node, 8, inputs), [last, before])


@pytest.fixture(scope="module")
def evaluator() -> Evaluator:
    return Evaluator()
