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
    exec(HEADER.partition("\n")[2] + before, names)
    return repr(eval(expression, names))


@pytest.mark.parametrize(("before", "expression"), EQUAL, ids=[row[1] for row in EQUAL])
def test_known_values(before: str, expression: str, tmp_path: pathlib.Path) -> None:
    assert built(before, expression, tmp_path) == in_python(before, expression)


NOT_CERTAIN = [
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


def test_a_product_of_numpy_beside_another_type(tmp_path: pathlib.Path) -> None:
    check("return v * np.prod((2, 3))", I * 6, tmp_path, v=I)
    text = text_of_program("return x * np.prod((2, 3))", False, {"x": D})
    path = tmp_path / "product.py"
    path.write_text(text)
    function = runpy.run_path(str(path))["f"]
    with pytest.raises(sardonyx.EvalError, match="INT64"):
        function(x=D)
    with pytest.raises(sardonyx.CompileError, match=r"int of NumPy"):
        function.to_model_bytes()
    assert shared_compiler().compile(text, "f")[0][0] == "error"
