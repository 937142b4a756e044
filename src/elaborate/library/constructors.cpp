// int, float, bool, str, list, tuple, dict and set, called.
#include "elaborate/library/constructors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "elaborate/emit/emitter.h"
#include "elaborate/library/instance_checks.h"
#include "elaborate/library/library.h"
#include "elaborate/library/named_tuples.h"
#include "elaborate/library/tensor_builtins.h"
#include "elaborate/objects/arguments.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/dict_classes.h"
#include "elaborate/objects/exception_objects.h"
#include "elaborate/objects/exception_types.h"
#include "elaborate/objects/items.h"
#include "elaborate/objects/owners.h"
#include "elaborate/objects/shown.h"
#include "elaborate/objects/statics.h"
#include "elaborate/operators/special_methods.h"

namespace sardonyx::elaborate {

namespace {

std::string_view without_spaces(std::string_view text) {
    constexpr std::string_view kSpaces = " \t\n\r\f\v\x1c\x1d\x1e\x1f";
    size_t begin = std::min(text.find_first_not_of(kSpaces), text.size());
    return text.substr(begin, text.find_last_not_of(kSpaces) + 1 - begin);
}

// The digits of a float as Python reads them: spaces around, `_` between digits, no base but ten.
std::optional<double> parse_float(std::string_view text) {
    std::string digits, lower;
    text = without_spaces(text);
    auto is_digit = [text](size_t i) {
        return i < text.size() && text[i] >= '0' && text[i] <= '9';
    };
    for (size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '_' && i > 0 && is_digit(i - 1) && is_digit(i + 1)) {
            continue;
        }
        digits += text[i];
        lower += static_cast<char>(text[i] >= 'A' && text[i] <= 'Z' ? text[i] | 0x20 : text[i]);
    }
    std::string_view word = lower;
    word.remove_prefix(!word.empty() && (word[0] == '+' || word[0] == '-') ? 1 : 0);
    bool is_word = word == "inf" || word == "infinity" || word == "nan";
    if (!is_word && digits.find_first_not_of("0123456789.eE+-") != std::string::npos) {
        return std::nullopt;
    }
    char* end = nullptr;
    double value = std::strtod(digits.c_str(), &end);
    return end != digits.c_str() && *end == 0 ? std::optional(value) : std::nullopt;
}

// The digits of an int as Python reads them: spaces around, a sign, a prefix of the base, `_`
// between digits. Nothing: it is none, or does not fit.
std::optional<int64_t> parse_int(std::string_view text, int64_t base) {
    text = without_spaces(text);
    bool is_negative = !text.empty() && text[0] == '-';
    text.remove_prefix(is_negative || (!text.empty() && text[0] == '+') ? 1 : 0);
    int64_t prefix = 0;
    if (text.size() > 2 && text[0] == '0') {
        char letter = static_cast<char>(text[1] | 0x20);
        prefix = letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 0;
    }
    if (prefix != 0 && (base == prefix || base == 0)) {
        text.remove_prefix(text[2] == '_' ? 3 : 2);
        base = prefix;
    } else if (base == 0) {
        bool is_octal = text.size() > 1 && text[0] == '0' &&
                        text.find_first_not_of("0_") != std::string_view::npos;
        base = is_octal ? 1 : 10;  // 010 is refused
    }
    int64_t value = 0;
    bool after_digit = false;
    for (char ch : text) {
        if (ch == '_' && after_digit) {
            after_digit = false;
            continue;
        }
        char lower = static_cast<char>(ch | 0x20);
        int64_t digit = ch >= '0' && ch <= '9'         ? ch - '0'
                        : lower >= 'a' && lower <= 'z' ? lower - 'a' + 10
                                                       : base;
        if (digit >= base || __builtin_mul_overflow(value, base, &value) ||
            __builtin_sub_overflow(value, digit, &value)) {  // negative, which has one more
            return std::nullopt;
        }
        after_digit = true;
    }
    bool fits = after_digit && (is_negative || value != INT64_MIN);
    return fits ? std::optional(is_negative ? value : -value) : std::nullopt;
}

// int("3"), float("inf").
Object parse_number(Context& c, const std::string& text, bool is_int, const Arguments& a) {
    int64_t base = 10;
    if (a.positional.size() > 1) {
        base = a.positional[1].is_integer() ? a.positional[1].as_int() : -1;
        if (!is_int || base == 1 || base < 0 || base > 36) {
            return refuse(c, a.range, "`int` of a string with a base that is not 0 or 2 to 36");
        }
    }
    if (is_int) {
        if (std::optional<int64_t> value = parse_int(text, base)) {
            return Object::integer(*value);
        }
    } else if (std::optional<double> value = parse_float(text)) {
        return Object::real(*value);
    }
    Object failed =
        refuse(c, a.range, fmt::format("{} is not a number", repr(Object::string(text))));
    // A longer one may be an int that is too large here, and other digits may be Unicode's.
    constexpr size_t kSure = 18;
    constexpr std::string_view kOfNoInt = "{}[]()<>|,:;=*/%&!?'\"#@~^$`\\";
    bool is_short =
        text.size() <= kSure || (is_int && text.find_first_of(kOfNoInt) != std::string::npos);
    bool is_sure = is_short && std::none_of(text.begin(), text.end(), [](char one) {
                       return (static_cast<unsigned char>(one) & 0x80) != 0;
                   });
    return is_sure ? raises(c, "ValueError") : failed;
}

// dict(), dict(other), dict(pairs), with keywords.
Object make_dict(Context& c, const Arguments& a) {
    DictObject dict;
    if (a.positional.size() > 1) {
        return refuse(c, a.range, fmt::format("`dict` with {} arguments", a.positional.size()));
    }
    if (!a.positional.empty() && a.positional[0].is(ObjectKind::kDict)) {
        dict.items = a.positional[0].get<DictObject>().items;
    } else if (!a.positional.empty()) {
        std::optional<std::vector<Object>> pairs = static_items(c, a.positional[0]);
        for (size_t i = 0; pairs && i < pairs->size(); ++i) {
            if (!(*pairs)[i].is_sequence() || (*pairs)[i].items().size() != 2) {
                pairs = std::nullopt;
                break;
            }
            if (!check_key(c, (*pairs)[i].items()[0], a.range)) {
                return Object::error();
            }
            dict.set((*pairs)[i].items()[0], (*pairs)[i].items()[1]);
        }
        if (!pairs) {
            return refuse(c, a.range, fmt::format("`dict` of {}", kind_name(a.positional[0])),
                          "give a dict or a list of pairs");
        }
    }
    for (const KeywordArgument& keyword : a.keywords) {
        dict.set(Object::string(std::string(keyword.name)), keyword.value);
    }
    Object made = Object::dict(std::move(dict));
    claim(c, made);
    return made;
}

// A dict of one of the classes of `collections`. A defaultdict is given its factory first.
Object make_dict_of(Context& c, DictClass of, const Arguments& a) {
    Arguments rest = a;
    Object factory = Object::none();
    if (of == DictClass::kDefault && !rest.positional.empty()) {
        factory = rest.positional[0];
        rest.positional.erase(rest.positional.begin());
        rest.ranges.erase(rest.ranges.begin());
    }
    Arguments counted;
    if (of == DictClass::kCounter && rest.positional.size() == 1) {
        std::swap(counted.positional, rest.positional);
        rest.ranges.clear();
    }
    Object made = make_dict(c, rest);
    if (made.is_error()) {
        return made;
    }
    DictObject& dict = made.get<DictObject>();
    dict.of = of;
    dict.factory = std::move(factory);
    if (counted.positional.empty()) {
        return made;
    }
    DictObject named = std::exchange(dict, emptied(dict));
    return add_counts(c, dict, counted.positional[0], 1, a.range) &&
                   add_counts(c, dict, Object::dict(std::move(named)), 1, a.range)
               ? made
               : Object::error();
}

// int(), float(), bool() and str().
std::optional<Object> empty_scalar(std::string_view type) {
    return type == "int"     ? std::optional(Object::integer(0))
           : type == "float" ? std::optional(Object::real(0))
           : type == "bool"  ? std::optional(Object::boolean(false))
           : type == "str"   ? std::optional(Object::string(""))
                             : std::nullopt;
}

// What list(...) or tuple(...) makes.
Object own_items(Context& c, std::string_view type, std::vector<Object> items) {
    if (type == "tuple") {
        return Object::tuple(std::move(items));
    }
    Object list = Object::list(std::move(items));
    claim(c, list);
    return list;
}

}  // namespace

Object call_python_type(Context& c, const PythonType& type, const Arguments& a) {
    const std::string& name = type.name;
    if (name == "type") {
        return py_type(c, a);
    }
    if (std::optional<DictClass> of = dict_class(name)) {
        return make_dict_of(c, *of, a);
    }
    if (is_exception_type(name)) {
        return builtin_exception(c, name, a);
    }
    if (name == kNamedTuple) {
        return typing_named_tuple(c, a);
    }
    if (!a.keywords.empty()) {
        const KeywordArgument* base = a.find("base");
        if (name != "int" || base == nullptr || a.keywords.size() > 1 || a.positional.size() != 1) {
            return refuse(c, a.range, fmt::format("`{}` with keywords", name));
        }
        Arguments by_position = a;
        by_position.keywords.clear();
        by_position.positional.push_back(base->value);
        by_position.ranges.push_back(a.range);
        return call_python_type(c, type, by_position);
    }
    bool has_base =
        name == "int" && a.positional.size() == 2 && a.positional[0].is(ObjectKind::kString);
    if (a.positional.size() != 1 && !has_base) {
        if (a.positional.empty() && (name == "set" || name == "frozenset")) {
            return make_set(c, {}, a.range).frozen(name == "frozenset");
        }
        if (a.positional.empty() && (name == "list" || name == "tuple")) {
            return own_items(c, name, {});
        }
        if (std::optional<Object> nothing =
                a.positional.empty() ? empty_scalar(name) : std::nullopt) {
            return *nothing;
        }
        return refuse(c, a.range, fmt::format("`{}` with {} arguments", name, a.positional.size()));
    }
    const Object object = as_python_int(a.positional[0]);
    bool is_tensor = object.is_tensor() || object.is(ObjectKind::kAttribute);
    if (name == "int" || name == "float" || name == "bool") {
        if (is_tensor) {
            return tensor_number(c, a, name);
        }
        if (name == "bool" && truth(object)) {
            return Object::boolean(*truth(object));
        }
        if (std::optional<Object> asked =
                name == "bool" ? special_truth(c, object, a.range) : std::nullopt) {
            return *asked;
        }
        if (object.is(ObjectKind::kString)) {
            return parse_number(c, object.text(), name == "int", a);
        }
        if (object.is(ObjectKind::kConstant) && object.get<Tensor>().count() == 1) {
            if (std::optional<std::vector<int64_t>> values = to_int64s(object.get<Tensor>());
                values && name == "int") {
                return Object::integer((*values)[0]);
            }
            if (std::optional<std::vector<double>> values = to_doubles(object.get<Tensor>())) {
                return name == "int" ? Object::integer(static_cast<int64_t>((*values)[0]))
                                     : Object::real((*values)[0]);
            }
        }
        if (object.is_number() && name == "float") {
            return Object::real(object.as_double());
        }
        if (object.is_whole()) {
            return Object::whole(object.as_whole());
        }
        if (object.is_number() && std::fabs(object.as_double()) < 9.2e18) {
            return Object::integer(static_cast<int64_t>(object.as_double()));
        }
        return refuse(c, a.range, fmt::format("`{}` of {}", name, kind_name(object)));
    }
    if (name == "str" && object.is_static()) {
        return show(c, a.positional[0], Show::kStr, a.range);
    }
    if (object.is(ObjectKind::kSet) && (name == "list" || name == "tuple")) {
        return refuse(c, a.range, fmt::format("`{}` of a set, which has no order", name),
                      "use `sorted(...)`");
    }
    if (name == "set" || name == "frozenset") {
        std::optional<std::vector<Object>> items = static_items(c, object);
        return items ? make_set(c, *items, a.range).frozen(name == "frozenset")
                     : refuse(c, a.range, fmt::format("`{}` of {}", name, kind_name(object)));
    }
    if (name == "tuple" && object.is_shape_tensor()) {
        return Object(object);
    }
    if (name == "list" && object.is_numbers()) {
        ir::Value* copy = Emitter(c, a.range).emit("Identity", {object.value()});
        return copy != nullptr ? Object::numbers(copy) : Object::error();
    }
    if (name == "list" || name == "tuple") {
        if (std::optional<std::vector<Object>> items = static_items(c, object)) {
            return own_items(c, name, std::move(*items));
        }
    }
    return refuse(c, a.range, fmt::format("`{}` of {}", name, kind_name(object)));
}

Object dict_fromkeys(Context& c, const Arguments& a) {
    std::optional<std::vector<Object>> keys = static_items(c, a.positional[0]);
    if (!keys) {
        return refuse(c, a.range, fmt::format("`fromkeys` of {}", kind_name(a.positional[0])));
    }
    DictObject dict;
    for (const Object& key : *keys) {
        if (!check_key(c, key, a.range)) {
            return Object::error();
        }
        dict.set(key, a.positional.size() > 1 ? a.positional[1] : Object::none());
    }
    Object made = Object::dict(std::move(dict));
    claim(c, made);
    return made;
}

}  // namespace sardonyx::elaborate
