"""A program as the text of a script, and which node each of its lines is."""

from __future__ import annotations

import dataclasses
import json
import keyword
import math
import re
from collections.abc import Collection, Mapping
from typing import Any

from ._program import Body, ElementType, Node, Program, Ref

_INFIX = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**",
    "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "and_": "&", "or_": "|",
}  # fmt: skip
_CALLS = {
    "sym_max": "max", "sym_min": "min", "sym_float": "float", "sym_int": "int", "abs": "abs",
    "ceil": "math.ceil", "floor": "math.floor", "trunc": "math.trunc", "sqrt": "math.sqrt",
    "round": "round", "sym_sqrt": "math.sqrt", "max": "max", "min": "min", "sym_sum": "sum",
}  # fmt: skip
# The names that may follow `py::`.
PYTHON = {*_INFIX, *_CALLS, "getitem", "size", "numel", "item", "neg", "not", "ite"}
_TAKEN = {"w", "op", "aten", "math", "script", "load_weights", "print", "len", "max", "min", "int",
          "float", "abs", "bool", "round", "range", "reveal_type", "list", "tuple"}  # fmt: skip
_ELEMENT_TYPES = {
    "FLOAT", "DOUBLE", "FLOAT16", "BFLOAT16", "BOOL", "UINT8", "UINT16", "UINT32", "UINT64", "INT8",
    "INT16", "INT32", "INT64", "FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ",
}  # fmt: skip
_INDENT = "    "


def is_name(text: str) -> bool:
    """Whether it is a possible name of a value in a script."""
    is_taken = text in _TAKEN or text in _ELEMENT_TYPES
    return text.isidentifier() and not keyword.iskeyword(text) and not is_taken


class Names:
    """The names of the values in the text."""

    def __init__(self, program: Program, modules: Collection[str]) -> None:
        self.weights = program.weights
        self.given: dict[str, str] = {}
        self.used: set[str] = {*_TAKEN, *modules}
        for one in program.inputs:
            self.given[one.name] = self.plain(program.input_names.get(one.name, one.name))
        for name in program.bodies:
            self.given[name] = self.plain(name)
        made = {node.name for node in program.nodes}
        for value, wanted in zip(program.outputs, program.output_names, strict=False):
            is_free = isinstance(value, Ref) and value.name in made
            if wanted and is_free and value.name not in self.given:
                self.given[value.name] = self.plain(wanted)
        for node in program.nodes:
            if node.name not in self.given:
                self.given[node.name] = self.plain(node.name)

    def plain(self, name: str) -> str:
        plain = re.sub(r"\W", "_", name)
        if not plain or plain[0].isdigit():
            plain = f"_{plain}"
        while plain in self.used or not is_name(plain):
            plain += "_"
        self.used.add(plain)
        return plain

    def __call__(self, name: str) -> str:
        if name in self.weights:
            return f"w[{json.dumps(self.weights[name])}]"
        return self.given[name]


class _Part(Names):
    """The names of one part of complex values: 0 the real one, 1 the imaginary one."""

    def __init__(self, names: Names, pairs: set[str], part: int) -> None:
        self.names, self.pairs, self.part = names, pairs, part

    def __call__(self, name: str) -> str:
        return f"{self.names(name)}[{self.part}]" if name in self.pairs else self.names(name)


class _Writer:
    def __init__(
        self, known: Mapping[str, tuple[str, Any]], modules: Collection[str], pairs: set[str]
    ) -> None:
        self.known = known
        self.modules = modules  # of the user's operators
        self.pairs = pairs
        self.lines: list[str] = []
        self.nodes: list[Node | None] = []

    def line(self, depth: int, text: str, node: Node | None = None) -> None:
        self.lines.append(_INDENT * depth + text if text else "")
        self.nodes.append(node)

    def value(self, names: Names, value: Any) -> str:
        kind = type(value)
        if kind is Ref:
            return names(value.name)
        if kind is int or kind is bool or kind is str or value is None:
            return repr(value)
        if isinstance(value, ElementType):
            return f"{value.name}.dtype"
        if isinstance(value, Body):
            return names(value.name)
        if isinstance(value, tuple):
            inner = ", ".join(self.value(names, one) for one in value)
            return f"({inner},)" if len(value) == 1 else f"({inner})"
        if isinstance(value, list):
            return "[" + ", ".join(self.value(names, one) for one in value) + "]"
        if isinstance(value, float) and not math.isfinite(value):
            return "math.nan" if math.isnan(value) else f"{'-' if value < 0 else ''}math.inf"
        return repr(value)

    def expression(self, names: Names, node: Node) -> str:
        space, _, what = node.target.partition("::")
        if space == "py" and node.is_twice:
            halves = [_Part(names, self.pairs, i) for i in (0, 1)]
            once = dataclasses.replace(node, is_twice=False)
            return f"({self.expression(halves[0], once)}, {self.expression(halves[1], once)})"
        args = [self.value(names, one) for one in node.args]
        if space == "py":
            if what == "getitem":
                return f"{args[0]}[{args[1]}]"
            if what == "size":
                return f"{args[0]}.shape[{args[1]}]"
            if what == "numel":
                return f"math.prod({args[0]}.shape)"
            if what == "item":
                return f"{node.element_type}({args[0]})"
            if what in ("neg", "not"):
                return f"-{args[0]}" if what == "neg" else f"not {args[0]}"
            if what == "ite":
                return f"{args[1]} if {args[0]} else {args[2]}"
            if what in _CALLS:
                return f"{_CALLS[what]}({', '.join(args)})"
            return f"{args[0]} {_INFIX[what]} {args[1]}"
        if node.is_twice:
            parts = [self.call(node, _Part(names, self.pairs, i)) for i in (0, 1)]
            return f"({parts[0]}, {parts[1]})"
        call = self.call(node, names)
        return f"aten.into({names(node.into)}, {call})" if node.into else call

    def call(self, node: Node, names: Names) -> str:
        args = [self.value(names, one) for one in node.args]
        keywords = [
            f"{key}{'_' if keyword.iskeyword(key) else ''}={self.value(names, one)}"
            for key, one in node.kwargs.items()
        ]
        name = self.known[node.target][0]
        called = name if "." in name else f"aten.{name}"
        return f"{called}({', '.join([*args, *keywords])})"

    def higher_order(self, names: Names, node: Node, depth: int) -> None:
        name, kind = names(node.name), node.target.partition("::")[2]
        if kind == "call":
            body, *rest = node.args
            inner = ", ".join(self.value(names, one) for one in rest)
            self.line(depth, f"{name} = {names(body.name)}({inner})", node)
        elif kind == "cond":
            test, yes, no, operands = node.args
            inner = ", ".join(self.value(names, one) for one in operands)
            self.line(depth, f"{name} = {names(yes.name)}({inner}) if {self.value(names, test)} "
                             f"else {names(no.name)}({inner})", node)  # fmt: skip
        elif kind == "while_loop":
            self.while_loop(names, node, depth)
        else:
            self.scan(names, node, depth)

    def while_loop(self, names: Names, node: Node, depth: int) -> None:
        test, body, start, more = node.args
        name = names(node.name)
        carried = [names.plain(f"{name}_{i}") for i in range(len(start))]
        inner = ", ".join([*carried, *[self.value(names, one) for one in more]])
        for one, value in zip(carried, start, strict=True):
            self.line(depth, f"{one} = {self.value(names, value)}", node)
        self.line(depth, f"while {names(test.name)}({inner}):", node)
        targets = ", ".join(carried) + ("," if len(carried) == 1 else "")
        self.line(depth + 1, f"{targets} = {names(body.name)}({inner})", node)
        self.line(depth, f"{name} = ({', '.join(carried)},)", node)

    def scan(self, names: Names, node: Node, depth: int) -> None:
        """`hop::scan`: carried values and rows; `hop::map`: rows alone."""
        body, start, rows, more, results = node.args
        name = names(node.name)
        carried = [names.plain(f"{name}_carried_{i}") for i in range(len(start))]
        stacked = [names.plain(f"{name}_rows_{i}") for i in range(results - len(start))]
        place, step = names.plain(f"{name}_i"), names.plain(f"{name}_step")
        for one, value in zip(carried, start, strict=True):
            self.line(depth, f"{one} = {self.value(names, value)}", node)
        for one in stacked:
            self.line(depth, f"{one} = []", node)
        first = self.value(names, rows[0])
        self.line(depth, f"for {place} in range({first}.shape[0]):", node)
        inner = [*carried, *[f"{self.value(names, one)}[{place}]" for one in rows],
                 *[self.value(names, one) for one in more]]  # fmt: skip
        self.line(depth + 1, f"{step} = {names(body.name)}({', '.join(inner)})", node)
        for i, one in enumerate(carried):
            self.line(depth + 1, f"{one} = {step}[{i}]", node)
        for i, one in enumerate(stacked):
            self.line(depth + 1, f"{one}.append({step}[{len(carried) + i}])", node)
        joined = [f"op.ConcatFromSequence({one}, axis=0, new_axis=1)" for one in stacked]
        self.line(depth, f"{name} = ({', '.join([*carried, *joined])},)", node)

    def body(self, names: Names, program: Program, depth: int) -> None:
        for name, inner in program.bodies.items():
            own = Names(inner, self.modules)
            parameters = ", ".join(own.given[one.name] for one in inner.inputs)
            self.line(depth, f"def {names(name)}({parameters}):")
            self.body(own, inner, depth + 1)
            self.line(0, "")
        for node in program.nodes:
            if node.target.startswith("hop::"):
                self.higher_order(names, node, depth)
                continue
            annotation = f": {node.type}" if node.type else ""
            text = f"{names(node.name)}{annotation} = {self.expression(names, node)}"
            self.line(depth, text, node)
        self.line(depth, self.result(names, program, depth))

    def result(self, names: Names, program: Program, depth: int) -> str:
        values, seen = [], set()
        made = {node.name for node in program.nodes}
        wanted = [*program.output_names, *[""] * len(program.outputs)]
        for one, name in zip(program.outputs, wanted, strict=False):
            text = self.value(names, one)
            is_made = isinstance(one, Ref) and one.name in made
            if isinstance(one, Ref) and program.is_model and (not is_made or text in seen):
                text = f"aten.clone({text})"
                if name:
                    name = names.plain(name)
                    self.line(depth, f"{name} = {text}")
                    text = name
            seen.add(text)
            values.append(text)
        if program.is_tuple and len(values) == 1 and not program.is_model:
            return f"return ({values[0]},)"
        return f"return {', '.join(values)}" if values else "return ()"


def script_text(
    program: Program, known: Mapping[str, tuple[str, Any]], weights: str = "", opset: int = 0
) -> tuple[str, list[Node | None]]:
    """The text of the script, and the node of each line.

    `known` has the overloads, with what they are called in scripts: a name of `aten`, or one of
    the user's with its module. `weights` is the file that the
    arrays are in: without it the script finds them in a dict `w`.
    """
    modules = sorted(_own_modules(program, known))
    writer = _Writer(known, modules, program.pairs)
    own = Names(program, modules)
    text_names = sorted(set(re.findall(r"\b[A-Z][A-Z0-9]+\b", _types_of(program))))
    imports = [*text_names, f"opset{opset} as op", "script"]
    if weights:
        imports.append("load_weights")
    writer.line(0, "import math")
    writer.line(0, "")
    writer.line(0, f"from sardonyx import {', '.join(imports)}")
    writer.line(0, "from sardonyx.torch import aten")
    writer.line(0, "")
    for one in modules:
        writer.line(0, f"import {one}")
    if modules:
        writer.line(0, "")
    if weights:
        writer.line(0, f"w = load_weights({weights!r})")
        writer.line(0, "")
    writer.line(0, "")
    writer.line(0, "@script(default_opset=op, initializer_bytes=0, fold_bytes=65536)")
    parameters = [
        own.given[one.name] + (f": {one.type}" if one.type else "") for one in program.inputs
    ]
    writer.line(0, f"def {program.name}({', '.join(parameters)}):")
    writer.body(own, program, 1)
    return "\n".join(writer.lines) + "\n", writer.nodes


def _own_modules(program: Program, known: Mapping[str, tuple[str, Any]]) -> set[str]:
    """The modules of the user's operators that the program calls."""
    names = [known[node.target][0] for node in program.nodes if node.target in known]
    found = {name.partition(".")[0] for name in names if "." in name}
    return found.union(*[_own_modules(one, known) for one in program.bodies.values()])


def _types_of(program: Program) -> str:
    """Everything that may name an element type."""
    words = [one.type for one in program.inputs]
    for node in program.nodes:
        words.append(node.type)
        arguments = [*node.args, *node.kwargs.values()]
        words += [one.name for one in arguments if type(one) is ElementType]
    words += [_types_of(body) for body in program.bodies.values()]
    return " ".join(re.sub(r'"[^"]*"', "", one) for one in words)
