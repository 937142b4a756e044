#include "elaborate/library/array_reductions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "elaborate/library/array_functions.h"
#include "elaborate/library/array_shapes.h"
#include "elaborate/objects/array_math.h"
#include "elaborate/objects/array_sums.h"
#include "elaborate/objects/arrays.h"
#include "elaborate/objects/statics.h"

namespace sardonyx::elaborate {

namespace {

// An array as [outer, n, inner], of which n is reduced, and the shape of the result.
struct Reduced {
    int64_t outer = 1, n = 1, inner = 1;
    Dims dims;
    ArrayOrder order = ArrayOrder::kUnknown;
};

// The axes that are reduced, the first and the one after the last: neighbours. Nothing: others.
std::optional<std::pair<size_t, size_t>> axes_argument(Context& c, const Arguments& a,
                                                       size_t rank) {
    const Object* axis = argument_of(a, 1, "axis");
    if (axis == nullptr || axis->is_none()) {
        return std::pair<size_t, size_t>{0, rank};
    }
    std::optional<std::vector<int64_t>> axes = ints_of(c, *axis);
    if (!axes || axes->empty()) {
        return std::nullopt;
    }
    int64_t size = static_cast<int64_t>(rank);
    for (int64_t& one : *axes) {
        if (one < -size || one >= size) {
            return std::nullopt;
        }
        one += one < 0 ? size : 0;
    }
    std::sort(axes->begin(), axes->end());
    for (size_t i = 1; i < axes->size(); ++i) {
        if ((*axes)[i] != (*axes)[i - 1] + 1) {
            return std::nullopt;
        }
    }
    return std::pair{static_cast<size_t>(axes->front()), static_cast<size_t>(axes->back()) + 1};
}

// What a call asks for. Nothing: axes that are no neighbours or out of range, or other arguments.
std::optional<Reduced> reduced_axes(Context& c, const Arguments& a, const Tensor& array,
                                    std::initializer_list<std::string_view> keywords) {
    const Object* keeps = argument_of(a, SIZE_MAX, "keepdims");
    bool is_known = !has_other_keywords(a, keywords) && a.positional.size() <= 2 &&
                    (keeps == nullptr || keeps->is(ObjectKind::kBool));
    std::optional<std::pair<size_t, size_t>> axes =
        is_known ? axes_argument(c, a, array.dims().size()) : std::nullopt;
    if (!axes) {
        return std::nullopt;
    }
    Reduced made;
    made.order = order_of(c, a.positional[0]);
    for (size_t i = 0; i < array.dims().size(); ++i) {
        bool is_reduced = i >= axes->first && i < axes->second;
        (i < axes->first ? made.outer : is_reduced ? made.n : made.inner) *= array.dims()[i];
        if (!is_reduced || (keeps != nullptr && keeps->as_bool())) {
            made.dims.push_back(is_reduced ? 1 : array.dims()[i]);
        }
    }
    return made;
}

// `reduce` of each row, which gives nothing where the result is not certain.
template <typename To, typename From, typename Reduce>
std::optional<Tensor> reduce_rows(const Tensor& array, const Reduced& as, Reduce reduce) {
    Tensor result = Tensor::uninitialized(kElementTypeOf<To>, as.dims);
    std::span<To> to = result.template mutable_elements<To>();
    std::span<const From> from = array.template elements<From>();
    for (int64_t i = 0; i < as.outer * as.inner; ++i) {
        const From* first = from.data() + i / as.inner * as.n * as.inner + i % as.inner;
        std::optional<To> one = reduce(Row<From>(first, as.n, as.inner));
        if (!one) {
            return std::nullopt;
        }
        to[static_cast<size_t>(i)] = *one;
    }
    return result;
}

using Exact = std::optional<double> (*)(const Row<double>&, Precision);

std::optional<Tensor> of_exact_floats(const Tensor& array, const Reduced& as, Exact exact) {
    Precision precision = precision_of(array.element_type());
    std::optional<Tensor> reals = cast_array(array, ElementType::kDouble);
    std::optional<Tensor> made = reduce_rows<double, double>(
        *reals, as, [=](const Row<double>& row) { return exact(row, precision); });
    return made ? cast_array(*made, array.element_type()) : std::nullopt;
}

// Sums and products of integers and BOOL are of 64 bits, modulo 2^64.
template <typename Combine>
std::optional<Tensor> of_integers(const Tensor& array, const Reduced& as, uint64_t start,
                                  Combine combine) {
    ElementType type =
        is_unsigned_type(array.element_type()) ? ElementType::kUint64 : ElementType::kInt64;
    std::optional<Tensor> values = cast_array(array, type);
    auto reduce = [=]<typename T>(const Row<T>& row) {
        uint64_t total = start;
        for (int64_t i = 0; i < row.size(); ++i) {
            total = combine(total, static_cast<uint64_t>(row[i]));
        }
        return std::optional(static_cast<T>(total));
    };
    return type == ElementType::kUint64 ? reduce_rows<uint64_t, uint64_t>(*values, as, reduce)
                                        : reduce_rows<int64_t, int64_t>(*values, as, reduce);
}

// The other floats in NumPy's order, which the place of the elements in memory decides: pairwise
// where those of a row are neighbours, else one after the other.
template <typename T>
std::optional<Tensor> ordered_sum(const Tensor& array, const Reduced& as) {
    return reduce_rows<T, T>(array, as, [&](const Row<T>& row) -> std::optional<T> {
        T sum = T(-0.0);
        for (int64_t i = 0; as.inner != 1 && i < row.size(); ++i) {
            sum += row[i];
        }
        T paired = as.inner == 1 ? pairwise_sum(row) : sum;
        bool is_certain = as.order == ArrayOrder::kRow || pairwise_sum(row.backwards()) == paired;
        return is_certain ? std::optional(row.size() > 0 ? paired : T(0)) : std::nullopt;
    });
}

template <typename T>
std::optional<Tensor> ordered_product(const Tensor& array, const Reduced& as) {
    return reduce_rows<T, T>(array, as, [&](const Row<T>& row) {
        T product = T(1);
        for (int64_t i = 0; i < row.size(); ++i) {
            product *= row[i];
        }
        return as.order == ArrayOrder::kRow ? std::optional(product) : std::nullopt;
    });
}

std::optional<Tensor> sum_of_floats(const Tensor& array, const Reduced& as) {
    std::optional<Tensor> made = of_exact_floats(array, as, exact_sum);
    bool is_known = as.order == ArrayOrder::kRow || as.order == ArrayOrder::kLine;
    return made || !is_known                              ? made
           : array.element_type() == ElementType::kFloat  ? ordered_sum<float>(array, as)
           : array.element_type() == ElementType::kDouble ? ordered_sum<double>(array, as)
                                                          : made;
}

std::optional<Tensor> sum_of(const Tensor& array, const Reduced& as) {
    return is_floating(array.element_type())
               ? sum_of_floats(array, as)
               : of_integers(array, as, 0, [](uint64_t x, uint64_t y) { return x + y; });
}

std::optional<Tensor> product_of(const Tensor& array, const Reduced& as) {
    if (!is_floating(array.element_type())) {
        return of_integers(array, as, 1, [](uint64_t x, uint64_t y) { return x * y; });
    }
    std::optional<Tensor> made = of_exact_floats(array, as, exact_product);
    return made                                           ? made
           : array.element_type() == ElementType::kFloat  ? ordered_product<float>(array, as)
           : array.element_type() == ElementType::kDouble ? ordered_product<double>(array, as)
                                                          : made;
}

// The type in which NumPy takes the mean: of integers DOUBLE, of FLOAT16 FLOAT.
ElementType type_of_mean(ElementType type) {
    return type == ElementType::kFloat16 ? ElementType::kFloat
           : is_floating(type)           ? type
                                         : ElementType::kDouble;
}

// Sums divided by a number, each rounded to their type.
std::optional<Tensor> divided(const Tensor& sums, double by) {
    std::optional<Tensor> made = cast_array(sums, ElementType::kDouble);
    for (double& one : made->mutable_elements<double>()) {
        one /= by;
    }
    return cast_array(*made, sums.element_type());
}

// The sums of an array that NumPy first casts: in parts of 8192 elements, where it is longer.
std::optional<Tensor> cast_sums(const Tensor& array, Reduced as) {
    constexpr int64_t kBuffer = 8192;
    ElementType type = array.element_type(), wide = type_of_mean(type);
    if (type != wide && (array.count() > kBuffer || type == ElementType::kFloat16)) {
        as.order = ArrayOrder::kUnknown;
    }
    return as.n > 0 ? sum_of_floats(*cast_array(array, wide), as) : std::nullopt;
}

std::optional<Tensor> mean_of(const Tensor& array, const Reduced& as) {
    ElementType type = array.element_type();
    std::optional<Tensor> sums = cast_sums(array, as);
    std::optional<Tensor> made = sums ? divided(*sums, static_cast<double>(as.n)) : std::nullopt;
    return made && is_floating(type) ? cast_array(*made, type) : made;
}

// The sum of the squares of the differences to the mean, divided by n - ddof.
std::optional<Tensor> variance_of(const Tensor& array, const Reduced& as, double ddof) {
    using lowering::Binary;
    std::optional<Tensor> sums = cast_sums(array, as);
    bool is_known =
        sums && array.element_type() != ElementType::kFloat16 && static_cast<double>(as.n) > ddof;
    if (!is_known) {
        return std::nullopt;
    }
    Tensor mean = divided(*sums, static_cast<double>(as.n))->reshaped({as.outer, 1, as.inner});
    Tensor all = cast_array(array, mean.element_type())->reshaped({as.outer, as.n, as.inner});
    std::optional<Broadcast> both = broadcast(all.dims(), mean.dims());
    std::optional<Broadcast> same = broadcast(all.dims(), all.dims());
    std::optional<Tensor> away =
        both && same ? combine(Binary::kSub, all, mean, *both) : std::nullopt;
    std::optional<Tensor> squares =
        away ? combine(Binary::kMul, *away, *away, *same) : std::nullopt;
    std::optional<Tensor> total = squares ? sum_of_floats(*squares, as) : std::nullopt;
    return total ? divided(*total, static_cast<double>(as.n) - ddof) : std::nullopt;
}

// The place of the first element that `is_better` than all before it. Nothing: there is none, or
// NaN is among them.
template <typename T, typename Better>
std::optional<int64_t> best_of(const Row<T>& row, Better is_better) {
    int64_t best = 0;
    for (int64_t i = 0; i < row.size(); ++i) {
        if (row[i] != row[i]) {
            return std::nullopt;
        }
        best = is_better(row[i], row[best]) ? i : best;
    }
    return row.size() > 0 ? std::optional(best) : std::nullopt;
}

// Whether 0.0 and -0.0 are in it, which are equal.
template <typename T>
bool has_both_zeros(const Row<T>& row) {
    bool has[2] = {false, false};
    for (int64_t i = 0; std::is_floating_point_v<T> && i < row.size(); ++i) {
        has[std::signbit(static_cast<double>(row[i]))] |= row[i] == 0;
    }
    return has[0] && has[1];
}

enum class Extremum : uint8_t { kMax, kMin };
enum class Wanted : uint8_t { kElement, kPlace };

template <typename T>
std::optional<Tensor> extremum_in(const Tensor& values, const Reduced& as, Extremum which,
                                  Wanted wanted) {
    auto place = [which](const Row<T>& row) {
        return best_of(row, [which](T x, T y) { return which == Extremum::kMax ? x > y : x < y; });
    };
    if (wanted == Wanted::kPlace) {
        return reduce_rows<int64_t, T>(values, as, place);
    }
    return reduce_rows<T, T>(values, as, [&](const Row<T>& row) {
        std::optional<int64_t> best = place(row);
        bool is_certain = best && !(row[*best] == 0 && has_both_zeros(row));
        return is_certain ? std::optional<T>(row[*best]) : std::nullopt;
    });
}

std::optional<Tensor> extremum_of(const Tensor& array, const Reduced& as, Extremum which,
                                  Wanted wanted) {
    ElementType type = array.element_type();
    ElementType wide = is_floating(type)              ? ElementType::kDouble
                       : type == ElementType::kUint64 ? type
                                                      : ElementType::kInt64;
    std::optional<Tensor> values = cast_array(array, wide);
    std::optional<Tensor> made = is_floating(type) ? extremum_in<double>(*values, as, which, wanted)
                                 : type == ElementType::kUint64
                                     ? extremum_in<uint64_t>(*values, as, which, wanted)
                                     : extremum_in<int64_t>(*values, as, which, wanted);
    return made && wanted == Wanted::kElement ? cast_array(*made, type) : made;
}

std::optional<Tensor> truth_of(const Tensor& array, const Reduced& as, bool all) {
    std::optional<Tensor> flags = cast_array(array, ElementType::kBool);
    return reduce_rows<bool, bool>(*flags, as, [all](const Row<bool>& row) {
        bool result = all;
        for (int64_t i = 0; i < row.size(); ++i) {
            result = all ? result && row[i] : result || row[i];
        }
        return std::optional(result);
    });
}

template <typename Reduce>
Object reduction(Context& c, const Arguments& given, std::string_view name, Reduce reduce,
                 std::initializer_list<std::string_view> keywords = {"axis", "keepdims"}) {
    std::optional<Arguments> of_arrays = with_arrays(c, given, 1);
    if (!of_arrays) {
        return Object::error();
    }
    const Arguments& a = *of_arrays;
    const Tensor* array = known_array(&a.positional[0]);
    std::optional<Reduced> as =
        array != nullptr ? reduced_axes(c, a, *array, keywords) : std::nullopt;
    std::optional<Tensor> made = as ? reduce(*array, *as) : std::nullopt;
    if (made) {
        return as_numpys_number(constant_of(std::move(*made)));
    }
    bool is_open = as && as->n > 0 && is_floating(array->element_type());
    return is_open ? refuse(c, a.range,
                            fmt::format("`np.{}` of these floats, which depends on the order in "
                                        "which NumPy takes them",
                                        name),
                            "write the number, or use an operator such as `op.ReduceSum`")
                   : refuse_array(c, a, name);
}

Object extremum(Context& c, const Arguments& a, std::string_view name, Extremum which,
                Wanted wanted) {
    return reduction(c, a, name, [=](const Tensor& array, const Reduced& as) {
        return extremum_of(array, as, which, wanted);
    });
}

// `all`: whether every element is true; otherwise whether one is.
Object truth(Context& c, const Arguments& a, std::string_view name, bool all) {
    return reduction(c, a, name, [all](const Tensor& array, const Reduced& as) {
        return truth_of(array, as, all);
    });
}

}  // namespace

Object np_sum(Context& c, const Arguments& a) {
    return reduction(c, a, "sum", sum_of);
}

Object np_prod_of_array(Context& c, const Arguments& a) {
    return reduction(c, a, "prod", product_of);
}

Object np_mean(Context& c, const Arguments& a) {
    return reduction(c, a, "mean", mean_of);
}

namespace {

// The elements of a row in order; nothing: it has none, or has no certain order.
std::optional<std::vector<double>> sorted_row(const Row<double>& row) {
    std::vector<double> all;
    for (int64_t i = 0; i < row.size(); ++i) {
        all.push_back(row[i]);
    }
    bool has_nan = std::any_of(all.begin(), all.end(), [](double x) { return x != x; });
    if (all.empty() || has_nan || has_both_zeros(row)) {
        return std::nullopt;
    }
    std::sort(all.begin(), all.end());
    return all;
}

// The element in the middle, or the mean of the two there, in the type of the mean.
std::optional<Tensor> median_of(const Tensor& array, const Reduced& as) {
    std::optional<Tensor> reals = cast_array(array, ElementType::kDouble);
    std::optional<Tensor> made = reduce_rows<double, double>(
        *reals, as, [](const Row<double>& row) -> std::optional<double> {
            std::optional<std::vector<double>> all = sorted_row(row);
            if (!all) {
                return std::nullopt;
            }
            size_t middle = all->size() / 2;
            return all->size() % 2 != 0 ? (*all)[middle]
                                        : ((*all)[middle - 1] + (*all)[middle]) / 2;
        });
    bool stays = is_floating(array.element_type());
    return made && stays ? cast_array(*made, array.element_type()) : made;
}

// Between the two elements that a part of the way from the first to the last lies between. Of
// floats that are not DOUBLE, NumPy's types depend on its version.
std::optional<Tensor> quantile_of(const Tensor& array, const Reduced& as, double part) {
    if (is_floating(array.element_type()) && array.element_type() != ElementType::kDouble) {
        return std::nullopt;
    }
    std::optional<Tensor> reals = cast_array(array, ElementType::kDouble);
    return reduce_rows<double, double>(
        *reals, as, [part](const Row<double>& row) -> std::optional<double> {
            std::optional<std::vector<double>> all = sorted_row(row);
            if (!all) {
                return std::nullopt;
            }
            double place = part * static_cast<double>(all->size() - 1);
            auto before = static_cast<size_t>(place);
            if (before + 1 >= all->size()) {
                return all->back();
            }
            double low = (*all)[before], high = (*all)[before + 1];
            double width = high - low, way = place - static_cast<double>(before);
            double step = way >= 0.5 ? width * (1 - way) : width * way;
            return way >= 0.5 ? high - step : low + step;
        });
}

// The quantile that the second argument says, a number up to `whole`, along an axis or of all.
Object quantile(Context& c, const Arguments& a, std::string_view name, double whole) {
    const Object* q = argument_of(a, 1, "q");
    bool is_known = q != nullptr && q->is_number() && q->as_double() >= 0 &&
                    q->as_double() <= whole && a.positional.size() >= 2;
    if (!is_known) {
        return refuse_array(c, a, name);
    }
    Arguments rest = a;
    rest.positional.erase(rest.positional.begin() + 1);
    rest.ranges.erase(rest.ranges.begin() + 1);
    return reduction(c, rest, name,
                     [part = q->as_double() / whole](const Tensor& array, const Reduced& as) {
                         return quantile_of(array, as, part);
                     });
}

// The root of the sum of the squares: of all elements NumPy takes it as a product of vectors.
std::optional<Tensor> norm_of(const Tensor& array, const Reduced& as, bool is_of_all) {
    ElementType type =
        is_floating(array.element_type()) ? array.element_type() : ElementType::kDouble;
    if (type == ElementType::kFloat16) {
        return std::nullopt;
    }
    std::optional<Tensor> sums;
    if (is_of_all) {
        std::optional<Tensor> reals = cast_array(array, ElementType::kDouble);
        sums = reduce_rows<double, double>(
            *reals, as, [type](const Row<double>& row) { return certain_dot(row, row, type); });
    } else {
        Tensor values = *cast_array(array, type);
        std::optional<Broadcast> same = broadcast(values.dims(), values.dims());
        std::optional<Tensor> squares = combine(lowering::Binary::kMul, values, values, *same);
        sums = squares ? sum_of_floats(*squares, as) : std::nullopt;
    }
    std::optional<Object> root =
        sums ? map_array(constant_of(*cast_array(*sums, type)), std::sqrt) : std::nullopt;
    return root ? cast_array(as_array_scalar(*root).get<Tensor>(), type) : std::nullopt;
}

}  // namespace

Object np_median(Context& c, const Arguments& a) {
    return reduction(c, a, "median", median_of);
}

// np.percentile(x, q, axis=None, keepdims=False) and np.quantile, of one q.
Object np_percentile(Context& c, const Arguments& a) {
    return quantile(c, a, "percentile", 100);
}

Object np_quantile(Context& c, const Arguments& a) {
    return quantile(c, a, "quantile", 1);
}

// np.linalg.norm(x, axis=None, keepdims=False), without `ord`.
Object np_norm(Context& c, const Arguments& a) {
    const Object* axis = argument_of(a, SIZE_MAX, "axis");
    bool is_of_all = axis == nullptr || axis->is_none();
    return a.positional.size() == 1 ? reduction(c, a, "linalg.norm",
                                                [=](const Tensor& array, const Reduced& as) {
                                                    return norm_of(array, as, is_of_all);
                                                })
                                    : refuse_array(c, a, "linalg.norm");
}

// np.average(x, axis=None, weights=None): weights of the shape of x, or along its one axis.
Object np_average(Context& c, const Arguments& given) {
    const Object* weights = argument_of(given, SIZE_MAX, "weights");
    if (weights == nullptr || weights->is_none()) {
        Arguments plain = given;
        plain.keywords.erase(
            std::remove_if(plain.keywords.begin(), plain.keywords.end(),
                           [](const KeywordArgument& one) { return one.name == "weights"; }),
            plain.keywords.end());
        return reduction(c, plain, "average", mean_of);
    }
    Arguments pair = given;
    pair.positional = {given.positional[0], *weights};
    pair.ranges = {given.range, given.range};
    pair.keywords.clear();
    std::optional<Arguments> arrays = with_arrays(c, pair, 2);
    const Tensor* x = arrays ? known_array(&arrays->positional[0]) : nullptr;
    const Tensor* by = arrays ? known_array(&arrays->positional[1]) : nullptr;
    if (x == nullptr || by == nullptr || x->dims() != by->dims() || given.positional.size() != 1 ||
        has_other_keywords(given, {"weights"})) {
        return arrays ? refuse_array(c, given, "average") : Object::error();
    }
    ElementType type = promoted(x->element_type(), by->element_type());
    type = is_floating(type) ? type : ElementType::kDouble;
    std::optional<Broadcast> same = broadcast(x->dims(), x->dims());
    Arguments products = pair, sum = pair;
    std::optional<Tensor> made =
        combine(lowering::Binary::kMul, *cast_array(*x, type), *cast_array(*by, type), *same);
    if (!made) {
        return refuse_array(c, given, "average");
    }
    products.positional = {constant_of(std::move(*made))};
    sum.positional = {constant_of(*cast_array(*by, type))};
    Object total = np_sum(c, products), by_what = np_sum(c, sum);
    std::optional<Object> mean =
        total.is_error() || by_what.is_error()
            ? std::optional(Object::error())
            : array_binary(c, lowering::Binary::kDiv, as_array_scalar(total),
                           as_array_scalar(by_what), given.range);
    return !mean              ? refuse_array(c, given, "average")
           : mean->is_error() ? *mean
                              : as_numpys_number(*mean);
}

namespace {

Object spread(Context& c, const Arguments& a, std::string_view name, bool is_rooted) {
    const Object* ddof = argument_of(a, SIZE_MAX, "ddof");
    if (ddof != nullptr && !ddof->is_integer()) {
        return refuse_array(c, a, name);
    }
    double less = ddof != nullptr ? ddof->as_double() : 0;
    return reduction(
        c, a, name,
        [=](const Tensor& array, const Reduced& as) {
            std::optional<Tensor> made = variance_of(array, as, less);
            std::optional<Object> root =
                made && is_rooted ? map_array(constant_of(*made), std::sqrt) : std::nullopt;
            return !root ? made
                         : cast_array(as_array_scalar(*root).get<Tensor>(), made->element_type());
        },
        {"axis", "keepdims", "ddof"});
}

}  // namespace

Object np_var(Context& c, const Arguments& a) {
    return spread(c, a, "var", false);
}
Object np_std(Context& c, const Arguments& a) {
    return spread(c, a, "std", true);
}

Object np_max(Context& c, const Arguments& a) {
    return extremum(c, a, "max", Extremum::kMax, Wanted::kElement);
}
Object np_min(Context& c, const Arguments& a) {
    return extremum(c, a, "min", Extremum::kMin, Wanted::kElement);
}
Object np_argmax(Context& c, const Arguments& a) {
    return extremum(c, a, "argmax", Extremum::kMax, Wanted::kPlace);
}
Object np_argmin(Context& c, const Arguments& a) {
    return extremum(c, a, "argmin", Extremum::kMin, Wanted::kPlace);
}

Object np_all(Context& c, const Arguments& a) {
    return truth(c, a, "all", true);
}
Object np_any(Context& c, const Arguments& a) {
    return truth(c, a, "any", false);
}

}  // namespace sardonyx::elaborate
