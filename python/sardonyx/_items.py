"""What stands in the source where a tensor is asked: assignments to items of items, x[i][j] = v,
which change x, and sums of nothing.

Python tells `__setitem__` and `__getitem__` nothing of the statement that calls them, so the
calling frame is the only one to ask. Where its source is not at hand, `x[i][j] = v` is taken for an
assignment to a tensor of its own; `x[i, j] = v` needs no source.
"""

import ast
import builtins
import itertools
import linecache
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType


def _expression(frame: "FrameType") -> "ast.expr | None":
    """What the frame is evaluating; None where the source is not at hand, and before Python 3.11,
    whose code does not say where it stands."""
    if sys.version_info < (3, 11):
        return None
    positions = frame.f_code.co_positions()
    line, end_line, column, end_column = next(
        itertools.islice(positions, frame.f_lasti // 2, None), (None,) * 4
    )
    if line is None or end_line is None or column is None or end_column is None:
        return None
    lines = [
        text.encode() for text in linecache.getlines(frame.f_code.co_filename, frame.f_globals)
    ][line - 1 : end_line]
    if len(lines) != end_line - line + 1:
        return None
    lines[-1] = lines[-1][:end_column]
    lines[0] = lines[0][column:]
    try:
        return ast.parse(b"(" + b"".join(lines) + b")", mode="eval").body
    except SyntaxError:
        return None


def chained_subscripts() -> int:
    """How many subscripts stand before the last one of the target that is being assigned to: 1 in
    `x[i][j] = v`, 0 in `x[j] = v`, and where that is not known. To be called by the item
    assignment of a class that is not written in Python."""
    target = _expression(sys._getframe(1))
    count = -1
    while isinstance(target, ast.Subscript):
        count += 1
        target = target.value
    return max(count, 0)


def is_summed() -> bool:
    """Whether the frame that asks for an item is in a call of the built-in `sum`."""
    frame = sys._getframe(1)
    call = _expression(frame)
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        return False
    name = call.func.id
    for names in (frame.f_locals, frame.f_globals, frame.f_builtins):
        if name in names:
            return names[name] is builtins.sum
    return False
