"""Random programs with classes: several bases and `super()`, properties, class and static methods,
special methods, closures over instances, match statements and try. Their instances are made at the
top level of the file and in the script, of numbers and of tensors.

Called as Python they mean what Python says. Compiled from Python and built from the command line
they give that, or both are refused. SDX_CLASSES is how many are drawn (SDX_FULL: 5,000) from the
seed that sampling.py names.
"""

from __future__ import annotations

import pathlib
import random
import runpy

import numpy as np
import onnx
import onnx.reference
import pytest

from language import shared_evaluator
from language.drawing import built, draw, models_by_surface, outcomes
from sampling import SEEDS, count

pytestmark = pytest.mark.filterwarnings("ignore")

COUNT = count("SDX_CLASSES", 60, 5000)
SHARDS = 2

HEAD = "from sardonyx import script, FLOAT, INT64, opset21 as op\n"

SPECIAL = {
    "__add__": ("o", ["return type(self)(self.v + value(o))", "return Root(self.v * value(o))"]),
    "__radd__": ("o", ["return type(self)(value(o) - self.v)"]),
    "__mul__": ("o", ["return type(self)(self.v * value(o))", "return NotImplemented"]),
    "__rmul__": ("o", ["return Root(self.v * value(o) + 1.0)"]),
    "__sub__": ("o", ["return Root(self.v - value(o))", "return NotImplemented"]),
    "__rsub__": ("o", ["return Root(value(o) * 2.0)"]),
    "__neg__": ("", ["return Root(self.v * -1.0)"]),
    "__eq__": ("o", ["return isinstance(o, Root) and self.n == o.n", "return NotImplemented"]),
    "__lt__": ("o", ["return self.n < o.n", "return NotImplemented"]),
    "__gt__": ("o", ["return self.n > o.n + 1", "return NotImplemented"]),
    "__bool__": ("", ["return self.n > 1", "return self.n % 2 == 0"]),
    "__contains__": ("q", ["return q == self.n", "return q < 2"]),
    "__len__": ("", ["return self.n", "return 3"]),
    "__getitem__": ("i", ["return self.v + i", "return (self.v, self.v * 2.0)[i]"]),
    "__iter__": ("", ["return iter([self.v, self.v + 1.0])", "yield self.v"]),
    "__call__": ("y", ["return self.v + y", "return self.go(y)"]),
}

ROOT = """def value(o):
    return o.v if isinstance(o, Root) else o
class Root:
    k = 1.5
    def __init__(self, v, n=1):
        self.v, self.n = v, n
    def go(self, y):
        return y + self.k
    def who(self):
        return 1.0
    @property
    def double(self):
        return self.v * 2.0
    @classmethod
    def make(cls, v):
        return cls(v)
    @staticmethod
    def plain(y):
        return y * 0.5
"""


class Writer:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.classes = ["Root"]
        self.fixed: list[str] = []  # instances of the file

    def pick(self, items: list[str]) -> str:
        return self.random.choice(items)

    def members(self) -> list[str]:
        lines = []
        if self.random.random() < 0.5:
            lines.append(f"k = {self.random.randrange(1, 9) / 2}")
        bodies = {
            "go(self, y)": ["return super().go(y) * 2.0", "return y - 1.0 + super().go(y)"],
            "who(self)": ["return super().who() + 2.0", "return 4.0"],
            "double(self)": ["return super().double + 1.0", "return self.go(self.v)"],
            "make(cls, v)": ["return super().make(v)", "return cls(v, 3)"],
            "plain(y)": ["return y + 3.0"],
            "__init__(self, v, n=2)": ["super().__init__(v, n + 1)"],
        }
        marks = {"double": "@property", "make": "@classmethod", "plain": "@staticmethod"}
        for head in self.random.sample(sorted(bodies), self.random.randrange(0, 4)):
            mark = marks.get(head.partition("(")[0])
            lines += [mark] if mark else []
            lines += [f"def {head}:", f"    {self.pick(bodies[head])}"]
        lines += self.special(self.random.sample(sorted(SPECIAL), self.random.randrange(0, 4)))
        return ["    " + line for line in lines or ["pass"]]

    def special(self, names: list[str]) -> list[str]:
        lines = []
        for name in names:
            parameter, forms = SPECIAL[name]
            head = f"self, {parameter}" if parameter else "self"
            lines += [f"def {name}({head}):", f"    {self.pick(forms)}"]
        return lines

    def head(self) -> str:
        # Iteration by `__getitem__` alone may never end in Python, and is refused by scripts.
        root = self.special(
            [name for name in SPECIAL if name == "__iter__" or self.random.random() < 0.9]
        )
        lines = ["    " + line for line in root]
        for i in range(self.random.randrange(1, 4)):
            count = min(len(self.classes), self.random.choice([1, 1, 2]))
            # The latest first, so that Python finds an order more often than not.
            bases = sorted(self.random.sample(self.classes, count), key=self.classes.index)
            lines += [f"class C{i}({', '.join(reversed(bases))}):", *self.members()]
            self.classes.append(f"C{i}")
        for i in range(2):
            number = float(self.random.randrange(1, 5))
            lines.append(f"g{i} = {self.pick(self.classes)}({number}, {self.random.randrange(4)})")
            self.fixed.append(f"g{i}")
        if self.random.random() < 0.5:
            lines.append(f"h = {self.number(['g0', 'g1'])}")
            lines.append("assert h is not None")
        return ROOT + "\n".join(lines) + "\n"

    def number(self, names: list[str]) -> str:
        """What asks instances for something that is known."""
        a, b = self.pick(names), self.pick(names)
        test = self.pick([
            f"{a} == {b}", f"{a} != {b}", f"{a} < {b}", f"{a} > {b}", a, f"not {a}", f"1 in {a}",
            f"isinstance({a}, {self.pick(self.classes)})", f"callable({a})", f"{a}.n > 1",
            f"issubclass(type({a}), {self.pick(self.classes)})", f"type({a}) is type({b})",
            f"hasattr({a}, '__call__')", f"{a} is {b}", f"{a} == 1", f"{a} and {b}.n > 1",
        ])  # fmt: skip
        return self.pick([f"len({a})", f"(2.0 if {test} else 3.0)", f"(2.0 if {test} else 3.0)",
                          f"{a}.who()", f"{a}.n", f"sum([1.0 for _ in {a}])"])  # fmt: skip

    def instance(self, names: list[str]) -> str:
        a, b = self.pick(names), self.pick(names)
        kind = self.pick(self.classes)
        return self.pick([
            f"{kind}(x)", f"{kind}(x, {self.random.randrange(4)})", f"{a} + {b}", f"{a} * {b}",
            f"{a} - {b}", f"{a} + 1.0", f"2.0 * {a}", f"1.0 - {a}", f"-{a}", f"{kind}.make(x)",
            f"{a}.make({b}.v)", f"({a} or {b})", f"{a} + x", f"sum([{a}, {b}])",
        ])  # fmt: skip

    def tensor(self, names: list[str]) -> str:
        a = self.pick(names)
        return self.pick([
            f"{a}.v", f"{a}.double", f"{a}.go(x)", f"{a}.plain(x)", f"{a}[1]", f"{a}(x)",
            f"x * {self.number(names)}", f"x * {a}.k", f"[*{a}][-1]", f"list({a})[0]",
        ])  # fmt: skip

    def statement(self, names: list[str], indent: str) -> list[str]:
        a = self.pick(names)
        kind = self.random.randrange(9)
        if kind == 0:
            return [f"{indent}try:", f"{indent}    r = r + {self.tensor(names)}",
                    f"{indent}except {self.pick(['TypeError', 'AttributeError', 'IndexError'])}:",
                    f"{indent}    r = r + 7.0"]  # fmt: skip
        if kind == 1:
            return [f"{indent}match {a}:", f"{indent}    case {self.pick(self.classes)}(n=1):",
                    f"{indent}        r = r + 2.0",
                    f"{indent}    case {self.pick(self.classes)}():",
                    f"{indent}        r = r * 0.5", f"{indent}    case _:",
                    f"{indent}        r = r - x"]  # fmt: skip
        if kind == 2:
            return [f"{indent}def add(y):", f"{indent}    return {a}.go(y) + {self.tensor(names)}",
                    f"{indent}r = r + add(x)"]  # fmt: skip
        if kind == 3:
            return [f"{indent}for i in range(n):", f"{indent}    r = r + {self.tensor(names)} * i"]
        if kind == 4:
            return [f"{indent}for y in {a}:", f"{indent}    r = r + y"]
        if kind == 5:
            return [
                f"{indent}if {self.number(names)} > 1:",
                f"{indent}    r = r + {self.tensor(names)}",
            ]
        if kind == 6:
            return [f"{indent}a += {self.pick(names)}"]
        return [f"{indent}r = r + {self.tensor(names)}"]

    def program(self) -> str:
        head = self.head()
        names = [*self.fixed]
        lines = ["@script(default_opset=op)", 'def f(x: FLOAT["N"], n: INT64) -> FLOAT["N"]:']
        for name in ("a", "b"):
            lines.append(f"    {name} = {self.instance(names)}")
            names.append(name)
        lines.append("    r = x")
        for _ in range(self.random.randrange(1, 5)):
            lines += self.statement(names, "    ")
        return HEAD + head + "\n".join([*lines, "    return r"]) + "\n"


def outcome(seed: int, folder: pathlib.Path) -> str:
    text = Writer(seed).program()
    if seed % 2:
        text = text.replace('FLOAT["N"]', "FLOAT[2]")
    path = folder / f"c{seed}.py"
    path.write_text(text)
    program = built(text)
    try:
        function = runpy.run_path(str(path))["f"]
    except Exception:  # at the top level, at a statement that the command line may leave out
        return "raises"
    models = models_by_surface(program, function, text)
    if not models:
        return "refused"
    onnx.checker.check_model(onnx.load_from_string(models["command line"]), full_check=True)
    for n in (0, 1, 3):
        inputs = {"x": np.array([1, 2], np.float32), "n": np.asarray(np.int64(n))}
        expected = function(**inputs)
        for surface, model in models.items():
            loaded = onnx.load_from_string(model)
            results = [shared_evaluator().run(loaded, inputs)[0]]
            if seed % 10 == 0 and n == 1:
                results += onnx.reference.ReferenceEvaluator(loaded).run(None, inputs)
            for got in results:
                assert np.allclose(got, expected, rtol=1e-5), (
                    f"{surface}, n={n}: {got}, not {expected}\n{text}"
                )
    return "equal"


@pytest.mark.parametrize("shard", range(SHARDS))
def test_random_classes(shard: int, tmp_path: pathlib.Path) -> None:
    found = outcomes(outcome, SEEDS, range(shard, COUNT, SHARDS), tmp_path)
    assert found.count("equal") > len(found) // 8, found


if __name__ == "__main__":
    draw(outcome, lambda _, error: str(error)[:3000])
