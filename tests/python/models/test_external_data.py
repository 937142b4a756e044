"""Models whose weights stand in files of their own: kept as they are, changed, too large for one
file, and written while others write. onnx makes the models."""

from __future__ import annotations

import functools
import hashlib
import os
import pathlib
import pty
import subprocess
import sys

import numpy as np
import onnx
import pytest
import sardonyx
from onnx import TensorProto, helper

from places import PROGRAM
from program import run

GIB = 1 << 30


def external(name: str, dims: list[int], location: str, **words: object) -> TensorProto:
    tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=dims)
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in {"location": location, **words}.items():
        tensor.external_data.add(key=key, value=str(value))
    return tensor


def model_of(tensors: list[TensorProto]) -> onnx.ModelProto:
    """The last element of each and of a small one, summed up and added to x."""
    last = helper.make_tensor("last", TensorProto.INT64, [], [-1])
    nodes = [
        node
        for i, tensor in enumerate(tensors)
        for node in (
            helper.make_node("Gather", [tensor.name, "last"], [f"g{i}"]),
            helper.make_node("Add", [f"s{i - 1}" if i else "x", f"g{i}"], [f"s{i}"], name=f"a{i}"),
        )
    ]
    x = helper.make_tensor_value_info("x", 1, [])
    y = helper.make_tensor_value_info(f"s{len(tensors) - 1}", 1, [])
    graph = helper.make_graph(nodes, "g", [x], [y], [last, *tensors])
    opsets = [helper.make_opsetid("", 20)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10, producer_name="others")


def several_files(folder: pathlib.Path) -> pathlib.Path:
    """Two files, one of them in a folder; offsets, gaps, a checksum, bytes that nobody reads."""
    (folder / "data").mkdir(parents=True)
    rng = np.random.default_rng(0)
    first = rng.integers(0, 255, 3000, np.uint8).tobytes()
    a, b = np.arange(40, dtype=np.float32), np.arange(1000, dtype=np.float32)
    (folder / "a.bin").write_bytes(first[:64] + a.tobytes() + first[300:])
    (folder / "data" / "b.bin").write_bytes(b.tobytes())
    digest = hashlib.sha1((folder / "a.bin").read_bytes()).hexdigest()
    tensors = [
        external("a", [40], "a.bin", offset=64, length=160, checksum=digest),
        external("b", [1000], "data/b.bin"),
        external("a_again", [20], "a.bin", offset=144, length=80),
    ]
    path = folder / "m.onnx"
    path.write_bytes(model_of(tensors).SerializeToString())
    return path


def contents(folder: pathlib.Path) -> dict[str, bytes]:
    files = (one for one in folder.rglob("*") if one.is_file())
    return {str(one.relative_to(folder)): one.read_bytes() for one in files}


@pytest.mark.parametrize("way", ["python", "program"])
def test_an_untouched_model_keeps_its_files(tmp_path: pathlib.Path, way: str) -> None:
    path = several_files(tmp_path / "first")
    before = contents(path.parent)

    def save(target: pathlib.Path) -> None:
        if way == "python":
            sardonyx.load(path).save(target)
        else:
            run("convert", path, "-o", target)

    other = tmp_path / "second" / "n.onnx"
    other.parent.mkdir()
    save(other)
    assert contents(other.parent) == {("n.onnx" if name == "m.onnx" else name): data
                                      for name, data in before.items()}  # fmt: skip
    save(other)  # over what is there
    assert float(sardonyx.load(other)(np.float32(1))) == 1 + 39 + 999 + 39
    onnx.checker.check_model(str(other), full_check=True)
    # In its own folder, and onto itself.
    save(path.parent / "n.onnx")
    save(path)
    assert contents(path.parent) == {**before, "n.onnx": before["m.onnx"]}


def test_other_files_are_not_replaced(tmp_path: pathlib.Path) -> None:
    path = several_files(tmp_path / "first")
    other = tmp_path / "second"
    other.mkdir()
    (other / "a.bin").write_bytes(b"of another model")
    with pytest.raises(sardonyx.ModelError, match=r"a\.bin.* other contents"):
        sardonyx.load(path).save(other / "m.onnx")
    assert "other contents" in run("convert", path, "-o", other / "m.onnx", status=1).stderr
    assert contents(other) == {"a.bin": b"of another model"}
    run("convert", path, "-o", other / "m.onnx", "--external-data", 100)
    assert float(sardonyx.load(other / "m.onnx")(np.float32(0))) == 39 + 999 + 39


def test_a_changed_model_has_one_file(tmp_path: pathlib.Path) -> None:
    path = several_files(tmp_path / "first")
    model = sardonyx.load(path)
    model.graph["a"].name = "renamed"
    model.save(path)
    data = {name for name in contents(path.parent) if name.endswith(".data")}
    assert len(data) == 1
    again = sardonyx.load(path)
    assert again == model and again.graph["renamed"].const_value[39] == 39
    model.save(path, external_bytes=0)
    assert len(onnx.load(path, load_external_data=False).graph.initializer[1].raw_data) == 160


@pytest.mark.parametrize("folder", ["first", "first/data", "second"])
@pytest.mark.parametrize("words", [["rename", "s2=out"], ["cut", "--to", "s1"], ["strip"]])
def test_edits_of_models_with_data_in_folders(
    words: list[str], folder: str, tmp_path: pathlib.Path
) -> None:
    path = several_files(tmp_path / "first")
    before = contents(path.parent)
    (tmp_path / folder).mkdir(exist_ok=True)
    edited = tmp_path / folder / "n.onnx"
    run(words[0], path, *words[1:], "-o", edited)
    assert before.items() <= contents(tmp_path / "first").items()
    moved = tmp_path / "third"
    (tmp_path / folder).rename(moved)
    onnx.checker.check_model(str(moved / "n.onnx"), full_check=True)
    wanted = 1 + 39 + 999 + (0 if words[0] == "cut" else 39)
    assert float(sardonyx.load(moved / "n.onnx")(np.float32(1))) == wanted


@pytest.mark.parametrize(
    ("location", "reason"),
    [
        ("../b.bin", "must be a path inside the model's folder"),
        ("/etc/hostname", "must be a path inside the model's folder"),
        ("data/../../b.bin", "must be a path inside the model's folder"),
        ("", "must be a path inside the model's folder"),
        ("data", "is not a file"),
        ("link.bin", "is a link out of the model's folder"),
        ("linked/b.bin", "is a link out of the model's folder"),
        ("data/hard.bin", "has more than one name"),
        ("data/missing.bin", "cannot open the external data"),
    ],
)
def test_data_outside_of_the_folder_is_refused(
    location: str, reason: str, tmp_path: pathlib.Path
) -> None:
    path = several_files(tmp_path / "first")
    (tmp_path / "b.bin").write_bytes(bytes(4000))
    (path.parent / "link.bin").symlink_to(tmp_path / "b.bin")
    (path.parent / "linked").symlink_to(tmp_path)
    (path.parent / "data" / "hard.bin").hardlink_to(tmp_path / "b.bin")
    path.write_bytes(model_of([external("b", [1000], location)]).SerializeToString())
    with pytest.raises(sardonyx.ModelError, match=reason):
        sardonyx.load(path)
    for words in (["run", path, "x=1"], ["convert", path, "-o", tmp_path / "n.onnx"]):
        assert reason in run(*words, status=1).stderr


@pytest.mark.parametrize("large", [False, True])
def test_a_source_that_changes(tmp_path: pathlib.Path, large: bool) -> None:
    """What was read stays, or is an error: other bytes never come silently."""
    count = 1 << 19 if large else 1000
    weights = np.arange(count, dtype=np.float32)
    (tmp_path / "w.bin").write_bytes(weights.tobytes())
    path = tmp_path / "m.onnx"
    path.write_bytes(model_of([external("w", [count], "w.bin")]).SerializeToString())
    for edits in (False, True):
        model = sardonyx.load(path)
        if edits:
            model.graph["w"].name = "v"
        with (tmp_path / "w.bin").open("r+b") as file:
            file.write(np.float32(7 + edits).tobytes())
        os.utime(tmp_path / "w.bin", (1, 1 + edits))
        for options in (None, {}, {"external_bytes": 1}):
            use = functools.partial(model.save, tmp_path / "n.onnx", **(options or {}))
            if options is None:
                use = model.to_bytes
            if large:
                with pytest.raises(sardonyx.EvalError, match="overwritten after it was loaded"):
                    use()
                assert not (tmp_path / "n.onnx").exists()
            elif edits or options != {}:
                use()  # it was small, and is in memory
            else:
                with pytest.raises(sardonyx.ModelError, match="other contents"):
                    use()
        (tmp_path / "w.bin").write_bytes(weights.tobytes())
        for left in tmp_path.glob("n.onnx*"):
            left.unlink()


def sparse_model(folder: pathlib.Path) -> pathlib.Path:
    """5 GiB of weights in two files, which take some KiB on the disk."""
    sizes = {"a": 3 * GIB, "b": 2 * GIB}
    for name, size in sizes.items():
        with (folder / f"{name}.bin").open("wb") as file:
            file.truncate(size)
            file.seek(size - 4)
            file.write(np.float32(len(name) + size / GIB).tobytes())
        if (folder / f"{name}.bin").stat().st_blocks * 512 > GIB:
            pytest.skip("this disk knows no sparse files")
    path = folder / "m.onnx"
    tensors = [external(name, [size // 4], f"{name}.bin") for name, size in sizes.items()]
    path.write_bytes(model_of(tensors).SerializeToString())
    return path


def blocks_of(folder: pathlib.Path) -> int:
    return sum(one.stat().st_blocks * 512 for one in folder.iterdir())


def test_more_than_two_gib(tmp_path: pathlib.Path) -> None:
    """Opened, run, edited and saved; files stay sparse."""
    path = sparse_model(tmp_path)
    model = sardonyx.load(path)
    assert float(model(np.float32(0))) == 4 + 3
    copy = tmp_path / "copy"
    copy.mkdir()
    model.save(copy / "m.onnx")
    assert (copy / "m.onnx").read_bytes() == path.read_bytes()
    assert [(copy / name).stat().st_size for name in ("a.bin", "b.bin")] == [3 * GIB, 2 * GIB]
    assert float(sardonyx.load(copy / "m.onnx")(np.float32(0))) == 7

    model.graph["a"].name = "renamed"
    for refused in (lambda: model.save(tmp_path / "n.onnx", external_bytes=0), model.to_bytes,
                    model.to_proto):  # fmt: skip
        with pytest.raises(ValueError, match=r"limited to 2 GiB: .*external_bytes"):
            refused()
    assert not list(tmp_path.glob("n.onnx*"))
    changed = tmp_path / "changed"
    changed.mkdir()
    model.save(changed / "m.onnx", file_bytes=4 * GIB)
    assert float(sardonyx.load(changed / "m.onnx")(np.float32(1))) == 8
    assert sorted(one.stat().st_size for one in changed.glob("*.data")) == [2 * GIB, 3 * GIB]
    assert blocks_of(changed) + blocks_of(copy) < GIB // 64


SAVE_AND_MEASURE = """
import resource, sys, sardonyx
model = sardonyx.load(sys.argv[1])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
model.save(sys.argv[2], external_bytes=eval(sys.argv[3]))
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


@pytest.mark.parametrize("external_bytes", ["0", "None", "1024"])
def test_saving_takes_the_memory_of_the_graph(tmp_path: pathlib.Path, external_bytes: str) -> None:
    b = sardonyx.Builder(opset=20)
    weights = np.random.default_rng(0).random(1 << 25, np.float32)  # 128 MiB
    b.output(b.op.Neg(b.initializer(weights, "w")), name="y")
    b.model().save(tmp_path / "m.onnx", external_bytes=1024 if external_bytes == "None" else 0)
    arguments = [str(tmp_path / "m.onnx"), str(tmp_path / "n.onnx"), external_bytes]
    done = subprocess.run([sys.executable, "-c", SAVE_AND_MEASURE, *arguments],
                          capture_output=True, text=True, check=True)  # fmt: skip
    assert int(done.stdout) < 16
    assert sardonyx.load(tmp_path / "n.onnx") == sardonyx.load(tmp_path / "m.onnx")


def on_a_terminal(words: list[str]) -> str:
    """What the program writes to standard error, if that is a terminal."""
    leader, follower = pty.openpty()
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=follower)
    os.close(follower)
    shown = b""
    while True:
        try:
            part = os.read(leader, 65536)
        except OSError:  # the other side is closed
            break
        if not part:
            break
        shown += part
    os.close(leader)
    assert process.wait(timeout=60) == 0, shown
    return shown.decode()


def test_progress(tmp_path: pathlib.Path) -> None:
    """A bar from 1 GB on, on terminals alone, not with -q, and nothing is left of it."""
    path = sparse_model(tmp_path)
    small = tmp_path / "small.onnx"
    small.write_bytes(model_of([helper.make_tensor("w", 1, [2], [1, 2])]).SerializeToString())
    for number, words in enumerate((["rename", "--node", "a0=first"], ["strip"])):
        folder = tmp_path / str(number)
        folder.mkdir()
        command = [str(PROGRAM), words[0], str(path), *words[1:], "-o", str(folder / "n.onnx")]
        shown = on_a_terminal(command)
        assert "of 5.4 GB" in shown and "[##" in shown, shown
        assert shown.endswith("\r\x1b[K")
        assert on_a_terminal([*command, "-q"]) == ""
        assert run(*command[1:]).stderr == ""
        assert on_a_terminal([*command[:2], str(small), *command[3:]]) == ""
    python = (
        "import sys, sardonyx; m = sardonyx.load(sys.argv[1]); m.doc = 'x'; m.save(sys.argv[2]{})"
    )
    target = str(tmp_path / "n.onnx")
    shown = on_a_terminal([sys.executable, "-c", python.format(""), str(path), target])
    assert "of 5.4 GB" in shown
    quiet = [sys.executable, "-c", python.format(", quiet=True"), str(path), target]
    assert on_a_terminal(quiet) == ""
    script = tmp_path / "s.py"
    script.write_text(
        "import sardonyx\nfrom sardonyx import FLOAT, opset20 as op, script\n"
        f"W = sardonyx.load_weights({str(path)!r})\n"
        "@script()\ndef f(x: FLOAT) -> FLOAT:\n    return x + op.Gather(W['a'], -1)\n"
    )
    build = [str(PROGRAM), "build", str(script), "-o", target, "--external-data", "1024"]
    assert "of 3.2 GB" in on_a_terminal(build)
    assert on_a_terminal([*build, "-q"]) == ""
