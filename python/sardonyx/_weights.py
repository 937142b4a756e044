"""Weights from files, as scripts and Python programs take them."""

import pathlib
import sys

from ._core import read_weights

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os

    from ._core import Tensor
else:
    from ._type_names import Tensor, os


def load_weights(path: "str | os.PathLike[str]", /) -> "dict[str, Tensor]":
    """Returns the tensors of a .safetensors, .npz, .npy or .onnx file (its initializers) by name.

    The file is mapped: elements are read when they are used. A relative path starts at the folder
    of the file that contains the call, also when the call is compiled.
    """
    calling = sys._getframe(1).f_globals.get("__file__")
    folder = pathlib.Path(calling).parent if isinstance(calling, str) else pathlib.Path()
    tensors: dict[str, Tensor] = read_weights(str(folder / path))
    return tensors
