// Text as a terminal shows it: which column each byte stands in, and nothing that could move the
// cursor, reorder the text or hide in it.
//
// Tabs become spaces, C0 controls their pictures (U+2400...), characters that are invisible or
// change the direction of what follows their number (`<U+202E>`), bytes that are not UTF-8 U+FFFD.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sardonyx::diagnostics {

// One character of a text.
struct Glyph {
    std::string shown;
    uint32_t offset;  // of its first byte
    uint32_t column;  // 0-based, of its first column
    uint32_t width;   // columns: 0 for combining marks, 2 for wide characters
};

std::vector<Glyph> glyphs(std::string_view text);

// The text with all of the above replaced.
std::string visible(std::string_view text);

}  // namespace sardonyx::diagnostics
