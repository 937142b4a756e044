"""Values with their channels innermost (eval/test_layouts.py) where one plan runs many times: its
results do not depend on threads or on earlier runs, and observers see ONNX's order."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest
import sardonyx

from cli.test_cli import run
from eval.test_layouts import chain_of_convolutions, onnx_runtime, picture, random_net


@pytest.mark.parametrize("seed", range(60, 90))
def test_threads_change_nothing(seed: int) -> None:
    net, _ = random_net(seed)
    last = net.nodes[-1].output[0]
    model = sardonyx.load(net.model([last], ["n", 3, *([None] * (net.rank - 2))]))
    x = picture(1, 3, *([64, 48][: net.rank - 2]))
    (first,) = model.run({"x": x}, threads=1)
    np.testing.assert_array_equal(model.run({"x": x}, threads=2)[0], first)


def test_shapes_change_between_runs() -> None:
    net = chain_of_convolutions()
    model = sardonyx.load(net.model(["v2"], ["n", 3, "h", "w"]))
    for dims in ((1, 3, 9, 7), (2, 3, 4, 20), (1, 3, 1, 1), (0, 3, 5, 5), (1, 3, 9, 7)):
        x = picture(*dims)
        (expected,) = onnx_runtime(net.model(["v2"], list(dims)), x)
        np.testing.assert_allclose(model.run({"x": x})[0], expected, atol=1e-5)


def test_a_trace_has_the_order_of_onnx(tmp_path: pathlib.Path) -> None:
    net = chain_of_convolutions()
    path = tmp_path / "net.onnx"
    path.write_bytes(net.model(["v2"], ["n", 3, "h", "w"]))
    done = run("run", path, "x=rand:FLOAT[1,3,9,7]", "--trace")
    shapes = [line.split("  ")[0] for line in done.stdout.splitlines()[:3]]
    assert shapes == [f"v{i}: FLOAT[1, 8, 9, 7]" for i in range(3)]
