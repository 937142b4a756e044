"""Random programs over the sizes of tensors, which are ints or known at run time only: match
statements, comprehensions with conditions, walrus, starred assignments and calls, defaults and
keyword-only parameters, nested functions that change names by `nonlocal`, `while` with `break` and
`else`, texts in `raise`, chained comparisons, slices with negative steps, division of negative
numbers, arithmetic of bools.

Each program is written with static and with named sizes. Called as Python they mean what CPython
says. Compiled from Python and built from the command line they give that, or both are refused.
SDX_SIZES is how many are drawn (SDX_FULL: 10,000) from the seed that sampling.py names.
"""

from __future__ import annotations

import pathlib
import runpy

import numpy as np
import onnx
import pytest

from language import shared_evaluator
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

COUNT = count("SDX_SIZES", 100, 10000)
SHARDS = 2

HEAD = """\
from sardonyx import script, BOOL, FLOAT, INT64, opset21 as op
"""

# N, M
STATIC = (3, 2)
SIZES = [STATIC, (1, 4), (4, 1)]

KINDS = ["int", "size", "cond", "ints", "sizes", "vec", "vecs", "float", "dict", "text"]


class Program(Writer):
    """int: known; size: an int, perhaps of the run; vec: FLOAT[N]; vecs: a list of those."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed, KINDS)

    def new(self, kind: str) -> str:
        self.counter += 1
        return f"{kind}{self.counter}"

    def leaf(self, kind: str) -> str:
        n = self.random.randrange(-3, 6)
        m = self.random.randrange(0, 4)
        return {
            "int": str(n),
            "size": self.pick(["x.shape[0]", "x.shape[1]", "len(v)", "x.shape[-1]", "x.size"]),
            "cond": self.pick(["True", "False", "x.shape[0] > 2", "x.shape[1] == 2", "len(v) < 4"]),
            "ints": self.pick(["[3, 1, 2]", f"[{n}]", f"[{n}, {m}, {n}, 4]", f"[*range({m + 1})]"]),
            "sizes": self.pick(["x.shape", "[*x.shape]", f"(x.shape[0], {n})", f"[{m}, len(v)]"]),
            "vec": self.pick(["v", "x[:, 0]", "x[:, -1]", "v[::-1]", "(v + 1)", f"(v * {n})"]),
            "vecs": self.pick(["[v, v * 2]", "[v]", "[x[:, 0], v, v + 1.5]"]),
            "float": self.pick(["0.5", "-1.25", "2.0", f"{n / 4}"]),
            "dict": self.pick([f"{{'a': {n}, 'b': {m}}}", f"{{'b': {n}}}", f"dict(a={n}, c={m})"]),
            "text": self.pick(["'ab'", "'c'", "''", f"str({n})"]),
        }[kind]

    # --- Kinds ---

    def of_int(self) -> str:
        return self.pick(
            [
                f"({a('int')} {self.pick(['+', '-', '*'])} {a('int')})",
                f"-{a('int')}",
                f"~{a('int')}",
                f"({a('int')} {self.pick(['//', '%'])} {self.pick(['3', '-2', '4'])})",
                f"len({a(self.pick(['ints', 'sizes', 'vecs', 'dict', 'text']))})",
                f"sum({a('ints')})",
                f"max({a('ints')})",
                f"{a('ints')}[{self.pick(['0', '-1'])}]",
                f"{a('dict')}.get('{self.pick(['a', 'b', 'z'])}', 7)",
                f"sum(1 for q in {a('ints')} if q > {a('int')})",
                f"len([q for q in {a('ints')} if q % 2 == 0 if q > -2])",
                f"(True + {a('int')})",
                f"({a('int')} > 1) + ({a('int')} < 2)",
                f"sum([q > 1 for q in {a('ints')}])",
                f"({a('int')} if {a('int')} < {a('int')} <= 4 else {a('int')})",
                f"(w1 := {a('int')}) * 2 + w1",
                f"bits({a('int')}, {a('int')})",
                f"bits(*[{a('int')}, 3], k={a('int')})",
                f"bits(**{{'p': {a('int')}, 'k': 2}})",
                f"len({a('ints')}[::-2])",
                f"({a('int')} and {a('int')})",
                f"({a('int')} or {a('int')})",
            ]
        )

    def of_size(self) -> str:
        order = self.pick(["<", "<=", ">", ">=", "==", "!="])
        return self.pick(
            [
                f"({a('size')} {self.pick(['+', '-', '*'])} {a('size')})",
                f"({a('size')} {self.pick(['+', '-', '*'])} {a('int')})",
                f"-{a('size')}",
                f"~{a('size')}",
                f"(({a('int')} - {a('size')}) {self.pick(['//', '%'])} {self.pick(['3', '-2'])})",
                f"({a('size')} {self.pick(['//', '%'])} {self.pick(['3', '-2', '4'])})",
                f"({a('size')} // x.shape[0])",
                f"({a('size')} % -x.shape[1])",
                f"abs({a('size')})",
                f"max({a('size')}, {a('size')}, 1)",
                f"min({a('size')}, {a('int')})",
                f"max({a('sizes')})",
                f"sum({a('sizes')})",
                f"{a('sizes')}[{self.pick(['0', '-1', '1 - 1'])}]",
                f"{a('int')}",
                f"({a('size')} if {a('cond')} else {a('size')})",
                f"({a('size')} {order} {a('int')}) + 1",
                f"(True + {a('size')})",
                f"({a('cond')} + {a('cond')})",
                f"({a('cond')} * {a('size')})",
                f"int({a('cond')})",
                f"sum({a('size')} {order} q for q in {a('ints')})",
                f"sum([q for q in {a('sizes')} if q > {a('int')}])",
                f"sum(q * i for i, q in enumerate({a('sizes')}))",
                f"len([q for q in {a('sizes')} if q {order} 2])",
                f"(w2 := {a('size')}) + w2 % 3",
                f"bits({a('size')}, {a('int')})",
                f"bits(*{a('sizes')})",
                f"bits({a('int')}, k={a('size')})",
                f"bits(**dict(p={a('size')}, k=1))",
                f"({a('size')} and {a('int')})",
                f"({a('size')} or {a('size')})",
                f"len(range({a('size')}))",
                f"len(v[{a('int')}:])",
                f"len(v[:{a('size')}])",
                f"len(v[{self.pick(['::-2', '-2:', ':-1', '::2', '-2::-1', '1:-1'])}])",
                f"len(x[{a('int')}:{a('size')}])",
                f"int({a('size')} / 2)",
                f"round({a('size')} / 4)",
                f"divmod({a('size')}, 3)[{self.pick(['0', '1'])}]",
                f"({a('size')} & 5)",
                f"({a('size')} ^ {a('int')})",
                f"({a('size')} << 1)",
                f"({a('size')} >> 1)",
                f"({a('size')} ** 2)",
                f"{a('ints')}.count({a('size')})",
                f"int({a('size')} in {a('ints')})",
                f"int(v[{self.pick(['0', '-1'])}])",
                f"(lambda q, *, r={a('size')}: q - r)({a('size')})",
                f"classify({a(self.pick(['size', 'sizes', 'int', 'ints', 'dict', 'text']))})",
                f"sorted({a('sizes')})[0]",
                f"int(not {a('size')})",
                f"math_prod({a('sizes')})",
            ]
        )

    def of_cond(self) -> str:
        order, second = (self.pick(["<", "<=", ">", ">=", "==", "!="]) for _ in range(2))
        return self.pick(
            [
                f"({a('size')} {order} {a('size')})",
                f"({a('size')} {order} {a('int')})",
                f"({a('int')} {order} {a('size')} {second} {a('int')})",
                f"({a('size')} {order} {a('size')} {second} {a('size')})",
                f"({a('cond')} and {a('cond')})",
                f"({a('cond')} or {a('cond')})",
                f"(not {a('cond')})",
                f"({a('cond')} == {a('cond')})",
                f"({a('cond')} ^ {a('cond')})",
                f"({a('size')} in {a('ints')})",
                f"({a('size')} in {a('sizes')})",
                f"({a('int')} not in {a('sizes')})",
                f"any(q > {a('int')} for q in {a('sizes')})",
                f"all([q > {a('size')} for q in {a('ints')}])",
                f"bool({a('size')})",
                f"({a('sizes')} == {a('sizes')})",
                f"(tuple({a('sizes')}) {order} tuple({a('ints')}))",
                f"((w3 := {a('size')}) > 1 and w3 < 4)",
                f"({a('float')} < {a('size')})",
                f"({a('size')} / 2 {order} {a('float')})",
                f"isinstance({a('size')}, {self.pick(['int', 'bool', '(int, float)', 'float'])})",
                f"({a('ints')} != [])",
                f"({a('text')} {self.pick(['==', '<', 'in'])} {a('text')})",
            ]
        )

    def of_ints(self) -> str:
        part = self.pick(["1:", ":-1", "::-1", "::-2", "2::-1", "-2:", "1:3", ":0:-1"])
        return self.pick(
            [
                f"({a('ints')}[{part}] + [1])",
                f"[q + 1 for q in {a('ints')}]",
                f"[*{a('ints')}, *{a('ints')}]",
                f"[*(q for q in {a('ints')} if q % 2), {a('int')}]",
                f"([p - q for p in {a('ints')} for q in [1, 2] if p != q] + [2])",
                f"([y1 for q in {a('ints')} if (y1 := q % 3) > 0] + [{a('int')}])",
                f"sorted({a('ints')}, reverse=True)",
                f"list({{q % 3: q for q in {a('ints')}}}.values())",
                f"({a('ints')} * 2)",
                f"[*map(abs, {a('ints')})]",
                f"[p * q for p, q in zip({a('ints')}, {a('ints')})]",
            ]
        )

    def of_sizes(self) -> str:
        return self.pick(
            [
                f"({a('sizes')}[::-1])",
                f"[*{a('sizes')}, {a('size')}]",
                f"[q + 1 for q in {a('sizes')}]",
                f"[q % {a('int')} if {a('int')} else q for q in {a('sizes')}]",
                f"tuple(q // 2 for q in {a('sizes')})",
                f"([{a('size')} for q in {a('ints')} if q > 1] + [{a('size')}])",
                f"[*{a('ints')}, {a('size')}]",
                f"[len(q) for q in {a('vecs')}]",
                f"x[{a('int')}:].shape",
                "x.T.shape",
                f"[{a('size')}] * 2",
                f"[max(q, {a('size')}) for q in {a('sizes')}]",
            ]
        )

    def of_float(self) -> str:
        return self.pick(
            [
                f"({a('float')} + {a('float')})",
                f"({a('float')} * {a('int')})",
                f"({a('size')} / 4)",
                f"({a('size')} * {a('float')})",
                f"-{a('float')}",
                f"float({a('size')})",
                f"({a('float')} // 0.5)",
                f"({a('float')} % -0.75)",
                f"({a('float')} if {a('cond')} else {a('float')})",
                f"max({a('float')}, {a('float')})",
                f"abs({a('float')})",
                f"(sum({a('sizes')}) / 2)",
                f"(True * {a('float')})",
                "float(v[0])",
            ]
        )

    def of_vec(self) -> str:
        return self.pick(
            [
                f"({a('vec')} {self.pick(['+', '-'])} {a('vec')})",
                f"({a('vec')} * {a('int')})",
                f"({a('size')} - {a('vec')})",
                f"({a('vec')} * {a('float')})",
                f"({a('vec')} {self.pick(['//', '%'])} {self.pick(['2', '-3', '0.5'])})",
                f"-{a('vec')}",
                f"{a('vec')}[::-1]",
                f"{a('vecs')}[{self.pick(['0', '-1', '0 * 2', '-1 + 0'])}]",
                f"{a('vecs')}[::-1][0]",
                f"({a('vec')} if {a('cond')} else {a('vec')})",
                f"sum({a('vecs')})",
                f"sum([q * {a('int')} for q in {a('vecs')}])",
                f"op.Where({a('vec')} > {a('int')}, {a('vec')}, {a('vec')})",
                f"mixed({a('vec')})",
                f"mixed({a('vec')}, *{a('vecs')})",
                f"mixed(*{a('vecs')}, by={a('size')})",
                f"mixed({a('vec')}, **{{'by': {a('float')}}})",
                "(x @ op.CastLike(op.Range(0, x.shape[1], 1), x))",
                f"(x.sum(axis=1) if {a('cond')} else {a('vec')})",
                f"({a('vec')} * {a('cond')})",
                f"({a('vec')} + len({a('vecs')}))",
                f"max({a('vecs')}, key=lambda q: {a('int')})",
            ]
        )

    def of_vecs(self) -> str:
        part = self.pick(["1:", ":-1", "::-1", "::-2", "-2:", ":0:-1"])
        return self.pick(
            [
                f"({a('vecs')}[{part}] + [{a('vec')}])",
                f"[q * 2 for q in {a('vecs')}]",
                f"[*{a('vecs')}, {a('vec')}]",
                f"[{a('vec')} * q for q in {a('ints')}]",
                f"[q + i for i, q in enumerate({a('vecs')})]",
                f"([v * q for q in {a('ints')} if q > 0] + [{a('vec')}])",
                f"([q for q in {a('vecs')} if len(q) > {a('int')}] + [v])",
                f"([q * p for q, p in zip({a('vecs')}, {a('ints')})] + [v])",
                f"list(reversed({a('vecs')}))",
                f"[*map(lambda q: q - {a('int')}, {a('vecs')})]",
            ]
        )

    def of_dict(self) -> str:
        return self.pick(
            [
                f"{{**{a('dict')}, 'a': {a('int')}}}",
                f"{{k: q + 1 for k, q in {a('dict')}.items() if q < {a('int')}}}",
                f"dict(b={a('int')}, **{{'c': {a('int')}}})",
                f"({a('dict')} | {a('dict')})",
                f"{{q: i for i, q in enumerate({a('text')})}}",
            ]
        )

    def of_text(self) -> str:
        return self.pick(
            [
                f"f'{{{a('int')}}}'",
                f"f'{{{a('int')}:+d}}{{{a('float')}:.2f}}'",
                f"({a('text')} * 2)",
                f"({a('text')} + {a('text')})",
                f"{a('text')}[::-1]",
                f"', '.join(str(q) for q in {a('ints')})",
                f"'{{}}-{{}}'.format({a('int')}, {a('text')})",
                f"f'{{{a('ints')}!r:>9}}'",
                f"'%d %s' % ({a('int')}, {a('text')})",
                "f'{x.shape}'",
            ]
        )

    # --- Statements ---

    def observe(self, kind: str, value: str) -> str:
        """A statement that adds to `t`, an int, or `y`, a tensor."""
        number = {
            "int": f"{value}",
            "size": f"{value}",
            "cond": f"int({value})",
            "ints": f"sum({value}) + len({value})",
            "sizes": f"sum({value}) * 2 + len({value})",
            "dict": f"sum({value}.values()) + len({value})",
            "text": f"code({value})",
        }
        if kind in number:
            return f"t = (t * 3 + {number[kind]}) % 9973"
        if kind == "vecs":
            value = f"sum({value}) + len({value})"
        return f"y = y * 0.5 + {value}"

    def statements(self, indent: str, count: int) -> list[str]:
        lines = []
        for _ in range(count):
            made: list[tuple[str, str]] = []  # names and their kinds
            lines += [indent + self.filled(line) for line in self.form(made)]
            for name, kind in made:
                self.names[kind].append(name)
        return lines

    def changed(self, loops_over: str = "") -> str:
        """A statement that changes what a name holds."""
        forms = []
        for kind, texts in {
            "int": ["{} += 1", "{} = -{}", f"{{}} //= {self.pick(['2', '-3'])}"],
            "size": [f"{{}} += {a('size')}", "{} -= 1", f"{{}} %= {self.pick(['3', '-2'])}"],
            "vec": ["{} = {} * 0.5", f"{{}} += {a('vec')}", f"{{}} -= {a('size')}"],
            "ints": ["{}.append(1)", f"{{}} += [{a('int')}]", "{}.reverse()", "{}[0] = 2"],
            "sizes": [f"{{}} = [*{{}}, {a('size')}]"],
            "vecs": [f"{{}} = {{}} + [{a('vec')}]", f"{{}}.append({a('vec')})", "{} = {}[::-1]"],
            "dict": ["{}['k'] = 4", "{}.pop('a', None)"],
            "float": ["{} *= 0.5"],
        }.items():
            if self.names[kind] and kind != loops_over:
                forms.append(self.pick(texts).replace("{}", self.pick(self.names[kind])))
        return self.pick(forms) if forms else "pass"

    def form(self, made: list[tuple[str, str]]) -> list[str]:
        kind = self.random.randrange(24)
        if kind < 2:
            return [self.changed()]
        if kind < 4:
            name = self.new("size")
            made.append((name, "size"))
            return [
                f"{name} = {a('size')}",
                f"if {a('cond')}:",
                f"    {self.changed()}",
                f"    {name} = {a('size')}",
                *self.pick(
                    [["else:", f"    {name} -= 1"], [], [f"elif {a('cond')}:", f"    {name} *= 2"]]
                ),
            ]
        if kind < 6:
            name, i = self.new("size"), self.new("i")
            made.append((name, "size"))
            return [
                f"{name} = {self.pick(['0', a('size')])}",
                f"{i} = 0",
                f"while {i} < {self.pick(['3', 'x.shape[0]', 'len(v) - 1'])}:",
                f"    {i} += {self.pick(['1', '2'])}",
                *self.pick(
                    [
                        [f"    if {name} > {a('int')}:", "        break"],
                        [f"    if {a('cond')}:", "        continue"],
                        [f"    if {i} % 2:", f"        {self.changed()}"],
                        [f"    if ({name} := {name} + 1) > 2:", "        break"],
                        [],
                    ]
                ),
                f"    {name} = ({name} + {self.pick([i, a('int'), a('size')])}) % 7",
                *self.pick([["else:", f"    {name} = {name} - 10"], []]),
            ]
        if kind < 8:
            name, q = self.new("vec"), self.new("q")
            made.append((name, "vec"))
            items = self.pick(["ints", "sizes", "vecs"])
            return [
                f"{name} = {a('vec')}",
                f"for {q} in {a(items)}:",
                *self.pick(
                    [
                        [f"    if {a('cond')}:", f"        {self.pick(['break', 'continue'])}"],
                        [f"    if len(v) > {a('int')}:", f"        {name} = {name} - 1"],
                        [f"    {self.changed(items)}"],
                        [],
                    ]
                ),
                f"    {name} = {name} * 0.5 + {q}",
                *self.pick([["else:", f"    {name} = -{name}"], []]),
            ]
        if kind < 10:
            name = self.new("size")
            made.append((name, "size"))
            subject = self.pick(
                [
                    "x.shape",
                    a("size"),
                    f"({a('size')}, {a('size')})",
                    a("ints"),
                    a("dict"),
                    f"[{a('int')}, {a('vec')}]",
                ]
            )
            cases = [
                ["case [3, m]:", f"    {name} = m"],
                ["case (n, m) if n > m:", f"    {name} = n - m"],
                ["case 1 | 2:", f"    {name} = 11"],
                ["case {'a': q, **rest}:", f"    {name} = len(rest)"],
                ["case [first, *rest]:", f"    {name} = 5 + len(rest)"],
                ["case [1, _] | [_, 1]:", f"    {name} = 9"],
                ["case int(q) if q % 2:", f"    {name} = q"],
                ["case [] | {}:", f"    {name} = 6"],
            ]
            chosen = self.random.sample(cases, self.random.randrange(1, 4))
            return [
                f"{name} = 0",
                f"match {subject}:",
                *("    " + line for case in chosen for line in case),
                *self.pick([["    case _:", f"        {name} = {a('size')}"], []]),
            ]
        if kind < 12:
            name, call = self.new("size"), self.new("g")
            made.append((name, "size"))
            step = self.pick([a("int"), a("size"), "q"])
            many = self.pick(["", ", 1", ", *[2, 3]", ", k=4", f", *{a('ints')}, k={a('size')}"])
            return [
                f"{name} = {a('size')}",
                f"def {call}(q, *more, k={a('int')}):",
                f"    nonlocal {name}",
                f"    {name} = {name} + {step} - len(more)",
                *self.pick(
                    [
                        [f"    if {a('cond')}:", "        return k"],
                        ["    if q > k:", f"        {name} += 1"],
                        [],
                    ]
                ),
                f"    return {name} * 2 + k",
                *self.pick(
                    [
                        [f"{name} += {call}({a('size')}{many})"],
                        [f"{name} = {call}(1{many}) - {name}"],
                        [f"if {a('cond')}:", f"    {call}({a('int')}{many})"],
                        [f"{self.new('r')} = [{call}(q) for q in {a('ints')}]"],
                    ]
                ),
            ]
        if kind < 14:
            one, rest = self.new("size"), self.new("sizes")
            made += [(one, "size"), (rest, "sizes")]
            return [
                self.pick(
                    [
                        f"{one}, *{rest} = {a('sizes')}",
                        f"*{rest}, {one} = {a('sizes')}",
                        f"{one}, {rest} = {a('size')}, {a('sizes')}",
                        f"({one}, *_), {rest} = x.shape, [*{a('ints')}]",
                    ]
                )
            ]
        if kind < 15:
            one, rest = self.new("vec"), self.new("vecs")
            made += [(one, "vec"), (rest, "vecs")]
            return [
                self.pick(
                    [
                        f"{one}, *{rest} = {a('vecs')} + [v]",
                        f"*{rest}, {one} = {a('vecs')}[::-1] + [v]",
                    ]
                ),
                f"{rest} += [{one}]",
            ]
        if kind < 16:
            name = self.new("size")
            made.append((name, "size"))
            error = self.pick(["ValueError", "Exception as e", "(KeyError, ValueError) as error"])
            return [
                "try:",
                f"    if {self.pick([a('int') + ' > 1', a('cond')])}:",
                f"        raise ValueError(f'bad {{{a('int')}}} of {{{a('ints')}}}')",
                f"    {name} = {a('size')}",
                f"except {error}:",
                f"    {name} = {self.pick(['3', a('size')])}",
            ]
        if kind < 17:
            return [
                f"if {self.pick([a('int') + ' > 40', a('cond') + ' and len(v) > 90'])}:",
                f"    raise ValueError(f'{{x.shape}} is {{{a('int')}:03d}}')",
            ]
        if kind < 18:
            name = self.new("vec")
            made.append((name, "vec"))
            return [
                f"if (w5 := {a('size')}) > {a('int')}:",
                f"    {name} = v * w5",
                "else:",
                f"    {name} = {a('vec')}",
            ]
        chosen = self.pick(KINDS)
        name = self.new(chosen)
        made.append((name, chosen))
        return [f"{name} = {a(chosen)}"]

    def program(self) -> str:
        body = [
            "    t = 0",
            "    y = v * 1.0",
            *self.statements("    ", self.random.randrange(1, 5)),
        ]
        seen = [self.observe(kind, name) for kind, names in self.names.items() for name in names]
        self.random.shuffle(seen)
        if self.random.random() < 0.5:
            body += [
                "    " + self.filled(self.observe(kind, a(kind)))
                for kind in self.random.sample(KINDS, 2)
            ]
        body += ["    " + line for line in seen]
        return "\n".join([*body, "    return y, t"]) + "\n"


LIBRARY = """
def code(text):
    t = 0
    for i, one in enumerate(text):
        t = (t * 7 + ord(one) + i) % 997
    return t
def math_prod(items, start=1):
    for one in items:
        start *= one
    return start
def bits(p, q=2, *rest, k=1):
    return p * 2 - q + len(rest) * k
def mixed(first, *rest, by=0.5):
    for one in rest:
        first = first - one * by
    return first * by if rest else first + by
def classify(value):
    match value:
        case bool():
            return 1
        case 0 | 1 | -1:
            return 2
        case int(q) if q < 0:
            return -q
        case int():
            return 4
        case []:
            return 5
        case [one]:
            return one
        case [2 | 3, two]:
            return two + 1
        case [one, *_, last] if one > last:
            return one - last
        case {"a": int(q)}:
            return q
        case {"b": _, **rest}:
            return 7 + len(rest)
        case str(text):
            return len(text)
    return 8
"""


def check(is_named: bool, body: str, path: pathlib.Path) -> str:
    n, m = ('"N"', '"M"') if is_named else STATIC
    signature = f"def f(x: FLOAT[{n}, {m}], v: FLOAT[{n}]):\n"
    text = HEAD + LIBRARY + "@script(default_opset=op)\n" + signature + body
    path.write_text(text)
    shown = signature + body
    program = built(text)
    try:
        function = runpy.run_path(str(path))["f"]
    except SyntaxError as error:  # a walrus in the iterable of a comprehension
        if "assignment expression" in str(error):  # before 3.12, f-strings did not nest quotes
            assert program[0][0] == "error", f"only CPython refuses: {error}\n{shown}"
        return "no Python"
    models = models_by_surface(program, function, shown)
    outcome = ""
    for size in SIZES if is_named else [STATIC]:
        x = np.arange(size[0] * size[1], dtype=np.float32).reshape(size) - 2
        inputs = {"x": x, "v": x[:, 0] * 0.5 + 1}
        raised = None
        try:
            expected = function(**inputs)
        except Exception as error:
            raised = error
        if not models:
            return "raises" if raised else "refused"
        for surface, model in models.items():
            try:
                got = shared_evaluator().run(onnx.load_from_string(model), inputs)
            except Exception as error:
                assert raised, f"{surface}, {size}: {error}\n{shown}"
                continue
            assert raised is None, f"only CPython refuses, {size}: {raised!r}\n{shown}"
            for one, other in zip(got, expected, strict=True):
                assert np.allclose(one, other, rtol=1e-4), (
                    f"{surface}, {size}: {one}, not {other}\n{shown}"
                )
        outcome = outcome or ("raises in the run" if raised else "equal")
    return outcome


def outcome(seed: int, folder: pathlib.Path) -> str:
    return static_and_named(check, Program(seed).program(), folder, seed)


@pytest.mark.parametrize("shard", range(SHARDS))
def test_random_sizes(shard: int, tmp_path: pathlib.Path) -> None:
    found = outcomes(outcome, SEEDS, range(shard, COUNT, SHARDS), tmp_path)
    assert are_often_equal(found), found


if __name__ == "__main__":
    draw(outcome, lambda _, error: str(error)[:3000])
