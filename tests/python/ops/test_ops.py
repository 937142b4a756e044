"""The operator tables against the onnx package that they were generated from."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator

import numpy
import onnx
import onnx.defs
import onnx.helper
import pytest

from places import BUILD, ROOT
from tool import ask_all

TOOL = BUILD / "sdx_ops_tool"

sys.path.insert(0, str(ROOT / "tools"))
import enumerations  # noqa: E402
import operator_docs  # noqa: E402

SCHEMAS = sorted(
    onnx.defs.get_all_schemas_with_history(), key=lambda s: (s.domain, s.name, s.since_version)
)
NO_LIMIT = 2147483647
STRING_TYPES = (onnx.defs.OpSchema.AttrType.STRING, onnx.defs.OpSchema.AttrType.STRINGS)


@pytest.fixture(scope="module")
def dump() -> list[dict]:
    return [json.loads(row) for row in ask_all(TOOL, [["dump"]])[0]]


@pytest.fixture(scope="module")
def ours(dump: list[dict]) -> list[dict]:
    return [row for row in dump if "since" in row]


def element_masks(type_names: list[str]) -> dict[str, int | bool]:
    """What a TypeSet holds, worked out another way than the generator does."""
    forms = {
        "tensor": "tensor({})",
        "sequence": "seq(tensor({}))",
        "optional": "optional(tensor({}))",
        "optional_sequence": "optional(seq(tensor({})))",
    }
    masks: dict[str, int | bool] = {}
    known = set()
    for key, form in forms.items():
        masks[key] = 0
        for name, number in onnx.TensorProto.DataType.items():
            type_name = form.format(name.lower())
            if type_name in type_names:
                masks[key] |= 1 << number
                known.add(type_name)
    rest = set(type_names) - known
    assert all("map(" in type_name for type_name in rest), rest
    masks["maps"] = bool(rest)
    return masks


def expected_default(attribute: onnx.defs.OpSchema.Attribute) -> object:
    if attribute.default_value.type == onnx.AttributeProto.UNDEFINED:
        return None
    value = onnx.helper.get_attribute_value(attribute.default_value)
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, list):
        return [item.decode() if isinstance(item, bytes) else item for item in value]
    return value


def string_attributes() -> Iterator[tuple[onnx.defs.OpSchema, onnx.defs.OpSchema.Attribute]]:
    for schema in SCHEMAS:
        for attribute in schema.attributes.values():
            if attribute.type in STRING_TYPES:
                yield schema, attribute


def test_every_schema_is_there(ours: list[dict]) -> None:
    assert [(s["domain"], s["name"], s["since"]) for s in ours] == [
        (s.domain, s.name, s.since_version) for s in SCHEMAS
    ]
    if onnx.__version__ == "1.23.2":
        assert len(ours) == 659
        assert len({(s["domain"], s["name"]) for s in ours}) == 227


def words(text: str) -> list[str]:
    text = re.sub(r"</?(?:br|i|b) ?/?>|This operator has \*\*optional\*\*.*", " ", text, flags=re.S)
    return re.findall(r"\w+", text)


def test_documentation_is_that_of_the_standard(ours: list[dict]) -> None:
    """As Markdown, which editor/test_stubs.py looks at, with all words of all parts."""
    versions: dict[tuple[str, str], list[int]] = {}
    for schema in SCHEMAS:
        versions.setdefault((schema.domain, schema.name), []).append(schema.since_version)
    for mine, schema in zip(ours, SCHEMAS, strict=True):
        of_operator = versions[schema.domain, schema.name]
        assert mine["doc"] == operator_docs.documentation(schema, of_operator)
        parts = [*schema.inputs, *schema.outputs, *schema.attributes.values()]
        texts = [schema.doc or "", *(one.description for one in parts)]
        expected = {word for text in texts for word in words(text)}
        assert expected <= set(words(mine["doc"])), schema.name


def test_every_schema_is_equal(ours: list[dict]) -> None:
    for mine, schema in zip(ours, SCHEMAS, strict=True):
        assert mine["deprecated"] == schema.deprecated
        assert mine["deterministic"] == (not schema.non_deterministic)
        assert mine["function"] == (schema.has_function or schema.has_context_dependent_function), (
            schema.name
        )
        limits = [schema.min_input, schema.max_input, schema.min_output, schema.max_output]
        assert mine["limits"] == [65535 if n == NO_LIMIT else n for n in limits]


def test_every_parameter_is_equal(ours: list[dict]) -> None:
    count = 0
    for mine, schema in zip(ours, SCHEMAS, strict=True):
        for side in ("inputs", "outputs"):
            theirs = getattr(schema, side)
            for row, parameter in zip(mine[side], theirs, strict=True):
                count += 1
                assert row["name"] == parameter.name
                assert row["doc"] == parameter.description
                assert row["option"] == int(parameter.option.value)
                assert row["homogeneous"] == parameter.is_homogeneous
                assert row["minimum"] == parameter.min_arity
                variable = mine["types"][row["type"]]
                assert variable["name"] == parameter.type_str
                masks = element_masks(list(parameter.types))
                assert {key: variable[key] for key in masks} == masks, (schema.name, row)
    assert count == sum(len(s.inputs) + len(s.outputs) for s in SCHEMAS)


def test_every_type_constraint_is_equal(ours: list[dict]) -> None:
    for mine, schema in zip(ours, SCHEMAS, strict=True):
        constraints = schema.type_constraints
        for row, constraint in zip(mine["types"], constraints, strict=False):
            assert row["name"] == constraint.type_param_str
            assert row["doc"] == constraint.description
            masks = element_masks(list(constraint.allowed_type_strs))
            assert {key: row[key] for key in masks} == masks
        # What follows stands for the fixed types of parameters.
        fixed = {row["name"] for row in mine["types"][len(constraints) :]}
        used = {p.type_str for p in [*schema.inputs, *schema.outputs]}
        assert fixed == used - {c.type_param_str for c in constraints}


def test_every_attribute_is_equal(ours: list[dict]) -> None:
    for mine, schema in zip(ours, SCHEMAS, strict=True):
        theirs = sorted(schema.attributes.items())
        for row, (name, attribute) in zip(mine["attributes"], theirs, strict=True):
            assert row["name"] == name
            assert row["doc"] == attribute.description
            assert row["type"] == int(attribute.type.value)
            assert row["required"] == attribute.required
            expected = expected_default(attribute)
            if isinstance(expected, float):
                assert numpy.float32(row["default"]) == numpy.float32(expected)
            else:
                assert row["default"] == expected, (schema.name, name)
            legal = enumerations.legal_strings(
                schema.domain, schema.name, name, schema.since_version
            )
            assert row["legal"] == list(legal)


def test_find_schema_answers_as_onnx() -> None:
    newest = onnx.defs.onnx_opset_version()
    queries = [
        (domain, name, version)
        for domain, name in sorted({(s.domain, s.name) for s in SCHEMAS})
        for version in range(newest + 3)
    ]
    answers = ask_all(TOOL, [["find", *query] for query in queries])
    for (domain, name, version), (answer,) in zip(queries, answers, strict=True):
        try:
            expected = onnx.defs.get_schema(name, version, domain).since_version
        except onnx.defs.SchemaError:
            expected = 0
        assert int(answer) == expected, (domain, name, version)


def test_domains_and_versions(dump: list[dict]) -> None:
    domains = {row["domain"]: row for row in dump if "oldest" in row}
    assert set(domains) == {s.domain for s in SCHEMAS}
    assert domains[""]["newest"] == onnx.defs.onnx_opset_version()
    for domain, row in domains.items():
        assert row["oldest"] == min(s.since_version for s in SCHEMAS if s.domain == domain)
        assert row["newest"] >= max(s.since_version for s in SCHEMAS if s.domain == domain)
    versions = [row for row in dump if "ir" in row]
    for row in versions:
        key = (row["domain"] or "ai.onnx", row["version"])
        assert row["ir"] == onnx.helper.OP_SET_ID_VERSION_MAP.get(key, 0), key
    about = next(row for row in dump if "onnx" in row)
    assert about == {"onnx": onnx.__version__, "newest_ir": onnx.IR_VERSION}


def test_every_string_attribute_is_decided() -> None:
    """Each is either an enumeration or free text, and no row speaks of what does not exist."""
    existing = {(s.domain, s.name, a.name) for s, a in string_attributes()}
    listed = set(enumerations.ENUMERATIONS)
    assert listed.isdisjoint(enumerations.FREE_TEXT)
    assert listed | enumerations.FREE_TEXT == existing


def test_every_enumeration_row_begins_at_a_version_of_its_operator() -> None:
    versions = {(s.domain, s.name, a.name, s.since_version) for s, a in string_attributes()}
    for key, rows in enumerations.ENUMERATIONS.items():
        assert min(rows) == min(v[3] for v in versions if v[:3] == key), key
        for since, values in rows.items():
            assert (*key, since) in versions
            assert values and len(set(values)) == len(values)


def test_defaults_are_legal_and_legal_strings_are_in_the_text() -> None:
    for schema, attribute in string_attributes():
        key = (schema.domain, schema.name, attribute.name)
        legal = enumerations.legal_strings(*key, schema.since_version)
        if not legal:
            assert key in enumerations.FREE_TEXT
            continue
        default = expected_default(attribute)
        defaults = [default] if isinstance(default, str) else default or []
        assert set(defaults) <= set(legal), (key, schema.since_version)
        prose = attribute.description + (schema.doc or "")
        for word in legal:
            assert word in prose or word in defaults, (key, schema.since_version, word)
