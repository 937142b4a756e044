"""The real models that `tools/dev models` fetches, with inputs as a user would give them."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

Inputs = dict[str, np.ndarray]

# 5 x 7 pixels of the characters that the pictures show, one row a line, one bit a pixel.
_GLYPHS = {
    "A": (14, 17, 17, 31, 17, 17, 17),
    "E": (31, 16, 16, 30, 16, 16, 31),
    "T": (31, 4, 4, 4, 4, 4, 4),
    "X": (17, 17, 10, 4, 10, 17, 17),
    "3": (30, 1, 1, 14, 1, 1, 30),
    "7": (31, 1, 2, 4, 8, 8, 8),
}


def models_folder() -> Path:
    """Where `tools/dev models` puts the files."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("SDX_MODELS") or Path(cache) / "sardonyx" / "models")


def picture(text: str, height: int, width: int) -> np.ndarray:
    """Black text on white with a little noise: uint8[height, width]."""
    image = np.full((height, width), 245, np.uint8)
    scale = max(1, height // 10)
    top = (height - 7 * scale) // 2
    for i, letter in enumerate(text):
        left = scale * (2 + 7 * i)
        for row, bits in enumerate(_GLYPHS[letter]):
            for column in range(5):
                if bits >> (4 - column) & 1 and left + (column + 1) * scale <= width:
                    y, x = top + row * scale, left + column * scale
                    image[y : y + scale, x : x + scale] = 20
    noise = np.random.default_rng(0).integers(0, 10, image.shape, np.uint8)
    return image - noise


def speech(samples: int) -> np.ndarray:
    """Something like vowels at 16 kHz: float32[samples] within [-1, 1]."""
    t = np.arange(samples) / 16000
    voice = sum(np.sin(2 * np.pi * 130 * k * t) / k for k in range(1, 12))
    envelope = 0.5 + 0.5 * np.sin(2 * np.pi * 3 * t)
    noise = np.random.default_rng(1).normal(0, 0.01, samples)
    return (0.2 * voice * envelope + noise).astype(np.float32)


def _text_line(height: int, width: int) -> np.ndarray:
    """A line of text as the recognisers want it: float32[1, 3, height, width] within [-1, 1]."""
    image = picture("TEXT37", height, width).astype(np.float32) / 127.5 - 1
    return np.repeat(image[None, None], 3, axis=1)


def _page(height: int, width: int) -> np.ndarray:
    """A page with three lines of text: float32[1, 3, height, width], normalised."""
    lines = [picture(text, height // 3, width) for text in ("TEXT", "AXE73", "TEA")]
    image = np.concatenate(lines).astype(np.float32) / 255
    image = np.pad(image, ((0, height - image.shape[0]), (0, 0)), constant_values=0.96)
    mean, deviation = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])
    planes = (image[None] - mean[:, None, None]) / deviation[:, None, None]
    return planes[None].astype(np.float32)


def _captcha() -> Inputs:
    return {"input1": (picture("TEXT37", 64, 300).astype(np.float32) / 255)[None, None]}


def _detected() -> Inputs:
    grey = np.concatenate([picture("TEXT37", 208, 416), picture("AXE", 208, 416)])
    return {"images": np.repeat(grey.astype(np.float32)[None, None], 3, axis=1)}


def _file_start() -> Inputs:
    """The first and last bytes of a file of C, with 256 for those that are not there."""
    text = b'#include <stdio.h>\n\nint main(void) {\n    puts("hello");\n    return 0;\n}\n'
    ends = np.full(2048, 256, np.int32)
    ends[: len(text)] = list(text)
    ends[1024 + 1024 - len(text) :] = list(text)
    return {"bytes": ends[None]}


def _spectrogram() -> Inputs:
    """A log-mel-like spectrogram of eight seconds."""
    wave = speech(16000 * 8)
    frames = np.stack([wave[i * 160 : i * 160 + 160] for i in range(800)])
    power = np.abs(np.fft.rfft(frames * np.hanning(160), axis=1))[:, :80] ** 2
    logs = np.log10(np.maximum(power, 1e-10)).T
    scaled = (np.maximum(logs, logs.max() - 8) + 4) / 4
    return {"input_features": scaled[None].astype(np.float32)}


def _voice(rate: bool = True) -> Inputs:
    inputs = {"input": speech(576)[None], "state": np.zeros((2, 1, 128), np.float32)}
    return {**inputs, "sr": np.array(16000, np.int64)} if rate else inputs


def _voices() -> Inputs:
    state = np.zeros((1, 1, 128), np.float32)
    return {"input": speech(576 * 20).reshape(20, 576), "h": state, "c": state}


@dataclass(frozen=True)
class RealModel:
    """One file and an input for it; `tolerance` is absolute and relative to the greatest value."""

    path: str
    inputs: Callable[[], Inputs]
    tolerance: float = 1e-4


_SILERO = "silero_vad/data/"
_RAPID = "rapidocr_onnxruntime/models/"

MODELS = {
    "silero_vad": RealModel(_SILERO + "silero_vad.onnx", _voice),
    "silero_vad_16k_op15": RealModel(_SILERO + "silero_vad_16k_op15.onnx", _voice),
    "silero_vad_16k_sequence": RealModel(_SILERO + "silero_vad_16k_sequence.onnx", _voices),
    # Half precision: the runtimes round at different places.
    "silero_vad_half": RealModel(_SILERO + "silero_vad_half.onnx", lambda: _voice(False), 5e-3),
    "silero_vad_op18_ifless": RealModel(_SILERO + "silero_vad_op18_ifless.onnx", _voice),
    "silero_vad_openvino_16k": RealModel(
        _SILERO + "silero_vad_openvino_16k.onnx", lambda: _voice(False)
    ),
    "magika": RealModel("magika/models/standard_v3_3/model.onnx", _file_start),
    "smart_turn": RealModel(
        "pipecat/audio/turn/smart_turn/data/smart-turn-v3.2-cpu.onnx", _spectrogram, 2e-2
    ),
    "pipecat_vad": RealModel("pipecat/audio/vad/data/silero_vad.onnx", _voice),
    "ocr_detect": RealModel(
        _RAPID + "ch_PP-OCRv4_det_infer.onnx", lambda: {"x": _page(480, 640)}, 1e-3
    ),
    "ocr_recognise": RealModel(
        _RAPID + "ch_PP-OCRv4_rec_infer.onnx", lambda: {"x": _text_line(48, 320)}, 1e-3
    ),
    "ocr_classify": RealModel(
        _RAPID + "ch_ppocr_mobile_v2.0_cls_infer.onnx", lambda: {"x": _text_line(48, 192)}, 1e-3
    ),
    "captcha": RealModel("ddddocr/common.onnx", _captcha),
    # 8-bit products: a sum that rounds to the other side moves what follows.
    "captcha_quantized": RealModel("ddddocr/common_old.onnx", _captcha, 2e-2),
    "captcha_detect": RealModel("ddddocr/common_det.onnx", _detected, 1e-3),
}
