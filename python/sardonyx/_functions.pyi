"""What `script` and `graph` make, as type checkers are to see it; the code is in `_script.py`.

A class with type parameters needs the module typing, which `import sardonyx` does without.
"""

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

import onnx

from ._core import Model, Opset, Schemas

_P = ParamSpec("_P")
_Q = ParamSpec("_Q")
_R = TypeVar("_R", covariant=True)

class OnnxClosure(Generic[_P, _R]):
    """A function inside a script, marked by `@graph()`: the body of a Loop, Scan or the like."""

    __name__: str
    __wrapped__: Callable[_P, _R]
    function: Callable[_P, _R]
    def __init__(self, function: Callable[_P, _R]) -> None: ...
    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        """Runs the function."""

class OnnxFunction(Generic[_P, _R]):
    """A Python function decorated with @script.

    Called, it runs as Python on Tensors: NumPy arrays that come in are wrapped, and results are
    arrays again when no Tensor came in.
    """

    __name__: str
    __qualname__: str
    __wrapped__: Callable[_P, _R]
    __signature__: inspect.Signature
    def __init__(
        self,
        function: Callable[_P, _R],
        opset: Opset | None = None,
        default_opset: Opset | None = None,
        schemas: Schemas | None = None,
        **keywords: Any,
    ) -> None: ...
    @property
    def name(self) -> str:
        """The function's name."""
    @property
    def opset(self) -> Opset:
        """The domain and version that the function itself belongs to."""
    @property
    def domain(self) -> str:
        """The domain that the function itself belongs to."""
    @property
    def function_ir(self) -> Any:
        """The function as an onnx_ir.Function."""
    def graph(self) -> Any:
        """The function's graph as an onnx_ir.Graph."""
    @property
    def function(self) -> Callable[_P, _R]:
        """The Python function."""
    @property
    def source(self) -> str:
        """The text of the definition, with its decorators."""
    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        """Runs the function as Python."""
    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> OnnxFunction[_P, _R]: ...
    @overload
    def __get__(
        self: OnnxFunction[Concatenate[Any, _Q], _R],
        instance: object,
        owner: type[Any] | None = None,
    ) -> OnnxFunction[_Q, _R]:
        """A script of a class is a method: `self` is given."""
    @overload  # for ty, which does not see through Concatenate
    def __get__(
        self, instance: object, owner: type[Any] | None = None
    ) -> OnnxFunction[..., _R]: ...
    def compile(
        self,
        io_types: Any = None,
        input_types: Sequence[Any] | Mapping[str, Any] | None = None,
        output_types: Sequence[Any] | None = None,
        value_infos: Mapping[str, Any] | None = None,
        producer_name: str = "",
        producer_version: str = "",
        ir_version: int = 0,
        opset: Opset | int = 0,
        attributes: Mapping[str, Any] | None = None,
    ) -> Model:
        """The script as one graph, prepared once: a call of it runs natively, not as Python.

        Takes what `to_model_bytes` takes; calls take the inputs, in order or by name. Arrays that
        the script reads are copied once: changing them later does not change the model.
        """
    def to_model_bytes(
        self,
        io_types: Any = None,
        input_types: Sequence[Any] | Mapping[str, Any] | None = None,
        output_types: Sequence[Any] | None = None,
        value_infos: Mapping[str, Any] | None = None,
        producer_name: str = "",
        producer_version: str = "",
        ir_version: int = 0,
        opset: Opset | int = 0,
        attributes: Mapping[str, Any] | None = None,
    ) -> bytes:
        """The script as the bytes of a ModelProto.

        `io_types` is the type of all inputs, or of all inputs and results where it is a type;
        `input_types` and `output_types` give them one by one, in order; `input_types` may be a dict
        by name. So is `value_infos`, in which names that are no inputs are ignored. `opset` is the
        version of ai.onnx in place of what the script imports, and `attributes` the values of its
        attribute parameters.
        """
    def save(
        self,
        path: str | os.PathLike[str],
        *,
        external_bytes: int = 0,
        quiet: bool = False,
        io_types: Any = None,
        input_types: Sequence[Any] | Mapping[str, Any] | None = None,
        output_types: Sequence[Any] | None = None,
        value_infos: Mapping[str, Any] | None = None,
        producer_name: str = "",
        producer_version: str = "",
        ir_version: int = 0,
        opset: Opset | int = 0,
        attributes: Mapping[str, Any] | None = None,
    ) -> None:
        """Writes the script as a model to a file, whole or not at all.

        Initializers of `external_bytes` and more go to a file beside it. Takes what
        `to_model_bytes` takes.
        """
    def check(self) -> list[dict[str, Any]]:
        """The findings, errors and warnings: a dict for each, as `sardonyx check --json` has them.

        The script is compiled as a model where its annotations allow one, else as a function.
        """
    def to_model_proto(
        self,
        io_types: Any = None,
        input_types: Sequence[Any] | Mapping[str, Any] | None = None,
        output_types: Sequence[Any] | None = None,
        value_infos: Mapping[str, Any] | None = None,
        producer_name: str = "",
        producer_version: str = "",
        ir_version: int = 0,
        opset: Opset | int = 0,
        attributes: Mapping[str, Any] | None = None,
    ) -> onnx.ModelProto:
        """The script as a ModelProto where the onnx package is installed, else as bytes.

        Takes what `to_model_bytes` takes.
        """
    def to_function_bytes(self) -> bytes:
        """The script as the bytes of a FunctionProto."""
    def to_function_proto(self) -> onnx.FunctionProto:
        """The script as a FunctionProto where the onnx package is installed, else as bytes."""

class TracedOnnxFunction(OnnxFunction[_P, _R]):
    """A script function given by opset and function."""

    def __init__(self, opset: Opset, function: Callable[_P, _R]) -> None: ...

class _Script:
    """Makes a Python function a script: `@script`, `@script()` or `@script(opset, ...)`.

    `opset` is the domain and version that the function itself belongs to, `default_opset` the
    opset of Python's operators in its body; with `inline`, calls of it from other scripts run its
    body in place; `ir_version`, `producer_name`, `producer_version` and `doc_string` are those of a
    model made of it. `schemas` describes operators of other domains (`load_schemas`).
    """

    @overload
    def __call__(
        self,
        opset: Callable[_P, _R],
        default_opset: Opset | None = None,
        schemas: Schemas | None = None,
        *,
        inline: bool = False,
        ir_version: int = ...,
        producer_name: str = ...,
        producer_version: str = ...,
        doc_string: str = ...,
    ) -> OnnxFunction[_P, _R]: ...
    @overload
    def __call__(
        self,
        opset: Opset | None = None,
        default_opset: Opset | None = None,
        schemas: Schemas | None = None,
        *,
        inline: bool = False,
        ir_version: int = ...,
        producer_name: str = ...,
        producer_version: str = ...,
        doc_string: str = ...,
    ) -> Callable[[Callable[_P, _R]], OnnxFunction[_P, _R]]: ...
    def from_source(self, text: str, name: str | None = None) -> OnnxFunction[..., Any]:
        """Runs a Python text that defines scripts, and gives the one of this name.

        Without a name it is the one that no other script of the text mentions. For texts that are
        in no file: those of `exec`, of the interactive prompt, and those that a program makes.
        """

script: _Script

def graph() -> Callable[[Callable[_P, _R]], OnnxClosure[_P, _R]]:
    """Marks a function inside a script as the body of a Loop, Scan, If or SequenceMap."""
