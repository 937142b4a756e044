"""The source of scripts that are not in files: notebook cells and `python -c`."""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType, FunctionType
    from typing import Any


def shown_name(path: str) -> str:
    """The name of a source in messages: `Cell In[5]` for a notebook cell, else its path."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    name_of = getattr(getattr(shell, "compile", None), "format_code_name", None)
    name = name_of(path) if name_of is not None else None
    return " ".join(name) if name else path


def _codes(code: "CodeType") -> "Iterator[CodeType]":
    yield code
    for constant in code.co_consts:
        if isinstance(constant, type(code)):
            yield from _codes(constant)


def text_of_command(function: "FunctionType") -> "str | None":
    """The text of `python -c TEXT` if the function is made by it."""
    code = function.__code__
    words = getattr(sys, "orig_argv", ())
    if code.co_filename != "<string>" or "-c" not in words:
        return None
    place = words.index("-c") + 1
    text = words[place] if place < len(words) else ""
    try:
        whole = compile(text, "<string>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return None
    return text if code in _codes(whole) else None


def _keep(name: str, text: str) -> None:
    """Stores a text where Python and the compiler look for it; tracebacks show its lines, too."""
    import linecache

    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)


_texts_run = 0


def run_text(text: str, known: "dict[str, Any] | None" = None) -> "dict[str, Any]":
    """The names that a Python text defines, beside those that it knows."""
    global _texts_run
    _texts_run += 1
    name = f"<script {_texts_run}>"
    _keep(name, text)
    names: dict[str, Any] = {**(known or {}), "__name__": name}
    exec(compile(text, name, "exec", dont_inherit=True), names)
    return names


def keep_text(function: "FunctionType", path: str, line: int, source: str) -> None:
    """Gives a function the text that it was made from, which is in no file here."""
    name = f"<{path}: {function.__qualname__} {hash((path, line, source)):x}>"
    _keep(name, "\n" * (line - 1) + source)
    function.__code__ = function.__code__.replace(co_filename=name)


def annotation_names(source: str) -> "set[str]":
    """The names that the annotations of a function use, those in quoted annotations too."""
    import ast
    import contextlib

    # A body may have lines that are less indented than its definition, in strings.
    is_inside = source[:1].isspace()
    annotations: list[ast.AST | None] = []
    for node in ast.walk(ast.parse("if True:\n" + source if is_inside else source)):
        annotations += [getattr(node, "annotation", None), getattr(node, "returns", None)]
    names = set()
    while annotations:
        for node in ast.walk(annotations.pop() or ast.Pass()):
            if isinstance(node, ast.Name):
                names.add(node.id)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                with contextlib.suppress(SyntaxError):
                    annotations.append(ast.parse(node.value, mode="eval"))
    return names
