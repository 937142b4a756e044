// Formatting by a specification, as format(), f-strings and `%` do it.

#include "elaborate/objects/formatting.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include "elaborate/objects/arrays.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/environment.h"
#include "elaborate/objects/namespaces.h"
#include "elaborate/objects/shown.h"
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
        bool has_fill = fill < text_.size() && is_align(text_[fill]);
        if (has_fill) {
            spec.fill = std::string(text_.substr(0, fill));
            spec.align = text_[fill];
            at_ = fill + 1;
        } else if (!text_.empty() && is_align(text_[0])) {
            spec.align = text_[0];
            at_ = 1;
        }
        if (is_one_of("+- ")) {
            spec.has_sign = true;
            spec.sign = text_[at_++];
        }
        spec.alternate = skip('#');
        spec.zero = !has_fill && skip('0');
        std::optional<size_t> width = number(0);
        if (is_one_of(",_")) {
            spec.grouping = text_[at_++];
        }
        bool has_precision = skip('.');
        std::optional<size_t> precision =
            has_precision ? number(SIZE_MAX) : std::optional<size_t>(0);
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

// The digits with separators every `every` of them, after as many zeros as the width asks for.
std::string grouped(std::string digits, char separator, size_t every, size_t width) {
    auto length = [every](size_t count) { return count + (count - 1) / every; };
    while (length(digits.size()) < width) {
        digits.insert(digits.begin(), '0');
    }
    std::string result;
    for (size_t i = 0; i < digits.size(); ++i) {
        if (i > 0 && (digits.size() - i) % every == 0) {
            result += separator;
        }
        result += digits[i];
    }
    return result;
}

char alignment(const FormatSpec& spec, char otherwise) {
    return spec.align != 0 ? spec.align : spec.zero && otherwise == '>' ? '=' : otherwise;
}

// A number of these digits, and what comes after them: grouped, with its sign, and padded.
std::string laid_out(const FormatSpec& spec, const std::string& prefix, const std::string& digits,
                     const std::string& rest, size_t every) {
    if (spec.grouping == 0) {
        return padded(spec, prefix, digits + rest, '>');
    }
    const std::string& fill = spec.zero ? "0" : spec.fill;
    bool has_zeros = fill == "0" && alignment(spec, '>') == '=';
    size_t others = prefix.size() + rest.size();
    size_t width = has_zeros && spec.width > others ? spec.width - others : 0;
    return padded(spec, prefix, grouped(digits, spec.grouping, every, width) + rest, '>');
}

}  // namespace

std::string padded(const FormatSpec& spec, const std::string& prefix, const std::string& body,
                   char default_align) {
    size_t length = count_code_points(prefix) + count_code_points(body);
    std::string text = prefix + body;
    if (length >= spec.width) {
        return text;
    }
    char align = alignment(spec, default_align);
    std::string fill = spec.zero ? "0" : spec.fill;
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

std::string in_base(Uint128 value, unsigned base, bool upper) {
    const char* symbols = upper ? "0123456789ABCDEF" : "0123456789abcdef";
    std::string digits;
    do {
        digits += symbols[static_cast<size_t>(value % base)];
        value /= base;
    } while (value != 0);
    std::reverse(digits.begin(), digits.end());
    return digits;
}

std::string format_integer(const FormatSpec& spec, Int128 value) {
    unsigned base = spec.type == 'b'                       ? 2
                    : spec.type == 'o'                     ? 8
                    : spec.type == 'x' || spec.type == 'X' ? 16
                                                           : 10;
    bool negative = value < 0;
    Uint128 size = negative ? ~static_cast<Uint128>(value) + 1 : static_cast<Uint128>(value);
    std::string prefix = sign_of(spec, negative);
    if (spec.alternate && base != 10) {
        prefix += std::string("0") + spec.type;
    }
    return laid_out(spec, prefix, in_base(size, base, spec.type == 'X'), "", base == 10 ? 3 : 4);
}

std::string printed(double value, int precision, char type, bool alternate) {
    std::string form = alternate ? "%#.*" : "%.*";
    form += type;
    int size = std::snprintf(nullptr, 0, form.c_str(), precision, value);
    std::string text(static_cast<size_t>(size) + 1, 0);
    std::snprintf(text.data(), text.size(), form.c_str(), precision, value);
    text.pop_back();
    return text;
}

// With a precision and without a type: as `g`, but with a digit after the point, and for that with
// an exponent where the digits are as many as the precision.
std::string general(double value, int precision) {
    precision = std::max(precision, 1);
    std::string scientific = printed(value, precision - 1, 'e', false);
    int exponent = std::atoi(scientific.c_str() + scientific.find('e') + 1);
    if (value == 0 || (exponent >= -4 && exponent + 1 <= precision - 1)) {
        std::string text = printed(value, precision, 'g', false);
        return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
    }
    size_t end = scientific.find('e');
    std::string digits = scientific.substr(0, end);
    if (digits.find('.') != std::string::npos) {
        digits.erase(digits.find_last_not_of('0') + 1);
        digits.erase(digits.find_last_not_of('.') + 1);
    }
    return digits + scientific.substr(end);
}

std::string format_real(const FormatSpec& spec, double value) {
    char type = spec.type;
    bool negative = std::signbit(value) && !std::isnan(value);
    double size = std::fabs(value);
    std::string text;
    if (!std::isfinite(value)) {
        text = std::isnan(value) ? "nan" : "inf";
        if (type == 'F' || type == 'E' || type == 'G') {
            std::transform(text.begin(), text.end(), text.begin(),
                           [](char ch) { return static_cast<char>(std::toupper(ch)); });
        }
        text += type == '%' ? "%" : "";
        return padded(spec, sign_of(spec, negative), text, '>');
    }
    int precision = spec.precision < 0 ? 6 : spec.precision;
    if (type == 0) {
        text = spec.precision < 0 ? shown_float(size) : general(size, precision);
    } else if (type == '%') {
        text = printed(size * 100, precision, 'f', spec.alternate) + "%";
    } else {
        text = printed(size, precision, type, spec.alternate);
    }
    size_t whole = std::min(text.find_first_not_of("0123456789"), text.size());
    return laid_out(spec, sign_of(spec, negative), text.substr(0, whole), text.substr(whole), 3);
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

// NumPy's scalars format themselves as Python's number of the same value.
Object formatted_number(const Object& object) {
    return is_numpys_scalar(object) ? plain_number(object) : as_python_int(object);
}

}  // namespace

Object format_object(Context& c, const Object& object, std::string_view spec_text, Range range) {
    if (object.member() != nullptr && as_member(object) != nullptr && !is_shown_by_value(object)) {
        return refuse(c, range,
                      "a member of an enumeration with a base of `int` or `str` in a format, which "
                      "depends on Python's version",
                      "format its `.value` or `.name`");
    }
    if (spec_text.empty()) {
        return show(c, is_numpys_scalar(object) ? plain_number(object) : object, Show::kStr, range);
    }
    auto refused = [&](std::string_view what) {
        return refuse(c, range,
                      fmt::format("{} with the format {}", what,
                                  repr(Object::string(std::string(spec_text)))),
                      "see Python's format specification mini-language");
    };
    if (is_shown_by_environment(object)) {
        Environment::Answer answer = c.function().environment->text_of(object, "format", spec_text);
        return answer.value ? *answer.value : refused(kind_name(object));
    }
    if (object.shown_as() == ShownAs::kOther) {
        return refused("an instance of a class that is derived from a builtin one");
    }
    if (is_by_value(object)) {  // an instance
        return refused(kind_name(object));
    }
    if (object.is(ObjectKind::kModule)) {  // a member of an enumeration is formatted as its text
        Object text = show(c, object, Show::kStr, range);
        return text.is_error() ? text : format_object(c, text, spec_text, range);
    }
    const Object value = formatted_number(object);
    std::optional<FormatSpec> spec = SpecReader(spec_text).read();
    auto is_type = [&spec](std::string_view types) {
        return spec->type == 0 || types.find(spec->type) != std::string_view::npos;
    };
    if (spec && value.is(ObjectKind::kString) && is_type("s") && spec->align != '=' &&
        spec->grouping == 0 && !spec->has_sign && !spec->alternate) {
        const std::string& text = value.text();
        return Object::string(
            padded(*spec, "", spec->precision < 0 ? text : shortened(text, spec->precision), '<'));
    }
    bool is_grouped_in_fours =
        spec && (spec->type == 'b' || spec->type == 'o' || spec->type == 'x' || spec->type == 'X');
    if (spec && value.is_whole() && is_type("dboxX") && spec->precision < 0 &&
        !(is_grouped_in_fours && spec->grouping == ',')) {
        return Object::string(format_integer(*spec, value.as_whole()));
    }
    bool is_certain =
        spec && !(spec->type == 0 && spec->alternate) &&
        !(value.is_number() && !std::isfinite(value.as_double()) && spec->grouping != 0);
    if (spec && value.is_number() && is_type("eEfFgG%") && is_certain &&
        !(value.is_whole() && spec->type == 0)) {
        return Object::string(format_real(*spec, value.as_double()));
    }
    return refused(kind_name(value));
}

namespace {

// One conversion of `%`; the flags, width and precision are those of a format specification but for
// the alignment.
Object convert_percent(Context& c, char type, std::string_view flags, std::string_view width,
                       const Object& given, Range range) {
    auto has = [flags](char flag) { return flags.find(flag) != std::string_view::npos; };
    Object value = formatted_number(given);
    if (type == 's' || type == 'r' || type == 'a') {
        Show how = type == 's' ? Show::kStr : type == 'r' ? Show::kRepr : Show::kAscii;
        value = show(c, given, how, range);
        if (value.is_error()) {
            return value;
        }
        type = 's';
    } else if (value.is(ObjectKind::kInt) && value.member() != nullptr) {
        value = Object::integer(value.as_int());  // `%` takes the number, whatever `format` does
    }
    if (type == 'd' || type == 'i' || type == 'u') {
        bool is_whole = value.is_number() && std::fabs(value.as_double()) < 9.2e18;
        value = value.is_whole() || !is_whole
                    ? value
                    : Object::integer(static_cast<int64_t>(value.as_double()));
        type = 'd';
    }
    bool fits = std::string_view("xXo").find(type) != std::string_view::npos ? value.is_whole()
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
    spec += has('#') && type != 's' ? "#" : "";
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
