"""Each operator of prims beside PyTorch: called by itself, converted, run and compared."""

from __future__ import annotations

import inspect
import types
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import opinfo  # noqa: E402
from page import WITHOUT_PRIMS  # noqa: E402
from sardonyx._core import is_left_out  # noqa: E402
from sardonyx.torch import aten  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]

X = torch.tensor([[0.25, -0.5, 0.75], [0.1, 0.9, -0.3]])
P = torch.tensor([[0.25, 0.5, 0.75], [1.5, 2.9, 3.3]])
I = torch.tensor([[12, -7, 0], [18, 5, 3]])  # noqa: E741
J = torch.tensor([[8, 3, 4], [27, 2, 1]])
Z = torch.complex(X, P)
PLAIN = {"dtype": torch.float32, "device": torch.device("cpu"), "requires_grad": False}

# One-tensor operators that are defined for all of X, or for positive numbers.
OF_ONE = (
    "abs", "acos", "asin", "asinh", "atan", "atanh", "bessel_i0", "bessel_i0e", "bessel_i1",
    "bessel_i1e", "bessel_j0", "bessel_j1", "cbrt", "ceil", "clone", "cos", "cosh", "erf",
    "erf_inv", "erfc", "erfcx", "exp", "exp2", "expm1", "floor", "frexp", "isfinite", "neg",
    "reciprocal", "round", "sign", "sin", "sinh", "spherical_bessel_j0", "tan", "tanh",
    "trunc", "view_of",
)  # fmt: skip
OF_POSITIVE = ("digamma", "lgamma", "log", "log10", "log1p", "log2", "rsqrt", "sqrt")
OF_TWO = (
    "add", "atan2", "div", "eq", "fmax", "fmin", "ge", "gt", "hypot", "le", "lt", "maximum",
    "minimum", "mul", "ne", "nextafter", "sub", "remainder", "fmod",
)  # fmt: skip
OF_INTS = (
    "add", "bitwise_and", "bitwise_or", "bitwise_xor", "div", "eq", "ge", "gcd", "mul",
    "remainder", "fmod", "sub",
)  # fmt: skip
OTHERS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("acosh", (P + 1.0,), {}),
    ("amax", (X, [1]), {}),
    ("amin", (X, [0]), {}),
    ("as_strided", (X, [2, 2], [1, 3], 1), {}),
    ("as_strided_scatter", (X, P[:, :2].contiguous(), [2, 2], [1, 3], 1), {}),
    ("bitwise_not", (I,), {}),
    ("broadcast_in_dim", (X, [2, 4, 3], [0, 2]), {}),
    ("cat", ([X, P], 1), {}),
    ("collapse", (X, 0, 1), {}),
    ("collapse_view", (X.reshape(2, 3, 1), 1, 2), {}),
    ("conj", (Z,), {}),
    ("conj_physical", (Z,), {}),
    ("convert_element_type", (P, torch.int64), {}),
    ("convert_element_type", (I, torch.float64), {}),
    ("copy_strided", (X, [3, 1]), {}),
    ("device_put", (X, torch.device("cpu")), {}),
    ("empty", ([2, 3],), PLAIN),
    ("empty_permuted", ([2, 3], [1, 0]), PLAIN),
    ("empty_strided", ([2, 3], [3, 1]), PLAIN),
    ("fft_c2c", (Z,), {"dim": [0, 1], "forward": True}),
    ("fft_c2c", (Z,), {"dim": [1], "forward": False}),
    ("fft_c2r", (Z,), {"dim": [0, 1], "last_dim_size": 4}),
    ("fft_r2c", (X,), {"dim": [0, 1], "onesided": True}),
    ("fft_r2c", (X,), {"dim": [1], "onesided": False}),
    ("fill", (X, 2.5), {}),
    ("full", ([2, 3], 1.5), PLAIN),
    ("full_like", (X, 4.0), PLAIN),
    ("igamma", (P, P + 0.5), {}),
    ("igammac", (P, P + 0.5), {}),
    ("imag", (Z,), {}),
    ("iota", (5,), PLAIN | {"start": 3, "step": 2, "dtype": torch.int64}),
    ("iota", (4,), PLAIN | {"start": 0, "step": -1, "dtype": torch.int32}),
    ("ndtri", (P / 4.0,), {}),
    ("normal", ([2, 3],), PLAIN | {"mean": 1.0, "std": 2.0}),
    ("pow", (P, X), {}),
    ("prod", (X, [0, 1]), {}),
    ("real", (Z,), {}),
    ("reshape", (X, [3, 2]), {}),
    ("rev", (X, [1]), {}),
    ("scalar_tensor", (2.5,), {"dtype": torch.float64, "device": torch.device("cpu")}),
    ("shift_left", (J, torch.ones_like(J)), {}),
    ("shift_right_arithmetic", (J, torch.ones_like(J)), {}),
    ("split_dim", (X, 1, 3), {}),
    ("squeeze", (X.reshape(1, 2, 1, 3), [0, 2]), {}),
    ("squeeze", (X, []), {}),
    ("sum", (X, [0]), {}),
    ("svd", (X,), {"full_matrices": False}),
    ("transpose", (X.reshape(1, 2, 3), [2, 0, 1]), {}),
    ("uniform", ([2, 3],), {"low": 1.0, "high": 2.0, "stride": [3, 1]} | PLAIN),
    ("var", (X, [1], 1.0), {}),
    ("where", (X > 0, X, P), {}),
    ("zeta", (P + 1.5, P), {}),
]
CALLS = [
    *[(name, (X,), {}) for name in OF_ONE],
    *[(name, (P,), {}) for name in OF_POSITIVE],
    *[(name, (X, P), {}) for name in OF_TWO],
    *[(name, (I, J), {}) for name in OF_INTS],
    *OTHERS,
]
DRAWN = {"normal", "uniform", "empty", "empty_permuted", "empty_strided"}
# They write in place: test_writes has them.
WRITERS = {"copy_to", "resize"}
# PyTorch captures a FLOAT where it computes a BOOL.
MISTYPED = {"signbit"}
ALL = {
    name for name in dir(torch.ops.prims) if hasattr(getattr(torch.ops.prims, name), "overloads")
}


def operator_of(name: str) -> Any:
    found = getattr(torch.ops.prims, name).default
    if name == "svd":  # vectors have either sign
        return lambda *args, **kwargs: found(*args, **kwargs)[1]
    if name == "uniform":
        return lambda *args, **kwargs: found(
            *args, **{key: one for key, one in kwargs.items() if key != "requires_grad"}
        )
    return found


def test_every_one_is_tried_or_has_a_reason() -> None:
    tried = {name for name, _, _ in CALLS}
    assert not tried & set(WITHOUT_PRIMS)
    assert tried | set(WITHOUT_PRIMS) | WRITERS | MISTYPED | {"item"} == ALL


@pytest.mark.parametrize("call", CALLS, ids=[f"{i}-{one[0]}" for i, one in enumerate(CALLS)])
def test_equal_to_torch(call: tuple[str, tuple[Any, ...], dict[str, Any]]) -> None:
    name, args, kwargs = call
    sample = types.SimpleNamespace(input=args[0], args=args[1:], kwargs=kwargs)
    found = opinfo.try_sample(operator_of(name), sample, name in DRAWN)
    assert found.kind == "right", found.reason


def test_parameters_are_those_of_the_schemas() -> None:
    for key, (_, function) in aten.overloads().items():
        if not key.startswith("prims::"):
            continue
        schema = getattr(torch.ops.prims, key[7:].partition(".")[0]).default._schema
        wanted = [one.name for one in schema.arguments if not is_left_out(one.name)]
        ours = list(inspect.signature(function.__wrapped__).parameters)
        assert [one for one in ours if one in wanted] == wanted, key


def test_writes() -> None:
    def function(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        a = torch.ops.aten.clone.default(x)
        view = torch.ops.prims.transpose.default(a, [1, 0])
        row = torch.ops.prims.view_of.default(view)
        torch.ops.prims.copy_to.default(row, y)
        return a * 2.0

    sample = types.SimpleNamespace(input=X, args=(P.T.contiguous(),), kwargs={})
    found = opinfo.try_sample(function, sample)
    assert found.kind == "right", found.reason
