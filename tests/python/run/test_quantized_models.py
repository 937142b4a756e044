"""Models with QuantizeLinear and DequantizeLinear around their products, which run on the codes:
as onnx.reference and ONNX Runtime compute them, and the same with somebody looking on."""

from __future__ import annotations

import subprocess
from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
import onnx.reference
import onnxruntime
import pytest
import sardonyx
from onnx import TensorProto, helper, numpy_helper

from places import PROGRAM

RANDOM = np.random.default_rng(5)


class Graph:
    """A graph from "x", built node by node."""

    def __init__(self, dims: list[int]) -> None:
        self.x = RANDOM.normal(size=dims).astype(np.float32)
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []

    def constant(self, value: np.ndarray) -> str:
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(value, name))
        return name

    def op(self, kind: str, *inputs: str, **attributes: object) -> str:
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], name=name, **attributes))
        return name

    def quantized(self, x: str, kind: str = "uint8", scale: float = 0.03) -> str:
        """x rounded to codes, with one scale."""
        zero = np.array(118 if kind == "uint8" else -3, kind)
        parts = (self.constant(np.array(scale, np.float32)), self.constant(zero))
        return self.op("DequantizeLinear", self.op("QuantizeLinear", x, *parts), *parts)

    def dequantized_weights(
        self, kind: str, dims: tuple[int, ...], axis: int | None, symmetric: bool = False
    ) -> tuple[str, np.ndarray]:
        """Weights as codes, with one scale or one for each place of the axis; the scales too."""
        info = np.iinfo(kind)
        codes = RANDOM.integers(info.min, info.max + 1, dims).astype(kind)
        count = () if axis is None else (dims[axis],)
        scale = (0.002 + 0.001 * RANDOM.random(count)).astype(np.float32)
        zero = np.zeros(count, kind) if symmetric else RANDOM.integers(0, 5, count).astype(kind)
        inputs = (self.constant(codes), self.constant(scale), self.constant(np.array(zero)))
        return self.op("DequantizeLinear", *inputs, axis=axis or 0), scale

    def model(self, *results: str) -> onnx.ModelProto:
        graph = helper.make_graph(
            self.nodes,
            "g",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, self.x.shape)],
            [helper.make_empty_tensor_value_info(name) for name in results],
            self.weights,
        )
        imports = [helper.make_opsetid("", 21)]
        return helper.make_model(graph, opset_imports=imports, ir_version=10)


def check(graph: Graph, *results: str, step: float = 0) -> None:
    """Compares with the peers, up to a `step` of codes where sums are rounded to them."""
    model = graph.model(*results)
    inputs = {"x": graph.x}
    ours = sardonyx.load(model.SerializeToString())
    got = ours.run(inputs)
    for threads in (1, 2):
        for first, again in zip(got, ours.run(inputs, threads=threads), strict=True):
            np.testing.assert_array_equal(first, again)
    # The float products themselves, which onnx.reference computes in the order of NumPy's.
    reference = onnx.reference.ReferenceEvaluator(model).run(None, inputs)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    for expected in (reference, session.run(None, inputs)):
        for value, want in zip(got, expected, strict=True):
            bound = 1e-5 * float(np.abs(want).max()) + step
            np.testing.assert_allclose(value, want, rtol=0, atol=bound)


PRODUCTS = [(400, 64, 96), (5, 300, 1000), (3, 8, 5)]


@pytest.mark.parametrize("dims", PRODUCTS, ids=str)
@pytest.mark.parametrize("axis", [None, 1])
@pytest.mark.parametrize("kinds", [("uint8", "int8"), ("int8", "int8"), ("uint8", "uint8")])
def test_products(dims: tuple[int, int, int], axis: int | None, kinds: tuple[str, str]) -> None:
    m, k, n = dims
    graph = Graph([m, k])
    w, _ = graph.dequantized_weights(kinds[1], (k, n), axis)
    check(graph, graph.op("MatMul", graph.quantized("x", kinds[0]), w))


def test_an_import_that_nobody_uses_changes_nothing() -> None:
    """Quantizers import all domains; only Gradient nodes keep products of floats."""
    graph = Graph([40, 600])
    w, _ = graph.dequantized_weights("int8", (600, 96), 1)
    model = graph.model(graph.op("MatMul", graph.quantized("x"), w))
    inputs = {"x": graph.x}
    expected = sardonyx.load(model.SerializeToString()).run(inputs)[0]
    model.opset_import.append(helper.make_opsetid("ai.onnx.preview.training", 1))
    np.testing.assert_array_equal(sardonyx.load(model.SerializeToString()).run(inputs)[0], expected)
    # Products of floats are rounded otherwise, so that the comparison says something.
    graph.weights += [numpy_helper.from_array(np.ones(1, np.float32), "one")]
    graph.nodes.append(helper.make_node("Identity", ["one"], ["y"], name="y"))
    gradient = helper.make_node(
        "Gradient", ["one"], ["g"], "g", domain="ai.onnx.preview.training", xs=["one"], y="y"
    )
    graph.nodes.append(gradient)
    differentiated = graph.model(graph.nodes[-3].output[0], "g")
    differentiated.opset_import.append(helper.make_opsetid("ai.onnx.preview.training", 1))
    product = sardonyx.load(differentiated.SerializeToString()).run(inputs)[0]
    assert (product != expected).any()
    np.testing.assert_allclose(product, expected, rtol=0, atol=1e-5 * float(np.abs(expected).max()))


def test_the_dequantized_values_are_read_elsewhere_too() -> None:
    graph = Graph([2, 20, 64])
    a = graph.quantized("x")
    w, _ = graph.dequantized_weights("int8", (64, 96), 1)
    check(graph, graph.op("MatMul", a, w), graph.op("Mul", a, a), graph.op("Abs", w), a)


@pytest.mark.parametrize("scale_dims", [(1,), (64,)])
def test_scales_of_the_first_factor(scale_dims: tuple[int, ...]) -> None:
    """One scale for each of its columns is no factor of a row's sum: such products stay floats."""
    graph = Graph([20, 64])
    scale = (0.02 + 0.01 * RANDOM.random(scale_dims)).astype(np.float32)
    parts = (graph.constant(scale), graph.constant(np.full(scale_dims, 9, np.uint8)))
    a = graph.op("DequantizeLinear", graph.op("QuantizeLinear", "x", *parts), *parts)
    w, _ = graph.dequantized_weights("int8", (64, 96), None)
    check(graph, graph.op("MatMul", a, w))


def test_rows_of_scales() -> None:
    """Scales along the summed axis of the weights: such products stay floats."""
    graph = Graph([20, 64])
    w, _ = graph.dequantized_weights("int8", (64, 64), 0)
    check(graph, graph.op("MatMul", graph.quantized("x"), w))


@pytest.mark.parametrize("bias", ["none", "codes", "any"])
@pytest.mark.parametrize("axis", [None, 0])
def test_convolutions(bias: str, axis: int | None) -> None:
    graph = Graph([1, 16, 20, 21])
    scale = 0.03
    w, scales = graph.dequantized_weights("int8", (24, 16, 3, 3), axis, symmetric=True)
    inputs = [graph.quantized("x", scale=scale), w]
    if bias == "codes":
        unit = np.broadcast_to(np.float32(scale) * scales, 24).astype(np.float32)
        codes = RANDOM.integers(-1000, 1000, 24).astype(np.int32)
        zero = graph.constant(np.zeros(24, np.int32))
        constants = (graph.constant(codes), graph.constant(unit), zero)
        inputs.append(graph.op("DequantizeLinear", *constants, axis=0))
    elif bias == "any":
        inputs.append(graph.constant(RANDOM.normal(size=24).astype(np.float32)))
    y = graph.op("Conv", *inputs, pads=[1, 2, 1, 0], strides=[1, 2])
    # Where a sum lies between two codes, rounding errors decide.
    check(graph, graph.quantized(y, scale=0.05), step=0.05)


def test_a_convolution_that_is_read_elsewhere_too() -> None:
    graph = Graph([1, 16, 20, 21])
    w, _ = graph.dequantized_weights("int8", (24, 16, 3, 3), 0)
    y = graph.op("Conv", graph.quantized("x"), w)
    check(graph, graph.quantized(y, scale=0.05), graph.op("Relu", y), step=0.05)


def test_a_product_in_a_subgraph() -> None:
    graph = Graph([20, 64])
    a = graph.quantized("x")
    w, _ = graph.dequantized_weights("int8", (64, 96), 1)
    body = helper.make_graph(
        [helper.make_node("MatMul", [a, w], ["product"])],
        "then",
        [],
        [helper.make_empty_tensor_value_info("product")],
    )
    other = helper.make_graph(
        [helper.make_node("MatMul", ["x", w], ["plain"])],
        "else",
        [],
        [helper.make_empty_tensor_value_info("plain")],
    )
    condition = graph.constant(np.array(True))
    check(graph, graph.op("If", condition, then_branch=body, else_branch=other))


def test_a_look_at_the_values_changes_nothing(tmp_path: Path) -> None:
    """`--trace` shows the dequantized values, which nobody else needs, and the same results."""
    graph = Graph([1, 16, 20, 20])
    w, _ = graph.dequantized_weights("int8", (24, 16, 3, 3), 0)
    codes = graph.quantized(graph.op("Conv", graph.quantized("x"), w), scale=0.05)
    weights, _ = graph.dequantized_weights("int8", (18, 40), 1)
    y = graph.op("MatMul", codes, weights)
    (tmp_path / "m.onnx").write_bytes(graph.model(y).SerializeToString())
    np.save(tmp_path / "x.npy", graph.x)
    results = []
    for options in ([], ["--trace"]):
        command = [PROGRAM, "run", "m.onnx", "x=x.npy", "-o", "out", *options]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        results.append(np.load(tmp_path / "out" / f"{y}.npy"))
    np.testing.assert_array_equal(*results)
    for op in ("Conv", "MatMul", "DequantizeLinear"):
        assert op in done.stdout + done.stderr


def test_too_many_terms_for_sums_of_32_bits() -> None:
    graph = Graph([2, 70_000])
    graph.x[:] = 1000
    zero = graph.constant(np.array(0, np.uint8))
    parts = (graph.constant(np.array(1, np.float32)), zero)
    a = graph.op("DequantizeLinear", graph.op("QuantizeLinear", "x", *parts), *parts)
    w = graph.op("DequantizeLinear", graph.constant(np.full((70_000, 1), 255, np.uint8)), *parts)
    result = sardonyx.load(graph.model(graph.op("MatMul", a, w)).SerializeToString())
    np.testing.assert_allclose(result.run({"x": graph.x})[0], 255.0 * 255 * 70_000, rtol=1e-4)


def test_an_error_names_the_node_of_the_model() -> None:
    graph = Graph([20, 64])
    w, _ = graph.dequantized_weights("int8", (65, 96), None)
    a = graph.quantized("x")
    model = graph.model(graph.op("MatMul", a, w))
    with pytest.raises(RuntimeError, match=r"`v3` \(`MatMul`\): shapes \[20,64\] and \[65,96\]"):
        sardonyx.load(model.SerializeToString()).run({"x": graph.x})


SMALL_FLOATS = [
    ml_dtypes.float8_e4m3fn,
    ml_dtypes.float8_e4m3fnuz,
    ml_dtypes.float8_e5m2,
    ml_dtypes.float8_e5m2fnuz,
]
# Dims of A and of its scales, of B and of its scales, and of the result's scales.
SCALES_OF_PRODUCTS = [
    ([3, 4], [], [4, 5], [], []),
    ([3, 4], [1], [4, 5], [5], [1]),
    ([3, 4], [3], [4, 5], [5], [3]),
    ([3, 4], [3, 1], [4, 5], [1, 5], [3, 1]),
    ([2, 3, 4], [3], [4, 5], [5], []),
    ([2, 3, 4], [2, 3, 1], [2, 4, 5], [2, 1, 5], [2, 3, 1]),
    ([2, 1, 3, 4], [2, 1, 3, 1], [3, 4, 5], [3, 1, 5], [3, 1]),
    ([4], [1], [4, 5], [5], []),
    ([3, 4], [3], [4], [], [3]),
    ([4], [], [4], [], []),
    ([0, 4], [0], [4, 5], [5], [0]),
    ([3, 0], [3], [0, 5], [5], [3]),
]


def codes_of(dims: list[int], dtype: np.dtype) -> np.ndarray:
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return RANDOM.integers(limits.min, limits.max + 1, dims).astype(dtype)
    return RANDOM.normal(0, 4, dims).astype(np.float32).astype(dtype)


def as_rows(values: np.ndarray) -> np.ndarray:
    """One for each row: as a column beside the matrix."""
    values = np.asarray(values, np.float64)
    return values[:, None] if values.ndim == 1 and values.size != 1 else values


@pytest.mark.parametrize(("a", "rows", "b", "columns", "y"), SCALES_OF_PRODUCTS)
@pytest.mark.parametrize("version", [10, 21])
def test_scales_of_rows_and_columns(
    version: int, a: list[int], rows: list[int], b: list[int], columns: list[int], y: list[int]
) -> None:
    bytes_ = [np.dtype(np.int8), np.dtype(np.uint8)]
    types = bytes_ if version == 10 else [*bytes_, *map(np.dtype, SMALL_FLOATS)]
    number = np.float32
    for i, kind in enumerate(types):
        other, third = types[(2 * i + 1) % len(types)], types[(i + 2) % len(types)]
        inputs = []
        for dims, scales, dtype in ((a, rows, kind), (b, columns, other)):
            inputs.append(codes_of(dims, dtype))
            inputs.append((0.25 + RANDOM.random(scales)).astype(number))
            inputs.append(codes_of(scales, dtype))
        is_code = third.kind in "iu"
        inputs.append(((100 if is_code else 1) * (1 + RANDOM.random(y))).astype(number))
        inputs.append(codes_of(y, third))
        left = (inputs[0].astype(float) - as_rows(inputs[2])) * as_rows(inputs[1])
        right = inputs[3].astype(float) - inputs[5].astype(float)
        right *= inputs[4].astype(float) if len(b) > 1 else inputs[4].astype(float).reshape(-1)
        product = np.asarray(np.matmul(left, right))
        scale_y, zero_y = as_rows(inputs[6]), as_rows(inputs[7])
        if len(b) == 1:
            scale_y, zero_y = np.ravel(scale_y), np.ravel(zero_y)
        wanted = np.asarray(product / scale_y)
        if is_code:
            limits = np.iinfo(third)
            wanted = np.clip(np.rint(wanted) + zero_y, limits.min, limits.max)
        else:
            greatest = float(ml_dtypes.finfo(third).max)
            wanted = np.clip(wanted + zero_y, -greatest, greatest)
        got = sardonyx.onnx_opset.all_opsets[("", version)].QLinearMatMul(*inputs)
        assert got.shape == product.shape
        assert got.dtype == third
        wide = got.astype(float)
        if is_code:
            # A quotient beside a half may go either way.
            assert np.all(np.abs(wide - wanted) <= 1), (kind, other, third)
            assert np.mean(wide != wanted) <= 0.05 if wide.size else True
        else:
            # One step between neighbours, as float rounds before the result's type does.
            step = float(ml_dtypes.finfo(third).eps)
            np.testing.assert_allclose(wide, wanted, rtol=step, atol=1e-2)


@pytest.mark.parametrize(
    ("position", "dims"), [(1, [2]), (1, [1, 4]), (4, [4]), (4, [4, 1]), (6, [5]), (6, [3, 5])]
)
def test_scales_that_do_not_fit(position: int, dims: list[int]) -> None:
    byte, one = np.uint8(1), np.float32(1)
    a, b = codes_of([3, 4], np.dtype(np.uint8)), codes_of([4, 5], np.dtype(np.uint8))
    inputs = [a, one, byte, b, one, byte, one, byte]
    inputs[position] = np.ones(dims, np.float32)
    with pytest.raises(Exception, match=rf"input {position} .* does not fit matrices"):
        sardonyx.onnx_opset.all_opsets[("", 21)].QLinearMatMul(*inputs)


@pytest.mark.parametrize("kind", ["uint8", "int8"])
@pytest.mark.parametrize("place", ["x_scale", "w_scale", "y_scale", "one channel", "0 * inf"])
def test_a_convolution_that_is_not_a_number(kind: str, place: str) -> None:
    """Its codes are the lowest, as those of QuantizeLinear."""
    w_scale = np.ones(2, np.float32)
    if place == "one channel":
        w_scale[1] = np.nan
    scales = {name: np.float32(np.nan if name == place else 0.5) for name in ("x_scale", "y_scale")}
    if place == "0 * inf":
        scales["x_scale"] = np.float32(np.inf)
    elif place == "w_scale":
        w_scale[:] = np.nan
    inputs = {
        "x": np.arange(8).reshape(1, 2, 2, 2).astype(kind),
        "x_scale": np.array(scales["x_scale"]),
        "x_zero": np.array(0, kind),
        "w": np.array([[1, 0], [0, 1]], kind).reshape(2, 2, 1, 1),
        "w_scale": w_scale,
        "w_zero": np.zeros(2, kind),
        "y_scale": np.array(scales["y_scale"]),
        "y_zero": np.array(3, kind),
    }
    graph = helper.make_graph(
        [helper.make_node("QLinearConv", list(inputs), ["y"])],
        "g",
        [
            helper.make_tensor_value_info(
                name, helper.np_dtype_to_tensor_dtype(one.dtype), one.shape
            )
            for name, one in inputs.items()
        ],
        [helper.make_tensor_value_info("y", helper.np_dtype_to_tensor_dtype(np.dtype(kind)), None)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 10)], ir_version=8)
    got = sardonyx.load(model).run(inputs)[0]
    session = onnxruntime.InferenceSession(model.SerializeToString())
    np.testing.assert_array_equal(got, session.run(None, inputs)[0])
    lowest = np.iinfo(kind).min
    is_nan = {"one channel": got[0, 1], "0 * inf": got[0, 0, 0, 0]}.get(place, got)
    assert np.all(is_nan == lowest)
    if kind == "uint8":  # onnx.reference makes 0 of NaN also where the lowest code is another
        wanted = onnx.reference.ReferenceEvaluator(model).run(None, inputs)[0]
        np.testing.assert_array_equal(got, wanted)
