"""The package: its public names, what importing it loads, and what it does without onnx."""

import ast
import concurrent.futures
import inspect
import os
import pickle
import subprocess
import sys
import typing
from pathlib import Path

import numpy as np
import onnx
import pytest
import sardonyx
from sardonyx import onnx_opset, onnx_types, tensor, values


def python(code, **environment):
    """What a fresh Python prints."""
    path = str(Path(sardonyx.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False,
        env={**os.environ, "PYTHONPATH": path, **environment},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


PUBLIC = [
    "CompileError", "EvalError", "Model", "OnnxFunction", "Tensor", "TensorType",
    "TracedOnnxFunction", "decompile", "evaluator", "export_onnx_lib", "external_tensor",
    "graph", "load", "load_library",
    "onnx_opset", "onnx_types", "opset1", "opset18", "opset_ai_onnx_ml1",
    "proto2python", "script", "tensor", "values",
]  # fmt: skip


def test_public_names():
    for name in PUBLIC:
        assert getattr(sardonyx, name) is not None
        assert name in dir(sardonyx)
    for name in ("Opset", "OnnxFunction", "TracedOnnxFunction", "OnnxClosure", "Op"):
        assert hasattr(values, name)
    assert tensor.Tensor is sardonyx.Tensor
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        sardonyx.nonsense  # noqa: B018


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("FLOAT64", "did you mean `DOUBLE`"),
        ("float32", "did you mean `FLOAT`"),
        ("BF16", "did you mean `BFLOAT16`"),
        ("I64", "did you mean `INT64`"),
        ("STR", "did you mean `STRING`"),
        ("FLOAT128", "no type of this width"),
        ("scripts", "did you mean `script`"),
        ("opset99", "newest opset of ai.onnx is opset"),
        ("op", "import opset21 as op"),
    ],
)
def test_names_that_do_not_exist(name, told):
    with pytest.raises(ImportError, match=told):
        exec(f"from sardonyx import {name}")
    with pytest.raises(AttributeError, match=told) as raised:
        getattr(sardonyx, name)
    # Python adds a suggestion by spelling to an error of this object.
    assert raised.value.obj is None or "mean" not in told
    assert not hasattr(sardonyx, name)
    with pytest.raises(ImportError, match="cannot import name 'zzz' from 'sardonyx' "):
        exec("from sardonyx import zzz")


def test_the_classes_of_scripts_have_signatures():
    parameters = inspect.signature(sardonyx.OnnxFunction).parameters
    assert list(parameters)[:2] == ["function", "opset"]
    assert str(inspect.signature(tell_size)) == "(x)"
    assert "FLOAT[2, 'N']" in sardonyx.FLOAT.__doc__


def test_star_import():
    assert python("from sardonyx import *; print(FLOAT, opset18, script)")


def test_importing_loads_nothing_else():
    loaded = python(
        "import sys; before = set(sys.modules)\n"
        "from sardonyx import script, graph, opset18, FLOAT\n"
        "print(*sorted(set(sys.modules) - before))"
    ).split()
    assert {name.split(".")[0] for name in loaded} - set(sys.builtin_module_names) == {"sardonyx"}


SCRIPT = """\
from sardonyx import FLOAT, script, opset18 as op, Model
@script()
def double(x: FLOAT["N"]) -> FLOAT["N"]:
    return op.Add(x, x)
"""


def test_without_onnx(tmp_path):
    (tmp_path / "doubled.py").write_text(SCRIPT)
    printed = python(
        "import sys\n"
        "sys.modules['onnx'] = None  # as if it were not installed\n"
        f"sys.path.insert(0, {str(tmp_path)!r})\n"
        "from doubled import double, Model\n"
        "proto = double.to_model_proto()\n"
        "print(type(proto).__name__, Model(proto).run({'x': [1.0, 2.0]}))"
    )
    assert printed.startswith("bytes [array([2., 4.]")


USE = """\
import numpy as np, doubled as d
print(d.double(np.ones(2, np.float32)), d.op.Add, len(d.double.to_model_bytes()))
"""


def test_no_leak_is_reported_at_exit(tmp_path):
    (tmp_path / "doubled.py").write_text(SCRIPT)
    path = str(Path(sardonyx.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", USE],
        capture_output=True, text=True, timeout=60, check=False, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


# --- Tensor types --------------------------------------------------------------------------------


def test_every_element_type():
    numbers = dict(onnx.TensorProto.DataType.items())
    del numbers["UNDEFINED"]
    assert {name: int(getattr(onnx_types, name).dtype) for name in numbers} == numbers
    assert {int(key) for key in onnx_types.tensor_type_registry} == set(numbers.values())
    assert onnx_types.tensor_type_registry[1] is onnx_types.FLOAT


def test_shapes():
    FLOAT = onnx_types.FLOAT
    assert FLOAT.shape is None
    assert FLOAT[...].shape is Ellipsis
    assert FLOAT[10].shape == 10
    assert FLOAT["N"].shape == "N"
    assert FLOAT[2, "N", None].shape == (2, "N", None)
    assert FLOAT[2, "N"] is FLOAT[2, "N"]
    assert issubclass(FLOAT["N"], FLOAT) and issubclass(FLOAT, onnx_types.TensorType)
    assert repr(FLOAT[2, "N"]) == "FLOAT[2, 'N']"
    for wrong in (1.5, -1, True, (1, ...)):
        with pytest.raises(TypeError, match="dimension"):
            FLOAT[wrong]
    with pytest.raises(TypeError, match="has a shape already"):
        FLOAT["N"]["M"]
    with pytest.raises(TypeError, match="for annotations"):
        FLOAT()


def test_types_in_typing():
    FLOAT = onnx_types.FLOAT
    assert typing.Optional[FLOAT["N"]].__args__[0] is FLOAT["N"]  # noqa: UP045
    assert (FLOAT | None).__args__[0] is FLOAT
    assert list[FLOAT].__args__ == (FLOAT,)


def test_type_protos():
    expected = onnx.helper.make_tensor_type_proto(1, [2, "N", None])
    assert onnx_types.FLOAT[2, "N", None].to_type_proto() == expected
    assert onnx_types.INT64[...].to_type_proto() == onnx.helper.make_tensor_type_proto(7, None)
    assert onnx_types.DOUBLE["N"].to_string() == "tensor(double)"


def test_element_types_equal_numpy_dtypes():
    FLOAT, BFLOAT16 = onnx_types.FLOAT, onnx_types.BFLOAT16
    assert FLOAT.dtype == np.float32 == FLOAT.dtype
    assert FLOAT.dtype == np.dtype("float32")
    assert np.dtype("float32") == FLOAT.dtype
    assert FLOAT.dtype != np.float64
    assert FLOAT.dtype == onnx.TensorProto.FLOAT
    assert BFLOAT16.dtype.dtype.name == "bfloat16"
    assert repr(FLOAT.dtype) == "FLOAT"
    assert pickle.loads(pickle.dumps(FLOAT.dtype)) == FLOAT.dtype


# --- The rest ------------------------------------------------------------------------------------


def test_all_opsets_are_those_of_onnx():
    known = {("", v) for v in range(1, onnx.defs.onnx_opset_version() + 1)}
    assert known <= set(onnx_opset.all_opsets)
    assert ("ai.onnx.ml", 1) in onnx_opset.all_opsets


def test_external_tensor():
    proto = sardonyx.external_tensor("w", onnx.TensorProto.FLOAT, [2, 3], "weights.bin", offset=8)
    assert proto.data_location == onnx.TensorProto.EXTERNAL
    entries = {entry.key: entry.value for entry in proto.external_data}
    assert entries == {"location": "weights.bin", "offset": "8"}


def test_load(tmp_path):
    graph = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["": 18]> g (float[N] x) => (float[N] y) {y = Neg(x)}'
    )
    path = tmp_path / "model.onnx"
    onnx.save(graph, path)
    x = np.array([1.0, -2.0], np.float32)
    for source in (path, str(path), path.read_bytes(), graph):
        model = sardonyx.load(source)
        assert model.inputs == [("x", "FLOAT[N]")]
        assert model.outputs == [("y", "FLOAT[N]")]
        np.testing.assert_array_equal(model.run({"x": x})[0], -x)
    assert "Neg" in str(model)
    onnx.checker.check_model(onnx.load_from_string(model.to_bytes()), full_check=True)
    with pytest.raises(sardonyx.EvalError):
        sardonyx.load(b"nonsense")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        sardonyx.load(str(tmp_path / "nowhere.onnx"))
    with pytest.raises(sardonyx.EvalError):
        model.run({"z": x})


def test_models_are_called():
    model = sardonyx.load(
        onnx.parser.parse_model(
            '<ir_version: 8, opset_import: ["": 18]> g (float[N] x, float y) => (float[N] d) '
            "{d = Sub(x, y)}"
        )
    )
    x = np.array([1.0, -2.0], np.float32)
    for _ in range(3):  # one plan, several runs
        np.testing.assert_array_equal(model(x, 1.0), x - 1)
        np.testing.assert_array_equal(model(y=1.0, x=x), x - 1)
        np.testing.assert_array_equal(model(x, y=1.0), x - 1)
        x = x * 2
    with pytest.raises(TypeError, match="given twice"):
        model(x, 1.0, x=x)
    with pytest.raises(TypeError, match="3 arguments for the 2 inputs of the model: `"):
        model(x, 1.0, 2.0)
    with pytest.raises(sardonyx.EvalError, match=r"input `y` .* is missing"):
        model(x)
    with pytest.raises(
        sardonyx.EvalError, match=r"input `y` is None, but the graph declares FLOAT"
    ):
        model(x, None)
    for given in (None, [x, x]):
        with pytest.raises(TypeError, match="`run` takes the inputs by name"):
            model.run(given)
    two = sardonyx.load(
        onnx.parser.parse_model(
            '<ir_version: 8, opset_import: ["": 18]> g (float[N] x) => (float[N] a, float[N] b) '
            "{a = Neg(x) b = Abs(x)}"
        )
    )
    negative, absolute = two(x)
    np.testing.assert_array_equal(negative, -x)
    np.testing.assert_array_equal(absolute, abs(x))


def test_models_run_in_several_threads_at_once():
    model = sardonyx.load(
        onnx.parser.parse_model(
            '<ir_version: 8, opset_import: ["": 18]> g (float[N,N] x) => (float[N,N] y) '
            "{m = MatMul(x, x) e = Tanh(m) y = Add(e, x)}"
        )
    )
    inputs = [np.random.default_rng(i).normal(size=(200, 200)).astype(np.float32) for i in range(8)]
    alone = [model(x) for x in inputs]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for _ in range(3):
            for got, want in zip(pool.map(model, inputs), alone, strict=True):
                np.testing.assert_array_equal(got, want)


def test_types_of_the_opsets():
    text = (Path(sardonyx.__file__).parent / "_opsets.pyi").read_text()
    compile(text, "_opsets.pyi", "exec")  # which sees more than the parser
    tree = ast.parse(text)
    methods = {
        one.name: {item.name: item for item in one.body if isinstance(item, ast.FunctionDef)}
        for one in tree.body
        if isinstance(one, ast.ClassDef)
    }
    assert {name.lower() for name in methods} >= {
        name.lower() for name in onnx_opset.__all__ if name.startswith("opset")
    }
    names = [argument.arg for argument in methods["Opset11"]["TopK"].args.args]
    assert names == ["self", "X", "K"]
    assert "Since version 11" in ast.get_docstring(methods["Opset11"]["TopK"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"opset": "21"}, "`opset` is a version, such as 21, or an Opset, not '21'"),
        ({"opset": 21.0}, "`opset` is a version, such as 21, or an Opset, not 21.0"),
        ({"attributes": [1.0]}, r"`attributes` has the values .* by name, .* not \[1.0\]"),
        ({"input_types": {"z": sardonyx.FLOAT[3]}}, "`?tell_size`? has no input 'z': it has .'x'."),
    ],
)
def test_options_of_compile_that_are_wrong(options, message):
    with pytest.raises(TypeError, match=message):
        tell_size.compile(**options)
    if "input_types" not in options:
        with pytest.raises(TypeError, match=message):
            sardonyx.compile(tell_size.source, **options)


def test_types_of_inputs_by_name():
    model = tell_size.compile(input_types={"x": sardonyx.FLOAT[2, 3]})
    assert str(model.graph.inputs[0].type) == "FLOAT[2, 3]"


@sardonyx.script()
def tell_size(x):
    return sardonyx.opset21.Size(x)


def test_an_opset_has_a_domain_and_a_version():
    with pytest.raises(TypeError, match=r"a domain and a version.*opset21"):
        sardonyx.Opset(21)  # type: ignore[call-arg]


@pytest.mark.parametrize("name", ["Graph", "Model", "Node", "Opset", "Tensor", "Value"])
def test_members_have_documentation(name):
    type_ = getattr(sardonyx, name)
    members = [one for one in dir(type_) if not one.startswith("_")]
    assert [one for one in members if not getattr(type_, one).__doc__] == []
