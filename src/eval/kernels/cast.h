// Conversions between element types, by the rules of Cast, and the packed types as bytes.
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

#include "eval/operators/kernel.h"
#include "types/small_floats.h"

namespace sardonyx::eval {

struct CastOptions {
    bool saturate = true;  // to the 8-bit floats
    E8M0Rounding rounding = E8M0Rounding::kUp;
};

// The same tensor where the types are equal.
Result<Tensor> cast_tensor(const KernelContext& c, const Tensor& source, ElementType target,
                           const CastOptions& options = {});

// One byte per element, holding the code of an element below 8 bits (integers sign-extended); the
// result is UINT8. And back.
Tensor unpacked(const Tensor& packed);
Tensor packed(const Tensor& codes, ElementType type);
inline bool is_packed(ElementType type) {
    return info(type).bits > 0 && info(type).bits < 8;
}

// Runs a kernel on the codes of inputs below 8 bits, and packs what it makes of them.
Status run_on_codes(KernelContext& c, Kernel kernel);

// A double as T: integers truncate and saturate, NaN is 0.
template <typename T>
T saturate(double value) {
    if constexpr (std::is_same_v<T, bool>) {
        return value != 0;
    } else if constexpr (std::is_integral_v<T>) {
        // The bounds as doubles; the upper one is rounded up, hence >=.
        constexpr double kLow = static_cast<double>(std::numeric_limits<T>::min());
        constexpr double kHigh = static_cast<double>(std::numeric_limits<T>::max());
        if (value >= kHigh) {
            return std::numeric_limits<T>::max();
        }
        return value >= kLow  ? static_cast<T>(value)
               : value < kLow ? std::numeric_limits<T>::min()
                              : T(0);
    } else {
        return static_cast<T>(value);
    }
}

// A sum of products as T. Where rounding errors alone keep it from a whole number, that number is
// meant: an integer would truncate to the one beside it.
template <typename T>
T saturate_sum(double value) {
    if constexpr (std::is_integral_v<T>) {
        constexpr double kNoise = 1e-12;
        double whole = std::round(value);
        if (std::abs(value - whole) <= kNoise * std::max(1.0, std::abs(value))) {
            value = whole;
        }
    }
    return saturate<T>(value);
}

}  // namespace sardonyx::eval
