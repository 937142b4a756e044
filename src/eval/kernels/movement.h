// Moving whole tensors, for operators of other files (sequences, recurrences).
#pragma once

#include <span>

#include "eval/operators/kernel.h"

namespace sardonyx::eval {

// At least one part, all of one element type of no less than 8 bits.
Result<Tensor> concat(const KernelContext& c, std::span<const Tensor> parts, int64_t axis);
// Elements [start, start + count) along an axis; they must be there.
Result<Tensor> part_of_axis(const KernelContext& c, const Tensor& source, int axis, int64_t start,
                            int64_t count);

}  // namespace sardonyx::eval
