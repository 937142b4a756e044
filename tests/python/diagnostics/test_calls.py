"""One wrong call of an operator has the same words in a script, called from Python, in a model that
is checked, and in a model that is run."""

from __future__ import annotations

import json
import pathlib
import runpy
import subprocess

import numpy as np
import onnx
import pytest
import sardonyx
from onnx import TensorProto, helper
from sardonyx import opset18 as op

from places import PROGRAM

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


def model_of(operator, inputs, attributes, domain="", functions=()):
    values = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3]),
        helper.make_tensor_value_info("i", TensorProto.INT64, [2]),
    ]
    node = helper.make_node(operator, inputs, ["y"], domain=domain, **attributes)
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph([node], "g", values, [result])
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("own", 1)]
    return helper.make_model(graph, opset_imports=opsets, functions=functions)


def model_with_function(operator, inputs, attributes):
    node = helper.make_node(operator, inputs, ["y"], **attributes)
    opsets = [helper.make_opsetid("", 18)]
    function = helper.make_function("own", "F", ["x", "i"], ["y"], [node], opsets)
    return model_of("F", ["x", "i"], {}, "own", [function])


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


INTS = np.array([1, 2], np.int64)
# Calls with inputs that the operator does not take, and what is said of them.
TYPES = [
    (
        "op.Add(x, i)",
        "`B` of `Add` is INT64[2], but input `A` of `Add` is FLOAT[2, 3]: both must",
    ),
    (
        "op.Concat(x, x, i, axis=0)",
        "`inputs[2]` of `Concat` is INT64[2], but input `inputs[0]` of `Concat` is FLOAT[2, 3]",
    ),
    ("op.Sqrt(i)", "`X` of `Sqrt` is INT64[2], which the operator does not take"),
    (
        "op.Where(x, x, x)",
        "`condition` of `Where` is FLOAT[2, 3], which the operator does",
    ),
    ("op.Reshape(x, x)", "`shape` of `Reshape` is FLOAT[2, 3], which the operator does not take"),
]


@pytest.mark.parametrize(("call", "sentence"), TYPES, ids=[row[0] for row in TYPES])
def test_wrong_types_have_one_sentence(tmp_path, call, sentence):
    operator, _, given = call.removeprefix("op.").removesuffix(")").partition("(")
    # Errors of runs begin with the operator's name, and do not repeat it.
    run_sentence = sentence.replace(f" of `{operator}`", "")
    with pytest.raises(sardonyx.EvalError, match=f"^`{operator}`: input ") as eager:
        eval(call, {"op": op, "x": X, "i": INTS})
    assert run_sentence in str(eager.value)

    script = tmp_path / "wrong.py"
    script.write_text(
        "from sardonyx import FLOAT, INT64, opset18 as op, script\n\n\n@script\n"
        f"def wrong(x: FLOAT[2, 3], i: INT64[2]):\n    return {call}\n"
    )
    assert sentence in check(script)
    module = runpy.run_path(str(script))
    with pytest.raises(sardonyx.CompileError) as compiled:
        module["wrong"].to_model_proto()
    assert sentence in str(compiled.value)

    names = [name for name in given.split(", ") if "=" not in name]
    axis = {"axis": 0} if "axis" in given else {}
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "i.npy", INTS)
    # The types of a function's nodes are known when it runs, and not before.
    for model in (model_of(operator, names, axis), model_with_function(operator, names, axis)):
        onnx.save(model, tmp_path / "wrong.onnx")
        done = subprocess.run(
            [PROGRAM, "run", "wrong.onnx", "x=x.npy", "i=i.npy"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 1, done
        assert run_sentence in done.stderr


def test_more_inputs_than_a_node_may_have():
    call = ("Sum", ["x"] * 70_000, {})
    with pytest.raises(RuntimeError, match="takes at most 65535 inputs, not 70000"):
        sardonyx.load(model_of(*call))


LIBRARY = """\
from sardonyx import opset21 as op, script


def check_rank(x, n):
    if len(x.shape) != n:
        raise NotImplementedError(f"rank {len(x.shape)} of {n}")
    return op.Relu(x)


@script(KEYWORDS)
def activated(x):
    return check_rank(x, 3)


@script(KEYWORDS)
def added(x):
    return op.Add(x, op.Cast(x, to=7))
"""
USER = """\
from sardonyx import FLOAT, opset21 as op, script
from library import activated, added


@script()
def f(x: FLOAT["N", 4]):
    return CALLED(x)
"""


@pytest.mark.parametrize("keywords", ["", "inline=True"])
@pytest.mark.parametrize("called", ["activated", "added"])
def test_the_chain_of_calls_ends_at_the_line_of_the_user(
    tmp_path: pathlib.Path, keywords: str, called: str
) -> None:
    (tmp_path / "library.py").write_text(LIBRARY.replace("KEYWORDS", keywords))
    path = tmp_path / "user.py"
    path.write_text(USER.replace("CALLED", called).replace("activated, added", called))

    def build(*options: str) -> str:
        command = [PROGRAM, "check", *options, path]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 1, done
        return done.stdout

    line = 6 if called == "activated" else 17
    text = build()
    assert f"library.py:{line}:" in text and "user.py:7:12" in text and "called here" in text
    [finding] = json.loads(build("--output-format", "json"))
    assert finding["range"]["start"]["line"] == line and finding["file"].endswith("library.py")
    last = finding["labels"][-1]
    assert last["file"].endswith("user.py") and last["range"]["start"]["line"] == 7
    assert last["message"] == "called here"
    [run] = json.loads(build("--output-format", "sarif"))["runs"]
    [result] = run["results"]
    places = [place["physicalLocation"] for place in result["relatedLocations"]]
    assert places[-1]["artifactLocation"]["uri"].endswith("user.py")
    assert places[-1]["region"]["startLine"] == 7
