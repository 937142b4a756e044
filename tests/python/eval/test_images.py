"""ImageDecoder on files that the node cases leave out: every form of BMP and PNM, and bad files."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest

from eval.test_node_cases import Evaluator, node_cases, run_node, to_array

pytestmark = pytest.mark.filterwarnings("ignore")

EMPTY = (0, 0, 3)


@pytest.fixture(scope="module")
def evaluator() -> Evaluator:
    return Evaluator()


def decode(evaluator: Evaluator, file: bytes, **attributes: Any) -> np.ndarray:
    data = np.frombuffer(file, "uint8")
    return run_node(evaluator, "ImageDecoder", [data], **attributes)[0]


def picture(height: int = 3, width: int = 5) -> np.ndarray:
    return np.random.default_rng(1).integers(0, 256, (height, width, 3), dtype="uint8")


# --- BMP ------------------------------------------------------------------------------------------


def rows_of(pixels: list[bytes]) -> bytes:
    """From the bottom, each padded to four bytes."""
    return b"".join(row + b"\0" * (-len(row) % 4) for row in reversed(pixels))


def bitmap(
    width: int,
    height: int,
    bits: int,
    body: bytes,
    palette: np.ndarray | None = None,
    compression: int = 0,
    masks: bytes = b"",
) -> bytes:
    colours = b"" if palette is None else b"".join(bytes([*c[::-1], 0]) for c in palette)
    count = 0 if palette is None else len(palette)
    info = struct.pack("<IiiHHIIiiII", 40, width, height, 1, bits, compression, 0, 0, 0, count, 0)
    start = 14 + len(info) + len(masks) + len(colours)
    head = b"BM" + struct.pack("<IHHI", start + len(body), 0, 0, start)
    return head + info + masks + colours + body


def packed_rows(indices: np.ndarray, bits: int) -> list[bytes]:
    wide = np.unpackbits(indices[..., None], axis=-1)[..., 8 - bits :]
    return [np.packbits(row).tobytes() for row in wide.reshape(len(indices), -1)]


@pytest.mark.parametrize("bits", [1, 4, 8])
def test_bitmap_with_palette(evaluator: Evaluator, bits: int) -> None:
    rng = np.random.default_rng(bits)
    palette = rng.integers(0, 256, (2**bits, 3), dtype="uint8")
    indices = rng.integers(0, 2**bits, (3, 11), dtype="uint8")
    file = bitmap(11, 3, bits, rows_of(packed_rows(indices, bits)), palette)
    assert np.array_equal(decode(evaluator, file), palette[indices])


def test_bitmap_of_24_and_32_bits(evaluator: Evaluator) -> None:
    image = picture()
    rows = [row[:, ::-1].tobytes() for row in image]
    assert np.array_equal(decode(evaluator, bitmap(5, 3, 24, rows_of(rows))), image)
    from_top = b"".join(row + b"\0" for row in rows)
    assert np.array_equal(decode(evaluator, bitmap(5, -3, 24, from_top)), image)
    four = np.concatenate([image[..., ::-1], np.full((3, 5, 1), 7, "uint8")], -1)
    file = bitmap(5, 3, 32, rows_of([row.tobytes() for row in four]))
    assert np.array_equal(decode(evaluator, file), image)
    masks = struct.pack("<III", 0xFF, 0xFF00, 0xFF0000)
    file = bitmap(5, 3, 32, rows_of([row.tobytes() for row in four]), compression=3, masks=masks)
    assert np.array_equal(decode(evaluator, file), image[..., ::-1])


def test_bitmap_of_16_bits(evaluator: Evaluator) -> None:
    pixels = np.array([[0x7FFF, 0x7C00, 0x03E0], [0x001F, 0, 0x4210]], "<u2")
    file = bitmap(3, 2, 16, rows_of([row.tobytes() for row in pixels]))
    parts = np.stack([pixels >> 10 & 31, pixels >> 5 & 31, pixels & 31], -1)
    assert np.array_equal(decode(evaluator, file), np.round(parts * 255 / 31).astype("uint8"))


def test_bitmap_of_runs(evaluator: Evaluator) -> None:
    palette = picture(1, 16)[0]
    body = bytes([3, 1, 0, 3, 4, 5, 6, 0, 0, 0])  # 1 1 1, then 4 5 6 as they are, end of the row
    body += bytes([2, 2, 0, 2, 1, 0, 3, 7, 0, 1])  # 2 2, one left out, 7 7 7, the end
    file = bitmap(6, 2, 8, body, palette, compression=1)
    expected = palette[[[2, 2, 0, 7, 7, 7], [1, 1, 1, 4, 5, 6]]]
    expected[0, 2] = 0
    assert np.array_equal(decode(evaluator, file), expected)
    body = bytes([5, 0x12, 0, 0, 0, 3, 0x34, 0x50, 2, 0x66, 0, 1])
    file = bitmap(5, 2, 4, body, palette, compression=2)
    expected = palette[[[3, 4, 5, 6, 6], [1, 2, 1, 2, 1]]]
    assert np.array_equal(decode(evaluator, file), expected)


# --- PNM ------------------------------------------------------------------------------------------


def test_portable_maps(evaluator: Evaluator) -> None:
    image = picture()
    head = b"\n# a comment\n5 3\n"
    texts = " ".join(str(v) for v in image.reshape(-1)).encode()
    for file in (b"P6" + head + b"255\n" + image.tobytes(), b"P3" + head + b"255\n" + texts):
        assert np.array_equal(decode(evaluator, file), image)
        assert np.array_equal(decode(evaluator, file, pixel_format="BGR"), image[..., ::-1])
    grey = image[..., 0]
    repeated = np.repeat(grey[..., None], 3, -1)
    texts = " ".join(str(v) for v in grey.reshape(-1)).encode()
    for file in (b"P5" + head + b"255\n" + grey.tobytes(), b"P2" + head + b"255\n" + texts):
        assert np.array_equal(decode(evaluator, file), repeated)
        assert np.array_equal(decode(evaluator, file, pixel_format="Grayscale"), grey[..., None])
    wide = (grey.astype(">u2") * 257).tobytes()
    assert np.array_equal(decode(evaluator, b"P5" + head + b"65535\n" + wide), repeated)
    bits = (grey > 99).astype("uint8")
    black = np.repeat(((1 - bits) * 255)[..., None], 3, -1)
    packed = np.packbits(bits, axis=1).tobytes()
    digits = "".join(str(v) for v in bits.reshape(-1)).encode()
    for file in (b"P4" + head + packed, b"P1" + head + digits):
        assert np.array_equal(decode(evaluator, file), black)


# --- Bad files ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "file",
    [
        b"",
        b"B",
        b"BM",
        b"no image at all",
        b"P6 5 3 255\n" + b"x" * 44,
        b"P6 99999999 99999999 255\n",
        b"P5 0 3 255\n",
        b"P5 3 3 0\n" + b"x" * 9,
        b"P5 3 3 70000\n" + b"x" * 18,
        bitmap(5, 3, 24, b"x" * 47),
        bitmap(5, 3, 7, b"x" * 100),
        bitmap(-5, 3, 24, b"x" * 100),
        bitmap(2**31 - 1, 2**31 - 1, 1, b"x" * 100),
        bitmap(5, -(2**31), 24, b"x" * 100),
        bitmap(6, 2, 8, bytes([0, 9, 1, 2]), compression=1),
    ],
)
def test_what_is_no_image_gives_an_empty_matrix(evaluator: Evaluator, file: bytes) -> None:
    assert decode(evaluator, file).shape == EMPTY
    assert decode(evaluator, file, pixel_format="Grayscale").shape == (0, 0, 1)


def test_damaged_files_of_every_format(evaluator: Evaluator) -> None:
    """Cut short, or with bytes changed: an image or an empty matrix, and the tool lives on."""
    rng = np.random.default_rng(3)
    for case in node_cases():
        if case.model.graph.node[0].op_type != "ImageDecoder":
            continue
        inputs, outputs = case.data_sets[0]
        file, image = to_array(inputs[0]).tobytes(), to_array(outputs[0])
        for size in (12, 30, len(file) // 2, len(file) - 20):
            got = decode(evaluator, file[:size])
            assert got.size == 0 or got.shape[:2] == image.shape[:2]
        for _ in range(20):
            damaged = bytearray(file)
            for place in rng.integers(2, len(file), 3):
                damaged[place] ^= int(rng.integers(1, 256))
            try:
                assert decode(evaluator, bytes(damaged)).dtype == np.uint8
            except RuntimeError as error:
                assert "too large" in str(error)


def test_an_unknown_pixel_format(evaluator: Evaluator) -> None:
    with pytest.raises(RuntimeError, match="pixel_format"):
        decode(evaluator, b"P5 1 1 255\nx", pixel_format="CMYK")
