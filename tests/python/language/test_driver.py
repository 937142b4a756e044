"""One way to a compilation: every surface says the same, and threads do not meet in it."""

from __future__ import annotations

import pathlib
import subprocess
import textwrap
import threading
import time
from typing import Any

import numpy as np
import pytest
import sardonyx
import sardonyx.evaluator
from sardonyx import FLOAT, script
from sardonyx import opset23 as op

from places import PROGRAM, ROOT

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
    y = Reluu(y)
    y = y * slow.b
    return y * slow.c


@script()
def wrong_too(x: FLOAT[2]) -> FLOAT[2]:
    y = x * slow.a
    y = Softmaks(y)
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


# --- Evaluators of threads and tasks -------------------------------------------------------------


class Marks(sardonyx.evaluator.Evaluator):
    """Adds 100, so that its results are known."""

    def eval(self, *call: Any) -> list[Any]:
        _, inputs, _, _ = call
        return [inputs[0] + 100]


def test_an_evaluator_of_one_thread_is_not_that_of_others() -> None:
    inside, done = threading.Event(), threading.Event()
    seen: list[float] = []

    def other() -> None:
        inside.wait(10)
        seen.append(float(op.Neg(np.float32(1))))
        done.set()

    thread = threading.Thread(target=other)
    thread.start()
    with Marks():
        inside.set()
        assert done.wait(10)
        assert float(op.Neg(np.float32(1))) == 101
        with sardonyx.evaluator.native:
            assert float(op.Neg(np.float32(1))) == -1
        assert float(op.Neg(np.float32(1))) == 101
    thread.join()
    assert seen == [-1]
    assert float(op.Neg(np.float32(1))) == -1


def test_an_evaluator_of_one_task_is_not_that_of_others() -> None:
    import asyncio

    async def marked() -> list[float]:
        results = []
        with Marks():
            for _ in range(3):
                results.append(float(op.Neg(np.float32(1))))
                await asyncio.sleep(0)
        return results

    async def plain() -> list[float]:
        results = []
        for _ in range(3):
            results.append(float(op.Neg(np.float32(1))))
            await asyncio.sleep(0)
        return results

    async def both() -> list[list[float]]:
        return list(await asyncio.gather(marked(), plain()))

    assert asyncio.run(both()) == [[101, 101, 101], [-1, -1, -1]]


def test_a_default_set_in_a_block_ends_with_it() -> None:
    with sardonyx.evaluator.native:
        marks = Marks()
        sardonyx.evaluator.set_default(marks)
        assert sardonyx.evaluator.default() is marks
        assert float(op.Neg(np.float32(1))) == 101
    assert sardonyx.evaluator.default() is sardonyx.evaluator.native
    assert float(op.Neg(np.float32(1))) == -1


# --- Operators of other domains ------------------------------------------------------------------

OTHER_DOMAIN = """\
from sardonyx import FLOAT, Opset, opset23 as op, script

my = Opset("my.domain", 1)


@script()
def f(x: FLOAT[2, 3]):
    return {}
"""


@pytest.mark.parametrize("host", ["program", "python"])
@pytest.mark.parametrize(
    "body", ["op.Identity(my.Shape(x)[0])", "op.Neg(op.Cast(len(my.Shape(x)), to=1))"]
)
def test_names_of_ai_onnx_in_other_domains_mean_nothing(
    body: str, host: str, tmp_path: pathlib.Path
) -> None:
    onnx = pytest.importorskip("onnx")
    path, out = tmp_path / "other.py", tmp_path / "other.onnx"
    path.write_text(OTHER_DOMAIN.format(body))
    if host == "program":
        done = run("build", path, "-o", out)
        if done.returncode:  # refused, in words
            assert "error[" in done.stderr
            return
        model = onnx.load(out)
    else:
        space: dict[str, sardonyx.OnnxFunction] = {}
        exec(compile(OTHER_DOMAIN.format(body), str(path), "exec"), space)
        try:
            model = onnx.load_from_string(space["f"].to_model_bytes())
        except sardonyx.CompileError:
            return
    assert ("my.domain", "Shape") in {(node.domain, node.op_type) for node in model.graph.node}


def test_ai_onnx_is_one_domain_under_both_names(tmp_path: pathlib.Path) -> None:
    onnx = pytest.importorskip("onnx")
    path, out = tmp_path / "named.py", tmp_path / "named.onnx"
    path.write_text(
        'from sardonyx import FLOAT, Opset, script\n\nop = Opset("ai.onnx", 18)\n\n\n'
        "@script()\ndef f(x: FLOAT[2, 3]):\n    return op.Relu(x) + 1.0\n"
    )
    done = run("build", path, "-o", out)
    assert done.returncode == 0, done.stderr
    model = onnx.load(out)
    assert [(one.domain, one.version) for one in model.opset_import] == [("", 18)]
    assert [(node.domain, node.op_type) for node in model.graph.node if node.op_type == "Relu"] == [
        ("", "Relu")
    ]


# --- Files that are written ----------------------------------------------------------------------

WEIGHTS = (
    "import numpy as np\nfrom sardonyx import FLOAT, opset23 as op, script\n\n"
    'W = np.load("w.npy")\n\n\n'
    "@script()\ndef f(x: FLOAT[2]):\n    return x + W\n"
)


def test_build_does_not_overwrite_what_it_reads(tmp_path: pathlib.Path) -> None:
    source, weights = tmp_path / "g.py", tmp_path / "w.npy"
    source.write_text(WEIGHTS)
    np.save(weights, np.array([1, 2], np.float32))
    kept = {path: path.read_bytes() for path in (source, weights)}
    (tmp_path / "symbolic.onnx").symlink_to("g.py")
    (tmp_path / "hard.onnx").hardlink_to(source)
    (tmp_path / "weights.onnx").symlink_to("w.npy")
    (tmp_path / "out.onnx.data").hardlink_to(weights)
    (tmp_path / "folder").symlink_to(tmp_path)
    for output, rest in (
        ("g.py", []),
        ("./g.py", []),
        ("folder/g.py", []),
        ("symbolic.onnx", []),
        ("hard.onnx", []),
        ("w.npy", []),
        ("weights.onnx", []),
        ("out.onnx", ["--external-data", "1"]),
    ):
        done = run("build", source, "-o", tmp_path / output, *rest)
        assert done.returncode == 2 and "would overwrite" in done.stderr, output
        assert {path: path.read_bytes() for path in kept} == kept, output
    assert run("build", source, "-o", tmp_path / "new.onnx").returncode == 0


def test_no_command_overwrites_what_it_reads(tmp_path: pathlib.Path) -> None:
    source, model = tmp_path / "g.py", tmp_path / "m.onnx"
    source.write_text(WEIGHTS.replace("FLOAT[2]", "FLOAT[2000]"))
    np.save(tmp_path / "w.npy", np.ones(2000, np.float32))
    built = run("build", source, "-o", model, "--external-data", "1")
    assert built.returncode == 0, built
    (weights,) = tmp_path.glob("m.onnx?*")
    given = tmp_path / "x.npz"
    np.savez(given, x=np.ones(2000, np.float32))
    link = tmp_path / "link"
    link.symlink_to("m.onnx")
    kept = {path: path.read_bytes() for path in (source, model, weights, given)}
    for words in (
        ("view", model, "--html", model),
        ("view", model, "--svg", link),
        ("view", link, "--json", model),
        ("view", source, "--html", source),
        ("diff", model, model, "--html", link),
        ("decompile", model, "-o", weights),
        ("decompile", model, "--to", "text", "-o", weights),
        ("run", model, given, "-o", given),
    ):
        done = run(*words)
        assert done.returncode != 0 and "overwrite" in done.stderr, (words, done)
        assert {path: path.read_bytes() for path in kept} == kept, words


def test_a_dash_is_standard_output(tmp_path: pathlib.Path) -> None:
    onnx = pytest.importorskip("onnx")
    source = tmp_path / "g.py"
    source.write_text(HEADER + "@script()\ndef f(x: FLOAT[2]):\n    return op.Relu(x)\n")
    done = subprocess.run(
        [PROGRAM, "build", source, "-o", "-"], capture_output=True, check=True, cwd=tmp_path
    )
    assert [node.op_type for node in onnx.load_from_string(done.stdout).graph.node] == ["Relu"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["g.py"]
    refused = run("build", source, "-o", "-", "--external-data", "1")
    assert refused.returncode == 2 and "standard output" in refused.stderr


# --- Nothing to compute with ---------------------------------------------------------------------


@script()
def no_elements():
    return op.Identity([])


@script()
def no_elements_in_a_row():
    return op.Identity([[]])


@pytest.mark.parametrize("one", [no_elements, no_elements_in_a_row])
def test_an_empty_list_is_one_tensor_eagerly_and_in_the_graph(
    one: sardonyx.OnnxFunction,
) -> None:
    eager, graph = np.asarray(one()), np.asarray(one.compile()())
    assert (eager.dtype, eager.shape) == (graph.dtype, graph.shape)
    assert eager.dtype == np.int64


@script()
def loop_of_no_trips(x: FLOAT[2]):
    @sardonyx.graph()
    def body(i, go, state):
        state = state + 1.0
        return go, state, state * 2.0, op.Cast(i, to=7)

    last, doubles, numbers = op.Loop(0, True, x, body=body)
    return last, doubles, numbers


@script()
def scan_of_nothing(x: FLOAT[2], rows: FLOAT[0, 2]):
    @sardonyx.graph()
    def body(state, row):
        state = state + row
        return state, op.Concat(state, state, axis=0)

    last, doubles = op.Scan(x, rows, num_scan_inputs=1, body=body)
    return last, doubles


def test_loops_of_no_trips_give_empty_rows() -> None:
    x = np.array([1, 2], np.float32)
    none = np.zeros((0, 2), np.float32)
    for one, inputs, shapes in (
        (loop_of_no_trips, (x,), [(2,), (0, 2), (0,)]),
        (scan_of_nothing, (x, none), [(2,), (0, 4)]),
    ):
        eager = [np.asarray(result) for result in one(*inputs)]
        graph = [np.asarray(result) for result in one.compile()(*inputs)]
        assert [result.shape for result in eager] == shapes
        assert [result.shape for result in graph] == shapes
        assert [result.dtype for result in eager] == [result.dtype for result in graph]
