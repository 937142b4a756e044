#!/usr/bin/env python3
"""Writes the operator tables of src/ops/table.h from the installed onnx package.

    generate_ops.py OUT.cpp

Every array is flat and constant; a schema refers to a range of each. Equal ranges are stored once,
which halves the tables, since most versions of an operator differ in little. Output depends on the
onnx version alone.
"""

import argparse
import pathlib
import re
import sys
from typing import Any

import onnx
import onnx.defs
import onnx.helper
from enumerations import legal_strings
from operator_docs import documentation

_NO_LIMIT = 65535  # UINT16_MAX, as in ops.h
_INT_MAX = 2147483647
_LITERAL_LIMIT = 4000  # characters in one piece of a string literal

_HEAD = """\
// Written by tools/generate_ops.py from onnx {version}; do not edit.
// NOLINTBEGIN
#include "ops/table.h"

namespace sardonyx::ops::table {{
namespace {{

using namespace std::string_view_literals;
using Text = std::string_view;
constexpr ParameterOption S = ParameterOption::kSingle;
constexpr ParameterOption O = ParameterOption::kOptional;
constexpr ParameterOption V = ParameterOption::kVariadic;
"""


class UnknownTypeError(Exception):
    """A type string that this generator does not know."""


def element_numbers() -> dict[str, int]:
    """Names as in "tensor(float)" to numbers of TensorProto.DataType."""
    return {name.lower(): number for name, number in onnx.TensorProto.DataType.items() if number}


_ELEMENTS = element_numbers()
_TYPE_FORMS = (
    (re.compile(r"tensor\((\w+)\)"), 0),
    (re.compile(r"seq\(tensor\((\w+)\)\)"), 1),
    (re.compile(r"optional\(tensor\((\w+)\)\)"), 2),
    (re.compile(r"optional\(seq\(tensor\((\w+)\)\)\)"), 3),
)
_MAP_FORM = re.compile(r"(seq\()?map\(.*\)")


def type_set(type_names: list[str]) -> str:
    """The TypeSet of types such as "tensor(float)" and "seq(tensor(int64))"."""
    masks = [0, 0, 0, 0]
    maps = False
    for type_name in type_names:
        if _MAP_FORM.fullmatch(type_name):
            maps = True
            continue
        for form, index in _TYPE_FORMS:
            match = form.fullmatch(type_name)
            if match and match[1] in _ELEMENTS:
                masks[index] |= 1 << _ELEMENTS[match[1]]
                break
        else:
            raise UnknownTypeError(type_name)
    return row(*(f"0x{mask:x}u" for mask in masks), maps)


def text(value: str | bytes) -> str:
    """A string_view literal of the value's UTF-8, in pieces that every compiler takes."""
    data = value if isinstance(value, bytes) else value.encode()
    if not data:
        return "Text()"
    # Three octal digits end an escape, so that the next character cannot join it.
    plain = set(range(32, 127)) - set(b'"\\?')
    escaped = [chr(byte) if byte in plain else f"\\{byte:03o}" for byte in data]
    pieces = []
    for start in range(0, len(escaped), _LITERAL_LIMIT):
        pieces.append('"' + "".join(escaped[start : start + _LITERAL_LIMIT]) + '"')
    return "\n".join(pieces) + "sv"


def row(*fields: object) -> str:
    """An aggregate initialiser."""
    texts = [str(field).lower() if isinstance(field, bool) else str(field) for field in fields]
    return "{" + ", ".join(texts) + "}"


class Array:
    """A flat C++ array; equal runs of rows share their place."""

    def __init__(self, element: str, name: str) -> None:
        self.element = element
        self.name = name
        self.rows: list[str] = []
        self._runs: dict[tuple[str, ...], int] = {}

    def span(self, rows: list[str]) -> str:
        if not rows:
            return "{}"
        key = tuple(rows)
        if key not in self._runs:
            self._runs[key] = len(self.rows)
            self.rows += rows
        return row(f"{self.name} + {self._runs[key]}", len(rows))

    def definition(self) -> str:
        # C++ has no empty arrays.
        rows = ",\n".join(self.rows or ["{}"])
        head = f"[[maybe_unused]] constexpr {self.element} {self.name}[] = "
        return head + "{\n" + rows + "\n};\n"


class Tables:
    """Collects the rows of all schemas."""

    def __init__(self) -> None:
        self.integers = Array("int64_t", "kIntegers")
        self.floats = Array("float", "kFloats")
        self.strings = Array("Text", "kStrings")
        self.type_variables = Array("TypeVariable", "kTypeVariables")
        self.parameters = Array("Parameter", "kParameters")
        self.attributes = Array("AttributeSchema", "kAttributes")
        self.schemas = Array("Schema", "kSchemaRows")
        self.versions: dict[tuple[str, str], list[int]] = {}

    def add_schema(self, schema: Any) -> None:
        variables = {c.type_param_str: c for c in schema.type_constraints}
        rows = {
            name: row(text(name), text(c.description), type_set(sorted(c.allowed_type_strs)))
            for name, c in variables.items()
        }
        for parameter in [*schema.inputs, *schema.outputs]:
            if parameter.type_str not in rows:
                types = type_set([parameter.type_str])
                rows[parameter.type_str] = row(text(parameter.type_str), "Text()", types)
        indices = {name: index for index, name in enumerate(rows)}
        fields = row(
            text(schema.domain),
            text(schema.name),
            schema.since_version,
            bool(schema.deprecated),
            bool(schema.has_function or schema.has_context_dependent_function),
            not schema.non_deterministic,
            schema.min_input,
            limit(schema.max_input),
            schema.min_output,
            limit(schema.max_output),
            self.parameters.span([parameter_row(p, indices) for p in schema.inputs]),
            self.parameters.span([parameter_row(p, indices) for p in schema.outputs]),
            self.attributes.span(
                [self.attribute_row(schema, a) for _, a in sorted(schema.attributes.items())]
            ),
            self.type_variables.span(list(rows.values())),
            text(documentation(schema, self.versions[schema.domain, schema.name])),
        )
        self.schemas.rows.append(fields)

    def attribute_row(self, schema: Any, attribute: Any) -> str:
        proto = attribute.default_value
        has_default = proto.type != onnx.AttributeProto.UNDEFINED
        values = ["0", "0.0f", "Text()", "{}", "{}", "{}"]
        if has_default:
            slot, value = self.default_value(schema, proto)
            values[slot] = value
        legal = legal_strings(schema.domain, schema.name, attribute.name, schema.since_version)
        return row(
            text(attribute.name),
            text(attribute.description),
            f"AttributeType({int(attribute.type.value)})",
            bool(attribute.required),
            has_default,
            *values,
            self.strings.span([text(word) for word in legal]),
        )

    def default_value(self, schema: Any, proto: onnx.AttributeProto) -> tuple[int, str]:
        """Which of the six default fields it is, and its text."""
        value = onnx.helper.get_attribute_value(proto)
        if proto.type == onnx.AttributeProto.INT:
            return 0, f"{value}"
        if proto.type == onnx.AttributeProto.FLOAT:
            return 1, float_literal(value)
        if proto.type == onnx.AttributeProto.STRING:
            return 2, text(value)
        if proto.type == onnx.AttributeProto.INTS:
            return 3, self.integers.span([f"{item}" for item in value])
        if proto.type == onnx.AttributeProto.FLOATS:
            return 4, self.floats.span([float_literal(item) for item in value])
        if proto.type == onnx.AttributeProto.STRINGS:
            return 5, self.strings.span([text(item) for item in value])
        sys.exit(f"{schema.name}.{proto.name}: a default of attribute type {proto.type}")

    def definitions(self) -> str:
        arrays = (
            self.integers,
            self.floats,
            self.strings,
            self.type_variables,
            self.parameters,
            self.attributes,
            self.schemas,
        )
        return "\n".join(array.definition() for array in arrays)


def limit(count: int) -> int:
    return _NO_LIMIT if count == _INT_MAX else count


def float_literal(value: float) -> str:
    # Attributes are float32; a hexadecimal literal keeps every bit.
    return f"{float(value).hex()}f"


def parameter_row(parameter: Any, indices: dict[str, int]) -> str:
    option = {"Single": "S", "Optional": "O", "Variadic": "V"}[parameter.option.name]
    return row(
        text(parameter.name),
        text(parameter.description),
        option,
        bool(parameter.is_homogeneous),
        indices[parameter.type_str],
        parameter.min_arity,
    )


def operator_rows(schemas: list[Any]) -> tuple[list[str], list[str], list[str]]:
    """Rows of kOperators, kDomains and kDomainOperators for the sorted schemas."""
    operators: list[tuple[str, str, int, int]] = []
    for index, schema in enumerate(schemas):
        if operators and operators[-1][:2] == (schema.domain, schema.name):
            domain, name, first, count = operators[-1]
            operators[-1] = (domain, name, first, count + 1)
        else:
            operators.append((schema.domain, schema.name, index, 1))
    domains, ranges = [], []
    for domain in sorted({schema.domain for schema in schemas}):
        versions = [schema.since_version for schema in schemas if schema.domain == domain]
        newest = max([*versions, *listed_versions(domain)])
        domains.append(row(text(domain), min(versions), newest))
        own = [index for index, operator in enumerate(operators) if operator[0] == domain]
        ranges.append(row(own[0], len(own)))
    rows = [row(text(name), first, count) for _, name, first, count in operators]
    return rows, domains, ranges


def name_hash(name: str) -> int:
    """sardonyx::name_hash of base/name_hash.h."""
    value = 2166136261
    for byte in name.encode():
        value = (value ^ byte) * 16777619 % 2**32
    return value ^ value >> 16


def operator_slots(schemas: list[Any]) -> list[str]:
    """Rows of kOperatorSlots: at most a quarter of them is in use."""
    names = [name for _, name in sorted({(schema.domain, schema.name) for schema in schemas})]
    slots = [0] * (1 << (4 * len(names) - 1).bit_length())
    for index, name in enumerate(names):
        slot = name_hash(name) % len(slots)
        while slots[slot] != 0:
            slot = (slot + 1) % len(slots)
        slots[slot] = index + 1
    return [str(slot) for slot in slots]


def listed_versions(domain: str) -> list[int]:
    """The opset versions of a domain that were released; some bring no new schema."""
    if domain == "":
        return [onnx.defs.onnx_opset_version()]
    listed = onnx.helper.OP_SET_ID_VERSION_MAP
    # The map repeats ai.onnx's versions under ai.onnx.preview, which has none of its own there.
    return [v for d, v in listed if d == domain and domain != "ai.onnx.preview"]


def ir_version_rows() -> list[str]:
    rows = []
    for (domain, version), ir_version in sorted(onnx.helper.OP_SET_ID_VERSION_MAP.items()):
        own_domain = "" if domain == "ai.onnx" else domain
        rows.append(row(text(own_domain), version, ir_version))
    return rows


def generate() -> str:
    schemas = sorted(
        onnx.defs.get_all_schemas_with_history(),
        key=lambda schema: (schema.domain, schema.name, schema.since_version),
    )
    tables = Tables()
    for schema in schemas:
        tables.versions.setdefault((schema.domain, schema.name), []).append(schema.since_version)
    for schema in schemas:
        tables.add_schema(schema)
    operators, domains, ranges = operator_rows(schemas)
    lists = (
        ("Operator", "kOperator", operators),
        ("uint16_t", "kOperatorSlot", operator_slots(schemas)),
        ("DomainInfo", "kDomain", domains),
        ("DomainOperators", "kDomainOperator", ranges),
        ("IrVersion", "kIrVersion", ir_version_rows()),
    )
    parts = [_HEAD.format(version=onnx.__version__), tables.definitions()]
    for element, name, rows in lists:
        array = Array(element, f"{name}Rows")
        array.rows = rows
        parts.append(array.definition())
    parts.append("}  // namespace\n")
    parts.append("const std::span<const Schema> kSchemas = kSchemaRows;")
    for element, name, _ in lists:
        parts.append(f"const std::span<const {element}> {name}s = {name}Rows;")
    parts.append(f"const int64_t kNewestIrVersion = {int(onnx.IR_VERSION)};")
    parts.append(f"const std::string_view kOnnxVersion = {text(onnx.__version__)};")
    parts.append("\n}  // namespace sardonyx::ops::table\n// NOLINTEND\n")
    return "\n".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("out", type=pathlib.Path, help="the C++ file to write")
    out = parser.parse_args().out
    try:
        generated = generate()
    except UnknownTypeError as error:
        sys.exit(
            f"error: onnx {onnx.__version__} has the type `{error}`, which is not in "
            "tools/generate_ops.py and src/types/element_types.def"
        )
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(generated, encoding="utf-8")


if __name__ == "__main__":
    main()
