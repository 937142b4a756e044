"""Texts of scripts, compiled as the command line compiles files."""

from ._core import Model, compile_text
from ._script import OnnxFunction, _take, named_attributes, opset_version

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping
    from typing import Any

    from ._core import Opset
else:
    from ._type_names import Any, Iterable, Mapping, Opset, os


def _paths(given: "str | os.PathLike[str] | Iterable[str | os.PathLike[str]]") -> "list[str]":
    """The paths of one, or of several."""
    if isinstance(given, str) or hasattr(given, "__fspath__"):
        return [str(given)]
    return [str(path) for path in given]


def compile(
    text: str,
    *,
    globals: "Mapping[str, Any] | None" = None,
    filename: "str | os.PathLike[str]" = "<text>",
    script: str = "",
    input_types: "Mapping[str, Any] | None" = None,
    attributes: "Mapping[str, Any] | None" = None,
    opset: "Opset | int" = 0,
    ir_version: int = 0,
    schemas: "str | os.PathLike[str] | Iterable[str | os.PathLike[str]]" = (),
    library_path: "str | os.PathLike[str] | Iterable[str | os.PathLike[str]]" = (),
    line_metadata: "Mapping[int, Mapping[str, str]] | None" = None,
) -> Model:
    """Compiles a text of scripts to a model, as `sardonyx build` compiles a file.

    Python does not run the text: it may come from a program or from somebody else. To run it with
    Python, use `script.from_source`.

    `globals` gives names values before the first line: numbers, texts, arrays, types, opsets, and
    lists, tuples and dicts of them. `filename` is for messages, and for the folder whose modules
    the text imports; `library_path` has more folders. `script` names one of several scripts.
    `input_types`, `attributes`, `opset` and `ir_version` are as for `OnnxFunction.to_model_bytes`,
    `schemas` are files (`load_schemas`); one path may stand for a list of one. `line_metadata` is
    stored as `metadata_props` of the nodes that a line makes; lines count from 1.

    Mistakes in the text raise CompileError; a script that is not there, or none of several that is
    the obvious one, raises ValueError.
    """
    if not isinstance(text, str) or (text.endswith(".py") and "\n" not in text):
        advice = ""
        if isinstance(text, OnnxFunction):
            advice = ": call its `compile()`"
        elif isinstance(text, str) or hasattr(text, "__fspath__"):
            advice = ", as `pathlib.Path(path).read_text()` gives it"
        raise TypeError(f"compile takes the text of scripts, not {text!r}{advice}")
    lines = {line: dict(one) for line, one in (line_metadata or {}).items()}
    words = [
        *(globals or {}),
        *(word for one in lines.values() for kv in one.items() for word in kv),
    ]
    for word in words:
        if not isinstance(word, str):
            raise TypeError(f"{word!r} is no text, as names and metadata are")
    made = compile_text(
        text,
        str(filename),
        script,
        dict(globals or {}),
        _paths(schemas),
        _paths(library_path),
        lines,
        dict(input_types or {}),
        named_attributes(attributes),
        opset_version(opset),
        ir_version,
    )
    model: Model = _take(made)
    return model
