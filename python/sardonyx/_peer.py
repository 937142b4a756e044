"""`python -m sardonyx._peer RUNTIME MODEL FOLDER`: every value that another runtime computes.

For `sardonyx run --compare`. FOLDER/ begins a path: inputs are FOLDER/input_0.npy, ... with their
names, one a line, in FOLDER/input.txt; the tensors of the main graph go to FOLDER/value_0.npy, ...
and their names to FOLDER/value.txt. Values are written as they are made and not kept, so that the
memory is that of a run, whatever the number of nodes.
"""

import sys
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Values = dict[str, Any]

# The most values that one session returns, in bytes.
_PIECE_BYTES = 1 << 26


def _onnxruntime(path: str, inputs: "Values") -> "Iterator[tuple[str, Any]]":
    """Sessions one after the other, each with the next few values as its outputs."""
    import onnx
    import onnxruntime

    # The weights stay where they are: the session finds them beside the file.
    model = onnx.load(path, load_external_data=False)
    names = [name for node in model.graph.node for name in node.output if name]
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    # Computes the nodes one by one.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.add_session_config_entry(
        "session.model_external_initializers_file_folder_path", str(Path(path).resolve().parent)
    )
    done, count = 0, 16
    while done < len(names):
        piece = names[done : done + count]
        del model.graph.output[:]
        model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in piece)
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        values = session.run(piece, inputs)
        yield from zip(piece, values, strict=True)
        done += len(piece)
        size = sum(getattr(value, "nbytes", 0) for value in values)
        count = max(1, min(len(names), len(piece) * _PIECE_BYTES // max(1, size)))


def _used(node: "Any") -> "Iterator[str]":
    """The names that a node reads, those in its bodies and those that its bodies make included."""
    yield from node.input
    for attribute in node.attribute:
        for graph in (attribute.g, *attribute.graphs):
            for inner in graph.node:
                yield from _used(inner)
            yield from (output.name for output in graph.output)


def _reference(path: str, inputs: "Values") -> "Iterator[tuple[str, Any]]":
    """Each node as a model, with what later nodes still need."""
    import onnx
    import onnx.helper
    import onnx.numpy_helper
    import onnx.reference

    model = onnx.load(path)
    weights = {one.name: onnx.numpy_helper.to_array(one) for one in model.graph.initializer}
    live = {**weights, **inputs}
    last = {name: i for i, node in enumerate(model.graph.node) for name in _used(node)}
    for i, node in enumerate(model.graph.node):
        names = [name for name in dict.fromkeys(_used(node)) if name in live]
        outputs = [name for name in node.output if name]
        graph = onnx.helper.make_graph(
            [node],
            "node",
            [onnx.helper.make_empty_tensor_value_info(name) for name in names],
            [onnx.helper.make_empty_tensor_value_info(name) for name in outputs],
            sparse_initializer=model.graph.sparse_initializer,
        )
        part = onnx.helper.make_model(
            graph,
            opset_imports=model.opset_import,
            ir_version=model.ir_version,
            functions=model.functions,
        )
        evaluator = onnx.reference.ReferenceEvaluator(part)
        made = evaluator.run(None, {name: live[name] for name in names})
        for name, value in zip(outputs, made, strict=True):
            live[name] = value
            yield name, value
        for name in (*names, *outputs):
            if last.get(name, i) == i:
                del live[name]


RUNTIMES = {"onnxruntime": _onnxruntime, "reference": _reference}


def main(runtime: str, model: str, folder: str) -> None:
    """Reads the inputs, runs the model, writes the values."""
    import numpy as np

    given = (Path(folder) / "input.txt").read_text().splitlines()
    inputs = {name: np.load(f"{folder}/input_{i}.npy") for i, name in enumerate(given)}
    kept: list[str] = []
    for name, value in RUNTIMES[runtime](model, inputs):
        if isinstance(value, np.ndarray | np.generic):
            path = f"{folder}/value_{len(kept)}.npy"
            np.save(path, np.asarray(value), allow_pickle=False)
            kept.append(name)
    (Path(folder) / "value.txt").write_text("".join(name + "\n" for name in kept))


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except Exception as error:
        sys.exit(" ".join(f"{type(error).__name__}: {error}".split()))
