"""How long one operator takes on a million elements, beside ONNX Runtime on one thread and on all.

    python bench/operators.py [--json FILE] [--seconds S] [--only NAME ...]

sardonyx must be importable (installed, or PYTHONPATH=build/release/python). Each operator is a
model of one node, prepared once; every number is the minimum of the runs within the time. Rows are
sorted by our time through that of ONNX Runtime, the worst first.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import sardonyx
from compile import minimum
from onnx import TensorProto, helper, numpy_helper
from run import session

RANDOM = np.random.default_rng(0)
PICTURE = RANDOM.normal(size=(1, 64, 128, 128)).astype(np.float32)
SMALL = PICTURE[:, :, :64, :64].copy()
POSITIVE = np.abs(PICTURE) + 0.1
MATRIX = RANDOM.normal(size=(512, 2048)).astype(np.float32)
INTS = RANDOM.integers(0, 100, (512, 2048))
BOOLS = PICTURE > 0
COLUMNS = RANDOM.integers(0, 2048, (512, 2048))
STACK = RANDOM.normal(size=(12, 128, 64)).astype(np.float32)

UNARY = [
    "Abs",
    "Neg",
    "Exp",
    "Log",
    "Sqrt",
    "Sigmoid",
    "Tanh",
    "Erf",
    "Relu",
    "LeakyRelu",
    "Elu",
    "Selu",
    "Softplus",
    "Softsign",
    "HardSigmoid",
    "HardSwish",
    "Gelu",
    "Mish",
    "Floor",
    "Round",
    "Sign",
    "Reciprocal",
    "Sin",
    "Cos",
    "Identity",
    "IsNaN",
]
CASTS = [
    (PICTURE, TensorProto.FLOAT16),
    (PICTURE, TensorProto.INT32),
    (PICTURE, TensorProto.INT64),
    (PICTURE, TensorProto.DOUBLE),
    (PICTURE, TensorProto.UINT8),
    (PICTURE, TensorProto.BOOL),
    (PICTURE.astype(np.float16), TensorProto.FLOAT),
    (BOOLS, TensorProto.FLOAT),
    (INTS, TensorProto.FLOAT),
]
REDUCTIONS = [
    "ReduceSum",
    "ReduceMean",
    "ReduceMax",
    "ReduceMin",
    "ReduceProd",
    "ReduceL2",
    "ReduceLogSumExp",
    "ReduceSumSquare",
]

Case = tuple[str, str, list[np.ndarray], set[int], dict[str, Any]]


def vector(*values: int) -> np.ndarray:
    """INT64[n]."""
    return np.array(values, np.int64)


def channels(*rest: int) -> np.ndarray:
    """A number for each channel of PICTURE."""
    return RANDOM.random((64, *rest)).astype(np.float32) + 0.1


def elementwise() -> Iterator[Case]:
    """Name, operator, inputs, which of them are constants, attributes."""
    for op in UNARY:
        yield op, op, [POSITIVE if op in ("Log", "Sqrt") else PICTURE], set(), {}
    for op in ("Add", "Mul", "Div", "Pow", "Max", "Less"):
        yield op, op, [POSITIVE, POSITIVE + 1], set(), {}
    yield "Add, by channel", "Add", [PICTURE, channels(1, 1)], set(), {}
    yield "Mul, by a number", "Mul", [PICTURE, np.array(2, np.float32)], {1}, {}
    yield "And", "And", [BOOLS, BOOLS], set(), {}
    yield "Not", "Not", [BOOLS], set(), {}
    yield "Where", "Where", [BOOLS, PICTURE, POSITIVE], set(), {}
    bounds = [np.array(-1, np.float32), np.array(1, np.float32)]
    yield "Clip", "Clip", [PICTURE, *bounds], {1, 2}, {}
    for x, to in CASTS:
        name = TensorProto.DataType.Name(to)
        yield f"Cast {x.dtype} to {name}", "Cast", [x], set(), {"to": to}
    scale = [np.array(0.02, np.float32), np.array(3, np.int8)]
    yield "QuantizeLinear", "QuantizeLinear", [PICTURE, *scale], {1, 2}, {}
    codes = (PICTURE * 40).astype(np.int8)
    yield "DequantizeLinear", "DequantizeLinear", [codes, *scale], {1, 2}, {}


def along_axes() -> Iterator[Case]:
    """Reductions, normalizations, sums."""
    for op in REDUCTIONS:
        for axes in ((-1,), (2, 3), (1,), (0, 1, 2, 3)):
            yield f"{op} {axes}", op, [POSITIVE, vector(*axes)], {1}, {}
    for axis in (-1, 1):
        for op in ("ArgMax", "Softmax", "LogSoftmax"):
            yield f"{op} {axis}", op, [PICTURE], set(), {"axis": axis}
        yield f"CumSum {axis}", "CumSum", [PICTURE, np.array(axis)], {1}, {}
    yield "LayerNormalization", "LayerNormalization", [MATRIX, MATRIX[0], MATRIX[1]], {1, 2}, {}
    two = [channels(), channels()]
    yield "InstanceNormalization", "InstanceNormalization", [PICTURE, *two], {1, 2}, {}
    four = [channels() for _ in range(4)]
    yield "BatchNormalization", "BatchNormalization", [PICTURE, *four], {1, 2, 3, 4}, {}


def movement() -> Iterator[Case]:
    """What moves elements."""
    for permutation in ([0, 2, 3, 1], [0, 1, 3, 2], [0, 2, 1, 3]):
        yield f"Transpose {permutation}", "Transpose", [PICTURE], set(), {"perm": permutation}
    for axis in (1, 3):
        yield f"Concat {axis}", "Concat", [PICTURE, PICTURE], set(), {"axis": axis}
    steps = [vector(0, 0), vector(128, 128), vector(2, 3), vector(2, 2)]
    yield "Slice with steps", "Slice", [PICTURE, *steps], {1, 2, 3, 4}, {}
    pads = vector(0, 0, 1, 1, 0, 0, 1, 1)
    for mode in ("constant", "reflect"):
        yield f"Pad, {mode}", "Pad", [PICTURE, pads], {1}, {"mode": mode}
    yield "Gather 0", "Gather", [MATRIX, RANDOM.integers(0, 512, 1000)], set(), {}
    yield "Gather 1", "Gather", [MATRIX, RANDOM.integers(0, 2048, 1000)], set(), {"axis": 1}
    yield "GatherElements", "GatherElements", [MATRIX, COLUMNS], set(), {"axis": 1}
    yield "ScatterElements", "ScatterElements", [MATRIX, COLUMNS, MATRIX], set(), {"axis": 1}
    yield "Tile", "Tile", [MATRIX, vector(2, 2)], {1}, {}
    yield "Expand", "Expand", [MATRIX[:, None], vector(512, 4, 2048)], {1}, {}
    yield "DepthToSpace", "DepthToSpace", [PICTURE], set(), {"blocksize": 2}
    yield "SpaceToDepth", "SpaceToDepth", [PICTURE], set(), {"blocksize": 2}
    doubled = [np.zeros(0, np.float32), np.array([1, 1, 2, 2], np.float32)]
    for mode in ("nearest", "linear"):
        yield f"Resize, {mode}", "Resize", [PICTURE, *doubled], {1, 2}, {"mode": mode}
    yield "Unique", "Unique", [INTS], set(), {}


def products() -> Iterator[Case]:
    """Windows and matrices."""
    for size in (2, 3):
        window = {"kernel_shape": [size, size], "strides": [2, 2]}
        for op in ("MaxPool", "AveragePool"):
            yield f"{op} {size}x{size}", op, [PICTURE], set(), window
    yield "GlobalMaxPool", "GlobalMaxPool", [PICTURE], set(), {}
    same = {"auto_pad": "SAME_UPPER"}

    def weights(*dims: int) -> np.ndarray:
        return RANDOM.normal(size=dims).astype(np.float32)

    yield "Conv 3x3", "Conv", [SMALL, weights(64, 64, 3, 3)], {1}, same
    yield "Conv 3x3, weights not constant", "Conv", [SMALL, weights(64, 64, 3, 3)], set(), same
    yield "Conv 1x1", "Conv", [PICTURE, weights(64, 64, 1, 1)], {1}, {}
    depthwise = [PICTURE, weights(64, 1, 3, 3)]
    yield "Conv 3x3, depthwise", "Conv", depthwise, {1}, {"group": 64, **same}
    up = [SMALL, weights(64, 32, 2, 2)]
    yield "ConvTranspose 2x2", "ConvTranspose", up, {1}, {"strides": [2, 2]}
    yield "MatMul", "MatMul", [MATRIX, weights(2048, 256)], {1}, {}
    yield "MatMul, not constant", "MatMul", [MATRIX, weights(2048, 256)], set(), {}
    yield "MatMul, a row", "MatMul", [MATRIX[:1].copy(), weights(2048, 1024)], {1}, {}
    yield "MatMul, a stack", "MatMul", [STACK, STACK.transpose(0, 2, 1).copy()], set(), {}
    codes = RANDOM.integers(-9, 9, (2048, 256)).astype(np.int8)
    yield "MatMulInteger", "MatMulInteger", [(MATRIX * 20).astype(np.int8), codes], {1}, {}
    equation = {"equation": "bij,bkj->bik"}
    yield "Einsum bij,bkj->bik", "Einsum", [STACK, STACK], set(), equation


def model_of(case: Case) -> tuple[bytes, dict[str, np.ndarray]]:
    """The model, and its inputs."""
    _, op, values, constants, attributes = case
    named = {f"x{i}": value for i, value in enumerate(values)}
    free = {name: named[name] for i, name in enumerate(named) if i not in constants}
    graph = helper.make_graph(
        [helper.make_node(op, list(named), ["y"], **attributes)],
        "g",
        [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
            for name, x in free.items()
        ],
        [helper.make_empty_tensor_value_info("y")],
        [numpy_helper.from_array(named[f"x{i}"], f"x{i}") for i in sorted(constants)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    return model.SerializeToString(), free


def measure(case: Case, seconds: float) -> dict[str, float]:
    """Seconds by column."""
    model, inputs = model_of(case)
    ours = sardonyx.load(model)
    one, all_cores = session(model, 1), session(model, 0)
    return {
        "sardonyx, 1 thread": minimum(lambda: ours.run(inputs, threads=1), 3, seconds),
        "sardonyx": minimum(lambda: ours.run(inputs), 3, seconds),
        "onnxruntime, 1 thread": minimum(lambda: one.run(None, inputs), 3, seconds),
        "onnxruntime": minimum(lambda: all_cores.run(None, inputs), 3, seconds),
    }


def ratios(row: dict[str, float]) -> tuple[float, float]:
    """Ours through ONNX Runtime's, on one thread and on all."""
    return (
        row["sardonyx, 1 thread"] / row["onnxruntime, 1 thread"],
        row["sardonyx"] / row["onnxruntime"],
    )


def main() -> None:
    """Measures, prints, writes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, help="write the numbers (seconds) here")
    parser.add_argument("--seconds", type=float, default=0.1, help="for each number")
    parser.add_argument("--only", nargs="*", default=[], help="parts of names; all, if none")
    options = parser.parse_args()
    cases = [*elementwise(), *along_axes(), *movement(), *products()]
    rows = {
        case[0]: measure(case, options.seconds)
        for case in cases
        if not options.only or any(part in case[0] for part in options.only)
    }
    print(f"{'ms':34}{'1 thread':>10}{'all':>10}{'ort, 1':>10}{'ort, all':>10}{'x ort':>14}")
    for name, row in sorted(rows.items(), key=lambda item: -max(ratios(item[1]))):
        numbers = "".join(f"{seconds * 1e3:10.3f}" for seconds in row.values())
        one, full = ratios(row)
        print(f"{name:34}{numbers}{one:8.2f}{full:6.2f}")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()
