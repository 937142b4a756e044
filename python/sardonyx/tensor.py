"""Tensor: what the values of a script are when it runs as Python."""

from ._core import Tensor

__all__ = ["Tensor"]
