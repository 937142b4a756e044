// Rounding to codes of 8 bits by the range of the numbers themselves.
#pragma once

#include <cstdint>
#include <span>

#include "eval/runtime/parallel.h"

namespace sardonyx::eval {

struct ByteScale {
    float scale = 1;
    uint8_t zero = 0;
};

// codes[i] = saturate(round(x[i] / scale) + zero), as DynamicQuantizeLinear says: 256 numbers that
// span the least and the greatest of x, and 0.
ByteScale quantize_to_bytes(std::span<const float> x, const Workers& threads, uint8_t* codes);

}  // namespace sardonyx::eval
