"""The operators that an export knows: those of the library, and the user's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._script import OnnxFunction, script

_own: dict[str, tuple[str, OnnxFunction]] = {}


def overloads() -> dict[str, tuple[str, Any]]:
    """Each overload, such as `aten::add.Tensor`, as its name in scripts and its function."""
    from .aten import overloads as library

    known: dict[str, tuple[str, Any]] = library()
    return {**known, **_own} if _own else known


def own_overloads() -> set[str]:
    """Those that the user has declared."""
    return set(_own)


def own_names() -> set[str]:
    """What scripts call them."""
    return {name for name, _ in _own.values()}


def operator(name: str) -> Callable[[Any], OnnxFunction]:
    """Declares the function below as what an operator means: `@operator("mylib::op")`.

    Its parameters are those of the operator's schema. It wins over the library's.
    """
    space, colons, rest = name.partition("::")
    if not colons or not space or not rest:
        raise ValueError(f"`{name}` is not the name of an operator; write it as `namespace::name`")
    overload = rest if "." in rest else f"{rest}.default"

    def declare(function: Any) -> OnnxFunction:
        from .aten.declare import NAMES, op

        made: OnnxFunction
        if isinstance(function, OnnxFunction):
            made = function
        else:
            made = script(inline=True, default_opset=op, caller_opset=True)(function)
        packet = rest.partition(".")[0]
        called = f"{space}_{packet}" if f"{space}_{packet}" not in NAMES else f"{space}_{rest}"
        called = called.replace(".", "_")
        _own[f"{space}::{overload}"] = (called, made)
        NAMES[called] = made
        return made

    return declare
