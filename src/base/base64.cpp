#include "base/base64.h"

#include <cstddef>
#include <cstdint>

namespace sardonyx {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// -1: none.
int base64_digit(char c) {
    size_t found = kAlphabet.find(c == '-' ? '+' : c == '_' ? '/' : c);
    return found == std::string_view::npos ? -1 : static_cast<int>(found);
}

}  // namespace

std::string base64(std::string_view bytes) {
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (size_t i = 0; i < bytes.size(); i += 3) {
        uint32_t word = 0;
        for (size_t k = 0; k < 3; ++k) {
            word = word << 8U | (i + k < bytes.size() ? static_cast<uint8_t>(bytes[i + k]) : 0U);
        }
        for (size_t k = 0; k < 4; ++k) {
            text += i + k > bytes.size() ? '=' : kAlphabet[(word >> (18 - 6 * k)) & 63U];
        }
    }
    return text;
}

std::optional<std::string> from_base64(std::string_view text) {
    size_t end = text.find('=');
    std::string_view filling = end == std::string_view::npos ? "" : text.substr(end);
    bool is_filled = filling.empty() || (filling.find_first_not_of('=') == std::string_view::npos &&
                                         filling.size() <= 2 && text.size() % 4 == 0);
    text = text.substr(0, end);
    if (!is_filled || text.size() % 4 == 1) {
        return std::nullopt;
    }
    std::string bytes;
    bytes.reserve(text.size() / 4 * 3 + 3);
    uint32_t word = 0;
    unsigned bits = 0;
    for (char c : text) {
        int digit = base64_digit(c);
        if (digit < 0) {
            return std::nullopt;
        }
        word = word << 6U | static_cast<uint32_t>(digit);
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            bytes += static_cast<char>(word >> bits & 255U);
        }
    }
    return bytes;
}

}  // namespace sardonyx
