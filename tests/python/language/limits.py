"""What a program that is drawn at random may use of the machine when CPython runs it."""

from __future__ import annotations

import contextlib
import pathlib
import resource
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextlib.contextmanager
def little_memory() -> Iterator[None]:
    """1 GiB of memory more than the process has: a list that doubles in a loop, or an int to a
    large power, is a MemoryError, not the end of the machine."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + (1 << 30), before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
