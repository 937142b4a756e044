#include "syntax/utf8.h"

#include <cstring>

namespace sardonyx::syntax {

Utf8 decode_utf8(std::string_view text) {
    auto byte = [text](size_t i) { return static_cast<unsigned char>(text[i]); };
    uint32_t first = byte(0);
    if (first < 0x80) {
        return {first, 1, true};
    }
    uint32_t length = first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
    if (length == 0 || length > text.size()) {
        return {};
    }
    uint32_t code_point = first & (0x7Fu >> length);
    for (uint32_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xC0) != 0x80) {
            return {};
        }
        code_point = code_point << 6 | (byte(i) & 0x3Fu);
    }
    bool overlong = (length == 3 && code_point < 0x800) || (length == 4 && code_point < 0x10000);
    bool surrogate = code_point >= 0xD800 && code_point < 0xE000;
    if (overlong || surrogate || code_point > 0x10FFFF) {
        return {};
    }
    return {code_point, length, true};
}

void append_utf8(std::string* text, uint32_t code_point) {
    auto add = [text](uint32_t byte) { text->push_back(static_cast<char>(byte)); };
    auto add_rest = [&](int shift) { add(0x80 | (code_point >> shift & 0x3F)); };
    if (code_point < 0x80) {
        add(code_point);
    } else if (code_point < 0x800) {
        add(0xC0 | code_point >> 6);
        add_rest(0);
    } else if (code_point < 0x10000) {
        add(0xE0 | code_point >> 12);
        add_rest(6);
        add_rest(0);
    } else {
        add(0xF0 | code_point >> 18);
        add_rest(12);
        add_rest(6);
        add_rest(0);
    }
}

size_t find_invalid_utf8(std::string_view text) {
    size_t i = 0;
    while (i < text.size()) {
        uint64_t eight = 0;
        if (i + 8 <= text.size()) {
            std::memcpy(&eight, text.data() + i, 8);
            if ((eight & 0x8080808080808080u) == 0) {
                i += 8;
                continue;
            }
        }
        Utf8 decoded = decode_utf8(text.substr(i));
        if (!decoded.valid) {
            return i;
        }
        i += decoded.length;
    }
    return std::string_view::npos;
}

}  // namespace sardonyx::syntax
