"""Opset, Op and the kinds of functions, under the names that ONNX Script sources import."""

from ._core import Op, Opset

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._functions import OnnxClosure, OnnxFunction, TracedOnnxFunction
else:
    from ._script import OnnxClosure, OnnxFunction, TracedOnnxFunction

__all__ = ["OnnxClosure", "OnnxFunction", "Op", "Opset", "TracedOnnxFunction"]
