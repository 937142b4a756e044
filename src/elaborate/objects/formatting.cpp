// Formatting by a specification, as format(), f-strings and `%` do it.

#include "elaborate/objects/formatting.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "elaborate/objects/context.h"
#include "elaborate/objects/statics.h"

namespace sardonyx::elaborate {

using syntax::Range;

size_t count_code_points(std::string_view text) {
    return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char ch) {
        return (static_cast<unsigned char>(ch) & 0xC0) != 0x80;
    }));
}

namespace {

class SpecReader {
  public:
    explicit SpecReader(std::string_view text) : text_(text) {}

    std::optional<FormatSpec> read() {
        FormatSpec spec;
        size_t fill = 1;
        while (fill < text_.size() && (static_cast<unsigned char>(text_[fill]) & 0xC0) == 0x80) {
            ++fill;
        }
        if (fill < text_.size() && is_align(text_[fill])) {
            spec.fill = std::string(text_.substr(0, fill));
            spec.align = text_[fill];
            at_ = fill + 1;
        } else if (!text_.empty() && is_align(text_[0])) {
            spec.align = text_[0];
            at_ = 1;
        }
        if (is_one_of("+- ")) {
            spec.sign = text_[at_++];
        }
        spec.alternate = skip('#');
        spec.zero = skip('0');
        std::optional<size_t> width = number(0);
        if (is_one_of(",_")) {
            spec.grouping = text_[at_++];
        }
        std::optional<size_t> precision = skip('.') ? number(SIZE_MAX) : std::optional<size_t>(0);
        bool has_precision = at_ > 0 && text_.find('.') != std::string_view::npos;
        if (at_ < text_.size()) {
            spec.type = text_[at_++];
        }
        if (!width || !precision || at_ != text_.size()) {
            return std::nullopt;
        }
        spec.width = *width;
        spec.precision = has_precision ? static_cast<int>(*precision) : -1;
        return spec;
    }

  private:
    static bool is_align(char ch) { return ch == '<' || ch == '>' || ch == '^' || ch == '='; }
    bool is_one_of(std::string_view set) const {
        return at_ < text_.size() && set.find(text_[at_]) != std::string_view::npos;
    }
    bool skip(char ch) {
        bool found = at_ < text_.size() && text_[at_] == ch;
        at_ += found ? 1 : 0;
        return found;
    }
    // Nothing: too large, or missing where `otherwise` is SIZE_MAX.
    std::optional<size_t> number(size_t otherwise) {
        size_t value = 0, begin = at_;
        while (is_one_of("0123456789")) {
            value = value * 10 + static_cast<size_t>(text_[at_++] - '0');
            if (value > kMostWidth) {
                return std::nullopt;
            }
        }
        if (at_ == begin) {
            return otherwise == SIZE_MAX ? std::nullopt : std::optional<size_t>(otherwise);
        }
        return value;
    }

    std::string_view text_;
    size_t at_ = 0;
};

// Separators every `every` digits before the point.
std::string grouped(const std::string& digits, char separator, size_t every) {
    size_t whole = std::min(digits.find_first_not_of("0123456789abcdefABCDEF"), digits.size());
    std::string result;
    for (size_t i = 0; i < whole; ++i) {
        if (i > 0 && (whole - i) % every == 0) {
            result += separator;
        }
        result += digits[i];
    }
    return result + digits.substr(whole);
}

}  // namespace

std::string padded(const FormatSpec& spec, const std::string& prefix, const std::string& body,
                   char default_align) {
    size_t length = count_code_points(prefix) + count_code_points(body);
    std::string text = prefix + body;
    if (length >= spec.width) {
        return text;
    }
    char align = spec.align != 0 ? spec.align : spec.zero ? '=' : default_align;
    std::string fill = spec.align == 0 && spec.zero ? "0" : spec.fill;
    size_t missing = spec.width - length;
    size_t left = align == '>' || align == '=' ? missing : align == '^' ? missing / 2 : 0;
    std::string before, after;
    for (size_t i = 0; i < missing; ++i) {
        (i < left ? before : after) += fill;
    }
    return align == '=' ? prefix + before + body : before + text + after;
}

namespace {

std::string sign_of(const FormatSpec& spec, bool negative) {
    return negative ? "-" : spec.sign == '-' ? "" : std::string(1, spec.sign);
}

std::string in_base(uint64_t value, unsigned base, bool upper) {
    const char* symbols = upper ? "0123456789ABCDEF" : "0123456789abcdef";
    std::string digits;
    do {
        digits += symbols[value % base];
        value /= base;
    } while (value != 0);
    std::reverse(digits.begin(), digits.end());
    return digits;
}

std::string format_integer(const FormatSpec& spec, int64_t value) {
    unsigned base = spec.type == 'b'                       ? 2
                    : spec.type == 'o'                     ? 8
                    : spec.type == 'x' || spec.type == 'X' ? 16
                                                           : 10;
    bool negative = value < 0;
    uint64_t size =
        negative ? uint64_t{0} - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
    std::string digits = in_base(size, base, spec.type == 'X');
    if (spec.grouping != 0) {
        digits = grouped(digits, spec.grouping, base == 10 ? 3 : 4);
    }
    std::string prefix = sign_of(spec, negative);
    if (spec.alternate && base != 10) {
        prefix += std::string("0") + spec.type;
    }
    return padded(spec, prefix, digits, '>');
}

std::string printed(double value, int precision, char type) {
    std::array<char, 8> form{'%', '.', '*', type, 0};
    int size = std::snprintf(nullptr, 0, form.data(), precision, value);
    std::string text(static_cast<size_t>(size) + 1, 0);
    std::snprintf(text.data(), text.size(), form.data(), precision, value);
    text.pop_back();
    return text;
}

std::string format_real(const FormatSpec& spec, double value) {
    char type = spec.type;
    bool negative = std::signbit(value) && !std::isnan(value);
    double size = std::fabs(value);
    std::string digits;
    if (!std::isfinite(value)) {
        digits = std::isnan(value) ? "nan" : "inf";
        if (type == 'F' || type == 'E' || type == 'G') {
            std::transform(digits.begin(), digits.end(), digits.begin(),
                           [](char ch) { return static_cast<char>(std::toupper(ch)); });
        }
    } else if (type == 0 && spec.precision < 0) {
        digits = repr(Object::real(size));
    } else if (type == '%') {
        digits = printed(size * 100, spec.precision < 0 ? 6 : spec.precision, 'f') + "%";
    } else if (type == 0) {
        digits = printed(size, std::max(spec.precision, 1), 'g');
        if (digits.find_first_of(".e") == std::string::npos) {
            digits += ".0";
        }
    } else {
        digits = printed(size, spec.precision < 0 ? 6 : spec.precision, type);
    }
    if (spec.grouping != 0) {
        digits = grouped(digits, spec.grouping, 3);
    }
    return padded(spec, sign_of(spec, negative), digits, '>');
}

// The first code points of a text.
std::string shortened(const std::string& text, int most) {
    size_t end = 0;
    for (int left = most; end < text.size(); ++end) {
        bool begins = (static_cast<unsigned char>(text[end]) & 0xC0) != 0x80;
        if (begins && left-- == 0) {
            break;
        }
    }
    return text.substr(0, end);
}

}  // namespace

Object format_object(Context& c, const Object& object, std::string_view spec_text, Range range) {
    if (spec_text.empty()) {
        return Object::string(object.is(ObjectKind::kString) ? object.text() : repr(object));
    }
    std::optional<FormatSpec> spec = SpecReader(spec_text).read();
    auto is_type = [&spec](std::string_view types) {
        return spec->type == 0 || types.find(spec->type) != std::string_view::npos;
    };
    if (spec && object.is(ObjectKind::kString) && is_type("s") && spec->align != '=' &&
        spec->grouping == 0 && spec->sign == '-') {
        const std::string& text = object.text();
        return Object::string(
            padded(*spec, "", spec->precision < 0 ? text : shortened(text, spec->precision), '<'));
    }
    if (spec && object.is(ObjectKind::kWideInt) && is_type("dboxX")) {
        return refuse(c, range, "an int past 64 bits with a format", "use `str(...)`");
    }
    if (spec && object.is_integer() && is_type("dboxX") && spec->precision < 0) {
        return Object::string(format_integer(*spec, object.as_int()));
    }
    if (spec && object.is_number() && is_type("eEfFgG%")) {
        return Object::string(format_real(*spec, object.as_double()));
    }
    return refuse(c, range,
                  fmt::format("{} with the format {}", kind_name(object),
                              repr(Object::string(std::string(spec_text)))),
                  "see Python's format specification mini-language");
}

namespace {

// One conversion of `%`; the flags, width and precision are those of a format specification but for
// the alignment.
Object convert_percent(Context& c, char type, std::string_view flags, std::string_view width,
                       const Object& given, Range range) {
    auto has = [flags](char flag) { return flags.find(flag) != std::string_view::npos; };
    Object value = given;
    if (type == 's' || type == 'r' || type == 'a') {
        bool is_text = type == 's' && value.is(ObjectKind::kString);
        value = is_text ? value : Object::string(repr(value));
        type = 's';
    } else if (type == 'd' || type == 'i' || type == 'u') {
        bool is_whole = value.is_number() && std::fabs(value.as_double()) < 9.2e18;
        value = value.is_integer() || !is_whole
                    ? value
                    : Object::integer(static_cast<int64_t>(value.as_double()));
        type = 'd';
    }
    bool fits = std::string_view("xXo").find(type) != std::string_view::npos ? value.is_integer()
                : type == 's'                                                ? true
                                                                             : value.is_number();
    if (!fits) {
        return refuse(c, range, fmt::format("`%{}` of {}", type, kind_name(given)));
    }
    std::string spec(has('-') ? "<" : has('0') && type != 's' ? "=" : ">");
    if (has('0') && !has('-') && type != 's') {
        spec = "0=";
    }
    spec += type == 's' ? "" : has('+') ? "+" : has(' ') ? " " : "";
    spec += has('#') ? "#" : "";
    if (type == 'd' && width.find('.') != std::string_view::npos) {
        return refuse(c, range, "a precision of `%d`", "use `0` and a width");
    }
    spec += std::string(width) + type;
    return format_object(c, value, spec, range);
}

}  // namespace

Object format_percent(Context& c, const std::string& text, const Object& values, Range range) {
    std::vector<Object> items{values};
    if (values.is(ObjectKind::kTuple)) {
        items = std::vector<Object>(values.items());
    }
    std::string result;
    size_t next = 0;
    for (size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            result += text[i];
            continue;
        }
        size_t flags = i + 1, width = text.find_first_not_of("-+ #0", flags);
        size_t end = text.find_first_not_of("0123456789.", width);
        if (end == std::string::npos) {
            return refuse(c, range, "an incomplete format after `%`");
        }
        char type = text[end];
        i = end;
        if (type == '%') {
            result += '%';
            continue;
        }
        if (std::string_view("sradiuxXoeEfFgG").find(type) == std::string_view::npos) {
            return refuse(c, range, fmt::format("the format `%{}`", type), "use an f-string");
        }
        if (next == items.size() || !items[next].is_static()) {
            return refuse(c, range, "`%` needs a static value for each of its formats");
        }
        Object part = convert_percent(c, type, std::string_view(text).substr(flags, width - flags),
                                      std::string_view(text).substr(width, end - width),
                                      items[next++], range);
        if (part.is_error()) {
            return part;
        }
        result += part.text();
        if (static_cast<int64_t>(result.size()) > c.options.limits.text_bytes) {
            return refuse(c, range, "the text grows too long");
        }
    }
    bool all_used = next == items.size() || values.is(ObjectKind::kDict);
    return all_used ? Object::string(std::move(result))
                    : refuse(c, range, "`%` has more values than formats");
}

}  // namespace sardonyx::elaborate
