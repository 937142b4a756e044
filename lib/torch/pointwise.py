"""Operators of elements: arithmetic, comparisons, bits, and the functions of one number."""

import math

from sardonyx import BFLOAT16, BOOL, DOUBLE, FLOAT, INT32, INT64, UINT8

from .declare import aten, inline, op
from .types import (
    cast,
    computed,
    floating,
    full_of,
    highest,
    in_float,
    in_ints,
    is_lost,
    is_number,
    is_static,
    kind,
    lowest,
    picked,
    promoted,
    promoted_floats,
    result_type,
    result_type_of,
    tensor,
    to_power,
    type_of,
)

# --- Functions of one number


@aten("sin.default")
def sin(self):
    return in_float(op.Sin, floating(self))


@aten("cos.default")
def cos(self):
    return in_float(op.Cos, floating(self))


@aten("tan.default")
def tan(self):
    return in_float(op.Tan, floating(self))


@aten("asin.default", "arcsin.default")
def asin(self):
    return in_float(op.Asin, floating(self))


@aten("acos.default", "arccos.default")
def acos(self):
    return in_float(op.Acos, floating(self))


@aten("atan.default", "arctan.default")
def atan(self):
    return in_float(op.Atan, floating(self))


@aten("sinh.default")
def sinh(self):
    return in_float(op.Sinh, floating(self))


@aten("cosh.default")
def cosh(self):
    return in_float(op.Cosh, floating(self))


@aten("tanh.default")
def tanh(self):
    return op.Tanh(floating(self))


@aten("asinh.default", "arcsinh.default")
def asinh(self):
    return in_float(op.Asinh, floating(self))


@aten("acosh.default", "arccosh.default")
def acosh(self):
    return in_float(op.Acosh, floating(self))


@aten("atanh.default", "arctanh.default")
def atanh(self):
    return in_float(op.Atanh, floating(self))


@aten("exp.default")
def exp(self):
    return op.Exp(floating(self))


@aten("exp2.default", "special_exp2.default")
def exp2(self):
    x = floating(self)
    return op.Pow(tensor(2.0, x.dtype), x)


@aten("expm1.default", "special_expm1.default")
def expm1(self):
    x = floating(self)
    # 2 * exp(x / 2) * sinh(x / 2), which does not cancel near 0.
    return op.Where(
        op.Abs(x) < 1.0, 2.0 * op.Exp(x * 0.5) * in_float(op.Sinh, x * 0.5), op.Exp(x) - 1.0
    )


@aten("log.default")
def log(self):
    return op.Log(floating(self))


@aten("log2.default")
def log2(self):
    return op.Log(floating(self)) / math.log(2.0)


@aten("log10.default")
def log10(self):
    return op.Log(floating(self)) / math.log(10.0)


@aten("log1p.default", "special_log1p.default")
def log1p(self):
    x = computed(floating(self))
    # What rounding 1 + x has lost of a small x is put back by the quotient.
    total = x + 1.0
    seen = total - 1.0
    small = op.Where(seen == 0.0, x, op.Log(total) * (x / seen))
    return cast(op.Where(op.Abs(x) < 0.5, small, op.Log(total)), floating(self).dtype)


@aten("sqrt.default")
def sqrt(self):
    return op.Sqrt(floating(self))


@aten("rsqrt.default")
def rsqrt(self):
    return op.Reciprocal(op.Sqrt(floating(self)))


@aten("reciprocal.default")
def reciprocal(self):
    return op.Reciprocal(floating(self))


@aten("sigmoid.default", "special_expit.default")
def sigmoid(self):
    return op.Sigmoid(floating(self))


@aten("erf.default", "special_erf.default")
def erf(self):
    return op.Erf(floating(self))


@aten("logit.default", "special_logit.default")
def logit(self, eps=None):
    x = floating(self)
    if eps is not None:
        x = op.Clip(x, eps, 1.0 - eps)
    return op.Log(x / (1.0 - x))


@aten("abs.default", "absolute.default")
def absolute(self):
    return self if self.dtype == BOOL.dtype else op.Abs(self)


@aten("neg.default", "negative.default")
def neg(self):
    return op.Neg(self) if kind(self.dtype) == 2 or self.dtype.is_signed() else 0 - self


@aten("positive.default")
def positive(self):
    return op.Identity(self)


@aten("sign.default", "sgn.default")
def sign(self):
    if kind(self.dtype) == 2:
        return op.Where(op.IsNaN(self), 0.0, op.Sign(self))  # in PyTorch, that of NaN is 0
    return op.Identity(self) if self.dtype == BOOL.dtype else op.Sign(self)


@aten("signbit.default")
def signbit(self):
    if self.dtype == BOOL.dtype:
        return op.Xor(self, self)
    if kind(self.dtype) == 2:
        return has_sign(self)
    return self < 0


@aten("floor.default")
def floor(self):
    return op.Floor(self) if kind(self.dtype) == 2 else op.Identity(self)


@aten("ceil.default")
def ceil(self):
    return op.Ceil(self) if kind(self.dtype) == 2 else op.Identity(self)


@aten("round.default")
def round_(self):
    return in_float(op.Round, self) if kind(self.dtype) == 2 else op.Identity(self)


@aten("special_round.default")
def special_round(self, *, decimals=0):
    return round_(self) if decimals == 0 else round_decimals(self, decimals=decimals)


@aten("round.decimals")
def round_decimals(self, *, decimals):
    if kind(self.dtype) != 2:
        return op.Identity(self)
    x = computed(self)
    if decimals < 0:
        return cast(op.Round(x / 10.0**-decimals) * 10.0**-decimals, self.dtype)
    return cast(op.Round(x * 10.0**decimals) / 10.0**decimals, self.dtype)


@aten("trunc.default", "fix.default")
def trunc(self):
    if kind(self.dtype) != 2:
        return op.Identity(self)
    return op.Where(self < 0.0, op.Ceil(self), op.Floor(self))


@aten("frac.default")
def frac(self):
    return self - op.Where(self < 0.0, op.Ceil(self), op.Floor(self))


@aten("square.default")
def square(self):
    return self * self if self.dtype != BOOL.dtype else op.Cast(self, to=INT64.dtype)


@aten("deg2rad.default")
def deg2rad(self):
    return floating(self) * (math.pi / 180.0)


@aten("rad2deg.default")
def rad2deg(self):
    return floating(self) * (180.0 / math.pi)


@aten("sinc.default", "special_sinc.default")
def sinc(self):
    x = computed(floating(self)) * math.pi
    return cast(op.Where(x == 0.0, 1.0, op.Sin(x) / x), floating(self).dtype)


@aten("isnan.default")
def isnan(self):
    return op.IsNaN(floating(self))


@aten("isinf.default")
def isinf(self):
    x = floating(self)
    return op.Abs(x) == math.inf


@aten("isfinite.default")
def isfinite(self):
    return op.Abs(floating(self)) < math.inf


@aten("isposinf.default")
def isposinf(self):
    return floating(self) == math.inf


@aten("isneginf.default")
def isneginf(self):
    return floating(self) == -math.inf


@aten("isreal.default")
def isreal(self):
    return full_of(self.shape, True, BOOL.dtype)


@aten("nan_to_num.default")
def nan_to_num(self, nan=None, posinf=None, neginf=None):
    if kind(self.dtype) != 2:
        return op.Identity(self)
    greatest = largest(self.dtype)
    x = op.Where(op.IsNaN(self), 0.0 if nan is None else nan, self)
    x = op.Where(self == math.inf, greatest if posinf is None else posinf, x)
    return op.Where(self == -math.inf, -greatest if neginf is None else neginf, x)


@inline
def largest(dtype):
    """The greatest finite number of a type of floats."""
    if dtype == DOUBLE.dtype:
        return 1.7976931348623157e308
    if dtype == FLOAT.dtype:
        return 3.4028234663852886e38
    return 65504.0 if dtype.name == "FLOAT16" else 3.3895313892515355e38


# --- Arithmetic


@inline
def scaled(other, alpha):
    return other if alpha == 1 else other * alpha


@aten("add.Tensor", "add.Scalar")
def add(self, other, *, alpha=1):
    self, other = promoted(self, other)
    if not is_number(self) and self.dtype == BOOL.dtype:
        return self | other
    return self + scaled(other, alpha)


@aten("sub.Tensor", "sub.Scalar", "subtract.Tensor", "subtract.Scalar")
def sub(self, other, *, alpha=1):
    self, other = promoted(self, other)
    return self - scaled(other, alpha)


@aten("rsub.Tensor", "rsub.Scalar")
def rsub(self, other, *, alpha=1):
    self, other = promoted(self, other)
    return other - scaled(self, alpha)


@inline
def has_lost_factor(self, other, dtype):
    """PyTorch takes the second operand as it is; a tensor that is the first one is cast."""
    return (is_number(self) and is_lost(self, dtype)) or is_lost(other, dtype)


@aten("mul.Tensor", "mul.Scalar", "multiply.Tensor", "multiply.Scalar")
def mul(self, other):
    dtype = result_type(self, other)
    if has_lost_factor(self, other, dtype):
        return cast(cast(self, FLOAT.dtype) * cast(other, FLOAT.dtype), dtype)
    self, other = promoted(self, other)
    if not is_number(self) and self.dtype == BOOL.dtype:
        return self & other
    return self * other


@aten("div.Tensor", "div.Scalar", "true_divide.Tensor", "true_divide.Scalar", "divide.Tensor",
      "divide.Scalar")  # fmt: skip
def div(self, other):
    dtype = result_type(self, other)
    if has_lost_factor(self, other, dtype):
        return cast(cast(self, FLOAT.dtype) / cast(other, FLOAT.dtype), dtype)
    self, other = promoted_floats(self, other)
    return self / other


@aten("div.Tensor_mode", "div.Scalar_mode", "divide.Tensor_mode", "divide.Scalar_mode")
def div_mode(self, other, *, rounding_mode):
    if rounding_mode is None:
        self, other = promoted_floats(self, other)
        return self / other
    self, other = promoted(self, other)
    if rounding_mode == "floor":
        return floored(self, other)
    if kind(type_of(self)) == 2:
        quotient = self / other
        return op.Where(quotient < 0.0, op.Ceil(quotient), op.Floor(quotient))
    return op.Div(self, other)


@aten("floor_divide.default", "floor_divide.Scalar")
def floor_divide(self, other):
    self, other = promoted(self, other)
    return floored(self, other)


@inline
def floored(a, b):
    if type_of(a) == BFLOAT16.dtype and op.version < 22:
        return op.Cast(cast(a, FLOAT.dtype) // cast(b, FLOAT.dtype), to=BFLOAT16.dtype)
    return a // b


@aten("remainder.Tensor", "remainder.Scalar", "remainder.Scalar_Tensor")
def remainder(self, other):
    dtype = result_type(self, other)
    self, other = promoted(self, other)
    if kind(dtype) != 2:
        return self % other
    # Where it is zero, it has the sign of `self`; that of `%` has the sign of `other`.
    rest = op.Mod(self, other, fmod=1)
    is_beyond = op.Sign(rest) * op.Sign(tensor(other, dtype)) < 0.0
    return op.Where(is_beyond, rest + other, rest)


@aten("fmod.Tensor", "fmod.Scalar")
def fmod(self, other):
    self, other = promoted(self, other)
    return op.Mod(self, other, fmod=1)


@inline
def common_divisor(a, b):
    """The greatest number that divides both, by Euclid's algorithm for all elements at once."""
    a, b = op.Abs(a) + op.Abs(b - b), op.Abs(b) + op.Abs(a - a)
    while op.ReduceMax(b, keepdims=0) > 0:
        is_done = b == 0
        rest = op.Where(is_done, b, op.Mod(a, op.Where(is_done, b + 1, b)))
        a = op.Where(is_done, a, b)
        b = rest
    return a


@aten("gcd.default")
def gcd(self, other):
    a, b = promoted(self, other)
    dtype = a.dtype
    return cast(common_divisor(cast(a, INT64.dtype), cast(b, INT64.dtype)), dtype)


@aten("lcm.default")
def lcm(self, other):
    a, b = promoted(self, other)
    dtype = a.dtype
    a, b = cast(a, INT64.dtype), cast(b, INT64.dtype)
    divisor = common_divisor(a, b)
    return cast(op.Abs(op.Div(a, op.Where(divisor == 0, 1, divisor)) * b), dtype)


@inline
def is_short_power(exponent):
    return isinstance(exponent, int) and is_static(exponent % 2) and 2 <= exponent <= 8


@inline
def multiplied(x, count):
    """A power of integers whose products wrap; runtimes compute Pow as floats."""
    half = x if count < 4 else multiplied(x, count // 2)
    square = half * half
    return square if count % 2 == 0 else square * x


@aten("pow.Tensor_Tensor", "pow.Tensor_Scalar", "pow.Scalar")
def power(self, exponent):
    dtype = result_type(self, exponent)
    if kind(dtype) == 1 and is_short_power(exponent):
        return in_ints(lambda x: multiplied(x, exponent), cast(self, dtype))
    if dtype != BOOL.dtype and kind(dtype) != 2 and dtype.bitwidth < 32:
        return cast(op.Pow(tensor(tensor(self, dtype), INT32.dtype),
                           tensor(tensor(exponent, dtype), INT32.dtype)), dtype)  # fmt: skip
    if is_number(self):
        return op.Pow(tensor(self, dtype), cast(exponent, dtype))
    self, exponent = cast(self, dtype), cast(exponent, dtype)
    if dtype == BOOL.dtype:
        return self | op.Not(tensor(exponent, dtype))
    if isinstance(exponent, float) and exponent == 0.5:
        return op.Sqrt(self)
    if isinstance(exponent, float) and exponent == -0.5 and dtype.name != "FLOAT16":
        # As PyTorch, also of -0 and -inf.
        return op.Reciprocal(op.Sqrt(self))
    return to_power(self, exponent) if is_number(exponent) else op.Pow(self, exponent)


@aten("float_power.Tensor_Tensor", "float_power.Tensor_Scalar", "float_power.Scalar")
def float_power(self, exponent):
    return op.Pow(tensor(self, DOUBLE.dtype), tensor(exponent, DOUBLE.dtype))


@inline
def extreme(f, g, self, other):
    self, other = promoted(self, other)
    return g(self, other) if self.dtype == BOOL.dtype else f(self, other)


@aten("maximum.default", "max.other")
def maximum(self, other):
    return extreme(op.Max, op.Or, self, other)


@aten("minimum.default", "min.other")
def minimum(self, other):
    return extreme(op.Min, op.And, self, other)


@aten("fmax.default")
def fmax(self, other):
    self, other = promoted(self, other)
    if kind(self.dtype) != 2:
        return extreme(op.Max, op.Or, self, other)
    return op.Where(op.IsNaN(self), other, op.Where(op.IsNaN(other), self, op.Max(self, other)))


@aten("fmin.default")
def fmin(self, other):
    self, other = promoted(self, other)
    if kind(self.dtype) != 2:
        return extreme(op.Min, op.And, self, other)
    return op.Where(op.IsNaN(self), other, op.Where(op.IsNaN(other), self, op.Min(self, other)))


@aten("atan2.default", "arctan2.default")
def atan2(self, other):
    y, x = promoted_floats(self, other)
    dtype = y.dtype
    y, x = computed(y), computed(x)
    above, side = op.Abs(y), op.Abs(x)
    # Two zeros, and two infinities, have no quotient.
    angle = op.Atan(op.Where(above == side, op.Sign(above), above / side))
    angle = op.Where(has_sign(x), math.pi - angle, angle)
    return cast(angle * sign_of(y), dtype)


@inline
def has_sign(x):
    """Whether a float is below 0, or the zero that is."""
    return (x < 0.0) | (op.Reciprocal(x) < 0.0)


@inline
def sign_of(x):
    """1 or -1. A product with it has the sign of a zero, which ONNX Runtime's Where loses."""
    return op.Where(has_sign(x), op.CastLike(-1.0, x), op.CastLike(1.0, x))


@aten("hypot.default")
def hypot(self, other):
    self, other = promoted_floats(self, other)
    a, b = op.Abs(computed(self)), op.Abs(computed(other))
    # The squares of large and of small numbers leave the range of the type; their quotients stay.
    most = op.Max(a, b)
    share = op.Where(a == b, 1.0, op.Min(a, b) / most)
    value = op.Where(
        (a == math.inf) | (b == math.inf), math.inf, most * op.Sqrt(share * share + 1.0)
    )
    return cast(value, self.dtype)


@aten("copysign.Tensor", "copysign.Scalar")
def copysign(self, other):
    self, other = promoted_floats(self, other)
    size = op.Abs(self)
    if is_number(other):
        return -size if math.copysign(1.0, other) < 0 else size
    return size * sign_of(other)


@aten("xlogy.Tensor", "xlogy.Scalar_Other", "xlogy.Scalar_Self", "special_xlogy.default",
      "special_xlogy.other_scalar", "special_xlogy.self_scalar")  # fmt: skip
def xlogy(self, other):
    dtype = result_type(self, other)
    dtype = dtype if kind(dtype) == 2 else FLOAT.dtype
    self, other = tensor(self, dtype), tensor(other, dtype)
    product = op.Where(self == 0.0, 0.0, self * op.Log(other))
    return op.Where(op.IsNaN(other), other, product)


@aten("special_xlog1py.default", "special_xlog1py.other_scalar", "special_xlog1py.self_scalar")
def xlog1py(self, other):
    dtype = result_type(self, other)
    dtype = dtype if kind(dtype) == 2 else FLOAT.dtype
    self, other = tensor(self, dtype), tensor(other, dtype)
    product = op.Where(self == 0.0, 0.0, self * log1p(other))
    return op.Where(op.IsNaN(other), other, product)


@aten("special_entr.default")
def entr(self):
    x = floating(self)
    y = op.Where(x == 0.0, 0.0, -x * op.Log(x))
    return op.Where(x < 0.0, -math.inf, y)


@aten("logaddexp.default")
def logaddexp(self, other):
    return log_of_sum(op.Exp, 1.0, self, other)


@inline
def log_of_sum(power, unit, self, other):
    """log(power(self) + power(other)), divided by `unit`."""
    self, other = promoted_floats(self, other)
    a, b = computed(self), computed(other)
    high = op.Max(a, b)
    safe = op.Where(op.Abs(high) == math.inf, 0.0, high)
    return cast(op.Log(power(a - safe) + power(b - safe)) / unit + safe, self.dtype)


@aten("logaddexp2.default")
def logaddexp2(self, other):
    return log_of_sum(lambda x: op.Pow(op.CastLike(2.0, x), x), math.log(2.0), self, other)


@aten("heaviside.default")
def heaviside(self, values):
    self, values = promoted(self, values)
    if self.dtype == BOOL.dtype:
        return self | values
    one = op.Where(self > 0, tensor(1, self.dtype), tensor(0, self.dtype))
    return op.Where(self == 0, values, one)


@aten("ldexp.Tensor")
def ldexp(self, other):
    self, other = promoted_floats(self, other)
    return self * op.Pow(tensor(2.0, self.dtype), other)


@aten("lerp.Scalar", "lerp.Tensor")
def lerp(self, end, weight):
    if is_lost(weight, self.dtype):
        return cast(lerp(computed(self), computed(end), weight), self.dtype)
    if is_number(weight) and abs(weight) >= 0.5:  # as PyTorch, from the nearer end
        return end - (end - self) * (1.0 - weight)
    return self + (end - self) * cast(weight, self.dtype)


@aten("addcmul.default")
def addcmul(self, tensor1, tensor2, *, value=1):
    dtype = result_type_of([self, tensor1, tensor2])
    inner = FLOAT.dtype if is_lost(value, dtype) else dtype
    product = cast(tensor1, inner) * cast(tensor2, inner)
    return cast(cast(self, inner) + scaled(product, value), dtype)


@aten("addcdiv.default")
def addcdiv(self, tensor1, tensor2, *, value=1):
    dtype = result_type_of([self, tensor1, tensor2])
    inner = FLOAT.dtype if is_lost(value, dtype) else dtype
    quotient = cast(tensor1, inner) / cast(tensor2, inner)
    return cast(cast(self, inner) + scaled(quotient, value), dtype)


# --- Comparisons and logic


@inline
def compared(f, a, b):
    """Less and its like have no booleans."""
    a, b = promoted(a, b)
    if not is_number(a) and a.dtype == BOOL.dtype:
        a = op.Cast(a, to=UINT8.dtype)
        b = int(b) if is_number(b) else op.Cast(b, to=UINT8.dtype)
    return f(a, b)


@aten("eq.Tensor", "eq.Scalar")
def eq(self, other):
    return compared(op.Equal, self, other)


@aten("ne.Tensor", "ne.Scalar", "not_equal.Tensor", "not_equal.Scalar")
def ne(self, other):
    return op.Not(compared(op.Equal, self, other))


@aten("lt.Tensor", "lt.Scalar", "less.Tensor", "less.Scalar")
def lt(self, other):
    return compared(op.Less, self, other)


@aten("le.Tensor", "le.Scalar", "less_equal.Tensor", "less_equal.Scalar")
def le(self, other):
    return compared(op.LessOrEqual, self, other)


@aten("gt.Tensor", "gt.Scalar", "greater.Tensor", "greater.Scalar")
def gt(self, other):
    return compared(op.Greater, self, other)


@aten("ge.Tensor", "ge.Scalar", "greater_equal.Tensor", "greater_equal.Scalar")
def ge(self, other):
    return compared(op.GreaterOrEqual, self, other)


@aten("isclose.default")
def isclose(self, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    same = self == other
    if kind(self.dtype) != 2:
        self, other = op.Cast(self, to=DOUBLE.dtype), op.Cast(other, to=DOUBLE.dtype)
    elif equal_nan:
        same = same | (op.IsNaN(self) & op.IsNaN(other))
    error = op.Abs(self - other)
    return same | ((error < math.inf) & (error <= op.Abs(other) * rtol + atol))


@inline
def truth(x):
    return x != 0 if is_number(x) else cast(x, BOOL.dtype)


@aten("logical_not.default")
def logical_not(self):
    return op.Not(truth(self))


@aten("logical_and.default")
def logical_and(self, other):
    return op.And(truth(self), truth(other))


@aten("logical_or.default")
def logical_or(self, other):
    return op.Or(truth(self), truth(other))


@aten("logical_xor.default")
def logical_xor(self, other):
    return op.Xor(truth(self), truth(other))


@aten("bitwise_not.default")
def bitwise_not(self):
    return ~self


@aten("bitwise_and.Tensor", "bitwise_and.Scalar", "bitwise_and.Scalar_Tensor", "__and__.Tensor",
      "__and__.Scalar")  # fmt: skip
def bitwise_and(self, other):
    self, other = promoted(self, other)
    return self & other


@aten("bitwise_or.Tensor", "bitwise_or.Scalar", "bitwise_or.Scalar_Tensor", "__or__.Tensor",
      "__or__.Scalar")  # fmt: skip
def bitwise_or(self, other):
    self, other = promoted(self, other)
    return self | other


@aten("bitwise_xor.Tensor", "bitwise_xor.Scalar", "bitwise_xor.Scalar_Tensor", "__xor__.Tensor",
      "__xor__.Scalar")  # fmt: skip
def bitwise_xor(self, other):
    self, other = promoted(self, other)
    return self ^ other


@aten("bitwise_left_shift.Tensor", "bitwise_left_shift.Tensor_Scalar",
      "bitwise_left_shift.Scalar_Tensor", "__lshift__.Tensor", "__lshift__.Scalar")  # fmt: skip
def bitwise_left_shift(self, other):
    self, other = promoted(self, other)
    return self << other


@aten("bitwise_right_shift.Tensor", "bitwise_right_shift.Tensor_Scalar",
      "bitwise_right_shift.Scalar_Tensor", "__rshift__.Tensor", "__rshift__.Scalar")  # fmt: skip
def bitwise_right_shift(self, other):
    self, other = promoted(self, other)
    return self >> other


@aten("where.self", "where.ScalarOther", "where.ScalarSelf", "where.Scalar")
def where(condition, self, other):
    dtype = result_type(self, other)
    return picked(truth(condition), self, other, dtype)


# --- Limits


@inline
def is_nan(x):
    return isinstance(x, float) and math.isnan(x)


@inline
def bounded(self, least, most):
    dtype = result_type_of([x for x in (self, least, most) if x is not None])
    x = cast(self, dtype)
    if is_nan(least) or is_nan(most):
        return x * math.nan  # as PyTorch; Clip would leave what it compares with NaN
    bounds_are_numbers = (least is None or is_number(least)) and (most is None or is_number(most))
    if bounds_are_numbers and kind(dtype) == 2:
        return op.Clip(x, least, most)
    if least is not None:
        x = in_ints(lambda v: op.Max(v, cast(tensor(least, dtype), v.dtype)), x)
    if most is not None:
        x = in_ints(lambda v: op.Min(v, cast(tensor(most, dtype), v.dtype)), x)
    return x


@aten("clamp.default", "clamp.Tensor", "clip.default", "clip.Tensor")
def clamp(self, min=None, max=None):
    return bounded(self, min, max)


@aten("clamp_min.default", "clamp_min.Tensor")
def clamp_min(self, min):
    return bounded(self, min, None)


@aten("clamp_max.default", "clamp_max.Tensor")
def clamp_max(self, max):
    return bounded(self, None, max)


@inline
def bounds(dtype):
    return lowest(dtype), highest(dtype)


@aten("angle.default")
def angle(self):
    x = floating(self)
    return op.Where(op.IsNaN(x), x, op.Where(x < 0.0, math.pi, op.CastLike(0.0, x)))


@aten("frexp.Tensor")
def frexp(self):
    # The power of two above the number; logarithms may be off by one at powers of two.
    x = computed(self)
    size = op.Abs(x)
    has_power = (size > 0.0) & (size < math.inf)  # zeros, infinities and NaN stay as they are
    safe = op.Where(has_power, size, 1.0)
    power = op.Floor(op.Log(safe) / math.log(2.0)) + 1.0
    two = op.CastLike(2.0, x)
    share = safe / op.Pow(two, power - 1.0) * 0.5  # the power itself may be beyond the type
    power = op.Where(share >= 1.0, power + 1.0, op.Where(share < 0.5, power - 1.0, power))
    power = op.Where(has_power, power, 0.0)
    share = op.Where(has_power, x / op.Pow(two, power - 1.0) * 0.5, x)
    return cast(share, self.dtype), op.Cast(power, to=6)
