"""Activations, softmax, and what is left out when a model is used: dropout."""

import math

import numpy as np
from sardonyx import DOUBLE

from .declare import aten, inline, op
from .pointwise import log1p
from .types import cast, computed, floating, in_float, kind, tensor, with_dims


@aten("relu.default")
def relu(self):
    return op.Relu(self) if kind(self.dtype) == 2 else op.Max(self, cast(0, self.dtype))


@aten("relu6.default")
def relu6(self):
    return op.Clip(self, 0, 6)


@aten("hardtanh.default")
def hardtanh(self, min_val=-1, max_val=1):
    return op.Clip(self, min_val, max_val)


@aten("hardsigmoid.default")
def hardsigmoid(self):
    if self.dtype == DOUBLE.dtype:  # attributes are FLOAT
        return op.Clip(self * (1.0 / 6.0) + 0.5, 0.0, 1.0)
    return in_float(lambda x: op.HardSigmoid(x, alpha=1.0 / 6.0, beta=0.5), self)


@aten("hardswish.default")
def hardswish(self):
    if self.dtype == DOUBLE.dtype:
        return self * hardsigmoid(self)
    return in_float(op.HardSwish, self)


@aten("silu.default")
def silu(self):
    return self * op.Sigmoid(self)


@aten("mish.default")
def mish(self):
    return in_float(op.Mish, self)


@aten("gelu.default")
def gelu(self, *, approximate="none"):
    if op.version >= 20:
        return op.Gelu(self, approximate=approximate)
    if approximate == "tanh":
        inner = (self + self * self * self * 0.044715) * math.sqrt(2.0 / math.pi)
        return self * 0.5 * (op.Tanh(inner) + 1.0)
    return self * 0.5 * (op.Erf(self * math.sqrt(0.5)) + 1.0)


@aten("elu.default")
def elu(self, alpha=1, scale=1, input_scale=1):
    if scale == 1 and input_scale == 1 and self.dtype != DOUBLE.dtype:
        return in_float(lambda x: op.Elu(x, alpha=float(alpha)), self)
    low = (op.Exp(self * input_scale) - 1.0) * (alpha * scale)
    return op.Where(self > 0.0, self * scale, low)


@aten("selu.default")
def selu(self):
    if self.dtype == DOUBLE.dtype:
        return elu(self, 1.6732632423543772848, 1.0507009873554804934)
    return in_float(op.Selu, self)


@aten("celu.default")
def celu(self, alpha=1.0):
    x = computed(self)
    low = (op.Exp(op.Min(x, cast(0.0, x.dtype)) / alpha) - 1.0) * alpha
    return cast(op.Where(x > 0.0, x, low), self.dtype)


@aten("leaky_relu.default")
def leaky_relu(self, negative_slope=0.01):
    if self.dtype == DOUBLE.dtype:
        return op.Where(self > 0.0, self, self * float(negative_slope))
    return op.LeakyRelu(self, alpha=float(negative_slope))


@aten("rrelu.default")
def rrelu(self, lower=0.125, upper=0.3333333333333333, training=False):
    assert not training, "rrelu in training draws random numbers: export after `module.eval()`"
    return leaky_relu(self, (lower + upper) / 2)


@aten("prelu.default", "_prelu_kernel.default")
def prelu(self, weight):
    if self.ndim > 2 and weight.ndim == 1:
        weight = op.Reshape(weight, [-1] + [1] * (self.ndim - 2))
    elif self.ndim == 1 and weight.ndim == 1:
        weight = op.Reshape(weight, np.array([], dtype=np.int64))
    return op.PRelu(self, weight) if self.ndim > 0 else op.Where(self > 0.0, self, self * weight)


@aten("softplus.default")
def softplus(self, beta=1, threshold=20):
    x = self * beta
    return op.Where(x > threshold, self, softplus_of(x) / beta)


@inline
def softplus_of(x):
    """log(1 + exp(x))."""
    if x.dtype == DOUBLE.dtype:  # runtimes have Softplus for smaller floats
        return log1p(op.Exp(-op.Abs(x))) + op.Max(x, tensor(0.0, x.dtype))
    return in_float(op.Softplus, x)


@aten("log_sigmoid.default")
def log_sigmoid(self):
    return op.Neg(softplus_of(op.Neg(self)))


@aten("threshold.default")
def threshold(self, threshold, value):
    return op.Where(self <= threshold, value, self)  # NaN stays


@aten("hardshrink.default")
def hardshrink(self, lambd=0.5):
    return op.Where(op.Abs(self) <= lambd, 0.0, self)  # NaN stays


@aten("softshrink.default")
def softshrink(self, lambd=0.5):
    rest = op.Where(self < -lambd, self + lambd, self * 0.0)  # NaN stays
    return op.Where(self > lambd, self - lambd, rest)


@aten("glu.default")
def glu(self, dim=-1):
    a, b = op.Split(self, num_outputs=2, axis=dim)
    return a * op.Sigmoid(b)


@aten("softmax.int", "special_softmax.default")
def softmax(self, dim, dtype=None):
    x = floating(cast(self, dtype))
    return with_dims(lambda v: op.Softmax(v, axis=dim), x)


@aten("_safe_softmax.default")
def safe_softmax(self, dim, dtype=None):
    """0 where everything is masked."""
    x = floating(cast(self, dtype))
    nothing = op.ReduceMax(x, [dim], keepdims=1) == -math.inf
    return op.Where(nothing, 0.0, op.Softmax(x, axis=dim))


@aten("_softmax.default")
def softmax_of_halves(self, dim, half_to_float):
    x = computed(self) if half_to_float else self
    return with_dims(lambda v: op.Softmax(v, axis=dim), x)


@aten("log_softmax.int", "special_log_softmax.default")
def log_softmax(self, dim, dtype=None):
    x = floating(cast(self, dtype))
    return with_dims(lambda v: op.LogSoftmax(v, axis=dim), x)


@aten("_log_softmax.default")
def log_softmax_of_halves(self, dim, half_to_float):
    x = computed(self) if half_to_float else self
    return with_dims(lambda v: op.LogSoftmax(v, axis=dim), x)


_DROPOUT = ("dropout in training: export after `module.eval()`; write "
            "`x * torch.bernoulli(torch.full_like(x, 1 - p)) / (1 - p)` to draw numbers in the "
            "model")  # fmt: skip


@aten("dropout.default", "alpha_dropout.default", "feature_dropout.default",
      "feature_alpha_dropout.default")  # fmt: skip
def dropout(input, p, train):
    assert not train or p == 0, _DROPOUT
    return op.Identity(input)


@aten("native_dropout.default")
def native_dropout(input, p, train):
    assert not train or p == 0, _DROPOUT
    return op.Identity(input), input == input
