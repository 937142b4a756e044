"""Arrays that a file prepares with NumPy: the command line computes the bytes that NumPy gives."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import onnx
import pytest

from language import HEADER, shared_compiler, shared_evaluator

# Sums, products and rounded results: the same bytes.
EXACT = {
    "sums of neighbours in pairs": "w = np.sqrt(np.arange(1, 301.0))\nA = w / w.sum()",
    "sums of rows and columns": (
        "w = np.sqrt(np.arange(1, 401.0)).reshape(20, 20)\n"
        "A = np.stack([w.sum(0), w.sum(axis=1), w.mean(axis=0), w.mean(1), np.std(w, 1), w.var(0)])"
    ),
    "sums of FLOAT": (
        "w = np.sqrt(np.arange(1, 301, dtype=np.float32)) / 7\n"
        "A = np.array([w.sum(), w.mean(), w[:20].copy().prod()]) * w[:3]"
    ),
    "sums along neighbouring axes": (
        "w = np.sqrt(np.arange(1, 601.0)).reshape(4, 15, 10)\n"
        "A = w.sum(axis=(1, 2)) + w.sum((0, 1), keepdims=True).ravel()[:4]"
    ),
    "mean of integers": "A = np.full(2, np.mean(np.arange(100) * 3))",
    "mean removed": (
        "w = np.sqrt(np.arange(6.0)).reshape(2, 3)\nA = w - w.mean(axis=1, keepdims=True)"
    ),
    "square and root": (
        "w = np.linspace(0.1, 7.3, 997)\n"
        "A = np.stack([w**2, w**0.5, w**-1, w**2.0, np.power(w, 2)])"
    ),
    "products of matrices": (
        "R = np.array([[0, -1], [1, 0]])\nw = np.arange(6.0).reshape(2, 3)\n"
        "A = R.T @ R @ w + np.dot(R, w) + np.matmul(np.eye(2), w)\nA = np.dot(A, [1, 2, 3])"
    ),
    "matrices in batches": "A = np.ones((2, 2, 3), np.float32) @ np.arange(3, dtype=np.float32)",
    "camera": (
        "K = np.array([[500.0, 0, 320.5], [0, 500, 240], [0, 0, 1]])\n"
        "A = K @ np.hstack([np.eye(3), np.array([[0.0], [0.0], [1.0]])])"
    ),
    "einsum": (
        "w = np.arange(6).reshape(2, 3)\n"
        'A = np.einsum("ij,kj->ik", w, w) + np.einsum("ii", np.eye(2, dtype=int))\n'
        'A = A[:, 0] + np.einsum("i,j->ij", [1, 2], [3, 4])[1] * np.einsum("ij->i", w)'
    ),
    "unique elements": (
        "v, i, j, n = np.unique([3.5, 1, 3.5, 2], return_index=True, return_inverse=True, "
        "return_counts=True)\nA = np.concatenate([v * n, i, j, np.unique([[2, 1], [1, 0]])])"
    ),
    "places in a sorted array": (
        "b = np.array([1, 3, 3, 5])\nA = np.stack([np.searchsorted(b, [0, 3, 6.5]), "
        'np.searchsorted(b, [0, 3, 6.5], side="right")]) + np.searchsorted(b, 4)'
    ),
    "values between points": (
        "x = np.linspace(-1, 8, 301)\nxs = np.sqrt(np.arange(1, 40.0))\n"
        "A = np.interp(x, xs, xs**2 / 7) + np.interp(2.5, [1, 2, 3], [0, 10, 40])"
    ),
    "flags of elements": (
        "A = np.isin([[1, 2], [3, 4]], [2, 4, 9]) * np.count_nonzero([[1, 0], [2.5, 0]])"
    ),
    "outer product of einsum": 'A = np.einsum("i,j->ij", np.arange(5.0), 1.0 / np.arange(1, 4))',
    "medians": (
        "W = np.array([[1.5, 2], [4, -3], [0.25, 7]])\n"
        "A = np.stack([np.median(W, axis=0), np.average(W, axis=0)]) * np.median([3, 1, 2, 8])"
    ),
    "quantiles": (
        "W = np.array([[1, 2.5, 9, 0.1], [4, 3, 7, 6]])\nP = np.percentile(W, 37.5, axis=1)\n"
        "A = np.stack([P, np.quantile(W.T, 0.9, axis=0)]) * np.percentile([3, 1, 2, 8], 25)"
    ),
    "medians of FLOAT": (
        "W = np.array([[1, 2.5], [4, 3]], np.float32)\nA = np.median(W, axis=1, keepdims=True)"
    ),
    "weighted mean": "A = np.array([1.0]) * np.average([1, 2, 4], weights=[0.5, 0.25, 0.25])",
    "norms": (
        "W = np.array([[3, 4], [5, 12]], np.float32)\n"
        "A = W / np.linalg.norm(W, axis=1, keepdims=True) + np.linalg.norm([3.0, 4.0])"
    ),
    "norm of all": "A = np.array([[1, 2], [2, 4]], np.float32) / np.linalg.norm([[1, 2], [2, 4]])",
    "cross products": "A = np.cross([[1, 2, 3], [0, 1, 0]], np.array([4, 5, 6.5], np.float32))",
    "polynomial": "A = np.polyval([0.5, -1, 3], np.arange(4)[:, None]) + np.polyval([1.5, 2], 3)",
    "polynomial of ints": "A = np.polyval([1, -1, 3], [[1, 2], [3, 4]])",
    "quarter turns": (
        "W = np.arange(6).reshape(2, 3)\n"
        "A = np.concatenate([np.rot90(W), np.rot90(W, -1), np.rot90(W, k=2).T, np.rot90(W, 4).T])"
    ),
    "rows of numbers": "A = np.r_[0:6:2, -1, [7, 8], np.array([1, 2])][:, None] + np.r_[1.5, 0:2]",
    "rows of FLOAT": "A = np.r_[np.array([1, 2], np.float32), 3, 0.5]",
    "closed grid": "A = np.mgrid[0:2, 1:7:2] + np.mgrid[0:3]",
    "open grid": "y, x = np.ogrid[0:3, -1:2]\nA = ((x**2 + y**2) <= 2).astype(np.float32)",
    "Hadamard": "H = np.array([[1, 1], [1, -1]])\nA = np.kron(H, np.kron(H, H)).astype(np.float32)",
    "binomial filter": (
        "k = np.convolve(np.convolve([1, 2, 1], [1, 1]), [1, 1], mode='same')\n"
        "A = np.outer(k, k) / 64"
    ),
    "mel filters": (
        "f = np.linspace(0, 8000, 17)\nhz = np.linspace(20.0, 7000.0, 6) ** 2 / 7000.0\n"
        "d = np.diff(hz)\ns = hz[:, None] - f[None, :]\n"
        "A = np.maximum(0, np.minimum(-s[:-2] / d[:-1, None], s[2:] / d[1:, None]))"
    ),
    "anchors": (
        "ratios = np.array([0.5, 1.0, 2.0])\nscales = np.array([8, 16, 32])\n"
        "ws = np.round(np.sqrt(256.0 / ratios))\nhs = np.round(ws * ratios)\n"
        "ws, hs = (ws[:, None] * scales).reshape(-1), (hs[:, None] * scales[None]).ravel()\n"
        "A = np.stack([-0.5 * (ws - 1), -0.5 * (hs - 1), 0.5 * (ws - 1), 0.5 * (hs - 1)], axis=1)"
    ),
    "grids": (
        "xs, ys = np.meshgrid(np.arange(4), (np.arange(3) + 0.5) * 8)\n"
        "gy, gx = np.meshgrid([0, 1, 2], range(4), indexing='ij')\n"
        "A = np.stack((xs, ys), -1).reshape(-1, 2) + np.stack([gx, gy], axis=2).reshape(12, 2)"
    ),
    "relative positions": (
        "c = np.stack(np.meshgrid(np.arange(3), np.arange(3), indexing='ij')).reshape(2, -1)\n"
        "r = (c[:, :, None] - c[:, None, :]) + 2\nA = r[0] * 5 + r[1] + np.indices((9, 9))[0]"
    ),
    "triangles": (
        "A = np.tri(4) + np.triu(np.ones((2, 4, 4)), k=1) + np.tril(np.eye(4), -1)\n"
        "A[:, np.triu_indices(4, 1)[0], np.tril_indices(4, -1)[0]] = 7"
    ),
    "diagonals": "A = np.diag(np.ones(3), k=1) + np.eye(4, k=-1) + np.diag(np.diag(np.eye(4), 0))",
    "masks": (
        "i = np.arange(6)\n"
        "A = np.logical_and(np.abs(i[:, None] - i) <= 2, np.logical_not(np.equal(i, 3)))\n"
        "A = np.where(A | np.greater(i, 4), 0.0, -1e9)"
    ),
    "quantised weights": (
        "w = np.linspace(-1, 1, 9, dtype=np.float32)\ns = np.abs(w).max() / 127\n"
        "A = np.clip(np.round(w / s), -128, 127).astype(np.int8)"
    ),
    "quantisation table": (
        "Y = np.array([[16, 11, 10], [12, 200, 14]])\n"
        "A = np.clip(np.floor((Y * 160 + 50) / 100), 1, 255).astype('uint8')"
    ),
    "zero point": (
        "w = np.array([0.1, -0.5, 0.25, 1.0], dtype='f4')\n"
        "lo, hi = min(w.min(), 0), max(w.max(), 0)\ns = (hi - lo) / 255\n"
        "z = np.uint8(np.round(-lo / s))\nA = np.clip(np.rint(w / s) + z, 0, 255).astype(np.uint8)"
    ),
    "clipped": (
        "w = np.array([-0.0, 0.0, -2.5, 3.0])\n"
        "A = np.clip(w, 0, 1) + np.clip(np.arange(4), a_min=1, a_max=None)\n"
        "A = A.clip(0.25, 2) + np.clip([1, 2, 3, 4], 2, 3).clip(min=1)"
    ),
    "signs of clipped zeros": (
        "w = np.array([-0.0, 0.0, 2.0])\nA = [np.clip(w, 0.0, 1.0), w.clip(min=0)]\n"
        "A = 1 / np.stack([*A, np.clip(np.abs(w), np.array([-0.0, 0, 1]), 3)])"
    ),
    "rounded": (
        "w = np.array([0.123456, 1.98765, -2.5, 3.5])\n"
        "A = np.round(w, 3) + np.around(w) + np.rint(w) + np.ceil(w) + np.trunc(w) + w.round(1)"
    ),
    "rounded FLOAT": "A = np.round(np.array([0.1, 1.98765, 123.456], np.float32), 2)",
    "signs": (
        "w = np.array([-3, 0, 4])\n"
        "A = np.sign(w) + np.abs(w) + abs(w) + np.negative(w) + np.square(w)\n"
        "A = A + np.sign(w / 2) + np.isnan(w / 2) + np.isfinite(w)"
    ),
    "operators as functions": (
        "w = np.arange(1, 5)\nA = np.add(w, 1) * np.subtract(2, w) / np.divide(w, 3)\n"
        "A = A + np.power(2, w) - np.mod(w, 3) + np.floor_divide(w, 2) + np.multiply(2, 3)\n"
        "A = A + np.left_shift(1, w) + np.bitwise_and(w, 1) + np.reciprocal(w / 2)"
    ),
    "degrees": (
        "A = np.deg2rad(np.array([0, 30, 90], np.float32)) * np.radians(np.linspace(1, 9, 3))"
    ),
    "accumulated": (
        "A = np.cumsum([0, 3, 4]) + np.cumsum(np.arange(6).reshape(2, 3), axis=1)\n"
        "A = A + np.cumprod(1.0 - np.linspace(1e-4, 0.02, 3))\n"
        "A = A + np.arange(6).reshape(2, 3).cumprod(0)"
    ),
    "joined": (
        "w = np.arange(3)\n"
        "A = np.append(w, 7.5) + np.concatenate([w, [1]]) + np.concat((w, w[:1]))\n"
        "A = A[:3, None] + np.column_stack([w, w * 2]) + np.atleast_2d(w[:2])"
    ),
    "rolled": (
        "w = np.arange(9).reshape(3, 3)\n"
        "A = np.roll(w, 2) + np.roll(w, (-1, 1), axis=(0, 1)) + np.fliplr(w) + np.flipud(w)"
    ),
    "axes": (
        "w = np.arange(6).reshape(1, 2, 3)\n"
        "A = np.swapaxes(w, 1, 2) + np.moveaxis(w, -1, 1) + w.swapaxes(-1, -2)"
    ),
    "padded": (
        "w = np.arange(4)\n"
        "A = np.pad(w, (1, 2), constant_values=9) + np.pad(w, (1, 2), mode='edge')\n"
        "A = A + np.pad(w, (1, 2), 'reflect') + np.pad(w, ((1, 2),), mode='wrap')"
    ),
    "places": (
        "w = np.array([0, 1, 0, 1])\n"
        "A = np.nonzero(w)[0] + np.where(w > 0)[0] + np.flatnonzero(w)\n"
        "A = A + np.take(np.arange(10) * 2, [1, -3]) + np.take(np.eye(3), [0, 2], axis=1)[0]"
    ),
    "parts": (
        "a, b = np.split(np.arange(8), 2)\nA = a[:2] + b[1:3] + np.array_split(np.arange(7), 3)[1]"
    ),
    "ranges": (
        "A = np.arange(start=2, stop=10, step=3) + np.arange(3, step=1)\n"
        "A = A + np.arange(0, 0.75, 0.25, dtype=np.float32)"
    ),
    "range of FLOAT": "A = np.arange(0, 3, 0.1, dtype=np.float32)",
    "made by keyword": (
        "A = np.zeros(shape=(2, 2), dtype='float32') + np.ones(shape=2, dtype='i4')\n"
        "A = A + np.full(shape=2, fill_value=3) + np.array([1, 2], np.dtype('float64'))"
    ),
    "filled later": (
        "A = np.empty((2, 3), np.float32)\nA[:] = 2\np = np.array([2, 0, 1])\n"
        "i = np.empty_like(p)\ni[p] = np.arange(3)\nA *= i"
    ),
    "triangular window": "A = np.bartlett(9)",
    "shifted windows": (
        "m = np.zeros((1, 8, 8, 1))\nn = 0\n"
        "parts = (slice(0, -4), slice(-4, -2), slice(-2, None))\nfor h in parts:\n"
        "    for w in parts:\n        m[:, h, w, :] = n\n        n += 1\n"
        "m = m.reshape(1, 2, 4, 2, 4, 1).transpose(0, 1, 3, 2, 4, 5).reshape(-1, 16)\n"
        "A = np.where(m[:, None, :] - m[:, :, None] != 0, -100, 0.0)"
    ),
}

# Functions of the C library, of which NumPy has its own.
CLOSE = {
    "positions": (
        "p, i = np.arange(16)[:, None], np.arange(8)[None, :]\n"
        "a = p / np.power(10000, (2 * (i // 2)) / np.float32(8))\nA = np.zeros((16, 8))\n"
        "A[:, 0::2] = np.sin(a[:, 0::2])\nA[:, 1::2] = np.cos(a[:, 1::2])"
    ),
    "rotary": (
        "inv = 1.0 / (10000 ** (np.arange(0, 8, 2) / 8))\n"
        "f = np.einsum('i,j->ij', np.arange(16), inv)\nA = np.cos(np.concatenate((f, f), axis=-1))"
    ),
    "Gaussian": (
        "x = np.arange(-7, 8)\nk = np.exp(-0.5 * (x / 1.5) ** 2)\nk /= k.sum()\nA = np.outer(k, k)"
    ),
    "softmax": "x = np.linspace(0, 3, 40)\ne = np.exp(x - x.max())\nA = e / e.sum()",
    "DCT": (
        "n = np.arange(8)\nA = np.cos(np.pi / 8 * (n + 0.5) * n[:, None])\n"
        "A[0] *= 1 / math.sqrt(2)\nA = A * np.sqrt(2 / 8)"
    ),
    "windows": (
        "A = np.hanning(16) + np.hamming(16) * np.blackman(16) + "
        "np.hanning(1) + np.logspace(0, 3, 16)"
    ),
    "low-pass": "n = np.arange(9) - 4\nh = np.sinc(0.5 * n) * np.hamming(9)\nA = h / np.sum(h)",
    "companding": (
        "x = np.linspace(-1, 1, 9)\nA = np.sign(x) * np.log1p(255 * np.abs(x)) / np.log1p(255)\n"
        "A = A + np.arctan2(x, 2) + np.arctan(x) + np.hypot(x, 1)"
    ),
}

REFUSED = {
    "rounded product": "a = np.array([[0.1, 0.7], [0.3, 0.9]])\nA = a @ a",
    "rounded einsum": 'A = np.einsum("ij,kj->ik", np.eye(2) * 0.1 + 0.3, np.eye(2) + 0.7)',
    "rounded sum of turned axes": (
        "A = np.full(2, (np.sqrt(np.arange(400.0)).reshape(20, 20).T * 2).sum())"
    ),
    "negative power": "A = np.array([2, 3]) ** np.array([-1, 1])",
    "power of flags": "A = np.array([True, False]) ** 2",
    "other keyword": "A = np.array([1, 2], ndmin=2)",
    "text": "A = np.array([1, 2], dtype=str)",
    "integers without fractions": "A = np.floor(np.arange(3))",
}


def compiled(text: str) -> tuple[list[str], bytes]:
    script = "@script(default_opset=op)\ndef f():\n    return op.Identity(A)\n"
    return shared_compiler().compile(
        HEADER.replace("onnxscript", "sardonyx") + text + "\n" + script, "f"
    )


def both(text: str) -> tuple[np.ndarray, np.ndarray]:
    names: dict[str, Any] = {"np": np, "math": math}
    with np.errstate(all="ignore"):
        exec(text, names)
    answer, data = compiled(text)
    assert answer[0] == "ok", answer
    got = np.asarray(shared_evaluator().run(onnx.load_from_string(data), {})[0])
    expected = np.asarray(names["A"])
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
    return got, expected


@pytest.mark.parametrize("name", EXACT)
def test_exact(name: str) -> None:
    got, expected = both(EXACT[name])
    assert got.tobytes() == np.ascontiguousarray(expected).tobytes(), (got, expected)


@pytest.mark.parametrize("name", CLOSE)
def test_close(name: str) -> None:
    got, expected = both(CLOSE[name])
    np.testing.assert_allclose(got, expected, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    answer, _ = compiled(REFUSED[name])
    assert answer[0] == "error", answer
