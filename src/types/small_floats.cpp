#include "types/small_floats.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace sardonyx {
namespace {

// What the codes at the top of the range stand for.
enum class Specials : uint8_t {
    kIeee,          // infinity, then nans
    kOneNan,        // all ones is nan; no infinity
    kNegativeZero,  // the code of -0 is nan; no infinity
    kNone,          // all codes are finite
    kPowersOfTwo,   // E8M0: an exponent alone
};

struct Format {
    ElementType type;
    int exponent_bits;
    int mantissa_bits;
    int bias;
    Specials specials;

    uint32_t sign_bit() const { return uint32_t{1} << (exponent_bits + mantissa_bits); }
    uint32_t infinity() const { return ((uint32_t{1} << exponent_bits) - 1) << mantissa_bits; }
    uint32_t greatest() const {
        return specials == Specials::kIeee     ? infinity() - 1
               : specials == Specials::kOneNan ? sign_bit() - 2
                                               : sign_bit() - 1;
    }
    uint32_t nan(uint32_t sign) const {
        switch (specials) {
            case Specials::kIeee:
                return sign | infinity() | (uint32_t{1} << (mantissa_bits - 1));
            case Specials::kOneNan:
                return sign | (sign_bit() - 1);
            case Specials::kNegativeZero:
                return sign_bit();
            default:  // there is none: as ml_dtypes, the zero of the other sign
                return sign ^ sign_bit();
        }
    }
};

// Sources: IEEE 754; arXiv 2209.05433 (E4M3FN, E5M2); arXiv 2206.02915 (FNUZ); OCP Microscaling
// Formats (MX) 1.0 (E8M0, 6 and 4 bits).
constexpr Format kFormats[] = {
    {ElementType::kFloat16, 5, 10, 15, Specials::kIeee},
    {ElementType::kBfloat16, 8, 7, 127, Specials::kIeee},
    {ElementType::kFloat8E4M3FN, 4, 3, 7, Specials::kOneNan},
    {ElementType::kFloat8E4M3FNUZ, 4, 3, 8, Specials::kNegativeZero},
    {ElementType::kFloat8E5M2, 5, 2, 15, Specials::kIeee},
    {ElementType::kFloat8E5M2FNUZ, 5, 2, 16, Specials::kNegativeZero},
    {ElementType::kFloat8E8M0, 8, 0, 127, Specials::kPowersOfTwo},
    {ElementType::kFloat6E2M3, 2, 3, 1, Specials::kNone},
    {ElementType::kFloat6E3M2, 3, 2, 3, Specials::kNone},
    {ElementType::kFloat4E2M1, 2, 1, 1, Specials::kNone},
};

const Format* find_format(ElementType type) {
    for (const Format& format : kFormats) {
        if (format.type == type) {
            return &format;
        }
    }
    return nullptr;
}

const Format& format_of(ElementType type) {
    const Format* format = find_format(type);
    SDX_CHECK(format != nullptr);
    return *format;
}

// To the nearest, ties to even; independent of the rounding mode in force.
double round_even(double x) {
    double below = std::floor(x);
    double rest = x - below;
    bool up = rest > 0.5 || (rest == 0.5 && std::fmod(below, 2) != 0);
    return up ? below + 1 : below;
}

// The code of a magnitude: may exceed greatest(). A code counts the representable numbers from 0
// on, so that a mantissa that rounds up to the next power of two carries into the exponent.
uint32_t encode_magnitude(const Format& format, double magnitude) {
    if (magnitude == 0) {
        return 0;
    }
    int exponent = std::max(std::ilogb(magnitude), 1 - format.bias);
    if (exponent > format.bias + 1) {
        return format.sign_bit();
    }
    double units = round_even(std::ldexp(magnitude, format.mantissa_bits - exponent));
    uint32_t first = static_cast<uint32_t>(exponent + format.bias - 1) << format.mantissa_bits;
    return first + static_cast<uint32_t>(units);
}

uint32_t encode_bits(const Format& format, double value, bool saturate) {
    uint32_t sign = std::signbit(value) ? format.sign_bit() : 0;
    if (std::isnan(value)) {
        return format.nan(sign);
    }
    uint32_t code =
        std::isinf(value) ? format.sign_bit() : encode_magnitude(format, std::abs(value));
    if (code > format.greatest()) {
        if (saturate || format.specials == Specials::kNone) {
            return sign | format.greatest();
        }
        return format.specials == Specials::kIeee ? sign | format.infinity() : format.nan(sign);
    }
    return code == 0 && format.specials == Specials::kNegativeZero ? 0 : sign | code;
}

constexpr uint8_t kE8M0Nan = 0xff;
constexpr uint8_t kE8M0Greatest = 0xfe;

}  // namespace

Float16::Float16(double value)
    : bits(static_cast<uint16_t>(encode_bits(format_of(ElementType::kFloat16), value, false))) {}

BFloat16::BFloat16(double value)
    : bits(static_cast<uint16_t>(encode_bits(format_of(ElementType::kBfloat16), value, false))) {}

bool is_small_float(ElementType type) {
    return find_format(type) != nullptr && info(type).bits <= 8;
}

float decode(ElementType type, uint8_t code) {
    const Format& format = format_of(type);
    if (format.specials == Specials::kPowersOfTwo) {
        return code == kE8M0Nan ? std::numeric_limits<float>::quiet_NaN()
                                : std::ldexp(1.0f, code - format.bias);
    }
    uint32_t magnitude = code & (format.sign_bit() - 1);
    bool is_negative = (code & format.sign_bit()) != 0;
    float value;
    if (format.specials == Specials::kNegativeZero && is_negative && magnitude == 0) {
        return std::numeric_limits<float>::quiet_NaN();
    }
    if (magnitude > format.greatest()) {
        bool is_infinite = format.specials == Specials::kIeee && magnitude == format.infinity();
        value = is_infinite ? std::numeric_limits<float>::infinity()
                            : std::numeric_limits<float>::quiet_NaN();
    } else {
        uint32_t exponent = magnitude >> format.mantissa_bits;
        uint32_t implied = exponent == 0 ? 0 : uint32_t{1} << format.mantissa_bits;
        uint32_t mantissa = magnitude & ((uint32_t{1} << format.mantissa_bits) - 1);
        int scale = static_cast<int>(std::max(exponent, 1u)) - format.bias - format.mantissa_bits;
        value = std::ldexp(static_cast<float>(implied | mantissa), scale);
    }
    return is_negative ? -value : value;
}

uint8_t encode(ElementType type, double value, bool saturate) {
    const Format& format = format_of(type);
    if (format.specials == Specials::kPowersOfTwo) {
        // A number in its short decimal form is one of FLOAT, and must not be rounded up from
        // there.
        return encode_e8m0(static_cast<float>(value), saturate, E8M0Rounding::kUp);
    }
    return static_cast<uint8_t>(encode_bits(format, value, saturate));
}

uint8_t encode_e8m0(double value, bool saturate, E8M0Rounding rounding) {
    if (std::isnan(value)) {
        return kE8M0Nan;
    }
    double magnitude = std::abs(value);
    if (magnitude < std::ldexp(1.0, -127)) {
        return saturate ? 0 : kE8M0Nan;
    }
    if (std::isinf(magnitude)) {
        return saturate ? kE8M0Greatest : kE8M0Nan;
    }
    int exponent = std::ilogb(magnitude);
    double mantissa = std::ldexp(magnitude, -exponent);  // in [1, 2)
    bool up = rounding == E8M0Rounding::kUp        ? mantissa > 1
              : rounding == E8M0Rounding::kNearest ? mantissa >= 1.5
                                                   : false;
    int code = exponent + 127 + (up ? 1 : 0);
    if (code > kE8M0Greatest) {
        return saturate ? kE8M0Greatest : kE8M0Nan;
    }
    return static_cast<uint8_t>(code);
}

}  // namespace sardonyx
