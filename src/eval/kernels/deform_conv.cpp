// DeformConv: a convolution whose window is bent for each place.

#include <fmt/format.h>

#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "eval/kernels/cast.h"
#include "eval/kernels/taps.h"
#include "eval/loops/elementwise.h"
#include "eval/loops/matmul.h"
#include "eval/loops/scratch.h"
#include "eval/loops/visit.h"
#include "eval/loops/window.h"
#include "eval/operators/kernel.h"

namespace sardonyx::eval::kernels {

namespace {

// --- DeformConv ----------------------------------------------------------------------------------

// The taps of a point in pixels, linear along each axis, zero outside.
void pixel_taps(std::span<const double> point, std::span<const int64_t> spatial,
                std::vector<PlaneTap>& taps, std::vector<PlaneTap>& longer) {
    taps.assign(1, {0, 1});
    for (size_t d = 0; d < spatial.size(); ++d) {
        double first = std::floor(point[d]);
        double ratio = point[d] - first;
        longer.clear();
        for (const PlaneTap& tap : taps) {
            for (int k = 0; k < 2; ++k) {
                double at = first + k;
                double weight = k == 0 ? 1 - ratio : ratio;
                if (at >= 0 && at < static_cast<double>(spatial[d]) && weight != 0) {
                    longer.push_back(
                        {tap.offset * spatial[d] + static_cast<int64_t>(at), tap.weight * weight});
                }
            }
        }
        taps.swap(longer);
    }
}

struct DeformShape {
    WindowGeometry windows;
    int64_t batch = 0, channels = 0, groups = 1, offset_groups = 1;
    int64_t out_channels = 0;  // of all groups
};

Result<DeformShape> deform_shape(const KernelContext& c) {
    const Dims& x = c.dims(0);
    const Dims& w = c.dims(1);
    if (x.size() < 3 || w.size() != x.size()) {
        return Error{fmt::format("input {} and weights {} must have the same rank, at least 3",
                                 to_string(x), to_string(w))};
    }
    DeformShape s;
    s.batch = x[0];
    s.channels = x[1];
    s.out_channels = w[0];
    s.groups = c.int_attribute("group", 1);
    s.offset_groups = c.int_attribute("offset_group", 1);
    if (s.groups < 1 || s.offset_groups < 1 || s.channels % s.groups != 0 || w[0] % s.groups != 0 ||
        w[1] != s.channels / s.groups || s.channels % s.offset_groups != 0) {
        return Error{fmt::format("input {} and weights {} do not fit {} groups and {} of offsets",
                                 to_string(x), to_string(w), s.groups, s.offset_groups)};
    }
    SDX_ASSIGN(Dims kernel, kernel_of_weights(c, w));
    SDX_ASSIGN(s.windows, window_geometry(c, Dims(x.begin() + 2, x.end()), std::move(kernel)));
    auto expected = [&](int64_t numbers) {
        Dims dims{s.batch, s.offset_groups * s.windows.kernel_count() * numbers};
        dims.insert(dims.end(), s.windows.out.begin(), s.windows.out.end());
        return dims;
    };
    auto axes = static_cast<int64_t>(x.size()) - 2;
    if (c.dims(2) != expected(axes) || (c.has_input(4) && c.dims(4) != expected(1))) {
        return Error{fmt::format("offsets {} or mask do not fit; {} are needed",
                                 to_string(c.dims(2)), to_string(expected(axes)))};
    }
    if (c.has_input(3) && c.tensor(3).count() != s.out_channels) {
        return Error{fmt::format("{} biases for {} channels", c.tensor(3).count(), s.out_channels)};
    }
    return s;
}

// Columns [channel * kernel + tap, window] of sample `n`, read at the displaced places.
template <typename T>
void fill_deformed(const KernelContext& c, const DeformShape& s, int64_t n,
                   std::vector<ProductSum<T>>& columns) {
    const WindowGeometry& g = s.windows;
    auto axes = static_cast<int64_t>(g.in.size());
    int64_t windows = g.out_count(), kernel = g.kernel_count(), plane = g.in_count();
    const T* image = c.tensor(0).elements<T>().data() + n * s.channels * plane;
    const T* offsets =
        c.tensor(2).elements<T>().data() + n * s.offset_groups * kernel * axes * windows;
    const T* mask = c.has_input(4)
                        ? c.tensor(4).elements<T>().data() + n * s.offset_groups * kernel * windows
                        : nullptr;
    int64_t per_group = s.channels / s.offset_groups;
    std::vector<PlaneTap> taps, longer;
    std::vector<double> point(axes);
    for (int64_t group = 0; group < s.offset_groups; ++group) {
        for (int64_t tap = 0; tap < kernel; ++tap) {
            for (int64_t window = 0; window < windows; ++window) {
                int64_t left_window = window, left_tap = tap;
                for (int64_t d = axes; d-- > 0;) {
                    int64_t at = left_window % g.out[d] * g.strides[d] - g.begin[d] +
                                 left_tap % g.kernel[d] * g.dilations[d];
                    left_window /= g.out[d];
                    left_tap /= g.kernel[d];
                    const T& shift =
                        offsets[((group * kernel + tap) * axes + d) * windows + window];
                    point[d] = static_cast<double>(at) +
                               static_cast<double>(static_cast<Compute<T>>(shift));
                }
                pixel_taps(point, g.in, taps, longer);
                double factor = mask == nullptr
                                    ? 1
                                    : static_cast<double>(static_cast<Compute<T>>(
                                          mask[(group * kernel + tap) * windows + window]));
                for (int64_t k = 0; k < per_group; ++k) {
                    int64_t channel = group * per_group + k;
                    double sum = 0;
                    for (const PlaneTap& one : taps) {
                        sum += one.weight * static_cast<double>(static_cast<Compute<T>>(
                                                image[channel * plane + one.offset]));
                    }
                    columns[(channel * kernel + tap) * windows + window] =
                        static_cast<ProductSum<T>>(sum * factor);
                }
            }
        }
    }
}

template <typename T>
void deform(const KernelContext& c, const DeformShape& s, Tensor* out) {
    using S = ProductSum<T>;
    int64_t windows = s.windows.out_count();
    int64_t height = s.channels / s.groups * s.windows.kernel_count();
    int64_t channels = s.out_channels / s.groups;
    ProductOperand<T> weights(c.tensor(1));
    std::vector<S> columns(s.channels * s.windows.kernel_count() * windows);
    std::vector<S> sums;
    T* result = out->mutable_elements<T>().data();
    for (int64_t n = 0; n < s.batch; ++n) {
        fill_deformed<T>(c, s, n, columns);
        for (int64_t group = 0; group < s.groups; ++group) {
            sums.assign(channels * windows, S(0));
            multiply_add(weights.data() + group * channels * height,
                         columns.data() + group * height * windows, sums.data(), channels, height,
                         windows);
            for (int64_t i = 0; i < channels * windows; ++i) {
                int64_t channel = group * channels + i / windows;
                S bias = c.has_input(3) ? static_cast<S>(static_cast<Compute<T>>(
                                              c.tensor(3).elements<T>()[channel]))
                                        : S(0);
                result[(n * s.out_channels + group * channels) * windows + i] =
                    static_cast<T>(sums[i] + bias);
            }
        }
    }
}

}  // namespace

Status deform_conv(KernelContext& c) {
    SDX_ASSIGN(DeformShape shape, deform_shape(c));
    Dims dims{shape.batch, shape.out_channels};
    dims.insert(dims.end(), shape.windows.out.begin(), shape.windows.out.end());
    SDX_ASSIGN(Tensor * out, c.output(0, c.type(0), dims));
    Dims columns{shape.channels, shape.windows.kernel_count(), shape.windows.out_count()};
    SDX_TRY(check_size(ElementType::kDouble, columns, c.options()));
    if (out->count() == 0) {
        return {};
    }
    return visit(Floats{}, c.type(0), [&]<typename T>() -> Status {
        deform<T>(c, shape, out);
        return {};
    });
}

}  // namespace sardonyx::eval::kernels
