"""`verify=True`: compares the results of torch and the evaluator, and finds where they differ."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from ._exported import Exported, ExportError, array_of

if TYPE_CHECKING:
    import torch

    from ._exported import Row

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
    from torch._C import _functorch
    from torch.utils import _pytree

    from ._decompose import functorch_levels_kept

    args, kwargs = exported_program.example_inputs or ((), {})
    args, kwargs = _pytree.tree_map(
        lambda one: one.clone() if isinstance(one, torch.Tensor) else one, (args, kwargs)
    )
    leaves = [one for one in _pytree.tree_leaves((args, kwargs)) if isinstance(one, torch.Tensor)]
    arrays = [array_of(one.clone()) for one in leaves]
    wanted: dict[str, Any] = {}

    class Recorder(torch.fx.Interpreter):
        def run_node(self, n: torch.fx.Node) -> Any:
            result = super().run_node(n)
            is_tensor = isinstance(result, torch.Tensor)
            # Inside of `torch.vmap` a tensor stands for a batch of them.
            if is_tensor and not _functorch.is_functorch_wrapped_tensor(result):
                wanted[n.name] = array_of(result.clone())
            return result

    with torch.no_grad(), functorch_levels_kept():
        flat = exported_program._graph_module_flat_inputs(args, kwargs)
        # The run writes to copies; tensors that share memory share it there as well.
        shared: dict[int, Any] = {}
        flat = [
            copy.deepcopy(one.detach(), shared) if isinstance(one, torch.Tensor) else one
            for one in flat
        ]
        Recorder(exported_program.graph_module).run(*flat)
    watched = [row for row in made._program.tensors if row[0] in wanted]
    results = _values(made, watched)(*arrays)
    results = list(results) if isinstance(results, (list, tuple)) else [results]
    for row, ours in zip(watched, results, strict=True):
        if _differ(ours, wanted[row[0]]):
            raise ExportError(_words(row, ours, wanted[row[0]]))


def _values(made: Exported, rows: list[Row]) -> Any:
    """A model that gives the results of these nodes."""
    program = made._program.with_outputs([row[0] for row in rows])
    return Exported(program, made._weights, made.opset, library=made._library).compile()


def _words(row: Row, ours: Any, theirs: Any) -> str:
    _, target, place, code = row
    a, b = np.asarray(ours), np.asarray(theirs)
    text = f"`{target}` gives something else than torch\n  --> {place}"
    text += f"\n   | {code}" if code else ""
    if a.shape != b.shape or a.dtype != b.dtype:
        return f"{text}\n   = {a.dtype}{list(a.shape)} where torch has {b.dtype}{list(b.shape)}"
    return f"{text}\n   = {a.ravel()[:4]} where torch has {b.ravel()[:4]}"
