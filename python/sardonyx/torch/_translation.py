"""Functions of the library for torch.onnx.export's `custom_translation_table`.

torch.onnx calls what is in the table with the values of the graph that it is making. Each call is a
program of one operator, which the compiler makes a model of; the model's nodes go into the graph.
"""

from __future__ import annotations

import difflib
import inspect
import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .._core import is_left_out
from ._operators import overloads
from ._program import ElementType, Input, Node, Program, Ref

if TYPE_CHECKING:
    import onnx_ir

_OPSET = 18  # torch.onnx makes its graphs in this one, and converts them afterwards
_calls = itertools.count(1)


def _overload_of(op: Any) -> Any:
    """The overload that is meant."""
    import torch

    if isinstance(op, torch._ops.OpOverload):
        return op
    if not isinstance(op, torch._ops.OpOverloadPacket):
        words = "an operator such as `torch.ops.aten.gelu.default`"
        raise TypeError(f"`translation` takes {words}, not {op!r:.80}")
    packet: Any = op  # PyTorch states no types for its methods
    names = packet.overloads()
    if "default" in names:
        return packet.default
    if len(names) == 1:
        return getattr(packet, names[0])
    raise ValueError(f"`{op}` has several overloads: say which of {', '.join(names)}")


def _target_of(overload: Any) -> str:
    schema = overload._schema
    target = f"{schema.name}.{schema.overload_name or 'default'}"
    if schema.is_mutable:
        raise ValueError(f"`{target}` writes in place: torch.onnx has no values that change")
    known = overloads()
    if target in known:
        return target
    complex_form = f"pairs::{target.partition('::')[2]}"
    if complex_form in known:
        raise ValueError(f"`{target}` is of complex tensors, which torch.onnx's table has not")
    similar = difflib.get_close_matches(target, known, 1)
    help = f" (did you mean `{similar[0]}`?)" if similar else ""
    raise ValueError(
        f"`{target}` is not in the library{help}: write it as a function below "
        f'`@sardonyx.torch.operator("{target}")`'
    )


class _Call:
    """The program of one call: the values that it reads are its inputs."""

    def __init__(self, target: str) -> None:
        self.target = target
        self.program = Program("main", is_model=True)
        self.values: list[onnx_ir.Value] = []

    def argument(self, value: Any, is_type: bool) -> Any:
        import onnx_ir

        if isinstance(value, (list, tuple)):
            return [self.argument(one, is_type) for one in value]
        if isinstance(value, onnx_ir.Value):
            return Ref(self.input(value))
        if is_type and value is not None:
            # torch.onnx gives the numbers of ONNX; -1 where it has None.
            return None if value == -1 else ElementType(onnx_ir.DataType(value).name)
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        raise TypeError(f"`{self.target}` of an argument of the type `{type(value).__name__}`")

    def input(self, value: onnx_ir.Value) -> str:
        for one, known in zip(self.program.inputs, self.values, strict=True):
            if known is value:
                return one.name
        if value.dtype is None:
            raise ValueError(f"`{self.target}` of `{value.name}`, whose type torch does not say")
        name = f"x{len(self.values)}"
        dims = [] if value.shape is None else [_dim(one) for one in value.shape]
        type = value.dtype.name + (f"[{', '.join(dims)}]" if dims else "")
        self.program.inputs.append(Input(name, type if value.shape is not None else ""))
        self.values.append(value)
        return name


def _dim(size: Any) -> str:
    if isinstance(size, int):
        return str(size)
    name = str(getattr(size, "value", size))
    return f'"{name}"' if name.isidentifier() else "None"


def _nodes(data: bytes, values: list[onnx_ir.Value]) -> tuple[list[Any], list[Any]]:
    """The nodes of a model that read these values in place of its inputs, and its results."""
    import onnx
    import onnx_ir

    graph = onnx_ir.from_proto(onnx.load_model_from_string(data)).graph
    results = list(graph.outputs)
    graph.outputs.clear()  # a value is an output of one graph alone
    now = dict(zip(graph.inputs, values, strict=True))
    front = []
    for inner in graph.initializers.values():
        constant = onnx_ir.node("Constant", [], {"value": inner.const_value})
        now[inner] = constant.outputs[0]
        front.append(constant)
    for inner, value in now.items():
        onnx_ir.convenience.replace_all_uses_with(inner, value)
    nodes = list(graph)
    graph.remove(nodes)
    number = next(_calls)
    for node in [*front, *nodes]:
        _rename(node, f"sardonyx_{number}_")
    return [*front, *nodes], [now.get(one, one) for one in results]


def _rename(node: Any, prefix: str) -> None:
    """Names that are not used elsewhere, also in bodies."""
    for output in node.outputs:
        output.name = f"{prefix}{output.name}" if output.name else None
    node.name = None
    for attribute in node.attributes.values():
        if attribute.type.name == "GRAPH":
            body = attribute.as_graph()
            for value in [*body.inputs, *body.initializers.values()]:
                value.name = f"{prefix}{value.name}"
            for inner in body:
                _rename(inner, prefix)


def translation(op: Any, *, opset: int = _OPSET) -> Callable[..., Any]:
    """The function that torch.onnx.export calls for an operator of its `custom_translation_table`.

    `op` is an overload such as `torch.ops.aten.gelu.default`, or an operator that has a default
    one; it is one of the library's, or declared by `sardonyx.torch.operator`. `opset` is the
    version of ai.onnx of the nodes. Raises TypeError and ValueError for what is no such operator.
    """
    from ._exported import finished

    overload = _overload_of(op)
    target = _target_of(overload)
    if not isinstance(opset, int) or opset < _OPSET:
        raise ValueError(f"`opset` is {_OPSET} or newer, not {opset!r}")
    parameters = overload._schema.arguments
    is_type = {one.name: "ScalarType" in str(one.real_type) for one in parameters}
    names = [one.name for one in parameters]

    def translated(*args: Any, **kwargs: Any) -> Any:
        from onnxscript import evaluator

        recorder = evaluator.default()
        if not hasattr(recorder, "nodes"):
            raise RuntimeError(
                f"the translation of `{target}` is called by torch.onnx.export alone"
            )
        call = _Call(target)
        node = Node("y", target, [], {})
        given = {**dict(zip(names, args, strict=False)), **kwargs}
        for i, (name, value) in enumerate(given.items()):
            if is_left_out(name):
                continue
            value = call.argument(value, is_type.get(name, False))
            if i == len(node.args) and i < len(args):
                node.args.append(value)
            else:
                node.kwargs[name] = value
        call.program.nodes = [node]
        call.program.outputs = [Ref("y")]
        made = finished(call.program, {}, opset, "drop")
        nodes, results = _nodes(made.to_model_bytes(), call.values)
        recorder.nodes.extend(nodes)
        return results[0] if len(results) == 1 else results

    translated.__name__ = translated.__qualname__ = target.partition("::")[2].replace(".", "_")
    translated.__doc__ = f"`{overload._schema}`, for torch.onnx."
    shown = [
        inspect.Parameter(
            one.name if one.name.isidentifier() and one.name != "from" else f"{one.name}_",
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            default=one.default_value if one.has_default_value() else inspect.Parameter.empty,
        )
        for one in parameters
    ]
    shown.sort(key=lambda one: one.default is not inspect.Parameter.empty)
    translated.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
    return translated
