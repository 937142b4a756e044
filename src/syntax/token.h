// Tokens: what the lexer makes of the bytes. Names and literals are left in the source.
#pragma once

#include <cstdint>
#include <string_view>

namespace sardonyx::syntax {

enum class TokenKind : uint8_t {
#define SDX_TOKEN(identifier, text) k##identifier,
#define SDX_PUNCTUATION(identifier, text) k##identifier,
#define SDX_KEYWORD(identifier, text) k##identifier,
#include "syntax/tokens.def"
};

// Why a token is an Error.
enum class LexError : uint8_t {
    kInvalidCharacter,
    kUnterminatedString,
    kUnterminatedTripleString,
    kInvalidNumber,
    kStrayBackslash,
    kInconsistentIndentation,  // after the Indent or the Dedents of the line
    kTooDeep,
};

// What stands before the quote of a String or FStringStart, and the quote; bits of Token::detail.
struct StringFlags {
    static constexpr uint8_t kRaw = 1;
    static constexpr uint8_t kBytes = 2;
    static constexpr uint8_t kTriple = 4;
    static constexpr uint8_t kFormatSpec = 8;  // of a FStringMiddle: braces are not doubled
};

struct Range {
    uint32_t begin = 0;
    uint32_t end = 0;
};

struct Token {
    TokenKind kind;
    uint8_t detail;  // StringFlags of strings; the LexError of an Error
    uint32_t begin;
    uint32_t end;
};

// The spelling, or a description such as "a name".
std::string_view token_text(TokenKind kind);
// The same as messages show it: a spelling stands in backticks.
std::string_view token_description(TokenKind kind);
bool is_keyword(TokenKind kind);
std::string_view token_kind_name(TokenKind kind);

}  // namespace sardonyx::syntax
