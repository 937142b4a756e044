// The elementary functions of eval/loops/vector_math.h against those of <cmath> in double: the
// error bounds that the header states.
#include "eval/loops/vector_math.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace sardonyx::eval {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// The greatest error in units of the last place over floats of [low, high], a few million of all
// magnitudes.
template <typename Function, typename Reference>
double greatest_error(float low, float high, Function function, Reference reference) {
    double worst = 0;
    for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += 1531) {
        float x = std::bit_cast<float>(static_cast<uint32_t>(bits));
        if (!(x >= low && x <= high)) {
            continue;
        }
        double expected = reference(static_cast<double>(x));
        auto rounded = static_cast<float>(expected);
        float result = function(x);
        if (std::isinf(rounded) || std::isinf(result)) {
            // Either side of the largest float may be taken for a result between it and infinity.
            EXPECT_TRUE(result == rounded || std::fabs(expected) > 3.4028234e38) << x;
            continue;
        }
        int exponent = rounded == 0 ? -126 : std::max(std::ilogb(rounded), -126);
        worst = std::max(worst, std::fabs(result - expected) / std::ldexp(1.0, exponent - 23));
        EXPECT_FALSE(std::isnan(result)) << x;
    }
    return worst;
}

TEST(VectorMath, KeepsItsErrorBounds) {
    auto exp = [](float x) { return vector_exp(x); };
    auto log = [](float x) { return vector_log(x); };
    auto tanh = [](float x) { return vector_tanh(x); };
    auto erf = [](float x) { return vector_erf(x); };
    auto sigmoid = [](float x) { return vector_sigmoid(x); };
    auto log1p = [](float x) { return vector_log1p_unit(x); };
    auto exact_exp = [](double x) { return std::exp(x); };
    auto exact_log = [](double x) { return std::log(x); };
    auto exact_tanh = [](double x) { return std::tanh(x); };
    auto exact_erf = [](double x) { return std::erf(x); };
    auto exact_sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
    auto exact_log1p = [](double x) { return std::log1p(x); };
    EXPECT_LE(greatest_error(-kInfinity, kInfinity, exp, exact_exp), 1);
    EXPECT_LE(greatest_error(0, kInfinity, log, exact_log), 1);
    EXPECT_LE(greatest_error(-kInfinity, kInfinity, tanh, exact_tanh), 2);
    EXPECT_LE(greatest_error(-kInfinity, kInfinity, erf, exact_erf), 2);
    EXPECT_LE(greatest_error(-kInfinity, kInfinity, sigmoid, exact_sigmoid), 3);
    auto gelu = [](float x) { return vector_gelu(x); };
    auto exact_gelu = [](double x) { return 0.5 * x * std::erfc(-x * 0.70710678118654752440); };
    EXPECT_LE(greatest_error(-3e38f, kInfinity, gelu, exact_gelu), 6);
    EXPECT_LE(greatest_error(-1, 1, gelu, exact_gelu), 4);
    EXPECT_LE(greatest_error(0, 1, log1p, exact_log1p), 2);
    auto expm1 = [](float x) { return vector_expm1(x); };
    auto sine = [](float x) { return vector_sine(x, false); };
    auto cosine = [](float x) { return vector_sine(x, true); };
    auto exact_expm1 = [](double x) { return std::expm1(x); };
    auto exact_sine = [](double x) { return std::sin(x); };
    auto exact_cosine = [](double x) { return std::cos(x); };
    EXPECT_LE(greatest_error(-kInfinity, kInfinity, expm1, exact_expm1), 2);
    EXPECT_LE(greatest_error(-kLargestAngle, kLargestAngle, sine, exact_sine), 1);
    EXPECT_LE(greatest_error(-kLargestAngle, kLargestAngle, cosine, exact_cosine), 1);
}

TEST(VectorMath, LogarithmsOfSumsKeepTheirDigitsNearOne) {
    EXPECT_EQ(vector_log_of_sum(1.0), 0);
    EXPECT_TRUE(std::isnan(vector_log_of_sum(std::numeric_limits<double>::quiet_NaN())));
    for (double above = 0x1p-52; above < 0x1p200; above *= 1.37) {
        double x = 1 + above, expected = std::log(x);
        EXPECT_LE(std::fabs(vector_log_of_sum(x) - expected), 0x1p-40 * expected) << x;
    }
}

TEST(VectorMath, TreatsSpecialValuesAsCmathDoes) {
    for (auto function :
         {+[](float x) { return vector_exp(x); }, +[](float x) { return vector_log(x); },
          +[](float x) { return vector_tanh(x); }, +[](float x) { return vector_erf(x); },
          +[](float x) { return vector_sigmoid(x); }, +[](float x) { return vector_gelu(x); },
          +[](float x) { return vector_expm1(x); },
          +[](float x) { return vector_sine(x, false); }}) {
        // With every payload: a number added to the bits would make some of them finite.
        for (uint32_t bits : {0x7fc00000u, 0x7fffffffu, 0x7fc00001u, 0xffffffffu, 0x7f800001u}) {
            EXPECT_TRUE(std::isnan(function(std::bit_cast<float>(bits)))) << bits;
        }
    }
    EXPECT_EQ(vector_exp(-kInfinity), 0);
    EXPECT_EQ(vector_exp(0.0f), 1);
    EXPECT_TRUE(std::isnan(vector_log(-1.0f)));
    EXPECT_EQ(vector_log(-0.0f), -kInfinity);
    EXPECT_EQ(vector_log(1.0f), 0);
    EXPECT_TRUE(std::signbit(vector_tanh(-0.0f)));
    EXPECT_TRUE(std::signbit(vector_erf(-0.0f)));
    EXPECT_EQ(vector_tanh(kInfinity), 1);
    EXPECT_EQ(vector_erf(-kInfinity), -1);
    EXPECT_EQ(vector_sigmoid(-kInfinity), 0);
    EXPECT_GT(vector_sigmoid(-100.0f), 0);  // a denormal number
    EXPECT_EQ(vector_gelu(kInfinity), kInfinity);
    EXPECT_TRUE(std::isnan(vector_gelu(-kInfinity)));  // -inf * 0
    EXPECT_TRUE(std::signbit(vector_gelu(-0.0f)));
    EXPECT_EQ(vector_expm1(-kInfinity), -1);
    EXPECT_EQ(vector_expm1(kInfinity), kInfinity);
    EXPECT_TRUE(std::signbit(vector_sine(-0.0f, false)));
}

}  // namespace
}  // namespace sardonyx::eval
