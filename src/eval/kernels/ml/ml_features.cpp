// Operators of ai.onnx.ml that prepare features: ArrayFeatureExtractor, Binarizer,
// FeatureVectorizer, Imputer, Normalizer, OneHotEncoder, Scaler.
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "eval/kernels/cast.h"
#include "eval/kernels/ml/ml_tables.h"
#include "eval/loops/clones.h"
#include "eval/loops/strided.h"
#include "eval/loops/visit.h"
#include "eval/operators/kernel.h"

namespace sardonyx::eval::kernels {
namespace {

// The types that these operators take.
using Features = TypeList<Typed<ElementType::kFloat, float>, Typed<ElementType::kDouble, double>,
                          Typed<ElementType::kInt32, int32_t>, Typed<ElementType::kInt64, int64_t>>;

using Extracted = Join<Features, Strings>;

// A parameter per feature, or one for all.
Status check_per_feature(std::string_view name, size_t count, const Dims& dims) {
    auto features = dims.empty() ? 1 : dims.back();
    if (count != 1 && static_cast<int64_t>(count) != features) {
        return Error{fmt::format("`{}` has {} numbers for {} features", name, count, features)};
    }
    return {};
}

// Each element that is_missing() by its column's number.
template <typename T, typename Number, typename IsMissing>
void replace_missing(std::span<const T> x, std::span<T> result, std::span<const Number> numbers,
                     IsMissing is_missing) {
    size_t n = numbers.size();
    if (n == 1) {
        auto number = static_cast<T>(numbers[0]);
        std::transform(x.begin(), x.end(), result.begin(),
                       [&](T value) { return is_missing(value) ? number : value; });
        return;
    }
    std::vector<T> row(numbers.begin(), numbers.end());
    for (size_t at = 0; at < x.size(); at += n) {
        for (size_t i = 0; i < n; ++i) {
            result[at + i] = is_missing(x[at + i]) ? row[i] : x[at + i];
        }
    }
}

}  // namespace

Status array_feature_extractor(KernelContext& c) {
    const Tensor& x = c.tensor(0);
    if (x.rank() == 0) {
        return Error{"the input has no axis to choose from"};
    }
    AxisView view = axis_view(x.dims(), x.rank() - 1);
    std::span<const int64_t> indices = c.tensor(1).elements<int64_t>();
    for (int64_t index : indices) {
        if (index < 0 || index >= view.n) {
            return Error{
                fmt::format("index {} is out of range for an axis of size {}", index, view.n)};
        }
    }
    Dims dims = x.rank() == 1 ? Dims{1, 0} : x.dims();
    dims.back() = static_cast<int64_t>(indices.size());
    SDX_ASSIGN(Tensor * out, c.output(0, c.type(0), std::move(dims)));
    if (out->count() == 0) {
        return {};
    }
    return visit(Extracted{}, c.type(0), [&]<typename T>() -> Status {
        const T* row = x.elements<T>().data();
        T* result = out->mutable_elements<T>().data();
        for (int64_t o = 0; o < view.outer; ++o, row += view.n) {
            for (int64_t index : indices) {
                *result++ = row[index];
            }
        }
        return {};
    });
}

Status binarizer(KernelContext& c) {
    SDX_ASSIGN(Tensor * out, c.output(0, c.type(0), c.dims(0)));
    float threshold = c.float_attribute("threshold");
    return visit(Features{}, c.type(0), [&]<typename T>() -> Status {
        std::span<const T> x = c.tensor(0).elements<T>();
        std::transform(x.begin(), x.end(), out->mutable_elements<T>().begin(), [&](T value) {
            return static_cast<T>(static_cast<double>(value) > threshold ? 1 : 0);
        });
        return {};
    });
}

// A tensor of rank 1 is one row; what is longer than its size is cut, what is shorter is filled
// with zeros.
Status feature_vectorizer(KernelContext& c) {
    std::span<const int64_t> sizes = c.ints_attribute("inputdimensions");
    if (!sizes.empty() && sizes.size() != c.input_count()) {
        return Error{fmt::format("{} sizes for {} inputs", sizes.size(), c.input_count())};
    }
    int64_t rows = c.rank(0) == 2 ? c.dims(0)[0] : 1;
    Dims dims{rows, 0};
    for (size_t i = 0; i < c.input_count(); ++i) {
        const Dims& own = c.dims(i);
        if (own.empty() || own.size() > 2 || (own.size() == 2 ? own[0] : 1) != rows) {
            return Error{fmt::format("input {} has shape {}, which has not the {} rows of input 0",
                                     i, to_string(own), rows)};
        }
        int64_t size = sizes.empty() ? own.back() : sizes[i];
        if (size < 0 || __builtin_add_overflow(dims[1], size, &dims[1])) {
            return Error{fmt::format("inputdimensions has {}", size)};
        }
    }
    SDX_ASSIGN(Tensor * out, c.output(0, ElementType::kFloat, dims));
    fill_zero(*out);
    int64_t start = 0;
    for (size_t i = 0; i < c.input_count() && out->count() > 0; ++i) {
        int64_t own = c.dims(i).back();
        int64_t size = sizes.empty() ? own : sizes[i];
        SDX_ASSIGN(Tensor x, cast_tensor(c, c.tensor(i), ElementType::kFloat));
        for (int64_t r = 0; r < rows; ++r) {
            copy_elements(x, r * own, *out, r * dims[1] + start, std::min(own, size));
        }
        start += size;
    }
    return {};
}

Status imputer(KernelContext& c) {
    bool is_float = c.type(0) == ElementType::kFloat || c.type(0) == ElementType::kDouble;
    std::span<const float> floats = c.floats_attribute("imputed_value_floats");
    std::span<const int64_t> ints = c.ints_attribute("imputed_value_int64s");
    size_t count = is_float ? floats.size() : ints.size();
    SDX_TRY(check_per_feature(is_float ? "imputed_value_floats" : "imputed_value_int64s", count,
                              c.dims(0)));
    SDX_ASSIGN(Tensor * out, c.output(0, c.type(0), c.dims(0)));
    return visit(Features{}, c.type(0), [&]<typename T>() -> Status {
        std::span<const T> x = c.tensor(0).elements<T>();
        std::span<T> result = out->mutable_elements<T>();
        if constexpr (std::is_floating_point_v<T>) {
            auto replaced = static_cast<T>(c.float_attribute("replaced_value_float"));
            if (std::isnan(replaced)) {
                replace_missing<T>(x, result, floats, [](T value) { return value != value; });
            } else {
                replace_missing<T>(x, result, floats, [&](T value) { return value == replaced; });
            }
        } else {
            int64_t replaced = c.int_attribute("replaced_value_int64");
            replace_missing<T>(x, result, ints, [&](T value) { return value == replaced; });
        }
        return {};
    });
}

namespace {

enum class Norm : uint8_t { kMax, kL1, kL2 };

// The greatest number of a row, in lanes of a vector that all begin with the first one: it may be
// NaN, all others that are NaN are passed over.
template <typename T>
[[gnu::always_inline]] inline T greatest_of_row(const T* x, int64_t n) {
    constexpr int kLanes = 8;
    T lanes[kLanes];
    std::fill(lanes, lanes + kLanes, x[0]);
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
        for (int k = 0; k < kLanes; ++k) {
            lanes[k] = lanes[k] < x[i + k] ? x[i + k] : lanes[k];
        }
    }
    T greatest = lanes[0];
    for (int k = 1; k < kLanes; ++k) {
        greatest = greatest < lanes[k] ? lanes[k] : greatest;
    }
    for (; i < n; ++i) {
        greatest = greatest < x[i] ? x[i] : greatest;
    }
    return greatest;
}

// Sums along a row in lanes of a vector, which are added up in the end.
template <Norm kNorm, typename T>
[[gnu::always_inline]] inline double sum_norm(const T* x, int64_t n) {
    constexpr int kLanes = 8;
    double lanes[kLanes] = {};
    auto term = [](T value) {
        auto wide = static_cast<double>(value);
        return kNorm == Norm::kL1 ? std::fabs(wide) : wide * wide;
    };
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
        for (int k = 0; k < kLanes; ++k) {
            lanes[k] += term(x[i + k]);
        }
    }
    double rest = 0;
    for (; i < n; ++i) {
        rest += term(x[i]);
    }
    double sum = ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) +
                 ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7])) + rest;
    return kNorm == Norm::kL2 ? std::sqrt(sum) : sum;
}

// out = x / norm, rounded once to float. For all but double, whose norms may be so small that they
// have no reciprocal, the product with the reciprocal is near enough before it is rounded.
template <typename T>
[[gnu::always_inline]] inline void divide_row(const T* x, int64_t n, double norm, float* out) {
    if constexpr (std::is_same_v<T, double>) {
        for (int64_t i = 0; i < n; ++i) {
            out[i] = static_cast<float>(x[i] / norm);
        }
    } else {
        double factor = 1 / norm;
        for (int64_t i = 0; i < n; ++i) {
            out[i] = static_cast<float>(static_cast<double>(x[i]) * factor);
        }
    }
}

template <Norm kNorm, typename T>
SDX_CLONES void normalize_rows(const T* x, int64_t rows, int64_t n, float* out) {
    for (int64_t r = 0; r < rows; ++r, x += n, out += n) {
        double norm = 0;
        if constexpr (kNorm == Norm::kMax) {
            norm = static_cast<double>(greatest_of_row(x, n));
        } else {
            norm = sum_norm<kNorm>(x, n);
        }
        divide_row(x, n, norm == 0 ? 1 : norm, out);
    }
}

}  // namespace

// Every row by its norm; the reference's formulas as ONNX Runtime reads them: L1 is the sum of the
// magnitudes, MAX the greatest element. Rows whose norm is 0 stay.
Status normalizer(KernelContext& c) {
    std::string_view norm = c.string_attribute("norm");
    if (norm != "MAX" && norm != "L1" && norm != "L2") {
        return Error{fmt::format("norm `{}` is not known", norm)};
    }
    SDX_ASSIGN(Tensor * out, c.output(0, ElementType::kFloat, c.dims(0)));
    if (out->count() == 0) {
        return {};
    }
    int64_t n = c.rank(0) == 0 ? 1 : c.dims(0).back();
    int64_t rows = out->count() / n;
    float* result = out->mutable_elements<float>().data();
    return visit(Features{}, c.type(0), [&]<typename T>() -> Status {
        const T* x = c.tensor(0).elements<T>().data();
        if (norm == "MAX") {
            normalize_rows<Norm::kMax>(x, rows, n, result);
        } else if (norm == "L1") {
            normalize_rows<Norm::kL1>(x, rows, n, result);
        } else {
            normalize_rows<Norm::kL2>(x, rows, n, result);
        }
        return {};
    });
}

namespace {

// One of the two.
struct Categories {
    std::optional<KeyTable<std::string>> strings;
    std::optional<KeyTable<int64_t>> ints;
};

Result<Categories> make_categories(const KernelContext& c, bool is_string) {
    std::span<const std::string> strings = c.strings_attribute("cats_strings");
    std::span<const int64_t> ints = c.ints_attribute("cats_int64s");
    Categories categories;
    size_t count = is_string ? strings.size() : ints.size();
    size_t distinct = 0;
    if (is_string) {
        distinct = categories.strings.emplace(strings).distinct();
    } else {
        distinct = categories.ints.emplace(ints).distinct();
    }
    if (count != distinct || count == 0) {
        return Error{"the categories for this type of input are missing, or repeat one"};
    }
    return categories;
}

// A 1 at the place of each element in its row of `count`.
template <typename T>
Status mark_places(std::span<const T> elements, const KeyTable<T>& places, bool allows_none,
                   float* row, int64_t count) {
    for (const T& element : elements) {
        int64_t place = places.find(element);
        if (place != KeyTable<T>::kNone) {
            row[place] = 1;
        } else if (!allows_none) {
            return Error{"an element is of no category, and `zeros` is 0"};
        }
        row += count;
    }
    return {};
}

}  // namespace

Status one_hot_encoder(KernelContext& c) {
    bool is_string = c.type(0) == ElementType::kString;
    auto fits = [&](const Categories& kept) { return kept.strings.has_value() == is_string; };
    SDX_ASSIGN(std::shared_ptr<const Categories> categories,
               of_attributes<Categories>(c, fits, [&] { return make_categories(c, is_string); }));
    auto count = static_cast<int64_t>(is_string ? c.strings_attribute("cats_strings").size()
                                                : c.ints_attribute("cats_int64s").size());
    Dims dims = c.dims(0);
    dims.push_back(count);
    SDX_ASSIGN(Tensor * out, c.output(0, ElementType::kFloat, std::move(dims)));
    fill_zero(*out);
    float* row = out->mutable_elements<float>().data();
    bool allows_none = c.int_attribute("zeros") != 0;
    if (is_string) {
        return mark_places(c.tensor(0).elements<std::string>(), *categories->strings, allows_none,
                           row, count);
    }
    SDX_ASSIGN(Tensor x, cast_tensor(c, c.tensor(0), ElementType::kInt64));
    return mark_places(x.elements<int64_t>(), *categories->ints, allows_none, row, count);
}

// Every feature by its own numbers, or all by the same.
Status scaler(KernelContext& c) {
    std::span<const float> offset = c.floats_attribute("offset");
    std::span<const float> scale = c.floats_attribute("scale");
    SDX_TRY(check_per_feature("offset", offset.size(), c.dims(0)));
    SDX_TRY(check_per_feature("scale", scale.size(), c.dims(0)));
    SDX_ASSIGN(Tensor * out, c.output(0, ElementType::kFloat, c.dims(0)));
    int64_t n = c.rank(0) == 0 ? 1 : c.dims(0).back();
    std::vector<double> offsets(n, offset.empty() ? 0 : offset[0]);
    std::vector<double> scales(n, scale.empty() ? 0 : scale[0]);
    if (offset.size() > 1) {
        offsets.assign(offset.begin(), offset.end());
    }
    if (scale.size() > 1) {
        scales.assign(scale.begin(), scale.end());
    }
    float* result = out->mutable_elements<float>().data();
    return visit(Features{}, c.type(0), [&]<typename T>() -> Status {
        const T* x = c.tensor(0).elements<T>().data();
        for (int64_t at = 0; at < out->count(); at += n) {
            for (int64_t i = 0; i < n; ++i) {
                result[at + i] =
                    static_cast<float>((static_cast<double>(x[at + i]) - offsets[i]) * scales[i]);
            }
        }
        return {};
    });
}

}  // namespace sardonyx::eval::kernels
