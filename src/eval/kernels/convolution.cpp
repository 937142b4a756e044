// Conv, ConvInteger, QLinearConv, ConvTranspose, Col2Im: windows become columns of a matrix, and
// the convolution a matrix product; the transposed one is the product first and the columns added
// to their windows after. With constant weights there is a faster way (convolution.h).
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "eval/kernels/cast.h"
#include "eval/loops/channels_last.h"
#include "eval/loops/clones.h"
#include "eval/loops/convolution.h"
#include "eval/loops/matmul.h"
#include "eval/loops/scratch.h"
#include "eval/loops/strided.h"
#include "eval/loops/visit.h"
#include "eval/loops/window.h"
#include "eval/operators/kernel.h"

namespace sardonyx::eval::kernels {
namespace {

Status check_ranks(const Dims& x, const Dims& w) {
    if (x.size() < 2 || x.size() != w.size()) {
        return Error{fmt::format("input {} and weights {} must have the same rank, at least 2",
                                 to_string(x), to_string(w))};
    }
    return {};
}

Result<ConvShape> conv_shape(const KernelContext& c, const Dims& x, const Dims& w) {
    SDX_TRY(check_ranks(x, w));
    ConvShape shape;
    shape.batch = x[0];
    shape.groups = c.int_attribute("group");
    if (shape.groups < 1 || x[1] % shape.groups != 0 || w[0] % shape.groups != 0 ||
        w[1] != x[1] / shape.groups) {
        return Error{fmt::format("input {} and weights {} do not fit {} groups", to_string(x),
                                 to_string(w), shape.groups)};
    }
    shape.in_channels = w[1];
    shape.out_channels = w[0] / shape.groups;
    SDX_ASSIGN(Dims kernel, kernel_of_weights(c, w));
    SDX_ASSIGN(shape.windows, window_geometry(c, Dims(x.begin() + 2, x.end()), std::move(kernel)));
    shape.result = {x[0], w[0]};
    shape.result.insert(shape.result.end(), shape.windows.out.begin(), shape.windows.out.end());
    return shape;
}

// Columns [channel * kernel + tap, window] for the windows [first, first + count).
template <typename S>
void fill_columns(const S* planes, const WindowGeometry& g, int64_t channels, int64_t first,
                  int64_t count, S* columns) {
    int64_t kernel = g.kernel_count();
    int64_t plane = g.in_count();
    int64_t stride = inner_stride(g);
    if (channels * kernel == 0) {
        return;  // no rows
    }
    for_each_row_part(g, first, count, [&](int64_t row, int64_t begin, int64_t end) {
        for (int64_t tap = 0; tap < kernel; ++tap) {
            TapRow t = tap_row(g, row, tap);
            int64_t from = t.inside ? std::clamp(t.first, begin, end) : end;
            int64_t to = t.inside ? std::clamp(t.end, from, end) : end;
            for (int64_t channel = 0; channel < channels; ++channel) {
                S* out = columns + (channel * kernel + tap) * count - begin;
                const S* in = planes + channel * plane + t.offset;
                std::fill(out + begin, out + from, S(0));
                if (stride == 1) {
                    std::copy(in + from, in + to, out + from);
                } else {
                    for (int64_t i = from; i < to; ++i) {
                        out[i] = in[i * stride];
                    }
                }
                std::fill(out + to, out + end, S(0));
            }
        }
        columns += end - begin;
    });
}

// The columns transposed, [window, channel * kernel + tap], for few windows: their products are
// sums along rows then.
template <typename S>
void fill_rows(const S* planes, const WindowGeometry& g, int64_t channels, S* rows) {
    int64_t kernel = g.kernel_count();
    int64_t plane = g.in_count();
    int64_t stride = inner_stride(g);
    for_each_row_part(g, 0, g.out_count(), [&](int64_t row, int64_t, int64_t end) {
        for (int64_t tap = 0; tap < kernel; ++tap) {
            TapRow t = tap_row(g, row, tap);
            for (int64_t i = 0; i < end; ++i) {
                bool inside = t.inside && i >= t.first && i < t.end;
                S* out = rows + i * channels * kernel + tap;
                for (int64_t channel = 0; channel < channels; ++channel) {
                    out[channel * kernel] =
                        inside ? planes[channel * plane + t.offset + i * stride] : S(0);
                }
            }
        }
        rows += end * channels * kernel;
    });
}

// Whether the columns are the planes as they are.
bool is_pointwise(const WindowGeometry& g) {
    return g.kernel_count() == 1 && g.in == g.out &&
           std::all_of(g.begin.begin(), g.begin.end(), [](int64_t pad) { return pad == 0; }) &&
           std::all_of(g.strides.begin(), g.strides.end(), [](int64_t step) { return step == 1; });
}

constexpr int64_t kFewWindows = 8;

// sums[out channel, first + i] += the products of one group, for `count` windows from `first` on.
// Rows of `sums` are `step` apart.
template <typename S>
void convolve_group(const ConvShape& shape, const S* planes, const S* filter, int64_t first,
                    int64_t count, S* sums, int64_t step, const Workers& threads) {
    const WindowGeometry& g = shape.windows;
    int64_t height = shape.in_channels * g.kernel_count();
    if (height == 0) {
        return;  // nothing to add, and planes may be a null pointer
    }
    std::vector<S> columns;
    MatrixProduct<S> product{shape.out_channels, height, count, filter, height};
    if (is_pointwise(g)) {
        product.b = planes + first;
        product.step_b = g.in_count();
    } else if (count <= kFewWindows && count == g.out_count()) {
        columns.resize(height * count);
        fill_rows(planes, g, shape.in_channels, columns.data());
        product.b = columns.data();
        product.step_b = height;
        product.transpose_b = true;
    } else {
        columns.resize(height * count);
        fill_columns(planes, g, shape.in_channels, first, count, columns.data());
        product.b = columns.data();
        product.step_b = count;
    }
    product.c = sums;
    product.step_c = step;
    multiply_add(product, threads);
}

// So many windows at a time that their columns stay in the cache.
int64_t block_of(int64_t column_height) {
    constexpr int64_t kColumnElements = 1 << 18;
    constexpr int64_t kGrain = 48;  // columns that the product takes at a time
    return std::max(kColumnElements / std::max<int64_t>(1, column_height) / kGrain, int64_t{1}) *
           kGrain;
}

template <typename T>
void convolve(const ConvShape& shape, const Tensor& x, const Tensor& w, const Tensor* bias,
              const Workers& threads, Tensor* out) {
    using S = ProductSum<T>;
    if (out->count() == 0) {
        return;
    }
    int64_t channels = shape.out_channels;
    int64_t height = shape.in_channels * shape.windows.kernel_count();
    int64_t windows = shape.windows.out_count();
    ProductOperand<T> input(x);
    ProductOperand<T> weights(w);
    std::optional<ProductOperand<T>> biases;
    if (bias != nullptr) {
        biases.emplace(*bias);
    }
    const S* start = bias != nullptr ? biases->data() : nullptr;
    T* result = out->mutable_elements<T>().data();
    Scratch<S> wide(kSumsInPlace<T> ? 0 : out->count());
    S* flat = kSumsInPlace<T> ? reinterpret_cast<S*>(result) : wide.data();
    if (convolve_flat(shape, input.data(), weights.data(), start, threads, flat)) {
        if constexpr (!kSumsInPlace<T>) {
            std::transform(flat, flat + out->count(), result,
                           [](S sum) { return static_cast<T>(sum); });
        }
        return;
    }
    int64_t block = std::min(block_of(height), windows);
    int64_t blocks = (windows + block - 1) / block;
    int64_t groups = shape.batch * shape.groups;
    int64_t piece = items_per_task(channels * height * block);
    parallel_for(threads, groups * blocks, piece, [&](int64_t begin, int64_t end) {
        std::vector<S> buffer;
        for (int64_t i = begin; i < end; ++i) {
            int64_t ng = i / blocks;
            int64_t group = ng % shape.groups;
            int64_t first = i % blocks * block;
            int64_t count = std::min(block, windows - first);
            const S* planes = input.data() + ng * shape.in_channels * shape.windows.in_count();
            const S* filter = weights.data() + group * channels * height;
            T* target = result + ng * channels * windows + first;
            S* sums = reinterpret_cast<S*>(target);
            int64_t step = windows;
            if constexpr (!kSumsInPlace<T>) {
                buffer.resize(channels * count);
                sums = buffer.data();
                step = count;
            }
            for (int64_t m = 0; m < channels; ++m) {
                std::fill_n(sums + m * step, count,
                            start != nullptr ? start[group * channels + m] : S(0));
            }
            convolve_group(shape, planes, filter, first, count, sums, step, threads);
            if constexpr (!kSumsInPlace<T>) {
                for (int64_t m = 0; m < channels; ++m) {
                    std::transform(sums + m * step, sums + m * step + count, target + m * windows,
                                   [](S sum) { return static_cast<T>(sum); });
                }
            }
        }
    });
}

// The direct convolution with weights that are the same in every run; null: there is none. What a
// node keeps is of the shape that it saw last, so that its results are the same in every run.
std::shared_ptr<const DirectConvolution<float>> direct_convolution(const KernelContext& c,
                                                                   const ConvShape& shape) {
    // Planes that are columns as they are need no other order, unless they are small.
    constexpr int64_t kManyWindows = 1 << 10;
    constexpr int64_t kLittleWork = 1 << 20;
    int64_t windows = shape.windows.out_count();
    int64_t work = windows * c.tensor(1).count();
    bool has_planes = !c.is_channels_last(0) && !c.wants_channels_last();
    bool is_better = !has_planes || (work >= kLittleWork &&
                                     (!is_pointwise(shape.windows) || windows < kManyWindows));
    if (c.type(0) != ElementType::kFloat || !c.is_constant(1) || !is_better) {
        return nullptr;
    }
    auto direct = c.kept<DirectConvolution<float>>();
    if (direct == nullptr || direct->shape() != shape) {
        direct = std::make_shared<const DirectConvolution<float>>(
            shape, c.tensor(1).elements<float>().data(),
            direct_layout(shape, c.is_channels_last(0), c.wants_channels_last()));
        c.keep(direct);
    }
    return direct->is_usable() ? direct : nullptr;
}

// x, the input 0, with the weights of input `w`, both of codes less their zero points, which are
// the second inputs after them.
Status convolve_codes(KernelContext& c, const ConvShape& shape, size_t w, Tensor* out) {
    if (auto kept = kept_byte_convolution(c, shape, {0, 2}, {w, w + 2},
                                          direct_layout(shape, false, false))) {
        SDX_ASSIGN(int64_t zero, c.has_input(2) ? c.int_scalar(2) : Result<int64_t>(0));
        kept->run(c.tensor(0), zero, c.threads(), out->mutable_elements<int32_t>().data());
        return {};
    }
    SDX_ASSIGN(Tensor x, less_zero_points(c, 0, 2, 0));
    SDX_ASSIGN(Tensor weights, less_zero_points(c, w, w + 2, 0));
    convolve<int32_t>(shape, x, weights, nullptr, c.threads(), out);
    return {};
}

// out[i] = round((sums[i] + bias) * factor) + zero, saturated; NaN is the lowest code.
template <typename T>
SDX_CLONES void requantize(const int32_t* sums, int32_t bias, double factor, double zero, T* out,
                           int64_t n) {
    constexpr double kLow = std::numeric_limits<T>::min();
    constexpr double kHigh = std::numeric_limits<T>::max();
    for (int64_t i = 0; i < n; ++i) {
        double sum = static_cast<double>(sums[i]) + static_cast<double>(bias);
        double x = std::nearbyint(sum * factor) + zero;
        x = x > kLow ? x : kLow;
        x = x < kHigh ? x : kHigh;
        out[i] = static_cast<T>(static_cast<int32_t>(x));
    }
}

}  // namespace

// The geometry of ConvTranspose, with the roles exchanged: windows lie in its output, and there is
// one for each place of its input.
Result<ConvShape> transposed_shape(const KernelContext& c, const Dims& x, const Dims& w) {
    SDX_TRY(check_ranks(x, w));
    ConvShape shape;
    shape.batch = x[0];
    shape.groups = c.int_attribute("group");
    if (shape.groups < 1 || x[1] % shape.groups != 0 || w[0] != x[1]) {
        return Error{fmt::format("input {} and weights {} do not fit {} groups", to_string(x),
                                 to_string(w), shape.groups)};
    }
    shape.in_channels = x[1] / shape.groups;
    shape.out_channels = w[1];
    Dims spatial(x.begin() + 2, x.end());
    SDX_ASSIGN(Dims kernel, kernel_of_weights(c, w));
    SDX_ASSIGN(WindowGeometry g, window_attributes(c, spatial, std::move(kernel)));
    std::span<const int64_t> extra = c.ints_attribute("output_padding");
    std::span<const int64_t> wanted = c.ints_attribute("output_shape");
    std::string_view auto_pad = c.string_attribute("auto_pad");
    if (wanted.size() == spatial.size() + 2) {
        wanted = wanted.subspan(2);  // some writers give the batch and the channels too
    }
    if ((!extra.empty() && extra.size() != spatial.size()) ||
        (!wanted.empty() && wanted.size() != spatial.size())) {
        return Error{
            "`output_padding` and `output_shape` must have one item for each spatial axis"};
    }
    bool is_same = auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER";
    for (size_t d = 0; d < spatial.size(); ++d) {
        int64_t more = extra.empty() ? 0 : extra[d];
        if (more < 0 || more > (1 << 30)) {
            return Error{"`output_padding` is not valid"};
        }
        int64_t full = (spatial[d] - 1) * g.strides[d] + more + g.extent(d);
        if (!wanted.empty() || is_same) {
            // SAME padding cuts, and never adds: so do onnx's inference and ONNX Runtime.
            int64_t size = wanted.empty() ? std::clamp<int64_t>(full, 0, spatial[d] * g.strides[d])
                                          : wanted[d];
            int64_t total = std::max<int64_t>(0, full - size);
            g.begin[d] = auto_pad == "SAME_UPPER" ? total / 2 : total - total / 2;
            g.end[d] = total - g.begin[d];
            g.in[d] = size;
        } else {
            g.in[d] = full - g.begin[d] - g.end[d];
        }
        if (g.in[d] < 0) {
            return Error{"the padding is more than the output"};
        }
    }
    g.out = std::move(spatial);
    shape.result = {x[0], w[1] * shape.groups};
    shape.result.insert(shape.result.end(), g.in.begin(), g.in.end());
    shape.windows = std::move(g);
    return shape;
}

namespace {

// Windows of a row of the output of a convolution, and where one of their taps goes in a plane
// whose rows are split into their phases: places that are a stride apart stand beside each other.
struct TapRun {
    int64_t tap;
    int64_t first;   // window
    int64_t count;   // of windows
    int64_t target;  // of the first of them
};

// Rows of such a plane.
struct PhaseRows {
    explicit PhaseRows(const WindowGeometry& g)
        : columns(g.in.empty() ? 1 : g.in.back()),
          stride(inner_stride(g)),
          phases(std::min(stride, columns)),
          width(columns > 0 ? (columns - 1) / stride + 1 : 0) {}

    // Of the places of a plane.
    int64_t size(int64_t plane) const { return plane / columns * phases * width; }

    int64_t columns;
    int64_t stride;
    int64_t phases;
    int64_t width;  // of one phase
};

std::vector<TapRun> tap_runs(const WindowGeometry& g, const PhaseRows& rows) {
    if (g.in.empty()) {
        return {{0, 0, 1, 0}};  // one window, one tap
    }
    std::vector<TapRun> runs;
    for_each_row_part(g, 0, g.out_count(), [&](int64_t row, int64_t, int64_t n) {
        for (int64_t tap = 0; tap < g.kernel_count(); ++tap) {
            TapRow t = tap_row(g, row, tap);
            if (t.inside) {
                int64_t at = t.offset + t.first * rows.stride;
                int64_t column = at % rows.columns;
                int64_t phase = at / rows.columns * rows.phases + column % rows.stride;
                runs.push_back({tap, row * n + t.first, t.end - t.first,
                                phase * rows.width + column / rows.stride});
            }
        }
    });
    return runs;
}

// A plane of the output out of its columns [tap, window], and a bias for all of it.
template <typename In, typename S, typename T>
SDX_CLONES void add_taps(const std::vector<TapRun>& runs, const PhaseRows& rows, int64_t windows,
                         const In* columns, S bias, std::vector<S>& sums, T* plane) {
    std::fill(sums.begin(), sums.end(), S(0));
    for (const TapRun& run : runs) {
        const In* in = columns + run.tap * windows + run.first;
        S* __restrict to = sums.data() + run.target;
        for (int64_t i = 0; i < run.count; ++i) {
            to[i] += static_cast<S>(static_cast<Compute<In>>(in[i]));
        }
    }
    const S* from = sums.data();
    auto size = static_cast<int64_t>(sums.size());
    for (int64_t at = 0; at < size; at += rows.phases * rows.width, plane += rows.columns) {
        for (int64_t phase = 0; phase < rows.phases; ++phase, from += rows.width) {
            int64_t count = (rows.columns - phase - 1) / rows.stride + 1;
            for (int64_t i = 0; i < count; ++i) {
                plane[phase + i * rows.stride] = static_cast<T>(from[i] + bias);
            }
        }
    }
}

template <typename T>
void convolve_transposed(const ConvShape& shape, const Tensor& x, const Tensor& w,
                         const Tensor* bias, const Workers& threads, Tensor* out) {
    using S = ProductSum<T>;
    const WindowGeometry& g = shape.windows;
    ProductOperand<T> input(x);
    ProductOperand<T> weights(w);
    if (out->count() == 0) {
        return;
    }
    T* result = out->mutable_elements<T>().data();
    int64_t kernel = g.kernel_count();
    int64_t plane = g.in_count();
    int64_t windows = g.out_count();
    int64_t height = shape.out_channels * kernel;
    PhaseRows rows(g);
    std::vector<TapRun> runs = tap_runs(g, rows);
    auto convolve_group = [&](int64_t ng) {
        const S* weight = weights.data() + ng % shape.groups * shape.in_channels * height;
        Scratch<S> columns(height * windows);
        parallel_for(threads, height, items_per_task(windows), [&](int64_t begin, int64_t end) {
            std::fill(columns.data() + begin * windows, columns.data() + end * windows, S(0));
        });
        multiply_add(MatrixProduct<S>{height, shape.in_channels, windows, weight, height, true,
                                      input.data() + ng * shape.in_channels * windows, windows,
                                      false, columns.data(), windows},
                     threads);
        T* planes = result + ng * shape.out_channels * plane;
        const T* biases = bias == nullptr
                              ? nullptr
                              : bias->elements<T>().data() + ng % shape.groups * shape.out_channels;
        parallel_for(threads, shape.out_channels, items_per_task(kernel * windows + plane),
                     [&](int64_t begin, int64_t end) {
                         std::vector<S> sums(rows.size(plane));
                         for (int64_t m = begin; m < end; ++m) {
                             S start = biases == nullptr
                                           ? S(0)
                                           : static_cast<S>(static_cast<Compute<T>>(biases[m]));
                             add_taps(runs, rows, windows, columns.data() + m * kernel * windows,
                                      start, sums, planes + m * plane);
                         }
                     });
    };
    parallel_for(threads, shape.batch * shape.groups,
                 items_per_task(height * windows * (shape.in_channels + 1)),
                 [&](int64_t begin, int64_t end) {
                     for (int64_t ng = begin; ng < end; ++ng) {
                         convolve_group(ng);
                     }
                 });
}

}  // namespace

Status conv(KernelContext& c) {
    SDX_ASSIGN(ConvShape shape, conv_shape(c, onnx_dims(c, 0), c.dims(1)));
    const Tensor* bias = c.has_input(2) ? &c.tensor(2) : nullptr;
    if (bias != nullptr && bias->count() != shape.out_channels * shape.groups) {
        return Error{fmt::format("{} biases for {} channels", bias->count(),
                                 shape.out_channels * shape.groups)};
    }
    auto direct = direct_convolution(c, shape);
    if (direct == nullptr && (c.is_channels_last(0) || c.wants_channels_last())) {
        return Error{"channels must not be innermost"};
    }
    bool is_last = c.wants_channels_last();
    SDX_ASSIGN(Tensor * out,
               c.output(0, c.type(0), is_last ? channels_last_dims(shape.result) : shape.result));
    if (direct != nullptr) {
        const float* start = bias != nullptr ? bias->elements<float>().data() : nullptr;
        direct->run(c.tensor(0).elements<float>().data(), 0, start, c.threads(),
                    out->mutable_elements<float>().data());
        return {};
    }
    return visit(Floats{}, c.type(0), [&]<typename T>() -> Status {
        convolve<T>(shape, c.tensor(0), c.tensor(1), bias, c.threads(), out);
        return {};
    });
}

Status conv_integer(KernelContext& c) {
    SDX_ASSIGN(ConvShape shape, conv_shape(c, c.dims(0), c.dims(1)));
    SDX_ASSIGN(Tensor * out, c.output(0, ElementType::kInt32, shape.result));
    return convolve_codes(c, shape, 1, out);
}

Status conv_transpose(KernelContext& c) {
    SDX_ASSIGN(ConvShape shape, transposed_shape(c, c.dims(0), c.dims(1)));
    SDX_ASSIGN(Tensor * out, c.output(0, c.type(0), shape.result));
    int64_t columns = 0;
    int64_t height = shape.out_channels * shape.windows.kernel_count();
    if (__builtin_mul_overflow(height, shape.windows.out_count(), &columns) ||
        columns > c.options().max_bytes / 8) {
        return Error{"the columns of the product are too large"};
    }
    const Tensor* bias = c.has_input(2) ? &c.tensor(2) : nullptr;
    if (bias != nullptr && bias->count() != shape.result[1]) {
        return Error{fmt::format("{} biases for {} channels", bias->count(), shape.result[1])};
    }
    return visit(Floats{}, c.type(0), [&]<typename T>() -> Status {
        convolve_transposed<T>(shape, c.tensor(0), c.tensor(1), bias, c.threads(), out);
        return {};
    });
}

// Inputs: x, scale, zero point, w, scale, zero point, the result's scale and zero point, bias.
Status qlinear_conv(KernelContext& c) {
    SDX_ASSIGN(ConvShape shape, conv_shape(c, c.dims(0), c.dims(3)));
    SDX_ASSIGN(Tensor sums, c.scratch(ElementType::kInt32, shape.result));
    SDX_TRY(convolve_codes(c, shape, 3, &sums));
    SDX_ASSIGN(double x_scale, c.real_scalar(1));
    SDX_ASSIGN(double y_scale, c.real_scalar(6));
    SDX_ASSIGN(double y_zero, c.real_scalar(7));
    SDX_ASSIGN(Tensor w_scale, cast_tensor(c, c.tensor(4), ElementType::kDouble));
    AxisView view = axis_view(shape.result, 1);
    bool fits = (w_scale.count() == 1 || w_scale.count() == view.n) &&
                (!c.has_input(8) || c.tensor(8).count() == view.n);
    if (!fits) {
        return Error{fmt::format("{} scales of the weights and the bias do not fit {} channels",
                                 w_scale.count(), view.n)};
    }
    SDX_ASSIGN(Tensor * out, c.output(0, c.type(7), shape.result));
    using Bytes = TypeList<Typed<ElementType::kInt8, int8_t>, Typed<ElementType::kUint8, uint8_t>>;
    return visit(Bytes{}, c.type(7), [&]<typename T>() -> Status {
        const int32_t* from = sums.elements<int32_t>().data();
        T* to = out->mutable_elements<T>().data();
        parallel_for(
            c.threads(), view.outer * view.n, items_per_task(4 * view.inner),
            [&](int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; ++i) {
                    int64_t channel = i % view.n;
                    int32_t bias = c.has_input(8) ? c.tensor(8).elements<int32_t>()[channel] : 0;
                    double scale = w_scale.elements<double>()[w_scale.count() == 1 ? 0 : channel];
                    requantize(from + i * view.inner, bias, x_scale * scale / y_scale, y_zero,
                               to + i * view.inner, view.inner);
                }
            });
        return {};
    });
}

// Each block of the input is added to the window of the image that it came from.
Status col2im(KernelContext& c) {
    SDX_ASSIGN(std::vector<int64_t> image, c.ints(1));
    SDX_ASSIGN(std::vector<int64_t> block, c.ints(2));
    const Dims& dims = c.dims(0);
    SDX_ASSIGN(WindowGeometry g, window_geometry(c, Dims(image.begin(), image.end()),
                                                 Dims(block.begin(), block.end())));
    SDX_TRY(check_size(ElementType::kDouble, image, c.options()));
    SDX_TRY(check_size(ElementType::kDouble, block, c.options()));
    int64_t kernel = g.kernel_count();
    int64_t windows = g.out_count();
    if (dims.size() != 3 || dims[1] % kernel != 0 || dims[2] != windows) {
        return Error{fmt::format("{} does not hold blocks of {} for {} places", to_string(dims),
                                 to_string(block), windows)};
    }
    Dims result{dims[0], dims[1] / kernel};
    result.insert(result.end(), image.begin(), image.end());
    SDX_ASSIGN(Tensor * out, c.output(0, c.type(0), result));
    if (out->count() == 0) {
        return {};
    }
    PhaseRows rows(g);
    std::vector<TapRun> runs = tap_runs(g, rows);
    int64_t size = g.in_count();
    return visit(Join<NumbersAndBools, Complexes>{}, c.type(0), [&]<typename T>() -> Status {
        // Integers wrap; where bools overlap, one is enough.
        using Sum = std::conditional_t<std::is_same_v<T, bool>, uint32_t,
                                       typename WrappingType<Accumulator<T>>::Type>;
        const T* columns = c.tensor(0).elements<T>().data();
        T* target = out->mutable_elements<T>().data();
        parallel_for(c.threads(), result[0] * result[1], items_per_task(kernel * windows + size),
                     [&](int64_t begin, int64_t end) {
                         std::vector<Sum> sums(rows.size(size));
                         for (int64_t i = begin; i < end; ++i) {
                             add_taps(runs, rows, windows, columns + i * kernel * windows, Sum(0),
                                      sums, target + i * size);
                         }
                     });
        return {};
    });
}

}  // namespace sardonyx::eval::kernels
