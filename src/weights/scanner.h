// The characters of a header, one after the other. For the files of this folder.
#pragma once

#include <cstddef>
#include <string_view>

namespace sardonyx::weights {

class Scanner {
  public:
    explicit Scanner(std::string_view text) : source(text) {}

  protected:
    // The next character after blanks; 0: none is left.
    char peek() {
        constexpr std::string_view kBlanks = " \t\r\n";
        while (position < source.size() &&
               kBlanks.find(source[position]) != std::string_view::npos) {
            ++position;
        }
        return position < source.size() ? source[position] : '\0';
    }
    // Whether it is this one; goes past it.
    bool take(char c) {
        bool is_there = peek() == c;
        position += is_there ? 1 : 0;
        return is_there;
    }

    std::string_view source;
    size_t position = 0;
};

}  // namespace sardonyx::weights
