"""Random programs whose control flow the run of the graph decides: dicts, tuples, lists, instances
and ONNX sequences of tensors in loops and branches, `break`, `continue`, `else` and early returns,
slices with sizes of the run, masks and index tensors, closures, bodies for `op.If`, `op.Loop` and
`op.Scan`, optional values, and calls of scripts with optional inputs, attributes and named sizes.

Each program is written with static and with named sizes. Called as Python, compiled from Python and
built from the command line, run by Sardonyx and by ONNX Runtime, it gives the same, or both
compilers refuse it. SDX_GRAPHS is how many are drawn (SDX_FULL: 3,000) from the seed that
sampling.py names.
"""

from __future__ import annotations

import pathlib
import runpy
from typing import Any

import numpy as np
import onnx
import onnx.checker
import pytest

from language import has_shape, run_ort, same, shared_evaluator
from language.drawing import (
    Writer,
    a,
    are_often_equal,
    built,
    draw,
    models_by_surface,
    outcomes,
    static_and_named,
)
from sampling import SEEDS, count

pytestmark = pytest.mark.filterwarnings("ignore")

COUNT = count("SDX_GRAPHS", 40, 3000)
SHARDS = 2

HEAD = """\
from dataclasses import dataclass
from typing import Optional
import numpy as np
from sardonyx import graph, script, BOOL, FLOAT, INT64, OPTIONAL, opset21 as op
W = np.array([0.5], np.float32)
PICKS = np.array([0, -1, 0], np.int64)
@dataclass
class State:
    v: FLOAT
    n: INT64
    def step(self, by):
        self.v = self.v * 0.5 + by
        self.n = (self.n + 1) % 5
        return self
@script(default_opset=op)
def scaled(v, by: float = 2.0, steps: int = 1, mode: str = "up"):
    for i in range(steps):
        v = v * by if mode == "up" else v - i
    return v
@script(default_opset=op)
def total(first, *rest, less: FLOAT[...] = 0.5):
    for one in rest:
        first = first * 0.5 + one
    return first - less
@script(default_opset=op)
def two(v: FLOAT["K"], flag: BOOL):
    if flag:
        return v * 0.5, v
    return v, v - 1.0
@script(default_opset=op)
def near(p: FLOAT["K"], q: FLOAT["K"], w: Optional[FLOAT["K"]] = None) -> FLOAT["K"]:
    if w is None:
        return p - q * 0.5
    return (p + q) * 0.5 - w
@script(default_opset=op)
def held(o: OPTIONAL[FLOAT["K"]], v: FLOAT["K"]):
    if o is None:
        return v * 0.5
    return o + v
@script(default_opset=op)
def signed(v: FLOAT["K"], k: int = 1):
    return op.ReduceMax(v, [0], keepdims=k) - v if k else -v
@script(default_opset=op)
def first_of(m: FLOAT["K", "L"], n: INT64):
    for i, row in enumerate(m):
        if i >= n:
            return row, i
    return m[0] * 0.5, n
def plain(p, *rest, w=W, **more):
    for one in rest:
        p = p * 0.5 - one
    return p * w + more.get("plus", 0.25)
def swapped(pair, flag):
    p, q = pair
    if flag:
        return p - 1.0, q * 0.5
    return p, q
"""

KINDS = [
    "vec", "mat", "num", "int", "flag", "part", "mask", "picks", "box", "pair", "state", "many",
    "seq",
]  # fmt: skip
# N, M, n, c
STATIC = [(3, 2, 2, True), (3, 2, 0, False), (3, 2, 5, False)]
NAMED = [*STATIC, (1, 3, 1, True), (4, 1, -1, False)]


class Program(Writer):
    """vec, mask: FLOAT and BOOL of [N]; part: FLOAT of any length; picks: INT64 in [-N, N)."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed, KINDS)
        # Assigning to items needs that no other name holds the tensor, as far as the text says.
        self.assigns_items = self.random.random() < 0.4
        self.loops = 0

    def new(self, kind: str) -> str:
        self.counter += 1
        return f"{kind}{self.counter}"

    def one_of(self, *forms: str) -> str:
        return self.pick(list(forms))

    def leaf(self, kind: str) -> str:
        return {
            "vec": self.pick(["v", "x[:, 0]", "x[:, -1]", "v[::-1]", "(v * 0.5)", "op.Abs(v)"]),
            "mat": self.pick(["x", "x[::-1]", "(x * 0.5)", "(v[:, None] + x)"]),
            "num": self.pick(["v[0]", "x[-1, 0]", "sum(v)", "v[n % len(v)]", "max(v)"]),
            "int": self.pick(["n", "(n + 1)", "(n % 3)", "op.Size(x)", "(n // -2)"]),
            "flag": self.pick(["c", "(n > 1)", "(v[0] > 0.5)", "(not c)", "(0 <= n < 3)"]),
            "part": self.pick(
                ["v[: n // 2]", "v[::-2]", "v[-2:]", "v[v > 0.0]", "x[..., None][0, :, 0]", "v[n:]"]
            ),
            "mask": self.pick(
                ["(v > 0.5)", "(x[:, 0] < v)", "((v > 0.0) & (v < 2.0))", "(v == v[0])"]
            ),
            "picks": self.pick(
                ["op.ArgMax(x, axis=0, keepdims=0)", "op.NonZero(v)[0]", "PICKS", "[0, -1]"]
            ),
            "box": self.pick(['{"a": v, "b": v[0]}', "dict(a=v * 2.0, b=sum(v))"]),
            "pair": self.pick(["(v, v[0])", "(x[:, 0], x[0, 0])"]),
            "state": self.pick(["State(v, n)", "State(v * 0.5, n + 1)"]),
            "many": self.pick(["[v, v - 1.0]", "[v * 0.5, v, x[:, 0]]", "[v + 1.0]"]),
            "seq": self.pick(
                ["op.SequenceConstruct(v, v * 2.0)", "op.SplitToSequence(x, axis=1, keepdims=0)"]
            ),
        }[kind]

    # --- Expressions ---

    def of_vec(self) -> str:
        return self.one_of(
            f"({a('vec')} + {a('vec')})", f"({a('vec')} - {a('num')})", f"({a('vec')} * 0.5)",
            f"{a('box')}['a']", f"{a('state')}.v", f"{a('pair')}[0]", f"{a('many')}[-1]",
            f"{a('seq')}[0]", f"({a('vec')} if {a('flag')} else {a('vec')})",
            f"op.Where({a('mask')}, {a('vec')}, {a('vec')})", f"({a('vec')})[::-1]",
            f"scaled({a('vec')}, {self.pick(['0.5', 'steps=2', 'mode=str(1), steps=3'])})",
            f"total({a('vec')}, {a('vec')}, {a('vec')})", f"total({a('vec')}, *{a('many')})",
            f"total({a('vec')}, {a('vec')}, less={a('num')})",
            f"two({a('vec')}, {a('flag')})[{self.pick(['0', '1'])}]",
            f"near({a('vec')}, {a('vec')})", f"near({a('vec')}, q={a('vec')}, w={a('vec')})",
            f"near(*{a('many')}[:1], {a('vec')})", f"signed({a('vec')})",
            f"signed({a('vec')}, k=0)",
            f"held({self.pick(['None', a('vec'), 'op.Optional(' + a('vec') + ')'])}, {a('vec')})",
            f"plain({a('vec')}, {a('vec')})", f"plain({a('vec')}, *{a('many')}, w={a('num')})",
            f"plain({a('vec')}, **{{'plus': {a('num')}}})", f"plain({a('vec')}, plus={a('num')})",
            f"sum({a('many')})", f"sum([q * 0.5 for q in {a('many')}])",
            f"(lambda q, w={a('num')}: q - w)({a('vec')})", f"({a('vec')} % 2.0)",
            f"({a('mat')})[:, {self.pick(['0', '-1', 'n % x.shape[1]'])}]",
            f"op.ReduceSum({a('mat')}, [1], keepdims=0)", f"{a('state')}.step({a('num')}).v",
            f"swapped(({a('vec')}, {a('num')}), {a('flag')})[0]",
            f"({a('vec')} + sum([q * 2 for q in x.shape]))", f"({a('vec')} + len({a('part')}))",
            f"sum([r * {a('num')} for r in x.T])",
            f"op.Concat(*[({a('vec')})[: len(v) // 2], ({a('vec')})[len(v) // 2 :]], axis=0)",
            f"max({a('many')}, key=lambda q: 1)", f"(-{a('vec')})",
            f"({a('vec')})[op.TopK({a('vec')}, [1])[1]] + v",
        )  # fmt: skip

    def of_mat(self) -> str:
        return self.one_of(
            f"({a('mat')} + {a('mat')})", f"({a('mat')} * {a('num')})", f"({a('mat')})[::-1, ::-1]",
            f"({a('vec')}[:, None] - {a('mat')})" if self.random.random() < 0.5 else "x[...]",
            f"({a('mat')} if {a('flag')} else {a('mat')})",
            f"op.Where({a('mask')}[:, None], {a('mat')}, {a('mat')})", f"scaled({a('mat')})",
        )  # fmt: skip

    def of_num(self) -> str:
        return self.one_of(
            f"({a('num')} + {a('num')})", f"({a('num')} * 0.5)", f"(-{a('num')})",
            f"sum({a('vec')})",
            f"max({a('vec')})", f"({a('vec')})[{self.pick(['0', '-1', 'n % len(v)'])}]",
            f"{a('box')}['b']", f"{a('pair')}[1]", f"op.Cast({a('int')}, to=1)",
            f"sum({a('part')})",
            f"abs({a('num')})", f"({a('num')} if {a('flag')} else {a('num')})",
            f"((w1 := {a('num')}) * 0.5 + w1)", f"op.ReduceSum({a('mat')}, keepdims=0)",
            f"max({a('num')}, {a('num')})", f"({a('mat')})[0, -1]",
            f"swapped(({a('vec')}, {a('num')}), {a('flag')})[1]",
            f"sum([q * i for i, q in enumerate({a('vec')})]) + {a('num')}",
            f"sum([p * q for p, q in zip({a('vec')}, {a('vec')})]) + {a('num')}",
            f"first_of({a('mat')}, {a('int')})[0][0]", f"min({a('vec')})",
        )  # fmt: skip

    def of_int(self) -> str:
        return self.one_of(
            f"({a('int')} + {a('int')}) % 7", f"({a('int')} * 2) % 5", f"({a('int')} // -2)",
            f"{a('state')}.n", f"op.ReduceSum(op.Cast({a('mask')}, to=7), keepdims=0)",
            f"op.Size({a('part')})", f"({a('int')} if {a('flag')} else {a('int')})",
            f"(n - len({a('part')}))", f"op.Cast({a('flag')}, to=7)", f"(n + len({a('seq')}))",
            f"(n * 0 + first_of({a('mat')}, {a('int')})[1])", f"op.SequenceLength({a('seq')})",
        )  # fmt: skip

    def of_flag(self) -> str:
        return self.one_of(
            f"({a('num')} {self.pick(['<', '>=', '!='])} {a('num')})", f"({a('int')} > {a('int')})",
            f"({a('num')} < {a('num')} <= {a('num')})", f"(not {a('flag')})",
            f"({a('flag')} and {a('flag')})", f"({a('flag')} or {a('flag')})",
            f"any({a('mask')})", f"all({a('mask')})", f"(len({a('part')}) > 1)",
            f"((w2 := {a('num')}) > 0.0 and w2 < 2.0)", f"({a('int')} in [1, 2])",
            f"({a('num')} in {a('vec')})", f"({a('flag')} == {a('flag')})",
            f"(n < len(v) and ({a('vec')})[n] > 0.5)", f"(0 <= {a('int')} < x.shape[0])",
            f"({a('flag')} if {a('flag')} else {a('flag')})",
        )  # fmt: skip

    def of_part(self) -> str:
        size = self.pick(["n // 2", "-1", "len(v) // 2", "x.shape[1]", "n % 3"])
        return self.one_of(
            f"({a('vec')})[: {size}]", f"({a('vec')})[{size} :]", f"({a('vec')})[{size} :: -1]",
            f"({a('vec')})[{a('mask')}]", f"({a('part')})[::-1]", f"({a('part')} * {a('num')})",
            f"({a('vec')})[{a('picks')}]", f"({a('part')} if {a('flag')} else {a('part')})",
            f"op.Concat({a('part')}, {a('vec')}, axis=0)", f"({a('mat')})[{a('mask')}, 0]",
            f"({a('mat')})[{a('picks')}, -1]", f"({a('mat')})[..., None, 0][::2, 0]",
            f"({a('mat')})[{a('mask')}][:, 0]", f"({a('mat')})[n % len(v)]",
            f"op.Compress({a('vec')}, {a('mask')})", f"({a('vec')})[: {a('int')}]",
            f"({a('vec')})[{a('int')} : {a('int')}]", f"({a('vec')})[:: -({a('int')} % 2 + 1)]",
        )  # fmt: skip

    def of_mask(self) -> str:
        return self.one_of(
            f"({a('vec')} {self.pick(['>', '<=', '=='])} {a('num')})", f"~({a('mask')})",
            f"(({a('mask')}) {self.pick(['&', '|', '^'])} ({a('mask')}))",
            f"({a('vec')} < {a('vec')})", f"op.And({a('mask')}, {a('flag')})",
        )  # fmt: skip

    def of_picks(self) -> str:
        return self.one_of(
            f"op.NonZero({a('vec')})[0]", f"op.ArgMax({a('mat')}, axis=0, keepdims=0)",
            f"op.TopK({a('vec')}, [1])[1]", f"op.NonZero({a('mask')})[0]",
        )  # fmt: skip

    def of_box(self) -> str:
        return self.one_of(
            f'{{"a": {a("vec")}, "b": {a("num")}}}', f'{{**{a("box")}, "b": {a("num")}}}',
            f'({a("box")} | {{"a": {a("vec")}}})', f"dict({a('box')}, b={a('num')})",
            f"({a('box')} if {a('flag')} else {a('box')})"
            if not self.assigns_items else f"dict(a={a('vec')}, b={a('num')})",
            f"{{k: q * 0.5 for k, q in {a('box')}.items()}}",
        )  # fmt: skip

    def of_pair(self) -> str:
        return self.one_of(
            f"({a('vec')}, {a('num')})", f"swapped({a('pair')}, {a('flag')})",
            f"({a('pair')} if {a('flag')} else {a('pair')})", f"tuple({a('box')}.values())",
            f"(*{a('pair')}[:1], {a('num')})",
        )  # fmt: skip

    def of_state(self) -> str:
        return self.one_of(
            f"State({a('vec')}, {a('int')})", f"State(n={a('int')}, v={a('vec')})",
            f"State({a('vec')}, {a('int')}).step({a('num')})",
        )  # fmt: skip

    def of_many(self) -> str:
        return self.one_of(
            f"[{a('vec')}, {a('vec')}]", f"[*{a('many')}, {a('vec')}]", f"{a('many')}[::-1]",
            f"[q - {a('num')} for q in {a('many')}]", f"[{a('vec')}] + {a('many')}",
            f"list(two({a('vec')}, {a('flag')}))",
            f"[p + q for p, q in zip({a('many')}, {a('many')})]",
        )  # fmt: skip

    def of_seq(self) -> str:
        return self.one_of(
            f"op.SequenceInsert({a('seq')}, {a('vec')})",
            f"op.SequenceInsert({a('seq')}, {a('vec')}, 0)",
            f"op.SequenceConstruct({a('vec')}, {a('vec')})",
            f"({a('seq')} if {a('flag')} else {a('seq')})",
            f"op.SplitToSequence({a('mat')}, axis=1, keepdims=0)",
        )  # fmt: skip

    # --- Statements ---

    def value(self, kind: str) -> str:
        """An expression that a name may be bound to."""
        made = self.of(kind)
        if self.assigns_items and kind in ("vec", "mat"):
            return f"({made}) * 1.0"
        if kind == "picks":
            return f"op.Identity({made})"
        return made

    def changed(self) -> list[str]:
        """Lines that change what a name holds."""
        kind = self.pick([kind for kind in KINDS if self.names[kind]] or ["none"])
        if kind == "none":
            return ["pass"]
        name = self.pick(self.names[kind])
        forms = [f"{name} = {self.value(kind)}"]
        if kind == "vec":
            forms += [f"{name} += {a('num')}", f"{name} *= 0.5", f"{name} -= {a('vec')}"]
        if kind in ("vec", "mat") and self.assigns_items:
            forms = [
                f"{name}[0] += {a('num')}",
                f"{name}[: n // 2] = {a('num')}",
                f"{name}[{a('mask')}] *= 0.5",
                f"{name}[{a('mask')}] = {a('num')}",
                f"{name}[::-1] = {a(kind)}",
                f"{name}[n % len(v)] -= {a('num')}",
                f"{name}[-1:] = {a('num')}",
                f"{name}[op.NonZero({a('mask')})[0]] = {a('num')}",
                *([f"{name}[..., -1] = {a('vec')}", f"{name}[0][-1] = {a('num')}",
                   f"{name}[{a('mask')}, 0] = {a('num')}"] if kind == "mat" else []),
            ]  # fmt: skip
        if kind == "num":
            forms += [f"{name} += {a('num')}", f"{name} *= 0.5"]
        if kind == "int":
            forms += [f"{name} = ({name} + 1) % 5", f"{name} -= 1"]
        if kind == "box":
            forms += [f'{name}["a"] = {a("vec")}', f'{name}["b"] += {a("num")}',
                      f"{name}.update(a={a('vec')})", f'{name} |= {{"b": {a("num")}}}']  # fmt: skip
        if kind == "state":
            forms += [f"{name}.v = {a('vec')}", f"{name}.n += 1", f"{name}.step({a('num')})",
                      f"{name}.v -= {a('num')}"]  # fmt: skip
        if kind == "many":
            forms = [f"{name}[0] = {a('vec')}", f"{name}[-1] += {a('num')}", f"{name}.reverse()",
                     f"{name} = [q * 0.5 for q in {name}]",
                     f"{name}.append({a('vec')})"]  # fmt: skip
        if kind == "seq":
            forms += [f"{name} = op.SequenceInsert({name}, {a('vec')})",
                      f"{name} = op.SequenceErase(op.SequenceInsert({name}, {a('vec')}), 0)",
                      ]  # fmt: skip
        return [self.filled(self.pick(forms))]

    def block(self, depth: int, known: dict[str, list[str]] | None = None) -> list[str]:
        """Lines of a block, whose new names have no value after it."""
        kept = {kind: list(names) for kind, names in self.names.items()}
        for kind, names in (known or {}).items():
            self.names[kind] += names
        lines = []
        for _ in range(self.random.randrange(1, 3)):
            lines += self.changed() if self.random.random() < 0.55 else self.statement(depth)
        self.names = kept
        return ["    " + line for line in lines]

    def jump(self, in_loop: bool) -> list[str]:
        jumps = ["break", "continue"] if in_loop else []
        result = f"return {self.of('vec')}, {self.of('num')}, {self.of('int')}"
        lines = [f"if {self.of('flag')}:"]
        if self.random.random() < 0.4:
            lines += ["    " + line for line in self.changed()]
        return [*lines, f"    {self.pick([*jumps, *jumps, *jumps, result])}"]

    def statement(self, depth: int) -> list[str]:
        kind = self.random.randrange(20)
        if depth > 0 and kind < 4:
            lines = [f"if {self.of('flag')}:", *self.block(depth - 1)]
            if self.random.random() < 0.3:
                lines += [f"elif {self.of('flag')}:", *self.block(depth - 1)]
            if self.random.random() < 0.5:
                lines += ["else:", *self.block(depth - 1)]
            return lines
        if depth > 0 and kind < 9 and self.loops < 3:
            return self.loop(depth)
        if kind == 9:
            return self.function()
        if kind == 10:
            return self.body_of_operator()
        if kind == 11:
            one, other = self.new("vec"), self.new("num")
            line = f"{one}, {other} = {self.of('pair')}"
            self.names["vec"].append(one)
            self.names["num"].append(other)
            return [line] + ([f"{one} = {one} * 1.0"] if self.assigns_items else [])
        if kind == 12:
            name, held = self.new("vec"), self.new("o")
            made = self.pick([f"op.Optional({self.of('vec')})", "op.Optional(type=FLOAT['N'])"])
            if "type" in made:
                made = f"op.Optional({self.of('vec')})"
            lines = [
                f"{held} = {made}",
                f"if {held} is None:",
                f"    {name} = {self.of('vec')} * 2.0",
                "else:",
                f"    {name} = {held} + {self.of('num')}",
            ]
            self.names["vec"].append(name)
            return lines
        if kind == 13:
            name = self.new("num")
            lines = [
                f"{name} = {self.of('num')}",
                "match x.shape:",
                *self.pick_lines([], ["    case [1, _]:", f"        {name} = {self.of('num')}"]),
                *self.pick_lines(
                    ["    case [p, q] if p > q:", f"        {name} = {name} * q"],
                    ["    case (p, q):", f"        {name} = {name} + p"],
                    ["    case [p, *rest]:", f"        {name} = {name} * len(rest)"],
                ),
            ]
            self.names["num"].append(name)
            return lines
        if kind == 14 and depth > 0:
            return self.jump(False)
        if kind < 17 and any(self.names.values()):
            return self.changed()
        chosen = self.pick(KINDS)
        name = self.new(chosen)
        line = f"{name} = {self.value(chosen)}"
        self.names[chosen].append(name)
        return [line]

    def pick_lines(self, *choices: list[str]) -> list[str]:
        return self.random.choice(choices)

    def loop(self, depth: int) -> list[str]:
        self.loops += 1
        i, r, e = self.new("i"), self.new("r"), self.new("e")
        known: dict[str, list[str]] = {}
        use = [f"{self.pick(self.names['num'])} += {i}"] if self.names["num"] else []
        head = self.pick(
            ["range(n)", "range(n, -1, -2)", f"range({self.of('int')})", "range(len(v))",
             "rows", "columns", "both", "counted", "parts", "seq", "while", "many"]
        )  # fmt: skip
        if head == "while":
            lines = [
                f"{i} = n * 0",
                f"while ({e} := {self.of('num')}) > -4.0 and {i} < 3:",
                f"    {i} += 1",
            ]
            known, use = {"num": [e]}, []
        elif head == "rows":
            lines, known, use = [f"for {r} in {self.of('mat')}:"], {"part": [r]}, []
        elif head == "columns":
            lines, known = [f"for {i}, {r} in enumerate(({self.of('mat')}).T):"], {"vec": [r]}
        elif head == "both":
            lines = [f"for {r}, {e} in zip({self.of('mat')}, {self.of('vec')}):"]
            known, use = {"part": [r], "num": [e]}, []
        elif head == "counted":
            lines, known = [f"for {i}, {e} in enumerate({self.of('vec')}, 1):"], {"num": [e]}
        elif head == "parts":
            lines = [f"for {e} in reversed({self.of('part')}):"]
            known, use = {"num": [e]}, []
        elif head == "seq":
            lines, known, use = [f"for {r} in {self.of('seq')}:"], {"vec": [r]}, []
        elif head == "many":
            lines, known = [f"for {i}, {r} in enumerate({self.of('many')}):"], {"vec": [r]}
        else:
            lines = [f"for {i} in {head}:"]
        if self.assigns_items:
            known = {kind: names for kind, names in known.items() if kind != "vec"}
        kept = {kind: list(names) for kind, names in self.names.items()}
        for kind, names in known.items():
            self.names[kind] += names
        body = ["    " + line for line in use]
        if self.random.random() < 0.4:
            body += ["    " + line for line in self.jump(True)]
        body += self.block(depth - 1)
        if self.random.random() < 0.3:
            body += ["    " + line for line in self.jump(True)]
        self.names = kept
        lines += body
        if self.random.random() < 0.3:
            lines += ["else:", *self.block(0)]
        return lines

    def effect(self, outer: str) -> str:
        """What a function does to something around."""
        forms = [f"{outer} = {outer} * 0.5 - {a('num')}", f"{outer} += w"] if outer else ["pass"]
        for one in self.names["state"][-2:]:
            forms += [f"{one}.step({a('num')})", f"{one}.v = {one}.v - {a('vec')}", f"{one}.n += 1"]
        for one in self.names["box"][-2:]:
            forms += [f"{one}['a'] = {a('vec')}", f"{one}['b'] += {a('num')}"]
        for one in self.names["many"][-2:]:
            forms += [f"{one}[0] = {a('vec')}", f"{one}[-1] = {one}[-1] * 0.5"]
        return self.filled(self.pick(forms))

    def step_of_function(self, outer: str) -> list[str]:
        test, result = self.of("flag"), f"return q - {self.of('vec')}"
        effects = ["        " + self.effect(outer) for _ in range(2)]
        return self.pick_lines(
            [f"    if {test}:", effects[0], f"        {result}"],
            [f"    if {test}:", effects[0], f"        {result}", effects[1][4:]],
            [f"    if {test}:", effects[0], "    else:", effects[1]],
            [f"    if {test}:", f"        if {self.of('flag')}:", "    " + effects[0],
             f"            {result}", effects[1]],
            ["    for _ in range(n):", effects[0], f"        if {test}:", "    " + effects[1],
             f"            {result}"],
            [effects[0][4:]],
        )  # fmt: skip

    def function(self) -> list[str]:
        """A function that reads, and perhaps changes, names around it."""
        g, name = self.new("g"), self.new("vec")
        outer = self.pick(self.names["num"]) if self.names["num"] else ""
        changes = bool(outer) and self.random.random() < 0.5
        lines = [f"def {g}(q, *rest, w={self.of('num')}):"]
        if changes:
            lines += [f"    nonlocal {outer}", f"    {outer} = {outer} * 0.5 + w"]
        for _ in range(self.random.randrange(4)):
            lines += self.step_of_function(outer if changes else "")
        lines += [f"    return q * 0.5 + sum(rest) - w + {self.of('vec')}"]
        lines += self.changed()
        call = self.pick(
            [f"{g}({self.of('vec')})", f"{g}({self.of('vec')}, {self.of('vec')})",
             f"{g}({self.of('vec')}, *{self.of('many')}, w={self.of('num')})"]
        )  # fmt: skip
        if self.random.random() < 0.3:
            lines += [f"{name} = v * 1.0", "for _ in range(n):", f"    {name} = {call} * 0.5"]
        else:
            lines += [f"{name} = {call} * 1.0"]
        self.names["vec"].append(name)
        return lines

    def body_of_operator(self) -> list[str]:
        g, h, name, other = self.new("g"), self.new("h"), self.new("vec"), self.new("num")
        form, one = self.random.randrange(4), "num_scan_inputs=1"
        if form == 0:
            lines = [
                "@graph()",
                f"def {g}():",
                f"    return {self.of('vec')} * 0.5, {self.of('num')} + 1.0",
                "@graph()",
                f"def {h}():",
                f"    return {self.of('vec')} - 1.0, {self.of('num')} * 2.0",
                f"{name}, {other} = op.If({self.of('flag')}, then_branch={g}, else_branch={h})",
            ]  # fmt: skip
        elif form == 1:
            lines = [
                "@graph()",
                f"def {g}(s, q):",
                f"    t = s * 0.5 + q + {self.of('num')}",
                "    return t, op.Identity(t) * 2.0",
                f"{other}, {name} = op.Scan({self.of('num')}, {self.of('vec')}, body={g}, {one})",
            ]
        elif form == 2:
            rounds = self.pick(["3", "n", "op.Size(v)"])
            start = f"{self.of('vec')}, {self.of('num')}"
            lines = [
                "@graph()",
                f"def {g}(i, go, s, t):",
                f"    p = s * 0.5 + op.Cast(i, to=1) + {self.of('num')}",
                "    return t < 40.0, p, t + sum(p)",
                f"{name}, {other} = op.Loop({rounds}, True, {start}, body={g})",
            ]
        else:
            lines = [
                "@graph()",
                f"def {g}(q):",
                f"    return q * {self.pick(['0.5', '2.0'])} + op.Abs(q)",
                f"{name} = op.SequenceMap({self.of('seq')}, body={g})[0]",
            ]
            self.names["vec"].append(name)
            return lines
        if self.assigns_items:
            lines.append(f"{name} = {name} * 1.0")
        self.names["vec"].append(name)
        self.names["num"].append(other)
        return lines

    def program(self) -> str:
        lines = ["y = v * 1.0", "t = v[0] * 0.5"]
        for kind in self.random.sample(KINDS, 4):
            name = self.new(kind)
            lines.append(f"{name} = {self.value(kind)}")
            self.names[kind].append(name)
        for _ in range(self.random.randrange(2, 5)):
            lines += self.statement(2)
        seen = []
        for kind, names in self.names.items():
            for name in names[:3]:
                seen.append(self.observe(kind, name))
        self.random.shuffle(seen)
        count = self.names["int"][0] if self.names["int"] else "n"
        lines += [*seen, f"return y, t, {count}"]
        return "".join(f"    {line}\n" for line in lines)

    def observe(self, kind: str, name: str) -> str:
        return {
            "vec": f"y = y * 0.5 + {name}",
            "mat": f"y = y * 0.5 + op.ReduceSum({name}, [1], keepdims=0)",
            "num": f"t = t * 0.5 + {name}",
            "int": f"t = t * 0.5 + op.Cast({name}, to=1)",
            "flag": f"t = t * 0.5 + op.Cast({name}, to=1)",
            "part": f"t = t * 0.5 + sum({name}) + len({name})",
            "mask": f"y = op.Where({name}, y, y * 0.5)",
            "picks": f"t = t * 0.5 + sum(v[{name}])",
            "box": f"y, t = y * 0.5 + {name}['a'], t - {name}['b']",
            "pair": f"y, t = y * 0.5 + {name}[0], t - {name}[1]",
            "state": f"y, t = y * 0.5 + {name}.v, t + op.Cast({name}.n, to=1)",
            "many": f"y = y * 0.5 + {name}[0] - {name}[-1] + len({name})",
            "seq": f"y = y * 0.5 + {name}[0] - {name}[-1] + len({name})",
        }[kind]


def check(is_named: bool, body: str, path: pathlib.Path) -> str:
    n, m = ('"N"', '"M"') if is_named else STATIC[0][:2]
    signature = f"def f(x: FLOAT[{n}, {m}], v: FLOAT[{n}], n: INT64, c: BOOL):\n"
    text = HEAD + "@script(default_opset=op)\n" + signature + body
    path.write_text(text)
    shown = signature + body
    program = built(text)
    try:
        function = runpy.run_path(str(path))["f"]
    except SyntaxError as error:  # a walrus in the iterable of a comprehension
        assert program[0][0] == "error", f"only CPython refuses: {error}\n{shown}"
        return "no Python"
    models = {
        surface: onnx.load_from_string(data)
        for surface, data in models_by_surface(program, function, shown).items()
    }
    if not models:
        return "refused: " + ", ".join(program[0][1:])[:130] if len(program[0]) > 1 else "refused"
    for model in models.values():
        if all(has_shape(info) for info in (*model.graph.input, *model.graph.output)):
            onnx.checker.check_model(model, full_check=True)
    outcome = ""
    for rows, columns, number, flag in NAMED if is_named else STATIC:
        x = np.arange(rows * columns, dtype=np.float32).reshape(rows, columns) - 2
        inputs = {
            "x": x,
            "v": x[:, 0] * 0.5 + 1,
            "n": np.asarray(number, np.int64),
            "c": np.asarray(flag),
        }
        at = f"x{x.shape}, n={number}, c={flag}"
        raised = None
        try:
            expected = [np.asarray(one) for one in function(**inputs)]
        except Exception as error:
            raised = error
        runs: dict[str, Any] = {
            surface: lambda model=model: shared_evaluator().run(model, inputs)  # noqa: B023
            for surface, model in models.items()
        }
        runs["ONNX Runtime"] = lambda: run_ort(models["Python"], inputs)  # noqa: B023
        for way, run in runs.items():
            try:
                got = run()
            except Exception as error:
                assert raised, f"{way}, {at}: {error}\n{shown}"
                continue
            assert raised is None, f"only Python refuses, {at}: {raised!r}, {way}\n{shown}"
            try:
                same(got, expected, 1e-3)
            except AssertionError as error:
                raise AssertionError(f"{way}, {at}: {error}\n{shown}") from None
        outcome = outcome or ("raises in the run" if raised else "equal")
    return outcome


def outcome(seed: int, folder: pathlib.Path) -> str:
    return static_and_named(check, Program(seed).program(), folder, seed)


@pytest.mark.parametrize("shard", range(SHARDS))
def test_random_graphs(shard: int, tmp_path: pathlib.Path) -> None:
    found = outcomes(outcome, SEEDS, range(shard, COUNT, SHARDS), tmp_path)
    assert are_often_equal(found), found


if __name__ == "__main__":
    draw(outcome, lambda _, error: str(error)[:3000])
