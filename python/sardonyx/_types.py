"""Types and dimensions of a model's values: strings with members and arithmetic."""

from ._core import dim_operation, dim_substitute, dim_symbols, type_parts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    Size: TypeAlias = "int | Dim | None"
else:
    from ._type_names import Any, Callable, Size


def _dim(text: "Any") -> "Any":
    return Dim(text) if type(text) is str else text


def _operation(symbol: str, text: "Callable[[Any, Any], Any] | None" = None) -> "Any":
    def method(self: "Dim", other: "Any") -> "Any":
        if type(other) is str and text is not None:
            return text(self, other)
        if not isinstance(other, int | Dim):
            return NotImplemented
        return _dim(dim_operation(symbol, self, other))

    return method


def _reflected(symbol: str) -> "Any":
    def method(self: "Dim", other: "Any") -> "Any":
        if type(other) is str:  # texts are put together as texts are
            return NotImplemented if symbol != "+" else other + str(self)
        if not isinstance(other, int):
            return NotImplemented
        return _dim(dim_operation(symbol, other, self))

    return method


class Dim(str):
    """A dimension with a name, such as `N` or `2*N+1`: a string that supports arithmetic.

    A result is an int, a Dim, or None if it is unknown.
    """

    __slots__ = ()
    __module__ = "sardonyx"

    def __new__(cls, text: str) -> "Dim":
        """Of any text that means one: `Dim("1 + N") == "N+1"`; another one is a name."""
        canonical = dim_substitute(text, {})
        return str.__new__(cls, canonical if isinstance(canonical, str) else text)

    def __getnewargs__(self) -> "tuple[str]":
        return (str(self),)

    @property
    def symbols(self) -> "tuple[str, ...]":
        """The names that it contains."""
        names: tuple[str, ...] = dim_symbols(self)
        return names

    def substitute(self, **sizes: "Any") -> "Size":
        """Returns the dimension with names replaced by numbers or other dimensions."""
        result: Size = _dim(dim_substitute(self, sizes))
        return result

    __add__, __radd__ = _operation("+", str.__add__), _reflected("+")
    __sub__, __rsub__ = _operation("-"), _reflected("-")
    __mul__, __rmul__ = _operation("*"), _reflected("*")
    __floordiv__, __rfloordiv__ = _operation("//"), _reflected("//")
    __mod__, __rmod__ = _operation("%"), _reflected("%")

    def __neg__(self) -> "Size":
        result: Size = _dim(dim_operation("-", 0, self))
        return result


class Type(str):
    """The type of a value: a string such as `FLOAT[N, 4]` or `Sequence[INT64]`, with members."""

    __slots__ = ("_parts",)
    __module__ = "sardonyx"
    if TYPE_CHECKING:  # Python looks for names of class annotations in the package
        _parts: tuple[Any, ...]

    def __new__(cls, text: str) -> "Type":
        """Of any text that means one; ValueError where it means none."""
        parts = type_parts(text)
        made = str.__new__(cls, parts[0])
        made._parts = parts
        return made

    def __getnewargs__(self) -> "tuple[str]":
        return (str(self),)

    @property
    def kind(self) -> str:
        """One of "tensor", "sparse_tensor", "sequence", "optional" and "map"."""
        return str(self._parts[1])

    @property
    def element_type(self) -> "str | None":
        """Of a tensor: "FLOAT", "INT64", ...; None where it is not known."""
        name: str | None = self._parts[2]
        return name

    @property
    def dtype(self) -> "Any":
        """Of a tensor: the numpy.dtype of its elements."""
        return self._parts[3]

    @property
    def shape(self) -> "tuple[Size, ...] | None":
        """Of a tensor: its dimensions; None where the rank is not known."""
        dims = self._parts[4]
        return None if dims is None else tuple(map(_dim, dims))

    @property
    def element(self) -> "Type | None":
        """The type of the elements of a sequence or an optional, or of the values of a map."""
        text = self._parts[5]
        return None if text is None or text == "?" else Type(text)

    @property
    def key(self) -> "str | None":
        """The element type of a map's keys."""
        name: str | None = self._parts[6]
        return name
