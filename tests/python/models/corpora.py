"""Models for the tests of this folder, by name."""

from __future__ import annotations

import functools
import pathlib
import subprocess
import tempfile
import warnings
from typing import Any

import onnx

from places import PROGRAM, ROOT
from project.test_examples import TARGETS


@functools.cache
def backend_cases() -> dict[str, tuple[bytes, list[Any]]]:
    """The models of the onnx backend suite, with their inputs where the package has them."""
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {
            case.name: (case.model.SerializeToString(), [given for given, _ in case.data_sets])
            for case in collect_testcases()
        }
    data = pathlib.Path(onnx.__file__).parent / "backend/test/data"
    for path in sorted(data.glob("*/*/model.onnx")):
        found[f"{path.parent.parent.name}/{path.parent.name}"] = (path.read_bytes(), [])
    return found


@functools.cache
def examples() -> dict[str, bytes]:
    """What the examples of this project compile to."""
    found: dict[str, bytes] = {}
    with tempfile.TemporaryDirectory() as folder:
        for target in TARGETS:
            path = pathlib.Path(folder) / "model.onnx"
            subprocess.run(
                [PROGRAM, "build", ROOT / "examples" / target, "-o", path],
                check=True,
                capture_output=True,
            )
            found[target] = path.read_bytes()
    return found
