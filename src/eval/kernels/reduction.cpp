// Reduce*.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "eval/kernels/cast.h"
#include "eval/kernels/standard_kernels.h"
#include "eval/loops/clones.h"
#include "eval/loops/reduction.h"
#include "eval/loops/strided.h"
#include "eval/loops/vector_math.h"
#include "eval/loops/visit.h"
#include "eval/operators/kernel.h"

namespace sardonyx::eval::kernels {
namespace {

// A reducer: what a lane starts with, how one element joins it, how two lanes join, and what comes
// out of `n` elements. Nothing
// gives the neutral element; Max and Min of integers have the least and the greatest number for it,
// of floats the infinities.
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

// Sums of `map(x)`, as Sum<T> or, for those that end in a function of real numbers, as double.
template <typename Self>
struct Adding {
    template <typename T>
    static auto start() {
        return decltype(Self::map(T()))(0);
    }
    template <typename A, typename T>
    static A step(A sum, T x) {
        return sum + Self::map(x);
    }
    template <typename A, typename T>
    static A join(A a, A b) {
        return a + b;
    }
    template <typename T, typename A>
    static T finish(A sum, int64_t) {
        return static_cast<T>(sum);
    }
};

struct ReduceSum : Adding<ReduceSum> {
    template <typename T>
    static Sum<T> map(T x) {
        return widen(x);
    }
};
struct ReduceSumSquare : Adding<ReduceSumSquare> {
    template <typename T>
    static Sum<T> map(T x) {
        return widen(x) * widen(x);
    }
};
struct ReduceL1 : Adding<ReduceL1> {
    template <typename T>
    static Sum<T> map(T x) {
        return static_cast<Compute<T>>(x) < 0 ? static_cast<Sum<T>>(0) - widen(x) : widen(x);
    }
};
struct ReduceL2 : Adding<ReduceL2> {
    template <typename T>
    static double map(T x) {
        return as_double(x) * as_double(x);
    }
    template <typename T>
    static T finish(double sum, int64_t) {
        return back<T>(std::sqrt(sum));
    }
};
struct ReduceLogSum : Adding<ReduceLogSum> {
    template <typename T>
    static double map(T x) {
        return as_double(x);
    }
    template <typename T>
    static T finish(double sum, int64_t) {
        return back<T>(std::log(sum));
    }
};
// A mean is among its numbers, so their sum must not wrap: as many bits more as a count has.
template <typename T>
using MeanSum = std::conditional_t<
    !std::is_integral_v<T>, double,
    std::conditional_t<(sizeof(T) < 4 || std::is_same_v<T, int32_t>), int64_t, __int128>>;
struct ReduceMean : Adding<ReduceMean> {
    template <typename T>
    static MeanSum<T> map(T x) {
        return static_cast<MeanSum<T>>(static_cast<Compute<T>>(x));
    }
    template <typename T>
    static T finish(MeanSum<T> sum, int64_t n) {
        if constexpr (std::is_integral_v<T>) {
            // Towards zero; nothing to divide by gives 0.
            return n == 0 ? T(0) : static_cast<T>(sum / n);
        } else {
            return static_cast<T>(sum / static_cast<double>(n));
        }
    }
};
struct ReduceProd {
    template <typename T>
    static Sum<T> start() {
        return 1;
    }
    template <typename A, typename T>
    static A step(A result, T x) {
        return result * widen(x);
    }
    template <typename A, typename T>
    static A join(A a, A b) {
        return a * b;
    }
    template <typename T>
    static T finish(Sum<T> result, int64_t) {
        return static_cast<T>(result);
    }
};

// Elements [begin, end) of the result, which are those of rows of n elements each.
template <typename Op, typename T>
[[gnu::always_inline]] inline void reduce_rows(const T* in, int64_t n, T* out, int64_t begin,
                                               int64_t end) {
    using A = decltype(Op::template start<T>());
    for (int64_t first = begin; first < end; first += kFoldRows) {
        int64_t count = std::min(kFoldRows, end - first);
        A folded[kFoldRows];
        fold_rows(
            in + first * n, n, count, Op::template start<T>(),
            [](A a, T x) { return Op::template step<A, T>(a, x); },
            [](A a, A b) { return Op::template join<A, T>(a, b); }, folded);
        for (int64_t r = 0; r < count; ++r) {
            out[first + r] = Op::template finish<T>(folded[r], n);
        }
    }
}

// The same for the middle axis of in[outer, n, inner]: result [outer, inner].
template <typename Op, typename T>
[[gnu::always_inline]] inline void reduce_columns(const T* in, const AxisView& view, T* out,
                                                  int64_t begin, int64_t end) {
    using A = decltype(Op::template start<T>());
    for_each_columns(view, begin, end, [&](int64_t first, int64_t start, int64_t count) {
        A columns[kColumnsAtOnce];
        const T* row = in + start;
        std::fill(columns, columns + count, Op::template start<T>());
        for (int64_t k = 0; k < view.n; ++k, row += view.inner) {
            for (int64_t j = 0; j < count; ++j) {
                columns[j] = Op::template step<A, T>(columns[j], row[j]);
            }
        }
        for (int64_t j = 0; j < count; ++j) {
            out[first + j] = Op::template finish<T>(columns[j], view.n);
        }
    });
}

// The logarithm of the sum of powers: in two goes over a row, so that nothing overflows.
template <typename T>
[[gnu::always_inline]] inline T log_sum_exp(const T* row, int64_t n) {
    using V = std::conditional_t<std::is_same_v<Compute<T>, float>, float, double>;
    V greatest = -std::numeric_limits<V>::infinity();
    for (int64_t i = 0; i < n; ++i) {
        auto x = static_cast<V>(static_cast<Compute<T>>(row[i]));
        greatest = x > greatest ? x : greatest;
    }
    V shift = std::isfinite(greatest) ? greatest : 0;
    double sum = sum_row<double>(row, n, [shift](T x) {
        return static_cast<double>(vector_exp(static_cast<V>(static_cast<Compute<T>>(x)) - shift));
    });
    return back<T>(std::log(sum) + static_cast<double>(shift));
}
SDX_CLONES void log_sums_exp(const float* in, int64_t n, float* out, int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
        out[r] = log_sum_exp(in + r * n, n);
    }
}
template <typename T>
void log_sums_exp(const T* in, int64_t n, T* out, int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
        out[r] = log_sum_exp(in + r * n, n);
    }
}

template <typename Op>
SDX_CLONES void reduce_floats(const float* in, const AxisView& view, float* out, int64_t begin,
                              int64_t end) {
    if (view.inner == 1) {
        reduce_rows<Op, float>(in, view.n, out, begin, end);
    } else {
        reduce_columns<Op, float>(in, view, out, begin, end);
    }
}
template <typename Op, typename T>
void reduce_elements(const T* in, const AxisView& view, T* out, int64_t begin, int64_t end) {
    if constexpr (std::is_same_v<T, float>) {
        reduce_floats<Op>(in, view, out, begin, end);
    } else if (view.inner == 1) {
        reduce_rows<Op, T>(in, view.n, out, begin, end);
    } else {
        reduce_columns<Op, T>(in, view, out, begin, end);
    }
}

// What is reduced, as [outer, n, inner] of `data`.
struct Reduction {
    Tensor data;
    AxisView view;
    Dims kept;
    bool is_noop = false;  // no axes, which means none here
};

// Empty: none given.
Result<std::vector<int64_t>> given_axes(KernelContext& c) {
    SDX_ASSIGN(auto given, list_argument(c, "axes", 1));
    return given ? std::move(*given) : std::vector<int64_t>{};
}

// Where what becomes one result may lie: as the tensor has it, or in a row.
enum class ReducedFrom : uint8_t { kView, kRows };

Result<Reduction> reduction(KernelContext& c, ReducedFrom from) {
    Reduction r{c.tensor(0), {}, {}, false};
    int rank = r.data.rank();
    SDX_ASSIGN(std::vector<int64_t> given, given_axes(c));
    std::vector<int> axes;
    // As in ONNX Runtime and PyTorch, a scalar is reduced over axis 0 or -1: as a whole.
    bool is_whole_scalar = rank == 0 && std::all_of(given.begin(), given.end(), [](int64_t axis) {
                               return axis == 0 || axis == -1;
                           });
    if (!given.empty() && !is_whole_scalar) {
        SDX_ASSIGN(axes, c.axes(given, rank));
    } else if (given.empty() && c.int_attribute("noop_with_empty_axes", 0) != 0) {
        r.is_noop = true;
    } else {
        axes.resize(rank);
        std::iota(axes.begin(), axes.end(), 0);
    }
    bool keepdims = c.int_attribute("keepdims") != 0;
    int first = axes.empty() ? rank : axes.front(), last = axes.empty() ? rank : axes.back() + 1;
    int64_t n = reduced_count(r.data.dims(), axes);
    r.view = axis_view(r.data.dims(), first, last);
    r.kept = kept_dims(r.data.dims(), axes, keepdims);
    bool are_neighbours = r.view.n == n || r.data.count() == 0;
    if (!are_neighbours || (from == ReducedFrom::kRows && r.view.inner != 1)) {
        SDX_ASSIGN(Rows rows, gather_rows(c, r.data, axes, keepdims));
        r.data = std::move(rows.data);
        r.view = {rows.count, rows.n, 1};
    }
    r.view.n = n;
    return r;
}

// Calls `body(data, view, results, begin, end)` for parts of the results.
template <typename List, typename Body>
Status for_each_result(KernelContext& c, List list, const Reduction& r, const Body& body) {
    SDX_ASSIGN(Tensor * out, c.output(0, r.data.element_type(), r.kept));
    return visit(list, r.data.element_type(), [&]<typename T>() -> Status {
        // Nothing in any row: the same result for all, and no data to point to.
        bool is_empty = r.data.count() == 0;
        AxisView view = is_empty ? AxisView{out->count(), 0, 1} : r.view;
        T none{};
        const T* in = is_empty ? &none : r.data.elements<T>().data();
        T* result = out->mutable_elements<T>().data();
        parallel_for(c.threads(), out->count(), items_per_task(view.n),
                     [&](int64_t begin, int64_t end) { body(in, view, result, begin, end); });
        return {};
    });
}

template <typename List, typename Op>
Status reduce(KernelContext& c, List list, Op) {
    SDX_ASSIGN(Reduction r, reduction(c, ReducedFrom::kView));
    if (r.is_noop && std::is_same_v<Op, ReduceSum>) {
        c.set_output(0, r.data);  // the others apply their function to each element (version 18)
        return {};
    }
    return for_each_result(c, list, r,
                           [](const auto* in, const AxisView& view, auto* out, int64_t begin,
                              int64_t end) { reduce_elements<Op>(in, view, out, begin, end); });
}

}  // namespace

#define SDX_REDUCE(name, Op)               \
    Status name(KernelContext& c) {        \
        return reduce(c, Numbers{}, Op{}); \
    }
SDX_REDUCE(reduce_l1, ReduceL1)
SDX_REDUCE(reduce_l2, ReduceL2)
SDX_REDUCE(reduce_log_sum, ReduceLogSum)
SDX_REDUCE(reduce_mean, ReduceMean)
SDX_REDUCE(reduce_prod, ReduceProd)
SDX_REDUCE(reduce_sum, ReduceSum)
SDX_REDUCE(reduce_sum_square, ReduceSumSquare)
#undef SDX_REDUCE

Status reduce_log_sum_exp(KernelContext& c) {
    SDX_ASSIGN(Reduction r, reduction(c, ReducedFrom::kRows));
    return for_each_result(c, Numbers{}, r,
                           [](const auto* in, const AxisView& view, auto* out, int64_t begin,
                              int64_t end) { log_sums_exp(in, view.n, out, begin, end); });
}

Status reduce_max(KernelContext& c) {
    return reduce(c, NumbersAndBools{}, ReduceExtreme<true>{});
}
Status reduce_min(KernelContext& c) {
    return reduce(c, NumbersAndBools{}, ReduceExtreme<false>{});
}

}  // namespace sardonyx::eval::kernels
