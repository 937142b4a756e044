"""How long modules of PyTorch take to become models, beside torch.export and torch.onnx.

    python bench/torch_export.py [NAMES] [--json FILE] [--latency]

The modules are those of the tests (tests/torch/zoo.py and beside it). sardonyx, torch and, for the
peer, onnxscript must be importable. Times are processor time of this process, the lesser of two
runs; conversion is what happens after torch.export has captured the module, up to the bytes of the
model. Nodes are counted without Constants, in functions as well. Latencies are those of ONNX
Runtime on one thread, the median of many runs; the peer's model is what its optimiser leaves.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import math
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests/torch"))

Result = dict[str, Any]


def least(work: Callable[[], Any], runs: int) -> tuple[float, Any]:
    """The processor time in seconds, and what the work gave."""
    best, result = math.inf, None
    for _ in range(runs):
        before = time.process_time()
        result = work()
        best = min(best, time.process_time() - before)
    return best, result


def node_count(data: bytes) -> int:
    import onnx

    model = onnx.load_from_string(data)

    def count(nodes: Any) -> int:
        total = 0
        for node in nodes:
            total += node.op_type != "Constant"
            total += sum(count(a.g.node) for a in node.attribute if a.HasField("g"))
        return total

    return count(model.graph.node) + sum(count(one.node) for one in model.functions)


def latency(data: bytes, arrays: list[Any]) -> float:
    """Of one run, in milliseconds."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    feeds = dict(zip([one.name for one in session.get_inputs()], arrays, strict=True))
    times = []
    for i in range(40):
        before = time.perf_counter()
        session.run(None, feeds)
        if i >= 10:
            times.append(time.perf_counter() - before)
    return statistics.median(times) * 1e3


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        yield


def peer(module: Any, case: Any) -> tuple[float, bytes]:
    """torch.onnx.export, which captures the module itself."""
    import torch

    def run() -> bytes:
        with quiet():
            made = torch.onnx.export(module, case.arguments(3, 5), dynamic_shapes=case.peer_shapes,
                                     opset_version=20, verbose=False)  # fmt: skip
        return made.model_proto.SerializeToString()  # type: ignore[no-any-return]

    return least(run, 1)


def peer_shapes(shapes: Any) -> Any:
    """What both take: names of dimensions are AUTO."""
    from sardonyx.torch._export import _torch_shapes

    return _torch_shapes(shapes)


def measured(name: str, make: Callable[[], Any], options: argparse.Namespace) -> Result:
    import sardonyx.torch
    import torch
    from torch.utils import _pytree

    torch.manual_seed(0)
    case = make()
    module = case.module.eval()
    case.peer_shapes = peer_shapes(case.shapes)
    arguments = case.arguments(3, 5)
    captures, captured = least(
        lambda: torch.export.export(module, arguments, dynamic_shapes=case.peer_shapes), 1
    )

    def convert() -> tuple[Any, bytes]:
        made = sardonyx.torch.convert(captured, dynamic_shapes=case.shapes)
        return made, made.to_model_bytes()

    converts, (made, data) = least(convert, 2)
    row: Result = {
        "name": name, "capture": captures, "convert": converts,
        "operators": made._program.count, "nodes": node_count(data),
    }  # fmt: skip
    arrays = [one.numpy() for one in _pytree.tree_leaves(arguments) if torch.is_tensor(one)]
    if options.latency:
        with contextlib.suppress(Exception):
            row["latency"] = latency(data, arrays)
    if not options.alone:
        try:
            row["peer"], theirs = peer(module, case)
            row["peer_nodes"] = node_count(theirs)
            if options.latency and "latency" in row:
                row["peer_latency"] = latency(theirs, arrays)
        except Exception as error:
            row["peer_error"] = str(error).strip().splitlines()[0][:80]
    return row


def geometric(values: list[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def summary(rows: list[Result]) -> Result:
    both = [row for row in rows if "peer_nodes" in row]
    timed = [row for row in both if "peer_latency" in row]
    capture, convert = (sum(row[key] for row in rows) for key in ("capture", "convert"))
    operators = sum(row["operators"] for row in rows)
    return {
        "models": len(rows),
        "capture_s": capture,
        "conversion_s": convert,
        "conversion_of_capture": convert / capture,
        "us_an_operator": convert / operators * 1e6,
        "models_of_the_peer": len(both),
        "peer_s": sum(row["peer"] for row in both),
        "both_s": sum(row["capture"] + row["convert"] for row in both),
        "nodes": sum(row["nodes"] for row in both),
        "peer_nodes": sum(row["peer_nodes"] for row in both),
        "latency": geometric([row["latency"] / row["peer_latency"] for row in timed]),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--latency", action="store_true", help="run the models too")
    parser.add_argument("--alone", action="store_true", help="without torch.onnx.export")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    import logging

    logging.disable(logging.WARNING)
    import families  # noqa: F401  they add to the zoo
    import networks  # noqa: F401
    import torch
    from zoo import MODELS

    torch.set_num_threads(1)
    chosen = options.names or list(MODELS)
    measured(chosen[0], MODELS[chosen[0]], options)  # what is loaded once
    rows = []
    for name in chosen:
        row = measured(name, MODELS[name], options)
        rows.append(row)
        text = " ".join(f"{key}={value:.4g}" if isinstance(value, float) else f"{key}={value}"
                        for key, value in row.items() if key != "name")  # fmt: skip
        print(f"{name:24} {text}", flush=True)
    total = summary(rows)
    for key, value in total.items():
        print(f"{key:24} {value:.4g}")
    if options.json:
        options.json.write_text(json.dumps({"models": rows, "summary": total}, indent=1))


if __name__ == "__main__":
    main()
