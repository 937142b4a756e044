// Of numbers that are known they are computed, of tensors they become nodes (tensor_builtins).
#include "elaborate/math_functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "elaborate/arithmetic.h"
#include "elaborate/array_functions.h"
#include "elaborate/arrays.h"
#include "elaborate/attributes.h"
#include "elaborate/calls.h"
#include "elaborate/emitter.h"
#include "elaborate/items.h"
#include "elaborate/statics.h"
#include "elaborate/tensor_builtins.h"
#include "elaborate/values.h"

namespace sardonyx::elaborate {

namespace {

constexpr RealFunction kMath[] = {
    {"sqrt", std::sqrt},   {"exp", std::exp},     {"log", std::log},      {"log2", std::log2},
    {"log10", std::log10}, {"log1p", std::log1p}, {"expm1", std::expm1},  {"sin", std::sin},
    {"cos", std::cos},     {"tan", std::tan},     {"asin", std::asin},    {"acos", std::acos},
    {"atan", std::atan},   {"sinh", std::sinh},   {"cosh", std::cosh},    {"tanh", std::tanh},
    {"erf", std::erf},     {"erfc", std::erfc},   {"gamma", std::tgamma}, {"fabs", std::fabs}};

Object apply_real(Context& c, const Arguments& a, std::string_view name,
                  double (*function)(double)) {
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

}  // namespace

Object call_real_function(Context& c, const BuiltinObject& builtin, const Arguments& a) {
    std::string_view name = builtin.name.substr(builtin.name.find('.') + 1);
    if (a.positional[0].is(ObjectKind::kConstant) && builtin.name.substr(0, 6) == "numpy.") {
        for (const RealFunction& row : kMath) {
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
    for (const RealFunction& row : kMath) {
        if (row.name == name) {
            return apply_real(c, a, builtin.name, row.function);
        }
    }
    return Object::error();
}

namespace {

Object to_integer(Context& c, const Arguments& a, double (*function)(double)) {
    const Object& object = a.positional[0];
    double value = object.is_number() ? function(object.as_double()) : std::nan("");
    if (object.is_whole()) {
        return Object::whole(object.as_whole());
    }
    return std::fabs(value) < 9.2e18
               ? Object::integer(static_cast<int64_t>(value))
               : refuse(c, a.range, fmt::format("{} as an integer", repr(object)));
}

}  // namespace

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

std::span<const RealFunction> real_functions() {
    return kMath;
}

bool is_real_function(std::string_view name) {
    return std::any_of(std::begin(kMath), std::end(kMath),
                       [name](const RealFunction& row) { return row.name == name; });
}

// The stored text of a dotted name of the math table, which BuiltinObject borrows.
std::string_view real_function_name(std::string_view module, std::string_view name) {
    static const std::vector<std::string> kNames = [] {
        std::vector<std::string> names;
        for (std::string_view prefix : {"math.", "numpy."}) {
            for (const RealFunction& row : kMath) {
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

}  // namespace sardonyx::elaborate
