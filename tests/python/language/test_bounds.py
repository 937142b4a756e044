"""Bounds of dimensions, `FLOAT["2 <= n <= 512"]`: what they decide is decided on all surfaces, and
a call that breaks them is refused."""

from __future__ import annotations

import inspect
import pathlib
import pickle
import runpy
from typing import Any

import numpy as np
import onnx
import pytest
import sardonyx
from sardonyx import FLOAT

from language import run_ort, same, shared_compiler, shared_evaluator

HEADER = """\
import numpy as np
from typing import Annotated
from sardonyx import FLOAT, INT64, script, opset21 as op

"""


def function_of(text: str, folder: pathlib.Path) -> Any:
    path = folder / "program.py"
    path.write_text(HEADER + text)
    return runpy.run_path(str(path))["f"]


def program(bounds: str, body: str) -> str:
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    return (
        f'@script()\ndef f(x: FLOAT["{bounds}", 4], y: FLOAT["n"]) -> FLOAT["m", 4]:\n'
        f"    n = y.shape[0]\n{lines}"
    )


# Bounds, a body, and which operators it leaves; `n` is the dimension.
DECIDED = [
    ("2 <= n <= 512", "return -x if n > 1 else x", {"Neg"}),
    ("1 < n", "return -x if n > 1 else x", {"Neg"}),
    ("n >= 2", "return x if n == 1 else -x", {"Neg"}),
    ("512 >= n > 1", "return -x if 600 > n >= 2 and n != 513 else x", {"Neg"}),
    ("n <= 512", "return -x if n in (1, 2, 3) or n < 513 else x", {"Neg"}),
    ("n < 8", "return op.Expand(y[0], [min(n, 8), 4])",
     {"Constant", "Expand", "Gather", "Shape", "Reshape", "Concat"}),
    ("3 <= n", "return op.Expand(y[0], [max(3, n) - n + 2, 4])", {"Constant", "Expand", "Gather"}),
    ("2 <= n <= 3", "return op.Expand(y[0], [(n + 2) // 4, 4])", {"Constant", "Expand", "Gather"}),
    ("2<=n<=512", "t = 0\nfor i in range(n):\n    t = t + y[i]\nreturn x + t",
     {"Add", "Cast", "Concat", "Constant", "Gather", "Loop", "Shape", "Reshape", "Slice",
      "Squeeze"}),
]  # fmt: skip


@pytest.mark.parametrize(("bounds", "body", "operators"), DECIDED)
def test_bounds_decide(tmp_path: pathlib.Path, bounds: str, body: str, operators: set[str]) -> None:
    text = program(bounds, body)
    function = function_of(text, tmp_path)
    answer, data = shared_compiler().compile(HEADER + text, "f")
    assert answer[0] == "ok", answer
    assert data == function.to_model_bytes()
    model = onnx.load_from_string(data)
    onnx.checker.check_model(model, full_check=True)
    assert {node.op_type for node in model.graph.node} <= operators
    # ONNX has no place for bounds: the name alone is in the model.
    assert model.graph.input[0].type.tensor_type.shape.dim[0].dim_param == "n"
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    inputs = {"x": x, "y": np.array([5, 6, 7], np.float32)}
    expected = [function(**inputs)]
    same(run_ort(model, inputs), expected, 0)
    same(shared_evaluator().run(model, inputs), expected, 0)


@pytest.mark.parametrize("count", [1, 5])
def test_sizes_outside_are_refused(tmp_path: pathlib.Path, count: int) -> None:
    text = program("2 <= n <= 4", "return x") + (
        f"\n@script()\ndef g(x: FLOAT[{count}, 4], y: FLOAT['k']) -> FLOAT['m', 4]:\n"
        "    return f(x, y)\n"
        "\n@script()\ndef h(x: FLOAT['k', 4], y: FLOAT['k + 4']) -> FLOAT['m', 4]:\n"
        "    return f(x[:3], y)\n"
    )
    path = tmp_path / "program.py"
    path.write_text(HEADER + text)
    functions = runpy.run_path(str(path))
    x, y = np.ones((count, 4), np.float32), np.ones(count, np.float32)
    with pytest.raises(TypeError, match="its annotation says `2 <= n <= 4`"):
        functions["f"](x, y)
    with pytest.raises(TypeError, match="its annotation says `2 <= n <= 4`"):
        functions["g"](x, y)
    with pytest.raises(sardonyx.CompileError, match="the annotation says `2 <= n <= 4`"):
        functions["g"].to_model_bytes()
    answer, _ = shared_compiler().compile(HEADER + text, "g")
    assert answer[0] == "error" and answer[1].startswith("argument-mismatch"), answer


def test_two_bounds_of_a_name_hold_together(tmp_path: pathlib.Path) -> None:
    text = (
        '@script()\ndef f(x: FLOAT["n <= 9"], y: FLOAT["2 <= n"], z: FLOAT["n"]) -> FLOAT["n"]:\n'
        "    return -z if 2 <= z.shape[0] <= 9 else z\n"
    )
    function = function_of(text, tmp_path)
    model = function.to_model_proto()
    assert [node.op_type for node in model.graph.node] == ["Neg"]
    one = np.ones(1, np.float32)
    with pytest.raises(TypeError, match="its annotation says `2 <= n`"):
        function(one, one, one)
    text = '@script()\ndef f(x: FLOAT["n <= 4"], y: FLOAT["5 <= n"]) -> FLOAT["n"]:\n    return x\n'
    with pytest.raises(sardonyx.CompileError, match="no size lies between the bounds of `n` here"):
        function_of(text, tmp_path).to_model_bytes()
    answer, _ = shared_compiler().compile(HEADER + text, "f")
    assert answer[0] == "error" and answer[1].startswith("invalid-annotation"), answer


def test_functions_are_compiled_for_the_bounds_of_their_callers(tmp_path: pathlib.Path) -> None:
    """Two callers with dimensions of one name and other bounds do not share what bounds decide."""
    text = """
@script()
def chosen(x, n):
    return -x if n > 4 else x

@script()
def inner(x):
    return op.Expand(x[0], [min(x.shape[0], 8)])

@script()
def small(x: FLOAT["n <= 4"]) -> FLOAT[...]:
    return inner(x) + chosen(x, x.shape[0])

@script()
def large(x: FLOAT["5 <= n"]) -> FLOAT[...]:
    return op.Concat(inner(x), chosen(x, x.shape[0]), axis=0)

@script()
def f(x: FLOAT["a"], y: FLOAT["b"]) -> tuple[FLOAT[...], FLOAT[...]]:
    return small(x), large(y)
"""
    function = function_of(text, tmp_path)
    inputs = {
        "x": np.arange(3, dtype=np.float32) + 1,
        "y": np.arange(12, dtype=np.float32) + 1,
    }
    expected = list(function(**inputs))
    np.testing.assert_array_equal(expected[0], 1 + inputs["x"])
    np.testing.assert_array_equal(expected[1], np.concatenate([np.ones(8), -inputs["y"]]))
    model = function.to_model_proto()
    same(run_ort(model, inputs), expected, 0)
    same(shared_evaluator().run(model, inputs), expected, 0)


def test_a_size_of_the_run_gets_bounds_by_an_annotation(tmp_path: pathlib.Path) -> None:
    text = (
        '@script()\ndef f(x: FLOAT["n"]) -> INT64["k"]:\n'
        '    found: INT64[1, "1 <= k <= 8"] = op.NonZero(x)\n'
        "    return -found[0] if found.shape[1] < 9 else found[0]\n"
    )
    function = function_of(text, tmp_path)
    model = function.to_model_proto()
    assert "If" not in {node.op_type for node in model.graph.node}
    x = np.array([0, 3, 0, 4], np.float32)
    np.testing.assert_array_equal(function(x), [-1, -3])
    same(run_ort(model, {"x": x}), [function(x)], 0)


WRONG = [
    ("2 <= n == 4", "write `2 <= N`"),
    ("n != 3", "of one name, against numbers"),
    ("n == 3", "of one name, against numbers"),
    ("2 <= n >= 4", "write `2 <= N`"),
    ("2 <= 2*n", "of one name, against numbers"),
    ("n <= m", "of one name, against numbers"),
    ("5 <= n <= 2", "no size lies between"),
    ("n < 0", "no size lies between"),
    ("n <= -1", "no size lies between"),
    ("<= n", "write `2 <= N`"),
    ("2 <=", "write `2 <= N`"),
    ("n <= 99999999999999999999", "of one name, against numbers"),
    ("n > 9223372036854775807", "of one name, against numbers"),
    ("1 <= n <= 4 <= 5", "write `2 <= N`"),
    ("1 <= n <<= 5", "of one name, against numbers"),
]


@pytest.mark.parametrize(("bounds", "reason"), WRONG)
def test_what_states_no_bounds_is_refused(tmp_path: pathlib.Path, bounds: str, reason: str) -> None:
    with pytest.raises(TypeError, match=reason):
        FLOAT[bounds]
    text = f"@script()\ndef f(x: \"FLOAT['{bounds}']\") -> FLOAT[...]:\n    return x\n"
    with pytest.raises(sardonyx.CompileError, match=reason):
        function_of(text, tmp_path).to_model_bytes()
    answer, _ = shared_compiler().compile(HEADER + text, "f")
    assert answer[0] == "error" and answer[1].startswith("invalid-annotation"), answer


def test_types_with_bounds_are_objects_as_others() -> None:
    one = FLOAT["batch  2 <= n <  512 4"]  # type: ignore[misc]
    assert one.shape == ("batch", "2 <= n <= 511", 4)
    assert repr(one) == "FLOAT['batch', '2 <= n <= 511', 4]"
    assert eval(repr(one)) is one
    assert pickle.loads(pickle.dumps(one)) is one
    assert FLOAT["0 <= n"].shape == "n"  # type: ignore[misc]
    assert FLOAT["-3 < n <= 7"].shape == "n <= 7"  # type: ignore[misc]

    def plain(x: FLOAT["n >= 3"]) -> None:  # type: ignore[valid-type]
        pass

    assert "3 <= n" in str(inspect.signature(plain, eval_str=True))


def test_annotated_and_several_in_one_string(tmp_path: pathlib.Path) -> None:
    text = (
        '@script()\ndef f(x: Annotated[FLOAT, "2 <= n", 3], y: FLOAT["m > 1 n"]) -> FLOAT[...]:\n'
        "    return -x if y.shape[1] > 1 and y.shape[0] >= 2 else x\n"
    )
    model = function_of(text, tmp_path).to_model_proto()
    assert [node.op_type for node in model.graph.node] == ["Neg"]
