"""Constant weights are prepared once for a plan and have loops of their own: the results must be
those of the plain loops, to which the same weights go as an input."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
import sardonyx
from onnx import helper, numpy_helper

RANDOM = np.random.default_rng(5)


def floats(*dims: int) -> np.ndarray:
    """Small whole numbers: their sums are exact in every order."""
    return RANDOM.integers(-4, 5, dims).astype(np.float32)


def model(
    op: str, inputs: dict[str, np.ndarray], constants: set[str], attributes: dict[str, Any]
) -> sardonyx.Model:
    """One node; the inputs that are not constants have any shape."""
    kinds = {name: helper.np_dtype_to_tensor_dtype(x.dtype) for name, x in inputs.items()}
    graph = helper.make_graph(
        [helper.make_node(op, list(inputs), ["y"], **attributes)],
        "g",
        [
            helper.make_tensor_value_info(name, kinds[name], [None] * x.ndim)
            for name, x in inputs.items()
            if name not in constants
        ],
        [helper.make_tensor_value_info("y", onnx.TensorProto.UNDEFINED, None)],
        [numpy_helper.from_array(inputs[name], name) for name in constants],
    )
    imports = [helper.make_opsetid("", 18)]
    made = helper.make_model(graph, opset_imports=imports, ir_version=9)
    return sardonyx.load(made.SerializeToString())


def check(op: str, inputs: dict[str, np.ndarray], **attributes: Any) -> None:
    """Runs with other shapes in between, on one thread and on two."""
    constants = set(inputs) - {"x"}
    prepared = model(op, inputs, constants, attributes)
    plain = model(op, inputs, set(), attributes)
    longer = np.concatenate([inputs["x"], inputs["x"]], axis=0)
    for x in (inputs["x"], longer, inputs["x"]):
        expected = plain.run({**inputs, "x": x})[0]
        for threads in (1, 2):
            np.testing.assert_array_equal(prepared.run({"x": x}, threads=threads)[0], expected)


CONVOLUTIONS: dict[str, tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = {
    "uneven pads": ((1, 16, 30, 41), (32, 16, 3, 3), {"pads": [1, 2, 0, 1]}),
    "groups, strides, dilations": (
        (2, 32, 30, 41),
        (64, 16, 3, 5),
        {"pads": [1, 2, 0, 1], "group": 2, "strides": [2, 1], "dilations": [1, 2]},
    ),
    "channels are cut": ((1, 256, 7, 7), (256, 256, 3, 3), {"auto_pad": "SAME_UPPER"}),
    "channels are cut unevenly": ((1, 200, 7, 7), (250, 200, 3, 3), {"pads": [1, 1, 1, 1]}),
    "channels of groups are cut unevenly": ((1, 400, 7, 7), (500, 200, 3, 3), {"group": 2}),
    "rows are cut": ((1, 64, 61, 40), (64, 64, 3, 3), {"pads": [1, 1, 1, 1]}),
    "one axis": ((1, 64, 400), (64, 64, 3), {"pads": [1, 1]}),
    "one axis and one place": ((1, 64, 401, 1), (64, 64, 5, 1), {"strides": [2, 1]}),
    "three axes": ((1, 16, 6, 7, 8), (16, 16, 3, 3, 3), {}),
    "more padding than picture": ((1, 20, 5, 5), (24, 20, 3, 3), {"pads": [9, 9, 9, 9]}),
    "points of strides": ((3, 20, 50, 51), (24, 20, 1, 1), {"strides": [2, 2]}),
    "few points": ((1, 200, 3, 24), (200, 200, 1, 1), {}),
    "many points": ((1, 40, 60, 24), (48, 40, 1, 1), {}),
    "few channels": ((1, 3, 64, 64), (16, 3, 7, 7), {"strides": [2, 2], "pads": [3, 3, 3, 3]}),
    "depthwise": ((1, 24, 30, 30), (24, 1, 5, 5), {"group": 24, "pads": [2, 2, 2, 2]}),
    "few windows": ((1, 1, 640), (258, 1, 256), {"strides": [128]}),
    "no pictures": ((0, 16, 30, 30), (32, 16, 3, 3), {}),
    "no channels": ((1, 0, 30, 30), (32, 0, 3, 3), {}),
    "padding alone": ((1, 16, 30, 0), (32, 16, 3, 3), {"pads": [1, 9, 1, 9]}),
    "depthwise padding alone": (
        (1, 16, 30, 0),
        (16, 1, 3, 3),
        {"pads": [1, 9, 1, 9], "group": 16},
    ),
}


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolutions(name: str) -> None:
    x, w, attributes = CONVOLUTIONS[name]
    check("Conv", {"x": floats(*x), "w": floats(*w)}, **attributes)
    check("Conv", {"x": floats(*x), "w": floats(*w), "b": floats(w[0])}, **attributes)


TYPES = {
    "float": onnx.TensorProto.FLOAT,
    "float16": onnx.TensorProto.FLOAT16,
    "bfloat16": onnx.TensorProto.BFLOAT16,
    "double": onnx.TensorProto.DOUBLE,
}
PRODUCTS = [(1, 5000, 40), (3, 700, 64), (7, 1000, 300), (8, 384, 400), (16, 200, 512),
            (8, 1000, 300), (64, 2000, 48), (33, 385, 97)]  # fmt: skip


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize(("m", "k", "n"), PRODUCTS)
def test_products_of_any_numbers(kind: str, m: int, k: int, n: int) -> None:
    """The same bits, but for products of floats of 8 rows and more with sums of 384 terms and more:
    those of constants are convolutions of oneDNN, which adds in another order, without AVX-512 from
    384 terms on, with it above that."""
    nodes = [
        helper.make_node("Cast", ["x"], ["x_"], to=TYPES[kind]),
        helper.make_node("Cast", ["w"], ["w_"], to=TYPES[kind]),
        helper.make_node("MatMul", ["x_", "w_"], ["y_"]),
        helper.make_node("Cast", ["y_"], ["y"], to=onnx.TensorProto.DOUBLE),
    ]
    x, w = (RANDOM.standard_normal(dims).astype(np.float32) for dims in ((m, k), (k, n)))
    float_info = [helper.make_tensor_value_info(name, 1, None) for name in ("x", "w")]
    result = [helper.make_tensor_value_info("y", onnx.TensorProto.DOUBLE, None)]
    found = []
    for constants in ([], [numpy_helper.from_array(w, "w")]):
        inputs = float_info[:1] if constants else float_info
        graph = helper.make_graph(nodes, "g", inputs, result, constants)
        imports = [helper.make_opsetid("", 18)]
        made = helper.make_model(graph, opset_imports=imports, ir_version=9)
        feeds = {"x": x} if constants else {"x": x, "w": w}
        found.append(sardonyx.load(made.SerializeToString()).run(feeds)[0])
    if kind == "float" and m >= 8 and k >= 384:
        bound = 4e-7 * (np.abs(x).astype(np.float64) @ np.abs(w))
        assert (np.abs(found[0] - found[1]) < bound).all()
    else:
        np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_special_value_reaches_its_windows_alone(value: float) -> None:
    x = floats(1, 32, 20, 20)
    x[0, 3, 7, 9] = value
    check("Conv", {"x": x, "w": floats(32, 32, 3, 3) + 0.5}, pads=[1, 1, 1, 1])


def codes(kind: str, *dims: int) -> np.ndarray:
    """Codes of the whole range, and many of its ends: sums past what a float holds exactly."""
    info = np.iinfo(kind)
    values = RANDOM.integers(info.min, info.max + 1, dims)
    return np.where(RANDOM.random(dims) < 0.4, info.max, values).astype(kind)


KINDS = [(x, w) for x in ("uint8", "int8") for w in ("uint8", "int8")]
ZEROS = ["none", "middle", "any", "each channel"]


def zero_point(kind: str, which: str, count: int) -> np.ndarray:
    """A zero point of this kind, or one for each of `count` channels."""
    middle = 128 if kind == "uint8" else 0
    values = {"middle": middle, "any": middle + 5, "each channel": codes(kind, count)}
    return np.array(values[which], kind)


BYTE_CONVOLUTIONS: dict[str, tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = {
    "many terms": ((1, 192, 12, 14), (48, 192, 3, 3), {"pads": [1, 2, 0, 1]}),
    "groups, strides, dilations": (
        (2, 32, 30, 41),
        (64, 16, 3, 5),
        {"pads": [1, 2, 0, 1], "group": 2, "strides": [2, 1], "dilations": [1, 2]},
    ),
    "points": ((1, 64, 17, 19), (33, 64, 1, 1), {}),
    "one axis": ((1, 64, 401), (64, 64, 3), {"pads": [1, 1]}),
    "cut": ((1, 64, 62, 61), (64, 64, 3, 3), {"pads": [1, 1, 1, 1]}),
    "few channels": ((1, 1, 40, 40), (24, 1, 3, 3), {"strides": [2, 2]}),
    "three axes": ((1, 16, 6, 7, 8), (16, 16, 3, 3, 3), {}),
    "no channels": ((1, 0, 30, 30), (32, 0, 3, 3), {}),
}


@pytest.mark.parametrize("kinds", KINDS)
@pytest.mark.parametrize("zeros", ZEROS)
@pytest.mark.parametrize("name", BYTE_CONVOLUTIONS)
def test_convolutions_of_bytes(name: str, zeros: str, kinds: tuple[str, str]) -> None:
    x, w, attributes = BYTE_CONVOLUTIONS[name]
    inputs = {"x": codes(kinds[0], *x), "w": codes(kinds[1], *w)}
    if zeros != "none":
        inputs["x_zero"] = zero_point(kinds[0], "any", 1)
        inputs["w_zero"] = zero_point(kinds[1], zeros, w[0])
    check("ConvInteger", inputs, **attributes)


@pytest.mark.parametrize("kinds", KINDS)
@pytest.mark.parametrize("zeros", ZEROS)
@pytest.mark.parametrize(
    "x",
    [(1, 300), (7, 300), (400, 300), (2, 3, 50, 300), (1, 300, 300)],
    ids=lambda dims: "x".join(map(str, dims)),
)
def test_products_of_bytes(x: tuple[int, ...], zeros: str, kinds: tuple[str, str]) -> None:
    n = 1000 if x[0] == 1 else 129
    inputs = {"x": codes(kinds[0], *x), "w": codes(kinds[1], 300, n)}
    if zeros != "none":
        inputs["x_zero"] = zero_point(kinds[0], "any", 1)
        inputs["w_zero"] = zero_point(kinds[1], zeros, n)
    check("MatMulInteger", inputs)


@pytest.mark.parametrize(
    "x", [(3, 300), (100, 300), (4, 50, 300), (2, 400, 300), (0, 300)], ids=str
)
def test_products(x: tuple[int, ...]) -> None:
    check("MatMul", {"x": floats(*x), "w": floats(300, 130)})
    check("MatMul", {"x": floats(*x), "w": floats(300, 256)})
    check("MatMul", {"x": floats(*x), "w": floats(300, 1001)})
    if len(x) == 2:
        check("Gemm", {"x": floats(*x), "w": floats(130, 300), "c": floats(130)}, transB=1)
        check("Gemm", {"x": floats(*x), "w": floats(300, 130), "c": floats(1, 130)}, alpha=2.0)


@pytest.mark.parametrize("op", ["QLinearConv", "QLinearMatMul"])
def test_quantized_results(op: str) -> None:
    is_convolution = op == "QLinearConv"
    x, w = ((1, 40, 20, 20), (24, 40, 3, 3)) if is_convolution else ((30, 300), (300, 64))
    scale = np.array(0.02, np.float32)
    inputs = {
        "x": codes("uint8", *x),
        "x_scale": scale,
        "x_zero": np.array(120, np.uint8),
        "w": codes("int8", *w),
        "w_scale": scale,
        "w_zero": np.array(0, np.int8),
        "y_scale": np.array(3, np.float32),
        "y_zero": np.array(100, np.uint8),
    }
    check(op, inputs)
    if is_convolution:
        check(op, {**inputs, "b": RANDOM.integers(-9999, 9999, w[0]).astype(np.int32)})
