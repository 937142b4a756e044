// Tokens other than strings: names, numbers and signs.
#include "syntax/lexer.h"

#include <array>
#include <initializer_list>

#include "syntax/characters.h"
#include "syntax/utf8.h"

namespace sardonyx::syntax {

void Lexer::read_token() {
    if (!open_.empty() &&
        (open_.back().mode == Mode::kText || open_.back().mode == Mode::kFormatSpec)) {
        read_text();
        return;
    }
    switch (character_class(*at_)) {
        case CharacterClass::kBlank:
            ++at_;
            return;
        case CharacterClass::kName:
            read_name();
            return;
        case CharacterClass::kDigit:
            read_number();
            return;
        case CharacterClass::kQuote:
            read_string(at_, 0);
            return;
        case CharacterClass::kOperator:
            read_operator();
            return;
        case CharacterClass::kComment:
            skip_comment();
            return;
        case CharacterClass::kLineBreak:
            continue_line();
            return;
        case CharacterClass::kBackslash:
            read_backslash();
            return;
        case CharacterClass::kInvalid:
            if (at_end(at_)) {
                continue_line();
            } else {
                read_invalid();
            }
            return;
    }
}

// Python reference 2.1.6, Explicit line joining.
void Lexer::read_backslash() {
    const char* next = skip_line_break(at_ + 1);
    if (next == at_ + 1 || at_end(next)) {
        add_error(LexError::kStrayBackslash, at_, at_ + 1);
        ++at_;
        return;
    }
    at_ = next;
}

void Lexer::read_invalid() {
    const char* begin = at_;
    at_ += decode_utf8({at_, static_cast<size_t>(end_ - at_)}).length;
    add_error(LexError::kInvalidCharacter, begin, at_);
}

void Lexer::read_name() {
    const char* begin = at_;
    const char* end = begin;
    unsigned char all = 0;
    for (; is_name_character(*end); ++end) {
        all |= static_cast<unsigned char>(*end);
    }
    if ((*end == '"' || *end == '\'') && end - begin <= 2) {
        uint8_t flags = 0;
        bool formatted = false;
        if (string_prefix(begin, end, &flags, &formatted)) {
            at_ = end;
            if (formatted) {
                bool triple = end[1] == *end && end[2] == *end;
                flags |= triple ? StringFlags::kTriple : 0;
                at_ += triple ? 3 : 1;
                add(TokenKind::kFStringStart, begin, at_, flags);
                open_.push_back({Mode::kText, *end, flags, offset(begin)});
                return;
            }
            read_string(begin, flags);
            return;
        }
    }
    if (all >= 0x80) {
        has_wide_names_ = true;
        end = find_non_identifier(begin, end);
        if (end == begin) {
            read_invalid();
            return;
        }
    }
    at_ = end;
    add(keyword_kind(begin, end), begin, end);
}

// --- Numbers -------------------------------------------------------------------------------------

namespace {

bool is_digit_of(char c, int base) {
    int value = c >= '0' && c <= '9'                       ? c - '0'
                : ((c | 0x20) >= 'a' && (c | 0x20) <= 'f') ? (c | 0x20) - 'a' + 10
                                                           : 99;
    return value < base;
}

// digit (["_"] digit)*; `valid` becomes false at a `_` without its digit.
const char* skip_digits(const char* at, int base, bool* valid) {
    while (is_digit_of(*at, base)) {
        ++at;
        if (*at == '_') {
            ++at;
            *valid = *valid && is_digit_of(*at, base);
        }
    }
    return at;
}

}  // namespace

// Python reference 2.4.4 to 2.4.7. at_ is at a digit, or at a dot before one.
void Lexer::read_number() {
    const char* begin = at_;
    const char* p = begin;
    bool valid = true;
    char prefix = *p == '0' ? static_cast<char>(p[1] | 0x20) : '\0';
    if (prefix == 'x' || prefix == 'o' || prefix == 'b') {
        int base = prefix == 'x' ? 16 : prefix == 'o' ? 8 : 2;
        p += p[2] == '_' ? 3 : 2;
        const char* digits = p;
        p = skip_digits(p, base, &valid);
        end_number(begin, p, valid && p != digits && !(*p >= '0' && *p <= '9'));
        return;
    }
    p = skip_digits(p, 10, &valid);
    bool leading_zero = *begin == '0';
    for (const char* digit = begin; leading_zero && digit != p; ++digit) {
        if (*digit != '0' && *digit != '_') {
            valid = valid && (*p == '.' || (*p | 0x20) == 'e' || (*p | 0x20) == 'j');
            break;
        }
    }
    if (*p == '.') {
        ++p;
        if (*p == '_') {
            valid = false;
        }
        p = skip_digits(p, 10, &valid);
    }
    if ((*p | 0x20) == 'e') {
        const char* exponent = p + 1 + (p[1] == '+' || p[1] == '-' ? 1 : 0);
        if (*exponent >= '0' && *exponent <= '9') {
            p = skip_digits(exponent, 10, &valid);
        } else if (exponent != p + 1) {
            valid = false;
            p = exponent;
        }
    }
    p += (*p | 0x20) == 'j' ? 1 : 0;
    end_number(begin, p, valid);
}

// A word may follow a number at once only if it is an operator: `1if x else 2`.
void Lexer::end_number(const char* begin, const char* digits_end, bool valid) {
    const char* word_end = skip_name(digits_end);
    at_ = digits_end;
    if (word_end != digits_end) {
        bool word = false;
        for (std::string_view keyword : {"and", "else", "for", "if", "in", "is", "not", "or"}) {
            std::string_view rest(digits_end, static_cast<size_t>(word_end - digits_end));
            word = word || rest.substr(0, keyword.size()) == keyword;
        }
        valid = valid && word;
        at_ = valid ? digits_end : word_end;
    }
    if (valid) {
        add(TokenKind::kNumber, begin, at_);
    } else {
        add_error(LexError::kInvalidNumber, begin, at_);
    }
}

// --- Operators -----------------------------------------------------------------------------------

void Lexer::read_open(TokenKind kind, char closer) {
    const char* begin = at_;
    if (open_.size() >= nesting_limit_) {
        while (!is_line_break(*at_) && !at_end(at_)) {
            ++at_;
        }
        add_error(LexError::kTooDeep, begin, begin + 1);
        add(TokenKind::kNewline, begin + 1, begin + 1);
        done_ = true;
        cut_ = !compound_;
        return;
    }
    ++at_;
    add(kind, begin, at_);
    open_.push_back({Mode::kBracket, closer, 0, offset(begin)});
}

void Lexer::read_close(TokenKind kind) {
    char closer = *at_;
    add(kind, at_, at_ + 1);
    ++at_;
    // The bracket that it closes may stand below ones that were forgotten; never across the edge of
    // an f-string.
    for (size_t i = open_.size(); i-- > 0;) {
        if (open_[i].mode != Mode::kBracket && open_[i].mode != Mode::kField) {
            return;
        }
        if (open_[i].closer == closer) {
            open_.resize(i);
            return;
        }
        if (open_[i].mode == Mode::kField) {
            break;
        }
    }
    if (!open_.empty() && open_.back().mode == Mode::kBracket) {
        open_.pop_back();  // taken for a slip of the finger
    }
}

// In a replacement field the first colon outside brackets begins the format spec.
void Lexer::read_colon() {
    bool in_field = !open_.empty() && open_.back().mode == Mode::kField;
    if (at_[1] == '=' && !in_field) {
        add(TokenKind::kColonEqual, at_, at_ + 2);
        at_ += 2;
        return;
    }
    add(TokenKind::kColon, at_, at_ + 1);
    ++at_;
    if (in_field) {
        Open field = open_.back();
        // The quote is that of the f-string around the field.
        for (size_t i = open_.size(); i-- > 0;) {
            if (open_[i].mode == Mode::kText) {
                open_.push_back({Mode::kFormatSpec, open_[i].closer, field.detail, field.begin});
                return;
            }
        }
    }
}

void Lexer::read_exclamation() {
    if (at_[1] == '=') {
        add(TokenKind::kNotEqual, at_, at_ + 2);
        at_ += 2;
    } else if (!open_.empty() && open_.back().mode == Mode::kField) {
        add(TokenKind::kExclamation, at_, at_ + 1);
        ++at_;
    } else {
        read_invalid();
    }
}

namespace {

using T = TokenKind;

// What an operator is alone, with `=`, doubled, and doubled with `=`; kEndOfFile: no such token.
struct OperatorRow {
    char sign;
    T one;
    T with_equal = T::kEndOfFile;
    T twice = T::kEndOfFile;
    T twice_with_equal = T::kEndOfFile;
};
constexpr OperatorRow kOperators[] = {
    {',', T::kComma},
    {';', T::kSemicolon},
    {'~', T::kTilde},
    {'.', T::kDot},
    {'=', T::kEqual, T::kEqualEqual},
    {'+', T::kPlus, T::kPlusEqual},
    {'-', T::kMinus, T::kMinusEqual},
    {'%', T::kPercent, T::kPercentEqual},
    {'@', T::kAt, T::kAtEqual},
    {'|', T::kPipe, T::kPipeEqual},
    {'^', T::kCaret, T::kCaretEqual},
    {'&', T::kAmpersand, T::kAmpersandEqual},
    {'*', T::kStar, T::kStarEqual, T::kDoubleStar, T::kDoubleStarEqual},
    {'/', T::kSlash, T::kSlashEqual, T::kDoubleSlash, T::kDoubleSlashEqual},
    {'<', T::kLess, T::kLessEqual, T::kLeftShift, T::kLeftShiftEqual},
    {'>', T::kGreater, T::kGreaterEqual, T::kRightShift, T::kRightShiftEqual},
};

constexpr std::array<OperatorRow, 128> make_operator_table() {
    std::array<OperatorRow, 128> table{};
    for (const OperatorRow& row : kOperators) {
        table[static_cast<size_t>(row.sign)] = row;
    }
    return table;
}
constexpr std::array<OperatorRow, 128> kOperatorTable = make_operator_table();

}  // namespace

// at_ is at one of the signs of CharacterClass::kOperator.
void Lexer::read_operator() {
    switch (*at_) {
        case '(':
            return read_open(T::kLeftParen, ')');
        case '[':
            return read_open(T::kLeftBracket, ']');
        case '{':
            return read_open(T::kLeftBrace, '}');
        case ')':
            return read_close(T::kRightParen);
        case ']':
            return read_close(T::kRightBracket);
        case '}':
            return read_close(T::kRightBrace);
        case ':':
            return read_colon();
        case '!':
            return read_exclamation();
        case '.':
            if (at_[1] >= '0' && at_[1] <= '9') {
                return read_number();
            }
            if (at_[1] == '.' && at_[2] == '.') {
                return read_sign(T::kEllipsis, 3);
            }
            break;
        case '-':
            if (at_[1] == '>') {
                return read_sign(T::kArrow, 2);
            }
            break;
        default:
            break;
    }
    const OperatorRow& row = kOperatorTable[static_cast<size_t>(*at_)];
    if (at_[1] == row.sign && row.twice != T::kEndOfFile) {
        at_[2] == '=' ? read_sign(row.twice_with_equal, 3) : read_sign(row.twice, 2);
    } else if (at_[1] == '=' && row.with_equal != T::kEndOfFile) {
        read_sign(row.with_equal, 2);
    } else {
        read_sign(row.one, 1);
    }
}

}  // namespace sardonyx::syntax
