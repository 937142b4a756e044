// Reduce*, ArgMax, ArgMin, CumSum, CumProd, TopK.
#include "eval/kernels/reduction.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>

#include <fmt/format.h>

#include "eval/kernel.h"
#include "eval/kernels/cast.h"
#include "eval/kernels/clones.h"
#include "eval/kernels/scratch.h"
#include "eval/kernels/sorting.h"
#include "eval/kernels/strided.h"
#include "eval/kernels/vector_math.h"
#include "eval/kernels/visit.h"

namespace sardonyx::eval {
namespace {

int64_t reduced_count(const Dims& dims, const std::vector<int>& axes) {
    Dims reduced;
    for (int axis : axes) {
        reduced.push_back(dims[axis]);
    }
    return product(reduced);
}

}  // namespace

Dims kept_dims(const Dims& dims, const std::vector<int>& axes, bool keepdims) {
    Dims kept;
    size_t next = 0;
    for (int d = 0; d < static_cast<int>(dims.size()); ++d) {
        if (next < axes.size() && axes[next] == d) {
            ++next;
            if (keepdims) {
                kept.push_back(1);
            }
        } else {
            kept.push_back(dims[d]);
        }
    }
    return kept;
}

Result<Rows> gather_rows(const KernelContext& c, const Tensor& source, const std::vector<int>& axes,
                         bool keepdims) {
    Rows rows;
    std::vector<int> order;
    for (int d = 0; d < source.rank(); ++d) {
        if (!std::binary_search(axes.begin(), axes.end(), d)) {
            order.push_back(d);
        }
    }
    rows.kept = kept_dims(source.dims(), axes, keepdims);
    rows.count = product(rows.kept);
    rows.n = reduced_count(source.dims(), axes);
    order.insert(order.end(), axes.begin(), axes.end());
    if (std::is_sorted(order.begin(), order.end()) || source.count() == 0) {
        rows.data = source;
    } else {
        SDX_ASSIGN(rows.data, transposed(c, source, order));
    }
    return rows;
}

namespace kernels {
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

template <bool is_max>
struct ReduceExtreme {
    template <typename T>
    static Compute<T> start() {
        using V = Compute<T>;
        if constexpr (std::is_floating_point_v<V>) {
            V infinity = std::numeric_limits<V>::infinity();
            return is_max ? -infinity : infinity;
        } else {
            return is_max ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max();
        }
    }
    template <typename A, typename T>
    static A step(A best, T element) {
        A x = static_cast<A>(element);
        // NaN wins.
        return (is_max ? x > best : x < best) || x != x ? x : best;
    }
    template <typename A, typename T>
    static A join(A a, A b) {
        return step<A, A>(a, b);
    }
    template <typename T>
    static T finish(Compute<T> best, int64_t) {
        return static_cast<T>(best);
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

// Lines along the middle axis of [outer, n, inner], so many neighbours at a time that each step
// along the axis reads a good stretch of memory, and what is kept of them stays in the first cache.
// Calls body(first line, where it starts, how many).
constexpr int64_t kColumns = 256;
template <typename Body>
[[gnu::always_inline]] inline void for_each_columns(const AxisView& view, int64_t begin,
                                                    int64_t end, const Body& body) {
    for (int64_t first = begin; first < end;) {
        int64_t column = first % view.inner;
        int64_t count = std::min({kColumns, end - first, view.inner - column});
        body(first, first / view.inner * view.n * view.inner + column, count);
        first += count;
    }
}

// The same for the middle axis of in[outer, n, inner]: result [outer, inner].
template <typename Op, typename T>
[[gnu::always_inline]] inline void reduce_columns(const T* in, const AxisView& view, T* out,
                                                  int64_t begin, int64_t end) {
    using A = decltype(Op::template start<T>());
    for_each_columns(view, begin, end, [&](int64_t first, int64_t start, int64_t count) {
        A columns[kColumns];
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

Result<Reduction> reduction(KernelContext& c, bool by_rows) {
    Reduction r{c.tensor(0), {}, {}, false};
    int rank = r.data.rank();
    SDX_ASSIGN(auto given, list_argument(c, "axes", 1));
    std::vector<int> axes;
    if (given.has_value() && !given->empty()) {
        SDX_ASSIGN(axes, c.axes(*given, rank));
    } else if (c.int_attribute("noop_with_empty_axes", 0) != 0) {
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
    if (!are_neighbours || (by_rows && r.view.inner != 1)) {
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
    SDX_ASSIGN(Reduction r, reduction(c, false));
    if (r.is_noop && std::is_same_v<Op, ReduceSum>) {
        c.set_output(0, r.data);  // the others apply their function to each element (version 18)
        return {};
    }
    return for_each_result(c, list, r,
                           [](const auto* in, const AxisView& view, auto* out, int64_t begin,
                              int64_t end) { reduce_elements<Op>(in, view, out, begin, end); });
}

// --- Along one axis ------------------------------------------------------------------------------

// Where y stands in a row of n elements first, or last; NaN stands for any NaN. 0: nowhere.
template <typename T, typename V>
[[gnu::always_inline]] inline int64_t place_in_row(const T* row, int64_t n, V y, bool last) {
    constexpr int64_t kPiece = 1024;
    bool is_nan = y != y;
    int64_t place = -1;
    for (int64_t i = 0; i < n && (place < 0 || last); i += kPiece) {
        auto count = static_cast<int32_t>(std::min(kPiece, n - i));
        // How far a match is from the end that does not count.
        int32_t farthest = -1;
        for (int32_t k = 0; k < count; ++k) {
            V x = static_cast<V>(row[i + k]);
            bool is_match = (x == y) | (is_nan & (x != x));
            int32_t distance = last ? k : count - 1 - k;
            farthest = std::max(farthest, is_match ? distance : -1);
        }
        if (farthest >= 0) {
            place = i + (last ? farthest : count - 1 - farthest);
        }
    }
    return std::max<int64_t>(place, 0);
}

template <bool is_max, typename T>
[[gnu::always_inline]] inline void find_in_rows(const T* in, int64_t n, bool last, int64_t* out,
                                                int64_t begin, int64_t end) {
    using V = Compute<T>;
    using Op = ReduceExtreme<is_max>;
    for (int64_t first = begin; first < end; first += kFoldRows) {
        int64_t count = std::min(kFoldRows, end - first);
        V best[kFoldRows];
        fold_rows(in + first * n, n, count, Op::template start<T>(), Op::template step<V, T>,
                  Op::template join<V, T>, best);
        for (int64_t r = 0; r < count; ++r) {
            out[first + r] = place_in_row(in + (first + r) * n, n, best[r], last);
        }
    }
}

template <bool is_max, typename T>
[[gnu::always_inline]] inline void find_in_columns(const T* in, const AxisView& view, bool last,
                                                   int64_t* out, int64_t begin, int64_t end) {
    using V = Compute<T>;
    constexpr int64_t kPiece = int64_t{1} << 30;  // places within one have 32 bits
    for_each_columns(view, begin, end, [&](int64_t first, int64_t start, int64_t count) {
        V best[kColumns];
        const T* row = in + start;
        for (int64_t j = 0; j < count; ++j) {
            best[j] = static_cast<V>(row[j]);
            out[first + j] = 0;
        }
        for (int64_t base = 0; base < view.n; base += kPiece) {
            auto steps = static_cast<int32_t>(std::min(kPiece, view.n - base));
            int32_t places[kColumns];
            std::fill(places, places + count, -1);
            for (int32_t k = 0; k < steps; ++k, row += view.inner) {
                for (int64_t j = 0; j < count; ++j) {
                    V x = static_cast<V>(row[j]);
                    bool is_better =
                        (is_max ? x > best[j] : x < best[j]) | ((x != x) & (best[j] == best[j]));
                    bool is_taken = is_better | (last & (x == best[j]));
                    best[j] = is_taken ? x : best[j];
                    places[j] = is_taken ? k : places[j];
                }
            }
            for (int64_t j = 0; j < count; ++j) {
                out[first + j] = places[j] < 0 ? out[first + j] : base + places[j];
            }
        }
    });
}

// Places along the middle axis of in[outer, n, inner]; NaN is the greatest and the least.
template <bool is_max, typename T>
SDX_CLONES void find_extremes(const T* in, const AxisView& view, bool last, int64_t* out,
                              int64_t begin, int64_t end) {
    if (view.inner == 1) {
        find_in_rows<is_max>(in, view.n, last, out, begin, end);
    } else {
        find_in_columns<is_max>(in, view, last, out, begin, end);
    }
}

template <bool is_max>
Status arg_extreme(KernelContext& c) {
    const Tensor& source = c.tensor(0);
    SDX_ASSIGN(int axis, c.axis(c.int_attribute("axis"), source.rank()));
    bool last = c.int_attribute("select_last_index", 0) != 0;
    AxisView view = axis_view(source.dims(), axis);
    if (view.n == 0) {
        return Error{fmt::format("axis {} is empty: there is nothing to choose from", axis)};
    }
    SDX_ASSIGN(Tensor * out,
               c.output(0, ElementType::kInt64,
                        kept_dims(source.dims(), {axis}, c.int_attribute("keepdims") != 0)));
    return visit(Numbers{}, source.element_type(), [&]<typename T>() -> Status {
        const T* in = source.elements<T>().data();
        int64_t* result = out->mutable_elements<int64_t>().data();
        parallel_for(c.threads(), out->count(), items_per_task(view.n),
                     [&](int64_t begin, int64_t end) {
                         find_extremes<is_max>(in, view, last, result, begin, end);
                     });
        return {};
    });
}

// Lines [begin, end) along the middle axis of in[outer, n, inner].
template <typename Combine, typename T>
SDX_CLONES void cumulate_lines(const T* in, const AxisView& view, bool is_exclusive,
                               bool is_reversed, const Workers& threads, T* out, int64_t begin,
                               int64_t end) {
    using W = std::conditional_t<std::is_floating_point_v<Compute<T>>, Compute<T>, Wrapping<T>>;
    for_each_columns(view, begin, end, [&](int64_t, int64_t start, int64_t count) {
        W totals[kColumns];
        std::fill(totals, totals + count, static_cast<W>(Combine::kNeutral));
        int64_t steps = std::max<int64_t>(1, kPolled / count);
        for (int64_t first = 0; first < view.n; first += steps) {
            if (first > 0 && threads.poll()) {
                return;
            }
            int64_t last = std::min(view.n, first + steps);
            for (int64_t step = first; step < last; ++step) {
                int64_t row = start + (is_reversed ? view.n - 1 - step : step) * view.inner;
                for (int64_t j = 0; j < count; ++j) {
                    W next = Combine::apply(totals[j],
                                            static_cast<W>(static_cast<Compute<T>>(in[row + j])));
                    out[row + j] = static_cast<T>(is_exclusive ? totals[j] : next);
                    totals[j] = next;
                }
            }
        }
    });
}

struct Summing {
    static constexpr int kNeutral = 0;
    template <typename W>
    static W apply(W a, W b) {
        return a + b;
    }
};
struct Multiplying {
    static constexpr int kNeutral = 1;
    template <typename W>
    static W apply(W a, W b) {
        return a * b;
    }
};

template <typename Combine>
Status cumulate(KernelContext& c) {
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
        const T* in = source.elements<T>().data();
        T* result = out->mutable_elements<T>().data();
        parallel_for(c.threads(), view.outer * view.inner, items_per_task(view.n),
                     [&](int64_t begin, int64_t end) {
                         cumulate_lines<Combine>(in, view, is_exclusive, is_reversed, c.threads(),
                                                 result, begin, end);
                     });
        return {};
    });
}

// --- TopK ----------------------------------------------------------------------------------------

// The order of TopK as whole numbers, of which the least come first: by value, NaN as the greatest
// of all, then by the lower index.
template <typename V>
struct TopKey {
    static constexpr bool kIsShort = sizeof(V) <= 4;
    using Bits = std::conditional_t<kIsShort, uint32_t, uint64_t>;
    using Key = std::conditional_t<kIsShort, uint64_t, unsigned __int128>;
    static constexpr int kIndexBits = kIsShort ? 32 : 64;

    // Numbers in the order of the values.
    static Bits ordered(V x) {
        if constexpr (std::is_floating_point_v<V>) {
            constexpr Bits kSign = Bits{1} << (8 * sizeof(V) - 1);
            auto bits = std::bit_cast<Bits>(x + V(0));  // -0.0 is 0.0
            Bits number = (bits & kSign) != 0 ? ~bits : bits | kSign;
            return x == x ? number : ~Bits{0};
        } else if constexpr (std::is_signed_v<V>) {
            return static_cast<Bits>(x) ^ Bits { 1 } << (8 * sizeof(Bits) - 1);
        } else {
            return static_cast<Bits>(x);
        }
    }
    static Key make(V x, int64_t index, bool largest) {
        Bits bits = ordered(x);
        return static_cast<Key>(largest ? static_cast<Bits>(~bits) : bits) << kIndexBits |
               static_cast<Key>(static_cast<uint64_t>(index));
    }
    static int64_t index(Key key) {
        return static_cast<int64_t>(kIsShort ? static_cast<uint64_t>(key) & 0xffffffff
                                             : static_cast<uint64_t>(key));
    }
};

// The first k keys, sorted; no two are equal. When the run shall end, any k of them.
template <typename Key>
void choose_first(const Workers& threads, Key* keys, int64_t n, int64_t k) {
    constexpr int64_t kWhole = 1 << 19;  // keys that are chosen from within milliseconds
    if (n <= kWhole && 4 * k < n) {
        std::partial_sort(keys, keys + k, keys + n);
        return;
    }
    if (4 * k < n) {
        // The same, k keys as a heap whose first is the greatest.
        std::make_heap(keys, keys + k);
        in_turns(threads, k > 0 ? n - k : 0, kPolled, [&](int64_t begin, int64_t end) {
            for (Key* key = keys + k + begin; key < keys + k + end; ++key) {
                if (*key < keys[0]) {
                    std::pop_heap(keys, keys + k);
                    std::swap(*key, keys[k - 1]);
                    std::push_heap(keys, keys + k);
                }
            }
        });
    } else if (k < n && n <= kWhole) {
        std::nth_element(keys, keys + k, keys + n);
    } else {
        sort_in_turns(threads, keys, n, std::less<>());
        return;
    }
    sort_in_turns(threads, keys, k, std::less<>());
}

struct TopOptions {
    int64_t k = 0;
    bool largest = true;
};

template <typename T>
SDX_CLONES void make_keys(const T* in, int64_t n, int64_t first, bool largest,
                          typename TopKey<Compute<T>>::Key* keys) {
    for (int64_t i = 0; i < n; ++i) {
        keys[i] = TopKey<Compute<T>>::make(static_cast<Compute<T>>(in[i]), first + i, largest);
    }
}

// Lines [begin, end) along the middle axis of in[outer, n, inner]; some neighbours at a time, since
// they lie in the same lines of the cache.
template <typename T>
void choose_lines(const T* in, const AxisView& view, const TopOptions& options,
                  const Workers& threads, T* values, int64_t* places, int64_t begin, int64_t end) {
    using Order = TopKey<Compute<T>>;
    using Key = typename Order::Key;
    constexpr int64_t kNeighbours = 16;
    int64_t lines = std::min(kNeighbours, view.inner);
    Scratch<Key> keys(lines * view.n);
    for (int64_t line = begin; line < end;) {
        int64_t outer = line / view.inner, column = line % view.inner;
        int64_t count = std::min({lines, end - line, view.inner - column});
        const T* start = in + outer * view.n * view.inner + column;
        bool goes_on = in_turns(threads, view.n, kPolled / count, [&](int64_t first, int64_t last) {
            if (view.inner == 1) {
                make_keys(start + first, last - first, first, options.largest, keys.data() + first);
            }
            for (int64_t i = first; view.inner > 1 && i < last; ++i) {
                for (int64_t j = 0; j < count; ++j) {
                    keys.data()[j * view.n + i] = Order::make(
                        static_cast<Compute<T>>(start[i * view.inner + j]), i, options.largest);
                }
            }
        });
        if (!goes_on) {
            return;
        }
        for (int64_t j = 0; j < count; ++j) {
            Key* chosen = keys.data() + j * view.n;
            choose_first(threads, chosen, view.n, options.k);
            in_turns(threads, options.k, kPolled, [&](int64_t first, int64_t last) {
                for (int64_t i = first; i < last; ++i) {
                    int64_t index = Order::index(chosen[i]);
                    int64_t at = (outer * options.k + i) * view.inner + column + j;
                    values[at] = start[index * view.inner + j];
                    places[at] = index;
                }
            });
        }
        line += count;
    }
}

Result<int64_t> top_count(KernelContext& c, int64_t n) {
    int64_t k = c.int_attribute("k");
    if (c.version() >= 10) {
        SDX_ASSIGN(k, c.int_scalar(1));
        if (c.tensor(1).rank() != 1) {
            return Error{fmt::format("input 1 (`K`) must have rank 1, not {}: write `[{}]`",
                                     c.tensor(1).rank(), k)};
        }
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
SDX_REDUCE(reduce_mean, ReduceMean)
SDX_REDUCE(reduce_prod, ReduceProd)
SDX_REDUCE(reduce_sum, ReduceSum)
SDX_REDUCE(reduce_sum_square, ReduceSumSquare)
#undef SDX_REDUCE

Status reduce_log_sum_exp(KernelContext& c) {
    SDX_ASSIGN(Reduction r, reduction(c, true));
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

Status arg_max(KernelContext& c) {
    return arg_extreme<true>(c);
}
Status arg_min(KernelContext& c) {
    return arg_extreme<false>(c);
}

Status cum_sum(KernelContext& c) {
    return cumulate<Summing>(c);
}
Status cum_prod(KernelContext& c) {
    return cumulate<Multiplying>(c);
}

Status top_k(KernelContext& c) {
    const Tensor& source = c.tensor(0);
    SDX_ASSIGN(int axis, c.axis(c.int_attribute("axis"), source.rank()));
    AxisView view = axis_view(source.dims(), axis);
    SDX_ASSIGN(int64_t k, top_count(c, view.n));
    if (view.n > INT32_MAX) {
        return Error{
            fmt::format("an axis of {} elements is too long to be sorted: choose among "
                        "parts of it, and then among what they give",
                        view.n)};
    }
    bool largest = c.int_attribute("largest", 1) != 0;
    Dims dims = source.dims();
    dims[axis] = k;
    SDX_ASSIGN(Tensor * values, c.output(0, source.element_type(), dims));
    SDX_ASSIGN(Tensor * indices, c.output(1, ElementType::kInt64, dims));
    if (values->count() == 0) {
        return {};
    }
    return visit(Numbers{}, source.element_type(), [&]<typename T>() -> Status {
        const T* in = source.elements<T>().data();
        T* chosen = values->mutable_elements<T>().data();
        int64_t* places = indices->mutable_elements<int64_t>().data();
        parallel_for(
            c.threads(), view.outer * view.inner, items_per_task(8 * view.n),
            [&](int64_t begin, int64_t end) {
                choose_lines(in, view, {k, largest}, c.threads(), chosen, places, begin, end);
            });
        return {};
    });
}

}  // namespace kernels
}  // namespace sardonyx::eval
