"""docs/language.md: every program in it does what the page says.

A section (`### `) holds programs; what follows from a program stands beside it and is checked:

- ```` ```py ```` is a file. Without imports of its own it begins with HEADER. The comments
  `# error: [code]`, `# warning: [code]` and `# note: [code]` mark all lines with findings, and
  `# revealed: T` is what `reveal_type` says there. ```` ```py name.py ```` is a file that the next
  program imports.
- ```` ```graph ```` is the graph of the last script.
- ```` ```run ```` holds calls of the last script and their results, which the script as Python, our
  evaluator, ONNX Runtime and onnx.reference agree on. ```` ```run without reference ```` leaves one
  out, for the reason that the text gives.

Run as a program, or by `tools/dev language --write`, this file rewrites all of that in place.
"""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import importlib.util
import io
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import onnx
import onnx.checker
import pytest

from eval.test_node_cases import Evaluator
from language import calling_model, run_ort, run_reference, same
from places import PROGRAM, ROOT

pytestmark = pytest.mark.filterwarnings("ignore")

PAGE = ROOT / "docs" / "language.md"

HEADER = """\
import math
import numpy as np
from typing import Annotated, List, Optional, Sequence, Tuple
from sardonyx import graph, opset21 as op, reveal_type, script
from sardonyx import BFLOAT16, BOOL, DOUBLE, FLOAT, FLOAT16, INT4, INT8, INT16, INT32, INT64
from sardonyx import OPTIONAL, STRING, UINT4, UINT8, UINT16, UINT32, UINT64, COMPLEX64
"""

LINTS = re.findall(r'"([a-z-]+)"', (ROOT / "src/lint/diagnostics.def").read_text())
MARK = re.compile(r"  # (?:(error|warning|note): \[([a-z0-9-]+)\]|(revealed): (.*?))(?=  # |$)")
FENCE = re.compile(r"^```(\w+)?(.*)$")


# --- The page -------------------------------------------------------------------------------------


@dataclasses.dataclass
class Block:
    kind: str  # of the fence: py, graph, run, ...
    more: str  # what follows it on its line
    begin: int  # the lines of the page between the fences
    end: int


@dataclasses.dataclass
class Program:
    """A file with what the page says of it."""

    section: str
    code: Block
    imported: list[Block]
    results: list[Block]  # graph and run


def blocks(lines: list[str]) -> Iterator[tuple[str, Block]]:
    section, opened = "", None
    for number, line in enumerate(lines):
        fence = FENCE.match(line)
        if opened is None and line.startswith(("## ", "### ")):
            section = line.lstrip("# ")
        elif opened is None and fence:
            opened = Block(fence[1] or "", fence[2].strip(), number + 1, 0)
        elif opened is not None and line == "```":
            opened.end = number
            yield section, opened
            opened = None
    assert opened is None, f"the block that begins at line {opened.begin} has no end"


def programs(lines: list[str]) -> list[Program]:
    found: list[Program] = []
    imported: list[Block] = []
    for section, block in blocks(lines):
        if block.kind == "py" and block.more:
            imported.append(block)
        elif block.kind == "py":
            found.append(Program(section, block, imported, []))
            imported = []
        elif block.kind in ("graph", "run"):
            assert found and found[-1].section == section, f"no program before {block}"
            found[-1].results.append(block)
    return found


def with_header(code: list[str]) -> tuple[str, int]:
    """The file, and how many lines come before the block's."""
    text = "\n".join(code) + "\n"
    if re.search(r"^(import|from) ", text, re.M):
        return text, 0
    return f"{HEADER}\n\n{text}", HEADER.count("\n") + 2


# --- What follows from a program ------------------------------------------------------------------


def tool(*arguments: str | pathlib.Path) -> str:
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=60)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def findings(path: pathlib.Path, skipped: int) -> dict[int, list[str]]:
    """The marks of each line of the block."""
    marks: dict[int, list[str]] = {}
    items = json.loads(tool("check", "--json", path))
    program = path.read_text()
    for item in items:
        if item["code"] in LINTS and f"[{item['code']}]" not in program:
            continue  # said of programs that are about lints alone
        line = item["range"]["start"]["line"] - skipped - 1
        if line < 0:
            continue
        revealed = item["code"] == "revealed-type"
        text = (
            f"revealed: {item['message']}" if revealed else f"{item['severity']}: [{item['code']}]"
        )
        marks.setdefault(line, []).append(f"  # {text}")
    return marks


def last_script(text: str) -> ast.FunctionDef:
    scripts = [
        node
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef)
        and any("script" in ast.unparse(one) for one in node.decorator_list)
    ]
    assert scripts, "the program has no script"
    return scripts[-1]


def graph_text(path: pathlib.Path, name: str) -> list[str]:
    return tool("dump", f"{path}:{name}", "--stage", "ir").rstrip("\n").split("\n")


def load(path: pathlib.Path) -> Any:
    """The file as a Python module; the files beside it can be imported."""
    spec = importlib.util.spec_from_file_location("reference_program", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    before = set(sys.modules)
    sys.path.insert(0, str(path.parent))
    sys.dont_write_bytecode = True
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(path.parent))
        for name in set(sys.modules) - before:
            if getattr(sys.modules[name], "__file__", None) and str(path.parent) in str(
                sys.modules[name].__file__
            ):
                del sys.modules[name]
    return module


def arguments_of(line: str) -> tuple[str, dict[str, Any]]:
    """The call after `>>> `: keyword arguments only."""
    call = ast.parse(line, mode="eval").body
    assert isinstance(call, ast.Call) and not call.args, f"write keywords: {line}"
    values = {
        str(one.arg): eval(ast.unparse(one.value), {"np": np, "math": math})
        for one in call.keywords
    }
    return ast.unparse(call.func), values


@dataclasses.dataclass
class Compiled:
    model: onnx.ModelProto
    inputs: dict[str, Any]


def typed(info: onnx.ValueInfoProto, value: Any) -> Any:
    def array(kind: onnx.TypeProto, one: Any) -> np.ndarray:
        dtype = onnx.helper.tensor_dtype_to_np_dtype(kind.tensor_type.elem_type)
        return np.asarray(one, dtype=object if dtype == np.dtype(str) else dtype)

    if info.type.HasField("sequence_type"):
        return [array(info.type.sequence_type.elem_type, one) for one in value]
    if info.type.HasField("optional_type"):
        return None if value is None else array(info.type.optional_type.elem_type, value)
    return array(info.type, value)


def compile_call(path: pathlib.Path, name: str, values: dict[str, Any]) -> Compiled:
    """As a model; with attributes among the arguments, as a function and a model that calls it."""
    target = path.with_suffix(".onnx")
    built = subprocess.run(
        [PROGRAM, "build", f"{path}:{name}", "-o", target], capture_output=True, text=True
    )
    assert built.returncode == 0, built.stderr
    model = onnx.load(target)
    onnx.checker.check_model(model, full_check=True)
    infos = {info.name: info for info in model.graph.input}
    inputs = {key: typed(infos[key], value) for key, value in values.items() if key in infos}
    attributes = {key: value for key, value in values.items() if key not in infos}
    if not attributes:
        return Compiled(model, inputs)
    # A function and those it calls, in the order that onnx.reference needs.
    built = subprocess.run(
        [PROGRAM, "build", f"{path}:{name}", "--function", "-o", target],
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stderr
    function = onnx.FunctionProto.FromString(target.read_bytes())
    return Compiled(calling_model(function, inputs, attributes, len(function.output)), inputs)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    with (
        warnings.catch_warnings(),
        contextlib.redirect_stderr(io.StringIO()),
        contextlib.redirect_stdout(io.StringIO()),
        np.errstate(all="ignore"),
    ):
        warnings.simplefilter("ignore")
        yield


def run_everywhere(
    evaluator: Evaluator, path: pathlib.Path, line: str, without: list[str]
) -> list[Any]:
    name, values = arguments_of(line)
    compiled = compile_call(path, name, values)
    attributes = {key: value for key, value in values.items() if key not in compiled.inputs}

    def eager() -> list[Any]:
        result = getattr(load(path), name)(**compiled.inputs, **attributes)
        return list(result) if isinstance(result, tuple) else [result]

    runs: dict[str, Callable[[], list[Any]]] = {
        "native": lambda: evaluator.run(compiled.model, compiled.inputs),
        "python": eager,
        "onnxruntime": lambda: run_ort(compiled.model, compiled.inputs),
        "reference": lambda: run_reference(compiled.model, compiled.inputs),
    }
    results: list[Any] | None = None
    for way, run in runs.items():
        if way in without:
            continue
        try:
            with quiet():
                got = run()
            if results is None:
                results = got
            else:
                same(got, results, 1e-5)
        except Exception as error:
            raise AssertionError(f"{line} by {way}: {error}") from error
    assert results is not None
    return results


def value_text(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(value_text, value)) + "]"
    if isinstance(value, (bool, np.bool_, str)):
        return repr(value if isinstance(value, str) else bool(value))
    if isinstance(value, (int, np.integer)):
        return str(value)
    return f"{float(value):.6g}"


def result_text(value: Any) -> str:
    """A result on one line: its type, its shape, its items; a sequence in braces."""
    if isinstance(value, list):
        return "{" + ", ".join(map(result_text, value)) + "}"
    if value is None:
        return "None"
    array = np.asarray(value)
    kind = "STRING" if array.dtype.kind in "OUS" else str(array.dtype).upper()
    shape = f"[{', '.join(map(str, array.shape))}]" if array.ndim else ""
    kind = {"FLOAT32": "FLOAT", "FLOAT64": "DOUBLE"}.get(kind, kind)
    return f"{kind}{shape} {value_text(array.tolist())}"


def run_lines(evaluator: Evaluator, path: pathlib.Path, lines: list[str], more: str) -> list[str]:
    without = re.split(r"[ ,]+", more.removeprefix("without").strip()) if more else []
    text = []
    for line in lines:
        if line.startswith(">>> "):
            text.append(line)
            results = run_everywhere(evaluator, path, line[4:], without)
            text += [result_text(one) for one in results]
    return text


def outcome(
    evaluator: Evaluator, lines: list[str], program: Program, folder: pathlib.Path
) -> list[tuple[Block, list[str]]]:
    """What each block of the program should hold, the program's own first."""
    for block in program.imported:
        text, _ = with_header(lines[block.begin : block.end])
        (folder / block.more).write_text(text)
    code = [MARK.sub("", line) for line in lines[program.code.begin : program.code.end]]
    text, skipped = with_header(code)
    path = folder / "program.py"
    path.write_text(text)
    marks = findings(path, skipped)
    marked = [line + "".join(marks.get(number, [])) for number, line in enumerate(code)]
    found = [(program.code, marked)]
    for block in program.results:
        name = last_script(text).name
        if block.kind == "graph":
            found.append((block, graph_text(path, name)))
        else:
            calls = lines[block.begin : block.end]
            found.append((block, run_lines(evaluator, path, calls, block.more)))
    return found


# --- The tests ------------------------------------------------------------------------------------

LINES = PAGE.read_text().split("\n")
PROGRAMS = programs(LINES)


@pytest.fixture(scope="module")
def evaluator() -> Evaluator:
    return Evaluator()


def names() -> list[str]:
    counts: dict[str, int] = {}
    found = []
    for program in PROGRAMS:
        counts[program.section] = counts.get(program.section, 0) + 1
        found.append(f"{program.section} {counts[program.section]}")
    return found


@pytest.mark.parametrize("program", PROGRAMS, ids=names())
def test_program(program: Program, evaluator: Evaluator, tmp_path: pathlib.Path) -> None:
    for block, expected in outcome(evaluator, LINES, program, tmp_path):
        assert LINES[block.begin : block.end] == expected, (
            "`tools/dev language --write` rewrites the page"
        )


def write() -> None:
    """Puts what follows from the programs into the page."""
    evaluator = Evaluator()
    changes: list[tuple[Block, list[str]]] = []
    failed = 0
    for program, name in zip(PROGRAMS, names(), strict=True):
        with tempfile.TemporaryDirectory() as folder:
            try:
                found = outcome(evaluator, LINES, program, pathlib.Path(folder))
            except AssertionError as error:
                failed += 1
                print(f"{PAGE.name}:{program.code.begin}: {name}: {error}", file=sys.stderr)
                continue
        for block, expected in found:
            if LINES[block.begin : block.end] != expected:
                print(f"{PAGE.name}:{block.begin}: {name}: {block.kind} rewritten")
                changes.append((block, expected))
    lines = list(LINES)
    for block, expected in sorted(changes, key=lambda one: -one[0].begin):
        lines[block.begin : block.end] = expected
    PAGE.write_text("\n".join(lines))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    write()
