#include "elaborate/library/tensor_builtins.h"

#include <fmt/format.h>

#include <cmath>

#include "elaborate/emit/as_value.h"
#include "elaborate/emit/emit.h"
#include "elaborate/emit/emitter.h"
#include "elaborate/emit/sequences.h"
#include "elaborate/emit/values.h"
#include "elaborate/objects/arguments.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/statics.h"
#include "elaborate/objects/type_text.h"
#include "elaborate/operators/arithmetic.h"
#include "lowering/members.h"

namespace sardonyx::elaborate {

using syntax::Range;

namespace {

Object refuse_tensor(Context& c, Range range, std::string message, std::string help) {
    c.report(kUnsupportedOperand, range, std::move(message)).with_help(std::move(help));
    return Object::error();
}

ir::Value* cast_to(Context& c, ir::Value* value, ElementType type, Range range) {
    Emitter e(c, range);
    return lowering::cast(e, value, type);
}

// Float types stay, because DOUBLE holds them all; what Python would make a float of is DOUBLE.
ir::Value* as_float(Context& c, ir::Value* value, Range range) {
    return value == nullptr || is_floating(value->type.element_type())
               ? value
               : cast_to(c, value, ElementType::kDouble, range);
}

// A tensor of one element as a scalar; null, and a diagnostic that says `help`, for others.
ir::Value* one_element(Context& c, const Object& object, Range range, std::string_view what,
                       std::string help) {
    ir::Value* value = as_value(c, object, range);
    if (value == nullptr || (value->type.has_shape() && value->type.shape().empty())) {
        return value;
    }
    if (value->type.kind() != TypeKind::kTensor && value->type.is_known()) {
        refuse_tensor(c, range, fmt::format("{} of `{}`", what, type_text(value->type)),
                      "take a tensor out of it first");
        return nullptr;
    }
    for (int axis = 0;
         value->type.has_shape() && axis < static_cast<int>(value->type.shape().size()); ++axis) {
        const Dim& dim = value->type.shape()[static_cast<size_t>(axis)];
        if (dim.is_static() && dim.value() != 1) {
            refuse_tensor(c, range,
                          fmt::format("{} of `{}`, which has more than one element", what,
                                      type_text(value->type)),
                          std::move(help));
            return nullptr;
        }
    }
    Emitter e(c, range);
    return e.emit("Reshape", {value, e.int64s({})});
}

// The element of a tensor, or a number as it is held.
ir::Value* held_value(Context& c, const Object& object, Range range, std::string_view what,
                      std::string help) {
    return object.is_number_tensor() ? object.value()
                                     : one_element(c, object, range, what, std::move(help));
}

// The rank of a tensor that Python iterates; -1, and a diagnostic, when it is not known or 0.
int iterated_rank(Context& c, const Object& object, Range range, std::string_view word,
                  std::string_view operator_name) {
    const Type& type = object.value()->type;
    int rank = type.is_tensor() && type.has_shape() ? static_cast<int>(type.shape().size()) : -1;
    if (rank >= 1) {
        return rank;
    }
    if (is_sequence_value(object)) {
        refuse_tensor(c, range, fmt::format("`{}` of a list of tensors that the graph makes", word),
                      "compute it in a loop over the list that starts with a tensor");
        return -1;
    }
    refuse_tensor(c, range,
                  rank == 0 ? fmt::format("`{}` of a tensor of rank 0", word)
                            : fmt::format("`{}` of a tensor whose rank is not known", word),
                  fmt::format("call `op.{}(x)`", operator_name));
    return -1;
}

// The items of a list that a loop has stacked, as one tensor; null: it is no such list.
ir::Value* stacked_items(const Object& object) {
    return is_sequence_value(object) ? stacked_rows(object.value()) : nullptr;
}

// The same; other objects as they are.
Object as_rows(const Object& object) {
    ir::Value* rows = stacked_items(object);
    return rows != nullptr ? Object::tensor(rows) : object;
}

}  // namespace

namespace {

// As Python: the item where it is greater (or less), else what has been the best before; so nan
// stays where it comes first.
Object greater_of(Context& c, const Object& item, const Object& best, Extreme which, Range range,
                  Range whole) {
    if (!item.is_graph_value() && !best.is_graph_value()) {
        Object better = static_compare(
            c, which == Extreme::kMax ? syntax::CompareOp::kGt : syntax::CompareOp::kLt, item, best,
            whole);
        return better.is_error() ? better : better.as_bool() ? item : best;
    }
    bool are_numbers = is_python_number(item) && is_python_number(best);
    std::optional<ElementType> type = common_type(item, best);
    if (!type) {
        return refuse_tensor(c, range, "tensors of different element types are compared",
                             "cast one of them");
    }
    ir::Value* like = item.is_tensor() && !item.is_number_tensor()   ? item.value()
                      : best.is_tensor() && !best.is_number_tensor() ? best.value()
                                                                     : nullptr;
    auto typed = [&](const Object& object) {
        return object.is_tensor() && !object.is_number_tensor()
                   ? object.value()
                   : as_value(c, object, range, *type, like);
    };
    ir::Value* left = typed(item);
    ir::Value* right = left != nullptr ? typed(best) : nullptr;
    Emitter e(c, whole);
    ir::Value* result =
        right == nullptr ? nullptr
        : is_floating(e.element(left))
            ? e.emit("Where", {e.emit(which == Extreme::kMax ? "Greater" : "Less", {left, right}),
                               left, right})
            : e.emit(which == Extreme::kMax ? "Max" : "Min", {left, right});
    if (result == nullptr) {
        return Object::error();
    }
    // The greater one is what it is: Python's number stays one.
    auto is_open = [](const Object& one) {
        return is_python_number(one) || one.is_tensor_or_number();
    };
    Object kind = are_numbers                      ? Object::number(result)
                  : is_open(item) || is_open(best) ? Object::tensor_or_number(result)
                                                   : Object::tensor(result);
    return kind.either(is_either_of(item, best));
}

// The least or greatest element; Python raises where there is none, and so does the run.
ir::Value* extreme_element(Context& c, ir::Value* value, Extreme which, Range range) {
    const Dim& size = value->type.shape()[0];
    if (size.is_static() && size.value() == 0) {
        refuse_tensor(
            c, range,
            fmt::format("`{}` of an empty tensor", which == Extreme::kMax ? "max" : "min"),
            "give it elements");
        return nullptr;
    }
    ElementType type = value->type.element_type();
    if (type == ElementType::kBool) {
        refuse_tensor(
            c, range,
            fmt::format("`{}` of a tensor of BOOL", which == Extreme::kMax ? "max" : "min"),
            which == Extreme::kMax ? "call `any(x)`" : "call `all(x)`");
        return nullptr;
    }
    Emitter e(c, range);
    auto reduced = [&](ir::Value* of) {
        return e.emit(which == Extreme::kMax ? "ReduceMax" : "ReduceMin", {of},
                      {ir::make_attribute("keepdims", int64_t{0})});
    };
    bool may_be_nan = is_floating(type) && e.opset() >= 9;
    if (size.is_static() && !may_be_nan) {
        return reduced(value);
    }
    ir::Value* first = e.emit("Gather", {value, e.int64_scalar(0)});  // fails where there is none
    if (!may_be_nan) {
        return e.emit(which == Extreme::kMax ? "Max" : "Min", {reduced(value), first});
    }
    // Python keeps a nan that comes first, and passes over others.
    ir::Value* least = e.scalar_like(value, which == Extreme::kMax ? -HUGE_VAL : HUGE_VAL);
    ir::Value* others = reduced(e.emit("Where", {e.emit("IsNaN", {value}), least, value}));
    return e.emit("Where", {e.emit("IsNaN", {first}), first, others});
}

// The rank of all arguments, each of which is of one element; nothing: they differ.
std::optional<size_t> common_rank(const Arguments& a) {
    std::optional<size_t> common;
    for (const Object& one : a.positional) {
        bool is_open = one.is_tensor() && !one.value()->type.has_shape();
        size_t rank = one.is(ObjectKind::kConstant) ? one.get<Tensor>().dims().size()
                      : one.is_tensor() && !is_open ? one.value()->type.shape().size()
                                                    : 0;
        if (common && *common != rank && !is_open) {
            return std::nullopt;
        }
        common = is_open && common ? common : rank;
    }
    return common;
}

}  // namespace

Object tensor_extreme(Context& c, const Arguments& a, Extreme which) {
    std::string_view word = which == Extreme::kMax ? "max" : "min";
    std::string_view reduction = which == Extreme::kMax ? "ReduceMax" : "ReduceMin";
    if (a.positional.size() == 1) {
        Object list = as_rows(a.positional[0]);
        int rank = iterated_rank(c, list, a.ranges[0], word, reduction);
        if (rank > 1) {
            return refuse_tensor(
                c, a.ranges[0],
                fmt::format("`{}` of a tensor of rank {}, whose rows have no order", word, rank),
                fmt::format("call `op.{}(x)`", reduction));
        }
        ir::Value* found = rank < 0 ? nullptr : extreme_element(c, list.value(), which, a.range);
        bool of_numbers = a.positional[0].is_shape_tensor() || a.positional[0].is_numbers();
        return found != nullptr && of_numbers ? Object::number(found) : as_object(found);
    }
    std::string help = fmt::format("call `op.{}`, which compares the elements",
                                   which == Extreme::kMax ? "Max" : "Min");
    Object best;
    for (size_t i = 0; i < a.positional.size(); ++i) {
        Object item = a.positional[i];
        if (item.is_graph_value() && !is_python_number(item)) {
            ir::Value* one = one_element(c, item, a.ranges[i], fmt::format("`{}`", word), help);
            item = one == nullptr           ? Object::error()
                   : item.is_shape_tensor() ? as_object(one)
                                            : item.with_value(one);
        }
        best = i == 0 ? item : greater_of(c, item, best, which, a.ranges[i], a.range);
        if (best.is_error()) {
            return best;
        }
    }
    std::optional<size_t> rank = common_rank(a);
    if (!rank) {
        return refuse_tensor(
            c, a.range,
            fmt::format("`{}` of values of different ranks, one of which is chosen at run time",
                        word),
            "take the elements, as in `x[0]`");
    }
    if (*rank > 0 && best.is_tensor()) {
        Emitter e(c, a.range);
        ir::Value* shaped =
            e.emit("Reshape", {best.value(), e.int64s(std::vector<int64_t>(*rank, 1))});
        return shaped != nullptr ? best.with_value(shaped) : Object::error();
    }
    return best;
}

namespace {

// The sum of a list of Python's numbers is one.
Object sum_of_numbers(Context& c, const Arguments& a) {
    ir::Value* value = a.positional[0].value();
    bool of_bools = value->type.element_type() == ElementType::kBool;
    Arguments plain = a;
    plain.positional = {
        Object::tensor(of_bools ? cast_to(c, value, ElementType::kInt64, a.range) : value)};
    Object total = tensor_sum(c, plain);
    total = total.is_tensor() ? Object::number(total.value()) : total;
    return a.positional.size() < 2 || total.is_error()
               ? total
               : binary(c, syntax::BinaryOp::kAdd, {a.positional[1], a.ranges[1]},
                        {total, a.ranges[0]}, a.range);
}

// The sum of a list that a loop has stacked. That of no items is what Python starts with, which
// need not be of their shape and type.
Object sum_of_rows(Context& c, const Arguments& a, ir::Value* rows) {
    Arguments plain = a;
    plain.positional[0] = Object::tensor(rows);
    const Type& type = rows->type;
    if (type.has_shape() && !type.shape().empty() && type.shape()[0].is_at_least(1)) {
        return tensor_sum(c, plain);
    }
    if (!type.has_shape() || type.shape().size() != 1) {
        return refuse_tensor(c, a.ranges[0], "`sum` of tensors of which there may be none",
                             "compute it in a loop that starts with a tensor of their shape");
    }
    Object total = tensor_sum(c, plain);
    bool from_number = a.positional.size() < 2 || is_python_number(a.positional[1]);
    if (!total.is_tensor() || !from_number) {
        return total;
    }
    ElementType start =
        a.positional.size() < 2 ? ElementType::kInt64 : number_type(a.positional[1]);
    return Object::tensor_or_number(total.value()).either(start != type.element_type());
}

}  // namespace

Object tensor_sum(Context& c, const Arguments& a) {
    if (a.positional[0].is_numbers()) {
        return sum_of_numbers(c, a);
    }
    if (ir::Value* rows = stacked_items(a.positional[0])) {
        return sum_of_rows(c, a, rows);
    }
    if (iterated_rank(c, a.positional[0], a.ranges[0], "sum", "ReduceSum") < 0) {
        return Object::error();
    }
    Emitter e(c, a.range);
    ir::Value* value = a.positional[0].value();
    ir::Attribute drop = ir::make_attribute("keepdims", int64_t{0});
    Object total = as_object(
        e.opset() >= 13 ? e.emit("ReduceSum", {value, e.int64s({0})}, {drop})
                        : e.emit("ReduceSum", {value},
                                 {drop, ir::make_attribute("axes", std::vector<int64_t>{0})}));
    return a.positional.size() < 2 || total.is_error()
               ? total
               : binary(c, syntax::BinaryOp::kAdd, {total, a.ranges[0]},
                        {a.positional[1], a.ranges[1]}, a.range);
}

Object tensor_any_all(Context& c, const Object& list, Range range, Quantifier which) {
    Object object = as_rows(list);
    bool all = which == Quantifier::kAll;
    std::string_view word = all ? "all" : "any";
    int rank = iterated_rank(c, object, range, word, all ? "ReduceMin" : "ReduceMax");
    if (rank != 1) {
        return rank < 0 ? Object::error()
                        : refuse_tensor(
                              c, range,
                              fmt::format("`{}` of a tensor of rank {}, whose rows have "
                                          "no truth value",
                                          word, rank),
                              fmt::format("make it a row first: `{}(op.Reshape(x, [-1]))`", word));
    }
    // By their number, which is right for no elements as well.
    Emitter e(c, range);
    ir::Value* holds = cast_to(c, object.value(), ElementType::kBool, range);
    ir::Value* counted = all ? e.emit("Not", {holds}) : holds;
    ir::Value* count = e.emit("ReduceSum", {cast_to(c, counted, ElementType::kInt64, range)},
                              {ir::make_attribute("keepdims", int64_t{0})});
    return as_object(e.emit(all ? "Equal" : "Greater", {count, e.int64_scalar(0)}));
}

Object tensor_round(Context& c, const Arguments& a) {
    int64_t digits = 0;
    if (a.positional.size() > 1) {
        if (!a.positional[1].is_integer() && !a.positional[1].is_none()) {
            return refuse_tensor(c, a.ranges[1], "`round` to digits that are not known",
                                 "give an integer that is known at compile time");
        }
        digits = a.positional[1].is_none() ? 0 : a.positional[1].as_int();
    }
    Range ranges[] = {a.ranges[0]};
    Emitter e(c, a.range, ranges);
    if (is_python_number(a.positional[0])) {
        ElementType type = number_type(a.positional[0]);
        ir::Value* number = as_typed_value(c, a.positional[0], type, a.ranges[0]);
        if (number == nullptr || type != ElementType::kDouble) {
            return as_number(number != nullptr ? lowering::lower_round(e, number, digits)
                                               : nullptr);
        }
        bool to_int = a.positional.size() < 2 || a.positional[1].is_none();
        ir::Value* rounded = lowering::lower_round(e, number, digits);
        return as_number(to_int && rounded != nullptr
                             ? lowering::cast(e, rounded, ElementType::kInt64)
                             : rounded)
            .either(!to_int && a.positional[0].is_either());
    }
    ir::Value* value = as_value(c, a.positional[0], a.ranges[0]);
    return value != nullptr ? as_object(lowering::lower_round(e, value, digits)) : Object::error();
}

Object tensor_number(Context& c, const Arguments& a, std::string_view type) {
    ir::Value* value = held_value(c, a.positional[0], a.ranges[0], fmt::format("`{}`", type),
                                  "cast all of it: `op.Cast(x, to=...)`");
    if (value == nullptr) {
        return Object::error();
    }
    if (type == "bool") {
        return as_number(cast_to(c, value, ElementType::kBool, a.range));
    }
    if (type == "int") {
        bool is_wide = value->type.element_type() == ElementType::kUint64;
        return as_number(is_wide ? value : cast_to(c, value, ElementType::kInt64, a.range));
    }
    return as_number(as_float(c, value, a.range));
}

namespace {

struct MathOperator {
    std::string_view name;
    std::string_view op_type;  // "": none; then `nearest` helps
    std::string_view nearest;
    bool has_double = false;  // runtimes compute it on DOUBLE, as Python does
};

constexpr MathOperator kMathOperators[] = {
    {"sqrt", "Sqrt", "Sqrt", true}, {"exp", "Exp", "Exp", true},  {"log", "Log", "Log", true},
    {"sin", "Sin", "Sin", true},    {"cos", "Cos", "Cos", true},  {"tan", "Tan", "Tan"},
    {"asin", "Asin", "Asin"},       {"acos", "Acos", "Acos"},     {"atan", "Atan", "Atan"},
    {"sinh", "Sinh", "Sinh"},       {"cosh", "Cosh", "Cosh"},     {"tanh", "Tanh", "Tanh", true},
    {"erf", "Erf", "Erf"},          {"fabs", "Abs", "Abs", true}, {"floor", "Floor", "Floor", true},
    {"ceil", "Ceil", "Ceil", true}, {"log2", "", "Log"},          {"log10", "", "Log"},
    {"log1p", "", "Log"},           {"expm1", "", "Exp"},         {"erfc", "", "Erf"},
    {"gamma", "", "Exp"},           {"cbrt", "", "Pow"},          {"exp2", "", "Pow"},
};

}  // namespace

Object tensor_math(Context& c, std::string_view module, std::string_view name, const Arguments& a) {
    const MathOperator* row = nullptr;
    for (const MathOperator& candidate : kMathOperators) {
        row = candidate.name == name ? &candidate : row;
    }
    if (module != "math" || row == nullptr || row->op_type.empty()) {
        return refuse_tensor(c, a.range, fmt::format("`{}.{}` of a tensor", module, name),
                             row != nullptr
                                 ? fmt::format("the nearest operator is `op.{}(x)`", row->nearest)
                                 : "use an operator");
    }
    ir::Value* value = held_value(c, a.positional[0], a.ranges[0], fmt::format("`math.{}`", name),
                                  fmt::format("call `op.{}(x)`", row->op_type));
    if (value == nullptr) {
        return Object::error();
    }
    // Python computes with DOUBLE; where runtimes have no such kernel, what FLOAT holds stays one.
    ElementType held = value->type.element_type();
    bool is_narrow = is_floating(held) && held != ElementType::kDouble;
    value = cast_to(c, value,
                    row->has_double || (!is_narrow && held != ElementType::kUndefined)
                        ? ElementType::kDouble
                        : ElementType::kFloat,
                    a.range);
    Emitter e(c, a.range);
    ir::Value* result = e.emit(row->op_type, {value});
    if (result != nullptr && (name == "floor" || name == "ceil")) {
        result = cast_to(c, result, ElementType::kInt64, a.range);  // an int to Python
    }
    return as_number(result);
}

}  // namespace sardonyx::elaborate
