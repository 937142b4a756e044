"""Arithmetic, comparisons and functions of complex numbers, as pairs of real ones."""

import math

from sardonyx import BOOL, DOUBLE, FLOAT

from .declare import inline, op, pairs
from .pairs import absolute, common, first, in_type, linspace, linspace_tensor, parts, size_of
from .pointwise import asinh as real_asinh
from .pointwise import atan2, expm1, isfinite, isinf, isnan, log1p, sign_of, truth
from .types import cast, full_of, in_float, is_number, tensor


@pairs("neg.default", "negative.default")
def neg(self):
    return op.Neg(self[0]), op.Neg(self[1])


@inline
def scaled(x, factor):
    """`x` by a number, which may be complex."""
    if isinstance(factor, tuple):
        return mul(x, factor)
    if factor == 1:
        return x
    return (x[0] * factor, x[1] * factor) if isinstance(x, tuple) else x * factor


@pairs("add.Tensor", "add.Scalar")
def add(self, other, *, alpha=1):
    self, other = common(self, other)
    (a, b), (c, d) = parts(self), parts(scaled(other, alpha))
    return a + c, b + d


@pairs("sub.Tensor", "sub.Scalar", "subtract.Tensor", "subtract.Scalar")
def sub(self, other, *, alpha=1):
    self, other = common(self, other)
    (a, b), (c, d) = parts(self), parts(scaled(other, alpha))
    return a - c, b - d


@pairs("rsub.Tensor", "rsub.Scalar")
def rsub(self, other, *, alpha=1):
    return sub(other, self, alpha=alpha)


@pairs("mul.Tensor", "mul.Scalar", "multiply.Tensor", "multiply.Scalar")
def mul(self, other):
    self, other = common(self, other)
    if not isinstance(self, tuple):
        return self * other[0], self * other[1]
    if not isinstance(other, tuple):
        return self[0] * other, self[1] * other
    (a, b), (c, d) = self, other
    return a * c - b * d, a * d + b * c


@pairs("div.Tensor", "div.Scalar", "true_divide.Tensor", "true_divide.Scalar", "divide.Tensor",
       "divide.Scalar")  # fmt: skip
def div(self, other):
    self, other = common(self, other)
    if not isinstance(other, tuple):
        return self[0] / other, self[1] / other
    if is_number(other[0]):
        size = other[0] * other[0] + other[1] * other[1]
        return mul(self, (other[0] / size, -other[1] / size))
    (a, b), (c, d) = parts(self), other
    # R. L. Smith, Algorithm 116: Complex division, 1962: no square leaves the range of its type. A
    # divisor that is 0 divides both parts.
    is_real = op.Abs(c) >= op.Abs(d)
    great, small = op.Where(is_real, c, d), op.Where(is_real, d, c)
    near, far = op.Where(is_real, a, b), op.Where(is_real, b, a)
    ratio = op.Where(great == 0.0, great, small / great)
    size = great + small * ratio
    turned = far - near * ratio
    return (near + far * ratio) / size, op.Where(is_real, turned, op.Neg(turned)) / size


@pairs("reciprocal.default")
def reciprocal(self):
    return div(1.0, self)


@pairs("square.default")
def square(self):
    return mul(self, self)


@pairs("addcmul.default")
def addcmul(self, tensor1, tensor2, *, value=1):
    return add(self, scaled(mul(tensor1, tensor2), value))


@pairs("addcdiv.default")
def addcdiv(self, tensor1, tensor2, *, value=1):
    return add(self, scaled(div(tensor1, tensor2), value))


@pairs("lerp.Scalar", "lerp.Tensor")
def lerp(self, end, weight):
    return add(self, mul(sub(end, self), weight))


# --- Powers, roots and logarithms


@pairs("sqrt.default")
def sqrt(self):
    # What is added has one sign, so that nothing cancels.
    a, b = cast(self[0], DOUBLE.dtype), cast(self[1], DOUBLE.dtype)
    near = op.Sqrt((op.Abs(a) + size_of(self)) * 0.5)
    far = op.Abs(b) / op.Where(near == 0.0, 1.0, near * 2.0)
    dtype = self[0].dtype
    return (cast(op.Where(a < 0.0, far, near), dtype),
            cast(op.Where(a < 0.0, near, far) * sign_of(b), dtype))  # fmt: skip


@pairs("rsqrt.default")
def rsqrt(self):
    return reciprocal(sqrt(self))


@pairs("angle.default")
def angle(self):
    return atan2(self[1], self[0])


@pairs("log.default")
def log(self):
    return cast(op.Log(size_of(self)), self[0].dtype), angle(self)


@pairs("log2.default")
def log2(self):
    return scaled(log(self), 1.0 / math.log(2.0))


@pairs("log10.default")
def log10(self):
    return scaled(log(self), 1.0 / math.log(10.0))


@pairs("log1p.default", "special_log1p.default")
def log1p_(self):
    a, b = cast(self[0], DOUBLE.dtype), cast(self[1], DOUBLE.dtype)
    more = a * (a + 2.0) + b * b  # |1 + z|**2 - 1
    size = op.Where(op.Abs(more) < 0.5, log1p(more) * 0.5, op.Log(size_of((a + 1.0, b))))
    return cast(size, self[0].dtype), atan2(self[1], self[0] + 1.0)


@inline
def times(x, y):
    """`x * y`, of which y may be 0 where x is not finite any more."""
    return op.Where(y == 0.0, y, x * y)


@pairs("exp.default")
def exp(self):
    size = op.Exp(self[0])
    return size * op.Cos(self[1]), times(size, op.Sin(self[1]))


@pairs("exp2.default", "special_exp2.default")
def exp2(self):
    return exp(scaled(self, math.log(2.0)))


@pairs("expm1.default", "special_expm1.default")
def expm1_(self):
    a, b = self
    half = op.Sin(b * 0.5)
    return expm1(a) * op.Cos(b) - half * half * 2.0, op.Exp(a) * op.Sin(b)


@inline
def to_whole(self, exponent):
    """By squaring, in DOUBLE where the range of FLOAT is soon left."""
    y, square = None, in_type(self, DOUBLE.dtype) if exponent > 3 else self
    for i in range(exponent.bit_length()):
        square = square if i == 0 else mul(square, square)
        if (exponent >> i) & 1:
            y = square if y is None else mul(y, square)
    return in_type(y, self[0].dtype)


@inline
def to_number(self, exponent):
    """The power of a real number."""
    number = tensor(float(exponent), DOUBLE.dtype)
    size, turn = op.Pow(size_of(self), number), cast(angle(self), DOUBLE.dtype) * number
    return in_type((size * op.Cos(turn), size * op.Sin(turn)), self[0].dtype)


@inline
def one_like(x):
    one = full_of(x.shape, 1, x.dtype) if x.ndim > 0 else tensor(1, x.dtype)
    return parts(one)


@inline
def in_tensors(x, dtype):
    re, im = parts(in_type(x, dtype))
    return tensor(re, dtype), tensor(im, dtype)


@inline
def to_any(self, exponent):
    """exp(exponent * log(self)); 0 to powers with a real part above 0 is 0."""
    self, exponent = common(self, exponent)
    dtype = first(exponent).dtype if is_number(first(self)) else first(self).dtype
    base, power = in_tensors(self, dtype), in_tensors(exponent, dtype)
    is_nothing = op.And(op.And(base[0] == 0.0, base[1] == 0.0), power[0] > 0.0)
    safe = (op.Where(is_nothing, 1.0, base[0]), base[1])
    # The error of the exponent is one of as many times the result.
    logarithm = op.Log(size_of(safe)), cast(angle(safe), DOUBLE.dtype)
    re, im = in_type(exp(mul(in_type(power, DOUBLE.dtype), logarithm)), dtype)
    return op.Where(is_nothing, 0.0, re), op.Where(is_nothing, 0.0, im)


@pairs("pow.Tensor_Scalar", "pow.Tensor_Tensor", "pow.Scalar")
def power(self, exponent):
    if isinstance(exponent, tuple) or not is_number(exponent):
        return to_any(self, exponent)
    if exponent == 0.5:
        return sqrt(self)
    if exponent == 0:
        return one_like(self[0])
    if exponent != int(exponent) or abs(exponent) > 64:
        return to_number(self, exponent)
    return to_whole(self if exponent > 0 else reciprocal(self), abs(int(exponent)))


@pairs("float_power.Tensor_Tensor", "float_power.Tensor_Scalar", "float_power.Scalar")
def float_power(self, exponent):
    if not is_number(first(self)):
        self = in_type(self, DOUBLE.dtype)
    if not is_number(first(exponent)):
        exponent = in_type(exponent, DOUBLE.dtype)
    return power(self, exponent)


@inline
def powers_of(base, exponents):
    """Of a number above 0 to DOUBLE exponents."""
    assert not isinstance(base, tuple) and base > 0, f"logspace of complex numbers to {base}"
    return exp(scaled(exponents, math.log(base)))


@pairs("logspace.default")
def logspace(start, end, steps, base=10.0, *, dtype=None):
    exponents = linspace(start, end, steps, dtype=DOUBLE.dtype)
    return in_type(powers_of(base, exponents), FLOAT.dtype if dtype is None else dtype)


@pairs("logspace.Tensor_Tensor", "logspace.Tensor_Scalar", "logspace.Scalar_Tensor")
def logspace_tensor(start, end, steps, base=10.0, *, dtype=None):
    exponents = linspace_tensor(start, end, steps, dtype=DOUBLE.dtype)
    return in_type(powers_of(base, exponents), FLOAT.dtype if dtype is None else dtype)


@pairs("ldexp.Tensor")
def ldexp(self, other):
    if isinstance(other, tuple):
        return mul(self, exp2(other))
    x, other = common(self, other)
    return mul(x, op.Pow(tensor(2.0, other.dtype), other))


@pairs("logaddexp.default")
def logaddexp(self, other):
    self, other = common(self, other)
    (a, b), (c, d) = parts(self), parts(other)
    # As in torch the imaginary part begins with that of the greater one.
    is_second = a < c
    high = op.Where(is_second, c, a), op.Where(is_second, d, b)
    low = op.Where(is_second, a, c), op.Where(is_second, b, d)
    is_endless = op.Abs(high[0]) == math.inf
    apart = op.Where(low[0] == high[0], op.CastLike(0.0, a), op.CastLike(-math.inf, a))
    away = op.Where(is_endless, apart, low[0] - high[0])
    return add(high, log1p_(exp((away, low[1] - high[1]))))


# --- Trigonometric and hyperbolic functions, and their inverses as W. Kahan wrote them down


@inline
def turned_left(x):
    """i * x"""
    return op.Neg(x[1]), x[0]


@inline
def turned_right(x):
    """-i * x"""
    return x[1], op.Neg(x[0])


@pairs("sinh.default")
def sinh(self):
    a, b = self
    return in_float(op.Sinh, a) * op.Cos(b), times(in_float(op.Cosh, a), op.Sin(b))


@pairs("cosh.default")
def cosh(self):
    a, b = self
    return in_float(op.Cosh, a) * op.Cos(b), times(in_float(op.Sinh, a), op.Sin(b))


@pairs("tanh.default")
def tanh(self):
    # From 20 on the result is 1, and cosh would leave its range soon.
    a, b = op.Clip(self[0], -20.0, 20.0), self[1]
    s, c = in_float(op.Sinh, a), in_float(op.Cosh, a)
    size = op.Cos(b) * op.Cos(b) + s * s
    return s * c / size, op.Sin(b) * op.Cos(b) / size


@pairs("sin.default")
def sin(self):
    return turned_right(sinh(turned_left(self)))


@pairs("cos.default")
def cos(self):
    return cosh(turned_left(self))


@pairs("tan.default")
def tan(self):
    return turned_right(tanh(turned_left(self)))


@inline
def roots_beside(self):
    """sqrt(1 - z), whose imaginary part has the sign that -z has, and sqrt(1 + z)."""
    a, b = self
    re, im = sqrt((1.0 - a, b))
    return (re, op.Neg(im)), sqrt((a + 1.0, b))


@pairs("asin.default", "arcsin.default")
def asin(self):
    (a, b), (c, d) = roots_beside(self)
    return atan2(self[0], a * c - b * d), real_asinh(a * d - b * c)


@pairs("acos.default", "arccos.default")
def acos(self):
    (a, b), (c, d) = roots_beside(self)
    return atan2(a, c) * 2.0, real_asinh(c * b - d * a)


@pairs("asinh.default", "arcsinh.default")
def asinh(self):
    return turned_right(asin(turned_left(self)))


@pairs("acosh.default", "arccosh.default")
def acosh(self):
    (a, b), (c, d) = sqrt((self[0] - 1.0, self[1])), sqrt((self[0] + 1.0, self[1]))
    return real_asinh(a * c + b * d), atan2(b, c) * 2.0


@pairs("atanh.default", "arctanh.default")
def atanh(self):
    a, b = cast(self[0], DOUBLE.dtype), cast(self[1], DOUBLE.dtype)
    right = op.Abs(a)
    away = 1.0 - right
    size = log1p(right * 4.0 / (away * away + b * b)) * sign_of(a) * 0.25
    level = cast(away * (right + 1.0) - b * b, self[0].dtype)
    return cast(size, self[0].dtype), atan2(self[1] * 2.0, level) * 0.5


@pairs("atan.default", "arctan.default")
def atan(self):
    return turned_right(atanh(turned_left(self)))


@pairs("sigmoid.default", "special_expit.default")
def sigmoid(self):
    # Beyond -80 the result is 0, and exp would leave its range soon.
    away = exp((op.Neg(op.Max(self[0], op.CastLike(-80.0, self[0]))), op.Neg(self[1])))
    return reciprocal((away[0] + 1.0, away[1]))


@pairs("silu.default")
def silu(self):
    return mul(self, sigmoid(self))


@pairs("sinc.default", "special_sinc.default")
def sinc(self):
    x = scaled(self, math.pi)
    is_zero = op.And(x[0] == 0.0, x[1] == 0.0)
    safe = (op.Where(is_zero, 1.0, x[0]), x[1])
    re, im = div(sin(safe), safe)
    return op.Where(is_zero, 1.0, re), op.Where(is_zero, 0.0, im)


@pairs("sgn.default")
def sgn(self):
    size = absolute(self)
    safe = op.Where(size == 0.0, 1.0, size)
    return self[0] / safe, self[1] / safe


# --- Comparisons and logic


@pairs("eq.Tensor", "eq.Scalar")
def eq(self, other):
    self, other = common(self, other)
    (a, b), (c, d) = parts(self), parts(other)
    return op.And(a == c, b == d)


@pairs("ne.Tensor", "ne.Scalar", "not_equal.Tensor", "not_equal.Scalar")
def ne(self, other):
    return op.Not(eq(self, other))


@pairs("isnan.default")
def is_nan(self):
    return op.Or(isnan(self[0]), isnan(self[1]))


@pairs("isinf.default")
def is_inf(self):
    return op.Or(isinf(self[0]), isinf(self[1]))


@pairs("isfinite.default")
def is_finite(self):
    return op.And(isfinite(self[0]), isfinite(self[1]))


@pairs("isclose.default")
def isclose(self, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    same = eq(self, other)
    if equal_nan:
        same = op.Or(same, op.And(is_nan(self), is_nan(other)))
    error = absolute(sub(self, other))
    return op.Or(same, op.And(error < math.inf, error <= absolute(other) * rtol + atol))


@inline
def is_some(x):
    """Whether it is not 0, as BOOL."""
    if not isinstance(x, tuple):
        return truth(x)
    return op.Or(cast(x[0], BOOL.dtype), cast(x[1], BOOL.dtype))


@pairs("logical_not.default")
def logical_not(self):
    return op.Not(is_some(self))


@pairs("logical_and.default")
def logical_and(self, other):
    return op.And(is_some(self), is_some(other))


@pairs("logical_or.default")
def logical_or(self, other):
    return op.Or(is_some(self), is_some(other))


@pairs("logical_xor.default")
def logical_xor(self, other):
    return op.Xor(is_some(self), is_some(other))
