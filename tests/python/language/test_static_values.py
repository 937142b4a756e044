"""What Python finds equal, of which class it says an object is, and what it makes of static values:
in the body of a script and at the top of its file, on the command line and from Python."""

from __future__ import annotations

import pathlib
import runpy

import numpy as np
import onnx
import pytest
import sardonyx

from language import shared_compiler, shared_evaluator
from surfaces import check

pytestmark = pytest.mark.filterwarnings("ignore")

HEADER = """\
import collections.abc
import math
import typing
from collections import namedtuple
from dataclasses import dataclass, field
from enum import Enum, IntEnum, IntFlag, StrEnum, auto
from functools import partial
from sardonyx import FLOAT, opset21 as op, script

class K:
    def m(self):
        return 1

class E(Enum):
    A = 1

class I(IntEnum):
    A = 1

class Z(Enum):
    pass

class G(IntFlag):
    R = 4
    W = 2

class S(str, Enum):
    A = "a"
    B = "bc"
    ALSO = "a"
    @property
    def short(self):
        return self.value[:1]
    def title(self):
        return self.name * 2
    def twice(self):
        return self + self.value + self[:1] * len(self)

class N(int, Enum):
    A = 3
    B = auto()
    def plus(self, other):
        return (self + other) * -self
    @property
    def is_first(self):
        return self == 3 and self is N.A

class P(StrEnum):
    A = "a"
    B = auto()

class Y:
    def __eq__(self, other):
        return True

@dataclass
class D:
    a: int
    b: list = field(default_factory=list)

T = namedtuple("T", "a b")
k = K()
d = {"a": 1, "b": 2}
xs = [1, 2, 3]

"""
X = {"x": np.zeros(1, np.float32)}

EQUAL = [
    "slice(1) == slice(1), slice(1) != slice(1), slice(1) == slice(2)",
    "slice(1, 2) in [slice(1, 2)]",
    "(slice(1, 2), 3) == (slice(1, 2), 3)",
    "d.keys() == {'a', 'b'}, {'a', 'b'} == d.keys(), d.keys() == d.keys(), d.keys() == ['a', 'b']",
    "d.keys() == dict(b=1, a=5).keys(), d.keys() != {'a'}, d.items() == {('a', 1), ('b', 2)}",
    "d.items() == {'a': 1, 'b': 2}.items(), d.values() == d.values()",
    "d.keys() <= {'a', 'b', 'c'}, {'a'} < d.keys(), d.keys() > {'a'}, d.keys() < d.keys()",
    "sorted(d.keys() & {'a'}), sorted(d.keys() | {'c'}), sorted(d.keys() - {'a'})",
    "sorted(d.items() ^ {('a', 1), ('c', 3)}), sorted({'a', 'z'} - d.keys())",
    "isinstance(1, int | str), isinstance('a', int | str), isinstance(1.0, int | str)",
    "isinstance(None, int | None), isinstance(1, typing.Optional[int])",
    "isinstance(None, typing.Optional[int]), isinstance(1, typing.Union[int, str])",
    "isinstance(1, ((str, (int,)),)), isinstance(1, ((str, (float,)),))",
    "issubclass(K, int | str), issubclass(int, object), issubclass(T, tuple), issubclass(T, int)",
    "isinstance(I.A, I), isinstance(I.A, (E, int)), isinstance(I.A, K), isinstance(I.A, E | str)",
    "isinstance(E.A, E), isinstance(E.A, (I, int)), isinstance(1, I), isinstance(I.A + 0, I)",
    "isinstance(E.A, T), isinstance(E.A, (T | set, float)), isinstance(E.A, T | E)",
    "bool(E.A), bool(I.A), bool(k), bool(K), issubclass(dict, K), issubclass(int, (I, E))",
    "issubclass(I, int), issubclass(E, int), issubclass(G, int | str), issubclass(I, (str, E))",
    "issubclass(E, Enum), issubclass(I, Enum), issubclass(I, IntEnum), issubclass(I, IntFlag)",
    "issubclass(Z, Enum), issubclass(Z, int), issubclass(K, Enum), issubclass(int, (Enum, str))",
    "isinstance(E.A, Enum), isinstance(I.A, IntEnum), isinstance(I.A, Enum), isinstance(1, Enum)",
    "isinstance(E.A, IntEnum), isinstance(k, Enum), isinstance(G.R, (IntFlag, str))",
    "S.B.value, S.B.name, S.B.short, S.B.title(), S.B.upper(), len(S.B), S.B + 'd', len(S)",
    "'%d %5.1f %x' % (N.A, N.B, N.A), '%03d' % I.A, '%s' % N.A, '%i' % G.R",
    "S.A == 'a', S.A is S.ALSO, S.A is S.B, S('bc') is S.B, S['B'] is S.B, S.A < S.B",
    "str(S.B), repr(S.B), '%s' % S.B, str(N.B), repr(N.B), N.B.name, N.B.value, N.A + 1",
    "isinstance(S.A, str), isinstance(S.A, (S, int)), isinstance(S.A, N), isinstance('a', S)",
    "isinstance(S.A, Enum), isinstance(S.A, StrEnum), issubclass(S, str), issubclass(N, int)",
    "issubclass(S, int), issubclass(S, StrEnum), issubclass(P, str), [s.name for s in S]",
    "{S.A: 1, 'bc': 2}['a'], {S.A: 1, 'bc': 2}[S.B], len({S.A, 'a', P.A}), S.A == P.A, S.A is P.A",
    "S.B.twice(), N.B.plus(2), N.A.is_first, N.B.is_first, (7).real, N.A.imag, N.A.numerator",
    "N.B.bit_length(), N.B.denominator, (5).denominator, sorted(N, key=lambda m: -m)[0] is N.B",
    "[Y()] == S.A, {'a': Y()} == 'a', [Y()] == 3, (Y(),) != None, [Y()] == N.A",
    "P.B.value, P.B.name, str(P.B), repr(P.B), f'{P.B:>3}', P.B.upper(), [p.name for p in P]",
    "hasattr(S.A, 'value'), hasattr(S.A, 'upper'), hasattr(S.A, 'shape'), hasattr(I.A, 'real')",
    "bool(E), bool(Z), not I, 'a' if E else 'b', E and 3, bool(D), bool(T)",
    "hasattr(1, 'real'), hasattr(True, 'shape'), hasattr('a', 'upper'), hasattr('a', 'up')",
    "hasattr(1.5, 'hex'), hasattr(1.5, 'numerator'), hasattr([], 'append'), hasattr((), 'append')",
    "hasattr(None, 'a'), hasattr(d, 'items'), hasattr(d, 'a'), getattr('a', 'shape', 'none')",
    "isinstance({}, collections.abc.Mapping), isinstance('a', collections.abc.Sequence)",
    "isinstance({}, collections.abc.Iterable), isinstance(1, collections.abc.Iterable)",
    "isinstance({1}, collections.abc.Sequence), isinstance(range(2), collections.abc.Sequence)",
    "int | str == str | int, (int | None) == typing.Optional[int], int | str == int | float",
    "int | (str | None) == (None | str) | int",
    "math.sin is math.sin, math.sin is math.cos, len == len, len is max, [len] == [len]",
    "xs.append == xs.append, xs.append == xs.extend, xs.append == [1, 2, 3].append",
    "range(1, 5)[1:], range(3)[::-1], range(0, 10, 3)[1:], range(10)[2:8:2][1], range(3)[5:]",
    "range(1, 5)[1:] == [2, 3, 4], isinstance(range(3)[1:], list), range(9)[::3] == range(0, 9, 3)",
    "partial(dict, a=1)(b=2), partial(dict, a=1, b=2)(c=3, a=4)",
    "hasattr(D, 'a'), hasattr(D, 'b'), hasattr(D(1), 'b'), getattr(D, 'b', 5)",
    "T(1, 2).__class__ is T, type(T(1, 2)) is T, type(T(1, 2)) is tuple",
    "(2**53 + 1) / 3, (2**60 + 1) / 7, -(2**55 + 3) / 5, 0 / -5, 10**20 / (10**19 + 1)",
    "(2**100 + 1) / 3, (2**64 - 1) / (2**63 + 1), 3**39 / 7**20, 7 / 2**100, 6 / 3",
    "(G.R | G.W) + 1, (G.R & 4) == 4, f'{G.R | G.W}', str(G.R ^ G.W), int(G.R | 8)",
    "{frozenset([1, 2]): 3}[frozenset([2, 1])], frozenset([1]) in {frozenset([1])}",
]


def text_of(body: str) -> str:
    return f"{HEADER}{body}\n"


def top_of_file(expression: str) -> str:
    return text_of(
        f"V = repr(({expression}))\n\n@script()\ndef f(x: FLOAT[1]):\n"
        "    return op.Constant(value_string=V)"
    )


def in_body(expression: str) -> str:
    return text_of(
        f"@script()\ndef f(x: FLOAT[1]):\n    return op.Constant(value_string=repr(({expression})))"
    )


@pytest.mark.parametrize("expression", EQUAL)
def test_means_what_python_says(expression: str, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "program.py"
    for text in (top_of_file(expression), in_body(expression)):
        path.write_text(text)
        answer, data = shared_compiler().compile(text, "f")
        assert answer[0] == "ok", answer
        function = runpy.run_path(str(path))["f"]
        expected = np.asarray(function(**X)).item()
        for model in (data, function.to_model_bytes()):
            got = shared_evaluator().run(onnx.load_from_string(model), X)[0].item()
            assert got == expected


# What differs between a class that Python has made and one of a file, which the compiler reads.
REFUSED = [
    ("type(E).__name__", "`type` of a class"),
    ("type(NotImplemented).__name__", "`type` of"),
    ("type(i for i in xs).__name__", "`type` of a generator"),
    ("k.m == k.m", "two bound functions"),
    ("G.R | G.W", "a member of an enumeration in `repr`"),
    ("isinstance(G.R & 4, G)", "`isinstance`"),
    ("type(G.R | G.W).__name__", "`type` of"),
    ("~(G.R | G.W)", "`~` of a member"),
    ("f'{S.A}'", "in a format"),
    ("vars()['x']", "`vars` without an argument"),
]


@pytest.mark.parametrize(("expression", "reason"), REFUSED)
def test_what_is_not_known_is_refused(expression: str, reason: str, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "program.py"
    for text in (top_of_file(expression), in_body(expression)):
        answer, _ = shared_compiler().compile(text, "f")
        assert answer[0] == "error", answer
    path.write_text(text)
    function = runpy.run_path(str(path))["f"]
    try:
        data = function.to_model_bytes()
    except sardonyx.CompileError as error:
        assert reason in str(error)
        return
    # Python can ask its own classes.
    got = shared_evaluator().run(onnx.load_from_string(data), X)[0].item()
    assert got == np.asarray(function(**X)).item()


RAISES = [
    ("sum(['a'], '')", "`sum` that starts with"),
    ("sum([b'a'], b'')", "`sum` that starts with"),
    ("{1}[0]", "a set is indexed"),
    ("frozenset([1])[0:1]", "a set is indexed"),
    ("E[0]", ""),
]


@pytest.mark.parametrize(("expression", "reason"), RAISES)
def test_what_python_raises_is_refused(
    expression: str, reason: str, tmp_path: pathlib.Path
) -> None:
    path = tmp_path / "program.py"
    for text in (top_of_file(expression), in_body(expression)):
        answer, _ = shared_compiler().compile(text, "f")
        assert answer[0] == "error", answer
    path.write_text(text)
    function = runpy.run_path(str(path))["f"]
    with pytest.raises((TypeError, KeyError)):
        function(**X)
    with pytest.raises(sardonyx.CompileError, match=reason):
        function.to_model_bytes()


HASHED = text_of(
    "class H:\n    def __hash__(self):\n        return 1\n\n"
    "@script()\ndef f(x: FLOAT[1]):\n    return x * {H(): 3.0}[H()]"
)


def test_a_class_with_a_hash_is_no_key_and_python_does_not_refuse_it(
    tmp_path: pathlib.Path,
) -> None:
    path = tmp_path / "program.py"
    path.write_text(HASHED)
    with pytest.raises(sardonyx.CompileError, match=r"defines `__hash__`.*scripts do not call it"):
        runpy.run_path(str(path))["f"].to_model_bytes()
    answer, _ = shared_compiler().compile(HASHED, "f")
    assert answer[0] == "error" and answer[1].startswith("static-error"), answer


def test_a_generator_in_a_list_is_no_list(tmp_path: pathlib.Path) -> None:
    text = text_of(
        "@script()\ndef f(x: FLOAT[1]):\n    ys = []\n    ys.append(v for v in (1, 2))\n"
        "    return x + (2.0 if isinstance(ys[0], list) else 3.0), x + float(sum(ys[0]))"
    )
    path = tmp_path / "program.py"
    path.write_text(text)
    answer, data = shared_compiler().compile(text, "f")
    assert answer[0] == "ok", answer
    for model in (data, runpy.run_path(str(path))["f"].to_model_bytes()):
        a, b = shared_evaluator().run(onnx.load_from_string(model), X)
        assert a == 3 and b == 3


MATCHED = text_of(
    'class P:\n    __match_args__ = ("a", "b")\n    def __init__(self, a, b):\n'
    "        self.a, self.b = a, b\n\n"
    "class Q(P):\n    pass\n\n"
    'class R(P):\n    __match_args__ = ("b",)\n\n'
    "@script()\ndef f(x: FLOAT[1]):\n    r = x\n"
    "    for o in (P(1, 2), Q(3, x), P([1, 2], 4), R(4, 5)):\n        match o:\n"
    "            case R(v):\n                r = r * v\n"
    "            case Q(u, v):\n                r = r + (v + 1.0) * u\n"
    "            case P(int() as u, b=w):\n                r = r + u + w\n"
    "            case P([p, q], w):\n                r = r + p * q * w\n"
    "    return r"
)


def test_patterns_by_position_of_plain_classes(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(MATCHED)
    answer, data = shared_compiler().compile(MATCHED, "f")
    assert answer[0] == "ok", answer
    function = runpy.run_path(str(path))["f"]
    assert function(**X) == 70
    for model in (data, function.to_model_bytes()):
        assert shared_evaluator().run(onnx.load_from_string(model), X)[0] == 70


# Tensors, numbers and lists leave operators to an object on their right.
RIGHT = """\
class A:
    def __init__(self, v):
        self.v = v
    def __radd__(self, o):
        return A(o + self.v)
    def __rmul__(self, o):
        return 6.0
    def __rsub__(self, o):
        return o * 2.0
    def __rmatmul__(self, o):
        return o + 3.0
    def __gt__(self, o):
        return 3.0
    def __eq__(self, o):
        return 7.0

class L:
    def __radd__(self, o):
        return [9.0]
    def __rmul__(self, o):
        return [8.0]
    def __rand__(self, o):
        return {5}
    def __iter__(self):
        return iter([5.0])

"""
OF_RIGHT = [
    "a = A(2.0)\nreturn (x + a).v, x - a, x @ a, x * (x * a), x * (x < a), x * (x == a)",
    "a = A(2.0)\nreturn x * (len(x) + a).v, x * (len(x) * a), x * (n * a), x * (n == a)",
    "t = x\nfor i in range(n):\n    t = t + (i + A(1.0)).v + (t + A(2.0)).v\nreturn t",
    (
        "xs = [1.0, 2.0]\nys = xs\nxs += L()\nzs = {'k': ys}\nzs['k'] += L()\n"
        "return x * sum(xs), len(ys), x * sum(zs['k'])"
    ),
    (
        "xs = [1.0, 2.0]\nys = xs\nxs *= L()\ns = {1}\nt = s\ns &= L()\n"
        "return x * sum(xs), len(ys), x * float(1 in t)"
    ),
]


@pytest.mark.parametrize("body", OF_RIGHT)
def test_what_is_left_to_the_right_operand(body: str, tmp_path: pathlib.Path) -> None:
    x = np.array([1.5, -2, 3], np.float32)
    check(RIGHT + "---\n" + body, python_result(RIGHT, body, x), tmp_path, x=x, n=np.int64(2))


def python_result(before: str, body: str, x: np.ndarray) -> tuple[np.ndarray, ...]:
    """What the function gives where a class, as tensors do, asks the right operand."""

    class Tensor(np.ndarray):
        __array_ufunc__ = None

    def left(name: str) -> object:
        def method(self: np.ndarray, other: object) -> object:
            if type(other).__name__ in "AL":
                return NotImplemented
            return getattr(self.view(np.ndarray), name)(np.asarray(other, self.dtype)).view(Tensor)

        return method

    for name in ("add", "sub", "mul", "matmul", "lt", "eq"):
        setattr(Tensor, f"__{name}__", left(f"__{name}__"))
    scope: dict[str, object] = {}
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    exec(f"{before}def f(x, n):\n{lines}", scope)
    result = scope["f"](x.view(Tensor), 2)  # type: ignore[operator]
    each = result if isinstance(result, tuple) else (result,)
    return tuple(np.asarray(one, np.int64 if isinstance(one, int) else np.float32) for one in each)


SLOTS = """\
class B:
    __slots__ = ("a",)
    def __init__(self):
        self.a = 3

class C(B):
    pass

class D(B):
    __slots__ = ()

@dataclass(slots=True)
class S:
    a: int = 1

def tried(b):
    b.a = 2
    try:
        b.z = 1.0
        return b.z
    except AttributeError:
        return 2.0

"""


@pytest.mark.parametrize(("kind", "expected"), [("B", 2), ("C", 1), ("D", 2), ("S", 2)])
def test_slots_forbid_other_members(kind: str, expected: int, tmp_path: pathlib.Path) -> None:
    text = text_of(SLOTS + f"@script()\ndef f(x: FLOAT[1]):\n    return x + tried({kind}())")
    path = tmp_path / "program.py"
    path.write_text(text)
    assert runpy.run_path(str(path))["f"](**X) == expected
    answer, data = shared_compiler().compile(text, "f")
    assert answer[0] == "ok", answer
    assert shared_evaluator().run(onnx.load_from_string(data), X)[0] == expected
