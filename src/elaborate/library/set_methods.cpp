// Methods of sets: those that are an operator with any iterable on its right, comparisons, and
// changes in place.
#include "elaborate/library/set_methods.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "elaborate/objects/changes.h"
#include "elaborate/objects/exception_types.h"
#include "elaborate/objects/items.h"
#include "elaborate/objects/statics.h"

namespace sardonyx::elaborate {

using lowering::Binary;
using syntax::CompareOp;

namespace {

struct OperatorRow {
    std::string_view name;
    Binary op;
    bool in_place;
    bool takes_many;  // s.union(a, b, c)
};

constexpr OperatorRow kOperators[] = {
    {"union", Binary::kBitOr, false, true},
    {"intersection", Binary::kBitAnd, false, true},
    {"difference", Binary::kSub, false, true},
    {"symmetric_difference", Binary::kBitXor, false, false},
    {"update", Binary::kBitOr, true, true},
    {"intersection_update", Binary::kBitAnd, true, true},
    {"difference_update", Binary::kSub, true, true},
    {"symmetric_difference_update", Binary::kBitXor, true, false},
};

const OperatorRow* operator_of(std::string_view name) {
    const auto* row = std::find_if(std::begin(kOperators), std::end(kOperators),
                                   [name](const OperatorRow& one) { return one.name == name; });
    return row == std::end(kOperators) ? nullptr : row;
}

// An iterable as a set; the error object, after a diagnostic, for what is none.
Object as_set(Context& c, const Object& object, syntax::Range range) {
    if (object.is(ObjectKind::kSet)) {
        return object;
    }
    std::optional<std::vector<Object>> items = static_items(c, object);
    return items ? make_set(c, *items, range)
                 : refuse(c, range, fmt::format("a set with {}", kind_name(object)),
                          "give a list, tuple or set");
}

Object change(Context& c, const Object& set, std::vector<Object> items) {
    log_replacement(c, set);
    set.items() = std::move(items);
    return Object::none();
}

Object apply(Context& c, const MethodObject& method, const OperatorRow& row, const Arguments& a) {
    Object result = Object::set(method.self.items());
    for (size_t i = 0; i < a.positional.size(); ++i) {
        Object other = as_set(c, a.positional[i], a.ranges[i]);
        result = other.is_error() ? other : static_binary(c, row.op, result, other, a.range);
        if (result.is_error()) {
            return result;
        }
    }
    return row.in_place ? change(c, method.self, result.items())
                        : result.frozen(method.self.is_frozen());
}

// add, discard, remove.
Object change_item(Context& c, const MethodObject& method, const Arguments& a) {
    Object one = make_set(c, {a.positional[0]}, a.ranges[0]);
    if (one.is_error()) {
        return one;
    }
    bool adds = method.name == "add";
    Object result =
        static_binary(c, adds ? Binary::kBitOr : Binary::kSub, method.self, one, a.range);
    if (result.is_error()) {
        return result;
    }
    if (method.name == "remove" && result.items().size() == method.self.items().size()) {
        refuse(c, a.range, fmt::format("the set has no item {}", repr(a.positional[0])));
        return raises(c, "KeyError");
    }
    return change(c, method.self, result.items());
}

Object compare(Context& c, const MethodObject& method, const Arguments& a) {
    Object other = as_set(c, a.positional[0], a.ranges[0]);
    if (other.is_error()) {
        return other;
    }
    if (method.name == "isdisjoint") {
        Object both = static_binary(c, Binary::kBitAnd, method.self, other, a.range);
        return both.is_error() ? both : Object::boolean(both.items().empty());
    }
    return static_compare(c, method.name == "issubset" ? CompareOp::kLtE : CompareOp::kGtE,
                          method.self, other, a.range);
}

}  // namespace

bool changes_set(std::string_view name) {
    const OperatorRow* row = operator_of(name);
    return row != nullptr ? row->in_place
                          : name == "add" || name == "discard" || name == "remove" ||
                                name == "clear" || name == "pop";
}

Object set_method(Context& c, const MethodObject& method, const Arguments& a) {
    std::string_view name = method.name;
    size_t count = a.positional.size();
    const OperatorRow* row = operator_of(name);
    if (a.keywords.empty() && row != nullptr && (row->takes_many || count == 1)) {
        return apply(c, method, *row, a);
    }
    if (a.keywords.empty() && count == 1 &&
        (name == "add" || name == "discard" || name == "remove")) {
        return change_item(c, method, a);
    }
    if (a.keywords.empty() && count == 1 &&
        (name == "issubset" || name == "issuperset" || name == "isdisjoint")) {
        return compare(c, method, a);
    }
    if (a.keywords.empty() && count == 0 && name == "copy") {
        return method.self.is_frozen() ? method.self : Object::set(method.self.items());
    }
    if (a.keywords.empty() && count == 0 && name == "clear") {
        return change(c, method.self, {});
    }
    if (name == "pop") {
        return refuse(c, a.range, "`pop` of a set, which has no order",
                      "take `min(...)` or `sorted(...)[0]` of it");
    }
    return refuse(c, a.range, fmt::format("`{}` of a set with these arguments", name),
                  "see Python's documentation of the method");
}

}  // namespace sardonyx::elaborate
