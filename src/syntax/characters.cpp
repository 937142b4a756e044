#include "syntax/characters.h"

#include <array>
#include <string_view>

#include "syntax/utf8.h"

namespace sardonyx::syntax {
namespace {

// A word of up to eight letters as one integer.
constexpr uint64_t pack(std::string_view word) {
    uint64_t packed = 0;
    for (size_t i = 0; i < word.size(); ++i) {
        packed |= static_cast<uint64_t>(static_cast<unsigned char>(word[i])) << (8 * i);
    }
    return packed;
}

struct KeywordRow {
    uint64_t packed;
    TokenKind kind;
};

// In the order of the letters (upper case first), as tokens.def is.
constexpr KeywordRow kKeywords[] = {
#define SDX_KEYWORD(identifier, text) {pack(text), TokenKind::k##identifier},
#include "syntax/tokens.def"
};
constexpr size_t kKeywordCount = sizeof(kKeywords) / sizeof(kKeywords[0]);

// kFirst[c] is the first row whose word begins with c or a later letter.
constexpr std::array<uint8_t, 129> make_first() {
    std::array<uint8_t, 129> first{};
    size_t row = 0;
    for (size_t c = 0; c < first.size(); ++c) {
        while (row < kKeywordCount && (kKeywords[row].packed & 0xFF) < c) {
            ++row;
        }
        first[c] = static_cast<uint8_t>(row);
    }
    return first;
}
constexpr std::array<uint8_t, 129> kFirst = make_first();

struct CodePointRange {
    uint32_t first, last;
};

// Spaces, punctuation, arrows, mathematical and other symbols, emoji.
constexpr CodePointRange kNotInNames[] = {
    {0x80, 0xA9},       {0xAB, 0xB4},     {0xB6, 0xB6},     {0xB8, 0xB9},     {0xBB, 0xBF},
    {0xD7, 0xD7},       {0xF7, 0xF7},     {0x2000, 0x203E}, {0x2041, 0x2053}, {0x2055, 0x2070},
    {0x20A0, 0x20C0},   {0x2190, 0x2BFF}, {0x3000, 0x3004}, {0x3008, 0x3020}, {0xFE00, 0xFE0F},
    {0xFEFF, 0xFEFF},   {0xFF01, 0xFF0F}, {0xFF1A, 0xFF20}, {0xFF3B, 0xFF3E}, {0xFF5B, 0xFF65},
    {0x1F000, 0x1FAFF},
};

bool is_in_names(uint32_t code_point) {
    for (const CodePointRange& range : kNotInNames) {
        if (code_point >= range.first && code_point <= range.last) {
            return false;
        }
    }
    return true;
}

}  // namespace

TokenKind keyword_kind(const char* begin, const char* end) {
    size_t length = static_cast<size_t>(end - begin);
    unsigned char first = static_cast<unsigned char>(*begin);
    if (length < 2 || length > 8 || first >= 128 || kFirst[first] == kFirst[first + 1u]) {
        return TokenKind::kName;
    }
    uint64_t packed = pack({begin, length});
    for (size_t row = kFirst[first]; row < kFirst[first + 1u]; ++row) {
        if (kKeywords[row].packed == packed) {
            return kKeywords[row].kind;
        }
    }
    return TokenKind::kName;
}

const char* find_non_identifier(const char* begin, const char* end) {
    for (const char* p = begin; p < end;) {
        if (static_cast<unsigned char>(*p) < 0x80) {
            ++p;
            continue;
        }
        Utf8 decoded = decode_utf8({p, static_cast<size_t>(end - p)});
        if (!decoded.valid || !is_in_names(decoded.code_point)) {
            return p;
        }
        p += decoded.length;
    }
    return end;
}

}  // namespace sardonyx::syntax
