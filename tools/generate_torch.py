#!/usr/bin/env python3
"""Writes lib/torch into a C++ source: the texts of its files, and the functions of its overloads.

    generate_torch.py OUTPUT

The library is run once, with a stand-in for `sardonyx` whose decorators leave functions what they
are: so `declare.py` alone says what overloads are called.
"""

from __future__ import annotations

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


def main() -> None:
    overloads, names = declared()
    rows = [
        f'    {{"{overload}"sv, "{name}"sv}},' for overload, (name, _) in sorted(overloads.items())
    ]
    functions = [
        '    {{"{}"sv, "{}"sv, "{}"sv}},'.format(name, *place(function))
        for name, function in sorted(names.items())
    ]
    files = [
        f'    {{"{path.name}"sv,\n{literal(path.read_text(encoding="utf-8"))}}},'
        for path in sorted(LIBRARY.glob("*.py"))
    ]
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
        f"const FileRow kFiles[{len(files)}] = {{", *files, "};",
        f"const size_t kFileCount = {len(files)};",
        "",
        "}  // namespace sardonyx::torch",
        "",
    ]  # fmt: skip
    pathlib.Path(sys.argv[1]).write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
