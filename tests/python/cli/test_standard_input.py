"""Scripts and models that come through standard input: `-`, and `-:NAME` for one of its scripts."""

from __future__ import annotations

import json
import pathlib
import subprocess

import pytest

from places import PROGRAM

TWO = """from sardonyx import FLOAT, script, opset18 as op

@script(default_opset=op)
def double(x: FLOAT[3]) -> FLOAT[3]:
    return x * 2

@script(default_opset=op)
def triple(x: FLOAT[3]) -> FLOAT[3]:
    return x * 3
"""


def program(*words: str, given: bytes = b"", status: int = 0) -> subprocess.CompletedProcess[bytes]:
    done = subprocess.run(
        [str(PROGRAM), *words], input=given, capture_output=True, check=False, timeout=60
    )
    assert done.returncode == status, done.stderr.decode()
    return done


@pytest.fixture(scope="module")
def model() -> bytes:
    return program("build", "-:triple", "-o", "-", given=TWO.encode()).stdout


# What tells a model from a script is its content.
@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["dump", "-"], "graph triple"),
        (["dump", "--stage", "plan", "-"], "Mul"),
        (["check", "-"], ""),
        (["info", "-"], "Mul"),
        (["view", "-", "--json", "-"], "standard input"),
        (["run", "-", "x=1,2,3"], "[3.0 6.0 9.0]"),
        (["decompile", "-"], "x * 3"),
    ],
)
def test_a_model(words: list[str], says: str, model: bytes) -> None:
    assert says in program(*words, given=model).stdout.decode()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["dump", "-"], "# double"),
        (["dump", "--stage", "tokens", "-"], 'Import "import"'),
        (["dump", "-:triple"], "graph triple"),
        (["check", "-"], ""),
        (["info", "-:triple"], "Mul"),
        (["view", "-:triple", "--json", "-"], "triple"),
        (["run", "-:triple", "x=1,2,3"], "[3.0 6.0 9.0]"),
        (["run", "/dev/stdin:double", "x=1,2,3"], "[2.0 4.0 6.0]"),
    ],
)
def test_a_script(words: list[str], says: str) -> None:
    assert says in program(*words, given=TWO.encode()).stdout.decode()


def test_differences(model: bytes, tmp_path: pathlib.Path) -> None:
    file = str(tmp_path / "triple.onnx")
    pathlib.Path(file).write_bytes(model)
    assert program("diff", "-", file, given=model).stdout == b""
    assert program("diff", file, "-:triple", given=TWO.encode()).stdout == b""
    assert json.loads(
        program("diff", "-:double", file, "--json", given=TWO.encode(), status=1).stdout
    )


def test_a_name_is_asked_for_as_it_is_given() -> None:
    done = program("build", "-", "-o", "-", given=TWO.encode(), status=2)
    assert "as in `-:triple`" in done.stderr.decode()


def test_a_part_of_a_model_is_no_script(model: bytes) -> None:
    done = program("run", "-", "x=1,2,3", given=model[:60], status=1)
    assert "damaged or cut off" in done.stderr.decode()


def test_nothing() -> None:
    assert program("dump", "-").stdout == b""
    done = program("run", "-", status=2)
    assert "has no scripts" in done.stderr.decode()


def test_check_takes_whole_files(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "two.py"
    file.write_text(TWO)
    done = program("check", f"{file}:double", status=2)
    assert done.stderr.decode() == f"error: `check` takes whole files: `sardonyx check {file}`\n"
