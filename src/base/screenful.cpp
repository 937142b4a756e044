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

std::string screenful(std::string_view message, size_t longest) {
    constexpr size_t kBetween = 40;  // for what stands for the middle
    if (message.size() <= longest) {
        return std::string(message);
    }
    size_t begin = at_character(message, longest * 3 / 4 - kBetween);
    size_t end = at_character(message, message.size() - longest / 4);
    return std::string(message.substr(0, begin)) + " ... (" + std::to_string(end - begin) +
           " bytes) ... " + std::string(message.substr(end));
}

}  // namespace sardonyx
