#include "elaborate/tensor_builtins.h"

#include <fmt/format.h>

#include <cmath>

#include "elaborate/emit.h"
#include "elaborate/statics.h"
#include "elaborate/type_text.h"
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

// Float types stay; what Python would make a float of is FLOAT.
ir::Value* as_float(Context& c, ir::Value* value, Range range) {
    return value == nullptr || is_floating(value->type.element_type())
               ? value
               : cast_to(c, value, ElementType::kFloat, range);
}

// The rank of a tensor that Python iterates; -1, and a diagnostic, when it is not known or 0.
int iterated_rank(Context& c, const Object& object, Range range, std::string_view word,
                  std::string_view operator_name) {
    const Type& type = object.value()->type;
    int rank = type.is_tensor() && type.has_shape() ? static_cast<int>(type.shape().size()) : -1;
    if (rank >= 1) {
        return rank;
    }
    refuse_tensor(c, range,
                  rank == 0 ? fmt::format("`{}` of a tensor of rank 0", word)
                            : fmt::format("`{}` of a tensor whose rank is not known", word),
                  fmt::format("call `op.{}(x)`", operator_name));
    return -1;
}

}  // namespace

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

Object tensor_extreme(Context& c, const Arguments& a, bool want_max) {
    std::string_view word = want_max ? "max" : "min";
    std::string_view reduction = want_max ? "ReduceMax" : "ReduceMin";
    Emitter e(c, a.range);
    if (a.positional.size() == 1) {
        int rank = iterated_rank(c, a.positional[0], a.ranges[0], word, reduction);
        if (rank > 1) {
            return refuse_tensor(
                c, a.ranges[0],
                fmt::format("`{}` of a tensor of rank {}, whose rows have no order", word, rank),
                fmt::format("call `op.{}(x)`", reduction));
        }
        return rank < 0 ? Object::error()
                        : as_object(e.emit(reduction, {a.positional[0].value()},
                                           {ir::make_attribute("keepdims", int64_t{0})}));
    }
    std::string help =
        fmt::format("call `op.{}`, which compares the elements", want_max ? "Max" : "Min");
    Arguments scalars = a;
    for (size_t i = 0; i < a.positional.size(); ++i) {
        if (!a.positional[i].is_graph_value()) {
            continue;
        }
        ir::Value* value =
            one_element(c, a.positional[i], a.ranges[i], fmt::format("`{}`", word), help);
        if (value == nullptr) {
            return Object::error();
        }
        scalars.positional[i] = Object::tensor(value);
    }
    return call_operator(c, operator_opset(c), want_max ? "Max" : "Min", scalars, 0);
}

Object tensor_sum(Context& c, const Arguments& a) {
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
               : binary(c, syntax::BinaryOp::kAdd, total, a.positional[1], a.range, a.ranges[0],
                        a.ranges[1]);
}

Object tensor_any_all(Context& c, const Object& object, Range range, bool all) {
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
    ir::Value* value = as_value(c, a.positional[0], a.ranges[0]);
    return value != nullptr ? as_object(lowering::lower_round(e, value, digits)) : Object::error();
}

Object tensor_number(Context& c, const Arguments& a, std::string_view type) {
    ir::Value* value = one_element(c, a.positional[0], a.ranges[0], fmt::format("`{}`", type),
                                   "cast all of it: `op.Cast(x, to=...)`");
    if (value == nullptr) {
        return Object::error();
    }
    if (type == "bool") {
        return as_object(cast_to(c, value, ElementType::kBool, a.range));
    }
    value = type == "int" ? cast_to(c, value, ElementType::kInt64, a.range)
                          : as_float(c, value, a.range);
    return value != nullptr ? Object::number(value) : Object::error();
}

namespace {

struct MathOperator {
    std::string_view name;
    std::string_view op_type;  // "": none; then `nearest` helps
    std::string_view nearest;
};

constexpr MathOperator kMathOperators[] = {
    {"sqrt", "Sqrt", "Sqrt"}, {"exp", "Exp", "Exp"},    {"log", "Log", "Log"},
    {"sin", "Sin", "Sin"},    {"cos", "Cos", "Cos"},    {"tan", "Tan", "Tan"},
    {"asin", "Asin", "Asin"}, {"acos", "Acos", "Acos"}, {"atan", "Atan", "Atan"},
    {"sinh", "Sinh", "Sinh"}, {"cosh", "Cosh", "Cosh"}, {"tanh", "Tanh", "Tanh"},
    {"erf", "Erf", "Erf"},    {"fabs", "Abs", "Abs"},   {"floor", "Floor", "Floor"},
    {"ceil", "Ceil", "Ceil"}, {"log2", "", "Log"},      {"log10", "", "Log"},
    {"log1p", "", "Log"},     {"expm1", "", "Exp"},     {"erfc", "", "Erf"},
    {"gamma", "", "Exp"},
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
    ir::Value* value = one_element(c, a.positional[0], a.ranges[0], fmt::format("`math.{}`", name),
                                   fmt::format("call `op.{}(x)`", row->op_type));
    Emitter e(c, a.range);
    ir::Value* result = e.emit(row->op_type, {as_float(c, value, a.range)});
    if (result != nullptr && (name == "floor" || name == "ceil")) {
        result = cast_to(c, result, ElementType::kInt64, a.range);  // an int to Python
    }
    return result != nullptr ? Object::number(result) : Object::error();
}

}  // namespace sardonyx::elaborate
