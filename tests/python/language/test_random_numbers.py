"""Random programs on numbers that are taken from tensors, in Python's arithmetic and control flow:
`float(x[0])`, `int(n)`, `len(x)`.

CPython runs them on NumPy's arrays, which says what they mean. Called as Python, compiled from
Python and built from the command line, with static and with named sizes, they give that, or they
are refused. SDX_NUMBERS is how many are drawn (SDX_FULL: 3,000) from the seed that sampling.py
names.
"""

from __future__ import annotations

import ast
import math
import pathlib
import random
import runpy
import textwrap
from typing import Any

import numpy as np
import onnx
import pytest
import sardonyx

from language import shared_compiler, shared_evaluator
from language.drawing import draw, outcomes
from language.limits import little_memory
from sampling import SEEDS, count
from surfaces import text_of

pytestmark = pytest.mark.filterwarnings("ignore")

COUNT = count("SDX_NUMBERS", 150, 3000)
SHARDS = 4

ONES = {"d": np.ones(3), "u": np.ones(3, np.int64)}  # what results are multiplied by
INPUTS = [
    {"x": np.array([1.75, -2.5, 0.1]), "v": np.array([7, -3, 2]), "n": np.int64(5), **ONES},
    {"x": np.array([-0.5, 3.0, 1e10]), "v": np.array([-1, 4, 10]), "n": np.int64(-2), **ONES},
    {"x": np.array([0.0, -0.0, 2.5]), "v": np.array([0, 1, 6]), "n": np.int64(0), **ONES},
]


class Writer:
    """A body over x: DOUBLE[3], v: INT64[3] and n: INT64; d and u are 1."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.ints: list[str] = []
        self.floats: list[str] = []
        self.loops = 0

    def int(self, depth: int) -> str:
        r = self.random
        if depth <= 0:
            return r.choice(
                [
                    "int(n)",
                    "int(v[0])",
                    "int(v[1])",
                    "len(x)",
                    "len(v)",
                    "int(x[0])",
                    "v.shape[0]",
                    str(r.randint(-3, 9)),
                    *self.ints * 3,
                ]
            )
        a, b = self.int(depth - 1), self.int(depth - 1)
        return r.choice(
            [
                f"({a} + {b})",
                f"({a} - {b})",
                f"({a} * {b})",
                f"({a} // {b})",
                f"({a} % {b})",
                f"({a} ** {r.randint(0, 3)})",
                f"(-{a})",
                f"abs({a})",
                f"max({a}, {b})",
                f"min({a}, {b}, {self.int(0)})",
                f"round({self.float(depth - 1)})",
                f"int({self.float(depth - 1)})",
                f"math.floor({self.float(depth - 1)})",
                f"math.ceil({self.float(0)})",
                f"({a} if {self.bool(depth - 1)} else {b})",
                f"sum([{a}, {b}])",
                f"({a} & {b})",
                f"({a} | {b})",
                f"({a} ^ {b})",
                f"(~{a})",
                f"({a} << {r.randint(0, 4)})",
                f"({a} >> {r.randint(0, 4)})",
                f"int({self.bool(0)})",
                f"({a} and {b})" if r.random() < 0.2 else a,
                f"({a} or {b})",
                f"divmod({a}, {b})[{r.randint(0, 1)}]",
                f"round({a}, {r.randint(-2, 0)})",
                f"({self.bool(0)} + {a})",
                f"math.trunc({self.float(0)})",
            ]
        )

    def float(self, depth: int) -> str:
        r = self.random
        if depth <= 0:
            return r.choice(
                [
                    "float(x[0])",
                    "float(x[1])",
                    "float(x[2])",
                    "float(n)",
                    "float(v[0])",
                    r.choice(["0.1", "2.5", "-1.0", "0.0", "1e300", "-0.0"]),
                    *self.floats * 3,
                ]
            )
        a, b = self.float(depth - 1), self.float(depth - 1)
        return r.choice(
            [
                f"({a} + {b})",
                f"({a} - {b})",
                f"({a} * {b})",
                f"({a} / {b})",
                f"({a} // {b})",
                f"({a} % {b})",
                f"({a} ** 2)",
                f"(-{a})",
                f"abs({a})",
                f"max({a}, {b})",
                f"min({a}, {b})",
                f"({self.int(0)} / {self.int(0)})",
                f"float({self.int(depth - 1)})",
                f"({a} if {self.bool(depth - 1)} else {b})",
                f"math.sqrt(abs({a}))",
                f"math.fabs({a})",
                f"({a} + {self.int(0)})",
                f"({self.int(0)} * {a})",
                f"sum([{a}, {b}])",
                f"round({a}, {r.randint(0, 2)})",
                f"({a} or {b})",
                f"({self.int(0)} ** -{r.randint(1, 2)})" if r.random() < 0.2 else a,
                f"math.copysign({a}, {b})" if r.random() < 0.2 else a,
                f"math.exp(-abs({a}))",
                f"(2.0 ** {self.int(0)})",
                f"math.fmod({a}, {b})" if r.random() < 0.2 else a,
                f"({a} ** 0.5)",
                f"({a} // {self.int(0)})",
            ]
        )

    def bool(self, depth: int) -> str:
        r = self.random
        kind = r.choice([self.int, self.float])
        a, b = kind(depth), self.random.choice([self.int, self.float])(depth)
        operator = r.choice(["<", "<=", ">", ">=", "==", "!="])
        if depth <= 0:
            return f"({a} {operator} {b})"
        return r.choice(
            [
                f"({a} {operator} {b})",
                f"({a} {operator} {b} < {self.int(0)})",
                f"({self.bool(0)} and {self.bool(0)})",
                f"({self.bool(0)} or {self.bool(0)})",
                f"(not {self.bool(depth - 1)})",
                f"bool({a})",
                f"({self.int(0)} in ({self.int(0)}, 2))",
                f"math.isnan({self.float(0)})",
                f"math.isinf({self.float(0)})",
            ]
        )

    def assignment(self) -> str:
        r = self.random
        depth = r.choice([0, 1, 1, 2])
        if r.random() < 0.5:
            if self.ints and r.random() < 0.4:
                operator = r.choice(["+", "-", "*", "//", "%"])
                return f"{r.choice(self.ints)} {operator}= {self.int(1)}"
            line = f"i{len(self.ints)} = {self.int(depth)}"
            self.ints.append(f"i{len(self.ints)}")
            return line
        if self.floats and r.random() < 0.4:
            return f"{r.choice(self.floats)} {r.choice(['+', '-', '*', '/'])}= {self.float(1)}"
        line = f"f{len(self.floats)} = {self.float(depth)}"
        self.floats.append(f"f{len(self.floats)}")
        return line

    def change(self) -> str:
        r = self.random
        if r.random() < 0.5:
            return f"{r.choice(self.ints)} = {self.int(1)}"
        return f"{r.choice(self.floats)} = {self.float(1)}"

    def statement(self) -> str:
        r = self.random
        kind = r.random()
        if kind < 0.5 or not self.ints or not self.floats:
            return self.assignment()
        inner = textwrap.indent(self.change(), "    ")
        if kind < 0.7:
            other = textwrap.indent(self.change(), "    ")
            return f"if {self.bool(1)}:\n{inner}\nelse:\n{other}"
        self.loops += 1
        if kind < 0.85:
            head = (
                f"for k{self.loops} in range({r.choice(['len(x)', 'int(n)', '3', 'int(v[2])'])}):"
            )
            return f"{head}\n{inner}"
        name = f"w{self.loops}"
        return (
            f"{name} = max({self.int(0)}, -9)\nwhile {name} < {r.randint(2, 6)}:\n"
            f"    {name} += {r.randint(1, 3)}\n{inner}"
        )

    def body(self) -> str:
        lines = [self.assignment() for _ in range(2)]
        lines += [self.statement() for _ in range(self.random.randint(1, 4))]
        results = [f"u * {name}" for name in self.ints]
        results += [f"d * {name}" for name in self.floats]
        return "\n".join([*lines, f"return {', '.join(results)}"])


def in_python(body: str, inputs: dict[str, Any]) -> list[Any] | None:
    """What CPython gives; None where it raises, or an int leaves 64 bits."""
    names: dict[str, Any] = {"math": math}
    exec(f"def f({', '.join(inputs)}):\n{textwrap.indent(body, '    ')}", names)
    try:
        with np.errstate(all="ignore"), little_memory():
            result = names["f"](**inputs)
    except (ArithmeticError, ValueError, TypeError, MemoryError):
        return None
    results = list(result) if isinstance(result, tuple) else [result]
    # A negative number to a power that is not whole is complex there, and NaN in a graph.
    return None if any(np.iscomplexobj(one) for one in results) else results


def agrees(got: Any, expected: Any) -> bool:
    a, b = np.asarray(got), np.asarray(expected)
    same_sign = (np.signbit(a) == np.signbit(b)) | np.isnan(b)
    close = np.allclose(a, b, rtol=1e-12, atol=0, equal_nan=True)
    return a.dtype == b.dtype and close and bool(np.all(same_sign))


def agree(got: list[Any], expected: list[Any]) -> bool:
    return len(got) == len(expected) and all(map(agrees, got, expected))


def leaves_64_bits(body: str, inputs: dict[str, Any]) -> bool:
    """Whether an int is beyond 64 bits on the way, and wraps in a graph, or a number complex."""
    names: dict[str, Any] = {"math": math}
    seen: list[Any] = []

    def note(value: Any) -> Any:
        if isinstance(value, (int, complex)) and not isinstance(value, bool):
            seen.append(value)
        return value

    class Wrap(ast.NodeTransformer):
        def generic_visit(self, node: ast.AST) -> ast.AST:
            super().generic_visit(node)
            if isinstance(node, (ast.BinOp, ast.UnaryOp, ast.Call)):
                return ast.Call(ast.Name("note", ast.Load()), [node], [])
            return node

        def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
            name = node.target
            assert isinstance(name, ast.Name)
            value = ast.BinOp(ast.Name(name.id, ast.Load()), node.op, node.value)
            return ast.Assign([name], self.visit(value))

    tree = ast.parse(f"def f({', '.join(inputs)}):\n{textwrap.indent(body, '    ')}")
    names["note"] = note
    exec(compile(ast.fix_missing_locations(Wrap().visit(tree)), "<watched>", "exec"), names)
    try:
        with little_memory():
            names["f"](**inputs)
    except Exception:
        return True
    return any(isinstance(v, complex) or not -(2**63) <= v < 2**63 for v in seen)


def outcome(seed: int, folder: pathlib.Path) -> str:
    body = Writer(seed).body()
    path = folder / f"n{seed}.py"
    answers = set()
    for named in (False, True):
        text = text_of(body, named, INPUTS[0] | {"n": np.asarray(np.int64(5))})
        path.write_text(text)
        function = runpy.run_path(str(path))["f"]
        answer, data = shared_compiler().compile(text, "f")
        assert answer[0] in ("ok", "error"), (answer, text)
        try:
            live = function.to_model_bytes()
        except sardonyx.CompileError:
            live = None
        assert (live is None) == (answer[0] == "error"), f"one surface refuses: {answer}\n{text}"
        if live is not None:
            onnx.checker.check_model(onnx.load_from_string(data), full_check=True)
        for inputs in INPUTS:
            expected = in_python(body, inputs)
            if expected is None or leaves_64_bits(body, inputs):
                continue
            given = {name: np.asarray(value) for name, value in inputs.items()}
            results: dict[str, Any] = {}
            try:
                eager = function(**given)
                results["eager"] = list(eager) if isinstance(eager, tuple) else [eager]
            except (TypeError, ValueError, NotImplementedError) as error:
                answers.add(f"eager refuses: {str(error)[:60]}")
            if live is not None:
                for surface, model in (("Python", live), ("command line", data)):
                    results[surface] = shared_evaluator().run(onnx.load_from_string(model), given)
            for surface, got in results.items():
                got = [np.asarray(one) for one in got]
                assert agree(got, expected), (
                    f"{surface}, named={named}: {got}, not {expected} of {inputs}\n{text}"
                )
        answers.add("equal" if live is not None else f"refused: {answer[1]} {answer[2:3]}")
    return "equal" if answers == {"equal"} else sorted(answers - {"equal"})[0]


@pytest.mark.parametrize("shard", range(SHARDS))
def test_random_numbers(shard: int, tmp_path: pathlib.Path) -> None:
    found = outcomes(outcome, SEEDS, range(shard, COUNT, SHARDS), tmp_path)
    assert found.count("equal") > len(found) // 2, found


if __name__ == "__main__":
    draw(outcome, lambda _, error: str(error)[:1500])
