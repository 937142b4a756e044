"""`sardonyx build --python FILE.py`: Python imports the file, and its scripts are compiled with the
values that its names have then. So for `run`, `dump` and `check`.

The name `onnxscript` means sardonyx, as on the command line without Python.
"""

import functools
import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import traceback
import warnings
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import sardonyx

from . import _script
from ._core import write_file
from ._run import AliasFinder

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

_T = TypeVar("_T")
_NOT_A_MODEL = {"missing-input-type", "missing-attribute-value"}


def _fail(message: str, status: int = 2) -> "NoReturn":
    print(f"error: {message}", file=sys.stderr)
    sys.exit(status)


def _scripts(path: str, other_schemas: "Any" = None) -> "list[_script.OnnxFunction]":
    """The scripts that the file makes, the last of each name, in their order.

    `other_schemas` are those of scripts that name none themselves.
    """
    made: list[_script.OnnxFunction] = []
    plain = _script.OnnxFunction.__init__

    def remember(
        self: "_script.OnnxFunction",
        function: "Any",
        opset: "Any" = None,
        default_opset: "Any" = None,
        schemas: "Any" = None,
        **keywords: "Any",
    ) -> None:
        given = other_schemas if schemas is None else schemas
        plain(self, function, opset, default_opset, given, **keywords)
        made.append(self)

    name = pathlib.Path(path).stem
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not pathlib.Path(path).is_file():
        _fail(f"`{path}` is not a Python file that can be read")
    module = importlib.util.module_from_spec(spec)
    sys.meta_path.insert(0, AliasFinder())
    sys.path.insert(0, str(pathlib.Path(path).resolve().parent))
    sys.modules[name] = module
    _script.OnnxFunction.__init__ = remember  # type: ignore[method-assign]
    try:
        spec.loader.exec_module(module)
    except _script.CompileError as error:
        print(str(error.args[0]).rstrip(), file=sys.stderr)
        sys.exit(1)
    except Exception as error:
        # The frames of this file and of the import system are not part of the program.
        frames = error.__traceback__
        while frames is not None and frames.tb_frame.f_code.co_filename != spec.origin:
            frames = frames.tb_next
        traceback.print_exception(error.with_traceback(frames))
        _fail(f"`{path}` cannot be imported", 1)
    finally:
        _script.OnnxFunction.__init__ = plain  # type: ignore[method-assign]
    own = {one.__name__: one for one in made if one.__module__ == name}
    return [one for one in made if own.get(one.__name__) is one]


def _choose(path: str, name: str, schemas: "Any") -> "_script.OnnxFunction":
    """The script that is meant: of this name, or else the one that no other one names."""
    scripts = _scripts(path, schemas)
    listed = ", ".join(f"`{one.__name__}`" for one in scripts)
    if not scripts:
        _fail(f"`{path}` has no scripts; decorate a function with `@script()` from `sardonyx`")
    if name:
        for one in scripts:
            if one.__name__ == name:
                return one
        _fail(f"`{path}` has no script `{name}`; it has {listed}")
    read = {
        used
        for one in scripts
        for used in one.__wrapped__.__code__.co_names
        if used != one.__name__
    }
    unused = [one for one in scripts if one.__name__ not in read]
    if len(unused) != 1:
        example = scripts[-1].__name__
        _fail(f"`{path}` has several scripts; choose one of {listed}, as in `{path}:{example}`")
    return unused[0]


def _target(word: str) -> "tuple[str, str]":
    if os.path.exists(word) or ":" not in word:  # noqa: PTH110
        return word, ""
    path, _, name = word.rpartition(":")
    return path, name


def _pairs(words: "Sequence[str]") -> "dict[str, str]":
    pairs = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            _fail(f"`{word}` has no name; write it as `NAME=VALUE`")
        pairs[name] = value
    return pairs


def _type(text: str) -> "Any":
    """The type of a text such as `FLOAT[2,N]`."""
    found = re.fullmatch(r"([A-Z0-9]+)(?:\[(.*)\])?", text.strip())
    base = getattr(sardonyx, found[1], None) if found else None
    if found is None or base is None:
        _fail(f"`{text}` is not a type; write one as in `FLOAT[2,N]`")
    if found[2] is None:
        return base
    dims: list[Any] = []
    for word in found[2].split(","):
        dim = word.strip().strip("\"'")
        dims.append(
            int(dim) if dim.isdigit() else ... if dim == "..." else None if dim == "None" else dim
        )
    return base[dims[0] if len(dims) == 1 else tuple(dims)]


def _literal(text: str) -> "Any":
    import ast

    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _options(words: "argparse.Namespace") -> "dict[str, Any]":
    options: dict[str, Any] = {}
    if words.input:
        options["value_infos"] = {name: _type(text) for name, text in _pairs(words.input).items()}
    if words.attribute:
        pairs = _pairs(words.attribute)
        options["attributes"] = {name: _literal(text) for name, text in pairs.items()}
    if words.opset:
        options["opset"] = words.opset
    if words.ir_version:
        options["ir_version"] = words.ir_version
    return options


def _compiled(compile: "Callable[[], _T]") -> "_T":
    """Returns its result; prints its warnings, and exits with its errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", _script.ScriptWarning)
        warnings.showwarning = lambda message, *_, **__: print(
            str(message).lstrip("\n"), file=sys.stderr
        )
        try:
            return compile()
        except _script.CompileError as error:
            print(str(error.args[0]).rstrip(), file=sys.stderr)
            sys.exit(1)


def _build(script: "_script.OnnxFunction", words: "argparse.Namespace") -> int:
    try:
        if words.function:
            data = _compiled(script.to_function_bytes)
            write_file(words.output, data)
            size = len(data)
        else:
            options = _options(words)
            write = functools.partial(script._write, words.output, words.external_data)
            size = _compiled(lambda: write(words.quiet, **options))
    except (OSError, sardonyx.EvalError) as error:
        _fail(str(error), 1)
    kind = "function" if words.function else "model"
    print(f"{words.output}: `{script.__name__}` as a {kind}, {size} bytes")
    return 0


def _schemas(paths: "Sequence[str]") -> "Any":
    if not paths:
        return None
    try:
        return sardonyx.load_schemas(*paths)
    except _script.CompileError as error:
        print(str(error.args[0]).rstrip(), file=sys.stderr)
        sys.exit(1)
    except (OSError, ValueError) as error:
        _fail(str(error))


def _check(paths: "Sequence[str]", schemas: "Any", as_json: bool) -> int:
    import json

    status, findings = 0, []
    for path in paths:
        for script in _scripts(path, schemas):
            try:
                try:
                    script.to_model_bytes()
                except _script.CompileError as error:
                    if not {one["code"] for one in error.diagnostics} & _NOT_A_MODEL:
                        raise
                    script.to_function_bytes()
            except _script.CompileError as error:
                findings += error.diagnostics
                if not as_json:
                    print(str(error.args[0]).rstrip(), file=sys.stderr)
                status = 1
    if as_json:
        print(json.dumps(findings, indent=2))
    return status


def main(command: str, arguments: "list[str]") -> int:
    """Runs `sardonyx COMMAND --python ARGUMENTS`."""
    import argparse

    reader = argparse.ArgumentParser(prog=f"sardonyx {command} --python", allow_abbrev=False)
    reader.add_argument("--schemas", action="append", default=[], metavar="FILE.toml")
    reader.add_argument("--library-path", action="append", default=[], metavar="DIR")
    reader.add_argument("-q", "--quiet", action="store_true")
    reader.add_argument("--isolated", action="store_true")
    if command in ("build", "check"):
        reader.add_argument("--color", default="auto")
    if command == "check":
        reader.add_argument("files", nargs="+", metavar="FILE.py")
        reader.add_argument("--json", action="store_true")
        reader.add_argument("--format", choices=("text", "json"), default="text")
        checked = reader.parse_args(arguments)
        sys.path += checked.library_path
        as_json = checked.json or checked.format == "json"
        return _check(checked.files, _schemas(checked.schemas), as_json)
    reader.add_argument("file", metavar="FILE.py[:NAME]")
    reader.add_argument("--attribute", action="append", default=[], metavar="NAME=VALUE")
    reader.add_argument("--opset", type=int, default=0, metavar="N")
    reader.set_defaults(function=False, input=[], ir_version=0)
    rest: list[str] = []
    if command == "build":
        reader.add_argument("-o", "--output", required=True, metavar="OUT.onnx")
        reader.add_argument("--input", action="append", metavar="NAME=TYPE")
        reader.add_argument("--ir-version", type=int, default=0, metavar="N")
        reader.add_argument("--function", action="store_true")
        reader.add_argument("--external-data", type=int, default=0, metavar="BYTES")
        words = reader.parse_args(arguments)
    else:
        words, rest = reader.parse_known_args(arguments)
    sys.path += words.library_path
    path, name = _target(words.file)
    script = _choose(path, name, _schemas(words.schemas))
    if command == "build":
        return _build(script, words)
    data = _compiled(lambda: script.to_model_bytes(**_options(words)))
    with tempfile.TemporaryDirectory() as folder:
        model = pathlib.Path(folder) / f"{script.__name__}.onnx"
        model.write_bytes(data)
        program = os.environ.get("SARDONYX_PROGRAM", "sardonyx")
        return subprocess.run([program, command, str(model), *rest], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
