"""`sardonyx.torch.translation` in torch.onnx.export's `custom_translation_table`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

torch = pytest.importorskip("torch")

import sardonyx.torch  # noqa: E402
from sardonyx.torch import translation  # noqa: E402
from sardonyx.torch._operators import _own  # noqa: E402
from torch import nn  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]

ATEN = torch.ops.aten


class Mixed(nn.Module):
    """Numbers, lists, element types, several results, and sizes that are known in the run alone."""

    def forward(self, x: torch.Tensor, k: torch.Tensor) -> Any:
        y = torch.nn.functional.gelu(x, approximate="tanh")
        spread, middle = torch.var_mean(y, [1], correction=0, keepdim=True)
        counts = ATEN.sum.dim_IntList(k, [0], dtype=torch.int32)
        wide = (y - middle).unsqueeze(2).expand(x.shape[0], -1, 2)
        return wide * spread.unsqueeze(2), counts, torch.gcd(k, k + 6)


class Plain(nn.Module):
    """Results that are an argument as it is, or a constant; lists of tensors with holes."""

    def forward(self, x: torch.Tensor, k: torch.Tensor) -> Any:
        return x.clone(), torch.full((2, 2), 7.0), x[:, k], torch.cat([x, x + 1.0])


TABLE = [
    ATEN.gelu.default, ATEN.var_mean.correction, ATEN.sum.dim_IntList, ATEN.expand.default,
    ATEN.gcd.default, ATEN.unsqueeze.default,
]  # fmt: skip


def table_of(*operators: Any) -> dict[Any, Any]:
    return {one: translation(one) for one in operators}


def both(program: Any, arrays: list[np.ndarray]) -> list[list[np.ndarray]]:
    """The results of ONNX Runtime and of our evaluator."""
    data = program.model_proto.SerializeToString()
    onnx.checker.check_model(program.model_proto, full_check=True)
    session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    names = [one.name for one in session.get_inputs()]
    native = sardonyx.load(data)(*arrays)
    native = list(native) if isinstance(native, (list, tuple)) else [native]
    return [session.run(None, dict(zip(names, arrays, strict=True))), native]


@pytest.mark.parametrize("opset", [18, 23])
def test_export_with_a_table(opset: int) -> None:
    module = Mixed()
    x, k = torch.randn(3, 4), torch.randint(1, 40, (3, 5))
    shapes = ({0: torch.export.Dim("rows")}, {0: torch.export.Dim("more")})
    program = torch.onnx.export(
        module, (x, k), dynamic_shapes=shapes, opset_version=opset, verbose=False, dynamo=True,
        custom_translation_table=table_of(*TABLE),
    )  # fmt: skip
    for rows, more in ((3, 3), (5, 2)):
        given = torch.randn(rows, 4), torch.randint(1, 40, (more, 5))
        wanted = [one.numpy() for one in module(*given)]
        for found in both(program, [one.numpy() for one in given]):
            for ours, theirs in zip(found, wanted, strict=True):
                assert np.asarray(ours).dtype == theirs.dtype
                np.testing.assert_allclose(np.asarray(ours), theirs, rtol=1e-4, atol=1e-5)


def test_results_that_no_node_makes() -> None:
    table = [ATEN.clone.default, ATEN.full.default, ATEN.index.Tensor, ATEN.cat.default]
    given = torch.randn(3, 4), torch.tensor([2, 0])
    program = torch.onnx.export(
        Plain(), given, verbose=False, dynamo=True, custom_translation_table=table_of(*table)
    )
    for found in both(program, [one.numpy() for one in given]):
        for ours, theirs in zip(found, Plain()(*given), strict=True):
            np.testing.assert_array_equal(ours, theirs.numpy())


@pytest.fixture
def scaled() -> Iterator[Any]:
    """An operator of the user's, which torch.onnx does not know."""

    @torch.library.custom_op("sardonyx_tests::scaled", mutates_args=())
    def scaled(x: torch.Tensor, by: float = 2.0) -> torch.Tensor:
        return x * by

    scaled.register_fake(lambda x, by=2.0: torch.empty_like(x * by))

    @sardonyx.torch.operator("sardonyx_tests::scaled")
    def ours(x, by=2.0):  # type: ignore[no-untyped-def]
        y = x * 0.0
        for row in range(x.shape[0]):
            y[row] = x[row] * by
        return y

    yield torch.ops.sardonyx_tests.scaled
    _own.clear()


def test_operator_of_the_user(scaled: Any) -> None:
    class Module(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return scaled(x, 3.0) + scaled(x)  # type: ignore[no-any-return]

    x = torch.randn(2, 3)
    program = torch.onnx.export(
        Module(), (x,), verbose=False, dynamo=True, dynamic_shapes=({0: "rows"},),
        custom_translation_table={scaled.default: translation(scaled)},
    )  # fmt: skip
    # Twice the same loop: the names in its body are not those of the other.
    assert [node.op_type for node in program.model_proto.graph.node].count("Loop") == 2
    for found in both(program, [x.numpy()]):
        np.testing.assert_allclose(found[0], x.numpy() * 5.0, rtol=1e-6)


@pytest.mark.parametrize(
    ("make", "kind", "words"),
    [
        (lambda: translation("aten::gelu"), TypeError, "torch.ops.aten.gelu.default"),
        (lambda: translation(torch.sin), TypeError, "torch.ops.aten.gelu.default"),
        (lambda: translation(ATEN.index), ValueError, "several overloads: say which of"),
        (lambda: translation(ATEN.relu_.default), ValueError, "writes in place"),
        (lambda: translation(ATEN.view_as_complex), ValueError, "complex tensors"),
        (lambda: translation(ATEN.linalg_ldl_factor), ValueError, "sardonyx.torch.operator"),
        (lambda: translation(ATEN.gelu, opset=17), ValueError, "18 or newer, not 17"),
        (lambda: translation(ATEN.gelu)(np.zeros(3)), RuntimeError, "torch.onnx.export alone"),
    ],
)
def test_wrong_arguments(make: Any, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words):
        make()
