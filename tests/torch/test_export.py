"""sardonyx.torch.export and convert: names, texts, reports, state."""

from __future__ import annotations

import collections
import copy
import pathlib
import pickle
import runpy
import sys
import warnings
from typing import Any

import numpy as np
import onnx
import pytest

torch = pytest.importorskip("torch")

import sardonyx.torch  # noqa: E402
from torch import nn  # noqa: E402
from torch._higher_order_ops import associative_scan  # noqa: E402
from torch.utils import _pytree  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]


class Small(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 3)

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"scores": torch.relu(self.linear(x)), "size": x.sum(1)}


def test_names_are_those_of_torch() -> None:
    shapes = {"x": {0: torch.export.Dim("rows")}}
    exported = sardonyx.torch.export(Small(), (torch.randn(2, 4),), dynamic_shapes=shapes)
    model = exported.to_model_proto()
    graph = model.graph
    assert [one.name for one in graph.input] == ["x"]
    assert [one.name for one in graph.output] == ["scores", "size"]
    assert {one.name for one in graph.initializer} == {"linear.weight", "linear.bias"}
    assert graph.input[0].type.tensor_type.shape.dim[0].dim_param == "rows"
    assert model.producer_name == "sardonyx"


def test_script_stands_alone(tmp_path: pathlib.Path) -> None:
    module = Small()
    exported = sardonyx.torch.export(module, (torch.randn(2, 4),), dynamic_shapes=({0: "rows"},))
    text = exported.to_script()
    assert 'linear: FLOAT["rows", 3] = aten.linear(x, w["linear.weight"], w["linear.bias"])' in text
    exported.save_script(tmp_path / "small.py")
    function = runpy.run_path(str(tmp_path / "small.py"))["main"]
    x = torch.randn(5, 4)
    wanted = module(x)
    # Called as Python, line by line, and compiled.
    for scores, size in (function(x.numpy()), function.compile()(x.numpy())):
        np.testing.assert_allclose(scores, wanted["scores"].detach().numpy(), rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(size, wanted["size"].numpy(), rtol=1e-5, atol=1e-6)


def test_output_is_written(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "small.onnx"
    exported = sardonyx.torch.export(Small(), (torch.randn(2, 4),), output=path, opset=18)
    assert exported.opset == 18
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    assert model.opset_import[0].version == 18
    assert exported.save(tmp_path / "again.onnx", external_bytes=16) > 0
    assert len(list(tmp_path.glob("again.onnx*"))) == 2
    onnx.checker.check_model(str(tmp_path / "again.onnx"))


def test_weights_are_not_copied() -> None:
    module = Small()
    exported = sardonyx.torch.export(module, (torch.randn(2, 4),))
    array = exported.weights["linear.weight"]
    assert array.ctypes.data == module.linear.weight.data_ptr()


def test_whole_slices_are_nothing() -> None:
    class Subscripts(nn.Module):
        def forward(self, x: torch.Tensor) -> Any:
            return x[:, :, 1], x[:, None, :, 1:2], x[:, :2, :], x[:]

    x = torch.arange(24.0).reshape(2, 3, 4)
    exported = sardonyx.torch.export(Subscripts(), (x,))
    assert exported.to_script().count("aten.slice(") == 2
    for ours, wanted in zip(exported.compile()(x.numpy()), Subscripts()(x), strict=True):
        np.testing.assert_array_equal(ours, wanted.numpy())


@pytest.mark.parametrize(
    ("sizes", "most"),
    [(((3, 4), (4,), (3, 1)), 4), (((2, 3), (2, 3)), 2), (((3, 1), (1, 4), ()), 15)],
)
def test_known_shapes_are_not_compared(sizes: tuple[tuple[int, ...], ...], most: int) -> None:
    class Broadcast(nn.Module):
        def forward(self, *x: torch.Tensor) -> Any:
            return torch.broadcast_tensors(*x)

    given = [torch.randn(one) for one in sizes]
    shapes = (tuple({0: torch.export.Dim.AUTO} if one[:1] in ((2,), (3,)) else None
                    for one in sizes),)  # fmt: skip
    exported = sardonyx.torch.export(Broadcast(), tuple(given), dynamic_shapes=shapes)
    nodes = exported.to_model_proto().graph.node
    assert len([one for one in nodes if one.op_type != "Constant"]) <= most
    found = exported.compile()(*[one.numpy() for one in given])
    for ours, wanted in zip(found, Broadcast()(*given), strict=True):
        np.testing.assert_array_equal(ours, wanted.numpy())


def test_all_problems_at_once() -> None:
    class Hard(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = torch.linalg.ldl_factor(x)
            return y.LD + torch.hash_tensor(x)

    with pytest.raises(sardonyx.torch.ExportError) as caught:
        sardonyx.torch.export(Hard(), (torch.eye(3),))
    text = str(caught.value)
    assert "cannot convert the program: 2 problems" in text
    assert "`aten::linalg_ldl_factor.default` is not in the library" in text
    assert "y = torch.linalg.ldl_factor(x)" in text
    assert "test_export.py:" in text
    assert '@sardonyx.torch.operator("aten::hash_tensor.default")' in text


def test_finding_of_the_compiler_names_the_users_line() -> None:
    class Trained(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.dropout(x, 0.5, True)

    with pytest.raises(sardonyx.torch.ExportError, match=r"module.eval\(\)") as caught:
        sardonyx.torch.export(Trained(), (torch.eye(3),))
    assert "return torch.dropout(x, 0.5, True)" in str(caught.value)


class Counter(nn.Module):
    total: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.total += x
        return self.total * 2


def test_state() -> None:
    x = torch.tensor([1.0, 2.0, 3.0])
    exported = sardonyx.torch.export(Counter(), (x,))
    names = [one.name for one in exported.to_model_proto().graph.output]
    assert len(names) == 2
    assert names[1] == "total_next"
    result, total = exported.compile()(x.numpy())
    np.testing.assert_array_equal(result, [2, 4, 6])
    np.testing.assert_array_equal(total, [1, 2, 3])
    dropped = sardonyx.torch.export(Counter(), (x,), state="drop")
    assert len(dropped.to_model_proto().graph.output) == 1
    with pytest.raises(sardonyx.torch.ExportError, match="`total`"):
        sardonyx.torch.export(Counter(), (x,), state="error")
    with pytest.raises(ValueError, match="state"):
        sardonyx.torch.export(Counter(), (x,), state="forget")


class Turned(nn.Module):
    """Changes the shapes of a buffer and of its input, and back that of another buffer."""

    table: torch.Tensor
    other: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("table", torch.arange(6.0).reshape(2, 3))
        self.register_buffer("other", torch.arange(6.0).reshape(3, 2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.table.t_()
        self.table[0].add_(1)
        self.other.unsqueeze_(1).transpose_(0, 2).transpose_(0, 2).squeeze_(1)
        y = x + self.table + self.other
        x.t_()
        return y


@pytest.mark.parametrize("from_file", [False, True])
def test_shapes_that_are_changed_outside(from_file: bool, tmp_path: pathlib.Path) -> None:
    x = torch.ones(3, 2)
    program: Any = torch.export.export(Turned(), (x.clone(),))
    if from_file:
        program = tmp_path / "model.pt2"
        torch.export.save(torch.export.export(Turned(), (x.clone(),)), program)
    exported = sardonyx.torch.convert(program)
    results = exported.compile()(x.numpy())
    module, seen = Turned(), x.clone()
    wanted = [module(seen), seen, module.table]
    names = [one.name for one in exported.to_model_proto().graph.output]
    assert names[1:] == ["x_next", "table_next"]
    for result, want in zip(results, wanted, strict=True):
        np.testing.assert_array_equal(result, want.numpy())


class Moved(nn.Module):
    """Gives buffers the values that they have: one more often than it changes another."""

    table: torch.Tensor
    count: torch.Tensor
    phases: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("table", torch.arange(3.0))
        self.register_buffer("count", torch.zeros(3))
        self.register_buffer("phases", torch.tensor([1j, 2, 3]))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.table.copy_(self.table.to(x.dtype))
        self.phases.copy_(self.phases)
        self.count += x
        self.table = self.table.to(x.device)
        return x + self.table + self.count + self.phases.real


class MovedOnly(Moved):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.table = self.table.to(x.dtype)
        return x + self.table


@pytest.mark.parametrize("from_file", [False, True])
def test_state_that_stays(from_file: bool, tmp_path: pathlib.Path) -> None:
    def converted(module: nn.Module, **options: Any) -> sardonyx.torch.Exported:
        program: Any = torch.export.export(module, (torch.ones(3),))
        if from_file:
            torch.export.save(program, tmp_path / "model.pt2")
            program = tmp_path / "model.pt2"
        return sardonyx.torch.convert(program, **options)

    made = converted(Moved()).compile()
    assert [one.name for one in sardonyx.load(made).graph.outputs][1:] == ["count_next"]
    result, count = made(np.ones(3, np.float32))
    np.testing.assert_array_equal(result, [2, 5, 7])
    np.testing.assert_array_equal(count, [1, 1, 1])
    only = converted(MovedOnly(), state="error").compile()
    assert len(sardonyx.load(only).graph.outputs) == 1


class Written(Counter):
    def forward(self, x: torch.Tensor, y: torch.Tensor | None = None) -> torch.Tensor:
        if y is not None:
            y.mul_(2)
        return super().forward(x)


@pytest.mark.parametrize("from_file", [False, True])
def test_state_of_a_program_without_writes(from_file: bool, tmp_path: pathlib.Path) -> None:
    """New values of buffers and inputs are results of it, which only its signature says."""
    given = (torch.tensor([1.0, 2.0, 3.0]), torch.ones(2))
    program: Any = torch.export.export(Written(), given).run_decompositions({})
    if from_file:
        torch.export.save(program, tmp_path / "model.pt2")
        program = tmp_path / "model.pt2"
    exported = sardonyx.torch.convert(program)
    graph = exported.to_model_proto().graph
    assert [one.name for one in graph.output][1:] == ["y_next", "total_next"]
    result, y, total = exported.compile()(*[one.numpy() for one in given])
    np.testing.assert_array_equal(result, [2, 4, 6])
    np.testing.assert_array_equal(y, [2, 2])
    np.testing.assert_array_equal(total, [1, 2, 3])
    with pytest.raises(sardonyx.torch.ExportError, match="`total`"):
        sardonyx.torch.convert(program, state="error")


class SameNames(nn.Module):
    """Its buffer has the name of an input."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("x", torch.zeros(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.x.add_(1)
        x.mul_(3)
        return x + self.x


@pytest.mark.parametrize("from_file", [False, True])
def test_a_changed_buffer_with_the_name_of_an_input(
    from_file: bool, tmp_path: pathlib.Path
) -> None:
    x = torch.tensor([1.0, 2.0, 3.0])
    program: Any = torch.export.export(SameNames(), (x,)).run_decompositions({})
    if from_file:
        torch.export.save(program, tmp_path / "model.pt2")
        program = tmp_path / "model.pt2"
    result, changed, state = sardonyx.torch.convert(program).compile()(x.numpy())
    np.testing.assert_array_equal(result, [4, 7, 10])
    np.testing.assert_array_equal(changed, [3, 6, 9])
    np.testing.assert_array_equal(state, [1, 1, 1])


@pytest.mark.parametrize("from_file", [False, True])
def test_inputs_that_are_ints(from_file: bool, tmp_path: pathlib.Path) -> None:
    class Steps(nn.Module):
        def forward(self, x: torch.Tensor, n: int) -> Any:
            half = torch.full((2,), n / 2)
            return x * (n / 3), half, x[: n // 2], torch.arange(n), x * (7 - n) ** 2, x * (n << 1)

    x = torch.arange(8.0)
    shapes = (None, torch.export.Dim.DYNAMIC)
    program: Any = torch.export.export(Steps(), (x, 5), dynamic_shapes=shapes)
    if from_file:
        torch.export.save(program, tmp_path / "model.pt2")
        program = tmp_path / "model.pt2"
    model = sardonyx.torch.convert(program).compile()
    for n in (2, 5, 7):
        found = model(x.numpy(), np.int64(n))
        for ours, wanted in zip(found, Steps()(x, n), strict=True):
            assert np.asarray(ours).dtype == wanted.numpy().dtype
            np.testing.assert_allclose(np.asarray(ours), wanted.numpy(), rtol=1e-6)


def test_users_operator() -> None:
    @torch.library.custom_op("sardonyx_tests::doubled", mutates_args=())
    def doubled(x: torch.Tensor, by: float = 2.0) -> torch.Tensor:
        return x * by

    @doubled.register_fake
    def _(x: torch.Tensor, by: float = 2.0) -> torch.Tensor:
        return torch.empty_like(x) if by else x.clone()

    class Uses(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.ops.sardonyx_tests.doubled(x, 3.0) + 1

    x = torch.randn(4)
    with pytest.raises(sardonyx.torch.ExportError, match="sardonyx_tests::doubled"):
        sardonyx.torch.export(Uses(), (x,))

    @sardonyx.torch.operator("sardonyx_tests::doubled")
    def doubled_in_onnx(x, by=2.0):
        return x * by

    model = sardonyx.torch.export(Uses(), (x,), verify=True).compile()
    np.testing.assert_allclose(model(x.numpy()), (x * 3 + 1).numpy(), rtol=1e-6)


def test_verify_leaves_the_state_of_the_module() -> None:
    class Counts(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("mean", torch.ones(4))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.mean[:2].mul_(0.5).add_(x.mean(0)[:2])
            return x - self.mean

    module, x = Counts(), torch.randn(3, 4)
    model = sardonyx.torch.export(module, (x,), verify=True).compile()
    np.testing.assert_array_equal(module.mean, np.ones(4))
    np.testing.assert_allclose(model(x.numpy())[0], module(x), rtol=1e-6)


def test_verify_of_batches_of_functions() -> None:
    class Scans(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return associative_scan(torch.add, x, 1, combine_mode="generic") * 2

    sardonyx.torch.export(Scans(), (torch.randn(3, 5),), verify=True)
    assert not torch.randn(2).isnan().any()  # an error while `torch.vmap` is at work


def test_derivatives_that_torch_cannot_trace_again() -> None:
    class Derives(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("w", torch.ones(4, 4))

        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
            return torch.func.jvp(lambda z: (z @ self.w).sin(), (x,), (torch.ones_like(x),))

    for _ in range(2):  # what torch has begun is over
        with pytest.raises(sardonyx.torch.ExportError, match=r"torch\.func\.jvp"):
            sardonyx.torch.export(Derives(), (torch.randn(3, 4),))


def test_verify_names_the_operator() -> None:
    class Wrong(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.special.zeta(x + 2, x + 2) * 2

    @sardonyx.torch.operator("aten::special_zeta")
    def zeta(self, other):
        return self + other

    try:
        with pytest.raises(
            sardonyx.torch.ExportError, match=r"aten::special_zeta.default"
        ) as caught:
            sardonyx.torch.export(Wrong(), (torch.ones(3),), verify=True)
        assert "torch.special.zeta(x + 2, x + 2)" in str(caught.value)
    finally:
        from sardonyx.torch import _operators

        _operators._own.clear()


def test_opset_of_the_runtime() -> None:
    module = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.GELU(), torch.nn.LayerNorm(4))
    x = torch.randn(3, 4)
    for opset in (18, 19, 21, 23):
        exported = sardonyx.torch.export(module, (x,), opset=opset)
        model = exported.to_model_proto()
        onnx.checker.check_model(model, full_check=True)
        assert {one.domain: one.version for one in model.opset_import} == {"": opset}
        np.testing.assert_allclose(
            exported.compile()(x.numpy()), module(x).detach().numpy(), rtol=1e-4, atol=1e-5
        )


def test_normalisation_in_training_is_refused() -> None:
    with pytest.raises(sardonyx.torch.ExportError, match="running statistics"):
        sardonyx.torch.export(torch.nn.BatchNorm1d(4), (torch.randn(3, 4),))


def test_random_numbers_have_their_type_and_shape() -> None:
    class Drawn(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.rand_like(x) + torch.randint(2, 5, (3, 4)) * torch.ones(4)

    model = sardonyx.torch.export(Drawn(), (torch.randn(3, 4),)).compile()
    result = model(np.zeros((3, 4), np.float32))
    assert result.shape == (3, 4)
    assert result.dtype == np.float32
    assert (result >= 2).all()
    assert (result < 5).all()


class Packed(torch.nn.Module):
    def forward(self, x: Any, *rest: Any, scale: Any = None) -> Any:
        return x.sum() + rest[0].sum() + rest[1].sum() * scale.sum()


@pytest.mark.parametrize("by_name", [False, True])
def test_names_of_dimensions_of_any_signature(by_name: bool) -> None:
    """`*args` has one entry; a dict may have another order; one name twice is one dimension."""
    arrays = [torch.ones(2, 3), torch.ones(3, 2), torch.ones(4, 5)]
    shapes: Any = ({0: "a"}, ({0: "b"}, {1: "a"}), {0: "c"})
    if by_name:
        shapes = {"scale": shapes[2], "rest": shapes[1], "x": shapes[0]}
    made = sardonyx.torch.export(Packed(), tuple(arrays), {"scale": torch.ones(7)},
                                 dynamic_shapes=shapes)  # fmt: skip
    types = next(one for one in made.to_script().splitlines() if one.startswith("def ")).split(": ")
    assert 'FLOAT["a", 3]' in types[1] and 'FLOAT["b", 2]' in types[2]
    assert 'FLOAT["c"]' in types[4] and '"a"' not in types[3]


class Positions(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("table", torch.randn(1, 9, 4))

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x + self.table[:, : x.shape[1]] + y  # type: ignore[index]


@pytest.mark.parametrize("from_file", [False, True])
def test_bounds_of_dimensions(from_file: bool, tmp_path: pathlib.Path) -> None:
    """Those that torch checks at run time; 0 and 1 are sizes for it, whatever its lower bound."""
    batch, length = torch.export.Dim("batch"), torch.export.Dim("length", min=3, max=9)
    shapes = ({0: batch, 1: length}, {0: batch, 1: length})
    given = torch.ones(3, 5, 4), torch.ones(3, 5, 4)
    module = Positions()
    program = torch.export.export(module, given, dynamic_shapes=shapes)
    made = sardonyx.torch.convert(program)
    names = [str(one) for one in given_symbols(program)]
    if from_file:
        torch.export.save(program, tmp_path / "m.pt2")
        made = sardonyx.torch.convert(tmp_path / "m.pt2")
    assert f'x: FLOAT["{names[0]}", "3 <= {names[1]} <= 9", 4], ' in made.to_script()
    assert f'y: FLOAT["{names[0]}", "{names[1]}", 4]' in made.to_script()
    operators = {node.op_type for node in made.to_model_proto().graph.node}
    assert not operators & {"Min", "If", "Where"}
    run = sardonyx.load(made.to_model_bytes())
    for sizes in ((1, 3, 4), (2, 9, 4)):
        x, y = torch.randn(sizes), torch.randn(sizes)
        np.testing.assert_allclose(run(x.numpy(), y.numpy()), module(x, y).numpy(), rtol=1e-6)


def test_bounds_of_derived_dimensions_are_not_stated() -> None:
    class Halved(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.reshape(x.shape[0] // 2, 2, 4).sum(1)

    half = torch.export.Dim("half", min=2, max=64)
    given = (torch.ones(6, 4),)
    program = torch.export.export(Halved(), given, dynamic_shapes=({0: 2 * half},))
    made = sardonyx.torch.convert(program)
    assert "2*" in made.to_script() and "<= 2*" not in made.to_script()
    run = sardonyx.load(made.to_model_bytes())
    np.testing.assert_array_equal(run(np.ones((8, 4), np.float32)), np.full((4, 4), 2))


def given_symbols(program: torch.export.ExportedProgram) -> list[object]:
    node = next(one for one in program.graph.nodes if one.name == "x")
    return [one for one in node.meta["val"].shape if not isinstance(one, int)]


def test_nodes_say_where_they_come_from() -> None:
    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(4, 8)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            a, b = self.linear(x).chunk(2, -1)
            return torch.nn.functional.gelu(a, approximate="tanh") * b

    module = nn.Sequential(Block(), nn.LayerNorm(4))
    exported = sardonyx.torch.export(module, (torch.ones(2, 4),), opset=18)
    model = exported.to_model_proto()
    onnx.checker.check_model(model, full_check=True)
    assert model.ir_version >= 10
    told = [(node.op_type, {one.key: one.value for one in node.metadata_props})
            for node in model.graph.node]  # fmt: skip
    assert all(entries for _, entries in told)
    scopes = {kind: entries["pkg.torch.onnx.name_scopes"] for kind, entries in told}
    assert scopes["Gemm"] == "['', '0', '0.linear', 'linear']"
    assert scopes["Split"] == "['', '0', 'chunk']"
    assert scopes["Tanh"] == "['', '0', 'gelu']"
    assert scopes["LayerNormalization"] == "['', '1', 'layer_norm']"
    gelu = dict(told)["Tanh"]
    assert gelu["pkg.torch.onnx.class_hierarchy"].endswith("Block', 'aten.gelu.default']")
    assert 'gelu(a, approximate="tanh") * b' in gelu["pkg.torch.onnx.stack_trace"]
    assert "torch.ops.aten.gelu.default](args = (%getitem" in gelu["pkg.torch.onnx.fx_node"]
    plain = sardonyx.torch.export(module, (torch.ones(2, 4),), metadata=False)
    assert not any(node.metadata_props for node in plain.to_model_proto().graph.node)


def test_names_of_inputs_and_outputs() -> None:
    class Three(nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
            z = x + y
            return z, y, z

    given = (torch.ones(2), torch.ones(2))
    names = {"input_names": ["X", "z"], "output_names": ["total", "kept", "FLOATS"]}
    exported = sardonyx.torch.export(Three(), given, **names)
    graph = exported.to_model_proto().graph
    assert [one.name for one in graph.input] == names["input_names"]
    assert [one.name for one in graph.output] == names["output_names"]
    for wrong, words in (
        ({"input_names": ["a.b"]}, "`a.b` is not a valid name"),
        ({"input_names": ["a", "b", "c"]}, "3 names for 2 inputs"),
        ({"output_names": ["a", "a"]}, "a name twice"),
        ({"output_names": ["x"]}, "`x` is the name of an input"),
        ({"output_names": ["FLOAT"]}, "`FLOAT` is not a valid name"),
    ):
        with pytest.raises(ValueError, match=words):
            sardonyx.torch.export(Three(), given, **wrong)


def test_what_gives_its_argument_is_no_node() -> None:
    class Copies(torch.nn.Module):
        def forward(self, x):
            y = torch.relu(x).contiguous()
            z = torch.nn.functional.dropout(y.to(torch.float32), 0.5, False).detach()
            return {"whole": z, "same": y.clone(), "given": x.to(torch.float32)}

    x = torch.randn(2, 3)
    made = sardonyx.torch.export(Copies(), (x,))
    model = made.to_model_proto()
    assert [one.name for one in model.graph.output] == ["whole", "same", "given"]
    operators = [node.op_type for node in model.graph.node]
    assert sorted(operators) == ["Identity", "Identity", "Relu"]
    for ours, theirs in zip(made.compile()(x.numpy()), Copies()(x).values(), strict=True):
        np.testing.assert_array_equal(ours, theirs.numpy())


def nodes_of(module: torch.nn.Module, *args: torch.Tensor, **options: Any) -> dict[str, int]:
    """How many nodes of each operator the model has, Constants left out."""
    made = sardonyx.torch.export(module.eval(), args, verify=True, **options)
    found = collections.Counter(node.op_type for node in made.to_model_proto().graph.node)
    del found["Constant"]
    return dict(found)


def test_operators_of_onnx_are_used_whole() -> None:
    n = {0: "batch", 1: "length"}
    images = torch.randn(2, 4, 5, 5)
    assert nodes_of(torch.nn.InstanceNorm2d(4, affine=True), images) == {"InstanceNormalization": 1}
    assert nodes_of(torch.nn.GroupNorm(2, 4), images)["InstanceNormalization"] == 1
    found = nodes_of(torch.nn.LSTM(3, 4, 2, bidirectional=True), torch.randn(5, 2, 3))
    assert (found["LSTM"], found["Gather"], "Split" in found) == (2, 6, False)

    class Attention(torch.nn.Module):
        def forward(self, x):
            return torch.nn.functional.scaled_dot_product_attention(x, x, x, is_causal=True)

    x = torch.randn(2, 5, 4)
    fixed = nodes_of(Attention(), x)
    assert fixed == {"Transpose": 1, "Mul": 1, "MatMul": 2, "Add": 1, "Softmax": 1}
    assert nodes_of(Attention(), x, dynamic_shapes=(n,)) == {
        **fixed, "Shape": 1, "ConstantOfShape": 1, "Trilu": 1,
    }  # fmt: skip

    class Places(torch.nn.Module):
        def forward(self, x):
            return torch.arange(x.shape[1], dtype=torch.float32)

    assert set(nodes_of(Places(), x, dynamic_shapes=(n,))) <= {"Shape", "Gather", "Range", "Cast"}


def test_a_named_dimension_that_has_one_size_is_said() -> None:
    class OfFive(torch.nn.Module):
        def forward(self, x):
            return x + torch.ones(5)

    with pytest.warns(UserWarning, match="one size alone in the model: `length` is 5; PyTorch"):
        made = sardonyx.torch.export(
            OfFive(), (torch.randn(3, 5),), dynamic_shapes=({0: "batch", 1: "length"},)
        )
    assert 'x: FLOAT["batch", 5]' in made.to_script()


def test_sizes_that_the_program_holds_for_are_said() -> None:
    class Halves(torch.nn.Module):
        def forward(self, x, y):
            total = sum(x[:, i] for i in range(x.shape[1] // 2))
            return total + y[:, : int(torch.as_tensor(y.shape[1] * 3 / 4).ceil())].sum(1)

    class Reshaped(torch.nn.Module):
        def forward(self, x):
            return x.reshape(x.shape[0], -1, 2)

    dims = {0: "batch", 1: "length"}
    words = r"sizes alone: `\(x.shape\[1\] // 2\) == 10`, `\(\(3\*y.shape\[1\]\) / 4\) == 9.0`; Py"
    x, y = torch.randn(3, 20), torch.randn(3, 12)
    with pytest.warns(UserWarning, match=words):
        sardonyx.torch.export(Halves(), (x, y), dynamic_shapes=(dims, {0: "batch", 1: "other"}))
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        sardonyx.torch.export(Reshaped(), (x,), dynamic_shapes=(dims,))


class Fields(collections.OrderedDict[str, Any]):
    """As results of diffusers: a dict that torch can take apart, but has no names for its parts."""


class Bag:
    """The same, and no dict."""

    def __init__(self, items: list[Any]) -> None:
        self.items = items


_pytree.register_pytree_node(
    Fields,
    lambda fields: (list(fields.values()), list(fields)),
    lambda values, keys: Fields(zip(keys, values, strict=True)),
)
_pytree.register_pytree_node(Bag, lambda bag: (bag.items, None), lambda items, _: Bag(list(items)))


@pytest.mark.parametrize(
    ("made", "name"), [(lambda y: Fields(total=y), "total"), (lambda y: Bag([y]), "add")]
)
def test_results_of_classes_without_names_of_their_parts(made: Any, name: str) -> None:
    class Add(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> Any:
            return made(x + 1)

    exported = sardonyx.torch.export(Add(), (torch.ones(2),))
    assert onnx.load_from_string(exported.to_model_bytes()).graph.output[0].name == name


class Sorted(Fields):
    """Made again, its parts have another order: as results of transformers, whose fields have."""


_pytree.register_pytree_node(
    Sorted,
    lambda fields: (list(fields.values()), list(fields)),
    lambda values, keys: Sorted(sorted(zip(keys, values, strict=True))),
)


def test_names_of_results_are_those_of_the_values() -> None:
    class Both(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> Any:
            return Sorted(b=x + 1, a=x.sum())

    made = sardonyx.torch.export(Both(), (torch.ones(2),)).to_model_proto()
    assert [
        (one.name, len(one.type.tensor_type.shape.dim)) for one in made.graph.output
    ] == [("b", 1), ("a", 0)]  # fmt: skip


def test_projections_of_an_lstm_are_steps_of_a_scan() -> None:
    """Not unrolled: the number of nodes does not depend on the number of steps."""
    module = nn.LSTM(4, 5, bidirectional=True, proj_size=3).eval()
    few, many = (nodes_of(module, torch.randn(steps, 2, 4)) for steps in (2, 9))
    assert few == many
    assert few["Scan"] == 2
    x = torch.randn(9, 2, 4)
    state = (torch.randn(2, 2, 3), torch.randn(2, 2, 5))
    model = sardonyx.torch.export(module, (x, state)).compile()
    found = model(x.numpy(), *(one.numpy() for one in state))
    y, (h, c) = module(x, state)
    for one, wanted in zip(found, (y, h, c), strict=True):
        np.testing.assert_allclose(one, wanted.detach().numpy(), rtol=1e-5, atol=1e-6)


def test_tensors_of_several_lengths_are_refused() -> None:
    class Packed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.lstm = nn.LSTM(3, 4)

        def forward(self, x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
            return self.lstm(nn.utils.rnn.pack_padded_sequence(x, lengths))[1][0]

    with pytest.raises(Exception, match="") as failed:
        sardonyx.torch.export(Packed(), (torch.ones(4, 2, 3), torch.tensor([4, 2])))
    if sys.version_info >= (3, 11):
        assert any("packed sequences" in note for note in failed.value.__notes__)
    nested = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.jagged)
    with pytest.raises(TypeError, match="nested tensor"):
        sardonyx.torch.export(nn.ReLU(), (nested,))


def test_draft_lists_what_stands_in_the_way() -> None:
    class Branches(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            if x.sum() > 0:
                x = x + 1
            if x.max() > 2:
                x = x * 2
            return x

    x = torch.randn(3, 4)
    with pytest.raises(Exception, match="data-dependent") as failed:
        sardonyx.torch.export(Branches(), (x,))
    if sys.version_info >= (3, 11):
        assert any('strict="draft"' in note for note in failed.value.__notes__)
    with pytest.raises(sardonyx.torch.ExportError) as report:
        sardonyx.torch.export(Branches(), (x,), strict="draft")
    assert "1. Data dependent error" in str(report.value)
    assert "x.max() > 2" in str(report.value)  # the second problem too
    assert "\x1b" not in str(report.value)
    with pytest.raises(ValueError, match="draft"):
        sardonyx.torch.export(Small(), (x,), strict="sketch")
    module = Small()
    scores = sardonyx.torch.export(module, (x,), strict="draft").compile()(x.numpy())[0]
    wanted = module(x)["scores"].detach().numpy()
    np.testing.assert_allclose(scores, wanted, rtol=1e-5, atol=1e-6)


def test_calls_that_mean_nothing_are_left_out() -> None:
    from sardonyx.torch._capture import program_of_graph

    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    x.meta["val"] = torch.ones(2)
    graph.call_function(torch._C._set_grad_enabled, (False,))
    graph.output(graph.call_function(torch.ops.aten.relu.default, (x,)))
    program = program_of_graph(torch.fx.GraphModule(torch.nn.Module(), graph))
    assert [one.target for one in program.nodes] == ["aten::relu.default"]
    assert not program.problems


def test_exports_are_pickled_and_copied(tmp_path: pathlib.Path) -> None:
    module = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.BatchNorm1d(3)).eval()
    captured = torch.export.export(module, (torch.ones(2, 4),))
    made = sardonyx.torch.convert(captured, output_names=["scores"])
    for other in (pickle.loads(pickle.dumps(made)), copy.copy(made), copy.deepcopy(made)):
        assert other.to_model_bytes() == made.to_model_bytes()
        assert other.to_script() == made.to_script()
    torch.export.save(captured, tmp_path / "model.pt2")
    of_file = sardonyx.torch.convert(tmp_path / "model.pt2")
    assert copy.copy(of_file).to_model_bytes() == of_file.to_model_bytes()
    with pytest.raises(TypeError, match=r"pickle `exported\.compile\(\)`"):
        pickle.dumps(of_file)


MISUSES: dict[str, tuple[type[Exception], str, Any]] = {
    "function": (TypeError, "call a function in `forward`", (torch.relu, (torch.ones(2),))),
    "class": (TypeError, r"give a module, `Small\(...\)`", (Small, (torch.ones(2, 4),))),
    "script": (
        TypeError, "module of TorchScript", (torch.jit.script(nn.Linear(4, 3)), (torch.ones(2, 4),))
    ),
    "tensor": (TypeError, r"write `\(x,\)`", (Small(), torch.ones(2, 4))),
    "by_name": (TypeError, "as `kwargs`", (Small(), {"x": torch.ones(2, 4)})),
    "path": (TypeError, "the file to write is `output=`", (Small(), (torch.ones(2, 4),), "a.onnx")),
    "meta": (ValueError, "`weight` is on the device `meta`", (nn.Linear(2, 2, device="meta"), ())),
}  # fmt: skip


@pytest.mark.parametrize("name", MISUSES)
def test_misuse_is_explained(name: str) -> None:
    kind, words, arguments = MISUSES[name]
    with pytest.raises(kind, match=words):
        sardonyx.torch.export(*arguments)


@pytest.mark.parametrize(("shape", "words"), [
    ({2: "rows"}, "axis 2 of an input whose axes are 0 to 1"),
    ({-2: "rows"}, "axis -2 of an input whose axes are 0 to 1"),
    ({0: "rows of x"}, "`rows of x` is not a valid name for a dimension"),
])  # fmt: skip
def test_shapes_that_torch_passes_over(shape: dict[int, str], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        sardonyx.torch.export(Small(), (torch.ones(2, 4),), dynamic_shapes=(shape,))


def test_modules_that_are_compiled_or_wrapped() -> None:
    small = Small()
    x = [torch.ones(2, 4)]  # a list in place of a tuple
    plain = sardonyx.torch.export(small, (x[0],), dynamic_shapes=({0: "rows"},)).to_script()
    for module in (torch.compile(small), nn.DataParallel(small)):
        made = sardonyx.torch.export(module, x, dynamic_shapes=({0: "rows"},))
        assert made.to_script() == plain


def test_training_mode_is_named() -> None:
    """Where it can be the cause."""

    class Factored(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.linalg.ldl_factor(x)[0]

    class InTraining(Factored):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return super().forward(x) if self.training else x

    for module in (InTraining(), nn.Sequential(Factored(), nn.Dropout(0.0))):
        with pytest.raises(sardonyx.torch.ExportError, match=r"in training mode: export after"):
            sardonyx.torch.export(module, (torch.eye(3),))
    for module in (Factored(), nn.Sequential(Factored(), nn.Linear(3, 3))):
        with pytest.raises(sardonyx.torch.ExportError, match=r"ldl_factor") as raised:
            sardonyx.torch.export(module, (torch.eye(3),))
        assert "training" not in str(raised.value)


@pytest.mark.parametrize("opset", [1, 13, 17])
def test_opsets_that_are_too_old(opset: int) -> None:
    with pytest.raises(ValueError, match=rf"opset {opset} is too old .*: the oldest is 18"):
        sardonyx.torch.export(Small(), (torch.ones(2, 4),), opset=opset)


def test_a_size_that_is_computed_is_no_branch() -> None:
    class Rows(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.ones(1, 2).expand((4 - x.shape[0] % 4) % 4, -1)

    made = sardonyx.torch.export(Rows(), (torch.ones(6, 2),), dynamic_shapes=({0: "rows"},))
    assert "If" not in [one.op_type for one in made.to_model_proto().graph.node]
    assert made.compile()(np.ones((9, 2), np.float32)).shape == (3, 2)


def test_one_tensor_for_several_inputs() -> None:
    """torch.export makes one input of them, and its programs ignore the others."""

    class Less(nn.Module):
        def forward(self, x: torch.Tensor, *, others: dict[str, torch.Tensor]) -> torch.Tensor:
            return x - 2 * others["y"] + others["z"]

    x = torch.ones(2, 3)
    arguments = (x,), {"others": {"y": x, "z": x}}
    made = sardonyx.torch.export(Less(), *arguments)
    given = [np.full((2, 3), one, np.float32) for one in (1, 10, 100)]
    np.testing.assert_array_equal(made.compile()(*given), given[0] - 2 * given[1] + given[2])
    program = torch.export.export(Less(), *arguments)
    with pytest.warns(UserWarning, match="one tensor for `x`, `others_y`, `others_z`"):
        sardonyx.torch.convert(program)


def test_an_input_that_is_a_weight() -> None:
    class Moved(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("middle", torch.ones(2, 3))
            self.scale = nn.Parameter(torch.full((2, 3), 3.0))

        def forward(self, x: torch.Tensor) -> Any:
            return (x - self.middle) * self.scale

    module = Moved()
    x = np.full((2, 3), 5, np.float32)
    for given in (module.middle, module.scale, torch.zeros(2, 3)):
        made = sardonyx.torch.export(module, (given,))
        np.testing.assert_array_equal(made.compile()(x), 12 + 0 * x)
    program = torch.export.export(module, (module.middle,))
    with pytest.warns(UserWarning, match="one tensor for `middle`, `x`"):
        sardonyx.torch.convert(program)


def test_spectral_norm() -> None:
    """In training mode it changes its buffers, without gradients."""
    module = nn.utils.parametrizations.spectral_norm(nn.Linear(4, 3))
    x = torch.arange(8.0).view(2, 4)
    made = sardonyx.torch.export(module, (x,))
    names = [one.name for one in made.compile().graph.outputs][1:]
    assert names == [f"parametrizations_weight_0__{one}_next" for one in "uv"]
    found = made.compile()(x.numpy())
    wanted = module(x).detach(), *module.buffers()
    for result, want in zip(found, wanted, strict=True):
        np.testing.assert_allclose(result, want.numpy(), rtol=1e-5, atol=1e-6)
    made = sardonyx.torch.export(module.eval(), (torch.ones(2, 4),))
    wanted = module(torch.ones(2, 4)).detach().numpy()
    np.testing.assert_allclose(made.compile()(np.ones((2, 4), np.float32)), wanted, rtol=1e-5)


def test_sizes_are_written_as_sympy_writes_them() -> None:
    import sympy
    from sardonyx.torch._capture import _dim_text, _text_of_two

    n, m = sympy.Symbol("s7", integer=True, positive=True), sympy.Symbol("u0", integer=True)
    names = {"s7": "rows"}
    for number in (1, 2, 3, 40, -1, -2, -30):
        for size in (n * number, n + number, m + number, m * number):
            printed = str(size).replace(" ", "").replace("s7", "rows")
            assert _dim_text(size, names) == f'"{printed}"'
            is_simple = size.is_Add or (size.is_Mul and number > 0)
            assert _text_of_two(size, names) == (printed if is_simple else "")
    for size in (n * m, n + m, n**2, 2 * n + 1, n / 2, sympy.Max(n, 3), sympy.Symbol("a b") + 1):
        assert not _text_of_two(size, names)
