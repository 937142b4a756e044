"""NumPy functions on tensors: `array + tensor` is the tensor's operator, `np.exp(tensor)` NumPy's.

A graph has no NumPy: while a script runs, only Python's operators are left.
"""

from ._core import Tensor, help_for_function, inside_script

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# The methods that `array + tensor` and the like call, of a Tensor on the left and on the right.
_METHODS = {
    "add": ("__add__", "__radd__"),
    "subtract": ("__sub__", "__rsub__"),
    "multiply": ("__mul__", "__rmul__"),
    "matmul": ("__matmul__", "__rmatmul__"),
    "divide": ("__truediv__", "__rtruediv__"),
    "true_divide": ("__truediv__", "__rtruediv__"),
    "floor_divide": ("__floordiv__", "__rfloordiv__"),
    "remainder": ("__mod__", "__rmod__"),
    "divmod": ("__divmod__", "__rdivmod__"),
    "power": ("__pow__", "__rpow__"),
    "left_shift": ("__lshift__", "__rlshift__"),
    "right_shift": ("__rshift__", "__rrshift__"),
    "bitwise_and": ("__and__", "__rand__"),
    "bitwise_or": ("__or__", "__ror__"),
    "bitwise_xor": ("__xor__", "__rxor__"),
    "equal": ("__eq__", "__eq__"),
    "not_equal": ("__ne__", "__ne__"),
    "less": ("__lt__", "__gt__"),
    "less_equal": ("__le__", "__ge__"),
    "greater": ("__gt__", "__lt__"),
    "greater_equal": ("__ge__", "__le__"),
}


def _refusal(function: "Any") -> TypeError:
    name = function.__name__
    instead = help_for_function(name) or "call an operator, as in `op.Exp(x)`"
    return TypeError(f"np.{name} computes with NumPy, which a graph does not have: {instead}")


def call(
    tensor: "Tensor",  # noqa: ARG001 (the first of them)
    function: "Any",
    types: "Any",  # noqa: ARG001
    arguments: "tuple[Any, ...]",
    options: "dict[str, Any]",
) -> "Any":
    """The result of another function of NumPy, which converts Tensors among its arguments."""
    if inside_script():
        raise _refusal(function)
    return function._implementation(*arguments, **options)


def apply(
    tensor: "Tensor",  # noqa: ARG001 (the first of them)
    function: "Any",
    method: str,
    *inputs: "Any",
    **options: "Any",
) -> "Any":
    """The result of a ufunc of NumPy with a Tensor among its arguments."""
    methods = _METHODS.get(function.__name__) if method == "__call__" else None
    # `array += tensor` comes with the array as `out`; in a script it gives the name a new tensor.
    is_in_place = options.keys() == {"out"} and options["out"][0] is inputs[0]
    if methods is not None and (not options or (is_in_place and inside_script())):
        left, right = inputs
        if isinstance(left, Tensor):
            return getattr(left, methods[0])(right)
        return getattr(right, methods[1])(left)
    if inside_script():
        raise _refusal(function)
    arrays = [x.numpy() if isinstance(x, Tensor) else x for x in inputs]
    return getattr(function, method)(*arrays, **options)
