"""Operators that write into a parameter `out`, and which overload has their form without it."""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import sardonyx.torch  # noqa: E402
from sardonyx._core import form_without_outs, functional_overload  # noqa: E402
from sardonyx.torch import aten  # noqa: E402
from test_corners import Module  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]


def into_a_view(x: Any) -> Any:
    y = torch.zeros(4, 3)
    torch.add(x, 1, out=y[1:3])
    return y


def of_another_type(x: Any) -> Any:
    y, z = torch.empty(2, 3, dtype=torch.float64), torch.empty(2, 3, dtype=torch.float64)
    torch.mul(x, 3, out=y)
    torch.exp(x, out=z)
    return y, z


def without_elements(x: Any) -> Any:
    y = torch.empty(0)
    torch.cat([x, x], out=y)
    return y


def reduced(x: Any) -> Any:
    y, z, most = torch.empty(2, 2), torch.empty(2), torch.empty(2)
    torch.matmul(x, x.T, out=y)
    torch.sum(x, 1, out=z)
    torch.mean(x, 1, out=most)
    return y @ z + most


def what_is_given_back(x: Any) -> Any:
    y = x.clone()
    same = torch.exp(x, out=y)
    same.add_(1)
    return y


def what_is_read(x: Any) -> Any:
    y = x.clone()
    torch.clamp(y, 0, 1, out=y)
    torch.where(x > 0, x, y, out=y)
    torch.maximum(y, x * 2, out=y)
    return y


def complex_numbers(x: Any) -> Any:
    y = torch.complex(x, x)
    torch.mul(y, 1j, out=y)
    return torch.view_as_real(y)


CASES: list[Callable[[Any], Any]] = [
    into_a_view, of_another_type, without_elements, reduced, what_is_given_back, what_is_read,
    complex_numbers,
]  # fmt: skip


@pytest.mark.parametrize("function", CASES)
def test_out(function: Callable[[Any], Any], tmp_path: pathlib.Path) -> None:
    torch.manual_seed(0)
    x = torch.randn(2, 3)
    program = torch.export.export(Module(function), (x,))
    torch.export.save(program, tmp_path / "model.pt2")
    wanted = function(x)
    for source in (program, tmp_path / "model.pt2"):
        found = sardonyx.torch.convert(source).compile()(x.numpy())
        pairs = zip(found, wanted, strict=True) if isinstance(wanted, tuple) else [(found, wanted)]
        for ours, one in pairs:
            assert np.asarray(ours).dtype == one.numpy().dtype
            np.testing.assert_allclose(np.asarray(ours), one.numpy(), rtol=1e-5, atol=1e-6)


def both(x: Any) -> Any:
    values, places = torch.empty(2), torch.empty(2, dtype=torch.int64)
    torch.max(x, 1, out=(values, places))
    least = torch.min(x, 1, keepdim=True, out=(torch.empty(2, 1), torch.empty(2, 1).long()))
    return values, places, *least


def what_they_give_back(x: Any) -> Any:
    values, places = torch.empty(0), torch.empty(0, dtype=torch.int64)
    found = torch.sort(x, 1, descending=True, out=(values, places))
    found.values.add_(1)
    found[1].mul_(2)
    return values, places, found.indices + 1


def both_into_views(x: Any) -> Any:
    y, places = torch.zeros(4, 2), torch.zeros(2, 2, dtype=torch.int64)
    torch.topk(x, 2, out=(y[1:3], places))
    return y, places


def running(x: Any) -> Any:
    y = x.clone()
    torch.cummax(y, 1, out=(y, torch.empty(2, 3, dtype=torch.int64)))
    low, high = torch.empty(()), torch.empty(())
    torch.aminmax(y, out=(low, high))
    return y, low, high


def factors(x: Any) -> Any:
    a = torch.complex(x[:, :2], x[:, 1:])
    q, r = torch.empty_like(a), torch.empty_like(a)
    torch.linalg.qr(a, out=(q, r))
    sign, size = torch.empty(()), torch.empty(())
    torch.linalg.slogdet(x[:, :2], out=(sign, size))
    return torch.view_as_real(q @ r), sign, size


@pytest.mark.parametrize(
    "function", [both, what_they_give_back, both_into_views, running, factors]
)  # fmt: skip
def test_several(function: Callable[[Any], Any], tmp_path: pathlib.Path) -> None:
    test_out(function, tmp_path)


def test_forms_of_several_are_those_of_the_schemas() -> None:
    """The overload without them gives, in this order, what they get, of the same other values."""
    known, checked = aten.overloads(), 0
    for schema in torch._C._jit_get_all_schemas():
        name = f"{schema.name}.{schema.overload_name or 'default'}"
        outs = written(schema)
        form = form_without_outs(name)
        assert not form or len(outs) > 1
        if form:
            checked += 1
            assert form in known
            packet, _, overload = form.removeprefix("aten::").partition(".")
            plain = getattr(getattr(torch.ops.aten, packet), overload)._schema
            assert rest(plain) == rest(schema) and len(plain.returns) == len(outs)
            names = [one.name for one in plain.returns]
            assert names == [one.name for one in schema.returns]
    assert checked > 25


def written(schema: Any) -> list[Any]:
    return [
        one for one in schema.arguments
        if one.kwarg_only and one.alias_info is not None and one.alias_info.is_write
    ]  # fmt: skip


def rest(schema: Any) -> list[tuple[str, str]]:
    """The other parameters, without those that mean nothing in a graph or are part of `out`."""
    names = {one.name for one in written(schema)} | {
        "dtype", "layout", "device", "pin_memory", "memory_format"
    }  # fmt: skip
    return [(one.name, str(one.type)) for one in schema.arguments if one.name not in names]


def test_forms_are_those_of_the_schemas() -> None:
    """The overload without `out` has the same other parameters."""
    known = aten.overloads()
    found, checked = [], 0
    for name in dir(torch.ops.aten):
        packet = getattr(torch.ops.aten, name)
        if not isinstance(packet, torch._ops.OpOverloadPacket):
            continue
        schemas = {one: getattr(packet, one)._schema for one in packet.overloads()}
        for overload, schema in schemas.items():
            if [one.name for one in written(schema)] != ["out"]:
                continue
            form = functional_overload(f"aten::{name}.{overload}", known)
            if form not in known:
                continue  # it is refused
            checked += 1
            plain = schemas.get(form.partition(".")[2])
            if plain is None or written(plain) or rest(plain) != rest(schema):
                found.append(f"{name}.{overload}: {form}")
    assert not found, "\n".join(found)
    assert checked > 350
