// Numbers that are known are computed with as in Python, others by tensor_builtins.
#include "elaborate/library/number_builtins.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "elaborate/emit/as_value.h"
#include "elaborate/emit/emit.h"
#include "elaborate/emit/emitter.h"
#include "elaborate/emit/interpreter.h"
#include "elaborate/emit/opsets.h"
#include "elaborate/emit/sizes.h"
#include "elaborate/emit/values.h"
#include "elaborate/library/integer_math.h"
#include "elaborate/library/iterable_builtins.h"
#include "elaborate/library/tensor_builtins.h"
#include "elaborate/objects/arguments.h"
#include "elaborate/objects/array_math.h"
#include "elaborate/objects/arrays.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/exception_types.h"
#include "elaborate/objects/items.h"
#include "elaborate/objects/statics.h"
#include "elaborate/operators/arithmetic.h"
#include "elaborate/operators/equality.h"

namespace sardonyx::elaborate {

using syntax::Range;

namespace {

// One operator over tensors and Python values.
Object apply_operator(Context& c, std::string_view name, const Arguments& a) {
    Arguments plain = a;
    plain.callee_range = a.callee_range;
    return call_operator(c, operator_opset(c), name, plain, 0);
}

// min and max of ints, some of which are known only when the graph runs.
Object extreme_of_ints(Context& c, const Arguments& a, Extreme which) {
    Emitter e(c, a.range);
    Object best = a.positional[0];
    for (size_t i = 1; i < a.positional.size() && !best.is_error(); ++i) {
        const Object& item = a.positional[i];
        if (std::optional<Object> settled = settled_extreme(which, best, item)) {
            best = *settled;
            continue;
        }
        ir::Value* left = as_value(c, best, a.range, ElementType::kInt64);
        ir::Value* right = as_value(c, item, a.ranges[i], ElementType::kInt64);
        ir::Value* value = e.emit(which == Extreme::kMax ? "Max" : "Min", {left, right});
        best = value != nullptr ? Object::number(value) : Object::error();
    }
    return best;
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
                  fmt::format("check first: `{}(x) if len(x) > 0 else d`", word));
}

// min and max: of the arguments, or of the items of one list.
Object extreme(Context& c, const Arguments& a, Extreme which) {
    std::string_view word = which == Extreme::kMax ? "max" : "min";
    const KeywordArgument *key = a.find("key"), *otherwise = a.find("default");
    if (a.keywords.size() > static_cast<size_t>((key != nullptr) + (otherwise != nullptr))) {
        return refuse(c, a.range, fmt::format("`{}` takes `key` and `default`", word));
    }
    std::vector<Object> items = a.positional;
    std::vector<Range> ranges = a.ranges;
    if (items.size() == 1) {
        if (items[0].is_numbers() && key == nullptr && otherwise == nullptr) {
            return tensor_extreme(c, a, which);
        }
        if (items[0].is_graph_value()) {
            if (otherwise != nullptr && items[0].is_tensor()) {
                std::optional<Object> given = default_of_empty(c, items[0], *otherwise, a, word);
                if (given) {
                    return *given;
                }
            }
            return key == nullptr
                       ? tensor_extreme(c, a, which)
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
        return are_ints ? extreme_of_ints(c, spread, which) : tensor_extreme(c, spread, which);
    }
    size_t best = 0;
    for (size_t i = 1; i < items.size(); ++i) {
        Object better = certain_compare(
            c, which == Extreme::kMax ? syntax::CompareOp::kGt : syntax::CompareOp::kLt, (*keys)[i],
            (*keys)[best], a.range);
        if (better.is_error()) {
            return better;
        }
        best = better.as_bool() ? i : best;
    }
    return items[best];
}

}  // namespace

Object py_max(Context& c, const Arguments& a) {
    return extreme(c, a, Extreme::kMax);
}

Object py_min(Context& c, const Arguments& a) {
    return extreme(c, a, Extreme::kMin);
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
        return Object::real(std::fabs(object.as_double())).shown(object.shown_as());
    }
    if (object.is(ObjectKind::kConstant) && has_arithmetic(object.get<Tensor>().element_type())) {
        return as_numpys_number(
            Object::make(ObjectKind::kConstant, absolute(object.get<Tensor>())));
    }
    if (!object.is_whole()) {
        return refuse(c, a.range, fmt::format("`abs` of {}", kind_name(object)));
    }
    return object.as_whole() < 0 ? static_unary(c, lowering::Unary::kMinus, object, a.range)
                                 : Object::whole(object.as_whole()).shown(object.shown_as());
}

namespace {

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
    Int128 value = object.as_whole(), rest = value % unit;
    bool is_odd = ((value / unit - (rest < 0 ? 1 : 0)) & 1) != 0;
    rest += rest < 0 ? unit : 0;
    Int128 half = unit / 2;
    Int128 change = rest > half || (rest == half && is_odd) ? unit - rest : -rest;
    return __builtin_add_overflow(value, change, &value)
               ? refuse(c, range, "the result does not fit in 128 bits")
               : Object::whole(value);
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

}  // namespace

Object py_round(Context& c, const Arguments& a) {
    const Object& object = a.positional[0];
    if (object.is_graph_value()) {
        return tensor_round(c, a);
    }
    // To an int of Python; to digits it stays a scalar of NumPy's, which rounds in another way.
    Object number = plain_number(object);
    bool is_scalar = object.is(ObjectKind::kConstant) && number.is_number();
    if (is_scalar && !number.is(ObjectKind::kBool) && a.positional.size() == 1) {
        Arguments plain = a;
        plain.positional[0] = number;
        return py_round(c, plain);
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
    if (a.positional.size() == 3) {
        return power_modulo(c, a);
    }
    return binary(c, syntax::BinaryOp::kPow, {a.positional[0], a.ranges[0]},
                  {a.positional[1], a.ranges[1]}, a.range);
}

namespace {

// How many bits |value| has, and how many of them are set.
Object bit_count(Int128 value, bool counts_ones) {
    Uint128 rest = value < 0 ? ~static_cast<Uint128>(value) + 1 : static_cast<Uint128>(value);
    int64_t bits = 0, ones = 0;
    for (; rest != 0; rest >>= 1, ++bits) {
        ones += static_cast<int64_t>(rest & 1);
    }
    return Object::integer(counts_ones ? ones : bits);
}

}  // namespace

Object number_method(Context& c, const MethodObject& method, const Arguments& a) {
    const Object& self = method.self;
    if (!a.positional.empty() || !a.keywords.empty()) {
        return refuse(c, a.range, fmt::format("`{}` takes no arguments", method.name));
    }
    if (method.name == "is_integer") {
        double value = self.as_double();
        return Object::boolean(self.is_whole() ||
                               (std::isfinite(value) && value == std::floor(value)));
    }
    return bit_count(self.as_whole(), method.name == "bit_count");
}

Object py_divmod(Context& c, const Arguments& a) {
    Object whole = binary(c, syntax::BinaryOp::kFloorDiv, {a.positional[0], a.ranges[0]},
                          {a.positional[1], a.ranges[1]}, a.range);
    Object rest = binary(c, syntax::BinaryOp::kMod, {a.positional[0], a.ranges[0]},
                         {a.positional[1], a.ranges[1]}, a.range);
    return whole.is_error() || rest.is_error() ? Object::error() : Object::tuple({whole, rest});
}

namespace {

// Whether the sum of known numbers is another one from Python 3.12 on, which adds what floats lose
// at the end.
bool depends_on_version(const Object& start, const std::vector<Object>& items) {
    auto is_number = [](const Object& one) { return one.is_number(); };
    if (!start.is_number() || !std::all_of(items.begin(), items.end(), is_number)) {
        return false;
    }
    bool is_float = start.is(ObjectKind::kFloat);
    double plain = 0, exact = 0, lost = 0;
    Int128 whole = is_float ? Int128{0} : start.as_whole();
    plain = exact = is_float ? start.as_double() : 0;
    for (const Object& item : items) {
        if (!is_float && item.is_whole()) {
            if (__builtin_add_overflow(whole, item.as_whole(), &whole)) {
                return false;  // which is refused
            }
            continue;
        }
        if (!is_float) {
            plain = exact = static_cast<double>(whole);
            is_float = true;
        }
        double value = item.as_double(), next = exact + value;
        if (item.is(ObjectKind::kFloat)) {
            lost += std::fabs(exact) >= std::fabs(value) ? (exact - next) + value
                                                         : (value - next) + exact;
        }
        exact = next;
        plain += value;
    }
    double result = lost != 0 && std::isfinite(lost) ? exact + lost : exact;
    return plain != result && !(std::isnan(plain) && std::isnan(result));
}

bool is_float_number(const Object& object) {
    return object.is_number_tensor() && is_floating(object.value()->type.element_type());
}

}  // namespace

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
    if (total.is_text()) {
        refuse(c, a.range, fmt::format("`sum` that starts with {}", kind_name(total)),
               "use `''.join(...)`");
        return raises(c, "TypeError");
    }
    if (depends_on_version(total, *items)) {
        return refuse(c, a.range, "a `sum` of floats that depends on the version of Python",
                      "use `math.fsum` outside the script, or add with `+`");
    }
    bool first = a.positional.size() == 1;
    for (const Object& item : *items) {
        // 0 + x is x: no node for the start value. But 0 + -0.0 is 0.0.
        total = first && item.is_tensor() && !is_float_number(item)
                    ? item
                    : binary(c, syntax::BinaryOp::kAdd, {total, a.range}, {item, a.range}, a.range);
        first = false;
        if (total.is_error()) {
            return total;
        }
    }
    return total;
}

}  // namespace sardonyx::elaborate
