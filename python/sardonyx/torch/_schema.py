"""What is known of PyTorch's overloads: torch makes objects of all arguments when it is asked."""

from __future__ import annotations

import weakref
from typing import Any

from .._core import gives_statistics, is_left_out, means_nothing


class Schema:
    """What a program needs to know of an overload."""

    def __init__(self, overload: Any) -> None:
        schema = overload._schema
        self.packet = schema.name.partition("::")[2]
        self.target = f"{schema.name}.{schema.overload_name or 'default'}"
        # What programs call it: reads of sizes and numbers are Python's own.
        self.target_in_program = _OF_PYTHON.get(self.packet, self.target)
        self.is_mutable = bool(schema.is_mutable)
        # The schema of prims::as_strided claims that it writes, but it makes a view.
        parameters = schema.arguments if self.is_mutable and schema.name != _AS_STRIDED else ()
        self.writes = [
            (i, one.name) for i, one in enumerate(parameters)
            if one.alias_info is not None and one.alias_info.is_write
        ]  # fmt: skip
        # Each parameter, and whether ONNX's operators leave it out.
        self.parameters = [(one.name, is_left_out(one.name)) for one in schema.arguments]
        self.leaves_out = any(left_out for _, left_out in self.parameters)
        self.changes_memory = self.is_mutable or gives_statistics(self.target)
        self.means_nothing = schema.name.startswith("aten::") and means_nothing(self.packet)
        self.is_strided = self.packet.startswith("as_strided")


_AS_STRIDED = "prims::as_strided"
_OF_PYTHON = {
    "sym_size": "py::size", "sym_numel": "py::numel",
    "item": "py::item", "_local_scalar_dense": "py::item",
}  # fmt: skip
# By identity, as to compute the hash of an overload takes long.
_schemas: dict[int, tuple[weakref.ref[Any], Schema]] = {}


def schema_of(overload: Any) -> Schema:
    """The same object each time."""
    key = id(overload)
    found = _schemas.get(key)
    if found is None or found[0]() is not overload:
        reference = weakref.ref(overload, lambda _: _schemas.pop(key, None))
        found = _schemas[key] = (reference, Schema(overload))
    return found[1]
