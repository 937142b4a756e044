"""Classes of the program on every surface: instances that the script makes of tensors, dataclasses,
and methods of lists that have a name of their own."""

from __future__ import annotations

import pathlib
import runpy
from typing import Any

import numpy as np
import pytest
import sardonyx

from language import shared_compiler
from surfaces import check, first_finding, refused, refused_by_compilers, text_of

pytestmark = pytest.mark.filterwarnings("ignore")

X = np.array([1, 2, 3], np.float32)

CLASSES = """\
from collections import OrderedDict
import dataclasses
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple


class Linear:
    K = 3.0

    def __init__(self, w, b=1.0):
        self.w = w
        self.b = b

    def __call__(self, v):
        return v * self.w + self.b

    @property
    def bias(self):
        return self.b * self.K

    @classmethod
    def of(cls, w):
        return cls(w, cls.K)

    @staticmethod
    def twice(v):
        return v * 2


class Sum:
    def __init__(self, total):
        self.total, self.n = total, 0

    def add(self, v):
        self.total = self.total + v
        self.n += 1
        return self

    def __len__(self):
        return self.n


@dataclass
class State:
    h: float
    c: float
    count: ClassVar[int] = 4
    more: list = field(default_factory=list)

    def step(self, v):
        return State(self.h + v, self.c * 2)


@dataclass(frozen=True)
class Config:
    scale: float = 2.0
    state: State = None


class Pair(NamedTuple):
    h: float
    c: float


@script(default_opset=op)
def shifted(s, v):
    return s.h + s.c * v


@script(default_opset=op)
def raised(s, v):
    return s.add(v).total


@script(default_opset=op)
def moved(s, v):
    return s._replace(h=s.h + v)


CONFIG = dataclasses.asdict(Config(state=State(1.0, 2.0, [3])))


---
"""

MADE = [
    ("one = Linear(x)\nreturn one(x) + one.bias + Linear.of(x)(x)", X * X * 2 + 1 + 3 + 3),
    ("one = Linear(w=x, b=x)\nreturn one.twice(one(x)) if isinstance(one, Linear) else x",
     (X * X + X) * 2),
    ("a = Sum(x * 0)\nfor i in range(3):\n    a.add(x)\nreturn a.total / a.n + len(a)", X + 3),
    (("a = Sum(x)\na.add(x).add(x)\na.total = a.total * 2\nb = Sum(x)\n"
      "return a.total + b.total"), X * 7),
    (("s = State(x, x)\nfor _ in range(2):\n    s = s.step(x)\n"
      "return s.h + s.c + len(s.more) + s.count"), X * 7 + 4),
    ("return shifted(Pair(x, x * 2), x) + shifted(Pair(1.0, 2.0), x)", X + X * X * 2 + 1 + X * 2),
    ("a = Sum(x)\nreturn raised(a, x) + a.total", X * 4),
    ("a, b = moved(Pair(x, x), x)\nreturn a + b + moved(Pair(x, x), x)[0]", X * 5),
    ("d = OrderedDict()\nd['a'] = x\nd['b'] = x * 2\nreturn sum(d.values()) * len(d)", X * 6),
    ("return x * CONFIG['scale'] + CONFIG['state']['c'] + CONFIG['state']['more'][0]", X * 2 + 5),
]  # fmt: skip


BASES = """
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

T = TypeVar("T")


class Box(Generic[T]):
    def __init__(self, value: T):
        self.value = value

    def get(self) -> T:
        return self.value


class Twice(Box):
    def get(self):
        return super().get() * 2


@dataclass
class Pair(Generic[T]):
    a: T
    b: T


class Block(ABC):
    def __init__(self, scale):
        self.scale = scale

    @abstractmethod
    def run(self, x):
        ...

    def __call__(self, x):
        return self.run(x) * self.scale


class Add(Block):
    def run(self, x):
        return x + self.scale


class Runs(Protocol):
    def run(self, x):
        ...


class Negative(Runs):
    def run(self, x):
        return -x


---
"""

OF_BASES = [
    ("return Box(x).get() + Twice(x).get()", X * 3),
    ("p = Pair(x, b=x * 2)\np.a = p.b\nreturn p.a + p.b", X * 4),
    ("return Add(x)(x)", (X + X) * X),
    ("return Negative().run(x)", -X),
    ("return x * isinstance(Add(2), Block)", X),
]


@pytest.mark.parametrize(("body", "expected"), OF_BASES)
def test_bases_that_say_nothing(body: str, expected: Any, tmp_path: pathlib.Path) -> None:
    check(BASES + body, expected, tmp_path, x=X)


@pytest.mark.parametrize("made", ["Block(1)", "Runs()"])
def test_abstract_classes_have_no_instances(made: str, tmp_path: pathlib.Path) -> None:
    text = text_of(f"{BASES}a = {made}\nreturn x", True, {"x": X})
    answer, _ = shared_compiler().compile(text, "f")
    assert answer[0] == "error", answer
    path = tmp_path / "program.py"
    path.write_text(text)
    function = runpy.run_path(str(path))["f"]
    with pytest.raises(TypeError):
        function(x=X)
    with pytest.raises(sardonyx.CompileError):
        function.to_model_bytes()


@pytest.mark.parametrize(("body", "expected"), MADE)
def test_instances(body: str, expected: Any, tmp_path: pathlib.Path) -> None:
    check(CLASSES + body, expected, tmp_path, x=X)


GROWN = """\
w = [1.0]
push = w.append
def grown(v, seen=[]):
    seen.append(1.0)
    return v * len(seen)
---
"""


# Each call as Python would change it further, and the model stays.
@pytest.mark.parametrize("changes", ["push(2.0)", "w.append(2.0)", "x = grown(x)"])
def test_lists_of_the_file_stay(changes: str, tmp_path: pathlib.Path) -> None:
    text = text_of(GROWN + f"{changes}\nreturn x * sum(w)", True, {"x": X})
    answer, _ = shared_compiler().compile(text, "f")
    assert answer[0] == "error" and first_finding(answer).startswith("unsupported-statement"), (
        answer
    )
    path = tmp_path / "program.py"
    path.write_text(text)
    with pytest.raises(sardonyx.CompileError, match="unsupported-statement"):
        runpy.run_path(str(path))["f"].to_model_bytes()


def test_two_named_tuples_in_branches() -> None:
    before = "from typing import NamedTuple\nclass A(NamedTuple):\n    h: FLOAT\n"
    before += "class B(NamedTuple):\n    h: FLOAT\n---\n"
    body = "if x[0] > 1:\n    s = A(x)\nelse:\n    s = B(x)\nreturn s.h"
    answer, _ = shared_compiler().compile(text_of(before + body, True, {"x": X}), "f")
    assert answer[0] == "error" and first_finding(answer).startswith("branch-type"), answer


# A script called as Python gives tensors and plain tuples.
@pytest.mark.parametrize("gives", ["moved(Pair(x, x), x).h", "kept(Sum(x)).total"])
def test_scripts_give_no_classes(gives: str, tmp_path: pathlib.Path) -> None:
    kept = "@script(default_opset=op)\ndef kept(s):\n    return s\n---\n"
    text = text_of(CLASSES.replace("---\n", kept) + f"return {gives}", True, {"x": X})
    answer, _ = shared_compiler().compile(text, "f")
    assert answer[0] == "error", answer
    path = tmp_path / "program.py"
    path.write_text(text)
    function = runpy.run_path(str(path))["f"]
    with pytest.raises((TypeError, AttributeError)):
        function(x=X)
    with pytest.raises(sardonyx.CompileError):
        function.to_model_bytes()


def test_a_folder_with_two_spellings(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, link = tmp_path / "folder", tmp_path / "link"
    folder.mkdir()
    link.symlink_to(folder)
    (folder / "spelled_twice.py").write_text(
        "class Sum:\n    def __init__(self, first):\n        self.total = first\n\n"
        "    def add(self, x):\n        self.total = self.total + x\n        return self\n"
    )
    source = folder / "user.py"
    source.write_text(
        "from spelled_twice import Sum\nfrom sardonyx import FLOAT, opset23, script\n\n"
        '@script(default_opset=opset23)\ndef f(x: FLOAT["N"]):\n    return Sum(x).add(x).total\n'
    )
    monkeypatch.syspath_prepend(str(link))
    names = runpy.run_path(str(source))
    x = np.array([1, 2], np.float32)
    np.testing.assert_array_equal(names["f"].compile()(x), x * 2)


OPERATORS = """\
class Base:
    scale = 2.0

    def go(self, v):
        return v + 1.0


class Left(Base):
    def go(self, v):
        return super().go(v) * 2.0


class Right(Base):
    scale = 5.0

    def go(self, v):
        return super().go(v) * 3.0


class Both(Left, Right):
    def go(self, v):
        return super().go(v) + 100.0


class Inherits(Left, Right):
    pass


class Pair:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def __add__(self, o):
        return Pair(self.a + o.a, self.b + o.b) if isinstance(o, Pair) else NotImplemented

    def __radd__(self, o):
        return Pair(self.a + o, self.b + o)

    def __mul__(self, k):
        return Pair(self.a * k, self.b * k)

    __rmul__ = __mul__

    def __lshift__(self, o):
        return NotImplemented

    def __rlshift__(self, o):
        return self

    def __neg__(self):
        return Pair(-self.a, -self.b)

    def __eq__(self, o):
        return isinstance(o, Pair) and self.a == o.a and self.b == o.b

    __hash__ = None

    def __lt__(self, o):
        return self.a < o.a

    def __bool__(self):
        return self.a > 0

    def __contains__(self, q):
        return q == self.a

    def __getitem__(self, i):
        return (self.a, self.b)[i]

    def __len__(self):
        return 7

    def __iter__(self):
        return iter((self.a, self.b))


class Empty:
    def __len__(self):
        return 0

    def __iter__(self):
        return iter([1.0, 2.0])


class Equal(Empty):
    def __eq__(self, o):
        return False


d, e = Both(), Inherits()
equal = Equal()
p, q, zero = Pair(1.0, 2.0), Pair(3.0, 4.0), Pair(0.0, 1.0)
total, least = p + q, min(1.0, 2.0)
NoneType = type(None)
empty = Empty()


---
"""

OF_OPERATORS: list[tuple[str, Any]] = [
    ("return d.go(x) * d.scale", (((X + 1) * 3) * 2 + 100) * 5),
    ("c = Both()\nreturn c.go(x) * c.scale", (((X + 1) * 3) * 2 + 100) * 5),
    # What is behind a class depends on the instance.
    ("return e.go(x)", (X + 1) * 3 * 2),
    ("return Inherits().go(x)", (X + 1) * 3 * 2),
    ("return x if isinstance(d, Right) and issubclass(Both, Base) else -x", X),
    ("return -x if issubclass(Left, (Right, int)) or not issubclass(bool, int) else x", X),
    ("return x if callable(d.go) and callable(Both) and not callable(d) else -x", X),
    ("z = p + q\nreturn x * z.a + z.b + total.b", X * 4 + 12),
    ("z = Pair(x, x * 2.0) + Pair(x, x)\nreturn z.a + z.b", X * 5),
    ("z = 1.0 + Pair(x, x * 2.0)\nreturn z.a + z.b", X * 3 + 2),
    ("z = sum([Pair(x, x), p])\nreturn z.a + z.b", X * 2 + 3),
    ("z = 2.0 * p\nz *= 3.0\nreturn x * z.a + (-z).b", X * 6 - 12),
    ("return x if p == Pair(1.0, 2.0) and p != q and p < q and q > p else -x", X),
    ("return x if p and not zero and (zero or p) is p else -x", X),
    ("return x if 1.0 in p and 2.0 not in p else -x", X),
    ("a, b = p\nc = [*q]\nreturn x * a + b + c[1] + sum(list(p))", X + 2 + 4 + 3),
    ("for v in Pair(x, x + 1.0):\n    x = x * v\nreturn x", X * X * (X + 1)),
    ("return x * len(p) + p[1] + Pair(x, x * 2.0)[1]", X * 9 + 2),
    # The length, and not the items, says that it is false.
    ("z = empty or 3.0\nreturn x * z + len(empty)", X * 3),
    ("z = Empty() or 3.0\nreturn x * z if not empty else -x", X * 3),
    (
        "match p:\n    case Base():\n        return -x\n    case Pair(a=1.0):\n        return x",
        X,
    ),
    ("z = {}.fromkeys(['a', 'b'], 2.0)\nreturn x * z['b']", X * 2),
    ("return x if isinstance(None, (int, NoneType)) and isinstance(None, type(None)) else -x", X),
    ("return -x if isinstance(2.0, NoneType) else x", X),
    ("return x if 2.0 in empty and 3.0 not in Empty() and 2.0 in equal else -x", X),
    ("return x if hasattr(p, '__eq__') and not hasattr(p, '__call__') else -x", X),
    ("return x if hasattr(empty, '__len__') and not hasattr(empty, '__bool__') else -x", X),
]


@pytest.mark.parametrize(("body", "expected"), OF_OPERATORS)
def test_special_methods(body: str, expected: Any, tmp_path: pathlib.Path) -> None:
    check(OPERATORS + body, expected, tmp_path, x=X)


@pytest.mark.parametrize("body", ["-p", "p + p", "Pair(x, x)"])
def test_special_methods_of_a_class_that_may_be_changed(body: str) -> None:
    # Iteration by `__getitem__` alone is not run on the command line.
    of_items = "class Items(Pair):\n    __iter__ = None\n\n\nlisted = [v for v in Items(p, q)]\n"
    head = OPERATORS.removesuffix("\n\n---\n") + f"\n{of_items}"
    text = text_of(f"{head}\n\n---\nreturn ({body}).a * x", False, {"x": X})
    answer, _ = shared_compiler().compile(text, "f")
    assert answer[0] == "error", answer
    assert {found.partition(":")[0] for found in answer[1:]} <= {"static-error", "unknown-value"}


@pytest.mark.parametrize(
    ("body", "code"),
    [
        # Two instances of one class are asked once.
        ("return x if (p << q) else -x", "static-error"),
        # A class that says what is equal is asked for one instance at a time.
        ("return x if Pair(1.0, 2.0) in [q, p] else -x", "static-error"),
        ("return x if [Pair(1.0, 2.0)] == [Pair(1.0, 2.0)] else -x", "static-error"),
        (
            "try:\n    return {1: x}[Pair(1.0, 2.0)]\nexcept KeyError:\n    return -x",
            "static-error",
        ),
    ],
)
def test_special_methods_in_containers(body: str, code: str, tmp_path: pathlib.Path) -> None:
    for named in (False, True):
        text = text_of(OPERATORS + body, named, {"x": X})
        path = tmp_path / f"program_{named}.py"
        path.write_text(text)
        with pytest.raises(sardonyx.CompileError, match=code):
            runpy.run_path(str(path))["f"].to_model_bytes()
        answer, _ = shared_compiler().compile(text, "f")
        assert answer[0] == "error" and first_finding(answer).startswith(code), answer


DATA = """\
import dataclasses
from dataclasses import InitVar, dataclass, field
@dataclass(order=True)
class Point:
    a: object
    b: object = 2
@dataclass(kw_only=True, repr=False, eq=False)
class Named:
    a: int
    b: int = field(default=3)
@dataclass
class Summed:
    a: object
    b: InitVar[int] = 4
    c: int = field(init=False)
    def __post_init__(self, b):
        self.c = 2 + b
@dataclass
class Slotted:
    __slots__ = ("a", "b")
    a: object
    b: object
class Pair:
    __slots__ = ("a", "__dict__")
    def __init__(self, a):
        self.a = a
        self.z = 5.0
class Twice(Pair):
    __slots__ = "t"
    def __init__(self, a, t):
        super().__init__(a)
        self.t = t
    def go(self, y):
        return self.a * y + self.t
class Less:
    def __init__(self, n):
        self.n = n
    def __lt__(self, other):
        return self.n < other.n
p, q, t = Point(1, 5), Point(1, 3), Twice(2.0, 3.0)
best = min(Less(3), Less(1)).n
---
"""
OF_DATA: list[tuple[str, Any]] = [
    ("return x * (2.0 if p < q else 3.0) + sorted([p, q])[0].b + max(p, q).b", X * 3 + 8),
    ("return x * (2.0 if Point(1, 3) >= q else 3.0) + sorted([p, Point(0)])[0].b", X * 2 + 2),
    ("return x * (2.0 if p == Point(1, 5) else 3.0) + (4 if Point(1, 5) in [p] else 5)", X * 2 + 4),
    ("return x * (2.0 if Point(0, x) < p else 3.0)", X * 2),
    ("return x * (2.0 if Point(3, x) > Point(2, x) else 3.0)", X * 2),
    ("return x * (2.0 if p == Point(2, x) else 3.0)", X * 3),
    ("return x * Named(a=2).b + (1 if Named(a=1) == Named(a=1) else 2)", X * 3 + 2),
    ("s = Summed(x, 7)\nreturn s.a * s.c + Summed(1).c", X * 9 + 6),
    ("s = Slotted(x, 3.0)\ns.b = 4.0\nreturn s.a * s.b", X * 4),
    ("s = Pair(x)\nreturn s.a * s.z", X * 5),
    ("return Twice(2.0, x).go(x) + t.go(x)", X * 5 + 3),
    ("return x * sorted([Less(3), Less(1)])[0].n + max([Less(1), Less(5)]).n + best", X + 6),
    ("return x * sorted([(2, Less(3)), (2, Less(1)), (1, Less(7))])[1][1].n", X),
    ("k = Less(x)\nreturn vars(k)['n'] * len(k.__dict__)", X),
    ("k = Less(2)\nreturn x * vars(k)['n'] + len(vars(t)) + vars(p)['a']", X * 2 + 2),
]


@pytest.mark.parametrize(("body", "expected"), OF_DATA, ids=[row[0] for row in OF_DATA])
def test_dataclasses_and_slots(body: str, expected: Any, tmp_path: pathlib.Path) -> None:
    check(DATA + body, expected, tmp_path, x=X)


UNIONS: list[tuple[str, float]] = [
    ("isinstance(k, K | int)", 1.0),
    ("isinstance(3, K | int)", 1.0),
    ("isinstance('', K | int)", 0.0),
    ("isinstance(K(), str | None)", 0.0),
    ("isinstance(None, int | K | None)", 1.0),
    ("isinstance(J(), L | K)", 1.0),
    ("isinstance(J(), U)", 1.0),
    ("issubclass(J, U)", 1.0),
    ("U == (int | K)", 1.0),
    ("isinstance(np.float32(1), np.float32 | int)", 1.0),
]


@pytest.mark.parametrize(("test", "expected"), UNIONS, ids=[row[0] for row in UNIONS])
def test_unions_of_classes(test: str, expected: float, tmp_path: pathlib.Path) -> None:
    head = "class K: pass\nclass J(K): pass\nclass L: pass\nU = K | int\nk = K()\n---\n"
    check(f"{head}return x * (1.0 if {test} else 0.0)", X * np.float32(expected), tmp_path, x=X)


@pytest.mark.parametrize(
    "body",
    [
        "k = Less(1)\nd = vars(k)\nk.n = 2\nreturn x * d['n']",
        "k = Less(1)\nvars(k)['n'] = 2\nreturn x * k.n",
    ],
)
def test_members_of_a_dict_stay(body: str, tmp_path: pathlib.Path) -> None:
    refused_by_compilers(DATA + body, tmp_path, x=X)


OF_KNOWN: list[tuple[str, float]] = [
    ("issubclass(K, int | None)", 0.0),
    ("issubclass(K, str | K)", 1.0),
    ("isinstance((1, 2), E | list)", 0.0),
    ("sorted(['b', 'A'], key=str.upper) == ['A', 'b']", 1.0),
    ("member(2) + member(9) == 5", 1.0),
]


@pytest.mark.parametrize(("test", "expected"), OF_KNOWN, ids=[row[0] for row in OF_KNOWN])
def test_classes_and_members(test: str, expected: float, tmp_path: pathlib.Path) -> None:
    head = (
        "from enum import Enum\nclass K: pass\nclass E(Enum):\n    A = 1\n    B = 2\ne = E.A\n"
        "def member(n):\n    try:\n        return E(n).value\n    except ValueError:\n"
        "        return 3\n---\n"
    )
    check(f"{head}return x * (1.0 if {test} else 0.0)", X * np.float32(expected), tmp_path, x=X)


# --- Texts and names ------------------------------------------------------------------------------

TEXTS = """\
import functools
from dataclasses import dataclass


class Dim:
    def __init__(self, name, size):
        self.name, self.size = name, size

    def __repr__(self):
        return f"Dim({self.name!r}, {self.size})"

    def __str__(self):
        return self.name


class Sub(Dim):
    def __str__(self):
        return "<" + super().__str__() + ">"


class Only:
    def __repr__(self):
        return "only"


class Wrong:
    def __repr__(self):
        return 3


class Bare:
    pass


@dataclass
class Layer:
    k: int = 1

    def __str__(self):
        return f"layer {self.k}"


@dataclass
class Wide(Layer):
    w: int = 2

    def __repr__(self):
        return f"wide {self.w}"


@dataclass
class Deep(Wide):
    d: int = 3


def twice(fn):
    @functools.wraps(fn)
    def inner(*args, **kwargs):
        return fn(fn(*args, **kwargs), **kwargs)

    return inner


def plain(fn):
    def inner(v):
        return fn(v)

    return inner


@twice
def scaled(v, by=2.0):
    return v * by


@plain
def shifted(v):
    return v + 1


@script(default_opset=op)
def whole(v: FLOAT["M"]):
    return v


def listed(v):
    return v


def name_of_inner():
    @functools.wraps(scaled)
    def inner(v):
        return v

    return inner.__name__


TOP = Dim("top", 9)
OTHER = Dim("other", 8)
NAMES = "|".join(one.__name__ for one in [listed, scaled, shifted, lambda v: v])
---
"""

# Each is a text in Python.
SHOWN = [
    "f'{TOP}|{TOP!r}|{TOP!s:>5}|{[TOP]}'",
    "str(Dim('a', 1)) + repr(Dim('a', 1)) + '%s %r' % (Dim('b', 2), Dim('b', 2))",
    "'{} {!r:>12}'.format(Sub('q', 1), Sub('q', 1))",
    "f'{Only()}|{Only()!r}|{(Only(), 1)}'",
    "f'{Layer()}|{Layer()!r}|{Wide()}|{Wide()!r}|{Deep()}|{Deep()!r}'",
    "NAMES",
    "'|'.join(one.__name__ for one in [listed, scaled, shifted, lambda v: v])",
    "name_of_inner()",
    "whole.__name__",
]


@pytest.mark.parametrize("text", SHOWN)
def test_texts_and_names(text: str, tmp_path: pathlib.Path) -> None:
    head = "class Stub:\n    def __getitem__(self, _): return self\nFLOAT = Stub()\n"
    head += "def script(**_): return lambda function: function\nop = None\n"
    names: dict[str, Any] = {}
    exec(head + TEXTS.replace("---\n", ""), names)
    expected = np.asarray(eval(text, names), object)
    check(TEXTS + f"return x, {text}", (X, expected), tmp_path, x=X)


def test_texts_that_are_none(tmp_path: pathlib.Path) -> None:
    for shown in ("f'{TOP:>9}'", "f'{Dim(\"a\", 1):>9}'", "f'{Layer():>9}'"):
        refused(TEXTS + f"return x + len({shown})", tmp_path, "static-error", x=X)
    refused(TEXTS + "return x + len(str(Wrong()))", tmp_path, "static-error", x=X)
    refused_by_compilers(TEXTS + "return x + len(str(Bare()))", tmp_path,
                         "`Bare`, which has neither `__repr__` nor", named=True, x=X)  # fmt: skip


def test_two_instances_in_branches(tmp_path: pathlib.Path) -> None:
    refused_by_compilers(
        TEXTS + "d = TOP\nif x[0] > 1:\n    d = OTHER\nreturn x * d.size", tmp_path,
        "a graph chooses between tensors and numbers", named=True, x=X)  # fmt: skip


# --- Properties that are assigned to --------------------------------------------------------------

SETTERS = """
from dataclasses import dataclass


class Scale:
    def __init__(self, value):
        self.count = 0
        self.value = value

    @property
    def value(self):
        return self._value

    @value.setter
    def value(self, new):
        if isinstance(new, int) and new < 0:
            raise ValueError(f"{new} is negative")
        self._value = new * 2
        self.count += 1

    @property
    def half(self):
        return self._value / 2


class Derived(Scale):
    pass


@dataclass
class Area:
    w: int
    h: int = 2

    @property
    def area(self):
        return self.w * self.h

    @area.setter
    def area(self, new):
        self.w = new // self.h


SIZE = Scale(2)
SIZE.value = 5
---
"""

ASSIGNED = [
    (("s = Scale(1)\na = s.value\ns.value = 3\ns.value += 1\nsetattr(s, 'value', s.value + 1)\n"
     "return x * s.value + a + s.count"), X * 30 + 6),
    ("return x * SIZE.value + SIZE.count", X * 10 + 2),
    (("s = Derived(x)\nfor i in range(n):\n    s.value = s.value + i\nif c:\n    s.value = x\n"
     "else:\n    s.count = 100\nreturn s.value + s.count"), X * 2 + 5),
    ("d = Area(3)\nd.area = 10\na, d.area = d.area, d.area + 4\nreturn x * d.w + a", X * 7 + 10),
    (("s = Scale(1)\ntry:\n    s.value = -1\nexcept ValueError as e:\n    k = len(str(e))\n"
     "return x * k + s.value"), X * 14 + 2),
]  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), ASSIGNED, ids=[body for body, _ in ASSIGNED])
def test_a_property_is_assigned_to(body: str, expected: Any, tmp_path: pathlib.Path) -> None:
    check(SETTERS + body, expected, tmp_path, x=X, n=np.int64(3), c=np.array(True))


@pytest.mark.parametrize(
    "body", ["s = Scale(1)\ns.half = 2\nreturn x", "return x * Scale(-3).value"]
)
def test_a_property_that_takes_no_such_value(body: str, tmp_path: pathlib.Path) -> None:
    """What the property is afterwards is no second mistake."""
    path = tmp_path / "program.py"
    path.write_text(text_of(SETTERS + body, False, {"x": X}))
    function = runpy.run_path(str(path))["f"]
    with pytest.raises((AttributeError, ValueError)):
        function(X)
    with pytest.raises(sardonyx.CompileError) as refusal:
        function.to_model_bytes()
    assert [one["code"] for one in refusal.value.diagnostics] == ["static-error"]
    answer, _ = shared_compiler().compile(path.read_text(), "f")
    assert answer[0] == "error" and len(answer) == 2 and answer[1].startswith("static-error")


# --- Instances that functions and other instances make --------------------------------------------

MAKERS = """
class Inner:
    def __init__(self):
        self.k = 1

    def set(self, k):
        self.k = k + 1


class Outer:
    def __init__(self):
        self.inner = Inner()
        self.all = [self.inner, Inner()]

    def set(self, k):
        self.inner.set(k * 10)


class Node:
    def __init__(self, value, after=None):
        self.value = value
        self.after = after


def make():
    return Outer()


def pair():
    return [Inner(), Inner()]


def build(values):
    head = None
    for value in reversed(values):
        head = Node(value, head)
    return head


def turned(node):
    before = None
    while node:
        node.after, before, node = before, node, node.after
    return before


---
"""

MADE_ELSEWHERE = [
    ("o = Outer()\np = o.inner\no.set(3)\nreturn x * p.k + o.all[0].k", X * 31 + 31),
    ("o = make()\no.inner.k = 4\nq = make()\nreturn x * o.all[0].k + q.inner.k", X * 4 + 1),
    ("a, b = pair()\na.k = 7\nb.set(2)\nreturn x * a.k + b.k", X * 7 + 3),
    (("o = make()\nq = make()\nif c:\n    o.inner.set(3)\n    o.all[1].k = 7\nelse:\n"
     "    o.inner.k = 9\nfor i in range(n):\n    q.all[0].k = q.all[0].k + i\n"
     "return x * o.inner.k + o.all[0].k * 100 + o.all[1].k * 10 + q.inner.k"), X * 4 + 474),
    (("h = build([1, 2, 3])\nfirst = h\nh = turned(h)\nt = 0\nn = h\nwhile n is not None:\n"
     "    t = t * 10 + n.value\n    n = n.after\nfirst.value = 50\n"
     "return x * t + h.after.after.value"), X * 321 + 50),
]  # fmt: skip


@pytest.mark.parametrize(
    ("body", "expected"), MADE_ELSEWHERE, ids=[body for body, _ in MADE_ELSEWHERE]
)
def test_what_a_function_has_made_is_changed(
    body: str, expected: Any, tmp_path: pathlib.Path
) -> None:
    check(MAKERS + body, expected, tmp_path, x=X, n=np.int64(3), c=np.array(True))
