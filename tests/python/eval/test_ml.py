"""Operators of classical machine learning, text, attention and training that the node cases leave
out, against ONNX Runtime, onnx.reference and NumPy."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

import numpy as np
import onnx
import onnx.helper
import onnx.numpy_helper
import pytest

from eval.test_node_cases import Evaluator, onnxruntime_run

ML = "ai.onnx.ml"
# What ONNX Runtime 1.x knows; older definitions stay in force under it.
ML_OPSET = 3

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def evaluator() -> Evaluator:
    return Evaluator()


def model_of(
    op: str,
    inputs: list[np.ndarray],
    outputs: int = 1,
    opset: int = ML_OPSET,
    domain: str = ML,
    **attributes: Any,
) -> tuple[onnx.ModelProto, dict[str, np.ndarray]]:
    names = [f"x{i}" for i in range(len(inputs))]
    node = onnx.helper.make_node(
        op, names, [f"y{i}" for i in range(outputs)], domain=domain, **attributes
    )
    infos = [
        onnx.helper.make_tensor_value_info(
            name, onnx.helper.np_dtype_to_tensor_dtype(value.dtype), value.shape
        )
        for name, value in zip(names, inputs, strict=True)
    ]
    results = [onnx.helper.make_empty_tensor_value_info(name) for name in node.output]
    graph = onnx.helper.make_graph([node], "g", infos, results)
    imports = [onnx.helper.make_opsetid(domain, opset)]
    if domain:
        imports.append(onnx.helper.make_opsetid("", 18))
    model = onnx.helper.make_model(graph, opset_imports=imports, ir_version=8)
    return model, dict(zip(names, inputs, strict=True))


def run(evaluator: Evaluator, op: str, inputs: list[Any], *more: Any, **attributes: Any) -> Any:
    model, named = model_of(op, inputs, *more, **attributes)
    return evaluator.run(model, named)


def check(
    evaluator: Evaluator, op: str, inputs: list[Any], outputs: int = 1, **attributes: Any
) -> None:
    """Ours and ONNX Runtime's agree."""
    model, named = model_of(op, inputs, outputs, **attributes)
    expected = onnxruntime_run(model, named)
    got = evaluator.run(model, named)
    for ours, theirs in zip(got, expected, strict=True):
        theirs = np.asarray(theirs)
        assert ours.shape == theirs.shape, (op, attributes, ours, theirs)
        if theirs.dtype.kind in "OU":
            assert ours.astype(str).tolist() == theirs.astype(str).tolist(), (op, attributes)
        else:
            assert ours.dtype == theirs.dtype
            np.testing.assert_allclose(
                ours, theirs, rtol=1e-5, atol=1e-6, err_msg=f"{op} {attributes}"
            )


def features(rows: int = 7, columns: int = 3, dtype: str = "float32") -> np.ndarray:
    rng = np.random.default_rng(rows * columns)
    return rng.normal(0, 2, (rows, columns)).astype(dtype)


TRANSFORMS = ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
def test_feature_operators(evaluator: Evaluator, dtype: str) -> None:
    x = features(dtype=dtype)
    x[1] = 0
    check(evaluator, "Scaler", [x], offset=[1.0, 2.0, 3.0], scale=[0.5, 2.0, -1.0])
    check(evaluator, "Scaler", [x], offset=[1.0], scale=[0.5])
    for norm in ("MAX", "L1", "L2"):
        check(evaluator, "Normalizer", [np.abs(x) if norm == "MAX" else x], norm=norm)
    check(evaluator, "FeatureVectorizer", [x, x[:, :2]], inputdimensions=[3, 2])
    if dtype == "float32":
        check(evaluator, "Binarizer", [x], threshold=0.5)
    indices = np.array([[2, 0, 2]])
    assert np.array_equal(run(evaluator, "ArrayFeatureExtractor", [x, indices])[0], x[:, [2, 0, 2]])
    assert np.array_equal(
        run(evaluator, "ArrayFeatureExtractor", [x[0], indices])[0], x[:1, [2, 0, 2]]
    )
    assert np.array_equal(
        run(evaluator, "Binarizer", [x], threshold=0.5)[0], (x > 0.5).astype(dtype)
    )
    if dtype.startswith("float"):
        x[2, 1] = np.nan
        filled = run(
            evaluator,
            "Imputer",
            [x],
            imputed_value_floats=[7.0, 8.0, 9.0],
            replaced_value_float=float("nan"),
        )[0]
        assert np.array_equal(filled, np.where(np.isnan(x), np.array([7, 8, 9], dtype), x))
    else:
        filled = run(evaluator, "Imputer", [x], imputed_value_int64s=[5], replaced_value_int64=0)[0]
        assert np.array_equal(filled, np.where(x == 0, 5, x))


def test_feature_vectorizer_cuts_and_fills(evaluator: Evaluator) -> None:
    x = features(2, 3)
    got = run(evaluator, "FeatureVectorizer", [x, x[:, :1]], inputdimensions=[2, 3])[0]
    expected = np.concatenate([x[:, :2], x[:, :1], np.zeros((2, 2))], axis=1)
    assert np.array_equal(got, expected.astype("float32"))


def test_one_hot_encoder(evaluator: Evaluator) -> None:
    texts = np.array([["a", "c"], ["b", "z"]], dtype=object)
    check(evaluator, "OneHotEncoder", [texts], cats_strings=["a", "b", "c"])
    check(evaluator, "OneHotEncoder", [np.array([3, 1, 7])], cats_int64s=[1, 3])
    check(evaluator, "OneHotEncoder", [np.array([3, 1, 7], "float32")], cats_int64s=[1, 3])
    with pytest.raises(RuntimeError, match="of no category"):
        run(evaluator, "OneHotEncoder", [np.array([3, 1, 7])], cats_int64s=[1, 3], zeros=0)


def test_category_mapper_and_label_encoder(evaluator: Evaluator) -> None:
    texts = np.array(["b", "z", "a"], dtype=object)
    numbers = np.array([[20, 7], [10, 10]])
    both = {"cats_strings": ["a", "b"], "cats_int64s": [10, 20]}
    check(evaluator, "CategoryMapper", [texts], **both, default_int64=-5)
    check(evaluator, "CategoryMapper", [numbers], **both, default_string="?")
    classes = {"classes_strings": ["a", "b"]}
    check(evaluator, "LabelEncoder", [texts], opset=1, **classes)
    check(evaluator, "LabelEncoder", [np.array([1, 9, 0])], opset=1, **classes)
    strings, ints, floats = ["a", "b"], [4, 5], [0.5, 1.5]
    check(evaluator, "LabelEncoder", [texts], opset=2, keys_strings=strings, values_int64s=ints)
    check(
        evaluator,
        "LabelEncoder",
        [np.array([4, 5, 6])],
        opset=2,
        keys_int64s=ints,
        values_floats=floats,
        default_float=-2.5,
    )
    got = run(
        evaluator,
        "LabelEncoder",
        [np.array([np.nan, 1.5, 9], "float32")],
        opset=4,
        keys_floats=[float("nan"), 1.5],
        values_strings=["nan", "b"],
    )[0]
    assert got.tolist() == ["nan", "b", "_Unused"]
    tensor = onnx.numpy_helper.from_array
    got = run(
        evaluator,
        "LabelEncoder",
        [np.array([[3, 1], [2, 3]], "int16")],
        opset=4,
        keys_tensor=tensor(np.array([1, 3, 3], "int16")),
        values_tensor=tensor(np.array([0.25, 0.5, 0.75])),
        default_tensor=tensor(np.array([-1.0])),
    )[0]
    assert got.dtype == np.float64 and got.tolist() == [[0.75, 0.25], [-1.0, 0.75]]


@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_linear_models(evaluator: Evaluator, dtype: str) -> None:
    x = features(dtype=dtype)
    weights = [float(w) for w in features(3, 3).reshape(-1)]
    for transform in ("NONE", "SOFTMAX", "LOGISTIC"):
        more = {"post_transform": transform}
        check(evaluator, "LinearRegressor", [features()], coefficients=weights[:3], targets=1)
        check(
            evaluator,
            "LinearRegressor",
            [features()],
            coefficients=weights,
            intercepts=[0.1, 0.2, 0.3],
            targets=3,
            **more,
        )
        check(
            evaluator,
            "LinearClassifier",
            [x],
            2,
            coefficients=weights,
            intercepts=[0.1, 0.2, 0.3],
            classlabels_strings=["a", "b", "c"],
            **more,
        )
        check(
            evaluator,
            "LinearClassifier",
            [x],
            2,
            coefficients=weights[:6],
            intercepts=[0.1, 0.2],
            classlabels_ints=[5, 7],
            **more,
        )
    for transform in TRANSFORMS:
        check(
            evaluator,
            "LinearClassifier",
            [x],
            2,
            coefficients=weights[:3],
            intercepts=[0.1],
            classlabels_ints=[5, 7],
            post_transform=transform,
        )


KERNELS = [
    ("LINEAR", [0.0, 0.0, 0.0]),
    ("POLY", [0.5, 1.0, 2.0]),
    ("RBF", [0.3, 0.0, 0.0]),
    ("SIGMOID", [0.1, 0.2, 0.0]),
]


@pytest.mark.parametrize(("kernel", "parameters"), KERNELS)
def test_support_vector_machines(
    evaluator: Evaluator, kernel: str, parameters: list[float]
) -> None:
    x = features()
    rng = np.random.default_rng(5)
    vectors = [float(v) for v in rng.normal(0, 1, 6 * 3)]
    common: dict[str, Any] = {
        "kernel_type": kernel,
        "kernel_params": parameters,
        "support_vectors": vectors,
    }

    def weights(count: int) -> list[float]:
        return [float(v) for v in rng.normal(0, 1, count)]

    for one_class in (0, 1):
        check(
            evaluator,
            "SVMRegressor",
            [x],
            coefficients=weights(6),
            n_supports=6,
            rho=[0.25],
            one_class=one_class,
            **common,
        )
    three = {"vectors_per_class": [3, 1, 2], "rho": weights(3), "classlabels_ints": [4, 5, 9]}
    pairs = {"prob_a": [-1.0, -2.0, -1.5], "prob_b": [0.1, 0.2, -0.3]}
    coefficients = weights(12)
    for transform in TRANSFORMS:
        more = {**common, "coefficients": coefficients, "post_transform": transform}
        check(evaluator, "SVMClassifier", [x], 2, **three, **more)
        check(evaluator, "SVMClassifier", [x], 2, **three, **pairs, **more)
    two: dict[str, Any] = {
        "vectors_per_class": [4, 2],
        "rho": [0.2],
        "classlabels_strings": ["no", "yes"],
        "coefficients": weights(6),
    }
    for transform in TRANSFORMS:
        more = {**two, **common, "post_transform": transform}
        check(evaluator, "SVMClassifier", [x], 2, **more)
        check(evaluator, "SVMClassifier", [x], 2, **more, prob_a=[-1.2], prob_b=[0.3])


def test_linear_support_vector_machine(evaluator: Evaluator) -> None:
    x = features()
    weights = [float(w) for w in features(3, 3).reshape(-1)]
    kernel = {"kernel_type": "LINEAR", "kernel_params": [0.0, 0.0, 0.0]}
    check(evaluator, "SVMRegressor", [x], coefficients=weights[:3], rho=[0.5], **kernel)
    check(
        evaluator,
        "SVMClassifier",
        [x],
        2,
        coefficients=weights,
        rho=[0.5, 0.0, 0.0],
        classlabels_ints=[1, 2, 3],
        **kernel,
    )


MODES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]


def forest(trees: int, modes: list[str], columns: int = 3) -> tuple[dict[str, Any], list[Any]]:
    """Complete trees of depth 2: node attributes, and the (tree, node) of the leaves."""
    rng = np.random.default_rng(trees)
    attributes: dict[str, list[Any]] = {
        f"nodes_{name}": []
        for name in (
            "treeids",
            "nodeids",
            "modes",
            "featureids",
            "values",
            "truenodeids",
            "falsenodeids",
            "missing_value_tracks_true",
        )
    }
    leaves = []
    for tree in range(trees):
        for node in range(7):
            is_leaf = node >= 3
            row = {
                "treeids": tree,
                "nodeids": node,
                "modes": "LEAF" if is_leaf else modes[(tree + node) % len(modes)],
                "featureids": 0 if is_leaf else int(rng.integers(0, columns)),
                "values": 0.0 if is_leaf else float(np.float32(rng.normal())),
                "truenodeids": 0 if is_leaf else 2 * node + 1,
                "falsenodeids": 0 if is_leaf else 2 * node + 2,
                "missing_value_tracks_true": int(rng.integers(0, 2)),
            }
            for name, value in row.items():
                attributes[f"nodes_{name}"].append(value)
            if is_leaf:
                leaves.append((tree, node))
    return attributes, leaves


def leaf_weights(
    prefix: str, leaves: list[Any], targets: int, positive: bool = False, only: int | None = None
) -> dict[str, Any]:
    rng = np.random.default_rng(len(leaves))
    chosen = range(targets) if only is None else [only]
    rows = [(tree, node, target) for tree, node in leaves for target in chosen]
    weights = [float(np.float32(w)) for w in rng.normal(0, 1, len(rows))]
    return {
        f"{prefix}_treeids": [row[0] for row in rows],
        f"{prefix}_nodeids": [row[1] for row in rows],
        f"{prefix}_ids": [row[2] for row in rows],
        f"{prefix}_weights": [abs(w) / 3 if positive else w for w in weights],
    }


def with_missing(x: np.ndarray) -> np.ndarray:
    x = x.copy()
    x[1, 0] = x[2, 2] = np.nan
    return x


@pytest.mark.parametrize("aggregate", ["SUM", "AVERAGE", "MIN", "MAX"])
def test_tree_ensemble_regressor(evaluator: Evaluator, aggregate: str) -> None:
    nodes, leaves = forest(3, MODES)
    for targets in (1, 2):
        for base in ([], [0.5, -0.25][:targets]):
            attributes = {
                **nodes,
                **leaf_weights("target", leaves, targets),
                "n_targets": targets,
                "aggregate_function": aggregate,
                **({"base_values": base} if base else {}),
            }
            for opset in (1, 3):
                check(
                    evaluator,
                    "TreeEnsembleRegressor",
                    [with_missing(features())],
                    opset=opset,
                    **attributes,
                )


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_tree_ensemble_classifier(evaluator: Evaluator, transform: str) -> None:
    nodes, leaves = forest(3, MODES)
    x = with_missing(features(9))
    for opset in (1, 3):
        more = {**nodes, "post_transform": transform, "opset": opset}
        check(
            evaluator,
            "TreeEnsembleClassifier",
            [x],
            2,
            **leaf_weights("class", leaves, 3),
            classlabels_strings=["a", "b", "c"],
            **more,
        )
        # ONNX Runtime answers with 0 and 1 here, which are no labels.
        model, named = model_of(
            "TreeEnsembleClassifier",
            [x],
            2,
            **leaf_weights("class", leaves, 2),
            classlabels_int64s=[5, 6],
            **more,
        )
        labels, scores = evaluator.run(model, named)
        np.testing.assert_allclose(scores, onnxruntime_run(model, named)[1], rtol=1e-5, atol=1e-6)
        assert np.array_equal(labels, np.array([5, 6])[np.argmax(scores, axis=1)])
        for positive in (False, True):
            check(
                evaluator,
                "TreeEnsembleClassifier",
                [x],
                2,
                **leaf_weights("class", leaves, 2, positive, only=0),
                classlabels_int64s=[5, 6],
                **more,
            )


def test_tree_ensemble_weights_as_tensors(evaluator: Evaluator) -> None:
    nodes, leaves = forest(2, ["BRANCH_LEQ"])
    plain = {**nodes, **leaf_weights("target", leaves, 1), "n_targets": 1}
    tensor = onnx.numpy_helper.from_array
    precise = dict(plain)
    for name in ("nodes_values", "target_weights"):
        precise[f"{name}_as_tensor"] = tensor(np.array(precise.pop(name), "float64"))
    x = features(dtype="float64")
    got = run(evaluator, "TreeEnsembleRegressor", [x], **precise)[0]
    expected = run(evaluator, "TreeEnsembleRegressor", [x.astype("float32")], **plain)[0]
    np.testing.assert_allclose(got, expected, rtol=1e-6)


def test_hostile_trees(evaluator: Evaluator) -> None:
    nodes, leaves = forest(1, ["BRANCH_LEQ"])
    good = {**nodes, **leaf_weights("target", leaves, 1), "n_targets": 1}
    x = features()
    for change, message in (
        ({"nodes_truenodeids": [0, 3, 5, 0, 0, 0, 0]}, "leads back to"),
        ({"nodes_truenodeids": [99, 3, 5, 0, 0, 0, 0]}, "a node that its tree does not have"),
        ({"nodes_featureids": [0, 1, 3, 0, 0, 0, 0]}, "feature 3 of 3"),
        ({"nodes_featureids": [0]}, "different lengths"),
        ({"target_ids": [0, 0, 0, 2**40]}, "target 1099511627776 of 1"),
        ({"n_targets": 2**60}, "limit|too large"),
        ({"nodes_modes": ["X"] * 7}, "mode `X`|not a leaf"),
    ):
        with pytest.raises(RuntimeError, match=message):
            run(evaluator, "TreeEnsembleRegressor", [x], **{**good, **change})


def run_maps(evaluator: Evaluator, op: str, value: Any, **attributes: Any) -> list[Any]:
    node = onnx.helper.make_node(op, ["x"], ["y"], domain=ML, **attributes)
    infos = [onnx.helper.make_empty_tensor_value_info(name) for name in ("x", "y")]
    graph = onnx.helper.make_graph([node], "g", infos[:1], infos[1:])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid(ML, 1)])
    return evaluator.run(model, {"x": value})


def test_maps(evaluator: Evaluator) -> None:
    x = np.array([[0.25, 0.75], [0.5, 0.5]], "float32")
    got = run_maps(evaluator, "ZipMap", x, classlabels_strings=["a", "b"])[0]
    assert got == [{"a": 0.25, "b": 0.75}, {"a": 0.5, "b": 0.5}]
    got = run_maps(evaluator, "ZipMap", x[0], classlabels_int64s=[7, 3])[0]
    assert got == [{7: 0.25, 3: 0.75}]
    row = run_maps(
        evaluator, "DictVectorizer", {"c": 8.0, "a": 4.0}, string_vocabulary=list("acbz")
    )
    assert row[0].tolist() == [[4.0, 8.0, 0.0, 0.0]]
    with pytest.raises(RuntimeError, match="key `q` is not in the vocabulary"):
        run_maps(evaluator, "DictVectorizer", {"q": 1.0}, string_vocabulary=["a"])
    numbers = {5: 1.5, 2: 2.5}
    assert run_maps(evaluator, "CastMap", numbers)[0].tolist() == [[2.5, 1.5]]
    got = run_maps(evaluator, "CastMap", numbers, map_form="SPARSE", max_map=7, cast_to="TO_INT64")[
        0
    ]
    assert got.tolist() == [[0, 0, 2, 0, 0, 1, 0]]
    assert run_maps(evaluator, "CastMap", {1: "2.5"})[0].tolist() == [[2.5]]
    with pytest.raises(RuntimeError, match="key 5 is out of range"):
        run_maps(evaluator, "CastMap", numbers, map_form="SPARSE", max_map=3)
    with pytest.raises(RuntimeError, match="must be INT64"):
        run_maps(evaluator, "CastMap", {"a": 1.0})


# --- Text -----------------------------------------------------------------------------------------

PATTERNS = [
    "", "a", "a*", "(a|b)*c", "[a-c]+x?", "[^a-c]{2,3}", r"\d+\.\d*", r"\w+@\w+\.(com|org)",
    "(?i)StraSSe", r"^a.c$", "(?s)a.c", r"\bfoo\b.*", "a{3}", "a{2,}", "(?:ab){1,2}", "x|yz|",
    r"[\w-]+", "[]a]+", "[[:alpha:]]+[[:^digit:]]", r"\x41\x{1F600}?", r"\Qa.b\E+",
    "(?P<n>é|ü)+", "a{,2}", "(?m)^a$\n^b$", r"[^\s]*", ".*?b", "((a*)*)*b", r"\07?A",
]  # fmt: skip
TEXTS = [
    "", "a", "aa", "aaa", "b", "abc", "ababc", "abcx", "xyz", "12.5", "12", "me@x.org", "strasse",
    "STRASSE", "a\nc", "a\nb", "foo bar", "food", "abab", "yz", "a-b_c", "]a", "abZ", "A", "A😀",
    "a.b", "a.bb", "éü", "a{,2}", "caab",
]  # fmt: skip


def python_pattern(pattern: str) -> str:
    """The same in the syntax of Python's `re`."""
    for ours, theirs in (
        ("[[:alpha:]]+[[:^digit:]]", "[a-zA-Z]+[^0-9]"),
        (r"\x{1F600}", "\U0001f600"),
        (r"\Qa.b\E+", r"a\.b+"),
        (r"\07?A", "\7?A"),
        ("a{,2}", r"a\{,2\}"),
        ("((a*)*)*b", "a*b"),
    ):
        pattern = pattern.replace(ours, theirs)
    return pattern


def test_regex_full_match(evaluator: Evaluator) -> None:
    x = np.array(TEXTS, dtype=object)
    for pattern in PATTERNS:
        expected = [
            re.fullmatch(python_pattern(pattern), text, re.ASCII) is not None for text in TEXTS
        ]
        got = run(evaluator, "RegexFullMatch", [x], 1, 20, "", pattern=pattern)[0]
        assert got.tolist() == expected, pattern
    check(evaluator, "RegexFullMatch", [x], opset=20, domain="", pattern=r"(\w+)[.@](\w|\.)*")


def matches(evaluator: Evaluator, pattern: str, texts: list[Any]) -> list[bool]:
    x = np.array(texts, dtype=object)
    return run(evaluator, "RegexFullMatch", [x], 1, 20, "", pattern=pattern)[0].tolist()


def test_general_categories(evaluator: Evaluator) -> None:
    points = [*range(1, 0xD800), *range(0xE000, 0x10400), *range(0x1F000, 0x1FB00)]
    members: dict[str, list[str]] = {}
    for c in map(chr, points):
        members.setdefault(unicodedata.category(c), []).append(c)
    names = [name for name in members if name != "Cn"]
    assert len(names) == 28  # all but surrogates and unassigned ones
    for name in [*names, *sorted({name[0] for name in names})]:
        inside = "".join("".join(members[n]) for n in names if n.startswith(name))
        outside = "".join("".join(m) for n, m in members.items() if not n.startswith(name))
        outside += "".join(members["Cn"]) if name == "C" else ""
        texts = [inside, outside, inside + outside[0], outside + inside[0]]
        for form in (rf"\p{{{name}}}", rf"[^\P{{{name}}}]"):
            assert matches(evaluator, f"{form}+", texts) == [True, False, False, False], form
        for form in (rf"\P{{{name}}}", rf"[\p{{^{name}}}]"):
            assert matches(evaluator, f"{form}+", texts) == [False, True, False, False], form


@pytest.mark.parametrize(
    ("pattern", "good", "bad"),
    [
        (r"\pL\p{Nd}+", ["a1", "é٣4"], ["1a", "a", "aⅣ"]),
        (r"[\pN_]+", ["1_Ⅳ"], ["a"]),
        (r"\p{Any}*", ["", "aé\n😀"], []),
        (r"\PN+", ["ab"], ["a1"]),
        (r"(?i)\p{Lu}", ["A", "a", "ſ"], ["1", "ª"]),
        (r"(?i)\P{Lu}", ["1", "ª"], ["A", "a"]),
        # The long s and the sign of kelvin are of the letters of `\w` but for their case.
        (r"(?i)\W", ["-", "é"], ["s", "ſ", "\u212a"]),
        (r"(?i)s[k]", ["SK", "ſ\u212a", "sk"], ["st"]),
        (r"(?i)i", ["i", "I"], ["ı", "İ"]),
        (r"(?i)σ+", ["σςΣ"], ["s"]),
        (r"(?i)ß", ["ß", "ẞ"], ["ss"]),
        (r"[[:alpha]", ["[", ":", "a", "l"], ["b", "]"]),
        (r"[[:a]]", ["[]", "a]"], ["a"]),
        # Scripts.
        (r"\p{Greek}+", ["αβΩ", "ἀ"], ["a", "αa", ""]),
        (r"\p{Han}{2}", ["漢字", "々〇"], ["かな", "漢"]),
        (r"\P{Latin}+", ["1 α", "漢"], ["a", "1a", "ſ"]),
        (r"\p{^Greek}", ["a", "漢"], ["α"]),
        (r"\P{^Greek}", ["α"], ["a"]),
        (r"[\p{Hiragana}\p{Katakana}]+", ["かなカナ"], ["漢", "ー"]),
        (r"\p{Old_Italic}\p{Common}\p{Inherited}", ["\U00010300!\u0301"], ["a!\u0301"]),
        (r"(?i)\p{Greek}", ["α", "Ω"], ["w"]),
        # One byte.
        (r"\C", ["a", "\n"], ["é", ""]),
        (r"\C\C", ["é", "ab"], ["a", "éa"]),
        (r"a\C{3}b", ["a€b", "axyzb", "aéxb"], ["aéb", "axb"]),
        (r"\C+é", ["éé", "aé"], ["é", "éa"]),
        (r"\C\b.*", ["a", "a b"], ["é", "ab"]),
        (r"\x{e9}\C*", ["é", "é€"], ["e"]),
    ],
)
def test_unicode_classes_and_bytes(
    evaluator: Evaluator, pattern: str, good: list[str], bad: list[str]
) -> None:
    assert matches(evaluator, pattern, good + bad) == [True] * len(good) + [False] * len(bad)


def test_every_script(evaluator: Evaluator) -> None:
    """The ends of each of its runs are of the script, and their neighbours outside are not."""
    from fontTools import unicodedata

    codes = set(unicodedata.Scripts.VALUES) - {"Zzzz"}
    starts = unicodedata.Scripts.RANGES
    points = sorted({p for s in starts for p in (s - 1, s) if p >= 0 and not 0xD800 <= p < 0xE000})
    texts = [chr(p) for p in points]
    for code in sorted(codes):
        pattern = rf"\p{{{unicodedata.Scripts.NAMES[code]}}}"
        wanted = [unicodedata.script(text) == code for text in texts]
        assert matches(evaluator, pattern, texts) == wanted, pattern


def test_hostile_patterns(evaluator: Evaluator) -> None:
    x = np.array(["a" * 20_000], dtype=object)
    for pattern in ("(a*)*b", "(a|aa)+$b", "(a?){100}a{100}"):  # no backtracking
        assert not run(evaluator, "RegexFullMatch", [x], 1, 20, "", pattern=pattern)[0][0]
    for pattern, message in (
        ("((a{1000}){1000}){1000}", "more than 20000 states"),
        ("(((){1000}){1000}){1000}", "more than 20000 states"),
        ("(" * 100_000, "nested too deeply"),
        ("a**", "not possible"),
        ("(a", "without its"),
        ("a)", r"unmatched"),
        ("[a", "without its"),
        ("[b-a]", "an invalid range"),
        (r"(a)\1", "a reference to a group"),
        (r"\p{Greekish}", r"unknown Unicode class `Greekish` \(known are"),
        (r"\p{greek}", "unknown Unicode class `greek`"),
        (r"\p{Cn}", "unknown Unicode class `Cn`"),
        (r"\p{}", "unknown Unicode class ``"),
        (r"\p", "unknown Unicode class ``"),
        (r"\p{L", "without its `}`"),
        (r"\pL" * 1001, "more than 1000 Unicode classes"),
        ("[[:nothing:]]", "an unknown class name"),
        ("(?=a)", "an unknown flag"),
        ("a{1001}", "not possible"),
        ("\\", "nothing after it"),
    ):
        with pytest.raises(RuntimeError, match=message):
            run(evaluator, "RegexFullMatch", [x], 1, 20, "", pattern=pattern)


def test_letter_case_is_that_of_unicode(evaluator: Evaluator) -> None:
    letters = [chr(c) for c in range(1, 0x1F000) if not 0xD800 <= c < 0xE000]
    x = np.array(["".join(letters)], dtype=object)
    for action, change in (("LOWER", str.lower), ("UPPER", str.upper)):
        # One code point stays one; Python's may become several.
        simple = [change(c) if len(change(c)) == 1 else c for c in letters]
        got = run(evaluator, "StringNormalizer", [x], 1, 10, "", case_change_action=action)[0]
        assert got[0] == "".join(simple)


def test_string_normalizer(evaluator: Evaluator) -> None:
    x = np.array(["Monday", "tuesday", "monday", "Été"], dtype=object)
    for sensitive in (0, 1):
        for action in ("NONE", "LOWER", "UPPER"):
            for value in (x, x[None]):
                attributes = {
                    "stopwords": ["monday", "x"],
                    "is_case_sensitive": sensitive,
                    "case_change_action": action,
                }
                got = run(evaluator, "StringNormalizer", [value], 1, 10, "", **attributes)[0]
                kept = [w for w in x if (w if sensitive else w.lower()) != "monday"]
                change = {"LOWER": str.lower, "UPPER": str.upper, "NONE": str}[action]
                assert got.shape == (*value.shape[:-1], len(kept))
                assert got.reshape(-1).tolist() == [change(w) for w in kept]
    with pytest.raises(RuntimeError, match=r"must be \[C\] or \[1,C\]"):
        run(evaluator, "StringNormalizer", [np.array([["a"], ["b"]], dtype=object)], 1, 10, "")


def test_string_split(evaluator: Evaluator) -> None:
    x = np.array([[" a  b c ", "d,e,,f"], ["", ","]], dtype=object)
    for attributes in ({}, {"maxsplit": 1}):
        check(evaluator, "StringSplit", [x], 2, opset=20, domain="", **attributes)
    for most in (
        -1,
        0,
        1,
        -(2**63),
    ):  # ONNX Runtime finds no part in an empty text, where Python finds one
        more = {} if most == -1 else {"maxsplit": most}
        y, z = run(evaluator, "StringSplit", [x], 2, 20, "", delimiter=",", **more)
        parts = [text.split(",", most) for text in x.reshape(-1)]
        assert z.tolist() == np.array([len(p) for p in parts]).reshape(x.shape).tolist()
        for row, expected in zip(y.reshape(4, -1).tolist(), parts, strict=True):
            assert row == expected + [""] * (len(row) - len(expected))


# --- Attention, regions, training -----------------------------------------------------------------


def test_max_roi_pool(evaluator: Evaluator) -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(0, 1, (2, 3, 9, 8)).astype("float32")
    rois = np.array(
        [[0, 1, 1, 6, 7], [1, 0, 0, 7, 8], [1, 5, 2, 3, 2], [0, -3, 4, 20, 30]], "float32"
    )
    for scale in (1.0, 0.5):
        for opset in (1, 18):
            attributes: dict[str, Any] = {"pooled_shape": [3, 2], "spatial_scale": scale}
            check(evaluator, "MaxRoiPool", [x, rois], opset=opset, domain="", **attributes)
    for bad in ([[2, 0, 0, 1, 1]], [[-1, 0, 0, 1, 1]], [[np.nan, 0, 0, 1, 1]]):
        with pytest.raises(RuntimeError, match="is of image"):
            run(
                evaluator,
                "MaxRoiPool",
                [x, np.array(bad, "float32")],
                1,
                18,
                "",
                pooled_shape=[2, 2],
            )
    far = np.array([[0, -np.inf, np.nan, np.inf, 1e30]], "float32")
    run(evaluator, "MaxRoiPool", [x, far], 1, 18, "", pooled_shape=[2, 2])


@pytest.mark.parametrize("op", ["Adagrad", "Adam", "Momentum"])
def test_optimizers_in_double(evaluator: Evaluator, op: str) -> None:
    import onnx.reference

    rng = np.random.default_rng(4)
    tensors = 4 if op == "Adam" else 3
    groups = [np.abs(rng.normal(0, 1, (2, 3))) for _ in range(tensors)]
    attributes: dict[str, Any] = {"norm_coefficient": 0.25}
    if op == "Momentum":
        attributes |= {"alpha": 0.5, "beta": 0.75, "mode": "nesterov"}
    for updates in (0, 3):
        inputs = [np.array(0.1), np.array(updates), *groups]
        model, named = model_of(
            op, inputs, tensors - 1, 1, "ai.onnx.preview.training", **attributes
        )
        expected = onnx.reference.ReferenceEvaluator(model).run(None, named)
        for ours, theirs in zip(evaluator.run(model, named), expected, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-6)
    with pytest.raises(RuntimeError, match="do not form groups"):
        run(evaluator, op, inputs[:-1], 1, 1, "ai.onnx.preview.training", **attributes)


def test_convolutions_without_spatial_axes(evaluator: Evaluator) -> None:
    """One window with one tap: the product of the channels. A fuzzer found a read past the end."""
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    w = np.arange(12, dtype=np.float32).reshape(4, 3) - 5
    (y,) = run(evaluator, "Conv", [x, w], 1, 22, "")
    np.testing.assert_array_equal(y, x @ w.T)
    (y,) = run(evaluator, "ConvTranspose", [x, w.reshape(3, 4)], 1, 22, "")
    np.testing.assert_array_equal(y, x @ w.reshape(3, 4))


def test_convolution_without_channels(evaluator: Evaluator) -> None:
    x, w = np.zeros((1, 0, 4, 4), np.float32), np.zeros((2, 0, 3, 3), np.float32)
    (y,) = run(evaluator, "Conv", [x, w, np.array([1, 2], np.float32)], 1, 22, "")
    np.testing.assert_array_equal(y, np.broadcast_to([[[[1]], [[2]]]], (1, 2, 2, 2)))
