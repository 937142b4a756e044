"""One way to a compilation: every surface says the same, and threads do not meet in it."""

from __future__ import annotations

import os
import pathlib
import subprocess
import textwrap
import threading
import time

import numpy as np
import pytest
import sardonyx
from sardonyx import FLOAT, script
from sardonyx import opset23 as op

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get("SDX_BUILD", "build/release")
PROGRAM = BUILD / "sardonyx"

HEADER = "from sardonyx import FLOAT, opset23 as op, script\n\n\n"


class Slow:
    """Lets other threads run whenever it is read."""

    def __getattr__(self, name: str) -> float:
        time.sleep(0.005)
        return 2.0


slow = Slow()


@script()
def right(x: FLOAT[2]) -> FLOAT[2]:
    y = x * slow.a
    y = y * slow.b
    return y * slow.c


@script()
def wrong(x: FLOAT[2]) -> FLOAT[2]:
    y = x * slow.a
    y = op.Reluu(y)
    y = y * slow.b
    return y * slow.c


@script()
def wrong_too(x: FLOAT[2]) -> FLOAT[2]:
    y = op.Softmaks(x * slow.a)
    y = y * slow.b
    return y * slow.c


def test_threads_do_not_swap_findings() -> None:
    expected = {"right": None, "wrong": "`Reluu`", "wrong_too": "`Softmaks`"}
    scripts = [right, wrong, wrong_too, right, wrong, wrong_too, right, wrong]
    failures: list[str] = []
    start = threading.Barrier(len(scripts))

    def compile_it(one: sardonyx.OnnxFunction) -> None:
        start.wait()
        for _ in range(3):
            found = None
            try:
                one.to_model_bytes()
            except sardonyx.CompileError as error:
                found = error.diagnostics
            wanted = expected[one.name]
            is_fine = (
                found is None
                if wanted is None
                else found is not None and len(found) == 1 and wanted in found[0]["message"]
            )
            if not is_fine:
                failures.append(f"{one.name}: {found}")

    threads = [threading.Thread(target=compile_it, args=(one,)) for one in scripts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


class Compiles:
    """Compiles another script when it is read, as a property of a configuration may."""

    @property
    def value(self) -> float:
        with pytest.raises(sardonyx.CompileError, match="Reluu"):
            wrong.to_model_bytes()
        return 3.0


compiles = Compiles()


@script()
def around(x: FLOAT[2]) -> FLOAT[2]:
    return x * compiles.value


def test_a_compilation_inside_another_keeps_its_findings() -> None:
    model = around.compile()
    assert np.array_equal(model(np.array([1, 2], np.float32)), [3.0, 6.0])


class Endless:
    @property
    def value(self) -> float:
        endless.to_model_bytes()
        return 1.0


endless_value = Endless()


@script()
def endless(x: FLOAT[2]) -> FLOAT[2]:
    return x * endless_value.value


def test_compilations_inside_each_other_end() -> None:
    with pytest.raises((sardonyx.CompileError, RecursionError)):
        endless.to_model_bytes()


# --- The keywords of @script -------------------------------------------------------------------

MISTAKEN = {
    "inlined=True": "takes no `inlined`",
    'producer="me"': "takes no `producer`",
    'ir_version="ten"': "`ir_version` of `script` is a positive int",
    "ir_version=-1": "`ir_version` of `script` is a positive int",
    "inline=1": "`inline` of `script` is True or False",
    "doc_string=3": "`doc_string` of `script` is a str",
    "producer_name=None": "`producer_name` of `script` is a str",
}


def run(*words: str | pathlib.Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=False, cwd=ROOT)


@pytest.mark.parametrize("keyword", MISTAKEN)
def test_a_mistaken_keyword_is_an_error_everywhere(keyword: str, tmp_path: pathlib.Path) -> None:
    text = HEADER + f"@script({keyword})\ndef f(x: FLOAT[2]):\n    return op.Relu(x)\n"
    path = tmp_path / "keyword.py"
    path.write_text(text)
    for command in (
        ["check", path],
        ["build", path, "-o", tmp_path / "out.onnx"],
        ["run", path, "x=[1.0, 2.0]"],
        ["dump", path],
    ):
        done = run(*command)
        assert done.returncode == 1, command
        assert MISTAKEN[keyword] in done.stdout + done.stderr
    assert not (tmp_path / "out.onnx").exists()
    with pytest.raises(TypeError) as caught:
        exec(compile(text, str(path), "exec"), {})
    assert MISTAKEN[keyword] in str(caught.value)
    with pytest.raises(TypeError):
        eval(f"script({keyword})", {"script": script})


def test_right_keywords_are_taken_everywhere(tmp_path: pathlib.Path) -> None:
    onnx = pytest.importorskip("onnx")
    text = HEADER + textwrap.dedent("""\
        @script(None, None, None, inline=False, ir_version=9, producer_name="me",
                producer_version="1.2", doc_string="words")
        def f(x: FLOAT[2]):
            return op.Relu(x)
        """).replace("opset23", "opset18")
    path = tmp_path / "keywords.py"
    path.write_text(text)
    done = run("build", path, "-o", tmp_path / "out.onnx", "--opset", "18")
    assert done.returncode == 0, done.stderr
    model = onnx.load(tmp_path / "out.onnx")
    space: dict[str, sardonyx.OnnxFunction] = {}
    exec(compile(text, str(path), "exec"), space)
    for one in (model, onnx.load_from_string(space["f"].to_model_bytes(opset=18))):
        assert (one.ir_version, one.producer_name, one.producer_version, one.doc_string) == (
            9,
            "me",
            "1.2",
            "words",
        )


# --- Comments that silence -----------------------------------------------------------------------

UNUSED = "@script()\ndef f(x: FLOAT[2]):\n    y = op.Neg(x){}\n    return op.Relu(x)\n"


def test_every_command_warns_and_honours_comments(tmp_path: pathlib.Path) -> None:
    loud, silent = tmp_path / "loud.py", tmp_path / "silent.py"
    loud.write_text(HEADER + UNUSED.format(""))
    silent.write_text(HEADER + UNUSED.format("  # sardonyx: ignore[unused-value]"))
    for command, rest in (
        ("check", []),
        ("build", ["-o", tmp_path / "out.onnx"]),
        ("run", ["x=[1.0, -2.0]"]),
        ("dump", []),
    ):
        done = run(command, loud, *rest)
        assert done.returncode == 0 and "unused-value" in done.stdout + done.stderr, command
        done = run(command, silent, *rest)
        assert done.returncode == 0 and "unused-value]:" not in done.stdout + done.stderr, command
