"""Tensors as notebooks show them."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._core import Tensor

# If there are more rows or columns, those in the middle are left out.
_SHOWN = 20


def _shown(size: int) -> "list[int]":
    """The indices that are shown; -1 stands for those that are left out."""
    if size <= _SHOWN:
        return list(range(size))
    half = _SHOWN // 2
    return [*range(half), -1, *range(size - half, size)]


def _cell(array: "Any", *index: int) -> str:
    import html

    return "<td>" + ("&hellip;" if -1 in index else html.escape(str(array[index]))) + "</td>"


def table(tensor: "Tensor") -> str:
    """A table of the elements under the type; the text that `repr` gives, from rank 3 on."""
    import html

    from ._core import type_text

    caption = f"<caption>{html.escape(type_text(tensor))}</caption>"
    if tensor.rank > 2:
        return f"<pre>{html.escape(repr(tensor))}</pre>"
    array: Any = tensor.value.reshape((1,) * (2 - tensor.rank) + tensor.shape)
    rows = "".join(
        "<tr>" + "".join(_cell(array, i, j) for j in _shown(array.shape[1])) + "</tr>"
        for i in _shown(array.shape[0])
    )
    return f"<table>{caption}{rows}</table>"
