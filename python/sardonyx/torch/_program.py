"""A program that has been captured in memory, as plain data, which `_core` makes a script of.

Arguments of nodes are None, bools, numbers, strings, `Ref`, `ElementType`, `Body`, and lists and
tuples of them. src/torch/program.h says what the members mean.
"""

from __future__ import annotations

import dataclasses
from typing import Any


@dataclasses.dataclass(slots=True)
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


@dataclasses.dataclass(slots=True)
class Place:
    """Where a node comes from."""

    module: str = ""  # its path, such as `layers.3.attention`
    # The modules around it, outermost first: their paths and classes.
    modules: tuple[tuple[str, str], ...] = ()
    trace: str = ""  # what torch has noted of the calls that led to it


@dataclasses.dataclass(slots=True)
class Node:
    """A call; `target` is such as `aten::add.Tensor` or `py::mul`."""

    name: str
    target: str
    args: list[Any]
    kwargs: dict[str, Any]
    type: str = ""  # of the one tensor that it gives, as an annotation; empty: not known
    place: Place = dataclasses.field(default_factory=Place)
    # The storage of the result if it is a tensor; a view has the storage of its base.
    storage: int = 0
    writes: str = ""  # the value that it changes in place
    element_type: str = ""
    takes_pairs: bool = False  # a complex tensor is among its arguments or results
    is_twice: bool = False  # it is called for the real and for the imaginary parts
    # Of an operator with bodies: its name, such as `cond`, in place of a target, and how many
    # results it has.
    higher_order: str = ""
    results: int = 1


class Problem:
    """A node that cannot be converted: why, and what to write."""

    def __init__(self, node: Node, reason: str, help: str = "") -> None:
        self.place, self.reason, self.help = node.place, reason, help


@dataclasses.dataclass
class Input:
    """A parameter of the program."""

    name: str
    type: str = ""
    storage: int = 0


@dataclasses.dataclass
class Weight:
    """A value that stands for an array, and the name of that."""

    name: str
    key: str
    type: str = ""
    storage: int = 0


# Sizes and strides of a tensor, as numbers and as texts of `sympy.srepr`, a number for its
# element type, and where its first element lies in its memory.
Facts = tuple[list["int | str"], list["int | str"], int, "int | str"]


@dataclasses.dataclass
class Program:
    """A graph with its inputs and results."""

    name: str
    inputs: list[Input] = dataclasses.field(default_factory=list)
    weights: list[Weight] = dataclasses.field(default_factory=list)
    nodes: list[Node] = dataclasses.field(default_factory=list)
    outputs: list[Any] = dataclasses.field(default_factory=list)
    output_names: list[str] = dataclasses.field(default_factory=list)
    # Of each output its kind in the words of .pt2 files, and the input or weight that it changes.
    output_specs: list[tuple[str, str]] = dataclasses.field(default_factory=list)
    is_tuple: bool = True  # it returns a tuple, also of one
    is_model: bool = False  # it is the whole: its results are the outputs of a model
    bodies: dict[str, Program] = dataclasses.field(default_factory=dict)
    # The values that are complex: pairs of their real and imaginary parts.
    pairs: set[str] = dataclasses.field(default_factory=set)
    # Of names of dimensions: the least and the greatest size; None: torch states none.
    bounds: dict[str, tuple[int | None, int | None]] = dataclasses.field(default_factory=dict)
    problems: list[Problem] = dataclasses.field(default_factory=list)
    # Whether torch's storages do not say which tensors share memory, so that this is found by what
    # is known of each, and by the weights that share theirs, which have equal texts.
    numbers_storages: bool = False
    facts: dict[str, Facts] | None = None
    weight_groups: dict[str, str] = dataclasses.field(default_factory=dict)
