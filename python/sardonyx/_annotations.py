"""The annotations of a script, as they are used when it runs as Python."""

from ._core import Signature, element_type_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_SCALARS = {"int", "float", "str", "bool", "TensorProto", "ndarray"}
_LISTS = {"list", "List", "Sequence", "tuple", "Tuple", "Iterable"}


def _name(annotation: "Any") -> str:
    name = getattr(annotation, "__name__", None) or getattr(annotation, "_name", None)
    return str(name)


def _arguments(annotation: "Any") -> "tuple[Any, ...]":
    arguments = getattr(annotation, "__args__", ())
    return tuple(one for one in arguments if one is not type(None))


def is_attribute(annotation: "Any") -> bool:
    """Whether a parameter with this annotation is an attribute, not an input."""
    arguments = _arguments(annotation)
    if arguments:
        origin = getattr(annotation, "__origin__", None)
        is_list = origin is not None and _name(origin) in _LISTS
        if is_list or len(arguments) == 1:
            return is_attribute(arguments[0])
        return False
    return _name(annotation) in _SCALARS


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


def _element_type(annotation: "Any") -> int:
    arguments = _arguments(annotation)
    if len(arguments) == 1:
        return _element_type(arguments[0])
    return element_type_number(annotation) if isinstance(annotation, type) else 0


def _tensor_type(annotation: "Any") -> "Any":
    """The tensor type that an annotation is, or an optional one; None for all others."""
    arguments = _arguments(annotation)
    if len(arguments) == 1 and _name(getattr(annotation, "__origin__", None)) not in _LISTS:
        return _tensor_type(arguments[0])
    is_tensor = isinstance(annotation, type) and element_type_number(annotation)
    return annotation if is_tensor and hasattr(annotation, "shape") else None


def _results(annotation: "Any") -> "tuple[Any, ...]":
    if isinstance(annotation, tuple):
        return annotation
    origin = getattr(annotation, "__origin__", None)
    if origin is tuple:
        return _arguments(annotation)
    return (annotation,)


# How arguments reach a parameter.
POSITIONAL_ONLY, NORMAL, KEYWORD_ONLY = range(3)


class Parameter:
    """A parameter of a script, with what a call needs to know of it."""

    __slots__ = ("default", "element_type", "kind", "name", "takes_number")

    def __init__(
        self, name: str, element_type: "int | None", default: "Any", kind: int, takes_number: bool
    ) -> None:
        self.name = name
        self.element_type = element_type  # 0 where it is not said, None for an attribute
        self.takes_number = takes_number  # an attribute that is an int or a float
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

    def element_type(name: str) -> "int | None":
        annotation = _evaluate(function, function.__annotations__.get(name))
        return None if is_attribute(annotation) else _element_type(annotation)

    def takes_number(name: str) -> bool:
        annotation = _evaluate(function, function.__annotations__.get(name))
        return any(_name(one) in ("int", "float") for one in _arguments(annotation) or [annotation])

    parameters: list[Parameter] = []
    types: list[tuple[str, Any, bool, bool]] = []
    is_method = hasattr(function, "__self__")  # it gets its first argument from elsewhere
    for i, name in enumerate(names):
        if is_method and i == 0:
            continue
        kind = POSITIONAL_ONLY if i < code.co_posonlyargcount else NORMAL
        kind = KEYWORD_ONLY if i >= code.co_argcount else kind
        annotation = _tensor_type(_evaluate(function, function.__annotations__.get(name)))
        has_shape = getattr(annotation, "shape", None) is not None
        types.append((name, annotation, kind == KEYWORD_ONLY, has_shape))
        parameters.append(
            Parameter(name, element_type(name), defaults.get(name), kind, takes_number(name))
        )
    has_variadic = code.co_flags & 0x04  # inspect.CO_VARARGS, without the import
    variadic = (element_type(code.co_varnames[count]) or 0) if has_variadic else None
    returned = _evaluate(function, function.__annotations__.get("return"))
    has_types = any(one[1] is not None for one in types)
    signature = Signature(function.__name__, types) if has_types else None
    return parameters, variadic, tuple(_element_type(one) for one in _results(returned)), signature
