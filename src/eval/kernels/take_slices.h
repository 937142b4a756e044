// Slices of a tensor, by their places, one behind the other.
#pragma once

#include <span>

#include "eval/loops/strided.h"
#include "eval/operators/kernel.h"

namespace sardonyx::eval::kernels {

// Elements that make a task; so few are moved where they are.
inline constexpr int64_t kTaskMoves = 1 << 14;

// Runs of a tensor: `run` elements from outer * outer_step + at[p] * step on, for each p of each
// `outer`.
struct RunPlaces {
    int64_t outer = 1, outer_step = 0;
    std::span<const int64_t> at;
    int64_t step = 1, run = 1;
};

// The runs of `data`, one behind the other.
void take_runs(const Workers& threads, const Tensor& data, const RunPlaces& places, Tensor* out);

// The slices of `data` at these indices along the axis of `view`, one behind the other.
void take_slices(const Workers& threads, const Tensor& data, const AxisView& view,
                 std::span<const int64_t> indices, Tensor* out);

}  // namespace sardonyx::eval::kernels
