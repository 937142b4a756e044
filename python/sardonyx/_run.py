"""`python -m sardonyx FILE.py ...`: an unmodified program that imports onnxscript, on sardonyx.

The names `onnxscript` and `onnxscript.<module>` are imported as sardonyx and its modules, whether
or not the onnxscript package is installed. All else is as `python FILE.py ...` has it.
"""

import importlib.abc
import importlib.machinery
import importlib.util
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType
    from typing import NoReturn

_ALIAS = "onnxscript"
_PACKAGE = __name__.partition(".")[0]


class _Loader(importlib.abc.Loader):
    """Uses the module of sardonyx instead of making a new one."""

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> "ModuleType":
        module = importlib.import_module(_PACKAGE + spec.name[len(_ALIAS) :])
        self._own_spec = module.__spec__
        return module

    def exec_module(self, module: "ModuleType") -> None:
        module.__spec__ = self._own_spec  # the import system has put the alias's there


def _has(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # of a module around it
        return False


def _is_alias(name: str) -> bool:
    return name == _ALIAS or name.startswith(_ALIAS + ".")


# Modules of the onnxscript package that is installed, by their names: those that sardonyx lacks.
_taken: "dict[str, ModuleType]" = {}


def _installed(name: str) -> "ModuleType | None":
    """A module of the onnxscript package that is installed; None: there is none.

    The package is imported under its own names, and taken away again: the program sees sardonyx.
    """
    if name in _taken:
        return _taken[name]
    finders = [one for one in sys.meta_path if isinstance(one, AliasFinder)]
    hidden = {key: sys.modules.pop(key) for key in [*sys.modules] if _is_alias(key)}
    sys.modules.update(_taken)
    for one in finders:
        sys.meta_path.remove(one)
    try:
        importlib.import_module(name)
    except ImportError:
        pass
    finally:
        found = [key for key in sys.modules if _is_alias(key)]
        _taken.update({key: sys.modules.pop(key) for key in found})
        sys.modules.update(hidden)
        sys.meta_path[:0] = finders
    return _taken.get(name)


class _InstalledLoader(importlib.abc.Loader):
    """Uses a module of the installed package."""

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> "ModuleType | None":
        module = _installed(spec.name)
        self._own_spec = module.__spec__ if module is not None else None
        return module

    def exec_module(self, module: "ModuleType") -> None:
        module.__spec__ = self._own_spec


class AliasFinder(importlib.abc.MetaPathFinder):
    """Finds `onnxscript` and its modules in sardonyx."""

    def find_spec(
        self,
        fullname: str,
        path: "Sequence[str] | None" = None,  # noqa: ARG002
        target: "ModuleType | None" = None,  # noqa: ARG002
    ) -> importlib.machinery.ModuleSpec | None:
        """The module of sardonyx under the name of onnxscript; None for other names."""
        if fullname != _ALIAS and not fullname.startswith(_ALIAS + "."):
            return None
        own = _PACKAGE + fullname[len(_ALIAS) :]
        if not _has(own):
            if _installed(fullname) is not None:
                return importlib.machinery.ModuleSpec(fullname, _InstalledLoader())
            raise ModuleNotFoundError(
                f"No module named {fullname!r} (sardonyx has no {own})", name=fullname
            )
        return importlib.machinery.ModuleSpec(fullname, _Loader(), is_package=fullname == _ALIAS)


def _missing(name: str) -> "object | None":
    """The object of the installed onnxscript for a name that sardonyx does not have."""
    module = _installed(f"{_ALIAS}.{name}")
    return module if module is not None else getattr(_installed(_ALIAS), name, None)


def run(arguments: "Sequence[str]") -> "NoReturn":
    """Runs the program `arguments[0]` with these arguments, and ends the process as it does."""
    import builtins
    import io
    import os
    import traceback
    import types

    sys.meta_path.insert(0, AliasFinder())
    # Names of the package that sardonyx lacks: `onnxscript.optimizer`, `onnxscript.ir`.
    vars(importlib.import_module(_PACKAGE))["_missing"] = _missing
    sys.argv[:] = arguments
    path = arguments[0]
    sys.path[0] = os.path.dirname(os.path.realpath(path))  # noqa: PTH120
    try:
        with io.open_code(path) as file:
            source = file.read()
    except OSError as error:
        place = os.path.abspath(path)  # noqa: PTH100 (as Python shows it)
        reason = f"[Errno {error.errno}] {error.strerror}"
        print(f"{sys.executable}: can't open file {place!r}: {reason}", file=sys.stderr)
        sys.exit(2)
    main = types.ModuleType("__main__")
    main.__file__ = path
    main.__builtins__ = builtins  # type: ignore[attr-defined]
    sys.modules["__main__"] = main
    try:
        exec(compile(source, path, "exec"), main.__dict__)
    except SystemExit:
        raise
    except BaseException as error:
        # The frames of this function are not part of the program.
        program_frames = error.__traceback__ and error.__traceback__.tb_next
        if isinstance(error, KeyboardInterrupt):
            raise error.with_traceback(program_frames) from None
        error.__traceback__ = program_frames
        if sys.excepthook is sys.__excepthook__:
            traceback.print_exception(error)
        else:
            sys.excepthook(type(error), error, program_frames)
        sys.exit(1)
    sys.exit(0)
