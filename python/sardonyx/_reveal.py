"""reveal_type, as it runs in Python."""

import sys

from ._core import type_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FunctionType
    from typing import TypeVar

    T = TypeVar("T")
else:
    from ._type_names import CodeType, FunctionType, T


def reveal_type(value: "T", /) -> "T":
    """Prints the type of a tensor, or what a value of Python is, to standard error."""
    print(type_text(value), file=sys.stderr)
    return value


def _names(code: "CodeType") -> "set[str]":
    names = set(code.co_names)
    for constant in code.co_consts:
        if type(constant) is type(code):
            names |= _names(constant)
    return names


def provide(function: "FunctionType") -> None:
    """Lets a script call `reveal_type` without an import when it runs as Python, too."""
    if "reveal_type" in _names(function.__code__):
        function.__globals__.setdefault("reveal_type", reveal_type)
