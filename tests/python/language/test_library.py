"""Functions and methods of Python's library that the compiler computes: what CPython says, on all
surfaces."""

from __future__ import annotations

import math
import pathlib
import re
import runpy
from typing import Any

import numpy as np
import pytest
import sardonyx

from language import shared_compiler
from surfaces import check, text_of

X = np.array([1.0, 2.5, -3.0])

EXPRESSIONS = [
    "math.gcd(12, -18) + math.gcd() + math.gcd(7) + math.gcd(2**100, 6)",
    "math.lcm(4, 6, 10) + math.lcm() + math.lcm(0, 3)",
    "math.comb(52, 5) + math.comb(3, 4) + math.comb(100, 97)",
    "math.perm(10, 3) + math.perm(5) + math.perm(2, 3)",
    "math.factorial(20) // 10**15 + math.factorial(0)",
    "math.isqrt(10**18 + 5) + math.isqrt(0) + math.isqrt(2**120 + 1) // 2**50",
    "pow(7, 130, 1000) + pow(-7, 3, 11) + pow(7, 3, -11) + pow(3, 0, 1) + pow(2, 9)",
    "math.pow(2, 3) / 2 + math.pow(2, -1)",
    "math.log(8, 2) + math.log(10)",
    "math.atan2(1, -2) + math.copysign(2, -0.0) + math.fmod(-7, 3)",
    "math.degrees(1.0) + math.radians(90) + math.asinh(2) + math.acosh(2) + math.atanh(0.5)",
    "math.isnan(math.nan) * 4 + math.isinf(math.inf) * 2 + math.isfinite(1)",
    "(255).bit_length() + (-256).bit_length() + (0).bit_length() + (2.5).is_integer()",
    "len({1, 2} | {2, 3}) + len({1, 2}.union([2, 3], (4,))) + len({1, 2}.difference([2]))",
    "{1, 2}.issubset([1, 2, 3]) * 4 + {1, 2}.issuperset({3}) * 2 + {1}.isdisjoint((2,))",
    "len({1, 2}.symmetric_difference([2, 3, 3])) + len(frozenset([1]).union({2}))",
    "'abcabc'.rfind('b') + 'abcabc'.index('c') + 'abc'.rfind('x') + 'añc'.rindex('c')",
    "len('a=b=c'.partition('=')[2]) * 4 + len('a=b=c'.rpartition('=')[0])",
    "len('abc'.partition('x')[0]) * 4 + len('abc'.rpartition('x')[2])",
    "'ab1'.isalnum() * 4 + 'ab1'.isalpha() * 2 + 'ab'.isalpha() + ''.isalnum()",
    "next(iter([5, 6])) + next(iter({'a': 7}.values())) + next(iter([]), 4)",
    "next(k for k in range(10) if k * k > 10) + next(zip([8], [9]))[1]",
]

BODIES = [
    ("s = {1}\ns.add(2)\ns.add(2)\ns.discard(7)\nt = s\nt.update([5, 6], (7,))\n", "len(s)"),
    ("s = set()\nfor k in range(5):\n    s.add(k % 3)\ns.remove(0)\n", "sum(sorted(s))"),
    ("s = {1, 2, 3}\nu = s.copy()\nu.intersection_update([2, 3, 4])\ns.difference_update(u)\n",
     "sum(sorted(s)) * 10 + sum(sorted(u))"),
    ("s = {1, 2}\ns.symmetric_difference_update({2, 3})\ns2 = s | set()\ns.clear()\n",
     "sum(sorted(s2)) + len(s)"),
    ("d = {'a': 1}\nd.update(b=2)\nd.update([('c', 3)], a=4)\nk, v = d.popitem()\n",
     "sum(d.values()) * 10 + v"),
    ("d = {'a': 1}\ne = d\nd.clear()\n", "len(e)"),
    ("def put(s, k):\n    s.add(k)\n    return len(s)\ns = {1}\nn = put(s, 2) + put(s, 3)\n",
     "n * 10 + len(s)"),
]  # fmt: skip


FROM = "from collections import Counter, OrderedDict, defaultdict\n"
FLAGS = """from enum import IntFlag, auto
class Mode(IntFlag):
    READ = auto()
    WRITE = auto()
    RUN = auto()
    FAST = 7
---
"""
GROUPS = """words = defaultdict(list)
for w in ["b", "a", "bc", "d"]:
    words[len(w)].append(w)
many = Counter(w[0] for w in ["b", "a", "bc", "d"])
---
"""

# Dicts of `collections`, and flags, over x = X.
COLLECTIONS: list[tuple[str, Any]] = [
    (("d = defaultdict(list)\nfor i in range(5):\n    d[i % 2].append(x * i)\n"
     "return sum(d[0]) + len(d[1]) * 10 + len(d)"), X * 6 + 22),
    (("d = defaultdict(lambda: x * 2)\ny = d['a'] + d['b']\nd['a'] += 1\n"
     "return y + d['a'] + len(d) + ('c' in d)"), X * 6 + 3),
    (("d = defaultdict(int, {'a': 3}, b=4)\nd['c'] -= 1\ne = d.copy()\ne['z']\n"
     "return x * (d['a'] + d['b'] + d['c']) + len(d) * 10 + len(e)"), X * 6 + 34),
    (("d = defaultdict(lambda: defaultdict(int))\nd['a']['u'] += 2\nd['a']['v'] += 3\n"
     "return x * sum(d['a'].values()) + len(d['q']) + len(d)"), X * 5 + 2),
    (("d = defaultdict(list)\nreturn x * len(d.get('a', [1, 2])) + len(d) + isinstance(d, dict) + "
     "isinstance(d, defaultdict) + (d == {})"), X * 2 + 3),
    ("d = defaultdict(int)\nd['a'] = 1\nd |= {'b': 2}\nreturn x * sum(d.values()) + d['q']", X * 3),
    (("k = Counter('abracadabra')\nreturn x * k['a'] + k['zz'] + len(k) * 10 + "
     "k.most_common(2)[1][1]"), X * 5 + 52),
    (("k = Counter([1, 1, 2], u=3) if False else Counter([1, 1, 2])\nk.update([2, 3])\n"
     "k.subtract([1])\nk[3] += 4\nreturn x * k[1] + k[2] * 10 + k[3] * 100 + k.total()"),
     X + 20 + 500 + 8),
    (("a, b = Counter(u=3, v=1), Counter(u=1, w=2)\nc, d, e, f = a + b, a - b, a & b, a | b\n"
     "return x * c['u'] + d['u'] * 10 + len(d) * 100 + e['u'] * 1000 + f['w'] * 10000"),
     X * 4 + 20 + 200 + 1000 + 20000),
    ("return x * (Counter(a=1, b=0) == Counter(a=1)) + (Counter(a=1) == Counter(a=2))", X),
    (("k = Counter({'a': 2})\nreturn x * len(k + Counter()) + (k == {'a': 2}) + "
     "isinstance(k, Counter)"), X + 2),
    (GROUPS + "return x * len(words[1]) + many['b'] + sum(len(v) for v in words.values())",
     X * 3 + 2 + 4),
    (FLAGS + "m = Mode.READ | Mode.RUN\nreturn x * m + (4 if m & Mode.RUN else 0) + "
     "(8 if m & Mode.WRITE else 0) + (Mode.FAST ^ m) * 100 + len(list(Mode))", X * 5 + 4 + 200 + 3),
]  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), COLLECTIONS)
def test_collections_are_cpythons(body: str, expected: Any, tmp_path: pathlib.Path) -> None:
    check(FROM + body if "---" in body else FROM + "---\n" + body, expected, tmp_path, x=X)


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_expressions_are_cpythons(text: str, tmp_path: pathlib.Path) -> None:
    expected = X * float(eval(text, {"math": math}))
    check(f"return x * float({text})", expected, tmp_path, x=X)


@pytest.mark.parametrize(("body", "text"), BODIES, ids=[row[1] for row in BODIES])
def test_bodies_are_cpythons(body: str, text: str, tmp_path: pathlib.Path) -> None:
    names: dict[str, Any] = {}
    exec(body, names)
    expected = X * float(eval(text, names))
    check(f"{body}return x * float({text})", expected, tmp_path, x=X)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("math.exp(1000)", "too large"),
        ("math.log(0)", "outside its domain"),
        ("math.pow(0, -1)", "outside its domain"),
        ("math.atanh(1)", "outside its domain"),
        ("math.gcd(2.0, 4)", "`math.gcd` of a float"),
        ("math.comb(-1, 2)", "negative"),
        ("pow(2, 3, 0)", "modulus 0"),
        ("next([1])", "`next` of a list"),
        ("next({'a': 1}.keys())", "`next` of"),
        ("next(iter([]))", "without items"),
        ("'abc'.index('x')", "not in the text"),
        ("{1}.remove(2)", "no item 2"),
        ("{1}.pop()", "no order"),
        ("frozenset([1]).add(2)", "has no member `add`"),
        ("np.erf(0.5)", "`erf`"),
        ("len(f'{Counter([1])}')", "`Counter`"),
        ("defaultdict(None)['a']", "no key"),
        ("DEFAULTS['a']", "of the module is changed"),
        ("Counter(['a']) | {'b': 1}", "between"),
        ("~Mode.A", "`~` of a member"),
    ],
)
def test_what_python_refuses_or_may_order_otherwise(
    text: str, message: str, tmp_path: pathlib.Path
) -> None:
    before = (
        f"import enum\n{FROM}DEFAULTS = defaultdict(int)\n"
        "class Mode(enum.IntFlag):\n    A = 1\n---\n"
    )
    refused(f"{before}return x * float({text})", message, tmp_path, x=X)


def test_a_set_is_not_changed_in_the_graph(tmp_path: pathlib.Path) -> None:
    body = "s = {1}\nfor i in range(n):\n    s.add(2)\nreturn x * float(len(s))"
    message = "a set is changed inside a loop"
    refused(body, message, tmp_path, x=X, n=np.asarray(np.int64(2)))


def test_a_default_is_not_put_in_in_the_graph(tmp_path: pathlib.Path) -> None:
    body = "d = defaultdict(int)\nif x[0] > 0:\n    x = x + d['a']\nreturn x * float(len(d))"
    refused(f"{FROM}---\n{body}", "a dict is changed inside a loop or branch", tmp_path, x=X)


def refused(body: str, message: str, folder: pathlib.Path, **inputs: Any) -> None:
    program = text_of(body, False, inputs)
    answer, _ = shared_compiler().compile(program, "f")
    assert answer[0] == "error", answer
    path = folder / "program.py"
    path.write_text(program)
    with pytest.raises(sardonyx.CompileError, match=re.escape(message)):
        runpy.run_path(str(path))["f"].to_model_bytes()
