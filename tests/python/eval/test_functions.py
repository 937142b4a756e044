"""Operators that the standard defines by a function: the kernel against the body.

The node cases of each such operator, and of the old versions that say the same, are run twice: as
they are, and with the node calling a model-local function that has the body of the standard.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx
import onnx.defs
import onnx.helper
import pytest

from eval.test_node_cases import Evaluator, check_equal, node_cases, to_array
from eval.test_schemas import (
    CASES,
    imports_of,
    lowered_cases,
    model_of,
    schema_versions,
    schemas_of,
)

pytestmark = pytest.mark.filterwarnings("ignore")

LOCAL = "standard.bodies"

# Schemas whose body no case reaches, and why.
WITHOUT_CASE: dict[tuple[str, int], str] = {}

# Their bodies draw numbers: type and shape are compared.
RANDOM = {"Bernoulli"}


def function_schemas() -> list[onnx.defs.OpSchema]:
    return [
        schema
        for schema in onnx.defs.get_all_schemas_with_history()
        if schema.has_function or schema.has_context_dependent_function
    ]


Template = tuple[str, onnx.ModelProto, dict[str, Any], float, float]


@functools.cache
def templates() -> dict[tuple[str, str, int], list[Template]]:
    """Models of one node, by the schema in force."""
    found: dict[tuple[str, str, int], list[Template]] = {}

    def add(name: str, model: onnx.ModelProto, inputs: dict[str, Any], *tolerance: float) -> None:
        if len(model.graph.node) == 1:
            key = next(schemas_of(model.graph.node, imports_of(model)), None)
            if key is not None:
                found.setdefault(key, []).append((name, model, inputs, *tolerance))

    for case in node_cases():
        names = [info.name for info in case.model.graph.input]
        named = dict(zip(names, case.data_sets[0][0], strict=False))
        add(case.name, case.model, named, case.rtol, case.atol)
    for one in CASES:
        for version in one.versions:
            add(f"{one.op}-{version}", *model_of(one, version), 1e-5, 1e-6)
    for schema in function_schemas():
        op, version = schema.name, schema.since_version
        if (schema.domain, op, version) not in found:
            for case in lowered_cases(op, version):
                names = [info.name for info in case.model.graph.input]
                named = dict(zip(names, case.data_sets[0][0], strict=False))
                add(f"{case.name}-{version}", case.model, named, case.rtol, case.atol)
    return found


def input_types(model: onnx.ModelProto) -> Iterator[bytes]:
    types = {info.name: info.type.SerializeToString() for info in model.graph.input}
    for name in model.graph.node[0].input:
        yield types.get(name, b"")


def bodies_of(schema: onnx.defs.OpSchema, model: onnx.ModelProto) -> Iterator[onnx.FunctionProto]:
    """The bodies for the model's node, one for each opset that has its own."""
    for version in schema.function_opset_versions:
        yield onnx.FunctionProto.FromString(schema.get_function_with_opset_version(version))
    node = model.graph.node[0].SerializeToString()
    for version in schema.context_dependent_function_opset_versions:
        data = schema.get_context_dependent_function_with_opset_version(
            version, node, list(input_types(model))
        )
        if data:
            yield onnx.FunctionProto.FromString(data)


def with_body(
    schema: onnx.defs.OpSchema, body: onnx.FunctionProto, model: onnx.ModelProto
) -> onnx.ModelProto:
    """The model, with its node calling the body."""
    result = onnx.ModelProto()
    result.CopyFrom(model)
    result.ir_version = 10
    node = result.graph.node[0]
    node.domain = body.domain = LOCAL
    body.name = node.op_type
    given = {a.name for a in node.attribute}
    for name, attribute in schema.attributes.items():
        # A function's parameters have no defaults of their own here.
        if name not in given and attribute.default_value.name:
            node.attribute.append(attribute.default_value)
    for attribute in node.attribute:
        if attribute.name not in body.attribute:
            body.attribute.append(attribute.name)
    # A body that depends on the node makes the outputs that the node has, and mentions attributes
    # that it has not.
    made = {name for inner in body.node for name in inner.output}
    outputs = [pair for pair in zip(body.output, node.output, strict=False) if pair[0] in made]
    del body.output[:], node.output[:]
    body.output.extend(name for name, _ in outputs)
    node.output.extend(name for _, name in outputs)
    for inner in body.node:
        for i in reversed(range(len(inner.attribute))):
            if inner.attribute[i].type == onnx.AttributeProto.UNDEFINED:
                del inner.attribute[i]
    if "" not in {entry.domain for entry in body.opset_import}:
        body.opset_import.append(onnx.helper.make_opsetid("", imports_of(model)[""]))
    result.functions.append(body)
    result.opset_import.append(onnx.helper.make_opsetid(LOCAL, 1))
    return result


SCHEMAS = {f"{s.name}-{s.since_version}": s for s in function_schemas()}


@pytest.mark.parametrize("name", sorted(SCHEMAS))
def test_kernel_and_body_agree(evaluator: Evaluator, name: str) -> None:
    schema = SCHEMAS[name]
    compared = 0
    key = (schema.domain, schema.name, schema.since_version)
    for title, model, inputs, rtol, atol in templates().get(key, []):
        kernel = evaluator.run(model, inputs)
        narrow = 0.0 if is_wide(inputs) else 2e-2
        tolerance = max(rtol, 1e-5, narrow), max(atol, 1e-6, narrow)
        for body in bodies_of(schema, model):
            by_body = evaluator.run(with_body(schema, body, model), inputs)
            compared += 1
            for i, (ours, theirs) in enumerate(zip(kernel, by_body, strict=True)):
                try:
                    check_equal(theirs, ours, *tolerance, values=schema.name not in RANDOM)
                except AssertionError as error:
                    raise AssertionError(f"{title}, output {i}: {error}") from None
    key_of_exception = (schema.name, schema.since_version)
    assert (compared == 0) == (key_of_exception in WITHOUT_CASE), f"{compared} cases"


def is_wide(inputs: dict[str, Any]) -> bool:
    """Whether no input is a float below 32 bits, which bodies round at every step."""
    for value in inputs.values():
        for item in value if isinstance(value, list) else [value]:
            dtype = to_array(item).dtype
            if dtype == np.float16 or dtype.name == "bfloat16":
                return False
    return True


@pytest.fixture(scope="module")
def evaluator() -> Evaluator:
    return Evaluator()


def test_bodies_are_known() -> None:
    assert len(SCHEMAS) >= 70
    assert set(WITHOUT_CASE) <= {(s.name, s.since_version) for s in function_schemas()}
    assert schema_versions()
