"""Assignments to items of items: x[i][j] = v, which changes x."""

import ast
import itertools
import linecache
import sys


def chained_subscripts() -> int:
    """How many subscripts stand before the last one of the target that is being assigned to: 1 in
    `x[i][j] = v`, 0 in `x[j] = v`, where the source is not at hand, and before Python 3.11, whose
    code does not say where it stands. To be called by the item assignment of a class that is not
    written in Python."""
    if sys.version_info < (3, 11):
        return 0
    frame = sys._getframe(1)
    positions = frame.f_code.co_positions()
    line, end_line, column, end_column = next(
        itertools.islice(positions, frame.f_lasti // 2, None), (None,) * 4
    )
    if line is None or end_line is None or column is None or end_column is None:
        return 0
    lines = [
        text.encode() for text in linecache.getlines(frame.f_code.co_filename, frame.f_globals)
    ][line - 1 : end_line]
    if len(lines) != end_line - line + 1:
        return 0
    lines[-1] = lines[-1][:end_column]
    lines[0] = lines[0][column:]
    try:
        target = ast.parse(b"(" + b"".join(lines) + b")", mode="eval").body
    except SyntaxError:
        return 0
    count = -1
    while isinstance(target, ast.Subscript):
        count += 1
        target = target.value
    return max(count, 0)
