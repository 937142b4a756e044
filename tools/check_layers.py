#!/usr/bin/env python3
"""Checks rules of the project that compilers do not check.

    check_layers.py [--root DIR] [--headers] [--compiler CXX]

- A folder of src/ includes itself and the folders before it (the table in docs/architecture.md),
  without the exceptions named in FORBIDDEN. Where ROOMS divides a folder, the same holds for its
  rooms.
- Headers begin with a comment that says what they are for, have `#pragma once`, and include neither
  {fmt} nor the slow libraries, each of which is for the .cpp files that are listed here.
- The core throws nothing, but for work that is ended, and uses no header that a supported
  compiler lacks.
- Functions, constants and types in the unnamed namespaces of one folder have different names, other
  than those that its headers give constants and types, because the sources of a folder are compiled
  together (SDX_JOIN), where two would be overloads or definitions of each other.
- No two files define a type of one name in one namespace: where nothing is inlined, the linker
  takes the destructor of one for that of the other.
- Sources have at most LONGEST lines, and a folder that has rooms at most MOST_SOURCES sources,
  but for the tables that are listed here.
- `X.cpp` has `X.h`, which declares functions that X.cpp defines and no others. The sources that
  have no header of their own are listed here: rows of a table, and parts of one interface.
- No variable of src/ outlives a call and can change, but for those of the sources listed here,
  which say why (python/bindings keeps what belongs to its module).
- Operators are told apart by `is_standard`, which looks at the domain too, and not by their names
  alone, outside of `ops` and `ir`; "ai.onnx" is written in types/domain.h alone.
- The codes of diagnostics are words-with-hyphens, one phase's alone, each reported somewhere and
  explained by docs/diagnostics/<code>.md.
- No file names a package registry's host or a path of the machine that it was written on.
- With --headers: each header of src/ and include/ compiles alone.

Prints one line for each violation; exit status 1 when there are any.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
from collections.abc import Iterator

# The order of the data flow, which is the include order.
FOLDERS = (
    "base",
    "diagnostics",
    "syntax",
    "types",
    "torch",
    "ops",
    "schemas",
    "ir",
    "calls",
    "infer",
    "lowering",
    "build",
    "elaborate",
    "lint",
    "eval",
    "eager",
    "rewrite",
    "proto",
    "weights",
    "decompile",
    "models",
    "view",
    "driver",
    "ide",
    "lsp",
    "api",
    "cli",
)

# Folders that come earlier in the order but must not be included either.
FORBIDDEN = {
    "types": {"syntax", "diagnostics"},
    "torch": {"syntax", "diagnostics"},
    "ops": {"syntax", "diagnostics"},
    "schemas": {"syntax"},
    "ir": {"syntax", "ops", "schemas"},
    "calls": {"syntax", "diagnostics", "schemas", "ir"},
    "infer": {"syntax", "schemas"},
    "lowering": {"syntax", "diagnostics", "schemas"},
    "build": {"syntax", "schemas"},
    "eval": {"syntax", "schemas", "elaborate", "lint"},
    "eager": {"syntax", "schemas", "elaborate", "lint"},
    "rewrite": {"syntax", "elaborate", "lint"},
    "proto": {"syntax", "lowering", "elaborate", "lint", "eval", "eager", "rewrite"},
    "weights": {"syntax", "lowering", "elaborate", "lint", "eval", "eager", "rewrite"},
    "decompile": {
        "schemas",
        "lowering",
        "elaborate",
        "lint",
        "eval",
        "eager",
        "rewrite",
        "proto",
        "weights",
    },
    "models": {"syntax", "schemas", "lowering", "elaborate", "lint", "eval", "rewrite"},
    "view": {
        "syntax",
        "ops",
        "schemas",
        "infer",
        "lowering",
        "elaborate",
        "lint",
        "eval",
        "eager",
        "rewrite",
        "proto",
        "weights",
        "decompile",
        "models",
    },
    "driver": {"eval", "eager"},
    "lsp": set(FOLDERS[2 : FOLDERS.index("ide")]),
}

# The rooms of a folder in the order of their includes; "" is what lies in the folder itself.
ROOMS = {
    "elaborate": (
        "objects",
        "flow",
        "emit",
        "operators",
        "scopes",
        "library",
        "",
        "files",
    ),
    "eval": (
        "runtime",
        "operators",
        "loops",
        "kernels/regex",
        "kernels/images",
        "kernels",
        "kernels/ml",
        "kernels/text",
        "dispatch",
        "gradient",
        "gradient/rules",
        "plan",
        "run",
        "",
    ),
}

# Lines of a source; tables may have more.
LONGEST = 600
LONG_TABLES: set[str] = set()
# Sources of one folder.
MOST_SOURCES = 30
# Folders that may have more: a source for each family of operators.
FAMILIES = {"infer", "eval/kernels"}

# Headers that are the interface of several sources; any other declares functions of the source of
# its name alone.
INTERFACES = {
    "api/handles.h",  # of C
    "api/model_handle.h",
    "api/value_handle.h",
    "base/screenful.h",
    "cli/commands.h",  # a source for each command
    "decompile/unit.h",  # a class
    "diagnostics/inlays.h",  # text and JSON
    "diagnostics/pages.h",  # generated
    "diagnostics/render.h",  # a source for each form
    "elaborate/elaborate.h",  # the entries
    "elaborate/emit/interpreter.h",  # what is above, as those below see it
    "elaborate/objects/iteration.h",  # the same
    "elaborate/files/module.h",  # a class
    "eval/eval.h",  # the entries
    "eval/kernels/images/image.h",  # a source for each format
    "eval/kernels/ml/ml_trees.h",  # a class
    "eval/kernels/regex/regex_tree.h",
    "eval/loops/convolution.h",  # a source for each way to convolve
    "eval/loops/matmul.h",
    "eval/run/runner.h",  # operators that run graphs
    "ide/answers.h",  # a source for each question
    "infer/infer.h",  # the entries
    "infer/subgraph.h",
    "ir/edit.h",
    "ir/ir.h",
    "lint/lints.h",
    "lsp/requests.h",  # a source for each request
    "models/diff.h",  # the comparison, and its texts
    "models/info.h",  # what it is, and its texts
    "proto/proto.h",  # the entries
    "proto/read_context.h",  # a source for each message
    "syntax/lexer.h",  # a class
    "syntax/parser.h",  # a class
    "syntax/normal_form.h",  # with generated tables
    "types/dim.h",  # a class
    "types/dim_expression.h",
    "types/type.h",  # a class
    "view/write.h",  # a source for each format
    "weights/weights.h",  # a source for each format
}
# A row of a table, or the public interface, declares what the sources of these folders define.
ROWS = ("api/", "eval/gradient/rules/", "eval/kernels/", "infer/")

# Sources with variables that outlive a call and can change: what belongs to the whole process.
MAY_KEEP_STATE = {
    "src/api/c_errors.cpp",  # the error for memory that has run out, made beforehand
    "src/base/mapping_guard.cpp",  # what a signal's handler finds
    "src/base/stop.cpp",  # who says on each thread whether its work shall end
    "src/cli/terminal.cpp",  # whether the terminal of the program has colours
    "src/eval/dispatch/dispatch.cpp",  # a table, built by the first look-up
    "src/eval/runtime/parallel.cpp",  # the threads
    "src/types/allocation.cpp",  # blocks of memory to be used again
}
# A variable in a namespace, at the beginning of a line, and one in a function or a class.
GLOBAL = re.compile(
    r"^(?!using\b|typedef\b|return\b|struct\b|class\b|enum\b|union\b|template\b|namespace\b"
    r"|inline namespace\b|concept\b|friend\b|extern\b)"
    r"(?:(?:static|inline|thread_local|constinit)\s+)*(?!const\b|constexpr\b)"
    r"[A-Za-z_][\w:]*(?:<[^;={}()]*>)?(?:\s*[&*])*\s(?:\s*[&*])*(\w+)(?:\[[^\]]*\])*\s*(?:;|=[^=]|\{)",
    re.MULTILINE,
)
STATIC = re.compile(
    r"^[ \t]+(?:inline\s+)?(?:static|thread_local)\s+(?:(?:thread_local|static|inline)\s+)*"
    r"(?!const\b|constexpr\b)[^;(){}=\n]*?[\s&*](\w+)(?:\[[^\]]*\])*\s*(?:;|=[^=]|\{)",
    re.MULTILINE,
)

# Libraries that take seconds to compile, and the .cpp files that may include them.
SLOW_LIBRARIES = {
    "nlohmann/": {
        "src/diagnostics/render_json.cpp",
        "src/driver/notebook.cpp",
        "src/lsp/json.cpp",
    },
    "CLI/": {"src/cli/arguments.cpp"},
    "toml++/": {"src/schemas/schemas.cpp"},
}

# Missing in g++ 12, clang 16, or the libc++ 14 of the oldest emscripten that the core supports.
MISSING_HEADERS = {"format", "expected", "source_location", "ranges", "stop_token", "print"}

# What the headers of Python hide where Py_LIMITED_API is defined.
UNSTABLE = re.compile(
    r"\b(?:Py(?:Function|Method|Cell)_\w+|Py\w+_GET_(?:SIZE|ITEM|LENGTH)|Py\w+_AS_\w+)"
    r"|->(?:tp|ob|nb|sq|mp)_\w+"
)

# Written in pieces, so that this file does not contain them.
REGISTRY_HOSTS = [
    ".".join(parts)
    for parts in (
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("npmjs", "org"),
        ("npmjs", "com"),
        ("crates", "io"),
        ("rubygems", "org"),
        ("anaconda", "org"),
        ("deb", "debian", "org"),
        ("archive", "ubuntu", "com"),
        ("proxy", "golang", "org"),
    )
]
MACHINE_PATH = re.compile(r"(?<![\w.~-])/(?:work|root|home/\w+|Users/\w+)(?=/\w)")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)
# Comments, string and character literals, so that what they say is not taken for code.
# The first line of a function's definition or declaration, outside every class.
FUNCTION = re.compile(
    r"(?!template|struct|class|using|return|enum|typedef|namespace|[#/]|SDX_[A-Z]+\()"
    r"[A-Za-z_][\w:<>,&*\s\[\]]*?[\s&*>](\w+)\("
)
CONSTANT = re.compile(
    r"(?:inline |static )?(?:constexpr|const)\b[^=({\[]*?\b(k\w+)\s*(?:\[[^\]]*\])?\s*[={]"
)
DEFINED_TYPE = re.compile(r"(?:struct|class|enum class|enum)\s+(\w+)\b[^;]*$")
# A function in a namespace, or the first line of its definition.
DEFINITION = re.compile(r"^(?!//|return)([A-Za-z\[][^\n]*?[\s&*>])(\w+)\(", re.MULTILINE)
HEADER_PARTS = 6  # a header takes a second or two; the next commit has another seed
# Their sources are not joined (cmake/phases.cmake).
COMPILED_ALONE = (("src", "api"),)
NOT_CODE = re.compile(
    r"//[^\n]*|/\*.*?\*/"
    r'|R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"'
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'(?:\\.|[^'\\\n])+'",
    re.DOTALL,
)
NAMESPACE = re.compile(r"(?:inline )?namespace (?:([\w:]+) )?\{$")
TYPE = re.compile(r"(?:struct|class|union|enum class) (\w+)(?: final)?(?: :[^:].*)?(?: \{|$)")
BARE_OPERATOR = re.compile(r'\bop_type\s*[=!]=\s*"|"\s*[=!]=\s*[\w.>()-]*\bop_type\b')
DIAGNOSTIC_ROW = re.compile(r'^SDX_DIAGNOSTIC\((\w+),\s*"([^"]*)"', re.MULTILINE)
THROW = re.compile(r"\bthrow\b")
CATCH = re.compile(r"\b(?:try\s*\{|catch\s*\()")

# Folders that use what throws (CLI11, protozero, include/sardonyx), and stop it where they call it.
MAY_CATCH = {"api", "cli", "proto"}
# Memory that runs out on a helper's thread is told to the thread that runs; work that is ended is
# an error of the run, or of the request, that it was for.
MAY_PASS_ON = {
    "src/eval/runtime/parallel.cpp",
    "src/eval/runtime/within.h",
    "src/lsp/server.cpp",
}

# What turns errors into the exceptions of include/sardonyx, and what turns those into errors of C;
# what ends the work of phases.
MAY_THROW = {"src/api/fail.cpp", "src/api/c_compile.cpp", "src/base/stop.cpp"}

TEXT_SUFFIXES = {
    ".cpp", ".h", ".def", ".py", ".pyi", ".md", ".toml", ".txt", ".json", ".yml", ".yaml",
    ".cmake", ".in", ".sh", "",
}  # fmt: skip

Violation = str


def line_of(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


def read(path: pathlib.Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def cpp_files(root: pathlib.Path) -> list[pathlib.Path]:
    found = []
    for top in ("src", "include", "python", "tests", "fuzz", "bench", "examples"):
        for suffix in ("*.h", "*.cpp", "*.def"):
            found += (root / top).rglob(suffix)
    return sorted(found)


def check_order(root: pathlib.Path) -> Iterator[Violation]:
    for folder in sorted(path for path in (root / "src").glob("*") if path.is_dir()):
        if folder.name not in FOLDERS:
            yield f"src/{folder.name}: this folder has no place in FOLDERS of tools/check_layers.py"
            continue
        allowed = set(FOLDERS[: FOLDERS.index(folder.name) + 1])
        allowed -= FORBIDDEN.get(folder.name, set())
        for path in sorted(folder.rglob("*")):
            if path.suffix in (".h", ".cpp", ".def"):
                yield from check_includes_of(root, path, folder.name, allowed)


def check_includes_of(
    root: pathlib.Path, path: pathlib.Path, own: str, allowed: set[str]
) -> Iterator[Violation]:
    text = read(path)
    for match in INCLUDE.finditer(text):
        if match[1] == "<":
            continue
        where = f"{path.relative_to(root)}:{line_of(text, match.start())}"
        folder = match[2].partition("/")[0]
        if "/" not in match[2] or folder not in FOLDERS:
            yield f'{where}: include "{match[2]}" by its path from src/, as "folder/name.h"'
        elif folder not in allowed:
            yield f"{where}: `{own}` must not include `{folder}`"
        elif folder == own and own in ROOMS:
            yield from check_room(root, path, match[2], where)


def check_room(
    root: pathlib.Path, path: pathlib.Path, included: str, where: str
) -> Iterator[Violation]:
    """A file of a folder with rooms includes another file of that folder."""
    own = path.relative_to(root / "src").parts[0]
    rooms = ROOMS[own]
    here, there = (
        pathlib.PurePath(name).parent.relative_to(own).as_posix().removeprefix(".")
        for name in (path.relative_to(root / "src"), included)
    )
    if included.removeprefix(f"{own}/") in ("diagnostics.h", "diagnostics.def"):
        return  # the kinds of findings of a folder are below its rooms
    for room in (here, there):
        if room not in rooms:
            yield f"{where}: `{own}/{room}` has no place in ROOMS of tools/check_layers.py"
            return
    if rooms.index(there) > rooms.index(here):
        yield f"{where}: `{own}/{here}` must not include `{own}/{there}`"


def check_headers(root: pathlib.Path) -> Iterator[Violation]:
    for path in cpp_files(root):
        if path.suffix != ".h":
            continue
        text = read(path)
        where = path.relative_to(root)
        if not text.startswith("//"):
            yield f"{where}:1: a header begins with a comment that says what it is for"
        if not re.search(r"^#pragma once$", text, re.MULTILINE):
            yield f"{where}:1: no `#pragma once`"
        in_core = where.parts[0] in ("src", "include")
        for match in INCLUDE.finditer(text):
            slow = match[2].startswith(tuple(SLOW_LIBRARIES))
            if slow or (in_core and match[2].startswith("fmt/")):
                line = line_of(text, match.start())
                yield f"{where}:{line}: <{match[2]}> is for .cpp files only"


def check_slow_libraries(root: pathlib.Path) -> Iterator[Violation]:
    for path in cpp_files(root):
        where = path.relative_to(root)
        for library, allowed in SLOW_LIBRARIES.items():
            uses = any(match[2].startswith(library) for match in INCLUDE.finditer(read(path)))
            if uses and path.suffix == ".cpp" and str(where) not in allowed:
                names = " and ".join(sorted(allowed))
                yield f"{where}:1: <{library}...> is for {names} alone"


def check_core(root: pathlib.Path) -> Iterator[Violation]:
    for path in sorted((root / "src").rglob("*")):
        if path.suffix not in (".h", ".cpp", ".def"):
            continue
        text = read(path)
        where = path.relative_to(root)
        for match in INCLUDE.finditer(text):
            if match[2] in MISSING_HEADERS:
                line = line_of(text, match.start())
                yield f"{where}:{line}: <{match[2]}> is missing in a supported compiler"
        code = NOT_CODE.sub(lambda match: "\n" * match[0].count("\n"), text)
        rules = [] if where.as_posix() in MAY_THROW else [THROW]
        if str(where) in MAY_PASS_ON:
            rules = []
        elif where.parts[1] not in MAY_CATCH:
            rules += [CATCH]
        for match in (match for rule in rules for match in rule.finditer(code)):
            line = line_of(code, match.start())
            yield f"{where}:{line}: the core has no exceptions; use Result<T> or a diagnostic"


def check_bindings(root: pathlib.Path) -> Iterator[Violation]:
    for path in sorted((root / "python/bindings").glob("*.*")):
        code = NOT_CODE.sub(lambda match: "\n" * match[0].count("\n"), read(path))
        for match in UNSTABLE.finditer(code):
            where = f"{path.relative_to(root)}:{line_of(code, match.start())}"
            yield f"{where}: `{match[0]}` is not in Python's stable ABI, which wheels are built for"


def check_state(root: pathlib.Path) -> Iterator[Violation]:
    for path in sorted((root / "src").rglob("*")):
        where = path.relative_to(root)
        if path.suffix not in (".h", ".cpp") or where.as_posix() in MAY_KEEP_STATE:
            continue
        code = NOT_CODE.sub(lambda match: "\n" * match[0].count("\n"), read(path))
        for match in (match for rule in (GLOBAL, STATIC) for match in rule.finditer(code)):
            line = line_of(code, match.start(1))
            says = "can change and outlives a call; make it a parameter"
            yield f"{where}:{line}: `{match[1]}` {says}"


def check_operators(root: pathlib.Path) -> Iterator[Violation]:
    for path in cpp_files(root):
        where = path.relative_to(root)
        if where.parts[0] not in ("src", "python") or path.suffix == ".def":
            continue
        # Comments are not checked; strings are.
        text = re.sub(r"//[^\n]*", "", read(path))
        if where.parts[1] not in ("ops", "ir"):
            for match in BARE_OPERATOR.finditer(text):
                line = line_of(text, match.start())
                if "domain ==" in text.splitlines()[line - 1]:
                    continue
                yield f"{where}:{line}: an operator by its name alone; ask `is_standard`"
        if where.as_posix() != "src/types/domain.h" and (at := text.find('"ai.onnx"')) >= 0:
            yield f"{where}:{line_of(text, at)}: domains are normalised in types/domain.h"


def unnamed_names(text: str) -> Iterator[tuple[str, int]]:
    """The functions, constants and types in unnamed namespaces, with their lines."""
    is_unnamed = False
    for number, line in enumerate(text.splitlines(), 1):
        if line == "namespace {":
            is_unnamed = True
        elif line.startswith("}  // namespace"):
            is_unnamed = False
        elif is_unnamed:
            for pattern in (CONSTANT, DEFINED_TYPE, FUNCTION):
                if match := pattern.match(line):
                    yield match[1], number
                    break


def header_names(text: str) -> Iterator[tuple[str, int]]:
    """The constants and types of a header, outside of other types, with their lines."""
    for number, line in enumerate(text.splitlines(), 1):
        if match := CONSTANT.match(line) or DEFINED_TYPE.match(line):
            yield match[1], number


def check_unnamed(root: pathlib.Path) -> Iterator[Violation]:
    first: dict[tuple[str, str], pathlib.Path] = {}
    for path in (
        *sorted((root / "src").rglob("*.cpp")),
        *sorted((root / "python/bindings").glob("*.cpp")),
        *sorted((root / "tests").rglob("*_test.cpp")),
    ):
        where = path.relative_to(root)
        if where.parts[:2] in COMPILED_ALONE:
            continue
        for name, line in unnamed_names(read(path)):
            other = first.setdefault((*where.parts[:2], name), where)
            if other != where:
                yield f"{where}:{line}: `{name}` is a name of {other.name} too"
    for path in sorted((root / "src").rglob("*.h")):
        where = path.relative_to(root)
        for name, line in header_names(read(path)):
            if other := first.get((*where.parts[:2], name)):
                yield f"{where}:{line}: `{name}` is a name of {other.name} too"


def check_types(root: pathlib.Path) -> Iterator[Violation]:
    """As clang-format has it, what a namespace contains begins in the first column."""
    defined: dict[tuple[str, str], pathlib.Path] = {}
    for path in cpp_files(root):
        where, around = path.relative_to(root), [""]
        for number, line in enumerate(read(path).splitlines(), 1):
            if match := NAMESPACE.match(line):
                # Types of an unnamed one are their file's own.
                around.append(f"{around[-1]}::{match[1] or where}")
            elif line.startswith("}  // namespace") and len(around) > 1:
                around.pop()
            elif (match := TYPE.match(line)) and where.parts[0] == "src":
                first = defined.setdefault((around[-1], match[1]), where)
                if first != where:
                    yield f"{where}:{number}: `{match[1]}` is another type in {first}"


def check_sizes(root: pathlib.Path) -> Iterator[Violation]:
    for path in sorted((root / "src").rglob("*")):
        if path.suffix not in (".cpp", ".h"):
            continue
        where = path.relative_to(root)
        lines = read(path).count("\n")
        if lines > LONGEST and where.relative_to("src").as_posix() not in LONG_TABLES:
            yield f"{where}:{LONGEST + 1}: {lines} lines; cut it along what it decides"
    for top, rooms in ROOMS.items():
        for room in rooms:
            folder = pathlib.PurePath(top, room)
            count = len(list((root / "src" / folder).glob("*.cpp")))
            if count > MOST_SOURCES and folder.as_posix() not in FAMILIES:
                yield f"src/{folder}: {count} sources; divide it into rooms"


def declared_functions(text: str) -> Iterator[tuple[str, int]]:
    """The functions that a header declares and does not define, with their lines."""
    lines = NOT_CODE.sub(lambda match: "\n" * match[0].count("\n"), text).splitlines()
    for number, line in enumerate(lines, 1):
        match = FUNCTION.match(line)
        before = lines[number - 2] if number > 1 else ""
        if not match or line.startswith(("inline", "constexpr")) or before.startswith("template"):
            continue
        ends = re.search(r"[;{]", "\n".join(lines[number - 1 :]))
        if ends and ends[0] == ";":
            yield match[1], number


def check_own_headers(root: pathlib.Path) -> Iterator[Violation]:
    """A header declares what the source of its name defines."""
    src = root / "src"
    for path in sorted(src.rglob("*.cpp")):
        where = path.relative_to(src)
        if where.parts[0] not in FOLDERS:
            continue
        text = read(path)
        header = path.with_suffix(".h")
        if not header.exists():
            included = {match[2] for match in INCLUDE.finditer(text)}
            is_row = where.as_posix().startswith(ROWS)
            if (
                not is_row
                and where.name not in ("main.cpp", "fmt.cpp")
                and included.isdisjoint(INTERFACES)
            ):
                yield f"src/{where}:1: no header of its own, {header.name}"
            continue
        if header.relative_to(src).as_posix() in INTERFACES:
            continue
        defined = {match[2] for match in DEFINITION.finditer(text)}
        for name, line in declared_functions(read(header)):
            if name not in defined:
                yield f"{header.relative_to(root)}:{line}: `{name}` is not of {path.name}"


def check_diagnostics(root: pathlib.Path) -> Iterator[Violation]:
    first: dict[str, str] = {}
    explained = {path.stem for path in (root / "docs/diagnostics").glob("*.md")} - {"README"}
    sources = "".join(read(path) for path in cpp_files(root) if path.suffix != ".def")
    for path in sorted((root / "src").glob("*/diagnostics.def")):
        text = read(path)
        for match in DIAGNOSTIC_ROW.finditer(text):
            identifier, code = match.groups()
            where = f"{path.relative_to(root)}:{line_of(text, match.start())}"
            if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", code):
                yield f"{where}: `{code}` is not made of lower-case words and hyphens"
            if code in first:
                yield f"{where}: `{code}` is already a code of {first[code]}"
            first.setdefault(code, where)
            if not re.search(rf"\bk{identifier}\b", sources):
                yield f"{where}: `{code}` is never reported"
            if code not in explained:
                yield f"{where}: `{code}` has no page docs/diagnostics/{code}.md"
    for code in sorted(explained - set(first)):
        yield f"docs/diagnostics/{code}.md:1: no diagnostic has this code"


def repository_files(root: pathlib.Path) -> list[pathlib.Path]:
    """The files that are, or are about to be, under version control."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(command, cwd=root, capture_output=True, check=False)
    if done.returncode != 0:  # no git here, or no repository: an unpacked source archive
        skip = {"build", ".venv", ".git", "__pycache__"}
        every = sorted(path for path in root.rglob("*") if path.is_file())
        return [path for path in every if skip.isdisjoint(path.relative_to(root).parts)]
    names = sorted(name for name in os.fsdecode(done.stdout).split("\0") if name)
    return [root / name for name in names if (root / name).is_file()]


def check_words(root: pathlib.Path) -> Iterator[Violation]:
    for path in repository_files(root):
        if path.suffix not in TEXT_SUFFIXES:
            continue
        text = read(path)
        where = path.relative_to(root)
        for host in REGISTRY_HOSTS:
            if (offset := text.find(host)) >= 0:
                yield f"{where}:{line_of(text, offset)}: names a package registry's host"
        for match in MACHINE_PATH.finditer(text):
            yield f"{where}:{line_of(text, match.start())}: names a path of one machine"


def compile_header(root: pathlib.Path, path: pathlib.Path, compiler: str) -> Violation | None:
    flags = ["-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror"]
    flags += ["-Wno-pragma-once-outside-header", "-Wno-missing-field-initializers"]
    command = [compiler, *flags, f"-I{root}/src", f"-I{root}/include", "-x", "c++", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    where = path.relative_to(root)
    # g++ warns about the pragma in a main file, and this warning cannot be turned off.
    errors = [line for line in done.stderr.splitlines() if "error:" in line]
    errors = [line for line in errors if "#pragma once in main file" not in line]
    return f"{where}:1: does not compile alone: {errors[0]}" if errors else None


def check_headers_compile(
    root: pathlib.Path, compiler: str, seed: int | None
) -> Iterator[Violation]:
    """All headers, or the part of them that the seed chooses."""
    headers = [p for p in cpp_files(root) if p.suffix == ".h"]
    headers = [p for p in headers if p.relative_to(root).parts[0] in ("src", "include")]
    if seed is not None:
        headers = sorted(headers)[seed % HEADER_PARTS :: HEADER_PARTS]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for violation in pool.map(lambda path: compile_header(root, path, compiler), headers):
            if violation:
                yield violation


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    default_root = pathlib.Path(__file__).resolve().parents[1]
    parser.add_argument("--root", type=pathlib.Path, default=default_root)
    parser.add_argument("--headers", action="store_true", help="compile each header alone as well")
    parser.add_argument("--seed", type=int, help="compile a sixth of the headers, which it chooses")
    parser.add_argument("--compiler", default=os.environ.get("CXX", "g++"))
    options = parser.parse_args()
    root = options.root.resolve()
    violations = [
        *check_order(root),
        *check_headers(root),
        *check_slow_libraries(root),
        *check_core(root),
        *check_bindings(root),
        *check_state(root),
        *check_operators(root),
        *check_unnamed(root),
        *check_types(root),
        *check_sizes(root),
        *check_own_headers(root),
        *check_diagnostics(root),
        *check_words(root),
        *(check_headers_compile(root, options.compiler, options.seed) if options.headers else ()),
    ]
    for violation in violations:
        print(violation)
    if violations:
        sys.exit(1)


if __name__ == "__main__":
    main()
