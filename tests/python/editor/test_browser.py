"""What needs a browser: the page of the graph, and CodeMirror with the language server; the tests
themselves are in tests/browser. The pictures of docs/editor.md are those that they make
(`tools/dev editors --shots FOLDER`): error.png is docs/images/editor_error.png there, and so are
script.png and real.png, of a model of `tools/dev models`."""

from __future__ import annotations

import os
import pathlib
import subprocess

import numpy as np
import onnx
import onnx.helper as oh
import onnx.numpy_helper
import pytest

from places import PROGRAM, ROOT
from real_models import models_folder

FOLDER = ROOT / "tests/browser"
REAL = "chython_rxnmap/rxnmap.onnx"
RANDOM = np.random.default_rng(0)

pytestmark = pytest.mark.editors

# What a page must show and not obey.
EVIL = "</script><script>window.evil=1</script><img src=x onerror=window.evil=1><b>\"'&`${alert(1)}"

SCRIPT = '''"""A script."""

from sardonyx import FLOAT, script
from sardonyx.onnx_opset import opset18 as op


@script()
def main(x: FLOAT["N", 2]) -> FLOAT["N", 2]:
    y = op.Softmax(x * 2.0, axis=-1)
    z = op.Log(x)
    return op.Relu(y + z)
'''


def floats(name: str, *dims: int | str) -> onnx.ValueInfoProto:
    return oh.make_tensor_value_info(name, onnx.TensorProto.FLOAT, list(dims))


def save(path: pathlib.Path, nodes: list[onnx.NodeProto], weights: dict[str, np.ndarray]) -> None:
    graph = oh.make_graph(
        nodes, "g", [floats("x", "N", 64)], [floats("y", "N", 64)],
        [onnx.numpy_helper.from_array(value, name) for name, value in weights.items()],
    )  # fmt: skip
    onnx.save(oh.make_model(graph, opset_imports=[oh.make_opsetid("", 20)]), path)


def evil(path: pathlib.Path, op_type: str) -> None:
    weight = onnx.numpy_helper.from_array(np.arange(9, dtype=np.float32), EVIL + "w")
    branch = oh.make_graph(
        [oh.make_node("Identity", [EVIL + "x"], [EVIL + "y"], name=EVIL)],
        EVIL, [], [floats(EVIL + "y", EVIL)],
    )  # fmt: skip
    nodes = [
        oh.make_node(EVIL, [EVIL + "x", EVIL + "w"], ["b"], domain=EVIL, **{EVIL: EVIL}),
        oh.make_node(op_type, [EVIL + "w"], [EVIL + "n"], name=EVIL, doc_string=EVIL),
        oh.make_node("Cast", ["b"], ["c"], to=9, doc_string=EVIL),
        oh.make_node("If", ["c"], [EVIL + "o"], then_branch=branch, else_branch=branch),
    ]
    graph = oh.make_graph(
        nodes, EVIL, [floats(EVIL + "x", EVIL)], [floats(EVIL + "o", EVIL)], [weight],
        doc_string=EVIL,
    )  # fmt: skip
    model = oh.make_model(
        graph, doc_string=EVIL, producer_name=EVIL,
        opset_imports=[oh.make_opsetid("", 18), oh.make_opsetid(EVIL, 1)],
    )  # fmt: skip
    oh.set_model_props(model, {EVIL: EVIL})
    onnx.save(model, path)


def run(name: str, **environment: str) -> None:
    done = subprocess.run(
        ["node", "--test", "--test-reporter=tap", name], cwd=FOLDER,
        env={**os.environ, "SARDONYX": str(PROGRAM), **environment},
        capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "# skipped 0" in done.stdout


def test_editor() -> None:
    run("editor.test.mjs")


def test_page(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.py").write_text(SCRIPT)
    evil(tmp_path / "evil.onnx", "Relu")
    evil(tmp_path / "evil2.onnx", "Neg")
    bell = np.clip(RANDOM.normal(size=(64, 64)), -3, 3).astype(np.float32)
    bell[0, :2] = [-3, 3]
    save(tmp_path / "net.onnx", [oh.make_node("MatMul", ["x", "w"], ["m"]),
                                 oh.make_node("Relu", ["m"], ["y"])], {"w": bell})  # fmt: skip
    save(tmp_path / "net2.onnx", [oh.make_node("MatMul", ["x", "w"], ["m"]),
                                  oh.make_node("Gelu", ["m"], ["r"]),
                                  oh.make_node("Neg", ["r"], ["y"])], {"w": bell})  # fmt: skip
    nodes, weights, last = [], {}, "x"
    for i in range(6):
        weights[f"w{i}"] = RANDOM.normal(size=(64, 64)).astype(np.float32)
        nodes += [oh.make_node("MatMul", [last, f"w{i}"], [f"m{i}"]),
                  oh.make_node("Relu", [f"m{i}"], [f"r{i}"]),
                  oh.make_node("Add", [last, f"r{i}"], [f"a{i}" if i < 5 else "y"])]  # fmt: skip
        last = f"a{i}"
    save(tmp_path / "layers.onnx", nodes, weights)
    run("view.test.mjs", SDX_REAL=str(models_folder() / REAL), SDX_MODELS=str(tmp_path))
