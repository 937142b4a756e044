// Where MaxRoiPool finds its elements, for its derivative.
#pragma once

#include "eval/operators/kernel.h"

namespace sardonyx::eval::kernels {

// The first of the greatest elements of each bin, INT64 with the shape of the result: its place in
// the input in row-major order, counted from 1; 0 for a bin without elements.
Result<Tensor> max_roi_places(const KernelContext& c);

}  // namespace sardonyx::eval::kernels
