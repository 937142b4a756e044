"""How long scripts take to become models, beside the installed onnxscript.

    python bench/compile.py [--json FILE] [--program build/release/sardonyx] [--repeat N]

sardonyx must be importable (installed, or PYTHONPATH=build/release/python). Every number is the
minimum of several runs in this process, or of several processes where whole processes are timed.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import sys
import tempfile
import time
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

HEADER = """\
import math
from {package} import script, FLOAT, INT64, opset18 as op
"""

GELU = """\
HALF = math.sqrt(0.5)

@script(default_opset=op)
def function(x: FLOAT["N"]) -> FLOAT["N"]:
    return x * (0.5 * (op.Erf(x * HALF) + 1.0))
"""

# 20 statements: two levels of if inside a loop.
NESTED = """\
@script(default_opset=op)
def function(x: FLOAT["N"], n: INT64) -> FLOAT["N"]:
    total = op.Identity(x)
    scale = op.ReduceMax(x, keepdims=0)
    for i in range(n):
        step = op.Cast(i, to=1)
        row = op.Add(x, step)
        size = op.ReduceSum(row, keepdims=0)
        if size > scale:
            row = op.Mul(row, row)
            half = op.Div(row, scale)
            if size > step:
                part = op.Sub(half, step)
            else:
                part = op.Add(half, step)
        else:
            part = op.Neg(row)
        total = op.Add(total, part)
        scale = op.Abs(size)
    result = op.Mul(total, scale)
    clipped = op.Relu(result)
    return op.Add(clipped, x)
"""


def generated(statements: int) -> str:
    """A function of so many statements, one operator each."""
    operators = ("Add", "Mul", "Sub", "Max")
    lines = ['@script(default_opset=op)\ndef function(x: FLOAT["N"]) -> FLOAT["N"]:']
    before = "x"
    for i in range(statements - 1):
        lines.append(f"    v{i} = op.{operators[i % 4]}({before}, x)")
        before = f"v{i}"
    return "\n".join([*lines, f"    return op.Abs({before})", ""])


def iterations(count: int) -> str:
    """A static loop of so many iterations."""
    return f"""\
@script(default_opset=op)
def function(x: FLOAT["N"]) -> FLOAT["N"]:
    for i in range({count}):
        x = op.Add(x, x)
    return x
"""


def nesting(depth: int) -> str:
    """Tensor-valued branches in branches."""
    lines = ['@script(default_opset=op)\ndef function(x: FLOAT["N"], n: INT64) -> FLOAT["N"]:']
    lines.append("    y = x")
    lines += [f"{'    ' * (i + 1)}if n > {i}:" for i in range(depth)]
    lines.append(f"{'    ' * (depth + 1)}y = op.Neg(x)")
    return "\n".join([*lines, "    return y", ""])


def calling(count: int, callees: int) -> str:
    """So many functions, each of which calls the ones before it."""
    lines = ["@script(default_opset=op)\ndef f0(x):\n    return op.Abs(x)\n"]
    for i in range(1, count):
        calls = " + ".join(f"f{max(i - k, 0)}(x)" for k in range(1, callees + 1))
        lines.append(f"@script(default_opset=op)\ndef f{i}(x):\n    return {calls} + {i}\n")
    lines.append(
        f'@script(default_opset=op)\ndef function(x: FLOAT["N"]):\n    return f{count - 1}(x)'
    )
    return "\n".join([*lines, ""])


# Shapes whose cost must grow with their size: the source for a size, and the size to measure.
SHAPES: dict[str, tuple[Callable[[int], str], int]] = {
    "static iterations": (iterations, 10_000),
    "deep nesting": (nesting, 200),
    "functions, 1 call each": (lambda n: calling(n, 1), 1000),
    "functions, 3 calls each": (lambda n: calling(n, 3), 1000),
    "terms of a sum": (
        lambda n: (
            f'@script(default_opset=op)\ndef function(x: FLOAT["N"]):\n'
            f"    return {' + '.join(['x'] * n)}\n"
        ),
        5000,
    ),
}


def minimum(work: Callable[[], object], repeat: int, least: float = 0.5) -> float:
    """The shortest of the runs, in seconds; short work is run more often, for `least` seconds."""
    gc.collect()
    gc.disable()
    best, spent, runs = float("inf"), 0.0, 0
    while runs < repeat or (spent < least and runs < 50 * repeat):
        start = time.perf_counter()
        work()
        seconds = time.perf_counter() - start
        best, spent, runs = min(best, seconds), spent + seconds, runs + 1
    gc.enable()
    return best


def process_time(command: list[str], repeat: int) -> float:
    """The shortest life of the process, in seconds."""

    silent = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_WRONLY, 0) for fd in (1, 2)]

    def run() -> None:
        child = os.posix_spawn(command[0], command, os.environ, file_actions=silent)
        _, status = os.waitpid(child, 0)
        if status != 0:
            raise RuntimeError(f"{command} failed")

    return minimum(run, repeat)


class Case:
    """One source, compiled by either package."""

    def __init__(self, name: str, body: str, folder: Path, package: str) -> None:
        self.name = f"{package}_{name}"
        self.path = folder / f"{self.name}.py"
        source = HEADER.format(package=package) + body
        self.path.write_text(source)
        self.code = compile(source, str(self.path), "exec")

    def function(self) -> Any:
        """The decorated function of a new module; Python's own compilation is not counted."""
        module = types.ModuleType(self.name)
        module.__file__ = str(self.path)
        sys.modules[self.name] = module
        exec(self.code, module.__dict__)
        return module.function

    def proto_bytes(self) -> bytes:
        """@script, to_model_proto and SerializeToString."""
        return self.function().to_model_proto().SerializeToString()

    def own_bytes(self) -> bytes:
        """The same without the detour through the onnx package's message."""
        return self.function().to_model_bytes()


def measure_imports(repeat: int) -> dict[str, float]:
    """Whole processes."""
    python = sys.executable
    lines = {
        "python -c pass": "pass",
        "import sardonyx": "import sardonyx",
        "from sardonyx import script, FLOAT, opset18": (
            "from sardonyx import script, FLOAT, opset18"
        ),
        "import onnxscript": "import onnxscript",
    }
    return {
        name: process_time([python, "-c", line], 3 if "onnxscript" in name else repeat)
        for name, line in lines.items()
    }


def measure_cases(folder: Path, repeat: int) -> dict[str, dict[str, float]]:
    """Seconds by case and by what was measured."""
    import onnx
    import onnx.parser
    import onnx.printer

    cases = {"gelu": GELU, "nested": NESTED}
    cases.update({f"{n} statements": generated(n) for n in (100, 1000, 5000)})
    rows: dict[str, dict[str, float]] = {}
    for name, body in cases.items():
        word = name.replace(" ", "_")
        ours = Case(word, body, folder, "sardonyx")
        peer = Case(word, body, folder, "onnxscript")
        model = onnx.ModelProto.FromString(ours.own_bytes())
        onnx.checker.check_model(model)
        text = onnx.printer.to_text(model)
        large = "5000" in name
        rows[name] = {
            "sardonyx": minimum(ours.proto_bytes, repeat),
            "sardonyx bytes": minimum(ours.own_bytes, repeat),
            "onnxscript": minimum(peer.proto_bytes, 3 if large else min(repeat, 5)),
            "onnx.parser": minimum(lambda text=text: onnx.parser.parse_model(text), 5),
        }
    return rows


def measure_growth(program: Path, folder: Path) -> dict[str, dict[str, float]]:
    """Seconds for each shape at half its size and at its size, by `sardonyx build` as a whole
    process: CPython itself refuses some of these files. Nothing where there is no program."""
    rows: dict[str, dict[str, float]] = {}
    if not program.exists():
        return rows
    for name, (source, size) in SHAPES.items():
        times = []
        for n in (size // 2, size):
            path = folder / f"growth_{n}.py"
            path.write_text(HEADER.format(package="sardonyx") + source(n))
            target = f"{path}:function"
            command = [str(program), "build", target, "-o", str(folder / "growth.onnx")]
            times.append(process_time(command, 3))
        rows[name] = {"size": size, "half": times[0], "full": times[1]}
    return rows


def measure_program(program: Path, folder: Path, repeat: int) -> float | None:
    """`sardonyx build` of GELU as a whole process; nothing where there is no program."""
    if not program.exists():
        return None
    path = folder / "gelu_for_the_program.py"
    path.write_text(HEADER.format(package="onnxscript") + GELU)
    output = folder / "gelu.onnx"
    return process_time([str(program), "build", str(path), "-o", str(output)], repeat)


def print_table(results: dict[str, object]) -> None:
    """For people."""
    imports: dict[str, float] = results["imports"]  # type: ignore[assignment]
    plain = imports["python -c pass"]
    print(f"{'process':48}{'ms':>10}{'x python':>10}")
    for name, seconds in imports.items():
        print(f"{name:48}{seconds * 1e3:10.2f}{seconds / plain:10.2f}")
    program = results["program"]
    if isinstance(program, float):
        print(f"{'sardonyx build gelu.py':48}{program * 1e3:10.2f}{program / plain:10.2f}")
    print()
    columns = ("sardonyx", "sardonyx bytes", "onnxscript", "onnx.parser")
    print(
        f"{'@script to bytes, ms':20}"
        + "".join(f"{name:>16}" for name in columns)
        + f"{'ratio':>8}{'bytes':>8}"
    )
    cases: dict[str, dict[str, float]] = results["cases"]  # type: ignore[assignment]
    for name, row in cases.items():
        numbers = "".join(f"{row[column] * 1e3:16.3f}" for column in columns)
        ratio = row["onnxscript"] / row["sardonyx"]
        own = row["onnxscript"] / row["sardonyx bytes"]
        print(f"{name:20}{numbers}{ratio:7.0f}x{own:7.0f}x")
    print()
    print(f"{'growth':28}{'size':>8}{'ms at half':>12}{'ms':>10}{'ratio':>8}")
    growth: dict[str, dict[str, float]] = results["growth"]  # type: ignore[assignment]
    for name, row in growth.items():
        half, full = row["half"], row["full"]
        print(f"{name:28}{row['size']:8.0f}{half * 1e3:12.2f}{full * 1e3:10.2f}{full / half:7.2f}x")


def main() -> None:
    """Measures, prints, writes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, help="write the numbers (seconds) here")
    parser.add_argument("--program", type=Path, default=Path("build/release/sardonyx"))
    parser.add_argument("--repeat", type=int, default=20)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        results: dict[str, object] = {
            "python": platform.python_version(),
            "machine": platform.machine(),
            "imports": measure_imports(options.repeat),
            "program": measure_program(options.program, folder, options.repeat),
            "cases": measure_cases(folder, options.repeat),
            "growth": measure_growth(options.program, folder),
        }
    print_table(results)
    if options.json:
        options.json.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
