"""What helps where torch.export has failed."""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterator
from typing import Any

_DRAFT = '`export(..., strict="draft")` lists all that stands in the way'
# What stands in a message of torch, and what helps.
_HINTS = (
    (
        r"Could not (guard on|extract specialized integer from) data-dependent expression",
        (
            "a branch or loop asks for elements, which are known only when the model runs: write "
            "`torch.where`, `torch.cond` or `while_loop`"
        ),
    ),
    (r"\.numpy\(\) is not supported", "write it with functions of torch in place of NumPy's"),
    (
        r"torch\.classes\.(quantized|rnn)\.\w+ ",
        (
            "torch.export does not capture layers that `quantize_dynamic` or `convert` of "
            "torch.ao.quantization has made: quantize the exported program with `prepare_pt2e` "
            "and `convert_pt2e` of torchao"
        ),
    ),
    (
        r"(?:Found|Unsupported input type) <class '(?:[\w<>]+\.)*(\w+)'>",
        "if it is a dataclass, call `torch.export.register_dataclass({})` before",
    ),
)
_PACKED = (
    "torch.export does not capture layers of packed sequences: give them the padded tensor, and "
    "mask what is behind the ends"
)
_ONE = (
    "`{}` has size {} in the example, which torch.export takes for the only one: give an example "
    "with 2 or more"
)


def reads_training(module: Any) -> bool:
    """Whether a part in training mode computes something else in evaluation: its class asks."""
    from torch import nn

    def asks(kind: type) -> bool:
        codes = (getattr(one, "__code__", None) for one in vars(kind).values())
        return any(code is not None and "training" in code.co_names for code in codes)

    kinds = {type(one) for one in module.modules() if one.training}
    bases = {base for kind in kinds for base in kind.__mro__} - {*nn.Module.__mro__}
    return any(asks(base) for base in bases)


def joined_inputs(program: Any) -> str:
    """A warning of inputs that torch.export has taken for one: the example had one tensor for them.
    It reads the last of them for all."""
    import torch

    leaves = torch.utils._pytree.tree_leaves(getattr(program, "example_inputs", None))
    names = {id(one): [f"`{name}`"] for name, one in program.state_dict.items()}
    for name, one in zip(program.graph_signature.user_inputs, leaves, strict=False):
        if isinstance(one, torch.Tensor):
            names.setdefault(id(one), []).append(f"`{name}`")
    found = [", ".join(one) for one in names.values() if len(one) > 1]
    if not found:
        return ""
    return (
        f"the example has one tensor for {'; '.join(found)}, and torch.export reads the last of "
        "them for all: export with different tensors"
    )


def small_sizes(values: Any, shapes: Any) -> Iterator[tuple[str, int]]:
    """The dimensions that `dynamic_shapes` names, and their sizes where torch keeps these."""
    import torch

    if isinstance(values, torch.Tensor) and isinstance(shapes, (dict, list, tuple)):
        pairs = shapes.items() if isinstance(shapes, dict) else enumerate(shapes)
        for axis, dim in pairs:
            name = dim if isinstance(dim, str) else getattr(dim, "__name__", "")
            is_small = isinstance(axis, int) and 0 <= axis < values.ndim and values.shape[axis] < 2
            if is_small and name:
                yield name, values.shape[axis]
    elif isinstance(values, (list, tuple)) and isinstance(shapes, (list, tuple)):
        for value, shape in zip(values, shapes, strict=False):
            yield from small_sizes(value, shape)
    elif isinstance(values, dict) and isinstance(shapes, dict):
        for key, value in values.items():
            yield from small_sizes(value, shapes.get(key))
    elif isinstance(values, (list, tuple)) and isinstance(shapes, dict):
        for value, shape in zip(values, shapes.values(), strict=False):  # by parameters' names
            yield from small_sizes(value, shape)


def notes(error: BaseException, args: Any, kwargs: Any, shapes: Any) -> list[str]:
    """Lines for the error."""
    frames = [one for one, _ in traceback.walk_tb(error.__traceback__)]
    found = []
    if "Constraints violated" in str(error):
        every = [*small_sizes(args, shapes), *small_sizes(kwargs, shapes)]
        found += [_ONE.format(*one) for one in dict.fromkeys(every)]
    for pattern, hint in _HINTS:
        if match := re.search(pattern, str(error)):
            found.append(hint.format(next(filter(None, match.groups()), "")))
    if any(
        one.f_code.co_filename.endswith("rnn.py") and one.f_locals.get("batch_sizes") is not None
        for one in frames
    ):
        found.append(_PACKED)
    return [f"help: {one}" for one in (*found, _DRAFT)]
