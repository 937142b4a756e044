"""Known values from the command line: what CPython and NumPy make of them, or a refusal."""

from __future__ import annotations

import pathlib
import runpy
from typing import Any

import numpy as np
import pytest
import sardonyx

from language import shared_compiler
from language.test_random_expressions import text_of
from surfaces import check, refused
from surfaces import text_of as text_of_program

pytestmark = pytest.mark.filterwarnings("ignore")

HEADER = """\
from sardonyx import FLOAT, opset21 as op, script
import dataclasses
import functools
import math
import operator
import numpy as np
from dataclasses import dataclass
"""
SCRIPT = "V = ({})\n@script()\ndef m(x: FLOAT[1]):\n    return op.Constant(value_string=repr(V))\n"

A = "A = np.arange(6).reshape(2, 3)\n"
F = "A = np.array([2.5, -0.0, 0.0, -1.5], np.float32)\n"
EQUAL = [
    (
        (
            "from dataclasses import field\n@dataclass\nclass C:\n"
            "    a: int = field(kw_only=True)\n    b: int\n"
            "match C(5, a=4):\n    case C(k):\n        K = k\n"
        ),
        "K",
    ),
    (
        (
            "from dataclasses import dataclass, field, KW_ONLY, InitVar\n"
            "@dataclass(kw_only=True)\nclass C:\n    a: int = 2\n    b: int\nc = C(b=3)\n"
        ),
        "c.a*10+c.b",
    ),
    (
        (
            "import dataclasses\n@dataclasses.dataclass\nclass C:\n    a: int\n"
            "    _: dataclasses.KW_ONLY\n    b: int = 5\n@dataclasses.dataclass\nclass D(C):\n"
            "    d: int = 7\n"
        ),
        "(C(1, b=2), D(3, 4, b=9), [[f.name for f in dataclasses.fields(t)] for t in (D, C(1))])",
    ),
    (
        (
            "from dataclasses import dataclass, field\n@dataclass\nclass C:\n    a: int\n"
            "    b: int = field(kw_only=True, default=4)\n    c: int = 6\n"
        ),
        "(C(1, 2), C(1, 2, b=3))",
    ),
    (
        (
            "from dataclasses import dataclass\n@dataclass(order=True)\nclass C:\n    a: int\n"
            "    b: float = 0.5\nL = sorted([C(2), C(1, 3.0), C(1)])\n"
        ),
        "(L, C(1) < C(2), C(1) >= C(1, 0.6), max(L), C(1, 2) > C(1, 1))",
    ),
    (
        (
            "from dataclasses import dataclass, InitVar, field, replace, asdict\n@dataclass\n"
            "class C:\n    a: int\n    scale: InitVar[int]\n    off: InitVar[int] = 1\n"
            "    b: int = field(init=False)\n"
            "    t: list = field(init=False, default_factory=list)\n"
            "    def __post_init__(self, scale, off):\n        self.b = self.a * scale + off\n"
            "        self.t.append(self.b)\nc = C(2, 3)\nd = C(2, off=5, scale=7)\n"
            "e = replace(c, a=4, scale=10)\n"
        ),
        "(c, d, e, asdict(d), c == C(2, 3))",
    ),
    (
        (
            "from dataclasses import dataclass, field\n@dataclass\nclass C:\n    a: int\n"
            "    b: int = field(default=9, init=False)\n"
        ),
        "(C(1), C(1).b)",
    ),
    (
        (
            "from dataclasses import field\n@dataclass(frozen=True)\nclass C:\n    a: int\n"
            "    b: int = field(init=False, default=3)\n"
        ),
        "{C(1): 2}[C(1)]",
    ),
    (
        (
            "from dataclasses import dataclass, field\n@dataclass\nclass C:\n"
            "    a: int = field(default=1, metadata={'help': 'x'})\n"
        ),
        "C()",
    ),
    (
        (
            "from types import SimpleNamespace\nimport types\nc = SimpleNamespace(a=2, b=[1])\n"
            "d = types.SimpleNamespace(b=[1], a=2)\nc.n = 5\nd.n = 4\nsame = c == d\nd.n += 1\n"
            "setattr(d, 'm', 3)\ndel_ = getattr(c, 'q', 8)\nc.b.append(4)\n"
        ),
        "(c.a + c.n, same, c == d, d != c, c.b, hasattr(c, 'q'), del_, d.m)",
    ),
    (
        ("from types import SimpleNamespace as N\nL = [N(n=i, c=N(w=i * 2)) for i in range(3)]\n"),
        "[x.c.w for x in L] + [N(a=1) in [N(a=1)], L[0] == N(n=0, c=N(w=0))]",
    ),
    (
        (
            "from collections import OrderedDict\nd = OrderedDict(a=1, b=2, c=3)\n"
            "d.move_to_end('a')\nd.move_to_end('c', last=False)\nx = d.popitem(last=False)\n"
            "y = d.popitem()\nd.move_to_end('b', False)\n"
        ),
        "(x, y, list(d.items()))",
    ),
    (
        "import numpy as np\nI = np.finfo(np.float32)\nL = [I]\n",
        "(I == 3, I in [3], float(I.max), len(L))",
    ),
    (A, "float(np.sum(np.full(9, 0.1)))"),
    ("", "operator.mul(3, 4) + operator.sub(2, 5)"),
    ("", "operator.lt(1, 2)"),
    ("", "functools.reduce(operator.mul, [1, 2, 3])"),
    (
        "def d(f):\n  @functools.wraps(f)\n  def g(v): return f(v) * 2\n  return g\nh = d(abs)\n",
        "h(3)",
    ),
    ("", "[math.hypot(0.1, 0.7), math.hypot(1e200, 1e200, 3), math.hypot(), math.hypot(5e-324)]"),
    ("", "math.dist([1, 2.5, 0.1], (3, 0.25, 0.7))"),
    ("", "[math.fsum([0.1] * 10), math.fsum([1e16, 1.0, 1e-16, -1e16, 0.3]), math.fsum([])]"),
    ("", "[math.cbrt(27.5), math.exp2(2.5), math.ulp(1.0), math.nextafter(1, 2)]"),
    ("", "[math.isclose(1, 1 + 1e-10), math.isclose(1, 1.1), math.isclose(0, 1, abs_tol=2)]"),
    ("", "(math.frexp(10.5), math.modf(-2.25), math.ldexp(0.5, 4), math.remainder(7, 4))"),
    ("@dataclass\nclass D:\n    a: int\n    b: int = 2\n", "dataclasses.replace(D(1), b=5)"),
    (
        "@dataclass\nclass B:\n  a: int\n@dataclass\nclass D(B):\n  b: int = 2\n  a: int = 7\n",
        "(D(), D(1) == D(1), D(1) == B(1), isinstance(D(), B))",
    ),
    ("d = {'a': 1}\ne = d\nd |= {'b': 2}\n", "(d, e, d | {'a': 3})"),
    (A, "np.concatenate([A, A]).tolist()"),
    (A, "np.concatenate([A, np.ones((2, 1))], axis=-1).tolist()"),
    (A, "np.stack([A, A], axis=1).tolist()"),
    (A, "np.vstack([A[0], A[1]]).tolist() + np.hstack([A, A]).tolist()"),
    (A, "np.where(A > 2, A, -1).tolist()"),
    (A, "np.where(A > 2, 1.0, 2.0).tolist()"),
    (F, "np.where(A > 1, A, 0.1).tolist()"),
    (A, "np.transpose(A).tolist() + np.transpose(A, (1, 0)).tolist()"),
    (A, "np.flip(A).tolist() + np.flip(A, axis=1).tolist()"),
    (A, "np.tile(A, 2).tolist() + np.tile(A[0], (2, 2)).tolist()"),
    (A, "np.repeat(A, 2).tolist() + np.repeat(A, 2, axis=1).tolist()"),
    (A, "np.expand_dims(A, 0).shape + np.squeeze(np.ones((1, 3, 1))).shape"),
    (A, "np.reshape(A, (3, -1)).tolist() + np.ravel(A).tolist()"),
    (A, "np.broadcast_to(A[0], (2, 3)).tolist()"),
    (A, "np.pad(A, 1).tolist() + np.pad(A, ((0, 1), (2, 0))).tolist()"),
    (A, "np.triu(A).tolist() + np.tril(A, -1).tolist()"),
    (A, "np.diag(A).tolist() + np.diag(A[0]).tolist()"),
    (A, "np.eye(2, 3).tolist() + np.identity(2).tolist()"),
    (A, "np.outer(A[0], A[1]).tolist()"),
    (F, "np.cumsum(A).tolist()"),
    ("", "np.cumsum(np.array([100, 100], np.int8)).tolist()"),
    ("", "np.sort(np.array([3, 1, 2, 1])).tolist()"),
    ("", "np.argsort(np.array([3.5, -1.0, 2.0])).tolist()"),
    (A, "[int(np.sum(A)), int(np.max(A)), int(np.min(A))]"),
    (A, "np.clip(A, 1, 3).tolist()"),
    (F, "np.maximum(A, 0.0).tolist() + np.minimum(A, 0.0).tolist()"),
    (A, "np.maximum(A, 2).tolist()"),
]


def built(before: str, expression: str, folder: pathlib.Path) -> str | None:
    path = folder / "known.py"
    path.write_text(HEADER + before + SCRIPT.format(expression))
    answer, data = shared_compiler().compile_file(path, "m", "model")
    assert answer[0] in ("ok", "error"), answer
    return text_of(data) if answer[0] == "ok" else None


def in_python(before: str, expression: str) -> str:
    names: dict[str, Any] = {}
    text = HEADER.partition("\n")[2] + before
    exec(compile(text, "known.py", "exec", dont_inherit=True), names)
    return repr(eval(expression, names))


@pytest.mark.parametrize(("before", "expression"), EQUAL, ids=[row[1] for row in EQUAL])
def test_known_values(before: str, expression: str, tmp_path: pathlib.Path) -> None:
    assert built(before, expression, tmp_path) == in_python(before, expression)


NOT_CERTAIN = [
    (
        (
            "@dataclass(kw_only=True)\nclass C:\n    a: int\nK = 2\nmatch C(a=4):\n"
            "    case C(k):\n        K = k\n"
        ),
        "K",
    ),
    (
        "from dataclasses import dataclass\n@dataclass(kw_only=True)\nclass C:\n    a: int\n",
        "C(1)",
    ),
    (
        (
            "from dataclasses import dataclass, field\n@dataclass\nclass C:\n    a: int\n"
            "    b: int = field(init=False, default=2)\n"
        ),
        "C(1, b=3)",
    ),
    (
        (
            "from dataclasses import dataclass, field\n@dataclass\nclass C:\n    a: int\n"
            "    b: int = field(init=False)\nc = C(1)\n"
        ),
        "c.b",
    ),
    (
        "from dataclasses import dataclass\n@dataclass\nclass C:\n    a: int\n",
        "C(1) < C(2)",
    ),
    (
        (
            "from dataclasses import dataclass\n@dataclass(order=True)\nclass C:\n    a: int\n"
            "@dataclass(order=True)\nclass D:\n    a: int\n"
        ),
        "C(1) < D(2)",
    ),
    (
        "from types import SimpleNamespace\n",
        "SimpleNamespace(a=1)",
    ),
    (
        "from types import SimpleNamespace\n",
        "{SimpleNamespace(a=1): 1}",
    ),
    (
        "from types import SimpleNamespace\n",
        "SimpleNamespace(a=1).b",
    ),
    (
        "d = {'a': 1}\nd.popitem(last=False)\n",
        "d",
    ),
    (
        "d = {'a': 1}\nd.move_to_end('a')\n",
        "d",
    ),
    (
        "from dataclasses import dataclass\n@dataclass\nclass C:\n    a: int\n",
        "C(1, a=2)",
    ),
    (A, "np.argsort(np.array([1, 1])).tolist()"),
    (A, "np.sort(np.array([0.0, -0.0])).tolist()"),
    (A, "np.maximum(np.array([np.nan]), 1.0).tolist()"),
    (A, "float(np.sum((np.full((3, 3), 0.1) * A.T[:, :1]).T * A[:1]))"),
    (A, "np.concatenate([A, A[0]]).tolist()"),
    ("", "sum([0.1] * 10)"),
    ("", "'a b'.split(sep=' ')"),
    ("", "np.prod(()) * 1.5"),
]


@pytest.mark.parametrize(("before", "expression"), NOT_CERTAIN, ids=[r[1] for r in NOT_CERTAIN])
def test_what_is_not_certain(before: str, expression: str, tmp_path: pathlib.Path) -> None:
    assert built(before, expression, tmp_path) is None


def test_a_view_follows_its_array_or_is_refused(tmp_path: pathlib.Path) -> None:
    for view in ("np.transpose(A)", "np.ravel(A)", "np.flip(A)", "np.reshape(A, (3, 2))"):
        before = f"{A}B = {view}\nA[0, 0] = 50\n"
        got = built(before, "B.tolist()", tmp_path)
        assert got in (None, in_python(before, "B.tolist()"))


@pytest.mark.parametrize(
    "import_", ["import no_such", "import random", "from no_such import thing as random"]
)
def test_what_a_function_reads_is_reported(import_: str, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "lost.py"
    path.write_text(
        f"{HEADER}{import_}\ndef g():\n    return {import_.split()[-1]}.value()\n"
        "@script()\ndef m(x: FLOAT[1]):\n    return x * g()\n"
    )
    answer, _ = shared_compiler().compile_file(path, "m", "model")
    assert answer[0] == "error" and len(answer) > 1, answer


D = np.array([-0.0, 0.0, 2.5])
I = np.array([7, -3, 2])  # noqa: E741


def test_numbers_of_tensors(tmp_path: pathlib.Path) -> None:
    check("return x * sum([float(x[0]), float(x[0])])", D * 0.0, tmp_path, x=D)
    check("return x + math.isnan(float(x[2])) + math.isinf(float(x[2]))", D + 0, tmp_path, x=D)
    check("return x + math.isfinite(float(x[2]))", D + 1, tmp_path, x=D)
    check("return x + float(np.prod(()))", D + 1, tmp_path, x=D)
    check("return x + math.prod(x.shape)", D + 3, tmp_path, x=D)
    check("return x * len(x) ** -1 + x.shape[0] ** -2", D / 3 + 3.0**-2, tmp_path, x=D)
    refused("return v ** -1", tmp_path, "static-error", v=I)


def test_a_product_of_numpy(tmp_path: pathlib.Path) -> None:
    check("return v * np.prod((2, 3))", I * 6, tmp_path, v=I)
    check("return v * (np.prod((7, 1)) in v)", I, tmp_path, v=I)


@pytest.mark.parametrize("expression", ["np.prod((2, 3))", "(np.prod((2, 3)) in x)"])
def test_a_product_of_numpy_beside_another_type(expression: str, tmp_path: pathlib.Path) -> None:
    text = text_of_program(f"return x * {expression}", False, {"x": D})
    path = tmp_path / "product.py"
    path.write_text(text)
    function = runpy.run_path(str(path))["f"]
    with pytest.raises(sardonyx.EvalError, match="INT64"):
        function(x=D)
    with pytest.raises(sardonyx.CompileError, match=r"int of NumPy"):
        function.to_model_bytes()
    assert shared_compiler().compile(text, "f")[0][0] == "error"
