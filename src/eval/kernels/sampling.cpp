// Reading images between their pixels: GridSample, AffineGrid.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "eval/kernels/cast.h"
#include "eval/kernels/taps.h"
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

}  // namespace sardonyx::eval::kernels
