#include "syntax/literals.h"

#include "base/decimal.h"
#include "syntax/token.h"
#include "syntax/utf8.h"

namespace sardonyx::syntax {
namespace {

int hex_value(char c) {
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    char lower = static_cast<char>(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

NumberValue integer_value(std::string_view text, uint64_t base) {
    NumberValue result;
    uint64_t value = 0;
    for (char c : text) {
        if (c == '_') {
            continue;
        }
        uint64_t digit = static_cast<uint64_t>(hex_value(c));
        if (value > (static_cast<uint64_t>(INT64_MAX) - digit) / base) {
            result.overflows = true;
            return result;
        }
        value = value * base + digit;
    }
    result.integer = static_cast<int64_t>(value);
    return result;
}

}  // namespace

std::optional<Int128> wide_integer(std::string_view text) {
    char prefix = text.size() > 1 && text[0] == '0' ? static_cast<char>(text[1] | 0x20) : '\0';
    int base = prefix == 'x' ? 16 : prefix == 'o' ? 8 : prefix == 'b' ? 2 : 10;
    Int128 value = 0;
    for (char c : text.substr(base == 10 ? 0 : 2)) {
        if (c != '_' && (__builtin_mul_overflow(value, Int128{base}, &value) ||
                         __builtin_add_overflow(value, Int128{hex_value(c)}, &value))) {
            return std::nullopt;
        }
    }
    return value;
}

NumberValue number_value(std::string_view text) {
    if (text.size() > 1 && text[0] == '0') {
        char prefix = static_cast<char>(text[1] | 0x20);
        uint64_t base = prefix == 'x' ? 16 : prefix == 'o' ? 8 : prefix == 'b' ? 2 : 0;
        if (base != 0) {
            return integer_value(text.substr(2), base);
        }
    }
    NumberValue result;
    if ((text.back() | 0x20) == 'j') {
        result.kind = ExprKind::kImaginary;
        result.real = nearest_double(text.substr(0, text.size() - 1));
        return result;
    }
    if (text.find_first_of(".eE") != std::string_view::npos) {
        result.kind = ExprKind::kFloat;
        result.real = nearest_double(text);
        return result;
    }
    return integer_value(text, 10);
}

namespace {

// The state of one decoding; one function per group of escapes.
struct Decoder {
    std::string* value;
    std::string_view body;
    uint8_t flags;
    EscapeFinding finding;
    size_t at = 0;

    bool bytes() const { return (flags & StringFlags::kBytes) != 0; }

    void note(EscapeProblem problem, size_t begin, size_t end) {
        if (finding.problem == EscapeProblem::kNone) {
            finding = {problem, begin, end};
        }
    }

    void append_code(uint32_t code) {
        if (bytes()) {
            value->push_back(static_cast<char>(code));
        } else {
            append_utf8(value, code);
        }
    }

    // at is behind the letter. As many hexadecimal digits as the escape must have.
    void hex(size_t begin, size_t digits) {
        uint32_t code = 0;
        for (size_t i = 0; i < digits; ++i, ++at) {
            int digit = at < body.size() ? hex_value(body[at]) : -1;
            if (digit < 0) {
                note(EscapeProblem::kHex, begin, at);
                return;
            }
            code = code << 4 | static_cast<uint32_t>(digit);
        }
        if (code > 0x10FFFF) {
            note(EscapeProblem::kRange, begin, at);
            return;
        }
        append_code(code);
    }

    void octal() {
        uint32_t code = 0;
        for (size_t i = 0; i < 3 && at < body.size() && body[at] >= '0' && body[at] <= '7'; ++i) {
            code = code << 3 | static_cast<uint32_t>(body[at++] - '0');
        }
        append_code(code);
    }

    // at is at the backslash.
    void escape() {
        static constexpr std::string_view kLetters = "\\'\"abfnrtv";
        static constexpr std::string_view kValues = "\\'\"\a\b\f\n\r\t\v";
        size_t begin = at++;
        char c = at < body.size() ? body[at] : '\0';
        size_t simple = kLetters.find(c);
        if (at < body.size() && simple != std::string_view::npos) {
            value->push_back(kValues[simple]);
            ++at;
        } else if (c == '\n' || c == '\r') {
            at += c == '\r' && at + 1 < body.size() && body[at + 1] == '\n' ? 2 : 1;
        } else if (c >= '0' && c <= '7') {
            octal();
        } else if (c == 'x') {
            ++at;
            hex(begin, 2);
        } else if ((c == 'u' || c == 'U') && !bytes()) {
            ++at;
            hex(begin, c == 'u' ? 4 : 8);
        } else if (c == 'N' && !bytes()) {
            size_t close = body.find('}', at);
            at = close == std::string_view::npos ? at + 1 : close + 1;
            note(EscapeProblem::kName, begin, at);
            value->append(body.substr(begin, at - begin));
        } else {
            value->push_back('\\');
        }
    }

    void character() {
        Utf8 decoded = decode_utf8(body.substr(at));
        if (bytes()) {
            note(EscapeProblem::kNotAscii, at, at + decoded.length);
        }
        if (decoded.valid) {
            value->append(body.substr(at, decoded.length));
        } else {
            note(EscapeProblem::kNotUtf8, at, at + 1);
            append_utf8(value, 0xFFFD);
        }
        at += decoded.length;
    }
};

}  // namespace

EscapeFinding append_string_value(std::string* value, std::string_view body, uint8_t flags,
                                  Braces braces) {
    Decoder decoder{value, body, flags, {}};
    const bool raw = (flags & StringFlags::kRaw) != 0;
    size_t& at = decoder.at;
    while (at < body.size()) {
        char c = body[at];
        if (c == '\\' && !raw) {
            decoder.escape();
        } else if (c == '\r') {
            value->push_back('\n');  // line breaks of the source are \n in a value
            at += at + 1 < body.size() && body[at + 1] == '\n' ? 2 : 1;
        } else if (braces == Braces::kDoubled && (c == '{' || c == '}')) {
            value->push_back(c);
            at += 2;
        } else if (static_cast<unsigned char>(c) >= 0x80) {
            decoder.character();
        } else {
            value->push_back(c);
            ++at;
        }
    }
    return decoder.finding;
}

}  // namespace sardonyx::syntax
