"""PyTorch modules as ONNX models, by way of a script that people can read.

`export` and `convert` import torch when they are called. `aten` is the library of PyTorch's
operators in the script language: `from sardonyx.torch import aten`.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import aten as aten
    from ._export import convert as convert
    from ._export import export as export
    from ._exported import Exported as Exported
    from ._exported import ExportError as ExportError
    from ._operators import operator as operator
    from ._translation import translation as translation

__all__ = ["ExportError", "Exported", "aten", "convert", "export", "operator", "translation"]

_HOMES = {
    "ExportError": "_exported",
    "Exported": "_exported",
    "convert": "_export",
    "export": "_export",
    "operator": "_operators",
    "translation": "_translation",
}


def __getattr__(name: str) -> object:
    import importlib

    if name == "aten":
        return importlib.import_module(f"{__name__}.aten")
    if name not in _HOMES:
        raise AttributeError(f"module 'sardonyx.torch' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
