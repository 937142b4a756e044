"""What the program prints for the example of each diagnostic's page, pinned to the letter.

tests/diagnostics/rendered/<phase>.txt has the texts. Run this file as a program to write them
again, and read the difference: every line of it is what users see.
"""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys
import tempfile

import pytest

from diagnostics.test_pages import CODES, IN_SHELL, LINTS, ROW, page
from places import PROGRAM, ROOT

RENDERED = ROOT / "tests/diagnostics/rendered"
PHASES = {
    path.parent.name: [code for code, _ in ROW.findall(path.read_text())]
    for path in sorted(ROOT.glob("src/*/diagnostics.def"))
}


def print_example(code: str, folder: pathlib.Path) -> str:
    """Standard output and standard error of the example."""
    example = page(code)["example"]
    if code in IN_SHELL:
        programs = folder / "bin"
        programs.mkdir()
        (programs / "sardonyx").symlink_to(PROGRAM)
        (programs / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
        (programs / "python").chmod(0o755)
        command = ["sh", "-c", example]
        environment = {"PATH": f"{programs}:/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
    else:
        (folder / "example.py").write_text(re.sub(r"  # (note|warning|error): \[.*", "", example))
        lints = [] if code in LINTS else ["--ignore", ",".join(LINTS)]
        command = [str(PROGRAM), "check", "-q", *lints, "example.py"]
        environment = {"LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
    )
    return done.stdout


def render(phase: str) -> str:
    parts = []
    for code in sorted(PHASES[phase]):
        if code in CODES:
            with tempfile.TemporaryDirectory() as folder:
                parts.append(f"### {code}\n\n{print_example(code, pathlib.Path(folder)).strip()}\n")
    return "\n".join(parts)


@pytest.mark.parametrize("phase", PHASES)
def test_rendered(phase: str) -> None:
    wanted = (RENDERED / f"{phase}.txt").read_text()
    assert render(phase) == wanted, "run this file as a program, and read the difference"


def test_every_finding_says_what_to_do() -> None:
    """Each has a place and a help line, but for those that are about no line of text."""
    for phase in PHASES:
        text = (RENDERED / f"{phase}.txt").read_text()
        for section in text.split("### ")[1:]:
            code = section.split("\n")[0]
            findings = re.findall(rf"^(?:error|warning|note)\[{code}\]", section, re.M)
            assert findings, code
            assert section.count("= help: ") >= len(findings), section


if __name__ == "__main__":
    RENDERED.mkdir(exist_ok=True)
    for name in PHASES:
        (RENDERED / f"{name}.txt").write_text(render(name))
