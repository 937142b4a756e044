"""torchvision's operators, such as `torchvision::nms`; the package need not be installed."""

from sardonyx import FLOAT, INT64

from .declare import aten, inline, op
from .types import cast, floating, in_float, wide

_ALL_BOXES = 2**31 - 1


@aten("nms.default", namespace="torchvision")
def nms(dets, scores, iou_threshold):
    """The places of the boxes that are kept, those of the highest scores first."""
    boxes = op.Unsqueeze(cast(dets, FLOAT.dtype), [0])
    found = op.NonMaxSuppression(boxes, op.Unsqueeze(cast(scores, FLOAT.dtype), [0, 1]),
                                 _ALL_BOXES, float(iou_threshold))  # fmt: skip
    return op.Gather(found, 2, axis=1)


@aten("roi_align.default", namespace="torchvision")
def roi_align(
    input, rois, spatial_scale, pooled_height, pooled_width, sampling_ratio, aligned
):  # fmt: skip
    """Each row of `rois` is the place of an image in the batch, and the corners of a part of it."""
    images = op.Cast(op.Gather(rois, 0, axis=1), to=INT64.dtype)
    y = op.RoiAlign(
        wide(input), cast(op.Slice(rois, [1], [5], [1]), wide(input).dtype), images,
        coordinate_transformation_mode="half_pixel" if aligned else "output_half_pixel",
        output_height=pooled_height, output_width=pooled_width,
        sampling_ratio=max(sampling_ratio, 0), spatial_scale=float(spatial_scale),
    )  # fmt: skip
    return cast(y, input.dtype)


@aten("roi_pool.default", namespace="torchvision")
def roi_pool(input, rois, spatial_scale, pooled_height, pooled_width):
    """The second result, the places of the maxima, is for gradients alone."""
    y = in_float(
        lambda x: op.MaxRoiPool(
            x, cast(rois, x.dtype), pooled_shape=[pooled_height, pooled_width],
            spatial_scale=float(spatial_scale),
        ),
        input,
    )  # fmt: skip
    return y, None


@aten("deform_conv2d.default", namespace="torchvision")
def deform_conv2d(
    input, weight, offset, mask, bias, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w,
    groups, offset_groups, use_mask,
):  # fmt: skip
    if op.version < 19:
        raise NotImplementedError("`torchvision::deform_conv2d` needs DeformConv of opset 19")
    y = op.DeformConv(
        wide(input), wide(weight), wide(offset), wide(bias), wide(mask) if use_mask else None,
        strides=[stride_h, stride_w], pads=[pad_h, pad_w, pad_h, pad_w],
        dilations=[dilation_h, dilation_w], group=groups, offset_group=offset_groups,
    )  # fmt: skip
    return cast(y, input.dtype)


# --- Position-sensitive pooling: each part of a box has channels of its own


@aten("ps_roi_align.default", namespace="torchvision")
def ps_roi_align(input, rois, spatial_scale, pooled_height, pooled_width, sampling_ratio):
    """The second result, the channel of each element, is for gradients alone."""
    y = roi_align(input, rois, spatial_scale, pooled_height, pooled_width, sampling_ratio, True)
    parts = pooled_height * pooled_width
    own = op.Range(0, parts, 1) * (parts + 1)  # the channel of a part, at this part
    y = op.Gather(op.Reshape(y, [rois.shape[0], -1, parts * parts]), own, axis=2)
    return op.Reshape(y, [rois.shape[0], -1, pooled_height, pooled_width]), None


@inline
def whole(x):
    """To the next integer; halves away from zero."""
    return op.Sign(x) * op.Floor(op.Abs(x) + 0.5)


@inline
def inside_parts(first, last, parts, size):
    """Which of `size` elements lie in each part from `first` to `last`, a row for each box."""
    step = op.Max(last - first, 1.0) / float(parts)
    i = op.Cast(op.Range(0, parts, 1), to=step.dtype)
    low = op.Clip(op.Floor(i * step) + first, 0.0, op.Cast(size - 1, to=step.dtype))
    high = op.Clip(op.Ceil((i + 1.0) * step) + first, 0.0, op.Cast(size - 1, to=step.dtype))
    places = op.Cast(op.Range(0, size, 1), to=step.dtype)
    low, high = op.Unsqueeze(low, [2]), op.Unsqueeze(high, [2])
    return op.Cast((places >= low) & (places < high), to=step.dtype)


@aten("ps_roi_pool.default", namespace="torchvision")
def ps_roi_pool(input, rois, spatial_scale, pooled_height, pooled_width):
    """The mean of whole elements; the second result is for gradients alone."""
    x, boxes = floating(wide(input)), floating(wide(rois))
    images = op.Cast(op.Gather(rois, 0, axis=1), to=INT64.dtype)
    x1, y1, x2, y2 = [
        op.Unsqueeze(whole(op.Gather(boxes, i, axis=1) * float(spatial_scale)), [1])
        for i in range(1, 5)
    ]
    height, width = input.shape[2], input.shape[3]
    rows = inside_parts(y1, y2, pooled_height, height)  # [box, part, row]
    columns = inside_parts(x1, x2, pooled_width, width)
    shape = [rois.shape[0], -1, pooled_height, pooled_width, height, width]
    seen = op.Reshape(op.Gather(x, images, axis=0), shape)
    seen = op.MatMul(op.Unsqueeze(rows, [1, 3, 4]), seen)
    seen = op.MatMul(seen, op.Unsqueeze(columns, [1, 2, 5]))
    count = op.Unsqueeze(op.ReduceSum(rows, [2], keepdims=0), [2]) * op.Unsqueeze(
        op.ReduceSum(columns, [2], keepdims=0), [1]
    )
    y = op.Squeeze(seen, [4, 5]) / op.Unsqueeze(op.Max(count, 1.0), [1])
    return cast(y, input.dtype), None
