"""The objects that a function may change when the compiler runs it: its defaults, what it has
closed over, the globals that it names, the classes of the script's folder among them, and what
these hold."""

import sys
import types

from . import _moments
from ._moments import names_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Larger arrays are only read while the function runs.
_MOST_BYTES = 1 << 20
# The most objects that are examined: a compiler cannot follow everything.
_MOST = 10_000


def _same(one: "Any", other: "Any") -> bool:
    """Whether the containers hold the same objects."""
    if isinstance(one, (dict, types.MappingProxyType)):
        return len(one) == len(other) and all(
            a is b and x is y for (a, x), (b, y) in zip(one.items(), other.items(), strict=True)
        )
    if isinstance(one, (set, bytearray)):
        return bool(one == other)
    return len(one) == len(other) and all(x is y for x, y in zip(one, other, strict=True))


def is_replaced(module: str, name: str, now: "Any") -> bool:
    """Whether a function of a library has been replaced by another one."""
    home = getattr(now, "__module__", None)
    if isinstance(now, types.FunctionType) and isinstance(home, str):
        root = module.partition(".")[0]
        return home.partition(".")[0].removeprefix("_") not in (root, "sardonyx", "onnxscript")
    return module in ("math", "itertools") and getattr(now, "__name__", name) != name


class Watched:
    """A function that is about to be called, and the current state of all that it may change."""

    def __init__(self, function: "Any", path: str) -> None:
        self._folder = path[: max(path.rfind("/"), path.rfind("\\")) + 1]
        self._seen: set[int] = set()
        self._containers: list[tuple[Any, Any]] = []
        self._arrays: list[tuple[Any, Any]] = []
        self._globals: dict[int, tuple[dict[str, Any], dict[str, Any]]] = {}
        self._cells: list[tuple[types.CellType, Any]] = []
        self._classes: list[tuple[type, dict[str, Any]]] = []
        self._locked: list[Any] = []
        self._lent: list[tuple[Any, Any]] = []
        self._references: list[int] = []
        # Why the function may not be run by the compiler; None: it may.
        self.reason = _moments.of_function(function, self._folder)
        self._see(function)

    def _see(self, start: "Any") -> None:
        waiting = [start]
        while waiting and len(self._seen) < _MOST:
            one = waiting.pop()
            if id(one) in self._seen or isinstance(one, (int, float, str, bytes, types.ModuleType)):
                continue
            self._seen.add(id(one))
            if isinstance(one, types.MethodType):
                waiting += [one.__self__, one.__func__]
            elif isinstance(one, types.FunctionType):
                waiting += self._of_function(one)
            elif isinstance(one, (list, dict, set, bytearray)):
                self._containers.append((one, one.copy()))
                waiting += one.values() if isinstance(one, dict) else one
            elif isinstance(one, (tuple, frozenset)):
                waiting += one
            elif hasattr(type(one), "__array_interface__"):
                self._array(one)
            elif isinstance(one, (staticmethod, classmethod)):
                waiting.append(one.__func__)
            elif isinstance(one, property):
                waiting += [one.fget, one.fset]
            elif isinstance(one, type):
                if self._is_own(one):
                    self._classes.append((one, dict(vars(one))))
                    waiting += [*vars(one).values(), *one.__bases__]
            elif self._is_own(type(one)):
                waiting += [type(one), getattr(one, "__dict__", None)]

    def _of_function(self, function: types.FunctionType) -> "list[Any]":
        """The objects that a function of the script's folder, or below it, can reach."""
        if not function.__code__.co_filename.startswith(self._folder):
            return []
        found: list[Any] = [
            *(function.__defaults__ or ()),
            *(function.__kwdefaults__ or {}).values(),
        ]
        for cell in function.__closure__ or ():
            try:
                self._cells.append((cell, cell.cell_contents))
            except ValueError:
                continue  # still empty
            found.append(cell.cell_contents)
        scope = function.__globals__
        before = self._globals.setdefault(id(scope), (scope, {}))[1]
        for name in names_of(function.__code__):
            if name in scope:
                before[name] = scope[name]
                found.append(scope[name])
        return found

    def _is_own(self, kind: type) -> bool:
        members = [getattr(one, "fget", one) for one in list(vars(kind).values())]
        functions = [one for one in members if isinstance(one, types.FunctionType)]
        if functions:
            return functions[0].__code__.co_filename.startswith(self._folder)
        module = sys.modules.get(kind.__module__)
        path = getattr(module, "__file__", None)
        return isinstance(path, str) and path.startswith(self._folder)

    def _array(self, array: "Any") -> None:
        flags = getattr(array, "flags", None)
        if flags is None or not flags.writeable:
            return
        if array.nbytes <= _MOST_BYTES:
            self._arrays.append((array, array.copy()))
        else:
            flags.writeable = False
            self._locked.append(flags)

    def lend(self, waiting: "list[Any]") -> None:
        """Arguments of the call. Lists, dicts and sets are copies of the compiler's."""
        while waiting:
            one = waiting.pop()
            if type(one) in (list, dict, set):
                self._lent.append((one, one.copy()))
            if type(one) in (list, set, frozenset) or isinstance(one, tuple):
                waiting += one
            elif type(one) is dict:
                waiting += one.values()
            else:
                self._see(one)
        one = None
        self._references = [sys.getrefcount(one) for one, _ in self._lent]

    def has_used_lent(self) -> bool:
        """Whether the call has changed such a copy, or something refers to it after the call."""
        references = [sys.getrefcount(one) for one, _ in self._lent]
        return references != self._references or not all(_same(*one) for one in self._lent)

    def has_changed(self) -> bool:
        """Whether the call has changed something. Called once, after the call."""
        for flags in self._locked:
            flags.writeable = True
        self._containers = [(one, old) for one, old in self._containers if not _same(one, old)]
        self._arrays = [
            (one, old)
            for one, old in self._arrays
            if one.shape != old.shape or one.tobytes() != old.tobytes()
        ]
        self._bindings = [
            (scope, name, old)
            for scope, before in self._globals.values()
            for name, old in before.items()
            if scope.get(name, self) is not old
        ]
        self._cells = [(cell, old) for cell, old in self._cells if cell.cell_contents is not old]
        self._classes = [(one, old) for one, old in self._classes if not _same(vars(one), old)]
        return bool(
            self._containers or self._arrays or self._bindings or self._cells or self._classes
        )

    def take_back(self) -> None:
        """Restores the contents of all objects."""
        for one, old in self._containers:
            if isinstance(one, (list, bytearray)):
                one[:] = old
            else:
                one.clear()
                one.update(old)
        for array, old in self._arrays:
            array[...] = old
        for scope, name, old in self._bindings:
            scope[name] = old
        for cell, old in self._cells:
            cell.cell_contents = old
        for kind, before in self._classes:
            for name in set(vars(kind)) - set(before):
                delattr(kind, name)
            for name, old in before.items():
                if vars(kind).get(name, kind) is not old:
                    setattr(kind, name, old)
