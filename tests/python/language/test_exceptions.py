"""`try`, `with`, methods and itertools in scripts: on all surfaces a program means what CPython
says, or all refuse it."""

from __future__ import annotations

import pathlib
import runpy
from typing import Any

import numpy as np
import pytest
import sardonyx

from language import shared_compiler
from surfaces import check, refused, refused_by_compilers, text_of

pytestmark = pytest.mark.filterwarnings("ignore")

I = np.array([1, 2, 3], np.int64)  # noqa: E741

CLASSES = """\
from dataclasses import dataclass
class Scale:
    unit = 2
    def __init__(self, k):
        self.k = k
        self.calls = [k]
    @property
    def double(self):
        return self.k * self.unit
    @classmethod
    def of(cls, a, b):
        return cls(a + b)
    @staticmethod
    def three():
        return 3
    def add(self, n=1):
        return self.k + n + len(self.calls)
    def __call__(self, v):
        return v * self.k
@dataclass(frozen=True)
class Size:
    w: int
    h: int = 2
    def area(self):
        return self.w * self.h
s = Scale.of(2, 3)
---
"""

PROGRAMS: list[tuple[str, Any]] = [
    ('d = {"a": 1}\ntry:\n    k = d["b"]\nexcept KeyError:\n    k = 7\nreturn x * k', I * 7),
    (('try:\n    k = int("12")\nexcept ValueError:\n    k = 0\nelse:\n    k += 1\nfinally:\n'
     "    k *= 2\nreturn x * k"), I * 26),
    (("k = 0\nxs = [1]\ntry:\n    k = 5\n    xs.append(xs[3])\n    k = 6\n"
     "except (KeyError, IndexError):\n    k += len(xs)\nreturn x * k"), I * 6),
    (("def g(v):\n    if v > 2:\n        raise ValueError(v)\n    return v\n\nk = 0\n"
     "for v in [1, 2, 3, 4]:\n    try:\n        k += g(v)\n    except ValueError as e:\n"
     "        k += 100\nreturn x * k"), I * 203),
    (("try:\n    try:\n        k = 1 // 0\n    finally:\n        j = 4\nexcept ArithmeticError:\n"
     "    k = j\nreturn x * k"), I * 4),
    (("k = 1\nfor v in [3, 2, 1, 0]:\n    try:\n        k = 12 // v\n        if k > 4:\n"
     "            continue\n        k += 100\n    except ZeroDivisionError:\n        break\n"
     "    finally:\n        k += 1\nreturn x * k"), I * 14),
    ("y = x\ntry:\n    a, b = (1, 2, 3)\nexcept ValueError:\n    y = x * 2\nreturn y", I * 2),
    ("try:\n    y = x * 2\nfinally:\n    k = 3\nreturn y * k", I * 6),
    ("with contextlib.nullcontext(4) as k:\n    y = x * k\nreturn y", I * 4),
    (('k = 1\nwith contextlib.suppress(KeyError), contextlib.nullcontext() as n:\n    k = 2\n'
     '    {}["a"]\n    k = 3\nreturn x * (k if n is None else 9)'), I * 2),
    ("return x * s.double + s.add() + s.add(n=4) + Scale.three() + s.three()",
     I * 10 + 7 + 10 + 6),
    ("return x * (Size(3).area() + Size(1, h=5).area())", I * 11),
    ("return x * s(4)", I * 20),
    ("y = x\nfor a, b in itertools.product([1, 2], repeat=2):\n    y = y + a * b\nreturn y", I + 9),
    ("return x * sum(itertools.chain([1], (2, 3), itertools.repeat(5, 2)))", I * 16),
    (("return x * list(itertools.accumulate([1, 2, 3]))[2] + "
     "sum(a * b for a, b in itertools.zip_longest([1, 2], [3], fillvalue=7))"), I * 6 + 17),
    (("return x * len(list(itertools.permutations([1, 2, 3], 2))) + "
     "sum(a * b for a, b in itertools.combinations([1, 2, 3], 2))"), I * 6 + 11),
    (("return x * sum(itertools.islice([1, 2, 3, 4], 1, None, 2)) + "
     "functools.reduce(lambda a, b: a * 10 + b, [1, 2, 3])"), I * 6 + 123),
    ("return functools.reduce(lambda a, b: a + b, [x, x * 2, x * 3])", I * 6),
]  # fmt: skip

BEFORE = "import contextlib, functools, itertools\n"


@pytest.mark.parametrize(("body", "expected"), PROGRAMS, ids=[body for body, _ in PROGRAMS])
def test_a_program_means_what_python_says(body: str, expected: Any, tmp_path: pathlib.Path) -> None:
    check(BEFORE + CLASSES + body, expected, tmp_path, x=I)


REFUSED = [
    ('try:\n    k = int("x")\nexcept KeyError:\n    k = 1\nreturn x * k', "static-error"),
    ('with contextlib.suppress(KeyError):\n    k = int("x")\nreturn x', "static-error"),
]


@pytest.mark.parametrize(("body", "code"), REFUSED, ids=[body for body, _ in REFUSED])
def test_what_is_not_caught_is_refused(body: str, code: str, tmp_path: pathlib.Path) -> None:
    refused(BEFORE + "---\n" + body, tmp_path, code, x=I)


RAISED = {
    "in a plain function": (
        ("def g(v, kind):\n    if kind == 'a':\n        return v\n"
        "    raise ValueError(f'unknown kind {kind!r}')\n---\ny = g(x, 'a')\nreturn y + g(x, 'b')"),
        "ValueError: unknown kind 'b'", "g(x, 'b')",
    ),
    "in a script that runs in place": (
        ("@script(inline=True)\ndef g(v, n):\n    if n > 2:\n"
        "        raise ValueError(f'at most 2, not {n}')\n    return v * n\n---\n"
        "return g(x, 2) + g(x, 3)"),
        "ValueError: at most 2, not 3", "g(x, 3)",
    ),
    "through two functions": (
        ("def g(v, n):\n    if n == 0:\n        raise OverflowError\n    return v\n"
        "def h(v, n):\n    return g(v, n - 1)\n---\nreturn h(x, 2) + h(x, 1)"),
        "OverflowError", "h(x, 1)",
    ),
    "of a class of one's own": (
        ("class Wrong(TypeError):\n    pass\ndef g(v):\n    raise Wrong('text')\n---\n"
        "return g(x)"),
        "Wrong: text", "g(x)",
    ),
    "again": (
        ("---\ntry:\n    k = int('x')\nexcept ValueError:\n    raise TypeError('no number')\n"
        "return x * k"),
        "TypeError: no number", "raise",
    ),
    "of what is not a text": (
        "def g(v):\n    raise ValueError(v.shape[0], 'text')\n---\nreturn g(x)",
        "ValueError", "g(x)",
    ),
    "by an assertion": (
        ("def g(v, n):\n    assert n > 1, f'{n} is too few'\n    return v\n---\n"
        "return g(x, 2) + g(x, 1)"),
        "1 is too few", "g(x, 1)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RAISED)
def test_what_is_raised_is_said_to_the_caller(name: str, tmp_path: pathlib.Path) -> None:
    body, words, call = RAISED[name]
    for named in (False, True):
        text = text_of(body, named, {"x": I})
        path = tmp_path / f"program_{named}.py"
        path.write_text(text)
        function = runpy.run_path(str(path))["f"]
        with pytest.raises((ValueError, OverflowError, TypeError, AssertionError)) as in_python:
            function(I)
        assert words.partition(": ")[2] in str(in_python.value)
        with pytest.raises(sardonyx.CompileError) as compiled:
            function.to_model_bytes()
        assert len(compiled.value.diagnostics) == 1, str(compiled.value)
        finding = compiled.value.diagnostics[0]
        assert finding["code"] == "static-error" and finding["message"].endswith(words)
        lines = text.splitlines()
        marked = [lines[one["range"]["start"]["line"] - 1] for one in finding["labels"]]
        assert call in marked[-1], marked
        answer, _ = shared_compiler().compile(text, "f")
        assert answer[0] == "error" and [one.partition(":")[0] for one in answer[1:]] == [
            "static-error"
        ]


def test_a_tensor_does_not_decide_what_is_raised() -> None:
    for body in (
        "y = x\nif op.ReduceSum(y) > 2:\n    raise ValueError('no')\nreturn y",
        "y = x\nfor i in range(x[0]):\n    raise ValueError('no')\nreturn y",
    ):
        answer, _ = shared_compiler().compile(text_of(body, False, {"x": I}), "f")
        assert answer[0] == "error" and answer[1].startswith("unsupported-statement"), answer


def test_what_a_run_decides_is_not_caught() -> None:
    body = "try:\n    y = 12 // x\nexcept ZeroDivisionError:\n    y = x\nreturn y"
    answer, _ = shared_compiler().compile(text_of(body, False, {"x": I}), "f")
    assert answer[0] == "error" and answer[1].startswith("unsupported-statement"), answer


# --- Classes of exceptions of the file ------------------------------------------------------------

OWN = """\
import contextlib


class ConfigError(ValueError):
    \"\"\"A setting that means nothing.\"\"\"

    code = 3


class UnknownName(ConfigError):
    pass


class Mixin:
    pass


class Both(UnknownName, Mixin):
    pass


class Hidden:
    def __init__(self, *sizes):
        self.sizes = sizes


class Behind(ValueError, Hidden):
    pass  # Python finds `__init__` of ValueError first


class Wide(Exception):
    def __init__(self, size):
        super().__init__(f"size {size}")
        self.size = size


TABLE = {"relu": 1}


def pick(name):
    if name not in TABLE:
        raise UnknownName(f"no {name!r}")
    return TABLE[name]


def told(kind):
    raise kind("it is so", 2)


try:
    FOUND = pick("tanh")
except ConfigError:
    FOUND = 7
---
"""

CAUGHT: list[tuple[str, Any]] = [
    ("return x * FOUND", I * 7),
    ('try:\n    k = pick("gelu")\nexcept UnknownName:\n    k = 4\nreturn x * k', I * 4),
    ('try:\n    k = pick("gelu")\nexcept ConfigError:\n    k = 4\nreturn x * k', I * 4),
    ('try:\n    k = pick("gelu")\nexcept (KeyError, ValueError):\n    k = 4\nreturn x * k', I * 4),
    (
        ("k = 0\ntry:\n    told(ConfigError)\nexcept UnknownName:\n    k = 4\n"
         "except ConfigError:\n    k = 5\nreturn x * k"),
        I * 5,
    ),
    ("k = 1\nwith contextlib.suppress(ConfigError):\n    told(Both)\n    k = 2\nreturn x * k", I),
    (
        ("try:\n    try:\n        told(Both)\n    except Wide:\n        k = 1\n"
         "    except LookupError:\n        k = 2\nexcept UnknownName:\n    k = 3\nreturn x * k"),
        I * 3,
    ),
    (
        ("try:\n    try:\n        told(UnknownName)\n    except ConfigError:\n        raise\n"
         "except UnknownName:\n    k = ConfigError.code\nreturn x * k"),
        I * 3,
    ),
    ('try:\n    raise ConfigError\nexcept ValueError:\n    k = 4\nreturn x * k', I * 4),
    ('return x * pick("relu")', I),
]  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), CAUGHT, ids=[body for body, _ in CAUGHT])
def test_exceptions_of_the_file(body: str, expected: Any, tmp_path: pathlib.Path) -> None:
    check(OWN + body, expected, tmp_path, x=I)


NOT_CAUGHT = [
    'return x * pick("gelu")',
    "told(Wide)\nreturn x",
    "try:\n    told(ConfigError)\nexcept UnknownName:\n    pass\nreturn x",
    "try:\n    int('a')\nexcept ConfigError:\n    pass\nreturn x",
]


@pytest.mark.parametrize("body", NOT_CAUGHT)
def test_exceptions_of_the_file_that_nobody_catches(body: str, tmp_path: pathlib.Path) -> None:
    refused(OWN + body, tmp_path, "static-error", x=I)


# What an exception holds that Python itself raises, and what its own classes do with more than a
# text, only Python knows.
ONLY_PYTHONS = [
    "e = ConfigError('a')\nraise e\nreturn x",
    "try:\n    int('a')\nexcept ValueError as e:\n    k = len(str(e))\nreturn x * k",
    "return x * len(str(OSError(2, 'gone')))",
    "try:\n    raise Behind(2)\nexcept ValueError as e:\n    k = len(str(e))\nreturn x * k",
    "return x * len(ConfigError.args)",
]


@pytest.mark.parametrize("body", ONLY_PYTHONS)
def test_what_only_python_knows_of_an_exception(body: str, tmp_path: pathlib.Path) -> None:
    refused_by_compilers(OWN + body, tmp_path, x=I)


# Python answers this itself; the command line knows of such a class what handlers ask.
def test_what_the_command_line_does_not_know_of_an_exception() -> None:
    text = text_of(OWN + "return x * (2 if hasattr(ConfigError, 'args') else 3)", False, {"x": I})
    assert shared_compiler().compile(text, "f")[0][0] == "error"


# --- Exceptions as objects ------------------------------------------------------------------------

SHAPES = (
    OWN.rpartition("---\n")[0]
    + """
class ShapeError(Exception):
    def __init__(self, want, got, hint=None):
        self.want = want
        self.got = got
        text = f"want {want}, got {got}"
        if hint:
            text += f" ({hint})"
        super().__init__(text)

    @property
    def missing(self):
        return self.want - self.got

    @classmethod
    def of(cls, want):
        return cls(want, 0, hint="empty")


class Bare(Exception):
    def __init__(self, size, *, unit=2):
        self.unit = unit


class Told(Exception):
    def __str__(self):
        return "S" * self.args[0]


class Shown(ConfigError):
    def __repr__(self):
        return "<>"


READY = ValueError("ready")
ERRORS = []
try:
    raise READY
except ValueError as e:
    ERRORS.append(str(e))
---
"""
)

HELD: list[tuple[str, Any]] = [
    (
        ("try:\n    raise ShapeError.of(9)\nexcept ShapeError as e:\n"
         "    k = e.missing * 100 + len(e.args[0])\nreturn x * k"),
        I * 921,
    ),
    (
        ("try:\n    raise Bare(3, unit=7)\nexcept Exception as e:\n"
         "    k = e.unit * 100 + len(str(e)) * 10 + len(e.args)\nreturn x * k"),
        I * 711,
    ),
    (
        ("k = ''\nfor e in (Told(3), Shown('a', 2), KeyError('q'), KeyError(), ValueError(None),\n"
         "          ConfigError(1, 'b'), Wide(4)):\n    try:\n        raise e\n"
         "    except Exception as again:\n        k += f'{again}|{again!r}|'\n        "
         "k += f'{type(again).__name__};'\n"
         "return x * len(k), x + sum(ord(one) * i for i, one in enumerate(k)) % 1000"),
        (I * 184, I + 639),
    ),
    (
        ("try:\n    try:\n        raise UnknownName('b')\n    except ConfigError as e:\n"
         "        first = e\n        raise\nexcept ValueError as e:\n"
         "    k = (e is first) + 10 * isinstance(e, (KeyError, ConfigError)) + 100 * isinstance(e, "
         "Wide)\nreturn x * k"),
        I * 11,
    ),
    (
        ("def number(text):\n    try:\n        return SIZES[text]\n    except KeyError as e:\n"
         "        raise ConfigError(f'no {text}') from e\n\nSIZES = {'a': 3}\n"
         "try:\n    number('size')\nexcept ConfigError as e:\n    k = str(e)\n"
         "return x * len(k) + number('a')"),
        I * 7 + 3,
    ),
    ("return x * len(ERRORS[0]) + len(READY.args) + (type(READY) is ValueError)", I * 5 + 2),
    ("try:\n    raise ValueError(x, 3)\nexcept ValueError as e:\n    y, k = e.args\nreturn y * k",
     I * 3),
    (
        ("return x * issubclass(ConfigError, (KeyError, ValueError)) + issubclass(KeyError, "
         "ConfigError) * 10 + issubclass(Wide, object) * 100 + issubclass(KeyError, LookupError)"),
        I + 101,
    ),
]  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), HELD, ids=[body for body, _ in HELD])
def test_what_an_exception_holds(body: str, expected: Any, tmp_path: pathlib.Path) -> None:
    check(SHAPES + body, expected, tmp_path, x=I)


def test_the_text_of_an_exception_of_the_file_is_said(tmp_path: pathlib.Path) -> None:
    text = text_of(SHAPES + "raise ShapeError(3, 2)\nreturn x", False, {"x": I})
    path = tmp_path / "program.py"
    path.write_text(text)
    with pytest.raises(sardonyx.CompileError, match="ShapeError: want 3, got 2"):
        runpy.run_path(str(path))["f"].to_model_bytes()


def test_a_dict_with_attributes_raises_key_errors(tmp_path: pathlib.Path) -> None:
    body = (
        "class Config(dict):\n    def __getattr__(self, name):\n        return self[name]\n"
        "SETTINGS = Config(size=4)\n---\nreturn x * SETTINGS.size"
    )
    path = tmp_path / "program.py"
    path.write_text(text_of(body, False, {"x": I}))
    function = runpy.run_path(str(path))["f"]
    np.testing.assert_array_equal(function.compile()(I), I * 4)


# One mistake, one finding: the names that it leaves without a value are no further ones.
UNCAUGHT = [
    "try:\n    k = int('a')\nexcept KeyError:\n    k = 1\nreturn x * k",
    "try:\n    k = {'a': 1}['b']\n    j = k + 1\nfinally:\n    z = 3\nreturn x * k + j + z",
    "with contextlib.suppress(KeyError):\n    k = [1][4]\nreturn x * k",
    "return x * Positive(-1).size",
]


@pytest.mark.parametrize("body", UNCAUGHT)
def test_what_nobody_catches_is_one_finding(body: str, tmp_path: pathlib.Path) -> None:
    before = (
        "class Positive:\n    def __init__(self, size):\n        self.check(size)\n"
        "        self.size = size\n    def check(self, size):\n        if size < 0:\n"
        "            raise ValueError(size)\n"
    )
    text = text_of(BEFORE + before + "---\n" + body, False, {"x": I})
    answer, _ = shared_compiler().compile(text, "f")
    assert answer[0] == "error" and len(answer) == 2, answer
    path = tmp_path / "program.py"
    path.write_text(text)
    with pytest.raises((ValueError, LookupError)):
        runpy.run_path(str(path))["f"](I)
