"""Properties of the families that learning and text are made of: ai.onnx.ml, normalizations,
losses, attention, optimizers, random numbers, strings. Hypothesis chooses as in
test_properties.py, and ONNX Runtime, onnx.reference, NumPy or Python's `re` say what must come
out."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import onnx.reference
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.test_ml import MODES, check, forest, leaf_weights, model_of, onnxruntime_run, run
from eval.test_node_cases import Evaluator
from eval.test_properties import arrays, budget, ort, ours, reference, same

pytestmark = pytest.mark.filterwarnings("ignore")

EVALUATOR = Evaluator()
sizes = st.integers(1, 5)


def table(data: Any, columns: int, dtype: str = "float32") -> np.ndarray:
    """Rows of features; there may be none."""
    return data.draw(arrays((dtype,), (data.draw(st.integers(1, 5)), columns), special=False))


def numbers(data: Any, count: int) -> list[float]:
    values = data.draw(st.lists(st.floats(-4, 4, width=16), min_size=count, max_size=count))
    return [float(value) for value in values]


# --- ai.onnx.ml -----------------------------------------------------------------------------------


@budget
@given(data=st.data())
def test_features(data: Any) -> None:
    columns = data.draw(sizes)
    x = table(data, columns, data.draw(st.sampled_from(["float32", "float64", "int32", "int64"])))
    count = data.draw(st.sampled_from([1, columns]))
    check(EVALUATOR, "Scaler", [x], offset=numbers(data, count), scale=numbers(data, count))
    norm = data.draw(st.sampled_from(["L1", "L2"]))
    # ONNX Runtime takes the magnitude of the least integer to be negative.
    check(EVALUATOR, "Normalizer", [np.clip(x, -9, 9)], norm=norm)
    places = np.array(data.draw(st.lists(st.integers(0, columns - 1), min_size=1, max_size=6)))
    [got] = run(EVALUATOR, "ArrayFeatureExtractor", [x, places])
    np.testing.assert_array_equal(got, x[:, places])
    if x.dtype == np.float32:
        check(EVALUATOR, "Binarizer", [x], threshold=numbers(data, 1)[0])


@budget
@given(data=st.data())
def test_label_encoder(data: Any) -> None:
    keys = data.draw(st.lists(st.integers(-5, 5), min_size=1, max_size=6, unique=True))
    values = numbers(data, len(keys))
    x = data.draw(arrays(("int64",), special=False))
    got = run(
        EVALUATOR,
        "LabelEncoder",
        [x],
        keys_int64s=keys,
        values_floats=values,
        default_float=-1.5,
    )[0]
    known = dict(zip(keys, values, strict=True))
    expected = [known.get(int(key), -1.5) for key in x.reshape(-1)]
    same(got, np.array(expected, np.float32).reshape(x.shape))


@budget
@given(data=st.data())
def test_linear_models(data: Any) -> None:
    columns, targets = data.draw(sizes), data.draw(st.integers(2, 4))
    x = table(data, columns)
    attributes: dict[str, Any] = {"coefficients": numbers(data, columns * targets)}
    if data.draw(st.booleans()):
        attributes["intercepts"] = numbers(data, targets)
    transform = data.draw(st.sampled_from(["NONE", "SOFTMAX", "LOGISTIC"]))
    attributes["post_transform"] = transform
    check(EVALUATOR, "LinearRegressor", [x], targets=targets, **attributes)
    attributes.setdefault("intercepts", [0.0] * targets)
    labels = list(range(3, 3 + targets))
    got = run(EVALUATOR, "LinearClassifier", [x], 2, classlabels_ints=labels, **attributes)
    scores = x @ np.array(attributes["coefficients"], np.float32).reshape(targets, -1).T
    scores = scores + np.array(attributes["intercepts"], np.float32)
    chosen = np.take_along_axis(scores, got[0][:, None] - 3, axis=1)[:, 0]
    np.testing.assert_allclose(chosen, scores.max(axis=1), rtol=1e-5, atol=1e-5)


@budget
@given(data=st.data())
def test_trees(data: Any) -> None:
    columns, targets = 3, data.draw(st.integers(1, 3))
    modes = data.draw(st.lists(st.sampled_from(MODES), min_size=1, max_size=3))
    attributes, leaves = forest(data.draw(st.integers(1, 4)), modes)
    aggregate = data.draw(st.sampled_from(["SUM", "AVERAGE", "MIN", "MAX"]))
    x = table(data, columns)
    check(
        EVALUATOR,
        "TreeEnsembleRegressor",
        [x],
        n_targets=targets,
        aggregate_function=aggregate,
        **attributes,
        **leaf_weights("target", leaves, targets),
    )


@budget
@given(data=st.data())
def test_support_vectors(data: Any) -> None:
    columns, vectors = data.draw(sizes), data.draw(sizes)
    x = table(data, columns)
    kernel, gamma = data.draw(
        st.sampled_from([("LINEAR", [0.0, 0.0, 0.0]), ("RBF", [0.3, 0.0, 0.0])])
    )
    coefficients = numbers(data, vectors)
    supports = numbers(data, vectors * columns)
    rho = numbers(data, 1)
    model, named = model_of(
        "SVMRegressor",
        [x],
        coefficients=coefficients,
        support_vectors=supports,
        rho=rho,
        n_supports=vectors,
        kernel_type=kernel,
        kernel_params=gamma,
    )
    wide, points = x.astype(np.float64), np.array(supports, np.float32).reshape(vectors, columns)
    if kernel == "LINEAR":
        products, sizes_of = wide @ points.T, np.abs(wide) @ np.abs(points).T
    else:
        powers = np.float64(np.float32(0.3)) * ((wide[:, None] - points[None]) ** 2).sum(2)
        products, sizes_of = np.exp(-powers), (1 + powers) * np.exp(-powers)
    weights = np.array(coefficients, np.float32).astype(np.float64)
    exact = (products @ weights + np.float32(rho[0]))[:, None]
    # Terms that cancel leave their rounding behind, in ONNX Runtime that of float32.
    rounding = (sizes_of @ np.abs(weights) + abs(rho[0]))[:, None] * 2.0**-24
    for got, steps in (
        (EVALUATOR.run(model, named)[0], 4),
        (onnxruntime_run(model, named)[0], 4 * (vectors + columns)),
    ):
        assert got.dtype == np.float32 and got.shape == exact.shape
        assert (np.abs(got - exact) <= steps * rounding + 1e-30).all(), (got, exact)


# --- Normalizations and losses --------------------------------------------------------------------


def with_channels(data: Any) -> np.ndarray:
    """float32[N, C, ...]."""
    rank = data.draw(st.integers(3, 4))
    dims = tuple(data.draw(st.integers(1, 4)) for _ in range(rank))
    return data.draw(arrays(("float32",), dims, special=False))


def by_channel(data: Any, channels: int, positive: bool = False) -> np.ndarray:
    values = data.draw(arrays(("float32",), (channels,), special=False))
    return np.abs(values) + np.float32(0.5) if positive else values


@budget
@given(data=st.data())
def test_normalizations_of_channels(data: Any) -> None:
    x = with_channels(data)
    channels = x.shape[1]
    scale, bias = by_channel(data, channels), by_channel(data, channels)
    mean, variance = by_channel(data, channels), by_channel(data, channels, positive=True)
    statistics = [x, scale, bias, mean, variance]
    close(ours("BatchNormalization", statistics), reference("BatchNormalization", statistics))
    # Where all numbers of a row are equal, the quotient is one of rounding errors.
    epsilon = {"epsilon": 0.5}
    rows = [x, scale, bias]
    close(
        ours("InstanceNormalization", rows, **epsilon),
        reference("InstanceNormalization", rows, **epsilon),
    )
    groups = data.draw(st.sampled_from([g for g in range(1, channels + 1) if channels % g == 0]))
    more = {"num_groups": groups, **epsilon}
    close(ours("GroupNormalization", rows, **more), reference("GroupNormalization", rows, **more))
    size = data.draw(st.sampled_from([1, 3, 5]))
    if x.ndim == 4:
        close(ours("LRN", [x], size=size), ort("LRN", [x], size=size))


def close(got: np.ndarray, expected: np.ndarray) -> None:
    assert got.dtype == expected.dtype
    assert got.shape == expected.shape
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-4)


@budget
@given(data=st.data())
def test_losses(data: Any) -> None:
    x = with_channels(data)
    dims = (x.shape[0], *x.shape[2:])
    labels = data.draw(arrays(("int64",), dims, special=False))
    labels = np.abs(labels) % x.shape[1]
    inputs = [x, labels]
    if data.draw(st.booleans()):
        inputs.append(by_channel(data, x.shape[1], positive=True))
    reduction = data.draw(st.sampled_from(["none", "mean", "sum"]))
    for op in ("SoftmaxCrossEntropyLoss", "NegativeLogLikelihoodLoss"):
        got = ours(op, inputs, reduction=reduction)
        close(got, np.asarray(reference(op, inputs, reduction=reduction)))


# --- Attention ------------------------------------------------------------------------------------


@budget
@given(data=st.data())
def test_attention(data: Any) -> None:
    batch, heads, groups = data.draw(st.integers(1, 2)), data.draw(sizes), data.draw(sizes)
    queries, keys, size = data.draw(sizes), data.draw(sizes), 2 * data.draw(st.integers(1, 3))

    def stack(*dims: int) -> np.ndarray:
        return data.draw(arrays(("float32",), dims, special=False))

    q = stack(batch, heads * groups, queries, size)
    inputs = [q, stack(batch, heads, keys, size), stack(batch, heads, keys, size)]
    more: dict[str, Any] = {"is_causal": int(data.draw(st.booleans()))}
    if data.draw(st.booleans()):
        more["softcap"] = 2.0
    if data.draw(st.booleans()):
        inputs.append(stack(queries, keys))
    got = ours("Attention", inputs, opset=23, **more)
    close(got, reference("Attention", inputs, opset=23, **more))


# --- Training -------------------------------------------------------------------------------------


@budget
@given(data=st.data())
def test_optimizers(data: Any) -> None:
    dims = data.draw(st.sampled_from([(), (3,), (2, 4), (0, 2)]))
    x, g, first, second = (data.draw(arrays(("float32",), dims, special=False)) for _ in range(4))
    step = np.array(data.draw(st.integers(0, 9)), np.int64)
    rate = np.array(0.1, np.float32)
    domain = "ai.onnx.preview.training"
    cases = {
        "Momentum": ([x, g, first], {"alpha": 0.9, "beta": 0.5, "mode": "standard"}),
        "Adagrad": ([x, g, np.abs(first)], {"epsilon": 1e-3, "decay_factor": 0.1}),
        "Adam": ([x, g, first, np.abs(second)], {"alpha": 0.9, "beta": 0.8, "epsilon": 1e-3}),
    }
    for op, (tensors, more) in cases.items():
        if op == "Momentum":
            more["norm_coefficient"] = 0.01
        inputs = [rate, step, *tensors]
        model, named = model_of(op, inputs, len(tensors) - 1, 1, domain, **more)
        expected = onnx.reference.ReferenceEvaluator(model).run(None, named)
        for got, want in zip(EVALUATOR.run(model, named), expected, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


# --- Random numbers -------------------------------------------------------------------------------


@budget
@given(data=st.data())
def test_random_numbers(data: Any) -> None:
    """Of the type and shape that is asked for, within the range, and the same for the same seed."""
    dims = data.draw(st.lists(st.integers(0, 4), min_size=1, max_size=3))
    kind, dtype = data.draw(st.sampled_from([(1, "float32"), (11, "float64"), (10, "float16")]))
    seed = float(data.draw(st.integers(0, 1000)))
    uniform = {"dtype": kind, "low": -1.0, "high": 2.0, "seed": seed}
    got = ours("RandomUniform", [], shape=dims, **uniform)
    assert got.dtype == dtype
    assert got.shape == tuple(dims)
    assert ((got >= -1) & (got <= 2)).all()
    np.testing.assert_array_equal(got, ours("RandomUniform", [], shape=dims, **uniform))
    same(ours("RandomUniformLike", [got], **uniform), got)
    normal = ours("RandomNormal", [], shape=dims, dtype=kind, seed=seed)
    assert normal.shape == got.shape
    assert np.isfinite(normal).all()
    chances = np.abs(got.astype(np.float32)) / 2
    drawn = ours("Bernoulli", [chances], seed=seed)
    assert set(np.unique(drawn)) <= {0.0, 1.0}
    assert not drawn[chances == 0].any()


# --- Strings --------------------------------------------------------------------------------------

words = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), max_size=6)


@budget
@given(data=st.data())
def test_strings(data: Any) -> None:
    count = data.draw(st.integers(0, 4))
    texts = [data.draw(st.lists(words, min_size=count, max_size=count)) for _ in range(2)]
    left, right = (np.array(list(text), object) for text in texts)
    got = ours("StringConcat", [left, right])
    assert got.tolist() == [a + b for a, b in zip(*texts, strict=True)]
    parts, counts = ours("StringSplit", [left], outputs=2, delimiter="a")
    expected = [text.split("a") for text in texts[0]]
    assert counts.tolist() == [len(part) for part in expected]
    width = max((len(part) for part in expected), default=0)
    padded = [part + [""] * (width - len(part)) for part in expected]
    assert parts.tolist() == padded or parts.size == 0


@st.composite
def patterns(draw: Any, depth: int = 2) -> str:
    """Of what RE2 and Python's `re` mean alike."""
    atom = draw(st.sampled_from(["a", "b", "é", ".", "[ab]", "[^a]", r"\d", "(?:ab)", "", "a|b"]))
    if depth == 0:
        return f"(?:{atom})"
    left, right = draw(patterns(depth - 1)), draw(patterns(depth - 1))
    suffix = draw(st.sampled_from(["", "*", "+", "?", "{1,2}"]))
    return f"(?:{left}{right}){suffix}"


@budget
@given(pattern=patterns(), texts=st.lists(st.text("abé1", max_size=6), max_size=6))
def test_regular_expressions(pattern: str, texts: list[str]) -> None:
    got = ours("RegexFullMatch", [np.array(texts, object)], pattern=pattern)
    # RE2's digits are those of ASCII.
    expected = [re.fullmatch(pattern, text, re.ASCII) is not None for text in texts]
    assert got.tolist() == expected
