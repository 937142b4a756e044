"""Programs of the language as tests, for the files of this folder and others:

    CASES = Cases()
    CASES.case("swap", source_of_f, lambda x, y: numpy_result, x, y)
    CASES.expression("x + y", x=array, y=array)
    test_model, test_function, test_eager = CASES.tests()

Each program is compiled as a model and as a function by the tool (which stays open for all of
them), checked by onnx, and run in ONNX Runtime, in onnx.reference and in our evaluator; and it is
called as Python. What it should give is written in NumPy beside it.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
import pathlib
import runpy
import tempfile
import types
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import onnx.checker
import onnx.helper
import onnx.numpy_helper
import onnx.reference
import pytest

from eval.test_node_cases import Evaluator
from peers import ort_session
from places import BUILD
from tool import Tool

TOOL = BUILD / "sdx_elaborate_tool"

HEADER = """\
import math
import numpy as np
from typing import List, Optional, Sequence, Tuple
from onnxscript import graph, script, opset18 as op, values
from onnxscript import BFLOAT16, BOOL, DOUBLE, FLOAT, FLOAT16, INT8, INT16, INT32, INT64
from onnxscript import STRING, UINT8, UINT16, UINT32, UINT64
"""

TYPE_NAMES = {
    "bool": "BOOL",
    "float16": "FLOAT16",
    "float32": "FLOAT",
    "float64": "DOUBLE",
    "bfloat16": "BFLOAT16",
    **{f"{u}int{bits}": f"{u.upper()}INT{bits}" for u in ("", "u") for bits in (8, 16, 32, 64)},
}


def script_type(array: np.ndarray) -> str:
    name = TYPE_NAMES.get(array.dtype.name, "STRING")
    return f"{name}[{', '.join(map(str, array.shape))}]" if array.ndim else name


class Compiler:
    """The tool that compiles; one process for many programs."""

    def __init__(self) -> None:
        self.tool = Tool(TOOL)
        self.folder = tempfile.TemporaryDirectory()
        self.counter = itertools.count()

    def path(self, suffix: str) -> pathlib.Path:
        return pathlib.Path(self.folder.name) / f"{next(self.counter)}{suffix}"

    def compile_file(self, source: pathlib.Path, name: str, kind: str) -> tuple[list[str], bytes]:
        """The answer's fields, and the bytes when it is "ok"."""
        target = self.path(".onnx")
        answer = self.tool.ask(source, name, kind, target)
        data = target.read_bytes() if answer[0] == "ok" else b""
        # Each file that is written looks for left-over ones in its folder, so keep that small.
        target.unlink(missing_ok=True)
        return answer, data

    def compile(self, text: str, name: str = "", kind: str = "model") -> tuple[list[str], bytes]:
        source = self.path(".py")
        source.write_text(text)
        try:
            return self.compile_file(source, name, kind)
        finally:
            source.unlink()


@functools.cache
def shared_compiler() -> Compiler:
    return Compiler()


@functools.cache
def shared_evaluator() -> Evaluator:
    return Evaluator()


# --- Checking and running -------------------------------------------------------------------------


def subgraphs(graph: onnx.GraphProto) -> list[onnx.GraphProto]:
    found = [graph]
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                found += subgraphs(attribute.g)
    return found


def untyped_values(model: onnx.ModelProto) -> list[str]:
    """Values of the main graph and its subgraphs without an element type."""
    missing = []
    for graph in subgraphs(model.graph):
        typed = {info.name for info in (*graph.value_info, *graph.output) if info.type.ByteSize()}
        missing += [
            name for node in graph.node for name in node.output if name and name not in typed
        ]
    return missing


def has_shape(info: onnx.ValueInfoProto) -> bool:
    """The checker refuses a model whose inputs or outputs are of any rank."""
    return not info.type.HasField("tensor_type") or info.type.tensor_type.HasField("shape")


def same(got: Any, expected: Any, rtol: float) -> None:
    if isinstance(expected, list):
        assert len(got) == len(expected), (got, expected)
        for one, other in zip(got, expected, strict=True):
            same(one, other, rtol)
        return
    expected = np.asarray(expected)
    got = np.asarray(got)
    if expected.dtype.kind in "OUS":
        np.testing.assert_array_equal(got.astype(object), expected.astype(object))
        return
    assert got.dtype == expected.dtype, f"{got.dtype} is not {expected.dtype}: {got}"
    assert got.shape == expected.shape, f"{got.shape} is not {expected.shape}: {got}"
    if expected.dtype.kind in "biu":
        np.testing.assert_array_equal(got, expected)
    else:
        np.testing.assert_allclose(
            got.astype(np.float64), expected.astype(np.float64), rtol=rtol, atol=rtol
        )


# The peers of the last model are kept, since most are run on several inputs, and to make them takes
# longer than to run them.
last_session = functools.lru_cache(maxsize=1)(ort_session)


@functools.lru_cache(maxsize=1)
def reference(data: bytes) -> onnx.reference.ReferenceEvaluator:
    return onnx.reference.ReferenceEvaluator(onnx.load_from_string(data))


def run_ort(model: onnx.ModelProto, inputs: dict[str, Any]) -> list[Any]:
    result: list[Any] = last_session(model.SerializeToString()).run(None, inputs)
    return result


def run_reference(model: onnx.ModelProto, inputs: dict[str, Any]) -> list[Any]:
    return reference(model.SerializeToString()).run(None, inputs)


def check_everywhere(
    evaluator: Evaluator,
    model: onnx.ModelProto,
    inputs: dict[str, Any],
    expected: list[Any],
    rtol: float = 1e-5,
    without: tuple[str, ...] = (),
) -> None:
    runtimes: dict[str, Callable[..., list[Any]]] = {
        "ort": run_ort,
        "reference": run_reference,
        "ours": evaluator.run,
    }
    for name, run in runtimes.items():
        if name in without:
            continue
        try:
            same(run(model, inputs), expected, rtol)
        except Exception as error:
            raise AssertionError(f"{name}: {error}") from error


def calling_model(
    function: onnx.FunctionProto,
    inputs: dict[str, np.ndarray],
    attributes: dict[str, Any],
    output_count: int,
) -> onnx.ModelProto:
    """A model of one node that calls the function."""
    names = list(inputs)
    outputs = [f"out_{i}" for i in range(output_count)]
    node = onnx.helper.make_node(
        function.name, names, outputs, domain=function.domain, **attributes
    )
    infos = [
        onnx.helper.make_tensor_value_info(
            name, onnx.helper.np_dtype_to_tensor_dtype(value.dtype), value.shape
        )
        for name, value in inputs.items()
    ]
    graph = onnx.helper.make_graph(
        [node], "g", infos, [onnx.helper.make_empty_tensor_value_info(name) for name in outputs]
    )
    imports = {entry.domain: entry.version for entry in function.opset_import}
    imports.setdefault("", 18)
    imports[function.domain] = 1
    return onnx.helper.make_model(
        graph,
        functions=[function],
        ir_version=10,
        opset_imports=[onnx.helper.make_opsetid(d, v) for d, v in imports.items()],
    )


# --- The programs ---------------------------------------------------------------------------------


@dataclasses.dataclass
class Case:
    """A program whose last script is the one to run, and what it should give."""

    name: str
    source: str
    inputs: dict[str, Any]
    expected: Callable[..., Any]
    attributes: dict[str, Any] | None = None  # of the call, in the function form
    as_function: bool = True
    as_python: bool = True
    rtol: float = 1e-5
    without: tuple[str, ...] = ()  # runtimes that lack a kernel


class Cases:
    """The programs of a test file, in the order of their definition."""

    def __init__(self) -> None:
        self.all: list[Case] = []

    def case(
        self, name: str, source: str, expected: Callable[..., Any], *values: Any, **more: Any
    ) -> None:
        """A program with the script `f`; `values` are its arguments, `more` fields of Case."""
        signature = source.split("def f(")[1] if "def f(" in source else source.rsplit("def ", 1)[1]
        names = [
            part.split(":")[0].strip() for part in signature.split(")")[0].split(",") if ":" in part
        ]
        inputs = dict(zip(names, (np.asarray(value) for value in values), strict=False))
        self.all.append(Case(name, source, inputs, expected, **more))

    def expression(
        self,
        text: str,
        *,
        expect: str = "",
        as_function: bool = True,
        as_python: bool = True,
        **values: Any,
    ) -> None:
        """A script of one expression that means the same in NumPy, or what `expect` says there."""
        arrays = {name: np.asarray(value) for name, value in values.items()}
        parameters = ", ".join(f"{name}: {script_type(array)}" for name, array in arrays.items())
        source = f"@script(default_opset=op)\ndef f({parameters}):\n    return {text}\n"

        def expected(**given: Any) -> Any:
            with np.errstate(all="ignore"):
                return eval(expect or text, {"np": np, "math": math}, given)

        kinds = "_".join(str(array.dtype) for array in arrays.values())
        name = f"{text} [{kinds}]"
        self.all.append(
            Case(name, source, arrays, expected, as_function=as_function, as_python=as_python)
        )

    def tests(self) -> tuple[Callable[..., None], ...]:
        """The tests of these programs: as a model, as a function, and as Python."""
        # Functions of their own: a mark stays on its function, which other files mark as well.
        return tuple(
            pytest.mark.parametrize("one", self.all, ids=[one.name for one in self.all])(
                types.FunctionType(check.__code__, check.__globals__, check.__name__)
            )
            for check in (_test_model, _test_function, _test_eager)
        )


# --- Programs as plain Python ---------------------------------------------------------------------


class Typename:
    """FLOAT, FLOAT["N"], FLOAT.dtype where the program runs as plain Python."""

    def __init__(self, dtype: Any = None) -> None:
        self.dtype = dtype

    def __getitem__(self, _: Any) -> Typename:
        return self


def reduce_sum(x: Any, axes: Any = None, keepdims: int = 1) -> Any:
    return np.sum(x, axis=None if axes is None else tuple(axes), keepdims=bool(keepdims))


NUMPY = types.SimpleNamespace(
    ReduceSum=reduce_sum,
    Concat=lambda *xs, axis: np.concatenate(xs, axis=axis),
    ConcatFromSequence=lambda xs, axis, new_axis=0: (
        np.stack(xs, axis) if new_axis else np.concatenate(xs, axis)
    ),
    SequenceConstruct=lambda *xs: list(xs),
    SequenceLength=lambda xs: np.int64(len(xs)),
    SplitToSequence=lambda x, split, axis=0: np.split(
        x, range(int(split), x.shape[axis], int(split)), axis
    ),
    Cast=lambda x, to: np.asarray(x).astype(to),
    Identity=lambda x: x,
    Abs=np.abs,
    Sqrt=np.sqrt,
    Neg=np.negative,
)


def plain_python(source: str) -> Any:
    """The program's `f` on NumPy arrays, without Sardonyx."""
    dtypes = {"FLOAT": np.float32, "INT64": np.int64, "BOOL": np.bool_, "DOUBLE": np.float64}
    scope: dict[str, Any] = {name: Typename(dtype) for name, dtype in dtypes.items()}
    scope |= {"op": NUMPY, "np": np, "script": lambda **_: lambda function: function}
    exec(source, scope)
    return scope["f"]


def expected_list(one: Case) -> list[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = one.expected(**one.inputs)
    return list(result) if isinstance(result, tuple) else [result]


def calls_other_functions(function: onnx.FunctionProto) -> bool:
    nodes = list(function.node)
    while nodes:
        node = nodes.pop()
        if node.domain:
            return True
        for attribute in node.attribute:
            nodes += attribute.g.node
    return False


def _test_model(one: Case) -> None:
    answer, data = shared_compiler().compile(HEADER + one.source, "f")
    assert answer[0] == "ok", answer
    model = onnx.load_from_string(data)
    if all(has_shape(info) for info in (*model.graph.input, *model.graph.output)):
        onnx.checker.check_model(model, full_check=True)
    assert not untyped_values(model)
    expected = expected_list(one)
    check_everywhere(shared_evaluator(), model, one.inputs, expected, one.rtol, one.without)


def _test_function(one: Case) -> None:
    if not one.as_function:
        return
    answer, data = shared_compiler().compile(HEADER + one.source, "f", "function")
    assert answer[0] == "ok", answer
    function = onnx.FunctionProto.FromString(data)
    if calls_other_functions(function):
        return
    expected = expected_list(one)
    model = calling_model(function, one.inputs, one.attributes or {}, len(expected))
    check_everywhere(shared_evaluator(), model, one.inputs, expected, one.rtol, one.without)


def _test_eager(one: Case, tmp_path: pathlib.Path) -> None:
    if not one.as_python:
        return
    path = tmp_path / "program.py"
    path.write_text((HEADER + one.source).replace("from onnxscript", "from sardonyx"))
    scope = runpy.run_path(str(path))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        result = scope["f"](**one.inputs, **(one.attributes or {}))
    got = list(result) if isinstance(result, tuple) else [result]
    same(got, expected_list(one), one.rtol)


def wrong_programs(table: list[tuple[str, list[str]]]) -> Callable[..., None]:
    """The test of bodies of `f(x: FLOAT[3, 4], c: BOOL, n: INT64)` that are refused: each with its
    codes and their lines, as in "unknown-name:1" for the first line of the body."""

    def check(body: str, expected: list[str]) -> None:
        # Sources that import onnxscript are told less (compatibility/test_callers.py).
        head = HEADER.replace("onnxscript", "sardonyx")
        head += "@script(default_opset=op)\ndef f(x: FLOAT[3, 4], c: BOOL, n: INT64):\n"
        text = head + "".join(f"    {line}\n" for line in body.split("\n"))
        first = head.count("\n")
        answer, _ = shared_compiler().compile(text, "f")
        assert answer[0] == "error"
        found = [finding.rsplit(":", 1) for finding in answer[1:]]
        assert [f"{code}:{int(line) - first}" for code, line in found] == expected

    bodies = [body for body, _ in table]
    return pytest.mark.parametrize(("body", "expected"), table, ids=bodies)(check)
