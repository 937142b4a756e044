"""Random expressions on known values: their `repr` by CPython and on the surfaces of the compiler.

Every expression stands at the top level of a file, in the body of a script, or in a plain function
that the body calls. The three surfaces give CPython's text to the letter, or the compiler refuses
the program; what raises in Python is refused. SDX_EXPRESSIONS is how many are drawn (SDX_FULL:
10,000) from the seed that sampling.py names.
"""

from __future__ import annotations

import importlib.util
import pathlib
import random
import sys
import warnings
from typing import Any

import numpy as np
import pytest
import sardonyx
from sardonyx import Model

from language import shared_compiler
from language.drawing import draw, outcomes
from sampling import SEEDS, count

pytestmark = pytest.mark.filterwarnings("ignore")

COUNT = count("SDX_EXPRESSIONS", 600, 10000)
SHARDS = 6
X = np.zeros(1, np.float32)

HEADER = """\
from sardonyx import FLOAT, opset21 as op, script
import math
from dataclasses import dataclass
from enum import Enum

class Color(Enum):
    RED = 1
    BLUE = "b'"

@dataclass
class Pair:
    a: object
    b: object = 2.5

"""

PLACES = (
    "V = {0}\n@script()\ndef m(x: FLOAT[1]):\n    return op.Constant(value_string=repr(V))\n",
    "@script()\ndef m(x: FLOAT[1]):\n    return op.Constant(value_string=repr({0}))\n",
    (
        "def f():\n    return {0}\n"
        "@script()\ndef m(x: FLOAT[1]):\n"
        "    v = f()\n    return op.Constant(value_string=repr(v))\n"
    ),
)


class Writer:
    """An expression whose value is known, of a kind that is asked for."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.names: list[str] = []

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    def any(self, depth: int) -> str:
        kinds = (self.int, self.float, self.str, self.bool, self.list, self.tuple, self.dict)
        if self.random.random() < 0.1:
            return self.pick(
                "None",
                "Color.RED",
                "Color.BLUE",
                "...",
                "b'a\\x00\"'",
                "range(3)",
                f"Pair({self.int(0)})",
                f"Pair({self.str(0)}, b={self.float(0)})",
                "range(5, 1, -2)",
                "{1}",
                "frozenset((2,))",
                "set()",
                "int",
                "ValueError",
                "slice(1, None)",
            )
        return self.random.choice(kinds)(depth)

    def scalar(self, depth: int) -> str:
        return self.random.choice((self.int, self.float, self.str, self.bool))(depth)

    def int(self, depth: int) -> str:
        r = self.random
        if depth <= 0:
            return self.pick(
                str(r.randint(-5, 9)),
                str(r.randint(0, 3)),
                str(r.randint(-300, 300)),
                "True",
                "(2**63)",  # `2**63 ** 5` would be a number of a billion bits
                "(-2**63)",
                "2**64 - 1",
                "(10**20)",
                "-7",
                "0x1F",
                "9223372036854775807",
                *self.names,
            )
        a, b = self.int(depth - 1), self.int(depth - 1)
        small = r.randint(0, 5)
        return self.pick(
            f"({a} + {b})",
            f"({a} - {b})",
            f"({a} * {b})",
            f"({a} // {b})",
            f"({a} % {b})",
            f"({a} ** {small})",
            f"({a} << {small})",
            f"({a} >> {small})",
            f"({a} & {b})",
            f"({a} | {b})",
            f"({a} ^ {b})",
            f"(~{a})",
            f"(-{a})",
            f"abs({a})",
            f"len({self.str(depth - 1)})",
            f"len({self.list(depth - 1)})",
            f"sum({self.ints(depth)})",
            f"max({a}, {b})",
            f"min({a}, {b}, {small})",
            f"round({self.float(depth - 1)})",
            f"round({a}, {r.randint(-2, 1)})",
            f"int({self.float(depth - 1)})",
            f"int('{r.randint(0, 999)}')",
            f"int('{r.choice(['0b101', '0x1f', '-12', ' 7 ', '1_000'])}', 0)",
            f"int('{r.choice(['z', '101', '77', 'ff'])}', {r.choice([2, 8, 16, 36])})",
            f"divmod({a}, {b})[{small % 2}]",
            f"pow({a}, {small}, 7)",
            f"({a} or {b})",
            f"({a} and {b})",
            f"({a} if {self.bool(depth - 1)} else {b})",
            f"{self.str(depth - 1)}.count('a')",
            f"{self.str(depth - 1)}.find('b')",
            f"({a}).bit_length()",
            f"math.gcd({a}, {b})",
            f"math.comb({small + 3}, {small})",
            f"math.floor({self.float(depth - 1)})",
            f"math.ceil({self.float(depth - 1)})",
            f"math.isqrt(abs({a}))",
            f"math.prod({self.ints(depth)})",
            f"ord('{r.choice('aZ0 ')}')",
            f"{self.ints(depth)}[0]",
            f"{self.ints(depth)}.index({a})",
            f"math.trunc({self.float(0)})",
            f"{self.dict(depth - 1)}.get({self.scalar(0)}, {a})",
        )

    def ints(self, depth: int) -> str:
        return f"[{self.int(depth - 1)}, {self.int(0)}, {self.int(0)}]"

    def float(self, depth: int) -> str:
        r = self.random
        if depth <= 0:
            return self.pick(
                repr(r.uniform(-10, 10)),
                repr(r.uniform(-1, 1) * 10.0 ** r.randint(-320, 300)),
                repr(round(r.uniform(-9, 9), r.randint(0, 3))),
                "0.1",
                "-0.0",
                "1e16",
                "1e-5",
                "0.5",
                "1e22",
                "123456.0",
                "2.5",
                "float('inf')",
                "float('-inf')",
                "float('nan')",
                "5e-324",
                "math.pi",
                "math.e",
                "1e15",
                "9999999999999998.0",
                "0.0001",
                "100.0",
            )
        a, b, n = self.float(depth - 1), self.float(depth - 1), self.int(0)
        return self.pick(
            f"({a} + {b})",
            f"({a} - {b})",
            f"({a} * {b})",
            f"({a} / {b})",
            f"({a} // {b})",
            f"({a} % {b})",
            f"({a} + {n})",
            f"({n} / {self.int(0)})",
            f"({n} * {a})",
            f"(-{a})",
            f"abs({a})",
            f"float({n})",
            f"round({a}, {r.randint(-3, 4)})",
            f"max({a}, {n})",
            f"min({a}, {b})",
            f"sum([{a}, {b}, {n}])",
            f"math.sqrt(abs({a}))",
            f"math.fabs({a})",
            f"math.copysign({a}, {b})",
            f"math.fmod({a}, {b})",
            f"({a}) ** 2",
            f"2.0 ** {r.randint(-5, 5)}",
            f"float('{r.choice(['1e3', ' 2.5 ', '-.5', '1_0.5', 'Infinity', '-nan', '1e400'])}')",
            f"({a} if {self.bool(depth - 1)} else {b})",
            f"divmod({a}, {b})[{r.randint(0, 1)}]",
            f"({n} ** -{r.randint(1, 3)})",
            f"({a} or {b})",
            f"sum({self.ints(depth)}, {a})",
            f"math.hypot({a}, {b})" if r.random() < 0.1 else f"({a})",
        )

    def bool(self, depth: int) -> str:
        r = self.random
        if depth <= 0:
            return self.pick("True", "False")
        kind = r.choice((self.int, self.float, self.str, self.list, self.tuple))
        a, b = kind(depth - 1), kind(depth - 1)
        operator = r.choice(["<", "<=", ">", ">=", "==", "!="])
        return self.pick(
            f"({a} {operator} {b})",
            f"({a} == {self.any(depth - 1)})",
            f"({self.int(0)} {operator} {self.float(0)})",
            f"(not {self.any(depth - 1)})",
            f"bool({self.any(depth - 1)})",
            f"({self.scalar(0)} in {self.list(depth - 1)})",
            f"({self.str(0)} in {self.str(depth - 1)})",
            f"({self.scalar(0)} in {self.dict(depth - 1)})",
            f"({self.int(0)} < {self.int(0)} <= {self.float(0)})",
            f"any({self.list(depth - 1)})",
            f"all({self.list(depth - 1)})",
            f"isinstance({self.any(0)}, {r.choice(['int', 'float', 'str', '(int, str)', 'bool'])})",
            f"{self.str(depth - 1)}.startswith('a')",
            f"{self.str(depth - 1)}.isdigit()",
            f"{self.str(0)}.endswith({self.str(0)})",
            f"({self.int(0)} in range({r.randint(0, 9)}))",
            f"math.isnan({self.float(depth - 1)})",
            f"math.isinf({self.float(depth - 1)})",
            f"({{1, 2}} <= {{{self.int(0)}, 2, 1}})",
            f"({self.set()} == {self.set()})",
            f"any(v > 2 for v in {self.ints(depth)})",
            f"{self.str(0)}.is{r.choice(['alpha', 'alnum', 'upper', 'lower', 'space'])}()",
            f"math.isclose({self.float(0)}, {self.float(0)})" if r.random() < 0.2 else "True",
        )

    def set(self) -> str:
        r = self.random
        a = ", ".join(str(r.randint(0, 4)) for _ in range(r.randint(1, 3)))
        return self.pick(
            f"{{{a}}}",
            f"set([{a}])",
            f"frozenset([{a}])",
            f"({{{a}}} | {{7}})",
            f"({{{a}}} - {{1}})",
            f"{{v % 2 for v in ({a},)}}",
        )

    def spec(self, types: str) -> str:
        r = self.random
        fill = r.choice(["", "", "*", "0", "é", "."])
        align = r.choice("<>^=") if fill or r.random() < 0.3 else ""
        text = (fill if align else "") + align + r.choice(["", "", "", "+", " ", "-"])
        text += r.choice(["", "", "", "#"]) + r.choice(["", "", "0"])
        text += r.choice(["", "", str(r.randint(1, 15))]) + r.choice(["", "", "", ",", "_"])
        text += r.choice(["", "", f".{r.randint(0, 8)}"]) + r.choice(types + " ").strip()
        return text

    def str(self, depth: int) -> str:
        r = self.random
        if depth <= 0:
            return self.pick(
                "''",
                "'a'",
                "'abc'",
                "'ab ba'",
                '"it\'s"',
                "'say \"hi\"'",
                "'both \\' and \"'",
                "'tab\\tnl\\n'",
                "'back\\\\slash'",
                "'é'",
                "'日本'",
                "'\\x00\\x1b'",
                "'1234'",
                "'-7'",
                "'a,b,,c'",
                "'  pad '",
                "'Hello World'",
                "'ÀÉ'",
                "'\\xa0x'",
                "'x\\x7f'",
                "'😀'",
                "'{}'",
                "'%d'",
                "'aAbB'",
                "'ß'",
            )
        a, b, n = self.str(depth - 1), self.str(depth - 1), r.randint(-3, 4)
        width = r.randint(0, 9)
        number = self.random.choice((self.int, self.float))(depth - 1)
        is_whole = r.random() < 0.4
        whole = self.int(depth - 1)
        field = (
            f"{{({whole}):{self.spec('dboxX')}}}"
            if is_whole
            else f"{{({number}):{self.spec('eEfFgG%')}}}"
        )
        conversion = r.choice(["", "!r", "!s", "!a"])
        shown = r.choice((self.scalar, self.any))(depth - 1)
        quoted = f"f'''<{{({shown}){conversion}}}>'''"
        percent = r.choice(["%d", "%5d", "%-6d|", "%05d", "%+d", "%x", "%#x", "%o", "%i", "%X"])
        real = r.choice(
            ["%f", "%.2f", "%e", "%g", "%10.3f", "%-8.1f|", "%+.0f", "%08.2f", "%G", "% f"]
        )
        return self.pick(
            f"({a} + {b})",
            f"({a} * {r.randint(-1, 3)})",
            f"{a}[{n}:{r.randint(-3, 5)}]",
            f"{a}[::{r.choice([-1, 2, -2])}]",
            f"{a}[{n}]",
            f"{a}.upper()",
            f"{a}.lower()",
            f"{a}.strip()",
            f"{a}.lstrip('a ')",
            f"{a}.rstrip()",
            f"{a}.replace('a', {b})",
            f"{a}.replace('b', 'x', 1)",
            f"{a}.title()",
            f"{a}.capitalize()",
            f"{a}.zfill({width})",
            f"{a}.ljust({width}, '.')",
            f"{a}.rjust({width})",
            f"{a}.center({width}, '-')",
            f"{a}.join([{b}, {self.str(0)}])",
            f"{a}.removeprefix('a')",
            f"{a}.removesuffix('b')",
            f"{a}.swapcase()",
            f"str({self.any(depth - 1)})",
            f"repr({self.any(depth - 1)})",
            f"ascii({self.any(depth - 1)})",
            quoted,
            quoted,
            f"f'''{field}'''",
            f"f'''{field}'''",
            f"f'''{{({a}):{self.spec('s')}}}'''",
            f"({percent!r} % ({self.int(depth - 1)},))",
            f"({real!r} % ({number},))",
            f"('%s|%r|%a' % ({self.any(depth - 1)}, {self.any(0)}, {self.str(0)}))",
            f"('%5s|%-4s|%.1s' % ({a}, {b}, {b}))",
            f"'{{}}-{{}}'.format({self.scalar(depth - 1)}, {self.any(0)})",
            f"'{{0!r}}{{1:>6}}{{0}}'.format({self.scalar(0)}, {a})",
            f"'{{k:{self.spec('gf')}}}'.format(k={number})",
            f"format({number}, {self.spec('eg%')!r})",
            f"hex({self.int(depth - 1)})",
            f"bin({self.int(0)})",
            f"oct({self.int(0)})",
            f"chr({r.randint(32, 126)})",
            f"({a} if {self.bool(depth - 1)} else {b})",
            f"({a} or {b})",
            f"max({a}, {b})",
            f"{a}.partition('b')[{n % 3}]",
            f"'-'.join(str(v) for v in {self.list(depth - 1)})",
            f"{self.list(depth - 1)}[0]",
            f"{a}.split('a')[0]",
            "Color.BLUE.value",
            f"f'''{{({a})=}}'''",
            f"'{{{{}}}}{{:>{{}}}}'.format({a}, {width})",
            f"f'''{{({number}):{{{width}}}.{{2}}f}}'''",
            f"{a}.casefold()",
            f"{a}.expandtabs(4)",
        )

    def list(self, depth: int) -> str:
        r = self.random
        if depth <= 0:
            return self.pick(
                "[]", "[1]", "[3, 1, 2]", "['b', 'a']", "[1.5, 2]", "[True, None]", "[[1], (2,)]"
            )
        a, b = self.list(depth - 1), self.list(depth - 1)
        return self.pick(
            f"[{self.any(depth - 1)}, {self.any(0)}]",
            f"({a} + {b})",
            f"({a} * {r.randint(-1, 2)})",
            f"{a}[{r.randint(-2, 2)}:]",
            f"{a}[::-1]",
            f"{a}[{r.randint(-2, 1)}::2]",
            f"sorted({self.ints(depth)})",
            f"sorted({self.ints(depth)}, reverse=True, key=lambda v: v % 3)",
            f"list(range({r.randint(0, 4)}))",
            f"[v * 2 for v in {a}]",
            f"[v for v in {a} if v]",
            f"[*{a}, *{b}]",
            f"{self.str(depth - 1)}.split()",
            f"{self.str(depth - 1)}.split(',')",
            f"list({self.dict(depth - 1)})",
            f"list({self.dict(depth - 1)}.items())",
            f"list({self.dict(depth - 1)}.values())",
            f"list(zip({a}, {self.str(0)}))",
            f"list(enumerate({a}))",
            f"list(reversed({a}))",
            f"list(map(str, {a}))",
            f"list({self.str(0)})",
            f"sorted({self.set()})",
            f"[(i, j) for i in {a} for j in range(2) if i]",
            f"list(filter(None, {a}))",
            f"{self.str(0)}.splitlines()",
            f"[w.upper() for w in {self.str(0)}]",
            f"list({self.tuple(depth - 1)})",
            f"({a} or {b})",
            f"sorted({self.str(0)})",
            f"[(v := {self.scalar(0)}), v]",
            f"{self.str(0)}.rsplit('a', 1)",
            f"[type(v) for v in {a}]" if r.random() < 0.1 else f"{a}",
        )

    def tuple(self, depth: int) -> str:
        r = self.random
        if depth <= 0:
            return self.pick("()", "(1,)", "(1, 'a')", "(2.0, -0.0)", "((),)")
        return self.pick(
            f"({self.any(depth - 1)},)",
            f"({self.any(depth - 1)}, {self.any(0)})",
            f"({self.tuple(depth - 1)} + (0,))",
            f"tuple({self.list(depth - 1)})",
            f"{self.tuple(depth - 1)}[::-1]",
            f"divmod({self.int(0)}, {self.int(0)})",
            f"({self.tuple(0)} * {r.randint(0, 2)})",
            f"{self.str(0)}.partition('a')",
            f"(*{self.list(depth - 1)}, 1)",
            f"max({self.tuple(depth - 1)}, {self.tuple(0)})",
            f"tuple(v for v in {self.list(0)})",
        )

    def dict(self, depth: int) -> str:
        r = self.random
        if depth <= 0:
            return self.pick(
                "{}", "{'a': 1}", "{1: 'x', 2: 'y'}", "{True: 0, 1: 2, 1.0: 3}", "{(1,): [2]}"
            )
        a = self.dict(depth - 1)
        return self.pick(
            f"{{{self.scalar(0)}: {self.any(depth - 1)}, {self.scalar(0)}: {self.any(0)}}}",
            f"{{**{a}, 'k': {self.any(0)}}}",
            f"{{k: v for k, v in {a}.items()}}",
            f"dict({a}, z={self.any(0)})",
            f"({a} | {self.dict(0)})",
            f"{{i: i * i for i in range({r.randint(0, 3)})}}",
            f"dict(zip({self.list(0)[:6]!r}, {self.ints(1)}))",
            f"{{v: k for k, v in {self.dict(0)}.items()}}",
            f"dict([(1, {self.any(0)})])",
            f"{a}.copy()",
            f"dict.fromkeys({self.str(0)}, {self.scalar(0)})",
        )

    def program(self) -> tuple[str, str]:
        """An expression, and the file that shows it."""
        while True:
            expression = self.any(self.random.choice([1, 1, 2, 2, 3]))
            try:
                compile(expression, "expression", "eval")
                break
            except SyntaxError:  # quotes and backslashes in an f-string, before Python 3.12
                continue
        return expression, HEADER + self.random.choice(PLACES).format(expression)


def in_python(expression: str) -> str | None:
    """What CPython shows; None where it raises."""
    names: dict[str, Any] = {}
    exec(HEADER, names)
    names["Pair"].__qualname__ = "Pair"
    try:
        return repr(eval(expression, names))
    except (MemoryError, RecursionError):
        raise
    except Exception:
        return None


def text_of(data: bytes) -> str:
    return str(np.asarray(Model(data)(X)).item())


def compiled_in_python(path: pathlib.Path) -> str | None:
    """What the model says that is compiled from Python; None: refused, or the file fails."""
    spec = importlib.util.spec_from_file_location(f"expressions_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module
    try:
        spec.loader.exec_module(module)
        return text_of(module.m.to_model_bytes())
    except sardonyx.CompileError:
        return None
    except Exception:
        return None
    finally:
        del sys.modules[module.__name__]


def outcome(seed: int, folder: pathlib.Path) -> str:
    expression, text = Writer(seed).program()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = in_python(expression)
    path = folder / f"e{seed}.py"
    path.write_text(text)
    answer, data = shared_compiler().compile_file(path, "m", "model")
    assert answer[0] in ("ok", "error"), (answer, text)
    built = text_of(data) if answer[0] == "ok" else None
    live = compiled_in_python(path)
    for surface, got in (("command line", built), ("Python", live)):
        assert got is None or got == expected, f"{surface}: {got!r}, not {expected!r}\n{text}"
    path.unlink()
    if expected is None:
        return "raises"
    return "refused" if built is None else "equal" if live is not None else "built alone"


@pytest.mark.parametrize("shard", range(SHARDS))
def test_random_expressions(shard: int, tmp_path: pathlib.Path) -> None:
    found = outcomes(outcome, SEEDS, range(shard, COUNT, SHARDS), tmp_path)
    equal = found.count("equal")
    assert equal > 1.5 * found.count("refused"), found
    assert found.count("built alone") <= equal // 50, found


if __name__ == "__main__":
    draw(outcome, lambda seed, error: f"{str(error).splitlines()[0]} | {Writer(seed).program()[0]}")
