"""float16, bfloat16 and the types of 8 bits and below, bit for bit against NumPy and ml_dtypes."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import onnx
import onnx.helper
import onnx.numpy_helper
import pytest

from places import BUILD
from tool import ask_all

# NumPy warns of overflow and of signalling nans, both wanted here.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

TOOL = BUILD / "sdx_types_tool"

# The bits of a code and the type that NumPy knows it by.
TYPES: dict[str, tuple[int, type]] = {
    "FLOAT16": (16, np.float16),
    "BFLOAT16": (16, ml_dtypes.bfloat16),
    "FLOAT8E4M3FN": (8, ml_dtypes.float8_e4m3fn),
    "FLOAT8E4M3FNUZ": (8, ml_dtypes.float8_e4m3fnuz),
    "FLOAT8E5M2": (8, ml_dtypes.float8_e5m2),
    "FLOAT8E5M2FNUZ": (8, ml_dtypes.float8_e5m2fnuz),
    "FLOAT8E8M0": (8, ml_dtypes.float8_e8m0fnu),
    "FLOAT6E2M3": (6, ml_dtypes.float6_e2m3fn),
    "FLOAT6E3M2": (6, ml_dtypes.float6_e3m2fn),
    "FLOAT4E2M1": (4, ml_dtypes.float4_e2m1fn),
}
SIXTEEN_BITS = ["FLOAT16", "BFLOAT16"]
SATURATING = [name for name in TYPES if name not in (*SIXTEEN_BITS, "FLOAT8E8M0")]
FLOAT8 = [name for name in SATURATING if TYPES[name][0] == 8]


def tool(command: str, name: str, data: bytes, *words: str) -> list[bytes]:
    (fields,) = ask_all(TOOL, [[command, name, data.hex(), *words]])
    return [bytes.fromhex(field) for field in fields]


def code_type(name: str) -> type:
    return np.uint16 if TYPES[name][0] == 16 else np.uint8


def all_codes(name: str) -> np.ndarray:
    return np.arange(1 << TYPES[name][0]).astype(code_type(name))


def encode(name: str, numbers: np.ndarray, mode: str) -> np.ndarray:
    width = "float" if numbers.dtype == np.float32 else "double"
    (codes,) = tool("encode", name, numbers.tobytes(), width, mode)
    return np.frombuffer(codes, code_type(name))


def sample(name: str) -> np.ndarray:
    """Every representable number, all halfway points, their neighbours, and random bits."""
    values = all_codes(name).view(TYPES[name][1]).astype(np.float32)
    finite = np.unique(values[np.isfinite(values)])
    halfway = ((finite[:-1].astype(np.float64) + finite[1:]) / 2).astype(np.float32)
    exact = np.concatenate([finite, halfway, finite[-1:] * np.float32(1.0625), finite * 2])
    random = np.random.default_rng(7)
    parts = [
        exact,
        np.nextafter(exact, np.float32(np.inf)),
        np.nextafter(exact, np.float32(-np.inf)),
        np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 3.4e38, -3.4e38], np.float32),
        np.array([1e-45, -1e-45, 1.1754944e-38, 1e-40], np.float32),
        random.integers(0, 1 << 32, 100_000, dtype=np.uint32).view(np.float32),
        random.normal(0, 100, 50_000).astype(np.float32),
        random.normal(0, 1e-4, 50_000).astype(np.float32),
    ]
    return np.concatenate(parts)


def assert_same_codes(numbers: np.ndarray, ours: np.ndarray, theirs: np.ndarray) -> None:
    wrong = np.flatnonzero(ours != theirs)
    shown = [(numbers[i], hex(ours[i]), hex(theirs[i])) for i in wrong[:5]]
    assert not len(wrong), f"{len(wrong)} differ: {shown}"


@pytest.mark.parametrize("name", TYPES)
def test_decode_every_code(name: str) -> None:
    codes = all_codes(name)
    (floats,) = tool("decode", name, codes.tobytes())
    ours = np.frombuffer(floats, np.float32)
    theirs = codes.view(TYPES[name][1]).astype(np.float32)
    same = (ours.view(np.uint32) == theirs.view(np.uint32)) | (np.isnan(ours) & np.isnan(theirs))
    assert same.all(), codes[~same]


@pytest.mark.parametrize("name", SIXTEEN_BITS)
@pytest.mark.parametrize("source", [np.float32, np.float64])
def test_encode_sixteen_bits(name: str, source: type) -> None:
    numbers: np.ndarray = sample(name).astype(source)
    if source == np.float64 and name == "FLOAT16":
        # Just above a tie: wrong if the number were rounded to float32 first, as ml_dtypes does.
        numbers = np.concatenate([numbers, np.nextafter(numbers, np.inf)])
    ours = encode(name, numbers, "infinite")
    theirs: np.ndarray = numbers.astype(TYPES[name][1])
    is_nan = np.isnan(numbers)
    assert np.isnan(ours.view(TYPES[name][1])[is_nan].astype(np.float32)).all()
    assert_same_codes(numbers[~is_nan], ours[~is_nan], theirs.view(np.uint16)[~is_nan])


@pytest.mark.parametrize("name", FLOAT8)
def test_encode_without_saturation(name: str) -> None:
    numbers = sample(name)
    theirs = numbers.astype(TYPES[name][1]).view(np.uint8)
    assert_same_codes(numbers, encode(name, numbers, "infinite"), theirs)


@pytest.mark.parametrize("name", SATURATING)
@pytest.mark.parametrize("source", [np.float32, np.float64])
def test_encode_with_saturation(name: str, source: type) -> None:
    numbers: np.ndarray = sample(name).astype(source)
    theirs = onnx.numpy_helper.saturate_cast(numbers, np.dtype(TYPES[name][1])).view(np.uint8)
    assert_same_codes(numbers, encode(name, numbers, "saturate"), theirs)


@pytest.mark.parametrize("mode", ["up", "down", "nearest"])
def test_encode_e8m0(mode: str) -> None:
    numbers = np.abs(sample("FLOAT8E8M0"))
    normal = numbers[(numbers >= np.finfo(np.float32).tiny) & np.isfinite(numbers)]
    theirs = onnx.numpy_helper.to_float8e8m0(normal, saturate=True, round_mode=mode)
    assert_same_codes(normal, encode("FLOAT8E8M0", normal, mode), theirs.view(np.uint8))


def test_encode_e8m0_at_the_ends() -> None:
    # The table of Cast; 2**-127 is the least number of the type, though denormal in float32.
    numbers = np.array([0.0, np.nan, np.inf, 3e38, 1e-45, 2.0**-127, 2.0**-126], np.float32)
    assert encode("FLOAT8E8M0", numbers, "up").tolist() == [0, 255, 254, 254, 0, 0, 1]
    assert encode("FLOAT8E8M0", numbers, "infinite").tolist() == [255, 255, 255, 255, 255, 0, 1]


@pytest.mark.parametrize("name", [*TYPES, "UINT2", "INT2", "UINT4", "INT4", "INT8", "UINT16"])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 5, 7, 8])
def test_tensor_bytes_as_onnx_has_them(name: str, count: int) -> None:
    values = np.array([1, 0, 1, 1, 0, 1, 0, 1][:count], np.float64)
    if name == "FLOAT8E8M0":
        values = 2.0**values
    dtype = onnx.helper.tensor_dtype_to_np_dtype(getattr(onnx.TensorProto, name))
    theirs = onnx.numpy_helper.from_array(values.astype(dtype)).raw_data
    ours, back = tool("tensor", name, values.tobytes())
    assert ours == theirs
    assert np.frombuffer(back, np.float64).tolist() == values.tolist()
