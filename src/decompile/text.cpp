#include "decompile/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "base/utf8.h"

namespace sardonyx::decompile {

Expression Expression::keyword(std::string_view name) && {
    head = fmt::format("{}={}", name, head);
    return std::move(*this);
}

namespace {

char closing(char open) {
    return open == '(' ? ')' : ']';
}

size_t flat_size(const Expression& expression) {
    size_t size = expression.head.size() + (expression.open != 0 ? 2 : 0);
    for (const Expression& item : expression.items) {
        size += flat_size(item) + 2;
    }
    return size - (expression.items.empty() ? 0 : 2);
}

void append_flat(std::string& text, const Expression& expression) {
    text += expression.head;
    if (expression.open == 0) {
        return;
    }
    text += expression.open;
    for (size_t i = 0; i < expression.items.size(); ++i) {
        text += i == 0 ? "" : ", ";
        append_flat(text, expression.items[i]);
    }
    text += closing(expression.open);
}

}  // namespace

std::string flat(const Expression& expression) {
    std::string text;
    append_flat(text, expression);
    return text;
}

void append_broken(std::string& text, size_t indent, std::string_view before,
                   const Expression& expression, std::string_view after) {
    text.append(indent, ' ');
    text += before;
    bool fits = indent + before.size() + flat_size(expression) + after.size() <= kLineLength;
    if (fits || expression.items.empty()) {
        append_flat(text, expression);
    } else {
        text += expression.head;
        text += expression.open;
        text += '\n';
        // A comma behind the only item of a subscript would make it a tuple.
        bool is_subscript =
            expression.open == '[' && !expression.head.empty() && !expression.head.ends_with('=');
        std::string_view comma = is_subscript && expression.items.size() == 1 ? "" : ",";
        for (const Expression& item : expression.items) {
            append_broken(text, indent + kIndent, "", item, comma);
            text += '\n';
        }
        text.append(indent, ' ');
        text += closing(expression.open);
    }
    text += after;
}

void append_statement(std::string& text, size_t indent, const std::vector<std::string>& targets,
                      const Expression& expression) {
    Expression left;
    for (const std::string& target : targets) {
        left.items.push_back(Expression::atom(target));
    }
    size_t most = kLineLength - std::min(kLineLength, indent + expression.head.size() + 4);
    if (targets.size() < 2) {
        append_broken(text, indent, targets.empty() ? "" : targets[0] + " = ", expression, "");
    } else if (flat_size(left) <= most) {
        std::string names;
        for (const std::string& target : targets) {
            names += (names.empty() ? "" : ", ") + target;
        }
        append_broken(text, indent, names + " = ", expression, "");
    } else {
        text.append(indent, ' ');
        text += "(\n";
        for (const std::string& target : targets) {
            text.append(indent + kIndent, ' ');
            text += target + ",\n";
        }
        std::string right;
        append_broken(right, indent, ") = ", expression, "");
        text += right;
    }
    text += '\n';
}

// --- Literals ------------------------------------------------------------------------------------

namespace {

uint32_t code_point(std::string_view sequence) {
    auto byte = [&](size_t i) { return static_cast<uint8_t>(sequence[i]); };
    uint32_t first = byte(0);
    uint32_t value = sequence.size() == 1   ? first
                     : sequence.size() == 2 ? first & 0x1FU
                     : sequence.size() == 3 ? first & 0x0FU
                                            : first & 0x07U;
    for (size_t i = 1; i < sequence.size(); ++i) {
        value = value << 6U | (byte(i) & 0x3FU);
    }
    return value;
}

// All but the printable characters of ASCII is escaped: some of the others end lines, move a
// cursor, or turn the direction of a text.
void append_escaped(std::string& literal, std::string_view sequence) {
    uint32_t code = code_point(sequence);
    if (code == '\n' || code == '\t' || code == '\r') {
        literal += code == '\n' ? "\\n" : code == '\t' ? "\\t" : "\\r";
    } else if (code == '\\') {
        literal += "\\\\";
    } else if (code >= 0x20 && code < 0x7F) {
        literal += static_cast<char>(code);
    } else if (code < 0x100) {
        literal += fmt::format("\\x{:02x}", code);
    } else {
        literal += code < 0x10000 ? fmt::format("\\u{:04x}", code) : fmt::format("\\U{:08x}", code);
    }
}

}  // namespace

Result<std::string> string_literal(std::string_view text) {
    // Double quotes unless they would need escapes that single ones do not.
    bool has_double = text.find('"') != std::string_view::npos;
    bool has_single = text.find('\'') != std::string_view::npos;
    char quote = has_double && !has_single ? '\'' : '"';
    std::string literal(1, quote);
    for (size_t i = 0; i < text.size();) {
        size_t length = utf8_sequence_length(text.substr(i));
        if (length == 0) {
            return Error{"text that is not UTF-8"};
        }
        if (text[i] == quote) {
            literal += "\\x22";
        } else {
            append_escaped(literal, text.substr(i, length));
        }
        i += length;
    }
    return literal + quote;
}

std::string bytes_literal(std::string_view bytes) {
    std::string literal = "b\"";
    for (char byte : bytes) {
        auto code = static_cast<uint8_t>(byte);
        bool is_plain = code >= 0x20 && code < 0x7F && code != '"' && code != '\\';
        is_plain ? literal.push_back(byte) : void(literal += fmt::format("\\x{:02x}", code));
    }
    return literal + '"';
}

std::string text_literal(std::string_view text) {
    Result<std::string> literal = string_literal(text);
    return literal.ok() ? std::move(*literal) : bytes_literal(text);
}

std::string comment_text(std::string_view text) {
    constexpr size_t kMost = 400;
    std::string words;
    for (size_t i = 0; i < text.size() && words.size() < kMost;) {
        size_t length = utf8_sequence_length(text.substr(i));
        if (length == 0) {
            words += fmt::format("\\x{:02x}", static_cast<uint8_t>(text[i]));
        } else {
            append_escaped(words, text.substr(i, length));
        }
        i += length == 0 ? 1 : length;
    }
    words += words.size() < kMost ? "" : " ...";
    while (!words.empty() && words.back() == ' ') {
        words.pop_back();
    }
    return words;
}

namespace {

std::string special_literal(double value) {
    std::string_view word = std::isnan(value) ? "nan" : "inf";
    return fmt::format("{}float(\"{}\")", std::signbit(value) ? "-" : "", word);
}

}  // namespace

bool is_plain_nan(double value) {
    double plain = std::copysign(std::numeric_limits<double>::quiet_NaN(), value);
    return std::bit_cast<uint64_t>(plain) == std::bit_cast<uint64_t>(value);
}

std::string with_point(std::string text) {
    return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

namespace {

// The same as float_literal() for a double.
std::string double_literal(double value) {
    return std::isfinite(value) ? with_point(fmt::format("{}", value)) : special_literal(value);
}

}  // namespace

std::string float_literal(double value) {
    if (!std::isfinite(value)) {
        return special_literal(value);
    }
    std::string text = fmt::format("{}", static_cast<float>(value));
    if (static_cast<float>(std::strtod(text.c_str(), nullptr)) != static_cast<float>(value)) {
        return double_literal(value);  // rounded twice, the short form is another number
    }
    return with_point(std::move(text));
}

namespace {

// Whether these numbers, as the compiler reads them, are the tensor.
template <typename T>
bool gives(const Tensor& tensor, const std::vector<T>& values,
           Result<Tensor> (*read)(ElementType, Dims, std::span<const T>)) {
    Result<Tensor> back = read(tensor.element_type(), tensor.dims(), values);
    return back.ok() && back->bytes().size() == tensor.bytes().size() &&
           (tensor.bytes().empty() ||
            std::memcmp(back->bytes().data(), tensor.bytes().data(), tensor.bytes().size()) == 0);
}

constexpr int64_t kMostElements = int64_t{1} << 20;

Error no_literal(const Tensor& tensor) {
    return Error{fmt::format("a tensor of {} elements of {} whose bytes no literal gives",
                             tensor.count(), name(tensor.element_type()))};
}

Result<std::vector<std::string>> integer_items(const Tensor& tensor) {
    std::vector<std::string> items;
    if (tensor.element_type() == ElementType::kUint64) {
        for (uint64_t value : tensor.elements<uint64_t>()) {
            items.push_back(fmt::to_string(value));
        }
        return items;
    }
    std::optional<std::vector<int64_t>> values = to_int64s(tensor, kMostElements);
    if (!values || !gives<int64_t>(tensor, *values, tensor_from_int64s)) {
        return no_literal(tensor);
    }
    bool is_bool = tensor.element_type() == ElementType::kBool;
    for (int64_t value : *values) {
        items.push_back(is_bool ? (value != 0 ? "True" : "False") : fmt::to_string(value));
    }
    return items;
}

// NaN and infinity, which are calls, and text that is not UTF-8.
enum class Specials : uint8_t { kTaken, kRefused };

Result<std::vector<std::string>> text_items(const Tensor& tensor, Specials specials) {
    std::vector<std::string> items;
    for (const std::string& text : tensor.elements<std::string>()) {
        if (specials == Specials::kRefused && !string_literal(text).ok()) {
            return no_literal(tensor);
        }
        items.push_back(text_literal(text));
    }
    return items;
}

Result<std::vector<std::string>> float_items(const Tensor& tensor, Specials specials) {
    std::optional<std::vector<double>> values = to_doubles(tensor, kMostElements);
    if (!values || !gives<double>(tensor, *values, tensor_from_doubles)) {
        return no_literal(tensor);
    }
    bool is_double = tensor.element_type() == ElementType::kDouble;
    std::vector<std::string> items;
    for (double value : *values) {
        bool is_refused = specials == Specials::kRefused && !std::isfinite(value);
        // Of powers of two, `make_tensor` takes those below the normal numbers of FLOAT for others.
        bool is_below = tensor.element_type() == ElementType::kFloat8E8M0 && value < FLT_MIN;
        if (is_refused || is_below || (std::isnan(value) && !is_plain_nan(value))) {
            return no_literal(tensor);
        }
        items.push_back(is_double ? double_literal(value) : float_literal(value));
    }
    return items;
}

Expression nested(const Dims& dims, size_t axis, std::vector<std::string>& items, size_t& next) {
    if (axis == dims.size()) {
        return Expression::atom(std::move(items[next++]));
    }
    std::vector<Expression> rows;
    for (int64_t i = 0; i < dims[axis]; ++i) {
        rows.push_back(nested(dims, axis + 1, items, next));
    }
    return Expression::list(std::move(rows));
}

Result<Expression> literal_of(const Tensor& tensor, Specials specials) {
    ElementClass kind = element_class(tensor.element_type());
    constexpr int kMostRank = 32;
    if (kind == ElementClass::kComplex || kind == ElementClass::kNone ||
        tensor.count() > kMostElements || tensor.rank() > kMostRank) {
        return no_literal(tensor);
    }
    Result<std::vector<std::string>> items =
        kind == ElementClass::kText       ? text_items(tensor, specials)
        : kind == ElementClass::kFloating ? float_items(tensor, specials)
                                          : integer_items(tensor);
    SDX_TRY(items);
    size_t next = 0;
    bool is_empty = tensor.count() == 0;  // its dims may say so late
    return is_empty ? Expression::list({}) : nested(tensor.dims(), 0, *items, next);
}

}  // namespace

Result<Expression> raw_tensor_literal(const Tensor& tensor) {
    if (tensor.element_type() == ElementType::kString || tensor.count() > kMostElements) {
        return no_literal(tensor);
    }
    std::span<const std::byte> bytes = tensor.bytes();
    std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return Expression::atom(bytes_literal(text));
}

Result<Expression> tensor_literal(const Tensor& tensor) {
    return literal_of(tensor, Specials::kTaken);
}

Result<Expression> plain_tensor_literal(const Tensor& tensor) {
    return literal_of(tensor, Specials::kRefused);
}

}  // namespace sardonyx::decompile
