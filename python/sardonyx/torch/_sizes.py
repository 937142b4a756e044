"""Sizes: numbers, and sympy's expressions as `sympy.srepr` writes them."""

from __future__ import annotations

import re
from typing import Any

_TOKEN = re.compile(r"\s*(?:(-?\d+)|([A-Za-z_]\w*)|'([^']*)'|([(),=]))")
_DEPTH = 40
# A sum: how often each product of symbols is in it.
Terms = dict[tuple[str, ...], int]


class Size:
    """A polynomial of symbols; what is none, such as a quotient, is a symbol by its text."""

    def __init__(self, terms: Terms) -> None:
        self.terms = {key: count for key, count in terms.items() if count}

    def __add__(self, other: Size) -> Size:
        terms = dict(self.terms)
        for key, count in other.terms.items():
            terms[key] = terms.get(key, 0) + count
        return Size(terms)

    def __mul__(self, other: Size) -> Size:
        terms: Terms = {}
        for a, m in self.terms.items():
            for b, n in other.terms.items():
                key = tuple(sorted((*a, *b)))
                terms[key] = terms.get(key, 0) + m * n
        return Size(terms)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Size) and self.terms == other.terms

    def __hash__(self) -> int:
        return hash(tuple(sorted(self.terms.items())))

    @property
    def is_exact(self) -> bool:
        return not any("(" in one for key in self.terms for one in key)


class _Parser:
    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.tokens: list[tuple[str, str]] = []
        while self.at < len(text):
            match = _TOKEN.match(text, self.at)
            if match is None:
                raise ValueError(f"a size that is not understood: {text[:80]!r}")
            kinds = zip(("number", "name", "string", "sign"), match.groups(), strict=True)
            self.tokens.append(next((kind, one) for kind, one in kinds if one is not None))
            self.at = match.end()
        self.place = 0

    def next(self) -> tuple[str, str]:
        if self.place >= len(self.tokens):
            raise ValueError(f"a size that ends too early: {self.text[:80]!r}")
        self.place += 1
        return self.tokens[self.place - 1]

    def peek(self) -> str:
        return self.tokens[self.place][1] if self.place < len(self.tokens) else ""

    def arguments(self, depth: int) -> tuple[list[Size], list[str]]:
        """What is between parentheses: expressions and strings; `name=value` means nothing."""
        sizes: list[Size] = []
        strings: list[str] = []
        while self.peek() != ")":
            kind, text = self.next()
            if kind == "string":
                strings.append(text)
            elif kind == "number":
                sizes.append(Size({(): int(text)}))
            elif kind == "name" and self.peek() == "=":
                self.next()
                self.next()
            else:
                self.place -= 1
                sizes.append(self.expression(depth + 1))
            if self.peek() == ",":
                self.next()
        self.next()
        return sizes, strings

    def expression(self, depth: int = 0) -> Size:
        start = self.place
        kind, name = self.next()
        if kind != "name" or depth > _DEPTH or self.next()[1] != "(":
            raise ValueError(f"a size that is not understood: {self.text[:80]!r}")
        sizes, strings = self.arguments(depth)
        if name in ("Symbol", "Dummy") and strings:
            return Size({(re.sub(r"\W", "_", strings[0]),): 1})
        if name == "Integer" and len(sizes) == 1:
            return sizes[0]
        if name in ("Add", "Mul") and sizes:
            total = sizes[0]
            for one in sizes[1:]:
                total = total + one if name == "Add" else total * one
            if len(total.terms) <= 64:
                return total
        text = "".join(one for _, one in self.tokens[start : self.place])
        return Size({(text,): 1})


def size_of(value: Any) -> Size:
    """`{"as_int": 4}`, or `{"as_expr": {"expr_str": "Symbol('s77', ...)"}}`."""
    if isinstance(value, dict) and "as_expr" in value:
        return _Parser(str(value["as_expr"]["expr_str"])).expression()
    number = value.get("as_int") if isinstance(value, dict) else value
    if isinstance(number, bool) or not isinstance(number, int):
        raise ValueError(f"{str(value)[:60]!r} where a size is expected")
    return Size({(): number})
