"""Whatever an operator or a Tensor is called with: a result or a Python error, and no crash."""

import pathlib
import subprocess
import sys

import numpy as np
import onnx.parser
import pytest
import sardonyx
from sardonyx import FLOAT
from sardonyx import opset21 as op

PROGRAM = pathlib.Path(__file__).resolve().parents[2] / "data/odd_arguments.py"


@pytest.mark.parametrize("seed", range(3))
def test_odd_arguments_are_python_errors(seed):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", PROGRAM, str(seed), "3000"], capture_output=True, text=True
    )
    assert done.stdout == "done\n", done.stderr[-3000:] or done.returncode


@sardonyx.script()
def chosen(x: FLOAT["N"], y: FLOAT["N"]) -> FLOAT["N"]:
    return op.Where(x > y, x, op.Relu(y))


@pytest.mark.skipif(sys.version_info < (3, 11), reason="errors have no notes")
def test_the_parameter_that_is_none_is_named():
    x = np.ones(3, np.float32)
    for arguments in ((x, None), (None, x)):
        with pytest.raises(TypeError) as error:
            chosen(*arguments)
        name = "y" if arguments[1] is None else "x"
        assert error.value.__notes__ == [f"`{name}` of `chosen` is None"]
    with pytest.raises(TypeError) as error:
        chosen(x, 1j)
    assert error.value.__notes__ == ["this is `y` of `chosen`"]


@sardonyx.script()
def scaled(x: FLOAT["N"], factor: float = 1.0) -> FLOAT["N"]:
    return x * factor


@pytest.mark.skipif(sys.version_info < (3, 11), reason="errors have no notes")
def test_the_keyword_that_was_meant_is_named():
    x = np.ones(3, np.float32)
    with pytest.raises(TypeError, match="unexpected keyword argument 'fcator'") as error:
        scaled(x, fcator=2.0)
    assert error.value.__notes__ == ["`scaled` takes `x`, `factor`: did you mean `factor`?"]
    with pytest.raises(TypeError, match="unexpected keyword argument 'bias'") as error:
        scaled(x, bias=2.0)
    assert error.value.__notes__ == ["`scaled` takes `x`, `factor`"]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="errors have no notes")
@pytest.mark.parametrize("wrong", [[[1.0, 2.0], [3.0]], np.array([1, "a"], object)], ids=repr)
def test_the_argument_that_is_no_tensor_is_named(wrong):
    for positional, named in ([(wrong,), {}], [(), {"x": wrong}]):
        with pytest.raises((TypeError, ValueError)) as error:
            scaled(*positional, **named)
        assert error.value.__notes__ == ["this is `x` of `scaled`"]


def test_a_limit_of_steps_ends_a_loop():
    model = onnx.parser.parse_model("""
        <ir_version: 8, opset_import: ["" : 18]>
        g (float x) => (float y) {
            always = Constant <value: tensor = bool {1}> ()
            y = Loop (, always, x) <body = b (int64 i, bool c, float u) => (bool d, float v) {
                d = Identity (c)
                v = Add (u, x)
            }>
        }""")
    loaded = sardonyx.load(model)
    with pytest.raises(RuntimeError, match=r"Loop.*limit of 1000 steps"):
        loaded.run({"x": np.float32(1)}, max_steps=1000)
