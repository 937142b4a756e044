#!/usr/bin/env python3
"""Writes a schema file (docs/schemas.md) of a domain from what ONNX Runtime's package reports.

    generate_schemas.py com.microsoft > python/sardonyx/schemas/com.microsoft.toml

Facts alone: names, types, attributes and their defaults. tests/python/ops/test_schemas.py compares.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable
from typing import Any

import onnx
import onnx.defs
import onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state as runtime

ATTRIBUTE_TYPES = {
    "FLOAT": "float", "INT": "int", "STRING": "string", "TENSOR": "tensor", "GRAPH": "graph",
    "FLOATS": "floats", "INTS": "ints", "STRINGS": "strings", "TENSORS": "tensors",
    "GRAPHS": "graphs", "SPARSE_TENSOR": "sparse_tensor", "TYPE_PROTO": "type",
}  # fmt: skip
WRAPPERS = {"seq": "Sequence", "optional": "Optional"}


def type_name(text: str) -> str:
    """`tensor(float)` as `FLOAT`, `seq(tensor(int64))` as `Sequence[INT64]`; else `any`."""
    if match := re.fullmatch(r"tensor\((\w+)\)", text):
        return match[1].upper() if match[1] != "float" else "FLOAT"
    if match := re.fullmatch(r"(seq|optional)\((.+)\)", text):
        inner = type_name(match[2])
        return "any" if inner == "any" else f"{WRAPPERS[match[1]]}[{inner}]"
    return "any"


def value(data: Any) -> str:
    if isinstance(data, bytes):
        data = data.decode()
    if isinstance(data, float):
        return repr(float(f"{data:.9g}"))
    if isinstance(data, list):
        return f"[{', '.join(value(item) for item in data)}]"
    return json.dumps(data, ensure_ascii=False)


def default(attribute: Any) -> str | None:
    if not attribute._default_value:
        return None
    proto = onnx.AttributeProto.FromString(attribute._default_value)
    data = onnx.helper.get_attribute_value(proto)
    return value(list(data) if isinstance(data, (list, tuple)) or hasattr(data, "extend") else data)


def parameter(one: Any, names: Iterable[str]) -> str:
    kind = one.typeStr if one.typeStr in names else type_name(one.typeStr)
    parts = [f"name = {value(one.name)}", f"type = {value(kind)}"]
    option = one.option.name
    if option == "Optional":
        parts.append("optional = true")
    if option == "Variadic":
        parts.append("variadic = true")
        if not one.isHomogeneous:
            parts.append("heterogeneous = true")
    return f"{{ {', '.join(parts)} }}"


def parameters(key: str, given: list[Any], names: Iterable[str], minimum: int) -> list[str]:
    if not given:
        return []
    lines = [parameter(one, names) for one in given]
    if given[-1].option.name == "Variadic":
        least = max(0, minimum - (len(given) - 1))
        if least != 1:
            lines[-1] = lines[-1].replace(" }", f", minimum = {least} }}")
    return [f"{key} = [", *(f"  {line}," for line in lines), "]"]


def operator(schema: Any) -> list[str]:
    types = {}
    for constraint in schema.type_constraints:
        names = [type_name(text) for text in constraint.allowed_type_strs]
        types[constraint.type_param_str] = ["any"] if "any" in names else sorted(set(names))
    lines = ["", "[[operator]]", f"name = {value(schema.name)}", f"since = {schema.since_version}"]
    lines += parameters("inputs", schema.inputs, types, schema.min_input)
    lines += parameters("outputs", schema.outputs, types, schema.min_output)
    if types:
        lines.append("[operator.types]")
        lines += [f"{name} = {value(types[name])}" for name in sorted(types)]
    if schema.attributes:
        lines.append("[operator.attributes]")
    for name, attribute in sorted(schema.attributes.items()):
        parts = [f'type = "{ATTRIBUTE_TYPES[attribute.type.name]}"']
        given = default(attribute)
        if attribute.required:
            parts.append("required = true")
        elif given is not None:
            parts.append(f"default = {given}")
        lines.append(f"{name} = {{ {', '.join(parts)} }}")
    return lines


def generate(domain: str) -> str:
    """The schema file of a domain; of ai.onnx, of what is not in the standard."""
    given = "" if domain == "ai.onnx" else domain
    standard = {one.name for one in onnx.defs.get_all_schemas_with_history() if not one.domain}
    schemas = [
        one
        for one in runtime.get_all_operator_schema()
        if one.domain == given and (given or one.name not in standard)
    ]
    schemas.sort(key=lambda one: (one.name, one.since_version))
    whose = domain if given else "ai.onnx that are not in the standard,"
    lines = [
        f"# The operators of {whose} as ONNX Runtime {onnxruntime.__version__} reports them.",
        "# Written by tools/generate_schemas.py; docs/schemas.md says what the keys mean.",
        f"domain = {value(domain)}",
    ]
    for schema in schemas:
        lines += operator(schema)
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(generate(sys.argv[1]))
