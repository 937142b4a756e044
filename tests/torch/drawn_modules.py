"""Random modules of PyTorch, of the statements in statements.txt.

A module is drawn statement by statement and run as it grows: one that raises, that is not finite or
that has too many elements is dropped, so that the module runs at the sizes that it was drawn with.
These are primes that no constant shares, so that a size that follows from the inputs is not taken
for one that is fixed.
"""

from __future__ import annotations

import pathlib
import random
import re
import types
from typing import Any, NamedTuple

import torch
import torch.utils.checkpoint

FIRST = (5, 7)
HEAD = """import torch
import torch.nn.functional as F
import torch.utils.checkpoint


class Drawn(torch.nn.Module):
"""
MOST_ELEMENTS, LARGEST = 3000, 1e4
INDICES = ("1:", ":-1", "::2", "-1", "0", "1:3", "-2:", "None", "...", ":2", "0:1", "1::2", "-3:-1")
SIZES = (
    "{}",
    "{}",
    "({} + 1)",
    "(2 * {})",
    "({} // 2)",
    "max({}, 3)",
    "min({}, 6)",
    "({} - 1)",
)

# Kinds of inputs: what makes one of the sizes b and n, and which of its dimensions they are.
INPUTS: dict[str, tuple[Any, tuple[int, ...]]] = {
    "rows": (lambda g, b, _: torch.randn(b, 6, generator=g), (0,)),
    "sequence": (lambda g, b, n: torch.randn(b, n, 4, generator=g), (0, 1)),
    "image": (lambda g, b, n: torch.randn(b, 3, n, n, generator=g), (0, 2, 3)),
    "words": (lambda g, b, n: torch.randint(0, 4, (b, n), generator=g), (0, 1)),
    "mask": (lambda g, b, n: torch.rand(b, n, generator=g) > 0.5, (0, 1)),
    "vector": (lambda g, _, n: torch.randn(n, generator=g), (0,)),
    "double": (lambda g, b, n: torch.randn(b, n, generator=g).double(), (0, 1)),
    "ints": (lambda g, b, _: torch.randint(-9, 9, (b, 6), generator=g).int(), (0,)),
}


class Statements(NamedTuple):
    weight: int
    texts: list[str]


def read_statements() -> dict[str, Statements]:
    kinds: dict[str, Statements] = {}
    for line in pathlib.Path(__file__).with_name("statements.txt").read_text().splitlines():
        if head := re.fullmatch(r"\[(.*)\] (\d+)", line):
            kinds[head[1]] = Statements(int(head[2]), [])
        elif line and not line.startswith("#"):
            list(kinds.values())[-1].texts.append(line.replace(";;", "\n"))
    return kinds


STATEMENTS = read_statements()


class Drawn(NamedTuple):
    """A module's text, and of which kinds its inputs are."""

    text: str
    kinds: list[str]

    def module(self) -> torch.nn.Module:
        scope: dict[str, Any] = {}
        exec(self.text, scope)
        return scope["Drawn"]().eval()

    def arguments(self, sizes: tuple[int, int], seed: int) -> tuple[torch.Tensor, ...]:
        generator = torch.Generator().manual_seed(seed)
        return tuple(INPUTS[kind][0](generator, *sizes) for kind in self.kinds)

    def shapes(self) -> tuple[Any, ...]:
        return tuple(dict.fromkeys(INPUTS[one][1], torch.export.Dim.AUTO) for one in self.kinds)


class Writer:
    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.kinds = self.draw.choices(list(INPUTS), [3, 4, 2, 1, 1, 1, 1, 1],
                                       k=self.draw.randint(1, 3))  # fmt: skip
        self.names = [f"x{i}" for i in range(len(self.kinds))]
        self.sizes = [
            f"x{i}.shape[{k}]" for i, kind in enumerate(self.kinds) for k in INPUTS[kind][1]
        ]
        # What the names are at the first sizes; the layers are attributes of `self`.
        self.scope: dict[str, Any] = {
            "torch": torch, "F": torch.nn.functional, "self": types.SimpleNamespace(),
            **dict(zip(self.names, Drawn("", self.kinds).arguments(FIRST, seed), strict=True)),
        }  # fmt: skip
        self.lines: list[str] = []
        self.layers: list[str] = []

    def name(self) -> str:
        return self.draw.choice(self.names[-4:] if self.draw.random() < 0.6 else self.names)

    def size(self) -> str:
        size = self.draw.choice(self.sizes)
        return self.draw.choice(SIZES).format(size)

    def filled(self, statement: str, a: str) -> str:
        """The statement with `a` and others in its places."""
        pick, tensor = self.draw.choice, self.scope[a]
        alike = [name for name in self.names if self.scope[name].shape == tensor.shape]
        b = pick(alike) if self.draw.random() < 0.7 else self.name()
        rank = max(tensor.dim(), 1)
        floats = a if tensor.is_floating_point() else f"{a}.float()"
        is_one_type = tensor.is_floating_point() and self.scope[b].dtype == tensor.dtype
        words = {
            "a": a,
            "b": b,
            "f": floats,
            "g": b if is_one_type else f"{b}.to({floats}.dtype)",
            "m": f"({pick(alike)} > 0)",
            "k": pick(["2", "0.5", "-1", "3.0", "1"]),
            "p": pick(["2", "3", "-2", "4"]),
            "q": pick(["0", "1", "-1", "2"]),
            "s": self.size(),
            "d": str(self.draw.randrange(-rank, rank)),
            "e": str(self.draw.randrange(-rank, rank)),
        }
        return re.sub(
            r"\{(\w)\}", lambda at: pick(INDICES) if at[1] == "i" else words[at[1]], statement
        )

    def step(self) -> None:
        kind = self.draw.choices(list(STATEMENTS), [one.weight for one in STATEMENTS.values()])[0]
        statement, a = self.draw.choice(STATEMENTS[kind].texts), self.name()
        new = f"v{len(self.lines)}"
        if kind == "writes":
            self.keep(f"{new} = {a}.clone()\n" + self.filled(statement.replace("{a}", new), a), new)
        elif kind == "control flow":
            self.keep(f"{new} = {a}\n" + self.filled(statement.replace("{v}", new), a), new)
        elif kind == "layers":
            self.add_layer(*statement.split(" |"), a, new)
        else:
            self.keep(f"{new} = {self.filled(statement, a)}", new)

    def add_layer(self, make: str, given: str, axis: str, a: str, new: str) -> None:
        tensor = self.scope[a]
        if axis.strip():
            if not -tensor.dim() <= int(axis) < tensor.dim():
                return
            width = tensor.shape[int(axis)]
            if any(width % size == 0 for size in FIRST):  # it may follow from an input
                return
            make = make.replace("{c}", str(width))
        number = len(self.lines)
        text = f"torch.manual_seed({number})\nself.l{number} = {make}"
        try:
            exec(f"{text}.eval()", self.scope)
        except Exception:
            return
        first = "[0]" if re.search("LSTM|GRU|RNN|Multihead", make) else ""
        self.keep(f"{new} = self.l{number}({self.filled(given.strip(), a)}){first}", new)
        if len(self.lines) > number:
            self.layers += text.split("\n")

    def keep(self, text: str, new: str) -> None:
        """Keeps the statement if its result can be gone on with."""
        scope = dict(self.scope)
        try:
            exec(text, scope)
        except Exception:
            return
        value = scope[new]
        if (
            not isinstance(value, torch.Tensor)
            or value.numel() > MOST_ELEMENTS
            or value.is_complex()
        ):
            return
        if value.is_floating_point() and not (value.abs() < LARGEST).all():
            return
        self.scope[new] = value
        self.names.append(new)
        self.lines += text.split("\n")

    def write(self) -> Drawn:
        length = self.draw.randint(3, 9)
        while len(self.lines) < length:
            self.step()
        text = HEAD
        if self.layers:
            lines = ["def __init__(self):", *indented(["super().__init__()", *self.layers])]
            text += "\n".join(indented(lines)) + "\n\n"
        names = ", ".join(f"x{i}" for i in range(len(self.kinds)))
        results = ", ".join(self.names[-3:])
        body = indented([*self.lines, f"return {results},"])
        text += "\n".join(indented([f"def forward(self, {names}):", *body])) + "\n"
        return Drawn(text, self.kinds)


def indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def drawn(seed: int) -> Drawn:
    with torch.no_grad():
        return Writer(seed).write()
