// Methods of lists, dicts, strings and tensors, and Python's types called as functions.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "elaborate/arrays.h"
#include "elaborate/classes.h"
#include "elaborate/element_types.h"
#include "elaborate/emit.h"
#include "elaborate/equality.h"
#include "elaborate/exceptions.h"
#include "elaborate/library.h"
#include "elaborate/lists.h"
#include "elaborate/statics.h"
#include "elaborate/tensor_builtins.h"
#include "elaborate/text.h"

namespace sardonyx::elaborate {

namespace {

// True also for what is nested too deeply to tell.
bool holds_at(const Object& object, const Object& list, int depth) {
    if (!object.is_sequence() && !object.is(ObjectKind::kDict)) {
        return false;
    }
    if (object.pointer() == list.pointer() || depth > 32) {
        return true;
    }
    if (object.is(ObjectKind::kDict)) {
        const auto& items = object.get<DictObject>().items;
        return std::any_of(items.begin(), items.end(), [&list, depth](const auto& item) {
            return holds_at(item.second, list, depth + 1);
        });
    }
    return std::any_of(
        object.items().begin(), object.items().end(),
        [&list, depth](const Object& item) { return holds_at(item, list, depth + 1); });
}

}  // namespace

bool holds(const Object& object, const Object& list) {
    return holds_at(object, list, 0);
}

namespace {

constexpr std::string_view kChangingMethods[] = {"append", "extend",    "insert",  "pop",
                                                 "remove", "clear",     "reverse", "sort",
                                                 "update", "setdefault"};

Object wrong_call(Context& c, const MethodObject& method, const Arguments& a) {
    return refuse(
        c, a.range,
        fmt::format("`{}` of {} with these arguments", method.name, kind_name(method.self)),
        "see Python's documentation of the method");
}

// Lists and dicts live while the script is compiled: what runs later cannot change them.
bool may_mutate(Context& c, const MethodObject& method, const Arguments& a) {
    // One of the file or module outlives the compilation.
    bool is_global =
        !c.runs_file && std::any_of(c.globals.begin(), c.globals.end(), [&method](const auto& one) {
            return holds(one.second, method.self);
        });
    if (is_global) {
        c.report(kUnsupportedStatement, a.range,
                 fmt::format("{} of the module is changed", kind_name(method.self)))
            .with_help("copy it first: `xs = list(xs)` or `d = dict(d)`");
        return false;
    }
    if (is_owned(c, method.self)) {
        return true;
    }
    c.report(kUnsupportedStatement, a.range,
             fmt::format("{} is changed inside a loop or branch that runs in the graph",
                         kind_name(method.self)))
        .with_help("use a sequence: `xs = op.SequenceInsert(xs, x)`");
    return false;
}

// append, extend, insert.
Object grow_list(Context& c, const MethodObject& method, const Arguments& a) {
    std::vector<Object>& items = method.self.items();
    std::vector<Object> more{a.positional.back()};
    if (method.name == "extend") {
        std::optional<std::vector<Object>> listed = static_items(c, a.positional[0]);
        if (!listed) {
            return refuse(c, a.range, fmt::format("`extend` by {}", kind_name(a.positional[0])));
        }
        more = std::move(*listed);
    }
    if (static_cast<int64_t>(items.size() + more.size()) > c.options.limits.text_bytes) {
        c.report(kLimitExceeded, a.range,
                 fmt::format("the list grows past {} items", c.options.limits.text_bytes))
            .with_help("loop fewer times, or keep the items in a tensor");
        return Object::error();
    }
    for (const Object& item : more) {
        if (holds(item, method.self)) {
            return refuse(c, a.range, "a list is put into itself", "append a copy of it");
        }
    }
    int64_t size = static_cast<int64_t>(items.size());
    int64_t at = size;
    if (method.name == "insert") {
        if (!a.positional[0].is_integer()) {
            return wrong_call(c, method, a);
        }
        at = a.positional[0].as_int();
        at = std::clamp<int64_t>(at < 0 ? at + size : at, 0, size);
    }
    items.insert(items.begin() + static_cast<std::ptrdiff_t>(at), more.begin(), more.end());
    c.undo.push_back({method.self, [at, count = more.size()](const Object& list) {
                          auto first = list.items().begin() + static_cast<std::ptrdiff_t>(at);
                          list.items().erase(first, first + static_cast<std::ptrdiff_t>(count));
                      }});
    return Object::none();
}

Object pop_from_list(Context& c, const MethodObject& method, const Arguments& a) {
    std::vector<Object>& items = method.self.items();
    Object last = Object::integer(-1);
    const Object& index = a.positional.empty() ? last : a.positional[0];
    std::optional<size_t> at = list_index(c, method.self, index, items.size(), a.range);
    if (!at) {
        return Object::error();
    }
    auto place = items.begin() + static_cast<std::ptrdiff_t>(*at);
    Object item = *place;
    items.erase(place);
    c.undo.push_back({method.self, [at = *at, item](const Object& list) {
                          list.items().insert(
                              list.items().begin() + static_cast<std::ptrdiff_t>(at), item);
                      }});
    return item;
}

// Gives a list other items.
Object replace_items(Context& c, const MethodObject& method, std::vector<Object> items) {
    c.undo.push_back({method.self, [before = method.self.items()](const Object& list) {
                          list.items() = before;
                      }});
    method.self.items() = std::move(items);
    return Object::none();
}

// The place of an item; nothing, and a diagnostic, when it is not in the list.
std::optional<size_t> place_of(Context& c, const MethodObject& method, const Arguments& a) {
    const std::vector<Object>& items = method.self.items();
    for (size_t i = 0; i < items.size(); ++i) {
        Object same =
            certain_compare(c, syntax::CompareOp::kEq, items[i], a.positional[0], a.range);
        if (same.is_error()) {
            return std::nullopt;
        }
        if (same.as_bool()) {
            return i;
        }
    }
    refuse(c, a.range, fmt::format("{} is not in the list", repr(a.positional[0])));
    raises(c, "ValueError");
    return std::nullopt;
}

Object list_method(Context& c, const MethodObject& method, const Arguments& a) {
    const std::vector<Object>& items = method.self.items();
    std::string_view name = method.name;
    size_t count = a.positional.size();
    if (name == "index" && count == 1) {
        std::optional<size_t> at = place_of(c, method, a);
        return at ? Object::integer(static_cast<int64_t>(*at)) : Object::error();
    }
    if (name == "count" && count == 1) {
        int64_t found = 0;
        for (const Object& item : items) {
            Object same =
                certain_compare(c, syntax::CompareOp::kEq, item, a.positional[0], a.range);
            if (same.is_error()) {
                return same;
            }
            found += same.as_bool() ? 1 : 0;
        }
        return Object::integer(found);
    }
    if (name == "copy" && count == 0) {
        return Object::list(items);
    }
    if (!may_mutate(c, method, a)) {
        return Object::error();
    }
    if ((name == "append" || name == "extend") ? count == 1 : name == "insert" && count == 2) {
        return grow_list(c, method, a);
    }
    if (name == "pop" && count <= 1) {
        return pop_from_list(c, method, a);
    }
    std::vector<Object> changed = items;
    if (name == "remove" && count == 1) {
        std::optional<size_t> at = place_of(c, method, a);
        if (!at) {
            return Object::error();
        }
        changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(*at));
        return replace_items(c, method, std::move(changed));
    }
    if (name == "clear" && count == 0) {
        return replace_items(c, method, {});
    }
    if (name == "reverse" && count == 0) {
        std::reverse(changed.begin(), changed.end());
        return replace_items(c, method, std::move(changed));
    }
    if (name == "sort" && count == 0) {
        const KeywordArgument* key = a.find("key");
        const KeywordArgument* reverse = a.find("reverse");
        Object sorted =
            sorted_list(c, std::move(changed), key != nullptr ? key->value : Object::none(),
                        reverse != nullptr && truth(reverse->value) == true, a.range);
        return sorted.is_error() ? sorted : replace_items(c, method, sorted.items());
    }
    return wrong_call(c, method, a);
}

Object change_dict(Context& c, const MethodObject& method, const Arguments& a) {
    DictObject& dict = method.self.get<DictObject>();
    std::string_view name = method.name;
    c.undo.push_back({method.self, [before = dict](const Object& object) {
                          object.get<DictObject>() = before;
                      }});
    if (name == "update" && a.positional.size() == 1 && a.positional[0].is(ObjectKind::kDict)) {
        DictObject other = a.positional[0].get<DictObject>();
        for (const auto& [key, value] : other.items) {
            if (holds(value, method.self)) {
                return refuse(c, a.range, "a dict is put into itself", "put in a copy of it");
            }
            dict.set(key, value);
        }
        return Object::none();
    }
    if (a.positional.empty() || a.positional.size() > 2 || name == "update") {
        return wrong_call(c, method, a);
    }
    const Object& key = a.positional[0];
    if (!check_key(c, key, a.ranges[0])) {
        return Object::error();
    }
    const Object* found = dict.find(key);
    Object otherwise = a.positional.size() > 1 ? a.positional[1] : Object::none();
    if (name == "setdefault") {
        if (found == nullptr && !holds(otherwise, method.self)) {
            dict.set(key, otherwise);
        }
        return found != nullptr ? *found : otherwise;
    }
    if (found == nullptr && a.positional.size() == 1) {
        refuse(c, a.range, fmt::format("the dict has no key {}", repr(key)));
        return raises(c, "KeyError");
    }
    if (found == nullptr) {
        return otherwise;
    }
    Object value = *found;
    dict.items.erase(std::find_if(dict.items.begin(), dict.items.end(),
                                  [&key](const auto& item) { return equal(item.first, key); }));
    return value;
}

// d.keys(), d.values() or d.items(), which follow the dict.
Object dict_view(Context& c, const MethodObject& method, const Arguments& a) {
    IteratorObject view{
        "a view of a dict", {}, Object::tuple({method.self}), c.span(a.range), true};
    view.items = [self = method.self, name = method.name](Context& user) {
        std::vector<Object> items;
        for (const auto& [key, value] : self.get<DictObject>().items) {
            if (key.is(ObjectKind::kString)) {
                name_array(user, value, key.text());
            }
            items.push_back(name == "keys"     ? key
                            : name == "values" ? value
                                               : Object::tuple({key, value}));
        }
        return std::optional(std::move(items));
    };
    return make_iterator(c, std::move(view));
}

Object dict_method(Context& c, const MethodObject& method, const Arguments& a) {
    std::string_view name = method.name;
    if (name == "pop" || name == "setdefault" || name == "update") {
        return may_mutate(c, method, a) ? change_dict(c, method, a) : Object::error();
    }
    const DictObject& dict = method.self.get<DictObject>();
    if (name == "get") {
        if (a.positional.empty() || a.positional.size() > 2) {
            return wrong_call(c, method, a);
        }
        std::optional<const Object*> found = find_key(c, dict, a.positional[0], a.range);
        return !found                    ? Object::error()
               : *found != nullptr       ? **found
               : a.positional.size() > 1 ? a.positional[1]
                                         : Object::none();
    }
    return name == "copy" ? Object::dict(dict) : dict_view(c, method, a);
}

Object tensor_method(Context& c, const MethodObject& method, const Arguments& a) {
    Arguments call = a;
    call.positional.insert(call.positional.begin(), method.self);
    call.ranges.insert(call.ranges.begin(), a.callee_range);
    if (method.name == "astype" && a.positional.size() == 1) {
        call.keywords.push_back({"to", a.positional[0], a.ranges[0], a.ranges[0]});
        call.positional.pop_back();
        call.ranges.pop_back();
        return call_operator(c, operator_opset(c), "Cast", call, 0);
    }
    return refuse(c, a.range, fmt::format("`{}` on a tensor in a script", method.name),
                  "call an operator: `op.ReduceSum(x)`");
}

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
            return refuse(c, a.range, "`int` of a text with a base that is not 0 or 2 to 36");
        }
    }
    if (is_int) {
        if (std::optional<int64_t> value = parse_int(text, base)) {
            return Object::integer(*value);
        }
    } else if (std::optional<double> value = parse_float(text)) {
        return Object::real(*value);
    }
    Object failed = refuse(c, a.range, fmt::format("{} is no number", repr(Object::string(text))));
    // A longer one may be an int that is too large here, and other digits may be Unicode's.
    constexpr size_t kSure = 18;
    bool is_sure = text.size() <= kSure && std::none_of(text.begin(), text.end(), [](char one) {
                       return (static_cast<unsigned char>(one) & 0x80) != 0;
                   });
    return is_sure ? raises(c, "ValueError") : failed;
}

}  // namespace

bool is_changing_method(std::string_view name) {
    return std::find(std::begin(kChangingMethods), std::end(kChangingMethods), name) !=
           std::end(kChangingMethods);
}

Object sorted_list(Context& c, std::vector<Object> items, const Object& key, bool reverse,
                   syntax::Range range) {
    std::vector<std::pair<Object, Object>> keyed;
    for (Object& item : items) {
        Arguments one;
        one.positional = {item};
        one.ranges = {range};
        one.range = one.callee_range = range;
        keyed.emplace_back(key.is_none() ? item : call(c, key, one), item);
        if (keyed.back().first.is_error()) {
            return Object::error();
        }
    }
    bool failed = false;
    auto is_before = [&](const auto& x, const auto& y) {
        Object less = failed ? Object::boolean(false)
                             : certain_compare(c, syntax::CompareOp::kLt, x.first, y.first, range);
        failed = failed || less.is_error();
        return !failed && less.as_bool();
    };
    // Equal ones keep their order in both directions.
    if (reverse) {
        std::reverse(keyed.begin(), keyed.end());
    }
    std::stable_sort(keyed.begin(), keyed.end(), is_before);
    if (reverse) {
        std::reverse(keyed.begin(), keyed.end());
    }
    for (size_t i = 0; i < items.size(); ++i) {
        items[i] = keyed[i].second;
    }
    return failed ? Object::error() : Object::list(std::move(items));
}

Object call_method(Context& c, const MethodObject& method, const Arguments& arguments) {
    switch (method.self.kind()) {
        case ObjectKind::kList:
        case ObjectKind::kTuple:
            return list_method(c, method, arguments);
        case ObjectKind::kDict:
            return dict_method(c, method, arguments);
        case ObjectKind::kString:
            return string_method(c, method, arguments);
        case ObjectKind::kElementType:
            return element_type_method(c, method, arguments);
        case ObjectKind::kConstant: {
            std::optional<Object> known = array_method(c, method.self, method.name, arguments);
            return known ? *known : wrong_call(c, method, arguments);
        }
        default:
            return tensor_method(c, method, arguments);
    }
}

namespace {

// dict(), dict(other), dict(pairs), with keywords.
Object make_dict(Context& c, const Arguments& a) {
    DictObject dict;
    if (a.positional.size() > 1) {
        return refuse(c, a.range, fmt::format("`dict` with {} arguments", a.positional.size()));
    }
    if (!a.positional.empty() && a.positional[0].is(ObjectKind::kDict)) {
        dict = a.positional[0].get<DictObject>();
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
    if (name == "dict") {
        return make_dict(c, a);
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
            return Object::set({}).frozen(name == "frozenset");
        }
        if (a.positional.empty() && (name == "list" || name == "tuple")) {
            return own_items(c, name, {});
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
    if (name == "str" && object.is_static() && !is_by_value(object)) {
        const Object& shown = a.positional[0];
        return Object::string(shown.is(ObjectKind::kString) ? shown.text() : repr(shown));
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

}  // namespace sardonyx::elaborate
