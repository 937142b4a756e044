// What the readers of text forms share: the place in the text, errors that say it, and numbers.
// Internal to proto/.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "proto/document.h"

namespace sardonyx::proto {

class TextSource {
  public:
    explicit TextSource(std::string_view text) : text_(text) {}

    bool at_end() const { return at_ == text_.size(); }
    // The next byte; NUL at the end, too.
    char peek(size_t ahead = 0) const {
        return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
    }
    char take() { return at_end() ? '\0' : text_[at_++]; }
    void skip(size_t count) { at_ = at_ + count < text_.size() ? at_ + count : text_.size(); }
    size_t place() const { return at_; }
    void go_to(size_t place) { at_ = place; }
    std::string_view since(size_t place) const { return text_.substr(place, at_ - place); }
    std::string_view rest() const { return text_.substr(at_); }

    // White space, and comments from `comment` to the end of the line; NUL: there are none.
    void skip_space(char comment = '\0');
    // A letter or `_`, and letters, digits and `_` after it; empty: none.
    std::string_view take_word();
    // Digits with at most one point, and an exponent; empty: none.
    std::string_view take_decimal();

    // Keeps the first thing that is wrong, with its line and column. Returns false.
    bool fail(std::string_view message) { return fail_at(at_, message); }
    bool fail_at(size_t place, std::string_view message);
    const std::string& error() const { return error_; }

    // Messages in messages; false, and an error: too deep.
    bool descend();
    void ascend() { --depth_; }

  private:
    std::string_view text_;
    size_t at_ = 0;
    int depth_ = 0;
    std::string error_;
};

bool is_digit(char c);
// -1: none.
int hex_digit(char c);

// A text of digits, `is_negative` with a minus before it, as a number of a kind; false: it is none,
// or the kind does not reach so far.
bool integer_item(std::string_view digits, int base, bool is_negative, FieldKind kind, Item* item);
// The same for float and double.
bool float_item(std::string_view decimal, bool is_negative, FieldKind kind, Item* item);
// Infinity and NaN, in any spelling of case: `inf`, `infinity`, `nan`.
bool special_float_item(std::string_view word, bool is_negative, FieldKind kind, Item* item);
// The shortest text that reads as the same number; `nan`, `inf` and `-inf` for those that have no
// digits.
std::string float_text(FieldKind kind, const Item& item);

// UTF-8 of a code point.
void append_utf8(uint32_t point, std::string& out);

}  // namespace sardonyx::proto
