"""Opsets, operators and functions."""

from ._core import Op, Opset
from ._script import OnnxClosure, OnnxFunction, TracedOnnxFunction

__all__ = ["OnnxClosure", "OnnxFunction", "Op", "Opset", "TracedOnnxFunction"]
