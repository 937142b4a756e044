// Pools: MaxPool, AveragePool, LpPool, their global forms, and MaxUnpool.
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "eval/kernel.h"
#include "eval/kernels/clones.h"
#include "eval/kernels/flat_windows.h"
#include "eval/kernels/reduction.h"
#include "eval/kernels/scratch.h"
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

// The greatest elements of the same places of runs; NaN wins. Pieces of them stay in the cache.
SDX_CLONES void greatest_of_runs(const float* plane, const int64_t* runs, size_t count, int64_t n,
                                 float* out) {
    constexpr int64_t kPiece = 512;
    for (int64_t i = 0; i < n; i += kPiece, out += kPiece) {
        int64_t size = n - i < kPiece ? n - i : kPiece;
        for (int64_t j = 0; j < size; ++j) {
            out[j] = plane[runs[0] + i + j];
        }
        for (size_t run = 1; run < count; ++run) {
            const float* in = plane + runs[run] + i;
            for (int64_t j = 0; j < size; ++j) {
                out[j] = in[j] > out[j] || in[j] != in[j] ? in[j] : out[j];
            }
        }
    }
}

// The maxima alone.
Status plain_maxima(KernelContext& c, const WindowGeometry& g) {
    SDX_ASSIGN(Tensor * out, c.output(0, c.type(0), pooled_dims(c.dims(0), g.out)));
    if (out->count() == 0) {
        return {};
    }
    const float* in = c.tensor(0).elements<float>().data();
    float* result = out->mutable_elements<float>().data();
    int64_t windows = g.out_count();
    parallel_for(c.threads(), c.dims(0)[0] * c.dims(0)[1],
                 items_per_task(windows * g.kernel_count()), [&](int64_t begin, int64_t end) {
                     FlatWindows flat(g, g.out[0]);
                     Scratch<float> plane(flat.plane_size());
                     Scratch<float> greatest(flat.run_size());
                     for (int64_t p = begin; p < end; ++p) {
                         flat.lay_out(in + p * g.in_count(), 0,
                                      -std::numeric_limits<float>::infinity(), plane.data());
                         greatest_of_runs(plane.data(), flat.taps().data(), flat.taps().size(),
                                          flat.run_size(), greatest.data());
                         flat.take_results(greatest.data(), result + p * windows);
                     }
                 });
    return {};
}

Status max_of(KernelContext& c, const WindowGeometry& g) {
    constexpr int64_t kManyWindows = 16;
    if (!c.wants(1) && c.type(0) == ElementType::kFloat && g.out_count() >= kManyWindows &&
        FlatWindows::is_small(g)) {
        return plain_maxima(c, g);
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
