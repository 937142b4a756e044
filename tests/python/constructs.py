"""The constructs of the language, one small program each, for language/test_constructs.py.

A program is the body of a script `f`; its signature is the last parameter list that stands before
it, `(X: FLOAT["N"]) -> FLOAT["N"]` when it says none. It is refused with these codes, or it
compiles: then Python, our evaluator, ONNX Runtime and onnx.reference give equal results.
"""

from __future__ import annotations

import dataclasses
import textwrap
from typing import Any

import numpy as np


@dataclasses.dataclass
class Construct:
    group: str
    name: str
    body: str
    signature: str = '(X: FLOAT["N"]) -> FLOAT["N"]'
    source: str = ""  # the whole of the program after the header, instead of a body
    before: str = ""  # lines in front of the script
    inputs: dict[str, Any] = dataclasses.field(default_factory=dict)  # where INPUTS do not fit
    attributes: dict[str, Any] = dataclasses.field(default_factory=dict)
    refused: list[str] = dataclasses.field(
        default_factory=list
    )  # the codes of its findings, in their order
    result: str = ""  # what it gives, in NumPy; else what Python gives
    runs: bool = True  # False: its operators have no definition
    without: tuple[str, ...] = ()  # the runtimes that cannot run it
    peer: str = ""  # why onnxscript 0.7.2, which accepts it, is no measure

    def __post_init__(self) -> None:
        self.body = textwrap.dedent(self.body).strip("\n")
        self.source = textwrap.dedent(self.source).lstrip("\n")
        self.before = textwrap.dedent(self.before).lstrip("\n")


CONSTRUCTS = [
    # --- Statements
    Construct("stmt", "simple assign", "y = op.Abs(X)\nreturn y", result="np.abs(X)"),
    Construct(
        "stmt", "annotated assign", "y: FLOAT['N'] = op.Abs(X)\nreturn y", result="np.abs(X)"
    ),
    Construct(
        "stmt",
        "annotated assign, no value",
        """
            y: FLOAT['N']
            y = op.Abs(X)
            return y
            """,
    ),
    Construct(
        "stmt", "annotated assign, invalid annotation (dict)", "y: dict = op.Abs(X)\nreturn y"
    ),
    Construct(
        "stmt",
        "chained assign x = y = e",
        "a = b = op.Abs(X)\nreturn a + b",
        result="np.abs(X) * 2",
    ),
    Construct(
        "stmt",
        "tuple unpack from op call",
        "a, b = op.TopK(X, op.Constant(value_ints=[1]))\nreturn a",
        signature='(X: FLOAT["N"]) -> FLOAT["K"]',
    ),
    Construct(
        "stmt",
        "tuple unpack parenthesised",
        "(a, b) = op.TopK(X, op.Constant(value_ints=[1]))\nreturn a",
        signature='(X: FLOAT["N"]) -> FLOAT["K"]',
    ),
    Construct(
        "stmt",
        "list-target unpack [a, b] = call",
        "[a, b] = op.TopK(X, op.Constant(value_ints=[1]))\nreturn a",
        signature='(X: FLOAT["N"]) -> FLOAT["K"]',
    ),
    Construct(
        "stmt",
        "parallel assign a, b = e1, e2",
        "a, b = op.Abs(X), op.Neg(X)\nreturn a + b",
        result="np.abs(X) - X",
    ),
    Construct(
        "stmt",
        "swap a, b = b, a",
        """
            a = op.Abs(X)
            b = op.Neg(X)
            a, b = b, a
            return a - b + a
            """,
        peer="two assignments, one after the other",
    ),
    Construct(
        "stmt",
        "tuple-unpack count mismatch",
        "a, b = op.Abs(X), op.Neg(X), X\nreturn a",
        refused=["result-count"],
    ),
    Construct(
        "stmt",
        "unpack from a name (not a call)",
        """
            t = op.Abs(X)
            a, b = t
            return a
            """,
        refused=["unsupported-operand"],
    ),
    Construct(
        "stmt", "single var = tuple", "t = op.Abs(X), X\nreturn t", refused=["return-type-mismatch"]
    ),
    Construct(
        "stmt",
        "nested tuple target",
        "a, (b, c) = op.Split(X, num_outputs=2)\nreturn a",
        refused=["unsupported-operand"],
    ),
    Construct("stmt", "starred target", "a, *b = op.Split(X, num_outputs=3)\nreturn a"),
    Construct(
        "stmt", "attribute target", "X.foo = op.Abs(X)\nreturn X", refused=["unsupported-statement"]
    ),
    Construct("stmt", "subscript target", "X[0] = 1.0\nreturn X"),
    Construct("stmt", "augmented assign +=", "X += 1.0\nreturn X"),
    Construct("stmt", "walrus", "y = (z := op.Abs(X))\nreturn y + z", result="2 * np.abs(X)"),
    Construct(
        "stmt",
        "del statement",
        """
            y = op.Abs(X)
            del X
            return y
            """,
    ),
    Construct("stmt", "pass", "pass\nreturn op.Abs(X)"),
    Construct("stmt", "assert", "assert True\nreturn op.Abs(X)"),
    Construct(
        "stmt",
        "raise",
        "raise ValueError('x')\nreturn op.Abs(X)",
        refused=["static-error"],
    ),
    Construct("stmt", "import inside", "import math\nreturn op.Abs(X)"),
    Construct(
        "stmt", "import of files", "import csv\nreturn op.Abs(X)", refused=["unsupported-statement"]
    ),
    Construct("stmt", "global statement", "global G_INT\nreturn op.Abs(X)"),
    Construct(
        "stmt", "nonlocal statement", "nonlocal q\nreturn op.Abs(X)", refused=["unknown-name"]
    ),
    Construct(
        "stmt",
        "try/except",
        """
            try:
                y = op.Abs(X)
            except Exception:
                y = X
            return y
            """,
        refused=["unsupported-statement"],
    ),
    Construct(
        "stmt",
        "with statement",
        """
            with open('x') as h:
                y = op.Abs(X)
            return y
            """,
        refused=["unsupported-statement"],
    ),
    Construct(
        "stmt",
        "match statement",
        """
            match X:
                case 1:
                    y = X
                case _:
                    y = op.Abs(X)
            return y
            """,
        refused=["unsupported-statement"],
    ),
    Construct(
        "stmt",
        "class definition inside",
        """
            class A:
                pass
            return op.Abs(X)
            """,
        refused=["unsupported-statement"],
    ),
    Construct(
        "stmt",
        "await inside async def",
        "y = await X\nreturn y",
        refused=["unsupported-expression"],
    ),
    Construct("stmt", "yield", "yield op.Abs(X)", refused=["unsupported-expression"]),
    Construct("stmt", "async def top level", "return op.Abs(X)"),
    Construct("stmt", "docstring first", '"""doc"""\nreturn op.Abs(X)'),
    Construct(
        "stmt",
        "string expression in the middle",
        '''
            y = op.Abs(X)
            """mid"""
            return y
            ''',
    ),
    Construct(
        "stmt",
        "print() call",
        """
            y = op.Abs(X)
            print('v', y)
            return y
            """,
    ),
    Construct("stmt", "bare expression statement (call)", "op.Abs(X)\nreturn op.Neg(X)"),
    Construct("stmt", "bare expression (number)", "3\nreturn op.Neg(X)"),
    Construct("stmt", "ellipsis body", "...", refused=["missing-return"]),
    Construct(
        "stmt",
        "empty body (docstring only)",
        '"""doc"""',
        refused=["missing-return"],
        peer="a function without a result",
    ),
    # --- While
    Construct(
        "while",
        "while c + trailing 'if d: break': both conditions honoured?",
        """
            s = op.Identity(X)
            c = op.ReduceSum(s, keepdims=0) < 10.0
            while c:
                s = s + X
                c = op.ReduceSum(s, keepdims=0) < 10.0
                d = op.ReduceSum(s, keepdims=0) > 100.0
                if d:
                    break
            return s
            """,
        peer="it drops the condition of the loop",
    ),
    Construct(
        "while",
        "while name",
        """
            s = op.Identity(X)
            c = op.ReduceSum(s, keepdims=0) < 20.0
            while c:
                s = s + X
                c = op.ReduceSum(s, keepdims=0) < 20.0
            return s
            """,
    ),
    Construct(
        "while",
        "while expr",
        """
            s = op.Identity(X)
            while op.ReduceSum(s, keepdims=0) < 20.0:
                s = s + X
            return s
            """,
    ),
    Construct(
        "while",
        "while True + break",
        """
            s = op.Identity(X)
            while True:
                s = s + X
                c = op.ReduceSum(s, keepdims=0) > 20.0
                if c:
                    break
            return s
            """,
    ),
    Construct(
        "while",
        "while cond not updated in body",
        """
            s = op.Identity(X)
            while c:
                s = s + X
            return s
            """,
        signature='(X: FLOAT["N"], c: BOOL) -> FLOAT["N"]',
        inputs={"c": False},
    ),
    Construct(
        "while",
        "while not c",
        """
            s = op.Identity(X)
            while not c:
                s = s + X
                c = op.ReduceSum(s, keepdims=0) > 20.0
            return s
            """,
        signature='(X: FLOAT["N"], c: BOOL) -> FLOAT["N"]',
    ),
    Construct(
        "while",
        "while a and b",
        """
            s = op.Identity(X)
            while c and c:
                s = s + X
            return s
            """,
        signature='(X: FLOAT["N"], c: BOOL) -> FLOAT["N"]',
        inputs={"c": False},
    ),
    Construct(
        "while",
        "while + if d: break",
        """
            s = op.Identity(X)
            c = op.Constant(value=make_tensor('t', TensorProto.BOOL, [], [1]))
            while c:
                s = s + X
                c = op.ReduceSum(s, keepdims=0) < 100.0
                d = op.ReduceSum(s, keepdims=0) > 50.0
                if d:
                    break
            return s
            """,
    ),
    Construct(
        "while",
        "while/else",
        """
            s = op.Identity(X)
            c = op.ReduceSum(s, keepdims=0) < 20.0
            while c:
                s = s + X
                c = op.ReduceSum(s, keepdims=0) < 20.0
            else:
                s = s - X
            return s
            """,
        peer="it drops the `else`",
    ),
    Construct(
        "while",
        "nested while in for",
        """
            s = op.Identity(X)
            for i in range(2):
                c = op.ReduceSum(s, keepdims=0) < 20.0
                while c:
                    s = s + X
                    c = op.ReduceSum(s, keepdims=0) < 20.0
            return s
            """,
    ),
    # --- Return
    Construct("return", "return call", "return op.Abs(X)"),
    Construct("return", "return name (input)", "return X"),
    Construct("return", "return constant", "return 1.0", signature='(X: FLOAT["N"]) -> FLOAT'),
    Construct(
        "return",
        "return tuple",
        "return op.Abs(X), op.Neg(X)",
        signature='(X: FLOAT["N"]) -> (FLOAT["N"], FLOAT["N"])',
    ),
    Construct(
        "return",
        "return tuple, typing.Tuple annotation",
        "return op.Abs(X), op.Neg(X)",
        signature='(X: FLOAT["N"]) -> Tuple[FLOAT["N"], FLOAT["N"]]',
    ),
    Construct(
        "return", "return same var twice", "y = op.Abs(X)\nreturn y, y", signature='(X: FLOAT["N"])'
    ),
    Construct(
        "return", "return list", "return [op.Abs(X), op.Neg(X)]", signature='(X: FLOAT["N"])'
    ),
    Construct(
        "return",
        "return None (bare)",
        "return",
        signature='(X: FLOAT["N"])',
        refused=["missing-return"],
    ),
    Construct(
        "return",
        "return None (explicit)",
        "return None",
        signature='(X: FLOAT["N"])',
        refused=["missing-return"],
    ),
    Construct(
        "return",
        "return count mismatch with annotation",
        "return op.Abs(X), X",
        refused=["return-type-mismatch"],
    ),
    Construct(
        "return",
        "no return statement",
        "y = op.Abs(X)",
        signature='(X: FLOAT["N"])',
        refused=["missing-return"],
        peer="a function without a result",
    ),
    Construct("return", "statements after return", "return op.Abs(X)\ny = op.Neg(X)"),
    Construct(
        "return",
        "two top-level returns",
        "return op.Abs(X)\nreturn op.Neg(X)",
        signature='(X: FLOAT["N"])',
        peer="every return adds results",
    ),
    Construct(
        "return",
        "early return inside if",
        """
            if c:
                return op.Abs(X)
            return op.Neg(X)
            """,
        signature='(X: FLOAT["N"], c: BOOL) -> FLOAT["N"]',
    ),
    Construct(
        "return",
        "return in both branches of if",
        """
            if c:
                return op.Abs(X)
            else:
                return op.Neg(X)
            """,
        signature='(X: FLOAT["N"], c: BOOL) -> FLOAT["N"]',
    ),
    Construct(
        "return",
        "return inside for",
        """
            for i in range(3):
                return X
            return op.Neg(X)
            """,
    ),
    Construct(
        "return",
        "return inside while",
        """
            while c:
                return X
            return op.Neg(X)
            """,
        signature='(X: FLOAT["N"], c: BOOL) -> FLOAT["N"]',
    ),
    # --- If
    Construct(
        "if",
        "if/else tensor cond",
        """
            if c:
                y = op.Abs(X)
            else:
                y = op.Neg(X)
            return y
            """,
        signature='(X: FLOAT["N"], c: BOOL) -> FLOAT["N"]',
    ),
    Construct(
        "if",
        "if without else, var defined before",
        """
            y = op.Neg(X)
            if c:
                y = op.Abs(X)
            return y
            """,
        signature='(X: FLOAT["N"], c: BOOL) -> FLOAT["N"]',
    ),
    Construct(
        "if",
        "if without else, var undefined before",
        """
            if c:
                y = op.Abs(X)
            return y
            """,
        signature='(X: FLOAT["N"], c: BOOL) -> FLOAT["N"]',
        refused=["unbound-name"],
    ),
    Construct(
        "if",
        "if: variable only in one branch, unused later",
        """
            y = X
            if c:
                z = op.Abs(X)
                y = z
            return y
            """,
        signature='(X: FLOAT["N"], c: BOOL) -> FLOAT["N"]',
    ),
    Construct(
        "if",
        "elif chain",
        """
            if op.ReduceSum(X) > 0.0:
                y = op.Abs(X)
            elif op.ReduceSum(X) < -5.0:
                y = op.Neg(X)
            else:
                y = X
            return y
            """,
    ),
    Construct(
        "if",
        "nested if",
        """
            y = X
            if c:
                if op.ReduceSum(X) > 0.0:
                    y = op.Neg(X)
            return y
            """,
        signature='(X: FLOAT["N"], c: BOOL) -> FLOAT["N"]',
    ),
    Construct(
        "if",
        "if with no live output",
        """
            if c:
                z = op.Abs(X)
            else:
                z = op.Neg(X)
            return X
            """,
        signature='(X: FLOAT["N"], c: BOOL) -> FLOAT["N"]',
    ),
    Construct(
        "if",
        "if multiple outputs",
        """
            if c:
                a = op.Abs(X)
                b = X
            else:
                a = X
                b = op.Neg(X)
            return a - b
            """,
        signature='(X: FLOAT["N"], c: BOOL) -> FLOAT["N"]',
    ),
    Construct(
        "if",
        "if cond is comparison expr",
        """
            if op.ReduceSum(X, keepdims=0) > 0.0:
                y = op.Abs(X)
            else:
                y = op.Neg(X)
            return y
            """,
    ),
    Construct(
        "if",
        "if not cond",
        """
            if not c:
                y = op.Abs(X)
            else:
                y = op.Neg(X)
            return y
            """,
        signature='(X: FLOAT["N"], c: BOOL) -> FLOAT["N"]',
    ),
    Construct(
        "if",
        "if a and b (BoolOp)",
        """
            if c and c:
                y = op.Abs(X)
            else:
                y = op.Neg(X)
            return y
            """,
        signature='(X: FLOAT["N"], c: BOOL) -> FLOAT["N"]',
    ),
    Construct(
        "if",
        "if a & b (BitAnd)",
        """
            if c & c:
                y = op.Abs(X)
            else:
                y = op.Neg(X)
            return y
            """,
        signature='(X: FLOAT["N"], c: BOOL) -> FLOAT["N"]',
    ),
    Construct(
        "if",
        "if on global True (static)",
        """
            if G_TRUE:
                y = op.Abs(X)
            else:
                y = op.Neg(X)
            return y
            """,
    ),
    Construct(
        "if",
        "if on global False (static)",
        """
            if G_FALSE:
                y = op.Abs(X)
            else:
                y = op.Neg(X)
            return y
            """,
    ),
    Construct(
        "if",
        "if on global None (static)",
        """
            if G_NONE:
                y = op.Abs(X)
            else:
                y = op.Neg(X)
            return y
            """,
    ),
    Construct(
        "if",
        "if not global (static not folded?)",
        """
            if not G_TRUE:
                y = op.Abs(X)
            else:
                y = op.Neg(X)
            return y
            """,
    ),
    Construct(
        "if",
        "if literal True",
        """
            if True:
                y = op.Abs(X)
            else:
                y = op.Neg(X)
            return y
            """,
    ),
    Construct(
        "if",
        "if global == const",
        """
            if G_INT == 3:
                y = op.Abs(X)
            else:
                y = op.Neg(X)
            return y
            """,
    ),
    Construct(
        "if",
        "if on global + static return inside",
        """
            if G_TRUE:
                return op.Abs(X)
            else:
                return op.Neg(X)
            """,
    ),
    Construct(
        "if",
        "if on bool attribute",
        """
            if flag:
                y = op.Abs(X)
            else:
                y = op.Neg(X)
            return y
            """,
        signature='(X: FLOAT["N"], flag: bool = True)',
        peer="it drops the default of an attribute",
    ),
    Construct(
        "if",
        "if on int attribute",
        """
            if k > 2:
                y = op.Abs(X)
            else:
                y = op.Neg(X)
            return y
            """,
        signature='(X: FLOAT["N"], k: int = 3)',
        peer="it drops the default of an attribute",
    ),
    Construct(
        "if",
        "if x is None",
        """
            if B is None:
                y = op.Abs(X)
            else:
                y = B
            return y
            """,
        signature='(X: FLOAT["N"], B: Optional[FLOAT["N"]] = None)',
    ),
    Construct(
        "if",
        "if x == None",
        """
            if B == None:
                y = op.Abs(X)
            else:
                y = B
            return y
            """,
        signature='(X: FLOAT["N"], B: Optional[FLOAT["N"]] = None)',
    ),
    Construct(
        "if",
        "if x != None",
        """
            y = X
            if B != None:
                y = op.Abs(X)
            return y
            """,
        signature='(X: FLOAT["N"], B: FLOAT[...] = None)',
    ),
    Construct(
        "if",
        "if op.OptionalHasElement(B)",
        """
            if op.OptionalHasElement(B):
                y = B
            else:
                y = op.Abs(X)
            return y
            """,
        signature='(X: FLOAT["N"], B: Optional[FLOAT["N"]] = None)',
        peer="an optional input has no type",
    ),
    Construct(
        "if",
        "if branch assigns None",
        """
            if c:
                z = None
            else:
                z = X
            return z
            """,
        signature='(X: FLOAT["N"], c: BOOL) -> FLOAT["N"]',
        refused=["branch-type-mismatch"],
    ),
    Construct(
        "if",
        "pass in if branch",
        """
            y = X
            if c:
                pass
            else:
                y = op.Abs(X)
            return y
            """,
        signature='(X: FLOAT["N"], c: BOOL) -> FLOAT["N"]',
    ),
    Construct(
        "if",
        "one-line if",
        """
            y = X
            if c: y = op.Abs(X)
            return y
            """,
        signature='(X: FLOAT["N"], c: BOOL) -> FLOAT["N"]',
    ),
    Construct(
        "if",
        "if assigns the condition var itself only",
        """
            if c:
                c = op.Not(c)
            else:
                c = op.Identity(c)
            return op.Where(c, X, X + 1.0)
            """,
        signature='(X: FLOAT["N"], c: BOOL) -> FLOAT["N"]',
    ),
    # --- For
    Construct(
        "for",
        "for range(const)",
        """
            s = op.Identity(X)
            for i in range(3):
                s = s + X
            return s
            """,
    ),
    Construct(
        "for",
        "for range(tensor)",
        """
            s = op.Identity(X)
            for i in range(n):
                s = s + X
            return s
            """,
        signature='(X: FLOAT["N"], n: INT64) -> FLOAT["N"]',
    ),
    Construct(
        "for",
        "for range(expr)",
        """
            s = op.Identity(X)
            for i in range(2 * n + 1):
                s = s + X
            return s
            """,
        signature='(X: FLOAT["N"], n: INT64) -> FLOAT["N"]',
    ),
    Construct(
        "for",
        "for range(global int)",
        """
            s = op.Identity(X)
            for i in range(G_INT):
                s = s + X
            return s
            """,
    ),
    Construct(
        "for",
        "for range(int attribute)",
        """
            s = op.Identity(X)
            for i in range(k):
                s = s + X
            return s
            """,
        signature='(X: FLOAT["N"], k: int = 2)',
        peer="it drops the default of an attribute",
    ),
    Construct(
        "for",
        "for loop var used",
        """
            s = op.Identity(X)
            for i in range(3):
                s = s + op.Cast(i, to=1)
            return s
            """,
    ),
    Construct(
        "for",
        "for range(a, b)",
        """
            s = op.Identity(X)
            for i in range(1, 3):
                s = s + X
            return s
            """,
    ),
    Construct(
        "for",
        "for range(a, b, c)",
        """
            s = op.Identity(X)
            for i in range(0, 6, 2):
                s = s + X
            return s
            """,
    ),
    Construct(
        "for",
        "for range() no args",
        """
            s = op.Identity(X)
            for i in range():
                s = s + X
            return s
            """,
        refused=["argument-mismatch"],
    ),
    Construct(
        "for",
        "for range(stop=3) keyword",
        """
            s = op.Identity(X)
            for i in range(stop=3):
                s = s + X
            return s
            """,
        refused=["argument-mismatch"],
    ),
    Construct(
        "for",
        "for range(3, k=..) kw + pos",
        """
            s = op.Identity(X)
            for i in range(3, foo=1):
                s = s + X
            return s
            """,
        refused=["argument-mismatch"],
    ),
    Construct(
        "for",
        "for over tensor",
        """
            s = op.Identity(X)
            for v in X:
                s = s + v
            return s
            """,
    ),
    Construct(
        "for",
        "for over list literal",
        """
            s = op.Identity(X)
            for v in [1.0, 2.0]:
                s = s + v
            return s
            """,
    ),
    Construct(
        "for",
        "for enumerate",
        """
            s = op.Identity(X)
            for v in enumerate(X):
                s = s + X
            return s
            """,
    ),
    Construct(
        "for",
        "for op.Range call",
        """
            s = op.Identity(X)
            for v in op.Range(0, 3, 1):
                s = s + X
            return s
            """,
    ),
    Construct(
        "for",
        "for tuple target",
        """
            s = op.Identity(X)
            for i, j in range(3):
                s = s + X
            return s
            """,
        refused=["unsupported-operand"],
    ),
    Construct(
        "for",
        "for/else",
        """
            s = op.Identity(X)
            for i in range(3):
                s = s + X
            else:
                s = s - X
            return s
            """,
        peer="it drops the `else`",
    ),
    Construct(
        "for",
        "for + if c: break (last)",
        """
            s = op.Identity(X)
            for i in range(10):
                s = s + X
                c = op.ReduceSum(s, keepdims=0) > 20.0
                if c:
                    break
            return s
            """,
    ),
    Construct(
        "for",
        "for + break first in body",
        """
            s = op.Identity(X)
            c = op.ReduceSum(s, keepdims=0) > 20.0
            for i in range(10):
                if c:
                    break
                s = s + X
                c = op.ReduceSum(s, keepdims=0) > 20.0
            return s
            """,
    ),
    Construct(
        "for",
        "for + if expr: break",
        """
            s = op.Identity(X)
            for i in range(10):
                s = s + X
                if op.ReduceSum(s, keepdims=0) > 20.0:
                    break
            return s
            """,
    ),
    Construct(
        "for",
        "for + if not c: break",
        """
            s = op.Identity(X)
            for i in range(10):
                s = s + X
                c = op.ReduceSum(s, keepdims=0) < 20.0
                if not c:
                    break
            return s
            """,
    ),
    Construct(
        "for",
        "for + if c: break, cond from outer scope",
        """
            s = op.Identity(X)
            for i in range(10):
                s = s + X
                if c:
                    break
            return s
            """,
        signature='(X: FLOAT["N"], c: BOOL) -> FLOAT["N"]',
    ),
    Construct(
        "for",
        "for + if c: break / else: stmt",
        """
            s = op.Identity(X)
            for i in range(10):
                c = op.ReduceSum(s, keepdims=0) > 20.0
                if c:
                    break
                else:
                    s = s + X
            return s
            """,
        peer="it drops the `else`",
    ),
    Construct(
        "for",
        "for + if c: stmt; break",
        """
            s = op.Identity(X)
            for i in range(10):
                s = s + X
                c = op.ReduceSum(s, keepdims=0) > 20.0
                if c:
                    s = s + X
                    break
            return s
            """,
    ),
    Construct(
        "for",
        "bare break",
        """
            s = op.Identity(X)
            for i in range(10):
                s = s + X
                break
            return s
            """,
    ),
    Construct(
        "for",
        "two breaks",
        """
            s = op.Identity(X)
            for i in range(10):
                s = s + X
                c = op.ReduceSum(s, keepdims=0) > 20.0
                if c:
                    break
                if c:
                    break
            return s
            """,
    ),
    Construct(
        "for",
        "continue",
        """
            s = op.Identity(X)
            for i in range(3):
                s = s + X
                continue
            return s
            """,
    ),
    Construct(
        "for",
        "conditional continue",
        """
            s = op.Identity(X)
            for i in range(3):
                c = op.ReduceSum(s, keepdims=0) > 20.0
                if c:
                    continue
                s = s + X
            return s
            """,
    ),
    Construct(
        "for",
        "nested for",
        """
            s = op.Identity(X)
            for i in range(2):
                for j in range(3):
                    s = s + X
            return s
            """,
    ),
    Construct(
        "for",
        "if inside for",
        """
            s = op.Identity(X)
            for i in range(4):
                if op.ReduceSum(s, keepdims=0) > 10.0:
                    s = s - X
                else:
                    s = s + X
            return s
            """,
    ),
    Construct(
        "for",
        "for inside if",
        """
            s = op.Identity(X)
            if c:
                for i in range(4):
                    s = s + X
            return s
            """,
        signature='(X: FLOAT["N"], c: BOOL) -> FLOAT["N"]',
    ),
    Construct(
        "for",
        "loop var live after loop",
        """
            s = op.Identity(X)
            for i in range(3):
                s = s + X
            return s + op.Cast(i, to=1)
            """,
    ),
    Construct(
        "for",
        "loop var reassigned in body",
        """
            s = op.Identity(X)
            for i in range(3):
                i = i + 1
                s = s + op.Cast(i, to=1)
            return s
            """,
    ),
    Construct(
        "for",
        "var first defined in loop, used after",
        """
            for i in range(3):
                s = X + op.Cast(i, to=1)
            return s
            """,
    ),
    Construct(
        "for",
        "loop with no state",
        """
            for i in range(3):
                s = op.Abs(X)
            return X
            """,
    ),
    Construct(
        "for",
        "loop-carried python constant init",
        """
            s = 0.0
            for i in range(3):
                s = s + X
            return s
            """,
    ),
    Construct(
        "for",
        "sequence accumulate in loop",
        """
            seq = op.SequenceEmpty()
            for i in range(3):
                seq = op.SequenceInsert(seq, X)
            return op.ConcatFromSequence(seq, axis=0)
            """,
    ),
    # --- Operators
    Construct("operator", "binary/unary +", "return X + X", result="X + X"),
    Construct("operator", "binary/unary -", "return X - X", result="X - X"),
    Construct("operator", "binary/unary *", "return X * X", result="X * X"),
    Construct("operator", "binary/unary /", "return X / X", result="X / X"),
    Construct("operator", "binary/unary // (floor div)", "return X // X", result="X // X"),
    Construct(
        "operator",
        "binary/unary % tensor",
        "return X % X",
        result="X % X",
        peer="Mod of floats without fmod",
    ),
    Construct(
        "operator",
        "binary/unary % float const",
        "return X % 1.5",
        result="X % 1.5",
        peer="the sign of the dividend",
    ),
    Construct(
        "operator",
        "binary/unary % int const",
        "return X % 2",
        result="X % 2",
        peer="Mod of floats without fmod",
    ),
    Construct("operator", "binary/unary **", "return X ** 2.0", result="X ** 2.0"),
    Construct("operator", "binary/unary ** int const", "return X ** 2", result="X ** 2"),
    Construct(
        "operator", "binary/unary << shift", "return X << 1", refused=["unsupported-operand"]
    ),
    Construct(
        "operator", "binary/unary >> shift", "return X >> 1", refused=["unsupported-operand"]
    ),
    Construct("operator", "binary/unary unary -", "return -X", result="-X"),
    Construct("operator", "binary/unary unary +", "return +X", result="+X"),
    Construct("operator", "binary/unary ~ invert", "return ~X", refused=["unsupported-type"]),
    Construct(
        "operator",
        "binary/unary - on parenthesised const",
        "return X + (-2.0)",
        result="X + (-2.0)",
    ),
    Construct("operator", "binary/unary -(-5)", "return X + -(-5.0)", result="X + -(-5.0)"),
    Construct("operator", "binary/unary +const", "return X + (+5.0)", result="X + (+5.0)"),
    Construct("operator", "binary/unary -global", "return X + (-G_FLOAT)", result="X + (-G_FLOAT)"),
    Construct(
        "operator",
        "binary/unary -(1+2) const expr",
        "return X + (-(1.0 + 2.0))",
        result="X + (-(1.0 + 2.0))",
    ),
    Construct("operator", "binary/unary not on const", "return op.Where(not True, X, X)"),
    Construct(
        "operator", "@ matmul", "return X @ X", signature='(X: FLOAT["N"]) -> FLOAT', result="X @ X"
    ),
    Construct(
        "operator",
        "compare/bool ==",
        "return X == X",
        signature='(X: FLOAT["N"]) -> BOOL["N"]',
        result="X == X",
    ),
    Construct(
        "operator",
        "compare/bool !=",
        "return X != X",
        signature='(X: FLOAT["N"]) -> BOOL["N"]',
        result="X != X",
    ),
    Construct(
        "operator",
        "compare/bool <",
        "return X < X",
        signature='(X: FLOAT["N"]) -> BOOL["N"]',
        result="X < X",
    ),
    Construct(
        "operator",
        "compare/bool <=",
        "return X <= X",
        signature='(X: FLOAT["N"]) -> BOOL["N"]',
        result="X <= X",
    ),
    Construct(
        "operator",
        "compare/bool >",
        "return X > X",
        signature='(X: FLOAT["N"]) -> BOOL["N"]',
        result="X > X",
    ),
    Construct(
        "operator",
        "compare/bool >=",
        "return X >= X",
        signature='(X: FLOAT["N"]) -> BOOL["N"]',
        result="X >= X",
    ),
    Construct(
        "operator",
        "compare/bool chained a<b<c",
        "return 0.0 < X < 2.0",
        signature='(X: FLOAT["N"]) -> BOOL["N"]',
        refused=["unsupported-operand"],
    ),
    Construct(
        "operator",
        "compare/bool is",
        "return X is X",
        signature='(X: FLOAT["N"]) -> BOOL["N"]',
        refused=["unsupported-operand"],
    ),
    Construct(
        "operator",
        "compare/bool is not",
        "return X is not X",
        signature='(X: FLOAT["N"]) -> BOOL["N"]',
        refused=["unsupported-operand"],
    ),
    Construct(
        "operator",
        "compare/bool in",
        "return X in X",
        signature='(X: FLOAT["N"]) -> BOOL["N"]',
        refused=["return-type-mismatch"],
    ),
    Construct(
        "operator",
        "compare/bool not in",
        "return X not in X",
        signature='(X: FLOAT["N"]) -> BOOL["N"]',
        refused=["return-type-mismatch"],
    ),
    Construct(
        "operator",
        "compare/bool not expr",
        "return not (X > 1.0)",
        signature='(X: FLOAT["N"]) -> BOOL["N"]',
        refused=["ambiguous-truth-value"],
        peer="Python refuses the truth value of several elements",
    ),
    Construct(
        "operator",
        "compare/bool and",
        "return (X > 1.0) and (X < 3.0)",
        signature='(X: FLOAT["N"]) -> BOOL["N"]',
        refused=["ambiguous-truth-value"],
    ),
    Construct(
        "operator",
        "compare/bool or",
        "return (X > 1.0) or (X < 3.0)",
        signature='(X: FLOAT["N"]) -> BOOL["N"]',
        refused=["ambiguous-truth-value"],
    ),
    Construct(
        "operator",
        "compare/bool &",
        "return (X > 1.0) & (X < 3.0)",
        signature='(X: FLOAT["N"]) -> BOOL["N"]',
        result="(X > 1.0) & (X < 3.0)",
    ),
    Construct(
        "operator",
        "compare/bool |",
        "return (X > 1.0) | (X < 3.0)",
        signature='(X: FLOAT["N"]) -> BOOL["N"]',
        result="(X > 1.0) | (X < 3.0)",
    ),
    Construct(
        "operator",
        "compare/bool ^ xor",
        "return (X > 1.0) ^ (X < 3.0)",
        signature='(X: FLOAT["N"]) -> BOOL["N"]',
        result="(X > 1.0) ^ (X < 3.0)",
    ),
    Construct(
        "operator", "const op const (2 + 3)", "return X + (2.0 + 3.0)", result="X + (2.0 + 3.0)"
    ),
    Construct(
        "operator", "int const with float tensor (auto CastLike)", "return X + 1", result="X + 1"
    ),
    Construct("operator", "const left", "return 1 - X", result="1 - X"),
    Construct("operator", "bool const", "return op.Where(True, X, X + 1.0)"),
    # --- Expressions
    Construct(
        "expr",
        "ternary a if c else b",
        "return X if c else -X",
        signature='(X: FLOAT["N"], c: BOOL) -> FLOAT["N"]',
    ),
    Construct("expr", "lambda", "g = lambda t: t + 1\nreturn g(X)"),
    Construct("expr", "list comprehension", "ys = [X for i in range(3)]\nreturn X"),
    Construct("expr", "generator expression", "return sum(X for i in range(3))"),
    Construct("expr", "list literal of constants", "return op.Reshape(X, [-1])"),
    Construct("expr", "list literal of mixed float/int", "return X + [1, 2.0, 3]"),
    Construct("expr", "list literal of tensors", "return op.ConcatFromSequence([X, X], axis=0)"),
    Construct(
        "expr",
        "list literal with names",
        "a = op.Constant(value_int=1)\nreturn op.Reshape(X, [a])",
        inputs={"X": np.array([5.0], np.float32)},
    ),
    Construct(
        "expr",
        "empty list as input",
        "return op.Reshape(X, [])",
        signature="(X: FLOAT[1]) -> FLOAT",
    ),
    Construct("expr", "tuple literal as input", "return op.Reshape(X, (-1,))"),
    Construct("expr", "dict literal", "d = {'a': X}\nreturn X"),
    Construct("expr", "set literal", "d = {1, 2}\nreturn X"),
    Construct(
        "expr",
        "string constant as tensor",
        "return op.Identity('abc')",
        signature='(X: FLOAT["N"]) -> STRING',
    ),
    Construct(
        "expr",
        "bytes constant",
        "return op.Identity(b'abc')",
        signature='(X: FLOAT["N"]) -> STRING',
    ),
    Construct(
        "expr", "f-string", "return op.Identity(f'a{G_INT}')", signature='(X: FLOAT["N"]) -> STRING'
    ),
    Construct(
        "expr",
        "complex constant 1j",
        "return op.Identity(1j)",
        signature='(X: FLOAT["N"])',
        refused=["unsupported-expression"],
        peer="the imaginary part is lost or the type is none of the input's",
    ),
    Construct(
        "expr", "big int constant 2**40", "return op.Cast(op.Identity(1099511627776), to=1) + X"
    ),
    Construct(
        "expr",
        "int constant beyond int64",
        "return op.Cast(op.Identity(36893488147419103232), to=1) + X",
        refused=["lossy-literal"],
    ),
    Construct(
        "expr",
        "float('inf') call constant",
        "return X + float('inf')",
        peer="the call becomes a node of that name",
    ),
    Construct("expr", "math.pi (attribute constant)", "return X + math.pi"),
    Construct("expr", "np.float32(2) in expr", "return X + np.float32(2.0)"),
    Construct("expr", "Ellipsis const", "return X + ...", refused=["unsupported-operand"]),
    Construct("expr", "None as expression value", "y = None\nreturn X"),
    Construct(
        "expr",
        "starred call args",
        "a = [1]\nreturn op.Concat(*a, axis=0)",
        refused=["axis-out-of-range", "return-type-mismatch"],
    ),
    Construct("expr", "double-star kwargs", "return op.Concat(X, **{'axis': 0})"),
    Construct("expr", "nested call", "return op.Abs(op.Neg(op.Abs(X)))"),
    Construct(
        "expr", "method call on tensor X.sum()", "return X.sum()", refused=["unknown-member"]
    ),
    Construct("expr", "attribute on tensor X.shape", "y = X.shape\nreturn X"),
    Construct("expr", "attribute on global object G_NP.shape", "return op.Reshape(X, G_NP.shape)"),
    # --- Closures
    Construct("closure", "global int as tensor", "return X + G_INT"),
    Construct("closure", "global float as tensor", "return X * G_FLOAT"),
    Construct(
        "closure",
        "global list as tensor",
        "return op.ReduceSum(X, G_LIST)",
        signature='(X: FLOAT["N","M","K"])',
    ),
    Construct("closure", "global np.ndarray as tensor", "return X + G_NP"),
    Construct("closure", "global TensorProto as tensor", "return X + TP"),
    Construct(
        "closure", "global None as tensor", "return X + G_NONE", refused=["unsupported-operand"]
    ),
    Construct(
        "closure",
        "global string as tensor",
        "return op.Identity(G_STR)",
        signature='(X: FLOAT["N"]) -> STRING',
    ),
    Construct(
        "closure",
        "global dict as tensor",
        "return X + GD",
        before='GD = {"a": 1}\n',
        refused=["unsupported-operand"],
    ),
    Construct(
        "closure",
        "global bool as attribute",
        "return op.ReduceSum(X, keepdims=G_TRUE)",
        signature='(X: FLOAT["N"]) -> FLOAT[1]',
    ),
    Construct(
        "closure", "undefined name", "return op.Mul(undefined_name, X)", refused=["unknown-name"]
    ),
    Construct(
        "closure",
        "undefined name inside constant expr",
        "return X + (undefined_name + 1.0)",
        refused=["unknown-name"],
    ),
    Construct(
        "closure",
        "undefined name in attribute expr",
        "return op.Concat(X, axis=undefined_name + 1)",
        refused=["unknown-name"],
    ),
    Construct(
        "closure",
        "closure variable (def in def)",
        "",
        source="""
            def make(k):
                @script(default_opset=op)
                def f(X: FLOAT["N"]) -> FLOAT["N"]:
                    return X + k
                return f

            f = make(2.0)
            """,
    ),
    Construct(
        "closure",
        "closure flag (traced if)",
        "",
        source="""
            def make(flag):
                @script(default_opset=op)
                def f(X: FLOAT["N"]) -> FLOAT["N"]:
                    if flag:
                        y = op.Abs(X)
                    else:
                        y = op.Neg(X)
                    return y
                return f

            f = make(True)
            """,
    ),
    Construct(
        "closure",
        "closure variable assigned after decoration",
        "",
        source="""
            def make():
                @script(default_opset=op)
                def f(X: FLOAT["N"]) -> FLOAT["N"]:
                    return X + k

                k = 2.0
                return f

            f = make()
            """,
    ),
    Construct(
        "closure", "assignment to a name that is also global", "G_INT = op.Abs(X)\nreturn G_INT"
    ),
    Construct(
        "closure",
        "global shadowed by parameter",
        "return G_INT + 1.0",
        signature='(G_INT: FLOAT["N"]) -> FLOAT["N"]',
    ),
    # --- Calls
    Construct("call", "call op positional", "return op.Add(X, X)"),
    Construct("call", "call op inputs by keyword", "return op.Add(A=X, B=X)"),
    Construct(
        "call",
        "call op unknown keyword",
        "return op.Add(X, X, foo=1)",
        refused=["unknown-attribute"],
    ),
    Construct(
        "call",
        "call op too many positional",
        "return op.Abs(X, X)",
        refused=["too-many-inputs"],
        peer="it drops what is too much",
    ),
    Construct("call", "call op too few inputs", "return op.Add(X)", refused=["too-few-inputs"]),
    Construct(
        "call",
        "call op attribute positional (after inputs)",
        "return op.ReduceSum(X, None, 0)",
        signature='(X: FLOAT["N"]) -> FLOAT',
        refused=["too-many-inputs"],
        peer="it drops what is too much",
    ),
    Construct("call", "call op None middle input", "return op.Clip(X, None, 2.0)"),
    Construct("call", "call op None trailing input", "return op.Clip(X, 1.0, None)"),
    Construct(
        "call",
        "call op unknown op name in std domain",
        "return op.DoesNotExist(X)",
        refused=["unknown-operator"],
        peer="it checks no operator names",
    ),
    Construct(
        "call",
        "call custom-domain op without schema",
        "return custom.MyOp(X, X, alpha=1.0)",
        runs=False,
    ),
    Construct(
        "call",
        "call op via module onnxscript.opset18",
        "return onnxscript.opset18.Abs(X)",
        before="import onnxscript\n",
    ),
    Construct(
        "call",
        "two distinct std opsets",
        "y = op.Abs(X)\nreturn op17.Neg(y)",
        before="from onnxscript import opset17 as op17\n",
        refused=["opset-conflict"],
    ),
    Construct(
        "call",
        "default_opset vs used opset differ",
        "return op17.Neg(X)",
        before="from onnxscript import opset17 as op17\n",
    ),
    Construct(
        "call",
        "bare function name that is an ONNX op (Abs)",
        "return Abs(X)",
        refused=["unknown-name"],
        peer="the call becomes a node of that name",
    ),
    Construct(
        "call",
        "bare unknown function name",
        "return Foo(X)",
        refused=["unknown-name"],
        peer="the call becomes a node of that name",
    ),
    Construct("call", "call a @script function", "return sub(X, X)"),
    Construct("call", "call a @script function, attr kw", "return sub(X, X, alpha=3.0)"),
    Construct("call", "call a @script function, attr positional", "return sub(X, X, 3.0)"),
    Construct(
        "call", "call a @script function, inputs by kw out of order", "return sub(B=X, A=X + 1.0)"
    ),
    Construct(
        "call",
        "call a @script function, missing input",
        "return sub(X)",
        refused=["argument-mismatch"],
    ),
    Construct(
        "call",
        "call a @script function, extra arg",
        "return sub(X, X, 3.0, 4.0)",
        refused=["argument-mismatch"],
        peer="it drops what is too much",
    ),
    Construct(
        "call",
        "call a @script function, unknown kw",
        "return sub(X, X, beta=3.0)",
        refused=["argument-mismatch"],
    ),
    Construct(
        "call",
        "call a plain python function",
        "return pyf(X)",
        before="""
            def pyf(a):
                return a * 2.0

            """,
    ),
    Construct(
        "call",
        "call a python builtin (len)",
        "return X + len(G_LIST)",
        peer="the call becomes a node of that name",
    ),
    Construct(
        "call", "call abs() builtin", "return abs(X)", peer="the call becomes a node of that name"
    ),
    Construct(
        "call",
        "call max() builtin",
        "return max(X, X)",
        inputs={"X": np.array([5.0], np.float32)},
        peer="the call becomes a node of that name",
    ),
    Construct("call", "call numpy function on constants", "return X + np.sqrt(4.0)"),
    Construct(
        "call", "call numpy function on tensor", "return np.abs(X)", refused=["static-error"]
    ),
    Construct("call", "call a call result", "return (op.Abs)(X)"),
    Construct("call", "call a subscript", "return G_LIST[0](X)", refused=["not-callable"]),
    Construct(
        "call",
        "recursive call",
        "return f(X)",
        refused=["recursive-script"],
        peer="the call becomes a node of that name",
    ),
    Construct(
        "call",
        "function used before definition",
        "",
        source="""
            @script(default_opset=op)
            def f(X: FLOAT["N"]) -> FLOAT["N"]:
                return later(X)

            @script(default_opset=op)
            def later(A):
                return op.Abs(A)
            """,
        peer="the call becomes a node of that name",
    ),
    Construct(
        "call",
        "calling TracedOnnxFunction",
        "",
        source="""
            def traced(A):
                return op.Abs(A)

            tr = values.TracedOnnxFunction(values.Opset("mine", 1), traced)

            @script(default_opset=op)
            def f(X: FLOAT["N"]) -> FLOAT["N"]:
                return tr(X)
            """,
        peer="the model imports no version of the function's domain",
    ),
    Construct("call", "variadic op inputs", "return op.Max(X, X, X)"),
    Construct(
        "call",
        "op with variadic outputs (Split) 3 targets",
        "a, b, c = op.Split(X, num_outputs=3)\nreturn a + b + c",
        signature="(X: FLOAT[3]) -> FLOAT[1]",
    ),
    Construct(
        "call",
        "multi-output op used as single",
        "return op.TopK(X, [1])",
        signature='(X: FLOAT["N"])',
        peer="it checks no number of results",
    ),
    Construct(
        "call",
        "multi-output op in nested expr",
        "return op.Abs(op.TopK(X, [1]))",
        signature='(X: FLOAT["N"])',
        refused=["type-mismatch"],
        peer="it checks no number of results",
    ),
    Construct(
        "call",
        "more targets than outputs",
        "a, b = op.Abs(X)\nreturn a",
        refused=["result-count"],
        peer="it checks no number of results",
    ),
    Construct(
        "call",
        "fewer targets than outputs, 1-tuple",
        "a, = op.TopK(X, [1])\nreturn a",
        signature='(X: FLOAT["N"]) -> FLOAT[1]',
        refused=["result-count"],
        peer="it checks no number of results",
    ),
    Construct(
        "call",
        "underscore target twice",
        """
            a, _ = op.TopK(X, [1])
            b, _ = op.TopK(X, [1])
            return a + b
            """,
        signature='(X: FLOAT["N"]) -> FLOAT[1]',
    ),
    # --- Attributes
    Construct(
        "attr",
        "attr int/float/str/ints literals",
        "return custom.Op(X, a=1, b=1.5, c='s', d=[1, 2], e=[1.0, 2.0], f=['a', 'b'])",
        runs=False,
    ),
    Construct("attr", "attr negative int", "return op.Softmax(X, axis=-1)"),
    Construct("attr", "attr constant expr (1 + 1)", "return op.Cast(X, to=3 - 2)"),
    Construct("attr", "attr from module attribute", "return op.Cast(X, to=TensorProto.FLOAT)"),
    Construct("attr", "attr FLOAT.dtype", "return op.Cast(X, to=FLOAT.dtype)"),
    Construct(
        "attr",
        "attr from global name",
        "return op.Transpose(op.Reshape(X, [1, -1]), perm=GP)",
        signature='(X: FLOAT["N"]) -> FLOAT["N", 1]',
    ),
    Construct(
        "attr",
        "attr from global subscript",
        "return op.Softmax(X, axis=GP[0])",
        refused=["axis-out-of-range"],
        peer="the node fails when it runs",
    ),
    Construct(
        "attr",
        "attr tuple value",
        "return op.Transpose(op.Reshape(X, [1, -1]), perm=(1, 0))",
        signature='(X: FLOAT["N"]) -> FLOAT["N", 1]',
    ),
    Construct(
        "attr",
        "attr None omitted",
        "return op11.Squeeze(X, axes=None)",
        signature="(X: FLOAT[1]) -> FLOAT",
        before="from onnxscript import opset11 as op11\n",
    ),
    Construct(
        "attr",
        "required attr missing",
        "return op.Cast(X)",
        refused=["missing-attribute"],
        peer="the node fails when it runs",
    ),
    Construct(
        "attr", "required attr = None", "return op.Cast(X, to=None)", refused=["missing-attribute"]
    ),
    Construct(
        "attr",
        "attr wrong type (str for int)",
        "return op.Cast(X, to='FLOAT')",
        refused=["attribute-type"],
    ),
    Construct(
        "attr",
        "attr wrong type (float for int)",
        "return op.Softmax(X, axis=1.5)",
        refused=["attribute-type"],
        peer="the node fails when it runs",
    ),
    Construct(
        "attr",
        "attr from tensor variable",
        "n = op.Constant(value_int=0)\nreturn op.Softmax(X, axis=n)",
        refused=["static-required"],
    ),
    Construct(
        "attr",
        "attr from input parameter",
        "return op.Softmax(X, axis=n)",
        signature='(X: FLOAT["N"], n: INT64) -> FLOAT["N"]',
        refused=["static-required"],
    ),
    Construct(
        "attr",
        "attr from comprehension/lambda",
        "return op.Transpose(op.Reshape(X, [1, -1]), perm=[i for i in (1, 0)])",
        signature='(X: FLOAT["N"]) -> FLOAT["N", 1]',
    ),
    Construct("attr", "attr f-string", "return custom.Op(X, name=f'v{G_INT}')", runs=False),
    Construct("attr", "attr ternary constant", "return op.Softmax(X, axis=0 if G_TRUE else 1)"),
    Construct(
        "attr",
        "attr TensorProto",
        "return X + op.Constant(value=make_tensor('t', TensorProto.FLOAT, [1], [2.0]))",
    ),
    Construct("attr", "attr tensor from python scalar", "return X + op.Constant(value=2.0)"),
    Construct("attr", "attr tensor from list", "return X + op.Constant(value=[2.0, 3.0, 4.0])"),
    Construct("attr", "attr tensor from np array", "return X + op.Constant(value=G_NP)"),
    Construct(
        "attr",
        "Constant(value_ints=[])",
        "return op.Reshape(X, op.Constant(value_ints=[]))",
        signature="(X: FLOAT[1]) -> FLOAT",
    ),
    Construct(
        "attr",
        "bool attr value",
        "return op.ReduceSum(X, keepdims=False)",
        signature='(X: FLOAT["N"]) -> FLOAT',
    ),
    Construct("attr", "empty list attr without schema", "return custom.Op(X, a=[])", runs=False),
    Construct(
        "attr",
        "attr dict value",
        "return custom.Op(X, a={})",
        refused=["attribute-type"],
        runs=False,
    ),
    # --- Attribute parameters
    Construct(
        "attrparam",
        "attr parameter: int (as op attr)",
        "return custom.Op(X, a=k)",
        signature='(X: FLOAT["N"], k: int)',
        runs=False,
    ),
    Construct(
        "attrparam",
        "attr parameter: float (as op attr)",
        "return custom.Op(X, a=k)",
        signature='(X: FLOAT["N"], k: float)',
        runs=False,
    ),
    Construct(
        "attrparam",
        "attr parameter: str (as op attr)",
        "return custom.Op(X, a=k)",
        signature='(X: FLOAT["N"], k: str)',
        runs=False,
    ),
    Construct(
        "attrparam",
        "attr parameter: bool (as op attr)",
        "return custom.Op(X, a=k)",
        signature='(X: FLOAT["N"], k: bool)',
        runs=False,
    ),
    Construct(
        "attrparam",
        "attr parameter: List[int] (as op attr)",
        "return custom.Op(X, a=k)",
        signature='(X: FLOAT["N"], k: List[int])',
        runs=False,
    ),
    Construct(
        "attrparam",
        "attr parameter: Sequence[int] (as op attr)",
        "return custom.Op(X, a=k)",
        signature='(X: FLOAT["N"], k: Sequence[int])',
        runs=False,
    ),
    Construct(
        "attrparam",
        "attr parameter: Sequence[float] (as op attr)",
        "return custom.Op(X, a=k)",
        signature='(X: FLOAT["N"], k: Sequence[float])',
        runs=False,
    ),
    Construct(
        "attrparam",
        "attr parameter: List[str] (as op attr)",
        "return custom.Op(X, a=k)",
        signature='(X: FLOAT["N"], k: List[str])',
        runs=False,
    ),
    Construct(
        "attrparam",
        "attr parameter: List[bool] (as op attr)",
        "return custom.Op(X, a=k)",
        signature='(X: FLOAT["N"], k: List[bool])',
        runs=False,
    ),
    Construct(
        "attrparam",
        "attr parameter: Optional[int] (as op attr)",
        "return custom.Op(X, a=k)",
        signature='(X: FLOAT["N"], k: Optional[int])',
        runs=False,
    ),
    Construct(
        "attrparam",
        "attr parameter: Optional[float] (as op attr)",
        "return custom.Op(X, a=k)",
        signature='(X: FLOAT["N"], k: Optional[float])',
        runs=False,
    ),
    Construct(
        "attrparam",
        "attr parameter: list[int] (as op attr)",
        "return custom.Op(X, a=k)",
        signature='(X: FLOAT["N"], k: list[int])',
        runs=False,
    ),
    Construct(
        "attrparam",
        "attr parameter: tuple[int, ...] (as op attr)",
        "return custom.Op(X, a=k)",
        signature='(X: FLOAT["N"], k: tuple[int, ...])',
        runs=False,
    ),
    Construct(
        "attrparam",
        "attr parameter: Tuple[int] (as op attr)",
        "return custom.Op(X, a=k)",
        signature='(X: FLOAT["N"], k: Tuple[int])',
        runs=False,
    ),
    Construct(
        "attrparam",
        "attr parameter: Union[int, float] (as op attr)",
        "return custom.Op(X, a=k)",
        signature='(X: FLOAT["N"], k: Union[int, float])',
        refused=["unknown-annotation", "static-required"],
        runs=False,
    ),
    Construct(
        "attrparam",
        "attr parameter: np.ndarray (as op attr)",
        "return custom.Op(X, a=k)",
        signature='(X: FLOAT["N"], k: np.ndarray)',
        runs=False,
    ),
    Construct(
        "attrparam",
        "attr parameter: onnx.TensorProto (as op attr)",
        "return custom.Op(X, a=k)",
        signature='(X: FLOAT["N"], k: onnx.TensorProto)',
        runs=False,
    ),
    Construct(
        "attrparam",
        "attr parameter: int (promoted to tensor)",
        "return op.Identity(k)",
        signature='(X: FLOAT["N"], k: int)',
    ),
    Construct(
        "attrparam",
        "attr parameter: float (promoted to tensor)",
        "return op.Identity(k)",
        signature='(X: FLOAT["N"], k: float)',
    ),
    Construct(
        "attrparam",
        "attr parameter: str (promoted to tensor)",
        "return op.Identity(k)",
        signature='(X: FLOAT["N"], k: str)',
    ),
    Construct(
        "attrparam",
        "attr parameter: bool (promoted to tensor)",
        "return op.Identity(k)",
        signature='(X: FLOAT["N"], k: bool)',
    ),
    Construct(
        "attrparam",
        "attr parameter: List[int] (promoted to tensor)",
        "return op.Identity(k)",
        signature='(X: FLOAT["N"], k: List[int])',
    ),
    Construct(
        "attrparam",
        "attr parameter: Sequence[float] (promoted to tensor)",
        "return op.Identity(k)",
        signature='(X: FLOAT["N"], k: Sequence[float])',
    ),
    Construct(
        "attrparam",
        "attr parameter: List[str] (promoted to tensor)",
        "return op.Identity(k)",
        signature='(X: FLOAT["N"], k: List[str])',
    ),
    Construct(
        "attrparam",
        "attr parameter: List[bool] (promoted to tensor)",
        "return op.Identity(k)",
        signature='(X: FLOAT["N"], k: List[bool])',
    ),
    Construct(
        "attrparam",
        "attr parameter: Optional[int] (promoted to tensor)",
        "return op.Identity(k)",
        signature='(X: FLOAT["N"], k: Optional[int])',
    ),
    Construct(
        "attrparam",
        "attr param default",
        "return X * k",
        signature='(X: FLOAT["N"], k: float = 2.0) -> FLOAT["N"]',
        peer="it drops the default of an attribute",
    ),
    Construct(
        "attrparam",
        "attr param default None",
        "return op.Softmax(X, axis=k)",
        signature='(X: FLOAT["N"], k: Optional[int] = None)',
    ),
    Construct(
        "attrparam",
        "attr param wrong type passed on",
        "return op.Softmax(X, axis=k)",
        signature='(X: FLOAT["N"], k: float)',
        refused=["attribute-type"],
    ),
    Construct(
        "attrparam",
        "attr param arithmetic k + 1 (tensor)",
        "return op.Reshape(X, op.Reshape(k - 2, [1]))",
        signature='(X: FLOAT["N"], k: int = 1)',
        peer="it drops the default of an attribute",
    ),
    Construct(
        "attrparam",
        "attr param in attr expression k + 1",
        "return op.Softmax(X, axis=k + 1)",
        signature='(X: FLOAT["N"], k: int)',
        refused=["static-required"],
    ),
    Construct(
        "attrparam",
        "attr param reassigned",
        "k = k + 1\nreturn X * op.CastLike(k, X)",
        signature='(X: FLOAT["N"], k: int = 1)',
        peer="it drops the default of an attribute",
    ),
    Construct(
        "attrparam",
        "attr param before input",
        "return X * k",
        signature='(k: float, X: FLOAT["N"])',
    ),
    Construct(
        "attrparam",
        "model from required attr",
        "return X * k",
        signature='(X: FLOAT["N"], k: float)',
    ),
    # --- Signatures
    Construct("signature", "untyped params", "return A + B", signature="(A, B)"),
    Construct("signature", "no params", "return op.Constant(value_float=1.0)", signature="()"),
    Construct(
        "signature",
        "default None on input",
        "return op.Clip(X, lo)",
        signature='(X: FLOAT["N"], lo: FLOAT = None)',
        peer="it drops the default of an input",
    ),
    Construct(
        "signature",
        "default tensor value on input",
        "return X + b",
        signature="(X, b=1.0)",
        inputs={"b": np.array([3.0], np.float32)},
    ),
    Construct(
        "signature",
        "*args",
        "return g(X, X + 1.0)",
        before="""
            @script(default_opset=op)
            def g(*xs):
                return op.Max(*xs)

            """,
    ),
    Construct(
        "signature",
        "*args unused",
        "return g(X, X)",
        before="""
            @script(default_opset=op)
            def g(X, *xs):
                return X

            """,
        peer="an input that nothing names",
    ),
    Construct(
        "signature",
        "**kwargs",
        "return X + 1.0",
        signature="(X, **kw)",
        refused=["unsupported-statement"],
        peer="it drops the parameter",
    ),
    Construct("signature", "keyword-only params", "return X + b", signature="(X, *, b)"),
    Construct(
        "signature",
        "keyword-only attr",
        "return X * k",
        signature="(X, *, k: float = 2.0)",
        attributes={"k": 3.0},
    ),
    Construct("signature", "positional-only params", "return X + b", signature="(X, b, /)"),
    Construct(
        "signature",
        "annotation Optional[FLOAT]",
        "return op.Clip(X, lo)",
        signature='(X: FLOAT["N"], lo: Optional[FLOAT] = None)',
        peer="an optional input has no type",
    ),
    Construct(
        "signature",
        "annotation Sequence[FLOAT]",
        "return op.ConcatFromSequence(xs, axis=0)",
        signature="(xs: Sequence[FLOAT[...]])",
        peer="an annotation that is not a tensor type gives none",
    ),
    Construct(
        "signature",
        "annotation Union of tensors",
        "return op.Abs(X)",
        signature='(X: Union[FLOAT["N"], INT32["N"]])',
    ),
    Construct(
        "signature",
        "annotation TypeVar bound",
        "return op.Abs(X)",
        signature="(X: T) -> T",
        before='T = TypeVar("T", bound=FLOAT)\n',
    ),
    Construct(
        "signature",
        "annotation TypeVar constrained",
        "return op.Abs(X)",
        signature="(X: T) -> T",
        before='T = TypeVar("T", FLOAT, INT64)\n',
    ),
    Construct("signature", "annotation unknown class", "return op.Abs(X)", signature="(X: dict)"),
    Construct(
        "signature",
        "annotation np.ndarray",
        "return op.Abs(X)",
        signature="(X: np.ndarray)",
        runs=False,
    ),
    Construct(
        "signature",
        "annotation as string (forward ref)",
        "return op.Abs(X)",
        signature="(X: \"FLOAT['N']\") -> \"FLOAT['N']\"",
        peer="an annotation that is not a tensor type gives none",
    ),
    Construct(
        "signature",
        "annotation undefined name",
        "return op.Abs(X)",
        signature="(X: NOPE)",
        refused=["unknown-name"],
    ),
    Construct(
        "signature",
        "annotation FLOAT[10][20]",
        "return op.Abs(X)",
        signature="(X: FLOAT[10][20])",
        refused=["invalid-annotation"],
    ),
    Construct(
        "signature",
        "annotation FLOAT[...] / FLOAT[None] / FLOAT",
        "return X + Y + Z",
        signature="(X: FLOAT[...], Y: FLOAT[None], Z: FLOAT) -> FLOAT[...]",
    ),
    Construct(
        "signature",
        "return annotation invalid",
        "return op.Abs(X)",
        signature='(X: FLOAT["N"]) -> dict',
    ),
    Construct(
        "signature",
        "return annotation tuple of 1",
        "return op.Abs(X)",
        signature='(X: FLOAT["N"]) -> (FLOAT["N"],)',
    ),
    Construct(
        "signature",
        "from __future__ import annotations",
        "",
        source="""
            from __future__ import annotations

            from onnxscript import FLOAT, script, opset18 as op

            @script(default_opset=op)
            def f(X: FLOAT[3]) -> FLOAT[3]:
                return X + 1.0
            """,
    ),
    # --- Decorators
    Construct(
        "decorator",
        "@script without parentheses",
        "",
        source="""
            @script
            def f(X: FLOAT["N"]) -> FLOAT["N"]:
                return op.Abs(X)
            """,
    ),
    Construct(
        "decorator",
        "@script(opset)",
        "",
        source="""
            @script(values.Opset("mine", 1))
            def f(X: FLOAT["N"]) -> FLOAT["N"]:
                return op.Abs(X)
            """,
    ),
    Construct(
        "decorator",
        "@script(default_opset) needed: only operators",
        "",
        source="""
            @script()
            def f(X: FLOAT["N"]) -> FLOAT["N"]:
                return X + 1.0
            """,
    ),
    Construct(
        "decorator",
        "@script(non-opset)",
        "",
        source="""
            @script(5)
            def f(X: FLOAT["N"]) -> FLOAT["N"]:
                return op.Abs(X)
            """,
        refused=["TypeError"],
    ),
    Construct(
        "decorator",
        "@script with ModelProto kwargs",
        "",
        source="""
            @script(producer_name="mine", ir_version=9)
            def f(X: FLOAT["N"]) -> FLOAT["N"]:
                return op.Abs(X)
            """,
    ),
    Construct(
        "decorator",
        "stacked decorators",
        "",
        source="""
            def other(function):
                return function

            @other
            @script()
            def f(X: FLOAT["N"]) -> FLOAT["N"]:
                return op.Abs(X)
            """,
    ),
    Construct(
        "decorator",
        "script() applied to a lambda",
        "",
        source="f = script(default_opset=op)(lambda X: X + 1.0)",
        refused=["TypeError"],
    ),
    Construct(
        "decorator",
        "script() applied as a function",
        "",
        source="""
            def g(X: FLOAT["N"]) -> FLOAT["N"]:
                return op.Abs(X)

            f = script()(g)
            """,
    ),
    Construct(
        "decorator",
        "source unavailable (exec)",
        "",
        source="""
            ns = dict(op=op)
            exec("def g(X):\\n    return op.Abs(X)", ns)
            f = script()(ns["g"])
            """,
        refused=["OSError"],
    ),
    Construct(
        "decorator",
        "method in class",
        "",
        source="""
            class A:
                @script(default_opset=op)
                def f(self, X):
                    return self + X

            f = A.f
            """,
    ),
    Construct(
        "decorator",
        "script on a class",
        "",
        source="""
            @script()
            class f:
                pass
            """,
        refused=["TypeError"],
    ),
    # --- Nested functions
    Construct(
        "nested",
        "@graph nested function + Scan",
        """
            @graph()
            def body(s, nx):
                t = s + nx
                return t, op.Identity(t)
            z = op.Constant(value_int=0)
            _, r = op.Scan(z, X, body=body, num_scan_inputs=1)
            return r
            """,
        signature='(X: INT64["N"]) -> INT64["N"]',
    ),
    Construct(
        "nested",
        "nested function without @graph",
        """
            def body(s, nx):
                t = s + nx
                return t, op.Identity(t)
            z = op.Constant(value_int=0)
            _, r = op.Scan(z, X, body=body, num_scan_inputs=1)
            return r
            """,
        signature='(X: INT64["N"]) -> INT64["N"]',
    ),
    Construct(
        "nested",
        "nested function uses outer variable",
        """
            k = X * 2
            @graph()
            def body(s, nx):
                t = s + nx + k
                return t, op.Identity(nx)
            z = op.Constant(value_ints=[0])
            _, r = op.Scan(op.Expand(z, op.Shape(X)), X, body=body, num_scan_inputs=1)
            return r
            """,
        signature='(X: INT64["N"]) -> INT64["N"]',
    ),
    Construct(
        "nested",
        "outer variable modified between def and use",
        """
            k = op.ReduceSum(X * 2, keepdims=0)
            @graph()
            def body(s, nx):
                t = s + nx + k
                return t, op.Identity(t)
            k = op.ReduceSum(X * 3, keepdims=0)
            z = op.Constant(value_int=0)
            _, r = op.Scan(z, X, body=body, num_scan_inputs=1)
            return r
            """,
        signature='(X: INT64["N"]) -> INT64["N"]',
    ),
    Construct(
        "nested",
        "nested function called directly",
        """
            @graph()
            def body(s):
                return s + 1
            return body(X)
            """,
        signature='(X: INT64["N"]) -> INT64["N"]',
    ),
    Construct(
        "nested",
        "nested function in nested function",
        """
            @graph()
            def outer(s, nx):
                @graph()
                def inner(a, b):
                    c = a + b
                    return c, op.Identity(c)
                q, w = op.Scan(s, op.Unsqueeze(nx, [0]), body=inner, num_scan_inputs=1)
                return q, op.Squeeze(w, [0])
            z = op.Constant(value_int=0)
            _, r = op.Scan(z, X, body=outer, num_scan_inputs=1)
            return r
            """,
        signature='(X: INT64["N"]) -> INT64["N"]',
    ),
    Construct(
        "nested",
        "nested function unused",
        """
            @graph()
            def body(s):
                return s + 1
            return op.Abs(X)
            """,
        signature='(X: INT64["N"]) -> INT64["N"]',
    ),
    Construct(
        "nested",
        "nested function for If branches (0 params)",
        """
            @graph()
            def t():
                return X + 1
            @graph()
            def e():
                return X - 1
            return op.If(c, then_branch=t, else_branch=e)
            """,
        signature='(X: INT64["N"], c: BOOL) -> INT64["N"]',
    ),
    Construct(
        "nested",
        "nested function inside if-block",
        """
            y = X
            if c:
                @graph()
                def body(s, nx):
                    t = s + nx
                    return t, op.Identity(t)
                z = op.Constant(value_int=0)
                _, y = op.Scan(z, X, body=body, num_scan_inputs=1)
            return y
            """,
        signature='(X: INT64["N"], c: BOOL) -> INT64["N"]',
    ),
    Construct(
        "nested",
        "if/for inside nested function",
        """
            @graph()
            def body(s, nx):
                t = s + nx
                if op.ReduceSum(t, keepdims=0) > 2:
                    t = t + 1
                return t, op.Identity(t)
            z = op.Constant(value_int=0)
            _, r = op.Scan(z, X, body=body, num_scan_inputs=1)
            return r
            """,
        signature='(X: INT64["N"]) -> INT64["N"]',
    ),
    Construct(
        "nested",
        "global @script function as graph attribute",
        """
            z = op.Constant(value_int=0)
            _, r = op.Scan(z, X, body=body, num_scan_inputs=1)
            return r
            """,
        signature='(X: INT64["N"]) -> INT64["N"]',
        before="""
            @script(default_opset=op)
            def body(s, nx):
                t = s + nx
                return t, op.Identity(t)

            """,
        refused=["attribute-type"],
    ),
    Construct(
        "nested",
        "@graph at module level",
        "",
        source="""
            @graph()
            def f(X):
                return op.Abs(X)
            """,
        refused=["AttributeError"],
    ),
    # --- Subscripts
    Construct(
        "subscript",
        "X[0]",
        "return X[0]",
        signature='(X: FLOAT["N","M"]) -> FLOAT[...]',
        result="X[0]",
    ),
    Construct(
        "subscript",
        "X[-1]",
        "return X[-1]",
        signature='(X: FLOAT["N","M"]) -> FLOAT[...]',
        result="X[-1]",
    ),
    Construct(
        "subscript",
        "X[1:2]",
        "return X[1:2]",
        signature='(X: FLOAT["N","M"]) -> FLOAT[...]',
        result="X[1:2]",
    ),
    Construct(
        "subscript",
        "X[1:]",
        "return X[1:]",
        signature='(X: FLOAT["N","M"]) -> FLOAT[...]',
        result="X[1:]",
    ),
    Construct(
        "subscript",
        "X[:2]",
        "return X[:2]",
        signature='(X: FLOAT["N","M"]) -> FLOAT[...]',
        result="X[:2]",
    ),
    Construct(
        "subscript",
        "X[:-1]",
        "return X[:-1]",
        signature='(X: FLOAT["N","M"]) -> FLOAT[...]',
        result="X[:-1]",
    ),
    Construct(
        "subscript",
        "X[::2]",
        "return X[::2]",
        signature='(X: FLOAT["N","M"]) -> FLOAT[...]',
        result="X[::2]",
    ),
    Construct(
        "subscript",
        "X[::-1]",
        "return X[::-1]",
        signature='(X: FLOAT["N","M"]) -> FLOAT[...]',
        result="X[::-1]",
    ),
    Construct(
        "subscript",
        "X[:0:-1]",
        "return X[:0:-1]",
        signature='(X: FLOAT["N","M"]) -> FLOAT[...]',
        result="X[:0:-1]",
    ),
    Construct(
        "subscript",
        "X[2:0:-1]",
        "return X[2:0:-1]",
        signature='(X: FLOAT["N","M"]) -> FLOAT[...]',
        result="X[2:0:-1]",
    ),
    Construct(
        "subscript",
        "X[1:-1]",
        "return X[1:-1]",
        signature='(X: FLOAT["N","M"]) -> FLOAT[...]',
        result="X[1:-1]",
    ),
    Construct(
        "subscript",
        "X[:]",
        "return X[:]",
        signature='(X: FLOAT["N","M"]) -> FLOAT[...]',
        result="X[:]",
    ),
    Construct(
        "subscript",
        "X[:, :]",
        "return X[:, :]",
        signature='(X: FLOAT["N","M"]) -> FLOAT[...]',
        result="X[:, :]",
    ),
    Construct(
        "subscript",
        "X[:, 1]",
        "return X[:, 1]",
        signature='(X: FLOAT["N","M"]) -> FLOAT[...]',
        result="X[:, 1]",
    ),
    Construct(
        "subscript",
        "X[1, 2]",
        "return X[1, 2]",
        signature='(X: FLOAT["N","M"]) -> FLOAT[...]',
        result="X[1, 2]",
    ),
    Construct(
        "subscript",
        "X[-1, 2]",
        "return X[-1, 2]",
        signature='(X: FLOAT["N","M"]) -> FLOAT[...]',
        result="X[-1, 2]",
        peer="a negative index beside another is an empty slice",
    ),
    Construct(
        "subscript",
        "X[-1, :]",
        "return X[-1, :]",
        signature='(X: FLOAT["N","M"]) -> FLOAT[...]',
        result="X[-1, :]",
    ),
    Construct(
        "subscript",
        "X[-1, 1:]",
        "return X[-1, 1:]",
        signature='(X: FLOAT["N","M"]) -> FLOAT[...]',
        result="X[-1, 1:]",
        peer="a negative index beside another is an empty slice",
    ),
    Construct(
        "subscript",
        "X[0, :0:-1]",
        "return X[0, :0:-1]",
        signature='(X: FLOAT["N","M"]) -> FLOAT[...]',
        result="X[0, :0:-1]",
    ),
    Construct(
        "subscript",
        "X[:2, 0]",
        "return X[:2, 0]",
        signature='(X: FLOAT["N","M"]) -> FLOAT[...]',
        result="X[:2, 0]",
    ),
    Construct(
        "subscript",
        "X[:2, :1]",
        "return X[:2, :1]",
        signature='(X: FLOAT["N","M"]) -> FLOAT[...]',
        result="X[:2, :1]",
    ),
    Construct(
        "subscript",
        "X[...]",
        "return X[...]",
        signature='(X: FLOAT["N","M"]) -> FLOAT[...]',
        result="X[...]",
    ),
    Construct(
        "subscript",
        "X[..., 0]",
        "return X[..., 0]",
        signature='(X: FLOAT["N","M"]) -> FLOAT[...]',
        result="X[..., 0]",
    ),
    Construct(
        "subscript",
        "X[None]",
        "return X[None]",
        signature='(X: FLOAT["N","M"]) -> FLOAT[...]',
        result="X[None]",
    ),
    Construct(
        "subscript",
        "X[0][1]",
        "return X[0][1]",
        signature='(X: FLOAT["N","M"]) -> FLOAT[...]',
        result="X[0][1]",
    ),
    Construct(
        "subscript",
        "X[[0, 2]]",
        "return X[[0, 2]]",
        signature='(X: FLOAT["N","M"]) -> FLOAT[...]',
        result="X[[0, 2]]",
    ),
    Construct(
        "subscript",
        "X[[0, 2], :]",
        "return X[[0, 2], :]",
        signature='(X: FLOAT["N","M"]) -> FLOAT[...]',
        result="X[[0, 2], :]",
    ),
    Construct(
        "subscript",
        "X[(0, 1)]",
        "return X[(0, 1)]",
        signature='(X: FLOAT["N","M"]) -> FLOAT[...]',
        result="X[(0, 1)]",
    ),
    Construct(
        "subscript",
        "X[True]",
        "return X[True]",
        signature='(X: FLOAT["N","M"]) -> FLOAT[...]',
        refused=["unsupported-operand"],
        peer="the node fails when it runs",
    ),
    Construct(
        "subscript",
        "X[1.5]",
        "return X[1.5]",
        signature='(X: FLOAT["N","M"]) -> FLOAT[...]',
        refused=["unsupported-operand"],
        peer="the node fails when it runs",
    ),
    Construct(
        "subscript",
        "X['a']",
        "return X['a']",
        signature='(X: FLOAT["N","M"]) -> FLOAT[...]',
        refused=["unsupported-operand"],
        peer="the node fails when it runs",
    ),
    Construct(
        "subscript",
        "X[G_INT]",
        "return X[G_INT]",
        signature='(X: FLOAT["N","M"]) -> FLOAT[...]',
        result="X[G_INT]",
    ),
    Construct(
        "subscript",
        "X[G_INT:]",
        "return X[G_INT:]",
        signature='(X: FLOAT["N","M"]) -> FLOAT[...]',
        result="X[G_INT:]",
    ),
    Construct(
        "subscript",
        "X[G_INT - 1]",
        "return X[G_INT - 1]",
        signature='(X: FLOAT["N","M"]) -> FLOAT[...]',
        result="X[G_INT - 1]",
    ),
    Construct(
        "subscript",
        "X[-G_INT]",
        "return X[-G_INT]",
        signature='(X: FLOAT["N","M"]) -> FLOAT[...]',
        result="X[-G_INT]",
    ),
    Construct(
        "subscript",
        "X[G_INT, 1]",
        "return X[G_INT, 1]",
        signature='(X: FLOAT["N","M"]) -> FLOAT[...]',
        result="X[G_INT, 1]",
        peer="the wrong axis",
    ),
    Construct(
        "subscript",
        "X[0:2, [1, 3]]",
        "return X[0:2, [1, 3]]",
        signature='(X: FLOAT["N","M"]) -> FLOAT[...]',
        result="X[0:2, [1, 3]]",
    ),
    Construct(
        "subscript",
        "X[1:3, op.Constant(value_int=1)]",
        "return X[1:3, op.Constant(value_int=1)]",
        signature='(X: FLOAT["N","M"]) -> FLOAT[...]',
    ),
    Construct(
        "subscript",
        "X[op.Constant(value_int=1)]",
        "return X[op.Constant(value_int=1)]",
        signature='(X: FLOAT["N","M"]) -> FLOAT[...]',
    ),
    Construct(
        "subscript",
        "X[op.Constant(value_ints=[0, 2])]",
        "return X[op.Constant(value_ints=[0, 2])]",
        signature='(X: FLOAT["N","M"]) -> FLOAT[...]',
    ),
    Construct(
        "subscript",
        "X[op.Constant(value_int=1):op.Constant(value_int=3)]",
        "return X[op.Constant(value_int=1):op.Constant(value_int=3)]",
        signature='(X: FLOAT["N","M"]) -> FLOAT[...]',
    ),
    Construct(
        "subscript",
        "X[::op.Constant(value_int=2)]",
        "return X[::op.Constant(value_int=2)]",
        signature='(X: FLOAT["N","M"]) -> FLOAT[...]',
    ),
    Construct(
        "subscript",
        "X[0:4:op.Constant(value_int=2)]",
        "return X[0:4:op.Constant(value_int=2)]",
        signature='(X: FLOAT["N","M"]) -> FLOAT[...]',
    ),
    Construct(
        "subscript",
        "X[op.Constant(value_int=1), op.Constant(value_int=2)]",
        "return X[op.Constant(value_int=1), op.Constant(value_int=2)]",
        signature='(X: FLOAT["N","M"]) -> FLOAT[...]',
        peer="the wrong axis",
    ),
    Construct(
        "subscript",
        "X[op.Constant(value_ints=[1]), op.Constant(value_ints=[2])]",
        "return X[op.Constant(value_ints=[1]), op.Constant(value_ints=[2])]",
        signature='(X: FLOAT["N","M"]) -> FLOAT[...]',
        peer="the wrong axis",
    ),
    Construct(
        "subscript",
        "X[X > 2.0]",
        "return X[X > 2.0]",
        signature='(X: FLOAT["N","M"]) -> FLOAT[...]',
        result="X[X > 2.0]",
        peer="the node fails when it runs",
    ),
    Construct(
        "subscript",
        "X[1:2:0]",
        "return X[1:2:0]",
        signature='(X: FLOAT["N","M"]) -> FLOAT[...]',
        refused=["unsupported-operand"],
        peer="the node fails when it runs",
    ),
    Construct(
        "subscript",
        "(X + 1.0)[0]",
        "return (X + 1.0)[0]",
        signature='(X: FLOAT["N","M"]) -> FLOAT[...]',
        result="(X + 1.0)[0]",
    ),
    Construct(
        "subscript",
        "op.Abs(X)[0]",
        "return op.Abs(X)[0]",
        signature='(X: FLOAT["N","M"]) -> FLOAT[...]',
    ),
    Construct(
        "subscript",
        "op.Shape(X)[-1]",
        "return op.Shape(X)[-1]",
        signature='(X: FLOAT["N","M"]) -> INT64[...]',
    ),
    Construct(
        "subscript",
        "X[1.0:2.0]",
        "return X[1.0:2.0]",
        signature='(X: FLOAT["N","M"]) -> FLOAT[...]',
        refused=["unsupported-operand"],
    ),
    Construct(
        "subscript",
        "X[slice(0, 2)]",
        "return X[slice(0, 2)]",
        signature='(X: FLOAT["N","M"]) -> FLOAT[...]',
        result="X[slice(0, 2)]",
        peer="the call becomes a node of that name",
    ),
    Construct(
        "subscript",
        "X[0, 0, 0]",
        "return X[0, 0, 0]",
        signature='(X: FLOAT["N","M"]) -> FLOAT[...]',
        refused=["unsupported-operand"],
        peer="the node fails when it runs",
    ),
    Construct(
        "subscript",
        "X[i] tensor scalar",
        "return X[i]",
        signature='(X: FLOAT["N","M"], i: INT64) -> FLOAT[...]',
        result="X[i]",
    ),
    Construct(
        "subscript",
        "X[i:i+2] tensor",
        "return X[i:i + 2]",
        signature='(X: FLOAT["N","M"], i: INT64) -> FLOAT[...]',
        result="X[i:i + 2]",
    ),
    Construct(
        "subscript",
        "X[i:i+2, j] mixed",
        "return X[i:i + 2, i]",
        signature='(X: FLOAT["N","M"], i: INT64) -> FLOAT[...]',
        result="X[i:i + 2, i]",
    ),
    Construct(
        "subscript",
        "X[i, 1:3] tensor then slice",
        "return X[i, 1:3]",
        signature='(X: FLOAT["N","M"], i: INT64) -> FLOAT[...]',
        result="X[i, 1:3]",
    ),
    Construct(
        "subscript",
        "X[i, j] two tensors",
        "return X[i, i]",
        signature='(X: FLOAT["N","M"], i: INT64) -> FLOAT[...]',
        result="X[i, i]",
        peer="the wrong axis",
    ),
    Construct(
        "subscript",
        "X[i, 0] tensor and const",
        "return X[i, 0]",
        signature='(X: FLOAT["N","M"], i: INT64) -> FLOAT[...]',
        result="X[i, 0]",
        peer="the wrong axis",
    ),
    Construct(
        "subscript",
        "X[-i] tensor neg",
        "return X[-i]",
        signature='(X: FLOAT["N","M"], i: INT64) -> FLOAT[...]',
        result="X[-i]",
    ),
    Construct(
        "subscript",
        "X[i:] tensor start",
        "return X[i:]",
        signature='(X: FLOAT["N","M"], i: INT64) -> FLOAT[...]',
        result="X[i:]",
    ),
    Construct(
        "subscript",
        "X[k] int attribute",
        "return X[k]",
        signature='(X: FLOAT["N","M"], k: int = 1)',
        result="X[1]",
        peer="it drops the default of an attribute",
    ),
    Construct(
        "subscript",
        "X[k:] int attribute",
        "return X[k:]",
        signature='(X: FLOAT["N","M"], k: int = 1)',
        result="X[1:]",
        peer="it drops the default of an attribute",
    ),
]
# Further forms, named by their text.
FORMS = [
    Construct(
        "assignment",
        "",
        """
            y: FLOAT["N"]
            y = -x
            return y
            """,
        '(x: FLOAT["N"])',
        result="-x",
    ),
    Construct(
        "assignment",
        "",
        """
            a, b = -x, x * 2.0
            a, b = b, a
            return a - b + a
            """,
        '(x: FLOAT["N"])',
        result="5 * x",
        peer="two assignments, one after the other",
    ),
    Construct("assignment", "", "[a, b] = x, -x\nreturn a - b", '(x: FLOAT["N"])', result="2 * x"),
    Construct(
        "assignment", "", "(a, _) = op.TopK(x, [1])\nreturn a", '(x: FLOAT["N"])', result="x[2:]"
    ),
    Construct(
        "assignment",
        "",
        """
            a, _ = op.TopK(x, [1])
            b, _ = op.TopK(-x, [1])
            return a + b
            """,
        '(x: FLOAT["N"])',
        result="x[2:] + 2",
    ),
    Construct(
        "assignment",
        "",
        "a, (b, c) = x, (x * 2.0, -x)\nreturn a + b * c",
        '(x: FLOAT["N"])',
        result="x - 2 * x * x",
    ),
    Construct(
        "assignment",
        "",
        "a, *b = x, x * 2.0, x * 3.0\nreturn a + b[0] * b[1]",
        '(x: FLOAT["N"])',
        result="x + 6 * x * x",
    ),
    Construct(
        "assignment",
        "",
        """
            t = x, -x
            a, b = t
            return a * b
            """,
        '(x: FLOAT["N"])',
        result="-x * x",
    ),
    Construct(
        "assignment",
        "",
        """
            x += 1.0
            x *= 2.0
            x -= 1.0
            x /= 2.0
            return x
            """,
        '(x: FLOAT["N"])',
        result="((x + 1) * 2 - 1) / 2",
    ),
    Construct(
        "assignment",
        "",
        """
            k //= 2
            k %= 3
            k **= 2
            return k
            """,
        '(k: INT64["N"])',
        result="(k // 2 % 3) ** 2",
    ),
    Construct(
        "assignment",
        "",
        """
            y = x
            del x
            return y
            """,
        '(x: FLOAT["N"])',
        result="x",
    ),
    Construct(
        "assignment",
        "",
        '''
            """doc"""
            pass
            "text"
            assert True
            print("v", 1)
            return x
            ''',
        '(x: FLOAT["N"])',
        result="x",
    ),
    Construct(
        "assignment",
        "",
        """
            x[0] = 1.0
            x[1:] += 2.0
            return x
            """,
        '(x: FLOAT["N"])',
        result="np.array([1, 0, 5.5], np.float32)",
    ),
    Construct("return", "", "return x, op.Neg(x)", '(x: FLOAT["N"])', result="(x, -x)"),
    Construct("return", "", "y = -x\nreturn y, y", '(x: FLOAT["N"])', result="(-x, -x)"),
    Construct("return", "", "return 1.0, x", '(x: FLOAT["N"])', result="(np.float32(1), x)"),
    Construct(
        "return",
        "",
        """
            if c:
                return x
            return -x
            """,
        '(x: FLOAT["N"], c: BOOL)',
        result="x",
    ),
    Construct(
        "return",
        "",
        """
            if d:
                return x
            elif c:
                return x * 2.0
            return -x
            """,
        '(x: FLOAT["N"], c: BOOL, d: BOOL)',
        result="2 * x",
    ),
    Construct(
        "branches",
        "",
        """
            if c:
                y = op.Abs(x)
            else:
                y = -x
            return y
            """,
        '(x: FLOAT["N"], c: BOOL)',
        result="np.abs(x)",
    ),
    Construct(
        "branches",
        "",
        """
            y = -x
            if d: y = op.Abs(x)
            return y
            """,
        '(x: FLOAT["N"], d: BOOL)',
        result="-x",
    ),
    Construct(
        "branches",
        "",
        """
            y = x
            if c:
                z = -x
                y = z
            return y
            """,
        '(x: FLOAT["N"], c: BOOL)',
        result="-x",
    ),
    Construct(
        "branches",
        "",
        """
            y = x
            if c:
                if not d:
                    y = -x
            return y
            """,
        '(x: FLOAT["N"], c: BOOL, d: BOOL)',
        result="-x",
    ),
    Construct(
        "branches",
        "",
        """
            if c:
                a, b = -x, x
            else:
                a, b = x, -x
            return a - b
            """,
        '(x: FLOAT["N"], c: BOOL)',
        result="-2 * x",
    ),
    Construct(
        "branches",
        "",
        "return x if c & d else -x",
        '(x: FLOAT["N"], c: BOOL, d: BOOL)',
        result="-x",
    ),
    Construct(
        "branches",
        "",
        "return x if c and not d else -x",
        '(x: FLOAT["N"], c: BOOL, d: BOOL)',
        result="x",
    ),
    Construct(
        "branches",
        "",
        "return x if c or d else -x",
        '(x: FLOAT["N"], c: BOOL, d: BOOL)',
        result="x",
    ),
    Construct(
        "branches", "", "return x if 0 < n <= 2 else -x", '(x: FLOAT["N"], n: INT64)', result="x"
    ),
    Construct(
        "branches",
        "",
        """
            if c:
                c = op.Not(c)
            return op.Where(c, x, x + 1.0)
            """,
        '(x: FLOAT["N"], c: BOOL)',
        result="x + 1",
    ),
    Construct(
        "branches",
        "",
        """
            if G_TRUE and not G_NONE:
                return -x
            return x
            """,
        '(x: FLOAT["N"])',
        result="-x",
    ),
    Construct(
        "branches",
        "",
        """
            if G_INT == 3 and 1 in GP and G_INT not in GP:
                return -x
            return x
            """,
        '(x: FLOAT["N"])',
        result="-x",
    ),
    Construct(
        "branches",
        "",
        """
            if op.ReduceSum(x) > 0.0:
                y = -x
            else:
                y = x
            return y
            """,
        '(x: FLOAT["N"])',
        result="-x",
    ),
    Construct(
        "loops",
        "",
        """
            s = x
            for i in range(G_INT):
                s = s + i
            return s
            """,
        '(x: FLOAT["N"])',
        result="x + 3",
        peer="the loop variable takes no part in mixed arithmetic",
    ),
    Construct(
        "loops",
        "",
        """
            s = x
            for i in range(2 * n + 1):
                s = s + x * i
            return s
            """,
        '(x: FLOAT["N"], n: INT64)',
        result="x + 10 * x",
        peer="the loop variable takes no part in mixed arithmetic",
    ),
    Construct(
        "loops",
        "",
        """
            s = x
            for i in range(6, n, -2):
                s = s + i
            return s
            """,
        '(x: FLOAT["N"], n: INT64)',
        result="x + 10",
    ),
    Construct(
        "loops",
        "",
        """
            s = 0.0
            for i in range(n):
                s = s + x
            return s
            """,
        '(x: FLOAT["N"], n: INT64)',
        result="2 * x",
    ),
    Construct(
        "loops",
        "",
        """
            for i in range(n):
                y = x + i
            return y
            """,
        '(x: FLOAT["N"], n: INT64)',
        result="x + 1",
    ),
    Construct(
        "loops",
        "",
        """
            for i in range(9):
                if i == n:
                    break
                x = -x
            return x, i
            """,
        '(x: FLOAT["N"], n: INT64)',
        result="(x, 2)",
    ),
    Construct(
        "loops",
        "",
        """
            for i in range(5):
                if i < n:
                    continue
                x = x + i
            return x
            """,
        '(x: FLOAT["N"], n: INT64)',
        result="x + 9",
    ),
    Construct(
        "loops",
        "",
        """
            for i in range(n):
                x = -x
            else:
                x = x + 1.0
            return x
            """,
        '(x: FLOAT["N"], n: INT64)',
        result="x + 1",
        peer="it drops the `else`",
    ),
    Construct(
        "loops",
        "",
        """
            while n < 5:
                n = n + 1
                x = x * 2.0
            return x
            """,
        '(x: FLOAT["N"], n: INT64)',
        result="x * 8",
    ),
    Construct(
        "loops",
        "",
        """
            while True:
                n += 3
                if n > 9:
                    return x, n
            """,
        '(x: FLOAT["N"], n: INT64)',
        result="(x, n + 9)",
    ),
    Construct(
        "loops",
        "",
        """
            s = m[0]
            for row in m:
                s = s + row
            return s
            """,
        '(m: FLOAT["R", "N"])',
        result="m[0] + m.sum(0)",
    ),
    Construct(
        "loops",
        "",
        """
            s = m[0]
            for j, row in enumerate(m):
                s += row * j
            return s
            """,
        '(m: FLOAT["R", "N"])',
        result="m[0] + m[1] + 2 * m[2] + 3 * m[3]",
    ),
    Construct(
        "loops",
        "",
        """
            s = m[0]
            for a, b in zip(m, k):
                s += a * op.Cast(b, to=1)
            return s
            """,
        '(m: FLOAT["R", "N"], k: INT64["N"])',
        result="m[0] + 4 * m[0] - 7 * m[1] + 2 * m[2]",
    ),
    Construct(
        "loops",
        "",
        """
            for a, b in [(1.0, 2.0), (3.0, 4.0)]:
                x = x * a + b
            return x
            """,
        '(x: FLOAT["N"])',
        result="(x + 2) * 3 + 4",
    ),
    Construct(
        "loops",
        "",
        """
            xs = []
            for j in range(n):
                xs.append(x * j)
            return op.Concat(xs[0], xs[1], axis=0)
            """,
        '(x: FLOAT["N"], n: INT64)',
        result="np.concatenate([x * 0, x])",
    ),
    Construct(
        "loops",
        "",
        """
            s = op.SequenceEmpty()
            for j in range(3):
                s = op.SequenceInsert(s, x)
            return op.ConcatFromSequence(s, axis=0)
            """,
        '(x: FLOAT["N"])',
        result="np.concatenate([x, x, x])",
    ),
    Construct(
        "operators",
        "",
        "return 1 - x + (-2.0) + (2.0 + 3.0) * x",
        '(x: FLOAT["N"])',
        result="1 - x - 2 + 5 * x",
    ),
    Construct(
        "operators",
        "",
        "return x % 1.5, x // 2, x ** 2, -x",
        '(x: FLOAT["N"])',
        result="(x % 1.5, x // 2, x ** 2, -x)",
    ),
    Construct(
        "operators",
        "",
        "return k % 3, k // 3, k & 6, k | 1, k ^ 5, ~k, k << 1, k >> 1",
        '(k: INT64["N"])',
        result="(k % 3, k // 3, k & 6, k | 1, k ^ 5, ~k, k << 1, k >> 1)",
    ),
    Construct(
        "operators",
        "",
        "return x == x, x != x, x < 0.0, x <= 1.0, x > 0, x >= 1",
        '(x: FLOAT["N"])',
        result="(x == x, x != x, x < 0, x <= 1, x > 0, x >= 1)",
    ),
    Construct(
        "operators",
        "",
        "return (x > 1.0) & (x < 4.0) | ~(x > 0.0)",
        '(x: FLOAT["N"])',
        result="(x > 1) & (x < 4) | ~(x > 0)",
    ),
    Construct(
        "operators", "", "return m @ x", '(m: FLOAT["R", "N"], x: FLOAT["N"])', result="m @ x"
    ),
    Construct(
        "operators",
        "",
        "return x + float('inf'), x * G_FLOAT + G_INT, x + (-G_FLOAT)",
        '(x: FLOAT["N"])',
        result="(x + np.float32(np.inf), x * np.float32(2.5) + 3, x - np.float32(2.5))",
        peer="the call becomes a node of that name",
    ),
    Construct(
        "operators", "", "return x + [1, 2.0, 3] + G_NP + TP", '(x: FLOAT["N"])', result="x + 3 * A"
    ),
    Construct(
        "operators",
        "",
        "return abs(x), max(x), min(x), sum(x), len(x)",
        '(x: FLOAT["N"])',
        result="(np.abs(x), x.max(), x.min(), x.sum(), np.int64(3))",
        peer="the call becomes a node of that name",
    ),
    Construct(
        "operators",
        "",
        "return int(n), float(n), bool(n), round(x)",
        '(x: FLOAT["N"], n: INT64)',
        result="(np.int64(2), np.float32(2), np.True_, np.round(x))",
        peer="the call becomes a node of that name",
    ),
    Construct(
        "operators",
        "",
        "return m.T, m.shape[0], m.rank",
        '(m: FLOAT["R", "N"])',
        result="(m.T, np.int64(4), np.int64(2))",
    ),
    Construct(
        "operators",
        "",
        "return x.astype(INT64.dtype)",
        '(x: FLOAT["N"])',
        result="x.astype(np.int64)",
    ),
    Construct(
        "calls and attributes",
        "",
        "return op.Clip(x, None, 2.0), op.Clip(x, 1.0, None)",
        '(x: FLOAT["N"])',
        result="(x.clip(None, 2), x.clip(1, None))",
    ),
    Construct(
        "calls and attributes",
        "",
        "return op.Max(x, -x, 1.0)",
        '(x: FLOAT["N"])',
        result="np.maximum(np.maximum(x, -x), 1)",
    ),
    Construct(
        "calls and attributes",
        "",
        "return sub(x, x), sub(x, x, alpha=3.0), sub(B=x, A=-x)",
        '(x: FLOAT["N"])',
        result="(0 * x, -2 * x, -2 * x)",
    ),
    Construct(
        "calls and attributes",
        "",
        "a, b, c = op.Split(x, num_outputs=3)\nreturn a + b * c",
        '(x: FLOAT["N"])',
        result="x[:1] + x[1:2] * x[2:]",
    ),
    Construct(
        "calls and attributes",
        "",
        "return op.Transpose(m, perm=GP), op.Transpose(m, perm=(1, 0))",
        '(m: FLOAT["R", "N"])',
        result="(m.T, m.T)",
    ),
    Construct(
        "calls and attributes",
        "",
        "return op.Transpose(m, perm=[j for j in (1, 0)])",
        '(m: FLOAT["R", "N"])',
        result="m.T",
    ),
    Construct(
        "calls and attributes",
        "",
        "return op.Cast(x, to=TensorProto.DOUBLE), op.Cast(x, to=3 + 4)",
        '(x: FLOAT["N"])',
        result="(x.astype(np.float64), x.astype(np.int64))",
    ),
    Construct(
        "calls and attributes",
        "",
        "return op.ReduceSum(x, keepdims=False), op.ReduceSum(x, keepdims=G_TRUE)",
        '(x: FLOAT["N"])',
        result="(x.sum(), x.sum(keepdims=True))",
    ),
    Construct(
        "calls and attributes",
        "",
        "return x + op.Constant(value_floats=[2.0, 3.0, 4.0])",
        '(x: FLOAT["N"])',
        result="x + A + 1",
    ),
    Construct(
        "calls and attributes",
        "",
        "f2 = lambda a, b=2.0: a * b\nreturn f2(x) + f2(x, 3.0)",
        '(x: FLOAT["N"])',
        result="5 * x",
    ),
    Construct(
        "calls and attributes",
        "",
        """
            def g(a):
                return a + x
            return g(x) * g(-x)
            """,
        '(x: FLOAT["N"])',
        result="0 * x",
    ),
    Construct(
        "calls and attributes",
        "",
        """
            def twice(h, a):
                return h(h(a))
            return twice(lambda a: a * 3.0, x)
            """,
        '(x: FLOAT["N"])',
        result="9 * x",
    ),
    Construct(
        "calls and attributes",
        "",
        """
            @graph()
            def body(s, a):
                t = s + a
                return t, op.Identity(t)
            z = op.Constant(value_int=0)
            _, r = op.Scan(z, k, body=body, num_scan_inputs=1)
            return r
            """,
        '(k: INT64["N"])',
        result="np.cumsum(k)",
    ),
    Construct(
        "calls and attributes",
        "",
        """
            @graph()
            def a():
                return x + 1.0
            @graph()
            def b():
                return -x
            return op.If(c, then_branch=a, else_branch=b)
            """,
        '(x: FLOAT["N"], c: BOOL)',
        result="x + 1",
    ),
    Construct(
        "static evaluation",
        "",
        """
            ws = [j * 0.5 for j in range(4) if j % 2]
            for w in ws:
                x = x + w
            return x
            """,
        '(x: FLOAT["N"])',
        result="x + 2",
    ),
    Construct(
        "static evaluation",
        "",
        "d = {'a': 2.0, **{'b': 3.0}}\nreturn x * d['a'] + d.get('b')",
        '(x: FLOAT["N"])',
        result="2 * x + 3",
    ),
    Construct(
        "static evaluation",
        "",
        "return x * sum(GP) + max(GP) + len(GP) + sorted(GP)[0]",
        '(x: FLOAT["N"])',
        result="x + 3",
        peer="the call becomes a node of that name",
    ),
    Construct(
        "static evaluation",
        "",
        "return x if isinstance(G_INT, int) and G_NONE is None else -x",
        '(x: FLOAT["N"])',
        result="x",
    ),
    Construct(
        "static evaluation",
        "",
        "return x * {1, 2, 2}.__len__() if False else x * len({1, 2, 2})",
        '(x: FLOAT["N"])',
        result="2 * x",
    ),
    Construct(
        "subscripts", "", "return m[0:2, [1, 2]]", '(m: FLOAT["R", "N"])', result="m[0:2, [1, 2]]"
    ),
    Construct(
        "subscripts",
        "",
        "return m[None, 1:, None]",
        '(m: FLOAT["R", "N"])',
        result="m[None, 1:, None]",
    ),
    Construct(
        "subscripts",
        "",
        "return m[[0, 2], i]",
        '(m: FLOAT["R", "N"], i: INT64)',
        result="m[[0, 2], i]",
    ),
    Construct("subscripts", "", "return m[::i]", '(m: FLOAT["R", "N"], i: INT64)', result="m[::i]"),
    Construct(
        "subscripts",
        "",
        "return (m + 1.0)[0], op.Abs(m)[0], m[0][1]",
        '(m: FLOAT["R", "N"])',
        result="((m + 1)[0], np.abs(m)[0], m[0][1])",
    ),
    Construct(
        "subscripts",
        "",
        "return m[op.Abs(k) % 4]",
        '(m: FLOAT["R", "N"], k: INT64["N"])',
        result="m[np.abs(k) % 4]",
    ),
]
