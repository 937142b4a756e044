"""@script: the same function as Python, as a model in three runtimes, and as a function."""

import json
import linecache
import os
import subprocess
import sys
import textwrap
import traceback
import warnings
from pathlib import Path
from typing import Optional

import numpy as np
import onnx
import onnx.reference
import onnxruntime as ort
import pytest
import sardonyx
from onnx import TensorProto
from onnx.helper import make_tensor
from sardonyx import BOOL, FLOAT, INT64, graph, script
from sardonyx import opset18 as op
from sardonyx.values import OnnxClosure, OnnxFunction, Opset, TracedOnnxFunction

SQRT_HALF = float(np.sqrt(0.5))
WEIGHTS = np.arange(6, dtype=np.float32).reshape(3, 2)
X = np.array([1.5, -2.0, 3.0], np.float32)


def run_everywhere(function, *inputs, **options):
    """The results as Python; the same from the model in ours, ONNX Runtime and onnx.reference."""
    eager = function(*inputs)
    eager = eager if isinstance(eager, tuple) else (eager,)
    model = function.to_model_proto(**options)
    onnx.checker.check_model(model, full_check=True)
    feeds = {value.name: array for value, array in zip(model.graph.input, inputs, strict=True)}
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    for results in (
        sardonyx.Model(model).run(feeds),
        session.run(None, feeds),
        onnx.reference.ReferenceEvaluator(model).run(None, feeds),
    ):
        assert len(results) == len(eager)
        for one, other in zip(results, eager, strict=True):
            assert np.asarray(one).dtype == other.dtype
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
    return eager[0] if len(eager) == 1 else eager


# --- Functions that mean the same everywhere -----------------------------------------------------


@script()
def made_in_place(x: FLOAT["N"]) -> FLOAT["N"]:
    first = make_tensor("a", TensorProto.FLOAT, [3], [1.0, 2.0, 3.0])
    second = onnx.helper.make_tensor("b", TensorProto.FLOAT, [1], [4.0])
    return x * op.Constant(value=first) + op.Constant(value=second)


def test_make_tensor_in_a_script():
    np.testing.assert_allclose(run_everywhere(made_in_place, X), X * [1, 2, 3] + 4)


def scaled(x, k=2.0):
    return x * k


def first_powers(x, n):
    """The first n powers of x: n is a number of Python."""
    return [x] if n == 1 else [x, *(x * power for power in first_powers(x, n - 1))]


@script()
def plain_functions(x: FLOAT["N"]) -> FLOAT["N"]:
    one, two, three = first_powers(x, 3)
    return scaled(one) + scaled(two, k=scaled(5.0)) - three


def test_plain_functions_run_in_place():
    np.testing.assert_allclose(run_everywhere(plain_functions, X), 2 * X + 10 * X**2 - X**3)
    assert not plain_functions.to_model_proto().functions


@script()
def foreign_function(x: FLOAT["N"]) -> FLOAT["N"]:
    return textwrap.dedent(x)


@script()
def wrong_plain_function(x: FLOAT["N"]) -> FLOAT["N"]:
    return misspelt(x)


def misspelt(x):
    return op.Add(x, y)


def test_plain_functions_that_cannot_be():
    with pytest.raises(sardonyx.CompileError, match=r"dedent.*cannot be called at compile time"):
        foreign_function.to_model_proto()
    with pytest.raises(sardonyx.CompileError, match="`y` is not defined") as found:
        wrong_plain_function.to_model_proto()
    assert "return op.Add(x, y)" in str(found.value)


@script()
def gelu(x: FLOAT[...]) -> FLOAT[...]:
    """Gaussian error linear unit."""
    return x * 0.5 * (op.Erf(x * SQRT_HALF) + 1.0)


@script()
def gelu_model(x: FLOAT["N"]) -> FLOAT["N"]:
    return gelu(x)


@script(default_opset=op)
def arithmetic(a: INT64["N"], b: INT64["N"]):
    return a + b * 2 - 1, a // b, a % b, a**2, -a, a < b, (a > 0) & (b > 0)


@script()
def linear(x: FLOAT["N", 3]) -> FLOAT["N", 2]:
    return op.MatMul(x, WEIGHTS) + 1.0


@script()
def indexing(x: FLOAT["N", 4]):
    return x[0], x[-1, 2], x[:, ::-1], x[1:, :2], x[..., None]


@script()
def branches(x: FLOAT["N"]) -> FLOAT["N"]:
    if op.ReduceSum(x, keepdims=0) > 0.0:
        y = op.Abs(x)
    else:
        y = -x
    return y


@script()
def powers(x: FLOAT["N"], n: INT64) -> FLOAT["N"]:
    total = op.Identity(x)
    for i in range(n):
        total = total * x + op.Cast(i, to=FLOAT.dtype)
    return total


@script()
def halve(x: FLOAT["N"]) -> FLOAT["N"]:
    while op.ReduceMax(x, keepdims=0) > 1.0:
        x = x / 2.0
    return x


@script()
def cumulative_sum(x: FLOAT["N", 3]):
    @graph()
    def add(total: FLOAT[3], row: FLOAT[3]):
        total = total + row
        return total, op.Identity(total)

    zeros = op.Constant(value=np.zeros(3, np.float32))
    last, sums = op.Scan(zeros, x, body=add, num_scan_inputs=1)
    return last, sums


@script()
def swap(x: FLOAT["N"], y: FLOAT["N"]):
    x, y = y, x
    return x - y, op.TopK(x, [1])[0]


def test_gelu():
    y = run_everywhere(gelu_model, X)
    assert isinstance(y, np.ndarray)


def test_arithmetic():
    a, b = np.array([7, -7, 5], np.int64), np.array([2, 2, -3], np.int64)
    results = run_everywhere(arithmetic, a, b)
    expected = (a + b * 2 - 1, a // b, a % b, a**2, -a, a < b, (a > 0) & (b > 0))
    for one, other in zip(results, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_module_constants():
    x = np.ones((2, 3), np.float32)
    np.testing.assert_allclose(run_everywhere(linear, x), x @ WEIGHTS + 1)


def test_indexing():
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    results = run_everywhere(indexing, x)
    expected = (x[0], x[-1, 2], x[:, ::-1], x[1:, :2], x[..., None])
    for one, other in zip(results, expected, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("sign", [1, -1])
def test_branches(sign):
    x = X * np.float32(sign)
    np.testing.assert_array_equal(run_everywhere(branches, x), np.abs(x) if sign > 0 else -x)


def test_loops():
    run_everywhere(powers, X, np.array(3, np.int64))
    assert run_everywhere(halve, X).max() <= 1.0


def test_scan():
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    last, sums = run_everywhere(cumulative_sum, x)
    np.testing.assert_allclose(sums, x.cumsum(0))
    np.testing.assert_allclose(last, x.sum(0))


def test_closures_and_live_globals():
    scale = 3.0

    @script(default_opset=op)
    def scaled(x: FLOAT["N"]) -> FLOAT["N"]:
        return x * scale

    np.testing.assert_allclose(run_everywhere(scaled, X), X * 3)


class Configuration:
    """An object that only Python can look into."""

    def __init__(self):
        self.factors = {"one": [2.0]}

    def factor(self, name):
        return self.factors[name][0]


configuration = Configuration()


@script(default_opset=op)
def configured(x: FLOAT["N"]) -> FLOAT["N"]:
    return x * configuration.factor("one") + configuration.factors["one"][0]


def test_opaque_objects_answer_through_python():
    np.testing.assert_allclose(run_everywhere(configured, X), X * 2 + 2)


def test_numpy_functions_on_static_values():
    @script(default_opset=op)
    def logs(x: FLOAT["N"]) -> FLOAT["N"]:
        return x + float(np.log1p(1.0))

    np.testing.assert_allclose(run_everywhere(logs, X), X + np.log1p(1.0), rtol=1e-6)


# --- Calling as Python ---------------------------------------------------------------------------


def test_what_comes_in_goes_out():
    assert isinstance(gelu(X), np.ndarray)
    assert isinstance(gelu(sardonyx.Tensor(X)), sardonyx.Tensor)
    assert isinstance(gelu(x=X), np.ndarray)
    assert gelu(1.0).dtype == np.float32
    assert gelu(1).dtype == np.float32  # as the annotation says


def test_attributes_and_defaults():
    @script(default_opset=op)
    def affine(x: FLOAT[...], scale: float, shift: float = 1.0, axes: "list[int]" = (0,)):
        assert isinstance(scale, float) and isinstance(shift, float)
        return op.Unsqueeze(op.Squeeze(op.Unsqueeze(x * scale + shift, axes), axes), axes)[0]

    np.testing.assert_allclose(affine(X, 2.0), X * 2 + 1)
    np.testing.assert_allclose(affine(X, scale=2.0, shift=0.5), X * 2 + 0.5)
    with pytest.raises(TypeError, match="scale"):
        affine(X)


def test_optional_inputs():
    @script()
    def maybe(x: FLOAT["N"], y: Optional[FLOAT["N"]] = None):  # noqa: UP045
        return x if y is None else x + y

    np.testing.assert_array_equal(maybe(X), X)
    np.testing.assert_array_equal(maybe(X, X), X + X)


def test_constant_results_become_arrays():
    @script(default_opset=op)
    def constant(_x: FLOAT["N"]) -> FLOAT:
        return 1.0

    assert constant(X).dtype == np.float32


def test_sequences():
    @script()
    def chunks(x: FLOAT["N"]):
        return op.SplitToSequence(x, 2, axis=0)

    assert [chunk.tolist() for chunk in chunks(X)] == [[1.5, -2.0], [3.0]]


def test_it_looks_like_the_python_function():
    assert gelu.__name__ == gelu.name == "gelu"
    assert gelu.__doc__ == "Gaussian error linear unit."
    assert gelu.__module__ == __name__
    assert callable(gelu.__wrapped__)
    import inspect

    assert list(inspect.signature(gelu).parameters) == ["x"]
    assert isinstance(gelu, OnnxFunction)
    assert gelu.opset == Opset("this", 1)
    assert isinstance(graph()(lambda x: x), OnnxClosure)


def test_forms_of_the_decorator():
    def plain(x: FLOAT["N"]) -> FLOAT["N"]:
        return op.Neg(x)

    for made in (script(plain), script()(plain), script(Opset("my", 2), default_opset=op)(plain)):
        np.testing.assert_array_equal(made(X), -X)
    assert made.opset == Opset("my", 2)
    assert made.to_function_proto().domain == "my"
    traced = TracedOnnxFunction(Opset("my", 2), plain)
    assert traced.to_function_proto().name == "plain"
    with pytest.raises(TypeError, match="colour"):
        script(colour=1)
    with pytest.raises(TypeError, match="Opset"):
        script("opset18")
    with pytest.raises(TypeError, match="function"):
        script()(3)


def test_a_debugger_stops_in_the_body(tmp_path):
    (tmp_path / "debugged.py").write_text(
        textwrap.dedent(
            """\
            import numpy as np
            from sardonyx import FLOAT, script, opset18 as op

            @script()
            def twice(x: FLOAT["N"]) -> FLOAT["N"]:
                doubled = op.Add(x, x)
                return op.Identity(doubled)

            print(twice(np.array([1.5, 2.0], np.float32)))
            """
        )
    )
    commands = "break 7\ncontinue\np doubled.value.tolist()\np x.shape\ncontinue\nquit\n"
    done = subprocess.run(
        [sys.executable, "-m", "pdb", "debugged.py"],
        input=commands, capture_output=True, text=True, cwd=tmp_path, timeout=60, check=False,
        env={**os.environ, "PYTHONPATH": str(Path(sardonyx.__file__).parents[1])},
    )  # fmt: skip
    assert "[3.0, 4.0]" in done.stdout
    assert "(2,)" in done.stdout


# --- Protos --------------------------------------------------------------------------------------


def test_function_proto():
    proto = gelu.to_function_proto()
    assert isinstance(proto, onnx.FunctionProto)
    assert (proto.domain, proto.name, list(proto.input)) == ("this", "gelu", ["x"])
    assert onnx.FunctionProto.FromString(gelu.to_function_bytes()) == proto


def test_model_options():
    model = gelu_model.to_model_proto(
        input_types=[FLOAT[4]], producer_name="tests", producer_version="7", ir_version=9
    )
    assert (model.producer_name, model.producer_version, model.ir_version) == ("tests", "7", 9)
    assert model.graph.input[0].type.tensor_type.shape.dim[0].dim_value == 4
    assert [function.name for function in model.functions] == ["gelu"]


def test_another_opset_and_attribute_values():
    @script(default_opset=op)
    def scaled(x: FLOAT["N"], by: float = 2.0) -> FLOAT["N"]:
        return x * by

    model = scaled.to_model_proto(opset=20, attributes={"by": 3.0})
    assert {one.version for one in model.opset_import if one.domain == ""} == {20}
    results = sardonyx.Model(model).run({"x": X})
    np.testing.assert_allclose(results[0], scaled(X, by=3.0))
    assert run_everywhere(scaled, X) is not None  # the default, which the model carries


def test_types_of_inputs():
    @script(default_opset=op)
    def untyped(x, y):
        return x + y

    for options in (
        {"io_types": FLOAT["N"]},
        {"input_types": [FLOAT["N"], FLOAT["N"]]},
        {"value_infos": {
            name: onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["N"])
            for name in "xy"
        }},
    ):  # fmt: skip
        np.testing.assert_array_equal(run_everywhere(untyped, X, X, **options), X + X)
    for dims, said in ((["N + 1", 3], "FLOAT[N+1, 3]"), (["?"], "FLOAT[?]"), (None, "FLOAT[...]")):
        proto = onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, dims)
        assert untyped.compile(value_infos={"x": proto, "y": proto.type}).inputs == [
            ("x", said), ("y", said)
        ]  # fmt: skip
    with pytest.raises(TypeError, match="2 inputs, got 3 types"):
        untyped.to_model_proto(input_types=[FLOAT] * 3)
    with pytest.raises(TypeError, match="not a type for"):
        untyped.to_model_proto(input_types=["nonsense"])


def test_keywords_of_the_model():
    @script(ir_version=9, producer_name="mine", doc_string="words")
    def kept(x: FLOAT["N"]) -> FLOAT["N"]:
        return op.Neg(x)

    model = kept.to_model_proto()
    assert (model.ir_version, model.producer_name, model.doc_string) == (9, "mine", "words")


def test_the_same_bytes_every_time():
    assert gelu_model.to_model_bytes() == gelu_model.to_model_bytes()


def test_libraries(tmp_path):
    path = tmp_path / "library.onnx"
    sardonyx.export_onnx_lib([gelu, branches], str(path))
    model = onnx.load(path)
    assert [function.name for function in model.functions] == ["gelu", "branches"]


# --- Mistakes ------------------------------------------------------------------------------------


@script()
def mistaken(x: FLOAT["N"]) -> FLOAT["N"]:
    y = opp.Add(x, x)
    return op.Add(y, missing)


def test_all_mistakes_at_once():
    with pytest.raises(sardonyx.CompileError) as caught:
        mistaken.to_model_proto()
    text = str(caught.value)
    assert "did you mean `op`" in text
    assert "`missing`" in text
    assert "test_script.py:" in text
    found = caught.value.diagnostics
    assert len(found) == 2
    assert {one["severity"] for one in found} == {"error"}
    assert json.dumps(found)


def test_a_function_that_calls_a_mistaken_one():
    @script()
    def caller(x: FLOAT["N"]) -> FLOAT["N"]:
        return mistaken(x)

    with pytest.raises(sardonyx.CompileError, match="did you mean"):
        caller.to_function_proto()
    gelu.to_function_proto()  # findings are not kept


def test_mistakes_of_types():
    @script()
    def shapes(x: FLOAT[2, 3], y: FLOAT[4]):
        return op.Add(x, y)

    with pytest.raises(sardonyx.CompileError, match="3"):
        shapes.to_model_proto()


def test_names_that_python_does_not_answer():
    @script(default_opset=op)
    def raising(x: FLOAT["N"]) -> FLOAT["N"]:
        return x * configuration.factor("two")

    with pytest.raises(sardonyx.CompileError, match="KeyError"):
        raising.to_model_proto()


def test_what_no_script_may_hold_is_said_when_compiled():
    @script()
    def trying(x: FLOAT["N"]) -> FLOAT["N"]:
        try:
            return op.Neg(x)
        except ValueError:
            return x

    np.testing.assert_array_equal(trying(X), -X)
    with pytest.raises(sardonyx.CompileError, match="try"):
        trying.to_model_proto()


# --- Where the source comes from -----------------------------------------------------------------

CELL = """\
from sardonyx import FLOAT, script, opset18 as op

@script()
def from_a_cell(x: FLOAT["N"]) -> FLOAT["N"]:
    return op.Neg(x)
"""


def run_cell(source, name):
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    scope = {}
    exec(compile(source, name, "exec"), scope)
    return scope["from_a_cell"]


def test_notebook_cells():
    function = run_cell(CELL, "<cell 1>")
    np.testing.assert_array_equal(run_everywhere(function, X), -X)
    function = run_cell(CELL.replace("Neg", "Abs"), "<cell 1>")
    np.testing.assert_array_equal(run_everywhere(function, X), abs(X))


def test_no_source():
    with pytest.raises(OSError, match="from_a_cell"):
        exec(compile(CELL, "<nowhere>", "exec"), {})


def test_an_edited_file(tmp_path):
    path = tmp_path / "edited.py"
    for name in ("Neg", "Abs", "Sqrt"):
        path.write_text(CELL.replace("Neg", name) + "\n" * len(name))
        scope = {}
        exec(compile(path.read_text(), str(path), "exec"), scope)
        model = scope["from_a_cell"].to_model_proto()
        assert model.graph.node[0].op_type == name
    path.write_text("\n" * 3)
    with pytest.raises(OSError, match="since it was imported"):
        exec(compile(CELL, str(path), "exec"), {})


def test_a_line_with_another_text(tmp_path):
    path = tmp_path / "edited.py"
    path.write_text("\n" + CELL)
    with pytest.raises(OSError, match=r"has no `def from_a_cell` in line .*: it has changed since"):
        exec(compile("\n\n\n" + CELL, str(path), "exec"), {})
    with pytest.raises(TypeError, match="a lambda cannot be a script: write a function with `def`"):
        script()(lambda x: x)


MISTAKES = [
    (lambda: op.relu, "^opset 18 of `ai.onnx` has no operator `relu`: did you mean `Relu`\\?$"),
    (lambda: script(opset=18), "^script takes an Opset, such as `sardonyx.opset21`, not 18$"),
    (lambda: FLOAT(3), r"has no instances; `sardonyx.Tensor\(values\)` makes a tensor$"),
    (lambda: with_an_unused_value.compile()(y=X), "^the graph has no input `y`: it has `x`$"),
    (
        lambda: with_an_unused_value.compile(input_types=[FLOAT, FLOAT]),
        "^with_an_unused_value has 1 input, got 2 types$",
    ),
]


@pytest.mark.filterwarnings("ignore::sardonyx.ScriptWarning")
@pytest.mark.parametrize(("mistake", "says"), MISTAKES, ids=[row[1] for row in MISTAKES])
def test_mistakes_say_what_is_meant(mistake, says):
    with pytest.raises((AttributeError, TypeError, sardonyx.EvalError), match=says) as caught:
        mistake()
    # Python adds no second "Did you mean".
    assert "".join(traceback.format_exception(caught.value)).rstrip().endswith(str(caught.value))


def test_warnings_are_warnings():
    @script()
    def annotated(x: FLOAT["N"], y: "dict") -> FLOAT["N"]:
        return op.Add(x, y)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        annotated.to_model_bytes(input_types=[FLOAT["N"], FLOAT["N"]])
    assert "annotation" in str(caught[0].message)
    assert caught[0].filename == __file__


def test_nothing_leaks_when_scripts_are_dropped():
    import gc
    import weakref

    def make():
        def body(x: FLOAT["N"]) -> FLOAT["N"]:
            return op.Neg(x)

        made = script()(body)
        body.itself = made  # a cycle through the compiler's object
        return weakref.ref(body)

    dropped = make()
    gc.collect()
    assert dropped() is None


def test_bool_inputs():
    @script()
    def choose(c: BOOL, x: FLOAT["N"]) -> FLOAT["N"]:
        if c:
            y = op.Neg(x)
        else:
            y = op.Abs(x)
        return y

    for c in (True, False):
        run_everywhere(choose, np.array(c), X)


@script(default_opset=op)
def with_an_unused_value(x: FLOAT["N"]):
    unused = x + 1.0  # noqa: F841
    silent = x + 2.0  # sardonyx: ignore[unused-value]  # noqa: F841
    return -x


def test_lints_are_warnings() -> None:
    with pytest.warns(sardonyx.ScriptWarning, match="unused-value") as caught:
        with_an_unused_value.to_model_proto()
    assert str(caught[0].message).count("unused-value") == 1


def test_a_compiled_script_has_arrays_of_its_own() -> None:
    """`compile` makes the model without bytes; what happens to an array later is not its own."""
    weights = np.arange(3, dtype=np.float32)

    @script(default_opset=op)
    def scaled(x: FLOAT[3]):
        return x * weights + op.Constant(value=weights)

    model = scaled.compile(producer_name="me")
    through_bytes = sardonyx.Model(scaled.to_model_bytes(producer_name="me"))
    assert model.to_bytes() == through_bytes.to_bytes()
    assert str(model) == str(through_bytes)
    weights[:] = 7
    x = np.ones(3, np.float32)
    np.testing.assert_array_equal(model(x), [0, 2, 4])
    np.testing.assert_array_equal(scaled.compile()(x), [14, 14, 14])
