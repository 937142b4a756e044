"""One program on every surface: called as Python, compiled from Python, and compiled by the tool of
the command line. Each gives numbers, or refuses."""

from __future__ import annotations

import dataclasses
import itertools
import pathlib
import runpy
import warnings
from typing import Any

import numpy as np
import onnx

from language import same, shared_compiler, shared_evaluator

HEADER = """\
import math
import numpy as np
import onnx
from typing import List, Optional, Sequence, Tuple, Union
from sardonyx import graph, script, opset18 as op, values
from sardonyx import BFLOAT16, BOOL, DOUBLE, FLOAT, FLOAT16, INT8, INT16, INT32, INT64
from sardonyx import STRING, UINT8, UINT16, UINT32, UINT64
"""

_COUNTER = itertools.count()


@dataclasses.dataclass
class Refusal:
    """What a surface says in place of numbers."""

    text: str


@dataclasses.dataclass
class Answers:
    eager: Any
    python: Any
    tool: Any


def _as_list(result: Any) -> list[Any]:
    return list(result) if isinstance(result, tuple) else [result]


def run_everywhere(
    source: str, inputs: dict[str, Any], folder: pathlib.Path, **options: Any
) -> Answers:
    """The results of the program's `f`; `options` are those of to_model_proto."""
    path = folder / f"program_{next(_COUNTER)}.py"
    path.write_text(HEADER + source)
    eager: Any
    python: Any
    tool: Any
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            scope = runpy.run_path(str(path))
        except Exception as error:
            refused = Refusal(f"{type(error).__name__}: {error}")
            return Answers(refused, refused, refused)
        given = {
            name: value.copy() if isinstance(value, np.ndarray) else value
            for name, value in inputs.items()
        }
        try:
            eager = _as_list(scope["f"](**given))
        except Exception as error:
            eager = Refusal(f"{type(error).__name__}: {error}")
        try:
            model = scope["f"].to_model_proto(**options)
            python = shared_evaluator().run(model, inputs)
        except Exception as error:
            python = Refusal(f"{type(error).__name__}: {error}")
    answer, data = shared_compiler().compile_file(path, "f", "model")
    if answer[0] != "ok":
        tool = Refusal(", ".join(answer[1:]))
    else:
        try:
            tool = shared_evaluator().run(onnx.load_from_string(data), inputs)
        except Exception as error:
            tool = Refusal(f"{type(error).__name__}: {error}")
    return Answers(eager, python, tool)


def agree(
    source: str, expected: Any, inputs: dict[str, Any], folder: pathlib.Path, **options: Any
) -> None:
    """All surfaces give `expected`, or refuse where `expected` is a text: it is in what they say
    (of Python's exceptions the tool knows the codes alone)."""
    answers = run_everywhere(source, inputs, folder, **options)
    for name in ("eager", "python", "tool"):
        got = getattr(answers, name)
        if isinstance(expected, str):
            assert isinstance(got, Refusal), f"{name}: {got}"
            if name != "eager":
                assert expected in got.text, f"{name}: {got.text}"
            continue
        assert not isinstance(got, Refusal), f"{name}: {got.text}"
        same(got, _as_list(expected), 1e-6)
