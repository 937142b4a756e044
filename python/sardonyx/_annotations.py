"""The annotations of a script, as they are used when it runs as Python."""

from ._core import Annotation, Signature, read_annotation, result_types

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any
else:
    from ._type_names import Any, Callable


def _evaluate(function: "Callable[..., Any]", annotation: "Any") -> "Any":
    """A string annotation as what it says; None when it cannot be evaluated here.

    With `from __future__ import annotations`, one in quotes is a string in a string.
    """
    if not isinstance(annotation, str):
        return annotation
    cells = function.__closure__ or ()
    names = dict(zip(function.__code__.co_freevars, cells, strict=False))
    scope = {name: cell.cell_contents for name, cell in names.items()}
    try:
        value = eval(annotation, function.__globals__, scope)
        return eval(value, function.__globals__, scope) if isinstance(value, str) else value
    except Exception:
        return None


# How arguments reach a parameter.
POSITIONAL_ONLY, NORMAL, KEYWORD_ONLY = range(3)


class Parameter:
    """A parameter of a script, with what a call needs to know of it."""

    __slots__ = (
        "default",
        "element_type",
        "is_sequence",
        "kind",
        "map_value_type",
        "name",
        "takes_number",
    )

    def __init__(self, name: str, said: Annotation, default: "Any", kind: int) -> None:
        self.name = name
        self.element_type = said.element_type  # 0 where it is not said, None for an attribute
        self.is_sequence = said.is_sequence  # of tensors of that element type
        self.takes_number = said.takes_number  # an attribute that is an int or a float
        self.map_value_type = said.map_value_type  # 0 where it is no map
        self.default = default
        self.kind = kind


def read_signature(
    function: "Callable[..., Any]",
) -> "tuple[list[Parameter], int | None, tuple[int, ...], Signature | None]":
    """The parameters, the element types of what `*args` takes and of the results, and the types.

    The second is None where there is no `*args`, the last where no parameter has a tensor type.
    """
    code = function.__code__
    count = code.co_argcount + code.co_kwonlyargcount
    names = code.co_varnames[:count]
    defaults = dict(function.__kwdefaults__ or {})
    values = function.__defaults__ or ()
    with_default = names[code.co_argcount - len(values) : code.co_argcount]
    defaults.update(zip(with_default, values, strict=True))

    def annotation_of(name: str) -> Annotation:
        return read_annotation(_evaluate(function, function.__annotations__.get(name)))

    parameters: list[Parameter] = []
    types: list[tuple[str, Annotation, bool]] = []
    is_method = hasattr(function, "__self__")  # it gets its first argument from elsewhere
    for i, name in enumerate(names):
        if is_method and i == 0:
            continue
        kind = POSITIONAL_ONLY if i < code.co_posonlyargcount else NORMAL
        kind = KEYWORD_ONLY if i >= code.co_argcount else kind
        said = annotation_of(name)
        types.append((name, said, kind == KEYWORD_ONLY))
        parameters.append(Parameter(name, said, defaults.get(name), kind))
    has_variadic = code.co_flags & 0x04  # inspect.CO_VARARGS, without the import
    variadic = (annotation_of(code.co_varnames[count]).element_type or 0) if has_variadic else None
    results = result_types(_evaluate(function, function.__annotations__.get("return")))
    signature = Signature(function.__name__, types)
    return parameters, variadic, results, signature if signature.has_types else None
