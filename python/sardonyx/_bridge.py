"""Scripts of sardonyx whose body calls opsets of the installed onnxscript package.

`from sardonyx import script` beside `from onnxscript import opset18 as op`: while such a script
runs, calls of onnxscript's operators are calls of ours.
"""

import sys

from ._core import Opset

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import FunctionType
    from typing import Any


def calls_peer(function: "FunctionType") -> bool:
    """Whether a name of the function is an opset of onnxscript."""
    if "onnxscript" not in sys.modules:
        return False
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=False)
    values = [function.__globals__.get(name) for name in function.__code__.co_names]
    values += [cell.cell_contents for _, cell in cells if cell != type(cell)()]
    return any(
        type(value).__module__.startswith("onnxscript.") and hasattr(value, "domain")
        for value in values
    )


class _Bridge:
    """An evaluator of onnxscript."""

    def eval_op(self, op: "Any", args: "Sequence[Any]", kwargs: "Mapping[str, Any]") -> "Any":
        own = getattr(Opset(op.opset.domain, op.opset.version), op.name)
        return own(*args, **kwargs)

    def eval_function(
        self, function: "Any", args: "Sequence[Any]", kwargs: "Mapping[str, Any]"
    ) -> "Any":
        return function.function(*args, **kwargs)


def run(function: "Callable[..., Any]", args: "Sequence[Any]", kwargs: "dict[str, Any]") -> "Any":
    """Runs the body of a script."""
    from onnxscript import evaluator

    with evaluator.default_as(_Bridge()):
        return function(*args, **kwargs)
