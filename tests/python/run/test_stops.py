"""Phases that are ended early, as runs are in test_interrupts.py: Ctrl-C and other signals while a
model is read, checked, typed, written, compared or decompiled, and while a script is compiled.
"""

import functools
import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

from places import PROGRAM
from run.test_interrupts import check_that_one_test_times_out

# What was asked for is 0.1 s of processor time; caches and a busy machine take their share.
PROMPT = 0.5 if "release" in os.environ.get("SDX_BUILD", "build/dev") else 3.0
# Work on so many nodes takes about 0.1 s; what takes longer has its own number.
NODES = 200_000


def field(number, content):
    """A field of protobuf whose wire type is 2."""
    size, prefix = len(content), bytes([number << 3 | 2])
    while size >= 128:
        prefix += bytes([size & 127 | 128])
        size >>= 7
    return prefix + bytes([size]) + content


def chain(count):
    """The bytes of a model of so many nodes in a row, which onnx.helper would take long to make."""
    parts = []
    for i in range(count):
        operator = b"Relu" if i % 2 else b"Sqrt"
        parts.append(
            field(1, field(1, b"v%d" % i) + field(2, b"v%d" % (i + 1)) + field(4, operator))
        )
    shape = field(2, b"".join(field(1, b"\x08\x04") for _ in range(2)))
    kind = field(2, field(1, b"\x08\x01" + shape))
    value = [field(1, b"v0") + kind, field(1, b"v%d" % count) + kind]
    graph = b"".join(parts) + field(2, b"g") + field(11, value[0]) + field(12, value[1])
    return b"\x08\x09" + field(7, graph) + field(8, b"\x10\x12")


CODE = """
    import signal, sys, time
    import sardonyx
    from sardonyx import FLOAT, script, opset18 as op

    class Over(BaseException):
        pass

    def end(*_):
        raise Over("the handler's own")

    def timed(work):
        started = time.process_time()
        work()
        return time.process_time() - started

    def stops(work, check=lambda: None):
        "How late the work ends after a signal, at several times of its way."
        # The first time is longer: its memory is new to the process.
        whole = min(timed(work) for _ in range(3))
        assert whole > 0.05, f"{whole} s are too short for a test"
        late, is_early = [], []
        for part in (0.2, 0.4, 0.6):
            signal.signal(signal.SIGPROF, end)
            delay = max(0.01, whole * part)
            signal.setitimer(signal.ITIMER_PROF, delay)
            started = time.process_time()
            try:
                try:
                    work()
                finally:
                    signal.setitimer(signal.ITIMER_PROF, 0)
            except Over as error:
                assert "own" in str(error)
                late.append(time.process_time() - started - delay)
                is_early.append(late[-1] < max(0.02, (whole - delay) / 2))
        assert late, f"nothing was ended in {whole} s"
        # Work that does not look at signals goes on to its end. To free what was made takes time.
        assert any(is_early), f"late by {late} s, of {whole} s"
        check()
        work()
        print(max(late))
"""


def latest(code, *arguments, timeout=300):
    """The seconds that stops() has printed."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(CODE) + textwrap.dedent(code), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return max(float(line) for line in done.stdout.split())


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """The path of the model of so many nodes."""
    folder = tmp_path_factory.mktemp("stops")

    @functools.cache
    def path(count):
        (folder / f"{count}.onnx").write_bytes(chain(count))
        return folder / f"{count}.onnx"

    return path


WORK = {
    "load": "lambda: sardonyx.load(path)",
    "load of bytes": "lambda: sardonyx.load(data)",
    "verify": "lambda: model.verify()",
    "infer": "lambda: other.infer()",
    "info": "lambda: model.info()",
    "diff": "lambda: model.diff(other)",
    "equal": "lambda: model == other",
    "copy": "lambda: model.copy()",
    "to_bytes": "lambda: edited.to_bytes()",
    "save": "lambda: edited.save(path + '.saved')",
    "decompile": "lambda: sardonyx.decompile(model)",
    "text": "lambda: model.to_text()",
    "json": "lambda: model.to_text('json')",
    "textproto": "lambda: model.to_text('textproto')",
    "from text": "lambda: sardonyx.from_text(text)",
    "str": "lambda: str(model)",
    "prepare": "lambda: prepared(x)",
}


SLOW = {"verify": 50_000, "info": 25_000, "diff": 25_000, "decompile": 25_000, "text": 100_000,
        "json": 100_000, "textproto": 100_000, "from text": 100_000, "str": 100_000,
        "prepare": 100_000}  # fmt: skip


@pytest.mark.parametrize("work", WORK)
def test_a_signal_ends_work_on_a_model(models, work):
    nodes = SLOW.get(work, NODES)
    code = f"""
        import numpy as np
        path = sys.argv[1]
        data = open(path, "rb").read()
        model, other = sardonyx.load(path), sardonyx.load(path)
        edited = sardonyx.load(path)
        edited.doc = "changed"
        text = model.to_text() if {work!r} == "from text" else ""
        x = np.ones((4, 4), np.float32)

        def prepared(x):
            edited.doc = "again"
            return edited(x)

        def is_whole():
            assert len(model.graph.nodes) == {nodes} and not model.verify()
            assert model.to_bytes() == data

        stops({WORK[work]}, is_whole)
    """
    path = models(nodes)
    assert latest(code, path) < PROMPT
    assert not [one for one in path.parent.iterdir() if "saved." in one.name]


SCRIPTS = {
    "a loop": """
        def f(x: FLOAT[4]) -> FLOAT[4]:
            total = 0
            for i in range(300_000):
                total = (total * 3 + i) % 1_000_003
            return x + float(total)
    """,
    "nodes": """
        def f(x: FLOAT[4]) -> FLOAT[4]:
            for i in range(50_000):
                x = op.Relu(x + 1.0)
            return x
    """,
    "a comprehension": """
        def f(x: FLOAT[4]) -> FLOAT[4]:
            squares = [i * i % 7 for i in range(300_000)]
            return x + float(sum(squares))
    """,
    "calls": """
        def f(x: FLOAT[4]) -> FLOAT[4]:
            def step(total, i):
                return (total * 3 + i) % 1_000_003
            total = 0
            for i in range(75_000):
                total = step(total, i)
            return x + float(total)
    """,
    "a branch on a tensor": """
        def f(x: FLOAT[4]) -> FLOAT[4]:
            if op.ReduceSum(x) > 0.0:
                for i in range(75_000):
                    x = x * 1.5
            return x
    """,
}


@pytest.mark.parametrize("kind", SCRIPTS)
def test_a_signal_ends_a_compilation(tmp_path, kind):
    (tmp_path / "a_script.py").write_text(
        "from sardonyx import FLOAT, script, opset18 as op\n\n\n@script()\n"
        + textwrap.dedent(SCRIPTS[kind]).lstrip()
    )
    code = """
        sys.path.insert(0, sys.argv[1])
        from a_script import f
        first = f.to_model_bytes()

        def is_same():
            assert f.to_model_bytes() == first

        stops(f.to_model_bytes, is_same)
        stops(f.check)
    """
    assert latest(code, tmp_path) < PROMPT


def test_python_that_the_compiler_asks_is_ended_too(tmp_path):
    (tmp_path / "a_script.py").write_text(
        textwrap.dedent("""
        import numpy as np
        from sardonyx import FLOAT, script, opset18 as op


        class Table:
            def __getattr__(self, name):
                if name.startswith("__"):
                    raise AttributeError(name)
                return slow()


        def slow():
            while True:
                pass


        table = Table()


        @script()
        def f(x: FLOAT[4]) -> FLOAT[4]:
            return x + table.size
    """)
    )
    code = """
        sys.path.insert(0, sys.argv[1])
        import a_script
        signal.signal(signal.SIGALRM, end)
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        try:
            a_script.f.to_model_bytes()
            sys.exit("it was compiled")
        except Over:
            print(0)
        a_script.slow = lambda: 2.0
        a_script.f.to_model_bytes()
    """
    assert latest(code, tmp_path) == 0


def test_a_handler_cannot_change_the_model_that_is_worked_on(models):
    code = """
        path = sys.argv[1]
        model = sardonyx.load(path)
        seen = []

        def change(*_):
            try:
                model.graph.remove(model.graph.nodes[-1])
            except RuntimeError as error:
                seen.append(str(error))

        signal.signal(signal.SIGPROF, change)
        for work in (model.verify, model.infer, model.info, model.to_bytes, model.to_text):
            signal.setitimer(signal.ITIMER_PROF, 0.02)
            work()
            signal.setitimer(signal.ITIMER_PROF, 0)
        assert len(seen) == 5 and all("cannot be changed" in one for one in seen), seen
        assert not model.verify()
        print(0)
    """
    assert latest(code, models(NODES)) == 0


def test_a_time_ends_the_preparation_of_a_run(models):
    code = """
        import numpy as np
        model = sardonyx.load(sys.argv[1])
        x = np.ones((4, 4), np.float32)
        started = time.monotonic()
        try:
            model.run({"v0": x}, timeout=0.001)
            sys.exit("it has run")
        except TimeoutError as error:
            assert "0.001 s" in str(error)
            print(time.monotonic() - started)
        assert model.run({"v0": x})[0].shape == (4, 4)
    """
    assert latest(code, models(NODES)) < 1.0


def test_pytest_timeout_ends_a_compilation(tmp_path):
    pytest.importorskip("pytest_timeout")
    (tmp_path / "a_script.py").write_text(
        "from sardonyx import FLOAT, script, opset18 as op\n\n\n@script()\n"
        + textwrap.dedent(SCRIPTS["a loop"].replace("300_000", "N")).lstrip()
    )
    (tmp_path / "test_it.py").write_text(
        textwrap.dedent("""
        import a_script

        def test_first():
            a_script.N = 300_000
            while True:
                a_script.f.to_model_bytes()

        def test_second():
            a_script.N = 9
            a_script.f.to_model_bytes()
    """)
    )
    check_that_one_test_times_out(tmp_path)


COMMANDS = {
    "check": ["check", "MODEL"],
    "dump": ["dump", "MODEL"],
    "decompile": ["decompile", "MODEL", "-o", "OUT"],
    "strip": ["strip", "MODEL", "-o", "OUT"],
    "convert": ["convert", "MODEL", "-o", "OUT.json"],
}


def started(words):
    return subprocess.Popen(
        [PROGRAM, *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        # A shell starts jobs in the background with SIGINT ignored, which children inherit.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_ctrl_c_ends_a_command_and_leaves_no_output(tmp_path, command):
    path, out = tmp_path / "m.onnx", tmp_path / "out"
    path.write_bytes(chain(100_000))
    files = {"MODEL": path, "OUT": out / "out", "OUT.json": out / "o.json"}
    words = [str(files.get(word, word)) for word in COMMANDS[command]]

    def outputs():
        return {one.name: one.read_bytes() for one in out.iterdir()}

    out.mkdir()
    began = time.monotonic()
    with started(words) as process:
        assert process.wait(300) == 0, process.stderr.read()
    whole, written = time.monotonic() - began, outputs()
    stopped = 0
    for part in (0.1, 0.3, 0.5, 0.7):
        for one in out.iterdir():
            one.unlink()
        with started(words) as process:
            time.sleep(whole * part)
            began = time.monotonic()
            process.send_signal(signal.SIGINT)
            status = process.wait(60)
            assert time.monotonic() - began < 1.0
            assert b"Traceback" not in process.stderr.read()
        # A signal that comes when all the work is done changes nothing. One that comes before the
        # program has set its handler ends it at once.
        assert status in (0, 130, -signal.SIGINT)
        assert outputs() == (written if status == 0 else {})
        stopped += status != 0
    assert stopped > 0, f"every run had ended before its signal, the first in {whole} s"
