"""Random programs whose values are known: dataclasses that are ordered, frozen or have slots,
enumerations, containers and views of them, slices, `isinstance` with unions, formatted texts,
sorting by keys, comprehensions, match statements, generators and closures, at the top level of the
file and in the script.

Called as Python they mean what CPython says. Compiled from Python and built from the command line
they give that, or both are refused. SDX_OBJECTS is how many are drawn (SDX_FULL: 20,000) from the
seed that sampling.py names.
"""

from __future__ import annotations

import pathlib
import runpy

import numpy as np
import onnx
import pytest

from language import shared_evaluator
from language.drawing import Writer, a, built, draw, models_by_surface, outcomes
from sampling import SEEDS, count

pytestmark = pytest.mark.filterwarnings("ignore")

COUNT = count("SDX_OBJECTS", 120, 20000)
SHARDS = 2

HEAD = """\
import dataclasses
import functools
import itertools
import operator
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import NamedTuple
from sardonyx import script, FLOAT, INT64, opset21 as op
"""

CLASSES = """\
@dataclass(order=True, frozen=True)
class D:
    a: int
    b: int = 2
    def total(self):
        return self.a * 3 + self.b
@dataclass(order=True)
class M:
    s: str
    n: int = field(default=1)
    def __post_init__(self):
        self.k = self.n + 1
@dataclass({slots})
class V:
    a: int
    c: tuple = (1, 2)
class S:
    __slots__ = ("a", "b")
    def __init__(self, a, b=4):
        self.a = a
        self.b = b
    @property
    def both(self):
        return self.a + self.b
class L:
    def __init__(self, n):
        self.n = n
    def __lt__(self, other):
        return self.n % 5 < other.n % 5
    def __len__(self):
        return self.n % 4
    def __getitem__(self, i):
        return self.n + i
    def __contains__(self, q):
        return q == self.n
    def __iter__(self):
        yield self.n
        yield self.n * 2
    def __call__(self, q):
        return self.n - q
class LL(L):
    def __len__(self):
        return super().__len__() + 1
    def __eq__(self, other):
        return isinstance(other, L) and self.n == other.n
    def __bool__(self):
        return self.n > 2
class T(NamedTuple):
    p: int
    q: str = "t"
class E(Enum):
    A = 1
    B = 2
    C = "c"
class I(IntEnum):
    P = 1
    Q = 5
    R = 3
class Y(str, Enum):
    A = "u"
    B = "a-b"
    C = "K"
    def twice(self):
        return self + self.value
    @property
    def first(self):
        return self.name + self[:1]
class N(int, Enum):
    A = 2
    B = 5
    C = -1
    def plus(self, other=1):
        return self + other
    @property
    def half(self):
        return self.value // 2
def code(text):
    t = 0
    for i, one in enumerate(text):
        t = (t * 7 + ord(one) + i) % 9973
    return t
def op_axis(axis, mode="u"):
    return axis * 2 + len(mode)
def count(n):
    while n > 0:
        yield n
        n -= 1
def pick(value):
    match value:
        case D(a, b) if a > b:
            return 1
        case D(a=1):
            return 2
        case Y.A | N.B:
            return 11
        case M(s="u" | "v") | M(n=3):
            return 3
        case [first, *rest]:
            return 4 + len(rest)
        case {"k": int(n), **more}:
            return n + len(more)
        case str() | None:
            return 5
        case True | False:
            return 6
        case int(n) | float(n):
            return 7 + n % 2
        case E.A | E.C:
            return 8
        case S(a=a):
            return a
    return 9
"""

TYPES = [
    "int",
    "float",
    "str",
    "bool",
    "list",
    "tuple",
    "dict",
    "set",
    "D",
    "M",
    "V",
    "S",
    "L",
    "LL",
    "T",
    "E",
    "I",
    "Y",
    "N",
]
INSTANCES = ["D", "M", "V", "S", "L", "LL", "T", "E", "I", "Y", "N"]
KINDS = ["int", "bool", "float", "str", "ints", "strs", "tuple", "dict", "set", *INSTANCES, "many"]


SIZED = ["ints", "strs", "tuple", "dict", "set", "str", "L", "LL", "T", "Y"]
PICKED = ["D", "M", "ints", "dict", "str", "bool", "int", "E", "S", "many", "Y", "N"]


class Program(Writer):
    def __init__(self, seed: int) -> None:
        super().__init__(seed, KINDS)

    def new(self, kind: str) -> str:
        self.counter += 1
        return f"{kind[0].lower()}{self.counter}"

    def leaf(self, kind: str) -> str:
        n = self.random.randrange(-3, 7)
        m = self.random.randrange(0, 5)
        text = self.pick(["'u'", "'vw'", "''", "'a-b'", "'K'", "'x1'"])
        return {
            "int": str(n),
            "bool": self.pick(["True", "False"]),
            "float": f"{n / 4}",
            "str": text,
            "ints": self.pick(["[3, 1, 2]", f"[{n}]", "[]", f"[{n}, {m}, {n}, 4]"]),
            "strs": self.pick([f"[{text}, 'v']", f"['b', 'a', {text}]"]),
            "tuple": self.pick([f"({n}, {m})", f"({m},)", f"({n}, 2, 3)"]),
            "dict": self.pick(
                [f"{{'k': {n}, 'm': {m}}}", f"{{'k': {m}}}", f"dict(j={n}, k=1, h=3)"]
            ),
            "set": self.pick([f"{{{n}, {m}}}", "set()", f"{{1, 2, {n}}}", "frozenset([1, 2])"]),
            "D": self.pick([f"D({n})", f"D({m}, {n})", f"D(b={n}, a=1)"]),
            "M": self.pick([f"M({text})", f"M('u', {m})"]),
            "V": self.pick([f"V({n})", f"V({n}, ({m},))"]),
            "S": self.pick([f"S({n})", f"S({n}, b={m})"]),
            "L": f"L({m + 1})",
            "LL": f"LL({m})",
            "T": self.pick([f"T({n})", f"T({m}, {text})"]),
            "E": self.pick(["E.A", "E.B", "E.C"]),
            "I": self.pick(["I.P", "I.Q", "I.R"]),
            "Y": self.pick(["Y.A", "Y.B", "Y.C"]),
            "N": self.pick(["N.A", "N.B", "N.C"]),
            "many": f"[{self.pick(['D(1)', f'M({text})', '1', text, 'None', 'E.A', '2.5'])}]",
        }[kind]

    # --- Kinds ---

    def of_int(self) -> str:
        instance = self.pick(INSTANCES)
        return self.pick(
            [
                f"({a('int')} {self.pick(['+', '-', '*'])} {a('int')})",
                f"-{a('int')}",
                f"({a('int')} {self.pick(['//', '%'])} 3)",
                f"abs({a('int')})",
                f"len({a(self.pick(SIZED))})",
                f"sum({a('ints')})",
                f"max({a('ints')}, default=3)",
                f"min({a('int')}, 2)",
                f"{a('D')}.total()",
                f"{a('D')}.{self.pick(['a', 'b'])}",
                f"{a('M')}.{self.pick(['n', 'k'])}",
                f"{a('V')}.a",
                f"{a('S')}.{self.pick(['a', 'b', 'both'])}",
                f"{a('T')}.p",
                f"{a('T')}[0]",
                f"{a('I')}.value",
                f"({a('I')} + {a('int')})",
                f"{a('L')}(2)",
                f"{a('L')}[1]",
                f"list({a('LL')})[1]",
                f"code({a('str')})",
                f"pick({a(self.pick(PICKED))})",
                f"pick({a(instance)})",
                f"({a('int')} if {a('bool')} else {a('int')})",
                f"{a('dict')}.get('{self.pick(list('kmz'))}', 7)",
                f"{a('dict')}['k']",
                f"({a('ints')} + [5])[{self.pick(['0', '-1'])}]",
                f"{a('ints')}.count(1)",
                f"{a('strs')}.index('v')",
                f"sum(q * q for q in {a('ints')})",
                f"sum(1 for q in {a('ints')} if q > {a('int')})",
                f"next(iter({a('ints')}), 8)",
                f"sum(count({self.random.randrange(4)}))",
                f"len([*{a('ints')}, *{a('tuple')}])",
                f"sum({a('dict')}.values())",
                f"(lambda q: q * 2 + {a('int')})({a('int')})",
                f"functools.reduce(lambda a, b: a * 2 + b, {a('ints')}, 1)",
                f"max({a('strs')}, key=len).count('a')",
                f"({a('int')} & 6)",
                f"({a('int')} ^ 3)",
                f"int({a('float')})",
                f"round({a('float')})",
                f"int({a('bool')})",
                "int('12')",
                f"divmod({a('int')}, 3)[1]",
                f"len(sorted({a('set')}))",
                f"sum(sorted({a('set')})[:2])",
                f"min({a('D')}, {a('D')}).b",
                f"max([{a('M')}, {a('M')}]).n",
                f"sorted([{a('D')}, {a('D')}, D(1, 1)])[1].a",
                f"len(dataclasses.astuple({a('V')}))",
                f"dataclasses.replace({a('D')}, b={a('int')}).total()",
                f"sorted([{a('L')}, {a('L')}, {a('LL')}])[1].n",
                f"getattr({a('S')}, 'a')",
                f"getattr({a('M')}, 'z', 4)",
                f"sum(x.n for x in [{a('M')}])",
                f"list(E).index({a('E')})",
                f"len({a('E')}.name)",
                "sorted(I)[0].value",
                f"operator.attrgetter('a')({a('V')})",
                f"[{a('int')}, 4, 6].index(4)",
                f"len({{{a('D')}, {a('D')}}})",
                f"{{{a('D')}: 1, D(1): 5}}.get(D(1), 3)",
                f"{{{a('E')}: 4}}.get(E.A, 2)",
                f"(d9 := {a('int')}) + d9",
                f"{a('N')}.{self.pick(['value', 'half', 'real', 'plus()', 'plus(4)'])}",
                f"({a('N')} {self.pick(['+', '-', '*'])} {a('int')})",
                f"({a('int')} {self.pick(['+', '-', '*'])} {a('N')})",
                f"-{a('N')}",
                f"int({a('N')})",
                f"sum([{a('N')}, {a('N')}])",
                f"[5, 7, 8, 9, 4, 1][{a('N')}]",
                f"len(range(abs({a('N')})))",
                f"code({a('Y')})",
                f"code({a('Y')}.{self.pick(['first', 'twice()', 'value', 'upper()'])})",
                f"{a('Y')}.count('a')",
                f"list(Y).index({a('Y')})",
                f"{{{a('Y')}: 4, {a('str')}: 2}}.get({a('Y')}, 6)",
                f"{{{a('N')}: 4, {a('int')}: 2}}.get({a('N')}, 6)",
                f"len({{{a('Y')}, {a('str')}, 'u'}})",
                f"{{'u': 3, 'K': 4}}.get({a('Y')}, 1)",
                f"sorted([{a('N')}, {a('int')}])[0]",
                f"(lambda q={a('N')}: q * 2)()",
                f"(lambda q=Y.A: len(q))({a('Y')})",
                f"max(N).plus({a('int')})",
                f"[{a('N')}, {a('int')}].index({a('N')}) if False else 3",
                f"op_axis({a('N')}, {a('Y')})",
            ]
        )

    def union(self) -> str:
        return self.pick(
            [
                self.pick(TYPES),
                " | ".join(self.random.sample(TYPES, 2)),
                f"({', '.join(self.random.sample(TYPES, 2))})",
                f"{self.pick(TYPES)} | None",
                f"({self.pick(TYPES)} | {self.pick(TYPES)}, {self.pick(TYPES)})",
            ]
        )

    def of_bool(self) -> str:
        order = self.pick(["<", "<=", ">", ">=", "==", "!="])
        kind, tested = (
            self.pick(KINDS),
            self.pick([one for one in KINDS if one not in ("E", "L", "LL")]),
        )
        ordered = self.pick(["int", "float", "str", "ints", "tuple", "set", "D", "M", "T", "I"])
        same = self.pick(["==", "!=", "is", "is not"])
        return self.pick(
            [
                f"({a(ordered)} {order} {a(ordered)})",
                f"({a(ordered)} {order} {a(ordered)})",
                f"isinstance({a(kind)}, {self.union()})",
                f"isinstance({a(kind)}, {self.union()})",
                f"(not {a(tested)})",
                f"bool({a(tested)})",
                f"({a(kind)} {same} {a(kind)})",
                f"({a(kind)} {self.pick(['==', '!='])} {a(self.pick(KINDS))})",
                f"({a('int')} in {a(self.pick(['ints', 'tuple', 'set', 'L']))})",
                f"('k' not in {a('dict')})",
                f"({a('str')} in {a('str')})",
                f"any(q > 1 for q in {a('ints')})",
                f"all({a('ints')})",
                f"({a('bool')} {self.pick(['and', 'or'])} {a('bool')})",
                f"callable({a(kind)})",
                f"issubclass({self.pick(INSTANCES[:6])}, {self.pick(INSTANCES[:6])})",
                f"hasattr({a(self.pick(['D', 'M', 'V', 'S', 'L', 'LL', 'T']))}, 'a')",
                f"(type({a(kind)}) is {self.pick(TYPES)})",
                f"({a('dict')}.keys() {order} {{'k', 'm'}})",
                f"({a('E')} in [E.A, E.C])",
                f"{a('str')}.startswith('a')",
                f"{a('str')}.isupper()",
                f"({a('Y')} {self.pick(['==', '!=', '<', '>=', 'in'])} {a('str')})",
                f"({a('str')} {self.pick(['==', '<', 'in', 'not in'])} {a('Y')})",
                f"({a('N')} {order} {a(self.pick(['int', 'float', 'I', 'N', 'bool']))})",
                f"({a('Y')} in [{a('str')}, {a('Y')}])",
                f"({a('N')} in {a(self.pick(['ints', 'tuple', 'set']))})",
                f"({a('Y')} {same} {a('Y')})",
                f"({a('N')} {same} {a('N')})",
                f"({a('N')} in N)",
                f"hasattr({a(self.pick(['Y', 'N']))}, {self.pick(['first', 'half', 'upper'])!r})",
                f"hasattr({a(self.pick(['Y', 'N']))}, {self.pick(['real', 'name', 'a'])!r})",
                f"{a('Y')}.startswith({a('str')})",
                f"({a('Y')} in {{'u', 'K'}})",
                f"({a('Y')} in {a('strs')})",
                f"({a('D')} in [{a('D')}, D(1)])",
                f"({a('int')} < {a('int')} <= {a('int')})",
                f"{a('set')}.{self.pick(['issubset', 'isdisjoint', 'issuperset'])}({{1, 2, 3}})",
            ]
        )

    def of_float(self) -> str:
        return self.pick(
            [
                f"({a('float')} {self.pick(['+', '-', '*'])} {a('float')})",
                f"({a('int')} / 4)",
                f"float({a('int')})",
                f"sum([{a('float')}, 0.5])",
                f"abs({a('float')})",
                f"max({a('float')}, {a('int')})",
                "float('1.5')",
                f"({a('int')} * 0.25)",
                f"round({a('float')}, 1)",
                f"({a('float')} // 0.5)",
            ]
        )

    def of_str(self) -> str:
        # Others are shown with an address or in an order of their own.
        kind = self.pick([kind for kind in KINDS if kind not in ("S", "L", "LL", "many", "set")])
        # In a format, members of (str, Enum) depend on Python's version.
        formatted = self.pick(["int", "float", "str", "ints", "tuple", "dict", "D", "M", "T", "E"])
        return self.pick(
            [
                f"({a('str')} + {a('str')})",
                f"({a('str')} * 2)",
                f"{a('str')}[{self.pick(['::-1', '1:', ':-1', '::2'])}]",
                f"str({a('int')})",
                f"repr({a(kind)})",
                f"str({a(kind)})",
                f'''f"""{{{a(formatted)}}}"""''',
                f'''f"""{{{a("int")}:>4}}"""''',
                f'''f"""{{{a("float")}:.2f}}"""''',
                f'''f"""{{{a("int")}:03d}}|{{{a("str")}!r}}"""''',
                f"'%s-%d' % ({a('str')}, {a('int')})",
                f"'{{}} {{:x}}'.format({a(formatted)}, abs({a('int')}))",
                f"','.join({a('strs')})",
                f"{a('str')}.upper()",
                f"{a('str')}.replace('a', 'bb')",
                f"{a('str')}.strip('u')",
                f"','.join(str(q) for q in {a('ints')})",
                f"{a('M')}.s",
                f"{a('T')}.q",
                f"{a('E')}.name",
                f"{a('I')}.name",
                f"'-'.join({a('dict')})",
                f"type({a(kind)}).__name__",
                f'''f"""{{{a("D")}!r:>12}}"""''',
                f"min({a('strs')})",
                f"{a('str')}.split('-')[0]",
                f"{a('str')}.center(5, '*')",
                f"{a('str')}.partition('-')[2]",
                f"repr(sorted({a('set')}))",
                f"ascii({a('str')})",
                f'''f"""{{{a("int")}=}}"""''',
                f"({a('str')} or 'none')",
                f"''.join(sorted({a('str')}))",
                f"str({a('dict')})",
                f'''f"""{{{a("float")}}}"""''',
                f'''f"""{{{a("float")}:g}}"""''',
                f'''f"""{{{a("I")}}}{{{a("I")}:d}}"""''',
                f"repr([{a(kind)}, {a(kind)}])",
                f"repr(({a(kind)},))",
                f"({a('Y')} + {a('str')})",
                f"({a('str')} + {a('Y')})",
                f"({a('Y')} * {a('N')})",
                f"{a('Y')}.{self.pick(['value', 'name', 'first', 'twice()'])}",
                f"{a('Y')}.{self.pick(['upper()', 'lower()', 'title()'])}",
                f"{a('Y')}[{self.pick(['::-1', '1:', ':-1', '-1', '0'])}]",
                f"{a('Y')}.replace({a('Y')}, {a('str')})",
                f"{a('str')}.join([{a('Y')}, {a('str')}])",
                "'-'.join(Y)",
                f'''f"""{{{a("Y")}!r}}|{{{a("N")}!s}}"""''',
                f'''f"""{{{a("Y")}.value}}:{{{a("N")}.value:>3}}"""''',
                f"'%s|%r' % ({a('Y')}, {a('N')})",
                f"'%s|%d' % ({a('Y')}.value, {a('N')})",
                f"str({a('Y')} or 'none')",
                f"max({a('Y')}.value, {a('str')})",
                f"min([{a('Y')}, 'b', {a('Y')}], key=len)[:1]",
                f"''.join(sorted({a('Y')}))",
                f"{a('N')}.name",
                f"{{{a('N')}: 'p', {a('int')}: 'q'}}.get({a('int')}, 'r')",
                f"repr({{{a('Y')}: {a('N')}}})",
                f"getattr({a('Y')}, {self.pick(['name', 'value', 'first'])!r})",
            ]
        )

    def of_ints(self) -> str:
        part = self.pick(["1:", ":-1", "::-1", "::2", "-2:", "1:3"])
        return self.pick(
            [
                f"({a('ints')} + {a('ints')})",
                f"{a('ints')}[{part}]",
                f"sorted({a('ints')})",
                f"sorted({a('ints')}, reverse=True)",
                f"sorted({a('ints')}, key=lambda q: -q)",
                f"[q + 1 for q in {a('ints')}]",
                f"[q for q in {a('ints')} if q % 2]",
                f"[len(q) for q in {a('strs')}]",
                f"list({a('tuple')})",
                f"list(range({a('int')} % 5))",
                f"list({a('dict')}.values())",
                f"list(map(abs, {a('ints')}))",
                f"list({a('L')})",
                f"[a * b for a, b in zip({a('ints')}, {a('tuple')})]",
                f"list(reversed({a('ints')}))",
                f"[i for i, q in enumerate({a('ints')}, 1) if q]",
                f"sorted({a('set')})",
                f"list(filter(lambda q: q > 1, {a('ints')}))",
                "list(count(3))",
                f"[*{a('tuple')}, 1]",
                f"[x.a for x in sorted([{a('D')}, {a('D')}])]",
                f"list({a('T')})[:1]",
                "[x.value for x in I]",
                f"list(itertools.accumulate({a('ints')}))",
                f"list(itertools.chain({a('ints')}, {a('tuple')}))",
                f"list(dataclasses.astuple({a('D')}))",
                f"list(itertools.takewhile(lambda q: q < 3, {a('ints')}))",
                f"({a('ints')} * 2)",
                f"[a + b for a in {a('ints')} for b in {a('tuple')}]",
                f"list(dict.fromkeys({a('ints')}))",
                f"[*map(lambda a, b: a - b, {a('ints')}, {a('tuple')})]",
                f"sorted({a('ints')}, key=lambda q: (q % 2, -q))",
            ]
        )

    def of_strs(self) -> str:
        return self.pick(
            [
                f"sorted({a('strs')}, key=len)",
                f"[q + 'a' for q in {a('strs')}]",
                f"({a('strs')} + ['v'])",
                f"[*{a('dict')}, 'v']",
                f"sorted({a('dict')}.keys()) + ['v']",
                "[x.name for x in E] + ['v']",
                "'u v'.split()",
                f"list({a('str')}) + ['v']",
                f"sorted({a('strs')}, key=lambda q: (len(q), q))",
                "[f.name for f in dataclasses.fields(D)] + ['v']",
                f"[str(q) for q in {a('ints')}] + ['v']",
                f"sorted({a('strs')}, key=str.upper)",
                f"[q.q for q in sorted([{a('T')}, {a('T')}])] + ['v']",
            ]
        )

    def of_tuple(self) -> str:
        return self.pick(
            [
                f"({a('tuple')} + (1,))",
                f"{a('tuple')}[::-1]",
                f"tuple({a('ints')})",
                f"{a('V')}.c",
                f"({a('int')}, {a('int')})",
                f"tuple(q * 2 for q in {a('ints')})",
                f"divmod({a('int')}, 4)",
                f"dataclasses.astuple({a('D')})",
                f"tuple(sorted({a('tuple')}))",
            ]
        )

    def of_dict(self) -> str:
        return self.pick(
            [
                f"{{**{a('dict')}, 'k': {a('int')}}}",
                f"({a('dict')} | {{'k': 1, 'z': 3}})",
                f"dict({a('dict')})",
                f"{{q: i for i, q in enumerate(['k', *{a('strs')}])}}",
                f"{{k: v + 1 for k, v in {a('dict')}.items()}}",
                f"dict(zip(['k', 'm'], [{a('int')}, 2]))",
                f"dict(sorted({a('dict')}.items(), key=lambda p: p[1]))",
                f"{{'k': {a('int')}, **dataclasses.asdict({a('D')})}}",
                f"{{'k': 1, **{a('T')}._asdict(), 'q': 2}}",
            ]
        )

    def of_set(self) -> str:
        return self.pick(
            [
                f"({a('set')} {self.pick(['|', '&', '-', '^'])} {a('set')})",
                f"set({a('ints')})",
                f"{{q % 3 for q in {a('ints')}}}",
                f"frozenset({a('tuple')})",
                f"set({a('dict')}.values())",
                f"{a('set')}.union({a('ints')})",
            ]
        )

    def of_D(self) -> str:
        return self.pick(
            [
                f"D({a('int')}, {a('int')})",
                f"dataclasses.replace({a('D')}, a={a('int')})",
                f"min({a('D')}, {a('D')})",
                f"max([{a('D')}, D(2)], key=lambda q: q.b)",
                f"sorted([{a('D')}, {a('D')}], reverse=True)[0]",
            ]
        )

    def of_M(self) -> str:
        return self.pick(
            [
                f"M({a('str')}, {a('int')})",
                f"M(s={a('str')})",
                f"max({a('M')}, {a('M')})",
                f"dataclasses.replace({a('M')}, n={a('int')})",
            ]
        )

    def of_V(self) -> str:
        return self.pick([f"V({self.of('int')}, {self.of('tuple')})", f"V(a={self.of('int')})"])

    def of_S(self) -> str:
        return f"S({self.of('int')}, {self.of('int')})"

    def of_L(self) -> str:
        return self.pick(
            [
                f"L({self.of('int')})",
                f"LL({self.of('int')})",
                f"min({self.of('L')}, {self.of('L')})",
            ]
        )

    def of_LL(self) -> str:
        return f"LL({self.of('int')})"

    def of_T(self) -> str:
        return self.pick(
            [
                f"T({a('int')}, {a('str')})",
                f"T(p={a('int')})",
                f"{a('T')}._replace(p={a('int')})",
                f"min({a('T')}, {a('T')})",
                f"T(*({a('int')},))",
            ]
        )

    def of_E(self) -> str:
        return self.pick(
            [
                f"E({self.pick(['1', '2', chr(39) + 'c' + chr(39)])})",
                f"E[{self.of('E')}.name]",
                f"list(E)[{self.random.randrange(3)}]",
            ]
        )

    def of_I(self) -> str:
        return self.pick(
            [f"I({self.pick(['1', '5', '3'])})", f"max({self.of('I')}, {self.of('I')})", "I['Q']"]
        )

    def of_Y(self) -> str:
        return self.pick(
            [
                f"Y({self.pick(['u', 'a-b', 'K'])!r})",
                f"Y[{a('Y')}.name]",
                f"Y({a('Y')})",
                f"list(Y)[{self.random.randrange(3)}]",
                f"max({a('Y')}, {a('Y')})",
                f"sorted([{a('Y')}, {a('Y')}], key=lambda q: q.name)[0]",
                f"({a('Y')} if {a('bool')} else {a('Y')})",
                f"{{'b': {a('Y')}}}['b']",
                f"[q for q in Y if q >= {a('Y')}][0]",
            ]
        )

    def of_N(self) -> str:
        return self.pick(
            [
                f"N({self.pick(['2', '5', '-1'])})",
                f"N({a('N')}.value)",
                f"min({a('N')}, {a('N')})",
                f"sorted(N)[{self.random.randrange(3)}]",
                f"({a('N')} or {a('N')})",
                f"[q for q in N if q.name != {self.pick('ABC')!r}][-1]",
                f"getattr(N, {self.pick('ABC')!r})",
                f"{{{a('Y')}: {a('N')}}}.get({a('Y')}, N.A)",
            ]
        )

    def of_many(self) -> str:
        kinds = [self.pick(KINDS) for _ in range(self.random.randrange(1, 3))]
        return "[" + ", ".join(self.of(kind) for kind in kinds) + "]"

    # --- Statements ---

    def observe(self, kind: str, value: str) -> str:
        """An int of a value."""
        forms = {
            "int": ["{}"],
            "bool": ["int({})"],
            "float": ["int({} * 8)"],
            "str": ["code({})"],
            "ints": ["len({}) + sum({})", "code(str({}))"],
            "strs": ["code('|'.join({}))"],
            "tuple": ["sum({}) * 2 + len({})"],
            "dict": ["sum({}.values()) + code(','.join({}))"],
            "set": ["sum({}) + len({})"],
            "D": ["{}.a * 5 + {}.b", "code(repr({}))"],
            "M": ["{}.k + code({}.s)"],
            "V": ["{}.a + sum({}.c)"],
            "S": ["{}.both + {}.a"],
            "L": ["{}.n + len({})"],
            "LL": ["{}.n + len({})"],
            "T": ["{}.p + code({}.q)"],
            "E": ["code(str({}))", "code({}.name)"],
            "I": ["{} * 3"],
            "Y": ["code({}) + len({}.first)", "code({}.twice())", "code(str({}))"],
            "N": ["{} * 3", "{}.plus({}.half)", "code(repr({}))"],
            "many": ["pick({})"],
        }
        form = self.pick(forms[kind])
        return form.replace("{}", value)

    def statement(self, indent: str = "") -> list[str]:
        made: list[tuple[str, str]] = []  # names and their kinds
        lines = [self.filled(line) for line in self.form(indent, made)]
        for name, kind in made:
            self.names[kind].append(name)
        return lines

    def form(self, indent: str, made: list[tuple[str, str]]) -> list[str]:
        kind = self.random.randrange(16)
        if kind == 0 and self.names["ints"]:
            name = self.pick(self.names["ints"])
            return [
                indent
                + self.pick(
                    [
                        f"{name}.append({a('int')})",
                        f"{name}.extend({a('ints')})",
                        f"{name}.sort()",
                        f"{name}[:1] = [{a('int')}, 2]",
                        f"{name} += [{a('int')}]",
                        f"{name}.reverse()",
                        f"{name}.insert(1, {a('int')})",
                        f"del {name}[:1]",
                        f"{name}.sort(key=lambda q: -q)",
                    ]
                )
            ]
        if kind == 1 and self.names["dict"]:
            name = self.pick(self.names["dict"])
            return [
                indent
                + self.pick(
                    [
                        f"{name}['k'] = {a('int')}",
                        f"{name}.update(m={a('int')})",
                        f"{name}.setdefault('z', 4)",
                        f"{name}.pop('m', None)",
                        f"{name} |= {{'w': {a('int')}}}",
                    ]
                )
            ]
        if kind == 2 and self.names["M"]:
            return [indent + f"{self.pick(self.names['M'])}.{self.pick(['n', 'k'])} = {a('int')}"]
        if kind == 3 and self.names["S"]:
            return [
                indent
                + f"{self.pick(self.names['S'])}.{self.pick(['a = ', 'b = ', 'a += '])}{a('int')}"
            ]
        if kind == 4:
            name = self.new("int")
            lines = [
                f"{indent}{name} = 0",
                f"{indent}for q in {a(self.pick(['ints', 'tuple', 'L', 'LL']))}:",
                f"{indent}    if q == {a('int')}:",
                f"{indent}        {self.pick(['break', 'continue'])}",
                f"{indent}    {name} += q",
            ]
            made.append((name, "int"))
            return lines
        if kind == 5:
            name = self.new("int")
            error = self.pick(
                ["KeyError", "ValueError", "(IndexError, ZeroDivisionError)", "AttributeError"]
            )
            risky = self.pick(
                [
                    f"{a('dict')}['m']",
                    f"{a('ints')}[1]",
                    f"6 // {a('int')}",
                    f"int({a('str')})",
                    f"E({a('int')}).value",
                    f"{a('S')}.b",
                    f"{a('ints')}.index(4)",
                ]
            )
            lines = [
                f"{indent}try:",
                f"{indent}    {name} = {risky}",
                f"{indent}except {error}:",
                f"{indent}    {name} = 3",
            ]
            made.append((name, "int"))
            return lines
        if kind == 6:
            name = self.new("int")
            lines = [
                f"{indent}{name} = {a('int')}",
                f"{indent}if {a('bool')}:",
                f"{indent}    {name} = {a('int')}",
            ]
            if self.random.random() < 0.4:
                lines += [f"{indent}elif {a('bool')}:", f"{indent}    {name} -= 1"]
            made.append((name, "int"))
            return lines
        if kind == 7:
            name, body = self.new("int"), a("int")
            more = self.pick(["", ", 1", ", w=2", ", *[1, 2]"])
            lines = [
                f"{indent}def h{self.counter}(q, *more, w={a('int')}):",
                f"{indent}    return q * 2 + w + len(more) + {body}",
                f"{indent}{name} = h{self.counter}({a('int')}{more})",
            ]
            made.append((name, "int"))
            return lines
        if kind == 8:
            first, rest = self.new("int"), self.new("ints")
            lines = [f"{indent}{first}, *{rest} = [{a('int')}, *{a('ints')}]"]
            made.append((first, "int"))
            made.append((rest, "ints"))
            return lines
        chosen = self.pick(KINDS)
        name = self.new(chosen)
        lines = [f"{indent}{name} = {a(chosen)}"]
        made.append((name, chosen))
        return lines

    def observations(self, indent: str) -> list[str]:
        lines = []
        for kind, names in self.names.items():
            for name in names:
                lines.append(f"{indent}t = (t * 3 + {self.observe(kind, name)}) % 9973")
        self.random.shuffle(lines)
        return lines

    def program(self) -> str:
        lines: list[str] = []
        kinds = [
            "",
            "slots=True",
            "frozen=True",
            "eq=False",
            "frozen=True, slots=True",
            "kw_only=False",
        ]
        head = CLASSES.replace("{slots}", self.pick(kinds))
        for _ in range(self.random.randrange(0, 4)):
            lines += self.statement()
        body = ["@script(default_opset=op)", 'def f(x: FLOAT["N"], n: INT64) -> FLOAT["N"]:']
        # The file's lists and objects are not changed by the script.
        held = {kind: list(names) for kind, names in self.names.items()}
        for kind in ("ints", "dict", "M", "S"):
            self.names[kind] = []
        body.append("    t = 0")
        for _ in range(self.random.randrange(0, 4)):
            body += self.statement("    ")
        for kind in ("ints", "dict", "M", "S"):
            self.names[kind] = held[kind] + self.names[kind]
        body += self.observations("    ")
        body.append("    return x + t")
        return HEAD + head + "\n".join([*lines, *body]) + "\n"


def outcome(seed: int, folder: pathlib.Path) -> str:
    text = Program(seed).program()
    path = folder / f"o{seed}.py"
    path.write_text(text)
    shown = text[len(HEAD) :]
    shown = shown[shown.index("    return 9\n") + 13 :]
    program = built(text)
    try:
        function = runpy.run_path(str(path))["f"]
    except Exception:  # at the top level, at a statement that the command line may leave out
        return "raises"
    inputs = {"x": np.array([1, 2], np.float32), "n": np.asarray(np.int64(2))}
    raised = None
    try:
        expected = function(**inputs)
    except Exception as error:
        raised = error
    models = models_by_surface(program, function, shown)
    if not models:
        return "raises in the script" if raised else "refused"
    assert raised is None, f"only CPython refuses: {raised!r}\n{shown}"
    for surface, model in models.items():
        got = shared_evaluator().run(onnx.load_from_string(model), inputs)[0]
        assert np.array_equal(got, expected), f"{surface}: {got}, not {expected}\n{shown}"
    return "equal"


@pytest.mark.parametrize("shard", range(SHARDS))
def test_random_objects(shard: int, tmp_path: pathlib.Path) -> None:
    found = outcomes(outcome, SEEDS, range(shard, COUNT, SHARDS), tmp_path)
    assert found.count("equal") > len(found) // 8, found


if __name__ == "__main__":
    draw(outcome, lambda _, error: str(error)[:3000])
