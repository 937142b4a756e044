"""ONNX Script as a native toolchain.

Nothing is imported before it is used: `import sardonyx` costs what reading this file costs.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Generic, TypeVar
    from typing import Optional as OPTIONAL  # noqa: F401, N814

    _Tensor = TypeVar("_Tensor")

    class SPARSE(Generic[_Tensor]):
        """A tensor of which only some elements are stored: `SPARSE[FLOAT["N"]]`."""

    # _element_types, _functions and _opsets exist for type checkers only: they describe onnx_types,
    # _script and onnx_opset. The build generates the first and the last.
    from . import evaluator as evaluator
    from . import onnx_opset as onnx_opset
    from . import onnx_types as onnx_types
    from . import tensor as tensor
    from . import values as values
    from ._builder import Builder as Builder
    from ._builder import Expression as Expression
    from ._compile import compile as compile  # noqa: A004
    from ._core import AttributeReference as AttributeReference
    from ._core import CancelledError as CancelledError
    from ._core import CancelToken as CancelToken
    from ._core import EvalError as EvalError
    from ._core import Function as Function
    from ._core import Graph as Graph
    from ._core import Model as Model
    from ._core import ModelError as ModelError
    from ._core import Node as Node
    from ._core import Opset as Opset
    from ._core import Tensor as Tensor
    from ._core import Value as Value
    from ._decompile import decompile as decompile
    from ._decompile import load_library as load_library
    from ._decompile import proto2python as proto2python
    from ._element_types import *  # type: ignore[import-not-found,unused-ignore]  # noqa: F403
    from ._functions import OnnxFunction as OnnxFunction
    from ._functions import TracedOnnxFunction as TracedOnnxFunction
    from ._functions import graph as graph
    from ._functions import script as script
    from ._library import export_onnx_lib as export_onnx_lib
    from ._library import external_tensor as external_tensor
    from ._load import load as load
    from ._model import from_text as from_text
    from ._opsets import *  # type: ignore[import-not-found,unused-ignore]  # noqa: F403
    from ._reveal import reveal_type as reveal_type
    from ._schemas import load_schemas as load_schemas
    from ._script import CompileError as CompileError
    from ._script import ScriptWarning as ScriptWarning
    from ._types import Dim as Dim
    from ._types import Type as Type
    from ._weights import load_weights as load_weights
    from .onnx_types import TensorType as TensorType

__version__ = "0.1.0"

# Where each public name lives; tensor types and opsets have modules of their own.
_HOMES = {
    "AttributeReference": "_core",
    "Builder": "_builder",
    "CancelToken": "_core",
    "CancelledError": "_core",
    "CompileError": "_script",
    "Dim": "_types",
    "EvalError": "_core",
    "Expression": "_builder",
    "Function": "_core",
    "Graph": "_core",
    "Model": "_core",
    "ModelError": "_core",
    "Node": "_core",
    "OPTIONAL": "onnx_types",
    "OnnxFunction": "_script",
    "Opset": "_core",
    "SPARSE": "onnx_types",
    "ScriptWarning": "_script",
    "Tensor": "_core",
    "TensorType": "onnx_types",
    "TracedOnnxFunction": "_script",
    "Type": "_types",
    "Value": "_core",
    "compile": "_compile",
    "decompile": "_decompile",
    "export_onnx_lib": "_library",
    "external_tensor": "_library",
    "from_text": "_model",
    "graph": "_script",
    "load": "_load",
    "load_library": "_decompile",
    "load_schemas": "_schemas",
    "load_weights": "_weights",
    "proto2python": "_decompile",
    "reveal_type": "_reveal",
    "script": "_script",
}
_MODULES = ("evaluator", "onnx_opset", "onnx_types", "tensor", "values")


def _submodule(name: str) -> object:
    package = __import__(f"{__name__}.{name}")
    return getattr(package, name)


if not TYPE_CHECKING:  # checkers are to know which names there are

    def __getattr__(name: str) -> object:
        if name in _MODULES:
            return _submodule(name)
        if name == "__all__":
            return __dir__()
        home = _HOMES.get(name)
        if home is None and name.startswith("opset"):
            home = "onnx_opset" if name in _submodule("onnx_opset").__all__ else None
        elif home is None and name.isupper():
            from .onnx_types import TYPE_NAMES

            home = "onnx_types" if name in TYPE_NAMES else None
        if home is None and "_missing" in globals() and not name.startswith("_"):
            # Under `python -m sardonyx FILE.py`: other names of the installed onnxscript.
            found: object = globals()["_missing"](name)
            if found is not None:
                return found
        if home is None and name.startswith("_"):  # Python itself asks for these
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        if home is None:
            import sys

            from ._absent import absent

            raise absent(__name__, name, __dir__(), sys._getframe(1))
        value = getattr(_submodule(home), name)
        globals()[name] = value
        return value


def __dir__() -> "list[str]":
    from . import onnx_opset, onnx_types

    opsets = (name for name in onnx_opset.__all__ if name.startswith("opset"))
    return sorted({*_HOMES, *_MODULES, *opsets, *onnx_types.TYPE_NAMES})
