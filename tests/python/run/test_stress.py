"""Limits of the machine: full disks, kills, damaged files, small stacks, little memory, many nodes.

`tools/dev stress` runs these with the sizes of SDX_STRESS=1.
"""

import itertools
import os
import resource
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import onnx
import pytest
import sardonyx
from onnx import TensorProto, helper

from places import PROGRAM
from sampling import is_set
from small_models import save

LARGE = is_set("SDX_STRESS")
ROOM = 1 << 20  # smaller files are copied, not mapped


def run(*command, cwd=None, before=None, timeout=100):
    return subprocess.run(
        [str(part) for part in command],
        cwd=cwd, preexec_fn=before, capture_output=True, text=True, timeout=timeout, check=False,
    )  # fmt: skip


def limit(kind, size):
    return lambda: resource.setrlimit(kind, (size, size))


X = [("x", TensorProto.FLOAT, [2])]
Y = [("y", TensorProto.FLOAT)]


# --- What is written -------------------------------------------------------------------------

WEIGHTED = """
import numpy as np
from sardonyx import FLOAT, opset18 as op, script

LARGE = np.full(2048, {value}, dtype=np.float32)
SMALL = [np.full(150, i, dtype=np.float32) for i in range(40)]

@script()
def weighted(x: FLOAT[1]):
    y = op.ReduceSum(LARGE) + x
    {rest}
    return y
"""
ALL_SMALL = "\n    ".join(f"y = y + op.ReduceSum(SMALL[{i}]) * 0.0" for i in range(40))
BUILD = ("build", "w.py", "-o", "w.onnx", "--external-data", "1000")


def write_weighted(folder, value, rest="pass"):
    (folder / "w.py").write_text(WEIGHTED.format(value=value, rest=rest))


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def result_of(folder):
    return sardonyx.load(str(folder / "w.onnx")).run({"x": np.zeros(1, np.float32)})[0][0]


def test_a_model_that_does_not_fit_leaves_the_old_one_whole(tmp_path):
    write_weighted(tmp_path, 1.0)
    assert run(PROGRAM, *BUILD, cwd=tmp_path).returncode == 0
    before = names_in(tmp_path)
    assert result_of(tmp_path) == 2048
    # The data fit, and the model, with its many small initializers, does not.
    write_weighted(tmp_path, 3.0, ALL_SMALL)

    def fill():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (12_000, 12_000))

    done = run(PROGRAM, *BUILD, cwd=tmp_path, before=fill)
    assert done.returncode == 1
    assert "cannot write `w.onnx`" in done.stderr
    assert names_in(tmp_path) == before
    assert result_of(tmp_path) == 2048
    assert run(PROGRAM, *BUILD, cwd=tmp_path).returncode == 0
    assert result_of(tmp_path) == 3 * 2048
    assert len(list(tmp_path.glob("w.onnx*"))) == 2  # the old data are gone


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small file system needs root")
def test_a_full_disk_leaves_the_old_model_whole(tmp_path):
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", tmp_path]
    if run(*mount).returncode != 0:
        pytest.skip("this system mounts no tmpfs")
    try:
        write_weighted(tmp_path, 1.0)
        assert run(PROGRAM, *BUILD, cwd=tmp_path).returncode == 0
        write_weighted(tmp_path, 3.0)
        with (tmp_path / "rest").open("wb", buffering=0) as rest, pytest.raises(OSError):
            while True:
                rest.write(bytes(4096))
                rest.flush()
        done = run(PROGRAM, *BUILD, cwd=tmp_path)
        assert (done.returncode, len(done.stderr.splitlines())) == (1, 1), done.stderr
        assert result_of(tmp_path) == 2048
    finally:
        run("umount", "-l", tmp_path)


def test_more_outputs_than_open_files(tmp_path):
    """A folder is read once for all files, which made 12,000 outputs take minutes."""
    count = 12_000 if LARGE else 300
    names = [f"y{i}" for i in range(count)]
    nodes = [helper.make_node("Identity", ["x"], [name]) for name in names]
    save(tmp_path / "wide.onnx", nodes, X, [(name, TensorProto.FLOAT) for name in names])
    few = limit(resource.RLIMIT_NOFILE, 200)
    for words in (["run"], ["testcase"]):
        command = [PROGRAM, *words, "wide.onnx", "x=[1, 2]", "-o", words[0]]
        done = run(*command, cwd=tmp_path, before=few)
        assert done.returncode == 0, done.stderr[-500:]
    assert len(names_in(tmp_path / "run")) == count
    assert len(names_in(tmp_path / "testcase" / "test_data_set_0")) == count + 1


def test_killed_builds_leave_nothing(tmp_path):
    write_weighted(tmp_path, 1.0)
    for delay in (0.001, 0.005, 0.01, 0.02, 0.04, 0.08):
        process = subprocess.Popen([PROGRAM, *BUILD], cwd=tmp_path, stdout=subprocess.DEVNULL)
        time.sleep(delay)
        process.kill()
        process.wait()
    assert run(PROGRAM, *BUILD, cwd=tmp_path).returncode == 0
    names = {name[:7] for name in names_in(tmp_path)}
    assert names == {"w.py", "w.onnx", "w.onnx."}
    assert result_of(tmp_path) == 2048


def test_what_a_killed_build_has_left_is_removed(tmp_path):
    write_weighted(tmp_path, 1.0)
    name = 2166136261
    for byte in b"w.onnx":
        name = (name ^ byte) * 16777619 & 0xFFFFFFFF
    name ^= name >> 16
    left = tmp_path / f".sardonyx-{name:016x}-0123456789abcdef"
    left.write_bytes(b"half of a model")
    other = tmp_path / ".sardonyx-0123456789abcdef-0123456789abcdef"
    other.write_bytes(b"of another file")
    assert run(PROGRAM, *BUILD, cwd=tmp_path).returncode == 0
    assert not left.exists()
    assert other.exists()


def test_names_of_250_bytes(tmp_path):
    write_weighted(tmp_path, 1.0)
    name = "w" * 245 + ".onnx"
    for extra in ([], ["--external-data", "1000"]):
        done = run(PROGRAM, "build", "w.py", "-o", name, *extra, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        x = np.zeros(1, np.float32)
        assert sardonyx.load(str(tmp_path / name)).run({"x": x})[0][0] == 2048
    os.umask(mask := os.umask(0))
    assert (tmp_path / name).stat().st_mode & 0o777 == 0o666 & ~mask


# --- What is read ----------------------------------------------------------------------------


def mapped_model(folder, value, external=False):
    weights = np.full(ROOM, value, np.float32)
    path = save(
        folder / f"m{value}.onnx",
        [helper.make_node("ReduceSum", ["w"], ["s"], keepdims=0),
         helper.make_node("Add", ["x", "s"], ["y"])],
        X, Y, [("w", weights)],
    )  # fmt: skip
    if external:
        onnx.save(onnx.load(path), path, save_as_external_data=True, location=f"m{value}.data")
        return path, folder / f"m{value}.data"
    return path, path


@pytest.mark.parametrize("external", [False, True])
def test_a_file_that_is_truncated_or_overwritten_is_told(tmp_path, external):
    path, data = mapped_model(tmp_path, 1.0, external)
    whole = data.read_bytes()
    x = {"x": np.zeros(2, np.float32)}
    # The weights of this one are not read before the run: nothing is folded that is so large.
    model = sardonyx.load(str(path))
    os.truncate(data, len(whole) // 2)
    with pytest.raises(sardonyx.EvalError, match="was truncated after it was loaded"):
        model.run(x)
    with pytest.raises(sardonyx.EvalError, match="truncated"):
        model.to_bytes()
    data.write_bytes(whole)
    model = sardonyx.load(str(path))
    time.sleep(0.02)  # longer than what file systems tell times by
    with data.open("r+b") as file:
        file.seek(len(whole) - 100)
        file.write(b"\x7f")
    with pytest.raises(sardonyx.EvalError, match="was overwritten after it was loaded"):
        model.run(x)


def reads_again_and_again(path, kind):
    """A loop that reads 8 MiB of weights in each of its `n` iterations; `s` is their shape."""
    side = 1 << 10
    weights = np.ones((2 * side, side), np.float32)
    # By a shape that is not known before, so that nothing is prepared of them.
    nodes = [helper.make_node("Reshape", ["w", "s"], ["v"])]
    if kind == "ReduceSum":
        nodes += [helper.make_node("ReduceSum", ["v"], ["t"], keepdims=0)]
    elif kind == "MatMul":
        nodes += [
            helper.make_node("MatMul", ["a", "v"], ["p"]),
            helper.make_node("ReduceMax", ["p"], ["t"], keepdims=0),
        ]
    else:
        nodes += [
            helper.make_node("Add", ["v", "v"], ["p"]),
            helper.make_node("Neg", ["p"], ["q"]),
            helper.make_node("ReduceMax", ["q"], ["t"], keepdims=0),
        ]
    nodes += [
        helper.make_node("Add", ["y0", "t"], ["y1"]),
        helper.make_node("Identity", ["c"], ["d"]),
    ]
    scalar = helper.make_tensor_value_info
    body = helper.make_graph(
        nodes,
        "body",
        [scalar("i", TensorProto.INT64, []), scalar("c", TensorProto.BOOL, []),
         scalar("y0", TensorProto.FLOAT, [])],
        [scalar("d", TensorProto.BOOL, []), scalar("y1", TensorProto.FLOAT, [])],
    )  # fmt: skip
    return save(
        path,
        [helper.make_node("Loop", ["n", "", "y"], ["z"], body=body)],
        [("n", TensorProto.INT64, []), ("s", TensorProto.INT64, [2]),
         ("y", TensorProto.FLOAT, [])],
        [("z", TensorProto.FLOAT)],
        [("w", weights), ("a", np.ones((64, 2 * side), np.float32))],
    )  # fmt: skip


@pytest.mark.parametrize("faulthandler", [False, True])
@pytest.mark.parametrize("kind", ["ReduceSum", "MatMul", "chain"])
def test_a_file_that_is_truncated_during_a_run_is_an_error(tmp_path, kind, faulthandler):
    path = reads_again_and_again(tmp_path / "m.onnx", kind)
    code = f"""
        import os, signal, sys, threading, time
        import numpy as np
        import sardonyx

        def run(threads, seconds=None):
            rate = 1
            while True:
                started = time.process_time()
                inputs = {{"n": np.array(rate), "s": np.array([2048, 1024]), "y": np.float32(0)}}
                model.run(inputs, threads=threads)
                if time.process_time() - started > 0.4:
                    return rate
                rate *= 2

        whole = open({str(path)!r}, "rb").read()
        for threads in (1, 2):
            open({str(path)!r}, "wb").write(whole)
            model = sardonyx.load({str(path)!r})
            count = run(threads)
            timer = threading.Timer(0.1, os.truncate, ({str(path)!r}, 1 << 20))
            timer.start()
            inputs = {{"n": np.array(count), "s": np.array([2048, 1024]), "y": np.float32(0)}}
            # On a machine with much else to do the timer may come after the first of these.
            errors = []
            while len(errors) < 2:
                try:
                    model.run(inputs, threads=threads)
                except sardonyx.EvalError as error:
                    errors.append(str(error))
            assert all("was truncated after it was loaded" in error for error in errors), errors
            timer.join()
    """
    options = ["-X", "faulthandler"] if faulthandler else []
    done = run(sys.executable, *options, "-c", textwrap.dedent(code))
    assert (done.returncode, done.stderr) == (0, "")


def test_the_program_tells_a_file_that_is_truncated_during_a_run(tmp_path):
    path = reads_again_and_again(tmp_path / "m.onnx", "ReduceSum")
    command = [PROGRAM, "run", path, "n=1_000_000", "s=[2048, 1024]", "y=0.0"]
    process = subprocess.Popen([str(part) for part in [*command, "--max-steps=20000"]],
                               stderr=subprocess.PIPE, text=True)  # fmt: skip
    time.sleep(0.3)
    os.truncate(path, 1 << 20)
    _, message = process.communicate(timeout=240)
    assert process.returncode == 1
    assert "was truncated after it was loaded" in message


@pytest.mark.parametrize("which", ["the model", "the other"])
def test_a_comparison_tells_a_file_that_is_truncated(tmp_path, which):
    path = reads_again_and_again(tmp_path / "m.onnx", "ReduceSum")
    other = reads_again_and_again(tmp_path / "other.onnx", "ReduceSum")
    command = [PROGRAM, "run", path, "n=5000", "s=[2048, 1024]", "y=0.0", "--compare", other]
    process = subprocess.Popen([str(part) for part in command], stderr=subprocess.PIPE,
                               stdout=subprocess.DEVNULL, text=True)  # fmt: skip
    time.sleep(0.3)
    os.truncate(path if which == "the model" else other, 1 << 20)
    _, message = process.communicate(timeout=100)
    assert process.returncode == 1, message
    # The other one may not have been read by then.
    assert "was truncated after it was loaded" in message or "cut off" in message


@pytest.mark.parametrize("by", ["signal", "fault"])
def test_other_bus_errors_end_the_process(tmp_path, by):
    path, _ = mapped_model(tmp_path, 1.0)
    cause = {
        "signal": "os.kill(os.getpid(), signal.SIGBUS)",
        "fault": "os.truncate('other', 0); other[5000]",
    }[by]
    code = f"""
        import mmap, os, signal
        import sardonyx

        model = sardonyx.load({str(path)!r})
        open("other", "wb").write(bytes(1 << 14))
        other = mmap.mmap(os.open("other", os.O_RDONLY), 1 << 14, prot=mmap.PROT_READ)
        {cause}
    """
    for options in ([], ["-X", "faulthandler"]):
        done = run(sys.executable, *options, "-c", textwrap.dedent(code), cwd=tmp_path)
        assert done.returncode == -signal.SIGBUS
        assert done.stderr.count("Fatal Python error: Bus error") == len(options) // 2


def test_a_file_that_is_replaced_changes_nothing(tmp_path):
    path, _ = mapped_model(tmp_path, 1.0)
    model = sardonyx.load(str(path))
    mapped_model(tmp_path, 2.0)[0].replace(path)
    x = {"x": np.zeros(2, np.float32)}
    assert model.run(x)[0][0] == ROOM
    assert sardonyx.load(str(path)).run(x)[0][0] == 2 * ROOM


def test_small_files_are_copied(tmp_path):
    path = save(tmp_path / "m.onnx", [helper.make_node("Neg", ["x"], ["y"])], X, Y)
    model = sardonyx.load(str(path))
    path.write_bytes(b"")
    assert (model.run({"x": np.ones(2, np.float32)})[0] == -1).all()


# --- Stacks and memory -----------------------------------------------------------------------


def nested_functions(path, depth):
    imports = [helper.make_opsetid("", 18), helper.make_opsetid("here", 1)]
    functions = [
        helper.make_function(
            "here", f"f{i}", ["x"], ["y"],
            [helper.make_node("Neg", ["x"], ["y"]) if i == 0 else
             helper.make_node(f"f{i - 1}", ["x"], ["y"], domain="here")],
            imports,
        )
        for i in range(depth)
    ]  # fmt: skip
    node = helper.make_node(f"f{depth - 1}", ["x"], ["y"], domain="here")
    return save(path, [node], X, Y, functions=functions)


def nested_branches(path, depth):
    graph = helper.make_graph(
        [helper.make_node("Neg", ["x"], ["y0"])],
        "b0",
        [],
        [helper.make_tensor_value_info("y0", TensorProto.FLOAT, [2])],
    )
    for i in range(1, depth):
        node = helper.make_node("If", ["c"], [f"y{i}"], then_branch=graph, else_branch=graph)
        del node.attribute[1]
        other = helper.make_graph(
            [helper.make_node("Identity", ["x"], [f"e{i}"])],
            f"e{i}",
            [],
            [helper.make_tensor_value_info(f"e{i}", TensorProto.FLOAT, [2])],
        )
        node.attribute.append(helper.make_attribute("else_branch", other))
        graph = helper.make_graph(
            [node], f"b{i}", [], [helper.make_tensor_value_info(f"y{i}", TensorProto.FLOAT, [2])]
        )
    nodes = [*graph.node, helper.make_node("Identity", [f"y{depth - 1}"], ["y"])]
    return save(path, nodes, [*X, ("c", TensorProto.BOOL, [])], Y)


@pytest.mark.parametrize("kilobytes", [256, 1024])
@pytest.mark.parametrize("depth", [30, 300, 1000])
def test_deep_calls_on_small_stacks(tmp_path, kilobytes, depth):
    path = nested_functions(tmp_path / "m.onnx", depth)
    small = limit(resource.RLIMIT_STACK, kilobytes << 10)
    done = run(PROGRAM, "run", path, "x=[1.0, 2.0]", before=small)
    if done.returncode == 0:
        assert "-2" in done.stdout
    else:
        assert depth > 100
        assert done.returncode == 1, done.stderr
        assert "this thread's stack is too small" in done.stderr
    done = run(PROGRAM, "check", path, before=small)
    assert done.returncode in (0, 1), done.stderr


@pytest.mark.parametrize("depth", [5, 20])  # what protobuf reads in Python is not deeper
def test_deep_branches_on_small_stacks(tmp_path, depth):
    path = nested_branches(tmp_path / "m.onnx", depth)
    small = limit(resource.RLIMIT_STACK, 256 << 10)
    for command in (["run", path, "x=[1.0, 2.0]", "c=true"], ["check", path], ["dump", path]):
        done = run(PROGRAM, *command, before=small)
        assert done.returncode in (0, 1), (command, done.returncode, done.stderr)


def test_deep_calls_on_a_small_stack_of_a_thread(tmp_path):
    path = nested_functions(tmp_path / "m.onnx", 1000)
    code = """
        import sys, threading
        import numpy as np
        import sardonyx

        model = sardonyx.load(sys.argv[1])
        threading.stack_size(256 << 10)

        def call():
            try:
                model.run({"x": np.ones(2, np.float32)})
            except sardonyx.EvalError as error:
                assert "stack is too small" in str(error)
                print("refused")

        thread = threading.Thread(target=call)
        thread.start()
        thread.join()
        assert (model.run({"x": np.ones(2, np.float32)})[0] == -1).all()
    """
    done = run(sys.executable, "-c", textwrap.dedent(code), path)
    assert (done.returncode, done.stdout) == (0, "refused\n"), done.stderr


def test_the_program_says_when_memory_runs_out(tmp_path):
    path = save(
        tmp_path / "m.onnx",
        [helper.make_node("Expand", ["x", "n"], ["z"]), helper.make_node("Neg", ["z"], ["y"])],
        [*X, ("n", TensorProto.INT64, [2])], Y,
    )  # fmt: skip
    little = limit(resource.RLIMIT_AS, 1 << 30)
    for threads in (1, 2):
        command = [PROGRAM, "run", path, "x=[1.0, 2.0]", "n=[400000000, 2]"]
        done = run(*command, "--threads", threads, before=little)
        assert (done.returncode, done.stderr) == (1, "error: out of memory\n")


def test_messages_are_no_longer_than_a_screen(tmp_path):
    name = "n" * 1_000_000
    path = save(
        tmp_path / "m.onnx",
        [helper.make_node("Reshape", ["x", "s"], ["y"], name=name)],
        [*X, ("s", TensorProto.INT64, [1])], Y,
    )  # fmt: skip
    done = run(PROGRAM, "run", path, "x=[1.0, 2.0]", "s=[5]")
    assert done.returncode == 1
    assert 100 < len(done.stderr) < 2000
    assert "Reshape" in done.stderr
    with pytest.raises(sardonyx.EvalError) as caught:
        sardonyx.load(str(path)).run({"x": np.ones(2, np.float32), "s": np.array([5])})
    assert len(str(caught.value)) < 2000


# --- Growth ----------------------------------------------------------------------------------

ONES = {"x": np.ones(2, np.float32)}


def model_of(nodes: list[onnx.NodeProto]) -> sardonyx.Model:
    """From `x` to `y`, two floats."""
    graph = onnx.GraphProto(name="g", node=nodes)
    graph.input.append(helper.make_tensor_value_info("x", TensorProto.FLOAT, [2]))
    graph.output.append(helper.make_tensor_value_info("y", TensorProto.FLOAT, [2]))
    imports = [helper.make_opsetid("", 18)]
    return sardonyx.load(helper.make_model(graph, opset_imports=imports, ir_version=9))


def test_many_nodes_in_a_chain_are_prepared_in_linear_time(tmp_path):
    """Each of the lengths is ten times the one before; quadratic would be a hundred times."""
    seconds = []
    for count in (100_000, 1_000_000) if LARGE else (5_000, 50_000):
        path = tmp_path / f"m{count}.onnx"
        graph = onnx.GraphProto(name="g")
        graph.input.append(helper.make_tensor_value_info("x", TensorProto.FLOAT, [2]))
        graph.output.append(helper.make_tensor_value_info(f"v{count}", TensorProto.FLOAT, [2]))
        names = ["x", *(f"v{i}" for i in range(1, count + 1))]
        for before, after in itertools.pairwise(names):
            graph.node.add(op_type="Neg", input=[before], output=[after])
        imports = [helper.make_opsetid("", 18)]
        onnx.save(helper.make_model(graph, opset_imports=imports, ir_version=9), path)
        model = sardonyx.load(str(path))
        x = {"x": np.ones(2, np.float32)}
        started = time.process_time()
        assert (model.run(x, threads=1)[0] == 1).all()
        seconds.append(time.process_time() - started)
        started = time.process_time()
        model.run(x, threads=1)
        seconds[-1] -= time.process_time() - started  # preparing alone
    assert seconds[1] < 35 * max(seconds[0], 0.01)


@pytest.mark.parametrize("first", ["x + 1.0", "opset21.Nothing(x)"])
def test_scripts_that_call_each_other_are_checked_in_linear_time(tmp_path, first):
    """Also where the first is wrong: then no call of it becomes a function that is kept."""
    seconds = []
    for count in (100, 1000) if LARGE else (40, 400):
        lines = [
            "from sardonyx import opset21, script",
            "@script()",
            "def f0(x):",
            f"    return {first}",
        ]
        for i in range(1, count):
            lines += ["@script()", f"def f{i}(x):", f"    return f{i - 1}(x) + 1.0"]
        (tmp_path / "chain.py").write_text("\n".join(lines) + "\n")
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        done = run(PROGRAM, "check", "-q", "chain.py", cwd=tmp_path, timeout=300)
        assert (done.returncode, done.stderr) == ((1, "") if "Nothing" in first else (0, ""))
        seconds.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)
    assert seconds[1] < 35 * max(seconds[0], 0.03)


def test_sequences_grow_in_linear_time():
    sequence = helper.make_tensor_sequence_value_info
    body = helper.make_graph(
        [helper.make_node("SequenceInsert", ["s", "i"], ["t"]),
         helper.make_node("Identity", ["c"], ["d"])],
        "body",
        [helper.make_tensor_value_info("i", TensorProto.INT64, []),
         helper.make_tensor_value_info("c", TensorProto.BOOL, []),
         sequence("s", TensorProto.INT64, None)],
        [helper.make_tensor_value_info("d", TensorProto.BOOL, []),
         sequence("t", TensorProto.INT64, None)],
    )  # fmt: skip
    nodes = [
        helper.make_node("SequenceEmpty", [], ["e"], dtype=TensorProto.INT64),
        helper.make_node("Loop", ["n", "", "e"], ["f"], body=body),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("n", TensorProto.INT64, [])],
        [sequence("f", TensorProto.INT64, None)],
    )
    imports = [helper.make_opsetid("", 18)]
    model = sardonyx.load(helper.make_model(graph, opset_imports=imports, ir_version=9))
    seconds = []
    for count in (2_000, 20_000):
        started = time.process_time()
        result = model.run({"n": np.array(count)})[0]
        seconds.append(time.process_time() - started)
        assert [int(item) for item in result[:3]] == [0, 1, 2] and len(result) == count
    assert seconds[1] < 35 * max(seconds[0], 0.005)


def test_a_node_of_many_inputs_is_prepared_in_linear_time():
    seconds = []
    for count in (5_000, 50_000):
        names = [f"v{i}" for i in range(count)]
        nodes = [helper.make_node("Neg", ["x"], [name]) for name in names]
        nodes.append(helper.make_node("Sum", names, ["y"]))
        model = model_of(nodes)
        started = time.process_time()
        assert (model.run(ONES, threads=1)[0] == -count).all()
        seconds.append(time.process_time() - started)
    assert seconds[1] < 35 * max(seconds[0], 0.01)


def test_einsum_of_many_operands_takes_linear_time():
    seconds = []
    for count in (1_000, 10_000):
        equation = ",".join(["a"] * count) + "->a"
        model = model_of([helper.make_node("Einsum", ["x"] * count, ["y"], equation=equation)])
        started = time.process_time()
        assert (model.run(ONES, threads=1)[0] == 1).all()
        seconds.append(time.process_time() - started)
    assert seconds[1] < 35 * max(seconds[0], 0.005)


def test_many_values_of_one_line_are_decompiled_in_linear_time():
    """What is written is read again as a script, where rules look for values that nobody reads."""
    seconds = []
    for count in (3_000, 30_000):
        names = [f"v{i}" for i in range(count)]
        nodes = [helper.make_node("Neg", ["x"], [name]) for name in names]
        model = model_of([*nodes, helper.make_node("Sum", names, ["y"])])
        started = time.process_time()
        assert f"v{count - 1} = " in sardonyx.decompile(model)
        seconds.append(time.process_time() - started)
    assert seconds[1] < 20 * max(seconds[0], 0.01)
