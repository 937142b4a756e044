"""Files of `torch.export.save` (.pt2), read without torch: nothing is unpickled or executed.

The file is a ZIP of stored entries: a program as JSON, and the bytes of storages, which are mapped.
"""

from __future__ import annotations

import json
import math
import mmap
import os
import struct
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np

SCHEMA = 8  # the major version that is read
_LIMIT = 1 << 30  # bytes of JSON
_REPEATED = 1 << 28  # elements of a tensor that repeats those of its storage
# torch's numbers of element types in these files -> ONNX's names.
ELEMENT_TYPES = {
    1: "UINT8", 2: "INT8", 3: "INT16", 4: "INT32", 5: "INT64", 6: "FLOAT16", 7: "FLOAT",
    8: "DOUBLE", 12: "BOOL", 13: "BFLOAT16", 28: "UINT16", 29: "FLOAT8E4M3FN", 30: "FLOAT8E5M2",
    31: "FLOAT8E4M3FNUZ", 32: "FLOAT8E5M2FNUZ", 34: "UINT32", 35: "UINT64",
}  # fmt: skip
COMPLEX_PARTS = {9: "FLOAT16", 10: "FLOAT", 11: "DOUBLE"}
_ARRAYS = {
    "UINT8": "u1", "INT8": "i1", "INT16": "i2", "INT32": "i4", "INT64": "i8", "FLOAT16": "f2",
    "FLOAT": "f4", "DOUBLE": "f8", "BOOL": "?", "UINT16": "u2", "UINT32": "u4", "UINT64": "u8",
}  # fmt: skip
_ML_DTYPES = {
    "BFLOAT16": "bfloat16", "FLOAT8E4M3FN": "float8_e4m3fn", "FLOAT8E5M2": "float8_e5m2",
    "FLOAT8E4M3FNUZ": "float8_e4m3fnuz", "FLOAT8E5M2FNUZ": "float8_e5m2fnuz",
}  # fmt: skip


class Pt2Error(ValueError):
    """A file that is no .pt2, or is damaged, or holds what is not read."""


def _numpy_type(number: int) -> np.dtype[Any]:
    name = ELEMENT_TYPES.get(number) or COMPLEX_PARTS.get(number, "")
    if name in _ML_DTYPES:
        import ml_dtypes

        found: np.dtype[Any] = np.dtype(getattr(ml_dtypes, _ML_DTYPES[name]))
        return found
    if name not in _ARRAYS:
        raise Pt2Error(f"element type {number} has no equivalent in ONNX")
    return np.dtype(_ARRAYS[name]).newbyteorder("<") if number != 12 else np.dtype("?")


def whole_number(value: Any) -> int:
    """`{"as_int": 4}` as 4; sizes of arrays are numbers."""
    found = value.get("as_int") if isinstance(value, dict) else value
    if isinstance(found, bool) or not isinstance(found, int):
        raise Pt2Error(f"{str(value)[:60]!r} where a number is expected")
    return found


class Archive:
    """The entries of a file, by their names below its root folder."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        try:
            with open(path, "rb") as file:  # noqa: PTH123
                self._bytes = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
            with zipfile.ZipFile(path) as archive:
                entries = archive.infolist()
        except (zipfile.BadZipFile, ValueError, NotImplementedError, struct.error) as error:
            raise Pt2Error(f"not a .pt2 file: {error}") from None
        self._entries: dict[str, zipfile.ZipInfo] = {}
        for one in entries:
            self._entries.setdefault(one.filename.partition("/")[2], one)

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def bytes_of(self, name: str) -> memoryview:
        """A stored entry, where it lies."""
        one = self._entries.get(name)
        if one is None:
            raise Pt2Error(f"`{name}` is missing in the file")
        if one.compress_type != zipfile.ZIP_STORED or one.flag_bits & 1:
            raise Pt2Error(f"`{name}` is compressed or encrypted, which torch does not do")
        head = self._bytes[one.header_offset : one.header_offset + 30]
        if len(head) != 30 or bytes(head[:4]) != b"PK\x03\x04":
            raise Pt2Error(f"`{name}` does not begin where the directory says")
        name_length, extra = struct.unpack("<HH", head[26:30])
        start = one.header_offset + 30 + name_length + extra
        if one.file_size != one.compress_size or start + one.file_size > len(self._bytes):
            raise Pt2Error(f"`{name}` extends beyond the end of the file")
        return self._bytes[start : start + one.file_size]

    def json_of(self, name: str) -> dict[str, Any]:
        data = self.bytes_of(name)
        if len(data) > _LIMIT:
            raise Pt2Error(f"`{name}` has more than {_LIMIT} bytes")
        try:
            found = json.loads(bytes(data))
        except (ValueError, RecursionError) as error:
            raise Pt2Error(f"`{name}` is not valid JSON: {error}") from None
        if not isinstance(found, dict):
            raise Pt2Error(f"`{name}` does not contain an object")
        return found

    def program(self) -> dict[str, Any]:
        """The JSON of the model, of a version that is known."""
        if "byteorder" in self and bytes(self.bytes_of("byteorder")) != b"little":
            raise Pt2Error("its numbers are big-endian")
        names = [name for name in self._entries if name.startswith("models/")]
        if len(names) != 1:
            raise Pt2Error(f"{len(names)} models in the file, where one is expected")
        found = self.json_of(names[0])
        version = found.get("schema_version")
        major = version.get("major") if isinstance(version, dict) else None
        if major != SCHEMA:
            raise Pt2Error(f"schema version {major}, and {SCHEMA} is read: save it with torch 2.13")
        return found

    def arrays(self, folder: str, kind: str) -> dict[str, tuple[Any, bool, str]]:
        """The tensors of a folder: their entries as (metadata, is pickled, entry's name)."""
        name = f"data/{folder}/model_{kind}_config.json"
        if name not in self:
            return {}
        found: dict[str, tuple[Any, bool, str]] = {}
        config = self.json_of(name).get("config")
        if not isinstance(config, dict):
            raise Pt2Error(f"`{name}` has no config")
        for key, one in config.items():
            if not isinstance(one, dict):
                raise Pt2Error(f"`{key}` in `{name}` is not an object")
            path = f"data/{folder}/{one.get('path_name')}"
            found[key] = (one.get("tensor_meta"), bool(one.get("use_pickle")), path)
        return found

    def array(self, meta: Mapping[str, Any], path: str) -> np.ndarray[Any, Any]:
        """A tensor: its sizes and strides over the storage; complex ones as pairs of numbers."""
        dtype = _numpy_type(whole_number(meta["dtype"]))
        count = 2 if meta["dtype"] in COMPLEX_PARTS else 1
        sizes = [whole_number(one) for one in meta["sizes"]]
        strides = [whole_number(one) for one in meta["strides"]]
        first = whole_number(meta["storage_offset"])
        if len(sizes) != len(strides) or min([0, first, *sizes, *strides]) < 0:
            raise Pt2Error(f"`{path}` has sizes {sizes} and strides {strides}")
        storage = self.bytes_of(path)
        elements = len(storage) // (dtype.itemsize * count)
        last = first + sum((n - 1) * step for n, step in zip(sizes, strides, strict=True))
        is_empty = 0 in sizes
        if math.prod(sizes) > max(elements, _REPEATED):
            raise Pt2Error(f"`{path}` has {elements} elements, and its tensor {sizes}")
        if not is_empty and last >= elements:
            raise Pt2Error(f"`{path}` has {elements} elements, and its tensor needs {last + 1}")
        flat = np.frombuffer(storage, dtype, elements * count)
        width = dtype.itemsize
        shape, steps = [*sizes], [step * count * width for step in strides]
        if count == 2:
            shape, steps = [*shape, 2], [*steps, width]
        if is_empty:
            return np.empty(shape, dtype)
        return np.lib.stride_tricks.as_strided(flat[first * count :], shape, steps, writeable=False)
