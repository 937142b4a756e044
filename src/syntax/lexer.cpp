// Logical lines: indentation, brackets left open, and where a line is cut.
#include "syntax/lexer.h"

#include <algorithm>
#include <cstring>

#include "syntax/characters.h"
#include "syntax/utf8.h"

namespace sardonyx::syntax {
namespace {

// Words that stand at the beginning of statements only, so that they end any open bracket.
bool is_statement_keyword(TokenKind kind) {
    switch (kind) {
        case TokenKind::kAssert:
        case TokenKind::kBreak:
        case TokenKind::kClass:
        case TokenKind::kContinue:
        case TokenKind::kDef:
        case TokenKind::kDel:
        case TokenKind::kElif:
        case TokenKind::kExcept:
        case TokenKind::kFinally:
        case TokenKind::kGlobal:
        case TokenKind::kImport:
        case TokenKind::kNonlocal:
        case TokenKind::kPass:
        case TokenKind::kRaise:
        case TokenKind::kReturn:
        case TokenKind::kTry:
        case TokenKind::kWhile:
        case TokenKind::kWith:
            return true;
        default:
            return false;
    }
}

bool begins_compound(TokenKind kind) {
    switch (kind) {
        case TokenKind::kAsync:
        case TokenKind::kClass:
        case TokenKind::kDef:
        case TokenKind::kElif:
        case TokenKind::kElse:
        case TokenKind::kExcept:
        case TokenKind::kFinally:
        case TokenKind::kFor:
        case TokenKind::kIf:
        case TokenKind::kTry:
        case TokenKind::kWhile:
        case TokenKind::kWith:
            return true;
        default:
            return false;
    }
}

// After these an expression goes on at the next line.
bool needs_operand(TokenKind kind) {
    return (kind >= TokenKind::kComma && kind <= TokenKind::kGreaterEqual &&
            kind != TokenKind::kEllipsis) ||
           kind == TokenKind::kLeftParen || kind == TokenKind::kLeftBracket ||
           kind == TokenKind::kLeftBrace;
}

const char* skip_blanks(const char* at) {
    while (*at == ' ' || *at == '\t' || *at == '\f') {
        ++at;
    }
    return at;
}

}  // namespace

uint32_t skip_byte_order_mark(std::string_view text) {
    return text.substr(0, 3) == "\xEF\xBB\xBF" ? 3 : 0;
}

Lexer::Lexer(std::string_view text, uint32_t begin, OutermostBlock block, uint32_t nesting_limit)
    : text_(text.data()),
      end_(text.data() + text.size()),
      at_(text.data() + begin),
      nesting_limit_(nesting_limit) {
    tokens_.reserve(256);
    if (block == OutermostBlock::kAtMargin) {
        indentations_.push_back({0, 0});
    }
}

void Lexer::read_expression() {
    expression_ = true;
    tokens_.clear();
    read_tokens();
}

// --- Lines ---------------------------------------------------------------------------------------

void Lexer::next_line() {
    tokens_.clear();
    break_ = {};
    unclosed_ = kNone;
    open_.clear();
    done_ = false;
    if (!read_indentation()) {
        for (; indentations_.size() > 1; indentations_.pop_back()) {
            add(TokenKind::kDedent, end_, end_);
        }
        add(TokenKind::kEndOfFile, end_, end_);
        return;
    }
    size_t first = tokens_.size();
    read_token();
    compound_ = tokens_.size() > first && begins_compound(tokens_[first].kind);
    read_tokens();
}

// Finds the next line that is not blank, and its place among the blocks. False at the end.
// Python reference 2.1.8, Indentation.
bool Lexer::read_indentation() {
    Indentation here{0, 0};
    for (;; ++at_) {
        switch (*at_) {
            case ' ':
                ++here.column;
                ++here.characters;
                continue;
            case '\t':
                here.column = (here.column / 8 + 1) * 8;
                ++here.characters;
                continue;
            case '\n':
            case '\r':
            case '\f':
                here = {0, 0};
                continue;
            case '#':
                skip_comment();
                --at_;
                continue;
            case '\\':
                // Backslash, line break: the blanks behind it do not count.
                if (const char* next = skip_line_break(at_ + 1); next != at_ + 1) {
                    at_ = skip_blanks(next);
                    if (!is_line_break(*at_) && *at_ != '#' && !at_end(at_)) {
                        indent_to(here);
                        return true;
                    }
                    --at_;
                    continue;
                }
                break;
            default:
                break;
        }
        if (at_end(at_)) {
            return false;
        }
        indent_to(here);
        return true;
    }
}

void Lexer::indent_to(Indentation here) {
    bool follows_cut = cut_;
    cut_ = false;
    column_ = here.column;
    if (indentations_.empty()) {
        indentations_.push_back(here);
    }
    Indentation top = indentations_.back();
    if (here.column > top.column) {
        if (follows_cut) {
            return;  // these are the rest of a broken statement's lines, not a block
        }
        indentations_.push_back(here);
        add(TokenKind::kIndent, at_, at_);
        if (here.characters <= top.characters) {
            add_error(LexError::kInconsistentIndentation, at_ - here.characters, at_);
        }
        return;
    }
    while (indentations_.size() > 1 &&
           here.column <= indentations_[indentations_.size() - 2].column) {
        indentations_.pop_back();
        add(TokenKind::kDedent, at_, at_);
    }
    // Between two blocks: taken as the inner one, with a word about it.
    top = indentations_.back();
    if (here.column != top.column || here.characters != top.characters) {
        if (indentations_.size() > 1) {
            indentations_.back() = here;
        }
        add_error(LexError::kInconsistentIndentation, at_ - here.characters, at_);
    }
}

void Lexer::read_tokens() {
    while (!done_) {
        read_token();
    }
}

void Lexer::skip_comment() {
    constexpr std::string_view kMark = "# sardonyx:";
    const char* begin = at_;
    while (!is_line_break(*at_) && !at_end(at_)) {
        ++at_;
    }
    std::string_view text(begin, static_cast<size_t>(at_ - begin));
    size_t mark = text.find(kMark);
    uint32_t from = offset(begin) + static_cast<uint32_t>(mark);
    // A line that has been cut is read again.
    bool is_new = directives_.empty() || directives_.back().begin < from;
    if (mark != std::string_view::npos && is_new) {
        directives_.push_back({from, offset(at_)});
    }
}

// A line break, or the end of the file.
bool Lexer::continue_line() {
    if (at_end(at_)) {
        done_ = true;
        if (!open_.empty() && !expression_) {
            end_line_at_fault();
        } else {
            add(TokenKind::kNewline, end_, end_);
        }
        return false;
    }
    const char* line_end = at_;
    at_ = skip_line_break(at_);
    if (open_.empty() && !expression_) {
        add(TokenKind::kNewline, line_end, at_);
        done_ = true;
        return false;
    }
    const char* line_begin = at_;
    at_ = skip_blanks(at_);
    if (expression_ || is_line_break(*at_) || *at_ == '#' || at_end(at_)) {
        return true;
    }
    uint32_t column = 0;
    for (const char* p = line_begin; p != at_; ++p) {
        column = *p == '\t' ? (column / 8 + 1) * 8 : column + 1;
    }
    const char* word_end = skip_name(at_);
    TokenKind word = keyword_kind(at_, word_end);
    if (is_statement_keyword(word)) {
        if (break_.token == 0) {
            note_break(line_begin);
        }
        end_line_at_fault();
        return false;
    }
    if (looks_like_statement(at_, column) && note_break(line_begin)) {
        end_line_at_fault();
        return false;
    }
    return true;
}

// True when there is no doubt left: each of so many statements has opened one more bracket. Without
// this, a file full of open brackets would be read again from each of its lines.
bool Lexer::note_break(const char* line_begin) {
    constexpr uint32_t kEnough = 4;
    if (break_.token == 0) {
        break_ = {static_cast<uint32_t>(tokens_.size()), offset(line_begin), open_.back().begin};
        break_depth_ = open_.size();
        breaks_ = 1;
    } else if (open_.size() > break_depth_) {
        break_depth_ = open_.size();
        ++breaks_;
    }
    return breaks_ >= kEnough;
}

void Lexer::end_line_at_fault() {
    if (break_.token != 0) {
        cut_line();
        return;
    }
    add(TokenKind::kNewline, at_, at_);
    unclosed_ = open_.back().begin;
    done_ = true;
}

void Lexer::cut_line() {
    tokens_.resize(break_.token);
    uint32_t last = tokens_.back().end;
    at_ = text_ + break_.line_begin;
    add(TokenKind::kNewline, text_ + last, text_ + last);
    unclosed_ = break_.bracket;
    break_ = {};
    done_ = true;
    cut_ = !compound_;
}

// `at` is the first word of a line within brackets.
bool Lexer::looks_like_statement(const char* at, uint32_t column) const {
    TokenKind last = tokens_.back().kind;
    bool in_suite = compound_ && last == TokenKind::kColon && column > column_;
    if (column > column_ && !in_suite) {
        return false;
    }
    const char* line_end = at;
    while (!is_line_break(*line_end) && *line_end != '#' && !at_end(line_end)) {
        ++line_end;
    }
    std::string_view line(at, static_cast<size_t>(line_end - at));
    if (*at == '@') {
        return is_name_start(at[1]);
    }
    if (!is_name_start(*at)) {
        return false;
    }
    switch (keyword_kind(at, skip_name(at))) {
        case TokenKind::kIf:
        case TokenKind::kFor:
        case TokenKind::kElse:
        case TokenKind::kAsync:
            return line.find(':') != std::string_view::npos;
        case TokenKind::kFrom:
            return line.find(" import") != std::string_view::npos;
        case TokenKind::kAnd:
        case TokenKind::kOr:
        case TokenKind::kIn:
        case TokenKind::kIs:
        case TokenKind::kAs:
            return false;
        default:
            break;
    }
    // `name =`, `a, b =`, `x.y[0] =`: names, commas, dots and subscripts up to the sign.
    size_t sign = line.find('=');
    size_t other = line.find_first_of("(\"'{");
    bool assignment = sign != std::string_view::npos && sign < other && sign + 1 < line.size() &&
                      line[sign + 1] != '=' && std::strchr("!<>=", line[sign - 1]) == nullptr;
    return assignment || in_suite || !needs_operand(last);
}

}  // namespace sardonyx::syntax
