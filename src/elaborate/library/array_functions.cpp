// NumPy's functions that make arrays of numbers and arrays that are known.
#include "elaborate/library/array_functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "elaborate/library/array_shapes.h"
#include "elaborate/library/numpy_functions.h"
#include "elaborate/objects/arguments.h"
#include "elaborate/objects/array_math.h"
#include "elaborate/objects/arrays.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/element_types.h"
#include "elaborate/objects/statics.h"
#include "elaborate/operators/truth.h"
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

// --- Elements that are looked up --------------------------------------------------------------

namespace {

// Numbers that can be ordered: exactly, and without NaN.
struct Keys {
    std::vector<int64_t> integers;
    std::vector<double> floats;
    bool are_floats = false;

    size_t size() const { return are_floats ? floats.size() : integers.size(); }
    bool less(size_t i, const Keys& other, size_t j) const {
        return are_floats ? floats[i] < other.floats[j] : integers[i] < other.integers[j];
    }
};

std::optional<Keys> sortable_keys(const Tensor& array, bool as_floats) {
    Keys keys;
    keys.are_floats = as_floats;
    if (!as_floats) {
        std::optional<std::vector<int64_t>> values = to_int64s(array, INT64_MAX);
        keys.integers = values ? std::move(*values) : std::vector<int64_t>();
        return values ? std::optional(std::move(keys)) : std::nullopt;
    }
    std::optional<std::vector<double>> values = to_doubles(array, INT64_MAX);
    bool are_ordered = values && std::none_of(values->begin(), values->end(),
                                              [](double one) { return std::isnan(one); });
    keys.floats = are_ordered ? std::move(*values) : std::vector<double>();
    return are_ordered ? std::optional(std::move(keys)) : std::nullopt;
}

// The keys of both in one type; nothing: NumPy's is not known here.
std::optional<std::pair<Keys, Keys>> common_keys(const Tensor* a, const Tensor* b) {
    if (a == nullptr || b == nullptr) {
        return std::nullopt;
    }
    bool are_floats = is_floating(a->element_type()) || is_floating(b->element_type());
    std::optional<Keys> left = sortable_keys(*a, are_floats), right = sortable_keys(*b, are_floats);
    return left && right ? std::optional(std::pair(std::move(*left), std::move(*right)))
                         : std::nullopt;
}

Object int64_array(Dims dims, const std::vector<int64_t>& values) {
    Result<Tensor> made = tensor_from_int64s(ElementType::kInt64, std::move(dims), values);
    return as_numpys_number(constant_of(std::move(*made)));
}

Object int64_vector(const std::vector<int64_t>& values) {
    return int64_array({static_cast<int64_t>(values.size())}, values);
}

// The elements at these places of the array in one line.
std::optional<Tensor> elements_at(const Tensor& array, const std::vector<int64_t>& places) {
    return rearranged(array, {static_cast<int64_t>(places.size())}, [&places](const auto& index) {
        return places[static_cast<size_t>(index[0])];
    });
}

}  // namespace

// np.unique(array, return_index=False, return_inverse=False, return_counts=False), of all elements.
Object np_unique(Context& c, const Arguments& given) {
    std::optional<Arguments> a = with_arrays(c, given, 1);
    const Tensor* array = a ? known_array(&a->positional[0]) : nullptr;
    constexpr std::string_view kMore[] = {"return_index", "return_inverse", "return_counts"};
    bool is_known = array != nullptr && given.positional.size() == 1 &&
                    !has_other_keywords(given, {kMore[0], kMore[1], kMore[2]});
    std::optional<Keys> keys =
        is_known ? sortable_keys(*array, is_floating(array->element_type())) : std::nullopt;
    // Which shape the inverse of several dimensions has depends on NumPy's version.
    const KeywordArgument* inverse_keyword = given.find(kMore[1]);
    if (!keys || (inverse_keyword != nullptr && array->rank() != 1)) {
        return a ? refuse_array(c, given, "unique") : Object::error();
    }
    std::vector<int64_t> order(keys->size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&keys](int64_t i, int64_t j) {
        return keys->less(static_cast<size_t>(i), *keys, static_cast<size_t>(j));
    });
    std::vector<int64_t> firsts, counts, inverse(order.size());
    for (int64_t place : order) {
        auto at = static_cast<size_t>(place);
        if (firsts.empty() || keys->less(static_cast<size_t>(firsts.back()), *keys, at)) {
            firsts.push_back(place);
            counts.push_back(0);
        }
        ++counts.back();
        inverse[at] = static_cast<int64_t>(firsts.size()) - 1;
    }
    std::optional<Tensor> values = elements_at(*array, firsts);
    if (!values) {
        return refuse_array(c, given, "unique");
    }
    std::vector<Object> results{constant_of(std::move(*values))};
    const std::vector<int64_t>* parts[] = {&firsts, &inverse, &counts};
    for (size_t i = 0; i < 3; ++i) {
        const KeywordArgument* keyword = given.find(kMore[i]);
        if (keyword != nullptr && truth(keyword->value) == true) {
            results.push_back(int64_vector(*parts[i]));
        }
    }
    return results.size() == 1 ? results[0] : Object::tuple(std::move(results));
}

// np.searchsorted(sorted, values, side="left")
Object np_searchsorted(Context& c, const Arguments& given) {
    std::optional<Arguments> a = with_arrays(c, given, 2);
    const Object* side = argument_of(given, 2, "side");
    bool is_right = side != nullptr && side->is(ObjectKind::kString) && side->text() == "right";
    bool is_known =
        a && given.positional.size() >= 2 && !has_other_keywords(given, {"side"}) &&
        (side == nullptr || is_right || (side->is(ObjectKind::kString) && side->text() == "left"));
    const Tensor* values = is_known ? known_array(&a->positional[1]) : nullptr;
    std::optional<std::pair<Keys, Keys>> keys =
        is_known ? common_keys(known_array(&a->positional[0]), values) : std::nullopt;
    if (!keys || known_array(&a->positional[0])->rank() != 1) {
        return a ? refuse_array(c, given, "searchsorted") : Object::error();
    }
    const auto& [sorted, wanted] = *keys;
    std::vector<int64_t> places;
    for (size_t j = 0; j < wanted.size(); ++j) {
        size_t low = 0, high = sorted.size();
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            bool is_before =
                is_right ? !wanted.less(j, sorted, middle) : sorted.less(middle, wanted, j);
            (is_before ? low : high) = is_before ? middle + 1 : middle;
        }
        places.push_back(static_cast<int64_t>(low));
    }
    return int64_array(values->dims(), places);
}

namespace {

// The value at x between points, in NumPy's order of operations.
double interpolated(double x, const std::vector<double>& xs, const std::vector<double>& ys) {
    size_t last = xs.size() - 1;
    if (x < xs[0] || x > xs[last]) {
        return x < xs[0] ? ys[0] : ys[last];
    }
    auto j = static_cast<size_t>(std::upper_bound(xs.begin(), xs.end(), x) - xs.begin()) - 1;
    if (j == last || xs[j] == x) {
        return ys[j];
    }
    double slope = (ys[j + 1] - ys[j]) / (xs[j + 1] - xs[j]);
    double rise = slope * (x - xs[j]);
    return rise + ys[j];
}

}  // namespace

// np.interp(x, xs, ys) of finite points whose xs increase.
Object np_interp(Context& c, const Arguments& given) {
    std::optional<Arguments> a = with_arrays(c, given, 3);
    bool is_known = a && given.positional.size() == 3 && given.keywords.empty();
    std::vector<std::vector<double>> parts;
    for (size_t i = 0; is_known && i < 3; ++i) {
        const Tensor* array = known_array(&a->positional[i]);
        std::optional<std::vector<double>> values =
            array != nullptr && (i == 0 || array->rank() == 1) ? to_doubles(*array, INT64_MAX)
                                                               : std::nullopt;
        is_known = values && std::all_of(values->begin(), values->end(),
                                         [](double one) { return std::isfinite(one); });
        parts.push_back(is_known ? std::move(*values) : std::vector<double>());
    }
    is_known = is_known && !parts[1].empty() && parts[1].size() == parts[2].size() &&
               std::is_sorted(parts[1].begin(), parts[1].end());
    if (!is_known) {
        return a ? refuse_array(c, given, "interp") : Object::error();
    }
    std::vector<double> values;
    for (double x : parts[0]) {
        values.push_back(interpolated(x, parts[1], parts[2]));
    }
    Result<Tensor> made =
        tensor_from_doubles(ElementType::kDouble, known_array(&a->positional[0])->dims(), values);
    return as_numpys_number(constant_of(std::move(*made)));
}

// np.count_nonzero(array) of all elements, which is an int of NumPy.
Object np_count_nonzero(Context& c, const Arguments& given) {
    std::optional<Arguments> a = with_arrays(c, given, 1);
    const Tensor* array = a ? known_array(&a->positional[0]) : nullptr;
    std::optional<Tensor> flags = array != nullptr && given.keywords.empty()
                                      ? cast_array(*array, ElementType::kBool)
                                      : std::nullopt;
    if (!flags) {
        return a ? refuse_array(c, given, "count_nonzero") : Object::error();
    }
    std::span<const bool> all = std::as_const(*flags).elements<bool>();
    return int64_array({}, {static_cast<int64_t>(std::count(all.begin(), all.end(), true))});
}

// np.isin(array, values)
Object np_isin(Context& c, const Arguments& given) {
    std::optional<Arguments> a = with_arrays(c, given, 2);
    const Tensor* array = a ? known_array(&a->positional[0]) : nullptr;
    bool is_known = array != nullptr && given.positional.size() == 2 && given.keywords.empty();
    std::optional<std::pair<Keys, Keys>> keys =
        is_known ? common_keys(array, known_array(&a->positional[1])) : std::nullopt;
    if (!keys) {
        return a ? refuse_array(c, given, "isin") : Object::error();
    }
    const auto& [own, wanted] = *keys;
    std::vector<int64_t> flags;
    for (size_t i = 0; i < own.size(); ++i) {
        bool is_there = false;
        for (size_t j = 0; j < wanted.size() && !is_there; ++j) {
            is_there = !own.less(i, wanted, j) && !wanted.less(j, own, i);
        }
        flags.push_back(is_there ? 1 : 0);
    }
    Result<Tensor> made = tensor_from_int64s(ElementType::kInt64, array->dims(), flags);
    return as_numpys_number(constant_of(*cast_array(*made, ElementType::kBool)));
}

}  // namespace sardonyx::elaborate
