"""`sardonyx check` on scripts that run in place: what is wrong whatever they are called with."""

from __future__ import annotations

import json
import pathlib
import subprocess

import pytest

from places import PROGRAM

ROOT = pathlib.Path(__file__).resolve().parents[3]
HEAD = """\
from sardonyx import opset18, script

op = opset18
inline = script(inline=True, default_opset=op, caller_opset=True)


"""


def findings(*paths: pathlib.Path) -> list[tuple[str, str, int]]:
    done = subprocess.run(
        [PROGRAM, "check", "--json", *paths], capture_output=True, text=True, check=False
    )
    return [
        (pathlib.Path(one["file"]).name, one["code"], one["range"]["start"]["line"])
        for one in json.loads(done.stdout)
    ]


RIGHT = {
    "numbers": "return x * (n + 1) if n > 2 else x[:n]",
    "types": (
        "if x.dtype == n or n.bitwidth > 16:\n    return op.Cast(x, to=n)\n"
        "return x.is_floating_point()"
    ),
    "lists": (
        "parts = []\nfor one in n:\n    parts.append(op.Relu(one))\n"
        "return op.Concat(*parts, axis=0) if len(parts) > 1 else parts[0]"
    ),
    "lists in a while": (
        "parts = []\nk = 0\nwhile k < n:\n    parts.append(x)\n    k += 1\nreturn parts[2]"
    ),
    "dicts": "names = {}\nfor i, one in enumerate(n):\n    names[one] = i\nreturn x * names['a']",
    "branches": (
        "k = 1\nif n:\n    k = 'a'\nelse:\n    k = [k]\n"
        "if k == 1:\n    return x\nreturn x * len(k) * k[3]"
    ),
    "exceptions": (
        "if not isinstance(n, int):\n    raise TypeError(f'{n} is no number')\n"
        "assert n > 2, 'too few'\nreturn x"
    ),
    "callables": "return n(x, lambda v: v + 1)",
    "arguments": "a, *rest = n\nreturn op.Sum(x, *rest, **a)",
    "operators of the caller": (
        "if op.version >= 20:\n    return op.Gelu(x)\nreturn x.shape[n] * op.Erf(x)"
    ),
    "lists that grow": ("xs, ys = [], []\nfor i in range(2):\n    xs.append(x)\nys.extend(n)\n"
                        "return op.Concat(*xs, axis=0) + op.Concat(*ys, axis=0) + xs[1] + ys[0]"),
    "methods": "return x.sum(n).reshape([n.shape[0], -1]).foo(n=1)",
}  # fmt: skip

WRONG = {
    "a name": ("return x + missing", "unknown-name", 1),
    "an operator": ("return op.Frobnicate(x, n)", "unknown-operator", 1),
    "a key": ("k = {'a': 1}['b']\nreturn x * k", "static-error", 1),
    "in a branch": ("if n:\n    return missing\nreturn x", "unknown-name", 2),
    "in a loop": ("for one in n:\n    x = x + missing\nreturn x", "unknown-name", 2),
    "an exception": ("raise NotImplementedError('later')", "static-error", 1),
    "constants": ("y = op.Constant(value_ints=[1, 2]) + op.Constant(value_floats=[1.0])\nreturn y",
                  "type-mismatch", 1),
}  # fmt: skip


def text_of(body: str) -> str:
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    return f"{HEAD}@inline\ndef f(x, n):\n{lines}"


@pytest.mark.parametrize("name", RIGHT)
def test_what_may_be_right_is_not_reported(name: str, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "library.py"
    path.write_text(text_of(RIGHT[name]))
    assert findings(path) == []


@pytest.mark.parametrize("name", WRONG)
def test_what_is_always_wrong_is_reported(name: str, tmp_path: pathlib.Path) -> None:
    body, code, line = WRONG[name]
    path = tmp_path / "library.py"
    path.write_text(text_of(body))
    assert findings(path) == [("library.py", code, line + HEAD.count("\n") + 2)]


def test_what_annotations_say_is_known(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "library.py"
    head = HEAD.replace("opset18,", "FLOAT, opset18,", 1)
    path.write_text(f"{head}@inline\ndef f(x: FLOAT[3, 4], n):\n    return x @ x + n\n")
    assert [code for _, code, _ in findings(path)] == ["shape-mismatch"]


def test_the_library_of_pytorchs_operators() -> None:
    """Files that are not part of their package; how they are declared is not known there."""
    found = findings(*sorted((ROOT / "lib/torch").glob("*.py")))
    assert [one for one in found if one[0] != "declare.py"] == []
