"""Removes mutation: an operator that writes into a tensor makes a new value instead.

A write to a view is written into its base as well, by the inverse of the view, and other views of
the base are made again when they are read next. Views are told by their storage, so that a reshape
that copies is none.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from ._program import Node, Problem, Program, Ref, refs, replaced

# Views of all elements in their order.
_RESHAPES = {
    "alias", "detach", "detach_", "view", "reshape", "_unsafe_view", "flatten", "unflatten",
    "unsqueeze", "squeeze", "contiguous", "view_as", "reshape_as", "to", "_to_copy", "ravel",
    "dropout", "lift_fresh", "lift_fresh_copy", "clone", "type_as", "atleast_1d", "atleast_2d",
    "atleast_3d", "positive", "view_of", "collapse_view", "split_dim",
}  # fmt: skip
_SPLITS = {"split", "split_with_sizes", "chunk", "unsafe_chunk", "unsafe_split", "tensor_split"}
# Operators that change a tensor's shape in place, not its elements: refused.
_NO_WRITES = {"set_", "squeeze_", "unsqueeze_", "t_", "transpose_", "swapaxes_",
              "swapdims_", "as_strided_"}  # fmt: skip


# Normalisation that gives its running statistics new values: the places of these in its arguments,
# of whether it does so (none: always), and of how much the new ones count.
STATISTICS = {
    "aten::_native_batch_norm_legit.default": (3, 5, 6),
    "aten::_batch_norm_with_update.default": (3, None, 5),
}


class UnsolvedError(Exception):
    """A mutation that cannot be expressed by new values."""

    def __init__(self, node: Node, reason: str) -> None:
        super().__init__(reason)
        self.node = node
        self.reason = reason


@dataclasses.dataclass
class _View:
    base: str
    node: Node  # that makes it
    part: int | None = None  # of a split
    seen: int = 0  # the version of the base that it was made from


def _packet(target: str) -> str:
    return target.partition("::")[2].partition(".")[0]


def functional(overload: str, known: Any) -> str:
    """The overload that computes what an in-place one writes: `add.Tensor` of `add_.Tensor`."""
    namespace, _, rest = overload.partition("::")
    packet, _, suffix = rest.partition(".")
    plain = packet.strip("_") if packet.startswith("__i") else packet.removesuffix("_")
    if packet.startswith("__i"):
        plain = f"__{plain[1:]}__"  # __ior__ -> __or__
    for name in (f"{plain}.{suffix}", f"{plain}.default", f"{plain}_functional.{suffix}"):
        if f"{namespace}::{name}" in known:
            return f"{namespace}::{name}"
    return f"{namespace}::{plain}.{suffix}"


class _Solver:
    def __init__(self, program: Program, known: Any) -> None:
        self.program, self.known = program, known
        self.nodes: list[Node] = []
        self.names = {one.name for one in program.nodes} | {one.name for one in program.inputs}
        self.names |= set(program.weights)
        self.current: dict[str, str] = {}  # what a value is called now
        self.same: dict[str, str] = {}  # the results of in-place operators: their target
        self.versions: dict[str, int] = {}
        self.views: dict[str, _View] = {}
        self.storages = {one.name: one.storage for one in program.inputs if one.storage}
        self.storages |= program.weight_storages
        self.makers: dict[str, Node] = {}

    def fresh_name(self, name: str) -> str:
        count = 1
        while f"{name}_{count}" in self.names:
            count += 1
        self.names.add(f"{name}_{count}")
        return f"{name}_{count}"

    def canonical(self, name: str) -> str:
        while name in self.same:
            name = self.same[name]
        return name

    def read(self, name: str) -> str:
        """The current name of the value; a view whose base has changed is made again."""
        name = self.canonical(name)
        view = self.views.get(name)
        if view is not None:
            base = self.read(view.base)
            version = self.versions.get(view.base, 0)
            if view.seen != version:
                self.current[name] = self.make_again(name, view, base)
                self.versions[name] = self.versions.get(name, 0) + 1
                view.seen = version
        return self.current.get(name, name)

    def make_again(self, name: str, view: _View, base: str) -> str:
        node = view.node
        args = [Ref(base), *[self.renamed(one) for one in node.args[1:]]]
        made = dataclasses.replace(node, name=self.fresh_name(node.name), args=args)
        self.nodes.append(made)
        if node.name in self.program.pairs:
            self.program.pairs.add(made.name)
        if view.part is None:
            return made.name
        part = Node(self.fresh_name(name), "py::getitem", [Ref(made.name), view.part], {})
        if made.name in self.program.pairs:
            self.program.pairs.add(part.name)
            part.is_twice = True
        self.nodes.append(dataclasses.replace(part, place=node.place))
        return part.name

    def renamed(self, value: Any) -> Any:
        return replaced(value, self.read)

    def write(self, name: str, new: str, by: Node) -> None:
        name = self.canonical(name)
        self.current[name] = new
        self.versions[name] = self.versions.get(name, 0) + 1
        view = self.views.get(name)
        if view is not None:
            base = self.current.get(view.base, view.base)
            self.write(view.base, self.put_back(view, base, new, by), by)
            view.seen = self.versions[view.base]

    def emit(self, target: str, args: list[Any], by: Node, hint: str) -> str:
        node = Node(self.fresh_name(hint), target, args, {}, place=by.place)
        if any(name in self.program.pairs for name in refs(args)):
            self.program.pairs.add(node.name)
            node.is_twice = not target.startswith("pairs::")
        self.nodes.append(node)
        return node.name

    def put_back(self, view: _View, base: str, new: str, by: Node) -> str:
        """The base with the view's new elements in it."""
        packet, node = _packet(view.node.target), view.node
        args = [*node.args[1:], *node.kwargs.values()]
        hint = view.base
        if packet in _RESHAPES:
            return self.emit("sardonyx::put_back", [Ref(base), Ref(new)], by, hint)
        if packet == "permute" or node.target == "prims::transpose.default":
            dims = [one % len(args[0]) for one in args[0]]
            back = [dims.index(i) for i in range(len(dims))]
            return self.emit(node.target, [Ref(new), back], by, hint)
        if packet in ("transpose", "swapaxes", "swapdims", "t", "numpy_T", "mT", "adjoint"):
            return self.emit(node.target, [Ref(new), *args], by, hint)
        if packet in ("movedim", "moveaxis"):
            return self.emit(node.target, [Ref(new), args[1], args[0]], by, hint)
        if packet == "as_strided":
            target = "aten::as_strided_scatter.default"
            return self.emit(target, [Ref(base), Ref(new), *self.renamed(args)], by, hint)
        if packet == "diagonal":
            target = "aten::diagonal_scatter.default"
            return self.emit(target, [Ref(base), Ref(new), *args], by, hint)
        if packet in ("select", "slice"):
            target = f"aten::{packet}_scatter.default"
            return self.emit(target, [Ref(base), Ref(new), *self.renamed(args)], by, hint)
        if packet == "narrow" and not list(refs(args)):
            ends = [args[0], args[1], args[1] + args[2]]
            target = "aten::slice_scatter.default"
            return self.emit(target, [Ref(base), Ref(new), *ends], by, hint)
        if packet in _SPLITS or packet == "unbind":
            parts = self.emit(node.target, [Ref(base), *self.renamed(args)], by, node.name)
            dim = node.kwargs.get("dim", node.args[-1] if len(node.args) > (packet != "unbind") + 1
                                  else 0)  # fmt: skip
            target = "sardonyx::put_back_row" if packet == "unbind" else "sardonyx::put_back_part"
            return self.emit(target, [Ref(parts), Ref(new), view.part, dim], by, hint)
        raise UnsolvedError(by, f"it writes into a view that `{node.target}` has made")

    def run(self) -> None:
        for node in self.program.nodes:
            self.makers[node.name] = node
            if node.writes:
                self.in_place(node)
                continue
            new = dataclasses.replace(
                node,
                args=[self.renamed(one) for one in node.args],
                kwargs={key: self.renamed(one) for key, one in node.kwargs.items()},
            )
            self.nodes.append(new)
            self.see_view(node)

    def see_view(self, node: Node) -> None:
        """Notes whether the value is a view of one that the node reads."""
        if not node.storage:
            return
        self.storages[node.name] = node.storage
        if node.target == "py::getitem":
            maker = self.makers.get(node.args[0].name)
            base = next((one for one in refs(maker.args) if self.is_in(one, node)), None) \
                if maker is not None else None  # fmt: skip
            if base is not None and maker is not None:
                self.note(node.name, base, maker, node.args[1])
            return
        for name in refs(node.args[:1]):
            if self.is_in(name, node):
                self.note(node.name, name, node, None)
                return

    def is_in(self, name: str, node: Node) -> bool:
        return self.storages.get(name) == node.storage

    def note(self, name: str, base: str, maker: Node, part: int | None) -> None:
        base = self.canonical(base)
        self.views[name] = _View(base, maker, part, self.versions.get(base, 0))

    def needs_cast(self, node: Node, arguments: list[Any]) -> bool:
        """Whether the result may have another element type than the target."""
        return node.name not in self.program.pairs and len(set(refs(arguments))) > 1

    def in_place(self, node: Node) -> None:
        packet = _packet(node.target)
        if packet in _NO_WRITES:
            raise UnsolvedError(node, "it changes the shape of a tensor in place")
        if packet in ("resize", "resize_", "resize_as_"):
            name, bases = self.canonical(node.writes), {one.base for one in self.views.values()}
            if name in self.views or name in bases:
                raise UnsolvedError(node, "it changes the size of a tensor that has views")
        args = [self.renamed(one) for one in node.args]
        kwargs = {key: self.renamed(one) for key, one in node.kwargs.items()}
        target = self.read(node.writes)
        new = dataclasses.replace(
            node,
            target=functional(node.target, self.known),
            args=args,
            kwargs=kwargs,
            writes="",
            into=target if self.needs_cast(node, [*args, *kwargs.values()]) else "",
        )
        self.nodes.append(new)
        self.storages[node.name] = node.storage
        if packet != "detach_":
            self.write(node.writes, node.name, node)
        self.same[node.name] = self.canonical(node.writes)
        if packet == "detach_":
            self.nodes.pop()


def without_mutation(program: Program, known: Any) -> list[tuple[str, str]]:
    """Rewrites the program; returns the inputs and weights that it changes, with new values."""
    for body in program.bodies.values():
        changed = without_mutation(body, known)
        if changed:
            raise UnsolvedError(
                body.nodes[-1], "a branch or loop changes a tensor from outside of it"
            )
    if not any(node.writes for node in program.nodes):
        return []
    solver = _Solver(program, known)
    solver.run()
    program.outputs = [solver.renamed(one) for one in program.outputs]
    sources = [*[one.name for one in program.inputs], *program.weights]
    changed = [(name, solver.read(name)) for name in sources if solver.versions.get(name)]
    program.nodes = solver.nodes
    return changed


def _new_statistics(node: Node, taken: set[str]) -> list[Node]:
    """Adds the nodes after a node that update its running statistics."""
    first, training, momentum = STATISTICS[node.target]
    if training is not None and not node.args[training]:
        return []
    name = f"{node.name}_statistics"
    while name in taken:
        name += "_"
    mean, var = node.args[first], node.args[first + 1]
    args = [node.args[0], mean, var, node.args[momentum]]
    made = [Node(name, "sardonyx::running_statistics", args, {}, place=node.place)]
    for i, one in enumerate((mean, var)):
        part = Node(f"{name}_{i}", "py::getitem", [Ref(name), i], {}, place=node.place)
        write = Node(f"{name}_{i}_copy", "aten::copy_.default", [one, Ref(part.name)], {})
        write.place, write.writes = node.place, one.name
        made += [part, write]
    return made


def changed_statistics(program: Program) -> list[Problem]:
    """Normalisation in training changes buffers, and its schema does not say so."""
    taken = {node.name for node in program.nodes}
    nodes: list[Node] = []
    for node in program.nodes:
        nodes.append(node)
        if node.target in STATISTICS:
            nodes += _new_statistics(node, taken)
    program.nodes = nodes
    places = {"aten::batch_norm.default": (3, 5), "aten::instance_norm.default": (3, 5)}
    found = []
    for node in program.nodes:
        if node.target not in places or len(node.args) < 6:
            continue
        mean, training = (node.args[i] for i in places[node.target])
        if training and isinstance(mean, Ref) and mean.name in program.weights:
            words = f"`{node.target}` in training changes its running statistics"
            found.append(Problem(node, words, "export after `module.eval()`"))
    return found
