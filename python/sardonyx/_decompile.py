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


def decompile(
    model: "str | os.PathLike[str] | bytes | Model | object",
    /,
    *,
    weights: "str | os.PathLike[str] | None" = None,
    outline: bool = False,
    exact: bool = False,
) -> str:
    """The text of a script that gives the model back: a path, bytes, a ModelProto or a Model.

    Large weights go to the .safetensors file `weights`, which the text names by this path; a
    relative one begins at the folder of the file that the text is saved in. Without it, the text
    takes them from the model's own file where a path is given; otherwise they are literals.
    With `outline`, equal blocks that stand behind each other become one function. With `exact`,
    names, order, documentation, metadata and stated types stand at the end of the text, and
    `sardonyx build` gives the model's bytes back.
    The text has been compiled and compared with the model: a model that the language has no words
    for is an EvalError.
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
    """The name of `decompile` in onnxscript. The options are those of its writer, and say nothing
    here: the text is what `decompile` makes readable."""
    del use_operators, rename, inline_const, skip_initializers
    return decompile(proto)


def load_library(library: "str | os.PathLike[str] | bytes | Model | object", /) -> "ModuleType":
    """The functions of an .onnx file as a module of scripts, to call eagerly and in scripts.

    It takes a path, bytes, a ModelProto or a Model; a graph that it has is one of the scripts. A
    relative path begins at the folder of the file that calls, as that of `load_weights` does.
    EvalError: the language has no words for a function.
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
