"""The documentation of an operator as Markdown, from its schema in the onnx package.

The one text of stubs, `help(op.Conv)` and editors: generate_stubs.py and generate_ops.py both put
it where their readers find it.
"""

import re
import textwrap
from collections.abc import Iterator, Sequence

import numpy as np
import onnx.helper
from onnx.defs import OpSchema

# Generic signs of the schemas' prose that Markdown would take for HTML.
_MARKUP = re.compile(r"<(?=[A-Za-z/])[^<>\n]*>")
# Text that the standard's page generator adds to some operators, with a dead link.
_OPTIONAL_NOTE = re.compile(r"This operator has \*\*optional\*\* inputs/outputs\..*", re.DOTALL)
# The text of a deprecated operator.
REPLACEMENTS = {
    "GroupNormalization": "GroupNormalization of opset 21",
    "Scatter": "ScatterElements",
    "TreeEnsembleClassifier": "TreeEnsemble",
    "TreeEnsembleRegressor": "TreeEnsemble",
    "Upsample": "Resize",
}
_ATTRIBUTE_WORDS = {
    "FLOAT": "float",
    "INT": "int",
    "STRING": "string",
    "TENSOR": "tensor",
    "GRAPH": "graph",
    "FLOATS": "list of floats",
    "INTS": "list of ints",
    "STRINGS": "list of strings",
    "TENSORS": "list of tensors",
    "GRAPHS": "list of graphs",
    "SPARSE_TENSOR": "sparse tensor",
    "TYPE_PROTO": "type",
}


def clean(text: str) -> str:
    """Prose of a schema as Markdown: no HTML, no common indentation, no trailing spaces."""
    text = textwrap.dedent(text.replace('\\"', '"').replace("\t", "    ")).strip()
    lines = []
    is_code = False
    for line in text.splitlines():
        is_fence = line.lstrip().startswith("```")
        is_code = is_code != is_fence
        if not is_code and not is_fence and not line.startswith("    "):
            line = _without_markup(line)
        lines.append(line.rstrip())
    if is_code:
        lines.append("```")
    return "\n".join(lines)


def _without_markup(line: str) -> str:
    """The line without HTML: breaks and emphasis as Markdown, the rest as code."""
    parts = line.split("`")
    for i in range(0, len(parts), 2):  # outside of code
        part = re.sub(r"<br ?/?>", "\n", parts[i])
        part = re.sub(r"</?[ib]>", "*", part)
        parts[i] = _MARKUP.sub(lambda found: f"`{found[0]}`", part)
    return "`".join(parts)


def default_value(attribute: OpSchema.Attribute) -> object:
    """The default as a Python value; None: it has none."""
    proto = attribute.default_value
    if proto.type == onnx.AttributeProto.UNDEFINED:
        return None
    value = onnx.helper.get_attribute_value(proto)
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, float):
        return float(str(np.float32(value)))  # the shortest text that gives this float32
    if isinstance(value, Sequence) and not isinstance(value, str):
        return tuple(one.decode() if isinstance(one, bytes) else one for one in value)
    return value


def attributes(schema: OpSchema) -> list[OpSchema.Attribute]:
    """By name, the required ones first; the onnx package keeps no other order."""
    found = sorted(schema.attributes.items())
    return [a for _, a in found if a.required] + [a for _, a in found if not a.required]


def link(schema: OpSchema) -> str:
    """The operator's page of onnx.ai."""
    domain = schema.domain.replace(".", "")
    return f"https://onnx.ai/onnx/operators/onnx_{domain}_{schema.name}.html"


def _item(name: str, words: str, text: str) -> str:
    head = f"- `{name}`" + (f" ({words})" if words else "")
    text = clean(text)
    return head + (f": {text}" if text else "").replace("\n", "\n  ").replace("\n  \n", "\n\n")


def _parameters(parameters: Sequence[OpSchema.FormalParameter]) -> Iterator[str]:
    option = OpSchema.FormalParameterOption
    for one in parameters:
        more = {option.Optional: ", optional", option.Variadic: ", any number"}
        yield _item(one.name, one.type_str + more.get(one.option, ""), one.description)


def _attributes(schema: OpSchema) -> Iterator[str]:
    for one in attributes(schema):
        words = _ATTRIBUTE_WORDS[one.type.name]
        default = default_value(one)
        if one.required:
            words += ", required"
        elif default is not None:
            words += f", default {default!r}"
        yield _item(one.name, words, one.description)


def _constraints(schema: OpSchema) -> Iterator[str]:
    for one in schema.type_constraints:
        types = ", ".join(sorted(one.allowed_type_strs))
        yield f"- `{one.type_param_str}`: {types}"


def _versions(schema: OpSchema, versions: Sequence[int]) -> str:
    domain = schema.domain or "ai.onnx"
    others = [str(one) for one in versions if one != schema.since_version]
    text = f"Since version {schema.since_version} of {domain}"
    return text + (f"; other versions: {', '.join(others)}." if others else ".")


def documentation(schema: OpSchema, versions: Sequence[int]) -> str:
    """The standard's description of an operator, one paragraph or list for each part."""
    parts = []
    if schema.deprecated:
        parts.append(f"**Deprecated**: use {REPLACEMENTS[schema.name]}.")
    prose = clean(_OPTIONAL_NOTE.sub("", schema.doc or ""))
    if prose:
        parts.append(prose)
    lists = (
        ("Inputs", _parameters(schema.inputs)),
        ("Outputs", _parameters(schema.outputs)),
        ("Attributes", _attributes(schema)),
        ("Types", _constraints(schema)),
    )
    for title, lines in lists:
        text = "\n".join(lines)
        if text:
            parts.append(f"**{title}**\n\n{text}")
    parts.append(f"{_versions(schema, versions)}\n<{link(schema)}>")
    return re.sub(r"\n{3,}", "\n\n", "\n\n".join(parts))
