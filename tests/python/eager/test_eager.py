"""Operators and Tensors, evaluated at once, against NumPy, ONNX Runtime and onnx.reference."""

import math
import os
import pathlib
from collections.abc import Sequence

import ml_dtypes
import numpy as np
import onnx
import pytest
import sardonyx
from onnx import numpy_helper
from sardonyx import FLOAT, INT64, OPTIONAL, evaluator, onnx_opset
from sardonyx import opset18 as op
from sardonyx.tensor import Tensor
from sardonyx.values import Opset

X = np.array([[1.5, -2.0, 3.0], [-4.5, 5.0, 0.5]], np.float32)
NEWEST = onnx_opset.all_opsets[("", onnx_opset.onnx_opset_version())]
I = np.array([7, -7, 5, -5], np.int64)  # noqa: E741
J = np.array([2, 2, -3, -3], np.int64)


# --- What comes in and goes out ------------------------------------------------------------------


def test_arrays_in_arrays_out():
    result = op.Add(X, X)
    assert isinstance(result, np.ndarray)
    np.testing.assert_array_equal(result, X + X)


def test_tensors_in_tensors_out():
    result = op.Add(Tensor(X), X)
    assert isinstance(result, Tensor)
    np.testing.assert_array_equal(result.value, X + X)


def test_an_array_is_not_copied():
    assert Tensor(X).value is X
    tensor = op.Identity(Tensor(X))
    assert np.shares_memory(tensor.value, X)


def test_results_can_be_written():
    for result in (op.Add(X, X), op.Identity(X)):
        before = X.copy()
        result[0, 0] = 9.0
        assert result[0, 0] == 9.0
        np.testing.assert_array_equal(X, before)


def test_several_results():
    values, indices = op.TopK(X, [2])
    np.testing.assert_array_equal(values, [[3.0, 1.5], [5.0, 0.5]])
    np.testing.assert_array_equal(indices, [[2, 0], [1, 2]])
    assert isinstance(op.TopK(X, [2]), tuple)


def test_as_many_results_as_are_unpacked():
    first, mask = op.Dropout(X)
    np.testing.assert_array_equal(first, X)
    assert mask.dtype == np.bool_
    assert isinstance(op.Dropout(X), np.ndarray)
    parts = op.Split(np.arange(6, dtype=np.float32), num_outputs=3)
    assert [part.tolist() for part in parts] == [[0, 1], [2, 3], [4, 5]]


@sardonyx.script()
def at(s: Sequence[FLOAT], i: INT64):
    return op.SequenceAt(s, i), op.SequenceLength(s)


@pytest.mark.parametrize(
    ("items", "wanted"),
    [
        ([X, 2 * X], (2 * X, 2)),
        ((X, X[0]), (X[0], 2)),
        ([1, 2.5], (2.5, 2)),
        ([[1, 2], [3]], ([3], 2)),
        ([X, 7], (7, 2)),
        ([np.zeros(2)], "DOUBLE"),
        ([X, np.zeros(2, np.int64)], "INT64"),
        (X, "FLOAT"),
    ],
)
def test_lists_as_sequences(items, wanted):
    """As the annotation says; the model of the script takes and refuses the same."""
    for call, refusal in ((at, TypeError), (at.compile(), sardonyx.EvalError)):
        if isinstance(wanted, str):
            with pytest.raises(refusal, match=rf"Sequence.*{wanted}|{wanted}.*Sequence"):
                call(items, -1)
            continue
        item, count = call(items, -1)
        np.testing.assert_array_equal(item, np.array(wanted[0], np.float32))
        assert item.dtype == np.float32 and count == wanted[1]


@sardonyx.script(default_opset=op)
def rank(s: Sequence[FLOAT]):
    return len(s[0].shape)


@sardonyx.script(default_opset=op)
def as_long(s: Sequence[FLOAT["N"]], x: FLOAT["N"]):
    return s[0].shape[0] == s[1].shape[0] and s[1].shape[0] == x.shape[0]


@sardonyx.script(default_opset=op)
def optional_rank(s: OPTIONAL[FLOAT]):
    return 7 if s is None else len(s.shape)


@sardonyx.script(default_opset=op)
def threes(s: Sequence[FLOAT[3]]):
    return s[-1].shape[0]


@sardonyx.script(default_opset=op)
def passed(x: FLOAT["N"]):
    return at([x, x[0]], 0)[0]


A, B = np.zeros(2, np.float32), np.zeros(3, np.float32)


@pytest.mark.parametrize(
    ("function", "arguments", "wanted"),
    [
        (rank, [[A, X]], 1),
        (rank, [[X[0][0]]], 0),
        (as_long, [[A, A], A], True),
        (as_long, [[A, B], A], None),
        (as_long, [[A, A], B], None),
        (optional_rank, [X], 2),
        (optional_rank, [None], 7),
        (threes, [[B, B]], 3),
        (threes, [[B, A]], None),
        (threes, [[X]], None),
        (passed, [A], A),
    ],
)
def test_shapes_of_items(function, arguments, wanted):
    """FLOAT alone says nothing of the shapes of items; sizes and names hold for each of them."""
    for call, refusal in ((function, TypeError), (function.compile(), sardonyx.EvalError)):
        if wanted is None:
            with pytest.raises(refusal):
                call(*arguments)
        else:
            np.testing.assert_array_equal(call(*arguments), wanted)


def test_sequences():
    sequence = op.SplitToSequence(np.arange(4, dtype=np.float32), [1, 3])
    assert isinstance(sequence, list)
    assert [part.tolist() for part in sequence] == [[0], [1, 2, 3]]
    np.testing.assert_array_equal(op.ConcatFromSequence(sequence, axis=0), np.arange(4))
    assert op.SequenceLength(sequence) == 2


def test_non_contiguous_and_foreign_byte_order():
    np.testing.assert_array_equal(op.Identity(X.T), X.T)
    np.testing.assert_array_equal(op.Identity(X[:, ::-1]), X[:, ::-1])
    big = X.astype(">f4")
    np.testing.assert_array_equal(op.Add(big, X), X + X)


@pytest.mark.parametrize(
    "dtype",
    [
        "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
        "float16", "float32", "float64", "complex64", "complex128",
    ],
)  # fmt: skip
def test_numpy_types_survive(dtype):
    array = np.array([[0, 1, 2], [1, 0, 1]]).astype(dtype)
    tensor = Tensor(array)
    assert tensor.dtype == array.dtype
    assert tensor.onnx_dtype == onnx.helper.np_dtype_to_tensor_dtype(array.dtype)
    np.testing.assert_array_equal(Tensor(tensor[0]).value, array[0])


@pytest.mark.parametrize(
    "name",
    [
        "bfloat16", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz",
        "float8_e8m0fnu", "float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn",
        "int4", "uint4", "int2", "uint2",
    ],
)  # fmt: skip
def test_small_types_survive(name):
    dtype = np.dtype(getattr(ml_dtypes, name))
    array = np.array([1, 0, 1, 2, 1]).astype(dtype)
    if name in ("int4", "int2"):
        array = np.array([-1, 0, 1, -2, 1]).astype(dtype)
    unpacked = Tensor(numpy_helper.from_array(array))
    assert unpacked.dtype == dtype
    np.testing.assert_array_equal(unpacked.value.astype(np.float32), array.astype(np.float32))
    if not name.startswith("float6"):  # which no operator takes yet
        copy = NEWEST.Identity(Tensor(array))
        assert copy.value is not array
        np.testing.assert_array_equal(copy.value.astype(np.float32), array.astype(np.float32))


def test_strings():
    words = np.array([["a", "bc"], ["", "\u00e4\u4e16"]], dtype=object)
    tensor = Tensor(words)
    assert tensor.onnx_dtype == onnx.TensorProto.STRING
    np.testing.assert_array_equal(op.Identity(tensor).value, words)
    np.testing.assert_array_equal(Tensor(np.array(["x", "yz"])).value, ["x", "yz"])


def test_bytes_that_are_no_text_survive():
    proto = onnx.TensorProto(data_type=onnx.TensorProto.STRING, dims=[1], string_data=[b"\xff\x00"])
    assert Tensor(proto).value[0].encode("utf-8", "surrogateescape") == b"\xff\x00"


def test_tensor_protos_and_scalars():
    np.testing.assert_array_equal(Tensor(numpy_helper.from_array(X)).value, X)
    assert Tensor(3).dtype == np.int64
    assert Tensor(3.0).dtype == np.float32
    assert Tensor(True).dtype == np.bool_
    assert Tensor([[1, 2], [3, 4]]).shape == (2, 2)
    assert Tensor(np.float64(2.0)).dtype == np.float64


def test_what_is_no_tensor():
    with pytest.raises(TypeError, match="`dict` cannot be a tensor"):
        Tensor({})
    with pytest.raises(ValueError, match="rows differ"):
        Tensor([[1, 2], [3]])
    with pytest.raises(TypeError, match="datetime64"):
        Tensor(np.array(["2020-01-01"], "datetime64[D]"))


# --- Tensor --------------------------------------------------------------------------------------


def test_properties():
    tensor = Tensor(X)
    assert (tensor.shape, tensor.rank, tensor.is_scalar) == ((2, 3), 2, False)
    assert tensor.dtype == np.float32 == sardonyx.FLOAT.dtype
    assert tensor.onnx_dtype == onnx.TensorProto.FLOAT == sardonyx.FLOAT.dtype
    assert Tensor(1.0).is_scalar


def test_repr_shows_elements_and_type():
    assert repr(Tensor(np.array([1, 2]))) == "Tensor([1, 2], INT64[2])"


def test_truth():
    assert Tensor(True) and not Tensor(0.0)
    with pytest.raises(ValueError, match="ambiguous"):
        bool(Tensor(X))


def test_numbers():
    assert list(range(Tensor(3))) == [0, 1, 2]
    assert int(Tensor(3.7)) == 3
    assert float(Tensor([2.5])) == 2.5
    with pytest.raises(TypeError, match="FLOAT"):
        range(Tensor(3.0))
    with pytest.raises(ValueError, match="6 elements"):
        float(Tensor(X))


def test_length_and_iteration():
    assert len(Tensor(X)) == 2
    assert [row.value.tolist() for row in Tensor(X)] == X.tolist()
    with pytest.raises(TypeError):
        len(Tensor(1.0))


def test_numpy_takes_it():
    np.testing.assert_array_equal(np.asarray(Tensor(X)), X)
    np.testing.assert_array_equal(np.add(Tensor(X).value, X), X + X)
    small = X.astype(ml_dtypes.bfloat16)
    assert np.asarray(op.Identity(Tensor(small))).dtype == small.dtype


BINARY = ["+", "-", "*", "/", "//", "%", "**", "==", "!=", "<", "<=", ">", ">="]


@pytest.mark.parametrize("symbol", BINARY)
def test_operators_on_floats(symbol):
    a, b = np.abs(X), np.array([2.0, -0.5, 3.0], np.float32)
    got = eval(f"a {symbol} b", {"a": Tensor(a), "b": Tensor(b)})
    np.testing.assert_allclose(got.value, eval(f"a {symbol} b"), rtol=1e-6)
    reflected = eval(f"b {symbol} a", {"a": Tensor(a), "b": b})
    np.testing.assert_allclose(reflected.value, eval(f"b {symbol} a"), rtol=1e-6)
    scalar = eval(f"a {symbol} 2.0", {"a": Tensor(a)})
    np.testing.assert_allclose(scalar.value, eval(f"a {symbol} 2.0"), rtol=1e-6)


@pytest.mark.parametrize("symbol", ["+", "-", "*", "//", "%", "&", "|", "^", "==", "<", ">="])
def test_operators_on_integers(symbol):
    got = eval(f"a {symbol} b", {"a": Tensor(I), "b": Tensor(J)})
    np.testing.assert_array_equal(got.value, eval(f"a {symbol} b", {"a": I, "b": J}))


@pytest.mark.parametrize("symbol", ["<<", ">>"])
@pytest.mark.parametrize("dtype", [np.uint8, np.int32])
def test_shifts(symbol, dtype):
    a, b = np.array([1, 5, 100], dtype), np.array([0, 1, 2], dtype)
    got = eval(f"a {symbol} b", {"a": Tensor(a), "b": Tensor(b)})
    np.testing.assert_array_equal(got.value, eval(f"a {symbol} b"))


def test_unary_operators():
    np.testing.assert_array_equal((-Tensor(X)).value, -X)
    np.testing.assert_array_equal((+Tensor(X)).value, X)
    np.testing.assert_array_equal((~Tensor(I)).value, ~I)
    np.testing.assert_array_equal((~Tensor(X > 0)).value, ~(X > 0))


def test_logical_operators():
    a, b = X > 0, X < 2
    np.testing.assert_array_equal((Tensor(a) & Tensor(b)).value, a & b)
    np.testing.assert_array_equal((Tensor(a) | b).value, a | b)
    np.testing.assert_array_equal((Tensor(a) ^ b).value, a ^ b)


def test_matmul_and_reflected_array():
    np.testing.assert_allclose((Tensor(X) @ X.T).value, X @ X.T, rtol=1e-6)
    result = X @ Tensor(X.T)
    assert isinstance(result, Tensor)
    np.testing.assert_allclose(result.value, X @ X.T, rtol=1e-6)


def test_a_fraction_is_not_lost():
    with pytest.raises(TypeError, match="lose its fraction"):
        Tensor(I) + 1.5
    assert (Tensor(I) + 1.0).dtype == np.int64


def test_operators_with_something_else():
    with pytest.raises(TypeError):
        Tensor(X) + object()
    assert (Tensor(X) == None) is False  # noqa: E711


INDICES = [
    "0", "-1", "1, 2", "-1, 2", "1:", ":, 1", ":, ::-1", "..., 0", "0, ...", "None", ":, None, 1",
    "::2, 1:", "[1, 0]", ":, [2, 0]", "[0, 1], [2, 0]", "x > 0", "-1, 1:", "::-1", "0:5",
]  # fmt: skip


@pytest.mark.parametrize("index", INDICES)
def test_indexing(index):
    got = eval(f"t[{index}]", {"t": Tensor(X), "x": Tensor(X)})
    np.testing.assert_array_equal(got.value, eval(f"x[{index}]", {"x": X}))


def test_indexing_with_tensors():
    i = Tensor(np.int64(1))
    np.testing.assert_array_equal(Tensor(X)[i].value, X[1])
    np.testing.assert_array_equal(Tensor(X)[:, i:].value, X[:, 1:])


def test_bad_indices():
    for index in ("a", 1.5, True):
        with pytest.raises(TypeError, match="is not an index"):
            Tensor(X)[index]
    with pytest.raises(IndexError):
        Tensor(X)[2]
    with pytest.raises(TypeError, match="rank 2"):
        Tensor(X)[0, 0, 0]


# --- Operators -----------------------------------------------------------------------------------


def test_python_values_take_the_type_of_the_tensors_beside_them():
    half = X.astype(np.float16)
    assert op.Add(half, 1).dtype == np.float16
    assert op.Clip(X, 0, 2.0).dtype == np.float32
    assert op.Where(X > 0, X, 0).dtype == np.float32
    assert op.Reshape(X, [3, -1]).shape == (3, 2)
    assert op.Add(1, 2).dtype == np.int64
    assert op.Exp(1).dtype == np.float32


def test_keyword_inputs_and_optional_inputs():
    np.testing.assert_array_equal(op.Clip(X, max=1.0), np.minimum(X, 1.0))
    np.testing.assert_array_equal(op.Clip(X, None, 1.0), np.minimum(X, 1.0))
    np.testing.assert_allclose(op.ReduceSum(X, axes=[1], keepdims=0), X.sum(1), rtol=1e-6)
    np.testing.assert_array_equal(op.Concat(X, X, axis=0), np.concatenate([X, X]))


@pytest.mark.parametrize(
    "to", [1, sardonyx.FLOAT, sardonyx.FLOAT.dtype, np.float32, np.dtype("f4")]
)
def test_element_types_as_attributes(to):
    assert op.Cast(I, to=to).dtype == np.float32


def test_tensor_attributes():
    np.testing.assert_array_equal(op.Constant(value=X), X)
    np.testing.assert_array_equal(op.Constant(value=numpy_helper.from_array(X)), X)
    np.testing.assert_array_equal(op.Constant(value_ints=[1, 2]), [1, 2])
    assert op.Constant(value_float=2.5) == np.float32(2.5)
    np.testing.assert_array_equal(op.ConstantOfShape([2], value=np.array([3])), [3, 3])


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        ("op.Ad(X)", AttributeError, "did you mean `Add`"),
        ("op.Gelu(X)", AttributeError, "opset 20"),
        ("op.Add(X)", TypeError, "`Add` takes 2 inputs, and `B` is missing"),
        ("op.Add(X, X, X)", TypeError, "`Add` takes 2 inputs, not 3"),
        ("op.Add(X, X, A=X)", TypeError, "`Add` gets its input `A` twice"),
        ("op.TopK(X, [1], axsi=1)", TypeError, "did you mean `axis`"),
        ("op.Cast(X)", TypeError, "`Cast` needs the attribute `to`"),
        ("op.Cast(X, to='FLOAT')", TypeError, "takes INT"),
        ("op.Softmax(X, axis=1.5)", TypeError, "takes INT"),
        ("op.Softmax(X, axis=Tensor(1))", TypeError, "takes INT"),
        ("op.Transpose(X, perm=1)", TypeError, "takes INTS"),
        ("op.Pad(X, [1, 1, 1, 1], mode='mirror')", ValueError, "one of `constant`"),
        ("op.Add(X, I)", sardonyx.EvalError, "FLOAT"),
        ("op.Add(X, np.ones(7, np.float32))", sardonyx.EvalError, "Add"),
        ("Opset('my.domain', 1).Thing(X)", AttributeError, "my.domain"),
        ("Opset('', 'a')", TypeError, "version"),
    ],
)
def test_mistakes(call, error, words):
    with pytest.raises(error, match=words):
        eval(call)


def test_opsets():
    assert op == Opset("", 18) == Opset("ai.onnx", 18)
    assert hash(op) == hash(Opset("", 18))
    assert (op.domain, op.version) == ("", 18)
    assert "Add" in op and "Gelu" not in op
    assert "Add" in dir(op) and "Gelu" not in dir(op)
    assert op.Add is op.Add
    assert op.Add.op_schema.since_version == op.Add.since_version == 14
    assert op.Add.__doc__.startswith("Add(A, B)")
    assert onnx_opset.all_opsets[("", 18)] == op
    newest = onnx.defs.onnx_opset_version()
    assert onnx_opset.onnx_opset_version() == newest
    assert getattr(sardonyx, f"opset{newest}").version == newest
    assert sardonyx.opset_ai_onnx_ml3 == Opset("ai.onnx.ml", 3)
    with pytest.raises(AttributeError, match="newest"):
        sardonyx.opset99  # noqa: B018


# --- Control flow with Python functions as bodies ------------------------------------------------


def test_if_runs_a_branch():
    result = op.If(np.array(True), then_branch=lambda: Tensor(1), else_branch=lambda: Tensor(2))
    assert result == 1


def test_loop_carries_and_collects():
    def body(i, _condition, total):
        total = total + i
        return total < 7, total, total * 2

    total, doubled = op.Loop(10, None, Tensor(0), body=body)
    assert int(total) == 10
    assert doubled.value.tolist() == [0, 2, 6, 12, 20]


def test_loop_without_a_turn():
    assert int(op.Loop(0, None, Tensor(5), body=lambda _, c, x: (c, x))) == 5


def test_scan_is_a_cumulative_sum():
    def body(total, row):
        total = total + row
        return total, total

    last, sums = op.Scan(np.zeros(3, np.float32), X, body=body, num_scan_inputs=1)
    np.testing.assert_allclose(last, X.sum(0))
    np.testing.assert_allclose(sums, X.cumsum(0))


def test_scan_backwards_along_another_axis():
    def body(total, column):
        total = total + column
        return total, total

    _, sums = op.Scan(
        np.zeros(2, np.float32), X, body=body, num_scan_inputs=1,
        scan_input_axes=[1], scan_input_directions=[1],
        scan_output_axes=[1], scan_output_directions=[1],
    )  # fmt: skip
    np.testing.assert_allclose(sums, X[:, ::-1].cumsum(1)[:, ::-1])


def test_sequence_map():
    doubled = op.SequenceMap([X, I], body=lambda x: x + x)
    assert [item.tolist() for item in doubled] == [(X + X).tolist(), (I + I).tolist()]


# --- Evaluators ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind",
    [
        evaluator.ORTEvaluator,
        evaluator.ORTMixedEvaluator,
        evaluator.OnnxReferenceRuntimeEvaluator,
        evaluator.NativeEvaluator,
    ],
)
def test_evaluators_agree(kind):
    before = evaluator.default()
    with evaluator.default_as(kind()) as current:
        assert evaluator.default() is current
        np.testing.assert_allclose(op.Softmax(X, axis=1), softmax(X), rtol=1e-5)
        values, _ = op.TopK(X, [2])
        np.testing.assert_array_equal(values, [[3.0, 1.5], [5.0, 0.5]])
        np.testing.assert_allclose((Tensor(X) * 2).value, X * 2)
        np.testing.assert_array_equal(op.Clip(X, None, 1.0), np.minimum(X, 1.0))
        np.testing.assert_array_equal(op.Constant(value=X), X)
    assert evaluator.default() is before


def softmax(x):
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def test_gelu_equals_numpy():
    k = math.sqrt(0.5)
    x = np.linspace(-3, 3, 101, dtype=np.float32)
    ours = op.Mul(x, op.Mul(0.5, op.Add(op.Erf(op.Mul(x, k)), 1.0)))
    erf = np.array([math.erf(v * k) for v in x], np.float32)
    np.testing.assert_allclose(ours, x * 0.5 * (erf + 1), rtol=1e-5, atol=1e-6)


# --- Item assignment ------------------------------------------------------------------------------


def test_items_are_never_written_into_shared_storage():
    array = X.copy()
    tensor, other = Tensor(array), Tensor(array)
    same = op.Identity(tensor)
    alias = tensor
    tensor[0, 1] = 9
    tensor[1] += 1
    np.testing.assert_array_equal(array, X)
    np.testing.assert_array_equal(other.value, X)
    np.testing.assert_array_equal(same.value, X)
    expected = X.copy()
    expected[0, 1] = 9
    expected[1] += 1
    assert alias is tensor
    np.testing.assert_array_equal(tensor.value, expected)


def test_item_assignment_refuses_what_the_compiler_refuses():
    tensor = Tensor(X)
    with pytest.raises(IndexError, match="index 2 is out of range for an axis of 2: use -2 to 1"):
        tensor[2] = 0
    with pytest.raises(
        TypeError, match=r"a value of shape \[2\] is assigned to items of shape \[3\]"
    ):
        tensor[0] = [1, 2]
    with pytest.raises(
        TypeError, match="a tensor of INT64 is assigned to items of a tensor of FLOAT"
    ):
        tensor[0] = Tensor(I[:3])
    with pytest.raises(TypeError, match="lose its fraction"):
        Tensor(I)[0] = 1.5
    with pytest.raises(TypeError, match="a tensor of rank 2 is indexed with 3 indices"):
        tensor[0, 0, 0] = 1
    with pytest.raises(TypeError, match="`NoneType` is assigned to items of a tensor"):
        tensor[0] = None
    np.testing.assert_array_equal(tensor.value, X)


def test_members_and_builtins():
    tensor = Tensor(X)
    np.testing.assert_array_equal(tensor.T.value, X.T)
    np.testing.assert_array_equal(tensor.mT.value, X.T)
    np.testing.assert_array_equal(abs(tensor).value, abs(X))
    np.testing.assert_array_equal(round(tensor).value, X.round())
    np.testing.assert_array_equal(tensor.astype(np.int32).value, X.astype(np.int32))
    assert (tensor.ndim, tensor.size, len(tensor)) == (2, 6, 2)
    quotient, rest = divmod(Tensor(I), Tensor(J))
    np.testing.assert_array_equal(quotient.value, I // J)
    np.testing.assert_array_equal(rest.value, I % J)
    with pytest.raises(
        AttributeError, match=r"a tensor has no method `sum`: write `op.ReduceSum\(x\)`"
    ):
        tensor.sum()
    with pytest.raises(TypeError, match="`mT` of a tensor of rank 1"):
        _ = Tensor(I).mT
    assert not hasattr(tensor, "nothing")


def test_lists_of_tensors_and_numbers():
    n, x = Tensor(np.int64(2)), Tensor(np.float32(3))
    rows = [[x, 1, 2], [0, x, x]]
    sums = Tensor(X) + rows
    np.testing.assert_array_equal(op.Reshape(Tensor(X), [n, -1]).value, X)
    np.testing.assert_array_equal((Tensor(X) * [1.0, x, 2.0]).value, X * np.float32([1, 3, 2]))
    np.testing.assert_array_equal(sums.value, X + np.float32([[3, 1, 2], [0, 3, 3]]))
    np.testing.assert_array_equal(Tensor(X)[[n - 1, 0]].value, X[[1, 0]])
    looped: list = [x]
    looped.append(looped)
    with pytest.raises((TypeError, ValueError, RecursionError)):
        Tensor(X) * looped


# --- Memory --------------------------------------------------------------------------------------


def test_results_that_have_no_element_type_of_their_own():
    @sardonyx.script(default_opset=op)
    def sizes(x):
        return x, x[0, 0].shape

    @sardonyx.script(default_opset=op)
    def numbers(x):
        return x, np.float64(0.1), np.array([0.5]).sum()

    with pytest.raises(TypeError, match="a tuple among the results"):
        sizes(X)
    # np.float64 is a float of Python, as it is in the model.
    model = sardonyx.Model(numbers.to_model_bytes(input_types=[sardonyx.FLOAT[2, 3]]))
    for one, other in zip(numbers(X), model(X), strict=True):
        assert one.dtype == other.dtype == np.float32
        np.testing.assert_array_equal(one, other)


def test_calls_with_changing_shapes_do_not_grow_the_process():
    statm = pathlib.Path("/proc/self/statm")
    if not statm.exists():
        pytest.skip("this system does not tell how much memory a process has")
    floats = np.zeros(1000, np.float32)

    def calls(count):
        for i in range(count):
            x = floats[: i % 257 + 1]
            op.Add(x.reshape(-1, 1), x)
            Tensor(x) * 0.5 + 1.0
            op.Concat(x, x, axis=0)

    def resident():
        return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def growth():
        before = resident()
        calls(10_000)
        return resident() - before

    calls(3000)
    # A leak of one object for each call is more, every time; what the allocator holds is not.
    growths = [growth() for _ in range(10)]
    assert any(one < 10_000 * 16 for one in growths), growths


@pytest.mark.filterwarnings("ignore:nanobind")
def test_objects_that_were_never_initialised_are_errors():
    blank = Tensor.__new__(Tensor)
    for use in (lambda: -blank, lambda: blank[0], lambda: blank == 1, lambda: op.Abs(blank)):
        with pytest.raises(TypeError):
            use()
    with pytest.raises(TypeError):
        blank + 1
    with pytest.raises(TypeError, match="__init__"):
        type(op.Add).__new__(type(op.Add))(X)
