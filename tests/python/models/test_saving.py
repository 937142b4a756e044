"""Models on their way to the disk: files of weights, full disks, processes that are killed.

onnx and NumPy read what we write.
"""

from __future__ import annotations

import pathlib
import random
import signal
import subprocess
import sys
from typing import Any

import numpy as np
import onnx
import onnx.external_data_helper
import pytest
import sardonyx

from sampling import FULL


def some_model() -> sardonyx.Model:
    """Weights of several types and sizes; `twin` is `a` once more."""
    b = sardonyx.Builder(opset=20)
    a = np.arange(3000, dtype=np.float32)
    total = b.initializer(a, "a") + b.initializer(a.copy(), "twin")
    total = total + b.op.Cast(b.initializer(np.arange(3000, dtype=np.int8), "bytes"), to=1)
    total = total + b.op.Cast(b.initializer(np.arange(3000) % 2 == 0, "flags"), to=1)
    b.output(total * b.initializer(np.array([2], np.float32), "small"), name="y")
    return b.model()


def places(path: pathlib.Path) -> dict[str, dict[str, str]]:
    """What the file says of its external tensors."""
    proto = onnx.load(path, load_external_data=False)
    return {
        tensor.name: {entry.key: entry.value for entry in tensor.external_data}
        for tensor in proto.graph.initializer
        if tensor.external_data
    }


def check_read_back(path: pathlib.Path, model: sardonyx.Model) -> None:
    """By us and by onnx."""
    assert sardonyx.load(path) == model
    onnx.checker.check_model(str(path), full_check=True)
    for tensor in onnx.load(path).graph.initializer:
        wanted = model.graph[tensor.name].const_value
        np.testing.assert_array_equal(onnx.numpy_helper.to_array(tensor), wanted)


def test_alignment_and_equal_tensors(tmp_path: pathlib.Path) -> None:
    model, path = some_model(), tmp_path / "m.onnx"
    model.save(path, external_bytes=1000, alignment=64, share_equal=True)
    check_read_back(path, model)
    found = places(path)
    assert sorted(found) == ["a", "bytes", "flags", "twin"]
    assert found["a"] == found["twin"]
    assert [int(found[name]["offset"]) for name in ("a", "bytes", "flags")] == [0, 12032, 15040]
    (data,) = tmp_path.glob("m.onnx.*.data")
    assert data.stat().st_size == 18040
    model.save(path, external_bytes=1000)
    found = places(path)
    assert all(int(place["offset"]) % 4096 == 0 for place in found.values())
    assert len({place["offset"] for place in found.values()}) == 4
    assert len(list(tmp_path.iterdir())) == 2  # the data of before have gone


def test_several_files(tmp_path: pathlib.Path) -> None:
    model, path = some_model(), tmp_path / "m.onnx"
    model.save(path, external_bytes=1000, file_bytes=15_000)
    check_read_back(path, model)
    files = {name: place["location"] for name, place in places(path).items()}
    assert files["a"] != files["twin"] == files["bytes"] != files["flags"]
    assert {one.name for one in tmp_path.iterdir()} == {"m.onnx", *files.values()}
    model.save(path)
    assert places(path) == {}


@pytest.mark.parametrize("share_equal", [False, True])
def test_safetensors(tmp_path: pathlib.Path, share_equal: bool) -> None:
    model, path = some_model(), tmp_path / "m.onnx"
    model.save(path, weights="safetensors", share_equal=share_equal)
    check_read_back(path, model)
    (data,) = tmp_path.glob("*.safetensors")
    weights = sardonyx.load_weights(data)
    assert list(weights) == [one for one in ("a", "twin", "bytes", "flags")
                             if one != "twin" or not share_equal]  # fmt: skip
    for name, array in weights.items():
        np.testing.assert_array_equal(array, model.graph[name].const_value)
    model.save(path, external_bytes=1000)
    assert not list(tmp_path.glob("*.safetensors"))


def test_what_cannot_be_asked_for(tmp_path: pathlib.Path) -> None:
    model = some_model()
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"weights": "npz"}, "safetensors"),
        ({"alignment": 0}, "alignment"),
        ({"external_bytes": -1}, "negative"),
        ({"file_bytes": -1}, "negative"),
    ]
    for options, words in wrong:
        with pytest.raises(ValueError, match=words):
            model.save(tmp_path / "m.onnx", **options)
    assert not list(tmp_path.iterdir())


SAVE_ON_A_FULL_DISK = """
import resource, sys, sardonyx
model = sardonyx.load(sys.argv[1])
if sys.argv[3] == "limit":
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, resource.RLIM_INFINITY))
try:
    model.save(sys.argv[2], external_bytes=int(sys.argv[4]))
except OSError as error:
    print(error.errno)
"""


@pytest.mark.parametrize("external_bytes", [0, 1000])
@pytest.mark.parametrize("way", ["limit", "disk"])
def test_a_full_disk_loses_nothing(tmp_path: pathlib.Path, way: str, external_bytes: int) -> None:
    large = tmp_path / "large.onnx"
    b = sardonyx.Builder(opset=20)
    b.output(b.op.Neg(b.initializer(np.ones(1 << 20, np.float32), "w")))
    b.model().save(large)
    folder = tmp_path / "disk"
    folder.mkdir()
    old = some_model()
    script = [sys.executable, "-c", SAVE_ON_A_FULL_DISK]
    arguments = [str(large), str(folder / "m.onnx"), way, str(external_bytes)]
    if way == "disk":
        # A file system of 2 MB, seen by these processes alone.
        old.save(tmp_path / "old.onnx", external_bytes=1000)
        prepare = (
            f"mount -t tmpfs -o size=2m none {folder} && cp {tmp_path}/old.onnx* {folder} && "
            f"cd {folder} && for f in old.onnx*; do :; done && mv old.onnx m.onnx && "
            '"$@" && sha256sum m.onnx && ls | wc -l && sha256sum ../old.onnx'
        )
        done = subprocess.run(
            ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", prepare, "sh",
             *script, *arguments], capture_output=True, text=True, check=False,
        )  # fmt: skip
        if "unshare" in done.stderr or "mount" in done.stderr:
            return  # not allowed here: the limit stands for it
        number, after, count, before = done.stdout.splitlines()
        assert (number, count) == ("28", "2")  # ENOSPC
        assert after.split()[0] == before.split()[0]
        return
    old.save(folder / "m.onnx", external_bytes=1000)
    before_files = {one.name: one.read_bytes() for one in folder.iterdir()}
    done = subprocess.run([*script, *arguments], capture_output=True, text=True, check=True)
    assert done.stdout == "27\n"  # EFBIG
    assert {one.name: one.read_bytes() for one in folder.iterdir()} == before_files
    assert sardonyx.load(folder / "m.onnx") == old


SAVE_FOR_EVER = """
import sys, sardonyx
models = [sardonyx.load(path) for path in sys.argv[1:3]]
print("ready", flush=True)
while True:
    for model in models:
        model.save(sys.argv[3], external_bytes=int(sys.argv[4]))
"""


@pytest.mark.parametrize("external_bytes", [0, 1000])
def test_a_kill_loses_nothing(tmp_path: pathlib.Path, external_bytes: int) -> None:
    """The file is one of the two models at any time, and the next save leaves no others behind."""
    models = []
    for value in (1, 2):
        b = sardonyx.Builder(opset=20)
        b.output(b.op.Neg(b.initializer(np.full(1 << 19, value, np.float32), "w")))
        models.append(b.model())
        models[-1].save(tmp_path / f"{value}.onnx")
    folder = tmp_path / "saved"
    folder.mkdir()
    path = folder / "m.onnx"
    delays = random.Random(external_bytes)
    for _ in range(30 if FULL else 3):
        models[0].save(path, external_bytes=external_bytes)
        child = subprocess.Popen(
            [sys.executable, "-c", SAVE_FOR_EVER, str(tmp_path / "1.onnx"),
             str(tmp_path / "2.onnx"), str(path), str(external_bytes)], stdout=subprocess.PIPE,
        )  # fmt: skip
        assert child.stdout is not None
        child.stdout.readline()
        with pytest.raises(subprocess.TimeoutExpired):
            child.wait(delays.uniform(0.0, 0.05))
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
        assert sardonyx.load(path) in models
    models[1].save(path, external_bytes=external_bytes)
    assert sardonyx.load(path) == models[1]
    assert len(list(folder.iterdir())) == (2 if external_bytes else 1)


@pytest.mark.skipif(not FULL, reason="writes more than 2 GiB: `tools/dev test --full`")
def test_more_than_two_gib(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "large.onnx"
    b = sardonyx.Builder(opset=20)
    total = b.input("x", sardonyx.FLOAT)
    for i in range(5):
        weight = b.initializer(np.full(1 << 27, i, np.float32), f"w{i}")  # 512 MiB each
        total = total + weight[-1]
    b.output(total, name="y")
    model = b.model()
    with pytest.raises(sardonyx.EvalError, match="2 GiB"):
        model.save(path)
    assert not list(tmp_path.iterdir())
    model.save(path, external_bytes=1024, file_bytes=1 << 30)
    again = sardonyx.load(path)
    assert float(again.run({"x": np.float32(1)})[0]) == 11
    assert len(list(tmp_path.iterdir())) == 4
