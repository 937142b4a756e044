"""The operators of torchvision, whose package need not be there: its schemas are declared here.

Their meaning is written out below, element by element: for the papers (Girshick 2015 for RoI
pooling, He et al. 2017 for RoI alignment, Dai et al. 2017 and Zhu et al. 2019 for deformable
convolutions) leave the borders open, which follow torchvision's documentation.
"""

from __future__ import annotations

import math
import pathlib
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

torch = pytest.importorskip("torch")

import sardonyx.torch  # noqa: E402
from torch import nn  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]

SCHEMAS = (
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    ("roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, "
     "SymInt pooled_width, int sampling_ratio, bool aligned) -> Tensor"),
    ("roi_pool(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, "
     "SymInt pooled_width) -> (Tensor, Tensor)"),
    ("ps_roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, "
     "SymInt pooled_width, int sampling_ratio) -> (Tensor, Tensor)"),
    ("ps_roi_pool(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, "
     "SymInt pooled_width) -> (Tensor, Tensor)"),
    ("deform_conv2d(Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, "
     "SymInt stride_h, SymInt stride_w, SymInt pad_h, SymInt pad_w, SymInt dilation_h, "
     "SymInt dilation_w, SymInt groups, SymInt offset_groups, bool use_mask) -> Tensor"),
)  # fmt: skip


def nms(dets: Any, scores: Any, iou_threshold: float) -> Any:
    kept: list[int] = []
    area = (dets[:, 2] - dets[:, 0]) * (dets[:, 3] - dets[:, 1])
    for i in torch.argsort(scores, descending=True, stable=True).tolist():
        low, high = (f(dets[i, at], dets[kept][:, at]) for f, at in
                     ((torch.maximum, slice(0, 2)), (torch.minimum, slice(2, 4))))  # fmt: skip
        shared = (high - low).clamp(min=0).prod(1)
        if not (shared / (area[i] + area[kept] - shared) > iou_threshold).any():
            kept.append(i)
    return torch.tensor(kept, dtype=torch.int64)


def between(image: Any, y: float, x: float) -> Any:
    """All channels at a place between elements; 0 from a whole element outside on."""
    height, width = image.shape[1:]
    if y <= -1 or x <= -1 or y >= height or x >= width:
        return torch.zeros(image.shape[0], dtype=image.dtype)
    total = torch.zeros(image.shape[0], dtype=image.dtype)
    for i in (math.floor(y), math.floor(y) + 1):
        for j in (math.floor(x), math.floor(x) + 1):
            if 0 <= i < height and 0 <= j < width:
                total += image[:, i, j] * (1 - abs(y - i)) * (1 - abs(x - j))
    return total


def roi_align(input: Any, rois: Any, spatial_scale: float, pooled_height: int, pooled_width: int,
              sampling_ratio: int, aligned: bool) -> Any:  # fmt: skip
    height, width = input.shape[2:]
    made = torch.zeros(len(rois), input.shape[1], pooled_height, pooled_width, dtype=input.dtype)
    for k, roi in enumerate(rois.tolist()):
        x1, y1, x2, y2 = (one * spatial_scale - 0.5 * aligned for one in roi[1:])
        least = 0 if aligned else 1
        h = max(y2 - y1, least) / pooled_height
        w = max(x2 - x1, least) / pooled_width
        down, right = (sampling_ratio or math.ceil(one) for one in (h, w))
        for i in range(pooled_height):
            for j in range(pooled_width):
                for a in range(down):
                    for b in range(right):
                        y, x = y1 + (i + (a + 0.5) / down) * h, x1 + (j + (b + 0.5) / right) * w
                        if -1 <= y <= height and -1 <= x <= width:
                            # The outermost elements go on for one more.
                            y, x = min(max(y, 0), height - 1), min(max(x, 0), width - 1)
                            made[k, :, i, j] += between(input[int(roi[0])], y, x)
                made[k, :, i, j] /= max(down * right, 1)
    return made


def roi_pool(input: Any, rois: Any, spatial_scale: float, pooled_height: int, pooled_width: int
             ) -> Any:  # fmt: skip
    made = torch.zeros(len(rois), input.shape[1], pooled_height, pooled_width, dtype=input.dtype)
    places = torch.full(made.shape, -1, dtype=torch.int32)
    for k, roi in enumerate(rois.tolist()):
        x1, y1, x2, y2 = (math.floor(one * spatial_scale + 0.5) for one in roi[1:])
        h, w = max(y2 - y1 + 1, 1) / pooled_height, max(x2 - x1 + 1, 1) / pooled_width
        for i in range(pooled_height):
            for j in range(pooled_width):
                top, left = max(y1 + math.floor(i * h), 0), max(x1 + math.floor(j * w), 0)
                bottom, right = y1 + math.ceil((i + 1) * h), x1 + math.ceil((j + 1) * w)
                part = input[int(roi[0]), :, top : max(bottom, 0), left : max(right, 0)]
                if part.numel() > 0:
                    made[k, :, i, j] = part.amax((1, 2))
    return made, places


def ps_roi_align(input: Any, rois: Any, spatial_scale: float, pooled_height: int,
                 pooled_width: int, sampling_ratio: int) -> Any:  # fmt: skip
    """Each part of a box from the channels that are its own (Dai et al. 2016)."""
    found = roi_align(
        input, rois, spatial_scale, pooled_height, pooled_width, sampling_ratio, True
    ).unflatten(1, (-1, pooled_height, pooled_width))
    made = torch.stack([torch.stack([found[:, :, i, j, i, j] for j in range(pooled_width)], -1)
                        for i in range(pooled_height)], -2)  # fmt: skip
    return made, torch.zeros(made.shape, dtype=torch.int32)


def ps_roi_pool(input: Any, rois: Any, spatial_scale: float, pooled_height: int, pooled_width: int
                ) -> Any:  # fmt: skip
    """The means of whole elements, of which the last row and column are left out."""
    height, width = input.shape[2:]
    own = input.unflatten(1, (-1, pooled_height, pooled_width))
    made = torch.zeros(len(rois), own.shape[1], pooled_height, pooled_width, dtype=input.dtype)
    for k, roi in enumerate(rois.tolist()):
        x1, y1, x2, y2 = (math.floor(one * spatial_scale + 0.5) for one in roi[1:])
        h, w = max(y2 - y1, 1) / pooled_height, max(x2 - x1, 1) / pooled_width
        for i in range(pooled_height):
            for j in range(pooled_width):
                top, bottom = (min(max(one + y1, 0), height - 1)
                               for one in (math.floor(i * h), math.ceil((i + 1) * h)))  # fmt: skip
                left, right = (min(max(one + x1, 0), width - 1)
                               for one in (math.floor(j * w), math.ceil((j + 1) * w)))  # fmt: skip
                part = own[int(roi[0]), :, i, j, top:bottom, left:right]
                if part.numel() > 0:
                    made[k, :, i, j] = part.mean((1, 2))
    return made, torch.zeros(made.shape, dtype=torch.int32)


def deform_conv2d(input: Any, weight: Any, offset: Any, mask: Any, bias: Any, stride_h: int,
                  stride_w: int, pad_h: int, pad_w: int, dilation_h: int, dilation_w: int,
                  groups: int, offset_groups: int, use_mask: bool) -> Any:  # fmt: skip
    n, channels = input.shape[:2]
    out, per_group, kh, kw = weight.shape
    height, width = offset.shape[2:]
    made = torch.zeros(n, out, height, width, dtype=input.dtype)
    moved = offset.reshape(n, offset_groups, kh, kw, 2, height, width)
    factors = mask.reshape(n, offset_groups, kh, kw, height, width) if use_mask else None
    each = channels // offset_groups
    for b in range(n):
        for i in range(height):
            for j in range(width):
                seen = torch.zeros(channels, kh, kw, dtype=input.dtype)
                for g in range(offset_groups):
                    for p in range(kh):
                        for q in range(kw):
                            dy, dx = moved[b, g, p, q, :, i, j].tolist()
                            y = i * stride_h - pad_h + p * dilation_h + dy
                            x = j * stride_w - pad_w + q * dilation_w + dx
                            found = between(input[b, g * each : (g + 1) * each], y, x)
                            factor = factors[b, g, p, q, i, j] if use_mask else 1
                            seen[g * each : (g + 1) * each, p, q] = found * factor
                for o in range(out):
                    first = o // (out // groups) * per_group
                    made[b, o, i, j] = (weight[o] * seen[first : first + per_group]).sum() + bias[o]
    return made


@pytest.fixture(scope="module", autouse=True)
def library() -> Any:
    """Declares the operators as torchvision does, with shapes and with the functions above."""
    made = torch.library.Library("torchvision", "FRAGMENT")
    if hasattr(torch.ops.torchvision, "nms"):
        pytest.skip("torchvision is loaded")
    for schema in SCHEMAS:
        name = schema.partition("(")[0]
        made.define(schema)
        made.impl(name, globals()[name], "CPU")

    def any_number(dets: Any, *_: Any) -> Any:
        size = torch.library.get_ctx().new_dynamic_size()
        return dets.new_empty(size, dtype=torch.int64)

    def pooled(input: Any, rois: Any, _scale: float, height: int, width: int, *_: Any
               ) -> Any:  # fmt: skip
        return input.new_empty((rois.shape[0], input.shape[1], height, width))

    torch.library.register_fake("torchvision::nms", any_number, lib=made)
    torch.library.register_fake("torchvision::roi_align", pooled, lib=made)
    torch.library.register_fake(
        "torchvision::roi_pool",
        lambda *given: (pooled(*given), pooled(*given).to(torch.int32)), lib=made,
    )  # fmt: skip

    def own(input: Any, rois: Any, _scale: float, height: int, width: int, *_: Any) -> Any:
        shape = (rois.shape[0], input.shape[1] // (height * width), height, width)
        return input.new_empty(shape), input.new_empty(shape, dtype=torch.int32)

    torch.library.register_fake("torchvision::ps_roi_align", own, lib=made)
    torch.library.register_fake("torchvision::ps_roi_pool", own, lib=made)
    torch.library.register_fake(
        "torchvision::deform_conv2d",
        lambda x, weight, offset, *_: x.new_empty((x.shape[0], weight.shape[0], *offset.shape[2:])),
        lib=made,
    )  # fmt: skip
    yield
    made._destroy()


class Called(nn.Module):
    def __init__(self, name: str, *options: Any) -> None:
        super().__init__()
        self.name, self.options = name, options

    def forward(self, *tensors: torch.Tensor) -> Any:
        found = getattr(torch.ops.torchvision, self.name)(*tensors, *self.options)
        return found[0] if isinstance(found, tuple) else found


def boxes(n: int, size: float) -> torch.Tensor:
    corner = torch.rand(n, 2) * size
    return torch.cat([corner, corner + torch.rand(n, 2) * size], 1)


def rois(n: int, images: int, size: float) -> torch.Tensor:
    return torch.cat([torch.randint(0, images, (n, 1)).float(), boxes(n, size)], 1)


def check(module: nn.Module, one: Any, others: list[Any], tmp_path: pathlib.Path, **options: Any
          ) -> None:  # fmt: skip
    """Right in our evaluator and in ONNX Runtime, from memory and from a file."""
    shapes = tuple({0: torch.export.Dim.AUTO} for _ in one)
    program = torch.export.export(module, one, dynamic_shapes=(shapes,))
    exported = sardonyx.torch.convert(program, **options)
    data = exported.to_model_bytes()
    onnx.checker.check_model(onnx.load_from_string(data), full_check=True)
    torch.export.save(program, tmp_path / "model.pt2")
    from_file = sardonyx.torch.convert(tmp_path / "model.pt2", **options)
    assert from_file.to_script() == exported.to_script()
    native = exported.compile()
    session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    for given in (one, *others):
        wanted = module(*given).numpy()
        arrays = [tensor.numpy() for tensor in given]
        feeds = dict(zip([one.name for one in session.get_inputs()], arrays, strict=True))
        for found in (native(*arrays), session.run(None, feeds)[0]):
            assert np.asarray(found).dtype == wanted.dtype
            np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("threshold", [0.0, 0.3, 0.7, 1.0])
def test_nms(threshold: float, tmp_path: pathlib.Path) -> None:
    torch.manual_seed(0)
    given = [(boxes(n, 10), torch.rand(n)) for n in (30, 7, 1)]
    given.append((boxes(9, 10), torch.tensor([0.5] * 9)))  # equal scores: the first ones first
    check(Called("nms", threshold), given[0], given[1:], tmp_path)


def test_nms_of_doubles(tmp_path: pathlib.Path) -> None:
    torch.manual_seed(1)
    check(Called("nms", 0.4), (boxes(12, 10).double(), torch.rand(12).double()), [], tmp_path)


@pytest.mark.parametrize("aligned", [False, True])
@pytest.mark.parametrize("ratio", [2, 0])
def test_roi_align(aligned: bool, ratio: int, tmp_path: pathlib.Path) -> None:
    torch.manual_seed(0)
    given = [(torch.randn(n, 3, 8, 9), rois(k, n, 14)) for n, k in ((2, 6), (3, 4))]
    check(Called("roi_align", 0.5, 3, 2, ratio, aligned), given[0], given[1:], tmp_path)


def test_roi_pool(tmp_path: pathlib.Path) -> None:
    torch.manual_seed(0)
    given = [(torch.randn(n, 3, 8, 9), rois(k, n, 14)) for n, k in ((2, 6), (3, 4))]
    check(Called("roi_pool", 0.5, 3, 2), given[0], given[1:], tmp_path)


@pytest.mark.parametrize("ratio", [2, 0])
def test_ps_roi_align(ratio: int, tmp_path: pathlib.Path) -> None:
    torch.manual_seed(0)
    given = [(torch.randn(n, 12, 8, 9), rois(k, n, 14)) for n, k in ((2, 6), (3, 4))]
    check(Called("ps_roi_align", 0.5, 3, 2, ratio), given[0], given[1:], tmp_path)


def test_ps_roi_pool(tmp_path: pathlib.Path) -> None:
    torch.manual_seed(0)
    given = [(torch.randn(n, 12, 8, 9), rois(k, n, 14)) for n, k in ((2, 6), (3, 4))]
    check(Called("ps_roi_pool", 0.5, 3, 2), given[0], given[1:], tmp_path)


@pytest.mark.parametrize("use_mask", [False, True])
@pytest.mark.parametrize(("groups", "offset_groups"), [(1, 1), (2, 2)])
def test_deform_conv2d(use_mask: bool, groups: int, offset_groups: int, tmp_path: pathlib.Path
                       ) -> None:  # fmt: skip
    torch.manual_seed(0)

    class Deformed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.randn(4, 4 // groups, 3, 2))
            self.bias = nn.Parameter(torch.randn(4))

        def forward(self, *given: torch.Tensor) -> Any:
            x, offset = given[:2]
            mask = given[2] if use_mask else torch.zeros(x.shape[0], 1)
            return torch.ops.torchvision.deform_conv2d(
                x,
                self.weight,
                offset,
                mask,
                self.bias,
                2,
                1,
                1,
                0,
                1,
                2,
                groups,
                offset_groups,
                use_mask,
            )

    def inputs(n: int) -> Any:
        x, offset = torch.randn(n, 4, 6, 7), torch.randn(n, offset_groups * 12, 3, 5)
        return (x, offset, torch.rand(n, offset_groups * 6, 3, 5))[: 3 if use_mask else 2]

    module = Deformed()
    with torch.no_grad():
        check(module, inputs(2), [inputs(3)], tmp_path, opset=19)
    program = torch.export.export(module, inputs(1))
    with pytest.raises(sardonyx.torch.ExportError, match="opset 19"):
        sardonyx.torch.convert(program, opset=18)


def test_a_result_that_is_for_gradients_is_refused() -> None:
    class Places(nn.Module):
        def forward(self, x: torch.Tensor, rois: torch.Tensor) -> Any:
            return torch.ops.torchvision.roi_pool(x, rois, 1.0, 2, 2)[1] + 1

    program = torch.export.export(Places(), (torch.randn(1, 2, 5, 5), rois(2, 1, 4)))
    with pytest.raises(sardonyx.torch.ExportError):
        sardonyx.torch.convert(program)
