// Of numbers that are known they are computed, of tensors they become nodes (tensor_builtins).
#include "elaborate/library/math_functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "elaborate/emit/emitter.h"
#include "elaborate/emit/values.h"
#include "elaborate/library/array_reductions.h"
#include "elaborate/library/array_shapes.h"
#include "elaborate/library/tensor_builtins.h"
#include "elaborate/objects/arguments.h"
#include "elaborate/objects/arrays.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/items.h"
#include "elaborate/objects/statics.h"
#include "elaborate/operators/arithmetic.h"

namespace sardonyx::elaborate {

namespace {

double degrees(double radians) {
    return radians * (180.0 / std::numbers::pi);
}

double radians(double degrees) {
    return degrees * (std::numbers::pi / 180.0);
}

// CPython's `gamma` and `lgamma` are its own, with other last bits than those of the C library.
constexpr RealFunction kMath[] = {{"sqrt", std::sqrt},
                                  {"exp", std::exp},
                                  {"log", std::log},
                                  {"log2", std::log2},
                                  {"log10", std::log10},
                                  {"log1p", std::log1p},
                                  {"expm1", std::expm1},
                                  {"sin", std::sin},
                                  {"cos", std::cos},
                                  {"tan", std::tan},
                                  {"asin", std::asin},
                                  {"acos", std::acos},
                                  {"atan", std::atan},
                                  {"sinh", std::sinh},
                                  {"cosh", std::cosh},
                                  {"tanh", std::tanh},
                                  {"fabs", std::fabs},
                                  {"degrees", degrees},
                                  {"radians", radians},
                                  {"asinh", std::asinh},
                                  {"acosh", std::acosh},
                                  {"atanh", std::atanh},
                                  // NumPy has none of this name.
                                  {"erf", std::erf},
                                  {"erfc", std::erfc},
                                  // NumPy's own have other last bits.
                                  {"cbrt", std::cbrt},
                                  {"exp2", std::exp2}};
constexpr std::string_view kOfMathAlone[] = {"erf", "erfc", "cbrt", "exp2"};

// What Python raises: OverflowError for what is too large, ValueError for what has no result.
bool is_outside(double result, bool are_finite) {
    return are_finite && !std::isfinite(result);
}

Object outside(Context& c, const Arguments& a, std::string_view name) {
    std::vector<std::string> shown;
    for (const Object& one : a.positional) {
        shown.push_back(repr(one));
    }
    return refuse(c, a.range,
                  fmt::format("`{}` of {}: outside its domain, or too large", name,
                              fmt::join(shown, " and ")));
}

Object apply_real(Context& c, const Arguments& a, std::string_view name,
                  double (*function)(double)) {
    const Object& object = a.positional[0];
    if (!object.is_number()) {
        return refuse(c, a.range, fmt::format("`{}` of {}", name, kind_name(object)));
    }
    double value = object.as_double(), result = function(value);
    // NumPy warns, and gives an infinity.
    bool is_numpy_infinity = std::isinf(result) && name.starts_with("numpy.");
    if ((std::isnan(result) && !std::isnan(value)) ||
        (!is_numpy_infinity && is_outside(result, std::isfinite(value)))) {
        return outside(c, a, name);
    }
    return Object::real(result).shown(name.starts_with("numpy.") ? ShownAs::kNumpy
                                                                 : ShownAs::kPlain);
}

}  // namespace

Object call_real_function(Context& c, const BuiltinObject& builtin, const Arguments& a) {
    std::string_view name = builtin.name.substr(builtin.name.find('.') + 1);
    if (a.positional[0].is(ObjectKind::kConstant) && builtin.name.substr(0, 6) == "numpy.") {
        for (const RealFunction& row : kMath) {
            std::optional<Object> known =
                row.name == name ? map_array(a.positional[0], row.function) : std::nullopt;
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
        product = binary(c, syntax::BinaryOp::kMul, {product, a.range}, {item, a.range}, a.range);
    }
    return product;
}

// NumPy's product of nothing is a float, and its integers have 64 bits.
Object np_prod(Context& c, const Arguments& a) {
    if (known_array(&a.positional[0]) != nullptr || !a.keywords.empty() ||
        a.positional.size() > 1) {
        return np_prod_of_array(c, a);
    }
    Object product = math_prod(c, a);
    if (product.is(ObjectKind::kWideInt)) {
        return refuse(c, a.range, "`np.prod` that is too large for INT64", "use `math.prod`");
    }
    bool is_of_nothing = product.is(ObjectKind::kInt) && static_items(c, a.positional[0])->empty();
    return !product.is_number() ? product
           : is_of_nothing      ? Object::real(1).shown(ShownAs::kNumpy)
                                : product.shown(ShownAs::kNumpy);
}

namespace {

// A function of two real numbers; nothing of them is known only when the graph runs.
Object apply_to_two(Context& c, const Arguments& a, std::string_view name,
                    double (*function)(double, double)) {
    for (size_t i = 0; i < 2; ++i) {
        if (!a.positional[i].is_number()) {
            return refuse(c, a.ranges[i],
                          fmt::format("`{}` of {}", name, kind_name(a.positional[i])),
                          "it takes numbers that are known when the script is compiled");
        }
    }
    double left = a.positional[0].as_double(), right = a.positional[1].as_double();
    double result = function(left, right);
    bool is_new_nan = std::isnan(result) && !std::isnan(left) && !std::isnan(right);
    return is_new_nan || is_outside(result, std::isfinite(left) && std::isfinite(right))
               ? outside(c, a, name)
               : Object::real(result);
}

// Of a float that the run decides: IsNaN or IsInf, or neither.
Object classify_number(Context& c, const Arguments& a, std::string_view name, ir::Value* value) {
    Emitter e(c, a.range);
    ir::Value* is_nan = name == "math.isinf" ? nullptr : e.emit("IsNaN", {value});
    ir::Value* is_inf = name == "math.isnan" ? nullptr : e.emit("IsInf", {value});
    ir::Value* result = is_nan == nullptr   ? is_inf
                        : is_inf == nullptr ? is_nan
                                            : e.emit("Not", {e.emit("Or", {is_nan, is_inf})});
    return result != nullptr ? Object::number(result) : Object::error();
}

Object classify(Context& c, const Arguments& a, std::string_view name, bool (*is_so)(double)) {
    const Object& object = a.positional[0];
    ElementType type =
        object.is_tensor() ? object.value()->type.element_type() : ElementType::kUndefined;
    bool is_float = type == ElementType::kFloat || type == ElementType::kDouble;
    if (object.is_number_tensor() && is_float && !object.is_either()) {
        return classify_number(c, a, name, object.value());
    }
    return object.is_number() ? Object::boolean(is_so(object.as_double()))
           : object.is_graph_value()
               ? refuse(c, a.range, fmt::format("`{}` of a tensor", name),
                        "use `op.IsNaN(x)` or `op.IsInf(x)`")
               : refuse(c, a.range, fmt::format("`{}` of {}", name, kind_name(object)));
}

}  // namespace

// A float, of integers too.
Object math_pow(Context& c, const Arguments& a) {
    if (a.positional[0].is_number() && a.positional[1].is_number()) {
        return apply_to_two(c, a, "math.pow", std::pow);
    }
    return binary(c, syntax::BinaryOp::kPow, {a.positional[0], a.range}, {a.positional[1], a.range},
                  a.range);
}

Object math_log(Context& c, const Arguments& a) {
    BuiltinObject natural{"math.log", 0};
    if (a.positional.size() == 1) {
        return call_real_function(c, natural, a);
    }
    bool are_numbers = a.positional[0].is_number() && a.positional[1].is_number();
    if (are_numbers && (a.positional[0].as_double() <= 0 || a.positional[1].as_double() <= 0 ||
                        a.positional[1].as_double() == 1)) {
        return outside(c, a, "math.log");
    }
    return apply_to_two(c, a, "math.log",
                        [](double x, double base) { return std::log(x) / std::log(base); });
}

Object math_atan2(Context& c, const Arguments& a) {
    return apply_to_two(c, a, "math.atan2", std::atan2);
}

Object math_copysign(Context& c, const Arguments& a) {
    return apply_to_two(c, a, "math.copysign", std::copysign);
}

Object math_fmod(Context& c, const Arguments& a) {
    return apply_to_two(c, a, "math.fmod", std::fmod);
}

Object math_isfinite(Context& c, const Arguments& a) {
    return classify(c, a, "math.isfinite", std::isfinite);
}

Object math_isinf(Context& c, const Arguments& a) {
    return classify(c, a, "math.isinf", std::isinf);
}

Object math_isnan(Context& c, const Arguments& a) {
    return classify(c, a, "math.isnan", std::isnan);
}

std::span<const RealFunction> real_functions() {
    return kMath;
}

bool is_real_function(std::string_view module, std::string_view name) {
    bool is_missing =
        module != "math" &&
        std::find(std::begin(kOfMathAlone), std::end(kOfMathAlone), name) != std::end(kOfMathAlone);
    return !is_missing && std::any_of(std::begin(kMath), std::end(kMath),
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
