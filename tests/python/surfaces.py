"""A program on all surfaces: called as Python, compiled from Python and built from the command
line, with static and with named sizes."""

from __future__ import annotations

import pathlib
import re
import runpy
from typing import Any

import numpy as np
import onnx
import pytest
import sardonyx

from language import HEADER, run_ort, same, shared_compiler, shared_evaluator

TYPES = {
    np.float64: "DOUBLE", np.float32: "FLOAT", np.int64: "INT64", np.uint64: "UINT64",
    np.uint8: "UINT8", np.int8: "INT8", np.int16: "INT16", np.int32: "INT32", np.bool_: "BOOL",
}  # fmt: skip


def text_of(body: str, named: bool, inputs: dict[str, Any]) -> str:
    """The program; lines of the body before `---` stand before the script."""
    before, _, body = body.rpartition("---\n")
    parameters = []
    for name, value in inputs.items():
        size = '"N"' if named else str(len(value)) if value.ndim else ""
        parameters.append(
            f"{name}: {TYPES[value.dtype.type]}" + (f"[{size}]" if value.ndim else "")
        )
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    return (
        HEADER.replace("onnxscript", "sardonyx")
        + before
        + f"@script(default_opset=op)\ndef f({', '.join(parameters)}):\n{lines}"
    )


def as_list(result: Any) -> list[Any]:
    return list(result) if isinstance(result, tuple) else [result]


def check(body: str, expected: Any, folder: pathlib.Path, **values: Any) -> None:
    inputs = {name: np.asarray(value) for name, value in values.items()}
    for named in (False, True):
        text = text_of(body, named, inputs)
        path = folder / f"program_{named}.py"
        path.write_text(text)
        function = runpy.run_path(str(path))["f"]
        given = {name: value.copy() for name, value in inputs.items()}
        same(as_list(function(**given)), as_list(expected), 1e-12)
        answer, data = shared_compiler().compile(text, "f")
        assert answer[0] == "ok", answer
        for model in (
            onnx.load_from_string(data),
            onnx.load_from_string(function.to_model_bytes()),
        ):
            onnx.checker.check_model(model, full_check=True)
            same(run_ort(model, inputs), as_list(expected), 1e-12)
            same(shared_evaluator().run(model, inputs), as_list(expected), 1e-12)


def first_finding(answer: list[str]) -> str:
    """The first that is more than a note."""
    return next(one for one in answer[1:] if not one.startswith("inlined-if:"))


def refused_by_compilers(
    body: str, folder: pathlib.Path, words: str = "", named: bool = False, **values: Any
) -> None:
    """Whatever the call as Python gives; `words` are of the finding where Python compiles it."""
    text = text_of(body, named, {name: np.asarray(value) for name, value in values.items()})
    path = folder / "program.py"
    path.write_text(text)
    with pytest.raises(sardonyx.CompileError, match=re.escape(words)):
        runpy.run_path(str(path))["f"].to_model_bytes()
    assert shared_compiler().compile(text, "f")[0][0] == "error"


def refused(body: str, folder: pathlib.Path, code: str, **values: Any) -> None:
    inputs = {name: np.asarray(value) for name, value in values.items()}
    for named in (False, True):
        text = text_of(body, named, inputs)
        path = folder / f"program_{named}.py"
        path.write_text(text)
        function = runpy.run_path(str(path))["f"]
        with pytest.raises((TypeError, ValueError, OverflowError)):
            function(**inputs)
        with pytest.raises(sardonyx.CompileError, match=re.escape(code)):
            function.to_model_bytes()
        answer, _ = shared_compiler().compile(text, "f")
        assert answer[0] == "error" and first_finding(answer).startswith(code), answer
