"""docs/operators.md is what running the node cases gives.

As a program (`tools/dev operators --write`) it writes the page.
"""

from __future__ import annotations

import collections
import contextlib
import ctypes
import functools
import io
import logging
import math
import os
import pathlib
import subprocess
import sys
import warnings
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import onnx.defs
import onnx.helper
import onnx.reference
import pytest

from eval.test_node_cases import RANDOM_CASES, Evaluator, check_equal, node_cases, to_array
from eval.test_schemas import (
    CASE_VERSIONS,
    RANDOM_VERSIONS,
    UNCHANGED_KEYS,
    WITHOUT_CASE,
    schema_versions,
    schemas_of_node_cases,
)
from peers import ort_session

PAGE = pathlib.Path(__file__).resolve().parents[3] / "docs/operators.md"

HEAD = """# Operators

This page lists, for each operator, how many test cases the evaluator passes. `tools/dev operators
--write` writes it, and a test runs all cases again and compares.

A *version* is the definition of an operator in the opset that introduced it. *Node cases* are
those of the backend test suite of the onnx package, each with its own tolerances; if the result
of a case is not determined (random numbers), only its type and shape are compared. Versions
without a node case are covered by tests of this project, which compare with the operator's
documentation, NumPy, or ONNX Runtime (`tests/python/eval/test_schemas.py`). Every type that an
operator allows for its first input is tested (`tests/python/eval/test_types.py`), and the kernels
are compared with the function bodies of the standard (`tests/python/eval/test_functions.py`).

ONNX Runtime is tested through its Python package, with `ALLOW_RELEASED_ONNX_OPSET_ONLY=0` and the
newest IR version that it reads, so it also accepts models of opsets that it does not fully
support. Cases with types below 8 bits fail, because its package does not accept such arrays.
onnx.reference is tested without Pillow, which its ImageDecoder needs.

`Resize` with `align_corners` and a scale whose result is not a whole size: the documentation
refers to `length_resized`, the size of the result, with which ONNX Runtime and PyTorch end at the
last element of the input. Two node cases (`resize_downsample_scales_*_align_corners`) and
onnx.reference use the size before it is rounded down. Sardonyx follows the node cases. With
`sizes`, or a scale whose result is a whole size, all agree.

`Cast` and `CastLike` of floats to `INT4`, `UINT4`, `INT2` and `UINT2` wrap values that are out of
range (9 becomes -7 as INT4), while casts to `INT8` and wider types saturate at the largest or
smallest number. The standard leaves such conversions undefined, and the node cases require
wrapping: all cases of these types with numbers out of range wrap (`test_cast_FLOAT_to_INT4`,
`test_castlike_FLOAT16_to_UINT2` and similar cases, 24 of opsets 25 and 28). `QuantizeLinear`
saturates in all types, as its documentation says.

`TfIdfVectorizer` takes its `weights` for those of the n-grams in the order of the pool, as its
documentation says and ONNX Runtime computes it. onnx.reference takes them for those of the columns
of the result, which differ where `ngram_indexes` is not in order.

The node cases that Sardonyx does not pass expect the rounding errors of a computation that rounds
after each step: eleven of `Attention` in float16 and bfloat16. A result that is rounded once is not
within the tolerance. In each case it is closer to the result that onnx.reference computes in
double precision, which `tests/python/eval/test_node_cases.py` checks (`ROUNDED_STEPS`).
"""


def names_of(case: Any) -> list[str]:
    return [info.name for info in case.model.graph.input]


def run_ours(evaluator: Evaluator, case: Any) -> None:
    compare(case, lambda inputs: evaluator.run(case.model, inputs))


def run_reference(case: Any) -> None:
    session = onnx.reference.ReferenceEvaluator(case.model)
    compare(case, lambda inputs: session.run(None, inputs))


def run_onnxruntime(case: Any) -> None:

    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    model.ir_version = min(model.ir_version, 13)  # the newest that it reads
    session = ort_session(model.SerializeToString())

    def run(inputs: dict[str, Any]) -> list[Any]:
        small = [info.type for info in [*session.get_inputs(), *session.get_outputs()]]
        if not any(name in SMALL_TYPES for name in small):
            return session.run(None, inputs)
        values = {name: value_of(array) for name, array in inputs.items()}
        names = [info.name for info in session.get_outputs()]
        return [array_of(value) for value in session.run_with_ort_values(names, values)]

    compare(case, run)


# NumPy has these by ml_dtypes; ONNX Runtime takes and gives their bytes.
SMALL_TYPES = {
    f"tensor({name})": dtype
    for name, dtype in {
        "bfloat16": ml_dtypes.bfloat16,
        "float8e4m3fn": ml_dtypes.float8_e4m3fn,
        "float8e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
        "float8e5m2": ml_dtypes.float8_e5m2,
        "float8e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    }.items()
}


def value_of(array: np.ndarray) -> Any:
    from onnxruntime import OrtValue

    if array.dtype not in map(np.dtype, SMALL_TYPES.values()):
        return OrtValue.ortvalue_from_numpy(array)
    number = onnx.helper.np_dtype_to_tensor_dtype(array.dtype)
    raw = np.ascontiguousarray(array).view(f"uint{8 * array.itemsize}")
    return OrtValue.ortvalue_from_numpy_with_onnx_type(raw, number)


def array_of(value: Any) -> np.ndarray:
    if value.data_type() not in SMALL_TYPES:
        return value.numpy()
    dtype = np.dtype(SMALL_TYPES[value.data_type()])
    size = math.prod(value.shape()) * dtype.itemsize
    raw = ctypes.string_at(value.data_ptr(), size)
    return np.frombuffer(raw, dtype).reshape(value.shape())


def plain(value: Any) -> Any:
    if value is None or isinstance(value, list):
        return value if value is None else [to_array(item) for item in value]
    return to_array(value)


def compare(case: Any, run: Callable[[dict[str, Any]], list[Any]]) -> None:
    for inputs, outputs in case.data_sets:
        named = dict(zip(names_of(case), map(plain, inputs), strict=False))
        got = run(named)
        assert len(got) == len(outputs)
        for item, expected in zip(got, outputs, strict=True):
            item = item if item is None or isinstance(item, list) else np.asarray(item)
            if getattr(item, "dtype", None) is not None and item.dtype.kind == "U":
                item = item.astype(object)
            check_equal(item, expected, case.rtol, case.atol, case.name not in RANDOM_CASES)


@functools.cache
def operators_by_case() -> dict[str, tuple[str, str]]:
    """(domain, operator) of each case; those that hold a function's body have their operator's."""
    nodes = {case.name: case.model.graph.node[0] for case in node_cases()}
    found = {}
    for name in nodes:
        node = nodes[name.split("_expanded")[0]]
        found[name] = (node.domain, node.op_type)
    return found


Count = collections.Counter[tuple[str, str]]


def passed(run: Callable[[Any], None]) -> Count:
    count: Count = collections.Counter()
    for case in node_cases():
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            try:
                run(case)
            except Exception:  # whatever the evaluator at hand throws, the case has not passed
                continue
        count[operators_by_case()[case.name]] += 1
    return count


def share(count: Count) -> str:
    total = len(node_cases())
    return f"{sum(count.values())} of {total}"


def schema_counts() -> tuple[Count, Count]:
    """How many versions of each operator the node cases use, and how many only our own."""
    ours = {("", op, v) for op, v in UNCHANGED_KEYS}
    ours |= {(one.domain, one.op, v) for one, v in CASE_VERSIONS}
    ours |= {("", row[0].op, v) for row, v in RANDOM_VERSIONS}
    by_suite: Count = collections.Counter(key[:2] for key in schemas_of_node_cases())
    by_us: Count = collections.Counter(key[:2] for key in ours - schemas_of_node_cases())
    return by_suite, by_us


def page() -> str:
    import onnxruntime

    logging.disable(logging.CRITICAL)
    total: Count = collections.Counter(operators_by_case().values())
    evaluator = Evaluator()
    columns = [
        total,
        passed(lambda case: run_ours(evaluator, case)),
        passed(run_reference),
        passed(run_onnxruntime),
    ]
    by_suite, by_us = schema_counts()
    versions = schema_versions()
    schemas = sum(len(found) for found in versions.values())
    summary = f"Of the {schemas} versions of {len(versions)} operators, "
    summary += (
        f"{sum(by_suite.values())} are in node cases and {sum(by_us.values())} in our own alone."
    )
    titles = "operator | versions | in node cases | in our own alone | node cases | Sardonyx"
    titles += " | onnx.reference | ONNX Runtime"
    lines = [
        HEAD,
        "| | node cases passed |",
        "|---|---:|",
        f"| Sardonyx | {share(columns[1])} |",
        f"| onnx.reference {onnx.__version__} | {share(columns[2])} |",
        f"| ONNX Runtime {onnxruntime.__version__} | {share(columns[3])} |",
        "",
        summary,
        *(f"`{key[1]}` {key[2]} is in neither: {reason}." for key, reason in WITHOUT_CASE.items()),
    ]
    for domain in sorted({domain for domain, _ in versions}):
        lines += [
            "",
            f"## {domain or 'ai.onnx'}",
            "",
            f"| {titles} |",
            "|---|---|---:|---:|---:|---:|---:|---:|",
        ]
        for key in sorted(key for key in versions if key[0] == domain):
            numbers = " ".join(str(v) for v in versions[key])
            cells = [
                key[1],
                numbers,
                by_suite[key],
                by_us[key],
                *(column[key] for column in columns),
            ]
            lines.append(f"| {' | '.join(str(cell) for cell in cells)} |")
    return "\n".join(lines) + "\n"


def test_the_page_is_what_the_cases_give() -> None:
    """In a process of its own: the variable that ONNX Runtime reads is for all of a process."""
    pytest.importorskip("onnxruntime")
    done = subprocess.run(
        [sys.executable, __file__],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == PAGE.read_text(), "run `tools/dev operators --write`"


if __name__ == "__main__":
    os.environ["ALLOW_RELEASED_ONNX_OPSET_ONLY"] = "0"
    text = page()
    if "--write" in sys.argv:
        PAGE.write_text(text)
    else:
        print(text, end="")
