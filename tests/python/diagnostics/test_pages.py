"""The pages of docs/diagnostics: each code has one, and its example and repair do what it says."""

from __future__ import annotations

import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

from places import PROGRAM, ROOT

PAGES = ROOT / "docs" / "diagnostics"

# Codes that no script text can show, and why: their pages have shell blocks.
IN_SHELL = {
    "argument-count": "a node of a model file; calls in scripts have codes of their own",
    "declared-type-mismatch": "value types declared in a model file",
    "invalid-model": "a model file",
    "invalid-notebook": "a notebook",
    "invalid-schema": "a schema file",
    "missing-attribute-value": "`check` treats such a script as a function",
    "missing-input-type": "`check` treats such a script as a function",
    "nested-too-deeply": "more brackets than a page can hold",
    "node-attribute-type": "a node of a model file; calls in scripts have codes of their own",
    "not-utf8": "a byte that no page in UTF-8 can hold",
    "omitted-input": "`check` treats such a script as a function",
    "recursive-function": "a function of a model file; scripts have a code of their own",
    "source-encoding": "a byte that no page in UTF-8 can hold",
    "source-too-large": "a file too large for a page",
    "unreadable-file": "no file",
    "unresolved-node": "a node of a model file; calls in scripts have codes of their own",
    "unused-coefficients": "an attribute of a model file",
}

ROW = re.compile(r'^SDX_DIAGNOSTIC\(\w+,\s*"([^"]+)",\s*k(\w+)\)', re.M)
PAGE = re.compile(
    r"# (?P<code>[a-z0-9-]+)\n\n"
    r"Severity: (?P<severity>note|warning|error)\n\n"
    r"(?P<words>[^#](?s:.*?)\n)\n"
    r"## Example\n\n```(?P<language>py|sh)\n(?P<example>(?s:.*?))```\n\n"
    r"## Repair\n\n```(?P=language)\n(?P<repair>(?s:.*?))```\n"
)
MARK = re.compile(r"  # (note|warning|error): \[([a-z0-9-]+)\]$")


def rows() -> list[tuple[str, str]]:
    found = []
    for table in sorted(ROOT.glob("src/*/diagnostics.def")):
        found += [(code, word.lower()) for code, word in ROW.findall(table.read_text())]
    return found


SEVERITIES = dict(rows())
LINTS = [code for code, _ in ROW.findall((ROOT / "src/lint/diagnostics.def").read_text())]
CODES = sorted(path.stem for path in PAGES.glob("*.md") if path.stem != "README")


def page(code: str) -> dict[str, str]:
    match = PAGE.fullmatch((PAGES / f"{code}.md").read_text())
    assert match, f"docs/diagnostics/{code}.md has not the form of a page"
    return match.groupdict()


def first_sentence(words: str) -> str:
    """The line of a code in the index: what its page says first."""
    text = re.sub(r"\[([^]]+)\]\([^)]*\)", r"\1", " ".join(words.split()))
    match = re.match(r".+?(?=[.?!:;](\s|$))", text)
    assert match, text
    return match[0]


def index() -> str:
    lines = ["| code | severity | meaning |", "|---|---|---|"]
    for code in CODES:
        words = first_sentence(page(code)["words"])
        lines.append(f"| [{code}]({code}.md) | {SEVERITIES[code]} | {words} |")
    return "\n".join(lines) + "\n"


def marks(text: str) -> list[tuple[int, str, str]]:
    """(line, severity, code) of each finding that a block promises."""
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        if match := MARK.search(line):
            found.append((number, match[1], match[2]))
    return found


def check(code: str, text: str, folder: pathlib.Path) -> list[tuple[int, str, str]]:
    """(line, severity, code) of each finding in a script; lints on the pages of lints alone."""
    script = folder / "example.py"
    script.write_text(text)
    lints = [] if code in LINTS else ["--ignore", ",".join(LINTS)]
    done = subprocess.run(
        [PROGRAM, "check", "--json", *lints, script], capture_output=True, text=True, timeout=60
    )
    findings = json.loads(done.stdout)
    failed = any(one["severity"] == "error" for one in findings)
    assert done.returncode == (1 if failed else 0), done.stderr
    return [(one["range"]["start"]["line"], one["severity"], one["code"]) for one in findings]


def run_shell(text: str, folder: pathlib.Path) -> tuple[int, set[tuple[str, str]]]:
    """The exit status of a shell block, and the (severity, code) of each finding it printed."""
    programs = folder / "bin"
    programs.mkdir()
    (programs / "sardonyx").symlink_to(PROGRAM)
    # A link to the interpreter would leave its virtual environment.
    (programs / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    (programs / "python").chmod(0o755)
    environment = {"PATH": f"{programs}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        ["sh", "-eu", "-c", text],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    printed = done.stdout + done.stderr
    assert "Traceback" not in printed, printed
    pattern = r"^(note|warning|error)\[([a-z0-9-]+)\]:"
    return done.returncode, set(re.findall(pattern, printed, re.M))


def test_every_code_has_a_page_and_every_page_a_code() -> None:
    codes = [code for code, _ in rows()]
    assert len(codes) == len(set(codes))
    assert sorted(codes) == CODES


def test_the_index_lists_every_page_in_order() -> None:
    text = (PAGES / "README.md").read_text()
    table = text[text.index("| code |") :]
    assert table == index(), "run this file as a program to write the index"


def test_shell_examples_are_the_listed_ones() -> None:
    assert {code for code in CODES if page(code)["language"] == "sh"} == set(IN_SHELL)


@pytest.mark.parametrize("code", CODES)
def test_page(code: str, tmp_path: pathlib.Path) -> None:
    made = page(code)
    assert made["code"] == code
    assert made["severity"] == SEVERITIES[code]
    wanted = marks(made["example"])
    assert (made["severity"], code) in [mark[1:] for mark in wanted]
    assert marks(made["repair"]) == []
    if code in IN_SHELL:
        for name in ("example", "repair"):
            (tmp_path / name).mkdir()
        found = run_shell(made["example"], tmp_path / "example")
        assert found == (made["severity"] == "error", {mark[1:] for mark in wanted})
        assert run_shell(made["repair"], tmp_path / "repair") == (0, set())
    else:
        assert check(code, made["example"], tmp_path) == wanted
        assert check(code, made["repair"], tmp_path) == []


@pytest.mark.parametrize(
    "code",
    [
        code
        for code in CODES
        if SEVERITIES[code] == "warning" and code not in IN_SHELL and code != "unused-ignore"
    ],
)
def test_a_comment_silences_the_warnings_of_its_line(code: str, tmp_path: pathlib.Path) -> None:
    example = re.sub(
        rf"  # warning: \[{code}\].*", f"  # sardonyx: ignore[{code}]", page(code)["example"]
    )
    assert f"ignore[{code}]" in example
    assert [found for _, _, found in check(code, example, tmp_path) if found == code] == []


def test_repairs_are_python() -> None:
    for code in CODES:
        made = page(code)
        if made["language"] == "py":
            compile(made["repair"], f"{code}.md", "exec")


def write_index() -> None:
    path = PAGES / "README.md"
    text = path.read_text()
    path.write_text(text[: text.index("| code |")] + index())


if __name__ == "__main__":
    write_index()
