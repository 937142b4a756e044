// The tables of the library, and the builtins that are evaluated natively.

#include "elaborate/library.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "elaborate/arrays.h"
#include "elaborate/classes.h"
#include "elaborate/emit.h"
#include "elaborate/exceptions.h"
#include "elaborate/functions.h"
#include "elaborate/itertools.h"
#include "elaborate/script_keywords.h"
#include "elaborate/sizes.h"
#include "elaborate/statics.h"
#include "elaborate/tensor_builtins.h"
#include "elaborate/type_text.h"
#include "elaborate/values.h"
#include "elaborate/weights.h"
#include "ir/standard.h"
#include "ops/ops.h"
#include "types/domain.h"
#include "types/integers.h"

namespace sardonyx::elaborate {

using syntax::Range;

namespace {

bool any_tensor(const Arguments& a) {
    return std::any_of(a.positional.begin(), a.positional.end(),
                       [](const Object& object) { return object.is_graph_value(); });
}

// One operator over tensors and Python values.
Object apply_operator(Context& c, std::string_view name, const Arguments& a) {
    Arguments plain = a;
    plain.callee_range = a.callee_range;
    return call_operator(c, operator_opset(c), name, plain, 0);
}

// --- Builtins
// ----------------------------------------------------------------------------------------

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
    if (std::optional<Object> method = special_method(object, "__len__")) {
        return call_method_of(c, *method, object, {}, a.range);
    }
    bool has_length = !object.is(ObjectKind::kIterator) || object.get<IteratorObject>().is_view;
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

// min and max of ints, some of which are known only when the graph runs.
Object extreme_of_ints(Context& c, const Arguments& a, bool want_max) {
    Emitter e(c, a.range);
    Object best = a.positional[0];
    for (size_t i = 1; i < a.positional.size() && !best.is_error(); ++i) {
        const Object& item = a.positional[i];
        if (std::optional<Object> settled = settled_extreme(want_max, best, item)) {
            best = *settled;
            continue;
        }
        ir::Value* left = as_value(c, best, a.range, ElementType::kInt64);
        ir::Value* right = as_value(c, item, a.ranges[i], ElementType::kInt64);
        ir::Value* value = e.emit(want_max ? "Max" : "Min", {left, right});
        best = value != nullptr ? Object::number(value) : Object::error();
    }
    return best;
}

// Calls a function on one static item each; nothing after an error.
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

// The items as `key` orders them; nothing after an error.
std::optional<std::vector<Object>> keys_of(Context& c, const std::vector<Object>& items,
                                           const KeywordArgument* key, Range range) {
    return key == nullptr || key->value.is_none() ? std::optional(items)
                                                  : apply_to_each(c, key->value, items, range);
}

// What `max(x, default=d)` of a tensor is where x may be empty; nothing: it has elements.
std::optional<Object> default_of_empty(Context& c, const Object& object,
                                       const KeywordArgument& otherwise, const Arguments& a,
                                       std::string_view word) {
    const Type& type = object.value()->type;
    bool is_known = type.is_tensor() && type.has_shape() && !type.shape().empty() &&
                    type.shape()[0].is_static();
    if (is_known) {
        return type.shape()[0].value() == 0 ? std::optional(otherwise.value) : std::nullopt;
    }
    return refuse(c, a.range,
                  fmt::format("`{}` with a default, of a tensor whose size is not known", word),
                  fmt::format("ask first: `{}(x) if len(x) > 0 else d`", word));
}

// min and max: of the arguments, or of the items of one list.
Object extreme(Context& c, const Arguments& a, bool want_max) {
    std::string_view word = want_max ? "max" : "min";
    const KeywordArgument *key = a.find("key"), *otherwise = a.find("default");
    if (a.keywords.size() > static_cast<size_t>((key != nullptr) + (otherwise != nullptr))) {
        return refuse(c, a.range, fmt::format("`{}` takes `key` and `default`", word));
    }
    std::vector<Object> items = a.positional;
    std::vector<Range> ranges = a.ranges;
    if (items.size() == 1) {
        if (items[0].is_numbers() && key == nullptr && otherwise == nullptr) {
            return tensor_extreme(c, a, want_max);
        }
        if (items[0].is_graph_value()) {
            if (otherwise != nullptr && items[0].is_tensor()) {
                std::optional<Object> given = default_of_empty(c, items[0], *otherwise, a, word);
                if (given) {
                    return *given;
                }
            }
            return key == nullptr
                       ? tensor_extreme(c, a, want_max)
                       : refuse(c, a.range, fmt::format("`{}` of a tensor by `key`", word),
                                "loop over its items");
        }
        std::optional<std::vector<Object>> inner = static_items(c, items[0]);
        if (inner && inner->empty() && otherwise != nullptr) {
            return otherwise->value;
        }
        if (!inner || inner->empty()) {
            refuse(c, a.range,
                   fmt::format("`{}` of {}", word, inner ? "nothing" : kind_name(items[0])));
            return inner ? raises(c, "ValueError") : Object::error();
        }
        items = std::move(*inner);
        ranges.assign(items.size(), a.range);
    }
    std::optional<std::vector<Object>> keys = keys_of(c, items, key, a.range);
    if (!keys) {
        return Object::error();
    }
    if (std::any_of(keys->begin(), keys->end(),
                    [](const Object& one) { return one.is_graph_value(); })) {
        if (key != nullptr && !key->value.is_none()) {
            return refuse(c, a.range, fmt::format("a tensor decides what `{}` is", word),
                          "use `op.Where`");
        }
        Arguments spread = a;
        spread.positional = std::move(items);
        spread.ranges = std::move(ranges);
        if (spread.positional.size() == 1) {
            return spread.positional[0];
        }
        bool are_ints =
            std::all_of(spread.positional.begin(), spread.positional.end(), is_python_int);
        return are_ints ? extreme_of_ints(c, spread, want_max)
                        : tensor_extreme(c, spread, want_max);
    }
    size_t best = 0;
    for (size_t i = 1; i < items.size(); ++i) {
        Object better =
            static_compare(c, want_max ? syntax::CompareOp::kGt : syntax::CompareOp::kLt,
                           (*keys)[i], (*keys)[best], a.range);
        if (better.is_error()) {
            return better;
        }
        best = better.as_bool() ? i : best;
    }
    return items[best];
}

Object py_max(Context& c, const Arguments& a) {
    return extreme(c, a, true);
}
Object py_min(Context& c, const Arguments& a) {
    return extreme(c, a, false);
}

Object py_abs(Context& c, const Arguments& a) {
    const Object& object = a.positional[0];
    if (is_python_number(object) && object.is_graph_value()) {
        ElementType type = number_type(object);
        type = type == ElementType::kBool ? ElementType::kInt64 : type;
        return as_number(
                   Emitter(c, a.range).emit("Abs", {as_typed_value(c, object, type, a.ranges[0])}))
            .either(gives_either(object, object));
    }
    if (object.is_graph_value()) {
        if (is_python_int(object) &&
            settled_compare(syntax::CompareOp::kGtE, object, Object::integer(0)) == true) {
            return object;
        }
        Object result = apply_operator(c, "Abs", a);
        return result.is_tensor() && is_python_number(object) ? Object::number(result.value())
                                                              : result;
    }
    if (object.is(ObjectKind::kFloat)) {
        return Object::real(std::fabs(object.as_double()));
    }
    if (!object.is_whole()) {
        return refuse(c, a.range, fmt::format("`abs` of {}", kind_name(object)));
    }
    return object.as_whole() < 0 ? static_unary(c, lowering::Unary::kMinus, object, a.range)
                                 : Object::whole(object.as_whole());
}

// round(x, -digits): to the nearest multiple of a power of ten, half to even.
Object round_to_tens(Context& c, const Object& object, int digits, Range range) {
    int64_t unit = 1;
    for (int i = 0; i < digits; ++i) {
        unit *= 10;
    }
    if (object.is(ObjectKind::kFloat)) {
        double whole = static_cast<double>(unit), value = std::fabs(object.as_double());
        double rest = std::fmod(value, whole), down = value - rest;
        bool is_odd = std::fmod(down / whole, 2.0) != 0;
        bool goes_up = rest > whole / 2 || (rest == whole / 2 && is_odd);
        return Object::real(std::copysign(goes_up ? down + whole : down, object.as_double()));
    }
    int64_t value = object.as_int(), rest = value % unit;
    rest += rest < 0 ? unit : 0;
    int64_t half = unit / 2;
    bool is_odd = ((value / unit - (value % unit < 0 ? 1 : 0)) & 1) != 0;
    int64_t change = rest > half || (rest == half && is_odd) ? unit - rest : -rest;
    return __builtin_add_overflow(value, change, &value)
               ? refuse(c, range, "the result does not fit in 64 bits")
               : Object::integer(value);
}

// round(x, digits) of a float: Python rounds its decimal digits.
Object round_to_digits(Context& c, const Object& object, int64_t digits, Range range) {
    if (object.is_whole() && digits >= 0) {
        return Object::whole(object.as_whole());
    }
    if (digits < -18 || digits > 300) {
        return refuse(c, range, fmt::format("`round` to {} digits", digits),
                      "use -18 to 300 digits");
    }
    if (digits < 0) {
        return round_to_tens(c, object, static_cast<int>(-digits), range);
    }
    return Object::real(
        std::strtod(fmt::format("{:.{}f}", object.as_double(), digits).c_str(), nullptr));
}

Object py_round(Context& c, const Arguments& a) {
    const Object& object = a.positional[0];
    if (object.is_graph_value()) {
        return tensor_round(c, a);
    }
    if (!object.is_number() || !std::isfinite(object.as_double()) ||
        (object.is(ObjectKind::kFloat) && std::fabs(object.as_double()) > 9e18)) {
        return refuse(c, a.range, fmt::format("`round` of {}", kind_name(object)));
    }
    if (a.positional.size() > 1 && a.positional[1].is_integer()) {
        return round_to_digits(c, object, a.positional[1].as_int(), a.range);
    }
    return object.is_whole()
               ? Object::whole(object.as_whole())
               : Object::integer(static_cast<int64_t>(std::nearbyint(object.as_double())));
}

Object py_pow(Context& c, const Arguments& a) {
    return binary(c, syntax::BinaryOp::kPow, a.positional[0], a.positional[1], a.range, a.ranges[0],
                  a.ranges[1]);
}

Object py_divmod(Context& c, const Arguments& a) {
    Object whole = binary(c, syntax::BinaryOp::kFloorDiv, a.positional[0], a.positional[1], a.range,
                          a.ranges[0], a.ranges[1]);
    Object rest = binary(c, syntax::BinaryOp::kMod, a.positional[0], a.positional[1], a.range,
                         a.ranges[0], a.ranges[1]);
    return whole.is_error() || rest.is_error() ? Object::error() : Object::tuple({whole, rest});
}

Object py_sum(Context& c, const Arguments& a) {
    if (a.positional[0].is_tensor() || a.positional[0].is_numbers()) {
        return tensor_sum(c, a);
    }
    std::optional<std::vector<Object>> items = static_items(c, a.positional[0]);
    if (!items) {
        return refuse(c, a.range, fmt::format("`sum` of {}", kind_name(a.positional[0])),
                      "sum a list, or use `op.ReduceSum`");
    }
    Object total = a.positional.size() > 1 ? a.positional[1] : Object::integer(0);
    bool first = a.positional.size() == 1;
    for (const Object& item : *items) {
        // 0 + x is x: no node for the start value.
        total = first && item.is_tensor()
                    ? item
                    : binary(c, syntax::BinaryOp::kAdd, total, item, a.range, a.range, a.range);
        first = false;
        if (total.is_error()) {
            return total;
        }
    }
    return total;
}

// An iterator over static arguments, of which `items` gives the items when it is used.
Object lazy(Context& c, std::string_view what, const Arguments& a, size_t first,
            std::function<std::optional<std::vector<Object>>(Context&)> items) {
    std::vector<Object> sources(a.positional.begin() + static_cast<std::ptrdiff_t>(first),
                                a.positional.end());
    for (const Object& source : sources) {
        bool is_iterable = source.is_sequence() || source.is(ObjectKind::kDict) ||
                           source.is(ObjectKind::kSet) || source.is(ObjectKind::kRange) ||
                           source.is(ObjectKind::kString) || source.is(ObjectKind::kIterator);
        if (!is_iterable) {
            return refuse(c, a.range, fmt::format("{} over {}", what, kind_name(source)),
                          "give lists whose lengths are known");
        }
    }
    IteratorObject iterator{what, std::move(items), Object::tuple(std::move(sources)),
                            c.span(a.range)};
    return make_iterator(c, std::move(iterator));
}

// The rows of zip; an error has been reported where there are none.
std::vector<std::vector<Object>> zipped_rows(Context& c, const std::vector<Object>& lists,
                                             bool is_strict, Range range) {
    std::vector<std::vector<Object>> columns;
    size_t shortest = SIZE_MAX;
    for (const Object& object : lists) {
        std::optional<std::vector<Object>> items = static_items(c, object);
        if (!items) {
            refuse(c, range, fmt::format("`zip` of {}", kind_name(object)),
                   "zip lists whose lengths are known");
            return {};
        }
        if (is_strict && !columns.empty() && items->size() != shortest) {
            refuse(c, range, "`zip` of lists of different lengths with `strict=True`");
            return {};
        }
        shortest = std::min(shortest, items->size());
        columns.push_back(std::move(*items));
    }
    std::vector<std::vector<Object>> rows;
    for (size_t i = 0; !columns.empty() && i < shortest; ++i) {
        std::vector<Object> row;
        for (const std::vector<Object>& column : columns) {
            row.push_back(column[i]);
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

Object py_zip(Context& c, const Arguments& a) {
    const KeywordArgument* strict = a.find("strict");
    bool is_strict = strict != nullptr && truth(strict->value) == true;
    return lazy(c, "a zip", a, 0,
                [lists = a.positional, is_strict, range = a.range](Context& user) {
                    std::vector<Object> rows;
                    for (std::vector<Object>& row : zipped_rows(user, lists, is_strict, range)) {
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
    if (a.positional[0].is(ObjectKind::kIterator) &&
        !a.positional[0].get<IteratorObject>().is_view) {
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

Object py_map(Context& c, const Arguments& a) {
    return lazy(c, "a map", a, 1, [a](Context& user) {
        std::vector<Object> lists(a.positional.begin() + 1, a.positional.end());
        std::vector<Object> results;
        for (std::vector<Object>& row : zipped_rows(user, lists, false, a.range)) {
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

Object py_filter(Context& c, const Arguments& a) {
    return lazy(
        c, "a filter", a, 1,
        [function = a.positional[0], list = a.positional[1], range = a.range](Context& user) {
            return std::optional(filtered(user, function, list, range));
        });
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

Object all_any(Context& c, const Arguments& a, bool all) {
    if (a.positional[0].is_numbers()) {
        Object one = Object::tensor(a.positional[0].value());
        one = tensor_any_all(c, one, a.ranges[0], all);
        return one.is_tensor() ? Object::number(one.value()) : one;
    }
    if (a.positional[0].is_tensor()) {
        return tensor_any_all(c, a.positional[0], a.ranges[0], all);
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

Object py_all(Context& c, const Arguments& a) {
    return all_any(c, a, true);
}
Object py_any(Context& c, const Arguments& a) {
    return all_any(c, a, false);
}

Object py_print(Context& c, const Arguments& a) {
    if (any_tensor(a)) {
        c.report(kPrintIgnored, a.range, "`print` of a tensor does nothing in a graph")
            .with_help("call the script eagerly to see the values");
    }
    return Object::none();
}

Object py_slice(Context& c, const Arguments& a) {
    (void)c;
    SliceObject slice{Object::none(), Object::none(), Object::none()};
    if (a.positional.size() == 1) {
        slice.upper = a.positional[0];
    } else {
        slice.lower = a.positional[0];
        slice.upper = a.positional[1];
        slice.step = a.positional.size() > 2 ? a.positional[2] : Object::none();
    }
    return Object::make(ObjectKind::kSlice, std::move(slice));
}

Object py_reveal_type(Context& c, const Arguments& a) {
    c.report(kRevealedType, a.ranges[0], type_text(a.positional[0]))
        .with_help("remove `reveal_type` when you know");
    return a.positional[0];
}

bool is_instance_of_attribute(const AttributeObject& attribute, std::string_view type) {
    switch (attribute.type) {
        case ir::AttributeType::kInt:
            return type == "int" || (attribute.is_bool && type == "bool");
        case ir::AttributeType::kFloat:
            return type == "float";
        case ir::AttributeType::kString:
            return type == "str";
        case ir::AttributeType::kTensor:
            return type == "ndarray";
        default:
            return type == "Sequence" || type == "Iterable";
    }
}

bool is_instance_of_number(ElementType element, std::string_view type) {
    return is_floating(element)            ? type == "float"
           : element == ElementType::kBool ? type == "bool" || type == "int"
                                           : type == "int";
}

bool is_instance(const Object& object, std::string_view type) {
    switch (object.kind()) {
        case ObjectKind::kAttribute:
            return is_instance_of_attribute(object.get<AttributeObject>(), type);
        case ObjectKind::kTensor:
            if (object.is_shape_tensor()) {
                return type == "tuple" || type == "Tuple" || type == "Sequence";
            }
            if (object.is_number_tensor() || is_python_int(object)) {
                return is_instance_of_number(object.value()->type.element_type(), type);
            }
            return object.value()->type.kind() == TypeKind::kSequence &&
                   (type == "list" || type == "List" || type == "Sequence" || type == "Iterable");
        case ObjectKind::kElementType:
            return object.is_type_number() && type == "int";
        case ObjectKind::kNumbers:
            return type == "list" || type == "List" || type == "Sequence" || type == "Iterable";
        case ObjectKind::kSet:
            return type == (object.is_frozen() ? "frozenset" : "set");
        case ObjectKind::kBool:
            return type == "bool" || type == "int";
        case ObjectKind::kInt:
        case ObjectKind::kWideInt:
            return type == "int";
        case ObjectKind::kFloat:
            return type == "float";
        case ObjectKind::kString:
            return type == "str";
        case ObjectKind::kList:
            return type == "list" || type == "List" || type == "Sequence" || type == "Iterable";
        case ObjectKind::kTuple:
            return type == "tuple" || type == "Tuple" || type == "Sequence" || type == "Iterable";
        case ObjectKind::kDict:
            return type == "dict";
        case ObjectKind::kConstant:
            return type == "ndarray";
        default:
            return false;
    }
}

bool is_list_type(ir::AttributeType type) {
    return type == ir::AttributeType::kInts || type == ir::AttributeType::kFloats ||
           type == ir::AttributeType::kStrings || type == ir::AttributeType::kTensors;
}

// What only a call can say: whether a list that is an attribute is a list or a tuple.
std::optional<Object> instance_of_open(Context& c, const Arguments& a,
                                       const std::vector<Object>& types) {
    auto asks = [&types](std::string_view name) {
        return std::any_of(types.begin(), types.end(), [name](const Object& type) {
            return type.is(ObjectKind::kPythonType) && type.get<PythonType>().name == name;
        });
    };
    const Object& object = a.positional[0];
    if (object.is_either() && std::any_of(types.begin(), types.end(), [](const Object& type) {
            return type.is(ObjectKind::kPythonType);
        })) {
        c.report(kStaticRequired, a.range,
                 "what the number is to Python is known only when the graph runs")
            .with_help("make it an `int` or a `float` in both cases");
        return Object::error();
    }
    bool is_list_attribute =
        object.is(ObjectKind::kAttribute) && is_list_type(object.get<AttributeObject>().type);
    if (is_list_attribute && asks("list") && asks("tuple")) {
        return Object::boolean(true);
    }
    if (is_list_attribute && (asks("list") || asks("tuple"))) {
        c.report(kStaticRequired, a.range,
                 "whether the argument is a list or a tuple is known only where the function is "
                 "called")
            .with_help("ask for both, as in `isinstance(x, (list, tuple))`");
        return Object::error();
    }
    return std::nullopt;
}

Object py_isinstance(Context& c, const Arguments& a) {
    std::vector<Object> types{a.positional[1]};
    if (types[0].is(ObjectKind::kTuple)) {
        types = std::vector<Object>(types[0].items());
    }
    if (std::optional<Object> open = instance_of_open(c, a, types)) {
        return *open;
    }
    for (const Object& type : types) {
        if (!type.is(ObjectKind::kPythonType)) {
            return refuse(c, a.range, fmt::format("`isinstance` with {}", kind_name(type)),
                          "compare with int, float, bool, str, list or tuple");
        }
        if (is_instance(a.positional[0], type.get<PythonType>().name)) {
            return Object::boolean(true);
        }
    }
    return Object::boolean(false);
}

// --- math and NumPy
// ------------------------------------------------------------------------------------

using RealFunction = double (*)(double);

struct MathRow {
    std::string_view name;
    RealFunction function;
};

constexpr MathRow kMath[] = {
    {"sqrt", std::sqrt},   {"exp", std::exp},     {"log", std::log},      {"log2", std::log2},
    {"log10", std::log10}, {"log1p", std::log1p}, {"expm1", std::expm1},  {"sin", std::sin},
    {"cos", std::cos},     {"tan", std::tan},     {"asin", std::asin},    {"acos", std::acos},
    {"atan", std::atan},   {"sinh", std::sinh},   {"cosh", std::cosh},    {"tanh", std::tanh},
    {"erf", std::erf},     {"erfc", std::erfc},   {"gamma", std::tgamma}, {"fabs", std::fabs}};

Object apply_real(Context& c, const Arguments& a, std::string_view name, RealFunction function) {
    const Object& object = a.positional[0];
    if (!object.is_number()) {
        return refuse(c, a.range, fmt::format("`{}` of {}", name, kind_name(object)));
    }
    double result = function(object.as_double());
    if (std::isnan(result) && !std::isnan(object.as_double())) {
        return refuse(c, a.range,
                      fmt::format("`{}` of {}: outside its domain", name, repr(object)));
    }
    return Object::real(result);
}

Object math_function(Context& c, const BuiltinObject& builtin, const Arguments& a) {
    std::string_view name = builtin.name.substr(builtin.name.find('.') + 1);
    if (a.positional[0].is(ObjectKind::kConstant) && builtin.name.substr(0, 6) == "numpy.") {
        for (const MathRow& row : kMath) {
            std::optional<Object> known =
                row.name == name ? map_array(c, a.positional[0], row.function) : std::nullopt;
            if (known) {
                return *known;
            }
        }
    }
    if (a.positional[0].is_graph_value()) {
        return tensor_math(c, builtin.name.substr(0, builtin.name.find('.')), name, a);
    }
    for (const MathRow& row : kMath) {
        if (row.name == name) {
            return apply_real(c, a, builtin.name, row.function);
        }
    }
    return Object::error();
}

Object to_integer(Context& c, const Arguments& a, RealFunction function) {
    const Object& object = a.positional[0];
    double value = object.is_number() ? function(object.as_double()) : std::nan("");
    if (object.is_whole()) {
        return Object::whole(object.as_whole());
    }
    return std::fabs(value) < 9.2e18
               ? Object::integer(static_cast<int64_t>(value))
               : refuse(c, a.range, fmt::format("{} as an integer", repr(object)));
}

Object math_floor(Context& c, const Arguments& a) {
    return a.positional[0].is_graph_value() ? tensor_math(c, "math", "floor", a)
                                            : to_integer(c, a, std::floor);
}
Object math_ceil(Context& c, const Arguments& a) {
    return a.positional[0].is_graph_value() ? tensor_math(c, "math", "ceil", a)
                                            : to_integer(c, a, std::ceil);
}

Object math_trunc(Context& c, const Arguments& a) {
    const Object& object = a.positional[0];
    if (is_python_number(object) && object.is_graph_value()) {
        return tensor_number(c, a, "int");
    }
    return object.is_graph_value()
               ? refuse(c, a.range, "`math.trunc` of a tensor", "write `int(x)`")
               : to_integer(c, a, std::trunc);
}

Object math_prod(Context& c, const Arguments& a) {
    if (a.positional[0].is_shape_tensor()) {
        ir::Value* product = Emitter(c, a.range)
                                 .emit("ReduceProd", {a.positional[0].value()},
                                       {ir::make_attribute("keepdims", int64_t{0})});
        return product != nullptr ? Object::number(product) : Object::error();
    }
    std::optional<std::vector<Object>> items = static_items(c, a.positional[0]);
    if (!items) {
        return refuse(c, a.range, fmt::format("`prod` of {}", kind_name(a.positional[0])));
    }
    Object product = Object::integer(1);
    for (const Object& item : *items) {
        product = binary(c, syntax::BinaryOp::kMul, product, item, a.range, a.range, a.range);
    }
    return product;
}

Object math_pow(Context& c, const Arguments& a) {
    return binary(c, syntax::BinaryOp::kPow, a.positional[0], a.positional[1], a.range, a.range,
                  a.range);
}

}  // namespace

// The element type that `dtype=` or a positional argument names; FLOAT by default for reals is
// NumPy's DOUBLE, so a tensor made without dtype keeps what Python's values imply, as literals do.
std::optional<ElementType> dtype_argument(const Arguments& a, size_t position) {
    const KeywordArgument* keyword = a.find("dtype");
    const Object* object = keyword != nullptr               ? &keyword->value
                           : a.positional.size() > position ? &a.positional[position]
                                                            : nullptr;
    if (object == nullptr || object->is_none()) {
        return ElementType::kUndefined;
    }
    if (object->is(ObjectKind::kElementType)) {
        return object->as_element_type();
    }
    if (object->is(ObjectKind::kPythonType)) {
        const std::string& name = object->get<PythonType>().name;
        return name == "float"  ? ElementType::kDouble
               : name == "int"  ? ElementType::kInt64
               : name == "bool" ? ElementType::kBool
                                : ElementType::kUndefined;
    }
    return std::nullopt;
}

namespace {

Object np_array(Context& c, const Arguments& a) {
    std::optional<ElementType> type = dtype_argument(a, 1);
    if (!type) {
        return refuse(c, a.range, "a dtype that is not known", "use np.float32, np.int64, ...");
    }
    // NumPy's floats are DOUBLE.
    ElementType element = *type == ElementType::kUndefined && has_float(a.positional[0])
                              ? ElementType::kDouble
                              : *type;
    std::optional<Tensor> tensor = static_tensor(c, a.positional[0], element, a.range);
    if (tensor && *type != ElementType::kUndefined && tensor->element_type() != *type) {
        tensor = cast_array(*tensor, *type);  // an array of another type
        if (!tensor) {
            return refuse(c, a.range, fmt::format("an array as {}", name(*type)));
        }
    }
    return tensor ? Object::make(ObjectKind::kConstant, std::move(*tensor)) : Object::error();
}

// An array of this type is given back as it is.
Object np_asarray(Context& c, const Arguments& a) {
    const Object& array = a.positional[0];
    std::optional<ElementType> type = dtype_argument(a, 1);
    bool is_it = array.is(ObjectKind::kConstant) && type &&
                 (*type == ElementType::kUndefined || *type == array.get<Tensor>().element_type());
    return is_it ? array : np_array(c, a);
}

std::optional<Dims> dims_argument(Context& c, const Object& object) {
    std::vector<Object> items{object};
    if (!object.is_integer()) {
        std::optional<std::vector<Object>> listed = static_items(c, object);
        if (!listed) {
            return std::nullopt;
        }
        items = std::move(*listed);
    }
    Dims dims;
    for (const Object& item : items) {
        if (!item.is_integer() || item.as_int() < 0) {
            return std::nullopt;
        }
        dims.push_back(item.as_int());
    }
    std::optional<int64_t> count = element_count(dims);
    constexpr int64_t kMostElements = int64_t{1} << 28;
    return count && *count <= kMostElements ? std::optional<Dims>(std::move(dims)) : std::nullopt;
}

Object np_filled(Context& c, const Arguments& a, const Object& value, size_t dtype_position) {
    std::optional<Dims> dims = dims_argument(c, a.positional[0]);
    std::optional<ElementType> type = dtype_argument(a, dtype_position);
    if (!dims || !type) {
        return refuse(c, a.range, "an array of this shape or dtype cannot be made",
                      "give non-negative ints");
    }
    ElementType element = *type != ElementType::kUndefined ? *type
                          : value.is(ObjectKind::kInt)     ? ElementType::kInt64
                          : value.is(ObjectKind::kBool)    ? ElementType::kBool
                                                           : ElementType::kDouble;
    size_t count = static_cast<size_t>(*element_count(*dims));
    Result<Tensor> tensor =
        value.is_whole() ? tensor_from_integers(element, std::move(*dims),
                                                std::vector<Int128>(count, value.as_whole()))
                         : tensor_from_doubles(element, std::move(*dims),
                                               std::vector<double>(count, value.as_double()));
    return tensor.ok() ? Object::make(ObjectKind::kConstant, std::move(*tensor))
                       : refuse(c, a.range, tensor.error().message);
}

Object np_zeros(Context& c, const Arguments& a) {
    return np_filled(c, a, Object::real(0), 1);
}
Object np_ones(Context& c, const Arguments& a) {
    return np_filled(c, a, Object::real(1), 1);
}
Object np_full(Context& c, const Arguments& a) {
    return a.positional[1].is_number()
               ? np_filled(c, a, a.positional[1], 2)
               : refuse(c, a.range, "`np.full` with a value that is no number");
}

Object np_arange(Context& c, const Arguments& a) {
    if (std::any_of(a.positional.begin(), a.positional.end(),
                    [](const Object& one) { return one.is(ObjectKind::kFloat); })) {
        return arange_of_floats(c, a);
    }
    Object range = py_range(c, a);
    std::optional<ElementType> type = dtype_argument(a, 3);
    if (range.is_error() || !type) {
        return Object::error();
    }
    std::optional<Tensor> tensor = static_tensor(c, range, *type, a.range);
    return tensor ? Object::make(ObjectKind::kConstant, std::move(*tensor)) : Object::error();
}

// onnx.helper.make_tensor(name, data_type, dims, vals)
Object make_tensor(Context& c, const Arguments& a) {
    auto argument = [&a](size_t position, std::string_view name) -> const Object* {
        const KeywordArgument* keyword = a.find(name);
        return keyword != nullptr               ? &keyword->value
               : position < a.positional.size() ? &a.positional[position]
                                                : nullptr;
    };
    const Object* type = argument(1, "data_type");
    const Object* dims = argument(2, "dims");
    const Object* values = argument(3, "vals");
    if (type == nullptr || dims == nullptr || values == nullptr) {
        return refuse(c, a.range, "`make_tensor` needs name, data_type, dims and vals");
    }
    ElementType element = type->is(ObjectKind::kElementType) ? type->as_element_type()
                          : type->is_integer() ? element_type_from_number(type->as_int())
                                               : ElementType::kUndefined;
    std::optional<Dims> shape = dims_argument(c, *dims);
    std::optional<Tensor> flat = element != ElementType::kUndefined && shape && values->is_static()
                                     ? static_tensor(c, *values, element, a.range)
                                     : std::nullopt;
    if (!flat || flat->count() != element_count(*shape)) {
        return refuse(c, a.range,
                      "`make_tensor` with a type, dims and values that do not go together");
    }
    return Object::make(ObjectKind::kConstant, flat->reshaped(std::move(*shape)));
}

// --- sardonyx
// ------------------------------------------------------------------------------------------

// A mistake does not make it another function: it is a script all the same.
Object sdx_script(Context& c, const Arguments& a) {
    DecoratorObject decorator;
    ScriptFunction tried;
    auto take = [&](std::string_view name, const Object& value, syntax::Range range) {
        std::optional<KeywordMistake> mistake = set_script_keyword(tried, name, value);
        if (mistake && !value.is_error()) {
            c.report(kArgumentMismatch, range, std::move(mistake->message))
                .with_help(std::move(mistake->help));
        }
        decorator.keywords.emplace_back(std::string(name), value);
    };
    for (size_t i = 0; i < a.positional.size(); ++i) {
        if (i >= kScriptPositions) {
            c.report(kArgumentMismatch, a.ranges[i],
                     fmt::format("`script` takes {} arguments by position, not {}",
                                 kScriptPositions, a.positional.size()))
                .with_help("give the rest by keyword");
            break;
        }
        take(script_keywords()[i], a.positional[i], a.ranges[i]);
    }
    for (const KeywordArgument& keyword : a.keywords) {
        take(keyword.name, keyword.value, keyword.range);
    }
    return Object::make(ObjectKind::kDecorator, std::move(decorator));
}

Object sdx_graph(Context& c, const Arguments& a) {
    (void)c, (void)a;
    DecoratorObject decorator;
    decorator.is_graph = true;
    return Object::make(ObjectKind::kDecorator, std::move(decorator));
}

Object sdx_opset(Context& c, const Arguments& a) {
    auto argument = [&a](size_t position, std::string_view name) -> Object {
        const KeywordArgument* keyword = a.find(name);
        return keyword != nullptr               ? keyword->value
               : position < a.positional.size() ? a.positional[position]
                                                : Object::error();
    };
    Object domain = argument(0, "domain"), version = argument(1, "version");
    if (!domain.is(ObjectKind::kString) || !version.is(ObjectKind::kInt) || version.as_int() < 1) {
        return refuse(c, a.range, "`Opset` needs a domain and a version",
                      "write `Opset(\"my.domain\", 1)`");
    }
    return Object::make(ObjectKind::kOpset,
                        OpsetObject{std::string(normal_domain(domain.text())), version.as_int()});
}

// The function with arguments that come before those of its calls.
Object functools_partial(Context& c, const Arguments& a) {
    (void)c;
    DictObject keywords;
    for (const KeywordArgument& keyword : a.keywords) {
        keywords.set(Object::string(std::string(keyword.name)), keyword.value);
    }
    std::vector<Object> rest(a.positional.begin() + 1, a.positional.end());
    return bind_arguments(a.positional[0], std::move(rest), std::move(keywords));
}

// As a decorator it is read with its class (classes.cpp).
Object dataclass_of_nothing(Context& c, const Arguments& a) {
    return refuse(c, a.range, "`dataclass` that does not decorate a class");
}

// A field of a dataclass: how it gets its value is kept (classes.cpp).
Object dataclasses_field(Context& c, const Arguments& a) {
    DictObject how;
    for (const KeywordArgument& keyword : a.keywords) {
        bool is_value = keyword.name == "default" || keyword.name == "default_factory";
        if (!is_value && keyword.name != "repr") {
            return refuse(c, keyword.name_range, fmt::format("`field` with `{}`", keyword.name));
        }
        if (is_value) {
            how.set(Object::string(std::string(keyword.name)), keyword.value);
        }
    }
    return Object::make(ObjectKind::kMethod,
                        MethodObject{Object::dict(std::move(how)), std::string(kField)});
}

Object py_cached_property(Context& c, const Arguments& a) {
    (void)c;
    return Object::make(ObjectKind::kMethod,
                        MethodObject{a.positional[0], "functools.cached_property"});
}

// The number of a character, and the character of a number.
Object py_ord(Context& c, const Arguments& a) {
    const Object& text = a.positional[0];
    bool is_one = text.is(ObjectKind::kString) && text.text().size() == 1 &&
                  static_cast<unsigned char>(text.text()[0]) < 0x80;
    return is_one ? Object::integer(text.text()[0])
                  : refuse(c, a.range, "`ord` of what is not one character of ASCII");
}

Object py_chr(Context& c, const Arguments& a) {
    const Object& number = a.positional[0];
    bool is_known = number.is_integer() && number.as_int() >= 0 && number.as_int() < 0x80;
    return is_known ? Object::string(std::string(1, static_cast<char>(number.as_int())))
                    : refuse(c, a.range, "`chr` of what is no number of an ASCII character");
}

// What a class makes of its functions (classes.cpp).
Object py_property(Context& c, const Arguments& a) {
    (void)c;
    return Object::make(ObjectKind::kMethod, MethodObject{a.positional[0], "property"});
}
Object py_classmethod(Context& c, const Arguments& a) {
    (void)c;
    return Object::make(ObjectKind::kMethod, MethodObject{a.positional[0], "classmethod"});
}
Object py_staticmethod(Context& c, const Arguments& a) {
    (void)c;
    return Object::make(ObjectKind::kMethod, MethodObject{a.positional[0], "staticmethod"});
}

Object enum_auto(Context& c, const Arguments& a) {
    (void)c, (void)a;
    return Object::make(ObjectKind::kPythonType, PythonType{std::string(kAuto), {}});
}

// onnx.numpy_helper.from_array(array, name) and to_array(tensor): the elements are copied.
Object copied_array(Context& c, const Arguments& a) {
    if (!a.positional[0].is(ObjectKind::kConstant)) {
        return refuse(c, a.range, fmt::format("{} as an array", kind_name(a.positional[0])));
    }
    Arguments one = a;
    one.positional.resize(1);
    one.ranges.resize(1);
    one.keywords.clear();
    return np_array(c, one);
}

// As the context of a `with` they are read there (exceptions.cpp).
Object context_of_nothing(Context& c, const Arguments& a) {
    return refuse(c, a.range, "a context manager outside of a `with`");
}

Object typing_type_var(Context& c, const Arguments& a) {
    (void)c, (void)a;
    return Object::make(ObjectKind::kPythonType, PythonType{"TypeVar", {}});
}

// --- The tables
// ----------------------------------------------------------------------------------------

using BuiltinFunction = Object (*)(Context&, const Arguments&);

struct BuiltinRow {
    std::string_view name;  // dotted, but for Python's builtins
    BuiltinFunction function;
    size_t least;  // positional arguments
    size_t most;
    bool takes_keywords = false;
    bool takes_tuples = false;  // of unknown length
};

constexpr BuiltinRow kBuiltins[] = {
    {"len", py_len, 1, 1, false, true},
    {"range", py_range, 1, 3},
    {"max", py_max, 1, SIZE_MAX, true, true},
    {"min", py_min, 1, SIZE_MAX, true, true},
    {"abs", py_abs, 1, 1},
    {"round", py_round, 1, 2},
    {"pow", py_pow, 2, 2},
    {"divmod", py_divmod, 2, 2},
    {"sum", py_sum, 1, 2, false, true},
    {"zip", py_zip, 0, SIZE_MAX, true},
    {"map", py_map, 2, SIZE_MAX},
    {"filter", py_filter, 2, 2},
    {"enumerate", py_enumerate, 1, 2, true},
    {"reversed", py_reversed, 1, 1},
    {"sorted", py_sorted, 1, 1, true},
    {"all", py_all, 1, 1, false, true},
    {"any", py_any, 1, 1, false, true},
    {"print", py_print, 0, SIZE_MAX, true, true},
    {"slice", py_slice, 1, 3},
    {"property", py_property, 1, 1},
    {"classmethod", py_classmethod, 1, 1},
    {"staticmethod", py_staticmethod, 1, 1},
    {"isinstance", py_isinstance, 2, 2, false, true},
    {"reveal_type", py_reveal_type, 1, 1, false, true},
    {"typing.reveal_type", py_reveal_type, 1, 1, false, true},
    {"math.floor", math_floor, 1, 1},
    {"math.ceil", math_ceil, 1, 1},
    {"math.prod", math_prod, 1, 1, false, true},
    {"math.pow", math_pow, 2, 2},
    {"numpy.array", np_array, 1, 2, true},
    {"numpy.asarray", np_asarray, 1, 2, true},
    {"numpy.zeros", np_zeros, 1, 2, true},
    {"numpy.ones", np_ones, 1, 2, true},
    {"numpy.full", np_full, 2, 3, true},
    {"numpy.arange", np_arange, 1, 3, true},
    {"numpy.linspace", np_linspace, 0, 4, true},
    {"numpy.eye", np_eye, 1, 1, true},
    {"numpy.zeros_like", np_zeros_like, 1, 2, true},
    {"numpy.ones_like", np_ones_like, 1, 2, true},
    {"numpy.full_like", np_full_like, 2, 3, true},
    {"numpy.prod", math_prod, 1, 1},
    {"numpy.load", load_array, 1, 2, true},
    {"functools.partial", functools_partial, 1, SIZE_MAX, true},
    {"functools.reduce", functools_reduce, 2, 3},
    {"itertools.product", itertools_product, 0, SIZE_MAX, true},
    {"itertools.chain", itertools_chain, 0, SIZE_MAX},
    {"itertools.chain.from_iterable", itertools_from_iterable, 1, 1},
    {"itertools.accumulate", itertools_accumulate, 1, 2, true},
    {"itertools.zip_longest", itertools_zip_longest, 0, SIZE_MAX, true},
    {"itertools.islice", itertools_islice, 2, 4},
    {"itertools.repeat", itertools_repeat, 1, 2, true},
    {"itertools.combinations", itertools_combinations, 2, 2},
    {"itertools.permutations", itertools_permutations, 1, 2},
    {"itertools.pairwise", itertools_pairwise, 1, 1},
    {"itertools.starmap", itertools_starmap, 2, 2},
    {"dataclasses.dataclass", dataclass_of_nothing, 0, SIZE_MAX, true},
    {"dataclasses.field", dataclasses_field, 0, 0, true},
    {"functools.cached_property", py_cached_property, 1, 1},
    {"ord", py_ord, 1, 1},
    {"chr", py_chr, 1, 1},
    {"math.trunc", math_trunc, 1, 1},
    {"contextlib.nullcontext", context_of_nothing, 0, SIZE_MAX, true},
    {"contextlib.suppress", context_of_nothing, 0, SIZE_MAX, true},
    {"enum.auto", enum_auto, 0, 0},
    {"onnx.numpy_helper.from_array", copied_array, 1, 2, true},
    {"onnx.numpy_helper.to_array", copied_array, 1, 1},
    {"onnx.helper.make_tensor", make_tensor, 0, 4, true},
    {"sardonyx.script", sdx_script, 0, SIZE_MAX, true},
    {"sardonyx.graph", sdx_graph, 0, 0},
    {"sardonyx.load_weights", load_weights, 1, 1},
    {"sardonyx.values.Opset", sdx_opset, 0, 2, true},
    {"typing.TypeVar", typing_type_var, 1, SIZE_MAX, true},
};

struct NumpyType {
    std::string_view name;
    ElementType type;
};

constexpr NumpyType kNumpyTypes[] = {{"float16", ElementType::kFloat16},
                                     {"float32", ElementType::kFloat},
                                     {"float64", ElementType::kDouble},
                                     {"double", ElementType::kDouble},
                                     {"single", ElementType::kFloat},
                                     {"half", ElementType::kFloat16},
                                     {"int8", ElementType::kInt8},
                                     {"int16", ElementType::kInt16},
                                     {"int32", ElementType::kInt32},
                                     {"int64", ElementType::kInt64},
                                     {"uint8", ElementType::kUint8},
                                     {"uint16", ElementType::kUint16},
                                     {"uint32", ElementType::kUint32},
                                     {"uint64", ElementType::kUint64},
                                     {"bool_", ElementType::kBool},
                                     {"complex64", ElementType::kComplex64},
                                     {"complex128", ElementType::kComplex128}};

constexpr std::string_view kPythonTypes[] = {"int",   "float", "bool", "str",      "list",
                                             "tuple", "dict",  "set",  "frozenset"};

constexpr std::string_view kTypingNames[] = {"Optional", "Union", "List",      "Sequence",
                                             "Tuple",    "Any",   "Annotated", "Iterable"};

// Modules by the name that the tables know them under.
struct ModuleRow {
    std::string_view name;
    std::string_view known_as;
};

constexpr ModuleRow kModules[] = {
    {"math", "math"},
    {"numpy", "numpy"},
    {"typing", "typing"},
    {"typing_extensions", "typing"},
    {"collections.abc", "typing"},
    {"collections", "collections"},
    {"__future__", "__future__"},
    {"functools", "functools"},
    {"contextlib", "contextlib"},
    {"itertools", "itertools"},
    {"dataclasses", "dataclasses"},
    {"enum", "enum"},
    {"onnx", "onnx"},
    {"onnx.helper", "onnx.helper"},
    {"onnx.numpy_helper", "onnx.numpy_helper"},
    {"sardonyx", "sardonyx"},
    {"sardonyx.values", "sardonyx"},
    {"sardonyx.onnx_types", "sardonyx"},
    {"sardonyx.onnx_opset", "sardonyx"},
    {"onnxscript", "sardonyx"},
    {"onnxscript.values", "sardonyx"},
    {"onnxscript.onnx_types", "sardonyx"},
    {"onnxscript.onnx_opset", "sardonyx"},
};

std::string_view known_as(std::string_view module) {
    for (const ModuleRow& row : kModules) {
        if (row.name == module) {
            return row.known_as;
        }
    }
    return {};
}

Object python_type(std::string_view name) {
    return Object::make(ObjectKind::kPythonType, PythonType{std::string(name), {}});
}

std::optional<Object> find_builtin(std::string_view name) {
    for (size_t i = 0; i < std::size(kBuiltins); ++i) {
        if (kBuiltins[i].name == name) {
            return Object::make(ObjectKind::kBuiltin,
                                BuiltinObject{kBuiltins[i].name, static_cast<int>(i)});
        }
    }
    return std::nullopt;
}

// The number at the end of "opset18"; 0: it has another form.
int64_t version_after(std::string_view name, std::string_view prefix) {
    if (name.size() <= prefix.size() || name.size() > prefix.size() + 4 ||
        name.substr(0, prefix.size()) != prefix) {
        return 0;
    }
    int64_t version = 0;
    for (char digit : name.substr(prefix.size())) {
        if (digit < '0' || digit > '9') {
            return 0;
        }
        version = version * 10 + (digit - '0');
    }
    return version;
}

struct OpsetPrefix {
    std::string_view prefix;
    std::string_view domain;
};

constexpr OpsetPrefix kOpsetPrefixes[] = {
    {"opset", ""},
    {"opset_ai_onnx_ml", "ai.onnx.ml"},
    {"opset_ai_onnx_preview_training", "ai.onnx.preview.training"},
    {"opset_ai_onnx_preview", "ai.onnx.preview"}};

std::optional<Object> sardonyx_attribute(std::string_view name) {
    ElementType type = element_type_from_name(name);
    if (type != ElementType::kUndefined) {
        return Object::make(ObjectKind::kType, TypeObject{Type::tensor(type, Shape{}), false});
    }
    for (const OpsetPrefix& row : kOpsetPrefixes) {
        int64_t version = version_after(name, row.prefix);
        const ops::DomainInfo* domain = ops::find_domain(row.domain);
        if (version != 0 && domain != nullptr && version >= domain->oldest_version &&
            version <= domain->newest_version) {
            return Object::make(ObjectKind::kOpset, OpsetObject{std::string(row.domain), version});
        }
    }
    if (name == "script" || name == "graph" || name == "load_weights") {
        return find_builtin(fmt::format("sardonyx.{}", name));
    }
    if (name == "reveal_type") {
        return find_builtin(name);
    }
    if (name == "TensorType") {
        return python_type(name);
    }
    if (name == "Opset") {
        return find_builtin("sardonyx.values.Opset");
    }
    for (std::string_view module : {"values", "onnx_types", "onnx_opset"}) {
        if (name == module) {
            return Object::make(ObjectKind::kModule,
                                ModuleObject{fmt::format("sardonyx.{}", name), nullptr});
        }
    }
    return std::nullopt;
}

std::optional<Object> number_constant(std::string_view module, std::string_view name) {
    if (module != "math" && module != "numpy") {
        return std::nullopt;
    }
    if (name == "pi") {
        return Object::real(3.14159265358979323846);
    }
    if (name == "e") {
        return Object::real(2.71828182845904523536);
    }
    if (name == "tau") {
        return Object::real(6.28318530717958647692);
    }
    if (name == "inf") {
        return Object::real(std::numeric_limits<double>::infinity());
    }
    if (name == "nan") {
        return Object::real(std::numeric_limits<double>::quiet_NaN());
    }
    if (name == "newaxis" && module == "numpy") {
        return Object::none();
    }
    return std::nullopt;
}

std::optional<Object> numpy_attribute(std::string_view name) {
    for (const NumpyType& row : kNumpyTypes) {
        if (row.name == name) {
            return Object::element_type(row.type, TypeForm::kNumpyClass);
        }
    }
    return name == "ndarray" ? std::optional<Object>(python_type(name)) : std::nullopt;
}

bool is_math(std::string_view name) {
    return std::any_of(std::begin(kMath), std::end(kMath),
                       [name](const MathRow& row) { return row.name == name; });
}

constexpr int kMathIndex = -1;  // BuiltinObject::index of the rows of kMath

// The stored text of a dotted name of the math table, which BuiltinObject borrows.
std::string_view math_name(std::string_view module, std::string_view name) {
    static const std::vector<std::string> kNames = [] {
        std::vector<std::string> names;
        for (std::string_view prefix : {"math.", "numpy."}) {
            for (const MathRow& row : kMath) {
                names.push_back(std::string(prefix) + std::string(row.name));
            }
        }
        return names;
    }();
    for (const std::string& dotted : kNames) {
        if (dotted == fmt::format("{}.{}", module, name)) {
            return dotted;
        }
    }
    return {};
}

}  // namespace

std::optional<Object> library_name(std::string_view name) {
    if (std::find(std::begin(kPythonTypes), std::end(kPythonTypes), name) !=
            std::end(kPythonTypes) ||
        is_exception_type(name)) {
        return python_type(name);
    }
    return name.find('.') == std::string_view::npos ? find_builtin(name) : std::nullopt;
}

std::vector<std::string_view> library_names() {
    std::vector<std::string_view> names(std::begin(kPythonTypes), std::end(kPythonTypes));
    for (const BuiltinRow& row : kBuiltins) {
        if (row.name.find('.') == std::string_view::npos) {
            names.push_back(row.name);
        }
    }
    return names;
}

std::vector<std::string_view> library_modules() {
    std::vector<std::string_view> names;
    for (const ModuleRow& row : kModules) {
        names.push_back(row.name);
    }
    return names;
}

bool is_library_module(std::string_view module) {
    return !known_as(module).empty();
}

std::optional<Object> library_attribute(std::string_view module, std::string_view name) {
    std::string_view known = known_as(module);
    if (known == "sardonyx") {
        return sardonyx_attribute(name);
    }
    if (std::optional<Object> number = number_constant(known, name)) {
        return number;
    }
    if (std::optional<Object> builtin = find_builtin(fmt::format("{}.{}", known, name))) {
        return builtin;
    }
    if ((known == "math" || known == "numpy") && is_math(name)) {
        return Object::make(ObjectKind::kBuiltin,
                            BuiltinObject{math_name(known, name), kMathIndex});
    }
    if (known == "numpy") {
        return numpy_attribute(name);
    }
    if (known == "onnx") {
        if (name == "TensorProto") {
            return python_type(name);
        }
        if (name == "helper") {
            return Object::make(ObjectKind::kModule, ModuleObject{"onnx.helper", nullptr});
        }
        if (name == "numpy_helper") {
            return Object::make(ObjectKind::kModule, ModuleObject{"onnx.numpy_helper", nullptr});
        }
    }
    if (known == "collections" && name == "abc") {
        return Object::make(ObjectKind::kModule, ModuleObject{"collections.abc", nullptr});
    }
    if (known == "typing" && std::find(std::begin(kTypingNames), std::end(kTypingNames), name) !=
                                 std::end(kTypingNames)) {
        return python_type(name);
    }
    if (known == "enum" && (name == "Enum" || name == "IntEnum" || name == "StrEnum")) {
        return python_type(name);
    }
    if (known == "typing" && name == "TYPE_CHECKING") {
        return Object::boolean(false);
    }
    if (known == "__future__") {
        return Object::none();
    }
    return std::nullopt;
}

std::vector<std::string_view> library_module_names(std::string_view module) {
    std::vector<std::string_view> names;
    std::string_view known = known_as(module);
    for (const BuiltinRow& row : kBuiltins) {
        size_t dot = row.name.rfind('.');
        if (dot != std::string_view::npos && row.name.substr(0, dot) == known) {
            names.push_back(row.name.substr(dot + 1));
        }
    }
    if (known == "math" || known == "numpy") {
        for (const MathRow& row : kMath) {
            names.push_back(row.name);
        }
    }
    if (known == "sardonyx") {
        for (int i = 1; i < kElementTypeCount; ++i) {
            names.push_back(kElementTypeInfos[i].name);
        }
    }
    return names;
}

Object bind_arguments(const Object& function, std::vector<Object> first, DictObject keywords) {
    Object parts = Object::tuple(
        {function, Object::tuple(std::move(first)), Object::dict(std::move(keywords))});
    return Object::make(ObjectKind::kMethod, MethodObject{parts, std::string(kPartial)});
}

BuiltinObject library_builtin(std::string_view name) {
    std::optional<Object> found = find_builtin(name);
    SDX_CHECK(found.has_value());
    return found->get<BuiltinObject>();
}

bool is_builtin(const Object& object, std::string_view name) {
    return object.is(ObjectKind::kBuiltin) && object.get<BuiltinObject>().name == name;
}

Object call_library(Context& c, const BuiltinObject& builtin, const Arguments& arguments) {
    bool is_math_row = builtin.index == kMathIndex;
    const BuiltinRow* row = is_math_row ? nullptr : &kBuiltins[static_cast<size_t>(builtin.index)];
    size_t least = is_math_row ? 1 : row->least, most = is_math_row ? 1 : row->most;
    size_t count = arguments.positional.size();
    if (count < least || count > most) {
        c.report(kArgumentMismatch, arguments.range,
                 fmt::format("`{}` takes {} argument{}, not {}", builtin.name,
                             most == least      ? fmt::format("{}", least)
                             : most == SIZE_MAX ? fmt::format("at least {}", least)
                                                : fmt::format("{} to {}", least, most),
                             most == 1 ? "" : "s", count))
            .with_help(count < least ? "give the rest" : "remove the rest");
        return Object::error();
    }
    if (!arguments.keywords.empty() && (is_math_row || !row->takes_keywords)) {
        c.report(kArgumentMismatch, arguments.keywords[0].name_range,
                 fmt::format("`{}` takes no keyword arguments here", builtin.name))
            .with_help("give the arguments by position");
        return Object::error();
    }
    for (size_t i = 0; (is_math_row || !row->takes_tuples) && i < count; ++i) {
        if (arguments.positional[i].is_shape_tensor()) {
            c.report(kStaticRequired, arguments.ranges[i],
                     fmt::format("`{}` of a shape whose length is not known", builtin.name))
                .with_help("annotate the tensor with its dimensions");
            return Object::error();
        }
    }
    return is_math_row ? math_function(c, builtin, arguments) : row->function(c, arguments);
}

}  // namespace sardonyx::elaborate
