"""Classes of the script's own files, as far as their instances are what their methods make of them:
instances that hold tensors are the compiler's."""

import dataclasses
import functools
import sys
import types

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# What every class has, or what says nothing of how instances behave.
PLAIN = {
    "__module__", "__qualname__", "__doc__", "__dict__", "__weakref__", "__annotations__",
    "__annotate__", "__annotate_func__", "__annotations_cache__", "__firstlineno__",
    "__static_attributes__", "__match_args__",
    # Of ABC, Protocol and Generic.
    "__abstractmethods__", "__orig_bases__", "__parameters__", "__protocol_attrs__",
    "__non_callable_proto_members__",
}  # fmt: skip
# Bases that say nothing of how instances behave, and the classes of classes that go with them.
_BARE_BASES = {("typing", "Generic"), ("typing", "Protocol"), ("abc", "ABC")}
_METACLASSES = {("abc", "ABCMeta"), ("typing", "_ProtocolMeta")}
_PLAIN = PLAIN | {"__dataclass_fields__", "__dataclass_params__", "__replace__"}
# Methods that the compiler calls; what `dataclass` makes is known by its parameters.
_METHODS = {"__init__", "__call__", "__len__", "__getitem__", "__post_init__"}
# The same of plain classes: operators, comparisons and the like.
_TURNED = (
    "add", "sub", "mul", "matmul", "truediv", "mod", "pow", "lshift", "rshift", "or", "xor", "and",
    "floordiv",
)  # fmt: skip
_SPECIAL = {
    "__repr__", "__str__", "__hash__", "__bool__", "__contains__", "__iter__", "__neg__",
    "__pos__", "__invert__", "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__",
    *(f"__{turned}{name}__" for name in _TURNED for turned in ("", "r")),
}  # fmt: skip
_MADE = {
    "__init__", "__eq__", "__repr__", "__hash__", "__setattr__", "__delattr__", "__lt__", "__le__",
    "__gt__", "__ge__",
}  # fmt: skip
_CACHED = type(functools.lru_cache(len))
_KINDS = {property: "property", classmethod: "classmethod", staticmethod: "staticmethod"}


def _is_made(value: "Any") -> bool:
    """Whether `dataclass` has made a method: its code is of no file."""
    code = getattr(getattr(value, "__wrapped__", value), "__code__", None)
    return value is None or (code is not None and code.co_filename.startswith("<"))


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


def _plain_fields(kind: type) -> bool:
    fields = dataclasses.fields(kind)
    every = vars(kind)["__dataclass_fields__"].values()
    others = [one._field_type for one in every if one not in fields]
    return all(str(one) == "_FIELD_CLASSVAR" for one in others) and all(
        one.init and one.compare and not getattr(one, "kw_only", False) for one in fields
    )


def kept(found: "Any") -> "tuple[str, Any]":
    """How a class keeps a member that is in its table, and what the member is."""
    if isinstance(found, types.FunctionType):
        return "function", found
    if isinstance(found, property):
        return "property", found.fget
    if isinstance(found, (classmethod, staticmethod)):
        return _KINDS[type(found)], found.__func__
    if isinstance(found, functools.cached_property):
        return "functools.cached_property", found.func
    if isinstance(found, _CACHED):
        return "functools.cache", found.__wrapped__
    return "", found


def parts_of(
    kind: "Any",
) -> "tuple[str | None, str, bool, bool, list[str], list[type], list[str], bool] | None":
    """The file that it is of, if that is known, its name, whether it is a dataclass, whether that
    is frozen, its fields, its bases, its abstract methods, and whether it is a protocol. None: it
    means something else."""
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
    bases = [one for one in kind.__bases__ if one is not object and not _is_of(one, _BARE_BASES)]
    is_data = "__dataclass_params__" in vars(kind)
    if not _is_plain(kind, is_data) or any(is_data != _is_data(base) for base in bases):
        return None
    if is_data and len(bases) > 1:
        return None
    abstract = sorted(getattr(kind, "__abstractmethods__", ()))
    if not is_data:
        return (place, kind.__name__, False, False, [], bases, abstract, _is_protocol(kind))
    settings = vars(kind)["__dataclass_params__"]
    if not settings.eq or settings.order or not _plain_fields(kind):
        return None
    fields = [one.name for one in dataclasses.fields(kind)]
    if vars(kind).get("__match_args__", tuple(fields)) != tuple(fields):
        return None
    return (
        place, kind.__name__, True, settings.frozen, fields, bases, abstract, _is_protocol(kind),
    )  # fmt: skip


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
    if _is_of_typing(found):
        return None
    if name.startswith("__"):
        return None if _is_made(found) else ("", found)
    return kept(found)


def names_of(kind: type) -> "list[str]":
    """The names that member_of() knows of the class and of those that it is derived from."""
    above = kind.__mro__[:-1]
    return sorted({name for one in above for name in vars(one) if member_of(one, name) is not None})
