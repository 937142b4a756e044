// UTF-8: whether bytes are well formed (Unicode 15, table 3-7), for texts from outside; and its
// bytes of a code point.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace sardonyx {

// The bytes of the well-formed sequence that `text` begins with; 0: none.
inline size_t utf8_sequence_length(std::string_view text) {
    auto is_within = [&](size_t i, uint8_t low, uint8_t high) {
        uint8_t byte = i < text.size() ? static_cast<uint8_t>(text[i]) : 0;
        return byte >= low && byte <= high;
    };
    if (is_within(0, 0xC2, 0xDF)) {
        return is_within(1, 0x80, 0xBF) ? 2 : 0;
    }
    if (is_within(0, 0xE0, 0xEF)) {
        uint8_t low = text[0] == '\xE0' ? 0xA0 : 0x80;   // no overlong forms
        uint8_t high = text[0] == '\xED' ? 0x9F : 0xBF;  // no surrogates
        return is_within(1, low, high) && is_within(2, 0x80, 0xBF) ? 3 : 0;
    }
    if (is_within(0, 0xF0, 0xF4)) {
        uint8_t low = text[0] == '\xF0' ? 0x90 : 0x80;
        uint8_t high = text[0] == '\xF4' ? 0x8F : 0xBF;  // nothing past U+10FFFF
        bool is_whole =
            is_within(1, low, high) && is_within(2, 0x80, 0xBF) && is_within(3, 0x80, 0xBF);
        return is_whole ? 4 : 0;
    }
    return !text.empty() && static_cast<uint8_t>(text[0]) < 0x80 ? 1 : 0;
}

// A code point, of which it is not asked whether it is one.
inline void append_utf8(std::string& text, uint32_t code) {
    constexpr uint32_t kLead[] = {0x00, 0xC0, 0xE0, 0xF0};
    int rest = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    text += static_cast<char>(kLead[rest] | (code >> (6 * rest)));
    while (rest-- > 0) {
        text += static_cast<char>(0x80U | ((code >> (6 * rest)) & 0x3FU));
    }
}

inline bool is_utf8(std::string_view text) {
    size_t i = 0;
    while (i < text.size()) {
        uint64_t eight = 0;
        if (text.size() - i >= sizeof eight) {  // eight ASCII bytes at once
            std::memcpy(&eight, text.data() + i, sizeof eight);
            if ((eight & 0x8080808080808080U) == 0) {
                i += sizeof eight;
                continue;
            }
        }
        if (static_cast<uint8_t>(text[i]) < 0x80) {
            ++i;
            continue;
        }
        size_t length = utf8_sequence_length(text.substr(i));
        if (length == 0) {
            return false;
        }
        i += length;
    }
    return true;
}

}  // namespace sardonyx
