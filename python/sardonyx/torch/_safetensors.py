"""Writing .safetensors files: the length of a header in JSON, the header, the elements."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Mapping
from typing import Any

_NAMES = {
    "float32": "F32", "float64": "F64", "float16": "F16", "bfloat16": "BF16", "bool": "BOOL",
    "uint8": "U8", "int8": "I8", "uint16": "U16", "int16": "I16", "uint32": "U32", "int32": "I32",
    "uint64": "U64", "int64": "I64", "float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2",
}  # fmt: skip
_ALIGNMENT = 64


def write_safetensors(path: pathlib.Path, arrays: Mapping[str, Any]) -> None:
    """Writes the arrays, those with large elements first, so that all are aligned."""
    ordered = sorted(arrays.items(), key=lambda item: -item[1].dtype.itemsize)
    header, at = {}, 0
    for name, array in ordered:
        header[name] = {
            "dtype": _NAMES[array.dtype.name],
            "shape": list(array.shape),
            "data_offsets": [at, at + array.nbytes],
        }
        at += array.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-(len(text) + 8) % _ALIGNMENT)
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for _, array in ordered:
            file.write(array.tobytes())
