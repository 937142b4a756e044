"""The operators that an export knows: those of the library, and the user's own."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from .._script import OnnxFunction, script

_own: dict[str, tuple[str, OnnxFunction]] = {}
# The overloads that functions have been declared as, wherever they are.
_declared: weakref.WeakKeyDictionary[OnnxFunction, list[str]] = weakref.WeakKeyDictionary()
# The modules that are being loaded as libraries of one export, innermost last, and what they have
# declared: that is not for other exports.
_loading: list[tuple[str, list[OnnxFunction]]] = []


def overloads() -> dict[str, tuple[str, Any]]:
    """Each overload, such as `aten::add.Tensor`, as its name in scripts and its function."""
    from .aten import overloads as library

    known: dict[str, tuple[str, Any]] = library()
    return {**known, **_own} if _own else known


def own_overloads() -> dict[str, tuple[str, OnnxFunction]]:
    """Those that the user has declared for all exports."""
    return dict(_own)


def declared_overloads(function: OnnxFunction) -> list[str]:
    """The overloads that the function has been declared as."""
    return _declared.get(function, [])


@contextlib.contextmanager
def loading(module: str) -> Iterator[list[OnnxFunction]]:
    """Collects what a module declares while it is run, instead of declaring it for all exports."""
    found: list[OnnxFunction] = []
    _loading.append((module, found))
    try:
        yield found
    finally:
        _loading.pop()


def overload_of(name: str) -> str:
    """The overload that a user means by `mylib::op` or `mylib::op.overload`."""
    space, colons, rest = name.partition("::")
    if not colons or not space or not rest:
        raise ValueError(f"`{name}` is not the name of an operator; write it as `namespace::name`")
    return f"{space}::{rest}" if "." in rest else f"{space}::{rest}.default"


def inline_script(function: Any) -> OnnxFunction:
    """A function as a script whose calls run in place."""
    from .aten.declare import op

    if isinstance(function, OnnxFunction):
        return function
    made: OnnxFunction = script(inline=True, default_opset=op, caller_opset=True)(function)
    return made


def operator(name: str) -> Callable[[Any], OnnxFunction]:
    """Declares the function below as what an operator means: `@operator("mylib::op")`.

    Its parameters are those of the operator's schema. It wins over the library's.
    """
    overload = overload_of(name)

    def declare(function: Any) -> OnnxFunction:
        from .aten.declare import NAMES

        made = inline_script(function)
        _declared.setdefault(made, []).append(overload)
        if _loading and made.__module__ == _loading[-1][0]:
            _loading[-1][1].append(made)
            return made
        space, rest = name.split("::", 1)
        packet = rest.partition(".")[0]
        called = f"{space}_{packet}" if f"{space}_{packet}" not in NAMES else f"{space}_{rest}"
        called = called.replace(".", "_")
        _own[overload] = (called, made)
        NAMES[called] = made
        return made

    return declare
