"""Type checkers on scripts: no error in correct ones, and who reports which mistake.

`tools/dev types` runs it with mypy, pyright, ty and pyrefly of requirements/lint.txt. The correct
programs are examples/, those of docs/language.md, and tests/data/types/correct_*.py. The mistakes
are tests/data/types/mistakes.py; `tools/dev types --write` puts the table of who reports them into
docs/editor.md.
"""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable

import pytest

import language.test_reference as reference
from places import BUILD, ROOT

pytestmark = pytest.mark.skipif("SDX_TYPES" not in os.environ, reason="`tools/dev types` runs it")

DATA = ROOT / "tests/data/types"
PAGE = ROOT / "docs/editor.md"
TABLE = re.compile(r"(?<=<!-- mistakes -->\n).*?(?=<!-- end -->)", re.DOTALL)
PACKAGE = BUILD / "python"
TOOLS = pathlib.Path(os.environ.get("SDX_CHECKERS", ROOT / ".venv/bin"))
MISTAKE = re.compile(r"# mistake: (.*)$")


@dataclasses.dataclass(frozen=True)
class Finding:
    path: str
    line: int
    code: str
    message: str


def corpus(folder: pathlib.Path) -> None:
    """The correct programs, as a user has them: each with what it imports beside it."""
    examples = folder / "examples"
    examples.mkdir()
    for path in sorted((ROOT / "examples").glob("*.py")):
        text = path.read_text()
        # Checkers would read all of PyTorch, where it is installed.
        if not re.search(r"^ *(import|from) torch\b", text, re.M):
            # The examples import from either package; checkers are to see ours.
            (examples / path.name).write_text(text.replace("onnxscript", "sardonyx"))
    for path in sorted(DATA.glob("*.py")):
        shutil.copy(path, folder)
    lines = reference.PAGE.read_text().splitlines()
    for number, program in enumerate(reference.programs(lines)):
        code = lines[program.code.begin : program.code.end]
        if any(re.search("# (error|warning):", line) for line in code):
            continue
        inside = folder / f"language_{number}"
        inside.mkdir()
        text, _ = reference.with_header(code)
        (inside / f"program_{number}.py").write_text(text.replace("onnxscript", "sardonyx"))
        for block in program.imported:
            text = "\n".join(lines[block.begin : block.end]) + "\n"
            (inside / block.more.split()[0]).write_text(text)


def run(folder: pathlib.Path, *command: str, **environment: str) -> str:
    done = subprocess.run(
        [str(TOOLS / command[0]), *command[1:]],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.stdout


def mypy(folder: pathlib.Path) -> list[Finding]:
    inside = [str(path) for path in sorted(folder.iterdir()) if path.is_dir()]
    command = ["mypy", "--output=json", "--cache-dir=.mypy", "--follow-imports=silent"]
    command += [f"--python-executable={sys.executable}", "--explicit-package-bases", "."]
    out = run(folder, *command, MYPYPATH=os.pathsep.join([str(PACKAGE), *inside]))
    found = [json.loads(line) for line in out.splitlines()]
    return [
        Finding(one["file"], one["line"], one["code"], one["message"])
        for one in found
        if one["severity"] == "error"
    ]


def pyright(folder: pathlib.Path) -> list[Finding]:
    settings = {"extraPaths": [str(PACKAGE)], "include": ["."]}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    out = run(folder, "pyright", "--outputjson", "--pythonpath", sys.executable)
    return [
        Finding(
            os.path.relpath(one["file"], folder),
            one["range"]["start"]["line"] + 1,
            one.get("rule", ""),
            one["message"],
        )
        for one in json.loads(out)["generalDiagnostics"]
        if one["severity"] == "error"
    ]


def ty(folder: pathlib.Path) -> list[Finding]:
    command = ["ty", "check", "--output-format=gitlab", "--python", sys.executable]
    out = run(folder, *command, "--extra-search-path", str(PACKAGE))
    return [
        Finding(
            one["location"]["path"],
            one["location"]["positions"]["begin"]["line"],
            one["check_name"],
            one["description"],
        )
        for one in json.loads(out)
        if one["severity"] == "major"  # an error; warnings are minor
    ]


def pyrefly(folder: pathlib.Path) -> list[Finding]:
    paths = [str(PACKAGE), *(str(path) for path in sorted(folder.iterdir()) if path.is_dir())]
    settings = f"search-path = {json.dumps(paths)}\nproject-includes = ['**/*.py']\n"
    (folder / "pyrefly.toml").write_text(settings)
    python = ["--python-interpreter-path", sys.executable]
    out = run(folder, "pyrefly", "check", "--output-format=json", *python)
    return [
        Finding(
            os.path.relpath(folder / one["path"], folder),
            one["line"],
            one["name"],
            one["description"],
        )
        for one in json.loads(out)["errors"]
        if one.get("severity", "error") == "error"
    ]


def sardonyx(folder: pathlib.Path) -> list[Finding]:
    found = json.loads(reference.tool("check", "--json", str(folder / "mistakes.py")))
    return [
        Finding("mistakes.py", one["range"]["start"]["line"], one["code"], one["message"])
        for one in found
        if one["severity"] == "error"
    ]


CHECKERS: dict[str, Callable[[pathlib.Path], list[Finding]]] = {
    "mypy": mypy,
    "pyright": pyright,
    "ty": ty,
    "pyrefly": pyrefly,
}


def names_dimension(folder: pathlib.Path, finding: Finding) -> bool:
    """Whether a checker misses the name of a dimension: mypy and pyrefly read it as a type."""
    if finding.code not in ("name-defined", "unknown-name"):
        return False
    line = (folder / finding.path).read_text().splitlines()[finding.line - 1]
    name = re.search(r"[\"`](\w+)[\"`]", finding.message)
    quoted = re.findall(r"\"([^\"]*)\"|'([^']*)'", line)
    return name is not None and any(
        re.search(rf"\b{name[1]}\b", one or other) for one, other in quoted
    )


def test_correct_programs_and_mistakes(tmp_path):
    corpus(tmp_path)
    found = {name: check(tmp_path) for name, check in CHECKERS.items()}
    for name, findings in found.items():
        wrong = [
            one
            for one in findings
            if one.path != "mistakes.py" and not names_dimension(tmp_path, one)
        ]
        assert not wrong, f"{name} finds errors in correct programs"
        is_free = name in ("pyright", "ty")  # these two take FLOAT["N"] as it is
        assert not is_free or not any(names_dimension(tmp_path, one) for one in findings)
    written = TABLE.search(PAGE.read_text())
    assert written is not None
    assert written[0] == table(found | {"sardonyx check": sardonyx(tmp_path)})


def table(found: dict[str, list[Finding]]) -> str:
    """Who reports which mistake."""
    lines = (DATA / "mistakes.py").read_text().splitlines()
    rows = [f"| mistake | {' | '.join(found)} |", "|---" * (len(found) + 1) + "|"]
    counts = dict.fromkeys(found, 0)
    mistakes = 0
    for number, line in enumerate(lines, 1):
        mistake = MISTAKE.search(line)
        if mistake is None:
            continue
        mistakes += 1
        cells = []
        for name, findings in found.items():
            here = [one for one in findings if (one.path, one.line) == ("mistakes.py", number)]
            counts[name] += bool(here)
            cells.append("yes" if here else "")
        rows.append(f"| {mistake[1]} | {' | '.join(cells)} |")
    rows.append(f"| **of {mistakes}** | {' | '.join(map(str, counts.values()))} |")
    return "\n" + "\n".join(rows) + "\n\n"


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        corpus(folder)
        found = {name: check(folder) for name, check in CHECKERS.items()}
        text = table(found | {"sardonyx check": sardonyx(folder)})
    PAGE.write_text(TABLE.sub(lambda _: text, PAGE.read_text()))
    print(f"wrote the table of mistakes into {PAGE.relative_to(ROOT)}", file=sys.stderr)


if __name__ == "__main__":
    main()
