"""One answer, whatever is known of the dimensions.

The programs of docs/language.md run with a name for every dimension of their parameters, and those
of constructs.py with the numbers in place of the names. A program may be refused so, with the same
codes from the command line and from Python; what compiles gives what the script gives eagerly.
"""

from __future__ import annotations

import ast
import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest
import sardonyx

from constructs import CONSTRUCTS, Construct
from language import TYPE_NAMES, run_ort, same, shared_compiler, shared_evaluator
from language.test_constructs import called, inputs_of, is_function, program
from language.test_reference import (
    LINES,
    PROGRAMS,
    arguments_of,
    last_script,
    load,
    quiet,
    typed,
    with_header,
)
from language.test_reference import names as names_of_programs

pytestmark = pytest.mark.filterwarnings("ignore")

TYPES = set(TYPE_NAMES.values())


class Dimensions(ast.NodeTransformer):
    """Other dimensions in the annotations of the parameters of one script; results say none."""

    def __init__(self, script: str, dims_of: Callable[[str, list[str]], list[Any]]) -> None:
        self.script = script
        self.dims_of = dims_of

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        if node.name != self.script:
            return node
        for one in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]:
            if one.annotation is not None:
                one.annotation = self.changed(one.arg, one.annotation)
        if node.returns is not None:
            node.returns = None
        return node

    def changed(self, name: str, annotation: ast.expr) -> ast.expr:
        is_type = (
            isinstance(annotation, ast.Subscript)
            and isinstance(annotation.value, ast.Name)
            and annotation.value.id in TYPES
        )
        if not is_type or ast.unparse(annotation.slice) == "...":
            return annotation
        before = annotation.slice
        items = before.elts if isinstance(before, ast.Tuple) else [before]
        dims = self.dims_of(name, [ast.unparse(item) for item in items])
        text = f"{annotation.value.id}[{', '.join(map(repr, dims))}]"
        return ast.parse(text, mode="eval").body


def with_dims(source: str, script: str, dims_of: Callable[[str, list[str]], list[Any]]) -> str:
    return ast.unparse(Dimensions(script, dims_of).visit(ast.parse(source)))


def compiled(source: str, name: str, path: pathlib.Path) -> onnx.ModelProto | None:
    """The model; None where both surfaces refuse the program."""
    path.write_text(source)
    answer, data = shared_compiler().compile_file(path, name, "model")
    codes = [] if data else [finding.split(":")[0] for finding in answer[1:]]
    try:
        with quiet():
            found = getattr(load(path), name).to_model_bytes()
    except sardonyx.CompileError as error:
        errors = [one["code"] for one in error.diagnostics if one["severity"] == "error"]
        assert codes and set(codes) >= set(errors)
        return None
    assert found == data, codes
    return onnx.load_from_string(data)


def compare(model: onnx.ModelProto, inputs: dict[str, Any], expected: list[Any]) -> None:
    with quiet():
        same(shared_evaluator().run(model, inputs), expected, 1e-5)
        same(run_ort(model, inputs), expected, 1e-5)


CALLS = [
    (program, line, f"{name} {line[4:]}")
    for program, name in zip(PROGRAMS, names_of_programs(), strict=True)
    for block in program.results
    if block.kind == "run" and not block.more and not program.imported
    for line in LINES[block.begin : block.end]
    if line.startswith(">>> ")
]


@pytest.mark.parametrize(
    ("one", "line"), [call[:2] for call in CALLS], ids=[call[2] for call in CALLS]
)
def test_named(one: Any, line: str, tmp_path: pathlib.Path) -> None:
    source, _ = with_header(LINES[one.code.begin : one.code.end])
    name, values = arguments_of(line[4:])
    if name != last_script(source).name:
        return
    named = with_dims(source, name, lambda arg, dims: [f"{arg}_{i}" for i in range(len(dims))])
    model = compiled(named, name, tmp_path / "program.py")
    infos = {info.name: info for info in model.graph.input} if model is not None else {}
    if model is None or set(values) != set(infos):
        return
    inputs = {key: typed(infos[key], value) for key, value in values.items()}
    with quiet():
        result = getattr(load(tmp_path / "program.py"), name)(**inputs)
    compare(model, inputs, list(result) if isinstance(result, tuple) else [result])


STATIC = [
    one
    for one in CONSTRUCTS
    if one.runs and not one.refused and not one.source and not is_function(one)
]


@pytest.mark.parametrize(
    "one", STATIC, ids=[f"{one.group}: {one.name or one.body}" for one in STATIC]
)
def test_static(one: Construct, tmp_path: pathlib.Path) -> None:
    inputs = next(inputs_of(one), None)
    if inputs is None or "ort" in one.without or "ours" in one.without:
        return

    def sizes(name: str, dims: list[str]) -> list[Any]:
        given = np.shape(inputs[name]) if name in inputs else ()
        return list(given) if len(given) == len(dims) else [ast.literal_eval(dim) for dim in dims]

    source = with_dims(program(one).replace("onnxscript", "sardonyx"), "f", sizes)
    model = compiled(source, "f", tmp_path / "program.py")
    if model is None or set(inputs) != {info.name for info in model.graph.input}:
        return
    script = load(tmp_path / "program.py").f
    results = called(one, script, inputs)
    compare(model, inputs, [v if isinstance(v, list) else np.asarray(v) for v in results])
