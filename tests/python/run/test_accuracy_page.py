"""docs/accuracy.md: how far functions are from the true result, in units of the last place.

    python tests/python/run/test_accuracy_page.py --write    # measures, and writes the page

The test measures again and holds the numbers that the page promises. What is true is worked out by
mpmath with 60 digits, at the same points every time.
"""

from __future__ import annotations

import math
import pathlib
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import ml_dtypes
import mpmath
import numpy as np
import onnx
import pytest
import sardonyx
from mpmath import mpf
from onnx import TensorProto, helper

from peers import ort_session

PAGE = pathlib.Path(__file__).resolve().parents[3] / "docs/accuracy.md"
mpmath.mp.dps = 60

# The name of NumPy's type, its ONNX element type, bits of the fraction, the least exponent.
TYPES: dict[str, tuple[Any, int, int, int]] = {
    "float32": (np.float32, TensorProto.FLOAT, 23, -126),
    "float64": (np.float64, TensorProto.DOUBLE, 52, -1022),
    "float16": (np.float16, TensorProto.FLOAT16, 10, -14),
    "bfloat16": (ml_dtypes.bfloat16, TensorProto.BFLOAT16, 7, -126),
}
# What the page promises: the first of these that a measured error is not above.
PROMISES = (0.6, 1.1, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128, 256, 512, 1024, 4096)


class Function(NamedTuple):
    op: str
    true: Callable[[Any], Any]  # of one number, or of a row of them
    low: float  # the points are between these
    high: float
    attributes: Mapping[str, Any] = MappingProxyType({})
    numpy: Callable[[Any], Any] | None = None
    opset: int = 22
    is_of_rows: bool = False
    kinds: tuple[str, ...] = tuple(TYPES)


def normal_share(x: Any) -> Any:
    return mpmath.erfc(-x / mpmath.sqrt(2)) / 2


def gelu_tanh(x: Any) -> Any:
    inner = mpmath.sqrt(2 / mpmath.pi) * (x + mpf("0.044715") * x**3)
    return x / (1 + mpmath.exp(-2 * inner))


def softplus(x: Any) -> Any:
    return mpmath.log1p(mpmath.exp(x))


def softmax(row: list[Any]) -> list[Any]:
    powers = [mpmath.exp(x) for x in row]
    total = mpmath.fsum(powers)
    return [power / total for power in powers]


def log_sum(row: list[Any]) -> Any:
    return mpmath.log(mpmath.fsum(mpmath.exp(x) for x in row))


def centred(row: list[Any]) -> list[Any]:
    mean = mpmath.fsum(row) / len(row)
    deviation = mpmath.sqrt(
        mpmath.fsum((x - mean) ** 2 for x in row) / len(row) + mpf(float(np.float32(1e-5)))
    )
    return [(x - mean) / deviation for x in row]


def expm1_below(alpha: float, gamma: float = 1.0) -> Callable[[Any], Any]:
    a, g = mpf(float(np.float32(alpha))), mpf(float(np.float32(gamma)))
    return lambda x: g * (x if x > 0 else a * mpmath.expm1(x))


FUNCTIONS: dict[str, Function] = {
    "Exp": Function("Exp", mpmath.exp, -87, 88, numpy=np.exp),
    "Exp, far below 0": Function("Exp", mpmath.exp, -104, -87, numpy=np.exp),
    "Log": Function("Log", mpmath.log, 1e-30, 1e30, numpy=np.log),
    "Log, near 1": Function("Log", mpmath.log, 0.5, 2, numpy=np.log),
    "Sqrt": Function("Sqrt", mpmath.sqrt, 0, 1e30, numpy=np.sqrt),
    "Reciprocal": Function("Reciprocal", lambda x: 1 / x, 1e-4, 1e30, numpy=np.reciprocal),
    "Sin": Function("Sin", mpmath.sin, -1000, 1000, numpy=np.sin),
    "Cos": Function("Cos", mpmath.cos, -1000, 1000, numpy=np.cos),
    "Tan": Function("Tan", mpmath.tan, -1.5, 1.5, numpy=np.tan),
    "Asin": Function("Asin", mpmath.asin, -1, 1, numpy=np.arcsin),
    "Acos": Function("Acos", mpmath.acos, -1, 1, numpy=np.arccos),
    "Atan": Function("Atan", mpmath.atan, -100, 100, numpy=np.arctan),
    "Sinh": Function("Sinh", mpmath.sinh, -10, 10, numpy=np.sinh),
    "Cosh": Function("Cosh", mpmath.cosh, -10, 10, numpy=np.cosh),
    "Tanh": Function("Tanh", mpmath.tanh, -12, 12, numpy=np.tanh),
    "Asinh": Function("Asinh", mpmath.asinh, -1000, 1000, numpy=np.arcsinh),
    "Acosh": Function("Acosh", mpmath.acosh, 1, 1000, numpy=np.arccosh),
    "Atanh": Function("Atanh", mpmath.atanh, -0.99, 0.99, numpy=np.arctanh),
    "Erf": Function("Erf", mpmath.erf, -6, 6),
    "Sigmoid": Function("Sigmoid", lambda x: 1 / (1 + mpmath.exp(-x)), -87, 30),
    "Sigmoid, far below 0": Function("Sigmoid", lambda x: 1 / (1 + mpmath.exp(-x)), -103, -87),
    "Softplus": Function("Softplus", softplus, -80, 80),
    "Softsign": Function("Softsign", lambda x: x / (1 + abs(x)), -100, 100),
    "Elu": Function("Elu", expm1_below(1), -20, 20),
    "Selu": Function(
        "Selu",
        expm1_below(1.67326319217681884765625, 1.05070102214813232421875),
        -20,
        20,
    ),
    "Celu": Function("Celu", expm1_below(1), -20, 20, kinds=("float32",)),
    "Gelu": Function("Gelu", lambda x: x * normal_share(x), -13, 13),
    "Gelu, near 0": Function("Gelu", lambda x: x * normal_share(x), -1, 1),
    "Gelu, tanh": Function("Gelu", gelu_tanh, -6, 6, {"approximate": "tanh"}),
    "Mish": Function("Mish", lambda x: x * mpmath.tanh(softplus(x)), -20, 20),
    "Softmax": Function("Softmax", softmax, -8, 8, is_of_rows=True),
    "Softmax, far apart": Function("Softmax", softmax, -80, 10, is_of_rows=True),
    "LogSoftmax": Function(
        "LogSoftmax", lambda row: [x - log_sum(row) for x in row], -8, 8, is_of_rows=True
    ),
    "ReduceLogSumExp": Function(
        "ReduceLogSumExp", log_sum, 1, 8, {"axes": [1], "keepdims": 0}, None, 17, True
    ),
    "ReduceMean": Function(
        "ReduceMean",
        lambda row: mpmath.fsum(row) / len(row),
        1,
        2,
        {"axes": [1], "keepdims": 0},
        lambda x: x.mean(1, dtype=x.dtype),
        17,
        True,
    ),
    "ReduceL2": Function(
        "ReduceL2",
        lambda row: mpmath.sqrt(mpmath.fsum(x * x for x in row)),
        1,
        2,
        {"axes": [1], "keepdims": 0},
        lambda x: np.linalg.norm(x, axis=1),
        17,
        True,
    ),
}
# Rows of so many.
COLUMNS = 40


def points(function: Function, kind: str) -> np.ndarray:
    """Half of them evenly, half by their magnitude, as numbers of the type."""
    element = TYPES[kind][0]
    draw = np.random.default_rng(11)
    low, high = function.low, function.high
    if kind == "float16":
        low, high = max(low, -60000.0), min(high, 60000.0)
    even = draw.uniform(low, high, 200)
    magnitudes = 10 ** draw.uniform(-6, 0, 200)
    ends = np.where(draw.random(200) < 0.5, low, high)
    skewed = magnitudes * ends if low <= 0 else low * (high / low) ** draw.random(200)
    x = np.concatenate([even, skewed]).astype(element)
    return x.reshape(-1, COLUMNS) if function.is_of_rows else x


def exact(x: Any) -> Any:
    return mpf(float(x))


def truth(function: Function, x: np.ndarray) -> list[Any]:
    if not function.is_of_rows:
        return [function.true(exact(value)) for value in x]
    rows = [function.true([exact(value) for value in row]) for row in x]
    return [value for row in rows for value in (row if isinstance(row, list) else [row])]


def worst(result: np.ndarray, true: list[Any], kind: str) -> float:
    """The greatest error in units of the last place that the true result has in the type."""
    _, _, bits, least = TYPES[kind]
    greatest = 0.0
    for got, wanted in zip(result.ravel(), true, strict=True):
        value = float(got)
        if abs(wanted) > float(ml_dtypes.finfo(TYPES[kind][0]).max):
            continue  # either side of infinity
        if not math.isfinite(value):
            return math.inf
        exponent = max(int(mpmath.floor(mpmath.log(abs(wanted), 2))), least) if wanted else least
        greatest = max(greatest, float(abs(mpf(value) - wanted) / mpf(2) ** (exponent - bits)))
    return greatest


def model(function: Function, kind: str) -> bytes:
    element = TYPES[kind][1]
    x = helper.make_tensor_value_info("x", element, None)
    y = helper.make_tensor_value_info("y", element, None)
    node = helper.make_node(function.op, ["x"], ["y"], **function.attributes)
    graph = helper.make_graph([node], "g", [x], [y])
    imports = [helper.make_opsetid("", function.opset)]
    return bytes(helper.make_model(graph, opset_imports=imports, ir_version=10).SerializeToString())


def ours(function: Function, kind: str, x: np.ndarray) -> np.ndarray:
    return np.asarray(sardonyx.load(model(function, kind)).run({"x": x})[0])


def of_onnxruntime(function: Function, kind: str, x: np.ndarray) -> np.ndarray | None:
    if kind == "bfloat16":
        return None  # NumPy arrays of it do not go in
    try:
        session = ort_session(model(function, kind))
        return np.asarray(session.run(None, {"x": x})[0])
    except Exception:
        return None


def of_numpy(function: Function, _: str, x: np.ndarray) -> np.ndarray | None:
    if function.numpy is None:
        return None
    try:
        result = np.asarray(function.numpy(x))
    except TypeError:
        return None
    return result if result.dtype == x.dtype else None


class Row(NamedTuple):
    name: str
    kind: str
    ours: float
    onnxruntime: float | None
    numpy: float | None


def measure(peers: bool) -> Iterator[Row]:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for name, function in FUNCTIONS.items():
            for kind in function.kinds:
                x = points(function, kind)
                true = truth(function, x)
                errors = [worst(ours(function, kind, x), true, kind)]
                for peer in (of_onnxruntime, of_numpy):
                    result = peer(function, kind, x) if peers else None
                    errors.append(worst(result, true, kind) if result is not None else math.nan)
                yield Row(name, kind, *(None if math.isnan(e) else e for e in errors))  # type: ignore[arg-type]


def promise(error: float) -> float:
    # A tenth more, as processors round in different places; what is rounded once is so everywhere.
    return next(bound for bound in PROMISES if error <= 0.52 or 1.1 * error <= bound)


INTRODUCTION = """\
# Accuracy

This page lists the errors of functions in units in the last place (ULP) of the exact result in
its type; a correctly rounded result has an error of at most 0.5. They are measured at 400 points
of the function's range, or of the range that the table names, half of them near 0, and compared
with mpmath with 60 digits. `tools/dev accuracy --write` writes this page, and a test checks the
limits in the column "at most". The other columns are the errors of ONNX Runtime and NumPy at the
same points, if they have the function for the type.

16-bit floats are computed in float32 and rounded once, and sums in float64. float32 is computed
in float32 by vectorised loops, and in float64 where precision would be lost. Operators of
ai.onnx.ml compute in float64, apart from products of float32 in `LinearClassifier` and
`LinearRegressor` and in the kernels `POLY` and `SIGMOID` of support vector machines, whose errors
are at most 5e-7 of the sum of the magnitudes.

| function | type | at most | measured | ONNX Runtime | NumPy |
|---|---|---|---|---|---|
"""


def shown(error: float | None) -> str:
    if error is None:
        return "-"
    if math.isinf(error):
        return "infinite"
    return f"{error:.2f}" if error < 100 else f"{error:.3g}"


def page(rows: list[Row]) -> str:
    lines = [
        f"| {row.name} | {row.kind} | {promise(row.ours):g} | {shown(row.ours)} | "
        f"{shown(row.onnxruntime)} | {shown(row.numpy)} |\n"
        for row in rows
    ]
    return INTRODUCTION + "".join(lines)


def promised() -> dict[tuple[str, str], float]:
    cells = [
        line.split("|")[1:4] for line in PAGE.read_text().splitlines() if line.startswith("| ")
    ]
    return {(name.strip(), kind.strip()): float(bound) for name, kind, bound in cells[1:]}


def test_the_page_keeps_its_promises() -> None:
    bounds = promised()
    rows = list(measure(peers=False))
    assert [(row.name, row.kind) for row in rows] == list(bounds)
    broken = {
        (row.name, row.kind): row.ours for row in rows if row.ours > bounds[row.name, row.kind]
    }
    assert broken == {}


@pytest.mark.parametrize("kind", TYPES)
def test_the_measure_itself(kind: str) -> None:
    element, _, bits, _ = TYPES[kind]
    assert worst(np.array([1], element), [mpf(1)], kind) == 0
    assert worst(np.array([1], element), [mpf(1) + mpf(2) ** -bits], kind) == 1
    assert onnx.TensorProto.DataType.Name(TYPES[kind][1]).lower() in (kind, "float", "double")


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(page(list(measure(peers=True))))
    else:
        sys.exit(__doc__)
