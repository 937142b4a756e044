"""How long one operator takes on a million elements, beside ONNX Runtime on one thread and on all.

    python bench/operators.py [--json FILE] [--seconds S] [--only NAME ...]

sardonyx must be importable (installed, or PYTHONPATH=build/release/python). Each operator is a
model of one node, prepared once; every number is the minimum of the runs within the time. Rows are
sorted by our time through that of ONNX Runtime, the worst first.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import sardonyx
from compile import minimum
from onnx import TensorProto, helper, numpy_helper

from run import session

RANDOM = np.random.default_rng(0)
PICTURE = RANDOM.normal(size=(1, 64, 128, 128)).astype(np.float32)
SMALL = PICTURE[:, :, :64, :64].copy()
POSITIVE = np.abs(PICTURE) + 0.1
MATRIX = RANDOM.normal(size=(512, 2048)).astype(np.float32)
INTS = RANDOM.integers(0, 100, (512, 2048))
BOOLS = PICTURE > 0
COLUMNS = RANDOM.integers(0, 2048, (512, 2048))
STACK = RANDOM.normal(size=(12, 128, 64)).astype(np.float32)

UNARY = [
    "Abs",
    "Neg",
    "Exp",
    "Log",
    "Sqrt",
    "Sigmoid",
    "Tanh",
    "Erf",
    "Relu",
    "LeakyRelu",
    "Elu",
    "Selu",
    "Softplus",
    "Softsign",
    "HardSigmoid",
    "HardSwish",
    "Gelu",
    "Mish",
    "Floor",
    "Round",
    "Sign",
    "Reciprocal",
    "Sin",
    "Cos",
    "Identity",
    "IsNaN",
]
CASTS = [
    (PICTURE, TensorProto.FLOAT16),
    (PICTURE, TensorProto.INT32),
    (PICTURE, TensorProto.INT64),
    (PICTURE, TensorProto.DOUBLE),
    (PICTURE, TensorProto.UINT8),
    (PICTURE, TensorProto.BOOL),
    (PICTURE.astype(np.float16), TensorProto.FLOAT),
    (BOOLS, TensorProto.FLOAT),
    (INTS, TensorProto.FLOAT),
]
REDUCTIONS = [
    "ReduceSum",
    "ReduceMean",
    "ReduceMax",
    "ReduceMin",
    "ReduceProd",
    "ReduceL2",
    "ReduceLogSumExp",
    "ReduceSumSquare",
]

# Of the operators that opset 20 does not have, or not with these attributes.
VERSIONS = {
    "Attention": 23,
    "DequantizeLinear": 21,
    "GroupNormalization": 21,
    "RMSNormalization": 23,
    "RotaryEmbedding": 23,
}

# The operators of ai.onnx.ml are at version 3 of it, the newest that ONNX Runtime has most of.
ML_VERSIONS = {"TreeEnsemble": 5}

Case = tuple[str, str, list[Any], set[int], dict[str, Any]]


def vector(*values: int) -> np.ndarray:
    """INT64[n]."""
    return np.array(values, np.int64)


def channels(*rest: int) -> np.ndarray:
    """A number for each channel of PICTURE."""
    return RANDOM.random((64, *rest)).astype(np.float32) + 0.1


def elementwise() -> Iterator[Case]:
    """Name, operator, inputs, which of them are constants, attributes."""
    for op in UNARY:
        yield op, op, [POSITIVE if op in ("Log", "Sqrt") else PICTURE], set(), {}
    for op in ("Add", "Mul", "Div", "Pow", "Max", "Less"):
        yield op, op, [POSITIVE, POSITIVE + 1], set(), {}
    yield "Add, by channel", "Add", [PICTURE, channels(1, 1)], set(), {}
    yield "Mul, by a number", "Mul", [PICTURE, np.array(2, np.float32)], {1}, {}
    yield "And", "And", [BOOLS, BOOLS], set(), {}
    yield "Not", "Not", [BOOLS], set(), {}
    yield "Where", "Where", [BOOLS, PICTURE, POSITIVE], set(), {}
    bounds = [np.array(-1, np.float32), np.array(1, np.float32)]
    yield "Clip", "Clip", [PICTURE, *bounds], {1, 2}, {}
    for x, to in CASTS:
        name = TensorProto.DataType.Name(to)
        yield f"Cast {x.dtype} to {name}", "Cast", [x], set(), {"to": to}
    scale = [np.array(0.02, np.float32), np.array(3, np.int8)]
    yield "QuantizeLinear", "QuantizeLinear", [PICTURE, *scale], {1, 2}, {}
    codes = (PICTURE * 40).astype(np.int8)
    yield "DequantizeLinear", "DequantizeLinear", [codes, *scale], {1, 2}, {}


def along_axes() -> Iterator[Case]:
    """Reductions, normalizations, sums."""
    for op in REDUCTIONS:
        for axes in ((-1,), (2, 3), (1,), (0, 1, 2, 3)):
            yield f"{op} {axes}", op, [POSITIVE, vector(*axes)], {1}, {}
    for axis in (-1, 1):
        for op in ("ArgMax", "Softmax", "LogSoftmax"):
            yield f"{op} {axis}", op, [PICTURE], set(), {"axis": axis}
        yield f"CumSum {axis}", "CumSum", [PICTURE, np.array(axis)], {1}, {}
    scores = weights(20000, 3)
    for op in ("ArgMax", "Softmax", "LogSoftmax"):
        yield f"{op}, rows of 3", op, [scores], set(), {"axis": -1}
    for op in ("ReduceMax", "ReduceSum"):
        yield f"{op}, rows of 3", op, [scores, vector(-1)], {1}, {}
    yield "CumSum, rows of 3", "CumSum", [scores, np.array(-1)], {1}, {}
    yield "LayerNormalization", "LayerNormalization", [MATRIX, MATRIX[0], MATRIX[1]], {1, 2}, {}
    two = [channels(), channels()]
    yield "InstanceNormalization", "InstanceNormalization", [PICTURE, *two], {1, 2}, {}
    four = [channels() for _ in range(4)]
    yield "BatchNormalization", "BatchNormalization", [PICTURE, *four], {1, 2, 3, 4}, {}


def movement() -> Iterator[Case]:
    """What moves elements."""
    for permutation in ([0, 2, 3, 1], [0, 1, 3, 2], [0, 2, 1, 3]):
        yield f"Transpose {permutation}", "Transpose", [PICTURE], set(), {"perm": permutation}
    for axis in (1, 3):
        yield f"Concat {axis}", "Concat", [PICTURE, PICTURE], set(), {"axis": axis}
    steps = [vector(0, 0), vector(128, 128), vector(2, 3), vector(2, 2)]
    yield "Slice with steps", "Slice", [PICTURE, *steps], {1, 2, 3, 4}, {}
    pads = vector(0, 0, 1, 1, 0, 0, 1, 1)
    for mode in ("constant", "reflect"):
        yield f"Pad, {mode}", "Pad", [PICTURE, pads], {1}, {"mode": mode}
    yield "Gather 0", "Gather", [MATRIX, RANDOM.integers(0, 512, 1000)], set(), {}
    yield "Gather 1", "Gather", [MATRIX, RANDOM.integers(0, 2048, 1000)], set(), {"axis": 1}
    yield "GatherElements", "GatherElements", [MATRIX, COLUMNS], set(), {"axis": 1}
    yield "ScatterElements", "ScatterElements", [MATRIX, COLUMNS, MATRIX], set(), {"axis": 1}
    yield "Tile", "Tile", [MATRIX, vector(2, 2)], {1}, {}
    yield "Expand", "Expand", [MATRIX[:, None], vector(512, 4, 2048)], {1}, {}
    yield "DepthToSpace", "DepthToSpace", [PICTURE], set(), {"blocksize": 2}
    yield "SpaceToDepth", "SpaceToDepth", [PICTURE], set(), {"blocksize": 2}
    doubled = [np.zeros(0, np.float32), np.array([1, 1, 2, 2], np.float32)]
    for mode in ("nearest", "linear"):
        yield f"Resize, {mode}", "Resize", [PICTURE, *doubled], {1, 2}, {"mode": mode}
    yield "Unique", "Unique", [INTS], set(), {}


def weights(*dims: int) -> np.ndarray:
    """FLOAT of these dims."""
    return RANDOM.normal(size=dims).astype(np.float32)


def by_indices() -> Iterator[Case]:
    """What chooses, places and orders elements."""
    places = RANDOM.integers(0, 512, (10000, 1))
    yield "GatherND", "GatherND", [MATRIX, places[:1000]], set(), {}
    pairs = np.stack([places[:, 0], COLUMNS.flat[:10000]], 1)
    yield "GatherND, elements", "GatherND", [MATRIX, pairs], set(), {}
    rows = weights(1000, 2048)
    yield "ScatterND", "ScatterND", [MATRIX, places[:1000], rows], set(), {}
    yield "ScatterND, elements", "ScatterND", [MATRIX, pairs, rows.flat[:10000]], set(), {}
    adding = {"reduction": "add"}
    yield "ScatterND, add", "ScatterND", [MATRIX, places[:1000], rows], set(), adding
    ends = np.array([0, 1], np.float32)
    yield "OneHot", "OneHot", [places[:4096, 0], np.array(256), ends], {1, 2}, {}
    yield "Trilu", "Trilu", [MATRIX[:, :512].copy()], set(), {}
    yield "NonZero", "NonZero", [PICTURE * BOOLS], set(), {}
    yield "Compress", "Compress", [MATRIX, BOOLS.flat[:512]], set(), {"axis": 0}
    for k in (5, 100):
        yield f"TopK {k}", "TopK", [MATRIX, vector(k)], {1}, {}
    yield "TopK 5, axis 0", "TopK", [MATRIX, vector(5)], {1}, {"axis": 0}
    yield "Hardmax", "Hardmax", [MATRIX], set(), {}
    corners = RANDOM.random((1, 2000, 2)).astype(np.float32)
    boxes = np.concatenate([corners, corners + 0.1], 2)
    scores = RANDOM.random((1, 4, 2000)).astype(np.float32)
    limits = [vector(50), np.array([0.5], np.float32), np.array([0.1], np.float32)]
    yield "NonMaxSuppression", "NonMaxSuppression", [boxes, scores, *limits], {2, 3, 4}, {}
    lengths = RANDOM.integers(1, 512, 512)
    reverse = {"batch_axis": 0, "time_axis": 1}
    yield "ReverseSequence", "ReverseSequence", [weights(512, 512, 4), lengths], set(), reverse
    ends = [np.array(0), np.array(1 << 20), np.array(1)]
    yield "Range", "Range", ends, set(), {}
    yield "Split", "Split", [MATRIX], set(), {"axis": 1, "num_outputs": 1}
    words = np.array(["a word", "Another one", "the"] * 1000, object)
    stop = {"is_case_sensitive": 1, "stopwords": ["the"], "locale": "C"}
    yield "StringNormalizer", "StringNormalizer", [words], set(), stop
    yield "StringConcat", "StringConcat", [words, words], set(), {}


def images() -> Iterator[Case]:
    """What samples pictures."""
    grid = (RANDOM.random((1, 128, 128, 2)) * 2 - 1).astype(np.float32)
    for mode in ("linear", "nearest", "cubic"):
        yield f"GridSample, {mode}", "GridSample", [PICTURE, grid], set(), {"mode": mode}
    doubled = [np.zeros(0, np.float32), np.array([1, 1, 2, 2], np.float32)]
    yield "Resize, cubic", "Resize", [SMALL, *doubled], {1, 2}, {"mode": "cubic"}
    corners = RANDOM.random((100, 2)).astype(np.float32) * 64
    regions = np.concatenate([corners, corners + 32], 1)
    size = {"output_height": 7, "output_width": 7, "sampling_ratio": 2}
    batch = np.zeros(100, np.int64)
    yield "RoiAlign", "RoiAlign", [PICTURE, regions, batch], set(), size
    yield "LRN", "LRN", [PICTURE], set(), {"size": 5}
    for op in ("GlobalAveragePool", "GlobalLpPool"):
        yield op, op, [PICTURE], set(), {}
    yield "LpPool", "LpPool", [PICTURE], set(), {"kernel_shape": [2, 2], "strides": [2, 2]}
    columns = weights(1, 64 * 9, 4096)
    place = [vector(64, 64), vector(3, 3)]
    yield "Col2Im", "Col2Im", [columns, *place], {1, 2}, {"pads": [1, 1, 1, 1]}
    yield "LpNormalization", "LpNormalization", [MATRIX], set(), {}
    yield "MeanVarianceNormalization", "MeanVarianceNormalization", [PICTURE], set(), {}
    four = [channels() for _ in range(2)]
    groups = {"num_groups": 8}
    yield "GroupNormalization", "GroupNormalization", [PICTURE, *four], {1, 2}, groups
    yield "RMSNormalization", "RMSNormalization", [MATRIX, MATRIX[0]], {1}, {}
    yield "PRelu", "PRelu", [PICTURE, channels(1, 1)], {1}, {}
    yield "Mod, int64", "Mod", [INTS, INTS + 1], set(), {}
    yield "Div, int64", "Div", [INTS, INTS + 1], set(), {}
    yield "Equal, int64", "Equal", [INTS, INTS + 1], set(), {}
    yield "BitwiseAnd", "BitwiseAnd", [INTS, INTS + 1], set(), {}
    yield "Sum of 3", "Sum", [PICTURE, POSITIVE, PICTURE], set(), {}
    yield "Dropout", "Dropout", [PICTURE, np.array(0.5, np.float32), np.array(True)], {1, 2}, {}
    yield "RandomNormalLike", "RandomNormalLike", [PICTURE], set(), {}
    yield "RandomUniformLike", "RandomUniformLike", [PICTURE], set(), {}
    labels = RANDOM.integers(0, 2048, 512)
    yield "SoftmaxCrossEntropyLoss", "SoftmaxCrossEntropyLoss", [MATRIX, labels], set(), {}


def layers() -> Iterator[Case]:
    """Recurrent networks, attention, signals, 8-bit products."""
    steps = weights(32, 8, 128)
    for op, gates in (("RNN", 1), ("GRU", 3), ("LSTM", 4)):
        both = [weights(1, gates * 256, 128) * 0.1, weights(1, gates * 256, 256) * 0.1]
        yield op, op, [steps, *both], {1, 2}, {"hidden_size": 256}
    heads = [weights(1, 12, 128, 64) for _ in range(3)]
    yield "Attention", "Attention", heads, set(), {}
    yield "Attention, causal", "Attention", heads, set(), {"is_causal": 1}
    angles = [weights(128, 32), weights(128, 32), np.arange(128)[None]]
    yield "RotaryEmbedding", "RotaryEmbedding", [heads[0], *angles], {1, 2}, {}
    for length in (1024, 1000):
        signal = weights(64, length, 1)
        yield f"DFT {length}", "DFT", [signal], set(), {}
    frames = [np.array(256), weights(512), np.array(512)]
    yield "STFT", "STFT", [weights(1, 65536, 1), *frames], {1, 2, 3}, {}
    yield "Det", "Det", [weights(1000, 16, 16)], set(), {}
    codes = RANDOM.integers(-9, 9, (64, 64, 3, 3)).astype(np.int8)
    bytes_ = (np.abs(SMALL) * 40).astype(np.uint8)
    yield "ConvInteger", "ConvInteger", [bytes_, codes], {1}, {"pads": [1, 1, 1, 1]}
    one, zero = np.array(0.02, np.float32), np.array(3, np.uint8)
    signed = np.array(0, np.int8)
    eight = [bytes_, one, zero, codes, one, signed, one, zero]
    yield "QLinearConv", "QLinearConv", eight, {1, 2, 3, 4, 5, 6, 7}, {"pads": [1, 1, 1, 1]}
    left = (np.abs(MATRIX) * 40).astype(np.uint8)
    right = RANDOM.integers(-9, 9, (2048, 256)).astype(np.int8)
    eight = [left, one, zero, right, one, signed, one, zero]
    yield "QLinearMatMul", "QLinearMatMul", eight, {1, 2, 3, 4, 5, 6, 7}, {}
    yield "DynamicQuantizeLinear", "DynamicQuantizeLinear", [PICTURE], set(), {}
    for axis in (0, 1):
        scales = [POSITIVE[0, 0, 0, :64].copy(), np.zeros(64, np.int8)]
        values = PICTURE.reshape(64, 64, -1)
        by_axis = {"axis": axis}
        yield f"QuantizeLinear, axis {axis}", "QuantizeLinear", [values, *scales], {1, 2}, by_axis
    blocks = [(MATRIX * 40).astype(np.int8), POSITIVE.reshape(-1, 64)[:512], np.zeros(1)]
    blocks[2] = np.zeros((512, 64), np.int8)
    by_block = {"axis": 1, "block_size": 32}
    yield "DequantizeLinear, blocks", "DequantizeLinear", blocks, {1, 2}, by_block
    three = [weights(256, 512), weights(1024, 512), weights(1024)]
    yield "Gemm", "Gemm", three, {1, 2}, {"transB": 1}


def products() -> Iterator[Case]:
    """Windows and matrices."""
    for size in (2, 3):
        window = {"kernel_shape": [size, size], "strides": [2, 2]}
        for op in ("MaxPool", "AveragePool"):
            yield f"{op} {size}x{size}", op, [PICTURE], set(), window
    yield "GlobalMaxPool", "GlobalMaxPool", [PICTURE], set(), {}
    same = {"auto_pad": "SAME_UPPER"}

    yield "Conv 3x3", "Conv", [SMALL, weights(64, 64, 3, 3)], {1}, same
    yield "Conv 3x3, weights not constant", "Conv", [SMALL, weights(64, 64, 3, 3)], set(), same
    yield "Conv 1x1", "Conv", [PICTURE, weights(64, 64, 1, 1)], {1}, {}
    depthwise = [PICTURE, weights(64, 1, 3, 3)]
    yield "Conv 3x3, depthwise", "Conv", depthwise, {1}, {"group": 64, **same}
    up = [SMALL, weights(64, 32, 2, 2)]
    yield "ConvTranspose 2x2", "ConvTranspose", up, {1}, {"strides": [2, 2]}
    yield "MatMul", "MatMul", [MATRIX, weights(2048, 256)], {1}, {}
    yield "MatMul, not constant", "MatMul", [MATRIX, weights(2048, 256)], set(), {}
    yield "MatMul, a row", "MatMul", [MATRIX[:1].copy(), weights(2048, 1024)], {1}, {}
    yield "MatMul, a stack", "MatMul", [STACK, STACK.transpose(0, 2, 1).copy()], set(), {}
    codes = RANDOM.integers(-9, 9, (2048, 256)).astype(np.int8)
    yield "MatMulInteger", "MatMulInteger", [(MATRIX * 20).astype(np.int8), codes], {1}, {}
    equation = {"equation": "bij,bkj->bik"}
    yield "Einsum bij,bkj->bik", "Einsum", [STACK, STACK], set(), equation


def random_forest(trees: int, depth: int, columns: int) -> dict[str, list[Any]]:
    """The nodes of complete trees, as attributes of a classifier or regressor."""
    inner, whole = 2**depth - 1, 2 ** (depth + 1) - 1
    nodes: dict[str, list[Any]] = {
        "nodes_treeids": [tree for tree in range(trees) for _ in range(whole)],
        "nodes_nodeids": list(range(whole)) * trees,
        "nodes_modes": (["BRANCH_LEQ"] * inner + ["LEAF"] * (whole - inner)) * trees,
        "nodes_featureids": RANDOM.integers(0, columns, whole * trees).tolist(),
        "nodes_values": RANDOM.normal(size=whole * trees).astype(np.float32).tolist(),
    }
    for name, first in (("true", 1), ("false", 2)):
        ids = [2 * i + first if i < inner else 0 for i in range(whole)]
        nodes[f"nodes_{name}nodeids"] = ids * trees
    return nodes


def leaf_weights(nodes: dict[str, list[Any]], prefix: str, targets: int) -> dict[str, Any]:
    """The nodes with a weight for one target at each leaf."""
    leaves = [i for i, mode in enumerate(nodes["nodes_modes"]) if mode == "LEAF"]
    return {
        **nodes,
        f"{prefix}_treeids": [nodes["nodes_treeids"][i] for i in leaves],
        f"{prefix}_nodeids": [nodes["nodes_nodeids"][i] for i in leaves],
        f"{prefix}_ids": RANDOM.integers(0, targets, len(leaves)).tolist(),
        f"{prefix}_weights": RANDOM.random(len(leaves)).astype(np.float32).tolist(),
    }


def tree_ensemble(nodes: dict[str, list[Any]]) -> dict[str, Any]:
    """The same trees as attributes of TreeEnsemble."""
    places, branches, leaves = {}, [], 0
    names = list(zip(nodes["nodes_treeids"], nodes["nodes_nodeids"], strict=True))
    for i, name in enumerate(names):
        is_leaf = nodes["nodes_modes"][i] == "LEAF"
        places[name] = (leaves if is_leaf else len(branches), int(is_leaf))
        leaves += is_leaf
        branches += [] if is_leaf else [i]
    result: dict[str, Any] = {
        "n_targets": 1,
        "tree_roots": [places[name][0] for name in names if name[1] == 0],
        "nodes_featureids": [nodes["nodes_featureids"][i] for i in branches],
        "nodes_modes": numpy_helper.from_array(np.zeros(len(branches), np.uint8)),
        "nodes_splits": numpy_helper.from_array(
            np.array([nodes["nodes_values"][i] for i in branches], np.float32)
        ),
        "leaf_targetids": [0] * leaves,
        "leaf_weights": numpy_helper.from_array(RANDOM.random(leaves).astype(np.float32)),
    }
    for name in ("true", "false"):
        to = [places[names[i][0], nodes[f"nodes_{name}nodeids"][i]] for i in branches]
        result[f"nodes_{name}nodeids"] = [place for place, _ in to]
        result[f"nodes_{name}leafs"] = [is_leaf for _, is_leaf in to]
    return result


def forests() -> Iterator[Case]:
    """Decision trees on one row, and on many."""
    one, many = weights(1, 30), weights(10000, 30)
    small = random_forest(30, 6, 30)
    large = random_forest(100, 8, 30)
    binary = leaf_weights(small, "class", 1) | {"classlabels_int64s": [0, 1]}
    several = leaf_weights(large, "class", 3) | {"classlabels_strings": ["a", "b", "c"]}
    classifier, regressor = "TreeEnsembleClassifier", "TreeEnsembleRegressor"
    for name, x in (("1 row", one), ("10000 rows", many)):
        yield f"{classifier}, 2 classes, {name}", classifier, [x], set(), binary
        yield f"{classifier}, 3 classes, {name}", classifier, [x], set(), several
        one_target = leaf_weights(large, "target", 1) | {"n_targets": 1}
        yield f"{regressor}, {name}", regressor, [x], set(), one_target
        yield f"TreeEnsemble, {name}", "TreeEnsemble", [x], set(), tree_ensemble(large)
    tree = leaf_weights(random_forest(1, 8, 30), "target", 1) | {"n_targets": 1}
    yield f"{regressor}, one tree, 10000 rows", regressor, [many], set(), tree
    mixed = leaf_weights(small, "target", 2) | {"n_targets": 2, "aggregate_function": "MIN"}
    mixed["nodes_modes"] = [
        mode if mode == "LEAF" else ("BRANCH_LEQ", "BRANCH_GT")[i % 2]
        for i, mode in enumerate(mixed["nodes_modes"])
    ]
    yield f"{regressor}, mixed modes", regressor, [many], set(), mixed


def linear_models() -> Iterator[Case]:
    """Linear models and support vectors."""
    for name, x in (("1 row", weights(1, 30)), ("10000 rows", weights(10000, 30))):
        linear = {"coefficients": weights(90).tolist(), "intercepts": weights(3).tolist()}
        labels = {"classlabels_ints": [0, 1, 2]}
        softmax = linear | labels | {"post_transform": "SOFTMAX"}
        yield f"LinearClassifier, {name}", "LinearClassifier", [x], set(), softmax
        yield f"LinearRegressor, {name}", "LinearRegressor", [x], set(), linear | {"targets": 3}
        rows = x[:1000]
        vectors = {"support_vectors": weights(100 * 30).tolist(), "rho": [0.1, 0.2, 0.3]}
        for kernel in ("LINEAR", "POLY", "RBF", "SIGMOID"):
            how = vectors | {"kernel_type": kernel, "kernel_params": [0.05, 0.1, 3.0]}
            of_one = how | {"coefficients": weights(100).tolist(), "n_supports": 100}
            of_one["rho"] = [0.1]
            yield f"SVMRegressor, {kernel}, {name}", "SVMRegressor", [rows], set(), of_one
            of_three = how | labels | {"vectors_per_class": [30, 30, 40]}
            of_three["coefficients"] = weights(200).tolist()
            yield f"SVMClassifier, {kernel}, {name}", "SVMClassifier", [rows], set(), of_three


def features() -> Iterator[Case]:
    """What prepares features of rows, and encodes labels."""
    for name, x in (("1 row", weights(1, 30)), ("10000 rows", weights(10000, 30))):
        columns = [weights(30).tolist() for _ in range(2)]
        scaler = {"offset": columns[0], "scale": columns[1]}
        yield f"Scaler, {name}", "Scaler", [x], set(), scaler
        for norm in ("MAX", "L1", "L2"):
            yield f"Normalizer {norm}, {name}", "Normalizer", [x], set(), {"norm": norm}
        filled = {"imputed_value_floats": columns[0], "replaced_value_float": float("nan")}
        yield f"Imputer, {name}", "Imputer", [x], set(), filled
        yield f"Binarizer, {name}", "Binarizer", [x], set(), {"threshold": 0.5}
        sizes = {"inputdimensions": [30, 30]}
        yield f"FeatureVectorizer, {name}", "FeatureVectorizer", [x, x], set(), sizes
        chosen = vector(3, 7, 11)[None]
        yield f"ArrayFeatureExtractor, {name}", "ArrayFeatureExtractor", [x, chosen], {1}, {}
        number = RANDOM.integers(0, 1000, x.shape[0])
        word = np.array([f"category {i}" for i in number], object)
        words = [f"category {i}" for i in range(1000)]
        both = {"cats_strings": words, "cats_int64s": list(range(1000))}
        yield f"CategoryMapper, strings, {name}", "CategoryMapper", [word], set(), both
        yield f"CategoryMapper, int64, {name}", "CategoryMapper", [number], set(), both
        hot = {"cats_int64s": list(range(100)), "zeros": 1}
        yield f"OneHotEncoder, int64, {name}", "OneHotEncoder", [number], set(), hot
        hot = {"cats_strings": words[:100], "zeros": 1}
        yield f"OneHotEncoder, strings, {name}", "OneHotEncoder", [word], set(), hot
        for keys, key in (("int64s", number), ("strings", word), ("floats", number)):
            for values in ("int64s", "strings", "floats"):
                if (keys == "floats") != (values == "floats"):
                    continue
                lists = {"int64s": list(range(1000)), "strings": words}
                lists["floats"] = [float(i) for i in range(1000)]
                table = {f"keys_{keys}": lists[keys], f"values_{values}": lists[values]}
                x0 = key.astype(np.float32) if keys == "floats" else key
                title = f"LabelEncoder, {keys} to {values}, {name}"
                yield title, "LabelEncoder", [x0], set(), table


def maps() -> Iterator[Case]:
    """What reads and makes maps."""
    strings = {f"key {i}": float(i) for i in range(0, 1000, 2)}
    ints = {i: float(i) for i in range(0, 1000, 2)}
    words = {"string_vocabulary": [f"key {i}" for i in range(1000)]}
    yield "DictVectorizer, strings", "DictVectorizer", [strings], set(), words
    numbers = {"int64_vocabulary": list(range(1000))}
    yield "DictVectorizer, int64", "DictVectorizer", [ints], set(), numbers
    for form in ("DENSE", "SPARSE"):
        how = {"cast_to": "TO_FLOAT", "map_form": form, "max_map": 1000}
        yield f"CastMap, {form}", "CastMap", [ints], set(), how
    labels = {"classlabels_int64s": [0, 1, 2]}
    names = {"classlabels_strings": ["a", "b", "c"]}
    for name, x in (("1 row", weights(1, 3)), ("1000 rows", weights(1000, 3))):
        yield f"ZipMap, int64, {name}", "ZipMap", [x], set(), labels
        yield f"ZipMap, strings, {name}", "ZipMap", [x], set(), names


def value_info(name: str, value: Any) -> onnx.ValueInfoProto:
    """The type of an input: an array, or a map to FLOAT."""
    if isinstance(value, dict):
        is_string = isinstance(next(iter(value)), str)
        key = TensorProto.STRING if is_string else TensorProto.INT64
        type_ = onnx.TypeProto()
        type_.map_type.key_type = key
        type_.map_type.value_type.CopyFrom(helper.make_tensor_type_proto(TensorProto.FLOAT, []))
        return helper.make_value_info(name, type_)
    dtype = helper.np_dtype_to_tensor_dtype(value.dtype)
    return helper.make_tensor_value_info(name, dtype, value.shape)


def model_of(case: Case) -> tuple[bytes, dict[str, Any]]:
    """The model, and its inputs."""
    _, op, values, constants, attributes = case
    named = {f"x{i}": value for i, value in enumerate(values)}
    free = {name: named[name] for i, name in enumerate(named) if i not in constants}
    domain = "" if onnx.defs.has(op) else "ai.onnx.ml"
    schema = onnx.defs.get_schema(op, domain=domain)
    outputs = [f"y{i}" for i in range(max(1, schema.min_output))]
    graph = helper.make_graph(
        [helper.make_node(op, list(named), outputs, domain=domain, **attributes)],
        "g",
        [value_info(name, x) for name, x in free.items()],
        [helper.make_empty_tensor_value_info(name) for name in outputs],
        [numpy_helper.from_array(named[f"x{i}"], f"x{i}") for i in sorted(constants)],
    )
    imports = [helper.make_opsetid("", VERSIONS.get(op, 20))]
    if domain:
        imports.append(helper.make_opsetid(domain, ML_VERSIONS.get(op, 3)))
    model = helper.make_model(graph, opset_imports=imports, ir_version=10)
    return model.SerializeToString(), free


def measure(case: Case, seconds: float) -> dict[str, float]:
    """Seconds by column."""
    model, inputs = model_of(case)
    ours = sardonyx.load(model)
    one, all_cores = session(model, 1), session(model, 0)
    return {
        "sardonyx, 1 thread": minimum(lambda: ours.run(inputs, threads=1), 3, seconds),
        "sardonyx": minimum(lambda: ours.run(inputs), 3, seconds),
        "onnxruntime, 1 thread": minimum(lambda: one.run(None, inputs), 3, seconds),
        "onnxruntime": minimum(lambda: all_cores.run(None, inputs), 3, seconds),
    }


def ratios(row: dict[str, float]) -> tuple[float, float]:
    """Ours through ONNX Runtime's, on one thread and on all."""
    return (
        row["sardonyx, 1 thread"] / row["onnxruntime, 1 thread"],
        row["sardonyx"] / row["onnxruntime"],
    )


def main() -> None:
    """Measures, prints, writes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, help="write the numbers (seconds) here")
    parser.add_argument("--seconds", type=float, default=0.1, help="for each number")
    parser.add_argument("--only", nargs="*", default=[], help="parts of names; all, if none")
    options = parser.parse_args()
    groups = (elementwise, along_axes, movement, by_indices, images, layers, products)
    groups += (forests, linear_models, features, maps)
    cases = [case for group in groups for case in group()]
    rows = {
        case[0]: measure(case, options.seconds)
        for case in cases
        if not options.only or any(part in case[0] for part in options.only)
    }
    print(f"{'ms':44}{'1 thread':>10}{'all':>10}{'ort, 1':>10}{'ort, all':>10}{'x ort':>14}")
    for name, row in sorted(rows.items(), key=lambda item: -max(ratios(item[1]))):
        numbers = "".join(f"{seconds * 1e3:10.3f}" for seconds in row.values())
        one, full = ratios(row)
        print(f"{name:44}{numbers}{one:8.2f}{full:6.2f}")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()
