"""docs/compatibility.md: every public name of onnxscript, and whether it works here.

`python tests/python/compatibility/test_compatibility.py` writes the page anew. The names are those
that the installed package shows. A name works where its program in trials.py gives the same with
both packages; why something differs is in DIFFERS.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import inspect
import json
import os
import pathlib
import pkgutil
import subprocess
import sys
from typing import Any

import sardonyx

from compatibility import trials
from places import ROOT

PAGE = ROOT / "docs/compatibility.md"
PACKAGE = str(pathlib.Path(sardonyx.__file__).parents[1])

VERSION = "0.7.2"
# Modules that sardonyx has too: each of their names is looked at.
OWN = ("values", "evaluator", "tensor", "onnx_types", "onnx_opset")

DIFFERS = {
    "script": "also accepts `schemas=`; scripts are checked when they are compiled; "
    "errors raise `CompileError`",
    "OnnxFunction": "`@script()` returns one; the constructor has other parameters",
    "OnnxFunction.to_model_proto": "named parameters instead of `**kwargs`; types and shapes of "
    "results are inferred",
    "TracedOnnxFunction": "compiled like other scripts, not traced",
    "proto2python": "the same as `sardonyx.decompile`; options for the output have no effect",
    "values.Op": "`op_schema` needs the package onnx; calls run natively",
    "values.Opset": "an operator without a schema is not an attribute, but compiled scripts can "
    "call it",
    "evaluator.Evaluator": "subclasses implement `eval`, `eval_op` or `eval_function`",
    "evaluator.default": "the native evaluator, not ONNX Runtime",
    "evaluator.ORTMixedEvaluator": "operators that ONNX Runtime lacks are run by the native "
    "kernels; functions cannot be registered",
    "tensor.Tensor": "has value semantics: assignments to items do not change other tensors",
    "onnx_opset.all_opsets": "also has newer opsets and ai.onnx.preview.training",
    "onnx_types.TensorType": "symbolic dimensions are expressions, as in `FLOAT['2*N']`",
}


CLASS_OF_OPSET = "for annotations, `isinstance` and calls without arguments; not for subclasses"


def difference(key: str) -> str:
    """Why a name differs; empty if it is not known to."""
    is_class = key.startswith("onnx_opset.Opset") and key != "onnx_opset.Opset"
    return CLASS_OF_OPSET if is_class else DIFFERS.get(key, "")


def key_of(module: str, name: str) -> str:
    """The name as it is spelt in the tables of this test."""
    return name if module == "onnxscript" else f"{module.partition('.')[2]}.{name}"


def own_names(module: Any) -> list[str]:
    """What the module itself defines or lists, without the modules in it."""
    listed = getattr(module, "__all__", ())
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and not inspect.ismodule(value)
        and (name in listed or str(getattr(value, "__module__", "")).startswith("onnxscript"))
    ]


def members(module: Any, name: str) -> list[str]:
    """The public members of a class; of element types, those of TensorType stand for all."""
    value = getattr(module, name)
    if not inspect.isclass(value) or (name != "TensorType" and name.isupper()):
        return []
    if module.__name__.endswith("onnx_opset"):
        return []  # operators
    return [f"{name}.{one}" for one in dir(value) if not one.startswith("_")]


def inventory() -> dict[str, list[str]]:
    """The public names of the installed package, by module."""
    package = importlib.import_module("onnxscript")
    names = {"onnxscript": [*package.__all__]}
    for name in ("OnnxFunction", "TracedOnnxFunction"):
        names["onnxscript"] += members(package, name)
    found = {one.name for one in pkgutil.iter_modules(package.__path__)}
    names["onnxscript"] += sorted(
        one for one in found if not one.startswith("_") and one not in names["onnxscript"]
    )
    for name in OWN:
        module = importlib.import_module(f"onnxscript.{name}")
        here = own_names(module)
        known = ("OnnxFunction", "TracedOnnxFunction")
        names[f"onnxscript.{name}"] = here + [
            member for one in here if one not in known for member in members(module, one)
        ]
    return names


# Under `python -m sardonyx`: where each name comes from.
PROBE = """\
import importlib, json, sys
import sardonyx
def look(start, path):
    for part in path.split("."):
        try:
            start = getattr(start, part)
        except AttributeError:
            return None
    return start
found = {}
for module, names in json.load(sys.stdin).items():
    here = importlib.import_module(module)
    own = importlib.import_module(module.replace("onnxscript", "sardonyx", 1))
    assert here is own, module
    taken = vars(sardonyx).pop("_missing")
    plain = {name: look(own, name) is not None for name in names}
    vars(sardonyx)["_missing"] = taken
    for name in names:
        if "." not in name and module == "onnxscript" and not plain[name]:
            try:
                importlib.import_module(f"{module}.{name}")
            except ImportError:
                pass
        found[f"{module}.{name}"] = (
            "works" if plain[name] else "installed" if look(here, name) is not None else "absent"
        )
print(json.dumps(found))
"""


def tried(names: dict[str, list[str]], folder: pathlib.Path) -> dict[str, str]:
    path = folder / "probe.py"
    path.write_text(PROBE)
    done = subprocess.run(
        [sys.executable, "-m", "sardonyx", str(path)], input=json.dumps(names), text=True,
        capture_output=True, timeout=300, check=False, env={**os.environ, "PYTHONPATH": PACKAGE},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found: dict[str, str] = json.loads(done.stdout)
    return found


WORDS = {"works": "works", "installed": "from the installed package", "absent": "not there"}
SUMMARY = {
    "works": "work",
    "differs": "differ",
    "from the installed package": "are taken from the installed package",
    "not there": "are not there",
}

HEAD = f"""\
# Compatibility with onnxscript

This page lists every public name of onnxscript {VERSION} and whether it works in a program that
runs as `python -m sardonyx program.py`, where `import onnxscript` imports sardonyx. The same
applies to programs that import sardonyx by its own name, except for names from the installed
package.

- *works*: a program that uses the name gives the same result with both packages.
- *differs*: the name exists, with the difference that is described.
- *from the installed package*: Sardonyx does not have the name; it is taken from the package
  onnxscript if that is installed.
- *not there*: using the name raises `AttributeError`.

Some errors are warnings in sources that import onnxscript:
[command_line.md](command_line.md#sources-that-import-onnxscript) lists them.
`tests/python/compatibility/test_compatibility.py` tries every name and writes this page.
"""


def page(folder: pathlib.Path) -> str:
    names = inventory()
    found = tried(names, folder)
    counts = dict.fromkeys(("works", "differs", *list(WORDS.values())[1:]), 0)
    tables = ""
    for module, own in names.items():
        rows: dict[tuple[str, str], list[str]] = {}
        for name in own:
            key = key_of(module, name)
            verdict, why = WORDS[found[f"{module}.{name}"]], difference(key)
            assert not why or verdict == "works", (key, verdict)
            verdict = "differs" if why else verdict
            counts[verdict] += 1
            rows.setdefault((verdict, why), []).append(f"`{name}`")
        tables += f"\n## {module}\n\n| names | status | difference |\n|---|---|---|\n"
        order = list(counts)
        for (verdict, why), listed in sorted(rows.items(), key=lambda row: order.index(row[0][0])):
            tables += f"| {', '.join(listed)} | {verdict} | {why} |\n"
    *some, last = [f"{count} {SUMMARY[word]}" for word, count in counts.items()]
    summary = f"{', '.join(some)}, and {last}"
    return f"{HEAD}\nOf {sum(counts.values())} names, {summary}.\n{tables}"


def test_the_page_is_what_is_found(tmp_path: pathlib.Path) -> None:
    assert importlib.metadata.version("onnxscript") == VERSION
    assert PAGE.read_text() == page(tmp_path)


def results(keys: list[str], folder: pathlib.Path, *words: str) -> dict[str, Any]:
    """What the names give, by one of the two packages."""
    path = folder / "trial.py"
    path.write_text(trials.program(keys))
    done = subprocess.run(
        [sys.executable, "-W", "ignore", *words, str(path)], text=True, capture_output=True,
        timeout=300, check=False, env={**os.environ, "PYTHONPATH": PACKAGE},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_what_works_gives_the_same_with_both_packages(tmp_path: pathlib.Path) -> None:
    names = inventory()
    found = tried(names, tmp_path)
    keys = [
        key_of(module, name)
        for module, own in names.items()
        for name in own
        if found[f"{module}.{name}"] == "works" and not difference(key_of(module, name))
    ]
    assert [key for key in keys if trials.trial_of(key) is None] == []
    theirs = results(keys, tmp_path)
    ours = results(keys, tmp_path, "-m", "sardonyx")
    assert {key: ours[key] for key in keys if ours[key] != theirs[key]} == {}
    failed = [key for key in keys if isinstance(ours[key], str) and ours[key].endswith("Error")]
    assert failed == []  # which would say nothing


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as made:
        PAGE.write_text(page(pathlib.Path(made)))
