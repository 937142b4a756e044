"""One wrong call of an operator has the same words in a script, called from Python, in a model that
is checked, and in a model that is run."""

from __future__ import annotations

import os
import pathlib
import subprocess

import numpy as np
import onnx
import pytest
import sardonyx
from onnx import TensorProto, helper
from sardonyx import opset18 as op

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get(
    "SDX_BUILD",
    "build/release" if (ROOT / "build/release/sardonyx").exists() else "build/dev",
)
PROGRAM = BUILD / "sardonyx"
X = np.ones((2, 3), np.float32)

# The call in a script, the inputs and attributes of the node that says the same, and the words
# after the operator's name. No node: a file has no such call, or its reader says it.
CALLS = [
    ("op.Add(x)", ("Add", ["x"], {}), "takes 2 inputs, and `B` is missing"),
    ("op.Add(x, x, x)", ("Add", ["x", "x", "x"], {}), "takes 2 inputs, not 3"),
    ("op.Clip(x, None, x, x)", ("Clip", ["x", "", "x", "x"], {}), "takes 1 to 3 inputs, not 4"),
    ("op.Concat(axis=0)", ("Concat", [], {"axis": 0}), "takes at least 1 input, and `inputs` is"),
    ("op.Concat(x, x)", ("Concat", ["x", "x"], {}), "needs the attribute `axis`"),
    ("op.Cast(x, to=None)", ("Cast", ["x"], {}), "needs the attribute `to`"),
    ("op.Softmax(x, dim=0)", ("Softmax", ["x"], {"dim": 0}), "has no attribute `dim`"),
    ("op.Softmax(x, axsi=0)", ("Softmax", ["x"], {"axsi": 0}), "has no attribute `axsi`"),
    ("op.Max(data_0=x)", None, "has no attribute `data_0`"),
    ("op.Add(x, x, A=x)", None, "gets its input `A` twice"),
    (
        "op.DepthToSpace(x, blocksize=1, mode='DRC')",
        ("DepthToSpace", ["x"], {"blocksize": 1, "mode": "DRC"}),
        "`DRC` is not a value of `mode`",
    ),
]


def check(path: pathlib.Path) -> str:
    done = subprocess.run([PROGRAM, "check", path], capture_output=True, text=True, check=False)
    assert done.returncode == 1, done
    return done.stdout + done.stderr


@pytest.mark.parametrize(("call", "node", "words"), CALLS, ids=[row[0] for row in CALLS])
def test_the_words_are_the_same_everywhere(tmp_path, call, node, words):
    operator = call.partition("(")[0].removeprefix("op.")
    whole = words if words.startswith("`") else f"`{operator}` {words}"
    script = tmp_path / "wrong.py"
    script.write_text(
        "from sardonyx import FLOAT, opset18 as op, script\n\n\n@script\n"
        f"def wrong(x: FLOAT[2, 3]):\n    return {call}\n"
    )
    assert whole in check(script)
    with pytest.raises((TypeError, ValueError)) as eager:
        eval(call, {"op": op, "x": X})
    assert whole in str(eager.value)
    if node is None:
        return
    op_type, inputs, attributes = node
    value = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph(
        [helper.make_node(op_type, inputs, ["y"], **attributes)], "g", [value], [result]
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
    onnx.save(model, tmp_path / "wrong.onnx")
    assert whole in check(tmp_path / "wrong.onnx")
    with pytest.raises(sardonyx.EvalError) as run:
        sardonyx.load(tmp_path / "wrong.onnx")(X)
    assert words in str(run.value)


def test_a_near_name_is_offered():
    with pytest.raises(TypeError, match="has no attribute `axsi`: did you mean `axis`"):
        op.Softmax(X, axsi=0)
    with pytest.raises(ValueError, match="`edg` is not a value of `mode`: did you mean `edge`"):
        op.Pad(X, [0, 0, 0, 0], mode="edg")
