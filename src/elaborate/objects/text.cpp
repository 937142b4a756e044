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
    bool is_question = count == 0 && (name == "isdigit" || name == "isalpha" || name == "isalnum");
    bool depends_on_unicode =
        changed || is_question || (is_split && count == 0 && has_wide_space(text));
    if (depends_on_unicode && !is_ascii) {
        return refuse(c, a.range, fmt::format("`{}` of letters beyond ASCII", name),
                      "write the resulting text as a literal");
    }
    if (changed) {
        return Object::string(std::move(*changed));
    }
    if (is_question) {
        return Object::boolean(!text.empty() &&
                               std::all_of(text.begin(), text.end(), [name](char ch) {
                                   auto byte = static_cast<unsigned char>(ch);
                                   return (name != "isdigit" && std::isalpha(byte) != 0) ||
                                          (name != "isalpha" && std::isdigit(byte) != 0);
                               }));
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
        if (name == "index" || name == "rindex") {
            refuse(c, a.range, fmt::format("{} is not in the text", repr(a.positional[0])));
            return raises(c, "ValueError");
        }
    }
    return refuse(c, a.range, fmt::format("`{}` of a string with these arguments", name),
                  "compute the string outside the script");
}

}  // namespace sardonyx::elaborate
