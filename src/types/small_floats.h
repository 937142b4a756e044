// The floating-point types below 32 bits: value types for float16 and bfloat16, and conversions for
// those of 8, 6 and 4 bits, whose codes fit a byte.
//
// The conversions follow ONNX's Cast (https://onnx.ai/onnx/operators/onnx__Cast.html): to the
// nearest, ties to even; out of range is infinity for float16 and bfloat16, and by the table of
// Cast for the others.
#pragma once

#include <bit>
#include <cstdint>

#include "types/element_type.h"

namespace sardonyx {

struct Float16 {
    uint16_t bits = 0;

    Float16() = default;
    explicit Float16(float value) : bits(encode(std::bit_cast<uint32_t>(value))) {}
    // Rounds once, where going through float would round twice.
    explicit Float16(double value);
    explicit operator float() const { return std::bit_cast<float>(decode(bits)); }
    explicit operator double() const { return static_cast<float>(*this); }

    static Float16 from_bits(uint16_t bits) {
        Float16 result;
        result.bits = bits;
        return result;
    }

  private:
    static constexpr uint16_t encode(uint32_t x) {
        uint16_t sign = static_cast<uint16_t>((x >> 16) & 0x8000);
        uint32_t magnitude = x & 0x7fffffff;
        if (magnitude > 0x7f800000) {  // nan: keep the top of the payload, and make it quiet
            return static_cast<uint16_t>(sign | 0x7e00 | ((magnitude >> 13) & 0x1ff));
        }
        if (magnitude >= 0x47800000) {  // from 2^16 on: infinity
            return sign | 0x7c00;
        }
        if (magnitude < 0x38800000) {  // below 2^-14: in units of 2^-24
            int shift = 126 - static_cast<int>(magnitude >> 23);
            if (shift > 24) {  // at most half a unit, and not above it
                return sign;
            }
            uint32_t mantissa = (magnitude & 0x7fffff) | 0x800000;
            return sign | round_shift(mantissa, shift);
        }
        // Rebias the exponent from 127 to 15; a carry of the rounding goes into it.
        return sign | round_shift(magnitude - (uint32_t{112} << 23), 13);
    }
    static constexpr uint16_t round_shift(uint32_t x, int shift) {
        uint32_t half = (uint32_t{1} << (shift - 1)) - 1;
        return static_cast<uint16_t>((x + half + ((x >> shift) & 1)) >> shift);
    }
    static constexpr uint32_t decode(uint16_t bits) {
        uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
        uint32_t exponent = (bits >> 10) & 0x1f, mantissa = bits & 0x3ff;
        if (exponent == 0x1f) {
            return sign | 0x7f800000 | (mantissa << 13);
        }
        if (exponent != 0) {
            return sign | ((exponent + 112) << 23) | (mantissa << 13);
        }
        if (mantissa == 0) {
            return sign;
        }
        int zeros = std::countl_zero(mantissa) - 21;  // up to the implied bit
        return sign | (static_cast<uint32_t>(113 - zeros) << 23) |
               ((mantissa << (zeros + 13)) & 0x7fffff);
    }
};

struct BFloat16 {
    uint16_t bits = 0;

    BFloat16() = default;
    explicit BFloat16(float value) : bits(encode(std::bit_cast<uint32_t>(value))) {}
    explicit BFloat16(double value);
    explicit operator float() const {
        return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
    }
    explicit operator double() const { return static_cast<float>(*this); }

    static BFloat16 from_bits(uint16_t bits) {
        BFloat16 result;
        result.bits = bits;
        return result;
    }

  private:
    static constexpr uint16_t encode(uint32_t x) {
        if ((x & 0x7fffffff) > 0x7f800000) {
            return static_cast<uint16_t>((x >> 16) | 0x40);
        }
        return static_cast<uint16_t>((x + 0x7fff + ((x >> 16) & 1)) >> 16);
    }
};

template <>
inline constexpr ElementType kElementTypeOf<Float16> = ElementType::kFloat16;
template <>
inline constexpr ElementType kElementTypeOf<BFloat16> = ElementType::kBfloat16;

// FLOAT8E4M3FN, FLOAT8E4M3FNUZ, FLOAT8E5M2, FLOAT8E5M2FNUZ, FLOAT8E8M0, FLOAT6E2M3, FLOAT6E3M2 and
// FLOAT4E2M1: the types of decode() and encode(). Their codes stand in the low bits of a byte.
bool is_small_float(ElementType type);
float decode(ElementType type, uint8_t code);
// Types without infinity and nan (4 and 6 bits) saturate in any case. FLOAT8E8M0 rounds up.
uint8_t encode(ElementType type, double value, bool saturate = true);

// Cast's attribute round_mode.
enum class E8M0Rounding : uint8_t { kUp, kDown, kNearest };
uint8_t encode_e8m0(double value, bool saturate, E8M0Rounding rounding);

}  // namespace sardonyx
