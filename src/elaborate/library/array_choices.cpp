#include "elaborate/library/array_choices.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "elaborate/library/array_functions.h"
#include "elaborate/library/array_shapes.h"
#include "elaborate/library/array_tables.h"
#include "elaborate/library/library.h"
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
    for (const Object& one : *items) {
        Object item = as_array_scalar(one);
        bool is_listed = (item.is_sequence() || item.is_number()) && item.is_static();
        item = is_listed ? array_from(c, item, a.range) : item;
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

// np.append(array, values): both in a line.
Object np_append(Context& c, const Arguments& given) {
    std::optional<Arguments> a = with_arrays(c, given, 2);
    const Tensor* array = a ? known_array(&a->positional[0]) : nullptr;
    const Tensor* values = a ? known_array(&a->positional[1]) : nullptr;
    if (array == nullptr || values == nullptr || !given.keywords.empty()) {
        return a ? refuse_array(c, given, "append") : Object::error();
    }
    std::vector<Tensor> lines{array->reshaped({array->count()}),
                              values->reshaped({values->count()})};
    return made(c, given, "append", in_common_type(lines) ? concatenated(lines, 0) : std::nullopt);
}

// Vectors as the columns of a matrix.
Object np_column_stack(Context& c, const Arguments& a) {
    std::optional<std::vector<Tensor>> arrays = joined_arrays(c, a);
    size_t rank = arrays ? (*arrays)[0].dims().size() : 0;
    return made(c, a, "column_stack",
                rank == 0 || rank > 2 ? std::nullopt
                : rank == 1           ? stacked(*arrays, 1)
                                      : concatenated(*arrays, 1));
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
    Object left = as_array_scalar(x), right = as_array_scalar(y);
    if (!left.is(ObjectKind::kConstant) && !right.is(ObjectKind::kConstant)) {
        bool are_numbers = x.is(ObjectKind::kInt) || x.is(ObjectKind::kFloat);
        are_numbers &= y.is(ObjectKind::kInt) || y.is(ObjectKind::kFloat);
        if (x.kind() != y.kind() && !are_numbers) {
            return std::nullopt;
        }
        left = x.kind() != y.kind() ? Object::real(x.as_double()) : x;
        left = array_from(c, left, range);
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

Object np_where(Context& c, const Arguments& given) {
    std::optional<Arguments> arrays = with_arrays(c, given, 1);
    if (!arrays) {
        return Object::error();
    }
    const Arguments& a = *arrays;
    if (a.positional.size() == 1 && a.keywords.empty()) {
        return np_nonzero(c, a);
    }
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

namespace {

// The elements that are beyond the bound replaced by it; others stay, also 0.0 beside -0.0.
Object bounded(Context& c, const Arguments& a, const Object& array, const Object& bound,
               CompareOp beyond) {
    std::optional<Object> condition = array_compare(c, beyond, array, bound, a.range);
    bool is_known = condition && known_array(&*condition) != nullptr && !has_nan(bound);
    std::optional<Object> result =
        is_known ? chosen(c, condition->get<Tensor>(), bound, array, a.range) : std::nullopt;
    return result ? *result : refuse_array(c, a, "clip");
}

}  // namespace

// np.clip(array, least, most), of which one may be None.
Object np_clip(Context& c, const Arguments& given) {
    std::optional<Arguments> a = with_arrays(c, given, 1);
    if (!a) {
        return Object::error();
    }
    auto bound = [&given](size_t place, std::string_view old, std::string_view name) {
        const Object* found = argument_of(given, place, old);
        found = found != nullptr ? found : argument_of(given, SIZE_MAX, name);
        return found != nullptr ? as_array_scalar(*found) : Object::none();
    };
    Object least = bound(1, "a_min", "min"), most = bound(2, "a_max", "max");
    Object array = a->positional[0];
    auto is_bound = [](const Object& one) {
        return one.is_none() || one.is_number() || known_array(&one) != nullptr;
    };
    if (known_array(&array) == nullptr || !is_bound(least) || !is_bound(most) ||
        (least.is_none() && most.is_none()) ||
        has_other_keywords(given, {"a_min", "a_max", "min", "max"})) {
        return refuse_array(c, given, "clip");
    }
    // NumPy takes the type of all three at once.
    for (const Object& one : {least, most}) {
        std::optional<Object> zero =
            one.is_none() || one.is(ObjectKind::kBool)
                ? std::nullopt
                : array_binary(c, Binary::kMul, one,
                               constant_of(Tensor::zeros(array.get<Tensor>().element_type(), {1})),
                               given.range);
        if (zero && zero->is_error()) {
            return *zero;
        }
        std::optional<Tensor> cast =
            zero ? cast_array(array.get<Tensor>(), zero->get<Tensor>().element_type())
                 : std::nullopt;
        array = cast ? constant_of(std::move(*cast)) : array;
    }
    Arguments plain = given;
    plain.keywords.clear();
    // Between two numbers equal elements stay; beside arrays, or one bound, the bound takes their
    // place, which shows with 0.0 and -0.0.
    auto is_scalar = [](const Object& one) {
        return one.is_number() || (known_array(&one) != nullptr && one.get<Tensor>().rank() == 0);
    };
    bool stays = is_scalar(least) && is_scalar(most);
    auto bounded_by = [&](const Object& bound, CompareOp beyond, CompareOp within) {
        const Object from = as_array_scalar(array);
        return stays ? bounded(c, given, from, bound, beyond)
                     : larger_or_less(c, plain, "clip", within, from, bound);
    };
    if (!least.is_none()) {
        array = bounded_by(least, CompareOp::kLt, CompareOp::kGt);
    }
    if (!most.is_none() && !array.is_error()) {
        array = bounded_by(most, CompareOp::kGt, CompareOp::kLt);
    }
    return as_numpys_number(array);
}

// --- Computed ------------------------------------------------------------------------------------

namespace {

// The elements along an axis and how many lie between them; without one all in a line.
struct Line {
    int64_t n = 1, inner = 1;
    Dims dims;
};

std::optional<Line> line_of(const Arguments& a, const Tensor& array) {
    const Object* axis = argument_of(a, 1, "axis");
    if (axis == nullptr || axis->is_none()) {
        return Line{array.count(), 1, {array.count()}};
    }
    std::optional<size_t> place = axis_argument(a, 1, 0, array.dims().size());
    Line line{1, 1, array.dims()};
    for (size_t i = place.value_or(0); place && i < array.dims().size(); ++i) {
        (i == *place ? line.n : line.inner) *= array.dims()[i];
    }
    return place ? std::optional(std::move(line)) : std::nullopt;
}

// What is before combined with each element.
template <typename T, typename Combine>
Tensor accumulated(const Tensor& array, const Line& line, Combine combine) {
    Tensor made = Tensor::uninitialized(array.element_type(), line.dims);
    std::span<const T> from = array.elements<T>();
    std::span<T> to = made.mutable_elements<T>();
    for (size_t i = 0; i < to.size(); ++i) {
        size_t inner = static_cast<size_t>(line.inner), n = static_cast<size_t>(line.n);
        to[i] = i / inner % n == 0 ? from[i] : combine(to[i - inner], from[i]);
    }
    return made;
}

// From the first element on, as NumPy does it; of integers of fewer bits in INT64.
template <typename Combine>
Object accumulate(Context& c, const Arguments& given, std::string_view name, Combine combine) {
    std::optional<Arguments> a = with_arrays(c, given, 1);
    const Tensor* array = a ? known_array(&a->positional[0]) : nullptr;
    std::optional<Line> line =
        array != nullptr && !has_other_keywords(given, {"axis"}) && given.positional.size() <= 2
            ? line_of(given, *array)
            : std::nullopt;
    if (!line || array->element_type() == ElementType::kFloat16) {
        return a ? refuse_array(c, given, name) : Object::error();
    }
    ElementType type = array->element_type();
    type = is_floating(type)        ? type
           : is_unsigned_type(type) ? ElementType::kUint64
                                    : ElementType::kInt64;
    Tensor values = *cast_array(*array, type);
    return constant_of(type == ElementType::kDouble  ? accumulated<double>(values, *line, combine)
                       : type == ElementType::kFloat ? accumulated<float>(values, *line, combine)
                       : type == ElementType::kUint64
                           ? accumulated<uint64_t>(values, *line, combine)
                           : accumulated<int64_t>(values, *line, combine));
}

// Integers wrap.
template <typename T>
using Wrapping = std::conditional_t<std::is_integral_v<T>, uint64_t, T>;

}  // namespace

Object np_cumsum(Context& c, const Arguments& a) {
    return accumulate(c, a, "cumsum", []<typename T>(T before, T one) {
        return static_cast<T>(static_cast<Wrapping<T>>(before) + static_cast<Wrapping<T>>(one));
    });
}

Object np_cumprod(Context& c, const Arguments& a) {
    return accumulate(c, a, "cumprod", []<typename T>(T before, T one) {
        return static_cast<T>(static_cast<Wrapping<T>>(before) * static_cast<Wrapping<T>>(one));
    });
}

// np.diff(array, axis=-1): each element less the one before it.
Object np_diff(Context& c, const Arguments& given) {
    std::optional<Arguments> a = with_arrays(c, given, 1);
    const Tensor* array = a ? known_array(&a->positional[0]) : nullptr;
    bool is_known = array != nullptr && array->rank() > 0 && given.positional.size() == 1 &&
                    !has_other_keywords(given, {"axis"}) &&
                    array->element_type() != ElementType::kBool;
    std::optional<size_t> axis =
        is_known ? axis_argument(given, SIZE_MAX, -1, array->dims().size()) : std::nullopt;
    if (!axis) {
        return a ? refuse_array(c, given, "diff") : Object::error();
    }
    int64_t size = std::max<int64_t>(array->dims()[*axis] - 1, 0);
    std::optional<Tensor> from = part_along(*array, *axis, 1, size);
    std::optional<Tensor> less = part_along(*array, *axis, 0, size);
    std::optional<Broadcast> same = from ? broadcast(from->dims(), from->dims()) : std::nullopt;
    return made(c, given, "diff",
                from && less && same ? combine(Binary::kSub, *from, *less, *same) : std::nullopt);
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

// --- np.r_, np.mgrid and np.ogrid ---------------------------------------------------------------

namespace {

std::vector<Object> parts_of_index(const Object& index) {
    return index.is(ObjectKind::kTuple)
               ? std::vector<Object>(index.items().begin(), index.items().end())
               : std::vector<Object>{index};
}

// The ints from start to stop of a slice; nothing: its bounds are no ints, or there is no stop.
std::optional<Tensor> ints_of_slice(const Object& object) {
    if (!object.is(ObjectKind::kSlice)) {
        return std::nullopt;
    }
    const SliceObject& slice = object.get<SliceObject>();
    auto is_int = [](const Object& one) { return one.is_none() || one.is(ObjectKind::kInt); };
    if (!slice.upper.is(ObjectKind::kInt) || !is_int(slice.lower) || !is_int(slice.step)) {
        return std::nullopt;
    }
    RangeObject range;
    range.start = slice.lower.is_none() ? 0 : slice.lower.as_int();
    range.stop = slice.upper.as_int();
    range.step = slice.step.is_none() ? 1 : slice.step.as_int();
    if (range.step == 0 || range.size() > kMostElements) {
        return std::nullopt;
    }
    std::vector<int64_t> values;
    for (int64_t i = 0; i < range.size(); ++i) {
        values.push_back(range.start + i * range.step);
    }
    return Tensor::of<int64_t>({range.size()}, std::span<const int64_t>(values));
}

Object refuse_grid(Context& c, syntax::Range range, std::string_view name) {
    return refuse(c, range, fmt::format("`np.{}` with this index", name),
                  "give slices of ints, such as `0:n`; or use `np.arange` and `np.concatenate`");
}

// The ints of each slice along an axis of its own.
std::optional<std::vector<Tensor>> open_grid(const Object& index) {
    std::vector<Object> parts = parts_of_index(index);
    std::vector<Tensor> axes;
    for (size_t i = 0; i < parts.size(); ++i) {
        std::optional<Tensor> one = ints_of_slice(parts[i]);
        if (!one) {
            return std::nullopt;
        }
        Dims dims(parts.size(), 1);
        dims[i] = one->count();
        axes.push_back(one->reshaped(std::move(dims)));
    }
    return axes;
}

Object np_rows(Context& c, const Object& index, syntax::Range range) {
    std::vector<Tensor> rows;
    ElementType type = ElementType::kUndefined;
    bool has_float = false;
    for (const Object& part : parts_of_index(index)) {
        std::optional<Tensor> ints = ints_of_slice(part);
        bool is_plain = part.is(ObjectKind::kInt) || part.is(ObjectKind::kFloat);
        Object array = ints                             ? constant_of(std::move(*ints))
                       : is_plain || part.is_sequence() ? array_from(c, part, range)
                                                        : part;
        const Tensor* known = known_array(&array);
        if (known == nullptr || known->rank() > 1) {
            return array.is_error() ? array : refuse_grid(c, range, "r_");
        }
        has_float = has_float || part.is(ObjectKind::kFloat);
        if (!is_plain) {
            type = type == ElementType::kUndefined ? known->element_type()
                                                   : promoted(type, known->element_type());
        }
        rows.push_back(known->reshaped({known->count()}));
    }
    // A number takes the type of the arrays of its kind.
    type = type == ElementType::kUndefined ? ElementType::kInt64 : type;
    type = has_float && !is_floating(type) ? ElementType::kDouble : type;
    if (type == ElementType::kBool) {
        return refuse_grid(c, range, "r_");
    }
    for (Tensor& row : rows) {
        std::optional<Tensor> cast = cast_array(row, type);
        if (!cast) {
            return refuse_grid(c, range, "r_");
        }
        row = std::move(*cast);
    }
    std::optional<Tensor> made = rows.empty() ? std::nullopt : concatenated(rows, 0);
    return made ? constant_of(std::move(*made)) : refuse_grid(c, range, "r_");
}

Object np_mgrid(Context& c, const Object& index, syntax::Range range) {
    std::optional<std::vector<Tensor>> axes = open_grid(index);
    if (axes && !index.is(ObjectKind::kTuple)) {
        return constant_of(std::move((*axes)[0]));
    }
    Dims dims;
    for (size_t i = 0; axes && i < axes->size(); ++i) {
        dims.push_back((*axes)[i].dims()[i]);
    }
    std::optional<int64_t> count = element_count(dims);
    if (!axes || axes->empty() || !count || *count > kMostElements) {
        return refuse_grid(c, range, "mgrid");
    }
    for (Tensor& axis : *axes) {
        axis = gather(axis, broadcast(axis.dims(), dims)->left, dims);
    }
    std::optional<Tensor> made = stacked(*axes, 0);
    return made ? constant_of(std::move(*made)) : refuse_grid(c, range, "mgrid");
}

Object np_ogrid(Context& c, const Object& index, syntax::Range range) {
    std::optional<std::vector<Tensor>> axes = open_grid(index);
    if (!axes) {
        return refuse_grid(c, range, "ogrid");
    }
    std::vector<Object> arrays(axes->size());
    std::transform(axes->begin(), axes->end(), arrays.begin(), constant_of);
    return index.is(ObjectKind::kTuple) ? Object::tuple(std::move(arrays)) : arrays[0];
}

}  // namespace

std::optional<Object> grid_item(Context& c, const Object& grid, const Object& index,
                                syntax::Range range) {
    return is_builtin(grid, "numpy.r_")      ? std::optional(np_rows(c, index, range))
           : is_builtin(grid, "numpy.mgrid") ? std::optional(np_mgrid(c, index, range))
           : is_builtin(grid, "numpy.ogrid") ? std::optional(np_ogrid(c, index, range))
                                             : std::nullopt;
}

Object called_grid(Context& c, const Arguments& a) {
    return refuse(c, a.range, "a call of `np.r_`, `np.mgrid` or `np.ogrid`",
                  "give it an index: `np.r_[...]`");
}

}  // namespace sardonyx::elaborate
