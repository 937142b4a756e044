"""Mistakes that people make, and the words that they get, from the command line and from Python.

tests/data/mistakes.txt has the words. `python tests/python/diagnostics/test_mistakes.py` writes
them anew: look at what changed.
"""

from __future__ import annotations

import json
import os
import pathlib
import re
import subprocess
import sys
from typing import Any

import pytest

from places import BUILD, PROGRAM, ROOT

GOLDEN = ROOT / "tests/data/mistakes.txt"

HEAD = "from sardonyx import FLOAT, INT64, graph, opset18 as op, script\n"
SCRIPT = "@script(default_opset=op)\ndef f(x: FLOAT['N', 3], i: INT64):\n"

# The lines of the body of f; a line of dashes ends what stands before f.
MISTAKES = {
    # Operators
    "a misspelt operator": "return op.Reul(x)",
    "an operator in small letters": "return op.relu(x)",
    "an operator of a newer opset": "return op.Gelu(x)",
    "an operator of PyTorch": "return op.Linear(x, x)",
    "an operator that is not called": "return op.Relu",
    "another library": "import torch\n---\nreturn torch.relu(x)",
    "another library, not imported": "return torch.relu(x)",
    "F, not imported": "return F.log_softmax(x)",
    "NumPy": "import numpy as np\n---\nreturn np.where(x > 0.0, x, 0.0)",
    "another name in NumPy": "import numpy as np\n---\nreturn np.maximum(x, 0.0)",
    "a method of torch under another name": "return x.permute(1, 0)",
    "a reduction of NumPy": "import numpy as np\n---\nreturn np.mean(x)",
    "an array of a tensor": "import numpy as np\n---\nreturn np.asarray(x)",
    "an array of tensors": "import numpy as np\n---\nreturn np.array([x[0], x[1]])",
    "a class that the compiler does not know": (
        "import collections\n---\nq = collections.deque([x])\nreturn q.pop()"
    ),
    "a float and a shift": "return i << float(i)",
    "a size divided by zero": "return x * (len(x) // 0)",
    "a walrus in what a comprehension goes over": "return sum([q for q in (r := [x, x])])",
    "too many inputs": "return op.Relu(x, x)",
    "too few inputs": "return op.Add(x)",
    "a list of inputs": "return op.Concat([x, x], axis=0)",
    "too many results": "a, b, c = op.TopK(x, [1])\nreturn a",
    # Attributes
    "dim for axis": "return op.Softmax(x, dim=0)",
    "a misspelt attribute": "return op.LeakyRelu(x, alhpa=0.1)",
    "a required attribute left out": "return op.Concat(x, x)",
    "an attribute by position": "return op.Softmax(x, 1)",
    "an attribute of another type": "return op.Softmax(x, axis=1.5)",
    "a word that is not legal": "return op.DepthToSpace(x, blocksize=2, mode='RCD')",
    "a type of vectors for an element type": "return op.Cast(x, to=INT64['N'])",
    "an element type for a number": "return op.Softmax(x, axis=INT64)",
    "a string for a type": "return op.Cast(x, to='int64')",
    "another name for a required attribute": "return op.Cast(x, dtype=INT64.dtype)",
    "a tensor as an attribute": "return op.Softmax(x, axis=i)",
    # Types and shapes
    "an integer and a float": "return x + i",
    "a fraction for an integer": "return i + 1.5",
    "sizes that do not agree": "return x + op.Constant(value_floats=[1.0, 2.0])",
    "a product of sizes that do not agree":
        "return op.MatMul(x, op.Constant(value_floats=[1.0, 2.0]))",
    "more indices than axes": "return x[0, 0, 0]",
    "a fraction as an index": "return x[0.5]",
    "an axis that is not there": "return op.Softmax(x, axis=5)",
    "a permutation of too many axes": "return op.Transpose(x, perm=[0, 2, 1])",
    "a shape with a fraction": "return op.Reshape(x, [1.5, 2.0])",
    "a shape as several arguments": "return op.Reshape(x, 3, -1)",
    "an annotation that does not hold":
        "@script()\ndef g(x: FLOAT['N']) -> INT64['N']:\n    return op.Relu(x)\n---\nreturn x",
    "an annotation with a mistake":
        "@script()\ndef g(x: 'FLOAT[N'):\n    return op.Relu(x)\n---\nreturn x",
    # Members and built-in functions
    "a method of torch": "return x.relu()",
    "a method with arguments": "return x.unsqueeze(0)",
    "a member that no tensor has": "return x.device",
    "a tensor as a number": "return op.Relu(float(x))",
    "the items of a tensor": "return x.tolist()",
    "a tensor as text": "name = f'{x}'\nreturn x",
    # Conditions and loops
    "& and comparisons": "return op.Where(x > 0 & x < 1, x, 0.0)",
    "| and comparisons": "return op.Where(x == 0.5 | x > 1.0, x, 0.0)",
    "and of tensors": "return op.Where(x > 0 and x < 1, x, 0.0)",
    "a chain of comparisons": "return op.Where(0 < x < 1, x, 0.0)",
    "a vector as a condition": "if x > 0:\n    y = x\nelse:\n    y = -x\nreturn y",
    "a name of one branch": "if i > 0:\n    y = op.Relu(x)\nreturn y",
    "types of two branches": "if i > 0:\n    y = x\nelse:\n    y = i\nreturn y",
    "break without a loop": "break\nreturn x",
    # Names and statements
    "a name that is not defined": "return op.Relu(y)",
    "a name that is misspelt": "scale = 2.0\nreturn x * scael",
    "a tensor with the name of the opset": "op = x * 2.0\nreturn op.Relu(x)",
    "a tensor with the name of a function": "sum = x + 1.0\nreturn sum(x)",
    "true for True": "return op.TopK(x, [1], sorted=true)[0]",
    "a dict for a tensor": "return op.Identity({'a': 1})",
    "no return": "y = op.Relu(x)",
    "global": "k = 1\n---\nglobal k\nk = 2\nreturn x * k",
    "raise for a tensor": "if op.ReduceSum(x) > 0.0:\n    raise ValueError('x')\nreturn op.Relu(x)",
    "an assertion about elements": "assert op.ReduceSum(x) > 0.0\nreturn x",
    "with torch": "with torch.no_grad():\n    y = op.Relu(x)\nreturn y",
    "None before a loop": (
        "best = None\nfor k in range(i):\n    if best is None or x[k, 0] > best:\n"
        "        best = x[k, 0]\nreturn best"
    ),
    "a property without a setter": (
        "class A:\n    @property\n    def size(self):\n        return 2\n---\n"
        "a = A()\na.size = 3\nreturn x * a.size"
    ),
    "the text of an error of Python": (
        "try:\n    k = int('a')\nexcept ValueError as e:\n    k = len(str(e))\nreturn x * k"
    ),
    "a class": "class A:\n    pass\nreturn x",
    "an import": "import json\nreturn x * len(json.dumps([1]))",
    "yield": "yield x",
    "a call of itself": "return f(x, i)",
    # Text that is no Python
    "tabs and spaces": "y = op.Relu(x)\n\treturn y",
    "a bracket that is not closed": "y = op.Relu(x\nreturn y",
    "a colon left out": "if i > 0\n    x = -x\nreturn x",
    "= for ==": "if i = 0:\n    x = -x\nreturn x",
    "&& for &": "return op.Where(x > 0 && x < 1, x, 0.0)",
    "a quotation mark left out": "return op.Softmax(x, axis='a)",
}  # fmt: skip


def source(mistake: str) -> str:
    before, _, body = mistake.rpartition("---\n")
    lines = (line if line.startswith("\t") else f"    {line}" for line in body.split("\n"))
    return HEAD + before + SCRIPT + "".join(line + "\n" for line in lines)


def words(finding: dict[str, Any], text: str) -> str:
    """An error: its code, the text that is marked, message and help."""
    if finding["severity"] != "error":
        return ""
    begin, end = (finding["range"][which]["offset"] for which in ("start", "end"))
    marked = text.encode()[begin:end].decode()
    found = f"error[{finding['code']}] at {marked!r}: {finding['message']}\n"
    return found + (f"  help: {finding['help']}\n" if finding["help"] else "")


def from_command_line(folder: pathlib.Path, texts: dict[str, str]) -> dict[str, str]:
    names = {str(folder / f"m{i}.py"): name for i, name in enumerate(texts)}
    done = subprocess.run(
        [PROGRAM, "check", "--isolated", "--json", "--ignore", "unused-import", *names],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    found = dict.fromkeys(texts, "")
    for one in json.loads(done.stdout):
        name = names[one["file"]]
        found[name] += words(one, texts[name])
    return found


# What Python says: of the definitions, else of the scripts.
PROBE = """\
import json, runpy, sys
import sardonyx
sys.modules["torch"] = None
found = {}
for path in json.load(sys.stdin):
    try:
        names = runpy.run_path(path)
    except sardonyx.CompileError as error:
        found[path] = error.diagnostics
    except (SyntaxError, ImportError) as error:
        found[path] = type(error).__name__  # the words are those of a version of Python
    except TypeError as error:
        found[path] = f"TypeError: {error}"
    else:
        scripts = [one for one in names.values() if isinstance(one, sardonyx.OnnxFunction)]
        found[path] = [finding for one in scripts for finding in one.check()]
print(json.dumps(found))
"""


def from_python(folder: pathlib.Path, texts: dict[str, str]) -> dict[str, str]:
    names = {str(folder / f"m{i}.py"): name for i, name in enumerate(texts)}
    done = subprocess.run(
        [sys.executable, "-c", PROBE], input=json.dumps([*names]), capture_output=True, text=True,
        timeout=60, check=False, env={**os.environ, "PYTHONPATH": str(BUILD / "python")},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = {}
    for path, said in json.loads(done.stdout).items():
        name = names[path]
        found[name] = (
            said + "\n"
            if isinstance(said, str)
            else "".join(words(one, texts[name]) for one in said)
        )
    return found


def table(folder: pathlib.Path) -> dict[str, str]:
    """The words of each mistake, with its text."""
    texts = {name: source(mistake) for name, mistake in MISTAKES.items()}
    for i, text in enumerate(texts.values()):
        (folder / f"m{i}.py").write_text(text)
    program, python = from_command_line(folder, texts), from_python(folder, texts)
    entries = {}
    for name, mistake in MISTAKES.items():
        shown = "".join(f"    {line}\n" for line in mistake.split("\n"))
        other = "Python: the same\n" if python[name] == program[name] else f"Python: {python[name]}"
        entries[name] = f"== {name}\n{shown}{program[name]}{other}"
    return entries


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return table(tmp_path_factory.mktemp("mistakes"))


def golden() -> dict[str, str]:
    entries = re.split(r"(?m)^== ", GOLDEN.read_text())[1:]
    return {entry.partition("\n")[0]: f"== {entry}".rstrip("\n") + "\n" for entry in entries}


def test_the_table_has_all_mistakes() -> None:
    assert [*golden()] == [*MISTAKES] and len(MISTAKES) >= 60


@pytest.mark.parametrize("name", MISTAKES)
def test_mistake(found: dict[str, str], name: str) -> None:
    assert found[name] == golden()[name]
    assert "error[" in found[name], "a mistake is an error"


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as made:
        GOLDEN.write_text("\n".join(table(pathlib.Path(made)).values()))
