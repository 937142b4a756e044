"""Operators that the library does not have, by what PyTorch decomposes them into.

One operator is traced at a time, for the arguments that it has in the graph, so that all others
stay what the user has written. A region of `torch.autocast` is traced as one operator, whose casts
are in the graph then.
"""

from __future__ import annotations

import contextlib
import copy
import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch import fx
from torch.export.graph_signature import InputKind
from torch.utils import _pytree

from .._core import functional_overload, vmap_target
from ._schema import schema_of

# In the `meta` of a graph that is not the one that torch has made: its values are of several
# traces, so that their storages do not say what lies in the same memory.
REMADE = "sardonyx_remade"
# What Python's own operations say.
_SIZES = frozenset(("sym_size", "sym_numel", "item", "_local_scalar_dense"))


def is_mark(node: fx.Node) -> bool:
    """Whether it is one of the marks in a graph between which operators are of single elements."""
    return _is_mark(node.target)


def _is_mark(target: Any) -> bool:
    return getattr(target, "__module__", "") == "torch._functorch.predispatch"


def graphs_in(module: torch.nn.Module) -> list[fx.GraphModule]:
    """The module's graph, and those inside of it."""
    return [one for one in module.modules() if isinstance(one, fx.GraphModule)]


def targets_in(module: fx.GraphModule) -> list[Any]:
    """What a graph calls, each once: most is called many times.

    By identity, as to compute the hash of an overload takes long.
    """
    targets = [node.target for node in module.graph.nodes if node.op == "call_function"]
    return list({id(target): target for target in targets}.values())


def transformations(exported: torch.export.ExportedProgram) -> set[str]:
    """The kinds of transformations of `torch.func` that have marks in it: "vmap" or "other"."""
    marks = {
        target.__name__ for graph in graphs_in(exported.graph_module)
        for target in targets_in(graph) if _is_mark(target)
    }  # fmt: skip
    return {"vmap" if vmap_target(name) else "other" for name in marks}


def has_wrapped_weights(exported: torch.export.ExportedProgram) -> bool:
    """Whether a weight is a tensor of a class of its own that holds others, as torchao's are."""
    from torch.utils._python_dispatch import is_traceable_wrapper_subclass

    return any(is_traceable_wrapper_subclass(one) for one in exported.state_dict.values())


def without_tokens(exported: torch.export.ExportedProgram) -> torch.export.ExportedProgram:
    """Without the inputs and outputs by which `run_decompositions` keeps checks in order."""
    if all(one.kind != InputKind.TOKEN for one in exported.graph_signature.input_specs):
        return exported
    from torch.export._remove_effect_tokens_pass import _remove_effect_tokens

    made = copy.copy(exported)  # the user's own stays as it is
    made._graph_module = copy.deepcopy(exported.graph_module)
    made._graph_signature = copy.deepcopy(exported.graph_signature)
    return _remove_effect_tokens(made)


@contextlib.contextmanager
def functorch_levels_kept() -> Iterator[None]:
    """After an error inside of a transformation, torch works as before it."""
    from torch._C import _exit_dual_level, _functorch
    from torch.autograd import forward_ad

    depth = _functorch.get_dynamic_layer_stack_depth()
    try:
        yield
    except Exception:
        if forward_ad._current_level < 0:  # the user has none open
            with contextlib.suppress(RuntimeError):  # neither has the transformation
                _exit_dual_level(level=0)
        raise
    finally:
        _functorch.pop_dynamic_layer_stack_and_undo_to_depth(depth)


def leftovers(exported: torch.export.ExportedProgram) -> list[str]:
    """The constants that are no arrays, but tensors of a transformation that is over."""
    from torch._C import _functorch

    return [
        name for name, one in exported.constants.items()
        if isinstance(one, torch.Tensor) and _functorch.is_functorch_wrapped_tensor(one)
    ]  # fmt: skip


def _is_known(overload: Any, known: Mapping[str, Any]) -> bool:
    schema = schema_of(overload)
    key = schema.target
    if schema.means_nothing or schema.packet in _SIZES:
        return True
    if schema.is_mutable:
        key = functional_overload(key, known)
    return key in known or f"pairs::{schema.target.partition('::')[2]}" in known


def _tables(known: Mapping[str, Any]) -> dict[Any, Callable[..., Any]]:
    """PyTorch's decompositions of what the library does not have."""
    from torch._decomp import decomposition_table

    return {
        overload: function for overload, function in decomposition_table.items()
        if isinstance(overload, torch._ops.OpOverload) and not _is_known(overload, known)
    }  # fmt: skip


def _without_write(overload: Any) -> Any:
    """The overload that computes what this one writes; None: there is none."""
    if not overload._schema.is_mutable:
        return overload
    space, packet = overload._schema.name.split("::")
    plain = getattr(getattr(torch.ops, space), packet.removesuffix("_"), None)
    found = getattr(plain, overload._schema.overload_name or "default", None)
    return None if found is None or found._schema.is_mutable else found


def _writes(node: fx.Node) -> bool:
    schema = getattr(node.target, "_schema", None)
    return schema is not None and bool(schema.is_mutable)


def _is_view(node: fx.Node) -> bool:
    """Whether the result lies in the memory of an argument."""

    def storage(one: Any) -> Any:
        is_strided = isinstance(one, torch.Tensor) and one.layout == torch.strided
        return one.untyped_storage()._cdata if is_strided else None

    inputs = {storage(one.meta.get("val")) for one in node.all_input_nodes} - {None}
    results = _pytree.tree_leaves(node.meta.get("val"))
    return any(storage(one) in inputs for one in results)


def _facts(environment: Any) -> Any:
    """The assumptions about sizes."""
    return (len(environment.guards), dict(environment.replacements)) if environment else None


def _traced(
    called: Callable[..., Any], node: fx.Node, tables: Mapping[Any, Any]
) -> tuple[fx.GraphModule, list[fx.Node]] | None:
    """A node's computation as a graph, and the values that it reads; None if it has no trace."""
    from torch._guards import detect_fake_mode
    from torch.fx.experimental.proxy_tensor import make_fx

    leaves, spec = _pytree.tree_flatten((node.args, node.kwargs))
    given = list(dict.fromkeys(one for one in leaves if _is_value(one)))
    values = [one.meta.get("val") for one in given]

    def function(*now: Any) -> Any:
        found = dict(zip(given, now, strict=True))
        args, kwargs = _pytree.tree_unflatten(
            [found[one] if _is_value(one) else one for one in leaves], spec
        )
        return called(*args, **kwargs)

    mode = detect_fake_mode(values)
    environment = mode.shape_env if mode is not None else None
    before = _facts(environment)
    try:
        with torch.no_grad():
            made = make_fx(function, decomposition_table=dict(tables), tracing_mode="symbolic",
                           _allow_non_fake_inputs=True)(*values)  # fmt: skip
    except Exception:
        return None  # for these arguments; the operator is reported as it is
    # A graph that is valid only for some sizes does not replace the operator.
    return (made, given) if _facts(environment) == before else None


def _is_value(one: Any) -> bool:
    """Whether an argument is a value of the graph, not a body."""
    return isinstance(one, fx.Node) and "val" in one.meta


def _is_autocast(node: fx.Node) -> bool:
    """Whether it is a region in which operators choose their types."""
    return str(node.target) == "wrap_with_autocast" and node.args[2] is True


def _region(module: fx.GraphModule) -> Callable[..., Any]:
    """The contents of such a region, with its casts."""

    def called(
        device: str, dtype: Any, enabled: bool, cache: Any, body: fx.Node, *args: Any
    ) -> Any:
        inner = getattr(module, str(body.target))
        # The kernels of oneDNN for recurrent layers have other types than torch.export's graph
        # says, and only some processors have them.
        without = torch.backends.mkldnn.flags(enabled=False)
        with without, torch.autocast(device, dtype, enabled, bool(cache)):
            return inner(*args)

    return called


def _is_flex_attention(node: fx.Node) -> bool:
    return str(node.target) == "flex_attention"


def _dense(target: Any, module: fx.GraphModule) -> Callable[..., Any]:
    """The kernel of an operator with bodies that is made of other operators."""
    kernel = target.py_kernels[torch._C.DispatchKey.CompositeExplicitAutograd]

    def body(one: Any) -> Any:
        return getattr(module, str(one.target)) if isinstance(one, fx.Node) else one

    return lambda *args: kernel(*_pytree.tree_map(body, args))


def _called(node: fx.Node, module: fx.GraphModule) -> Callable[..., Any] | None:
    if _is_autocast(node):
        return _region(module)
    if _is_flex_attention(node):
        return _dense(node.target, module)
    return None if not _writes(node) and _is_view(node) else _without_write(node.target)


def _expansion(
    node: fx.Node,
    module: fx.GraphModule,
    known: Mapping[str, Any],
    tables: Mapping[Any, Any],
    is_body: bool,
) -> tuple[fx.GraphModule, list[fx.Node]] | None:
    """The graph that replaces a node; None if the library does not have its operators."""
    called = _called(node, module)
    found = _traced(called, node, tables) if called is not None else None
    if found is None:
        return None
    if is_body and any(one.op == "get_attr" for one in found[0].graph.nodes):
        return None  # bodies have no constants
    targets = [one.target for one in found[0].graph.nodes if one.op == "call_function"]
    overloads = [one for one in targets if isinstance(one, torch._ops.OpOverload)]
    return found if all(_is_known(one, known) for one in overloads) else None


class _Copy:
    """A module's graph, made again with expansions in place of nodes."""

    def __init__(self, module: fx.GraphModule) -> None:
        self.module = module
        self.graph = fx.Graph()
        self.names = {node.name for node in module.graph.nodes}
        self.now: dict[fx.Node, Any] = {}
        self.constants: dict[str, torch.Tensor] = {}

    def plain(self, node: fx.Node) -> None:
        source: Any = node.args[0] if node.args else None
        if node.target is operator.getitem and isinstance(self.now.get(source), (list, tuple)):
            self.now[node] = self.now[source][node.args[1]]
        else:
            self.now[node] = self.graph.node_copy(node, lambda one: self.now[one])

    def name_of(self, node: fx.Node, inner: fx.Node, result: Any) -> str:
        """The result has the operator's name; what leads to it, one that no other node has."""
        if inner is result and not _writes(node):
            return str(node.name)
        name = f"{node.name}_{inner.name}"
        while name in self.names:
            name += "_"
        self.names.add(name)
        return name

    def expanded(self, node: fx.Node, inner: fx.GraphModule, given: list[fx.Node]) -> None:
        found: dict[fx.Node, Any] = {}
        rest = iter(given)
        result = next(iter(reversed(inner.graph.nodes))).args[0]
        for one in inner.graph.nodes:
            if one.op == "placeholder":
                found[one] = self.now[next(rest)]
            elif one.op == "output":
                self.results(node, _pytree.tree_map(lambda v: found.get(v, v), one.args[0]))
            else:
                args, kwargs = fx.node.map_arg((one.args, one.kwargs), lambda v: found[v])
                name = self.name_of(node, one, result)
                made = self.graph.create_node(one.op, one.target, args, kwargs, name)
                made.meta = dict(one.meta)
                found[one] = made
                if one.op == "get_attr":
                    made.target = f"{node.name}_constant_{len(self.constants)}"
                    self.constants[made.target] = getattr(inner, one.target)
                for key in ("stack_trace", "nn_module_stack"):
                    made.meta[key] = one.meta.get(key) or node.meta.get(key)

    def results(self, node: fx.Node, made: Any) -> None:
        if not _writes(node):
            self.now[node] = made
            return
        target: Any = node.args[0]
        written = self.now[target]
        new = self.graph.create_node(
            "call_function", torch.ops.aten.copy_.default, (written, made), {}, node.name
        )
        new.meta = dict(node.meta)
        self.now[node] = new

    def finished(self) -> fx.GraphModule:
        made = fx.GraphModule(_named(self.module, self.constants), self.graph)
        made.meta = {**self.module.meta, REMADE: True}
        return made


def _named(module: fx.GraphModule, constants: Mapping[str, torch.Tensor]) -> torch.nn.Module:
    """What the graph's `get_attr` nodes name."""
    made = torch.nn.Module()
    for name, child in module.named_children():
        setattr(made, name, child)
    for node in module.graph.nodes:
        if node.op == "get_attr" and "." not in node.target:
            setattr(made, node.target, getattr(module, node.target))
    for name, tensor in constants.items():
        made.register_buffer(name, tensor, persistent=False)
    return made


def decomposed(
    module: fx.GraphModule, known: Mapping[str, Any], is_body: bool = False
) -> fx.GraphModule:
    """The graph without operators that the library lacks and PyTorch can decompose.

    The module itself where it has none. Constants that come from a decomposition are tensors that
    `get_attr` nodes name.
    """
    inner = {
        name: decomposed(child, known, is_body=True) for name, child in module.named_children()
        if isinstance(child, fx.GraphModule)
    }  # fmt: skip
    targets = targets_in(module)
    lacking = {
        id(target) for target in targets
        if isinstance(target, torch._ops.OpOverload) and not _is_known(target, known)
    }  # fmt: skip
    has_bodies = any(isinstance(target, torch._ops.HigherOrderOperator) for target in targets)
    unknown = [
        node for node in (module.graph.nodes if lacking or has_bodies else ())
        if node.op == "call_function"
        and (id(node.target) in lacking or _is_autocast(node) or _is_flex_attention(node))
    ]  # fmt: skip
    changed = {name: one for name, one in inner.items() if one is not getattr(module, name)}
    if not unknown and not changed:
        return module
    tables = _tables(known) if unknown else {}
    expansions = {node: _expansion(node, module, known, tables, is_body) for node in unknown}
    copy = _Copy(module)
    for node in module.graph.nodes:
        expansion = expansions.get(node)
        if expansion is None:
            copy.plain(node)
        else:
            copy.expanded(node, *expansion)
    made = copy.finished()
    for name, child in changed.items():
        setattr(made, name, child)
    return made
