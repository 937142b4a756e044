"""Models made call by call: what they compute, what they type, and the line where a mistake raises.

A script with the same text is the second opinion: it must give the same numbers.
"""

from __future__ import annotations

import contextlib
import copy
import io
import pathlib
import pickle
from typing import Any

import numpy as np
import onnx.checker
import onnxruntime
import pytest
import sardonyx
from sardonyx import opset20
from sardonyx.onnx_types import BOOL, FLOAT, INT64

from places import ROOT

X = np.arange(-4, 8, dtype=np.float32).reshape(3, 4)
N = np.array([7, -3, 2], np.int64)


def expressions(op: Any, x: Any, n: Any) -> list[Any]:
    """What both a Builder and Tensors take."""
    return [
        x + 1, 1 - x, x * x, x @ x[0], x / 2, 2 / (x + 0.5), x // 2, x % 3, x**2, 2.0**x, -x, +x,
        n // 2, n % -2, n << 1, n >> 1, n & 3, n | 4, n ^ 1, ~n, n * 2 - 1,
        x < 0, x <= 1, x > 2, x >= -1, x == 3, x != 3, ~(x < 0), (x < 0) | (x > 3),
        x[0], x[:, 1], x[1:, ::2], x[..., -1], x[None], x[np.array([2, 0])], x[-1, 1:3],
        x[n[2]:, n[2] - 1 : n[0]],
        op.Relu(x), op.Concat(x, x, axis=1), op.Add(x, 2), op.Where(x < 0, 0.0, x),
        op.ReduceSum(x, [1], keepdims=0), op.Clip(x, None, 3.0), op.Reshape(x, [-1]),
        x + np.ones(4, np.float32), np.ones(4, np.float32) * x,
    ]  # fmt: skip


def test_expressions_compute_what_tensors_do() -> None:
    builder = sardonyx.Builder(opset=20)
    x = builder.input("x", FLOAT["M", 4])
    n = builder.input("n", INT64["M"])
    for value in expressions(builder.op, x, n):
        builder.output(value)
    model = builder.model()
    assert model.verify() == []
    onnx.checker.check_model(model.to_proto(), full_check=True)
    results = model.run({"x": X, "n": N})
    wanted = expressions(opset20, sardonyx.Tensor(X), sardonyx.Tensor(N))
    assert len(results) == len(wanted)
    for number, (ours, theirs) in enumerate(zip(results, wanted, strict=True)):
        np.testing.assert_array_equal(ours, theirs.value, err_msg=str(number))


def test_operators_refuse_what_a_script_refuses() -> None:
    builder = sardonyx.Builder(opset=20)
    n = builder.input("n", INT64["M"])
    with pytest.raises(ValueError, match="an integer tensor to a negative power") as ours:
        n**-1
    with pytest.raises(ValueError, match="negative power") as eager:
        sardonyx.Tensor(N) ** -1
    assert str(ours.value) == str(eager.value)
    assert len(builder.graph.nodes) == 0


@pytest.mark.parametrize("index", [True, 1.5, np.array(1.5), "a", [1.5], (0, False)])
def test_indices_refuse_what_tensors_refuse(index: Any) -> None:
    builder = sardonyx.Builder(opset=20)
    x = builder.input("x", FLOAT[3, 4])
    with pytest.raises(TypeError, match="is not an index") as ours:
        x[index]
    with pytest.raises(TypeError, match="is not an index") as eager:
        sardonyx.Tensor(X)[index]
    assert str(ours.value) == str(eager.value)
    assert len(builder.graph.nodes) == 0


def test_split_has_the_results_that_its_sizes_say() -> None:
    builder = sardonyx.Builder(opset=20)
    x = builder.input("x", FLOAT[3, 4])
    for part in builder.op.Split(x, [1, 3], axis=1):
        builder.output(part)
    one, three = builder.model().run({"x": X})
    wanted = opset20.Split(X, [1, 3], axis=1)
    np.testing.assert_array_equal(one, wanted[0])
    np.testing.assert_array_equal(three, wanted[1])


def test_a_wrong_call_imports_nothing() -> None:
    builder = sardonyx.Builder(opset=20)
    x = builder.input("x", FLOAT["N"])
    with pytest.raises(TypeError, match="gives 1 output, not 2"):
        builder.opset("ai.onnx.ml", 3).Normalizer(x, norm="MAX", _outputs=2)
    assert builder.graph.nodes[:] == []
    assert dict(builder._core.model().opset_imports) == {"": 20}


def test_a_block_of_a_network() -> None:
    builder = sardonyx.Builder(opset=20, name="block")
    x = builder.input("x", FLOAT["N", 8])
    w = builder.initializer(np.ones((8, 4), np.float32), "w")
    h = builder.op.MatMul(x, w, _name="first")
    assert (h.type, h.shape, h.dtype) == ("FLOAT[N, 4]", ("N", 4), np.dtype(np.float32))
    first, second = builder.op.Split(h, num_outputs=2, axis=1)
    assert second.shape == ("N", 2)
    values, _ = builder.op.TopK(first, [1], _outputs=["top", None])
    y = builder.output(builder.op.Softmax(values + second), name="y")
    assert y.name == "y"
    model = builder.model()
    assert [node.name for node in model.graph if node.name] == ["first"]
    (result,) = model.run({"x": np.ones((2, 8), np.float32)})
    np.testing.assert_allclose(result, np.full((2, 2), 0.5))
    builder.op.Relu(x)  # is not in the model that was taken
    assert "Relu" not in str(model)


def test_text_of_a_builder() -> None:
    builder = sardonyx.Builder(opset=20, name="net")
    builder.op.Relu(builder.input("x", FLOAT[2]))
    assert repr(builder) == "<Builder 'net': 1 node>"


def mistakes(builder: sardonyx.Builder, x: Any, w: Any) -> list[tuple[Any, type[Exception], str]]:
    op = builder.op
    other = sardonyx.Builder(opset=20).input("x", FLOAT[1])
    return [
        (lambda: op.MatMul(x, X), sardonyx.ModelError, "MatMul"),
        (lambda: op.MatMul(x), TypeError, "`B` is missing"),
        (lambda: op.Softmax(x, axes=1), TypeError, "did you mean `axis`"),
        (lambda: op.MatMull(x, w), AttributeError, "did you mean `MatMul`"),
        (lambda: op.Softmax(x, axis=7), sardonyx.ModelError, "axis"),
        (lambda: op.Cast(x), TypeError, "needs the attribute `to`"),
        (lambda: x + other, sardonyx.ModelError, "another model"),
        (lambda: x @ X, sardonyx.ModelError, "`MatMul`|input"),
        (lambda: x % builder.input("b", BOOL[4]), sardonyx.ModelError, "Mod|type|Sign"),
        (lambda: x + "text", TypeError, "where a tensor of FLOAT is needed"),
        (lambda: x + object(), TypeError, "unsupported operand"),
        (lambda: x[0, 0, 0], sardonyx.ModelError, "at most 2"),
        (lambda: bool(x < 1), TypeError, "neither true nor false"),
        (lambda: list(x), TypeError, "no elements yet"),
        (lambda: builder.output(X), TypeError, "not a value of the builder"),
        (lambda: builder.input("x", FLOAT[1]), sardonyx.ModelError, "another value is named `x`"),
        (lambda: builder.input("z", "FLOTA"), TypeError, "not a type"),
        (lambda: builder.output(x + 1, name="w"), sardonyx.ModelError, "another value"),
        (lambda: builder.model(), sardonyx.ModelError, "no outputs"),
        (lambda: op.If(x, then_branch=len, else_branch=len), TypeError, "builder.if_"),
        (lambda: sardonyx.Builder(opset=99), ValueError, "no opset 99"),
        (lambda: op.Relu(object()), TypeError, "not an input of `Relu`"),
        # Numbers and arrays before the mistake have been constants of the graph by then.
        (lambda: op.Clip(x, 1.0, "text"), TypeError, "where a tensor of FLOAT is needed"),
        (lambda: op.Concat(x, X, [[1.0], [2.0, 3.0]], axis=0), ValueError, "differ in length"),
        (lambda: op.Concat(x, X, other, axis=0), sardonyx.ModelError, "another model"),
        (lambda: builder.input("z", "float32[N]"), TypeError, "did you mean `FLOAT.N.`"),
        (lambda: sardonyx.Type("Sequence[long]"), ValueError, "did you mean `Sequence.INT64.`"),
    ]


@pytest.mark.parametrize("number", range(27))
def test_a_mistake_raises_where_it_stands(number: int) -> None:
    builder = sardonyx.Builder(opset=20)
    x = builder.input("x", FLOAT["N", 4])
    w = builder.initializer(np.ones((4, 4), np.float32), "w")
    rows = mistakes(builder, x, w)
    assert len(rows) == 27
    call, error, words = rows[number]
    with pytest.raises(error, match=words):
        call()
    if number not in (12, 17, 18):  # whose operands are right
        assert len(builder.graph) == 0  # nothing stays
    builder.output(x @ w)
    assert builder.model().verify() == []


def test_operators_of_other_domains() -> None:
    builder = sardonyx.Builder(opset=20)
    x = builder.input("x", FLOAT[2])
    ml = builder.opset("ai.onnx.ml", 3)
    y = ml.Scaler(x[None], offset=[1.0], scale=[2.0])
    custom = builder.opset("mine", 2).Thing(y, alpha=0.5, names=["a"])
    builder.output(custom)
    model = builder.model()
    assert dict(model.opset_imports) == {"": 20, "ai.onnx.ml": 3, "mine": 2}
    assert dict(model.graph.nodes[-1].attributes.items()) == {"alpha": 0.5, "names": ["a"]}
    # Another version is taken where it defines the operator alike, as in C++.
    same = builder.opset("ai.onnx.ml", 2).Scaler(x[None], offset=[1.0], scale=[2.0])
    assert same.type == y.type
    labels = {"keys_floats": [1.0], "values_floats": [2.0]}
    with pytest.raises(
        sardonyx.ModelError, match=r"4 in a model that imports version 3 of `ai\.on"
    ):
        builder.opset("ai.onnx.ml", 4).LabelEncoder(x, **labels)
    with pytest.raises(sardonyx.ModelError, match="3 in a model that imports version 2 of `mine`"):
        builder.opset("mine", 3).Thing(y)


def test_names_that_nobody_gave_make_way() -> None:
    """An output, an input and a weight may have the name that a node's result took by itself."""
    builder = sardonyx.Builder(opset=20)
    x = builder.input("x", FLOAT[2])
    y = builder.op.Softmax(x)
    z = builder.op.Abs(y)
    builder.output(z, name="softmax")
    assert (y.name, z.name) == ("softmax_0", "softmax")
    assert builder.input("softmax_0", FLOAT[2]).name == "softmax_0"
    builder.op.Neg(z, _outputs=["mine"])
    with pytest.raises(sardonyx.ModelError, match="another value is named `mine`"):
        y.value.name = "mine"
    model = builder.model()
    assert model.verify() == []
    np.testing.assert_allclose(model.run({"x": X[0, :2], "softmax_0": X[0, :2]})[0].sum(), 1)


def test_operators_of_another_opset() -> None:
    """Where the model's own defines them alike: one answer in Python and in C++ (tests/api)."""
    builder = sardonyx.Builder(opset=18)
    x = builder.input("x", FLOAT[2])
    y = builder.opset("", 19).Neg(x)
    assert y.type == "FLOAT[2]"
    for version, name in ((20, "Gelu"), (17, "ReduceMax"), (19, "Cast")):
        words = f"`{name}` of version {version} in a model that imports version 18 of `ai.onnx`"
        attributes = {"to": 1} if name == "Cast" else {}
        with pytest.raises(sardonyx.ModelError, match=words):
            getattr(builder.opset("", version), name)(x, **attributes)
    builder.output(y)
    assert dict(builder.model().opset_imports) == {"": 18}


def test_stated_types_of_outputs() -> None:
    builder = sardonyx.Builder(opset=20)
    x = builder.input("x", FLOAT["N"])
    unknown = builder.opset("mine", 1).Thing(x)
    assert builder.output(unknown, name="y", type=FLOAT["N", 4]).type == "FLOAT[N, 4]"
    assert builder.output(-x, type=FLOAT[3]).type == "FLOAT[3]"
    with pytest.raises(
        sardonyx.ModelError, match=r"the output is of type FLOAT\[N\], not INT64\[N\]"
    ):
        builder.output(builder.op.Abs(x), type=sardonyx.INT64["N"])
    with pytest.raises(TypeError):
        builder.output(builder.op.Abs(x), type="FLOTA")
    assert len(builder.model().outputs) == 2


def test_more_results_than_there_are() -> None:
    builder = sardonyx.Builder(opset=20)
    x = builder.input("x", FLOAT[2])
    with pytest.raises(TypeError, match="gives 1 output, not 2"):
        builder.op.Relu(x, _outputs=2)
    assert len(builder.graph) == 0


@sardonyx.script()
def powers(x: FLOAT["N", 4], count: int, flag: BOOL) -> FLOAT["N", 4]:
    total = x
    last = 0
    for i in range(count):
        total = total * 2.0 + opset20.Cast(i, to=1)
        last = i
    if flag:
        result = total + opset20.Cast(last, to=1)
    else:
        result = -total
    return result


def powers_by_builder() -> sardonyx.Model:
    b = sardonyx.Builder(opset=20)
    x, count, flag = b.input("x", FLOAT["N", 4]), b.input("count", INT64), b.input("flag", BOOL)
    with b.loop(count, x, b.constant(0)) as loop:
        total, _ = loop.values
        loop.stack(total[0, 0])
        loop.next(total * 2.0 + b.op.Cast(loop.index, to=1), loop.index)
    total, last, firsts = loop.results
    assert total.type == "FLOAT[N, 4]"
    assert firsts.dtype == np.float32 and len(firsts.shape) == 1
    with b.if_(flag) as branch:
        branch.give(total + b.op.Cast(last, to=1))
    with branch.else_():
        branch.give(-total)
    assert branch.result.type == "FLOAT[N, 4]"
    b.output(branch.result, name="result")
    b.output(firsts, name="firsts")
    return b.model()


@pytest.mark.parametrize("flag", [True, False])
@pytest.mark.parametrize("count", [0, 3])
def test_control_flow_computes_what_a_script_does(count: int, flag: bool) -> None:
    model = powers_by_builder()
    assert model.verify() == []
    onnx.checker.check_model(model.to_proto(), full_check=True)
    feeds = {"x": X, "count": np.array(count), "flag": np.array(flag)}
    result, firsts = model.run(feeds)
    wanted = powers(X, count, np.array(flag)) if count else (X if flag else -X)
    np.testing.assert_array_equal(result, wanted)
    session = onnxruntime.InferenceSession(model.to_bytes())
    for ours, theirs in zip((result, firsts), session.run(None, feeds), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_loops_in_branches_in_loops() -> None:
    b = sardonyx.Builder(opset=20)
    n = b.input("n", INT64)
    with b.loop(None, n, b.constant(0), condition=n > 1) as collatz:
        value, steps = collatz.values
        with b.if_(value % 2 == 0) as branch:
            branch.give(value // 2)
        with branch.else_():
            with b.loop(3, b.constant(1)) as triple:
                triple.next(triple.values[0] + value)
            branch.give(triple.result)
        collatz.next(branch.result, steps + 1)
        collatz.while_(branch.result > 1)
    b.output(collatz.results[1], name="steps")
    model = b.model()
    assert model.verify() == []
    onnx.checker.check_model(model.to_proto(), full_check=True)
    assert [int(model.run({"n": np.array(n)})[0]) for n in (1, 6, 27)] == [0, 8, 111]


def test_a_carried_value_that_grows() -> None:
    b = sardonyx.Builder(opset=20)
    x = b.input("x", FLOAT[1])
    with (
        pytest.raises(sardonyx.ModelError, match=r"FLOAT\[2\] after an iteration.*type that holds"),
        b.loop(3, x) as loop,
    ):
        loop.next(b.op.Concat(loop.values[0], x, axis=0))
    assert len(b.graph) == 0
    with b.loop(3, x, types=[FLOAT[None]]) as loop:
        loop.next(b.op.Concat(loop.values[0], x, axis=0))
    b.output(loop.result)
    np.testing.assert_array_equal(b.model().run({"x": [2.0]})[0], [2, 2, 2, 2])


def test_mistakes_of_blocks() -> None:
    b = sardonyx.Builder(opset=20)
    x = b.input("x", FLOAT["N"])
    flag = b.input("flag", BOOL)
    with pytest.raises(TypeError, match="BOOL"), b.if_(x):
        pass
    with pytest.raises(ZeroDivisionError), b.loop(3, x):  # what fails in a block takes it out
        b.op.Relu(x)
        raise ZeroDivisionError
    wanted = "carries 1 values, and the body gives 2"
    with pytest.raises(sardonyx.ModelError, match=wanted), b.loop(3, x) as loop:
        loop.next(x, x)
    with b.if_(flag) as branch:
        inner = x + 1
        branch.give(inner)
    with pytest.raises(sardonyx.ModelError, match="not complete"):
        branch.results  # noqa: B018
    with pytest.raises(sardonyx.ModelError, match="both branches"):
        b.model()
    with pytest.raises(sardonyx.ModelError, match="not visible"):
        x + inner
    wanted = "one branch gives 1 values, and the other 0"
    with pytest.raises(sardonyx.ModelError, match=wanted), branch.else_():
        pass
    with b.if_(flag) as branch:
        branch.give(x)
    with pytest.raises(sardonyx.ModelError, match=r"FLOAT.*BOOL"), branch.else_():
        branch.give(flag)
    assert len(b.graph) == 0
    b.output(x)
    assert b.model().verify() == []


@sardonyx.script()
def scaled(x, axes: list[int], factor: float = 2.0, twice: bool = False):
    y = opset20.ReduceMax(x, opset20.Constant(value_ints=axes), keepdims=1) * factor
    if twice:
        y = y + y
    return y, x - y


@sardonyx.script()
def shifted(x: FLOAT["M", 4], w: FLOAT[4]) -> FLOAT["M", 4]:
    first, _ = scaled(x, axes=[1])
    return first + w


def test_calls_of_scripts() -> None:
    b = sardonyx.Builder(opset=20)
    x = b.input("x", FLOAT["N", 4])
    w = np.arange(4, dtype=np.float32)
    first, second = b.call(scaled, x, axes=[1], factor=3.0, twice=True)
    assert first.type == "FLOAT[N, 1]"
    third = b.call(shifted, second, w)
    assert third.type == "FLOAT[N, 4]"
    with b.loop(2, third) as loop:
        loop.next(b.call(shifted, loop.values[0], b.initializer(w, "w")))
    again, _ = b.call(scaled, x, axes=[1])
    for value in (first, second, loop.result, again):
        b.output(value)
    model = b.model()
    assert model.verify() == []
    onnx.checker.check_model(model.to_proto(), full_check=True)
    names = [(function.name, function.overload) for function in model.functions]
    assert len(names) == len(set(names))
    wanted = list(scaled(X, axes=[1], factor=3.0, twice=True))
    carried = shifted(wanted[1], w)
    carried = shifted(shifted(carried, w), w)
    for ours, theirs in zip(
        model.run({"x": X}), [*wanted, carried, scaled(X, axes=[1])[0]], strict=True
    ):
        np.testing.assert_array_equal(ours, theirs)


def test_mistakes_in_calls_of_scripts() -> None:
    b = sardonyx.Builder(opset=20)
    x = b.input("x", FLOAT["N", 4])
    with pytest.raises(TypeError, match="not a script"):
        b.call(len, x)  # type: ignore[arg-type]
    with pytest.raises(sardonyx.CompileError, match="axes"):
        b.call(scaled, x)
    with pytest.raises(sardonyx.CompileError):
        b.call(shifted, b.op.Cast(x, to=7), np.zeros(4, np.float32))
    assert [node.op_type for node in b.graph] == ["Cast"]


def test_the_table_of_tasks_does_what_it_says(tmp_path: pathlib.Path) -> None:
    page = (ROOT / "docs/models.md").read_text()
    rows = page.partition("## From other tools")[2].partition("\n## ")[0].splitlines()
    cells = [row.rpartition(" | ")[2].removesuffix(" |") for row in rows if row.startswith("| ")]
    path = str(tmp_path / "model.onnx")
    b = sardonyx.Builder(opset=20)
    x, w = b.input("x", FLOAT["N", 4]), b.initializer(np.eye(4, dtype=np.float32), "w")
    b.output(b.op.Softmax(x @ w), name="y")
    b.model().save(path)
    names: dict[str, Any] = {"sardonyx": sardonyx, "np": np, "path": path}
    # A script of the page, which a row calls.
    text = page.partition("@sardonyx.script()\ndef normalized")[2].partition("\n\nb =")[0]
    script = tmp_path / "script.py"
    script.write_text(
        "import sardonyx\nfrom sardonyx import opset20 as op\n"
        "@sardonyx.script()\ndef normalized" + text + "\n"
    )
    exec(compile(script.read_text(), script, "exec"), names)
    for cell in cells[1:]:
        for code in cell.strip("`").split("` `"):
            with contextlib.redirect_stdout(io.StringIO()):
                exec(code, names)
    assert len(cells) > 30 and names["findings"] == []
    saved = sardonyx.load(path)
    assert saved.verify() == [] and dict(saved.metadata) == {"author": "me"}


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, pickle.dumps])
def test_builders_are_not_copied(again: Any) -> None:
    """A copy would fill the same graph."""
    b = sardonyx.Builder(opset=20)
    with pytest.raises(TypeError, match=r"a Builder .* that `builder.model\(\)` returns"):
        again(b)
