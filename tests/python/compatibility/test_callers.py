"""Programs that were written for onnxscript: names that only it has, evaluators, mixed imports,
classes of exceptions."""

from __future__ import annotations

import copy
import json
import os
import pathlib
import pickle
import re
import subprocess
import sys
from typing import Any

import numpy as np
import onnx
import pytest
import sardonyx
from sardonyx import FLOAT, Model, Tensor, evaluator, script
from sardonyx import opset18 as op

from places import PROGRAM, ROOT

PACKAGE = str(pathlib.Path(sardonyx.__file__).parents[1])


def python(text: str, folder: pathlib.Path, *words: str) -> str:
    """What a program prints."""
    path = folder / "program.py"
    path.write_text(text)
    done = subprocess.run(
        [sys.executable, *words, str(path)], capture_output=True, text=True, timeout=120,
        check=False, env={**os.environ, "PYTHONPATH": PACKAGE},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


# --- Names that only onnxscript has --------------------------------------------------------------

BESIDE = """\
import onnxscript
from onnxscript import FLOAT, ir, optimizer, opset18 as op, rewriter, script
from onnxscript import version_converter
import onnxscript.optimizer as again
assert onnxscript.__name__ == "sardonyx" and again is optimizer is onnxscript.optimizer
assert ir.Model.__module__.startswith("onnx_ir") and hasattr(rewriter, "rewrite")
@script()
def f(x: FLOAT["N"]):
    return op.Identity(op.Identity(x))
model = f.to_model_proto()
print(len(model.graph.node), len(optimizer.optimize(model).graph.node), f([1.5]).tolist())
for name in ("nonsense", "optimizer.nonsense"):
    try:
        __import__("onnxscript." + name)
    except ModuleNotFoundError as error:
        print(error.name)
try:
    onnxscript.nonsense
except AttributeError as error:
    print(error)
"""


def test_names_of_the_installed_package(tmp_path):
    assert python(BESIDE, tmp_path, "-m", "sardonyx").splitlines() == [
        "2 1 [1.5]", "onnxscript.nonsense", "onnxscript.optimizer.nonsense",
        "module 'sardonyx' has no attribute 'nonsense'",
    ]  # fmt: skip


MIXED = """\
import numpy as np, onnx
from sardonyx import script, Model
from onnxscript import FLOAT, INT64, opset18 as op
@script()
def f(x: FLOAT["N"], y: INT64[1]):
    return op.Add(x, op.Cast(y, to=FLOAT.dtype))
@script(default_opset=op)
def g(x: FLOAT["N"]) -> FLOAT["N"]:
    values, places = op.TopK(f(x, op.Shape(x)), [1], axis=0)
    return values * 2
x = np.array([1, 5], np.float32)
model = g.to_model_proto()
onnx.checker.check_model(model, full_check=True)
print(model.opset_import[0].version, g(x), Model(model)(x))
print(type(op).__module__.split(".")[0], type(op.Identity(x)).__name__)
"""


def test_mixed_imports(tmp_path):
    assert python(MIXED, tmp_path).splitlines() == ["18 [14.] [14.]", "onnxscript Tensor"]


# --- Evaluators ----------------------------------------------------------------------------------


@script()
def doubled(x: FLOAT["N"]):
    return op.Add(x, x)


@script()
def outer(x: FLOAT["N"]):
    return op.Neg(doubled(x))


X = np.array([1, 2], np.float32)


def test_evaluators_that_take_schemas():
    class Recorder(evaluator.Evaluator):
        def __init__(self) -> None:
            self.seen: list[Any] = []

        def eval(self, schema, inputs, attributes):
            self.seen.append((schema.name, len(inputs), dict(attributes)))
            op_type = getattr(op, schema.name)
            return evaluator.native.call(op_type, *inputs, **attributes)

    with Recorder() as recorder:
        np.testing.assert_array_equal(outer(X), -2 * X)
        np.testing.assert_array_equal(op.Concat(X, X, axis=0), [1, 2, 1, 2])
    assert recorder.seen == [("Add", 2, {}), ("Neg", 1, {}), ("Concat", 2, {"axis": 0})]
    assert isinstance(recorder.seen[0], tuple)


def test_evaluators_that_see_calls():
    class Tracer(evaluator.Evaluator):
        def __init__(self) -> None:
            self.seen: list[Any] = []

        def eval_op(self, op, args, kwargs):
            self.seen.append((op.name, len(args), kwargs))
            return super().eval_op(op, args, kwargs)

        def eval_function(self, function, args, kwargs):
            self.seen.append(function.name)
            return super().eval_function(function, args, kwargs)

    with Tracer() as tracer:
        np.testing.assert_array_equal(outer(X), -2 * X)
        op.Softmax(X, axis=-1)
    assert tracer.seen == [
        "outer", "doubled", ("Add", 2, {}), ("Neg", 1, {}), ("Softmax", 1, {"axis": -1}),
    ]  # fmt: skip
    tracer.seen.clear()
    outer(X)
    assert tracer.seen == []


def test_symbols_reach_evaluators_as_they_are():
    """Tracers of exporters pass objects of their own through scripts."""

    class Symbol:
        pass

    class Builder(evaluator.Evaluator):
        nodes: tuple[str, ...] = ()

        def eval_op(self, op, args, kwargs):  # noqa: ARG002
            assert all(isinstance(one, Symbol) for one in args)
            self.nodes += (op.name,)
            return Symbol()

        def eval_function(self, function, args, kwargs):
            return function.function(*args, **kwargs)

    with Builder() as builder:
        assert isinstance(outer(Symbol()), Symbol)
    assert builder.nodes == ("Add", "Neg")


def test_unknown_keywords_of_functions():
    lenient = evaluator.ORTEvaluator(ignore_unknown_function_kwargs=True)
    result = lenient.eval_function(doubled, [X], {"alpha": 3})
    np.testing.assert_array_equal(result, 2 * X)
    with pytest.raises(TypeError, match="alpha"):
        evaluator.ORTEvaluator().eval_function(doubled, [X], {"alpha": 3})


def test_scripts_of_other_threads_are_not_seen():
    import threading

    class Refusing(evaluator.Evaluator):
        def eval_function(self, function, args, kwargs):
            raise AssertionError(function, args, kwargs)

    results: list[Any] = []
    with Refusing():
        thread = threading.Thread(target=lambda: results.append(doubled(X)))
        thread.start()
        thread.join()
    np.testing.assert_array_equal(results[0], 2 * X)


# --- The rest ------------------------------------------------------------------------------------


def test_classes_of_exceptions():
    for kind in (TypeError, ValueError):
        with pytest.raises(kind, match="has a shape already"):
            FLOAT[1][2]
    for kind in (TypeError, ValueError):
        for convert in (int, float, Tensor.item, range):
            with pytest.raises(kind, match="a tensor of 2 elements is not"):
                convert(Tensor([1, 2]))
    for kind in (TypeError, NotImplementedError):
        with pytest.raises(kind, match="for annotations"):
            FLOAT()


def test_operators_by_name():
    assert op["Add"](X, X).tolist() == [2, 4]
    assert op["Nonsense"] is None
    assert "Add" in op and "Nonsense" not in op


def test_a_bare_type_of_all_inputs_leaves_the_rank_open():
    @script()
    def untyped(x, y):
        return op.Add(x, y)

    model = untyped.to_model_proto(io_types=FLOAT)
    assert not model.graph.input[0].type.tensor_type.HasField("shape")
    np.testing.assert_array_equal(Model(model)(X, X), 2 * X)
    assert isinstance(Model(model)(Tensor(X), X), Tensor)
    shaped = untyped.to_model_proto(io_types=FLOAT[2])
    assert len(shaped.graph.input[0].type.tensor_type.shape.dim) == 1


def test_fields_of_a_model():
    model = doubled.to_model_proto(
        doc_string="words", domain="my.models", model_version=3, producer_name="me", ir_version=9
    )
    onnx.checker.check_model(model, full_check=True)
    assert (model.doc_string, model.domain, model.model_version) == ("words", "my.models", 3)
    assert (model.producer_name, model.ir_version) == ("me", 9)
    with pytest.raises(TypeError, match="nonsense"):
        doubled.to_model_proto(nonsense=1)


def test_a_stated_opset_is_that_of_the_script():
    """onnxscript ignores `opset_version` where the script imports an opset."""
    assert doubled.to_model_proto(opset_version=18) == doubled.to_model_proto()
    with pytest.raises(ValueError, match=r"`doubled` uses opset 18 of ai\.onnx; opset=20"):
        doubled.to_model_proto(opset_version=20)


def test_classes_of_opsets():
    from sardonyx.onnx_opset import Opset17, Opset18, Opset19, Opset_ai_onnx_ml1

    assert Opset18() is op and isinstance(op, Opset17) and not isinstance(op, Opset19)
    assert not isinstance(op, Opset_ai_onnx_ml1) and not isinstance(18, Opset18)
    assert repr(Opset18.Relu) == repr(op.Relu)
    with pytest.raises(AttributeError):
        _ = sardonyx.onnx_opset.Opset99


# --- What is tolerated in sources that import onnxscript -----------------------------------------

# The lines of a script, the code of its one finding, and what its model gives for [-1, 2].
TOLERATED = {
    "no types": (
        "def f(x):\n    return op.Relu(x)", "missing-input-type", None,
    ),
    "another type": (
        "def f(x: FLOAT['N']) -> INT64['N']:\n    return op.Relu(x)",
        "return-type-mismatch", [0, 2],
    ),
    "another rank": (
        "def f(x: FLOAT['N']) -> FLOAT['N', 3]:\n    return op.Relu(x)",
        "return-type-mismatch", [0, 2],
    ),
    "another count": (
        "def f(x: FLOAT['N']) -> Tuple[FLOAT['N'], FLOAT['N']]:\n    return op.Relu(x)",
        "return-type-mismatch", [0, 2],
    ),
    "of an assignment": (
        "def f(x: FLOAT['N']):\n    y: INT64['N'] = op.Relu(x)\n    return y",
        "annotation-mismatch", [0, 2],
    ),
    "an operator": (
        "def f(x: FLOAT['N']):\n    return op.ScaledTanh(x, alpha=1.0, beta=1.0)",
        "unknown-operator", None,
    ),
}  # fmt: skip
HEAD = (
    "from {} import FLOAT, INT64, opset18 as op\n"
    "from sardonyx import script\nfrom typing import Tuple\n"
)
IMPORTS = {
    "from": HEAD.format("onnxscript"),
    "import in a branch": (
        "try:\n    import numpy, onnxscript.values\nexcept ImportError:\n    pass\n"
        + HEAD.format("sardonyx")
    ),
}
STRICT = HEAD.format("sardonyx")


def written(imports: str, name: str, folder: pathlib.Path) -> tuple[str, pathlib.Path]:
    text = f"{imports}\n@script(default_opset=op)\n{TOLERATED[name][0]}\n"
    path = folder / "program.py"
    path.write_text(text)
    return text, path


@pytest.mark.parametrize("name", TOLERATED)
@pytest.mark.parametrize("imports", IMPORTS)
def test_tolerated_on_the_command_line(imports, name, tmp_path):
    _, code, expected = TOLERATED[name]
    text, path = written(IMPORTS[imports], name, tmp_path)
    target = tmp_path / "out.onnx"
    words = [str(PROGRAM), "build", str(path), "-o", str(target)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    said = re.findall(r"warning\[(?!unused-import)(.*?)\]", done.stderr)
    assert (done.returncode, said) == (0, [code]), done.stderr
    if expected is not None:
        onnx.checker.check_model(str(target), full_check=True)
        result = sardonyx.load(str(target))(np.array([-1, 2], np.float32))
        np.testing.assert_array_equal(result, expected)
    # The same from Python: the same bytes, and the same finding.
    made = script.from_source(text)
    with pytest.warns(sardonyx.ScriptWarning, match=code):
        assert made.to_model_bytes() == target.read_bytes()


@pytest.mark.parametrize("name", TOLERATED)
def test_elsewhere_they_are_errors(name, tmp_path):
    mentions = "# import onnxscript\n'''\nimport onnxscript\n'''\n"
    text, path = written(STRICT + mentions, name, tmp_path)
    words = [str(PROGRAM), "build", str(path), "-o", str(tmp_path / "out.onnx")]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1 and f"error[{TOLERATED[name][1]}]" in done.stderr, done.stderr
    with pytest.raises(sardonyx.CompileError, match=TOLERATED[name][1]):
        script.from_source(text).to_model_bytes()


def test_tolerated_in_programs(tmp_path):
    """Under `python -m sardonyx` all sources are those of a program for onnxscript."""
    helper = f"{STRICT}\n@script()\n{TOLERATED['no types'][0]}\n"
    (tmp_path / "helper_of_it.py").write_text(helper)
    text = "import onnxscript, helper_of_it\nprint(len(helper_of_it.f.to_model_bytes()) > 9)\n"
    assert python(text, tmp_path, "-W", "ignore", "-m", "sardonyx") == "True\n"


def test_operators_of_onnx_runtime_in_the_standards_domain(tmp_path):
    """A schema file describes them, also where nothing is tolerated."""
    body = "def f(x: FLOAT['N', 4], s: FLOAT[4]):\n    return op.SimplifiedLayerNormalization(x, s"
    text = f"{STRICT}from sardonyx import load_schemas\n@script(SCHEMAS)\n{body}BAD)\n"
    known = text.replace("SCHEMAS", "schemas=load_schemas('ai.onnx')")
    model = script.from_source(known.replace("BAD", "")).to_model_proto()
    assert model.graph.output[0].type.tensor_type.elem_type == onnx.TensorProto.FLOAT
    import onnxruntime

    session = onnxruntime.InferenceSession(model.SerializeToString())
    x = np.arange(8, dtype=np.float32).reshape(2, 4)
    (result,) = session.run(None, {"x": x, "s": np.ones(4, np.float32)})
    np.testing.assert_allclose(result, x / np.sqrt(np.mean(x * x, 1, keepdims=True)), rtol=1e-4)
    schemas = str(ROOT / "python/sardonyx/schemas/ai.onnx.toml")
    path = tmp_path / "one.py"
    for bad, more, codes in [
        ("", (), ["unknown-operator"]), ("", ("--schemas", schemas), []),
        (", axes=1", ("--schemas", schemas), ["unknown-attribute"]),
    ]:  # fmt: skip
        path.write_text(text.replace("SCHEMAS", "").replace("BAD", bad))
        words = [str(PROGRAM), "check", "--json", "--ignore", "unused-import", *more, str(path)]
        done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
        assert [one["code"] for one in json.loads(done.stdout)] == codes, done.stdout


# --- Opsets --------------------------------------------------------------------------------------


def test_an_opset_is_one_object():
    from sardonyx.values import Op, Opset

    assert Opset("", 18) is Opset("ai.onnx", 18) is op is op.Relu.opset
    assert Opset("my.d", 1) is Opset(domain="my.d", version=1) is not Opset("my.d", 2)
    assert pickle.loads(pickle.dumps(op)) is op is copy.deepcopy(op)
    assert Op(Opset("my.d", 1), "Thing").opset is Opset("my.d", 1)

    class Own(Opset):
        def __new__(cls):
            return Opset.__new__(cls, "my.d", 1)

    assert type(Own()) is Own and (Own().domain, Own().version) == ("my.d", 1)
    assert type(Opset("my.d", 1)) is Opset


def test_operators_that_nobody_knows():
    from sardonyx.values import Opset

    mine = Opset("my.d", 1)
    assert not hasattr(mine, "anything") and not hasattr(op, "anything")
    assert not hasattr(Opset("com.microsoft", 1), "anything")

    class Knowing(evaluator.Evaluator):
        def eval_op(self, op, args, kwargs):  # noqa: ARG002
            return op.name

    with Knowing():
        assert mine.Thing(X) == "Thing"
    assert not hasattr(mine, "Thing")
