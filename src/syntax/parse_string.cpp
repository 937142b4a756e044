// Strings: adjacent literals are joined, f-strings become parts.
#include <cstring>

#include "syntax/literals.h"
#include "syntax/parser.h"

namespace sardonyx::syntax {
namespace {

using T = TokenKind;

// A value that equals its source: nothing escaped, no line break, ASCII.
bool is_plain(std::string_view body) {
    for (char c : body) {
        if (c == '\\' || c == '\r' || static_cast<unsigned char>(c) >= 0x80) {
            return false;
        }
    }
    return true;
}

struct Body {
    uint32_t begin, end;  // offsets between the quotes
};

Body body_of(const Token& token, std::string_view source) {
    uint32_t begin = token.begin;
    while (source[begin] != '"' && source[begin] != '\'') {
        ++begin;
    }
    uint32_t quotes = (token.detail & StringFlags::kTriple) != 0 ? 3 : 1;
    return {begin + quotes, token.end - quotes};
}

}  // namespace

// strings: (fstring | STRING)+
const Expr* Parser::strings() {
    uint32_t begin = token_->begin;
    if (at(T::kString) && peek() != T::kString && peek() != T::kFStringStart) {
        Body body = body_of(*token_, text_);
        std::string_view source = text(body.begin, body.end);
        if (is_plain(source)) {
            bool bytes = (token_->detail & StringFlags::kBytes) != 0;
            advance();
            std::string_view value = tree_.arena.copy_text(source);
            if (bytes) {
                return make<BytesExpr>(since(begin), value);
            }
            return make<StringExpr>(since(begin), value);
        }
    }
    std::string pending;
    List<FStringPart> parts(parts_);
    bool bytes = false;
    bool formatted = false;
    for (bool first = true; at(T::kString) || at(T::kFStringStart); first = false) {
        bool is_bytes = at(T::kString) && (token_->detail & StringFlags::kBytes) != 0;
        if (!first && is_bytes != bytes && !failed_) {
            if (auto* added = report(kInvalidString, range(), "bytes cannot be joined to text")) {
                added->with_help("give the prefix `b` to both, or to neither");
            }
        }
        bytes = first ? is_bytes : bytes && is_bytes;
        if (at(T::kFStringStart)) {
            formatted = true;
            fstring(&pending, parts);
            continue;
        }
        Body body = body_of(*token_, text_);
        escape_problem(append_string_value(&pending, text(body.begin, body.end), token_->detail,
                                           Braces::kPlain),
                       body.begin);
        advance();
    }
    if (formatted) {
        flush_text(&pending, parts);
        return make<FStringExpr>(since(begin), copy(parts));
    }
    std::string_view value = tree_.arena.copy_text(pending);
    if (bytes) {
        return make<BytesExpr>(since(begin), value);
    }
    return make<StringExpr>(since(begin), value);
}

// fstring: FSTRING_START fstring_middle* FSTRING_END
// Text goes to `pending` until a field or the end, since it joins that of neighbouring literals.
void Parser::fstring(std::string* pending, List<FStringPart>& parts) {
    advance();
    while (!failed_) {
        if (at(T::kFStringMiddle)) {
            fstring_text(pending);
        } else if (at(T::kLeftBrace)) {
            fstring_field(pending, parts);
        } else if (at(T::kRightBrace)) {
            if (auto* added = fail(kInvalidFString, range(), "a single `}` in an f-string")) {
                added->with_help("write `}}` for the character");
            }
        } else if (accept(T::kFStringEnd)) {
            return;
        } else {
            expected(kInvalidFString, "the end of the f-string",
                     "close it with the quote that began it");
        }
    }
}

void Parser::fstring_text(std::string* pending) {
    bool is_spec = (token_->detail & StringFlags::kFormatSpec) != 0;
    Braces braces = is_spec ? Braces::kPlain : Braces::kDoubled;
    escape_problem(
        append_string_value(pending, text(token_->begin, token_->end), token_->detail, braces),
        token_->begin);
    advance();
}

void Parser::flush_text(std::string* pending, List<FStringPart>& parts) {
    if (!pending->empty()) {
        parts.push({tree_.arena.copy_text(*pending), nullptr, 0, nullptr});
        pending->clear();
    }
}

// fstring_replacement_field: '{' (yield_expr | star_expressions) ['='] ['!' NAME]
//                            [':' fstring_format_spec*] '}'
void Parser::fstring_field(std::string* pending, List<FStringPart>& parts) {
    Nesting nesting(*this);
    if (!nesting) {
        return;
    }
    Range opened = range();
    advance();
    if (at(T::kRightBrace) || at(T::kExclamation) || at(T::kColon) || at(T::kEqual)) {
        if (auto* added = fail(kInvalidFString, range(), "the braces contain no expression")) {
            added->with_help("write a value between `{` and `}`, or `{{` for the character");
        }
        return;
    }
    FStringPart part;
    part.expr = at(T::kYield) ? yield_expr() : star_expressions();
    bool debug = at(T::kEqual) && !failed_;
    if (debug) {
        advance();
        debug_text(pending, opened.end, token_->begin);
    }
    if (accept(T::kExclamation)) {
        std::string_view word = at(T::kName) ? text(token_->begin, token_->end) : "";
        if (word == "s" || word == "r" || word == "a") {
            part.conversion = word[0];
            advance();
        } else if (auto* added = fail(kInvalidFString, shown(), "not a conversion")) {
            added->with_help("write `!s`, `!r` or `!a`");
        }
    }
    if (at(T::kColon)) {
        part.format = format_spec();
    }
    if (debug && part.conversion == 0 && part.format == nullptr) {
        part.conversion = 'r';
    }
    flush_text(pending, parts);
    parts.push(part);
    if (!accept(T::kRightBrace) && !failed_) {
        if (auto* added = fail(kInvalidFString, shown(), "expected `}`, found " + found())) {
            added->label(tree_.span(opened), "this field of the f-string is not closed");
            added->with_help("write `}`, or `{{` for the character");
        }
    }
}

// `{x = }` shows its own source: all between the brace and what follows the sign.
void Parser::debug_text(std::string* pending, uint32_t begin, uint32_t end) {
    append_string_value(pending, text(begin, end), StringFlags::kRaw, Braces::kPlain);
}

// fstring_format_spec: FSTRING_MIDDLE | fstring_replacement_field
const FStringExpr* Parser::format_spec() {
    uint32_t begin = token_->end;
    advance();
    std::string pending;
    List<FStringPart> parts(parts_);
    while (!failed_) {
        if (at(T::kFStringMiddle)) {
            fstring_text(&pending);
        } else if (at(T::kLeftBrace)) {
            fstring_field(&pending, parts);
        } else {
            break;
        }
    }
    flush_text(&pending, parts);
    return make<FStringExpr>(since(begin), copy(parts));
}

void Parser::escape_problem(const EscapeFinding& finding, uint32_t body_begin) {
    if (finding.problem == EscapeProblem::kNone) {
        return;
    }
    Range where{body_begin + static_cast<uint32_t>(finding.begin),
                body_begin + static_cast<uint32_t>(finding.end)};
    switch (finding.problem) {
        case EscapeProblem::kNone:
        case EscapeProblem::kNotUtf8:  // said of the whole file
            return;
        case EscapeProblem::kHex:
            if (auto* added = report(kInvalidString, where, "digits are missing in this escape")) {
                added->with_help(
                    "write `\\xhh`, `\\uhhhh` or `\\Uhhhhhhhh`, or `\\\\` for a "
                    "backslash");
            }
            return;
        case EscapeProblem::kRange:
            if (auto* added = report(kInvalidString, where, "there is no such character")) {
                added->with_help("the last one is `\\U0010ffff`");
            }
            return;
        case EscapeProblem::kName:
            if (auto* added = report(kUnicodeName, where,
                                     "characters are not looked up by name; the text stays as it "
                                     "is written")) {
                added->with_help("write the character itself, or `\\uhhhh`");
            }
            return;
        case EscapeProblem::kNotAscii:
            if (auto* added =
                    report(kInvalidString, where, "bytes can only hold ASCII characters")) {
                added->with_help("write `\\xhh`, or remove the prefix `b`");
            }
            return;
    }
}

}  // namespace sardonyx::syntax
