#include "diagnostics/row.h"

#include <algorithm>

#include "diagnostics/glyphs.h"

namespace sardonyx::diagnostics {
namespace {

// Select Graphic Rendition, ECMA-48 section 8.3.117.
std::string_view escape(Style style) {
    switch (style) {
        case Style::kPlain:
            return "\x1b[0m";
        case Style::kBold:
            return "\x1b[0;1m";
        case Style::kFrame:
            return "\x1b[0;1;34m";
        case Style::kError:
            return "\x1b[0;1;31m";
        case Style::kWarning:
            return "\x1b[0;1;33m";
        case Style::kNote:
            return "\x1b[0;1;32m";
    }
    return "";
}

}  // namespace

void Row::put_shown(uint32_t column, uint32_t width, std::string_view shown, Style style) {
    if (width == 0) {
        if (column > 0 && column <= cells_.size()) {
            cells_[column - 1].text += shown;
        }
        return;
    }
    if (cells_.size() < column + width) {
        cells_.resize(column + width);
    }
    cells_[column] = {std::string(shown), style};
    for (uint32_t i = 1; i < width; ++i) {
        cells_[column + i] = {"", style};
    }
}

void Row::put(uint32_t column, std::string_view text, Style style) {
    for (const Glyph& glyph : glyphs(text)) {
        put_shown(column + glyph.column, glyph.width, glyph.shown, style);
    }
}

void Row::put_mark(uint32_t column, char mark, Style style) {
    put_shown(column, 1, {&mark, 1}, style);
}

std::string Row::to_string(bool color) const {
    auto is_blank = [](const Cell& cell) { return cell.text == " "; };
    size_t size = cells_.size();
    while (size > 0 && is_blank(cells_[size - 1])) {
        --size;
    }
    std::string out;
    Style current = Style::kPlain;
    for (size_t i = 0; i < size; ++i) {
        const Cell& cell = cells_[i];
        if (color && cell.style != current && !is_blank(cell)) {
            out += escape(cell.style);
            current = cell.style;
        }
        out += cell.text;
    }
    if (current != Style::kPlain) {
        out += escape(Style::kPlain);
    }
    return out;
}

}  // namespace sardonyx::diagnostics
