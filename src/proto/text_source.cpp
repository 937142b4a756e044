#include "proto/text_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/decimal.h"
#include "base/quote.h"
#include "base/screenful.h"
#include "base/stack.h"

namespace sardonyx::proto {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

int hex_digit(char c) {
    if (is_digit(c)) {
        return c - '0';
    }
    char lower = static_cast<char>(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

void TextSource::skip_space(char comment) {
    while (!at_end()) {
        char c = text_[at_];
        if (comment != '\0' && c == comment) {
            at_ = std::min(text_.find('\n', at_), text_.size());
        } else if (std::string_view(" \t\n\v\f\r").find(c) != std::string_view::npos) {
            ++at_;
        } else {
            return;
        }
    }
}

std::string_view TextSource::take_word() {
    size_t start = at_;
    auto is_letter = [&] {
        char c = peek(), lower = static_cast<char>(c | 0x20);
        return c == '_' || (lower >= 'a' && lower <= 'z');
    };
    while (is_letter() || (at_ != start && is_digit(peek()))) {
        ++at_;
    }
    return since(start);
}

std::string_view TextSource::take_decimal() {
    size_t start = at_;
    bool has_point = false, has_digit = false;
    while (is_digit(peek()) || (peek() == '.' && !has_point)) {
        has_point = has_point || peek() == '.';
        has_digit = has_digit || peek() != '.';
        ++at_;
    }
    if (!has_digit) {
        at_ = start;
        return {};
    }
    size_t end = at_;
    if ((peek() | 0x20) == 'e') {
        ++at_;
        at_ += peek() == '+' || peek() == '-' ? 1 : 0;
        if (!is_digit(peek())) {
            at_ = end;
        }
        while (is_digit(peek())) {
            ++at_;
        }
    }
    return since(start);
}

bool TextSource::fail_at(size_t place, std::string_view message) {
    if (error_.empty()) {
        std::string_view before = text_.substr(0, place);
        auto line = std::count(before.begin(), before.end(), '\n') + 1;
        size_t start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
        std::string words =
            sardonyx::quoted(screenful(message));  // what it quotes comes from the text
        error_ = fmt::format("line {}, column {}: {}", line, place - start + 1,
                             std::string_view(words).substr(1, words.size() - 2));
    }
    return false;
}

bool TextSource::descend() {
    return (++depth_ <= Document::kMaxDepth && !is_stack_low()) ||
           fail("messages are nested too deep");
}

bool integer_item(std::string_view digits, int base, bool is_negative, FieldKind kind, Item* item) {
    uint64_t value = 0;
    const char* end = digits.data() + digits.size();
    auto [stop, problem] = std::from_chars(digits.data(), end, value, base);
    if (digits.empty() || stop != end || problem != std::errc()) {
        return false;
    }
    if (kind == FieldKind::kUint64) {
        item->bits = value;
        return !is_negative || value == 0;
    }
    auto most =
        static_cast<uint64_t>(kind == FieldKind::kInt64 ? std::numeric_limits<int64_t>::max()
                                                        : std::numeric_limits<int32_t>::max());
    item->bits = is_negative ? 0 - value : value;
    return value <= most + (is_negative ? 1 : 0);
}

bool float_item(std::string_view decimal, bool is_negative, FieldKind kind, Item* item) {
    if (kind == FieldKind::kDouble) {
        double value = nearest_double(decimal);
        item->bits = bits_of(is_negative ? -value : value);
        return std::isfinite(value);
    }
    float value = nearest_float(decimal);
    item->bits = bits_of(is_negative ? -value : value);
    return std::isfinite(value);
}

bool special_float_item(std::string_view word, bool is_negative, FieldKind kind, Item* item) {
    std::string lower(word);
    for (char& c : lower) {
        c = static_cast<char>(c | 0x20);
    }
    bool is_nan = lower == "nan";
    if (!is_nan && lower != "inf" && lower != "infinity") {
        return false;
    }
    uint64_t bits = 0, sign = 0;
    if (kind == FieldKind::kDouble) {
        bits = is_nan ? 0x7FF8000000000000 : 0x7FF0000000000000;
        sign = uint64_t{1} << 63U;
    } else {
        bits = is_nan ? 0x7FC00000 : 0x7F800000;
        sign = uint64_t{1} << 31U;
    }
    item->bits = is_negative ? bits | sign : bits;
    return true;
}

std::string float_text(FieldKind kind, const Item& item) {
    bool is_double = kind == FieldKind::kDouble;
    return is_double ? fmt::format("{}", item.float64()) : fmt::format("{}", item.float32());
}

void append_utf8(uint32_t point, std::string& out) {
    auto put = [&](uint32_t byte) { out += static_cast<char>(byte); };
    if (point < 0x80) {
        put(point);
    } else if (point < 0x800) {
        put(0xC0 | (point >> 6U));
        put(0x80 | (point & 0x3FU));
    } else if (point < 0x10000) {
        put(0xE0 | (point >> 12U));
        put(0x80 | ((point >> 6U) & 0x3FU));
        put(0x80 | (point & 0x3FU));
    } else {
        put(0xF0 | (point >> 18U));
        put(0x80 | ((point >> 12U) & 0x3FU));
        put(0x80 | ((point >> 6U) & 0x3FU));
        put(0x80 | (point & 0x3FU));
    }
}

}  // namespace sardonyx::proto
