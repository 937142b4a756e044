"""Files of torch.export.save: they give the script that the program itself gives, without torch."""

from __future__ import annotations

import contextlib
import io
import json
import os
import pathlib
import random
import re
import struct
import subprocess
import sys
import warnings
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import networks  # noqa: E402, F401  it adds to the zoo
import sardonyx.torch  # noqa: E402
import test_corners  # noqa: E402
from sardonyx.torch._export import _torch_shapes  # noqa: E402
from test_models import copied  # noqa: E402
from torch.nn import functional as F  # noqa: E402, N812
from torch.utils import _pytree  # noqa: E402
from zoo import MODELS  # noqa: E402

from sampling import FULL  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]

SAMPLE = ("in_place", "condition", "scanned", "loop", "lstm", "counted_state", "nested_inputs",
          "half_precision", "gpt", "static_cache", "found_places", "sentence_encoder")  # fmt: skip
PROGRAM = pathlib.Path(os.environ.get("SDX_BUILD", "build/release")).resolve() / "sardonyx"


def saved(program: Any, path: pathlib.Path) -> pathlib.Path:
    torch.export.save(program, path)
    return path


def check_same(program: Any, path: pathlib.Path) -> None:
    direct = sardonyx.torch.convert(program)
    read = sardonyx.torch.convert(saved(program, path))
    assert read.to_script() == direct.to_script()
    assert sorted(read.weights) == sorted(direct.weights)
    for name, array in read.weights.items():
        assert array.dtype == direct.weights[name].dtype
        np.testing.assert_array_equal(array, direct.weights[name])


@pytest.mark.parametrize("name", MODELS if FULL else SAMPLE)
def test_a_file_is_its_program(name: str, tmp_path: pathlib.Path) -> None:
    torch.manual_seed(0)
    case = MODELS[name]()
    shapes = _torch_shapes(case.shapes)
    program = torch.export.export(case.module.eval(), case.arguments(3, 5), dynamic_shapes=shapes)
    check_same(program, tmp_path / "model.pt2")


@pytest.mark.parametrize("name", MODELS if FULL else SAMPLE)
def test_the_program_makes_the_model(name: str, tmp_path: pathlib.Path) -> None:
    """Without Python: equal to torch at two sizes, and the same bytes as from Python."""
    torch.manual_seed(0)
    case = MODELS[name]()
    module, shapes = case.module.eval(), _torch_shapes(case.shapes)
    program = torch.export.export(module, case.arguments(3, 5), dynamic_shapes=shapes)
    path = saved(program, tmp_path / "model.pt2")
    environment = {"PATH": "/nowhere", "SARDONYX_PYTHON": "/nowhere/python"}
    target = tmp_path / "model.onnx"
    words = [PROGRAM, "import", path, "-o", target]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    made = target.read_bytes()
    assert made == sardonyx.torch.convert(path).to_model_bytes()
    native = sardonyx.load(target)
    state = {key: value.clone() for key, value in module.state_dict().items()}
    for b, n in ((3, 5), (2, 7)):
        torch.manual_seed(b)
        given = case.arguments(b, n)
        module.load_state_dict(state)
        wanted = _pytree.tree_leaves(module(*_pytree.tree_map(copied, given)))
        leaves = [one for one in _pytree.tree_leaves(given) if isinstance(one, torch.Tensor)]
        ours = native(*[one.numpy() for one in leaves])
        ours = list(ours) if isinstance(ours, (list, tuple)) else [ours]
        for result, want in zip(ours, wanted, strict=False):
            tolerance = 1e-2 if want.dtype == torch.float16 else 1e-4
            np.testing.assert_allclose(
                np.asarray(result), want.detach().numpy(), rtol=tolerance, atol=tolerance / 5
            )


@pytest.mark.parametrize(
    "name",
    [
        "views_of_views",
        "diagonals_and_moved_axes",
        "complex_writes",
        "functions_of_elements",
        "writes_without_gradients",
        "writes_to_views_that_repeat",
        "writes_to_what_gives_its_argument",
    ],
)
def test_writes_reach_what_they_should(name: str, tmp_path: pathlib.Path) -> None:
    function, sizes, dims = test_corners.CASES[name]
    shapes = (dict.fromkeys(dims, torch.export.Dim.AUTO),)
    module = test_corners.Module(function)
    program = torch.export.export(module, (torch.randn(sizes[0]),), dynamic_shapes=shapes)
    check_same(program, tmp_path / "model.pt2")
    # torch does not keep what shares memory when it loads a program.
    loaded = torch.export.load(tmp_path / "model.pt2")
    assert sardonyx.torch.convert(loaded).to_script() == sardonyx.torch.convert(program).to_script()


def test_memory_that_is_read_with_strides(tmp_path: pathlib.Path) -> None:
    function, sizes, _ = test_corners.CASES["strided_parts"]
    program = torch.export.export(test_corners.Module(function), (torch.randn(sizes[0]),))
    check_same(program, tmp_path / "model.pt2")
    # torch does not keep where tensors begin when it loads a program.
    loaded = torch.export.load(tmp_path / "model.pt2")
    with pytest.raises(sardonyx.torch.ExportError, match="a place there that depends on sizes"):
        sardonyx.torch.convert(loaded)


def test_sizes_that_the_program_holds_for_are_said(tmp_path: pathlib.Path) -> None:
    class Halves(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return sum(x[:, i] for i in range(x.shape[1] // 2))

    shapes = (dict.fromkeys((0, 1), torch.export.Dim.AUTO),)
    program = torch.export.export(Halves(), (torch.randn(3, 20),), dynamic_shapes=shapes)
    path = saved(program, tmp_path / "model.pt2")
    words = "right for some sizes alone: `(x.shape[1] // 2) == 10`"
    with pytest.warns(UserWarning, match=re.escape(words)) as found:
        sardonyx.torch.convert(path)
    assert found[0].filename == __file__
    done = subprocess.run([PROGRAM, "import", path, "-o", tmp_path / "model.onnx"],
                          capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode == 0 and done.stderr.startswith(f"warning: the model is {words}")


REMAINDERS: dict[str, tuple[Callable[[Any], Any], int, str]] = {
    "odd": (lambda x: F.pad(x, (0, 1)) if x.shape[1] % 2 else x + 1, 5, "(x.shape[1] % 2) != 0"),
    "even": (lambda x: F.pad(x, (0, 1)) if x.shape[1] % 2 else x + 1, 6, "(x.shape[1] % 2) == 0"),
    "reshaped": (lambda x: x.view(x.shape[0], 2, -1), 6, ""),  # the model refuses other sizes
}


@pytest.mark.parametrize("name", REMAINDERS)
def test_branches_on_remainders_are_said(name: str) -> None:
    function, size, words = REMAINDERS[name]
    shapes = (dict.fromkeys((0, 1), torch.export.Dim.AUTO),)
    module = test_corners.Module(function)
    program = torch.export.export(module, (torch.randn(3, size),), dynamic_shapes=shapes)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        sardonyx.torch.convert(program)
    told = [str(one.message) for one in found if "some sizes alone" in str(one.message)]
    assert (f"alone: `{words}`;" in told[0]) if words else not told


def test_operators_of_lists(tmp_path: pathlib.Path) -> None:
    function, sizes, _ = test_corners.CASES["operators_of_lists"]
    module = test_corners.Module(function)
    path = saved(torch.export.export(module, (torch.ones(sizes[0]),)), tmp_path / "model.pt2")
    x = torch.randn(sizes[0])
    for ours, wanted in zip(
        sardonyx.torch.convert(path).compile()(x.numpy()), module(x), strict=True
    ):
        np.testing.assert_allclose(ours, wanted.numpy(), rtol=1e-5)

    powers = test_corners.Module(lambda x: torch._foreach_pow(2.0, [x, x]))
    saved(torch.export.export(powers, (x,)), path)
    with pytest.raises(sardonyx.torch.ExportError, match=r"_foreach_pow\S+ is not in the library"):
        sardonyx.torch.convert(path)


class Unread(torch.nn.Module):
    """What nothing reads: the parts of an empty dimension, and what is made of a call of vmap."""

    def forward(self, x: Any) -> Any:
        y = x
        for part in x[:, :0].unbind(-1):
            y = y + part
        sums = torch.func.vmap(torch.cumsum, (0, None))(x, 0)
        _ = sums.reshape(-1).abs()
        return y + 1


def test_what_is_not_read(tmp_path: pathlib.Path) -> None:
    dims = ({0: torch.export.Dim.AUTO},)
    program = torch.export.export(Unread(), (torch.randn(3, 5),), dynamic_shapes=dims)
    check_same(program, tmp_path / "model.pt2")


class Averages(torch.nn.Module):
    """Buffers that regions change, one of them a region without a result."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(4))
        self.register_buffer("codes", torch.arange(12.0).view(3, 4))

    def forward(self, x: Any) -> Any:
        with torch.no_grad():
            self.mean.lerp_(x.mean(0), 0.5)
        with torch.no_grad():
            row = self.codes[1:]
            row.add_(self.mean)
            row.t()[0].zero_()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            self.codes.mul_(2)
            y = x @ self.codes.t()
        return y.float(), row * 1


def test_buffers_that_regions_change(tmp_path: pathlib.Path) -> None:
    module, x = Averages(), torch.randn(2, 4)
    program = torch.export.export(module, (x,))
    made = sardonyx.torch.convert(saved(program, tmp_path / "model.pt2"))
    assert [one.name for one in made.compile().graph.outputs][2:] == ["mean_next", "codes_next"]
    exported = sardonyx.torch.convert(program)
    found = [model.compile()(x.numpy()) for model in (made, exported)]
    wanted = [*module(x), module.mean, module.codes]
    for results in found:
        for result, want in zip(results, wanted, strict=True):
            np.testing.assert_allclose(result, want.numpy(), rtol=1e-2, atol=1e-2)


class Unsure(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        y = x.clone()
        y.t().reshape(-1).add_(1)  # a copy, or not
        return y


class UnsureOfTheBase(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        y = x.clone()
        z = y.t().reshape(-1)
        y.add_(1)
        return z


class SureBefore(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        y = x.clone()
        turned = y.t()
        y[0].add_(1)
        return turned.reshape(-1), y


def test_writes_before_what_may_be_shared(tmp_path: pathlib.Path) -> None:
    program = torch.export.export(SureBefore(), (torch.ones(2, 3),))
    check_same(program, tmp_path / "model.pt2")
    x = torch.arange(6.0).reshape(2, 3)
    found = sardonyx.torch.convert(tmp_path / "model.pt2").compile()(x.numpy())
    for ours, wanted in zip(found, SureBefore()(x), strict=True):
        np.testing.assert_array_equal(ours, wanted.numpy())


class UnsureOfNothingThatIsRead(torch.nn.Module):
    """torchaudio's Spectrogram writes to such a reshape; the first of them is read no more."""

    def forward(self, x: Any) -> Any:
        y = x.exp().t().reshape(x.shape[1], -1)
        y /= y.sum()
        z = x.cos().t()
        total = z.reshape(-1).sum()
        z.add_(total)
        return y, z


class UnsureOfAnInput(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        y = x.t().reshape(-1)
        y.add_(1)
        return y


class UnsureOfAViewOfTheBase(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        y = x.clone()
        column = y[0]
        y.t().reshape(-1).add_(1)
        return column


def test_writes_to_what_may_share_what_is_read_no_more(tmp_path: pathlib.Path) -> None:
    x = torch.arange(6.0).reshape(2, 3)
    path = saved(torch.export.export(UnsureOfNothingThatIsRead(), (x,)), tmp_path / "model.pt2")
    found = sardonyx.torch.convert(path).compile()(x.numpy())
    for ours, wanted in zip(found, UnsureOfNothingThatIsRead()(x), strict=True):
        np.testing.assert_allclose(ours, wanted.numpy(), rtol=1e-5)


class UnsureOfASum(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        y = x.clone()
        y[:1].sum_to_size(1, 3).add_(1)
        return y


class SureOfLists(torch.nn.Module):
    """Writes to and below views of tensors in lists."""

    def forward(self, x: Any) -> Any:
        y, z, row = x + 1, x[:1] * 2, x[0] + 3
        wide, other = torch.broadcast_tensors(z, y)
        other.add_(1)
        z.mul_(2)
        high, higher = torch.atleast_3d(row, y)
        high.sub_(x[0, 0])
        higher.mul_(2)
        (flat,) = torch.atleast_2d([row])
        row.add_(4)
        down, across = torch.meshgrid(row, y[:, 0], indexing="xy")
        y.add_(1)
        row.mul_(3)
        same, pairs = torch.cartesian_prod(row), torch.cartesian_prod(row, y[0])
        same.add_(5)
        turned, implied = torch.einsum("ij->ji", y), torch.einsum("ba", y)
        turned[0].add_(1)
        implied.mul_(2)
        every = torch.einsum("b...a", y)
        every.sub_(3)
        torch.einsum("ij->j", y[:1]).add_(7)  # a sum is new, also of one row
        square = torch.stack([y.T @ y, y.T @ y + 1])
        torch.einsum("bii->ib", square).mul_(2)
        cube = square[:1, None, :1, 0].clone()
        torch.einsum("iii", cube).add_(2)
        diagonal = torch.einsum("iii->i", cube)
        cube.sub_(3)
        rest = (flat, down, across, pairs, every, square, cube, diagonal)
        return y, z, row, wide, other, high, higher, *rest


class SureOfParts(torch.nn.Module):
    """Writes to parts at places that a tensor has, and to a view that has its strides."""

    def forward(self, x: Any, at: Any) -> Any:
        y = x.clone()
        first, middle, last = y.tensor_split(torch.tensor([1, 2]))
        middle.add_(1)
        first.mul_(2)
        _, rest = y.tensor_split(at, dim=-1)
        rest.sub_(3)
        shape = (x.shape[0], 3, 2)
        folded = torch.ops.aten._reshape_alias(y, shape, (6, 2, 1))
        folded[0].add_(4)
        y.mul_(5)
        return y, last, folded


def test_views_that_are_parts(tmp_path: pathlib.Path) -> None:
    given = torch.arange(24.0).reshape(4, 6), torch.tensor([2])
    dims = ({0: torch.export.Dim.AUTO}, None)
    program = torch.export.export(SureOfParts(), given, dynamic_shapes=dims)
    check_same(program, tmp_path / "model.pt2")
    model = sardonyx.torch.convert(tmp_path / "model.pt2").compile()
    for x, at in (given, (given[0][:3] + 1, torch.tensor([5]))):
        for ours, wanted in zip(model(x.numpy(), at.numpy()), SureOfParts()(x, at), strict=True):
            np.testing.assert_array_equal(ours, wanted.numpy())


def test_views_of_tensors_in_lists(tmp_path: pathlib.Path) -> None:
    x = torch.arange(6.0).reshape(2, 3)
    program = torch.export.export(SureOfLists(), (x,))
    check_same(program, tmp_path / "model.pt2")
    for given in (program, tmp_path / "model.pt2"):
        found = sardonyx.torch.convert(given).compile()(x.numpy())
        for ours, wanted in zip(found, SureOfLists()(x), strict=True):
            np.testing.assert_array_equal(ours, wanted.numpy())


class SureOfSizes(torch.nn.Module):
    """Reshapes to one size, of tensors that share nothing, as in diffusers' CogVideoX."""

    def forward(self, x: Any) -> Any:
        y, z = x.exp().t(), x.cos().t()
        y[0] = y.reshape(x.shape[0], -1).sum(0)[:1]
        z[0] = z.reshape(x.shape[0], -1).sum(0)[:1]
        return y, z.reshape(x.shape[0], -1)


def test_sizes_are_not_shared(tmp_path: pathlib.Path) -> None:
    x = torch.arange(6.0).reshape(2, 3)
    dims = ({0: torch.export.Dim.AUTO},)
    program = torch.export.export(SureOfSizes(), (x,), dynamic_shapes=dims)
    check_same(program, tmp_path / "model.pt2")
    found = sardonyx.torch.convert(tmp_path / "model.pt2").compile()(x.numpy())
    for ours, wanted in zip(found, SureOfSizes()(x), strict=True):
        np.testing.assert_allclose(ours, wanted.numpy(), rtol=1e-5)


@pytest.mark.parametrize(
    "module", [Unsure, UnsureOfTheBase, UnsureOfAnInput, UnsureOfAViewOfTheBase, UnsureOfASum]
)
def test_writes_that_are_unsure_are_refused(module: Any, tmp_path: pathlib.Path) -> None:
    path = saved(torch.export.export(module(), (torch.ones(2, 3),)), tmp_path / "model.pt2")
    with pytest.raises(sardonyx.torch.ExportError, match="not known whether another one shares"):
        sardonyx.torch.convert(path)


class TypesOfTwo(torch.nn.Module):
    """torch.export keeps calls that give element types, which nothing reads."""

    def forward(self, x: Any, y: Any) -> Any:
        wider = torch.promote_types(x.dtype, y.dtype)
        return x.to(wider) + y.to(torch.result_type(x, y))


def test_calls_that_give_element_types(tmp_path: pathlib.Path) -> None:
    halves = torch.arange(3.0).half()
    program = torch.export.export(TypesOfTwo(), (halves, halves.double()))
    assert "promote_types" in str(program.graph)
    check_same(program, tmp_path / "types.pt2")


class WithoutGradients(torch.nn.Module):
    @torch.no_grad()  # type: ignore[untyped-decorator]
    def forward(self, x: Any) -> Any:
        return x * 2


def test_regions_have_the_names_of_the_file(tmp_path: pathlib.Path) -> None:
    program = torch.export.export(WithoutGradients(), (torch.ones(2, 3),))
    check_same(program, tmp_path / "model.pt2")


ROWS = torch.arange(24.0).reshape(2, 3, 4)
# Functions of elements that have no form for batches, and become loops.
LOOPS: dict[str, Callable[[Any], Any]] = {
    "several": lambda x: torch.vmap(lambda one: one.sort(-1, descending=True)[0] + one[0])(x),
    "nested": lambda x: torch.vmap(torch.vmap(lambda row: row.flip(0).diff()), in_dims=1)(x),
    "moved": lambda x: torch.vmap(lambda one: (one.tril(), x.sum()), in_dims=2)(x),
    "in_place": lambda x: torch.vmap(lambda one: one.clone().mul_(2)[1:])(x),
    "types": lambda x: torch.vmap(lambda one: one.double().sum() * x[0, 0])(x),
    "random": lambda x: torch.vmap(lambda y: y + torch.rand(3, 4) * 0, randomness="different")(x),
}


@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_over_elements(name: str, tmp_path: pathlib.Path) -> None:
    module = test_corners.Module(LOOPS[name])
    program = torch.export.export(module, (ROWS,), dynamic_shapes=({0: torch.export.Dim.AUTO},))
    read = sardonyx.torch.convert(saved(program, tmp_path / "model.pt2"))
    assert read.has_vmap_loops
    x = torch.cat([ROWS, -ROWS])[:3]
    direct = sardonyx.torch.convert(program)
    assert not direct.has_vmap_loops  # torch has traced it again
    for made in (read, direct):
        found = made.compile()(x.numpy())
        found = found if isinstance(found, tuple) else (found,)
        for ours, wanted in zip(found, _pytree.tree_leaves(module(x)), strict=True):
            np.testing.assert_allclose(ours, wanted.numpy())
            assert ours.dtype == wanted.numpy().dtype


class Prints(torch.nn.Module):
    """Calls whose order `run_decompositions` keeps by tokens, which are inputs and outputs."""

    def forward(self, x: Any) -> Any:
        torch.ops.aten._print("first")
        y = torch.cond(x.sum() > 0, lambda v: v + 1, lambda v: v - 1, (x,))
        torch.ops.aten._print("second")
        return y * 2


@pytest.mark.parametrize("is_decomposed", [False, True])
def test_what_is_printed_is_left_out(is_decomposed: bool, tmp_path: pathlib.Path) -> None:
    program = torch.export.export(Prints(), (ROWS,))
    program = program.run_decompositions() if is_decomposed else program
    check_same(program, tmp_path / "model.pt2")
    found = sardonyx.torch.convert(tmp_path / "model.pt2").compile()(ROWS.numpy())
    np.testing.assert_array_equal(found, Prints()(ROWS).numpy())


WRONG: dict[str, tuple[Callable[[Any], Any], str]] = {
    "jvp": (lambda x: torch.func.jvp(torch.sin, (x,), (x,)), r"other than `vmap`[\s\S]*run_dec"),
    "same": (
        lambda x: torch.vmap(lambda y: y + torch.rand(3), randomness="same")(x[0].mT),
        r"same random numbers[\s\S]*run_decompositions",
    ),
    "order": (lambda x: (x.mT + 1).as_strided((2, 3), (1, 2)), "another order in its memory"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_a_file_cannot_tell(name: str, tmp_path: pathlib.Path) -> None:
    function, words = WRONG[name]
    program = torch.export.export(test_corners.Module(function), (ROWS,))
    path = saved(program, tmp_path / "model.pt2")
    with pytest.raises(sardonyx.torch.ExportError, match=words) as error:
        sardonyx.torch.convert(path)
    assert "1 problem" in str(error.value)


def test_gradients_of_torch_func() -> None:
    module = test_corners.Module(torch.func.grad(lambda x: (x**2).sum()))
    program = torch.export.export(module, (ROWS,))
    with pytest.raises(sardonyx.torch.ExportError, match=r"torch\.autograd\.grad"):
        sardonyx.torch.convert(program)


class Shared(torch.nn.Module):
    """A transposed buffer, a part of a storage, tied weights, and a constant."""

    def __init__(self) -> None:
        super().__init__()
        whole = torch.arange(30.0)
        self.register_buffer("turned", whole[:15].view(5, 3).t())
        self.register_buffer("part", whole[20:23])
        self.first = torch.nn.Linear(5, 5)
        self.second = torch.nn.Linear(5, 5)
        self.second.weight = self.first.weight
        self.register_buffer("plain", torch.ones(5, dtype=torch.bfloat16), persistent=False)

    def forward(self, x: Any) -> Any:
        return self.second(self.first(x)) @ self.turned.t() + self.part, x + self.plain


def test_storages_are_mapped(tmp_path: pathlib.Path) -> None:
    program = torch.export.export(Shared(), (torch.ones(2, 5),))
    check_same(program, tmp_path / "model.pt2")
    made = sardonyx.torch.convert(tmp_path / "model.pt2")
    # Models have the order of C: what has another one is put into it.
    assert made.weights["turned"].flags.c_contiguous
    assert not any(one.flags.owndata for one in made.weights.values())
    assert len(made.weights) == len({"turned", "part", "plain", "weight", "bias", "bias again"})


def test_torch_is_not_needed(tmp_path: pathlib.Path) -> None:
    module = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.GELU())
    shapes = ({0: torch.export.Dim("rows")},)
    program = torch.export.export(module, (torch.ones(2, 3),), dynamic_shapes=shapes)
    path, target = saved(program, tmp_path / "model.pt2"), tmp_path / "model.onnx"
    symbol = next(iter(program.range_constraints)).name
    code = ("import sys; sys.modules['torch'] = None; import sardonyx.torch\n"
            "made = sardonyx.torch.convert(sys.argv[1], output=sys.argv[2],\n"
            "                              dims={sys.argv[3]: 'rows'})\n"
            "print(made.to_script())")  # fmt: skip
    words = [sys.executable, "-c", code, str(path), str(target), symbol]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert 'x: FLOAT["rows", 3]' in done.stdout.replace("input_", "x").replace("input", "x")
    x = torch.randn(5, 3)
    (found,) = [sardonyx.load(target)(x.numpy())]
    np.testing.assert_allclose(found, module(x).detach().numpy(), rtol=1e-4, atol=1e-5)


def test_the_command(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    from sardonyx.torch.__main__ import main

    class Sum(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return {"total": x.sum(0)}

    shapes = ({0: torch.export.Dim("rows")},)
    program = torch.export.export(Sum(), (torch.ones(2, 3),), dynamic_shapes=shapes)
    path = saved(program, tmp_path / "model.pt2")
    symbol = next(iter(program.range_constraints)).name
    assert main([str(path), "--dim", f"{symbol}=rows", "-o", str(tmp_path / "sum.py")]) == 0
    assert 'def main(x: FLOAT["rows", 3]):' in (tmp_path / "sum.py").read_text()
    assert main([str(path)]) == 0
    model = sardonyx.load(tmp_path / "model.onnx")
    np.testing.assert_array_equal(model(np.ones((4, 3), np.float32)), [4, 4, 4])
    words = [PROGRAM, "import", path, "-o", tmp_path / "by.onnx", "--dim", f"{symbol}=rows"]
    subprocess.run(words, check=True)
    made = sardonyx.load(tmp_path / "by.onnx")
    np.testing.assert_array_equal(made(np.ones((4, 3), np.float32)), [4, 4, 4])
    path.write_bytes(b"PK")
    assert main([str(path)]) == 1
    assert capsys.readouterr().err.startswith("error: ")
    with pytest.raises(SystemExit):
        main([str(path), "--dim", "rows"])


# --- Damaged files, and files that want to do harm


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    program = torch.export.export(Shared(), (torch.ones(2, 5),))
    return saved(program, tmp_path_factory.mktemp("pt2") / "m.pt2").read_bytes()


def refused(data: bytes, path: pathlib.Path) -> str:
    path.write_bytes(data)
    with pytest.raises(sardonyx.torch.ExportError) as error:
        sardonyx.torch.convert(path)
    return str(error.value)


def changed(data: bytes, entry: str, change: Callable[[bytes], bytes], method: int = 0) -> bytes:
    """The archive with another content of an entry."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", method) as new:
        for one in old.namelist():
            content = old.read(one)
            new.writestr(one, change(content) if one.endswith(entry) else content)
    return out.getvalue()


def in_json(change: Callable[[Any], None]) -> Callable[[bytes], bytes]:
    def apply(content: bytes) -> bytes:
        found = json.loads(content)
        change(found)
        return json.dumps(found).encode()

    return apply


def graph_of(model: Any) -> Any:
    return model["graph_module"]["graph"]


def test_what_is_refused(good: bytes, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "bad.pt2"

    def say(entry: str, change: Callable[[Any], Any]) -> str:
        return refused(changed(good, entry, in_json(change)), path)

    def schema(model: Any) -> None:
        model["schema_version"]["major"] = 9

    def pickled(config: Any) -> None:
        next(iter(config["config"].values()))["use_pickle"] = True

    def outside(config: Any) -> None:
        next(iter(config["config"].values()))["path_name"] = "../../secret"

    def large(config: Any) -> None:
        meta = next(iter(config["config"].values()))["tensor_meta"]
        meta["storage_offset"] = {"as_int": 1 << 40}

    def strides(config: Any) -> None:
        meta = next(iter(config["config"].values()))["tensor_meta"]
        meta["strides"] = [{"as_int": -1} for _ in meta["strides"]]

    def repeated(config: Any) -> None:
        meta = next(iter(config["config"].values()))["tensor_meta"]
        meta["sizes"] = [{"as_int": 1 << 30} for _ in meta["sizes"]]
        meta["strides"] = [{"as_int": 0} for _ in meta["strides"]]

    def keyword(model: Any) -> None:
        graph_of(model)["nodes"][0]["inputs"][0] |= {"name": "x=print(1), y", "kind": 2}

    def reference(model: Any) -> None:
        graph_of(model)["nodes"][0]["inputs"][0]["arg"]["as_tensor"]["name"] = "nowhere"

    def nested(model: Any) -> None:
        graph_of(model)["nodes"][0]["inputs"][0]["arg"] = {"as_int": {"as_int": 1}}

    def namespace(model: Any) -> None:
        graph_of(model)["nodes"][0]["target"] = "torch.ops.vmap.add.Tensor"

    config = "model_weights_config.json"
    assert "schema version 9, and 8 is read" in say("model.json", schema)
    assert "is pickled, and nothing is unpickled\n   = help: " in say(config, pickled)
    assert "is missing in the file" in say(config, outside)
    assert "elements, and its tensor needs" in say(config, large)
    assert "strides" in say(config, strides)
    assert "its tensor [" in say(config, repeated)
    assert "has an argument 'x=print(1), y'" in say("model.json", keyword)
    assert "reads 'nowhere', which nothing has made" in say("model.json", reference)
    assert "where a number is expected" in say("model.json", nested)
    assert "`vmap::add.Tensor` is not in the library" in say("model.json", namespace)
    assert "is not valid" in refused(changed(good, "model.json", lambda _: b"[" * 100_000), path)
    assert "compressed" in refused(changed(good, "-", bytes, zipfile.ZIP_DEFLATED), path)
    assert "not a .pt2 file" in refused(b"", path)
    assert "not a .pt2 file" in refused(good[: len(good) // 2], path)


def test_names_stay_in_their_strings(good: bytes, tmp_path: pathlib.Path) -> None:
    """The script is executed: a weight's name must not be able to add to it."""
    name = "a'\"]; raise SystemExit('\"') #\\"
    text = json.dumps(name)[1:-1]

    def rename(content: bytes) -> bytes:
        return content.replace(b'"part"', f'"{text}"'.encode())

    path = tmp_path / "m.pt2"
    path.write_bytes(changed(changed(good, "model.json", rename), "config.json", rename))
    assert name in sardonyx.torch.convert(path).weights


def test_altered_bytes(good: bytes, tmp_path: pathlib.Path) -> None:
    """What is altered is read, refused, or found wrong by the compiler; nothing else happens."""
    chance = random.Random(0)
    path = tmp_path / "m.pt2"
    model = good.index(b'{"graph_module"') if b'{"graph_module"' in good else 0
    for i in range(2000 if FULL else 60):
        data = bytearray(good)
        for _ in range(chance.randrange(1, 4)):
            place = chance.randrange(model, len(data)) if i % 2 else chance.randrange(len(data))
            data[place] = chance.randrange(256)
        path.write_bytes(bytes(data))
        with contextlib.suppress(sardonyx.torch.ExportError):
            sardonyx.torch.convert(path)
    for i in range(8):
        broken = bytearray(good)
        at = broken.rindex(b"PK\x01\x02")
        struct.pack_into("<I", broken, at + 42, (1 << 31) + i)  # where an entry begins
        path.write_bytes(bytes(broken))
        with contextlib.suppress(sardonyx.torch.ExportError):
            sardonyx.torch.convert(path)
