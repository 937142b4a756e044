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
    ],
)
def test_what_python_refuses_or_may_order_otherwise(
    text: str, message: str, tmp_path: pathlib.Path
) -> None:
    refused(f"return x * float({text})", message, tmp_path, x=X)


def test_a_set_is_not_changed_in_the_graph(tmp_path: pathlib.Path) -> None:
    body = "s = {1}\nfor i in range(n):\n    s.add(2)\nreturn x * float(len(s))"
    message = "a set is changed inside a loop"
    refused(body, message, tmp_path, x=X, n=np.asarray(np.int64(2)))


def refused(body: str, message: str, folder: pathlib.Path, **inputs: Any) -> None:
    program = text_of(body, False, inputs)
    answer, _ = shared_compiler().compile(program, "f")
    assert answer[0] == "error", answer
    path = folder / "program.py"
    path.write_text(program)
    with pytest.raises(sardonyx.CompileError, match=re.escape(message)):
        runpy.run_path(str(path))["f"].to_model_bytes()
