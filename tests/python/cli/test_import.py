"""`sardonyx import`: files of torch.export.save, made here without PyTorch, become models without
Python."""

from __future__ import annotations

import io
import json
import pathlib
import random
import struct
import subprocess
import zipfile
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import onnx
import onnx.reference
import pytest
import sardonyx
import sardonyx.torch

from places import PROGRAM

RANDOM = np.random.default_rng(0)
# What PyTorch numbers its element types with in these files.
NUMBERS = {"float32": 7, "int64": 5, "bool": 12, "float64": 8, "complex64": 10}
ROWS = {"as_expr": {"expr_str": "Symbol('s31', positive=True, integer=True)",
                    "hint": {"as_int": 3}}}  # fmt: skip


def size(one: Any) -> Any:
    return {"as_int": one} if isinstance(one, int) else one


def meta(dtype: str, sizes: list[Any], strides: list[int], offset: int = 0) -> dict[str, Any]:
    return {"dtype": NUMBERS[dtype], "sizes": [size(one) for one in sizes],
            "strides": [size(one) for one in strides], "storage_offset": size(offset),
            "layout": 7, "device": {"type": "cpu", "index": None}}  # fmt: skip


def tensor(name: str) -> dict[str, Any]:
    return {"as_tensor": {"name": name}}


def node(target: str, outputs: list[str], line: int = 0, **inputs: Any) -> dict[str, Any]:
    """A call; an argument that is a string is a tensor's name."""
    args = [
        {"name": name, "arg": tensor(one) if isinstance(one, str) else one, "kind": 1}
        for name, one in inputs.items()
    ]
    trace = f'File "net.py", line {line}, in forward\n    return self.layer(x)'
    return {"target": f"torch.ops.aten.{target}", "inputs": args,
            "outputs": [tensor(one) for one in outputs], "name": outputs[0],
            "metadata": {"nn_module_stack": "L__self__,,net.Net;L__self___a,a,net.Layer",
                         "stack_trace": trace}}  # fmt: skip


class File:
    """What is in a .pt2 file, which tests may change before it is written."""

    def __init__(self, weights: Mapping[str, tuple[Any, np.ndarray[Any, Any]]]) -> None:
        """`weights`: by their names, what describes them, and their storages."""
        self.storages = {f"weight_{i}": one for i, (_, one) in enumerate(weights.values())}
        self.config = {
            name: {"path_name": f"weight_{i}", "is_param": True, "use_pickle": False,
                   "tensor_meta": described}
            for i, (name, (described, _)) in enumerate(weights.items())
        }  # fmt: skip
        self.values: dict[str, Any] = {
            self.placeholder(name): one["tensor_meta"] for name, one in self.config.items()
        }
        self.inputs: list[str] = []
        self.nodes: list[Any] = []
        self.outputs: list[str] = []
        self.changes: list[str] = []
        self.major = 8
        self.bounds: Any = {}

    @staticmethod
    def placeholder(name: str) -> str:
        return "p_" + name.replace(".", "_")

    def model(self) -> Any:
        specs: list[Any] = [
            {"parameter": {"arg": {"name": self.placeholder(name)}, "parameter_name": name}}
            for name in self.config
        ]
        specs += [{"user_input": {"arg": tensor(one)}} for one in self.inputs]
        leaf = {"type": None, "context": None, "children_spec": []}
        keys = json.dumps([f"out{i}" for i in range(len(self.outputs))])
        leaves = [leaf for _ in self.outputs]
        tree = {"type": "builtins.dict", "context": keys, "children_spec": leaves}
        return {
            "schema_version": {"major": self.major, "minor": 20},
            "range_constraints": self.bounds,
            "graph_module": {
                "graph": {
                    "inputs": [tensor(one) for one in self.values], "nodes": self.nodes,
                    "outputs": [tensor(one) for one in self.outputs],
                    "tensor_values": self.values, "sym_int_values": {},
                    "is_single_tensor_return": False,
                },
                "signature": {
                    "input_specs": specs,
                    "output_specs": [{"user_output": {"arg": tensor(one)}} for one in self.outputs],
                },
                "module_call_graph": [{"fqn": "", "signature": {
                    "out_spec": json.dumps([1, tree])}}],
            },
        }  # fmt: skip

    def data(self, method: int = zipfile.ZIP_STORED) -> bytes:
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", method) as archive:
            for name, one in self.storages.items():
                archive.writestr(f"net/data/weights/{name}", one.tobytes())
            config = json.dumps({"config": self.config})
            archive.writestr("net/data/weights/model_weights_config.json", config)
            archive.writestr("net/byteorder", "little")
            archive.writestr("net/models/model.json", json.dumps(self.model()))
        return out.getvalue()


def mlp() -> tuple[File, Callable[[Any], Any]]:
    """A layer whose weight is stored transposed, another one that begins inside its storage."""
    stored = RANDOM.standard_normal((8, 16)).astype(np.float32)
    second = RANDOM.standard_normal(3 + 16 * 4).astype(np.float32)
    bias = RANDOM.standard_normal(16).astype(np.float32)
    made = File({
        "a.weight": (meta("float32", [16, 8], [1, 16]), stored),
        "a.bias": (meta("float32", [16], [1]), bias),
        "b.weight": (meta("float32", [4, 16], [16, 1], 3), second),
    })  # fmt: skip
    made.inputs = ["x"]
    for name, width in (("x", 8), ("linear", 16), ("relu_", 16), ("linear_1", 4)):
        made.values[name] = meta("float32", [ROWS, width], [width, 1])
    made.nodes = [
        node("linear.default", ["linear"], 12, input="x", weight="p_a_weight", bias="p_a_bias"),
        node("relu_.default", ["relu_"], 13, self="linear"),
        node("linear.default", ["linear_1"], 14, input="relu_", weight="p_b_weight"),
    ]
    made.outputs = ["linear_1"]
    w2 = second[3:].reshape(4, 16)
    return made, lambda x: np.maximum(x @ stored + bias, 0) @ w2.T


def program(*words: Any, status: int = 0, folder: pathlib.Path | None = None) -> str:
    """What the program says, in a world without Python."""
    environment = {"PATH": "/nowhere", "SARDONYX_PYTHON": "/nowhere/python"}
    done = subprocess.run(
        [PROGRAM, *map(str, words)], env=environment, capture_output=True, text=True, check=False,
        cwd=folder,
    )  # fmt: skip
    assert done.returncode == status, done.stdout + done.stderr
    return done.stderr


def test_a_model_without_python(tmp_path: pathlib.Path) -> None:
    made, wanted = mlp()
    (tmp_path / "net.pt2").write_bytes(made.data())
    program("import", "net.pt2", "-o", "net.onnx", "--dim", "s31=rows", folder=tmp_path)
    model = onnx.load(tmp_path / "net.onnx")
    onnx.checker.check_model(model, full_check=True)
    assert model.graph.input[0].type.tensor_type.shape.dim[0].dim_param == "rows"
    assert [one.name for one in model.graph.output] == ["out0"]
    assert sorted(one.name for one in model.graph.initializer) == ["a.bias", "a.weight", "b.weight"]
    for rows in (3, 5):
        x = RANDOM.standard_normal((rows, 8)).astype(np.float32)
        found = sardonyx.load(tmp_path / "net.onnx")(x)
        np.testing.assert_allclose(found, wanted(x), rtol=1e-4, atol=1e-5)
        (found,) = onnx.reference.ReferenceEvaluator(model).run(None, {"x": x})
        np.testing.assert_allclose(found, wanted(x), rtol=1e-4, atol=1e-5)
    props = {one.key: one.value for one in model.graph.node[0].metadata_props}
    assert props["namespace"] == ": net.Net/a: net.Layer/linear: aten.linear.default"
    assert "net.py" in props["pkg.torch.onnx.stack_trace"]


def test_a_script_without_python(tmp_path: pathlib.Path) -> None:
    made, wanted = mlp()
    (tmp_path / "net.pt2").write_bytes(made.data())
    program("import", "net.pt2", "-o", "net.py", folder=tmp_path)
    text = (tmp_path / "net.py").read_text()
    assert 'w = load_weights("net.safetensors")' in text.replace("'", '"')
    assert 'aten.linear(x, w["a.weight"], w["a.bias"])' in text
    words = [PROGRAM, "check", "net.py"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "no errors or warnings" in done.stderr, done.stdout + done.stderr
    program("build", "net.py", "-o", "built.onnx", folder=tmp_path)
    program("import", "net.pt2", "-o", "net.onnx", folder=tmp_path)
    x = RANDOM.standard_normal((3, 8)).astype(np.float32)
    direct = sardonyx.load(tmp_path / "net.onnx")(x)
    np.testing.assert_array_equal(sardonyx.load(tmp_path / "built.onnx")(x), direct)
    np.testing.assert_allclose(direct, wanted(x), rtol=1e-4, atol=1e-5)


def test_through_pipes(tmp_path: pathlib.Path) -> None:
    made, _ = mlp()
    (tmp_path / "net.pt2").write_bytes(made.data())
    program("import", "net.pt2", "-o", "net.onnx", folder=tmp_path)
    (tmp_path / "out").mkdir()
    for words in (["net.pt2", "-o", "-"], ["-", "-o", "-"]):
        done = subprocess.run([PROGRAM, "import", *words], input=made.data(), capture_output=True,
                              check=True, cwd=tmp_path)  # fmt: skip
        assert done.stdout == (tmp_path / "net.onnx").read_bytes()
        assert sorted(one.name for one in tmp_path.iterdir()) == ["net.onnx", "net.pt2", "out"]
    done = subprocess.run([PROGRAM, "import", "-", "-o", "-"], input=made.data()[:-40],
                          capture_output=True, check=False, cwd=tmp_path)  # fmt: skip
    assert done.returncode == 1 and done.stdout == b""
    assert b"error: " in done.stderr


@pytest.mark.parametrize(("bounds", "dim"), [
    ({"min_val": 2, "max_val": 512}, "s31 <= 512"),
    ({"min_val": 3, "max_val": None}, "3 <= s31"),
    ({"min_val": 4, "max_val": 9}, "4 <= s31 <= 9"),
    ({"min_val": 2, "max_val": None}, "s31"),  # torch takes 0 and 1, too
    ({"min_val": 0, "max_val": 2**70}, "s31"),
    ({"min_val": "x", "max_val": []}, "s31"),
    ([], "s31"),
])  # fmt: skip
def test_bounds_of_dimensions(tmp_path: pathlib.Path, bounds: Any, dim: str) -> None:
    made, _ = mlp()
    made.bounds = {"s31": bounds, 'x"\n': bounds}
    (tmp_path / "net.pt2").write_bytes(made.data())
    program("import", "net.pt2", "-o", "net.py", folder=tmp_path)
    text = (tmp_path / "net.py").read_text()
    assert f'def main(x: FLOAT["{dim}", 8]):' in text
    program("import", "net.pt2", "-o", "net.onnx", "--dim", "s31=n", folder=tmp_path)
    model = onnx.load(tmp_path / "net.onnx")
    assert model.graph.input[0].type.tensor_type.shape.dim[0].dim_param == "n"
    made.bounds = {"s31": {"min_val": 9, "max_val": 4}}
    (tmp_path / "net.pt2").write_bytes(made.data())
    told = program("import", "net.pt2", "-o", "net.onnx", folder=tmp_path, status=1)
    assert "no size lies between" in told


def test_python_reads_the_same(tmp_path: pathlib.Path) -> None:
    made, wanted = mlp()
    path = tmp_path / "net.pt2"
    path.write_bytes(made.data())
    exported = sardonyx.torch.convert(path)
    x = RANDOM.standard_normal((3, 8)).astype(np.float32)
    np.testing.assert_allclose(exported.compile()(x), wanted(x), rtol=1e-4, atol=1e-5)
    program("import", path, "-o", tmp_path / "net.py")
    assert (tmp_path / "net.py").read_text() == exported.to_script("net.safetensors")
    program("import", path, "-o", tmp_path / "net.onnx")
    assert (tmp_path / "net.onnx").read_bytes() == exported.to_model_bytes()


def test_operators_of_the_user(tmp_path: pathlib.Path) -> None:
    """The in-place `relu_` too is what the file says that `relu` is."""
    (tmp_path / "net.pt2").write_bytes(mlp()[0].data())
    (tmp_path / "mylib.py").write_text(
        "from sardonyx.torch import aten, operator\n\n\n"
        '@operator("aten::relu")\ndef relu(self):\n    return aten.neg(self)\n'
    )
    words = ("net.pt2", "--library", "mylib.py", "-o")
    program("import", *words, "net.py", folder=tmp_path)
    program("import", *words, "net.onnx", folder=tmp_path)
    text = (tmp_path / "net.py").read_text()
    assert "\nimport mylib\n" in text
    assert "mylib.relu(linear)" in text
    program("build", "net.py", "-o", "built.onnx", folder=tmp_path)
    for name in ("net.onnx", "built.onnx"):
        model = onnx.load(tmp_path / name)
        onnx.checker.check_model(model, full_check=True)
        kinds = [one.op_type for one in model.graph.node if one.op_type != "Constant"]
        assert kinds == ["Gemm", "Neg", "Transpose", "MatMul"]


def test_writes_reach_views(tmp_path: pathlib.Path) -> None:
    made = File({})
    made.inputs = ["x"]
    made.values["x"] = meta("float32", [ROWS, 4], [4, 1])
    made.values["clone"] = meta("float32", [ROWS, 4], [4, 1])
    made.values["select"] = meta("float32", [ROWS], [4])
    made.values["mul_"] = meta("float32", [ROWS], [4])
    made.nodes = [
        node("clone.default", ["clone"], self="x"),
        node("select.int", ["select"], self="clone", dim={"as_int": 1}, index={"as_int": 2}),
        node("mul_.Scalar", ["mul_"], self="select", other={"as_float": 10.0}),
    ]
    made.outputs = ["clone"]
    (tmp_path / "v.pt2").write_bytes(made.data())
    program("import", "v.pt2", "-o", "v.onnx", folder=tmp_path)
    x = RANDOM.standard_normal((3, 4)).astype(np.float32)
    wanted = x.copy()
    wanted[:, 2] *= 10
    np.testing.assert_array_equal(sardonyx.load(tmp_path / "v.onnx")(x), wanted)


def test_all_problems_are_said_at_once(tmp_path: pathlib.Path) -> None:
    made, _ = mlp()
    made.nodes[0]["target"] = "torch.ops.aten.nothing.default"
    made.nodes[2]["target"] = "torch.ops.mine.other.default"
    (tmp_path / "net.pt2").write_bytes(made.data())
    said = program("import", "net.pt2", "-o", "net.onnx", status=1, folder=tmp_path)
    assert "2 problems" in said
    assert "`aten::nothing.default` is not in the library\n  --> net.py:12 in a" in said
    assert "`mine::other.default` is not in the library\n  --> net.py:14 in a" in said


def test_a_type_that_does_not_fit_is_said_by_the_line(tmp_path: pathlib.Path) -> None:
    made, _ = mlp()
    made.values["linear"]["sizes"][1] = size(17)
    (tmp_path / "net.pt2").write_bytes(made.data())
    said = program("import", "net.pt2", "-o", "net.onnx", status=1, folder=tmp_path)
    assert "--> net.py:12 in a" in said
    assert "`aten::linear.default`" in said


# --- Damaged files, and files that want to do harm


def refused(data: bytes, folder: pathlib.Path) -> str:
    path = folder / "bad.pt2"
    path.write_bytes(data)
    said = program("import", path, "-o", folder / "bad.onnx", status=1)
    assert not (folder / "bad.onnx").exists()
    with pytest.raises(sardonyx.torch.ExportError):
        sardonyx.torch.convert(path)
    return said


def changed(change: Callable[[File], object]) -> bytes:
    made, _ = mlp()
    change(made)
    return made.data()


def entry(made: File) -> Any:
    return made.config["b.weight"]


CASES: dict[str, tuple[Callable[[File], object], str]] = {
    "schema": (lambda f: setattr(f, "major", 9), "schema version 9, and 8 is read"),
    "pickled": (lambda f: entry(f).update(use_pickle=True), "is pickled, and nothing"),
    "outside": (lambda f: entry(f).update(path_name="../../etc/passwd"), "is missing in the file"),
    "offset": (lambda f: entry(f)["tensor_meta"].update(storage_offset=size(1 << 40)),
               "and its tensor needs"),
    "strides": (lambda f: entry(f)["tensor_meta"].update(strides=[size(-1), size(1)]), "strides"),
    "overflow": (lambda f: entry(f)["tensor_meta"].update(strides=[size(1 << 62), size(1 << 62)]),
                 "its tensor needs"),
    "repeated": (lambda f: entry(f)["tensor_meta"].update(
        sizes=[size(1 << 30)] * 2, strides=[size(0)] * 2), "and its tensor ["),
    "type": (lambda f: entry(f)["tensor_meta"].update(dtype=99), "element type 99"),
    "keyword": (lambda f: f.nodes[0]["inputs"][0].update(name="x=print(1), y"),
                "has an argument 'x=print(1), y'"),
    "reference": (lambda f: f.nodes[0]["inputs"][0]["arg"]["as_tensor"].update(name="nowhere"),
                  "reads 'nowhere', which nothing has made"),
    "nested": (lambda f: f.nodes[0]["inputs"][0].update(arg={"as_int": {"as_int": 1}}),
               "where a number is expected"),
    "twice": (lambda f: f.nodes.append(f.nodes[0]), "a value with the name 'linear'"),
    "kind": (lambda f: f.nodes[0]["inputs"][0].update(arg={"as_fire": 1}), "of the kind `as_fire`"),
    "size": (lambda f: f.values["linear"]["sizes"].__setitem__(
        0, {"as_expr": {"expr_str": "Symbol("}}), "a size that is not understood"),
    "open string": (lambda f: f.values["linear"]["sizes"].__setitem__(
        0, {"as_expr": {"expr_str": "Symbol('s31"}}), "a size that is not understood"),
    "deep size": (lambda f: f.values["linear"]["sizes"].__setitem__(
        0, {"as_expr": {"expr_str": "Add(" * 5000}}), "a size that is not understood"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_what_is_refused(case: str, tmp_path: pathlib.Path) -> None:
    change, words = CASES[case]
    assert words in refused(changed(change), tmp_path)


def test_archives_that_are_refused(tmp_path: pathlib.Path) -> None:
    made, _ = mlp()
    good = made.data()
    assert "not a .pt2 file" in refused(b"", tmp_path)
    assert "not a .pt2 file" in refused(good[: len(good) // 2], tmp_path)
    assert "compressed" in refused(made.data(zipfile.ZIP_DEFLATED), tmp_path)
    at = good.rindex(b"PK\x01\x02")
    for field, value in ((42, 1 << 31), (20, 1 << 31), (42, 0)):
        broken = bytearray(good)
        struct.pack_into("<I", broken, at + field, value)
        refused(bytes(broken), tmp_path)
    deep = io.BytesIO()
    with zipfile.ZipFile(deep, "w") as archive:
        archive.writestr("net/models/model.json", '{"a":' + "[" * 100_000)
    assert "nested too deeply" in refused(deep.getvalue(), tmp_path)


def test_names_stay_in_their_strings(tmp_path: pathlib.Path) -> None:
    name = "a'\"]; raise SystemExit('\"') #\\\n\x00"
    made, wanted = mlp()
    made.config[name] = made.config.pop("a.bias")
    made.values[File.placeholder(name)] = made.values["p_a_bias"]
    made.nodes[0]["inputs"][2]["arg"]["as_tensor"]["name"] = File.placeholder(name)
    path = tmp_path / "net.pt2"
    path.write_bytes(made.data())
    assert name in sardonyx.torch.convert(path).weights
    program("import", path, "-o", tmp_path / "net.onnx")
    x = RANDOM.standard_normal((3, 8)).astype(np.float32)
    found = sardonyx.load(tmp_path / "net.onnx")(x)
    np.testing.assert_allclose(found, wanted(x), rtol=1e-4, atol=1e-5)


def test_altered_bytes(tmp_path: pathlib.Path) -> None:
    """What is altered is read, refused, or found wrong by the compiler; nothing else happens."""
    chance = random.Random(0)
    made, _ = mlp()
    good = made.data()
    start = good.index(b'{"schema_version"')
    for i in range(60):
        data = bytearray(good)
        for _ in range(chance.randrange(1, 4)):
            data[chance.randrange(start if i % 2 else 0, len(data))] = chance.randrange(256)
        path = tmp_path / "net.pt2"
        path.write_bytes(bytes(data))
        try:
            sardonyx.torch.convert(path)
        except sardonyx.torch.ExportError as error:
            assert str(error)


def test_the_whole_library_is_in_the_program(tmp_path: pathlib.Path) -> None:
    """Each name that it has in Python means a script to the program as well."""
    names = dir(sardonyx.torch.aten)
    assert len(names) > 800
    text = (
        "from sardonyx import FLOAT, opset20 as op, script\n"
        "from sardonyx.torch import aten\n\n\n"
        "@script(default_opset=op)\n"
        f"def main(x: FLOAT[3]):\n    all = [{', '.join(f'aten.{name}' for name in names)}]\n"
        "    return op.Identity(x) if len(all) > 0 else x\n"
    )
    (tmp_path / "names.py").write_text(text)
    program("build", "names.py", "-o", "names.onnx", folder=tmp_path)
    (tmp_path / "wrong.py").write_text(text.replace("aten.relu,", "aten.reluu,"))
    assert "did you mean `relu`?" in program(
        "build", "wrong.py", "-o", "w.onnx", status=1, folder=tmp_path
    )
