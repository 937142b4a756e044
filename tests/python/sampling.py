"""How much of a sweep a run takes, and which random programs it draws.

A run takes a sample. With SDX_FULL=1, which `tools/dev test --full` sets, it takes all.

Random programs are drawn from the seed SDX_SEED on, which CI derives from the commit: each commit
draws others, and the same ones on every machine. Without SDX_SEED, a run draws from seed 0 on. A
full run draws from both.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")


def is_set(name: str) -> bool:
    return os.environ.get(name, "") not in ("", "0")


FULL = is_set("SDX_FULL")
SEED = int(os.environ.get("SDX_SEED", "0"), 0)
SEEDS = tuple(sorted({0, SEED})) if FULL else (SEED,)


def count(name: str, sample: int, full: int) -> int:
    """How many programs a driver draws from each seed: what the variable `name` says, if it is
    set."""
    return int(os.environ.get(name) or (full if FULL else sample))


def stride(sample: int) -> int:
    """Each how many-th case of a sweep runs."""
    return 1 if FULL else sample


def some(cases: Iterable[T], sample: int) -> list[T]:
    """As many of the cases, which ones the seed decides."""
    every = list(cases)
    return every if FULL else random.Random(SEED).sample(every, sample)
