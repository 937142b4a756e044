"""Errors for names that the package does not have: they say the name that was probably meant."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

_WIDER = ("COMPLEX256", "FLOAT128", "FLOAT80", "INT128", "UINT128")  # than any type of ONNX
# Where names are that scripts use besides.
_ELSEWHERE = {
    "op": "`from sardonyx import opset21 as op`",
    "Sequence": "`Sequence` of `collections.abc`",
}


def meant(name: str, names: "list[str]") -> str:
    """What to use instead, as the end of the message; nothing is like it."""
    if name in _ELSEWHERE:
        return f": use {_ELSEWHERE[name]}"
    if name.upper() in _WIDER:
        return ": ONNX has no type of this width"
    from ._core import element_name_meant

    found: str | None = element_name_meant(name)
    if found not in names:
        found = next((one for one in names if one.lower() == name.lower()), None)
    if found is None:
        import difflib

        found = next(iter(difflib.get_close_matches(name, names, 1, 0.75)), None)
    return f": did you mean `{found}`?" if found is not None else ""


def _is_import(frame: "FrameType") -> bool:
    """Whether the frame runs `from module import name`."""
    import opcode

    return frame.f_code.co_code[frame.f_lasti] == opcode.opmap["IMPORT_FROM"]


def absent(module: str, name: str, names: "list[str]", asked_by: "FrameType") -> Exception:
    """The error for a name that the module does not have.

    `from module import name` replaces an AttributeError by an ImportError without its text, so it
    gets an ImportError.
    """
    if name.startswith("opset"):
        from .onnx_opset import onnx_opset_version

        newest = f"opset{onnx_opset_version()}"
        text = f"there is no {name}: the newest opset of ai.onnx is {newest}"
        return ImportError(text, name=module) if _is_import(asked_by) else AttributeError(text)
    hint = meant(name, names)
    if _is_import(asked_by):
        text = f"cannot import name {name!r} from {module!r}{hint}"
        return ImportError(text, name=module) if hint else AttributeError(text)
    # With `name` alone, Python adds no other suggestion of its own.
    text = f"module {module!r} has no attribute {name!r}{hint}"
    return AttributeError(text, name=name) if hint else AttributeError(text)
