#include "ide/cursor.h"

#include <algorithm>
#include <initializer_list>
#include <span>

#include "syntax/lexer.h"
#include "syntax/parse.h"

namespace sardonyx::ide {
namespace {

using syntax::Token;
using syntax::TokenKind;

// The tokens of the logical line that ends at the end of the text; where a bracket was left open
// before, those from where another statement seems to begin.
std::vector<Token> last_line(const std::string& text) {
    syntax::Lexer lexer(text, syntax::skip_byte_order_mark(text), syntax::OutermostBlock::kAtMargin,
                        syntax::Limits().nesting);
    std::vector<Token> line;
    bool is_done = false;
    while (!is_done) {
        lexer.next_line();
        std::vector<Token> found;
        uint32_t first = lexer.line_break().token;
        for (size_t i = first; i < lexer.tokens().size(); ++i) {
            const Token& token = lexer.tokens()[i];
            is_done = is_done || token.kind == TokenKind::kEndOfFile;
            bool is_layout = token.kind == TokenKind::kIndent || token.kind == TokenKind::kDedent ||
                             token.kind == TokenKind::kEndOfFile;
            if (!is_layout) {
                found.push_back(token);
            }
        }
        if (!found.empty()) {
            line = std::move(found);
        }
    }
    // The lexer puts a Newline at the end; one before it ends the line that the cursor has left.
    if (!line.empty() && line.back().kind == TokenKind::kNewline) {
        bool is_left = line.back().end > line.back().begin;
        line.pop_back();
        if (is_left) {
            line.clear();
        }
    }
    return line;
}

// The names of one statement that stand before its last `=`; none where it is annotated, or begins
// with a keyword.
void add_targets(std::span<const Token> tokens, std::vector<AssignedName>& names) {
    size_t depth = 0, behind = 0;
    for (size_t i = 0; i < tokens.size(); ++i) {
        TokenKind kind = tokens[i].kind;
        bool opens = kind == TokenKind::kLeftParen || kind == TokenKind::kLeftBracket ||
                     kind == TokenKind::kLeftBrace;
        bool closes = kind == TokenKind::kRightParen || kind == TokenKind::kRightBracket ||
                      kind == TokenKind::kRightBrace;
        depth = opens ? depth + 1 : closes && depth > 0 ? depth - 1 : depth;
        if (depth == 0 && kind == TokenKind::kEqual) {
            behind = i;
        } else if (depth == 0 && kind == TokenKind::kColon) {
            break;
        }
    }
    if (behind == 0 || syntax::is_keyword(tokens[0].kind)) {
        return;
    }
    auto is_one_of = [](TokenKind kind, std::initializer_list<TokenKind> kinds) {
        return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
    };
    for (size_t i = 0; i < behind; ++i) {
        bool begins =
            i == 0 || is_one_of(tokens[i - 1].kind,
                                {TokenKind::kComma, TokenKind::kLeftParen, TokenKind::kLeftBracket,
                                 TokenKind::kStar, TokenKind::kEqual});
        bool ends = is_one_of(tokens[i + 1].kind, {TokenKind::kComma, TokenKind::kRightParen,
                                                   TokenKind::kRightBracket, TokenKind::kEqual});
        if (tokens[i].kind == TokenKind::kName && begins && ends) {
            names.push_back({tokens[i].begin, tokens.back().end});
        }
    }
}

class Reader {
  public:
    explicit Reader(const std::string& text) : text_(text), tokens_(last_line(text)) {}

    bool has(size_t from_end) const { return from_end < tokens_.size(); }
    const Token& token(size_t from_end) const { return tokens_[tokens_.size() - 1 - from_end]; }
    bool is(size_t from_end, TokenKind kind) const {
        return has(from_end) && token(from_end).kind == kind;
    }
    std::string words(size_t from_end) const {
        const Token& one = token(from_end);
        return text_.substr(one.begin, one.end - one.begin);
    }
    bool is_word(size_t from_end) const {
        return is(from_end, TokenKind::kName) ||
               (has(from_end) && syntax::is_keyword(token(from_end).kind));
    }
    size_t size() const { return tokens_.size(); }
    // The module of `from module import ...`; empty: it is no such line.
    std::string imported_module() const {
        auto import = std::find_if(tokens_.begin(), tokens_.end(),
                                   [](const Token& one) { return one.kind == TokenKind::kImport; });
        if (import == tokens_.end() || import - tokens_.begin() < 2 ||
            tokens_[0].kind != TokenKind::kFrom) {
            return {};
        }
        return text_.substr(tokens_[1].begin, (import - 1)->end - tokens_[1].begin);
    }

  private:
    const std::string& text_;
    std::vector<Token> tokens_;
};

constexpr const char* kNoNames = "()";  // behind a dot, of a call of what is not named

// The names before the dot at `dot` tokens from the end, "self.cfg" or "super()"; empty where
// something else stands there, such as the call of another function.
std::string names_before(const Reader& reader, size_t dot) {
    std::string names;
    while (true) {
        bool is_super = reader.is(dot + 1, TokenKind::kRightParen) &&
                        reader.is(dot + 2, TokenKind::kLeftParen) &&
                        reader.is(dot + 3, TokenKind::kName) && reader.words(dot + 3) == "super";
        if (is_super) {
            return names.empty() ? "super()" : "super()." + names;
        }
        if (!reader.is(dot + 1, TokenKind::kName)) {
            return {};
        }
        names.insert(0, names.empty() ? "" : ".");
        names.insert(0, reader.words(dot + 1));
        if (!reader.is(dot + 2, TokenKind::kDot)) {
            return names;
        }
        dot += 2;
    }
}

// The callee of the parenthesis at `open` tokens from the end; nothing where it calls no name.
std::optional<OpenCall> callee(const Reader& reader, size_t open) {
    bool is_definition =
        reader.is(open + 2, TokenKind::kDef) || reader.is(open + 2, TokenKind::kClass);
    if (!reader.is(open + 1, TokenKind::kName) || is_definition) {
        return std::nullopt;
    }
    OpenCall call;
    call.name = reader.words(open + 1);
    if (reader.is(open + 2, TokenKind::kDot)) {
        call.base = names_before(reader, open + 2);
        call.base = call.base.empty() ? kNoNames : call.base;
    }
    return call;
}

// The innermost call around the end of the text.
std::optional<OpenCall> open_call(const Reader& reader) {
    size_t depth = 0, commas = 0;
    std::string keyword;
    std::vector<std::string> given;
    for (size_t i = 0; i < reader.size(); ++i) {
        TokenKind kind = reader.token(i).kind;
        if (kind == TokenKind::kRightParen || kind == TokenKind::kRightBracket ||
            kind == TokenKind::kRightBrace) {
            ++depth;
        } else if (kind == TokenKind::kLeftParen || kind == TokenKind::kLeftBracket ||
                   kind == TokenKind::kLeftBrace) {
            std::optional<OpenCall> call =
                kind == TokenKind::kLeftParen ? callee(reader, i) : std::nullopt;
            if (depth == 0 && !call) {
                commas = 0;  // a list or a group within a call: the argument is the call's
                keyword.clear();
                given.clear();
                continue;
            }
            if (depth == 0) {
                call->argument = static_cast<uint32_t>(commas);
                call->keyword = keyword;
                call->given = given;
                return call;
            }
            --depth;
        } else if (depth == 0 && kind == TokenKind::kComma) {
            ++commas;
        } else if (depth == 0 && kind == TokenKind::kEqual && reader.is_word(i + 1)) {
            (commas == 0 ? keyword : given.emplace_back()) = reader.words(i + 1);
        }
    }
    return std::nullopt;
}

// The name before the innermost bracket that is open, if it is a subscript's.
std::string open_subscript(const Reader& reader) {
    size_t depth = 0;
    for (size_t i = 0; i < reader.size(); ++i) {
        TokenKind kind = reader.token(i).kind;
        bool closes = kind == TokenKind::kRightParen || kind == TokenKind::kRightBracket ||
                      kind == TokenKind::kRightBrace;
        bool opens = kind == TokenKind::kLeftParen || kind == TokenKind::kLeftBracket ||
                     kind == TokenKind::kLeftBrace;
        if (opens && depth == 0) {
            bool is_subscript =
                kind == TokenKind::kLeftBracket && reader.is(i + 1, TokenKind::kName);
            return is_subscript ? reader.words(i + 1) : std::string();
        }
        depth = closes ? depth + 1 : opens ? depth - 1 : depth;
    }
    return {};
}

bool is_name_byte(char c) {
    auto byte = static_cast<unsigned char>(c);
    return byte >= 0x80 || c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z');
}

// Whether the end of the text is behind a `#` that no token holds.
bool ends_in_comment(const std::string& text, const Reader& reader) {
    size_t begin = reader.size() == 0 ? 0 : reader.token(0).end;
    size_t hash = text.find('#', std::max(begin, text.rfind('\n') + 1));
    return hash != std::string::npos;
}

bool is_open_string(const Token& token) {
    auto error = static_cast<syntax::LexError>(token.detail);
    return token.kind == TokenKind::kError &&
           (error == syntax::LexError::kUnterminatedString ||
            error == syntax::LexError::kUnterminatedTripleString);
}

}  // namespace

std::string names_of(const OpenCall& call) {
    return call.base.empty() ? call.name : call.base + "." + call.name;
}

std::string names_of(const NameAt& at) {
    return at.is_member ? at.base + "." + at.name : at.name;
}

std::vector<AssignedName> assigned_names(std::string_view text) {
    std::string whole(text);  // which a NUL ends, as the lexer wants it
    syntax::Lexer lexer(whole, syntax::skip_byte_order_mark(whole),
                        syntax::OutermostBlock::kAtMargin, syntax::Limits().nesting);
    std::vector<AssignedName> names;
    for (bool is_done = false; !is_done;) {
        lexer.next_line();
        std::vector<Token> statement;
        for (const Token& token : lexer.tokens()) {
            is_done = is_done || token.kind == TokenKind::kEndOfFile;
            bool is_end = token.kind == TokenKind::kNewline || token.kind == TokenKind::kSemicolon;
            bool is_layout = token.kind == TokenKind::kIndent || token.kind == TokenKind::kDedent;
            if (is_end || token.kind == TokenKind::kEndOfFile) {
                add_targets(statement, names);
                statement.clear();
            } else if (!is_layout) {
                statement.push_back(token);
            }
        }
    }
    return names;
}

Cursor look_at(std::string_view text, uint32_t offset) {
    std::string before(text.substr(0, offset));
    Reader reader(before);
    Cursor cursor;
    cursor.replaced = {offset, offset};
    cursor.call = open_call(reader);
    cursor.subscript = open_subscript(reader);
    if (ends_in_comment(before, reader)) {
        cursor.is_comment = true;
        return cursor;
    }
    if (reader.size() > 0 && is_open_string(reader.token(0))) {
        size_t quote = before.find_first_of("'\"", reader.token(0).begin);
        cursor.is_string = true;
        cursor.word = quote == std::string::npos ? "" : before.substr(quote + 1);
        cursor.replaced.begin = offset - static_cast<uint32_t>(cursor.word.size());
        return cursor;
    }
    cursor.module = reader.imported_module();
    size_t behind = 0;
    if (reader.is_word(0) && reader.token(0).end == offset) {
        cursor.word = reader.words(0);
        cursor.replaced.begin = reader.token(0).begin;
        behind = 1;
    }
    cursor.is_member = reader.is(behind, TokenKind::kDot);
    if (cursor.is_member) {
        cursor.base = names_before(reader, behind);
    }
    return cursor;
}

std::optional<NameAt> name_at(std::string_view text, uint32_t offset) {
    size_t begin = std::min<size_t>(offset, text.size());
    size_t end = begin;
    while (begin > 0 && is_name_byte(text[begin - 1])) {
        --begin;
    }
    while (end < text.size() && is_name_byte(text[end])) {
        ++end;
    }
    Cursor cursor = look_at(text, static_cast<uint32_t>(end));
    if (begin == end || cursor.is_comment || cursor.is_string || cursor.word.empty()) {
        return std::nullopt;
    }
    NameAt found{cursor.replaced, cursor.word, cursor.base, cursor.is_member, false, cursor.call};
    size_t next = text.find_first_not_of(" \t", end);
    found.is_keyword = !found.is_member && found.call && next != std::string_view::npos &&
                       text[next] == '=' && text.substr(next, 2) != "==";
    return found;
}

}  // namespace sardonyx::ide
