// Resize and Upsample as matrices, for their derivatives.
#pragma once

#include <vector>

#include "eval/operators/kernel.h"

namespace sardonyx::eval::kernels {

// The call as one product for each axis, DOUBLE [size of the result, size of the input]; not valid
// where the axis stays as it is. Rows of zeros are where the result has the extrapolation value.
// The input has elements.
Result<std::vector<Tensor>> resize_matrices(const KernelContext& c);

}  // namespace sardonyx::eval::kernels
