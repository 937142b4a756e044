"""Where two paths meet, values that Python's == finds equal but that it tells apart stay two:
0.0 and -0.0, 1 and 1.0 and True, one dict in two orders. A loop's literal is only taken as
unchanged when nothing tells its rounds apart."""

from __future__ import annotations

import numpy as np
import pytest

from agreement import Refusal, run_everywhere

X = np.array([1.5, -2.0, 4.0], np.float32)
V = np.array([7, -3, 2], np.int64)

# A program, what it gives for `c` true and false. None: every surface but Python refuses it.
PROGRAMS = {
    "zero of a loop": (
        """
        z = -0.0
        i = int(v[1]) - 9
        while i < 3:
            i += 3
            z = math.sqrt(abs(z))
        return x * z
        """,
        (np.float32([0, -0.0, 0]), np.float32([0, -0.0, 0])),
    ),
    "zero of a for loop": (
        """
        z = 0.0
        for i in range(int(v[2])):
            z = -abs(z)
        return x * z
        """,
        (np.float32([-0.0, 0, -0.0]), np.float32([-0.0, 0, -0.0])),
    ),
    "zero of branches": (
        """
        if c:
            z = 0.0
        else:
            z = -0.0
        return x * z
        """,
        (np.float32([0, -0.0, 0]), np.float32([-0.0, 0, -0.0])),
    ),
    "zero of a conditional expression": (
        "return x * (-0.0 if c else 0.0)",
        (np.float32([-0.0, 0, -0.0]), np.float32([0, -0.0, 0])),
    ),
    "zeros in tuples": (
        """
        if c:
            pair = (2.0, 0.0)
        else:
            pair = (2.0, -0.0)
        return x * pair[0] * pair[1]
        """,
        (np.float32([0, -0.0, 0]), np.float32([-0.0, 0, -0.0])),
    ),
    "zeros of two loops alike": (
        """
        total = x * 0.0
        for start in (0.0, -0.0):
            z = start
            for i in range(int(v[2])):
                z = z * 1.0
            total = total + 1.0 / op.Cast(z, to=1) * x
        return op.Cast(op.IsNaN(total), to=1)
        """,
        (np.float32([1, 1, 1]), np.float32([1, 1, 1])),
    ),
    "zero bound in a branch of a loop": (
        """
        z = 0.0
        for i in range(int(v[2])):
            if i == 1:
                z = -0.0
        return x * z
        """,
        (np.float32([-0.0, 0, -0.0]), np.float32([-0.0, 0, -0.0])),
    ),
    "int or bool": (
        """
        if c:
            n = 1
        else:
            n = True
        return x * n
        """,
        (X, X),
    ),
    "dicts in two orders": (
        """
        if c:
            d = {"a": 2.0, "b": 3.0}
        else:
            d = {"b": 3.0, "a": 2.0}
        y = x
        for value in d.values():
            y = y * 10.0 + value
        return y
        """,
        None,
    ),
    "ranges of one item": (
        """
        if c:
            r = range(2, 3, 1)
        else:
            r = range(2, 9, 7)
        return x * float(r[0])
        """,
        None,
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("c", [True, False])
def test_values_that_are_told_apart(name, c, tmp_path):
    body, expected = PROGRAMS[name]
    lines = "\n".join(
        "    " + line.strip("\n")[8:] if line.startswith(" " * 8) else "    " + line
        for line in body.strip("\n").splitlines()
    )
    source = f"""
@script(default_opset=op)
def f(x: FLOAT[3], v: INT64[3], c: BOOL) -> FLOAT[3]:
{lines}
"""
    answers = run_everywhere(source, {"x": X, "v": V, "c": np.bool_(c)}, tmp_path)
    for surface in ("eager", "python", "tool"):
        got = getattr(answers, surface)
        if expected is None:
            if isinstance(got, Refusal):
                continue
            wanted = answers.eager
        else:
            assert not isinstance(got, Refusal), f"{surface}: {got.text}"
            wanted = [expected[0 if c else 1]]
        # Bytes, because NumPy's comparison takes 0.0 and -0.0 for equal.
        assert np.asarray(got[0]).tobytes() == np.asarray(wanted[0]).tobytes(), (surface, got)


def test_a_member_of_an_enumeration_is_itself(tmp_path):
    """However often it is read: both branches bind one object, and `is` finds it."""
    source = """
import enum


class Color(enum.IntEnum):
    RED = 1
    BLUE = 2


@script(default_opset=op)
def f(x: FLOAT[3], c: BOOL) -> FLOAT[3]:
    if c:
        k = Color.RED
    else:
        k = Color.RED
    if k is Color.RED and k is not Color.BLUE:
        x = x + 5.0
    return x * [1.0, 3.0][k]
"""
    answers = run_everywhere(source, {"x": X, "c": np.bool_(True)}, tmp_path)
    for surface in ("eager", "python", "tool"):
        got = getattr(answers, surface)
        assert not isinstance(got, Refusal), f"{surface}: {got.text}"
        np.testing.assert_array_equal(got[0], (X + 5) * 3)
