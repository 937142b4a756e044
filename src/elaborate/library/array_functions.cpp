// NumPy's functions that make arrays of numbers and arrays that are known.
#include "elaborate/library/array_functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "elaborate/library/numpy_functions.h"
#include "elaborate/objects/arguments.h"
#include "elaborate/objects/array_math.h"
#include "elaborate/objects/arrays.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/element_types.h"
#include "elaborate/objects/statics.h"
#include "ops/substitutes.h"

namespace sardonyx::elaborate {

using syntax::Range;

Object refuse_array(Context& c, const Arguments& a, std::string_view name) {
    bool has_tensor = std::any_of(a.positional.begin(), a.positional.end(),
                                  [](const Object& one) { return one.is_tensor(); });
    std::string help = has_tensor ? ops::help_for_function(name) : std::string();
    if (!help.empty()) {
        return refuse(c, a.range, fmt::format("`np.{}` of a tensor", name), std::move(help));
    }
    return refuse(c, a.range, fmt::format("`np.{}` of these arguments", name),
                  "make the array with `np.array`");
}

const Object* argument_of(const Arguments& a, size_t position, std::string_view name) {
    const KeywordArgument* keyword = a.find(name);
    return keyword != nullptr               ? &keyword->value
           : position < a.positional.size() ? &a.positional[position]
                                            : nullptr;
}

std::optional<Arguments> with_arrays(Context& c, const Arguments& a, size_t count) {
    Arguments made = a;
    for (size_t i = 0; i < std::min(count, made.positional.size()); ++i) {
        Object& one = made.positional[i];
        one = as_array_scalar(one);
        bool is_listed = one.is_sequence() || one.is_number() || one.is(ObjectKind::kRange);
        one = is_listed && one.is_static() ? array_from(c, one, a.ranges[i]) : one;
        if (one.is_error()) {
            return std::nullopt;
        }
    }
    return made;
}

bool has_other_keywords(const Arguments& a, std::initializer_list<std::string_view> known) {
    for (const KeywordArgument& keyword : a.keywords) {
        if (std::find(known.begin(), known.end(), keyword.name) == known.end()) {
            return true;
        }
    }
    return false;
}

namespace {

constexpr int64_t kMostNumbers = int64_t{1} << 24;

// The array in the type that `dtype` says, else in its own.
Object as_dtype(Context& c, const Arguments& a, Tensor array, std::optional<ElementType> type,
                std::string_view name) {
    std::optional<Tensor> cast =
        type ? cast_array(array, *type != ElementType::kUndefined ? *type : array.element_type())
             : std::nullopt;
    return cast ? Object::make(ObjectKind::kConstant, std::move(*cast)) : refuse_array(c, a, name);
}

Object filled_like(Context& c, const Arguments& a, const Object& value, size_t dtype_position,
                   std::string_view name) {
    const Object& like = a.positional[0];
    if (!like.is(ObjectKind::kConstant) || !value.is_number() || has_other_keywords(a, {"dtype"}) ||
        !has_arithmetic(like.get<Tensor>().element_type())) {
        return refuse_array(c, a, name);
    }
    std::optional<ElementType> type = dtype_argument(a, dtype_position);
    ElementType element =
        type && *type != ElementType::kUndefined ? *type : like.get<Tensor>().element_type();
    double real = value.as_double();
    Result<Tensor> one = tensor_from_doubles(ElementType::kDouble, {}, std::span(&real, 1));
    std::optional<Tensor> item =
        type && one.ok() && has_arithmetic(element) ? cast_array(*one, element) : std::nullopt;
    if (!item) {
        return refuse_array(c, a, name);
    }
    const Dims& dims = like.get<Tensor>().dims();
    std::vector<int64_t> places(static_cast<size_t>(like.get<Tensor>().count()), 0);
    return Object::make(ObjectKind::kConstant, gather(*item, places, dims));
}

}  // namespace

// np.linspace(start, stop, num=50, endpoint=True, dtype=None)
Object np_linspace(Context& c, const Arguments& a) {
    const Object *start = argument_of(a, 0, "start"), *stop = argument_of(a, 1, "stop");
    const Object *number = argument_of(a, 2, "num"), *endpoint = argument_of(a, 3, "endpoint");
    bool is_known = !has_other_keywords(a, {"start", "stop", "num", "endpoint", "dtype"}) &&
                    start != nullptr && stop != nullptr && start->is_number() &&
                    stop->is_number() && a.positional.size() <= 4 &&
                    (number == nullptr || number->is(ObjectKind::kInt)) &&
                    (endpoint == nullptr || endpoint->is(ObjectKind::kBool));
    int64_t count = number != nullptr && is_known ? number->as_int() : 50;
    if (!is_known || count < 0 || count > kMostNumbers) {
        return refuse_array(c, a, "linspace");
    }
    bool to_end = endpoint == nullptr || endpoint->as_bool();
    int64_t parts = to_end ? count - 1 : count;
    double first = start->as_double(), width = stop->as_double() - first;
    double step = parts > 0 ? width / static_cast<double>(parts) : width;
    Tensor array = Tensor::uninitialized(ElementType::kDouble, {count});
    std::span<double> elements = array.mutable_elements<double>();
    for (size_t i = 0; i < elements.size(); ++i) {
        // As NumPy: a step that has vanished is no step.
        double way = step == 0 && parts > 0
                         ? static_cast<double>(i) / static_cast<double>(parts) * width
                         : static_cast<double>(i) * step;
        elements[i] = way + first;
    }
    if (to_end && count > 1) {
        elements[elements.size() - 1] = stop->as_double();
    }
    std::optional<ElementType> type = dtype_argument(a, 5);
    bool is_integer_type = type && *type != ElementType::kUndefined && !is_floating(*type);
    if (is_integer_type) {  // which NumPy rounds down
        for (double& element : elements) {
            element = std::floor(element);
        }
    }
    return as_dtype(c, a, std::move(array), type, "linspace");
}

namespace {

// NumPy takes the difference of the first two, in the type of the elements.
template <typename T, typename Stored>
Tensor evenly_spaced(int64_t count, double start, double step) {
    Tensor array = Tensor::uninitialized(kElementTypeOf<Stored>, {count});
    std::span<Stored> elements = array.mutable_elements<Stored>();
    auto stored = [](double value) { return static_cast<T>(static_cast<Stored>(value)); };
    T first = stored(start), second = stored(start + step), difference = second - first;
    for (size_t i = 0; i < elements.size(); ++i) {
        T one = i == 0 ? first : i == 1 ? second : first + static_cast<T>(i) * difference;
        elements[i] = static_cast<Stored>(one);
    }
    return array;
}

}  // namespace

Object arange_of_floats(Context& c, const Arguments& a, std::optional<ElementType> type) {
    std::vector<double> parts;
    for (const Object& one : a.positional) {
        if (!one.is_number()) {
            return refuse_array(c, a, "arange");
        }
        parts.push_back(one.as_double());
    }
    double start = parts.size() == 1 ? 0 : parts[0];
    double stop = parts.size() == 1 ? parts[0] : parts[1];
    double step = parts.size() == 3 ? parts[2] : 1;
    double length = std::ceil((stop - start) / step);
    if (!(length < static_cast<double>(kMostNumbers)) || !type ||
        (*type != ElementType::kUndefined && !is_floating(*type))) {
        return refuse_array(c, a, "arange");
    }
    int64_t count = length > 0 ? static_cast<int64_t>(length) : 0;
    return *type == ElementType::kFloat
               ? Object::make(ObjectKind::kConstant,
                              evenly_spaced<float, float>(count, start, step))
           : *type == ElementType::kUndefined || *type == ElementType::kDouble
               ? Object::make(ObjectKind::kConstant,
                              evenly_spaced<double, double>(count, start, step))
               : refuse_array(c, a, "arange");
}

// np.logspace(start, stop, num=50): powers of ten of np.linspace.
Object np_logspace(Context& c, const Arguments& a) {
    if (has_other_keywords(a, {"start", "stop", "num", "endpoint"})) {
        return refuse_array(c, a, "logspace");
    }
    Object powers = np_linspace(c, a);
    std::optional<Object> made =
        powers.is_error()
            ? std::nullopt
            : array_binary(c, lowering::Binary::kPow, Object::real(10), powers, a.range);
    return made ? *made : Object::error();
}

// np.eye(rows, columns=rows, k=0): ones on one of the diagonals.
Object np_eye(Context& c, const Arguments& a) {
    const Object *size = &a.positional[0], *second = argument_of(a, 1, "M");
    second = second == nullptr || second->is_none() ? size : second;
    auto is_size = [](const Object& one) {
        return one.is(ObjectKind::kInt) && one.as_int() >= 0 && one.as_int() <= 4096;
    };
    const Object* above = argument_of(a, 2, "k");
    if (!is_size(*size) || !is_size(*second) || has_other_keywords(a, {"dtype", "M", "k"}) ||
        (above != nullptr && !above->is(ObjectKind::kInt))) {
        return refuse_array(c, a, "eye");
    }
    int64_t n = size->as_int(), m = second->as_int();
    int64_t k = above != nullptr ? std::clamp<int64_t>(above->as_int(), -n, m) : 0;
    Tensor array = Tensor::zeros(ElementType::kDouble, {n, m});
    for (int64_t i = std::max<int64_t>(-k, 0); i < std::min(n, m - k); ++i) {
        array.mutable_elements<double>()[static_cast<size_t>(i * m + i + k)] = 1;
    }
    return as_dtype(c, a, std::move(array), dtype_argument(a, SIZE_MAX), "eye");
}

Object np_zeros_like(Context& c, const Arguments& a) {
    return filled_like(c, a, Object::integer(0), 1, "zeros_like");
}
Object np_ones_like(Context& c, const Arguments& a) {
    return filled_like(c, a, Object::integer(1), 1, "ones_like");
}
Object np_empty_like(Context& c, const Arguments& a) {
    return filled_like(c, a, Object::integer(0), 1, "empty_like");
}
Object np_full_like(Context& c, const Arguments& a) {
    return filled_like(c, a, a.positional[1], 2, "full_like");
}

// np.copy(array): its elements in a new one.
Object np_copy(Context& c, const Arguments& a) {
    std::optional<Arguments> made = with_arrays(c, a, 1);
    if (!made || !made->positional[0].is(ObjectKind::kConstant)) {
        return made ? refuse_array(c, a, "copy") : Object::error();
    }
    return Object::make(ObjectKind::kConstant, Tensor(made->positional[0].get<Tensor>()));
}

Object np_atleast_2d(Context& c, const Arguments& a) {
    std::optional<Arguments> made = with_arrays(c, a, 1);
    if (!made || !made->positional[0].is(ObjectKind::kConstant)) {
        return made ? refuse_array(c, a, "atleast_2d") : Object::error();
    }
    const Object& array = made->positional[0];
    Dims dims = array.get<Tensor>().dims();
    if (dims.size() >= 2) {
        return array;
    }
    dims.insert(dims.begin(), 2 - dims.size(), 1);
    return reshaped_view(c, array, array.get<Tensor>().reshaped(std::move(dims)));
}

}  // namespace sardonyx::elaborate
