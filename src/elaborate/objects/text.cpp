#include "elaborate/objects/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "elaborate/objects/arguments.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/exception_types.h"
#include "elaborate/objects/formatting.h"
#include "elaborate/objects/items.h"
#include "elaborate/objects/shown.h"
#include "elaborate/objects/statics.h"

namespace sardonyx::elaborate {

using syntax::Range;

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

enum class StrippedEnds : uint8_t { kBoth, kLeft, kRight };

std::string stripped(const std::string& text, std::string_view characters, StrippedEnds ends) {
    size_t begin = ends != StrippedEnds::kRight ? text.find_first_not_of(characters) : 0;
    if (begin == std::string::npos) {
        return "";
    }
    size_t end = ends != StrippedEnds::kLeft ? text.find_last_not_of(characters) : text.size() - 1;
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
        parts.push_back(
            Object::string(more() ? part : stripped(part, kSpaces, StrippedEnds::kRight)));
        at = end;
    }
    return Object::list(std::move(parts));
}

// From the end, at most so often.
Object split_from_end(const std::string& text, const std::string& separator, int64_t most) {
    std::vector<Object> parts;
    size_t end = text.size();
    while (most < 0 || static_cast<int64_t>(parts.size()) < most) {
        size_t at = end < separator.size() ? std::string::npos
                                           : text.rfind(separator, end - separator.size());
        if (at == std::string::npos) {
            break;
        }
        size_t begin = at + separator.size();
        parts.push_back(Object::string(text.substr(begin, end - begin)));
        end = at;
    }
    parts.push_back(Object::string(text.substr(0, end)));
    std::reverse(parts.begin(), parts.end());
    return Object::list(std::move(parts));
}

// Of a text of ASCII, whose ends of lines are \n, \r, \r\n, \v, \f, \x1c, \x1d, \x1e.
Object split_lines(const std::string& text) {
    std::vector<Object> lines;
    for (size_t at = 0; at < text.size();) {
        size_t end = std::min(text.find_first_of("\n\r\v\f\x1c\x1d\x1e", at), text.size());
        lines.push_back(Object::string(text.substr(at, end - at)));
        bool is_pair = text.compare(end, 2, "\r\n") == 0;
        at = end + (is_pair ? 2 : 1);
    }
    return Object::list(std::move(lines));
}

// isdigit, isalpha, ..., of ASCII; nothing: it is none of them.
std::optional<bool> has_property(std::string_view name, const std::string& text) {
    auto count = [&text](auto is_so) {
        return std::count_if(text.begin(), text.end(), [is_so](char ch) {
            return is_so(static_cast<unsigned char>(ch)) != 0;
        });
    };
    if (name == "isdigit" || name == "isalpha" || name == "isalnum") {
        int64_t fitting = count([name](int ch) {
            return name == "isdigit"   ? std::isdigit(ch)
                   : name == "isalpha" ? std::isalpha(ch)
                                       : std::isalnum(ch);
        });
        return !text.empty() && fitting == static_cast<int64_t>(text.size());
    }
    if (name == "isupper" || name == "islower") {
        int64_t upper = count([](int ch) { return std::isupper(ch); });
        int64_t lower = count([](int ch) { return std::islower(ch); });
        return name == "isupper" ? upper > 0 && lower == 0 : lower > 0 && upper == 0;
    }
    if (name == "isspace") {
        return !text.empty() && text.find_first_not_of(kSpaces) == std::string::npos;
    }
    return std::nullopt;
}

// ljust, rjust and center.
Object justified(Context& c, std::string_view name, const std::string& text, const Arguments& a) {
    size_t count = a.positional.size();
    bool has_fill = count == 2 && a.positional[1].is(ObjectKind::kString) &&
                    count_code_points(a.positional[1].text()) == 1;
    if (count == 0 || count > 2 || (count == 2 && !has_fill) || !a.positional[0].is_integer() ||
        a.positional[0].as_int() > static_cast<int64_t>(kMostWidth)) {
        return refuse(c, a.range, fmt::format("`{}` with these arguments", name));
    }
    int64_t width = a.positional[0].as_int();
    int64_t missing = std::max<int64_t>(width - static_cast<int64_t>(count_code_points(text)), 0);
    // Python puts the odd one before the text where the width is odd.
    int64_t before = name == "rjust"   ? missing
                     : name == "ljust" ? 0
                                       : missing / 2 + (missing & width & 1);
    std::string fill = has_fill ? a.positional[1].text() : " ", result;
    for (int64_t i = 0; i < missing; ++i) {
        result += i == before ? text : "";
        result += fill;
    }
    return Object::string(before == missing ? result + text : result);
}

std::string replaced(const std::string& text, const std::string& from, const std::string& to,
                     int64_t most) {
    std::string result;
    size_t at = 0;
    for (size_t found = text.find(from); found != std::string::npos && most-- != 0;
         found = text.find(from, at)) {
        result += text.substr(at, found - at) + to;
        at = found + from.size();
    }
    return result + text.substr(at);
}

// upper, lower, capitalize, title, swapcase, casefold: of ASCII letters.
std::optional<std::string> in_case(std::string_view name, std::string text) {
    bool word = name == "title", first = name == "capitalize" || word;
    bool swaps = name == "swapcase";
    if (name != "upper" && name != "lower" && name != "casefold" && !swaps && !first) {
        return std::nullopt;
    }
    bool upper_next = true;
    for (char& ch : text) {
        unsigned char byte = static_cast<unsigned char>(ch);
        bool upper = name == "upper" || (first && upper_next) || (swaps && std::islower(byte) != 0);
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
    bool from_end = name == "rfind" || name == "rindex" || name == "rpartition";
    size_t at = from_end ? text.rfind(other) : text.find(other);
    bool is_found = at != std::string::npos;
    if (name == "find" || name == "rfind" || (is_found && (name == "index" || name == "rindex"))) {
        std::string_view before = std::string_view(text).substr(0, is_found ? at : 0);
        return Object::integer(is_found ? static_cast<int64_t>(count_code_points(before)) : -1);
    }
    if ((name == "partition" || name == "rpartition") && !other.empty()) {
        Object whole = Object::string(text), none = Object::string("");
        return !is_found ? Object::tuple(from_end ? std::vector{none, none, whole}
                                                  : std::vector{whole, none, none})
                         : Object::tuple({Object::string(text.substr(0, at)), Object::string(other),
                                          Object::string(text.substr(at + other.size()))});
    }
    if (name == "count" && !other.empty()) {
        int64_t count = 0;
        for (; at != std::string::npos; at = text.find(other, at + other.size())) {
            ++count;
        }
        return Object::integer(count);
    }
    return std::nullopt;
}

// Which argument a field of a format names; null: there is none.
const Object* field_argument(std::string_view name, size_t& next, const Arguments& a) {
    constexpr size_t kByNumber = SIZE_MAX;  // fields with numbers stand in the text
    bool is_number = name.find_first_not_of("0123456789") == std::string_view::npos;
    if (!is_number) {
        const KeywordArgument* keyword = a.find(name);
        return keyword != nullptr ? &keyword->value : nullptr;
    }
    bool is_mixed = name.empty() ? next == kByNumber : next != 0 && next != kByNumber;
    if (is_mixed || name.size() > 6) {
        return nullptr;
    }
    size_t position = name.empty() ? next : static_cast<size_t>(std::stoul(std::string(name)));
    next = name.empty() ? next + 1 : kByNumber;
    return position < a.positional.size() ? &a.positional[position] : nullptr;
}

// What {name!conversion:spec} becomes.
Object format_field(Context& c, std::string_view field, size_t& next, const Arguments& a) {
    size_t colon = std::min(field.find(':'), field.size());
    std::string_view name = field.substr(0, colon);
    std::string_view spec = colon < field.size() ? field.substr(colon + 1) : "";
    size_t mark = std::min(name.find('!'), name.size());
    std::string_view conversion = name.substr(mark);
    const Object* object = field_argument(name.substr(0, mark), next, a);
    bool is_known =
        conversion.empty() || conversion == "!r" || conversion == "!s" || conversion == "!a";
    if (object == nullptr || !object->is_static() || !is_known ||
        spec.find('{') != std::string_view::npos) {
        return refuse(c, a.range, fmt::format("no static value for the field `{{{}}}`", field));
    }
    Object value = *object;
    if (!conversion.empty()) {
        value = show(c, value,
                     conversion == "!r"   ? Show::kRepr
                     : conversion == "!a" ? Show::kAscii
                                          : Show::kStr,
                     a.range);
    }
    return value.is_error() ? value : format_object(c, value, spec, a.range);
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
        Object part = format_field(c, std::string_view(text).substr(i + 1, end - i - 1), next, a);
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
    if (!a.keywords.empty()) {
        return refuse(c, a.keywords[0].name_range,
                      fmt::format("`{}` with the keyword `{}`", name, a.keywords[0].name),
                      "give the arguments by position");
    }
    std::optional<std::string> changed = count == 0 ? in_case(name, text) : std::nullopt;
    bool is_ascii = std::all_of(text.begin(), text.end(),
                                [](char ch) { return static_cast<unsigned char>(ch) < 0x80; });
    bool is_split = name == "strip" || name == "lstrip" || name == "rstrip" || name == "split";
    std::optional<bool> property = count == 0 ? has_property(name, text) : std::nullopt;
    bool depends_on_unicode = changed || property || name == "splitlines" ||
                              (is_split && count == 0 && has_wide_space(text));
    if (depends_on_unicode && !is_ascii) {
        return refuse(c, a.range, fmt::format("`{}` of letters beyond ASCII", name),
                      "write the resulting text as a literal");
    }
    if (changed) {
        return Object::string(std::move(*changed));
    }
    if (property) {
        return Object::boolean(*property);
    }
    if (name == "ljust" || name == "rjust" || name == "center") {
        return justified(c, name, text, a);
    }
    if (name == "splitlines" && count == 0) {
        return split_lines(text);
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
            StrippedEnds ends = name == "lstrip"   ? StrippedEnds::kLeft
                                : name == "rstrip" ? StrippedEnds::kRight
                                                   : StrippedEnds::kBoth;
            return Object::string(
                stripped(text, characters != nullptr ? *characters : kSpaces, ends));
        }
    }
    if (name == "split" && (count == 0 || (argument(0) != nullptr && !argument(0)->empty()))) {
        bool has_most = count > 1 && a.positional[1].is_integer();
        return split_text(text, argument(0), has_most ? a.positional[1].as_int() : -1);
    }
    if (name == "rsplit" && argument(0) != nullptr && !argument(0)->empty() &&
        (count == 1 || (count == 2 && a.positional[1].is_integer()))) {
        return split_from_end(text, *argument(0), count > 1 ? a.positional[1].as_int() : -1);
    }
    if (name == "join" && count == 1) {
        return join_texts(c, text, a);
    }
    bool has_count = name == "replace" && count == 3 && a.positional[2].is_integer();
    if (name == "replace" && (count == 2 || has_count) && argument(0) != nullptr &&
        argument(1) != nullptr && !argument(0)->empty()) {
        std::string result =
            replaced(text, *argument(0), *argument(1), has_count ? a.positional[2].as_int() : -1);
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
    bool is_of_several = name == "startswith" || name == "endswith";
    if (is_of_several && count == 1 && a.positional[0].is(ObjectKind::kTuple)) {
        const std::vector<Object>& others = a.positional[0].items();
        auto is_text = [](const Object& one) { return one.is(ObjectKind::kString); };
        if (std::all_of(others.begin(), others.end(), is_text)) {
            auto fits = [&](const Object& one) {
                return with_one_text(name, text, one.text())->as_bool();
            };
            return Object::boolean(std::any_of(others.begin(), others.end(), fits));
        }
    }
    if (argument(0) != nullptr && count == 1) {
        if (std::optional<Object> result = with_one_text(name, text, *argument(0))) {
            return *result;
        }
        if (name == "index" || name == "rindex") {
            refuse(c, a.range, fmt::format("{} is not in the text", repr(a.positional[0])));
            return raises(c, "ValueError");
        }
    }
    return refuse(c, a.range, fmt::format("`{}` of a string with these arguments", name),
                  "compute the string outside the script");
}

}  // namespace sardonyx::elaborate
