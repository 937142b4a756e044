"""Which tensors share memory in .pt2 files, and in programs from them, which do not record it.

Writes in place depend on it. What an operator gives is a view of its argument by what it does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ._program import Node, Problem, Program, refs
from ._sizes import Size

# Operators whose result is always a view of the first argument.
_VIEWS = {
    "view", "_unsafe_view", "select", "slice", "transpose", "t", "permute", "expand", "expand_as",
    "unsqueeze", "squeeze", "alias", "detach", "diagonal", "narrow", "unbind", "split",
    "split_with_sizes", "chunk", "unsafe_chunk", "unsafe_split", "unfold", "real", "imag",
    "view_as", "view_as_real", "view_as_complex", "as_strided", "movedim", "moveaxis", "swapaxes",
    "swapdims", "mT", "mH", "matrix_H", "adjoint", "numpy_T", "unflatten", "tensor_split", "hsplit",
    "vsplit", "dsplit", "broadcast_to", "lift_fresh", "linalg_diagonal", "positive", "conj",
    "_conj", "resolve_conj", "resolve_neg", "atleast_1d", "atleast_2d", "atleast_3d", "dropout",
    "feature_dropout", "alpha_dropout", "feature_alpha_dropout", "pin_memory", "broadcast_in_dim",
    "collapse_view", "slice_in_dim", "split_dim", "view_of",
}  # fmt: skip
# A view if the element type and the order in memory do not change.
_AS_IT_IS = {"to", "type_as", "contiguous"}
# A view if the elements are contiguous.
_OF_ORDER = {"reshape", "flatten", "ravel", "reshape_as", "_reshape_alias"}
# A view in some cases, which are not distinguished here.
_PERHAPS = {"einsum", "broadcast_tensors", "meshgrid", "sum_to_size", "cartesian_prod"}

Sizes = Callable[[str], "tuple[list[Size], list[Size]] | None"]


class Storages:
    """A number for the memory that each tensor lies in."""

    def __init__(self, sizes: Sizes, element_type: Callable[[str], object]) -> None:
        self.sizes, self.element_type = sizes, element_type
        self.numbers: dict[str, int] = {}
        self.doubtful: set[int] = set()
        self.count = 0

    def tell(self, program: Program, groups: Mapping[str, object]) -> list[Problem]:
        """Numbers all values; returns the writes that may reach what is not known to be shared.

        `groups` says which weights share their memory: they have the same entry.
        """
        shared: dict[object, int] = {}
        for one in program.inputs:
            one.storage = self.numbers[one.name] = self.fresh()
        for name in program.weights:
            number = shared.setdefault(groups.get(name, name), self.fresh())
            self.numbers[name] = program.weight_storages[name] = number
        words = "it writes into a tensor of which it is not known whether another one shares it"
        help = "convert what torch.export gives, without a file, or write it without `_`"
        problems = []
        for node in program.nodes:
            # What is made later has the new elements, whether it shares them or not.
            if node.writes and self.numbers.get(node.writes) in self.doubtful:
                problems.append(Problem(node, words, help))
            node.storage = self.numbers[node.name] = self.of(node)
        return problems

    def fresh(self) -> int:
        self.count += 1
        return self.count

    def of(self, node: Node) -> int:
        """The storages of a node's results."""
        number = self.fresh()
        base = next(iter(refs(node.args[:1])), "")
        if base not in self.numbers:
            return number
        packet = node.target.partition("::")[2].partition(".")[0]
        if node.target == "py::getitem" or node.writes or packet in _VIEWS:
            return self.numbers[base]
        if packet in _AS_IT_IS:
            is_copy = any(one is True for one in (*node.args[1:], node.kwargs.get("copy")))
            is_same = self.element_type(base) == self.element_type(node.name) and not is_copy
            before, after = self.sizes(base), self.sizes(node.name)
            is_same = is_same and before is not None and after is not None
            is_same = is_same and before[1] == after[1]  # type: ignore[index]
            return self.numbers[base] if is_same else number
        if packet in _OF_ORDER and self.is_contiguous(base):
            return self.numbers[base]
        if packet in _OF_ORDER or packet in _PERHAPS:
            self.doubtful |= {number, *[self.numbers.get(one, 0) for one in refs(node.args)]}
        return number

    def is_contiguous(self, name: str) -> bool | None:
        """None if it is not known."""
        found = self.sizes(name)
        if found is None:
            return None
        one, wanted = Size({(): 1}), Size({(): 1})
        is_ordered = True
        for size, stride in zip(reversed(found[0]), reversed(found[1]), strict=True):
            if not (size.is_exact and stride.is_exact):
                return None
            if size != one and stride != wanted:
                is_ordered = False
            wanted = wanted * size
        return is_ordered
