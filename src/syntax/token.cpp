#include "syntax/token.h"

namespace sardonyx::syntax {
namespace {

struct Row {
    std::string_view name;
    std::string_view text;
    std::string_view description;
};

constexpr Row kRows[] = {
#define SDX_TOKEN(identifier, text) {#identifier, text, text},
#define SDX_PUNCTUATION(identifier, text) {#identifier, text, "`" text "`"},
#define SDX_KEYWORD(identifier, text) {#identifier, text, "`" text "`"},
#include "syntax/tokens.def"
};

}  // namespace

std::string_view token_text(TokenKind kind) {
    return kRows[static_cast<size_t>(kind)].text;
}

std::string_view token_description(TokenKind kind) {
    return kRows[static_cast<size_t>(kind)].description;
}

std::string_view token_kind_name(TokenKind kind) {
    return kRows[static_cast<size_t>(kind)].name;
}

bool is_keyword(TokenKind kind) {
    return kind >= TokenKind::kFalse;
}

}  // namespace sardonyx::syntax
