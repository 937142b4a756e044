"""Operators that ONNX Runtime adds to the standard, with its results."""

from __future__ import annotations

import math
import random
import time

import numpy as np
import onnx
import onnxruntime
import pytest
import sardonyx
from onnx import TensorProto, helper, numpy_helper

from peers import ort_session
from sampling import SEEDS


def dynamic_quantize_lstm(
    dtype: type[np.generic], directions: int, by_column: bool, batch: int = 1, hidden: int = 16
) -> tuple[onnx.ModelProto, np.ndarray]:
    """A model of the one node, and an input."""
    random = np.random.default_rng(7)
    steps, features = 5, 8
    limits = np.iinfo(dtype)  # type: ignore[type-var]
    columns = (4 * hidden,) if by_column else ()

    # Of signed codes seven bits: on processors without VNNI, ONNX Runtime adds pairs of products in
    # 16 bits, which eight bits saturate.
    least, most = (limits.min, limits.max) if limits.min == 0 else (-64, 64)

    def codes(rows: int) -> np.ndarray:
        return random.integers(least, most, (directions, rows, 4 * hidden)).astype(dtype)

    zero = np.full((directions, *columns), 128 if limits.min == 0 else 0, dtype)
    scale = (0.002 + 0.002 * random.random((directions, *columns))).astype(np.float32)
    weights = {
        "w": codes(features),
        "r": codes(hidden),
        "b": (0.1 * random.normal(size=(directions, 8 * hidden))).astype(np.float32),
        "w_scale": scale,
        "w_zero": zero,
        "r_scale": scale,
        "r_zero": zero,
    }
    node = helper.make_node(
        "DynamicQuantizeLSTM",
        ["x", "w", "r", "b", "", "", "", "", "w_scale", "w_zero", "r_scale", "r_zero"],
        ["y", "y_h", "y_c"],
        domain="com.microsoft",
        hidden_size=hidden,
        direction="bidirectional" if directions == 2 else "forward",
    )
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [steps, batch, features])],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in node.output],
        [numpy_helper.from_array(value, name) for name, value in weights.items()],
    )
    imports = [helper.make_opsetid("", 14), helper.make_opsetid("com.microsoft", 1)]
    x = random.normal(size=(steps, batch, features)).astype(np.float32)
    return helper.make_model(graph, opset_imports=imports, ir_version=8), x


def run_onnxruntime(model: onnx.ModelProto, x: np.ndarray, threads: int) -> list[np.ndarray]:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return session.run(None, {"x": x})


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
@pytest.mark.parametrize("directions", [1, 2])
@pytest.mark.parametrize("by_column", [False, True])
@pytest.mark.parametrize("hidden", [16, 160])
def test_dynamic_quantize_lstm(dtype, directions, by_column, hidden):
    model, x = dynamic_quantize_lstm(dtype, directions, by_column, hidden=hidden)
    expected = run_onnxruntime(model, x, threads=2)
    plan = sardonyx.load(model)
    for _ in range(2):  # the second run has the weights that the first one has kept
        for got, want in zip(plan.run({"x": x}), expected, strict=True):
            np.testing.assert_allclose(got, want, atol=1e-5)


@pytest.mark.parametrize("batch", [2, 3, 8])
@pytest.mark.parametrize("directions", [1, 2])
def test_a_batch_of_dynamic_quantize_lstm_has_one_scale(batch, directions):
    """The state of a step is rounded by the least and the greatest number of the whole batch.

    ONNX Runtime does so on one thread. On several it cuts the batch into one piece for each and
    rounds every piece by its own numbers, so that its results depend on the number of threads.
    """
    model, x = dynamic_quantize_lstm(np.int8, directions, True, batch)
    ours = sardonyx.load(model).run({"x": x})
    for got, want in zip(ours, run_onnxruntime(model, x, threads=1), strict=True):
        np.testing.assert_allclose(got, want, atol=1e-5)
    for got, want in zip(ours, run_onnxruntime(model, x, threads=2), strict=True):
        np.testing.assert_allclose(got, want, atol=1e-2)


@pytest.mark.parametrize("kinds", [("uint8", "int8"), ("int8", "int8"), ("uint8", "uint8")])
@pytest.mark.parametrize("by_column", [False, True])
@pytest.mark.parametrize("optional", ["none", "zero points", "bias"])
def test_matmul_integer_to_float(kinds, by_column, optional):
    random = np.random.default_rng(3)
    columns = (40,) if by_column else ()
    values = {
        "a": random.integers(0, 100, (3, 20, 64)).astype(kinds[0]),
        "b": random.integers(0, 100, (64, 40)).astype(kinds[1]),
        "a_scale": np.array(0.02, np.float32),
        "b_scale": (0.01 + random.random(columns)).astype(np.float32),
    }
    if optional != "none":
        values["a_zero"] = np.array(5, kinds[0])
        values["b_zero"] = np.full(columns, 7, kinds[1])
    if optional == "bias":
        values["bias"] = random.normal(size=40).astype(np.float32)
    node = helper.make_node("MatMulIntegerToFloat", list(values), ["y"], domain="com.microsoft")
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("a", getattr(TensorProto, kinds[0].upper()), [3, 20, 64])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(values[name], name) for name in list(values)[1:]],
    )
    imports = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=10)
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    (expected,) = session.run(None, {"a": values["a"]})
    (got,) = sardonyx.load(model).run({"a": values["a"]})
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("changed", "dims", "message"),
    [
        ("a_scale", (20,), "scales"),
        ("b_scale", (3,), "scales"),
        ("bias", (3,), "3 biases for 40 columns"),
        ("b", (63, 40), "do not multiply"),
    ],
)
def test_matmul_integer_to_float_with_shapes_that_do_not_fit(changed, dims, message):
    values = {
        "a": np.zeros((20, 64), np.uint8),
        "b": np.zeros((64, 40), np.uint8),
        "a_scale": np.array(1, np.float32),
        "b_scale": np.array(1, np.float32),
        "a_zero": np.array(0, np.uint8),
        "b_zero": np.array(0, np.uint8),
        "bias": np.zeros(40, np.float32),
    }
    values[changed] = np.zeros(dims, values[changed].dtype)
    kinds = {name: helper.np_dtype_to_tensor_dtype(x.dtype) for name, x in values.items()}
    graph = helper.make_graph(
        [helper.make_node("MatMulIntegerToFloat", list(values), ["y"], domain="com.microsoft")],
        "g",
        [helper.make_tensor_value_info(name, kinds[name], None) for name in values],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("com.microsoft", 1)])
    with pytest.raises(RuntimeError, match=message):
        sardonyx.load(model).run(values)


# --- Operators that are made of standard ones ----------------------------------------------------

DATA = np.random.default_rng(3)


def real(*dims: int) -> np.ndarray:
    return DATA.normal(size=dims).astype(np.float32)


def codes(dtype: str, *dims: int) -> np.ndarray:
    limits = np.iinfo(dtype)
    return DATA.integers(limits.min, limits.max + 1, dims).astype(dtype)


def scale(value: float) -> np.ndarray:
    return np.array(value, np.float32)


X8, Z8 = codes("uint8", 2, 3, 4), np.array(120, np.uint8)
I8, ZI = codes("int8", 2, 3, 4), np.array(-5, np.int8)
PACKED = codes("uint8", 8, 3, 16)  # 8 rows of 3 blocks of 32 codes of 4 bits
MASK = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32)

# The operator, its inputs (None: left out), its attributes, and the number of outputs.
CALLS: list[tuple[str, list[np.ndarray | None], dict[str, object], int]] = [
    ("Gelu", [real(3, 40)], {}, 1),
    ("BiasGelu", [real(2, 3, 8), real(8)], {}, 1),
    ("FastGelu", [real(2, 8)], {}, 1),
    ("FastGelu", [real(2, 8), real(8)], {}, 1),
    ("QuickGelu", [real(2, 8)], {}, 1),
    ("QuickGelu", [real(2, 8)], {"alpha": 1.0}, 1),
    ("FusedMatMul", [real(2, 3), real(3, 4)], {"alpha": 0.5}, 1),
    ("FusedMatMul", [real(3, 2), real(4, 3)], {"transA": 1, "transB": 1}, 1),
    ("FusedMatMul", [real(5, 2, 3), real(5, 4, 3)], {"transB": 1, "alpha": 2.0}, 1),
    ("FusedMatMul", [real(2, 5, 3), real(5, 3, 4)], {"transBatchA": 1}, 1),
    ("FusedMatMul", [real(3, 5, 2), real(5, 3, 4)], {"transBatchA": 1, "transA": 1}, 1),
    ("SkipLayerNormalization", [real(2, 3, 8), real(2, 3, 8), real(8)], {}, 1),
    ("SkipLayerNormalization", [real(2, 3, 8), real(2, 3, 8), real(8), real(8), real(8)],
     {"epsilon": 1e-3}, 1),
    ("SkipSimplifiedLayerNormalization", [real(2, 3, 8), real(2, 3, 8), real(8), real(8)],
     {"epsilon": 1e-5}, 1),
    ("MatMulNBits", [real(5, 96), PACKED, real(8, 3)],
     {"K": 96, "N": 8, "bits": 4, "block_size": 32}, 1),
    ("MatMulNBits", [real(2, 5, 96), PACKED, real(24), codes("uint8", 8, 2)],
     {"K": 96, "N": 8, "bits": 4, "block_size": 32}, 1),
    ("MatMulNBits", [real(2, 90), PACKED, real(24), None, None, real(8)],
     {"K": 90, "N": 8, "bits": 4, "block_size": 32}, 1),
    ("QLinearAdd", [X8, scale(0.1), Z8, codes("uint8", 4), scale(0.05), Z8, scale(0.12), Z8],
     {}, 1),
    ("QLinearMul", [I8, scale(0.1), ZI, codes("int8", 3, 1), scale(0.05), ZI, scale(0.2), ZI],
     {}, 1),
    ("QLinearSigmoid", [X8, scale(0.05), Z8, scale(1 / 256), np.array(0, np.uint8)], {}, 1),
    ("QLinearLeakyRelu", [I8, scale(0.05), ZI, scale(0.05), ZI], {"alpha": 0.1}, 1),
    ("QLinearGlobalAveragePool",
     [codes("uint8", 2, 3, 5, 6), scale(0.1), Z8, scale(0.02), Z8], {}, 1),
    ("QLinearGlobalAveragePool",
     [codes("uint8", 2, 5, 6, 3), scale(0.1), Z8, scale(0.02), Z8], {"channels_last": 1}, 1),
    ("QLinearConcat",
     [scale(0.1), Z8, X8, scale(0.1), Z8, codes("uint8", 2, 1, 4), scale(0.2), Z8],
     {"axis": 1}, 1),
    ("Attention", [real(2, 5, 8), real(8, 24), real(24)], {"num_heads": 2}, 1),
    ("Attention", [real(2, 5, 8), real(8, 24), real(24)],
     {"num_heads": 4, "unidirectional": 1}, 1),
    ("Attention", [real(2, 5, 8), real(8, 24), real(24), MASK], {"num_heads": 2}, 1),
    ("Attention", [real(2, 5, 8), real(8, 24), real(24), np.array([3, 5], np.int32)],
     {"num_heads": 2, "scale": 0.5}, 1),
    ("Attention", [real(2, 5, 8), real(8, 20), real(20)],
     {"num_heads": 2, "qkv_hidden_sizes": [8, 8, 4]}, 1),
]  # fmt: skip


def model_of(
    name: str, inputs: list[np.ndarray | None], attributes: dict[str, object], outputs: int
) -> onnx.ModelProto:
    names = [f"x{i}" if value is not None else "" for i, value in enumerate(inputs)]
    like = inputs[2 if name == "QLinearConcat" else 0]
    assert like is not None
    kind = helper.np_dtype_to_tensor_dtype(like.dtype)
    node = helper.make_node(
        name, names, [f"y{i}" for i in range(outputs)], domain="com.microsoft", **attributes
    )
    graph = helper.make_graph(
        [node],
        "g",
        [
            helper.make_tensor_value_info(
                one, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape
            )
            for one, value in zip(names, inputs, strict=True)
            if value is not None
        ],
        [helper.make_tensor_value_info(one, kind, None) for one in node.output],
    )
    imports = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=10)


@pytest.mark.parametrize(
    "call", range(len(CALLS)), ids=[f"{one[0]}-{i}" for i, one in enumerate(CALLS)]
)
def test_operators_of_onnx_runtime(call: int) -> None:
    name, inputs, attributes, outputs = CALLS[call]
    model = model_of(name, inputs, attributes, outputs)
    given = {f"x{i}": value for i, value in enumerate(inputs) if value is not None}
    session = ort_session(model.SerializeToString())
    (expected,) = session.run(None, given)
    found = np.asarray(sardonyx.load(model.SerializeToString())(**given))
    assert found.dtype == expected.dtype and found.shape == expected.shape
    if found.dtype == np.float32:
        np.testing.assert_allclose(found, expected, rtol=2e-4, atol=2e-5)
    else:  # roundings of another order
        assert np.abs(found.astype(int) - expected.astype(int)).max() <= 1


@pytest.mark.parametrize(
    ("name", "inputs", "attributes", "said"),
    [
        ("MatMulNBits", [real(2, 9), PACKED, real(24)],
         {"K": 9, "N": 8, "bits": 4, "block_size": 32}, "do not fit N=8, K=9"),
        ("MatMulNBits", [real(2, 90), PACKED, real(24)],
         {"K": 90, "N": -8, "bits": 4, "block_size": 32}, "must be positive"),
        ("MatMulNBits", [real(2, 90), PACKED, real(24)],
         {"K": 96, "N": 8, "bits": 4, "block_size": 32}, "does not end in K=96"),
        ("SkipLayerNormalization", [real(2, 1), real(2, 8), real(8)], {}, "does not broadcast"),
        ("QLinearAdd", [X8, real(2), Z8, X8, scale(1), Z8, scale(1), Z8], {}, "must be one number"),
        ("QLinearConcat", [scale(1), Z8, X8, scale(1)], {"axis": 0}, "must be threes"),
        ("QLinearConcat", [scale(1), Z8, I8, scale(1), ZI], {"axis": 0}, "of the codes' type"),
        ("Attention", [real(2, 5, 8), real(8, 25), real(25)], {"num_heads": 2}, "of 2 heads"),
        ("Attention", [real(2, 5, 8), real(8, 24), real(24), MASK[:, :3].copy()],
         {"num_heads": 2}, "`mask_index` of shape [2,3]"),
        ("Attention", [real(2, 5, 8), real(7, 24), real(24)], {"num_heads": 2}, "`weights`"),
        ("BeamSearch", [real(2)], {}, "a schema is enough to check a model, not to run it"),
    ],
)  # fmt: skip
def test_calls_of_them_that_are_refused(name, inputs, attributes, said) -> None:
    model = model_of(name, inputs, attributes, 1)
    given = {f"x{i}": value for i, value in enumerate(inputs) if value is not None}
    with pytest.raises(sardonyx.EvalError) as caught:
        sardonyx.load(model.SerializeToString())(**given)
    assert said in str(caught.value)


# --- Tokenizer


def tokenizer(**attributes: object) -> bytes:
    given = {"mark": 0, "mincharnum": 1, "pad_value": "#", **attributes}
    node = helper.make_node("Tokenizer", ["x"], ["y"], domain="com.microsoft", **given)
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.STRING, None)],
        [helper.make_tensor_value_info("y", TensorProto.STRING, None)],
    )
    imports = [helper.make_opsetid("", 15), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8).SerializeToString()


def strings(*texts: str, shape: tuple[int, ...] | None = None) -> np.ndarray:
    return np.array(texts, object).reshape((len(texts),) if shape is None else shape)


def check_tokens(x: np.ndarray, attributes: dict[str, object]) -> bool:
    """Whether both run it; then they give the same."""
    model = tokenizer(**attributes)
    try:
        (expected,) = ort_session(model).run(None, {"x": x})
    except Exception:  # ONNX Runtime has no classes of exceptions
        expected = None
    try:
        (found,) = sardonyx.load(model).run({"x": x})
    except sardonyx.EvalError as error:
        # ONNX Runtime drops the character behind an empty match of a separator.
        assert expected is None or "matches the empty text" in str(error), (x, attributes)
        return False
    assert expected is not None, (x, attributes)
    assert found.shape == expected.shape, (x, attributes)
    assert found.tolist() == expected.tolist(), (x, attributes)
    return True


@pytest.mark.parametrize(
    ("x", "attributes"),
    [
        (strings("a b", "c"), {"separators": [" "]}),
        (strings("a b", "c", shape=(1, 2)), {"separators": [" "], "mark": 1}),
        (strings("xaby"), {"separators": ["a|ab"]}),  # the longest of the leftmost matches
        (strings("x ab"), {"separators": [" ", "^a"]}),  # `^` is where a piece begins
        (strings("aa b"), {"separators": ["x", "b"], "mincharnum": 2}),
        (strings("aab", "xyaab"), {"tokenexp": "a*?"}),
        (strings("abab"), {"tokenexp": "^a"}),  # `^` is where the text begins
        (strings("foo bar", "a"), {"tokenexp": r"\b\w\w+\b", "mark": 1}),
        (strings("\u00e9t\u00e9 a"), {"tokenexp": r"\w+"}),
        (strings("h\u00e9llo", "\n", ""), {"separators": [""]}),
        (strings("\u00e9 x\n"), {"tokenexp": "."}),
        (strings("h\u00e9y x"), {"separators": [" "], "mincharnum": 3}),
        (strings("", ""), {"separators": [" "], "mark": 1}),
        (strings("a b"), {"separators": [" "], "tokenexp": "a"}),
        (strings(), {"separators": [" "], "mark": 1}),
        (strings(shape=(2, 0)), {"separators": [" "]}),
        (strings(shape=(0, 2)), {"tokenexp": "a"}),
    ],
)  # fmt: skip
def test_tokenizer(x: np.ndarray, attributes: dict[str, object]) -> None:
    assert check_tokens(x, attributes)


ATOMS = ["a", "b", " ", "\u00e9", ".", "[ab]", "[^a]", r"\w", r"\s", r"\b", "^", "$", "(a|ab)",
         "(?:b|ba)+", "a*", "b?", "x{1,2}", r"\W", "a+?", r"\d"]  # fmt: skip
SHAPES = [(1,), (3,), (2, 2), (0,), (2, 0), (0, 2), (1, 3)]


@pytest.mark.parametrize("first", SEEDS)
def test_random_tokenizers(first: int) -> None:
    both = 0
    for seed in range(first, first + 150):
        draw = random.Random(seed)
        patterns = [
            "".join(draw.choices(ATOMS, k=draw.randint(1, 3))) for _ in range(draw.randint(1, 3))
        ]
        attributes: dict[str, object] = {
            "mark": draw.randint(0, 1),
            "mincharnum": draw.choice([1, 1, 2, 3]),
            "pad_value": draw.choice(["", "#", "pad"]),
        }
        if draw.random() < 0.5:
            attributes["tokenexp"] = patterns[0]
        else:
            attributes["separators"] = patterns
        shape = draw.choice(SHAPES)
        texts = ["".join(draw.choices("ab x\u00e9.1\n", k=draw.randint(0, 8))) for _ in range(4)]
        both += check_tokens(strings(*texts[: math.prod(shape)], shape=shape), attributes)
    assert both > 100


@pytest.mark.parametrize(
    ("x", "attributes", "said"),
    [
        (strings("a"), {}, "one of the attributes `separators` and `tokenexp` is needed"),
        (strings("a"), {"separators": [" "], "mincharnum": 0}, "must be positive"),
        (strings("a"), {"separators": [""], "mincharnum": 2}, "cut into characters"),
        (strings("a"), {"separators": ["("]}, "pattern"),
        (strings("aaa"), {"separators": ["x*"]}, "matches the empty text"),
        (strings("a", shape=()), {"separators": [" "]}, "must be [C] or [N,C]"),
        (strings("a", shape=(1, 1, 1)), {"separators": [" "]}, "must be [C] or [N,C]"),
    ],
)  # fmt: skip
def test_tokenizers_that_are_refused(x, attributes, said) -> None:
    with pytest.raises(sardonyx.EvalError) as caught:
        sardonyx.load(tokenizer(**attributes)).run({"x": x})
    assert said in str(caught.value)


def test_a_tokenizer_ends_within_a_text() -> None:
    """Each place of the text is tried, and each try reads the rest."""
    model = sardonyx.load(tokenizer(tokenexp="a*b"))
    started = time.process_time()
    with pytest.raises(TimeoutError):
        model.run({"x": strings("a" * 200_000)}, timeout=0.2)
    assert time.process_time() - started < 10
