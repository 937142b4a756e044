"""The program `sardonyx`: every command, exit statuses, bad input, numbers by other runtimes."""

from __future__ import annotations

import json
import os
import pathlib
import pty
import random
import re
import shutil
import subprocess
import sys
import time
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import onnx.checker
import onnx.helper
import onnx.numpy_helper
import onnx.parser
import onnx.reference
import onnxruntime
import pytest

import program
from places import BUILD, PROGRAM

GELU = """\
import math
from onnxscript import FLOAT, opset18 as op, script

M_SQRT1_2 = math.sqrt(0.5)


@script()
def gelu(x):
    return 0.5 * x * (op.Erf(M_SQRT1_2 * x) + 1.0)


@script()
def gelu_model(x: FLOAT["N", 3]) -> FLOAT["N", 3]:
    return gelu(x)
"""

TWO = """\
from onnxscript import FLOAT, opset18 as op, script


@script()
def first(x: FLOAT[2]) -> FLOAT[2]:
    return op.Neg(x)


@script()
def second(x: FLOAT[2]) -> FLOAT[2]:
    return op.Abs(x)
"""

SCALE = """\
from onnxscript import FLOAT, opset18 as op, script


@script()
def scale(x: FLOAT[...], y, factor: float = 2.0, axis: int = 0):
    return op.Mul(x, factor), op.Concat(x, y, axis=axis)
"""

WRONG = """\
from sardonyx import FLOAT, opset18 as op, script


@script()
def wrong(x: FLOAT["N"]):
    _y = op.Reluu(x)
    return op.Add(x)
"""


def run(*words: Any, **options: Any) -> Any:
    return program.run(*words, errors="replace", **options)


@pytest.fixture(autouse=True)
def folder(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    monkeypatch.chdir(tmp_path)
    for name, text in {"gelu": GELU, "two": TWO, "scale": SCALE, "wrong": WRONG}.items():
        (tmp_path / f"{name}.py").write_text(text)
    return tmp_path


def random_floats(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


# --- Help and usage ------------------------------------------------------------------------------


def test_version_and_help() -> None:
    assert run("--version").stdout == "sardonyx 0.1.0\n"
    for command in ("build", "run", "check", "dump"):
        assert command in run("--help").stdout
        text = run(command, "--help").stdout
        assert "Example" in text and f"sardonyx {command} " in text
    assert run("--help").stderr == ""


def test_the_words_of_other_programs_for_help_and_version() -> None:
    assert run("-V").stdout == run("version").stdout == run("--version").stdout
    assert run("help").stdout == run("--help").stdout
    assert run("help", "check").stdout == run("check", "--help").stdout
    found = [run("check", word, "json", "nowhere.py", status=1).stdout
             for word in ("--format", "--output-format")]  # fmt: skip
    assert found[0] == found[1] and "unreadable-file" in found[0]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "a command is needed"),
        (["biuld", "x.py"], "did you mean `build`?"),
        (["frobnicate"], "no command `frobnicate`"),
        (["build", "two.py", "--ouptut", "x.onnx"], "did you mean `--output`?"),
        (["build", "two.py", "--ouptut=x.onnx"], "did you mean `--output`?"),
        (["build", "two.py"], "missing option: --output OUT.onnx; see `sardonyx build --help`"),
        (["build", "two.py", "-o", "x.onnx"], "several scripts; choose one of `first`, `second`"),
        (["build", "two.py:frist", "-o", "x.onnx"], "no script `frist`; it has `first`, `second`"),
        (["build", "model.onnx", "-o", "x.onnx"], "takes a script file"),
        (["build", "gelu.py", "-o", "x.onnx", "--input", "FLOAT"], "has no name"),
        (["build", "gelu.py", "-o", "x.onnx", "--input", "x=FLOTA"], "`FLOTA` is not a type"),
        (["build", "gelu.py", "-o", "x.onnx", "--input", "x=float64[3]"], "mean `DOUBLE[3]`?"),
        (["build", "gelu.py", "-o", "x.onnx", "--input", "x=FLAOT[N]"], "mean `FLOAT[N]`?"),
        (["build", "gelu.py", "-o", "x.onnx", "--attribute", "k=]"], "not a Python literal"),
        (["build", "gelu.py", "-o", "x.onnx", "--opset", "many"], "--opset"),
        (["build", "gelu.py", "-o", "x.onnx", "--opset", "999"], "newest version of the domain"),
        (["build", "gelu.py", "-o", "x.onnx", "--ir-version", "999"], "the IR version is 999"),
        (["build", "gelu.py", "-o", "x.onnx", "--opset", "-1"], "--opset"),
        (["run"], "missing argument: FILE.py[:NAME]|MODEL.onnx"),
        (["run", "gelu.py", "x=1", "x=2"], "`x` is given twice"),
        (["check"], "missing argument: FILE"),
        (
            ["check", "x.py", "--format", "xml"],
            "--format: there is no `xml`; use text, json, sarif",
        ),
        (["dump", "gelu.py", "--stage", "soul"], "--stage: there is no `soul`; use tokens, tree"),
        (["help", "frobnicate"], "no command `frobnicate`"),
        (["dump", "gelu.py", "gelu.py"], "unexpected argument `gelu.py`"),
        (["check", "gelu.py", "--color", "pink"], "--color"),
        (["--frobnicate"], "no option `--frobnicate`"),
    ],
)
def test_wrong_usage(folder: pathlib.Path, words: list[str], said: str) -> None:
    done = run(*words, status=2)
    assert said in done.stderr and done.stdout == ""
    assert not (folder / "x.onnx").exists()


# --- build ---------------------------------------------------------------------------------------


def test_build_reports_what_it_met_when_it_chose_the_script(folder: pathlib.Path) -> None:
    """Names of the file are evaluated once, by the compilation that tells models from functions."""
    (folder / "chosen.py").write_text(
        "from sardonyx import FLOAT, script, values\n\nbroken = values.Nothing\n\n\n"
        "@script()\ndef function(a, b):\n    return a + b\n\n\n"
        '@script()\ndef model(x: FLOAT["N"]):\n    return broken(x)\n'
    )
    done = run("build", "chosen.py", "-o", "chosen.onnx", status=1)
    assert done.stderr.count("error[unknown-member]") == 1
    assert not (folder / "chosen.onnx").exists()


def test_plain_functions_take_the_opset_of_the_script(folder: pathlib.Path) -> None:
    (folder / "plain.py").write_text(
        "from sardonyx import FLOAT, opset17, script\n\n\n"
        "def twice(a):\n    return a * 2.0\n\n\n"
        '@script(default_opset=opset17)\ndef f(x: FLOAT["N"]):\n    return twice(x)\n'
    )
    run("build", "plain.py", "-o", "plain.onnx")
    assert [one.version for one in onnx.load("plain.onnx").opset_import] == [17]


def test_build_writes_a_model_that_others_run() -> None:
    done = run("build", "gelu.py", "-o", "gelu.onnx")
    assert "gelu.onnx: `gelu_model` as a model" in done.stdout and done.stderr == ""
    model = onnx.load("gelu.onnx")
    onnx.checker.check_model(model, full_check=True)
    x = random_floats(5, 3)
    np.save("x.npy", x)
    run("run", "gelu.onnx", "x=x.npy", "-o", "out")
    ours = np.load(f"out/{model.graph.output[0].name}.npy")
    session = onnxruntime.InferenceSession("gelu.onnx", providers=["CPUExecutionProvider"])
    np.testing.assert_allclose(ours, session.run(None, {"x": x})[0], rtol=1e-5, atol=1e-6)
    reference = onnx.reference.ReferenceEvaluator(model)
    np.testing.assert_allclose(ours, reference.run(None, {"x": x})[0], rtol=1e-5, atol=1e-6)


def test_build_is_deterministic_and_leaves_one_file(folder: pathlib.Path) -> None:
    before = set(folder.iterdir())
    run("build", "gelu.py", "-o", "a.onnx")
    run("build", "gelu.py", "-o", "b.onnx")
    assert pathlib.Path("a.onnx").read_bytes() == pathlib.Path("b.onnx").read_bytes()
    assert set(folder.iterdir()) - before == {folder / "a.onnx", folder / "b.onnx"}


def test_build_takes_types_attributes_and_versions() -> None:
    words = ["--input", "x=DOUBLE[2,N]", "--input", "y=DOUBLE[3,N]", "--attribute", "factor=3"]
    run("build", "scale.py", "-o", "s.onnx", *words, "--opset", "20", "--ir-version", "9")
    model = onnx.load("s.onnx")
    onnx.checker.check_model(model, full_check=True)
    assert model.ir_version == 9
    assert [one.version for one in model.opset_import if one.domain == ""] == [20]
    assert model.graph.input[0].type.tensor_type.elem_type == onnx.TensorProto.DOUBLE
    dims = [d.dim_value or d.dim_param for d in model.graph.output[1].type.tensor_type.shape.dim]
    assert dims == [5, "N"]
    x, y = np.ones((2, 1)), np.zeros((3, 1))
    results = onnx.reference.ReferenceEvaluator(model).run(None, {"x": x, "y": y})
    np.testing.assert_array_equal(results[0], 3 * x)


def test_build_writes_a_function() -> None:
    run("build", "gelu.py:gelu", "-o", "gelu.onnx", "--function")
    function = onnx.FunctionProto.FromString(pathlib.Path("gelu.onnx").read_bytes())
    assert (function.name, list(function.input)) == ("gelu", ["x"])
    assert function.opset_import[0].version == 18
    x = random_floats(4)
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("gelu", ["x"], ["y"], domain=function.domain)],
        "g",
        [onnx.helper.make_tensor_value_info("x", 1, [4])],
        [onnx.helper.make_tensor_value_info("y", 1, [4])],
    )
    imports = [onnx.helper.make_opsetid(function.domain, 1), onnx.helper.make_opsetid("", 18)]
    model = onnx.helper.make_model(graph, functions=[function], opset_imports=imports, ir_version=8)
    onnx.checker.check_model(model)
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    run("run", "gelu.py:gelu", "x=" + str(x.tolist()), "-o", "out")
    (written,) = pathlib.Path("out").iterdir()
    np.testing.assert_allclose(np.load(written), session.run(None, {"x": x})[0], rtol=1e-5)


WEIGHTS = """\
import numpy as np
from sardonyx import FLOAT, opset18 as op, script

A = np.ones((32, 32), np.float32)
B = np.arange(512, dtype=np.float32)


@script()
def weighted(x: FLOAT["N", 32]) -> FLOAT["N", 512]:
    unused = x + 1.0
    return op.Slice(x @ A, [0], [1], [1]) + B
"""


def test_build_puts_large_initializers_beside(folder: pathlib.Path) -> None:
    pathlib.Path("weighted.py").write_text(WEIGHTS)
    run("build", "weighted.py", "-o", "whole.onnx")
    run("build", "weighted.py", "-o", "out.onnx", "--external-data", "1000")
    model, data = sorted(path.name for path in folder.glob("out*"))
    assert model == "out.onnx"
    assert re.fullmatch(r"out\.onnx\.[0-9a-f]{16}\.data", data)
    assert (folder / "out.onnx").stat().st_size < 2000
    assert (folder / data).stat().st_size == 4096 + 2048
    onnx.checker.check_model("out.onnx", full_check=True)
    x = random_floats(2, 32)
    results = [
        onnxruntime.InferenceSession(name, providers=["CPUExecutionProvider"]).run(None, {"x": x})
        for name in ("whole.onnx", "out.onnx")
    ]
    np.testing.assert_array_equal(results[0], results[1])
    loaded, whole = onnx.load("out.onnx"), onnx.load("whole.onnx")
    for one, other in zip(loaded.graph.initializer, whole.graph.initializer, strict=True):
        np.testing.assert_array_equal(
            onnx.numpy_helper.to_array(one), onnx.numpy_helper.to_array(other)
        )
    run("build", "weighted.py", "-o", "f", "--function", "--external-data", "1", status=2)


def test_build_prints_lints() -> None:
    pathlib.Path("weighted.py").write_text(WEIGHTS)
    assert "unused-value" in run("build", "weighted.py", "-o", "out.onnx").stderr
    silent = WEIGHTS.replace("x + 1.0", "x + 1.0  # sardonyx: ignore")
    pathlib.Path("weighted.py").write_text(silent)
    assert run("build", "weighted.py", "-o", "out.onnx").stderr == ""


def test_a_failed_build_leaves_what_was_there(folder: pathlib.Path) -> None:
    pathlib.Path("out.onnx").write_bytes(b"before")
    before = sorted(folder.iterdir())
    done = run("build", "wrong.py", "-o", "out.onnx", "--input", "x=FLOAT[3]", status=1)
    assert "error[unknown-operator]" in done.stderr and "wrong.py:6:" in done.stderr
    assert "too-few-inputs" in done.stderr
    assert pathlib.Path("out.onnx").read_bytes() == b"before"
    assert sorted(folder.iterdir()) == before
    done = run("build", "gelu.py", "-o", "missing/out.onnx", status=1)
    assert "missing/out.onnx" in done.stderr and not (folder / "missing").exists()
    (folder / "taken").mkdir()
    run("build", "gelu.py", "-o", "taken", status=1)
    assert not list((folder / "taken").iterdir())


def test_build_to_a_device_or_a_link_keeps_it() -> None:
    run("build", "gelu.py", "-o", "/dev/null")
    assert pathlib.Path("/dev/null").is_char_device()
    pathlib.Path("real.onnx").write_bytes(b"before")
    pathlib.Path("link.onnx").symlink_to("real.onnx")
    run("build", "gelu.py", "-o", "link.onnx")
    assert pathlib.Path("link.onnx").is_symlink()
    assert len(pathlib.Path("real.onnx").read_bytes()) > 100


# --- run -----------------------------------------------------------------------------------------


def outputs(*words: str | pathlib.Path) -> dict[str, np.ndarray]:
    shutil.rmtree("out", ignore_errors=True)
    run("run", *words, "-o", "out")
    return {path.stem: np.load(path) for path in sorted(pathlib.Path("out").iterdir())}


def identity_model(element_type: int, shape: list[Any], path: str = "id.onnx") -> None:
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Identity", ["x"], ["y"])],
        "g",
        [onnx.helper.make_tensor_value_info("x", element_type, shape)],
        [onnx.helper.make_tensor_value_info("y", element_type, shape)],
    )
    imports = [onnx.helper.make_opsetid("", 23)]
    onnx.save(onnx.helper.make_model(graph, opset_imports=imports, ir_version=11), path)


def test_run_prints_types_and_numbers() -> None:
    done = run("run", "two.py:first", "x=[1, -2.5]")
    assert done.stdout.splitlines()[0].endswith(": FLOAT[2]")
    assert done.stdout.splitlines()[1] == "[-1.0  2.5]"


def test_run_infers_open_types_from_the_values() -> None:
    results = outputs("scale.py", "x=[[1.0]]", "y=[[2.0]]", "--attribute", "axis=1")
    first, second = results.values()
    np.testing.assert_array_equal(first, [[2.0]])
    np.testing.assert_array_equal(second, [[1.0, 2.0]])
    done = run("run", "gelu.py", "x=rand:FLOAT[2,4]", status=1)
    assert "FLOAT[2, 4]" in done.stderr and "FLOAT[N, 3]" in done.stderr


def test_run_names_unknown_and_missing_inputs() -> None:
    run("build", "scale.py", "-o", "s.onnx", "--input", "x=FLOAT[2]", "--input", "y=FLOAT[3]")
    for target in ("s.onnx", "scale.py"):
        done = run("run", target, "x=rand:FLOAT[2]", "z=1", status=1)
        assert "no input `z`" in done.stderr
        done = run("run", target, "x=rand:FLOAT[2]", status=1)
        assert "no value for `y`" in done.stderr and "`--random`" in done.stderr
    done = run("run", "s.onnx", "x=rand:FLOAT[5]", "y=rand", status=1)
    assert "`x`" in done.stderr and "FLOAT[5]" in done.stderr
    done = run("run", "s.onnx", "x=rand:FLOAT[N]", "y=rand", status=1)
    assert "the size `N`" in done.stderr
    done = run("run", "s.onnx", "x=[1, [2]]", "y=rand", status=1)
    assert "input `x`" in done.stderr
    done = run("run", "s.onnx", "x=x.npy", "y=rand", status=1)
    assert "x.npy" in done.stderr


TRACED = """\
from onnxscript import FLOAT, INT64, opset18 as op, script


@script()
def traced(x: FLOAT[2], n: INT64) -> FLOAT[2]:
    y = op.Log(x)
    for i in range(n):
        y = op.Add(y, x)
    return op.Abs(y)
"""


def test_run_traces_every_value(folder: pathlib.Path) -> None:
    (folder / "traced.py").write_text(TRACED)
    done = run("run", "traced.py", "x=[-1.0, 0.0]", "n=2", "--trace", "--threads", "1")
    lines = done.stdout.splitlines()
    (log,) = (line for line in lines if "  Log  " in line)
    assert "FLOAT[2]  1 NaN, 1 infinite  Log  traced.py:6" in log
    # The body's values are shown in each of its two iterations, deeper than those around it.
    adds = [line for line in lines if "  Add  " in line]
    assert len(adds) == 2 and all(line.startswith("  ") for line in adds)
    assert adds[0].endswith("traced.py:8")
    assert any("  Abs  " in line and "traced.py:9" in line for line in lines)
    done = run("run", "two.py:first", "x=[1, -2.5]", "--trace")
    assert "FLOAT[2]  -1 to 2.5  Neg" in done.stdout


def test_errors_of_a_run_name_the_line(folder: pathlib.Path) -> None:
    (folder / "traced.py").write_text(TRACED.replace("op.Add(y, x)", "op.Concat(y, x, axis=1)"))
    done = run("run", "traced.py", "x=[-1.0, 0.0]", "n=2", status=1)
    assert "traced.py:8" in done.stderr


def with_peers(*words: str | pathlib.Path, status: int) -> Any:
    environment = {
        **os.environ,
        "SARDONYX_PYTHON": sys.executable,
        "PYTHONPATH": str(BUILD / "python"),
    }
    return run(*words, status=status, env=environment)


def test_run_compares_with_other_runtimes() -> None:
    for peer in ("onnxruntime", "reference"):
        done = with_peers("run", "gelu.py", "x=rand:FLOAT[2,3]", "--compare", peer, status=0)
        assert done.stdout.startswith("all ") and done.stdout.endswith(f"agree with {peer}\n")
    run("build", "two.py:first", "-o", "a.onnx")
    other = onnx.load("a.onnx")
    done = with_peers("run", "a.onnx", "x=[1, 2]", "--compare", "onnxruntime", status=0)
    assert "agree" in done.stdout
    other.graph.node[0].op_type = "Abs"
    onnx.save(other, "b.onnx")
    for target in ("a.onnx", "two.py:first"):
        done = run("run", target, "x=[1, 2]", "--compare", "b.onnx", status=1)
        assert "the first difference is in" in done.stdout and "`Neg`" in done.stdout
        assert "2 of 2 elements differ, by 4 at most; element 0 is -1 and 1" in done.stdout
        assert ("two.py:6" in done.stdout) == (target != "a.onnx")
    other.graph.node[0].output[0] = other.graph.output[0].name = "nothing_in_common"
    onnx.save(other, "b.onnx")
    done = run("run", "a.onnx", "x=[1, 2]", "--compare", "b.onnx", status=1)
    assert ", an output\n" in done.stdout  # by its order
    other.graph.node[0].op_type = "SequenceConstruct"
    other.graph.output[0].type.CopyFrom(
        onnx.helper.make_sequence_type_proto(other.graph.input[0].type)
    )
    onnx.save(other, "b.onnx")
    done = run("run", "a.onnx", "x=[1, 2]", "--compare", "b.onnx", status=1)
    assert "no value of the model has the name" in done.stderr


PEER_MEMORY = """\
import resource, sys
from sardonyx import _peer

_peer.main(*sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.parametrize("peer", ["onnxruntime", "reference"])
def test_a_peer_does_not_keep_its_values(folder: pathlib.Path, peer: str) -> None:
    """The memory does not grow with the number of nodes: here by 8 MB for each of 60 if it did."""
    np.save(folder / "input_0.npy", np.zeros((2, 1 << 20), np.float32))
    (folder / "input.txt").write_text("v0\n")
    peaks = []
    for count in (4, 64):
        nodes = [onnx.helper.make_node("Neg", [f"v{i}"], [f"v{i + 1}"]) for i in range(count)]
        infos = [
            [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [2, 1 << 20])]
            for name in ("v0", f"v{count}")
        ]
        graph = onnx.helper.make_graph(nodes, "g", *infos)
        imports = [onnx.helper.make_opsetid("", 18)]
        onnx.save(onnx.helper.make_model(graph, opset_imports=imports, ir_version=8), "chain.onnx")
        done = subprocess.run(
            [sys.executable, "-c", PEER_MEMORY, peer, "chain.onnx", str(folder)],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": str(BUILD / "python")},
        )
        assert done.returncode == 0, done.stderr
        assert (folder / "value.txt").read_text().splitlines() == [
            f"v{i + 1}" for i in range(count)
        ]
        peaks.append(int(done.stdout) / 1024)
    assert peaks[1] < peaks[0] + 240, peaks


def test_a_peer_runs_bodies_and_sequences() -> None:
    """Values of the main graph that a body reads, and sequences between its nodes."""
    model = onnx.parser.parse_model("""
        <ir_version: 8, opset_import: ["" : 18]>
        g (float[3] x, int64 n) => (float[3] y)
        <float[3] w = {1, 2, 3}> {
            s = SequenceConstruct (x, w)
            a = Neg (w)
            always = Constant <value: tensor = bool {1}> ()
            t = Loop (n, always, s) <body = b (int64 i, bool c, seq(float[3]) u)
                => (bool d, seq(float[3]) v) {
                d = Identity (c)
                e = Mul (a, x)
                v = SequenceInsert (u, e)
            }>
            y = SequenceAt (t, n)
        }""")
    onnx.save(model, "bodies.onnx")
    for peer in ("onnxruntime", "reference"):
        words = ("run", "bodies.onnx", "x=[1, 2, 3]", "n=2", "--compare", peer)
        assert "agree" in with_peers(*words, status=0).stdout


def loop_of_many_iterations(path: str) -> None:
    model = onnx.parser.parse_model("""
        <ir_version: 8, opset_import: ["" : 18]>
        g (int64 n, float x) => (float y) {
            z = Neg (x)
            y = Loop (n, , z) <body = b (int64 i, bool c, float u) => (bool d, float v) {
                d = Identity (c)
                v = Add (u, x)
            }>
        }""")
    onnx.save(model, path)


def test_a_long_run_shows_a_bar_on_a_terminal() -> None:
    loop_of_many_iterations("long.onnx")
    words = (PROGRAM, "run", "long.onnx", "x=1.0")
    ours, theirs = pty.openpty()
    running = subprocess.Popen(
        [*words, f"n={2**40}"], stdout=subprocess.DEVNULL, stderr=theirs, close_fds=True
    )
    os.close(theirs)
    seen = b""
    while seen.count(b"\r[") < 3:  # it goes on without end
        seen += os.read(ours, 1 << 12)
    running.kill()
    running.wait()
    os.close(ours)
    bar = r"\r\[#{15} {15}\] 1 of 2 nodes, \d+ s, (Add|Identity)\x1b\[K"
    assert re.match(bar, seen.decode()), seen


def test_the_bar_goes_away_and_short_runs_have_none() -> None:
    loop_of_many_iterations("long.onnx")
    words = [PROGRAM, "run", "long.onnx", "x=1.0"]
    started = time.monotonic()
    subprocess.run([*words, "n=300000"], check=True, capture_output=True)
    count = int(300000 * 2.5 / (time.monotonic() - started))
    for n, is_long in ((10, False), (count, True)):
        ours, theirs = pty.openpty()
        subprocess.run([*words, f"n={n}"], check=True, stdout=subprocess.DEVNULL, stderr=theirs)
        os.set_blocking(ours, False)
        seen = b""
        try:
            while True:  # one read gives a page at most
                seen += os.read(ours, 1 << 16)
        except BlockingIOError:
            pass
        os.close(theirs)
        os.close(ours)
        assert seen.endswith(b"\r\x1b[K") == is_long, seen
        assert (b"nodes" in seen) == is_long
    done = subprocess.run([*words, f"n={count}"], check=True, capture_output=True)
    assert done.stderr == b""  # no terminal, no bar


def test_run_ends_at_the_limit_of_steps(folder: pathlib.Path) -> None:
    (folder / "traced.py").write_text(TRACED)
    words = ("run", "traced.py", "x=[1.0, 2.0]", "n=1000000000000", "--max-steps")
    done = run(*words, "1000", status=1)
    assert "traced.py:" in done.stderr and "the limit of 1000 steps is reached" in done.stderr
    run(*words, "0", status=2)


def test_run_says_which_peer_is_missing() -> None:
    words = ("run", "two.py:first", "x=[1, 2]", "--compare", "onnxruntime")
    done = run(*words, status=1, env={"PATH": "/nowhere"})
    assert "needs Python with the packages sardonyx, onnx and onnxruntime" in done.stderr
    done = run(*words, status=1, env={"SARDONYX_PYTHON": sys.executable, "PYTHONPATH": "/nowhere"})
    assert "No module named" in done.stderr
    done = run("run", "two.py:first", "x=[1, 2]", "--compare", "nowhere.onnx", status=1)
    assert "nowhere.onnx" in done.stderr
    run("run", "two.py:first", "x=[1, 2]", "--threads", "0", status=2)


def test_random_inputs_are_the_same_for_the_same_seed() -> None:
    def numbers(*words: str) -> np.ndarray:
        (array,) = outputs("two.py:first", *words).values()
        return array

    np.testing.assert_array_equal(numbers("x=rand"), numbers("--random"))
    np.testing.assert_array_equal(numbers("x=rand:FLOAT[2]"), numbers("--random", "--seed", "0"))
    assert (numbers("--random") != numbers("--random", "--seed", "1")).any()
    identity_model(onnx.TensorProto.FLOAT, ["N", 2])
    assert outputs("id.onnx", "--random")["y"].shape == (4, 2)


NUMPY_TYPES = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "complex64", "complex128",
]  # fmt: skip


@pytest.mark.parametrize("dtype", NUMPY_TYPES)
def test_npy_files_of_every_type_order_and_byte_order(dtype: str) -> None:
    identity_model(onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), [2, 3, 4])
    raw = np.random.default_rng(1).integers(0, 2 if dtype == "bool" else 100, (2, 3, 4))
    expected = raw.astype(dtype)
    if dtype.startswith("complex"):
        expected = expected + np.array(1j, dtype)
    for array in (
        expected,
        np.asfortranarray(expected),
        expected.astype(f">{expected.dtype.str[1:]}"),
    ):
        np.save("x.npy", array)
        got = outputs("id.onnx", "x=x.npy")["y"]
        assert got.dtype == expected.dtype
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (1, 1, 1, 1, 1)])
@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_npy_files_of_every_shape_and_version(
    shape: tuple[int, ...], version: tuple[int, int]
) -> None:
    identity_model(onnx.TensorProto.FLOAT, list(shape))
    expected = random_floats(*shape)
    with pathlib.Path("x.npy").open("wb") as file:
        np.lib.format.write_array(file, np.asarray(expected), version=version)
    got = outputs("id.onnx", "x=x.npy")["y"]
    assert got.shape == shape
    np.testing.assert_array_equal(got, expected)


def test_npy_files_of_strings() -> None:
    identity_model(onnx.TensorProto.STRING, [2, 2])
    texts = np.array([["", "a"], ["größer 𝄞", "x" * 30]])
    for array in (texts, np.asfortranarray(texts), texts.astype(">U30")):
        np.save("x.npy", array)
        np.testing.assert_array_equal(outputs("id.onnx", "x=x.npy")["y"], texts)
    np.save("x.npy", np.array([[b"ab", b""], [b"c", b"def"]]))
    expected = [["ab", ""], ["c", "def"]]
    np.testing.assert_array_equal(outputs("id.onnx", "x=x.npy")["y"], expected)


@pytest.mark.parametrize(
    "name", ["bfloat16", "float8_e4m3fn", "float8_e5m2", "int4", "uint4", "float4_e2m1fn"]
)
def test_npy_files_of_types_that_numpy_lacks(name: str) -> None:
    dtype = np.dtype(getattr(ml_dtypes, name))
    identity_model(onnx.helper.np_dtype_to_tensor_dtype(dtype), [7])
    expected = np.array([0, 1, 2, 3, 4, 1, 2], np.float32).astype(dtype)
    np.save("x.npy", expected)
    assert outputs("id.onnx", "x=x.npy")["y"].tobytes() == expected.tobytes()
    identity_model(onnx.TensorProto.FLOAT, [7], "f.onnx")
    assert "does not say what the bytes are" in run("run", "f.onnx", "x=x.npy", status=1).stderr


def test_npy_files_that_are_refused() -> None:
    identity_model(onnx.TensorProto.FLOAT, [2])
    for array, said in [
        (np.array([object(), None], object), "Python objects"),
        (np.zeros(2, [("a", "f4"), ("b", "i4")]), "structured"),
        (np.zeros(2, "M8[s]"), "M8[s]"),
        (np.zeros(2, np.longdouble), "f16"),
        (np.zeros(2, np.float64), "DOUBLE[2]"),
        (np.zeros(3, np.float32), "FLOAT[3]"),
    ]:
        np.save("x.npy", array, allow_pickle=array.dtype == object)
        assert said in run("run", "id.onnx", "x=x.npy", status=1).stderr


def damaged_headers() -> list[bytes]:
    def file(header: str | bytes, version: bytes = b"\x01\x00", data: bytes = b"\0" * 8) -> bytes:
        text = header.encode() if isinstance(header, str) else header
        width = 2 if version[0] == 1 else 4
        return b"\x93NUMPY" + version + len(text).to_bytes(width, "little") + text + data

    good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }"
    return [
        b"",
        b"\x93NUMPY",
        b"\x93NUMPY\x01\x00",
        b"\x93NUMPY\x01\x00\xff\xff",
        b"\x93NUMPY\x02\x00\xff\xff\xff\xff{",
        file(good, b"\x04\x00"),
        file(good, b"\x00\x00"),
        file(good, data=b"\0" * 7),
        file(good.replace("(2,)", "(99999999999999999999,)")),
        file(good.replace("(2,)", "(4611686018427387904, 4)")),
        file(good.replace("(2,)", "(2305843009213693952,)")),
        file(good.replace("(2,)", "(-2,)")),
        file(good.replace("(2,)", "(2")),
        file(good.replace("(2,)", "(" + "1," * 70 + ")")),
        file(good.replace("(2,)", "2")),
        file(good.replace("<f4", "")),
        file(good.replace("<f4", "<")),
        file(good.replace("<f4", "<U99999999999")),
        file(good.replace("<f4", "<U1000000000").replace("(2,)", "(0,)")),
        file(good.replace("<f4", "<U0").replace("(2,)", "(4611686018427387904,)")),
        file(good.replace("<f4", "<V0")),
        file(good.replace("False", "Maybe")),
        file(good[:-3]),
        file("{"),
        file("{}"),
        file("{'descr': '<f4'}"),
        file(good + "}"),
        file(good.replace("'shape'", "'sh\\x61pe'")),
        file("__import__('os').system('true')"),
        file(b"\xff\xfe\x00" * 20),
        file("[" * 5000),
    ]


@pytest.mark.parametrize("data", damaged_headers())
def test_npy_files_that_are_damaged(data: bytes) -> None:
    identity_model(onnx.TensorProto.FLOAT, [2])
    pathlib.Path("x.npy").write_bytes(data)
    done = run("run", "id.onnx", "x=x.npy", status=1)
    assert "x.npy" in done.stderr or "input `x`" in done.stderr


def test_literals_take_the_declared_type() -> None:
    for element_type, literal, expected in [
        (onnx.TensorProto.INT64, "[1, 2]", np.array([1, 2])),
        (onnx.TensorProto.FLOAT16, "[1, .5]", np.array([1, 0.5], np.float16)),
        (onnx.TensorProto.DOUBLE, "[1, -1e300]", np.array([1, -1e300])),
        (onnx.TensorProto.BOOL, "[True, False]", np.array([True, False])),
        (onnx.TensorProto.UINT8, "[255, 0]", np.array([255, 0], np.uint8)),
        (onnx.TensorProto.STRING, "['a', 'b']", np.array(["a", "b"])),
    ]:
        identity_model(element_type, [2])
        got = outputs("id.onnx", f"x={literal}")["y"]
        assert got.dtype == expected.dtype
        np.testing.assert_array_equal(got, expected)
    identity_model(onnx.TensorProto.UINT8, [2])
    for literal in ("[256, 0]", "[1.5, 0]", "['a', 'b']", "word", "[x, y]", "1 +", "open('x')"):
        run("run", "id.onnx", f"x={literal}", status=1)


def test_output_names_cannot_leave_the_folder(folder: pathlib.Path) -> None:
    graph = onnx.helper.make_graph(
        [
            onnx.helper.make_node("Identity", ["x"], ["../../evil"]),
            onnx.helper.make_node("Identity", ["x"], [".. ..evil"]),
            onnx.helper.make_node("Identity", ["x"], ["a\x1b[31m\n"]),
        ],
        "g",
        [onnx.helper.make_tensor_value_info("x", 1, [1])],
        [
            onnx.helper.make_tensor_value_info(name, 1, [1])
            for name in ("../../evil", ".. ..evil", "a\x1b[31m\n")
        ],
    )
    onnx.save(onnx.helper.make_model(graph, ir_version=8), "m.onnx")
    done = run("run", "m.onnx", "x=[1]", "-o", "deep/out")
    assert "\x1b" not in done.stdout
    assert len(list((folder / "deep/out").iterdir())) == 3
    assert not list(folder.glob("*evil*")) and not list(folder.parent.glob("*evil*"))
    pathlib.Path("file").write_text("")
    assert "file" in run("run", "m.onnx", "x=[1]", "-o", "file", status=1).stderr


def test_long_arrays_are_cut() -> None:
    identity_model(onnx.TensorProto.FLOAT, [100, 100])
    text = run("run", "id.onnx", "x=rand").stdout
    assert len(text.splitlines()) == 8 and "..." in text
    identity_model(onnx.TensorProto.FLOAT, [8] * 7)
    assert len(run("run", "id.onnx", "x=rand").stdout) < 200_000


# --- check ---------------------------------------------------------------------------------------


def test_check_exit_statuses() -> None:
    assert run("check", "gelu.py", "two.py").stdout == ""
    done = run("check", "gelu.py", "wrong.py", status=1)
    assert "unknown-operator" in done.stdout and "did you mean" in done.stdout
    pathlib.Path("plain.py").write_text("import os\nclass A:\n    def f(self): return 1\n")
    run("check", "plain.py")
    done = run("check", "missing.py", status=1)
    assert "missing.py" in done.stdout


def test_check_walks_folders(folder: pathlib.Path) -> None:
    for name in ("deep/a/one.py", "deep/.hidden/two.py", "deep/__pycache__/three.py"):
        path = folder / name
        path.parent.mkdir(parents=True)
        path.write_text(WRONG)
    (folder / "deep/loop").symlink_to(folder / "deep")
    (folder / "deep/notes.txt").write_text(WRONG)
    found = json.loads(run("check", "deep", "--json", status=1).stdout)
    assert {pathlib.Path(one["file"]).name for one in found} == {"one.py"}
    (folder / "empty").mkdir()
    run("check", "empty")


def test_check_says_each_finding_once() -> None:
    found = json.loads(run("check", "wrong.py", "--json", status=1).stdout)
    assert [one["code"] for one in found] == ["unknown-operator", "too-few-inputs"]
    assert found[0]["range"]["start"]["line"] == 6
    sarif = json.loads(run("check", "wrong.py", "--sarif", status=1).stdout)
    assert sarif["version"] == "2.1.0"
    assert [one["ruleId"] for one in sarif["runs"][0]["results"]] == [
        "unknown-operator",
        "too-few-inputs",
    ]
    assert json.loads(run("check", "gelu.py", "--json").stdout) == []
    assert (
        json.loads(run("check", "gelu.py", "--format", "sarif").stdout)["runs"][0]["results"] == []
    )


def test_check_warnings() -> None:
    pathlib.Path("warn.py").write_text(SCALE.replace("y, factor", "y: dict, factor"))
    assert "warning[" in run("check", "warn.py").stdout
    run("check", "warn.py", "--warnings-as-errors", status=1)
    run("build", "warn.py", "-o", "w.onnx", "--function")


def test_check_models() -> None:
    run("build", "gelu.py", "-o", "gelu.onnx")
    assert run("check", "gelu.onnx").stdout == ""
    graph = onnx.helper.make_graph(
        [
            onnx.helper.make_node("Relu", ["x"], ["h"], name="fine"),
            onnx.helper.make_node("MatMul", ["h", "y"], ["z"], name="product"),
        ],
        "g",
        [onnx.helper.make_tensor_value_info(name, 1, [2, 3]) for name in "xy"],
        [onnx.helper.make_tensor_value_info("z", 1, None)],
    )
    onnx.save(onnx.helper.make_model(graph, ir_version=8), "bad.onnx")
    done = run("check", "bad.onnx", status=1)
    assert "bad.onnx" in done.stdout and "node `product` (`MatMul`)" in done.stdout
    found = json.loads(run("check", "bad.onnx", "--json", status=1).stdout)
    assert len(found) == 1 and found[0]["file"] == "bad.onnx"
    run("check", "bad.onnx", "--sarif", status=1)
    assert "missing.onnx" in run("check", "missing.onnx", status=1).stdout


# --- dump ----------------------------------------------------------------------------------------


def test_dump_stages() -> None:
    tokens = run("dump", "gelu.py", "--stage", "tokens").stdout
    assert "gelu_model" in tokens and "Name" in tokens
    assert "FunctionDef" in run("dump", "gelu.py", "--stage", "tree").stdout
    everything = run("dump", "gelu.py").stdout
    assert "# gelu\n" in everything and "# gelu_model\n" in everything
    one = run("dump", "two.py:second", "--stage", "ir").stdout
    assert "Abs" in one and "Neg" not in one and "FLOAT[2]" in one


def test_dump_models() -> None:
    run("build", "gelu.py", "-o", "gelu.onnx")
    assert "graph gelu_model" in run("dump", "gelu.onnx").stdout
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Relu", ["x"], ["h"]), onnx.helper.make_node("Neg", ["h"], ["y"])],
        "g",
        [onnx.helper.make_tensor_value_info("x", 1, ["N"])],
        [onnx.helper.make_tensor_value_info("y", 1, ["N"])],
    )
    onnx.save(onnx.helper.make_model(graph, ir_version=8), "m.onnx")
    assert "%h = Relu" in run("dump", "m.onnx").stdout
    assert "%h: FLOAT[N] = Relu" in run("dump", "m.onnx", "--types").stdout
    run("dump", "m.onnx", "--stage", "tree", status=2)


PLANNED = """\
from sardonyx import FLOAT, script
from sardonyx import opset20 as op


@script()
def twice(x: FLOAT[4]) -> FLOAT[4]:
    return op.Abs(op.Neg(x) + 1.0)


@script()
def main(x: FLOAT[4]) -> FLOAT[4]:
    y = op.MatMul(x, op.Constant(value_floats=[1.0, 2.0, 3.0, 4.0]))
    if y > 0.0:
        z = twice(x)
    else:
        z = op.Neg(x)
    return z
"""


def test_plans(folder: pathlib.Path) -> None:
    (folder / "planned.py").write_text(PLANNED)
    plan = run("dump", "planned.py:main", "--stage", "plan").stdout
    lines = [line.strip() for line in plan.splitlines()]
    assert lines[0].startswith("main: ") and "c0: FLOAT[4]" in lines
    assert "s1 = MatMul(s0, c0)  # 4 bytes" in lines
    branch = plan.index("then_branch:")
    assert branch < plan.index("this::twice(s0)") < plan.index("else_branch:")
    # Functions follow, with their elementwise nodes as one chain.
    body = plan[plan.index("function this::twice") :]
    chain = [line for line in body.splitlines() if "| " in line]
    assert [line.partition(" = ")[2].partition("(")[0] for line in chain] == ["Neg", "Add", "Abs"]
    run("build", "planned.py:main", "-o", "planned.onnx")
    assert run("dump", "planned.onnx", "--stage", "plan").stdout == plan
    # A run shows it first.
    done = run("run", "planned.onnx", "x=[1, 2, 3, 4]", "--plan")
    assert done.stdout.startswith(plan) and "FLOAT[4]" in done.stdout[len(plan) :]
    # A value takes the place of one that nobody reads any more; the bytes are those of both.
    (folder / "chain.py").write_text(
        PLANNED.partition("@script")[0] + "\n\n@script()\ndef main(x: FLOAT[4, 4]) -> FLOAT[4]:\n"
        "    y = op.MatMul(op.MatMul(op.MatMul(x, x), x), x)\n"
        "    return op.ReduceSum(y, [0], keepdims=0)\n"
    )
    places = run("dump", "chain.py:main", "--stage", "plan").stdout.splitlines()
    assert places[0] == "main: 3 places, 1 constant"
    assert [line.strip() for line in places[2:]] == [
        "inputs s0",
        "s1 = MatMul(s0, s0)  # 64 bytes",
        "s2 = MatMul(s1, s0)  # 64 bytes, frees s1",
        "s1 = MatMul(s2, s0)  # 64 bytes, frees s0, s2",
        "s0 = ReduceSum(s1, c0)  # 16 bytes, frees s1",
        "outputs s0",
        "memory: at most 192 bytes of values at one time, at `MatMul`; 8 bytes of constants",
    ]
    # What cannot be prepared has no plan, and says why.
    unknown = onnx.helper.make_graph(
        [onnx.helper.make_node("Twist", ["x"], ["y"], domain="my")],
        "g",
        [onnx.helper.make_tensor_value_info("x", 1, [1])],
        [onnx.helper.make_tensor_value_info("y", 1, [1])],
    )
    imports = [onnx.helper.make_opsetid("", 20), onnx.helper.make_opsetid("my", 1)]
    onnx.save(onnx.helper.make_model(unknown, opset_imports=imports), "unknown.onnx")
    assert "Twist" in run("dump", "unknown.onnx", "--stage", "plan", status=1).stderr


def test_dump_shows_what_it_can_of_a_file_with_mistakes() -> None:
    pathlib.Path("broken.py").write_text(GELU + "\n\ndef f(:\n    pass\n")
    for stage in ("tokens", "tree", "ir"):
        done = run("dump", "broken.py", "--stage", stage, status=1 if stage != "tokens" else None)
        assert "gelu" in done.stdout


# --- Bad input and the world around -------------------------------------------------------------


def test_random_bytes(folder: pathlib.Path) -> None:
    generator = random.Random(0)
    run("build", "gelu.py", "-o", "good.onnx")
    good = {
        ".py": GELU.encode(),
        ".onnx": pathlib.Path("good.onnx").read_bytes(),
    }
    for i in range(40):
        for suffix, seed in good.items():
            data = bytearray(seed)
            for _ in range(generator.choice([1, 5, 50])):
                data[generator.randrange(len(data))] = generator.randrange(256)
            if i % 4 == 0:
                data = bytearray(generator.randbytes(generator.choice([1, 10, 1000])))
            path = folder / f"bad{suffix}"
            path.write_bytes(bytes(data))
            run("check", path, status=None)
            run("dump", path, status=None)
            run("run", path, "--random", status=None)
            if suffix == ".py":
                run("build", path, "-o", "never.onnx", status=None)


def test_text_that_is_no_model(folder: pathlib.Path) -> None:
    for name in ("gelu", "gelu.PY", "gelu.onnx"):
        (folder / name).write_text(GELU)
        for words in (("run", name), ("info", name)):
            assert "the name of a script ends in `.py`" in run(*words, status=1).stderr


def test_files_of_utf_16(folder: pathlib.Path) -> None:
    for encoding in ("utf-16-le", "utf-16-be"):
        (folder / "wide.py").write_bytes(("\ufeff" + GELU).encode(encoding))
        said = run("build", "wide.py", "-o", "x.onnx", status=1).stderr
        assert said.count("error[") == 1 and "the file is UTF-16" in said


def test_files_that_cannot_be_read(folder: pathlib.Path) -> None:
    (folder / "dir.py").mkdir()
    (folder / "dir.onnx").mkdir()
    for name in ("missing.py", "dir.py", "missing.onnx", "dir.onnx"):
        done = run("run", name, status=1)
        assert name in done.stderr
    for name in ("missing.py", "dir.py"):
        assert name in run("build", name, "-o", "x.onnx", status=1).stderr
        assert name in run("dump", name, status=1).stderr
    assert not (folder / "x.onnx").exists()
    if os.geteuid() != 0:
        pathlib.Path("gelu.py").chmod(0)
        run("build", "gelu.py", "-o", "x.onnx", status=1)


def test_a_reader_that_goes_away() -> None:
    pathlib.Path("long.py").write_text("x = 1\n" * 50_000)
    process = subprocess.Popen(
        [PROGRAM, "dump", "long.py", "--stage", "tokens"], stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.read(10)
    process.stdout.close()
    assert process.wait(timeout=60) == 0


@pytest.mark.skipif(not pathlib.Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk() -> None:
    with pathlib.Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [PROGRAM, "dump", "gelu.py"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1 and "cannot write" in done.stderr


@pytest.mark.skipif(not pathlib.Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("options", [[], ["--json"], ["--html", "-"]])
def test_differences_on_a_full_disk(options: list[str]) -> None:
    """Status 1 would say that the models differ."""
    pathlib.Path("other.py").write_text(GELU.replace("Erf", "Tanh"))
    with pathlib.Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [PROGRAM, "diff", *options, "gelu.py", "other.py"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2 and "cannot write" in done.stderr


def test_colors() -> None:
    assert "\x1b[" not in run("check", "wrong.py", status=1).stdout
    colored = run("check", "wrong.py", "--color", "always", status=1).stdout
    assert "\x1b[" in colored
    if sys.platform != "linux":
        return
    import pty

    def on_a_terminal(**variables: str) -> bytes:
        main, side = pty.openpty()
        environment = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
        environment |= {"TERM": "xterm", **variables}
        subprocess.run([PROGRAM, "check", "wrong.py"], stdout=side, env=environment, check=False)
        os.close(side)
        data = os.read(main, 65536)
        os.close(main)
        return data

    assert b"\x1b[" in on_a_terminal()
    assert b"\x1b[" not in on_a_terminal(NO_COLOR="1")


def test_names_with_colons() -> None:
    pathlib.Path("a:b.py").write_text(TWO)
    run("build", "a:b.py:first", "-o", "x.onnx")
    run("check", "a:b.py")
