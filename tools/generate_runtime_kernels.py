#!/usr/bin/env python3
"""Writes src/models/runtime_kernels.def: the element types that ONNX Runtime's CPU kernels take.

    pip install --no-deps --target FOLDER onnxruntime==1.20.1     # one folder for each release
    generate_runtime_kernels.py FOLDER... > src/models/runtime_kernels.def

Each folder has one release, and `numpy<2` where that is older than 1.19. The facts are those that
the packages report (`get_all_opkernel_def`). Unary operators that have no kernel and are expanded
to a function are tried with each floating-point type. tests/python/models/test_target.py compares.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from typing import Any

import onnx
import onnx.defs

OLDEST_OPSET = 18

HEADER = """\
// SDX_MEASURED(index, major, minor)
// SDX_KERNEL(operator of ai.onnx, first version, last version, first release, last release,
//            {type variable or parameter, its element types}...)
// The last version is 0 where a kernel takes the first alone; releases are indexes of measured
// ones; bit n of a set is ElementType n. Types that are no tensors are left out.
// Written by tools/generate_runtime_kernels.py. Source: what the packages of ONNX Runtime report of
// their CPU kernels (get_all_opkernel_def), for the versions of operators from opset 18 on; where
// they expand a unary operator to a function instead, the types that they load it with.
"""

READER = """
import base64, json, sys
import onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state as state
print(json.dumps([onnxruntime.__version__, [
    [one.op_name, list(one.version_range), {name: list(of) for name, of in
                                            one.type_constraints.items()}]
    for one in state.get_all_opkernel_def()
    if one.provider == "CPUExecutionProvider" and one.domain == ""]]))
onnxruntime.set_default_logger_severity(4)
loaded = []
for *key, model in json.load(sys.stdin):
    try:
        onnxruntime.InferenceSession(base64.b64decode(model), providers=["CPUExecutionProvider"])
        loaded.append(key)
    except Exception:
        pass  # a type that it cannot run
print(json.dumps(loaded))
"""

OPEN = 2**31 - 1
Constraints = tuple[tuple[str, int], ...]
Row = tuple[str, int, int, Constraints]


def mask(types: list[str]) -> int:
    """The tensors among the types, as a set of element types."""
    numbers = onnx.TensorProto.DataType
    found = 0
    for text in types:
        if text.startswith("tensor("):
            name = text[len("tensor(") : -1].upper()
            found |= 1 << numbers.Value(name)
    return found


def merged(rows: list[Constraints]) -> list[Constraints]:
    """Rows that differ in one set alone as one row, until there are none."""
    rows = sorted(set(rows))
    for i, a in enumerate(rows):
        for b in rows[i + 1 :]:
            if [name for name, _ in a] != [name for name, _ in b]:
                continue
            differing = [k for k in range(len(a)) if a[k][1] != b[k][1]]
            if len(differing) == 1:
                (k,) = differing
                both = (*a[:k], (a[k][0], a[k][1] | b[k][1]), *a[k + 1 :])
                return merged([one for one in rows if one not in (a, b)] + [both])
    return rows


def in_force(name: str, first: int, last: int) -> bool:
    """Whether a version of the operator that opsets from OLDEST_OPSET on have is among these."""
    versions = sorted(one.since_version for one in onnx.defs.get_all_schemas_with_history()
                      if one.domain == "" and one.name == name)  # fmt: skip
    oldest = max([one for one in versions if one <= OLDEST_OPSET], default=0)
    return any(first <= one <= (last or first) for one in versions if one >= oldest)


def kernels(reported: list[Any]) -> set[Row]:
    """The rows of one release."""
    groups: dict[tuple[str, int, int], list[Constraints]] = {}
    for name, (first, last), constraints in reported:
        key = (name, first, 0 if last == OPEN else last)
        sets = ((of, mask(types)) for of, types in sorted(constraints.items()))
        groups.setdefault(key, []).append(tuple(one for one in sets if one[1]))
    return {(*key, one) for key, rows in groups.items() if in_force(*key) for one in merged(rows)}


def probes() -> list[tuple[str, int, str, str]]:
    """Models of one unary function operator: its name, version, element type, and the bytes."""
    found = []
    for schema in onnx.defs.get_all_schemas_with_history():
        is_function = schema.has_function or schema.has_context_dependent_function
        is_unary = len(schema.inputs) == len(schema.outputs) == 1
        needs = any(one.required for one in schema.attributes.values())
        if schema.domain != "" or not is_function or not is_unary or needs:
            continue
        if schema.inputs[0].type_str != "T" or schema.outputs[0].type_str != "T":
            continue
        for name in ("float", "double", "bfloat16", "float16"):
            number = onnx.TensorProto.DataType.Value(name.upper())
            ends = [onnx.helper.make_tensor_value_info(one, number, [2, 3]) for one in "xy"]
            node = onnx.helper.make_node(schema.name, ["x"], ["y"])
            graph = onnx.helper.make_graph([node], "g", ends[:1], ends[1:])
            opsets = [onnx.helper.make_opsetid("", max(schema.since_version, OLDEST_OPSET))]
            model = onnx.helper.make_model(graph, opset_imports=opsets, ir_version=8)
            data = base64.b64encode(model.SerializeToString()).decode()
            found.append((schema.name, schema.since_version, f"tensor({name})", data))
    return found


def report(folder: str) -> tuple[str, list[Any]]:
    """The version and the kernels of the package in a folder; empty: the one that is installed."""
    environment = dict(os.environ)
    if folder:
        environment["PYTHONPATH"] = folder
    done = subprocess.run(
        [sys.executable, "-c", READER], env=environment, input=json.dumps(probes()), check=True,
        capture_output=True, text=True,
    )  # fmt: skip
    (version, reported), loaded = map(json.loads, done.stdout.splitlines()[-2:])
    have = {(name, first) for name, (first, _), _ in reported}
    expanded: dict[tuple[str, int], list[str]] = {}
    for name, first, of in loaded:
        if (name, first) not in have:
            expanded.setdefault((name, first), []).append(of)
    return version, reported + [
        [name, [first, OPEN], {"T": of}] for (name, first), of in expanded.items()
    ]


def main(folders: list[str]) -> None:
    releases = sorted(
        ((tuple(map(int, version.split("."))), kernels(reported))
         for version, reported in map(report, folders)), key=lambda one: one[0],
    )  # fmt: skip
    print(HEADER, end="")
    for index, (version, _) in enumerate(releases):
        print(f"SDX_MEASURED({index}, {version[0]}, {version[1]})")
    spans: list[tuple[Row, int, int]] = []
    for row in set().union(*(rows for _, rows in releases)):
        having = [index for index, (_, rows) in enumerate(releases) if row in rows]
        while having:
            run = [having[i] for i in range(len(having)) if having[i] - i == having[0]]
            spans.append((row, run[0], run[-1]))
            having = having[len(run) :]
    for (name, first, last, sets), begin, end in sorted(spans):
        words = "".join(f', {{"{of}", {types:#x}}}' for of, types in sets)
        print(f'SDX_KERNEL("{name}", {first}, {last}, {begin}, {end}{words})')


if __name__ == "__main__":
    main(sys.argv[1:])
