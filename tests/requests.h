// The protocol of the programs that tests in Python talk to (tests/python/tool.py): a request is a
// line of fields with tabs between them, and so is its answer, which is written at once.
#pragma once

#include <algorithm>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

namespace sardonyx::test {

// Between each two separators one field, which may be empty, also the last one.
inline std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> fields;
    while (true) {
        size_t end = text.find(separator);
        fields.emplace_back(text.substr(0, end));
        if (end == std::string_view::npos) {
            return fields;
        }
        text.remove_prefix(end + 1);
    }
}

// Bytes as a field, each two digits.
inline std::string to_hex(std::string_view bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string text;
    for (char one : bytes) {
        text += kDigits[static_cast<unsigned char>(one) >> 4];
        text += kDigits[static_cast<unsigned char>(one) & 15];
    }
    return text;
}

inline std::string from_hex(std::string_view text) {
    auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
    std::string bytes;
    for (size_t i = 0; i + 1 < text.size(); i += 2) {
        bytes += static_cast<char>(digit(text[i]) << 4 | digit(text[i + 1]));
    }
    return bytes;
}

// Answers with `answer(fields)` until standard input ends. There are at least `least` fields: those
// that a request does not have are empty.
template <typename Answer>
int serve(size_t least, const Answer& answer) {
    std::ios::sync_with_stdio(false);
    for (std::string line; std::getline(std::cin, line);) {
        std::vector<std::string> fields = split(line, '\t');
        fields.resize(std::max(fields.size(), least));
        std::cout << answer(fields) << std::endl;
    }
    return 0;
}

}  // namespace sardonyx::test
