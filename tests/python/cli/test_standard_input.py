"""Scripts and models that come through standard input: `-`, and `-:NAME` for one of its scripts."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess

import pytest

from places import PROGRAM
from sampling import FULL

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


@pytest.mark.parametrize("output", [["-o", "/dev/stdout"], ["--output=/dev/stdout"]])
def test_the_streams_by_their_paths(output: list[str], model: bytes) -> None:
    """No summary stands among the bytes, and text is a script, as with `-`."""
    assert program("build", "/dev/stdin:triple", *output, given=TWO.encode()).stdout == model
    renamed = program("rename", "/dev/stdin", "x=z", *output, given=model).stdout
    assert renamed == program("rename", "-", "x=z", "-o", "-", given=model).stdout
    assert "no errors" in program("check", "/dev/stdin", given=TWO.encode()).stderr.decode()


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


def test_build_takes_no_model(model: bytes) -> None:
    done = program("build", "-", "-o", "-", given=model, status=2)
    assert "`build` takes a script" in done.stderr.decode()


def test_nothing() -> None:
    assert program("dump", "-").stdout == b""
    done = program("run", "-", status=2)
    assert "has no scripts" in done.stderr.decode()


def test_check_takes_whole_files(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "two.py"
    file.write_text(TWO)
    done = program("check", f"{file}:double", status=2)
    assert done.stderr.decode() == f"error: `check` takes whole files: `sardonyx check {file}`\n"


@pytest.mark.parametrize("words", [
    "check -", "run -", "dump -", "info -", "diff - OUT", "view - --svg OUT", "build - -o OUT",
    "decompile -", "convert - -o OUT", "weights -", "testcase - -o OUT", "strip - -o OUT",
])  # fmt: skip
def test_what_cannot_be_read_is_an_error(words: str, tmp_path: pathlib.Path) -> None:
    arguments = words.replace("OUT", str(tmp_path / "out")).split()
    folder = os.open(tmp_path, os.O_RDONLY)
    try:
        done = subprocess.run(
            [str(PROGRAM), *arguments], stdin=folder, capture_output=True, check=False, timeout=60
        )
    finally:
        os.close(folder)
    assert done.returncode in (1, 2)
    assert done.stderr.startswith(b"error: cannot read") and done.stderr.count(b"\n") == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not FULL, reason="writes more than 2 GiB: `tools/dev test --full`")
@pytest.mark.parametrize("text, says", [
    (b"y\n", b"`/dev/stdin` is larger than 67108864 bytes"),
    (b"\0", b"2147483649 bytes are more than the 2 GiB that protobuf can hold"),
])  # fmt: skip
def test_input_that_never_ends(text: bytes, says: bytes) -> None:
    done = subprocess.Popen(
        [str(PROGRAM), "info", "-"], stdin=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert done.stdin is not None and done.stderr is not None
    with pytest.raises(BrokenPipeError):
        while True:
            done.stdin.write(text * (1 << 20))
    assert says in done.stderr.read()
    assert done.wait() in (1, 2)


@pytest.mark.skipif(not FULL, reason="writes more than 2 GiB: `tools/dev test --full`")
def test_a_device_that_never_ends() -> None:
    done = program("check", "/dev/zero", status=1)
    assert b"`/dev/zero` is larger than 2147483648 bytes" in done.stderr + done.stdout
