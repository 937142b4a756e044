// Pools: MaxPool, AveragePool, LpPool, their global forms, and MaxUnpool.
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "eval/loops/channels_last.h"
#include "eval/loops/clones.h"
#include "eval/loops/plane_windows.h"
#include "eval/loops/reduction.h"
#include "eval/loops/scratch.h"
#include "eval/loops/strided.h"
#include "eval/loops/visit.h"
#include "eval/loops/window.h"
#include "eval/operators/kernel.h"

namespace sardonyx::eval::kernels {
namespace {

using PoolTypes =
    Join<Floats, TypeList<Typed<ElementType::kInt8, int8_t>, Typed<ElementType::kUint8, uint8_t>>>;

// Where channels are innermost, they are one more axis of windows, of one element each.
WindowGeometry with_channels(const KernelContext& c, WindowGeometry g) {
    if (c.is_channels_last(0)) {
        for (Dims* sizes : {&g.in, &g.out}) {
            sizes->push_back(c.dims(0).back());
        }
        for (Dims* ones : {&g.kernel, &g.strides, &g.dilations}) {
            ones->push_back(1);
        }
        for (Dims* zeros : {&g.begin, &g.end}) {
            zeros->push_back(0);
        }
    }
    return g;
}

Result<WindowGeometry> pool_geometry(const KernelContext& c) {
    const Dims dims = onnx_dims(c, 0);
    if (dims.size() < 2) {
        return Error{"the input must have a batch axis and a channel axis"};
    }
    Dims spatial(dims.begin() + 2, dims.end());
    std::span<const int64_t> kernel = c.ints_attribute("kernel_shape");
    SDX_ASSIGN(WindowGeometry g,
               window_geometry(c, std::move(spatial), Dims(kernel.begin(), kernel.end())));
    return with_channels(c, std::move(g));
}

// Of planes, which are pictures where channels are innermost: the axes before those of windows.
std::span<const int64_t> plane_axes(const KernelContext& c) {
    return std::span<const int64_t>(c.dims(0)).first(c.is_channels_last(0) ? 1 : 2);
}

Dims pooled_dims(const KernelContext& c, const WindowGeometry& g) {
    std::span<const int64_t> planes = plane_axes(c);
    Dims dims(planes.begin(), planes.end());
    dims.insert(dims.end(), g.out.begin(), g.out.end());
    return dims;
}

// One window covers all.
Result<WindowGeometry> global_geometry(const KernelContext& c) {
    const Dims dims = onnx_dims(c, 0);
    if (dims.size() < 2) {
        return Error{"the input must have a batch axis and a channel axis"};
    }
    WindowGeometry g;
    g.in.assign(dims.begin() + 2, dims.end());
    g.kernel = g.in;
    g.strides.assign(g.in.size(), 1);
    g.dilations = g.strides;
    g.begin.assign(g.in.size(), 0);
    g.end = g.begin;
    g.out = g.strides;
    return with_channels(c, std::move(g));
}

// The fold of all windows of all planes. `to_terms` gives the numbers that are folded of a plane's
// n elements: those themselves, or in the room that it gets; `to_results` takes the folds of a
// plane.
template <typename Fold, typename S, typename List, typename ToTerms, typename ToResults>
Status fold_windows(const KernelContext& c, const WindowGeometry& g, List list, S nothing,
                    const ToTerms& to_terms, const ToResults& to_results, Tensor* out) {
    if (out->count() == 0) {
        return {};
    }
    PlaneWindows windows(g);
    SDX_TRY(check_size(ElementType::kDouble, Dims{windows.scratch_size() + g.out_count()},
                       c.options()));
    return visit(list, c.type(0), [&]<typename T>() -> Status {
        const T* in = c.tensor(0).elements<T>().data();
        T* result = out->mutable_elements<T>().data();
        int64_t n = g.in_count(), count = g.out_count();
        // A step takes about half the time of other operations.
        int64_t work = n + (windows.operations() + count) / 2;
        parallel_for(c.threads(), product(plane_axes(c)), items_per_task(work),
                     [&](int64_t begin, int64_t end) {
                         Scratch<S> terms(n), between(windows.scratch_size()), folds(count);
                         for (int64_t p = begin; p < end; ++p) {
                             const auto* plane = to_terms(in + p * n, n, terms.data());
                             windows.fold<Fold>(c.threads(), plane, nothing, between.data(),
                                                folds.data());
                             to_results(folds.data(), count, result + p * count);
                         }
                     });
        return {};
    });
}

// Numbers as they are, or those of 16 bits as float in `room`.
template <typename T, typename S>
SDX_CLONES auto as_terms(const T* in, int64_t n, S* room) {
    if constexpr (std::is_same_v<Compute<T>, T>) {
        return in;
    } else {
        for (int64_t i = 0; i < n; ++i) {
            room[i] = static_cast<S>(static_cast<Compute<T>>(in[i]));
        }
        return static_cast<const S*>(room);
    }
}

template <typename S>
constexpr S least_of() {
    return std::numeric_limits<S>::has_infinity ? -std::numeric_limits<S>::infinity()
                                                : std::numeric_limits<S>::lowest();
}

// The place in a plane with the last axis outermost.
int64_t column_major(int64_t offset, const Dims& dims) {
    int64_t result = 0;
    int64_t stride = product(dims);
    for (size_t d = dims.size(); d-- > 0;) {
        stride /= dims[d];
        result += offset % dims[d] * stride;
        offset /= dims[d];
    }
    return result;
}

// The greatest element of a window and its place in the plane; -1 where the window is all padding.
template <typename T>
T window_maximum(const T* plane, const std::vector<Tap>& taps, int64_t* place) {
    using V = Compute<T>;
    V best = least_of<V>();
    *place = -1;
    for (const Tap& tap : taps) {
        V x = static_cast<V>(plane[tap.offset]);
        if (*place < 0 || x > best || (x != x && best == best)) {
            best = x;
            *place = tap.offset;
        }
    }
    return static_cast<T>(best);
}

// The maxima and their places.
Status maxima_and_places(KernelContext& c, const WindowGeometry& g) {
    Dims dims = pooled_dims(c, g);
    SDX_ASSIGN(Tensor * out, c.output(0, c.type(0), dims));
    SDX_ASSIGN(Tensor * places, c.output(1, ElementType::kInt64, dims));
    if (out->count() == 0) {
        return {};
    }
    int64_t* indices = places->mutable_elements<int64_t>().data();
    bool by_columns = c.int_attribute("storage_order", 0) != 0;
    return visit(PoolTypes{}, c.type(0), [&]<typename T>() -> Status {
        const T* in = c.tensor(0).elements<T>().data();
        T* result = out->mutable_elements<T>().data();
        int64_t planes = c.dims(0)[0] * c.dims(0)[1];
        int64_t windows = g.out_count();
        int64_t plane = g.in_count();
        int64_t of_window = std::max<int64_t>(1, 4 * std::min(g.kernel_count(), plane));
        auto fold_planes = [&](int64_t begin, int64_t end) {
            WindowWalk walk(g);
            int64_t turn = std::max<int64_t>(1, kPolled / (of_window * (end - begin)));
            in_turns(c.threads(), windows, turn, [&](int64_t first, int64_t last) {
                for (int64_t i = first; i < last; ++i) {
                    for (int64_t p = begin; p < end; ++p) {
                        int64_t place = -1;
                        result[p * windows + i] =
                            window_maximum(in + p * plane, walk.taps(), &place);
                        int64_t within =
                            by_columns && place >= 0 ? column_major(place, g.in) : place;
                        indices[p * windows + i] = p * plane + within;
                    }
                    if (i + 1 < windows) {
                        walk.next();
                    }
                }
            });
        };
        parallel_for(c.threads(), planes, items_per_task(windows * of_window), fold_planes);
        return {};
    });
}

Status max_of(KernelContext& c, const WindowGeometry& g) {
    if (c.wants(1)) {
        return maxima_and_places(c, g);
    }
    SDX_ASSIGN(Tensor * out, c.output(0, c.type(0), pooled_dims(c, g)));
    auto fold = [&]<typename S, typename List>(S least, List list) {
        return fold_windows<GreatestOf>(
            c, g, list, least,
            [](const auto* in, int64_t n, S* room) { return as_terms(in, n, room); },
            [&c]<typename T>(const S* folds, int64_t n, T* out) {
                in_turns(c.threads(), n, 4 * kPolled, [&](int64_t begin, int64_t end) {
                    for (int64_t i = begin; i < end; ++i) {
                        out[i] = static_cast<T>(folds[i]);
                    }
                });
            },
            out);
    };
    // Integers of 8 bits are floats meanwhile, which have them all.
    switch (c.type(0)) {
        case ElementType::kDouble:
            return fold(least_of<double>(), TypeList<Typed<ElementType::kDouble, double>>{});
        case ElementType::kInt8:
            return fold(-128.0f, TypeList<Typed<ElementType::kInt8, int8_t>>{});
        case ElementType::kUint8:
            return fold(0.0f, TypeList<Typed<ElementType::kUint8, uint8_t>>{});
        default:
            return fold(
                least_of<float>(),
                TypeList<Typed<ElementType::kFloat, float>, Typed<ElementType::kFloat16, Float16>,
                         Typed<ElementType::kBfloat16, BFloat16>>{});
    }
}

SDX_CLONES double plane_sum(const float* plane, int64_t n) {
    return sum_row<double>(plane, n, [](float x) { return static_cast<double>(x); });
}
template <typename T>
double plane_sum(const T* plane, int64_t n) {
    return sum_row<double>(plane, n, [](T x) { return as_double(x); });
}

// out[i] = in[i] * factors[i]
template <typename T>
SDX_CLONES void scale_folds(const double* in, const double* factors, int64_t n, T* out) {
    for (int64_t i = 0; i < n; ++i) {
        out[i] = static_cast<T>(in[i] * factors[i]);
    }
}

Status average_of(KernelContext& c, const WindowGeometry& g) {
    SDX_ASSIGN(Tensor * out, c.output(0, c.type(0), pooled_dims(c, g)));
    std::vector<double> factors =
        window_counts(c.threads(), g, c.int_attribute("count_include_pad", 0) != 0);
    for (double& factor : factors) {
        factor = 1 / factor;
    }
    return fold_windows<SumOf>(
        c, g, Floats{}, 0.0,
        [](const auto* in, int64_t n, double* room) { return as_terms(in, n, room); },
        [&]<typename T>(const double* sums, int64_t n, T* out) {
            in_turns(c.threads(), n, 4 * kPolled, [&](int64_t begin, int64_t end) {
                scale_folds(sums + begin, factors.data() + begin, end - begin, out + begin);
            });
        },
        out);
}

// |x|^p
template <typename T>
SDX_CLONES void powers_of(const T* in, int64_t n, double p, double* out) {
    for (int64_t i = 0; i < n; ++i) {
        double x = std::fabs(as_double(in[i]));
        out[i] = p == 2 ? x * x : std::pow(x, p);
    }
}
template <typename T>
SDX_CLONES void roots_of(const double* in, int64_t n, double p, T* out) {
    for (int64_t i = 0; i < n; ++i) {
        out[i] = static_cast<T>(p == 2 ? std::sqrt(in[i]) : std::pow(in[i], 1 / p));
    }
}

Status norm_of(KernelContext& c, const WindowGeometry& g) {
    // Version 1 has `p` as a float.
    double p = c.version() < 2 ? c.float_attribute("p") : static_cast<double>(c.int_attribute("p"));
    if (!(p > 0)) {
        return Error{fmt::format("`p` is {}, but must be positive", p)};
    }
    SDX_ASSIGN(Tensor * out, c.output(0, c.type(0), pooled_dims(c, g)));
    return fold_windows<SumOf>(
        c, g, Floats{}, 0.0,
        [&c, p](const auto* in, int64_t n, double* room) {
            in_turns(c.threads(), n, kPolled, [&](int64_t begin, int64_t end) {
                powers_of(in + begin, end - begin, p, room + begin);
            });
            return static_cast<const double*>(room);
        },
        [&c, p]<typename T>(const double* sums, int64_t n, T* out) {
            in_turns(c.threads(), n, kPolled, [&](int64_t begin, int64_t end) {
                roots_of(sums + begin, end - begin, p, out + begin);
            });
        },
        out);
}

}  // namespace

Status max_pool(KernelContext& c) {
    SDX_ASSIGN(WindowGeometry g, pool_geometry(c));
    return max_of(c, g);
}
Status average_pool(KernelContext& c) {
    SDX_ASSIGN(WindowGeometry g, pool_geometry(c));
    return average_of(c, g);
}
Status lp_pool(KernelContext& c) {
    SDX_ASSIGN(WindowGeometry g, pool_geometry(c));
    return norm_of(c, g);
}
Status global_max_pool(KernelContext& c) {
    SDX_ASSIGN(WindowGeometry g, global_geometry(c));
    return max_of(c, g);
}
Status global_average_pool(KernelContext& c) {
    SDX_ASSIGN(WindowGeometry g, global_geometry(c));
    Dims dims = onnx_dims(c, 0);
    std::fill(dims.begin() + 2, dims.end(), 1);
    dims = c.wants_channels_last() ? channels_last_dims(std::move(dims)) : std::move(dims);
    if (c.is_channels_last(0)) {
        SDX_TRY(average_of(c, g));
        c.set_output(0, c.result(0).tensor().reshaped(std::move(dims)));
        return {};
    }
    SDX_ASSIGN(Tensor * out, c.output(0, c.type(0), std::move(dims)));
    int64_t n = g.in_count();
    return visit(Floats{}, c.type(0), [&]<typename T>() -> Status {
        const T* in = c.tensor(0).elements<T>().data();
        T* result = out->mutable_elements<T>().data();
        parallel_for(c.threads(), out->count(), items_per_task(n), [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) {
                result[i] = static_cast<T>(plane_sum(in + i * n, n) / static_cast<double>(n));
            }
        });
        return {};
    });
}
Status global_lp_pool(KernelContext& c) {
    SDX_ASSIGN(WindowGeometry g, global_geometry(c));
    return norm_of(c, g);
}

Status max_unpool(KernelContext& c) {
    const Dims& in = c.dims(0);
    if (in.size() < 2 || c.dims(1) != in) {
        return Error{"data and indices must have one shape, with a batch and a channel axis"};
    }
    std::span<const int64_t> kernel = c.ints_attribute("kernel_shape");
    SDX_ASSIGN(WindowGeometry g, window_attributes(c, Dims(in.begin() + 2, in.end()),
                                                   Dims(kernel.begin(), kernel.end())));
    // The indices are of the smallest output; a larger one that is asked for has more room at the
    // end of each axis.
    Dims least(in.begin(), in.begin() + 2);
    for (size_t d = 0; d < g.in.size(); ++d) {
        int64_t size = (g.in[d] - 1) * g.strides[d] - g.begin[d] - g.end[d] + g.kernel[d];
        least.push_back(std::max<int64_t>(0, size));
    }
    Dims dims = least;
    if (c.has_input(2)) {
        SDX_ASSIGN(dims, c.ints(2));
        bool fits = dims.size() == least.size();
        for (size_t d = 0; fits && d < dims.size(); ++d) {
            fits = dims[d] >= least[d];
        }
        if (!fits) {
            return Error{fmt::format("the output shape {} is less than {}", to_string(dims),
                                     to_string(least))};
        }
    }
    SDX_ASSIGN(Tensor * out, c.output(0, c.type(0), dims));
    fill_zero(*out);
    SDX_TRY(check_size(ElementType::kInt8, least, c.options()));
    int64_t limit = product(least);
    Dims strides = row_major_strides(dims);
    std::span<const int64_t> indices = c.tensor(1).elements<int64_t>();
    for (size_t i = 0; i < indices.size(); ++i) {
        if (i % kPolled == kPolled - 1) {
            SDX_TRY(check_interrupt(c.options()));
        }
        int64_t index = indices[i];
        if (index < 0 || index >= limit) {
            return Error{fmt::format("index {} is out of range for {}", index, to_string(least))};
        }
        int64_t offset = 0;
        for (size_t d = least.size(); d-- > 0;) {
            offset += index % least[d] * strides[d];
            index /= least[d];
        }
        copy_elements(c.tensor(0), static_cast<int64_t>(i), *out, offset, 1);
    }
    return {};
}

}  // namespace sardonyx::eval::kernels
