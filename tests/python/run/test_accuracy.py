"""Numbers that are hard to get right: NaN with every payload, long sums, results that are rounded
once, tails, and arithmetic that must not overflow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import mpmath
import numpy as np
import onnx
import onnxruntime
import onnxruntime.datasets
import pytest
import sardonyx
from onnx import TensorProto, helper

RANDOM = np.random.default_rng(3)

FLOATS: dict[str, Any] = {
    "float32": np.float32,
    "float64": np.float64,
    "float16": np.float16,
    "bfloat16": ml_dtypes.bfloat16,
}


def model(op: str, inputs: list[Any], opset: int, attributes: dict[str, Any]) -> onnx.ModelProto:
    """One node; an input that is None is left out."""
    names = [f"x{i}" if x is not None else "" for i, x in enumerate(inputs)]
    infos = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
        for name, x in zip(names, inputs, strict=True)
        if x is not None
    ]
    output = helper.make_tensor_value_info("y", TensorProto.UNDEFINED, None)
    node = helper.make_node(op, names, ["y"], **attributes)
    graph = helper.make_graph([node], "g", infos, [output])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])


def run(op: str, *inputs: Any, opset: int = 23, **attributes: Any) -> Any:
    loaded = sardonyx.load(model(op, list(inputs), opset, attributes).SerializeToString())
    return loaded.run({f"x{i}": x for i, x in enumerate(inputs) if x is not None})[0]


def nans(kind: str) -> np.ndarray:
    """Quiet and signalling, of both signs, with the payloads of NumPy, CUDA and others."""
    bits = {
        "float32": [0x7FC00000, 0x7FFFFFFF, 0x7FC00001, 0x7F800001, 0xFFC00000, 0xFFFFFFFF],
        "float64": [
            0x7FF8000000000000,
            0x7FFFFFFFFFFFFFFF,
            0x7FF0000000000001,
            0xFFF8000000000000,
            0xFFFFFFFFFFFFFFFF,
        ],
        "float16": [0x7E00, 0x7FFF, 0x7C01, 0xFE00, 0xFFFF],
        "bfloat16": [0x7FC0, 0x7FFF, 0x7F81, 0xFFC0, 0xFFFF],
    }[kind]
    width = np.dtype(FLOATS[kind]).itemsize
    return np.array(bits, f"uint{8 * width}").view(FLOATS[kind])


UNARY = [
    "Abs",
    "Acos",
    "Acosh",
    "Asin",
    "Asinh",
    "Atan",
    "Atanh",
    "Ceil",
    "Cos",
    "Cosh",
    "Elu",
    "Erf",
    "Exp",
    "Floor",
    "Gelu",
    "HardSigmoid",
    "HardSwish",
    "LeakyRelu",
    "Log",
    "Mish",
    "Neg",
    "Reciprocal",
    "Relu",
    "Round",
    "Selu",
    "Sigmoid",
    "Sin",
    "Sinh",
    "Softplus",
    "Softsign",
    "Sqrt",
    "Swish",
    "Tan",
    "Tanh",
    "ThresholdedRelu",
]


@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("op", UNARY)
def test_nan_of_any_payload_stays(op: str, kind: str) -> None:
    # ThresholdedRelu compares: what is not above the threshold is 0.
    x = np.tile(nans(kind), 20)
    y = run(op, x, opset=24 if op == "Swish" else 22).astype(np.float64)
    assert np.isnan(y).all() or (op == "ThresholdedRelu" and not y.any())


def rows_with_nan(kind: str, columns: int) -> np.ndarray:
    """In each row one NaN of another payload."""
    bits = nans(kind)
    x = RANDOM.normal(size=(len(bits), columns)).astype(FLOATS[kind])
    x[np.arange(len(bits)), np.arange(len(bits)) * 3] = bits
    return x


@pytest.mark.parametrize("kind", FLOATS)
def test_nan_of_any_payload_spreads_over_its_row(kind: str) -> None:
    x = rows_with_nan(kind, 37)
    element = FLOATS[kind]
    ones = np.ones(37, element)
    labels = np.zeros(len(x), np.int64)
    results = {
        "Softmax": run("Softmax", x),
        "Softmax along columns": run("Softmax", x.T.copy(), axis=0),
        "LogSoftmax": run("LogSoftmax", x),
        "ReduceSum": run("ReduceSum", x, np.array([1])),
        "ReduceLogSumExp": run("ReduceLogSumExp", x, np.array([1])),
        "ReduceMax": run("ReduceMax", x, np.array([1])),
        "LayerNormalization": run("LayerNormalization", x, ones),
        "RMSNormalization": run("RMSNormalization", x, ones),
        "MatMul": run("MatMul", x, np.ones((37, 2), element)),
        "Gemm": run("Gemm", x, np.ones((2, 37), element), ones[:2], transB=1),
        "loss": run("SoftmaxCrossEntropyLoss", x, labels, reduction="none"),
    }
    for name, result in results.items():
        assert np.isnan(result.astype(np.float64)).all(), name


def reductions() -> list[str]:
    names = "L1 L2 LogSum LogSumExp Max Mean Min Prod Sum SumSquare"
    return [f"Reduce{name}" for name in names.split()]


@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("op", reductions())
@pytest.mark.parametrize("axis", [0, 1])
def test_nan_of_any_payload_in_reductions(op: str, axis: int, kind: str) -> None:
    x = np.abs(rows_with_nan(kind, 37))
    x = x if axis == 1 else np.ascontiguousarray(x.T)
    y = run(op, x, np.array([axis]), opset=18).astype(np.float64)
    assert np.isnan(y).all()


@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize(
    "op", ["Add", "Sub", "Mul", "Div", "Max", "Min", "Mean", "Sum", "PRelu", "Mod", "Pow"]
)
def test_nan_of_any_payload_in_two_operands(op: str, kind: str) -> None:
    x = np.tile(nans(kind), 20)
    attributes = {"fmod": 1} if op == "Mod" else {}
    for operands in ([x, np.full_like(x, 2)], [np.full_like(x, -2), x]):
        y = run(op, *operands, opset=18, **attributes).astype(np.float64)
        assert np.isnan(y).all()


@pytest.mark.parametrize("kind", ["float32", "float64", "float16"])
def test_nan_of_any_payload_in_other_operators(kind: str) -> None:
    x = rows_with_nan(kind, 36).reshape(1, len(nans(kind)), 6, 6)
    element, channels = FLOATS[kind], len(nans(kind))
    ones, zeros = np.ones(channels, element), np.zeros(channels, element)
    results = {
        "BatchNormalization": run("BatchNormalization", x, ones, zeros, zeros, ones, opset=15),
        "InstanceNormalization": run("InstanceNormalization", x, ones, zeros, opset=22),
        "GroupNormalization": run(
            "GroupNormalization", x, ones, zeros, opset=21, num_groups=channels
        ),
        "LpNormalization": run("LpNormalization", x.reshape(channels, 36), axis=1, opset=22),
        "GlobalAveragePool": run("GlobalAveragePool", x, opset=22),
        "GlobalMaxPool": run("GlobalMaxPool", x, opset=22),
        "AveragePool": run("AveragePool", x, kernel_shape=[6, 6], opset=22),
        "MaxPool": run("MaxPool", x, kernel_shape=[6, 6], opset=22),
        "LpPool": run("LpPool", x, kernel_shape=[6, 6], opset=22),
        "Conv": run("Conv", x, np.ones((channels, 1, 6, 6), element), group=channels, opset=22),
        "CumSum": run("CumSum", x.reshape(channels, 36), np.array(1), opset=14)[:, -1:],
    }
    whole = {"InstanceNormalization", "GroupNormalization", "LpNormalization", "CumSum"}
    for name, result in results.items():
        wide = result.astype(np.float64).reshape(channels, -1)
        is_nan = np.isnan(wide)
        assert is_nan.all() if wide.shape[1] == 1 or name in whole else is_nan.any(axis=1).all(), (
            name
        )


@pytest.mark.parametrize("to", FLOATS)
@pytest.mark.parametrize("kind", FLOATS)
def test_nan_of_any_payload_in_casts(kind: str, to: str) -> None:
    element = {"float32": 1, "float64": 11, "float16": 10, "bfloat16": 16}[to]
    y = run("Cast", np.tile(nans(kind), 20), to=element, opset=19)
    assert np.isnan(y.astype(np.float64)).all()


@pytest.mark.parametrize("kind", FLOATS)
def test_nan_of_any_payload_in_attention(kind: str) -> None:
    q = rows_with_nan(kind, 16)[None, None]
    keys = RANDOM.normal(size=(1, 1, 5, 16)).astype(FLOATS[kind])
    assert np.isnan(run("Attention", q, keys, keys).astype(np.float64)).all()


@pytest.mark.parametrize("kind", ["float32", "float64", "float16"])
@pytest.mark.parametrize(("op", "gates"), [("RNN", 1), ("GRU", 3), ("LSTM", 4)])
def test_nan_of_any_payload_in_recurrences(op: str, gates: int, kind: str) -> None:
    x = rows_with_nan(kind, 16)[None]
    w = RANDOM.normal(size=(1, gates * 4, 16)).astype(FLOATS[kind])
    r = RANDOM.normal(size=(1, gates * 4, 4)).astype(FLOATS[kind])
    assert np.isnan(run(op, x, w, r, opset=22, hidden_size=4).astype(np.float64)).all()


# --- Long sums -----------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [1, 2, 3, 5])
@pytest.mark.parametrize("columns", [1, 7, 40])
def test_products_of_long_rows(rows: int, columns: int) -> None:
    k = 100_003
    x = RANDOM.random((rows, k), np.float32) + np.float32(0.5)
    w = RANDOM.random((k, columns), np.float32) + np.float32(0.5)
    expected = x.astype(np.float64) @ w.astype(np.float64)
    for y in (run("MatMul", x, w), run("Gemm", x, w), run("Gemm", x, w.T.copy(), transB=1)):
        np.testing.assert_allclose(y, expected, rtol=2e-6)
    # Of more rows this is a product for oneDNN, with an order of its own.
    rtol = 2e-6 if rows <= 3 else 1e-5
    np.testing.assert_allclose(run("Gemm", x.T.copy(), w, transA=1), expected, rtol=rtol)


@pytest.mark.parametrize(("rows", "k"), [(1, 5000), (3, 5000), (7, 300)])
def test_constant_weights_give_the_same_bits(rows: int, k: int) -> None:
    x = RANDOM.normal(size=(rows, k)).astype(np.float32)
    w = RANDOM.normal(size=(k, 33)).astype(np.float32)
    proto = model("MatMul", [x, w], 22, {})
    expected = sardonyx.load(proto.SerializeToString()).run({"x0": x, "x1": w})[0]
    proto.graph.initializer.append(onnx.numpy_helper.from_array(w, "x1"))
    del proto.graph.input[1]
    constant = sardonyx.load(proto.SerializeToString()).run({"x0": x})[0]
    np.testing.assert_array_equal(constant.view(np.int32), expected.view(np.int32))


@pytest.mark.parametrize("steps", [1, 2, 3, 5])
@pytest.mark.parametrize(("op", "gates"), [("RNN", 1), ("GRU", 3), ("LSTM", 4)])
def test_constant_recurrent_weights_give_the_same_bits(op: str, gates: int, steps: int) -> None:
    inputs = {
        "x0": RANDOM.normal(size=(steps, 2, 5)).astype(np.float32),
        "x1": RANDOM.normal(size=(1, gates * 50, 5)).astype(np.float32),
        "x2": RANDOM.normal(size=(1, gates * 50, 50)).astype(np.float32),
    }
    state = RANDOM.normal(size=(1, 2, 50)).astype(np.float32)
    given = [*inputs.values(), None, None, state]
    proto = model(op, given, 22, {"hidden_size": 50})
    expected = sardonyx.load(proto.SerializeToString()).run({**inputs, "x5": state})[0]
    for name in ("x1", "x2"):
        proto.graph.initializer.append(onnx.numpy_helper.from_array(inputs[name], name))
    kept = [info for info in proto.graph.input if info.name in ("x0", "x5")]
    del proto.graph.input[:]
    proto.graph.input.extend(kept)
    constant = sardonyx.load(proto.SerializeToString()).run({"x0": inputs["x0"], "x5": state})[0]
    np.testing.assert_array_equal(constant.view(np.int32), expected.view(np.int32))


# --- Means that are large beside the deviation ---------------------------------------------------


@pytest.mark.parametrize("trains", [0, 1])
def test_batch_normalization_takes_the_mean_away_first(trains: int) -> None:
    x = (RANDOM.normal(size=(4, 3, 50)) + 1e6).astype(np.float32)
    scale, bias = np.array([2, 1, 0.5], np.float32), np.array([1, -1, 0], np.float32)
    mean, variance = np.full(3, 1e6, np.float32), np.ones(3, np.float32)
    wide = x.astype(np.float64)
    if trains:
        true_mean = wide.mean((0, 2))
        true_variance = wide.var((0, 2))
    else:
        true_mean, true_variance = mean.astype(np.float64), variance.astype(np.float64)
    expected = (wide - true_mean[:, None]) / np.sqrt(true_variance + 1e-5)[:, None]
    expected = expected * scale[:, None] + bias[:, None]
    y = run("BatchNormalization", x, scale, bias, mean, variance, training_mode=trains, opset=15)
    np.testing.assert_allclose(y, expected, rtol=1e-6, atol=1e-6)


def test_mean_variance_normalization_of_a_large_mean() -> None:
    x = (RANDOM.normal(size=(2, 3, 8, 8)) + 1e6).astype(np.float32)
    wide = x.astype(np.float64)
    expected = (wide - wide.mean((0, 2, 3), keepdims=True)) / wide.std((0, 2, 3), keepdims=True)
    np.testing.assert_allclose(run("MeanVarianceNormalization", x), expected, rtol=2e-6, atol=1e-9)


# --- 16-bit floats are rounded once --------------------------------------------------------------


def assert_rounded_once(result: np.ndarray, exact: np.ndarray, steps: float = 0.51) -> None:
    """Within so many units in the last place of the exact result."""
    unit = np.spacing(np.abs(exact).astype(np.float32).astype(result.dtype)).astype(np.float64)
    error = np.abs(result.astype(np.float64) - exact) / unit
    assert error.max() <= steps, error.max()


SHORT = {name: FLOATS[name] for name in ("float16", "bfloat16")}


@pytest.mark.parametrize("kind", SHORT)
def test_softmax_of_16_bits_is_rounded_once(kind: str) -> None:
    x = (RANDOM.normal(size=(40, 500)) * 3).astype(SHORT[kind])
    for axis in (0, 1):
        power = np.exp(x.astype(np.float64))
        exact = power / power.sum(axis, keepdims=True)
        assert_rounded_once(run("Softmax", x, axis=axis), exact)
        assert_rounded_once(run("LogSoftmax", x, axis=axis), np.log(exact))


@pytest.mark.parametrize("kind", SHORT)
def test_gemm_of_16_bits_is_rounded_once(kind: str) -> None:
    a, b = (RANDOM.normal(size=(40, 40)).astype(SHORT[kind]) for _ in range(2))
    exact = a.astype(np.float64) @ b.astype(np.float64)
    # What the product nearly cancels with.
    c = (-exact).astype(SHORT[kind])
    y = run("Gemm", a, b, c).astype(np.float64)
    np.testing.assert_allclose(y, exact + c.astype(np.float64), rtol=2**-8, atol=1e-5)
    np.testing.assert_allclose(
        run("Gemm", a, b, c, alpha=0.5, beta=0.5).astype(np.float64), y / 2, rtol=2**-8, atol=1e-5
    )


@pytest.mark.parametrize("kind", SHORT)
def test_transposed_convolution_of_16_bits_is_rounded_once(kind: str) -> None:
    x = RANDOM.normal(size=(1, 8, 12)).astype(SHORT[kind])
    w = RANDOM.normal(size=(8, 4, 1)).astype(SHORT[kind])
    exact = np.einsum("nct,cot->not", x.astype(np.float64), w.astype(np.float64))
    bias = (-exact[0, :, 0]).astype(SHORT[kind])
    y = run("ConvTranspose", x, w, bias).astype(np.float64)
    exact = exact + bias.astype(np.float64)[:, None]
    np.testing.assert_allclose(y, exact, rtol=2**-8, atol=1e-5)


@pytest.mark.parametrize("kind", SHORT)
def test_mean_variance_normalization_of_16_bits_is_rounded_once(kind: str) -> None:
    x = (RANDOM.normal(size=(2, 3, 8, 8)) + 3).astype(SHORT[kind])
    wide = x.astype(np.float64)
    exact = (wide - wide.mean((0, 2, 3), keepdims=True)) / wide.std((0, 2, 3), keepdims=True)
    assert_rounded_once(run("MeanVarianceNormalization", x), exact, 0.52)


@pytest.mark.parametrize("kind", SHORT)
def test_sum_and_mean_of_many_16_bits_are_rounded_once(kind: str) -> None:
    inputs = [RANDOM.normal(size=(4, 9)).astype(SHORT[kind]) + SHORT[kind](1) for _ in range(30)]
    exact = sum(x.astype(np.float64) for x in inputs)
    assert_rounded_once(run("Sum", *inputs), exact)
    assert_rounded_once(run("Mean", *inputs), exact / 30)
    # A sum beyond float16 whose mean is not.
    large = np.full(3, 60000, np.float16)
    np.testing.assert_array_equal(run("Mean", large, large), large)


# --- Tails, and what must not overflow -----------------------------------------------------------


def test_subnormal_results_are_not_flushed() -> None:
    x = np.array([[0, -87.5, -90, -95, -100, -103, -104, -1e4, -np.inf]], np.float32)
    exact = np.exp(x.astype(np.float64))
    exact /= exact.sum()
    np.testing.assert_allclose(run("Softmax", x), exact, rtol=1e-6, atol=1.5e-45)
    np.testing.assert_allclose(run("Softmax", x.T.copy(), axis=0).T, exact, rtol=1e-6, atol=1.5e-45)
    np.testing.assert_allclose(run("Sigmoid", x)[0, 1:], exact[0, 1:], rtol=1e-6, atol=1.5e-45)
    wide = np.array([-720, -740, -745.0])
    np.testing.assert_allclose(run("Sigmoid", wide), np.exp(wide), rtol=1e-12, atol=5e-324)


@pytest.mark.parametrize("shape", [(5, 3), (2, 7, 300), (3, 513, 2), (1, 40, 257), (4, 1, 9)])
def test_softmax_along_another_axis(shape: tuple[int, ...]) -> None:
    x = RANDOM.normal(size=shape).astype(np.float32)
    x.flat[0] = 12  # a logarithm near 0
    for axis in range(-len(shape), 0):
        wide = x.astype(np.float64) - x.max(axis=axis, keepdims=True)
        shift = np.log(np.exp(wide).sum(axis=axis, keepdims=True))
        softmax, logarithm = run("Softmax", x, axis=axis), run("LogSoftmax", x, axis=axis)
        np.testing.assert_allclose(softmax, np.exp(wide - shift), rtol=3e-6)
        np.testing.assert_allclose(logarithm, wide - shift, rtol=3e-7, atol=2e-7)
        near_zero = wide == 0
        np.testing.assert_allclose(logarithm[near_zero], (wide - shift)[near_zero], rtol=2e-6)


def test_the_tail_of_gelu() -> None:
    x = -np.arange(0.5, 13, 0.5)
    mpmath.mp.dps = 50
    exact = [float(mpmath.mpf(v) * mpmath.erfc(-mpmath.mpf(v) / mpmath.sqrt(2)) / 2) for v in x]
    np.testing.assert_allclose(run("Gelu", x), exact, rtol=1e-15)
    np.testing.assert_allclose(run("Gelu", x.astype(np.float32)), exact, rtol=3e-7)
    # tanh: 1 + tanh(u) = 2 / (1 + e^-2u).
    inner = [
        mpmath.sqrt(2 / mpmath.pi) * (v + mpmath.mpf("0.044715") * v**3) for v in map(mpmath.mpf, x)
    ]
    exact = [float(v / (1 + mpmath.exp(-2 * u))) for v, u in zip(x, inner, strict=True)]
    y = run("Gelu", x.astype(np.float32)[:16], approximate="tanh")
    np.testing.assert_allclose(y, exact[:16], rtol=2e-5, atol=1.5e-45)


@pytest.mark.parametrize("kind", ["int8", "uint8", "int32", "uint32", "int64", "uint64"])
def test_the_mean_of_large_integers(kind: str) -> None:
    version = 18 if kind in ("int8", "uint8") else 22
    if kind in ("int8", "uint8"):
        pytest.skip("ReduceMean does not take 8-bit integers")
    info = np.iinfo(kind)
    for value in (info.max, info.min, info.max // 3):
        x = np.full((3, 70), value, kind)
        for axis in (0, 1):
            y = run("ReduceMean", x, np.array([axis]), opset=version)
            np.testing.assert_array_equal(y, np.full_like(y, value))


@pytest.mark.parametrize("kind", FLOATS)
def test_mod_has_the_sign_of_the_divisor_in_zeros_too(kind: str) -> None:
    if kind == "bfloat16":
        pytest.skip("NumPy's remainder does not take it")
    x = np.array([6, -6, 6, -6, 0, -0.0, 0, -0.0, 5.5, -5.5, np.inf, 1, -1], FLOATS[kind])
    y = np.array([3, 3, -3, -3, 3, 3, -3, -3, -2, 2, 2, np.inf, np.inf], FLOATS[kind])
    with np.errstate(invalid="ignore"):
        expected = np.mod(x, y)
    result = run("Mod", x, y)
    np.testing.assert_array_equal(result, expected)
    finite = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(result)[finite], np.signbit(expected)[finite])


def test_non_zero_of_a_scalar_has_no_coordinates() -> None:
    assert run("NonZero", np.array(3.0)).shape == (0, 1)
    assert run("NonZero", np.array(0.0)).shape == (0, 0)


# --- Pad -----------------------------------------------------------------------------------------


def padded(x: np.ndarray, begin: list[int], end: list[int], mode: str) -> np.ndarray:
    """By the definition: an index for each element of each axis."""
    for axis, (before, after) in enumerate(zip(begin, end, strict=True)):
        n = x.shape[axis]
        places = np.arange(-before, n + after)
        inside = (places >= 0) & (places < n)
        if mode == "edge":
            sources = places.clip(0, n - 1)
        elif mode == "wrap":
            sources = places % n
        elif mode == "reflect":
            period = max(1, 2 * (n - 1))
            sources = np.minimum(places % period, period - places % period) if n > 1 else places * 0
        else:
            sources = places.clip(0, max(0, n - 1))
        x = (
            np.take(x, sources, axis)
            if n > 0
            else np.zeros((*x.shape[:axis], len(places), *x.shape[axis + 1 :]), x.dtype)
        )
        if mode == "constant":
            x[(slice(None),) * axis + (~inside,)] = 7
    return x


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "wrap"])
def test_pad_of_any_geometry(mode: str) -> None:
    for case in range(60):
        rank = int(RANDOM.integers(1, 5))
        dims = RANDOM.integers(1, 6, rank)
        begin = RANDOM.integers(-2, 8, rank)
        end = RANDOM.integers(-2, 8, rank)
        # More must not be cut off than there is.
        end = np.maximum(end, -(dims + begin))
        x = RANDOM.integers(0, 100, dims).astype("float32" if case % 2 else "int8")
        expected = padded(x, begin.tolist(), end.tolist(), mode)
        value = np.array(7, x.dtype)
        y = run("Pad", x, np.concatenate([begin, end]), value, mode=mode)
        np.testing.assert_array_equal(y, expected)


def test_pad_keeps_no_table_of_indices() -> None:
    """Beside data of a byte, 8 bytes for each index of an axis were most of the memory."""
    import resource

    n = 60_000_000
    x = np.ones(n, np.int8)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    y = run("Pad", x, np.array([1, 1]), np.array(5, np.int8))
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert y[0] == y[-1] == 5 and y[1] == 1 and len(y) == n + 2
    assert grown < 4 * n / 1024, grown


# --- Classifiers with more coefficients than they need -------------------------------------------


def test_the_iris_model_of_onnxruntime() -> None:
    path = onnxruntime.datasets.get_example("logreg_iris.onnx")
    x = RANDOM.normal(size=(3, 2)).astype(np.float32) * 3
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    labels, scores = session.run(None, {"float_input": x})
    got_labels, got_scores = sardonyx.load(str(Path(path))).run({"float_input": x})
    np.testing.assert_array_equal(got_labels, labels)
    # ONNX Runtime's logistic function is off by 2e-4 of a small result.
    rows = {row.name: row for row in onnx.load(path).graph.node[0].attribute}
    weights = np.array(rows["coefficients"].floats)[:6].reshape(3, 2)
    odds = 1 / (1 + np.exp(-(x.astype(np.float64) @ weights.T + rows["intercepts"].floats)))
    exact = odds / odds.sum(1, keepdims=True)
    for got, theirs, row in zip(got_scores, scores, exact, strict=True):
        assert got.keys() == theirs.keys()
        np.testing.assert_allclose(list(got.values()), row, rtol=1e-6)
        np.testing.assert_allclose(list(theirs.values()), row, rtol=1e-3)
