"""Operators that move elements, on tensors that are large enough for several tasks and of sizes
that no block divides: the results are NumPy's, and the same on one thread and on two."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import onnx
import pytest
import sardonyx
from onnx import helper

RANDOM = np.random.default_rng(7)
TYPES = (np.uint8, np.float16, np.float32, np.float64, np.complex128)


def elements(dims: tuple[int, ...], dtype: Any = np.float32) -> np.ndarray:
    return RANDOM.integers(0, 200, dims).astype(dtype)


def run(op: str, inputs: list[np.ndarray], outputs: int = 1, **attributes: Any) -> list[np.ndarray]:
    """What one node makes, on any number of threads."""
    names = [f"x{i}" for i in range(len(inputs))]
    results = [f"y{i}" for i in range(outputs)]
    graph = helper.make_graph(
        [helper.make_node(op, names, results, **attributes)],
        "g",
        [
            helper.make_tensor_value_info(
                name, helper.np_dtype_to_tensor_dtype(x.dtype), [None] * x.ndim
            )
            for name, x in zip(names, inputs, strict=True)
        ],
        [helper.make_tensor_value_info(y, onnx.TensorProto.UNDEFINED, None) for y in results],
    )
    imports = [helper.make_opsetid("", 20)]
    made = helper.make_model(graph, opset_imports=imports, ir_version=9)
    model = sardonyx.load(made.SerializeToString())
    feeds = dict(zip(names, inputs, strict=True))
    single = list(model.run(feeds, threads=1))
    for one, other in zip(single, model.run(feeds, threads=2), strict=True):
        np.testing.assert_array_equal(one, other)
    return single


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(
    "dims", [(513, 301), (20003, 3), (2, 9001), (65, 3, 41), (33, 1, 130, 3), (2, 3, 4, 5, 6, 7)]
)
def test_transpose(dims: tuple[int, ...], dtype: Any) -> None:
    x = elements(dims, dtype)
    for perm in itertools.islice(
        itertools.permutations(range(len(dims))), 0, 720, 17 if len(dims) > 4 else 1
    ):
        np.testing.assert_array_equal(run("Transpose", [x], perm=perm)[0], x.transpose(perm))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_concat_and_split(axis: int, dtype: Any) -> None:
    dims = [37, 41, 29]
    parts = []
    for size in (5, 31, 0, 64):
        dims[axis] = size
        parts.append(elements(tuple(dims), dtype))
    whole = np.concatenate(parts, axis)
    np.testing.assert_array_equal(run("Concat", parts, axis=axis)[0], whole)
    pieces = run("Split", [whole, ints(5, 31, 0, 64)], outputs=4, axis=axis)
    for piece, part in zip(pieces, parts, strict=True):
        np.testing.assert_array_equal(piece, part)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("step", [-4, -2, -1, 1, 2, 3, 5])
def test_slice(step: int, dtype: Any) -> None:
    x = elements((35, 67, 131), dtype)
    for axis in range(3):
        index = [slice(None)] * 3
        index[axis] = slice(None, None, step)
        far = np.iinfo(np.int64).max if step > 0 else np.iinfo(np.int64).min
        start = 0 if step > 0 else -1
        inputs = [x, ints(start), ints(far), ints(axis), ints(step)]
        np.testing.assert_array_equal(run("Slice", inputs)[0], x[tuple(index)])


@pytest.mark.parametrize("dtype", TYPES)
def test_expand_and_tile(dtype: Any) -> None:
    for dims in ((37, 1, 301), (37, 41, 1), (1, 41, 301)):
        x = elements(dims, dtype)
        result = run("Expand", [x, ints(37, 41, 301)])[0]
        np.testing.assert_array_equal(result, np.broadcast_to(x, (37, 41, 301)))
    x = elements((37, 23), dtype)
    np.testing.assert_array_equal(run("Tile", [x, ints(11, 9)])[0], np.tile(x, (11, 9)))
