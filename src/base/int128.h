// Integers of 128 bits: the static integers of scripts, whose steps on the way to 64 bits are
// larger.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

namespace sardonyx {

__extension__ using Int128 = __int128;
__extension__ using Uint128 = unsigned __int128;

constexpr Int128 kInt128Max = static_cast<Int128>(~Uint128{0} >> 1);
constexpr Int128 kInt128Min = -kInt128Max - 1;

constexpr bool fits_int64(Int128 value) {
    return value >= INT64_MIN && value <= INT64_MAX;
}

inline std::string to_string(Int128 value) {
    Uint128 magnitude = value < 0 ? ~static_cast<Uint128>(value) + 1 : static_cast<Uint128>(value);
    std::string text;
    do {
        text += static_cast<char>('0' + static_cast<int>(magnitude % 10));
        magnitude /= 10;
    } while (magnitude != 0);
    text += value < 0 ? "-" : "";
    std::reverse(text.begin(), text.end());
    return text;
}

}  // namespace sardonyx
