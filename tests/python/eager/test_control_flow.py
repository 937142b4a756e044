"""If, Loop, Scan and SequenceMap called with Python functions: as the model of the same body."""

from __future__ import annotations

import runpy

import numpy as np
import pytest
import sardonyx
from sardonyx import FLOAT, INT64, Tensor, graph, script
from sardonyx import opset21 as op

X = np.arange(6, dtype=np.float32).reshape(2, 3)


@script()
def scanned(zero: FLOAT[2], x: FLOAT[2, "M"]):
    @graph()
    def body(total: FLOAT[2], column: FLOAT[2]):
        total = total + column
        return total, total * 2.0

    last, rows = op.Scan(
        zero, x, body=body, num_scan_inputs=1, scan_input_axes=[1], scan_input_directions=[1],
        scan_output_axes=[1], scan_output_directions=[1],
    )  # fmt: skip
    return last, rows


@script()
def looped(n: INT64, x: FLOAT[3]):
    @graph()
    def body(_i: INT64, _c: sardonyx.BOOL, x: FLOAT[3]):
        x = x + 1.0
        return op.ReduceMax(x, keepdims=0) < 8.0, x, x * 2.0

    last, rows = op.Loop(n, None, x, body=body)
    return last, rows


@pytest.mark.parametrize(
    ("function", "inputs"),
    [
        (scanned, (np.zeros(2, np.float32), X)),
        (scanned, (np.zeros(2, np.float32), X[:, :0])),
        (looped, (np.array(9), X[0])),
        (looped, (np.array(2), X[0])),
        (looped, (np.array(0), X[0])),
    ],
)
def test_the_model_gives_the_same(function, inputs):
    model = function.compile()
    for ours, theirs in zip(function(*inputs), model(*inputs), strict=True):
        np.testing.assert_array_equal(ours, theirs, strict=True)


def test_inputs_have_the_types_of_the_schema():
    def body(i, _condition, x):
        return i < 1, x + 1

    assert int(op.Loop(None, 1, Tensor(3), body=body)) == 5  # the condition is BOOL
    assert op.Loop(M=4, body=lambda i, c: (c, i)).tolist() == [0, 1, 2, 3]
    result = op.If(cond=True, then_branch=lambda: 1, else_branch=lambda: 2)
    assert isinstance(result, np.ndarray) and result == 1


def test_names_for_several_results():
    (only,) = op.If(True, then_branch=lambda: [Tensor(1)], else_branch=lambda: 2)
    assert only == 1
    first, second = op.If(True, then_branch=lambda: (1, 2.5), else_branch=lambda: (3, 4))
    assert (first, second) == (1, 2.5)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        ("op.Loop(2, None, X, body=3)", TypeError, "`Loop` takes a function as `body`, got `3`"),
        ("op.Loop(2, None, X, body=None)", TypeError, "`Loop` needs the attribute `body`"),
        ("op.Loop(2, None, X, body=lambda i, c, x: c)", sardonyx.EvalError,
         "`Loop`: `body` of `Loop` returns 1 values, and must return at least 2"),
        ("op.Loop(2, None, X, body=lambda i, c, x: (x, x))", sardonyx.EvalError,
         "the condition is FLOAT\\[2, 3\\], but must be one BOOL"),
        ("op.Loop(2, None, X, body=lambda i, c: c)", TypeError, "positional argument"),
        ("op.If(X, then_branch=lambda: 1, else_branch=lambda: 2)", sardonyx.EvalError,
         "the condition is"),
        ("op.Scan(X, body=lambda x: x, num_scan_inputs=2)", sardonyx.EvalError,
         "`num_scan_inputs` is 2, but there are 1 inputs"),
        ("op.Scan(X, X[0], body=lambda x, y: x, num_scan_inputs=2)", sardonyx.EvalError,
         "lengths 2 and 3"),
        ("op.Scan(X, body=lambda x: x, num_scan_inputs=1, scan_output_axes=[0, 1])",
         sardonyx.EvalError, "has 2 items, but must have 1"),
        ("op.SequenceMap(X, body=lambda x: x)", sardonyx.EvalError, "must be a sequence"),
        ("sardonyx.opset8.Scan(None, X, X[:1], body=lambda s, x: s, num_scan_inputs=1)",
         sardonyx.EvalError, "same batch axis"),
        ("sardonyx.opset8.Scan([1, 9], X, X, body=lambda s, x: s, num_scan_inputs=1)",
         sardonyx.EvalError, "length 9 is not within the scan inputs' 3"),
        ("sardonyx.opset8.Scan([1], X, X, body=lambda s, x: s, num_scan_inputs=1)",
         sardonyx.EvalError, "one length for each element of the batch"),
        ("op.Loop(2, None, X, body=lambda i, c, x: 1 / 0)", ZeroDivisionError, "zero"),
    ],
)  # fmt: skip
def test_mistakes(call, error, words):
    with pytest.raises(error, match=words):
        eval(call)
    assert not sardonyx._core.inside_script()


def test_rows_must_have_one_shape():
    def body(i, condition, x):
        return condition, x, Tensor(np.zeros(int(i), np.float32))

    with pytest.raises(sardonyx.EvalError, match=r"FLOAT\[1\], but was FLOAT\[0\]"):
        op.Loop(2, None, X, body=body)


SCAN_8 = """
from sardonyx import FLOAT, INT64, graph, opset8 as op, script


@script()
def f(lengths: INT64[2], s: FLOAT[2, 2], x: FLOAT[2, 3, 2]):
    @graph()
    def body(state: FLOAT[2], row: FLOAT[2]):
        return state + row, state * row

    return op.Scan(lengths, s, x, body=body, num_scan_inputs=1, directions=[1])
"""


@pytest.mark.parametrize("lengths", [[3, 3], [1, 3], [0, 2]])
def test_scan_of_opset_8(tmp_path, lengths):
    path = tmp_path / "scan.py"
    path.write_text(SCAN_8)
    function = runpy.run_path(str(path))["f"]
    x = np.arange(12, dtype=np.float32).reshape(2, 3, 2)
    inputs = {"lengths": np.array(lengths), "s": np.ones((2, 2), np.float32), "x": x}
    built = sardonyx.load(function.to_model_bytes()).run(inputs)
    for one, wanted in zip(function(**inputs), built, strict=True):
        np.testing.assert_array_equal(one, wanted)
    rows = [x[b, : lengths[b]][::-1] for b in range(2)]
    np.testing.assert_array_equal(built[0], [1 + one.sum(0) for one in rows])


def test_scan_of_opset_8_over_an_empty_batch():
    state, rows = sardonyx.opset8.Scan(
        None, np.ones((0, 2), np.float32), np.ones((0, 3, 2), np.float32),
        body=lambda s, x: (s + x, s * x), num_scan_inputs=1,
    )  # fmt: skip
    assert (state.shape, rows.shape) == ((0, 2), (0, 3, 2))
