"""Every legal value of every attribute, and values that the text forbids.

The templates are the models of test_schemas.py, the node cases, and a few more, several for
each operator and version. A template runs once for each value of each attribute, and for
combinations that hold every pair of two attributes' enumerated values, in its own element type and
in another. ONNX Runtime says what must come out where it has the kernel, onnx.reference otherwise;
what neither runs must not be refused at least. A part is a sample: SDX_FULL=1 runs all of it.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import onnx
import onnx.defs
import onnx.helper
import pytest
from onnx import TensorProto

from eval.test_node_cases import Evaluator, onnxruntime_run, run_node, to_array
from eval.test_schemas import (
    ORT,
    RANDOM,
    UNCHANGED_KEYS,
    case,
    floats,
    ml_case,
    model_of,
    schema_versions,
    with_outputs,
)
from eval.test_types import (
    BOUND_TO_A_TYPE,
    RANDOM_OPERATORS,
    TYPES,
    by_ourselves,
    can_be_retyped,
    check_values,
    element_name,
    expected_of,
    group_of,
    is_int,
    older_templates,
    parameter,
    precision,
    reference,
    retyped,
    types_of_first_input,
    with_inputs,
)
from eval.test_types import REFERENCE_ERRS as TYPES_ERR
from eval.test_types import REFUSED as TYPES_REFUSED
from places import ROOT

sys.path.insert(0, str(ROOT / "tools"))
from enumerations import legal_strings

from sampling import FULL

pytestmark = pytest.mark.filterwarnings("ignore")

MOST_TEMPLATES = 1000 if FULL else 3
MOST_ELEMENTS = 2000  # of the first input, where there is a smaller template
Key = tuple[str, str, int]


# --- The templates --------------------------------------------------------------------------------


class Template:
    """A model of one node, its inputs and what its attributes may be."""

    def __init__(self, model: onnx.ModelProto, inputs: dict[str, Any]) -> None:
        [self.node] = model.graph.node
        imports = {entry.domain: entry.version for entry in model.opset_import}
        self.model = model
        self.inputs = {k: plain(v) for k, v in inputs.items()}
        self.schema = onnx.defs.get_schema(
            self.node.op_type, imports[self.node.domain], self.node.domain
        )
        self.given = {a.name: onnx.helper.get_attribute_value(a) for a in self.node.attribute}

    @property
    def key(self) -> Key:
        return (self.node.domain, self.node.op_type, self.schema.since_version)

    def input(self, index: int) -> Any:
        names = self.node.input
        return self.inputs.get(names[index]) if index < len(names) else None

    @property
    def dims(self) -> tuple[int, ...]:
        """The shape of the first input that is a tensor."""
        for i in range(len(self.node.input)):
            value = self.input(i)
            value = value[0] if isinstance(value, list) and value else value
            if isinstance(value, np.ndarray):
                return value.shape
        return ()

    @property
    def rank(self) -> int:
        return len(self.dims)

    @property
    def spatial(self) -> int:
        return len(self.input(2)) if self.node.op_type == "Col2Im" else max(self.rank - 2, 0)

    @property
    def elements(self) -> int:
        return int(np.prod(self.dims))

    @property
    def type_name(self) -> str:
        """Of the first input; none if it is no tensor."""
        value = self.input(0)
        return f"tensor({element_name(value.dtype)})" if isinstance(value, np.ndarray) else ""

    def with_attributes(self, changes: dict[str, Any]) -> onnx.ModelProto:
        """None leaves one out."""
        model = onnx.ModelProto()
        model.CopyFrom(self.model)
        [node] = model.graph.node
        kept = [a for a in node.attribute if a.name not in changes]
        del node.attribute[:]
        node.attribute.extend(kept)
        for name, value in changes.items():
            if value is not None:
                kind = self.schema.attributes[name].type
                node.attribute.append(
                    onnx.helper.make_attribute(name, value, attr_type=int(kind.value))
                )
        node.name = "the node"
        return model


def plain(value: Any) -> Any:
    if isinstance(value, list):
        return [to_array(item) for item in value]
    return value if value is None or isinstance(value, dict) else to_array(value)


def recurrences() -> Iterator[Any]:
    """In both directions."""
    for op, gates, versions in (("RNN", 1, "1 7 14 22"), ("GRU", 3, "3 7 14 22"),
                                ("LSTM", 4, "1 7 14 22")):  # fmt: skip
        weights = [floats(2, gates * 3, size) / 4 for size in (2, 3)]
        inputs = [floats(4, 1, 2), *weights, floats(2, 2 * gates * 3) / 4]
        more = {"hidden_size": 3, "direction": "bidirectional"}
        yield with_outputs(3 if op == "LSTM" else 2, case(op, versions, inputs, ORT, **more))


CONSTANTS = "12 13 19 21 23 24 25"
MORE_CASES = [
    *recurrences(),
    case("Constant", CONSTANTS, [], ORT, value_float=2.5),
    case("Constant", CONSTANTS, [], ORT, value_floats=[2.5, -1.0]),
    case("Constant", CONSTANTS, [], ORT, value_int=-7),
    case("Constant", CONSTANTS, [], ORT, value_ints=[1, 2, 3]),
    case("Constant", CONSTANTS, [], ORT, value_string="é"),
    case("Constant", CONSTANTS, [], ORT, value_strings=["a", ""]),
    case("QuantizeLinear", "21 23 24 25 28", [floats(2, 3), np.float32(0.5)], ORT),
    case("SequenceEmpty", "11", [], ORT),
    case("Slice", "1", [floats(2, 3, 4)], ORT, starts=[0, 1], ends=[1, -1]),
    case("LayerNormalization", "17", [floats(2, 3, 4), floats(4)], ORT),
    ml_case("CastMap", "1", [{5: 1.5, 2: 2.5}], ORT, map_form="SPARSE", max_map=8),
    ml_case("ZipMap", "1", [floats(2, 3)], ORT, classlabels_int64s=[5, 7, 9]),
]


def models() -> Iterator[tuple[onnx.ModelProto, dict[str, Any]]]:
    for one in [*MORE_CASES, *(row[0] for row in RANDOM)]:
        for version in one.versions:
            yield model_of(one, version)
    yield from older_templates()


@functools.cache
def templates() -> dict[Key, list[Template]]:
    """For each operator and version a few, which differ in attributes, inputs or ranks."""
    found: dict[Key, dict[Any, Template]] = {}
    for model, inputs in models():
        one = Template(model, inputs)
        if not one.schema.attributes:
            continue
        ranks = tuple(np.ndim(v) if isinstance(v, np.ndarray) else -1 for v in one.inputs.values())
        sign = (tuple(sorted(one.given)), ranks, len(one.node.output))
        known = found.setdefault(one.key, {})
        if FULL:
            known[len(known)] = one
        elif sign not in known or known[sign].elements > MOST_ELEMENTS >= one.elements:
            known[sign] = one
    few = {}
    for key, known in found.items():
        small = [one for one in known.values() if one.elements <= MOST_ELEMENTS]
        few[key] = (small or list(known.values()))[:MOST_TEMPLATES]
    return few


# --- The values of attributes ---------------------------------------------------------------------

Values = Callable[[Template], list[Any]]


def words(text: str) -> list[str]:
    return text.split()


def just(*values: Any) -> Values:
    return lambda _: list(values)


# The version whose text has negative axes first; others always did, or never.
NEGATIVE_SINCE = {
    "ArgMax": 11, "ArgMin": 11, "Compress": 11, "Concat": 4, "DequantizeLinear": 13,
    "Flatten": 11, "Hardmax": 11, "LogSoftmax": 11, "QuantizeLinear": 13, "Softmax": 11,
    "Split": 2, "TopK": 10,
}  # fmt: skip


def axes_beyond(t: Template) -> int:
    """How many axes more than its input's the operator counts."""
    return int(t.node.op_type in ("Flatten", "OneHot") or bool(t.given.get("new_axis")))


def axis(t: Template) -> list[Any]:
    op, version = t.node.op_type, t.schema.since_version
    if "broadcast" in t.schema.attributes:
        a, b = t.input(0), t.input(1)
        return [k for k in range(a.ndim - b.ndim + 1) if a.shape[k : k + b.ndim] == b.shape]
    high = t.rank + axes_beyond(t)
    low = -t.rank if op == "Flatten" else -high
    return list(range(low if version >= NEGATIVE_SINCE.get(op, 0) else 0, high))


def some_axes(t: Template) -> list[Any]:
    """One axis, from the other end, the first and last, all."""
    op, version = t.node.op_type, t.schema.since_version
    if op in ("Squeeze", "Unsqueeze"):
        if op == "Squeeze":
            ones = [a for a, d in enumerate(t.dims) if d == 1]
            wide = t.rank
        else:
            ones, wide = list(range(t.rank + 1)), t.rank + 1
        found = [[a] for a in ones]
        return found + ([[a - wide] for a in ones] if version >= 11 else [])
    if t.rank == 0:
        return []
    found = [[a] for a in range(t.rank)]
    if op != "Slice" and (not op.startswith("Reduce") or version >= 11):
        found += [[a - t.rank] for a in range(t.rank)]
    if t.rank > 1:
        found += [[0, t.rank - 1], list(range(t.rank))]
    if op in ("Slice", "Resize", "CenterCropPad"):
        length = len(t.given.get("starts", t.given.get("axes", range(t.rank))))
        found = [list(p) for p in itertools.permutations(range(t.rank), length)][:6]
    return found


def permutations(t: Template) -> list[Any]:
    return [list(p) for p in itertools.permutations(range(t.rank))][:24]


def types_of_output(index: int = 0) -> Values:
    def values(t: Template) -> list[Any]:
        names = [n.removeprefix("seq(").rstrip(")") + ")" for n in t.schema.outputs[index].types]
        names = [n for n in names if n in TYPES]
        return sorted(TensorProto.DataType.Value(n[7:-1].upper()) for n in names)

    return values


def types_of_its_width(t: Template) -> list[Any]:
    width = onnx.helper.tensor_dtype_to_np_dtype
    size = t.input(0).dtype.itemsize
    found = types_of_output()(t)
    return [n for n in found if n != TensorProto.STRING and width(n).itemsize == size]


def types_without_zero_point(t: Template) -> list[Any]:
    return [] if t.input(2) is not None else types_of_output()(t)


def each_axis(*values: int) -> Values:
    """Lists with a number for each spatial axis: equal ones, and one that differs."""

    def lists(t: Template) -> list[Any]:
        n = t.spatial
        if n == 0:
            return []
        return [[v] * n for v in values] + [[v] + [values[0]] * (n - 1) for v in values[1:]]

    return lists


def window_pads(t: Template) -> list[Any]:
    n = t.spatial
    ends = [[0] * 2 * n, [1] * 2 * n, [1] * n + [0] * n, [0] * n + [1] * n]
    return ends if n else []


def pads(t: Template) -> list[Any]:
    n = t.rank
    found = [[0] * 2 * n, [1] * 2 * n, [1] * n + [0] * n, [0] * (2 * n - 1) + [2]]
    return [*found, [0] * (2 * n - 1) + [-1]]


def sizes_of_window(t: Template) -> list[Any]:
    if "W" in [p.name.upper() for p in t.schema.inputs]:  # it must be that of the weights
        weights = next(i for i, p in enumerate(t.schema.inputs) if p.name.upper() == "W")
        return [list(t.input(weights).shape[2:])]
    return [*each_axis(1, 2, 3)(t), list(t.dims[2:])]


def scans(*choices: int) -> Values:
    def values(t: Template) -> list[Any]:
        return [[c] * t.given["num_scan_inputs"] for c in choices]

    return values


def activation_count(t: Template) -> int:
    per_direction = {"RNN": 1, "GRU": 2, "LSTM": 3}[t.node.op_type]
    return per_direction * t.input(1).shape[0]


def activations(t: Template) -> list[Any]:
    names = legal_strings("", t.node.op_type, "activations", 1)
    rotated = [names[i:] + names[:i] for i in range(len(names))]
    count = activation_count(t)
    return [[name] * count for name in names] + [list(row[:count]) for row in rotated]


def with_parameters(t: Template) -> Iterator[dict[str, Any]]:
    """Activations with what they are scaled by."""
    n = activation_count(t)
    for name in ("Affine", "Elu", "HardSigmoid", "LeakyRelu", "ScaledTanh", "ThresholdedRelu"):
        more = (
            {"activation_beta": [0.75] * n}
            if name in ("Affine", "HardSigmoid", "ScaledTanh")
            else {}
        )
        yield {"activations": [name] * n, "activation_alpha": [0.25] * n, **more}


def directions(t: Template) -> list[Any]:
    if t.input(1).shape[0] == 2:
        return ["bidirectional"]
    names = legal_strings("", t.node.op_type, "direction", t.schema.since_version)
    return [name for name in names if name != "bidirectional"]


FLAG = just(0, 1)
FRACTION = just(0.0, 0.5, 2.0)
PRECISIONS = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16)
FLAGS = words(
    """align_corners allowzero antialias broadcast ceil_mode center_point_box count_include_pad
    detect_negative detect_positive exclude_outside exclusive fmod input_forget interleaved inverse
    is_case_sensitive is_causal is_test keepdims largest linear_before_reset multi_class
    noop_with_empty_axes one_class onesided output_sequence periodic reverse saturate
    select_last_index sorted spatial storage_order training_mode upper zeros"""
)

# The name of an attribute, of one operator if need be: its values.
VALUES: dict[str, Values] = {
    **dict.fromkeys(FLAGS, FLAG),
    "activations": activations,
    "aggregate_function": just(0, 1, 2, 3),
    "alpha": FRACTION,
    "Celu.alpha": just(0.5, 2.0, -1.0),
    "axes": some_axes,
    "axis": axis,
    "beta": FRACTION,
    "bias": FRACTION,
    "block_size": just(0, 1, 2),
    "blocksize": just(1, 2),
    "chunk_size": just(1, 2, 64),
    "clip": just(0.25, 3.0),
    "cubic_coeff_a": just(-0.5, -0.75, 0.0),
    "decay_factor": just(0.0, 0.5),
    "default_float": just(0.0, 2.5),
    "default_int64": just(0, -7),
    "default_string": just("", "none"),
    "delimiter": just(" ", ",", "ab"),
    "dilations": each_axis(1, 2),
    **{f"{op}.direction": directions for op in ("RNN", "GRU", "LSTM")},
    "directions": scans(0, 1),
    "dtype": types_of_output(),
    "end": just(-3, -1, 0, 1, 2, 9),
    "epsilon": just(1e-3, 0.5),
    "extrapolation_value": just(0.0, 2.5, float("nan")),
    "gamma": FRACTION,
    "height_scale": just(1.0, 1.5, 2.0),
    "high": just(2.5),
    "ignore_index": just(-1, 0, 1, 2),
    "imputed_value_floats": just([2.5]),
    "k": just(0, 1, 2),
    "EyeLike.k": just(-9, -1, 0, 1, 9),
    "kernel_shape": sizes_of_window,
    "lambd": FRACTION,
    "left_window_size": just(-1, 0, 1, 3),
    "low": just(-2.5),
    "max": just(-1.0, 0.5),
    "max_gram_length": just(2, 3),
    "max_skip_count": just(0, 1, 2, 5),
    "maxsplit": just(1, 2, 9),
    "mean": just(2.0),
    "min": just(-2.0, -1.5),
    "min_gram_length": just(1, 2),
    "momentum": just(0.0, 0.5, 1.0),
    "norm_coefficient": FRACTION,
    "norm_coefficient_post": FRACTION,
    "output_datatype": types_of_output(),
    "output_dtype": types_of_output(),
    "QuantizeLinear.output_dtype": types_without_zero_point,
    "output_height": just(1, 2, 5),
    "output_padding": each_axis(0, 1),
    "output_width": just(1, 3),
    "p": just(1.0, 2.5, 1, 2, 3),
    "LpNormalization.p": just(1, 2),
    "paddings": pads,
    "pads": window_pads,
    "Pad.pads": pads,
    "perm": permutations,
    "pooled_shape": just([1, 1], [2, 3]),
    "precision": just(0, *PRECISIONS),
    "post_transform": just(0, 1, 2, 3, 4),
    "qk_matmul_output_mode": just(0, 1, 2, 3),
    "ratio": just(0.0, 0.25),
    "replaced_value_float": just(0.0, float("nan")),
    "replaced_value_int64": just(0, 1),
    "right_window_size": just(-1, 0, 1, 3),
    "rotary_embedding_dim": just(0, 2, 4),
    "sample_size": just(1, 5),
    "sampling_ratio": just(0, 1, 2, 3),
    "scale": just(0.25, 2.0),
    "Scaler.scale": just([2.0]),
    "scales": just([1.0, 1.0, 1.5, 2.0], [1.0, 1.0, 3.0, 1.0]),
    "scan_input_axes": scans(0, -1),
    "scan_input_directions": scans(0, 1),
    "seed": just(1.0),
    "Dropout.seed": just(1),
    "shape": just([], [0], [2, 3]),
    "Reshape.shape": lambda t: [[-1], [0, -1], list(t.dims[::-1])],
    "size": just(1, 2, 3, 4),
    "softcap": just(0.0, 0.5, 3.0),
    "softmax_precision": just(*PRECISIONS, TensorProto.DOUBLE),
    "spatial_scale": just(0.5, 1.0),
    "start": just(-9, -1, 0, 1, 2),
    "LayerNormalization.stash_type": just(TensorProto.FLOAT, TensorProto.BFLOAT16),
    "stash_type": just(*PRECISIONS),
    "strides": each_axis(1, 2, 3),
    "threshold": just(-1.0, 0.0),
    "BitCast.to": types_of_its_width,
    "to": lambda t: [*types_of_output()(t), *map(TensorProto.DataType.Name, types_of_output()(t))],
    "value": just(0.5, -1.0),
    "width_scale": just(1.0, 1.5, 2.0),
}  # fmt: skip


KINDS = {int: "INT", float: "FLOAT", str: "STRING"}


def has_type(attribute: Any, value: Any) -> bool:
    kind = KINDS[type(value[0])] + "S" if isinstance(value, list) and value else ""
    name = str(attribute.type).rpartition(".")[2]
    return name == (kind or KINDS.get(type(value), name))


def values_of(t: Template, name: str) -> list[Any]:
    domain, op, version = t.key
    attribute = t.schema.attributes[name]
    given = VALUES.get(f"{op}.{name}", VALUES.get(name))
    if given is None or attribute.type == onnx.defs.OpSchema.AttrType.STRING:
        if f"{op}.{name}" not in VALUES and legal_strings(domain, op, name, version):
            return [v for v in legal_strings(domain, op, name, version) if has_type(attribute, v)]
    return [v for v in given(t) if has_type(attribute, v)] if given else []


# Attributes that are not varied: they say what the model is, or what shapes its inputs have. The
# templates differ in them.
NOT_VARIED = {
    *words(
        """group offset_group num_groups hidden_size layout num_heads q_num_heads kv_num_heads
        num_outputs num_scan_inputs batch_axis time_axis batch_dims output_shape split
        starts ends transA transB new_axis max_map targets n_targets n_supports
        scan_output_axes scan_output_directions weights consumed_inputs
        activation_alpha activation_beta"""
    ),
    # Texts and formulas, which have tests of their own.
    *words(
        """equation pattern locale stopwords value_string value_strings
        value value_float value_floats value_int value_ints sparse_value type
        body then_branch else_branch score_mod prob_mod"""
    ),
    # What was learnt.
    *words(
        """base_values base_values_as_tensor offset intercepts coefficients support_vectors rho
        prob_a prob_b vectors_per_class kernel_params inputdimensions
        cats_int64s cats_strings classes_strings default_tensor int64_vocabulary
        string_vocabulary pool_int64s pool_strings ngram_counts ngram_indexes tree_roots
        imputed_value_int64s membership_values"""
    ),
}
PREFIXES_NOT_VARIED = ("class_", "classlabels_", "keys_", "values_", "nodes_", "leaf_", "target_")


def enumerated(t: Template, name: str) -> bool:
    domain, op, version = t.key
    strings = legal_strings(domain, op, name, version)
    return name in FLAGS or (bool(strings) and name != "activations")


def pairwise(choices: dict[str, list[Any]]) -> Iterator[dict[str, Any]]:
    """Few combinations that hold every pair of values of two attributes."""
    names = sorted(choices)
    missing = {
        (a, i, b, j)
        for a, b in itertools.combinations(names, 2)
        for i in range(len(choices[a]))
        for j in range(len(choices[b]))
    }

    def news(row: dict[str, int], name: str, value: int) -> int:
        pairs = (sorted([(name, value), item]) for item in row.items())
        return sum((*p, *q) in missing for p, q in pairs)

    while missing:
        a, i, b, j = min(missing)
        row = {a: i, b: j}
        for name in names:
            if name not in row:
                news_of = functools.partial(news, dict(row), name)
                row[name] = max(range(len(choices[name])), key=news_of)
        missing -= {(*p, *q) for p, q in itertools.combinations(sorted(row.items()), 2)}
        yield {name: choices[name][k] for name, k in row.items()}


def variants(t: Template) -> Iterator[dict[str, Any]]:
    choices = {}
    for name, attribute in t.schema.attributes.items():
        found = values_of(t, name)
        for value in found:
            yield {name: value}
        if found and name in t.given and not attribute.required:
            yield {name: None}
        if enumerated(t, name) and len(found) > 1:
            choices[name] = found
    if len(choices) > 1:
        yield from pairwise(choices)
    if t.node.op_type in ("RNN", "GRU", "LSTM"):
        yield from with_parameters(t)


# --- What must come out ---------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Run:
    template: Template
    changes: dict[str, Any]
    type_name: str  # of the first input

    @property
    def op(self) -> str:
        return self.template.node.op_type

    @property
    def version(self) -> int:
        return self.template.schema.since_version

    def get(self, name: str) -> Any:
        """The value of an attribute, texts as str."""
        value = self.changes.get(name, self.template.given.get(name))
        return value.decode() if isinstance(value, bytes) else value

    @property
    def is_int(self) -> bool:
        return self.type_name in TYPES and is_int(TYPES[self.type_name])

    @property
    def precision(self) -> float:
        """Of the type that is computed in."""
        number = self.get("softmax_precision") or self.get("stash_type") or 0
        types = [self.type_name] if self.type_name in TYPES else []
        if self.op in ("GRU", "LSTM", "RNN"):
            return 1e-4  # errors grow from step to step
        if number:
            types.append(f"tensor({TensorProto.DataType.Name(number).lower()})")
        return max((4 * precision(TYPES[name]) for name in types), default=0.0)

    def model(self) -> tuple[onnx.ModelProto, dict[str, Any]]:
        t = self.template
        inputs = t.inputs
        if self.type_name and self.type_name != t.type_name:
            inputs = retyped(t.model, inputs, t.schema, TYPES[self.type_name])
        return with_inputs(t.with_attributes(self.changes), inputs), inputs

    def __str__(self) -> str:
        shapes = [np.shape(v) for v in self.template.inputs.values()]
        return (
            f"{self.op}-{self.version} {self.changes} {self.type_name}, "
            f"given {self.template.given}, inputs {shapes}"
        )


Rows = list[tuple[str, Callable[[Run], bool], str]]


def always(_: Run) -> bool:
    return True


def row_of(rows: Rows, run: Run) -> bool:
    return any(run.op in ops.split() and test(run) for ops, test, _ in rows)


def to_float8(run: Run) -> bool:
    to = run.get("to")
    return "FLOAT8" in (to if isinstance(to, str) else TensorProto.DataType.Name(to))


def transforms(run: Run) -> bool:
    return run.get("post_transform") not in (None, "NONE", 0)


def divides_by_scales(run: Run) -> bool:
    return run.get("coordinate_transformation_mode") == "asymmetric"


def row_count(mask: np.ndarray | None) -> int:
    return 0 if mask is None else mask.shape[-2] if mask.ndim > 1 else 1


# Where ONNX Runtime errs, and what it does instead: onnx.reference is asked.
ONNXRUNTIME_ERRS: Rows = [
    (
        "Attention",
        lambda r: bool(r.get("qk_matmul_output_mode")),
        "has the lowest number for minus infinity among the scores",
    ),
    ("AveragePool", lambda r: r.get("auto_pad") == "VALID", "rounds fractions to zero"),
    ("Cast", always, "numbers beyond an integer type, which are undefined"),
    ("DFT STFT", always, "works in single precision, with errors of 1e-4"),
    (
        "Gather",
        lambda r: r.type_name == "tensor(string)",
        "takes wrong strings where more than one goes with an index",
    ),
    ("GridSample", lambda r: r.get("mode") == "bicubic", "takes the border after the weights"),
    (
        "GRU LSTM RNN",
        lambda r: bool(r.get("activations")) and not r.get("activation_alpha"),
        "has 0 as the default of what scales a function, and overflows in Softplus",
    ),
    ("GroupNormalization", always, "takes no note of `stash_type`"),
    (
        "AveragePool LpPool MaxPool",
        lambda r: bool(r.get("dilations")) and bool(r.get("auto_pad")),
        "pads as if the window had no gaps",
    ),
    ("MaxUnpool", lambda r: r.template.input(2) is not None, "moves places by `output_shape`"),
    ("MeanVarianceNormalization", always, "divides nothing by nothing"),
    ("OneHot", lambda r: r.version < 11, "counts negative indices from the end"),
    ("ReduceProd", lambda r: r.is_int, "stays at the greatest number"),
    ("ReduceLogSumExp", lambda r: r.is_int, "truncates 2.9999"),
    (
        "Resize",
        lambda r: r.get("coordinate_transformation_mode") == "tf_crop_and_resize",
        "rounds the middle between two places in single precision, and forgets `roi`",
    ),
    (
        "Resize",
        lambda r: r.get("mode") == "nearest" and not divides_by_scales(r),
        "works places out in single precision",
    ),
    (
        "Resize",
        lambda r: r.get("coordinate_transformation_mode") == "align_corners",
        "rounds the size before it divides by it",
    ),
    ("SVMClassifier", lambda r: r.get("post_transform") == "PROBIT", "has one score of the two"),
    ("SVMRegressor TreeEnsembleRegressor", transforms, "leaves a single score as it is"),
    ("TopK", lambda r: r.get("sorted") == 0, "the order is open"),
    ("TreeEnsemble", transforms, "transforms scores that no leaf gave by themselves"),
    ("TreeEnsembleClassifier", always, "gives labels that are none of the classes"),
    ("Upsample", lambda r: r.is_int, "truncates 1.9999"),
]

# Where onnx.reference errs too, or has no say. Types are compared.
REFERENCE_ERRS: Rows = [
    (
        "Attention",
        lambda r: bool(r.get("is_causal")) and row_count(r.template.input(3)) == 1,
        "has as many rows of keys that are in the future as the mask has",
    ),
    (
        "Attention",
        lambda r: bool(r.get("softcap")) and not r.get("qk_matmul_output_mode"),
        "gives the products after the cap where those before it are asked for (mode 0)",
    ),
    ("AveragePool", lambda r: r.version == 1, "counts the padding"),
    ("AveragePool MaxPool", lambda r: bool(r.get("ceil_mode")), "spreads the windows"),
    ("MaxPool", lambda r: r.get("storage_order") == 1, "counts the columns of the result"),
    (
        "AveragePool LpPool MaxPool",
        lambda r: bool(r.get("auto_pad")) or len(set(r.get("pads") or [])) > 1,
        "pads as if the window had no gaps, the wrong side, or not at all",
    ),
    ("Cast", lambda r: r.get("to") == TensorProto.FLOAT8E8M0, "has NaN for infinity"),
    ("Cast", lambda r: not to_float8(r), "numbers beyond an integer type, which are undefined"),
    (
        "ConvTranspose",
        lambda r: bool(r.get("auto_pad")) and bool(r.get("output_shape") or r.get("pads")),
        "takes no note of `output_shape`, but of `pads`",
    ),
    ("DequantizeLinear", lambda r: "float8" in r.type_name, "takes no note of the zero point"),
    ("Gemm", lambda r: r.is_int, "truncates each product"),
    (
        "GRU LSTM RNN",
        lambda r: bool(r.get("activations") or r.get("clip") or r.get("input_forget")),
        "takes no note of them",
    ),
    ("GridSample Pad", lambda r: r.type_name == "tensor(string)", "pads with numbers"),
    ("LinearClassifier", lambda r: r.get("intercepts") is None, "gives NaN"),
    ("LogSoftmax", lambda r: r.type_name == "tensor(bfloat16)", "takes the logarithm of zero"),
    ("LpNormalization", lambda r: r.get("p") == 1, "adds the numbers with their signs"),
    (
        "MaxPool",
        lambda r: bool(r.get("pads")) and max(r.get("pads")) >= min(r.get("kernel_shape")),
        "the index in a window of padding alone is open",
    ),
    ("MaxPool", lambda r: len(r.template.node.output) == 2, "miscounts the indices with pads"),
    ("OneHot", lambda r: r.version < 11, "counts negative indices from the end"),
    ("Pad", lambda r: r.type_name == "tensor(float8e8m0)", "pads with zeros, which it has not"),
    ("QuantizeLinear", lambda r: r.get("precision") == TensorProto.FLOAT16, "overflows"),
    ("ReduceLogSum", lambda r: r.is_int, "the logarithm of 0 as an integer is undefined"),
    (
        "ReduceLogSumExp",
        lambda r: r.is_int and 0 in r.template.dims,
        "the same of a sum of nothing",
    ),
    (
        "Resize",
        lambda r: r.is_int and r.get("extrapolation_value") != 0,
        "numbers beyond an integer type, which are undefined",
    ),
    (
        "Resize",
        lambda r: r.get("mode") == "nearest" and divides_by_scales(r),
        "has 2 / 0.8 in double precision, a little less than 2.5, where scales are FLOAT",
    ),
    (
        "Resize",
        lambda r: r.get("mode") == "nearest" and bool(r.get("exclude_outside")),
        "gives 0 for places outside",
    ),
    (
        "Resize",
        lambda r: r.get("coordinate_transformation_mode") == "pytorch_half_pixel",
        "takes the size before it is rounded",
    ),
    ("Selu", lambda r: r.version == 1, "has the default of version 6"),
    ("Shape", lambda r: (r.get("end") or 0) < -r.template.rank, "has one number of none"),
    (
        "StringNormalizer",
        lambda r: r.get("case_change_action") in (None, "NONE"),
        "keeps the words to be left out",
    ),
    ("SVMClassifier", lambda r: r.get("post_transform") == "PROBIT", "has one score of the two"),
    ("TopK", lambda r: r.get("sorted") == 0, "the order is open"),
    ("TreeEnsemble", always, "has limits for scores that no leaf gave, and no transforms"),
    (
        "Unique",
        lambda r: r.get("sorted") == 0 and r.get("axis") is not None,
        "gives what it found, along the first axis",
    ),
]

# What an attribute makes of the template's other attributes and inputs: no call, by the words of
# the error. No operator: any.
REFUSED = [
    ("", r"shapes .* differ and `broadcast` is not set|do not broadcast|do not multiply"),
    ("", r"scales .* do not fit (axis|blocks)"),
    ("BitCast", r"differ in width"),
    ("BatchNormalization", r"input \d must have \d+ numbers"),  # a number for each feature
    ("CastMap", r"key \d is out of range for max_map 1"),
    ("CenterCropPad", r"\d sizes for \d axes"),
    ("Col2Im", r"does not hold blocks|a window of \d does not fit"),
    (
        "Compress Gather Scatter ScatterElements",
        r"(index|element) -?\d+ (is out of range for|of) an axis",
    ),
    ("Concat", r"axis 1 is out of range for rank 1"),  # the default of version 1
    ("Constant", r"exactly one attribute must give the value"),
    ("DeformConv", r"offsets .* or mask do not fit"),
    ("DFT", r"a one-sided transform needs a real input|is not positive"),
    ("DFT", r"the last axis holds the parts of a number"),
    ("Div Mod", r"integer division by zero"),
    ("GRU LSTM RNN", r"`W` is .* is needed"),  # one direction
    ("Imputer Scaler", r"`\w+` has 0 numbers"),
    ("RandomNormalLike RandomUniformLike", r"the numbers cannot be U?INT|BOOL|COMPLEX|STRING"),
    ("GroupNormalization", r"\d numbers for \d channels"),
    ("LinearAttention", r"update_rule `\w+` (needs|excludes) decay and (needs|excludes) beta"),
    ("AveragePool LpPool MaxPool", r"the kernel has 0 axes|a window of \d+ does not fit axis"),
    ("NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss", r"the label -?\d+ is not among"),
    ("MaxUnpool", r"index \d+ is out of range"),
    ("OneHotEncoder", r"an element is of no category, and `zeros` is 0"),
    ("Reshape", r"\d+ elements do not fit shape"),
    (
        "Resize",
        r"`roi` has 0 numbers|`tf_crop_and_resize` needs `roi`|\d (scales|sizes) for \d axes",
    ),
    ("Resize Upsample", r"strings have no numbers in between"),
    ("RotaryEmbedding", r"the caches .* must have shape|does not divide into 0 heads"),
    ("Scan", r"`Add`: "),  # the body adds rows, which are floats
    (
        "ScatterElements ScatterND",
        r"no kernel for element type (COMPLEX|STRING)",
    ),  # which is greater?
    ("Split SplitToSequence", r"split sizes .* do not|is not divisible"),
    ("TensorScatter", r"an update .* does not fit axis|rows do not fit from index"),
    # The function's own numbers are of one type.
    ("FlexAttention", r"`(Add|Div|Mul|Where)`: input `[BY]` is"),
    ("Cast CastLike", r"the string .* cannot be read as "),
    ("RegexFullMatch", r"needs the attribute `pattern`"),
]


def check_item(run: Run, got: Any, wanted: Any, output: Any, values: bool) -> None:
    if isinstance(got, list) and isinstance(wanted, list):
        assert len(got) == len(wanted)
        for item, expected in zip(got, wanted, strict=True):
            check_item(run, item, expected, None, values)
    if isinstance(got, np.ndarray) and output is not None:
        own = f"tensor({element_name(got.dtype)})"
        assert any(own in allowed for allowed in output.types), f"the output is {own}"
        inputs = run.template.schema.inputs
        if inputs and output.type_str == inputs[0].type_str:
            assert own == run.type_name, f"the output is {own}"
    has_values = isinstance(got, np.ndarray) and isinstance(wanted, np.ndarray | np.generic)
    if not has_values or not values:
        return
    assert got.shape == np.shape(wanted), f"the output is {got.shape}, not {np.shape(wanted)}"
    if run.op == "Resize" and run.is_int:
        # A number just below an integer is truncated to the one below.
        wanted = np.where(np.abs(got - wanted.astype("float64")) <= 1, got, wanted)
    check_values(got, np.asarray(wanted), run.precision)


def check_outputs(run: Run, got: list[Any], wanted: list[Any], values: bool) -> None:
    for i, (item, expected) in enumerate(zip(got, wanted, strict=False)):
        check_item(run, item, expected, parameter(run.template.schema.outputs, i), values)


# The versions whose meaning onnx.reference knows: the newest, and those that say the same.
UNCHANGED = {("", op, version) for op, version in UNCHANGED_KEYS}


def known_to_reference(key: Key) -> bool:
    return key[2] == schema_versions()[key[:2]][-1] or key in UNCHANGED


def by_onnxruntime(
    model: onnx.ModelProto, inputs: dict[str, Any], got: list[Any]
) -> list[Any] | None:
    try:
        found = onnxruntime_run(model, inputs)
    except Exception:  # it has neither every kernel nor every type
        return None
    # It hands the codes of small floats out as integers.
    same = [np.asarray(a).dtype == b.dtype for a, b in zip(found, got, strict=True)
            if isinstance(b, np.ndarray)]  # fmt: skip
    return found if all(same) else None


def by_reference(
    evaluator: Evaluator, run: Run, model: onnx.ModelProto, inputs: dict[str, Any]
) -> list[Any] | None:
    t = run.template
    if run.type_name in TYPES and t.input(0) is not None:
        oracle = expected_of if known_to_reference(t.key) else by_ourselves
        return oracle(evaluator, model, inputs, t.schema, TYPES[run.type_name])
    try:
        return reference(model, inputs) if known_to_reference(t.key) else None
    except Exception:  # it fails in many ways
        return None


def check_run(evaluator: Evaluator, run: Run) -> None:
    model, inputs = run.model()
    try:
        got = evaluator.run(model, inputs)
    except RuntimeError as error:
        assert is_known_refusal(run, str(error)), f"{run}: {error}"
        return
    wanted, values = None, True
    if run.op not in RANDOM_OPERATORS and not row_of(ONNXRUNTIME_ERRS, run):
        wanted = by_onnxruntime(model, inputs, got)
    if run.op not in RANDOM_OPERATORS and wanted is None:
        wanted = by_reference(evaluator, run, model, inputs)
        values = not row_of(REFERENCE_ERRS, run) and not errs_by_type(run)
    try:
        check_outputs(run, got, wanted or [None] * len(got), values)
    except AssertionError as error:
        raise AssertionError(f"{run}: {error}") from None


def errs_by_type(run: Run) -> bool:
    if run.type_name not in TYPES:
        return False
    group = group_of(TYPES[run.type_name])
    return (run.op, run.type_name) in TYPES_ERR or (run.op, group) in TYPES_ERR


def is_known_refusal(run: Run, message: str) -> bool:
    by_type = TYPES_REFUSED.get((run.op, run.type_name))
    return (by_type is not None and by_type in message) or any(
        (not ops or run.op in ops.split()) and re.search(words, message) for ops, words in REFUSED
    )


def runs_of(t: Template) -> Iterator[Run]:
    """Each change of attributes in the template's type and in another; all, with SDX_FULL."""
    own = t.type_name
    types = []
    if own and t.node.op_type not in BOUND_TO_A_TYPE:
        if can_be_retyped(t.model, t.inputs, t.schema):
            types = [name for name in types_of_first_input(t.schema) if name != own]
    for i, changes in enumerate(variants(t)):
        yield Run(t, changes, own)
        for name in types if FULL else types[i % len(types) :][:1] if types else []:
            yield Run(t, changes, name)


def sampled(key: Key) -> Iterator[Run]:
    is_newest = key[2] == schema_versions()[key[:2]][-1]
    for k, t in enumerate(templates()[key]):
        step = 1 if FULL or (k == 0 and is_newest) else 5
        yield from itertools.islice(runs_of(t), k % step, None, step)


OPERATORS = sorted({key[:2] for key in templates()})


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator[1])
def test_legal_values(evaluator: Evaluator, operator: tuple[str, str]) -> None:
    failed = []
    for key in templates():
        for run in sampled(key) if key[:2] == operator else []:
            try:
                check_run(evaluator, run)
            except AssertionError as error:
                failed.append(str(error))
    assert not failed, f"{len(failed)} runs:\n" + "\n".join(failed[:10])


def test_every_attribute_is_varied() -> None:
    """Or has a word in NOT_VARIED of why it is not."""
    still = set()
    for key, found in templates().items():
        for name in found[0].schema.attributes:
            varied = any(values_of(t, name) for t in found)
            if not varied and name not in NOT_VARIED and not name.startswith(PREFIXES_NOT_VARIED):
                still.add((key[1], name))
    assert not still, still


# --- What the text forbids ------------------------------------------------------------------------


def spatial_list(*values: int) -> Values:
    """Of one of these numbers, and one number too many."""
    return lambda t: [[v] * t.spatial for v in values] + [[1] * (t.spatial + 1)]


def bad_axis(t: Template) -> list[Any]:
    scale = t.input(1)
    if "broadcast" in t.schema.attributes and (not t.given.get("broadcast") or scale.ndim == 0):
        return []
    if "Quantize" in t.node.op_type or t.node.op_type == "DequantizeLinear":
        # One scale for all has no axis.
        if scale.size == 1:
            return []
    beyond = axes_beyond(t)
    if t.node.op_type in ("Softmax", "LogSoftmax", "Hardmax") and t.schema.since_version == 1:
        beyond = 1
    low = -t.rank if t.node.op_type == "Flatten" else -t.rank - beyond
    return [t.rank + beyond, low - 1] if t.rank else []


def bad_heads(t: Template) -> list[Any]:
    return [0, 7] if t.rank == 3 else []  # four axes have one of the heads


ILLEGAL: dict[str, Values] = {
    "activations": just(["NoSuch"] * 6, ["Tanh"] * 7),
    "aggregate_function": just(-1, 9, "no such"),
    "axes": lambda t: [[t.rank + 2]],
    "axis": bad_axis,
    "batch_axis": just(2, -1),
    "batch_dims": just(99, -99),
    "block_size": just(-1),
    "blocksize": just(0, -1, 99),
    "dilations": spatial_list(0, -1),
    "directions": just([2], [0, 0, 0]),
    "dtype": just(0, 99),
    # Of scalars alone, an empty equation is legal, as in NumPy.
    "equation": lambda t: ["->->", "i$j"] + ([""] if t.rank else []),
    "group": just(0, -1, 99),
    "height_scale": just(0.0, -1.0),
    "hidden_size": just(0, 99),
    "kernel_shape": spatial_list(0, -1),
    "kv_num_heads": bad_heads,
    "layout": just(2, -1),
    "left_window_size": just(-2),
    "max_gram_length": just(0, -1),
    "max_skip_count": just(-1),
    "min_gram_length": just(0, -1),
    "n_targets": just(0, -1),
    "nodes_featureids": just([99] * 3, [-1] * 3),
    "nodes_modes": just(["NO"] * 3),
    "nodes_truenodeids": just([9] * 3),
    "num_groups": just(0, -1, 99),
    "num_heads": bad_heads,
    "num_outputs": just(0, -1, 99),
    "num_scan_inputs": just(0, 9),
    "offset_group": just(0, -1, 99),
    "output_datatype": just(0, 99),
    "output_dtype": just(99),
    "output_height": just(0, -1),
    "output_padding": spatial_list(-1),
    "output_shape": spatial_list(-1),
    "output_width": just(0, -1),
    "p": just(0, -1, 0.0),
    "pads": lambda t: [[-1] * (2 * t.spatial), [0] * (2 * t.spatial + 1)],
    "Pad.pads": lambda t: [[0] * (2 * t.rank + 1)],
    "paddings": lambda t: [[0] * (2 * t.rank + 1)],
    "pattern": just("(", "[a"),
    "perm": lambda t: [[0] * t.rank, list(range(t.rank + 1))] if t.rank > 1 else [],
    "pooled_shape": just([0, 0], [-1, 1], [1]),
    "post_transform": just(-1, 9),
    "precision": just(99),
    "q_num_heads": bad_heads,
    "qk_matmul_output_mode": just(-1, 9),
    "right_window_size": just(-2),
    "rotary_embedding_dim": just(-2, 3, 99),
    "sample_size": just(0, -1),
    "sampling_ratio": just(-1),
    "scales": just([1.0], [1.0, 1.0, -1.0, 1.0]),
    "scan_input_axes": just([9], [0, 0, 0]),
    "scan_input_directions": just([2], [0, 0, 0]),
    "scan_output_axes": just([9], [0, 0, 0]),
    "scan_output_directions": just([2], [0, 0, 0]),
    "size": just(0, -1),
    "softmax_precision": just(99),
    "split": just([1], [-1, 4], [99, 99]),
    "stash_type": just(99),
    "strides": spatial_list(0, -1),
    "targets": just(0, -1, 99),
    "time_axis": just(2, -1),
    "to": just(0, 99),
    "tree_roots": just([99], [-1]),
    "vectors_per_class": just([9, 9]),
    "width_scale": just(0.0, -1.0),
}

# What the error says instead of the attribute's name.
NAMED = {
    "activations": "activation",
    "sample_size": "samples",
    "axes": "axis",
    "batch_axis": "the batch axis",
    "batch_dims": "batch dimensions",
    "blocksize": "block size|divisible",
    "dilations": "blocks",
    "equation": "term",
    "height_scale": "scale",
    "kernel_shape": "kernel",
    "kv_num_heads": "heads",
    "left_window_size": "windows",
    "max_gram_length": "lengths",
    "max_skip_count": "skips",
    "min_gram_length": "lengths",
    "n_targets": "targets",
    "nodes_featureids": "feature",
    "nodes_modes": "mode",
    "nodes_truenodeids": "leads to",
    "num_groups": "groups",
    "num_heads": "heads",
    "num_outputs": "parts|both",
    "num_scan_inputs": "are scanned",
    "offset_group": "groups",
    "output_height": "sizes",
    "output_shape": "the output",
    "output_width": "sizes",
    "paddings": "pads",
    "pattern": "group|class",
    "perm": "axis",
    "pooled_shape": "a pooled shape",
    "q_num_heads": "heads",
    "qk_matmul_output_mode": "output mode",
    "right_window_size": "windows",
    "rotary_embedding_dim": "elements of a head",
    "sampling_ratio": "sizes",
    "scales": "scale",
    "scan_input_axes": "axis",
    "scan_output_axes": "axis",
    "split": "split",
    "strides": "blocks",
    "time_axis": "the time axis",
    "tree_roots": "root|tree",
    "vectors_per_class": "support vectors",
    "width_scale": "scale",
}


def illegal_values(t: Template, name: str) -> list[Any]:
    attribute = t.schema.attributes[name]
    domain, op, version = t.key
    if legal_strings(domain, op, name, version) and has_type(attribute, ""):
        return ["no such", ""]
    found = ILLEGAL.get(f"{op}.{name}", ILLEGAL.get(name))
    return [v for v in found(t) if has_type(attribute, v)] if found else []


def check_refused(evaluator: Evaluator, t: Template, name: str, value: Any) -> None:
    model, inputs = Run(t, {name: value}, t.type_name).model()
    title = f"{t.key} {name}={value}, given {t.given}"
    try:
        evaluator.run(model, inputs)
    except RuntimeError as error:
        message = str(error)
    else:
        raise AssertionError(f"{title} is taken")
    named = f"{name}|{NAMED.get(name, name)}"
    for wanted in ("`the node`", t.node.op_type, named):
        assert re.search(wanted, message), f"{title}: {message}"


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator[1])
def test_illegal_values(evaluator: Evaluator, operator: tuple[str, str]) -> None:
    failed = []
    for key, found in templates().items():
        if key[:2] != operator:
            continue
        for t, name in itertools.product(found, found[0].schema.attributes):
            for value in illegal_values(t, name):
                try:
                    check_refused(evaluator, t, name, value)
                except AssertionError as error:
                    failed.append(str(error))
    assert not failed, f"{len(failed)} values:\n" + "\n".join(failed[:10])


# --- What the sweep has found ---------------------------------------------------------------------


def test_a_number_between_two_is_truncated_but_not_below_itself(evaluator: Evaluator) -> None:
    x = np.array([[3, 6], [9, 12]])
    more = {"mode": "linear", "coordinate_transformation_mode": "align_corners"}
    wanted = [[3, 4, 5, 6], [5, 6, 7, 8], [7, 8, 9, 10], [9, 10, 11, 12]]
    for dtype in ("int8", "uint16", "int32", "int64"):
        inputs = [x.astype(dtype), None, np.array([2, 2], "float32")]
        [y] = run_node(evaluator, "Resize", inputs, opset=19, **more)
        assert y.tolist() == wanted
    [y] = run_node(evaluator, "BlackmanWindow", [np.array(10)], output_datatype=TensorProto.INT32)
    assert y.tolist() == [0, 0, 0, 0, 0, 1, 0, 0, 0, 0]


@pytest.mark.parametrize("mode", ["linear", "cubic"])
def test_complex_numbers_and_bools_are_resized(evaluator: Evaluator, mode: str) -> None:
    rng = np.random.default_rng(1)
    parts = rng.normal(0, 1, (2, 3, 4)).astype("float32")
    scales = np.array([1.5, 2], "float32")

    def resized(x: np.ndarray) -> np.ndarray:
        return run_node(evaluator, "Resize", [x, None, scales], opset=19, mode=mode)[0]

    both = resized(parts[0] + 1j * parts[1])
    assert both.dtype == "complex64"
    np.testing.assert_allclose(both, resized(parts[0]) + 1j * resized(parts[1]), rtol=1e-6)
    flags = parts[0] > 0
    assert resized(flags).tolist() == (resized(flags.astype("float64")) != 0).tolist()
    with pytest.raises(RuntimeError, match="strings have no numbers in between"):
        resized(np.full((3, 4), "a", object))


def test_one_place_of_a_resized_axis(evaluator: Evaluator) -> None:
    """The text asks for the size of the result, not for what the scale gives before rounding."""
    more = {"mode": "linear", "coordinate_transformation_mode": "pytorch_half_pixel"}
    inputs = [np.arange(3, dtype="float32"), None, np.array([0.6], "float32")]
    [y] = run_node(evaluator, "Resize", inputs, opset=19, **more)
    assert y.tolist() == [0]


def test_the_default_direction_of_gru_1(evaluator: Evaluator) -> None:
    """Its schema has it without an r."""
    inputs = [floats(4, 2, 3), floats(1, 15, 3), floats(1, 15, 5)]
    plain = run_node(evaluator, "GRU", inputs, opset=1, hidden_size=5)
    spelt = run_node(evaluator, "GRU", inputs, opset=1, hidden_size=5, direction="foward")
    assert plain[0].tolist() == spelt[0].tolist()
    with pytest.raises(
        RuntimeError, match="`foward` is not a value of `direction`: did you mean `forward`"
    ):
        run_node(evaluator, "GRU", inputs, opset=3, hidden_size=5, direction="foward")


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_equal_numbers_are_normalized_to_zeros(evaluator: Evaluator, dtype: str) -> None:
    x = np.full((2, 3), 0.25, dtype)
    [y] = run_node(evaluator, "MeanVarianceNormalization", [x], opset=13, axes=[1])
    assert y.tolist() == [[0, 0, 0], [0, 0, 0]]


@pytest.fixture(scope="module")
def evaluator() -> Evaluator:
    return Evaluator()


@pytest.mark.parametrize("kind", ["e4m3fn", "e4m3fnuz", "e5m2", "e5m2fnuz"])
def test_dropout_of_8_bit_floats(evaluator: Evaluator, kind: str) -> None:
    x = floats(40).astype(f"float8_{kind}")
    inputs = [x, np.array(0.5, "float32"), np.array(True)]
    y, mask = run_node(evaluator, "Dropout", inputs, outputs=2, opset=22, seed=1)
    wanted = np.where(mask, 2 * x.astype("float32"), 0).astype(x.dtype)
    assert 0 < mask.sum() < 40
    assert y.tobytes() == wanted.tobytes()


@pytest.mark.parametrize(
    "given, words",
    [
        ('"UP"', "`UP` is not a value of `direction`: use one of `RIGHT`, `LEFT`"),
        ("1", "`BitShift`: attribute `direction` is INT, and must be STRING"),
    ],
)
def test_the_parameter_of_a_function(evaluator: Evaluator, given: str, words: str) -> None:
    text = """
        <ir_version: 10, opset_import: ["": 21, "local": 1]>
        g (uint8[2] x) => (uint8[2] y) { y = local.f <d = GIVEN> (x) }
        <domain: "local", opset_import: ["": 21]>
        f <d> (x) => (y) { y = BitShift <direction: string = @d> (x, x) }
    """
    x = np.array([1, 3], "uint8")
    model = onnx.parser.parse_model(text.replace("GIVEN", '"LEFT"'))
    assert evaluator.run(model, {"x": x})[0].tolist() == [2, 24]
    with pytest.raises(RuntimeError, match=words):
        evaluator.run(onnx.parser.parse_model(text.replace("GIVEN", given)), {"x": x})
