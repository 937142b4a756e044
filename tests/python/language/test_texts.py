"""The texts of known values: `str`, `repr`, `format`, `%`, by CPython and by the compiler; and what
depends on the moment of a call, which a model cannot have."""

from __future__ import annotations

import enum
import importlib.util
import pathlib
import sys
from typing import Any

import numpy as np
import pytest
import sardonyx

from language import shared_compiler
from language.test_random_expressions import HEADER, compiled_in_python, in_python, text_of

pytestmark = pytest.mark.filterwarnings("ignore")

BODY = "@script()\ndef m(x: FLOAT[1]):\n    return op.Constant(value_string=repr({}))\n"

EQUAL = [
    "f'{5:<05}'",
    "f'{\"a\":05}'",
    "f'{1234567:012,}'",
    "f'{1.5:.>8}'",
    "f'{123456.0:.6}'",
    "f'{5.0:.0}'",
    "f'{1.0:#.0f}'",
    "f'{float(\"inf\"):%}'",
    "f'{2**70:,}'",
    "f'{2**70:#x}'",
    "f'{1e16}'",
    "f'{True:5}'",
    "f'{-1234.5:010,.1f}'",
    "f'{65536:#_x}'",
    "str(...)",
    "str(range(3))",
    "f'{[1] * 40}'",
    "repr('it\\'s')",
    "repr('a\"b\\'c')",
    "repr('x' * 300)",
    "repr('\\t\\r\\x7f')",
    "repr('é\\xa0日')",
    "ascii('é日😀')",
    "repr(b'a\\'\\x00')",
    "repr([[[[[[[[[[[1]]]]]]]]]]])",
    "str(frozenset((1,)))",
    "str(set())",
    "str({3})",
    "f'{Color.RED}'",
    "f'{Color.BLUE!r}'",
    "f'{Color.RED:>10}'",
    "str(Pair(1))",
    "f'{Pair(b=[2], a=\"q\")!r:>30}'",
    "str(int)",
    "repr(ValueError)",
    "'%s' % None",
    "'%a' % 'é'",
    "'%5s|' % ([1],)",
    "'{0!r:>6}|{0}'.format('a')",
    "'{:{}}'",
    "slice(1, None)",
    "str(-0.0)",
    "str(1e-7)",
    "str(5e-324)",
    "'ab'.center(5, '*')",
    "'a b c'.rsplit(' ', 1)",
    "'a\\r\\nb\\n'.splitlines()",
    "'aaa'.replace('a', 'b', 2)",
    "'aB'.swapcase()",
    "{'a': 1} | {'b': 2}",
    "hex(-255)",
    "oct(8)",
    "bin(5)",
    "'1'.isspace()",
    "'AB1'.isupper()",
    "format(3, '05')",
    "round(2**63, -2)",
    "round(-(2**63) - 55, -1)",
    "round(9223372036854775807, -1)",
]


def built(path: pathlib.Path) -> str | None:
    answer, data = shared_compiler().compile_file(path, "m", "model")
    assert answer[0] in ("ok", "error"), answer
    return text_of(data) if answer[0] == "ok" else None


@pytest.mark.parametrize("expression", EQUAL)
def test_text_of_python(expression: str, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "texts.py"
    path.write_text(HEADER + BODY.format(expression))
    assert built(path) == compiled_in_python(path) == in_python(expression)


NOT_CERTAIN = [
    "str({1, 2})",
    "f'{[{1, 2}]}'",
    "str(len)",
    "f'{lambda: 1}'",
    "str(math)",
    "repr(chr)",
    "'{} {0}'.format(1, 2)",
    "'{0.real}'.format(1)",
    "'{:{}}'.format(1, 5)",
    "f'{1:z}'",
    "f'{1:n}'",
    "f'{\"a\":+}'",
    "f'{\"a\":=5}'",
    "f'{1.5:d}'",
    "f'{1:.2}'",
    "f'{[1]:>5}'",
    "f'{None:>5}'",
    "f'{255:,x}'",
    "repr('\\U000e0001')",
]


@pytest.mark.parametrize("expression", NOT_CERTAIN)
def test_what_is_not_certain(expression: str, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "texts.py"
    path.write_text(HEADER + BODY.format(expression))
    assert built(path) in (None, in_python(expression))
    assert compiled_in_python(path) in (None, in_python(expression))


@pytest.mark.parametrize("value", ["np.arange(3)", "np.array(1.1, np.float32)"])
def test_arrays_are_refused(value: str, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "texts.py"
    path.write_text(f"{HEADER}import numpy as np\nV = {value}\n" + BODY.format("f'{V}'"))
    assert built(path) is None and compiled_in_python(path) is None


def live(path: pathlib.Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module
    spec.loader.exec_module(module)
    return module.m


class S(str, enum.Enum):
    A = "a"


# Texts of Python's own objects are asked of Python.
LIVE = [
    ("class S(str, Enum):\n    A = 'a'\n", "f'{S.A!s}|{S.A!r}'", "S.A|<S.A: 'a'>"),
    ("class S(str, Enum):\n    A = 'a'\n", "f'{S.A}'", f"{S.A}"),  # its version decides
    ("from enum import IntEnum\nclass S(IntEnum):\n    A = 1\n", "f'{S.A!r}|{S.A}'", "<S.A: 1>|1"),
    ("class S:\n    def __repr__(self):\n        return 'r' * 300\nV = S()\n", "f'{V}'", "r" * 300),
    (
        "class S:\n    def __format__(self, spec):\n        return spec * 2\nV = S()\n",
        "f'{V:ab}'",
        "abab",
    ),
    ("class S:\n    pass\nV = S()\n", "f'{V}'", None),
    ("class S(float):\n    def __str__(self):\n        return 'q'\nV = S(2)\n", "str(V)", None),
    ("import numpy as np\nV = np.float64(0.1)\n", "f'{V}|{V:.3f}'", "0.1|0.100"),
    ("import numpy as np\nV = np.float64(0.1)\n", "repr([V])", None),
    ("import numpy as np\nV = np.float64(0.1)\n", "repr(V + 1)", None),
]


@pytest.mark.parametrize(("before", "expression", "expected"), LIVE, ids=[row[1] for row in LIVE])
def test_objects_of_python(
    before: str, expression: str, expected: str | None, tmp_path: pathlib.Path
) -> None:
    path = tmp_path / "live_texts.py"
    path.write_text(HEADER + before + BODY.replace("repr({})", "{}").format(expression))
    if expected is not None:
        assert text_of(live(path).to_model_bytes()) == expected
        assert built(path) in (None, expected)
    else:
        with pytest.raises(sardonyx.CompileError, match=r"not certain|cannot"):
            live(path).to_model_bytes()
        assert built(path) is None


MEMBERS = [
    "f'{M.A}|{M.A!r}|{M.A:03}'",
    "M.B.name",
    "M(2).name",
    "M['B'] + 0",
    "isinstance(M.A, M)",
    "len(M)",
    "[int(m) for m in M]",
    "M.C.name",
    "[m.name for m in M]",
    "M.A + 1",
    "isinstance(M.A, int)",
    "f'{M.A | 4} {M.A & 3} {M.A ^ M.B} {~M.A} {[M.A | M.B]}'",
]


@pytest.mark.parametrize("expression", MEMBERS)
def test_members_of_an_int_enum(expression: str, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "members.py"
    before = "from enum import IntEnum\nclass M(IntEnum):\n    A = 1\n    B = 2\n    C = 1\n"
    path.write_text(HEADER + before + BODY.format(expression))
    names: dict[str, Any] = {}
    exec(before, names)
    assert built(path) == repr(eval(expression, names))
    assert compiled_in_python(path) in (None, repr(eval(expression, names)))


def test_inverted_members(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "members.py"
    path.write_text(
        HEADER
        + "from enum import IntEnum\nclass M(IntEnum):\n    A = 1\n"
        + BODY.format("f'{~M.A + 1}'")
    )
    assert built(path) == compiled_in_python(path) == repr("-1")


# --- Moments --------------------------------------------------------------------------------------

MOMENTS = [
    ("", "len(locals())"),
    ("", "len(globals())"),
    ("K = 3", "eval('K')"),
    ("", "len(dir())"),
    ("K = 3\ndef g():\n    return globals()['K']", "g()"),
    ("K = 3\ndef g():\n    y = 2\n    return eval('y + K')", "g()"),
    ("def h():\n    return len(locals())\ndef g():\n    return h()", "g()"),
    ("import sys\ndef g():\n    return sys._getframe(1).f_lineno", "g()"),
    ("import inspect\ndef g():\n    return len(inspect.stack())", "g()"),
    ("import random", "random.random()"),
    ("from random import random", "random()"),
    ("import random\ndef g():\n    return random.random()", "g()"),
    ("import random\nr = random.Random(0)", "r.random()"),
    ("import time", "time.time()"),
    ("import datetime", "datetime.datetime.now().year"),
    ("import os", "len(os.urandom(3))"),
    ("import uuid", "len(str(uuid.uuid4()))"),
    ("import numpy as np\nrng = np.random.default_rng(0)", "float(rng.normal())"),
    ("import numpy as np", "float(np.random.rand())"),
    ("import numpy as np\ndef g():\n    return float(np.random.rand())", "g()"),
]


@pytest.mark.parametrize(("before", "expression"), MOMENTS)
def test_what_depends_on_the_moment(before: str, expression: str, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "moments.py"
    path.write_text(
        f"{HEADER}{before}\n@script()\ndef m(x: FLOAT[1]):\n    return x * {expression}\n"
    )
    with pytest.raises(sardonyx.CompileError):
        live(path).to_model_bytes()
    assert shared_compiler().compile_file(path, "m", "model")[0][0] == "error"


STEADY = [
    ("import random\nK = random.Random(3).random()", "K"),
    ("import numpy as np\ndef g():\n    return float(np.random.default_rng(0).normal())", "g()"),
    ("import time\ndef g():\n    time.sleep(0)\n    return 2.0", "g()"),
    ("class C:\n    a = 2\nc = C()\nc.a = 3", "vars(c)['a']"),
]


@pytest.mark.parametrize(("before", "expression"), STEADY)
def test_what_is_the_same_at_any_moment(
    before: str, expression: str, tmp_path: pathlib.Path
) -> None:
    path = tmp_path / "steady.py"
    path.write_text(
        f"{HEADER}{before}\n@script()\ndef m(x: FLOAT[1]):\n    return x * {expression}\n"
    )
    script = live(path)
    x = np.ones(1, np.float32)
    model = sardonyx.Model(script.to_model_bytes())
    np.testing.assert_array_equal(np.asarray(model(x)), np.asarray(script(x)))


REPLACED = [
    ("def q(v):\n    return 7.0\nmath.sqrt = q", "math.sqrt(4.0)", 7.0),
    ("math.sqrt = math.floor", "math.sqrt(4.5)", 4.0),
    ("import numpy as np\ndef q(v):\n    return 7.0\nnp.sqrt = q", "np.sqrt(4.0)", 7.0),
]


@pytest.mark.parametrize(("change", "expression", "expected"), REPLACED)
def test_replaced_functions(
    change: str, expression: str, expected: float, tmp_path: pathlib.Path, monkeypatch: Any
) -> None:
    import math

    monkeypatch.setattr(math, "sqrt", math.sqrt)
    monkeypatch.setattr(np, "sqrt", np.sqrt)
    path = tmp_path / "replaced.py"
    path.write_text(
        f"{HEADER}{change}\n@script()\ndef m(x: FLOAT[1]):\n    return x * {expression}\n"
    )
    x = np.ones(1, np.float32)
    script = live(path)
    assert np.asarray(script(x)) == expected
    assert np.asarray(sardonyx.Model(script.to_model_bytes())(x)) == expected
    answer, _ = shared_compiler().compile_file(path, "m", "model")
    assert answer[0] == "error"
