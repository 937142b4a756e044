"""What keeps Python from importing a file is reported by every command, whether or not scripts are
left to tell."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys

import pytest
import sardonyx

from places import PROGRAM

IMPORTS = "from sardonyx import FLOAT, opset18 as op, script\n"
SCRIPT = '@script(default_opset=op)\ndef f(x: FLOAT["N"]) -> FLOAT["N"]:\n    return op.Relu(x)\n'


def findings(path: pathlib.Path) -> list[tuple[str, str, int, str]]:
    """Code, message, line and help of the errors that `check` tells."""
    done = subprocess.run(
        [PROGRAM, "check", "--json", path], capture_output=True, text=True, timeout=60, check=False
    )
    return [
        (one["code"], one["message"], one["labels"][0]["range"]["start"]["line"], one["help"])
        for one in json.loads(done.stdout)
        if one["severity"] == "error"
    ]


def build(path: pathlib.Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [PROGRAM, "build", path, "-o", path.with_suffix(".onnx")],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


MISTAKES = {
    "a decorator": (
        IMPORTS + SCRIPT.replace("@script", "@scrpit"),
        ("unknown-name", "`scrpit` is not defined", 2, "did you mean `script`?"),
    ),
    "an argument of the decorator": (
        IMPORTS + SCRIPT.replace("=op", "=opp"),
        ("unknown-name", "`opp` is not defined", 2, "did you mean `op`?"),
    ),
    "a comparison in place of a keyword": (
        IMPORTS + SCRIPT.replace("default_opset=op", "default_opset==op"),
        ("unknown-name", "`default_opset` is not defined", 2,
         "define or import it, or pass it as a parameter"),
    ),
    "a value": (
        IMPORTS + "size = widht * 2\n" + SCRIPT,
        ("unknown-name", "`widht` is not defined", 2,
         "define or import it, or pass it as a parameter"),
    ),
    "behind what is not known": (
        "import something\n" + IMPORTS + "a = something.f()\nsize = widht + a\n" + SCRIPT,
        ("unknown-name", "`widht` is not defined", 4,
         "define or import it, or pass it as a parameter"),
    ),
    "in a function that is called": (
        IMPORTS + "def size():\n    return widht\nn = size()\n" + SCRIPT,
        ("unknown-name", "`widht` is not defined", 3,
         "define or import it, or pass it as a parameter"),
    ),
    "after all scripts": (
        IMPORTS + SCRIPT + "print(widht)\n",
        ("unknown-name", "`widht` is not defined", 5,
         "define or import it, or pass it as a parameter"),
    ),
    "an import": (
        IMPORTS.replace("script", "scrip") + SCRIPT,
        ("unknown-member", "module `sardonyx` has no member `scrip`", 1,
         "did you mean `script`?"),
    ),
    "a member of the package": (
        IMPORTS + "import sardonyx\n" + SCRIPT.replace("@script", "@sardonyx.scrip"),
        ("unknown-member", "module `sardonyx` has no member `scrip`", 3,
         "did you mean `script`?"),
    ),
    "the name of the package": (
        IMPORTS.replace("sardonyx", "sardonix") + SCRIPT,
        ("unknown-module", "there is no module `sardonix` here", 1, "did you mean `sardonyx`?"),
    ),
    "the package by another name": (
        "import sardonix as sx\n\n@sx.script()\ndef f(x: sx.FLOAT[3]):\n    return x\n",
        ("unknown-module", "there is no module `sardonix` here", 1, "did you mean `sardonyx`?"),
    ),
    "no import at all": (
        SCRIPT,
        ("unknown-name", "`script` is not defined", 1,
         "import it: `from sardonyx import script`"),
    ),
    "an index": (
        IMPORTS + "x = [1][5]\n" + SCRIPT,
        ("static-error", "index 5 of a list of length 1", 2, "use -1 to 0"),
    ),
    "an error that is raised": (
        IMPORTS + "raise ValueError('no')\n" + SCRIPT,
        ("static-error", "importing the file fails here", 2,
         "mend this line: no script of the file can be used"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", list(MISTAKES))
def test_a_file_that_python_cannot_import(name: str, tmp_path: pathlib.Path) -> None:
    text, (code, message, line, help_text) = MISTAKES[name]
    path = tmp_path / "file.py"
    path.write_text(text)
    (tmp_path / "something.py").write_text("def f(*, x=1):\n    return len(globals())\n")
    imported = subprocess.run(
        [sys.executable, path], capture_output=True, text=True, timeout=60, check=False
    )
    assert "Error" in imported.stderr
    assert findings(path)[0] == (code, message, line, help_text)
    built = build(path)
    assert built.returncode == 1 and f"error[{code}]: {message}" in built.stderr, built
    assert not path.with_suffix(".onnx").exists()
    with pytest.raises(sardonyx.CompileError, match=code):
        sardonyx.compile(text, filename=str(path))


IMPORTED = {
    "names that a try catches": "try:\n    a = unicode\nexcept NameError:\n    a = str\n",
    "the same behind what is not known":
        "import something\nb = something.f()\ntry:\n    unicode\nexcept NameError:\n    a = 1\n",
    "names of other statements":
        "def g():\n    global late\n    late = 1\ng()\nprint(late)\n",
    "names in functions that nobody calls": "def g():\n    return missing\n",
    "names in branches that are not taken": "if False:\n    x = missing\n",
    "names that a star may define": "from something import *\nprint(starred)\n",
    "an error that a try catches": "try:\n    raise ValueError\nexcept ValueError:\n    pass\n",
    "what the compiler does not know of NumPy":
        "import numpy as np\nprint(np.finfo(np.float32).maxexp, np.nanmedian([1.0]))\n",
    "what the package has for Python": "import sardonyx\nsardonyx.load_schemas\n",
    "names that are deleted": "a = 1\ndel a\n",
    "names of Python that the compiler does not know": "print(__file__, copyright)\n",
    "comprehensions": "a = [i for i in range(3) if (b := i)]\nprint(b)\n",
    "a match": "match 3:\n    case c:\n        print(c)\n",
}  # fmt: skip


@pytest.mark.parametrize("name", list(IMPORTED))
def test_a_file_that_python_imports(name: str, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "file.py"
    path.write_text(IMPORTED[name] + IMPORTS + SCRIPT)
    (tmp_path / "something.py").write_text(
        "def f():\n    return len(globals())\nglobals()['starred'] = 3\n"
    )
    subprocess.run([sys.executable, path], capture_output=True, timeout=60, check=True)
    assert findings(path) == []
    assert build(path).returncode == 0


def test_a_file_that_imports_one_that_python_cannot_import(tmp_path: pathlib.Path) -> None:
    other, path = tmp_path / "other.py", tmp_path / "file.py"
    other.write_text("size = widht * 2\nother = 3\n")
    path.write_text(IMPORTS + "from other import other\n" + SCRIPT)
    assert findings(path)[0][:3] == ("unknown-name", "`widht` is not defined", 1)
    assert "other.py:1:8" in build(path).stderr
    (tmp_path / "third.py").write_text("third = 3\n")
    path.write_text(IMPORTS + "import other, third\n" + SCRIPT)
    assert findings(path)[0][:3] == ("unknown-name", "`widht` is not defined", 1)
    path.write_text(IMPORTS + "try:\n    import other\nexcept NameError:\n    pass\n" + SCRIPT)
    assert findings(path) == []
    assert build(path).returncode == 0


def test_scripts_with_decorators_that_are_not_known(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "file.py"
    path.write_text(IMPORTS + "import json\n@json.dumps\n" + SCRIPT)
    assert findings(path)[0][:3] == ("unknown-module", "there is no module `json` here", 2)
    assert "there is no module `json` here" in build(path).stderr
    path.write_text(IMPORTS + "exec('op = 3')\n" + SCRIPT)
    assert findings(path)[0][1] == "`op` may be changed in line 2, which needs Python"
    assert "may be changed in line 2" in build(path).stderr


def test_decorators_of_other_packages(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "file.py"
    other = "import torch\nfrom torch import jit\n@torch.jit.script\ndef g(x):\n    return x\n"
    path.write_text(IMPORTS + other + other.replace("@torch.", "@") + SCRIPT)
    assert findings(path) == []
    assert build(path).returncode == 0


def test_imports_are_not_removed_where_a_name_is_misspelt(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "file.py"
    text = IMPORTS + SCRIPT.replace("@script", "@scrpit")
    path.write_text(text)
    subprocess.run([PROGRAM, "check", "--fix", path], capture_output=True, timeout=60, check=False)
    assert path.read_text() == text
    subprocess.run([PROGRAM, "check", "--fix", "--unsafe-fixes", path], capture_output=True,
                   timeout=60, check=False)  # fmt: skip
    assert path.read_text() == IMPORTS + SCRIPT


def test_other_files_and_notebooks_may_be_anything(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "file.py"
    path.write_text("x = widht\nraise ValueError\n")
    assert findings(path) == []
    cells = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": one}
        for one in (IMPORTS, "x = widht\n", SCRIPT)
    ]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    path = tmp_path / "file.ipynb"
    path.write_text(json.dumps(notebook))
    assert findings(path) == []


def test_the_compiler_knows_which_names_the_package_has(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "file.py"
    names = [one for one in dir(sardonyx) if not one.startswith("_")]
    lines = [f"from sardonyx import {one} as _{i}\n" for i, one in enumerate(names)]
    path.write_text(IMPORTS + "".join(lines) + SCRIPT)
    assert findings(path) == []
