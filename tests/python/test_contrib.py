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
