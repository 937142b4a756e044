"""The library's element types against torch.result_type: all pairs of types and of kinds."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from sardonyx import Tensor, opset20, script  # noqa: E402
from sardonyx.torch import aten  # noqa: E402
from sardonyx.torch._capture import element_type  # noqa: E402
from sardonyx.torch._exported import array_of  # noqa: E402
from sardonyx.torch.aten import types  # noqa: E402

pytestmark = pytest.mark.torch

DTYPES = [
    torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16,
    torch.bfloat16, torch.float32, torch.float64,
]  # fmt: skip
NUMBERS = [True, 2, 2.5]


def operands() -> list[Any]:
    """A tensor with dimensions and one without of each type, and numbers."""
    tensors = [torch.ones(shape, dtype=dtype) for dtype in DTYPES for shape in ((2,), ())]
    return [*tensors, *NUMBERS]


def test_result_type_of_all_pairs() -> None:
    plain = types.result_type.__wrapped__
    for a, b in itertools.product(operands(), operands()):
        if not isinstance(a, torch.Tensor) and not isinstance(b, torch.Tensor):
            continue
        ours = plain(*[Tensor(array_of(x)) if isinstance(x, torch.Tensor) else x for x in (a, b)])
        assert ours.name == element_type(torch.result_type(a, b)), (a, b)


def test_wider_is_promote_types() -> None:
    import sardonyx

    plain = types.wider.__wrapped__
    for a, b in itertools.product(DTYPES, DTYPES):
        one, other = (getattr(sardonyx, element_type(x)).dtype for x in (a, b))
        assert plain(one, other).name == element_type(torch.promote_types(a, b)), (a, b)


@pytest.mark.parametrize("a", DTYPES, ids=str)
def test_compiled_as_eager(a: Any) -> None:
    """The compiler finds the same types, for one pair of each kind."""
    import sardonyx

    left = getattr(sardonyx, element_type(a))
    for b, shape in itertools.product((torch.int32, torch.float16, torch.bool), ((2,), ())):
        right = getattr(sardonyx, element_type(b))
        wanted = element_type(torch.result_type(torch.ones(2, dtype=a), torch.ones(shape, dtype=b)))

        @script(default_opset=opset20)
        def main(x, y):
            return aten.mul(x, y)

        dims = right[2] if shape else right
        model = main.compile(input_types=[left[2], dims])
        assert model.outputs[0][1].startswith(f"{wanted}["), (a, b, shape)
