"""`Exported`: the script of a program that was captured, and the model that it compiles to."""

from __future__ import annotations

import contextlib
import functools
import itertools
import json
import linecache
import sys
import types
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import sardonyx

from .._core import TorchProgram, capture_torch_program, hash_of_weights
from .._script import CompileError, OnnxFunction
from ._library import Library

if TYPE_CHECKING:
    import os

    import onnx
    import torch

    from ._program import Program


_MAIN = "main"  # what the script of a program is called
# Bytes of weights: to see whether more have changed takes longer than to compile.
_MOST_KEPT = 1 << 26
_numbers = itertools.count(1)


class ExportError(Exception):
    """The program cannot be converted; the message lists all reasons at once."""

    __module__ = "sardonyx.torch"


def warn(text: str) -> None:
    """A warning at the line that has called this package; none without a text."""
    if text:
        level, frame = 1, sys._getframe()
        while frame.f_back is not None and frame.f_globals["__name__"].startswith(__package__):
            level, frame = level + 1, frame.f_back
        warnings.warn(text, stacklevel=level)


def array_of(tensor: torch.Tensor) -> Any:
    """The tensor's elements as a NumPy array, without a copy where NumPy can have them so."""
    import torch

    plain = tensor.detach().cpu()
    if plain.is_complex():
        plain = torch.view_as_real(plain.resolve_conj())
    if type(plain) is not torch.Tensor and hasattr(plain, "data"):
        plain = plain.data
    if plain.is_contiguous() is False:
        plain = plain.contiguous()
    if plain.dtype == torch.float32:
        return plain.numpy()
    names = {
        torch.bfloat16: "bfloat16", torch.float8_e4m3fn: "float8_e4m3fn",
        torch.float8_e5m2: "float8_e5m2", torch.float8_e4m3fnuz: "float8_e4m3fnuz",
        torch.float8_e5m2fnuz: "float8_e5m2fnuz",
    }  # fmt: skip
    if plain.dtype not in names:
        return plain.numpy()
    import ml_dtypes

    bits = torch.int16 if plain.dtype == torch.bfloat16 else torch.int8
    return plain.view(bits).numpy().view(getattr(ml_dtypes, names[plain.dtype]))


def _head(text: str) -> str:
    """The script for Python, which need not know its parameters and body: the compiler does."""
    return f"{text[: text.index(chr(10) + 'def ')]}\ndef {_MAIN}(): ...\n"


# Programs differ little up to there.
@functools.lru_cache(maxsize=256)
def _code_of_head(text: str) -> types.CodeType:
    return compile(text, "<torch>", "exec", dont_inherit=True)


def _code_in_file(code: types.CodeType, name: str) -> types.CodeType:
    """The same code, and that of the functions in it, as if it stood in another file."""
    constants = tuple(
        one.replace(co_filename=name) if isinstance(one, types.CodeType) else one
        for one in code.co_consts
    )
    return code.replace(co_filename=name, co_consts=constants)


class Exported:
    """A script that computes what a PyTorch module does, and the model that it compiles to."""

    def __init__(
        self,
        program: TorchProgram,
        weights: Mapping[str, Any],
        opset: int,
        has_metadata: bool = False,
        target: str | None = None,
        library: Library | None = None,
    ) -> None:
        self._library = Library() if library is None else library
        self._program, self._weights, self._opset = program, dict(weights), opset
        self._has_metadata, self._target = has_metadata, target
        self._hash: int | None = None  # of the weights that a model has been prepared with
        self._text = program.text("")
        self._script = self._compile()
        self._again: tuple[Any, ...] | None = None  # the arguments of `finished`

    def __reduce__(self) -> tuple[Any, ...]:
        if self._again is None:
            raise TypeError("an export of a file is not pickled: pickle `exported.compile()`")
        program, *rest = self._again
        return finished, (program, self._weights, *rest)

    def __copy__(self) -> Exported:
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        return made

    @property
    def opset(self) -> int:
        """The version of ai.onnx that the model is of."""
        return self._opset

    @property
    def has_vmap_loops(self) -> bool:
        """Whether calls of `torch.vmap` are loops over the elements."""
        return self._program.has_vmap_loops

    @property
    def weights(self) -> dict[str, Any]:
        """The arrays, by PyTorch's names of parameters, buffers and constants."""
        return self._weights

    def to_script(self, weights: str = "weights.safetensors", *, outline: bool = False) -> str:
        """The script as a text that stands alone, but for the file of its weights.

        It imports the files of your own operators that were given as `library`. With `outline`,
        modules that repeat, such as the layers of a transformer, are calls of one function.
        """
        text = self._program.text(weights, outline)
        if complaint := self._library.complaint(text):
            raise ExportError(complaint)
        return text

    def save_script(self, path: str | os.PathLike[str], *, outline: bool = False) -> None:
        """Writes the script, and beside it its weights as a .safetensors file."""
        import pathlib

        from ._safetensors import write_safetensors

        script = pathlib.Path(path)
        if complaint := self._library.complaint(self._text, script.parent):
            raise ExportError(f"{script}: {complaint}")
        weights = script.with_suffix(".safetensors")
        if self._weights:
            write_safetensors(weights, dict(sorted(self._weights.items())))
        script.write_text(self.to_script(weights.name, outline=outline), encoding="utf-8")

    def _compile(self) -> OnnxFunction:
        name = f"<torch {next(_numbers)}>"
        scope: dict[str, Any] = {
            **self._library.modules, "w": self._weights, "__name__": "sardonyx.torch.exported",
        }  # fmt: skip
        lines = self._text.splitlines(keepends=True)
        linecache.cache[name] = (len(self._text), None, lines, name)
        try:
            head = _code_of_head(self._library.without_imports(_head(self._text)))
            exec(_code_in_file(head, name), scope)
        except CompileError as error:
            raise self._explained(error.diagnostics, str(error.args[0])) from None
        found: OnnxFunction = scope[_MAIN]
        if self._has_metadata:
            found._script.set_program(self._program)
        if self._target is not None:
            found._script.set_runtime(self._target)
        return found

    def _explained(self, findings: Sequence[Mapping[str, Any]], text: str = "") -> ExportError:
        """The compiler's findings with the lines of the module in place of the script's."""
        found: list[str] = []
        seen: set[str] = set()
        lines = self._program.lines
        for one in findings:
            row = _row_of(one, lines)
            if one["severity"] != "error" or (row is not None and row[0] in seen):
                continue  # what follows from the first mistake of an operator
            words = f"{one['severity']}[{one['code']}]: {one['message']}"
            words += self._place_in_library(one)
            if row is not None:
                name, target, place, code = row
                seen.add(name)
                words += f"\n  --> {place}" if place else ""
                words += f"\n   | {code}" if code else ""
                words += f"\n   = `{target}`{self._library.home_of(target)}"
            # Other help is for those who write scripts.
            if (one["help"] or "").startswith("opset "):
                words += f"\n   = help: {one['help']}"
            found.append(words)
        return ExportError("\n" + "\n\n".join(dict.fromkeys([*found, text.strip()])).rstrip())

    @contextlib.contextmanager
    def _explaining(self) -> Iterator[None]:
        """Errors of what compiles the script, as those of the module."""
        try:
            yield
        except CompileError as error:
            raise self._explained(error.diagnostics, str(error.args[0])) from None
        except NotImplementedError as error:  # of the target
            raise ExportError(str(error)) from None

    def _check(self) -> None:
        """Compiles the script, and raises what is wrong with it.

        The model is kept for the first that asks for it.
        """
        request = self._script._request(**self._options({}))
        with self._explaining():
            findings = json.loads(self._script._script.prepare(*request))
        if any(one["severity"] == "error" for one in findings):
            raise self._explained(findings)
        if self._uses_own_operators() or self._weight_bytes() > _MOST_KEPT:
            self._script._script.forget()
        else:
            self._hash = hash_of_weights(self._weights)

    def _uses_own_operators(self) -> bool:
        """Whether functions of the user are called, which may be others tomorrow."""
        from ._operators import own_overloads

        is_called = any(f"aten.{name}(" in self._text for name, _ in own_overloads().values())
        return is_called or bool(self._library.modules_of(self._text))

    def _weight_bytes(self) -> int:
        return sum(one.nbytes for one in self._weights.values())

    def _fresh(self) -> OnnxFunction:
        """The script, which forgets the model that it has prepared if weights have changed."""
        if self._hash is not None and self._hash != hash_of_weights(self._weights):
            self._script._script.forget()
        self._hash = None  # a model is given once
        return self._script

    def _place_in_library(self, finding: Mapping[str, Any]) -> str:
        """The line of a finding in a file of the user's operators."""
        import pathlib

        files = {one.resolve() for one in self._library.paths.values()}
        for label in finding.get("labels", []):
            if files and pathlib.Path(label["file"]).resolve() in files:
                return f"\n  --> {label['file']}:{label['range']['start']['line']}"
        return ""

    def _options(self, options: dict[str, Any]) -> dict[str, Any]:
        return {"opset": self._opset, "producer_name": "sardonyx", **options}

    def to_model_bytes(self, **options: Any) -> bytes:
        """The model as the bytes of a ModelProto; takes what `to_model_bytes` of scripts takes."""
        with self._explaining():
            return self._fresh().to_model_bytes(**self._options(options))

    def to_model_proto(self, **options: Any) -> onnx.ModelProto | bytes:
        """The model as a ModelProto where the onnx package is installed, else as bytes."""
        with self._explaining():
            return self._fresh().to_model_proto(**self._options(options))

    def compile(self, **options: Any) -> sardonyx.Model:
        """The model, to run natively."""
        with self._explaining():
            return self._fresh().compile(**self._options(options))

    def save(
        self, path: str | os.PathLike[str], external_bytes: int | None = None, quiet: bool = False
    ) -> int:
        """Writes the model; its size in bytes.

        Initializers of `external_bytes` and more go to a file beside it: those of 1 KiB and more
        where they do not fit into one file otherwise, unless given.
        """
        import os

        if external_bytes is None:
            external_bytes = 1024 if self._weight_bytes() > 1 << 30 else 0
        with self._explaining():
            return self._fresh()._write(os.fspath(path), external_bytes, quiet, **self._options({}))

    def __repr__(self) -> str:
        return f"Exported({self._program.count} operators, opset {self._opset})"


Row = tuple[str, str, str, str]  # a node's name, what it calls, where that is, and the code there


def _row_of(finding: Mapping[str, Any], lines: Sequence[Row | None]) -> Row | None:
    """The node of the line that a finding is about."""
    for label in finding.get("labels", []):
        line = label["range"]["start"]["line"]
        if label["file"].startswith("<torch ") and 0 < line <= len(lines):
            return lines[line - 1]
    return None


def finished(
    program: Program,
    arrays: Mapping[str, Any],
    opset: int,
    state: str,
    metadata: bool = False,
    target: str | None = None,
    library: Library | None = None,
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    torch_folder: str = "",
) -> Exported:
    """A program that was captured, as a script; raises all reasons why there is none."""
    library = Library() if library is None else library
    torch_folder = torch_folder or _torch_folder()
    made = capture_torch_program(
        program, torch_folder, opset, list(input_names or []), list(output_names or []),
        own_names(library),
    )  # fmt: skip
    try:
        made.finish(state)
    except ValueError as error:
        raise ExportError(str(error)) from None
    used = set(made.weights)
    weights = {
        key: one if isinstance(one, np.ndarray) else array_of(one)
        for key, one in arrays.items() if key in used
    }  # fmt: skip
    exported = Exported(made, weights, opset, metadata, target, library)
    exported._again = (program, opset, state, metadata, target, library, input_names, output_names,
                       torch_folder)  # fmt: skip
    return exported


@functools.cache
def _torch_folder() -> str:
    """What is in the paths of PyTorch's own files."""
    import pathlib

    import torch

    return f"{pathlib.Path(torch.__file__).parent}/"


def own_names(library: Library) -> dict[str, tuple[str, str]]:
    """The user's operators, as the modules and names of their functions."""
    from ._operators import own_overloads

    own = {key: ("aten", name) for key, (name, _) in own_overloads().items()}
    for key, (called, _) in library.known.items():
        module, _dot, name = called.partition(".")
        own[key] = (module, name)
    return own
