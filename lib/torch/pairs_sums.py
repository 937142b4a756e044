"""Products, statistics and norms of complex tensors along dimensions, as pairs of real ones."""

import math

from .activation import log_softmax, softmax
from .declare import inline, op, pairs
from .index import nonzero, nonzero_numpy, nonzero_static
from .loss import summed_up, triplet
from .pairs import absolute, common, in_type, parts
from .pairs_math import add, div, exp, is_some, log, logaddexp, mul, scaled, sqrt, sub
from .reduce import (
    all_,
    any_,
    correction_of,
    count_nonzero,
    cumulative_trapezoid_dx,
    moments,
    normed,
    or_one,
    reduced,
    running,
    trapezoid_dx,
    trapezoids,
    vector_norm,
    widths,
)
from .types import END, axes, axis, cast, full_of

# --- Products


@inline
def part(x, start, end, dim):
    return (op.Slice(x[0], [start], [end], [dim]), op.Slice(x[1], [start], [end], [dim]))


@inline
def count_along(x, dim):
    size = x[0].type.shape[dim]
    assert isinstance(size, int), "products of complex numbers along a dimension of unknown size"
    return size


@inline
def doublings(x, dim):
    """How often 1 is doubled until it is the size of the dimension."""
    return math.ceil(math.log2(max(count_along(x, dim), 1)))


@inline
def taken_in(x, step, dim):
    """Each times the one so many places before it."""
    pads = [step if i == dim else 0 for i in range(x[0].ndim)] + [0] * x[0].ndim
    re, im = part(x, 0, -step, dim)
    return mul(x, (op.Pad(re, pads, op.CastLike(1.0, re)), op.Pad(im, pads)))


@inline
def running_products(x, dim):
    """Each takes in as many factors before it as it has."""
    if isinstance(x[0].type.shape[dim], int):
        for i in range(doublings(x, dim)):
            x = taken_in(x, 2**i, dim)
        return x
    re, im = x
    step = 1
    while step < re.shape[dim]:
        re, im = taken_in((re, im), step, dim)
        step = step * 2
    return re, im


@inline
def multiplied(x, dim):
    """The product along a dimension, which stays with a size of 1: one half by the other."""
    if not isinstance(x[0].type.shape[dim], int):
        pads = [1 if i == dim else 0 for i in range(x[0].ndim)] + [0] * x[0].ndim  # of nothing, 1
        x = (op.Pad(x[0], pads, op.CastLike(1.0, x[0])), op.Pad(x[1], pads))
        return part(running_products(x, dim), -1, END, dim)
    count = count_along(x, dim)
    for _ in range(doublings(x, dim)):
        half = count // 2
        y = mul(part(x, 0, half, dim), part(x, half, 2 * half, dim))
        if count % 2 == 1:
            rest = part(x, 2 * half, count, dim)
            y = (op.Concat(y[0], rest[0], axis=dim), op.Concat(y[1], rest[1], axis=dim))
        x, count = y, half + count % 2
    if count == 0:
        shape = [1 if i == dim else x[0].shape[i] for i in range(x[0].ndim)]
        return parts(full_of(shape, 1, x[0].dtype))
    return x


@pairs("prod.dim_int")
def prod_dim(self, dim, keepdim=False, *, dtype=None):
    x = in_type(parts(self), dtype)
    if x[0].ndim == 0:
        return x
    at = axis(dim, x[0].ndim)
    a, b = multiplied(x, at)
    return (a, b) if keepdim else (op.Squeeze(a, [at]), op.Squeeze(b, [at]))


@pairs("prod.default")
def prod(self, *, dtype=None):
    a, b = parts(self)
    return prod_dim((op.Reshape(a, [-1]), op.Reshape(b, [-1])), 0, dtype=dtype)


@pairs("cumprod.default")
def cumprod(self, dim, *, dtype=None):
    x = in_type(parts(self), dtype)
    if x[0].ndim == 0:
        return x
    at = axis(dim, x[0].ndim)
    return running_products(x, at)


# --- What is counted


@pairs("all.default", "all.dim", "all.dims")
def all_of(self, dim=None, keepdim=False):
    return all_(is_some(self), dim, keepdim)


@pairs("any.default", "any.dim", "any.dims")
def any_of(self, dim=None, keepdim=False):
    return any_(is_some(self), dim, keepdim)


@pairs("count_nonzero.default", "count_nonzero.dim_IntList")
def count(self, dim=None):
    return count_nonzero(is_some(self), dim)


@pairs("nonzero.default", "argwhere.default")
def places(self):
    return nonzero(is_some(self))


@pairs("nonzero_numpy.default")
def places_by_dimension(self):
    return nonzero_numpy(is_some(self))


@pairs("nonzero_static.default")
def places_so_many(self, *, size, fill_value=-1):
    return nonzero_static(is_some(self), size=size, fill_value=fill_value)


# --- Statistics: the variance is a real number, that of both parts together


@inline
def complex_moments(self, dim, correction, keepdim):
    a, re = moments(self[0], dim, correction, keepdim)
    b, im = moments(self[1], dim, correction, keepdim)
    return a + b, (re, im)


@pairs("var.correction")
def var(self, dim=None, *, correction=None, keepdim=False):
    return complex_moments(self, dim, or_one(correction), keepdim)[0]


@pairs("var.dim")
def var_dim(self, dim, unbiased=True, keepdim=False):
    return complex_moments(self, dim, correction_of(unbiased), keepdim)[0]


@pairs("var.default")
def var_default(self, unbiased=True):
    assert isinstance(unbiased, bool), "prims::var of complex tensors"
    return complex_moments(self, None, correction_of(unbiased), False)[0]


@pairs("std.correction")
def std(self, dim=None, *, correction=None, keepdim=False):
    return op.Sqrt(var(self, dim, correction=correction, keepdim=keepdim))


@pairs("std.dim")
def std_dim(self, dim, unbiased=True, keepdim=False):
    return op.Sqrt(var_dim(self, dim, unbiased, keepdim))


@pairs("std.default")
def std_default(self, unbiased=True):
    return op.Sqrt(var_default(self, unbiased))


@pairs("var_mean.correction")
def var_mean(self, dim=None, *, correction=None, keepdim=False):
    return complex_moments(self, dim, or_one(correction), keepdim)


@pairs("var_mean.dim")
def var_mean_dim(self, dim, unbiased=True, keepdim=False):
    return complex_moments(self, dim, correction_of(unbiased), keepdim)


@pairs("var_mean.default")
def var_mean_default(self, unbiased=True):
    return complex_moments(self, None, correction_of(unbiased), False)


@pairs("std_mean.correction")
def std_mean(self, dim=None, *, correction=None, keepdim=False):
    spread, middle = var_mean(self, dim, correction=correction, keepdim=keepdim)
    return op.Sqrt(spread), middle


@pairs("std_mean.dim")
def std_mean_dim(self, dim, unbiased=True, keepdim=False):
    spread, middle = var_mean_dim(self, dim, unbiased, keepdim)
    return op.Sqrt(spread), middle


@pairs("std_mean.default")
def std_mean_default(self, unbiased=True):
    spread, middle = var_mean_default(self, unbiased)
    return op.Sqrt(spread), middle


@pairs("logsumexp.default", "special_logsumexp.default")
def logsumexp(self, dim, keepdim=False):
    a, b = self
    high = reduced(op.ReduceMax, a, dim, True)
    safe = op.Where(op.Abs(high) == math.inf, 0.0, high)
    re, im = exp((a - safe, b))
    re = reduced(op.ReduceSum, re, dim, keepdim)
    re, im = log((re, reduced(op.ReduceSum, im, dim, keepdim)))
    is_kept = keepdim or a.ndim == 0
    return re + (safe if is_kept else op.Squeeze(safe, axes(dim, a.ndim))), im


# torch has them for complex numbers only where the result is in a real type: of the real part.
@pairs("softmax.int")
def softmax_of_real(self, dim, dtype=None):
    return softmax(self[0], dim, dtype)


@pairs("log_softmax.int")
def log_softmax_of_real(self, dim, dtype=None):
    return log_softmax(self[0], dim, dtype)


@pairs("logcumsumexp.default")
def logcumsumexp(self, dim):
    a, b = self
    if a.ndim == 0:
        return self
    at = axis(dim, a.ndim)
    rows = []
    for i in range(count_along(self, at)):
        one = op.Gather(a, [i], axis=at), op.Gather(b, [i], axis=at)
        rows.append(one if i == 0 else logaddexp(one, rows[-1]))
    if len(rows) == 0:
        return self
    return (op.Concat(*[one[0] for one in rows], axis=at),
            op.Concat(*[one[1] for one in rows], axis=at))  # fmt: skip


# --- Norms, which are those of absolute values


@pairs("linalg_vector_norm.default")
def linalg_vector_norm(self, ord=2, dim=None, keepdim=False, *, dtype=None):
    return vector_norm(absolute(self), ord, dim, keepdim, dtype=dtype)


@pairs("norm.ScalarOpt_dim", "norm.ScalarOpt_dim_dtype", "norm.ScalarOpt_dtype")
def norm(self, p, dim=None, keepdim=False, *, dtype=None):
    return normed(cast(absolute(self), dtype), 2 if p is None else p, dim, keepdim)


@pairs("norm.Scalar")
def norm_scalar(self, p=2):
    return normed(absolute(self), p, None, False)


@pairs("dist.default")
def dist(self, other, p=2):
    return normed(absolute(sub(self, other)), p, None, False)


@pairs("renorm.default")
def renorm(self, p, dim, maxnorm):
    rank = self[0].ndim
    others = [one for one in range(rank) if one != axis(dim, rank)]
    length = normed(absolute(self), p, others, True)
    return mul(self, op.Where(length > maxnorm, maxnorm / (length + 1e-7),
                              op.CastLike(1.0, length)))  # fmt: skip


@pairs("pairwise_distance.default")
def pairwise_distance(x1, x2, p=2, eps=1e-06, keepdim=False):
    return normed(absolute(add(sub(x1, x2), eps)), p, [-1], keepdim)


@pairs("l1_loss.default")
def l1_loss(self, target, reduction=1):
    return summed_up(absolute(sub(self, target)), reduction)


@pairs("triplet_margin_loss.default")
def triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2.0, eps=1e-06, swap=False,
                        reduction=1):  # fmt: skip
    return triplet(lambda a, b: pairwise_distance(a, b, p, eps), anchor, positive, negative, margin,
                   swap, reduction)  # fmt: skip


@pairs("rms_norm.default")
def rms_norm(input, normalized_shape, weight=None, eps=None):
    dtype = input[0].dtype
    least = 1.1920928955078125e-07 if dtype.bitwidth < 64 else 2.220446049250313e-16
    first = input[0].ndim - len(normalized_shape)
    dims = list(range(first, input[0].ndim))
    a, b = mul(input, input)
    mean = op.ReduceMean(a, dims, keepdims=1), op.ReduceMean(b, dims, keepdims=1)
    y = div(input, sqrt(add(mean, least if eps is None else eps)))
    return y if weight is None else mul(y, weight)


# --- Integrals


@pairs("trapezoid.dx", "trapz.dx")
def trapezoid_even(y, *, dx=1, dim=-1):
    return scaled((trapezoid_dx(y[0], dx=1, dim=dim), trapezoid_dx(y[1], dx=1, dim=dim)), dx)


@pairs("cumulative_trapezoid.dx")
def cumulative_trapezoid_even(y, *, dx=1, dim=-1):
    return scaled((cumulative_trapezoid_dx(y[0], dx=1, dim=dim),
                   cumulative_trapezoid_dx(y[1], dx=1, dim=dim)), dx)  # fmt: skip


@inline
def areas(y, x, dim):
    """The parts below a curve between its places, which may be complex."""
    y, x = common(y, x)
    rank = y[0].ndim if isinstance(y, tuple) else y.ndim
    at = axis(dim, rank)
    if isinstance(y, tuple):
        heights = trapezoids(y[0], at) * 0.5, trapezoids(y[1], at) * 0.5
    else:
        heights = trapezoids(y, at) * 0.5
    if isinstance(x, tuple):
        return mul(heights, (widths(x[0], at, rank), widths(x[1], at, rank)))
    return mul(heights, widths(x, at, rank))


@pairs("trapezoid.x", "trapz.x")
def trapezoid(y, x, *, dim=-1):
    a, b = areas(y, x, dim)
    return op.ReduceSum(a, [dim], keepdims=0), op.ReduceSum(b, [dim], keepdims=0)


@pairs("cumulative_trapezoid.x")
def cumulative_trapezoid(y, x, *, dim=-1):
    a, b = areas(y, x, dim)
    return running(a, dim), running(b, dim)
