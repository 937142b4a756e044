"""The table of constructs: each means the same in Python and in every runtime, or is refused.

`python tests/python/language/test_constructs.py` counts: how many compile, how many are refused
with which codes. Where onnxscript is installed, what it compiles too gives the same results.
"""

from __future__ import annotations

import ast
import collections
import itertools
import logging
import pathlib
import runpy
import tempfile
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx
import onnx.checker
import pytest

from constructs import CONSTRUCTS, FORMS, Construct
from language import (
    calling_model,
    check_everywhere,
    has_shape,
    run_ort,
    same,
    shared_compiler,
    shared_evaluator,
    untyped_values,
)

pytestmark = pytest.mark.filterwarnings("ignore")

HEADER = """\
import math
import numpy as np
import onnx
from onnx import TensorProto
from onnx.helper import make_tensor
from typing import List, Optional, Sequence, Tuple, TypeVar, Union
from onnxscript import graph, script, opset18 as op, values
from onnxscript import BOOL, FLOAT, INT32, INT64, STRING
G_INT = 3
G_FLOAT = 2.5
G_TRUE = True
G_FALSE = False
G_NONE = None
G_STR = "abc"
G_LIST = [1, 2]
G_NP = np.array([1.0, 2.0, 3.0], dtype=np.float32)
TP = make_tensor("t", TensorProto.FLOAT, [3], [1.0, 2.0, 3.0])
GP = [1, 0]
custom = values.Opset("my.domain", 1)

@script(default_opset=op)
def sub(A, B, alpha: float = 1.0):
    return A - alpha * B

"""

FLOATS = np.array([1.0, 2.0, 3.0], np.float32)
RESULT_NAMES = {"np": np, "A": FLOATS, "G_INT": 3, "G_FLOAT": np.float32(2.5)}
# What a parameter gets, by its annotation: a program runs with every combination.
INPUTS: dict[str, list[Any]] = {
    "": [FLOATS],
    "FLOAT['N']": [FLOATS, np.array([0.5, -1.0, 4.0], np.float32)],
    "FLOAT[3]": [FLOATS],
    "FLOAT[1]": [FLOATS[:1]],
    "FLOAT": [FLOATS[1]],
    "FLOAT[...]": [FLOATS],
    "FLOAT[None]": [FLOATS],
    "FLOAT['N', 'M']": [np.arange(24, dtype=np.float32).reshape(4, 6)],
    "FLOAT['N', 'M', 'K']": [np.arange(24, dtype=np.float32).reshape(2, 3, 4)],
    "INT64['N']": [np.array([1, 2, 3], np.int64)],
    "INT64": [np.int64(2), np.int64(1)],
    "BOOL": [np.True_, np.False_],
    "Sequence[FLOAT[...]]": [[FLOATS, FLOATS * 2]],
    "Union[FLOAT['N'], INT32['N']]": [FLOATS],
    "T": [FLOATS],
    "dict": [FLOATS],
    "np.ndarray": [FLOATS],
}
# The same of programs whose result is written down, by their names.
VALUES: dict[str, Any] = {
    "x": np.array([1.0, -2.0, 3.5], np.float32),
    "m": np.arange(12, dtype=np.float32).reshape(4, 3) - 5,
    "k": np.array([4, -7, 2], np.int64),
    "c": np.True_,
    "d": np.False_,
    "n": np.int64(2),
    "i": np.int64(1),
}
# What an attribute without a default gets.
ATTRIBUTES: dict[str, Any] = {
    "int": 2,
    "float": 1.5,
    "str": "abc",
    "bool": True,
    "List[int]": [1, 2],
    "list[int]": [1, 2],
    "Tuple[int]": [3],
    "tuple[int, ...]": [1, 2],
    "Sequence[int]": [1, 2],
    "Sequence[float]": [0.5, 2.0],
    "List[str]": ["a", "b"],
    "List[bool]": [True, False],
    "Optional[int]": 2,
    "Optional[float]": 1.5,
}


def program(one: Construct) -> str:
    if one.source:
        return one.source if "__future__" in one.source else HEADER + one.source
    body = "".join(f"    {line}\n" for line in one.body.split("\n"))
    return f"{HEADER}{one.before}\n@script(default_opset=op)\ndef f{one.signature}:\n{body}"


def parameters(one: Construct) -> dict[str, tuple[str, bool]]:
    """Its parameters, with their annotations, and whether a call may leave them out."""
    functions = [
        node for node in ast.walk(ast.parse(program(one))) if isinstance(node, ast.FunctionDef)
    ]
    given = next((node for node in functions if node.name == "f"), functions[-1]).args
    arguments = [*given.posonlyargs, *given.args]
    missing = len(arguments) - len(given.defaults)
    defaults = [i >= missing for i in range(len(arguments))]
    defaults += [default is not None for default in given.kw_defaults]
    return {
        argument.arg: (
            ast.unparse(argument.annotation).strip('"') if argument.annotation else "",
            has_default,
        )
        for argument, has_default in zip([*arguments, *given.kwonlyargs], defaults, strict=True)
    }


def is_function(one: Construct) -> bool:
    """A model needs the types of all inputs and the values of all attributes."""
    types = ("FLOAT", "INT", "BOOL", "Sequence[FLOAT", "Optional[FLOAT")
    return any(
        not has_default and not annotation.startswith(types)
        for annotation, has_default in parameters(one).values()
    )


def attributes_of(one: Construct) -> dict[str, Any]:
    required = {
        name: ATTRIBUTES[annotation]
        for name, (annotation, has_default) in parameters(one).items()
        if annotation in ATTRIBUTES and not has_default
    }
    return required | one.attributes


def inputs_of(one: Construct) -> Iterator[dict[str, Any]]:
    """The tensors that the program is called with, in turn."""
    choices: dict[str, list[Any]] = {}
    for name, (annotation, has_default) in parameters(one).items():
        if name in one.inputs:
            choices[name] = [one.inputs[name]]
        elif one.result and name in VALUES and annotation not in ATTRIBUTES:
            choices[name] = [VALUES[name]]
        elif not has_default and annotation not in ATTRIBUTES:
            choices[name] = INPUTS[annotation]
    for values in itertools.product(*choices.values()):
        arrays = [one if isinstance(one, list) else np.asarray(one) for one in values]
        yield dict(zip(choices, arrays, strict=True))


def script_of(one: Construct, package: str, folder: pathlib.Path) -> Any:
    path = folder / f"{package}_program.py"
    path.write_text(program(one).replace("onnxscript", package))
    return runpy.run_path(str(path))["f"]


def compile_natively(one: Construct) -> tuple[list[str], bytes]:
    """The codes of its findings, or the model or function."""
    kind = "function" if is_function(one) else "model"
    text = program(one)
    if one.refused:  # sources that import onnxscript are told less (compatibility/test_callers.py)
        text = text.replace("onnxscript", "sardonyx")
    answer, data = shared_compiler().compile(text, "f", kind)
    return [] if data else [finding.split(":")[0] for finding in answer[1:]], data


def compile_in_python(one: Construct, folder: pathlib.Path) -> tuple[list[str], bytes]:
    """The same of a program that makes its script in its own way; an exception is its code."""
    import sardonyx

    try:
        script = script_of(one, "sardonyx", folder)
        return [], script.to_function_bytes() if is_function(one) else script.to_model_bytes()
    except sardonyx.CompileError as error:
        return [found["code"] for found in error.diagnostics if found["severity"] == "error"], b""
    except Exception as error:
        return [type(error).__name__], b""


def compiled(one: Construct, folder: pathlib.Path) -> tuple[list[str], bytes]:
    return compile_in_python(one, folder) if one.source else compile_natively(one)


def model_of(
    one: Construct, proto: onnx.ModelProto | onnx.FunctionProto, inputs: dict[str, Any], count: int
) -> onnx.ModelProto:
    """The model that can be run: a function is called by one of `count` results."""
    if isinstance(proto, onnx.ModelProto):
        return proto
    attributes = attributes_of(one)
    for name, value in attributes.items():
        if value == [True, False]:  # onnx.helper takes no list of bools
            attributes[name] = [1, 0]
    return calling_model(proto, inputs, attributes, count)


def called(one: Construct, script: Any, inputs: dict[str, Any]) -> list[Any]:
    """What the program gives as Python."""
    is_by_position = bool(one.source) or "/" in one.signature
    by_name = attributes_of(one) | ({} if is_by_position else inputs)
    by_position = inputs.values() if is_by_position else []
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        result = script(*by_position, **by_name)
    return list(result) if isinstance(result, tuple) else [result]


PROGRAMS = [*CONSTRUCTS, *FORMS]
IDS = [f"{one.group}: {one.name or one.body}" for one in PROGRAMS]


@pytest.mark.parametrize("one", PROGRAMS, ids=IDS)
def test_construct(one: Construct, tmp_path: pathlib.Path) -> None:
    codes, data = compiled(one, tmp_path)
    assert codes == one.refused
    if codes:
        return
    # The command line and Python read programs in their own ways, and compile them to equal bytes.
    assert compile_in_python(one, tmp_path) == ([], data)
    if is_function(one):
        proto: onnx.ModelProto | onnx.FunctionProto = onnx.FunctionProto.FromString(data)
    else:
        proto = onnx.ModelProto.FromString(data)
        if all(has_shape(info) for info in (*proto.graph.input, *proto.graph.output)):
            onnx.checker.check_model(proto, full_check=one.runs)
        assert not one.runs or not untyped_values(proto)
    if not one.runs:
        return
    script = script_of(one, "sardonyx", tmp_path)
    for inputs in inputs_of(one):
        expected = called(one, script, inputs)
        if one.result:
            with np.errstate(all="ignore"):
                given = {name: value[()] for name, value in inputs.items()}
                result = eval(one.result, RESULT_NAMES, given)
            same(expected, list(result) if isinstance(result, tuple) else [result], 1e-5)
        model = model_of(one, proto, inputs, len(expected))
        arrays = [np.asarray(value) for value in expected]
        check_everywhere(shared_evaluator(), model, inputs, arrays, without=one.without)


# --- What today's ONNX Script compiles -----------------------------------------------------------


def peer_proto(one: Construct, folder: pathlib.Path) -> onnx.ModelProto | onnx.FunctionProto | None:
    """What onnxscript makes of the program, if it accepts it."""
    logging.getLogger("onnxscript").setLevel(logging.CRITICAL)
    try:
        script = script_of(one, "onnxscript", folder)
        return script.to_function_proto() if is_function(one) else script.to_model_proto()
    except Exception:
        return None


def nodes_of(proto: onnx.ModelProto | onnx.FunctionProto) -> list[tuple[str, dict[str, Any]]]:
    nodes = proto.graph.node if isinstance(proto, onnx.ModelProto) else proto.node
    return [
        (
            node.op_type,
            {
                one.name: one.ref_attr_name or onnx.helper.get_attribute_value(one)
                for one in node.attribute
            },
        )
        for node in nodes
    ]


def check_like_the_peer(
    one: Construct, peer: onnx.ModelProto | onnx.FunctionProto, folder: pathlib.Path
) -> None:
    codes, data = compiled(one, folder)
    assert not codes, codes
    kind = onnx.FunctionProto if is_function(one) else onnx.ModelProto
    own = kind.FromString(data)
    if not one.runs:
        assert nodes_of(own) == nodes_of(peer)
        return
    script = script_of(one, "sardonyx", folder)
    for inputs in inputs_of(one):
        count = len(called(one, script, inputs))
        expected = run_ort(model_of(one, own, inputs, count), inputs)
        same(run_ort(model_of(one, peer, inputs, count), inputs), expected, 1e-5)


@pytest.mark.parametrize("one", PROGRAMS, ids=IDS)
def test_old_sources_mean_the_same(one: Construct, tmp_path: pathlib.Path) -> None:
    pytest.importorskip("onnxscript", reason="onnxscript, the peer, is not installed")
    peer = peer_proto(one, tmp_path)
    if peer is None:
        pytest.skip("onnxscript refuses it")
    if not one.peer:
        check_like_the_peer(one, peer, tmp_path)
        return
    # Where the peer is wrong, it still is.
    with pytest.raises(Exception):  # noqa: B017
        check_like_the_peer(one, peer, tmp_path)


# --- The counts ----------------------------------------------------------------------------------


def main() -> None:
    codes: collections.Counter[str] = collections.Counter()
    refused = 0
    with tempfile.TemporaryDirectory() as folder:
        for one in CONSTRUCTS:
            found, _ = compiled(one, pathlib.Path(folder))
            refused += bool(found)
            codes.update(set(found))
    print(f"{len(CONSTRUCTS)} programs: {len(CONSTRUCTS) - refused} compile, {refused} are refused")
    for code, count in codes.most_common():
        print(f"{count:4} {code}")


if __name__ == "__main__":
    main()
