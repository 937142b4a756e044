"""Classes of named tuples, as far as they are what collections.namedtuple makes of their fields."""

from ._classes import PLAIN, kept

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PLAIN = PLAIN | {"__slots__", "__orig_bases__"}
# What namedtuple() makes, which nothing else may stand for.
_MADE = {
    "__new__", "__repr__", "__getnewargs__", "__replace__", "_make", "_replace", "_asdict",
    "_fields", "_field_defaults",
}  # fmt: skip


def _is_plain(kind: type, fields: "tuple[str, ...]") -> bool:
    """Whether a class, of those above tuple, leaves the meaning of named tuples as it is."""
    own = vars(kind)
    is_made = "_fields" in own
    if is_made and getattr(own.get("__repr__"), "__module__", "") != "collections":
        return False
    for name in own:
        if name in _MADE and not is_made:
            return False
        is_special = name.startswith("__") and name.endswith("__")
        if is_special and name not in _PLAIN and name not in _MADE:
            return False
        if name in ("index", "count") or (name in fields and not is_made):
            return False
    return True


def parts_of(kind: type) -> "tuple[str, tuple[str, ...], list[Any], type | None] | None":
    """Its name, its fields, the defaults of the last ones, and the class of named tuples that is
    its base. None: it means something else."""
    fields = getattr(kind, "_fields", None)
    defaults = getattr(kind, "_field_defaults", None)
    if type(kind) is not type or not isinstance(fields, tuple) or not isinstance(defaults, dict):
        return None
    above = kind.__mro__[:-2]
    if kind.__mro__[-2:] != (tuple, object) or not all(_is_plain(one, fields) for one in above):
        return None
    new = getattr(kind, "__new__", None)
    given = list(getattr(new, "__defaults__", None) or ())
    return kind.__name__, fields, given, above[1] if len(above) > 1 else None


def member_of(kind: type, name: str) -> "tuple[str, Any] | None":
    """How the class keeps a member that namedtuple() has not made, and what it is."""
    fields = getattr(kind, "_fields", ())
    if name in fields or name in _MADE or name.startswith("__"):
        return None
    for one in kind.__mro__[:-2]:
        if name in vars(one):
            return kept(vars(one)[name])
    return None


def names_of(kind: type) -> "list[str]":
    """The names that member_of() knows."""
    names = {name for one in kind.__mro__[:-2] for name in vars(one)}
    return sorted(name for name in names if member_of(kind, name) is not None)
