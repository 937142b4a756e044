"""How time grows with size, where it must grow no faster: ten times the size, ten times the time.

    python bench/growth.py [--json FILE]

sardonyx must be importable (installed, or PYTHONPATH=build/release/python), and the program is that
of SDX_BUILD, build/release by default.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import sardonyx
from onnx import TensorProto, helper

PROGRAM = Path(os.environ.get("SDX_BUILD", "build/release")).resolve() / "sardonyx"
SIZES = (1_000, 10_000, 100_000, 1_000_000)


def save(graph: onnx.GraphProto, path: Path) -> str:
    imports = [helper.make_opsetid("", 18)]
    onnx.save(helper.make_model(graph, opset_imports=imports, ir_version=9), path)
    return str(path)


def chain_of_nodes(size: int, folder: Path) -> float:
    """Preparing a model of so many elementwise nodes, each of which reads the one before."""
    graph = onnx.GraphProto(name="g")
    graph.input.append(helper.make_tensor_value_info("v0", TensorProto.FLOAT, [2]))
    graph.output.append(helper.make_tensor_value_info(f"v{size}", TensorProto.FLOAT, [2]))
    for i in range(size):
        graph.node.add(op_type="Neg", input=[f"v{i}"], output=[f"v{i + 1}"])
    model = sardonyx.load(save(graph, folder / "chain.onnx"))
    seconds = []
    for _ in range(2):
        started = time.perf_counter()
        model.run({"v0": np.ones(2, np.float32)}, threads=1)
        seconds.append(time.perf_counter() - started)
    return seconds[0] - seconds[1]


def node_of_many_inputs(size: int, folder: Path) -> float:
    """The first run of a Sum of so many values."""
    graph = onnx.GraphProto(name="g")
    graph.input.append(helper.make_tensor_value_info("x", TensorProto.FLOAT, [2]))
    graph.output.append(helper.make_tensor_value_info("y", TensorProto.FLOAT, [2]))
    names = [f"v{i}" for i in range(size)]
    for name in names:
        graph.node.add(op_type="Neg", input=["x"], output=[name])
    graph.node.add(op_type="Sum", input=names, output=["y"])
    model = sardonyx.load(save(graph, folder / "wide.onnx"))
    started = time.perf_counter()
    model.run({"x": np.ones(2, np.float32)}, threads=1)
    return time.perf_counter() - started


def einsum_of_many(size: int, folder: Path) -> float:
    """Einsum of so many operands."""
    graph = onnx.GraphProto(name="g")
    graph.input.append(helper.make_tensor_value_info("x", TensorProto.FLOAT, [2]))
    graph.output.append(helper.make_tensor_value_info("y", TensorProto.FLOAT, [2]))
    equation = ",".join(["a"] * size) + "->a"
    graph.node.append(helper.make_node("Einsum", ["x"] * size, ["y"], equation=equation))
    model = sardonyx.load(save(graph, folder / "einsum.onnx"))
    started = time.perf_counter()
    model.run({"x": np.ones(2, np.float32)}, threads=1)
    return time.perf_counter() - started


def functions_to_scripts(size: int, _: Path) -> float:
    """Decompiling a model that calls so many functions."""
    imports = [helper.make_opsetid("", 18), helper.make_opsetid("local", 1)]
    neg = helper.make_node("Neg", ["a"], ["b"])
    names = ["x", *(f"v{i}" for i in range(1, size)), "y"]
    model = helper.make_model(
        helper.make_graph(
            [
                helper.make_node(f"f{i}", [names[i]], [names[i + 1]], domain="local")
                for i in range(size)
            ],
            "g",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])],
        ),
        opset_imports=imports,
        ir_version=9,
        functions=[
            helper.make_function("local", f"f{i}", ["a"], ["b"], [neg], imports)
            for i in range(size)
        ],
    ).SerializeToString()
    started = time.perf_counter()
    sardonyx.decompile(model)
    return time.perf_counter() - started


def sequence_in_a_loop(size: int, folder: Path) -> float:
    """A loop of so many iterations, each of which inserts into a sequence."""
    sequence = helper.make_tensor_sequence_value_info
    body = helper.make_graph(
        [
            helper.make_node("SequenceInsert", ["s", "i"], ["t"]),
            helper.make_node("Identity", ["c"], ["d"]),
        ],
        "body",
        [
            helper.make_tensor_value_info("i", TensorProto.INT64, []),
            helper.make_tensor_value_info("c", TensorProto.BOOL, []),
            sequence("s", TensorProto.INT64, None),
        ],
        [
            helper.make_tensor_value_info("d", TensorProto.BOOL, []),
            sequence("t", TensorProto.INT64, None),
        ],
    )
    nodes = [
        helper.make_node("SequenceEmpty", [], ["e"], dtype=TensorProto.INT64),
        helper.make_node("Loop", ["n", "", "e"], ["f"], body=body),
        helper.make_node("SequenceLength", ["f"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("n", TensorProto.INT64, [])],
        [helper.make_tensor_value_info("y", TensorProto.INT64, [])],
    )
    model = sardonyx.load(save(graph, folder / "loop.onnx"))
    started = time.perf_counter()
    model.run({"n": np.array(size)})
    return time.perf_counter() - started


def scripts_that_call(size: int, folder: Path, first: str = "x + 1.0") -> float:
    """`sardonyx check` of so many scripts, each of which calls the one before."""
    lines = [
        "from sardonyx import opset21, script",
        "@script()",
        "def f0(x):",
        f"    return {first}",
    ]
    for i in range(1, size):
        lines += ["@script()", f"def f{i}(x):", f"    return f{i - 1}(x) + 1.0"]
    path = folder / "chain.py"
    path.write_text("\n".join(lines) + "\n")
    started = time.perf_counter()
    is_right = subprocess.run([PROGRAM, "check", path], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL).returncode == 0  # fmt: skip
    assert is_right == (first == "x + 1.0")
    return time.perf_counter() - started


def scripts_that_call_a_wrong_one(size: int, folder: Path) -> float:
    """The same where the first of them is wrong, and so all are."""
    return scripts_that_call(size, folder, "x + nothing")


def info(name: str) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, [2])


def inputs_with_defaults(size: int, _: Path) -> float:
    """`verify` of a model of so many initializers that are inputs too."""
    graph = onnx.GraphProto(name="g", output=[info("y")])
    names = [f"w{i}" for i in range(size)]
    for name in names:
        graph.input.append(info(name))
        graph.initializer.append(helper.make_tensor(name, TensorProto.FLOAT, [2], [1.0, 2.0]))
    # A node takes 65,535 inputs at most.
    parts = [names[first : first + 50_000] for first in range(0, size, 50_000)]
    for i, part in enumerate(parts):
        graph.node.add(op_type="Sum", input=part, output=[f"part{i}"])
    graph.node.add(op_type="Sum", input=[f"part{i}" for i in range(len(parts))], output=["y"])
    imports = [helper.make_opsetid("", 8)]
    model = sardonyx.load(helper.make_model(graph, opset_imports=imports, ir_version=3))
    started = time.perf_counter()
    assert not model.verify()
    return time.perf_counter() - started


def many_outputs(size: int, _: Path) -> float:
    """The differences between two models of so many outputs."""
    graph = onnx.GraphProto(name="g", input=[info("x")])
    for i in range(size):
        graph.node.add(op_type="Neg", input=["x"], output=[f"y{i}"])
        graph.output.append(info(f"y{i}"))
    imports = [helper.make_opsetid("", 18)]
    data = helper.make_model(graph, opset_imports=imports, ir_version=9).SerializeToString()
    model, other = sardonyx.load(data), sardonyx.load(data)
    started = time.perf_counter()
    assert not model.diff(other)
    return time.perf_counter() - started


def many_attributes(size: int, _: Path) -> float:
    """Decompiling a call with so many attributes."""
    imports = [helper.make_opsetid("", 18), helper.make_opsetid("local", 1)]
    names = [f"a{i}" for i in range(size)]
    node = helper.make_node("f", ["x"], ["y"], domain="local")
    node.attribute.extend(helper.make_attribute(name, 1) for name in names)
    neg = helper.make_node("Neg", ["a"], ["b"])
    model = helper.make_model(
        helper.make_graph([node], "g", [info("x")], [info("y")]),
        opset_imports=imports,
        ir_version=9,
        functions=[helper.make_function("local", "f", ["a"], ["b"], [neg], imports, names)],
    ).SerializeToString()
    started = time.perf_counter()
    sardonyx.decompile(model)
    return time.perf_counter() - started


ROWS: list[tuple[str, Callable[[int, Path], float], int]] = [
    ("prepare a chain of nodes", chain_of_nodes, 1_000_000),
    ("prepare a node of many inputs", node_of_many_inputs, 10_000),
    ("Einsum of many operands", einsum_of_many, 10_000),
    ("decompile calls of many functions", functions_to_scripts, 10_000),
    ("decompile a call of many attributes", many_attributes, 10_000),
    ("verify inputs that have defaults", inputs_with_defaults, 100_000),
    ("diff of graphs of many outputs", many_outputs, 100_000),
    ("SequenceInsert in a Loop", sequence_in_a_loop, 100_000),
    ("check scripts that call each other", scripts_that_call, 1_000),
    ("the same, the first one wrong", scripts_that_call_a_wrong_one, 1_000),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    table: dict[str, dict[int, float]] = {}
    print(f"{'seconds':36}" + "".join(f"{size:>12}" for size in (100, *SIZES)))
    with tempfile.TemporaryDirectory() as name:
        for row, measure, largest in ROWS:
            sizes = [size for size in (100, *SIZES) if size <= largest]
            table[row] = {size: measure(size, Path(name)) for size in sizes}
            print(f"{row:36}" + "".join(f"{s:12.4f}" for s in table[row].values()), flush=True)
    if options.json:
        options.json.write_text(json.dumps(table))


if __name__ == "__main__":
    main()
