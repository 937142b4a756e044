"""If, Loop, Scan and SequenceMap with Python functions as their bodies, run as Python.

What each does stands in the ONNX operator reference. Bodies get and give Tensors.
"""

import numpy as np

from ._core import Op, Tensor, as_argument, enter_script, leave_script

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any


def run(op: Op, inputs: "list[Any]", attributes: "dict[str, Any]", wanted: int) -> "Any":
    """Evaluates the operator; one result, or a tuple of them."""
    has_tensor = any(isinstance(value, Tensor) for value in inputs)
    values = [as_argument(value, 0) for value in inputs]
    for name in op.input_names[len(values) :]:
        if name in attributes:
            values.append(as_argument(attributes.pop(name), 0))
    enter_script()
    try:
        results = _RUNNERS[op.name](op, values, attributes)
    finally:
        leave_script()
    if not has_tensor:
        from ._core import as_result

        results = as_result(tuple(results), (), True)
    return results[0] if len(results) == 1 and wanted <= 1 else tuple(results)


def _results(body: "Callable[..., Any]", *arguments: "Any") -> "list[Any]":
    returned = body(*arguments)
    items = returned if isinstance(returned, tuple) else (returned,)
    return [as_argument(item, 0) for item in items]


def _function(op: Op, attributes: "dict[str, Any]", name: str) -> "Callable[..., Any]":
    body = attributes.get(name)
    if not callable(body):
        raise TypeError(f"{op.name} takes a function as {name!r}, got {body!r}")
    return body  # type: ignore[no-any-return]


def _stack(rows: "list[Tensor]", axis: int = 0) -> Tensor:
    return Tensor(np.stack([row.value for row in rows], axis=axis))


def _no_rows(
    body: "Callable[..., Any]", arguments: "list[Any]", before: int, axes: "list[int] | None"
) -> "list[Tensor]":
    """What the rows of a body that has not run are stacked to; `before` of its results are no rows.

    Only the body knows how many rows there are, and their types: it runs once for these alone.
    """
    rows = _results(body, *arguments)[before:]
    return [
        Tensor(np.stack([row.value], axis=axis).take([], axis=axis))
        for row, axis in zip(rows, axes or [0] * len(rows), strict=True)
    ]


def _if(op: Op, inputs: "list[Any]", attributes: "dict[str, Any]") -> "list[Any]":
    name = "then_branch" if bool(inputs[0]) else "else_branch"
    return _results(_function(op, attributes, name))


def _loop(op: Op, inputs: "list[Any]", attributes: "dict[str, Any]") -> "list[Any]":
    body = _function(op, attributes, "body")
    inputs += [None] * (2 - len(inputs))
    trips, condition, *carried = inputs
    limit = None if trips is None else int(trips)
    keep_going = True if condition is None else bool(condition)
    rows: list[list[Tensor]] = []
    iteration = 0
    while keep_going and (limit is None or iteration < limit):
        proceed, *results = _results(
            body, Tensor(np.int64(iteration)), Tensor(np.bool_(True)), *carried
        )
        keep_going = bool(proceed)
        carried = results[: len(carried)]
        rows.append(results[len(carried) :])
        iteration += 1
    if not rows:
        arguments = [Tensor(np.int64(0)), Tensor(np.bool_(True)), *carried]
        return carried + _no_rows(body, arguments, len(carried) + 1, None)
    return carried + [_stack(list(column)) for column in zip(*rows, strict=True)]


def _slices(value: Tensor, axis: int, is_reversed: bool) -> "Iterator[Tensor]":
    array = np.moveaxis(value.value, axis, 0)
    for row in array[::-1] if is_reversed else array:
        yield Tensor(np.ascontiguousarray(row) if row.ndim else row)


def _scan(op: Op, inputs: "list[Any]", attributes: "dict[str, Any]") -> "list[Any]":
    body = _function(op, attributes, "body")
    if op.opset.version < 9:
        raise NotImplementedError("Scan before opset 9 is not implemented: use opset 9 or newer")
    count = attributes["num_scan_inputs"]
    state, scanned = inputs[: len(inputs) - count], inputs[len(inputs) - count :]
    axes = attributes.get("scan_input_axes") or [0] * count
    directions = attributes.get("scan_input_directions") or [0] * count
    columns = [
        list(_slices(value, axis, bool(direction)))
        for value, axis, direction in zip(scanned, axes, directions, strict=True)
    ]
    rows: list[list[Tensor]] = []
    for slices in zip(*columns, strict=True):
        results = _results(body, *state, *slices)
        state = results[: len(state)]
        rows.append(results[len(state) :])
    if not rows:
        shapes = [
            np.delete(value.value.shape, axis) for value, axis in zip(scanned, axes, strict=True)
        ]
        slices = tuple(
            Tensor(np.zeros(shape, value.value.dtype))
            for value, shape in zip(scanned, shapes, strict=True)
        )
        out_axes = attributes.get("scan_output_axes")
        return state + _no_rows(body, [*state, *slices], len(state), out_axes)
    outputs = [list(column) for column in zip(*rows, strict=True)]
    axes = attributes.get("scan_output_axes") or [0] * len(outputs)
    directions = attributes.get("scan_output_directions") or [0] * len(outputs)
    return state + [
        _stack(column[::-1] if direction else column, axis)
        for column, axis, direction in zip(outputs, axes, directions, strict=True)
    ]


def _sequence_map(op: Op, inputs: "list[Any]", attributes: "dict[str, Any]") -> "list[Any]":
    body = _function(op, attributes, "body")
    first, *others = inputs
    rows = []
    for i, item in enumerate(first):
        arguments = [other[i] if isinstance(other, list) else other for other in others]
        rows.append(_results(body, item, *arguments))
    return [list(column) for column in zip(*rows, strict=True)] or [[]]


_RUNNERS = {"If": _if, "Loop": _loop, "Scan": _scan, "SequenceMap": _sequence_map}
