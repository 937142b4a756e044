#include "elaborate/library/array_operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <span>
#include <utility>

#include "elaborate/library/array_functions.h"
#include "elaborate/library/array_shapes.h"
#include "elaborate/library/numpy_functions.h"
#include "elaborate/objects/array_math.h"
#include "elaborate/objects/arrays.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/statics.h"

namespace sardonyx::elaborate {

using lowering::Binary;
using lowering::Unary;
using syntax::CompareOp;

namespace {

// Both arguments as operands: a number of Python beside an array takes its type, two of them have
// their own.
std::optional<Arguments> array_operands(Context& c, const Arguments& a) {
    Arguments made = a;
    bool has_array = false;
    for (size_t i = 0; i < 2; ++i) {
        Object& one = made.positional[i];
        one = as_array_scalar(one);
        one = one.is_sequence() && one.is_static() ? array_from(c, one, a.ranges[i]) : one;
        has_array |= one.is(ObjectKind::kConstant);
        if (one.is_error()) {
            return std::nullopt;
        }
    }
    return has_array ? std::optional(std::move(made)) : with_arrays(c, made, 2);
}

Object numpys_result(Context& c, const Arguments& a, std::optional<Object> made,
                     std::string_view name) {
    return made ? as_numpys_number(*made) : refuse_array(c, a, name);
}

Object numpys_result(Context& c, const Arguments& a, std::optional<Tensor> made,
                     std::string_view name) {
    return made ? as_numpys_number(constant_of(std::move(*made))) : refuse_array(c, a, name);
}

// The one array of a call; the error object after a diagnostic.
Object one_array(Context& c, const Arguments& a, std::string_view name) {
    std::optional<Arguments> made = with_arrays(c, a, 1);
    if (!made) {
        return Object::error();
    }
    const Object& array = made->positional[0];
    return known_array(&array) != nullptr && a.positional.size() == 1 && a.keywords.empty()
               ? array
               : refuse_array(c, a, name);
}

}  // namespace

// --- Two arrays ----------------------------------------------------------------------------------

Object array_operator(Context& c, const Arguments& a, Binary op) {
    std::optional<Arguments> both = array_operands(c, a);
    std::string_view symbol = lowering::kBinarySymbols[static_cast<size_t>(op)];
    return !both ? Object::error()
                 : numpys_result(
                       c, a, array_binary(c, op, both->positional[0], both->positional[1], a.range),
                       symbol);
}

Object array_comparison(Context& c, const Arguments& a, CompareOp op) {
    std::optional<Arguments> both = array_operands(c, a);
    return !both
               ? Object::error()
               : numpys_result(
                     c, a, array_compare(c, op, both->positional[0], both->positional[1], a.range),
                     "equal");
}

Object array_logic(Context& c, const Arguments& a, Binary op) {
    std::optional<Arguments> both = with_arrays(c, a, 2);
    if (!both) {
        return Object::error();
    }
    auto flags = [](const Object& one) {
        const Tensor* array = known_array(&one);
        std::optional<Tensor> cast =
            array != nullptr ? cast_array(*array, ElementType::kBool) : std::nullopt;
        return cast ? constant_of(std::move(*cast)) : Object::error();
    };
    Object x = flags(both->positional[0]), y = flags(both->positional[1]);
    return x.is_error() || y.is_error()
               ? refuse_array(c, a, "logical_and")
               : numpys_result(c, a, array_binary(c, op, x, y, a.range), "logical_and");
}

Object array_function_of_pairs(Context& c, const Arguments& a, double (*function)(double, double)) {
    std::optional<Arguments> both = array_operands(c, a);
    if (!both) {
        return Object::error();
    }
    // Zeros in the type and the shape of the result, as the quotient has them.
    const Object &x = both->positional[0], &y = both->positional[1];
    auto is_short = [](const Object& one) {  // an integer that NumPy makes a FLOAT16 or FLOAT of
        ElementType type =
            one.is(ObjectKind::kConstant) ? one.get<Tensor>().element_type() : ElementType::kDouble;
        return !is_floating(type) && byte_size(type, 1) < 4;
    };
    if (is_short(x) || is_short(y)) {
        return refuse_array(c, a, "arctan2");
    }
    std::optional<Object> quotient = array_binary(c, Binary::kDiv, x, y, a.range);
    if (!quotient || quotient->is_error()) {
        return quotient ? *quotient : refuse_array(c, a, "arctan2");
    }
    Tensor like = as_array_scalar(as_numpys_number(*quotient)).get<Tensor>();
    auto reals = [&](const Object& one) {
        double number = one.is(ObjectKind::kConstant) ? 0 : one.as_double();
        return one.is(ObjectKind::kConstant)
                   ? *cast_array(one.get<Tensor>(), ElementType::kDouble)
                   : *cast_array(*cast_array(Tensor::scalar<double>(number), like.element_type()),
                                 ElementType::kDouble);
    };
    Tensor left = reals(x), right = reals(y);
    std::optional<Broadcast> places = broadcast(left.dims(), right.dims());
    Tensor made = Tensor::uninitialized(ElementType::kDouble, places->dims);
    std::span<double> to = made.mutable_elements<double>();
    for (size_t i = 0; i < to.size(); ++i) {
        to[i] = function(
            std::as_const(left).elements<double>()[static_cast<size_t>(places->left[i])],
            std::as_const(right).elements<double>()[static_cast<size_t>(places->right[i])]);
    }
    return numpys_result(c, a, cast_array(made, like.element_type()), "arctan2");
}

// --- One array -----------------------------------------------------------------------------------

Object array_sign_operator(Context& c, const Arguments& a, Unary op) {
    Object array = one_array(c, a, "negative");
    return array.is_error() ? array : numpys_result(c, a, array_unary(op, array), "negative");
}

Object array_function_of_reals(Context& c, const Arguments& a, double (*function)(double)) {
    Object array = one_array(c, a, "arcsin");
    return array.is_error() ? array : numpys_result(c, a, map_array(array, function), "arcsin");
}

Object array_rounding(Context& c, const Arguments& a, double (*function)(double)) {
    Object array = one_array(c, a, "floor");
    if (array.is_error()) {
        return array;
    }
    if (!is_floating(array.get<Tensor>().element_type())) {
        return refuse(c, a.range,
                      "the floats without fractions of an array of integers, whose type depends on "
                      "NumPy's version",
                      "use the array itself, or make floats of it: `.astype(np.float64)`");
    }
    return numpys_result(c, a, map_array(array, function), "floor");
}

Object array_question(Context& c, const Arguments& a, bool (*question)(double)) {
    Object array = one_array(c, a, "isnan");
    if (array.is_error()) {
        return array;
    }
    std::optional<Tensor> reals = cast_array(array.get<Tensor>(), ElementType::kDouble);
    Tensor made = Tensor::uninitialized(ElementType::kBool, reals->dims());
    std::span<const double> from = std::as_const(*reals).elements<double>();
    std::transform(from.begin(), from.end(), made.mutable_elements<bool>().begin(), question);
    return numpys_result(c, a, std::optional<Tensor>(std::move(made)), "isnan");
}

Object np_abs(Context& c, const Arguments& a) {
    Object array = one_array(c, a, "abs");
    return array.is_error()
               ? array
               : numpys_result(c, a, std::optional<Tensor>(absolute(array.get<Tensor>())), "abs");
}

Object np_square(Context& c, const Arguments& a) {
    Object array = one_array(c, a, "square");
    bool is_flag = !array.is_error() && array.get<Tensor>().element_type() == ElementType::kBool;
    return array.is_error() ? array
           : is_flag        ? refuse_array(c, a, "square")
                     : numpys_result(c, a, array_binary(c, Binary::kMul, array, array, a.range),
                                     "square");
}

// 1, 0 or -1; NaN stays.
Object np_sign(Context& c, const Arguments& a) {
    Object array = one_array(c, a, "sign");
    if (array.is_error()) {
        return array;
    }
    const Tensor& tensor = array.get<Tensor>();
    if (is_floating(tensor.element_type())) {
        return numpys_result(c, a,
                             map_array(array,
                                       [](double x) {
                                           return x > 0 ? 1.0 : x < 0 ? -1.0 : x == 0 ? 0.0 : x;
                                       }),
                             "sign");
    }
    Tensor zero = Tensor::zeros(tensor.element_type(), {});
    std::optional<Broadcast> both = broadcast(tensor.dims(), {});
    std::optional<Tensor> above, below, made;
    if (both && tensor.element_type() != ElementType::kBool) {
        above = cast_array(*compare(CompareOp::kGt, tensor, zero, *both), tensor.element_type());
        below = cast_array(*compare(CompareOp::kLt, tensor, zero, *both), tensor.element_type());
        made = combine(Binary::kSub, *above, *below, *broadcast(tensor.dims(), tensor.dims()));
    }
    return numpys_result(c, a, std::move(made), "sign");
}

Object np_reciprocal(Context& c, const Arguments& a) {
    Object array = one_array(c, a, "reciprocal");
    bool is_float = !array.is_error() && is_floating(array.get<Tensor>().element_type());
    return array.is_error() ? array
           : !is_float
               ? refuse_array(c, a, "reciprocal")
               : numpys_result(c, a,
                               array_binary(c, Binary::kDiv, Object::integer(1), array, a.range),
                               "reciprocal");
}

Object np_logical_not(Context& c, const Arguments& a) {
    Object array = one_array(c, a, "logical_not");
    std::optional<Tensor> flags =
        array.is_error() ? std::nullopt : cast_array(array.get<Tensor>(), ElementType::kBool);
    return array.is_error()
               ? array
               : numpys_result(c, a, flags ? apply_unary(Unary::kInvert, *flags) : std::nullopt,
                               "logical_not");
}

// np.round(x, decimals=0): scaled by a power of ten, rounded to even, and scaled back.
Object np_round(Context& c, const Arguments& given) {
    std::optional<Arguments> a = with_arrays(c, given, 1);
    if (!a) {
        return Object::error();
    }
    const Object* decimals = argument_of(*a, 1, "decimals");
    const Object& array = a->positional[0];
    bool is_known = known_array(&array) != nullptr && !has_other_keywords(*a, {"decimals"}) &&
                    (decimals == nullptr || decimals->is(ObjectKind::kInt));
    int64_t places = is_known && decimals != nullptr ? decimals->as_int() : 0;
    ElementType type = is_known ? array.get<Tensor>().element_type() : ElementType::kUndefined;
    if (!is_known || places < 0 || places > 15 || type == ElementType::kBool) {
        return refuse_array(c, given, "round");
    }
    if (!is_floating(type)) {
        return as_numpys_number(constant_of(Tensor(array.get<Tensor>())));
    }
    Object scale = Object::real(std::pow(10.0, static_cast<double>(places)));
    std::optional<Object> scaled =
        places == 0 ? array : array_binary(c, Binary::kMul, array, scale, given.range);
    std::optional<Object> rounded = scaled && !scaled->is_error()
                                        ? map_array(as_array_scalar(*scaled), std::nearbyint)
                                        : scaled;
    bool is_back = places == 0 || !rounded || rounded->is_error();
    return numpys_result(
        c, given,
        is_back ? rounded
                : array_binary(c, Binary::kDiv, as_array_scalar(*rounded), scale, given.range),
        "round");
}

namespace {

// The array times a number that is rounded to its type first.
Object scaled_by(Context& c, const Arguments& a, double numerator, double denominator,
                 std::string_view name) {
    Object array = one_array(c, a, name);
    if (array.is_error()) {
        return array;
    }
    ElementType type = array.get<Tensor>().element_type();
    double factor = type == ElementType::kFloat
                        ? static_cast<float>(numerator) / static_cast<float>(denominator)
                        : numerator / denominator;
    bool is_known = type == ElementType::kFloat || type == ElementType::kDouble ||
                    type == ElementType::kInt64 || type == ElementType::kInt32;
    return is_known ? numpys_result(
                          c, a, array_binary(c, Binary::kMul, array, Object::real(factor), a.range),
                          name)
                    : refuse_array(c, a, name);
}

}  // namespace

Object np_radians(Context& c, const Arguments& a) {
    return scaled_by(c, a, std::numbers::pi, 180, "radians");
}

Object np_degrees(Context& c, const Arguments& a) {
    return scaled_by(c, a, 180, std::numbers::pi, "degrees");
}

Object np_sinc(Context& c, const Arguments& a) {
    Object array = one_array(c, a, "sinc");
    if (!array.is_error() && array.get<Tensor>().element_type() != ElementType::kDouble &&
        array.get<Tensor>().element_type() != ElementType::kInt64) {
        return refuse_array(c, a, "sinc");
    }
    std::optional<Object> angles =
        array.is_error()
            ? std::nullopt
            : array_binary(c, Binary::kMul, array, Object::real(std::numbers::pi), a.range);
    return array.is_error()
               ? array
               : numpys_result(
                     c, a,
                     angles && !angles->is_error()
                         ? map_array(as_array_scalar(*angles),
                                     [](double x) { return x == 0 ? 1 : std::sin(x) / x; })
                         : angles,
                     "sinc");
}

}  // namespace sardonyx::elaborate
