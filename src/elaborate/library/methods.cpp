// Methods of lists, dicts, strings and tensors, and Python's types called as functions.

#include "elaborate/library/methods.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "elaborate/emit/constants.h"
#include "elaborate/emit/interpreter.h"
#include "elaborate/emit/opsets.h"
#include "elaborate/flow/effect_tables.h"
#include "elaborate/library/array_choices.h"
#include "elaborate/library/array_operators.h"
#include "elaborate/library/array_products.h"
#include "elaborate/library/array_reductions.h"
#include "elaborate/library/array_shapes.h"
#include "elaborate/library/array_tables.h"
#include "elaborate/library/call_caches.h"
#include "elaborate/library/constructors.h"
#include "elaborate/library/named_tuples.h"
#include "elaborate/library/number_builtins.h"
#include "elaborate/library/set_methods.h"
#include "elaborate/objects/arguments.h"
#include "elaborate/objects/arrays.h"
#include "elaborate/objects/changes.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/dict_classes.h"
#include "elaborate/objects/element_types.h"
#include "elaborate/objects/exception_types.h"
#include "elaborate/objects/items.h"
#include "elaborate/objects/owners.h"
#include "elaborate/objects/statics.h"
#include "elaborate/objects/text.h"
#include "elaborate/operators/equality.h"
#include "elaborate/scopes/cells.h"
#include "elaborate/scopes/lookup.h"

namespace sardonyx::elaborate {

using syntax::Range;

namespace {

// True also for what is nested too deeply to tell.
bool holds_at(const Object& object, const Object& list, int depth) {
    bool holds_others = object.is_sequence() || object.is(ObjectKind::kDict);
    if (!holds_others && !object.is(ObjectKind::kSet)) {
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

bool is_certain_to_change(Context& c, const Object& object, Range range) {
    if (c.runs_file || !may_be_another(c, object)) {
        return true;
    }
    c.report(kAliasedItemAssignment, range,
             fmt::format("{} is changed that another name may hold too, depending on values at run "
                         "time",
                         object.is(ObjectKind::kDict) ? "a dict" : "a list"))
        .with_help("copy it where it is chosen: `xs = list(xs)` or `d = dict(d)`");
    return false;
}

bool may_change(Context& c, const Object& object, Range range, std::string_view help) {
    if (!c.runs_file && is_foreign(c, object)) {
        c.report(kUnsupportedStatement, range,
                 fmt::format("{} of the module is changed", kind_name(object)))
            .with_help("copy it first: `xs = list(xs)`, `d = dict(d)` or `s = set(s)`");
        return false;
    }
    if (!is_certain_to_change(c, object, range)) {
        return false;
    }
    if (is_owned(c, object)) {
        return true;
    }
    c.report(kUnsupportedStatement, range,
             fmt::format("{} is changed inside a loop or branch that runs in the graph",
                         kind_name(object)))
        .with_help(std::string(help));
    return false;
}

namespace {

Object wrong_call(Context& c, const MethodObject& method, const Arguments& a) {
    return refuse(
        c, a.range,
        fmt::format("`{}` of {} with these arguments", method.name, kind_name(method.self)),
        "see Python's documentation of the method");
}

bool may_mutate(Context& c, const MethodObject& method, const Arguments& a) {
    return may_change(c, method.self, a.range,
                      method.self.is(ObjectKind::kList)
                          ? "use a sequence: `xs = op.SequenceInsert(xs, x)`"
                          : "change it outside");
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
    log_change(c, method.self, [at, count = more.size()](const Object& list) {
        auto first = list.items().begin() + static_cast<std::ptrdiff_t>(at);
        list.items().erase(first, first + static_cast<std::ptrdiff_t>(count));
    });
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
    log_change(c, method.self, [at = *at, item](const Object& list) {
        list.items().insert(list.items().begin() + static_cast<std::ptrdiff_t>(at), item);
    });
    return item;
}

// Gives a list other items.
Object replace_items(Context& c, const MethodObject& method, std::vector<Object> items) {
    log_replacement(c, method.self);
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

bool is_ordered(const Object& dict) {
    return dict.get<DictObject>().of == DictClass::kOrdered;
}

// Whether a method of an OrderedDict means the end of it: `last`, by keyword or at a place.
// Nothing: it is no bool, or there are other arguments.
std::optional<bool> is_last(const MethodObject& method, const Arguments& a, size_t place) {
    const KeywordArgument* keyword = a.find("last");
    size_t given = a.positional.size();
    bool is_positional = keyword == nullptr && given > place;
    std::optional<bool> last = keyword != nullptr ? truth(keyword->value)
                               : is_positional    ? truth(a.positional[place])
                                                  : std::optional(true);
    bool is_known = given == place + (is_positional ? 1 : 0) &&
                    a.keywords.size() == (keyword != nullptr ? 1U : 0U) &&
                    (is_ordered(method.self) || (keyword == nullptr && !is_positional));
    return is_known ? last : std::nullopt;
}

Object pop_pair(Context& c, const MethodObject& method, const Arguments& a) {
    DictObject& dict = method.self.get<DictObject>();
    std::optional<bool> last = is_last(method, a, 0);
    if (!last) {
        return wrong_call(c, method, a);
    }
    if (dict.items.empty()) {
        refuse(c, a.range, "`popitem` of an empty dict");
        return raises(c, "KeyError");
    }
    auto place = *last ? dict.items.end() - 1 : dict.items.begin();
    Object pair = Object::tuple({place->first, place->second});
    dict.items.erase(place);
    return pair;
}

Object move_to_end(Context& c, const MethodObject& method, const Arguments& a) {
    DictObject& dict = method.self.get<DictObject>();
    std::optional<bool> last = a.positional.empty() ? std::nullopt : is_last(method, a, 1);
    if (!last) {
        return wrong_call(c, method, a);
    }
    const Object& key = a.positional[0];
    auto place = std::find_if(dict.items.begin(), dict.items.end(),
                              [&key](const auto& item) { return equal(item.first, key); });
    if (place == dict.items.end()) {
        refuse(c, a.range, fmt::format("the dict has no key {}", repr(key)));
        return raises(c, "KeyError");
    }
    if (*last) {
        std::rotate(place, place + 1, dict.items.end());
    } else {
        std::rotate(dict.items.begin(), place, place + 1);
    }
    return Object::none();
}

// Counter.update and Counter.subtract, of an iterable or keywords.
Object change_counts(Context& c, const MethodObject& method, const Arguments& a) {
    DictObject& counter = method.self.get<DictObject>();
    int sign = method.name == "subtract" ? -1 : 1;
    if (a.positional.size() > 1) {
        return wrong_call(c, method, a);
    }
    if (!a.positional.empty() && !add_counts(c, counter, a.positional[0], sign, a.range)) {
        return Object::error();
    }
    DictObject named;
    for (const KeywordArgument& keyword : a.keywords) {
        named.set(Object::string(std::string(keyword.name)), keyword.value);
    }
    return add_counts(c, counter, Object::dict(std::move(named)), sign, a.range) ? Object::none()
                                                                                 : Object::error();
}

// Counter.most_common and Counter.total.
Object counts_of(Context& c, const MethodObject& method, const Arguments& a) {
    std::optional<std::vector<Object>> pairs = most_common(method.self.get<DictObject>());
    bool is_total = method.name == "total";
    bool has_number = !is_total && a.positional.size() == 1 && a.positional[0].is_integer();
    bool is_all = a.positional.empty() ||
                  (!is_total && a.positional.size() == 1 && a.positional[0].is_none());
    if (!pairs || !a.keywords.empty() || (!has_number && !is_all)) {
        return wrong_call(c, method, a);
    }
    if (is_total) {
        Object total = Object::integer(0);
        for (const auto& [key, count] : method.self.get<DictObject>().items) {
            total = static_binary(c, lowering::Binary::kAdd, total, count, a.range);
        }
        return total;
    }
    if (has_number) {
        auto most = static_cast<size_t>(std::max<int64_t>(a.positional[0].as_int(), 0));
        pairs->resize(std::min(pairs->size(), most));
    }
    Object list = Object::list(*std::move(pairs));
    claim(c, list);
    return list;
}

Object change_dict(Context& c, const MethodObject& method, const Arguments& a) {
    DictObject& dict = method.self.get<DictObject>();
    std::string_view name = method.name;
    log_replacement(c, method.self);
    if (dict.of == DictClass::kCounter && (name == "update" || name == "subtract")) {
        return change_counts(c, method, a);
    }
    if (name == "update") {
        Object other = call_python_type(c, PythonType{"dict", {}}, a);
        if (other.is_error()) {
            return other;
        }
        for (const auto& [key, value] : other.get<DictObject>().items) {
            if (holds(value, method.self)) {
                return refuse(c, a.range, "a dict is put into itself", "put in a copy of it");
            }
            if (has_cells(c, method.self)) {
                change_item(c, method.self, key, value);
            } else {
                dict.set(key, value);
            }
        }
        return Object::none();
    }
    if (name == "clear" && a.positional.empty()) {
        dict.items.clear();
        return Object::none();
    }
    if (name == "popitem") {
        return pop_pair(c, method, a);
    }
    if (name == "move_to_end") {
        return move_to_end(c, method, a);
    }
    if (a.positional.empty() || a.positional.size() > 2) {
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
    DictView what = method.name == "keys"     ? DictView::kKeys
                    : method.name == "values" ? DictView::kValues
                                              : DictView::kItems;
    IteratorObject view{
        "a view of a dict", {}, Object::tuple({method.self}), c.span(a.range), what};
    view.items = [self = method.self, what](Context& user) {
        std::vector<Object> items;
        for (const auto& [key, value] : self.get<DictObject>().items) {
            if (key.is(ObjectKind::kString)) {
                name_array(user, value, key.text(), NamedBy::kKey);
            }
            items.push_back(what == DictView::kKeys     ? key
                            : what == DictView::kValues ? value
                                                        : Object::tuple({key, value}));
        }
        return std::optional(std::move(items));
    };
    return make_iterator(c, std::move(view));
}

Object dict_method(Context& c, const MethodObject& method, const Arguments& a) {
    std::string_view name = method.name;
    if (name == "pop" || name == "setdefault" || name == "update" || name == "clear" ||
        name == "popitem" || name == "move_to_end" || name == "subtract") {
        bool has_items = name == "update" && has_cells(c, method.self) &&
                         !is_foreign(c, method.self) &&
                         method.self.get<DictObject>().of != DictClass::kCounter;
        bool may_change =
            has_items ? is_certain_to_change(c, method.self, a.range) : may_mutate(c, method, a);
        return may_change ? change_dict(c, method, a) : Object::error();
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
    if (name == "most_common" || name == "total") {
        return counts_of(c, method, a);
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

// Methods of arrays that are functions of NumPy, too.
Object array_function(Context& c, const MethodObject& method, const Arguments& a) {
    struct Named {
        std::string_view name;
        Object (*function)(Context&, const Arguments&);
    };
    constexpr Named kFunctions[] = {{"clip", np_clip},         {"transpose", np_transpose},
                                    {"squeeze", np_squeeze},   {"repeat", np_repeat},
                                    {"cumsum", np_cumsum},     {"argsort", np_argsort},
                                    {"sum", np_sum},           {"prod", np_prod_of_array},
                                    {"mean", np_mean},         {"max", np_max},
                                    {"min", np_min},           {"argmax", np_argmax},
                                    {"argmin", np_argmin},     {"all", np_all},
                                    {"any", np_any},           {"round", np_round},
                                    {"dot", np_dot},           {"std", np_std},
                                    {"var", np_var},           {"cumprod", np_cumprod},
                                    {"swapaxes", np_swapaxes}, {"nonzero", np_nonzero},
                                    {"take", np_take},         {"trace", np_trace}};
    auto found = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                              [&method](const Named& one) { return one.name == method.name; });
    if (found == std::end(kFunctions)) {
        return wrong_call(c, method, a);
    }
    Arguments call = a;
    if (method.name == "transpose" && call.positional.size() > 1) {
        call.positional = {Object::tuple(a.positional)};
        call.ranges = {a.range};
    }
    call.positional.insert(call.positional.begin(), method.self);
    call.ranges.insert(call.ranges.begin(), a.callee_range);
    return found->function(c, call);
}

}  // namespace

bool is_changing_method(std::string_view name) {
    // Operators, which most names after a dot are, start with a capital letter; these never do.
    if (!name.empty() && name[0] >= 'A' && name[0] <= 'Z') {
        return false;
    }
    return has_word(kGrowingMethods, name) || has_word(kItemChangingMethods, name) ||
           changes_set(name);
}

Object call_method(Context& c, const MethodObject& method, const Arguments& arguments) {
    if (std::optional<Object> made = named_method(c, method, arguments)) {
        return *made;
    }
    if (std::optional<Object> result = call_cached(c, method, arguments)) {
        return *result;
    }
    switch (method.self.kind()) {
        case ObjectKind::kList:
        case ObjectKind::kTuple:
            return list_method(c, method, arguments);
        case ObjectKind::kDict:
            return dict_method(c, method, arguments);
        case ObjectKind::kString:
            return string_method(c, method, arguments);
        case ObjectKind::kSet:
            return !changes_set(method.name) || may_mutate(c, method, arguments)
                       ? set_method(c, method, arguments)
                       : Object::error();
        case ObjectKind::kInt:
        case ObjectKind::kFloat:
            return number_method(c, method, arguments);
        case ObjectKind::kElementType:
            return element_type_method(c, method, arguments);
        case ObjectKind::kConstant: {
            std::optional<Object> known = array_method(c, method.self, method.name, arguments);
            return known ? *known : array_function(c, method, arguments);
        }
        default:
            return tensor_method(c, method, arguments);
    }
}

}  // namespace sardonyx::elaborate
