"""`sardonyx check --fix`: each repair is valid Python, clean, and changes nothing else."""

from __future__ import annotations

import ast
import json
import pathlib
import shutil
import subprocess
import textwrap

import pytest
import sardonyx

from places import PROGRAM

HEADER = "from sardonyx import BOOL, FLOAT, INT32, INT64, opset18 as op, script\n\n\n"

# By name: what stands in the script, what stands there after the repair, and the codes mended. The
# header imports what the programs need, and no more is said of it.
REPAIRS: dict[str, tuple[str, str, list[str]]] = {
    "operator": ("return op.Reluu(x)", "return op.Relu(x)", ["unknown-operator"]),
    "attribute": (
        "return op.Softmax(x, axiss=0)",
        "return op.Softmax(x, axis=0)",
        ["unknown-attribute"],
    ),
    "name": ("yes = op.Abs(x)\nreturn yse", "yes = op.Abs(x)\nreturn yes", ["unknown-name"]),
    "member": ("return op.Reshape(x, x.shap)", "return op.Reshape(x, x.shape)", ["unknown-member"]),
    "double quotes": (
        'return op.Gelu(x, approximate="tanhh")',
        'return op.Gelu(x, approximate="tanh")',
        ["operator-not-in-opset", "illegal-enumeration"],
    ),
    "single quotes": (
        "return op.ScatterElements(x, k, x, reduction='addd')",
        "return op.ScatterElements(x, k, x, reduction='add')",
        ["illegal-enumeration"],
    ),
    "cast the first": (
        "return op.Add(k, x)",
        "return op.Add(op.Cast(k, to=FLOAT.dtype), x)",
        ["type-mismatch"],
    ),
    "cast the second": (
        "return x * (k + k)",
        "return x * (op.Cast(k + k, to=FLOAT.dtype))",
        ["type-mismatch"],
    ),
    "cast to the wider integer": (
        "return x + op.Cast(j + k, to=FLOAT.dtype)",
        "return x + op.Cast(op.Cast(j, to=INT64.dtype) + k, to=FLOAT.dtype)",
        ["type-mismatch"],
    ),
    "and": (
        "return op.Where(x > 0.0 and x < 1.0, x, 0.0)",
        "return op.Where((x > 0.0) & (x < 1.0), x, 0.0)",
        ["ambiguous-truth-value"],
    ),
    "and, or, not": (
        "return op.Where((x > 0.0) and not b or b and b and b, x, 0.0)",
        "return op.Where(((x > 0.0) & ~b) | (b & b & b), x, 0.0)",
        ["ambiguous-truth-value"] * 4,
    ),
    "not": (
        "return op.Where(not x > 0.0, x, 0.0)",
        "return op.Where(~(x > 0.0), x, 0.0)",
        ["ambiguous-truth-value"],
    ),
    "a bracket of another kind": (
        "return op.Abs((x + [1.0]]) * x",
        "return op.Abs((x + [1.0])) * x",
        ["unmatched-bracket"],
    ),
    "several": (
        "y = op.Reluu(x)\nz = op.Softmaks(y, axis=0)\nreturn op.Add(y, z)",
        "y = op.Relu(x)\nz = op.Softmax(y, axis=0)\nreturn op.Add(y, z)",
        ["unknown-operator", "unknown-operator"],
    ),
}

# Those that mean what the text means; the others are guesses.
SAFE = {"and", "and, or, not", "not"}
MEND = ("--fix", "--unsafe-fixes")


def program(body: str, header: str = HEADER) -> str:
    signature = 'def f(x: FLOAT["N"], k: INT64["N"], j: INT32["N"], b: BOOL["N"]):\n'
    return header + "@script()\n" + signature + textwrap.indent(body, "    ") + "\n"


def run(*words: str | pathlib.Path, status: int | None = None) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=60)
    assert done.returncode in (0, 1), done.stderr
    assert status is None or done.returncode == status, done.stdout + done.stderr
    return done


def fixed_codes(output: str) -> list[str]:
    return [
        line.split(": fixed ")[1].split(":")[0]
        for line in output.splitlines()
        if ": fixed " in line
    ]


@pytest.mark.parametrize("name", REPAIRS)
def test_repair(name: str, tmp_path: pathlib.Path) -> None:
    before, after, codes = REPAIRS[name]
    wanted = program(after)
    if "operator-not-in-opset" in codes:
        wanted = wanted.replace("opset18 as op", "opset20 as op")
    script = tmp_path / "script.py"
    script.write_text(program(before))
    # Without being told, the program makes no guesses.
    run("check", "--fix", "--ignore", "unused-import", script, status=0 if name in SAFE else 1)
    assert (script.read_text() == program(before)) == (name not in SAFE)
    script.write_text(program(before))
    done = run("check", *MEND, "--ignore", "unused-import", script, status=0)
    text = script.read_text()
    # Of nested `and` and `not` the order of the repairs decides which brackets are needed.
    assert text == wanted or (
        name == "and, or, not" and ast.dump(ast.parse(text)) == ast.dump(ast.parse(wanted))
    )
    assert sorted(fixed_codes(done.stdout)) == sorted(codes)
    compile(wanted, "script.py", "exec")
    assert run("check", "--ignore", "unused-import", script, status=0).stdout == ""
    again = run("check", *MEND, "--ignore", "unused-import", script, status=0)
    assert again.stdout == "" and script.read_text() == text


def test_words_of_a_repair_bring_no_other_findings(tmp_path: pathlib.Path) -> None:
    """The name of the opset is sought among the imports; those that nobody uses are not opened."""
    header = "import os\nimport torch\nfrom elsewhere import DOUBLE\n" + HEADER
    script = tmp_path / "script.py"
    script.write_text(program("return x + k", header))
    done = run("check", "--json", "--ignore", "unused-import", script, status=1)
    assert [found["code"] for found in json.loads(done.stdout)] == ["type-mismatch"]
    run("check", *MEND, "--ignore", "unused-import", script, status=0)
    assert script.read_text() == program("return x + op.Cast(k, to=FLOAT.dtype)", header)


def test_an_import_that_a_repair_uses_stays(tmp_path: pathlib.Path) -> None:
    header = "from sardonyx import FLOAT, INT64, opset18 as op, script\n\n\n"
    text = f"{header}@script()\ndef f(x: FLOAT[2], k: INT64[2]):\n    return x + k\n"
    script = tmp_path / "script.py"
    script.write_text(text)
    done = run("check", *MEND, script, status=0)
    assert script.read_text() == text.replace("+ k", "+ op.Cast(k, to=FLOAT.dtype)")
    assert fixed_codes(done.stdout) == ["type-mismatch"]


def test_an_import_stays_while_errors_remain(tmp_path: pathlib.Path) -> None:
    header = "from sardonyx import FLOAT, opset18 as op, script\n\n\n"
    text = f"{header}@script()\ndef f(x: FLOAT[2]):\n    return nothing_of_that_name(x)\n"
    script = tmp_path / "script.py"
    script.write_text(text)
    run("check", "--fix", script, status=1)
    assert script.read_text() == text


OPSETS: dict[str, tuple[str, str | None]] = {
    "alias": (
        (
            "from sardonyx import FLOAT, opset15 as op, script\n\n\n@script()\n"
            "def f(x: FLOAT[4]):\n    return op.Gelu(op.Relu(x))\n"
        ),
        (
            "from sardonyx import FLOAT, opset20 as op, script\n\n\n@script()\n"
            "def f(x: FLOAT[4]):\n    return op.Gelu(op.Relu(x))\n"
        ),
    ),
    "name": (
        (
            "from sardonyx import FLOAT, opset15, script\n\n\n@script(default_opset=opset15)\n"
            "def f(x: FLOAT[4]):\n    return opset15.Mish(x) + 1.0\n"
        ),
        (
            "from sardonyx import FLOAT, opset18, script\n\n\n@script(default_opset=opset18)\n"
            "def f(x: FLOAT[4]):\n    return opset18.Mish(x) + 1.0\n"
        ),
    ),
    # Softmax means something else from opset 13 on, and Dropout lost its attribute.
    "another default": (
        (
            "from sardonyx import FLOAT, opset12 as op, script\n\n\n@script()\n"
            "def f(x: FLOAT[2, 2, 2]):\n    return op.Mish(op.Softmax(x))\n"
        ),
        None,
    ),
    "attribute gone": (
        (
            "from sardonyx import FLOAT, opset11 as op, script\n\n\n@script()\n"
            "def f(x: FLOAT[4]):\n    return op.Mish(op.Dropout(x, ratio=0.5))\n"
        ),
        None,
    ),
    "bound twice": (
        (
            "from sardonyx import FLOAT, opset15 as op, script\n"
            "from sardonyx import opset16 as op\n\n\n@script()\n"
            "def f(x: FLOAT[4]):\n    return op.Mish(x)\n"
        ),
        None,
    ),
}


@pytest.mark.parametrize("name", OPSETS)
def test_newer_opset(name: str, tmp_path: pathlib.Path) -> None:
    before, after = OPSETS[name]
    script = tmp_path / "script.py"
    script.write_text(before)
    done = run("check", *MEND, script, status=0 if after else 1)
    assert script.read_text() == (after or before)
    assert fixed_codes(done.stdout) == (["operator-not-in-opset"] if after else [])
    assert ("operator-not-in-opset" in done.stdout) is True


def test_bytes_and_rights_are_kept(tmp_path: pathlib.Path) -> None:
    text = program("s = 'ä'  # 𝄞\nassert s\nreturn op.Reluu(x)").replace("\n", "\r\n")
    script = tmp_path / "script.py"
    script.write_bytes(b"\xef\xbb\xbf" + text.encode())
    script.chmod(0o640)
    run("check", *MEND, "--ignore", "unused-import", script, status=0)
    assert script.read_bytes() == b"\xef\xbb\xbf" + text.replace("Reluu", "Relu").encode()
    assert script.stat().st_mode & 0o777 == 0o640
    assert [path.name for path in tmp_path.iterdir()] == ["script.py"]


def test_what_remains_fails_and_is_shown(tmp_path: pathlib.Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(program("y = op.Reluu(x)\nreturn y + nothing_of_the_kind"))
    done = run("check", *MEND, "--ignore", "unused-import", script, status=1)
    assert "op.Relu(x)" in script.read_text()
    assert "error[unknown-name]" in done.stdout and fixed_codes(done.stdout) == ["unknown-operator"]
    found = json.loads(run("check", *MEND, "--json", script, status=1).stdout)
    assert "unknown-name" in [one["code"] for one in found]


def test_silenced_and_ignored_findings_are_not_mended(tmp_path: pathlib.Path) -> None:
    text = "import math  # sardonyx: ignore[unused-import]\n" + program("return x")
    script = tmp_path / "script.py"
    script.write_text(text)
    run("check", "--fix", "--ignore", "unused-import", script)
    assert "import math" in script.read_text()


def test_unused_imports_go(tmp_path: pathlib.Path) -> None:
    script = tmp_path / "script.py"
    body = '@script()\ndef f(x: FLOAT["N"]):\n    return op.Relu(x)\n'
    script.write_text(
        "import math\nimport os.path  # of no use\nimport numpy as np, json\n"
        "from sardonyx import BOOL, FLOAT, INT64, opset18 as op, script, graph\n\n\n" + body
    )
    run("check", "--fix", script, status=0)
    assert script.read_text() == "from sardonyx import FLOAT, opset18 as op, script\n\n\n" + body


def test_files_that_import_each_other(tmp_path: pathlib.Path) -> None:
    """A repair in one file is seen by the others in the same run."""
    (tmp_path / "inner.py").write_text(
        "from sardonyx import FLOAT, opset18 as op, script\n\n\n@script()\n"
        "def inner(x):\n    return op.Reluu(x)\n"
    )
    (tmp_path / "outer.py").write_text(
        "from inner import inner\nfrom sardonyx import FLOAT, script\n\n\n@script()\n"
        'def outer(x: FLOAT["N"]):\n    return inner(x)\n'
    )
    run("check", *MEND, "--ignore", "unused-import", tmp_path, status=0)
    assert "op.Relu(x)" in (tmp_path / "inner.py").read_text()


def test_a_file_beside_that_is_not_checked_is_not_changed(tmp_path: pathlib.Path) -> None:
    wrong = "from sardonyx import opset18 as op, script\n\n\n@script()\n"
    wrong += "def inner(x):\n    return op.Reluu(x)\n"
    (tmp_path / "inner.py").write_text(wrong)
    (tmp_path / "outer.py").write_text(
        "from inner import inner\nfrom sardonyx import FLOAT, script\n\n\n@script()\n"
        'def outer(x: FLOAT["N"]):\n    return inner(x)\n'
    )
    run("check", *MEND, tmp_path / "outer.py", status=1)
    assert (tmp_path / "inner.py").read_text() == wrong


@pytest.mark.parametrize("end", ["\n", "", "\r\n"])
def test_diff_is_a_patch(end: str, tmp_path: pathlib.Path) -> None:
    lines = ["y = op.Reluu(x)", *[f"y = op.Abs(y) + {i}.0" for i in range(20)]]
    lines += ["z = op.Neg(y)", "return op.Softmaks(z)"]
    text = program("\n".join(lines)).rstrip("\n").replace("\n", end or "\n") + end
    script = tmp_path / "script.py"
    script.write_bytes(text.encode())
    done = subprocess.run(
        [PROGRAM, "check", "--diff", "--unsafe-fixes", "--ignore", "unused-import", script.name],
        cwd=tmp_path,
        capture_output=True,
        timeout=60,
    )
    assert done.returncode == 0 and script.read_bytes() == text.encode()
    assert done.stdout.count(b"@@ -") == 2
    wanted = text.replace("Reluu", "Relu").replace("Softmaks", "Softmax")
    if shutil.which("patch"):
        subprocess.run(["patch", "--binary", "-p0"], cwd=tmp_path, input=done.stdout, check=True)
        assert script.read_bytes() == wanted.encode()


def test_sarif_carries_the_repairs(tmp_path: pathlib.Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(program("return op.Add(k, x)"))
    found = json.loads(
        run("check", "--sarif", "--ignore", "unused-import", script, status=1).stdout
    )
    (result,) = found["runs"][0]["results"]
    (change,) = result["fixes"][0]["artifactChanges"]
    inserted = [one["insertedContent"]["text"] for one in change["replacements"]]
    assert inserted == ["op.Cast(", ", to=FLOAT.dtype)"]
    assert result["fixes"][0]["properties"] == {"applicability": "unsafe"}


def test_json_says_which_edits_are_safe(tmp_path: pathlib.Path) -> None:
    script = tmp_path / "script.py"
    body = "y = op.Reluu(x)\nreturn op.Where(not x > 0.0, x, 0.0)"
    script.write_text("import math\n" + program(body))
    found = json.loads(run("check", "--json", script, status=1).stdout)
    said = {one["code"]: {edit["applicability"] for edit in one["edits"]} for one in found}
    assert said["unknown-operator"] == {"unsafe"}
    assert said["ambiguous-truth-value"] == said["unused-import"] == {"safe"}


# --- Repairs that would break a file -------------------------------------------------------------

KEPT = {
    "a decorator of a class": (
        "from dataclasses import dataclass\n{header}@dataclass\nclass C:\n    a: int = 1\n\n\n"
    ),
    "a decorator of a class after a statement": (
        "import dataclasses as d\n{header}K = 1\n\n\n@d.dataclass(frozen=True)\nclass C:\n"
        "    a: int = 1\n\n\n"
    ),
    "a decorator of a class in a block": (
        "from dataclasses import dataclass\n{header}if True:\n    K = 1\n\n    @dataclass\n"
        "    class C:\n        a: int = 1\n\n\n"
    ),
    "noqa": "import os  # noqa\n{header}",
    "noqa with a code": "import os  # noqa: E501, F401\n{header}",
    "noqa of a list": "from os import (  # noqa: F401\n    path,\n    sep,\n)\n{header}",
    "noqa in a list": "from os import (\n    path,  # noqa: F401\n)\n{header}",
}


@pytest.mark.parametrize("name", KEPT)
def test_imports_that_stay(name: str, tmp_path: pathlib.Path) -> None:
    header = "from sardonyx import FLOAT, opset18 as op, script\n\n\n"
    text = KEPT[name].format(header=header)
    text += "@script()\ndef f(x: FLOAT[2]):\n    return op.Relu(x)\n"
    script = tmp_path / "script.py"
    script.write_text(text)
    done = run("check", *MEND, script, status=0)
    assert script.read_text() == text and done.stdout == ""


# Lists of names of which `sep` stays.
COMMENTS = {
    "(sep,  # of paths\n    path)": "(sep,  # of paths\n    )",
    "(\n    sep,  # of paths\n    path,  # gone\n)": "(\n    sep,  # of paths\n)",
    "(\n    path,  # gone\n    # of paths\n    sep,\n)": "(\n    # of paths\n    sep,\n)",
    "(path,  # gone\n    sep)": "(sep)",
    "(\n    sep,  # of paths\n    path as p)": "(\n    sep,  # of paths\n    )",
    "sep, \\\n    path": "sep",
}


@pytest.mark.parametrize("names", COMMENTS)
def test_comments_of_imports_that_stay(names: str, tmp_path: pathlib.Path) -> None:
    text = "from os import {}\n" + program("return x") + "\n\nprint(sep)\n"
    script = tmp_path / "script.py"
    script.write_text(text.format(names))
    run("check", "--fix", script, status=0)
    assert script.read_text() == text.format(COMMENTS[names])


def test_another_code_is_no_noqa_of_ours(tmp_path: pathlib.Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import os  # noqa: E501\n" + program("return x"))
    found = json.loads(run("check", "--json", script).stdout)
    assert "`os` is not used" in [one["message"] for one in found]


# Names of other libraries, with what must not be made of them and a word of the help.
FOREIGN = {
    "Silu": ("Selu", "Sigmoid"),
    "Sqr": ("Sqrt", "op.Mul(x, x)"),
    "Square": ("Sqrt", "op.Mul(x, x)"),
    "Log2": ("Log", "op.Log(x) / 0.693"),
    "Flip": ("Clip", "x[::-1]"),
    "Permute": ("", "op.Transpose"),
    "View": ("", "op.Reshape"),
    "Cat": ("", "op.Concat"),
    "Rsqrt": ("Sqrt", "op.Reciprocal(op.Sqrt(x))"),
    "layer_norm": ("", "op.LayerNormalization"),
    "LayerNorm": ("", "op.LayerNormalization"),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_names_of_other_libraries(name: str, tmp_path: pathlib.Path) -> None:
    wrong, words = FOREIGN[name]
    text = program(f"return op.{name}(x)")
    script = tmp_path / "script.py"
    script.write_text(text)
    done = run("check", *MEND, "--ignore", "unused-import", script, status=1)
    assert script.read_text() == text
    assert words in done.stdout and not (wrong and f"mean `{wrong}`" in done.stdout)
    with pytest.raises(AttributeError) as caught:
        getattr(sardonyx.opset18, name)
    assert words in str(caught.value)


def test_a_look_alike_is_offered_and_not_made(tmp_path: pathlib.Path) -> None:
    script = tmp_path / "script.py"
    for body in (
        "return op.Resize(x, None, scales2=[1.0])",
        "return y",
        "return op.Softmax(x, axiss=0)",
    ):
        script.write_text(program(body))
        done = run("check", "--fix", "--ignore", "unused-import", script, status=1)
        assert script.read_text() == program(body)
        assert "mean `f`" not in done.stdout


def test_a_repair_that_brings_errors_is_not_made(tmp_path: pathlib.Path) -> None:
    """Of the files that are checked together: what one does not use, another may import."""
    header = "from sardonyx import FLOAT, opset18 as op, script\n\n\n"
    body = "@script()\ndef {}(x: FLOAT[2]):\n    return {}(x)\n"
    names = tmp_path / "names.py"
    names.write_text(
        "import json\nfrom sardonyx import opset18 as other\n"
        + header
        + body.format("f", "op.Relu")
    )
    (tmp_path / "uses.py").write_text(
        "from names import other\nfrom sardonyx import FLOAT, script\n\n\n"
        + body.format("g", "other.Neg")
    )
    done = run("check", "--fix", tmp_path)
    text = names.read_text()
    assert "import opset18 as other" in text and "import json" not in text
    assert "unused-import" in done.stdout and "error[" not in done.stdout
