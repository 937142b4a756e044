"""State that calls change on every surface: members of instances, and what they hold, in branches
and loops of the graph, names of functions around, `super()`, and generators."""

from __future__ import annotations

import pathlib
import runpy
from typing import Any

import numpy as np
import pytest
import sardonyx

from language import shared_compiler
from surfaces import check, first_finding, text_of

pytestmark = pytest.mark.filterwarnings("ignore")

X = np.array([1, 2, 3], np.float32)
N, YES = np.int64(3), np.bool_(True)

BASES = """\
import functools
from dataclasses import dataclass


class Base:
    k = 2.0

    def __init__(self, w):
        super().__init__()
        self.w = w

    def f(self, v):
        return v * self.w

    @property
    def size(self):
        return self.w + 1.0

    @classmethod
    def of(cls, w):
        return cls(w)


class Middle(Base):
    def __init__(self, w, b=1.0):
        super().__init__(w)
        self.b = b

    def f(self, v):
        return super().f(v) + self.b

    @property
    def size(self):
        return super().size * 2.0

    @classmethod
    def of(cls, w):
        one = super().of(w)
        one.b = super().k
        return one


class Last(Middle):
    def __init__(self, w):
        super(Last, self).__init__(w, 3.0)

    def f(self, v):
        before = super().f
        return (lambda u: before(u) * 2.0)(v)


@dataclass
class Data:
    h: float

    def __post_init__(self):
        self.n = 1.0


@dataclass
class More(Data):
    k: float = 2.0

    def __post_init__(self):
        super().__post_init__()
        self.m = self.n + self.k


class Scale:
    def __init__(self, k):
        self.k = k

    @functools.lru_cache(maxsize=None)
    def power(self, n):
        return self.k**n

    @functools.cached_property
    def double(self):
        return self.k * 2


---
"""

DERIVED = [
    ("return Middle(x).f(x) + Last(2.0).f(x)", X * X + 1 + X * 4 + 6),
    ("return Middle(x).size + Middle.of(x).f(x)", X * 2 + 2 + X * X + 2),
    ("one = More(x)\nreturn one.h * one.m", X * 3),
    ("return x * Scale(2).power(3)", X * 8),
    ("one = Scale(x)\ny = one.double\none.k = x * 5\nreturn y + one.double", X * 4),
]

TYPED = """\
class Base:
    k = 3
    def __init__(self, v):
        self.v = v
    def again(self):
        return type(self)(self.v + 1)
    def other(self):
        return self.__class__(self.v * 2)
class Sub(Base):
    k = 5
def made(cls: type):
    return cls(3).again()
---
"""
TYPES = [
    ("return x * made(Sub).v + Sub(2).other().k", X * 4 + 5),
    ("s = Sub(2).again()\nreturn x * (len(type(s).__name__) + len(s.__class__.__name__))", X * 6),
    (
        (
            "s = Sub(2).again()\nreturn x * ((type(s) is Sub) + 2 * (type(s) is Base) + "
            "4 * (type(s) in (Sub, int)) + 8 * (type(s) == type(Sub(1))) + "
            "16 * isinstance(s, type(Base(1))))"
        ),
        X * 29,
    ),
    (
        (
            "return x * ((type(3) is int) + 2 * (type(True) is int) + 4 * (type(x.shape) is tuple)"
            " + 8 * (type(x.shape[0]) is int) + 16 * isinstance(Sub, type)"
            " + 32 * (type(Sub) is type) + "
            "64 * isinstance(int, type) + 128 * isinstance(3, type))"
        ),
        X * 125,
    ),
    (
        "return x * {int: 3, str: 4}[type('a')] + type(2.0)('1.5') + len(type([]).__name__)",
        X * 4 + 5.5,
    ),
    (
        (
            "k = list(dict.fromkeys('ba'))[0]\n"
            "return x * sum(dict.fromkeys([3, 1, 3], 2).values()) + k.count('b')"
        ),
        X * 4 + 1,
    ),
    ("d = dict.fromkeys('ab', [])\nd['a'].append(2)\nreturn x * len(d['b'])", X),
]

SUM = """\
class Sum:
    def __init__(self, total=0.0):
        self.total, self.n = total, 0

    def add(self, v):
        self.total = self.total + v
        self.n += 1
        return self.total


def add_all(one, v, n):
    for _ in range(n):
        one.add(v)


def add_one(one, v, yes):
    if yes:
        one.add(v)
        return v
    return v * 2


def counter(start):
    n = start

    def step(by):
        nonlocal n
        n = n + by
        return n

    return step


---
"""

TURN = "k, m = x, x * 2\ndef turn():\n    nonlocal k, m\n    k, m = m, k + 1\n"

CHANGED = [
    ("a = Sum(x * 0)\nfor _ in range(n):\n    a.add(x)\nreturn a.total, a.n", (X * 3, N)),
    ("a = Sum(x * 0)\nb = a\nfor _ in range(n):\n    b.total = b.total + x\nreturn a.total", X * 3),
    ("a = Sum()\na.add(x)\nadd_all(a, x, n)\nadd_all(a, x, n)\nreturn a.total", X * 7),
    (("a, b = Sum(x), Sum(x * 2)\nfor _ in range(n):\n"
      "    a.total, b.total = b.total, a.total\nreturn a.total - b.total"), X),
    ("a = Sum(x)\nwhile a.n < n:\n    a.add(x)\nreturn a.total", X * 4),
    ("a = Sum(x)\nif yes:\n    a.total = a.total * 2\nreturn a.total", X * 2),
    ("a = Sum(x)\ny = a.add(x) if yes else x\nreturn y + a.total", X * 4),
    (("a = Sum(x * 0)\nfor i in range(n):\n    for _ in range(n):\n        if i > 0:\n"
      "            a.add(x)\n    if a.n > 2:\n        break\nreturn a.total"), X * 3),
    (("cells = [Sum(x * 0), Sum(x)]\nfor _ in range(n):\n    v = x\n    for one in cells:\n"
      "        v = one.add(v)\nreturn cells[0].total + v"), X * 10),
    (("s = x * 0\ndef add(v):\n    nonlocal s\n    s = s + v\n"
      "for _ in range(n):\n    add(x)\nreturn s"), X * 3),
    (("s = x\ndef add(v):\n    nonlocal s\n    if yes:\n        s = s + v\n"
      "add(x)\nadd(1.0)\nreturn s"), X * 2 + 1),
    # What a called function changes in a branch or loop of the body is the loop's, too.
    (f"{TURN}for _ in range(n):\n    for _ in range(n):\n        turn()\nreturn k", X * 2 + 4),
    (f"{TURN}for _ in range(n):\n    if yes:\n        turn()\nreturn k", X * 2 + 1),
    ((f"{TURN}for i in range(n):\n    if i > 0:\n        for _ in range(2):\n            turn()\n"
      "return k + m"), X * 3 + 4),
    (f"{TURN}if x[0] > 5:\n    for _ in range(n):\n        k = m\n    turn()\nreturn k", X),
    ("step = counter(0)\nfor _ in range(2):\n    step(2)\nreturn x * step(1)", X * 5),
    ("step = counter(x)\nfor _ in range(n):\n    step(x)\nreturn step(1.0) + step(0.0)", X * 8 + 2),
]  # fmt: skip

# What a function changes in a branch or loop of the graph in which it returns.
RETURNED = [
    ((f"{call}def g(q):\n{changes}    if {test}:\n        {change}\n        return q\n"
      f"    {after}\n    return q * 3\nz = g(x)\nreturn z, {what}"),
     (X if test == "yes" else X * 3, seen))
    for call, changes, change, after, what, seen_yes, seen_no in (
        ("s = Sum(x)\n", "", "s.add(q)", "s.add(q * 2)", "s.total", X * 2, X * 3),
        ("t = x\n", "    nonlocal t\n", "t = t + q", "t = t - q", "t", X * 2, X * 0),
        ("d = {'a': x}\n", "", "d['a'] = q * 4", "d['a'] += 1", "d['a']", X * 4, X + 1),
        ("a = [x, x]\n", "", "a[1] = q * 4", "a[0] = q", "a[1]", X * 4, X),
    )
    for test, seen in (("yes", seen_yes), ("n > 3", seen_no))
] + [
    ("s = Sum(x)\ndef g(q):\n    return s.add(q) if yes else q\nreturn g(x) + s.total", X * 4),
    (("s = Sum(x)\ndef g(q):\n    if yes:\n        return s.add(q)\n    return q\n"
      "return g(x), s.total, s.n"), (X * 2, X * 2, np.int64(1))),
    (("s = Sum(x)\ndef g(q):\n    for i in range(n):\n        s.add(q)\n        if i == 1:\n"
      "            return q + i\n    return q\nreturn g(x), s.total"), (X + 1, X * 3)),
    (("s = Sum(x)\ndef g(q):\n    if yes:\n        if n > 1:\n            s.add(q)\n"
      "            return q\n        s.add(q * 5)\n    else:\n        s.add(q * 7)\n"
      "    q = q + 1\n    q = q + 1\n    q = q + 1\n    q = q + 1\n    return q\n"
      "return g(x), s.total"), (X, X * 2)),
    ("s = Sum(x)\nreturn add_one(s, x, yes), s.total", (X, X * 2)),
    (("d = {'a': x, 'b': x}\ndef g(q):\n    for _ in range(n):\n        d['a'] = d['a'] + q\n"
      "    d['b'] += d['a']\n    return q\nreturn g(x), d['b']"), (X, X * 5)),
    # A function inside reads what was changed before the return.
    (("def made():\n    t = x\n    def g():\n        return t\n    if yes:\n        t = t * 2\n"
      "        return g\n    return g\nreturn made()()"), X * 2),
    (("gs = []\ndef g(q):\n    t = q\n    gs.append(lambda: t)\n    if yes:\n        if n > 1:\n"
      "            t = t * 2\n            return q\n        t = q * 5\n    t = t + 1\n"
      "    t = t + 1\n    t = t + 1\n    t = t + 1\n    return q\nreturn g(x), gs[0]()"),
     (X, X * 2)),
]  # fmt: skip

HELD = """\
from dataclasses import dataclass, replace


class Log:
    def __init__(self):
        self.rows = []
        self.state = {"n": 0, "best": 0.0, "name": "log"}
        self.last = [0.0] * 2

    def add(self, v):
        self.rows.append(v)
        self.state["n"] += 1
        if v > self.state["best"]:
            self.state["best"] = v
        self.last[1] = self.last[0]
        self.last[0] = v

    def add_two(self, v):
        self.rows += [v, v]


def add_to(d, v):
    d["s"] = d["s"] + v


@dataclass
class Pair:
    h: object
    c: object = 1.0
    k: int = 0
    name: str = "pair"

    def next(self, v):
        return Pair(self.h + v, self.c * 2.0, self.k + 1)


def chosen(a, b, yes):
    if yes:
        return a
    return b


---
"""

STACKED = "op.ConcatFromSequence(one.rows, axis=0, new_axis=1)"

HELD_STATE = [
    (f"one = Log()\nfor v in x:\n    one.add(v)\nreturn {STACKED}, one.state['n']", (X, N)),
    ("one = Log()\nfor v in x:\n    one.add(v)\nreturn one.state['best'] + one.last[1]",
     np.float32(5)),
    (f"one = Log()\nfor v in x:\n    if v > 1.0:\n        one.add_two(v)\nreturn {STACKED}",
     np.float32([2, 2, 3, 3])),
    (f"one = Log()\none.add_two(x[0])\nfor v in x:\n    one.rows.append(v)\nreturn {STACKED}",
     np.float32([1, 1, 1, 2, 3])),
    ("d = {'s': x}\nfor _ in range(n):\n    add_to(d, x)\nreturn d['s']", X * 4),
    ("d = {'s': x}\nif yes:\n    add_to(d, x)\nelse:\n    add_to(d, 1.0)\nreturn d['s']", X * 2),
    (("one = Log()\nif yes:\n    one.state.update(n=x)\nelse:\n    one.state['n'] = x * 3\n"
      "return one.state['n'] * 2"), X * 2),
    (("cache = [{'s': x * 0} for _ in range(2)]\nfor _ in range(n):\n    for i in range(2):\n"
      "        add_to(cache[i], x)\nreturn cache[0]['s'] + cache[1]['s']"), X * 6),
    (("p = Pair(x)\nfirst = p\nfor _ in range(n):\n    p = p.next(x)\n"
      "return p.h + first.h, p.c, p.k"), (X * 5, np.float32(8), N)),
    (("p = Pair(x)\nbest = p\nfor i in range(n):\n    p = p.next(x)\n    if i == 1:\n"
      "        best = p\nreturn best.h, p.name == best.name"), (X * 3, YES)),
    ("p = Pair(x)\nif yes:\n    p = replace(p, h=x * 3, k=2)\nreturn p.h * p.k", X * 6),
    ("p = Pair(x)\nfor _ in range(n):\n    p.k = p.k + 1\n    p = p.next(x)\nreturn p.h * p.k",
     X * 24),
    (("one = Log()\none.pair = Pair(x)\nfor _ in range(n):\n    one.pair = one.pair.next(x)\n"
      "return one.pair.h"), X * 4),
    (("ps = [Pair(x), Pair(x)]\nfor _ in range(n):\n    ps[0] = ps[1].next(x)\n"
      "return ps[0].h + ps[1].h"), X * 3),
    ("p = Pair(x)\nsetattr(p, 'h', x * 2)\nsetattr(p, 'more', x)\nreturn p.h + p.more", X * 3),
    ("return chosen(Pair(x), Pair(x * 2), yes).h", X),
]  # fmt: skip

GENERATORS = """\
def scaled(v, n):
    for i in range(n):
        yield v * float(i)


def chunks(xs, n):
    some = []
    for one in xs:
        some.append(one)
        if len(some) == n:
            yield some
            some = []
    if some:
        yield some


def more(n):
    yield 10
    yield from chunks(range(n), 2)
    yield from (i for i in range(2))


class Net:
    def __init__(self, *ws):
        self.ws = ws

    def layers(self):
        for i, w in enumerate(self.ws):
            if i == 2:
                return
            yield float(i + 1), w


---
"""

GENERATED = [
    ("y = x\nfor r in scaled(x, 3):\n    y = y + r\nreturn y", X * 4),
    ("rows = list(scaled(x, 3))\nreturn rows[2] + sum(scaled(x, 3))", X * 5),
    ("y = x\nfor a, b in zip(scaled(x, 3), scaled(1.0, 4)):\n    y = y + a * b\nreturn y", X * 6),
    ("a, b = scaled(x, 2)\nreturn a - b", -X),
    ("return x * sum(sum(some) * 10 ** k for k, some in enumerate(chunks([1, 2, 3], 2)))", X * 33),
    ("return x * len(list(more(3))) + list(more(3))[0]", X * 5 + 10),
    ("y = x\nfor k, w in Net(x, x * 2, x).layers():\n    y = y + w * k\nreturn y", X * 6),
    (("def own():\n    for k in range(3):\n        yield x * k\ny = x\n"
      "for k in own():\n    y = y + k\nreturn y"), X * 4),
    (("y = x\nfor r in scaled(x, 5):\n    if op.ReduceSum(y, keepdims=0) > 10.0:\n        break\n"
      "    y = y + r\nreturn y"), X * 2),
]  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), DERIVED)
def test_super(body: str, expected: Any, tmp_path: pathlib.Path) -> None:
    check(BASES + body, expected, tmp_path, x=X)


@pytest.mark.parametrize(("body", "expected"), CHANGED + RETURNED)
def test_changed_in_the_graph(body: str, expected: Any, tmp_path: pathlib.Path) -> None:
    check(SUM + body, expected, tmp_path, x=X, n=N, yes=YES)


@pytest.mark.parametrize(("body", "expected"), HELD_STATE)
def test_held_in_the_graph(body: str, expected: Any, tmp_path: pathlib.Path) -> None:
    check(HELD + body, expected, tmp_path, x=X, n=N, yes=YES)


@pytest.mark.parametrize(("body", "expected"), GENERATED)
def test_generators(body: str, expected: Any, tmp_path: pathlib.Path) -> None:
    check(GENERATORS + body, expected, tmp_path, x=X)


@pytest.mark.parametrize(("body", "expected"), TYPES)
def test_types(body: str, expected: Any, tmp_path: pathlib.Path) -> None:
    check(TYPED + body, expected, tmp_path, x=X)


# What Python allows and no model can show, or not as it is.
UNTIL = """\
class Rows:
    def __init__(self, last):
        self.last, self.rows = last, [last]

def until(s, n):
    for _ in range(n):
        s.last = s.last + 1.0
        if s.last > 5.0:
            return s
    return Rows(s.last)
---
"""
PUT = "def put(t, v):\n    t[0] = 7.0\n    return v\n---\n"
PICK = "def pick(xs, ys, yes):\n    if yes:\n        return xs\n    return ys\n---\n"
REFUSED = [
    # A list that is one of two, of which the graph makes a sequence because of their lengths.
    (PICK, ("b = [x, x]\na = [x, x * 2.0]\nfor _ in range(n):\n    a.append(x)\n"
            "    a = pick(a, b, yes)\nreturn b[-1]"), "aliased-item-assignment"),
    (PICK, ("b = [x]\nif yes:\n    d = [x, x]\nelse:\n    b = [x * 2.0]\n"
            "    d = pick(b, b, n > 1)\nb[0] = x * 3.0\nreturn d[0]"), "aliased-item-assignment"),
    (PICK, ("b = [x]\nif yes:\n    d = [x, x]\nelse:\n    b = [x * 2.0]\n    d = b\n"
            "b[0] = x * 3.0\nreturn d[0]"), "aliased-item-assignment"),
    (PICK, ("d = [x]\nif yes:\n    d = [x, x]\n    b = [x]\nelse:\n    b = [x * 2.0]\n    d = b\n"
            "b[0] = x * 3.0\nreturn d[0]"), "aliased-item-assignment"),
    (UNTIL, "a = Rows(x[0])\nb = until(a, n)\nb.last = b.last * 2.0\nreturn a.last",
     "aliased-item-assignment"),
    (UNTIL, ("a = Rows(x[0])\nb = a\nfor _ in range(3):\n    for _ in range(3):\n"
             "        a.rows = b.rows\n        if a.last > 9.0:\n            break\n"
             "    b.rows.append(b.last)\n    if n > 1:\n        break\nreturn a.rows[-1]"),
     "branch-type-mismatch"),
    (UNTIL, ("a, b = Rows(x[0]), Rows(x[1])\nb.rows = a.rows\nfor _ in range(n):\n    a, b = b, a\n"
             "    b.rows[0] = b.last\nreturn a.rows[0]"), "aliased-item-assignment"),
    (UNTIL, "b = x\nif yes:\n    b = [x]\nfor _ in range(n):\n    b = x * 3.0\nreturn b",
     "branch-type-mismatch"),
    (UNTIL, "a = Rows(x[0])\nb = until(a, n)\nb.rows.append(b.last)\nreturn a.rows[-1]",
     "aliased-item-assignment"),
    (SUM, "a = Sum(x)\nfor _ in range(n):\n    a.more = x\nreturn a.total", "branch-type-mismatch"),
    ("", ("d = {'a': x}\ndef g(q):\n    for _ in range(n):\n        if yes:\n"
          "            d = {'a': q}\n            q = d['a'] * 2\n    d['a'] = q\n    return q\n"
          "return g(x)"), "unbound-name"),
    (SUM, "a = Sum(None)\nfor _ in range(n):\n    a.total = x\nreturn a.total",
     "branch-type-mismatch"),
    (SUM, "a = Sum([x])\nif yes:\n    a.total = a.total + [x]\nreturn a.total[0]",
     "branch-type-mismatch"),
    (SUM, "a = Sum(x)\nif yes:\n    a.total = op.ReduceSum(x, keepdims=0)\nreturn a.total",
     "branch-type-mismatch"),
    (SUM, ("a = Sum(x[0])\ndef body(h, v):\n    a.total = a.total + v\n    return h + v, h\n"
     "h, _ = op.Scan(x[0], x, body=body, num_scan_inputs=1)\nreturn a.total"), "static-error"),
    (HELD, "one = Log()\nrows = one.rows\nfor v in x:\n    one.add(v)\nreturn len(rows)",
     "unsupported-statement"),
    (HELD, ("one = Log()\nfor v in x:\n    one.rows.append(v)\nother = Log()\n"
            "other.rows = one.rows\none.rows.append(x[0])\nreturn len(other.rows)"),
     "aliased-item-assignment"),
    (HELD, "one = Log()\nfor v in x:\n    one.state['new'] = v\nreturn one.state['new']",
     "branch-type-mismatch"),
    (HELD, "p = Pair(x)\nq = p\nfor _ in range(n):\n    p = p.next(x)\np.k = 5\nreturn q.h * q.k",
     "aliased-item-assignment"),
    (HELD, ("p = Pair(x)\nt = p\nfor _ in range(n):\n    t = p\n    p.k += 1\n"
            "    p = p.next(x)\nreturn t.h * t.k"), "aliased-item-assignment"),
    (HELD, "a, b = Pair(x), Pair(x)\nr = chosen(a, b, yes)\na.h = x * 2\nreturn r.h",
     "aliased-item-assignment"),
    (HELD, "d = {'s': x}\nif yes:\n    add_to(d, x)\nelse:\n    d.update(s=x * 5)\nreturn d['s']",
     "branch-type-mismatch"),
    (HELD, "p = Pair(x)\nif yes:\n    p.h = x * 2\nelse:\n    p = Pair(x)\nreturn p.h",
     "branch-type-mismatch"),
    (HELD, ("p, q = Pair(x), Pair(x)\nfor _ in range(n):\n    q.h = q.h + x\n    y = p.h\n"
            "    p = q\nreturn y"), "aliased-item-assignment"),
    # What a name holds after an iteration the next one changes.
    (HELD, "p, q = Pair(x), Pair(x)\nfor _ in range(n):\n    q.h = p.h + x\n    q = p\nreturn p.h",
     "aliased-item-assignment"),
    (HELD, ("p, q = Pair(x), Pair(x)\nr = q\nfor _ in range(n):\n    p, q = q, p\n"
            "    q.h = q.h + x\nreturn p.h + r.h * 2"), "aliased-item-assignment"),
    (HELD, ("a, b = Log(), Log()\nb.rows = [x]\na.rows = [x]\nc = b.rows\nfor _ in range(n):\n"
            "    a.rows[0] = a.rows[0] + x\n    a = Log()\n    a.rows = c\nreturn b.rows[0]"),
     "aliased-item-assignment"),
    ("", "xs = [x]\nys = xs if yes else list(xs)\nxs[0] = x + 1\nreturn ys[0]",
     "aliased-item-assignment"),
    ("def either(xs, ys, yes):\n    if yes:\n        return xs\n    return ys\n---\n",
     "xs, ys = [x], [x, x]\nzs = either(xs, ys, yes)\nxs[0] = x + 1\nreturn zs[0]",
     "aliased-item-assignment"),
    ("", "xs, ys = [x], [x]\nfor _ in range(n):\n    xs[0] = xs[0] + 1\n    xs = ys\nreturn ys[0]",
     "aliased-item-assignment"),
    ("", "d, e = [[x]], [x]\nfor _ in range(n):\n    d[0][0] = x + 1\n    d[0] = e\nreturn e[0]",
     "aliased-item-assignment"),
    ("", ("d, e = {'a': x}, {'a': x * 2}\nfor _ in range(n):\n    d['a'] = d['a'] + 1\n    d = e\n"
          "return e['a']"), "aliased-item-assignment"),
    (HELD, ("a, b = Log(), Log()\na.rows = [x, x]\nb.rows = [x]\nr = a.rows if yes else b.rows\n"
            "a.rows[0] = x * 2\nreturn r[0]"), "aliased-item-assignment"),
    # One of two names becomes a sequence, and the other a list that is chosen; then both sequences.
    ("", ("xs, ys = [x], [x, x, x]\nif yes:\n    xs[0] = x + 1\nelse:\n    xs[0] = x * 5\n"
          "    ys = xs\nxs[0] = x * 3\nreturn xs[0] + 10 * ys[0]"), "aliased-item-assignment"),
    ("", ("xs, ys = [x], [x, x]\nif yes:\n    ys = xs\nif n > 5:\n    xs = [x + 1]\n"
          "xs[0] = x * 3\nreturn xs[0] + 10 * ys[0]"), "aliased-item-assignment"),
    ("", ("xs, d = [x], {'p': [x, x]}\nif yes:\n    xs = [x, x, x]\n    d = {'p': xs}\n"
          "xs.append(x * 3)\nreturn xs[-1] + 10 * d['p'][-1]"), "aliased-item-assignment"),
    # What a branch or a loop gives may be the tensor that a called function changes.
    (PUT, "a, b = x * 1, x * 2\nif yes:\n    b = a\nput(a, x)\nreturn b",
     "aliased-item-assignment"),
    (PUT, "a = x * 1\nb = a\nfor _ in range(n):\n    b = b + 1\nput(a, x)\nreturn b",
     "aliased-item-assignment"),
    (PUT, "a = x * 1\nd = {'k': a}\nif yes:\n    d['k'] = x * 3\nput(a, x)\nreturn d['k']",
     "aliased-item-assignment"),
    (PUT, "a = x * 1\nreturn put(a, a if yes else x)", "aliased-item-assignment"),
    (SUM, "k = 0\ndef one(v):\n    k = k + v\n    return k\nreturn x + one(1)", "unbound-name"),
    ("K = 2.0\ndef add(v):\n    K = K + v\n    return K\n---\n", "return add(x)", "unbound-name"),
    ("T = [0.0]\n---\n", "def one():\n    global T\n    T = 1.0\none()\nreturn x * T",
     "unsupported-statement"),
    (BASES, "class_ = Last(x)\nreturn super().f(x)", "static-error"),
    (GENERATORS, ("s = x\ndef own():\n    for _ in range(2):\n        yield s\n"
     "for r in own():\n    s = s + r\nreturn s"), "unsupported-operand"),
    (GENERATORS, ("log = []\ndef own():\n    for k in range(2):\n        log.append(k)\n"
     "        yield k\nreturn x * sum(k + len(log) for k in own())"), "unsupported-operand"),
    (GENERATORS, ("def own():\n    some = []\n    for k in range(2):\n        some.append(k)\n"
     "        yield some\nreturn x * sum(len(some) for some in own())"), "unsupported-operand"),
    (GENERATORS, ("xs = [1, 2]\ndef own(some):\n    for k in list(some):\n"
     "        yield k + len(some)\nfor k in own(xs):\n    xs.append(k)\nreturn x * len(xs)"),
     "unsupported-operand"),
    (GENERATORS, ("def own(v):\n    y = v * 1.0\n    yield y\n    yield y\n"
     "for r in own(x):\n    r[0] = r[0] + 1\n    x = x + r\nreturn x"), "aliased-item-assignment"),
    (GENERATORS, "def own():\n    for k in range(n):\n        yield k\nreturn x * sum(own())",
     "unsupported-expression"),
    (GENERATORS, "def own():\n    yield 1.0\n    return 2.0\nreturn x * sum(own())",
     "unsupported-statement"),
    (GENERATORS, "return x * more(2)[0]", "unsupported-operand"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "body", "code"), REFUSED)
def test_refused(before: str, body: str, code: str, tmp_path: pathlib.Path) -> None:
    text = text_of(before + body, True, {"x": X, "n": N, "yes": YES})
    answer, _ = shared_compiler().compile(text, "f")
    assert answer[0] == "error" and first_finding(answer).startswith(code), answer
    path = tmp_path / "program.py"
    path.write_text(text)
    with pytest.raises(sardonyx.CompileError, match=code):
        runpy.run_path(str(path))["f"].to_model_bytes()


COUNTER = """\
from sardonyx import FLOAT, opset18 as op, script
G = 0
def tick():
    global G
    G += 1
    return G
START = tick()
@script(default_opset=op)
def f(x: FLOAT["N"]):
    return x * {0}
"""


def test_a_name_of_the_file_that_a_called_function_changes(tmp_path: pathlib.Path) -> None:
    """Compiled from a file, each compilation would give another value."""
    answer, _ = shared_compiler().compile(COUNTER.format("float(tick())"), "f")
    assert answer[0] == "error" and first_finding(answer) == "unsupported-statement:4", answer
    # The file itself may call it, and functions may read the name.
    text = COUNTER.format("float(START + look())") + "def look():\n    global G\n    return G\n"
    path = tmp_path / "program.py"
    path.write_text(text)
    answer, data = shared_compiler().compile(text, "f")
    assert answer[0] == "ok", answer
    x = np.ones(2, np.float32)
    assert sardonyx.load(data)(x).tolist() == [2, 2]
    assert runpy.run_path(str(path))["f"](x).tolist() == [2, 2]
