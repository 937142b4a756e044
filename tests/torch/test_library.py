"""The library beside PyTorch's schemas, and a sample of its operators beside PyTorch's samples.

SDX_FULL=1 tries all operators.
"""

from __future__ import annotations

import inspect

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import opinfo  # noqa: E402
import page  # noqa: E402
from sardonyx._core import is_left_out  # noqa: E402
from sardonyx.torch import aten  # noqa: E402

from sampling import some  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]

# Operators that had a wrong result or none once, or that have many forms: always tried.
ALWAYS = (
    "add", "cat", "index_put", "scatter_reduce", "nn.functional.conv2d", "nn.functional.avg_pool2d",
    "nn.functional.cross_entropy", "var", "slice_scatter", "squeeze", "masked_scatter",
    "index_reduce", "linalg.svd", "linalg.eigh", "histogram", "igamma", "as_strided_scatter",
    "_batch_norm_with_update", "special.modified_bessel_k1",
)  # fmt: skip
SAMPLED = 45


def schema_of(key: str):
    """PyTorch's schema of an overload; None: this build has none."""
    space, _, rest = key.partition("::")
    packet, _, overload = rest.partition(".")
    found = getattr(getattr(torch.ops, space), packet, None)
    return (
        getattr(found, overload)._schema if found is not None and hasattr(found, overload) else None
    )


def test_parameters_are_those_of_the_schemas() -> None:
    """Names and order; a function of several overloads has the parameters of all of them."""
    checked, found = 0, []
    for key, (_, function) in aten.overloads().items():
        if not key.startswith("aten::"):
            continue
        schema = schema_of(key)
        if schema is None:
            found.append(f"torch has no `{key}`")
            continue
        wanted = [one.name for one in schema.arguments if not is_left_out(one.name)]
        # `from` is no name in Python.
        ours = [one.removesuffix("_") for one in inspect.signature(function.__wrapped__).parameters]
        if [one for one in ours if one in wanted] != wanted:
            found.append(f"{key}: {wanted}, not {ours}")
        checked += 1
    assert not found, "\n".join(found)
    assert checked > 500


def test_the_page_has_all_overloads() -> None:
    """`python tests/torch/page.py` brings docs/torch-operators.md up to date."""
    assert page.PAGE.read_text().endswith(page.overload_table(page.written_evidence()))


def infos() -> list:
    every = list(opinfo.op_db)
    chosen = some(every, SAMPLED)
    return chosen + [info for info in every if info.name in ALWAYS and info not in chosen]


def test_samples_are_never_wrong() -> None:
    """What is not in the library is refused; what is converted gives what torch gives."""
    torch.set_num_threads(1)
    wrong, right = [], 0
    for info in infos():
        if torch.float32 not in info.supported_dtypes("cpu"):
            continue
        name = f"{info.name} {info.variant_test_name}".strip()
        if name in opinfo.KNOWN:
            continue
        for outcome in opinfo.outcomes(info, torch.float32, 2):
            right += outcome.kind == "right"
            if outcome.kind == "wrong":
                wrong.append(f"{name}: {outcome.reason}")
    assert not wrong, "\n".join(wrong)
    assert right > SAMPLED // 2


# Where an opset lacks what an operator needs.
NEWER = {"grid_sampler_3d": 20}


def test_every_opset() -> None:
    """The results are those of torch at all opsets; a round tries a sample, SDX_FULL=1 all."""
    torch.set_num_threads(1)
    every = opinfo.float_infos()
    chosen = some(every, SAMPLED)
    chosen += [one for one in every if one[0] in NEWER and one not in chosen]
    wrong, right = [], 0
    for name, info in chosen:
        found = opinfo.by_opset(info)
        newest = found[max(found)].kind if found else "skipped"
        for opset, outcome in found.items():
            wanted = "refused" if opset < NEWER.get(name, 0) else newest
            right += outcome.kind == "right"
            if outcome.kind == "wrong" or outcome.kind != wanted:
                wrong.append(f"{name} at opset {opset}: {outcome.kind}: {outcome.reason}")
    assert not wrong, "\n".join(wrong)
    assert right > SAMPLED * len(opinfo.OPSETS) // 2


# Of each kind of operator that has a form for complex tensors.
COMPLEX = {"asin", "broadcast_tensors", "cumprod", "div", "fft.hfft", "geqrf", "linalg.cholesky",
           "linalg.eigh", "linalg.lu", "linalg.norm", "linalg.pinv", "linalg.svd", "logcumsumexp",
           "masked.var", "matmul", "meshgrid", "ormqr", "pow", "scatter", "var_mean",
           "where"}  # fmt: skip


def test_complex_tensors() -> None:
    torch.set_num_threads(1)
    found = [(info.name, outcome) for info in opinfo.op_db if info.name in COMPLEX
             for outcome in opinfo.outcomes(info, torch.complex64, 4)]  # fmt: skip
    others = [f"{name}: {one.kind}: {one.reason}" for name, one in found
              if one.kind not in ("right", "skipped")]  # fmt: skip
    assert not others, "\n".join(others)
    assert {name for name, one in found if one.kind == "right"} == COMPLEX


@pytest.mark.parametrize("dtype", ["int64", "bool", "float16"])
def test_other_types(dtype: str) -> None:
    torch.set_num_threads(1)
    names = {"add", "mul", "where", "sum", "cat", "eq", "clamp", "amax", "index_select"}
    wrong = []
    for info in opinfo.op_db:
        if info.name in names and getattr(torch, dtype) in info.supported_dtypes("cpu"):
            for outcome in opinfo.outcomes(info, getattr(torch, dtype), 1):
                if outcome.kind == "wrong":
                    wrong.append(f"{info.name}: {outcome.reason}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("name", "dtype"), [("dist", "float16"), ("linalg.vector_norm", "bfloat16"),
                        ("linalg.vector_norm", "float16"), ("polygamma", "int64")],
)  # fmt: skip
def test_ranges_of_types(name: str, dtype: str) -> None:
    """Powers of halves that are out of their range, and poles at whole numbers."""
    torch.set_num_threads(1)
    outcomes = [
        one
        for info in opinfo.op_db
        if info.name == name
        for one in opinfo.outcomes(info, getattr(torch, dtype), 40)
    ]
    assert {one.kind for one in outcomes} <= {"right", "skipped"}, outcomes


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_pixels_are_rounded(mode: str) -> None:
    """torch weighs them by fixed-point numbers, which are one off near the middle."""
    pixels = np.random.default_rng(0).integers(0, 256, (2, 3, 17, 23), dtype=np.uint8)
    image = torch.from_numpy(pixels)
    wanted = torch.nn.functional.interpolate(image, size=(9, 31), mode=mode).numpy()
    function = getattr(aten, f"upsample_{mode}2d")
    off = np.asarray(function(pixels, [9, 31], False, None)).astype(int) - wanted
    assert np.abs(off).max() <= 1
    assert np.count_nonzero(off) < off.size // 50


@pytest.mark.parametrize(
    ("left", "right", "ends"),
    [((10, 4), (3, 4, 5), [3, 3, 9]), ((10, 4), (3, 4, 5), [0, 4, 10]), ((6, 8), (8, 5), [3, 8]),
     ((2, 6, 8), (8, 5), [2, 5]), ((2, 3, 4), (2, 4, 5), None)],
)  # fmt: skip
def test_grouped_products(left: tuple, right: tuple, ends: list | None) -> None:
    """By the products of the groups: torch takes some types and multiples of 16 bytes alone."""
    a, b = (np.random.default_rng(0).random(s, np.float32) for s in (left, right))
    groups = [slice(i, j) for i, j in zip([0, *(ends or [])], ends or [], strict=False)]
    if ends is None:
        wanted = a @ b
    elif len(left) == 3:
        wanted = np.concatenate([a[i] @ b[:, one] for i, one in enumerate(groups)], 1)
    elif len(right) == 2:
        wanted = np.stack([a[:, one] @ b[one] for one in groups])
    else:
        wanted = np.concatenate([a[one] @ b[i] for i, one in enumerate(groups)])
    given = None if ends is None else np.array(ends, np.int32)
    got = np.asarray(aten._grouped_mm(a, b, given))
    np.testing.assert_allclose(got[: len(wanted)], wanted, rtol=1e-5)
    assert not got[len(wanted) :].any()


def test_called_eagerly() -> None:
    x, w, b = (np.random.default_rng(0).random(s, np.float32) for s in ((2, 3), (4, 3), (4,)))
    wanted = torch.nn.functional.linear(*map(torch.from_numpy, (x, w, b))).numpy()
    np.testing.assert_allclose(aten.linear(x, w, b), wanted, rtol=1e-6)
    ours = aten.var_mean(x, [1], correction=0, keepdim=True)
    theirs = torch.var_mean(torch.from_numpy(x), [1], correction=0, keepdim=True)
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one, other.numpy(), rtol=1e-6)
