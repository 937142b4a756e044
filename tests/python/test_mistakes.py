"""Mistakes that people make, and the words that they get: one finding for each, with a way out."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
from typing import Any

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get(
    "SDX_BUILD",
    "build/release" if (ROOT / "build/release/sardonyx").exists() else "build/dev",
)
PROGRAM = BUILD / "sardonyx"

HEAD = "from sardonyx import FLOAT, INT64, opset18 as op, script\n"
SCRIPT = "@script()\ndef f(x: FLOAT['N', 3], i: INT64):\n"

MEMBERS = (
    "a tensor has `astype`, `shape`, `rank`, `ndim`, `size`, `dtype`, `type`, `T`, `mT`; "
    "all else are operators"
)

# Lines before the script, lines of its body, the code, the message and the help.
MISTAKES = {
    "dim for axis": (
        "", "return op.Softmax(x, dim=0)",
        "unknown-attribute", "`Softmax` has no attribute `dim`", "it has `axis`",
    ),
    "a type for its number": (
        "", "return op.Cast(x, to=INT64)",
        "attribute-type", "`to` takes an int, not a type",
        "give an element type: `to=INT64.dtype`",
    ),
    "a string for a type": (
        "", "return op.Cast(x, to='int64')",
        "attribute-type", "`to` takes an int, not a string",
        "give an element type: `to=INT64.dtype`",
    ),
    "another name for a required attribute": (
        "", "return op.Cast(x, dtype=INT64.dtype)",
        "unknown-attribute", "`Cast` has no attribute `dtype`", "it has `to`",
    ),
    "global": (
        "k = 1\n", "global k\nk = 2\nreturn x * k",
        "unsupported-statement", "an assignment to `k` of the code around in a script",
        "pass the value as a parameter and return the new one",
    ),
    "tabs and spaces": (
        "", "y = op.Relu(x)\n\treturn y",
        "inconsistent-indentation", "the indentation matches no block around it",
        "indent this line as the other lines of its block, with spaces only",
    ),
    "raise for a tensor": (
        "", "if op.ReduceSum(x) > 0.0:\n    raise ValueError('x')\nreturn op.Relu(x)",
        "unsupported-statement", "`raise` in a script",
        "a graph cannot raise: use `assert` on static facts",
    ),
    "& and comparisons": (
        "", "return op.Where(x > 0 & x < 1, x, 0.0)",
        "unsupported-operand", "`&` binds more tightly than comparisons: this is `0 & x`, compared",
        "write `(x > 0) & (x < 1)`",
    ),
    "| and comparisons": (
        "", "return op.Where(x == 0.5 | x > 1.0, x, 0.0)",
        "unsupported-operand",
        "`|` binds more tightly than comparisons: this is `0.5 | x`, compared",
        "write `(x == 0.5) | (x > 1.0)`",
    ),
    "an operator that is not called": (
        "", "return op.Relu",
        "unsupported-operand", "an operator where a tensor is needed", "call it: `op.Relu(...)`",
    ),
    "F without an import": (
        "", "return F.log_softmax(x)",
        "unknown-name", "`F` is not defined", "scripts call operators: `op.LogSoftmax(...)`",
    ),
    "torch without an import": (
        "", "return torch.relu(x)",
        "unknown-name", "`torch` is not defined", "scripts call operators: `op.Relu(...)`",
    ),
    "torch": (
        "import torch\n", "return torch.relu(x)",
        "unknown-module", "there is no module `torch` here",
        "the compiler knows files beside this one, and math, numpy, typing, onnx and sardonyx",
    ),
    "NumPy": (
        "import numpy as np\n", "return np.where(x > 0.0, x, 0.0)",
        "unknown-member", "module `numpy` has no member `where`",
        "scripts call operators: `op.Where(...)`",
    ),
    "a method of torch": (
        "", "return x.relu()",
        "unknown-member", "a tensor has no member `relu`", "call the operator: `op.Relu(...)`",
    ),
    "a method with arguments": (
        "", "return x.unsqueeze(0)",
        "unknown-member", "a tensor has no method `unsqueeze`", "write `op.Unsqueeze(x, axes)`",
    ),
    "a member that no tensor has": (
        "", "return x.device",
        "unknown-member", "a tensor has no member `device`",
        MEMBERS,
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def findings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """The errors of all of them, from one run."""
    folder = tmp_path_factory.mktemp("mistakes")
    names = {}
    for i, (name, (before, body, *_)) in enumerate(MISTAKES.items()):
        text = HEAD + before + SCRIPT
        for line in body.split("\n"):
            text += line + "\n" if line.startswith("\t") else f"    {line}\n"
        path = folder / f"m{i}.py"
        path.write_text(text)
        names[str(path)] = name
    done = subprocess.run(
        [PROGRAM, "check", "--isolated", "--json", *names], capture_output=True, text=True,
        timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    found: dict[str, list[Any]] = {name: [] for name in MISTAKES}
    for one in json.loads(done.stdout):
        if one["severity"] == "error":
            found[names[one["file"]]].append((one["code"], one["message"], one["help"]))
    return found


@pytest.mark.parametrize("name", MISTAKES)
def test_mistake(findings: dict[str, list[Any]], name: str) -> None:
    assert findings[name] == [MISTAKES[name][2:]]
