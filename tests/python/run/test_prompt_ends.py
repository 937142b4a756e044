"""Every operator that can work for long on one large input ends soon after its time is over.

The daily run takes each eleventh of the cases, SDX_FULL=1 all. As a
program, `python tests/python/run/test_prompt_ends.py [WORD ...]`, it prints the table:
for each case the longest that a run has gone on after its time was over, in seconds of processor
time.
"""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest
import sardonyx
from onnx import TensorProto, helper

from sampling import stride

# What is asked for is 0.1 s. Caches and the clock of a busy machine take their share, and a build
# without optimization is slower by a factor.
IS_OPTIMIZED = "release" in os.environ.get("SDX_BUILD", "build/dev")
PROMPT = 1.0 if IS_OPTIMIZED else 4.0
# When the time is over, in seconds: kernels that do several things are met in each.
TIMES = (0.05, 0.15, 0.4, 1.0)


STRIDE = stride(11)

Inputs = list[np.ndarray]
Case = tuple[str, Callable[[], Inputs], dict[str, Any]]
LINE = 50_000_000


def noise(*dims: int) -> np.ndarray:
    """FLOAT of these dims; a block of numbers again and again, since drawing them takes longer than
    most operators."""
    count = int(np.prod(dims))
    block = np.random.default_rng(0).standard_normal(min(count, 1 << 20)).astype(np.float32)
    return np.resize(block, count).reshape(dims)


def whole(limit: int, *dims: int) -> np.ndarray:
    """INT64 of these dims, below `limit`."""
    count = int(np.prod(dims))
    block = np.random.default_rng(1).integers(0, limit, min(count, 1 << 20))
    return np.resize(block, count).reshape(dims)


def distinct(count: int) -> np.ndarray:
    """FLOAT[count], hardly one twice, in no order."""
    values = np.arange(count, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return (values >> np.uint64(40)).astype(np.float32)


def vector(*values: int) -> np.ndarray:
    """INT64[n]."""
    return np.array(values, np.int64)


def codes(*dims: int) -> np.ndarray:
    """UINT8 of these dims."""
    return whole(255, *dims).astype(np.uint8)


def words(count: int) -> np.ndarray:
    """STRING[count]."""
    return np.resize(np.array(["one word", "Two Words", "3, 4", "the end"], object), count)


def boxes(count: int) -> Inputs:
    """Boxes that do not overlap, so that all are compared with all, and their scores."""
    corner = np.stack([np.arange(count), np.zeros(count)], -1)
    both = np.concatenate([corner, corner + 0.5], -1)[None].astype(np.float32)
    limits = [vector(count), np.array([0.5], np.float32), np.array([-9], np.float32)]
    return [both, noise(1, 1, count), *limits]


def one(value: float, kind: Any = np.float32) -> np.ndarray:
    return np.array(value, kind)


def recurrent(gates: int, steps: int = 20_000, batch: int = 1, size: int = 128) -> Inputs:
    return [noise(steps, batch, size), noise(1, gates * size, size), noise(1, gates * size, size)]


def quantized(x: np.ndarray, w: np.ndarray) -> Inputs:
    scale, zero = one(0.02), one(3, np.uint8)
    return [x, scale, zero, w, scale, one(0, np.int8), scale, zero]


def cases() -> list[Case]:
    """Operator, its inputs, its attributes."""
    line = lambda: [noise(LINE)]  # noqa: E731
    rows = lambda: [noise(500, 100_000)]  # noqa: E731
    picture = lambda: [noise(8, 64, 256, 256)]  # noqa: E731
    found: list[Case] = []

    def add(op: str, inputs: Callable[[], Inputs], **attributes: Any) -> None:
        found.append((op, inputs, attributes))

    # Elements of their own.
    for op in ("Abs", "Erf", "Gelu", "Tan", "Identity", "IsNaN", "Round", "Mish"):
        add(op, line)
    add("Cast", line, to=TensorProto.FLOAT16)
    add("Cast", lambda: [noise(3_000_000)], to=TensorProto.STRING)
    add("Cast", lambda: [np.resize(np.array(["1.5", "-2e3"], object), 2_000_000)], to=1)
    add("BitCast", line, to=TensorProto.INT32)
    for op in ("Add", "Pow", "Mod"):
        add(
            op, lambda: [noise(LINE // 2), noise(LINE // 2)], **({"fmod": 1} if op == "Mod" else {})
        )
    add("Add", lambda: [noise(5000, 1), noise(1, 10_000)])
    add("Where", lambda: [noise(LINE // 2) > 0, noise(LINE // 2), noise(LINE // 2)])
    add("Sum", lambda: [noise(LINE // 4), noise(LINE // 4), noise(LINE // 4)])
    add("PRelu", lambda: [noise(LINE // 2), noise(LINE // 2)])
    add("Dropout", lambda: [*line(), one(0.5), one(1, bool)])
    for op in ("RandomNormalLike", "RandomUniformLike", "Bernoulli"):
        add(op, lambda: [np.abs(noise(LINE)) % 1])
    add("Multinomial", lambda: [noise(100, 100_000)], sample_size=1000)
    add("QuantizeLinear", lambda: [*line(), one(0.02), one(3, np.uint8)])
    add("DequantizeLinear", lambda: [codes(LINE), one(0.02), one(3, np.uint8)])
    add("DynamicQuantizeLinear", line)
    add("Range", lambda: [one(0), one(LINE), one(1)])
    add("EyeLike", lambda: [noise(7000, 7000)])
    add("ConstantOfShape", lambda: [vector(LINE)])
    for op in ("HannWindow", "BlackmanWindow"):
        add(op, lambda: [one(LINE // 2, np.int64)])
    weights = [vector(4000), vector(20_000), vector(9000), one(0), one(8000)]
    add("MelWeightMatrix", lambda: [w.reshape(()) for w in weights])

    # Along lines: one, many, and columns.
    for op in ("Softmax", "LogSoftmax", "Hardmax", "LpNormalization"):
        add(op, line, axis=0)
        add(op, rows, axis=0)
        add(op, rows, axis=1)
    for op in ("ReduceSum", "ReduceMax", "ReduceLogSumExp", "ReduceL2", "ReduceProd"):
        add(op, line)
        add(op, lambda: [*rows(), vector(0)])
        add(op, lambda: [np.zeros((2, LINE // 2), np.float16), vector(1)])
    add("ReduceMean", lambda: [whole(99, LINE)])
    for op in ("ArgMax", "ArgMin"):
        add(op, line, axis=0)
        add(op, rows, axis=0)
    for op in ("CumSum", "CumProd"):
        add(op, lambda: [*line(), one(0, np.int64)])
        add(op, lambda: [*rows(), one(0, np.int64)])
        add(op, lambda: [noise(LINE).astype(np.float16), one(0, np.int64)], reverse=1)
    for k in (5, LINE // 10, LINE // 2):
        add("TopK", lambda k=k: [distinct(LINE), vector(k)])
    add("TopK", lambda: [noise(100_000, 500), vector(100)], axis=0)
    add("TopK", lambda: [distinct(LINE // 2).astype(np.float64), vector(LINE // 4)])
    for op in ("LayerNormalization", "RMSNormalization"):
        add(op, lambda: [*line(), noise(LINE)])
        add(op, lambda: [*rows(), noise(100_000)])
    two = lambda: [noise(64), noise(64)]  # noqa: E731
    add("InstanceNormalization", lambda: [*picture(), *two()])
    add("InstanceNormalization", lambda: [noise(1, 1, LINE), noise(1), noise(1)])
    add("GroupNormalization", lambda: [*picture(), *two()], num_groups=8)
    add("BatchNormalization", lambda: [*picture(), *two(), noise(64), np.abs(noise(64))])
    add("MeanVarianceNormalization", picture)
    add("LRN", picture, size=5)
    labels = lambda: [noise(500, 100_000), whole(100_000, 500)]  # noqa: E731
    add("SoftmaxCrossEntropyLoss", labels)
    add("SoftmaxCrossEntropyLoss", lambda: [noise(1, 99, 700_000), whole(99, 1, 700_000)])
    add("NegativeLogLikelihoodLoss", labels)

    # What moves elements.
    add("Transpose", lambda: [noise(5000, 10_000)], perm=[1, 0])
    add("Transpose", lambda: [words(1_000_000).reshape(1000, 1000)], perm=[1, 0])
    add("Concat", lambda: [noise(LINE // 2), noise(LINE // 2)], axis=0)
    add("Slice", lambda: [noise(LINE), vector(-1), vector(-LINE - 9), vector(0), vector(-2)])
    for mode in ("constant", "reflect", "edge", "wrap"):
        add("Pad", lambda: [noise(6000, 6000), vector(9, 9, 9, 9)], mode=mode)
    add("Pad", lambda: [noise(9), vector(LINE, LINE)], mode="wrap")
    add("Tile", lambda: [noise(7), vector(LINE // 7)])
    add("Expand", lambda: [noise(1), vector(LINE)])
    add("Split", line, num_outputs=3)
    add("SplitToSequence", lambda: [noise(2_000_000)])
    add("SplitToSequence", lambda: [noise(2_000_000)], keepdims=0)
    add("Gather", lambda: [noise(1000), whole(1000, LINE // 2)])
    add("Gather", lambda: [noise(100_000, 500), whole(500, 400)], axis=1)
    add("GatherElements", lambda: [noise(LINE // 2), whole(LINE // 2, LINE // 2)], axis=0)
    add("GatherND", lambda: [noise(LINE // 4), whole(LINE // 4, LINE // 4, 1)])
    for reduction in ("none", "add"):
        kind = {"reduction": reduction}
        add("ScatterElements", lambda: [noise(LINE // 4), distinct(LINE // 4).astype(np.int64)
            % (LINE // 4), noise(LINE // 4)], axis=0, **kind)  # fmt: skip
        add("ScatterElements", lambda: [noise(3000, 5000), whole(3000, 3000, 5000),
            noise(3000, 5000)], axis=0, **kind)  # fmt: skip
        add("ScatterND", lambda: [noise(LINE // 4), distinct(LINE // 4).astype(np.int64)[:, None]
            % (LINE // 4), noise(LINE // 4)], **kind)  # fmt: skip
    add("TensorScatter", lambda: [noise(8, 4, 10_000, 128), noise(8, 4, 9000, 128)])
    add("CenterCropPad", lambda: [noise(6000, 6000), vector(7000, 5000)])
    add("DepthToSpace", picture, blocksize=2)
    add("SpaceToDepth", picture, blocksize=2)
    add("ReverseSequence", lambda: [noise(5000, 10_000), whole(10_000, 5000)],
        batch_axis=0, time_axis=1)  # fmt: skip
    add("Trilu", lambda: [noise(7000, 7000)])
    add("OneHot", lambda: [whole(50, LINE // 50), one(50, np.int64), np.array([0, 1], np.float32)])
    add("NonZero", line)
    add("NonZero", lambda: [noise(3000, 5, 2000)])
    add("Compress", lambda: [*line(), noise(LINE) > 0])
    add("Unique", lambda: [distinct(LINE // 2)])
    add("Unique", lambda: [distinct(LINE // 4)], sorted=0)
    add("Unique", lambda: [whole(9, 500_000, 20)], axis=0)
    add("Unique", lambda: [words(500_000)])
    add("NonMaxSuppression", lambda: boxes(100_000))
    add("NonMaxSuppression", lambda: boxes(4_000_000))
    add("Col2Im", lambda: [noise(1, 64 * 9, 250_000), vector(500, 500), vector(3, 3)],
        pads=[1, 1, 1, 1])  # fmt: skip

    # Pictures.
    doubled = lambda: [np.array([1, 1, 2, 2], np.float32)]  # noqa: E731
    for mode in ("nearest", "linear", "cubic"):
        add(
            "Resize",
            lambda: [noise(2, 16, 512, 512), np.zeros(0, np.float32), *doubled()],
            mode=mode,
        )
    add("Resize", lambda: [noise(1, 1, 6000, 6000), np.zeros(0, np.float32), *doubled()],
        mode="cubic", antialias=1)  # fmt: skip
    add("Upsample", lambda: [noise(2, 16, 512, 512), *doubled()])
    grid = lambda: [noise(1, 3000, 3000, 2)]  # noqa: E731
    for mode in ("linear", "nearest", "cubic"):
        add("GridSample", lambda: [noise(1, 3, 500, 500), *grid()], mode=mode)
    add("AffineGrid", lambda: [noise(1, 2, 3), vector(1, 3, 5000, 5000)])
    regions = lambda: [np.tile(np.array([[3, 3, 200, 200]], np.float32), (3000, 1))]  # noqa: E731
    size = {"output_height": 14, "output_width": 14}
    add("RoiAlign", lambda: [noise(1, 64, 256, 256), *regions(), whole(1, 3000)], **size)
    add("MaxRoiPool", lambda: [noise(1, 64, 256, 256), np.concatenate([np.zeros((3000, 1),
        np.float32), *regions()], 1)], pooled_shape=[14, 14])  # fmt: skip
    for op in ("MaxPool", "AveragePool", "LpPool"):
        add(op, picture, kernel_shape=[3, 3])
        add(op, lambda: [noise(1, 1, LINE)], kernel_shape=[64])
        add(op, lambda: [noise(1, 1, 3000, 3000)], kernel_shape=[500, 500])
    for op in ("GlobalMaxPool", "GlobalAveragePool", "GlobalLpPool"):
        add(op, lambda: [noise(1, 1, LINE)])
    places = lambda: [noise(1, 64, 500, 500), whole(900_000, 1, 64, 500, 500)]  # noqa: E731
    add("MaxUnpool", places, kernel_shape=[2, 2], strides=[2, 2])

    # Products.
    add("MatMul", lambda: [noise(4000, 4000), noise(4000, 4000)])
    add("MatMul", lambda: [noise(1, LINE), noise(LINE, 1)])
    add(
        "MatMul",
        lambda: [noise(3000, 3000).astype(np.float16), noise(3000, 3000).astype(np.float16)],
    )
    add("MatMul", lambda: [whole(9, 1500, 1500), whole(9, 1500, 1500)])
    add("MatMul", lambda: [noise(100_000, 20, 20), noise(100_000, 20, 20)])
    add("Gemm", lambda: [noise(4000, 4000), noise(4000, 4000)], transA=1)
    add("MatMulInteger", lambda: [codes(4000, 4000), codes(4000, 4000)])
    signed = lambda *dims: whole(99, *dims).astype(np.int8)  # noqa: E731
    add("QLinearMatMul", lambda: quantized(codes(4000, 4000), signed(4000, 4000)))
    add("Einsum", lambda: [noise(300, 300, 300), noise(300, 300, 300)], equation="abc,cbd->ad")
    add("Einsum", lambda: [noise(300, 300), noise(300, 300), noise(300, 300)],
        equation="ab,bc,ca->abc")  # fmt: skip
    add("Det", lambda: [noise(2000, 2000)])
    add("Det", lambda: [noise(100_000, 20, 20)])
    conv = {"pads": [1, 1, 1, 1]}
    add("Conv", lambda: [*picture(), noise(128, 64, 3, 3)], **conv)
    add("Conv", lambda: [*picture(), noise(64, 1, 3, 3)], group=64, **conv)
    add("Conv", lambda: [noise(1, 1, LINE // 2), noise(1, 1, 64)])
    add("Conv", lambda: [noise(1, 8, 64, 256, 256), noise(8, 8, 3, 3, 3)])
    add("Conv", lambda: [noise(1, 16, 256, 256).astype(np.float16), noise(16, 16, 5, 5).astype(
        np.float16)])  # fmt: skip
    add("ConvTranspose", lambda: [*picture(), noise(64, 64, 3, 3)], strides=[2, 2])
    add("ConvInteger", lambda: [codes(8, 64, 256, 256), codes(64, 64, 3, 3)], **conv)
    add("QLinearConv", lambda: quantized(codes(8, 64, 256, 256), signed(64, 64, 3, 3)), **conv)
    add("DeformConv", lambda: [noise(1, 16, 256, 256), noise(16, 16, 3, 3), noise(1, 18, 254, 254)])
    add("CausalConvWithState", lambda: [noise(4, 64, 100_000), noise(64, 1, 4)])
    for op, gates in (("RNN", 1), ("GRU", 3), ("LSTM", 4)):
        add(op, lambda gates=gates: recurrent(gates), hidden_size=128)
        add(op, lambda gates=gates: recurrent(gates, 20, 64, 1024), hidden_size=1024)
        add(op, lambda gates=gates: recurrent(gates, 10, 100_000, 8), hidden_size=8)
    add("Attention", lambda: [noise(1, 8, 3000, 64)] * 3)
    add(
        "Attention",
        lambda: [noise(1, 1, 1, 64), noise(1, 1, 700_000, 64), noise(1, 1, 700_000, 64)],
    )
    heads = {"q_num_heads": 8, "kv_num_heads": 8, "update_rule": "linear"}
    add("LinearAttention", lambda: [noise(1, 20_000, 512)] * 3, **heads)
    add("RotaryEmbedding", lambda: [noise(1, 32, 10_000, 128), noise(10_000, 64), noise(10_000, 64),
        np.arange(10_000)[None]])  # fmt: skip

    # Signals and text.
    for length in (1 << 23, 3_000_000, 1000):
        add("DFT", lambda length=length: [noise(9_000_000 // length or 1, length, 1)])
    add(
        "STFT", lambda: [noise(1, 9_000_000, 1), one(256, np.int64), noise(512), one(512, np.int64)]
    )
    add(
        "STFT",
        lambda: [noise(1, 3_000_000, 1), one(50_000, np.int64), None, one(2_900_000, np.int64)],
    )
    add("StringNormalizer", lambda: [words(1_000_000)], case_change_action="UPPER")
    add("StringConcat", lambda: [words(1_000_000), words(1_000_000)])
    add("StringSplit", lambda: [words(1_000_000)])
    add("RegexFullMatch", lambda: [words(1_000_000)], pattern="[a-z ]*")
    pool = {"pool_int64s": list(range(9)), "ngram_counts": [0], "ngram_indexes": list(range(9))}
    grams = {"min_gram_length": 1, "max_gram_length": 3, "max_skip_count": 2, "mode": "TF"}
    add("TfIdfVectorizer", lambda: [whole(9, 5_000_000).astype(np.int32)], **pool, **grams)
    return found


# Of the operators that opset 20 does not have, or not in this form.
VERSIONS = {"Upsample": 9, "GroupNormalization": 21, "BitCast": 26, "CumProd": 26,
            "RMSNormalization": 23, "Attention": 23, "RotaryEmbedding": 23, "TensorScatter": 24,
            "CausalConvWithState": 27, "LinearAttention": 27}  # fmt: skip
SEVERAL = {"TopK": 2, "Split": 3, "Unique": 4, "StringSplit": 2, "DynamicQuantizeLinear": 3}


def model_of(op: str, inputs: Inputs, attributes: dict[str, Any]) -> sardonyx.Model:
    """A model of one node, on nothing but inputs."""
    names = ["" if x is None else f"x{i}" for i, x in enumerate(inputs)]
    results = [f"y{i}" for i in range(SEVERAL.get(op, 1))]
    kinds = [TensorProto.STRING if x is None or x.dtype == object
             else helper.np_dtype_to_tensor_dtype(x.dtype) for x in inputs]  # fmt: skip
    graph = onnx.GraphProto(name="g")
    graph.node.append(helper.make_node(op, names, results, **attributes))
    for name, kind, x in zip(names, kinds, inputs, strict=True):
        if name:
            graph.input.append(helper.make_tensor_value_info(name, kind, x.shape))
    graph.output.extend(helper.make_empty_tensor_value_info(y) for y in results)
    version = VERSIONS.get(op, 20)
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", version)], ir_version=10
    )
    return sardonyx.load(model.SerializeToString())


def longest_overrun(case: Case) -> float:
    """The longest processor time that a run has taken beyond what it was given."""
    op, make, attributes = case
    inputs = make()
    model = model_of(op, inputs, attributes)
    feeds = {f"x{i}": x for i, x in enumerate(inputs) if x is not None}
    longest = 0.0
    for seconds in TIMES:
        gc.collect()
        started = time.process_time()
        try:
            model.run(feeds, threads=1, timeout=seconds)
        except TimeoutError:
            longest = max(longest, time.process_time() - started - seconds)
        else:
            return max(longest, time.process_time() - started - seconds)
    return longest


def name_of(case: Case) -> str:
    shapes = ",".join("x".join(map(str, x.shape)) for x in case[1]() if x is not None)
    return f"{case[0]} {shapes} {case[2] or ''}"[:100]


@pytest.mark.parametrize("place", range(0, len(cases()), STRIDE))
def test_a_run_ends_soon_after_its_time(place: int) -> None:
    case = cases()[place]
    overrun = longest_overrun(case)
    assert overrun < PROMPT, name_of(case)


if __name__ == "__main__":
    rows = []
    for chosen in cases():
        if len(sys.argv) < 2 or chosen[0] in sys.argv[1:]:
            try:
                rows.append((longest_overrun(chosen), name_of(chosen)))
            except Exception as error:
                rows.append((9.9, f"{chosen[0]}: {error}"))
            print(f"{rows[-1][0]:8.3f}  {rows[-1][1]}", flush=True)
