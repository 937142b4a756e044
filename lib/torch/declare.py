"""How the library declares its operators.

A function below `@aten("add.Tensor", ...)` is what PyTorch means by these overloads. Its parameters
are those of the overloads' schema, names, order and defaults included, but for `device`, `layout`,
`pin_memory`, `memory_format`, `non_blocking` and `generator`, which mean nothing in a graph. Every
function runs in place: all that a call knows of its arguments is known in the body.
"""

from sardonyx import opset18, script

op = opset18
inline = script(inline=True, default_opset=op, caller_opset=True)

# What PyTorch calls an overload, such as `aten::add.Tensor` -> the function.
OVERLOADS = {}
# What a script calls it: `add` for the first overload of a name that is declared, and for others
# that share its function; `add_Scalar` for one with a function of its own.
NAMES = {}


def aten(*overloads, namespace="aten"):
    """Declares the function that is meant by these overloads."""

    def declare(function):
        made = inline(function)
        for overload in overloads:
            packet, _, rest = overload.partition(".")
            name = packet
            if NAMES.get(name, made) is not made:
                name = f"{packet}_{rest}"
            NAMES[name] = made
            OVERLOADS[f"{namespace}::{overload}"] = (name, made)
        return made

    return declare


def pairs(*overloads):
    """The same for calls with a complex tensor among the arguments or results (pairs.py)."""

    def declare(function):
        made = inline(function)
        for overload in overloads:
            packet, _, rest = overload.partition(".")
            name = f"pair_{packet}"
            if NAMES.get(name, made) is not made:
                name = f"pair_{packet}_{rest}"
            NAMES[name] = made
            OVERLOADS[f"pairs::{overload}"] = (name, made)
        return made

    return declare
