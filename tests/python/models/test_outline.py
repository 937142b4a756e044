"""Equal blocks as one function: `decompile --outline`."""

from __future__ import annotations

import pathlib
import resource
import subprocess

import numpy as np
import onnx
import onnx.parser
import onnxruntime
import pytest
import sardonyx
from onnx import helper, numpy_helper

from places import PROGRAM

SIZE = 8


def transformer(layers: int) -> onnx.ModelProto:
    """Layers with weights of their own; one mask and one scale for all."""
    rng = np.random.default_rng(1)
    nodes, weights = [], {"scale": np.float32(0.25), "shape": np.array([0, -1, SIZE])}
    x = "x"
    for i in range(layers):
        for name, shape in {"q": (SIZE, SIZE), "k": (SIZE, SIZE), "g": (SIZE,)}.items():
            weights[f"l{i}.{name}"] = rng.standard_normal(shape).astype(np.float32)
        nodes += [
            helper.make_node("MatMul", [x, f"l{i}.q"], [f"q{i}"]),
            helper.make_node("MatMul", [x, f"l{i}.k"], [f"k{i}"]),
            helper.make_node("Mul", [f"q{i}", f"k{i}"], [f"m{i}"]),
            helper.make_node("Mul", [f"m{i}", "scale"], [f"s{i}"]),
            helper.make_node("Add", [f"s{i}", "mask"], [f"a{i}"]),
            helper.make_node("Softmax", [f"a{i}"], [f"p{i}"], axis=-1),
            helper.make_node("Reshape", [f"p{i}", "shape"], [f"r{i}"]),
            helper.make_node("Add", [x, f"r{i}"], [f"h{i}"]),
            helper.make_node("LayerNormalization", [f"h{i}", f"l{i}.g"], [f"n{i}"], epsilon=1e-6),
        ]
        x = f"n{i}"
    nodes.append(helper.make_node("Identity", [x], ["y"]))
    shape = ["N", 3, SIZE]
    graph = helper.make_graph(
        nodes, "net",
        [helper.make_tensor_value_info(name, 1, shape) for name in ("x", "mask")],
        [helper.make_tensor_value_info("y", 1, shape)],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in weights.items()],
    )  # fmt: skip
    imports = [helper.make_opsetid("", 20)]
    return helper.make_model(graph, opset_imports=imports, ir_version=9)


def outlined(model: onnx.ModelProto, folder: pathlib.Path) -> tuple[str, onnx.ModelProto]:
    onnx.save(model, folder / "model.onnx")
    words = ["decompile", "model.onnx", "--outline", "-o", "model.py"]
    subprocess.run([PROGRAM, *words], check=True, cwd=folder, capture_output=True)
    subprocess.run(
        [PROGRAM, "build", "model.py", "-o", "built.onnx"],
        check=True, cwd=folder, capture_output=True,
    )  # fmt: skip
    return (folder / "model.py").read_text(), onnx.load(folder / "built.onnx")


def test_a_transformer_reads_as_one_layer(tmp_path: pathlib.Path) -> None:
    model = transformer(12)
    text, built = outlined(model, tmp_path)
    assert [function.name for function in built.functions] == ["block_1"]
    assert sum(node.op_type == "block_1" for node in built.graph.node) == 12
    assert text.count("op.LayerNormalization") == 1 and text.count("block_1(") == 13
    onnx.checker.check_model(built, full_check=True)
    rng = np.random.default_rng(2)
    given = {name: rng.standard_normal((2, 3, SIZE)).astype(np.float32) for name in ("x", "mask")}
    before, after = (
        onnxruntime.InferenceSession(one.SerializeToString()).run(None, given)[0]
        for one in (model, built)
    )
    np.testing.assert_allclose(before, after, rtol=1e-5, atol=1e-6)
    ours = [sardonyx.Model(one)(**given) for one in (model, built)]
    np.testing.assert_array_equal(ours[0], ours[1])
    assert sardonyx.decompile(model, outline=True).count("block_1(") == 13
    assert "block_1" not in sardonyx.decompile(model)


def test_blocks_that_are_wired_otherwise_stay(tmp_path: pathlib.Path) -> None:
    text = """< ir_version: 8, opset_import: ["" : 18] >
    g (float[4] x) => (float[4] y) {
        a1 = Exp(x) b1 = Neg(a1) c1 = Add(a1, b1) d1 = Mul(c1, x)
        a2 = Exp(d1) b2 = Neg(a2) c2 = Add(b2, a2) d2 = Mul(c2, d1)
        a3 = Exp(d2) b3 = Neg(a3) c3 = Add(a3, a3) y = Mul(c3, d2)
    }"""
    written, built = outlined(onnx.parser.parse_model(text), tmp_path)
    assert "block" not in written and not built.functions


def test_results_of_inner_blocks(tmp_path: pathlib.Path) -> None:
    """Values of one block that others read become its results, in all."""
    text = """< ir_version: 8, opset_import: ["" : 18] >
    g (float[4] x) => (float[4] y, float[4] b2) {
        a1 = Exp(x) b1 = Neg(a1) c1 = Sigmoid(b1) d1 = Relu(c1)
        a2 = Exp(d1) b2 = Neg(a2) c2 = Sigmoid(b2) d2 = Relu(c2)
        a3 = Exp(d2) b3 = Neg(a3) c3 = Sigmoid(b3) d3 = Relu(c3)
        y = Add(d3, d1)
    }"""
    model = onnx.parser.parse_model(text)
    written, built = outlined(model, tmp_path)
    assert written.count("block_1(") == 4
    x = np.linspace(-1, 1, 4, dtype=np.float32)
    for one, other in zip(sardonyx.Model(model)(x), sardonyx.Model(built)(x), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("domain", ["blocks", "local"])
def test_models_with_functions(tmp_path: pathlib.Path, domain: str) -> None:
    text = f"""< ir_version: 8, opset_import: ["" : 18, "{domain}" : 1] >
    g (float[4] x) => (float[4] y) {{
        a1 = {domain}.f(x) b1 = Neg(a1) c1 = Relu(b1)
        a2 = {domain}.f(c1) b2 = Neg(a2) c2 = Relu(b2)
        a3 = {domain}.f(c2) b3 = Neg(a3) y = Relu(b3)
    }}
    < domain: "{domain}", opset_import: ["" : 18] > f (x) => (y) {{ y = Exp(x) }}"""
    _, built = outlined(onnx.parser.parse_model(text), tmp_path)
    names = {(one.domain, one.name) for one in built.functions}
    assert (domain, "f") in names
    assert (("blocks", "block_1") in names) == (domain == "local")


def test_many_blocks_take_time_in_proportion(tmp_path: pathlib.Path) -> None:
    """Against writing each node: it took 18 times as long, now less than twice as long."""
    nodes = [
        helper.make_node(["Abs", "Neg", "Exp", "Tanh"][i % 4], [f"v{i}"], [f"v{i + 1}"])
        for i in range(24000)
    ]
    ends = [helper.make_tensor_value_info(name, 1, ["N"]) for name in ("v0", "v24000")]
    graph = helper.make_graph(nodes, "net", ends[:1], ends[1:])
    imports = [helper.make_opsetid("", 20)]
    onnx.save(helper.make_model(graph, opset_imports=imports, ir_version=9), tmp_path / "m.onnx")
    seconds = []
    for words in ([], ["--outline"]):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        subprocess.run(
            [PROGRAM, "decompile", "m.onnx", "-o", "m.py", *words],
            check=True, cwd=tmp_path, capture_output=True,
        )  # fmt: skip
        seconds.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)
    assert (tmp_path / "m.py").read_text().count("block_1(") == 6001
    assert seconds[1] < 6 * seconds[0]
