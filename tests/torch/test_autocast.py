"""Regions of torch.autocast in files of torch.export.save: the casts that PyTorch makes."""

from __future__ import annotations

import pathlib
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest

torch = pytest.importorskip("torch")

import sardonyx.torch  # noqa: E402
from sardonyx._core import torch_autocast_policy  # noqa: E402
from test_pt2 import changed, in_json  # noqa: E402
from torch import nn  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]

F = nn.functional
LOWER = [torch.bfloat16, torch.float16]


def schemas() -> list[str]:
    found = []
    for one in torch._C._jit_get_all_schemas():
        found.append(f"{one.name}.{one.overload_name}" if one.overload_name else one.name)
    return [one for one in found if one.startswith("aten::")]


@pytest.mark.parametrize(("device", "key"), [("cpu", "AutocastCPU"), ("cuda", "AutocastCUDA")])
def test_the_tables_have_the_kernels_of_torch(device: str, key: str) -> None:
    has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
    banned = {"cuda": {"aten::binary_cross_entropy"}, "cpu": set()}[device]
    wanted, found = set(), set()
    for name in schemas():
        overload = name if "." in name else f"{name}.default"
        if torch_autocast_policy(device, overload):
            found.add(name)
        try:
            if has_kernel(name, key):
                wanted.add(name)
        except RuntimeError:
            continue  # of TorchScript alone
    assert found == wanted - banned


def test_policies_are_those_of_torch() -> None:
    """By calls of operators that take one or two matrices: of FLOAT and of BFLOAT16."""
    seen = set()
    for name in schemas():
        overload = name if "." in name else f"{name}.default"
        policy = torch_autocast_policy("cpu", overload)
        space, packet = overload.split("::")
        operator = getattr(getattr(torch.ops, space), packet.split(".")[0])
        for count in (1, 2, 3):
            floats = [torch.eye(3) + 0.1 for _ in range(count)]
            halves = [one.bfloat16() for one in floats]
            with torch.autocast("cpu", dtype=torch.bfloat16):
                try:
                    chosen = getattr(operator, packet.split(".")[1])
                    results = [chosen(*floats), chosen(*halves)]
                except Exception:  # other arguments
                    continue
            if not all(isinstance(one, torch.Tensor) for one in results):
                continue
            types = [one.dtype for one in results]
            if policy == "lower":
                assert types == [torch.bfloat16] * 2, name
                seen.add(policy)
            if policy == "float":
                assert torch.bfloat16 not in types, name
                seen.add(policy)
    assert seen == {"lower", "float"}


class Layers(nn.Module):
    """Linear, convolution, products, softmax, normalisation, and joined tensors of two types."""

    def __init__(self, dtype: Any) -> None:
        super().__init__()
        self.dtype = dtype
        self.linear, self.conv = nn.Linear(4, 4), nn.Conv2d(2, 3, 3, padding=1)
        self.layer = nn.LayerNorm(4)

    def forward(self, x: Any, image: Any) -> Any:
        with torch.autocast("cpu", dtype=self.dtype):
            y = self.linear(x)
            z = torch.softmax(y @ x.mT, -1)
            joined, stacked = torch.cat([y, x], -1), torch.stack([y, y])
            normal = self.layer(y) + self.layer(x)
            attention = F.scaled_dot_product_attention(y[None], x[None], x[None])
            loss = F.mse_loss(y, x)
            trace = torch.einsum("ij,kj->ik", y, x)
            turned = torch.einsum("ij->ji", x)
            images = F.relu(self.conv(image))
        return y, z, joined, stacked, normal, attention, loss, trace, turned, images


class Nested(nn.Module):
    """Off in on, on in off, and another type inside."""

    def __init__(self, dtype: Any) -> None:
        super().__init__()
        self.dtype = dtype
        self.linear = nn.Linear(4, 4)

    def forward(self, x: Any, y: Any) -> Any:
        other = torch.float16 if self.dtype == torch.bfloat16 else torch.bfloat16
        with torch.autocast("cpu", dtype=self.dtype):
            a = self.linear(x)
            with torch.autocast("cpu", enabled=False):
                b = self.linear(x)
                with torch.autocast("cpu", dtype=other):
                    c = x @ x.mT  # torch keeps casts of weights in the first type
                with torch.no_grad():
                    d = b @ x.mT
            e = self.linear(b)
            with torch.autocast("cpu", dtype=other):
                f = a @ x.mT
        with torch.autocast("cpu", enabled=False), torch.autocast("cpu", dtype=self.dtype):
            g = x @ x.mT
        return a, b, c, d, e, f, g, y + 1


class Written(nn.Module):
    """A cast value that is written in place afterwards."""

    def __init__(self, dtype: Any) -> None:
        super().__init__()
        self.dtype = dtype

    def forward(self, x: Any, y: Any) -> Any:
        with torch.autocast("cpu", dtype=self.dtype):
            z = x + 1
            a = z @ z.mT
            z.mul_(2)
            b = z @ z.mT
        return a, b, y * 2


def arguments() -> tuple[torch.Tensor, ...]:
    torch.manual_seed(0)
    return torch.randn(3, 4), torch.randn(1, 2, 5, 5)


def casts(script: str) -> set[str]:
    """The types that values are cast to, with their sizes."""
    return set(re.findall(r": (\w+(?:\[[^\]]*\])?) = aten\._to_copy\(", script))


def check(model: Any, wanted: Any, tolerance: float) -> None:
    proto = model.to_model_proto()
    onnx.checker.check_model(proto, full_check=True)
    found = model.compile()(*[one.numpy() for one in arguments()])
    for ours, theirs in zip(found, wanted, strict=True):
        assert str(np.asarray(ours).dtype) == str(theirs.dtype).removeprefix("torch.")
        other = theirs.detach().float().numpy()
        np.testing.assert_allclose(
            np.asarray(ours, np.float32), other, rtol=tolerance, atol=tolerance
        )


@pytest.mark.parametrize("dtype", LOWER)
@pytest.mark.parametrize("make", [Layers, Nested, Written])
def test_a_file_has_the_casts_of_torch(make: Any, dtype: Any, tmp_path: pathlib.Path) -> None:
    torch.manual_seed(0)
    module, given = make(dtype).eval(), arguments()
    program = torch.export.export(module, given)
    torch.export.save(program, tmp_path / "model.pt2")
    read = sardonyx.torch.convert(tmp_path / "model.pt2", opset=22)
    direct = sardonyx.torch.convert(program, opset=22)
    tolerance = 5e-2 if make is Written else 2e-2
    check(read, module(*given), tolerance)
    check(direct, module(*given), tolerance)
    # Transposes may come before a cast or after it, and axes may be added before.
    by_size = [{tuple(sorted(re.findall(r"[\w]+", one))) for one in casts(model.to_script())}
               for model in (read, direct)]  # fmt: skip
    assert by_size[0] >= {one for one in by_size[1] if len(one) <= 3}


class Recurrent(nn.Module):
    def __init__(self, layer: Any, dtype: Any, **options: Any) -> None:
        super().__init__()
        self.dtype = dtype
        self.layer = layer(4, 5, 2, batch_first=True, **options)

    def forward(self, x: Any) -> Any:
        with torch.autocast("cpu", dtype=self.dtype):
            return self.layer(x)


@pytest.mark.parametrize("dtype", LOWER)
@pytest.mark.parametrize(
    ("layer", "options"),
    [(nn.LSTM, {}), (nn.LSTM, {"bidirectional": True}), (nn.GRU, {}), (nn.RNN, {}),
     (nn.LSTM, {"proj_size": 3}),
     (nn.LSTM, {"proj_size": 3, "bidirectional": True, "bias": False}),
     (nn.RNN, {"nonlinearity": "relu", "bias": False})],
)  # fmt: skip
def test_recurrent_layers_have_the_types_of_torch(
    layer: Any, options: Any, dtype: Any, tmp_path: pathlib.Path
) -> None:
    torch.manual_seed(0)
    module, x = Recurrent(layer, dtype, **options).eval(), torch.randn(2, 3, 4)
    program = torch.export.export(module, (x,))
    torch.export.save(program, tmp_path / "model.pt2")
    # The kernels of oneDNN, which not all processors have, choose other types than the program.
    with torch.no_grad(), torch.backends.mkldnn.flags(enabled=False):
        wanted = torch.utils._pytree.tree_leaves(module(x))
    for source in (program, tmp_path / "model.pt2"):
        model = sardonyx.torch.convert(source, opset=22)
        onnx.checker.check_model(model.to_model_proto(), full_check=True)
        found = model.compile()(x.numpy())
        for ours, theirs in zip(found, wanted, strict=True):
            assert str(np.asarray(ours).dtype) == str(theirs.dtype).removeprefix("torch.")
            np.testing.assert_allclose(
                np.asarray(ours, np.float32), theirs.float().numpy(), rtol=2e-2, atol=2e-2
            )


def test_the_default_types_of_devices(tmp_path: pathlib.Path) -> None:
    class Default(nn.Module):
        def forward(self, x: Any) -> Any:
            with torch.autocast("cpu"):
                return x @ x

    program = torch.export.export(Default(), (torch.eye(3),))
    torch.export.save(program, tmp_path / "model.pt2")
    text = sardonyx.torch.convert(tmp_path / "model.pt2").to_script()
    assert "matmul: BFLOAT16[3, 3]" in text
    assert text.count("_to_copy(") == 1  # the value is cast once


class OfCuda(nn.Module):
    def forward(self, x: Any) -> Any:
        with torch.autocast("cpu", dtype=torch.float16):
            y = x @ x
            return torch.exp(y), torch.softmax(y, -1), torch.atan2(y, x), torch.log(x.double())


def on_cuda(program: dict[str, Any]) -> None:
    """As if tensors and the region were on CUDA, where `exp` and `softmax` give FLOAT."""

    def walk(one: Any) -> None:
        if isinstance(one, list):
            for each in one:
                walk(each)
        if isinstance(one, dict):
            if one.get("as_string") == "cpu":
                one["as_string"] = "cuda"
            if one.get("type") == "cpu":
                one["type"] = "cuda"
            for name in ("exp", "softmax", "getitem", "getitem_1"):
                meta = one.get("tensor_values", {}).get(name)
                if meta is not None:
                    meta["dtype"] = 7
            for each in one.values():
                walk(each)

    walk(program)


def test_a_region_on_cuda(tmp_path: pathlib.Path) -> None:
    program = torch.export.export(OfCuda(), (torch.eye(3) + 1,))
    torch.export.save(program, tmp_path / "model.pt2")
    data = (tmp_path / "model.pt2").read_bytes()
    path = tmp_path / "cuda.pt2"
    path.write_bytes(changed(data, "model.json", in_json(on_cuda)))
    text = sardonyx.torch.convert(path).to_script()
    assert "matmul: FLOAT16[3, 3] = aten.matmul(" in text
    assert "exp: FLOAT[3, 3] = aten.exp(matmul_as_FLOAT)" in text
    assert "softmax: FLOAT[3, 3] = aten.softmax(matmul_as_FLOAT, -1)" in text
    assert re.search(r"atan2: FLOAT\[3, 3\] = aten.atan2\(matmul_as_FLOAT, \w+\)", text)
    assert re.search(r"log: DOUBLE\[3, 3\] = aten.log\(to\)", text)  # DOUBLE is never cast


def edited(folder: pathlib.Path, change: Callable[[Any], None]) -> pathlib.Path:
    """A file whose region has other arguments."""

    def apply(program: Any) -> None:
        (region,) = program["graph_module"]["graph"]["nodes"][:1]
        change([one["arg"] for one in region["inputs"]])

    program = torch.export.export(OfCuda(), (torch.eye(3) + 1,))
    torch.export.save(program, folder / "model.pt2")
    data = (folder / "model.pt2").read_bytes()
    path = folder / "edited.pt2"
    path.write_bytes(changed(data, "model.json", in_json(apply)))
    return path


def test_a_region_that_does_not_concern_the_tensors(tmp_path: pathlib.Path) -> None:
    """Of CUDA, with tensors on the CPU: torch casts nothing, so the types in the file are wrong."""

    def other_device(args: Any) -> None:
        args[0]["as_string"] = "cuda"

    with pytest.raises(sardonyx.torch.ExportError, match="FLOAT16"):
        sardonyx.torch.convert(edited(tmp_path, other_device))


def test_other_devices_are_refused(tmp_path: pathlib.Path) -> None:
    def other_device(args: Any) -> None:
        args[0]["as_string"] = "xpu"

    words = "a region of torch.autocast for a device that is neither cpu nor cuda"
    with pytest.raises(sardonyx.torch.ExportError, match=words):
        sardonyx.torch.convert(edited(tmp_path, other_device))


def test_regions_that_are_no_regions(tmp_path: pathlib.Path) -> None:
    for arg in ({"as_int": 3}, {"as_none": True}, {"as_string": ""}):

        def spoil(args: Any, arg: Any = arg) -> None:
            args[0].clear()
            args[0].update(arg)

        with pytest.raises(sardonyx.torch.ExportError, match=r"torch\.autocast"):
            sardonyx.torch.convert(edited(tmp_path, spoil))


class HalfUsed(nn.Module):
    def forward(self, x: Any) -> Any:
        with torch.autocast("cpu", enabled=False):
            return x.topk(2)[0], x.sort()[1]


def test_results_that_a_region_does_not_use(tmp_path: pathlib.Path) -> None:
    program = torch.export.export(HalfUsed(), (torch.randn(3, 4),))
    torch.export.save(program, tmp_path / "model.pt2")
    with warnings.catch_warnings():
        warnings.simplefilter("error", sardonyx.ScriptWarning)
        texts = []
        for source in (program, tmp_path / "model.pt2"):
            made = sardonyx.torch.convert(source)
            made.compile()
            texts.append(re.sub(r"submod_\d", "submod", made.to_script()))
    assert texts[0] == texts[1]
    assert "[1]" in texts[0]
