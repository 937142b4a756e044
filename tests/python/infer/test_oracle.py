"""Type and shape inference against onnx.shape_inference and against the real outputs.

The models are those of the onnx backend test suite, in three variants: as they are; without the
types of intermediate values and outputs; and so with every input size above 1 replaced by a symbol.
For each value, what we infer must be what onnx infers or more, and no symbol, number or element
type may contradict the outputs that the test suite expects. All models are valid: no findings.
"""

from __future__ import annotations

import collections
import json
import pathlib
import re
import warnings
from collections.abc import Iterator

import numpy
import onnx
import onnx.shape_inference
import pytest
from onnx import ModelProto, TypeProto
from onnx.backend.test.case.node import collect_testcases
from onnx.backend.test.loader import load_model_tests

from places import BUILD
from tool import ask_all

TOOL = BUILD / "sdx_infer_tool"
VARIANTS = ("kept", "stripped", "symbolic")

# Where onnx contradicts the outputs that its own test suite expects: pattern of names -> reason.
# The test finds these by itself, compares our values with the outputs alone, and fails for a name
# that is not explained here.
ONNX_IS_WRONG = {
    r"test_attention_.*": "takes the unset number of a symbolic dimension for 0",
}

# Models that declare types which their own outputs contradict; not compared with onnx, which
# believes them. -> reason
MODEL_IS_WRONG = {
    "test_loop13_seq": "the body declares a sequence of scalars and puts vectors into it",
    "test_loop16_seq_none": "the body declares a sequence of scalars and puts vectors into it",
}

Json = dict | list | str | int | None


class Case:
    """A model of the suite and the types of the outputs that it must give."""

    def __init__(self, name: str, model: ModelProto, inputs: list, outputs: list) -> None:
        self.name = name
        self.model = model
        self.inputs = inputs
        self.outputs = outputs


# --- The models ----------------------------------------------------------------------------------


def array_type(value: object) -> Json:
    """The type of an expected value, in the form that the tool prints; None: not comparable."""
    if isinstance(value, onnx.TensorProto):
        return {"element": value.data_type, "dims": [str(d) for d in value.dims]}
    if isinstance(value, list):
        return {"sequence": [array_type(item) for item in value]}
    if isinstance(value, numpy.ndarray | numpy.generic):
        array = numpy.asarray(value)
        try:
            element = onnx.helper.np_dtype_to_tensor_dtype(array.dtype)
        except (KeyError, ValueError):
            element = onnx.TensorProto.STRING if array.dtype.kind in "OUS" else 0
        return {"element": element, "dims": [str(d) for d in array.shape]}
    return None


def read_case_files(case) -> tuple[list, list]:
    inputs, outputs = [], []
    folder = pathlib.Path(case.model_dir) / "test_data_set_0"
    for kind, values in (("input", inputs), ("output", outputs)):
        for index in range(len(list(folder.glob(f"{kind}_*.pb")))):
            tensor = onnx.TensorProto()
            try:
                tensor.ParseFromString((folder / f"{kind}_{index}.pb").read_bytes())
                known = tensor.data_type != 0
            except Exception:
                known = False
            values.append(tensor if known else None)
    return inputs, outputs


def suite() -> Iterator[Case]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for case in collect_testcases(None):
            inputs, outputs = case.data_sets[0]
            yield Case(case.name, case.model, list(inputs), list(outputs))
    for kind in ("simple", "pytorch-converted", "pytorch-operator"):
        for case in load_model_tests(kind=kind):
            path = pathlib.Path(case.model_dir) / "model.onnx"
            if path.exists():
                yield Case(f"{kind}/{case.name}", onnx.load(path), *read_case_files(case))
    for path in sorted(pathlib.Path(onnx.__file__).parent.glob("backend/test/data/light/*.onnx")):
        yield Case(f"light/{path.stem}", onnx.load(path), [], [])


def strip_types(graph: onnx.GraphProto) -> None:
    del graph.value_info[:]
    for output in graph.output:
        output.ClearField("type")
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                strip_types(attribute.g)


def name_sizes(model: ModelProto) -> None:
    """Gives the sizes of the inputs symbols: equal sizes the same one, so that they still fit."""
    initialized = {tensor.name for tensor in model.graph.initializer}
    for value in model.graph.input:
        if value.name in initialized or value.type.WhichOneof("value") != "tensor_type":
            continue
        for dim in value.type.tensor_type.shape.dim:
            if dim.dim_value > 1:
                dim.dim_param = f"S{dim.dim_value}"


def variant_of(model: ModelProto, variant: str) -> ModelProto:
    result = ModelProto()
    result.CopyFrom(model)
    if variant != "kept":
        strip_types(result.graph)
    if variant == "symbolic":
        name_sizes(result)
    return result


# --- Types as the tool prints them ---------------------------------------------------------------


def type_to_json(proto: TypeProto) -> Json:
    kind = proto.WhichOneof("value")
    if kind in ("tensor_type", "sparse_tensor_type"):
        tensor = getattr(proto, kind)
        dims = None
        if tensor.HasField("shape"):
            dims = [
                str(d.dim_value) if d.HasField("dim_value") else (d.dim_param or "?")
                for d in tensor.shape.dim
            ]
        return {"element": tensor.elem_type, "dims": dims}
    if kind == "sequence_type":
        return {"sequence": type_to_json(proto.sequence_type.elem_type)}
    if kind == "optional_type":
        return {"optional": type_to_json(proto.optional_type.elem_type)}
    if kind == "map_type":
        return {
            "map": proto.map_type.key_type,
            "value": type_to_json(proto.map_type.value_type),
        }
    return None


def types_of(graph: onnx.GraphProto, path: str = "") -> dict[tuple[str, str], Json]:
    """All values but the inputs of the main graph, whose types are given."""
    given = graph.input if path else []
    result = {
        (path, value.name): type_to_json(value.type)
        for value in [*given, *graph.value_info, *graph.output]
    }
    for index, node in enumerate(graph.node):
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                result |= types_of(attribute.g, f"{path}/{index}.{attribute.name}")
    return result


def is_known(dim: str) -> bool:
    return dim != "?" and not dim.startswith("unk__")


def compare_dim(ours: str, theirs: str) -> str:
    if not is_known(theirs):
        return "more" if is_known(ours) else "equal"
    if not is_known(ours):
        return "less"
    if ours == theirs:
        return "equal"
    if not theirs.isdigit():  # a symbol, of which we know what it is
        return "more"
    return "contradiction" if ours.isdigit() else "less"


def compare_types(ours: Json, theirs: Json) -> str:
    """How much we know: "equal", "more", "less" (of anything), "contradiction"."""
    if theirs is None or ours is None:
        return "equal" if ours == theirs else ("more" if theirs is None else "less")
    assert isinstance(ours, dict) and isinstance(theirs, dict)
    if ours.keys() != theirs.keys():
        return "contradiction"
    verdicts = {"equal"}
    for key in ("sequence", "optional", "value"):
        if key in ours:
            verdicts.add(compare_types(ours[key], theirs[key]))
    for key in ("element", "map"):
        if key in ours and ours[key] != theirs[key]:
            verdicts.add("more" if not theirs[key] else "contradiction" if ours[key] else "less")
    if "dims" in ours and theirs["dims"] is not None:
        if ours["dims"] is None:
            verdicts.add("less")
        elif len(ours["dims"]) != len(theirs["dims"]):
            verdicts.add("contradiction")
        else:
            verdicts.update(map(compare_dim, ours["dims"], theirs["dims"]))
    elif "dims" in ours and ours["dims"] is not None:
        verdicts.add("more")
    return next(v for v in ("contradiction", "less", "more", "equal") if v in verdicts)


def evaluate(dim: str, sizes: dict[str, int]) -> int | None:
    """The number that an expression is for these sizes; None when it holds other symbols."""
    names = set(re.findall(r"[A-Za-z_]\w*", dim)) - {"max", "min"}
    if not is_known(dim) or not names <= sizes.keys():
        return None
    return eval(dim, {"__builtins__": {}, "max": max, "min": min}, dict(sizes))


def bind_sizes(graph: onnx.GraphProto, inputs: list) -> dict[str, int]:
    sizes: dict[str, int] = {}
    initialized = {tensor.name for tensor in graph.initializer}
    free = [value for value in graph.input if value.name not in initialized]
    for value, given in zip(free, inputs, strict=False):
        actual = array_type(given)
        if isinstance(actual, dict) and "dims" in actual:
            for dim, size in zip(value.type.tensor_type.shape.dim, actual["dims"], strict=False):
                if dim.dim_param:
                    sizes[dim.dim_param] = int(size)
    return sizes


def contradicts(ours: Json, actual: Json, sizes: dict[str, int]) -> bool:
    if not isinstance(ours, dict) or not isinstance(actual, dict):
        return False
    if "optional" in ours:
        return contradicts(ours["optional"], actual, sizes)
    if "sequence" in ours:
        items = actual.get("sequence")
        return items is None or any(contradicts(ours["sequence"], item, sizes) for item in items)
    if "dims" not in ours or "dims" not in actual:
        return False
    if ours["element"] and actual["element"] and ours["element"] != actual["element"]:
        return True
    if ours["dims"] is None:
        return False
    if len(ours["dims"]) != len(actual["dims"]):
        return True
    numbers = [evaluate(dim, sizes) for dim in ours["dims"]]
    return any(n is not None and n != int(a) for n, a in zip(numbers, actual["dims"], strict=True))


# --- The test ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    return list(suite())


def run_tool(cases: list[Case], variant: str, folder: pathlib.Path) -> list[dict]:
    paths = []
    for index, case in enumerate(cases):
        path = folder / f"{index}.onnx"
        path.write_bytes(variant_of(case.model, variant).SerializeToString())
        paths.append(str(path))
    answers = ask_all(TOOL, [[path] for path in paths])
    return [json.loads(line) for (line,) in answers]


@pytest.mark.parametrize("variant", VARIANTS)
def test_against_onnx(variant: str, cases: list[Case], tmp_path, capsys) -> None:
    counts: collections.Counter[str] = collections.Counter()
    problems: dict[str, list[str]] = collections.defaultdict(list)
    results = run_tool(cases, variant, tmp_path)
    assert len(results) == len(cases)
    for case, result in zip(cases, results, strict=True):
        if "error" in result:
            problems["unreadable"].append(f"{case.name}: {result['error']}")
            continue
        for finding in result["findings"]:
            problems["finding"].append(f"{case.name}: {finding['code']}: {finding['message']}")
        ours = {(graph, name): kind for graph, name, kind in result["values"]}
        model = variant_of(case.model, variant)
        sizes = bind_sizes(model.graph, case.inputs)
        actual = {
            ("", output.name): array_type(value)
            for output, value in zip(model.graph.output, case.outputs, strict=False)
        }
        for key, kind in actual.items():
            if variant == "kept" and case.name in MODEL_IS_WRONG:
                continue
            if contradicts(ours.get(key), kind, sizes):
                problems["wrong"].append(f"{case.name}: {key}: {ours.get(key)}, is {kind}")
            counts["checked against outputs"] += 1
        try:
            inferred = onnx.shape_inference.infer_shapes(model, data_prop=True)
        except Exception:
            counts["models that onnx rejects"] += 1
            continue
        if case.name in MODEL_IS_WRONG:
            counts["models that declare wrong types"] += 1
            continue
        for key, theirs in types_of(inferred.graph).items():
            if contradicts(theirs, actual.get(key), sizes):
                counts["onnx wrong"] += 1
                if not any(re.fullmatch(names, case.name) for names in ONNX_IS_WRONG):
                    problems["onnx wrong"].append(f"{case.name}: {key}: {theirs}")
                continue
            verdict = compare_types(ours.get(key), theirs)
            counts[verdict] += 1
            if verdict in ("less", "contradiction"):
                problems[verdict].append(f"{case.name}: {key}: {ours.get(key)}, onnx {theirs}")
    with capsys.disabled():
        print(f"\ninference, {variant}: {len(cases)} models; " + summary(counts))
    assert not problems, "\n".join(
        f"{kind}: {len(lines)}\n  " + "\n  ".join(lines) for kind, lines in problems.items()
    )


def summary(counts: collections.Counter[str]) -> str:
    first = ("equal", "more", "less", "contradiction")
    rest = sorted(counts.keys() - set(first))
    return ", ".join(f"{key} {counts[key]}" for key in (*first, *rest))
