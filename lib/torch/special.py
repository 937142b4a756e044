"""Special functions: of elements, by series and by continued fractions."""

import math

from sardonyx import DOUBLE, FLOAT

from .declare import aten, inline, op
from .pointwise import log1p
from .types import cast, floating, is_empty, is_number, tensor

# Lanczos' coefficients for g = 7.
_LANCZOS = (
    676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
    12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
)  # fmt: skip
# Bernoulli's numbers B(2k) over 2k.
_DIGAMMA = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12)


@inline
def in_double(f, x):
    """`f` in DOUBLE: its terms cancel."""
    x = floating(x)
    if is_empty(x):
        return op.Identity(x)
    return cast(f(op.Cast(x, to=DOUBLE.dtype)), x.dtype)


@inline
def log_gamma_right(x):
    """For x >= 0.5."""
    z = x - 1.0
    total = 0.99999999999980993
    for i in range(8):
        total = _LANCZOS[i] / (z + float(i + 1)) + total
    t = z + 7.5
    return op.Log(total) + (z + 0.5) * op.Log(t) - t + 0.5 * math.log(2 * math.pi)


@inline
def log_gamma(x):
    right = op.Max(x, 1.0 - x)
    value = log_gamma_right(right)
    # The reflection: gamma(x) * gamma(1 - x) = pi / sin(pi * x), by the distance from a whole
    # number, which keeps the digits of small ones.
    fraction = op.Abs(x - op.Round(x))
    turned = math.log(math.pi) - op.Log(op.Sin(fraction * math.pi)) - value
    value = op.Where(x < 0.5, turned, value)
    value = op.Where((x <= 0.0) & (fraction == 0.0), math.inf, value)
    return op.Where(op.Abs(x) == math.inf, math.inf, value)


@aten("lgamma.default", "special_gammaln.default")
def lgamma(self):
    return in_double(log_gamma, self)


@aten("mvlgamma.default", "special_multigammaln.default")
def mvlgamma(self, p):
    x = op.Cast(floating(self), to=DOUBLE.dtype)
    total = log_gamma(x)
    for i in range(1, p):
        total = total + log_gamma(x - i / 2)
    return cast(total + p * (p - 1) / 4 * math.log(math.pi), floating(self).dtype)


@inline
def digamma_of(x):
    fraction = x - op.Round(x)
    right = op.Where(x < 0.5, 1.0 - x, x)
    value = -1.0 / right
    y = right + 1.0
    for _ in range(5):
        value = value - 1.0 / y
        y = y + 1.0
    inverse = 1.0 / (y * y)
    series = inverse * _DIGAMMA[-1]
    for one in reversed(_DIGAMMA[:-1]):
        series = (series + one) * inverse
    value = value + op.Log(y) - 0.5 / y - series
    angle = fraction * math.pi
    value = op.Where(x < 0.5, value - math.pi * op.Cos(angle) / op.Sin(angle), value)
    value = op.Where((x < 0.0) & (fraction == 0.0), math.nan, value)
    # At 0 the sign is the opposite of that of the zero.
    return op.Where(x == 0.0, -op.Reciprocal(x), value)


@aten("digamma.default", "special_psi.default", "special_digamma.default")
def digamma(self):
    return in_double(digamma_of, self)


@inline
def zeta_of(s, a):
    """Hurwitz' zeta for s > 1, by Euler and Maclaurin."""
    total = a * 0.0
    y = a
    for _ in range(30):
        total = total + op.Pow(y, -s)
        y = y + 1.0
    total = total + op.Pow(y, 1.0 - s) / (s - 1.0) + 0.5 * op.Pow(y, -s)
    numbers = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)
    factor, power = s, op.Pow(y, -s - 1.0)
    for k in range(7):
        total = total + numbers[k] / math.factorial(2 * k + 2) * factor * power
        factor = factor * (s + float(2 * k + 1)) * (s + float(2 * k + 2))
        power = power / (y * y)
    return total


@aten("special_zeta.default", "special_zeta.other_scalar", "special_zeta.self_scalar")
def zeta(self, other):
    like = self if is_number(other) else other
    dtype = floating(like).dtype
    s, a = tensor(self, DOUBLE.dtype), tensor(other, DOUBLE.dtype)
    value = zeta_of(s, a)
    value = op.Where(s == 1.0, math.inf, value)
    limit = op.Pow(op.Max(a, op.CastLike(0.0, a)), -s)
    value = op.Where((s == math.inf) & (a <= 1.0), limit, value)
    is_pole = (a <= 0.0) & (a == op.Floor(a))
    value = op.Where(is_pole, math.inf, value)
    value = op.Where((a <= 0.0) & (a != op.Floor(a)) & (s != op.Floor(s)), math.nan, value)
    return cast(op.Where(s < 1.0, math.nan, value), dtype)


# --- The error function. ONNX Runtime has no Erf of DOUBLE


# W. J. Cody, Rational Chebyshev approximations for the error function, 1969: for |x| below 0.46875,
# below 4, and above. Numerators and denominators, from the highest power down.
_NEAR = ((1.85777706184603153e-1, 3.16112374387056560, 1.13864154151050156e2,
          3.77485237685302021e2, 3.20937758913846947e3),
         (1.0, 2.36012909523441209e1, 2.44024637934444173e2, 1.28261652607737228e3,
          2.84423683343917062e3))  # fmt: skip
_MIDDLE = ((2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594,
            6.61191906371416295e1, 2.98635138197400131e2, 8.81952221241769090e2,
            1.71204761263407058e3, 2.05107837782607147e3, 1.23033935479799725e3),
           (1.0, 1.57449261107098347e1, 1.17693950891312499e2, 5.37181101862009858e2,
            1.62138957456669019e3, 3.29079923573345963e3, 4.36261909014324716e3,
            3.43936767414372164e3, 1.23033935480374942e3))  # fmt: skip
_FAR = ((1.63153871373020978e-2, 3.05326634961232344e-1, 3.60344899949804439e-1,
         1.25781726111229246e-1, 1.60837851487422766e-2, 6.58749161529837803e-4),
        (1.0, 2.56852019228982242, 1.87295284992346725, 5.27905102951428412e-1,
         6.05183413124413191e-2, 2.33520497626869185e-3))  # fmt: skip


@inline
def ratio(x, polynomials):
    above, below = polynomials
    p, q = x * 0.0 + above[0], x * 0.0 + below[0]
    for one in above[1:]:
        p = p * x + one
    for one in below[1:]:
        q = q * x + one
    return p / q


@inline
def erf_near(x):
    """For |x| up to 0.46875."""
    x = op.Max(op.Min(x, op.CastLike(0.5, x)), op.CastLike(-0.5, x))
    return x * ratio(x * x, _NEAR)


@inline
def erfcx_right(x):
    """exp(x * x) * erfc(x) for x of at least 0.46875."""
    middle = ratio(op.Min(x, op.CastLike(4.0, x)), _MIDDLE)
    far = op.Max(x, op.CastLike(4.0, x))
    square = 1.0 / (far * far)
    beyond = (1.0 / math.sqrt(math.pi) - square * ratio(square, _FAR)) / far
    return op.Where(x <= 4.0, middle, beyond)


@inline
def erf_of(x):
    size = op.Abs(x)
    right = 1.0 - op.Exp(-(size * size)) * erfcx_right(size)
    return op.Where(size <= 0.46875, erf_near(x), op.Sign(x) * right)


@inline
def erfc_of(x):
    size = op.Abs(x)
    right = op.Exp(-(size * size)) * erfcx_right(size)
    return op.Where(size <= 0.46875, 1.0 - erf_near(x), op.Where(x < 0.0, 2.0 - right, right))


@aten("erfc.default", "special_erfc.default")
def erfc(self):
    return in_double(erfc_of, self)


@aten("erfinv.default", "special_erfinv.default")
def erfinv(self):
    return in_double(erfinv_of, self)


@inline
def erfinv_of(y):
    """Giles' start, and two steps of Newton on erf, whose slope is known."""
    w = -op.Log((1.0 - y) * (1.0 + y))
    near = w - 2.5
    p = near * 0.0 + 2.81022636e-08
    for one in (3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087, -0.00125372503,
                -0.00417768164, 0.246640727, 1.50140941):  # fmt: skip
        p = p * near + one
    far = op.Sqrt(w) - 3.0
    q = far * 0.0 - 0.000200214257
    for one in (0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613,
                0.00943887047, 1.00167406, 2.83297682):  # fmt: skip
        q = q * far + one
    x = op.Where(w < 5.0, p, q) * y
    for _ in range(2):
        error = erf_of(x) - y
        x = x - error / (2.0 / math.sqrt(math.pi) * op.Exp(-x * x))
    x = op.Where(op.Abs(y) == 1.0, y * math.inf, x)
    return op.Where(op.Abs(y) > 1.0, math.nan, x)


@aten("special_ndtr.default")
def ndtr(self):
    return in_double(lambda x: 0.5 * erfc_of(x * -math.sqrt(0.5)), self)


@inline
def ndtri_of(p):
    """Abramowitz and Stegun's 26.2.23, and steps of Newton on the logarithm of ndtr."""
    q = op.Min(p, 1.0 - p)
    inside = q > 0.0
    log = op.Log(op.Where(inside, q, 0.5))
    t = op.Sqrt(-2.0 * log)
    above = (0.010328 * t + 0.802853) * t + 2.515517
    x = above / (((0.001308 * t + 0.189269) * t + 1.432788) * t + 1.0) - t
    for _ in range(3):
        value = log_ndtr_left(x)
        slope = op.Exp(x * x * -0.5 - value) / math.sqrt(2.0 * math.pi)
        x = op.Min(x - (value - log) / slope, op.CastLike(0.0, x))
    x = op.Where(p > 0.5, -x, x)
    x = op.Where(p == 0.0, -math.inf, op.Where(p == 1.0, math.inf, x))
    return op.Where(inside | (q == 0.0), x, math.nan)


@aten("special_ndtri.default")
def ndtri(self):
    return in_double(ndtri_of, self)


# --- Polynomials, by their recurrences for every degree up to the greatest that is asked for

_DEGREES = 40


@inline
def polynomial(x, n, first, following):
    """`following(k, p, q)` makes the polynomial of degree k + 1 from those of k and k - 1."""
    dtype = FLOAT.dtype
    if not is_number(x):
        dtype = floating(x).dtype
    elif not is_number(n):
        dtype = floating(n).dtype
    x = tensor(x, dtype)
    degree = tensor(n, dtype)
    degree = op.Where(degree < 0.0, op.Ceil(degree), op.Floor(degree))
    q, p = x * 0.0 + 1.0, first(x)
    value = op.Where(degree == 0.0, q, p)
    value = op.Where(degree < 0.0, 0.0, value)
    for k in range(1, _DEGREES):
        q, p = p, following(float(k), x, p, q)
        value = op.Where(degree == float(k + 1), p, value)
    return op.Where(degree > float(_DEGREES), math.nan, value)


@aten("special_hermite_polynomial_h.default", "special_hermite_polynomial_h.x_scalar",
      "special_hermite_polynomial_h.n_scalar")  # fmt: skip
def hermite_h(x, n):
    return polynomial(x, n, lambda x: 2.0 * x, lambda k, x, p, q: 2.0 * x * p - 2.0 * k * q)


@aten("special_hermite_polynomial_he.default", "special_hermite_polynomial_he.x_scalar",
      "special_hermite_polynomial_he.n_scalar")  # fmt: skip
def hermite_he(x, n):
    return polynomial(x, n, lambda x: x, lambda k, x, p, q: x * p - k * q)


@aten("special_laguerre_polynomial_l.default", "special_laguerre_polynomial_l.x_scalar",
      "special_laguerre_polynomial_l.n_scalar")  # fmt: skip
def laguerre(x, n):
    return polynomial(x, n, lambda x: 1.0 - x,
                      lambda k, x, p, q: ((2.0 * k + 1.0 - x) * p - k * q) / (k + 1.0))  # fmt: skip


@aten("special_legendre_polynomial_p.default", "special_legendre_polynomial_p.x_scalar",
      "special_legendre_polynomial_p.n_scalar")  # fmt: skip
def legendre(x, n):
    return polynomial(x, n, lambda x: x,
                      lambda k, x, p, q: ((2.0 * k + 1.0) * x * p - k * q) / (k + 1.0))  # fmt: skip


@inline
def modified_bessel(x, order):
    """exp(-|x|) * I(x) by its series and, for large x, by its asymptotic series."""
    near = op.Min(op.Abs(x), op.CastLike(30.0, x))
    quarter = near * near * 0.25
    term = op.CastLike(1.0, x) if order == 0 else near * 0.5
    total = term
    for k in range(1, 70):
        term = term * quarter / float(k * (k + order))
        total = total + term
    total = total * op.Exp(-near)
    far = op.Max(op.Abs(x), op.CastLike(30.0, x))
    term = op.CastLike(1.0, x)
    series = term
    for k in range(1, 12):
        term = term * (-(4.0 * order * order - (2 * k - 1) ** 2) / (8.0 * k)) / far
        series = series + term
    series = series / op.Sqrt(2.0 * math.pi * far)
    value = op.Where(op.Abs(x) <= 30.0, total, series)
    return value if order == 0 else value * op.Sign(x)


@aten("i0.default", "special_i0.default", "special_modified_bessel_i0.default")
def i0(self):
    return in_double(lambda x: modified_bessel(x, 0) * op.Exp(op.Abs(x)), self)


@aten("special_i1.default", "special_modified_bessel_i1.default")
def i1(self):
    return in_double(lambda x: modified_bessel(x, 1) * op.Exp(op.Abs(x)), self)


@aten("special_i0e.default")
def i0e(self):
    return in_double(lambda x: modified_bessel(x, 0), self)


@aten("special_i1e.default")
def i1e(self):
    return in_double(lambda x: modified_bessel(x, 1), self)


@aten("polygamma.default")
def polygamma(n, self):
    return polygamma_of(n, self)


@aten("special_polygamma.default")
def special_polygamma(n, self):
    return polygamma_of(n, self)


@inline
def polygamma_of(n, x):
    if n == 0:
        return digamma(x)
    sign = 1.0 if n % 2 == 1 else -1.0  # of the poles, too, as in torch
    wide = op.Cast(floating(x), to=DOUBLE.dtype)
    # Below 0 by the recurrence: zeta(s, a) = zeta(s, a + k) + the terms in between.
    value = zeta_of(tensor(float(n + 1), DOUBLE.dtype), wide) * (sign * math.factorial(n))
    if n == 1:  # the others are NaN there, as in PyTorch
        value = op.Where(wide == math.inf, 0.0, value)
    is_pole = (wide <= 0.0) & (wide == op.Floor(wide))
    value = op.Where(is_pole, sign * math.inf, value)
    return cast(value, floating(x).dtype)


@inline
def scaled_erfc(x):
    """exp(x * x) * erfc(x) for x >= 0."""
    near = op.Min(x, op.CastLike(0.5, x))
    return op.Where(x <= 0.46875, op.Exp(near * near) * (1.0 - erf_near(near)), erfcx_right(x))


@inline
def erfcx_of(x):
    right = scaled_erfc(op.Abs(x))
    return op.Where(x < 0.0, 2.0 * op.Exp(x * x) - right, right)


@aten("special_erfcx.default")
def erfcx(self):
    return in_double(erfcx_of, self)


@inline
def log_ndtr_left(x):
    """For x <= 0."""
    return op.Log(scaled_erfc(-x * math.sqrt(0.5)) * 0.5) - x * x * 0.5


@inline
def log_ndtr_of(x):
    left = log_ndtr_left(op.Min(x, op.CastLike(0.0, x)))
    high = op.Max(x, op.CastLike(0.0, x))
    return op.Where(x < 0.0, left, log1p(erfc_of(high * math.sqrt(0.5)) * -0.5))


@aten("special_log_ndtr.default")
def log_ndtr(self):
    return in_double(log_ndtr_of, self)


@inline
def chebyshev(x, n, first):
    """All four kinds have one recurrence, and differ in their first degree."""
    return polynomial(x, n, first, lambda _, x, p, q: 2.0 * x * p - q)


@aten("special_chebyshev_polynomial_t.default", "special_chebyshev_polynomial_t.x_scalar",
      "special_chebyshev_polynomial_t.n_scalar")  # fmt: skip
def chebyshev_t(x, n):
    return chebyshev(x, n, lambda x: x)


@aten("special_shifted_chebyshev_polynomial_t.default",
      "special_shifted_chebyshev_polynomial_t.x_scalar",
      "special_shifted_chebyshev_polynomial_t.n_scalar")  # fmt: skip
def shifted_chebyshev_t(x, n):
    return chebyshev_t(shifted(x, n), n)


@aten("special_shifted_chebyshev_polynomial_u.default",
      "special_shifted_chebyshev_polynomial_u.x_scalar",
      "special_shifted_chebyshev_polynomial_u.n_scalar")  # fmt: skip
def shifted_chebyshev_u(x, n):
    return chebyshev_u(shifted(x, n), n)


@aten("special_shifted_chebyshev_polynomial_v.default",
      "special_shifted_chebyshev_polynomial_v.x_scalar",
      "special_shifted_chebyshev_polynomial_v.n_scalar")  # fmt: skip
def shifted_chebyshev_v(x, n):
    return chebyshev_v(shifted(x, n), n)


@aten("special_shifted_chebyshev_polynomial_w.default",
      "special_shifted_chebyshev_polynomial_w.x_scalar",
      "special_shifted_chebyshev_polynomial_w.n_scalar")  # fmt: skip
def shifted_chebyshev_w(x, n):
    return chebyshev_w(shifted(x, n), n)


@inline
def shifted(x, n):
    """The polynomials over 0 to 1 instead of -1 to 1."""
    x = x if is_number(x) else floating(x)
    return x * 2.0 - 1.0


@aten("special_chebyshev_polynomial_u.default", "special_chebyshev_polynomial_u.x_scalar",
      "special_chebyshev_polynomial_u.n_scalar")  # fmt: skip
def chebyshev_u(x, n):
    return chebyshev(x, n, lambda x: 2.0 * x)


@aten("special_chebyshev_polynomial_v.default", "special_chebyshev_polynomial_v.x_scalar",
      "special_chebyshev_polynomial_v.n_scalar")  # fmt: skip
def chebyshev_v(x, n):
    return chebyshev(x, n, lambda x: 2.0 * x - 1.0)


@aten("special_chebyshev_polynomial_w.default", "special_chebyshev_polynomial_w.x_scalar",
      "special_chebyshev_polynomial_w.n_scalar")  # fmt: skip
def chebyshev_w(x, n):
    return chebyshev(x, n, lambda x: 2.0 * x + 1.0)
