#include "base/quote.h"

#include <cstddef>

#include "base/utf8.h"

namespace sardonyx {
namespace {

void append_escaped(unsigned char byte, std::string& result) {
    constexpr char kDigits[] = "0123456789abcdef";
    result += "\\x";
    result += kDigits[byte >> 4];
    result += kDigits[byte & 15];
}

void append_ascii(char c, std::string& result) {
    switch (c) {
        case '\n':
            result += "\\n";
            break;
        case '\t':
            result += "\\t";
            break;
        case '\r':
            result += "\\r";
            break;
        case '"':
        case '\\':
            result += '\\';
            result += c;
            break;
        default:
            if (c < 0x20 || c == 0x7f) {
                append_escaped(static_cast<unsigned char>(c), result);
            } else {
                result += c;
            }
    }
}

}  // namespace

std::string quoted(std::string_view text) {
    std::string result = "\"";
    for (size_t i = 0; i < text.size();) {
        size_t length = utf8_sequence_length(text.substr(i));
        if (length == 1) {
            append_ascii(text[i], result);
        } else if (length == 0) {
            append_escaped(static_cast<unsigned char>(text[i]), result);
            length = 1;
        } else {
            result += text.substr(i, length);
        }
        i += length;
    }
    return result + '"';
}

}  // namespace sardonyx
