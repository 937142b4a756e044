"""The script of a module is compiled once, to check it: the first who asks gets that model."""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest

torch = pytest.importorskip("torch")

import sardonyx.torch  # noqa: E402
from torch import nn  # noqa: E402

X = torch.randn(2, 4)


def exported(module: nn.Module) -> Any:
    return sardonyx.torch.export(module.eval(), (X,))


def without_library(made: Any) -> Any:
    """Nothing can be compiled any more."""
    made._script.__wrapped__.__globals__["aten"] = None
    return made


def test_the_model_of_the_check_is_given_once(tmp_path: pathlib.Path) -> None:
    module = nn.Linear(4, 3).eval()
    wanted = module(X).detach().numpy()
    asked: list[Callable[[Any], Any]] = [
        lambda one: one.to_model_bytes(),
        lambda one: one.to_model_proto(),
        lambda one: one.save(tmp_path / "one.onnx"),
        lambda one: one.compile(),
    ]
    for ask in asked:
        made = without_library(exported(module))
        ask(made)
        with pytest.raises(sardonyx.torch.ExportError):
            made.to_model_bytes()
    found = without_library(exported(module)).compile()(X.numpy())
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)
    # Once more, compiled anew: the same bytes.
    again = exported(module)
    assert again.to_model_bytes() == again.to_model_bytes()


def test_other_options_are_compiled() -> None:
    made = exported(nn.Linear(4, 3))
    assert made.to_model_proto(producer_name="mine").producer_name == "mine"
    made = exported(nn.Linear(4, 3))
    assert made.to_model_proto(opset=22).opset_import[0].version == 22


def test_changed_weights_are_in_the_model() -> None:
    """Also those that the compiler computes with, or has found to be equal."""
    module = nn.LSTM(4, 3).eval()
    twins = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4)).eval()
    with torch.no_grad():
        twins[1].bias.copy_(twins[0].bias)
    for one in (module, twins):
        made = exported(one)
        with torch.no_grad():
            for parameter in one.parameters():
                parameter.data.add_(torch.rand_like(parameter))
        found = made.compile()(X.numpy())
        wanted = one(X)
        if isinstance(wanted, tuple):
            found, wanted = found[0], wanted[0]
        np.testing.assert_allclose(found, wanted.detach().numpy(), rtol=1e-5, atol=1e-6)


def test_replaced_weights_are_in_the_model() -> None:
    made = exported(nn.Linear(4, 3))
    made.weights["bias"] = np.full(3, 7, np.float32)
    model = onnx.load_from_string(made.to_model_bytes())
    stored = {one.name: onnx.numpy_helper.to_array(one) for one in model.graph.initializer}
    assert stored["bias"].tolist() == [7, 7, 7]


def test_changed_operators_are_in_the_model() -> None:
    @torch.library.custom_op("sardonyx_tests::changing", mutates_args=())
    def changing(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    changing.register_fake(torch.empty_like)

    class Uses(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.ops.sardonyx_tests.changing(x)

    by = 2.0

    @sardonyx.torch.operator("sardonyx_tests::changing")
    def scaled(x):
        return x * by

    made = exported(Uses())
    by = 3.0
    np.testing.assert_array_equal(made.compile()(X.numpy()), X.numpy() * 3)
