// The four operations as functors for the elementwise drivers.
#pragma once

#include <type_traits>

#include "eval/loops/visit.h"

namespace sardonyx::eval {

// Integer arithmetic wraps, as two's complement does.
#define SDX_WRAPPING(identifier, symbol)                                       \
    struct identifier {                                                        \
        template <typename T>                                                  \
        T operator()(T x, T y) const {                                         \
            using W = Wrapping<T>;                                             \
            return static_cast<T>(static_cast<W>(x) symbol static_cast<W>(y)); \
        }                                                                      \
    }
SDX_WRAPPING(Add, +);
SDX_WRAPPING(Subtract, -);
SDX_WRAPPING(Multiply, *);
#undef SDX_WRAPPING

struct Divide {
    template <typename T>
    bool admits(T, T y) const {
        return y != T(0);
    }
    template <typename T>
    T operator()(T x, T y) const {
        if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
            // The least integer by -1 wraps, as negation does.
            return y == -1 ? static_cast<T>(Wrapping<T>(0) - static_cast<Wrapping<T>>(x))
                           : static_cast<T>(x / y);
        } else {
            return x / y;
        }
    }
};

}  // namespace sardonyx::eval
