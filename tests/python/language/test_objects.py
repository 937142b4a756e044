"""Lists, dicts, sets and items of tensors, where Python changes an object that others may hold."""

from __future__ import annotations

import pathlib
import subprocess

import numpy as np
import pytest

from language import TOOL, Cases, plain_python, shared_compiler, wrong_programs

pytestmark = pytest.mark.filterwarnings("ignore")

CASES = Cases()

F = np.array([1.0, -2.0, 0.5], np.float32)
M = np.arange(12, dtype=np.float32).reshape(4, 3) - 4
YES, NO = np.bool_(True), np.bool_(False)


def program(name: str, source: str, *inputs: tuple[object, ...], **more: object) -> None:
    """`inputs`: the arguments of each run; the same text, over NumPy, says what it should give."""
    source = "@script(default_opset=op)\n" + source.lstrip("\n")
    plain = plain_python(source)

    def expected(**values: object) -> object:
        return plain(**{name: np.copy(value)[()] for name, value in values.items()})

    for i, values in enumerate(inputs):
        CASES.case(f"{name}_{i}", source, expected, *values, **more)


# --- Items that are assigned while they are looped over -------------------------------------------

program(
    "rows_assigned_in_the_loop_over_them",
    """
def f(m: FLOAT[4, 3]):
    total = m[0] * 0.0
    for row in m:
        total = total + row
        m[2] = total * 2.0
    return total, m
""",
    (M,),
)
program(
    "rows_assigned_under_a_condition",
    """
def f(m: FLOAT["N", 3], c: BOOL):
    total = m[0] * 0.0
    for i, row in enumerate(m):
        total = total + row
        if c:
            m[-1, i % 3] = i * 1.0
    return total
""",
    (M, YES),
    (M, NO),
)
program(
    "rows_in_reverse_and_in_pairs",
    """
def f(m: FLOAT[4, 3], n: FLOAT[4, 3]):
    total = m[0] * 0.0
    for row in reversed(m):
        total = total + row
        m[0] = total
    for row, other in zip(m, n):
        total = total + row * other
        m[3] = row
        n[3, 0] += 1.0
    return total
""",
    (M, M * 0.5),
)
program(
    "rows_of_a_copy",
    """
def f(m: FLOAT[4, 3]):
    total = m[0] * 0.0
    for row in m * 1.0:
        total = total + row
        m[2] = total
    return total, m
""",
    (M,),
)
program(
    "static_list_that_changes_while_it_is_looped_over",
    """
def f(x: FLOAT[3]):
    xs = [1.0, 2.0, 3.0]
    for k in xs:
        x = x * k
        xs[2] = 10.0
        if len(xs) < 5:
            xs.append(k + 0.5)
    return x
""",
    (F,),
)

# --- Values that are not passed on ----------------------------------------------------------------

program(
    "arithmetic_makes_new_tensors",
    """
def f(x: FLOAT[3], c: BOOL):
    scaled = lambda v, u: v[::-1] - u
    def moved(v, by=0.5):
        w = v * by
        return w + x
    a = x + 1.0
    b = x * 2.0
    if c:
        a = b + [r * 0.5 for r in [a, x]][0]
        b = scaled(a, x) + moved(b)
    a[1] = 7.0
    b[0] = a[1]
    return a, b, x
""",
    (F, YES),
    (F, NO),
)

# --- Lists and dicts in branches ------------------------------------------------------------------

program(
    "append_in_one_branch",
    """
def f(x: FLOAT[3], c: BOOL):
    xs = [x]
    if c:
        xs.append(x * 2.0)
    return op.ConcatFromSequence(xs, axis=0), xs[-1], len(xs)
""",
    (F, YES),
    (F, NO),
)
program(
    "append_in_both_branches",
    """
def f(x: FLOAT[3], c: BOOL):
    xs = [x]
    if c:
        xs.append(x * 2.0)
    else:
        xs.append(x - 1.0)
    return op.Concat(*xs, axis=0)
""",
    (F, YES),
    (F, NO),
)
program(
    "append_to_an_empty_list",
    """
def f(x: FLOAT[3], c: BOOL, d: BOOL):
    xs = []
    if c:
        xs.append(x)
        if d:
            xs.append(x * 2.0)
        xs.append(x * 3.0)
    total = x * 0.0
    for one in xs:
        total = total * 2.0 + one
    return total, len(xs)
""",
    (F, YES, YES),
    (F, YES, NO),
    (F, NO, YES),
)
program(
    "append_after_an_early_return",
    """
def f(x: FLOAT[3], c: BOOL):
    xs = [x]
    if c:
        return x * 100.0
    xs.append(x + 1.0)
    xs.insert(0, x - 1.0)
    return op.Concat(*xs, axis=0)[:3]
""",
    (F, YES),
    (F, NO),
)
program(
    "list_made_in_a_branch",
    """
def f(x: FLOAT[3], c: BOOL):
    y = x
    if c:
        xs = [x]
        xs.append(x * 2.0)
        y = xs[1] - xs.pop(0)
    return y
""",
    (F, YES),
    (F, NO),
)
program(
    "list_made_in_each_iteration",
    """
def f(m: FLOAT[4, 3]):
    total = m[0]
    for row in m:
        xs = []
        xs.append(row)
        xs.append(total)
        total = xs[0] + xs[1] * 0.5
    return total
""",
    (M,),
)
program(
    "items_changed_in_a_branch",
    """
def f(x: FLOAT[3], c: BOOL):
    xs = [1.0, 2.0]
    ys = [4.0]
    if c:
        xs[0] = 3.0
        ys.pop()
    return x * xs[0] + len(ys)
""",
    (F, YES),
    (F, NO),
)
program(
    "dict_changed_in_a_branch",
    """
def f(x: FLOAT[3], c: BOOL):
    d = {"a": x, "b": x * 2.0}
    if c:
        d["a"] = d["b"] - 1.0
        d.update({"b": x})
    return d["a"] + d["b"]
""",
    (F, YES),
    (F, NO),
)
program(
    "unrolled_loop_with_appends_under_conditions",
    """
def f(x: FLOAT[3]):
    xs = []
    for i in [0, 1, 2]:
        if x[i] > 0.0:
            xs.append(x[i])
    return len(xs), op.ConcatFromSequence(xs, axis=0, new_axis=1)
""",
    (F,),
)
program(
    "dict_comprehension_of_tensors",
    """
def f(x: FLOAT[3]):
    d = {k: x * k for k in (1, 2, 3) if k != 2}
    e = {f"layer{i}": v + 1.0 for i, v in d.items()}
    return e["layer1"] - e["layer3"], len(d)
""",
    (F,),
)
program(
    "sets",
    """
def f(x: FLOAT[3]):
    kept = {0, 2, 2, 1} - {1}
    names = {"a", "b"} | {"c"}
    squares = {i * i for i in range(-2, 3)}
    if 2 in kept and "c" in names and 3 not in kept and kept <= {0, 1, 2}:
        x = x + len(kept) + len(squares)
    for i in sorted(kept):
        x = x * (i + 1)
    return x + max(kept & {0, 1}) + sum(squares)
""",
    (F,),
)

# --- Chained subscripts ---------------------------------------------------------------------------

program(
    "chained_item_assignment",
    """
def f(m: FLOAT[4, 3], i: INT64):
    m[0][1] = 9.0
    m[i][0] += 2.0
    m[1:3][0] = m[0]
    m[:, 1][2] = -1.0
    m[...][3][2] = 5.0
    return m
""",
    (M, np.int64(2)),
    (M, np.int64(-1)),
    as_function=False,  # of an input without a shape it is not known that it is one index
)
program(
    "part_with_a_name_of_its_own",
    """
def f(m: FLOAT[4, 3]):
    row = m[0] * 1.0
    row[1] = 9.0
    m[1][2] = row[1]
    return m, row
""",
    (M,),
)

# --- Membership, shifts, ranges -------------------------------------------------------------------

program(
    "element_of_a_tensor",
    """
def f(m: FLOAT[4, 3], v: FLOAT):
    y = m[0]
    if v in m:
        y = y + 1.0
    if 100 not in m:
        y = y * 2.0
    return y, v in m, 3.0 in m[0:2]
""",
    (M, np.float32(5)),
    (M, np.float32(0.5)),
)
for kind in (np.int64, np.int32, np.uint8, np.uint64, np.int8):
    values = np.array([1, 5, 100, 7, 3], kind)
    bits = np.array([0, 7, 8, 64, 100], kind)
    CASES.expression("x << n", x=values, n=bits)
    CASES.expression("x >> n", x=values, n=bits)
CASES.expression("x >> n", x=np.array([-5, -1, 5, -100]), n=np.array([64, 70, 64, 2]))
CASES.expression("x << 64", x=np.array([1, -5]), expect="x * 0")
CASES.expression("x >> 70", x=np.array([1, -5]), expect="np.array([0, -1])")
CASES.case(
    "range_with_a_step_of_the_graph",
    """@script(default_opset=op)
def f(x: FLOAT[3], n: INT64, k: INT64):
    for i in range(0, n, k):
        x = x + i
    return x
""",
    lambda x, n, k: x + np.float32(sum(range(0, n, k) if k else ())),
    F,
    np.int64(5),
    np.int64(2),
)
CASES.case(
    "range_with_step_zero_in_the_graph",
    """@script(default_opset=op)
def f(x: FLOAT[3], n: INT64, k: INT64):
    for i in range(0, n, k):
        x = x + i
    return x
""",
    lambda x, **_: x,
    F,
    np.int64(5),
    np.int64(0),
    as_python=False,  # Python raises an error
)


def folded(m: np.ndarray) -> np.ndarray:
    total = np.float32(len(m)) + m[0]
    for i in range(len(m)):
        total = total * np.float32(i) + np.where(total > 0, np.float32(i), total)
    return total


CASES.case(
    "numbers_of_the_graph_as_inputs_of_operators",
    """@script(default_opset=op)
def f(m: FLOAT["N", 3]):
    k = len(m)
    total = op.Add(k, m[0])
    for i in range(k):
        total = op.Mul(total, i) + op.Where(total > 0.0, i, total)
    return total
""",
    folded,
    M,
)

test_model, test_function, test_eager = CASES.tests()

WRONG: list[tuple[str, list[str]]] = [
    ("for row in x:\n    x[0] = row\n    x = x * 2.0\nreturn x", ["aliased-item-assignment:1"]),
    (
        "y = x\nfor row in y:\n    x[0] = row\nreturn x",
        ["aliased-item-assignment:3"],
    ),
    (
        "for row in (x if c else x * 2.0):\n    x[0] = row\nreturn x",
        ["aliased-item-assignment:2"],
    ),
    (
        "for a, row in zip([1, 2, 3], x):\n    x[0] = row\nreturn x",
        ["aliased-item-assignment:1"],
    ),
    ("xs = [x]\nys = xs\nif c:\n    xs.append(x)\nreturn ys[0]", ["unsupported-statement:4"]),
    ("x[x > 0.0][0] = 1.0\nreturn x", ["unsupported-statement:1"]),
    ("for i in {1, 2}:\n    x = x + i\nreturn x", ["unsupported-operand:1"]),
    ("s = {x, 1}\nreturn x", ["static-error:1"]),
    ("d = {n: x}\nreturn x", ["static-required:1"]),
    ("return x + (n << -1)", ["unsupported-operand:1"]),
    ("for i in range(0, n, 0):\n    x = x + i\nreturn x", ["static-error:1"]),
    # One mistake, one finding.
    ("while True:\n    n += 3\n    if n > 9:\n        return x * n", ["type-mismatch:4"]),
    ("y = op.Ad(x, x)\nfor i in range(n):\n    y = y + x\nreturn y", ["unknown-operator:1"]),
    ("y = op.Ad(x, x)\nfor i in range(n):\n    x = x + y\nreturn x", ["unknown-operator:1"]),
    ("for i in range(n):\n    y = op.Ad(x, x)\nreturn y", ["unknown-operator:2"]),
    ("for i in range(n):\n    x = op.Ad(x, x)\nreturn x", ["unknown-operator:2"]),
    ("if c:\n    y = op.Ad(x, x)\nelse:\n    y = x\nreturn y", ["unknown-operator:2"]),
    ("for row in op.Ad(x, x):\n    y = row\n    z = y\nreturn z", ["unknown-operator:1"]),
    ("while op.Ad(x, x):\n    y = x\nreturn y", ["unknown-operator:1"]),
    (
        "a, b = op.Ad(x, x)\nwhile c:\n    a = a + b\n    c = n > 0\nreturn a",
        ["unknown-operator:1"],
    ),
]
test_wrong_program = wrong_programs(WRONG)


def test_callee_of_an_older_opset() -> None:
    source = """
from sardonyx import script, FLOAT, opset15 as old
@script()
def g(x):
    return old.ReduceMean(x, axes=[0])
@script()
def f(x: FLOAT[3]):
    return g(x) + 1.0
"""
    answer, _ = shared_compiler().compile(source, "f")
    assert answer[0] == "ok", answer


def test_invented_dimensions_are_not_shown(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(
        "from sardonyx import BOOL, FLOAT, opset18 as op, script\n\n\n@script()\n"
        "def f(x: FLOAT[3, 4], c: BOOL):\n    y = op.NonZero(x)\n"
        "    z = op.Compress(y, y[0] > 0, axis=1)\n    return z if c else x\n"
    )
    program = TOOL.with_name("sardonyx")
    done = subprocess.run([program, "check", path], capture_output=True, text=True, timeout=60)
    assert "[branch-type-mismatch]" in done.stdout + done.stderr
    assert "unk__" not in done.stdout + done.stderr
