// Pools: MaxPool, AveragePool, LpPool, their global forms, and MaxUnpool.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "eval/kernel.h"
#include "eval/kernels/clones.h"
#include "eval/kernels/reduction.h"
#include "eval/kernels/strided.h"
#include "eval/kernels/visit.h"
#include "eval/kernels/window.h"

namespace sardonyx::eval::kernels {
namespace {

using PoolTypes =
    Join<Floats, TypeList<Typed<ElementType::kInt8, int8_t>, Typed<ElementType::kUint8, uint8_t>>>;

Result<WindowGeometry> pool_geometry(const KernelContext& c) {
    const Dims& dims = c.dims(0);
    if (dims.size() < 2) {
        return Error{"the input must have a batch axis and a channel axis"};
    }
    Dims spatial(dims.begin() + 2, dims.end());
    std::span<const int64_t> kernel = c.ints_attribute("kernel_shape");
    return window_geometry(c, std::move(spatial), Dims(kernel.begin(), kernel.end()));
}

Dims pooled_dims(const Dims& in, const Dims& out) {
    Dims dims(in.begin(), in.begin() + 2);
    dims.insert(dims.end(), out.begin(), out.end());
    return dims;
}

// One window covers all.
Result<WindowGeometry> global_geometry(const KernelContext& c) {
    const Dims& dims = c.dims(0);
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
    return g;
}

// Calls pool(elements of a plane, walk) for every window of every plane and stores what it gives.
template <typename List, typename Pool>
Status run_pool(KernelContext& c, const WindowGeometry& g, List list, Pool pool) {
    SDX_ASSIGN(Tensor * out, c.output(0, c.type(0), pooled_dims(c.dims(0), g.out)));
    if (out->count() == 0) {
        return {};
    }
    return visit(list, c.type(0), [&]<typename T>() -> Status {
        const T* in = c.tensor(0).elements<T>().data();
        T* result = out->mutable_elements<T>().data();
        int64_t planes = c.dims(0)[0] * c.dims(0)[1];
        int64_t windows = g.out_count();
        int64_t plane = g.in_count();
        int64_t work = 4 * windows * std::min(g.kernel_count(), plane);
        parallel_for(c.threads(), planes, items_per_task(work), [&](int64_t begin, int64_t end) {
            WindowWalk walk(g);
            for (int64_t i = 0; i < windows; ++i) {
                for (int64_t p = begin; p < end; ++p) {
                    result[p * windows + i] = pool(in + p * plane, walk, p * windows + i);
                }
                if (i + 1 < windows) {
                    walk.next();
                }
            }
        });
        return {};
    });
}

// The greatest element of a window and its place in the plane; -1 where the window is all padding.
template <typename T>
T window_maximum(const T* plane, const std::vector<Tap>& taps, int64_t* place) {
    using V = Compute<T>;
    V best = std::numeric_limits<V>::has_infinity ? -std::numeric_limits<V>::infinity()
                                                  : std::numeric_limits<V>::lowest();
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

// out[i] = the greater of it and in[i * stride]; NaN wins.
template <typename T>
SDX_CLONES void take_greater(const T* in, int64_t stride, T* out, int64_t n) {
    if (stride == 1) {
        for (int64_t i = 0; i < n; ++i) {
            out[i] = in[i] > out[i] || in[i] != in[i] ? in[i] : out[i];
        }
    } else {
        for (int64_t i = 0; i < n; ++i) {
            T x = in[i * stride];
            out[i] = x > out[i] || x != x ? x : out[i];
        }
    }
}

// The maxima alone, tap by tap along the rows of the output.
template <typename T>
Status plain_maxima(KernelContext& c, const WindowGeometry& g) {
    SDX_ASSIGN(Tensor * out, c.output(0, c.type(0), pooled_dims(c.dims(0), g.out)));
    if (out->count() == 0) {
        return {};
    }
    const T* in = c.tensor(0).elements<T>().data();
    T* result = out->mutable_elements<T>().data();
    int64_t windows = g.out_count();
    int64_t kernel = g.kernel_count();
    int64_t planes = c.dims(0)[0] * c.dims(0)[1];
    int64_t stride = g.strides.back();
    T lowest = std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                    : std::numeric_limits<T>::lowest();
    parallel_for(c.threads(), planes, items_per_task(windows * kernel),
                 [&](int64_t begin, int64_t end) {
                     for (int64_t p = begin; p < end; ++p) {
                         const T* plane = in + p * g.in_count();
                         T* target = result + p * windows;
                         std::fill_n(target, windows, lowest);
                         for_each_row_part(g, 0, windows, [&](int64_t row, int64_t, int64_t n) {
                             for (int64_t tap = 0; tap < kernel; ++tap) {
                                 TapRow t = tap_row(g, row, tap);
                                 if (t.inside) {
                                     take_greater(plane + t.offset + t.first * stride, stride,
                                                  target + t.first, t.end - t.first);
                                 }
                             }
                             target += n;
                         });
                     }
                 });
    return {};
}

Status max_of(KernelContext& c, const WindowGeometry& g) {
    constexpr int64_t kLongRow = 8;
    if (!c.wants(1) && c.type(0) == ElementType::kFloat && !g.in.empty() &&
        g.out.back() >= kLongRow) {
        return plain_maxima<float>(c, g);
    }
    int64_t* indices = nullptr;
    if (c.wants(1)) {
        SDX_ASSIGN(Tensor * places,
                   c.output(1, ElementType::kInt64, pooled_dims(c.dims(0), g.out)));
        indices = places->mutable_elements<int64_t>().data();
    }
    bool by_columns = c.int_attribute("storage_order", 0) != 0;
    int64_t plane_size = g.in_count();
    int64_t windows = std::max<int64_t>(1, g.out_count());
    return run_pool(
        c, g, PoolTypes{}, [&]<typename T>(const T* plane, const WindowWalk& walk, int64_t target) {
            int64_t place = -1;
            T best = window_maximum(plane, walk.taps(), &place);
            if (indices != nullptr) {
                int64_t within = by_columns && place >= 0 ? column_major(place, g.in) : place;
                indices[target] = target / windows * plane_size + within;
            }
            return best;
        });
}

SDX_CLONES double plane_sum(const float* plane, int64_t n) {
    return sum_row<double>(plane, n, [](float x) { return static_cast<double>(x); });
}
template <typename T>
double plane_sum(const T* plane, int64_t n) {
    return sum_row<double>(plane, n, [](T x) { return as_double(x); });
}

Status average_of(KernelContext& c, const WindowGeometry& g) {
    bool counts_padding = c.int_attribute("count_include_pad", 0) != 0;
    return run_pool(
        c, g, Floats{}, [&]<typename T>(const T* plane, const WindowWalk& walk, int64_t) {
            double sum = 0;
            for (const Tap& tap : walk.taps()) {
                sum += as_double(plane[tap.offset]);
            }
            double count =
                counts_padding ? walk.padded_count() : static_cast<double>(walk.taps().size());
            return static_cast<T>(sum / count);
        });
}

Status norm_of(KernelContext& c, const WindowGeometry& g) {
    // Version 1 has `p` as a float.
    double p = c.version() < 2 ? c.float_attribute("p") : static_cast<double>(c.int_attribute("p"));
    return run_pool(c, g, Floats{},
                    [&]<typename T>(const T* plane, const WindowWalk& walk, int64_t) {
                        double sum = 0;
                        for (const Tap& tap : walk.taps()) {
                            sum += std::pow(std::fabs(as_double(plane[tap.offset])), p);
                        }
                        return static_cast<T>(std::pow(sum, 1 / p));
                    });
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
    SDX_ASSIGN(Tensor * out, c.output(0, c.type(0), pooled_dims(c.dims(0), g.out)));
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
