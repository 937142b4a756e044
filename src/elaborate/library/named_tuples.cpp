#include "elaborate/library/named_tuples.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/nearest.h"
#include "elaborate/library/classes.h"
#include "elaborate/objects/exception_types.h"
#include "elaborate/objects/items.h"
#include "elaborate/objects/owners.h"
#include "elaborate/objects/statics.h"
#include "elaborate/objects/unknowns.h"
#include "syntax/characters.h"
#include "syntax/token.h"

namespace sardonyx::elaborate {

using syntax::Range;

namespace {

constexpr std::string_view kReplace = "_replace", kAsDict = "_asdict", kMake = "_make";

std::optional<size_t> field_index(const Namespace& type, std::string_view name) {
    auto found = std::find(type.fields.begin(), type.fields.end(), name);
    return found != type.fields.end()
               ? std::optional(static_cast<size_t>(found - type.fields.begin()))
               : std::nullopt;
}

// What to write in place of a name that none of its fields has.
std::string help_for_field(const Namespace& type, std::string_view name) {
    std::vector<std::string_view> fields(type.fields.begin(), type.fields.end());
    std::string_view near = nearest(name, fields);
    return near.empty() ? fmt::format("its fields are `{}`", fmt::join(fields, "`, `"))
                        : fmt::format("did you mean `{}`?", near);
}

// "x, y" or a list of names; nothing after a diagnostic.
std::optional<std::vector<std::string>> field_names(Context& c, const Object& given, Range range) {
    std::vector<std::string> names;
    if (given.is(ObjectKind::kString)) {
        std::string word;
        for (char one : given.text() + " ") {
            bool is_space = one == ' ' || one == ',' || one == '\t' || one == '\n';
            if (is_space && !word.empty()) {
                names.push_back(std::exchange(word, {}));
            } else if (!is_space) {
                word += one;
            }
        }
        return names;
    }
    std::optional<std::vector<Object>> items = static_items(c, given);
    for (size_t i = 0; items && i < items->size(); ++i) {
        if (!(*items)[i].is(ObjectKind::kString)) {
            items = std::nullopt;
            break;
        }
        names.push_back((*items)[i].text());
    }
    if (!items) {
        refuse(c, range, fmt::format("fields of a named tuple that are {}", kind_name(given)),
               "give their names in one string, or as a list of strings");
        return std::nullopt;
    }
    return names;
}

bool is_field_name(std::string_view name) {
    bool is_word = !name.empty() && name[0] != '_' && (name[0] < '0' || name[0] > '9');
    for (char one : name) {
        bool is_letter = (one >= 'a' && one <= 'z') || (one >= 'A' && one <= 'Z') || one == '_';
        is_word = is_word && (is_letter || (one >= '0' && one <= '9') ||
                              (static_cast<unsigned char>(one) & 0x80) != 0);
    }
    return is_word &&
           syntax::keyword_kind(name.data(), name.data() + name.size()) == syntax::TokenKind::kName;
}

bool has_before(const std::vector<std::string>& names, size_t i) {
    auto end = names.begin() + static_cast<std::ptrdiff_t>(i);
    return std::find(names.begin(), end, names[i]) != end;
}

// The class with these fields; the error object after a diagnostic.
Object make_class(Context& c, const Object& name, std::vector<std::string> fields,
                  std::vector<Object> defaults, Range range) {
    if (!name.is(ObjectKind::kString)) {
        return refuse(c, range, fmt::format("{} as the name of a class", kind_name(name)),
                      "give a string");
    }
    auto [object, made] = make_namespace(c, Namespace::Kind::kNamedTuple, name.text(), nullptr);
    return set_fields(c, *made, std::move(fields), std::move(defaults), range) ? object
                                                                               : Object::error();
}

Object as_dict(Context& c, const Object& tuple) {
    DictObject dict;
    const Namespace& type = *tuple.tuple_class();
    for (size_t i = 0; i < type.fields.size(); ++i) {
        dict.set(Object::string(type.fields[i]), tuple.items()[i]);
    }
    Object made = Object::dict(std::move(dict));
    claim(c, made);
    return made;
}

Object with_fields(Context& c, const Object& tuple, const Arguments& a) {
    std::vector<Object> items = tuple.items();
    const Namespace& type = *tuple.tuple_class();
    for (const KeywordArgument& keyword : a.keywords) {
        std::optional<size_t> i = field_index(type, keyword.name);
        if (!i) {
            return refuse(c, keyword.name_range,
                          fmt::format("`{}` has no field `{}`", type.name, keyword.name),
                          help_for_field(type, keyword.name));
        }
        items[*i] = keyword.value;
    }
    return tuple.with_items(std::move(items));
}

Object made_of(Context& c, Namespace& type, const Arguments& a) {
    std::optional<std::vector<Object>> items = static_items(c, a.positional[0]);
    if (!items || items->size() != type.fields.size()) {
        Object failed = refuse(c, a.range,
                               items ? fmt::format("`{}` has {} fields, and {} values are given",
                                                   type.name, type.fields.size(), items->size())
                                     : fmt::format("`_make` of {}", kind_name(a.positional[0])),
                               "give a list with a value for each field");
        return items ? raises(c, "TypeError") : failed;
    }
    return Object::named_tuple(&type, std::move(*items));
}

Object method_named(const Object& self, std::string_view name) {
    return Object::make(ObjectKind::kMethod, MethodObject{self, std::string(name)});
}

}  // namespace

bool set_fields(Context& c, Namespace& type, std::vector<std::string> fields,
                std::vector<Object> defaults, Range range) {
    for (size_t i = 0; i < fields.size(); ++i) {
        if (!is_field_name(fields[i]) || has_before(fields, i)) {
            refuse(c, range,
                   fmt::format("`{}` as the name of a field of a named tuple, which Python refuses",
                               fields[i]),
                   "use different names without an underscore in front");
            raises(c, "ValueError");
            return false;
        }
    }
    if (defaults.size() > fields.size()) {
        refuse(c, range, "a named tuple with more defaults than fields",
               "the defaults are those of the last fields");
        raises(c, "TypeError");
        return false;
    }
    type.fields = std::move(fields);
    type.defaults = std::move(defaults);
    return true;
}

Object collections_namedtuple(Context& c, const Arguments& a) {
    bool renames = false;
    std::vector<Object> defaults;
    for (const KeywordArgument& keyword : a.keywords) {
        std::optional<bool> is_set = truth(keyword.value);
        if (keyword.name == "defaults" && keyword.value.is_none()) {
            continue;
        }
        std::optional<std::vector<Object>> values =
            keyword.name == "defaults" ? static_items(c, keyword.value) : std::nullopt;
        if (keyword.name == "rename" && is_set) {
            renames = *is_set;
        } else if (values) {
            defaults = std::move(*values);
        } else if (keyword.name != "module") {
            return refuse(c, keyword.range, fmt::format("`namedtuple` with `{}`", keyword.name),
                          "give the name, the fields and `defaults=`");
        }
    }
    std::optional<std::vector<std::string>> names = field_names(c, a.positional[1], a.ranges[1]);
    for (size_t i = 0; names && renames && i < names->size(); ++i) {
        if (!is_field_name((*names)[i]) || has_before(*names, i)) {
            (*names)[i] = fmt::format("_{}", i);
        }
    }
    if (names && renames && !names->empty() &&
        std::any_of(names->begin(), names->end(), [](const auto& one) { return one[0] == '_'; })) {
        return refuse(c, a.range, "a named tuple whose fields are renamed",
                      "give names that need no renaming");
    }
    return names ? make_class(c, a.positional[0], std::move(*names), std::move(defaults), a.range)
                 : Object::error();
}

Object typing_named_tuple(Context& c, const Arguments& a) {
    std::optional<std::vector<Object>> pairs = a.positional.size() == 2 && a.keywords.empty()
                                                   ? static_items(c, a.positional[1])
                                                   : std::nullopt;
    std::vector<std::string> names;
    for (size_t i = 0; pairs && i < pairs->size(); ++i) {
        const Object& pair = (*pairs)[i];
        if (!pair.is_sequence() || pair.items().size() != 2 ||
            !pair.items()[0].is(ObjectKind::kString)) {
            pairs = std::nullopt;
            break;
        }
        names.push_back(pair.items()[0].text());
    }
    return pairs ? make_class(c, a.positional[0], std::move(names), {}, a.range)
                 : refuse(c, a.range, "`NamedTuple` called like this",
                          "give its name, and a list of pairs of a name and a type");
}

Object make_named_tuple(Context& c, Namespace& type, const Arguments& a) {
    size_t count = type.fields.size();
    auto wrong_call = [&](Range range, std::string message, std::string_view name = {}) {
        refuse(c, range, std::move(message), help_for_field(type, name));
        return raises(c, "TypeError");
    };
    if (a.positional.size() > count) {
        return wrong_call(
            a.range, fmt::format("`{}` has {} field{}, and {} values are given", type.name, count,
                                 count == 1 ? "" : "s", a.positional.size()));
    }
    std::vector<std::optional<Object>> given(a.positional.begin(), a.positional.end());
    given.resize(count);
    for (const KeywordArgument& keyword : a.keywords) {
        std::optional<size_t> i = field_index(type, keyword.name);
        if (!i || given[*i]) {
            return wrong_call(keyword.name_range,
                              i ? fmt::format("`{}` is given `{}` twice", type.name, keyword.name)
                                : fmt::format("`{}` has no field `{}`", type.name, keyword.name),
                              i ? std::string_view() : keyword.name);
        }
        given[*i] = keyword.value;
    }
    std::vector<Object> items;
    for (size_t i = 0; i < count; ++i) {
        size_t without = count - type.defaults.size();
        if (!given[i] && i >= without) {
            given[i] = type.defaults[i - without];
            if (!c.runs_file && !type.is_of_script) {
                note_foreign(c, *given[i]);
            }
        }
        if (!given[i]) {
            return wrong_call(a.range, fmt::format("`{}` needs `{}`", type.name, type.fields[i]));
        }
        if (unknown_cause(c.program, *given[i]) != nullptr) {
            report_unknown(c, *given[i], type.fields[i], a.range);
            return Object::error();
        }
        items.push_back(std::move(*given[i]));
    }
    return Object::named_tuple(&type, std::move(items));
}

std::optional<Object> named_class_member(Context& c, Namespace& type, std::string_view name,
                                         Range range) {
    if (name == "_fields") {
        std::vector<Object> names;
        for (const std::string& field : type.fields) {
            names.push_back(Object::string(field));
        }
        return Object::tuple(std::move(names));
    }
    if (name == "_field_defaults") {
        if (std::optional<Object> made = type.lookup(name)) {
            return made;
        }
        DictObject dict;
        size_t without = type.fields.size() - type.defaults.size();
        for (size_t i = 0; i < type.defaults.size(); ++i) {
            dict.set(Object::string(type.fields[without + i]), type.defaults[i]);
        }
        Object made = Object::dict(std::move(dict));
        note_foreign(c, made);
        type.set(name, made);
        return made;
    }
    if (name == kMake) {
        return method_named(type.object(), name);
    }
    if (field_index(type, name)) {
        return refuse(c, range, "a field of a class itself", "read it from an instance");
    }
    return std::nullopt;
}

std::optional<Object> named_member(Context& c, const Object& tuple, std::string_view name,
                                   Range range) {
    Namespace& type = *tuple.tuple_class();
    if (std::optional<size_t> i = field_index(type, name)) {
        return tuple.items()[*i];
    }
    if (name == kReplace || name == kAsDict) {
        return method_named(tuple, name);
    }
    if (name == "index" || name == "count") {
        return std::nullopt;
    }
    std::optional<Object> kept = type.lookup(name);
    if (kept && unknown_cause(c.program, *kept) != nullptr) {
        report_unknown(c, *kept, fmt::format("{}.{}", type.name, name), range);
        return Object::error();
    }
    if (kept && !c.runs_file && !type.is_of_script) {
        note_foreign(c, *kept);
    }
    return kept ? bound_to(c, tuple, type, *kept, range) : named_class_member(c, type, name, range);
}

bool is_name_of_named_tuples(std::string_view name) {
    constexpr std::string_view kNames[] = {kReplace,  kAsDict,           kMake,   "_fields",
                                           "_source", "_field_defaults", "index", "count"};
    return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

bool has_named_member(const Object& tuple, std::string_view name) {
    Namespace& type = *tuple.tuple_class();
    return field_index(type, name) || name == "index" || name == "count" || type.lookup(name);
}

std::optional<Object> named_method(Context& c, const MethodObject& method, const Arguments& a) {
    bool is_make = method.name == kMake;
    if (method.name != kReplace && method.name != kAsDict && !is_make) {
        return std::nullopt;
    }
    if (a.positional.size() != (is_make ? 1 : 0) ||
        (method.name != kReplace && !a.keywords.empty())) {
        return refuse(c, a.range, fmt::format("`{}` is called like this", method.name),
                      is_make                   ? "give it one list of values"
                      : method.name == kReplace ? "give it fields by their names: `_replace(x=1)`"
                                                : "give it nothing");
    }
    return is_make                   ? made_of(c, *as_namespace(method.self), a)
           : method.name == kReplace ? with_fields(c, method.self, a)
                                     : as_dict(c, method.self);
}

}  // namespace sardonyx::elaborate
