"""Operators on tensors that are large enough for several tasks, of sizes that no block divides: the
results are those of NumPy or ONNX Runtime, and the same on one thread and on two."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sardonyx
from onnx import helper

from peers import ort_session

RANDOM = np.random.default_rng(11)


def normal(*dims: int) -> np.ndarray:
    """FLOAT of these dims."""
    return RANDOM.normal(size=dims).astype(np.float32)


def ints(*values: int) -> np.ndarray:
    """INT64[n]."""
    return np.array(values, np.int64)


def model_of(
    op: str, inputs: list[np.ndarray], outputs: int, version: int, attributes: dict[str, Any]
) -> tuple[bytes, dict[str, np.ndarray]]:
    """A model of one node, and what it is run on."""
    feeds = {f"x{i}": x for i, x in enumerate(inputs)}
    results = [f"y{i}" for i in range(outputs)]
    graph = helper.make_graph(
        [helper.make_node(op, list(feeds), results, **attributes)],
        "g",
        [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
            for name, x in feeds.items()
        ],
        [helper.make_empty_tensor_value_info(y) for y in results],
    )
    imports = [helper.make_opsetid("", version)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=10)
    return model.SerializeToString(), feeds


def run(
    op: str, inputs: list[np.ndarray], outputs: int = 1, version: int = 20, **attributes: Any
) -> list[np.ndarray]:
    """What one node makes, on any number of threads."""
    made, feeds = model_of(op, inputs, outputs, version, attributes)
    model = sardonyx.load(made)
    single = list(model.run(feeds, threads=1))
    for one, other in zip(single, model.run(feeds, threads=2), strict=True):
        np.testing.assert_array_equal(one, other)
    return single


def run_both(
    op: str, inputs: list[np.ndarray], outputs: int = 1, version: int = 20, **attributes: Any
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Ours, and ONNX Runtime's."""
    made, feeds = model_of(op, inputs, outputs, version, attributes)
    session = ort_session(made)
    return run(op, inputs, outputs, version, **attributes), session.run(None, feeds)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 100, 257])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int8, np.int64])
def test_rows_of_any_length(n: int, dtype: Any) -> None:
    x = (RANDOM.normal(size=(1037, n)) * 20).astype(dtype)
    axes = ints(1)
    np.testing.assert_array_equal(run("ReduceMax", [x, axes])[0], x.max(1, keepdims=True))
    np.testing.assert_array_equal(run("ReduceMin", [x, axes])[0], x.min(1, keepdims=True))
    exact = x.astype(np.float64 if x.dtype.kind == "f" else np.int64).sum(1, keepdims=True)
    if x.dtype.kind == "f":
        total = run("ReduceSum", [x, axes])[0]
        np.testing.assert_allclose(total, exact.astype(dtype), rtol=1e-3, atol=1e-2)
    elif x.dtype == np.int64:
        np.testing.assert_array_equal(run("ReduceSum", [x, axes])[0], exact)
    for select_last in (0, 1):
        place = run("ArgMax", [x], axis=1, keepdims=0, select_last_index=select_last)[0]
        expected = n - 1 - x[:, ::-1].argmax(1) if select_last else x.argmax(1)
        np.testing.assert_array_equal(place, expected)


@pytest.mark.parametrize("dims", [(3, 700, 5), (2, 5, 3001), (1500, 40)])
def test_places_of_extremes_along_columns(dims: tuple[int, ...]) -> None:
    x = RANDOM.integers(-9, 9, dims).astype(np.float32)
    np.testing.assert_array_equal(run("ArgMin", [x], axis=1, keepdims=0)[0], x.argmin(1))
    np.testing.assert_array_equal(run("CumSum", [x, np.array(1)])[0], x.cumsum(1))


@pytest.mark.parametrize("n", [1, 3, 8, 5000])
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int32])
def test_sums_along_rows(n: int, dtype: Any) -> None:
    x = RANDOM.integers(-3, 4, (1037 if n < 10 else 7, n)).astype(dtype)
    for reverse in (0, 1):
        rows = x[:, ::-1] if reverse else x
        for exclusive in (0, 1):
            sums = rows.astype(np.float64).cumsum(1) - (rows if exclusive else 0)
            made = run("CumSum", [x, np.array(1)], reverse=reverse, exclusive=exclusive)[0]
            np.testing.assert_array_equal(made, sums[:, ::-1] if reverse else sums)


@pytest.mark.parametrize("n", [2, 5, 8, 2100])
def test_nan_wins(n: int) -> None:
    x = normal(300, n)
    columns = RANDOM.integers(0, n, 300)
    x[np.arange(300), columns] = np.nan
    assert np.isnan(run("ReduceMax", [x, ints(1)])[0]).all()
    np.testing.assert_array_equal(run("ArgMax", [x], axis=1, keepdims=0)[0], columns)
    np.testing.assert_array_equal(run("ArgMin", [x], axis=1, keepdims=0)[0], columns)


@pytest.mark.parametrize("op", ["Softmax", "LogSoftmax"])
@pytest.mark.parametrize("n", [3, 16, 50, 1000])
def test_softmax(op: str, n: int) -> None:
    x = normal(999, n) * 10
    x[5, 0] = -np.inf
    wide = x.astype(np.float64)
    powers = np.exp(wide - wide.max(1, keepdims=True))
    sums = powers.sum(1, keepdims=True)
    expected = (
        powers / sums if op == "Softmax" else wide - wide.max(1, keepdims=True) - np.log(sums)
    )
    np.testing.assert_allclose(run(op, [x])[0], expected, rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.uint8, np.int64])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("k", [1, 7, 100, 301])
@pytest.mark.parametrize("largest", [0, 1])
def test_top_k(dtype: Any, axis: int, k: int, largest: int) -> None:
    x = RANDOM.integers(0, 50, (301, 301)).astype(dtype)
    if x.dtype.kind == "f":
        x[RANDOM.random(x.shape) < 0.01] = np.nan
        x[RANDOM.random(x.shape) < 0.05] = -0.0
        x[RANDOM.random(x.shape) < 0.05] = -np.inf
    values, places = run("TopK", [x, ints(k)], 2, axis=axis, largest=largest)
    # NaN is the greatest; equal values stand in the order of their places.
    ranks = np.unique(x + x.dtype.type(0), return_inverse=True)[1].reshape(x.shape)
    order = np.argsort(-ranks if largest else ranks, axis, kind="stable")
    expected = np.take(order, range(k), axis)
    np.testing.assert_array_equal(places, expected)
    np.testing.assert_array_equal(values, np.take_along_axis(x, expected, axis))


@pytest.mark.parametrize("op", ["MaxPool", "AveragePool", "LpPool"])
@pytest.mark.parametrize(
    ("dims", "kernel", "stride", "pad"),
    [
        ((1, 1, 40_001), (64,), 1, 3),
        ((1, 2, 50_000), (2,), 2, 0),
        ((1, 1, 90_000), (7,), 3, 0),
        ((1, 1, 120, 301), (20, 20), 1, 0),
    ],
)
def test_pools_of_large_planes(
    op: str, dims: tuple[int, ...], kernel: tuple[int, ...], stride: int, pad: int
) -> None:
    how = {"kernel_shape": kernel, "strides": [stride] * len(kernel), "pads": [pad, pad]}
    if len(kernel) == 2:
        del how["pads"]
    ours, theirs = run_both(op, [normal(*dims)], version=18, **how)
    np.testing.assert_allclose(ours[0], theirs[0], rtol=2e-5, atol=1e-6)


ORDERS = {
    "no order": lambda n: RANDOM.integers(-n, n, n),
    "the last first": lambda n: np.arange(n, 0, -1),
    "the first first": lambda n: np.arange(n),
    "few values": lambda n: RANDOM.integers(0, 3, n),
}


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.float64])
@pytest.mark.parametrize("order", ORDERS)
def test_top_k_of_one_line(order: str, dtype: Any) -> None:
    """The lengths and counts have different ways to choose and to sort."""
    for n, counts in (
        (200, (1, 7, 150, 200)),
        (3001, (1, 300, 800, 2999)),
        (700_000, (9, 140_000)),
    ):
        x = ORDERS[order](n).astype(dtype)
        for largest in (0, 1):
            expected = np.argsort(-x if largest else x, kind="stable")
            for k in counts:
                found, places = run("TopK", [x, ints(k)], 2, largest=largest)
                np.testing.assert_array_equal(places, expected[:k])
                np.testing.assert_array_equal(found, x[places])


@pytest.mark.parametrize("is_sorted", [0, 1])
@pytest.mark.parametrize("n", [90, 100_001])
def test_unique(n: int, is_sorted: int) -> None:
    x = RANDOM.integers(-n, n, n).astype(np.float32)
    values, first, inverse, counts = np.unique(x, True, True, True)
    found = run("Unique", [x], 4, sorted=is_sorted)
    by_place = np.argsort(first) if not is_sorted else np.arange(len(first))
    np.testing.assert_array_equal(found[0], values[by_place])
    np.testing.assert_array_equal(found[1], first[by_place])
    np.testing.assert_array_equal(found[0][found[2]], values[inverse])
    np.testing.assert_array_equal(found[3], counts[by_place])


@pytest.mark.parametrize("length", [1, 2, 3, 8, 100, 128, 997])
@pytest.mark.parametrize("inverse", [0, 1])
def test_dft(length: int, inverse: int) -> None:
    x = normal(60, length, 2)
    signal = x[..., 0].astype(np.complex128) + 1j * x[..., 1]
    expected = np.fft.ifft(signal, axis=1) if inverse else np.fft.fft(signal, axis=1)
    got = run("DFT", [x], inverse=inverse)[0]
    np.testing.assert_allclose(got[..., 0] + 1j * got[..., 1], expected, rtol=1e-5, atol=1e-4)


def test_stft() -> None:
    x = normal(2, 5000, 1)
    window = normal(100)
    got = run("STFT", [x, np.array(30), window, np.array(100)])[0]
    frames = np.lib.stride_tricks.sliding_window_view(x[..., 0], 100, 1)[:, ::30]
    expected = np.fft.rfft(frames.astype(np.float64) * window, axis=2)
    np.testing.assert_allclose(got[..., 0] + 1j * got[..., 1], expected, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("mode", ["linear", "nearest", "cubic"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
def test_grid_sample(mode: str, padding: str) -> None:
    x = normal(2, 5, 31, 29)
    # Beyond the border onnx.reference and we move the point of cubic sampling to the border first,
    # ONNX Runtime only its pixels.
    reach = 1 if (mode, padding) == ("cubic", "border") else 1.3
    grid = (RANDOM.random((2, 41, 37, 2)) * 2 * reach - reach).astype(np.float32)
    ours, theirs = run_both("GridSample", [x, grid], mode=mode, padding_mode=padding)
    np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-3, atol=2e-4)


@pytest.mark.parametrize("mode", ["avg", "max"])
@pytest.mark.parametrize("samples", [0, 2])
def test_roi_align(mode: str, samples: int) -> None:
    x = normal(2, 5, 40, 30)
    low = RANDOM.random((60, 2)) * 30 - 4
    regions = np.concatenate([low, low + RANDOM.random((60, 2)) * 20], 1).astype(np.float32)
    images = RANDOM.integers(0, 2, 60)
    size = {"output_height": 5, "output_width": 4, "sampling_ratio": samples, "mode": mode}
    ours, theirs = run_both("RoiAlign", [x, regions, images], **size)
    np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("rest", [(), (7, 5)])
def test_losses(reduction: str, rest: tuple[int, ...]) -> None:
    scores = normal(60, 301, *rest) * 3
    labels = RANDOM.integers(0, 301, (60, *rest))
    labels.flat[3] = -1
    options = {"reduction": reduction, "ignore_index": -1}
    inputs = [scores, labels, normal(301) ** 2]
    ours, theirs = run_both("SoftmaxCrossEntropyLoss", inputs, 2, **options)
    for got, want in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-5)
    ours, theirs = run_both("NegativeLogLikelihoodLoss", inputs, **options)
    np.testing.assert_allclose(ours[0], theirs[0], rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("causal", [0, 1])
@pytest.mark.parametrize("shown", [0, 1, 2, 3])
def test_attention(causal: int, shown: int) -> None:
    q, k, v = normal(2, 4, 150, 24), normal(2, 2, 170, 24), normal(2, 2, 170, 20)
    mask = RANDOM.random((150, 170)) < 0.7
    mask[3] = False
    options = {"is_causal": causal, "softcap": 2.0, "qk_matmul_output_mode": shown}
    got, _, _, scores = run("Attention", [q, k, v, mask], 4, 23, **options)
    keys, values = np.repeat(k, 2, 1).astype(float), np.repeat(v, 2, 1).astype(float)
    steps = [np.einsum("bhqd,bhkd->bhqk", q.astype(float), keys) / 24**0.5]
    steps.append(2 * np.tanh(steps[0] / 2))
    visible = mask & (np.tri(150, 170, dtype=bool) if causal else True)
    steps.append(np.where(visible, steps[1], -np.inf))
    powers = np.exp(steps[2] - steps[2].max(-1, keepdims=True, initial=-100))
    sums = powers.sum(-1, keepdims=True)
    steps.append(np.divide(powers, sums, out=np.zeros_like(powers), where=sums > 0))
    np.testing.assert_allclose(got, steps[3] @ values, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(scores, steps[shown], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("block", [0, 3, 16])
def test_quantization_along_an_axis(dtype: Any, axis: int, block: int) -> None:
    dims = (33, 40, 50)
    x = normal(*dims) * 3
    x[0, 0, :3] = np.nan, np.inf, -np.inf
    parts = -(-dims[axis] // block) if block else dims[axis]
    shape = tuple(parts if d == axis else n for d, n in enumerate(dims)) if block else (parts,)
    scale = (RANDOM.random(shape) + 0.01).astype(np.float32)
    zero = RANDOM.integers(0, 100, shape).astype(dtype)
    if block:
        full = [np.repeat(s, block, axis).take(range(dims[axis]), axis) for s in (scale, zero)]
    else:
        full = [s.reshape([-1 if d == axis else 1 for d in range(3)]) for s in (scale, zero)]
    options = {"axis": axis, "block_size": block}
    got = run("QuantizeLinear", [x, scale, zero], 1, 21, **options)[0]
    limits = np.iinfo(dtype)
    codes = np.clip(np.rint(x / full[0]) + full[1].astype(float), limits.min, limits.max)
    codes[np.isnan(codes)] = limits.min
    np.testing.assert_array_equal(got, codes.astype(dtype))
    back = run("DequantizeLinear", [got, scale, zero], 1, 21, **options)[0]
    expected = (got.astype(np.float32) - full[1].astype(np.float32)) * full[0]
    np.testing.assert_array_equal(back, expected)


def test_determinants() -> None:
    x = normal(700, 9, 9).astype(np.float64)
    np.testing.assert_allclose(run("Det", [x])[0], np.linalg.det(x), rtol=1e-9)


def test_boxes_that_overlap() -> None:
    corners = RANDOM.random((2, 300, 2)).astype(np.float32)
    boxes = np.concatenate([corners, corners + 0.2], 2)
    scores = RANDOM.integers(0, 40, (2, 3, 300)).astype(np.float32)
    limits = [ints(40), np.array([0.4], np.float32), np.array([2], np.float32)]
    ours, theirs = run_both("NonMaxSuppression", [boxes, scores, *limits])
    np.testing.assert_array_equal(ours[0], theirs[0])


@pytest.mark.parametrize("op", ["RandomNormalLike", "RandomUniformLike", "Bernoulli", "Dropout"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_random_numbers(op: str, dtype: Any) -> None:
    x = np.full((300, 301), 0.25, dtype)
    inputs = [x] if op != "Dropout" else [x, np.array(0.5, dtype), np.array(True)]
    got = run(op, inputs, seed=3 if op == "Dropout" else 3.0)[0]
    if op == "RandomNormalLike":
        assert abs(got.mean()) < 0.02
        assert abs(got.std() - 1) < 0.02
        # As many beyond two and three standard deviations as there should be.
        assert abs((np.abs(got) > 2).mean() - 0.0455) < 0.004
        assert abs((np.abs(got) > 3).mean() - 0.0027) < 0.001
    assert len(np.unique(got[:, 0])) > (1 if op in ("Bernoulli", "Dropout") else 250)
