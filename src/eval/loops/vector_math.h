// Elementary functions of float without branches or calls, so that the loops around them are
// vectorised; of other types they are those of <cmath>.
//
// The greatest error over all floats, in units of the last place of the true result, is stated at
// each function and held by tests/eval/vector_math_test.cpp. Infinities, NaN, -0.0 and denormal
// numbers are treated as <cmath> does. Polynomials are minimax fits on the stated interval.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace sardonyx::eval {

// 2^n for n in [-126, 127].
inline float power_of_two(uint32_t n) {
    return std::bit_cast<float>((n + 127) << 23);
}

// e^x = (1 + fraction) * 2^exponent with a fraction near 0, for |x| < 1000.
struct ExpParts {
    float fraction;
    uint32_t exponent;
};
// e^r - 1 for |r| < 0.45.
inline float exp_fraction(float r) {
    float p = 1.9917970e-4f;
    p = p * r + 1.3946190e-3f;
    p = p * r + 8.3332649e-3f;
    p = p * r + 4.1666269e-2f;
    p = p * r + 0.16666667f;
    p = p * r + 0.5f;
    return r + r * r * p;
}
// Of x + rest, where the rest is what `x` is short of the exponent, at most 0.1.
template <typename... Rest>
inline ExpParts exp_parts(float x, Rest... rest) {
    // e^x = 2^n * e^r with |r| <= ln(2)/2.
    constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
    float shifted = (x + ... + rest) * 1.44269504f + kRound;
    uint32_t n = std::bit_cast<uint32_t>(shifted) - std::bit_cast<uint32_t>(kRound);
    float k = shifted - kRound;
    // ln(2) in two parts; the product with the first one is exact.
    float r = x - k * 0.693359375f;
    r = r + k * 2.12194440e-4f;
    return {exp_fraction((r + ... + rest)), n};
}

// 1 ulp.
inline float vector_exp(float x) {
    // Beyond the bounds the result is 0 or infinity anyway; the comparisons leave NaN as it is.
    x = x > 89.0f ? 89.0f : x;
    x = x < -104.0f ? -104.0f : x;
    ExpParts parts = exp_parts(x);
    // Two factors, so that neither overflows and denormal results are rounded once.
    uint32_t half = static_cast<uint32_t>(static_cast<int32_t>(parts.exponent) >> 1);
    return (1.0f + parts.fraction) * power_of_two(half) * power_of_two(parts.exponent - half);
}

// The same for |x| < 87, where neither result nor factor is out of range. The power is a factor,
// not a number added to the bits: NaN with any payload stays NaN.
inline float vector_exp_near(float x) {
    ExpParts parts = exp_parts(x);
    return (1.0f + parts.fraction) * power_of_two(parts.exponent);
}

// e^x * 2^64 for x in [kLeastPower, 0], which is a normal number, so that what is divided by the
// sum of such powers is rounded once. Below that e^x is 0.
inline constexpr float kLeastPower = -104.0f;
inline float vector_exp_scaled(float x) {
    ExpParts parts = exp_parts(x);
    return (1.0f + parts.fraction) * power_of_two(parts.exponent + 64);
}

// e^x - 1. 2 ulp.
inline float vector_expm1(float x) {
    x = x > 89.0f ? 89.0f : x;
    x = x < -80.0f ? -80.0f : x;
    ExpParts parts = exp_parts(x);
    uint32_t half = static_cast<uint32_t>(static_cast<int32_t>(parts.exponent) >> 1);
    float first = power_of_two(half), second = power_of_two(parts.exponent - half);
    // Near 0 the parts without the 1, else the power less 1.
    float power = first * second;
    float near = power * parts.fraction + (power - 1.0f);
    float far = (1.0f + parts.fraction) * first * second - 1.0f;
    return x > 20.0f ? far : near;
}

// 1 ulp.
inline float vector_log(float x) {
    // Denormal numbers are scaled into the normal ones.
    bool is_small = x < 1.17549435e-38f;
    float scaled = is_small ? x * 8388608.0f : x;
    uint32_t bits = std::bit_cast<uint32_t>(scaled);
    // x = 2^n * m with m in [sqrt(1/2), sqrt(2)).
    uint32_t offset = bits - 0x3f3504f3u;
    float n = static_cast<float>(static_cast<int32_t>(offset) >> 23);
    n = is_small ? n - 23.0f : n;
    float f = std::bit_cast<float>((offset & 0x007fffffu) + 0x3f3504f3u) - 1.0f;
    float p = 6.9155782e-2f;
    p = p * f - 0.117887996f;
    p = p * f + 0.118723094f;
    p = p * f - 0.123844944f;
    p = p * f + 0.142187804f;
    p = p * f - 0.166692451f;
    p = p * f + 0.200022191f;
    p = p * f - 0.249999866f;
    p = p * f + 0.333333105f;
    float square = f * f;
    float y = f * square * p + n * -2.12194440e-4f;
    y = y - 0.5f * square;
    y = f + y + n * 0.693359375f;
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    y = x == kInfinity ? kInfinity : y;
    y = x == 0.0f ? -kInfinity : y;
    return x >= 0.0f ? y : std::numeric_limits<float>::quiet_NaN();
}

// Of a sum of float whose greatest term is 1: 1 <= x < 2^1000, or NaN. The relative error is at
// most 2^-40, near 1 too.
inline double vector_log_of_sum(double x) {
    // x = 2^n * m with m in [sqrt(1/2), sqrt(2)).
    constexpr uint64_t kLeast = 0x3fe6a09e667f3bcd;
    constexpr uint64_t kFraction = 0x000fffffffffffff;
    constexpr uint64_t kInteger = 0x4330000000000000;  // 2^52, whose last bits count from 0
    uint64_t offset = std::bit_cast<uint64_t>(x) - kLeast;
    double n = std::bit_cast<double>((offset >> 52) | kInteger) - 0x1p52;
    double f = std::bit_cast<double>((offset & kFraction) + kLeast) - 1.0;
    // The series of atanh.
    double s = f / (f + 2.0);
    double z = s * s;
    double p = 1.0 / 15;
    p = p * z + 1.0 / 13;
    p = p * z + 1.0 / 11;
    p = p * z + 1.0 / 9;
    p = p * z + 1.0 / 7;
    p = p * z + 1.0 / 5;
    p = p * z + 1.0 / 3;
    double y = n * 0.69314718055994530942 + 2.0 * (s + s * z * p);
    return x == x ? y : x;
}

// 2 ulp.
inline float vector_tanh(float x) {
    float a = std::fabs(x);
    float z = x * x;
    float p = -5.7099471e-3f;
    p = p * z + 2.0644592e-2f;
    p = p * z - 5.3741787e-2f;
    p = p * z + 0.13331473f;
    p = p * z - 0.33333284f;
    float near = a + a * z * p;       // |x| < 0.625
    float b = a > 10.0f ? 10.0f : a;  // from there on it is 1
    float far = 1.0f - 2.0f / (vector_exp_near(b + b) + 1.0f);
    return std::copysign(a < 0.625f ? near : far, x);
}

// 2 ulp.
inline float vector_erf(float x) {
    float a = std::fabs(x);
    float z = x * x;
    float p = 7.8891193e-5f;
    p = p * z - 8.0208411e-4f;
    p = p * z + 5.1895352e-3f;
    p = p * z - 2.6854444e-2f;
    p = p * z + 0.11283600f;
    p = p * z - 0.37612626f;
    p = p * z + 0.12837917f;
    float near = x + x * p;  // |x| < 1
    // erf(a) = 1 - e^-q(a); from 4 on it is 1.
    float t = a > 4.0f ? 4.0f : a;
    float q = 2.1652255e-5f;
    q = q * t - 4.4094209e-4f;
    q = q * t + 4.2026769e-3f;
    q = q * t - 2.5203355e-2f;
    q = q * t + 0.10841109f;
    q = q * t + 0.63322663f;
    q = q * t + 1.1295751f;
    q = q * t - 1.8736039e-4f;
    float far = 1.0f - vector_exp_near(-q);
    return a < 1.0f ? near : std::copysign(far, x);
}

// 3 ulp.
inline float vector_sigmoid(float x) {
    // The power of the negative number alone: that of the other one overflows too early. Both sides
    // of the fraction are times 2^64, so that its result is rounded once.
    constexpr float kUnit = 0x1p64f;
    float negative = -std::fabs(x);
    negative = negative < kLeastPower ? kLeastPower : negative;
    float power = vector_exp_scaled(negative);
    return (x < 0.0f ? power : kUnit) / (kUnit + power);
}

// x times the normal distribution's share below x: x * (1 + erf(x / sqrt(2))) / 2 without the
// cancellation of the sum. 6 ulp; 4 where |x| < 1.
inline float vector_gelu(float x) {
    // max(x, 0) less |x| times the share beyond |x|, which is e^(-2 h^2) * a(h) / b(h) with h =
    // |x| / 2. All terms of a and b are positive: nothing cancels. The maximum is a sum, so that
    // -infinity gives NaN, as -infinity * 0 does.
    float half = 0.5f * std::fabs(x);
    float maximum = 0.5f * x + half;
    half = half > 7.25f ? 7.25f : half;  // from there on the share is 0
    // The square in two parts, of which the first is exact.
    float high = std::bit_cast<float>(std::bit_cast<uint32_t>(half) & 0xfffff000u);
    float first = high * high, rest = (half - high) * (half + high);
    float square = first + rest;
    float a_even = 0.130745545f * square + 1.46157885f;
    float a_odd = 0.647100449f * square + 1.75042784f;
    float a = (a_even * half + a_odd) * half + 1.0f;
    float b_even = 1.6221453f * square + 4.80132151f;
    float b_odd = (0.327726573f * square + 3.74434996f) * square + 3.34619761f;
    float b = (b_even * half + b_odd) * half + 1.0f;
    // e^(-2 h^2) = 2^n * e^(-2 r), as in exp_parts.
    constexpr float kRound = 12582912.0f;
    float shifted = kRound - square * 2.88539008f;
    uint32_t n = std::bit_cast<uint32_t>(shifted) - std::bit_cast<uint32_t>(kRound);
    float k = shifted - kRound;
    float r = first + k * 0.3466796875f;
    r = r + (rest - k * 1.06097220e-4f);
    float p = 8.84041116e-2f;
    p = p * r - 0.267821461f;
    p = p * r + 0.666695297f;
    p = p * r - 1.33332121f;
    p = p * r + 1.99999976f;
    float fraction = r * (p * r - 2.0f);
    // Times 2^64, so that it is a normal number, and what is made of it is rounded once.
    float share = a / b;
    share = share + share * fraction;
    share = std::bit_cast<float>(std::bit_cast<uint32_t>(share) + ((n + 64) << 23));
    constexpr float kUnit = 0x1p-64f;
    return std::copysign(maximum - half * share * kUnit, x);
}

// log(1 + x) for x in [0, 1]. 2 ulp.
inline float vector_log1p_unit(float x) {
    float sum = 1.0f + x;
    // The logarithm of the rounded sum, and what rounding took away.
    return vector_log(sum) + (x - (sum - 1.0f)) / sum;
}

// The sine, or the cosine, of |x| < kLargestAngle. 1 ulp.
inline constexpr float kLargestAngle = 524288.0f;
inline float vector_sine(float x, bool is_cosine) {
    // x = n * pi/2 + r with |r| <= pi/4, in double; the product with the first part of pi/2, which
    // has 33 bits, is exact.
    constexpr double kRound = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to an integer
    double shifted = static_cast<double>(x) * 0.63661977236758134 + kRound;
    double n = shifted - kRound;
    double r = static_cast<double>(x) - n * 1.5707963267341256;
    r = r - n * 6.0771005065061922e-11;
    uint64_t quadrant = std::bit_cast<uint64_t>(shifted) + (is_cosine ? 1 : 0);
    // Taylor's series, whose next terms are below 1e-11.
    double z = r * r;
    double sine = -1.0 / 39916800;
    sine = sine * z + 1.0 / 362880;
    sine = sine * z - 1.0 / 5040;
    sine = sine * z + 1.0 / 120;
    sine = sine * z - 1.0 / 6;
    sine = r + r * z * sine;
    double cosine = 1.0 / 479001600;
    cosine = cosine * z - 1.0 / 3628800;
    cosine = cosine * z + 1.0 / 40320;
    cosine = cosine * z - 1.0 / 720;
    cosine = cosine * z + 1.0 / 24;
    cosine = 1.0 - 0.5 * z + z * z * cosine;
    double result = (quadrant & 1) != 0 ? cosine : sine;
    // -0.0 stays: its remainder is 0.0.
    result = x == 0.0f && !is_cosine ? static_cast<double>(x) : result;
    return static_cast<float>((quadrant & 2) != 0 ? -result : result);
}

inline double vector_exp(double x) {
    return std::exp(x);
}
inline double vector_expm1(double x) {
    return std::expm1(x);
}
inline double vector_log(double x) {
    return std::log(x);
}
inline double vector_tanh(double x) {
    return std::tanh(x);
}
inline double vector_erf(double x) {
    return std::erf(x);
}
inline double vector_sigmoid(double x) {
    double power = std::exp(-std::fabs(x));
    return (x < 0.0 ? power : 1.0) / (1.0 + power);
}
inline double vector_gelu(double x) {
    // -x / sqrt(2), and what its rounding left out, which the complement magnifies far out.
    constexpr double kRoot = 0.70710678118654752440, kRootRest = -4.8336466567264567e-17;
    double z = -x * kRoot;
    double rest = std::fma(-x, kRoot, -z) - x * kRootRest;
    double share = std::erfc(z);
    constexpr double kSlope = 1.1283791670955126;  // 2 / sqrt(pi)
    double correction = kSlope * std::exp(-z * z) * rest;
    // Where the rest is no number or there is nothing left to correct.
    share = std::fabs(correction) < 0.5 * share ? share - correction : share;
    return 0.5 * x * share;
}
inline double vector_log1p_unit(double x) {
    return std::log1p(x);
}

}  // namespace sardonyx::eval
