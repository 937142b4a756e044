"""Random programs with instances of a class, their members and the lists in them, with lists and
dicts of tensors alone, and with assignments to items of tensors: several names for one object,
changes in branches and loops of the graph, functions that return one object or another.

Called as Python they mean what Python's references say. Compiled from Python and built from the
command line they give that, or both are refused. SDX_STATES is how many are drawn (SDX_FULL: 5,000)
from the seed that sampling.py names.
"""

from __future__ import annotations

import pathlib
import random
import runpy

import numpy as np
import onnx
import pytest

from language import shared_evaluator
from language.drawing import built, draw, models_by_surface, outcomes
from sampling import SEEDS, count

pytestmark = pytest.mark.filterwarnings("ignore")

COUNT = count("SDX_STATES", 100, 5000)
SHARDS = 2

HEAD = """import numpy as np
from sardonyx import script, FLOAT, INT64, opset21 as op
class S:
    def __init__(self, v):
        self.v = v
        self.r = [v]
def fresh(s):
    return S(s.v + 1.0)
def same(s):
    return s
def double(s):
    s.v = s.v * 2.0
    return s
def pick(s, t, c):
    if c:
        return s
    return t
def until(s, n):
    for i in range(n):
        s.v = s.v + 1.0
        if op.ReduceSum(s.v) > 9.0:
            return s
    return S(s.v)
def walk(s, t, n):
    for i in range(n):
        if op.ReduceSum(t.v) > 7.0:
            return t
        t = S(t.v + s.v)
    return s
def put(xs, v):
    xs[0] = v
    return xs
def more(xs):
    return [v + 1.0 for v in xs]
@script(default_opset=op)
def f(x: FLOAT["N"], n: INT64) -> FLOAT["N"]:
"""


class Writer:
    """The body of f, over the names a, b and sometimes c: of instances, if not of another class."""

    first, others = "S(x)", ("S(x * 2.0)", "S(x - 1.0)")

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.names = ["a", "b", "c"][: self.random.randrange(2, 4)]

    def condition(self) -> str:
        name = self.random.choice(self.names)
        sums = [f"op.ReduceSum({name}.v) > {limit}" for limit in (4.0, 9.0)]
        return self.random.choice([*sums, "n > 1", "n > 2"])

    def instance(self) -> str:
        a, b = self.random.choices(self.names, k=2)
        forms = [
            a, f"S({a}.v)", f"S({a}.v + {b}.v)", f"fresh({a})", f"same({a})", f"double({a})",
            f"pick({a}, {b}, {self.condition()})", f"until({a}, n)", f"walk({a}, {b}, n)",
            f"({a} if {self.condition()} else {b})",
        ]  # fmt: skip
        return self.random.choice(forms)

    def changes(self) -> list[str]:
        a, b = self.random.choices(self.names, k=2)
        added = self.random.choice(["1.0", "x", "2.0"])
        return [
            f"{a} = {self.instance()}", f"{a} = {self.instance()}", f"{a} = {self.instance()}",
            f"{a}.v = {b}.v + {added}", f"{a}.v = {b}.v + {added}", f"{a}.v += 0.5",
            f"{a}.r.append({b}.v)", f"{a}.r[0] = {b}.v * 1.5", f"{a}, {b} = {b}, {a}",
            f"{a}.r = {b}.r", f"double({a})",
        ]  # fmt: skip

    def terms(self) -> list[str]:
        terms = [f"{10.0**i} * {name}.v" for i, name in enumerate(self.names)]
        if self.random.random() < 0.5:
            terms += [f"0.1 * {name}.r[0] + {name}.r[-1]" for name in self.names]
        return terms

    def statement(self, depth: int) -> list[str]:
        simple = self.changes()
        indent = "    " * depth
        kind = self.random.randrange(len(simple) + 3)
        if kind < len(simple) or depth == 3:
            return [indent + self.random.choice(simple)]
        if kind == len(simple):
            lines = [f"{indent}for i{depth} in range({self.random.choice(['n', 'n', '3'])}):"]
            lines += self.block(depth + 1)
            if self.random.random() < 0.25:
                lines += [f"{indent}    if {self.condition()}:", f"{indent}        break"]
            return lines
        lines = [f"{indent}if {self.condition()}:", *self.block(depth + 1)]
        if self.random.random() < 0.5:
            lines += [f"{indent}else:", *self.block(depth + 1)]
        return lines

    def block(self, depth: int) -> list[str]:
        count = self.random.randrange(1, 4)
        return [line for _ in range(count) for line in self.statement(depth)]

    def body(self) -> str:
        lines = [f"    a = {self.first}", "    b = " + self.random.choice(["a", self.others[0]])]
        if len(self.names) > 2:
            lines.append("    c = " + self.random.choice(["a", "b", self.others[1]]))
        for _ in range(self.random.randrange(2, 6)):
            lines += self.statement(1)
        return "\n".join([*lines, f"    return {' + '.join(self.terms())}"]) + "\n"


class ListWriter(Writer):
    """The same over lists of tensors, two names of a dict that holds one, and functions that change
    the lists or names of the one around."""

    first = """[x]
    d = {'v': x, 'k': [x * 4.0]}
    e = d
    def add(v):
        a[0] = a[0] + v
    def turn():
        nonlocal a, b
        a, b = b, a"""
    others = ("[x * 2.0]", "[x, x * 3.0]")

    def condition(self) -> str:
        name = self.random.choice(self.names)
        sums = [f"op.ReduceSum({name}[{at}]) > {limit}" for at, limit in ((0, 4.0), (-1, 9.0))]
        return self.random.choice([*sums, "n > 1", "n > 2"])

    def value(self) -> str:
        name = self.random.choice(self.names)
        return self.random.choice([f"{name}[0]", f"{name}[-1]", "x", "d['v']", "d['k'][-1]"])

    def instance(self) -> str:
        a, b = self.random.choices(self.names, k=2)
        forms = [
            a, a, f"list({a})", f"[*{a}]", f"[{self.value()}, {self.value()}]", f"more({a})",
            f"same({a})", f"put({a}, {self.value()})", f"({a} if {self.condition()} else {b})",
            "d['k']", f"pick({a}, {b}, {self.condition()})", f"{a}[::-1]", f"{a}[:1]",
        ]  # fmt: skip
        return self.random.choice(forms)

    def changes(self) -> list[str]:
        a, b = self.random.choices(self.names, k=2)
        at, added = self.random.choice(["0", "-1"]), self.random.choice(["1.0", "x"])
        return [
            f"{a} = {self.instance()}", f"{a} = {self.instance()}", f"{a} = {self.instance()}",
            f"{a}[{at}] = {self.value()} + {added}", f"{a}[{at}] = {self.value()} + {added}",
            f"{a}[0] += 0.5", f"{a}.append({self.value()})", f"{a}, {b} = {b}, {a}",
            f"d['k'] = {self.instance()}", f"d['v'] = {self.value()} * 1.5", "e = d", "d = e",
            f"d['k'][0] = {self.value()} + 2.0", f"put({a}, {self.value()})", "d = dict(d)",
            f"d = {{'v': {self.value()}, 'k': {a}}}", "turn()", f"add({self.value()})",
        ]  # fmt: skip

    def terms(self) -> list[str]:
        terms = [f"{10.0**i} * {name}[0] + {name}[-1]" for i, name in enumerate(self.names)]
        return [*terms, "0.1 * d['v'] + 0.3 * d['k'][-1]", "0.7 * e['v'] + 0.9 * e['k'][0]"]


class TensorWriter(Writer):
    """The same over tensors whose items are assigned: by several names, in a list, a dict and an
    instance, by functions, and by functions that change the names around them."""

    first = """x * 1.0
    g = [x * 3.0, x * 4.0]
    d = {'k': x * 5.0}
    p = S(x * 6.0)
    def add(v):
        a[1] = a[1] + v
    def turn():
        nonlocal a, b
        a, b = b, a"""
    others = ("x * 2.0", "x - 1.0")

    def tensor(self) -> str:
        return self.random.choice([*self.names, *self.names, "g[0]", "g[1]", "d['k']", "p.v"])

    def condition(self) -> str:
        a = self.tensor()
        return self.random.choice([f"op.ReduceSum({a}) > 4.0", f"{a}[0] > 3.0", "n > 1", "n > 2"])

    def value(self) -> str:
        a = self.tensor()
        return self.random.choice([f"{a}[0]", f"{a}[-1] * 0.5", "1.5", f"op.ReduceMax({a})"])

    def instance(self) -> str:
        a, b = self.tensor(), self.tensor()
        forms = [
            a, f"{a} + {b}", f"{a} - {b}", f"op.Identity({a})", f"same({a})", f"{a}[::-1]",
            f"put({a}, {self.value()})", f"pick({a}, {b}, {self.condition()})", f"{a} * 0.5",
            f"({a} if {self.condition()} else {b})", f"op.Where({a} > {b}, {a}, {b})",
        ]  # fmt: skip
        return self.random.choice(forms)

    def changes(self) -> list[str]:
        a, b = self.random.choices(self.names, k=2)
        t, at = self.tensor(), self.random.choice(["0", "1", "-1", "n % 2", ":1", "::2"])
        return [
            f"{a} = {self.instance()}", f"{a} = {self.instance()}", f"{a} = {self.instance()}",
            f"{t}[{at}] = {self.value()}", f"{t}[{at}] = {self.value()}", f"{t}[0] += 1.0",
            f"{t}[{t} > 2.0] = 0.5", f"{a} += {self.instance()}", f"{a}, {b} = {b}, {a}",
            f"g[0] = {self.instance()}", f"d['k'] = {self.instance()}", f"p.v = {self.instance()}",
            "g = g[::-1]", f"add({self.value()})", "turn()", f"put({t}, {self.value()})",
        ]  # fmt: skip

    def terms(self) -> list[str]:
        terms = [f"{10.0**i} * {name}" for i, name in enumerate(self.names)]
        return [*terms, "0.1 * g[0] + 0.3 * g[1]", "0.7 * d['k'] + 0.9 * p.v"]


WRITERS = (Writer, ListWriter, TensorWriter)


def outcome(seed: int, folder: pathlib.Path) -> str:
    text = HEAD + WRITERS[seed % len(WRITERS)](seed).body()
    path = folder / f"s{seed}.py"
    path.write_text(text)
    function = runpy.run_path(str(path))["f"]
    models = models_by_surface(built(text), function, text)
    if not models:
        return "refused"
    onnx.checker.check_model(onnx.load_from_string(models["command line"]), full_check=True)
    for n in (0, 1, 4):
        inputs = {"x": np.array([1, 2], np.float32), "n": np.asarray(np.int64(n))}
        expected = function(**inputs)
        for surface, model in models.items():
            (got,) = shared_evaluator().run(onnx.load_from_string(model), inputs)
            assert np.allclose(got, expected, rtol=1e-5), (
                f"{surface}, n={n}: {got}, not {expected}\n{text}"
            )
    return "equal"


@pytest.mark.parametrize("shard", range(SHARDS))
def test_random_state(shard: int, tmp_path: pathlib.Path) -> None:
    found = outcomes(outcome, SEEDS, range(shard, COUNT, SHARDS), tmp_path)
    assert found.count("equal") > len(found) // 3, found


if __name__ == "__main__":
    draw(outcome, lambda _, error: str(error)[:1500])
