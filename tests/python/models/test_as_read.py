"""What is loaded and saved without a change is the file of before, to the last byte.

Models of the onnx backend tests, each 7th or, with SDX_FULL=1, all, and those of ONNX Runtime.
"""

from __future__ import annotations

import copy
import pathlib
import pickle
import subprocess
from collections.abc import Callable

import numpy as np
import onnx
import pytest
import sardonyx
from onnx import TensorProto, helper

from models.corpora import backend_cases
from models.test_round_trip import real, shipped
from places import PROGRAM
from sampling import stride

pytestmark = pytest.mark.filterwarnings("ignore")

STRIDE = stride(7)


def run(*words: object, data: bytes = b"") -> bytes:
    command = [str(word) for word in (PROGRAM, *words)]
    done = subprocess.run(command, capture_output=True, input=data, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def unusual(is_ordered: bool = False) -> bytes:
    """In forms that protobuf has and no writer needs: unknown fields in each message, elements as
    lists, texts that are there and empty, names of constants, metadata last and first."""
    w = helper.make_tensor("w", TensorProto.FLOAT, [3], [1, 2, 3])  # float_data
    k = helper.make_tensor("named", TensorProto.INT64, [1], [1])
    nodes = [
        helper.make_node("Constant", [], ["k"], value=k),
        helper.make_node("Gather", ["w", "k"], ["g"], domain=""),
        helper.make_node("Add", ["x", "g"], ["y"], name=""),
    ]
    x, y = (helper.make_tensor_value_info(name, 1, ["N"]) for name in "xy")
    x.type.denotation = "IMAGE"
    x.type.tensor_type.shape.dim[0].denotation = "DATA_BATCH"
    graph = helper.make_graph(nodes, "g", [x], [y], [w], doc_string="")
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)

    def visit(message: object) -> None:
        message.MergeFromString(b"\xa0\xfa\x01\x2a")  # type: ignore[attr-defined]
        for field, value in message.ListFields():  # type: ignore[attr-defined]
            if field.type == field.TYPE_MESSAGE:
                for one in value if hasattr(value, "__len__") else [value]:
                    visit(one)

    if is_ordered:
        return model.SerializeToString()
    visit(model)
    head = onnx.ModelProto(producer_version="before the graph").SerializeToString()
    metadata = onnx.ModelProto()
    metadata.metadata_props.add(key="a", value="b")
    return metadata.SerializeToString() + head + model.SerializeToString()


def check(data: bytes, folder: pathlib.Path) -> None:
    model = sardonyx.load(data, check=False)
    assert model.to_bytes() == data
    model.save(folder / "saved.onnx")
    assert (folder / "saved.onnx").read_bytes() == data


def test_models_of_others(tmp_path: pathlib.Path) -> None:
    for _, (data, _) in sorted(backend_cases().items())[::STRIDE]:
        check(data, tmp_path)
    for path in (*shipped().values(), *real().values()):
        check(pathlib.Path(path).read_bytes(), tmp_path)


def test_unusual_bytes(tmp_path: pathlib.Path) -> None:
    data = unusual()
    check(data, tmp_path)
    path = tmp_path / "saved.onnx"
    model = sardonyx.load(path)
    model.save(path)  # onto the file that it is mapped from
    assert path.read_bytes() == data == model.to_bytes()
    assert run("convert", path, "-o", "-") == data
    assert run("convert", "-", "-o", "-", data=data) == data
    for other in (model.copy(), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert other.to_bytes() == data
    run("decompile", path, "-o", tmp_path / "script.py")
    run("build", tmp_path / "script.py", "--like", path, "-o", tmp_path / "again.onnx")
    assert (tmp_path / "again.onnx").read_bytes() == data


def test_exact_scripts(tmp_path: pathlib.Path) -> None:
    """Lists of elements, denotations and empty texts come back from a script, too; another order
    of fields does not, and then the table has the model as it is written anew."""
    data = unusual(is_ordered=True)
    metadata = onnx.ModelProto()
    metadata.metadata_props.add(key="a", value="b")
    other_order = metadata.SerializeToString() + data
    path, script, again = (tmp_path / name for name in ("m.onnx", "m.py", "again.onnx"))
    for given in (data, other_order):
        path.write_bytes(given)
        run("decompile", path, "--exact", "-o", script)
        run("build", script, "-o", again)
        assert (again.read_bytes() == data) == (given == data)
        assert sardonyx.load(again) == sardonyx.load(path)


def set_metadata(model: sardonyx.Model) -> None:
    model.metadata = {"a": "c"}


def set_name(model: sardonyx.Model) -> None:
    model.graph["g"].name = "h"


def set_weight(model: sardonyx.Model) -> None:
    model.graph["w"].const_value = np.array([1, 2, 4], np.float32)


def set_attribute(model: sardonyx.Model) -> None:
    model.graph.nodes[1].attributes["axis"] = -1


def set_doc(model: sardonyx.Model) -> None:
    model.graph.nodes[1].doc = "gathers"


def add_node(model: sardonyx.Model) -> None:
    model.graph.append("Neg", [model.graph["y"]])


def infer(model: sardonyx.Model) -> None:
    assert model.infer() == []


EDITS: list[Callable[[sardonyx.Model], None]] = [
    set_metadata, set_name, set_weight, set_attribute, set_doc, add_node, infer,
]  # fmt: skip


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_is_written(edit: Callable[[sardonyx.Model], None]) -> None:
    data = unusual()
    model = sardonyx.load(data)
    assert model.to_bytes() == data
    edit(model)
    changed = model.to_bytes()
    assert changed != data
    assert sardonyx.load(changed) == model != sardonyx.load(data)


def test_an_edit_that_is_taken_back() -> None:
    data = unusual()
    model = sardonyx.load(data)
    node = model.graph.append("Neg", [model.graph["y"]])
    assert model.to_bytes() != data
    model.graph.remove(node)
    assert model.to_bytes() == data


def test_weights_beside_the_model(tmp_path: pathlib.Path) -> None:
    """The bytes of such a model are nothing without their folder: they are written anew."""
    path = tmp_path / "m.onnx"
    sardonyx.load(unusual()).save(path, external_bytes=1)
    model = sardonyx.load(path)
    assert model.to_bytes() != path.read_bytes()
    assert sardonyx.load(model.to_bytes()) == sardonyx.load(unusual())
