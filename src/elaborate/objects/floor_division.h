// `//` and `%`, rounded down: of floats as Python and NumPy define them, of integers as NumPy does
// (which wraps around, and gives 0 for a divisor of 0).
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

namespace sardonyx::elaborate {

template <typename T>
T floor_divide(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {  // the quotient is not floor(a / b): 1.0 // 0.1
                                                  // is 9.0
        if (b == T(0)) {
            return a / b;
        }
        T rest = std::fmod(a, b);
        T whole = (a - rest) / b;
        whole -= rest != T(0) && (b < T(0)) != (rest < T(0)) ? T(1) : T(0);
        if (whole == T(0)) {
            return std::copysign(T(0), a / b);
        }
        T down = std::floor(whole);
        return whole - down > T(0.5) ? down + T(1) : down;
    } else {
        if (b == T(0)) {
            return T(0);
        }
        if (std::is_signed_v<T> && b == static_cast<T>(-1)) {
            return static_cast<T>(uint64_t{0} - static_cast<uint64_t>(a));
        }
        T whole = static_cast<T>(a / b);
        return static_cast<T>(whole - ((a % b != 0 && (a < T(0)) != (b < T(0))) ? 1 : 0));
    }
}

template <typename T>
T remainder(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
        T rest = std::fmod(a, b);
        if (b == T(0)) {
            return rest;
        }
        return rest == T(0)                  ? std::copysign(T(0), b)
               : (b < T(0)) != (rest < T(0)) ? rest + b
                                             : rest;
    } else {
        if (b == T(0) || (std::is_signed_v<T> && b == static_cast<T>(-1))) {
            return T(0);
        }
        T rest = static_cast<T>(a % b);
        return rest != 0 && (rest < T(0)) != (b < T(0)) ? static_cast<T>(rest + b) : rest;
    }
}

}  // namespace sardonyx::elaborate
