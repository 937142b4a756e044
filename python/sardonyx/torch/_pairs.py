"""Complex tensors: which operators have a form for pairs, and pairs at the ends of a program."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from ._functional import functional
from ._program import Node, Program, Ref, refs, replaced

# Operators that apply to the real and the imaginary parts separately.
_TWICE = {
    "view", "reshape", "_unsafe_view", "flatten", "unflatten", "unsqueeze", "squeeze", "transpose",
    "permute", "t", "numpy_T", "mT", "expand", "expand_as", "contiguous", "clone", "alias",
    "detach", "select", "slice", "narrow", "index", "index_select", "gather", "cat", "stack",
    "flip", "roll", "repeat", "movedim", "sum", "mean", "cumsum", "tril", "triu", "diagonal", "pad",
    "constant_pad_nd", "lift_fresh_copy", "view_as", "swapaxes", "fft_fftshift", "fft_ifftshift",
    "select_scatter", "slice_scatter", "split", "split_with_sizes", "chunk", "unbind",
    "diagonal_scatter", "index_put", "index_add", "repeat_interleave", "unfold",
    "broadcast_in_dim", "collapse", "collapse_view", "rev", "split_dim", "view_of", "copy_strided",
    "copy_to", "device_put",
}  # fmt: skip
# Those of them with further tensor arguments of the same kind, and the positions of these.
_MORE = {"select_scatter": (1,), "slice_scatter": (1,), "diagonal_scatter": (1,),
         "index_put": (2,), "index_add": (3,)}  # fmt: skip

# Conversions, whose form depends on whether the result is complex.
_CONVERSIONS = {"to", "_to_copy"}


def _real_parts(node: Node, program: Program) -> list[Node]:
    """Makes pairs of the real tensors among complex ones, as torch promotes them."""
    packet = node.target.partition("::")[2].partition(".")[0].removesuffix("_")
    made: list[Node] = []
    for place in (0, *_MORE.get(packet, ())):
        if place >= len(node.args):
            continue
        for name in refs(node.args[place]):
            if name in program.pairs:
                continue
            new = f"{name}_of_{node.name}"
            made.append(Node(new, "pairs::of_real", [Ref(name)], {}, place=node.place))
            program.pairs.add(new)
            names = {name: new}
            node.args[place] = replaced(node.args[place], lambda one: names.get(one, one))  # noqa: B023
    return made


def choose_pairs(program: Program, known: Mapping[str, Any]) -> list[Node]:
    """Gives each operator on complex tensors its form for pairs; returns those that have none."""
    refused = []
    nodes: list[Node] = []
    for node in program.nodes:
        nodes.append(node)
        plain = functional(node.target, known) if node.writes else node.target
        # Transforms of real numbers have a form for pairs alone.
        if not node.takes_pairs and (plain in known or not plain.startswith("aten::")):
            continue
        rest = node.target.partition("::")[2]
        form, packet = f"pairs::{rest}", rest.partition(".")[0]
        if node.writes:
            form, packet = functional(form, known), packet.removesuffix("_")
        if packet in _CONVERSIONS and node.name not in program.pairs:
            node.target = "pairs::to_real"
        elif form in known:
            node.target = f"pairs::{rest}"
        elif packet in _TWICE and node.name in program.pairs:
            nodes[-1:] = [*_real_parts(node, program), node]
            node.is_twice = True
        elif node.takes_pairs:
            refused.append(node)
    program.nodes = nodes
    return refused


def real_ends(program: Program) -> None:
    """Inputs, weights and results that are complex have the parts as their last dimension."""
    sources = [one.name for one in program.inputs] + list(program.weights)
    made = {}
    front = []
    for name in sources:
        if name in program.pairs:
            made[name] = f"{name}_pair"
            node = Node(made[name], "pairs::view_as_complex.default", [Ref(name)], {})
            front.append(node)
    if made:
        nodes = [
            dataclasses.replace(
                node,
                args=[replaced(one, lambda name: made.get(name, name)) for one in node.args],
                kwargs={
                    key: replaced(one, lambda name: made.get(name, name))
                    for key, one in node.kwargs.items()
                },
            )
            for node in program.nodes
        ]
        program.nodes = front + nodes
        program.outputs = [
            replaced(one, lambda name: made.get(name, name)) for one in program.outputs
        ]
        program.pairs |= set(made.values())
        program.pairs -= set(made)
    for i, one in enumerate(program.outputs):
        if isinstance(one, Ref) and one.name in program.pairs:
            node = Node(f"{one.name}_real", "pairs::view_as_real.default", [one], {})
            program.nodes.append(node)
            program.outputs[i] = Ref(node.name)
