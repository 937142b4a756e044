"""Operators of the user in files and functions (`library=`, `--library`)."""

from __future__ import annotations

import importlib.util
import os
import pathlib
import subprocess
import sys
import types
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

torch = pytest.importorskip("torch")

import sardonyx.torch  # noqa: E402
from sardonyx import script  # noqa: E402
from sardonyx.torch import ExportError, _operators, aten  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]

PROGRAM = pathlib.Path(os.environ.get("SDX_BUILD", "build/release")).resolve() / "sardonyx"

LIBRARY = """\
import sardonyx.torch
from helpers import twice
from sardonyx.torch import aten, operator


@operator("sardonyx_own::scaled")
def scaled(x, by=2.0):
    return aten.mul(twice(x), by)


@sardonyx.torch.operator("aten::gelu")
def gelu(self, *, approximate="none"):
    return aten.relu(self)


@operator("sardonyx_own::pair.default")
@operator("sardonyx_own::pair.other")
def pair(x):
    return x + 1, x * x
"""
HELPERS = """\
from sardonyx import script


@script(inline=True, caller_opset=True)
def twice(x):
    return x * 2.0
"""


@torch.library.custom_op("sardonyx_own::scaled", mutates_args=())
def _scaled(x: torch.Tensor, by: float = 2.0) -> torch.Tensor:
    return x * 2 * by


@torch.library.custom_op("sardonyx_own::pair", mutates_args=())
def _pair(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return x + 1, x * x


_scaled.register_fake(lambda x, by=2.0: torch.empty_like(x) if by else x)
_pair.register_fake(lambda x: (torch.empty_like(x), torch.empty_like(x)))


class Uses(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x: torch.Tensor, mylib: torch.Tensor) -> Any:
        y = torch.nn.functional.gelu(torch.ops.sardonyx_own.scaled(self.linear(x), 3.0)) + mylib
        return torch.cond(x.sum() > 0, self.positive, self.negative, (y,)), y.relu()

    def positive(self, y: torch.Tensor) -> torch.Tensor:
        a, b = torch.ops.sardonyx_own.pair(y)
        return a * b

    def negative(self, y: torch.Tensor) -> torch.Tensor:
        return y * 3


GIVEN = (torch.ones(2, 4), torch.arange(8.0).reshape(2, 4))


@pytest.fixture(scope="module")
def program() -> Any:
    torch.manual_seed(0)
    return torch.export.export(Uses(), GIVEN)


@pytest.fixture
def folder(program: Any, tmp_path: pathlib.Path) -> pathlib.Path:
    torch.export.save(program, tmp_path / "model.pt2")
    (tmp_path / "mylib.py").write_text(LIBRARY)
    (tmp_path / "helpers.py").write_text(HELPERS)
    return tmp_path


def wanted(program: Any) -> list[np.ndarray[Any, Any]]:
    """What torch gives where `gelu` is replaced as in the library."""
    x, y = GIVEN
    weight, bias = (program.state_dict[f"linear.{name}"] for name in ("weight", "bias"))
    y = torch.relu(torch.nn.functional.linear(x, weight, bias) * 6) + y
    return [((y + 1) * y * y).detach().numpy(), y.relu().detach().numpy()]


def check(model: bytes, program: Any) -> None:
    proto = onnx.load_from_string(model)
    onnx.checker.check_model(proto, full_check=True)
    arrays = [one.numpy() for one in GIVEN]
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    names = [one.name for one in session.get_inputs()]
    theirs = session.run(None, dict(zip(names, arrays, strict=True)))
    ours = sardonyx.Model(model)(*arrays)
    for a, b, want in zip(theirs, ours, wanted(program), strict=True):
        np.testing.assert_allclose(a, want, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(b, want, rtol=1e-5, atol=1e-5)


def run(*words: Any) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": "/nowhere", "SARDONYX_PYTHON": "/nowhere/python"}
    return subprocess.run(
        [PROGRAM, *words], env=environment, capture_output=True, text=True, check=False
    )


def convert(folder: pathlib.Path, *libraries: pathlib.Path) -> str:
    """What the program prints, after it has failed."""
    words = [word for one in libraries for word in ("--library", one)]
    done = run("import", folder / "model.pt2", "-o", folder / "model.onnx", *words)
    assert done.returncode == 1
    assert not (folder / "model.onnx").exists()
    return done.stderr


def test_a_file_is_the_library_everywhere(program: Any, folder: pathlib.Path) -> None:
    library = folder / "mylib.py"
    made = sardonyx.torch.convert(program, library=library)
    read = sardonyx.torch.convert(folder / "model.pt2", library=str(library))
    text = made.to_script()
    assert "\nimport mylib\n" in text
    assert "= mylib.scaled(linear, 3.0)" in text
    assert "= mylib.gelu(scaled)" in text
    assert "mylib_: FLOAT[2, 4]" in text  # the module has the name
    assert read.to_script() == text
    done = run("import", folder / "model.pt2", "-o", folder / "model.onnx", "--library", library)
    assert done.returncode == 0, done.stderr
    model = (folder / "model.onnx").read_bytes()
    assert read.to_model_bytes() == model
    check(model, program)
    check(made.to_model_bytes(), program)
    # It is the library of this export alone.
    assert not any("sardonyx_own" in one for one in _operators.overloads())
    assert "helpers" in sys.modules
    del sys.modules["helpers"]


PLAIN_HELPERS = {
    "a function": "def twice(x):\n    return x * 2.0\n",
    "of another file": "from deeper import two\n\n\ndef twice(x):\n    return two(x)\n",
    "a lambda": "twice = lambda x: x * 2.0\n",
    "without the folder": "import sys\n\nsys.path.pop(0)\n\n\n"
        "def twice(x):\n    return x * 2.0\n",
    "with operators of the library":
        "from sardonyx.torch import aten\n\n\ndef twice(x):\n    return aten.mul(x, 2.0)\n",
}  # fmt: skip


@pytest.mark.parametrize("helpers", PLAIN_HELPERS.values(), ids=PLAIN_HELPERS)
@pytest.mark.parametrize("spelling", ["whole", "relative", "by a link", "with dots"])
def test_plain_functions_of_neighbouring_files(
    helpers: str, spelling: str, program: Any, folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are expanded in place, whatever path leads to the file and whatever else is loaded."""
    (folder / "helpers.py").write_text(helpers)
    (folder / "deeper.py").write_text("def two(x):\n    return x * 2.0\n")
    (folder / "inner").mkdir()
    (folder / "link").symlink_to(folder, target_is_directory=True)
    library = {
        "whole": folder / "mylib.py",
        "relative": pathlib.Path(os.path.relpath(folder / "mylib.py")),
        "by a link": folder / "link" / "mylib.py",
        "with dots": folder / "inner" / ".." / "mylib.py",
    }[spelling]
    # A module of another folder, which is loaded already, is not the neighbour of this file.
    other = types.ModuleType("helpers")
    other.__file__ = str(folder.parent / "elsewhere" / "helpers.py")
    exec("def twice(x):\n    return x * 100.0\n", vars(other))
    monkeypatch.setitem(sys.modules, "helpers", other)
    monkeypatch.delitem(sys.modules, "deeper", raising=False)
    done = run("import", folder / "model.pt2", "-o", folder / "model.onnx", "--library", library)
    assert done.returncode == 0, done.stderr
    model = (folder / "model.onnx").read_bytes()
    read = sardonyx.torch.convert(folder / "model.pt2", library=library)
    made = sardonyx.torch.convert(program, library=library)
    assert read.to_model_bytes() == model
    check(model, program)
    check(made.to_model_bytes(), program)
    assert sys.modules["helpers"] is other
    sys.modules.pop("deeper", None)


def test_the_script_compiles_again(program: Any, folder: pathlib.Path) -> None:
    library = folder / "mylib.py"
    made = sardonyx.torch.convert(program, library=library)
    done = run("import", folder / "model.pt2", "-o", folder / "again.py", "--library", library)
    assert done.returncode == 0, done.stderr
    made.save_script(folder / "saved.py")
    again = (folder / "again.py").read_text()
    assert (folder / "saved.py").read_text().replace("saved.", "again.") == again
    for name in ("again", "saved"):
        done = run("build", folder / f"{name}.py", "-o", folder / f"{name}.onnx")
        assert done.returncode == 0, done.stderr
        check((folder / f"{name}.onnx").read_bytes(), program)
    # In Python, too.
    code = "import again; again.main.to_model_bytes()"
    path = os.pathsep.join([str(folder), *sys.path])
    subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": path}, check=True)
    # Elsewhere the script would not find it.
    (folder / "inner").mkdir()
    done = run("import", folder / "model.pt2", "-o", folder / "inner/a.py", "--library", library)
    assert done.returncode == 1
    assert f"the script imports `mylib`, so it must be in the folder of {library}" in done.stderr
    with pytest.raises(ExportError, match="the script imports `mylib`, so it must be in"):
        made.save_script(folder / "inner" / "a.py")
    del sys.modules["helpers"]


def test_modules_mappings_and_sequences(
    program: Any, folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(folder))
    spec = importlib.util.spec_from_file_location("mylib", folder / "mylib.py")
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "mylib", module)
    before = dict(_operators._own)
    try:
        spec.loader.exec_module(module)  # type: ignore[union-attr]
    finally:
        _operators._own.clear()
        _operators._own.update(before)
    text = sardonyx.torch.convert(program, library=folder / "mylib.py").to_script()
    for library in (
        module,
        [module],
        {"sardonyx_own::scaled": module.scaled, "aten::gelu.default": module.gelu,
         "sardonyx_own::pair": module.pair},
        [{"sardonyx_own::scaled": module.scaled, "aten::gelu": module.gelu},
         {"sardonyx_own::pair": module.pair}],
    ):  # fmt: skip
        for source in (program, folder / "model.pt2"):
            made = sardonyx.torch.convert(source, library=library)
            assert made.to_script() == text
            check(made.to_model_bytes(), program)
    del sys.modules["helpers"]


def test_functions_without_a_file(program: Any, folder: pathlib.Path) -> None:
    def scaled(x, by=2.0):
        return x * by * 2.0

    @script(inline=True)
    def gelu(self, *, approximate="none"):
        return aten.relu(self) if approximate == "none" else self

    def pair(x):
        return x + 1.0, x * x

    functions = {"sardonyx_own::scaled": scaled, "aten::gelu": gelu, "sardonyx_own::pair": pair}
    for source in (program, folder / "model.pt2"):
        made = sardonyx.torch.convert(source, library=functions, verify=False)
        check(made.to_model_bytes(), program)
        with pytest.raises(ExportError, match="no file has at its top level, for `sardonyx_own::"):
            made.to_script()
    made = sardonyx.torch.export(Uses(), GIVEN, library=functions)
    assert len(made.to_model_bytes()) > 100


def test_operators_declared_in_python_are_known_for_files(
    program: Any, folder: pathlib.Path
) -> None:
    before = dict(_operators._own)
    try:
        sardonyx.torch.operator("sardonyx_own::scaled")(plain_scaled)
        sardonyx.torch.operator("sardonyx_own::pair")(plain_pair)
        read = sardonyx.torch.convert(folder / "model.pt2")
        assert read.to_script() == sardonyx.torch.convert(program).to_script()
        assert "aten.sardonyx_own_scaled(linear, 3.0)" in read.to_script()
    finally:
        _operators._own.clear()
        _operators._own.update(before)


@torch.library.custom_op("sardonyx_own::note", mutates_args=())
def _note(x: torch.Tensor) -> None:
    pass


@_note.register_fake
def _(x: torch.Tensor) -> None:
    pass


def test_an_operator_without_a_result(tmp_path: pathlib.Path) -> None:
    """Its schema says that it changes nothing, which is not in files; torch removes it."""

    class Notes(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            torch.ops.sardonyx_own.note(x)
            return x * 2

    exported = torch.export.export(Notes(), (torch.ones(2),))
    file = tmp_path / "notes.pt2"
    torch.export.save(exported, file)
    with pytest.raises(ExportError, match="run_decompositions"):
        sardonyx.torch.convert(file)
    torch.export.save(exported.run_decompositions({}), file)
    for one in (exported, file):
        found = sardonyx.torch.convert(one).compile()(np.float32([1, 2]))
        np.testing.assert_array_equal(found, [2, 4])


def plain_scaled(x, by=2.0):
    return x * by * 2.0


def plain_pair(x):
    return x + 1.0, x * x


def test_verify_knows_the_library(folder: pathlib.Path) -> None:
    library = LIBRARY.replace("aten.mul(twice(x), by)", "aten.add(twice(x), by)")
    (folder / "wrong.py").write_text(library)
    with pytest.raises(ExportError, match=r"`sardonyx_own::scaled\.default` gives something else"):
        sardonyx.torch.export(Uses(), GIVEN, library=folder / "wrong.py", verify=True)


# What is in the file, and what both surfaces say of it.
MISTAKES = {
    "no_declaration": ("def f(x):\n    return x\n", "the file declares no operators: write"),
    "no_operators_name": (LIBRARY.replace("sardonyx_own::scaled", "scaled"),
                          "`scaled` is not the name of an operator"),
    "too_few_parameters": (LIBRARY.replace("(x, by=2.0)", "(x)").replace(", by)", ", 2.0)"),
                           "`scaled` takes 1 argument, not 2"),
    "a_name_twice": (LIBRARY.replace("def gelu", "def scaled"),
                     "`scaled` is not what the file has by this name at its end"),
    "an_overload_twice": (LIBRARY.replace("aten::gelu", "sardonyx_own::scaled"),
                          "`sardonyx_own::scaled.default` is declared already, by "),
    "a_mistake_inside": (LIBRARY.replace("twice(x)", "thrice(x)"), "`thrice` is not defined"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_in_a_library_are_said(name: str, folder: pathlib.Path) -> None:
    text, words = MISTAKES[name]
    library = folder / "broken.py"
    library.write_text(text)
    said = convert(folder, library)
    assert words in said
    assert "broken.py" in said
    with pytest.raises((ValueError, ExportError)) as caught:
        sardonyx.torch.convert(folder / "model.pt2", library=library)
    assert words in str(caught.value)


def test_a_parameter_that_does_not_fit(folder: pathlib.Path) -> None:
    library = folder / "broken.py"
    library.write_text(LIBRARY.replace("x, by=2.0", "x, *, by=2.0"))
    said = convert(folder, library)
    assert "`scaled` takes 1 argument by position, not 2" in said
    assert f"`sardonyx_own::scaled.default`, which is `scaled` of {library}" in said
    assert "test_own_operators.py:" in said  # the line of the module
    with pytest.raises(ExportError, match=r"which is `scaled` of .*broken\.py"):
        sardonyx.torch.convert(folder / "model.pt2", library=library)


def test_a_mistake_inside_has_both_places(folder: pathlib.Path) -> None:
    library = folder / "broken.py"
    library.write_text(LIBRARY.replace("twice(x)", "thrice(x)"))
    line = LIBRARY[: LIBRARY.index("twice(x)")].count("\n") + 1
    said = convert(folder, library)
    with pytest.raises(ExportError) as caught:
        sardonyx.torch.convert(folder / "model.pt2", library=library)
    for text in (said, str(caught.value)):
        assert f"broken.py:{line}\n" in text
        assert "test_own_operators.py:" in text


def test_files_that_do_not_go_together(folder: pathlib.Path) -> None:
    library = folder / "mylib.py"
    assert "nowhere.py" in convert(folder, folder / "nowhere.py")
    with pytest.raises(FileNotFoundError, match=r"there is no library .*nowhere\.py"):
        sardonyx.torch.convert(folder / "model.pt2", library=folder / "nowhere.py")
    (folder / "other.py").write_text(LIBRARY)
    said = "`sardonyx_own::scaled.default` is declared already, by `"
    assert f"{said}scaled` of {library}" in convert(folder, library, folder / "other.py")
    with pytest.raises(ValueError, match=rf"other\.py:6: {said}mylib\.scaled`"):
        sardonyx.torch.convert(folder / "model.pt2", library=[library, folder / "other.py"])
    (folder / "inner").mkdir()
    (folder / "inner" / "mylib.py").write_text(LIBRARY)
    (folder / "inner" / "helpers.py").write_text(HELPERS)
    second = folder / "inner" / "mylib.py"
    assert "is called `mylib` too" in convert(folder, library, second)
    with pytest.raises(ValueError, match="is called `mylib` too"):
        sardonyx.torch.convert(folder / "model.pt2", library=[library, second])
    for name in ("aten", "1st", "my-lib", "class"):
        (folder / f"{name}.py").write_text(LIBRARY)
        words = f"scripts cannot import `{name}`: give the file another name"
        assert words in convert(folder, folder / f"{name}.py")
        with pytest.raises(ValueError, match=words):
            sardonyx.torch.convert(folder / "model.pt2", library=folder / f"{name}.py")
    # A file that is given twice is one.
    done = run("import", folder / "model.pt2", "-o", folder / "a.onnx", "--library", library,
               "--library", folder / "inner" / ".." / "mylib.py")  # fmt: skip
    assert done.returncode == 0, done.stderr
    sardonyx.torch.convert(folder / "model.pt2", library=[library, library])
    # It is not written over.
    done = run("import", folder / "model.pt2", "-o", library, "--library", library)
    assert done.returncode == 2
    assert library.read_text() == LIBRARY


def test_what_a_library_is_not(program: Any) -> None:
    with pytest.raises(TypeError, match="`library` is a path, a module, a mapping"):
        sardonyx.torch.convert(program, library=7)
    with pytest.raises(ValueError, match="`library`: the module `empty` has no file"):
        sardonyx.torch.convert(program, library=types.ModuleType("empty"))
    with pytest.raises(ValueError, match="write it as `namespace::name`"):
        sardonyx.torch.convert(program, library={"scaled": plain_scaled})


def test_the_module_as_a_program(folder: pathlib.Path) -> None:
    words = [sys.executable, "-m", "sardonyx.torch", "model.pt2", "-o", "made.onnx"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [*words, "--library", "mylib.py"], cwd=folder, env=environment, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    made = run("import", folder / "model.pt2", "-o", folder / "m.onnx", "--library",
               folder / "mylib.py")  # fmt: skip
    assert made.returncode == 0, made.stderr
    assert (folder / "made.onnx").read_bytes() == (folder / "m.onnx").read_bytes()
