"""How long eager calls take, beside the libraries that people use today.

    python bench/eager.py [--json FILE] [--repeat N]

sardonyx must be importable (installed, or PYTHONPATH=build/release/python). Every number is the
minimum of several runs, all in this process; a peer that cannot be imported is left out, and the
table says so.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import os
import platform
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from compile import GELU, Case, minimum

Work = Callable[[], object]

LOOP = """\
@script(default_opset=op)
def function(x: FLOAT["N"]) -> FLOAT["N"]:
    for i in range(1000):
        x = x * 0.5 + 1.0
    return x
"""

LOOP_GRAPH = """\
@script(default_opset=op)
def function(x: FLOAT["N"], n: INT64) -> FLOAT["N"]:
    for i in range(n):
        x = x * 0.5 + 1.0
    return x
"""

ADD = """\
@script(default_opset=op)
def function(x: FLOAT["N"], y: FLOAT["N"]) -> FLOAT["N"]:
    return op.Add(x, y)
"""

ROWS = ("Add, 16 floats", "GELU, 16 floats", "GELU, 1000000 floats", "loop of 1000 steps")
# Seconds that a row may take; the large GELU is measured against the kept session.
AIMS = {ROWS[0]: 1e-6, ROWS[1]: 5e-6, ROWS[3]: 3e-3}

COLUMNS = (
    "sardonyx",
    "compiled",
    "numpy",
    "torch",
    "onnxruntime",
    "onnx.reference",
    "onnxscript ort",
    "onnxscript ref",
)

# Calls in the measurement of memory, and the sizes that they go through. Growth below a byte for
# each call is the allocator's, not ours.
CALLS, SIZES = 100_000, 257


def random_floats(count: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(count, dtype=np.float32)


def seconds_of(work: Work, repeat: int) -> float:
    """One call, as the shortest of several rounds of so many calls that a round takes 1 ms."""
    once = minimum(work, 1)
    calls = max(1, min(2000, int(1e-3 / max(once, 1e-7))))

    def round_of_calls() -> None:
        for _ in range(calls):
            work()

    return minimum(round_of_calls, repeat) / calls


def script_works(functions: dict[str, Any], op: Any, small: Any, large: Any) -> dict[str, Work]:
    """The rows as eager calls of a package with script functions."""
    return {
        ROWS[0]: lambda: op.Add(small, small),
        ROWS[1]: lambda: functions["gelu"](small),
        ROWS[2]: lambda: functions["gelu"](large),
        ROWS[3]: lambda: functions["loop"](small),
    }


def numpy_works(small: Any, large: Any) -> dict[str, Work]:
    """NumPy has no erf."""
    del large

    def loop() -> Any:
        x = small
        for _ in range(1000):
            x = x * 0.5 + 1.0
        return x

    return {ROWS[0]: lambda: np.add(small, small), ROWS[3]: loop}


def torch_works(small: Any, large: Any) -> dict[str, Work]:
    torch = importlib.import_module("torch")
    x, many = torch.from_numpy(small), torch.from_numpy(large)
    half = math.sqrt(0.5)

    def gelu(x: Any) -> Any:
        return x * (0.5 * (torch.erf(x * half) + 1.0))

    def loop() -> Any:
        y = x
        for _ in range(1000):
            y = y * 0.5 + 1.0
        return y

    return {
        ROWS[0]: lambda: torch.add(x, x),
        ROWS[1]: lambda: gelu(x),
        ROWS[2]: lambda: gelu(many),
        ROWS[3]: loop,
    }


def graph_works(
    run: Callable[[bytes], Callable[[dict[str, Any]], object]],
    models: dict[str, bytes],
    small: Any,
    large: Any,
) -> dict[str, Work]:
    """The rows as models that were loaded before."""
    add, gelu, loop = (run(models[name]) for name in ("add", "gelu", "loop"))
    steps = np.array(1000, np.int64)
    return {
        ROWS[0]: lambda: add({"x": small, "y": small}),
        ROWS[1]: lambda: gelu({"x": small}),
        ROWS[2]: lambda: gelu({"x": large}),
        ROWS[3]: lambda: loop({"x": small, "n": steps}),
    }


def sardonyx_run(model: bytes) -> Callable[[dict[str, Any]], object]:
    loaded = importlib.import_module("sardonyx").load(model)
    return lambda feeds: loaded(**feeds)


def onnxruntime_run(model: bytes) -> Callable[[dict[str, Any]], object]:
    ort = importlib.import_module("onnxruntime")
    session = ort.InferenceSession(model, providers=["CPUExecutionProvider"])
    return lambda feeds: session.run(None, feeds)


def reference_run(model: bytes) -> Callable[[dict[str, Any]], object]:
    evaluator = importlib.import_module("onnx.reference").ReferenceEvaluator(model)
    return lambda feeds: evaluator.run(None, feeds)


class Onnxscript:
    """onnxscript's eager calls under one of its evaluators."""

    def __init__(self, folder: Path, evaluator: str) -> None:
        self.module = importlib.import_module("onnxscript.evaluator")
        self.evaluator = getattr(self.module, evaluator)()
        self.folder = folder

    def works(self, small: Any, large: Any) -> dict[str, Work]:
        functions = {
            name: Case(f"eager_{name}", body, self.folder, "onnxscript").function()
            for name, body in (("gelu", GELU), ("loop", LOOP))
        }
        op = importlib.import_module("onnxscript").opset18
        works = script_works(functions, op, small, large)
        return {name: self.within(work) for name, work in works.items()}

    def within(self, work: Work) -> Work:
        def run() -> object:
            with self.module.default_as(self.evaluator):
                return work()

        return run


def all_works(folder: Path) -> tuple[dict[str, dict[str, Work]], dict[str, str]]:
    """The rows by column, and the columns that are left out, with the reason.

    `compiled` is what `fn.compile()` gives.
    """
    import sardonyx

    cases = {"add": ADD, "gelu": GELU, "loop": LOOP, "graph": LOOP_GRAPH}
    functions = {
        name: Case(f"eager_{name}", body, folder, "sardonyx").function()
        for name, body in cases.items()
    }
    models = {
        "add": functions["add"].to_model_bytes(),
        "gelu": functions["gelu"].to_model_bytes(),
        "loop": functions["graph"].to_model_bytes(),
    }
    feeds = (random_floats(16), random_floats(1_000_000))
    makers: dict[str, Callable[[], dict[str, Work]]] = {
        "sardonyx": lambda: script_works(functions, sardonyx.opset18, *feeds),
        "compiled": lambda: graph_works(sardonyx_run, models, *feeds),
        "numpy": lambda: numpy_works(*feeds),
        "torch": lambda: torch_works(*feeds),
        "onnxruntime": lambda: graph_works(onnxruntime_run, models, *feeds),
        "onnx.reference": lambda: graph_works(reference_run, models, *feeds),
        "onnxscript ort": lambda: Onnxscript(folder, "ORTEvaluator").works(*feeds),
        "onnxscript ref": lambda: Onnxscript(folder, "OnnxReferenceRuntimeEvaluator").works(*feeds),
    }
    works: dict[str, dict[str, Work]] = {}
    absent: dict[str, str] = {}
    for name in COLUMNS:
        try:
            works[name] = makers[name]()
        except ImportError as error:
            absent[name] = f"not installed ({error})"
    return works, absent


def check_equal(works: dict[str, dict[str, Work]]) -> None:
    """What is compared in time must agree in value."""
    for row in ROWS:
        expected = np.asarray(works["sardonyx"][row]())
        for name, column in works.items():
            if row in column:
                result = column[row]()
                result = result[0] if isinstance(result, list) else result
                result = getattr(result, "value", result)  # onnxscript's tensors
                np.testing.assert_allclose(
                    np.asarray(result), expected, rtol=1e-4, atol=1e-6, err_msg=f"{name}: {row}"
                )


def measure(works: dict[str, dict[str, Work]], repeat: int) -> dict[str, dict[str, float]]:
    """Seconds by row and column."""
    rows: dict[str, dict[str, float]] = {}
    for row in ROWS:
        rows[row] = {}
        for name, column in works.items():
            if row in column:
                is_slow = name.startswith(("onnxscript", "onnx.reference"))
                rows[row][name] = (
                    minimum(column[row], 1) if is_slow else seconds_of(column[row], repeat)
                )
    return rows


def resident_bytes() -> int | None:
    """The memory of this process now; nothing where the system does not say."""
    path = Path("/proc/self/statm")
    if not path.exists():
        return None
    return int(path.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def measure_memory(folder: Path) -> dict[str, float] | None:
    """How much the process grows over many calls whose shapes change, in bytes."""
    import sardonyx

    op = sardonyx.opset18
    gelu = Case("eager_memory", GELU, folder, "sardonyx").function()
    floats = random_floats(4 * SIZES)

    def calls(count: int) -> None:
        for i in range(count):
            x = floats[: i % SIZES + 1]
            op.Add(x.reshape(-1, 1), x)
            gelu(x)

    if resident_bytes() is None:  # asked before, because asking takes memory the first time
        return None
    calls(20 * SIZES)  # what a process keeps after its first calls is no growth
    before = resident_bytes() or 0
    calls(CALLS // 2)
    after = resident_bytes() or 0
    return {"calls": CALLS, "bytes": after - before}


def print_table(results: dict[str, Any]) -> None:
    """For people."""
    rows: dict[str, dict[str, float]] = results["rows"]
    print(f"{'us':24}" + "".join(f"{name:>16}" for name in COLUMNS) + f"{'aim':>10}")
    for row, numbers in rows.items():
        cells = [f"{numbers[c] * 1e6:.2f}" if c in numbers else "-" for c in COLUMNS]
        aim = AIMS.get(row, numbers.get("onnxruntime"))
        is_met = aim is None or numbers["sardonyx"] <= aim
        text = "-" if aim is None else f"{aim * 1e6:.0f}"
        word = "" if is_met else "  missed"
        print(f"{row:24}" + "".join(f"{cell:>16}" for cell in cells) + f"{text:>10}{word}")
    for name, reason in results["absent"].items():
        print(f"{name}: {reason}")
    memory = results["memory"]
    if memory is None:
        print("memory: this system does not tell how much a process has")
    else:
        word = "" if memory["bytes"] < memory["calls"] else "  missed"
        print(f"memory: {memory['bytes'] / 1024:+.0f} KiB over {memory['calls']} calls{word}")


def main() -> None:
    """Measures, prints, writes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, help="write the numbers (seconds, bytes) here")
    parser.add_argument("--repeat", type=int, default=20)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        memory = measure_memory(folder)  # before the peers are loaded, whose growth is not ours
        works, absent = all_works(folder)
        check_equal(works)
        results: dict[str, Any] = {
            "python": platform.python_version(),
            "machine": platform.machine(),
            "rows": measure(works, options.repeat),
            "absent": absent,
            "memory": memory,
        }
    print_table(results)
    if options.json:
        options.json.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
