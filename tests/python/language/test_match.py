"""`match` on what is known at compile time, and slices of static lists as targets: on all surfaces
a program means what CPython says, or all refuse it."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import pytest

from surfaces import check, refused

pytestmark = pytest.mark.filterwarnings("ignore")

I = np.array([1, 2, 3], np.int64)  # noqa: E741

MATCHED: list[tuple[str, Any]] = [
    (('mode = "b"\nmatch mode:\n    case "a":\n        y = x + 1\n    case "b" | "c":\n'
     "        y = x + 2\n    case _:\n        y = x\nreturn y"), I + 2),
    (("match (1, [2, 3, 4]):\n    case (0, _):\n        return x\n"
     "    case (a, [b, *rest]) if len(rest) == 2:\n        return x * (a + b + rest[1])"), I * 7),
    (('match {"k": 3, "z": 5}:\n    case {"k": 4}:\n        y = x\n    case {"k": k, **rest}:\n'
     '        y = x * k + rest["z"]\nreturn y'), I * 3 + 5),
    (("match None:\n    case True | False:\n        y = x\n    case None:\n        y = x * 4\n"
     "return y"), I * 4),
    ("match 1:\n    case True:\n        return x\n    case 1.0:\n        return x * 2", I * 2),
    (('match "ab":\n    case ["a", "b"]:\n        y = x\n    case str(s):\n        y = x * len(s)\n'
     "return y"), I * 2),
    (("match -1.5:\n    case int():\n        y = x\n    case float(v) | int(v):\n"
     "        y = x * int(v * 2)\nreturn y"), I * -3),
    (("y = x\nfor i in range(6):\n    match i:\n        case 1:\n            continue\n"
     "        case 4:\n            break\n        case n:\n            y = y + n\nreturn y"),
     I + 5),
    ("y = x\nmatch 3:\n    case 4:\n        y = x * 5\nreturn y", I),
    ("match 5:\n    case 1 as n:\n        pass\n    case int() as n:\n        pass\nreturn x * n",
     I * 5),
    ("match x.shape:\n    case (a, b):\n        y = x\n    case (n,):\n        y = x * n\nreturn y",
     I * 3),
    # What is captured is the tensor, and what a case holds may depend on one.
    ("match [x, x * 2]:\n    case [a, b]:\n        y = a + b\nreturn y", I * 3),
    ("match 1:\n    case 1:\n        if x[0] > 0:\n            return x * 2\nreturn x * 3", I * 2),
    (("def g(v):\n    match v:\n        case [a, b]:\n            return a * b\n"
     "        case _:\n            return 7\n\nreturn x * (g([2, 5]) + g(3))"), I * 17),
    # Slices as targets.
    ("a = [1, 2, 3, 4]\nb = a\na[1:3] = [7]\nreturn x * (b[1] * 10 + len(b))", I * 73),
    ("a = [1, 2, 3, 4]\na[::2] = [5, 6]\nreturn x * (a[0] * 10 + a[2])", I * 56),
    ("a = [1, 2, 3]\na[3:1] = (8, 9)\nreturn x * (a[3] * 10 + a[4])", I * 89),
    ("a = [1, 2]\na[:] = a + a\na[1:1] = a\nreturn x * (len(a) * 10 + a[1])", I * 81),
    ("a = [1, 2, 3, 4]\ndel a[::2]\nreturn x * (a[0] * 10 + a[1])", I * 24),
    ("a = [1, 2, 3, 4]\ndel a[::-2], a[5:]\nreturn x * (a[0] * 10 + a[1])", I * 13),
    ("a = [1, 2, 3]\na[1:] += [4]\na[:1] *= 2\nreturn x * (sum(a) * 10 + len(a))", I * 115),
    ("a = [x, x]\na[1:] = [x * 2, x * 3]\nreturn a[1] + a[2]", I * 5),
]  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), MATCHED, ids=[body for body, _ in MATCHED])
def test_a_program_means_what_python_says(body: str, expected: Any, tmp_path: pathlib.Path) -> None:
    check(body, expected, tmp_path, x=I)


REFUSED = [
    ("a = [1, 2, 3, 4]\na[::2] = [5]\nreturn x * a[0]", "static-error"),
    ("a = [1, 2]\na[0:1] = 5\nreturn x * a[0]", "unsupported-statement"),
    ("a = [1, 2]\ndel a[::0]\nreturn x * a[0]", "static-required"),
]


@pytest.mark.parametrize(("body", "code"), REFUSED, ids=[body for body, _ in REFUSED])
def test_what_python_refuses_is_refused(body: str, code: str, tmp_path: pathlib.Path) -> None:
    refused(body, tmp_path, code, x=I)
