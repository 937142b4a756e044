"""Files of random programs, which are compiled by both compilers, and are run by hand, too:
`python FILE SEED COUNT`, with tests/python on PYTHONPATH.
"""

from __future__ import annotations

import collections
import pathlib
import random
import re
import sys
import tempfile
import warnings
from collections.abc import Callable
from typing import Any

import sardonyx

from language import shared_compiler


def a(kind: str) -> str:
    """A place for an expression of this kind, which Writer.filled() writes."""
    return f"«{kind}»"


class Writer:
    """Writes expressions of kinds: names that are known, what `leaf` gives, and what a method
    `of_KIND` gives for each kind, with places for others."""

    def __init__(self, seed: int, kinds: list[str]) -> None:
        self.random = random.Random(seed)
        self.names: dict[str, list[str]] = {kind: [] for kind in kinds}
        self.counter = 0
        self.depth = 0

    def pick(self, items: list[str]) -> str:
        return self.random.choice(items)

    def leaf(self, kind: str) -> str:
        """An expression of this kind that holds no others."""
        raise NotImplementedError

    def of(self, kind: str) -> str:
        """An expression of this kind."""
        self.depth += 1
        known = self.names[kind]
        if known and (self.depth > 3 or self.random.random() < 0.5):
            made = self.pick(known)
        elif self.depth > 3:
            made = self.leaf(kind)
        else:
            forms = getattr(self, "of_" + kind)
            made = self.filled(forms()) if self.random.random() < 0.7 else self.leaf(kind)
        self.depth -= 1
        return made

    def filled(self, text: str) -> str:
        return re.sub("«(.*?)»", lambda found: self.of(found[1]), text)


def built(text: str) -> tuple[list[str], bytes]:
    """What the command line says of the script `f`, and its model."""
    answer, data = shared_compiler().compile(text, "f")
    assert answer[0] in ("ok", "error"), (answer, text)
    return answer, data


def models_by_surface(
    program: tuple[list[str], bytes], function: Any, shown: str
) -> dict[str, bytes]:
    """The models of what the command line has built and of the script that Python has; none where
    both are refused."""
    answer, data = program
    try:
        live = function.to_model_bytes()
    except sardonyx.CompileError as error:
        assert answer[0] == "error", f"only Python refuses: {error}\n{shown}"
        return {}
    assert answer[0] == "ok", f"only the command line refuses: {answer}\n{shown}"
    return {"Python": live, "command line": data}


def outcomes(
    outcome: Callable[[int, pathlib.Path], str],
    seeds: tuple[int, ...],
    numbers: range,
    folder: pathlib.Path,
) -> list[str]:
    """Of the programs of these numbers from each seed on."""
    return [outcome(first + i, folder) for first in seeds for i in numbers]


def static_and_named(
    check: Callable[[bool, str, pathlib.Path], str], body: str, folder: pathlib.Path, seed: int
) -> str:
    """The outcomes of a body with sizes that are numbers, and with sizes that have names."""
    known = check(False, body, folder / f"s{seed}.py")
    named = check(True, body, folder / f"n{seed}.py")
    return f"static: {known}, named: {named}"


def are_often_equal(found: list[str]) -> bool:
    """Whether more than a quarter of the outcomes of `static_and_named` are equal."""
    return found.count("static: equal, named: equal") > len(found) // 4


def draw(
    outcome: Callable[[int, pathlib.Path], str], describe: Callable[[int, AssertionError], str]
) -> None:
    """Prints how often each outcome came, and what is described of programs that are wrong."""
    first, count = int(sys.argv[1]), int(sys.argv[2])
    warnings.simplefilter("ignore")
    totals: collections.Counter[str] = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + count):
            try:
                totals[outcome(seed, pathlib.Path(folder))] += 1
            except AssertionError as error:
                totals["wrong"] += 1
                print(seed, describe(seed, error))
    for answer, number in totals.most_common():
        print(number, answer)
