"""Weights from files and from Python's variables: mapped, named, shared, the same on every way."""

import importlib.util
import json
import pathlib
import struct
import subprocess
import sys
import time
from typing import Any

import numpy as np
import onnx
import onnx.numpy_helper
import pytest
from sardonyx import FLOAT, INT64, EvalError, Tensor, load_weights, script
from sardonyx import opset21 as op

from language import run_ort, run_reference
from places import PROGRAM

RANDOM = np.random.default_rng(7)
DTYPES = {"float32": "F32", "float64": "F64", "int64": "I64", "bool": "BOOL", "float16": "F16"}
DTYPES |= {"uint8": "U8", "int32": "I32"}


def write_safetensors(path: pathlib.Path, tensors: dict[str, np.ndarray], pad: bool = True) -> None:
    header: dict[str, Any] = {"__metadata__": {"format": "np"}}
    offset = 0
    for name, array in tensors.items():
        end = offset + array.nbytes
        header[name] = {
            "dtype": DTYPES[array.dtype.name],
            "shape": list(array.shape),
            "data_offsets": [offset, end],
        }
        offset = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8 if pad else (1 - len(text)) % 2)
    data = b"".join(array.tobytes() for array in tensors.values())
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def write_onnx(path: pathlib.Path, tensors: dict[str, np.ndarray], external: bool = False) -> None:
    graph = onnx.helper.make_graph(
        [], "g", [], [], [onnx.numpy_helper.from_array(a, n) for n, a in tensors.items()]
    )
    model = onnx.helper.make_model(graph)
    onnx.save(model, path, save_as_external_data=external, location="w.bin", size_threshold=0)


def layers(count: int, width: int) -> dict[str, np.ndarray]:
    tensors = {}
    for i in range(count):
        scale = np.float32(1 / width)
        tensors[f"layer.{i}.weight"] = RANDOM.normal(size=(width, width)).astype(np.float32) * scale
        tensors[f"layer.{i}.bias"] = RANDOM.normal(size=width).astype(np.float32)
    return tensors


MODEL = """\
from sardonyx import FLOAT, load_weights, opset21 as op, script

w = load_weights("{file}")


@script()
def f(x: FLOAT["N", {width}]) -> FLOAT["N", {width}]:
    for i in range(len(w) // 2):
        x = op.Relu(x @ w[f"layer.{{i}}.weight"] + w[f"layer.{{i}}.bias"])
    return x
"""


def expected(tensors: dict[str, np.ndarray], x: np.ndarray) -> np.ndarray:
    for i in range(len(tensors) // 2):
        x = np.maximum(x @ tensors[f"layer.{i}.weight"] + tensors[f"layer.{i}.bias"], 0)
    return x


def build(path: pathlib.Path, *words: str, status: int = 0) -> subprocess.CompletedProcess[str]:
    command = [PROGRAM, "build", path, "-o", path.with_suffix(".out.onnx"), *words]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    return done


def load_module(path: pathlib.Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("kind", ["safetensors", "npz", "onnx", "external.onnx"])
def test_a_model_of_many_layers(kind: str, tmp_path: pathlib.Path) -> None:
    tensors = layers(5, 16)
    file = tmp_path / f"w.{kind}"
    if kind == "npz":
        np.savez(file, **tensors)
    elif kind == "safetensors":
        write_safetensors(file, tensors)
    else:
        write_onnx(file, tensors, external=kind.startswith("external"))
    path = tmp_path / "script.py"
    path.write_text(MODEL.format(file=file.name, width=16))
    build(path)
    data = path.with_suffix(".out.onnx").read_bytes()
    module = load_module(path)
    assert module.f.to_model_bytes() == data
    model = onnx.load_from_string(data)
    onnx.checker.check_model(model, full_check=True)
    # The biases too, which are below the size from which on an array is one that has no key.
    assert [one.name for one in model.graph.initializer] == list(tensors)
    x = RANDOM.normal(size=(3, 16)).astype(np.float32)
    wanted = expected(tensors, x)
    for got in (run_ort(model, {"x": x})[0], run_reference(model, {"x": x})[0], module.f(x)):
        np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-5)


def test_np_load(tmp_path: pathlib.Path) -> None:
    a = RANDOM.normal(size=(32, 32)).astype(np.float32)
    b = RANDOM.normal(size=(32, 32)).astype(np.float32)
    np.save(tmp_path / "a.npy", a)
    np.savez(tmp_path / "b.npz", inner=b)
    path = tmp_path / "script.py"
    path.write_text(
        "import numpy as np\nfrom sardonyx import FLOAT, opset21 as op, script\n"
        "first = np.load('a.npy')\nsecond = np.load('b.npz')['inner']\n"
        "@script()\ndef f(x: FLOAT['N', 32]) -> FLOAT['N', 32]:\n"
        "    return x @ first @ second @ first\n"
    )
    build(path)
    model = onnx.load(path.with_suffix(".out.onnx"))
    assert [one.name for one in model.graph.initializer] == ["first", "second"]
    x = RANDOM.normal(size=(3, 32)).astype(np.float32)
    np.testing.assert_allclose(run_ort(model, {"x": x})[0], x @ a @ b @ a, rtol=1e-3)


def test_equal_arrays_are_one_initializer() -> None:
    first = RANDOM.normal(size=(16, 16)).astype(np.float32)
    same_bytes = first.copy()
    nested = {"deep": [first, (same_bytes, Tensor(first))]}
    proto = onnx.numpy_helper.from_array(first)

    class FromArray:
        def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
            return first

    class FromDlpack:
        def __dlpack__(self, **options: object) -> object:
            return first.__dlpack__(**options)

        def __dlpack_device__(self) -> tuple[int, int]:
            return first.__dlpack_device__()

    other = FromArray()
    third = FromDlpack()

    @script()
    def f(x: FLOAT["N", 16]) -> FLOAT["N", 16]:
        for each in nested["deep"][1]:
            x = x @ each
        return x @ first @ same_bytes @ proto @ op.Relu(other) @ op.Relu(third)

    model = f.to_model_proto()
    # Named after the array that the graph uses first, as the first item of nested["deep"][1].
    assert [one.name for one in model.graph.initializer] == ["same_bytes"]
    assert len(f.to_function_proto().node) > len(model.graph.node)
    x = RANDOM.normal(size=(2, 16)).astype(np.float32)
    np.testing.assert_allclose(run_ort(model, {"x": x})[0], f(x), rtol=1e-3, atol=1e-3)


def test_what_a_loop_tried_leaves_no_initializer() -> None:
    big = np.ones([300], np.float32)
    unused = np.zeros([300], np.float32)

    @script(default_opset=op)
    def f(x: FLOAT["N"], n: INT64) -> FLOAT["M"]:
        dead = x + unused  # noqa: F841
        for _ in range(n):
            x = op.Concat(x, big, axis=0)
        return x

    assert [one.name for one in f.to_model_proto().graph.initializer] == ["big"]


def test_load_weights_in_python(tmp_path: pathlib.Path) -> None:
    tensors = {
        "a b": np.arange(6, dtype=np.float32).reshape(2, 3),
        "half": np.array([1.5, -2], np.float16),
        "flags": np.array([True, False]),
        "scalar": np.array(3, np.int64),
        "none": np.zeros([0, 4], np.float64),
        "n\u00e4me\n": np.array([1], np.int32),
    }
    write_safetensors(tmp_path / "w.safetensors", tensors, pad=False)
    loaded = load_weights(tmp_path / "w.safetensors")
    assert list(loaded) == list(tensors)
    for name, array in tensors.items():
        assert isinstance(loaded[name], Tensor)
        np.testing.assert_array_equal(loaded[name].value, array)
        assert loaded[name].value.dtype == array.dtype
    large = np.zeros((300, 1000), np.float64)
    large[7, 9] = 1.5
    np.savez_compressed(tmp_path / "c.npz", x=tensors["a b"], large=large)
    loaded = load_weights(tmp_path / "c.npz")
    np.testing.assert_array_equal(loaded["x"].value, tensors["a b"])
    np.testing.assert_array_equal(loaded["large"].value, large)
    np.savez(tmp_path / "w.npz", x=tensors["a b"], s=np.array(["one", "two"]))
    loaded = load_weights(tmp_path / "w.npz")
    np.testing.assert_array_equal(loaded["x"].value, tensors["a b"])
    assert list(loaded["s"].value) == ["one", "two"]


def test_damaged_files(tmp_path: pathlib.Path) -> None:
    good = tmp_path / "good.safetensors"
    write_safetensors(good, {"a": np.arange(4, dtype=np.float32)})
    np.savez(tmp_path / "good.npz", a=np.arange(4, dtype=np.float32))
    np.savez_compressed(tmp_path / "small.npz", a=np.arange(400, dtype=np.float32))
    for file in (good, tmp_path / "good.npz", tmp_path / "small.npz"):
        data = file.read_bytes()
        bad = tmp_path / f"bad{file.suffix}"
        for length in range(0, len(data), 7):
            bad.write_bytes(data[:length])
            with pytest.raises(EvalError, match="bad"):
                load_weights(bad)
        for at in range(0, len(data), 3):
            bad.write_bytes(data[:at] + bytes([data[at] ^ 0x5A]) + data[at + 1 :])
            try:
                load_weights(bad)
            except EvalError as error:
                assert "bad" in str(error)
    for header in (
        {"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 16]}},
        {"a": {"dtype": "F32", "shape": [2**62, 4], "data_offsets": [0, 16]}},
        {"a": {"dtype": "Q9", "shape": [4], "data_offsets": [0, 16]}},
        {"a": {"dtype": "F32", "shape": [4], "data_offsets": [16, 0]}},
        {"a": {"dtype": "F32", "shape": [-4], "data_offsets": [0, 16]}},
        {"a": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}}
        | {"b": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}},
        {"a": 3},
        [],
    ):
        text = json.dumps(header).encode()
        bad = tmp_path / "bad.safetensors"
        bad.write_bytes(struct.pack("<Q", len(text)) + text + bytes(16))
        with pytest.raises(EvalError, match="bad"):
            load_weights(bad)


def test_a_missing_file_is_reported_at_the_call(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "script.py"
    path.write_text(MODEL.format(file="nowhere.safetensors", width=4))
    done = build(path, status=1)
    assert "unreadable-weights" in done.stderr and "script.py:3:18" in done.stderr
    write_safetensors(tmp_path / "w.safetensors", layers(1, 4))
    path.write_text(MODEL.format(file="w.safetensors", width=4).replace('weight"]', 'wieght"]'))
    done = build(path, status=1)
    assert "did you mean `'layer.0.weight'`?" in done.stderr


def sparse_safetensors(path: pathlib.Path, shapes: dict[str, list[int]]) -> None:
    """Zeros that take no room on the disk."""
    header, offset = {}, 0
    for name, shape in shapes.items():
        end = offset + 4 * int(np.prod(shape))
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.truncate(8 + len(text) + offset)


BIG = """\
from sardonyx import FLOAT, load_weights, opset21 as op, script

w = load_weights("big.safetensors")


@script()
def f(x: FLOAT["N", {width}]):
    total = 0.0
    for name, each in w.items():
        total = total + op.ReduceSum(x @ each, keepdims=0)
    return total
"""


PEAK = """\
import os, subprocess, sys
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
print(status, usage.ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10))
"""


def peak_megabytes(*command: str | pathlib.Path) -> tuple[int, float]:
    """The exit status, and the most memory that the program had at one time.

    A small process starts it: what the starting process has counts.
    """
    done = subprocess.run(
        [sys.executable, "-c", PEAK, *command], capture_output=True, text=True, check=True
    )
    status, megabytes = done.stdout.split()
    return int(status), float(megabytes)


def test_two_hundred_megabytes_are_mapped(tmp_path: pathlib.Path) -> None:
    sparse_safetensors(
        tmp_path / "big.safetensors", {f"w{i}": [1024, 6000 + 10 * i] for i in range(8)}
    )
    path = tmp_path / "script.py"
    path.write_text(BIG.format(width=1024))
    started = time.monotonic()
    status, megabytes = peak_megabytes(PROGRAM, "check", path)
    assert status == 0
    assert megabytes < 64, megabytes
    assert time.monotonic() - started < 5
    done = build(path)
    assert "bytes" in done.stdout
    assert path.with_suffix(".out.onnx").stat().st_size > 190_000_000


def test_more_than_two_gigabytes_are_refused(tmp_path: pathlib.Path) -> None:
    sparse_safetensors(tmp_path / "big.safetensors", {"a": [16, 20_000_000], "b": [16, 20_000_001]})
    path = tmp_path / "script.py"
    path.write_text(BIG.format(width=16))
    started = time.monotonic()
    done = build(path, status=1)
    assert "2 GiB" in done.stderr, done.stderr
    assert time.monotonic() - started < 10
