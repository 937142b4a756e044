// Elements below 8 bits. In a tensor they fill the bytes from the low bits up; in arrays of NumPy
// (ml_dtypes), and where kernels work on codes, each has a byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "types/element_type.h"

namespace sardonyx {

// The code of element `index`.
inline uint8_t get_packed(std::span<const std::byte> packed, int64_t index, int bits) {
    size_t bit = static_cast<size_t>(index) * static_cast<size_t>(bits);
    unsigned word = static_cast<unsigned>(packed[bit / 8]);
    if (bit % 8 + static_cast<size_t>(bits) > 8) {
        word |= static_cast<unsigned>(packed[bit / 8 + 1]) << 8;
    }
    return static_cast<uint8_t>((word >> (bit % 8)) & ((1U << bits) - 1));
}

// The lowest bits of the code; those in `packed` must be zero before.
inline void put_packed(std::span<std::byte> packed, int64_t index, int bits, uint8_t code) {
    size_t bit = static_cast<size_t>(index) * static_cast<size_t>(bits);
    unsigned word = (code & ((1U << bits) - 1)) << (bit % 8);
    packed[bit / 8] |= static_cast<std::byte>(word & 0xFF);
    if (bit % 8 + static_cast<size_t>(bits) > 8) {
        packed[bit / 8 + 1] |= static_cast<std::byte>(word >> 8);
    }
}

// `packed` must be zero before.
void pack_codes(std::span<const uint8_t> codes, int bits, std::span<std::byte> packed);
void unpack_codes(std::span<const std::byte> packed, int bits, std::span<uint8_t> codes);
// Signed integers are extended to their bytes, as ml_dtypes has them.
void unpack_numbers(std::span<const std::byte> packed, ElementType type,
                    std::span<uint8_t> numbers);

}  // namespace sardonyx
