#include "elaborate/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "elaborate/array_functions.h"
#include "elaborate/arrays.h"
#include "elaborate/branch.h"
#include "elaborate/calls.h"
#include "elaborate/items.h"
#include "elaborate/statics.h"

namespace sardonyx::elaborate {

using syntax::Range;

namespace {

constexpr size_t kMostWidth = 10'000;

size_t count_code_points(std::string_view text) {
    return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char ch) {
        return (static_cast<unsigned char>(ch) & 0xC0) != 0x80;
    }));
}

// Python Library Reference, "Format Specification Mini-Language".
struct FormatSpec {
    std::string fill = " ";
    char align = 0;
    char sign = '-';
    bool alternate = false;
    bool zero = false;
    size_t width = 0;
    char grouping = 0;
    int precision = -1;
    char type = 0;
};

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

namespace {

constexpr std::string_view kSpaces = " \t\n\r\f\v\x1c\x1d\x1e\x1f";

// Whether a space of Unicode beyond ASCII is in it, which is one to Python too.
bool has_wide_space(std::string_view text) {
    constexpr std::string_view kWide[] = {"\u0085", "\u00a0", "\u1680", "\u2000", "\u2001",
                                          "\u2002", "\u2003", "\u2004", "\u2005", "\u2006",
                                          "\u2007", "\u2008", "\u2009", "\u200a", "\u2028",
                                          "\u2029", "\u202f", "\u205f", "\u3000"};
    return std::any_of(std::begin(kWide), std::end(kWide), [text](std::string_view space) {
        return text.find(space) != std::string_view::npos;
    });
}

std::string stripped(const std::string& text, std::string_view characters, bool left, bool right) {
    size_t begin = left ? text.find_first_not_of(characters) : 0;
    if (begin == std::string::npos) {
        return "";
    }
    size_t end = right ? text.find_last_not_of(characters) : text.size() - 1;
    return end == std::string::npos ? "" : text.substr(begin, end + 1 - begin);
}

Object split_text(const std::string& text, const std::string* separator, int64_t most) {
    std::vector<Object> parts;
    size_t at = 0;
    auto more = [&parts, most] { return most < 0 || static_cast<int64_t>(parts.size()) < most; };
    if (separator != nullptr) {
        for (size_t end = text.find(*separator); end != std::string::npos && more();
             end = text.find(*separator, at)) {
            parts.push_back(Object::string(text.substr(at, end - at)));
            at = end + separator->size();
        }
        parts.push_back(Object::string(text.substr(at)));
        return Object::list(std::move(parts));
    }
    for (at = text.find_first_not_of(kSpaces); at != std::string::npos;
         at = text.find_first_not_of(kSpaces, at)) {
        size_t end = more() ? std::min(text.find_first_of(kSpaces, at), text.size()) : text.size();
        std::string part = text.substr(at, end - at);
        parts.push_back(Object::string(more() ? part : stripped(part, kSpaces, false, true)));
        at = end;
    }
    return Object::list(std::move(parts));
}

std::string replaced(const std::string& text, const std::string& from, const std::string& to) {
    std::string result;
    size_t at = 0;
    for (size_t found = text.find(from); found != std::string::npos; found = text.find(from, at)) {
        result += text.substr(at, found - at) + to;
        at = found + from.size();
    }
    return result + text.substr(at);
}

// upper, lower, capitalize, title: of ASCII letters.
std::optional<std::string> in_case(std::string_view name, std::string text) {
    bool word = name == "title", first = name == "capitalize" || word;
    if (name != "upper" && name != "lower" && !first) {
        return std::nullopt;
    }
    bool upper_next = true;
    for (char& ch : text) {
        unsigned char byte = static_cast<unsigned char>(ch);
        bool upper = name == "upper" || (first && upper_next);
        upper_next = word && std::isalpha(byte) == 0;
        ch = static_cast<char>(upper ? std::toupper(byte) : std::tolower(byte));
    }
    return text;
}

Object too_long(Context& c, Range range) {
    c.report(kLimitExceeded, range, "the text grows too long");
    return Object::error();
}

Object join_texts(Context& c, const std::string& text, const Arguments& a) {
    std::optional<std::vector<Object>> items = static_items(c, a.positional[0]);
    std::string joined;
    for (size_t i = 0; items && i < items->size(); ++i) {
        if (!(*items)[i].is(ObjectKind::kString)) {
            return refuse(c, a.range, fmt::format("`join` of {}", kind_name((*items)[i])),
                          "join strings, as by `str(x) for x in xs`");
        }
        joined += (i == 0 ? "" : text) + (*items)[i].text();
        if (static_cast<int64_t>(joined.size()) > c.options.limits.text_bytes) {
            return too_long(c, a.range);
        }
    }
    return items ? Object::string(std::move(joined))
                 : refuse(c, a.range, fmt::format("`join` of {}", kind_name(a.positional[0])));
}

// Methods with one text as their argument; nothing: it is none of them.
std::optional<Object> with_one_text(std::string_view name, const std::string& text,
                                    const std::string& other) {
    bool at_start = text.rfind(other, 0) == 0;
    bool at_end = text.size() >= other.size() &&
                  text.compare(text.size() - other.size(), other.size(), other) == 0;
    if (name == "startswith" || name == "endswith") {
        return Object::boolean(name == "startswith" ? at_start : at_end);
    }
    if (name == "removeprefix") {
        return Object::string(at_start ? text.substr(other.size()) : text);
    }
    if (name == "removesuffix") {
        return Object::string(at_end ? text.substr(0, text.size() - other.size()) : text);
    }
    if (name == "find") {
        size_t at = text.find(other);
        return Object::integer(
            at == std::string::npos
                ? -1
                : static_cast<int64_t>(count_code_points(std::string_view(text).substr(0, at))));
    }
    if (name == "count" && !other.empty()) {
        int64_t count = 0;
        for (size_t at = text.find(other); at != std::string::npos;
             at = text.find(other, at + other.size())) {
            ++count;
        }
        return Object::integer(count);
    }
    return std::nullopt;
}

// "{} of {name:>3}".format(...): fields by position or name.
Object format_text(Context& c, const std::string& text, const Arguments& a) {
    std::string result;
    size_t next = 0;
    for (size_t i = 0; i < text.size(); ++i) {
        bool doubled = i + 1 < text.size() && text[i] == text[i + 1];
        if (text[i] != '{' && text[i] != '}') {
            result += text[i];
            continue;
        }
        if (doubled) {
            result += text[i++];
            continue;
        }
        size_t end = text[i] == '{' ? text.find('}', i) : std::string::npos;
        if (end == std::string::npos) {
            return refuse(c, a.range, "a single brace in a format", "double it");
        }
        std::string_view field = std::string_view(text).substr(i + 1, end - i - 1);
        size_t colon = std::min(field.find(':'), field.size());
        std::string_view name = field.substr(0, colon);
        const Object* object = nullptr;
        if (name.empty() || name.find_first_not_of("0123456789") == std::string_view::npos) {
            size_t position = next++;
            if (!name.empty()) {
                position =
                    name.size() < 6 ? static_cast<size_t>(std::stoul(std::string(name))) : SIZE_MAX;
            }
            object = position < a.positional.size() ? &a.positional[position] : nullptr;
        } else if (const KeywordArgument* keyword = a.find(name)) {
            object = &keyword->value;
        }
        if (object == nullptr || !object->is_static()) {
            return refuse(c, a.range, fmt::format("no static value for the field `{{{}}}`", field));
        }
        Object part =
            format_object(c, *object, colon < field.size() ? field.substr(colon + 1) : "", a.range);
        if (part.is_error()) {
            return part;
        }
        result += part.text();
        i = end;
        if (static_cast<int64_t>(result.size()) > c.options.limits.text_bytes) {
            return too_long(c, a.range);
        }
    }
    return Object::string(std::move(result));
}

}  // namespace

Object string_method(Context& c, const MethodObject& method, const Arguments& a) {
    const std::string& text = method.self.text();
    std::string_view name = method.name;
    size_t count = a.positional.size();
    auto argument = [&a](size_t i) -> const std::string* {
        return i < a.positional.size() && a.positional[i].is(ObjectKind::kString)
                   ? &a.positional[i].text()
                   : nullptr;
    };
    if (name == "format") {
        return format_text(c, text, a);
    }
    std::optional<std::string> changed = count == 0 ? in_case(name, text) : std::nullopt;
    bool is_ascii = std::all_of(text.begin(), text.end(),
                                [](char ch) { return static_cast<unsigned char>(ch) < 0x80; });
    bool is_split = name == "strip" || name == "lstrip" || name == "rstrip" || name == "split";
    bool depends_on_unicode = changed || (name == "isdigit" && count == 0) ||
                              (is_split && count == 0 && has_wide_space(text));
    if (depends_on_unicode && !is_ascii) {
        return refuse(c, a.range, fmt::format("`{}` of letters beyond ASCII", name),
                      "write the text as it should be");
    }
    if (changed) {
        return Object::string(std::move(*changed));
    }
    if (name == "isdigit" && count == 0) {
        return Object::boolean(!text.empty() &&
                               text.find_first_not_of("0123456789") == std::string::npos);
    }
    if ((name == "strip" || name == "lstrip" || name == "rstrip") && count <= 1) {
        const std::string* characters = argument(0);
        bool is_plain = characters == nullptr ||
                        std::all_of(characters->begin(), characters->end(),
                                    [](char ch) { return static_cast<unsigned char>(ch) < 0x80; });
        if (!is_plain) {
            return refuse(c, a.range, fmt::format("`{}` of characters beyond ASCII", name));
        }
        if (count == 0 || characters != nullptr) {
            return Object::string(stripped(text, characters != nullptr ? *characters : kSpaces,
                                           name != "rstrip", name != "lstrip"));
        }
    }
    if (name == "split" && (count == 0 || (argument(0) != nullptr && !argument(0)->empty()))) {
        bool has_most = count > 1 && a.positional[1].is_integer();
        return split_text(text, argument(0), has_most ? a.positional[1].as_int() : -1);
    }
    if (name == "join" && count == 1) {
        return join_texts(c, text, a);
    }
    if (name == "replace" && count == 2 && argument(0) != nullptr && argument(1) != nullptr &&
        !argument(0)->empty()) {
        std::string result = replaced(text, *argument(0), *argument(1));
        return static_cast<int64_t>(result.size()) > c.options.limits.text_bytes
                   ? too_long(c, a.range)
                   : Object::string(std::move(result));
    }
    if (name == "zfill" && count == 1 && a.positional[0].is_integer()) {
        FormatSpec spec;
        spec.fill = "0";
        spec.align = '=';
        spec.width =
            static_cast<size_t>(std::clamp<int64_t>(a.positional[0].as_int(), 0, kMostWidth));
        bool has_sign = !text.empty() && (text[0] == '-' || text[0] == '+');
        return Object::string(
            padded(spec, text.substr(0, has_sign ? 1 : 0), text.substr(has_sign ? 1 : 0), '>'));
    }
    if (argument(0) != nullptr && count == 1) {
        if (std::optional<Object> result = with_one_text(name, text, *argument(0))) {
            return *result;
        }
    }
    return refuse(c, a.range, fmt::format("`{}` of a string with these arguments", name),
                  "compute the string outside the script");
}

}  // namespace sardonyx::elaborate
