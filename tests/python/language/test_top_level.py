"""A file is a Python program: its top level, run by the compiler, against the same file in CPython.

What a script reads must have the value that Python gives it, or the script is refused. Programs are
written by hand (`FILES`), and drawn at random: statements of every kind before, between and after
the scripts. SDX_TOP_LEVEL is how many are drawn (SDX_FULL: 2,000) from the seed that sampling.py
names.
"""

from __future__ import annotations

import builtins
import importlib.util
import json
import math
import os
import pathlib
import random
import resource
import signal
import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest
import sardonyx
from sardonyx import Model

from language import shared_compiler
from language.limits import little_memory
from places import PROGRAM
from sampling import SEEDS, count

if TYPE_CHECKING:
    from collections.abc import Callable

COUNT = count("SDX_TOP_LEVEL", 150, 2000)
X = np.array([1.0, 2.0], np.float32)

HEADER = """\
from sardonyx import FLOAT, opset21 as op, script
import numpy as np
import math
"""


def in_python(path: pathlib.Path) -> Any:
    """What the script `m` of the file gives in CPython; None where the file fails there."""
    name = f"top_level_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent))
    try:
        with little_memory():
            spec.loader.exec_module(module)
            return np.asarray(module.m(X))
    except Exception:
        return None
    finally:
        sys.path.remove(str(path.parent))


def in_compiler(path: pathlib.Path) -> tuple[Any, list[str]]:
    """What the model of `m` gives, and the findings."""
    answer, data = shared_compiler().compile_file(path, "m", "model")
    return (np.asarray(Model(data)(X)) if answer[0] == "ok" else None), answer


def agree(path: pathlib.Path) -> str:
    """ "equal" or "refused"; anything else is an error."""
    got, answer = in_compiler(path)
    assert answer[0] in ("ok", "error"), answer
    if got is None:
        assert len(answer) > 1, "refused without a reason"
        return "refused"
    expected = in_python(path)
    if expected is None:
        return "failed"
    np.testing.assert_allclose(got, expected, rtol=1e-6, err_msg=path.read_text())
    return "equal"


# --- By hand --------------------------------------------------------------------------------------

SCRIPT = """
@script()
def m(x: FLOAT[2]) -> FLOAT[2]:
    return x * {}
"""

# What stands before the script, what the script multiplies by, what stands after it, and whether
# the compiler must know it ("equal") or may refuse ("refused").
FILES: dict[str, tuple[str, str, str, str]] = {
    "augmented": ("K = 1\nK += 1\nK *= 5", "K", "", "equal"),
    "for": ("L = []\nfor i in range(3):\n    L.append(i)", "sum(L)", "", "equal"),
    "for else": ("for K in range(3):\n    pass\nelse:\n    K += 10", "K", "", "equal"),
    "while": ("K = 1\nwhile K < 50:\n    K *= 3", "K", "", "equal"),
    "layers": (
        "LAYERS = []\nfor i in range(3):\n    LAYERS.append(np.full((2,), i, np.float32))",
        "LAYERS[2]",
        "",
        "equal",
    ),
    "sort and pop": ("L = [3, 1, 2]\nL.sort()\nL.pop(0)", "L[0]", "", "equal"),
    "item of a dict": ('D = {"k": 1}\nD["k"] = 7', 'D["k"]', "", "equal"),
    "del of an item": ('D = {"a": 1, "b": 4}\ndel D["a"]', "sum(D.values())", "", "equal"),
    "del of a name": ("K = 3\ndel K\nK = 4", "K", "", "equal"),
    "item of an array": ("A = np.ones(2, np.float32)\nA[0] = 5", "A", "", "equal"),
    "array in place": ("A = np.ones(2, np.float32)\nA *= 5", "A", "", "equal"),
    "alias of an array": ("A = np.ones(2, np.float32)\nB = A\nB[0] = 5", "A", "", "equal"),
    "arithmetic of arrays": (
        ("A = np.array([7, -3], np.int64)\nB = A / 2 + A // 2 - A % 4 * 2.5 + A**2\n"
        "B = B + -A + (A > 1) + (A & 3) + (A << 2) + np.array([1, 2], np.uint8) + np.float32(0.1)"),
        "op.CastLike(B, x)",
        "",
        "equal",
    ),
    "promoted arrays": (
        "A = np.array([300, 5], np.int16) * np.array([200, 2], np.int8)",
        "(op.CastLike(A, x) + A.dtype.itemsize)",
        "",
        "refused",
    ),
    "wrapping arrays": (
        ("A = np.array([200, 100], np.uint8) * 2 - np.array([1], np.uint8)\nA = -A // 7\n"
        "B = np.array([-128, 5], np.int8) // np.int8(-1) % 3"),
        "(op.CastLike(A, x) + op.CastLike(B, x))",
        "",
        "equal",
    ),
    "functions of arrays": (
        ("A = np.linspace(0, 1, 2) + np.arange(0.5, 2.5, 1.0)\n"
        "A = A + np.linspace(3, 1, 2, endpoint=False)\n"
        "B = np.sqrt(np.array([4, 9])) + np.ones_like(A) + np.full_like(A, 2.5) + np.eye(2)[1]\n"
        "C = (A + B).astype(np.float32).reshape(2, 1).T[0].copy()\nC[-1:] = C.max()\n"
        "K = C.tolist()[0] + A.item() if A.size == 1 else 2.0"),
        "(C + K + np.array(B, np.float32))",
        "",
        "equal",
    ),
    "items of arrays": (
        ("A = np.arange(6).reshape(2, 3).copy()\nA[1] = 7\nA[0, ::2] = [4, 5][0]\nA[..., 1] -= 3\n"
        "K = int(A[0, 1]) + A[1][2].item() * 10"),
        "K",
        "",
        "refused",
    ),
    "rows of arrays": (
        ("A = np.zeros((2, 3), np.int64)\nA[1] = 7\nA[0, ::2] = 4\n"
        "A[:, 1] = np.array([8, 9])\nK = A.sum()"),
        "(op.CastLike(A[0, :2] + A[1, 1:] * 10 + K, x))",
        "",
        "equal",
    ),
    "view of an array": (
        "A = np.zeros(3, np.float32)\nB = A[1:]\nB[0] = 7\nC = A.reshape(1, 3)\nC += 1",
        "A[1:]",
        "",
        "refused",
    ),
    "cast in place": ("A = np.ones(2, np.int64)\nA *= 2.5", "op.CastLike(A, x)", "", "refused"),
    "array in a list in place": (
        "L = [np.ones(2, np.float32)]\nA = L[0]\nL[0] += 4",
        "A",
        "",
        "equal",
    ),
    "scalar in place": ("A = np.float32(2)\nB = A\nB += 4", "(A + B)", "", "refused"),
    "array of rank 0 in place": ("A = np.array(2.0)\nB = A\nB += 4", "float(A)", "", "refused"),
    "function of arrays": (
        ("W = np.array([7, 3], np.int64)\ndef f(a, n):\n    for i in range(n):\n"
        "        a = a / 2 + 1\n    return a"),
        "op.CastLike(f(W, 3), x)",
        "",
        "equal",
    ),
    "function that changes its array": (
        ("def f(n):\n    a = np.zeros(2, np.float32)\n    b = a\n    for i in range(n):\n"
        "        b[i] = i + 1\n    a *= 3\n    return b"),
        "f(2)",
        "",
        "equal",
    ),
    "alias of a list": ("A = [1, 2]\nB = A\nB[0] = 5", "A[0]", "", "equal"),
    "list in place": ("A = [1, 2]\nB = A\nB += [5]\nB *= 2", "len(A)", "", "equal"),
    "set in place": ("A = {1, 2}\nB = A\nB |= {5}", "len(A)", "", "equal"),
    "effect": ("L = []\ndef f(v):\n    L.append(v)\nf(2)\nf(3)", "sum(L)", "", "equal"),
    "global": ("N = 0\ndef f():\n    global N\n    N += 1\nf()\nf()", "N", "", "equal"),
    "nonlocal": (
        "def f():\n  n = 1\n  def g():\n    nonlocal n\n    n += 4\n  g()\n  return n\nK = f()",
        "K",
        "",
        "equal",
    ),
    "walrus": ("if (K := 6) > 3:\n    K += 1", "K", "", "equal"),
    "environment": (
        'import os\nK = 2\nif not os.environ.get("SDX_NO_SUCH"):\n    K = 3',
        "K",
        "",
        "refused",
    ),
    "type checking": (
        "from typing import TYPE_CHECKING\nK = 2\nif TYPE_CHECKING:\n    K = 3",
        "K",
        "",
        "equal",
    ),
    "after the script": ("K = 1\nL = [1]", "(K + L[0])", "K = 5\nL[0] = 7", "equal"),
    "match": ("K = 2\nmatch K:\n    case 2:\n        K = 9", "K", "", "equal"),
    "match of items": (
        ("match (2, [1, 2, 3]):\n    case (0, _):\n        K = 1\n    case (a, [b, *c]) if b:\n"
        "        import math as m2\n        K = a + b + m2.floor(sum(c))"),
        "K",
        "",
        "equal",
    ),
    "match of a mapping": (
        ('match {"a": 1, "b": (5, 6)}:\n    case {"a": 1, "b": [_, K], **rest}:\n'
        "        K += len(rest)"),
        "K",
        "",
        "equal",
    ),
    "match of instances": (
        ("from dataclasses import dataclass\nfrom enum import Enum\nclass E(Enum):\n    A = 1\n"
        "    B = 2\n@dataclass\nclass P:\n    x: int\n    y: E\nmatch P(3, E.B):\n"
        "    case P(y=E.A):\n        K = 1\n    case P(3, q) if q is E.A:\n        K = 2\n"
        "    case P(x=n, y=E.B):\n        K = n * 7"),
        "K",
        "",
        "equal",
    ),
    "match without a case": ("K = 4\nmatch [1]:\n    case {}:\n        K = 5", "K", "", "equal"),
    "match of what is not known": (
        "import os\nK = 4\nmatch os.getpid():\n    case 0:\n        K = 5",
        "K",
        "",
        "refused",
    ),
    "match of an array": (
        "A = np.ones(1)\nmatch A:\n    case 1.0:\n        K = 5\n    case _:\n        K = 6",
        "K",
        "",
        "refused",
    ),
    "slices of lists": (
        "L = [1, 2, 3, 4, 5]\nM = L\nL[1:3] = [7, 8, 9]\ndel L[::2]\nL[-1:] += [10, 11]",
        "(sum(M) * 10 + len(M))",
        "",
        "equal",
    ),
    "random": ("import random\nK = random.random()", "K", "", "refused"),
    "seeded": ("np.random.seed(0)\nW = np.random.rand(2).astype(np.float32)", "W", "", "refused"),
    "unknown effect": (
        "import os\nL = [1.0]\ndef f(v):\n    v.append(os.getpid() * 0 + 2.0)\nf(L)",
        "L[-1]",
        "",
        "refused",
    ),
    "unknown alias": (
        "import copy\nL = [1.0]\nM = [L]\nN = copy.copy(M)\nN[0].append(4.0)",
        "L[-1]",
        "",
        "refused",
    ),
    "main guard": ('K = 1\nif __name__ == "__main__":\n    K = 2', "K", "", "equal"),
    "try": (
        "try:\n    import no_such_module\n    K = 1\nexcept ImportError:\n    K = 2",
        "K",
        "",
        "refused",
    ),
    "with": (
        "import contextlib\nK = 1\nwith contextlib.nullcontext(5) as K:\n    K += 1",
        "K",
        "",
        "equal",
    ),
    "class": ("class C:\n    K = 3\n    L = [K, 2]\nC.L.append(5)", "sum(C.L)", "", "equal"),
    "attribute of a class": ("class C:\n    K = 3\nc = C()\nC.K = 5", "(C.K + c.K)", "", "equal"),
    "attribute of an instance": (
        "class C:\n    K = 3\nc = C()\nd = c\nc.K = 5",
        "(C.K + d.K)",
        "",
        "equal",
    ),
    "changed attribute": (
        "import os\nclass C:\n    K = 3\nC.K += os.getpid() * 0",
        "C.K",
        "",
        "refused",
    ),
    "instance given away": (
        "import copy\nclass C:\n    L = [3]\nc = C()\ncopy.copy(c).L.append(4)",
        "sum(c.L)",
        "",
        "refused",
    ),
    "class that changes a dict": (
        'D = {"a": 1}\nclass C:\n    D |= {"b": 4}',
        "sum(D.values())",
        "",
        "refused",
    ),
    "class that shadows": ("K = 2\nclass C:\n    K += 4", "K", "", "equal"),
    "iterator": (
        "def f():\n    g = (v for v in [1, 2])\n    return sum(g) + sum(g)\nK = f()",
        "K",
        "",
        "refused",
    ),
    "identity": ("A = [1]\nB = [1]\nK = 2 if A is B else 3", "K", "", "equal"),
    "array as it is": (
        "A = np.ones(2, np.float32)\nB = np.asarray(A)\nB[0] = 7",
        "A",
        "",
        "equal",
    ),
    "dataclass": (
        ("from dataclasses import dataclass\n@dataclass(frozen=True)\nclass C:\n    a: int\n"
        "    b: int = 4\nc = C(2)\nd = C(1, b=7)"),
        "(c.a + c.b + d.a + d.b)",
        "",
        "equal",
    ),
    "functions that keep their results": (
        ("import functools\nfrom functools import lru_cache\nL = []\n"
        "@functools.cache\ndef f(n, k=1):\n    L.append(n)\n    return [n + k]\n"
        "@lru_cache(maxsize=None)\ndef fib(n):\n"
        "    return n if n < 2 else fib(n - 1) + fib(n - 2)\n"
        "@lru_cache\ndef g(n):\n    return n * 2\n"
        "f(1).append(5)\nK = f(1) + f(2) + f(1.0) + f(1, k=3) + [fib(30), g(3)]"),
        "(sum(K) * 10 + len(L))",
        "",
        "equal",
    ),
    "attributes by their names": (
        ("class C:\n    def __init__(self, **more):\n        for k, v in more.items():\n"
        "            setattr(self, k, v)\nc = C(a=2, b=5)\nd = c\nsetattr(d, 'a', 7)"),
        "(c.a * 10 + c.b)",
        "",
        "equal",
    ),
    "ordered dicts": (
        ("from collections import OrderedDict\nimport collections\n"
        "d = OrderedDict([('a', 1), ('b', 2)])\ne = OrderedDict(b=2, a=1)\nd['c'] = 4\n"
        "K = 10 * (e == {'a': 1, 'b': 2}) + 100 * (e == collections.OrderedDict(a=1, b=2))\n"
        "K += 1000 * isinstance(d, dict) + 10000 * isinstance(d.copy(), OrderedDict)\n"
        "K += 100000 * isinstance({}, OrderedDict) + 1000000 * ((d | {}) == e)"),
        "(sum(d.values()) + K)",
        "",
        "equal",
    ),
    "text of an ordered dict": (
        "from collections import OrderedDict\nK = len(str(OrderedDict(a=1)))",
        "K",
        "",
        "refused",
    ),
    "last item of an ordered dict": (
        "from collections import OrderedDict\nd = OrderedDict(a=1, b=2)\nd.popitem(last=False)",
        "sum(d.values())",
        "",
        "equal",
    ),
    "named tuples": (
        ("from collections import namedtuple\nfrom typing import NamedTuple\n"
        "P = namedtuple('P', 'x, y', defaults=(4,))\nclass N(NamedTuple):\n    a: int\n"
        "    b: list = [1]\n    def f(self): return self.a + len(self.b)\n"
        "class M(N):\n    k = 3\n    @property\n    def g(self): return self.f() * self.k\n"
        "N(1).b.append(2)\np = P(1)._replace(y=3)\nq = M(2)\n"
        "K = sum(p) + q.f() * 10 + q.g + len(repr(q)) + len(P._fields) + P._field_defaults['y']"),
        "K",
        "",
        "equal",
    ),
    "one named tuple or another": (
        ("from collections import namedtuple\nP = namedtuple('P', 'x')\n"
        "p = P(1)\nK = 2 * (P(1) is P(1)) + 4 * (p is p) + 8 * (p is (1,)) + 16 * (p is None)"),
        "K",
        "",
        "equal",
    ),
    "named tuples with methods of Python": (
        ("from typing import NamedTuple\nclass N(NamedTuple):\n    a: int\n"
        "    def __len__(self): return 5\nK = len(N(1))"),
        "K",
        "",
        "refused",
    ),
    "class with bases that only say": (
        ("from abc import ABC, abstractmethod\nfrom typing import Generic, Protocol, TypeVar\n"
        "T = TypeVar('T')\nclass Base(ABC):\n    __slots__ = ('k',)\n    @abstractmethod\n"
        "    def f(self): ...\n    def g(self): return self.f() + 1\nclass C(Base):\n"
        "    def __init__(self, k): self.k = k\n    def f(self): return self.k * 2\n"
        "    def __repr__(self): return 'C'\nclass Box(Generic[T]):\n"
        "    def __init__(self, v: T): self.v = v\nclass P(Protocol):\n    k: int\n"
        "class Q(P):\n    k = 5\nc, b = C(3), Box(4)"),
        "c.g() + b.v + Q.k + isinstance(c, Base)", "", "equal",
    ),
    "class whose text is its own": (
        "class C:\n    def __repr__(self): return 'abc'\nc = C()",
        "len(repr(c))", "", "refused",
    ),
    "unpacked iterators": (
        "a, b = (k * 2 for k in (3, 4))\n[c, *d] = map(abs, [-1, -2])", "a + b + c + d[0]", "",
        "equal",
    ),
    "dataclass by value": (
        ("from dataclasses import dataclass\n@dataclass\nclass C:\n    a: int\n"
        "K = 3 if C(1) == C(1) else 4"),
        "K",
        "",
        "equal",
    ),
    "dataclasses in lists and as keys": (
        ("from dataclasses import dataclass\n@dataclass\nclass C:\n    a: int\n"
        "@dataclass(frozen=True)\nclass D:\n    a: int\n"
        "@dataclass(eq=False, frozen=False)\nclass E:\n    a: int\n"
        "L = [C(1), C(2)]\nL[0].a = 5\nK = (C(2) in L) + 10 * L.index(C(2)) + 100 * L.count(C(1))\n"
        "K += 1000 * {D(1): 5}.get(D(1), 7) + 10000 * len({D(1), D(1), D(2)})\n"
        "K += 100000 * ([C(5)] == L[:1]) + 1000000 * (E(1) in [E(1)]) + (L[0] is L[1])"),
        "K",
        "",
        "equal",
    ),
    "unhashable dataclass": (
        ("from dataclasses import dataclass\n@dataclass\nclass C:\n    a: int\nK = 2\n"
        "D = {C(1): 3}"),
        "len(D)",
        "",
        "refused",
    ),
    "dataclass with an unknown field": (
        ("import os\nfrom dataclasses import dataclass\n@dataclass\nclass C:\n    a: int\n"
        "c = C(1)\nc.a += os.getpid() * 0\nK = 3 if C(1) == c else 4"),
        "K",
        "",
        "refused",
    ),
    "members of equal values": (
        ("from enum import Enum\nclass E(Enum):\n    A = 1\n    B = 1\n    C = 2\n    D = 2.0\n"
        "K = 7 if E.A is E.B and E.C == E.D and E.D in {E.C} else 9\n"
        "K += 10 * (E.B.name == 'A') + 100 * {E.A: 3}[E.B]"),
        "K",
        "",
        "equal",
    ),
    "method": (
        "class C:\n    n = 1\n    def f(self):\n        self.n += 1\nc = C()\nc.f()",
        "c.n",
        "",
        "equal",
    ),
    "enumeration": (
        ("from enum import Enum, IntEnum\nclass E(Enum):\n    A = 2\n    B = 5\n"
        "class I(IntEnum):\n    A = 3\nMODE = E.B"),
        "(MODE.value + I.A if MODE is E.B and E.A != E.B else 1)",
        "",
        "equal",
    ),
    "bases": (
        ("class B:\n    k = 2\n    def f(self):\n        return self.k\n    @classmethod\n"
        "    def g(cls):\n        return cls.k * 10\nclass C(B):\n    k = 5\n"
        "class D(C):\n    pass\n"
        "K = D().f() + D.g() + B.g() + C().g()\nmatch D():\n    case B():\n        K += 1000"),
        "K",
        "",
        "equal",
    ),
    "super": (
        ("class B:\n    def __init__(self):\n        self.k = 3\nclass C(B):\n"
        "    def __init__(self):\n        super().__init__()\nK = C().k"),
        "K",
        "",
        "refused",
    ),
    "special methods": (
        ("class C:\n    def __init__(self, n):\n        self.a = list(range(n))\n"
        "    def __len__(self):\n        return len(self.a)\n    def __getitem__(self, i):\n"
        "        return self.a[i] * 2\nK = len(C(4)) + C(5)[3]"),
        "K",
        "",
        "equal",
    ),
    "truth by length": (
        ("class C:\n    def __len__(self):\n        return 0\nK = 2 if C() else 3"),
        "K",
        "",
        "refused",
    ),
    "equality by a method": (
        ("class C:\n    def __eq__(self, other):\n        return True\nK = 2 if C() == C() else 3"),
        "K",
        "",
        "refused",
    ),
    "methods of members": (
        ("from enum import Enum\nclass E(Enum):\n    A = 1\n    B = 2\n    def f(self, n):\n"
        "        return self.value * n\n    @property\n    def g(self):\n"
        "        return self.value + 5\n    @classmethod\n    def h(cls):\n        return cls.B\n"
        "K = E.B.f(3) + 100 * E.A.g + 10 * (E.h() is E.B)"),
        "K",
        "",
        "equal",
    ),
    "cached property": (
        ("import functools\nclass C:\n    n = 3\n    @functools.cached_property\n"
        "    def k(self):\n        return self.n * 2\nc = C()\nK = c.k\nc.n = 7\nK += 100 * c.k"),
        "(K + C().k)",
        "",
        "equal",
    ),
    "fields with defaults": (
        ("from dataclasses import dataclass, field\n@dataclass\nclass C:\n"
        "    a: list = field(default_factory=list)\n    b: int = field(default=4, repr=False)\n"
        "    c: list = field(default_factory=lambda: [1, 2])\nc = C()\nc.a.append(5)\n"
        "K = C().b + len(C().a) + 10 * len(c.a) + 100 * len(C([1]).c)"),
        "K",
        "",
        "equal",
    ),
    "field outside of a dataclass": (
        "from dataclasses import field\nclass C:\n    a: int = field(default=4)\nK = 2",
        "K + (C.a if isinstance(C.a, int) else 3)",
        "",
        "refused",
    ),
    "characters": (
        'import math\nK = ord(min("cab", key=ord)) + len(chr(65)) + math.trunc(-2.7)',
        "K",
        "",
        "equal",
    ),
    "import in try": (
        ("try:\n    import numpy as np2\n    K = 1\nexcept ImportError:\n    K = 2\n"
        "else:\n    K += 3\nfinally:\n    K *= 2"),
        "K",
        "",
        "equal",
    ),
    "error in try": (
        'D = {}\ntry:\n    K = 1\n    D["a"]\n    K = 2\nexcept KeyError:\n    K += 5',
        "K",
        "",
        "equal",
    ),
    "error in a loop in try": (
        ("K = 1\nL = []\ntry:\n    for i in range(3):\n        K = i\n"
        "        L.append(10 // (1 - i))\nexcept ZeroDivisionError:\n"
        "    K = K * 10 + sum(L) + i * 1000\nelse:\n    K = 5"),
        "K",
        "",
        "equal",
    ),
    "exceptions of functions": (
        ("def f(v, seen=[]):\n    seen.append(v)\n    if v > 2:\n        raise ValueError(v)\n"
        "    return len(seen)\nK = 0\nfor v in [1, 3, 2]:\n    try:\n        K += f(v)\n"
        "    except (KeyError, ValueError) as e:\n        K += 100\n    finally:\n"
        "        K += 1000"),
        "K",
        "",
        "equal",
    ),
    "exceptions again": (
        ("try:\n    try:\n        assert 1 == 2\n    except AssertionError:\n        raise\n"
        "    finally:\n        Z = 7\nexcept Exception:\n    K = Z\ntry:\n    try:\n"
        "        [].pop()\n    except LookupError as e:\n        raise RuntimeError from e\n"
        "except RuntimeError:\n    K += 10\ntry:\n    while True:\n        K += 1\n"
        "        if K > 20: raise StopIteration\nexcept StopIteration:\n    K *= 2"),
        "K",
        "",
        "equal",
    ),
    "an import before the error": (
        ("try:\n    import no_such\n    K = {}['a']\nexcept KeyError:\n    K = 4\n"
        "except ImportError:\n    K = 5"),
        "K",
        "",
        "refused",
    ),
    "with what suppresses": (
        ("from contextlib import suppress, nullcontext\nK = 1\n"
        "with (nullcontext() as z, suppress(KeyError, ValueError)):\n    K = 2\n"
        "    import math as m2\n"
        "    {}['a']\n    K = 3"),
        "(K if z is None else 5)",
        "",
        "equal",
    ),
    "with a file": ("K = 1\nwith open('/dev/null') as f:\n    K = 2", "K", "", "refused"),
    "methods": (
        ("class C:\n    n = 1\n    def __init__(self, k=2):\n        self.k = k\n"
        "        self.L = []\n    def f(self):\n        self.n += 1\n        self.L += [self.n]\n"
        "        return self\n    def __call__(self, v): return v * self.k\n    @property\n"
        "    def p(self): return self.k + 1\n    @classmethod\n"
        "    def make(cls, a): return cls(a * 2)\n"
        "    @staticmethod\n    def s(v): return 2 * v\nc = C()\nd = c\nd.f().f()\n"
        "e = C.make(4)\nK = c.n + sum(c.L) * 10 + C.n * 100 + e.p * 1000 + e(3) * 10000\n"
        "K += e.s(3) + C.s(4) + C.f(e).n"),
        "K",
        "",
        "equal",
    ),
    "functions that instances hold": (
        ("from dataclasses import dataclass\ndef g(v): return v + 1\n@dataclass\nclass C:\n"
        "    w: int\n    f: object = g\nclass D:\n    h = g\n    k = len\n"
        "class E:\n    pass\ne = E()\ne.f = g\nK = C(3).f(4) + e.f(1) + D.h(5) + D().k([1, 2])"),
        "K",
        "",
        "equal",
    ),
    "methods of a dataclass": (
        ("from dataclasses import dataclass\n@dataclass\nclass C:\n    w: int\n    h: int = 2\n"
        "    def area(self): return self.w * self.h\n    def __post_init__(self): self.w += 1\n"
        "K = C(3).area()"),
        "K",
        "",
        "equal",
    ),
    "a property is assigned to": (
        ("class C:\n    @property\n    def p(self): return 1\nc = C()\nK = 2\ntry:\n    c.q\n"
        "except AttributeError:\n    K = c.p"),
        "K",
        "",
        "equal",
    ),
    "a method that is not known": (
        ("class C:\n    n = 1\n    def f(self):\n        import os\n"
        "        self.n = os.getpid() * 0\n"
        "c = C()\nc.n = 3\nc.f()"),
        "c.n",
        "",
        "refused",
    ),
    "itertools": (
        ("import itertools as it\nfrom functools import reduce\nK = 0\n"
        "for i, (a, b) in enumerate(it.permutations([1, 2, 3], 2)):\n    K += i * (a * 10 + b)\n"
        "for i, (a, b) in enumerate(it.combinations([1, 2, 3, 4], 2)):\n    K += i * (a * 10 + b)\n"
        "K += len(list(it.product([0, 1], repeat=3))) + sum(it.islice(range(100), 2, 20, 5))\n"
        "K += sum(a * b for a, b in it.pairwise([1, 2, 3])) + sum(it.starmap(pow, [(2, 3)]))\n"
        "K += sum(it.chain.from_iterable([[1], (2,)])) + reduce(lambda a, b: a * 10 + b, [1, 2])\n"
        "K += list(it.accumulate([1, 2, 3], lambda a, b: a * b, initial=2))[-1]\n"
        "K += len(list(it.combinations([1], 2))) + len(list(it.permutations([], 0)))"),
        "K",
        "",
        "equal",
    ),
    "automatic members": (
        ("import enum\nfrom enum import Enum, IntEnum, auto\nclass E(Enum):\n    A = 3\n"
        "    B = auto()\n    C = enum.auto()\nclass I(enum.IntEnum):\n    A = auto()\n"
        "    B = auto()\nclass S(enum.StrEnum):\n    AB = auto()\n    C = 'x'\n"
        "K = E.B.value + E.C.value * 10 + I.B * 100 + (S.AB == 'ab') * 1000 + len(S.C)"),
        "K",
        "",
        "equal",
    ),
    "automatic members after others": (
        "from enum import Enum, auto\nclass E(Enum):\n    A = 5\n    B = 2\n    C = auto()",
        "E.C.value",
        "",
        "refused",
    ),
    "tensors of onnx": (
        ("import onnx\nfrom onnx import helper, numpy_helper, TensorProto\n"
        "A = np.array([1, 2], np.float32)\nT = numpy_helper.from_array(A, 'a')\nA[0] = 7\n"
        "B = onnx.numpy_helper.to_array(T)\n"
        "C = numpy_helper.to_array(helper.make_tensor('t', TensorProto.FLOAT, [2], [3.0, 4.0]))"),
        "(A + B * 10 + C * 100)",
        "",
        "equal",
    ),
    "tensors of raw bytes": (
        ("from onnx import helper, numpy_helper, TensorProto\n"
        "RAW = b'\\x00\\x00\\x80?\\x00\\x00\\x00@'\n"
        "T = helper.make_tensor('t', TensorProto.FLOAT, [2], RAW, raw=True)\n"
        "C = numpy_helper.to_array(T)"),
        "C",
        "",
        "equal",
    ),
    "tensors of too few raw bytes": (
        ("from onnx import helper, numpy_helper, TensorProto\n"
        "C = helper.make_tensor('t', TensorProto.FLOAT, [2], b'1234', raw=True)"),
        "C",
        "",
        "refused",
    ),
    "an iterator of itertools twice": (
        "import itertools as it\np = it.product([1], [2])\nK = len(list(p)) + len(list(p)) + 1",
        "K",
        "",
        "refused",
    ),
    "decorator": (
        "def twice(f):\n    return lambda: f() * 2\n@twice\ndef f():\n    return 3\nK = f()",
        "K",
        "",
        "refused",
    ),
    "exec": ('K = 1\nexec("K = 5")', "K", "", "refused"),
    "globals": ('K = 1\nglobals()["K"] = 5', "K", "", "refused"),
    "mutable default": (
        "def f(v, acc=[]):\n    acc.append(v)\n    return len(acc)\nf(1)\nK = f(2)",
        "K",
        "",
        "equal",
    ),
    "chained": ("A = B = [1]\nB.append(4)", "A[1]", "", "equal"),
    "unpacking": (
        "A, *B = [1, 2, 3]\n(C, D), E = (4, 5), 6",
        "(A + sum(B) + C + D + E)",
        "",
        "equal",
    ),
    "partial": (
        "from functools import partial\ndef f(a, b):\n  return a * b\ng = partial(f, 3)\nK = g(4)",
        "K",
        "",
        "equal",
    ),
    "lambdas": ("F = [lambda v, i=i: v + i for i in range(3)]\nK = F[2](1)", "K", "", "equal"),
    "late binding": ("N = 1\ndef f():\n    return N\nA = f()\nN = 5", "(A + f())", "", "equal"),
    "redefined function": (
        "def f():\n    return 2\nA = f()\ndef f():\n    return 3",
        "(A + f())",
        "",
        "equal",
    ),
    "shadowed builtin": ("def len(v):\n    return 40", "len([1])", "", "equal"),
    "deleted shadow": ("len = lambda v: 40\ndel len", "len([1])", "", "equal"),
    "defaults are of their time": (
        "K = 3\ndef f(v=K):\n    return v\nK = 4",
        "f()",
        "K = 5",
        "equal",
    ),
    "model of a script": ("K = 2", "K", "m_model = m.to_model_proto()\nK = 3", "equal"),
    "failed assertion": ("K = 1\nassert K == 2", "K", "", "refused"),
    "raise": ("K = 1\nif K:\n    raise ValueError", "K", "", "refused"),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_file(name: str, tmp_path: pathlib.Path) -> None:
    before, value, after, verdict = FILES[name]
    path = tmp_path / "file.py"
    path.write_text(HEADER + before + "\n" + SCRIPT.format(value) + after + "\n")
    found = agree(path)
    assert found == verdict or (verdict == "refused" and found == "equal"), in_compiler(path)[1]


# Whole files after the header, where the question is which script `m` is in the end.
OTHER = "@script()\ndef g(x: FLOAT[2]):\n    return x * 3\n"
OWN = "@script()\ndef m(x: FLOAT[2]):\n    return x * {}\n"
WHOLE: dict[str, tuple[str, str]] = {
    "bound to another": (OWN.format(2) + OTHER + "m = g\n", "equal"),
    "another name for one": (OTHER + "m = g\n" + OTHER.replace("3", "5"), "equal"),
    "deleted under its own name": (OTHER + "m = g\ndel g\n", "equal"),
    "a decorator that gives another": (
        OTHER + "def swap(f):\n    return g\n@swap\n" + OWN.format(2),
        "equal",
    ),
    "in a try that Python leaves": (
        "try:\n    import no_such\n"
        + textwrap.indent(OWN.format(2), "    ")
        + "except ImportError:\n"
        + textwrap.indent(OWN.format(3), "    "),
        "refused",
    ),
    "defined again in an `if`": (
        "import os\n"
        + OWN.format(2)
        + "if os.environ.get('PATH'):\n"
        + textwrap.indent(OWN.format(3), "    "),
        "refused",
    ),
    "defined in a loop": (
        "for i in range(3):\n" + textwrap.indent(OWN.format("i"), "    "),
        "refused",
    ),
    "what a decorator that nobody knows makes of it": (
        "import functools\n@functools.singledispatch\n" + OWN.format(2),
        "refused",
    ),
    "special members": (
        "class A:\n    k = 2\nclass B:\n    k = 3\na = A()\na.__class__ = B\n" + OWN.format("a.k"),
        "refused",
    ),
    "defaults": (
        "def f(v=2):\n    return v\nf.__defaults__ = (3,)\n" + OWN.format("f()"),
        "refused",
    ),
    "members of libraries": ("math.e = 3\n" + OWN.format("math.e"), "refused"),
    "members of builtins": (
        "import builtins\nbuiltins.zip2 = 3\n" + OWN.format("len([1])"),
        "refused",
    ),
    "private names": (
        "_A__n = 10\n__n = 20\nclass A:\n    def f(self):\n        return __n\n"
        + OWN.format("A().f()"),
        "refused",
    ),
    "NaN by identity": (
        "n = float('nan')\n" + OWN.format("(2 if n in [n] else 3)"),
        "refused",
    ),
    "lists with NaN": ("n = float('nan')\n" + OWN.format("(2 if [n] == [n] else 3)"), "refused"),
    "a number and NaN": (
        "n = float('nan')\n" + OWN.format("(2 if n == n or 1 in [n] else 3)"),
        "equal",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WHOLE)
def test_whole_file(name: str, tmp_path: pathlib.Path) -> None:
    text, verdict = WHOLE[name]
    path = tmp_path / "file.py"
    path.write_text(HEADER + text)
    try:
        assert agree(path) == verdict, in_compiler(path)[1]
    finally:
        math.e = 2.718281828459045  # type: ignore[misc]  # as it was


def test_scripts_that_are_not_known_by_name(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "file.py"
    path.write_text(HEADER + WHOLE["in a try that Python leaves"][0])
    for target in (path, f"{path}:m"):
        done = subprocess.run(
            [PROGRAM, "build", target, "-o", tmp_path / "m.onnx"], capture_output=True, text=True
        )
        assert done.returncode == 1 and "by `try` in line 4" in done.stderr, done
        assert f"sardonyx build --python {path}" in done.stderr and "literal" not in done.stderr
    path.write_text(HEADER + WHOLE["defined in a loop"][0])
    done = subprocess.run([PROGRAM, "build", path, "-o", "-"], capture_output=True, text=True)
    assert done.returncode != 0 and f"sardonyx build --python {path}" in done.stderr, done


def test_an_item_of_the_file_s_dict_is_assigned_to(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "file.py"
    body = "    D['k'] = 4\n    return x * D['k']\n"
    path.write_text(HEADER + "D = {'k': 1}\n@script()\ndef m(x: FLOAT[2]):\n" + body)
    _, answer = in_compiler(path)
    assert answer[0] == "error" and answer[1].startswith("unsupported-statement:7"), answer


def test_the_reason(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "file.py"
    path.write_text(HEADER + "K = 1\nfor i in range(3):\n    K += hash(i)\n" + SCRIPT.format("K"))
    _, answer = in_compiler(path)
    assert answer[0] == "error" and answer[1].startswith("unknown-value"), answer


def test_the_model_takes_the_place_of_the_script(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "file.py"
    path.write_text(HEADER + "K = 2\n" + SCRIPT.format("K") + "m = m.to_model_proto()\n")
    got, answer = in_compiler(path)
    assert got is not None, answer
    np.testing.assert_array_equal(got, X * 2)


def test_python_objects_are_compared_by_python(tmp_path: pathlib.Path) -> None:
    """What only Python knows: its `==`, `is` and hash, when Python compiles."""
    path = tmp_path / "file.py"
    path.write_text(
        HEADER
        + "from enum import Enum\nfrom dataclasses import dataclass\n"
        + "from fractions import Fraction\n"
        + "@dataclass(frozen=True)\nclass C:\n    a: int\n"
        + "class E(Enum):\n    A = 1\n    B = 1\n    C = 2\n"
        + "L = [C(1), C(2)]\nc = C(2)\nD = {C(2): 5}\nMODE = E.B\nF = Fraction(1, 2)\n"
        + SCRIPT.format(
            "(L.index(c) + 10 * (c in L) + 100 * (c == L[1]) + 1000 * D.get(c, 7)"
            " + 10000 * (MODE is E.A) + 100000 * (E.A in [E.C]) + 200000 * (c is L[1])"
            " + 1000000 * (F == 0.5))"
        )
    )
    assert agree(path) in ("equal", "refused")
    spec = importlib.util.spec_from_file_location("compared", path)
    assert spec is not None and spec.loader is not None
    module = sys.modules["compared"] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        np.testing.assert_array_equal(
            np.asarray(Model(module.m.to_model_proto())(X)), np.asarray(module.m(X))
        )
    finally:
        del sys.modules["compared"]


def test_other_files(tmp_path: pathlib.Path) -> None:
    """Imports run when they stand there, and change what other files have."""
    (tmp_path / "top_cfg.py").write_text("N = 1\nL = [1]\ndef setup():\n    global N\n    N = 5\n")
    (tmp_path / "top_setup.py").write_text("import top_cfg\ntop_cfg.L.append(4)\ntop_cfg.setup()\n")
    path = tmp_path / "file.py"
    path.write_text(
        HEADER
        + "import top_cfg\nfrom top_cfg import N as OLD\nimport top_setup\n"
        + SCRIPT.format("(top_cfg.N + 10 * sum(top_cfg.L) + 100 * OLD)")
    )
    try:
        assert agree(path) == "equal"
        path.write_text(path.read_text() + "top_cfg.N = 7\n")
        assert agree(path) in ("equal", "refused")
    finally:
        for name in ("top_cfg", "top_setup"):
            sys.modules.pop(name, None)


ENDLESS = {
    "a loop without an end": "K = 1\nwhile True:\n    K = -K",
    "a loop of too many rounds": "K = 0\nfor i in range(10**8):\n    K += 1",
    "a function without an end": "def f(n):\n    return f(n + 1)\nK = f(1)",
    "too many calls": "def f(n):\n    return 1 if n < 2 else f(n - 1) + f(n - 2)\nK = f(60)",
    "many loops": "for i in range(10**8):\n    K = i\n" * 9,
}


@pytest.mark.parametrize("name", ENDLESS)
def test_statements_past_the_limits(name: str, tmp_path: pathlib.Path) -> None:
    """What they compute is not known; the scripts behind them are known all the same."""
    path = tmp_path / "file.py"
    path.write_text(HEADER + ENDLESS[name] + "\nJ = 3\n" + SCRIPT.format("J"))
    got, answer = in_compiler(path)
    assert got is not None, answer
    np.testing.assert_array_equal(got, X * 3)
    path.write_text(HEADER + ENDLESS[name] + "\n" + SCRIPT.format("K"))
    got, answer = in_compiler(path)
    assert got is None and answer[0] == "error" and len(answer) > 1, answer


ENDS = {
    "division": "K = 1 // 0",
    "index": "L = [1]\nfor i in range(3):\n    L[i] += 1",
    "key": "D = {}\nif True:\n    K = D['a']",
    "raise": "raise ValueError('no')",
    "raise in a function": "def f():\n    raise ValueError('no')\nf()",
    "raise in a handler": "try:\n    K = [][1]\nexcept IndexError:\n    K = {}[1]",
    "not caught": "try:\n    K = [][1]\nexcept KeyError:\n    K = 1",
    "raise after a try": "try:\n    K = [][1]\nfinally:\n    K = 1",
    "assert": "K = 1\nassert K > 1",
    "unpacking": "a, b = [1, 2, 3]",
    "cast in place": "import numpy as np\nA = np.arange(3)\nA *= 0.5",
    "import": "import top_ends",
    "import from": "from top_ends import K",
    "import of all": "from top_ends import *",
}


@pytest.mark.parametrize("name", ENDS)
def test_files_that_python_ends(name: str, tmp_path: pathlib.Path) -> None:
    """A file that cannot be imported has no scripts, wherever they stand in it."""
    (tmp_path / "top_ends.py").write_text("K = 1\nL = [][2]\n")
    path = tmp_path / "file.py"
    script = HEADER + SCRIPT.format("2")
    for text in (
        script + ENDS[name],
        ENDS[name] + "\n" + script,
        HEADER + ENDS[name] + "\n" + script,
    ):
        path.write_text(text)
        assert in_python(path) is None, "the test is wrong"
        got, answer = in_compiler(path)
        assert got is None and answer[1].startswith("unknown-value"), (text, answer)
        done = subprocess.run([PROGRAM, "check", path], capture_output=True, text=True)
        assert done.returncode == 1 and "Python ends the file in line" in done.stdout, done


# What may read and write the names of the file.
FRAMES = ("__builtins__", "__import__", "locals", "globals", "vars", "dir", "eval", "exec")


def test_names_of_python_are_defined(tmp_path: pathlib.Path) -> None:
    """Those that the compiler does not know are said to be Python's; `except NameError` works."""
    path = tmp_path / "file.py"
    for name in {*dir(builtins), "__file__", "__spec__", "exit"} - {
        "None",
        "True",
        "False",
        *FRAMES,
    }:
        path.write_text(HEADER + f"V = {name}\n" + SCRIPT.format("2"))
        got, answer = in_compiler(path)
        assert got is not None, (name, answer)
        path.write_text(HEADER + SCRIPT.format(name))
        done = subprocess.run([PROGRAM, "build", path, "-o", "-"], capture_output=True, text=True)
        assert "is not defined" not in done.stderr, done.stderr
    path.write_text(
        HEADER + "try:\n    K = unicode\nexcept NameError:\n    K = 3\n" + SCRIPT.format("K")
    )
    assert agree(path) == "equal"


def test_files_without_scripts_have_no_findings(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "file.py"
    path.write_text(
        "import no_such\nfrom no_such import thing, deco\n\n"
        "@deco\ndef f(a, b=thing.X, *, c: thing = no_such.y()):\n    return a\n\n"
        "@thing.other(f)\ndef g(a=f(1)):\n    return a\n"
    )
    done = subprocess.run([PROGRAM, "check", "-q", path], capture_output=True, text=True)
    assert done.returncode == 0 and not done.stdout and not done.stderr, done


# --- With Python ----------------------------------------------------------------------------------

LIVE = (
    HEADER
    + "import random\nW = np.linspace(0, 1, 2).astype(np.float32)\nK = random.choice([3])\n"
    + "def make(n):\n    @script()\n    def m(x: FLOAT[2]) -> FLOAT[2]:\n"
    + "        return x * K * n + W\n    return m\n"
    + "model = make(2).to_model_proto()\n"
)


SCHEMA = """\
domain = "my.domain"

[[operator]]
name = "Twice"
inputs = [{ name = "x", type = "FLOAT" }]
outputs = [{ name = "y", type = "FLOAT", like = "x" }]
"""


def with_python(
    *words: object, before: Callable[[], None] | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [PROGRAM, *words],
        preexec_fn=before,
        capture_output=True,
        text=True,
        env={**os.environ, "SARDONYX_PYTHON": sys.executable, **environment},
    )


def test_python_gives_the_values(tmp_path: pathlib.Path) -> None:
    path, target = tmp_path / "file.py", tmp_path / "m.onnx"
    path.write_text(LIVE)
    done = with_python("build", "--python", path, "-o", target)
    assert done.returncode == 0, done.stderr
    np.testing.assert_array_equal(np.asarray(Model(target.read_bytes())(X)), X * 6 + [0, 1])
    done = with_python("run", f"{path}:m", "--python", "x=[1, 2]")
    assert done.returncode == 0 and "6.0 13.0]" in done.stdout, done
    assert with_python("check", path, "--python").returncode == 0
    assert "graph m" in with_python("dump", "--python", path).stdout
    without = with_python("check", path)
    assert "unchecked-script" in without.stdout and "check --python" in without.stdout, without


def test_options_with_python(tmp_path: pathlib.Path) -> None:
    path, target = tmp_path / "file.py", tmp_path / "m.onnx"
    path.write_text(
        "import os\nfrom sardonyx import FLOAT, Opset, opset21 as op, script\nimport numpy as np\n"
        'my = Opset("my.domain", 1)\nW = np.arange(500, dtype=np.float32) + os.getpid() * 0\n'
        "@script(default_opset=op)\ndef m(x: FLOAT[500]):\n    return my.Twice(x) + W\n"
    )
    schemas = tmp_path / "my.toml"
    schemas.write_text(SCHEMA)
    done = with_python("check", "--python", "--json", path)
    assert done.returncode == 0, done
    build = ("build", "--python", "--schemas", schemas, path, "-o", target)
    done = with_python(*build, "--external-data", "1")
    assert done.returncode == 0, done
    model = onnx.load(target)
    assert model.graph.output[0].type.tensor_type.shape.dim[0].dim_value == 500
    (data,) = tmp_path.glob("m.onnx.*.data")
    assert data.stat().st_size == 2000
    for words in (("--function", "--external-data", "1"), ("--function", "--input", "x=FLOAT")):
        done = with_python(*build, *words)
        assert done.returncode == 2 and "a function" in done.stderr, done
    done = with_python("check", "--python", "--fix", path)
    assert done.returncode == 2 and "without `--python`" in done.stderr, done
    path.write_text(path.read_text().replace("my.Twice(x)", "x[500]"))
    done = with_python("check", "--python", "--json", path)
    assert done.returncode == 1 and json.loads(done.stdout)[0]["code"], done


def test_a_failed_build_with_python_leaves_the_old_model_whole(tmp_path: pathlib.Path) -> None:
    path, target = tmp_path / "file.py", tmp_path / "m.onnx"
    text = (
        HEADER + "LARGE = np.full(2048, {}, np.float32)\n"
        "SMALL = [np.full(150, i, np.float32) for i in range(40)]\n"
        "@script()\ndef m(x: FLOAT[2]):\n    y = op.ReduceSum(LARGE) + x\n"
        "    for small in SMALL[:{}]:\n        y = y + op.ReduceSum(small) * 0.0\n    return y\n"
    )
    build = ("build", "--python", path, "-o", target, "--external-data", "1000")
    path.write_text(text.format(1, 0))
    # Without the package onnx, and with a disk on which the data fit, and the model does not.
    (tmp_path / "onnx.py").write_text("raise ImportError\n")
    done = with_python(*build)
    assert done.returncode == 0, done
    before = {one: one.read_bytes() for one in tmp_path.glob("m.onnx*")}
    assert len(before) == 2

    def fill() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (12_000, 12_000))

    path.write_text(text.format(3, 40))
    done = with_python(*build, before=fill, PYTHONDONTWRITEBYTECODE="1")
    assert done.returncode == 1 and "cannot write" in done.stderr, done
    assert "Traceback" not in done.stderr
    assert {one: one.read_bytes() for one in tmp_path.glob("m.onnx*")} == before
    assert with_python(*build).returncode == 0
    assert len(list(tmp_path.glob("m.onnx*"))) == 2
    np.testing.assert_array_equal(np.asarray(sardonyx.load(str(target))(X)), 3 * 2048 + X)


def test_python_says_what_is_missing(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "file.py"
    path.write_text(LIVE + "raise ValueError('no')\n")
    target = tmp_path / "m.onnx"
    done = with_python("build", "--python", path, "-o", target)
    assert done.returncode == 1 and "ValueError: no" in done.stderr, done
    done = with_python("build", "--python", path, "-o", path)
    assert done.returncode == 2 and path.read_text().endswith("('no')\n"), done
    done = with_python("build", "--python", path, "-o", target, SARDONYX_PYTHON="/no/python")
    assert done.returncode == 2 and "SARDONYX_PYTHON" in done.stderr, done
    done = with_python("build", "--python", path, "-o", target, PYTHONPATH="", PYTHONNOUSERSITE="1",
                       SARDONYX_PYTHON=sys.base_prefix + "/bin/python3")  # fmt: skip
    assert done.returncode in (1, 2) and not target.exists(), done


# --- At random ------------------------------------------------------------------------------------


class Writer:
    """A program of statements that Python mostly takes."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        # Whether the file has what only Python can compute: most of those are refused.
        self.has_unknown = self.random.random() < 0.4
        self.ints: list[str] = []
        self.lists: list[str] = []
        self.dicts: list[str] = []
        self.functions: list[str] = []
        self.members: list[str] = []
        self.arrays: list[str] = []
        self.count = 0

    def fresh(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count}"

    def int(self) -> str:
        r = self.random
        choices = [str(r.randint(1, 5))]
        if self.ints:
            choices += [r.choice(self.ints)] * 3
        if self.members:
            choices += [r.choice(self.members)] * 2
        if self.lists:
            name = r.choice(self.lists)
            choices += [f"len({name})", f"sum({name})", f"max({name}, default=3)", f"{name}[0]"]
        if self.dicts:
            name = r.choice(self.dicts)
            choices += [f'{name}.get("a", 2)', f"len({name})", f"sum({name}.values())"]
        if self.arrays:
            name = r.choice(self.arrays)
            choices += [f"int({name}[{r.randint(-1, 1)}])", f"{name}.tolist()[0]", f"len({name})"]
        if self.functions:
            choices.append(f"{r.choice(self.functions)}({r.randint(1, 4)})")
        return r.choice(choices)

    def array(self) -> str:
        """An array of two elements."""
        r = self.random
        kind = r.choice(["np.int64", "np.float32", "np.int32", "np.uint8", "np.float64"])
        choices = [
            f"np.array([{r.randint(0, 5)}, {r.randint(0, 5)}], {kind})",
            f"np.full((2,), {r.randint(0, 5)}, {kind})",
            "np.linspace(0, 3, 2)",
            "np.arange(2)",
        ]
        if self.arrays:
            a, b = r.choice(self.arrays), r.choice(self.arrays)
            choices += [
                f"{a} {r.choice(['+', '-', '*', '/', '%', '//'])} {b}",
                f"{a} {r.choice(['+', '-', '*', '/'])} {r.randint(1, 3)}",
                f"{r.randint(1, 3)} - {a}",
                f"{a} * {r.choice(['0.5', '2.5', 'np.float32(2)', 'np.int8(3)'])}",
                f"{a}.astype({kind})",
                f"-({a}.astype(np.float32))",
                f"{a}[::-1]",
                f"{a}.copy()",
                f"{a}.reshape(1, 2)[0]",
                f"{a}",
                f"np.ones_like({a})",
                f"({a} > {r.randint(0, 3)}).astype({kind})",
            ]
        return r.choice(choices)

    def change_of_array(self) -> str:
        r = self.random
        name = r.choice(self.arrays)
        return r.choice([
            f"{name}[{r.randint(-2, 1)}] = {self.int()}",
            f"{name}[{r.randint(-2, 1)}] += 1",
            f"{name}[:] = {r.choice(self.arrays)}",
            f"{name}[1:] = {r.randint(0, 3)}",
            f"{name} += {r.randint(0, 3)}",
            f"{name} *= {r.choice(['2', '1', '0.5'])}",
            f"{name} -= {r.choice(self.arrays)}",
            f"{name} = {self.array()}",
            f"{name}.sort()" if self.has_unknown else f"{name} = -{name}",
        ])  # fmt: skip

    def unknown(self) -> str:
        if not self.has_unknown:
            return self.int()
        return self.random.choice(
            ["os.getpid() * 0 + 2", "int(time.time() * 0) + 3", "len(sys.argv) * 0 + 1", "hash(4)"]
        )

    def simple(self) -> str:
        """A statement of one line that binds nothing new."""
        r = self.random
        choices = ["pass", "print(end='')"]
        if self.members:
            name = r.choice(self.members)
            choices += [f"{name} = {self.int()}", f"{name} += {self.int()}"]
        if self.ints:
            name = r.choice(self.ints)
            choices += [
                f"{name} += {self.int()}",
                f"{name} = {self.int()} * 2 - {self.int()}",
                f"{name} = {name} if {self.int()} > 3 else {self.int()}",
                f"{name} = {self.unknown()}",
            ]
        if self.lists:
            name, other = r.choice(self.lists), r.choice(self.lists)
            choices += [
                f"{name}.append({self.int()})",
                f"{name} += [{self.int()}]",
                f"{name}.insert(0, {self.int()})",
                f"{name}[0] = {self.int()}",
                f"{name}[-1] += 1",
                f"{name}.sort()",
                f"{name}.reverse()",
                f"{name} = {other}",
                f"{name} = {other} + [1]",
                f"{name}.extend({other} + [1])",
                f"del {name}[0:0]",
                f"{name}.append({self.unknown()})",
                f"{name} = [v + 1 for v in {other}]",
                f"{name}, {other} = {other}, {name}",
                f"{name} = sorted({other}, key=lambda v: -v)",
            ]
            if self.has_unknown:
                choices += [f"random.shuffle({name})", f"{name} = copy.copy({other})"]
        if self.dicts:
            name = r.choice(self.dicts)
            choices += [
                f'{name}["a"] = {self.int()}',
                f'{name}["{r.choice("abc")}"] = {self.int()}',
                f'{name}.pop("b", None)',
                f'{name}.setdefault("d", {self.int()})',
                f'{name}["e"] = {self.unknown()}',
            ]
            if self.has_unknown:
                choices += [f"{name} |= {{'f': {self.int()}}}", f"{name}.update(c={self.int()})"]
        if self.arrays:
            choices += [self.change_of_array() for _ in range(6)]
        if self.functions:
            choices += [f"{r.choice(self.functions)}({self.int()})"] * 3
            choices += [f"{r.choice(self.functions)}({self.unknown()})"]
        return r.choice(choices)

    def block(self, depth: int) -> str:
        lines = [self.statement(depth + 1, False) for _ in range(self.random.randint(1, 2))]
        return textwrap.indent("\n".join(lines), "    ")

    def definition(self) -> str:
        r = self.random
        name = self.fresh("f")
        body = [f"v = v + {r.randint(0, 3)}"]
        for _ in range(r.randint(1, 2)):
            kind = r.randint(0, 6)
            if kind == 0 and self.ints:
                target = r.choice(self.ints)
                body[:0] = [f"global {target}"] if f"global {target}" not in body else []
                body.append(f"{target} += v")
            elif kind == 1 and self.lists:
                body.append(f"{r.choice(self.lists)}.append(v)")
            elif kind == 2 and self.dicts:
                body.append(f'{r.choice(self.dicts)}["g"] = v')
            elif kind == 3 and self.functions:
                body.append(f"v = {r.choice(self.functions)}(v)")
            elif kind == 4 and self.lists:
                body.append(f"w = {r.choice(self.lists)}\n    w.insert(0, {self.unknown()})")
            elif kind == 5 and self.lists:
                body.append(f"for w in {r.choice(self.lists)}:\n        v += w")
            else:
                body.append(f"if v > 3:\n        return {self.int()}")
        body.append(r.choice(["return v", "return v * 2", f"return {self.int()} + v"]))
        decorator = r.choice(["", "", "", "", "@functools.lru_cache\n", "@passes\n"])
        decorator = decorator if self.has_unknown else ""
        text = f"{decorator}def {name}(v):\n    " + "\n    ".join(body)
        self.functions.append(name)
        return text

    def statement(self, depth: int, may_bind: bool = True) -> str:
        r = self.random
        kind = r.randint(0, 17 if depth < 2 else 5)
        kind = kind if self.has_unknown or kind != 13 else 0  # try
        if kind <= 4 or (not may_bind and kind in (8, 9, 10, 11, 14, 16, 17)):
            return self.simple()
        if kind == 5:
            return f"assert {self.int()} > -1000"
        if kind == 6:
            name = self.fresh("i")
            head = r.choice([f"for {name} in range({r.randint(1, 3)}):", f"for {name} in [1, 2]:"])
            if self.lists:
                head = r.choice([head, f"for {name} in list({r.choice(self.lists)}):"])
            return f"{head}\n{self.block(depth)}"
        if kind == 7:
            other = f"\nelse:\n{self.block(depth)}" if r.random() < 0.5 else ""
            test = r.choice([f"{self.int()} > 2", f"{self.unknown()} > 2", f"{self.int()} < 0"])
            test = "len(sys.argv) < 0" if self.has_unknown and r.random() < 0.3 else test
            return f"if {test}:\n{self.block(depth)}{other}"
        if kind == 8:
            name = self.fresh("k")
            text = f"{name} = {r.choice([self.int(), self.int(), self.unknown()])}"
            self.ints.append(name)
            return text
        if kind == 9:
            name = self.fresh("l")
            text = r.choice([
                f"{name} = [{self.int()}, {self.int()}]",
                f"{name} = [v * 2 for v in range({r.randint(1, 4)})]",
                f"{name} = list(range({r.randint(1, 4)}))",
            ])  # fmt: skip
            self.lists.append(name)
            return text
        if kind == 10:
            name = self.fresh("d")
            text = r.choice([
                f'{name} = {{"a": {self.int()}, "b": {self.int()}}}',
                f"{name} = dict(a={self.int()})",
                f'{name} = {{c: n for n, c in enumerate("ab")}}',
            ])  # fmt: skip
            self.dicts.append(name)
            return text
        if kind == 11:
            return self.definition()
        if kind == 12:
            name = self.fresh("w")
            head = f"{name} = 0\nwhile {name} < {r.randint(1, 3)}:\n    {name} += 1"
            return f"{head}\n{self.block(depth)}"
        if kind == 13:
            handler = r.choice(["ImportError", "Exception", "(KeyError, ValueError)"])
            return f"try:\n{self.block(depth)}\nexcept {handler}:\n{self.block(depth)}"
        if kind == 14:
            name = self.fresh("C")
            text = f"class {name}:\n    a = {self.int()}\n    b = [a]\n{self.block(depth)}"
            self.members += [f"{name}.a", f"{name}.b[0]"]
            return text
        if kind >= 16:
            name = self.fresh("a")
            text = f"{name} = {self.array()}"
            self.arrays.append(name)
            return text
        test = r.choice([self.int(), self.int()])
        return (
            f"match {test}:\n    case 1 | 2:\n{textwrap.indent(self.block(depth), '    ')}\n"
            f"    case _:\n{textwrap.indent(self.block(depth), '    ')}"
        )

    def result(self) -> str:
        r = self.random
        terms = [r.choice(self.ints)] if self.ints else ["1"]
        if self.lists and r.random() < 0.7:
            name = r.choice(self.lists)
            terms.append(r.choice([f"sum({name})", f"len({name})", f"{name}[0]"]))
        if self.members and r.random() < 0.7:
            terms.append(r.choice(self.members))
        if self.dicts and r.random() < 0.5:
            terms.append(f"sum({r.choice(self.dicts)}.values())")
        if self.arrays and r.random() < 0.8:
            terms.append(f"op.Cast({r.choice(self.arrays)}, to=FLOAT.dtype)")
        return " + ".join(terms)

    def other_script(self, text: str) -> str:
        """What may give the name `m` to another script."""
        again = textwrap.indent(text.format("m", self.result()), "    ")
        test = self.random.choice([f"{self.int()} > 2", f"{self.unknown()} > 2"])
        choices = [
            "m = g",
            "m, g = g, m",
            "for m in (g,):\n    pass",
            f"if {test}:\n    m = g",
            f"if {test}:\n{again}",
            f"try:\n    import no_such\n    m = g\nexcept ImportError:\n{again}",
            f"for _ in range({self.random.randint(0, 2)}):\n{again}",
            "def bind():\n    global m\n    m = g\nbind()",
        ]
        return self.random.choice(choices)

    def program(self) -> str:
        header = (
            HEADER
            + "import copy, functools, os, random, sys, time\n\n"
            + "def passes(f):\n    return f\n\nk0 = 2\nl0 = [3, 1]\nd0 = {'a': 1}\n"
        )
        self.ints, self.lists, self.dicts = ["k0"], ["l0"], ["d0"]
        before = [self.statement(0) for _ in range(self.random.randint(2, 8))]
        size = self.random.choice(["2", '"N"'])
        text = f"@script()\ndef {{}}(x: FLOAT[{size}]) -> FLOAT[{size}]:\n    return x * ({{}})\n"
        script = text.format("m", self.result())
        after = [self.statement(0) for _ in range(self.random.randint(0, 4))]
        if self.random.random() < 0.3:
            script = text.format("g", self.result()) + script
            after.append(self.other_script(text))
        return header + "\n".join([*before, script, *after]) + "\n"


@pytest.mark.parametrize("seed", SEEDS)
def test_random_files(seed: int, tmp_path: pathlib.Path) -> None:
    found = {"equal": 0, "refused": 0, "failed": 0}
    for i in range(COUNT):
        path = tmp_path / f"file{i}.py"
        path.write_text(Writer(seed + i).program())
        found[agree(path)] += 1
        path.unlink()
    assert found["equal"] > COUNT // 2, found
    # Python may end a file where the compiler does not know of it, such as for want of memory.
    assert found["failed"] <= COUNT // 100, found
