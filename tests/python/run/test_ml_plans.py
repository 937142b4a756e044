"""Operators of ai.onnx.ml keep what they make of their attributes for the next run of a plan: later
runs give the bytes of the first, and every sum has the order that the standard's formula has."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import onnx
import onnx.helper
import pytest
import sardonyx

from eval.test_ml import ML, forest, leaf_weights

VECTORS = {"kernel_type": "LINEAR", "kernel_params": [0.0, 0.0, 0.0]}


def model_of(op: str, dtype: Any, outputs: int = 1, opset: int = 3, **attributes: Any) -> bytes:
    """A model of one node, whose input has a type and no shape."""
    names = [f"y{i}" for i in range(outputs)]
    node = onnx.helper.make_node(op, ["x"], names, domain=ML, **attributes)
    element = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    graph = onnx.helper.make_graph(
        [node],
        "g",
        [onnx.helper.make_tensor_value_info("x", element, None)],
        [onnx.helper.make_empty_tensor_value_info(name) for name in names],
    )
    imports = [onnx.helper.make_opsetid("", 18), onnx.helper.make_opsetid(ML, opset)]
    return onnx.helper.make_model(graph, opset_imports=imports, ir_version=8).SerializeToString()


def numbers(*dims: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, 1, dims).astype(np.float32)


def listed(*dims: int, seed: int = 0) -> list[float]:
    return [float(x) for x in numbers(*dims, seed=seed).reshape(-1)]


def cases() -> dict[str, tuple[bytes, list[np.ndarray]]]:
    """A model, and inputs for runs one after the other."""
    rows = [numbers(n, 3, seed=n) for n in (1, 9, 100, 1)]
    nodes, leaves = forest(11, ["BRANCH_LEQ"])
    mixed, _ = forest(11, ["BRANCH_LEQ", "BRANCH_GT", "BRANCH_NEQ"])
    words = [np.array(list(text), object) for text in ("abz", "c", "zz")]
    ints = [np.array([2, 1, 7]), np.array([[1]]), np.array([], np.int64)]
    linear = {"coefficients": listed(9), "intercepts": listed(3)}
    svm = {"support_vectors": listed(12, 3), "rho": listed(3), **VECTORS}
    classes = {"classlabels_ints": [4, 5, 6]}
    trees = {
        "TreeEnsembleRegressor": (
            rows,
            {**nodes, **leaf_weights("target", leaves, 2), "n_targets": 2},
        ),
        "TreeEnsembleClassifier": (
            rows,
            {**mixed, **leaf_weights("class", leaves, 3), "classlabels_int64s": [1, 2, 3]},
        ),
    }
    others = {
        "LinearRegressor": (rows, {**linear, "targets": 3}),
        "LinearClassifier": (rows, {**linear, **classes}),
        "SVMRegressor": (rows, {**svm, "coefficients": listed(12), "n_supports": 12}),
        "SVMClassifier": (
            rows,
            {**svm, **classes, "coefficients": listed(24), "vectors_per_class": [3, 4, 5]},
        ),
        "LabelEncoder": (words, {"keys_strings": ["a", "b"], "values_int64s": [7, 8]}),
        "CategoryMapper": (ints, {"cats_strings": ["a", "b"], "cats_int64s": [1, 2]}),
        "OneHotEncoder": (words, {"cats_strings": ["a", "b", "c"], "zeros": 1}),
        "Scaler": (rows, {"offset": listed(3), "scale": listed(3, seed=1)}),
        "Imputer": (rows, {"imputed_value_floats": listed(3), "replaced_value_float": 0.5}),
    }
    return {
        op: (model_of(op, inputs[0].dtype, 2 if "Classifier" in op else 1, **attributes), inputs)
        for op, (inputs, attributes) in {**trees, **others}.items()
    }


CASES = cases()


@pytest.mark.parametrize("op", CASES)
def test_later_runs_give_what_a_first_run_gives(op: str) -> None:
    model, inputs = CASES[op]
    kept = sardonyx.load(model)
    for x in inputs:
        fresh = sardonyx.load(model).run({"x": x})
        for got, expected in zip(kept.run({"x": x}), fresh, strict=True):
            assert got.dtype == expected.dtype and got.shape == expected.shape
            assert got.tolist() == expected.tolist()


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
@pytest.mark.parametrize("aggregate", ["SUM", "AVERAGE", "MIN", "MAX"])
@pytest.mark.parametrize(("trees", "rows"), [(19, 70), (19, 5), (1, 67), (1, 8), (10, 9), (8, 8)])
def test_trees_are_summed_in_their_order(dtype: str, aggregate: str, trees: int, rows: int) -> None:
    """Bit for bit, by walks in Python: eight trees at once, or eight rows."""
    nodes, leaves = forest(trees, ["BRANCH_LEQ"])
    weights = leaf_weights("target", leaves, 1)
    x = (numbers(rows, 3) * 2).astype(dtype)
    if dtype != "int64":
        x[3, 1] = np.nan
    model = model_of(
        "TreeEnsembleRegressor", dtype, aggregate_function=aggregate, **nodes, **weights
    )
    at = dict(zip(zip(weights["target_treeids"], weights["target_nodeids"], strict=True),
                  weights["target_weights"], strict=True))  # fmt: skip

    def score(row: np.ndarray) -> np.float32:
        found = []
        for tree in range(trees):
            node = 0
            while node < 3:
                i = tree * 7 + node
                value = float(row[nodes["nodes_featureids"][i]])
                goes = value <= nodes["nodes_values"][i]
                missing = np.isnan(value) and nodes["nodes_missing_value_tracks_true"][i]
                node = 2 * node + (1 if goes or missing else 2)
            found.append(at[tree, node])
        total = 0.0
        for weight in found:
            total += weight
        results = {"SUM": total, "AVERAGE": total / trees, "MIN": min(found), "MAX": max(found)}
        return np.float32(results[aggregate])

    got = sardonyx.load(model).run({"x": x})[0]
    assert got[:, 0].tolist() == [score(row) for row in x]


def test_linear_sums_keep_the_order_of_the_features() -> None:
    """Bit for bit, by sums in Python."""
    x, weights, start = numbers(21, 3).astype("float64"), listed(6), listed(2, seed=4)
    model = model_of(
        "LinearRegressor", "float64", coefficients=weights, intercepts=start, targets=2
    )
    got = sardonyx.load(model).run({"x": x})[0]
    for row, scores in zip(x, got, strict=True):
        for t in range(2):
            total = 0.0
            for i in range(3):
                total += float(row[i]) * weights[3 * t + i]
            assert scores[t] == np.float32(total + start[t])


@pytest.mark.parametrize(
    ("kernel", "dtype"),
    [("LINEAR", "float32"), ("RBF", "float32")]
    + [(kernel, "float64") for kernel in ("LINEAR", "POLY", "RBF", "SIGMOID")],
)
def test_support_vectors_keep_the_order_of_their_sums(kernel: str, dtype: str) -> None:
    """Bit for bit, by sums and functions of Python's math."""
    x = numbers(13, 5).astype(dtype) / 3
    vectors, weights = numbers(7, 5, seed=1), listed(7, seed=2)
    gamma, coef, degree = (float(np.float32(p)) for p in (0.3, 0.5, 3))
    model = model_of("SVMRegressor", dtype, kernel_type=kernel, kernel_params=[gamma, coef, degree],
                     support_vectors=[float(v) for v in vectors.reshape(-1)], rho=[0.25],
                     coefficients=weights, n_supports=7)  # fmt: skip

    def value(row: np.ndarray, point: np.ndarray) -> float:
        total = 0.0
        for a, b in zip(row.tolist(), point.tolist(), strict=True):
            total += (a - b) * (a - b) if kernel == "RBF" else a * b
        functions = {
            "LINEAR": lambda: total,
            "POLY": lambda: math.pow(gamma * total + coef, degree),
            "RBF": lambda: math.exp(-gamma * total),
            "SIGMOID": lambda: math.tanh(gamma * total + coef),
        }
        return functions[kernel]()

    got = sardonyx.load(model).run({"x": x})[0]
    for row, score in zip(x, got[:, 0], strict=True):
        total = 0.0
        for weight, point in zip(weights, vectors, strict=True):
            total += weight * value(row, point)
        assert score == np.float32(total + 0.25)


@pytest.mark.parametrize("columns", [3, 30, 500])
@pytest.mark.parametrize("kernel", ["LINEAR", "POLY", "SIGMOID"])
def test_kernels_of_float_rows_are_precise_as_floats(kernel: str, columns: int) -> None:
    """Their errors stay small beside the sum of all magnitudes."""
    x, vectors = numbers(70, columns), numbers(20, columns, seed=1)
    weights = numbers(20, seed=2)
    gamma, coef = float(np.float32(1 / columns)), float(np.float32(0.1))
    model = model_of("SVMRegressor", "float32", kernel_type=kernel, kernel_params=[gamma, coef, 3],
                     support_vectors=vectors.ravel().tolist(), rho=[0.25],
                     coefficients=weights.tolist(), n_supports=20)  # fmt: skip
    products = x.astype("float64") @ vectors.T.astype("float64")
    changed = gamma * products + coef
    kernels = {"LINEAR": products, "POLY": changed**3, "SIGMOID": np.tanh(changed)}[kernel]
    got = sardonyx.load(model).run({"x": x})[0][:, 0]
    limit = 5e-7 * (np.abs(kernels) @ np.abs(weights)).max()
    assert np.abs(got - (kernels @ weights + 0.25)).max() < limit


@pytest.mark.parametrize("columns", [3, 30, 500])
def test_linear_sums_of_float_rows_are_precise_as_floats(columns: int) -> None:
    x, weights = numbers(70, columns), numbers(3, columns, seed=1)
    model = model_of("LinearRegressor", "float32", coefficients=weights.ravel().tolist(), targets=3)
    got = sardonyx.load(model).run({"x": x})[0]
    expected = x.astype("float64") @ weights.T.astype("float64")
    assert np.abs(got - expected).max() < 5e-7 * (np.abs(x) @ np.abs(weights.T)).max()


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
@pytest.mark.parametrize("norm", ["MAX", "L1", "L2"])
def test_norms_keep_the_order_of_their_sums(norm: str, dtype: str) -> None:
    """Bit for bit, by sums in Python."""
    x = (numbers(11, 7) * 5).astype(dtype)
    x[4] = 0
    got = sardonyx.load(model_of("Normalizer", dtype, norm=norm)).run({"x": x})[0]
    for row, result in zip(x.astype(np.float64).tolist(), got, strict=True):
        size = max(row) if norm == "MAX" else 0.0
        for value in row:
            size += {"MAX": 0.0, "L1": abs(value), "L2": value * value}[norm]
        size = math.sqrt(size) if norm == "L2" else size
        assert result.tolist() == [np.float32(v if size == 0 else v / size) for v in row]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kernel", ["LINEAR", "POLY", "RBF", "SIGMOID", "none"])
def test_many_rows_have_the_bits_of_each_alone(kernel: str, dtype: str) -> None:
    x = numbers(101, 6).astype(dtype) / 3
    vectors = {"support_vectors": listed(54, seed=1), "kernel_params": [0.3, 0.5, 3.0]}
    vectors |= {"kernel_type": kernel, "rho": [0.25]}
    labels = {"classlabels_ints": [3, 4, 5]}
    linear = {"coefficients": listed(18), "intercepts": listed(3)}
    classes = {"vectors_per_class": [2, 3, 4], "coefficients": listed(18), "rho": [0.1, 0.2, 0.3]}
    models = {
        "SVMRegressor": vectors | {"coefficients": listed(9, seed=2), "n_supports": 9},
        "SVMClassifier": vectors | classes | labels,
    }
    if kernel == "none":
        models = {
            "LinearRegressor": linear | {"targets": 3},
            "LinearClassifier": linear | labels,
            "Normalizer": {"norm": "L2"},
        }
    for op, attributes in models.items():
        model = sardonyx.load(model_of(op, dtype, **attributes))
        all_rows = model.run({"x": x})[-1]
        each = [model.run({"x": x[i : i + 1]})[-1] for i in range(len(x))]
        np.testing.assert_array_equal(all_rows, np.concatenate(each), err_msg=op)


def test_the_greatest_number_of_a_row_with_nan() -> None:
    """Where it is the first there is no norm; elsewhere it is passed over."""
    x = np.abs(numbers(21, 19)) + 1
    for i in range(19):
        x[i, i] = np.nan
    got = sardonyx.load(model_of("Normalizer", "float32", norm="MAX")).run({"x": x})[0]
    assert np.isnan(got[0]).all()
    expected = x[1:] / np.nanmax(x[1:], axis=1, keepdims=True)
    np.testing.assert_array_equal(got[1:], expected.astype(np.float32))


@pytest.mark.parametrize("kernel", ["POLY", "SIGMOID"])
def test_kernels_far_out(kernel: str) -> None:
    """Powers of 0 and 8, half powers, and the ends of tanh."""
    x = np.array([[0], [1e-30], [-1e-30], [1e-3], [-0.3], [5], [-19.9], [20.1], [1e30], [-1e30]])
    for degree in (0.0, 1.0, 2.0, 8.0, 9.0):
        model = model_of("SVMRegressor", "float64", kernel_type=kernel, support_vectors=[1.0],
                         kernel_params=[1.0, 0.0, degree], rho=[0.0], coefficients=[1.0],
                         n_supports=1)  # fmt: skip
        got = sardonyx.load(model).run({"x": np.tile(x, (9, 1))})[0][: len(x)]
        with np.errstate(over="ignore"):
            expected = (np.tanh(x) if kernel == "SIGMOID" else x**degree).astype(np.float32)
        np.testing.assert_array_equal(got, expected)


def test_fewer_features_than_the_trees_ask_for() -> None:
    nodes, leaves = forest(3, ["BRANCH_LEQ"])
    model = sardonyx.load(
        model_of("TreeEnsembleRegressor", "float32", **nodes, **leaf_weights("target", leaves, 1))
    )
    assert model.run({"x": numbers(2, 3)})[0].shape == (2, 1)
    for _ in range(2):
        with pytest.raises(sardonyx.EvalError, match=r"asks for feature \d of 1"):
            model.run({"x": numbers(2, 1)})
    assert model.run({"x": numbers(2, 3)})[0].shape == (2, 1)


def test_parameters_of_a_function_are_not_kept() -> None:
    """Two calls of a function with other attributes run the same node."""
    node = onnx.helper.make_node("LabelEncoder", ["x"], ["y"], domain=ML, keys_int64s=[1])
    for name, kind in (("values_int64s", onnx.AttributeProto.INTS),
                       ("default_int64", onnx.AttributeProto.INT)):  # fmt: skip
        node.attribute.add(name=name, ref_attr_name=name, type=kind)
    imports = [onnx.helper.make_opsetid("", 18), onnx.helper.make_opsetid(ML, 2)]
    imports.append(onnx.helper.make_opsetid("own", 1))
    function = onnx.helper.make_function(
        "own", "encode", ["x"], ["y"], [node], imports, ["values_int64s", "default_int64"]
    )
    calls = [
        onnx.helper.make_node(
            "encode", ["x"], [f"y{i}"], domain="own", values_int64s=[10 * i], default_int64=-i
        )
        for i in (1, 2)
    ]
    graph = onnx.helper.make_graph(
        calls,
        "g",
        [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.INT64, [None])],
        [onnx.helper.make_empty_tensor_value_info(f"y{i}") for i in (1, 2)],
    )
    model = sardonyx.load(
        onnx.helper.make_model(
            graph, opset_imports=imports, functions=[function], ir_version=8
        ).SerializeToString()
    )
    for _ in range(2):
        one, two = model.run({"x": np.array([1, 5])})
        assert one.tolist() == [10, -1] and two.tolist() == [20, -2]
