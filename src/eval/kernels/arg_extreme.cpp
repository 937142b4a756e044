// ArgMax, ArgMin.
#include <algorithm>

#include <fmt/format.h>

#include "eval/loops/clones.h"
#include "eval/loops/reduction.h"
#include "eval/loops/strided.h"
#include "eval/loops/visit.h"
#include "eval/operators/kernel.h"

namespace sardonyx::eval::kernels {
namespace {

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

// The same for `count` <= kFoldRows rows, a vector for each place in them; `best` has kFoldRows.
template <typename T, typename V>
[[gnu::always_inline]] inline void places_in_short_rows(const T* in, int64_t n, int64_t count,
                                                        const V* best, bool last, int64_t* out) {
    int32_t places[kFoldRows] = {};
    for (int64_t step = 0; step < n; ++step) {
        int64_t k = last ? step : n - 1 - step;
        auto place = static_cast<int32_t>(k);
        T column[kFoldRows] = {};
        for (int64_t r = 0; r < count; ++r) {
            column[r] = in[r * n + k];
        }
        SDX_ROLLED_LOOP
        for (int64_t r = 0; r < kFoldRows; ++r) {
            V x = static_cast<V>(column[r]);
            V y = best[r];
            bool is_match = (x == y) | ((y != y) & (x != x));
            places[r] = is_match ? place : places[r];
        }
    }
    std::copy(places, places + count, out);
}

template <bool is_max, typename T>
[[gnu::always_inline]] inline void find_in_rows(const T* in, int64_t n, bool last, int64_t* out,
                                                int64_t begin, int64_t end) {
    using V = Compute<T>;
    using Op = ReduceExtreme<is_max>;
    for (int64_t first = begin; first < end; first += kFoldRows) {
        int64_t count = std::min(kFoldRows, end - first);
        V best[kFoldRows] = {};
        // As objects, since a loop calls functions that are arguments by their addresses.
        fold_rows(
            in + first * n, n, count, Op::template start<T>(),
            [](V a, T x) { return Op::template step<V, T>(a, x); },
            [](V a, V b) { return Op::template join<V, T>(a, b); }, best);
        if (n <= kFoldLanes / 2) {
            places_in_short_rows(in + first * n, n, count, best, last, out + first);
            continue;
        }
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
        V best[kColumnsAtOnce];
        const T* row = in + start;
        for (int64_t j = 0; j < count; ++j) {
            best[j] = static_cast<V>(row[j]);
            out[first + j] = 0;
        }
        for (int64_t base = 0; base < view.n; base += kPiece) {
            auto steps = static_cast<int32_t>(std::min(kPiece, view.n - base));
            int32_t places[kColumnsAtOnce];
            std::fill(places, places + count, -1);
            for (int32_t k = 0; k < steps; ++k, row += view.inner) {
                for (int64_t j = 0; j < count; ++j) {
                    V x = static_cast<V>(row[j]);
                    bool is_better =
                        (is_max ? x > best[j] : x < best[j]) | ((x != x) & (best[j] == best[j]));
                    bool is_same = (x == best[j]) | ((x != x) & (best[j] != best[j]));
                    bool is_taken = is_better | (last & is_same);
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
[[gnu::always_inline]] inline void find_in_lines(const T* in, const AxisView& view, bool last,
                                                 int64_t* out, int64_t begin, int64_t end) {
    if (view.inner == 1) {
        find_in_rows<is_max>(in, view.n, last, out, begin, end);
    } else {
        find_in_columns<is_max>(in, view, last, out, begin, end);
    }
}
// Clones for floats alone, which nearly all callers have: those of the other eleven types would
// take ten seconds to compile.
template <bool is_max>
SDX_CLONES void find_extremes(const float* in, const AxisView& view, bool last, int64_t* out,
                              int64_t begin, int64_t end) {
    find_in_lines<is_max>(in, view, last, out, begin, end);
}
template <bool is_max, typename T>
void find_extremes(const T* in, const AxisView& view, bool last, int64_t* out, int64_t begin,
                   int64_t end) {
    find_in_lines<is_max>(in, view, last, out, begin, end);
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

}  // namespace

Status arg_max(KernelContext& c) {
    return arg_extreme<true>(c);
}
Status arg_min(KernelContext& c) {
    return arg_extreme<false>(c);
}

}  // namespace sardonyx::eval::kernels
