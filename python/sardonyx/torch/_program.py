"""An exported program as plain data: what an ExportedProgram and a .pt2 file have in common.

Arguments of nodes are None, bools, numbers, strings, `Ref`, `ElementType`, `Body`, and lists and
tuples of them.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Collection, Iterator
from typing import Any

# Arguments without a meaning in a graph.
LEFT_OUT = {"device", "layout", "pin_memory", "memory_format", "non_blocking", "generator",
            "requires_grad"}  # fmt: skip
# Checks, and hints for torch's compiler.
NOTHING = {
    "_assert_tensor_metadata", "_assert_scalar", "_assert_async", "sym_constrain_range",
    "sym_constrain_range_for_size", "_functional_assert_async", "_set_grad_enabled",
    "_functional_assert_scalar",
}  # fmt: skip
# Operators that write in place although their names do not end in `_`.
WRITERS = {"prims::copy_to.default", "prims::resize.default"}
# Why operators with bodies cannot be converted.
WITHOUT = "write it without, or export what is in it alone"


@dataclasses.dataclass(frozen=True)
class Ref:
    """A value, by its name."""

    name: str


@dataclasses.dataclass(frozen=True)
class ElementType:
    """An element type, by ONNX's name."""

    name: str


@dataclasses.dataclass(frozen=True)
class Body:
    """A program inside the program, by its name: the branch of a condition, the body of a loop."""

    name: str


@dataclasses.dataclass
class Place:
    """Where a node comes from."""

    file: str = ""
    line: int = 0
    code: str = ""
    module: str = ""  # its path, such as `layers.3.attention`
    # The modules around it, outermost first: their paths and classes.
    modules: tuple[tuple[str, str], ...] = ()
    trace: str = ""  # what torch has noted of the calls that led to it

    def __str__(self) -> str:
        words = f"{self.file}:{self.line}" if self.file else ""
        return f"{words} in {self.module}" if words and self.module else words or self.module


@dataclasses.dataclass
class Node:
    """A call; `target` is such as `aten::add.Tensor`, `py::mul`, `hop::cond`."""

    name: str
    target: str
    args: list[Any]
    kwargs: dict[str, Any]
    type: str = ""  # of the one tensor that it gives, as an annotation; empty: not known
    place: Place = dataclasses.field(default_factory=Place)
    # The storage of the result if it is a tensor; a view has the storage of its base.
    storage: int = 0
    writes: str = ""  # the value that it changes in place
    into: str = ""  # the value whose element type the result gets
    element_type: str = ""
    takes_pairs: bool = False  # a complex tensor is among its arguments or results
    is_twice: bool = False  # it is called for the real and for the imaginary parts


class Problem:
    """A node that cannot be converted: why, and what to write."""

    def __init__(self, node: Node, reason: str, help: str = "") -> None:
        self.node, self.reason, self.help = node, reason, help

    def __str__(self) -> str:
        text = f"{self.reason}\n  --> {self.node.place or 'no place in a file'}"
        text += f"\n   | {self.node.place.code}" if self.node.place.code else ""
        return text + (f"\n   = help: {self.help}" if self.help else "")


@dataclasses.dataclass
class Input:
    """A parameter of the program."""

    name: str
    type: str = ""
    storage: int = 0


@dataclasses.dataclass
class Program:
    """`weights` are names of values that stand for arrays, and the names of these."""

    name: str
    inputs: list[Input] = dataclasses.field(default_factory=list)
    weights: dict[str, str] = dataclasses.field(default_factory=dict)
    weight_storages: dict[str, int] = dataclasses.field(default_factory=dict)
    nodes: list[Node] = dataclasses.field(default_factory=list)
    outputs: list[Any] = dataclasses.field(default_factory=list)
    output_names: list[str] = dataclasses.field(default_factory=list)
    input_names: dict[str, str] = dataclasses.field(default_factory=dict)  # that the user wants
    is_tuple: bool = True  # it returns a tuple, also of one
    is_model: bool = False  # it is the whole: its results are the outputs of a model
    bodies: dict[str, Program] = dataclasses.field(default_factory=dict)
    # The values that are complex: pairs of their real and imaginary parts.
    pairs: set[str] = dataclasses.field(default_factory=set)


def place_of(trace: str, module: str, torch_folder: str) -> Place:
    """The user's line in a stack trace of torch: neither a line in torch nor in generated code."""
    place = Place(module=module, trace=trace)
    frames = re.findall(r'File "([^"]+)", line (\d+), in \S+\n\s*([^\n]*)', trace)
    for file, line, code in reversed(frames):
        if torch_folder not in file and not file.startswith("<"):
            place.file, place.line, place.code = file, int(line), code.strip()
            break
    return place


def python_target(name: str) -> str:
    """What a function of Python's numbers, such as `sym_not` or `mul`, is called in programs."""
    renamed = {"sym_not": "not", "not_": "not", "sym_ite": "ite", "_sym_sqrt": "sym_sqrt"}
    return f"py::{renamed.get(name, name)}"


def with_bodies(node: Node, name: str, args: list[Any], results: int) -> bool:
    """Makes the node the operator of this name, which has bodies; False: there is none."""
    more = args[3] if len(args) > 3 else []
    if name in ("cond", "while_loop") and len(args) >= 3:
        node.target, node.args = f"hop::{name}", [*args[:3], more]
    elif name == "wrap_with_set_grad_enabled":
        node.target, node.args = "hop::call", args[1:]
    elif name == "wrap_with_autocast" and args[2] is False:
        node.target, node.args = "hop::call", args[4:]
    elif name == "scan":
        node.target, node.args = "hop::scan", [*[*args, []][:4], results]
    elif name == "map_impl":
        more = args[2] if len(args) > 2 else []
        node.target, node.args = "hop::scan", [args[0], [], args[1], more, results]
    else:
        return False
    return True


def refs(value: Any) -> Iterator[str]:
    """The names of the values in an argument."""
    if isinstance(value, Ref):
        yield value.name
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from refs(one)


def refs_of(node: Node) -> Iterator[str]:
    """The names of the values that a node reads."""
    for one in (*node.args, *node.kwargs.values()):
        yield from refs(one)
    if node.into:
        yield node.into


def replaced(value: Any, name_of: Callable[[str], str]) -> Any:
    """The argument with other names."""
    if isinstance(value, Ref):
        return Ref(name_of(value.name))
    if isinstance(value, (list, tuple)):
        return type(value)(replaced(one, name_of) for one in value)
    return value


# What gives its first argument as it is, once nothing is written in place; `to` and the like where
# the type stays, dropout where it is off.
_COPIES = {
    f"aten::{name}.default"
    for name in ("contiguous", "clone", "alias", "detach", "alias_copy", "lift_fresh_copy",
                 "lift_fresh", "lift", "detach_copy", "pin_memory", "positive")
}  # fmt: skip
_CASTS = {"aten::to.dtype", "aten::to.dtype_layout", "aten::_to_copy.default", "aten::to.device",
          "aten::type_as.default", "aten::to.other"}  # fmt: skip
_DROPOUTS = {"aten::dropout.default", "aten::feature_dropout.default"}
_END = 2**63 - 1  # of a slice that has none


def _is_whole_slice(node: Node) -> bool:
    """`x[:]`, as each axis before the last one of a subscript has it."""
    if node.target != "aten::slice.Tensor" or node.kwargs:
        return False
    given = [*node.args[2:], None, None, None]
    wanted = (0, _END, 1)
    return all(one is None or one == want for one, want in zip(given, wanted, strict=False))


def without_copies(program: Program, own: Collection[str] = ()) -> None:
    """Leaves out nodes that give what they get; `own` are operators with another meaning."""
    for body in program.bodies.values():
        without_copies(body, own)
    types = {one.name: one.type for one in program.inputs}
    same: dict[str, str] = {}
    kept = []
    for node in program.nodes:
        if same and not same.keys().isdisjoint(refs_of(node)):
            node = dataclasses.replace(
                node,
                args=[replaced(one, lambda name: same.get(name, name)) for one in node.args],
                kwargs={key: replaced(one, lambda name: same.get(name, name))
                        for key, one in node.kwargs.items()},
                into=same.get(node.into, node.into),
            )  # fmt: skip
        types[node.name] = node.type
        source = node.args[0].name if node.args and isinstance(node.args[0], Ref) else ""
        is_copy = (
            node.target in _COPIES
            or _is_whole_slice(node)
            or (node.target in _DROPOUTS and node.args[2:] == [False])
            or (node.target in _CASTS and node.type != "" and node.type == types.get(source))
        )
        if is_copy and source and not node.into and node.target not in own:
            same[node.name] = source
        else:
            kept.append(node)
    program.nodes = kept
    program.outputs = [replaced(one, lambda name: same.get(name, name)) for one in program.outputs]


def used_names(program: Program) -> set[str]:
    """The values that outputs and writes are made of, and the nodes that write."""
    used = set(refs(program.outputs))
    for node in reversed(program.nodes):
        if node.name in used or node.writes:
            used.add(node.name)
            used.update(refs_of(node))
    return used


def without_unused(program: Program) -> None:
    """Leaves out nodes whose results nothing reads: no node that is left does anything else."""
    used = used_names(program)
    program.nodes = [node for node in program.nodes if node.name in used]
    program.weights = {name: key for name, key in program.weights.items() if name in used}
