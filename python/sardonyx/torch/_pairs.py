"""Complex tensors: which operators have a form for pairs, and pairs at the ends of a program."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from ._program import Node, Program, Ref, replaced

# What does the same to the real and to the imaginary parts.
_TWICE = {
    "view", "reshape", "_unsafe_view", "flatten", "unflatten", "unsqueeze", "squeeze", "transpose",
    "permute", "t", "numpy_T", "mT", "expand", "expand_as", "contiguous", "clone", "alias",
    "detach", "select", "slice", "narrow", "index", "index_select", "gather", "cat", "stack",
    "flip", "roll", "repeat", "movedim", "sum", "mean", "cumsum", "tril", "triu", "diagonal", "pad",
    "constant_pad_nd", "lift_fresh_copy", "view_as", "swapaxes", "fft_fftshift", "fft_ifftshift",
    "select_scatter", "slice_scatter",
}  # fmt: skip


def choose_pairs(program: Program, known: Mapping[str, Any]) -> list[Node]:
    """Gives each operator on complex tensors its form for pairs; returns those that have none."""
    refused = []
    for node in program.nodes:
        # Transforms of real numbers have a form for pairs alone.
        if not node.takes_pairs and (node.target in known or not node.target.startswith("aten::")):
            continue
        rest = node.target.partition("::")[2]
        if f"pairs::{rest}" in known:
            node.target = f"pairs::{rest}"
        elif rest.partition(".")[0] in _TWICE and node.name in program.pairs:
            node.is_twice = True
        elif node.takes_pairs:
            refused.append(node)
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
