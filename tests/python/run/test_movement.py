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


@pytest.mark.parametrize("mode", ["constant", "reflect", "edge", "wrap"])
@pytest.mark.parametrize("dtype", [np.uint8, np.float16, np.float32, np.float64])
def test_pad(dtype: Any, mode: str) -> None:
    x = elements((31, 23, 67), dtype)
    for before, after in (
        ((1, 2, 3), (4, 5, 6)),
        ((0, 3, 0), (2, 0, 65)),
        ((-3, -1, -2), (1, 2, 3)),
    ):
        kept = x[
            tuple(
                slice(max(0, -b), n - max(0, -a))
                for b, a, n in zip(before, after, x.shape, strict=True)
            )
        ]
        widths = [(max(0, b), max(0, a)) for b, a in zip(before, after, strict=True)]
        if min(before) < 0 and mode != "constant":
            continue  # what is cut off can come back from the other side
        result = run("Pad", [x, ints(*before, *after)], mode=mode)[0]
        np.testing.assert_array_equal(result, np.pad(kept, widths, mode=mode))  # type: ignore[call-overload]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_gather(axis: int, dtype: Any) -> None:
    for dims in ((37, 41, 53), (300, 301, 1), (301, 1, 300)):
        x = elements(dims, dtype)
        indices = RANDOM.integers(-dims[axis], dims[axis], (7, 11))
        result = run("Gather", [x, indices], axis=axis)[0]
        np.testing.assert_array_equal(result, np.take(x, indices, axis))
        chosen = RANDOM.random(dims[axis]) > 0.5
        result = run("Compress", [x, chosen], axis=axis)[0]
        np.testing.assert_array_equal(result, np.compress(chosen, x, axis))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_gather_and_scatter_elements(axis: int, dtype: Any) -> None:
    dims = (37, 41, 53)
    x = elements(dims, dtype)
    for smaller in (0, 3):  # the indices may be fewer than the data
        shape = tuple(n + 20 if d == axis else n - smaller for d, n in enumerate(dims))
        indices = RANDOM.integers(-dims[axis], dims[axis], shape)
        view = x[tuple(slice(None) if d == axis else slice(n) for d, n in enumerate(shape))]
        result = run("GatherElements", [x, indices], axis=axis)[0]
        np.testing.assert_array_equal(result, np.take_along_axis(view, indices, axis))
        updates = elements(shape, dtype)
        expected, sums = x.copy(), x.copy()
        for place in np.ndindex(*shape):  # several may go to one place: the last one stays
            target = (*place[:axis], indices[place], *place[axis + 1 :])
            expected[target] = updates[place]
            np.add.at(sums, target, updates[place])
        np.testing.assert_array_equal(
            run("ScatterElements", [x, indices, updates], axis=axis)[0], expected
        )
        if dtype is not np.float16:
            added = run("ScatterElements", [x, indices, updates], axis=axis, reduction="add")[0]
            np.testing.assert_array_equal(added, sums)


@pytest.mark.parametrize("dtype", TYPES)
def test_gather_and_scatter_nd(dtype: Any) -> None:
    x = elements((41, 43, 601), dtype)
    indices = np.stack([RANDOM.integers(-41, 41, 501), RANDOM.integers(-43, 43, 501)], -1)
    result = run("GatherND", [x, indices])[0]
    np.testing.assert_array_equal(result, x[indices[:, 0], indices[:, 1]])
    updates = elements((501, 601), dtype)
    expected = x.copy()
    for (i, j), update in zip(indices, updates, strict=True):
        expected[i, j] = update
    np.testing.assert_array_equal(run("ScatterND", [x, indices, updates])[0], expected)
    batched = RANDOM.integers(0, 43, (41, 1301, 1))
    result = run("GatherND", [x, batched], batch_dims=1)[0]
    np.testing.assert_array_equal(result, np.take_along_axis(x, batched, 1))


def test_indices_out_of_range() -> None:
    x = elements((301, 67))
    indices = np.zeros((301, 67), np.int64)
    indices[200, 3] = 67
    pairs = np.zeros((20001, 2), np.int64)
    pairs[15000, 1] = -68
    updates = elements((301, 67))
    for op, inputs, index in (
        ("GatherElements", [x, indices], 67),
        ("ScatterElements", [x, indices, updates], 67),
        ("GatherND", [x, pairs], -68),
        ("ScatterND", [x, pairs, elements((20001,))], -68),
    ):
        attributes = {"axis": 1} if op.endswith("Elements") else {}
        with pytest.raises(
            Exception, match=f"index {index} is out of range for an axis of size 67"
        ):
            run(op, inputs, **attributes)


def test_a_tensor_that_is_scattered_into_itself() -> None:
    """Its own elements are the updates, and it is a value that nobody needs afterwards."""
    x = RANDOM.permutation(300).astype(np.float32)
    places = RANDOM.permutation(300).astype(np.int64)
    for operator, indices in (("ScatterElements", places), ("ScatterND", places[:, None])):
        nodes = [
            helper.make_node("Neg", ["x"], ["y"]),
            helper.make_node(operator, ["y", "i", "y"], ["z"]),
        ]
        graph = helper.make_graph(
            nodes,
            "g",
            [
                helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, x.shape),
                helper.make_tensor_value_info("i", onnx.TensorProto.INT64, indices.shape),
            ],
            [helper.make_tensor_value_info("z", onnx.TensorProto.FLOAT, x.shape)],
        )
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
        expected = np.empty_like(x)
        expected[places] = -x
        got = sardonyx.load(made.SerializeToString()).run({"x": x, "i": indices})[0]
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("dtype", TYPES)
def test_where_and_trilu(dtype: Any) -> None:
    a, b = elements((37, 1003), dtype), elements((37, 1003), dtype)
    condition = RANDOM.random((37, 1003)) > 0.5
    for inputs in (
        [condition, a, b],
        [condition, np.asarray(a[0, 0]), b],
        [condition, a, np.asarray(b[0, 0])],
        [condition[:1], a[:, :1], b],
    ):
        np.testing.assert_array_equal(run("Where", inputs)[0], np.where(*inputs))
    x = elements((3, 301, 205), dtype)
    for k in (-300, -3, 0, 7, 205):
        np.testing.assert_array_equal(run("Trilu", [x, np.array(k)])[0], np.triu(x, k))
        np.testing.assert_array_equal(run("Trilu", [x, np.array(k)], upper=0)[0], np.tril(x, k))


@pytest.mark.parametrize(
    "dtype", [np.int8, np.uint8, np.int32, np.int64, np.uint64, np.float16, np.float32, np.float64]
)
def test_unique(dtype: Any) -> None:
    kinds = np.array([0, 1, -1, 300, -70000], np.float64)
    if np.issubdtype(dtype, np.floating):
        kinds = np.array([0.0, -0.0, 1.5, -2.5, np.inf, -np.inf, np.nan])
        x = RANDOM.choice(kinds, 3001).astype(dtype)
    else:
        x = RANDOM.choice(kinds, 3001).astype(np.int64).astype(dtype)
    found = run("Unique", [x], outputs=4)
    expected = np.unique(x, return_index=True, return_inverse=True, return_counts=True)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
    in_order = run("Unique", [x], outputs=4, sorted=0)
    np.testing.assert_array_equal(in_order[1], np.sort(expected[1]))
    np.testing.assert_array_equal(in_order[0][in_order[2]], x)


@pytest.mark.parametrize("mode", ["linear", "cubic"])
@pytest.mark.parametrize("dims", [(3, 5, 41, 67), (1, 41, 67, 3), (41, 67), (2, 1, 9001)])
def test_resize(dims: tuple[int, ...], mode: str) -> None:
    """A row of small whole numbers, so that the interpolation of its plane is known."""
    along = len(dims) - 1
    sizes = [n if n < 6 else 2 * n + 1 for n in dims]
    line = elements((dims[along],))
    x = np.broadcast_to(line, dims).copy()
    roi, scales = np.zeros(0, np.float32), np.zeros(0, np.float32)
    result = run("Resize", [x, roi, scales, ints(*sizes)], mode=mode)[0]
    alone = run("Resize", [line, roi, scales, ints(sizes[along])], mode=mode)[0]
    np.testing.assert_allclose(result, np.broadcast_to(alone, sizes), rtol=1e-5, atol=1e-4)
    if mode == "linear":
        place = (np.arange(sizes[along]) + 0.5) * dims[along] / sizes[along] - 0.5
        expected = np.interp(place, np.arange(dims[along]), line)
        np.testing.assert_allclose(alone, expected, rtol=1e-5, atol=1e-4)


def test_resize_keeps_infinities() -> None:
    """A tap of weight 0 does not make NaN of an infinity."""
    x = np.array([1, np.inf, 2, -np.inf, 3], np.float32)
    x = np.broadcast_to(x, (7, 5)).copy()
    empty = np.zeros(0, np.float32)
    inputs = [x, empty, empty, ints(7, 9)]
    result = run("Resize", inputs, mode="linear", coordinate_transformation_mode="align_corners")[0]
    np.testing.assert_array_equal(result[:, ::2], x)


def test_grid_sample() -> None:
    x = elements((2, 3, 33, 35))
    rows, columns = np.meshgrid(np.linspace(-1, 1, 33), np.linspace(-1, 1, 35), indexing="ij")
    grid = np.broadcast_to(np.stack([columns, rows], -1), (2, 33, 35, 2)).astype(np.float32)
    result = run("GridSample", [x, grid], align_corners=1)[0]
    np.testing.assert_allclose(result, x, rtol=1e-4, atol=1e-2)
