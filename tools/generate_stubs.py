"""Writes the types of the opsets for editors and type checkers, from the installed onnx package.

    python tools/generate_stubs.py OUT.pyi

One class for each version of each domain; each inherits what the version before has and adds the
operators that are new or changed, with their signatures and documentation.
"""

import keyword
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import onnx.defs
from onnx.defs import OpSchema

HEADER = '''\
"""Types of the opsets, generated from onnx {version}."""

# mypy: ignore-errors
# ruff: noqa

from collections.abc import Callable, Sequence
from typing import Any

from ._core import Op, Opset, Tensor

_Input = Any  # a Tensor, a NumPy array, a number, a string, or a list of them
'''

ATTRIBUTE_TYPES = {
    "FLOAT": "float",
    "INT": "int",
    "STRING": "str",
    "FLOATS": "Sequence[float]",
    "INTS": "Sequence[int]",
    "STRINGS": "Sequence[str]",
    "GRAPH": "Callable[..., Any]",
}
DOMAINS = ("", "ai.onnx.ml", "ai.onnx.preview", "ai.onnx.preview.training")


def parameters(schema: OpSchema) -> str:
    """The parameters of a method: inputs by position or name, attributes by name."""
    option = OpSchema.FormalParameterOption
    result = ["self"]
    is_open = False
    may_be_left_out = False
    for one in schema.inputs:
        may_be_left_out = may_be_left_out or one.option == option.Optional
        if one.option == option.Variadic:
            result.append(f"*{one.name}: _Input")
            is_open = True
        else:
            result.append(f"{one.name}: _Input" + (" = None" if may_be_left_out else ""))
    # Split-1 has an input and an attribute of one name: it stands for both.
    taken = {one.name for one in schema.inputs}
    attributes = [
        one
        for one in schema.attributes.values()
        if not keyword.iskeyword(one.name) and one.name not in taken
    ]
    if attributes and not is_open:
        result.append("*")
    for one in attributes:
        type_ = ATTRIBUTE_TYPES.get(one.type.name.split(".")[-1], "Any")
        result.append(f"{one.name}: {type_}" if one.required else f"{one.name}: {type_} = ...")
    return ", ".join(result)


def results(schema: OpSchema) -> str:
    """What a call gives: optional results only come when they are unpacked."""
    if schema.max_output > 1000:
        return "Any"
    count = max(schema.min_output, 1)
    return "Tensor" if count == 1 else f"tuple[{', '.join(['Tensor'] * count)}]"


def method(schema: OpSchema) -> Iterator[str]:
    """The lines of one operator."""
    yield f"    def {schema.name}({parameters(schema)}) -> {results(schema)}:"
    text = schema.doc.strip().replace("\\", "\\\\").replace('"""', "'''")
    yield '        """' + "\n".join(line.rstrip() for line in text.splitlines())
    yield f"\n        Since version {schema.since_version}."
    yield '        """'


def class_name(domain: str, version: int) -> str:
    return f"Opset{'_' + domain.replace('.', '_') if domain else ''}{version}"


def classes() -> Iterator[str]:
    """The lines of all classes and of the variables of their types."""
    by_version: dict[tuple[str, int], list[OpSchema]] = defaultdict(list)
    for schema in onnx.defs.get_all_schemas_with_history():
        by_version[schema.domain, schema.since_version].append(schema)
    for domain in DOMAINS:
        versions = [version for one, version in by_version if one == domain]
        newest = onnx.defs.onnx_opset_version() if not domain else max(versions, default=0)
        base = "Opset"
        for version in range(1, newest + 1):
            name = class_name(domain, version)
            yield f"\nclass {name}({base}):"
            schemas = sorted(by_version[domain, version], key=lambda schema: schema.name)
            for schema in schemas:
                if schema.deprecated:
                    yield f"    {schema.name}: None"
                else:
                    yield from method(schema)
            if not schemas:
                yield "    pass"
            yield f"\n{name[0].lower()}{name[1:]}: {name}"
            base = name


def main() -> None:
    lines = [HEADER.format(version=onnx.__version__), *classes()]
    Path(sys.argv[1]).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
