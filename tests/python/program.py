"""Runs of the program `sardonyx`."""

from __future__ import annotations

import subprocess
from typing import Any

from places import PROGRAM


def run(*words: object, status: int | None = 0, **options: Any) -> Any:
    """Runs the program; its exit status must be `status`, and never that of a crash."""
    arguments = [word if isinstance(word, bytes) else str(word) for word in words]
    options = {"text": True, "timeout": 120, **options}
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, check=False, **options)
    assert done.returncode in (0, 1, 2), f"{words}: {done.returncode}\n{done.stderr}"
    if status is not None:
        assert done.returncode == status, f"{words}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done
