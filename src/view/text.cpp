#include "view/text.h"

#include "base/utf8.h"

namespace sardonyx::view {
namespace {

// The code point of a well-formed sequence.
uint32_t code_point(std::string_view sequence) {
    uint32_t first = static_cast<uint8_t>(sequence[0]);
    if (sequence.size() == 1) {
        return first;
    }
    uint32_t code = first & (0x7FU >> sequence.size());
    for (char c : sequence.substr(1)) {
        code = code << 6U | (static_cast<uint8_t>(c) & 0x3FU);
    }
    return code;
}

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

// What stands for a character that must not be shown as it is; empty: it may.
std::string stand_in(uint32_t code) {
    if (code < 0x20 || code == 0x7F) {
        uint32_t picture = code == 0x7F ? 0x21 : code;  // U+2400 ... U+2421
        return std::string("\xE2\x90") + static_cast<char>(0x80U + picture);
    }
    bool turns = (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069) ||
                 code == 0x200E || code == 0x200F || code == 0x061C;
    bool is_illegal = (code >= 0x80 && code < 0xA0) || code == 0xFFFE || code == 0xFFFF;
    return turns || is_illegal || code == 0x2028 || code == 0x2029 ? std::string(kReplacement)
                                                                   : std::string();
}

std::string stand_in_within_lines(uint32_t code) {
    return code == '\n' || code == '\t' ? std::string() : stand_in(code);
}

std::string shown_by(std::string_view text, size_t limit, std::string (*stand_in_for)(uint32_t)) {
    std::string result;
    for (size_t count = 0; !text.empty(); ++count) {
        if (count == limit) {
            return result + "\xE2\x80\xA6";
        }
        size_t length = utf8_sequence_length(text);
        std::string_view sequence = text.substr(0, length);
        if (length == 0) {
            result += kReplacement;
        } else if (std::string other = stand_in_for(code_point(sequence)); !other.empty()) {
            result += other;
        } else {
            result += sequence;
        }
        text.remove_prefix(length == 0 ? 1 : length);
    }
    return result;
}

}  // namespace

std::string shown(std::string_view text, size_t limit) {
    return shown_by(text, limit, stand_in);
}

std::string shown_lines(std::string_view text, size_t limit) {
    return shown_by(text, limit, stand_in_within_lines);
}

size_t columns(std::string_view text) {
    size_t count = 0;
    while (!text.empty()) {
        size_t length = utf8_sequence_length(text);
        // Scripts of East Asia and pictures are wide; it need not be exact.
        bool is_wide = length >= 3 && code_point(text.substr(0, length)) >= 0x2E80;
        count += is_wide ? 2 : 1;
        text.remove_prefix(length == 0 ? 1 : length);
    }
    return count;
}

}  // namespace sardonyx::view
