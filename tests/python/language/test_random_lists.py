"""Random programs with lists, tuples and dicts of tensors: unpacking, stars, comprehensions,
slices, methods that change them, in loops and branches that sizes or tensors decide.

CPython runs them on NumPy's arrays, which says what they mean. Called as Python, compiled from
Python and built from the command line, with static and with named sizes, they give that, or they
are refused. SDX_LISTS is how many are drawn (SDX_FULL: 3,000) from the seed that sampling.py names.
"""

from __future__ import annotations

import pathlib
import random
import re
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

COUNT = count("SDX_LISTS", 40, 3000)
SHARDS = 2

NAMED_INPUTS = [
    {
        "X": np.arange(1, size + 1, dtype=np.int64) * 2 - 3,
        "Y": np.arange(size, dtype=np.int64)[::-1] - 1,
        "n": np.asarray(n, np.int64),
    }
    for size, n in ((3, 2), (1, 0), (4, 3), (3, -1))
]
STATIC_INPUTS = [one for one in NAMED_INPUTS if len(one["X"]) == 3]


class Writer:
    """Writes a body. Names are of one kind each: a vector, a number, a size, a list, a dict."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.vectors = ["X", "Y"]
        self.sizes: list[str] = []
        self.lists: list[str] = []
        self.dicts: list[str] = []
        self.lines: list[str] = []
        self.depth = 0
        self.count = 0

    def one(self, *choices: str) -> str:
        return self.draw.choice(choices)

    def name(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def size(self, depth: int = 0) -> str:
        """A Python int: known, of a dimension, or of a tensor."""
        if self.sizes and self.draw.random() < 0.3:
            return self.draw.choice(self.sizes)
        if depth > 1 or self.draw.random() < 0.6:
            kinds = ["1", "2", "3", "len(X)", "Y.shape[0]", "X.size", "int(n)", "-1"]
            if self.lists:
                kinds.append(f"len({self.draw.choice(self.lists)})")
            return self.draw.choice(kinds)
        a, b = self.size(depth + 1), self.size(depth + 1)
        return self.one(
            f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"({a} // 2)", f"({a} % 3)",
            f"max({a}, {b})", f"min({a}, {b})", f"({a} if {a} < {b} else {b})",
        )  # fmt: skip

    def number(self) -> str:
        v = self.vector(2)
        part = f"{v}[{self.one('0', '-1')}]" if v.isidentifier() else f"sum({v})"
        return self.one(self.size(1), part, f"sum({v})", "n")

    def condition(self) -> str:
        a, b = self.size(1), self.size(1)
        test = f"{a} {self.one('<', '>=', '==', '!=')} {b}"
        return self.one(test, test, f"n > {a}", f"{self.number()} > {b}", f"{a} < {b} <= {a}",
                        f"not {test}", f"{test} and n > 0", f"{a} in ({b}, 2)")  # fmt: skip

    def vector(self, depth: int = 0) -> str:
        """Of the length of X."""
        if depth > 1 or self.draw.random() < 0.5:
            kinds = list(self.vectors[-4:])
            kinds += [f"{one}[{self.one('0', '-1')}]" for one in self.lists[-2:]]
            kinds += [f"{one}[{self.one(*'ab')!r}]" for one in self.dicts[-2:]]
            return self.draw.choice(kinds)
        a, b = self.vector(depth + 1), self.vector(depth + 1)
        return self.one(
            f"({a} + {b})", f"({a} - {b})", f"({a} * {self.one('2', '-1', self.size(1))})",
            f"({a} + {self.number()})" if depth == 0 else f"-{a}", f"({a} % 5)", f"({a} // 2)",
            f"{a}[::-1]" if a.isidentifier() else a, f"({a} if {self.condition()} else {b})",
        )  # fmt: skip

    def items(self) -> str:
        """A list of vectors."""
        v, w = self.vector(1), self.vector(1)
        if not self.lists or self.draw.random() < 0.3:
            return self.one(
                f"[{v}, {w}]", f"[{v}]", f"[{v}, {w}, X]", f"list(({v}, {w}))",
                f"[{v}] * 2", f"[{v} + i for i in range({self.one('2', '3')})]",
            )  # fmt: skip
        xs, ys = self.draw.choice(self.lists), self.draw.choice(self.lists)
        return self.one(
            f"{xs}[::-1]", f"{xs}[1:] + [{v}]", f"{xs}[:-1] + [{v}]", f"[*{xs}, {v}]",
            f"[{v}, *{xs}]", f"{xs} + {ys}", f"[x + {self.number()} for x in {xs}]",
            f"[x * i for i, x in enumerate({xs})]", f"[x - y for x, y in zip({xs}, {ys})]",
            f"[x for i, x in enumerate({xs}) if i % 2 == 0]", f"list({xs})", f"{xs}.copy()",
            f"list(reversed({xs}))", f"[x for x in {xs} for _ in range(2)]",
            f"[{v} if len({xs}) > 1 else x for x in {xs}]",
            f"[x for x in {xs} if {self.condition()}]",
        )  # fmt: skip

    def table(self) -> str:
        v, w = self.vector(1), self.vector(1)
        if not self.dicts or self.draw.random() < 0.4:
            return self.one(
                f'{{"a": {v}, "b": {w}}}', f"dict(a={v}, b={w})",
                f'dict(zip("ab", [{v}, {w}]))', f'{{k: {v} for k in "ab"}}',
            )  # fmt: skip
        d = self.draw.choice(self.dicts)
        return self.one(
            f'{{**{d}, "a": {v}}}', f"{{k: v + {self.size(1)} for k, v in {d}.items()}}",
            f'{d} | {{"b": {v}}}', f"dict({d}, c={v})", f"dict({d})",
            f"{{k: {d}[k] * 2 for k in sorted({d})}}",
        )  # fmt: skip

    def add(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)

    def assign(self) -> None:
        kind = self.draw.random()
        if kind < 0.3:
            old = self.draw.random() < 0.5 and self.draw.choice(self.vectors)
            name = old or self.name("v")
            self.add(f"{name} = {self.vector()}")
            self.note(self.vectors, name)
        elif kind < 0.45:
            name = (
                self.draw.choice(self.sizes)
                if self.sizes and self.draw.random() < 0.5
                else self.name("k")
            )
            self.add(f"{name} = {self.size()}")
            self.note(self.sizes, name)
        elif kind < 0.75:
            name = (
                self.draw.choice(self.lists)
                if self.lists and self.draw.random() < 0.4
                else self.name("xs")
            )
            self.add(f"{name} = {self.items()}")
            self.note(self.lists, name)
        else:
            name = (
                self.draw.choice(self.dicts)
                if self.dicts and self.draw.random() < 0.4
                else self.name("d")
            )
            self.add(f"{name} = {self.table()}")
            self.note(self.dicts, name)

    def note(self, names: list[str], name: str) -> None:
        """In a block a new name may have no value after it."""
        if name not in names and self.depth == 0:
            names.append(name)

    def change(self) -> None:
        v = self.vector(1)
        if self.dicts and (not self.lists or self.draw.random() < 0.3):
            d = self.draw.choice(self.dicts)
            self.add(self.one(
                f'{d}["a"] = {v}', f"{d}.update(b={v})", f'{d} |= {{"a": {v}}}',
                f'{d}["b"] += {self.number()}', f'{d}.setdefault("a", {v})',
            ))  # fmt: skip
            return
        if not self.lists:
            return self.assign()
        xs = self.draw.choice(self.lists)
        self.add(self.one(
            f"{xs}.append({v})", f"{xs}.append({v})", f"{xs} += [{v}]", f"{xs}.extend([{v}, X])",
            f"{xs}.insert(0, {v})", f"{xs}[0] = {v}", f"{xs}[-1] += {self.number()}",
            f"{xs}.reverse()", f"{xs}.pop()", f"{xs}[1:] = [{v}]", f"del {xs}[0]",
        ))  # fmt: skip

    def unpack(self) -> None:
        a, b = self.name("v"), self.name("v")
        if self.lists and self.draw.random() < 0.6:
            xs, rest = self.draw.choice(self.lists), self.name("xs")
            self.add(self.one(f"{a}, *{rest} = {xs}", f"*{rest}, {a} = {xs}"))
            self.note(self.lists, rest)
        else:
            self.add(f"{a}, {b} = {self.vector(1)}, {self.vector(1)}")
            self.note(self.vectors, b)
        self.note(self.vectors, a)

    def block(self, extra: dict[str, list[str]] | None = None) -> None:
        self.depth += 1
        kept = [list(one) for one in (self.vectors, self.sizes, self.lists, self.dicts)]
        for kind, names in (extra or {}).items():
            getattr(self, kind).extend(names)
        for _ in range(self.draw.randint(1, 3)):
            self.statement()
        self.vectors, self.sizes, self.lists, self.dicts = kept
        self.depth -= 1

    def loop(self) -> None:
        i = self.name("i")
        kind = self.draw.random()
        if kind < 0.5:
            self.add(
                f"for {i} in range({self.one('2', 'n', 'len(X)', 'len(Y) - 1', self.size(1))}):"
            )
            self.block({"sizes": [i]})
        elif self.lists and kind < 0.75:
            x, xs = self.name("x"), self.draw.choice(self.lists)
            self.add(self.one(f"for {i}, {x} in enumerate(list({xs})):",
                              f"for {i}, {x} in zip(range(3), {xs}[:]):"))  # fmt: skip
            self.block({"sizes": [i], "vectors": [x]})
        elif self.dicts:
            x, d = self.name("x"), self.draw.choice(self.dicts)
            self.add(f"for {i}, {x} in sorted({d}.items(), key=lambda kv: kv[0]):")
            self.block({"vectors": [x]})
        else:
            self.add(f"while len(X) < {self.one('0', '1')}:")
            self.block()

    def statement(self) -> None:
        kind = self.draw.random()
        if self.depth < 2 and kind < 0.14:
            self.add(f"if {self.condition()}:")
            self.block()
            if self.draw.random() < 0.5:
                self.add("else:")
                self.block()
        elif self.depth < 2 and kind < 0.28:
            self.loop()
        elif kind < 0.6:
            self.assign()
        elif kind < 0.9:
            self.change()
        elif self.depth:
            v = self.vector(1)
            self.add(f"if {self.condition()}: return {v}, {self.size()}" if self.draw.random() < 0.3
                     else f"X = X + {v}")  # fmt: skip
        else:
            self.unpack()

    def body(self) -> str:
        for _ in range(self.draw.randint(4, 8)):
            self.statement()
        total = self.vector()
        for xs in self.lists[-2:]:
            total += f" + sum({xs})"
        for d in self.dicts[-1:]:
            total += f" + sum({d}.values())"
        self.lines.append(f"return {total}, {self.size()}")
        return "\n".join(self.lines)


def in_python(body: str, inputs: dict[str, Any]) -> list[Any] | None:
    """What CPython gives; nothing: it raises."""
    # `xs[0] += e` gives a tensor a new value, where NumPy would change the array in place.
    body = re.sub(r"^(\s*)(\w+\[[^]]*\]) \+= (.*)$", r"\1\2 = \2 + \3", body, flags=re.MULTILINE)
    names: dict[str, Any] = {"np": np}
    exec(f"def f({', '.join(inputs)}):\n{textwrap.indent(body, '    ')}", names)
    try:
        with little_memory(), np.errstate(all="ignore"):
            result = names["f"](**{name: value.copy() for name, value in inputs.items()})
    except Exception:
        return None
    if any(abs(int(v)) >= 2**62 for one in result for v in np.ravel(np.asarray(one, object))):
        return None
    return [np.asarray(one, np.int64) for one in result]


def outcome(seed: int, folder: pathlib.Path) -> str:
    body = Writer(seed).body()
    path = folder / f"l{seed}.py"
    answers = set()
    for named, cases in ((False, STATIC_INPUTS), (True, NAMED_INPUTS)):
        text = text_of(body, named, cases[0])
        path.write_text(text)
        function = runpy.run_path(str(path))["f"]
        answer, data = shared_compiler().compile(text, "f")
        assert answer[0] in ("ok", "error"), (answer, text)
        try:
            live = function.to_model_bytes()
        except sardonyx.CompileError:
            live = None
        assert (live is None) == (answer[0] == "error"), f"one surface refuses: {answer}\n{text}"
        for inputs in cases:
            expected = in_python(body, inputs)
            if expected is None:
                continue
            results: dict[str, Any] = {}
            try:
                eager = function(**{name: value.copy() for name, value in inputs.items()})
                results["eager"] = list(eager)
            except (TypeError, ValueError, NotImplementedError) as error:
                answers.add(f"eager refuses: {str(error)[:60]}")
            if live is not None:
                for surface, model in (("Python", live), ("command line", data)):
                    loaded = onnx.load_from_string(model)
                    onnx.checker.check_model(loaded, full_check=True)
                    try:
                        results[surface] = shared_evaluator().run(loaded, inputs)
                    except RuntimeError as error:
                        results[surface] = [str(error)]
            for surface, got in results.items():
                is_same = len(got) == len(expected) and all(
                    np.asarray(a).dtype == b.dtype and np.array_equal(a, b)
                    for a, b in zip(got, expected, strict=True)
                )
                assert is_same, (
                    f"{surface}, named={named}: {got}, not {expected} of {inputs}\n{text}"
                )
        answers.add("equal" if live is not None else f"refused: {answer[1]} {answer[2:3]}")
    return "equal" if answers == {"equal"} else sorted(answers - {"equal"})[0]


@pytest.mark.parametrize("shard", range(SHARDS))
def test_random_lists(shard: int, tmp_path: pathlib.Path) -> None:
    found = outcomes(outcome, SEEDS, range(shard, COUNT, SHARDS), tmp_path)
    assert found.count("equal") > len(found) // 4, found


if __name__ == "__main__":
    draw(outcome, lambda _, error: str(error)[:2500])
