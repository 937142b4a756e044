#include "elaborate/objects/number_arithmetic.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "elaborate/objects/exception_types.h"
#include "elaborate/objects/floor_division.h"
#include "elaborate/objects/statics.h"

namespace sardonyx::elaborate {

using lowering::Binary;

Object division_by_zero(Context& c, syntax::Range range) {
    refuse(c, range, "division by zero");
    return raises(c, "ZeroDivisionError");
}

namespace {

Object overflow(Context& c, syntax::Range range) {
    return refuse(c, range, "the result does not fit in 128 bits",
                  "integers of ONNX have 64 bits at most; use a float");
}

Object int_power(Context& c, Int128 base, Int128 exponent, syntax::Range range) {
    if (exponent < 0) {
        if (base == 0) {
            return division_by_zero(c, range);
        }
        return Object::real(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
    }
    Int128 result = 1, square = base;
    for (auto left = static_cast<Uint128>(exponent); left != 0; left >>= 1) {
        if ((left & 1) != 0 && __builtin_mul_overflow(result, square, &result)) {
            return overflow(c, range);
        }
        if (left > 1 && __builtin_mul_overflow(square, square, &square)) {
            return overflow(c, range);
        }
    }
    return Object::whole(result);
}

Object int_shift(Context& c, bool is_left, Int128 a, Int128 b, syntax::Range range) {
    constexpr int kBits = 127;
    if (b < 0) {
        return refuse(c, range, "negative shift count");
    }
    int count = static_cast<int>(std::min<Int128>(b, kBits));
    if (!is_left || a == 0) {
        return Object::whole(a >> count);
    }
    Int128 result = 0;
    return count == kBits || __builtin_mul_overflow(a, Int128{1} << count, &result)
               ? overflow(c, range)
               : Object::whole(result);
}

// Rounded once, as Python does, also of ints that DOUBLE does not hold.
double quotient(Int128 a, Int128 b) {
    auto size = [](Int128 x) { return x < 0 ? Uint128{0} - static_cast<Uint128>(x) : Uint128(x); };
    Uint128 divisor = size(b), whole = size(a) / divisor, rest = size(a) % divisor;
    int shift = 0;
    for (; rest != 0 && whole >> 60 == 0; ++shift, rest %= divisor) {
        rest <<= 1;
        whole = whole << 1 | (rest >= divisor ? 1 : 0);
    }
    double result = std::ldexp(static_cast<double>(whole | (rest != 0 ? 1 : 0)), -shift);
    return (a < 0) != (b < 0) ? -result : result;
}

// Rounded down, as Python does.
Object int_division(Context& c, Binary op, Int128 a, Int128 b, syntax::Range range) {
    if (b == 0) {
        return division_by_zero(c, range);
    }
    if (op == Binary::kDiv) {
        return Object::real(quotient(a, b));
    }
    if (b == -1) {  // the least integer // -1 overflows
        return op == Binary::kMod ? Object::integer(0)
               : a == kInt128Min  ? overflow(c, range)
                                  : Object::whole(-a);
    }
    Int128 quotient = a / b, rest = a % b;
    if (rest != 0 && (rest < 0) != (b < 0)) {
        --quotient;
        rest += b;
    }
    return Object::whole(op == Binary::kMod ? rest : quotient);
}

Object float_power(Context& c, double a, double b, syntax::Range range) {
    if (a == 0 && b < 0) {
        return division_by_zero(c, range);
    }
    double result = std::pow(a, b);
    if (std::isnan(result) && !std::isnan(a) && !std::isnan(b)) {
        return refuse(c, range, "a negative number to a fractional power is complex",
                      "complex numbers are not supported");
    }
    if (std::isinf(result) && std::isfinite(a) && std::isfinite(b)) {
        refuse(c, range, "the power is too large for a float");
        return raises(c, "OverflowError");
    }
    return Object::real(result);
}

}  // namespace

Object int_binary(Context& c, Binary op, Int128 a, Int128 b, syntax::Range range) {
    Int128 result = 0;
    switch (op) {
        case Binary::kAdd:
            return __builtin_add_overflow(a, b, &result) ? overflow(c, range)
                                                         : Object::whole(result);
        case Binary::kSub:
            return __builtin_sub_overflow(a, b, &result) ? overflow(c, range)
                                                         : Object::whole(result);
        case Binary::kMul:
            return __builtin_mul_overflow(a, b, &result) ? overflow(c, range)
                                                         : Object::whole(result);
        case Binary::kDiv:
        case Binary::kFloorDiv:
        case Binary::kMod:
            return int_division(c, op, a, b, range);
        case Binary::kPow:
            return int_power(c, a, b, range);
        case Binary::kLeftShift:
        case Binary::kRightShift:
            return int_shift(c, op == Binary::kLeftShift, a, b, range);
        case Binary::kBitOr:
            return Object::whole(a | b);
        case Binary::kBitXor:
            return Object::whole(a ^ b);
        case Binary::kBitAnd:
            return Object::whole(a & b);
        case Binary::kMatMul:
            break;
    }
    return refuse(c, range, "`@` on integers");
}

Object float_binary(Context& c, Binary op, double a, double b, syntax::Range range) {
    switch (op) {
        case Binary::kAdd:
            return Object::real(a + b);
        case Binary::kSub:
            return Object::real(a - b);
        case Binary::kMul:
            return Object::real(a * b);
        case Binary::kDiv:
            return b == 0 ? division_by_zero(c, range) : Object::real(a / b);
        case Binary::kFloorDiv:
            return b == 0 ? division_by_zero(c, range) : Object::real(floor_divide(a, b));
        case Binary::kMod:
            return b == 0 ? division_by_zero(c, range) : Object::real(remainder(a, b));
        case Binary::kPow:
            return float_power(c, a, b, range);
        default:
            return refuse(
                c, range,
                fmt::format("`{}` on floats", lowering::kBinarySymbols[static_cast<size_t>(op)]));
    }
}

}  // namespace sardonyx::elaborate
