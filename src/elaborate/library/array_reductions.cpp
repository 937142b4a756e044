#include "elaborate/library/array_reductions.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "elaborate/library/array_functions.h"
#include "elaborate/library/array_shapes.h"
#include "elaborate/objects/array_math.h"
#include "elaborate/objects/arrays.h"
#include "elaborate/objects/statics.h"

namespace sardonyx::elaborate {

namespace {

// The elements that become one, as they lie in memory.
template <typename T>
class Row {
  public:
    Row(const T* first, int64_t count, int64_t step) : first_(first), count_(count), step_(step) {}
    int64_t size() const { return count_; }
    T operator[](int64_t i) const { return first_[i * step_]; }

  private:
    const T* first_;
    int64_t count_, step_;
};

// An array as [outer, n, inner], of which n is reduced, and the shape of the result.
struct Reduced {
    int64_t outer = 1, n = 1, inner = 1;
    Dims dims;
};

// What a call asks for. Nothing: an axis that is no int or out of range, or other arguments.
std::optional<Reduced> reduced_axes(const Arguments& a, const Tensor& array) {
    const Object *axis = argument_of(a, 1, "axis"), *keeps = argument_of(a, 2, "keepdims");
    bool is_known = !has_other_keywords(a, {"axis", "keepdims"}) && a.positional.size() <= 2 &&
                    (keeps == nullptr || keeps->is(ObjectKind::kBool));
    if (!is_known) {
        return std::nullopt;
    }
    bool keeps_dims = keeps != nullptr && keeps->as_bool();
    Reduced made;
    if (axis == nullptr || axis->is_none()) {
        made.n = array.count();
        made.dims.assign(keeps_dims ? array.dims().size() : 0, 1);
        return made;
    }
    std::optional<size_t> place = axis_argument(a, 1, 0, array.dims().size());
    if (!place) {
        return std::nullopt;
    }
    for (size_t i = 0; i < array.dims().size(); ++i) {
        int64_t dim = array.dims()[i];
        (i < *place ? made.outer : i == *place ? made.n : made.inner) *= dim;
        if (i != *place || keeps_dims) {
            made.dims.push_back(i == *place ? 1 : dim);
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

// The bits of the significand of a floating type, and its least and greatest normal numbers.
struct Precision {
    int bits;
    double least, greatest;
};

template <typename T>
constexpr Precision kPrecisionOf{std::numeric_limits<T>::digits, std::numeric_limits<T>::min(),
                                 std::numeric_limits<T>::max()};

Precision precision_of(ElementType type) {
    return type == ElementType::kFloat16 ? Precision{11, 0x1p-14, 65504}
           : type == ElementType::kFloat ? kPrecisionOf<float>
                                         : kPrecisionOf<double>;
}

// The exponent of the lowest bit that is set.
int lowest_bit(double value) {
    int exponent = 0;
    double fraction = std::frexp(std::fabs(value), &exponent);  // 53 bits behind the point
    auto bits = static_cast<uint64_t>(std::ldexp(fraction, 53));
    return exponent - 53 + std::countr_zero(bits);
}

// A sum of which all partial sums, in whatever order, are numbers of the type.
std::optional<double> exact_sum(const Row<double>& row, Precision precision) {
    double sum = 0, size = 0;
    int lowest = INT32_MAX;
    for (int64_t i = 0; i < row.size(); ++i) {
        if (!std::isfinite(row[i]) || (row[i] == 0 && std::signbit(row[i]))) {
            return std::nullopt;
        }
        lowest = row[i] == 0 ? lowest : std::min(lowest, lowest_bit(row[i]));
        sum += row[i];
        size += std::fabs(row[i]);
    }
    bool is_exact = size == 0 || (size <= std::ldexp(1.0, lowest + precision.bits) &&
                                  size <= precision.greatest);
    return is_exact ? std::optional(sum) : std::nullopt;
}

// The same of a product: those of the odd parts of the numbers grow.
std::optional<double> exact_product(const Row<double>& row, Precision precision) {
    double product = 1, odd = 1, greatest = 1, least = 1;
    for (int64_t i = 0; i < row.size(); ++i) {
        product *= row[i];
        double size = std::fabs(row[i]);
        if (!std::isfinite(size)) {
            return std::nullopt;
        }
        if (size != 0) {
            odd *= std::ldexp(size, -lowest_bit(size));
            greatest *= std::max(size, 1.0);
            least *= std::min(size, 1.0);
        }
    }
    bool is_exact = odd <= std::ldexp(1.0, precision.bits) && greatest <= precision.greatest &&
                    least >= precision.least;
    return is_exact ? std::optional(product) : std::nullopt;
}

using Exact = std::optional<double> (*)(const Row<double>&, Precision);

std::optional<Tensor> of_floats(const Tensor& array, const Reduced& as, Exact exact) {
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

std::optional<Tensor> sum_of(const Tensor& array, const Reduced& as) {
    return is_floating(array.element_type())
               ? of_floats(array, as, exact_sum)
               : of_integers(array, as, 0, [](uint64_t x, uint64_t y) { return x + y; });
}

std::optional<Tensor> product_of(const Tensor& array, const Reduced& as) {
    return is_floating(array.element_type())
               ? of_floats(array, as, exact_product)
               : of_integers(array, as, 1, [](uint64_t x, uint64_t y) { return x * y; });
}

// Of integers in DOUBLE; of FLOAT16 the sum is one of FLOAT.
std::optional<Tensor> mean_of(const Tensor& array, const Reduced& as) {
    ElementType type = array.element_type();
    ElementType wide = type == ElementType::kFloat16 ? ElementType::kFloat
                       : is_floating(type)           ? type
                                                     : ElementType::kDouble;
    std::optional<Tensor> sums =
        as.n > 0 ? of_floats(*cast_array(array, wide), as, exact_sum) : std::nullopt;
    std::optional<Tensor> made = sums ? cast_array(*sums, ElementType::kDouble) : std::nullopt;
    if (!made) {
        return std::nullopt;
    }
    for (double& one : made->mutable_elements<double>()) {
        one /= static_cast<double>(as.n);
    }
    std::optional<Tensor> rounded = cast_array(*made, wide);
    return rounded && wide != type && is_floating(type) ? cast_array(*rounded, type) : rounded;
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
Object reduction(Context& c, const Arguments& a, std::string_view name, Reduce reduce) {
    const Tensor* array = known_array(&a.positional[0]);
    std::optional<Reduced> as = array != nullptr ? reduced_axes(a, *array) : std::nullopt;
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
