"""Files of random programs that are run by hand: `python FILE SEED COUNT`, with tests/python on
PYTHONPATH.
"""

from __future__ import annotations

import collections
import pathlib
import sys
import tempfile
import warnings
from collections.abc import Callable


def outcomes(
    outcome: Callable[[int, pathlib.Path], str],
    seeds: set[int],
    numbers: range,
    folder: pathlib.Path,
) -> list[str]:
    """Of the programs of these numbers from each seed on."""
    return [outcome(first + i, folder) for first in seeds for i in numbers]


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
