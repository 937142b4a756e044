"""Gradient: each rule of differentiation against central differences, and against PyTorch."""

from __future__ import annotations

import contextlib
import io
import pathlib
import re
import subprocess
from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import onnx.helper
import pytest
import sardonyx
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from onnx import TensorProto
from sardonyx import DOUBLE, script
from sardonyx import opset20 as ops
from sardonyx import opset_ai_onnx_preview_training1 as training

from eval.test_node_cases import Evaluator
from places import PROGRAM

pytestmark = pytest.mark.filterwarnings("ignore")

TRAINING = "ai.onnx.preview.training"
ML = "ai.onnx.ml"
PREVIEW = "ai.onnx.preview"
NEWEST = onnx.defs.onnx_opset_version()
Arrays = dict[str, np.ndarray]
Nodes = Sequence[onnx.NodeProto]


@pytest.fixture(scope="module")
def evaluator() -> Evaluator:
    return Evaluator()


def node(op: str, inputs: str, outputs: str = "Y", **attributes: Any) -> onnx.NodeProto:
    """A node; the names are separated by blanks, `_` leaves one out."""
    names = [["" if name == "_" else name for name in text.split()] for text in (inputs, outputs)]
    return onnx.helper.make_node(op, *names, **attributes)


def info(name: str, array: np.ndarray | None = None) -> onnx.ValueInfoProto:
    if array is None:
        return onnx.ValueInfoProto(name=name)
    kind = onnx.helper.np_dtype_to_tensor_dtype(array.dtype)
    return onnx.helper.make_tensor_value_info(name, kind, array.shape)


def gradient_node(
    xs: Sequence[str], zs: Sequence[str], y: str, outputs: Sequence[str]
) -> onnx.NodeProto:
    return onnx.helper.make_node(
        "Gradient",
        [*xs, *zs],
        outputs,
        "gradient",
        domain=TRAINING,
        xs=list(xs),
        y=y,
        **({"zs": list(zs)} if zs else {}),
    )


def model_of(
    nodes: Nodes,
    inputs: Arrays,
    outputs: Sequence[str],
    opset: int = NEWEST,
    functions: Sequence[onnx.FunctionProto] = (),
) -> onnx.ModelProto:
    graph = onnx.helper.make_graph(
        nodes,
        "graph",
        [info(name, array) for name, array in inputs.items()],
        [info(name) for name in outputs],
    )
    domains = {"": opset, TRAINING: 1, ML: 5, PREVIEW: 1}
    domains |= {function.domain: 1 for function in functions}
    return onnx.helper.make_model(
        graph,
        ir_version=10,
        opset_imports=[onnx.helper.make_opsetid(*item) for item in domains.items()],
        functions=functions,
    )


def run(model: onnx.ModelProto, inputs: Arrays) -> list[np.ndarray]:
    result = sardonyx.load(model)(**inputs)
    values = result if isinstance(result, (list, tuple)) else [result]
    return [np.asarray(value) for value in values]


def gradients(
    nodes: Nodes, xs: Arrays, zs: Arrays, opset: int = NEWEST, y: str = "Y", **more: Any
) -> tuple[np.ndarray, list[np.ndarray]]:
    """`y`, and the gradients of its sum by xs."""
    outputs = [f"by_{name}_" for name in xs]
    last = gradient_node(list(xs), list(zs), y, outputs)
    [value, *found] = run(model_of([*nodes, last], xs | zs, [y, *outputs], opset, **more), xs | zs)
    return value, found


def check(
    nodes: Nodes,
    xs: Arrays,
    zs: Arrays | None = None,
    opset: int = NEWEST,
    tolerance: float = 1e-6,
    **more: Any,
) -> list[np.ndarray]:
    """The gradients of a weighted sum of Y by xs, compared with central differences."""
    rng = np.random.default_rng(7)
    zs = zs or {}
    [shape] = [
        value.shape for value in run(model_of(nodes, xs | zs, ["Y"], opset, **more), xs | zs)
    ]
    kind = next(iter(xs.values())).dtype
    weights = {"weights_": rng.normal(size=shape).astype(kind)}
    weighted = [*nodes, node("Mul", "Y weights_", "Y_")]
    value, found = gradients(weighted, xs, zs | weights, opset, "Y_", **more)
    assert value.shape == shape
    step = 1e-6 if kind == np.float64 else 1e-2
    plain = model_of(weighted, xs | zs | weights, ["Y_"], opset, **more)
    for name, gradient in zip(xs, found, strict=True):
        assert gradient.shape == xs[name].shape and gradient.dtype == xs[name].dtype
        for _ in range(2):
            direction = rng.normal(size=xs[name].shape)
            ends = []
            for sign in (1, -1):
                moved = (xs[name] + sign * step * direction).astype(kind)
                [at] = run(plain, xs | zs | weights | {name: moved})
                ends.append(at.astype(np.float64).sum())
            expected = (ends[0] - ends[1]) / (2 * step)
            np.testing.assert_allclose(
                (gradient.astype(np.float64) * direction).sum(), expected, tolerance, tolerance
            )
    return found


def check_second(nodes: Nodes, xs: Arrays, zs: Arrays | None = None, **more: Any) -> None:
    """The second derivatives by xs of the cube of F, which the nodes make."""
    last = [
        node("Mul", "F F", "F2"),
        node("Mul", "F2 F", "F3"),
        gradient_node(list(xs), [], "F3", [f"d{name}" for name in xs]),
        *(node("ReduceSumSquare", f"d{name}", f"s{name}", keepdims=0) for name in xs),
        node("Sum", " ".join(f"s{name}" for name in xs)),
    ]
    check([*nodes, *last], xs, zs, tolerance=1e-5, **more)


def normal(*shape: int, seed: int = 0, kind: str = "float64") -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(kind)


def floats(arrays: Arrays) -> Arrays:
    return {name: array.astype("float32") for name, array in arrays.items()}


def uniform(low: float, high: float, *shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(low, high, size=shape)


# --- One operand ----------------------------------------------------------------------------------

# The operator, the interval of its operand, and attributes.
ONE_OPERAND: list[tuple[str, float, float, dict[str, Any]]] = [
    ("Abs", -2, 2, {}),
    ("Acos", -0.9, 0.9, {}),
    ("Acosh", 1.1, 3, {}),
    ("Asin", -0.9, 0.9, {}),
    ("Asinh", -3, 3, {}),
    ("Atan", -3, 3, {}),
    ("Atanh", -0.9, 0.9, {}),
    ("Cos", -3, 3, {}),
    ("Cosh", -3, 3, {}),
    ("Elu", -3, 3, {"alpha": 0.5}),
    ("Erf", -2, 2, {}),
    ("Exp", -2, 2, {}),
    ("Gelu", -3, 3, {}),
    ("Gelu", -3, 3, {"approximate": "tanh"}),
    ("HardSigmoid", -6, 6, {"alpha": 0.25}),
    ("HardSwish", -6, 6, {}),
    ("Identity", -2, 2, {}),
    ("LeakyRelu", -2, 2, {"alpha": 0.25}),
    ("Log", 0.5, 2, {}),
    ("LogSoftmax", -2, 2, {}),
    ("Mish", -3, 3, {}),
    ("Neg", -2, 2, {}),
    ("Reciprocal", 0.5, 2, {}),
    ("Relu", -2, 2, {}),
    ("Selu", -3, 3, {}),
    ("Sigmoid", -3, 3, {}),
    ("Sin", -3, 3, {}),
    ("Sinh", -3, 3, {}),
    ("Softmax", -2, 2, {"axis": 0}),
    ("Softplus", -3, 3, {}),
    ("Softsign", -3, 3, {}),
    ("Sqrt", 0.5, 2, {}),
    ("Swish", -3, 3, {"alpha": 0.5}),
    ("Tan", -1, 1, {}),
    ("Tanh", -2, 2, {}),
    ("ThresholdedRelu", -2, 2, {"alpha": 0.25}),
]


@pytest.mark.parametrize("shape", [(3, 4), (), (0, 3)], ids=str)
@pytest.mark.parametrize(("op", "low", "high", "attributes"), ONE_OPERAND)
def test_one_operand(
    op: str, low: float, high: float, attributes: dict[str, Any], shape: tuple[int, ...]
) -> None:
    if op.endswith("oftmax") and not shape:
        return  # no axis
    check([node(op, "X", **attributes)], {"X": uniform(low, high, *shape)})


@pytest.mark.parametrize(
    ("op", "attributes"), [("Celu", {"alpha": 0.5}), ("Shrink", {"lambd": 0.3})]
)
def test_one_float_operand(op: str, attributes: dict[str, Any]) -> None:
    x = np.array([[-2, -1, -0.6], [0.4, 1, 2]], "float32")
    check([node(op, "X", **attributes)], {"X": x}, tolerance=2e-3)


# --- Two operands and more ------------------------------------------------------------------------

SHAPES = [
    ((2, 3), (2, 3)),
    ((2, 3), (3,)),
    ((1,), (2, 3)),
    ((2, 1), (1, 3)),
    ((), (2, 2)),
    ((0, 3), (3,)),
]


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
@pytest.mark.parametrize("op", ["Add", "Sub", "Mul", "Div", "Pow", "Max", "Min", "Mean", "Sum"])
def test_two_operands(op: str, shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    a, b = (uniform(0.5, 2, *shape, seed=i) for i, shape in enumerate(shapes))
    check([node(op, "A B")], {"A": a, "B": b})


def test_more_operands() -> None:
    xs = {name: normal(2, 3, seed=i) for i, name in enumerate("ABC")}
    for op in ("Max", "Min", "Mean", "Sum"):
        check([node(op, "A B C")], xs)


def test_other_elementwise() -> None:
    x = normal(2, 3)
    check([node("Where", "C A B")], {"A": x, "B": normal(3)}, {"C": x > 0})
    check([node("Clip", "X L H")], {"X": x, "L": np.array(-0.5), "H": np.array(0.5)})
    check([node("Clip", "X _ H")], {"X": x, "H": np.array(0.1)})
    check(
        [node("Clip", "X", min=-0.5, max=0.25)], {"X": x.astype("float32")}, opset=6, tolerance=2e-3
    )
    check([node("PRelu", "X S")], {"X": x, "S": uniform(0, 1, 3)})
    check([node("SwiGLU", "A B", alpha=0.5)], {"A": x, "B": normal(2, 3, seed=1)})
    check_second([node("SwiGLU", "A B", "F")], {"A": x, "B": normal(2, 3, seed=1)})
    check([node("Mod", "X M", fmod=1)], {"X": x * 5, "M": uniform(1, 2, 3)})
    check([node("Pow", "X E")], {"X": uniform(0.5, 2, 3)}, {"E": np.array([0, 1, 3])})
    old = {"A": normal(2, 3, 4).astype("float32"), "B": uniform(0.5, 2, 3).astype("float32")}
    for op in ("Add", "Sub", "Mul", "Div"):
        check([node(op, "A B", broadcast=1, axis=1)], old, opset=6, tolerance=2e-3)


def test_at_kinks() -> None:
    """As PyTorch: halves where two are equal, 0 where an exponent is 0."""
    x = np.array([0.0, 1.0, -1.0])
    assert gradients([node("Relu", "X")], {"X": x}, {})[1][0].tolist() == [0, 1, 0]
    assert gradients([node("Abs", "X")], {"X": x}, {})[1][0].tolist() == [0, 1, -1]
    _, [a, b] = gradients([node("Max", "A B")], {"A": x, "B": np.zeros(3)}, {})
    assert (a.tolist(), b.tolist()) == ([0.5, 1, 0], [0.5, 0, 1])
    _, [a, b] = gradients([node("Pow", "A B")], {"A": np.zeros(3), "B": np.array([0.0, 1, 2])}, {})
    assert (a.tolist(), b.tolist()) == ([0, 1, 0], [0, 0, 0])
    _, [a] = gradients([node("ReduceProd", "X")], {"X": np.array([0.0, 2, 3])}, {})
    assert a.tolist() == [6, 0, 0]
    _, [a] = gradients([node("ReduceMax", "X")], {"X": np.array([2.0, 2, 1])}, {})
    assert a.tolist() == [0.5, 0.5, 0]
    _, [a] = gradients([node("ReduceL2", "X")], {"X": np.zeros(3)}, {})
    assert a.tolist() == [0, 0, 0]


def test_steps_have_no_slope() -> None:
    for op in ("Floor", "Ceil", "Round", "Sign"):
        [found] = check([node(op, "X", "S"), node("Mul", "S X")], {"X": uniform(0.1, 0.4, 3)})
        assert found.shape == (3,)
    # What is not floating has none either.
    nodes = [
        node("ArgMax", "X", "I"),
        node("Cast", "I", "F", to=TensorProto.DOUBLE),
        node("Mul", "F X"),
    ]
    check(nodes, {"X": normal(3, 4)})


def test_element_types() -> None:
    nodes = [node("Cast", "X", "W", to=TensorProto.DOUBLE), node("Mul", "W W")]
    _, [found] = gradients(nodes, {"X": np.array([1, 2], "float32")}, {})
    assert found.dtype == np.float32 and found.tolist() == [2, 4]
    _, [found] = gradients([node("Mul", "X X")], {"X": np.array([1, 2], "float16")}, {})
    assert found.dtype == np.float16 and found.tolist() == [2, 4]


# --- Shapes and places ----------------------------------------------------------------------------

INTS = np.array
X = normal(3, 4, 2)
MOVES: list[tuple[str, str, Arrays, dict[str, Any]]] = [
    ("Reshape", "X S", {"S": INTS([2, -1])}, {}),
    ("Flatten", "X", {}, {"axis": 2}),
    ("Unsqueeze", "X A", {"A": INTS([0, -1])}, {}),
    ("Transpose", "X", {}, {}),
    ("Transpose", "X", {}, {"perm": [1, 2, 0]}),
    ("Expand", "X S", {"S": INTS([2, 3, 4, 2])}, {}),
    ("Slice", "X S E", {"S": INTS([1, 1]), "E": INTS([3, 9])}, {}),
    ("Slice", "X S E A", {"S": INTS([-3]), "E": INTS([-1]), "A": INTS([1])}, {}),
    ("Slice", "X S E A T", {"S": INTS([9]), "E": INTS([-9]), "A": INTS([1]), "T": INTS([-2])}, {}),
    ("Slice", "X S E", {"S": INTS([2]), "E": INTS([1])}, {}),
    ("Gather", "X I", {"I": INTS([[0, 2], [-1, 0]])}, {}),
    ("Gather", "X I", {"I": INTS([1, 1, -4])}, {"axis": 1}),
    ("Gather", "X I", {"I": INTS(1)}, {"axis": -1}),
    ("GatherElements", "X I", {"I": INTS([[[0, 1]], [[2, -1]]])}, {"axis": 0}),
    ("GatherND", "X I", {"I": INTS([[0, 1], [2, -1], [0, 1]])}, {}),
    ("GatherND", "X I", {"I": INTS([[[0]], [[1]], [[3]]])}, {"batch_dims": 1}),
    ("Pad", "X P", {"P": INTS([1, 0, 2, 0, 3, -1])}, {}),
    ("Pad", "X P _ A", {"P": INTS([1, 2]), "A": INTS([-2])}, {"mode": "edge"}),
    ("Pad", "X P", {"P": INTS([1, 2, 0, 2, 0, 1])}, {"mode": "reflect"}),
    ("Pad", "X P", {"P": INTS([1, 2, 0, 2, 0, 1])}, {"mode": "wrap"}),
    ("Tile", "X R", {"R": INTS([2, 1, 3])}, {}),
    ("Trilu", "X", {}, {"upper": 0}),
    ("Compress", "X C", {"C": INTS([True, False, True])}, {"axis": 0}),
    ("ReverseSequence", "X L", {"L": INTS([1, 3, 2, 3])}, {}),
    ("CenterCropPad", "X S", {"S": INTS([5, 2, 2])}, {}),
    ("CumSum", "X A", {"A": INTS(1)}, {}),
    ("CumSum", "X A", {"A": INTS(0)}, {"exclusive": 1, "reverse": 1}),
]


@pytest.mark.parametrize(("op", "inputs", "zs", "attributes"), MOVES)
def test_moves(op: str, inputs: str, zs: Arrays, attributes: dict[str, Any]) -> None:
    check([node(op, inputs, **attributes)], {"X": X}, zs)


def test_other_moves() -> None:
    check([node("Squeeze", "X")], {"X": normal(1, 3, 1)})
    check([node("DepthToSpace", "X", blocksize=2)], {"X": normal(1, 8, 2, 3)})
    check([node("SpaceToDepth", "X", blocksize=2)], {"X": normal(1, 2, 4, 6)})
    zs = {"S": np.array([1, 2, 1.5], "float32")}
    check([node("Resize", "X _ S")], {"X": normal(1, 2, 4)}, zs)
    check([node("Upsample", "X S")], {"X": normal(1, 2, 4)}, zs, opset=9)
    check([node("Concat", "A B", axis=-1)], {"A": normal(2, 3), "B": normal(2, 1)})
    check([node("Pad", "X P V")], {"X": normal(2), "V": np.array(0.5)}, {"P": INTS([1, 2])})
    split = [node("Split", "X", "A B C", axis=1, num_outputs=3), node("Mul", "A C")]
    check(split, {"X": normal(2, 6)})
    top = [node("TopK", "X K", "V I", axis=0)]
    check([*top, node("Mul", "V V")], {"X": normal(4, 3)}, {"K": INTS([2])})


@pytest.mark.parametrize("reduction", ["none", "add", "mul", "max", "min"])
def test_scatters(reduction: str) -> None:
    xs = {"D": normal(4, 3), "U": normal(2, 3, seed=1)}
    # Several updates of one place, where they do not just replace it.
    row = [3, 0, 1] if reduction == "none" else [0, 1, 1]
    elements = {"I": INTS([[0, 1, 2], row])}
    check([node("ScatterElements", "D I U", reduction=reduction)], xs, elements)
    columns = {"I": INTS([[0, 2, 1], [2, 0, 1] if reduction == "none" else [1, 2, 1]])}
    check([node("ScatterElements", "D I U", reduction=reduction, axis=1)], xs, columns)
    rows = {"I": INTS([[3], [1 if reduction == "none" else 3]])}
    check([node("ScatterND", "D I U", reduction=reduction)], xs, rows)
    check_second([node("ScatterElements", "D I U", "F", reduction=reduction)], xs, elements)


@pytest.mark.torch
def test_scattered_zeros_and_equals() -> None:
    """As PyTorch's scatter_reduce."""
    torch = pytest.importorskip("torch")
    data = np.array([2.0, 0, 3, 0])
    updates = np.array([0.0, 5, 3, 0, 0, 2])
    places = np.array([0, 0, 2, 1, 3, 3])
    for reduction, name in (("mul", "prod"), ("max", "amax"), ("min", "amin")):
        scatter = node("ScatterElements", "D I U", reduction=reduction)
        _, found = gradients([scatter], {"D": data, "U": updates}, {"I": places})
        leaves = [torch.tensor(array, requires_grad=True) for array in (data, updates)]
        leaves[0].scatter_reduce(0, torch.tensor(places), leaves[1], name).sum().backward()
        for gradient, leaf in zip(found, leaves, strict=True):
            np.testing.assert_allclose(gradient, leaf.grad.numpy())


def test_more_moves() -> None:
    cache = {"P": normal(2, 3, 5, 2), "U": normal(2, 3, 2, 2, seed=1)}
    for mode, places in (("linear", [0, 3]), ("circular", [4, 1])):
        scatter = node("TensorScatter", "P U W", mode=mode)
        check([scatter], cache, {"W": INTS(places)})
        check_second([node("TensorScatter", "P U W", "F", mode=mode)], cache, {"W": INTS(places)})
    check([node("TensorScatter", "P U", axis=2)], cache)
    pool = node("MaxPool", "X", "P I", kernel_shape=[2, 2], strides=[2, 2])
    unpool = node("MaxUnpool", "P I", "F", kernel_shape=[2, 2], strides=[2, 2])
    check([pool, unpool, node("Mul", "F F")], {"X": normal(1, 2, 4, 4)})
    check_second([pool, unpool], {"X": normal(1, 2, 4, 4)})
    unpool = node("MaxUnpool", "P I S", kernel_shape=[2, 2], strides=[2, 2])
    check([pool, unpool], {"X": normal(1, 2, 4, 4)}, {"S": INTS([1, 2, 5, 6])})
    repeated = np.concatenate([X, X[:, ::-1]], 1)
    unique = [node("Unique", "X", "F J K L", axis=1), node("Mul", "F F")]
    check(unique, {"X": X})
    check([node("Unique", "X", "F", sorted=0), node("Mul", "F F")], {"X": X})
    _, [found] = gradients([node("Unique", "X", axis=1)], {"X": repeated}, {})
    assert found.sum() == X.size and set(found.ravel()) == {0, 1}
    one_hot = {"I": INTS([[1, 0], [3, -2]]), "N": INTS(4)}
    for axis in (-1, 0):
        hot = node("OneHot", "I N V", axis=axis)
        check([hot], {"V": normal(2)}, one_hot)
    steps = {"A": np.array(0.5), "L": np.array(3.3), "D": np.array(0.75)}
    check([node("Range", "A L D")], steps)
    check([node("Range", "A L D", "F"), node("Mul", "F F")], steps)
    check([node("BitCast", "X", to=TensorProto.DOUBLE)], {"X": X})


# Attributes, sizes or scales, and what else is given.
RESIZES: list[tuple[dict[str, Any], Arrays]] = [
    ({"mode": "linear"}, {"S": np.array([1, 1, 2, 1.5], "float32")}),
    ({"mode": "linear"}, {"Z": INTS([1, 2, 3, 9])}),
    (
        {"mode": "linear", "coordinate_transformation_mode": "align_corners"},
        {"S": np.array([1, 1, 2.5, 0.6], "float32")},
    ),
    (
        {"mode": "linear", "coordinate_transformation_mode": "half_pixel_symmetric"},
        {"S": np.array([2.3, 0.6], "float32"), "axes": INTS([-2, -1])},
    ),
    ({"mode": "cubic"}, {"S": np.array([1, 1, 2, 0.6], "float32")}),
    ({"mode": "cubic", "exclude_outside": 1, "cubic_coeff_a": -0.5}, {"Z": INTS([1, 3, 8, 3])}),
    ({"mode": "linear", "antialias": 1}, {"S": np.array([1, 1, 0.5, 0.6], "float32")}),
    ({"mode": "cubic", "antialias": 1}, {"S": np.array([1, 1, 0.5, 0.4], "float32")}),
    (
        {"mode": "linear", "keep_aspect_ratio_policy": "not_larger"},
        {"Z": INTS([7, 9]), "axes": INTS([2, 3])},
    ),
    (
        {
            "mode": "linear",
            "coordinate_transformation_mode": "tf_crop_and_resize",
            "extrapolation_value": 10.0,
        },
        {"R": np.array([0, 0, 0.4, -0.2, 1, 1, 1.2, 0.7]), "Z": INTS([1, 2, 4, 4])},
    ),
    (
        {
            "mode": "nearest",
            "coordinate_transformation_mode": "tf_crop_and_resize",
            "extrapolation_value": 2.0,
        },
        {"R": np.array([0, 0, 0.4, -0.2, 1, 1, 1.2, 0.7]), "Z": INTS([1, 2, 4, 4])},
    ),
]


@pytest.mark.parametrize(("attributes", "zs"), RESIZES, ids=str)
def test_resize(attributes: dict[str, Any], zs: Arrays) -> None:
    zs = dict(zs)
    if "axes" in zs:
        attributes = attributes | {"axes": zs.pop("axes").tolist()}
    inputs = ["X", *(name if name in zs else "_" for name in "RSZ")]
    x = {"X": normal(1, 2, 4, 5)}
    check([node("Resize", " ".join(inputs), **attributes)], x, zs)
    resize = node("Resize", " ".join(inputs), "F", **attributes)
    check([resize, node("Mul", "F F")], floats(x), zs, tolerance=2e-2)
    check_second([resize], x, zs)


def test_resize_of_old_versions() -> None:
    x, zs = {"X": normal(1, 2, 3, 4)}, {"S": np.array([1, 1, 2, 1.5], "float32")}
    check([node("Resize", "X S", mode="linear")], x, zs, opset=10)
    check([node("Upsample", "X S", mode="linear")], x, zs, opset=9)
    check([node("Upsample", "X", mode="linear", scales=[1.0, 1, 2, 1.5])], x, opset=7)
    check([node("Upsample", "X", mode="bilinear", height_scale=2.0, width_scale=1.5)], x, opset=1)


def test_sequences() -> None:
    nodes = [
        node("SequenceConstruct", "A B", "S"),
        node("Exp", "A", "E"),
        node("SequenceInsert", "S E", "T"),
        node("SequenceAt", "T I", "F"),
        node("ConcatFromSequence", "T", "C", axis=0),
        node("Mul", "C F"),
    ]
    check(nodes, {"A": normal(1, 3), "B": normal(1, 3, seed=1)}, {"I": INTS(1)})
    nodes = [
        node("SplitToSequence", "X", "S", axis=0),
        node("ConcatFromSequence", "S", axis=0, new_axis=1),
    ]
    check(nodes, {"X": normal(3, 2)})


# --- Reductions and products ----------------------------------------------------------------------

REDUCTIONS = ["L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare"]


@pytest.mark.parametrize("op", [f"Reduce{name}" for name in REDUCTIONS])
def test_reductions(op: str) -> None:
    x = uniform(0.5, 2, 3, 5, 2)
    check([node(op, "X")], {"X": x})
    check([node(op, "X A", keepdims=0)], {"X": x}, {"A": INTS([-2])})
    check([node(op, "X A", keepdims=1)], {"X": x}, {"A": INTS([0, 2])})
    old = x.astype("float32")
    check([node(op, "X", axes=[1], keepdims=0)], {"X": old}, opset=11, tolerance=5e-3)


def test_softmax_of_old_versions() -> None:
    x = normal(2, 3, 2)
    for op in ("Softmax", "LogSoftmax"):
        check([node(op, "X", axis=1)], {"X": x}, opset=11)


@pytest.mark.parametrize(
    "shapes",
    [
        ((2, 3), (3, 4)),
        ((3,), (3, 4)),
        ((2, 3), (3,)),
        ((3,), (3,)),
        ((5, 2, 3), (3, 4)),
        ((2, 3), (5, 3, 4)),
        ((1, 2, 3), (5, 3, 4)),
        ((3,), (5, 3, 4)),
        ((0, 3), (3, 2)),
    ],
    ids=str,
)
def test_matmul(shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    check([node("MatMul", "A B")], {"A": normal(*shapes[0]), "B": normal(*shapes[1], seed=1)})


@pytest.mark.parametrize("trans_a", [0, 1])
@pytest.mark.parametrize("trans_b", [0, 1])
def test_gemm(trans_a: int, trans_b: int) -> None:
    a = normal(*((3, 2) if trans_a else (2, 3)))
    b = normal(*((4, 3) if trans_b else (3, 4)), seed=1)
    gemm = node("Gemm", "A B C", transA=trans_a, transB=trans_b, alpha=0.5, beta=2.0)
    check([gemm], {"A": a, "B": b, "C": normal(4, seed=2)})


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("ij,jk->ik", [(2, 3), (3, 4)]),
        ("ij,jk", [(2, 3), (3, 4)]),
        ("...ij,...jk->...ik", [(2, 1, 2, 3), (5, 3, 4)]),
        ("bij, bj -> i", [(2, 3, 4), (2, 4)]),
        ("i,j,k->kji", [(2,), (3,), (4,)]),
        ("ij->", [(2, 3)]),
        ("ij,k->i", [(2, 3), (4,)]),
        ("ii", [(3, 3)]),
        ("ii->i", [(3, 3)]),
        ("iji,jk->ik", [(2, 3, 2), (3, 4)]),
        ("...ii,ij->...j", [(2, 3, 3), (3, 3)]),
        ("iji,kk->j", [(2, 3, 2), (4, 4)]),
    ],
)
def test_einsum(equation: str, shapes: list[tuple[int, ...]]) -> None:
    xs = {"ABC"[i]: normal(*shape, seed=i) for i, shape in enumerate(shapes)}
    check([node("Einsum", " ".join(xs), equation=equation)], xs)
    check_second([node("Einsum", " ".join(xs), "F", equation=equation)], xs)


@pytest.mark.parametrize(
    "shape", [(1, 1), (2, 2), (3, 3), (6, 6), (2, 3, 4, 4), (0, 3, 3), (2, 0, 0)], ids=str
)
def test_det(shape: tuple[int, ...]) -> None:
    check([node("Det", "X")], {"X": normal(*shape)})
    check_second([node("Det", "X", "F")], {"X": normal(*shape)})


def test_det_of_singular_matrices() -> None:
    """The cofactors, also where there is no inverse."""
    for rank in (0, 1, 2, 3, 4):
        x = normal(5, rank) @ normal(rank, 5, seed=1)
        _, [found] = gradients([node("Det", "X")], {"X": x}, {})
        expected = [
            [(-1) ** (i + k) * np.linalg.det(np.delete(np.delete(x, i, 0), k, 1)) for k in range(5)]
            for i in range(5)
        ]
        np.testing.assert_allclose(found, expected, 1e-9, 1e-9)


@pytest.mark.parametrize("shape", [(5,), (2, 3, 4), (0,), (2, 1)], ids=str)
def test_cum_prod(shape: tuple[int, ...]) -> None:
    x = normal(*shape)
    if x.size > 3:
        x.ravel()[2] = 0
    for exclusive in (0, 1):
        for reverse in (0, 1):
            nodes = [node("CumProd", "X A", "Y", exclusive=exclusive, reverse=reverse)]
            check(nodes, {"X": x}, {"A": INTS(-1)})
    check_second([node("CumProd", "X A", "F")], {"X": x}, {"A": INTS(0)})


def test_codes() -> None:
    """DequantizeLinear by its scale, and the scale of DynamicQuantizeLinear."""
    codes = {"Q": np.array([[3, 250, 7], [9, 0, 128]], "uint8")}
    zero = {"Z": np.array(100, "uint8")}
    scale = np.array(0.5, "float32")
    for scales, zeros in (
        (scale, zero),
        (np.array([0.5, 0.25, 0.125], "float32"), {"Z": np.array([1, 2, 3], "uint8")}),
    ):
        check([node("DequantizeLinear", "Q S Z")], {"S": scales}, codes | zeros, tolerance=2e-3)
    blocks = {"S": uniform(0.5, 1, 2, 2).astype("float32")}
    for axis, block in ((1, 2), (0, 1)):
        blocks = {"S": uniform(0.5, 1, 2, 2 if axis else 3).astype("float32")}
        nodes = [node("DequantizeLinear", "Q S", axis=axis, block_size=block)]
        check(nodes, blocks, codes, opset=21, tolerance=2e-3)
    x = {"X": np.array([-1.5, 0.3, 2, 1], "float32")}
    check([node("DynamicQuantizeLinear", "X", "Q Y Z")], x, tolerance=2e-3)
    # Through the codes themselves nothing goes, through the scale it does.
    nodes = [node("DynamicQuantizeLinear", "X", "Q S Z"), node("DequantizeLinear", "Q S Z")]
    _, [found] = gradients(nodes, x, {})
    assert found[0] != 0 and found[1] == 0 and found[2] == -found[0]
    _, [found] = gradients(
        [node("QuantizeLinear", "X S", "Q"), node("Cast", "Q", to=TensorProto.FLOAT)],
        x,
        {"S": scale},
    )
    assert not found.any()


# --- Windows --------------------------------------------------------------------------------------

# Shapes of x and w, and attributes.
CONVOLUTIONS: list[tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = [
    ((2, 3, 8), (4, 3, 3), {}),
    ((1, 2, 9), (2, 2, 3), {"strides": [2], "dilations": [2], "pads": [1, 2]}),
    ((2, 4, 6), (6, 2, 3), {"group": 2, "strides": [3]}),
    ((1, 3, 5), (3, 1, 2), {"group": 3, "auto_pad": "SAME_UPPER", "strides": [2]}),
    ((1, 1, 1), (1, 1, 1), {"pads": [3, 3], "strides": [7]}),
    ((2, 2, 6, 5), (3, 2, 3, 2), {"pads": [1, 0, 2, 1], "strides": [2, 1]}),
    ((1, 4, 5, 5), (4, 2, 2, 3), {"group": 2, "dilations": [1, 2], "auto_pad": "SAME_LOWER"}),
    ((1, 2, 3, 4, 3), (2, 2, 2, 2, 2), {"strides": [1, 2, 1]}),
    ((0, 2, 6), (3, 2, 3), {}),
]


@pytest.mark.parametrize(("x", "w", "attributes"), CONVOLUTIONS, ids=str)
def test_conv(x: tuple[int, ...], w: tuple[int, ...], attributes: dict[str, Any]) -> None:
    xs = {"X": normal(*x), "W": normal(*w, seed=1), "B": normal(w[0], seed=2)}
    check([node("Conv", "X W B", **attributes)], xs)


@pytest.mark.parametrize(
    ("x", "w", "attributes"),
    [
        ((2, 3, 4), (3, 2, 3), {}),
        ((1, 2, 4), (2, 2, 3), {"strides": [2], "dilations": [2], "pads": [1, 2]}),
        ((1, 2, 4), (2, 2, 3), {"strides": [3], "output_padding": [1]}),
        ((2, 4, 3), (4, 3, 2), {"group": 2, "strides": [2]}),
        ((1, 2, 3, 4), (2, 1, 3, 2), {"strides": [2, 3], "output_shape": [7, 13]}),
        ((1, 2, 3, 4), (2, 1, 3, 3), {"strides": [2, 2], "auto_pad": "SAME_UPPER"}),
    ],
    ids=str,
)
def test_conv_transpose(x: tuple[int, ...], w: tuple[int, ...], attributes: dict[str, Any]) -> None:
    channels = w[1] * attributes.get("group", 1)
    xs = {"X": normal(*x), "W": normal(*w, seed=1), "B": normal(channels, seed=2)}
    check([node("ConvTranspose", "X W B", **attributes)], xs)


POOLS: list[tuple[tuple[int, ...], dict[str, Any]]] = [
    ((2, 2, 7), {"kernel_shape": [3]}),
    ((1, 2, 7), {"kernel_shape": [3], "strides": [2], "pads": [1, 1]}),
    ((1, 1, 8), {"kernel_shape": [3], "strides": [2], "ceil_mode": 1}),
    ((1, 1, 9), {"kernel_shape": [2], "dilations": [3], "strides": [2]}),
    ((2, 2, 5, 6), {"kernel_shape": [2, 3], "strides": [2, 2], "auto_pad": "SAME_LOWER"}),
    ((1, 2, 5, 4), {"kernel_shape": [3, 2], "pads": [1, 0, 1, 1], "ceil_mode": 1}),
    ((0, 2, 5), {"kernel_shape": [2]}),
]


@pytest.mark.parametrize(("shape", "attributes"), POOLS, ids=str)
def test_pools(shape: tuple[int, ...], attributes: dict[str, Any]) -> None:
    x = {"X": normal(*shape)}
    check([node("AveragePool", "X", **attributes)], x)
    check([node("AveragePool", "X", count_include_pad=1, **attributes)], x)
    check([node("MaxPool", "X", **attributes)], x)
    check([node("MaxPool", "X", storage_order=1, **attributes)], x)
    check([node("LpPool", "X", p=3, **attributes)], x)


def test_global_pools() -> None:
    for shape in ((2, 3, 4), (1, 2, 3, 4)):
        for op in ("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"):
            check([node(op, "X")], {"X": normal(*shape)})


def test_second_derivatives_of_windows() -> None:
    xs = {"X": normal(2, 2, 6), "W": normal(2, 2, 3, seed=1)}
    for op in ("Conv", "ConvTranspose"):
        nodes = [
            node(op, "X W", "C", strides=[2]),
            node("Mul", "C C", "S"),
            gradient_node(["X"], ["W"], "S", ["dX"]),
            node("Mul", "dX dX"),
        ]
        check(nodes, xs)
    for op in ("AveragePool", "MaxPool"):
        nodes = [
            node(op, "X", "P", kernel_shape=[3], strides=[2]),
            node("Mul", "P P", "S"),
            gradient_node(["X"], [], "S", ["dX"]),
            node("Mul", "dX X"),
        ]
        check(nodes, {"X": xs["X"]})


# --- Images between their pixels ------------------------------------------------------------------


@pytest.mark.parametrize("align", [0, 1])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_grid_sample(mode: str, padding: str, align: int) -> None:
    attributes = {"mode": mode, "padding_mode": padding, "align_corners": align}
    sample = node("GridSample", "X G", "F", **attributes)
    xs = {"X": normal(2, 3, 4, 5), "G": uniform(-1.6, 1.6, 2, 3, 2, 2)}
    check([sample, node("Mul", "F F")], xs)
    check_second([sample], xs)
    if mode != "cubic":
        xs = {"X": normal(1, 2, 3, 2, 4), "G": uniform(-1.4, 1.4, 1, 2, 2, 3, 3, seed=1)}
        check([sample, node("Mul", "F F")], xs)
        check([node("GridSample", "X G", **attributes)], {"X": xs["X"]}, floats({"G": xs["G"]}))


@pytest.mark.torch
def test_grid_sample_against_torch() -> None:
    torch = pytest.importorskip("torch")
    xs = {"X": normal(2, 3, 4, 5), "G": uniform(-1.6, 1.6, 2, 3, 2, 2)}
    for mode, name in (("nearest", "nearest"), ("linear", "bilinear"), ("cubic", "bicubic")):
        for padding in ("zeros", "border", "reflection"):
            sample = node("GridSample", "X G", "F", mode=mode, padding_mode=padding)
            _, found = gradients([sample, node("Mul", "F F")], xs, {})
            leaves = [torch.tensor(array, requires_grad=True) for array in xs.values()]
            y = torch.nn.functional.grid_sample(*leaves, name, padding, False)
            (y * y).sum().backward()
            if mode == "cubic" and padding != "zeros":
                continue  # PyTorch also moves the points themselves there
            for gradient, leaf in zip(found, leaves, strict=True):
                np.testing.assert_allclose(gradient, leaf.grad.numpy(), 1e-6, 1e-6)


def test_old_and_empty_grids() -> None:
    xs = floats({"X": normal(1, 1, 4, 4), "G": uniform(-0.9, 0.9, 1, 2, 2, 2)})
    check([node("GridSample", "X G", mode="bicubic")], xs, opset=16, tolerance=5e-2)
    empty = {"X": normal(1, 2, 3, 3), "G": normal(1, 0, 2, 2)}
    check([node("GridSample", "X G")], empty)
    far = {"X": normal(1, 1, 2, 2), "G": np.array([[[[np.inf, 0], [np.nan, 0], [9e9, -9e9]]]])}
    _, [by_x, by_g] = gradients([node("GridSample", "X G")], far, {})
    assert not by_x.any() and not by_g.any()


@pytest.mark.parametrize("align", [0, 1])
def test_affine_grid(align: int) -> None:
    grid = node("AffineGrid", "T S", "F", align_corners=align)
    for theta, size in (((2, 2, 3), [2, 3, 4, 5]), ((1, 3, 4), [1, 2, 2, 3, 4])):
        xs, zs = {"T": normal(*theta)}, {"S": INTS(size)}
        check([grid, node("Mul", "F F")], xs, zs)
        check_second([grid], xs, zs)
    # A spatial transformer.
    nodes = [grid, node("GridSample", "X F")]
    check(nodes, {"T": normal(1, 2, 3) / 2, "X": normal(1, 2, 4, 4)}, {"S": INTS([1, 2, 3, 3])})


REGIONS = np.array([[0.3, 0.4, 4.1, 3.7], [1.2, 0.7, 2.9, 4.4], [-3.1, 1.1, 2.2, 7.3]])


@pytest.mark.parametrize("mode", ["avg", "max"])
@pytest.mark.parametrize("ratio", [0, 1, 2])
def test_roi_align(mode: str, ratio: int) -> None:
    zs = {"B": INTS([0, 1, 0])}
    xs = {"X": normal(2, 3, 6, 5), "R": REGIONS}
    attributes = {"mode": mode, "output_height": 2, "output_width": 3, "sampling_ratio": ratio}
    align = node("RoiAlign", "X R B", "F", spatial_scale=0.75, **attributes)
    check([align, node("Mul", "F F")], xs, zs)
    check_second([align], xs, zs)
    old = node("RoiAlign", "X R B", **attributes)
    check([old], floats(xs), zs, opset=10, tolerance=5e-2)
    none = {"X": xs["X"], "R": REGIONS[:0]}
    check([node("RoiAlign", "X R B", **attributes)], none, {"B": INTS([], "int64")})


def test_max_roi_pool() -> None:
    x = {"X": normal(2, 3, 6, 5)}
    regions = np.concatenate([[[0], [1], [0]], REGIONS.round()], 1)
    pool = node("MaxRoiPool", "X R", "F", pooled_shape=[2, 3])
    check([pool, node("Mul", "F F")], x, {"R": regions})
    check_second([pool], x, {"R": regions})


@pytest.mark.parametrize("groups", [1, 2])
def test_deform_conv(groups: int) -> None:
    xs = {
        "X": normal(2, 4, 5, 6),
        "W": normal(4, 4 // groups, 2, 3, seed=1),
        "O": uniform(-1.2, 1.2, 2, groups * 12, 3, 5, seed=2),
        "B": normal(4, seed=3),
        "M": uniform(0, 1, 2, groups * 6, 3, 5, seed=4),
    }
    attributes = {"group": groups, "offset_group": groups, "strides": [2, 1], "pads": [1, 1, 0, 0]}
    conv = node("DeformConv", "X W O B M", "F", **attributes)
    check([conv, node("Mul", "F F")], xs)
    check([node("DeformConv", "X W O", **attributes)], {name: xs[name] for name in "XWO"})
    wide = {"X": normal(1, 1, 6), "W": normal(1, 1, 2), "O": uniform(-1, 1, 1, 2, 5)}
    check_second([node("DeformConv", "X W O", "F")], wide)


def test_col2im() -> None:
    zs = {"I": INTS([5, 6]), "B": INTS([2, 3])}
    for attributes, blocks in (
        ({}, 16),
        ({"strides": [2, 1], "pads": [1, 0, 0, 1]}, 15),
        ({"dilations": [2, 1]}, 12),
    ):
        x = {"X": normal(2, 12, blocks)}
        check([node("Col2Im", "X I B", **attributes)], x, zs)
        check_second([node("Col2Im", "X I B", "F", **attributes)], x, zs)


# --- Fourier transforms ---------------------------------------------------------------------------

# The shape of the input, its axis, the length, and attributes.
TRANSFORMS: list[tuple[tuple[int, ...], int, int | None, dict[str, Any]]] = [
    ((2, 5, 1), 1, None, {}),
    ((2, 5, 2), 1, None, {}),
    ((2, 6, 1), 1, None, {"onesided": 1}),
    ((2, 5, 1), 1, None, {"onesided": 1}),
    ((2, 5, 1), -2, 8, {"onesided": 1}),
    ((2, 5, 1), -2, 3, {"onesided": 1}),
    ((4, 5, 2), 0, 7, {}),
    ((4, 5, 2), 0, 3, {"inverse": 1}),
    ((2, 5, 1), 1, None, {"inverse": 1}),
    ((2, 4, 2), 1, None, {"inverse": 1, "onesided": 1}),
    ((2, 4, 2), 1, 7, {"inverse": 1, "onesided": 1}),
    ((2, 4, 2), 1, 5, {"inverse": 1, "onesided": 1}),
    ((2, 4, 2), 1, 9, {"inverse": 1, "onesided": 1}),
]


@pytest.mark.parametrize(("shape", "axis", "length", "attributes"), TRANSFORMS)
def test_dft(
    shape: tuple[int, ...], axis: int, length: int | None, attributes: dict[str, Any]
) -> None:
    x, zs = {"X": normal(*shape)}, {"A": INTS(axis)}
    zs |= {} if length is None else {"L": INTS(length)}
    inputs = f"X {'_' if length is None else 'L'}"
    transform = node("DFT", f"{inputs} A", "F", **attributes)
    check([transform, node("Mul", "F F")], x, zs)
    check_second([transform], x, zs)
    del zs["A"]
    check([node("DFT", inputs, axis=axis % len(shape), **attributes)], x, zs, opset=17)


@pytest.mark.parametrize("shape", [(2, 9), (2, 9, 1), (2, 9, 2)], ids=str)
def test_stft(shape: tuple[int, ...]) -> None:
    xs = {"X": normal(*shape), "W": uniform(0.5, 1, 4)}
    onesided = int(len(shape) < 3 or shape[2] == 1)
    stft = node("STFT", "X S W", "F", onesided=onesided)
    check([stft, node("Mul", "F F")], xs, {"S": INTS(2)})
    check_second([stft], xs, {"S": INTS(2)})
    stft = node("STFT", "X S _ L", onesided=0)
    check([stft], {"X": xs["X"]}, {"S": INTS(3), "L": INTS(3)})


# --- Normalizations and losses --------------------------------------------------------------------


def test_normalizations() -> None:
    x, scale, bias = normal(2, 4, 3), normal(4, seed=1), normal(4, seed=2)
    check([node("LayerNormalization", "X S B")], {"X": x, "S": scale[:3], "B": bias[:3]})
    rows = {"X": x, "S": normal(4, 3, seed=1)}
    moments = [node("LayerNormalization", "X S", "N M I", axis=1), node("Mul", "N I", "P")]
    check([*moments, node("Add", "P M")], floats(rows), tolerance=2e-2)
    check([node("RMSNormalization", "X S", axis=1)], rows)
    check([node("InstanceNormalization", "X S B")], {"X": x, "S": scale, "B": bias})
    check([node("GroupNormalization", "X S B", num_groups=2)], {"X": x, "S": scale, "B": bias})
    old = floats({"X": x, "S": scale[:2], "B": bias[:2]})
    check([node("GroupNormalization", "X S B", num_groups=2)], old, opset=20, tolerance=1e-2)
    statistics = {"M": normal(4, seed=3), "V": uniform(0.5, 2, 4)}
    batch = {"X": x, "S": scale, "B": bias, **statistics}
    check([node("BatchNormalization", "X S B M V")], batch)
    training = node("BatchNormalization", "X S B M V", "N R Q", training_mode=1)
    reshape = [
        node("Add", "R Q", "A"),
        node("Unsqueeze", "A U", "W"),
        node("Mul", "N W"),
    ]
    check([training, *reshape], batch, {"U": np.array([0, 2])})
    places = {name: normal(4, 3, seed=i) for i, name in enumerate("SBM")}
    places |= {"X": x, "V": uniform(0.5, 2, 4, 3)}
    for attributes in ({"is_test": 1}, {"is_test": 0}):
        whole = node("BatchNormalization", "X S B M V", spatial=0, **attributes)
        check([whole], places, opset=6)
    for p in (1, 2):
        check([node("LpNormalization", "X", p=p, axis=1)], {"X": x})
    check([node("MeanVarianceNormalization", "X", axes=[0, 2])], {"X": x})
    for size in (1, 3, 4, 99):
        lrn = node("LRN", "X", size=size, alpha=0.5, beta=0.75, bias=1.5)
        check([lrn], {"X": x})


@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
@pytest.mark.parametrize("shape", [(4, 3), (2, 3, 4)], ids=str)
def test_losses(reduction: str, shape: tuple[int, ...]) -> None:
    labels = np.random.default_rng(1).integers(0, 3, size=(shape[0], *shape[2:]))
    scores, weights = {"X": normal(*shape)}, {"W": uniform(0.5, 2, 3)}
    for op in ("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"):
        check([node(op, "X T", reduction=reduction)], scores, {"T": labels})
        loss = node(op, "X T W", reduction=reduction, ignore_index=1)
        check([loss], scores | weights, {"T": labels})
    both = node("SoftmaxCrossEntropyLoss", "X T", "L P")
    check([both, node("Mul", "P L")], scores, {"T": labels})


# --- Recurrent networks and attention -------------------------------------------------------------

CELLS: list[tuple[str, int, dict[str, Any]]] = [
    ("RNN", 1, {}),
    ("RNN", 1, {"activations": ["Affine"], "activation_alpha": [0.5], "activation_beta": [0.25]}),
    ("GRU", 3, {}),
    ("GRU", 3, {"linear_before_reset": 1, "clip": 0.5}),
    ("LSTM", 4, {}),
    ("LSTM", 4, {"input_forget": 1}),
    ("LSTM", 4, {"activations": ["HardSigmoid", "ScaledTanh", "softsign"] * 2}),
]


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize(("op", "gates", "attributes"), CELLS)
def test_recurrent_networks(
    op: str, gates: int, attributes: dict[str, Any], direction: str
) -> None:
    d = 2 if direction == "bidirectional" else 1
    if "activations" in attributes:
        count = {"RNN": 1, "LSTM": 3}[op] * d
        names = (attributes["activations"] * 2)[:count]
        attributes = attributes | {"activations": names}
    xs = {
        "X": normal(3, 2, 4),
        "W": normal(d, gates * 3, 4, seed=1) / 2,
        "R": normal(d, gates * 3, 3, seed=2) / 2,
        "B": normal(d, gates * 6, seed=3),
        "H": normal(d, 2, 3, seed=4),
    }
    inputs = "X W R B L H"
    if op == "LSTM":
        xs |= {"C": normal(d, 2, 3, seed=5), "P": normal(d, 9, seed=6)}
        inputs += " C P"
    zs = {"L": np.array([2, 3], "int32")}
    attributes = {"hidden_size": 3, "direction": direction} | attributes
    cell = node(op, inputs, "All H_" + (" C_" if op == "LSTM" else ""), **attributes)
    states = node("Add", "H_ C_", "S_") if op == "LSTM" else node("Neg", "H_", "S_")
    check([cell, states, node("Mul", "All S_")], xs, zs)
    plain = {name: xs[name] for name in "XWR"}
    check([node(op, "X W R", **attributes)], plain)


def test_recurrent_layout() -> None:
    xs = {"X": normal(2, 3, 4), "W": normal(1, 12, 4, seed=1), "R": normal(1, 12, 3, seed=2)}
    check([node("LSTM", "X W R", hidden_size=3, layout=1)], xs)


def test_attention() -> None:
    xs = {"Q": normal(2, 4, 3, 5), "K": normal(2, 2, 4, 5, seed=1), "V": normal(2, 2, 4, 6, seed=2)}
    check([node("Attention", "Q K V")], xs)
    check([node("Attention", "Q K V", is_causal=1, scale=0.5, softcap=2.0)], xs)
    mask = np.array([[1, 0, 1, 1], [0, 0, 0, 0], [1, 1, 0, 0]], bool)
    check([node("Attention", "Q K V M")], xs, {"M": mask})
    check([node("Attention", "Q K V M")], xs | {"M": normal(4, 3, 3, seed=3)})
    past = xs | {"A": normal(2, 2, 2, 5, seed=4), "B": normal(2, 2, 2, 6, seed=5)}
    nodes = [
        node("Attention", "Q K V _ A B", "O PK PV", is_causal=1),
        node("ReduceSum", "PK", "SK"),
        node("ReduceSumSquare", "PV", "SV"),
        node("Mul", "O SK", "OK"),
        node("Mul", "OK SV"),
    ]
    check(nodes, past)
    flat = {"Q": normal(2, 3, 8), "K": normal(2, 4, 8, seed=1), "V": normal(2, 4, 4, seed=2)}
    for mode in range(4):
        attributes = {"q_num_heads": 2, "kv_num_heads": 2, "qk_matmul_output_mode": mode}
        check([node("Attention", "Q K V", **attributes)], flat)
        check([node("Attention", "Q K V", "O _ _ Y", **attributes)], flat)


def test_rotary_embedding() -> None:
    x, cosine, sine = normal(2, 3, 4, 6), normal(5, 2, seed=1), normal(5, 2, seed=2)
    xs, zs = {"X": x, "C": cosine, "S": sine}, {"P": np.array([[0, 4, 1, 1], [2, 3, 0, 1]])}
    for interleaved in (0, 1):
        attributes = {"rotary_embedding_dim": 4, "interleaved": interleaved}
        check([node("RotaryEmbedding", "X C S P", **attributes)], floats(xs), zs, tolerance=1e-2)
    flat = {"X": normal(2, 4, 12), "C": normal(2, 4, 3), "S": normal(2, 4, 3, seed=1)}
    check([node("RotaryEmbedding", "X C S", num_heads=2)], floats(flat), tolerance=1e-2)


@pytest.mark.parametrize("rule", ["linear", "gated", "delta", "gated_delta"])
@pytest.mark.parametrize("is_scalar", [True, False])
def test_linear_attention(rule: str, is_scalar: bool) -> None:
    xs = {
        "Q": normal(2, 3, 16),
        "K": normal(2, 3, 8, seed=1),
        "V": normal(2, 3, 6, seed=2),
        "S": normal(2, 2, 4, 3, seed=3),
    }
    inputs = "Q K V S"
    if rule.startswith("gated"):
        xs["D"] = uniform(-1, 0, 2, 3, 2 if is_scalar else 8)
    if rule.endswith("delta"):
        xs["B"] = uniform(0, 1, 2, 3, 1 if is_scalar else 2)
    inputs += (" D" if "D" in xs else " _") + (" B" if "B" in xs else "")
    attention = node(
        "LinearAttention", inputs, "F P", update_rule=rule, q_num_heads=4, kv_num_heads=2
    )
    total = [node("ReduceSum", "P", "T", keepdims=0), node("Mul", "F T")]
    check([attention, *total], floats(xs), tolerance=3e-2)
    plain = {name: array for name, array in xs.items() if name != "S"}
    inputs = inputs.replace("S", "_")
    attention = node("LinearAttention", inputs, update_rule=rule, q_num_heads=4, kv_num_heads=2)
    check([attention], floats(plain), tolerance=3e-2)


def test_causal_conv_with_state() -> None:
    xs = {"X": normal(2, 3, 4), "W": normal(3, 1, 3), "B": normal(3), "P": normal(2, 3, 2)}
    for activation in ("none", "silu"):
        conv = node("CausalConvWithState", "X W B P", "F S", activation=activation)
        total = [node("ReduceSum", "S", "T", keepdims=0), node("Mul", "F T")]
        check([conv, *total], floats(xs), tolerance=3e-2)
        conv = node("CausalConvWithState", "X W", activation=activation)
        check([conv], floats({name: xs[name] for name in "XW"}), tolerance=3e-2)


def test_flex_attention() -> None:
    xs = {
        "Q": normal(2, 4, 3, 5),
        "K": normal(2, 2, 4, 5, seed=1),
        "V": normal(2, 2, 4, 6, seed=2),
        "A": normal(3, 4, seed=3),
    }
    score = body_of([node("Add", "s A", "t"), node("Sin", "t", "u")], ["s"], ["u"])
    chance = body_of([node("Mul", "p p", "q")], ["p"], ["q"])
    plain = {name: xs[name] for name in "QKV"}
    flex = {"domain": PREVIEW}
    check([node("FlexAttention", "Q K V", **flex)], plain)
    both = node("FlexAttention", "Q K V", "F", score_mod=score, prob_mod=chance, scale=0.5, **flex)
    check([both, node("Mul", "F F")], xs)
    check_second([both], xs)


# --- ai.onnx.ml, and steps of a training ----------------------------------------------------------


def test_features() -> None:
    ml = {"domain": ML}
    x = floats({"X": uniform(0.5, 2, 3, 4)})
    scale = {"offset": [1.0, 2, 3, 4], "scale": [0.5, 1, -2, 3]}
    check([node("Scaler", "X", **scale, **ml)], x, tolerance=5e-3)
    wide = {"X": x["X"].astype("float64")}
    _, [found] = gradients([node("Scaler", "X", offset=[1.0], scale=[0.5], **ml)], wide, {})
    assert found.dtype == np.float64 and set(found.ravel()) == {0.5}
    for norm in ("MAX", "L1", "L2"):
        check([node("Normalizer", "X", norm=norm, **ml)], x, tolerance=5e-3)
    nan = floats({"X": uniform(0.5, 2, 3, 4)})
    nan["X"][1, 2] = np.nan
    impute = node("Imputer", "X", imputed_value_floats=[7.0], replaced_value_float=np.nan, **ml)
    [found] = check([impute], nan, tolerance=5e-3)
    assert found[1, 2] == 0
    some = {"I": INTS([2, 0, 2])}
    check([node("ArrayFeatureExtractor", "X I", **ml)], x, some, tolerance=5e-3)
    check([node("ArrayFeatureExtractor", "X I", **ml)], {"X": x["X"][0]}, some, tolerance=5e-3)
    more = x | {"Z": x["X"][:, :2]}
    check([node("FeatureVectorizer", "X Z", **ml)], more, tolerance=5e-3)
    sizes = {"inputdimensions": [3, 5]}
    check([node("FeatureVectorizer", "X Z", **sizes, **ml)], more, tolerance=5e-3)
    _, [found] = gradients([node("Binarizer", "X", threshold=1.0, **ml)], x, {})
    assert not found.any()


TRANSFORMATIONS = ["NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"]


@pytest.mark.parametrize("transform", TRANSFORMATIONS)
def test_linear_models(transform: str) -> None:
    x = floats({"X": uniform(0.5, 2, 3, 2)})
    attributes = {"domain": ML, "post_transform": transform}
    several = {"coefficients": [0.5, -1, 0.25, 2, 1, -0.5], "intercepts": [0.1, 0.2, 0.3]}
    check([node("LinearRegressor", "X", targets=3, **several, **attributes)], x, tolerance=5e-3)
    for labels, model in (
        ([4, 5, 6], several),
        ([4, 5], {"coefficients": [0.5, -1], "intercepts": [0.25]}),
    ):
        classify = node(
            "LinearClassifier", "X", "L Y", classlabels_ints=labels, **model, **attributes
        )
        check([classify], x, tolerance=5e-3)


@pytest.mark.parametrize("kernel", ["LINEAR", "POLY", "RBF", "SIGMOID"])
def test_vector_machines(kernel: str) -> None:
    x = floats({"X": uniform(0.5, 2, 3, 2)})
    attributes = {"domain": ML, "kernel_type": kernel, "kernel_params": [0.5, 0.25, 3.0]}
    vectors = {"support_vectors": [1.0, 2, -1, 0.5, 0.25, 1]}
    regress = node(
        "SVMRegressor",
        "X",
        coefficients=[0.5, -1, 0.75],
        n_supports=3,
        rho=[0.1],
        **vectors,
        **attributes,
    )
    check([regress], x, tolerance=1e-2)
    line = node("SVMRegressor", "X", coefficients=[0.5, -1], rho=[0.1], **attributes)
    check([line], x, tolerance=1e-2)
    for transform in TRANSFORMATIONS:
        three = {
            "classlabels_ints": [1, 2, 3],
            "vectors_per_class": [1, 1, 1],
            "coefficients": [0.5, -1, 0.75, 0.25, 1, -0.5],
            "rho": [0.1, 0.2, 0.3],
        }
        two = {
            "classlabels_ints": [1, 2],
            "vectors_per_class": [2, 1],
            "coefficients": [0.5, -1, 0.75],
            "rho": [0.1],
        }
        for model in (three, two):
            more = model | vectors | attributes | {"post_transform": transform}
            check([node("SVMClassifier", "X", "L Y", **more)], x, tolerance=1e-2)


@pytest.mark.parametrize("count", [0, 3])
@pytest.mark.parametrize(
    ("op", "attributes", "states"),
    [
        ("Adagrad", {"decay_factor": 0.1}, 1),
        ("Adam", {"norm_coefficient_post": 0.01}, 2),
        ("Momentum", {"alpha": 0.9, "beta": 0.8, "mode": "standard"}, 1),
        ("Momentum", {"alpha": 0.9, "beta": 0.8, "mode": "nesterov"}, 1),
    ],
)
def test_steps_of_a_training(op: str, attributes: dict[str, Any], states: int, count: int) -> None:
    """Two tensors; the loss after the step by everything before it."""
    groups = "XGST"[: 2 + states]
    xs = {"R": np.array(0.1)}
    for i, group in enumerate(groups):
        for k, shape in enumerate([(2, 3), (4,)]):
            low = 0.5 if group in "ST" else -1
            xs[f"{group}{k}"] = uniform(low, 1, *shape, seed=2 * i + k)
    inputs = ["R", "N", *(f"{group}{k}" for group in groups for k in range(2))]
    outputs = [f"{group}{k}_" for group in ["X", *groups[2:]] for k in range(2)]
    attributes = attributes | {"domain": TRAINING, "norm_coefficient": 0.1}
    step = node(op, " ".join(inputs), " ".join(outputs), **attributes)
    squares = [node("ReduceSumSquare", name, f"{name}s", keepdims=0) for name in outputs]
    nodes = [step, *squares, node("Sum", " ".join(f"{name}s" for name in outputs))]
    check(nodes, xs, {"N": np.array(count)})


# --- Graphs ---------------------------------------------------------------------------------------


def value_info(name: str, kind: int = TensorProto.DOUBLE) -> onnx.ValueInfoProto:
    return onnx.helper.make_tensor_value_info(name, kind, None)


def body_of(nodes: Nodes, inputs: Sequence[str], outputs: Sequence[str]) -> onnx.GraphProto:
    kinds = {"i": TensorProto.INT64, "c": TensorProto.BOOL, "go": TensorProto.BOOL}
    infos = [
        [value_info(name, kinds.get(name, TensorProto.DOUBLE)) for name in names]
        for names in (inputs, outputs)
    ]
    return onnx.helper.make_graph(nodes, "body", *infos)


def test_a_way_that_does_not_come_from_x() -> None:
    _, [a, b] = gradients([node("Mul", "A A")], {"A": normal(2), "B": normal(3)}, {})
    assert b.tolist() == [0, 0, 0] and a.any()
    _, [a] = gradients([node("Neg", "A", "B"), node("Neg", "A")], {"A": normal(2)}, {}, y="A")
    assert a.tolist() == [1, 1]


def test_intermediate_values_and_other_points() -> None:
    """H is computed from A in the graph, but the node is asked about another H."""
    nodes = [node("Exp", "A", "H"), node("Mul", "H B", "M"), node("Mul", "M H")]
    last = gradient_node(["H"], ["B"], "Y", ["dH"])
    last.input[0] = "H1"
    inputs = {"A": normal(2), "B": normal(2, seed=1), "H1": np.array([3.0, 4.0])}
    [found] = run(model_of([*nodes, last], inputs, ["dH"]), inputs)
    np.testing.assert_allclose(found, 2 * inputs["H1"] * inputs["B"])
    # Without `zs`, B is read from the graph.
    last = gradient_node(["H"], [], "Y", ["dH"])
    [found] = run(model_of([*nodes, last], inputs, ["dH"]), inputs)
    np.testing.assert_allclose(found, 2 * np.exp(inputs["A"]) * inputs["B"])


def test_the_node_may_stand_before_y() -> None:
    x = {"X": normal(3)}
    nodes = [gradient_node(["X"], [], "Y", ["dX"]), node("Exp", "X")]
    np.testing.assert_allclose(run(model_of(nodes, x, ["dX"]), x)[0], np.exp(x["X"]))


def test_weights_that_are_constants() -> None:
    x = {"X": normal(2, 3)}
    weight = onnx.numpy_helper.from_array(normal(3, 2), "W")
    model = model_of(
        [node("Neg", "W", "T"), node("MatMul", "X T"), gradient_node(["W"], ["X"], "Y", ["dW"])],
        x,
        ["dW"],
    )
    model.graph.initializer.append(weight)
    [found] = run(model, x)
    np.testing.assert_allclose(found, -np.tile(x["X"].sum(0)[:, None], (1, 2)))


def test_outputs_may_be_left_out() -> None:
    inputs = {"A": normal(2), "B": normal(2, seed=1)}
    last = gradient_node(["A", "B"], [], "Y", ["", "dB"])
    [found] = run(model_of([node("Mul", "A B"), last], inputs, ["dB"]), inputs)
    np.testing.assert_allclose(found, inputs["A"])
    last = gradient_node(["A", "B"], [], "Y", ["dA"])
    [found] = run(model_of([node("Mul", "A B"), last], inputs, ["dA"]), inputs)
    np.testing.assert_allclose(found, inputs["B"])


@pytest.mark.parametrize("op", ["Sin", "Tanh", "Sigmoid", "Elu", "Gelu", "Softmax", "ReduceProd"])
def test_second_derivatives(op: str) -> None:
    nodes = [
        node(op, "X", "F"),
        node("Mul", "F V", "G"),
        gradient_node(["X"], ["V"], "G", ["dX"]),
        node("Mul", "dX V"),
    ]
    check(
        nodes,
        {"X": uniform(0.5, 2, 2, 3), "V": normal(*((2, 3) if op != "ReduceProd" else (1, 1)))},
    )


def test_third_derivative() -> None:
    nodes = [
        node("Mul", "X X", "X2"),
        node("Mul", "X2 X2", "Y"),
        gradient_node(["X"], [], "Y", ["d1"]),
        gradient_node(["X"], [], "d1", ["d2"]),
        gradient_node(["X"], [], "d2", ["d3"]),
    ]
    x = {"X": np.array([1.0, 2.0])}
    found = run(model_of(nodes, x, ["d1", "d2", "d3"]), x)
    assert [item.tolist() for item in found] == [[4, 32], [12, 48], [24, 48]]


def test_functions() -> None:
    """A function that is called on the way, with an attribute, and one that differentiates."""
    scaled = node("LeakyRelu", "A", "B")
    scaled.attribute.append(onnx.AttributeProto(name="alpha", ref_attr_name="slope", type=1))
    imports = [onnx.helper.make_opsetid("", NEWEST), onnx.helper.make_opsetid(TRAINING, 1)]
    inner = onnx.helper.make_function(
        "local", "Inner", ["A"], ["C"], [scaled, node("Mul", "B A", "C")], imports, ["slope"]
    )
    call = onnx.helper.make_node("Inner", ["X"], ["Y"], domain="local", slope=0.25)
    check([call], {"X": normal(3, 2)}, functions=[inner])
    slope = onnx.helper.make_function(
        "local",
        "Slope",
        ["A"],
        ["dA"],
        [node("Exp", "A", "B"), node("Mul", "B A", "C"), gradient_node(["A"], [], "C", ["dA"])],
        imports,
    )
    call = onnx.helper.make_node("Slope", ["X"], ["Y"], domain="local")
    x = {"X": normal(3)}
    [found] = run(model_of([call], x, ["Y"], functions=[slope]), x)
    np.testing.assert_allclose(found, np.exp(x["X"]) * (1 + x["X"]))
    check([call], x, functions=[slope])


def test_if() -> None:
    branches = {
        "then_branch": body_of([node("Mul", "A B", "T")], [], ["T"]),
        "else_branch": body_of([node("Exp", "A", "E")], [], ["E"]),
    }
    for condition in (True, False):
        zs = {"C": np.array(condition)}
        check([node("If", "C", **branches)], {"A": normal(3), "B": normal(3, seed=1)}, zs)


def test_loop() -> None:
    body = body_of(
        [
            node("Mul", "v A", "w"),
            node("Sin", "w", "s"),
            node("Add", "s B", "scan"),
            node("Identity", "c", "go"),
        ],
        ["i", "c", "v"],
        ["go", "s", "scan"],
    )
    nodes = [node("Loop", "N _ V", "L S", body=body), node("Mul", "L S")]
    xs = {"A": normal(3), "B": normal(3, seed=1), "V": normal(3, seed=2)}
    check(nodes, xs, {"N": np.array(4)})
    scans = [node("Loop", "N _ V", "L Y", body=body)]
    check(scans, xs, {"N": np.array(3)})


def scan_body() -> onnx.GraphProto:
    return body_of(
        [
            node("Mul", "state item", "product"),
            node("Add", "product A", "next"),
            node("Exp", "next", "out"),
        ],
        ["state", "item"],
        ["next", "out"],
    )


def test_scan() -> None:
    body = scan_body()
    xs = {"S": normal(2), "X": normal(3, 2, seed=1), "A": normal(2, seed=2)}
    for direction in (0, 1):
        scan = node(
            "Scan",
            "S X",
            "F O",
            body=body,
            num_scan_inputs=1,
            scan_input_directions=[direction],
            scan_output_directions=[direction],
            scan_output_axes=[1],
        )
        nodes = [scan, node("Transpose", "O", "T"), node("Mul", "F T")]
        check(nodes, xs)


def test_old_scan() -> None:
    """Version 8 has a batch, and a length for each element of it."""
    body = scan_body()
    xs = {"S": normal(2, 2), "X": normal(2, 3, 2, seed=1), "A": normal(2, seed=2)}
    for lengths, zs in (("_", {}), ("L", {"L": INTS([3, 1])})):
        scan = node("Scan", f"{lengths} S X", "F O", body=body, num_scan_inputs=1)
        nodes = [
            scan,
            node("ReduceSum", "O", "T", axes=[1], keepdims=0),
            node("Mul", "F T"),
        ]
        check(nodes, xs, zs, opset=8)


def test_sequence_map() -> None:
    body = body_of([node("Mul", "a b", "p"), node("Mul", "p A", "q")], ["a", "b"], ["q"])
    nodes = [
        node("SplitToSequence", "X", "S", axis=0),
        node("SequenceMap", "S B", "M", body=body),
        node("ConcatFromSequence", "M", axis=0),
    ]
    check(nodes, {"X": normal(3, 2), "A": normal(2, seed=1), "B": normal(2, seed=2)})


def test_random_numbers_are_those_of_the_graph() -> None:
    """The part that is differentiated drops what the graph itself has dropped."""
    x = {"X": uniform(1, 2, 40), "R": np.array(0.5), "T": np.array(True)}
    drop = [node("Dropout", "X R T", "D"), node("Dropout", "D R T")]
    once = [*drop, gradient_node(["X"], [], "Y", ["dX"])]
    value, found = run(model_of(once, x, ["Y", "dX"]), x)
    np.testing.assert_allclose(found, value / x["X"])
    assert 0 < np.count_nonzero(found) < 40
    # In a loop, each iteration with numbers of its own.
    body = body_of([*once, node("Identity", "c", "go")], ["i", "c"], ["go", "Y", "dX"])
    inputs = x | {"N": np.array(3)}
    values, found = run(
        model_of([node("Loop", "N _", "V G", body=body)], inputs, ["V", "G"]), inputs
    )
    np.testing.assert_allclose(found, values / x["X"])
    assert len({row.tobytes() for row in found}) == 3
    # The second derivative sees them as well.
    square = [*drop, node("Mul", "Y D", "Q"), gradient_node(["X"], [], "Q", ["dX"])]
    twice = [*square, gradient_node(["X"], [], "dX", ["ddX"])]
    value, second = run(model_of(twice, x, ["Q", "ddX"]), x)
    np.testing.assert_allclose(second, 2 * value / x["X"] ** 2)


def test_codes_in_bodies() -> None:
    """What is differentiated is not rewritten for codes."""
    codes = {"A": np.array([[1, 2], [3, 4]], "uint8"), "B": np.array([[5, 6], [7, 8]], "uint8")}
    scales = floats({"S": np.array(0.5), "T": np.array(0.25)})
    nodes = [
        node("DequantizeLinear", "A S", "P"),
        node("DequantizeLinear", "B T", "Q"),
        node("MatMul", "P Q"),
    ]
    check(nodes, scales, codes, tolerance=2e-3)
    branch = onnx.helper.make_graph(nodes, "branch", [], [value_info("Y", TensorProto.FLOAT)])
    choice = node("If", "C", "Z", then_branch=branch, else_branch=branch)
    condition = {"C": np.array(True)}
    check([choice, node("Identity", "Z")], scales, codes | condition, tolerance=2e-3)
    product = onnx.helper.make_function(
        "local", "Product", list("ABST"), ["Y"], nodes, [onnx.helper.make_opsetid("", NEWEST)]
    )
    call = onnx.helper.make_node("Product", list("ABST"), ["Y"], domain="local")
    check([call], scales, codes, tolerance=2e-3, functions=[product])


# Operators of the standard that need no row: control flow, and what hands tensors on as they are.
WITHOUT_A_ROW = {"Gradient", "FlexAttention", "If", "Loop", "Scan", "SequenceMap"}
WITHOUT_A_ROW |= {"SequenceAt", "SequenceConstruct", "SequenceErase", "SequenceInsert"}
# Maps are no tensors.
WITHOUT_A_ROW |= {"CastMap", "DictVectorizer", "ZipMap"}


def test_every_operator_has_a_rule() -> None:
    root = pathlib.Path(__file__).resolve().parents[3]
    rows = set(
        re.findall(
            r'^SDX_\w+\("([\w.]*)", "(\w+)"',
            (root / "src/eval/gradient/derivatives.def").read_text(),
            re.M,
        )
    )
    floating = re.compile(r"\((float16|bfloat16|float|double)\)")

    def is_floating(parameters: Sequence[Any]) -> bool:
        return any(floating.search(kind) for parameter in parameters for kind in parameter.types)

    schemas = {
        (schema.domain, schema.name): schema
        for schema in onnx.defs.get_all_schemas_with_history()
        if schema.domain in ("", ML, PREVIEW, TRAINING)
    }
    missing = {
        key[1]
        for key, schema in schemas.items()
        if key not in rows and is_floating(schema.inputs) and is_floating(schema.outputs)
    }
    assert missing <= WITHOUT_A_ROW, missing - WITHOUT_A_ROW
    assert rows <= set(schemas), rows - set(schemas)


def test_in_subgraphs() -> None:
    """The node stands in a branch, and names values of the graph around it; then in a loop."""
    branch = body_of([node("Mul", "H B", "M"), gradient_node(["X"], [], "M", ["dX"])], [], ["dX"])
    other = body_of([node("Identity", "X", "I")], [], ["I"])
    nodes = [node("Exp", "X", "H"), node("If", "C", then_branch=branch, else_branch=other)]
    inputs = {"X": normal(3), "B": normal(3, seed=1), "C": np.array(True)}
    [found] = run(model_of(nodes, inputs, ["Y"]), inputs)
    np.testing.assert_allclose(found, np.exp(inputs["X"]) * inputs["B"])
    check(nodes, {"X": inputs["X"], "B": inputs["B"]}, {"C": inputs["C"]})
    # x <- x - d(x*x)/dx * rate, three times.
    body = body_of(
        [
            node("Mul", "v v", "square"),
            gradient_node(["v"], [], "square", ["slope"]),
            node("Mul", "slope R", "step"),
            node("Sub", "v step", "next"),
            node("Identity", "c", "go"),
        ],
        ["i", "c", "v"],
        ["go", "next"],
    )
    inputs = {"X": normal(2), "N": np.array(3), "R": np.array(0.25)}
    loop = node("Loop", "N _ X", body=body)
    [found] = run(model_of([loop], inputs, ["Y"]), inputs)
    np.testing.assert_allclose(found, inputs["X"] / 8)
    check([loop], {"X": inputs["X"], "R": inputs["R"]}, {"N": inputs["N"]})


# --- Scripts --------------------------------------------------------------------------------------


@script()
def slopes(x: DOUBLE["N"], w: DOUBLE["N"]) -> DOUBLE["N"]:
    h = ops.Sin(x) * w
    loss = ops.ReduceSum(h * h)  # noqa: F841
    return training.Gradient(w, x, xs=["w"], zs=["x"], y="loss")


@script()
def descent(x: DOUBLE["N"], w: DOUBLE["N"], rate: DOUBLE[()]) -> DOUBLE["N"]:
    for _ in range(ops.Size(x)):
        error = x * w - 1.0
        if ops.ReduceSum(w) > 0.0:
            loss = ops.ReduceSum(error * error)
        else:
            loss = ops.ReduceSum(ops.Abs(error))  # noqa: F841
        w = w - rate * training.Gradient(w, xs=["w"], y="loss")
    return w


@script()
def second(x: DOUBLE["N"]) -> DOUBLE["N"]:
    y = x * x * x  # noqa: F841
    slope = training.Gradient(x, xs=["x"], y="y")  # noqa: F841
    return training.Gradient(x, xs=["x"], y="slope")


@script(inline=True)
def derivative_of_sine(y: DOUBLE["N"]):
    sine = ops.Sin(y)  # noqa: F841
    return training.Gradient(y, xs=["y"], y="sine")


@script()
def renamed(x: DOUBLE["N"], sine: DOUBLE["N"]) -> DOUBLE["N"]:
    return derivative_of_sine(x) * derivative_of_sine(sine)


def test_scripts() -> None:
    """The names are those of the script's variables, whatever the graph calls the values."""
    x, w = np.array([1.0, 2]), np.array([0.5, 0.25])
    np.testing.assert_allclose(slopes.compile()(x, w), 2 * np.sin(x) ** 2 * w)
    np.testing.assert_allclose(second.compile()(x), 6 * x)
    np.testing.assert_allclose(renamed.compile()(x, w), np.cos(x) * np.cos(w))
    for start in (w, -w):
        expected = start.copy()
        for _ in x:
            error = x * expected - 1
            slope = 2 * error * x if expected.sum() > 0 else np.sign(error) * x
            expected = expected - 0.1 * slope
        found = descent.compile()(x, start, np.array(0.1))
        np.testing.assert_allclose(found, expected)
    # A function has names of its own.
    function = slopes.to_function_proto()
    [last] = [one for one in function.node if one.op_type == "Gradient"]
    assert list(last.input) == ["w", "x"] and len(function.node) > 3
    assert last.attribute[2].s == function.node[-2].output[0].encode()
    with pytest.raises(sardonyx.EvalError, match="there is none"):
        slopes(x, w)


@pytest.mark.parametrize(
    ("call", "code", "said"),
    [
        ('training.Gradient(x, xs=["x"], y="q")', "unknown-name", "`q` is not defined"),
        ('training.Gradient(x, xs=["x"], y="k")', "unsupported-operand", "`k` is"),
        ('training.Gradient(xs=["x"], y="y")', "too-few-inputs", "`xs`"),
        ('training.Gradient(x, x, xs=["x"], y="y")', "too-many-inputs", "name 1 tensors"),
    ],
)
def test_names_of_scripts(tmp_path: pathlib.Path, call: str, code: str, said: str) -> None:
    text = f"""from sardonyx import DOUBLE, opset20 as op, script
from sardonyx import opset_ai_onnx_preview_training1 as training

@script()
def f(x: DOUBLE["N"]) -> DOUBLE["N"]:
    y = op.Sin(x)
    k = 3
    return {call} + y + k
"""
    path = tmp_path / "f.py"
    path.write_text(text)
    done = subprocess.run([PROGRAM, "check", path], capture_output=True, text=True, check=False)
    told = done.stdout + done.stderr
    assert code in told and (said in told or code == "too-few-inputs"), told


def test_lints_of_scripts(tmp_path: pathlib.Path) -> None:
    """A variable that Gradient names is used."""
    path = tmp_path / "f.py"
    path.write_text(
        """from sardonyx import DOUBLE, opset20 as op, script
from sardonyx import opset_ai_onnx_preview_training1 as training

@script()
def f(x: DOUBLE["N"]) -> DOUBLE["N"]:
    loss = op.Sin(x)
    return training.Gradient(x, xs=["x"], y="loss")
"""
    )
    done = subprocess.run([PROGRAM, "check", path], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "unused" not in done.stdout + done.stderr, done


# --- What cannot be differentiated ----------------------------------------------------------------


def message_of(nodes: Nodes, inputs: Arrays, output: str = "dX", **more: Any) -> str:
    with pytest.raises(Exception) as caught:
        run(model_of(nodes, inputs, [output], **more), inputs)
    text = str(caught.value)
    assert "`gradient`" in text, text
    return text


def test_errors() -> None:
    x = {"X": normal(2)}
    square = node("Mul", "X X")
    text = message_of([square, gradient_node(["X"], [], "Q", ["dX"])], x)
    assert "there is no value `Q` in the graph around the node" in text
    twice = gradient_node(["X", "X"], [], "Y", ["dX"])
    assert "name `X` twice" in message_of([square, twice], x)
    few = gradient_node(["X"], [], "Y", ["dX"])
    few.input.append("X")
    assert "2 inputs, but `xs` and `zs` name 1 values" in message_of([square, few], x)
    many = gradient_node(["X"], [], "Y", ["dX", "dZ"])
    assert "2 outputs, but `xs` names 1" in message_of([square, many], x)
    circle = [gradient_node(["X"], [], "Y", ["dX"]), node("Mul", "dX X")]
    assert "depends on itself" in message_of(circle, x)
    integers = {"X": np.array([1, 2])}
    text = message_of([square, gradient_node(["X"], [], "Y", ["dX"])], integers)
    assert "input 0 is INT64[2]" in text and "insert a Cast" in text
    steps = [node("Cast", "X", to=TensorProto.INT64), gradient_node(["X"], [], "Y", ["dX"])]
    assert "`y` is INT64[2]" in message_of(steps, x)
    bits = [node("BitCast", "X", to=TensorProto.BFLOAT16), gradient_node(["X"], [], "Y", ["dX"])]
    bits[0].name = "bits"
    text = message_of(bits, {"X": np.array([1, 2], "float16")})
    assert "node `bits` (`BitCast`): the bits of FLOAT16 as BFLOAT16" in text
    probit = {"domain": ML, "post_transform": "PROBIT", "coefficients": [0.5]}
    nodes = [
        node("LinearRegressor", "X", **probit),
        gradient_node(["X"], [], "Y", ["dX"]),
    ]
    assert "post_transform `PROBIT` has no rule" in message_of(nodes, {"X": normal(2, 1)})


def test_deep_orders_end() -> None:
    """Each order at least doubles the work: an error instead of a run without end."""
    nodes = [node("Mul", "X X", "d0")]
    for i in range(60):
        nodes.append(gradient_node(["X"], [], f"d{i}", [f"g{i}"]))
        nodes.append(
            node("Sum", " ".join([f"g{k}" for k in range(i + 1)] + [f"d{i}"]), f"d{i + 1}")
        )
    assert "nested" in message_of(nodes, {"X": normal(2)}, "d60")


# --- Random graphs --------------------------------------------------------------------------------

SMOOTH = ["Atan", "Cos", "Erf", "Gelu", "Identity", "Mish", "Neg", "Sigmoid", "Sin", "Softplus"]
SMOOTH += ["Softsign", "Swish", "Tanh"]


class RandomChain:
    """Nodes that make one value after the other, each of them of values that are there."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.nodes: list[onnx.NodeProto] = []
        self.zs: Arrays = {}
        shapes = st.lists(st.integers(1, 3), min_size=1, max_size=3).map(tuple)
        self.xs = {f"x{i}": normal(*draw(shapes), seed=i) for i in range(draw(st.integers(1, 2)))}
        self.shapes = {name: array.shape for name, array in self.xs.items()}

    def pick(self, choices: Sequence[Any]) -> Any:
        return self.draw(st.sampled_from(choices))

    def axis(self, name: str) -> int:
        rank = len(self.shapes[name])
        return self.draw(st.integers(-rank, rank - 1))

    def constant(self, array: np.ndarray) -> str:
        name = f"z{len(self.zs)}"
        self.zs[name] = array
        return name

    def add(self, op: str, inputs: str, **attributes: Any) -> None:
        """One more value, whose shape the model itself says."""
        name = f"v{len(self.nodes)}"
        self.nodes.append(node(op, inputs, name, **attributes))
        [found] = run(model_of(self.nodes, self.xs | self.zs, [name]), self.xs | self.zs)
        self.shapes[name] = found.shape

    def smooth(self, name: str) -> None:
        self.add(self.pick(SMOOTH), name)

    def both(self, name: str) -> None:
        """With another value, where the two broadcast."""
        others = []
        for other, shape in self.shapes.items():
            with contextlib.suppress(ValueError):
                np.broadcast_shapes(shape, self.shapes[name])
                others.append(other)
        self.add(self.pick(["Add", "Sub", "Mul"]), f"{name} {self.pick(others)}")

    def product(self, name: str) -> None:
        width = self.shapes[name][-1]
        self.add("MatMul", f"{name} {self.constant(normal(width, 2, seed=len(self.nodes)))}")

    def reduction(self, name: str) -> None:
        op = self.pick(["Mean", "Sum", "SumSquare", "LogSumExp", "Prod"])
        axes = self.constant(INTS([self.axis(name)]))
        self.add(f"Reduce{op}", f"{name} {axes}", keepdims=1)

    def along_axis(self, name: str) -> None:
        axis = self.axis(name)
        op = self.pick(["Softmax", "LogSoftmax", "CumSum", "CumProd", "LayerNormalization"])
        if op.startswith("Cum"):
            self.add(op, f"{name} {self.constant(INTS(axis))}", reverse=self.pick([0, 1]))
        elif op.startswith("Layer"):
            scale = self.constant(normal(*self.shapes[name][axis:]))
            self.add(op, f"{name} {scale}", axis=axis, epsilon=0.5)
        else:
            self.add(op, name, axis=axis)

    def move(self, name: str) -> None:
        shape = self.shapes[name]
        rank = len(shape)
        op = self.pick(
            ["Transpose", "Reshape", "Slice", "Pad", "Tile", "Gather", "Concat", "Resize"]
        )
        if op == "Transpose":
            self.add(op, name, perm=self.draw(st.permutations(range(rank))))
        elif op == "Reshape":
            self.add(op, f"{name} {self.constant(INTS(self.pick([[-1], [1, -1], [-1, 1]])))}")
        elif op == "Slice":
            ends = [self.constant(INTS([n])) for n in (0, 2, self.axis(name), self.pick([1, 2]))]
            self.add(op, f"{name} {' '.join(ends)}")
        elif op == "Pad":
            pads = self.draw(st.lists(st.integers(0, 2), min_size=2 * rank, max_size=2 * rank))
            mode = self.pick(["constant", "edge"])
            self.add(op, f"{name} {self.constant(INTS(pads))}", mode=mode)
        elif op == "Tile":
            repeats = self.draw(st.lists(st.integers(1, 2), min_size=rank, max_size=rank))
            self.add(op, f"{name} {self.constant(INTS(repeats))}")
        elif op == "Gather":
            axis = self.axis(name)
            places = st.lists(st.integers(0, shape[axis] - 1), min_size=1, max_size=3)
            self.add(op, f"{name} {self.constant(INTS(self.draw(places)))}", axis=axis)
        elif op == "Concat":
            self.add(op, f"{name} {name}", axis=self.axis(name))
        else:
            sizes = self.draw(st.lists(st.integers(1, 4), min_size=rank, max_size=rank))
            self.add(op, f"{name} _ _ {self.constant(INTS(sizes))}", mode="linear")

    def step(self) -> None:
        # Mostly the last value, so that the way is long.
        name = self.pick([list(self.shapes)[-1]] * 3 + list(self.shapes))
        kinds = [self.smooth, self.both, self.product, self.reduction, self.along_axis, self.move]
        self.pick(kinds)(name)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_random_chains(data: st.DataObject) -> None:
    chain = RandomChain(data.draw)
    for _ in range(data.draw(st.integers(1, 6))):
        chain.step()
        if np.prod(list(chain.shapes.values())[-1]) > 500:
            break
    # Bounded, so that differences are exact enough; the sum of all is a way from every x.
    chain.add("Tanh", list(chain.shapes)[-1])
    last = list(chain.shapes)[-1]
    ends = [node("ReduceMean", name, f"{name}_", keepdims=0) for name in [*chain.xs, last]]
    total = node("Sum", " ".join([*(f"{name}_" for name in chain.xs), last]))
    check([*chain.nodes, *ends, total], chain.xs, chain.zs, tolerance=1e-5)


def test_large_graphs() -> None:
    nodes = [node("Add", "X X", "v0")]
    nodes += [node("Sin" if i % 2 else "Cos", f"v{i}", f"v{i + 1}") for i in range(20_000)]
    x = {"X": normal(1)}
    [found] = gradients(nodes, x, {}, y="v20000")[1]
    assert np.isfinite(found).all()


def test_the_page() -> None:
    """The example of docs/run.md prints what the comment after it says."""
    page = (pathlib.Path(__file__).resolve().parents[3] / "docs/run.md").read_text()
    [code] = [code for code in re.findall(r"```python\n(.*?)```", page, re.S) if "Gradient" in code]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, {})
    expected = [line[2:] for line in code.splitlines() if line.startswith("# ")]
    assert printed.getvalue().splitlines() == expected


# --- PyTorch --------------------------------------------------------------------------------------

# Nodes, the same in PyTorch, and the shapes of A, B and C; the integers are fixed below.
AGAINST_TORCH: list[tuple[str, list[onnx.NodeProto], str, list[tuple[int, ...]]]] = [
    (
        "broadcast",
        [node("Div", "A B", "D"), node("Mul", "D C")],
        "a / b * c",
        [(2, 3), (3,), (2, 1)],
    ),
    ("relu", [node("Relu", "A", "R"), node("MatMul", "R B")], "a.relu() @ b", [(4, 3), (3, 2)]),
    (
        "gelu",
        [node("Gelu", "A", approximate="tanh")],
        "F.gelu(a, approximate='tanh')",
        [(3, 4)],
    ),
    ("elu", [node("Elu", "A", "E"), node("Mish", "E")], "F.mish(F.elu(a))", [(3, 4)]),
    ("selu", [node("Selu", "A", "E"), node("HardSwish", "E")], "F.hardswish(F.selu(a))", [(9,)]),
    ("linear", [node("Gemm", "A B C", transB=1)], "F.linear(a, b, c)", [(2, 3), (4, 3), (4,)]),
    (
        "conv",
        [node("Conv", "A B C", group=2, strides=[2, 1], pads=[1, 0, 1, 0], dilations=[1, 2])],
        "F.conv2d(a, b, c, stride=(2, 1), padding=(1, 0), dilation=(1, 2), groups=2)",
        [(2, 4, 6, 7), (6, 2, 3, 2), (6,)],
    ),
    (
        "conv transpose",
        [node("ConvTranspose", "A B C", group=2, strides=[3], pads=[1, 1], output_padding=[1])],
        "F.conv_transpose1d(a, b, c, stride=3, padding=1, output_padding=1, groups=2)",
        [(2, 4, 5), (4, 3, 4), (6,)],
    ),
    (
        "max pool",
        [node("MaxPool", "A", kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 1, 0])],
        "F.max_pool2d(a, (3, 2), (2, 2), (1, 0))",
        [(2, 3, 6, 6)],
    ),
    (
        "average pool",
        [node("AveragePool", "A", kernel_shape=[3], strides=[2], pads=[1, 1], ceil_mode=1)],
        "F.avg_pool1d(a, 3, 2, 1, ceil_mode=True, count_include_pad=False)",
        [(2, 3, 8)],
    ),
    (
        "layer norm",
        [node("LayerNormalization", "A B C")],
        "F.layer_norm(a, (5,), b, c)",
        [(3, 5), (5,), (5,)],
    ),
    (
        "group norm",
        [node("GroupNormalization", "A B C", num_groups=2)],
        "F.group_norm(a, 2, b, c)",
        [(2, 4, 3), (4,), (4,)],
    ),
    (
        "instance norm",
        [node("InstanceNormalization", "A B C")],
        "F.instance_norm(a, weight=b, bias=c)",
        [(2, 4, 3), (4,), (4,)],
    ),
    (
        "softmax",
        [node("Softmax", "A", "S", axis=1), node("LogSoftmax", "S", axis=0)],
        "F.log_softmax(a.softmax(1), 0)",
        [(3, 4)],
    ),
    (
        "cross entropy",
        [node("SoftmaxCrossEntropyLoss", "A I")],
        "F.cross_entropy(a, i)",
        [(4, 3)],
    ),
    ("gather", [node("Gather", "A I", "G"), node("Mul", "G G")], "a[i] * a[i]", [(4, 3)]),
    (
        "reductions",
        [
            node("ReduceLogSumExp", "A", "L"),
            node("ReduceProd", "A", "P"),
            node("ReduceL2", "A", "N"),
            node("Sum", "L P N"),
        ],
        "a.logsumexp((0, 1)) + a.prod() + a.norm()",
        [(3, 4)],
    ),
    ("sort", [node("TopK", "A K", "Y J", axis=0)], "a.topk(2, 0).values", [(4, 3)]),
    ("cumsum", [node("CumSum", "A K")], "a.cumsum(2)", [(2, 3, 4)]),
    (
        "attention",
        [node("Attention", "A B C", is_causal=1)],
        "F.scaled_dot_product_attention(a, b, c, is_causal=True)",
        [(2, 3, 4, 5)] * 3,
    ),
    (
        "einsum",
        [node("Einsum", "A B", equation="bij,bkj->bik")],
        "a @ b.mT",
        [(2, 3, 4), (2, 5, 4)],
    ),
]


@pytest.mark.torch
@pytest.mark.parametrize("case", AGAINST_TORCH, ids=lambda case: case[0])
def test_against_torch(
    case: tuple[str, list[onnx.NodeProto], str, list[tuple[int, ...]]],
) -> None:
    torch = pytest.importorskip("torch")
    _, nodes, expression, shapes = case
    xs = {"ABC"[i]: normal(*shape, seed=i) for i, shape in enumerate(shapes)}
    read = {name for item in nodes for name in item.input}
    zs = {"I": np.array([2, 0, 1, 2]), "K": np.array([2])}
    zs = {name: array for name, array in zs.items() if name in read}
    value, found = gradients(nodes, xs, zs)
    names = {"torch": torch, "F": torch.nn.functional}
    leaves = {name: torch.tensor(array, requires_grad=True) for name, array in xs.items()}
    names |= {name.lower(): leaf for name, leaf in leaves.items()}
    names |= {name.lower(): torch.tensor(array) for name, array in zs.items()}
    expected = eval(expression, names)
    expected.sum().backward()
    np.testing.assert_allclose(value, expected.detach().numpy(), 1e-6, 1e-6)
    for gradient, leaf in zip(found, leaves.values(), strict=True):
        np.testing.assert_allclose(gradient, leaf.grad.numpy(), 1e-6, 1e-6)
