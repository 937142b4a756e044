"""Models as scripts."""

import os
import pathlib
import sys

from ._core import Model, decompile_model
from ._script import OnnxFunction
from ._sources import run_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
else:
    from ._type_names import ModuleType


def decompile(
    model: "str | os.PathLike[str] | bytes | Model | object",
    /,
    *,
    weights: "str | os.PathLike[str] | None" = None,
    outline: bool = False,
    exact: bool = False,
) -> str:
    """Returns the text of a script that compiles to the model: a path, bytes, a ModelProto or a
    Model.

    Large weights are written to the .safetensors file `weights`, which the text refers to by this
    path; a relative path starts at the folder of the file that the text is saved in. Without
    `weights`, the text reads them from the model's own file if a path is given; otherwise they are
    literals. With `outline`, equal consecutive blocks become one function. With `exact`, names,
    order, documentation, metadata and stated types are appended to the text, and `sardonyx build`
    restores the model's bytes.

    The text has been compiled and compared with the model. A model that the language cannot express
    raises EvalError.
    """
    if outline and exact:
        raise ValueError("`outline` makes another model: use it without `exact`")
    is_path = isinstance(model, (str, os.PathLike))
    path = os.fspath(model) if is_path else ""  # type: ignore[arg-type]
    loaded = model if isinstance(model, Model) else Model(model)
    file = os.fspath(weights) if weights is not None else ""
    return decompile_model(loaded, str(path), file, outline, exact)


def proto2python(
    proto: "object",
    use_operators: bool = True,
    rename: bool = False,
    inline_const: bool = True,
    skip_initializers: bool = False,
) -> str:
    """The name of `decompile` in onnxscript. The options for the output have no effect."""
    del use_operators, rename, inline_const, skip_initializers
    return decompile(proto)


def load_library(library: "str | os.PathLike[str] | bytes | Model | object", /) -> "ModuleType":
    """Returns the functions of an .onnx file as a module of scripts, to call eagerly and in
    scripts.

    It accepts a path, bytes, a ModelProto or a Model; if the file has a graph, it is one of the
    scripts. A relative path starts at the folder of the file that contains the call, as for
    `load_weights`. A function that the language cannot express raises EvalError.
    """
    from types import ModuleType

    name = "library"
    if isinstance(library, (str, os.PathLike)):
        calling = sys._getframe(1).f_globals.get("__file__")
        folder = pathlib.Path(calling).parent if isinstance(calling, str) else pathlib.Path()
        library = folder / library
        name = library.stem
    module = ModuleType(name, f"The functions of {name}.")
    defined = run_text(decompile(library))
    scripts = {key: one for key, one in defined.items() if isinstance(one, OnnxFunction)}
    vars(module).update(scripts, __all__=sorted(scripts))
    return module
