"""The client of the test programs (tests/requests.h): a request and its answer are lines of fields
with tabs between them."""

from __future__ import annotations

import pathlib
import subprocess
from collections.abc import Iterable


class Tool:
    """A program that stays open for many requests, and is started again if it has ended."""

    def __init__(self, program: pathlib.Path) -> None:
        self.program = program
        self._process: subprocess.Popen[str] | None = None

    def ask(self, *fields: object) -> list[str]:
        """The fields of the answer; AssertionError if the program ends without one."""
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                [self.program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(_line(fields))
        process.stdin.flush()
        answer = process.stdout.readline()
        assert answer.endswith("\n"), f"{self.program.name} has ended with {process.wait()}"
        return answer.rstrip("\n").split("\t")


def ask_all(program: pathlib.Path, requests: Iterable[Iterable[object]]) -> list[list[str]]:
    """The answers to many requests in one run of the program."""
    lines = [_line(fields) for fields in requests]
    done = subprocess.run(
        [program], input="".join(lines), capture_output=True, text=True, errors="replace"
    )
    assert done.returncode == 0, done.stderr[-2000:]
    answers = [line.split("\t") for line in done.stdout.split("\n")[:-1]]
    assert len(answers) == len(lines)
    return answers


def _line(fields: Iterable[object]) -> str:
    return "\t".join(map(str, fields)) + "\n"
