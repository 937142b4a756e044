// Loops of reductions: any set of axes becomes rows of one contiguous run each, or columns.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <type_traits>
#include <vector>

#include "eval/loops/strided.h"
#include "eval/loops/visit.h"
#include "eval/operators/kernel.h"

namespace sardonyx::eval {

// The elements along these axes.
int64_t reduced_count(const Dims& dims, const std::vector<int>& axes);

// `dims` without these axes, which are sorted, or with 1 in their places.
Dims kept_dims(const Dims& dims, const std::vector<int>& axes, bool keepdims);

// A tensor whose reduced axes are gathered: row r is elements [r * n, (r + 1) * n) of `data`.
struct Rows {
    Tensor data;
    int64_t count = 0;
    int64_t n = 0;
    Dims kept;  // the result's dims, with 1 for each reduced axis where `keepdims`
};
Result<Rows> gather_rows(const KernelContext& c, const Tensor& source, const std::vector<int>& axes,
                         bool keepdims);

// Folds of rows: each row is cut into kFoldLanes lanes, element i into lane i % kFoldLanes, which
// are then joined in pairs of neighbours. So the steps of a row overlap, the order of its sums does
// not depend on anything else, and the lanes of many short rows are joined by loops that are long
// enough for vectors.
constexpr int kFoldLanes = 16;
constexpr int64_t kFoldRows = 16;

// The compiler would unroll a loop of so few steps, and then find no vectors in it.
#if defined(__clang__)
#define SDX_ROLLED_LOOP _Pragma("clang loop unroll(disable)")
#else
#define SDX_ROLLED_LOOP _Pragma("GCC unroll 1")
#endif

template <typename A, typename Join>
[[gnu::always_inline]] inline void join_pairs(const A* __restrict in, A* __restrict out, int64_t n,
                                              const Join& join) {
    SDX_ROLLED_LOOP
    for (int64_t k = 0; k < n; ++k) {
        out[k] = join(in[2 * k], in[2 * k + 1]);
    }
}

// The lanes of rows that follow each other, [row, lane]. Only with kAsks a row ends early when the
// run shall end: a loop that may is slower.
template <bool kAsks, typename A, typename T, typename Step>
[[gnu::always_inline]] inline void fold_lanes(const T* in, int64_t n, int64_t count, A start,
                                              const Step& step, A* lanes, const Workers* polled) {
    static_assert(kPolled % kFoldLanes == 0);
    for (int64_t r = 0; r < count; ++r) {
        const T* row = in + r * n;
        A folded[kFoldLanes];
        std::fill(folded, folded + kFoldLanes, start);
        int64_t i = 0;
        for (; i + kFoldLanes <= n; i += kFoldLanes) {
            if constexpr (kAsks) {
                if (i % kPolled == 0 && i > 0 && polled->poll()) {
                    break;
                }
            }
            SDX_ROLLED_LOOP
            for (int k = 0; k < kFoldLanes; ++k) {
                folded[k] = step(folded[k], row[i + k]);
            }
        }
        if (auto rest = static_cast<int>(std::min<int64_t>(n - i, kFoldLanes)); rest > 0) {
            SDX_ROLLED_LOOP
            for (int k = 0; k < kFoldLanes; ++k) {
                folded[k] = k < rest ? step(folded[k], row[i + k]) : folded[k];
            }
        }
        std::copy(folded, folded + kFoldLanes, lanes + r * kFoldLanes);
    }
}

// The same joins, where the second half of the lanes has no element: the scores of some classes.
// Lane k of all rows is one vector.
template <typename A, typename T, typename Step, typename Join>
[[gnu::always_inline]] inline void fold_short_rows(const T* in, int64_t n, int64_t count, A start,
                                                   const Step& step, const Join& join, A* results) {
    static_assert(kFoldLanes == 16, "the joins below");
    T columns[kFoldLanes / 2][kFoldRows] = {};
    for (int64_t r = 0; r < count; ++r) {
        SDX_ROLLED_LOOP
        for (int64_t k = 0; k < n; ++k) {
            columns[k][r] = in[r * n + k];
        }
    }
    A lanes[kFoldLanes / 2][kFoldRows];
    int64_t used = n <= kFoldLanes / 4 ? kFoldLanes / 4 : kFoldLanes / 2;
    for (int64_t k = 0; k < used; ++k) {
        if (k >= n) {
            std::fill(lanes[k], lanes[k] + kFoldRows, start);
            continue;
        }
        SDX_ROLLED_LOOP
        for (int64_t r = 0; r < kFoldRows; ++r) {
            lanes[k][r] = step(start, columns[k][r]);
        }
    }
    // One join for each loop: the compiler finds no vectors in a loop of several that branch.
    for (int64_t left = used / 2; left > 0; left /= 2) {
        for (int64_t k = 0; k < left; ++k) {
            SDX_ROLLED_LOOP
            for (int64_t r = 0; r < kFoldRows; ++r) {
                lanes[k][r] = join(lanes[2 * k][r], lanes[2 * k + 1][r]);
            }
        }
    }
    A two = join(start, start);
    A four = join(two, two);
    A eight = join(four, four);
    for (int64_t r = 0; r < count; ++r) {
        A first = used == kFoldLanes / 2 ? lanes[0][r] : join(lanes[0][r], four);
        results[r] = join(first, eight);
    }
}

// results[r] = what `start` and the n elements of row r come to, for `count` <= kFoldRows rows that
// follow each other: step(A, element) takes in an element, join(A, A) joins two lanes. With
// `polled` a long row ends early, with some result, when the run shall end.
template <typename A, typename T, typename Step, typename Join>
[[gnu::always_inline]] inline void fold_rows(const T* in, int64_t n, int64_t count, A start,
                                             const Step& step, const Join& join, A* results,
                                             const Workers* polled = nullptr) {
    if (n <= kFoldLanes / 2) {
        return fold_short_rows(in, n, count, start, step, join, results);
    }
    A lanes[kFoldRows * kFoldLanes];
    A halves[kFoldRows * kFoldLanes / 2];
    if (polled == nullptr || n <= kPolled) {
        fold_lanes<false>(in, n, count, start, step, lanes, polled);
    } else {
        fold_lanes<true>(in, n, count, start, step, lanes, polled);
    }
    static_assert(kFoldLanes == 16, "the goes below");
    join_pairs(lanes, halves, count * 8, join);
    join_pairs(halves, lanes, count * 4, join);
    join_pairs(lanes, halves, count * 2, join);
    join_pairs(halves, results, count, join);
}

// The sum of a row, in the accumulator's type.
template <typename A, typename T, typename Map>
[[gnu::always_inline]] inline A sum_row(const T* row, int64_t n, const Map& map,
                                        const Workers* polled = nullptr) {
    A sum;
    fold_rows(
        row, n, 1, A{}, [&](A a, T x) { return a + map(x); }, [](A a, A b) { return a + b; }, &sum,
        polled);
    return sum;
}

// Lines along the middle axis of [outer, n, inner], so many neighbours at a time that each step
// along the axis reads a good stretch of memory, and what is kept of them stays in the first cache.
// Calls body(first line, where it starts, how many).
constexpr int64_t kColumnsAtOnce = 256;
template <typename Body>
[[gnu::always_inline]] inline void for_each_columns(const AxisView& view, int64_t begin,
                                                    int64_t end, const Body& body) {
    for (int64_t first = begin; first < end;) {
        int64_t column = first % view.inner;
        int64_t count = std::min({kColumnsAtOnce, end - first, view.inner - column});
        body(first, first / view.inner * view.n * view.inner + column, count);
        first += count;
    }
}

// The greatest or the least, as what a fold does with its elements; NaN wins. Nothing gives the
// least or the greatest number of integers, and an infinity of floats.
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

}  // namespace sardonyx::eval
