"""`python -m sardonyx._peer RUNTIME MODEL FOLDER`: every value that another runtime computes.

For `sardonyx run --compare`. FOLDER/ begins a path: inputs are FOLDER/input_0.npy, ... with their
names, one a line, in FOLDER/input.txt; the tensors of the main graph go to FOLDER/value_0.npy, ...
and their names to FOLDER/value.txt.
"""

import sys
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Values = dict[str, Any]


def _names(model: "Any") -> "list[str]":
    outputs = (name for node in model.graph.node for name in node.output)
    return [name for name in outputs if name]


def _onnxruntime(path: str, inputs: "Values") -> "Values":
    import onnx
    import onnxruntime

    # The weights stay where they are: the session finds them beside the file.
    model = onnx.load(path, load_external_data=False)
    names = _names(model)
    del model.graph.output[:]
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    # As the nodes say, one by one.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.add_session_config_entry(
        "session.model_external_initializers_file_folder_path", str(Path(path).resolve().parent)
    )
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return dict(zip(names, session.run(names, inputs), strict=True))


def _reference(path: str, inputs: "Values") -> "Values":
    import onnx
    import onnx.reference

    model = onnx.load(path)
    values: Any = onnx.reference.ReferenceEvaluator(model).run(None, inputs, intermediate=True)
    return {name: values[name] for name in _names(model) if name in values}


RUNTIMES = {"onnxruntime": _onnxruntime, "reference": _reference}


def main(runtime: str, model: str, folder: str) -> None:
    """Reads the inputs, runs the model, writes the values."""
    import numpy as np

    given = (Path(folder) / "input.txt").read_text().splitlines()
    inputs = {name: np.load(f"{folder}/input_{i}.npy") for i, name in enumerate(given)}
    values = RUNTIMES[runtime](model, inputs)
    kept = [name for name, value in values.items() if isinstance(value, np.ndarray | np.generic)]
    for i, name in enumerate(kept):
        np.save(f"{folder}/value_{i}.npy", np.asarray(values[name]), allow_pickle=False)
    (Path(folder) / "value.txt").write_text("".join(name + "\n" for name in kept))


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except Exception as error:
        sys.exit(" ".join(f"{type(error).__name__}: {error}".split()))
