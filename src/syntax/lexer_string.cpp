// Strings, and the text of f-strings.
#include "syntax/lexer.h"

#include <cstring>

#include "syntax/characters.h"

namespace sardonyx::syntax {

bool Lexer::string_prefix(const char* begin, const char* end, uint8_t* flags,
                          bool* formatted) const {
    bool raw = false;
    char other = 0;
    for (const char* p = begin; p != end; ++p) {
        char c = static_cast<char>(*p | 0x20);
        if (c == 'r' && !raw) {
            raw = true;
        } else if ((c == 'b' || c == 'f' || c == 'u') && other == 0) {
            other = c;
        } else {
            return false;
        }
    }
    if (raw && other == 'u') {
        return false;
    }
    *flags = (raw ? StringFlags::kRaw : 0) | (other == 'b' ? StringFlags::kBytes : 0);
    *formatted = other == 'f';
    return true;
}

// at_ is at the quote. Python reference 2.4.1, String and Bytes literals.
void Lexer::read_string(const char* begin, uint8_t flags) {
    const char quote = *at_;
    const char* p = at_ + 1;
    if (p[0] == quote && p[1] == quote) {
        p += 2;
        flags |= StringFlags::kTriple;
        for (;; ++p) {
            p = static_cast<const char*>(std::memchr(p, quote, static_cast<size_t>(end_ - p)));
            if (p == nullptr) {
                at_ = end_;
                add_error(LexError::kUnterminatedTripleString, begin, end_);
                return;
            }
            // An odd number of backslashes before the quote escapes it.
            const char* escape = p;
            while (escape[-1] == '\\') {
                --escape;
            }
            if ((p - escape) % 2 == 0 && p[1] == quote && p[2] == quote) {
                at_ = p + 3;
                add(TokenKind::kString, begin, at_, flags);
                return;
            }
        }
    }
    for (;; ++p) {
        if (*p == quote) {
            at_ = p + 1;
            add(TokenKind::kString, begin, at_, flags);
            return;
        }
        if (*p == '\\' && !at_end(p + 1)) {
            const char* next = skip_line_break(p + 1);
            p = next == p + 1 ? p + 1 : next - 1;
        } else if (is_line_break(*p) || at_end(p)) {
            at_ = p;
            add_error(LexError::kUnterminatedString, begin, p);
            return;
        }
    }
}

// Text of an f-string up to a field, the end of a format spec or the end of the string. PEP 701.
void Lexer::read_text() {
    Open top = open_.back();
    const bool spec = top.mode == Mode::kFormatSpec;
    const bool triple = (top.detail & StringFlags::kTriple) != 0;
    const char* begin = at_;
    const char* p = at_;
    auto flush = [&](const char* end) {
        if (end != begin) {
            add(TokenKind::kFStringMiddle, begin, end,
                spec ? top.detail | StringFlags::kFormatSpec : top.detail);
        }
        at_ = end;
    };
    for (;; ++p) {
        if (*p == top.closer && (!triple || (p[1] == *p && p[2] == *p))) {
            flush(p);
            if (spec) {
                open_.pop_back();  // the field that holds it is not closed: the parser says so
                if (!open_.empty()) {
                    open_.pop_back();
                }
                return;
            }
            at_ += triple ? 3 : 1;
            add(TokenKind::kFStringEnd, p, at_, top.detail);
            open_.pop_back();
            return;
        }
        if (*p == '{') {
            if (p[1] == '{' && !spec) {
                ++p;
                continue;
            }
            flush(p);
            read_open(TokenKind::kLeftBrace, '}');
            open_.back().mode = Mode::kField;
            open_.back().detail = top.detail;
            return;
        }
        if (*p == '}') {
            if (p[1] == '}' && !spec) {
                ++p;
                continue;
            }
            flush(p);
            if (spec) {
                open_.pop_back();
            }
            add(TokenKind::kRightBrace, p, p + 1);
            at_ = p + 1;
            if (spec && !open_.empty()) {
                open_.pop_back();
            }
            return;
        }
        if (*p == '\\' && !at_end(p + 1)) {
            if (p[1] == 'N' && p[2] == '{' && (top.detail & StringFlags::kRaw) == 0) {
                while (*p != '}' && *p != top.closer && !is_line_break(*p) && !at_end(p)) {
                    ++p;
                }
                p -= *p == '}' ? 0 : 1;
            } else if (p[1] != '{' && p[1] != '}') {
                const char* next = skip_line_break(p + 1);
                p = next == p + 1 ? p + 1 : next - 1;
            }
            continue;
        }
        if (at_end(p) || (!triple && is_line_break(*p))) {
            flush(p);
            add_error(triple ? LexError::kUnterminatedTripleString : LexError::kUnterminatedString,
                      text_ + top.begin, p);
            open_.pop_back();
            if (spec && !open_.empty()) {
                open_.pop_back();
            }
            return;
        }
    }
}

}  // namespace sardonyx::syntax
