"""Models from files and bytes."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._core import Model
else:
    from ._type_names import Model


def load(path: "str | bytes | object", *, check: bool = True) -> "Model":
    """Loads a model that can be run, inspected and changed.

    It accepts a path (also of a text: .onnxtxt, .json, .textproto), the bytes of a ModelProto, an
    open file, an onnx.ModelProto or an onnx_ir.Model.

    A model that cannot run, because a node calls no operator of the standard and no function,
    raises ModelError; with `check=False`, its first run raises the error. Operators of other
    domains are looked up by the first run.
    """
    from ._core import Model

    return Model(path, check=check)
