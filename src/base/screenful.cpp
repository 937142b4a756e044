#include "base/screenful.h"

namespace sardonyx {
namespace {

// Forwards to the begin of a character of UTF-8.
size_t at_character(std::string_view text, size_t at) {
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) {
        ++at;
    }
    return at;
}

}  // namespace

std::string screenful(std::string_view message) {
    constexpr size_t kLongest = 1900;  // 24 lines of 80
    constexpr size_t kEnd = 500;
    if (message.size() <= kLongest) {
        return std::string(message);
    }
    size_t begin = at_character(message, kLongest - kEnd - 100);
    size_t end = at_character(message, message.size() - kEnd);
    return std::string(message.substr(0, begin)) + " ... (" + std::to_string(end - begin) +
           " bytes) ... " + std::string(message.substr(end));
}

}  // namespace sardonyx
