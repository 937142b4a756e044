"""Control flow that runs in the graph: each program against itself, run as Python on NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest

from language import HEADER, Cases, plain_python, shared_compiler, subgraphs, wrong_programs

pytestmark = pytest.mark.filterwarnings("ignore")

CASES = Cases()

F = np.array([1.0, -2.0, 0.5], np.float32)
M = np.arange(12, dtype=np.float32).reshape(4, 3) - 4


def program(name: str, source: str, *inputs: tuple[Any, ...], **more: Any) -> None:
    """`inputs`: the arguments of each run."""
    source = "@script(default_opset=op)\n" + source.lstrip("\n")
    for i, values in enumerate(inputs):
        CASES.case(f"{name}_{i}", source, plain_python(source), *values, **more)


COUNTS = [(F, np.int64(n)) for n in (0, 1, 2, 5)]

# --- Return --------------------------------------------------------------------------------------

program(
    "return_in_for",
    """
def f(x: FLOAT["N"], n: INT64):
    for i in range(n):
        x = x + 1.0
        if op.ReduceSum(x, keepdims=0) > 4.0:
            return x * 10.0
    return x
""",
    *COUNTS,
)
program(
    "returns_in_nested_loops",
    """
def f(x: FLOAT["N"], n: INT64):
    total = x
    for i in range(n):
        for j in range(i):
            total = total + 1.0
            if j == 2:
                return total, 1
            if op.ReduceSum(total, keepdims=0) > 100.0:
                return -total, 2
        if i == 7:
            return total * 2.0, 3
        total = total * 1.5
    return total, 0
""",
    *COUNTS,
    (F * 20, np.int64(4)),
)
program(
    "return_in_while_true",
    """
def f(x: FLOAT[3], n: INT64):
    k = 0
    while True:
        x = x + 1.0
        if k == n:
            return x, k
        k = k + 1
""",
    *COUNTS,
)
program(
    "return_of_a_local",
    """
def f(x: FLOAT["N"], n: INT64):
    for i in range(n):
        y = x * i
        if i == 1:
            z = y + 2.0
            return z
        elif i == 5:
            return y
    return -x
""",
    *COUNTS,
)
program(
    "returns_in_branches_with_a_long_rest",
    """
def f(x: FLOAT["N"], n: INT64):
    if n > 1:
        if n > 4:
            return x
        x = x + 10.0
    elif n == 1:
        for i in range(3):
            if n == i:
                return x * 7.0
        x = x + 3.0
    a = x * 2.0
    b = a + 1.0
    if n == 2:
        b = b * b
    c = b - x
    return c
""",
    *COUNTS,
)
program(
    "break_continue_and_return",
    """
def f(x: FLOAT["N"], n: INT64):
    for i in range(n):
        if i == 0:
            continue
        x = x * 2.0
        if i == 2:
            break
        if op.ReduceSum(x, keepdims=0) > 10.0:
            return x + 100.0
        x = x - 1.0
    return x
""",
    *COUNTS,
    (F * 100, np.int64(2)),
)

# --- Else ----------------------------------------------------------------------------------------

program(
    "else_of_for",
    """
def f(x: FLOAT["N"], n: INT64):
    for i in range(n):
        x = x + 1.0
        if i == 3:
            break
    else:
        x = x * 100.0
    return x
""",
    *COUNTS,
)
program(
    "else_of_while",
    """
def f(x: FLOAT["N"], n: INT64):
    k = 0
    while k < n:
        k = k + 1
        x = x * 2.0
        if op.ReduceSum(x, keepdims=0) < -20.0:
            break
    else:
        return x + k
    return x
""",
    *COUNTS,
    (-abs(F), np.int64(9)),
)
program(
    "else_without_break",
    """
def f(x: FLOAT["N"], n: INT64):
    for i in range(n):
        x = x + i
    else:
        x = x * 2.0
    return x
""",
    *COUNTS,
)
program(
    "else_after_return",
    """
def f(x: FLOAT["N"], n: INT64):
    for i in range(n):
        if i == 3:
            return x
        if i == 1 and n == 2:
            break
    else:
        x = x + 100.0
    return x * 2.0
""",
    *COUNTS,
)

for name, end in (("else_that_returns", ""), ("else_that_may_return", "    return x - k\n")):
    program(
        name,
        f"""
def f(x: FLOAT["N"], n: INT64):
    k = 0
    for i in range(n):
        if i == 3:
            return x * 2.0
        k = k + i
    else:
        {"if k > 0:" if end else "if True:"}
            return x + k
{end}""",
        *COUNTS,
    )
program(
    "else_of_while_that_returns",
    """
def f(x: FLOAT["N"], n: INT64):
    while n > 0:
        if n == 2:
            return x * 2.0
        n = n - 3
    else:
        return -x
""",
    *COUNTS,
)

# --- Static items --------------------------------------------------------------------------------

program(
    "list_left_on_a_tensor",
    """
def f(x: FLOAT["N"], n: INT64):
    for w in [0.5, 2.0, 4.0]:
        x = x * w
        if op.ReduceSum(x, keepdims=0) > op.Cast(n, to=FLOAT.dtype):
            break
    else:
        x = -x
    return x
""",
    *COUNTS,
)
program(
    "list_left_by_return",
    """
def f(x: FLOAT["N"], n: INT64):
    for k, w in enumerate([x, x * 2.0, x * 3.0]):
        if k == 1:
            continue
        if n == k:
            return w
        x = x + w
    return x
""",
    *COUNTS,
)
program(
    "symbolic_shapes_of_results",
    """
def f(x: FLOAT["N"]):
    for w in [0.5, 2.0, 8.0]:
        x = x * w
        if op.ReduceSum(x, keepdims=0) > 10.0:
            return x + 100.0
    return x
""",
    (F[:1],),
    (F[:1] * 11,),
    (F[:1] * 100,),
)
program(
    "zip_of_lists_continued_on_a_tensor",
    """
def f(x: FLOAT["N"], n: INT64):
    for a, b in zip([1, 2, 3], ("p", "q", "r")):
        if n == a:
            continue
        x = x + (a if b != "r" else 10)
    return x
""",
    *COUNTS,
)

# --- Names after the loop ------------------------------------------------------------------------

RAN = [(F, np.int64(n)) for n in (1, 2, 5)]
program(
    "names_of_the_body_after_it",
    """
def f(x: FLOAT["N"], n: INT64):
    for i in range(n):
        y = x * i
        z = (y, y + 1.0)
    return x + y, i, z[1]
""",
    *RAN,
)
program(
    "names_after_while_true",
    """
def f(x: FLOAT["N"], n: INT64):
    k = 0
    while True:
        y = x + k
        k = k + 1
        if k > n:
            break
    return y, k
""",
    *COUNTS,
)
program(
    "names_after_a_static_count",
    """
def f(x: FLOAT["N"], n: INT64):
    for i in range(4):
        y = x * 2.0
        if i == n:
            break
    return y + i
""",
    *COUNTS,
)
program(
    "loop_variable_that_was_bound_before",
    """
def f(x: FLOAT["N"], n: INT64):
    i = 7
    for i in range(n):
        x = x + 1.0
    for i in range(i, 10):
        x = x * 1.5
    return x, i
""",
    *COUNTS,
)
program(
    "tuples_are_carried",
    """
def f(x: FLOAT["N"], n: INT64):
    state = (x, 0, x * 2.0)
    for i in range(n):
        a, k, b = state
        state = (b, k + 1, a + b)
    return state[0], state[1]
""",
    *COUNTS,
)

# --- Numbers -------------------------------------------------------------------------------------

program(
    "numbers_take_the_type_of_tensors",
    """
def f(x: FLOAT["N"], n: INT64):
    if n > 1:
        k = 2
    else:
        k = 3
    y = 2 if n > 2 else 3.5
    total = 0
    for i in range(n):
        total = total + i
        x = x * i + k
    return x * k + y, x + total
""",
    *COUNTS,
)
program(
    "numbers_grow",
    """
def f(x: FLOAT["N"], n: INT64):
    k = 1
    for i in range(n):
        k = k / 2
    return x * k
""",
    *COUNTS,
)

# --- Iterables -----------------------------------------------------------------------------------

program(
    "enumerate_rows",
    """
def f(x: FLOAT["M", "N"], n: INT64):
    total = x[0] * 0.0
    for i, row in enumerate(x):
        total = total + row * i
    for i, row in enumerate(x, 3):
        total = total - row * i
    for k, row in enumerate(x, start=n):
        total = total + row * k
    return total
""",
    (M, np.int64(2)),
    (M[:1], np.int64(-1)),
)
program(
    "zip_of_tensors",
    """
def f(x: FLOAT["M", "N"], y: FLOAT["K", "N"]):
    total = x[0] * 0.0
    for a, b in zip(x, y):
        total = total + a * b
    for i, (a, b) in enumerate(zip(x, reversed(y))):
        total = total * 2.0 + a - b * i
    return total
""",
    (M, M[1:3] + 1),
    (M[:1], M + 1),
)
program(
    "zip_of_a_tensor_and_a_list",
    """
def f(x: FLOAT["M", "N"], y: FLOAT[4, 3]):
    total = y[0] * 0.0
    for a, k in zip(x, [2, 3, 5, 7, 11]):
        total = total + a * k
    for a, name in zip(y, ["a", "b", "c", "d"]):
        total = total + (a if name != "c" else -a)
    for a, k in zip(x, range(10, 0, -2)):
        total = total * k + a
    return total
""",
    (M, M + 2),
    (M[:1], M),
)
program(
    "pairs",
    """
def f(x: FLOAT["M", 2]):
    total = x[0, 0] * 0.0
    for a, b in x:
        total = total + a * b
    return total
""",
    (M[:, :2],),
)
program(
    "ranges",
    """
def f(n: INT64, m: INT64):
    total = 0
    for i in range(m, n, -2):
        total = total * 2 + i
    for i in range(3, n):
        total = total * 2 + i
    for i in range(10, m, n):
        total = total * 3 + i
    for i in reversed(range(n)):
        total = total * 5 + i
    for i in range(5, -5, -3):
        total = total * 2 + i
    return total
""",
    (np.int64(5), np.int64(11)),
    (np.int64(-2), np.int64(3)),
    (np.int64(1), np.int64(10)),
)
program(
    "sequence_items",
    """
def f(x: FLOAT["M", "N"]):
    parts = op.SplitToSequence(x, 2, axis=0)
    total = 0.0
    for i, part in enumerate(parts):
        total = total + op.ReduceSum(part, keepdims=0) * i
    for a, b in zip(parts, reversed(parts)):
        total = total + op.ReduceSum(a, keepdims=0) * op.ReduceSum(b, keepdims=0)
    return total
""",
    (M,),
)

# --- Lists that grow -----------------------------------------------------------------------------

program(
    "append_and_stack",
    """
def f(x: FLOAT["N"], n: INT64):
    rows = []
    for i in range(n):
        x = x * 2.0
        rows.append(x + i)
    return op.ConcatFromSequence(rows, axis=0, new_axis=1)
""",
    *RAN,
)
program(
    "append_and_join",
    """
def f(x: FLOAT["N"], n: INT64):
    rows = [x]
    for i in range(n):
        rows += [x * i]
        if i == 2:
            break
    return op.ConcatFromSequence(rows, axis=0)
""",
    *COUNTS,
)
program(
    "conditional_appends",
    """
def f(x: FLOAT["N"], n: INT64):
    rows = []
    for i in range(n):
        if i % 2 == 0:
            rows.append(x)
            rows.append(x + i)
        else:
            x = x * 3.0
    return op.ConcatFromSequence(rows, axis=0), rows[-1]
""",
    *RAN,
)
program(
    "a_grown_list_is_a_list",
    """
def f(x: FLOAT["M", "N"], n: INT64):
    rows = []
    for row in x:
        rows.append(row * 2.0)
    total = rows[0]
    for row in rows:
        total = total + row
    rows.append(total)
    return rows[n], total
""",
    (M, np.int64(1)),
    (M[:1], np.int64(1)),
)
program(
    "lists_in_nested_loops",
    """
def f(x: FLOAT["M", "N"], n: INT64):
    means = []
    for row in x:
        parts = []
        for i in range(n):
            parts.append(row * i)
        means.append(op.ConcatFromSequence(parts, axis=0, new_axis=1))
    return op.ConcatFromSequence(means, axis=0, new_axis=1)
""",
    (M, np.int64(1)),
    (M, np.int64(3)),
)
program(
    "one_list_in_nested_loops",
    """
def f(x: FLOAT["M", "N"], n: INT64):
    parts = []
    for row in x:
        for i in range(n):
            parts.append(row * i)
    return op.ConcatFromSequence(parts, axis=0, new_axis=1)
""",
    (M, np.int64(1)),
    (M, np.int64(3)),
)

# --- Comprehensions ------------------------------------------------------------------------------

program(
    "comprehension_over_rows",
    """
def f(x: FLOAT["M", "N"], n: INT64):
    doubled = [row * 2.0 + i for i, row in enumerate(x)]
    return op.ConcatFromSequence(doubled, axis=0, new_axis=1), doubled[n]
""",
    (M, np.int64(2)),
    (M[:1], np.int64(0)),
)
program(
    "comprehension_with_a_condition",
    """
def f(x: FLOAT["M", "N"], n: INT64):
    some = [row for row in x if op.ReduceSum(row, keepdims=0) > -8.0]
    return op.ConcatFromSequence(some, axis=0)
""",
    (M, np.int64(2)),
)
program(
    "nested_comprehensions",
    """
def f(x: FLOAT["M", "N"], n: INT64):
    all = [row * k + j for k in [1.0, 2.0] for row in x for j in range(n) if j != 1]
    table = {name: k for k, name in enumerate("abc")}
    static = [[a * b for b in range(a)] for a in range(3) if a != 1]
    return op.ConcatFromSequence(all, axis=0, new_axis=1) + table["c"] + sum(static[1])
""",
    (M, np.int64(1)),
    (M, np.int64(3)),
)

# --- While ---------------------------------------------------------------------------------------

program(
    "walrus_in_a_condition",
    """
def f(x: FLOAT["N"], n: INT64):
    k = 0
    while (total := op.ReduceSum(x, keepdims=0)) < 20.0 and 0 <= k < n:
        x = x + total * total + 1.0
        k += 1
    return x, k
""",
    *COUNTS,
)
program(
    "several_breaks",
    """
def f(x: FLOAT["N"], n: INT64):
    k = 0
    while True:
        if k == n:
            break
        x = x * 2.0
        assert len(x.shape) == 1
        if op.ReduceSum(x, keepdims=0) < -10.0:
            break
        pass
        k = k + 1
        if k > 3:
            x = -x
            break
    return x, k
""",
    *COUNTS,
)
program(
    "functions_in_loops",
    """
def f(x: FLOAT["N"], n: INT64):
    scale = 1.0
    for i in range(n):
        def grow(v):
            return v * scale + i
        double = lambda v: v + v
        x = double(grow(x))
        scale = scale * 0.5
    return x
""",
    *COUNTS,
)
program(
    "growing",
    """
def f(x: FLOAT["N"], n: INT64):
    y = x
    for i in range(n):
        y = op.Concat(y, x, axis=0)
        if i == 3:
            return y
    return y
""",
    *COUNTS,
)

test_model, test_function, test_eager = CASES.tests()


# --- Findings ------------------------------------------------------------------------------------

WRONG = [
    ("for i in range(n):\n    if c:\n        y = x\nreturn y", ["unbound-name:4"]),
    ("for i in range(n):\n    if c:\n        return x", ["missing-return:2"]),
    ("for i in range(n):\n    if c:\n        return x\n    elif n > 3:\n        return n\nreturn x",
     ["branch-type-mismatch:2"]),
    ("for i in range(n, 0, 0):\n    x = x + 1\nreturn x", ["static-error:1"]),
    ("for a, b in x:\n    x = x + a\nreturn x", ["result-count:1"]),
    ("xs = ys = []\nfor i in range(n):\n    xs.append(x)\nreturn x", ["unsupported-statement:2"]),
    ("xs = []\nfor i in range(n):\n    xs.append(None)\nreturn x", ["unsupported-operand:3"]),
    ("for i in range(n):\n    y = x\nreturn y + z", ["possibly-unbound:3", "unknown-name:3"]),
]  # fmt: skip

test_wrong_program = wrong_programs(WRONG)


SIGNATURE = "@script(default_opset=op)\ndef f(x: FLOAT['N', 4], c: BOOL, n: INT64):\n"


def indented(body: str) -> str:
    return "".join(f"    {line}\n" for line in body.split("\n"))


def compiled(body: str) -> tuple[list[str], onnx.ModelProto]:
    answer, data = shared_compiler().compile(HEADER + SIGNATURE + indented(body), "f")
    return answer, onnx.load_from_string(data) if answer[0] == "ok" else onnx.ModelProto()


def operators(model: onnx.ModelProto) -> list[str]:
    return [node.op_type for graph in subgraphs(model.graph) for node in graph.node]


def test_a_break_is_its_condition() -> None:
    _, model = compiled(
        "for i in range(n):\n    if not c:\n        break\n    x = x + 1.0\nreturn x"
    )
    assert operators(model).count("If") == 1
    assert operators(model).count("Not") == 1


def test_stacked_appends_are_an_output_of_the_loop() -> None:
    _, model = compiled(
        "rows = []\nfor i in range(n):\n    rows.append(x * i)\n"
        "return op.ConcatFromSequence(rows, axis=0, new_axis=1)"
    )
    assert not [name for name in operators(model) if "Sequence" in name]


# A sequence that is empty before a loop, and the dimensions of its tensors joined behind it.
FILLED = [
    ("for i in range(n):\n    s = op.SequenceInsert(s, x * i)", [None, 4]),
    ("while op.SequenceLength(s) < n:\n    s = op.SequenceInsert(s, x[0])", [None]),
    (("for i in range(n):\n    for j in range(n):\n        s = op.SequenceInsert(s, x[i] * j)"),
     [None]),
    (("for i in range(n):\n    if x[i, 0] > 0:\n        s = op.SequenceInsert(s, x)\n"
      "    else:\n        s = op.SequenceInsert(s, -x)"), [None, 4]),
    (("for i in range(n):\n    if x[i, 0] < 5:\n        s = op.SequenceInsert(s, x)"), [None, 4]),
    # Sizes that change from one iteration to the next are none.
    ("for i in range(n):\n    s = op.SequenceInsert(s, op.Transpose(x[:i]))", [None, None]),
    (("for i in range(n):\n    rows = op.Compress(x, x[:, 0] > i, axis=0)\n"
      "    s = op.SequenceInsert(s, op.Transpose(rows))"), [None, None]),
    (("y = x\nfor i in range(n):\n    s = op.SequenceInsert(s, op.Transpose(y))\n"
      "    y = op.Concat(y, y, axis=0)"), [None, None]),
]  # fmt: skip


@pytest.mark.parametrize(("loop", "dims"), FILLED)
def test_sequences_are_typed_by_what_fills_them(loop: str, dims: list[int | None]) -> None:
    answer, model = compiled(
        f"s = op.SequenceEmpty()\n{loop}\nreturn op.ConcatFromSequence(s, axis=0)"
    )
    assert answer[0] == "ok", answer
    onnx.checker.check_model(model, full_check=True)  # an output must have a shape
    shape = model.graph.output[0].type.tensor_type.shape
    assert [dim.dim_value or None for dim in shape.dim] == dims


def test_what_nobody_reads_is_not_carried() -> None:
    _, model = compiled(
        "for i in range(n):\n    y = x + i\n    x = y * 2.0\n"
        "for i in range(n):\n    y = x + i\n    x = y * 2.0\nreturn x"
    )
    loops = [node for node in model.graph.node if node.op_type == "Loop"]
    assert [len(node.output) for node in loops] == [1, 1]


@pytest.mark.parametrize("depth", [10, 40, 200])
@pytest.mark.parametrize("head", ["for i{} in range(n):", "while x[0, 0] < {}:", "if n > {}:"])
def test_nesting_costs_in_proportion(head: str, depth: int) -> None:
    lines = [f"{'    ' * i}{head.format(i)}" for i in range(depth)]
    inner = "    " * depth
    body = "\n".join(
        ["s = 0.0", *lines, f"{inner}s = s + 1.0", f"{inner}x = op.Concat(x, x * s, axis=0)"]
    )
    text = HEADER + SIGNATURE + indented(body + "\nreturn x")
    answer, _ = shared_compiler().compile(text, "f")
    assert answer[0] == "ok", answer


def test_many_static_iterations() -> None:
    answer, model = compiled("for i in range(10000):\n    x = x + i\nreturn x")
    assert answer[0] == "ok"
    assert operators(model).count("Add") == 10000


def test_many_conditional_returns() -> None:
    lines = [
        f"if n == {i}:\n    if c:\n        return x * {i}.0\n    x = x + 1.0" for i in range(40)
    ]
    text = HEADER + SIGNATURE + indented("\n".join(lines) + "\nreturn x")
    answer, data = shared_compiler().compile(text, "f")
    assert answer[0] == "ok", answer
    assert len(data) < 200_000
