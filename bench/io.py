"""Loading, walking and saving models, beside onnx and onnx_ir.

    python bench/io.py [--nodes N] [--megabytes N]

Gives the best of several runs in milliseconds. A chain of nodes is loaded from bytes, its nodes and
values are walked as objects, and a model with one weight is saved; the limits are reading and
copying the file. The chain and a model of 80 layers with 21 MB of weights become scripts, the
second one a model again. Build the module for release before.
"""

from __future__ import annotations

import argparse
import gc
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import sardonyx

try:
    import onnx_ir
except ImportError:
    onnx_ir = None  # type: ignore[assignment]


def best(run: Callable[[], Any], rounds: int = 7) -> float:
    """The shortest time of several runs, in milliseconds."""
    times = []
    for _ in range(rounds):
        gc.collect()
        start = time.perf_counter()
        kept = run()
        times.append(time.perf_counter() - start)
        del kept
    return min(times) * 1000


def chain(nodes: int) -> bytes:
    """A model of so many nodes, each of which reads the one before."""
    names = [f"v{i}" for i in range(nodes + 1)]
    graph = onnx.helper.make_graph(
        [
            onnx.helper.make_node("Add", [names[i], names[i // 2]], [names[i + 1]], name=f"n{i}")
            for i in range(nodes)
        ],
        "chain",
        [onnx.helper.make_tensor_value_info(names[0], 1, ["N", 4])],
        [onnx.helper.make_tensor_value_info(names[-1], 1, ["N", 4])],
        value_info=[onnx.helper.make_tensor_value_info(name, 1, ["N", 4]) for name in names[1:-1]],
    )
    opsets = [onnx.helper.make_opsetid("", 20)]
    return onnx.helper.make_model(graph, opset_imports=opsets, ir_version=10).SerializeToString()


def walk(graph: Any) -> int:
    """All of ours: names, types and uses of values, operators of nodes."""
    seen = 0
    for node in graph:
        seen += len(node.op_type) + len(node.name)
        for value in (*node.inputs, *node.outputs):
            if value is not None:
                seen += len(value.name) + len(value.shape) + len(value.uses)
                seen += value.producer is not None
    return seen


def walk_ir(graph: Any) -> int:
    """The same of onnx_ir."""
    seen = 0
    for node in graph:
        seen += len(node.op_type) + len(node.name)
        for value in (*node.inputs, *node.outputs):
            if value is not None:
                seen += len(value.name) + len(value.shape) + len(value.uses())
                seen += value.producer() is not None
    return seen


def graphs(count: int) -> None:
    data = chain(count)
    print(f"{count} nodes                 ours     onnx  onnx_ir")
    ours, proto = best(lambda: sardonyx.load(data)), best(lambda: onnx.load_from_string(data))

    def load_ir() -> Any:
        return onnx_ir.from_proto(onnx.load_from_string(data))

    print(f"load bytes       {ours:10.2f} {proto:8.2f} {best(load_ir) if onnx_ir else 0:8.2f}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        path.write_bytes(data)
        ours, proto = best(lambda: sardonyx.load(path)), best(lambda: onnx.load(path))
        theirs_of_file = best(lambda: onnx_ir.load(path)) if onnx_ir else 0
        print(f"load file        {ours:10.2f} {proto:8.2f} {theirs_of_file:8.2f}")
    models = [sardonyx.load(data) for _ in range(7)]
    walked = []  # what is freed is not a part of the walk

    def walk_next() -> int:
        walked.append(models.pop())
        return walk(walked[-1].graph)

    theirs = [load_ir() for _ in range(7)] if onnx_ir else []
    first = best(walk_next)
    print(f"walk at first    {first:10.2f} {'-':>8} ", end="")
    print(f"{best(lambda: walk_ir(theirs[-1].graph)) if theirs else 0:8.2f}")
    model = sardonyx.load(data)
    again = best(lambda: walk(model.graph))
    print(f"walk again       {again:10.2f} {'-':>8} ", end="")
    print(f"{best(lambda: walk_ir(theirs[-1].graph)) if theirs else 0:8.2f}")
    print(f"decompile        {best(lambda: sardonyx.decompile(model)):10.2f}")


def layers(count: int, width: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        builder = sardonyx.Builder(opset=20)
        x = builder.input("x", sardonyx.FLOAT["N", width])
        random = np.random.default_rng(0)
        for i in range(count):
            weight = random.standard_normal((width, width), np.float32)
            x = builder.op.Relu(x @ builder.initializer(weight, f"w{i}"))
        builder.output(x)
        builder.model().save(path)

        def and_back() -> bytes:
            return sardonyx.script.from_source(sardonyx.decompile(path)).to_model_bytes()

        print(f"{path.stat().st_size / 1e6:.0f} MB, {count} layers      ours")
        print(f"decompile, build {best(and_back, 3):10.2f}")


def weights(megabytes: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        builder = sardonyx.Builder(opset=20)
        array = np.zeros(megabytes * 1024 * 256, np.float32)
        x = builder.input("x", sardonyx.FLOAT)
        builder.output(builder.op.Add(x, builder.initializer(array, "w")))
        builder.model().save(path)
        copy = Path(folder) / "copy.onnx"
        print(f"{megabytes} MB                     ours     onnx")
        ours = best(lambda: sardonyx.load(path))
        print(f"load             {ours:10.2f} {best(lambda: onnx.load(path), 3):8.2f}")
        model, proto = sardonyx.load(path), onnx.load(path)
        ours = best(lambda: model.save(copy), 3)
        theirs = best(lambda: onnx.save(proto, copy), 3)
        print(f"save             {ours:10.2f} {theirs:8.2f}")
        print(f"cp               {best(lambda: shutil.copyfile(path, copy), 3):10.2f}")
        print(f"cat              {best(lambda: os.system(f'cat {path} >/dev/null'), 3):10.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=10_000)
    parser.add_argument("--megabytes", type=int, default=256)
    options = parser.parse_args()
    graphs(options.nodes)
    layers(80, 256)
    weights(options.megabytes)


if __name__ == "__main__":
    main()
