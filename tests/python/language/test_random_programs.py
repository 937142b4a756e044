"""Random well-typed scripts: Python, our evaluator, ONNX Runtime and onnx.reference agree.

The programs hold assignments, unpacking, branches, loops, early exits, subscripts, item
assignment, lists that grow, nested functions and calls of other scripts, over variables of fixed
types. NumPy runs them as plain Python, which says what they mean. SDX_RANDOM_PROGRAMS is how many
are drawn (SDX_FULL: 10,000) from the seed that sampling.py names. A program that fails is shrunk
and written to tests/python/found/, where it stays as a test.
"""

from __future__ import annotations

import hashlib
import pathlib
from typing import Any

import hypothesis
import hypothesis.errors
import numpy as np
import onnx
import onnx.checker
import pytest
from hypothesis import strategies

from language import HEADER, run_ort, run_reference, same, shared_compiler, shared_evaluator
from sampling import SEEDS, count

pytestmark = pytest.mark.filterwarnings("ignore")

COUNT = count("SDX_RANDOM_PROGRAMS", 500, 10000)
SHARDS = 4
FOUND = pathlib.Path(__file__).parents[1] / "found"

# Scripts that the programs call.
LIBRARY = """\
@script(default_opset=op)
def scaled(v, by: float = 2.0, steps: int = 1):
    for _ in range(steps):
        v = v * by
    return v

@script(default_opset=op)
def total(first, *rest):
    for one in rest:
        first = first + one
    return first

@script(default_opset=op)
def halves(v: FLOAT[4], flag: BOOL):
    if flag:
        return v * 0.5, v
    return v, v * 0.5

"""

INPUTS = [
    (np.array([0.5, -1.25, 3.0, -0.75], np.float32), 0, True),
    (np.array([1.5, 2.0, -0.25, 4.0], np.float32), 3, False),
    (np.array([-2.0, 0.0, 0.125, 1.0], np.float32), 5, True),
]


def not_in_place(_: Any, __: Any) -> Any:
    return NotImplemented


class Copied(np.ndarray):
    """An array as a tensor is: its parts are copies, and `a += 1` gives `a` another one."""

    __iadd__ = __isub__ = __imul__ = __itruediv__ = __ifloordiv__ = __imod__ = not_in_place

    def __getitem__(self, index: Any) -> Any:
        part = super().__getitem__(index)
        return part.copy() if isinstance(part, np.ndarray) else part

    def __setitem__(self, index: Any, value: Any) -> None:
        self.view(np.ndarray)[index] = value  # NumPy itself would assign to a part of it

    def __iter__(self) -> Any:
        return (self[i] for i in range(len(self)))


class Shim:
    """The operators of the programs, in NumPy."""

    Abs = staticmethod(np.abs)
    Neg = staticmethod(np.negative)
    Max = staticmethod(np.maximum)
    Min = staticmethod(np.minimum)

    @staticmethod
    def Cast(x: Any, to: int) -> Any:
        return np.asarray(x).astype({1: np.float32, 7: np.int64}[to])[()]

    @staticmethod
    def ReduceSum(x: Any, **_: Any) -> Any:
        return np.asarray(x).sum(dtype=np.asarray(x).dtype)

    @staticmethod
    def ReduceMax(x: Any, **_: Any) -> Any:
        return np.asarray(x).max()

    @staticmethod
    def Where(c: Any, x: Any, y: Any) -> Any:
        return np.where(c, x, y).view(Copied)

    @staticmethod
    def Concat(*xs: Any, axis: int) -> Any:
        return np.concatenate(xs, axis).view(Copied)

    @staticmethod
    def ConcatFromSequence(x: Any, axis: int, new_axis: int = 0) -> Any:
        return np.stack(x, axis) if new_axis else np.concatenate(x, axis)


class Writer:
    """Writes a random body.

    a, b, x: FLOAT[4]; m: FLOAT[3, 4]; s: FLOAT; i, j, k, n, t: INT64; c, d: BOOL.
    """

    def __init__(self, draw: Any) -> None:
        self.draw = draw
        self.lines: list[str] = []
        self.loops = 0
        self.names = 0
        # A program assigns items, or lets values change their names: the compiler refuses the first
        # where it cannot rule out that another name holds the same tensor.
        self.assigns_items = self.chance(50)

    def pick(self, *choices: Any) -> Any:
        return self.draw(strategies.sampled_from(choices))

    def chance(self, percent: int) -> bool:
        return self.draw(strategies.integers(0, 99)) < percent

    def fresh(self, prefix: str) -> str:
        self.names += 1
        return f"{prefix}{self.names}"

    # --- Expressions

    def vector(self, depth: int) -> str:
        if depth == 0:
            return self.pick("a", "b", "x", "a[::-1]", "m[1]", "m[-1, :]", "m[i % 3]", "m[:, :][0]")
        left, right = self.vector(depth - 1), self.vector(0)
        return self.pick(
            f"({left} + {right})",
            f"({left} - {self.scalar(1)})",
            f"({left} * 0.5)",
            f"op.Abs(x + {left})",
            f"op.Max({right} * 0.5, {left})",
            f"(b if {self.condition()} else {self.pick('a', 'x')})",
            f"(op.Cast({self.integer(1)}, to=1) + {left})",
            f"({left} % 3.0)",
            f"({left} // 2.0)",
            f"op.Where({left} > {right}, {right}, {left})",
            f"(-{left})",
            f"scaled({left}, by={self.pick('0.5', '-1.0', '1.5')})",
            f"helper({left})",
            f"total({left}, a, {right})",
            f"[r * 0.5 for r in m][{self.pick('0', '-1')}]",
            f"flip({left}, {self.scalar(0)})",
            f"m[{self.pick('0', '-1', 'j % 3')}, ::-1]",
            f"{left} * (2 if {self.condition()} else 0.5)",
            f"{left} * {self.number(1)}",
        )

    def scalar(self, depth: int) -> str:
        if depth == 0:
            return self.pick(
                "s", "0.5", "2.0", "a[1]", "x[-1]", "m[1, 2]", "b[i % 4]", "m[-1][j % 4]"
            )
        inner = self.scalar(depth - 1)
        return self.pick(
            f"({inner} + {self.scalar(0)})",
            f"({inner} * 0.5)",
            f"(-{inner})",
            f"op.ReduceSum({self.vector(0)}, keepdims=0) * 0.25",
            f"op.ReduceMax({self.vector(0)}, keepdims=0)",
            f"abs({inner} - s)",
            f"op.Cast({self.integer(0)}, to=1) + s",
        )

    def number(self, depth: int) -> str:
        """A number of Python, as Python computes it."""
        if depth == 0:
            return self.pick("float(s)", "float(n)", "0.1", "len(a)", "int(i)", "float(a[1])")
        inner, other = self.number(depth - 1), self.number(0)
        return self.pick(
            f"({inner} + {other})",
            f"({inner} * 0.1)",
            f"(-{inner})",
            f"abs({inner})",
            f"max({inner}, {other}, 1)",
            f"min({inner}, {other})",
            f"({inner} if {self.condition()} else {other})",
            f"({inner} / 3)",
        )

    def integer(self, depth: int) -> str:
        if depth == 0:
            return self.pick("i", "j", "n", "k")
        inner = self.integer(depth - 1)
        other = self.pick("i", "j", "3", "-2", "n")
        return self.pick(
            f"({inner} + {other})",
            f"({inner} - {other})",
            f"({inner} * 2)",
            f"({inner} // -3)",
            f"({inner} % 5)",
            f"({inner} & 6)",
            f"(-{inner})",
            f"({inner} ^ i)",
            f"({inner} if {self.condition()} else {other})",
            f"abs({inner})",
        )

    def condition(self) -> str:
        return self.pick(
            "c",
            "d",
            "not c",
            "i > j",
            "i != 2",
            "s < 1.0",
            "op.ReduceSum(a, keepdims=0) < 9.0",
            "0 <= i < n",
            "c and i > 0",
            "c or j == 1",
            "not (d and j < 3)",
            "c == d",
            "(t := i + 1) > 2",
            "i != 0 and 10 // i > 1",
            "i == 0 or 7 % i == 1",
            "i < 4 and a[i] > 0.0",
            "0 < j < 4 and b[j] < b[j - 1] < 2.0",
            "i > 3 and (t := i * 2) > 9",
            "float(s) * 3 > 1.0",
            f"{self.number(0)} < {self.number(0)} * 0.5",
        )

    # --- Statements

    def line(self, indent: str, text: str) -> None:
        self.lines.append(indent + text)

    def assignment(self, indent: str) -> None:
        sharing = ("swap", "augmented", "pair", "starred", "growing")
        name = self.pick("a", "b", "s", "i", "j", "c", "d", "m", *sharing)
        if self.assigns_items and name in sharing:
            self.item_assignment(indent)
        elif name == "growing":
            self.growing_list(indent)
        elif name == "starred":
            rest = self.fresh("rest")
            self.line(indent, self.pick(f"a, *{rest} = m", f"*{rest}, a = m", f"a, *{rest}, b = m"))
            self.line(indent, f"b = {rest}[0] * 0.5 + {rest}[-1]")
        elif name in ("a", "b"):
            self.line(indent, f"{name} = x * 0.0 + {self.vector(2)}")
        elif name == "s":
            self.line(indent, f"s = x[0] * 0.0 + {self.scalar(2)}")
        elif name in ("i", "j"):
            self.line(indent, f"{name} = ({self.integer(2)}) % 7")
        elif name in ("c", "d"):
            self.line(indent, f"{name} = {self.condition()}")
        elif name == "m":
            self.line(
                indent, f"m = {self.pick(f'm * 0.5 + {self.vector(1)}', 'm[::-1]', 'm - m[0]')}"
            )
        elif name == "swap":
            self.line(indent, "a, b, i = b, a, (i + 1) % 7")
        elif name == "augmented":
            self.line(indent, self.pick("a += 1.0", "i += 2", "s *= 0.5", f"b -= {self.vector(0)}"))
        else:
            self.line(indent, f"a, b = halves({self.vector(1)}, {self.pick('c', 'd', 'i > j')})")

    def item_assignment(self, indent: str) -> None:
        place, value = self.pick(
            ("a[1]", self.scalar(1)),
            ("a[i % 4]", "2.0"),
            ("b[1:3]", self.scalar(0)),
            ("b[::-1]", self.vector(1)),
            ("m[0]", self.vector(1)),
            ("m[:, 1]", self.scalar(0)),
            ("m[j % 3, -1]", self.scalar(1)),
            ("a[a > 1.0]", "0.5"),
        )
        self.line(indent, f"{place} {self.pick('=', '=', '+=')} {value}")

    def growing_list(self, indent: str) -> None:
        name, item = self.fresh("xs"), self.fresh("k")
        begin, head = self.pick(("[]", "range(n + 1)"), ("[a]", "range(n)"), ("[]", "m"))
        self.line(indent, f"{name} = {begin}")
        self.line(indent, f"for {item} in {head}:")
        self.line(indent, f"    {name}.append({self.vector(1)} + {item})")
        self.line(indent, f"    b = b * 0.5 + {name}[{self.pick('0', '-1')}]")
        joined = f"op.ConcatFromSequence({name}, axis=0, new_axis={self.pick(0, 1)})"
        self.line(indent, f"s = op.ReduceMax({joined}, keepdims=0) * 0.25")

    def condition_block(self, indent: str, depth: int, loop: bool) -> None:
        self.line(indent, f"if {self.condition()}:")
        self.block(indent + "    ", depth - 1, loop)
        if self.chance(25):
            self.line(indent, f"elif {self.condition()}:")
            self.block(indent + "    ", depth - 1, loop)
        if self.chance(50):
            self.line(indent, "else:")
            self.block(indent + "    ", depth - 1, loop)

    def jump(self, indent: str, loop: bool) -> None:
        self.line(indent, f"if {self.condition()}:")
        self.block(indent + "    ", 0, False)
        ways = ["break", "continue"] if loop else []
        ways.append("return a + 1.0, b, i, s")
        self.line(indent, f"    {self.pick(*ways)}")

    def for_loop(self, indent: str, depth: int) -> None:
        self.loops += 1
        name = self.fresh("k")
        head = self.pick(
            f"for {name} in range(3):",
            f"for {name} in range(n):",
            f"for {name} in range(1, 6, 2):",
            f"for {name} in range(n, -1, -1):",
            f"for {name} in range(i, i + 2):",
            self.pick("for row in m:", "for row in m * 1.0:", "for row in reversed(m):"),
            f"for {name} in [1, 4]:",
        )
        self.line(indent, head)
        if name in head:
            self.line(indent, f"    k = {self.pick(name, 'k + 1', f'{name} * 2 + n')}")
        else:
            self.line(indent, "    b = b * 0.5 + row")
        self.block(indent + "    ", depth - 1, "[1, 4]" not in head)
        if self.chance(20):
            self.line(indent, "else:")
            self.block(indent + "    ", 0, False)

    def while_loop(self, indent: str, depth: int) -> None:
        self.loops += 1
        name = self.fresh("w")
        self.line(indent, f"{name} = n * 0")
        endless = self.chance(30)
        self.line(
            indent, "while True:" if endless else f"while {name} < 4 and ({self.condition()}):"
        )
        self.line(indent, f"    {name} = {name} + 1")
        if endless:
            self.line(indent, f"    if {name} > 3 or {self.condition()}:")
            self.line(indent, "        break")
        self.block(indent + "    ", depth - 1, True)
        if self.chance(20):
            self.line(indent, "else:")
            self.block(indent + "    ", 0, False)

    def block(self, indent: str, depth: int, loop: bool) -> None:
        for _ in range(self.pick(1, 2, 3)):
            kind = self.pick("set", "set", "set", "if", "if", "for", "while", "jump")
            if depth == 0 or kind == "set" or (kind in ("for", "while") and self.loops >= 3):
                self.assignment(indent)
            elif kind == "if":
                self.condition_block(indent, depth, loop)
            elif kind == "for":
                self.for_loop(indent, depth)
            elif kind == "while":
                self.while_loop(indent, depth)
            elif loop or indent == "    ":
                self.jump(indent, loop)
            else:
                self.assignment(indent)

    def program(self) -> str:
        self.block("    ", 2, False)
        body = "\n".join(self.lines)
        return (
            "@script(default_opset=op)\n"
            "def f(x: FLOAT[4], n: INT64, c: BOOL):\n"
            "    def helper(v, by=0.5):\n"
            "        w = v * by\n"
            "        return w + x\n"
            "    flip = lambda v, u: v[::-1] - u\n"
            "    a = x + 1.0\n    b = x * 2.0\n    s = x[0] + 0.5\n    i = n + 1\n    j = n - 1\n"
            "    k = n\n    d = n > 2\n    t = n\n"
            "    m = op.Concat(x[None], a[None], b[None], axis=0)\n"
            f"{body}\n    return a, b, i, s\n"
        )


@strategies.composite
def programs(draw: Any) -> str:
    return Writer(draw).program()


# --- Checking -------------------------------------------------------------------------------------


def plain_python(source: str) -> dict[str, Any]:
    """The program over NumPy: decorators and annotations of tensors mean nothing there."""

    class AnyType:
        def __getitem__(self, _: Any) -> AnyType:
            return self

    scope: dict[str, Any] = {
        "op": Shim,
        "np": np,
        "script": lambda **_: lambda function: function,
        **{name: AnyType() for name in ("FLOAT", "INT64", "BOOL")},
    }
    exec(compile(LIBRARY + source, "random", "exec"), scope)
    return scope


def check_program(source: str, folder: pathlib.Path) -> None:
    answer, data = shared_compiler().compile(HEADER + LIBRARY + source, "f")
    if {finding.split(":")[0] for finding in answer[1:]} == {"aliased-item-assignment"}:
        hypothesis.reject()  # the text does not rule out that another name holds the tensor
    assert answer[0] == "ok", answer
    model = onnx.load_from_string(data)
    onnx.checker.check_model(model, full_check=True)
    plain = plain_python(source)["f"]
    eager = eager_function(source, folder)
    for x, n, c in INPUTS:
        inputs = {"x": x, "n": np.array(n, np.int64), "c": np.array(c)}
        with np.errstate(all="ignore"):
            expected = list(plain(x.copy().view(Copied), np.int64(n), np.bool_(c)))
        runs = {
            "native": lambda: shared_evaluator().run(model, inputs),  # noqa: B023
            "python": lambda: list(eager(**inputs)),  # noqa: B023
            "onnxruntime": lambda: run_ort(model, inputs),  # noqa: B023
            "reference": lambda: run_reference(model, inputs),  # noqa: B023
        }
        for way, run in runs.items():
            try:
                same(run(), expected, 1e-3)
            except Exception as error:
                raise AssertionError(f"{way}, n={n}: {error}") from error


def eager_function(source: str, folder: pathlib.Path) -> Any:
    """The script as the package calls it: its Python body, on our tensors."""
    import runpy

    name = hashlib.sha256(source.encode()).hexdigest()[:16]
    path = folder / f"{name}.py"
    path.write_text(HEADER.replace("onnxscript", "sardonyx") + LIBRARY + source)
    return runpy.run_path(str(path))["f"]


@pytest.mark.parametrize("shard", range(SHARDS))
@pytest.mark.parametrize("first", SEEDS)
def test_random_programs(first: int, shard: int, tmp_path: pathlib.Path) -> None:
    @hypothesis.seed(first + shard)
    @hypothesis.settings(
        max_examples=-(-COUNT // SHARDS),
        deadline=None,
        database=None,
        print_blob=False,
        report_multiple_bugs=False,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(programs())
    def check(source: str) -> None:
        try:
            check_program(source, tmp_path)
        except hypothesis.errors.UnsatisfiedAssumption:
            raise
        except Exception as error:
            # The last one that is written is the smallest.
            FOUND.mkdir(exist_ok=True)
            (FOUND / f"shard_{shard}.py").write_text(source)
            raise AssertionError(f"{error}\n{source}") from error

    check()


@pytest.mark.parametrize("path", sorted(FOUND.glob("*.py")), ids=lambda path: path.stem)
def test_found_program(path: pathlib.Path, tmp_path: pathlib.Path) -> None:
    check_program(path.read_text(), tmp_path)
