"""The program as people know ruff: standard input, settings in pyproject.toml, what was looked at,
words about codes, shells and manual pages."""

from __future__ import annotations

import json
import os
import pathlib
import re
import shutil
import subprocess

import onnx
import pytest

from places import BUILD, PROGRAM, ROOT
from program import run

GOOD = """\
from sardonyx import FLOAT, opset18 as op, script
@script()
def good(x: FLOAT["N"], k: float = 2.0):
    return op.Mul(x, k)
"""
WRONG = GOOD.replace("good", "wrong").replace("op.Mul", "op.Mull")
UNUSED = GOOD.replace("    return", "    y = op.Relu(x)\n    return").replace("good", "unused")


@pytest.fixture(autouse=True)
def folder(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    monkeypatch.chdir(tmp_path)
    for name, text in {"good": GOOD, "wrong": WRONG, "unused": UNUSED}.items():
        (tmp_path / f"{name}.py").write_text(text)
    return tmp_path


def test_python_is_an_option_of_what_reads_scripts() -> None:
    commands = re.findall(r"(?m)^  ([a-z-]+)  +[A-Z]", run("--help").stdout.split("commands:")[1])
    have = {one for one in commands if "--python" in run(one, "--help").stdout}
    assert have == {"build", "run", "check", "dump"}
    said = run("explain", "--python", "unknown-operator", status=2).stderr
    assert "`--python`" in said and "sardonyx explain --help" in said


# --- Standard input ------------------------------------------------------------------------------


def test_check_reads_standard_input() -> None:
    done = run("check", "-", input=WRONG, status=1)
    assert "--> <stdin>:4:15" in done.stdout and done.stderr == "1 error in 1 file\n"
    done = run("check", "-", "--stdin-filename", "pkg/m.py", "--json", input=WRONG, status=1)
    assert json.loads(done.stdout)[0]["file"] == "pkg/m.py"
    assert run("check", "-", input=GOOD).stdout == ""
    assert "+    return op.Mul(x, k)" in run(
        "check", "-", "--diff", "--unsafe-fixes", input=WRONG, status=None
    ).stdout  # fmt: skip
    assert "use `--diff`" in run("check", "-", "--fix", input=WRONG, status=2).stderr
    assert "`-`" in run("--help").stdout + run("check", "--help").stdout


def test_build_and_run_read_standard_input() -> None:
    run("build", "-", "-o", "out.onnx", input=GOOD)
    onnx.checker.check_model("out.onnx", full_check=True)
    assert "[2.0 4.0]" in run("run", "-", "x=[1.0, 2.0]", input=GOOD).stdout
    done = run("build", "-o", "-", "--", "-:good", input=GOOD.encode(), text=False)
    onnx.checker.check_model(onnx.load_from_string(done.stdout))
    assert "<stdin>:4:15" in run("build", "-", "-o", "x.onnx", input=WRONG, status=1).stderr


@pytest.mark.parametrize(
    ("text", "words"), [(b"\xff\xfe\x00", "not-utf8"), (b"", ""), (b"\0" * 1000, "error")]
)
def test_bad_standard_input(text: bytes, words: str) -> None:
    done = run("check", "-", input=text, text=False, status=None)
    assert words in done.stdout.decode(errors="replace")
    assert done.returncode == (1 if words else 0)


def test_closed_standard_input() -> None:
    done = subprocess.run(
        f"{PROGRAM} check - <&-", shell=True, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1 and "cannot read standard input" in done.stderr


# --- What was looked at --------------------------------------------------------------------------


def test_summary(folder: pathlib.Path) -> None:
    assert run("check", "good.py").stderr == "no errors or warnings in 1 file\n"
    assert run("check", ".", status=1).stderr == "1 error and 1 warning in 3 files\n"
    assert run("check", ".", "-q", status=1).stderr == ""
    (folder / "none").mkdir()
    (folder / "some").mkdir()
    (folder / "some/book.ipynb").write_text('{"nbformat": 4, "cells": []}')
    done = run("check", "none", "some", "good.py")
    assert done.stderr == (
        "not checked: `none`: no .py or .ipynb files there\nno errors or warnings in 2 files\n"
    )


@pytest.mark.skipif(os.geteuid() != 0 and not shutil.which("setpriv"), reason="needs setpriv")
def test_unreadable_folders_are_named(folder: pathlib.Path) -> None:
    (folder / "locked").mkdir()
    (folder / "locked/x.py").write_text(GOOD)
    (folder / "locked").chmod(0)
    prefix = ["setpriv", "--reuid=65534", "--clear-groups"] if os.geteuid() == 0 else []
    folder.chmod(0o755)
    done = subprocess.run(
        [*prefix, PROGRAM, "check", "locked"], capture_output=True, text=True, timeout=60
    )
    if "Permission denied" not in done.stderr:  # the program itself, in a private folder
        assert "not checked: `locked`: the folder cannot be read" in done.stderr


def test_exclude(folder: pathlib.Path) -> None:
    (folder / "old/deep").mkdir(parents=True)
    (folder / "old/deep/wrong.py").write_text(WRONG)
    for pattern in ("wrong.py,unused.py", "wr*,u*"):
        assert run("check", ".", "--exclude", pattern, status=0).stderr.endswith("in 1 file\n")
    (folder / "wrong.py").unlink()
    run("check", ".", status=1)
    for pattern in ("old", "old/deep", "*/wrong.py"):
        run("check", ".", "--exclude", pattern)
    run("check", "old/deep/wrong.py", "--exclude", "old", status=1)  # named itself


def test_files_are_called_what_they_are(folder: pathlib.Path) -> None:
    for path in ("missing.py", "missing.onnx", "missing.txt"):
        done = run("check", path, status=1)
        assert "error[unreadable-file]: cannot open" in done.stdout
        assert "No such file" in done.stdout
    (folder / "notes.txt").write_text("words")
    done = run("check", "notes.txt", status=1)
    assert "`notes.txt` is neither a script, whose name ends in `.py`, nor a model" in done.stdout
    (folder / "bad.onnx").write_text("words")
    assert "error[invalid-model]" in run("check", "bad.onnx", status=1).stdout
    done = run("build", "missing.txt", "-o", "x.onnx", status=1)
    assert "cannot open `missing.txt`: there is no such file" in done.stderr
    done = run("build", "notes.txt", "-o", "x.onnx", status=2)
    assert "a script file, whose name ends in `.py`" in done.stderr


# --- Options -------------------------------------------------------------------------------------


def test_options_before_the_command() -> None:
    assert "\x1b[" in run("--color", "always", "check", "wrong.py", status=1).stdout
    assert run("-q", "check", "good.py").stderr == ""
    assert run("--color=never", "-q", "build", "good.py", "-o", "x.onnx").stdout == ""
    assert "no option `--colour`" in run("--colour", "check", "good.py", status=2).stderr
    assert "unexpected argument `b`" in run("build", "a.py", "b", "-o", "c", status=2).stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("build -- -x.py -o y.onnx", "unexpected argument `-o`: options stand before `--`"),
        ("build -o y.onnx -- -x.py z", "unexpected argument `z`"),
        ("build --outptu y.onnx -- -x.py", "there is no option `--outptu`; did you mean"),
        ("run -x=3", "there is no option `-x=3`"),
        ("run f.onnx --input x=3", "there is no option `--input`: write `NAME=VALUE` alone"),
    ],
)
def test_words_that_are_left_over(words: str, says: str) -> None:
    done = run(*words.split(), status=2)
    assert f"error: {says}" in done.stderr


def test_words_behind_the_end_of_options(folder: pathlib.Path) -> None:
    (folder / "-x.py").write_text(GOOD)
    run("build", "-o", "y.onnx", "--", "-x.py")
    assert (folder / "y.onnx").exists()


def test_unknown_attributes() -> None:
    done = run("build", "good.py", "-o", "x.onnx", "--attribute", "kk=3", status=1)
    assert "`good` has no attribute parameter `kk`" in done.stderr
    assert "did you mean `k`?" in done.stderr
    done = run("run", "good.py", "x=[1.0]", "--attribute", "x=3", status=1)
    assert "`x` of `good` is an input, not an attribute" in done.stderr


# --- pyproject.toml ------------------------------------------------------------------------------

SETTINGS = """\
[tool.sardonyx]
ignore = ["unused-value"]
exclude = ["wrong.py"]
opset = 21
schemas = ["mine.toml"]
"""
MINE = """\
domain = "my.domain"
[[operator]]
name = "Twice"
inputs = [{ name = "x", type = "FLOAT" }]
outputs = [{ name = "y", type = "FLOAT" }]
"""


def test_settings(folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "pyproject.toml").write_text(SETTINGS.replace('schemas = ["mine.toml"]', ""))
    assert run("check", ".").stderr == "no errors or warnings in 2 files\n"
    assert "in 3 files" in run("check", ".", "--isolated", status=1).stderr
    assert "in 2 files" in run("check", ".", "--exclude", "good.py", status=1).stderr
    run("build", "good.py", "-o", "x.onnx")
    assert onnx.load("x.onnx").opset_import[0].version == 21
    run("build", "good.py", "-o", "x.onnx", "--opset", "19")
    assert onnx.load("x.onnx").opset_import[0].version == 19
    # The nearest one counts, and one without the section does not.
    (folder / "sub").mkdir()
    (folder / "sub/pyproject.toml").write_text("[project]\n")
    (folder / "sub/unused.py").write_text(UNUSED)
    monkeypatch.chdir(folder / "sub")
    assert run("check", ".").stderr == "no errors or warnings in 1 file\n"
    assert "unused-value" in run("check", ".", "--isolated").stdout
    (folder / "sub/other.toml").write_text('[tool.sardonyx]\nselect = ["unused-value"]\n')
    assert "unused-value" in run("check", ".", "--config", "other.toml").stdout


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[tool.sardonyx\n", "1:15: this is not valid TOML"),
        ("[tool]\nsardonyx = 3\n", "`tool.sardonyx` is a table"),
        ('[tool.sardonyx]\nignor = ["x"]\n', "2:1: [tool.sardonyx] has no `ignor`; did you mean"),
        ("[tool.sardonyx]\nignore = 3\n", "2:10: `ignore` is a list of strings"),
        ("[tool.sardonyx]\nexclude = [3]\n", "`exclude` is a list of strings"),
        ('[tool.sardonyx]\nopset = "21"\n', "`opset` is a version of ai.onnx"),
        ("[tool.sardonyx]\nopset = -1\n", "`opset` is a version of ai.onnx"),
        ("[tool.sardonyx]\nopset = 999\n", "2:9: the newest version of the domain `ai.onnx`"),
        ('[tool.sardonyx]\nignore = ["nothing-such"]\n', "no warning `nothing-such`"),
        ("\xff", "this is not valid TOML"),
    ],
)
def test_bad_settings(folder: pathlib.Path, text: str, words: str) -> None:
    (folder / "pyproject.toml").write_text(text, encoding="latin-1")
    done = run("check", "good.py", status=2)
    assert words in done.stderr and done.stdout == ""


def test_missing_settings() -> None:
    assert "cannot open `no.toml`" in run("check", ".", "--config", "no.toml", status=2).stderr


# --- Codes, shells, manual pages -----------------------------------------------------------------

PAGES = sorted(path.stem for path in (ROOT / "docs/diagnostics").glob("[a-z]*.md"))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            "strip M -o N --external-data -5",
            "--external-data: `-5` is not an integer of 1 or more;",
        ),
        (
            "build M.py -o N --external-data 0",
            "--external-data: `0` is not an integer of 1 or more;",
        ),
        ("testcase M -o N --seed 0", "cannot open `M`"),
        ("run M --seed abc", "--seed: `abc` is not an integer of 0 or more;"),
        ("run M --seed -1", "--seed: `-1` is not an integer of 0 or more;"),
        ("run M --seed 010", "--seed: `010` is not an integer of 0 or more;"),
        ("run M --seed 99999999999999999999", "is not an integer from 0 to 18446744073709551615;"),
        ("run M --threads 0", "--threads: `0` is not an integer from 1 to 256;"),
        ("run M --compare reference --atol nan", "`nan` is not a finite number of 0 or more;"),
        ("run M --compare reference --rtol -1", "`-1` is not a finite number of 0 or more;"),
        ("run M --compare reference --rtol 1e999", "is not a finite number from 0 to 1.79"),
        ("build LOOP -o N", "cannot open `LOOP`: Too many levels of symbolic links"),
    ],
)
def test_numbers(words: str, says: str) -> None:
    pathlib.Path("LOOP").symlink_to("LOOP")
    done = subprocess.run([PROGRAM, *words.split()], check=False, capture_output=True, text=True)
    assert says in done.stderr and len(done.stderr) < 150


def test_explain() -> None:
    listed = [line.split()[0] for line in run("explain").stdout.splitlines()]
    assert listed == PAGES
    for code in PAGES[::9]:
        text = (ROOT / f"docs/diagnostics/{code}.md").read_text()
        assert run("explain", code).stdout == text
    done = run("explain", "unknown-operater", status=2)
    assert "there is no code `unknown-operater`; did you mean `unknown-operator`?" in done.stderr


def test_sarif_describes_its_rules() -> None:
    log = json.loads(run("check", "wrong.py", "unused.py", "--sarif", status=1).stdout)
    for rule in log["runs"][0]["tool"]["driver"]["rules"]:
        page = (ROOT / f"docs/diagnostics/{rule['id']}.md").read_text()
        assert rule["help"]["markdown"] == page
        summary = rule["shortDescription"]["text"]
        assert summary.endswith(".") and summary in " ".join(page.split())


def complete(words: list[str]) -> list[str]:
    """What bash proposes for the last of the words."""
    text = (
        f'eval "$("{PROGRAM}" completion bash)"; COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); '
        '_sardonyx; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", text, "bash", *words],
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert done.stderr == ""
    return done.stdout.split()


def test_completion_in_bash() -> None:
    assert complete(["sardonyx", "ch"]) == ["check"]
    assert "--warnings-as-errors" in complete(["sardonyx", "check", "--wa"])
    assert complete(["sardonyx", "check", "--format", ""]) == ["text", "json", "sarif"]
    assert complete(["sardonyx", "check", "go"]) == ["good.py"]
    assert complete(["sardonyx", "build", "good.py", "-o", "wr"]) == ["wrong.py"]
    assert complete(["sardonyx", "explain", "unknown-opera"]) == ["unknown-operator"]
    assert complete(["sardonyx", "--color", "never", "check", "--fi"]) in (["--fix"], [])


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_are_well_formed(shell: str) -> None:
    text = run("completion", shell).stdout
    commands = run("--help").stdout.split("Subcommands:")[-1].splitlines()
    for line in commands:
        if line.startswith("  ") and line.strip() and line[2] != " ":
            assert line.split()[0] in text or "Example" in line
    if shutil.which(shell):
        done = subprocess.run([shell, "-n"], input=text, capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stderr) == (0, "")


def test_manual_page() -> None:
    text = run("completion", "man").stdout
    for word in (".SH CHECK", "\\-\\-stdin\\-filename", "pyproject.toml", ".SH EXIT STATUS"):
        assert word in text
    if shutil.which("groff"):
        done = subprocess.run(
            ["groff", "-man", "-Tutf8", "-ww"], input=text, capture_output=True, text=True,
            timeout=60,
        )  # fmt: skip
        assert done.returncode == 0 and done.stderr == "", done.stderr


def test_output_that_nobody_reads() -> None:
    for words in (["explain"], ["completion", "man"]):
        with pathlib.Path("/dev/full").open("w") as full:
            done = subprocess.run(
                [PROGRAM, *words], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60
            )
        assert done.returncode == 1 and "cannot write to standard output" in done.stderr


# --- The page ------------------------------------------------------------------------------------

PAGE = (ROOT / "docs/command_line.md").read_text()


def test_the_page_of_the_command_line(folder: pathlib.Path) -> None:
    """Its settings are read, and its commands and options exist."""
    settings = re.search(r"```toml\n(.*?)```", PAGE, re.S)
    assert settings is not None
    (folder / "pyproject.toml").write_text(settings[1])
    (folder / "my_ops.toml").write_text(MINE)
    assert "no errors or warnings in 2 files" in run("check", ".", "--exclude", "wrong.py").stderr
    help_text = run("--help").stdout
    for command in re.findall(r"^\| `sardonyx (\w+)", PAGE, re.M):
        assert command in help_text
    options = "".join(
        run(name, "--help").stdout for name in ("check", "build", "run", "view", "decompile")
    )
    for option in set(re.findall(r"`(?:\w+ )?(--[a-z-]+)", PAGE)) - {"--help"}:
        assert option in options, option


def test_pre_commit_hooks() -> None:
    text = (ROOT / ".pre-commit-hooks.yaml").read_text()
    assert re.findall(r"types\w*: (.*)", text) == ["[python, jupyter]", "[python]"]
    for entry in re.findall(r"entry: sardonyx (.*)", text):
        run(*entry.split(), "good.py")
        run(*entry.split(), "wrong.py", status=1)


def test_what_is_installed_with_the_program(tmp_path: pathlib.Path) -> None:
    done = subprocess.run(
        ["cmake", "--install", BUILD, "--prefix", tmp_path, "--component", "program"],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    share = tmp_path / "share"
    for path, what in [
        ("man/man1/sardonyx.1", "man"), ("zsh/site-functions/_sardonyx", "zsh"),
        ("bash-completion/completions/sardonyx", "bash"),
        ("fish/vendor_completions.d/sardonyx.fish", "fish"),
    ]:  # fmt: skip
        assert (share / path).read_text() == run("completion", what).stdout
