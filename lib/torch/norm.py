"""Normalisation."""

from sardonyx import FLOAT, UINT8

from .create import chosen_places
from .declare import aten, inline, op
from .reduce import normed
from .types import axis, cast, computed, count_of, floating, promoted, tensor


@inline
def normalised(x, dims, eps):
    """(x - mean) / sqrt(variance + eps), its mean, and the factor."""
    middle = op.ReduceMean(x, dims, keepdims=1)
    away = x - middle
    spread = op.ReduceMean(away * away, dims, keepdims=1)
    length = op.Sqrt(spread + eps)
    return away / length, middle, op.Reciprocal(length)


@inline
def normalised_in_channels(x, eps):
    """The same for each channel of [n, channel, ...]."""
    if x.dtype != FLOAT.dtype or not isinstance(x.type.shape[1], int):
        y, _, _ = normalised(x, list(range(2, x.ndim)), eps)
        return y
    count = x.type.shape[1]
    return op.InstanceNormalization(x, [1.0] * count, [0.0] * count, epsilon=eps)


@inline
def per_channel(v, rank):
    """A value for each channel, for a tensor [n, channel, ...]."""
    return op.Reshape(v, [-1] + [1] * (rank - 2)) if rank > 2 else v


@inline
def with_weights(y, weight, bias, dtype):
    """Normalised channels times their weights, in the type of these, as `dtype`."""
    y = cast(y, dtype if weight is None else weight.dtype)
    y = y if weight is None else y * per_channel(weight, y.ndim)
    y = y if bias is None else y + per_channel(bias, y.ndim)
    return cast(y, dtype)


@aten("batch_norm.default")
def batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps,
               cudnn_enabled):  # fmt: skip
    if training or running_mean is None:
        dims = [0, *range(2, input.ndim)]
        y, _, _ = normalised(computed(input), dims, eps)
        return with_weights(y, weight, bias, input.dtype)
    scale = (
        op.Expand(tensor(1.0, running_mean.dtype), running_mean.shape) if weight is None else weight
    )
    offset = (
        op.Expand(tensor(0.0, running_mean.dtype), running_mean.shape) if bias is None else bias
    )
    return op.BatchNormalization(input, scale, offset, running_mean, running_var, epsilon=eps)


@aten("native_batch_norm.default", "_native_batch_norm_legit.default")
def native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps):
    y = batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, False)
    if not training:
        empty = op.Expand(tensor(0.0, input.dtype), [0])
        return y, empty, empty
    dims = [0, *range(2, input.ndim)]
    _, middle, factor = normalised(computed(input), dims, eps)
    dtype = input.dtype if weight is None else weight.dtype
    return y, cast(op.Reshape(middle, [-1]), dtype), cast(op.Reshape(factor, [-1]), dtype)


@aten("_native_batch_norm_legit_no_training.default")
def native_batch_norm_no_training(input, weight, bias, running_mean, running_var, momentum, eps):
    y = batch_norm(input, weight, bias, running_mean, running_var, False, momentum, eps, False)
    empty = op.Expand(tensor(0.0, input.dtype), [0])
    return y, empty, empty


@aten("_native_batch_norm_legit.no_stats")
def native_batch_norm_no_stats(input, weight, bias, training, momentum, eps):
    return native_batch_norm(input, weight, bias, None, None, True, momentum, eps)


@aten("_batch_norm_with_update.default")
def batch_norm_with_update(input, weight, bias, running_mean, running_var, momentum, eps):
    y, middle, factor = native_batch_norm(
        input, weight, bias, running_mean, running_var, True, momentum, eps
    )
    return y, middle, factor, op.Expand(tensor(0, UINT8.dtype), [0])


@aten("running_statistics", namespace="sardonyx")
def running_statistics(input, running_mean, running_var, momentum):
    """What normalisation in training makes of its running mean and variance."""
    x = computed(input)
    dims = [0, *range(2, x.ndim)]
    middle = op.ReduceMean(x, dims, keepdims=1)
    away = x - middle
    count = float(count_of(x, dims)) if isinstance(count_of(x, dims), int) else op.CastLike(
        count_of(x, dims), x)  # fmt: skip
    spread = op.ReduceSum(away * away, dims, keepdims=0) / (count - 1.0)
    mean = running_mean * (1.0 - momentum) + cast(op.Reshape(middle, [-1]), running_mean.dtype) * (
        momentum)  # fmt: skip
    return mean, running_var * (1.0 - momentum) + cast(spread, running_var.dtype) * momentum


@aten("_native_batch_norm_legit_functional.default")
def native_batch_norm_functional(input, weight, bias, running_mean, running_var, training, momentum,
                                 eps):  # fmt: skip
    found = native_batch_norm(
        input, weight, bias, running_mean, running_var, training, momentum, eps
    )
    if not training:
        return *found, op.Identity(running_mean), op.Identity(running_var)
    return *found, *running_statistics(input, running_mean, running_var, momentum)


@inline
def ones_of(like, shape):
    return op.Expand(tensor(1.0, like.dtype), list(shape))


@aten("layer_norm.default")
def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-05, cudnn_enable=True):
    first = input.ndim - len(normalized_shape)
    scale = ones_of(input, normalized_shape) if weight is None else weight
    y = op.LayerNormalization(cast(input, scale.dtype), scale, bias, axis=first, epsilon=eps)
    return cast(y, input.dtype)


@aten("native_layer_norm.default")
def native_layer_norm(input, normalized_shape, weight, bias, eps):
    first = input.ndim - len(normalized_shape)
    dims = list(range(first, input.ndim))
    _, middle, factor = normalised(computed(input), dims, eps)
    y = layer_norm(input, normalized_shape, weight, bias, eps)
    return y, *statistics_of(middle, factor, input, weight)


@inline
def statistics_of(middle, factor, input, weight):
    """In the type of the weights, of which FLOAT ones may go with halves."""
    dtype = input.dtype if weight is None else weight.dtype
    return cast(middle, dtype), cast(factor, dtype)


@aten("rms_norm.default")
def rms_norm(input, normalized_shape, weight=None, eps=None):
    eps = (
        (1.1920928955078125e-07 if input.dtype.bitwidth < 64 else 2.220446049250313e-16)
        if eps is None
        else eps
    )
    first = input.ndim - len(normalized_shape)
    x = computed(input)
    mean = op.ReduceMean(x * x, list(range(first, input.ndim)), keepdims=1)
    y = x / op.Sqrt(mean + eps)
    y = y if weight is None else y * cast(weight, y.dtype)
    return cast(y, input.dtype)


@aten("group_norm.default")
def group_norm(input, num_groups, weight=None, bias=None, eps=1e-05, cudnn_enabled=True):
    x = computed(input)
    y = normalised_in_channels(op.Reshape(x, [0, num_groups, -1]), eps)
    return with_weights(op.Reshape(y, x.shape), weight, bias, input.dtype)


@aten("native_group_norm.default")
def native_group_norm(input, weight, bias, N, C, HxW, group, eps):
    x = computed(input)
    _, middle, factor = normalised(op.Reshape(x, [x.shape[0], group, -1]), [2], eps)
    y = group_norm(input, group, weight, bias, eps)
    return y, *statistics_of(op.Squeeze(middle, [2]), op.Squeeze(factor, [2]), input, weight)


@aten("instance_norm.default")
def instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps,
                  cudnn_enabled):  # fmt: skip
    if not use_input_stats:
        return batch_norm(
            input, weight, bias, running_mean, running_var, False, momentum, eps, False
        )
    if input.dtype == FLOAT.dtype and weight is not None and bias is not None:
        return op.InstanceNormalization(input, weight, bias, epsilon=eps)
    y = normalised_in_channels(computed(input), eps)
    return with_weights(y, weight, bias, input.dtype)


@aten("norm_except_dim.default")
def norm_except_dim(v, pow=2, dim=0):
    """-1 is not the last dimension, but none: the norm is that of the whole tensor."""
    if dim == -1:
        return normed(v, pow, None, False)
    return normed(v, pow, [one for one in range(v.ndim) if one != axis(dim, v.ndim)], True)


@aten("_weight_norm.default")
def weight_norm(v, g, dim=0):
    return v * (g / norm_except_dim(v, 2, dim))


@aten("_weight_norm_interface.default")
def weight_norm_interface(v, g, dim=0):
    length = norm_except_dim(v, 2, dim)
    return v * (g / length), length


@aten("cosine_similarity.default")
def cosine_similarity(x1, x2, dim=1, eps=1e-08):
    x1, x2 = promoted(x1, x2)
    if x1.ndim == 0 and x2.ndim == 0:
        return cosine(x1, x2, eps)
    if x1.type.shape != x2.type.shape or None in x1.type.shape:  # lengths are those of both
        x1 = op.Expand(x1, x2.shape) if x2.ndim > 0 else x1
        x2 = op.Expand(x2, x1.shape)
    a = x1 / op.Max(length(x1, dim), tensor(eps, x1.dtype))
    b = x2 / op.Max(length(x2, dim), tensor(eps, x2.dtype))
    return op.ReduceSum(a * b, [dim], keepdims=0)


@inline
def cosine(a, b, eps):
    """Of two numbers."""
    limit = tensor(eps, a.dtype)
    return (a / op.Max(op.Abs(a), limit)) * (b / op.Max(op.Abs(b), limit))


@inline
def length(x, dim):
    return op.Sqrt(op.ReduceSum(x * x, [dim], keepdims=1))


@aten("pairwise_distance.default")
def pairwise_distance(x1, x2, p=2, eps=1e-06, keepdim=False):
    x1, x2 = promoted(x1, x2)
    return normed(floating(x1 - x2) + eps, p, [-1], keepdim)


@aten("cdist.default")
def cdist(x1, x2, p=2, compute_mode=None):
    return normed(op.Unsqueeze(x1, [-2]) - op.Unsqueeze(x2, [-3]), p, [-1], False)


@aten("_cdist_forward.default")
def cdist_forward(x1, x2, p, compute_mode):
    return cdist(x1, x2, p)


@aten("pdist.default", "_pdist_forward.default")
def pdist(self, p=2):
    if not isinstance(self.type.shape[0], int):
        both = op.Gather(self, chosen_places(self.shape[0], 2, False), axis=0)
        return normed(op.Gather(both, 0, axis=1) - op.Gather(both, 1, axis=1), p, [-1], False)
    n = self.shape[0]
    rows = [i for i in range(n) for j in range(i + 1, n)]
    columns = [j for i in range(n) for j in range(i + 1, n)]
    if len(rows) == 0:
        return op.Expand(tensor(0.0, self.dtype), [0])
    away = op.Gather(self, rows, axis=0) - op.Gather(self, columns, axis=0)
    return normed(away, p, [-1], False)
