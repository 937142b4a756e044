"""Notebooks: `sardonyx check` looks at their code cells, which share their names; findings name
the cell and the line in it."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest

from program import run

IMPORTS = "from sardonyx import FLOAT, script, opset18 as op\n"
WRONG = "@script()\ndef wrong(x: FLOAT['N']):\n    return op.Relux(x)\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(*cells: str | dict[str, Any], name: str = "book.ipynb", **metadata: Any) -> str:
    """A notebook; texts are code cells, as lists of lines, as Jupyter writes them."""
    rows = [
        cell if isinstance(cell, dict) else
        {"cell_type": "code", "source": cell.splitlines(keepends=True), "metadata": {},
         "outputs": [{"output_type": "stream", "name": "stdout", "text": ["x" * 100]}],
         "execution_count": None}
        for cell in cells
    ]  # fmt: skip
    book = {"cells": rows, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    pathlib.Path(name).write_text(json.dumps(book, indent=1))
    return name


def findings(*words: str) -> list[Any]:
    found: list[Any] = json.loads(run("check", "--json", *words, status=None).stdout)
    return found


def places(*words: str) -> list[tuple[str, int, int]]:
    return [(one["code"], one["cell"], one["range"]["start"]["line"]) for one in findings(*words)]


def test_cells_share_their_names() -> None:
    markdown = {"cell_type": "markdown", "source": "# not code", "metadata": {}}
    write(IMPORTS, markdown, "k = 2.0\n", "\n" + WRONG.replace("Relux(x)", "Relux(x) * k"))
    done = run("check", "book.ipynb", status=1)
    assert (
        done.stdout
        == """\
error[unknown-operator]: `ai.onnx` has no operator `Relux`
 --> book.ipynb:cell 3:4:15
  |
4 |     return op.Relux(x) * k
  |               ^^^^^
  |
  = help: did you mean `Relu`?

"""
    )
    assert done.stderr == "1 error in 1 file\n"


def test_places_as_data() -> None:
    write(IMPORTS, WRONG)
    (one,) = findings("book.ipynb")
    assert (one["file"], one["cell"]) == ("book.ipynb", 2)
    assert one["range"]["start"] == {"line": 3, "column": 15, "offset": WRONG.index("Relux")}
    assert one["edits"][0]["cell"] == 2
    sarif = json.loads(run("check", "--sarif", "book.ipynb", status=1).stdout)
    (place,) = sarif["runs"][0]["results"][0]["locations"]
    assert place["physicalLocation"]["artifactLocation"]["uri"] == "book.ipynb"
    assert place["physicalLocation"]["region"]["startLine"] == 3
    assert place["logicalLocations"] == [{"name": "cell 2"}]


MAGICS = [
    "%matplotlib inline\n",
    "!pip install onnx\n",
    "op?\n",
    "?op\n",
    "files = !ls\n",
    "when = %time 1\n",
    "if True:\n    %cd ..\n",
    "%%bash\nfor x in 1 2; do echo $x; done\n",
    "%%time\nx = 1\n",
    'text = """\n%not a magic\n!this neither\n"""\n',
    "y = (7\n% 4)\n",
    "\n\n",
    "",
]


@pytest.mark.parametrize("magic", MAGICS)
def test_magics_are_skipped(magic: str) -> None:
    write(IMPORTS, magic, WRONG)
    assert places("book.ipynb") == [("unknown-operator", 3, 3)]
    if not magic.startswith("%%bash"):
        write(IMPORTS, magic + WRONG)
        assert places("book.ipynb") == [("unknown-operator", 2, 3 + magic.count("\n"))]


def test_what_a_magic_gives_is_unknown() -> None:
    write(IMPORTS, "k = !ls\n", "@script()\ndef f(x: FLOAT['N']):\n    return x * k\n")
    (one,) = findings("book.ipynb")
    assert (one["cell"], one["range"]["start"]["line"]) == (2, 1)
    assert one["message"] == "IPython commands are not run, so their results are not known"


def test_mistakes_of_syntax_are_those_of_a_cell() -> None:
    write(IMPORTS, "x = (1,\n", WRONG)
    assert places("book.ipynb") == [("unclosed-bracket", 2, 1)]


def test_ignores_and_types() -> None:
    unused = WRONG.replace("Relux", "Relu").replace("return", "y = op.Abs(x)\n    return")
    write(IMPORTS, unused)
    assert places("book.ipynb") == [("unused-value", 2, 3)]
    write(IMPORTS, unused.replace("Abs(x)", "Abs(x)  # sardonyx: ignore[unused-value]"))
    assert places("book.ipynb") == []
    assert "FLOAT[N]" in run("check", "--types", "book.ipynb").stdout


def test_folders_and_repairs(folder: pathlib.Path) -> None:
    write(IMPORTS, WRONG)
    before = pathlib.Path("book.ipynb").read_bytes()
    (folder / "good.py").write_text(IMPORTS + WRONG)
    assert run("check", ".", status=1).stderr == "2 errors in 2 files\n"
    done = run("check", ".", "--fix", "--unsafe-fixes", status=1)
    assert "good.py:4:15: fixed unknown-operator" in done.stdout
    assert done.stderr == (
        "not fixed: `./book.ipynb`: `--fix` and `--diff` leave notebooks as they are\n"
        "1 error in 2 files\n"
    )
    assert pathlib.Path("book.ipynb").read_bytes() == before


def test_notebooks_of_other_languages() -> None:
    write("println(1) |>", kernelspec={"language": "julia", "name": "julia-1.9"})
    assert findings("book.ipynb") == []
    write("x = (1,", language_info={"name": "python", "version": "3.11"})
    assert len(findings("book.ipynb")) == 1


@pytest.mark.parametrize(
    "data",
    [
        b"", b"[]", b"{}", b"nope", b"\xff\xfe{", b'{"nbformat": 3, "worksheets": []}',
        b'{"nbformat": 4}', b'{"nbformat": 4, "cells": 3}', b'{"nbformat": "4", "cells": []}',
        b'{"nbformat": 4, "cells": ["\xc3\x28"]}', b"[" * 100_000,
        b'{"nbformat": 4, "cells": [{"cell_type": "code", "source": "\\ud800"}]}',
    ],
)  # fmt: skip
def test_damaged_notebooks(data: bytes) -> None:
    pathlib.Path("book.ipynb").write_bytes(data)
    (one,) = findings("book.ipynb")
    assert (one["code"], one["file"]) == ("invalid-notebook", "book.ipynb")


@pytest.mark.parametrize(
    "cell",
    [
        None, 3, [], {}, {"cell_type": "code"}, {"cell_type": "code", "source": {"a": 1}},
        {"cell_type": "code", "source": [1, None, "x = 1"]},
        {"cell_type": "code", "source": "x = 1\0"},
    ],
)  # fmt: skip
def test_odd_cells(cell: Any) -> None:
    book = {"nbformat": 4, "cells": [cell], "metadata": []}
    pathlib.Path("book.ipynb").write_text(json.dumps(book))
    assert [one["code"] for one in findings("book.ipynb")] in ([], ["invalid-character"])


def test_notebooks_that_are_not_there(folder: pathlib.Path) -> None:
    (one,) = findings("none.ipynb")
    assert one["code"] == "invalid-notebook" and "No such file" in one["message"]
    (folder / "folder.ipynb").mkdir()
    assert findings("folder.ipynb") == []
