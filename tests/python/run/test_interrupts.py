"""Runs that are ended early, and signals that are handled while the libraries work.

Under a timer of 10 ms the paths of oneDNN run for a minute in all with SDX_SIGNALS=60, which
`tools/dev test --full` sets, and for some seconds else.
"""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
import sardonyx
from onnx import TensorProto, helper, numpy_helper

from places import PROGRAM
from sampling import is_set
from small_models import save

LARGE = is_set("SDX_STRESS")
TOTAL = float(os.environ.get("SDX_SIGNALS", "30" if LARGE else "6"))
# What was asked for is 0.1 s; a machine that does other things meanwhile may be slower.
PROMPT = 1.0


def random(*dims):
    return np.random.default_rng(0).standard_normal(dims).astype(np.float32)


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


def long_node(path, kind):
    """One node that takes seconds; inputs as `x`, of floats."""
    value = ("x", TensorProto.FLOAT, None)
    big, result = random(2500, 2500), [("y", TensorProto.FLOAT)]
    if kind == "MatMul":
        nodes = [helper.make_node("MatMul", ["x", "x"], ["y"])]
        return save(path, nodes, [value], result), np.tile(big, (2, 2))
    if kind == "MatMul of constants":
        nodes = [helper.make_node("MatMul", ["x", "w"], ["y"])]
        wide = np.tile(big, (1, 2))
        return save(path, nodes, [value], result, [("w", wide)]), np.tile(big, (4, 1))
    if kind == "MatMul of doubles":
        nodes = [
            helper.make_node("Cast", ["x"], ["d"], to=TensorProto.DOUBLE),
            helper.make_node("MatMul", ["d", "d"], ["e"]),
            helper.make_node("Cast", ["e"], ["y"], to=TensorProto.FLOAT),
        ]
        return save(path, nodes, [value], result), big
    if kind == "Conv":
        nodes = [helper.make_node("Conv", ["x", "w"], ["y"], pads=[1, 1, 1, 1])]
        w = random(128, 128, 3, 3)
        return save(path, nodes, [value], result, [("w", w)]), random(4, 128, 256, 256)
    assert kind == "chain"
    nodes = [helper.make_node("Tan", ["x"], ["t0"])]
    nodes += [helper.make_node("Tan", [f"t{i}"], [f"t{i + 1}"]) for i in range(40)]
    nodes += [helper.make_node("Identity", ["t40"], ["y"])]
    return save(path, nodes, [value], result), big


def check_that_one_test_times_out(folder):
    """pytest-timeout ends the first of the two tests in test_it.py, and the second one passes."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--timeout=1"]
    done = subprocess.run(
        [*command, "--timeout-method=signal", "--rootdir=.", "test_it.py"],
        cwd=folder, capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "Timeout" in done.stdout


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
    yield "ConvTranspose", {"strides": [2, 2]}, [picture, random(32, 16, 2, 2)], (1,)
    yield "ConvTranspose", {"strides": [2, 2]}, [picture, random(32, 16, 2, 2)], ()
    for op_type in ("MaxPool", "AveragePool"):
        yield op_type, {"kernel_shape": [3, 3]}, [picture], ()
    for op_type, gates in (("RNN", 1), ("GRU", 3), ("LSTM", 4)):
        recurrent = [random(20, 16, 64), random(1, gates * 96, 64), random(1, gates * 96, 96)]
        yield op_type, {"hidden_size": 96}, recurrent, ()
        yield op_type, {"hidden_size": 96}, recurrent, (1, 2)
    yield "MatMulInteger", {}, [codes[0, :, 0], codes[0, 0].T.copy()[:, :20]], ()
    scale, zero, middle = np.float32(0.02), np.uint8(3), np.int8(0)
    eight = [codes, scale, zero, weights, scale, middle, scale, zero]
    yield "QLinearConv", same, [np.asarray(x) for x in eight], tuple(range(1, 8))
    left, right = codes.reshape(-1, 28)[:200], weights.reshape(-1, 9)[:28]
    eight = [left, scale, zero, right, scale, middle, scale, zero]
    yield "QLinearMatMul", {}, [np.asarray(x) for x in eight], tuple(range(1, 8))
    # Of 16-bit floats, which are made of the inputs.
    for element in (TensorProto.BFLOAT16, TensorProto.FLOAT16):
        yield "MatMul", {"as": element}, [random(200, 700), random(700, 200)], ()
        yield "Conv", {"as": element, **same}, [picture, random(32, 32, 3, 3)], ()
    yield "Einsum", {"equation": "bij,bkj->bik"}, [random(8, 60, 90), random(8, 60, 90)], ()
    yield "Attention", {}, [random(1, 4, 200, 64)] * 3, ()


RESULTS = {"ConvInteger": TensorProto.INT32, "MatMulInteger": TensorProto.INT32,
           "QLinearConv": TensorProto.UINT8, "QLinearMatMul": TensorProto.UINT8}  # fmt: skip
PATHS = list(paths_of_the_library())
# Each on one thread and on two; in the daily run on one of both.
RUNS = [(case, threads) for i, case in enumerate(PATHS) for threads in (1, 2)
        if TOTAL > 6 or threads == 1 + i % 2]  # fmt: skip
SECONDS = TOTAL / len(RUNS)


def model_of_path(path, case):
    """The model, and the names of its inputs."""
    op_type, attributes, arrays, constant = case
    attributes = dict(attributes)
    narrow = attributes.pop("as", None)
    names = [f"x{i}" for i in range(len(arrays))]
    given = [i for i in range(len(arrays)) if i not in constant]
    nodes = [helper.make_node(op_type, names, ["y"], **attributes)]
    if narrow is not None:
        nodes = [helper.make_node("Cast", [name], [f"{name}n"], to=narrow) for name in names]
        nodes.append(helper.make_node(op_type, [f"{name}n" for name in names], ["n"], **attributes))
        nodes.append(helper.make_node("Cast", ["n"], ["y"], to=TensorProto.FLOAT))
    save(
        path,
        nodes,
        [(names[i], helper.np_dtype_to_tensor_dtype(arrays[i].dtype), None) for i in given],
        [("y", RESULTS.get(op_type, TensorProto.FLOAT))],
        [(names[i], arrays[i]) for i in constant],
        opset=23,
    )
    return {names[i]: arrays[i] for i in given}


@pytest.mark.parametrize(("case", "threads"), RUNS, ids=[f"{c[0]}-{n}" for c, n in RUNS])
def test_signals_are_handled_while_the_library_works(tmp_path, case, threads):
    path = tmp_path / "model.onnx"
    np.savez(tmp_path / "inputs.npz", **model_of_path(path, case))
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
        interval = min(0.01, seconds / 100)
        signal.setitimer(signal.ITIMER_REAL, interval, interval)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            assert np.array_equal(model.run(inputs, threads=threads)[0], expected)
        signal.setitimer(signal.ITIMER_REAL, 0)
        assert seen > (5 if seconds > 0.8 else 0), seen
    """
    run_python(code, path, tmp_path / "inputs.npz", threads, SECONDS, timeout=SECONDS + 60)


def test_ctrl_c_ends_an_endless_loop(tmp_path):
    code = """
        import signal, sys, time
        import numpy as np
        import sardonyx

        model = sardonyx.load(sys.argv[1])
        inputs = {"go": np.array(True), "x": np.zeros(4, np.float32)}
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        for _ in range(3):
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            started = time.monotonic()
            try:
                model.run(inputs)
                sys.exit("the loop has ended")
            except KeyboardInterrupt:
                print(time.monotonic() - started - 0.2)
            inputs["go"] = np.array(False)
            assert (model.run(inputs)[0] == 0).all()
            inputs["go"] = np.array(True)
    """
    times = [float(line) for line in run_python(code, endless(tmp_path / "m.onnx")).split()]
    assert max(times) < PROMPT


@pytest.mark.parametrize(
    "kind", ["MatMul", "MatMul of constants", "MatMul of doubles", "Conv", "chain"]
)
def test_ctrl_c_ends_a_long_node(tmp_path, kind):
    path, x = long_node(tmp_path / "m.onnx", kind)
    np.save(tmp_path / "x.npy", x)
    code = """
        import signal, sys, time
        import numpy as np
        import sardonyx

        model, x = sardonyx.load(sys.argv[1]), np.load(sys.argv[2])
        part = x[:1, :, :8, :8].copy() if x.ndim == 4 else x[:64, :64].copy()
        small = model.run({"x": part})[0] if "constants" not in sys.argv[3] else None
        signal.signal(signal.SIGPROF, signal.default_int_handler)
        for delay in (0.05, 0.12):
            # In processor time, whatever else the machine does.
            signal.setitimer(signal.ITIMER_PROF, delay)
            started = time.process_time()
            try:
                model.run({"x": x}, threads=1)
                sys.exit("the node has ended")
            except KeyboardInterrupt:
                print(time.process_time() - started - delay)
        if small is not None:
            assert np.array_equal(model.run({"x": part})[0], small, equal_nan=True)
        else:
            row = model.run({"x": x[:7]})[0]
            assert np.array_equal(sardonyx.load(sys.argv[1]).run({"x": x[:7]})[0], row)
    """
    times = [float(line) for line in run_python(code, path, tmp_path / "x.npy", kind).split()]
    assert max(times) < PROMPT


LONG_OPERATORS = {
    "AveragePool": (lambda n: np.ones((1, 1, 100 * n), np.float32), {"kernel_shape": [64]}),
    "RegexFullMatch": (lambda n: np.array(["a text"] * n, object), {"pattern": "a.*t"}),
    "StringNormalizer": (lambda n: np.array(["a"] * n, object), {"case_change_action": "UPPER"}),
    "StringSplit": (lambda n: np.array(["a b c"] * n, object), {}),
}


@pytest.mark.parametrize("operator", LONG_OPERATORS)
def test_operators_end_before_their_work_is_done(tmp_path, operator):
    make, attributes = LONG_OPERATORS[operator]
    kind = TensorProto.FLOAT if operator == "AveragePool" else TensorProto.STRING
    node = helper.make_node(operator, ["x"], ["y"], **attributes)
    rank = 3 if operator == "AveragePool" else 1
    inputs, outputs = [("x", kind, [None] * rank)], [("y", TensorProto.UNDEFINED)]
    model = sardonyx.load(save(tmp_path / "m.onnx", [node], inputs, outputs, opset=20))
    whole, n = 0.0, 4096
    while whole < 0.3:  # of processor time: much more than the time between two questions
        n *= 2
        x = make(n)
        started = time.process_time()
        model.run({"x": x}, threads=1)
        whole = time.process_time() - started
    kept = signal.signal(signal.SIGPROF, signal.default_int_handler)
    try:
        started = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, whole / 4)
        with pytest.raises(KeyboardInterrupt):
            model.run({"x": x}, threads=1)
        assert time.process_time() - started < 0.8 * whole
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, kept)


def test_a_handler_that_raises_ends_an_operator_that_is_called():
    code = """
        import signal, sys, time
        import numpy as np
        import sardonyx
        from sardonyx.onnx_opset import opset18 as op

        class Late(Exception):
            pass

        def raise_late(*_):
            raise Late("the handler's own")

        x = np.ones((4000, 4000), np.float32)
        signal.signal(signal.SIGPROF, raise_late)
        signal.setitimer(signal.ITIMER_PROF, 0.1)
        started = time.process_time()
        try:
            while True:
                op.MatMul(x, x)
        except Late as error:
            assert "own" in str(error)
            print(time.process_time() - started - 0.1)
        assert (np.asarray(op.MatMul(x[:2], x))[0, 0] == 4000).all()
    """
    assert float(run_python(code)) < PROMPT


def test_a_handler_may_run_models_itself(tmp_path):
    code = """
        import signal, sys
        import numpy as np
        import sardonyx

        model = sardonyx.load(sys.argv[1])
        x = np.zeros(4, np.float32)
        calls = []

        def run_again(*_):
            calls.append(model.run({"go": np.array(False), "x": x})[0])
            if len(calls) == 5:
                signal.setitimer(signal.ITIMER_REAL, 0)  # the end of Python is not our subject
                raise KeyboardInterrupt

        signal.signal(signal.SIGALRM, run_again)
        signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
        try:
            model.run({"go": np.array(True), "x": x})
        except KeyboardInterrupt:
            print("ended")
    """
    assert run_python(code, endless(tmp_path / "m.onnx")) == "ended\n"


# --- Time and tokens -------------------------------------------------------------------------


@pytest.fixture
def loop(tmp_path):
    model = sardonyx.load(str(endless(tmp_path / "m.onnx")))
    return model, {"go": np.array(True), "x": np.zeros(4, np.float32)}


def test_a_timeout_ends_the_run(loop):
    model, inputs = loop
    started = time.monotonic()
    with pytest.raises(TimeoutError, match=r"longer than its timeout of 0\.1 s"):
        model.run(inputs, timeout=0.1)
    assert time.monotonic() - started < 0.1 + PROMPT
    model.run({**inputs, "go": np.array(False)}, timeout=60)
    with pytest.raises(ValueError, match="timeout"):
        model.run(inputs, timeout=-1)


def test_a_token_ends_runs_of_other_threads(loop):
    model, inputs = loop
    token, errors = sardonyx.CancelToken(), []

    def run():
        with pytest.raises(sardonyx.CancelledError) as caught:
            model.run(inputs, cancel=token)
        errors.append(str(caught.value))

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    time.sleep(0.1)
    assert not token.is_cancelled
    token.cancel()
    started = time.monotonic()
    for thread in threads:
        thread.join(20)
    assert errors == ["the run was cancelled"] * 3
    assert time.monotonic() - started < PROMPT
    assert issubclass(sardonyx.CancelledError, sardonyx.EvalError)
    with pytest.raises(sardonyx.CancelledError):
        model.run(inputs, cancel=token)


# --- Those who send signals ------------------------------------------------------------------


def test_faulthandler_looks_on(tmp_path):
    code = """
        import faulthandler, sys
        import numpy as np
        import sardonyx

        faulthandler.enable()
        faulthandler.dump_traceback_later(0.05, repeat=True)
        model = sardonyx.load(sys.argv[1])
        try:
            model.run({"go": np.array(True), "x": np.zeros(4, np.float32)}, timeout=0.4)
        except TimeoutError:
            print("ended")
    """
    assert run_python(code, endless(tmp_path / "m.onnx")) == "ended\n"


def test_pytest_timeout_ends_a_test(tmp_path):
    pytest.importorskip("pytest_timeout")
    endless(tmp_path / "m.onnx")
    (tmp_path / "test_it.py").write_text(
        textwrap.dedent("""
        import numpy as np
        import sardonyx

        def test_first():
            model = sardonyx.load("m.onnx")
            model.run({"go": np.array(True), "x": np.zeros(4, np.float32)})

        def test_second():
            model = sardonyx.load("m.onnx")
            model.run({"go": np.array(False), "x": np.zeros(4, np.float32)})
    """)
    )
    check_that_one_test_times_out(tmp_path)


def test_a_jupyter_kernel_is_interrupted(tmp_path):
    manager = pytest.importorskip("jupyter_client.manager")
    pytest.importorskip("ipykernel")
    path = endless(tmp_path / "m.onnx")
    kernel = manager.KernelManager()
    kernel.start_kernel(cwd=str(tmp_path))
    client = kernel.client()
    try:
        client.start_channels()
        client.wait_for_ready(timeout=90)
        setup = f"""
            import numpy as np, sardonyx
            model = sardonyx.load({str(path)!r})
            x = np.zeros(4, np.float32)
            big = sardonyx.load({str(long_node(tmp_path / "big.onnx", "MatMul")[0])!r})
            a = np.ones((5000, 5000), np.float32)
        """
        assert execute(client, textwrap.dedent(setup))["status"] == "ok"
        runs = ['model.run({"go": np.array(True), "x": x})', 'while True: big.run({"x": a})'] * 2
        for code in runs:
            timer = threading.Timer(1.0, kernel.interrupt_kernel)
            timer.start()
            reply = execute(client, code)
            timer.join()
            assert reply.get("ename") == "KeyboardInterrupt", reply
        reply = execute(client, 'assert model.run({"go": np.array(False), "x": x})[0].sum() == 0')
        assert reply["status"] == "ok"
    finally:
        client.stop_channels()
        kernel.shutdown_kernel(now=True)


def execute(client, code):
    return client.execute_interactive(code, timeout=60, output_hook=lambda _: None)["content"]


def test_ctrl_c_ends_the_program(tmp_path):
    path = endless(tmp_path / "m.onnx")
    command = [PROGRAM, "run", path, "go=True", "x=[0.0, 0.0, 0.0, 0.0]"]
    # A shell starts jobs in the background with SIGINT ignored, which children inherit.
    process = subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.7)
        started = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 130
        assert time.monotonic() - started < PROMPT
        assert "Traceback" not in process.stderr.read()
    finally:
        process.kill()  # it ends by itself unless the signal is ignored
        process.communicate()
