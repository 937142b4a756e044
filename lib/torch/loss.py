"""Losses. `reduction` is 0: each element, 1: their mean, 2: their sum."""

import math

from sardonyx import INT64

from .declare import aten, inline, op
from .norm import pairwise_distance
from .products import linear
from .types import cast, floating, promoted, promoted_floats, result_type_of, tensor


@inline
def summed_up(loss, reduction):
    if reduction == 1:
        return op.ReduceMean(loss, keepdims=0)
    return op.ReduceSum(loss, keepdims=0) if reduction == 2 else loss


@inline
def alike(xs):
    """Tensors in the type that PyTorch computes with all of them in; None stays."""
    dtype = result_type_of([x for x in xs if x is not None])
    return [None if x is None else cast(x, dtype) for x in xs]


@aten("mse_loss.default")
def mse_loss(self, target, reduction=1):
    self, target = promoted(self, target)
    away = self - target
    return summed_up(away * away, reduction)


@aten("l1_loss.default")
def l1_loss(self, target, reduction=1):
    self, target = promoted(self, target)
    return summed_up(op.Abs(self - target), reduction)


@aten("smooth_l1_loss.default")
def smooth_l1_loss(self, target, reduction=1, beta=1.0):
    self, target = promoted(self, target)
    away = op.Abs(self - target)
    if beta == 0:
        return summed_up(away, reduction)
    near = away * away * (0.5 / beta)
    return summed_up(op.Where(away < beta, near, away - 0.5 * beta), reduction)


@aten("huber_loss.default")
def huber_loss(self, target, reduction=1, delta=1.0):
    a, b = promoted(self, target)
    away = op.Abs(a - b)
    loss = op.Where(away <= delta, away * away * 0.5, (away - 0.5 * delta) * delta)
    return summed_up(cast(loss, self.dtype), reduction)


@aten("binary_cross_entropy.default")
def binary_cross_entropy(self, target, weight=None, reduction=1):
    low = tensor(-100.0, self.dtype)
    hit, miss = op.Max(op.Log(self), low), op.Max(op.Log(1.0 - self), low)
    loss = (target - 1.0) * miss - target * hit
    return summed_up(loss if weight is None else loss * cast(weight, loss.dtype), reduction)


@aten("binary_cross_entropy_with_logits.default")
def binary_cross_entropy_with_logits(self, target, weight=None, pos_weight=None, reduction=1):
    dtype = target.dtype  # PyTorch writes the steps into a tensor of this type
    self, target, weight, pos_weight = alike([self, target, weight, pos_weight])
    # log(1 + exp(-x)), which does not overflow.
    soft = op.Log(op.Exp(-op.Abs(self)) + 1.0) + op.Max(-self, tensor(0.0, self.dtype))
    if pos_weight is None:
        loss = (1.0 - target) * self + soft
    else:
        loss = (1.0 - target) * self + ((pos_weight - 1.0) * target + 1.0) * soft
    loss = loss if weight is None else loss * weight
    return summed_up(cast(loss, dtype), reduction)


@aten("kl_div.default")
def kl_div(self, target, reduction=1, *, log_target=False):
    self, target = promoted(self, target)
    if log_target:
        loss = op.Exp(target) * (target - self)
    else:
        loss = op.Where(target == 0.0, 0.0, target * op.Log(target)) - target * self
    return summed_up(loss, reduction)


@aten("soft_margin_loss.default")
def soft_margin_loss(self, target, reduction=1):
    return summed_up(op.Log(op.Exp(-cast(target, self.dtype) * self) + 1.0), reduction)


@aten("margin_ranking_loss.default")
def margin_ranking_loss(input1, input2, target, margin=0.0, reduction=1):
    input1, input2 = promoted(input1, input2)
    away, turned = promoted(input1 - input2, -target)
    loss = floating(away * turned) + margin
    return summed_up(op.Max(loss, tensor(0.0, loss.dtype)), reduction)


@aten("hinge_embedding_loss.default")
def hinge_embedding_loss(self, target, margin=1.0, reduction=1):
    zero = tensor(0.0, self.dtype)
    far = op.Where(target != 1, op.Max(margin - self, zero), zero)
    near = op.Where(target != -1, self, zero)
    return summed_up(far + near, reduction)


@aten("cosine_embedding_loss.default")
def cosine_embedding_loss(input1, input2, target, margin=0.0, reduction=1):
    input1, input2 = promoted(input1, input2)
    product = op.ReduceSum(input1 * input2, [-1], keepdims=0)
    one = op.ReduceSum(input1 * input1, [-1], keepdims=0) + 1e-12
    other = op.ReduceSum(input2 * input2, [-1], keepdims=0) + 1e-12
    cosine = product / op.Sqrt(one * other)
    zero = tensor(0.0, input1.dtype)
    near = op.Where(target == 1, 1.0 - cosine, zero)
    far = op.Where(target == -1, op.Max(cosine - margin, zero), zero)
    return summed_up(near + far, reduction)


@inline
def triplet(distance, anchor, positive, negative, margin, swap, reduction):
    near, far = promoted(distance(anchor, positive), distance(anchor, negative))
    if swap:
        far = op.Min(far, cast(distance(positive, negative), far.dtype))
    loss = near - far + margin
    return summed_up(op.Max(loss, tensor(0.0, loss.dtype)), reduction)


@aten("triplet_margin_loss.default")
def triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2.0, eps=1e-06, swap=False,
                        reduction=1):  # fmt: skip
    return triplet(lambda a, b: pairwise_distance(a, b, p, eps), anchor, positive, negative, margin,
                   swap, reduction)  # fmt: skip


@aten("poisson_nll_loss.default")
def poisson_nll_loss(input, target, log_input, full, eps, reduction):
    input, target = promoted_floats(input, target)
    loss = op.Exp(input) - target * input if log_input else input - target * op.Log(input + eps)
    if full:
        stirling = target * op.Log(target) - target + op.Log(target * (2.0 * math.pi)) * 0.5
        loss = loss + op.Where(target > 1.0, stirling, 0.0)
    return summed_up(loss, reduction)


@inline
def classes_last(x):
    """[n, class, ...] as [n, ..., class]."""
    if x.ndim < 3:
        return x
    return op.Transpose(x, perm=[0, *range(2, x.ndim), 1])


@inline
def class_weights(like, weight, places):
    if weight is None:
        return (
            op.Expand(tensor(1.0, like.dtype), places.shape)
            if places.ndim > 0
            else tensor(1.0, like.dtype)
        )
    return op.Gather(weight, places, axis=0)


@inline
def chosen_losses(logs, target, weight, reduction, ignore_index):
    """What torch.nll_loss gives, and the sum of the weights."""
    last = classes_last(logs)
    is_counted = target != ignore_index
    places = op.Where(is_counted, target, 0)
    found = op.GatherElements(last, op.Unsqueeze(places, [-1]), axis=-1)
    weights = op.Where(is_counted, class_weights(logs, weight, places), 0.0)
    loss = op.Where(is_counted, -op.Squeeze(found, [-1]) * weights, 0.0)
    total = op.ReduceSum(weights, keepdims=0)
    if reduction == 1:
        return op.ReduceSum(loss, keepdims=0) / total, total
    return (op.ReduceSum(loss, keepdims=0) if reduction == 2 else loss), total


@aten("nll_loss.default", "nll_loss_nd.default", "nll_loss2d.default")
def nll_loss(self, target, weight=None, reduction=1, ignore_index=-100):
    return chosen_losses(self, target, weight, reduction, ignore_index)[0]


@aten("nll_loss_forward.default", "nll_loss2d_forward.default")
def nll_loss_forward(self, target, weight, reduction, ignore_index):
    return chosen_losses(self, target, weight, reduction, ignore_index)


@aten("cross_entropy_loss.default")
def cross_entropy_loss(self, target, weight=None, reduction=1, ignore_index=-100,
                       label_smoothing=0.0):  # fmt: skip
    dim = 0 if self.ndim == 1 else 1
    logs = op.LogSoftmax(self, axis=dim)
    shape = [-1 if i == dim else 1 for i in range(self.ndim)]
    classes = self.shape[dim]
    if target.dtype.is_floating_point():
        logs, goal, weight = alike([logs, target, weight])
        if label_smoothing > 0:
            goal = goal * (1.0 - label_smoothing) + label_smoothing / classes
        each = goal * logs if weight is None else goal * logs * op.Reshape(weight, shape)
        loss = -op.ReduceSum(each, [dim], keepdims=0)
        if reduction == 1:
            count = self.size / classes
            return op.ReduceSum(loss, keepdims=0) / count
        return op.ReduceSum(loss, keepdims=0) if reduction == 2 else loss
    loss, total = chosen_losses(logs, target, weight, reduction, ignore_index)
    if label_smoothing == 0:
        return loss
    each = logs if weight is None else logs * op.Reshape(weight, shape)
    smooth = op.Where(target != ignore_index, -op.ReduceSum(each, [dim], keepdims=0), 0.0)
    if reduction != 0:
        smooth = op.ReduceSum(smooth, keepdims=0)
    if reduction == 1:
        smooth = smooth / total
    return loss * (1.0 - label_smoothing) + smooth * (label_smoothing / classes)


@aten("multilabel_margin_loss.default")
def multilabel_margin_loss(self, target, reduction=1):
    x = op.Reshape(self, [1, -1]) if self.ndim < 2 else self
    goal = op.Reshape(target, x.shape) if self.ndim < 2 else target
    # Labels count up to the first negative one.
    is_label = op.CumSum(op.Cast(goal < 0, to=INT64.dtype), 1) == 0
    places = op.Where(is_label, goal, 0)
    zero = tensor(0.0, x.dtype)
    hits = op.ScatterElements(op.Expand(zero, x.shape), places, op.Cast(is_label, to=x.dtype),
                              axis=1, reduction="max")  # fmt: skip
    own = op.GatherElements(x, places, axis=1)
    gap = op.Max(1.0 - op.Unsqueeze(own, [2]) + op.Unsqueeze(x, [1]), zero)
    counted = op.Unsqueeze(is_label, [2]) & op.Unsqueeze(hits == 0.0, [1])
    loss = op.ReduceSum(op.Where(counted, gap, zero), [1, 2], keepdims=0) / x.shape[1]
    loss = op.Squeeze(loss, [0]) if self.ndim < 2 else loss
    return summed_up(loss, reduction)


@aten("multi_margin_loss.default")
def multi_margin_loss(self, target, p=1, margin=1, weight=None, reduction=1):
    x = op.Reshape(self, [1, -1]) if self.ndim < 2 else self
    goal = op.Reshape(target, [-1, 1])
    own = op.GatherElements(x, goal, axis=1)
    zero = tensor(0.0, x.dtype)
    gap = op.Max(x - own + float(margin), zero)
    gap = gap if p == 1 else gap * gap
    if weight is not None:
        gap = gap * op.Gather(weight, goal, axis=0)
    places = op.Unsqueeze(op.Range(0, x.shape[1], 1), [0])
    loss = op.ReduceSum(op.Where(places == goal, zero, gap), [1], keepdims=0) / x.shape[1]
    loss = op.Squeeze(loss, [0]) if self.ndim < 2 else loss
    return summed_up(loss, reduction)


@aten("_linear_cross_entropy_batch_chunked.default", namespace="torch_nn")
def linear_cross_entropy(input, linear_weight, target, linear_bias, weight, reduction, ignore_index,
                         label_smoothing, batch_chunk_size, acc_policy, acc_dtype,
                         allow_retain_graph, compute_input_grad, compute_linear_weight_grad,
                         compute_linear_bias_grad):  # fmt: skip
    """The loss; the gradients that torch computes beside it are not there."""
    kind = 1 if reduction == "mean" else 2
    logits = linear(input, linear_weight, linear_bias)
    loss = cross_entropy_loss(logits, target, weight, kind, ignore_index, label_smoothing)
    empty = op.Expand(tensor(0.0, input.dtype), [0])
    return loss, empty, empty, empty


@aten("_linear_cross_entropy_batch_chunked_no_reduction.default", namespace="torch_nn")
def linear_cross_entropies(input, linear_weight, target, linear_bias, weight, ignore_index,
                           batch_chunk_size, acc_policy, acc_dtype):  # fmt: skip
    logits = linear(input, linear_weight, linear_bias)
    return cross_entropy_loss(logits, target, weight, 0, ignore_index)
