"""Writes the operators of each opset as C++ functions over sardonyx::Builder.

    python tools/generate_cpp.py FOLDER

FOLDER gets op17.h and so on up to the newest opset of the installed onnx package. An operator is a
function of its inputs, with its attributes as the fields of a struct; those that hold graphs are
`Builder::if_` and `Builder::loop`.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import onnx.defs
from onnx.defs import OpSchema

FIRST = 17
HEADER = """\
// The operators of opset {opset} as functions, generated from onnx {version}:
// `op{opset}::Softmax(x, {{.axis = -1}})`. Operators with graphs are members of Builder.
#pragma once

#include <sardonyx/builder.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// NOLINTBEGIN
namespace sardonyx {{
inline namespace v1 {{
namespace op{opset} {{

"""
FOOTER = """\
}}  // namespace op{opset}
}}  // namespace v1
}}  // namespace sardonyx
// NOLINTEND
"""
TYPES = {
    "FLOAT": "float",
    "INT": "int64_t",
    "STRING": "std::string",
    "FLOATS": "std::vector<float>",
    "INTS": "std::vector<int64_t>",
    "STRINGS": "std::vector<std::string>",
    "TENSOR": "Array",
}
KEYWORDS = {
    "and", "auto", "bool", "case", "char", "class", "const", "default", "delete", "do", "double",
    "else", "enum", "export", "float", "for", "if", "int", "long", "new", "not", "operator", "or",
    "register", "return", "short", "signed", "static", "struct", "switch", "template", "this",
    "typedef", "union", "unsigned", "using", "void", "while", "xor", "options", "call", "b",
}  # fmt: skip
Kind = OpSchema.FormalParameterOption


def identifier(name: str) -> str:
    """A valid C++ name that no name of the library hides."""
    name = re.sub(r"\W", "_", name)
    return f"{name}_" if name in KEYWORDS else name


def schemas_of(opset: int) -> dict[str, OpSchema]:
    """The operators of ai.onnx in this version, by name."""
    found: dict[str, OpSchema] = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain == "" and schema.since_version <= opset:
            known = found.get(schema.name)
            if known is None or known.since_version < schema.since_version:
                found[schema.name] = schema
    return {name: found[name] for name in sorted(found) if not found[name].deprecated}


def attributes_of(schema: OpSchema) -> list[OpSchema.Attribute]:
    """Those that have a C++ type, the required ones first."""
    known = [one for one in schema.attributes.values() if one.type.name in TYPES]
    return sorted(known, key=lambda one: (not one.required, one.name))


def has_function(schema: OpSchema) -> bool:
    """Whether the required attributes can all be given."""
    attributes = schema.attributes.values()
    return not any(one.required and one.type.name not in TYPES for one in attributes)


def options(schema: OpSchema) -> Iterator[str]:
    """The struct of the attributes."""
    attributes = attributes_of(schema)
    if attributes:
        yield f"struct {schema.name}Options {{\n"
        for one in attributes:
            type_ = TYPES[one.type.name]
            type_ = f"{type_}" if one.required else f"std::optional<{type_}>"
            yield f"    {type_} {identifier(one.name)}{'' if one.required else ' = {}'};\n"
        yield "};\n"


def parameters(schema: OpSchema) -> list[tuple[str, str, str]]:
    """(type, name, default) of each input."""
    result = []
    for one in schema.inputs:
        is_list = one.option == Kind.Variadic
        type_ = "const std::vector<Expr>&" if is_list else "const Expr&"
        default = " = {}" if one.option == Kind.Optional else ""
        result.append((type_, identifier(one.name), default))
    return result


def result_of(schema: OpSchema) -> tuple[str, str]:
    """The type that the function gives, and its text for the outputs of the call."""
    if schema.outputs and schema.outputs[-1].option == Kind.Variadic:
        return "std::vector<Expr>", "made"
    if schema.min_output <= 1:
        return "Expr", "made[0]"
    parts = ", ".join(f"made[{i}]" for i in range(schema.min_output))
    return f"std::array<Expr, {schema.min_output}>", f"{{{parts}}}"


def function(schema: OpSchema, opset: int) -> Iterator[str]:
    """One operator."""
    inputs, attributes = parameters(schema), attributes_of(schema)
    result, value = result_of(schema)
    is_source = not schema.inputs or schema.inputs[0].option == Kind.Optional
    texts = ["Builder& b"] if is_source else []
    texts += ["size_t outputs"] if value == "made" else []
    has_required = any(one.required for one in attributes)
    for type_, name, default in inputs:
        texts.append(f"{type_} {name}{'' if has_required else default}")
    if attributes:
        default = "" if has_required else " = {}"
        texts.append(f"const {schema.name}Options& options{default}")
    yield f"inline {result} {schema.name}({', '.join(texts)}) {{\n"
    yield f'    Call call{{"", "{schema.name}", {opset}, {{}}, {{}}, '
    yield f"{'outputs' if value == 'made' else max(schema.min_output, 1)}, {{}}}};\n"
    for type_, name, _ in inputs:
        if type_ == "const Expr&":
            yield f"    call.inputs.push_back({name});\n"
        else:
            yield f"    call.inputs.insert(call.inputs.end(), {name}.begin(), {name}.end());\n"
    for one in attributes:
        yield f'    call.attribute("{one.name}", options.{identifier(one.name)});\n'
    made = "b.call(call)" if is_source else "call_of(call)"
    yield f"    std::vector<Expr> made = {made};\n    return {value};\n}}\n\n"


def header(opset: int) -> str:
    """The text of op<opset>.h."""
    text = HEADER.format(opset=opset, version=onnx.__version__)
    for schema in schemas_of(opset).values():
        if has_function(schema):
            text += "".join((*options(schema), *function(schema, opset)))
    return text + FOOTER.format(opset=opset)


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for opset in range(FIRST, onnx.defs.onnx_opset_version() + 1):
        (folder / f"op{opset}.h").write_text(header(opset))


if __name__ == "__main__":
    main()
