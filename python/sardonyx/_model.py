"""Results and arguments of models as Python objects."""

from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Mapping
    from typing import Any

    from ._core import Model
else:
    from ._type_names import Any, Mapping, Model, os


class Finding(NamedTuple):
    """A problem of a model; `message` names the node."""

    code: str
    severity: str
    message: str
    help: str

    def __str__(self) -> str:
        return f"{self.severity}[{self.code}]: {self.message}"


class Change(NamedTuple):
    """A difference between two models."""

    kind: str
    graph: str
    what: str
    before: str
    after: str


def info(model: "Model", dims: "Mapping[str, int] | None") -> "dict[str, Any]":
    """`Model.info`."""
    import json

    from ._core import model_info

    text, parts = model_info(model, list((dims or {}).items()))
    found: dict[str, Any] = json.loads(text)
    found["nodes"] = [node for part in parts for node in json.loads(part)]
    return found


def diff(model: "Model", other: "Model", names: bool) -> list[Change]:
    """`Model.diff`."""
    import json

    from ._core import model_diff

    return [Change(**one) for one in json.loads(model_diff(model, other, names))["changes"]]


def unpickled(data: bytes) -> "Model":
    """The model that was pickled, whether it can run or not."""
    from ._core import Model

    return Model(data, check=False)


_FORMS = ("onnxtxt", "json", "textproto")


def _known(form: str) -> str:
    if form not in _FORMS:
        raise ValueError(f"`form` is one of {', '.join(_FORMS)}, not {form!r}")
    return form


def to_text(model: "Model", form: str) -> str:
    """`Model.to_text`."""
    from ._core import model_text

    return model_text(model, _known(form))


def from_text(text: str, form: str = "onnxtxt", *, check: bool = True) -> "Model":
    """Returns the model of a text in the form "onnxtxt" (the text form of onnx.parser), "json"
    (protobuf's JSON) or "textproto" (protobuf's text format), as written by `Model.to_text` and the
    onnx package.

    An invalid text raises ModelError, a ValueError, with the line and column; `check` is the
    parameter of `sardonyx.load`.
    """
    from ._core import Model, bytes_of_text

    return Model(bytes_of_text(text, _known(form)), check=check)


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


def save(
    model: "Model",
    path: "str | os.PathLike[str]",
    external_bytes: "int | None",
    file_bytes: int,
    alignment: int,
    weights: str,
    share_equal: bool,
    quiet: bool,
) -> None:
    """`Model.save`; a file that cannot be written is an OSError."""
    import os

    from ._core import EvalError, save_model

    if weights not in ("data", "safetensors"):
        raise ValueError(f'`weights` is "data" or "safetensors", not {weights!r}')
    if min(external_bytes or 0, file_bytes, alignment) < 0:
        raise ValueError("a number of bytes is not negative")
    name = os.fspath(path)
    options = (file_bytes, alignment, weights == "safetensors", share_equal, quiet)
    try:
        save_model(model, name, external_bytes, *options)
    except EvalError as error:
        from ._script import os_error

        raise os_error(error, name) from None
