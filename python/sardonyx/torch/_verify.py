"""`verify=True`: compares the results of torch and the evaluator, and finds where they differ."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from ._program import Node, Program, Ref

if TYPE_CHECKING:
    import torch

    from ._export import Exported

_TOLERANCES = {"float16": 2e-2, "bfloat16": 5e-2, "float32": 1e-3, "float64": 1e-6}


def _differ(ours: Any, theirs: Any) -> bool:
    a, b = np.asarray(ours), np.asarray(theirs)
    if a.shape != b.shape or a.dtype != b.dtype:
        return True
    tolerance = _TOLERANCES.get(b.dtype.name, 0.0)
    a, b = a.astype(np.float64), b.astype(np.float64)
    size = float(np.max(np.abs(b), initial=0.0, where=np.isfinite(b)))
    return not np.allclose(a, b, tolerance, tolerance * max(size, 1e-3), equal_nan=True)


def verify(exported_program: torch.export.ExportedProgram, made: Exported) -> None:
    """Raises an ExportError that names the first operator whose result differs."""
    import torch
    from torch.utils import _pytree

    from ._export import ExportError, _array

    args, kwargs = exported_program.example_inputs or ((), {})
    args, kwargs = _pytree.tree_map(
        lambda one: one.clone() if isinstance(one, torch.Tensor) else one, (args, kwargs)
    )
    leaves = [one for one in _pytree.tree_leaves((args, kwargs)) if isinstance(one, torch.Tensor)]
    arrays = [_array(one.clone()) for one in leaves]
    wanted: dict[str, Any] = {}

    class Recorder(torch.fx.Interpreter):
        def run_node(self, n: torch.fx.Node) -> Any:
            result = super().run_node(n)
            if isinstance(result, torch.Tensor):
                wanted[n.name] = _array(result.clone())
            return result

    with torch.no_grad():
        flat = exported_program._graph_module_flat_inputs(args, kwargs)
        Recorder(exported_program.graph_module).run(*flat)
    watched = [node for node in made._captured.nodes if node.type and node.name in wanted]
    results = _values(made, watched)(*arrays)
    results = list(results) if isinstance(results, (list, tuple)) else [results]
    for node, ours in zip(watched, results, strict=True):
        if _differ(ours, wanted[node.name]):
            raise ExportError(_words(node, ours, wanted[node.name]))


def _values(made: Exported, nodes: list[Node]) -> Any:
    """A model that gives the results of these nodes."""
    from ._export import Exported

    program: Program = dataclasses.replace(
        made._captured, outputs=[Ref(node.name) for node in nodes], output_names=[]
    )
    return Exported(program, made._weights, made.opset, library=made._library).compile()


def _words(node: Node, ours: Any, theirs: Any) -> str:
    a, b = np.asarray(ours), np.asarray(theirs)
    text = f"`{node.target}` gives something else than torch\n  --> {node.place}"
    text += f"\n   | {node.place.code}" if node.place.code else ""
    if a.shape != b.shape or a.dtype != b.dtype:
        return f"{text}\n   = {a.dtype}{list(a.shape)} where torch has {b.dtype}{list(b.shape)}"
    return f"{text}\n   = {a.ravel()[:4]} where torch has {b.ravel()[:4]}"
