"""Writes the types of opsets for editors and type checkers, from the onnx package.

    python tools/generate_stubs.py OPSETS.pyi TYPES.pyi

OPSETS.pyi has a class for each version of each domain; each inherits what the version before has
and adds the operators that are new or changed, with their signatures and documentation. TYPES.pyi
has a class for each element type.
"""

import keyword
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import onnx.defs
from enumerations import legal_strings
from onnx.defs import OpSchema
from operator_docs import REPLACEMENTS, attributes, default_value, documentation

OPSETS_HEADER = '''\
"""Types of the opsets, generated from onnx {version}."""

# mypy: ignore-errors
# ruff: noqa

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias, overload

import numpy as np
import numpy.typing as npt
from typing_extensions import deprecated

from ._core import Opset, Tensor

# Arguments that are accepted as tensors: the language makes tensors of numbers, strings and lists.
_Number: TypeAlias = int | float | complex | np.generic
_Value: TypeAlias = Tensor | npt.NDArray[Any] | _Number | str | bytes | Sequence[Any]
# FLOAT.dtype, x.dtype, or the number of TensorProto.DataType.
_ElementType: TypeAlias = int | np.dtype[Any]
'''

TYPES_HEADER = '''\
"""The element types, as type checkers are to see them.

In an annotation `FLOAT["N"]` is FLOAT: what is in the brackets are dimensions. pyright has it so
because of `__class_getitem__`. Calls of a script take arrays, numbers and lists for tensors, and
give arrays for arrays: the classes are protocols, so that all of these fit, and have Any as a base,
so that results fit everywhere. mypy and ty refuse brackets behind a class that is not generic: for
them the names are Any, which takes brackets.
"""

# mypy: ignore-errors
# ruff: noqa

from typing import Any, ClassVar, Literal, Protocol

from ._core import Tensor
from .onnx_types import ElementType

MYPY: bool  # mypy takes it for true

def _is_ty() -> Literal[True]: ...  # and ty this

'''

TYPE_CLASS = '''\
    class {name}(_TensorType, Protocol, Any):
        """A tensor of {words}: `{name}` is a scalar, `{name}[2, "N"]` has the dimensions 2 and N.

        `{name}[...]` has any shape.
        """

        def __class_getitem__(cls, shape: Any) -> Any: ...
'''

BASE_CLASS = """\
    class _TensorType(Tensor):
        dtype: ClassVar[ElementType]  # of FLOAT itself, too
"""

ATTRIBUTE_TYPES = {
    "FLOAT": "float",
    "INT": "int",
    "STRING": "str",
    "FLOATS": "Sequence[float]",
    "INTS": "Sequence[int]",
    "STRINGS": "Sequence[str]",
    "GRAPH": "Callable[..., Any]",
}
# The attributes that hold the number of an element type.
ELEMENT_TYPES = frozenset(
    ("to", "dtype", "output_dtype", "output_datatype", "stash_type", "precision")
)
DOMAINS = ("", "ai.onnx.ml", "ai.onnx.preview", "ai.onnx.preview.training")
# Split with this many results has them one by one in its type.
COUNTED_SPLITS = (2, 3, 4)


def attribute_type(schema: OpSchema, attribute: OpSchema.Attribute) -> str:
    """The type of an attribute's values."""
    kind = attribute.type.name
    if kind == "INT" and attribute.name in ELEMENT_TYPES:
        return "_ElementType"
    legal = legal_strings(schema.domain, schema.name, attribute.name, schema.since_version)
    if legal and kind in ("STRING", "STRINGS"):
        literal = f"Literal[{', '.join(map(repr, legal))}]"
        return literal if kind == "STRING" else f"Sequence[{literal}]"
    return ATTRIBUTE_TYPES.get(kind, "Any")


def attribute_parameter(schema: OpSchema, attribute: OpSchema.Attribute) -> str:
    """An attribute as a parameter that is given by name."""
    type_ = attribute_type(schema, attribute)
    if attribute.required:
        return f"{attribute.name}: {type_}"
    default = default_value(attribute)
    if type_ != "Any":
        type_ += " | None"  # None leaves it out
    return f"{attribute.name}: {type_} = {default!r}"


def parameters(schema: OpSchema, **types: str) -> str:
    """The parameters of a method: inputs by position or name, attributes by name."""
    option = OpSchema.FormalParameterOption
    result = ["self"]
    is_open = False
    may_be_left_out = False
    for one in schema.inputs:
        may_be_left_out = may_be_left_out or one.option == option.Optional
        if one.option == option.Variadic:
            result.append(f"*{one.name}: _Value | None")
            is_open = True
        else:
            result.append(f"{one.name}: _Value" + (" | None = None" if may_be_left_out else ""))
    # Split-1 has an input and an attribute of one name: it stands for both.
    taken = {one.name for one in schema.inputs}
    named = [
        one
        for one in attributes(schema)
        if not keyword.iskeyword(one.name) and one.name not in taken
    ]
    if named and not is_open:
        result.append("*")
    for one in named:
        if one.name in types:
            result.append(f"{one.name}: {types[one.name]}")
        else:
            result.append(attribute_parameter(schema, one))
    return ", ".join(result)


def result_type(schema: OpSchema, output: OpSchema.FormalParameter) -> str:
    """Tensor, a list of them, or Any where it may be one or the other."""
    constraints = {one.type_param_str: one.allowed_type_strs for one in schema.type_constraints}
    names = constraints.get(output.type_str, [output.type_str])
    kinds = {re.split(r"\(", name)[0] for name in names}
    if schema.name == "Identity" or kinds == {"tensor"}:
        return "Tensor"
    return "list[Tensor]" if kinds == {"seq"} and schema.name != "ZipMap" else "Any"


def results(schema: OpSchema) -> str:
    """The results of a call: optional ones are only returned if they are unpacked."""
    if schema.max_output > 1000:
        return "Any"
    count = max(schema.min_output, 1)
    types = [result_type(schema, one) for one in schema.outputs[:count]]
    return types[0] if count == 1 else f"tuple[{', '.join(types)}]"


def method(schema: OpSchema, versions: list[int]) -> Iterator[str]:
    """The lines of one operator."""
    text = documentation(schema, versions).replace("\\", "\\\\").replace('"""', "'''")
    if schema.deprecated:
        yield f'    @deprecated("use {REPLACEMENTS[schema.name]}")'
    docstring = "\n".join(line and f"        {line}" for line in text.split("\n")).lstrip()
    head = f"    def {schema.name}("
    if schema.name == "Split" and "num_outputs" in schema.attributes:
        for count in COUNTED_SPLITS:
            given = parameters(schema, num_outputs=f"Literal[{count}]")
            types = ", ".join(["Tensor"] * count)
            yield f"    @overload\n{head}{given}) -> tuple[{types}]: ..."
        yield "    @overload"
    yield f"{head}{parameters(schema)}) -> {results(schema)}:"
    yield f'        """{docstring}\n        """'


def class_name(domain: str, version: int) -> str:
    return f"Opset{'_' + domain.replace('.', '_') if domain else ''}{version}"


def classes() -> Iterator[str]:
    """The lines of all classes and of the variables of their types."""
    by_version: dict[tuple[str, int], list[OpSchema]] = defaultdict(list)
    versions_of: dict[tuple[str, str], list[int]] = defaultdict(list)
    for schema in onnx.defs.get_all_schemas_with_history():
        by_version[schema.domain, schema.since_version].append(schema)
        versions_of[schema.domain, schema.name].append(schema.since_version)
    for domain in DOMAINS:
        versions = [version for one, version in by_version if one == domain]
        newest = onnx.defs.onnx_opset_version() if not domain else max(versions, default=0)
        base = "Opset"
        for version in range(1, newest + 1):
            name = class_name(domain, version)
            yield f"\nclass {name}({base}):"
            schemas = sorted(by_version[domain, version], key=lambda schema: schema.name)
            for schema in schemas:
                yield from method(schema, sorted(versions_of[domain, schema.name]))
            if not schemas:
                yield "    pass"
            yield f"\n{name[0].lower()}{name[1:]}: {name}"
            base = name


def opsets() -> str:
    lines = [OPSETS_HEADER.format(version=onnx.__version__), *classes()]
    return "\n".join(lines) + "\n"


def element_types() -> str:
    table = Path(__file__).parents[1] / "src/types/element_types.def"
    row = re.compile(r'SDX_ELEMENT_TYPE\(\w+, \d+, "(\w+)", "(\w+)"')
    names = [(found[1], found[2]) for found in row.finditer(table.read_text())]
    anything = "".join(f"    {name}: Any\n" for name, _ in names)
    listed = "\n".join(TYPE_CLASS.format(name=name, words=words) for name, words in names)
    return f"{TYPES_HEADER}if MYPY or _is_ty():\n{anything}else:\n{BASE_CLASS}\n{listed}"


def main() -> None:
    Path(sys.argv[1]).write_text(opsets(), encoding="utf-8")
    Path(sys.argv[2]).write_text(element_types(), encoding="utf-8")


if __name__ == "__main__":
    main()
