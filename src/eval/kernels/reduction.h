// The reduction driver: any set of axes becomes rows of one contiguous run each.
#pragma once

#include <cstdint>

#include "eval/kernel.h"

namespace sardonyx::eval {

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

// Joins the lanes of a vector, a power of two, by halves.
template <int kLanes, typename A, typename Join>
[[gnu::always_inline]] inline A join_lanes(A* lanes, const Join& join) {
    for (int half = kLanes / 2; half > 0; half /= 2) {
        for (int k = 0; k < half; ++k) {
            lanes[k] = join(lanes[k], lanes[k + half]);
        }
    }
    return lanes[0];
}

// The sum of a row, in the accumulator's type and in an order that does not depend on anything
// else.
template <typename A, typename T, typename Map>
[[gnu::always_inline]] inline A sum_row(const T* row, int64_t n, Map map) {
    // Several partial sums, so that the additions can overlap.
    constexpr int kLanes = 16;
    A lanes[kLanes] = {};
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
        for (int k = 0; k < kLanes; ++k) {
            lanes[k] += map(row[i + k]);
        }
    }
    A total = {};
    for (; i < n; ++i) {
        total += map(row[i]);
    }
    return total + join_lanes<kLanes>(lanes, [](A a, A b) { return a + b; });
}

}  // namespace sardonyx::eval
