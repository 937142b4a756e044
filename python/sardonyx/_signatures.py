"""The signatures of operators and scripts, as `inspect.signature` returns them."""

import inspect
import keyword
from collections.abc import Callable
from typing import Any

_KINDS = {
    "input": inspect.Parameter.POSITIONAL_OR_KEYWORD,
    "variadic": inspect.Parameter.VAR_POSITIONAL,
    "attribute": inspect.Parameter.KEYWORD_ONLY,
    "named": inspect.Parameter.VAR_KEYWORD,
}


def signature(rows: "list[tuple[str, str, bool, object]]") -> inspect.Signature:
    """A signature of the name, the kind, whether it is required and the default of each parameter.

    What Python cannot write as a parameter is left out: such attributes are given by `**`.
    """
    parameters: dict[str, inspect.Parameter] = {}
    for name, form, is_required, default in rows:
        if name in parameters or not name.isidentifier() or keyword.iskeyword(name):
            continue
        kind = _KINDS[form]
        is_open = kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        given = inspect.Parameter.empty if is_required or is_open else default
        parameters[name] = inspect.Parameter(name, kind, default=given)
    return inspect.Signature(list(parameters.values()))


class ScriptSignature(inspect.Signature):
    """The signature of a script; its text shows tensor types as they are written in the source."""

    @classmethod
    def of(cls, function: "Callable[..., Any]") -> "ScriptSignature":
        """Annotations that are strings, as with `from __future__ import annotations`, are evaluated
        if possible."""
        try:
            return cls.from_callable(function, eval_str=True)
        except Exception:
            return cls.from_callable(function)

    def __str__(self) -> str:
        return _as_written(super().__str__())

    def format(self, **options: Any) -> str:
        """The same on several lines if it is long, for `help` of Python 3.13 and newer."""
        formatted: str = super().format(**options)  # type: ignore[misc]
        return _as_written(formatted)


def _as_written(text: str) -> str:
    return text.replace("sardonyx.onnx_types.", "").replace("[Ellipsis]", "[...]")
