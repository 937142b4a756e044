// gcd, lcm, comb, perm, factorial, isqrt and pow with a modulus. As all integers here they have up
// to 128 bits; what Python would go on with beyond is refused.
#include "elaborate/library/integer_math.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/int128.h"
#include "elaborate/objects/exception_types.h"
#include "elaborate/objects/statics.h"

namespace sardonyx::elaborate {

namespace {

// Reports the first argument that is no integer.
bool are_whole(Context& c, const Arguments& a, std::string_view name) {
    for (size_t i = 0; i < a.positional.size(); ++i) {
        // The least of all has no magnitude.
        if (!a.positional[i].is_whole() || a.positional[i].as_whole() == kInt128Min) {
            refuse(c, a.ranges[i], fmt::format("`{}` of {}", name, kind_name(a.positional[i])),
                   "it takes integers that are known when the script is compiled");
            return false;
        }
    }
    return true;
}

Object too_large(Context& c, const Arguments& a, std::string_view name) {
    return refuse(c, a.range, fmt::format("the result of `{}` does not fit in 128 bits", name));
}

Object not_negative(Context& c, const Arguments& a, std::string_view name) {
    refuse(c, a.range, fmt::format("`{}` of a negative number", name));
    return raises(c, "ValueError");
}

Int128 magnitude(Int128 value) {
    return value < 0 ? -value : value;
}

Int128 common_divisor(Int128 a, Int128 b) {
    while (b != 0) {
        a = std::exchange(b, a % b);
    }
    return magnitude(a);
}

// n * (n - 1) * ... of k factors; nothing: too large.
std::optional<Int128> falling_product(Int128 n, Int128 k) {
    Int128 product = 1;
    for (Int128 i = 1; i <= k; ++i) {
        if (__builtin_mul_overflow(product, n - i + 1, &product)) {
            return std::nullopt;
        }
    }
    return product;
}

// The same divided by k!; nothing: too large.
std::optional<Int128> binomial(Int128 n, Int128 k) {
    Int128 product = 1;
    for (Int128 i = 1; i <= k; ++i) {
        if (__builtin_mul_overflow(product, n - i + 1, &product)) {
            return std::nullopt;
        }
        product /= i;
    }
    return product;
}

}  // namespace

Object math_gcd(Context& c, const Arguments& a) {
    if (!are_whole(c, a, "math.gcd")) {
        return Object::error();
    }
    Int128 result = 0;
    for (const Object& one : a.positional) {
        result = common_divisor(result, one.as_whole());
    }
    return Object::whole(result);
}

Object math_lcm(Context& c, const Arguments& a) {
    if (!are_whole(c, a, "math.lcm")) {
        return Object::error();
    }
    Int128 result = 1;
    for (const Object& one : a.positional) {
        Int128 next = magnitude(one.as_whole());
        Int128 factor = next == 0 ? 0 : next / common_divisor(result, next);
        if (__builtin_mul_overflow(result, factor, &result)) {
            return too_large(c, a, "math.lcm");
        }
        if (result == 0) {
            break;
        }
    }
    return Object::whole(result);
}

Object math_comb(Context& c, const Arguments& a) {
    if (!are_whole(c, a, "math.comb")) {
        return Object::error();
    }
    Int128 n = a.positional[0].as_whole(), k = a.positional[1].as_whole();
    if (n < 0 || k < 0) {
        return not_negative(c, a, "math.comb");
    }
    if (k > n) {
        return Object::integer(0);
    }
    std::optional<Int128> result = binomial(n, std::min(k, n - k));
    return result ? Object::whole(*result) : too_large(c, a, "math.comb");
}

Object math_perm(Context& c, const Arguments& a) {
    if (!are_whole(c, a, "math.perm")) {
        return Object::error();
    }
    Int128 n = a.positional[0].as_whole(), k = a.positional.back().as_whole();
    if (n < 0 || k < 0) {
        return not_negative(c, a, "math.perm");
    }
    if (k > n) {
        return Object::integer(0);
    }
    std::optional<Int128> result = falling_product(n, k);
    return result ? Object::whole(*result) : too_large(c, a, "math.perm");
}

Object math_factorial(Context& c, const Arguments& a) {
    if (!are_whole(c, a, "math.factorial")) {
        return Object::error();
    }
    Int128 n = a.positional[0].as_whole();
    if (n < 0) {
        return not_negative(c, a, "math.factorial");
    }
    std::optional<Int128> result = falling_product(n, n);
    return result ? Object::whole(*result) : too_large(c, a, "math.factorial");
}

Object math_isqrt(Context& c, const Arguments& a) {
    if (!are_whole(c, a, "math.isqrt")) {
        return Object::error();
    }
    Int128 n = a.positional[0].as_whole();
    if (n < 0) {
        return not_negative(c, a, "math.isqrt");
    }
    Int128 low = 0, high = Int128{1} << 64;  // low * low <= n < high * high
    while (high - low > 1) {
        Int128 middle = low + (high - low) / 2;
        Int128 square = 0;
        bool is_past = __builtin_mul_overflow(middle, middle, &square) || square > n;
        (is_past ? high : low) = middle;
    }
    return Object::whole(low);
}

Object power_modulo(Context& c, const Arguments& a) {
    if (!are_whole(c, a, "pow")) {
        return Object::error();
    }
    Int128 base = a.positional[0].as_whole(), exponent = a.positional[1].as_whole();
    Int128 modulus = a.positional[2].as_whole();
    if (modulus == 0) {
        refuse(c, a.ranges[2], "`pow` with the modulus 0");
        return raises(c, "ValueError");
    }
    if (exponent < 0 || !fits_int64(modulus)) {
        return refuse(c, a.range, "`pow` with a negative exponent or a modulus past 64 bits");
    }
    Int128 size = magnitude(modulus), result = 1 % size;
    base = (base % size + size) % size;
    for (; exponent > 0; exponent >>= 1) {
        result = (exponent & 1) != 0 ? result * base % size : result;
        base = base * base % size;
    }
    // The sign is that of the modulus, as of `%`.
    return Object::whole(modulus < 0 && result != 0 ? result - size : result);
}

}  // namespace sardonyx::elaborate
