"""Every element type that an operator allows for its first input.

The node cases are the templates: their inputs, converted. What an operator makes of a type must be
what onnx.reference makes of the same numbers in the widest type of that kind (float64, int64),
rounded once. onnx.reference does not know the older versions' meanings, so that there the oracle is
our own result in the widest type; test_schemas.py says that it is right.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import onnx.defs
import onnx.helper
import onnx.reference
import pytest
from onnx import TensorProto

from eval.test_node_cases import Evaluator, node_cases, to_array
from eval.test_schemas import (
    CASES,
    RANDOM,
    lowered_cases,
    model_of,
    schema_versions,
)

pytestmark = pytest.mark.filterwarnings("ignore")

TYPES = {
    f"tensor({TensorProto.DataType.Name(number).lower()})": np.dtype(
        onnx.helper.tensor_dtype_to_np_dtype(number)
    )
    for number in TensorProto.DataType.values()
    if number != TensorProto.UNDEFINED
}


def is_float(dtype: np.dtype) -> bool:
    return dtype.kind == "f" or (dtype.kind == "V" and not is_int(dtype))


def is_int(dtype: np.dtype) -> bool:
    return dtype.kind in "iu" or "int" in dtype.name


def limits(dtype: np.dtype) -> tuple[float, float]:
    info = ml_dtypes.iinfo(dtype) if is_int(dtype) else ml_dtypes.finfo(dtype)
    return float(info.min), float(info.max)


def precision(dtype: np.dtype) -> float:
    """The distance from 1 to the next number."""
    return float(ml_dtypes.finfo(dtype).eps) if is_float(dtype) else 0.0


def convert(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """The numbers of a template as another type: what does not fit is pulled in."""
    if dtype.kind == "O":
        return np.vectorize(str, otypes=[object])(x) if x.size else x.astype(object)
    if dtype.kind == "b":
        return np.asarray(x.astype("float64") > 0)
    if x.dtype.kind == "O":
        x = np.arange(x.size).reshape(x.shape)
    if dtype.kind == "c":
        return np.asarray(x.astype("float64") * (1 + 0.5j), dtype)
    if x.dtype.kind == "c":
        x = x.real
    wide = x.astype("float64")
    if is_int(dtype):
        wide = np.nan_to_num(wide * (3 if x.dtype.kind == "f" else 1))
    low, high = limits(dtype)
    if low >= 0:
        wide = np.abs(wide)
    finite = np.clip(wide, max(low, -1e6), min(high, 1e6))
    return np.where(np.isnan(wide), wide, finite).astype(dtype)


Template = tuple[onnx.ModelProto, dict[str, Any], onnx.defs.OpSchema]
Oracle = Callable[[Evaluator, onnx.ModelProto, dict[str, Any], Any, np.dtype], list[Any]]


def templates() -> Iterator[tuple[onnx.ModelProto, dict[str, Any]]]:
    """Models of one node whose operator is in its newest version, with inputs."""
    for case in node_cases():
        if len(case.model.graph.node) == 1 and not case.model.functions:
            names = [info.name for info in case.model.graph.input]
            yield case.model, dict(zip(names, case.data_sets[0][0], strict=False))
    for one in CASES:
        yield model_of(one, max(one.versions))


def schema_of(model: onnx.ModelProto) -> onnx.defs.OpSchema | None:
    [node] = model.graph.node
    versions = {entry.domain: entry.version for entry in model.opset_import}
    newest = onnx.defs.get_schema(node.op_type, node.domain)
    return newest if versions[node.domain] >= newest.since_version else None


def types_of_first_input(schema: onnx.defs.OpSchema) -> list[str]:
    if not schema.inputs:
        return []
    return sorted(t for t in schema.inputs[0].types if t in TYPES)


def parameter(parameters: Any, index: int) -> Any:
    return parameters[min(index, len(parameters) - 1)]


@functools.cache
def by_operator() -> dict[tuple[str, str], list[Any]]:
    """Two templates at most for each operator."""
    found: dict[tuple[str, str], list[Any]] = {}
    for model, inputs in templates():
        schema = schema_of(model)
        [node] = model.graph.node
        if schema is None or not can_be_retyped(model, inputs, schema):
            continue
        known = found.setdefault((node.domain, node.op_type), [])
        if len(known) < 2:
            known.append((model, inputs, schema))
    return found


def can_be_retyped(model: onnx.ModelProto, inputs: dict[str, Any], schema: Any) -> bool:
    [node] = model.graph.node
    return (
        bool(node.input)
        and bool(types_of_first_input(schema))
        and not isinstance(inputs.get(node.input[0]), list | dict | None.__class__)
    )


def older_templates() -> Iterator[tuple[onnx.ModelProto, dict[str, Any]]]:
    """Models of one node whose operator is in an older version: as of test_schemas.py."""
    for one in CASES:
        for version in one.versions:
            yield model_of(one, version)
    older = [
        (op, version)
        for (domain, op), versions in schema_versions().items()
        for version in versions[:-1]
        if not domain
    ]
    cases = [case for key in older for case in lowered_cases(*key)]
    for case in [*cases, *node_cases()]:
        if len(case.model.graph.node) == 1 and not case.model.functions:
            names = [info.name for info in case.model.graph.input]
            yield case.model, dict(zip(names, case.data_sets[0][0], strict=False))


@functools.cache
def by_older_version() -> dict[tuple[str, str, int], Template]:
    """A template for each version of an operator but the newest."""
    found: dict[tuple[str, str, int], Template] = {}
    for model, inputs in older_templates():
        [node] = model.graph.node
        imports = {entry.domain: entry.version for entry in model.opset_import}
        schema = onnx.defs.get_schema(node.op_type, imports[node.domain], node.domain)
        key = (node.domain, node.op_type, schema.since_version)
        newest = schema_versions()[key[:2]][-1]
        # The nodes in a body are of one type: test_control_flow.py has those of every type.
        if node.op_type in ("Loop", "Scan") or key in found or key[2] == newest:
            continue
        if can_be_retyped(model, inputs, schema):
            found[key] = (model, inputs, schema)
    return found


def retyped(
    model: onnx.ModelProto,
    inputs: dict[str, Any],
    schema: Any,
    dtype: np.dtype,
    exact: bool = False,
) -> dict[str, Any]:
    """The inputs, with those of the first one's type variable converted; exact: to a wider type."""
    [node] = model.graph.node
    variable = schema.inputs[0].type_str
    result = dict(inputs)
    for i, name in enumerate(node.input):
        if name and parameter(schema.inputs, i).type_str == variable:
            array = to_array(inputs[name])
            result[name] = array.astype(dtype) if exact else convert(array, dtype)
    return result


def with_inputs(model: onnx.ModelProto, inputs: dict[str, Any]) -> onnx.ModelProto:
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    infos = [
        onnx.helper.make_tensor_value_info(
            name, onnx.helper.np_dtype_to_tensor_dtype(value.dtype), value.shape
        )
        if isinstance(value, np.ndarray)
        else next(info for info in model.graph.input if info.name == name)
        for name, value in inputs.items()
    ]
    outputs = [onnx.helper.make_empty_tensor_value_info(o.name) for o in model.graph.output]
    del changed.graph.input[:]
    del changed.graph.output[:]
    changed.graph.input.extend(infos)
    changed.graph.output.extend(outputs)
    return changed


def wide_type(dtype: np.dtype, allowed: list[str]) -> np.dtype:
    kinds = {"c": ["complex128", "complex64"]}.get(dtype.kind, [])
    if is_float(dtype):
        kinds = ["double", "float"]
    elif is_int(dtype):
        kinds = ["int64", "int32"]
    return next((TYPES[f"tensor({k})"] for k in kinds if f"tensor({k})" in allowed), dtype)


def reference(model: onnx.ModelProto, inputs: dict[str, Any]) -> list[Any]:
    arrays = {k: to_array(v) if not isinstance(v, list) else v for k, v in inputs.items()}
    return onnx.reference.ReferenceEvaluator(model).run(None, arrays)


# Attributes or other inputs of the templates are of one type, so that no other type fits them.
BOUND_TO_A_TYPE = {
    "BitCast",
    "CategoryMapper",
    "Imputer",
    "LabelEncoder",
    "OneHotEncoder",
    "TfIdfVectorizer",
}

# (operator, type): what has no meaning, and the words of the error.
REFUSED = {
    ("CastLike", "tensor(string)"): "cannot be read as INT64",  # texts of fractions
    ("Col2Im", "tensor(string)"): "no kernel for element type STRING",  # a sum
    ("GridSample", "tensor(string)"): "strings have no numbers in between",
    ("ScatterND", "tensor(string)"): "no kernel for element type STRING",  # reduction="add"
    ("If", "tensor(bool)"): "is BOOL",  # the template's body takes numbers
}

# Where onnx.reference errs, and what it does instead. Type and shape are compared.
REFERENCE_ERRS = {
    ("DequantizeLinear", "tensor(float4e2m1)"): "adds a zero point of 4-bit floats",
    ("GridSample", "integers"): "truncates each product",
    ("ReduceMax", "integers"): "over nothing it gives 0 or the limit of another type",
    ("ReduceMin", "integers"): "over nothing it gives -1 or the limit of another type",
    ("LinearRegressor", "others"): "gives NaN without intercepts",
    ("LinearRegressor", "integers"): "gives NaN without intercepts",
    ("Resize", "complex"): "drops the imaginary part",
    ("SVMClassifier", "integers"): "works in integers",
    ("SVMRegressor", "integers"): "works in integers",
    ("Scaler", "integers"): "works in integers",
    ("CenterCropPad", "tensor(string)"): "fills with the number 0",
    ("Trilu", "tensor(string)"): "fills with the text 0",
}
RANDOM_OPERATORS = {row[0].op for row in RANDOM} | {"Bernoulli", "Dropout"}


def group_of(dtype: np.dtype) -> str:
    return "complex" if dtype.kind == "c" else "integers" if is_int(dtype) else "others"


def in_the_widest_type(
    model: onnx.ModelProto, inputs: dict[str, Any], schema: Any, dtype: np.dtype
) -> tuple[onnx.ModelProto, dict[str, Any]]:
    """The model and its inputs in the widest type that has the values of this one."""
    wide = wide_type(dtype, types_of_first_input(schema))
    widened = retyped(model, inputs, schema, wide, exact=True)
    return with_inputs(model, widened), widened


def expected_of(
    evaluator: Evaluator,
    model: onnx.ModelProto,
    inputs: dict[str, Any],
    schema: Any,
    dtype: np.dtype,
) -> list[Any]:
    """By onnx.reference in the widest type, in the type itself, or by us in the widest type."""
    changed, widened = in_the_widest_type(model, inputs, schema, dtype)
    for run in (
        lambda: reference(changed, widened),
        lambda: reference(with_inputs(model, inputs), inputs),
    ):
        try:
            return run()
        except Exception:  # onnx.reference fails in many ways
            continue
    return evaluator.run(changed, widened)


def by_ourselves(
    evaluator: Evaluator,
    model: onnx.ModelProto,
    inputs: dict[str, Any],
    schema: Any,
    dtype: np.dtype,
) -> list[Any]:
    """By us in the widest type."""
    changed, widened = in_the_widest_type(model, inputs, schema, dtype)
    return evaluator.run(changed, widened)


def check_values(got: np.ndarray, wanted: np.ndarray, input_precision: float) -> None:
    if got.dtype.kind in "OSUb":
        assert got.tolist() == wanted.astype(got.dtype).tolist()
        return
    kind = np.complex128 if got.dtype.kind == "c" else np.float64
    exact = is_int(got.dtype)
    least = 1e-4 if got.dtype.kind == "c" else 1e-5
    rtol = 0.0 if exact else max(2 * precision(got.dtype), 2 * input_precision, least)
    wanted = wanted.astype(got.dtype).astype(kind)
    np.testing.assert_allclose(got.astype(kind), wanted, rtol=rtol, atol=rtol)


def check_outputs(op: str, got: list[Any], expected: list[Any], schema: Any, name: str) -> None:
    for i, (item, wanted) in enumerate(zip(got, expected, strict=False)):
        if not isinstance(item, np.ndarray) or wanted is None or isinstance(wanted, list):
            continue
        output = parameter(schema.outputs, i)
        own = f"tensor({element_name(item.dtype)})"
        assert any(own in allowed for allowed in output.types), f"output {i} is {own}"
        if output.type_str == schema.inputs[0].type_str:
            assert own == name, f"output {i} is {own}"
        assert item.shape == np.shape(wanted)
        group = group_of(TYPES[name])
        if (op, name) in REFERENCE_ERRS or (op, group) in REFERENCE_ERRS or op in RANDOM_OPERATORS:
            continue
        check_values(item, np.asarray(wanted), precision(TYPES[name]))


def element_name(dtype: np.dtype) -> str:
    return TensorProto.DataType.Name(onnx.helper.np_dtype_to_tensor_dtype(dtype)).lower()


def check_every_type(evaluator: Evaluator, template: Template, oracle: Oracle) -> None:
    model, inputs, schema = template
    op = schema.name
    for name in types_of_first_input(schema):
        dtype = TYPES[name]
        own = to_array(inputs[model.graph.node[0].input[0]]).dtype
        if op in BOUND_TO_A_TYPE and dtype != own:
            continue
        converted = retyped(model, inputs, schema, dtype)
        try:
            got = evaluator.run(with_inputs(model, converted), converted)
        except RuntimeError as error:
            assert (op, name) in REFUSED, f"{name}: {error}"
            assert REFUSED[op, name] in str(error)
            continue
        expected = oracle(evaluator, model, converted, schema, dtype)
        try:
            check_outputs(op, got, expected, schema, name)
        except AssertionError as error:
            raise AssertionError(f"{name}: {error}") from None


@pytest.mark.parametrize("key", sorted(by_operator()), ids=lambda key: key[1])
def test_every_type(evaluator: Evaluator, key: tuple[str, str]) -> None:
    for template in by_operator()[key]:
        check_every_type(evaluator, template, expected_of)


OLDER = sorted(by_older_version())


@pytest.mark.parametrize("key", OLDER, ids=lambda key: f"{key[1]}-{key[2]}")
def test_every_type_of_older_versions(evaluator: Evaluator, key: tuple[str, str, int]) -> None:
    check_every_type(evaluator, by_older_version()[key], by_ourselves)


# --- The other type variables ---------------------------------------------------------------------


def other_variables(schema: onnx.defs.OpSchema) -> dict[str, list[str]]:
    """Type variables of inputs that are not the first one's, with the types of tensors."""
    first = schema.inputs[0].type_str
    found = {}
    for one in schema.inputs[1:]:
        types = sorted(t for t in one.types if t in TYPES)
        if one.type_str != first and len(types) > 1:
            found[one.type_str] = types
    return found


# What is no combination of types, and the words of the error.
OTHERS_REFUSED = {
    # The result is of the scale's type, which the schema does not allow here.
    ("DequantizeLinear", "T2", "tensor(float8e8m0)"): "the result cannot be FLOAT8E8M0",
}


def check_every_type_of_other_inputs(evaluator: Evaluator, template: Template) -> None:
    """Where the conversion keeps the numbers, it keeps the results."""
    model, inputs, schema = template
    op = schema.name
    plain = {k: v if isinstance(v, list) else to_array(v) for k, v in inputs.items()}
    before = evaluator.run(with_inputs(model, plain), plain)
    for variable, types in other_variables(schema).items():
        for name in types:
            changed, kept, bound = dict(plain), True, False
            for i, given in enumerate(model.graph.node[0].input):
                if given and parameter(schema.inputs, i).type_str == variable:
                    bound = True
                    changed[given] = convert(plain[given], TYPES[name])
                    back = changed[given]
                    if TYPES[name].kind not in "OV" and back.dtype.kind != plain[given].dtype.kind:
                        kept = kept and np.array_equal(back, plain[given])
                    else:
                        kept = kept and back.tolist() == plain[given].tolist()
            if not bound:
                continue
            try:
                after = evaluator.run(with_inputs(model, changed), changed)
            except RuntimeError as error:
                wanted = OTHERS_REFUSED.get((op, variable, name), "no such error")
                assert wanted in str(error), f"{variable} {name}: {error}"
                continue
            for i, (got, expected) in enumerate(zip(after, before, strict=True)):
                if not isinstance(got, np.ndarray):
                    continue
                output = parameter(schema.outputs, i)
                assert got.shape == expected.shape or not kept, (variable, name)
                own = f"tensor({element_name(got.dtype)})"
                assert any(own in allowed for allowed in output.types), f"output {i} is {own}"
                if output.type_str == variable:
                    # The result is cast to it, and may be another by that.
                    assert own == name, f"output {i} is {own}"
                elif kept and op not in RANDOM_OPERATORS and got.dtype.kind not in "OSU":
                    least = max(precision(got.dtype), precision(TYPES[name]))
                    wide = np.complex128 if got.dtype.kind == "c" else np.float64
                    np.testing.assert_allclose(
                        got.astype(wide),
                        expected.astype(got.dtype).astype(wide),
                        rtol=max(2 * least, 1e-5),
                        atol=max(2 * least, 1e-5),
                        err_msg=f"{variable} {name}",
                    )


@pytest.mark.parametrize(
    "key",
    sorted(key for key, found in by_operator().items() if other_variables(found[0][2])),
    ids=lambda key: key[1],
)
def test_every_type_of_other_inputs(evaluator: Evaluator, key: tuple[str, str]) -> None:
    for template in by_operator()[key]:
        check_every_type_of_other_inputs(evaluator, template)


@pytest.mark.parametrize(
    "key",
    [key for key in OLDER if other_variables(by_older_version()[key][2])],
    ids=lambda key: f"{key[1]}-{key[2]}",
)
def test_every_type_of_other_inputs_of_older_versions(
    evaluator: Evaluator, key: tuple[str, str, int]
) -> None:
    check_every_type_of_other_inputs(evaluator, by_older_version()[key])


# No input, or none that is a tensor (the first two tests below), or a body.
WITHOUT_TEMPLATE = {
    "CastMap",
    "ConcatFromSequence",
    "Constant",
    "DictVectorizer",
    "Gradient",
    "Loop",
    "Multinomial",
    "RandomNormal",
    "RandomNormalLike",
    "RandomUniform",
    "RandomUniformLike",
    "Scan",
    "SequenceAt",
    "SequenceConstruct",
    "SequenceEmpty",
    "SequenceErase",
    "SequenceInsert",
    "SequenceLength",
    "SequenceMap",
}

ELEMENTS_OF_SEQUENCES = types_of_first_input(onnx.defs.get_schema("SequenceConstruct"))


@pytest.mark.parametrize("name", ELEMENTS_OF_SEQUENCES)
def test_sequences_of_every_type(evaluator: Evaluator, name: str) -> None:
    x = convert(np.arange(6).reshape(2, 3), TYPES[name])
    y = convert(np.arange(6)[::-1].reshape(2, 3), TYPES[name])
    number = onnx.helper.np_dtype_to_tensor_dtype(TYPES[name])
    make = onnx.helper.make_node
    nodes = [
        make("SequenceConstruct", ["x", "y"], ["two"]),
        make("SequenceInsert", ["two", "y", "zero"], ["three"]),
        make("SequenceErase", ["three", "one"], ["rest"]),
        make("SequenceAt", ["three", "one"], ["item"]),
        make("SequenceLength", ["three"], ["count"]),
        make("ConcatFromSequence", ["rest"], ["joined"], axis=0),
        make("SequenceEmpty", [], ["nothing"], dtype=number),
        make("SequenceInsert", ["nothing", "x"], ["alone"]),
        make("SplitToSequence", ["x"], ["parts"], axis=1),
    ]
    inputs = {"x": x, "y": y, "zero": np.array(0), "one": np.array(1)}
    graph = onnx.helper.make_graph(
        nodes,
        "g",
        [onnx.helper.make_empty_tensor_value_info(name) for name in inputs],
        [
            onnx.helper.make_empty_tensor_value_info(name)
            for name in ("item", "count", "joined", "alone", "parts")
        ],
    )
    imports = [onnx.helper.make_opsetid("", 24)]
    item, count, joined, alone, parts = evaluator.run(
        onnx.helper.make_model(graph, opset_imports=imports), inputs
    )
    assert item.tolist() == x.tolist() and item.dtype == x.dtype
    assert count == 3
    assert joined.tolist() == np.concatenate([y, y]).tolist()
    assert [a.tolist() for a in alone] == [x.tolist()]
    assert [p.tolist() for p in parts] == [x[:, i : i + 1].tolist() for i in range(3)]


@pytest.mark.parametrize("op", ["RandomNormal", "RandomUniform"])
def test_random_numbers_of_every_type(evaluator: Evaluator, op: str) -> None:
    schema = onnx.defs.get_schema(op)
    for name in schema.outputs[0].types:
        number = onnx.helper.np_dtype_to_tensor_dtype(TYPES[name])
        node = onnx.helper.make_node(op, [], ["y"], shape=[3, 4], dtype=number)
        output = [onnx.helper.make_empty_tensor_value_info("y")]
        graph = onnx.helper.make_graph([node], "g", [], output)
        imports = [onnx.helper.make_opsetid("", schema.since_version)]
        [y] = evaluator.run(onnx.helper.make_model(graph, opset_imports=imports), {})
        assert y.dtype == TYPES[name] and y.shape == (3, 4)


def test_most_operators_have_a_template() -> None:
    """Those without have no input, or none that is a tensor, or no case of their own."""
    every = {(s.domain, s.name) for s in onnx.defs.get_all_schemas()}
    without = {name for _, name in every - set(by_operator())}
    assert without == WITHOUT_TEMPLATE, without ^ WITHOUT_TEMPLATE


@pytest.fixture(scope="module")
def evaluator() -> Evaluator:
    return Evaluator()
