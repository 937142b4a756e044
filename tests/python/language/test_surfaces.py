"""Element types, integers, isinstance, opsets and annotations mean one thing on every surface: as
Python, compiled from Python, and compiled by the command line."""

from __future__ import annotations

import pathlib
import runpy
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import onnx.checker
import onnx.helper
import onnx.parser
import onnx_ir
import onnxruntime
import pytest
import sardonyx
from sardonyx import onnx_types

from agreement import agree
from language import HEADER, shared_compiler
from surfaces import check

I32 = np.array([1, 2, 3], np.int32)
U64 = np.array([2**64 - 1, 5], np.uint64)
I64 = np.array([1, 2], np.int64)
F32 = np.array([1, 2, 3], np.float32)
F64 = np.array([1, 2], np.float64)

BY_FLOAT = "def {0}(x{1}, k: float):\n    return op.Mul(x, k)\n"


def calls(callee: str, argument: str, kind: str = "INT32") -> str:
    return (
        f"@script(default_opset=op)\n{callee}\n"
        f"@script(default_opset=op)\ndef f(x: {kind}['N']):\n    return g(x, {argument})\n"
    )


def body(text: str, kind: str = "FLOAT", before: str = "") -> str:
    lines = "".join(f"    {line}\n" for line in text.splitlines())
    return f"{before}\n@script(default_opset=op)\ndef f(x: {kind}['N']):\n{lines}"


# --- Numbers: the expected numbers, or the code of the refusal ------------------------------------

NUMBERS: dict[str, tuple[str, Any, Any]] = {
    "float attribute": (calls(BY_FLOAT.format("g", ""), "2.5"), "lossy-literal", I32),
    "float attribute, typed": (
        calls(BY_FLOAT.format("g", ": INT32['N']"), "2.5"),
        "lossy-literal",
        I32,
    ),
    "float attribute, whole": (
        calls(BY_FLOAT.format("g", ": INT32['N']"), "2.0"),
        I32 * 2,
        I32,
    ),
    "float attribute through another": (
        "@script(default_opset=op)\n"
        + BY_FLOAT.format("h", ": INT32['N']")
        + calls("def g(x, k: float):\n    return h(x, k)\n", "2.5"),
        "lossy-literal",
        I32,
    ),
    "int attribute": (
        calls("def g(x: UINT8['N'], k: int):\n    return op.Mul(x, k)\n", "300", "UINT8"),
        "lossy-literal",
        I32.astype(np.uint8),
    ),
    "int attribute that fits": (
        calls("def g(x: UINT8['N'], k: int):\n    return op.Mul(x, k)\n", "30", "UINT8"),
        I32.astype(np.uint8) * np.uint8(30),
        I32.astype(np.uint8),
    ),
    "a tensor for a float": (
        calls("def g(x, k: float):\n    return x * k\n", "x[1]", "FLOAT"),
        F32 * F32[1],
        F32,
    ),
    "list of floats": (
        calls("def g(x: INT32['N'], k: Sequence[float]):\n    return op.Mul(x, k)\n", "[2.5]"),
        "lossy-literal",
        I32,
    ),
    "array": (
        body("return x * K", "INT32", "K = np.array([2.5], np.float32)"),
        "type-mismatch",
        I32,
    ),
    "np.float64": (body("return x * np.float64(0.5)"), F32 * np.float32(0.5), F32),
    "hexadecimal": (body("return x & 0xFFFFFFFFFFFFFFFF", "UINT64"), U64, U64),
    "power": (body("return x & (2**64 - 1)", "UINT64"), U64, U64),
    "shift": (body("return x & ((1 << 64) - 1)", "UINT64"), U64, U64),
    "global": (body("return x & BIG", "UINT64", "BIG = 2**64 - 1"), U64, U64),
    "np.uint64": (body("return x & np.uint64(2**64 - 1)", "UINT64"), U64, U64),
    "np.full": (body("return x & np.full((1,), 2**64 - 1, dtype=np.uint64)", "UINT64"), U64, U64),
    "list": (body("return x & [2**64 - 1, 2**63]", "UINT64"), U64 & [2**64 - 1, 2**63], U64),
    "least": (body("return x + -9223372036854775808", "INT64"), I64 + np.int64(-(2**63)), I64),
    "too large": (body("return x + 2**63", "INT64"), "lossy-literal", I64),
    "of a double": (body("return x + 2**70", "DOUBLE"), F64 + 2.0**70, F64),
    "untyped function": (
        (
            "@script(default_opset=op)\ndef g(x):\n    return x & 0xFFFFFFFFFFFFFFFF\n"
            "@script(default_opset=op)\ndef f(x: UINT64['N']):\n    return g(x)\n"
        ),
        U64,
        U64,
    ),
    "arithmetic": (
        body(
            "d = {2**64: 1, 2**65: 2}\n"
            "n = (2**64) // (2**62) + (2**64) % 7 + abs(-(2**64)) // 2**60\n"
            "m = 3 if 2**64 > 2**63 else 4\n"
            "k = int(2.0**64 == 2**64) + int(2**53 + 1 == 2.0**53) + -(2**64) // 2**63\n"
            "return x + (d[2**65] + n + m + k)",
            "INT64",
        ),
        I64 + 2 + (2**64) // (2**62) + (2**64) % 7 + 2**4 + 3 + (1 + 0 + -(2**64) // 2**63),
        I64,
    ),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers(name: str, tmp_path: pathlib.Path) -> None:
    source, expected, given = NUMBERS[name]
    agree(source, expected, {"x": given}, tmp_path)


# --- Element types --------------------------------------------------------------------------------

TYPES = {
    "2.0 if x.dtype in {FLOAT.dtype} else 3.0": 2,
    "2.0 if x.dtype in {np.float32} else 3.0": 3,  # hashed as the class is
    "2.0 if x.dtype in (np.float32, np.float64) else 3.0": 2,
    "2.0 if x.dtype == 1 else 3.0": 2,
    "2.0 if x.dtype in {1, 10} else 3.0": 2,
    "2.0 if x.dtype == 'float32' else 3.0": 2,
    "2.0 if x.dtype == np.float32 and x.dtype != np.float64 else 3.0": 2,
    "{FLOAT.dtype: 5.0, INT64.dtype: 6.0}[x.dtype]": 5,
    "{1: 5.0}.get(x.dtype, 7.0)": 5,
    "float(x.dtype + 1)": 2,
    "float(int(x.dtype))": 1,
    "2.0 if isinstance(x.dtype, int) else 3.0": 2,
    "2.0 if x.dtype.name == 'FLOAT' else 3.0": 2,
    "float(x.dtype.bitwidth)": 32,
    "2.0 if x.dtype.is_floating_point() and x.dtype.is_signed() else 3.0": 2,
    "2.0 if x.dtype.is_integer() else 3.0": 3,
    "2.0 if INT8.dtype.is_integer() and not UINT8.dtype.is_signed() else 3.0": 2,
    "2.0 if x.dtype.numpy() == np.float32 else 3.0": 2,
    "2.0 if x.dtype.numpy().name == 'float32' else 3.0": 2,
    "float(len(f'{x.dtype}'))": 5,
    "2.0 if x.type.dtype == FLOAT.dtype else 3.0": 2,
    "2.0 if x.dtype < DOUBLE.dtype else 3.0": 2,
    "2.0 if sorted([DOUBLE.dtype, FLOAT.dtype])[0] == x.dtype else 3.0": 2,
}


@pytest.mark.parametrize("text", TYPES)
def test_element_types(text: str, tmp_path: pathlib.Path) -> None:
    source = f"@script(default_opset=op)\ndef f(x: FLOAT[3]):\n    return x * ({text})\n"
    agree(source, F32 * np.float32(TYPES[text]), {"x": F32}, tmp_path)


@pytest.mark.parametrize("name", onnx_types.TYPE_NAMES)
def test_the_words_of_onnx_ir(name: str) -> None:
    ours, theirs = getattr(sardonyx, name).dtype, onnx_ir.DataType[name]
    assert ours == theirs and hash(ours) == hash(int(theirs)) and onnx_ir.DataType(ours) is theirs
    assert (ours.name, ours.value) == (theirs.name, theirs.value)
    for method in ("is_integer", "is_floating_point", "is_signed", "numpy"):
        assert getattr(ours, method)() == getattr(theirs, method)()
    if name != "STRING":
        assert ours.bitwidth == theirs.bitwidth
    assert ours == ours.dtype.name


def test_element_types_are_taken_by_others() -> None:
    x = sardonyx.Tensor(np.arange(3, dtype=ml_dtypes.bfloat16))
    assert x.dtype == ml_dtypes.bfloat16 and x.dtype == onnx.TensorProto.BFLOAT16
    assert np.zeros(2, dtype=x.dtype).dtype == ml_dtypes.bfloat16
    assert np.asarray(sardonyx.Tensor(F32)).astype(sardonyx.DOUBLE.dtype).dtype == np.float64
    assert onnx.helper.make_tensor("t", sardonyx.FLOAT.dtype, [1], [1.0]).data_type == 1
    assert x.type is sardonyx.BFLOAT16[(3,)] and x.type.shape == (3,)


def test_functions_of_python_get_the_same(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "enums.py"
    path.write_text(
        "import enum\nfrom sardonyx import FLOAT, opset18 as op, script\n"
        "class M(enum.IntEnum):\n    ADD = 3\n"
        "TABLE = eval('{FLOAT.dtype: 4.0}')\n"
        "look = TABLE.__getitem__\nname_of = eval('lambda t: t.name')\n"
        "@script(default_opset=op)\ndef f(x: FLOAT[3]):\n"
        "    k = 1.0 if M.ADD.name == 'ADD' and name_of(M.ADD) == 'ADD' else 2.0\n"
        "    n = 1.0 if name_of(x.dtype) == 'FLOAT' else 2.0\n"
        "    return x * look(x.dtype) * k * n + (M.ADD + 1)\n"
    )
    f = runpy.run_path(str(path))["f"]
    np.testing.assert_array_equal(f(F32), F32 * 4 + 4)
    np.testing.assert_array_equal(f.compile()(F32), F32 * 4 + 4)


# --- isinstance -----------------------------------------------------------------------------------

KINDS = {
    ("n: int", "3", "int"): 2,
    ("n: int", "3", "float"): 3,
    ("n: float", "3.0", "float"): 2,
    ("n: float", "3.0", "(int, float)"): 2,
    ("n: str", "'a'", "str"): 2,
    ("n: bool", "True", "bool"): 2,
    ("n: bool", "True", "int"): 2,
    ("n: Sequence[int]", "[1, 2]", "(list, tuple)"): 2,
    ("n: Sequence[int]", "[1, 2]", "list"): 2,
    ("n: Sequence[int]", "(1, 2)", "list"): 3,
    ("n", "3", "int"): 2,
    ("n", "3.0", "float"): 2,
    ("n", "3.0", "int"): 3,
    ("n", "[1, 2]", "(list, tuple)"): 2,
    ("n", "(1, 2)", "list"): 3,
    ("n", "x", "(int, float, list)"): 3,
    ("n: Sequence[FLOAT[...]]", "[x, x]", "list"): 2,
    ("n", "len(x)", "int"): 2,
}


@pytest.mark.parametrize("dim", ["3", "'N'"])
@pytest.mark.parametrize(("parameter", "argument", "classes"), KINDS)
def test_isinstance(
    parameter: str, argument: str, classes: str, dim: str, tmp_path: pathlib.Path
) -> None:
    source = (
        f"@script(default_opset=op)\ndef g(x, {parameter}):\n"
        f"    return x * (2.0 if isinstance(n, {classes}) else 3.0)\n"
        f"@script(default_opset=op)\ndef f(x: FLOAT[{dim}]):\n    return g(x, {argument})\n"
    )
    agree(source, F32 * KINDS[parameter, argument, classes], {"x": F32}, tmp_path)


def test_a_number_without_an_annotation_is_pythons(tmp_path: pathlib.Path) -> None:
    source = (
        "@script(default_opset=op)\ndef f(x: FLOAT['N'], n=4):\n"
        "    return x * np.array([1.0 / n], dtype=np.float32)\n"
    )
    agree(source, F32 * np.float32(0.25), {"x": F32}, tmp_path)
    path = tmp_path / "call.py"
    path.write_text(
        "import numpy as np\nfrom sardonyx import script\nfrom sardonyx import opset18 as op\n"
        "@script(default_opset=op)\ndef f(x, n):\n"
        "    return x * np.array([1.0 / n], dtype=np.float32)\n"
    )
    np.testing.assert_array_equal(runpy.run_path(str(path))["f"](F32, 4), F32 * np.float32(0.25))


# --- Opsets ---------------------------------------------------------------------------------------


def model_of(tmp_path: pathlib.Path, text: str, **options: Any) -> onnx.ModelProto:
    path = tmp_path / "opsets.py"
    path.write_text(text)
    return runpy.run_path(str(path))["f"].to_model_proto(**options)


def imports(proto: Any) -> dict[str, int]:
    return {one.domain: one.version for one in proto.opset_import}


@pytest.mark.parametrize("decorator", ["@script()", "@script(default_opset=Opset('my.d', 1))"])
def test_the_opset_is_the_files_one_import(decorator: str, tmp_path: pathlib.Path) -> None:
    model = model_of(
        tmp_path,
        "from sardonyx import FLOAT, opset19 as op, script\nfrom sardonyx.values import Opset\n"
        f"@script()\ndef g(x):\n    return x + x\n"
        f"{decorator}\ndef f(x: FLOAT['N']):\n    return g(x) * x\n",
    )
    assert imports(model)[""] == 19
    assert [imports(function)[""] for function in model.functions] == [19]
    onnx.checker.check_model(model, full_check=True)


def test_helpers_have_the_callers_opset(tmp_path: pathlib.Path) -> None:
    model = model_of(
        tmp_path,
        "from sardonyx import FLOAT, opset17, opset20, script\nimport sardonyx\n"
        "@script()\ndef g(x):\n    return x / x\n"
        "def h(x):\n    return x - x\n"
        "t = sardonyx.TracedOnnxFunction(opset20, h)\n"
        "@script()\ndef f(x: FLOAT['N']):\n    return opset17.Relu(g(x) * x)\n",
    )
    assert imports(model)[""] == 17
    assert [imports(function)[""] for function in model.functions] == [17]


@pytest.mark.parametrize("named", ["FLOAT", "FLOAT, opset17, opset20"])
def test_no_opset_is_asked_for(named: str, tmp_path: pathlib.Path) -> None:
    text = (
        f"from sardonyx import {named}, script\n"
        "@script()\ndef f(x: FLOAT['N']):\n    return x + x\n"
    )
    with pytest.raises(sardonyx.CompileError, match="missing-opset"):
        model_of(tmp_path, text)
    assert imports(model_of(tmp_path, text, opset=18))[""] == 18


def test_functions_of_an_incompatible_opset(tmp_path: pathlib.Path) -> None:
    text = (
        "from sardonyx import FLOAT, opset{0} as old, opset18 as op, script\n"
        "@script(default_opset=old)\ndef g(x):\n    return old.{1}(x)\n"
        "@script(default_opset=op)\ndef f(x: FLOAT['N']):\n    return g(x) * x\n"
    )
    with pytest.raises(sardonyx.CompileError, match="opset-conflict"):
        model_of(tmp_path, text.format(13, "ReduceMean"))
    onnx.checker.check_model(model_of(tmp_path, text.format(17, "Relu")), full_check=True)


# --- Annotations ----------------------------------------------------------------------------------


def test_functions_have_names_of_their_own(tmp_path: pathlib.Path) -> None:
    text = (
        "from sardonyx import FLOAT, opset18 as op, script\n"
        "@script(default_opset=op)\ndef g(x, n):\n    return x * n\n"
        "@script(default_opset=op)\ndef f(x: FLOAT['N']):\n    return g(x, 2) + g(x, 3)\n"
    )
    model = model_of(tmp_path, text, ir_version=10)
    assert len({function.name for function in model.functions}) == 2
    assert not any(function.overload for function in model.functions)
    session = onnxruntime.InferenceSession(model.SerializeToString())
    np.testing.assert_array_equal(session.run(None, {"x": F32})[0], F32 * 5)


ANNOTATIONS = {
    "branch that cannot run": (
        (
            "@script(default_opset=op)\ndef f(x: FLOAT[3]):\n"
            "    if op.Size(op.Shape(x)) == 0:\n"
            "        return op.Concat(x, op.Reshape(x, [3, 1]), axis=0)\n"
            "    return x * 2.0\n"
        ),
        F32 * 2,
    ),
    "a list as a sequence": (
        (
            "@script(default_opset=op)\ndef g(x: FLOAT['N']) -> Sequence[FLOAT[...]]:\n"
            "    return [x, x * 2.0]\n"
            "@script(default_opset=op)\ndef f(x: FLOAT['N']):\n    return g(x)[1]\n"
        ),
        F32 * 2,
    ),
    "a list of ints or tensors": (
        (
            "@script(default_opset=op)\ndef g(x, dims: Sequence[int | INT64]):\n"
            "    return op.Expand(x, dims)\n"
            "@script(default_opset=op)\ndef f(x: FLOAT[3]):\n    return g(x, [2, 3])\n"
        ),
        np.broadcast_to(F32, (2, 3)),
    ),
    "annotations of a plain function": (
        (
            "def g(x: 'whatever[1]', n: FLOAT['M']) -> Sequence[int | INT64]:\n    return x * n\n"
            "@script(default_opset=op)\ndef f(x: FLOAT['N']):\n    return g(x, 2.0)\n"
        ),
        F32 * 2,
    ),
    "a hint": (
        (
            "@script(default_opset=op)\ndef f(x: FLOAT['N']):\n"
            "    y = x * 2.0\n    y.dtype = FLOAT.dtype\n    return y\n"
        ),
        F32 * 2,
    ),
    "a hint that is wrong": (
        (
            "@script(default_opset=op)\ndef f(x: FLOAT['N']):\n"
            "    y = x * 2.0\n    y.dtype = DOUBLE.dtype\n    return y\n"
        ),
        "annotation-mismatch",
    ),
    "len of a list": (
        (
            "@script(default_opset=op)\ndef g(x, dims: INT64['K']):\n"
            "    for i in range(len(dims)):\n        x = x * 2.0\n"
            "    return x\n"
            "@script(default_opset=op)\ndef f(x: FLOAT['N']):\n    return g(x, [2, 3])\n"
        ),
        F32 * 4,
    ),
}


@pytest.mark.parametrize("name", ANNOTATIONS)
def test_annotations(name: str, tmp_path: pathlib.Path) -> None:
    source, expected = ANNOTATIONS[name]
    agree(source, expected, {"x": F32}, tmp_path)


def test_async_is_refused(tmp_path: pathlib.Path) -> None:
    with pytest.raises(TypeError, match="async def"):
        model_of(
            tmp_path,
            "from sardonyx import FLOAT, opset18 as op, script\n"
            "@script(default_opset=op)\nasync def f(x: FLOAT['N']):\n    return op.Relu(x)\n",
        )


def test_attribute_objects_of_onnx_ir(tmp_path: pathlib.Path) -> None:
    text = (
        "import onnx_ir\nfrom sardonyx import FLOAT, opset18 as op, script\n"
        "A = onnx_ir.AttrInt64s('value_ints', [1, 3])\n"
        "@script(default_opset=op)\ndef f(x: FLOAT[3]):\n"
        "    return op.Reshape(x, op.Constant(value_ints=A))\n"
    )
    path = tmp_path / "attributes.py"
    path.write_text(text)
    f = runpy.run_path(str(path))["f"]
    np.testing.assert_array_equal(f(F32), F32.reshape(1, 3))
    np.testing.assert_array_equal(f.compile()(F32), F32.reshape(1, 3))


def test_an_omitted_input_is_said(tmp_path: pathlib.Path) -> None:
    text = (
        "from typing import Optional\nfrom sardonyx import FLOAT, opset18 as op, script\n"
        "@script(default_opset=op)\n"
        "def f(x: FLOAT['N'], y: Optional[FLOAT['N']] = None):\n"
        "    return x * 2.0 if y is None else x * y\n"
    )
    with pytest.warns(sardonyx.ScriptWarning, match="omitted-input"):
        model_of(tmp_path, text)
    model = model_of(tmp_path, text, value_infos={"y": sardonyx.FLOAT["N"]})
    assert [one.name for one in model.graph.input] == ["x", "y"]


# --- Eager calls ----------------------------------------------------------------------------------

CALLS = {
    "as annotated": ((2, 3), (3,), np.float32, None),
    "another element type": ((2, 3), (3,), np.float64, "`X` of `f` is `FLOAT\\[M, N\\]`"),
    "another rank": ((2, 3, 1), (3,), np.float32, "FLOAT\\[2, 3, 1\\]` is given"),
    "another size": ((2, 3), (2,), np.float32, "`N` is 3"),
}


@pytest.mark.parametrize("name", CALLS)
def test_eager_calls_check_annotations(name: str, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "calls.py"
    path.write_text(
        "from sardonyx import FLOAT, opset18 as op, script\n"
        "@script(default_opset=op)\n"
        "def f(X: FLOAT['M', 'N'], Y: FLOAT['N']):\n    return X + Y\n"
    )
    f = runpy.run_path(str(path))["f"]
    left, right, dtype, refused = CALLS[name]
    x, y = np.ones(left, dtype), np.ones(right, np.float32)
    if refused is None:
        np.testing.assert_array_equal(f(x, Y=y), x + y)
        return
    with pytest.raises(TypeError, match=refused):
        f(x, y)
    with pytest.raises(sardonyx.EvalError):
        f.compile()(x, y)


# An annotation, the shape of an argument that it does not admit, and one that it admits.
ANNOTATED = {
    "dims of Annotated": ("Annotated[FLOAT, 'M', 'M']", (2, 3), (2, 2)),
    "a class of NumPy says nothing": ("np.float32", None, (2, 3)),
}


@pytest.mark.parametrize("name", ANNOTATED)
@pytest.mark.filterwarnings("ignore::sardonyx.ScriptWarning")
def test_eager_calls_read_annotations_as_the_compiler_does(
    name: str, tmp_path: pathlib.Path
) -> None:
    annotation, refused, taken = ANNOTATED[name]
    path = tmp_path / "annotated.py"
    path.write_text(
        "from typing import Annotated\nimport numpy as np\n"
        "from sardonyx import FLOAT, opset18 as op, script\n"
        f"@script(default_opset=op)\ndef f(x: {annotation}):\n    return x + x\n"
    )
    f = runpy.run_path(str(path))["f"]
    model = f.compile(input_types=[sardonyx.FLOAT[...]] if refused is None else None)
    x = np.ones(taken, np.float32)
    np.testing.assert_array_equal(f(x), 2 * x)
    np.testing.assert_array_equal(model(x), 2 * x)
    if refused is not None:
        with pytest.raises(TypeError):
            f(np.ones(refused, np.float32))
        with pytest.raises(sardonyx.EvalError):
            model(np.ones(refused, np.float32))


# --- What only Python runs ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "result", "expected"),
    [
        ("def g(a):\n    return a / 2 + 1\n", "g(W)", [4.5, 2.5]),
        ("def g(a, b):\n    return a * b - 2.5\n", "g(W, V)", [11.5, -8.5]),
        (
            "def g(a):\n    a = a.copy()\n    a[0] = -8\n    return a // 3 + a % 3\n",
            "g(W)",
            [-2, 1],
        ),
        ("def g(n):\n    return np.linspace(0, 3, n)[::-1]\n", "g(2)", [3.0, 0.0]),
        ("def g(a):\n    return op.Abs(a) * 2\n", "g(V)", [4, 4]),
    ],
)
def test_plain_functions_of_arrays(
    before: str, result: str, expected: list[float], tmp_path: pathlib.Path
) -> None:
    arrays = "W = np.array([7, 3], np.int64)\nV = np.array([2, -2], np.int32)\n"
    body = f"{arrays}{before}---\nreturn x + op.Cast({result}, to=DOUBLE.dtype)"
    check(body, np.array([1.0, 2.0]) + expected, tmp_path, x=np.array([1.0, 2.0]))


def test_scalars_are_reduced_over_their_only_axis(tmp_path: pathlib.Path) -> None:
    """As in PyTorch: axis 0 or -1 of a scalar."""
    x = np.array([-2.0, 3.0])
    body = "return op.ReduceSum(x[0], [0]), op.ReduceMax(x[0], axes=[-1]), op.ReduceL1(x[0], [0])"
    check(body, (x[0], x[0], -x[0]), tmp_path, x=x)
    check("return op.ReduceL1(x[0], [0], noop_with_empty_axes=1)", -x[0], tmp_path, x=x)
    model = onnx.parser.parse_model(
        '<ir_version: 9, opset_import: ["" : 20]> g (float x, int64[1] a) => (float y) '
        "{ y = ReduceSum (x, a) }"
    )
    given = (np.float32(3), np.array([-1]))
    assert float(sardonyx.Model(model.SerializeToString())(*given)) == 3.0


def test_a_list_of_numbers_is_one_tensor(tmp_path: pathlib.Path) -> None:
    check("return [x.shape[0], 3]", np.array([2, 3]), tmp_path, x=F64)
    check("return x, [len(x) + 1, 3]", (F64, np.array([3, 3])), tmp_path, x=F64)


def test_written_limits_of_range_are_scalars(tmp_path: pathlib.Path) -> None:
    text = HEADER.replace("onnxscript", "sardonyx") + (
        "@script()\ndef f(x: FLOAT[2]):\n    return op.Range([0], 4, 1)\n"
    )
    path = tmp_path / "program.py"
    path.write_text(text)
    function = runpy.run_path(str(path))["f"]
    with pytest.raises(sardonyx.EvalError, match="must have rank 0"):
        function(F32[:2])
    with pytest.raises(sardonyx.CompileError, match="rank-mismatch"):
        function.to_model_bytes()
    answer, _ = shared_compiler().compile(text, "f")
    assert answer[0] == "error" and answer[1].startswith("rank-mismatch"), answer
    check("return op.Range(0, 4, 1)", np.arange(4), tmp_path, x=F64)


def test_star_imports_bring_all_opsets() -> None:
    header = "from sardonyx import *\n"
    script_text = "@script()\ndef f(x: FLOAT[2]):\n    return x + 1\n"
    for text in (header + script_text, header + "op = opset17\n" + script_text):
        answer, _ = shared_compiler().compile(text, "f")
        assert answer[0] == "error" and answer[1].startswith("missing-opset"), answer
    answer, _ = shared_compiler().compile(
        header + "@script(default_opset=opset17)\ndef f(x: FLOAT[2]):\n    return x + 1\n", "f"
    )
    assert answer[0] == "ok", answer


def test_operators_and_types_by_other_words(tmp_path: pathlib.Path) -> None:
    """`to=INT64` is the element type, and `op["Abs"]` the operator, or None."""
    check("return op.Cast(x, to=INT64)", F64.astype(np.int64), tmp_path, x=F64)
    check("return op.RandomNormalLike(x, dtype=FLOAT) * 0.0", F64.astype("f4") * 0, tmp_path, x=F64)
    check(
        'y = op["Abs"](-x)\nreturn op["Cast"](y, to=INT64) if op["Nothing"] is None else y',
        F64.astype(np.int64),
        tmp_path,
        x=F64,
    )
