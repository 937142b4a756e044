"""Modules that repeat as functions of the script (`outline=True`, `--outline`)."""

from __future__ import annotations

import collections
import os
import pathlib
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest

torch = pytest.importorskip("torch")

import sardonyx.torch  # noqa: E402
from sardonyx.torch.__main__ import main  # noqa: E402
from sardonyx.torch._export import _torch_shapes  # noqa: E402
from test_models import copied  # noqa: E402
from test_transformers import MODELS as ARCHITECTURES  # noqa: E402
from test_transformers import TEXT, as_array, without_cache  # noqa: E402
from torch import nn  # noqa: E402
from torch.utils import _pytree  # noqa: E402
from zoo import MODELS  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]

PROGRAM = pathlib.Path(os.environ.get("SDX_BUILD", "build/release")).resolve() / "sardonyx"


def run(*words: Any) -> str:
    done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def functions(text: str) -> dict[str, int]:
    """The functions at the top level beside the script, and how often it calls each."""
    names = re.findall(r"^def (\w+)\(", text, re.MULTILINE)
    return {name: len(re.findall(rf" = {name}\(", text)) for name in names if name != "main"}


def check(program: Any, folder: pathlib.Path, given: dict[str, Any]) -> str:
    """The outlined script: the same on all surfaces, and of the same model as the plain one."""
    torch.export.save(program, folder / "model.pt2")
    direct = sardonyx.torch.convert(program)
    read = sardonyx.torch.convert(folder / "model.pt2")
    text = direct.to_script("outlined.safetensors", outline=True)
    assert read.to_script("outlined.safetensors", outline=True) == text
    assert read.to_script() == direct.to_script()
    run("import", folder / "model.pt2", "-o", folder / "outlined.py", "--outline")
    run("import", folder / "model.pt2", "-o", folder / "plain.py")
    assert (folder / "outlined.py").read_text() == text
    models = []
    for name in ("plain", "outlined"):
        run("build", folder / f"{name}.py", "-o", folder / f"{name}.onnx")
        models.append(onnx.load(folder / f"{name}.onnx"))
        onnx.checker.check_model(models[-1], full_check=True)
    assert not models[1].functions
    kinds = [[one.op_type for one in model.graph.node] for model in models]
    assert collections.Counter(kinds[0]) == collections.Counter(kinds[1])
    names = [sorted(one.name for one in model.graph.initializer) for model in models]
    assert names[0] == names[1]
    # The command says nothing of models that differ in names alone.
    assert run("diff", folder / "plain.onnx", folder / "outlined.onnx").strip() == ""
    results = [sardonyx.load(folder / f"{one}.onnx").run(given) for one in ("plain", "outlined")]
    for a, b in zip(*results, strict=True):
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))
    return text


ARCHITECTURE = {
    "BertModel": {"BertLayer": 3},
    "GPT2Model": {"GPT2Block": 3},
    "ResNetModel": {"ResNetBasicLayer": 3, "ResNetBasicLayer_2": 2},
    "T5Model": None,
    "AlbertModel": None,
}


@pytest.mark.parametrize("name", ARCHITECTURE)
def test_layers_of_architectures(name: str, tmp_path: pathlib.Path) -> None:
    transformers = pytest.importorskip("transformers")
    small = {"num_hidden_layers": 3, "hidden_size": 16, "num_attention_heads": 2,
             "intermediate_size": 32, "vocab_size": 60}  # fmt: skip
    own = {
        "BertModel": (small, TEXT),
        "GPT2Model": ({"n_embd": 16, "n_layer": 3, "n_head": 2, "vocab_size": 60}, TEXT),
        "ResNetModel": (
            {"embedding_size": 8, "hidden_sizes": [8, 16], "depths": [3, 3],
             "layer_type": "basic"},
            (lambda b, _: {"pixel_values": torch.randn(b, 3, 32, 32)},
             {"pixel_values": {0: "batch"}}),
        ),
    }  # fmt: skip
    differences, (arguments, shapes) = own[name] if name in own else ARCHITECTURES[name]
    torch.manual_seed(0)
    kind = getattr(transformers, name)
    module = without_cache(kind(kind.config_class(**differences)))
    given = arguments(2, 7)
    program = torch.export.export(module, (), given, dynamic_shapes=_torch_shapes(shapes))
    text = check(program, tmp_path, {key: as_array(one) for key, one in given.items()})
    wanted = ARCHITECTURE[name]
    assert wanted is None or functions(text) == wanted
    # In Python the script compiles as well.
    code = "import outlined, pathlib; m = outlined.main.to_model_bytes(); print(len(m))"
    path = os.pathsep.join([str(tmp_path), *sys.path])
    words = [sys.executable, "-W", "ignore", "-c", code]
    subprocess.run(words, cwd=tmp_path, env={**os.environ, "PYTHONPATH": path}, check=True)


@pytest.mark.parametrize("name", [
    "gpt", "condition", "loop", "scanned", "in_place", "lstm", "static_cache", "half_precision",
])  # fmt: skip
def test_models_of_all_kinds(name: str, tmp_path: pathlib.Path) -> None:
    """Whether or not something repeats in them."""
    torch.manual_seed(0)
    case = MODELS[name]()
    arguments = case.arguments(3, 5)
    program = torch.export.export(
        case.module.eval(), arguments, dynamic_shapes=_torch_shapes(case.shapes)
    )
    given = _pytree.tree_leaves(_pytree.tree_map(copied, case.arguments(3, 5)))
    arrays = [one.numpy() for one in given if isinstance(one, torch.Tensor)]
    made = sardonyx.torch.convert(program)
    names = [one.name for one in made.to_model_proto().graph.input]
    check(program, tmp_path, dict(zip(names, arrays, strict=True)))


class Block(nn.Module):
    """Of two linear layers; what it may differ in are its attributes."""

    def __init__(self, slope: float = 0.1, width: int = 4, shared: Any = None) -> None:
        super().__init__()
        self.slope = slope
        self.up, self.down = nn.Linear(4, width), nn.Linear(width, 4)
        self.up = shared or self.up

    def forward(self, x: Any, y: Any) -> Any:
        z = nn.functional.leaky_relu(self.up(x), self.slope) + 1.0
        return x + torch.tanh(self.down(z)) * y


class Other(Block):
    pass


def script_of(blocks: Callable[[], list[nn.Module]], call: Any = None) -> str:
    class Chain(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.blocks = nn.ModuleList(blocks())

        def forward(self, x: Any, y: Any) -> Any:
            for i, one in enumerate(self.blocks):
                x = call(one, x, y, i) if call else one(x, y)
            return x

    torch.manual_seed(0)
    arguments = (torch.randn(2, 4), torch.randn(2, 4))
    text = sardonyx.torch.export(Chain(), arguments).to_script(outline=True)
    return str(text)


def test_what_is_equal_is_a_function() -> None:
    text = script_of(lambda: [Block() for _ in range(3)])
    assert functions(text) == {"Block": 3}
    assert "def Block(x, up_weight, up_bias, down_weight, down_bias, y):" in text
    assert 'Block(x, w["blocks.0.up.weight"], w["blocks.0.up.bias"], ' in text


def test_what_differs_is_not() -> None:
    # An attribute, a size, a class, a value that is read from outside.
    assert functions(script_of(lambda: [Block(0.1), Block(0.2), Block(0.3)])) == {}
    assert functions(script_of(lambda: [Block(width=3), Block(width=5)])) == {}
    assert functions(script_of(lambda: [Block(), Other()])) == {}
    some = script_of(lambda: [Block(), Block(0.2), Block(), Other(), Block(0.2)])
    assert functions(some) == {"Block": 2, "Block_2": 2}
    # The wiring: the second block gets one value twice.
    twice = script_of(lambda: [Block(), Block()], lambda one, x, y, i: one(x, y if i else x))
    assert functions(twice) == {}


def test_shared_weights_are_arguments() -> None:
    shared = nn.Linear(4, 4)
    text = script_of(lambda: [Block(shared=shared) for _ in range(3)])
    assert functions(text) == {"Block": 3}


class Alone(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x) + torch.relu(x)


class Pairs(nn.Module):
    def forward(self, x: Any) -> Any:
        a, b = torch.sin(x) * 2.0, torch.cos(x) * 3.0
        return a + 1.0, b + a


class ManyResults(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second, self.third = Pairs(), Pairs(), Pairs()

    def forward(self, x: Any) -> Any:
        a, b = self.first(x)
        c, d = self.second(a + b)
        e, f = self.third(c)
        return c, d, e * f, a


def test_functions_of_several_results(tmp_path: pathlib.Path) -> None:
    x = torch.randn(3)
    text = check(torch.export.export(ManyResults(), (x,)), tmp_path, {"x": x.numpy()})
    assert functions(text) == {"Pairs": 3}
    assert re.search(r"^    (\w+), (\w+) = Pairs\(x\)$", text, re.MULTILINE)


class Taken(nn.Module):
    """A class and weights with names that scripts have for something else."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("aten", torch.randn(4))
        self.register_buffer("op", torch.randn(4))

    def forward(self, x: Any) -> Any:
        return torch.tanh(x * self.aten) + torch.sigmoid(x * self.op)


Taken.__name__ = Taken.__qualname__ = "FLOAT"


def test_names_that_are_taken(tmp_path: pathlib.Path) -> None:
    module = nn.Sequential(*[Taken() for _ in range(3)])
    x = torch.randn(2, 4)
    text = check(torch.export.export(module, (x,)), tmp_path, {"input": x.numpy()})
    assert "aten_" in text
    assert len(functions(text)) == 1


class OfLibrary(nn.Module):
    """Its weight has the name of the module that the script imports."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mylib", torch.randn(4))

    def forward(self, x: Any) -> Any:
        return torch.tanh(x) * nn.functional.gelu(x + self.mylib) + 1.0


def test_names_of_libraries_are_taken(tmp_path: pathlib.Path) -> None:
    library = tmp_path / "mylib.py"
    library.write_text(
        "from sardonyx.torch import aten, operator\n\n\n"
        '@operator("aten::gelu")\ndef gelu(self, *, approximate="none"):\n'
        "    return aten.relu(self)\n"
    )
    module = nn.Sequential(*[OfLibrary() for _ in range(3)])
    torch.export.save(torch.export.export(module, (torch.randn(2, 4),)), tmp_path / "model.pt2")
    words = ("import", tmp_path / "model.pt2", "--library", library, "-o")
    run(*words, tmp_path / "outlined.py", "--outline")
    run(*words, tmp_path / "direct.onnx")
    text = (tmp_path / "outlined.py").read_text()
    assert functions(text) == {"OfLibrary": 3}
    assert "mylib.gelu(add)" in text
    run("build", tmp_path / "outlined.py", "-o", tmp_path / "outlined.onnx")
    assert run("diff", tmp_path / "direct.onnx", tmp_path / "outlined.onnx").strip() == ""


def test_a_text_without_modules_that_repeat_stays() -> None:
    made = sardonyx.torch.export(Alone(), (torch.randn(3),))
    assert made.to_script(outline=True) == made.to_script()


def test_a_model_has_no_outline(tmp_path: pathlib.Path) -> None:
    torch.export.save(torch.export.export(Pairs(), (torch.randn(3),)), tmp_path / "model.pt2")
    words = [PROGRAM, "import", tmp_path / "model.pt2", "-o", tmp_path / "a.onnx", "--outline"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "`--outline` is for scripts, not for models" in done.stderr
    with pytest.raises(SystemExit):
        main([str(tmp_path / "model.pt2"), "--outline"])
    assert main([str(tmp_path / "model.pt2"), "--outline", "-o", str(tmp_path / "a.py")]) == 0
