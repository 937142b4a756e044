"""Operators that the library lacks, by PyTorch's decompositions; regions of torch.autocast."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest

torch = pytest.importorskip("torch")

import sardonyx.torch  # noqa: E402
from sardonyx.torch import aten  # noqa: E402
from torch import nn  # noqa: E402
from torch.utils import _pytree  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]

ATEN = torch.ops.aten
LACKING = ("aten::_addmm_activation.default", "aten::log_sigmoid_forward.default",
           "aten::_euclidean_dist.default")  # fmt: skip


def compared(module: nn.Module, sizes: tuple[int, ...], rtol: float = 1e-4) -> Any:
    """Exports with a dynamic first dimension, and compares at other sizes."""
    shapes = ({0: torch.export.Dim("rows")},)
    made = sardonyx.torch.export(module, (torch.randn(3, 4),), dynamic_shapes=shapes)
    native = made.compile()
    for rows in sizes:
        x = torch.randn(rows, 4)
        wanted, found = module(x.clone()), native(x.numpy())
        wanted = list(wanted) if isinstance(wanted, (list, tuple)) else [wanted]
        found = list(found) if isinstance(found, (list, tuple)) else [found]
        for ours, theirs in zip(found, wanted, strict=True):
            other = theirs.detach().float().numpy()
            np.testing.assert_allclose(np.asarray(ours, np.float32), other, rtol=rtol, atol=rtol)
    return made


class Lacking(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 5)

    def forward(self, x: torch.Tensor) -> Any:
        linear = self.linear
        y = ATEN._addmm_activation.default(linear.bias, x, linear.weight.t(), use_gelu=True)
        z, _ = ATEN.log_sigmoid_forward.default(x)
        z.mul_(2.0)
        return y, z + x.shape[0], ATEN._euclidean_dist.default(x, x + 1.0)


def test_what_the_library_lacks() -> None:
    assert not set(LACKING) & set(aten.overloads())
    made = compared(Lacking(), (3, 6))
    script = made.to_script()
    # The rest is what the user has written, and lines are the user's.
    assert "aten.t(" in script
    assert "_addmm_activation: " in script
    metadata = [one for node in made.to_model_proto().graph.node for one in node.metadata_props]
    assert any("test_decompose.py" in one.value for one in metadata)


def test_inside_a_branch() -> None:
    class Branch(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            def yes(x: torch.Tensor) -> torch.Tensor:
                return ATEN.log_sigmoid_forward.default(x)[0]  # type: ignore[no-any-return]

            return torch.cond(x.sum() > 0, yes, torch.sin, (x,))  # type: ignore[no-any-return]

    compared(Branch(), (2, 3, 4, 5))


def test_writes_into_what_is_decomposed() -> None:
    """Views of such results, and of tensors that a region of autocast returns, reach them."""

    class Writes(nn.Module):
        def forward(self, x: torch.Tensor) -> Any:
            y = x.clone()
            first = y[0]
            a = ATEN.log_sigmoid_forward.default(y)[0]
            a[0] += 1.0
            first.add_(1.0)
            b = ATEN.log_sigmoid_forward.default(x)[0].view(-1)
            b[1:3].mul_(3.0)
            with torch.autocast("cpu", dtype=torch.bfloat16):
                turned = y.t()
                turned.mul_(2.0)
                c = y @ turned
            turned.add_(1.0)
            c[0] += 1.0
            return y, a, b, c, turned

    compared(Writes(), (2, 5), 3e-2)


def test_operator_of_operators_with_a_constant() -> None:
    """Its name is free, also where a buffer has the one that it would get."""
    library = torch.library.Library("sardonyx_tests_ramp", "DEF")
    library.define("ramped(Tensor x) -> Tensor")
    ramp = torch.tensor([1.0, 2.0, 3.0, 4.0])
    library.impl("ramped", lambda x: x + ramp.clone(), "CompositeImplicitAutograd")

    class Named(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("ramped_constant_0", torch.full((4,), 5.0))

        def forward(self, x: torch.Tensor) -> Any:
            y = torch.ops.sardonyx_tests_ramp.ramped(x)
            return y + self.ramped_constant_0

    made = compared(Named(), (2, 5))
    names = sorted(one.name for one in made.to_model_proto().graph.initializer)
    assert names == ["ramped_constant_0", "ramped_constant_0_"]


def test_what_cannot_be_decomposed_is_told() -> None:
    class Both(nn.Module):
        def forward(self, x: torch.Tensor) -> Any:
            return ATEN.log_sigmoid_forward.default(x)[0], torch.linalg.ldl_factor(x @ x.T)[0]

    with pytest.raises(sardonyx.torch.ExportError) as caught:
        sardonyx.torch.export(Both(), (torch.randn(3, 4),))
    assert "1 problem\n" in str(caught.value)
    assert "ldl_factor" in str(caught.value)


class Autocast(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> Any:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = self.linear(x)
            z = torch.softmax(y, -1) @ y.T
            with torch.autocast("cpu", enabled=False):
                w = self.linear(x)
        return y, z.float() + 1.0, w


def test_autocast() -> None:
    made = compared(Autocast(), (3, 5), 3e-2)
    assert "BFLOAT16" in made.to_script()
    names = {one.name for one in made.to_model_proto().graph.initializer}
    assert {"linear.weight", "linear.bias"} <= names


@pytest.mark.parametrize("opset", [20, 22])  # Conv has BFLOAT16 from opset 22 on
def test_autocast_of_convolutions(opset: int) -> None:
    class Convolved(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.MaxPool2d(2))

        def forward(self, x: torch.Tensor) -> Any:
            with torch.autocast("cpu", dtype=torch.bfloat16):
                return torch.relu(self.layers(x))

    module = Convolved().eval()
    x = torch.randn(2, 3, 8, 8)
    found = sardonyx.torch.export(module, (x,), opset=opset).compile()(x.numpy())
    wanted = module(x).detach()
    assert wanted.dtype == torch.bfloat16 and str(np.asarray(found).dtype) == "bfloat16"
    other = wanted.float().numpy()
    np.testing.assert_allclose(np.asarray(found, np.float32), other, rtol=3e-2, atol=3e-2)


def test_autocast_of_normalisation() -> None:
    """The weights stay FLOAT; the results have the type of what is normalised."""

    class Normalised(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(4, 8)
            self.layer, self.group = nn.LayerNorm(8), nn.GroupNorm(2, 8)
            self.instance = nn.InstanceNorm1d(8, affine=True)
            for one in (self.layer, self.group, self.instance):
                nn.init.uniform_(one.weight)
                nn.init.uniform_(one.bias)

        def forward(self, x: torch.Tensor) -> Any:
            with torch.autocast("cpu", dtype=torch.bfloat16):
                y = self.linear(x)
                channels = torch.stack([y, y * y, -y.abs()], -1)
                return self.layer(y), self.group(channels), self.instance(channels)

    made = compared(Normalised().eval(), (2, 5), 3e-2)
    types = [one.type.tensor_type.elem_type for one in made.to_model_proto().graph.output]
    assert types == [onnx.TensorProto.BFLOAT16] * 3


class Scaled(torch.Tensor):
    """A weight as torchao has them: small integers, and the scale of each row."""

    def __new__(cls, codes: Any, scale: Any) -> Any:
        return torch.Tensor._make_wrapper_subclass(cls, codes.shape, dtype=scale.dtype)

    def __init__(self, codes: Any, scale: Any) -> None:
        self.codes, self.scale = codes, scale

    def __tensor_flatten__(self) -> tuple[list[str], None]:
        return ["codes", "scale"], None

    @classmethod
    def __tensor_unflatten__(cls, inner: Any, *_: Any) -> Any:
        return cls(inner["codes"], inner["scale"])

    @classmethod
    def __torch_dispatch__(cls, function: Any, types: Any, args: Any, kwargs: Any = None) -> Any:
        if function is torch.ops.aten.detach.default:
            return cls(args[0].codes, args[0].scale)
        plain = _pytree.tree_map_only(cls, lambda one: one.codes * one.scale, args)
        return function(*plain, **(kwargs or {}))


def test_weights_that_hold_other_tensors() -> None:
    module = torch.nn.Linear(4, 3)
    codes = torch.arange(-6, 6, dtype=torch.int8).reshape(3, 4)
    scaled = Scaled(codes, torch.tensor([[0.5], [0.25], [2.0]]))
    module.weight = torch.nn.Parameter(scaled, requires_grad=False)
    exported = sardonyx.torch.export(module.eval(), (torch.ones(2, 4),))
    x = torch.arange(8.0).reshape(2, 4)
    found = exported.compile()(x.numpy())
    np.testing.assert_allclose(found, module(x).detach().numpy(), rtol=1e-6)
    assert any(one.dtype == np.int8 for one in exported.weights.values())


# What run_decompositions makes of these is not what torch.export makes.
DECOMPOSED: dict[str, Any] = {
    "checks": lambda x: (torch.inverse(x), torch.linalg.solve(x, x[:, :1]), torch.cdist(x, x, 1.0)),
    "fourier": lambda x: [
        one for norm in (None, "ortho", "forward")
        for one in (torch.fft.fftn(x, norm=norm), torch.fft.ifft2(x, norm=norm),
                    torch.fft.rfft2(x, norm=norm), torch.fft.irfft2(x, s=(4, 5), norm=norm))
    ],
    "sparse": lambda x: torch.sparse.mm(
        torch.sparse_coo_tensor(torch.tensor([[0, 2], [1, 1]]), x[0, :2], (4, 4)), x
    ),
}  # fmt: skip


class Of(nn.Module):
    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: Any) -> Any:
        return self.function(x)


@pytest.mark.parametrize("name", DECOMPOSED)
def test_a_program_that_is_decomposed(name: str) -> None:
    torch.manual_seed(0)
    module, x = Of(DECOMPOSED[name]), torch.randn(4, 4)
    program = torch.export.export(module, (x,)).run_decompositions()
    inputs = len(program.graph_signature.input_specs)
    found = sardonyx.torch.convert(program).compile()(x.numpy())
    wanted = _pytree.tree_leaves(module(x))
    for ours, theirs in zip(found if len(wanted) > 1 else [found], wanted, strict=True):
        parts = torch.view_as_real(theirs) if theirs.is_complex() else theirs
        np.testing.assert_allclose(ours, parts.numpy(), rtol=1e-4, atol=1e-5)
    assert len(program.graph_signature.input_specs) == inputs  # the program stays as it is


def test_numbers_that_are_drawn() -> None:
    def draw(x: Any) -> Any:
        return torch.poisson(x), x.clone().random_(3), torch._standard_gamma(x), gamma_of_half(x)

    def gamma_of_half(x: Any) -> Any:
        return torch._standard_gamma(torch.full_like(x, 0.5))

    x = torch.full((4000,), 6.5)
    model = sardonyx.torch.export(Of(draw), (x,)).compile()
    counts, whole, gamma, small = (np.asarray(one) for one in model(x.numpy()))
    assert abs(counts.mean() - 6.5) < 0.3 and abs(counts.var() - 6.5) < 0.9
    assert set(np.unique(whole)) == {0.0, 1.0, 2.0}
    assert abs(gamma.mean() - 6.5) < 0.3 and abs(gamma.var() - 6.5) < 0.9
    assert abs(small.mean() - 0.5) < 0.08 and abs(small.var() - 0.5) < 0.15 and small.min() >= 0


class Results(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("kept", torch.zeros(3, 4))

    def forward(self, x: Any) -> Any:
        values, places = x.topk(2, -1)
        self.kept.copy_(x.sort(-1)[0])
        return {"values": values, "places": places, "top": x.max(1).values}


@pytest.mark.parametrize("names", [None, ["a", "b", "c"]])
def test_results_of_one_operator_have_the_names_of_outputs(names: Any) -> None:
    program = torch.export.export(Results(), (torch.randn(3, 4),))
    for one in (program, program.run_decompositions()):
        model = sardonyx.torch.convert(one, output_names=names).to_model_proto()
        found = [output.name for output in model.graph.output]
        assert found == [*(names or ["values", "places", "top"]), "kept_next"]
