// The cursor, and what is said when it stands at the wrong thing.
#include "syntax/parser.h"

#include "base/nearest.h"

namespace sardonyx::syntax {
namespace {

using T = TokenKind;

struct LexErrorRow {
    const diagnostics::Kind& kind;
    std::string_view message;
    std::string_view help;
};

// In the order of LexError.
constexpr LexErrorRow kLexErrors[] = {
    {kInvalidCharacter, "this character has no meaning in Python",
     "remove it, or replace it by the ASCII character that is meant"},
    {kUnterminatedString, "this string is not closed on its line",
     "write the closing quote, or use triple quotes for text of several lines"},
    {kUnterminatedString, "this triple-quoted string is never closed",
     "write the three closing quotes"},
    {kInvalidNumber, "not a number",
     "write digits, with single `_` between them if at all; octal numbers are `0o17`"},
    {kInvalidCharacter, "a backslash continues a line only at its very end",
     "remove what follows the backslash, or the backslash"},
    {kInconsistentIndentation, "the indentation matches no block around it",
     "indent this line like the other lines of its block, with spaces only"},
    {kNestedTooDeeply, "too many brackets inside one another",
     "give the inner parts names in statements of their own"},
};

bool is_opener(T kind) {
    return kind == T::kLeftParen || kind == T::kLeftBracket || kind == T::kLeftBrace;
}

bool is_closer(T kind) {
    return kind == T::kRightParen || kind == T::kRightBracket || kind == T::kRightBrace;
}

T closer_of(T opener) {
    return opener == T::kLeftParen     ? T::kRightParen
           : opener == T::kLeftBracket ? T::kRightBracket
                                       : T::kRightBrace;
}

}  // namespace

Parser::Parser(Tree& tree, std::string_view text, uint32_t begin, OutermostBlock block,
               diagnostics::Diagnostics& diagnostics, const Limits& limits)
    : tree_(tree),
      text_(text),
      diagnostics_(diagnostics),
      limits_(limits),
      lexer_(text, begin, block, limits.nesting) {}

void Parser::next_line() {
    lexer_.next_line();
    token_ = lexer_.tokens().data();
    last_ = &lexer_.tokens().back();
}

// expression EOF; line breaks do not count.
const Expr* Parser::annotation(Range at) {
    in_annotation_ = true;
    annotation_at_ = at;
    lexer_.read_expression();
    token_ = lexer_.tokens().data();
    last_ = &lexer_.tokens().back();
    const Expr* made = star_expressions();
    if (!this->at(T::kNewline) && !fail_lexical()) {
        expected(kUnexpectedToken, "the end of the annotation", "write one type in the string");
    }
    return failed_ ? error_expr() : made;
}

// --- Errors --------------------------------------------------------------------------------------

// Null when this logical line has an error already.
diagnostics::Diagnostic* Parser::report(const diagnostics::Kind& kind, Range range,
                                        std::string words) {
    if (failed_) {
        return nullptr;
    }
    return &diagnostics_.report(kind, tree_.span(place(range)), std::move(words));
}

// As report; and the rest of the logical line is given up.
diagnostics::Diagnostic* Parser::fail(const diagnostics::Kind& kind, Range range,
                                      std::string words) {
    if (failed_ || fail_at_break()) {
        return nullptr;
    }
    diagnostics::Diagnostic* added = report(kind, range, std::move(words));
    failed_ = true;
    recover();
    return added;
}

std::string_view Parser::opener_text(uint32_t opened) const {
    std::string_view bracket = text(opened, opened + 1);
    return bracket.find_first_of("([{") == 0 ? bracket : "{";  // a field of an f-string
}

// A finding at brackets that begin at `opened`: their closer belongs in the place of `range`.
void Parser::fail_bracket(const diagnostics::Kind& kind, Range range, std::string words,
                          uint32_t opened) {
    std::string_view bracket = opener_text(opened);
    std::string closer = bracket == "(" ? ")" : bracket == "[" ? "]" : "}";
    if (auto* added = report(kind, range, std::move(words))) {
        added->label(tree_.span(place({opened, opened + 1})), "opened here");
        added->with_help("write `" + closer + "`");
        if (!in_annotation_) {
            added->edit(tree_.span(range), closer);
        }
    }
    failed_ = true;
    recover();
}

void Parser::fail_unclosed(uint32_t opened, uint32_t end) {
    std::string words = "`" + std::string(opener_text(opened)) + "` is never closed";
    fail_bracket(kUnclosedBracket, {end, end}, std::move(words), opened);
}

// An error in lines that look like other statements, swallowed by an open bracket: the bracket is
// the error.
bool Parser::fail_at_break() {
    Lexer::Break line_break = lexer_.line_break();
    const std::vector<Token>& tokens = lexer_.tokens();
    if (line_break.token == 0 || token_ < tokens.data() + line_break.token) {
        return false;
    }
    end_ = tokens[line_break.token - 1].end;
    lexer_.cut_line();
    last_ = &tokens.back();
    if (text(line_break.bracket, line_break.bracket + 1).find_first_of("([{") == 0) {
        fail_unclosed(line_break.bracket, end_);
        return true;
    }
    recover();
    return false;
}

// The end of a line that ends within brackets. After `(a +` it is rather an operand that lacks.
bool Parser::fail_at_cut() {
    uint32_t opened = lexer_.unclosed();
    if (!at(T::kNewline) || opened == Lexer::kNone || token_ == lexer_.tokens().data()) {
        return false;
    }
    T last = token_[-1].kind;
    if (is_opener(last) || last == T::kComma || last == T::kColon) {
        fail_unclosed(opened, end_);
        return true;
    }
    return false;
}

bool Parser::fail_lexical() {
    if (!at(T::kError)) {
        return false;
    }
    const LexErrorRow& row = kLexErrors[token_->detail];
    Range where = range();
    if (token_->detail == static_cast<uint8_t>(LexError::kUnterminatedTripleString) ||
        token_->detail == static_cast<uint8_t>(LexError::kUnterminatedString)) {
        where.end = where.begin + 1;
        while (where.end < token_->end && text_[where.end - 1] != '"' &&
               text_[where.end - 1] != '\'') {
            ++where.end;
        }
    }
    if (auto* added = fail(row.kind, where, std::string(row.message))) {
        added->with_help(std::string(row.help));
    }
    return true;
}

void Parser::report_indentation() {
    const LexErrorRow& row = kLexErrors[token_->detail];
    failed_ = false;
    if (auto* added = report(row.kind, range(), std::string(row.message))) {
        added->with_help(std::string(row.help));
    }
}

void Parser::too_deep() {
    if (auto* added = fail(kNestedTooDeeply, shown(), "too many levels inside one another")) {
        added->with_help("give the inner parts names in statements of their own");
    }
}

// What a message marks: the token, or the place behind the last one at the end of a line.
Range Parser::shown() const {
    if (at(T::kNewline) || at(T::kEndOfFile)) {
        return {end_, end_};
    }
    return range();
}

std::string Parser::found() const {
    constexpr uint32_t kLongest = 40;
    if (at(T::kNewline) || at(T::kEndOfFile)) {
        return "the end of the line";
    }
    if (at(T::kName) || at(T::kNumber)) {
        if (token_->end - token_->begin <= kLongest) {
            return "`" + std::string(text(token_->begin, token_->end)) + "`";
        }
    }
    return std::string(token_description(kind()));
}

void Parser::expected(const diagnostics::Kind& kind, std::string_view what, std::string_view help) {
    if (failed_ || fail_lexical() || fail_at_cut()) {
        return;
    }
    if (at(T::kEqual)) {
        if (auto* added = fail(kAssignmentInExpression, range(),
                               "`=` assigns, which an expression cannot do")) {
            added->with_help("write `==` to compare, or `:=` to assign within an expression");
        }
        return;
    }
    if (auto* added = fail(kind, shown(), "expected " + std::string(what) + ", found " + found())) {
        added->with_help(std::string(help));
    }
}

bool Parser::expect(TokenKind kind, std::string_view help) {
    if (accept(kind)) {
        return true;
    }
    expected(kExpectedToken, token_description(kind), help);
    return false;
}

// Whether this closer fits the bracket around the one at `opened`.
bool Parser::closes_around(uint32_t opened) const {
    const Token* first = lexer_.tokens().data();
    const Token* token = token_;
    while (token != first && token->begin > opened) {
        --token;
    }
    for (int depth = 0; token != first;) {
        --token;
        if (is_closer(token->kind)) {
            ++depth;
        } else if (is_opener(token->kind) && depth-- == 0) {
            return closer_of(token->kind) == kind();
        }
    }
    return false;
}

// `items` is what commas separate here; empty if nothing.
bool Parser::expect_close(TokenKind closer, uint32_t opened, std::string_view items) {
    if (accept(closer)) {
        return true;
    }
    if (failed_ || fail_lexical() || fail_at_break()) {
        return false;
    }
    if (at(T::kNewline) || (is_closer(kind()) && closes_around(opened))) {
        fail_unclosed(opened, end_);
        return false;
    }
    if (is_closer(kind())) {
        std::string words = found() + " does not close `" + std::string(opener_text(opened)) + "`";
        fail_bracket(kUnmatchedBracket, range(), std::move(words), opened);
        return false;
    }
    std::string what(token_description(closer));
    if (!items.empty() && begins_expression()) {
        if (auto* added =
                fail(kExpectedToken, shown(), "expected `,` or " + what + ", found " + found())) {
            added->label(tree_.span(place({opened, opened + 1})), "in these brackets");
            added->with_help("write `,` between the " + std::string(items) +
                             ", or close the brackets before");
        }
        return false;
    }
    if (at(T::kEqual)) {
        expected(kExpectedToken, what, "");
    } else if (auto* added =
                   fail(kExpectedToken, shown(), "expected " + what + ", found " + found())) {
        added->label(tree_.span(place({opened, opened + 1})), "opened here");
        added->with_help("write " + what);
    }
    return false;
}

void Parser::unexpected_after_statement(const Stmt* statement) {
    static constexpr std::string_view kWords[] = {
        "return", "if",   "for",    "while", "def",   "import", "from",  "class", "with",
        "elif",   "else", "assert", "del",   "raise", "global", "async", "await", "lambda"};
    if (failed_ || fail_lexical()) {
        return;
    }
    if (is_closer(kind())) {
        if (auto* added = fail(kUnmatchedBracket, range(), found() + " closes nothing")) {
            added->with_help("remove it, or write the bracket that it closes");
        }
        return;
    }
    std::string help = "begin a new line before it";
    const ExprStmt* expression = maybe_as<ExprStmt>(statement);
    const NameExpr* name = expression != nullptr ? maybe_as<NameExpr>(expression->value) : nullptr;
    if (name != nullptr) {
        std::string_view word = tree_.names.text(name->name);
        std::string_view meant = nearest(word, kWords);
        if (word == "print") {
            help = "write `print(...)`";
        } else if (!meant.empty()) {
            help = "write `" + std::string(meant) + "` instead of `" + std::string(word) + "`";
        } else {
            help = "write an operator between the two, or begin a new line";
        }
    }
    if (auto* added = fail(kUnexpectedToken, shown(),
                           "expected the end of the statement, found " + found())) {
        added->with_help(help);
    }
}

const Expr* Parser::error_expr() {
    return make<ErrorExpr>(shown());
}

}  // namespace sardonyx::syntax
