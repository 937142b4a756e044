#include "diagnostics/shown_line.h"

#include <algorithm>

namespace sardonyx::diagnostics {
namespace {

// A generated file may be one line of megabytes: more bytes than this around the focus are never
// looked at.
constexpr uint32_t kSliceBytes = 2048;

constexpr uint32_t kCutWidth = static_cast<uint32_t>(kCut.size());

bool is_continuation(char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

// Moves an offset back to the start of its character.
uint32_t character_start(std::string_view line, uint32_t offset) {
    for (int i = 0; i < 3 && offset > 0 && offset < line.size() && is_continuation(line[offset]);
         ++i) {
        --offset;
    }
    return offset;
}

// First column of the window of `room` columns in a text of `total`, for a focus [begin, end).
uint32_t window_start(uint32_t begin, uint32_t end, uint32_t total, uint32_t room) {
    if (total <= room) {
        return 0;
    }
    uint32_t focus = std::min(end - begin, room - 2 * kCutWidth - 1);
    uint32_t before = (room - focus) / 2;
    return std::min(begin > before ? begin - before : 0, total - room);
}

uint32_t width_of(const std::vector<Glyph>& all) {
    return all.empty() ? 0 : all.back().column + all.back().width;
}

uint32_t column_in(const std::vector<Glyph>& all, uint32_t offset) {
    auto found =
        std::upper_bound(all.begin(), all.end(), offset,
                         [](uint32_t wanted, const Glyph& glyph) { return wanted < glyph.offset; });
    return found == all.begin() ? 0 : std::prev(found)->column;
}

}  // namespace

uint32_t ShownLine::column(uint32_t offset) const {
    if (offset < begin) {
        return 0;
    }
    return offset >= end || glyphs.empty() ? right_edge : column_in(glyphs, offset);
}

ShownLine show_line(std::string_view line, uint32_t focus_begin, uint32_t focus_end,
                    uint32_t room) {
    uint32_t size = static_cast<uint32_t>(line.size());
    focus_begin = std::min(focus_begin, size);
    focus_end = std::clamp(focus_end, focus_begin, size);
    uint32_t slice_begin = focus_begin > kSliceBytes ? focus_begin - kSliceBytes : 0;
    slice_begin = character_start(line, slice_begin);
    uint32_t slice_end =
        character_start(line, std::min(size - focus_begin, kSliceBytes) + focus_begin);

    std::vector<Glyph> all = glyphs(line.substr(slice_begin, slice_end - slice_begin));
    for (Glyph& glyph : all) {
        glyph.offset += slice_begin;
    }
    uint32_t total = width_of(all);
    uint32_t focus_column = focus_begin >= slice_end ? total : column_in(all, focus_begin);
    uint32_t focus_stop = focus_end >= slice_end ? total : column_in(all, focus_end);
    uint32_t start =
        window_start(focus_column, std::max(focus_stop, focus_column + 1), total, room);

    ShownLine shown;
    shown.cut_left = start > 0 || slice_begin > 0;
    shown.cut_right = start + room < total || slice_end < size;
    uint32_t first = start + (shown.cut_left ? kCutWidth : 0);
    uint32_t stop = start + room - (shown.cut_right ? kCutWidth : 0);
    shown.begin = slice_end;
    shown.end = slice_end;
    for (Glyph& glyph : all) {
        if (glyph.column < first) {
            continue;
        }
        if (glyph.column + glyph.width > stop) {
            shown.end = glyph.offset;
            break;
        }
        shown.begin = std::min(shown.begin, glyph.offset);
        glyph.column -= start;
        shown.right_edge = glyph.column + glyph.width;
        shown.glyphs.push_back(std::move(glyph));
    }
    if (shown.glyphs.empty()) {
        shown.begin = 0;
    }
    return shown;
}

}  // namespace sardonyx::diagnostics
