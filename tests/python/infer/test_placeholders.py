"""Names of dimensions that exporters write for sizes that they do not know name no size."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
import sardonyx
from onnx import TensorProto, helper


@pytest.mark.parametrize("name", ["?", "None", "unknown", "dynamic", "-1"])
def test_sizes_of_one_placeholder_may_differ(name: str) -> None:
    def typed(value: str) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(value, TensorProto.FLOAT, [name, name])

    def bare(value: str) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(value, TensorProto.FLOAT, None)

    nodes = [
        helper.make_node("Add", ["x", "y"], ["z"]),
        helper.make_node("Shape", ["x"], ["a"]),
        helper.make_node("Shape", ["y"], ["b"]),
        helper.make_node("Equal", ["a", "b"], ["same"]),
    ]
    same = helper.make_tensor_value_info("same", TensorProto.BOOL, [2])
    graph = helper.make_graph(nodes, "g", [typed("x"), typed("y")], [bare("z"), same])
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    model = sardonyx.load(proto.SerializeToString())
    assert model.to_bytes() == proto.SerializeToString()
    model.infer()
    assert name not in str(model.graph.outputs[0].type)
    x, y = np.ones((2, 1), np.float32), np.ones((1, 3), np.float32)
    z, equal = model.run({"x": x, "y": y})
    assert z.shape == (2, 3)
    assert equal.tolist() == [False, False]
    # The names come back, as they were written.
    again = onnx.load_from_string(model.to_bytes()).graph.input[0].type.tensor_type.shape
    assert [dim.dim_param for dim in again.dim] == [name, name]
