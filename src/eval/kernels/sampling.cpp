// Reading images between their pixels: GridSample, AffineGrid, RoiAlign, DeformConv.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "eval/kernels/cast.h"
#include "eval/loops/clones.h"
#include "eval/loops/elementwise.h"
#include "eval/loops/matmul.h"
#include "eval/loops/scratch.h"
#include "eval/loops/strided.h"
#include "eval/loops/visit.h"
#include "eval/loops/window.h"
#include "eval/operators/kernel.h"

namespace sardonyx::eval::kernels {
namespace {

enum class Padding { kZeros, kBorder, kReflection };

// How GridSample reads.
struct GridOptions {
    bool align_corners = false;
    Padding padding = Padding::kZeros;
    int taps = 2;  // along an axis: 1 nearest, 2 linear, 4 cubic
};

Result<GridOptions> grid_options(const KernelContext& c) {
    GridOptions o;
    o.align_corners = c.int_attribute("align_corners") != 0;
    std::string_view mode = c.string_attribute("mode");
    std::string_view padding = c.string_attribute("padding_mode");
    o.taps = mode == "nearest" ? 1 : mode == "cubic" || mode == "bicubic" ? 4 : 2;
    if (o.taps == 2 && mode != "linear" && mode != "bilinear") {
        return Error{fmt::format("the mode `{}` is not known", mode)};
    }
    o.padding = padding == "border"       ? Padding::kBorder
                : padding == "reflection" ? Padding::kReflection
                                          : Padding::kZeros;
    if (o.padding == Padding::kZeros && padding != "zeros") {
        return Error{fmt::format("the padding mode `{}` is not known", padding)};
    }
    return o;
}

// x mirrored at the two borders until it lies between them.
double reflect(double x, double low, double high) {
    double range = high - low;
    if (range <= 0) {
        return low;
    }
    double past = std::fmod(std::abs(x - low), 2 * range);
    return low + (past <= range ? past : 2 * range - past);
}

struct AxisTap {
    int64_t place;  // -1: outside, where zero is read
    double weight;
};

// The taps of one axis of `size` places, at `x` in [-1, 1].
int axis_taps(const GridOptions& o, double x, int64_t size, std::array<AxisTap, 4>& taps) {
    double n = static_cast<double>(size);
    double at = o.align_corners ? (x + 1) / 2 * (n - 1) : ((x + 1) * n - 1) / 2;
    double low = o.align_corners ? 0 : -0.5;
    double high = o.align_corners ? n - 1 : n - 0.5;
    if (!std::isfinite(at)) {
        at = o.padding == Padding::kZeros ? -2 * n - 8 : 0;  // nothing, or the first pixel
    }
    auto padded = [&](double place) -> int64_t {
        if (place >= 0 && place <= n - 1) {
            return static_cast<int64_t>(place);
        }
        if (o.padding == Padding::kZeros) {
            return -1;
        }
        if (o.padding == Padding::kReflection) {
            place = reflect(place, low, high);
        }
        return static_cast<int64_t>(std::clamp(place, 0.0, n - 1));
    };
    if (o.taps == 1) {
        at = std::nearbyint(at);
        taps[0] = {padded(at), 1};
        return 1;
    }
    if (at < low || at > high) {
        at = o.padding == Padding::kBorder       ? std::clamp(at, 0.0, n - 1)
             : o.padding == Padding::kReflection ? reflect(at, low, high)
                                                 : at;
    }
    double first = std::floor(at);
    double r = at - first;
    if (o.taps == 2) {
        taps[0] = {padded(first), 1 - r};
        taps[1] = {padded(first + 1), r};
        return 2;
    }
    constexpr double kA = -0.75;
    auto near = [](double x) { return ((kA + 2) * x - (kA + 3)) * x * x + 1; };
    auto far = [](double x) { return ((kA * x - 5 * kA) * x + 8 * kA) * x - 4 * kA; };
    taps[0] = {padded(first - 1), far(r + 1)};
    taps[1] = {padded(first), near(r)};
    taps[2] = {padded(first + 1), near(1 - r)};
    taps[3] = {padded(first + 2), far(2 - r)};
    return 4;
}

// A place of an image plane and its weight.
struct PlaneTap {
    int64_t offset;
    double weight;
};

// The taps of a point: the products of those of its axes. `point` is in [-1, 1], last axis first.
template <typename T>
void point_taps(const GridOptions& o, const T* point, std::span<const int64_t> spatial,
                std::vector<PlaneTap>& taps, std::vector<PlaneTap>& longer) {
    taps.assign(1, {0, 1});
    std::array<AxisTap, 4> axis;
    for (size_t d = 0; d < spatial.size(); ++d) {
        double x = static_cast<double>(static_cast<Compute<T>>(point[spatial.size() - 1 - d]));
        int count = axis_taps(o, x, spatial[d], axis);
        longer.clear();
        for (const PlaneTap& tap : taps) {
            for (int k = 0; k < count; ++k) {
                if (axis[k].place >= 0 && axis[k].weight != 0) {
                    longer.push_back(
                        {tap.offset * spatial[d] + axis[k].place, tap.weight * axis[k].weight});
                }
            }
        }
        taps.swap(longer);
    }
}

// The weighted sum of the taps; `taps` may be empty. Strings have one tap at most, of weight 1.
template <typename T>
T sample(const T* plane, std::span<const PlaneTap> taps) {
    if constexpr (std::is_same_v<T, std::string>) {
        return taps.empty() ? T() : plane[taps[0].offset];
    } else if constexpr (kIsComplex<T>) {
        std::complex<double> sum = 0;
        for (const PlaneTap& tap : taps) {
            sum += tap.weight * std::complex<double>(plane[tap.offset]);
        }
        return static_cast<T>(sum);
    } else {
        double sum = 0;
        for (const PlaneTap& tap : taps) {
            sum += tap.weight * static_cast<double>(static_cast<Compute<T>>(plane[tap.offset]));
        }
        return saturate_sum<T>(sum);
    }
}

// The taps of many points of a plane, [taps, points]; those of weight 0 do not count.
template <typename Offset>
struct TapTable {
    explicit TapTable(int64_t tap_count, int64_t point_count)
        : taps(tap_count),
          points(point_count),
          offsets(tap_count * point_count),
          weights(tap_count * point_count) {}

    void set(int64_t point, std::span<const PlaneTap> list) {
        for (int64_t k = 0; k < taps; ++k) {
            bool is_there = k < static_cast<int64_t>(list.size());
            offsets[k * points + point] = static_cast<Offset>(is_there ? list[k].offset : 0);
            weights[k * points + point] = is_there ? list[k].weight : 0;
        }
    }

    int64_t taps;
    int64_t points;
    std::vector<Offset> offsets;
    std::vector<double> weights;
};

// results[p] += the weighted sum of the taps of point p, or, with is_max, becomes the greatest of
// itself and the weighted taps; for the first `count` points.
template <bool is_max, typename T, typename Offset>
[[gnu::always_inline]] inline void fold_all_taps(const T* plane, const TapTable<Offset>& table,
                                                 int64_t count, double* results) {
    const Offset* offsets = table.offsets.data();
    const double* weights = table.weights.data();
    const int64_t step = table.points;
    auto part = [&](int64_t at) {
        double x = weights[at] * as_double(plane[offsets[at]]);
        return weights[at] == 0 ? 0.0 : x;
    };
    auto join = [](double a, double b) { return !is_max ? a + b : b > a ? b : a; };
    int64_t k = 0;
    for (; k + 4 <= table.taps; k += 4, offsets += 4 * step, weights += 4 * step) {
        SDX_INDEPENDENT_LOOP
        for (int64_t p = 0; p < count; ++p) {
            double four =
                join(join(part(p), part(p + step)), join(part(p + 2 * step), part(p + 3 * step)));
            results[p] = join(results[p], four);
        }
    }
    for (; k < table.taps; ++k, offsets += step, weights += step) {
        SDX_INDEPENDENT_LOOP
        for (int64_t p = 0; p < count; ++p) {
            results[p] = join(results[p], part(p));
        }
    }
}

// Clones for pictures of floats alone, which nearly all are: others come rarely, and each
// type is compiled for each instruction set.
template <bool is_max, typename Offset>
SDX_CLONES void fold_taps(const float* plane, const TapTable<Offset>& table, int64_t count,
                          double* results) {
    fold_all_taps<is_max>(plane, table, count, results);
}
template <bool is_max, typename T, typename Offset>
void fold_taps(const T* plane, const TapTable<Offset>& table, int64_t count, double* results) {
    fold_all_taps<is_max>(plane, table, count, results);
}

// Taps of a group of points: the longer the group, the more of it reads a plane while it is in the
// cache, which must hold the group's taps too.
constexpr int64_t kGroupTaps = 1 << 14;

// The points of an output are read in groups, channel after channel.
template <typename T, typename G>
void sample_grid(const KernelContext& c, const GridOptions& o, Tensor* out) {
    const Dims& in = c.dims(0);
    std::span<const int64_t> spatial(in.begin() + 2, in.end());
    int64_t plane = product(spatial);
    int64_t points = product(std::span<const int64_t>(out->dims()).subspan(2));
    const T* image = c.tensor(0).elements<T>().data();
    const G* grid = c.tensor(1).elements<G>().data();
    T* result = out->mutable_elements<T>().data();
    auto axes = static_cast<int64_t>(spatial.size());
    int64_t most = 1;  // taps of a point
    for (int64_t d = 0; d < axes && most <= 64; ++d) {
        most *= o.taps;
    }
    int64_t group = std::max<int64_t>(1, std::min(points, kGroupTaps / most));
    auto sample_points = [&](int64_t begin, int64_t end) {
        std::vector<PlaneTap> taps, longer;
        for (int64_t p = begin; p < end; ++p) {
            point_taps(o, grid + p * axes, spatial, taps, longer);
            int64_t n = p / points;
            for (int64_t channel = 0; channel < in[1]; ++channel) {
                const T* from = image + (n * in[1] + channel) * plane;
                result[(n * in[1] + channel) * points + p - n * points] = sample(from, taps);
            }
        }
    };
    auto sample_groups = [&](int64_t begin, int64_t end) {
        if constexpr (kIsComplex<T> || std::is_same_v<T, std::string>) {
            sample_points(begin, end);
        } else if (most > 64 || plane > INT32_MAX) {
            sample_points(begin, end);  // of many axes most taps may lie outside
        } else {
            std::vector<PlaneTap> taps, longer;
            TapTable<int32_t> table(most, group);
            std::vector<double> sums(group);
            for (int64_t first = begin; first < end;) {
                int64_t n = first / points;
                int64_t count = std::min({group, end - first, (n + 1) * points - first});
                for (int64_t i = 0; i < count; ++i) {
                    point_taps(o, grid + (first + i) * axes, spatial, taps, longer);
                    table.set(i, taps);
                }
                for (int64_t channel = n * in[1]; channel < (n + 1) * in[1]; ++channel) {
                    std::fill_n(sums.begin(), count, 0.0);
                    fold_taps<false>(image + channel * plane, table, count, sums.data());
                    T* target = result + channel * points + first - n * points;
                    std::transform(sums.begin(), sums.begin() + count, target, saturate<T>);
                }
                first += count;
            }
        }
    };
    parallel_for(c.threads(), in[0] * points, group, sample_groups);
}

// --- RoiAlign ------------------------------------------------------------------------------------

// A place between four pixels: their offsets and weights; nothing further than a pixel outside.
int bilinear_taps(double y, double x, int64_t height, int64_t width,
                  std::array<PlaneTap, 4>& taps) {
    auto h = static_cast<double>(height), w = static_cast<double>(width);
    if (!(y >= -1 && y <= h && x >= -1 && x <= w)) {
        return 0;
    }
    auto split = [](double at, double size, int64_t& low, int64_t& high) {
        at = std::max(at, 0.0);
        low = static_cast<int64_t>(at);
        high = low + 1;
        if (static_cast<double>(low) >= size - 1) {
            low = high = static_cast<int64_t>(size) - 1;
            at = static_cast<double>(low);
        }
        return at - static_cast<double>(low);
    };
    int64_t y0, y1, x0, x1;
    double ry = split(y, h, y0, y1);
    double rx = split(x, w, x0, x1);
    taps = {PlaneTap{y0 * width + x0, (1 - ry) * (1 - rx)},
            {y0 * width + x1, (1 - ry) * rx},
            {y1 * width + x0, ry * (1 - rx)},
            {y1 * width + x1, ry * rx}};
    return 4;
}

struct RoiOptions {
    int64_t height = 1;
    int64_t width = 1;
    int64_t samples = 0;  // along each axis of a bin; 0: as many as it covers pixels
    double scale = 1;
    bool half_pixel = true;
    bool is_max = false;
};

// One axis of a region: where its bins begin, how wide they are, and how many samples each has.
struct AlignAxis {
    double begin;
    double bin;
    int64_t samples;

    double at(int64_t i, int64_t sample) const {
        return begin + static_cast<double>(i) * bin +
               (static_cast<double>(sample) + 0.5) * bin / static_cast<double>(samples);
    }
};

Result<AlignAxis> roi_axis(const RoiOptions& o, double low, double high, int64_t bins) {
    double offset = o.half_pixel ? 0.5 : 0.0;
    double begin = low * o.scale - offset;
    double size = high * o.scale - offset - begin;
    if (!o.half_pixel) {
        size = std::max(size, 1.0);
    }
    double bin = size / static_cast<double>(bins);
    double samples = o.samples > 0 ? static_cast<double>(o.samples) : std::ceil(bin);
    if (!std::isfinite(begin) || !(samples <= 4096)) {
        return Error{fmt::format("a region from {} to {} needs too many samples", low, high)};
    }
    return AlignAxis{begin, bin, static_cast<int64_t>(std::max(samples, 0.0))};
}

struct Region {
    int64_t image;
    AlignAxis y, x;
};

// The bins of a region, [channels, height * width]: sample after sample, the taps of all bins for
// all channels.
template <bool is_max, typename T>
void pool_region(const RoiOptions& o, const T* image, const Dims& dims, const Region& region,
                 T* out) {
    int64_t bins = o.height * o.width;
    int64_t samples = region.y.samples * region.x.samples;
    Scratch<double> folded(dims[1] * bins);
    double start = is_max && samples > 0 ? -INFINITY : 0;
    std::fill_n(folded.data(), dims[1] * bins, start);
    TapTable<int64_t> table(4, bins);
    std::array<PlaneTap, 4> taps;
    for (int64_t sample = 0; sample < samples; ++sample) {
        for (int64_t bin = 0; bin < bins; ++bin) {
            double y = region.y.at(bin / o.width, sample / region.x.samples);
            double x = region.x.at(bin % o.width, sample % region.x.samples);
            int count = bilinear_taps(y, x, dims[2], dims[3], taps);
            table.set(bin, std::span(taps).first(count));
        }
        for (int64_t channel = 0; channel < dims[1]; ++channel) {
            fold_taps<is_max>(image + channel * dims[2] * dims[3], table, bins,
                              folded.data() + channel * bins);
        }
    }
    auto divisor = static_cast<double>(is_max ? 1 : std::max<int64_t>(1, samples));
    for (int64_t i = 0; i < dims[1] * bins; ++i) {
        out[i] = static_cast<T>(folded.data()[i] / divisor);
    }
}

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

Status grid_sample(KernelContext& c) {
    SDX_ASSIGN(GridOptions options, grid_options(c));
    const Dims& in = c.dims(0);
    const Dims& grid = c.dims(1);
    auto axes = static_cast<int64_t>(in.size()) - 2;
    if (axes < 1 || grid.size() != in.size() || grid[0] != in[0] || grid.back() != axes) {
        return Error{
            fmt::format("the grid {} does not fit an input {}", to_string(grid), to_string(in))};
    }
    if (c.type(0) == ElementType::kString && options.taps > 1) {
        return Error{"strings have no numbers in between: `mode` must be `nearest`"};
    }
    Dims dims{in[0], in[1]};
    dims.insert(dims.end(), grid.begin() + 1, grid.end() - 1);
    SDX_ASSIGN(Tensor * out, c.output(0, c.type(0), dims));
    if (out->count() == 0) {
        return {};
    }
    if (c.tensor(0).count() == 0) {
        fill_zero(*out);
        return {};
    }
    using Types = Join<Join<NumbersAndBools, Strings>, Complexes>;
    return visit(Types{}, c.type(0), [&]<typename T>() -> Status {
        return visit(Floats{}, c.type(1), [&]<typename G>() -> Status {
            sample_grid<T, G>(c, options, out);
            return {};
        });
    });
}

Status affine_grid(KernelContext& c) {
    SDX_ASSIGN(std::vector<int64_t> size, c.ints(1));
    auto axes = static_cast<int64_t>(size.size()) - 2;
    const Dims& theta = c.dims(0);
    if (axes < 2 || axes > 3 || theta != Dims{size[0], axes, axes + 1}) {
        return Error{
            fmt::format("the matrices {} do not fit a size {}", to_string(theta), to_string(size))};
    }
    bool align = c.int_attribute("align_corners") != 0;
    Dims dims{size[0]};
    dims.insert(dims.end(), size.begin() + 2, size.end());
    dims.push_back(axes);
    SDX_ASSIGN(Tensor * out, c.output(0, c.type(0), dims));
    int64_t points = product(std::span<const int64_t>(dims).subspan(1, axes));
    return visit(Floats{}, c.type(0), [&]<typename T>() -> Status {
        const T* matrices = c.tensor(0).elements<T>().data();
        T* result = out->mutable_elements<T>().data();
        auto put = [&](int64_t i) {
            std::array<double, 3> place{};  // x first
            int64_t left = i % points;
            for (int64_t d = axes; d-- > 0;) {
                auto n = static_cast<double>(dims[d + 1]);
                auto at = static_cast<double>(left % dims[d + 1]);
                left /= dims[d + 1];
                place[axes - 1 - d] =
                    align ? (n > 1 ? 2 * at / (n - 1) - 1 : 0.0) : (2 * at + 1) / n - 1;
            }
            const T* matrix = matrices + i / points * axes * (axes + 1);
            for (int64_t row = 0; row < axes; ++row) {
                auto entry = [&](int64_t k) {
                    return static_cast<double>(
                        static_cast<Compute<T>>(matrix[row * (axes + 1) + k]));
                };
                double sum = entry(axes);
                for (int64_t k = 0; k < axes; ++k) {
                    sum += entry(k) * place[k];
                }
                result[i * axes + row] = static_cast<T>(sum);
            }
        };
        constexpr int64_t kOfOnePoint = 32;  // operations, about
        parallel_for(c.threads(), out->count() > 0 ? size[0] * points : 0,
                     items_per_task(kOfOnePoint), [&](int64_t begin, int64_t end) {
                         for (int64_t i = begin; i < end; ++i) {
                             put(i);
                         }
                     });
        return {};
    });
}

Status roi_align(KernelContext& c) {
    const Dims& dims = c.dims(0);
    if (dims.size() != 4 || c.rank(1) != 2 || c.dims(1)[1] != 4) {
        return Error{fmt::format("input {} and regions {} must be [N, C, H, W] and [count, 4]",
                                 to_string(dims), to_string(c.dims(1)))};
    }
    RoiOptions o;
    o.height = c.int_attribute("output_height");
    o.width = c.int_attribute("output_width");
    o.samples = c.int_attribute("sampling_ratio");
    o.scale = c.float_attribute("spatial_scale");
    o.is_max = c.string_attribute("mode") == "max";
    o.half_pixel = c.string_attribute("coordinate_transformation_mode") == "half_pixel";
    SDX_ASSIGN(std::vector<int64_t> images, c.ints(2));
    int64_t count = c.dims(1)[0];
    bool fits =
        static_cast<int64_t>(images.size()) == count && o.height > 0 && o.width > 0 &&
        o.samples >= 0 && o.samples <= 4096 &&
        std::all_of(images.begin(), images.end(), [&](int64_t i) { return i >= 0 && i < dims[0]; });
    if (!fits || (count > 0 && dims[2] * dims[3] == 0)) {
        return Error{fmt::format("batch indices {} or sizes do not fit {} regions of {}",
                                 to_string(images), count, to_string(dims))};
    }
    SDX_ASSIGN(Tensor * out, c.output(0, c.type(0), {count, dims[1], o.height, o.width}));
    SDX_ASSIGN(Tensor regions, cast_tensor(c, c.tensor(1), ElementType::kDouble));
    std::vector<Region> all;
    for (int64_t r = 0; r < count; ++r) {
        const double* region = regions.elements<double>().data() + r * 4;
        SDX_ASSIGN(AlignAxis x, roi_axis(o, region[0], region[2], o.width));
        SDX_ASSIGN(AlignAxis y, roi_axis(o, region[1], region[3], o.height));
        all.push_back({images[r], y, x});
    }
    if (out->count() == 0) {
        return {};
    }
    int64_t per_region = dims[1] * o.height * o.width;
    SDX_TRY(check_size(ElementType::kDouble, Dims{per_region}, c.options()));
    return visit(Floats{}, c.type(0), [&]<typename T>() -> Status {
        const T* pictures = c.tensor(0).elements<T>().data();
        T* result = out->mutable_elements<T>().data();
        auto pool = o.is_max ? &pool_region<true, T> : &pool_region<false, T>;
        parallel_for(c.threads(), count, items_per_task(16 * per_region),
                     [&](int64_t begin, int64_t end) {
                         for (int64_t r = begin; r < end; ++r) {
                             pool(o, pictures + all[r].image * dims[1] * dims[2] * dims[3], dims,
                                  all[r], result + r * per_region);
                         }
                     });
        return {};
    });
}

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
