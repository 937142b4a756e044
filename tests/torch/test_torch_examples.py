"""The examples that need PyTorch."""

from __future__ import annotations

import pathlib
import runpy

import pytest

torch = pytest.importorskip("torch")

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]
EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("torch_*.py")), ids=lambda path: path.stem)
def test_example(path: pathlib.Path) -> None:
    if path.stem == "torch_transformers":
        pytest.importorskip("transformers")
    torch.set_num_threads(1)
    runpy.run_path(str(path))["main"]()
