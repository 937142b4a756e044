// Classes of characters, and keywords, for the lexer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "syntax/token.h"

namespace sardonyx::syntax {

enum class CharacterClass : uint8_t {
    kInvalid,  // also the NUL behind the text
    kBlank,
    kLineBreak,
    kName,  // a letter, `_`, or a byte of a character beyond ASCII
    kDigit,
    kQuote,
    kOperator,
    kComment,
    kBackslash,
};

constexpr std::array<CharacterClass, 256> make_character_classes() {
    std::array<CharacterClass, 256> classes{};
    auto set = [&classes](const char* characters, CharacterClass to) {
        for (; *characters != '\0'; ++characters) {
            classes[static_cast<unsigned char>(*characters)] = to;
        }
    };
    for (size_t c = 'a'; c <= 'z'; ++c) {
        classes[c] = CharacterClass::kName;
        classes[c - 'a' + 'A'] = CharacterClass::kName;
    }
    for (size_t c = 0x80; c < 0x100; ++c) {
        classes[c] = CharacterClass::kName;
    }
    set("_", CharacterClass::kName);
    set("0123456789", CharacterClass::kDigit);
    set(" \t\f", CharacterClass::kBlank);
    set("\n\r", CharacterClass::kLineBreak);
    set("'\"", CharacterClass::kQuote);
    set("()[]{}:!.,;~=+-*/%@|^&<>", CharacterClass::kOperator);
    set("#", CharacterClass::kComment);
    set("\\", CharacterClass::kBackslash);
    return classes;
}
inline constexpr std::array<CharacterClass, 256> kCharacterClasses = make_character_classes();

inline CharacterClass character_class(char c) {
    return kCharacterClasses[static_cast<unsigned char>(c)];
}
inline bool is_name_start(char c) {
    return character_class(c) == CharacterClass::kName;
}
inline bool is_name_character(char c) {
    CharacterClass found = character_class(c);
    return found == CharacterClass::kName || found == CharacterClass::kDigit;
}
inline bool is_line_break(char c) {
    return c == '\n' || c == '\r';
}

// Behind the line break at `at`, or `at`.
inline const char* skip_line_break(const char* at) {
    if (*at == '\r') {
        return at + (at[1] == '\n' ? 2 : 1);
    }
    return at + (*at == '\n' ? 1 : 0);
}

inline const char* skip_name(const char* at) {
    while (is_name_character(*at)) {
        ++at;
    }
    return at;
}

// The keyword, or kName.
TokenKind keyword_kind(const char* begin, const char* end);

// The first character of [begin, end) that is known not to belong into a name, such as a quotation
// mark or a no-break space, or `end`. Letters are not told from the thousands of other symbols.
const char* find_non_identifier(const char* begin, const char* end);

}  // namespace sardonyx::syntax
