// The values of literals.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/int128.h"
#include "syntax/tree.h"

namespace sardonyx::syntax {

struct NumberValue {
    ExprKind kind = ExprKind::kInt;  // kInt, kFloat or kImaginary
    int64_t integer = 0;
    bool overflows = false;  // of an integer
    double real = 0;
};

// `text` is a Number token: its form is right. Python reference 2.4.4.
NumberValue number_value(std::string_view text);
// An integer literal of any base; nothing past 128 bits.
std::optional<Int128> wide_integer(std::string_view text);

enum class EscapeProblem : uint8_t {
    kNone,
    kHex,       // \x, \u or \U without its digits
    kRange,     // \U beyond U+10FFFF
    kName,      // \N{...}: the database of names is not here, and the text is kept as written
    kNotAscii,  // in bytes
    kNotUtf8,   // a byte of the source; the value has U+FFFD
};

struct EscapeFinding {
    EscapeProblem problem = EscapeProblem::kNone;
    size_t begin = 0;  // offsets into the body
    size_t end = 0;
};

enum class Braces : uint8_t { kPlain, kDoubled };

// Appends the value of the text between the quotes; the first problem is returned. `flags` are
// StringFlags. kDoubled: {{ and }} are one brace each. Python reference 2.4.1.1.
EscapeFinding append_string_value(std::string* value, std::string_view body, uint8_t flags,
                                  Braces braces);

}  // namespace sardonyx::syntax
