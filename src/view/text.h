// Texts of a model, made fit to be shown.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sardonyx::view {

// At most `limit` characters of `text`, with "…" where there are more. What is no UTF-8 becomes
// U+FFFD, and control characters their pictures (U+2400 and so on); so do characters that
// change the direction of text.
std::string shown(std::string_view text, size_t limit);
// The same of several lines: line breaks and tabs stay.
std::string shown_lines(std::string_view text, size_t limit);

// Columns that a text takes in a font of one width.
size_t columns(std::string_view text);

}  // namespace sardonyx::view
