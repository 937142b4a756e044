"""The README's example: its commands give the output that it shows."""

from __future__ import annotations

import pathlib
import re
import subprocess

import pytest

from places import PROGRAM, ROOT

NUMBER = re.compile(r"-?\d+\.\d+")


def blocks(language: str) -> list[str]:
    """The fenced blocks of a language: every second piece between fences is one."""
    fenced = (ROOT / "README.md").read_text().split("```")[1::2]
    return [block.partition("\n")[2] for block in fenced if block.partition("\n")[0] == language]


def test_the_example_gives_the_output_shown(tmp_path: pathlib.Path) -> None:
    (script,) = blocks("python")
    (session,) = [block for block in blocks("") if block.startswith("$ ")]
    (tmp_path / "gelu_tanh.py").write_text(script)
    commands = [line[2:] for line in session.splitlines() if line.startswith("$ ")]
    shown = "\n".join(line for line in session.splitlines() if not line.startswith("$ "))
    printed = ""
    for command in commands:
        done = subprocess.run(
            ["bash", "-c", command.replace("sardonyx", str(PROGRAM), 1)],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        printed += done.stdout
    assert NUMBER.sub("#", printed).split() == NUMBER.sub("#", shown).split()
    numbers = [float(number) for number in NUMBER.findall(shown)]
    assert [float(number) for number in NUMBER.findall(printed)] == pytest.approx(numbers, rel=1e-5)


def test_the_picture_is_that_of_the_example(tmp_path: pathlib.Path) -> None:
    (tmp_path / "gelu_tanh.py").write_text(blocks("python")[0])
    command = [PROGRAM, "view", "gelu_tanh.py", "--svg", "gelu_tanh.svg"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    picture = ROOT / "docs/gelu_tanh.svg"
    assert (tmp_path / "gelu_tanh.svg").read_text() == picture.read_text(), (
        f"write {picture} with the command that README.md names"
    )
