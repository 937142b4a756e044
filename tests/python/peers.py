"""The peers that tests compare with."""

from __future__ import annotations

from typing import Any


def ort_session(data: bytes) -> Any:
    """ONNX Runtime on one thread, since a session of many takes long to make, and without a log."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
