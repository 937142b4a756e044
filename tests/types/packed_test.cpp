// Elements below 8 bits, packed and one a byte.
#include "types/packed.h"

#include <gtest/gtest.h>

#include <vector>

namespace sardonyx {
namespace {

std::vector<std::byte> packed_of(std::vector<uint8_t> codes, int bits) {
    std::vector<std::byte> packed((codes.size() * static_cast<size_t>(bits) + 7) / 8);
    pack_codes(codes, bits, packed);
    return packed;
}

TEST(Packed, FillsBytesFromTheLowBitsUp) {
    auto bytes = [](std::initializer_list<int> values) {
        std::vector<std::byte> all;
        for (int value : values) {
            all.push_back(static_cast<std::byte>(value));
        }
        return all;
    };
    EXPECT_EQ(packed_of({1, 2, 15}, 4), bytes({0x21, 0x0F}));
    EXPECT_EQ(packed_of({1, 2, 3, 0, 1}, 2), bytes({0b00111001, 0b01}));
    // Six bits go over the ends of bytes; what is above them does not count.
    EXPECT_EQ(packed_of({0xFF, 1, 2, 3}, 6), bytes({0b01111111, 0b00100000, 0b00001100}));
}

TEST(Packed, ComesBack) {
    for (int bits : {2, 4, 6}) {
        std::vector<uint8_t> codes;
        for (int i = 0; i < 13; ++i) {
            codes.push_back(static_cast<uint8_t>(i * 7 % (1 << bits)));
        }
        std::vector<uint8_t> back(codes.size());
        unpack_codes(packed_of(codes, bits), bits, back);
        EXPECT_EQ(back, codes) << bits;
    }
}

TEST(Packed, SignedNumbersFillTheirBytes) {
    std::vector<uint8_t> numbers(3);
    unpack_numbers(packed_of({7, 8, 15}, 4), ElementType::kInt4, numbers);
    EXPECT_EQ(numbers, (std::vector<uint8_t>{7, 0xF8, 0xFF}));
    unpack_numbers(packed_of({7, 8, 15}, 4), ElementType::kUint4, numbers);
    EXPECT_EQ(numbers, (std::vector<uint8_t>{7, 8, 15}));
}

}  // namespace
}  // namespace sardonyx
