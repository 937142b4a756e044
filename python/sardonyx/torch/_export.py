"""`export` and `convert`: from a module to an ONNX model, by way of a script."""

from __future__ import annotations

import contextlib
import gc
import operator
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core import TorchProgram, read_torch_file, torch_opset, torch_size_warning
from ._exported import Exported, ExportError, finished, own_names, warn
from ._hints import joined_inputs, notes, reads_training
from ._library import Library, library_of

if TYPE_CHECKING:
    import os

    import torch

_TRAINING = "the module is in training mode: export after `module.eval()`"
_LEFTOVERS = (
    "the program has constants that are tensors of a trace: torch.export does not capture "
    "`torch.func.grad`, `vjp` and what is built on them\n"
    "   = help: compute gradients with `torch.autograd.grad`"
)
_NOT_TRACED = (
    "PyTorch cannot trace the program again without `torch.func.jvp`, as `run_decompositions` does"
)


def convert(
    exported_program: torch.export.ExportedProgram | str | os.PathLike[str],
    *,
    dynamic_shapes: Any = None,
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    output: str | os.PathLike[str] | None = None,
    opset: int | None = None,
    state: str = "outputs",
    verify: bool = False,
    metadata: bool = True,
    dims: Mapping[str, str] | None = None,
    target: str | None = None,
    library: Any = None,
) -> Exported:
    """The ONNX model of an ExportedProgram, as `export` makes it, or of a .pt2 file.

    A file is read without torch, and nothing in it is unpickled. `dims` are names of dimensions
    in place of those in the file, such as `{"s77": "batch"}`. `target` and `library` are those of
    `export`.
    """
    import os

    for name, names in (("input_names", input_names), ("output_names", output_names)):
        if isinstance(names, str):
            raise TypeError(f'`{name}` is a list of names: write `["{names}"]` for one')
    if opset is not None and not hasattr(opset, "__index__"):
        raise TypeError(f"`opset` is a whole number, such as 20, not `{opset!r}`")
    if state not in ("outputs", "drop", "error"):
        raise ValueError(f'`state` is "outputs", "drop" or "error", not {state!r}')
    opset = torch_opset(target, opset if opset is None else operator.index(opset))
    own = library_of(library)
    if isinstance(exported_program, (str, os.PathLike)):
        if verify:
            raise ValueError("`verify` runs torch: load the file with torch.export.load")
        file = _read_file(
            exported_program, opset, dims or {}, state, input_names, output_names, own
        )
        warn(file.size_warning)
        stored = {name: np.asarray(one) for name, one in file.arrays.items()}
        made = Exported(file, stored, opset, metadata, target, own)
        made._check()
    else:
        warn(torch_size_warning(getattr(exported_program, "_guards_code", None) or ()))
        warn(joined_inputs(exported_program))
        options = (opset, state, metadata, target, own, input_names, output_names)
        exported_program, made = _made(exported_program, dynamic_shapes, own, options)
        with _collector_paused():
            made._check()
        if verify:
            from ._verify import verify as check

            check(exported_program, made)
    if output is not None:
        made.save(output)
    return made


@contextlib.contextmanager
def _collector_paused() -> Iterator[None]:
    """What a conversion makes is kept, so that Python would look through it again and again."""
    is_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_on:
            gc.enable()


def _made(
    exported: torch.export.ExportedProgram, shapes: Any, own: Library, options: tuple[Any, ...]
) -> tuple[torch.export.ExportedProgram, Exported]:
    """The program that has been converted, and what it is.

    Where calls of `torch.vmap` would become loops, torch traces the program again without them,
    which takes long.
    """
    from ._capture import program_of
    from ._decompose import (
        functorch_levels_kept,
        has_wrapped_weights,
        leftovers,
        transformations,
        without_tokens,
    )
    from ._operators import overloads

    if leftovers(exported):
        raise ExportError(_LEFTOVERS)
    if has_wrapped_weights(exported):
        exported = exported.run_decompositions({})
    exported = without_tokens(exported)
    known = {**overloads(), **own.known} if own.known else overloads()
    found = transformations(exported)
    if found <= {"vmap"}:
        try:
            with _collector_paused():
                made = finished(*program_of(exported, known, shapes), *options)
            if not made.has_vmap_loops:
                return exported, made
        except ExportError:
            if not found:
                raise
    try:
        with functorch_levels_kept():
            decomposed = exported.run_decompositions({})
    except Exception as error:
        if "other" not in found:
            raise
        raise ExportError(f"{_NOT_TRACED}: {str(error).splitlines()[0]}") from error
    exported = without_tokens(decomposed)
    return exported, finished(*program_of(exported, known, shapes), *options)


def _read_file(
    path: str | os.PathLike[str],
    opset: int,
    dims: Mapping[str, str],
    state: str,
    inputs: Sequence[str] | None,
    outputs: Sequence[str] | None,
    library: Library,
) -> TorchProgram:
    import os

    wrong = [one for one in dims.values() if not one.isidentifier()]
    if wrong:
        raise ValueError(f"`{wrong[0]}` is not a valid name for a dimension")
    own = own_names(library)
    names = (list(inputs or []), list(outputs or []))
    try:
        return read_torch_file(os.fspath(path), opset, dict(dims), state, *names, own)
    except ValueError as error:
        raise ExportError(str(error)) from None


def _torch_shapes(shapes: Any) -> Any:
    """What torch takes: a name alone is a dimension of which torch finds out what it may be."""
    import torch

    if isinstance(shapes, str):
        return torch.export.Dim.AUTO
    if isinstance(shapes, dict):
        return {key: _torch_shapes(one) for key, one in shapes.items()}
    if isinstance(shapes, (list, tuple)):
        return type(shapes)(_torch_shapes(one) for one in shapes)
    return shapes


def _module_in(module: Any) -> torch.nn.Module:
    """The module that torch.export takes: one that has been compiled or wrapped is opened."""
    import torch

    if isinstance(module, torch._dynamo.OptimizedModule):
        return _module_in(module._orig_mod)
    if isinstance(module, (torch.nn.DataParallel, torch.nn.parallel.DistributedDataParallel)):
        return _module_in(module.module)
    if isinstance(module, torch.jit.ScriptModule):
        raise TypeError("a module of TorchScript is not exported: give the module it was made of")
    if isinstance(module, type):
        raise TypeError(f"`{module.__name__}` is a class: give a module, `{module.__name__}(...)`")
    if not isinstance(module, torch.nn.Module):
        what = "call a function in `forward` of a module" if callable(module) else "give a module"
        raise TypeError(f"`{type(module).__name__}` is not a `torch.nn.Module`: {what}")
    named = [*module.named_parameters(), *module.named_buffers()]
    if empty := next((name for name, one in named if one.is_meta), None):
        raise ValueError(f"`{empty}` is on the device `meta` and has no elements to export")
    return module


def _arguments(args: Any, kwargs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    import torch

    if isinstance(args, (torch.Tensor, np.ndarray)):
        raise TypeError("`args` is a tuple of the arguments: write `(x,)` for one tensor")
    if isinstance(args, Mapping):
        raise TypeError("`args` is a tuple of the arguments: give those by name as `kwargs`")
    if not isinstance(args, (tuple, list)):
        raise TypeError(f"`args` is a tuple of the arguments, not `{type(args).__name__}`")
    if not isinstance(kwargs or {}, Mapping):
        raise TypeError(
            f"`kwargs` is a mapping of arguments, not `{type(kwargs).__name__}`: the file to write "
            "is `output=`"
        )
    leaves = torch.utils._pytree.tree_leaves((args, kwargs))
    if any(isinstance(one, np.ndarray) for one in leaves):
        raise TypeError("a NumPy array is not exported: give the tensor, `torch.from_numpy(x)`")
    if any(isinstance(one, torch.Tensor) and one.is_nested for one in leaves):
        raise TypeError(
            "a nested tensor is not exported: give the module `x.values()` and `x.offsets()`, or "
            "a padded tensor"
        )
    return tuple(args), dict(kwargs or {})


def _apart(module: torch.nn.Module, arguments: tuple[Any, Any]) -> tuple[Any, Any]:
    """Copies of a tensor that is given several times, or that is one of the module's: torch.export
    makes one input of them."""
    import torch

    seen = {id(one) for one in (*module.parameters(), *module.buffers())}

    def alone(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        if id(value) in seen:
            return value.detach().clone().requires_grad_(value.requires_grad)
        seen.add(id(value))
        return value

    made = [id(one) for one in torch.utils._pytree.tree_leaves(arguments)
            if isinstance(one, torch.Tensor)]  # fmt: skip
    if len({*made} | seen) == len(made) + len(seen):
        return arguments
    return torch.utils._pytree.tree_map(alone, arguments)


def _captured(
    module: torch.nn.Module,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    shapes: Any,
    strict: bool | str,
) -> torch.export.ExportedProgram:
    import torch

    if strict == "draft":
        draft = torch.export.draft_export(module, args, kwargs, dynamic_shapes=shapes)
        report: Any = draft._report  # type: ignore[attr-defined]
        if not report.successful():
            text = re.sub(r"\x1b\[[0-9;]*m", "", str(report)).strip()  # colours
            raise ExportError(f"torch.export cannot capture the module\n\n{text}")
        return draft
    if not isinstance(strict, bool):
        raise ValueError(f'`strict` is True, False or "draft", not {strict!r}')
    try:
        return torch.export.export(module, args, kwargs, dynamic_shapes=shapes, strict=strict)
    except Exception as error:
        if sys.version_info >= (3, 11):
            for note in notes(error, args, kwargs, shapes):
                error.add_note(note)
        raise


def export(
    module: torch.nn.Module,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any] | None = None,
    *,
    dynamic_shapes: Any = None,
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    output: str | os.PathLike[str] | None = None,
    opset: int | None = None,
    state: str = "outputs",
    verify: bool = False,
    metadata: bool = True,
    strict: bool | str = False,
    target: str | None = None,
    library: Any = None,
) -> Exported:
    """The ONNX model of a module, which torch.export captures for the arguments.

    `dynamic_shapes` is torch.export's, and its names are those of the dimensions; a string in place
    of a Dim names one of which torch finds out which sizes it may have. `output` is the
    file to write, `opset` the version of ai.onnx (20 unless given). `state` says what happens to
    buffers and inputs that the module changes: "outputs" returns them as further outputs, "drop"
    discards the changes, "error" refuses. `verify` runs both on the arguments and compares.
    `input_names` and `output_names` are names in place of torch's, in order.
    `metadata` says whether nodes have the module and the line that they come from. `target`, such
    as "onnxruntime-1.20", makes a model that this release runs: with the opset that it reads, and
    casts where it has no kernel for an element type. `strict` is torch.export's; "draft" captures
    with torch.export.draft_export, and raises its report of all that stands in the way.
    `library` has your own operators, which win over those of `aten`: the path of a file with
    functions below `@operator("mylib::op")`, or the module, or a mapping such as
    `{"mylib::op": function}`, or a sequence of these.
    """
    module = _module_in(module)
    given = _apart(module, _arguments(args, kwargs))
    captured = _captured(module, *given, _torch_shapes(dynamic_shapes), strict)
    try:
        return convert(
            captured, dynamic_shapes=dynamic_shapes, input_names=input_names,
            output_names=output_names, output=output, opset=opset, state=state,
            verify=verify, metadata=metadata, target=target, library=library,
        )  # fmt: skip
    except ExportError as error:
        if ".eval()" not in str(error) and reads_training(module):
            raise ExportError(f"{error}\n\n{_TRAINING}") from None
        raise
