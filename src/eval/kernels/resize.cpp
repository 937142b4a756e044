// Resize and Upsample: every axis by itself. For each place of the result along an axis there is a
// short list of places of the input and their weights; the axes are applied one after the other.

#include "eval/kernels/resize.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <type_traits>
#include <utility>

#include "eval/kernels/cast.h"
#include "eval/kernels/resize_call.h"
#include "eval/loops/clones.h"
#include "eval/loops/scratch.h"
#include "eval/loops/strided.h"
#include "eval/loops/visit.h"
#include "eval/operators/kernel.h"

namespace sardonyx::eval::kernels {

namespace {

// The place in the input that a place of the result comes from.
double source_place(const ResizeOptions& o, const ResizeAxis& axis, double x) {
    double in = static_cast<double>(axis.in);
    double out = static_cast<double>(axis.out);
    double unrounded = axis.scale * in;
    if (o.transformation == "asymmetric") {
        // In float, as runtimes have it: 3 / 0.6f is 5 there, and a little less in double.
        return static_cast<float>(x / axis.scale);
    }
    if (o.transformation == "align_corners") {
        // The text has the size; the node cases of the onnx package have what a scale gives.
        return unrounded == 1 ? 0 : x * (in - 1) / (unrounded - 1);
    }
    if (o.transformation == "pytorch_half_pixel" && out <= 1) {
        return 0;
    }
    if (o.transformation == "tf_half_pixel_for_nn") {
        return (x + 0.5) / axis.scale;
    }
    if (o.transformation == "tf_crop_and_resize") {
        return out > 1 ? axis.roi_begin * (in - 1) +
                             x * (axis.roi_end - axis.roi_begin) * (in - 1) / (out - 1)
                       : 0.5 * (axis.roi_begin + axis.roi_end) * (in - 1);
    }
    if (o.transformation == "half_pixel_symmetric") {
        double adjustment = out / unrounded;
        return in / 2 * (1 - adjustment) + (x + 0.5) / axis.scale - 0.5;
    }
    double place = (x + 0.5) / axis.scale;
    // In float, as above: one of two elements is the nearest, and places often lie between them.
    return (o.mode == "nearest" ? static_cast<float>(place) : place) - 0.5;  // half_pixel
}

double nearest(const ResizeOptions& o, double x) {
    return o.rounding == "round_prefer_floor"  ? std::ceil(x - 0.5)
           : o.rounding == "round_prefer_ceil" ? std::floor(x + 0.5)
           : o.rounding == "ceil"              ? std::ceil(x)
                                               : std::floor(x);
}

// The weight of an element at distance `x` from the place.
double filter(const ResizeOptions& o, double x) {
    x = std::abs(x);
    if (o.mode == "linear") {
        return std::max(0.0, 1 - x);
    }
    double a = o.cubic_a;
    if (x < 1) {
        return ((a + 2) * x - (a + 3)) * x * x + 1;
    }
    return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

std::vector<WeightedPlace> taps_at(const ResizeOptions& o, const ResizeAxis& axis, double x) {
    auto clamped = [&axis](double place) {
        return static_cast<int64_t>(std::clamp(place, 0.0, static_cast<double>(axis.in - 1)));
    };
    if (o.mode == "nearest") {
        return {{clamped(nearest(o, x)), 1}};
    }
    // Shrinking with antialias widens the filter to what one place of the result covers.
    double stretch = o.antialias ? std::min(axis.scale, 1.0) : 1.0;
    double support = (o.mode == "linear" ? 1 : 2) / stretch;
    std::vector<WeightedPlace> taps;
    double total = 0;
    for (double at = std::floor(x - support) + 1; at < x + support; ++at) {
        bool outside = at < 0 || at > static_cast<double>(axis.in - 1);
        double weight = filter(o, (at - x) * stretch);
        if (weight != 0 && !(outside && o.exclude_outside)) {
            taps.push_back({clamped(at), weight});
            total += weight;
        }
    }
    if (o.antialias || o.exclude_outside) {
        for (WeightedPlace& tap : taps) {
            tap.weight /= total;
        }
    }
    return taps;
}

void find_taps(const ResizeOptions& o, ResizeAxis& axis) {
    for (int64_t i = 0; i < axis.out; ++i) {
        double x = source_place(o, axis, static_cast<double>(i));
        bool extrapolates = o.transformation == "tf_crop_and_resize" &&
                            (x < 0 || x > static_cast<double>(axis.in - 1));
        axis.taps.push_back(extrapolates ? std::vector<WeightedPlace>() : taps_at(o, axis, x));
    }
}

bool is_identity(const ResizeAxis& axis) {
    for (int64_t i = 0; i < axis.out; ++i) {
        if (axis.taps[i].size() != 1 || axis.taps[i][0].place != i || axis.taps[i][0].weight != 1) {
            return false;
        }
    }
    return axis.in == axis.out;
}

// The taps of an axis for the loops: tap t of place i is number t * out + i, and all places have
// as many. Places take half the room, and are gathered faster, where 32 bits hold them.
template <typename S>
struct AxisTaps {
    int64_t in = 0;
    int64_t out = 0;
    int count = 1;
    bool is_long = false;
    std::vector<int32_t> places;
    std::vector<int64_t> long_places;  // instead, if is_long
    std::vector<S> weights;

    // Of an axis whose elements are runs of `run` that are seen as elements of their own.
    AxisTaps(const ResizeAxis& axis, int64_t run)
        : in(axis.in * run),
          out(axis.out * run),
          is_long(in > std::numeric_limits<int32_t>::max()) {
        for (const std::vector<WeightedPlace>& taps : axis.taps) {
            count = std::max(count, static_cast<int>(taps.size()));
        }
        places.resize(is_long ? 0 : count * out);
        long_places.resize(is_long ? count * out : 0);
        weights.resize(count * out);
        std::vector<WeightedPlace> all;
        for (int64_t i = 0; i < axis.out; ++i) {
            all = axis.taps[i];
            if (all.empty()) {
                all.push_back({0, 1});  // overwritten by the extrapolation value
            }
            // A weight of 0 would make NaN of an infinity, but the halves of a tap are the tap.
            while (static_cast<int>(all.size()) < count) {
                all.back().weight /= 2;
                all.push_back(all.back());
            }
            for (int t = 0; t < count; ++t) {
                for (int64_t k = 0; k < run; ++k) {
                    int64_t at = t * out + i * run + k;
                    int64_t place = all[t].place * run + k;
                    if (is_long) {
                        long_places[at] = place;
                    } else {
                        places[at] = static_cast<int32_t>(place);
                    }
                    weights[at] = static_cast<S>(all[t].weight);
                }
            }
        }
    }
};

// out[i] = the sum over the taps t of weights[t * step + i] * in[places[t * step + i]].
template <typename S, typename P>
SDX_CLONES void sum_places(const S* __restrict in, const P* __restrict places,
                           const S* __restrict weights, int taps, int64_t step, S* __restrict out,
                           int64_t n) {
    if (taps == 2) {
        for (int64_t i = 0; i < n; ++i) {
            out[i] = weights[i] * in[places[i]] + weights[step + i] * in[places[step + i]];
        }
        return;
    }
    for (int64_t i = 0; i < n; ++i) {
        out[i] = weights[i] * in[places[i]];
    }
    for (int t = 1; t < taps; ++t) {
        const S* weight = weights + t * step;
        const P* place = places + t * step;
        for (int64_t i = 0; i < n; ++i) {
            out[i] += weight[i] * in[place[i]];
        }
    }
}

// out[i] = the sum over the taps t of weights[t * step] * in[places[t * step] * n + i].
template <typename S, typename P>
SDX_CLONES void sum_rows(const S* __restrict in, const P* __restrict places,
                         const S* __restrict weights, int taps, int64_t step, S* __restrict out,
                         int64_t n) {
    const S* first = in + places[0] * n;
    const S own = weights[0];
    if (taps == 1) {
        for (int64_t i = 0; i < n; ++i) {
            out[i] = own * first[i];
        }
        return;
    }
    const S* second = in + places[step] * n;
    const S other = weights[step];
    for (int64_t i = 0; i < n; ++i) {
        out[i] = own * first[i] + other * second[i];
    }
    for (int t = 2; t < taps; ++t) {
        const S* row = in + places[t * step] * n;
        const S weight = weights[t * step];
        for (int64_t i = 0; i < n; ++i) {
            out[i] += weight * row[i];
        }
    }
}

// One axis of a plane [outer, taps.in, inner].
template <typename S, typename P>
void resample(const Workers& threads, const AxisTaps<S>& taps, const std::vector<P>& places,
              int64_t outer, int64_t inner, const S* in, S* out) {
    if (inner == 1) {
        parallel_for(threads, outer, items_per_task(taps.out * taps.count),
                     [&](int64_t begin, int64_t end) {
                         for (int64_t o = begin; o < end; ++o) {
                             sum_places(in + o * taps.in, places.data(), taps.weights.data(),
                                        taps.count, taps.out, out + o * taps.out, taps.out);
                         }
                     });
        return;
    }
    parallel_for(threads, outer * taps.out, items_per_task(inner * taps.count),
                 [&](int64_t begin, int64_t end) {
                     for (int64_t row = begin; row < end; ++row) {
                         int64_t i = row % taps.out;
                         sum_rows(in + row / taps.out * taps.in * inner, places.data() + i,
                                  taps.weights.data() + i, taps.count, taps.out, out + row * inner,
                                  inner);
                     }
                 });
}

// One axis after the other, within each plane of the axes from the first that changes on.
template <typename S>
struct Resampling {
    struct Pass {
        AxisTaps<S> taps;
        int64_t outer, inner;
    };
    int64_t planes = 1;
    int64_t in_plane = 1, out_plane = 1, largest = 1;  // elements
    std::vector<Pass> passes;

    Resampling(const Dims& in, const std::vector<ResizeAxis>& axes) {
        // Shorter rows are not worth a loop of their own.
        constexpr int64_t kShortRow = 16;
        size_t first = 0;
        while (first < axes.size() && is_identity(axes[first])) {
            planes *= in[first++];
        }
        Dims dims(in.begin() + first, in.end());
        in_plane = largest = product(dims);
        for (size_t d = first; d < axes.size(); ++d) {
            if (is_identity(axes[d])) {
                continue;
            }
            AxisView view = axis_view(dims, static_cast<int>(d - first));
            int64_t run = view.inner < kShortRow ? view.inner : 1;
            passes.push_back({AxisTaps<S>(axes[d], run), view.outer, view.inner / run});
            dims[d - first] = axes[d].out;
            largest = std::max(largest, product(dims));
        }
        out_plane = product(dims);
    }
};

template <typename S, typename T>
void interpolate_plane(const Workers& threads, const Resampling<S>& r, const T* in, T* out) {
    constexpr bool kIsOwn = std::is_same_v<S, T>;
    Scratch<S> one(r.largest), other(r.largest);
    const S* from;
    S* to = one.data();
    if constexpr (kIsOwn) {
        from = in;
    } else {
        for (int64_t i = 0; i < r.in_plane; ++i) {
            to[i] = static_cast<S>(static_cast<Compute<T>>(in[i]));
        }
        from = to;
        to = other.data();
    }
    for (const auto& pass : r.passes) {
        if constexpr (kIsOwn) {
            to = &pass == &r.passes.back() ? out : to;
        }
        if (pass.taps.is_long) {
            resample(threads, pass.taps, pass.taps.long_places, pass.outer, pass.inner, from, to);
        } else {
            resample(threads, pass.taps, pass.taps.places, pass.outer, pass.inner, from, to);
        }
        from = to;
        to = to == one.data() ? other.data() : one.data();
    }
    if constexpr (!kIsOwn) {
        for (int64_t i = 0; i < r.out_plane; ++i) {
            out[i] = saturate_sum<T>(static_cast<double>(from[i]));
        }
    }
}

// Places outside on any axis have the extrapolation value.
template <typename T>
void extrapolate(const std::vector<ResizeAxis>& axes, T value, Tensor* out) {
    T* result = out->mutable_elements<T>().data();
    for (size_t d = 0; d < axes.size(); ++d) {
        AxisView view = axis_view(out->dims(), static_cast<int>(d));
        for (int64_t i = 0; i < view.n; ++i) {
            for (int64_t o = 0; axes[d].taps[i].empty() && o < view.outer; ++o) {
                std::fill_n(result + (o * view.n + i) * view.inner, view.inner, value);
            }
        }
    }
}

// Interpolation of numbers: of floats of up to 32 bits in float, of others in double.
template <typename T>
Status interpolate(const KernelContext& c, const Dims& dims, const std::vector<ResizeAxis>& axes,
                   const T* in, T* result) {
    using S = std::conditional_t<std::is_same_v<Compute<T>, float>, float, double>;
    Resampling<S> resampling(dims, axes);
    if (resampling.passes.empty()) {
        std::copy_n(in, product(dims), result);
        return {};
    }
    Dims scratch{resampling.largest};
    SDX_TRY(check_size(ElementType::kDouble, scratch, c.options()));
    parallel_for(c.threads(), resampling.planes, items_per_task(2 * resampling.largest),
                 [&](int64_t begin, int64_t end) {
                     for (int64_t i = begin; i < end; ++i) {
                         interpolate_plane(c.threads(), resampling, in + i * resampling.in_plane,
                                           result + i * resampling.out_plane);
                     }
                 });
    return {};
}

// Complex numbers are pairs of real ones: an axis more, which stays.
template <typename T>
Status interpolate_complex(const KernelContext& c, std::vector<ResizeAxis> axes, Tensor* out) {
    using Number = std::complex<T>;
    Dims dims = c.dims(0);
    dims.push_back(2);
    axes.push_back({.in = 2, .out = 2, .taps = {{{0, 1}}, {{1, 1}}}});
    const auto* in = reinterpret_cast<const T*>(c.tensor(0).elements<Number>().data());
    return interpolate<T>(c, dims, axes, in,
                          reinterpret_cast<T*>(out->mutable_elements<Number>().data()));
}

// Nearest elements of any type.
Status pick_nearest(KernelContext& c, const std::vector<ResizeAxis>& axes, double extrapolation,
                    Tensor* out) {
    const Tensor& x = c.tensor(0);
    Dims in_strides = row_major_strides(x.dims());
    Tensor filler = Tensor::scalar(extrapolation);
    if (is_floating(x.element_type()) || is_integer(x.element_type())) {
        SDX_ASSIGN(filler, cast_tensor(c, filler, x.element_type()));
    } else {
        SDX_ASSIGN(filler, c.scratch(x.element_type(), {}));
        fill_zero(filler);
    }
    if (axes.empty()) {
        copy_elements(x, 0, *out, 0, 1);
        return {};
    }
    // Where each element of a row comes from along the last axis; -1: from outside.
    std::vector<int64_t> columns;
    for (const std::vector<WeightedPlace>& taps : axes.back().taps) {
        columns.push_back(taps.empty() ? -1 : taps[0].place);
    }
    bool is_inside = std::count(columns.begin(), columns.end(), -1) == 0;
    auto width = static_cast<int64_t>(columns.size());
    int64_t rows = width == 0 ? 0 : out->count() / width;
    // Where row `r` of the result starts in the input; -1: it is from outside.
    auto source_of = [&axes, &in_strides](int64_t r) {
        int64_t offset = 0;
        for (size_t d = axes.size() - 1; d-- > 0; r /= axes[d].out) {
            const std::vector<WeightedPlace>& taps = axes[d].taps[r % axes[d].out];
            if (taps.empty()) {
                return int64_t{-1};
            }
            offset += taps[0].place * in_strides[d];
        }
        return offset;
    };
    return visit_width(x.element_type(), [&]<typename T>() -> Status {
        const T* in = x.elements<T>().data();
        const T other = filler.elements<T>()[0];
        T* all = out->mutable_elements<T>().data();
        parallel_for(c.threads(), rows, items_per_task(width), [&](int64_t begin, int64_t end) {
            int64_t before = -1;
            for (int64_t r = begin; r < end; ++r) {
                T* row = all + r * width;
                int64_t source = source_of(r);
                if (source < 0) {
                    std::fill_n(row, width, other);
                } else if (source == before) {
                    std::copy_n(row - width, width, row);  // an image that grows repeats rows
                } else if (is_inside) {
                    for (int64_t i = 0; i < width; ++i) {
                        row[i] = in[source + columns[i]];
                    }
                } else {
                    for (int64_t i = 0; i < width; ++i) {
                        row[i] = columns[i] < 0 ? other : in[source + columns[i]];
                    }
                }
                before = source;
            }
        });
        return {};
    });
}

// Whether the axis stays as it is.
bool is_unchanged(const ResizeAxis& axis) {
    return axis.in == axis.out && axis.scale == 1 && axis.roi_begin == 0 && axis.roi_end == 1;
}

Status run_resize(KernelContext& c, ResizeCall call) {
    Dims dims;
    for (const ResizeAxis& axis : call.axes) {
        dims.push_back(axis.out);
    }
    SDX_ASSIGN(Tensor * out, c.output(0, c.type(0), dims));
    if (out->count() == 0) {
        return {};
    }
    if (c.tensor(0).count() == 0) {
        return Error{
            fmt::format("{} has no elements to make {} of", to_string(c.dims(0)), to_string(dims))};
    }
    for (ResizeAxis& axis : call.axes) {
        if (is_unchanged(axis)) {
            for (int64_t i = 0; i < axis.out; ++i) {
                axis.taps.push_back({{i, 1}});
            }
        } else {
            find_taps(call.options, axis);
        }
    }
    if (call.options.mode == "nearest") {
        return pick_nearest(c, call.axes, call.options.extrapolation, out);
    }
    if (c.type(0) == ElementType::kString) {
        return Error{"strings have no numbers in between: `mode` must be `nearest`"};
    }
    return visit(Join<NumbersAndBools, Complexes>{}, c.type(0), [&]<typename T>() -> Status {
        if constexpr (kIsComplex<T>) {
            SDX_TRY(interpolate_complex<typename T::value_type>(c, call.axes, out));
            extrapolate<T>(call.axes,
                           T(saturate<typename T::value_type>(call.options.extrapolation)), out);
        } else {
            SDX_TRY(interpolate<T>(c, c.dims(0), call.axes, c.tensor(0).elements<T>().data(),
                                   out->mutable_elements<T>().data()));
            extrapolate<T>(call.axes, saturate<T>(call.options.extrapolation), out);
        }
        return {};
    });
}

}  // namespace

Status resize(KernelContext& c) {
    SDX_ASSIGN(ResizeCall call, read_resampling(c));
    return run_resize(c, std::move(call));
}

Result<std::vector<Tensor>> resize_matrices(const KernelContext& c) {
    SDX_ASSIGN(ResizeCall call, read_resampling(c));
    std::vector<Tensor> matrices(call.axes.size());
    for (size_t d = 0; d < matrices.size(); ++d) {
        ResizeAxis& axis = call.axes[d];
        if (is_unchanged(axis)) {
            continue;
        }
        find_taps(call.options, axis);
        SDX_ASSIGN(matrices[d], c.scratch(ElementType::kDouble, {axis.out, axis.in}));
        fill_zero(matrices[d]);
        double* row = matrices[d].mutable_elements<double>().data();
        for (int64_t i = 0; i < axis.out; ++i, row += axis.in) {
            for (const WeightedPlace& tap : axis.taps[i]) {
                row[tap.place] += tap.weight;
            }
        }
    }
    return matrices;
}

}  // namespace sardonyx::eval::kernels
