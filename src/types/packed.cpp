#include "types/packed.h"

namespace sardonyx {

void pack_codes(std::span<const uint8_t> codes, int bits, std::span<std::byte> packed) {
    for (size_t i = 0; i < codes.size(); ++i) {
        put_packed(packed, static_cast<int64_t>(i), bits, codes[i]);
    }
}

void unpack_codes(std::span<const std::byte> packed, int bits, std::span<uint8_t> codes) {
    size_t i = 0;
    for (; bits == 4 && i + 2 <= codes.size(); i += 2) {
        auto both = static_cast<uint8_t>(packed[i / 2]);
        codes[i] = both & 15;
        codes[i + 1] = both >> 4;
    }
    for (; i < codes.size(); ++i) {
        codes[i] = get_packed(packed, static_cast<int64_t>(i), bits);
    }
}

void unpack_numbers(std::span<const std::byte> packed, ElementType type,
                    std::span<uint8_t> numbers) {
    int bits = info(type).bits;
    unpack_codes(packed, bits, numbers);
    if (element_class(type) == ElementClass::kSigned) {
        unsigned sign = 1U << (bits - 1);
        for (uint8_t& number : numbers) {
            number = static_cast<uint8_t>((number ^ sign) - sign);
        }
    }
}

}  // namespace sardonyx
