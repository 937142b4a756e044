#!/usr/bin/env python3
"""Writes lib/torch into a C++ source: its files, and the functions of its overloads.

Of each file there are the text, and where the statements of its top level begin.

    generate_torch.py OUTPUT

The library is run once, with a stand-in for `sardonyx` whose decorators leave functions what they
are: so `declare.py` alone says what overloads are called.
"""

from __future__ import annotations

import ast
import collections
import importlib
import pathlib
import sys
import types
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIBRARY = ROOT / "lib" / "torch"
PIECE = 16_000  # characters of a literal; compilers may refuse longer ones


class StandIn(types.ModuleType):
    """`sardonyx` with names for everything, and a `script` that does nothing."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return object()


def declared() -> tuple[dict[str, tuple[str, Any]], dict[str, Any]]:
    """What the library declares: overloads, and names in scripts."""
    stand_in = StandIn("sardonyx")
    stand_in.script = lambda *_, **__: lambda function: function  # type: ignore[attr-defined]
    sys.modules["sardonyx"] = stand_in
    sys.path.insert(0, str(LIBRARY.parent))
    sys.dont_write_bytecode = True
    library = importlib.import_module(LIBRARY.name)
    overloads = library.overloads()
    return overloads, sys.modules[f"{LIBRARY.name}.declare"].NAMES


def place(function: Any) -> tuple[str, str]:
    """The file of a function and its name there."""
    module = sys.modules[function.__module__]
    if getattr(module, function.__name__, None) is not function:
        sys.exit(f"{module.__file__}: `{function.__name__}` is defined twice")
    return f"{function.__module__.rpartition('.')[2]}.py", function.__name__


def literal(text: str) -> str:
    """The text as raw literals, one after the other."""
    pieces = [text[at : at + PIECE] for at in range(0, len(text), PIECE)]
    return "\n".join(f'R"~~~({piece})~~~"sv' for piece in pieces) or '""sv'


def statements(text: bytes) -> list[str]:
    """The names of the functions, empty for other statements, and at which bytes all begin.

    A function of which the file has two is no function here: the statements run in order.
    """
    tree = ast.parse(text)
    lines = [0]
    for line in text.splitlines(keepends=True):
        lines.append(lines[-1] + len(line))
    bound = collections.Counter(
        one.name if isinstance(one, (ast.FunctionDef, ast.ClassDef)) else one.id
        for one in ast.walk(tree)
        if isinstance(one, (ast.FunctionDef, ast.ClassDef))
        or (isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store) and one.col_offset == 0)
    )
    rows = []
    for one in tree.body:
        decorators = one.decorator_list if isinstance(one, ast.FunctionDef) else []
        first = min([one.lineno, *(each.lineno for each in decorators)])
        is_function = isinstance(one, ast.FunctionDef) and bound[one.name] == 1
        rows.append(f'{{"{one.name if is_function else ""}"sv, {lines[first - 1]}}}')
    return rows


def main() -> None:
    overloads, names = declared()
    rows = [
        f'    {{"{overload}"sv, "{name}"sv}},' for overload, (name, _) in sorted(overloads.items())
    ]
    functions = [
        '    {{"{}"sv, "{}"sv, "{}"sv}},'.format(name, *place(function))
        for name, function in sorted(names.items())
    ]
    files: list[str] = []
    places: list[str] = []
    for path in sorted(LIBRARY.glob("*.py")):
        text = path.read_text(encoding="utf-8")
        found = statements(text.encode())
        files.append(
            f'    {{"{path.name}"sv, {{kStatements + {len(places)}, {len(found)}}},\n'
            f"{literal(text)}}},"
        )
        places += found
    lines = [
        "// Made of lib/torch by tools/generate_torch.py.",
        '#include "torch/library_table.h"',
        "",
        "namespace sardonyx::torch {",
        "",
        "// They have their lengths: to count the characters of all rows takes g++ 12 s.",
        "using namespace std::string_view_literals;",
        "",
        f"const OverloadRow kOverloads[{len(rows)}] = {{", *rows, "};",
        f"const size_t kOverloadCount = {len(rows)};",
        f"const FunctionRow kFunctions[{len(functions)}] = {{", *functions, "};",
        f"const size_t kFunctionCount = {len(functions)};",
        f"constexpr StatementRow kStatements[{len(places)}] = {{{', '.join(places)}}};",
        f"const FileRow kFiles[{len(files)}] = {{", *files, "};",
        f"const size_t kFileCount = {len(files)};",
        "",
        "}  // namespace sardonyx::torch",
        "",
    ]  # fmt: skip
    pathlib.Path(sys.argv[1]).write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
