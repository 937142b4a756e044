#include "elaborate/library/array_choices.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "elaborate/library/array_functions.h"
#include "elaborate/library/array_shapes.h"
#include "elaborate/library/numpy_functions.h"
#include "elaborate/objects/array_math.h"
#include "elaborate/objects/arrays.h"
#include "elaborate/objects/context.h"
#include "elaborate/objects/items.h"
#include "elaborate/objects/statics.h"

namespace sardonyx::elaborate {

using lowering::Binary;
using syntax::CompareOp;
using syntax::Range;

namespace {

// The arrays that are joined, in their common type; nothing: not all are arrays of one rank.
std::optional<std::vector<Tensor>> joined_arrays(Context& c, const Arguments& a) {
    std::optional<std::vector<Object>> items =
        a.positional[0].is_sequence() ? static_items(c, a.positional[0]) : std::nullopt;
    if (!items || items->empty() || has_other_keywords(a, {"axis"})) {
        return std::nullopt;
    }
    std::vector<Tensor> arrays;
    for (const Object& item : *items) {
        const Tensor* array = known_array(&item);
        if (array == nullptr) {
            return std::nullopt;
        }
        arrays.push_back(*array);
    }
    return in_common_type(arrays) ? std::optional(std::move(arrays)) : std::nullopt;
}

}  // namespace

// --- Joined --------------------------------------------------------------------------------------

Object np_concatenate(Context& c, const Arguments& a) {
    std::optional<std::vector<Tensor>> arrays = joined_arrays(c, a);
    std::optional<size_t> axis =
        arrays ? axis_argument(a, 1, 0, (*arrays)[0].dims().size()) : std::nullopt;
    return made(c, a, "concatenate", axis ? concatenated(*arrays, *axis) : std::nullopt);
}

Object np_stack(Context& c, const Arguments& a) {
    std::optional<std::vector<Tensor>> arrays = joined_arrays(c, a);
    std::optional<size_t> axis =
        arrays ? axis_argument(a, 1, 0, (*arrays)[0].dims().size() + 1) : std::nullopt;
    return made(c, a, "stack", axis ? stacked(*arrays, *axis) : std::nullopt);
}

Object np_vstack(Context& c, const Arguments& a) {
    std::optional<std::vector<Tensor>> arrays = joined_arrays(c, a);
    size_t rank = arrays ? (*arrays)[0].dims().size() : 0;
    return made(c, a, "vstack",
                rank == 0   ? std::nullopt
                : rank == 1 ? stacked(*arrays, 0)
                            : concatenated(*arrays, 0));
}

Object np_hstack(Context& c, const Arguments& a) {
    std::optional<std::vector<Tensor>> arrays = joined_arrays(c, a);
    size_t rank = arrays ? (*arrays)[0].dims().size() : 0;
    return made(c, a, "hstack",
                rank == 0 ? std::nullopt : concatenated(*arrays, rank == 1 ? 0 : 1));
}

// --- Chosen --------------------------------------------------------------------------------------

namespace {

bool has_nan(const Object& object) {
    if (object.is(ObjectKind::kFloat)) {
        return std::isnan(object.as_double());
    }
    const Tensor* array = known_array(&object);
    std::optional<Tensor> reals = array != nullptr && is_floating(array->element_type())
                                      ? cast_array(*array, ElementType::kDouble)
                                      : std::nullopt;
    std::span<const double> elements =
        reals ? std::as_const(*reals).elements<double>() : std::span<const double>();
    return std::any_of(elements.begin(), elements.end(),
                       [](double one) { return std::isnan(one); });
}

// Elements of one or the other array where the condition says so; one may be a Python number.
std::optional<Object> chosen(Context& c, const Tensor& condition, const Object& x, const Object& y,
                             Range range) {
    bool is_known = (known_array(&x) != nullptr || x.is_number()) &&
                    (known_array(&y) != nullptr || y.is_number());
    std::optional<Tensor> flags =
        is_known ? cast_array(condition, ElementType::kBool) : std::nullopt;
    if (!flags) {
        return std::nullopt;
    }
    Object left = x, right = y;
    if (!x.is(ObjectKind::kConstant) && !y.is(ObjectKind::kConstant)) {
        if (x.kind() != y.kind() || x.is(ObjectKind::kWideInt)) {
            return std::nullopt;
        }
        left = array_from(c, x, range);
        if (left.is_error()) {
            return left;
        }
    }
    // Zero of both, which has their common type and shape: x * 0 would be NaN of an infinity.
    Object first = left.is(ObjectKind::kConstant) ? left : right;
    Tensor zero = Tensor::zeros(first.get<Tensor>().element_type(), {});
    std::optional<Object> type_of =
        array_binary(c, Binary::kAdd, constant_of(std::move(zero)),
                     left.is(ObjectKind::kConstant) ? right : left, range);
    if (!type_of || type_of->is_error()) {
        return type_of;
    }
    ElementType type = type_of->get<Tensor>().element_type();
    auto as_type = [&](const Object& object) -> std::optional<Tensor> {
        if (object.is(ObjectKind::kConstant)) {
            return cast_array(object.get<Tensor>(), type);
        }
        std::optional<Object> cast =
            array_binary(c, Binary::kAdd, constant_of(Tensor::zeros(type, {})), object, range);
        // -0.0 + 0 is 0.
        bool is_minus_zero = object.is(ObjectKind::kFloat) && object.as_double() == 0 &&
                             std::signbit(object.as_double());
        return cast && !cast->is_error() && !is_minus_zero ? std::optional(cast->get<Tensor>())
                                                           : std::nullopt;
    };
    std::optional<Tensor> of_x = as_type(left), of_y = as_type(right);
    std::optional<Broadcast> both =
        of_x && of_y ? broadcast(of_x->dims(), of_y->dims()) : std::nullopt;
    std::optional<Broadcast> all = both ? broadcast(flags->dims(), both->dims) : std::nullopt;
    if (!all) {
        return std::nullopt;
    }
    Tensor x_all = gather(*of_x, both->left, both->dims),
           y_all = gather(*of_y, both->right, both->dims);
    std::optional<Tensor> joined =
        concatenated({x_all.reshaped({x_all.count()}), y_all.reshaped({y_all.count()})}, 0);
    std::vector<int64_t> places;
    std::span<const bool> is_first = std::as_const(*flags).elements<bool>();
    for (size_t i = 0; i < all->left.size(); ++i) {
        places.push_back(all->right[i] +
                         (is_first[static_cast<size_t>(all->left[i])] ? 0 : x_all.count()));
    }
    return joined ? std::optional(constant_of(gather(*joined, places, all->dims))) : std::nullopt;
}

Object larger_or_less(Context& c, const Arguments& a, std::string_view name, CompareOp op,
                      const Object& x, const Object& y) {
    if (!a.keywords.empty() || has_nan(x) || has_nan(y)) {
        return refuse_array(c, a, name);
    }
    std::optional<Object> condition = array_compare(c, op, x, y, a.range);
    if (!condition || condition->is_error() || known_array(&*condition) == nullptr) {
        return condition && condition->is_error() ? *condition : refuse_array(c, a, name);
    }
    std::optional<Object> result = chosen(c, condition->get<Tensor>(), x, y, a.range);
    return result ? *result : refuse_array(c, a, name);
}

}  // namespace

Object np_where(Context& c, const Arguments& a) {
    const Tensor* condition = known_array(&a.positional[0]);
    std::optional<Object> result =
        condition != nullptr && a.positional.size() == 3 && a.keywords.empty()
            ? chosen(c, *condition, a.positional[1], a.positional[2], a.range)
            : std::nullopt;
    return result ? *result : refuse_array(c, a, "where");
}

// Of equal ones NumPy takes the second: that shows with 0.0 and -0.0.
Object np_maximum(Context& c, const Arguments& a) {
    return larger_or_less(c, a, "maximum", CompareOp::kGt, a.positional[0], a.positional[1]);
}
Object np_minimum(Context& c, const Arguments& a) {
    return larger_or_less(c, a, "minimum", CompareOp::kLt, a.positional[0], a.positional[1]);
}

Object np_clip(Context& c, const Arguments& a) {
    const Tensor* array = known_array(&a.positional[0]);
    bool is_certain = array != nullptr && !is_floating(array->element_type()) &&
                      a.positional.size() == 3 && a.positional[1].is(ObjectKind::kInt) &&
                      a.positional[2].is(ObjectKind::kInt) && a.keywords.empty();
    if (!is_certain) {
        return refuse_array(c, a, "clip");
    }
    Object least = larger_or_less(c, a, "clip", CompareOp::kGt, a.positional[0], a.positional[1]);
    return least.is_error() ? least
                            : larger_or_less(c, a, "clip", CompareOp::kLt, least, a.positional[2]);
}

// --- Computed ------------------------------------------------------------------------------------

Object np_outer(Context& c, const Arguments& a) {
    const Tensor *x = known_array(&a.positional[0]), *y = known_array(&a.positional[1]);
    if (x == nullptr || y == nullptr || !a.keywords.empty()) {
        return refuse_array(c, a, "outer");
    }
    std::optional<Object> result =
        array_binary(c, Binary::kMul, constant_of(x->reshaped({x->count(), 1})),
                     constant_of(y->reshaped({1, y->count()})), a.range);
    return result ? *result : refuse_array(c, a, "outer");
}

// From the first element on, as NumPy does it; of integers of fewer bits in INT64.
Object np_cumsum(Context& c, const Arguments& a) {
    const Tensor* array = known_array(&a.positional[0]);
    if (array == nullptr || a.positional.size() != 1 || !a.keywords.empty() || array->rank() != 1) {
        return refuse_array(c, a, "cumsum");
    }
    ElementType type = array->element_type();
    if (type == ElementType::kFloat16) {
        return refuse_array(c, a, "cumsum");
    }
    type = is_floating(type)        ? type
           : is_unsigned_type(type) ? ElementType::kUint64
                                    : ElementType::kInt64;
    std::optional<Tensor> values = cast_array(*array, type);
    std::vector<Tensor> sums;
    for (int64_t i = 0; values && i < array->count(); ++i) {
        Object one = constant_of(gather(*values, std::vector<int64_t>{i}, {1}));
        std::optional<Object> sum =
            sums.empty() ? std::optional(one)
                         : array_binary(c, Binary::kAdd, constant_of(sums.back()), one, a.range);
        if (!sum || sum->is_error() || sums.size() > 4096) {
            return refuse_array(c, a, "cumsum");
        }
        sums.push_back(sum->get<Tensor>());
    }
    return !values        ? refuse_array(c, a, "cumsum")
           : sums.empty() ? constant_of(std::move(*values))
                          : made(c, a, "cumsum", concatenated(sums, 0));
}

namespace {

// The places of a vector's elements in ascending order; nothing: NaN, or not exact as doubles.
std::optional<std::vector<int64_t>> sorted_places(const Tensor& array, bool& has_equal) {
    std::optional<Tensor> reals = cast_array(array, ElementType::kDouble);
    bool is_wide = byte_size(array.element_type(), 1) == 8 && !is_floating(array.element_type());
    if (!reals) {
        return std::nullopt;
    }
    std::span<const double> elements = std::as_const(*reals).elements<double>();
    for (double one : elements) {
        if (std::isnan(one) || (is_wide && std::fabs(one) >= 0x1p53)) {
            return std::nullopt;
        }
    }
    std::vector<int64_t> places(elements.size());
    std::iota(places.begin(), places.end(), 0);
    auto at = [&](int64_t place) { return elements[static_cast<size_t>(place)]; };
    std::stable_sort(places.begin(), places.end(),
                     [&](int64_t x, int64_t y) { return at(x) < at(y); });
    has_equal = std::adjacent_find(places.begin(), places.end(), [&](int64_t x, int64_t y) {
                    return at(x) == at(y);
                }) != places.end();
    return places;
}

// The same of a call whose one argument is `array`, which may be null.
std::optional<std::vector<int64_t>> sorted_argument(const Arguments& a, const Tensor* array,
                                                    bool& has_equal) {
    bool is_plain =
        array != nullptr && array->rank() == 1 && a.positional.size() == 1 && a.keywords.empty();
    return is_plain ? sorted_places(*array, has_equal) : std::nullopt;
}

}  // namespace

Object np_sort(Context& c, const Arguments& a) {
    const Tensor* array = known_array(&a.positional[0]);
    bool has_equal = false;
    std::optional<std::vector<int64_t>> places = sorted_argument(a, array, has_equal);
    // 0.0 and -0.0 are equal, and stand as the algorithm leaves them.
    bool is_certain = places && !(has_equal && is_floating(array->element_type()));
    return is_certain ? constant_of(gather(*array, *places, array->dims()))
                      : refuse_array(c, a, "sort");
}

Object np_argsort(Context& c, const Arguments& a) {
    const Tensor* array = known_array(&a.positional[0]);
    bool has_equal = false;
    std::optional<std::vector<int64_t>> places = sorted_argument(a, array, has_equal);
    return places && !has_equal
               ? constant_of(Tensor::of<int64_t>(array->dims(), std::span<const int64_t>(*places)))
               : refuse_array(c, a, "argsort");
}

}  // namespace sardonyx::elaborate
