#include "base/decimal.h"

#include <cstdint>
#include <cstdlib>
#include <string>

namespace sardonyx {
namespace {

struct Decimal {
    std::string digits;     // without leading zeros
    uint64_t mantissa = 0;  // of the first 18 of them
    int64_t exponent = 0;

    // Without a decimal point, which would depend on the locale.
    std::string text() const {
        return (digits.empty() ? "0" : digits) + 'e' + std::to_string(exponent);
    }
};

Decimal split(std::string_view text) {
    constexpr int64_t kFar = 100000;  // an exponent beyond every double, yet far from overflow
    Decimal result;
    bool point = false;
    size_t i = 0;
    for (; i < text.size() && (text[i] | 0x20) != 'e'; ++i) {
        if (text[i] == '.') {
            point = true;
        } else if (text[i] != '_') {
            if (result.digits.size() < 18) {
                result.mantissa = result.mantissa * 10 + static_cast<uint64_t>(text[i] - '0');
            }
            if (text[i] != '0' || !result.digits.empty()) {
                result.digits.push_back(text[i]);
            }
            result.exponent -= point ? 1 : 0;
        }
    }
    if (i < text.size()) {
        ++i;
        bool negative = i < text.size() && text[i] == '-';
        i += i < text.size() && (text[i] == '-' || text[i] == '+') ? 1 : 0;
        int64_t written = 0;
        for (; i < text.size(); ++i) {
            if (text[i] != '_' && written < kFar) {
                written = written * 10 + (text[i] - '0');
            }
        }
        result.exponent += negative ? -written : written;
    }
    return result;
}

}  // namespace

// A product or quotient of two exact doubles is correctly rounded (Clinger 1990); strtod does the
// rest.
double nearest_double(std::string_view text) {
    static constexpr double kPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                         1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                         1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    Decimal decimal = split(text);
    if (decimal.digits.size() <= 15 && decimal.exponent >= -22 && decimal.exponent <= 22) {
        double whole = static_cast<double>(decimal.mantissa);
        return decimal.exponent < 0 ? whole / kPowers[-decimal.exponent]
                                    : whole * kPowers[decimal.exponent];
    }
    return std::strtod(decimal.text().c_str(), nullptr);
}

float nearest_float(std::string_view text) {
    return std::strtof(split(text).text().c_str(), nullptr);
}

}  // namespace sardonyx
