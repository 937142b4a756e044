"""metadata_props of nodes: where they come from, under the keys of torch.onnx."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._program import Body, ElementType, Node, Ref


def _value(value: Any) -> str:
    """An argument as FX prints it."""
    if type(value) in (int, bool, str, float):
        return repr(value)
    if isinstance(value, Ref):
        return f"%{value.name}"
    if isinstance(value, (list, tuple)):
        inner = ", ".join(map(_value, value))
        one = "," if isinstance(value, tuple) and len(value) == 1 else ""
        return f"({inner}{one})" if isinstance(value, tuple) else f"[{inner}]"
    if isinstance(value, (ElementType, Body)):
        return value.name
    return repr(value)


def _fx(node: Node) -> str:
    kwargs = ", ".join(f"{key}: {_value(one)}" for key, one in node.kwargs.items())
    target = f"torch.ops.{node.target.replace('::', '.')}"
    args = _value(tuple(node.args))
    return f"%{node.name} = call_function[target={target}](args = {args}, kwargs = {{{kwargs}}})"


def metadata_of(node: Node) -> dict[str, str]:
    """Of one operator of the program."""
    operator = node.target.replace("::", ".")
    scopes = [*node.place.modules, (node.name, operator)]
    found = {
        "namespace": "/".join(f"{path}: {name}" for path, name in scopes),
        "pkg.torch.onnx.class_hierarchy": repr([name for _, name in scopes]),
        "pkg.torch.onnx.name_scopes": repr([path for path, _ in scopes]),
        "pkg.torch.onnx.fx_node": _fx(node),
    }
    if node.place.trace:
        found["pkg.torch.onnx.stack_trace"] = node.place.trace
    return found


def metadata_by_line(lines: Sequence[Node | None]) -> dict[int, dict[str, str]]:
    """Of the nodes that the lines of a script make."""
    makers = {node.name: node for node in lines if node is not None}
    found = {}
    for number, node in enumerate(lines, 1):
        if node is None:
            continue
        while node.target == "py::getitem" and node.args[0].name in makers:
            node = makers[node.args[0].name]  # the operator that gives several results
        found[number] = metadata_of(node)
    return found
