"""Tensors among the tensors of other libraries; evaluators; compiled scripts; maps."""

import copy
import pathlib
import pickle
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest
import sardonyx
from sardonyx import FLOAT, INT64, Tensor, evaluator, script
from sardonyx import opset18 as op

X = np.array([[1.5, -2.0, 3.0], [-4.5, 5.0, 0.5]], np.float32)
ML = sardonyx.opset_ai_onnx_ml3


class Foreign:
    """A tensor of another library: all it has is DLPack."""

    def __init__(self, array):
        self.array = array
        self.asked = []

    def __dlpack__(self, **options):
        self.asked.append(options)
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class OldForeign(Foreign):
    """One from before DLPack 1.0."""

    def __dlpack__(self, stream=None):
        return self.array.__dlpack__(stream=stream)


# --- DLPack --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [Foreign, OldForeign])
def test_a_foreign_tensor_is_not_copied(kind):
    array = X.copy()
    tensor = Tensor(kind(array))
    assert tensor.shape == (2, 3)
    np.testing.assert_array_equal(tensor.value, X)
    assert np.shares_memory(tensor.value, array)


def test_foreign_tensors_are_operands_and_their_results_are_tensors():
    for result in (op.Add(Foreign(X), X), Tensor(X) + Foreign(X), double(Foreign(X))):
        assert isinstance(result, Tensor)
        np.testing.assert_array_equal(result.value, X + X)


@script(default_opset=op)
def double(x: FLOAT["M", "N"]) -> FLOAT["M", "N"]:
    return x + x


def test_a_foreign_tensor_lives_as_long_as_its_elements_are_used():
    tensor = Tensor(Foreign(X.copy()))
    part = op.Identity(tensor)
    del tensor
    np.testing.assert_array_equal(part.value, X)


@pytest.mark.parametrize("view", [X.T, X[:, ::2], X[::-1], X[:0], X[1, 2:], np.array(3.0)])
def test_foreign_tensors_of_any_layout(view):
    np.testing.assert_array_equal(Tensor(Foreign(view)).value, view)


@pytest.mark.parametrize(
    "dtype",
    [
        "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
        "float16", "float32", "float64", "complex64", "complex128",
    ],
)  # fmt: skip
def test_element_types_survive_both_ways(dtype):
    array = np.array([[0, 1, 2], [1, 0, 1]]).astype(dtype)
    assert Tensor(Foreign(array)).dtype == array.dtype
    back = np.from_dlpack(Tensor(array))
    assert back.dtype == array.dtype
    np.testing.assert_array_equal(back, array)


def test_a_consumer_shares_the_elements_and_may_not_write_them():
    tensor = Tensor(X)
    array = np.from_dlpack(tensor)
    assert np.shares_memory(array, X)
    assert not array.flags.writeable
    assert tensor.__dlpack_device__() == (1, 0)
    assert not np.shares_memory(np.from_dlpack(tensor, copy=True), X)


def test_a_consumer_keeps_the_elements():
    array = np.from_dlpack(Tensor(X) + 1.0)
    np.testing.assert_array_equal(array, X + 1)
    tensor = Tensor(X)
    array = np.from_dlpack(tensor)
    tensor[0, 0] = 9
    np.testing.assert_array_equal(array, X)


def test_small_floats_leave_through_dlpack():
    tensor = Tensor(X.astype(ml_dtypes.bfloat16))
    np.testing.assert_array_equal(Tensor(Foreign(tensor)).value, tensor.value)
    assert Tensor(Foreign(tensor)).onnx_dtype == tensor.onnx_dtype


@pytest.mark.parametrize("value", [["a"], np.array([1, 2]).astype(ml_dtypes.int4)])
def test_what_cannot_leave_through_dlpack(value):
    with pytest.raises(BufferError, match="cast it first"):
        Tensor(value).__dlpack__()


def test_what_a_foreign_tensor_refuses_is_said_in_its_words():
    class Refusing(Foreign):
        def __dlpack__(self, **options):
            raise BufferError("detach it first")

    with pytest.raises(BufferError, match="detach it first"):
        Tensor(Refusing(X))


@pytest.mark.torch
def test_torch():
    torch = pytest.importorskip("torch")
    x = torch.arange(6.0).reshape(2, 3)
    tensor = Tensor(x)
    assert tensor.value.ctypes.data == x.data_ptr()
    assert torch.from_dlpack(tensor).data_ptr() == x.data_ptr()
    np.testing.assert_array_equal(Tensor(x.T).value, x.T.tolist())
    half = op.Identity(x.to(torch.bfloat16))
    assert torch.equal(torch.from_dlpack(half), x.to(torch.bfloat16))


# --- Members -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value", [X, np.zeros((0, 3), np.int8), ["a", ""], True, X.astype(ml_dtypes.bfloat16)]
)
def test_pickles_and_copies(value):
    tensor = Tensor(value)
    for again in (pickle.loads(pickle.dumps(tensor)), copy.deepcopy(tensor), copy.copy(tensor)):
        assert type(again) is Tensor
        assert again.onnx_dtype == tensor.onnx_dtype
        np.testing.assert_array_equal(again.value, tensor.value)


def test_notebooks_show_a_table():
    html = Tensor(X)._repr_html_()
    assert html.startswith("<table><caption>FLOAT[2, 3]</caption><tr><td>1.5</td>")
    assert "&lt;b&gt;" in Tensor(["<b>"])._repr_html_()
    large = Tensor(np.zeros((1000, 1000), np.float32))._repr_html_()
    assert large.count("<tr>") == 21
    assert len(large) < 10_000
    assert Tensor(np.zeros((2, 2, 2)))._repr_html_().startswith("<pre>Tensor(")
    assert "7" in Tensor(7)._repr_html_()


def test_names_of_the_array_api():
    tensor = Tensor(X)
    assert tensor.device == "cpu"
    assert tensor.to_device("cpu") is tensor
    with pytest.raises(ValueError, match="CPU"):
        tensor.to_device("cuda")
    assert complex(Tensor(np.complex64(1 + 2j))) == 1 + 2j
    assert complex(Tensor(1.5)) == 1.5


def test_items_are_not_deleted():
    tensor = Tensor(X)
    with pytest.raises(TypeError, match="cannot be deleted"):
        del tensor[0]


# --- Evaluators ----------------------------------------------------------------------------------


class Counting(evaluator.Evaluator):
    """One of a user's own."""

    def __init__(self):
        self.names = []

    def eval(self, op, inputs, attributes, output_count):
        self.names.append(op.name)
        return evaluator.native.eval(op, inputs, attributes, output_count)


def test_an_evaluator_for_one_call():
    counting = Counting()
    np.testing.assert_array_equal(counting.call(op.Add, X, X), X + X)
    np.testing.assert_array_equal(counting.call(double, X), X + X)
    assert counting.names == ["Add", "Add"]
    assert evaluator.default() is evaluator.native


@pytest.mark.parametrize("name", ["native", "onnxruntime", "reference"])
def test_an_evaluator_for_a_block(name):
    chosen = getattr(evaluator, name)
    with chosen as current, chosen:
        assert evaluator.default() is current is chosen
        np.testing.assert_array_equal(op.Add(X, X), X + X)
    assert evaluator.default() is evaluator.native


def test_an_evaluator_ends_with_its_block_after_an_error():
    counting = Counting()
    with pytest.raises(TypeError), counting:
        op.Add(X)
    assert evaluator.default() is evaluator.native


def test_an_evaluator_from_now_on():
    counting = Counting()
    evaluator.set_default(counting)
    try:
        op.Abs(X)
        with evaluator.native:
            op.Neg(X)
        op.Abs(X)
    finally:
        evaluator.set_default(evaluator.native)
    assert counting.names == ["Abs", "Abs"]


@pytest.mark.parametrize("name", ["native", "onnxruntime", "reference"])
def test_evaluators_take_sequences_maps_and_strings(name):
    with getattr(evaluator, name):
        parts = op.SplitToSequence(X[0], [1, 2])
        assert [part.tolist() for part in parts] == [[1.5], [-2.0, 3.0]]
        np.testing.assert_array_equal(op.ConcatFromSequence(parts, axis=0), X[0])
        assert len(op.SequenceInsert(op.SequenceEmpty(dtype=1), X)) == 1
        scores = ML.DictVectorizer({"a": 1.0, "b": 2.0}, string_vocabulary=["b", "a", "c"])
        assert scores.ravel().tolist() == [2, 1, 0]
        words = op.Identity(np.array(["a", "bc"], object))
        assert words.tolist() == ["a", "bc"]
        assert op.Dropout(X).tolist() == X.tolist()


# --- The page ------------------------------------------------------------------------------------


def test_the_examples_of_the_page_run(tmp_path):
    page = pathlib.Path(__file__).resolve().parents[3] / "docs/eager.md"
    blocks = page.read_text().split("```python\n")[1:]
    program = tmp_path / "page.py"
    program.write_text("\n".join(block.partition("```")[0] for block in blocks))
    subprocess.run([sys.executable, program], check=True)


# --- Compiled scripts ----------------------------------------------------------------------------


@script(default_opset=op)
def halved(x: FLOAT["N"], steps: INT64, base: float = 2.0) -> FLOAT["N"]:
    for _ in range(steps):
        x = x / base
    return x


def test_a_compiled_script_runs_as_one_graph():
    run = halved.compile()
    x = np.arange(5, dtype=np.float32)
    for steps in (0, 1, 7):
        eager = halved(x, np.int64(steps))
        np.testing.assert_array_equal(run(x, steps), eager)
        np.testing.assert_array_equal(run(steps=np.int64(steps), x=x), eager)
    assert isinstance(run(x, 1), np.ndarray)
    assert isinstance(run(Tensor(x), 1), Tensor)
    assert isinstance(run(Foreign(x), 1), Tensor)
    tenth = halved.compile(attributes={"base": 10.0})
    np.testing.assert_array_equal(tenth(x, 1), halved(x, np.int64(1), base=10.0))


def test_mistakes_in_calls_of_a_compiled_script():
    run = halved.compile()
    x = np.arange(5, dtype=np.float32)
    with pytest.raises(TypeError, match="3 arguments for the 2 inputs of the model: `"):
        run(x, 1, 2)
    with pytest.raises(TypeError, match="`x` is given twice"):
        run(x, 1, x=x)
    with pytest.raises(sardonyx.EvalError, match=r"`steps`.* is missing"):
        run(x)
    with pytest.raises(sardonyx.EvalError, match="no input `y`"):
        run(x, 1, y=x)
    with pytest.raises(sardonyx.EvalError, match="`x` is FLOAT"):
        run(X, 1)


# --- Maps ----------------------------------------------------------------------------------------


def test_maps_come_from_dicts():
    got = ML.DictVectorizer({"a": 1.0, "b": 2.0}, string_vocabulary=["b", "a", "c"])
    np.testing.assert_array_equal(got, np.float32([[2, 1, 0]]))
    got = ML.DictVectorizer({np.int64(7): 3, np.int64(9): 4}, int64_vocabulary=[9, 8, 7])
    assert got.tolist() == [[4, 0, 3]]
    got = ML.DictVectorizer({7: 3, 9: 4}, int64_vocabulary=[9, 8, 7])
    np.testing.assert_array_equal(got, [[4, 0, 3]])
    np.testing.assert_array_equal(ML.CastMap({1: 2.0, 3: 4.0}), np.float32([[2, 4]]))


@script(default_opset=op)
def unchanged(values):
    return values


def test_maps_become_dicts_and_go_through_scripts():
    scores = ML.ZipMap(X[:, :2], classlabels_strings=["no", "yes"])
    assert scores == [{"no": 1.5, "yes": -2.0}, {"no": -4.5, "yes": 5.0}]
    assert unchanged(scores) == scores
    assert unchanged(scores[0]) == scores[0]


def test_maps_with_mixed_keys_are_refused():
    for key in (1, np.int64(1)):
        with pytest.raises((TypeError, ValueError)):
            ML.CastMap({key: 2.0, "a": 3.0})
    with pytest.raises(TypeError, match="keys of a map"):
        ML.CastMap({1.5: 2.0})
