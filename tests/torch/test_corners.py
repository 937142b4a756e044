"""What is easily wrong without a message: views that are written, empty tensors, types, complex
numbers among real ones, sizes that are not known. Each is compared with torch at several sizes."""

from __future__ import annotations

import math
import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest

torch = pytest.importorskip("torch")

import sardonyx.torch  # noqa: E402
from test_models import copied, runtime_with_kernels  # noqa: E402
from torch._higher_order_ops import associative_scan, while_loop  # noqa: E402
from torch.nn import functional as F  # noqa: E402, N812
from torch.nn.attention.flex_attention import flex_attention  # noqa: E402
from torch.utils import _pytree  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]

CASES: dict[str, tuple[Callable[..., Any], list[tuple[int, ...]], dict[int, str]]] = {}
BATCH = {0: "batch"}
BOTH = {0: "batch", 1: "length"}


def case(dims: dict[int, str], *sizes: tuple[int, ...]) -> Callable[[Any], Any]:
    """A function of a tensor, the sizes that it gets (the first is exported), and their names."""

    def declare(function: Any) -> Any:
        CASES[function.__name__] = (function, list(sizes), dims)
        return function

    return declare


def pair(x: Any) -> Any:
    return torch.complex(x, x * 2 + 1)


@case(BOTH, (3, 5), (2, 7), (4, 4))
def views_of_views(x: Any) -> Any:
    y = x.clone()
    a = y[:, 1:]
    b = a[1:]
    b.add_(1)
    a[0] = 3.0
    c = y.t()
    c[0].mul_(2)
    y.chunk(2, 1)[0].mul_(2)
    return y, a, b, c


@case(BOTH, (3, 5), (2, 7), (4, 4))
def diagonals_and_moved_axes(x: Any) -> Any:
    y = x.expand(3, *x.shape).clone()
    y[1:].zero_()
    y.diagonal(0, 1, 2).fill_(1.0)
    y.movedim(0, 1)[0].add_(1)
    return y


@case(BATCH, (3, 6), (2, 6))
def complex_numbers_as_real_ones(x: Any) -> Any:
    z = pair(x)
    z = torch.where(x > 0.5, torch.zeros_like(z), z)
    return z.float(), z.bool(), z.to(torch.int64), z.double().to(torch.complex64), (z * 1e30).abs()


@case(BATCH, (3, 4), (2, 4))
def inverse_of_both_sides(x: Any) -> Any:
    return torch.istft(pair(torch.stack([x, x.flip(1), x + 1], -1)), 4, onesided=False)


@case(BOTH, (3, 5), (2, 7), (4, 4))
def suffix_of_unknown_length(x: Any) -> Any:
    # torch asserts where the storage of the suffix begins, which only the assertion reads.
    return x[(x > 0).sum().item() % 3 :] * 2


@case(BATCH, (3, 6), (2, 6))
def complex_writes(x: Any) -> Any:
    z = torch.zeros(x.shape[0], x.shape[1], dtype=torch.cfloat)
    z[:, :2] = pair(x)[:, :2]
    z[0] = x[0]  # real
    z[:, 1].mul_(2j)
    z += x
    z[:, -1] = 1 + 2j
    a, b = z.split(3, 1)
    a.add_(1)
    return z, b, z.abs(), z.conj() * z


@case(BATCH, (3, 6), (2, 6))
def complex_parts_that_are_written(x: Any) -> Any:
    z = pair(x)
    torch.view_as_real(z)[..., 1].add_(2)
    z.real.mul_(3)
    z.imag[0] = 5.0
    y = torch.stack([x, x * 2], -1)
    torch.view_as_complex(y)[1].mul_(1j)
    return z, y


@case(BOTH, (3, 5), (2, 7), (4, 4))
def parts_of_named_sizes(x: Any) -> Any:
    image = x[None, None]
    half = (x.shape[0] // 2 + 1, x.shape[1] * 2)
    return F.adaptive_avg_pool2d(image, half), F.interpolate(image, scale_factor=2.0, mode="area")


@case(BATCH, (3, 6))
def complex_among_real(x: Any) -> Any:
    return (torch.cat([pair(x), x]), torch.stack([x, pair(x)]), F.pad(pair(x), (1, 1), value=2.0),
            x.sum(dtype=torch.cfloat), pair(x)[0].chunk(2)[1], 2 - pair(x))  # fmt: skip


@case(BATCH, (3, 6), (2, 6))
def complex_arithmetic(x: Any) -> Any:
    z = pair(x)
    return (z * 1j, z**2, z**0.5, z.sqrt(), z.log(), 1 / z, z / (2 - 1j), torch.where(x > 0, z, x),
            z.masked_fill(x > 0, 1j), z.sgn(), x.to(torch.cfloat), F.linear(z, z),
            torch.einsum("ij,kj->ik", z, z), F.conv1d(z[:, None], z[:2, None, :3]))  # fmt: skip


@case(BATCH, (3, 6))
def complex_results_of_several(x: Any) -> Any:
    z = pair(x)
    wide, narrow = torch.broadcast_tensors(z, x[:1])  # one is complex, one is real
    spread, middle = torch.var_mean(z, 1)
    return (wide, narrow, spread, middle, *torch.std_mean(z, 0, keepdim=True), z.std(),
            x.expand_as(z), z[:, :1].expand_as(x), *torch.meshgrid(z[0], z[1], indexing="xy"),
            *torch.gradient(z, dim=1), *z.unbind(1)[:2],
            *z.tensor_split((2, 3), dim=1))  # fmt: skip


@case(BATCH, (3, 6), (2, 6))
def complex_numbers_of_other_types(x: Any) -> Any:
    z, n = pair(x), (x * 3).to(torch.int64)
    return (z * x.double(), n + z, z / (n * n + 1), z - n, torch.where(x > 0, z, 1.5),
            torch.where(x > 0, x.double(), z), z == n, torch.add(z, n, alpha=2),
            torch.add(x, z, alpha=0.5 + 2j), x.double() * 2j, n * (1 + 1j),
            torch.lerp(z, x + 0j, 0.3), torch.addcmul(z, z, z.conj(), value=1 - 2j),
            z.to(torch.complex128).prod(1),
            torch.addmm(z[:2, :2], z[:2, :3], z[:2, 3:].mH[:, :2], beta=2j, alpha=-1j))  # fmt: skip


@case(BATCH, (3, 6), (2, 6))
def complex_functions(x: Any) -> Any:
    z = pair(x)
    return (z**3, z**-2, z**20 * 1e-9, z**0.3, z ** (1 - 2j), z**z, 2**z, (-2.0) ** z, x.abs() ** z,
            z.exp(), z.exp2(), z.expm1(), (z * 1e-5).expm1(), z.log2(), z.log10(),
            (z * 1e-5).log1p(), z.log1p(), z.rsqrt(), z.reciprocal(), z.sin(), z.cos(), z.tan(),
            z.sinh(), z.cosh(), z.tanh(), (z * 100).tanh(), z.asin(), z.acos(), z.atan(), z.asinh(),
            z.acosh(), z.atanh(), z.sinc(), z.sigmoid(), F.silu(z), torch.logaddexp(z, z.flip(1)),
            z.logcumsumexp(1), z.isfinite(), torch.isclose(z, z * (1 + 1e-7)), z.logical_not(),
            (z * 1e-20) / (z.flip(1) * 1e-20), (z * 1e20).rsqrt() * 1e10)  # fmt: skip


@case(BATCH, (3, 6), (2, 6))
def complex_branch_cuts(x: Any) -> Any:
    # On the cuts the sign of the imaginary zero decides.
    found = []
    for z in (torch.complex(x * 3, x.abs() * 0.0), torch.complex(x * 3, x.abs() * -0.0),
              torch.complex(x.abs() * 0.0, x * 3)):  # fmt: skip
        found += [z.sqrt(), z.log(), z.log1p(), z.asin(), z.acos(), z.acosh(), z.atanh(), z.atan(),
                  z.asinh(), z.angle(), z**0.5, z**1.5]  # fmt: skip
    return tuple(found)


@case(BOTH, (3, 5, 4), (2, 7, 4), (4, 16, 4), (1, 1, 4), (0, 3, 4), (2, 0, 4))
def complex_products_of_any_length(x: Any) -> Any:
    z = torch.complex(x, x.flip(2)) / 2
    return z.prod(1), z.prod(0, keepdim=True), z.prod(), z.cumprod(1), z.cumprod(2)


@case(BATCH, (3, 6))
def complex_sums_and_products(x: Any) -> Any:
    z = pair(x)
    return (z.prod(1), z.prod(1, keepdim=True), z[:, :5].prod(1), z[:2].prod(), z.cumprod(1),
            z.cumsum(0), z.any(1), z.all(), z.count_nonzero(1), z.nonzero(), z.logsumexp(1),
            z.diff(append=z[:, :1]), torch.vdot(z[0], z[1]), torch.linalg.vecdot(z, z),
            torch.outer(z[0], x[0] + 0j), z.inner(z), torch.kron(z, z[:1, :2]),
            torch.linalg.cross(z[:, :3], z[:, 3:]), torch.trace(z),
            torch.linalg.matrix_exp(z[:2, :2]), torch.linalg.inv(z[:, :3]),
            torch.linalg.solve(z[:, :3], z[:, 3]), torch.linalg.matrix_power(z[:2, :2], 3),
            torch.linalg.norm(z), torch.linalg.matrix_norm(z, 1), z.norm(3, 1), torch.dist(z, x),
            torch.trapezoid(z, x), F.rms_norm(z, (6,)),
            F.conv_transpose1d(z[:, None], z[:1, None, :3]),
            torch.stft(z, 4, 2, window=torch.hann_window(4), return_complex=True))  # fmt: skip


@case(BATCH, (3, 6))
def complex_elements_by_place(x: Any) -> Any:
    z, mask = pair(x), x > 0
    at = torch.tensor([[0, 2, 1]])
    y = z.clone()
    y.index_fill_(1, torch.tensor([2]), 1 - 1j)
    y.scatter_(1, at, 3j)
    y.index_copy_(1, torch.tensor([4, 5]), z[:, :2])
    y[mask] = 2 - 1j
    y.masked_scatter_(~mask, z.conj())
    y.diagonal().mul_(1j)
    return (y, z.masked_select(mask), z.take(at), z.scatter(1, at, z.flip(1)),
            z.take_along_dim(at, 1), z.scatter_add(1, at, x + 0j), z.index_fill(1, at[0], 2.0),
            z.tile(1, 2), z.rot90(), z.new_full((2,), 1j),
            torch.full_like(x, 2 - 1j, dtype=torch.cfloat), z.ravel(),
            torch.eye(3, dtype=torch.cfloat), torch.linspace(1j, 2, 5),
            torch.constant_pad_nd(z, (1, 1), 2j), torch.hstack([x, z]),
            torch.block_diag(z[:2], x[:1]), torch.diag_embed(z))  # fmt: skip


@case(BATCH, (3, 6), (2, 6))
def transforms(x: Any) -> Any:
    z = pair(x)
    return (torch.fft.rfft2(x), torch.fft.irfft2(torch.fft.rfft2(x), s=x.shape),
            torch.fft.irfftn(z), torch.fft.hfft(z), torch.fft.hfft(z, n=7, norm="forward"),
            torch.fft.ihfft(x, norm="ortho"), torch.fft.fftfreq(6) + x,
            torch.fft.rfftfreq(6, d=0.5) + x.sum())  # fmt: skip


@case(BATCH, (2, 64), (3, 64))
def waves(x: Any) -> Any:
    window = torch.hann_window(16)
    spectrum = torch.stft(x, 16, 4, window=window, return_complex=True)
    return (torch.istft(spectrum * 2, 16, 4, window=window),
            torch.istft(spectrum, 16, 4, window=window, length=60))  # fmt: skip


@case(BOTH, (3, 5), (2, 7), (4, 4))
def running_of_any_length(x: Any) -> Any:
    return (x.cumprod(0), x.cumprod(-1), x.cummax(1), x.cummin(0), x.chunk(2, 1),
            (x * 200).logcumsumexp(-1), x.logcumsumexp(0))  # fmt: skip


@case(BOTH, (3, 5), (2, 7))
def counts(x: Any) -> Any:
    places = (x.abs() * 3).long().view(-1)
    return (torch.bincount(places), torch.bincount(places, minlength=20), torch.where(x > 0),
            torch.bincount(places, x.view(-1)))  # fmt: skip


@case(BATCH, (3, 6), (2, 6))
def doubles(x: Any) -> Any:
    """Numbers are not rounded to FLOAT on their way to DOUBLE."""
    y = x.double()
    return (y.masked_fill(x > 0, 0.1), torch.full_like(y, 0.1), torch.where(x > 0, y, 0.1),
            y.clamp(0.1, 0.3), y.abs() ** 0.1, F.pad(y, (1, 1), value=0.1), F.hardswish(y),
            F.leaky_relu(y, 0.1), F.selu(y), F.elu(y, 0.3), y.log1p(), y + 0.1,
            torch.linalg.vector_norm(y, 3))  # fmt: skip


@case(BATCH, (3, 6), (2, 6))
def small_integers(x: Any) -> Any:
    y = (x * 3).to(torch.int8)
    return y**2, y.abs().to(torch.uint8) ** 2, y.to(torch.int16).pow(3)


@case({}, (0, 4))
def nothing_at_all(x: Any) -> Any:
    return (x.sum(0), x.mean(-1), torch.cat([x, torch.ones(2, 4)]), x.flatten(), x.any(0),
            (x > 0).all(0), x.any(), x.unflatten(1, (2, 2)), x.cumprod(0), x @ torch.ones(4, 3),
            torch.bincount(x.view(-1).long(), minlength=3))  # fmt: skip


@case(BATCH, (3, 4), (0, 4), (1, 4))
def perhaps_nothing(x: Any) -> Any:
    return x.sum(0), x.any(0), (x > 0).all(0), x.softmax(-1), x.reshape(-1, 2, 2), x[x > 0]


@case(BATCH, (2, 4, 9, 7), (3, 4, 9, 7))
def scaled_images(x: Any) -> Any:
    return F.interpolate(x, scale_factor=0.6), F.interpolate(x, scale_factor=1.7)


@case(BOTH, (3, 5), (2, 7), (4, 4))
def shapes_changed_in_place(x: Any) -> Any:
    """Each is a view of what the tensor was; a write to it reaches the tensors around it."""
    base = x.clone()
    row = base[1]
    row.unsqueeze_(0).add_(1)
    seen = row.squeeze_(0)
    seen.mul_(2)
    columns = base.t()
    columns.t_()[0].sub_(3)
    columns.transpose_(0, 1).unsqueeze_(-1)
    columns[0].swapaxes_(0, 1).neg_()
    return base, row, seen, columns, columns.squeeze_().swapdims_(0, 1)


@case({0: "n"}, (4,), (6,))
def parts_that_are_written(x: Any) -> Any:
    """A part counted from the end, and one of a length that is a size."""
    y, n = x.clone(), x.shape[0]
    y.narrow(0, -2, 1).add_(5)
    y.narrow(0, -1, 1).mul_(2)
    sums = x.new_zeros(n + 1)
    torch.cumsum(x, 0, out=sums.narrow(0, 1, n))
    return y, sums, x.narrow(0, torch.tensor(-3), 2)


@case({0: "n"}, (4,), (6,))
def constants_that_are_written(x: Any) -> Any:
    """They are new in each run, so they are no state."""
    factors = torch.tensor([[1.0, 2.0]])
    factors.t_().add_(3)
    return x * factors.squeeze_(1)[0], factors


@case({0: "n"}, (4,), (6,))
def types_that_are_asked_for(x: Any) -> Any:
    places = torch.arange(x.shape[0])
    outer = torch.einsum("i, j -> i j", places, x)
    return outer.to(torch.promote_types(x.dtype, torch.float64)), torch.einsum("i->", places)


@case(BATCH, (2, 3, 17, 16), (3, 3, 17, 16))
def smoothed_pixels(x: Any) -> Any:
    pixels = (x * 60 + 128).clamp(0, 255).to(torch.uint8)
    sizes = (7, 30), (17, 5), (40, 41)
    return [
        F.interpolate(pixels, size=size, mode=mode, antialias=True)
        for size in sizes
        for mode in ("bilinear", "bicubic")
    ]


@case(BATCH, (3, 6), (2, 6))
def weights_among_tensors(x: Any) -> Any:
    bias = torch.tensor([2.0, 5, 1, 0, 3, 4])
    return (*torch.broadcast_tensors(x, bias, torch.tensor(2.0)),
            *torch.broadcast_tensors(bias, torch.tensor(1)))  # fmt: skip


@case(BATCH, (3, 6), (2, 6), (5, 6))
def numbers_of_groups_that_are_sizes(x: Any) -> Any:
    """Filters of their own for each sample, as StyleGAN has them."""
    b = x.shape[0]
    images = (x[:, :, None, None] * torch.ones(4, 5)).reshape(1, b * 6, 4, 5).cumsum(-1)
    filters = (x[:, None, :, None, None] * torch.arange(24.0).view(4, 1, 3, 2)).sin()
    bias = x[:, :4].reshape(-1)
    up = filters.transpose(1, 2).reshape(b * 6, 4, 3, 2)
    y = F.conv2d(images, filters.reshape(b * 4, 6, 3, 2), bias, padding=1, groups=b)
    z = F.conv_transpose2d(images, up, bias, stride=2, groups=b)
    return y.view(b, 4, *y.shape[2:]), z.view(b, 4, *z.shape[2:])


@case({}, (3, 6))
def fake_quantization(x: Any) -> Any:
    found = [
        torch.fake_quantize_per_tensor_affine(x, 0.05, 3, low, high)
        for low, high in ((-128, 127), (0, 255), (-8, 7), (0, 15), (-1000, 1000), (-127, 127))
    ]
    scale, zero = torch.tensor([0.07]), torch.tensor([2], dtype=torch.int32)
    scales, zeros = torch.linspace(0.01, 1, 6), torch.arange(6, dtype=torch.int32)
    weights = torch.linspace(-2, 2, 12).view(2, 6)
    channels = [
        torch.fake_quantize_per_channel_affine(one, scales, points, 1, low, high)
        for one in (weights, weights.double())
        for points in (zeros, zeros / 2)
        for low, high in ((0, 255), (-8, 7))
    ]
    return found, torch.fake_quantize_per_tensor_affine(x, scale, zero, -128, 127), channels


@case(BATCH, (3, 6), (2, 6))
def functions_of_rows(x: Any) -> Any:
    rows = torch.vmap(lambda row, w: (row @ w, row.sum(), row[0] * w[0]), (0, None))(x, x.mT @ x)
    return *rows, torch.vmap(torch.vmap(torch.dot, (None, 0)), (0, None))(x, x)


@case({0: "batch", 1: "length"}, (2, 6), (3, 8))
def functions_of_elements(x: Any) -> Any:
    """As the masks of transformers are made; with operators that become those of batches."""

    def mask(b: Any, i: Any, j: Any) -> Any:
        return (i >= j) & (torch.ops.aten.index.Tensor(x, [b, j]) > 0) & (j - i < 3)

    places = [torch.arange(x.shape[k]) for k in (0, 1, 1)]
    for where in ((None, None, 0), (None, 0, None), (0, None, None)):
        mask = torch.vmap(mask, in_dims=where)
    rows = torch.vmap(lambda r: (r.unsqueeze(0).sum(1), r.max(), r[0] * torch.ones(2)), in_dims=1)(
        x
    )
    layers = torch.vmap(F.linear, (None, 0, 0))(x[:, :3], torch.ones(4, 2, 3), torch.eye(4)[:, :2])
    distances = torch.vmap(torch.vmap(lambda a, b: (a - b).abs(), (None, 0)), (0, None))
    return mask(*places), *rows, layers, distances(x, x[:2])


@case(BOTH, (3, 4), (2, 5))
def einsum_as_a_view(x: Any) -> Any:
    y = x + 1
    turned = torch.einsum("ij -> ji", y)
    turned[0].add_(1)
    last = torch.einsum("i...->...i", turned)
    last.mul_(x[:, :1])
    y[1:].sub_(2)
    summed = torch.einsum("ij->j", y).add_(1)
    return y, turned, last, summed


@case(BOTH, (3, 4), (2, 5))
def writes_to_what_gives_its_argument(x: Any) -> Any:
    y = x + 1
    same = F.dropout(y, 0.5, training=False)
    same[0].mul_(3)
    y.add_(1)
    other = F.feature_alpha_dropout(F.alpha_dropout(y, 0.5), 0.5)
    other.resolve_conj().resolve_neg().sub_(x)
    y.mH[1:].add_(2)
    y.H[:1].mul_(2)
    return y, same, other


@case({}, (3, 3))
def einsum_of_integers(x: Any) -> Any:
    found = []
    for y in (x > 0, (x * 3).int(), (x.abs() * 3).to(torch.uint8)):
        for equation in ("ij->ji", "ij->i", "ij", "ii", "ii->i", "...j->...", "k...->..."):
            found += [torch.einsum(equation, y), torch.einsum(equation, y[:1, :1])]
        found.append(torch.einsum("ij,ij->ij", y, y.T))
    return (*found, torch.einsum("ij,jk->ik", y, y))


@case(BOTH, (5, 4), (6, 3), (5, 7))
def writes_to_parts_of_a_split(x: Any) -> Any:
    y, z = x + 1, x * 2
    y.split(3)[-1].zero_()
    y.split(3)[0].mul_(x[:1])
    z.split_with_sizes([2, x.shape[0] - 2])[1].add_(1)
    return y, z


@case(BATCH, (3, 4, 6), (2, 4, 6))
def writes_to_parts_along_fixed_axes(x: Any) -> Any:
    y, square, row = x + 1, x[:, :, :4] * 2, x[0, 0] + 3
    torch.hsplit(y, 2)[1].add_(1)
    torch.hsplit(y, [1, 3])[1].mul_(y[:, :1])
    torch.dsplit(y, 3)[-1].zero_()
    torch.vsplit(y[0], 2)[0].sub_(5)
    torch.hsplit(row, [2])[0].mul_(2)
    torch.linalg.diagonal(square).mul_(3)
    torch.linalg.diagonal(square, offset=1, dim2=1, dim1=2).add_(4)
    y.narrow(1, torch.tensor(1), 2).add_(1)
    return y, square, row


@case(BOTH, (3, 5), (2, 7))
def cosine_of_what_is_spread(x: Any) -> Any:
    """The lengths are those of the tensors of one shape."""
    y = x[None] + torch.ones(4, 1, 1)
    number, row = F.cosine_similarity(x.sum(), y, dim=0), F.cosine_similarity(y, x[:1], dim=1)
    column = F.cosine_similarity(x[:, :1], x, dim=-1)
    return number, row, column, F.cosine_similarity(x, x + 1, dim=1)


@case({}, (3,))
def variance_of_a_number(x: Any) -> Any:
    y = x.sum()
    return y.var(-1, unbiased=False), y.std(0, correction=0), *torch.var_mean(y, 0, correction=0)


@case({}, (3,))
def running_extremes_of_nothing(x: Any) -> Any:
    return (*x[:0].cummax(0), *x.bool()[3:].cummin(0), *torch.ones(2, 0, 3).cummax(1))


@case({}, (3, 3))
def einsum_of_a_diagonal(x: Any) -> Any:
    y = x + 1
    diagonal = torch.einsum("ii->i", y)
    y.mul_(2)
    return y, diagonal


@case({}, (2, 6))
def strided_parts(x: Any) -> Any:
    y = x * 2
    y[1:].as_strided((2, 2), (1, 2)).add_(1)
    window = y.t().as_strided((3, 2), (1, 1), 1)
    y.mul_(2)
    part = y[:, 1:].as_strided((2, 3), (6, 1))
    return y, window, part, part.sum(), torch.as_strided_scatter(y, part, (2, 3), (1, 3))


@case({}, (3, 6))
def associative(x: Any) -> Any:
    def step(a: Any, b: Any) -> Any:
        return a[0] * b[0], b[0] * a[1] + b[1]

    return associative_scan(step, (x.sigmoid(), x), 1, combine_mode="generic")


@case({0: "batch", 2: "length"}, (2, 2, 5, 4), (3, 2, 7, 4))
def flexible_attention(x: Any) -> Any:
    slopes = torch.tensor([0.1, 0.5])

    def score(score: Any, _: Any, head: Any, i: Any, j: Any) -> Any:
        return torch.where(i >= j, score + (j - i) * slopes[head], -float("inf"))

    def capped(score: Any, _: Any, head: Any, i: Any, j: Any) -> Any:
        return torch.tanh(score / 20) * 20 + (i - j) * slopes[head]

    return flex_attention(x, x.flip(2), x + 1, score_mod=score), flex_attention(
        x, x.flip(2), x + 1, score_mod=capped
    )


# --- Bits


@case(BATCH, (2, 4), (3, 4), (0, 4))
def integers_of_the_same_bits(x: Any) -> Any:
    small, is_positive = (x * 90).to(torch.int8), x > 0
    bits = small.view(torch.uint8)
    bits.bitwise_and_(0x7F)
    is_positive.view(torch.uint8).bitwise_xor_(1)
    return bits, small, is_positive, (x * 9).int().view(torch.uint32), x.view(torch.float32)


def bits_of_floats(x: Any) -> Any:
    y = x * 2
    y.view(torch.int32).bitwise_and_(0x7FFFFFFF)  # without the sign
    halves = x.half().view(torch.int16)
    return y, halves + 1, (0x5F3759DF - (y.view(torch.int32) >> 1)).view(torch.float32)


def test_bits_of_floats(tmp_path: pathlib.Path) -> None:
    x = torch.randn(2, 4)
    program = torch.export.export(Module(bits_of_floats), (x,))
    torch.export.save(program, tmp_path / "model.pt2")
    for source in (program, tmp_path / "model.pt2"):
        found = sardonyx.torch.convert(source, opset=26).compile()(x.numpy())
        for result, want in zip(found, bits_of_floats(x), strict=True):
            np.testing.assert_array_equal(result, want.numpy())


@pytest.mark.parametrize(
    "function",
    [bits_of_floats,
     lambda x: x.short().view(torch.uint8),
     lambda x: torch.view_as_real(x.view(torch.complex64)),
     lambda x: torch.complex(x, x).view(torch.float32)],
)  # fmt: skip
def test_bits_without_a_form(function: Any) -> None:
    with pytest.raises(sardonyx.torch.ExportError, match=r"`view` as a type|of complex tensors"):
        sardonyx.torch.export(Module(function), (torch.randn(2, 4),))


# --- Bags


@case({}, (5, 9))
def bags_that_end_before_the_last_index(x: Any) -> Any:
    places = torch.tensor([1, 0, 2, 2, 1, 0, 0])
    bags = []
    for rows in (x.T, x.T.double(), x.T.half()):
        for mode in ("sum", "mean", "max"):
            for padding in (None, 2):
                bags.append(
                    F.embedding_bag(places, rows.contiguous(), torch.tensor([0, 2, 5]), mode=mode,
                                    include_last_offset=True, padding_idx=padding)
                )  # fmt: skip
    return bags


# --- Factors of matrices


def matrices(x: Any) -> Any:
    """Complex ones, whose parts have nothing to do with each other."""
    return torch.complex(x, x.flip(-1) * x.roll(1, -2) + x)


def with_eigenvalues(vectors: Any, values: list[float]) -> Any:
    """The matrix that has them, and a unitary matrix of these directions."""
    q = torch.linalg.qr(vectors)[0]
    return (q * torch.tensor(values, dtype=vectors.real.dtype)) @ q.mH


def put_together(u: Any, s: Any, vh: Any) -> Any:
    """What does not depend on the phases of vectors: the product, and the vectors by themselves."""
    k = s.shape[-1]
    return (u[..., :k] * s.unsqueeze(-2)) @ vh[..., :k, :], s, u.mH @ u, vh @ vh.mH


@case(BATCH, (2, 4, 4), (3, 4, 4))
def equal_eigenvalues(x: Any) -> Any:
    found = []
    for vectors in (x, x.double(), matrices(x), matrices(x.double())):
        for values in ([1, 1, 1, 2], [3, 3, 3, 3], [0, 0, 1, 1], [-1, 1, -1, 1]):
            a = with_eigenvalues(vectors, values)
            w, v = torch.linalg.eigh(a)
            found += put_together(v, w, v.mH)
            found += put_together(*torch.linalg.svd(a))
    return found


@case(BATCH, (2, 5, 3), (3, 5, 3))
def tall_complex_matrices(x: Any) -> Any:
    z = matrices(x)
    parts = [*torch.linalg.qr(z), *torch.linalg.qr(z, mode="complete"), *torch.linalg.lu(z)]
    for full in (True, False):
        parts += put_together(*torch.linalg.svd(z, full_matrices=full))
    return *parts, torch.linalg.pinv(z), torch.linalg.svdvals(z.to(torch.complex128))


@case(BATCH, (2, 3, 5), (4, 3, 5))
def wide_complex_matrices(x: Any) -> Any:
    z = matrices(x)
    parts = [*torch.linalg.qr(z), torch.linalg.qr(z, mode="r")[1], *torch.linalg.lu_factor(z)]
    for full in (True, False):
        parts += put_together(*torch.linalg.svd(z, full_matrices=full))
    return *parts, torch.linalg.pinv(z, rtol=0.1), torch.linalg.matrix_rank(z)


@case(BATCH, (2, 4, 4), (3, 4, 4), (1, 4, 4))
def square_complex_matrices(x: Any) -> Any:
    z = matrices(x)
    lu, pivots = torch.linalg.lu_factor(z)
    solved = torch.linalg.lu_solve(lu, pivots, z[..., :2])
    back = torch.linalg.lu_solve(lu, pivots, z[..., :2, :].conj(), left=False, adjoint=True)
    return (z @ solved, back @ z.mH, torch.linalg.det(z), *torch.linalg.slogdet(z),
            torch.linalg.eigvalsh(z, UPLO="U"), torch.linalg.eigvalsh(z, UPLO="L"))  # fmt: skip


def by_itself(values: Any, vectors: Any) -> Any:
    """What does not depend on the order of eigenvalues, and the phases of vectors."""
    found = [
        values.abs().sort(-1).values,
        values.sum(-1),
        values.prod(-1),
        vectors.abs().norm(dim=-2),
    ]
    return [*found, (vectors * values.unsqueeze(-2)) @ torch.linalg.inv(vectors)]


@case(BATCH, (2, 5, 5), (3, 5, 5))
def eigenvalues_of_any_matrix(x: Any) -> Any:
    found = []
    for z in (x, x.double(), matrices(x), matrices(x.double())):
        found += by_itself(*torch.linalg.eig(z))
        found.append(torch.linalg.eigvals(z).real.sort(-1).values)
    return found


@case(BATCH, (2, 4, 4), (3, 4, 4))
def eigenvalues_of_unusual_matrices(x: Any) -> Any:
    """Those whose QR steps would go in a circle, of zeros, triangular, with equal eigenvalues."""
    turn, jordan = torch.eye(4).roll(1, 0), torch.eye(4) + torch.ones(3).diag_embed(1)
    found = by_itself(*torch.linalg.eig(x - x.mT)) + by_itself(*torch.linalg.eig(turn + x * 0))
    for z in (x * 0, jordan + x * 0, x.triu(), torch.ones(3).diag_embed(1) + x * 0):
        values, vectors = torch.linalg.eig(z)
        found += [
            values.real,
            values.imag,
            z.to(values.dtype) @ vectors - vectors * values[:, None],
        ]
    return [*found, *torch.linalg.eig(x[:, :1, :1]), torch.linalg.eigvals(x[:, :0, :0])]


@case(BATCH, (2, 4, 4), (3, 4, 4))
def one_triangle_alone(x: Any) -> Any:
    """What is in the other triangle, and the imaginary part of the diagonal, is not looked at."""
    found = []
    for z in (x, matrices(x)):
        a = z @ z.mH + torch.eye(4)
        noise = torch.full_like(a, 7.0)
        for upper in (False, True):
            one = a + (noise.tril(-1) if upper else noise.triu(1))
            found.append(torch.linalg.cholesky(one, upper=upper))
            found.append(torch.linalg.eigvalsh(one, UPLO="U" if upper else "L"))
    return found


@case(BATCH, (2, 3, 3), (3, 3, 3))
def singular_matrices(x: Any) -> Any:
    found = []
    for z in (x, matrices(x)):
        a = torch.ones_like(z) * z[..., :1]
        a = a * torch.tensor([1.0, 0.0, 2.0])
        found += [*torch.linalg.lu(a), torch.linalg.det(a), torch.linalg.matrix_rank(a)]
    return found


@case({}, (2, 0, 0), (2, 0, 0))
def empty_complex_matrices(x: Any) -> Any:
    z = pair(x)
    return (torch.linalg.det(z), *torch.linalg.slogdet(z), *torch.linalg.lu_factor(z),
            *torch.linalg.qr(z), *torch.linalg.svd(z), *torch.linalg.eigh(z))  # fmt: skip


@case(BATCH, (3, 4), (2, 4))
def distances(x: Any) -> Any:
    y, powers = x.flip(1) * 2, (-math.inf, 0.0, 1.0, 1.5, 2.0, math.inf)
    found = [F.pairwise_distance(x, y, p) for p in powers]
    found += [torch.cdist(x, y, p) for p in powers[1:]]
    return [*found, *[F.triplet_margin_loss(x, y, x * 3, p=p, swap=True) for p in powers[1:]]]


@case(BOTH, (3, 4), (5, 6))
def choices_of_a_dynamic_number(x: Any) -> Any:
    return F.pdist(x), F.pdist(x.mT, 1)


@case(BATCH, (7, 8), (5, 8))
def small_tails(x: Any) -> Any:
    """1 - erf(x) is 0 there, and its logarithm not; ONNX Runtime has no Erf of DOUBLE."""
    y = x * 3 + torch.tensor([-5.0, -1.0, 0.0, 0.4, 0.5, 3.9, 4.1, 8.0])
    found = torch.special.erfc(y), torch.special.erfcx(y.abs()), torch.special.log_ndtr(y)
    return *found, found[0].log(), torch.special.ndtri(x.sigmoid()), torch.special.erfinv(x.tanh())


@case({}, (6, 3), (6, 3))
def sparse_matrices(x: Any) -> Any:
    places = torch.tensor([[0, 1, 1, 5, 0], [2, 3, 3, 0, 2]])
    a = torch.sparse_coo_tensor(places, x[:5, 0], (6, 6))
    found = [a @ x, torch.sparse.mm(a.t(), x), (a * 2).coalesce().to_dense()]
    found += [torch.sparse.addmm(x, a, x, beta=0.5), torch.sparse.sum(a, 1).to_dense()]
    rows = torch.sparse_coo_tensor(places[:1], x[:5], (6, 3)).to_dense()
    return *found, rows, torch.sparse.mm((x @ x.mT).relu().to_sparse(), x)


@case(BATCH, (17, 8), (19, 8))
def products_of_bytes(x: Any) -> Any:
    scale = x.abs().amax(-1, keepdim=True) / 127
    codes = torch.round(x / scale).to(torch.int8)
    weight = (torch.arange(64).reshape(8, 8) * 4 - 128).to(torch.int8)
    return torch._int_mm(codes, weight), torch._int_mm(codes, weight.T) * scale


@case(BATCH, (3, 4), (5, 4))
def quantised_by_its_range(x: Any) -> Any:
    """As pt2e quantises activations dynamically."""
    import torch.ao.quantization.fx._decomposed

    q = torch.ops.quantized_decomposed
    found = []
    for choose, low, dtype in (
        (q.choose_qparams.tensor, -128, torch.int8),
        (q.choose_qparams.tensor, 0, torch.uint8),
        (q.choose_qparams_symmetric.tensor, -128, torch.int8),
    ):
        scale, zero = choose(x, low, low + 255, 1e-6, dtype)
        codes = q.quantize_per_tensor.tensor(x, scale, zero, low, low + 255, dtype)
        y = q.dequantize_per_tensor.tensor(codes, scale, zero, low, low + 255, dtype)
        found += [scale, zero, codes, y]
    return found


@case(BOTH, (3, 5), (2, 7))
def truths_among_numbers(x: Any) -> Any:
    """Comparisons in place give ones and zeros of their target's type."""
    whole = (x * 3).long()
    y = x.clone()
    y[1].gt_(0.0)
    y[:, 1].logical_not_()
    return (y, x.clone().eq_(x[0]), x.clone().lt_(x.flip(1)), whole.clone().ge_(1),
            x.double().ne_(0.0), (x * 2).int().less_equal_(1), x.clone().logical_and_(x > 0),
            whole.logical_or_(x > 0), x.clone().logical_xor_(x > 0.5))  # fmt: skip


@case(BOTH, (3, 5), (2, 7))
def writes_without_gradients(x: Any) -> Any:
    """What a region writes is seen outside of it, and views leave it."""
    y = x.clone()
    with torch.no_grad():
        z = y * 2
        part, rest = z[:, 1:], y[0]
        less = y.mul_(3)
    part.add_(x.shape[0] + 1)
    with torch.no_grad():
        turned = z.neg_()
    return y, z, part, rest, less + turned


@case(BOTH, (3, 8), (2, 12))
def writes_to_views_that_repeat(x: Any) -> Any:
    """What is written to one of the places is seen at the others."""
    row = torch.zeros(1, x.shape[1])
    rows = row.expand(x.shape[0], -1)
    rows[1].add_(x[0])
    rows[0, 2:].mul_(2)
    y = x.clone()
    y[:, None].expand(-1, 1, -1).mul_(2)
    y.expand(2, *y.shape)[1].sub_(1)
    windows = y.unfold(1, 3, 2)
    windows[:, 1].neg_()
    windows[:, :, 0].fill_(math.nan)
    y.unfold(0, 2, 1)[..., 0].add_(0.5)
    z = torch.stack([x + 1j, x * 1j], -1)
    z[..., :1].expand(-1, -1, 2)[..., 1].mul_(2j)
    return row, rows, y, windows, z, (x > 0).expand(2, *x.shape)[0].logical_not_()


@case({}, (3, 4))
def writes_with_strides_that_overlap(x: Any) -> Any:
    y = x.clone()
    parts = y.as_strided((4, 3), (2, 1), 1)
    parts[1].add_(10)
    parts[:, 0].mul_(2)
    y.as_strided((), (), 3).zero_()
    return y, parts


@case(BATCH, (7, 3), (4, 3), (3, 3), (2, 3))
def diagonals_that_are_filled(x: Any) -> Any:
    wide, row = torch.cat([x, x], 1), x[0]
    cubes = (row[:2, None, None] + row[:2, None] * 2 + row[:2]).clone()
    return (x.clone().fill_diagonal_(7.0), (x * 3).long().fill_diagonal_(4.7),
            (wide > 0).fill_diagonal_(1), row.expand(9, 3).clone().fill_diagonal_(2, True),
            row.expand(4, 3).clone().fill_diagonal_(2, wrap=True),
            row[:, None].expand(3, 7).clone().fill_diagonal_(2, True),
            cubes.fill_diagonal_(-1.0))  # fmt: skip


@case(BATCH, (3, 4), (2, 4))
def signs_of_no_remainder(x: Any) -> Any:
    """A zero has the sign of the dividend."""
    a = torch.tensor([3.0, -3, 6, -6, 0, -0.0, 1, -1])[:, None] + x[:1, :1] * 0
    b = torch.tensor([3.0, -3, 2, -2, math.inf, -math.inf])
    rests = (a % b, a.double() % b, a % 3.0, a % -3.0, torch.remainder(3.0, b), torch.fmod(a, b))
    return rests, [torch.copysign(torch.tensor(1.0), one) for one in rests]


@case(BATCH, (2, 9), (3, 9))
def most_probable_of_a_sum(x: Any) -> Any:
    """The mask is scattered into itself."""
    values, places = x.sort(-1, descending=True)
    rest = values.softmax(-1).cumsum(-1) > 0.8
    rest[..., 1:] = rest[..., :-1].clone()
    rest[..., 0] = False
    return x.masked_fill(rest.scatter(1, places, rest), -math.inf)


@case(BOTH, (3, 5), (2, 7), (0, 4), (4, 0))
def products_and_turns_of_nothing(x: Any) -> Any:
    products = (x.cumprod(0), (x * 4).int().cumprod(1), (x > 0).cumprod(0))
    return products, x.cumprod(1, dtype=torch.double), x.roll(1), x.roll((1, 3), (0, 1))


@case(BOTH, (3, 5), (2, 7), (4, 4))
def ellipses_of_several_ranks(x: Any) -> Any:
    y = x[None].expand(3, *x.shape)
    return (torch.einsum("...ij,...jk->...ik", y, x.mT), torch.einsum("... i, ... i", y, x[0]),
            torch.einsum("...ij,k...j->...ik", x, y + 1))  # fmt: skip


@case(BOTH, (3, 5), (2, 7), (4, 4))
def runs_of_equal_rows(x: Any) -> Any:
    runs, y = torch.unique_consecutive, (x > 0).long()
    rows, wrong = torch.cat([y, y[-1:], y[:1]]), torch.where(x > 0, math.nan, x.round())
    found = runs(rows, True, True, 0), runs(y, True, True), runs(wrong, True, True)
    return found, runs(wrong, dim=0), torch.cummax(x > 0, 1), torch.cummin(x > 0, 0)


@case(BOTH, (8, 9), (7, 6), (4, 17))
def circles_of_what_is_left(x: Any) -> Any:
    pads = ((-1, 2), (2, -1), (-1, -2), (-1, 2, 1, -1), (2, 0, 0, 1))
    return [
        F.pad(x[None, None], one if len(one) == 4 else (*one, 0, 0), "circular") for one in pads
    ]


@case(BOTH, (8, 9), (7, 6), (3, 17))
def nearest_pixels_of_halves(x: Any) -> Any:
    """Many places lie between two pixels, which float decides."""
    scales = (1.7, (2.3, 0.7), (3.4, 5.1), 0.6)
    image = x[None, None]
    return [F.interpolate(image, scale_factor=one, mode="nearest-exact") for one in scales]


class Module(torch.nn.Module):
    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: Any) -> Any:
        return self.function(x)


def plain(value: Any) -> np.ndarray:
    value = value.detach()
    if value.is_complex():
        value = torch.view_as_real(value.resolve_conj())
    array: np.ndarray = value.numpy()
    return array


@case(BATCH, (3, 4), (5, 4))
def constants_in_branches_and_loops(x: Any) -> Any:
    """They belong to the graphs of the bodies, also of bodies in bodies."""

    def inner(x: Any) -> Any:
        return torch.cond(x.max() > 1, lambda x: x - torch.tensor([1.0, 2, 3, 4]), torch.sin, (x,))

    y = torch.cond(x.sum() > 0, inner, lambda x: x * torch.tensor(3.0), (x,))
    step = lambda i, v: (i + 1, v * torch.tensor([2.0, 1, 0.5, 3]))  # noqa: E731
    return y, while_loop(lambda i, _: i < 3, step, (torch.tensor(0), x))


@case(BATCH, (3, 4), (5, 4), (2, 4))
def sequences_of_several_lengths(x: Any) -> Any:
    pad, parts = torch.nn.utils.rnn.pad_sequence, [x[:2], x, x[1:] + 1]
    return (pad(parts), pad(parts, True, -1.5), pad([one[:, 0] for one in parts], True),
            pad(parts, padding_side="left"))  # fmt: skip


@case(BATCH, (6, 4), (5, 4))
def parts_of_a_dynamic_size(x: Any) -> Any:
    """torch.export fixes their number alone; the last one may be shorter."""
    half = x.split((x.shape[0] + 1) // 2)[0]
    n = x.shape[0]
    whole = x.long() ** n, x.long() ** 3, x.long() * n, x.int() + n, x.to(torch.int8) < n
    parts = torch.cat([one * 2 for one in x.split(4)]), x.mT.split(3, -1)[1], half
    return (*x.split(2), *parts, *whole)


@case(BATCH, (2, 3, 4), (3, 3, 4))
def empty_parts_of_batches(x: Any) -> Any:
    y = x[:, :0]
    return torch.repeat_interleave(y, 4, dim=1) + 1, y.reshape(x.shape[0], 0, 2), y.flatten(1)


@case(BATCH, (3, 4), (2, 4))
def transposed_numbers(x: Any) -> Any:
    return x.sum().mT, x.mT, x[None].mH, x[None].adjoint()


@case(BOTH, (3, 5), (2, 7))
def one_hot_of_a_number(x: Any) -> Any:
    return F.one_hot(x.sum().long().abs() % 4, 4)


@case(BATCH, (3, 4), (2, 4))
def operators_of_lists(x: Any) -> Any:
    a, b, c = x.clone(), x * 2, x[0] + 1
    torch._foreach_add_([a, b, c[:2]], [b, a, c[2:]], alpha=0.5)
    torch._foreach_mul_([a, b], [2.0, 3.0])
    torch._foreach_div_((a[0], b[:, 1]), 4.0)
    torch._foreach_addcmul_([a], [x], [b], value=0.1)
    torch._foreach_addcdiv_([b], [x], [a.abs() + 1], [0.2])
    torch._foreach_lerp_([a, b], [x, x], 0.3)
    torch._foreach_copy_([c], [a[0]])
    torch._foreach_clamp_min_([c], -0.5)
    norms = torch._foreach_norm([a, b, c], 1)
    sums = torch._foreach_sub([a, b], [x, x])
    sums[0][0].add_(1)
    square, power = torch._foreach_pow([a, b], 2)
    torch._foreach_zero_([a[1:]])
    return a, b, c, torch.stack(norms), *sums, square, power, *torch._foreach_maximum([a, b], 0.5)


@case({}, (2, 4))
def sums_below_curves_of_integers(x: Any) -> Any:
    places, found = torch.tensor([1, 2, 4, 8]), []
    for dtype in (torch.int8, torch.uint8, torch.int32, torch.int64):
        y = (x.sigmoid() * 127).to(dtype)
        found += [torch.trapezoid(y), torch.trapezoid(y, dx=0.5, dim=0), torch.trapz(y, dx=2.0),
                  torch.trapezoid(y, places), torch.cumulative_trapezoid(y),
                  torch.cumulative_trapezoid(y, places * 1.5)]  # fmt: skip
    return found


@case(BATCH, (3, 4), (2, 4))
def losses_of_several_types(x: Any) -> Any:
    y, counts, signs = x.double() * 2, (x * 3).long().abs(), (x > 0).long() * 2 - 1
    rounded = (F.binary_cross_entropy_with_logits(x, y.sigmoid(), pos_weight=x[0].abs()),
               F.cosine_similarity(x, y), F.cosine_embedding_loss(x, y, signs[:, 0]),
               F.cross_entropy(x, y.softmax(1)),
               F.triplet_margin_loss(x, y, x.flip(0), swap=True))  # fmt: skip
    return (F.poisson_nll_loss(x, counts), F.soft_margin_loss(x, signs), F.smooth_l1_loss(x, y),
            F.margin_ranking_loss(x[:, 0], x[:, 1], signs[:, 0]), F.huber_loss(y, x),
            F.kl_div(x, y, log_target=True), torch.dist(x, y), F.pairwise_distance(x, y),
            F.margin_ranking_loss(counts[:, 0], counts[:, 1], signs[:, 0]),
            F.pairwise_distance(counts, signs),
            *[one.float() for one in rounded])  # fmt: skip


@case({}, (2, 4))
def floats_written_to_small_integers(x: Any) -> Any:
    y = torch.zeros(2, 4, dtype=torch.uint8)
    y.copy_(x.sign() * 2)
    return y, torch.diagonal_scatter(y, -x[:, 0].abs().ceil())


@case(BATCH, (3, 2), (5, 2))
def running_extremes_of_bfloat16(x: Any) -> Any:
    y = x.bfloat16()
    return [one.float() for one in (*y.cummax(0), *y.cummin(0))]


@case({}, (2, 4))
def products_of_truths(x: Any) -> Any:
    y = x > 0
    return torch.outer(y[0], y[1]), torch.outer(y[0], x[1]), torch.kron(y, y[:1])


@case(BATCH, (3, 6), (2, 6))
def greatest_of_integers(x: Any) -> Any:
    y = (x * 1e5).to(torch.int32)
    return F.max_pool2d(y[None], 2, padding=1), F.max_pool2d((x * 100).to(torch.int16)[None], 2, 1)


@pytest.mark.parametrize("name", CASES)
def test_corner(name: str) -> None:
    function, sizes, dims = CASES[name]
    torch.manual_seed(0)
    module = Module(function)
    exported = sardonyx.torch.export(module, (torch.randn(sizes[0]),), dynamic_shapes=(dims,))
    data = exported.to_model_bytes()
    onnx.checker.check_model(onnx.load_from_string(data), full_check=True)
    native, session = exported.compile(), runtime_with_kernels(data)
    for size in sizes:
        x = torch.randn(size)
        wanted = [plain(one) for one in _pytree.tree_leaves(module(copied(x)))]
        ours = native(x.numpy())
        results = [ours if isinstance(ours, (list, tuple)) else [ours]]
        if session is not None:
            results.append(session.run(None, {session.get_inputs()[0].name: x.numpy()}))
        for found in results:
            for result, want in zip(found, wanted, strict=True):
                assert np.asarray(result).dtype == want.dtype
                loose = want.dtype != np.float64
                np.testing.assert_allclose(result, want, rtol=1e-4 if loose else 1e-11,
                                           atol=1e-4 if loose else 1e-11)  # fmt: skip


@pytest.mark.parametrize(
    "function",
    [lambda z: z.scatter(1, torch.tensor([[0, 1]]), z, reduce="multiply"),
     lambda z: torch.gradient(z.real, spacing=(z[0],), dim=1)[0],
     lambda z: torch.linalg.ldl_factor(z[:, :3])[0]],
)  # fmt: skip
def test_complex_tensors_without_a_form(function: Any) -> None:
    with pytest.raises(sardonyx.torch.ExportError):
        sardonyx.torch.export(Module(lambda x: function(pair(x))), (torch.ones(3, 6),))


def test_complex_division_at_the_ends_of_its_range() -> None:
    """torch's own results for these depend on the processor."""
    ends = [
        (1 + 2j, 0, (np.inf, np.inf)), (-1 + 0j, 0, (-np.inf, np.nan)), (0, 0, (np.nan, np.nan)),
        (1 + 1j, np.inf, (0, 0)), (1 + 1j, complex(0, np.inf), (0, 0)), (3 + 4j, 2j, (2, -1.5)),
        (1e30 + 1e30j, 1e30 + 1e30j, (1, 0)), (1e-30, 1e-30 + 1e-30j, (0.5, -0.5)),
        (1 + 0j, -4 + 3j, (-0.16, -0.12)), (1 + 0j, 3 - 4j, (0.12, 0.16)),
    ]  # fmt: skip
    x = torch.tensor([one[0] for one in ends], dtype=torch.complex64)
    y = torch.tensor([one[1] for one in ends], dtype=torch.complex64)

    class Divided(torch.nn.Module):
        def forward(self, x: Any, y: Any) -> Any:
            return x / y

    model = sardonyx.torch.export(Divided(), (x, y)).compile()
    result = model(torch.view_as_real(x).numpy(), torch.view_as_real(y).numpy())
    wanted = np.float32([one[2] for one in ends])
    np.testing.assert_allclose(np.asarray(result), wanted, rtol=1e-6)
