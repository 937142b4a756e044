"""Models of a few nodes, in files."""

from __future__ import annotations

import onnx
from onnx import helper, numpy_helper


def save(path, nodes, inputs, outputs, constants=(), functions=(), opset=18):
    """Writes the model to `path`, which is given back. `inputs` are (name, element type, shape),
    `outputs` (name, element type), `constants` (name, array); functions are of the domain `here`.
    """
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info(n, t, s) for n, t, s in inputs],
        [helper.make_tensor_value_info(n, t, None) for n, t in outputs],
        [numpy_helper.from_array(array, name) for name, array in constants],
    )
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("here", 1)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=9, functions=list(functions))
    onnx.save(model, path)
    return path
