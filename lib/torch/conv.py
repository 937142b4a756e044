"""Convolutions."""

from .declare import aten, inline, op
from .types import cast, repeated, wide


@inline
def batched(f, x, rank):
    """`f` of a batch; of one sample without a batch as well."""
    return op.Squeeze(f(op.Unsqueeze(x, [0])), [0]) if x.ndim < rank else f(x)


@inline
def by_groups(f, x, weight, bias, groups):
    """`f(x, weight, bias, groups)`; a loop where their number may not be known.

    It is a size then, and the channels of both are multiples of it.
    """
    if isinstance(x.type.shape[1], int) or isinstance(weight.type.shape[0], int):
        return f(x, weight, bias, groups)
    xs = op.Reshape(x, [x.shape[0], groups, -1, *x.shape[2:]])
    ws = op.Reshape(weight, [groups, -1, *weight.shape[1:]])
    rows = []
    for i in range(groups):
        rows.append(f(op.Gather(xs, i, axis=1), op.Gather(ws, i, axis=0), None, 1))
    y = op.ConcatFromSequence(rows, axis=0, new_axis=1)
    y = op.Transpose(y, perm=[1, 0, *range(2, y.ndim)])
    y = op.Reshape(y, [y.shape[0], -1, *y.shape[3:]])
    return y if bias is None else y + op.Reshape(bias, [-1, *[1] * (x.ndim - 2)])


@inline
def convolved(input, weight, bias, stride, padding, dilation, groups):
    n = weight.ndim - 2
    if isinstance(padding, str):
        # "same" puts the odd element behind.
        dilations = repeated(dilation, n)
        total = [dilations[i] * (weight.shape[2 + i] - 1) for i in range(n)]
        before = [one // 2 if padding == "same" else 0 for one in total]
        after = [one - one // 2 if padding == "same" else 0 for one in total]
        pads = before + after
    else:
        pads = repeated(padding, n) * 2
    w, b = wide(weight), None if bias is None else wide(bias)

    def f(x, w, b, groups):
        return op.Conv(x, w, b, strides=repeated(stride, n), pads=pads,
                       dilations=repeated(dilation, n), group=groups)  # fmt: skip

    y = batched(lambda x: by_groups(f, x, w, b, groups), wide(input), n + 2)
    return cast(y, input.dtype)


@aten("conv1d.default", "conv2d.default", "conv3d.default", "conv1d.padding", "conv2d.padding",
      "conv3d.padding")  # fmt: skip
def conv(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    return convolved(input, weight, bias, stride, padding, dilation, groups)


@inline
def transposed(input, weight, bias, stride, padding, output_padding, groups, dilation):
    n = weight.ndim - 2
    w, b = wide(weight), None if bias is None else wide(bias)

    def f(x, w, b, groups):
        return op.ConvTranspose(
            x, w, b, strides=repeated(stride, n), pads=repeated(padding, n) * 2,
            output_padding=repeated(output_padding, n), group=groups,
            dilations=repeated(dilation, n))  # fmt: skip

    y = batched(lambda x: by_groups(f, x, w, b, groups), wide(input), n + 2)
    return cast(y, input.dtype)


@aten("conv_transpose1d.default", "conv_transpose2d.input", "conv_transpose3d.input")
def conv_transpose(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1,
                   dilation=1):  # fmt: skip
    return transposed(input, weight, bias, stride, padding, output_padding, groups, dilation)


@aten("convolution.default")
def convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    if transposed:
        return conv_transpose(
            input, weight, bias, stride, padding, output_padding, groups, dilation
        )
    return convolved(input, weight, bias, stride, padding, dilation, groups)


@aten("conv_tbc.default")
def conv_tbc(self, weight, bias, pad=0):
    x = op.Transpose(self, perm=[1, 2, 0])
    y = op.Conv(x, op.Transpose(weight, perm=[2, 1, 0]), bias, pads=[pad, pad])
    return op.Transpose(y, perm=[2, 0, 1])
