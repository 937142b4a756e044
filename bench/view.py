"""How fluent the page of a graph is: the first paint, and the frames while it is dragged.

    python bench/view.py [--program build/release/sardonyx] [--nodes 10000] [MODEL.onnx ...]

Needs node, `npm ci` in tests/browser and a Chromium, as `tools/dev editors` installs them. Without
a GPU, as here, the browser draws with the processor. The aims are a first paint in a second and 30
frames a second with 10,000 nodes.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import subprocess
import tempfile
import time

import numpy as np
import onnx
import onnx.helper as oh

ROOT = pathlib.Path(__file__).resolve().parents[1]


def model(count: int) -> onnx.ModelProto:
    """Nodes of one or two inputs, which are among the results of the last few before."""
    random = np.random.default_rng(0)
    values, nodes = ["x"], []
    for i in range(count):
        near = values[int(random.integers(max(0, len(values) - 12), len(values)))]
        op_type, inputs = ("Add", [values[-1], near]) if i % 3 else ("Relu", [values[-1]])
        nodes.append(oh.make_node(op_type, inputs, [f"v{i}"], name=f"n{i}"))
        values.append(f"v{i}")
    shape = ["N", 64]
    ends = [oh.make_tensor_value_info(name, 1, shape) for name in ("x", values[-1])]
    return oh.make_model(oh.make_graph(nodes, "g", ends[:1], ends[1:]),
                         opset_imports=[oh.make_opsetid("", 18)])  # fmt: skip


def measure(program: str, path: pathlib.Path, folder: pathlib.Path) -> None:
    page = folder / "page.html"
    start = time.perf_counter()
    subprocess.run([program, "view", path, "--html", page], check=True)
    write = time.perf_counter() - start
    done = subprocess.run(
        ["node", ROOT / "tests/browser/measure.mjs", page], check=True, capture_output=True
    )
    found = json.loads(done.stdout)
    frames = "  ".join(
        f"{what}: {1000 / found[part]['median']:.0f} frames/s (95 %: {found[part]['most']:.0f} ms)"
        for part, what in (("near", "pan"), ("all", "pan, all in sight"))
    )
    print(
        f"{path.name}: {found['boxes']} boxes, page of {page.stat().st_size / 1e6:.1f} MB in "
        f"{write:.2f} s, first paint {found['paint']:.0f} ms, {frames}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default=str(ROOT / "build/release/sardonyx"))
    parser.add_argument("--nodes", type=int, default=10_000)
    parser.add_argument("models", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    print(f"load of the machine: {os.getloadavg()[0]:.1f} of {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        paths = list(options.models)
        if not paths:
            paths = [folder / f"{options.nodes}_nodes.onnx"]
            onnx.save(model(options.nodes), paths[0])
        for path in paths:
            measure(options.program, path, folder)


if __name__ == "__main__":
    main()
