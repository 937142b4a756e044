"""Models for the tests of this folder, by name."""

from __future__ import annotations

import functools
import lzma
import pathlib
import subprocess
import tempfile
import warnings
import zlib
from typing import Any

import hypothesis
import numpy as np
import onnx
import onnxruntime
import onnxruntime.quantization
from onnx import TensorProto, helper, numpy_helper

from language import shared_compiler
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


def filled(data: bytes) -> bytes:
    """The model with random elements where tests/data/torch/make.py has left them out."""
    proto = onnx.load_from_string(data)
    tensors = list(proto.graph.initializer)
    tensors += [a.t for n in proto.graph.node for a in n.attribute if a.type == a.TENSOR]
    for tensor in tensors:
        kind, count = helper.tensor_dtype_to_np_dtype(tensor.data_type), np.prod(tensor.dims)
        if count <= 64 or tensor.data_type == TensorProto.STRING:
            continue
        rng = np.random.default_rng(zlib.crc32(tensor.name.encode()))
        array = rng.standard_normal(tuple(tensor.dims)) / np.sqrt(max(1, tensor.dims[-1]))
        if kind.kind == "f":
            array = np.abs(array) + 0.5 if "var" in tensor.name else array
        tensor.raw_data = numpy_helper.from_array(array.astype(kind)).raw_data
    return proto.SerializeToString()


@functools.cache
def torch_exports() -> dict[str, bytes]:
    """What both exporters of PyTorch write, with random weights (tests/data/torch/make.py)."""
    files = sorted((ROOT / "tests/data/torch").glob("*.onnx.xz"))
    return {file.name[:-8]: filled(lzma.decompress(file.read_bytes())) for file in files}


@functools.cache
def runtime_models() -> dict[str, bytes]:
    """What ONNX Runtime makes of those by its optimizer and its quantization, and calls of its
    own operators."""
    from run.test_contrib import CALLS, model_of

    found = {f"{call[0]}_{i}": model_of(*call).SerializeToString() for i, call in enumerate(CALLS)}
    levels = onnxruntime.GraphOptimizationLevel
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "m.onnx"
        for name, data in torch_exports().items():
            path.write_bytes(data)
            for level in (levels.ORT_ENABLE_EXTENDED, levels.ORT_ENABLE_ALL):
                options = onnxruntime.SessionOptions()
                options.graph_optimization_level = level
                options.log_severity_level = 4
                options.optimized_model_filepath = f"{folder}/optimized.onnx"
                onnxruntime.InferenceSession(str(path), options, ["CPUExecutionProvider"])
                optimized = pathlib.Path(options.optimized_model_filepath)
                found[f"{name}_{level.name}"] = optimized.read_bytes()
            if name.startswith("resnet50"):
                continue  # the quantizer's own shape inference refuses its Gemm
            quantized = pathlib.Path(folder) / "quantized.onnx"
            onnxruntime.quantization.quantize_dynamic(path, quantized)
            found[f"{name}_quantized"] = quantized.read_bytes()
    return found


def drawn(strategy: Any, count: int) -> list[Any]:
    """The same values each time."""
    values: list[Any] = []

    @hypothesis.seed(0)
    @hypothesis.settings(
        max_examples=count, deadline=None, database=None, phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )  # fmt: skip
    @hypothesis.given(strategy)
    def draw(value: Any) -> None:
        values.append(value)

    draw()
    return values


@functools.cache
def random_programs() -> dict[str, bytes]:
    """What scripts of the random generator compile to."""
    from language.test_random_programs import HEADER, LIBRARY, programs

    found: dict[str, bytes] = {}
    for i, source in enumerate(drawn(programs(), 200)):
        answer, data = shared_compiler().compile(HEADER + LIBRARY + source, "f")
        if answer[0] == "ok":
            found[f"program_{i:03}"] = data
    return found


@functools.cache
def random_graphs() -> dict[str, bytes]:
    """Graphs of any operators, with functions, bodies, sequences and optionals."""
    from run.test_random_graphs import models

    return {
        f"graph_{i:03}": model.SerializeToString()
        for i, (model, _) in enumerate(drawn(models(), 200))
    }
