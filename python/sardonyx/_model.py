"""What models give and take in Python's own terms."""

from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from typing import Any

    from ._core import Model


class Finding(NamedTuple):
    """Something that is wrong with a model; `message` names the node."""

    code: str
    severity: str
    message: str
    help: str

    def __str__(self) -> str:
        return f"{self.severity}[{self.code}]: {self.message}"


def unpickled(data: bytes) -> "Model":
    """The model that was pickled, whether it can run or not."""
    from ._core import Model

    return Model(data, check=False)


def to_proto(model: "Model") -> "Any":
    """The model as an onnx.ModelProto."""
    import onnx

    proto = onnx.ModelProto()
    proto.ParseFromString(model.to_bytes())
    return proto


def to_onnx_ir(model: "Model") -> "Any":
    """The model as an onnx_ir.Model."""
    import onnx_ir

    return onnx_ir.from_proto(to_proto(model))


def save(model: "Model", path: "str | os.PathLike[str]", external_bytes: int) -> None:
    """`Model.save`; a file that cannot be written is an OSError."""
    import os

    from ._core import EvalError, save_model

    name = os.fspath(path)
    try:
        save_model(model, name, external_bytes)
    except EvalError as error:
        from ._script import os_error

        raise os_error(error, name) from None
