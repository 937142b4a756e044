"""Bessel's and Airy's functions, and the incomplete gamma function, in DOUBLE.

Integrals over a period, and over the whole line, are sums of a few values to all digits: each
function is a sum over a further dimension, with weights that are known. Far out there are
asymptotic series.
"""

import math

import numpy as np
from sardonyx import BOOL, DOUBLE, FLOAT

from .declare import aten, inline, op
from .special import in_double, log_gamma, modified_bessel
from .types import cast, picked, promoted_floats

_EULER = 0.5772156649015329
# From here on the asymptotic series of J and Y have all digits.
_FAR = 25.0
_POINTS = 64
_ANGLES = np.pi * np.arange(_POINTS) / _POINTS
_SINES = np.sin(_ANGLES)
# Y is the sum of (-1)**k * J(2k) / k, beside its logarithm; each J(2k) is such an integral.
_NEUMANN = sum((-1) ** k * np.cos(2 * k * _ANGLES) / k for k in range(1, 26))
# The integrand of K dies off along the line; the first point counts half.
_LINE = np.arange(34) * 0.3
_LINE_WEIGHTS = np.where(_LINE == 0.0, 0.15, 0.3)


@inline
def bessel_sum(x, order, weights):
    """J(0) and J(1) as means over a period, of a function that is weighted."""
    angle = op.Unsqueeze(x, [-1]) * _SINES
    value = op.Cos(angle) if order == 0 else op.Sin(angle) * _SINES
    return op.ReduceMean(value if weights is None else value * weights, [-1], keepdims=0)


@inline
def hankel(x, order, is_second):
    """J or Y for large x."""
    square = 4.0 * order * order
    factor = 1.0
    even, odd = [1.0], []
    for k in range(1, 20):
        factor = factor * (square - (2 * k - 1) ** 2) / (8.0 * k)
        if k % 2 == 0:
            even.append(factor * (-1) ** (k // 2))
        else:
            odd.append(factor * (-1) ** (k // 2))
    inverse = 1.0 / (x * x)
    p, q = horner(even, inverse), horner(odd, inverse) / x
    angle = x - (order * 0.5 + 0.25) * math.pi
    c, s = op.Cos(angle), op.Sin(angle)
    value = p * s + q * c if is_second else p * c - q * s
    return value * op.Sqrt(2.0 / (math.pi * x))


@inline
def horner(factors, x):
    """The sum of factors[k] * x**k."""
    y = x * 0.0 + factors[-1]
    for one in reversed(factors[:-1]):
        y = y * x + one
    return y


@inline
def bessel_j(x, order):
    size = op.Abs(x)
    near = bessel_sum(op.Min(size, op.CastLike(_FAR, x)), order, None)
    far = hankel(op.Max(size, op.CastLike(_FAR, x)), order, False)
    value = op.Where(size < _FAR, near, far)  # NaN of infinity, as in PyTorch
    return value if order == 0 else value * op.Sign(x)


@aten("special_bessel_j0.default")
def bessel_j0(self):
    return in_double(lambda x: bessel_j(x, 0), self)


@aten("special_bessel_j1.default")
def bessel_j1(self):
    return in_double(lambda x: bessel_j(x, 1), self)


@inline
def bessel_y(x, order):
    near = op.Where((x > 0.0) & (x < _FAR), x, 1.0)
    log = (op.Log(near * 0.5) + _EULER) * (2.0 / math.pi)
    value = log * bessel_sum(near, order, None) - bessel_sum(near, order, _NEUMANN) * 4.0 / math.pi
    if order == 1:
        value = value - bessel_sum(near, 0, None) * (2.0 / math.pi) / near
    value = op.Where(x < _FAR, value, hankel(op.Max(x, op.CastLike(_FAR, x)), order, True))
    value = op.Where(x == 0.0, -math.inf, value)
    return op.Where(x < 0.0, math.nan, value)  # also of infinity, as in PyTorch


@aten("special_bessel_y0.default")
def bessel_y0(self):
    return in_double(lambda x: bessel_y(x, 0), self)


@aten("special_bessel_y1.default")
def bessel_y1(self):
    return in_double(lambda x: bessel_y(x, 1), self)


@inline
def scaled_k_far(x, order):
    """exp(x) * K(x) for x >= 1.5."""
    wide = op.Unsqueeze(x, [-1])
    t = _LINE / op.Sqrt(wide)
    half = op.Exp(t * 0.5)
    # Of a small t, exp has few digits.
    sinh = op.Where(t < 1e-4, t * 0.5, (half - 1.0 / half) * 0.5)
    side = op.Exp(t * order)
    value = op.Exp(wide * sinh * sinh * -2.0) * (side + 1.0 / side) * 0.5
    return op.ReduceSum(value * _LINE_WEIGHTS, [-1], keepdims=0) / op.Sqrt(x)


@inline
def k_near(x, order):
    """K by its series."""
    quarter = x * x * 0.25
    log = op.Log(x * 0.5)
    sums = [0.0]
    for k in range(1, 16):
        sums.append(sums[-1] + 1.0 / k)
    i_value = modified_bessel(x, order) * op.Exp(x)
    if order == 0:
        series = horner([sums[k] / math.factorial(k) ** 2 for k in range(15)], quarter)
        return series - (log + _EULER) * i_value
    terms = [(sums[k] + sums[k + 1] - 2.0 * _EULER) / (math.factorial(k) * math.factorial(k + 1))
             for k in range(15)]  # fmt: skip
    return 1.0 / x + log * i_value - x * 0.25 * horner(terms, quarter)


@inline
def bessel_k(x, order, scaled):
    near = op.Where((x > 0.0) & (x < 1.5), x, 1.0)
    far = op.Where((x >= 1.5) & (x < math.inf), x, 1.5)
    small, large = k_near(near, order), scaled_k_far(far, float(order))
    small = small * op.Exp(near) if scaled else small
    large = large if scaled else large * op.Exp(-far)
    value = op.Where(x < 1.5, small, large)
    value = op.Where(x == math.inf, 0.0, op.Where(x == 0.0, math.inf, value))
    return op.Where((x < 0.0) | op.IsNaN(x), math.nan, value)


@aten("special_modified_bessel_k0.default")
def bessel_k0(self):
    return in_double(lambda x: bessel_k(x, 0, False), self)


@aten("special_modified_bessel_k1.default")
def bessel_k1(self):
    return in_double(lambda x: bessel_k(x, 1, False), self)


@aten("special_scaled_modified_bessel_k0.default")
def scaled_bessel_k0(x):
    return in_double(lambda x: bessel_k(x, 0, True), x)


@aten("special_scaled_modified_bessel_k1.default")
def scaled_bessel_k1(x):
    return in_double(lambda x: bessel_k(x, 1, True), x)


@inline
def spherical_j0(x):
    square = x * x
    near = horner([1.0, -1 / 6, 1 / 120, -1 / 5040, 1 / 362880, -1 / 39916800], square)
    value = op.Where(op.Abs(x) < 0.5, near, op.Sin(x) / op.Where(x == 0.0, 1.0, x))
    return op.Where(op.Abs(x) == math.inf, 0.0, value)


@aten("special_spherical_bessel_j0.default")
def spherical_bessel_j0(x):
    return in_double(spherical_j0, x)


@inline
def airy_near(x):
    # In parts of -8: factors that are very small would be taken for 0 by ONNX Runtime.
    cube = x * x * x / 512.0
    f, g = [1.0], [1.0]
    for k in range(1, 30):
        f.append(f[-1] * 512.0 / ((3 * k - 1) * (3 * k)))
        g.append(g[-1] * 512.0 / ((3 * k) * (3 * k + 1)))
    return horner(f, cube) * 0.3550280538878172 - x * horner(g, cube) * 0.2588194037928068


@inline
def airy_left(x):
    """Of -x, for large x."""
    z = x * op.Sqrt(x) * (2 / 3)
    factor = 1.0
    even, odd = [1.0], []
    for k in range(1, 16):
        factor = factor * ((6 * k - 5) * (6 * k - 3) * (6 * k - 1)) / ((2 * k - 1) * 216.0 * k)
        if k % 2 == 0:
            even.append(factor * (-1) ** (k // 2))
        else:
            odd.append(factor * (-1) ** (k // 2))
    inverse = 1.0 / (z * z)
    angle = z + math.pi * 0.25
    value = op.Sin(angle) * horner(even, inverse) - op.Cos(angle) * horner(odd, inverse) / z
    return value / (math.sqrt(math.pi) * op.Sqrt(op.Sqrt(x)))


@inline
def airy_ai_of(x):
    left = op.Where(x < -8.0, -x, 8.0)
    right = op.Where((x > 2.0) & (x < math.inf), x, 2.0)
    z = right * op.Sqrt(right) * (2 / 3)
    far = op.Sqrt(right / 3.0) / math.pi * scaled_k_far(z, 1 / 3) * op.Exp(-z)
    near = airy_near(op.Where((x >= -8.0) & (x <= 2.0), x, 0.0))
    value = op.Where(x < -8.0, airy_left(left), op.Where(x > 2.0, far, near))
    return op.Where((op.Abs(x) == math.inf) | op.IsNaN(x), math.nan, value)


@aten("special_airy_ai.default")
def airy_ai(x):
    return in_double(airy_ai_of, x)


# --- The incomplete gamma function


@inline
def gamma_series(a, x):
    """P for x < a + 1."""
    term = op.Reciprocal(a)
    total, below = term, a
    for _ in range(op.Cast(2000, to=7)):
        below = below + 1.0
        term = term * x / below
        total = total + term
        if op.ReduceMax(term - total * 1e-17, keepdims=0) <= 0.0:
            break
    return total * op.Exp(a * op.Log(x) - x - log_gamma(a))


@inline
def gamma_fraction(a, x):
    """Q for the others, by Lentz' continued fraction."""
    b = x + 1.0 - a
    c = b * 0.0 + 1e300
    d = 1.0 / b
    h = d
    for i in range(op.Cast(2000, to=7)):
        k = op.Cast(i + 1, to=DOUBLE.dtype)
        factor = k * (a - k)
        b = b + 2.0
        d = factor * d + b
        d = 1.0 / op.Where(op.Abs(d) < 1e-300, 1e-300, d)
        c = b + factor / c
        c = op.Where(op.Abs(c) < 1e-300, 1e-300, c)
        h = h * (d * c)
        if op.ReduceMax(op.Abs(d * c - 1.0) - 1e-16, keepdims=0) <= 0.0:
            break
    return op.Exp(a * op.Log(x) - x - log_gamma(a)) * h


@inline
def incomplete_gamma(a, x, is_upper):
    is_fine = (a > 0.0) & (x > 0.0) & (a < math.inf) & (x < math.inf)
    is_low = x < a + 1.0
    one = op.CastLike(1.0, x)
    low = gamma_series(op.Where(is_fine & is_low, a, one), op.Where(is_fine & is_low, x, one))
    is_high = is_fine & op.Not(is_low)
    high = gamma_fraction(op.Where(is_high, a, one), op.Where(is_high, x, one * 3.0))
    p = op.Where(is_low, low, 1.0 - high)
    q = op.Where(is_low, 1.0 - low, high)
    p = op.Where((x == 0.0) | (a == math.inf), 0.0, op.Where((a == 0.0) | (x == math.inf), 1.0, p))
    q = op.Where((x == 0.0) | (a == math.inf), 1.0, op.Where((a == 0.0) | (x == math.inf), 0.0, q))
    is_none = (a < 0.0) | (x < 0.0) | op.IsNaN(a) | op.IsNaN(x)
    is_none = is_none | ((a == 0.0) & (x == 0.0)) | ((a == math.inf) & (x == math.inf))
    return op.Where(is_none, math.nan, q if is_upper else p)


@inline
def of_two(a, x, is_upper):
    a, x = promoted_floats(a, x)
    dtype = a.dtype
    a, x = op.Cast(a, to=DOUBLE.dtype), op.Cast(x, to=DOUBLE.dtype)
    return cast(incomplete_gamma(a, x, is_upper), dtype)


@aten("igamma.default", "special_gammainc.default")
def igamma(self, other):
    return of_two(self, other, False)


@aten("igammac.default", "special_gammaincc.default")
def igammac(self, other):
    return of_two(self, other, True)


# --- The next number that a type has


@inline
def step_from(size, digits, least):
    """The distance from a number to the next greater one, in DOUBLE."""
    safe = op.Max(size, op.CastLike(2.0**least, size))
    power = op.Floor(op.Log(safe) * (1.0 / math.log(2.0)))
    two = op.CastLike(2.0, size)
    power = op.Where(op.Pow(two, power) > safe, power - 1.0, power)
    power = op.Where(op.Pow(two, power + 1.0) <= safe, power + 1.0, power)
    return op.Pow(two, power - digits), op.Pow(two, power) == size


@aten("nextafter.default")
def nextafter(self, other):
    a, b = promoted_floats(self, other)
    dtype = a.dtype
    assert dtype == FLOAT.dtype or dtype == DOUBLE.dtype, "nextafter of halves"
    digits, least = (52, -1022) if dtype == DOUBLE.dtype else (23, -126)
    top = 1.7976931348623157e308 if dtype == DOUBLE.dtype else 3.4028234663852886e38
    x, goal = op.Cast(a, to=DOUBLE.dtype), op.Cast(b, to=DOUBLE.dtype)
    size = op.Abs(x)
    step, is_power = step_from(op.Where(size == math.inf, 1.0, size), float(digits), least)
    is_outward = picked(x >= 0.0, goal > x, goal < x, BOOL.dtype)
    # Towards 0 the steps below a power of two are half as long.
    shorter = is_power & (size > 2.0**least)
    moved = op.Where(is_outward, size + step, size - op.Where(shorter, step * 0.5, step))
    moved = op.Where(size == 0.0, step, moved)
    moved = op.Where(size == math.inf, top, moved)
    if dtype == FLOAT.dtype:
        moved = op.Where(moved > top, math.inf, moved)
    is_below = (x < 0.0) | ((x == 0.0) & (goal < 0.0))
    value = op.Where(x == goal, goal, op.Where(is_below, -moved, moved))
    return cast(op.Where(op.IsNaN(x) | op.IsNaN(goal), math.nan, value), dtype)
