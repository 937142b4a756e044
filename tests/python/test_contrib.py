"""Operators that ONNX Runtime adds to the standard, with its results."""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime
import pytest
import sardonyx
from onnx import TensorProto, helper, numpy_helper


def dynamic_quantize_lstm(
    dtype: type[np.generic], directions: int, by_column: bool, batch: int = 1, hidden: int = 16
) -> tuple[onnx.ModelProto, np.ndarray]:
    """A model of the one node, and an input."""
    random = np.random.default_rng(7)
    steps, features = 5, 8
    limits = np.iinfo(dtype)  # type: ignore[type-var]
    columns = (4 * hidden,) if by_column else ()

    def codes(rows: int) -> np.ndarray:
        return random.integers(limits.min, limits.max, (directions, rows, 4 * hidden)).astype(dtype)

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
