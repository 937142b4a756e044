"""Names in annotations that modules import for type checkers only, for `typing.get_type_hints`.

Importing what they name takes longer than importing this package. Therefore, each is the text of an
expression that imports it: get_type_hints evaluates text until it is a type.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class _Name(str):
    """The text of an expression, with the operators of annotations."""

    __slots__ = ()

    def _found(self) -> "Any":
        return eval(self)

    def __getattr__(self, name: str) -> "Any":
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._found(), name)

    def __getitem__(self, arguments: "Any") -> "Any":
        if isinstance(arguments, int | slice):  # a character
            return str.__getitem__(self, arguments)
        return self._found()[arguments]

    def __or__(self, other: "Any") -> "Any":
        return self._found() | other

    def __ror__(self, other: "Any") -> "Any":
        return other | self._found()


def _of(module: str, name: str = "") -> "Any":
    _, *below = module.split(".")
    return _Name(".".join([f"__import__({module!r})", *below, *([name] if name else [])]))


Any = _of("typing", "Any")  # type: ignore[misc]
NoReturn = _of("typing", "NoReturn")
T = _of("typing", "TypeVar('T')")
Callable = _of("collections.abc", "Callable")
Iterable = _of("collections.abc", "Iterable")
Mapping = _of("collections.abc", "Mapping")
Sequence = _of("collections.abc", "Sequence")
CodeType = _of("types", "CodeType")
FunctionType = _of("types", "FunctionType")
ModuleType = _of("types", "ModuleType")
TracebackType = _of("types", "TracebackType")
inspect = _of("inspect")
np = _of("numpy")
onnx = _of("onnx")
os = _of("os")
Graph = _of("sardonyx", "Graph")
Model = _of("sardonyx", "Model")
Opset = _of("sardonyx", "Opset")
Schemas = _of("sardonyx._core", "Schemas")
Tensor = _of("sardonyx", "Tensor")
Value = _of("sardonyx", "Value")
Size = _Name(f"int | {_of('sardonyx', 'Dim')} | None")
Names = _Name(f"int | {Iterable}[str | None]")
