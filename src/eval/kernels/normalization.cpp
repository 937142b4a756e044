// The normalizations by moments.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "eval/kernels/cast.h"
#include "eval/kernels/standard_kernels.h"
#include "eval/loops/channels_last.h"
#include "eval/loops/clones.h"
#include "eval/loops/elementwise.h"
#include "eval/loops/functors.h"
#include "eval/loops/reduction.h"
#include "eval/loops/scratch.h"
#include "eval/loops/strided.h"
#include "eval/loops/visit.h"
#include "eval/operators/kernel.h"

namespace sardonyx::eval::kernels {

namespace {

// --- Rows with mean and variance -----------------------------------------------------------------

struct Moments {
    double mean = 0;
    double variance = 0;
};

// When the run shall end, some numbers.
SDX_CLONES Moments moments(const Workers& threads, const float* row, int64_t n) {
    auto count = static_cast<double>(n);
    Moments m;
    m.mean = sum_row<double>(
                 row, n, [](float x) { return static_cast<double>(x); }, &threads) /
             count;
    m.variance = sum_row<double>(
                     row, n,
                     [mean = m.mean](float x) {
                         double from_mean = static_cast<double>(x) - mean;
                         return from_mean * from_mean;
                     },
                     &threads) /
                 count;
    return m;
}

template <typename T>
Moments moments(const Workers& threads, const T* row, int64_t n) {
    auto value = [](T x) { return static_cast<double>(static_cast<Compute<T>>(x)); };
    double count = static_cast<double>(n);
    Moments m;
    m.mean = sum_row<double>(row, n, value, &threads) / count;
    m.variance =
        sum_row<double>(
            row, n, [&](T x) { return (value(x) - m.mean) * (value(x) - m.mean); }, &threads) /
        count;
    return m;
}

template <typename T>
SDX_CLONES double sum_of_squares(const Workers& threads, const T* row, int64_t n) {
    return sum_row<double>(
        row, n, [](T x) { return as_double(x) * as_double(x); }, &threads);
}

// The scale and the bias of a row, one for each element or one for all; null: none.
template <typename T>
struct RowFactors {
    const T* scale = nullptr;
    const T* bias = nullptr;
    bool is_one = false;

    // Those from an element of the row on.
    RowFactors from(int64_t element) const {
        int64_t steps = is_one || scale == nullptr ? 0 : element;
        return {scale + steps, bias == nullptr ? nullptr : bias + steps, is_one};
    }
};

template <typename T>
SDX_CLONES void normalize_row(const T* in, T* out, int64_t n, double mean, double factor,
                              RowFactors<T> factors) {
    using V = Compute<T>;
    auto normalized = [&](int64_t i) {
        double x = static_cast<double>(static_cast<V>(in[i]));
        return static_cast<T>((x - mean) * factor);
    };
    auto scaled = [&](int64_t i, V scale) {
        return static_cast<T>(static_cast<V>(normalized(i)) * scale);
    };
    const T* scale = factors.scale;
    const T* bias = factors.bias;
    if (scale == nullptr) {
        for (int64_t i = 0; i < n; ++i) {
            out[i] = normalized(i);
        }
    } else if (factors.is_one) {
        const V slope = static_cast<V>(*scale), shift = static_cast<V>(*bias);
        for (int64_t i = 0; i < n; ++i) {
            out[i] = static_cast<T>(static_cast<V>(normalized(i)) * slope + shift);
        }
    } else if (bias == nullptr) {
        for (int64_t i = 0; i < n; ++i) {
            out[i] = scaled(i, static_cast<V>(scale[i]));
        }
    } else {
        for (int64_t i = 0; i < n; ++i) {
            V y = static_cast<V>(scaled(i, static_cast<V>(scale[i])));
            out[i] = static_cast<T>(y + static_cast<V>(bias[i]));
        }
    }
}

// How the elements of a channel change. The mean is subtracted first: one that is large beside the
// deviation would cancel in a shift. `shift` has what is left of a mean that V does not hold.
template <typename V>
struct ChannelMap {
    V mean = 0;
    V slope = 0;
    V shift = 0;
};

template <typename V>
ChannelMap<V> channel_map(double mean, double slope, double bias) {
    auto rounded = static_cast<V>(mean);
    // An infinite mean has no rest.
    double rest = std::isfinite(mean) ? mean - static_cast<double>(rounded) : 0;
    return {rounded, static_cast<V>(slope), static_cast<V>(bias - rest * slope)};
}

template <typename T>
SDX_CLONES void map_row(const T* in, T* out, int64_t n, ChannelMap<Compute<T>> map) {
    for (int64_t i = 0; i < n; ++i) {
        out[i] =
            static_cast<T>((static_cast<Compute<T>>(in[i]) - map.mean) * map.slope + map.shift);
    }
}

// The same with a map for each element, as lists.
template <typename T>
SDX_CLONES void map_channels(const T* in, T* out, int64_t n, const Compute<T>* means,
                             const Compute<T>* slopes, const Compute<T>* shifts) {
    for (int64_t i = 0; i < n; ++i) {
        out[i] =
            static_cast<T>((static_cast<Compute<T>>(in[i]) - means[i]) * slopes[i] + shifts[i]);
    }
}

// normalized * scale + bias, by inputs that broadcast; in the normalized tensor's type.
Status set_scaled(KernelContext& c, Tensor normalized, const Tensor* scale, const Tensor* bias) {
    ElementType type = normalized.element_type();
    Dims dims = normalized.dims();
    Multiply multiply;
    Add add;
    if (scale != nullptr) {
        SDX_ASSIGN(normalized,
                   apply_binary(c, normalized, *scale, binary_call(Floats{}, type, multiply)));
    }
    if (bias != nullptr) {
        SDX_ASSIGN(normalized,
                   apply_binary(c, normalized, *bias, binary_call(Floats{}, type, add)));
    }
    if (normalized.dims() != dims) {
        return Error{fmt::format("scale and bias do not broadcast to {}", to_string(dims))};
    }
    c.set_output(0, std::move(normalized));
    return {};
}

// From a mean that T may not hold.
struct DistanceFrom {
    template <typename T>
    T operator()(T x, double mean) const {
        return static_cast<T>(static_cast<double>(x) - mean);
    }
};

struct MeasureRow {
    template <typename T>
    Moments operator()(const Workers& threads, const T* row, int64_t n) const {
        return moments(threads, row, n);
    }
};

// Rows from `axis` on, each normalised; the statistics are outputs of type `stash`.
struct RowStatistics {
    std::vector<double> mean, inverse;
};

// A scale and a bias that the rows get while they are in the cache, of the type of the elements:
// [n], the same for all rows, or one for each row [rows], which repeat. Null: none.
struct RowAffine {
    const Tensor* scale = nullptr;
    const Tensor* bias = nullptr;
    int64_t rows = 0;  // 0: for the elements of a row

    template <typename T>
    RowFactors<T> of_row(int64_t index) const {
        if (scale == nullptr) {
            return {};
        }
        int64_t place = rows == 0 ? 0 : index % rows;
        return {scale->elements<T>().data() + place,
                bias != nullptr ? bias->elements<T>().data() + place : nullptr, rows != 0};
    }
};

// Rows from `axis` on with one scale for each element; none where it, or the bias, broadcasts in
// another way.
RowAffine affine_of_rows(const KernelContext& c, int axis, const Tensor& scale,
                         const Tensor* bias) {
    Dims row(c.dims(0).begin() + axis, c.dims(0).end());
    bool fits = scale.element_type() == c.type(0) && scale.dims() == row &&
                (bias == nullptr || (bias->element_type() == c.type(0) && bias->dims() == row));
    return fits ? RowAffine{&scale, bias, 0} : RowAffine{};
}

template <typename Statistics>
Result<Tensor> normalized_rows(KernelContext& c, const AxisView& view, RowStatistics* statistics,
                               Statistics measure, RowAffine affine) {
    SDX_ASSIGN(Tensor out, c.scratch(c.type(0), c.dims(0)));
    // Beside an axis of 0 there may be any number of empty rows.
    SDX_TRY(
        check_size(ElementType::kDouble, std::span<const int64_t>(&view.outer, 1), c.options()));
    SDX_TRY(visit(Floats{}, c.type(0), [&]<typename T>() -> Status {
        const T* in = c.tensor(0).elements<T>().data();
        T* target = out.mutable_elements<T>().data();
        statistics->mean.resize(view.outer);
        statistics->inverse.resize(view.outer);
        double epsilon = c.float_attribute("epsilon");
        const Workers threads = c.threads();
        auto normalize = [&](int64_t o) {
            const T* row = in + o * view.n;
            T* to = target + o * view.n;
            Moments m = measure(threads, row, view.n);
            double factor = 1 / std::sqrt(m.variance + epsilon);
            RowFactors<T> factors = affine.of_row<T>(o);
            in_turns(threads, view.n, 4 * kPolled, [&](int64_t begin, int64_t end) {
                normalize_row(row + begin, to + begin, end - begin, m.mean, factor,
                              factors.from(begin));
            });
            statistics->mean[o] = m.mean;
            statistics->inverse[o] = factor;
        };
        parallel_for(threads, view.outer, items_per_task(4 * view.n),
                     [&](int64_t begin, int64_t end) {
                         for (int64_t o = begin; o < end; ++o) {
                             normalize(o);
                         }
                     });
        return check_interrupt(c.options());
    }));
    return out;
}

// A list of C numbers as [C, 1, ...] beside data [N, C, ...].
Result<Tensor> per_channel(const Tensor& list, int rank, int64_t channels) {
    if (list.count() != channels || rank < 2) {
        return Error{fmt::format("{} numbers for {} channels", list.count(), channels)};
    }
    Dims dims(rank - 1, 1);
    dims[0] = channels;
    return list.reshaped(std::move(dims));
}

Result<std::vector<double>> numbers(KernelContext& c, size_t i, int64_t count) {
    std::optional<std::vector<double>> values = to_doubles(c.tensor(i), INT64_MAX);
    if (!values.has_value() || static_cast<int64_t>(values->size()) != count) {
        return Error{fmt::format("input {} must have {} numbers", i, count)};
    }
    return *std::move(values);
}

Result<Tensor> from_numbers(ElementType type, const std::vector<double>& values) {
    return tensor_from_doubles(type, {static_cast<int64_t>(values.size())}, values);
}

}  // namespace

Status layer_normalization(KernelContext& c) {
    SDX_ASSIGN(int axis, c.axis(c.int_attribute("axis"), c.rank(0)));
    AxisView view = axis_view(c.dims(0), axis, c.rank(0));
    RowStatistics statistics;
    const Tensor* bias = c.has_input(2) ? &c.tensor(2) : nullptr;
    RowAffine affine = affine_of_rows(c, axis, c.tensor(1), bias);
    SDX_ASSIGN(Tensor normalized, normalized_rows(c, view, &statistics, MeasureRow{}, affine));
    ElementType stash = element_type_from_number(c.int_attribute("stash_type"));
    Dims dims = c.dims(0);
    std::fill(dims.begin() + axis, dims.end(), 1);
    if (c.wants(1)) {
        SDX_ASSIGN(Tensor mean, tensor_from_doubles(stash, dims, statistics.mean));
        c.set_output(1, std::move(mean));
    }
    if (c.wants(2)) {
        SDX_ASSIGN(Tensor inverse, tensor_from_doubles(stash, dims, statistics.inverse));
        c.set_output(2, std::move(inverse));
    }
    return affine.scale != nullptr ? set_scaled(c, std::move(normalized), nullptr, nullptr)
                                   : set_scaled(c, std::move(normalized), &c.tensor(1), bias);
}

Status rms_normalization(KernelContext& c) {
    SDX_ASSIGN(int axis, c.axis(c.int_attribute("axis"), c.rank(0)));
    AxisView view = axis_view(c.dims(0), axis, c.rank(0));
    RowStatistics statistics;
    auto mean_square = []<typename T>(const Workers& threads, const T* row, int64_t n) {
        return Moments{0, sum_of_squares(threads, row, n) / static_cast<double>(n)};
    };
    RowAffine affine = affine_of_rows(c, axis, c.tensor(1), nullptr);
    SDX_ASSIGN(Tensor normalized, normalized_rows(c, view, &statistics, mean_square, affine));
    SDX_ASSIGN(normalized, cast_tensor(c, normalized, c.type(1)));
    return set_scaled(c, std::move(normalized), affine.scale != nullptr ? nullptr : &c.tensor(1),
                      nullptr);
}

Status instance_normalization(KernelContext& c) {
    if (c.rank(0) < 2) {
        return Error{"the input must have a batch axis and a channel axis"};
    }
    AxisView view = axis_view(c.dims(0), 2, c.rank(0));
    RowStatistics statistics;
    int64_t channels = c.dims(0)[1];
    SDX_ASSIGN(Tensor scale, per_channel(c.tensor(1), c.rank(0), channels));
    SDX_ASSIGN(Tensor bias, per_channel(c.tensor(2), c.rank(0), channels));
    RowAffine affine{&scale, &bias, channels};
    SDX_ASSIGN(Tensor normalized, normalized_rows(c, view, &statistics, MeasureRow{}, affine));
    c.set_output(0, std::move(normalized));
    return {};
}

Status group_normalization(KernelContext& c) {
    int64_t groups = c.int_attribute("num_groups");
    if (c.rank(0) < 2 || groups < 1 || groups > c.dims(0)[1] || c.dims(0)[1] % groups != 0) {
        return Error{fmt::format("the channels are not divisible into {} groups", groups)};
    }
    int64_t channels = c.dims(0)[1];
    std::span<const int64_t> dims = c.dims(0);
    AxisView view{dims[0] * groups, channels / groups * product(dims.subspan(2)), 1};
    RowStatistics statistics;
    SDX_ASSIGN(Tensor normalized, normalized_rows(c, view, &statistics, MeasureRow{}, RowAffine{}));
    // Version 18 has a scale and a bias for each group, later ones for each channel.
    int64_t count = c.version() < 21 ? groups : channels;
    Dims grouped{dims[0], count, -1};
    grouped[2] = count == 0 || dims[0] == 0 ? 0 : normalized.count() / (dims[0] * count);
    SDX_ASSIGN(Tensor scale, per_channel(c.tensor(1), 3, count));
    SDX_ASSIGN(Tensor bias, per_channel(c.tensor(2), 3, count));
    SDX_TRY(set_scaled(c, normalized.reshaped(std::move(grouped)), &scale, &bias));
    c.set_output(0, c.result(0).tensor().reshaped(c.dims(0)));
    return {};
}

Status batch_normalization(KernelContext& c) {
    bool is_old = c.version() < 14;
    bool trains = !is_old           ? c.int_attribute("training_mode") != 0
                  : c.version() < 7 ? c.int_attribute("is_test") == 0
                                    : c.output_count() > 1;
    bool is_last = c.is_channels_last(0);
    const Dims dims = onnx_dims(c, 0);
    // Without `spatial`, every place of every channel has its own statistics.
    bool is_spatial = c.int_attribute("spatial", 1) != 0;
    if (is_last && (trains || !is_spatial)) {
        return Error{"channels must not be innermost"};
    }
    int rank = c.rank(0);
    AxisView view = rank < 2 ? AxisView{dims.empty() ? 1 : dims[0], 1, 1}
                             : axis_view(dims, 1, is_spatial ? 2 : rank);
    SDX_ASSIGN(std::vector<double> scale, numbers(c, 1, view.n));
    SDX_ASSIGN(std::vector<double> bias, numbers(c, 2, view.n));
    SDX_ASSIGN(std::vector<double> mean, numbers(c, 3, view.n));
    SDX_ASSIGN(std::vector<double> variance, numbers(c, 4, view.n));
    std::vector<double> running_mean = mean;
    std::vector<double> running_variance = variance;
    double momentum = c.float_attribute("momentum");
    SDX_ASSIGN(Tensor * out, c.output(0, c.type(0), c.dims(0)));
    SDX_TRY(visit(Floats{}, c.type(0), [&]<typename T>() -> Status {
        using V = Compute<T>;
        const T* in = c.tensor(0).elements<T>().data();
        T* target = out->mutable_elements<T>().data();
        std::vector<V> means(view.n), slopes(view.n), shifts(view.n);
        auto normalize = [&](int64_t channel) {
            if (trains) {
                std::vector<T> values(view.outer * view.inner);
                for (int64_t o = 0; o < view.outer; ++o) {
                    const T* row = in + (o * view.n + channel) * view.inner;
                    std::copy(row, row + view.inner, values.begin() + o * view.inner);
                }
                Moments m = moments(c.threads(), values.data(), view.outer * view.inner);
                mean[channel] = m.mean;
                variance[channel] = m.variance;
                running_mean[channel] = running_mean[channel] * momentum + m.mean * (1 - momentum);
                running_variance[channel] =
                    running_variance[channel] * momentum + m.variance * (1 - momentum);
            }
            double factor =
                scale[channel] / std::sqrt(variance[channel] + c.float_attribute("epsilon"));
            ChannelMap<V> map = channel_map<V>(mean[channel], factor, bias[channel]);
            means[channel] = map.mean;
            slopes[channel] = map.slope;
            shifts[channel] = map.shift;
            for (int64_t o = 0; o < view.outer && !is_last; ++o) {
                int64_t start = (o * view.n + channel) * view.inner;
                map_row(in + start, target + start, view.inner, map);
            }
        };
        parallel_for(c.threads(), out->count() > 0 ? view.n : 0,
                     items_per_task(4 * view.outer * view.inner), [&](int64_t begin, int64_t end) {
                         for (int64_t channel = begin; channel < end; ++channel) {
                             normalize(channel);
                         }
                     });
        int64_t places = is_last && view.n > 0 ? out->count() / view.n : 0;
        parallel_for(c.threads(), places, items_per_task(view.n), [&](int64_t begin, int64_t end) {
            for (int64_t i = begin * view.n; i < end * view.n; i += view.n) {
                map_channels(in + i, target + i, view.n, means.data(), slopes.data(),
                             shifts.data());
            }
        });
        return {};
    }));
    // Outputs 1 and 2: the running statistics; 3 and 4 (before version 14): those of the batch.
    const std::vector<double>* statistics[] = {&running_mean, &running_variance, &mean, &variance};
    for (size_t i = 1; i < 5 && c.wants(i); ++i) {
        SDX_ASSIGN(Tensor list, from_numbers(c.type(3), *statistics[i - 1]));
        c.set_output(i, std::move(list));
    }
    return {};
}

Status mean_variance_normalization(KernelContext& c) {
    std::span<const int64_t> given = c.ints_attribute("axes");
    std::vector<int64_t> list(given.begin(), given.end());
    if (list.empty()) {
        list = {0, 2, 3};
    }
    SDX_ASSIGN(std::vector<int> axes, c.axes(list, c.rank(0)));
    SDX_ASSIGN(Rows rows, gather_rows(c, c.tensor(0), axes, true));
    ElementType type = c.type(0);
    SDX_ASSIGN(Tensor mean, c.scratch(ElementType::kDouble, rows.kept));
    ElementType between = type == ElementType::kDouble ? type : ElementType::kFloat;
    SDX_ASSIGN(Tensor deviation, c.scratch(between, rows.kept));
    DistanceFrom distance;
    Divide divide;
    BinaryCall centre{nullptr, &distance, between}, scale{nullptr, &divide, type};
    SDX_TRY(visit(Floats{}, type, [&]<typename T>() -> Status {
        using V = Compute<T>;
        const T* in = rows.data.elements<T>().data();
        // The divisor for equal numbers: greater than zero in float16, too.
        constexpr double kEpsilon = std::is_same_v<T, Float16> ? 0x1p-24 : 1e-9;
        double* means = mean.mutable_elements<double>().data();
        V* deviations = deviation.mutable_elements<V>().data();
        parallel_for(c.threads(), mean.count(), items_per_task(4 * rows.n),
                     [&](int64_t begin, int64_t end) {
                         for (int64_t r = begin; r < end; ++r) {
                             Moments m = moments(c.threads(), in + r * rows.n, rows.n);
                             means[r] = m.mean;
                             deviations[r] = static_cast<V>(std::sqrt(m.variance) + kEpsilon);
                         }
                     });
        centre.loop = &binary_loop<DistanceFrom, T, double, V>;
        scale.loop = &binary_loop<Divide, V, V, T>;
        return {};
    }));
    SDX_ASSIGN(Tensor centred, apply_binary(c, c.tensor(0), mean, centre));
    SDX_ASSIGN(Tensor out, apply_binary(c, centred, deviation, scale));
    c.set_output(0, std::move(out));
    return {};
}

}  // namespace sardonyx::eval::kernels
