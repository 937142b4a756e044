"""`library=` of an export: files, modules and functions that are the user's own operators."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib.util
import os
import pathlib
import sys
import types
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .._core import is_name_in_script
from .._script import OnnxFunction
from ._operators import declared_overloads, inline_script, loading, overload_of

# The module in scripts of functions that no file has at its top level.
_NO_FILE = "own"
# What the program knows by these names, whatever files there are.
_PACKAGES = ("numpy", "onnx", "sardonyx", "torch")


def _is_in(module: types.ModuleType, folder: pathlib.Path) -> bool:
    file = getattr(module, "__file__", None)
    return file is not None and pathlib.Path(file).resolve().is_relative_to(folder)


@contextlib.contextmanager
def _neighbours(folder: pathlib.Path, own: str) -> Iterator[None]:
    """Imports find the files of a folder first, as in a script that is run there.

    Modules of the same names that other folders have are set aside: the program, which does not
    know them, would read the files of this one.
    """
    files = {one.stem for one in folder.glob("*.py")}
    files |= {one.parent.name for one in folder.glob("*/__init__.py")}
    files -= {own, *sys.stdlib_module_names, *_PACKAGES}
    aside = {
        name: module for name, module in sys.modules.items()
        if name.partition(".")[0] in files and not _is_in(module, folder)
    }  # fmt: skip
    for name in aside:
        del sys.modules[name]
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        if str(folder) in sys.path:  # unless the library has removed it
            sys.path.remove(str(folder))
        if aside:
            tops = {name.partition(".")[0] for name in aside}
            for name in [one for one in sys.modules if one.partition(".")[0] in tops]:
                del sys.modules[name]
            sys.modules.update(aside)


@dataclasses.dataclass(frozen=True)
class Library:
    """The user's operators of one export."""

    # Each overload as its name in scripts, such as `mylib.scaled`, and its function.
    known: dict[str, tuple[str, Any]] = dataclasses.field(default_factory=dict)
    # What scripts import for them, and the files of these modules.
    modules: dict[str, types.ModuleType] = dataclasses.field(default_factory=dict)
    paths: dict[str, pathlib.Path] = dataclasses.field(default_factory=dict)

    def modules_of(self, text: str) -> list[str]:
        """The modules that a script imports."""
        return [name for name in self.modules if f"\nimport {name}\n" in text]

    def without_imports(self, text: str) -> str:
        """The script for a scope that has the modules already, line by line."""
        for name in self.modules_of(text):
            text = text.replace(f"\nimport {name}\n", "\n\n", 1)
        return text

    def home_of(self, overload: str) -> str:
        """For messages: which function of a file the overload is."""
        name, _, function = self.known.get(overload, ("", None))[0].partition(".")
        return f", which is `{function}` of {self.paths[name]}" if name in self.paths else ""

    def complaint(self, text: str, folder: pathlib.Path | None = None) -> str:
        """Why a script does not find what it imports; in a folder, if one is given."""
        for name in self.modules_of(text):
            if name not in self.paths:
                own = [key for key, (called, _) in self.known.items() if called.startswith("own.")]
                return (
                    f"the script would call functions that no file has at its top level, for "
                    f"`{'`, `'.join(own)}`: put them into a file, and give `library=` its path"
                )
            if folder is not None and self.paths[name].resolve().parent != folder.resolve():
                return (
                    f"the script imports `{name}`, so it must be in the folder of "
                    f"{self.paths[name]}"
                )
        return ""

    def _add_module(self, name: str, module: types.ModuleType, path: pathlib.Path) -> None:
        if not is_name_in_script(name) or name == "__init__":
            raise ValueError(f"{path}: scripts cannot import `{name}`: give the file another name")
        if name in self.paths and self.paths[name].resolve() != path.resolve():
            raise ValueError(
                f"{path}: `{self.paths[name]}` is called `{name}` too: give one of the files "
                "another name"
            )
        self.modules[name], self.paths[name] = module, path

    def _add(self, overload: str, called: str, function: Any) -> None:
        if overload in self.known:
            other = self.known[overload][0]
            place = getattr(function, "__wrapped__", function).__code__
            raise ValueError(
                f"{place.co_filename}:{place.co_firstlineno}: `{overload}` is declared already, by "
                f"`{other}`"
            )
        self.known[overload] = (called, function)

    def _add_declared(
        self, module: types.ModuleType, path: pathlib.Path, found: Sequence[OnnxFunction]
    ) -> None:
        if not found:
            raise ValueError(
                f'{path}: the file declares no operators: write `@operator("mylib::op")` above a '
                "function at its top level"
            )
        if path.stem in self.paths and self.paths[path.stem].resolve() == path.resolve():
            return  # the file has been given twice
        self._add_module(path.stem, module, path)
        for one in dict.fromkeys(found):
            if getattr(module, one.__name__, None) is not one:
                line = one.function.__code__.co_firstlineno
                raise ValueError(
                    f"{path}:{line}: `{one.__name__}` is not what the file has by this name at its "
                    "end: give the operator's function, which stands at the top level, a name of "
                    "its own"
                )
            for overload in declared_overloads(one):
                self._add(overload, f"{path.stem}.{one.__name__}", one)

    def _add_file(self, path: pathlib.Path) -> None:
        if not path.is_file():
            raise FileNotFoundError(f"there is no library {path}")
        name = path.stem
        spec = importlib.util.spec_from_file_location(name, path)
        if spec is None or spec.loader is None:
            raise ValueError(f"{path}: a library is a file of Python, such as `mylib.py`")
        module = importlib.util.module_from_spec(spec)
        before = sys.modules.get(name)
        sys.modules[name] = module
        try:
            with _neighbours(path.resolve().parent, name), loading(name) as found:
                spec.loader.exec_module(module)
        finally:
            del sys.modules[name]
            if before is not None:
                sys.modules[name] = before
        self._add_declared(module, path, found)

    def _add_functions(self, functions: Mapping[str, Any]) -> None:
        for name, function in functions.items():
            overload, made = overload_of(name), inline_script(function)
            home = sys.modules.get(made.__module__)
            file = getattr(home, "__file__", None)
            has_it = home is not None and getattr(home, made.__name__, None) is function
            if home is not None and file and has_it and home.__name__ != "__main__":
                path = pathlib.Path(file)
                self._add_module(path.stem, home, path)
                self._add(overload, f"{path.stem}.{made.__name__}", function)
            else:
                called = overload.removesuffix(".default").replace("::", "_").replace(".", "_")
                own = self.modules.setdefault(_NO_FILE, types.ModuleType(_NO_FILE))
                setattr(own, called, made)
                self._add(overload, f"{_NO_FILE}.{called}", made)

    def add(self, library: Any) -> None:
        """Adds a path, a module, a mapping of overloads to functions, or a sequence of these."""
        if isinstance(library, (str, os.PathLike)):
            self._add_file(pathlib.Path(library))
        elif isinstance(library, types.ModuleType):
            if not getattr(library, "__file__", None):
                raise ValueError(f"`library`: the module `{library.__name__}` has no file")
            found = [
                one for one in vars(library).values()
                if isinstance(one, OnnxFunction) and declared_overloads(one)
                and one.__module__ == library.__name__
            ]  # fmt: skip
            self._add_declared(library, pathlib.Path(str(library.__file__)), found)
        elif isinstance(library, Mapping):
            self._add_functions(library)
        elif isinstance(library, (list, tuple)):
            for one in library:
                self.add(one)
        else:
            raise TypeError(
                "`library` is a path, a module, a mapping of operators to functions, or a sequence "
                f"of these, not {type(library).__name__}"
            )


def library_of(library: Any) -> Library:
    """What `library=` of an export means."""
    found = Library()
    if library is not None:
        found.add(library)
    return found
