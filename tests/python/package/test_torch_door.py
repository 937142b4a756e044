"""The door for PyTorch where PyTorch is not installed: the library, and what importing loads."""

from __future__ import annotations

import pathlib
import runpy
import subprocess
import sys

import numpy as np
import onnx
import pytest
import sardonyx
from sardonyx import FLOAT, opset18, opset20, script
from sardonyx.torch import aten

from language import run_ort, same, shared_compiler
from places import PROGRAM
from surfaces import check

PACKAGE = str(pathlib.Path(sardonyx.__file__).parents[1])


def test_importing_does_not_import_torch() -> None:
    code = (
        "import sys, sardonyx, sardonyx.torch; from sardonyx.torch import aten; "
        "aten.overloads(); print('torch' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        env={"PYTHONPATH": PACKAGE}, timeout=60,
    )  # fmt: skip
    assert done.stdout.strip() == "False"


@script(default_opset=opset20)
def main(x: FLOAT["n", 6], w: FLOAT[4, 6]):
    y = aten.gelu(aten.linear(x, w))
    a, b = aten.split(y, 2, -1)
    return aten.add(a, b, alpha=2), aten.var_mean(y, [0], correction=0)[1]


def test_library_in_a_script() -> None:
    rng = np.random.default_rng(0)
    x, w = rng.standard_normal((3, 6), np.float32), rng.standard_normal((4, 6), np.float32)
    eager = main(x, w)
    for opset in (18, 20, 23):
        data = main.to_model_bytes(opset=opset)
        onnx.checker.check_model(onnx.load_from_string(data), full_check=True)
        same(list(main.compile(opset=opset)(x, w)), list(eager), 1e-5)
        same(run_ort(onnx.load_from_string(data), {"x": x, "w": w}), list(eager), 1e-5)


@pytest.mark.parametrize(
    ("imports", "call"),
    [
        ("from sardonyx.torch.aten.create import *", "zeros([3])"),
        ("from sardonyx.torch.aten.create import *", "cast(zeros([3]), FLOAT.dtype)"),
        ("from sardonyx.torch.aten.create import cast, fill", "cast(fill(x, K), FLOAT.dtype)"),
        ("from sardonyx.torch.aten import types", "types.number(3.0, FLOAT.dtype)"),
        ("from sardonyx.torch import aten", "aten.fill(x, K)"),
    ],
)
def test_files_of_the_library(tmp_path: pathlib.Path, imports: str, call: str) -> None:
    """The program has the functions that Python has, whichever way they are imported."""
    text = (
        f"import numpy as np\nfrom sardonyx import FLOAT, script, opset20 as op\n{imports}\n\n"
        "K = np.array(7.0, np.float32)\n\n\n@script(default_opset=op)\n"
        f"def f(x: FLOAT[3]):\n    return x + {call}\n"
    )
    file = tmp_path / "files.py"
    file.write_text(text)
    model = tmp_path / "files.onnx"
    subprocess.run([PROGRAM, "build", file, "-o", model], capture_output=True, check=True)
    x = np.arange(3, dtype=np.float32)
    same(list(sardonyx.load(model).run({"x": x})), [runpy.run_path(str(file))["f"](x)], 0)


def test_library_says_what_it_is_asked_for() -> None:
    assert "linear" in dir(aten)
    with pytest.raises(AttributeError, match="no `linnear`"):
        _ = aten.linnear


# --- What the library needs of the language


def test_split_in_as_many_as_sizes(tmp_path: pathlib.Path) -> None:
    body = "parts = op.Split(x, [1, 2], axis=0)\nreturn parts[1] * 2, parts[0], len(parts)"
    text = "from sardonyx import FLOAT, script, opset21 as op\n\n\n@script()\ndef f(x: FLOAT[3]):\n"
    text += "".join(f"    {line}\n" for line in body.split("\n"))
    answer, data = shared_compiler().compile(text, "f")
    assert answer[0] == "ok", answer
    x = np.arange(3, dtype=np.float32)
    wanted = [np.array([2, 4], np.float32), np.array([0], np.float32), np.int64(2)]
    same(run_ort(onnx.load_from_string(data), {"x": x}), wanted, 0)
    (tmp_path / "f.py").write_text(text)
    import runpy

    function = runpy.run_path(str(tmp_path / "f.py"))["f"]
    same(list(function(x)), wanted, 0)
    same(list(function.compile()(x)), wanted, 0)


def test_opset_that_is_compiled_for() -> None:
    @script(default_opset=opset18)
    def newest(x: FLOAT[2]):
        if opset18.version >= 20:
            return opset18.Gelu(x)
        return x

    assert b"Gelu" in newest.to_model_bytes(opset=20)
    assert b"Gelu" not in newest.to_model_bytes()
    text = (
        "from sardonyx import FLOAT, script, opset18 as op\n\n\n@script()\ndef f(x: FLOAT[2]):\n"
        "    if op.version >= 20:\n        return op.Gelu(x)\n    return op.Neg(x)\n"
    )
    answer, data = shared_compiler().compile(text, "f")
    assert answer[0] == "ok"
    assert b"Gelu" not in data


def test_initializers_of_all_sizes() -> None:
    weights = {"layer.bias": np.ones(2, np.float32)}
    bias = weights["layer.bias"] + 1

    @script(default_opset=opset18, initializer_bytes=0)
    def small(x: FLOAT[2]):
        return x * 2.0 + bias

    @script(default_opset=opset18)
    def plain(x: FLOAT[2]):
        return x * 2.0 + bias

    @script(default_opset=opset18)
    def keyed(x: FLOAT[2]):  # as weights are
        return x * 2.0 + weights["layer.bias"]

    for function, name in ((small, "bias"), (keyed, "layer.bias")):
        graph = onnx.load_from_string(function.to_model_bytes()).graph
        assert [one.name for one in graph.initializer] == [name]
        assert [node.op_type for node in graph.node].count("Constant") == 1
    assert not onnx.load_from_string(plain.to_model_bytes()).graph.initializer
    with pytest.raises(TypeError, match="initializer_bytes"):
        script(initializer_bytes=-1)


FOLDED = """
from sardonyx import FLOAT, script, opset20 as op


@script(fold_bytes={bytes})
def f(x: FLOAT["N", 4]):
    places = op.Cast(op.Range(0, 4, 1), to=FLOAT.dtype) / 4.0
    noise = op.RandomUniform(shape=[4], seed=1.0)
    large = op.Expand(places, [64, 4])
    if op.ReduceSum(x) > 0.0:
        y = x * op.Cos(places)
    else:
        y = x - op.Exp(places)
    return y + noise, large, op.Shape(op.Range(0, 4, 1))
"""


def operators_of(graph: onnx.GraphProto) -> list[str]:
    found = []
    for node in graph.node:
        found += [node.op_type] if node.op_type != "Constant" else []
        for one in node.attribute:
            found += operators_of(one.g) if one.HasField("g") else []
    return found


def test_results_of_constants_are_computed_on_request(tmp_path: pathlib.Path) -> None:
    """On all surfaces; what is large, or depends on chance, is left to the run."""
    x = np.array([[1, -2, 3, 4]], np.float32)
    results = {}
    for size in (0, 64):
        text = FOLDED.replace("{bytes}", str(size))
        path = tmp_path / f"f{size}.py"
        path.write_text(text)
        function = runpy.run_path(str(path))["f"]
        data = function.to_model_bytes()
        onnx.checker.check_model(onnx.load_from_string(data), full_check=True)
        target = tmp_path / "f.onnx"
        subprocess.run([PROGRAM, "build", path, "-o", target, "-q"], check=True)
        assert target.read_bytes() == data
        results[size] = (operators_of(onnx.load_from_string(data).graph),
                         [sardonyx.load(data).run({"x": one}) for one in (x, -x)])  # fmt: skip
    assert {"Range", "Cast", "Cos", "Exp", "Div"} <= set(results[0][0])
    assert sorted(results[64][0]) == ["Add", "Expand", "Greater", "If", "Mul", "RandomUniform",
                                      "ReduceSum", "Reshape", "Sub"]  # fmt: skip
    for before, after in zip(results[0][1], results[64][1], strict=True):
        for one, other in zip(before, after, strict=True):
            np.testing.assert_array_equal(one, other)
    with pytest.raises(TypeError, match="fold_bytes"):
        script(fold_bytes="all")


def test_a_constant_that_is_folded_into_itself() -> None:
    @script(fold_bytes=64)
    def f(x: FLOAT[1]):
        c = opset18.Exp(opset18.Constant(value_float=1.0))
        return x + opset18.Mul(c, c)

    data = f.to_model_bytes()
    assert operators_of(onnx.load_from_string(data).graph) == ["Add"]
    result = sardonyx.load(data)(np.zeros(1, np.float32))
    np.testing.assert_allclose(result, [np.exp(2.0)], rtol=1e-6)


def test_arrays_are_tensors_in_what_they_are_given_to(tmp_path: pathlib.Path) -> None:
    check(
        "W = np.array([1.0, 2.0])\n\n"
        "@script(inline=True, default_opset=op)\ndef g(x, w):\n"
        "    return x * w if w.dtype.is_floating_point() else x\n\n---\nreturn g(x, W)",
        np.array([3.0, 8.0]),
        tmp_path,
        x=np.array([3.0, 4.0]),
    )


def test_finding_in_a_library_shows_the_call(tmp_path: pathlib.Path) -> None:
    @script(default_opset=opset20)
    def wrong(x: FLOAT[2]):
        return aten.dropout(x, 0.5, True)

    with pytest.raises(sardonyx.CompileError) as caught:
        wrong.to_model_bytes()
    labels = caught.value.diagnostics[0]["labels"]
    assert labels[0]["file"].endswith("activation.py")
    assert labels[-1]["file"].endswith("test_torch_door.py")
    assert "called here" in str(caught.value)
    assert tmp_path.is_dir()
