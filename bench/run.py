"""How long a run of a whole model takes, beside the runtimes that people use today.

    python bench/run.py [--json FILE] [--repeat N] [--only NAME ...]

sardonyx must be importable (installed, or PYTHONPATH=build/release/python). Every number is the
minimum of several runs on a model that is kept, all in this process; a peer that cannot be imported
or cannot run a model is left out. The real models are those that `tools/dev models` fetches.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import onnx.reference
import onnxruntime
import sardonyx
from compile import minimum
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "python"))
from real_models import MODELS, models_folder

try:
    import torch
except ImportError:
    torch = None  # type: ignore[assignment]

Inputs = dict[str, np.ndarray]
COLUMNS = (
    "sardonyx, 1 thread",
    "sardonyx",
    "onnxruntime, 1 thread",
    "onnxruntime",
    "onnx.reference",
    "torch",
)
SLOW = 2e-3  # onnx.reference is left out of models that take us longer


class Builder:
    """A model with weights, built node by node."""

    def __init__(self, shape: list[int | str], opset: int = 18) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self.random = np.random.default_rng(0)
        self.shape = shape
        self.opset = opset

    def weight(self, *dims: int, scale: float | None = None) -> str:
        """A new weight, random, so scaled that values keep their size."""
        name = f"w{len(self.weights)}"
        scale = scale if scale is not None else float(np.prod(dims[1:])) ** -0.5
        values = self.random.normal(0, scale, dims).astype(np.float32)
        self.weights.append(numpy_helper.from_array(values, name))
        return name

    def constant(self, values: list[int] | float) -> str:
        """A new constant: INT64 from a list, FLOAT from a number."""
        name = f"w{len(self.weights)}"
        kind = np.int64 if isinstance(values, list) else np.float32
        self.weights.append(numpy_helper.from_array(np.array(values, kind), name))
        return name

    def op(self, kind: str, *inputs: str, **attributes: object) -> str:
        """A new node of one output, which this gives."""
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def model(self, result: str) -> onnx.ModelProto:
        """The model from "x" to this value."""
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, self.shape)
        y = helper.make_tensor_value_info(result, TensorProto.FLOAT, None)
        graph = helper.make_graph(self.nodes, "g", [x], [y], self.weights)
        imports = [helper.make_opsetid("", self.opset)]
        return helper.make_model(graph, opset_imports=imports, ir_version=9)


def gelu() -> onnx.ModelProto:
    """x * (0.5 * (erf(x / sqrt(2)) + 1)), as scripts write it."""
    b = Builder(["N"])
    inner = b.op("Erf", b.op("Mul", "x", b.constant(0.5**0.5)))
    half = b.op("Mul", b.constant(0.5), b.op("Add", inner, b.constant(1.0)))
    return b.model(b.op("Mul", "x", half))


def mlp() -> onnx.ModelProto:
    """Two layers for one row."""
    b = Builder([1, 64])
    hidden = b.op("Relu", b.op("Gemm", "x", b.weight(128, 64), b.weight(128), transB=1))
    return b.model(b.op("Softmax", b.op("Gemm", hidden, b.weight(10, 128), b.weight(10), transB=1)))


def lstm() -> onnx.ModelProto:
    """50 steps of 64 hidden numbers."""
    b = Builder([50, 1, 32])
    return b.model(b.op("LSTM", "x", b.weight(1, 256, 32), b.weight(1, 256, 64), hidden_size=64))


def convolutions() -> onnx.ModelProto:
    """A ResNet of 18 layers on a picture of 112 x 112."""
    b = Builder([1, 3, 112, 112])

    def conv(x: str, channels: tuple[int, int], size: int, stride: int, relu: bool = True) -> str:
        out = b.op(
            "Conv",
            x,
            b.weight(channels[1], channels[0], size, size),
            b.weight(channels[1]),
            strides=[stride, stride],
            pads=[size // 2] * 4,
        )
        return b.op("Relu", out) if relu else out

    x = conv("x", (3, 64), 7, 2)
    x = b.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    width = 64
    for stage, channels in enumerate((64, 128, 256, 512)):
        for block in range(2):
            stride = 2 if stage > 0 and block == 0 else 1
            y = conv(x, (width, channels), 3, stride)
            y = conv(y, (channels, channels), 3, 1, relu=False)
            if stride != 1:
                x = conv(x, (width, channels), 1, stride, relu=False)
            x, width = b.op("Relu", b.op("Add", x, y)), channels
    flat = b.op("Flatten", b.op("GlobalAveragePool", x))
    return b.model(b.op("Gemm", flat, b.weight(1000, 512), b.weight(1000), transB=1))


def transformer() -> onnx.ModelProto:
    """A block with 128 places, 384 channels, 6 heads."""
    n, d, heads = 128, 384, 6
    b = Builder([1, n, d])

    def project(x: str, width: int, out: int) -> str:
        return b.op("Add", b.op("MatMul", x, b.weight(width, out)), b.weight(out))

    def norm(x: str) -> str:
        return b.op("LayerNormalization", x, b.weight(d), b.weight(d))

    def split(x: str, order: list[int]) -> str:
        shape = b.constant([1, n, heads, d // heads])
        return b.op("Transpose", b.op("Reshape", x, shape), perm=order)

    y = norm("x")
    query = split(project(y, d, d), [0, 2, 1, 3])
    key = split(project(y, d, d), [0, 2, 3, 1])
    value = split(project(y, d, d), [0, 2, 1, 3])
    scores = b.op("Mul", b.op("MatMul", query, key), b.constant((d // heads) ** -0.5))
    mixed = b.op("MatMul", b.op("Softmax", scores, axis=-1), value)
    joined = b.op("Reshape", b.op("Transpose", mixed, perm=[0, 2, 1, 3]), b.constant([1, n, d]))
    x = b.op("Add", "x", project(joined, d, d))
    hidden = project(norm(x), d, 4 * d)
    inner = b.op("Erf", b.op("Mul", hidden, b.constant(0.5**0.5)))
    active = b.op("Mul", hidden, b.op("Mul", b.constant(0.5), b.op("Add", inner, b.constant(1.0))))
    return b.model(b.op("Add", x, project(active, 4 * d, d)))


def floats(*dims: int) -> Callable[[], Inputs]:
    """Random numbers for the input "x"."""
    return lambda: {"x": np.random.default_rng(3).normal(size=dims).astype(np.float32)}


BUILT: dict[str, tuple[Callable[[], onnx.ModelProto], Callable[[], Inputs]]] = {
    "GELU, 16 floats": (gelu, floats(16)),
    "GELU, 1000000 floats": (gelu, floats(1_000_000)),
    "MLP 64-128-10": (mlp, floats(1, 64)),
    "LSTM, 50 steps of 64": (lstm, floats(50, 1, 32)),
    "ResNet-18, 112 x 112": (convolutions, floats(1, 3, 112, 112)),
    "transformer block, 128 x 384": (transformer, floats(1, 128, 384)),
}


def session(model: bytes, threads: int) -> onnxruntime.InferenceSession:
    """A kept session with everything that it does by default."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = threads
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def torch_gelu(inputs: Inputs) -> Callable[[], object]:
    """The same in torch, for the models that are one function there."""
    x = torch.from_numpy(inputs["x"])
    return lambda: x * (0.5 * (torch.erf(x * 0.5**0.5) + 1))


def measure(name: str, model: bytes, inputs: Inputs, repeat: int) -> dict[str, float]:
    """Seconds by column; the results must agree."""
    ours = sardonyx.load(model)
    one, all_cores = session(model, 1), session(model, 0)
    expected = one.run(None, inputs)
    for got, want in zip(ours.run(inputs), expected, strict=True):
        bound = 0.05 * max(1.0, float(np.abs(want).max(initial=0)))
        np.testing.assert_allclose(got.astype(np.float64), want.astype(np.float64), atol=bound)
    row = {
        "sardonyx, 1 thread": minimum(lambda: ours.run(inputs, threads=1), repeat),
        "sardonyx": minimum(lambda: ours.run(inputs), repeat),
        "onnxruntime, 1 thread": minimum(lambda: one.run(None, inputs), repeat),
        "onnxruntime": minimum(lambda: all_cores.run(None, inputs), repeat),
    }
    if row["sardonyx"] < SLOW:
        reference = onnx.reference.ReferenceEvaluator(onnx.ModelProto.FromString(model))
        row["onnx.reference"] = minimum(lambda: reference.run(None, inputs), 3)
    if torch is not None and name.startswith("GELU"):
        row["torch"] = minimum(torch_gelu(inputs), repeat)
    return row


def measure_all(only: list[str], repeat: int) -> dict[str, dict[str, float]]:
    """The rows of the table."""
    rows = {}
    for name, (build, inputs) in BUILT.items():
        if not only or name in only:
            rows[name] = measure(name, build().SerializeToString(), inputs(), repeat)
    for name, real in MODELS.items():
        path = models_folder() / real.path
        if (not only or name in only) and path.exists():
            rows[name] = measure(name, path.read_bytes(), real.inputs(), repeat)
    return rows


def print_table(rows: dict[str, dict[str, float]]) -> None:
    """For people: milliseconds, and our time through that of ONNX Runtime."""
    columns = [column for column in COLUMNS if any(column in row for row in rows.values())]
    print(f"{'ms':30}" + "".join(f"{column:>23}" for column in columns) + f"{'x ort':>14}")
    for name, row in rows.items():
        numbers = "".join(
            f"{row[column] * 1e3:23.4f}" if column in row else f"{'-':>23}" for column in columns
        )
        single = row["sardonyx, 1 thread"] / row["onnxruntime, 1 thread"]
        full = row["sardonyx"] / row["onnxruntime"]
        print(f"{name:30}{numbers}{single:8.2f}{full:6.2f}")
    if torch is None:
        print("torch is not installed")


def main() -> None:
    """Measures, prints, writes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, help="write the numbers (seconds) here")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--only", nargs="*", default=[], help="rows to measure; all, if none")
    options = parser.parse_args()
    rows = measure_all(options.only, options.repeat)
    print_table(rows)
    if options.json:
        results = {
            "python": platform.python_version(),
            "machine": platform.machine(),
            "onnxruntime": onnxruntime.__version__,
            "models": rows,
        }
        options.json.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
