// Reduce*, ArgMax, ArgMin, CumSum, CumProd, TopK.
#include "eval/kernels/reduction.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "eval/kernel.h"
#include "eval/kernels/cast.h"
#include "eval/kernels/strided.h"
#include "eval/kernels/visit.h"

namespace sardonyx::eval {

Result<Rows> gather_rows(const KernelContext& c, const Tensor& source, const std::vector<int>& axes,
                         bool keepdims) {
    Rows rows;
    std::vector<int> order;
    std::vector<bool> is_reduced(source.rank(), false);
    for (int axis : axes) {
        is_reduced[axis] = true;
    }
    Dims reduced;
    Dims outer;
    for (int d = 0; d < source.rank(); ++d) {
        int64_t dim = source.dims()[d];
        if (is_reduced[d]) {
            reduced.push_back(dim);
            if (keepdims) {
                rows.kept.push_back(1);
            }
        } else {
            order.push_back(d);
            outer.push_back(dim);
            rows.kept.push_back(dim);
        }
    }
    order.insert(order.end(), axes.begin(), axes.end());
    rows.count = product(outer);
    rows.n = product(reduced);
    if (std::is_sorted(order.begin(), order.end()) || source.count() == 0) {
        rows.data = source;
    } else {
        SDX_ASSIGN(rows.data, transposed(c, source, order));
    }
    return rows;
}

namespace kernels {
namespace {

// Each reducer takes one row. An empty row gives the neutral element; Max and Min of integers have
// the least and the greatest number for it, of floats the infinities.
template <typename T>
using Sum = std::conditional_t<std::is_floating_point_v<Compute<T>>, double, Wrapping<T>>;

template <typename T>
Sum<T> widen(T x) {
    return static_cast<Sum<T>>(static_cast<Compute<T>>(x));
}

template <typename T>
T back(double x) {
    if constexpr (std::is_integral_v<T>) {
        return saturate<T>(x);
    } else {
        return static_cast<T>(x);
    }
}

struct ReduceSum {
    template <typename T>
    T operator()(const T* row, int64_t n) const {
        return static_cast<T>(sum_row<Sum<T>>(row, n, [](T x) { return widen(x); }));
    }
};
struct ReduceSumSquare {
    template <typename T>
    T operator()(const T* row, int64_t n) const {
        return static_cast<T>(sum_row<Sum<T>>(row, n, [](T x) { return widen(x) * widen(x); }));
    }
};
struct ReduceL1 {
    template <typename T>
    T operator()(const T* row, int64_t n) const {
        return static_cast<T>(sum_row<Sum<T>>(row, n, [](T x) {
            return static_cast<Compute<T>>(x) < 0 ? static_cast<Sum<T>>(0) - widen(x) : widen(x);
        }));
    }
};
// Those that end in a function of real numbers are worked out as double.
struct ReduceL2 {
    template <typename T>
    T operator()(const T* row, int64_t n) const {
        return back<T>(
            std::sqrt(sum_row<double>(row, n, [](T x) { return as_double(x) * as_double(x); })));
    }
};
struct ReduceLogSum {
    template <typename T>
    T operator()(const T* row, int64_t n) const {
        return back<T>(std::log(sum_row<double>(row, n, [](T x) { return as_double(x); })));
    }
};
struct ReduceLogSumExp {
    template <typename T>
    T operator()(const T* row, int64_t n) const {
        // The greatest element is taken out, so that nothing overflows.
        double greatest = -std::numeric_limits<double>::infinity();
        for (int64_t i = 0; i < n; ++i) {
            greatest = std::max(greatest, as_double(row[i]));
        }
        double shift = std::isfinite(greatest) ? greatest : 0;
        double sum = sum_row<double>(row, n, [&](T x) { return std::exp(as_double(x) - shift); });
        return back<T>(std::log(sum) + shift);
    }
};
struct ReduceMean {
    template <typename T>
    T operator()(const T* row, int64_t n) const {
        if constexpr (std::is_integral_v<T>) {
            // Exact division of the wrapped sum, towards zero; nothing to divide by gives 0.
            return n == 0 ? T(0) : static_cast<T>(ReduceSum{}(row, n) / static_cast<int64_t>(n));
        } else {
            return static_cast<T>(sum_row<double>(row, n, [](T x) { return as_double(x); }) /
                                  static_cast<double>(n));
        }
    }
};
struct ReduceProd {
    template <typename T>
    T operator()(const T* row, int64_t n) const {
        Sum<T> result = 1;
        for (int64_t i = 0; i < n; ++i) {
            result *= widen(row[i]);
        }
        return static_cast<T>(result);
    }
};

template <bool is_max>
struct ReduceExtreme {
    template <typename T>
    static T neutral() {
        using V = Compute<T>;
        if constexpr (std::is_floating_point_v<V>) {
            V infinity = std::numeric_limits<V>::infinity();
            return static_cast<T>(is_max ? -infinity : infinity);
        } else {
            return is_max ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max();
        }
    }
    template <typename T>
    T operator()(const T* row, int64_t n) const {
        using V = Compute<T>;
        V best = static_cast<V>(neutral<T>());
        for (int64_t i = 0; i < n; ++i) {
            V x = static_cast<V>(row[i]);
            // NaN wins.
            best = (is_max ? x > best : x < best) || x != x ? x : best;
        }
        return static_cast<T>(best);
    }
};

template <typename List, typename Op>
Status reduce(KernelContext& c, List list, const Op& op) {
    const Tensor& source = c.tensor(0);
    SDX_ASSIGN(auto given, list_argument(c, "axes", 1));
    std::vector<int> axes;
    if (!given.has_value() || given->empty()) {
        if (c.int_attribute("noop_with_empty_axes", 0) != 0) {
            // Nothing is reduced, but the function is applied to each element (version 18).
            if constexpr (std::is_same_v<Op, ReduceSum>) {
                c.set_output(0, source);
                return {};
            }
        } else {
            axes.resize(source.rank());
            std::iota(axes.begin(), axes.end(), 0);
        }
    } else {
        SDX_ASSIGN(axes, c.axes(*given, source.rank()));
    }
    SDX_ASSIGN(Rows rows, gather_rows(c, source, axes, c.int_attribute("keepdims") != 0));
    SDX_ASSIGN(Tensor * out, c.output(0, source.element_type(), rows.kept));
    return visit(list, source.element_type(), [&]<typename T>() -> Status {
        const T* in = rows.data.elements<T>().data();
        T* result = out->mutable_elements<T>().data();
        for (int64_t r = 0; r < out->count(); ++r) {
            result[r] = op(in + r * rows.n, rows.n);
        }
        return {};
    });
}

// --- Along one axis ------------------------------------------------------------------------------

template <bool is_max>
Status arg_extreme(KernelContext& c) {
    const Tensor& source = c.tensor(0);
    SDX_ASSIGN(int axis, c.axis(c.int_attribute("axis"), source.rank()));
    bool last = c.int_attribute("select_last_index", 0) != 0;
    SDX_ASSIGN(Rows rows, gather_rows(c, source, {axis}, c.int_attribute("keepdims") != 0));
    if (rows.n == 0) {
        return Error{fmt::format("axis {} is empty: there is nothing to choose from", axis)};
    }
    SDX_ASSIGN(Tensor * out, c.output(0, ElementType::kInt64, rows.kept));
    return visit(Numbers{}, source.element_type(), [&]<typename T>() -> Status {
        using V = Compute<T>;
        const T* row = rows.data.elements<T>().data();
        for (int64_t& index : out->mutable_elements<int64_t>()) {
            V best = static_cast<V>(row[0]);
            index = 0;
            for (int64_t i = 1; i < rows.n; ++i) {
                V x = static_cast<V>(row[i]);
                bool better = (is_max ? x > best : x < best) || (x != x && best == best);
                if (better || (last && x == best)) {
                    best = x;
                    index = i;
                }
            }
            row += rows.n;
        }
        return {};
    });
}

template <typename Combine>
Status cumulate(KernelContext& c, double neutral, Combine combine) {
    const Tensor& source = c.tensor(0);
    SDX_ASSIGN(int64_t given, c.int_scalar(1));
    SDX_ASSIGN(int axis, c.axis(given, source.rank()));
    bool is_exclusive = c.int_attribute("exclusive") != 0;
    bool is_reversed = c.int_attribute("reverse") != 0;
    AxisView view = axis_view(source.dims(), axis);
    SDX_ASSIGN(Tensor * out, c.output(0, source.element_type(), source.dims()));
    if (source.count() == 0) {
        return {};
    }
    return visit(Numbers{}, source.element_type(), [&]<typename T>() -> Status {
        using W = std::conditional_t<std::is_floating_point_v<Compute<T>>, Compute<T>, Wrapping<T>>;
        const T* in = source.elements<T>().data();
        T* result = out->mutable_elements<T>().data();
        for (int64_t row = 0; row < view.outer * view.inner; ++row) {
            int64_t start = row / view.inner * view.n * view.inner + row % view.inner;
            W total = static_cast<W>(neutral);
            for (int64_t step = 0; step < view.n; ++step) {
                int64_t i = start + (is_reversed ? view.n - 1 - step : step) * view.inner;
                W next =
                    static_cast<W>(combine(total, static_cast<W>(static_cast<Compute<T>>(in[i]))));
                result[i] = static_cast<T>(is_exclusive ? total : next);
                total = next;
            }
        }
        return {};
    });
}

// --- TopK ----------------------------------------------------------------------------------------

// The order of TopK: by value, NaN as the greatest, then by the lower index.
template <typename V>
bool comes_before(V a, int64_t i, V b, int64_t k, bool largest) {
    bool a_nan = a != a;
    bool b_nan = b != b;
    if (a_nan || b_nan) {
        return a_nan && b_nan ? i < k : a_nan == largest;
    }
    return a == b ? i < k : largest ? a > b : a < b;
}

Result<int64_t> top_count(KernelContext& c, int64_t n) {
    int64_t k = c.int_attribute("k");
    if (c.version() >= 10) {
        SDX_ASSIGN(k, c.int_scalar(1));
    }
    if (k < 0 || k > n) {
        return Error{fmt::format("k is {}, but the axis has {} elements", k, n)};
    }
    return k;
}

}  // namespace

#define SDX_REDUCE(name, Op)               \
    Status name(KernelContext& c) {        \
        return reduce(c, Numbers{}, Op{}); \
    }
SDX_REDUCE(reduce_l1, ReduceL1)
SDX_REDUCE(reduce_l2, ReduceL2)
SDX_REDUCE(reduce_log_sum, ReduceLogSum)
SDX_REDUCE(reduce_log_sum_exp, ReduceLogSumExp)
SDX_REDUCE(reduce_mean, ReduceMean)
SDX_REDUCE(reduce_prod, ReduceProd)
SDX_REDUCE(reduce_sum, ReduceSum)
SDX_REDUCE(reduce_sum_square, ReduceSumSquare)
#undef SDX_REDUCE

Status reduce_max(KernelContext& c) {
    return reduce(c, NumbersAndBools{}, ReduceExtreme<true>{});
}
Status reduce_min(KernelContext& c) {
    return reduce(c, NumbersAndBools{}, ReduceExtreme<false>{});
}

Status arg_max(KernelContext& c) {
    return arg_extreme<true>(c);
}
Status arg_min(KernelContext& c) {
    return arg_extreme<false>(c);
}

Status cum_sum(KernelContext& c) {
    return cumulate(c, 0, [](auto a, auto b) { return a + b; });
}
Status cum_prod(KernelContext& c) {
    return cumulate(c, 1, [](auto a, auto b) { return a * b; });
}

Status top_k(KernelContext& c) {
    const Tensor& source = c.tensor(0);
    SDX_ASSIGN(int axis, c.axis(c.int_attribute("axis"), source.rank()));
    AxisView view = axis_view(source.dims(), axis);
    SDX_ASSIGN(int64_t k, top_count(c, view.n));
    bool largest = c.int_attribute("largest", 1) != 0;
    Dims dims = source.dims();
    dims[axis] = k;
    SDX_ASSIGN(Tensor * values, c.output(0, source.element_type(), dims));
    SDX_ASSIGN(Tensor * indices, c.output(1, ElementType::kInt64, dims));
    if (values->count() == 0) {
        return {};
    }
    return visit(Numbers{}, source.element_type(), [&]<typename T>() -> Status {
        using V = Compute<T>;
        const T* in = source.elements<T>().data();
        std::span<T> chosen = values->mutable_elements<T>();
        std::span<int64_t> places = indices->mutable_elements<int64_t>();
        std::vector<int64_t> order(view.n);
        for (int64_t row = 0; row < view.outer * view.inner; ++row) {
            int64_t o = row / view.inner;
            int64_t inner = row % view.inner;
            const T* start = in + o * view.n * view.inner + inner;
            std::iota(order.begin(), order.end(), 0);
            std::partial_sort(
                order.begin(), order.begin() + k, order.end(), [&](int64_t a, int64_t b) {
                    return comes_before(static_cast<V>(start[a * view.inner]), a,
                                        static_cast<V>(start[b * view.inner]), b, largest);
                });
            for (int64_t i = 0; i < k; ++i) {
                chosen[(o * k + i) * view.inner + inner] = start[order[i] * view.inner];
                places[(o * k + i) * view.inner + inner] = order[i];
            }
        }
        return {};
    });
}

}  // namespace kernels
}  // namespace sardonyx::eval
