"""What is said where an export is called in a way that is easily wrong."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import sardonyx.torch  # noqa: E402
from torch import nn  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]

X = torch.ones(1, 4)
PROGRAM = pathlib.Path(os.environ.get("SDX_BUILD", "build/release")).resolve() / "sardonyx"


@dataclasses.dataclass
class Scores:
    best: Any


class OfAClass(nn.Module):
    def forward(self, x: Any) -> Any:
        return Scores(x + 1)


class OfNumPy(nn.Module):
    def forward(self, x: Any) -> Any:
        return x + torch.from_numpy(np.sin(x.numpy()))


class OfElements(nn.Module):
    def forward(self, x: Any) -> Any:
        return x + 1 if x.sum().item() > 0 else x


def quantized() -> nn.Module:
    from torch.ao.quantization import quantize_dynamic

    return quantize_dynamic(nn.Sequential(nn.Linear(4, 3)), {nn.Linear})


@pytest.mark.skipif(sys.version_info < (3, 11), reason="notes came with Python 3.11")
@pytest.mark.parametrize(
    ("module", "shapes", "hint"),
    [
        (OfAClass, None, "`torch.export.register_dataclass(Scores)`"),
        (OfNumPy, None, "in place of NumPy's"),
        (OfElements, None, "`torch.cond`"),
        (quantized, None, "`prepare_pt2e`"),
        (nn.ReLU, ({0: torch.export.Dim("n")},), "`n` has size 1 in the example"),
        (nn.ReLU, {"input": (torch.export.Dim("n"), None)}, "`n` has size 1 in the example"),
    ],
)
def test_what_helps_is_said(module: Any, shapes: Any, hint: str) -> None:
    with pytest.raises(Exception, match="") as failed:
        sardonyx.torch.export(module(), (X,), dynamic_shapes=shapes)
    assert any(hint in note for note in failed.value.__notes__), failed.value.__notes__


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        (X.numpy(), {}, "`torch.from_numpy"),
        (X, {"opset": "20"}, "`opset` is a whole number, such as 20, not `'20'`"),
        (X, {"input_names": "x"}, r'`input_names` is a list of names: write `\["x"\]`'),
        (X, {"output_names": "y"}, "`output_names` is a list"),
    ],
)
def test_arguments_of_wrong_types(given: Any, options: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        sardonyx.torch.export(nn.ReLU(), (given,), **options)


def test_sizes_that_torch_takes_for_the_only_ones() -> None:
    with pytest.warns(UserWarning, match="`batch` is 1; PyTorch takes the sizes 0 and 1 of an"):
        sardonyx.torch.export(nn.ReLU(), (X,), dynamic_shapes=({0: "batch"},))


def test_a_newer_opset_is_named(tmp_path: pathlib.Path) -> None:
    class Halves(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("weight", torch.ones(3, 4).to(torch.float8_e4m3fn))

        def forward(self, x: Any) -> Any:
            return x @ self.weight.t().float()

    program = torch.export.export(Halves().eval(), (X,))
    torch.export.save(program, tmp_path / "model.pt2")
    command = [PROGRAM, "import", tmp_path / "model.pt2", "-o", tmp_path / "model.onnx"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    with pytest.raises(sardonyx.torch.ExportError) as failed:
        sardonyx.torch.convert(program)
    for message in (str(failed.value), done.stderr):
        assert "= help: opset 21 takes it; this one takes" in message
    assert sardonyx.torch.convert(program, opset=21).to_model_bytes()
