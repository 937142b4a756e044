"""x.shape is a tuple of sizes: one answer with sizes that are numbers, names or not known.

Each program runs as Python on NumPy arrays, where x.shape is a tuple of ints, eagerly, and as a
model: built from the command line and from Python, which give equal bytes, with each kind of
dimension.
"""

from __future__ import annotations

import math
import pathlib
import runpy
import tempfile
import textwrap
import types
from typing import Any

import numpy as np
import onnx
import onnx.checker
import pytest
import sardonyx

from language import (
    calling_model,
    check_everywhere,
    same,
    shared_compiler,
    shared_evaluator,
    wrong_programs,
)

pytestmark = pytest.mark.filterwarnings("ignore")

HEADER = """\
import math
import numpy as np
from sardonyx import script, opset21 as op, BOOL, FLOAT, INT64

"""

# The dimensions of X and Y, of which X has the size (2, 3) and Y (2, 3) or (1, 3).
KINDS = {
    "static": ("[2, 3]", "[2, 3]"),
    "named": ('["A", "B"]', '["C", "D"]'),
    "same names": ('["A", "B"]', '["A", "B"]'),
    "unknown": ("[None, None]", "[None, None]"),
    "mixed": ('["A", 3]', '["A", 3]'),
    "products": ('["2*A", "B"]', '["C", "B"]'),
}

X = np.arange(6, dtype=np.float32).reshape(2, 3) - 2
Y = np.array([[1.5, 2, -3], [0, 4, 7]], np.float32)

IDIOMS = """
op.ConstantOfShape(X.shape + (1,))
op.ConstantOfShape((1,) + X.shape)
op.ConstantOfShape(X.shape * 2)
op.ConstantOfShape(2 * X.shape)
op.ConstantOfShape(X.shape + Y.shape)
op.Reshape(X, X.shape)
op.Reshape(X, X.shape[:1] + (1,) + X.shape[1:])
op.Reshape(X, X.shape[::-1])
op.Reshape(X, list(X.shape) + [1])
op.Reshape(X, [*X.shape, 1])
op.Reshape(X, (*X.shape[:-1], -1, 1))
op.Reshape(X, [X.shape[1], X.shape[0]])
op.Reshape(X, [X.shape[0], 3])
op.Reshape(X, tuple(reversed(X.shape)))
op.Reshape(X, [X.shape[i] for i in (1, 0)])
op.Reshape(X, [math.prod(X.shape)])
op.Reshape(X, [1, -1, *X.shape[2:]])
op.Expand(X[:1], X.shape)
op.Expand(op.ReduceSum(X, [0]), (4, *X.shape))
op.Expand(X, [d for d in X.shape])
op.Tile(X, [d * 2 for d in X.shape])
X * math.prod(X.shape)
X * math.prod(X.shape[1:])
X * sum(X.shape)
X * max(X.shape)
X * min(X.shape[0], 2)
X * max(X.shape[0], 0)
X * len(X.shape)
X * len(X.shape[1:])
X * X.shape[0] * X.shape[-1]
X * (X.shape[1] // 2 + X.shape[0] % 2)
X * -X.shape[0]
X * abs(X.shape[0] - X.shape[1])
X * (X.shape[0] - X.shape[0] + 2)
X / X.shape[1]
X + (1.0 if X.shape == X.shape else 2.0)
X + (1.0 if X.shape == Y.shape else 2.0)
X + (1.0 if X.shape != Y.shape else 2.0)
X + (1.0 if X.shape == (2, 3) else 2.0)
X + (1.0 if X.shape == [2, 3] else 2.0)
X + (1.0 if X.shape == (2, 3, 1) else 2.0)
X + (1.0 if [X.shape[0], X.shape[1]] == [X.shape[0], X.shape[1]] else 2.0)
X + (1.0 if X.shape[0] == Y.shape[0] else 2.0)
X + (1.0 if X.shape[0] == X.shape[0] else 2.0)
X + (1.0 if X.shape[0] == -1 else 2.0)
X + (1.0 if X.shape[0] >= 0 else 2.0)
X + (1.0 if X.shape[0] < X.shape[0] + 1 else 2.0)
X + (1.0 if X.shape[0] + 1 == X.shape[0] else 2.0)
X + (1.0 if X.shape[0] > 1 else 2.0)
X + (1.0 if -1 in [X.shape[0], 4] else 2.0)
X + (1.0 if 3 in X.shape else 2.0)
X + (1.0 if X.shape[0] in (1, 2) else 2.0)
X + (1.0 if X.shape[:1] in [(1,), (2,)] else 2.0)
X + (1.0 if X.shape[0] not in X.shape else 2.0)
X + (1.0 if any(d == 1 for d in X.shape) else 2.0)
X + (1.0 if all(d > 1 for d in X.shape) else 2.0)
X + (1.0 if X.shape[0] == [2] else 2.0)
X + {-1: 10.0}.get(X.shape[0], 5.0)
X + [X.shape[0], X.shape[1]].index(X.shape[0])
X + (X.shape + (-1,)).count(-1)
X + max([X.shape[0], -3])
X + dict(zip(("a", "b"), X.shape))["b"]
X + sum(i * d for i, d in enumerate(X.shape))
X + sum(a * b for a, b in zip(X.shape, Y.shape))
X + [x for x in X.shape][-1]
X + (lambda s: s + (1,))(X.shape)[1]
op.Shape(X) * 2
op.Shape(X)[0] * 2 + op.Shape(X)[1]
op.Shape(X) + op.Shape(Y)
op.Concat(op.Shape(X), [1], axis=0)
op.Reshape(X, op.Concat(X.shape[1:], X.shape[:1], axis=0))
X * len(X) + X.size - X.ndim
X[:, : X.shape[0]]
X[X.shape[0] - 1]
""".strip().splitlines()

BODIES = [
    """
    n, m = X.shape
    return op.Reshape(X, [m, n])
    """,
    """
    n, *rest = X.shape
    return op.Reshape(X, [-1, n]) * rest[0]
    """,
    """
    for d in X.shape:
        X = X * d
    return X
    """,
    """
    for i, d in enumerate(reversed(X.shape)):
        X = X * d + i
    return X
    """,
    """
    shape = X.shape
    for i in range(2):
        X = X + shape[i]
    return X
    """,
    """
    def pad(shape, n):
        return (1,) * (n - len(shape)) + shape

    return op.Reshape(X, pad(X.shape, 4))
    """,
    """
    shape = X.shape
    shape += (1,)
    return op.Reshape(X, shape)
    """,
    """
    sizes = list(X.shape)
    sizes.append(1)
    sizes.insert(0, sizes.pop(1))
    return op.Reshape(X, sizes)
    """,
    """
    total = 1
    for d in X.shape:
        total *= d
    return op.Reshape(X, [total])
    """,
    """
    n = X.shape[0]
    if n == Y.shape[0]:
        Z = X + Y
    else:
        Z = X - Y
    return Z
    """,
    """
    if op.ReduceSum(X) > 100.0:
        s = X.shape
    else:
        s = Y.shape
    return op.Expand(X[:1, :1], s)
    """,
    """
    s = X.shape
    i = 0
    while op.ReduceSum(X) < 100.0 and i < 3:
        X = X + 10.0
        s = (s[1], s[0])
        i = i + 1
    return op.Expand(op.ReduceSum(X), s)
    """,
]


def numpy_operators() -> types.SimpleNamespace:
    def shape(values: Any) -> tuple[int, ...]:
        return tuple(int(n) for n in np.ravel(np.array(values)))

    def reshape(x: Any, values: Any) -> Any:
        return np.reshape(x, shape(values))

    def reduce_sum(x: Any, axes: Any = None) -> Any:
        return np.sum(x, axis=None if axes is None else tuple(axes), keepdims=True)

    return types.SimpleNamespace(
        ConstantOfShape=lambda s: np.zeros(shape(s), np.float32),
        Reshape=reshape,
        Expand=lambda x, s: np.broadcast_to(x, np.broadcast_shapes(np.shape(x), shape(s))),
        Tile=lambda x, s: np.tile(x, shape(s)),
        Shape=lambda x: np.array(np.shape(x), np.int64),
        Concat=lambda *xs, axis: np.concatenate([np.array(x, np.int64) for x in xs], axis),
        ReduceSum=reduce_sum,
        Transpose=lambda x, perm: np.transpose(x, perm),
    )


def body_of(text: str) -> str:
    return textwrap.dedent(text).strip("\n") if "\n" in text else f"return {text}"


def source_of(text: str, kind: str) -> str:
    x, y = KINDS[kind]
    body = textwrap.indent(body_of(text), "    ")
    return f"{HEADER}@script(default_opset=op)\ndef f(X: FLOAT{x}, Y: FLOAT{y}):\n{body}\n"


def as_numpy(text: str) -> Any:
    body = textwrap.indent(body_of(text), "    ")
    scope: dict[str, Any] = {"op": numpy_operators(), "np": np, "math": math}
    exec(f"def f(X, Y):\n{body}\n", scope)
    result = np.asarray(scope["f"](X, Y))
    return result.astype(np.float32) if result.dtype == np.float64 else result


PROGRAMS = [*IDIOMS, *BODIES]
IDS = [one if "\n" not in one else f"body {i}" for i, one in enumerate(PROGRAMS)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", PROGRAMS, ids=IDS)
def test_idiom(text: str, kind: str, tmp_path: pathlib.Path) -> None:
    expected = as_numpy(text)
    source = source_of(text, kind)
    answer, data = shared_compiler().compile(source, "f")
    assert answer[0] == "ok", answer
    path = tmp_path / "program.py"
    path.write_text(source)
    script = runpy.run_path(str(path))["f"]
    assert script.to_model_bytes() == data
    model = onnx.load_from_string(data)
    onnx.checker.check_model(model, full_check=True)
    check_everywhere(shared_evaluator(), model, {"X": X, "Y": Y}, [expected])
    same(script(X, Y), expected, 1e-5)


# Sizes of a Reshape that the input has in any case, and those for which nodes are needed.
RESHAPES = [
    ("op.Reshape(X, X.shape)", [0, 0]),
    ("op.Reshape(X, [X.shape[0], 1, -1])", [0, 1, -1]),
    ("op.Reshape(X, [X.shape[0] * X.shape[1]])", [-1]),
    ("op.Reshape(X, [1, math.prod(X.shape), 1])", [1, -1, 1]),
    ("op.Reshape(op.Transpose(X, perm=[1, 0]), [X.shape[1], X.shape[0], 1])", [0, 0, 1]),
    ("op.Reshape(X, [X.shape[1], X.shape[0]])", None),
    ("op.Reshape(X, [X.shape[0], 1, X.shape[1]])", None),
    ("op.Reshape(X, [Y.shape[0], 3])", None),
    ("op.Reshape(X, [X.shape[1] + 1, 1])", None),
    ("op.Reshape(X, X.shape, allowzero=1)", None),
]


@pytest.mark.parametrize(("text", "sizes"), RESHAPES, ids=[one[0] for one in RESHAPES])
def test_reshape_without_nodes(text: str, sizes: list[int] | None) -> None:
    answer, data = shared_compiler().compile(source_of(text, "named"), "f")
    assert answer[0] == "ok", answer
    graph = onnx.load_from_string(data).graph
    made = {node.output[0]: node for node in graph.node}
    shape = made[[node for node in graph.node if node.op_type == "Reshape"][-1].input[1]]
    if sizes is None:
        assert shape.op_type != "Constant"
        return
    assert onnx.numpy_helper.to_array(shape.attribute[0].t).tolist() == sizes
    assert not {"Shape", "Concat", "Mul", "Gather"} & {node.op_type for node in graph.node}


# What is computed of sizes more than once, and how many nodes it takes.
SHARED = [
    ("op.Expand(X, [2, *X.shape]) + op.Expand(Y, [2, *X.shape])", "Concat", 1),
    ("X * X.shape[0] + Y * X.shape[0]", "Cast", 1),
    ("n, m = X.shape\nk = n * m\nreturn X / k + Y / (n * m)", "Mul", 1),
    ("X / (X.shape[0] * X.shape[1]) + Y / (X.shape[1] * X.shape[0])", "Mul", 2),
    ("n, m = X.shape\nreturn op.Identity(n * m), op.Identity(n * m)", "Mul", 1),
    ("n, m = X.shape\nj, k = n * m, n * m\nreturn j, k", "Mul", 1),
    ("n = X.shape[0]\ny = X / n\nfor _ in range(n):\n    y = y / n\nreturn y", "Cast", 1),
    # Also behind a constant that has many uses.
    (("n, m = X.shape\ny = X / (2 * m)\nsizes = [2 * (n + i) for i in range(70)]\n"
      "return y, Y / (2 * m), sum(sizes)"), "Mul", 71),
    # No branch of an If sees what the other has made.
    (("n = X.shape[0]\nif op.ReduceSum(X, keepdims=0) > 0:\n    y = X / n\n"
      "else:\n    y = Y / n\nreturn y"), "Cast", 2),
    ("op.Abs(X) + op.Abs(X)", "Abs", 2),
]  # fmt: skip


def all_nodes(graph: onnx.GraphProto) -> list[onnx.NodeProto]:
    inner = [one.g for node in graph.node for one in node.attribute if one.HasField("g")]
    return [*graph.node, *(node for one in inner for node in all_nodes(one))]


@pytest.mark.parametrize(("text", "op_type", "count"), SHARED, ids=[one[0] for one in SHARED])
def test_sizes_are_computed_once(
    text: str, op_type: str, count: int, tmp_path: pathlib.Path
) -> None:
    source = source_of(text, "named")
    answer, data = shared_compiler().compile(source, "f")
    assert answer[0] == "ok", answer
    model = onnx.load_from_string(data)
    onnx.checker.check_model(model, full_check=True)
    assert [one.op_type for one in all_nodes(model.graph)].count(op_type) == count
    path = tmp_path / "program.py"
    path.write_text(source)
    expected = runpy.run_path(str(path))["f"](X, Y)
    values = list(expected) if isinstance(expected, tuple) else [expected]
    check_everywhere(shared_evaluator(), model, {"X": X, "Y": Y}, values)


@pytest.mark.parametrize("text", [text for text, sizes in RESHAPES if sizes is not None])
def test_reshape_of_nothing(text: str) -> None:
    """An axis of size 0 is no size that is left open."""
    answer, data = shared_compiler().compile(source_of(text, "named"), "f")
    assert answer[0] == "ok", answer
    for shape in ((0, 3), (2, 0)):
        if "-1" in text and shape[0] == 0:
            continue  # NumPy refuses it as well
        empty = np.zeros(shape, np.float32)
        expected = eval(text, {"op": numpy_operators(), "math": math, "X": empty, "Y": Y})
        model = onnx.load_from_string(data)
        check_everywhere(shared_evaluator(), model, {"X": empty, "Y": Y}, [expected])


# What a size decides, and must be known when the script is compiled: refused where it is not.
DECIDED = """
X + [X.shape[0], 2].index(2)
X + {2: 10.0}.get(X.shape[0], 5.0)
X + {2: 10.0, 3: 11.0}[X.shape[1]]
X + sorted([X.shape[1], X.shape[0]])[0]
X + (X.shape + (2,)).count(2)
X + len([1] * X.shape[0])
X + (1.0 if (X.shape < (2, 4)) else 2.0)
""".strip().splitlines()


@pytest.mark.parametrize("kind", ["static", "named", "unknown"])
@pytest.mark.parametrize("text", DECIDED)
def test_decided(text: str, kind: str) -> None:
    answer, data = shared_compiler().compile(source_of(text, kind), "f")
    if kind != "static":
        assert answer == ["error", "static-required:7"]
        return
    assert answer[0] == "ok", answer
    model = onnx.load_from_string(data)
    check_everywhere(shared_evaluator(), model, {"X": X, "Y": Y}, [as_numpy(text)])


# Of a tensor whose rank is not known, x.shape can be used as far as any tuple means one thing.
ANY_RANK = [
    ("op.Reshape(X * 2.0, X.shape)", True),
    ("op.Reshape(X, X.shape + (1,))", True),
    ("op.Reshape(X, X.shape[:1] + (1,) + X.shape[1:])", True),
    ("X * X.shape[0]", True),
    ("X * math.prod(X.shape)", True),
    ("X * max(X.shape) * len(X.shape)", True),
    ("op.Reshape(X, X.shape * 2)", False),
    ("X + (1.0 if X.shape == (2, 3) else 2.0)", False),
    ("op.Reshape(X, list(X.shape))", False),
]


@pytest.mark.parametrize(("text", "compiles"), ANY_RANK)
def test_any_rank(text: str, compiles: bool) -> None:
    source = source_of(text, "static").replace("[2, 3]", "[...]")
    answer, data = shared_compiler().compile(source, "f", "function")
    assert (answer[0] == "ok") == compiles, answer
    if compiles:
        function = onnx.FunctionProto.FromString(data)
        model = calling_model(function, {"X": X, "Y": Y}, {}, 1)
        check_everywhere(shared_evaluator(), model, {"X": X, "Y": Y}, [as_numpy(text)])


test_wrong = wrong_programs(
    [
        # Lists where an operator takes its inputs one by one.
        ("return op.Concat([x, x], axis=0)", ["unsupported-operand:1"]),
        ("return op.Sum([x, x])", ["unsupported-operand:1"]),
        ("return op.Max((x, x))", ["unsupported-operand:1"]),
        ("xs = [x, x]\nreturn op.Concat(xs, axis=0)", ["unsupported-operand:2"]),
        # Numbers where a list stands, and lists where a number does.
        ("return op.ReduceSum(x, -1)", ["rank-mismatch:1"]),
        ("return op.Squeeze(op.Unsqueeze(x, [0]), 0)", ["rank-mismatch:1"]),
        ("return op.Slice(x, 0, 1)", ["rank-mismatch:1", "rank-mismatch:1"]),
        ("a, b = op.TopK(x, 1)\nreturn a", ["rank-mismatch:1"]),
        ("return op.Range([0], 4, 1)", ["rank-mismatch:1"]),
        ("a, b = op.Split(x, 1)\nreturn a", ["rank-mismatch:1"]),
        ("return x[:, [True, False]]", ["unsupported-operand:1"]),
        # Conditions of several elements.
        ("if x > 0.0:\n    x = x * 2.0\nreturn x", ["ambiguous-truth-value:1"]),
        ("while x < 10.0:\n    x = x * 2.0\nreturn x", ["ambiguous-truth-value:1"]),
        ("y = op.NonZero(x)\nif y > 1:\n    x = -x\nreturn x", ["ambiguous-truth-value:2"]),
        # Branches of several ranks.
        ("if c:\n    y = x\nelse:\n    y = x[0]\nreturn y", ["branch-type-mismatch:5"]),
        ("y = x if c else x[0]\nreturn y", ["branch-type-mismatch:1"]),
    ]
)


@pytest.mark.parametrize(
    "text",
    [
        "op.Concat([x, x], axis=0)",
        "op.Sum([x, x])",
        "op.ReduceSum(x, -1)",
        "op.Squeeze(x, 0)",
        "op.Slice(x, 0, 1)",
        "op.TopK(x, 1)",
        "x[:, [True, False]]",
    ],
)
def test_wrong_eagerly(text: str) -> None:
    scope = {"op": sardonyx.opset21, "x": sardonyx.Tensor(np.ones((1, 4), np.float32))}
    with pytest.raises((TypeError, IndexError, sardonyx.EvalError)):
        eval(text, scope)


def test_a_list_of_inputs_is_mended() -> None:
    text = (
        HEADER
        + "@script(default_opset=op)\ndef f(x: FLOAT[2]):\n    return op.Concat([x, x], axis=0)\n"
    )
    with pytest.raises(sardonyx.CompileError) as refused:
        compile_text(text)
    assert "write `op.Concat(x, x, axis=0)`" in str(refused.value)


def compile_text(text: str) -> None:
    """Compiles the script of a file with this text."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "program.py"
        path.write_text(text)
        runpy.run_path(str(path))["f"].to_model_bytes()
