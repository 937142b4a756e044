#include "syntax/imports.h"

#include "syntax/lexer.h"
#include "syntax/parse.h"

namespace sardonyx::syntax {
namespace {

using Tokens = std::vector<Token>;

// Whether a statement may begin at this token of a logical line.
bool begins_statement(const Tokens& tokens, size_t i) {
    if (i == 0) {
        return true;
    }
    TokenKind before = tokens[i - 1].kind;
    return before == TokenKind::kIndent || before == TokenKind::kDedent ||
           before == TokenKind::kSemicolon || before == TokenKind::kColon;
}

// `import a.b as c, package.d`, from the keyword on: the first name of each dotted one.
bool import_names(std::string_view text, const Tokens& tokens, size_t i, std::string_view package) {
    bool is_first = true;
    for (++i; i < tokens.size(); ++i) {
        const Token& token = tokens[i];
        if (token.kind == TokenKind::kName && is_first &&
            text.substr(token.begin, token.end - token.begin) == package) {
            return true;
        }
        if (token.kind == TokenKind::kSemicolon || token.kind == TokenKind::kNewline) {
            return false;
        }
        is_first = token.kind == TokenKind::kComma;
    }
    return false;
}

}  // namespace

bool imports_package(std::string_view text, std::string_view package) {
    if (text.find(package) == std::string_view::npos) {
        return false;
    }
    Lexer lexer(text, skip_byte_order_mark(text), OutermostBlock::kAtMargin, Limits{}.nesting);
    for (;;) {
        lexer.next_line();
        const Tokens& tokens = lexer.tokens();
        for (size_t i = 0; i + 1 < tokens.size(); ++i) {
            const Token& next = tokens[i + 1];
            bool is_import = tokens[i].kind == TokenKind::kImport;
            bool is_from = tokens[i].kind == TokenKind::kFrom && next.kind == TokenKind::kName &&
                           text.substr(next.begin, next.end - next.begin) == package;
            if ((is_import || is_from) && begins_statement(tokens, i) &&
                (is_from || import_names(text, tokens, i, package))) {
                return true;
            }
        }
        if (tokens.empty() || tokens.back().kind == TokenKind::kEndOfFile) {
            return false;
        }
    }
}

}  // namespace sardonyx::syntax
