"""Single nodes with attributes that the backend suite does not have, at all versions.

Windows (convolution and pooling) have random attributes; the sizes must be those that ONNX Runtime
gives, also when they come out as an expression over a symbolic input size. The other operators are
compared with onnx.shape_inference: we must know as much, and find fault where it does.
"""

from __future__ import annotations

import json
import pathlib
import random
import re

import numpy
import onnx
import onnx.printer
import onnx.shape_inference
import pytest
from onnx import TensorProto, helper, numpy_helper

from peers import ort_session
from places import BUILD
from tool import ask_all

onnxruntime = pytest.importorskip("onnxruntime")

TOOL = BUILD / "sdx_infer_tool"

FLOAT, INT64, INT8 = TensorProto.FLOAT, TensorProto.INT64, TensorProto.INT8
DOUBLE, BOOL, STRING = TensorProto.DOUBLE, TensorProto.BOOL, TensorProto.STRING
ML = "ai.onnx.ml"

# Operators for which the installed onnx.shape_inference departs from the operator's text.
ONNX_IS_WRONG = {
    "STFT": "takes 0 for the default of `onesided`, which is 1",
    "LinearClassifier": "gives 0 columns for labels that are there",
    "DFT": "keeps the axis when the length is an input that is not known",
    "MeanVarianceNormalization": "rejects the body that the schema gives the operator",
}


def make_model(op_type, version, inputs, outputs=1, domain="", **attributes) -> onnx.ModelProto:
    """Inputs: (element type, dims), an array for a constant, or None for one left out."""
    names, values, constants = [], [], []
    for index, given in enumerate(inputs):
        names.append("" if given is None else f"i{index}")
        if isinstance(given, numpy.ndarray):
            constants.append(numpy_helper.from_array(given, names[-1]))
        elif given is not None:
            values.append(helper.make_tensor_value_info(names[-1], *given))
    results = [onnx.ValueInfoProto(name=f"o{index}") for index in range(outputs)]
    given_attributes = {key: value for key, value in attributes.items() if value is not None}
    node = helper.make_node(
        op_type, names, [r.name for r in results], domain=domain, **given_attributes
    )
    opsets = [helper.make_opsetid(domain, version)]
    if domain:
        opsets.append(helper.make_opsetid("", 22))
    graph = helper.make_graph([node], "g", values, results, constants)
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def infer(models: list[onnx.ModelProto], folder: pathlib.Path) -> list[tuple[list, list]]:
    """For each model the types of its outputs, as the tool prints them, and the findings."""
    paths = []
    for index, model in enumerate(models):
        path = folder / f"{index}.onnx"
        path.write_bytes(model.SerializeToString())
        paths.append(str(path))
    answers = ask_all(TOOL, [[path] for path in paths])
    results = []
    for model, (line,) in zip(models, answers, strict=True):
        result = json.loads(line)
        assert "error" not in result, result
        types = {name: kind for _, name, kind in result["values"]}
        results.append(([types[o.name] for o in model.graph.output], result["findings"]))
    return results


def describe(model: onnx.ModelProto) -> str:
    return re.sub(r"\s+", " ", onnx.printer.to_text(model.graph))


# --- Windows -------------------------------------------------------------------------------------

WINDOWS = {
    "MaxPool": (1, 8, 10, 11, 12, 22),
    "AveragePool": (7, 10, 11, 19, 22),
    "LpPool": (2, 11, 18, 22),
    "Conv": (1, 11, 22),
    "ConvTranspose": (1, 11, 22),
}
FIRST_WITH_CEIL_MODE = {"MaxPool": 10, "AveragePool": 10, "LpPool": 18}
FIRST_WITH_DILATIONS = {
    "MaxPool": 10,
    "AveragePool": 19,
    "LpPool": 18,
}


def random_window(rng: random.Random) -> tuple[str, int, list, dict]:
    """Operator, version, input dims, attributes."""
    op_type = rng.choice(list(WINDOWS))
    version = rng.choice(WINDOWS[op_type])
    rank = rng.choice([1, 2, 2])
    kernel = [rng.randint(1, 4) for _ in range(rank)]
    dims = [1, 2, *(rng.randint(10, 24) for _ in range(rank))]

    def maybe(value):
        return value if rng.random() < 0.5 else None

    attributes: dict = {"strides": maybe([rng.randint(1, 3) for _ in range(rank)])}
    auto_pad = rng.choice([None, None, None, "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"])
    attributes["auto_pad"] = auto_pad
    if auto_pad in (None, "NOTSET"):
        # Runtimes refuse pads of pools that are not smaller than the kernel.
        attributes["pads"] = maybe([rng.randint(0, k - 1) for k in kernel + kernel])
    # ONNX Runtime leaves the dilation out of the SAME padding of pools.
    may_dilate = not op_type.endswith("Pool") or auto_pad in (None, "NOTSET", "VALID")
    if version >= FIRST_WITH_DILATIONS.get(op_type, 1) and may_dilate:
        attributes["dilations"] = maybe([rng.randint(1, 3) for _ in range(rank)])
    if version >= FIRST_WITH_CEIL_MODE.get(op_type, 99) and auto_pad in (None, "NOTSET"):
        attributes["ceil_mode"] = maybe(1)
    if op_type.endswith("Pool"):
        attributes["kernel_shape"] = kernel
        inputs = [dims]
    else:
        inputs = [dims, [2, 2, *kernel]]
    if op_type == "ConvTranspose":
        stride = attributes["strides"] or [1] * rank
        attributes["output_padding"] = maybe([rng.randint(0, s - 1) for s in stride])
        if attributes["output_padding"] and auto_pad not in (None, "NOTSET"):
            attributes["output_padding"] = None  # runtimes disagree with the text and each other
    return op_type, version, inputs, attributes


def run_shape(model: onnx.ModelProto, inputs: list) -> list[int] | None:
    """The output's dims by ONNX Runtime; None where it refuses the node."""
    complete = onnx.ModelProto()
    complete.CopyFrom(model)
    complete.graph.output[0].type.tensor_type.elem_type = FLOAT
    try:
        session = ort_session(complete.SerializeToString())
        feeds = {f"i{k}": numpy.ones(dims, numpy.float32) for k, dims in enumerate(inputs)}
        return list(session.run(["o0"], feeds)[0].shape)
    except Exception:
        return None


def test_windows_against_onnxruntime(tmp_path, capsys) -> None:
    rng = random.Random(7)
    cases, models = [], []
    for _ in range(400):
        op_type, version, inputs, attributes = random_window(rng)
        static = make_model(op_type, version, [(FLOAT, dims) for dims in inputs], **attributes)
        symbols = [*inputs[0][:2], *(f"S{k}" for k in range(len(inputs[0]) - 2))]
        named = [(FLOAT, symbols), *((FLOAT, dims) for dims in inputs[1:])]
        symbolic = make_model(op_type, version, named, **attributes)
        actual = run_shape(static, inputs)
        if actual is not None and 0 not in actual:
            sizes = dict(zip(symbols[2:], inputs[0][2:], strict=True))
            cases += [(actual, {}), (actual, sizes)]
            models += [static, symbolic]
    assert len(cases) > 500
    problems = []
    for (actual, sizes), model, (types, findings) in zip(
        cases, models, infer(models, tmp_path), strict=True
    ):
        names = {"__builtins__": {}, "min": min, "max": max, **sizes}
        dims = [eval(dim, names) if "unk" not in dim else None for dim in types[0]["dims"]]
        if dims != actual or findings:
            problems.append(f"{describe(model)}: {types[0]['dims']}, is {actual}; {findings}")
    with capsys.disabled():
        print(f"\nwindows: {len(cases)} nodes with the sizes of ONNX Runtime")
    assert not problems, "\n".join(problems)


# --- Other operators, all versions ---------------------------------------------------------------


def scalar(value: int) -> numpy.ndarray:
    return numpy.array(value, numpy.int64)


def normalizations():
    data = (FLOAT, ["N", 3, 4, 4])
    per_channel = (FLOAT, [3])
    for version in (6, 7, 9, 14, 15):
        yield make_model("BatchNormalization", version, [data] + [per_channel] * 4)
    for version, outputs in ((9, 5), (14, 3), (15, 3)):
        training = {"training_mode": 1} if version >= 14 else {}
        yield make_model(
            "BatchNormalization", version, [data] + [per_channel] * 4, outputs, **training
        )
    for version in (7, 10):
        yield make_model("Dropout", version, [data], 2)
    for version in (12, 13, 22):
        yield make_model("Dropout", version, [data, (FLOAT, []), (BOOL, [])], 2)
    for op_type in ("Softmax", "LogSoftmax", "Hardmax"):
        for version in (1, 11, 13):
            for axis in (None, -1, 3, 4):
                if version > 1 or axis is None:
                    yield make_model(op_type, version, [data], axis=axis)
    for axis in (-1, 1, 0):
        yield make_model("LayerNormalization", 17, [data, (FLOAT, [4])], 3, axis=axis)
    for reduction in ("none", "sum", "mean", None):
        for version in (12, 13):
            inputs = [(FLOAT, [3, 5, 2]), (INT64, [3, 2]), (FLOAT, [5])]
            yield make_model("SoftmaxCrossEntropyLoss", version, inputs, 2, reduction=reduction)
            yield make_model("NegativeLogLikelihoodLoss", version, inputs, reduction=reduction)


def recurrences():
    for op_type, gates in (("RNN", 1), ("GRU", 3), ("LSTM", 4)):
        outputs = 3 if op_type == "LSTM" else 2
        for version in (1, 7, 14, 22):
            for direction in ("forward", "bidirectional", None):
                for layout in (0, 1) if version >= 14 else (None,):
                    directions = 2 if direction == "bidirectional" else 1
                    weight = (FLOAT, [directions, gates * 5, 4])
                    recurrence = (FLOAT, [directions, gates * 5, 5])
                    inputs = [(FLOAT, ["a", "b", 4]), weight, recurrence]
                    options = {"direction": direction, "layout": layout}
                    yield make_model(op_type, version, inputs, outputs, hidden_size=5, **options)


def quantizations():
    for version in (10, 13, 19, 21, 23, 24, 25):
        for zero_point in ((INT8, []), None):
            yield make_model(
                "QuantizeLinear", version, [(FLOAT, [2, "N"]), (FLOAT, []), zero_point]
            )
        for scale in (FLOAT, TensorProto.FLOAT16) if version >= 19 else (FLOAT,):
            yield make_model("DequantizeLinear", version, [(INT8, [2, "N"]), (scale, [])])
        if version >= 21:
            data = (FLOAT, [2, 6])
            yield make_model("QuantizeLinear", version, [data, (FLOAT, [])], output_dtype=INT8)
            blocks = {"axis": 1, "block_size": 3}
            yield make_model("QuantizeLinear", version, [data, (FLOAT, [2, 2])], **blocks)


def resizings():
    rng = random.Random(3)
    none = numpy.zeros(0, numpy.float32)
    for version in (10, 11, 13, 18, 19):
        for _ in range(25):
            dims = [rng.choice([2, 3, "N", 4, 7]) for _ in range(4)]
            scales = [1, 1, rng.choice([0.5, 2, 1.5, 0.3, 0.6, 3.7]), rng.choice([0.5, 2, 0.75])]
            scales = numpy.array(scales, numpy.float32)
            sizes = numpy.array([2, 3, rng.randint(1, 9), rng.randint(1, 9)], numpy.int64)
            data = (FLOAT, dims)
            if version == 10:
                yield make_model("Resize", version, [data, scales])
                yield make_model("Upsample", 9, [data, scales])
                yield make_model("Upsample", 7, [data], scales=scales.tolist())
                continue
            roi = none if version == 11 else None
            yield make_model("Resize", version, [data, roi, scales])
            yield make_model("Resize", version, [data, roi, none if version == 11 else None, sizes])
            if version >= 18:
                policy = rng.choice([None, "stretch", "not_larger", "not_smaller"])
                some = {"axes": [2, 3], "keep_aspect_ratio_policy": policy}
                yield make_model("Resize", version, [data, None, None, sizes[2:]], **some)
                yield make_model("Resize", version, [data, None, scales[2:]], axes=[-1, 2])


def signals():
    lengths = (None, scalar(8), scalar(7), (INT64, []))
    for flags in ({}, {"onesided": 1}, {"inverse": 1}, {"onesided": 1, "inverse": 1}):
        for length in lengths:
            for dims in ([2, 10, 1], ["N", 10, 2], [2, "L", 1], [2, 9, 4, 1]):
                yield make_model("DFT", 17, [(FLOAT, dims), length], axis=1, **flags)
                for axis in (None, scalar(1), scalar(-2)):
                    yield make_model("DFT", 20, [(FLOAT, dims), length, axis], **flags)
    for length in (None, scalar(16), (INT64, [])):
        for window in (None, (FLOAT, [16])):
            for onesided in (0, 1):
                for dims in ([2, 128, 1], ["B", "L", 1]):
                    inputs = [(FLOAT, dims), scalar(8), window, length]
                    yield make_model("STFT", 17, inputs, onesided=onesided)
    for op_type in ("HannWindow", "HammingWindow", "BlackmanWindow"):
        for element in (None, FLOAT, DOUBLE):
            for size in (scalar(10), (INT64, [])):
                yield make_model(op_type, 17, [size], output_datatype=element)


def various():
    for version in (16, 20, 22):
        yield make_model(
            "GridSample", version, [(FLOAT, ["N", 3, 4, 5]), (FLOAT, ["N", "h", "w", 2])]
        )
    for version in (10, 16, 22):
        rois = [(FLOAT, [2, 3, 9, 9]), (FLOAT, ["K", 4]), (INT64, ["K"])]
        yield make_model("RoiAlign", version, rois, output_height=3)
    for version in (1, 22):
        yield make_model(
            "MaxRoiPool", version, [(FLOAT, [2, 3, 9, 9]), (FLOAT, ["K", 5])], pooled_shape=[2, 3]
        )
        yield make_model("RandomNormal", version, [], shape=[2, 3], dtype=DOUBLE)
        yield make_model("RandomUniformLike", version, [(FLOAT, [2, "N"])])
        yield make_model("GlobalMaxPool", version, [(FLOAT, ["N", 3, 4])])
    for version in (7, 22):
        yield make_model("Multinomial", version, [(FLOAT, ["N", 4])], sample_size=3, dtype=INT64)
    for version in (15, 22):
        yield make_model("Bernoulli", version, [(FLOAT, ["N", 4])], dtype=BOOL)
    sizes = numpy.array([10, 9], numpy.int64)
    yield make_model("CenterCropPad", 18, [(FLOAT, [20, "w", 3]), sizes], axes=[-3, 1])
    yield make_model("AffineGrid", 20, [(FLOAT, [2, 2, 3]), numpy.array([2, 3, 5, 6])])
    yield make_model("Col2Im", 18, [(FLOAT, [1, 10, 5]), numpy.array([5, 6]), numpy.array([1, 5])])
    yield make_model("StringSplit", 20, [(STRING, [2, "N"])], 2)
    yield make_model("StringConcat", 20, [(STRING, [2, 1]), (STRING, [3])])


def slices():
    for start in (3, -1, -2, -5):
        for end in (2, -3, -9):
            for step in (1, -1, -2):
                bounds = [numpy.array([number]) for number in (start, end, 0, step)]
                for size in (3, 0, "N"):
                    yield make_model("Slice", 13, [(FLOAT, [size, 2]), *bounds])


def machine_learning():
    data = (FLOAT, ["N", 3])
    labels = {"classlabels_ints": [1, 2, 3], "coefficients": [0.5] * 9}
    yield make_model("LinearClassifier", 1, [data], 2, ML, **labels)
    yield make_model("LinearRegressor", 1, [data], 1, ML, targets=2, coefficients=[0.5] * 6)
    yield make_model("OneHotEncoder", 1, [(INT64, ["N", 3])], 1, ML, cats_int64s=[1, 2, 3])
    yield make_model("ArrayFeatureExtractor", 1, [data, (INT64, [1, 2])], 1, ML)
    yield make_model("Binarizer", 1, [data], 1, ML)
    yield make_model("TreeEnsembleRegressor", 3, [data], 1, ML, n_targets=2)
    yield make_model("SVMClassifier", 1, [data], 2, ML, classlabels_strings=["a", "b"])
    encoding = {"keys_strings": ["a"], "values_floats": [1.0]}
    yield make_model("LabelEncoder", 2, [(STRING, ["N"])], 1, ML, **encoding)


FAMILIES = [
    normalizations,
    slices,
    recurrences,
    quantizations,
    resizings,
    signals,
    various,
    machine_learning,
]


def is_known(dim: str) -> bool:
    return dim != "" and not dim.startswith("unk__")


def disagreement(ours: dict | None, theirs: onnx.TypeProto) -> bool:
    """Whether onnx knows something that we do not, or something else."""
    if not theirs.HasField("tensor_type"):
        return False
    tensor = theirs.tensor_type
    if ours is None or (tensor.elem_type and ours.get("element") != tensor.elem_type):
        return True
    if not tensor.HasField("shape"):
        return False
    dims = [str(d.dim_value) if d.HasField("dim_value") else d.dim_param for d in tensor.shape.dim]
    if ours["dims"] is None or len(ours["dims"]) != len(dims):
        return True
    return any(is_known(b) and a != b for a, b in zip(ours["dims"], dims, strict=True))


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_against_shape_inference(family, tmp_path) -> None:
    models = list(family())
    problems = []
    for model, (types, findings) in zip(models, infer(models, tmp_path), strict=True):
        if model.graph.node[0].op_type in ONNX_IS_WRONG:
            continue
        try:
            inferred = onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
        except Exception as error:
            if not findings:
                problems.append(f"{describe(model)}: onnx says {error}")
            continue
        if findings:
            problems.append(f"{describe(model)}: {findings}")
        for ours, output in zip(types, inferred.graph.output, strict=True):
            if disagreement(ours, output.type):
                theirs = re.sub(r"\s+", " ", str(output.type))
                problems.append(f"{describe(model)}: {ours}, onnx {theirs}")
    assert not problems, "\n".join(problems)
