// The characters of a header, one after the other. For the files of this folder.
#pragma once

#include <cstddef>
#include <string_view>

namespace sardonyx::weights {

class Scanner {
  public:
    explicit Scanner(std::string_view text) : text_(text) {}

  protected:
    // The next character after blanks; 0: none is left.
    char peek() {
        constexpr std::string_view kBlanks = " \t\r\n";
        while (at_ < text_.size() && kBlanks.find(text_[at_]) != std::string_view::npos) {
            ++at_;
        }
        return at_ < text_.size() ? text_[at_] : '\0';
    }
    // Whether it is this one; goes past it.
    bool take(char c) {
        bool is_there = peek() == c;
        at_ += is_there ? 1 : 0;
        return is_there;
    }

    std::string_view text_;
    size_t at_ = 0;
};

}  // namespace sardonyx::weights
