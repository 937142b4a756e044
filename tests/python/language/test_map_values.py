"""Mapping[...] and SPARSE[...]: maps and sparse tensors as types, on all surfaces."""

from __future__ import annotations

import pathlib
import pickle
import runpy
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import pytest
import sardonyx

from language import run_ort
from places import PROGRAM

TEXT = """
from collections.abc import Mapping, Sequence

from sardonyx import FLOAT, INT64, SPARSE, STRING, script
from sardonyx import Opset
from sardonyx import opset_ai_onnx_ml1 as ml

own = Opset("own", 1)


@script()
def vector(d: Mapping[STRING, FLOAT]) -> FLOAT[1, 3]:
    return ml.DictVectorizer(d, string_vocabulary=["a", "b", "c"])


@script()
def padded(d: dict[INT64, FLOAT]) -> FLOAT[1, "N"]:
    return ml.CastMap(d, cast_to="TO_FLOAT", map_form="SPARSE", max_map=4)


@script()
def zipped(x: FLOAT["N", 2]) -> Sequence[Mapping[INT64, FLOAT]]:
    return ml.ZipMap(x, classlabels_int64s=[5, 7])


@script()
def sparse(x: SPARSE[FLOAT["N", 4]]) -> FLOAT["N"]:
    return own.RowSums(x)
"""
ROWS = np.array([[1, 2], [3, 4]], np.float32)
RUNS: list[tuple[str, dict[str, Any], Any]] = [
    ("vector", {"d": {"a": 1.0, "c": 3.0}}, [[1, 0, 3]]),
    ("padded", {"d": {1: 2.0, 3: 4.0}}, [[0, 2, 0, 4]]),
    ("zipped", {"x": ROWS}, [{5: 1.0, 7: 2.0}, {5: 3.0, 7: 4.0}]),
]


@pytest.fixture(name="program")
def _program(tmp_path) -> pathlib.Path:
    path = tmp_path / "program.py"
    path.write_text(TEXT)
    return path


def built(program: pathlib.Path, name: str) -> bytes:
    """The model of the file's script, the same from Python and from the command line."""
    target = program.with_suffix(".onnx")
    subprocess.run([PROGRAM, "build", f"{program}:{name}", "-o", target, "-q"], check=True)
    data: bytes = runpy.run_path(str(program))[name].to_model_bytes()
    assert target.read_bytes() == data
    return data


def comes_back(program: pathlib.Path, name: str, data: bytes) -> None:
    model = sardonyx.load(data)
    again = program.with_name("again.py")
    again.write_text(sardonyx.decompile(model))
    rebuilt = sardonyx.load(built(again, name))
    assert rebuilt.is_isomorphic(model)
    assert [str(one.type) for one in rebuilt.graph.inputs] == [
        str(one.type) for one in model.graph.inputs
    ]
    exact = program.with_name("exact.py")
    exact.write_text(sardonyx.decompile(model, exact=True))
    target = program.with_name("exact.onnx")
    subprocess.run([PROGRAM, "build", exact, "-o", target, "-q"], check=True)
    assert target.read_bytes() == data


@pytest.mark.parametrize(("name", "inputs", "expected"), RUNS)
def test_maps(program, name, inputs, expected):
    data = built(program, name)
    onnx.checker.check_model(onnx.load_from_string(data), full_check=True)
    for got in (
        runpy.run_path(str(program))[name](**inputs),
        sardonyx.load(data).run(inputs)[0],
        run_ort(onnx.load_from_string(data), inputs)[0],
    ):
        if isinstance(expected[0], dict):
            assert got == expected
        else:
            np.testing.assert_array_equal(got, expected)
    comes_back(program, name, data)


@pytest.mark.parametrize(
    "given",
    [{"a": 1, "c": 3}, {"a": np.float32(1), "c": np.float32(3)}, {"a": np.float64(1), "c": 3}],
)
def test_maps_have_declared_types(program, given):
    """As ONNX Runtime does it; the results were INT64 where the model says FLOAT."""
    data = built(program, "vector")
    [wanted] = run_ort(onnx.load_from_string(data), {"d": given})
    for got in (sardonyx.load(data).run({"d": given})[0], runpy.run_path(program)["vector"](given)):
        assert got.dtype == wanted.dtype
        np.testing.assert_array_equal(got, wanted)


def test_models_refuse_maps_and_sequences_of_other_types(program):
    model = sardonyx.load(built(program, "vector"))
    for given, words in (
        ({"a": np.float64(1), "b": np.int64(1)}, r"is Map\[STRING, DOUBLE\] of 2"),
        ({1: 1.0}, "INT64|STRING"),
        ([{"a": 1.0}], "is Sequence"),
    ):
        with pytest.raises((sardonyx.EvalError, TypeError, ValueError), match=words):
            model.run({"d": given})
    for call in (runpy.run_path(str(program))["vector"], model):
        with pytest.raises(TypeError, match="FLOAT is needed: give a number"):
            call({"a": "x"})
    x = onnx.helper.make_tensor_sequence_value_info("x", 1, ["N"])
    y = onnx.helper.make_tensor_value_info("y", 1, ["M"])
    node = onnx.helper.make_node("ConcatFromSequence", ["x"], ["y"], axis=0)
    graph = onnx.helper.make_graph([node], "g", [x], [y])
    opsets = [onnx.helper.make_opsetid("", 18)]
    joined = sardonyx.load(onnx.helper.make_model(graph, opset_imports=opsets, ir_version=8))
    for rows in ([[1, 2], [3]], [np.float32([1, 2]), [3]]):
        [got] = joined.run({"x": rows})
        assert got.dtype == np.float32
        np.testing.assert_array_equal(got, [1, 2, 3])
    with pytest.raises(sardonyx.EvalError, match=r"is Sequence\[DOUBLE\] of 1, but the graph decl"):
        joined.run({"x": [np.ones(2)]})


def test_sparse_tensors(program):
    data = built(program, "sparse")
    of_input = onnx.load_from_string(data).graph.input[0].type.sparse_tensor_type
    assert of_input.elem_type == 1
    assert [dim.dim_value or dim.dim_param for dim in of_input.shape.dim] == ["N", 4]
    comes_back(program, "sparse", data)


def test_types_of_host_code():
    """Where Python gives a type: of a TypeProto, of typing's and our own forms."""
    maps = Mapping[sardonyx.STRING, sardonyx.FLOAT]
    for given, words in (
        (maps, "Map[STRING, FLOAT]"),
        (dict[sardonyx.INT64, sardonyx.FLOAT["N"]], "Map[INT64, FLOAT[N]]"),
        (Sequence[maps], "Sequence[Map[STRING, FLOAT]]"),
        (sardonyx.SPARSE[sardonyx.FLOAT["N"]], "SparseTensor[FLOAT[N]]"),
        (sardonyx.OPTIONAL[sardonyx.FLOAT["N"]], "Optional[FLOAT[N]]"),
    ):
        builder = sardonyx.Builder(opset=18)
        value = builder.input("x", given)
        assert str(value.type) == words
    assert (
        pickle.loads(pickle.dumps(sardonyx.SPARSE[sardonyx.FLOAT]))
        == sardonyx.SPARSE[sardonyx.FLOAT]
    )


@pytest.mark.parametrize(
    "annotation",
    ["Mapping[FLOAT, FLOAT]", "Mapping[STRING]", "Mapping[STRING, int]", "SPARSE[Sequence[FLOAT]]"],
)
def test_mistakes(program, annotation):
    program.write_text(f"{TEXT}\n\n@script()\ndef f(d: {annotation}):\n    return own.Use(d)\n")
    done = subprocess.run([PROGRAM, "check", program], capture_output=True, text=True, check=False)
    assert "[unknown-annotation]" in done.stdout and annotation in done.stdout
