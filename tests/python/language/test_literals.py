"""A literal is the same tensor, or wrong in the same words, in an eager call, in a compiled script
and on the command line."""

from __future__ import annotations

import pathlib
import runpy
import subprocess
from typing import Any

import numpy as np
import onnx
import pytest
import sardonyx

from language import run_ort, shared_compiler
from places import PROGRAM
from surfaces import check, first_finding, refused, text_of

TEXT = """\
from sardonyx import {kind}, opset23 as op, script


@script()
def f(x: {kind}[...]):
    return op.{call}
"""

KINDS = {
    "INT64": np.int64,
    "FLOAT": np.float32,
    "FLOAT16": np.float16,
    "UINT8": np.uint8,
    "BOOL": np.bool_,
}


def surfaces(literal: str, kind: str, folder: pathlib.Path) -> list[Any]:
    """What each surface makes of the literal as a tensor of that type: an array, or its words."""
    call = f"Or({literal}, x)" if kind == "BOOL" else f"Where(True, {literal}, x)"
    path = folder / "program.py"
    path.write_text(TEXT.format(kind=kind, call=call))
    function = runpy.run_path(str(path))["f"]
    zero = np.zeros((), KINDS[kind])
    found: list[Any] = []
    try:
        found.append(np.asarray(function(zero)))
    except (TypeError, ValueError, OverflowError) as error:
        found.append(str(error))
    try:
        model = onnx.load_from_string(function.to_model_bytes())
        found.append(run_ort(model, {"x": zero})[0])
    except sardonyx.CompileError as error:
        found.append(str(error))
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Identity", ["x"], ["y"])],
        "g",
        [
            onnx.helper.make_tensor_value_info(
                "x", onnx.helper.np_dtype_to_tensor_dtype(np.dtype(KINDS[kind])), None
            )
        ],
        [
            onnx.helper.make_tensor_value_info(
                "y", onnx.helper.np_dtype_to_tensor_dtype(np.dtype(KINDS[kind])), None
            )
        ],
    )
    imports = [onnx.helper.make_opsetid("", 23)]
    onnx.save(
        onnx.helper.make_model(graph, opset_imports=imports, ir_version=11), folder / "i.onnx"
    )
    done = subprocess.run(
        [PROGRAM, "run", "i.onnx", f"x={literal}", "-o", "out"],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    found.append(np.load(folder / "out/y.npy") if done.returncode == 0 else done.stderr)
    return found


@pytest.mark.parametrize(
    ("literal", "kind", "expected"),
    [
        ("3", "INT64", 3),
        ("[True, 2]", "INT64", [1, 2]),
        ("[1, 0.5]", "FLOAT", [1, 0.5]),
        ("[True, 0.5]", "FLOAT16", [1, 0.5]),
        ("[[1, 2], [3, 4]]", "FLOAT", [[1, 2], [3, 4]]),
        ("[2.0, 3]", "UINT8", [2, 3]),
        ("[1, 0]", "BOOL", [True, False]),
        ("1.0", "BOOL", True),
        ("[[], []]", "FLOAT", np.zeros((2, 0))),
    ],
)
def test_literals_are_one_tensor(
    literal: str, kind: str, expected: Any, tmp_path: pathlib.Path
) -> None:
    for got in surfaces(literal, kind, tmp_path):
        assert not isinstance(got, str), got
        assert got.dtype == KINDS[kind]
        np.testing.assert_array_equal(got, np.asarray(expected, KINDS[kind]))


@pytest.mark.parametrize("literal", ["4", "[4, 9]", "[True, 4]", "[4, 0.25]"])
def test_ints_are_floats_where_an_operator_takes_no_ints(
    literal: str, tmp_path: pathlib.Path
) -> None:
    path = tmp_path / "program.py"
    path.write_text(TEXT.format(kind="FLOAT", call=f"Add(op.Sqrt({literal}), x)"))
    function = runpy.run_path(str(path))["f"]
    zero = np.zeros((), np.float32)
    expected = np.sqrt(np.asarray(eval(literal), np.float32))
    np.testing.assert_array_equal(np.asarray(function(zero)), expected)
    model = onnx.load_from_string(function.to_model_bytes())
    np.testing.assert_array_equal(run_ort(model, {"x": zero})[0], expected)


@pytest.mark.parametrize(
    ("literal", "kind", "words"),
    [
        ("[1.5, 2]", "INT64", "`1.5` would lose its fraction as INT64"),
        ("0.5", "BOOL", "`0.5` would lose its fraction as BOOL"),
        ("[2, 0]", "BOOL", "BOOL cannot hold 2"),
        ("[[1], [2, 3]]", "FLOAT", "a nested list whose rows differ in length"),
        ("[[1], 2]", "FLOAT", "a nested list whose rows differ in depth"),
        ("[1, [2]]", "FLOAT", "a nested list whose rows differ in depth"),
        ("['a']", "FLOAT", "`['a']` where a tensor of FLOAT is needed"),
        ("[256, 0]", "UINT8", "256"),
    ],
)
def test_wrong_literals_have_the_same_words(
    literal: str, kind: str, words: str, tmp_path: pathlib.Path
) -> None:
    for got in surfaces(literal, kind, tmp_path):
        assert isinstance(got, str), got
        assert words in got


def models(text: str, folder: pathlib.Path) -> list[bytes]:
    """What the command line and Python make of the script `f`; none where both refuse it."""
    answer, data = shared_compiler().compile(text, "f")
    path = folder / "program.py"
    path.write_text(text)
    function = runpy.run_path(str(path))["f"]
    if answer[0] == "ok":
        return [data, function.to_model_bytes()]
    assert first_finding(answer).startswith("unsupported-operand"), answer
    with pytest.raises(sardonyx.CompileError, match="vectors whose size is not known"):
        function.to_model_bytes()
    return []


@pytest.mark.parametrize("size", ['"N"', "None"])
@pytest.mark.parametrize("value", ["[x, y] + z", "z * [x]", "op.Reshape(z, op.Shape([x, y]))"])
def test_vectors_of_any_size_are_neither_elements_nor_rows(
    value: str, size: str, tmp_path: pathlib.Path
) -> None:
    one = np.array([2], np.float32)
    text = text_of(f"return {value}", True, {"x": one, "y": one, "z": one})
    assert not models(text.replace('"N"', size), tmp_path)


def test_a_vector_beside_a_row_is_a_row(tmp_path: pathlib.Path) -> None:
    x, y = np.array([1, 2], np.float32), np.array([3, 4], np.float32)
    text = text_of("return [x, y] + y", True, {"x": x, "y": y}).replace('"N"', "2", 1)
    for model in models(text, tmp_path):
        (got,) = run_ort(onnx.load_from_string(model), {"x": x, "y": y})
        assert np.array_equal(got, [[4, 6], [6, 8]])


@pytest.mark.parametrize("items", ["[np.int64(2)]", "[A[0], 3]", "[3, np.float32(1)]"])
def test_a_list_with_a_number_of_numpy_is_one_of_tensors(
    items: str, tmp_path: pathlib.Path
) -> None:
    body = f"A = np.array([1, 2])\n---\nreturn op.Concat(x, {items}, axis=0)"
    refused(body, tmp_path, "unsupported-operand", x=np.array([1, 2]))


# In Python, True is not equal to 2.
OF_BOOL = ["c == 2", "2 != c", "c | 2", "op.Where(c, 2, c)", "is_two(c)"]
IS_TWO = "@script(default_opset=op)\ndef is_two(v):\n    return v == 2\n---\n"


@pytest.mark.parametrize("value", OF_BOOL)
def test_bool_holds_no_other_numbers(value: str, tmp_path: pathlib.Path) -> None:
    refused(f"{IS_TWO}return {value}", tmp_path, "lossy-literal", c=np.array([True, False]))


def test_numbers_that_bool_holds(tmp_path: pathlib.Path) -> None:
    c = np.array([True, False])
    check("return c == 1, c != 0, c == 1.0, c & True", (c, c, c, c), tmp_path, c=c)


def test_equal_literals_are_one_constant() -> None:
    body = "y = x * 2.0 + 2.0\nfor _ in range(3):\n    y = y / 3.0\nreturn y * 2.0, y + [1.0, 2.0]"
    answer, data = shared_compiler().compile(text_of(body, False, {"x": np.ones(2, np.float32)}))
    assert answer[0] == "ok", answer
    nodes = onnx.load_from_string(data).graph.node
    assert [node.op_type for node in nodes].count("Constant") == 3
