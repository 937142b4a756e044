"""How the library declares its operators.

A function below `@aten("add.Tensor", ...)` is what PyTorch means by these overloads. Its parameters
are those of the overloads' schema, names, order and defaults included, but for `device`, `layout`,
`pin_memory`, `memory_format`, `non_blocking`, `generator` and `requires_grad`, which mean nothing
in a graph. Every function runs in place: all that a call knows of its arguments is known in the
body.
"""

from sardonyx import opset18, script

op = opset18
inline = script(inline=True, default_opset=op, caller_opset=True)

# What PyTorch calls an overload, such as `aten::add.Tensor` -> the function.
OVERLOADS = {}
# What a script calls it: `add` for the first overload of a name that is declared, and for others
# that share its function; `add_Scalar` for one with a function of its own.
NAMES = {}


def _declared(overloads, namespace, prefix=""):
    def declare(function):
        made = inline(function)
        for overload in overloads:
            packet, _, rest = overload.partition(".")
            name = f"{prefix}{packet}"
            if NAMES.get(name, made) is not made:
                name = f"{prefix}{packet}_{rest}"
            NAMES[name] = made
            OVERLOADS[f"{namespace}::{overload}"] = (name, made)
        return made

    return declare


def aten(*overloads, namespace="aten"):
    """Declares the function that is meant by these overloads."""
    return _declared(overloads, namespace)


def pairs(*overloads):
    """The same for calls with a complex tensor among the arguments or results (pairs*.py)."""
    return _declared(overloads, "pairs", "pair_")


def prims(name):
    """The same for an operator of prims."""
    return _declared([f"{name}.default"], "prims", "prims_")


def alias(overload, of):
    """Says that an overload is what another one of the library is, parameters included."""
    OVERLOADS[overload] = OVERLOADS[of]
