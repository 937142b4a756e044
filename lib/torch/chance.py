"""Random numbers, drawn when the model runs: of PyTorch's distributions, not of its generators."""

import math

from sardonyx import FLOAT, INT64

from .create import filled
from .declare import aten, inline, op
from .types import cast, computed, floating, in_float, is_empty, moved, tensor


@inline
def uniform_of(like, low, high):
    return moved(lambda v: op.RandomUniformLike(v, low=float(low), high=float(high)), like)


@inline
def normal_of(like, mean=0.0, std=1.0):
    return moved(lambda v: op.RandomNormalLike(v, mean=float(mean), scale=float(std)), like)


@inline
def shaped(size, dtype):
    return filled(size, 0, FLOAT.dtype if dtype is None else dtype)


@aten("rand.default")
def rand(size, *, dtype=None):
    return uniform_of(shaped(size, dtype), 0.0, 1.0)


@aten("randn.default")
def randn(size, *, dtype=None):
    return normal_of(shaped(size, dtype))


@aten("rand_like.default")
def rand_like(self, *, dtype=None):
    return uniform_of(cast(self, dtype), 0.0, 1.0)


@aten("randn_like.default")
def randn_like(self, *, dtype=None):
    return normal_of(cast(self, dtype))


@inline
def integers(like, low, high, dtype):
    """Whole numbers from `low` up to, and without, `high`."""
    drawn = op.Floor(uniform_of(like, 0.0, 1.0) * float(high - low)) + float(low)
    # What is rounded up to `high` is the number before it.
    drawn = op.Min(drawn, op.CastLike(float(high - 1), drawn))
    return op.Cast(drawn, to=INT64.dtype if dtype is None else dtype)


@aten("randint.default")
def randint(high, size, *, dtype=None):
    return integers(shaped(size, None), 0, high, dtype)


@aten("randint.low")
def randint_low(low, high, size, *, dtype=None):
    return integers(shaped(size, None), low, high, dtype)


@aten("randint_like.default")
def randint_like(self, high, *, dtype=None):
    return integers(op.Cast(self, to=FLOAT.dtype), 0, high, self.dtype if dtype is None else dtype)


@aten("randint_like.low_dtype")
def randint_like_low(self, low, high, *, dtype=None):
    like = op.Cast(self, to=FLOAT.dtype)
    return integers(like, low, high, self.dtype if dtype is None else dtype)


@aten("randperm.default")
def randperm(n, *, dtype=None):
    _, places = op.TopK(uniform_of(shaped([n], None), 0.0, 1.0), [n])
    return cast(places, INT64.dtype if dtype is None else dtype)


@aten("bernoulli.default")
def bernoulli(self):
    return moved(op.Bernoulli, self)


@aten("bernoulli.p")
def bernoulli_p(self, p):
    return cast(op.Bernoulli(op.Expand(tensor(float(p)), self.shape)), self.dtype)


@aten("normal_functional.default")
def normal_functional(self, mean=0.0, std=1.0):
    return normal_of(self, mean, std)


@aten("normal.Tensor_float")
def normal_of_means(mean, std=1.0):
    return mean + normal_of(floating(mean)) * std


@aten("normal.Tensor_Tensor")
def normal_of_both(mean, std):
    return mean + normal_of(floating(mean)) * std


@aten("normal.float_Tensor")
def normal_of_widths(mean, std):
    return normal_of(floating(std)) * std + mean


@aten("multinomial.default")
def multinomial(self, num_samples, replacement=False):
    logs = op.Log(self if self.ndim == 2 else op.Unsqueeze(self, [0]))
    if replacement or num_samples == 1:
        drawn = op.Multinomial(logs, sample_size=num_samples, dtype=INT64.dtype)
    else:
        # The greatest of the logarithms with Gumbel's noise are drawn without replacement.
        noise = -op.Log(-op.Log(uniform_of(logs, 1e-10, 1.0)))
        _, drawn = op.TopK(logs + noise, [num_samples], axis=-1)
    return drawn if self.ndim == 2 else op.Squeeze(drawn, [0])


@aten("normal.float_float")
def normal_sized(mean, std, size, *, dtype=None):
    return normal_of(shaped(size, dtype), mean, std)


@aten("uniform.default")
def uniform(self, from_=0.0, to=1.0):
    return uniform_of(self, from_, to)


@inline
def open_uniform(like):
    """Between 0 and 1, and neither."""
    return uniform_of(like, 1e-7, 1.0 - 1e-7)


@aten("exponential.default")
def exponential(self, lambd=1.0):
    return op.Log(open_uniform(self)) * (-1.0 / lambd)


@aten("cauchy.default")
def cauchy(self, median=0.0, sigma=1.0):
    return in_float(op.Tan, (open_uniform(self) - 0.5) * math.pi) * float(sigma) + float(median)


@aten("log_normal.default")
def log_normal(self, mean=1.0, std=2.0):
    return op.Exp(normal_of(self, mean, std))


@aten("geometric.default")
def geometric(self, p):
    like = self if self.dtype.is_floating_point() else op.Cast(self, to=FLOAT.dtype)
    return cast(op.Ceil(op.Log(open_uniform(like)) / math.log(1.0 - p)), self.dtype)


@aten("random.to")
def random_to(self, to):
    return integers(op.Cast(self, to=FLOAT.dtype), 0, to, self.dtype)


@aten("_standard_gamma.default")
def standard_gamma(self):
    """By Marsaglia and Tsang: a candidate is d * v, and drawn again where it is not accepted."""
    if is_empty(self):
        return op.Identity(self)
    alpha = computed(self)
    is_small = alpha < 1.0
    d = op.Where(is_small, alpha + 1.0, alpha) - 1.0 / 3.0
    c = 1.0 / op.Sqrt(d * 9.0)
    found = d * 0.0
    while op.ReduceMin(found, keepdims=0) <= 0.0:
        x = normal_of(d)
        v = op.Max((x * c + 1.0) * (x * c + 1.0) * (x * c + 1.0), op.CastLike(1e-30, d))
        least = x * x * 0.5 + d - d * v + d * op.Log(v)
        is_accepted = (op.Log(open_uniform(d)) < least) & (found <= 0.0)
        found = op.Where(is_accepted, d * v, found)
    by = op.Exp(op.Log(open_uniform(d)) / alpha)
    return cast(op.Where(is_small, found * by, found), self.dtype)


@aten("poisson.default")
def poisson(self):
    """How many arrivals there are in the time, if one is expected in each unit of it."""
    if is_empty(self):
        return op.Identity(self)
    end = op.Cast(self, to=FLOAT.dtype)
    time, count = exponential(end), end * 0.0
    while op.ReduceMax(end - time, keepdims=0) > 0.0:
        count = count + op.Cast(time < end, to=FLOAT.dtype)
        time = time + exponential(end)
    return cast(count, self.dtype)
