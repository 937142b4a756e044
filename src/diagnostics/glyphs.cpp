#include "diagnostics/glyphs.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/utf8.h"

namespace sardonyx::diagnostics {
namespace {

constexpr uint32_t kTabWidth = 4;

struct Range {
    char32_t first;
    char32_t last;
};

// Unicode 15: characters of general category Cf, Zl and Zp, and the C1 controls.
constexpr Range kHidden[] = {
    {0x7F, 0x9F},     {0xAD, 0xAD},     {0x061C, 0x061C},   {0x180E, 0x180E},
    {0x200B, 0x200C}, {0x200E, 0x200F}, {0x2028, 0x202E},   {0x2060, 0x206F},
    {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF},
};

// The common combining marks, joiners and variation selectors.
constexpr Range kCombining[] = {
    {0x0300, 0x036F}, {0x0483, 0x0489},   {0x0591, 0x05BD}, {0x0610, 0x061A}, {0x064B, 0x065F},
    {0x06D6, 0x06DC}, {0x0900, 0x0902},   {0x093C, 0x093C}, {0x0941, 0x0948}, {0x094D, 0x094D},
    {0x0E31, 0x0E31}, {0x0E34, 0x0E3A},   {0x0E47, 0x0E4E}, {0x1AB0, 0x1ACE}, {0x1DC0, 0x1DFF},
    {0x200D, 0x200D}, {0x20D0, 0x20F0},   {0x302A, 0x302D}, {0x3099, 0x309A}, {0xFE00, 0xFE0F},
    {0xFE20, 0xFE2F}, {0x1F3FB, 0x1F3FF},
};

// East Asian Width W and F, in whole blocks.
constexpr Range kWide[] = {
    {0x1100, 0x115F},   {0x231A, 0x231B},   {0x2329, 0x232A},   {0x23E9, 0x23EC},
    {0x25FD, 0x25FE},   {0x2614, 0x2615},   {0x2648, 0x2653},   {0x26A1, 0x26A1},
    {0x26BD, 0x26BE},   {0x2705, 0x2705},   {0x2728, 0x2728},   {0x274C, 0x274C},
    {0x2753, 0x2755},   {0x2E80, 0x303E},   {0x3041, 0xA4CF},   {0xA960, 0xA97F},
    {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF01, 0xFF60},
    {0xFFE0, 0xFFE6},   {0x16FE0, 0x18CFF}, {0x1AFF0, 0x1B2FF}, {0x1F300, 0x1F64F},
    {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF}, {0x1FA70, 0x1FAFF}, {0x20000, 0x3FFFD},
};

template <size_t n>
bool contains(const Range (&ranges)[n], char32_t character) {
    const Range* found =
        std::lower_bound(std::begin(ranges), std::end(ranges), character,
                         [](const Range& range, char32_t wanted) { return range.last < wanted; });
    return found != std::end(ranges) && found->first <= character;
}

// Decodes a well-formed sequence of more than one byte.
char32_t decode(std::string_view sequence) {
    char32_t character = static_cast<unsigned char>(sequence[0]) & (0x7FU >> sequence.size());
    for (char byte : sequence.substr(1)) {
        character = character << 6U | (static_cast<unsigned char>(byte) & 0x3FU);
    }
    return character;
}

// The glyph of the character at the start of `rest`, and how many bytes it takes.
size_t next_glyph(std::string_view rest, Glyph& glyph) {
    unsigned char first = static_cast<unsigned char>(rest[0]);
    glyph.width = 1;
    if (first == '\t') {
        glyph.width = kTabWidth;
        glyph.shown.assign(kTabWidth, ' ');
        return 1;
    }
    if (first < 0x20 || first == 0x7F) {
        char picture = static_cast<char>(first == 0x7F ? 0xA1 : 0x80 + first);
        glyph.shown = {'\xE2', '\x90', picture};
        return 1;
    }
    if (first < 0x80) {
        glyph.shown = rest.substr(0, 1);
        return 1;
    }
    size_t length = utf8_sequence_length(rest);
    if (length == 0) {
        glyph.shown = "\uFFFD";
        return 1;
    }
    char32_t character = decode(rest.substr(0, length));
    if (contains(kHidden, character)) {
        glyph.shown = fmt::format("<U+{:04X}>", static_cast<uint32_t>(character));
        glyph.width = static_cast<uint32_t>(glyph.shown.size());
        return length;
    }
    glyph.shown = rest.substr(0, length);
    if (contains(kCombining, character)) {
        glyph.width = 0;
    } else if (contains(kWide, character)) {
        glyph.width = 2;
    }
    return length;
}

}  // namespace

std::vector<Glyph> glyphs(std::string_view text) {
    std::vector<Glyph> result;
    result.reserve(text.size());
    uint32_t column = 0;
    for (size_t offset = 0; offset < text.size();) {
        Glyph glyph{{}, static_cast<uint32_t>(offset), column, 1};
        offset += next_glyph(text.substr(offset), glyph);
        column += glyph.width;
        result.push_back(std::move(glyph));
    }
    return result;
}

std::string visible(std::string_view text) {
    std::string result;
    for (const Glyph& glyph : glyphs(text)) {
        result += glyph.shown;
    }
    return result;
}

}  // namespace sardonyx::diagnostics
