"""`target=`: models for a release of ONNX Runtime, run by the one that is installed."""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from test_pt2 import PROGRAM

torch = pytest.importorskip("torch")

import sardonyx.torch  # noqa: E402
from sardonyx.torch import ExportError  # noqa: E402
from torch import nn  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]

ROOT = pathlib.Path(__file__).resolve().parents[2]
NEWEST = "onnxruntime-1.31"


class Module(nn.Module):
    def __init__(self, body: Callable[..., Any]) -> None:
        super().__init__()
        self.body = body

    def forward(self, *x: torch.Tensor) -> Any:
        return self.body(*x)


def session(data: bytes) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])


def array(tensor: torch.Tensor) -> np.ndarray[Any, Any]:
    return (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).detach().numpy()


def branches(x: torch.Tensor) -> torch.Tensor:
    return torch.cond(x.sum() > 0, lambda x: torch.erf(x), lambda x: torch.tan(x), (x,))


def floats(dtype: torch.dtype) -> torch.Tensor:
    return torch.tensor([[-1.5, 0.25, 2.0], [0.5, -0.125, 3.0]], dtype=dtype)


def integers(dtype: torch.dtype) -> torch.Tensor:
    return torch.tensor([[100, 3, 5], [7, 90, 1]], dtype=dtype)


def between_casts(body: Callable[..., Any], *dtypes: torch.dtype) -> Callable[..., Any]:
    """ONNX Runtime's package has no arrays of BFLOAT16: the ends are FLOAT."""
    return lambda *x: body(*(one.to(to) for one, to in zip(x, dtypes, strict=True))).float()


B16 = torch.bfloat16
IMAGE = torch.linspace(-1, 1, 2 * 3 * 8 * 8, dtype=torch.float64).reshape(2, 3, 8, 8)
KERNEL = torch.linspace(-1, 1, 4 * 3 * 3 * 3, dtype=torch.float64).reshape(4, 3, 3, 3)
CASES: dict[str, tuple[Callable[..., Any], tuple[torch.Tensor, ...]]] = {
    "double_erf": (torch.erf, (floats(torch.float64),)),
    "double_gelu": (torch.nn.functional.gelu, (floats(torch.float64),)),
    "double_elu": (torch.nn.functional.elu, (floats(torch.float64),)),
    "double_conv": (torch.nn.functional.conv2d, (IMAGE, KERNEL)),
    "double_pool": (lambda x: torch.nn.functional.avg_pool2d(x, 2), (IMAGE,)),
    "double_nonzero": (lambda x: (x * 1e-60).nonzero(), (floats(torch.float64),)),
    "double_branches": (branches, (floats(torch.float64),)),
    "double_twice": (lambda x: (torch.erf(x), torch.tan(x), x), (floats(torch.float64),)),
    "half_erf": (torch.erf, (floats(torch.float16),)),
    "half_softmax": (lambda x: x.softmax(1), (floats(torch.float16),)),
    "bfloat16_add": (between_casts(torch.add, B16, B16), (floats(torch.float32),) * 2),
    "bfloat16_layers": (
        between_casts(lambda x, w: torch.layer_norm(x @ w.T, (2,)).tanh(), B16, B16),
        (floats(torch.float32), floats(torch.float32)),
    ),
    "bool_where": (
        lambda x, y: torch.where(x > y, x == y, y > 2),
        (integers(torch.int64), integers(torch.int64).flip(0)),
    ),
    "half_scatter": (
        lambda x: x.scatter_reduce(0, torch.tensor([[0, 0, 1]]), x, "sum"),
        (floats(torch.float16),),
    ),
    "half_put": (
        lambda x: x.index_put((torch.tensor([1, 1]),), x, accumulate=True),
        (floats(torch.float16),),
    ),
    "bool_scatter": (
        lambda x: (x > 4).scatter_reduce(0, torch.tensor([[0, 0, 1]]), x > 6, "amax"),
        (integers(torch.int64),),
    ),
    "bool_unique": (lambda x: torch.unique(x > 4), (integers(torch.int64),)),
    "int16_max": (torch.maximum, (integers(torch.int16), integers(torch.int16).flip(1))),
    "int16_clamp": (lambda x: x.clamp(2, 50), (integers(torch.int16),)),
    "int8_wraps": (lambda x, y: x * y + x, (integers(torch.int8), integers(torch.int8).flip(1))),
    "uint8_pow": (lambda x: x**3, (integers(torch.uint8),)),
    "int32_unique": (torch.unique, (integers(torch.int32),)),
    "uint8_depth": (
        lambda x: torch.pixel_shuffle(x, 2),
        (torch.arange(64, dtype=torch.uint8).reshape(1, 4, 4, 4),),
    ),
    "int64_sort": (
        lambda x: x.clamp(2, 50).sort(1).values,
        (integers(torch.int64),),
    ),
}


@pytest.mark.parametrize("target", ["onnxruntime-1.17", "onnxruntime-1.20.1", NEWEST])
@pytest.mark.parametrize("name", CASES)
def test_models_run(name: str, target: str) -> None:
    body, inputs = CASES[name]
    wanted = body(*inputs)
    exported = sardonyx.torch.export(Module(body), inputs, target=target)
    data = exported.to_model_bytes()
    onnx.checker.check_model(onnx.load_from_string(data), full_check=True)
    runner = session(data)
    fed = {one.name: x.numpy() for one, x in zip(runner.get_inputs(), inputs, strict=True)}
    found = runner.run(None, fed)
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    half = name.startswith(("half", "bfloat16"))
    for one, other in zip(found, map(array, wanted), strict=True):
        assert one.dtype == other.dtype
        near = 1e-2 if half else 1e-6
        np.testing.assert_allclose(one, other, rtol=max(near, 1e-5), atol=near)


@pytest.mark.parametrize("name", ["double_erf", "double_conv", "double_branches", "bfloat16_add"])
def test_without_a_target_they_do_not_run(name: str) -> None:
    body, inputs = CASES[name]
    with pytest.raises(Exception, match=r"NOT_IMPLEMENTED|NotImplemented|invalid"):
        session(sardonyx.torch.export(Module(body), inputs).to_model_bytes())


MASK = torch.tensor([[True, False, True], [False, False, True]])
FLAGS = torch.tensor([[True, True, False], [False, True, False]])
WITHOUT_TARGET: dict[str, tuple[Callable[..., Any], tuple[torch.Tensor, ...]]] = {
    **{name: CASES[name] for name in (
        "bool_where", "half_scatter", "half_put", "bool_scatter", "bool_unique", "int32_unique",
        "uint8_depth")},
    "bool_masked_fill": (
        lambda x, m: (x.masked_fill(m, True), x.masked_fill(m, False)), (FLAGS, MASK)),
    "bool_where_numbers": (
        lambda x, m: (torch.where(m, x, True), torch.where(m, False, x)), (FLAGS, MASK)),
    "bool_where_tensors": (
        lambda x, m: torch.where(m[0], x, x[:, :1]), (FLAGS, MASK)),
    "bool_put": (lambda x, m: x.index_put((m,), torch.tensor(True)), (FLAGS, MASK)),
    "bool_put_more": (
        lambda x, m: x.index_put((m,), torch.tensor(False), accumulate=True), (FLAGS, MASK)),
    "bool_masked_scatter": (lambda x, m: x.masked_scatter(m, ~x), (FLAGS, MASK)),
    "bool_masked_select": (lambda x, m: torch.masked_select(x[:, None], m), (FLAGS, MASK)),
    "bool_diagonals": (
        lambda x, m: (torch.diag_embed(x), x.diagonal_scatter(m[0, :2])), (FLAGS, MASK)),
    "bool_fill_diagonal": (lambda x, m: (x | m).fill_diagonal_(True), (FLAGS, MASK)),
    "half_index_add": (
        lambda x: x.index_add(0, torch.tensor([1, 1]), x), (floats(torch.float16),)),
    "bool_masked_fill_number": (
        lambda x, m: (x.masked_fill(m, 0), x.masked_fill(m, 1.5)), (FLAGS, MASK)),
    "uint8_triangles": (lambda x: (x.tril(), x.triu(1)), (integers(torch.uint8),)),
    "int8_triangles": (lambda x: (x.tril(-1), x.triu()), (integers(torch.int8),)),
    "bfloat16_triangles": (between_casts(torch.tril, torch.bfloat16), (floats(torch.float32),)),
    "nextafter": (torch.nextafter, (floats(torch.float32), floats(torch.float32).flip(1))),
    "int8_nonzero": (lambda x: (x // 50).nonzero(), (integers(torch.int8),)),
    "double_nonzero": (
        lambda x: (x.clamp(min=0).nonzero(as_tuple=True)[1]), (floats(torch.float64),)),
    "int64_linear": (
        torch.nn.functional.linear, (integers(torch.int64),) * 2 + (torch.tensor([3, 4]),)),
    "int32_unique_dim": (
        lambda x: torch.unique(x, dim=1, return_counts=True), (integers(torch.int32),)),
}  # fmt: skip


@pytest.mark.parametrize("name", WITHOUT_TARGET)
def test_models_run_without_a_target(name: str) -> None:
    body, inputs = WITHOUT_TARGET[name]
    wanted = body(*(x.clone() for x in inputs))
    runner = session(sardonyx.torch.export(Module(body), inputs).to_model_bytes())
    fed = {one.name: x.numpy() for one, x in zip(runner.get_inputs(), inputs, strict=True)}
    found = runner.run(None, fed)
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    for one, other in zip(found, map(array, wanted), strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=1e-3)


def test_names_stay_and_casts_are_shared() -> None:
    body, inputs = CASES["double_twice"]
    graph = sardonyx.torch.export(Module(body), inputs, target=NEWEST).to_model_proto().graph
    plain = sardonyx.torch.export(Module(body), inputs).to_model_proto().graph
    assert graph.input == plain.input
    assert graph.output == plain.output
    assert [one.op_type for one in graph.node].count("Cast") == 3


def test_versions_of_the_target() -> None:
    body, inputs = CASES["half_erf"]
    for target, opset, wanted, ir, has_metadata in (
        ("onnxruntime-1.17", None, 20, 9, False),
        ("onnxruntime-1.20", None, 20, 10, True),
        ("onnxruntime-1.20", 21, 21, 10, True),
    ):
        exported = sardonyx.torch.export(Module(body), inputs, target=target, opset=opset)
        model = exported.to_model_proto()
        assert exported.opset == wanted == model.opset_import[0].version
        assert model.ir_version <= ir
        assert any(one.metadata_props for one in model.graph.node) == has_metadata


@pytest.mark.parametrize(
    ("target", "opset", "words"),
    [
        ("onnxruntime", None, "`onnxruntime` is not a target; write it as `onnxruntime-1.20`"),
        ("onnxruntime-1.x", None, "is not a target"),
        ("onnxruntime-1.20.1.2", None, "is not a target"),
        ("onnxruntime-1.16", None, "the kernels of ONNX Runtime 1.16 are not known; the oldest"),
        ("onnxruntime-1.20", 22, "ONNX Runtime 1.20 does not take opset 22; its newest is 21"),
    ],
)
def test_bad_targets(target: str, opset: int | None, words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        sardonyx.torch.export(Module(torch.erf), (torch.ones(2),), target=target, opset=opset)


def test_what_no_cast_helps_is_reported_at_once() -> None:
    def body(x: torch.Tensor) -> Any:
        return torch.unique(x), torch.cumsum(x, 0)

    x = torch.tensor([3, 1, 3], dtype=torch.uint64)
    with pytest.raises(ExportError, match=r"ONNX Runtime 1.31 cannot run the model: .*`Unique`"):
        sardonyx.torch.export(Module(body), (x,), target=NEWEST).to_model_bytes()


def test_command_line(tmp_path: pathlib.Path) -> None:
    body, inputs = CASES["double_erf"]
    path, out = tmp_path / "erf.pt2", tmp_path / "erf.onnx"
    torch.export.save(torch.export.export(Module(body), inputs), path)
    command = [PROGRAM, "import", str(path), "-o", str(out), "--target", NEWEST]
    subprocess.run(command, check=True)
    converted = sardonyx.torch.convert(path, target=NEWEST).to_model_bytes()
    for data in (out.read_bytes(), converted):
        (found,) = session(data).run(None, {"x_0": inputs[0].numpy()})
        np.testing.assert_allclose(found, torch.erf(inputs[0]).numpy(), rtol=1e-6)
    for target, opset in (("onnxruntime-2", "20"), ("onnxruntime-1.20", "22")):
        done = subprocess.run([*command[:5], "--target", target, "--opset", opset],
                              capture_output=True, text=True)  # fmt: skip
        assert done.returncode == 2
        assert "onnxruntime-1.20" in done.stderr or "opset 22" in done.stderr
    done = subprocess.run([*command[:4], str(tmp_path / "erf.py"), "--target", NEWEST],
                          capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 2
    assert "`--target` is for models" in done.stderr


def test_the_table_is_what_the_runtime_reports() -> None:
    sys.path.insert(0, str(ROOT / "tools"))
    import generate_runtime_kernels as generator

    text = (ROOT / "src/models/runtime_kernels.def").read_text()
    releases = re.findall(r"SDX_MEASURED\((\d+), (\d+), (\d+)\)$", text, re.MULTILINE)
    measured = {f"{major}.{minor}": int(index) for index, major, minor in releases}
    version, reported = generator.report("")
    index = measured[version.rpartition(".")[0]]
    rows = set()
    for name, since, until, first, last, sets in re.findall(
        r'SDX_KERNEL\("(\w+)", (\d+), (\d+), (\d+), (\d+)(.*)\)', text
    ):
        if int(first) <= index <= int(last):
            found = re.findall(r'\{"(\w+)", (0x\w+)\}', sets)
            kinds = tuple((of, int(types, 16)) for of, types in found)
            rows.add((name, int(since), int(until), kinds))
    assert rows == generator.kernels(reported)
