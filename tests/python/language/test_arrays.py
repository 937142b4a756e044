"""NumPy's arrays in the bodies of scripts: their members and methods on all surfaces, and what
changes their elements, which is refused because views share them."""

from __future__ import annotations

import pathlib
import runpy

import numpy as np
import onnx
import pytest
from sardonyx import EvalError, Tensor
from sardonyx import opset21 as op

from language import shared_compiler
from surfaces import check, first_finding, text_of

pytestmark = pytest.mark.filterwarnings("ignore")

BEFORE = """\
W = np.arange(6, dtype=np.float32).reshape(2, 3)
K = np.array([3, 1, 2])
---
"""
W = np.arange(6, dtype=np.float32).reshape(2, 3)
K = np.array([3, 1, 2])
X = np.array([1, 2, 3], np.float32)

COMPUTED = [
    "W.T", "W.reshape(3, 2)", "W.reshape((-1, 2))", "W.reshape(6)", "W.astype(np.float64)",
    "K.astype(bool)", "W.flatten()", "W.ravel()", "W.copy()", "W.transpose()", "W.transpose(1, 0)",
    "W.transpose((1, 0))", "W.reshape(1, 6).squeeze()", "W.reshape(1, 6, 1).squeeze(2)", "W.max()",
    "W.min()", "K.sum()", "K.cumsum()", "K.argsort()", "K.repeat(2)", "K.clip(1, 2)",
    "W.reshape(3, 2).T.shape[0]", "W.T.ndim", "W.T.size", "K.tolist()", "len(W.tolist()[0])",
    "np.arange(16).reshape(4, 4)", "np.arange(6, dtype=np.float32).reshape(2, -1).T",
    "np.zeros(3).reshape(3, 1)", "W.T @ W", "K.astype(np.float32) @ W.T",
    "W.sum(axis=(0, 1))", "W.round()", "K.cumprod()", "W.swapaxes(0, 1)", "W.dot(W.T)",
    "W.clip(1, 2.5)",
]  # fmt: skip


def check_refused(body: str, folder: pathlib.Path) -> None:
    """The compiler refuses it, and so does the call in Python."""
    text = text_of(body, False, {"x": X})
    answer, _ = shared_compiler().compile(text, "f")
    assert answer[0] == "error", answer
    path = folder / "refused.py"
    path.write_text(text)
    with pytest.raises((TypeError, ValueError, EvalError)):
        runpy.run_path(str(path))["f"](X)


@pytest.mark.parametrize("expression", COMPUTED)
def test_methods_are_those_of_numpy(expression: str, tmp_path: pathlib.Path) -> None:
    expected = np.asarray(eval(expression))
    check(f"{BEFORE}y = {expression}\nreturn op.Identity(y)", expected, tmp_path, x=X)


def test_they_decide_what_is_compiled(tmp_path: pathlib.Path) -> None:
    check(f"{BEFORE}return x * 2 if W.T.shape == (3, 2) and K.max() == 3 else x", X * 2, tmp_path,
          x=X)  # fmt: skip
    check(f"{BEFORE}y = x\nfor k in K.tolist():\n    y = y + k\nreturn y", X + 6, tmp_path, x=X)


@pytest.mark.parametrize(
    "expression",
    [
        "(W / 10).mean()",
        "(W / 10).sum()",
        "(W / 10).prod()",
        "W.sum(axis=(0, 0))",
        "W.max(axis=2)",
        "W.sum(dtype=np.float64)",
        "(W * np.inf).max()",
        "np.array([0.0, -0.0]).max()",
        "W[2:].max()",
        "(W * np.float32(1e37)).sum()",
        "K.item()",
        "W.reshape(4)",
        "W.nope()",
    ],
)
def test_others_are_refused(expression: str) -> None:
    body = f"{BEFORE}y = {expression}\nreturn op.Identity(y)"
    answer, _ = shared_compiler().compile(text_of(body, False, {"x": X}), "f")
    assert answer[0] == "error", answer


# In NumPy most of these change an array that has another name.
CHANGES = [
    "y = np.zeros(3)\nz = y[1:]\nz[0] = 5.0\nreturn op.Identity(y)",
    "y = np.zeros(3)\nz = y\nz[0] = 5.0\nreturn op.Identity(y)",
    "y = np.zeros(4)\nz = y.reshape(2, 2)\nz[0] = 5.0\nreturn op.Identity(y)",
    "y = np.zeros(4)\nz = y.reshape(2, 2).T\nz[0, 1] = 5.0\nreturn op.Identity(y)",
    "y = np.zeros(3) * 2\nz = y[1:]\nz[0] = 5.0\nreturn op.Identity(y)",
    "y = np.zeros(3) * 2\nz = y[1:]\ny[1] = 5.0\nreturn op.Identity(z)",
    "y = -K\nz = y[:2]\nz[0] = 5\nreturn op.Identity(y)",
    "y = np.concatenate([K, K])\nz = y[1:]\nz[0] = 7\nreturn op.Identity(y)",
    "y = W if x[0] > 0 else W * 2\nz = y[1:]\nz[0] = 9.0\nreturn op.Identity(y)",
    "y = W[1:] if x[0] > 0 else W[:1]\ny[0] = 9.0\nreturn op.Identity(W)",
    "y = [W[1:]]\ny[0][0] = 9.0\nreturn op.Identity(W)",
    "y = W[1:]\ny[0, 1] += 9.0\nreturn op.Identity(W)",
    "y = W[0]\ny[:] = x\nreturn op.Identity(W)",
    "for i in range(2):\n    y = W[i]\n    y[0] = x[0]\nreturn op.Identity(W)",
]


@pytest.mark.parametrize("body", CHANGES)
def test_elements_that_views_share_are_not_assigned_to(body: str) -> None:

    for named in (False, True):
        answer, _ = shared_compiler().compile(text_of(BEFORE + body, named, {"x": X}), "f")
        assert answer[0] == "error", answer
        assert first_finding(answer).startswith("unsupported-statement"), answer


def test_a_tensor_of_an_array_is_its_own(tmp_path: pathlib.Path) -> None:
    body = f"{BEFORE}y = op.Identity(W[1:])\ny[0, 0] = x[0]\nreturn y, op.Identity(W)"
    changed = W[1:].copy()
    changed[0, 0] = 1
    check(body, (changed, W), tmp_path, x=X)


NUMBERS = """\
W = np.arange(6, dtype=np.float32).reshape(2, 3)
K = np.array([3, 1, 2])
D = np.array([0.5, 1.5])
---
"""
D = np.array([0.5, 1.5])
# Scalars of NumPy: what decides, and the types of what they give. An np.float64 is a float.
SCALARS = [
    ("x if K.max() in [1, 3] else -x", X), ("x if np.array(3) in [3] else -x", X),
    ("x if K[0] in (3, 4) else -x", X), ("x if K.max() not in {3} else -x", -X),
    ("x if (K.max(), 2) == (3, 2) else -x", X), ("x if [np.max(K)] == [3] else -x", X),
    ("x * [1, 3].index(K.max())", X), ("x * [1, 3, 3].count(np.max(K))", X * 2),
    ("x * {3: 1.0}.get(K.max(), 5.0)", X), ("x * K.tolist().index(1)", X),
    ("x if isinstance(K.max(), int) else -x", -X), ("x if isinstance(D.max(), float) else -x", X),
    ("x * D[0]", X * np.float32(0.5)), ("D[1] * x", X * np.float32(1.5)),
    ("x * D.max()", X * np.float32(1.5)), ("x * (K[0] / 2)", X * np.float32(1.5)),
    ("op.Identity(D[0])", np.float32(0.5)), ("op.Identity(D.max())", np.float32(1.5)),
    ("op.Identity(K[0] / 2)", np.float32(1.5)), ("op.Identity(K.max() / 2)", np.float32(1.5)),
    ("op.Identity(W.max())", np.float32(5)), ("op.Identity(W.max() + K.max())", np.float32(8)),
    ("op.Identity(D[0] * D)", D * 0.5), ("op.Identity(np.float64(2.5) * W)", W * np.float64(2.5)),
    ("op.Identity(D.max() * W)", W * np.float64(1.5)), ("op.Identity(K.max() * D)", D * 3),
    ("op.Mul(x, D[1])", X * np.float32(1.5)), ("op.Where(x > D[0], x, D[0])", X),
    ("op.Identity(input=D[0])", np.float32(0.5)),
    ("op.Clip(x, min=D[1])", np.array([1.5, 2, 3], np.float32)), ("x[K.min():]", X[1:]),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "expected"), SCALARS)
def test_scalars_of_numpy(expression: str, expected: object, tmp_path: pathlib.Path) -> None:
    check(f"{NUMBERS}return {expression}", np.asarray(expected), tmp_path, x=X)


# NumPy compares an array element by element, which gives no one answer.
NO_ANSWER = ["x if 3 in [K] else -x", "x if [K] == [3] else -x", "x * [3].count(K)",
             "x if (K, 1) == (3, 1) else -x", 'x if {"a": K} == {"a": 3} else -x']  # fmt: skip


@pytest.mark.parametrize("expression", NO_ANSWER)
def test_arrays_have_no_one_answer(expression: str) -> None:
    body = f"{NUMBERS}return {expression}"
    answer, _ = shared_compiler().compile(text_of(body, False, {"x": X}), "f")
    assert answer[0] == "error" and first_finding(answer).startswith("static-error"), answer


def test_names_of_arrays_are_found(tmp_path: pathlib.Path) -> None:
    body = f'{NUMBERS}d = {{"w": W, "k": K}}\nreturn x * 2 if "z" in d else x * len(d)'
    check(body, X * 2, tmp_path, x=X)


@pytest.mark.parametrize("keywords", ["", "inline=True"])
def test_a_script_gets_an_item_as_a_tensor(keywords: str, tmp_path: pathlib.Path) -> None:
    before = f"@script({keywords})\ndef inner(v):\n    return op.Identity(v)\n" + NUMBERS
    check(f"{before}return inner(D[0])", np.float64(0.5), tmp_path, x=X)
    check(f"{before}return inner(K[0] / 2) * D", D * 1.5, tmp_path, x=X)


# What NumPy makes of the list where it is given; an np.float64 is a float of Python to operators.
LISTS: list[tuple[str, object]] = [
    ("op.Reshape(x, [np.int64(3), 1])", X.reshape(3, 1)),
    ("op.Reshape(x, [K[0], K[1]])", X.reshape(3, 1)),
    ("op.Reshape(x, (np.int64(1), -1))", X.reshape(1, 3)),
    ("op.Reshape(x, [x.shape[0], np.int64(1)])", X.reshape(3, 1)),
    ("op.Unsqueeze(x, [K[1] - 1])", X.reshape(1, 3)),
    ("op.Neg([np.int32(3), 1])", -np.array([3, 1], np.int32)),
    ("op.Neg([1, np.float16(3)])", -np.array([1, 3], np.float16)),
    ("op.Neg([[np.int64(3), 1], [2, K[0]]])", -np.array([[3, 1], [2, 3]])),
    ("op.Neg([W[0], W[1] + 1])", -np.stack([W[0], W[1] + 1])),
    ("op.Add(x, [W[0, 0], x[1], 1])", X + np.array([0, 2, 1], np.float32)),
    ("[1, W[0, 1], 2] * x", X * np.array([1, 1, 2], np.float32)),
    ("x[[K[1] - 1, 2]]", X[[0, 2]]),
    ("op.Neg([D[0], D[1]])", -np.array([1.5, 2.5], np.float32)),
    ("op.Neg([D[0], np.float32(1)])", -np.array([1.5, 1], np.float32)),
    ("op.Neg([1, D[0]])", -np.array([1, 1.5], np.float32)),
    ("op.Identity([x, W[0]])[1]", W[0]),
]


@pytest.mark.parametrize(("expression", "expected"), LISTS)
def test_lists_with_arrays_are_tensors(
    expression: str, expected: object, tmp_path: pathlib.Path
) -> None:
    before = BEFORE.replace("---", "D = np.array([1.5, 2.5])\n---")
    check(f"{before}return {expression}", expected, tmp_path, x=X)


@pytest.mark.parametrize(
    "expression",
    [
        "op.Neg([np.int64(3), np.float32(1)])",
        "op.Neg([np.array(3), 1.5])",
        "op.Neg([W[0], 1.0])",
        "op.Neg([np.array([1, 2]), [3, 4]])",
        "op.Concat([W[0], W[1]], axis=0)",
        "op.Add(x, [np.int64(3), 1, 2])",
    ],
)
def test_lists_that_are_no_tensor_are_refused_by_all(
    expression: str, tmp_path: pathlib.Path
) -> None:
    check_refused(f"{BEFORE}return {expression}", tmp_path)


def test_lists_of_arrays_give_arrays() -> None:
    assert isinstance(op.Neg([np.int64(3), 1]), np.ndarray)
    one = Tensor(np.array(1))
    for given in ([one, 2], [np.int64(3), one], (2, one), [[2, one], [3, 4]]):
        assert isinstance(op.Neg(given), Tensor)


KNOWN = """\
W = np.arange(6, dtype=np.float32).reshape(2, 3)
K = np.array([3, 1, 2])
D = np.array([0.5, 1.5, -2.5])
H = np.array([1.5, 2.5], np.float16)
@script()
def inner(v):
    return op.Identity(v)
@script()
def with_alpha(x, v: float):
    return x * v
---
"""
H = np.array([1.5, 2.5], np.float16)
# What is known of arrays is known to all that asks: attributes, indices, conditions, lists.
ITEMS: list[tuple[str, object]] = [
    ("op.Transpose(op.Unsqueeze(x, 0), perm=[K[1], 0])", X.reshape(3, 1)),
    ("op.Transpose(op.Unsqueeze(x, 0), perm=(K[1], K[1] - 1))", X.reshape(3, 1)),
    ("op.Concat(x, x, axis=K[1] - 1)", np.concatenate([X, X])),
    ("op.LeakyRelu(-x, alpha=D[0])", -X / 2), ("op.LeakyRelu(-x, alpha=H[1])", -X * 2.5),
    ("op.Constant(value_ints=[K[0], 1])", np.array([3, 1])),
    ("op.Constant(value_floats=[W[0, 1], 1])", np.ones(2, np.float32)),
    ("op.Constant(value_int=K[0])", np.array(3)), ("with_alpha(x, D[1])", X * np.float32(1.5)),
    ("op.Reshape(x, list(K[:2]))", X.reshape(3, 1)),
    ("op.Reshape(x, tuple(K[:2]))", X.reshape(3, 1)),
    ("op.Reshape(x, [*K[:2]])", X.reshape(3, 1)),
    ("op.Reshape(x, [k for k in K[:2]])", X.reshape(3, 1)),
    ("op.Reshape(x, [int(k) for k in K[:2]])", X.reshape(3, 1)),
    ("x * [2.0, 3.0, 4.0, 5.0][K[0]]", X * 5), ("x * {2: 3.0, 3: 1.5}[K[0]]", X * np.float32(1.5)),
    ("x * len(list(K))", X * 3), ("x * max(D)", X * np.float32(1.5)), ("x * max(W[0])", X * 2),
    ("x + min(W[1])", X + 3), ("x + sorted(W[1])[2]", X + 5), ("x * sum(w for w in W[0])", X * 3),
    ("sum(W) * x", (W[0] + W[1]) * X), ("x + sum([x * w for w in W[0]])", X * 4),
    ("x + abs(-W[0])", X + W[0]), ("x * abs(D[2])", X * 2.5), ("x * round(D[1])", X * 2),
    ("x * round(H[1])", X * 2), ("np.sqrt(W[0]) * x", np.sqrt(W[0]) * X),
    ("x if (K > 1).all() else -x", -X), ("x if (K > 1).any() else -x", X),
    ("x if W.all() else -x", -X),
    ("x if all(K > 0) else -x", X),
    ("x if (K > 9).max() else -x", -X),
    ("x if K[1] - 1 else -x", -X), ("x if K[0] > 1 and W[0, 1] < 2 else -x", X),
    ("x * K[0].item()", X * 3),
    ("x + K[0].astype(np.float32)", X + 3),
    ("x * (K[0].ndim + 2)", X * 2),
    ("x * math.sqrt(W[1, 1])", X * 2), ("x * math.floor(H[0])", X),
    ("x * [1.0, 2.0, 3.0, 4.0][np.int32(3)]", X * 4), ("x * len(range(np.int32(3)))", X * 3),
    ("x + np.float32(K[0])", X + 3), ("op.Identity(np.float64(H[0]))", np.float32(1.5)),
    ("x if K[0].dtype == np.int64 and D.max().shape == () else -x", X), ("x ** K[2]", X ** 2),
    ("op.Identity(D[0].astype(np.float32))", np.float32(0.5)),
    ("op.Identity(K[0] / K[1])", np.float32(3)),
    ("inner(D[0])", np.float64(0.5)),
    ("inner(D.max())", np.float64(1.5)),
    ("inner(K.max())", np.array(3)),
    ("inner(np.float64(2))", np.float64(2)), ("op.Range(K[1], K[0], 1)", np.array([1, 2])),
    ("op.Add(W, 1)", W + 1),
    ("op.Add(1, W)", W + 1),
    ("op.Add([x[0], 1], 0)", np.ones(2, np.float32)),
    ("op.Add(0, [x[0], 2])", np.array([1, 2], np.float32)),
    ("op.Clip([W[0, 1], 5], 0, 2)", np.array([1, 2], np.float32)),
    ("op.Where([True, False], 0, [H[0], 1])", np.array([0, 1], np.float16)),
    ("op.Less([x[0], 1.5], 2)", np.array([True, True])),
    ("op.Add([1, 2], [[H[0], 1]])", np.array([[2.5, 3]], np.float16)),
    ("op.Add([K.max(), 1], 0)", np.array([3, 1])), ("op.MatMul([x[0], 1], [1, 2])", np.float32(3)),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "expected"), ITEMS)
def test_items_are_known(expression: str, expected: object, tmp_path: pathlib.Path) -> None:
    check(f"{KNOWN}return {expression}", expected, tmp_path, x=X)


# What NumPy's page "Indexing on ndarrays" describes, with lists, arrays, flags and None.
INDEXED = [
    "CUBE[:, None]", "CUBE[None, ..., None]", "CUBE[0, None, 1:, ::-1]", "CUBE[[1, 0]]",
    "CUBE[[-1]]", "CUBE[:, [2, 0]]", "CUBE[..., [1, 3, 0]]", "CUBE[[0, 1], [2, -3]]",
    "CUBE[[0, 1], :, [3, 0]]", "CUBE[1, :, [3, 0]]", "CUBE[:, 1, [3, 0]]", "CUBE[0, [1, 2], 3]",
    "CUBE[[0, 1], None, [2, 0]]", "CUBE[[[0], [1]], [2, 0]]", "CUBE[np.array([[0], [1]]), [2, 0]]",
    "CUBE[:, np.array([[0, 1], [2, 0]])]", "CUBE[[True, False]]", "CUBE[:, [True, False, True]]",
    "CUBE[CUBE > 5]", "CUBE[CUBE[..., 0] > 3]", "CUBE[[[True] * 3, [False] * 3]]",
    "CUBE[1, CUBE[0] % 2 == 0]", "CUBE[0, 1:, [0, 1]]",
    "CUBE[[True, False], [1, 2]]", "CUBE[[]]", "CUBE[np.array([1, 0], np.uint8), 0]",
    "CUBE[np.int32(1)]", "CUBE[K[1] - 1, K[0] - 1]", "CUBE[K[1:] - 1]", "CUBE[[K[1] - 1]]",
    "CUBE[(1, 0), 0]", "CUBE[[1, 0]][0]", "CUBE[CUBE > 50]", "CUBE[range(1, -1, -1)]",
    "CUBE[[True, 0]]", "CUBE[[range(2), (1, 0)], 1]",
]  # fmt: skip
CUBE = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


@pytest.mark.parametrize("expression", INDEXED)
def test_known_arrays_are_indexed(expression: str, tmp_path: pathlib.Path) -> None:
    expected = eval(expression, {"np": np, "CUBE": CUBE, "K": np.array([3, 1, 2])})
    arrays = "CUBE = np.arange(24, dtype=np.float32).reshape(2, 3, 4)\nK = np.array([3, 1, 2])\n"
    check(f"{arrays}---\nreturn op.Identity({expression})", expected, tmp_path, x=X)
    body = f"{arrays}PART = {expression}\n---\nreturn op.Identity(PART)"
    check(body, expected, tmp_path, x=X)


CHANGED = [
    "CUBE[:, [0, 2]] = -1", "CUBE[CUBE > 5] = 0", "CUBE[[0, 1], [1, 2]] += 10",
    "CUBE[[0, 0]] += 1", "CUBE[0, [True, False, True]] = [[1], [2]]", "CUBE[:, None, 0] = 7",
    "part = CUBE[[0]]\npart[0, 0] = 50", "CUBE[[1, 0]] = CUBE[[0, 1]] * 2", "CUBE[0, 1:] += 0.5",
    "CUBE[0] -= CUBE[[1]][0]", "CUBE[0, 0, 0] += 5",
    "CUBE[1, :2] = [[1, 2, 3, 4], [5, 6, 7, 8.5]]", "CUBE[1, 2] = (0, 1, 0, 1)",
]  # fmt: skip


@pytest.mark.parametrize("lines", CHANGED)
def test_items_of_arrays_are_assigned(lines: str, tmp_path: pathlib.Path) -> None:
    scope: dict[str, Any] = {"np": np, "CUBE": CUBE.copy()}
    exec(lines, scope)
    body = f"CUBE = np.arange(24, dtype=np.float32).reshape(2, 3, 4).copy()\n{lines}\n"
    check(f"{body}---\nreturn op.Identity(CUBE)", scope["CUBE"], tmp_path, x=X)


def test_rows_are_unpacked_and_counted(tmp_path: pathlib.Path) -> None:
    check(f"{KNOWN}a, b = W\nreturn a * b", W[0] * W[1], tmp_path, x=X)
    check(f"{KNOWN}a, *b = K\nreturn op.Reshape(x, [a, b[0]])", X.reshape(3, 1), tmp_path, x=X)
    body = f"{KNOWN}for i, w in enumerate(W):\n    x = x + w * i\nreturn x"
    check(body, X + W[1], tmp_path, x=X)
    body = f"{KNOWN}y = K[0]\nfor i in range(int(x[1])):\n    y = y + i\nreturn op.Identity(y)"
    check(body, np.array(4), tmp_path, x=X)


def test_a_list_that_grows_in_the_graph_is_a_row(tmp_path: pathlib.Path) -> None:
    body = f"{KNOWN}items = []\nfor one in x:\n    items.append(one)\nreturn op.Add(x, items)"
    check(body, X * 2, tmp_path, x=X)


@pytest.mark.parametrize(
    "expression",
    ["x + K.max()", "x > K.max()", "K[0] == x", "op.Add(x, K[0])", "op.Add(x, [K[0], 1, 2])",
     "op.Pad(x, [1, 0], K[0])"],
)  # fmt: skip
def test_ints_of_numpy_are_int64(expression: str, tmp_path: pathlib.Path) -> None:
    check_refused(f"{KNOWN}return {expression}", tmp_path)


def test_lists_of_known_items_are_one_constant() -> None:
    text = text_of(f"{KNOWN}return op.Reshape(x, [K[0], 1, K[1]])", False, {"x": X})
    _, model = shared_compiler().compile(text, "f")
    nodes = onnx.load_from_string(model).graph.node
    assert [node.op_type for node in nodes] == ["Constant", "Reshape"]


# Scalars of other types than DOUBLE and INT64: their texts, classes, and what takes them.
ONES = """\
W = np.array([1.5, 0.1], np.float32)
H = np.array([1.5, 0.333], np.float16)
I = np.array([2, 3], np.int8)
K = np.array([2, 1])
D = np.array([1.5, 2.5])
B = np.array([True, False])
S = np.float32(0.5)
N = np.int64(3)
---
"""
OF_SCALARS = [
    ("x if str(W[1]) + str(H[1]) + str(I[0]) == '0.10.3332' else -x", X),
    ("x if f'{W[1]}' == '0.10000000149011612' else -x", X),
    ("x if f'{W[1]!s:>5} {I[1]:03d} {B[0]} {B[0]:d}' == '  0.1 003 True 1' else -x", X),
    ("x if '%d %s %.1f' % (I[0], W[1], W[0]) == '2 0.1 1.5' else -x", X),
    ("x if str(-W[0]) + str(W[0] > 1) + str(abs(-W[0])) == '-1.5True1.5' else -x", X),
    ("x if str(S) + str(N) + f'{S + W[0]}' == '0.532.0' else -x", X),
    ("op.Identity(np.array([W[0], W[1]]))", np.array([1.5, 0.1], np.float32)),
    ("op.Identity(np.array([W[0], 1]))", np.array([1.5, 1.0])),
    ("op.Identity(np.array([H[0], I[1]]))", np.array([1.5, 3], np.float16)),
    ("op.Identity(np.array([[W], [W * 2]]))", np.array([[[1.5, 0.1]], [[3, 0.2]]], np.float32)),
    ("op.Identity(np.full((I[0], 1), W[0]))", np.full((2, 1), 1.5, np.float32)),
    ("op.Identity(np.zeros(I[0], np.float32))", np.zeros(2, np.float32)),
    ("op.Identity(N)", np.array(3)), ("x * [1.0, 2.0, 3.0, 4.0][N]", X * 4),
    ("x * S", X * np.float32(0.5)), ("op.Gather(x, N - 1)", np.float32(3)),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "expected"), OF_SCALARS)
def test_scalars_of_other_types(expression: str, expected: object, tmp_path: pathlib.Path) -> None:
    check(f"{ONES}return {expression}", expected, tmp_path, x=X)


REDUCED = """\
R = np.arange(24, dtype=np.float32).reshape(2, 3, 4) - 5
H = np.array([[1.5, 2.25], [1000, 24]], np.float16)
U = np.array([250, 10], np.uint8)
V = np.array([2**63, 1], np.uint64)
B = np.array([[True, False], [True, True]])
L = np.array([2**62, 2**62, 2**62, -3])
Q = np.array([1.5, 2.5, -0.25])
E = np.zeros((0, 3), np.float32)
---
"""
REDUCTIONS = [
    *(f"{one}.{how}" for one in ("R", "H", "B")
      for how in ("sum(0)", "sum(axis=1)", "max(axis=-1, keepdims=True)", "min(0)",
                  "argmax(axis=1)", "argmin()", "all(axis=0)", "any(1)", "mean(axis=0)")),
    *(f"{one}.{how}()" for one in ("U", "L", "Q", "V")
      for how in ("sum", "prod", "max", "min", "argmax", "argmin", "all", "any")),
    "R.sum()", "R.mean()", "R.T.sum()", "Q.mean()", "U.mean()", "H[0].prod()", "E.sum()",
    "E.prod(0)", "E.all()", "E.sum(axis=1)", "np.sum(R, axis=0)", "np.argmax(R, 1)", "np.max(U)",
    "np.all(B, 0)", "np.mean(Q)", "np.prod(Q)", "np.array(2.0).sum()", "R.max(axis=None)",
    "R.mean() + Q.sum()",
]  # fmt: skip


@pytest.mark.parametrize("expression", REDUCTIONS)
def test_reductions_are_those_of_numpy(expression: str, tmp_path: pathlib.Path) -> None:
    scope: dict[str, object] = {"np": np}
    exec(REDUCED.replace("---\n", ""), scope)
    expected = np.asarray(eval(expression, scope))
    if expected.dtype == np.float64 and expected.ndim == 0:
        expected = expected.astype(np.float32)  # a scalar of DOUBLE is a float of Python
    check(f"{REDUCED}return op.Identity({expression})", expected, tmp_path, x=X)


def test_sums_are_exact_or_refused() -> None:
    """NumPy's order of additions is its own: what is compiled must be right in any order."""
    random = np.random.default_rng(2)
    compiled = 0
    for i in range(60):
        count, bits = int(random.integers(1, 300)), int(random.integers(2, 14))
        dtype = ["float16", "float32", "float64"][i % 3]
        values = (random.integers(-(1 << bits), 1 << bits, count) / 8).astype(dtype)
        how = ["sum", "mean", "prod"][int(random.integers(3))]
        body = f"V = np.array({values.tolist()!r}, np.{dtype})\n---\n"
        body += f"return op.Identity(np.full(1, V.{how}()))"
        answer, model = shared_compiler().compile(text_of(body, False, {"x": X}), "f")
        if answer[0] == "ok":
            compiled += 1
            made = onnx.load_from_string(model).graph.node[0].attribute[0].t
            with np.errstate(over="ignore"):
                expected = getattr(values, how)()
            assert onnx.numpy_helper.to_array(made).tolist() == [expected]
    assert compiled > 10


@pytest.mark.parametrize("item", ["W[0]", "N", "1", "1.5", "x"])
@pytest.mark.parametrize("grown", ["y.append(y)", "for _ in range(40):\n    y = [y, y]"])
def test_lists_without_end_are_no_arrays(item: str, grown: str) -> None:
    body = f"{ONES}y = [{item}]\n{grown}\nreturn op.Identity(np.array(y))"
    answer, _ = shared_compiler().compile(text_of(body, False, {"x": X}), "f")
    assert answer[0] == "error", answer


# Iterators over arrays that are known have their rows.
ITERATED = [
    ("x * list(zip(W, K))[1][0]", X * np.float32(0.1)), ("x * dict(zip('ab', W))['a']", X * 1.5),
    ("x * list(map(float, W))[0]", X * 1.5), ("x * list(reversed(W))[1]", X * 1.5),
    ("x * next(iter(W))", X * 1.5), ("x * len(list(filter(lambda one: one > 1, W)))", X),
    ("x * list(enumerate(W, 1))[1][0]", X * 2), ("x * tuple(iter(W))[0]", X * 1.5),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "expected"), ITERATED)
def test_iterators_over_arrays(expression: str, expected: object, tmp_path: pathlib.Path) -> None:
    check(f"{ONES}return {expression}", np.asarray(expected, np.float32), tmp_path, x=X)


CLASSES = ("np.integer", "np.signedinteger", "np.unsignedinteger", "np.floating", "np.number",
           "np.generic", "np.float32", "np.float64", "np.int8", "np.int64", "np.bool_",
           "np.ndarray", "int", "float", "bool", "(int, np.integer)")  # fmt: skip


@pytest.mark.parametrize(
    "value", ["W[0]", "I[0]", "K[0]", "D[0]", "B[0]", "S", "N", "W", "1", "W[0] + 1"]
)
def test_classes_of_scalars(value: str, tmp_path: pathlib.Path) -> None:
    flags = [f"isinstance({value}, {one})" for one in CLASSES]
    scope: dict[str, object] = {"np": np}
    exec(ONES.replace("---\n", ""), scope)
    expected = np.array([eval(one, scope) for one in flags])
    check(f"{ONES}return op.Identity(np.array([{', '.join(flags)}]))", expected, tmp_path, x=X)


MATCHES = [("I[0]", "2", X), ("W[0]", "1.5", X), ("W[0]", "1", -X), ("(W[0], K[1])", "(1.5, 1)", X),
           ("D[0]", "float()", X), ("W[0]", "float()", -X), ("N", "3 | 4", X)]  # fmt: skip


@pytest.mark.parametrize(("subject", "pattern", "expected"), MATCHES)
def test_scalars_in_patterns(
    subject: str, pattern: str, expected: object, tmp_path: pathlib.Path
) -> None:
    body = (
        f"match {subject}:\n    case {pattern}:\n        return x\n    case _:\n        return -x"
    )
    check(f"{ONES}{body}", expected, tmp_path, x=X)


@pytest.mark.parametrize("dtype", ["np.float16", "np.float32"])
def test_texts_of_floats(dtype: str) -> None:
    """As NumPy has them, or refused where its versions differ."""
    random = np.random.default_rng(1)
    values = 10.0 ** random.uniform(-6, 9, 60) * random.choice([-1, 1], 60)
    values = [*values, 0, -0.0, 1, 1e-4, 1e6, 1e3, 65504, np.inf, 5.96e-8, 0.5]
    with np.errstate(over="ignore"):
        scalars = [eval(dtype)(one) for one in values]
    text = f"V = [{', '.join(f'{dtype}({float(one)!r})' for one in scalars)}]\n---\n"
    text = text.replace("(inf)", "(np.inf)").replace("(-inf)", "(-np.inf)")
    certain = 0
    for i, one in enumerate(scalars):
        body = f"{text}return x if str(V[{i}]) == {str(one)!r} else -x"
        answer, model = shared_compiler().compile(text_of(body, False, {"x": X}), "f")
        if answer[0] == "ok":
            certain += 1
            nodes = onnx.load_from_string(model).graph.node
            assert "Neg" not in [node.op_type for node in nodes], str(one)
    assert certain > len(scalars) / 3


LIMITS: list[tuple[str, object]] = [
    ("x * np.finfo(x.dtype).eps", X * np.finfo(np.float32).eps),
    ("op.Clip(-x, np.finfo(x.dtype).min, 0.0)", -X),
    ("op.Identity(np.finfo(np.float16).max)", np.float16(65504)),
    ("op.Identity(np.finfo(np.float64).smallest_subnormal * np.ones(1))", np.full(1, 5e-324)),
    ("op.Identity(np.finfo(np.float32).tiny)", np.finfo(np.float32).tiny),
    ("x * np.finfo(np.complex64).bits", X * 32), ("x * np.iinfo(np.int8).min", X * -128),
    ("op.Identity(np.iinfo(np.int64).max)", np.array(2**63 - 1)),
    ("x * np.iinfo(K.dtype).bits", X * 64), ("x if np.iinfo(int).max == 2**63 - 1 else -x", X),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "expected"), LIMITS)
def test_limits_of_element_types(expression: str, expected: object, tmp_path: pathlib.Path) -> None:
    check(f"{KNOWN}return {expression}", expected, tmp_path, x=X)


@pytest.mark.parametrize("expression", ["np.finfo(K.dtype).max", "np.iinfo(x.dtype).max"])
def test_limits_of_other_types_are_refused(expression: str) -> None:
    text = text_of(f"{KNOWN}return x * {expression}", False, {"x": X})
    answer, _ = shared_compiler().compile(text, "f")
    assert answer[0] == "error" and first_finding(answer).startswith("static-error"), answer
