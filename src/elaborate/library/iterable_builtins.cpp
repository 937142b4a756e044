// Iterators are lazy, as in Python: what they go over is asked when they are used.
#include "elaborate/library/iterable_builtins.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "elaborate/emit/emitter.h"
#include "elaborate/emit/interpreter.h"
#include "elaborate/emit/sizes.h"
#include "elaborate/library/builtins.h"
#include "elaborate/library/tensor_builtins.h"
#include "elaborate/objects/arguments.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/exception_types.h"
#include "elaborate/objects/items.h"
#include "elaborate/objects/namespaces.h"
#include "elaborate/objects/statics.h"
#include "elaborate/operators/equality.h"
#include "elaborate/operators/special_methods.h"
#include "elaborate/operators/truth.h"

namespace sardonyx::elaborate {

using syntax::Range;

std::optional<std::vector<Object>> apply_to_each(Context& c, const Object& function,
                                                 const std::vector<Object>& items, Range range) {
    std::vector<Object> results;
    for (const Object& item : items) {
        Arguments call_of_one;
        call_of_one.positional = {item};
        call_of_one.ranges = {range};
        call_of_one.range = call_of_one.callee_range = range;
        results.push_back(function.is_none() ? item : call(c, function, call_of_one));
        if (results.back().is_error()) {
            return std::nullopt;
        }
    }
    return results;
}

Object py_len(Context& c, const Arguments& a) {
    const Object& object = a.positional[0];
    if (object.is_numbers()) {
        return size_of_axis(c, object.value(), 0, a.range);
    }
    if (object.is_tensor()) {
        ir::Value* value = object.value();
        if (value->type.kind() == TypeKind::kSequence) {
            ir::Value* length = Emitter(c, a.range).emit("SequenceLength", {value});
            return length != nullptr ? Object::number(length) : Object::error();
        }
        if (Emitter(c, a.range).rank(value) == 0) {
            return refuse(c, a.range, "`len` of a tensor of rank 0", "use `x.size`");
        }
        return size_of_axis(c, value, 0, a.range);
    }
    if (object.is(ObjectKind::kConstant) && object.get<Tensor>().rank() > 0) {
        return Object::integer(object.get<Tensor>().dims()[0]);
    }
    if (object.is(ObjectKind::kRange)) {
        return Object::integer(object.get<RangeObject>().size());
    }
    if (std::optional<Object> length = call_special(c, object, "__len__", {}, a.range)) {
        return *length;
    }
    bool is_counted = object.is(ObjectKind::kOpaque)
                          ? c.function().environment->attribute(object, "__len__").value.has_value()
                          : !special_method(object, "__iter__").has_value();
    bool has_length =
        is_counted && (!object.is(ObjectKind::kIterator) || object.get<IteratorObject>().is_view());
    std::optional<std::vector<Object>> items = has_length ? static_items(c, object) : std::nullopt;
    return items ? Object::integer(static_cast<int64_t>(items->size()))
                 : refuse(c, a.range, fmt::format("`len` of {}", kind_name(object)));
}

Object py_range(Context& c, const Arguments& a) {
    std::vector<int64_t> parts;
    for (const Object& object : a.positional) {
        if (!object.is_integer()) {
            return refuse(c, a.range, fmt::format("`range` over {}", kind_name(object)),
                          "use integers; over a tensor, write it in the `for` itself");
        }
        parts.push_back(object.as_int());
    }
    RangeObject range;
    range.stop = parts.size() == 1 ? parts[0] : parts[1];
    range.start = parts.size() == 1 ? 0 : parts[0];
    range.step = parts.size() == 3 ? parts[2] : 1;
    return range.step == 0 ? refuse(c, a.range, "`range` with step 0", "use a step other than 0")
                           : Object::make(ObjectKind::kRange, range);
}

namespace {

bool gives_once(const Object& object) {
    return object.is(ObjectKind::kIterator) && !object.get<IteratorObject>().is_view();
}

// An iterator over static arguments, of which `items` gives the items when it is used.
Object lazy(Context& c, std::string_view what, const Arguments& a, size_t first,
            std::function<std::optional<std::vector<Object>>(Context&)> items) {
    std::vector<Object> sources(a.positional.begin() + static_cast<std::ptrdiff_t>(first),
                                a.positional.end());
    for (const Object& source : sources) {
        bool is_iterable = source.is_sequence() || source.is(ObjectKind::kDict) ||
                           source.is(ObjectKind::kSet) || source.is(ObjectKind::kRange) ||
                           source.is(ObjectKind::kString) || source.is(ObjectKind::kIterator) ||
                           (source.is(ObjectKind::kConstant) && source.get<Tensor>().rank() > 0) ||
                           special_method(source, "__iter__").has_value();
        if (!is_iterable) {
            return refuse(c, a.range, fmt::format("{} over {}", what, kind_name(source)),
                          "give lists whose lengths are known");
        }
    }
    IteratorObject iterator{what, std::move(items), Object::tuple(std::move(sources)),
                            c.span(a.range)};
    iterator.is_by_place =
        what != "a filter" && std::none_of(a.positional.begin(), a.positional.end(), gives_once);
    return make_iterator(c, std::move(iterator));
}

enum class Lengths : uint8_t { kEqual, kAny };

// The rows of zip; an error has been reported where there are none.
std::vector<std::vector<Object>> zipped_rows(Context& c, const std::vector<Object>& lists,
                                             Lengths lengths, Range range) {
    std::optional<std::vector<std::vector<Object>>> columns;
    if (lengths == Lengths::kAny) {
        columns = columns_of(c, lists, INT64_MAX);
    } else {
        columns.emplace();
        for (const Object& object : lists) {
            columns->push_back(static_items(c, object).value_or(std::vector<Object>()));
        }
    }
    if (!columns) {
        refuse(c, range, "`zip` of what is not a list", "zip lists whose lengths are known");
        return {};
    }
    size_t shortest = SIZE_MAX;
    for (const std::vector<Object>& column : *columns) {
        if (lengths == Lengths::kEqual && shortest != SIZE_MAX && column.size() != shortest) {
            refuse(c, range, "`zip` of lists of different lengths with `strict=True`");
            return {};
        }
        shortest = std::min(shortest, column.size());
    }
    std::vector<std::vector<Object>> rows;
    for (size_t i = 0; !columns->empty() && i < shortest; ++i) {
        std::vector<Object> row;
        for (const std::vector<Object>& column : *columns) {
            row.push_back(column[i]);
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

}  // namespace

Object py_zip(Context& c, const Arguments& a) {
    const KeywordArgument* strict = a.find("strict");
    bool is_strict = strict != nullptr && truth(strict->value) == true;
    Lengths lengths = is_strict ? Lengths::kEqual : Lengths::kAny;
    return lazy(c, "a zip", a, 0, [lists = a.positional, lengths, range = a.range](Context& user) {
        std::vector<Object> rows;
        for (std::vector<Object>& row : zipped_rows(user, lists, lengths, range)) {
            rows.push_back(Object::tuple(std::move(row)));
        }
        return std::optional(std::move(rows));
    });
}

Object py_enumerate(Context& c, const Arguments& a) {
    const KeywordArgument* keyword = a.find("start");
    const Object* given = keyword != nullptr        ? &keyword->value
                          : a.positional.size() > 1 ? &a.positional[1]
                                                    : nullptr;
    if (given != nullptr && !given->is_integer()) {
        return refuse(c, a.range, fmt::format("`enumerate` from {}", kind_name(*given)),
                      "start at an integer");
    }
    Arguments list = a;
    list.positional.resize(1);
    int64_t start = given != nullptr ? given->as_int() : 0;
    return lazy(c, "an enumerate", list, 0, [items = a.positional[0], start](Context& user) {
        std::vector<Object> rows;
        for (Object& item : static_items(user, items).value_or(std::vector<Object>())) {
            int64_t number = start + static_cast<int64_t>(rows.size());
            rows.push_back(Object::tuple({Object::integer(number), std::move(item)}));
        }
        return std::optional(std::move(rows));
    });
}

Object py_reversed(Context& c, const Arguments& a) {
    if (gives_once(a.positional[0]) || special_method(a.positional[0], "__iter__")) {
        return refuse(c, a.range, fmt::format("`reversed` of {}", kind_name(a.positional[0])),
                      "make a list of it first");
    }
    // It begins at what is the last item now, which must be there still when it is used.
    std::optional<std::vector<Object>> now = static_items(c, a.positional[0]);
    size_t count = now ? now->size() : 0;
    return lazy(c, "a reversed list", a, 0, [items = a.positional[0], count](Context& user) {
        std::optional<std::vector<Object>> rows = static_items(user, items);
        if (rows) {
            rows->resize(rows->size() < count ? 0 : count);
            std::reverse(rows->begin(), rows->end());
        }
        return rows;
    });
}

Object py_iter(Context& c, const Arguments& a) {
    const Object& object = a.positional[0];
    return gives_once(object) ? object
                              : lazy(c, "an iterator", a, 0, [items = object](Context& user) {
                                    return static_items(user, items);
                                });
}

Object py_next(Context& c, const Arguments& a) {
    const Object& object = a.positional[0];
    if (!gives_once(object)) {
        return refuse(c, a.range, fmt::format("`next` of {}", kind_name(object)),
                      "it takes an iterator, such as `iter(x)`");
    }
    if (std::optional<Object> item = next_item(c, object)) {
        return *item;
    }
    if (a.positional.size() == 2) {
        return a.positional[1];
    }
    refuse(c, a.range, "`next` of an iterator without items", "give a default: `next(it, None)`");
    return raises(c, "StopIteration");
}

Object py_map(Context& c, const Arguments& a) {
    return lazy(c, "a map", a, 1, [a](Context& user) {
        std::vector<Object> lists(a.positional.begin() + 1, a.positional.end());
        std::vector<Object> results;
        for (std::vector<Object>& row : zipped_rows(user, lists, Lengths::kAny, a.range)) {
            Arguments call_of_row;
            call_of_row.range = call_of_row.callee_range = a.range;
            call_of_row.ranges.assign(row.size(), a.range);
            call_of_row.positional = std::move(row);
            results.push_back(call(user, a.positional[0], call_of_row));
            if (results.back().is_error()) {
                break;
            }
        }
        return std::optional(std::move(results));
    });
}

namespace {

// The items that the function keeps; nothing after an error.
std::vector<Object> filtered(Context& c, const Object& function, const Object& list, Range range) {
    std::vector<Object> items = static_items(c, list).value_or(std::vector<Object>());
    std::optional<std::vector<Object>> tests = apply_to_each(c, function, items, range);
    std::vector<Object> kept;
    for (size_t i = 0; tests && i < tests->size(); ++i) {
        std::optional<bool> holds = truth((*tests)[i]);
        if (!holds) {
            refuse(c, range, "a tensor decides what `filter` keeps", "use `op.Compress`");
            return {};
        }
        if (*holds) {
            kept.push_back(items[i]);
        }
    }
    return kept;
}

}  // namespace

Object py_filter(Context& c, const Arguments& a) {
    return lazy(
        c, "a filter", a, 1,
        [function = a.positional[0], list = a.positional[1], range = a.range](Context& user) {
            return std::optional(filtered(user, function, list, range));
        });
}

Object sorted_list(Context& c, std::vector<Object> items, const Object& key, bool reverse,
                   Range range) {
    std::optional<std::vector<Object>> keys = apply_to_each(c, key, items, range);
    if (!keys) {
        return Object::error();
    }
    std::vector<std::pair<Object, Object>> keyed;
    for (size_t i = 0; i < items.size(); ++i) {
        keyed.emplace_back((*keys)[i], items[i]);
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

Object py_sorted(Context& c, const Arguments& a) {
    std::optional<std::vector<Object>> items = static_items(c, a.positional[0]);
    if (!items) {
        return refuse(c, a.range, fmt::format("`sorted` of {}", kind_name(a.positional[0])),
                      a.positional[0].is_tensor() ? "call `op.TopK`" : "");
    }
    const KeywordArgument* key = a.find("key");
    const KeywordArgument* reverse = a.find("reverse");
    return sorted_list(c, std::move(*items), key != nullptr ? key->value : Object::none(),
                       reverse != nullptr && truth(reverse->value) == true, a.range);
}

namespace {

Object all_any(Context& c, const Arguments& a, Quantifier which) {
    bool all = which == Quantifier::kAll;
    if (a.positional[0].is_numbers()) {
        Object one = Object::tensor(a.positional[0].value());
        one = tensor_any_all(c, one, a.ranges[0], which);
        return one.is_tensor() ? Object::number(one.value()) : one;
    }
    if (a.positional[0].is_tensor()) {
        return tensor_any_all(c, a.positional[0], a.ranges[0], which);
    }
    std::optional<std::vector<Object>> items = static_items(c, a.positional[0]);
    if (!items) {
        return refuse(c, a.range,
                      fmt::format("`{}` of {}", all ? "all" : "any", kind_name(a.positional[0])));
    }
    ir::Value* so_far = nullptr;
    for (const Object& item : *items) {
        Object test = condition(c, item, a.range);
        if (test.is_error()) {
            return test;
        }
        if (test.is_tensor()) {
            Emitter e(c, a.range);
            ir::Value* one = e.rank(test.value()) == 0
                                 ? test.value()
                                 : e.emit("Reshape", {test.value(), e.int64s({})});
            so_far = so_far == nullptr ? one : e.emit(all ? "And" : "Or", {so_far, one});
        } else if (test.as_bool() != all) {
            return Object::boolean(!all);
        }
    }
    return so_far != nullptr ? Object::tensor(so_far) : Object::boolean(all);
}

}  // namespace

Object py_all(Context& c, const Arguments& a) {
    return all_any(c, a, Quantifier::kAll);
}

Object py_any(Context& c, const Arguments& a) {
    return all_any(c, a, Quantifier::kAny);
}

}  // namespace sardonyx::elaborate
