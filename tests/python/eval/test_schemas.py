"""Every (operator, version) that the node cases of the onnx package leave out.

Two tables. UNCHANGED names the old versions whose text says the same as a newer one but for the
types that it allows: the newer one's node cases, with the opset lowered, are their cases. CASES has
those that differ, and those without node cases, each with what it must give: a function of NumPy
written from the operator's text, or ONNX Runtime, which runs old definitions.
"""

from __future__ import annotations

import collections
import copy
import dataclasses
import functools
import math
import sys
from collections.abc import Callable, Iterator
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import onnx.defs
import onnx.helper
import onnx.numpy_helper
import pytest
from onnx import TensorProto

from eval.test_node_cases import Evaluator, check_equal, node_cases, onnxruntime_run
from places import ROOT

sys.path.insert(0, str(ROOT / "tools"))
from enumerations import legal_strings

pytestmark = pytest.mark.filterwarnings("ignore")

ML = "ai.onnx.ml"
TRAINING = "ai.onnx.preview.training"
Key = tuple[str, str, int]

# Schemas without a case of one node, and why.
WITHOUT_CASE: dict[Key, str] = {
    (TRAINING, "Gradient", 1): (
        "it differentiates the graph around it; its cases are those of "
        "`tests/python/run/test_gradient.py`"
    ),
}


@functools.cache
def schema_versions() -> dict[tuple[str, str], list[int]]:
    versions = collections.defaultdict(list)
    for schema in onnx.defs.get_all_schemas_with_history():
        versions[schema.domain, schema.name].append(schema.since_version)
    return {name: sorted(found) for name, found in versions.items()}


def schemas_of(nodes: Any, imports: dict[str, int]) -> Iterator[Key]:
    for node in nodes:
        found = schema_versions().get((node.domain, node.op_type), [])
        in_force = [v for v in found if v <= imports.get(node.domain, 0)]
        if in_force:
            yield (node.domain, node.op_type, in_force[-1])
        for attribute in node.attribute:
            for graph in [attribute.g, *attribute.graphs]:
                yield from schemas_of(graph.node, imports)


def imports_of(holder: Any) -> dict[str, int]:
    return {entry.domain: entry.version for entry in holder.opset_import}


@functools.cache
def schemas_of_node_cases() -> set[Key]:
    found: set[Key] = set()
    for case in node_cases():
        found.update(schemas_of(case.model.graph.node, imports_of(case.model)))
        for function in case.model.functions:
            found.update(schemas_of(function.node, imports_of(function)))
    return found


# --- Versions that differ from a newer one in types alone -----------------------------------------

# Operator: the versions, and which node cases do not count (parts of their names): they use what
# came later than these versions.
UNCHANGED: dict[str, tuple[str, str]] = {
    "Abs": ("1 6", ""),
    "Acos": ("7", ""),
    "Acosh": ("9", ""),
    "Add": ("1 6", "bcast"),
    "And": ("1", "bcast"),
    "ArgMax": ("1 11 12", ""),
    "ArgMin": ("1 11 12", ""),
    "Asin": ("7", ""),
    "Asinh": ("9", ""),
    "Atan": ("7", ""),
    "Atanh": ("9", ""),
    "AveragePool": ("1 7 10 11 19", "ceil_last"),
    "BatchNormalization": ("9 14", "training"),
    "BitShift": ("11", ""),
    "Cast": ("6 19", ""),
    "CastLike": ("21", ""),
    "Ceil": ("1 6", ""),
    "Celu": ("12", ""),
    "Clip": ("12", "int8"),
    "Compress": ("9 11", ""),
    "Concat": ("4 11", ""),
    "Constant": ("1 9 12", ""),
    "ConstantOfShape": ("21", ""),
    "Conv": ("1 11", ""),
    "ConvTranspose": ("1 11", ""),
    "Cosh": ("9", ""),
    "CumSum": ("11", ""),
    "DeformConv": ("19", ""),
    "DepthToSpace": ("11 13", ""),
    "DequantizeLinear": ("10 13 19 21 23 24 25", "axis"),
    "Det": ("11", ""),
    "Div": ("1 6", "bcast"),
    "Dropout": ("12 13", "training"),
    "Einsum": ("12", ""),
    "Elu": ("1 6", ""),
    "Equal": ("7 11", ""),
    "Erf": ("9", ""),
    "Exp": ("1 6", ""),
    "Expand": ("8", ""),
    "EyeLike": ("9", ""),
    "Flatten": ("9 11 21 23 24", ""),
    "Floor": ("1 6", ""),
    "GRU": ("7 14", "batchwise"),
    "Gather": ("1 11", "negative"),
    "GatherElements": ("11", ""),
    "GatherND": ("11 12", ""),
    "Gemm": ("7 9 11", "no_bias"),
    "GlobalAveragePool": ("1", ""),
    "GlobalMaxPool": ("1", ""),
    "Greater": ("7 9", ""),
    "GreaterOrEqual": ("12", ""),
    "GridSample": ("20", ""),
    "HardSigmoid": ("1 6", ""),
    "HardSwish": ("14", ""),
    "Identity": ("14 21", "opt"),
    "InstanceNormalization": ("6", ""),
    "IsInf": ("10", ""),
    "IsNaN": ("9 13", ""),
    "LRN": ("1", ""),
    "LSTM": ("7 14", "batchwise"),
    "LeakyRelu": ("1 6", ""),
    "Less": ("7 9", ""),
    "LessOrEqual": ("12", ""),
    "Log": ("1 6", ""),
    "LpNormalization": ("1", ""),
    "LpPool": ("11 18", ""),
    "MatMul": ("1 9", ""),
    "Max": ("12", ""),
    "MaxPool": ("1 8 10 11 12", ""),
    "MaxUnpool": ("9 11", ""),
    "Mean": ("8", ""),
    "MeanVarianceNormalization": ("9", ""),
    "Min": ("12", ""),
    "Mish": ("18", ""),
    "Mod": ("10", ""),
    "Mul": ("1 6 13", "bcast"),
    "Neg": ("1 6", ""),
    "NegativeLogLikelihoodLoss": ("12", ""),
    "NonMaxSuppression": ("10", ""),
    "NonZero": ("9", ""),
    "OneHot": ("9 11", "negative out_of_range"),
    "OptionalGetElement": ("18", ""),
    "OptionalHasElement": ("18", ""),
    "Or": ("1", "bcast"),
    "PRelu": ("7 9", ""),
    "Pad": ("11 13 19 21 23", ""),
    "Pow": ("1 7 12", "bcast"),
    "QLinearMatMul": ("10", ""),
    "QuantizeLinear": ("13 19 21 23 24 25", ""),
    "RNN": ("7 14", "batchwise"),
    "Reciprocal": ("1 6", ""),
    "ReduceMax": ("12", ""),
    "ReduceMin": ("12 13", ""),
    "Relu": ("1 6 13", ""),
    "Reshape": ("5", "allowzero"),
    "Resize": ("13 18", "antialias not_larger not_smaller axes half_pixel_symmetric"),
    "ReverseSequence": ("10", ""),
    "RoiAlign": ("16", ""),
    "ScatterElements": ("11 13 16", ""),
    "ScatterND": ("11 13 16", ""),
    "Selu": ("1 6", ""),
    "Shape": ("1", ""),
    "Sigmoid": ("1 6", ""),
    "Sign": ("9", ""),
    "Sin": ("7", ""),
    "Sinh": ("9", ""),
    "Size": ("1 21 24", ""),
    "Slice": ("10", ""),
    "SoftmaxCrossEntropyLoss": ("12", ""),
    "Softplus": ("1", ""),
    "Softsign": ("1", ""),
    "SpaceToDepth": ("1 13", ""),
    "SplitToSequence": ("11", ""),
    "Sqrt": ("1 6", ""),
    "Sub": ("1 6", "bcast"),
    "Sum": ("8", ""),
    "Tan": ("7", ""),
    "Tanh": ("1 6", ""),
    "ThresholdedRelu": ("10", ""),
    "Tile": ("6", ""),
    "TopK": ("10 11", "smallest"),
    "Transpose": ("1 21", ""),
    "Unique": ("11", ""),
    "Xor": ("1", "bcast"),
    "Bernoulli": ("15", ""),
}


SINGLE = onnx.defs.OpSchema.FormalParameterOption.Single


def fits(node: Any, schema: Any, types: dict[str, str]) -> bool:
    """Whether the older definition has the node's attributes, inputs and types."""
    if len(node.input) > schema.max_input or len(node.output) > schema.max_output:
        return False
    if any(a.name not in schema.attributes for a in node.attribute):
        return False
    for a in node.attribute:
        legal = legal_strings(schema.domain, schema.name, a.name, schema.since_version)
        if legal and a.s and a.s.decode() not in legal:  # those of a newer version
            return False
    given = {a.name: a.type for a in node.attribute}
    for name, attribute in schema.attributes.items():
        if attribute.required and name not in given:
            return False
        if name in given and int(attribute.type.value) != given[name]:
            return False
    for parameters, names in ((schema.inputs, node.input), (schema.outputs, node.output)):
        for i, name in enumerate(names):
            parameter = parameters[min(i, len(parameters) - 1)]
            if name in types and types[name] not in parameter.types:
                return False
            if not name and parameter.option == SINGLE:
                return False
    return True


def type_text(info: Any) -> str:
    kind = info.type.WhichOneof("value")
    if kind == "optional_type":
        return f"optional({element_text(info.type.optional_type.elem_type)})"
    return element_text(info.type)


def element_text(info: Any) -> str:
    if info.WhichOneof("value") == "sequence_type":
        return f"seq({element_text(info.sequence_type.elem_type)})"
    return f"tensor({TensorProto.DataType.Name(info.tensor_type.elem_type).lower()})"


@functools.cache
def cases_of_one_node() -> dict[str, list[Any]]:
    """By operator of ai.onnx."""
    found = collections.defaultdict(list)
    for case in node_cases():
        nodes = case.model.graph.node
        if len(nodes) == 1 and not nodes[0].domain:
            found[nodes[0].op_type].append(case)
    return found


def lowered_cases(op: str, version: int) -> list[Any]:
    """The node cases of newer versions of the operator that this version can run."""
    schema = onnx.defs.get_schema(op, version, "")
    excluded = UNCHANGED.get(op, ("", ""))[1].split()
    found = []
    for case in cases_of_one_node()[op]:
        nodes = case.model.graph.node
        key = next(schemas_of(nodes, imports_of(case.model)))
        if key[2] < version or any(part in case.name for part in excluded):
            continue
        infos = [*case.model.graph.input, *case.model.graph.output]
        types = {info.name: type_text(info) for info in infos}
        if fits(nodes[0], schema, types):
            lowered = copy.copy(case)
            model = onnx.ModelProto()
            model.CopyFrom(case.model)
            model.opset_import[0].version = version
            found.append(dataclasses.replace(lowered, model=model))
    return found


UNCHANGED_KEYS = [(op, int(v)) for op, (versions, _) in UNCHANGED.items() for v in versions.split()]


@pytest.mark.parametrize(("op", "version"), UNCHANGED_KEYS)
def test_unchanged(evaluator: Evaluator, op: str, version: int) -> None:
    cases = lowered_cases(op, version)
    assert cases, f"no node case of {op} fits version {version}"
    for case in cases:
        names = [info.name for info in case.model.graph.input]
        for inputs, outputs in case.data_sets:
            got = evaluator.run(case.model, dict(zip(names, inputs, strict=False)))
            assert len(got) == len(outputs)
            for item, expected in zip(got, outputs, strict=True):
                values = op != "Bernoulli"
                check_equal(item, expected, max(case.rtol, 1e-5), max(case.atol, 1e-6), values)


# --- Versions with a meaning of their own ---------------------------------------------------------

Expectation = Callable[..., Any]


@dataclasses.dataclass(frozen=True)
class Case:
    op: str
    versions: tuple[int, ...]
    inputs: list[Any]
    expected: Expectation
    attributes: dict[str, Any]
    outputs: int = 1
    domain: str = ""
    rtol: float = 1e-5
    atol: float = 1e-6


def case(
    op: str, versions: str, inputs: list[Any], expected: Expectation, **attributes: Any
) -> Case:
    """`expected` gets the inputs and gives the outputs, or the one output; or it is a mark."""
    numbers = tuple(int(v) for v in versions.split())
    return Case(op, numbers, inputs, expected, attributes)


def ml_case(op: str, versions: str, inputs: list[Any], expected: Expectation, **more: Any) -> Case:
    return dataclasses.replace(case(op, versions, inputs, expected, **more), domain=ML)


def with_outputs(count: int, one: Case) -> Case:
    return dataclasses.replace(one, outputs=count)


# The outputs of ONNX Runtime, under the same version.
def ORT(*_: Any) -> Any:
    raise AssertionError("a mark")


RNG = np.random.default_rng(5)


def floats(*dims: int) -> np.ndarray:
    return RNG.normal(0, 2, dims).astype("float32")


def positive(*dims: int) -> np.ndarray:
    return (np.abs(RNG.normal(0, 2, dims)) + 0.25).astype("float32")


def bools(*dims: int) -> np.ndarray:
    return RNG.integers(0, 2, dims).astype(bool)


def on_axis(function: Callable[..., Any], axis: int) -> Expectation:
    """Broadcast before version 7: the second operand's axes are the first's from `axis` on."""

    def apply(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return function(a, b.reshape(b.shape + (1,) * (a.ndim - axis - b.ndim)))

    return apply


def old_broadcasts() -> list[Case]:
    functions = {
        "Add": np.add,
        "Sub": np.subtract,
        "Mul": np.multiply,
        "Div": np.divide,
        "Pow": lambda a, b: np.power(np.abs(a), b),
        "And": np.logical_and,
        "Or": np.logical_or,
        "Xor": np.logical_xor,
        "Equal": np.equal,
        "Greater": np.greater,
        "Less": np.less,
    }
    found = []
    for op, function in functions.items():
        versions = "1 6" if op in ("Add", "Sub", "Mul", "Div") else "1"
        make = bools if op in ("And", "Or", "Xor") else floats
        a, b = make(2, 3, 4, 5), make(3, 4)
        same, scalar = make(2, 3, 4, 5), make()
        last = make(5)
        if op == "Pow":
            a = np.abs(a)
        if op == "Equal":
            a, b, same, scalar, last = (x.astype("int32") for x in (a, b, same, scalar, last))
        found += [
            case(op, versions, [a, b], on_axis(function, 1), broadcast=1, axis=1),
            case(op, versions, [a, last], function, broadcast=1),
            case(op, versions, [a, scalar], function, broadcast=1),
            case(op, versions, [a, same], function),
        ]
    return found


def on_rows(function: Expectation, axis: int) -> Expectation:
    """Softmax and its kin before version 13: over all axes from `axis` on, as one."""

    def apply(x: np.ndarray) -> np.ndarray:
        rows = x.reshape(math.prod(x.shape[:axis]), -1)
        return function(rows).reshape(x.shape)

    return apply


def softmax_rows(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def hardmax_rows(x: np.ndarray) -> np.ndarray:
    return (np.arange(x.shape[1]) == x.argmax(axis=1)[:, None]).astype(x.dtype)


def softmaxes() -> list[Case]:
    rows = {
        "Softmax": softmax_rows,
        "LogSoftmax": lambda x: np.log(softmax_rows(x)),
        "Hardmax": hardmax_rows,
    }
    x = floats(2, 3, 4)
    found = [case(op, "1 11", [x], on_rows(f, 1)) for op, f in rows.items()]
    for axis in (0, 2):
        found += [case(op, "1 11", [x], on_rows(f, axis), axis=axis) for op, f in rows.items()]
    return found


REDUCTIONS = {
    "ReduceL1": lambda x, **k: np.sum(np.abs(x), **k),
    "ReduceL2": lambda x, **k: np.sqrt(np.sum(np.square(x), **k)),
    "ReduceLogSum": lambda x, **k: np.log(np.sum(x, **k)),
    "ReduceLogSumExp": lambda x, **k: np.log(np.sum(np.exp(x), **k)),
    "ReduceMax": np.max,
    "ReduceMean": np.mean,
    "ReduceMin": np.min,
    "ReduceProd": np.prod,
    "ReduceSum": np.sum,
    "ReduceSumSquare": lambda x, **k: np.sum(np.square(x), **k),
}


def reductions() -> list[Case]:
    found = []
    for op, function in REDUCTIONS.items():
        old = [v for v in schema_versions()["", op] if v < (13 if op == "ReduceSum" else 18)]
        x = positive(2, 3, 4)
        for version in old:
            v = str(version)
            kept = functools.partial(function, keepdims=True)
            found += [
                case(op, v, [x], functools.partial(kept, axis=None)),
                case(op, v, [x], functools.partial(kept, axis=(0, 2)), axes=[0, 2]),
                case(op, v, [x], functools.partial(function, axis=1), axes=[1], keepdims=0),
            ]
            if version >= 11:
                found.append(case(op, v, [x], functools.partial(kept, axis=-2), axes=[-2]))
    for op in ("ReduceLogSum", "ReduceLogSumExp"):
        kept = functools.partial(REDUCTIONS[op], keepdims=True)
        x = positive(2, 3, 4)
        found += [
            case(op, "18", [x, np.array([1])], lambda x, _, f=kept: f(x, axis=1)),
            # Over no axes: each element alone.
            case(op, "18", [x], functools.partial(kept, axis=()), noop_with_empty_axes=1),
        ]
    return found


def normalized(x: np.ndarray, mean: np.ndarray, var: np.ndarray, eps: float) -> np.ndarray:
    return (x - mean) / np.sqrt(var + eps)


def channelwise(v: np.ndarray) -> np.ndarray:
    return v.reshape(1, -1, 1, 1)


def batch_norm(x, scale, bias, mean, var):
    channels = [channelwise(v) for v in (scale, bias, mean, var)]
    return channels[0] * normalized(x, channels[2], channels[3], 1e-5) + channels[1]


def batch_norm_per_feature(x, scale, bias, mean, var):
    return scale * normalized(x, mean, var, 1e-5) + bias


def batch_norm_training(x, scale, bias, *_):
    now = x.mean(axis=(0, 2, 3)), x.var(axis=(0, 2, 3))
    return batch_norm(x, scale, bias, *now)


def group_norm(x, scale, bias):
    groups = x.reshape(x.shape[0], len(scale), -1)
    y = normalized(
        groups, groups.mean(axis=2, keepdims=True), groups.var(axis=2, keepdims=True), 1e-5
    )
    return (scale[:, None] * y + bias[:, None]).reshape(x.shape)


def normalizations() -> list[Case]:
    x = floats(2, 3, 4, 5)
    parameters = [positive(3), floats(3), floats(3), positive(3)]
    features = [positive(3, 4, 5), floats(3, 4, 5), floats(3, 4, 5), positive(3, 4, 5)]
    bn = "BatchNormalization"
    return [
        case(bn, "1", [x, *parameters], batch_norm, is_test=1, consumed_inputs=[0, 0]),
        case(bn, "6", [x, *parameters], batch_norm, is_test=1),
        case(bn, "7 9", [x, *parameters], batch_norm),
        case(bn, "7", [x, *features], batch_norm_per_feature, spatial=0),
        case(bn, "14", [x, *parameters], batch_norm),
        with_outputs(
            3,
            case(
                bn,
                "14",
                [x, *parameters],
                lambda x, s, b, m, v: (
                    batch_norm_training(x, s, b, m, v),
                    m * 0.75 + x.mean(axis=(0, 2, 3)) * 0.25,
                    v * 0.75 + x.var(axis=(0, 2, 3)) * 0.25,
                ),
                training_mode=1,
                momentum=0.75,
            ),
        ),
        case(
            "GroupNormalization",
            "18",
            [floats(2, 6, 4), floats(3), floats(3)],
            group_norm,
            num_groups=3,
        ),
        case(
            "InstanceNormalization",
            "1 6",
            [x, *parameters[:2]],
            lambda x, s, b: (
                channelwise(s)
                * normalized(
                    x, x.mean(axis=(2, 3), keepdims=True), x.var(axis=(2, 3), keepdims=True), 1e-5
                )
                + channelwise(b)
            ),
        ),
        case(
            "LpNormalization",
            "1",
            [x],
            lambda x: x / np.sqrt(np.sum(x * x, axis=1, keepdims=True)),
            axis=1,
            p=2,
        ),
    ]


def windows() -> list[Case]:
    x = floats(2, 3, 5, 6)
    p = positive(2, 3, 5, 6)

    def norm(x: np.ndarray, power: float) -> np.ndarray:
        return np.sum(np.abs(x) ** power, axis=(2, 3), keepdims=True) ** (1 / power)

    def lp_pool(x: np.ndarray, power: float, kernel: int) -> np.ndarray:
        views = np.lib.stride_tricks.sliding_window_view(
            np.abs(x) ** power, (kernel, kernel), (2, 3)
        )
        return views.sum(axis=(4, 5)) ** (1 / power)

    def max_roi_pool(x: np.ndarray, rois: np.ndarray, size: int, scale: float) -> np.ndarray:
        out = np.zeros((len(rois), x.shape[1], size, size), "float32")
        for n, roi in enumerate(rois):
            left, top, right, bottom = (math.floor(v * scale + 0.5) for v in roi[1:])
            height, width = max(bottom - top + 1, 1), max(right - left + 1, 1)
            for i in range(size):
                for j in range(size):
                    rows = slice(
                        min(max(math.floor(i * height / size) + top, 0), x.shape[2]),
                        min(max(math.ceil((i + 1) * height / size) + top, 0), x.shape[2]),
                    )
                    columns = slice(
                        min(max(math.floor(j * width / size) + left, 0), x.shape[3]),
                        min(max(math.ceil((j + 1) * width / size) + left, 0), x.shape[3]),
                    )
                    part = x[int(roi[0]), :, rows, columns]
                    out[n, :, i, j] = part.max(axis=(1, 2)) if part.size else 0
        return out

    rois = np.array([[0, 0, 0, 3, 3], [1, 1, 2, 5, 4], [1, 4, 4, 4, 4]], "float32")
    return [
        case("GlobalLpPool", "1", [p], lambda x: norm(x, 2)),
        case("GlobalLpPool", "1", [p], lambda x: norm(x, 1.5), p=1.5),
        case("GlobalLpPool", "2 22", [p], lambda x: norm(x, 2)),
        case("GlobalLpPool", "2 22", [p], lambda x: norm(x, 3), p=3),
        case("GlobalLpPool", "2", [p], ORT, p=1),
        case("LpPool", "1", [p], lambda x: lp_pool(x, 2, 2), kernel_shape=[2, 2]),
        case("LpPool", "1", [p], lambda x: lp_pool(x, 1.5, 3), kernel_shape=[3, 3], p=1.5),
        case("LpPool", "2", [p], lambda x: lp_pool(x, 3, 3), kernel_shape=[3, 3], p=3),
        case("LpPool", "2 11 18", [p], ORT, kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 1]),
        case(
            "MaxRoiPool",
            "1 22",
            [x, rois],
            lambda x, r: max_roi_pool(x, r, 2, 1.0),
            pooled_shape=[2, 2],
        ),
        case(
            "MaxRoiPool",
            "1 22",
            [x, rois],
            lambda x, r: max_roi_pool(x, r, 3, 0.5),
            pooled_shape=[3, 3],
            spatial_scale=0.5,
        ),
        case("MaxRoiPool", "1", [x, rois], ORT, pooled_shape=[2, 2]),
        with_outputs(2, case("MaxPool", "8", [x], ORT, kernel_shape=[2, 3], storage_order=1)),
        case(
            "AveragePool",
            "7",
            [x],
            ORT,
            kernel_shape=[3, 3],
            pads=[1, 1, 1, 1],
            count_include_pad=1,
        ),
        case(
            "RoiAlign",
            "10",
            [p, rois[:, 1:], np.array([0, 1, 1])],
            ORT,
            output_height=2,
            output_width=2,
            sampling_ratio=2,
        ),
        case(
            "RoiAlign",
            "10",
            [p, rois[:, 1:], np.array([0, 1, 1])],
            ORT,
            output_height=2,
            output_width=3,
            mode="max",
            sampling_ratio=2,
            spatial_scale=0.5,
        ),
        case(
            "GridSample",
            "16",
            [x, np.clip(floats(2, 3, 3, 2) / 2, -1.2, 1.2)],
            ORT,
            mode="bilinear",
        ),
        case(
            "GridSample",
            "16",
            [x, np.clip(floats(2, 3, 3, 2) / 2, -1.2, 1.2)],
            ORT,
            mode="bicubic",
            align_corners=1,
        ),
    ]


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def rnn(x, w, r, b):
    state = np.zeros((x.shape[1], r.shape[1]), "float32")
    states = []
    for row in x:
        state = np.tanh(row @ w[0].T + state @ r[0].T + sum(np.split(b[0], 2)))
        states.append(state)
    return np.array(states)[:, None], state[None]


def gru(x, w, r, b):
    hidden = r.shape[2]
    state = np.zeros((x.shape[1], hidden), "float32")
    (wz, wr, wh), (rz, rr, rh) = np.split(w[0], 3), np.split(r[0], 3)
    wbz, wbr, wbh, rbz, rbr, rbh = np.split(b[0], 6)
    states = []
    for row in x:
        z = sigmoid(row @ wz.T + state @ rz.T + wbz + rbz)
        g = sigmoid(row @ wr.T + state @ rr.T + wbr + rbr)
        h = np.tanh(row @ wh.T + (g * state) @ rh.T + rbh + wbh)
        state = (1 - z) * h + z * state
        states.append(state)
    return np.array(states)[:, None], state[None]


def lstm(x, w, r, b):
    hidden = r.shape[2]
    state, cell = np.zeros((2, x.shape[1], hidden), "float32")
    states = []
    for row in x:
        gates = row @ w[0].T + state @ r[0].T + sum(np.split(b[0], 2))
        i, o, f, c = np.split(gates, 4, axis=1)
        cell = sigmoid(f) * cell + sigmoid(i) * np.tanh(c)
        state = sigmoid(o) * np.tanh(cell)
        states.append(state)
    return np.array(states)[:, None], state[None], cell[None]


def recurrences() -> list[Case]:
    def operands(gates: int) -> list[np.ndarray]:
        return [
            floats(4, 2, 3),
            floats(1, gates * 5, 3),
            floats(1, gates * 5, 5),
            floats(1, 2 * gates * 5),
        ]

    return [
        with_outputs(2, case("RNN", "1 7 14", operands(1), rnn, hidden_size=5)),
        with_outputs(2, case("GRU", "1 3 7 14", operands(3), gru, hidden_size=5)),
        with_outputs(3, case("LSTM", "1 7 14", operands(4), lstm, hidden_size=5)),
        with_outputs(
            2, case("GRU", "7 14", operands(3), ORT, hidden_size=5, linear_before_reset=1)
        ),
        with_outputs(2, case("RNN", "1", operands(1), rnn, hidden_size=5, output_sequence=1)),
    ]


def upsample(x: np.ndarray, *scales: float) -> np.ndarray:
    for axis, scale in enumerate(scales):
        count = int(x.shape[axis] * scale)
        x = np.take(x, [int(i / scale) for i in range(count)], axis)
    return x


def movements() -> list[Case]:
    x = floats(2, 3, 4)
    image = floats(1, 2, 3, 3)
    i64 = functools.partial(np.array, dtype="int64")
    return [
        case("Concat", "1", [x, x], lambda *a: np.concatenate(a, 1)),
        case("Concat", "1", [x, x], lambda *a: np.concatenate(a, 2), axis=2),
        case("DepthToSpace", "1", [floats(1, 8, 2, 3)], depth_to_space, blocksize=2),
        case("Flatten", "1", [x], lambda x: x.reshape(2, 12)),
        case("Flatten", "1", [x], lambda x: x.reshape(6, 4), axis=2),
        case(
            "Pad",
            "1",
            [x],
            lambda x: np.pad(x, [(0, 1), (2, 0), (1, 1)], constant_values=1.5),
            paddings=[0, 2, 1, 1, 0, 1],
            value=1.5,
        ),
        case(
            "Pad",
            "1",
            [x],
            lambda x: np.pad(x, [(0, 0), (1, 2), (0, 0)], "edge"),
            paddings=[0, 1, 0, 0, 2, 0],
            mode="edge",
        ),
        case(
            "Pad",
            "2",
            [x],
            lambda x: np.pad(x, [(0, 0), (1, 2), (0, 0)], "reflect"),
            pads=[0, 1, 0, 0, 2, 0],
            mode="reflect",
        ),
        case(
            "Pad",
            "2",
            [x],
            lambda x: np.pad(x, [(0, 1), (2, 0), (1, 1)])[:, 1:],
            pads=[0, 1, 1, 1, 0, 1],
        ),
        case("Reshape", "1", [x], lambda x: x.reshape(2, 12), shape=[0, -1]),
        case("Slice", "1", [x], lambda x: x[:1, -2:], axes=[0, 1], starts=[0, -2], ends=[1, 1000]),
        case("Slice", "1", [x], lambda x: x[1:, :2], starts=[1, 0], ends=[5, 2]),
        with_outputs(
            2, case("Split", "1 2 11", [x], lambda x: np.split(x, [1], 1), axis=1, split=[1, 2])
        ),
        with_outputs(2, case("Split", "1 2 11", [x], lambda x: np.split(x, 2))),
        with_outputs(
            2,
            case(
                "Split",
                "1",
                [x, np.array([1, 3], "float32")],
                lambda x, _: np.split(x, [1], 2),
                axis=2,
            ),
        ),
        case("Squeeze", "1 11", [x[:, :1]], lambda x: x[:, 0], axes=[1]),
        case("Squeeze", "1 11", [x[:1, :1]], lambda x: x[0, 0]),
        case("Squeeze", "11", [x[:, :1]], lambda x: x[:, 0], axes=[-2]),
        case(
            "Tile",
            "1",
            [x, np.array(3, "float32"), np.array(1, "float32")],
            lambda x, *_: np.tile(x, (1, 3, 1)),
        ),
        case("Tile", "6", [x, i64([1, 2, 3])], lambda x, r: np.tile(x, r)),
        case("Unsqueeze", "1", [x], lambda x: x[None, :, None], axes=[0, 2]),
        case(
            "Upsample",
            "1",
            [image],
            lambda x: upsample(x, 1, 1, 2, 3),
            height_scale=2.0,
            width_scale=3.0,
        ),
        case(
            "Upsample",
            "7",
            [image],
            lambda x: upsample(x, 1, 1, 2, 1.5),
            scales=[1.0, 1.0, 2.0, 1.5],
        ),
        case("Upsample", "7", [image], ORT, scales=[1.0, 1.0, 2.0, 2.0], mode="linear"),
        case(
            "Upsample",
            "10",
            [image, np.array([1, 1, 2, 3], "float32")],
            lambda x, _: upsample(x, 1, 1, 2, 3),
        ),
        case("Resize", "10", [image, np.array([1, 1, 0.6, 2], "float32")], ORT),
        *[
            case("Resize", "11", [image, np.zeros(0, "float32"), scales], ORT, **attributes)
            for scales in np.array([[1, 1, 0.6, 2], [1, 1, 2, 3]], "float32")
            for attributes in (
                {"coordinate_transformation_mode": "asymmetric"},
                {"mode": "linear"},
                {"mode": "linear", "coordinate_transformation_mode": "align_corners"},
                {"mode": "cubic"},
                {"mode": "cubic", "cubic_coeff_a": -0.5, "exclude_outside": 1},
            )
        ],
        case("Resize", "10", [image, np.array([1, 1, 2, 2], "float32")], ORT, mode="linear"),
        with_outputs(
            2,
            case(
                "TopK",
                "1",
                [x],
                lambda x: (-np.sort(-x, -1)[..., :2], np.argsort(-x, -1, kind="stable")[..., :2]),
                k=2,
            ),
        ),
        case("Scatter", "9 11", [floats(1, 5), i64([[1, 3]]), floats(1, 2)], put_along, axis=1),
        case("Identity", "14 21", [x], lambda x: x),
        case(
            "OneHot",
            "9",
            [i64([1, -1, 3]), i64(3), floats(2)],
            lambda i, _, v: np.where(
                np.eye(3, dtype=bool)[[1, 1, 1]] & (i == 1)[:, None], v[1], v[0]
            ),
        ),
        case("CastLike", "21", [x, i64([1])], lambda x, _: x.astype("int64")),
        case("Cast", "1", [x], lambda x: x.astype("int32"), to="INT32"),
        case("Cast", "1", [x], lambda x: x.astype("float64"), to="DOUBLE"),
        case("Cast", "1", [x.astype("int64")], lambda x: x.astype(bool), to="BOOL"),
        case("Transpose", "21", [x.astype(ml_dtypes.bfloat16)], lambda x: x.transpose(2, 1, 0)),
        case("Size", "21 24", [x], lambda x: i64(x.size)),
        case("Flatten", "21 23 24", [x.astype("uint8")], lambda x: x.reshape(2, 12)),
    ]


def depth_to_space(x: np.ndarray) -> np.ndarray:
    n, c, h, w = x.shape
    parts = x.reshape(n, 2, 2, c // 4, h, w).transpose(0, 3, 4, 1, 5, 2)
    return parts.reshape(n, c // 4, h * 2, w * 2)


def put_along(x: np.ndarray, indices: np.ndarray, updates: np.ndarray) -> np.ndarray:
    result = x.copy()
    np.put_along_axis(result, indices, updates, 1)
    return result


def variadics() -> list[Case]:
    same = [floats(3, 4) for _ in range(3)]
    found = []
    for op, function in {
        "Max": np.maximum,
        "Min": np.minimum,
        "Sum": np.add,
        "Mean": lambda a, b: a + b,
    }.items():

        def all_of(*items: np.ndarray, op: str = op, function: Any = function) -> Any:
            total = functools.reduce(function, items)
            return total / np.float32(len(items)) if op == "Mean" else total

        found += [case(op, "1 6", same, all_of), case(op, "1 6", same[:1], all_of)]
        found.append(case(op, "8", [floats(3, 1), floats(4)], all_of))
    return found


def arithmetic() -> list[Case]:
    x = floats(2, 3, 4)
    a, b, c = floats(3, 4), floats(4, 5), floats(3, 5)

    def prelu(x: np.ndarray, slope: np.ndarray) -> np.ndarray:
        return np.where(x < 0, x * slope, x)

    def gemm(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        return 0.5 * (a @ b) + 2 * c

    scales = {"alpha": 0.5, "beta": 2.0}
    return [
        case("Clip", "1 6", [x], lambda x: np.clip(x, -1, 0.5), min=-1.0, max=0.5),
        case("Clip", "6", [x], lambda x: np.maximum(x, 0.25), min=0.25),
        case("Clip", "1", [x], lambda x: np.minimum(x, 0.25), max=0.25),
        case("Dropout", "1 6", [x], lambda x: x, is_test=1),
        case("Dropout", "7", [x], lambda x: x),
        with_outputs(2, case("Dropout", "12 13", [x], lambda x: (x, np.ones(x.shape, bool)))),
        case("Gemm", "1 6", [a, b, c], gemm, **scales),
        case("Gemm", "1 6", [a, b, c[0]], gemm, **scales, broadcast=1),
        case(
            "Gemm",
            "1 6 7 9",
            [a.T.copy(), b.T.copy(), c],
            lambda a, b, c: a.T @ b.T + c,
            transA=1,
            transB=1,
        ),
        case("Gemm", "7 9 11", [a, b, c[:, :1]], gemm, **scales),
        case("HardSigmoid", "1 6", [x], lambda x: np.clip(0.2 * x + 0.5, 0, 1)),
        case("PRelu", "1 6", [x, floats(1)], prelu),
        case("PRelu", "1 6", [x, floats(3)], lambda x, s: prelu(x, s[:, None])),
        case("PRelu", "7 9", [x, floats(3, 1)], prelu),
        case("Pow", "7", [positive(3, 4), floats(4)], np.power),
        case(
            "QuantizeLinear",
            "10",
            [x, np.float32(0.1)],
            lambda x, s: np.clip(np.round(x / s), 0, 255).astype("uint8"),
        ),
        case(
            "DequantizeLinear",
            "10",
            [np.arange(6, dtype="int32"), np.float32(0.5)],
            lambda x, s: (x * s).astype("float32"),
        ),
        case(
            "QLinearMatMul",
            "10",
            [
                RNG.integers(0, 9, (2, 3), dtype="uint8"),
                np.float32(0.5),
                np.uint8(1),
                RNG.integers(0, 9, (3, 2), dtype="uint8"),
                np.float32(0.25),
                np.uint8(2),
                np.float32(0.5),
                np.uint8(3),
            ],
            ORT,
        ),
        case("MatMul", "1 9", [floats(2, 3, 4), floats(4, 2)], np.matmul),
        case("Bernoulli", "15", [np.array([0.0, 1.0, 1.0, 0.0], "float32")], lambda p: p),
    ]


# A body that adds the scanned row to the state: (state, row) -> (sum, sum).
def scan_body() -> onnx.GraphProto:
    rows = [onnx.helper.make_tensor_value_info(n, TensorProto.FLOAT, [3]) for n in ("s", "row")]
    sums = [onnx.helper.make_tensor_value_info(n, TensorProto.FLOAT, [3]) for n in ("t", "out")]
    nodes = [
        onnx.helper.make_node("Add", ["s", "row"], ["t"]),
        onnx.helper.make_node("Identity", ["t"], ["out"]),
    ]
    return onnx.helper.make_graph(nodes, "body", rows, sums)


# (i, condition, state) -> (condition, state + 1, state).
def loop_body() -> onnx.GraphProto:
    inputs = [
        onnx.helper.make_tensor_value_info("i", TensorProto.INT64, []),
        onnx.helper.make_tensor_value_info("c", TensorProto.BOOL, []),
        onnx.helper.make_tensor_value_info("v", TensorProto.FLOAT, [2]),
    ]
    outputs = [
        onnx.helper.make_tensor_value_info("d", TensorProto.BOOL, []),
        onnx.helper.make_tensor_value_info("w", TensorProto.FLOAT, [2]),
        onnx.helper.make_tensor_value_info("o", TensorProto.FLOAT, [2]),
    ]
    nodes = [
        onnx.helper.make_node("Identity", ["c"], ["d"]),
        onnx.helper.make_node("Sum", ["v", "v"], ["w"]),
        onnx.helper.make_node("Identity", ["v"], ["o"]),
    ]
    return onnx.helper.make_graph(nodes, "body", inputs, outputs)


def branch(name: str, op: str) -> onnx.GraphProto:
    out = onnx.helper.make_tensor_value_info(name, TensorProto.FLOAT, [2])
    return onnx.helper.make_graph([onnx.helper.make_node(op, ["x1"], [name])], name, [], [out])


def scan_rows(_: Any, state: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    sums = state[:, None] + np.cumsum(rows, axis=1)
    return sums[:, -1], sums


def control_flow() -> list[Case]:
    trips = np.array(3, "int64")
    start = np.array([1, 2], "float32")
    loop = case(
        "Loop",
        "1 19 21 23 24",
        [trips, np.array(True), start],
        lambda _n, _c, v: (v * 8, np.stack([v, v * 2, v * 4])),
        body=loop_body(),
    )
    rows = [floats(3), floats(4, 3)]

    def scan(state: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        sums = state + np.cumsum(rows, axis=0)
        return sums[-1], sums

    body: dict[str, Any] = {"body": scan_body(), "num_scan_inputs": 1}
    branches = {"then_branch": branch("a", "Abs"), "else_branch": branch("b", "Neg")}
    return [
        with_outputs(2, loop),
        with_outputs(
            2, case("Scan", "8", [None, floats(2, 3), floats(2, 4, 3)], scan_rows, **body)
        ),
        with_outputs(2, case("Scan", "11 16 19 21 23 24", rows, scan, **body)),
        case(
            "If", "1 21 23 24 25", [np.array(True), floats(2)], lambda _, x: np.abs(x), **branches
        ),
        case("If", "1 21 23 24 25", [np.array(False), floats(2)], lambda _, x: -x, **branches),
    ]


def sequences() -> list[Case]:
    parts = [floats(2, 3), floats(2, 3), floats(2, 3)]
    return [
        case("ConcatFromSequence", "11", [parts], lambda p: np.concatenate(p, 1), axis=1),
        case("ConcatFromSequence", "11", [parts], lambda p: np.stack(p, 2), axis=-1, new_axis=1),
        case("SequenceErase", "11", [parts], lambda p: p[:2]),
        case("SequenceErase", "11", [parts, np.array(-3)], lambda p, _: p[1:]),
        case("Optional", "28", [parts[0]], lambda x: x),
        case("Optional", "28", [parts], lambda p: p),
    ]


# --- Random operators: type, shape, range and moments ---------------------------------------------


def is_uniform(y: np.ndarray, low: float, high: float) -> None:
    values = y.astype("float64")
    assert low <= values.min() and values.max() <= high
    assert abs(values.mean() - (low + high) / 2) < 0.1 * (high - low)


def is_normal(y: np.ndarray, mean: float, scale: float) -> None:
    values = y.astype("float64")
    assert abs(values.mean() - mean) < 0.15 * scale and abs(values.std() - scale) < 0.15 * scale


RANDOM: list[tuple[Case, str, tuple[int, ...], Callable[[np.ndarray], None]]] = [
    (
        case("RandomUniform", "1 22", [], ORT, shape=[20, 50], low=-1.0, high=3.0),
        "float32",
        (20, 50),
        lambda y: is_uniform(y, -1, 3),
    ),
    (
        case("RandomUniform", "1 22", [], ORT, shape=[1000], dtype=11, seed=2.0),
        "float64",
        (1000,),
        lambda y: is_uniform(y, 0, 1),
    ),
    (
        case("RandomUniformLike", "1 22", [floats(20, 50)], ORT, low=2.0, high=4.0),
        "float32",
        (20, 50),
        lambda y: is_uniform(y, 2, 4),
    ),
    (
        case("RandomUniformLike", "1 22", [np.zeros((20, 50), "int32")], ORT, dtype=10),
        "float16",
        (20, 50),
        lambda y: is_uniform(y, 0, 1),
    ),
    (
        case("RandomNormal", "1 22", [], ORT, shape=[2000], mean=3.0, scale=2.0),
        "float32",
        (2000,),
        lambda y: is_normal(y, 3, 2),
    ),
    (
        case("RandomNormal", "1 22", [], ORT, shape=[2000], dtype=11, seed=1.0),
        "float64",
        (2000,),
        lambda y: is_normal(y, 0, 1),
    ),
    (
        case("RandomNormalLike", "1 22", [floats(2000)], ORT, scale=0.5),
        "float32",
        (2000,),
        lambda y: is_normal(y, 0, 0.5),
    ),
    (
        case(
            "Multinomial",
            "7 22",
            [np.log(np.array([[0.2, 0.8], [0.5, 0.5]], "float32"))],
            ORT,
            sample_size=1000,
        ),
        "int32",
        (2, 1000),
        lambda y: is_bernoulli(y, [0.8, 0.5]),
    ),
    (
        case(
            "Multinomial",
            "7 22",
            [np.array([[-1e30, 0.0]], "float32")],
            ORT,
            sample_size=9,
            dtype=7,
        ),
        "int64",
        (1, 9),
        lambda y: is_bernoulli(y, [1.0]),
    ),
]


def is_bernoulli(y: np.ndarray, ones: list[float]) -> None:
    assert set(np.unique(y)) <= {0, 1}
    assert np.abs(y.mean(axis=1) - ones).max() < 0.08


# --- ai.onnx.ml -----------------------------------------------------------------------------------


def stump(kind: str, version: int) -> dict[str, Any]:
    """One tree: x[0] <= 0.5 goes left."""
    attributes: dict[str, Any] = {
        "nodes_treeids": [0, 0, 0],
        "nodes_nodeids": [0, 1, 2],
        "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"],
        "nodes_featureids": [0, 0, 0],
        "nodes_values": [0.5, 0.0, 0.0],
        "nodes_truenodeids": [1, 0, 0],
        "nodes_falsenodeids": [2, 0, 0],
        f"{kind}_treeids": [0, 0],
        f"{kind}_nodeids": [1, 2],
        f"{kind}_ids": [0, 0] if kind == "target" else [0, 1],
        f"{kind}_weights": [2.0, 3.0],
    }
    if version >= 3:  # doubles
        for name in ("nodes_values", f"{kind}_weights"):
            values = np.array(attributes.pop(name), "float64")
            attributes[f"{name}_as_tensor"] = onnx.numpy_helper.from_array(values, name)
    return attributes


def trees() -> list[Case]:
    found = []
    for version in (1, 3, 5):
        kind = "float32" if version == 1 else "float64"
        x = np.array([[0.25, 9], [0.75, 9], [0.5, 9]], kind)
        left = x[:, 0] <= 0.5
        scores = np.where(left[:, None], [[2, 0]], [[0, 3]]).astype("float32")
        labels = np.where(left, 5, 7)
        sums = np.where(left, 2, 3).astype("float32")[:, None]
        names = {"TreeEnsembleClassifier": "class", "TreeEnsembleRegressor": "target"}
        for op, prefix in names.items():
            attributes = stump(prefix, version)
            if prefix == "class":
                one = ml_case(
                    op,
                    str(version),
                    [x],
                    lambda _, r=(labels, scores): r,
                    classlabels_int64s=[5, 7],
                    **attributes,
                )
                found.append(with_outputs(2, one))
            else:
                found.append(
                    ml_case(op, str(version), [x], lambda _, r=sums: r, n_targets=1, **attributes)
                )
    return found


def machine_learning() -> list[Case]:
    x = floats(4, 3)
    texts = np.array([["b", "z"], ["a", "b"]], dtype=object)
    weights = [float(v) for v in floats(9)]
    kernel = {"kernel_type": "RBF", "kernel_params": [0.3, 0.0, 0.0]}
    machine = {**kernel, "support_vectors": weights, "rho": [0.25]}
    both = {"cats_strings": ["a", "b"], "cats_int64s": [10, 20]}
    norms = np.abs(x).sum(axis=1, keepdims=True)
    return [
        *trees(),
        ml_case("ArrayFeatureExtractor", "1", [x, np.array([2, 0])], lambda x, i: x[:, i]),
        ml_case("Binarizer", "1", [x], lambda x: (x > 0.5).astype("float32"), threshold=0.5),
        ml_case("CastMap", "1", [{5: 1.5, 2: 2.5}], lambda _: np.array([[2.5, 1.5]], "float32")),
        ml_case(
            "CategoryMapper",
            "1",
            [texts],
            lambda _: np.array([[20, -5], [10, 20]]),
            default_int64=-5,
            **both,
        ),
        ml_case(
            "DictVectorizer",
            "1",
            [{"c": 8.0, "a": 4.0}],
            lambda _: np.array([[4, 8, 0]], "float32"),
            string_vocabulary=["a", "c", "b"],
        ),
        ml_case(
            "FeatureVectorizer",
            "1",
            [x, x[:, :2]],
            lambda *a: np.concatenate(a, 1),
            inputdimensions=[3, 2],
        ),
        ml_case(
            "Imputer",
            "1",
            [np.array([[1, np.nan], [np.nan, 4]], "float32")],
            lambda _: np.array([[1, 8], [7, 4]], "float32"),
            imputed_value_floats=[7.0, 8.0],
            replaced_value_float=float("nan"),
        ),
        ml_case(
            "LabelEncoder",
            "1",
            [texts],
            lambda _: np.array([[1, -1], [0, 1]]),
            classes_strings=["a", "b"],
        ),
        ml_case(
            "LabelEncoder",
            "2",
            [texts],
            lambda _: np.array([[5, -1], [4, 5]]),
            keys_strings=["a", "b"],
            values_int64s=[4, 5],
        ),
        with_outputs(
            2,
            ml_case(
                "LinearClassifier",
                "1",
                [x],
                ORT,
                coefficients=weights,
                intercepts=[0.1, 0.2, 0.3],
                classlabels_ints=[1, 2, 3],
            ),
        ),
        ml_case(
            "LinearRegressor",
            "1",
            [x],
            lambda x: x @ np.array(weights, "float32").reshape(3, 3).T,
            coefficients=weights,
            targets=3,
        ),
        ml_case("Normalizer", "1", [x], lambda x: x / norms, norm="L1"),
        ml_case(
            "OneHotEncoder",
            "1",
            [texts],
            lambda t: np.stack([t == "a", t == "b"], -1).astype("float32"),
            cats_strings=["a", "b"],
        ),
        with_outputs(
            2,
            ml_case(
                "SVMClassifier",
                "1",
                [x],
                ORT,
                classlabels_ints=[0, 1],
                vectors_per_class=[2, 1],
                coefficients=weights[:3],
                **machine,
            ),
        ),
        ml_case("SVMRegressor", "1", [x], ORT, n_supports=3, coefficients=weights[:3], **machine),
        ml_case("Scaler", "1", [x], lambda x: (x - 1) * 0.5, offset=[1.0], scale=[0.5]),
        ml_case(
            "ZipMap",
            "1",
            [np.array([[0.25, 0.75]], "float32")],
            lambda _: [{"a": 0.25, "b": 0.75}],
            classlabels_strings=["a", "b"],
        ),
    ]


CASES = [
    *old_broadcasts(),
    *softmaxes(),
    *reductions(),
    *normalizations(),
    *windows(),
    *recurrences(),
    *movements(),
    *variadics(),
    *arithmetic(),
    *control_flow(),
    *sequences(),
    *machine_learning(),
]


def infos_of(inputs: list[Any], names: list[str]) -> Iterator[onnx.ValueInfoProto]:
    for name, value in zip(names, inputs, strict=True):
        if isinstance(value, dict | list):
            yield onnx.helper.make_empty_tensor_value_info(name)
        elif value is not None:
            array = np.asarray(value)
            number = onnx.helper.np_dtype_to_tensor_dtype(array.dtype)
            yield onnx.helper.make_tensor_value_info(name, number, array.shape)


def model_of(one: Case, version: int) -> tuple[onnx.ModelProto, dict[str, Any]]:
    names = [f"x{i}" for i in range(len(one.inputs))]
    used = [n if v is not None else "" for n, v in zip(names, one.inputs, strict=True)]
    results = [f"y{i}" for i in range(one.outputs)]
    node = onnx.helper.make_node(one.op, used, results, domain=one.domain, **one.attributes)
    graph = onnx.helper.make_graph(
        [node],
        "g",
        list(infos_of(one.inputs, names)),
        [onnx.helper.make_empty_tensor_value_info(name) for name in results],
    )
    imports = [onnx.helper.make_opsetid(one.domain, version)]
    if one.domain:
        imports.append(onnx.helper.make_opsetid("", 18))
    model = onnx.helper.make_model(graph, opset_imports=imports, ir_version=8)
    return model, {n: v for n, v in zip(names, one.inputs, strict=True) if v is not None}


def expect(got: Any, expected: Any, one: Case) -> None:
    if isinstance(expected, list) and not isinstance(expected[0], dict):
        check_equal(got, expected, 0, 0)
    elif isinstance(expected, list):
        assert got == expected
    else:
        check_equal(got, np.asarray(expected), one.rtol, one.atol)


def title(parameter: Any) -> str:
    one, version = parameter
    return f"{one.op}-{version}"


CASE_VERSIONS = [(one, version) for one in CASES for version in one.versions]


@pytest.mark.parametrize("parameter", CASE_VERSIONS, ids=title)
def test_case(evaluator: Evaluator, parameter: tuple[Case, int]) -> None:
    one, version = parameter
    model, named = model_of(one, version)
    assert (one.domain, one.op, version) in set(schemas_of(model.graph.node, imports_of(model)))
    got = evaluator.run(model, named)
    if one.expected is ORT:
        expected = onnxruntime_run(model, {k: np.asarray(v) for k, v in named.items()})
    else:
        result = one.expected(*one.inputs)
        expected = list(result) if one.outputs > 1 else [result]
    assert len(got) == len(expected)
    for item, wanted in zip(got, expected, strict=True):
        expect(item, wanted, one)


RANDOM_VERSIONS = [(row, version) for row in RANDOM for version in row[0].versions]


@pytest.mark.parametrize("parameter", RANDOM_VERSIONS, ids=lambda p: f"{p[0][0].op}-{p[1]}")
def test_random(evaluator: Evaluator, parameter: tuple[Any, int]) -> None:
    (one, dtype, shape, check), version = parameter
    model, named = model_of(one, version)
    first, second = (evaluator.run(model, named)[0] for _ in range(2))
    assert first.dtype == dtype and first.shape == shape
    check(first)
    assert np.array_equal(first, second), "not the same numbers in every run"


def test_no_schema_is_without_a_case() -> None:
    covered = schemas_of_node_cases() | {("", op, version) for op, version in UNCHANGED_KEYS}
    covered |= {(one.domain, one.op, v) for one, v in CASE_VERSIONS}
    covered |= {("", row[0].op, v) for row, v in RANDOM_VERSIONS}
    every = {(*name, v) for name, versions in schema_versions().items() for v in versions}
    assert sorted(every - covered) == sorted(WITHOUT_CASE)
    # A row for what the node cases have by now would be a lie about them.
    assert not {("", *key) for key in UNCHANGED_KEYS} & schemas_of_node_cases()


@pytest.fixture(scope="module")
def evaluator() -> Evaluator:
    return Evaluator()
