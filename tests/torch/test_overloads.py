"""Overloads that PyTorch's own samples of its operators do not call, beside PyTorch."""

from __future__ import annotations

import math
import types
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import opinfo  # noqa: E402
import sardonyx.torch  # noqa: E402
from test_models import runtime_of  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]

X = torch.tensor([[0.25, -0.5, 0.75], [0.1, 0.9, -0.3]])
P = torch.tensor([[0.25, 0.5, 0.75], [1.5, 2.9, 3.3]])
I = torch.tensor([[12, -7, 0], [18, 5, 3]])  # noqa: E741
J = torch.tensor([[2, 3, 1], [1, 2, 1]])
B = X > 0
M = torch.tensor([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]])
A = torch.arange(48.0).reshape(1, 3, 4, 4).sin()
W = torch.arange(54.0).reshape(2, 3, 3, 3).cos()
LINE = torch.tensor([0.0, 0.3, 0.7, 2.0])
# What is easily forgotten: NaN, infinities and zeros.
EDGES = torch.tensor([[0.0, math.inf, -0.3, 2.5], [-math.inf, math.nan, -1.0, math.nan]])
ENDS = torch.tensor([0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 1e20, 3e38, 1e-20, -1e-20, math.inf,
                     -math.inf, math.nan])  # fmt: skip
HALVES = torch.tensor([0.0, 1.0, -2.0, 300.0, 6e4, 1e-4], dtype=torch.float16)
BYTES = torch.tensor([0, 1, 44, 200, 255], dtype=torch.uint8)
STEPS = torch.arange(80.0).sin().view(20, 4).bfloat16()  # weights of a recurrent layer
STATE = torch.zeros(1, 4, 4).bfloat16()
PLACES = torch.tensor([[2, 0, 1], [1, 1, 0]])
CLASSES = torch.tensor([2, 0])

# Numbers beside tensors of floats and of ints.
WITH_NUMBERS = (
    "add.Scalar", "sub.Scalar", "mul.Scalar", "div.Scalar", "pow.Scalar", "eq.Scalar", "ne.Scalar",
    "lt.Scalar", "le.Scalar", "gt.Scalar", "ge.Scalar", "fmod.Scalar", "remainder.Scalar",
    "floor_divide.Scalar", "true_divide.Scalar", "multiply.Scalar", "subtract.Scalar",
    "divide.Scalar", "greater.Scalar", "greater_equal.Scalar", "less.Scalar", "less_equal.Scalar",
    "not_equal.Scalar", "copysign.Scalar", "float_power.Tensor_Scalar",
)  # fmt: skip
NUMBERS_FIRST = {"pow.Scalar", "float_power.Scalar", "remainder.Scalar_Tensor"}
WITH_INTS = (
    "__and__.Scalar", "__or__.Scalar", "__xor__.Scalar", "bitwise_and.Scalar", "bitwise_or.Scalar",
    "bitwise_xor.Scalar", "__lshift__.Scalar", "__rshift__.Scalar",
)  # fmt: skip
OF_TWO_INTS = (
    "__and__.Tensor", "__or__.Tensor", "__xor__.Tensor", "__lshift__.Tensor", "__rshift__.Tensor",
)  # fmt: skip
OF_TWO = (
    "greater.Tensor", "greater_equal.Tensor", "less.Tensor", "less_equal.Tensor",
    "not_equal.Tensor", "multiply.Tensor", "clamp_max.Tensor", "type_as.default", "to.other",
    "arctan2.default", "special_xlogy.default", "lerp.Scalar",
)  # fmt: skip
OF_ONE = (
    "absolute.default", "negative.default", "fix.default", "detach.default", "contiguous.default",
    "lift_fresh.default", "_to_copy.default", "special_erf.default", "special_expit.default",
    "special_exp2.default", "special_expm1.default", "special_sinc.default", "arctan.default",
    "arcsinh.default", "conj.default", "detach_copy.default", "adjoint.default",
)  # fmt: skip
OTHERS: list[tuple[str, tuple[Any, ...]]] = [
    ("__and__.Tensor", (B, ~B)),
    ("_softmax.default", (X, 1, False)),
    ("_log_softmax.default", (X, -1, False)),
    ("_unsafe_view.default", (X, [3, 2])),
    ("_unsafe_index.Tensor", (X, [None, PLACES[0]])),
    ("_unsafe_index_put.default", (X, [PLACES[1]], P[[1, 0, 1]])),
    ("_adaptive_avg_pool2d.default", (A, [2, 3])),
    ("_weight_norm.default", (X, P[:, :1], 0)),
    ("_weight_norm.default", (X, torch.tensor(2.0), -1)),
    *[
        ("_native_batch_norm_legit_functional.default",
         (A, P[0], P[1], P[0] * 0, P[1], training, 0.1, 1e-5))
        for training in (True, False)
    ],
    ("norm_except_dim.default", (X,)),
    ("norm_except_dim.default", (A, 2, 2)),
    ("norm_except_dim.default", (A, 3, -1)),
    ("embedding_renorm.default", (P, torch.tensor([[1, 1]]), 2.0, 2.0)),
    ("embedding_renorm.default", (P, torch.tensor([0, 1]), 1.0, 1.0)),
    ("embedding_bag.padding_idx", (P.mT @ X, J.reshape(-1) - 1, torch.tensor([0, 2, 2]), False, 2,
                                   False, None, False, 1)),
    ("embedding_bag.padding_idx", (P.mT @ X, J.reshape(-1) - 1, torch.tensor([0, 2, 2]), False, 0,
                                   False, None, False, 1)),
    *[
        ("grid_sampler.default", (A, A[:, :2].movedim(1, 3) * 1.6, 2, padding, corners))
        for padding in (0, 1, 2) for corners in (True, False)
    ],
    *[
        (name, (EDGES, *more)) for name, *more in (
            ("sign.default",), ("sgn.default",), ("heaviside.default", EDGES[:1]),
            ("frexp.Tensor",), ("threshold.default", 0.1, 20.0), ("hardshrink.default",),
            ("softshrink.default",), ("median.default",), ("median.dim", 1),
            ("median.dim", 0, True), ("nanmedian.dim", 1), ("quantile.scalar", 0.4, 1),
            ("quantile.scalar", 0.4, 0, True),
            ("nanquantile.scalar", 0.4, 1), ("sort.default", 1), ("kthvalue.default", 4, 1),
            ("bucketize.Tensor", LINE), ("quantile.scalar", 0.5, 0), ("quantile.scalar", 0.9, 0),
        )
    ],
    *[
        (name, (torch.tensor([[0.0, 1.0], [-3.0, 0.1]], dtype=torch.float16), number))
        for name in ("mul.Tensor", "div.Tensor") for number in (-1e9, 70000, 1e-6, 3.0, math.inf)
    ],
    *[
        (name, (ENDS, *more)) for name, *more in (
            ("atan2.default", ENDS[:, None]), ("hypot.default", ENDS[:, None]),
            ("digamma.default",), ("lgamma.default",),
            ("special_i0e.default",), ("special_i1e.default",),
            ("special_ndtri.default",), ("special_bessel_j0.default",),
            ("special_bessel_y1.default",), ("special_scaled_modified_bessel_k0.default",),
            ("frexp.Tensor",), ("pow.Tensor_Scalar", -0.5), ("clamp_min.default", math.nan),
            ("clamp_max.default", math.nan), ("clamp.default", -1.0, math.nan),
            ("clamp.default", math.nan), ("_unique2.default", True, True, True),
            ("unique_consecutive.default", True, True), ("kl_div.default", ENDS.flip(0), 0),
        )
    ],
    ("special_zeta.default", (torch.tensor([math.inf, 1.0, 2.0, math.nan]),
                              torch.tensor([[0.5], [1.0], [-2.5], [math.inf]]))),
    ("special_ndtri.default", (torch.linspace(0, 1, 41, dtype=torch.float64),)),
    ("special_log_ndtr.default", (torch.linspace(-40, 40, 41, dtype=torch.float64),)),
    ("polygamma.default", (1, torch.tensor([math.inf, 2.0]))),
    ("mode.default", (torch.tensor([[math.inf, math.inf, 1.0], [2.0, 2.0, math.nan]]),)),
    ("nanmedian.default", (EDGES[1, [1, 3]],)),
    *[
        (name, (HALVES, torch.tensor(number, dtype=dtype)))
        for name in ("mul.Tensor", "div.Tensor")
        for number, dtype in ((-1e9, torch.float32), (1e-9, torch.float64), (100000, torch.int64))
    ],
    ("hypot.default", (HALVES, HALVES)),
    ("addcmul.default", (HALVES, HALVES, HALVES.flip(0)), {"value": 1e6}),
    ("round.decimals", (HALVES,), {"decimals": 2}),
    ("logaddexp.default", (HALVES.bfloat16(), HALVES.bfloat16() - 2)),
    ("log_sigmoid.default", (torch.linspace(-40, 40, 9).bfloat16(),)),
    *[
        (name, (x, number))
        for x in (BYTES, BYTES.view(torch.int8)) for number in (300, -1, 2**33 + 3)
        for name in ("add.Tensor", "rsub.Scalar", "mul.Tensor", "lt.Scalar", "eq.Scalar",
                     "remainder.Scalar", "__and__.Scalar", "floor_divide.default")
    ],
    ("lt.Scalar", (I.int(), 2**33)),
    ("sum.default", (BYTES,), {"dtype": torch.uint8}),
    ("prod.dim_int", (BYTES[1:], 0), {"dtype": torch.int8}),
    ("cumsum.default", (BYTES, 0), {"dtype": torch.uint8}),
    ("sum.default", (I,), {"dtype": torch.bool}),
    *[
        (name, (A[0].bfloat16(), h, [STEPS[: gates * 4], STEPS[-gates * 4 :]], False, 1, 0.0, False,
                False, False))
        for name, gates, h in (("lstm.input", 4, [STATE, STATE + 1]), ("gru.input", 3, STATE),
                               ("rnn_tanh.input", 1, STATE), ("rnn_relu.input", 1, STATE))
    ],
    *[
        (name, (x, n))
        for x in (BYTES, BYTES.view(torch.int8), I.int() * 40000) for n in (2, 3, 5, 8)
        for name in ("pow.Tensor_Scalar",)
    ],
    *[
        ("_to_copy.default", (torch.tensor([0.5, -0.5, -1.5, 128.5, 256.7, -200.0, 1e5]),),
         {"dtype": dtype})
        for dtype in (torch.uint8, torch.int8, torch.int16, torch.int32)
    ],
    ("mode.default", (torch.tensor([2**62 + 1, 2**62, 2**62 + 1, 2**62]),)),
    ("lerp.Scalar", (EDGES, torch.ones(4), 0.7)),
    ("special_round.default", (P * 10,), {"decimals": 1}),
    ("special_round.default", (P,)),
    ("_prelu_kernel.default", (X, torch.full((1, 3), 0.1))),
    ("affine_grid_generator.default", (X.reshape(1, 2, 3), [1, 3, 4, 5], False)),
    ("arange.default", (5,)),
    ("arange.start", (2, 7)),
    ("clamp.default", (X, -0.2, 0.5)),
    ("clamp.default", (I, None, 4)),
    ("clamp_max.default", (X, 0.3)),
    ("clip.default", (I, 1)),
    ("concat.default", ([X, P], 1)),
    ("concatenate.default", ([X, P],)),
    ("conv2d.padding", (A, W, None, [1, 1], "same")),
    ("conv1d.padding", (A[:, :, 0], W[:, :, 0], None, [1], "valid")),
    ("convolution.default", (A, W, None, [2, 1], [1, 0], [1, 1], False, [0, 0], 1)),
    ("convolution.default", (A, W.transpose(0, 1), None, [2, 2], [1, 1], [1, 1], True, [1, 0], 1)),
    ("col2im.default", (torch.arange(36.0).reshape(1, 12, 3), [2, 4], [2, 2], [1, 1], [0, 0],
                        [1, 1])),
    ("det.default", (M,)),
    ("inverse.default", (M,)),
    ("slogdet.default", (M,)),
    ("ger.default", (X[0], P[1])),
    ("chain_matmul.default", ([X, M, P.mT],)),
    ("linalg_matmul.default", (X, M)),
    ("matrix_power.default", (M, 3)),
    ("linalg_pinv.default", (M, 1e-9)),
    ("linalg_matrix_norm.default", (M, 2.0)),
    ("div.Scalar_mode", (I, 4), {"rounding_mode": "floor"}),
    ("div.Scalar_mode", (I, 4), {"rounding_mode": "trunc"}),
    ("divide.Tensor_mode", (P, X), {"rounding_mode": "trunc"}),
    ("fill.Tensor", (X, torch.tensor(2.5))),
    ("fft_fftfreq.default", (5,)),
    ("fft_rfftfreq.default", (6, 0.5)),
    ("hann_window.default", (5,)),
    ("bartlett_window.default", (6,)),
    ("bartlett_window.periodic", (5, False)),
    ("hamming_window.periodic_alpha", (5, True, 0.6)),
    ("hamming_window.periodic_alpha_beta", (5, False, 0.5, 0.3)),
    ("hamming_window.periodic", (5, False)),
    ("blackman_window.default", (4,)),
    ("isin.Tensor_Scalar", (I, 5)),
    ("lerp.Tensor", (X, P, X.abs())),
    ("meshgrid.default", ([X[0], P[1]],)),
    ("movedim.int", (A, 1, 3)),
    ("moveaxis.intlist", (A, [0, 1], [2, 0])),
    ("swapaxes.default", (A, 0, 2)),
    ("nll_loss.default", (X, CLASSES)),
    ("nll_loss_forward.default", (X, CLASSES, None, 1, -100)),
    ("nll_loss2d.default", (A, PLACES[:1].reshape(1, 1, 3)[:, :, [0, 1, 2, 0]].repeat(1, 4, 1))),
    ("norm.Scalar", (X,)),
    ("norm.ScalarOpt_dim", (X, 2, [1], True)),
    ("nuclear_norm.default", (M,)),
    ("quantile.default", (X, torch.tensor([0.25, 0.5]), 1)),
    ("reflection_pad1d.default", (X, [1, 2])),
    ("reflection_pad2d.default", (A, [1, 2, 0, 3])),
    ("replication_pad2d.default", (A, [1, 2, 0, 3])),
    ("replication_pad3d.default", (A, [1, 0, 2, 1, 0, 1])),
    ("remainder.Scalar_Tensor", (7, J)),
    ("repeat_interleave.Tensor", (torch.tensor([1, 0, 2]),)),
    ("row_stack.default", ([X[0], P],)),
    ("scatter.value", (X, 1, PLACES, 2.0)),
    ("scatter.value_reduce", (X, 1, PLACES[:, :1], 2.0), {"reduce": "multiply"}),
    ("searchsorted.Scalar", (LINE, 0.3)),
    ("bucketize.Scalar", (0.5, LINE)),
    ("select_copy.int", (X, 1, 2)),
    ("slice_copy.Tensor", (X, 1, 0, 3, 2)),
    ("special_log_softmax.default", (X, 1)),
    ("special_softmax.default", (X, 0)),
    ("special_logsumexp.default", (X, [1])),
    ("special_xlog1py.other_scalar", (P, 2.0)),
    ("split.sizes", (X, [1, 2], 1)),
    ("tensor_split.indices", (X, [1], 1)),
    ("tensor_split.sections", (X, 2, 1)),
    ("to.dtype_layout", (X,), {"dtype": torch.float64}),
    ("upsample_bilinear2d.default", (A, [6, 7], False)),
    ("upsample_nearest2d.default", (A, [6, 7])),
    ("upsample_nearest2d.vec", (A, None, [2.0, 1.5])),
    ("vander.default", (X[0], 4)),
    ("where.ScalarOther", (B, X, 2.0)),
    ("where.ScalarSelf", (B, 2.0, X)),
    ("where.Scalar", (B, 1.0, 2.0)),
    ("where.default", (B,)),
    ("xlogy.Scalar_Other", (P, 2.0)),
    ("zero.default", (X,)),
]  # fmt: skip
CALLS: dict[str, list[tuple[str, tuple[Any, ...], dict[str, Any]]]] = {
    **{
        group: [(name, (n, x) if name in NUMBERS_FIRST else (x, n), {}) for name in WITH_NUMBERS]
        for group, x, n in (("floats", P, 2.5), ("whole", J, 3), ("fractions", J, 1.5))
    },
    "ints": [(name, (J, 2), {}) for name in WITH_INTS],
    "two ints": [(name, (I.abs(), J), {}) for name in OF_TWO_INTS],
    "two": [(name, (P, X) if name != "lerp.Scalar" else (P, X, 0.3), {}) for name in OF_TWO],
    "one": [(name, (X,), {}) for name in OF_ONE],
}  # fmt: skip
for one in OTHERS:
    CALLS.setdefault(one[0], []).append((one[0], one[1], one[2] if len(one) > 2 else {}))


def test_signs_of_zeros() -> None:
    """ONNX Runtime's Where, which gives 0 for -0, is not in between."""

    class Turned(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return torch.atan2(x, torch.ones(3)), torch.copysign(
                x * 0, torch.tensor([-1.0, 2, -0.0])
            )

    x = torch.tensor([-0.0, 0.0, 5.0])
    model = sardonyx.torch.export(Turned(), (x,))
    for found in (
        model.compile()(x.numpy()),
        runtime_of(model.to_model_bytes()).run(None, {"x": x.numpy()}),
    ):
        for one, want in zip(found, Turned()(x), strict=True):
            assert (np.signbit(one) == np.signbit(want.numpy())).all()


@pytest.mark.parametrize("name", CALLS)
def test_equal_to_torch(name: str) -> None:
    for overload, args, kwargs in CALLS[name]:
        packet, _, rest = overload.partition(".")
        operator = getattr(getattr(torch.ops.aten, packet), rest)
        sample = types.SimpleNamespace(input=args[0], args=args[1:], kwargs=kwargs)
        found = opinfo.try_sample(operator, sample)
        assert found.kind == "right", f"{overload} {args[:1]}: {found.reason}"
