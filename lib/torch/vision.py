"""torchvision's operators, such as `torchvision::nms`; the package need not be installed."""

from sardonyx import FLOAT, INT64

from .declare import aten, op
from .types import cast, in_float, wide

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
