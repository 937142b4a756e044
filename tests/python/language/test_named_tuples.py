"""Named tuples on every surface: classes of typing.NamedTuple and collections.namedtuple as
configuration, as results of helper functions, and in loops and branches of the graph."""

from __future__ import annotations

import pathlib
import runpy
from typing import Any

import numpy as np
import pytest
import sardonyx

from language import HEADER, shared_compiler
from surfaces import check, first_finding, text_of

X = np.array([1.0, -2.0, 3.0], np.float32)
TRUE = np.bool_(True)

CONFIG = """\
from collections import namedtuple
from typing import NamedTuple, Optional


class Config(NamedTuple):
    heads: int
    scale: float = 2.0
    dims: tuple = (1, 2)

    def total(self):
        return self.heads * self.scale + sum(self.dims)

    @property
    def half(self):
        return self.scale / 2

    @classmethod
    def small(cls):
        return cls(1)


class State(NamedTuple):
    h: object
    c: object = None

    def norm(self):
        return self.h * self.h + self.c


class Pair(namedtuple("Pair", "x y")):
    __slots__ = ()
    k = 3

    def sum(self):
        return (self.x + self.y) * self.k


Out = namedtuple("Out", ["y", "z", "n"], defaults=[4])
CFG = Config(3, scale=0.5)
LAYERS = [State(np.float32(2), np.ones(3, np.float32)), State(c=np.zeros(3, np.float32), h=1)]


def step(s, x):
    return State(h=s.h + x, c=s.c * 0.5)


def helper(x, k=2):
    return Out(x * k, z=x - 1.0)


---
"""

# By name: the body, what it gives, and further inputs.
PROGRAMS: dict[str, tuple[str, Any, dict[str, Any]]] = {
    "configuration": (
        (
            "h, s, (a, b) = CFG\nwider = CFG._replace(heads=5)\n"
            "k = CFG.total() + wider.half + wider[0] + Config.small().heads + len(CFG) + a + b\n"
            "return x * CFG.heads + s, x + k, CFG._asdict()['heads'] * x"
        ),
        (X * 3 + np.float32(0.5), X + np.float32(16.75), X * 3),
        {},
    ),
    "equality, order and kind": (
        (
            "t = (CFG == Config(3, 0.5)) + 2 * (Out(1, 2) == (1, 2, 4))\n"
            "t += 4 * (Out(1, 2) < (1, 3))\n"
            "t += 8 * isinstance(CFG, Config) + 16 * isinstance(CFG, tuple)\n"
            "t += 32 * (not isinstance(CFG, Out)) + 64 * (not hasattr(CFG, 'other'))\n"
            "return x + t, x + {Out(1, 2): 3}[(1, 2, 4)], x + len(f'{CFG} {Out(1, 2)!r}')"
        ),
        (
            X + 127,
            X + 3,
            X + len("Config(heads=3, scale=0.5, dims=(1, 2)) Out(y=1, z=2, n=4)"),
        ),
        {},
    ),
    "result of a function": (
        (
            "r = helper(x)\ny, z, n = r\nd = r._asdict()\ns = Out(*r)._replace(y=Out(**d).z)\n"
            "return r.y + z, s.y * n, Out._make([x, x, 1])[0], s[1:][1] * x"
        ),
        (X * 2 + X - 1, (X - 1) * 4, X, X * 4),
        {},
    ),
    "branch": (
        "r = helper(x)\nif c:\n    r = Out(r.z, r.y)\nreturn r.y, r._replace(z=r.n * x).z",
        (X - 1, X * 4),
        {"c": TRUE},
    ),
    "carried by a loop": (
        "s = State(x, x * 4.0)\nfor i in range(n):\n    s = step(s, x)\nreturn s.h, s.c, s.norm()",
        (X * 3, X, X * X * 9 + X),
        {"n": np.int64(2)},
    ),
    "arrays": (
        (
            "for layer in LAYERS:\n    x = x * layer.h + layer.c\nfor h, c in LAYERS:\n"
            "    x = x + c\nreturn x"
        ),
        X * 2 + 2,
        {},
    ),
    "class derived from one": (
        "return x + Pair(1, y=2).sum(), x * Pair(x, 1.0)._replace(y=x).sum()",
        (X + 9, X * (X + X) * 3),
        {},
    ),
    "pattern": (
        (
            "match CFG:\n    case Config(4):\n        y = x\n    case Config(heads=k, scale=s):\n"
            "        y = x * k + s\nreturn y"
        ),
        X * 3 + np.float32(0.5),
        {},
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_named_tuples(name: str, tmp_path: pathlib.Path) -> None:
    body, expected, more = PROGRAMS[name]
    check(CONFIG + body, expected, tmp_path, x=X, **more)


# Words of the message where it is compiled.
WRONG: dict[str, tuple[str, str]] = {
    "a field is missing": ("return Config(scale=x).scale", "`Config` needs `heads`"),
    "too many": ("return Out(x, x, 1, 2).y", "`Out` has 3 fields, and 4 values are given"),
    "a field that there is not": ("return Out(x, w=x).y", "`Out` has no field `w`"),
    "a field that is misspelt": ("return Config(heds=1).heads * x", "did you mean `heads`?"),
    "replaced by a misspelt one": ("return CFG._replace(scal=x).scale", "did you mean `scale`?"),
    "given twice": ("return Out(x, y=x).y", "`Out` is given `y` twice"),
    "a member that there is not": ("return Out(x, x).zz", "has no member `zz`"),
    "replaced": ("return Out(x, x)._replace(w=x).y", "`Out` has no field `w`"),
    "assigned": ("r = Out(x, x)\nr.y = x\nreturn r.y", ""),
    "unpacked": ("a, b = Out(x, x)\nreturn a", "3 values are unpacked into 2 targets"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_uses(name: str, tmp_path: pathlib.Path) -> None:
    body, words = WRONG[name]
    before = CONFIG.removesuffix("---\n")
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    text = HEADER.replace("onnxscript", "sardonyx") + before
    text += f"@script(default_opset=op)\ndef f(x: FLOAT[3]):\n{lines}"
    path = tmp_path / "program.py"
    path.write_text(text)
    function = runpy.run_path(str(path))["f"]
    with pytest.raises((TypeError, ValueError, AttributeError)):
        function(X)
    with pytest.raises(sardonyx.CompileError) as caught:
        function.to_model_bytes()
    assert words in str(caught.value)
    answer, _ = shared_compiler().compile(text, "f")
    assert answer[0] == "error" and first_finding(answer)


@pytest.mark.parametrize(
    ("made", "read"), [("Out(x * 2, x)", ".y"), ("State(x * 2)", ".h"), ("(x * 2, x)", "[0]")]
)
def test_assignments_to_items_of_a_field(made: str, read: str, tmp_path: pathlib.Path) -> None:
    """Python changes the tensor for the tuple too, which the model would not."""
    body = f"t = {made}\ny = t{read}\ny[0] = 5.0\nreturn t{read} + y"
    text = text_of(CONFIG + body, False, {"x": X})
    answer, _ = shared_compiler().compile(text, "f")
    assert answer[0] == "error" and answer[1].startswith("aliased-item-assignment"), answer
    path = tmp_path / "program.py"
    path.write_text(text)
    with pytest.raises(sardonyx.CompileError, match="may be the same tensor"):
        runpy.run_path(str(path))["f"].to_model_bytes()
