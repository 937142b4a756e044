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
    // Without branches, so that loops of conversions are vectorised.
    static constexpr uint16_t encode(uint32_t x) {
        uint32_t magnitude = x & 0x7fffffff;
        uint32_t top = magnitude >> 13;
        // Signed, since vectors of few processors compare unsigned numbers.
        auto order = static_cast<int32_t>(magnitude);
        // Rebias the exponent from 127 to 15; a carry of the rounding goes into it.
        constexpr uint32_t kRebias = (uint32_t{112} << 23) - 0xfff;
        int32_t normal = static_cast<int32_t>(magnitude + (top & 1) - kRebias) >> 13;
        normal = normal < 0x7c00 ? normal : 0x7c00;  // infinity
        // Below 2^-14, in units of 2^-24: the sum with 0.5 is rounded to them.
        int32_t small = std::bit_cast<int32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000;
        int32_t result = order < 0x38800000 ? small : normal;
        // NaN: keep the top of the payload, and make it quiet.
        auto nan = static_cast<int32_t>((top - (0x3fc00 - 0x7c00)) | 0x200);
        result = order > 0x7f800000 ? nan : result;
        return static_cast<uint16_t>(static_cast<uint32_t>(result) | (x >> 16 & 0x8000));
    }
    static constexpr uint32_t decode(uint16_t bits) {
        uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
        uint32_t magnitude = bits & 0x7fff;
        // Rebias the exponent by a product, which is exact for the numbers below 2^-14 too.
        uint32_t finite = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude << 13) * 0x1p112f);
        uint32_t special = 0x7f800000 | magnitude << 13;
        return sign | (magnitude >= 0x7c00 ? special : finite);
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
        uint32_t rounded = (x + 0x7fff + ((x >> 16) & 1)) >> 16;
        uint32_t nan = (x >> 16) | 0x40;
        return static_cast<uint16_t>((x & 0x7fffffff) > 0x7f800000 ? nan : rounded);
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
