"""Models of every kind: exported, checked, and run at other sizes than they were exported with."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

torch = pytest.importorskip("torch")

import families  # noqa: E402, F401  they add to the zoo
import networks  # noqa: E402, F401
import sardonyx.torch  # noqa: E402
from torch.utils import _pytree  # noqa: E402
from zoo import MODELS  # noqa: E402

from sampling import some  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]


SAMPLED = 6


def runtime_of(data: bytes) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])


def runtime_with_kernels(data: bytes) -> Any:
    """None where ONNX Runtime lacks a kernel, as it does for DOUBLE and small integers."""
    try:
        return runtime_of(data)
    except Exception as error:
        assert "NOT_IMPLEMENTED" in str(error)
        return None


def chosen() -> list[str]:
    """All of them but for the families, of which a sample is tried; SDX_FULL=1: all."""
    rest = sorted(name for name in MODELS if MODELS[name].__module__ == "families")
    tried = some(rest, SAMPLED)
    return [name for name in MODELS if name not in rest or name in tried]


@pytest.mark.parametrize("name", chosen())
def test_model(name: str) -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    case = MODELS[name]()
    module = case.module.eval()
    exported = sardonyx.torch.export(module, case.arguments(3, 5), dynamic_shapes=case.shapes)
    data = exported.to_model_bytes()
    onnx.checker.check_model(onnx.load_from_string(data), full_check=True)
    native, session = exported.compile(), runtime_of(data)
    inputs = [one.name for one in session.get_inputs()]
    state = {key: value.clone() for key, value in module.state_dict().items()}
    for b, n in ((3, 5), (2, 7)):
        torch.manual_seed(b)
        given = case.arguments(b, n)
        module.load_state_dict(state)
        wanted = _pytree.tree_leaves(module(*_pytree.tree_map(copied, given)))
        arrays = [
            one.numpy() for one in _pytree.tree_leaves(given) if isinstance(one, torch.Tensor)
        ]
        ours = native(*arrays)
        ours = list(ours) if isinstance(ours, (list, tuple)) else [ours]
        theirs = session.run(None, dict(zip(inputs, arrays, strict=True)))
        assert len(ours) >= len(wanted)
        for results in (ours, theirs):
            for result, want in zip(results, wanted, strict=False):
                half = want.dtype == torch.float16
                assert np.asarray(result).dtype == want.detach().numpy().dtype
                np.testing.assert_allclose(
                    np.asarray(result), want.detach().numpy(), rtol=1e-2 if half else 1e-4,
                    atol=1e-2 if half else 2e-5,
                )  # fmt: skip


def copied(value: Any) -> Any:
    return value.clone() if isinstance(value, torch.Tensor) else value
