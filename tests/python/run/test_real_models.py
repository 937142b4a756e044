"""Real models run natively, on inputs that a user would give, with ONNX Runtime's results."""

from __future__ import annotations

import numpy as np
import onnxruntime
import pytest
import sardonyx

from real_models import MODELS, models_folder


@pytest.mark.parametrize("name", MODELS)
def test_real_model(name):
    one = MODELS[name]
    path = models_folder() / one.path
    if not path.exists():
        pytest.skip(f"{path.name} is not there: `tools/dev models` fetches it")
    inputs = one.inputs()
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    # As the nodes say: the optimized graph rounds 8-bit numbers at other places.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    expected = session.run(None, inputs)
    model = sardonyx.load(path)
    results = model.run(inputs, threads=3)
    again = model.run(inputs, threads=1)  # the same numbers
    assert len(results) == len(expected)
    for result, want, second in zip(results, expected, again, strict=True):
        assert result.dtype == want.dtype
        assert result.shape == want.shape
        np.testing.assert_array_equal(result, second)
        if want.dtype.kind == "f":
            bound = one.tolerance * max(1.0, float(np.abs(want).max(initial=0)))
            np.testing.assert_allclose(result, want, rtol=0, atol=bound)
        else:
            np.testing.assert_array_equal(result, want)
