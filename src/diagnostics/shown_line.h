// A source line as it is printed: cut around the place that matters when it is too long.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "diagnostics/glyphs.h"

namespace sardonyx::diagnostics {

struct ShownLine {
    std::vector<Glyph> glyphs;  // columns are those of the printed line
    bool cut_left = false;      // "..." stands in its first three columns
    bool cut_right = false;     // "..." stands at `right_edge`
    uint32_t right_edge = 0;    // one past the last glyph's columns
    uint32_t begin = 0;         // byte offsets in the line of what is shown
    uint32_t end = 0;

    // The printed column of a byte offset in the line; what was cut away is at the edge.
    uint32_t column(uint32_t offset) const;
};

// Shows at most `room` columns of `line`, with bytes [focus_begin, focus_end) among them, or as
// much of their beginning as there is room for.
ShownLine show_line(std::string_view line, uint32_t focus_begin, uint32_t focus_end, uint32_t room);

inline constexpr std::string_view kCut = "...";

}  // namespace sardonyx::diagnostics
