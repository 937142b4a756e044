"""Functions and calls: parameters, specialisation, functions as values, long chains of calls."""

from __future__ import annotations

import pathlib
import runpy
import subprocess
import sys
import time

import numpy as np
import onnx
import onnx.checker
import pytest

from language import HEADER, TOOL, Cases, check_everywhere, shared_compiler, shared_evaluator
from places import PROGRAM

pytestmark = pytest.mark.filterwarnings("ignore")

F = np.array([-2.5, -1.0, 0.5, 3.0, 7.25], np.float32)
G = np.array([1.5, -2.0, 0.75, 2.0, -3.5], np.float32)
I = np.array([-7, -1, 0, 5, 9], np.int64)  # noqa: E741
M = np.arange(12, dtype=np.float32).reshape(3, 4)
T = np.arange(24, dtype=np.float32).reshape(2, 3, 4)

CASES = Cases()
case = CASES.case

# --- Parameters -----------------------------------------------------------------------------------

case(
    "args: one function for each number of them",
    """
@script(default_opset=op)
def total(first, *rest):
    y = first
    for x in rest:
        y = y + x
    return y

@script(default_opset=op)
def f(x: FLOAT[5], y: FLOAT[5]):
    return total(x) + total(x, y) * total(x, y, x) + total(y, y)
""",
    lambda x, y: x + (x + y) * (2 * x + y) + 2 * y,
    F,
    G,
)
case(
    "args that are passed on",
    """
@script(default_opset=op)
def greatest(*xs):
    return op.Max(*xs)

@script(default_opset=op)
def spread(*xs: FLOAT[...]):
    return greatest(*xs) - op.Min(*xs)

@script(default_opset=op)
def f(x: FLOAT[5], y: FLOAT[5]):
    return spread(x, y, x * y)
""",
    lambda x, y: np.max([x, y, x * y], 0) - np.min([x, y, x * y], 0),
    F,
    G,
)
case(
    "keyword-only and positional-only parameters",
    """
@script(default_opset=op)
def g(a, b, /, c, *, d, scale: float = 2.0):
    return (a - b) * c + d * scale

@script(default_opset=op)
def f(x: FLOAT[5], y: FLOAT[5]):
    return g(x, y, d=y, c=x) + g(y, x, x, d=x, scale=-0.5)
""",
    lambda x, y: (x - y) * x + y * 2 + (y - x) * x - 0.5 * x,
    F,
    G,
)
case(
    "a default of a tensor is made at the call",
    """
@script(default_opset=op)
def g(x, by: FLOAT[...] = 3.0, *, plus: FLOAT[...] = 1.0):
    return x * by + plus

@script(default_opset=op)
def f(x: FLOAT[5]):
    return g(x) + g(x, x) + g(x, plus=x)
""",
    lambda x: x * 3 + 1 + x * x + 1 + x * 3 + x,
    F,
)
case(
    "attributes with defaults in arithmetic, conditions, ranges and subscripts",
    """
@script(default_opset=op)
def f(x: FLOAT[5], k: float = 2.0, n: int = 3, flag: bool = True, axes: Sequence[int] = (0,)):
    y = x * k + (k - 1.5) / 2
    for i in range(n):
        y = y + i
    if flag:
        y = y - x[n]
    return op.ReduceSum(y, axes, keepdims=flag)
""",
    lambda x: np.sum(x * 2 + 0.25 + 3 - x[3], keepdims=True),
    F,
    as_function=False,
)
case(
    "an optional attribute that is None",
    """
@script(default_opset=op)
def g(x, axis: Optional[int] = None):
    if axis is None:
        return op.Softmax(x)
    return op.Softmax(x, axis=axis)

@script(default_opset=op)
def f(x: FLOAT[3, 4]):
    return g(x) + g(x, 0) + g(x, axis=None)
""",
    lambda x: sum(
        np.exp(x - x.max(a, keepdims=True))
        / np.exp(x - x.max(a, keepdims=True)).sum(a, keepdims=True)
        for a in (1, 0, 1)
    ),
    M,
    without=("reference",),  # it cannot link the attribute of a Softmax
)
case(
    "a default is evaluated once, at the definition",
    """
STEP = 2.0

@script(default_opset=op)
def g(x, by: float = STEP * 2):
    return x * by

@script(default_opset=op)
def f(x: FLOAT[5]):
    return g(x) + g(x, STEP)
""",
    lambda x: 6 * x,
    F,
)

# --- Static arguments -----------------------------------------------------------------------------

case(
    "lists, tuples and dicts of tensors",
    """
@script(default_opset=op)
def weigh(xs, weights, names):
    y = xs[0] * weights[names["first"]]
    for x, w in zip(xs[1:], weights[1:]):
        y = y + x * w
    return y

@script(default_opset=op)
def f(x: FLOAT[5], y: FLOAT[5]):
    return weigh([x, y, x], (2.0, y, -1.0), {"first": 0}) - weigh((y, x), [x, 3], {"first": 1})
""",
    lambda x, y: (x * 2 + y * y - x) - (y * 3 + x * 3),
    F,
    G,
)
case(
    "a list of functions: the layers of a model",
    """
@script(default_opset=op)
def relu(x):
    return op.Relu(x)

@script(default_opset=op)
def double(x):
    return x * 2

@script(default_opset=op)
def run(x, layers):
    for layer in layers:
        x = layer(x)
    return x

@script(default_opset=op)
def f(x: FLOAT[5]):
    return run(x, [double, relu, double]) + run(x, [op.Neg, relu])
""",
    lambda x: 4 * np.maximum(x, 0) + np.maximum(-x, 0),
    F,
)
case(
    "strings, element types, None and opsets",
    """
@script(default_opset=op)
def g(x, mode, to=None, ops=opset18):
    y = ops.Abs(x) if mode == "abs" else ops.Neg(x)
    return y if to is None else ops.Cast(ops.Cast(y, to=to), to=FLOAT.dtype)

@script(default_opset=op)
def f(x: FLOAT[5]):
    return g(x, "abs") + g(x, "neg", INT64.dtype) + g(x, mode="neg", to=None)
""".replace("ops=opset18", "ops=op"),
    lambda x: np.abs(x) + np.trunc(-x) - x,
    F,
)
case(
    "a body that needs the rank, the shape and the type of its argument",
    """
@script(default_opset=op)
def mean_of_rest(x):
    y = x
    for axis in range(len(x.shape) - 1):
        y = op.ReduceMean(y, [axis + 1], keepdims=1)
    return y

@script(default_opset=op)
def rows(x):
    total = x[0]
    for i in range(x.shape[0]):
        total = total + x[i]
    return total

@script(default_opset=op)
def halved(x):
    return x // 2 if x.dtype == INT64.dtype else x / 2

@script(default_opset=op)
def f(x: FLOAT[2, 3, 4], y: INT64[5]):
    a = mean_of_rest(x) + mean_of_rest(x[0])[0]
    return a, rows(x) + rows(x[0])[0], halved(x), halved(y)
""",
    lambda x, y: (
        x.mean((1, 2), keepdims=True) + x[0].mean(1, keepdims=True)[0],
        x[0] + x.sum(0) + (x[0][0] + x[0].sum(0))[0],
        x / 2,
        y // 2,
    ),
    T,
    I,
    rtol=1e-4,
)
case(
    "a number that the body needs to know",
    """
@script(default_opset=op)
def repeat(x, n):
    parts = [x for _ in range(n)]
    return op.Concat(*parts, axis=0)

@script(default_opset=op)
def softmax(x, axis):
    return op.Softmax(x, axis=axis)

@script(default_opset=op)
def f(x: FLOAT[3, 4]):
    return repeat(x, 2), repeat(x, n=3), softmax(x, 0) * softmax(x, -1) * softmax(x, axis=0)
""",
    lambda x: (
        np.concatenate([x] * 2),
        np.concatenate([x] * 3),
        softmax(x, 0) ** 2 * softmax(x, -1),
    ),
    M,
)
case(
    "a number beside a tensor of another type",
    """
@script(default_opset=op)
def scale(x, by=2.0):
    return x * by

@script(default_opset=op)
def f(x: DOUBLE[3], y: FLOAT[3]):
    return scale(x), scale(y), scale(x, 0.1), scale(y, 3)
""",
    lambda x, y: (x * 2, y * 2, x * 0.1, y * 3),
    np.array([1.0, 2.0, 3.0]),
    np.array([1.0, 2.0, 3.0], np.float32),
    as_python=False,
)
case(
    "recursion that ends at compile time",
    """
@script(default_opset=op)
def power(x, n):
    if n == 0:
        return op.CastLike(1, x) + x * 0
    half = power(x, n // 2)
    return half * half * x if n % 2 == 1 else half * half

@script(default_opset=op)
def even(x, n):
    return x if n == 0 else odd(x + 1, n - 1)

@script(default_opset=op)
def odd(x, n):
    return -x if n == 0 else even(x * 2, n - 1)

@script(default_opset=op)
def f(x: FLOAT[5]):
    return power(x, 5) + even(x, 3) + power(x, 2)
""",
    lambda x: x**5 - ((x + 1) * 2 + 1) + x**2,
    F,
    rtol=1e-4,
)
case(
    "inline: the body runs at the call",
    """
@script(inline=True)
def pair(x, n):
    out = []
    for i in range(n):
        out.append(x * (i + 1))
    return out

@script(inline=True, default_opset=op)
def norm(x: FLOAT[...], eps: float = 1e-5):
    return x / (op.ReduceMax(op.Abs(x), keepdims=0) + eps)

@script(default_opset=op)
def f(x: FLOAT[5]):
    a, b, c = pair(x, 3)
    return norm(a - b * c)
""",
    lambda x: (x - 6 * x * x) / (np.abs(x - 6 * x * x).max() + 1e-5),
    F,
)

# --- Functions as values --------------------------------------------------------------------------

case(
    "lambdas and nested functions as arguments",
    """
@script(default_opset=op)
def twice(x, step):
    return step(step(x))

@script(default_opset=op)
def f(x: FLOAT[5], y: FLOAT[5]):
    k = 3

    def grow(v):
        return v * k + 1

    def shift(v):
        return v + y

    return twice(x, grow) - twice(x, lambda v: v * v) + twice(x, shift) + twice(x, lambda v: v - y)
""",
    lambda x, y: (x * 9 + 4) - x**4 + x + 2 * y + x - 2 * y,
    F,
    G,
    rtol=1e-4,
)
case(
    "a loop's lambdas read the variable when they are called",
    """
@script(default_opset=op)
def apply(x, step):
    return step(x)

@script(default_opset=op)
def f(x: FLOAT[5]):
    y = x
    steps = []
    for i in range(3):
        y = apply(y, lambda v: v + i)
        steps.append(lambda v: v * i)
        steps.append(lambda v, i=i: v - i)
    for step in steps:
        y = apply(y, step)
    return y
""",
    lambda x: (((x + 3) * 2) * 2 - 1) * 2 - 2,
    F,
)
case(
    "a graph body that is passed on",
    """
@script(default_opset=op)
def cumulate(x, start, body):
    last, all = op.Scan(start, x, body=body, num_scan_inputs=1)
    return all

@script(default_opset=op)
def f(x: FLOAT[5]):
    @graph()
    def add(s, v):
        t = s + v
        return t, op.Identity(t)

    return cumulate(x, 0.0, add) + cumulate(x, 1.0, add)
""".replace("0.0, add", "op.Constant(value_float=0.0), add").replace(
        "1.0, add", "op.Constant(value_float=1.0), add"
    ),
    lambda x: 2 * np.cumsum(x) + 1,
    F,
)
case(
    "a nested graph function inside an if",
    """
@script(default_opset=op)
def f(x: INT64[5], c: BOOL):
    y = x
    if c:
        @graph()
        def body(s, v):
            t = s + v
            return t, op.Identity(t)

        z = op.Constant(value_int=0)
        _, y = op.Scan(z, x, body=body, num_scan_inputs=1)
    return y
""",
    lambda x, c: np.cumsum(x) if c else x,
    I,
    np.array(True),
)
case(
    "recursion of a nested function",
    """
@script(default_opset=op)
def f(x: FLOAT[5]):
    def power(v, n):
        return v if n == 1 else v * power(v, n - 1)

    return power(x, 3)
""",
    lambda x: x**3,
    F,
)
case(
    "a script that is defined later, and another's name",
    """
@script(default_opset=op)
def f(x: FLOAT[5]):
    g = later
    return g(x) + later(x)

@script(default_opset=op)
def later(x):
    return x * 2
""",
    lambda x: 4 * x,
    F,
)
case(
    "names of the code around that are only read",
    """
STEP = 2

@script(default_opset=op)
def f(x: FLOAT[5]):
    global STEP
    k = x * STEP

    def g():
        nonlocal k
        return k + 1

    return g()
""",
    lambda x: x * 2 + 1,
    F,
)
case(
    "a file's own functools.partial",
    """
import functools

add = functools.partial(lambda a, b: a + b, 3)

def scale(x, by, *, plus=0.0):
    return x * by + plus

double = functools.partial(scale, by=2.0)
more = functools.partial(double, plus=1.0)
largest = functools.partial(max, 3)

@script(default_opset=op)
def f(x: FLOAT[5]):
    return add(x) + double(x) + more(x) + more(x, plus=3) + largest(5)
""",
    lambda x: x + 3 + 2 * x + 2 * x + 1 + 2 * x + 3 + 5,
    F,
)
case(
    "functools.partial",
    """
from functools import partial

@script(default_opset=op)
def scale(x, by, *, plus=0.0):
    return x * by + plus

@script(default_opset=op)
def twice(x, step):
    return step(step(x))

@script(default_opset=op)
def f(x: FLOAT[5], y: FLOAT[5]):
    z = twice(x, partial(scale, by=2.0, plus=1.0)) + partial(op.Sub, x)(y)
    return z + partial(scale, x, plus=y)(3.0)
""",
    lambda x, y: (x * 2 + 1) * 2 + 1 + x - y + 3 * x + y,
    F,
    G,
)
case(
    "functools.reduce",
    """
from functools import partial, reduce

@script(default_opset=op)
def f(x: FLOAT[5]):
    total = reduce(lambda a, b: a + b, [x, x * 2.0, x * 3.0])
    double = partial(lambda by, a: a * by, 2.0)
    return total + double(x) + reduce(partial(lambda k, a, b: a * b + k, 1.0), [x, x], x)
""",
    lambda x: 8 * x + (x * x + 1) * x + 1,
    F,
)
case(
    "a list that grows in a with",
    """
import contextlib

@script(default_opset=op)
def f(x: FLOAT[5]):
    ys = []
    for i in range(op.Size(x)):
        with contextlib.nullcontext():
            ys.append(x * op.Cast(i, to=FLOAT.dtype))
    return op.ReduceSum(op.ConcatFromSequence(ys, axis=0, new_axis=1), [0], keepdims=0)
""",
    lambda x: x * 10,
    F,
)
case(
    "a nested function of args and keywords",
    """
@script(default_opset=op)
def f(x: FLOAT[5]):
    def total(*xs, scale=1.0):
        y = xs[0]
        for one in xs[1:]:
            y = y + one
        return y * scale

    return total(x, x, scale=0.5) + total(x) + total(*[x, x, x])
""",
    lambda x: 5 * x,
    F,
)

test_model, test_function, test_eager = CASES.tests()


def softmax(x: np.ndarray, axis: int) -> np.ndarray:
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def compile_model(text: str) -> onnx.ModelProto:
    answer, data = shared_compiler().compile(HEADER + text, "f")
    assert answer[0] == "ok", answer
    model = onnx.load_from_string(data)
    onnx.checker.check_model(model, full_check=True)
    return model


def test_equal_calls_share_a_function() -> None:
    model = compile_model("""
@script(default_opset=op)
def g(x, n, names=None):
    for i in range(n):
        x = op.Unsqueeze(x, [0]) if names is None else op.Identity(x)
    return x

@script(default_opset=op)
def h(x):
    return x + 1

@script(default_opset=op)
def f(x: FLOAT[5]):
    a = g(x, 1, ["p"]) + g(x, 1, ["p"]) + g(x, 2, ["p"]) + g(x, 1, ["q"])
    return h(a) + h(h(x))
""")
    names = [function.name for function in model.functions]
    assert sorted(names) == ["g__names_p", "g__names_q", "h"] or len(names) == len(set(names)) == 4
    assert len([node for node in model.graph.node if node.op_type == "h"]) == 3


def test_functions_have_names_of_their_own_in_every_format() -> None:
    text = """
@script(default_opset=op)
def g(x, axis):
    return op.Softmax(x, axis=axis)

@script(default_opset=op, ir_version=10)
def f(x: FLOAT[3, 4]):
    return g(x, 0) + g(x, 1) + g(x, 0)
"""
    model = compile_model(text)
    assert model.ir_version == 10
    assert {(one.name, one.overload) for one in model.functions} == {
        ("g__axis_0", ""),
        ("g__axis_1", ""),
    }
    expected = 2 * softmax(M, 0) + softmax(M, 1)
    check_everywhere(shared_evaluator(), model, {"x": M}, [expected])


def test_default_of_an_input() -> None:
    model = compile_model("""
@script(default_opset=op)
def f(x: FLOAT[5], by: FLOAT[...] = 2.0, plus: FLOAT[5] = (1.0, 2.0, 3.0, 4.0, 5.0)):
    return x * by + plus
""")
    assert [one.name for one in model.graph.input] == ["x", "by", "plus"]
    assert sorted(one.name for one in model.graph.initializer) == ["by", "plus"]
    evaluator = shared_evaluator()
    check_everywhere(evaluator, model, {"x": F}, [F * 2 + np.arange(1, 6, dtype=np.float32)])
    three = np.array(3, np.float32)
    check_everywhere(evaluator, model, {"x": F, "by": three, "plus": G}, [F * 3 + G])


WRONG = {
    "an assignment to a global": (
        """
STEP = 1

@script(default_opset=op)
def f(x: FLOAT[5]):
    global STEP
    STEP = 2
    return x + STEP
""",
        {"unsupported-statement"},
    ),
    "an assignment to a nonlocal in the body of an operator": (
        """
@script(default_opset=op)
def f(x: FLOAT[5]):
    k = 1

    def g(h, v):
        nonlocal k
        k = 2
        return h + v, h

    h, _ = op.Scan(x[0], x, body=g, num_scan_inputs=1)
    return h + k
""",
        {"unsupported-statement"},
    ),
    "unbounded recursion": (
        """
@script(default_opset=op)
def g(x, n):
    return g(x, n + 1)

@script(default_opset=op)
def f(x: FLOAT[5]):
    return g(x, 0)
""",
        {"limit-exceeded", "recursive-script"},
    ),
    "recursion on a tensor": (
        """
@script(default_opset=op)
def f(x: FLOAT[5]):
    return f(x)
""",
        {"recursive-script"},
    ),
    "kwargs": (
        """
@script(default_opset=op)
def f(x: FLOAT[5], **more):
    return x
""",
        {"unsupported-statement"},
    ),
    "args of a model": (
        """
@script(default_opset=op)
def f(*xs: FLOAT[5]):
    return op.Max(*xs)
""",
        {"missing-input-type"},
    ),
    "a positional-only parameter by name": (
        """
@script(default_opset=op)
def g(x, /):
    return x

@script(default_opset=op)
def f(x: FLOAT[5]):
    return g(x=x)
""",
        {"argument-mismatch"},
    ),
    "a keyword-only parameter by position": (
        """
@script(default_opset=op)
def g(x, *, y):
    return x + y

@script(default_opset=op)
def f(x: FLOAT[5]):
    return g(x, x)
""",
        {"argument-mismatch"},
    ),
    "a list of the caller that is changed": (
        """
@script(default_opset=op)
def g(xs):
    xs.append(xs[0])
    return xs[0]

@script(default_opset=op)
def f(x: FLOAT[5]):
    return g([x])
""",
        {"unsupported-statement"},
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_call(name: str) -> None:
    text, codes = WRONG[name]
    answer, _ = shared_compiler().compile(HEADER + text, "f")
    assert answer[0] == "error"
    assert {finding.split(":")[0] for finding in answer[1:]} <= codes
    assert len(answer) > 1
    assert all(not finding.endswith(":0") for finding in answer[1:])


def test_dimensions_of_an_inlined_script_are_its_own() -> None:
    source = (
        HEADER
        + """
@script(default_opset=op, inline=True)
def rows(x: FLOAT["N", "K"]) -> FLOAT["K"]:
    first: FLOAT["K"] = x[0]
    return first

@script(default_opset=op)
def f(x: FLOAT["K", "N"]) -> FLOAT["N"]:
    return rows(x)
"""
    )
    assert shared_compiler().compile(source, "f")[0] == ["ok"]


def test_check_leaves_to_the_callers_what_only_they_know(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(
        HEADER
        + """
@script(default_opset=op)
def parts(xs, n):
    return [xs[i] for i in range(n)][0]

@script(default_opset=op)
def alone(x, n):
    return op.Softmax(x, axis=n)

@script(default_opset=op)
def f(x: FLOAT[5]):
    return parts([x, x], 2)
"""
    )
    program = TOOL.with_name("sardonyx")
    result = subprocess.run(
        [program, "check", str(path)], capture_output=True, text=True, check=False
    )
    text = result.stdout + result.stderr
    assert result.returncode == 1 and "`axis`" in text and "xs[i]" not in text, text


# --- Long chains ----------------------------------------------------------------------------------

CHAINS = {
    "each calls the previous one": lambda i: f"f{i - 1}(x) + {i}",
    "each calls the previous one twice": lambda i: f"f{i - 1}(x) + f{i - 1}(x)",
    "each calls three before": lambda i: " + ".join(f"f{max(i - k, 0)}(x)" for k in (1, 2, 3)),
}


def chain(kind: str, count: int) -> str:
    lines = ["@script(default_opset=op)\ndef f0(x):\n    return x * 0.5\n"]
    lines += [
        f"@script(default_opset=op)\ndef f{i}(x):\n    return {CHAINS[kind](i)}\n"
        for i in range(1, count)
    ]
    lines.append(f"@script(default_opset=op)\ndef f(x: FLOAT[5]):\n    return f{count - 1}(x)\n")
    return HEADER + "\n".join(lines)


@pytest.mark.parametrize("kind", CHAINS)
def test_long_chain_of_calls(kind: str) -> None:
    start = time.perf_counter()
    answer, data = shared_compiler().compile(chain(kind, 1000), "f")
    assert answer[0] == "ok", answer
    assert time.perf_counter() - start < 20
    model = onnx.load_from_string(data)
    assert len(model.functions) == 1000
    assert model.graph.output[0].type.tensor_type.shape.dim[0].dim_value == 5


@pytest.mark.parametrize("kind", CHAINS)
def test_chain_of_calls_runs(kind: str) -> None:
    _, data = shared_compiler().compile(chain(kind, 8), "f")
    values = [F * np.float32(0.5)]
    for i in range(1, 8):
        if "twice" in kind:
            values.append(2 * values[-1])
        elif "three" in kind:
            values.append(sum(values[max(i - k, 0)] for k in (1, 2, 3)))
        else:
            values.append(values[-1] + i)
    check_everywhere(shared_evaluator(), onnx.load_from_string(data), {"x": F}, [values[-1]])


def test_long_chain_of_calls_runs() -> None:
    """By our evaluator alone: the others recurse in Python or know fewer levels."""
    _, data = shared_compiler().compile(chain("each calls the previous one", 1000), "f")
    results = shared_evaluator().run(onnx.load_from_string(data), {"x": F})
    np.testing.assert_array_equal(results[0], F * np.float32(0.5) + np.float32(499_500))


@pytest.mark.parametrize("operator", ["+", "-", "*"])
def test_long_expression(operator: str) -> None:
    terms = f" {operator} ".join(["x"] * 5000)
    answer, data = shared_compiler().compile(
        HEADER + f"@script(default_opset=op)\ndef f(x: FLOAT[5]):\n    return {terms}\n", "f"
    )
    assert answer[0] == "ok", answer
    assert len(onnx.load_from_string(data).graph.node) == 4999


# --- Files ----------------------------------------------------------------------------------------

LIBRARY = """
from onnxscript import script, opset18 as op

__all__ = ["scale", "shift"]

@script(default_opset=op)
def scale(x):
    return x * 2

@script(default_opset=op)
def shift(x):
    return x + 1
"""

IMPORTS = {
    "import mylib": "mylib.scale(mylib.shift(x)) + scale(x)",
    "import mylib as m": "m.scale(m.shift(x)) + scale(x)",
    "from mylib import scale as double, shift": "double(shift(x)) + scale(x)",
    "from . import mylib": "mylib.scale(mylib.shift(x)) + scale(x)",
    "from .mylib import shift": "2 * shift(x) + scale(x)",
}


@pytest.mark.parametrize("statement", IMPORTS)
def test_import_of_a_file(statement: str, tmp_path: pathlib.Path) -> None:
    (tmp_path / "mylib.py").write_text(LIBRARY)
    path = tmp_path / "main.py"
    path.write_text(
        f"{HEADER}{statement}\n\n@script(default_opset=op)\ndef scale(x):\n    return x * 3\n\n"
        f"@script(default_opset=op)\ndef f(x: FLOAT[5]):\n    return {IMPORTS[statement]}\n"
    )
    answer, data = shared_compiler().compile_file(path, "f", "model")
    assert answer[0] == "ok", answer
    model = onnx.load_from_string(data)
    check_everywhere(shared_evaluator(), model, {"x": F}, [2 * (F + 1) + 3 * F])


def test_star_import_of_a_file(tmp_path: pathlib.Path) -> None:
    (tmp_path / "mylib.py").write_text(LIBRARY)
    path = tmp_path / "main.py"
    path.write_text(
        f"{HEADER}from mylib import *\n\n"
        "@script(default_opset=op)\ndef f(x: FLOAT[5]):\n    return scale(shift(x))\n"
    )
    answer, data = shared_compiler().compile_file(path, "f", "model")
    assert answer[0] == "ok", answer
    check_everywhere(shared_evaluator(), onnx.load_from_string(data), {"x": F}, [2 * (F + 1)])


@pytest.mark.parametrize("future", ["", "from __future__ import annotations\n"])
@pytest.mark.parametrize(
    "lambdas",
    [
        "half = lambda x: x / 2.0\nplus = lambda x: x + 1.0\n",
        "half, plus = lambda x: x / 2.0, lambda x: x + 1.0\n",
        "half = lambda x: (lambda y: y / 2.0)(x); plus = lambda x: x + 1.0\n",
        "minus, half, plus = lambda x: x + -1, lambda x: x / 2.0, lambda x: x + 1\n",
        "one, half, plus = lambda x: x / True, lambda x: x / 2.0, lambda x: x + (1 - 0.0)\n",
    ],
)
def test_lambdas_of_files(lambdas: str, future: str, tmp_path: pathlib.Path) -> None:
    """Which text a lambda is of depends neither on the statements of the file that compiles it, nor
    on how many are in a line."""
    path = tmp_path / "scripts.py"
    path.write_text(
        future + "from sardonyx import FLOAT, script, opset18 as op\n"
        f"{lambdas}"
        "@script(default_opset=op)\ndef f(x: FLOAT[2]) -> FLOAT[2]:\n    return plus(half(x))\n"
    )
    f = runpy.run_path(str(path))["f"]
    done = subprocess.run([PROGRAM, "build", path, "-o", tmp_path / "f.onnx"], check=False)
    assert done.returncode == 0
    assert (tmp_path / "f.onnx").read_bytes() == f.to_model_bytes()
    assert f.compile()(np.float32([2, 4])).tolist() == [2, 3]


def same_on_both_sides(path: pathlib.Path, x: np.ndarray) -> np.ndarray:
    """The result of `f` of a file, which Python and the command line compile to the same bytes."""
    f = runpy.run_path(str(path))["f"]
    built = path.with_suffix(".onnx")
    done = subprocess.run(
        [PROGRAM, "build", f"{path}:f", "-o", built], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert built.read_bytes() == f.to_model_bytes()
    result: np.ndarray = f.compile()(x)
    np.testing.assert_array_equal(f(x), result)
    return result


PARTS_OF_PACKAGES = {
    "import many.inner.part": "many.inner.part.K + many.V + many.inner.S",
    "import many.inner.part, many.other": "many.inner.part.K + many.V + many.other.inner.S",
    "import many.inner.part as p; import many": "p.K + many.V + many.inner.S",
    "from many import inner, other; import many.inner.part": "inner.part.K + inner.S + other.V",
    # Absolute names are those of the folder that the program starts in.
    "import many.absolute as one": "one.K + one.many.leaf + 98",
    # The package's own name wins over that of the file.
    "import many": "many.leaf + many.V - 3 + 102",
    # Folders without `__init__.py`.
    "import many.bare.deep.part": "many.bare.deep.part.K + 110",
    "from many.bare import deep; import many.bare.deep.part as p": "deep.part.K + p.K + 108",
    "from many.bare.deep import part; from bare import part as q": "part.K + q.K + 100",
}


OWN = ("many", "leaf", "bare")  # what these programs import


@pytest.mark.parametrize("statement", PARTS_OF_PACKAGES)
def test_imported_parts_of_a_package_are_its_members(
    statement: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {
        "many/__init__.py": "from .leaf import leaf\nV = 10\n",
        "many/leaf.py": "leaf = 3\n",
        "many/inner/__init__.py": "S = 100\n",
        "many/inner/part.py": "K = 2\n",
        "many/other.py": "from . import inner\nV = 10\n",
        "many/bare/deep/part.py": "K = 2\n",
        "bare/part.py": "K = 10\n",
        "many/absolute.py": "import many.leaf\nfrom leaf import K\n",
        "leaf.py": "K = 11\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    path = tmp_path / "main.py"
    path.write_text(
        f"from sardonyx import FLOAT, script, opset18 as op\n{statement}\n"
        "@script(default_opset=op)\n"
        f"def f(x: FLOAT['N']):\n    return x + ({PARTS_OF_PACKAGES[statement]})\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    try:
        np.testing.assert_array_equal(same_on_both_sides(path, F), F + 112)
    finally:
        for name in [one for one in sys.modules if one.partition(".")[0] in OWN]:
            del sys.modules[name]


def test_decorators_that_pass_all_arguments_on(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "main.py"
    path.write_text(
        "import functools\nfrom sardonyx import FLOAT, script, opset18 as op\n"
        "def times(k):\n    def outer(fn):\n        @functools.wraps(fn)\n"
        "        def inner(*args, **kwargs):\n            return fn(*args, **kwargs) * k\n"
        "        return inner\n    return outer\n"
        "@times(3)\n@times(k=2)\ndef plus(x, y=1):\n    return x + y\n"
        "@script(default_opset=op)\ndef f(x: FLOAT['N']):\n    return plus(x) + plus(x, y=5)\n"
    )
    np.testing.assert_array_equal(same_on_both_sides(path, F), (F + 1) * 6 + (F + 5) * 6)
