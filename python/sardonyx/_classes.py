"""Classes of the script's own files, as far as their instances are what their methods make of them:
instances that hold tensors are the compiler's."""

import dataclasses
import functools
import sys
import types

from . import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any
else:
    from ._type_names import Any

# What every class has, or what says nothing of how instances behave.
PLAIN = {
    "__module__", "__qualname__", "__doc__", "__dict__", "__weakref__", "__annotations__",
    "__annotate__", "__annotate_func__", "__annotations_cache__", "__firstlineno__",
    "__static_attributes__", "__match_args__", "__slots__",
    # Of ABC, Protocol and Generic.
    "__abstractmethods__", "__orig_bases__", "__parameters__", "__protocol_attrs__",
    "__non_callable_proto_members__",
}  # fmt: skip
# Bases that say nothing of how instances behave, and the classes of classes that go with them.
_BARE_BASES = {("typing", "Generic"), ("typing", "Protocol"), ("abc", "ABC")}
_METACLASSES = {("abc", "ABCMeta"), ("typing", "_ProtocolMeta")}
_PLAIN = PLAIN | {"__dataclass_fields__", "__dataclass_params__", "__replace__"}
# Methods that the compiler calls in any class, and in plain classes alone.
_METHODS = {"__init__", "__call__", "__len__", "__getitem__", "__post_init__"}
_SPECIAL = set(_core.special_methods())
# What any class may say of its text; a dataclass, too.
_TEXTS = {"__repr__", "__str__"}
# What `dataclass` makes is known by its parameters.
_MADE = {
    "__init__", "__eq__", "__repr__", "__hash__", "__setattr__", "__delattr__", "__lt__", "__le__",
    "__gt__", "__ge__", "__getstate__", "__setstate__",
}  # fmt: skip
_CACHED = type(functools.lru_cache(len))
_KINDS = {property: "property", classmethod: "classmethod", staticmethod: "staticmethod"}


def _is_made(value: "Any") -> bool:
    """Whether `dataclass` has made a method: its code is of no file, or of that module."""
    code = getattr(getattr(value, "__wrapped__", value), "__code__", None)
    return (
        value is None
        or getattr(value, "__module__", None) == "dataclasses"
        or (code is not None and code.co_filename.startswith("<"))
    )


def _is_of(kind: type, names: "set[tuple[str, str]]") -> bool:
    return (kind.__module__, kind.__qualname__) in names


def _is_of_typing(value: "Any") -> bool:
    """Whether a class has a method only because it is a protocol, or derived from one."""
    return isinstance(value, types.FunctionType) and value.__module__ == "typing"


def _is_plain(kind: type, is_data: bool) -> bool:
    for name, value in vars(kind).items():
        if _is_of_typing(value):
            continue
        if not is_data and name in _SPECIAL:
            # Without a hash of its own a class that compares its instances has None.
            if not isinstance(value, types.FunctionType) and (name, value) != ("__hash__", None):
                return False
            continue
        if name in _TEXTS and isinstance(value, types.FunctionType):
            continue
        is_special = name.startswith("__") and name.endswith("__")
        is_private = name.startswith("_" + kind.__name__.lstrip("_") + "__")
        if is_private or (is_special and name not in _PLAIN | _METHODS | _MADE):
            return False
        if is_special and name in _MADE and not (is_data and _is_made(value)):
            if name not in _METHODS or is_data:
                return False
        if is_special and name in _METHODS and name not in _MADE:
            if not isinstance(value, types.FunctionType):
                return False
    return True


def _is_protocol(kind: type) -> bool:
    return bool(vars(kind).get("_is_protocol", False))


def _parameters(kind: type) -> "list[tuple[str, bool, bool, bool]] | None":
    """The parameters of a dataclass in order: the name, whether it is given by keyword only, is a
    field, and is given at all. None: its fields mean something else."""
    made = []
    for name, one in vars(kind)["__dataclass_fields__"].items():
        sort = str(one._field_type)
        if sort == "_FIELD_CLASSVAR":
            continue
        if sort == "_FIELD" and (not one.compare or one.hash is not None):
            return None
        made.append((name, bool(getattr(one, "kw_only", False)), sort == "_FIELD", one.init))
    return made


def _slots(kind: type) -> "list[str] | None":
    """None: its instances take any member."""
    slots = vars(kind).get("__slots__")
    return [slots] if isinstance(slots, str) else None if slots is None else list(slots)


def kept(found: "Any") -> "tuple[str, Any]":
    """How a class keeps a member that is in its table, and what the member is."""
    if isinstance(found, types.FunctionType):
        return "function", found
    if isinstance(found, property):
        return "property", found.fget if found.fset is None else (found.fget, found.fset)
    if isinstance(found, (classmethod, staticmethod)):
        return _KINDS[type(found)], found.__func__
    if isinstance(found, functools.cached_property):
        return "functools.cached_property", found.func
    if isinstance(found, _CACHED):
        return "functools.cache", found.__wrapped__
    return "", found


@dataclasses.dataclass
class Parts:
    """What a class is, to the compiler."""

    place: "str | None"  # the file that it is of, if that is known
    name: str
    bases: "list[type]"
    abstract: "list[str]"
    is_protocol: bool
    slots: "list[str] | None"
    exception: str = ""  # the class of Python's exceptions that is its base
    is_data: bool = False
    is_frozen: bool = False
    has_eq: bool = True
    has_order: bool = False
    has_repr: bool = True
    fields: "list[str]" = dataclasses.field(default_factory=list)
    parameters: "list[tuple[str, bool, bool, bool]]" = dataclasses.field(default_factory=list)


def parts_of(kind: "Any") -> "Parts | None":
    """None: it means something else."""
    if kind is object or not (type(kind) is type or _is_of(type(kind), _METACLASSES)):
        return None
    home = getattr(sys.modules.get(kind.__module__), "__file__", None)
    functions = [one for one in vars(kind).values() if isinstance(one, types.FunctionType)]
    files = [
        one.__code__.co_filename
        for one in functions
        if not _is_made(one) and not _is_of_typing(one)
    ]
    place = files[0] if files else home if isinstance(home, str) else None
    if place is None and kind.__module__ in sys.modules and kind.__module__ != "__main__":
        return None
    raised = [one for one in kind.__bases__ if _is_exception(one)]
    if raised and len(kind.__bases__) > 1:
        return None
    bases = [
        one
        for one in kind.__bases__
        if one is not object and one not in raised and not _is_of(one, _BARE_BASES)
    ]
    is_data = _is_data(kind)
    if not _is_plain(kind, is_data) or any(is_data != _is_data(base) for base in bases):
        return None
    if is_data and len(bases) > 1:
        return None
    abstract = sorted(getattr(kind, "__abstractmethods__", ()))
    made = Parts(place, kind.__name__, bases, abstract, _is_protocol(kind), _slots(kind))
    made.exception = raised[0].__name__ if raised else ""
    return _with_fields(made, kind) if is_data else made


def _is_exception(kind: type) -> bool:
    return kind.__module__ == "builtins" and issubclass(kind, BaseException)


def _with_fields(made: Parts, kind: "Any") -> "Parts | None":
    settings = vars(kind)["__dataclass_params__"]
    parameters = _parameters(kind)
    if parameters is None or settings.unsafe_hash:
        return None
    fields = dataclasses.fields(kind)
    by_position = tuple(
        name for name, is_keyword, _, is_given in parameters if is_given and not is_keyword
    )
    if vars(kind).get("__match_args__", by_position) != by_position:
        return None
    made.is_data = True
    made.is_frozen, made.has_eq = settings.frozen, settings.eq
    made.has_order = settings.order
    made.has_repr = settings.repr and all(one.repr for one in fields)
    made.fields, made.parameters = [one.name for one in fields], parameters
    return made


def _is_data(kind: type) -> bool:
    return "__dataclass_params__" in vars(kind)


def member_of(kind: type, name: str) -> "tuple[str, Any] | None":
    """How the class itself keeps a member, and what it is."""
    if name == "__match_args__" and name in vars(kind) and not _is_data(kind):
        return "", vars(kind)[name]
    if name not in vars(kind) or name in _PLAIN:
        fields = vars(kind).get("__dataclass_fields__", {})
        one = fields.get(name)
        if one is not None and one.default_factory is not dataclasses.MISSING:
            return "dataclasses.field", one.default_factory
        return None
    found = vars(kind)[name]
    if _is_of_typing(found) or isinstance(found, types.MemberDescriptorType):
        return None
    if name.startswith("__"):
        return None if _is_made(found) else ("", found)
    return kept(found)


def names_of(kind: type) -> "list[str]":
    """The names that member_of() knows of the class and of those that it is derived from."""
    above = [one for one in kind.__mro__[:-1] if not _is_exception(one)]
    return sorted({name for one in above for name in vars(one) if member_of(one, name) is not None})
