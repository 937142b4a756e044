// The words of a text in which scripts are looked for by name, without a parser: more may be found
// than the text means, but nothing is missed.
#pragma once

#include <cctype>
#include <cstddef>
#include <string_view>

namespace sardonyx::driver {

// Calls `visit(word)` for each run of ASCII letters, digits and underscores.
template <typename Visit>
void for_each_word(std::string_view text, const Visit& visit) {
    auto is_of_word = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    };
    for (size_t begin = 0; begin < text.size(); ++begin) {
        size_t end = begin;
        while (end < text.size() && is_of_word(text[end])) {
            ++end;
        }
        if (end > begin) {
            visit(text.substr(begin, end - begin));
        }
        begin = end;
    }
}

}  // namespace sardonyx::driver
