"""Tensor: the class of a script's values when it runs as Python."""

from ._core import Tensor

__all__ = ["Tensor"]
