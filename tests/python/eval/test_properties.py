"""Properties of each operator family: Hypothesis chooses shapes (empty axes and rank 0 too), types,
attributes and special values, and NumPy, onnx.reference or ONNX Runtime say what must come out."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import onnx.defs
import onnx.helper
import onnx.reference
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps

from eval.test_node_cases import (
    Evaluator,
    node_model,
    onnxruntime_run,
    python_divide,
    standard_slice,
)

pytestmark = pytest.mark.filterwarnings("ignore")

EVALUATOR = Evaluator()
OPSET = 22
FLOATS = ("float16", "float32", "float64")
INTS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")

budget = settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)

shapes = nps.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)


@st.composite
def arrays(
    draw: Any, dtypes: tuple[str, ...], shape: Any = shapes, special: bool = True
) -> np.ndarray:
    dtype = np.dtype(draw(st.sampled_from(dtypes)))
    if dtype.kind == "f":
        numbers = st.floats(-8, 8, width=16)
        if special:
            extremes = [math.nan, math.inf, -math.inf, -0.0, float(np.finfo(dtype).max)]
            numbers |= st.sampled_from([*extremes, float(np.finfo(dtype).tiny)])
    elif dtype.kind == "b":
        numbers = st.booleans()
    else:
        info = np.iinfo(dtype)
        numbers = st.integers(max(info.min, -9), 9) | st.sampled_from([info.min, info.max])
    dims = draw(shape) if isinstance(shape, st.SearchStrategy) else shape
    return draw(nps.arrays(dtype, dims, elements=numbers))


def single(op: str, inputs: list[Any], outputs: int, opset: int, more: Any) -> onnx.ModelProto:
    """Sequences and single numbers as inputs too."""
    known = [
        None if value is None or isinstance(value, list) else np.asarray(value) for value in inputs
    ]
    model = node_model(op, known, outputs, opset, more)
    for i, value in enumerate(inputs):
        if isinstance(value, list):
            model.graph.node[0].input[i] = f"x{i}"
            model.graph.input.append(onnx.helper.make_empty_tensor_value_info(f"x{i}"))
    return model


def ours(op: str, inputs: list[Any], outputs: int = 1, opset: int = OPSET, **more: Any) -> Any:
    model = single(op, inputs, outputs, opset, more)
    named = {f"x{i}": value for i, value in enumerate(inputs) if value is not None}
    got = EVALUATOR.run(model, named)
    return got[0] if outputs == 1 else got


def ort(op: str, inputs: list[Any], outputs: int = 1, opset: int = OPSET, **more: Any) -> Any:
    model = single(op, inputs, outputs, opset, more)
    named = {f"x{i}": value for i, value in enumerate(inputs) if value is not None}
    got = onnxruntime_run(model, named)
    return got[0] if outputs == 1 else got


def reference(op: str, inputs: list[Any], outputs: int = 1, opset: int = OPSET, **more: Any) -> Any:
    model = single(op, inputs, outputs, opset, more)
    named = {f"x{i}": value for i, value in enumerate(inputs) if value is not None}
    got = onnx.reference.ReferenceEvaluator(model).run(None, named)
    return got[0] if outputs == 1 else got


def same(got: np.ndarray, expected: Any, rtol: float | None = None) -> None:
    expected = np.asarray(expected)
    assert got.dtype == expected.dtype, (got.dtype, expected.dtype)
    assert got.shape == expected.shape, (got.shape, expected.shape)
    if rtol is None:
        rtol = 4 * float(np.finfo(got.dtype).eps) if got.dtype.kind == "f" else 0
    np.testing.assert_allclose(got, expected, rtol=rtol, atol=rtol)


# --- One operand ----------------------------------------------------------------------------------


def softplus(x: np.ndarray) -> np.ndarray:
    return np.logaddexp(x, 0)


UNARY: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "Abs": (np.abs, FLOATS + INTS),
    "Neg": (np.negative, (*FLOATS, "int8", "int16", "int32", "int64")),
    "Sign": (np.sign, FLOATS + INTS),
    "Ceil": (np.ceil, FLOATS),
    "Floor": (np.floor, FLOATS),
    "Round": (np.rint, FLOATS),
    "Sqrt": (np.sqrt, FLOATS),
    "Exp": (np.exp, FLOATS),
    "Log": (np.log, FLOATS),
    "Reciprocal": (np.reciprocal, FLOATS),
    "Sin": (np.sin, FLOATS),
    "Cos": (np.cos, FLOATS),
    "Tan": (np.tan, FLOATS),
    "Asin": (np.arcsin, FLOATS),
    "Acos": (np.arccos, FLOATS),
    "Atan": (np.arctan, FLOATS),
    "Sinh": (np.sinh, FLOATS),
    "Cosh": (np.cosh, FLOATS),
    "Tanh": (np.tanh, FLOATS),
    "Asinh": (np.arcsinh, FLOATS),
    "Acosh": (np.arccosh, FLOATS),
    "Atanh": (np.arctanh, FLOATS),
    "Softplus": (softplus, FLOATS),
    "Relu": (lambda x: np.maximum(x, 0), FLOATS),
    "Sigmoid": (lambda x: 1 / (1 + np.exp(-x)), FLOATS),
    "Softsign": (lambda x: x / (1 + np.abs(x)), FLOATS),
    "IsNaN": (np.isnan, FLOATS),
    "IsInf": (np.isinf, FLOATS),
    "Not": (np.logical_not, ("bool",)),
    "BitwiseNot": (np.invert, INTS),
}


@pytest.mark.parametrize("op", UNARY)
@budget
@given(data=st.data())
def test_one_operand(op: str, data: Any) -> None:
    function, dtypes = UNARY[op]
    x = data.draw(arrays(dtypes))
    with np.errstate(all="ignore"):
        wide = x.astype("float64") if x.dtype.kind == "f" else x
        expected = np.asarray(function(wide))
        if x.dtype.kind == "f" and expected.dtype.kind == "f":
            expected = expected.astype(x.dtype)
    same(ours(op, [x]), expected)


# --- Two operands ---------------------------------------------------------------------------------

BINARY: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "Add": (np.add, FLOATS + INTS),
    "Sub": (np.subtract, FLOATS + INTS),
    "Mul": (np.multiply, FLOATS + INTS),
    "Div": (np.divide, FLOATS),
    "Max": (np.maximum, FLOATS + INTS),
    "Min": (np.minimum, FLOATS + INTS),
    "Equal": (np.equal, (*FLOATS, *INTS, "bool")),
    "Less": (np.less, FLOATS + INTS),
    "LessOrEqual": (np.less_equal, FLOATS + INTS),
    "Greater": (np.greater, FLOATS + INTS),
    "GreaterOrEqual": (np.greater_equal, FLOATS + INTS),
    "And": (np.logical_and, ("bool",)),
    "Or": (np.logical_or, ("bool",)),
    "Xor": (np.logical_xor, ("bool",)),
    "BitwiseAnd": (np.bitwise_and, INTS),
    "BitwiseOr": (np.bitwise_or, INTS),
    "BitwiseXor": (np.bitwise_xor, INTS),
    "PRelu": (lambda x, s: np.where(x < 0, x * s, x), FLOATS),
}

pairs = nps.mutually_broadcastable_shapes(num_shapes=2, max_dims=4, min_side=0, max_side=4)


@st.composite
def operands(draw: Any, dtypes: tuple[str, ...], op: str = "") -> tuple[np.ndarray, np.ndarray]:
    left, right = draw(pairs).input_shapes
    if op == "PRelu":
        assume(np.broadcast_shapes(left, right) == left)
    dtype = (draw(st.sampled_from(dtypes)),)
    return draw(arrays(dtype, left)), draw(arrays(dtype, right))


@pytest.mark.parametrize("op", BINARY)
@budget
@given(data=st.data())
def test_two_operands(op: str, data: Any) -> None:
    function, dtypes = BINARY[op]
    a, b = data.draw(operands(dtypes, op))
    with np.errstate(all="ignore"):
        expected = function(a, b)
    same(ours(op, [a, b]), expected)


@budget
@given(data=st.data())
def test_integer_division(data: Any) -> None:
    """By zero: an error. The least number by -1: itself."""
    a, b = data.draw(operands(INTS))
    if np.any(b == 0) and np.broadcast_shapes(a.shape, b.shape).count(0) == 0:
        for op in ("Div", "Mod"):
            with pytest.raises(RuntimeError, match="integer division by zero"):
                ours(op, [a, b])
    else:
        same(ours("Div", [a, b]), python_divide(a, b))
        with np.errstate(all="ignore"):
            same(ours("Mod", [a, b]), np.mod(a, b))


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_negative_powers_of_integers(dtype: str) -> None:
    """Cut to integers, as in ONNX Runtime, which does not define those of zero."""
    a = np.array([2, 1, -1, -1, 3, 0], dtype)
    b = np.array([-1, -3, -1, -2, -40, -1], dtype)
    same(ours("Pow", [a, b]), np.array([0, 1, -1, 1, 0, 0], dtype))


@budget
@given(data=st.data())
def test_powers_and_remainders(data: Any) -> None:
    a, b = data.draw(operands(FLOATS))
    with np.errstate(all="ignore"):
        power = np.power(a.astype("float64"), b.astype("float64")).astype(a.dtype)
        same(ours("Pow", [a, b]), power)
        same(ours("Mod", [a, b], fmod=1), np.fmod(a, b))


@budget
@given(data=st.data())
def test_where_and_clip(data: Any) -> None:
    a, b = data.draw(operands((*FLOATS, *INTS, "bool")))
    whole = np.broadcast_shapes(a.shape, b.shape)
    condition = data.draw(arrays(("bool",), whole))
    same(ours("Where", [condition, a, b]), np.where(condition, a, b))
    if a.dtype != bool:
        low, high = (data.draw(arrays((a.dtype.name,), (), special=False)) for _ in range(2))
        assume(not np.isnan(low) and not np.isnan(high))
        same(ours("Clip", [a, low, high]), np.minimum(np.maximum(a, low), high))


# --- Reductions and scans -------------------------------------------------------------------------

REDUCTIONS: dict[str, Callable[..., Any]] = {
    "ReduceSum": np.sum,
    "ReduceProd": np.prod,
    "ReduceMean": np.mean,
    "ReduceL1": lambda x, **k: np.sum(np.abs(x), **k),
    "ReduceL2": lambda x, **k: np.sqrt(np.sum(np.square(x), **k)),
    "ReduceSumSquare": lambda x, **k: np.sum(np.square(x), **k),
    "ReduceLogSum": lambda x, **k: np.log(np.sum(x, **k)),
    "ReduceMax": lambda x, **k: np.max(x, initial=-np.inf, **k),
    "ReduceMin": lambda x, **k: np.min(x, initial=np.inf, **k),
}


@pytest.mark.parametrize("op", REDUCTIONS)
@budget
@given(data=st.data())
def test_reductions(op: str, data: Any) -> None:
    x = data.draw(arrays(("float32", "float64"), special=op in ("ReduceMax", "ReduceMin")))
    axes = data.draw(st.lists(st.integers(0, max(x.ndim - 1, 0)), unique=True, max_size=x.ndim))
    negative = [a - x.ndim if data.draw(st.booleans()) else a for a in axes]
    keep, noop = data.draw(st.booleans()), data.draw(st.booleans())
    more = {"keepdims": int(keep), "noop_with_empty_axes": int(noop)}
    over = tuple(axes) if axes else (() if noop else None)
    with np.errstate(all="ignore"):
        expected = REDUCTIONS[op](x.astype("float64"), axis=over, keepdims=keep)
    inputs = [x, np.array(negative, "int64")] if data.draw(st.booleans()) or axes else [x]
    got = ours(op, inputs, **more)
    same(got, np.asarray(expected).astype(x.dtype), rtol=1e-5)


@budget
@given(data=st.data())
def test_scans_of_an_axis(data: Any) -> None:
    x = data.draw(arrays(("float64", "int32", "int64"), special=False))
    assume(x.ndim > 0)
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    exclusive, backwards = (int(data.draw(st.booleans())) for _ in range(2))
    expected = np.flip(x, axis) if backwards else x
    expected = np.cumsum(expected, axis, dtype=x.dtype)
    if exclusive:
        first = np.zeros_like(np.take(expected, [0] * min(1, x.shape[axis]), axis))
        rest = np.take(expected, range(max(x.shape[axis] - 1, 0)), axis)
        expected = np.concatenate([first, rest], axis)
    expected = np.flip(expected, axis) if backwards else expected
    got = ours("CumSum", [x, np.array(axis)], exclusive=exclusive, reverse=backwards)
    same(got, expected, rtol=1e-12)


@budget
@given(data=st.data())
def test_top_k_and_arg_max(data: Any) -> None:
    x = data.draw(arrays(("float32", "int32", "int64"), special=False))
    assume(x.ndim > 0)
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    k = data.draw(st.integers(0, x.shape[axis]))
    largest = data.draw(st.booleans())
    keys = -x.astype("float64") if largest else x
    order = np.take(np.argsort(keys, axis, kind="stable"), range(k), axis)
    values, indices = ours("TopK", [x, np.array([k])], 2, axis=axis, largest=int(largest))
    same(indices, order)
    same(values, np.take_along_axis(x, order, axis))
    if x.shape[axis] > 0:
        keep = data.draw(st.booleans())
        got = ours("ArgMax", [x], axis=axis, keepdims=int(keep))
        same(got, np.argmax(x, axis, keepdims=keep))
        last = x.shape[axis] - 1 - np.argmin(np.flip(x, axis), axis, keepdims=keep)
        same(ours("ArgMin", [x], axis=axis, keepdims=int(keep), select_last_index=1), last)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("op", ["ArgMax", "ArgMin"])
def test_arg_extremes_of_nans(op: str, axis: int) -> None:
    """NaN is the greatest and the least, along every axis; the last of several is the last."""
    rng = np.random.default_rng(axis)
    x = rng.integers(-2, 3, (4, 5, 3)).astype("float32")
    x[rng.random(x.shape) < 0.4] = np.nan
    find = np.argmax if op == "ArgMax" else np.argmin
    same(ours(op, [x], axis=axis, keepdims=0), find(x, axis))
    last = x.shape[axis] - 1 - find(np.flip(x, axis), axis)
    same(ours(op, [x], axis=axis, keepdims=0, select_last_index=1), last)


# --- Movement and indices -------------------------------------------------------------------------

ANY = ("float16", "float32", "float64", "int8", "int64", "uint8", "bool")


@budget
@given(data=st.data())
def test_movement(data: Any) -> None:
    x = data.draw(arrays(ANY))
    order = data.draw(st.permutations(range(x.ndim)))
    more = {"perm": list(order)} if x.ndim else {}
    same(ours("Transpose", [x], **more), np.transpose(x, order))
    repeats = data.draw(st.lists(st.integers(0, 3), min_size=x.ndim, max_size=x.ndim))
    same(ours("Tile", [x, np.array(repeats, "int64")]), np.tile(x, repeats))
    same(ours("Reshape", [x, np.array([x.size])], allowzero=1), x.reshape(x.size))
    axis = data.draw(st.integers(-x.ndim, x.ndim))
    split = axis if axis >= 0 else axis + x.ndim
    flat = x.reshape(math.prod(x.shape[:split]), math.prod(x.shape[split:]))
    same(ours("Flatten", [x], axis=axis), flat)
    place = data.draw(st.integers(-x.ndim - 1, x.ndim))
    wider = np.expand_dims(x, place)
    same(ours("Unsqueeze", [x, np.array([place])]), wider)
    same(ours("Squeeze", [wider, np.array([place])]), x)
    same(ours("Shape", [x]), np.array(x.shape, "int64"))
    same(ours("Size", [x]), np.array(x.size, "int64"))
    if x.ndim >= 2:
        k, upper = data.draw(st.integers(-5, 5)), data.draw(st.booleans())
        expected = np.triu(x, k) if upper else np.tril(x, k)
        same(ours("Trilu", [x, np.array(k)], upper=int(upper)), expected)


@budget
@given(data=st.data())
def test_parts(data: Any) -> None:
    x = data.draw(arrays(ANY))
    assume(x.ndim > 0)
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    n = x.shape[axis]
    far = np.iinfo("int64").max
    bound = st.integers(-6, 6) | st.sampled_from([far, -far])
    start, end = data.draw(bound), data.draw(bound)
    step = data.draw(st.sampled_from([1, 2, 3, -1, -2, far, -far]))
    index: list[Any] = [slice(None)] * x.ndim
    index[axis] = standard_slice(start, end, step, n)
    lists = [np.array([v], "int64") for v in (start, end, axis, step)]
    same(ours("Slice", [x, *lists]), x[tuple(index)])
    cut = data.draw(st.integers(0, n))
    parts = ours("Split", [x, np.array([cut, n - cut])], 2, axis=axis)
    for got, expected in zip(parts, np.split(x, [cut], axis), strict=True):
        same(got, expected)
    same(ours("Concat", [*parts, x], axis=axis), np.concatenate([x, x], axis))
    condition = data.draw(arrays(("bool",), (data.draw(st.integers(0, n)),)))
    same(ours("Compress", [x, condition], axis=axis), np.compress(condition, x, axis))
    same(ours("NonZero", [x]), np.array(np.nonzero(x), "int64"))
    if n > 0:
        places = data.draw(nps.arrays("int64", shapes, elements=st.integers(-n, n - 1)))
        assume(places.ndim + x.ndim < 8)
        same(ours("Gather", [x, places], axis=axis), np.take(x, places, axis))


@budget
@given(data=st.data())
def test_scatter(data: Any) -> None:
    dims = data.draw(nps.array_shapes(min_dims=1, max_dims=3, max_side=4))
    x = data.draw(arrays(("float32", "int32", "int64"), dims, special=False))
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    n = dims[axis]
    part = tuple(data.draw(st.integers(0, d)) for d in dims)
    places = data.draw(nps.arrays("int64", part, elements=st.integers(-n, n - 1)))
    updates = data.draw(arrays((x.dtype.name,), part, special=False))
    functions = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}
    reduction = data.draw(st.sampled_from(list(functions)))
    expected = x.copy()
    with np.errstate(all="ignore"):
        for where in np.ndindex(part):
            at = list(where)
            at[axis] = places[where]
            expected[tuple(at)] = functions[reduction](expected[tuple(at)], updates[where])
    got = ours("ScatterElements", [x, places, updates], axis=axis, reduction=reduction)
    same(got, expected, rtol=1e-5)


@budget
@given(data=st.data())
def test_padding(data: Any) -> None:
    x = data.draw(arrays(("float32", "int64", "uint8")))
    assume(x.ndim > 0)
    mode = data.draw(st.sampled_from(["constant", "edge", "reflect", "wrap"]))
    assume(mode == "constant" or (x.size > 0 and (mode != "reflect" or min(x.shape) > 1)))
    pads = data.draw(nps.arrays("int64", (2, x.ndim), elements=st.integers(0, 4)))
    same(ours("Pad", [x, pads.reshape(-1)], mode=mode), np.pad(x, pads.T, mode=mode))


# --- Products -------------------------------------------------------------------------------------


@budget
@given(data=st.data())
def test_matrix_products(data: Any) -> None:
    batch = data.draw(nps.mutually_broadcastable_shapes(num_shapes=2, max_dims=2, max_side=3))
    m, k, n = (data.draw(st.integers(0, 5)) for _ in range(3))
    dtype = (data.draw(st.sampled_from(["float32", "float64", "int32", "uint64"])),)
    left, right = batch.input_shapes
    a = data.draw(arrays(dtype, (*left, m, k), special=False))
    b = data.draw(arrays(dtype, (*right, k, n), special=False))
    with np.errstate(all="ignore"):
        same(ours("MatMul", [a, b]), np.matmul(a, b), rtol=1e-5)
        if a.dtype.kind == "f":
            flips = [data.draw(st.booleans()) for _ in range(2)]
            x, y = a[(0,) * len(left)], b[(0,) * len(right)]
            c = data.draw(arrays(dtype, data.draw(st.sampled_from([(), (n,), (m, n)])), False))
            sides = [v.T.copy() if flip else v for v, flip in zip((x, y), flips, strict=True)]
            got = ours("Gemm", [*sides, c], transA=int(flips[0]), transB=int(flips[1]), alpha=0.5)
            same(got, (0.5 * (x @ y) + c).astype(a.dtype), rtol=1e-5)


EQUATIONS = [
    "ij,jk->ik",
    "ij,ij->",
    "ii->i",
    "bij,bjk->bik",
    "ij->ji",
    "i,j->ij",
    "...ij,...j->...i",
]


@budget
@given(data=st.data())
def test_einsum(data: Any) -> None:
    equation = data.draw(st.sampled_from(EQUATIONS))
    sizes = {letter: data.draw(st.integers(0, 3)) for letter in "bijk"}
    dims = [
        tuple(sizes[letter] for letter in term.replace("...", "b"))
        for term in equation.split("->")[0].split(",")
    ]
    inputs = [data.draw(arrays(("float64",), d, special=False)) for d in dims]
    same(ours("Einsum", inputs, equation=equation), np.einsum(equation, *inputs), rtol=1e-9)


@pytest.mark.parametrize(
    "equation",
    [
        "bhqd,bhkd->bhqk",
        "bqhd,bkhd->bhqk",
        "bhqk,bkhd->bqhd",
        "hqkd,ld->lkqh",
        "bhqd,qd,d->hb",
        "bhqd,bhqd->",
        "bhqd,lk->bhqdlk",
    ],
)
def test_einsum_as_products_of_matrices(equation: str) -> None:
    sizes = dict(zip("bhqkdl", (2, 3, 7, 8, 16, 5), strict=True))
    random = np.random.default_rng(1)
    terms = equation.split("->")[0].split(",")
    inputs = [random.normal(size=[sizes[letter] for letter in term]) for term in terms]
    same(ours("Einsum", inputs, equation=equation), np.einsum(equation, *inputs), rtol=1e-9)


# --- Windows, against ONNX Runtime ----------------------------------------------------------------


@st.composite
def window(draw: Any, rank: int) -> dict[str, Any]:
    def numbers(low: int, high: int, count: int = rank) -> list[int]:
        return draw(st.lists(st.integers(low, high), min_size=count, max_size=count))

    return {"strides": numbers(1, 3), "dilations": numbers(1, 2), "pads": numbers(0, 2, 2 * rank)}


@st.composite
def image(draw: Any, channels: int, rank: int) -> np.ndarray:
    batch = draw(st.integers(1, 2))
    sizes = tuple(draw(st.integers(4, 8)) for _ in range(rank))
    return draw(arrays(("float32",), (batch, channels, *sizes), special=False))


@budget
@given(data=st.data())
def test_convolutions(data: Any) -> None:
    rank, groups = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 2))
    x = data.draw(image(2 * groups, rank))
    kernel = tuple(data.draw(st.integers(1, 3)) for _ in range(rank))
    more = {**data.draw(window(rank)), "group": groups}
    w = data.draw(arrays(("float32",), (2 * groups, 2, *kernel), special=False))
    try:
        expected = ort("Conv", [x, w], **more)
    except Exception:  # the kernel is larger than the image
        return
    same(ours("Conv", [x, w], **more), expected, rtol=1e-4)


@pytest.mark.parametrize("dims", [(1, 1, 2, 0), (1, 1, 0, 2), (2, 3, 0, 0)])
def test_pools_of_padding_alone(dims: tuple[int, ...]) -> None:
    x = np.zeros(dims, np.float32)
    window = {"kernel_shape": [2, 2], "pads": [1, 1, 1, 1]}
    expected = [*dims[:2], dims[2] + 1, dims[3] + 1]
    same(ours("MaxPool", [x], **window), np.full(expected, -np.inf, np.float32))
    zeros = np.zeros(expected, np.float32)
    same(ours("AveragePool", [x], count_include_pad=1, **window), zeros)
    same(ours("LpPool", [x], **window), zeros)


@budget
@given(data=st.data())
def test_transposed_convolutions(data: Any) -> None:
    rank, groups = data.draw(st.integers(1, 2)), data.draw(st.integers(1, 2))
    x = data.draw(image(2 * groups, rank))
    kernel = tuple(data.draw(st.integers(2, 3)) for _ in range(rank))
    more = {**data.draw(window(rank)), "group": groups}
    more["pads"] = [min(p, 1) for p in more["pads"]]
    more["output_padding"] = [data.draw(st.integers(0, s - 1)) for s in more["strides"]]
    w = data.draw(arrays(("float32",), (2 * groups, 2, *kernel), special=False))
    expected = ort("ConvTranspose", [x, w], **more)
    same(ours("ConvTranspose", [x, w], **more), expected, rtol=1e-4)


@pytest.mark.parametrize("op", ["MaxPool", "AveragePool", "LpPool"])
@budget
@given(data=st.data())
def test_pools(op: str, data: Any) -> None:
    rank = data.draw(st.integers(1, 3))
    x = data.draw(image(2, rank))
    kernel = [data.draw(st.integers(2, 3)) for _ in range(rank)]
    more = {**data.draw(window(rank)), "kernel_shape": kernel}
    more["pads"] = [min(p, 1) for p in more["pads"]]
    more["ceil_mode"] = data.draw(st.integers(0, 1))
    if op == "AveragePool":
        more["count_include_pad"] = data.draw(st.integers(0, 1))
    if op == "LpPool":
        more["p"] = data.draw(st.integers(1, 3))
        x = np.abs(x)
    # ONNX Runtime divides towards zero where the kernel is larger than the image.
    extents = [(k - 1) * d + 1 for k, d in zip(kernel, more["dilations"], strict=True)]
    assume(all(e <= size for e, size in zip(extents, x.shape[2:], strict=True)))
    expected = ort(op, [x], **more)
    same(ours(op, [x], **more), expected, rtol=1e-4)


# --- Normalizations -------------------------------------------------------------------------------


@budget
@given(data=st.data())
def test_softmax(data: Any) -> None:
    x = data.draw(arrays(("float32", "float64"), special=False))
    assume(x.ndim > 0)
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    wide = x.astype("float64")
    shifted = wide - np.max(wide, axis, keepdims=True, initial=-1e30)
    e = np.exp(shifted)
    total = np.sum(e, axis, keepdims=True)
    with np.errstate(all="ignore"):
        same(ours("Softmax", [x], axis=axis), (e / total).astype(x.dtype), rtol=1e-5)
        log = (shifted - np.log(total)).astype(x.dtype)
        same(ours("LogSoftmax", [x], axis=axis), log, rtol=1e-5)


@budget
@given(data=st.data())
def test_layer_normalization(data: Any) -> None:
    dims = data.draw(nps.array_shapes(min_dims=1, max_dims=4, max_side=4))
    x = data.draw(arrays(("float32", "float64"), dims, special=False))
    axis = data.draw(st.integers(0, x.ndim - 1))
    scale, bias = (data.draw(arrays((x.dtype.name,), dims[axis:], False)) for _ in range(2))
    over = tuple(range(axis, x.ndim))
    wide = x.astype("float64")
    mean = wide.mean(over, keepdims=True)
    expected = (wide - mean) / np.sqrt(wide.var(over, keepdims=True) + 1e-2) * scale + bias
    got = ours("LayerNormalization", [x, scale, bias], axis=axis, epsilon=1e-2, stash_type=11)
    same(got, expected.astype(x.dtype), rtol=1e-4)


# --- Quantization ---------------------------------------------------------------------------------


@budget
@given(data=st.data())
def test_quantization(data: Any) -> None:
    x = data.draw(arrays(("float32",), nps.array_shapes(min_dims=1, max_dims=3, max_side=4), False))
    axis = data.draw(st.integers(0, x.ndim - 1))
    n = x.shape[axis]
    kind = data.draw(st.sampled_from(["uint8", "int8", "uint16", "int16"]))
    scale = data.draw(nps.arrays("float32", n, elements=st.sampled_from([0.25, 0.5, 1, 2])))
    zero = data.draw(nps.arrays(kind, n, elements=st.integers(0, 9)))
    got = ours("QuantizeLinear", [x, scale, zero], axis=axis)
    wide = (n,) + (1,) * (x.ndim - 1 - axis)
    info = np.iinfo(kind)
    expected = np.rint(x / scale.reshape(wide)) + zero.reshape(wide)
    same(got, np.clip(expected, info.min, info.max).astype(kind))
    back = (got.astype("float32") - zero.reshape(wide)) * scale.reshape(wide)
    same(ours("DequantizeLinear", [got, scale, zero], axis=axis), back.astype("float32"))


@pytest.mark.parametrize("kind", ["int8", "uint8", "int16", "uint16", "int4", "uint4"])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("table", ["tensor", "axis", "blocks"])
def test_quantization_of_nan(kind: str, dtype: str, table: str) -> None:
    """NaN is the lowest code, whatever the zero point is."""
    x = np.ones((3, 68), dtype)
    x[:, [0, 5, 33, 67]] = np.nan
    scale = {"tensor": np.array(1), "axis": np.ones(3), "blocks": np.ones((3, 17))}[table]
    zero = np.full(scale.shape, 3).astype(np.dtype(kind))
    more = {"axis": {"axis": 0}, "blocks": {"axis": 1, "block_size": 4}}.get(table, {})
    inputs = [x, scale.astype(dtype), zero]
    got = ours("QuantizeLinear", inputs, **more)
    assert got.dtype == zero.dtype
    low = ml_dtypes.iinfo(zero.dtype).min
    np.testing.assert_array_equal(got.astype(int), np.where(np.isnan(x), low, 4))
    np.testing.assert_array_equal(got, reference("QuantizeLinear", inputs, **more))
    if not kind.endswith("int4"):  # ONNX Runtime gives no arrays of these
        np.testing.assert_array_equal(got, ort("QuantizeLinear", inputs, **more))


def test_dynamic_quantization_of_nan() -> None:
    """NaN has no part in the scale."""
    x = np.linspace(-3, 2, 75, dtype="float32")
    x[[0, 40, 74]] = np.nan
    got = ours("DynamicQuantizeLinear", [x], 3)
    for one, other in zip(got, ort("DynamicQuantizeLinear", [x], 3), strict=True):
        np.testing.assert_array_equal(one, other)


# --- Images, against ONNX Runtime -----------------------------------------------------------------

COORDINATES = ["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"]


@budget
@given(data=st.data())
def test_resize(data: Any) -> None:
    x = data.draw(image(1, 2))
    sizes = np.array([*x.shape[:2], *(data.draw(st.integers(1, 12)) for _ in range(2))], "int64")
    mode = data.draw(st.sampled_from(["nearest", "linear", "cubic"]))
    more = {"mode": mode, "coordinate_transformation_mode": data.draw(st.sampled_from(COORDINATES))}
    if mode == "nearest":
        rounding = ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]
        more["nearest_mode"] = data.draw(st.sampled_from(rounding))
    inputs = [x, None, None, sizes]
    same(ours("Resize", inputs, **more), reference("Resize", inputs, **more), rtol=1e-3)


@budget
@given(data=st.data())
def test_grid_sample(data: Any) -> None:
    x = data.draw(image(2, 2))
    points = st.floats(-1.5, 1.5, width=16)
    grid = data.draw(nps.arrays("float32", (len(x), 3, 2, 2), elements=points))
    more = {
        "mode": data.draw(st.sampled_from(["linear", "nearest", "cubic"])),
        "padding_mode": data.draw(st.sampled_from(["zeros", "border", "reflection"])),
        "align_corners": data.draw(st.integers(0, 1)),
    }
    same(ours("GridSample", [x, grid], **more), ort("GridSample", [x, grid], **more), rtol=1e-3)


@budget
@given(data=st.data())
def test_regions(data: Any) -> None:
    x = data.draw(image(2, 2))
    corners = data.draw(nps.arrays("float32", (3, 4), elements=st.integers(0, 7)))
    regions = np.concatenate([np.minimum(corners[:, :2], corners[:, 2:]), corners[:, 2:]], 1)
    batch = np.array([0, len(x) - 1, 0])
    more = {
        "mode": data.draw(st.sampled_from(["avg", "max"])),
        "output_height": data.draw(st.integers(1, 3)),
        "output_width": data.draw(st.integers(1, 3)),
        "sampling_ratio": data.draw(st.integers(0, 2)),
        "spatial_scale": data.draw(st.sampled_from([0.5, 1.0])),
    }
    inputs = [x, regions.astype("float32"), batch]
    more["opset"] = 16  # the newest that ONNX Runtime has
    same(ours("RoiAlign", inputs, **more), ort("RoiAlign", inputs, **more), rtol=1e-3)


@budget
@given(data=st.data())
def test_non_max_suppression(data: Any) -> None:
    count, classes = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 2))
    boxes = data.draw(nps.arrays("float32", (1, count, 4), elements=st.integers(0, 9)))
    scores = data.draw(
        nps.arrays("float32", (1, classes, count), elements=st.floats(0, 1, width=16), unique=True)
    )
    limits = [np.array([data.draw(st.integers(0, 4))]), np.array([0.3], "float32")]
    inputs = [boxes, scores, *limits, np.array([0.1], "float32")]
    same(ours("NonMaxSuppression", inputs), ort("NonMaxSuppression", inputs))


# --- Recurrences, against ONNX Runtime ------------------------------------------------------------


@pytest.mark.parametrize("op", ["RNN", "GRU", "LSTM"])
@budget
@given(data=st.data())
def test_recurrences(op: str, data: Any) -> None:
    gates = {"RNN": 1, "GRU": 3, "LSTM": 4}[op]
    steps, batch, size, hidden = (data.draw(st.integers(1, 4)) for _ in range(4))
    direction = data.draw(st.sampled_from(["forward", "reverse", "bidirectional"]))
    count = 2 if direction == "bidirectional" else 1

    def numbers(*dims: int) -> np.ndarray:
        return data.draw(arrays(("float32",), dims, special=False)) / 8

    lengths = data.draw(nps.arrays("int32", batch, elements=st.integers(1, steps)))
    inputs = [
        numbers(steps, batch, size),
        numbers(count, gates * hidden, size),
        numbers(count, gates * hidden, hidden),
        numbers(count, 2 * gates * hidden) if data.draw(st.booleans()) else None,
        lengths if data.draw(st.booleans()) else None,
        numbers(count, batch, hidden) if data.draw(st.booleans()) else None,
    ]
    more: dict[str, Any] = {"hidden_size": hidden, "direction": direction}
    if op == "GRU":
        more["linear_before_reset"] = data.draw(st.integers(0, 1))
    outputs = 3 if op == "LSTM" else 2
    got = ours(op, inputs, outputs, **more)
    for item, expected in zip(got, ort(op, inputs, outputs, **more), strict=True):
        same(item, expected, rtol=1e-4)


# --- Signals --------------------------------------------------------------------------------------


@budget
@given(data=st.data())
def test_fourier_transforms(data: Any) -> None:
    length = data.draw(st.integers(1, 17))
    x = data.draw(arrays(("float64",), (2, length, 2), special=False))
    size = data.draw(st.integers(1, 20))
    signal = x[..., 0] + 1j * x[..., 1]
    for inverse, function in ((0, np.fft.fft), (1, np.fft.ifft)):
        expected = function(signal, size, axis=1)
        got = ours("DFT", [x, np.array(size), np.array(1)], inverse=inverse)
        same(got, np.stack([expected.real, expected.imag], -1), rtol=1e-9)
    real = np.fft.rfft(x[..., 0], size, axis=1)
    got = ours("DFT", [x[..., :1], np.array(size), np.array(1)], onesided=1)
    same(got, np.stack([real.real, real.imag], -1), rtol=1e-9)


@pytest.mark.parametrize("length", [3, 5, 6, 7, 9, 10, 14, 15, 18, 21, 25, 30, 35, 42, 49, 50, 63])
def test_short_inverse_transforms_round_as_numpy(length: int) -> None:
    generator = np.random.default_rng(length)
    x = generator.normal(size=(2, length + 1, 2)).astype(np.float32)
    expected = np.fft.ifft((x[..., 0] + 1j * x[..., 1]), length, axis=1)
    got = ours("DFT", [x, np.array(length), np.array(1)], inverse=1)
    np.testing.assert_array_equal(got, np.stack([expected.real, expected.imag], -1))


def test_fourier_transforms_of_signals_without_samples() -> None:
    got = ours("DFT", [np.zeros((2, 0, 1), np.float32), np.array(3), np.array(1)])
    same(got, np.zeros((2, 3, 2), np.float32))


# --- The other operators, against onnx.reference --------------------------------------------------

Call = tuple[list[Any], dict[str, Any]]
Maker = Callable[[Callable[[Any], Any]], Call]

F = ("float32",)
filled = nps.array_shapes(min_dims=1, max_dims=4, max_side=4)


def plain(draw: Any, *dims: int, dtypes: tuple[str, ...] = F) -> np.ndarray:
    return draw(arrays(dtypes, dims, special=False))


def sides(draw: Any, count: int, low: int = 1, high: int = 4) -> list[int]:
    return draw(st.lists(st.integers(low, high), min_size=count, max_size=count))


def batch_normalization(draw: Any) -> Call:
    n, c, *spatial = sides(draw, draw(st.integers(2, 4)))
    channels = [plain(draw, c) for _ in range(3)]
    return [plain(draw, n, c, *spatial), *channels, np.abs(plain(draw, c)) + 0.5], {}


def instance_normalization(draw: Any) -> Call:
    n, c, *spatial = sides(draw, draw(st.integers(3, 4)))
    return [plain(draw, n, c, *spatial), plain(draw, c), plain(draw, c)], {"epsilon": 0.1}


def group_normalization(draw: Any) -> Call:
    n, size, *spatial = sides(draw, draw(st.integers(3, 4)))
    groups = draw(st.integers(1, 3))
    c = size * groups
    x = plain(draw, n, c, *spatial)
    return [x, plain(draw, c), plain(draw, c)], {"num_groups": groups, "epsilon": 0.1}


def lrn(draw: Any) -> Call:
    more = {"size": draw(st.sampled_from([1, 3, 5])), "alpha": 0.1, "bias": 2.0}
    return [plain(draw, *sides(draw, 4))], more


def lp_normalization(draw: Any) -> Call:
    x = np.abs(plain(draw, *sides(draw, 3))) + 0.25
    return [x.astype("float32")], {"axis": draw(st.integers(-3, 2)), "p": draw(st.integers(1, 2))}


def det(draw: Any) -> Call:
    n = draw(st.integers(1, 4))
    return [plain(draw, *sides(draw, draw(st.integers(0, 2))), n, n)], {}


def one_hot(draw: Any) -> Call:
    indices = draw(nps.arrays("int64", shapes, elements=st.integers(-7, 7)))
    more = {"axis": draw(st.integers(-indices.ndim - 1, indices.ndim))}
    return [indices, np.array(draw(st.integers(1, 5))), plain(draw, 2)], more


def number_range(draw: Any) -> Call:
    kind = draw(st.sampled_from(["int32", "int64", "float64"]))
    start, limit = (draw(st.integers(-9, 9)) for _ in range(2))
    step = draw(st.sampled_from([-3, -1, 1, 2, 4]))
    return [np.array(v, kind) for v in (start, limit, step)], {}


def bit_shift(draw: Any) -> Call:
    a, b = draw(operands(("uint8", "uint16", "uint32", "uint64")))
    direction = draw(st.sampled_from(["LEFT", "RIGHT"]))
    return [a, b % np.array(8, b.dtype)], {"direction": direction}


def depth_to_space(draw: Any) -> Call:
    n, c, h, w = sides(draw, 4, 1, 3)
    block = draw(st.integers(1, 3))
    x = plain(draw, n, c * block * block, h, w)
    return [x], {"blocksize": block, "mode": draw(st.sampled_from(["DCR", "CRD"]))}


def space_to_depth(draw: Any) -> Call:
    n, c, h, w = sides(draw, 4, 1, 3)
    block = draw(st.integers(1, 3))
    return [plain(draw, n, c, h * block, w * block)], {"blocksize": block}


def reverse_sequence(draw: Any) -> Call:
    steps, batch = sides(draw, 2)
    lengths = draw(nps.arrays("int64", batch, elements=st.integers(1, steps)))
    if draw(st.booleans()):
        return [plain(draw, steps, batch, 2), lengths], {"time_axis": 0, "batch_axis": 1}
    return [plain(draw, batch, steps, 2), lengths], {"time_axis": 1, "batch_axis": 0}


def gather_nd(draw: Any) -> Call:
    dims = sides(draw, draw(st.integers(1, 4)))
    depth = draw(st.integers(1, len(dims)))
    count = draw(st.integers(0, 3))
    columns = [
        draw(nps.arrays("int64", count, elements=st.integers(-d, d - 1))) for d in dims[:depth]
    ]
    return [plain(draw, *dims), np.stack(columns, -1)], {}


def scatter_nd(draw: Any) -> Call:
    data, indices = gather_nd(draw)[0]
    updates = plain(draw, *indices.shape[:-1], *data.shape[indices.shape[-1] :])
    return [data, indices, updates], {"reduction": draw(st.sampled_from(["add", "mul"]))}


def gather_elements(draw: Any) -> Call:
    dims = sides(draw, draw(st.integers(1, 3)))
    axis = draw(st.integers(-len(dims), len(dims) - 1))
    n = dims[axis]
    places = draw(nps.arrays("int64", dims, elements=st.integers(-n, n - 1)))
    return [plain(draw, *dims), places], {"axis": axis}


def center_crop_pad(draw: Any) -> Call:
    dims = sides(draw, draw(st.integers(1, 3)))
    return [plain(draw, *dims), np.array(sides(draw, len(dims), 1, 6))], {}


def matrix_of_integers(draw: Any) -> Call:
    m, k, n = sides(draw, 3)
    kinds = [draw(st.sampled_from(["int8", "uint8"])) for _ in range(2)]
    a, b = plain(draw, m, k, dtypes=(kinds[0],)), plain(draw, k, n, dtypes=(kinds[1],))
    return [a, b, a.dtype.type(3), b.dtype.type(5)], {}


def loss(draw: Any) -> Call:
    n, classes, *spatial = sides(draw, draw(st.integers(2, 4)))
    scores = plain(draw, n, classes, *spatial)
    target = draw(nps.arrays("int64", (n, *spatial), elements=st.integers(0, classes - 1)))
    more = {"reduction": draw(st.sampled_from(["none", "sum", "mean"]))}
    weights = [np.abs(plain(draw, classes)) + 0.5] if draw(st.booleans()) else []
    return [scores, target, *weights], more


def attention(draw: Any) -> Call:
    batch, heads, queries, keys, size = sides(draw, 5, 1, 3)
    q = plain(draw, batch, heads, queries, size)
    k, v = (plain(draw, batch, heads, keys, size) for _ in range(2))
    return [q, k, v], {"is_causal": draw(st.integers(0, 1)), "scale": 0.5}


def rotary(draw: Any) -> Call:
    batch, heads, steps, half = sides(draw, 4, 1, 3)
    caches = [plain(draw, batch, steps, half) for _ in range(2)]
    more = {"interleaved": draw(st.integers(0, 1))}
    return [plain(draw, batch, heads, steps, 2 * half), *caches], more


def window_of(draw: Any) -> Call:
    return [np.array(draw(st.integers(2, 20)))], {"periodic": draw(st.integers(0, 1))}


def affine_grid(draw: Any) -> Call:
    n, c, h, w = sides(draw, 4, 2, 4)
    size = np.array([n, c, h, w], "int64")
    return [plain(draw, n, 2, 3), size], {"align_corners": draw(st.integers(0, 1))}


def split_text(draw: Any) -> Call:
    words = st.text("ab -", max_size=6)
    texts = draw(st.lists(words, min_size=1, max_size=3))
    return [np.array(texts, dtype=object)], {"delimiter": draw(st.sampled_from(["-", " "]))}


def joined_text(draw: Any) -> Call:
    words = st.text("aé😀", max_size=3)
    texts = [draw(st.lists(words, min_size=2, max_size=2)) for _ in range(2)]
    return [np.array(t, dtype=object) for t in texts], {}


def activation(**ranges: Any) -> Maker:
    def maker(draw: Any) -> Call:
        return [draw(arrays(("float32", "float64"), special=False))], {
            name: draw(st.sampled_from(values)) for name, values in ranges.items()
        }

    return maker


OTHERS: dict[str, Maker] = {
    "BatchNormalization": batch_normalization,
    "InstanceNormalization": instance_normalization,
    "GroupNormalization": group_normalization,
    "LRN": lrn,
    "LpNormalization": lp_normalization,
    "Det": det,
    "OneHot": one_hot,
    "Range": number_range,
    "BitShift": bit_shift,
    "DepthToSpace": depth_to_space,
    "SpaceToDepth": space_to_depth,
    "ReverseSequence": reverse_sequence,
    "GatherND": gather_nd,
    "GatherElements": gather_elements,
    "ScatterND": scatter_nd,
    "CenterCropPad": center_crop_pad,
    "MatMulInteger": matrix_of_integers,
    "NegativeLogLikelihoodLoss": loss,
    "SoftmaxCrossEntropyLoss": loss,
    "Attention": attention,
    "RotaryEmbedding": rotary,
    "HannWindow": window_of,
    "HammingWindow": window_of,
    "BlackmanWindow": window_of,
    "AffineGrid": affine_grid,
    "StringConcat": joined_text,
    "Celu": activation(alpha=[0.5, 2.0]),
    "Elu": activation(alpha=[0.5, 2.0]),
    "Gelu": activation(approximate=["none", "tanh"]),
    "HardSigmoid": activation(alpha=[0.25, 0.5], beta=[0.25, 0.5]),
    "HardSwish": activation(),
    "LeakyRelu": activation(alpha=[0.25, 2.0]),
    "Mish": activation(),
    "Selu": activation(),
    "Shrink": activation(lambd=[0.5, 1.0], bias=[0.0, 0.25]),
    "ThresholdedRelu": activation(alpha=[0.5, 2.0]),
    "Erf": activation(),
}


# onnx.reference errs: it goes over the batch for the channels.
BY_ONNXRUNTIME = {"LRN"}


@pytest.mark.parametrize("op", OTHERS)
@budget
@given(data=st.data())
def test_others(op: str, data: Any) -> None:
    inputs, more = OTHERS[op](data.draw)
    newest = onnx.defs.get_schema(op).since_version
    oracle = ort if op in BY_ONNXRUNTIME else reference
    with np.errstate(all="ignore"):
        expected = np.asarray(oracle(op, inputs, opset=max(newest, OPSET), **more))
    got = ours(op, inputs, opset=max(newest, OPSET), **more)
    if got.dtype == object:
        assert got.tolist() == expected.tolist()
    else:
        same(got, expected, rtol=1e-4 if got.dtype.kind == "f" else None)


@budget
@given(data=st.data())
def test_unique(data: Any) -> None:
    x = data.draw(arrays(("float32", "int64", "uint8"), filled, special=False))
    axis = data.draw(st.none() | st.integers(0, x.ndim - 1))
    more = {} if axis is None else {"axis": axis}
    found = np.unique(x, True, True, True, axis=axis)
    for got, expected in zip(ours("Unique", [x], 4, **more), found, strict=True):
        same(got, expected.reshape(got.shape))


@budget
@given(data=st.data())
def test_short_time_fourier_transform(data: Any) -> None:
    size, step, frames = (data.draw(st.integers(1, 8)) for _ in range(3))
    signal = plain(data.draw, 1, size + step * (frames - 1), 1, dtypes=("float64",))
    weights = plain(data.draw, size, dtypes=("float64",))
    got = ours("STFT", [signal, np.array(step), weights], onesided=1)
    parts = np.stack([signal[0, i * step : i * step + size, 0] for i in range(frames)])
    expected = np.fft.rfft(parts * weights, axis=1)[None]
    same(got, np.stack([expected.real, expected.imag], -1), rtol=1e-9)


@budget
@given(data=st.data())
def test_split_text(data: Any) -> None:
    [texts], more = split_text(data.draw)
    parts, counts = ours("StringSplit", [texts], 2, **more)
    delimiter = more["delimiter"]
    wanted = [text.split(delimiter) for text in texts]
    assert counts.tolist() == [len(words) for words in wanted]
    for row, words in zip(parts.tolist(), wanted, strict=True):
        assert row[: len(words)] == words and not any(row[len(words) :])


@budget
@given(data=st.data())
def test_sequences(data: Any) -> None:
    """A sequence is a Python list."""
    parts = [data.draw(arrays(F, filled)) for _ in range(data.draw(st.integers(1, 4)))]
    n = len(parts)
    at = data.draw(st.integers(-n, n - 1))
    same(ours("SequenceAt", [parts, np.array(at)]), parts[at])
    place = data.draw(st.integers(-n, n))
    longer = list(parts)
    longer.insert(place, parts[0])
    shorter = parts[:at] + parts[at + n + 1 if at < 0 else at + 1 :]
    for got, expected in (
        (ours("SequenceInsert", [parts, parts[0], np.array(place)]), longer),
        (ours("SequenceErase", [parts, np.array(at)]), shorter),
    ):
        assert len(got) == len(expected)
        for item, wanted in zip(got, expected, strict=True):
            same(item, wanted)
    assert ours("SequenceLength", [parts]) == n
    alike = [parts[0]] * n
    axis = data.draw(st.integers(-parts[0].ndim, parts[0].ndim - 1))
    same(ours("ConcatFromSequence", [alike], axis=axis), np.concatenate(alike, axis))
    same(ours("ConcatFromSequence", [alike], axis=axis, new_axis=1), np.stack(alike, axis))


@budget
@given(data=st.data())
def test_weights_of_ngrams(data: Any) -> None:
    """They are in the order of the pool, whatever columns the n-grams have, which may be equal."""
    columns = data.draw(st.lists(st.integers(0, 5), min_size=4, max_size=4))
    weights = data.draw(st.lists(st.sampled_from([0.5, 1.0, 2.0, 4.0]), min_size=4, max_size=4))
    # What ONNX Runtime has of several n-grams that share a column, for IDF, depends on their order.
    modes = ["TF", "TFIDF", *(["IDF"] if len(set(columns)) == 4 else [])]
    pool = {"ngram_counts": [0, 2], "ngram_indexes": columns, "pool_int64s": [1, 2, 1, 2, 2, 2]}
    lengths = {"min_gram_length": 1, "max_gram_length": 2, "max_skip_count": 0}
    more = {"mode": data.draw(st.sampled_from(modes)), "weights": weights, **pool, **lengths}
    x = np.array(data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=6)))
    same(ours("TfIdfVectorizer", [x], **more), ort("TfIdfVectorizer", [x], **more))
