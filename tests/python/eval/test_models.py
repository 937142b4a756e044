"""The model cases of the onnx package's backend suite: simple ones, those made by PyTorch, and
classifiers of images whose weights are made by nodes."""

from __future__ import annotations

import pathlib

import numpy as np
import onnx
import onnx.numpy_helper
import pytest
from onnx.backend.test.loader import DATA_DIR, load_model_tests

from eval.test_node_cases import Evaluator, check_equal

pytestmark = pytest.mark.filterwarnings("ignore")

KINDS = ("simple", "pytorch-converted", "pytorch-operator")
CASES = {f"{kind}/{case.name}": case for kind in KINDS for case in load_model_tests(kind=kind)}


@pytest.fixture(scope="module")
def evaluator() -> Evaluator:
    return Evaluator()


LIGHT = sorted(pathlib.Path(DATA_DIR).glob("light/*.onnx"))


def read_value(path: pathlib.Path, info: onnx.ValueInfoProto) -> object:
    data = path.read_bytes()
    if info.type.WhichOneof("value") == "sequence_type":
        return onnx.numpy_helper.to_list(onnx.SequenceProto.FromString(data))
    return onnx.numpy_helper.to_array(onnx.TensorProto.FromString(data))


def test_the_package_has_the_models() -> None:
    counts = {kind: sum(name.startswith(f"{kind}/") for name in CASES) for kind in KINDS}
    assert min(counts.values()) > 0 and LIGHT, counts


@pytest.mark.parametrize("name", sorted(CASES))
def test_model(evaluator: Evaluator, name: str) -> None:
    case = CASES[name]
    folder = pathlib.Path(case.model_dir)
    model = onnx.load(folder / "model.onnx")
    for data in sorted(folder.glob("test_data_set_*")):
        # Inputs have no initializer; their files are numbered in the graph's order.
        named = {
            info.name: read_value(data / f"input_{i}.pb", info)
            for i, info in enumerate(model.graph.input)
            if (data / f"input_{i}.pb").exists()
        }
        got = evaluator.run(model, named)
        assert len(got) == len(model.graph.output)
        for i, (item, info) in enumerate(zip(got, model.graph.output, strict=True)):
            expected = read_value(data / f"output_{i}.pb", info)
            if isinstance(expected, list):
                expected = [np.asarray(part) for part in expected]
            check_equal(item, expected, case.rtol, case.atol)


@pytest.mark.parametrize("path", LIGHT, ids=lambda path: path.stem)
def test_classifier(evaluator: Evaluator, path: pathlib.Path) -> None:
    """On the input that the suite gives these: numbers that rise from 0 to 1."""
    model = onnx.load(path)
    weights = {tensor.name for tensor in model.graph.initializer}
    [info] = [info for info in model.graph.input if info.name not in weights]
    dims = [dim.dim_value for dim in info.type.tensor_type.shape.dim]
    count = np.prod(dims)
    x = (np.arange(count).reshape(dims) / count).astype("float32")
    [got] = evaluator.run(model, {info.name: x})
    expected = read_value(path.with_name(f"{path.stem}_output_0.pb"), model.graph.output[0])
    check_equal(got, expected, 1e-3, 1e-7)
