"""Bad input of the evaluator: an error that names the node and says why, and no crash."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import onnx
import onnx.helper
import pytest
from onnx import TensorProto

from eval.test_node_cases import Evaluator, to_array
from eval.test_types import by_operator, with_inputs

pytestmark = pytest.mark.filterwarnings("ignore")

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
FAR = 2**40
ML = "ai.onnx.ml"


@pytest.fixture(scope="module")
def evaluator() -> Evaluator:
    return Evaluator()


def floats(*dims: int) -> np.ndarray:
    return np.arange(np.prod(dims, dtype=int), dtype="float32").reshape(dims)


def i64(*values: Any) -> np.ndarray:
    return np.array(values[0] if len(values) == 1 else values, "int64")


def model_of(
    op: str, inputs: list[Any], opset: int = 21, domain: str = "", outputs: int = 1, **more: Any
) -> tuple[onnx.ModelProto, dict[str, Any]]:
    names = [f"x{i}" if value is not None else "" for i, value in enumerate(inputs)]
    results = [f"y{i}" for i in range(outputs)]
    node = onnx.helper.make_node(op, names, results, name="the node", domain=domain, **more)
    graph = onnx.helper.make_graph(
        [node],
        "g",
        [onnx.helper.make_empty_tensor_value_info(name) for name in names if name],
        [onnx.helper.make_empty_tensor_value_info(name) for name in results],
    )
    imports = [onnx.helper.make_opsetid("", opset), onnx.helper.make_opsetid(ML, 5)]
    model = onnx.helper.make_model(graph, opset_imports=imports, ir_version=10)
    return model, {n: v for n, v in zip(names, inputs, strict=True) if v is not None}


@dataclasses.dataclass(frozen=True)
class Bad:
    op: str
    inputs: list[Any]
    reason: str  # a regular expression
    more: dict[str, Any]


def bad(op: str, inputs: list[Any], reason: str, **more: Any) -> Bad:
    return Bad(op, inputs, reason, more)


X = floats(2, 3)
IMAGE = floats(1, 2, 4, 4)
LARGE = "negative or too large|beyond the limit"

TABLE = [
    # --- Shapes that multiply past memory, and past 64 bits.
    bad("ConstantOfShape", [i64(FAR, FAR)], LARGE),
    bad("ConstantOfShape", [np.array([FAR])], LARGE),
    bad("Expand", [X, i64(FAR, 2, 3)], LARGE),
    bad("Tile", [X, i64(FAR, FAR)], LARGE),
    bad("Tile", [X, i64(FAR, 1)], LARGE),
    bad("Pad", [X, i64(FAR, 0, 0, 0)], LARGE),
    bad("Pad", [X, i64(2**62, 0, 2**62, 0)], "too large"),
    bad("Range", [i64(0), i64(2**62), i64(1)], LARGE),
    bad("Range", [np.float32(0), np.float32(1), np.float32(1e-30)], LARGE),
    bad("OneHot", [i64([1]), i64(FAR), floats(2)], LARGE),
    bad("RandomNormal", [], LARGE, shape=[FAR]),
    bad("Multinomial", [floats(1, 3)], LARGE, sample_size=FAR),
    bad("Resize", [IMAGE, None, np.array([1, 1, 1e9, 1e9], "float32")], LARGE),
    bad("Resize", [IMAGE, None, None, i64(1, 2, FAR, FAR)], LARGE),
    bad("Col2Im", [floats(1, 4, 4), i64(FAR, FAR), i64(2, 2)], "is not valid"),
    bad(
        "MaxUnpool",
        [IMAGE, i64(np.zeros((1, 2, 4, 4))), i64(1, 2, FAR, FAR)],
        LARGE,
        kernel_shape=[2, 2],
    ),
    bad("ConvTranspose", [IMAGE, floats(2, 1, 2, 2)], "strides", strides=[FAR, 1]),
    bad("HannWindow", [i64(FAR)], LARGE),
    bad("DFT", [floats(1, 4, 1), i64(FAR)], "too large", opset=20),
    bad("AffineGrid", [floats(1, 2, 3), i64(1, 1, FAR, FAR)], LARGE, opset=20),
    bad("CenterCropPad", [X, i64(FAR, 3)], LARGE),
    bad("Upsample", [IMAGE, np.array([1, 1, 1e9, 1e9], "float32")], LARGE, opset=9),
    bad(
        "MelWeightMatrix",
        [i64(FAR), i64(8), i64(16), np.float32(0), np.float32(9)],
        "sizes of the filter bank",
    ),
    # --- Negative sizes.
    bad("ConstantOfShape", [i64(-1, 2)], LARGE),
    bad("Reshape", [X, i64(-2, 3)], "-2|do not fit"),
    bad("Reshape", [X, i64(-1, -1)], "-1"),
    bad("Expand", [X, i64(-3, 3)], "-3|negative"),
    bad("Tile", [X, i64(-1, 1)], "not valid"),
    bad("Pad", [X, i64(0, -4, 0, 0)], "take more than axis 1"),
    bad("Split", [X, i64(-1, 3)], "not valid", outputs=2),
    bad("TopK", [X, i64([-1])], "k is -1", outputs=2),
    bad("OneHot", [i64([1]), i64(-3), floats(2)], "depth must be positive"),
    bad("RandomUniform", [], LARGE, shape=[2, -1]),
    bad("HannWindow", [i64(-5)], "negative|-5|positive"),
    bad("Resize", [IMAGE, None, None, i64(1, 2, -4, 4)], "-4|negative|positive"),
    bad("MaxPool", [IMAGE], "kernel", kernel_shape=[-2, 2]),
    bad("Conv", [IMAGE, floats(2, 2, 2, 2)], "strides", strides=[0, 1]),
    bad(
        "Conv", [IMAGE, floats(2, 2, 9, 9)], "a window of 9 does not fit axis 0", pads=[0, 0, 0, 0]
    ),
    # One element more than there is: as inference, although the formula says 0 positions.
    bad("Conv", [IMAGE, floats(2, 2, 5, 1)], "a window of 5 does not fit axis 0"),
    bad("Conv", [IMAGE, floats(2, 2, 6, 1)], "does not fit", strides=[2, 1]),
    bad("MaxPool", [IMAGE], "a window of 5 does not fit axis 1", kernel_shape=[1, 5]),
    bad("AveragePool", [IMAGE], "does not fit axis 1", kernel_shape=[1, 5], strides=[1, 2]),
    # --- Indices out of range.
    bad("Gather", [X, i64([2])], "index 2 is out of range for an axis of size 2"),
    bad("Gather", [X, i64([-3])], "index -3 is out of range for an axis of size 2"),
    bad("GatherElements", [X, i64([[5]])], "index 5 is out of range"),
    bad("GatherND", [X, i64([[0, 9]])], "index 9 is out of range"),
    bad("ScatterElements", [X, i64([[7]]), floats(1, 1)], "index 7 is out of range"),
    bad("ScatterND", [X, i64([[4]]), floats(1, 3)], "index 4 is out of range"),
    bad("SequenceAt", [[X, X], i64(2)], "2"),
    bad("SequenceErase", [[X], i64(-2)], "-2"),
    bad("SequenceInsert", [[X], X, i64(5)], "5"),
    bad("NegativeLogLikelihoodLoss", [X, i64(0, 3)], "3"),
    bad("MaxUnpool", [IMAGE, np.full((1, 2, 4, 4), 10**6)], "1000000", kernel_shape=[2, 2]),
    bad("RoiAlign", [IMAGE, floats(1, 4), i64([3])], "3"),
    bad("MaxRoiPool", [IMAGE, np.array([[9, 0, 0, 1, 1]], "float32")], "9", pooled_shape=[1, 1]),
    bad("ReverseSequence", [X, i64(1, 2, 9)], "9", batch_axis=1, time_axis=0),
    bad("ReverseSequence", [X, i64(1, 2, 1)], "must be 0 and 1", batch_axis=1, time_axis=2**63 - 1),
    bad("ArrayFeatureExtractor", [X, i64([3])], "3", domain=ML),
    # --- Axes.
    bad("Softmax", [X], "axis 2 is out of range for rank 2", axis=2),
    *(
        bad(op, [np.array(3, "float32")], "axis -1 is out of range for rank 0")
        for op in ("Softmax", "LogSoftmax", "Hardmax")
    ),
    bad(
        "TfIdfVectorizer",
        [i64(1, 2)],
        "1 weights for 2 n-grams",
        mode="IDF",
        weights=[1.0],
        min_gram_length=1,
        max_gram_length=1,
        max_skip_count=0,
        ngram_counts=[0],
        ngram_indexes=[0, 1],
        pool_int64s=[1, 2],
    ),
    bad("Concat", [X, X], "axis -3 is out of range for rank 2", axis=-3),
    bad("Transpose", [X], "permutation", perm=[0, 0]),
    bad("ReduceSum", [X, i64([2])], "axis 2 is out of range"),
    bad(
        "Unsqueeze",
        [X, i64(0, 0)],
        "0",
    ),
    bad("Squeeze", [X, i64([1])], "axis 1 has size 3, not 1"),
    bad("ArgMax", [floats(0, 3)], "empty|no element|size 0", axis=0),
    # --- Types and shapes that do not go together.
    bad("Add", [X, i64(1, 2, 3)], "is FLOAT.2, 3.: both must be of one type .`T`."),
    bad("Add", [X, floats(2, 2)], "broadcast"),
    bad("And", [X, X], "BOOL|does not take"),
    bad("MatMul", [X, X], "do not multiply"),
    bad("Gemm", [X, floats(2, 2)], "do not|fit"),
    bad("Concat", [X, floats(2)], "do not go together|rank", axis=0),
    bad("Where", [X, X, X], "does not take|BOOL"),
    bad("LSTM", [floats(2, 1, 3), floats(1, 8, 2), floats(1, 8, 2)], "needed|fit"),
    bad("BatchNormalization", [IMAGE, *[floats(3)] * 4], "must have 2 numbers"),
    bad("Einsum", [X, X], "twice in the result", equation="ij,ik->jj"),
    bad("Einsum", [X, X], "", equation="ij,jk->ik"),
    bad("Cast", [np.array(["x1"], dtype=object)], "x1", to=FLOAT),
    bad("Cast", [X], "99", to=99),
    # --- Calls that no schema admits.
    bad("Add", [X], "takes 2 inputs, and `B` is missing"),
    bad("Relu", [None], "takes 1 input, and `X` is missing"),
    bad("Relu", [X], "`alpha`", alpha=1.0),
    bad("Split", [X], "outputs|divisible", outputs=5, opset=13),
    bad("NoSuch", [X], "NoSuch"),
    bad("Div", [i64(1, 2), i64(0, 1)], "integer division by zero"),
]


def title(one: Bad) -> str:
    return one.op


@pytest.mark.parametrize("one", TABLE, ids=title)
def test_the_error_names_the_node_and_the_reason(evaluator: Evaluator, one: Bad) -> None:
    model, inputs = model_of(one.op, one.inputs, **one.more)
    with pytest.raises(RuntimeError) as caught:
        evaluator.run(model, inputs)
    message = str(caught.value)
    assert "crash" not in message
    assert "`the node`" in message and one.op in message, message
    assert re.search(one.reason, message), f"{message}; expected {one.reason}"


# --- Graphs: functions, loops, branches -----------------------------------------------------------


def info(name: str, number: int = FLOAT, shape: list[int] | None = None) -> onnx.ValueInfoProto:
    return onnx.helper.make_tensor_value_info(name, number, shape)


def graph_of(nodes: list[Any], inputs: list[Any], outputs: list[str]) -> onnx.GraphProto:
    results = [onnx.helper.make_empty_tensor_value_info(name) for name in outputs]
    return onnx.helper.make_graph(nodes, "body", inputs, results)


def make(op: str, inputs: list[str], outputs: list[str], **attributes: Any) -> onnx.NodeProto:
    return onnx.helper.make_node(op, inputs, outputs, name=f"{op} of {outputs[0]}", **attributes)


def constant(name: str, value: Any) -> onnx.NodeProto:
    return make("Constant", [], [name], value=onnx.numpy_helper.from_array(np.asarray(value)))


def whole(graph: onnx.GraphProto, functions: Sequence[onnx.FunctionProto] = ()) -> onnx.ModelProto:
    imports = [onnx.helper.make_opsetid("", 21), onnx.helper.make_opsetid("local", 1)]
    return onnx.helper.make_model(graph, opset_imports=imports, ir_version=10, functions=functions)


def function(name: str, *callees: str) -> onnx.FunctionProto:
    nodes, value = [], "x"
    for i, callee in enumerate(callees):
        nodes.append(onnx.helper.make_node(callee, [value], [f"v{i}"], domain="local"))
        value = f"v{i}"
    nodes.append(onnx.helper.make_node("Identity", [value], ["y"]))
    imports = [onnx.helper.make_opsetid("", 21), onnx.helper.make_opsetid("local", 1)]
    return onnx.helper.make_function("local", name, ["x"], ["y"], nodes, imports)


@pytest.mark.parametrize(
    "functions", [[function("f", "f")], [function("f", "g"), function("g", "f")]]
)
def test_recursive_functions(evaluator: Evaluator, functions: list[onnx.FunctionProto]) -> None:
    graph = graph_of([onnx.helper.make_node("f", ["a"], ["b"], domain="local")], [info("a")], ["b"])
    with pytest.raises(RuntimeError, match=r"function `local\.[fg]` calls itself"):
        evaluator.run(whole(graph, functions), {"a": X})


def test_functions_in_functions(evaluator: Evaluator) -> None:
    functions = [function(f"f{i}", f"f{i + 1}") for i in range(1300)] + [function("f1300")]
    call = onnx.helper.make_node("f0", ["a"], ["b"], domain="local")
    graph = graph_of([call], [info("a")], ["b"])
    with pytest.raises(RuntimeError, match="nested more than 1200 deep"):
        evaluator.run(whole(graph, functions), {"a": X})


def test_functions_that_double_at_every_level(evaluator: Evaluator) -> None:
    """2 to the 40 calls: the limit of steps ends them."""
    functions = [function(f"f{i}", f"f{i + 1}", f"f{i + 1}") for i in range(40)]
    functions.append(function("f40"))
    graph = graph_of(
        [onnx.helper.make_node("f0", ["a"], ["b"], domain="local")], [info("a")], ["b"]
    )
    with pytest.raises(RuntimeError, match=r"steps|nodes|deep|calls"):
        evaluator.run(whole(graph, functions), {"a": X})


def loop_model(body: onnx.GraphProto, inputs: list[str], outputs: list[str]) -> onnx.ModelProto:
    nodes = [constant("n", i64(3)), constant("t", np.array(True))]
    nodes.append(make("Loop", inputs, outputs, body=body))
    return whole(graph_of(nodes, [info("x")], outputs))


LOOP_INPUTS = [info("i", INT64, []), info("c", BOOL, []), info("v")]


def test_a_loop_without_end(evaluator: Evaluator) -> None:
    body = graph_of(
        [make("Identity", ["c"], ["d"]), make("Add", ["v", "v"], ["w"])], LOOP_INPUTS, ["d", "w"]
    )
    with pytest.raises(RuntimeError, match="limit of 1000000 steps"):
        evaluator.run(loop_model(body, ["", "t", "x"], ["r"]), {"x": X})


def test_the_body_of_a_loop_must_fit(evaluator: Evaluator) -> None:
    one = graph_of([make("Identity", ["c"], ["d"])], LOOP_INPUTS, ["d"])
    few = graph_of([make("Identity", ["c"], ["d"])], LOOP_INPUTS[:2], ["d"])
    odd = graph_of([make("Identity", ["v"], ["w"])], LOOP_INPUTS, ["w", "w"])
    model = loop_model(one, ["n", "t", "x"], ["r"])
    for body in (one, few, odd):
        model.graph.node[2].CopyFrom(make("Loop", ["n", "t", "x"], ["r"], body=body))
        with pytest.raises(RuntimeError, match=r"`Loop of r` .*(body|outputs|inputs|BOOL)"):
            evaluator.run(model, {"x": X})


def test_scanned_outputs_must_be_of_one_shape(evaluator: Evaluator) -> None:
    nodes = [
        make("Identity", ["c"], ["d"]),
        make("Identity", ["v"], ["w"]),
        constant("one", i64([1])),
        make("Reshape", ["i", "one"], ["k"]),
        make("ConstantOfShape", ["k"], ["o"]),
    ]
    body = graph_of(nodes, LOOP_INPUTS, ["d", "w", "o"])
    with pytest.raises(RuntimeError, match=r"`Loop of r`.*FLOAT.1|`Loop of r`.*shape"):
        evaluator.run(loop_model(body, ["n", "t", "x"], ["r", "s"]), {"x": X})


def test_branches_must_fit(evaluator: Evaluator) -> None:
    then = graph_of([make("Identity", ["x"], ["a"])], [], ["a"])
    two = graph_of([make("Identity", ["x"], ["b"]), make("Neg", ["x"], ["e"])], [], ["b", "e"])
    condition = constant("t", np.array(False))
    node = make("If", ["t"], ["r"], then_branch=then, else_branch=two)
    with pytest.raises(RuntimeError, match=r"`If of r`.*(output|result)"):
        evaluator.run(whole(graph_of([condition, node], [info("x")], ["r"])), {"x": X})
    several = constant("t", np.array([True, False]))
    node = make("If", ["t"], ["r"], then_branch=then, else_branch=then)
    with pytest.raises(RuntimeError, match=r"`If of r`.*(BOOL|condition|one)"):
        evaluator.run(whole(graph_of([several, node], [info("x")], ["r"])), {"x": X})


def test_scans_must_fit(evaluator: Evaluator) -> None:
    inputs = [info("s"), info("p"), info("q")]
    nodes = [make("Add", ["s", "p"], ["t"]), make("Add", ["t", "q"], ["u"])]
    body = graph_of(nodes, inputs, ["t", "u"])
    node = make("Scan", ["z", "x", "y"], ["r", "o"], body=body, num_scan_inputs=2)
    model = whole(graph_of([node], [info("z"), info("x"), info("y")], ["r", "o"]))
    named = {"z": floats(3), "x": floats(4, 3), "y": floats(5, 3)}
    with pytest.raises(RuntimeError, match=r"`Scan of r`.*(length|size|4|5)"):
        evaluator.run(model, named)
    model.graph.node[0].attribute[1].i = 7
    with pytest.raises(RuntimeError, match=r"`Scan of r`.*7"):
        evaluator.run(model, named)


SPLIT = make("SplitToSequence", ["x"], ["rows"], axis=0)


@pytest.mark.parametrize(
    ("inputs", "outputs", "takes", "reason"),
    [
        (["rows"], ["r"], ["p", "q"], "do not fit those of the node"),
        (["rows"], ["r", "s"], ["p"], "do not fit those of the node"),
        (["rows", "whole"], ["r"], ["p", "q"], "the sequences have different lengths"),
        (["x"], ["r"], ["p"], r"FLOAT\[2, 3\], but must be a sequence"),
    ],
)
def test_bodies_of_sequences_must_fit(
    evaluator: Evaluator, inputs: list[str], outputs: list[str], takes: list[str], reason: str
) -> None:
    body = graph_of([make("Neg", ["p"], ["n"])], [info(name) for name in takes], ["n"])
    nodes = [
        SPLIT,
        make("SequenceConstruct", ["x"], ["whole"]),
        make("SequenceMap", inputs, outputs, body=body),
    ]
    with pytest.raises(RuntimeError, match=f"`SequenceMap of r`.*{reason}"):
        evaluator.run(whole(graph_of(nodes, [info("x")], outputs)), {"x": X})


def test_inputs_of_the_model(evaluator: Evaluator) -> None:
    model = whole(graph_of([make("Relu", ["x"], ["r"])], [info("x", FLOAT, [2, 3])], ["r"]))
    for named, reason in (
        ({}, "`x`"),
        ({"x": X, "q": X}, "`q`"),
        ({"x": i64(1)}, "`x` is INT64"),
        ({"x": floats(2, 4)}, r"`x`.*\[2, ?3\]"),
        ({"x": [X]}, "`x`"),
    ):
        with pytest.raises(RuntimeError, match=reason):
            evaluator.run(model, named)


# --- Every operator: axes, and inputs that do not fit --------------------------------------------

EXTREMES = [0, -1, 1, 2**31, FAR, 2**63 - 1, -(2**63)]


def changed_inputs(inputs: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """One input at a time: another rank or size, or extreme numbers."""
    for name, value in inputs.items():
        if isinstance(value, list | dict | None.__class__):
            continue
        x = to_array(value)
        others = [x[None], x.reshape(-1), x[:0] if x.ndim else x[None][:0]]
        others += [x[0], np.concatenate([x, x])] if x.ndim and x.size else []
        if x.dtype == np.int64 and x.size < 64:
            others += [np.full(x.shape, number) for number in EXTREMES]
        elif x.dtype.kind == "f":
            others += [np.full(x.shape, number, x.dtype) for number in (np.nan, np.inf, -1e30)]
        for other in others:
            yield {**inputs, name: other}


@pytest.mark.parametrize("key", sorted(by_operator()), ids=lambda key: key[1])
def test_inputs_that_do_not_fit(evaluator: Evaluator, key: tuple[str, str]) -> None:
    """A result or an error of words: no crash, no signal."""
    for model, inputs, _ in by_operator()[key]:
        for changed in changed_inputs(inputs):
            retype = with_inputs(model, {k: plain(v) for k, v in changed.items()})
            for declared in retype.graph.input:
                if declared.type.WhichOneof("value") == "tensor_type":
                    declared.type.tensor_type.ClearField("shape")
            try:
                evaluator.run(retype, changed)
            except RuntimeError as error:
                assert "crash" not in str(error), (changed, error)
                assert key[1] in str(error)


def plain(value: Any) -> Any:
    return value if isinstance(value, list | dict) or value is None else to_array(value)


WITH_AXIS = [
    key
    for key, [(_, _, schema), *_] in sorted(by_operator().items())
    # One scale for all needs no axis.
    if "axis" in schema.attributes and "Quantize" not in key[1] and "quantize" not in key[1]
]


@pytest.mark.parametrize("key", WITH_AXIS, ids=lambda key: key[1])
@pytest.mark.parametrize("axis", [9, -9])
def test_axes_out_of_range(evaluator: Evaluator, key: tuple[str, str], axis: int) -> None:
    model, inputs, _ = by_operator()[key][0]
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    node = changed.graph.node[0]
    kept = [a for a in node.attribute if a.name != "axis"]
    del node.attribute[:]
    node.attribute.extend([*kept, onnx.helper.make_attribute("axis", axis)])
    with pytest.raises(RuntimeError, match=f"axis {axis} is out of range"):
        evaluator.run(changed, inputs)
