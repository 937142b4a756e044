// Tensors from integers of more than 64 bits, such as 2**64 - 1 of a script.
#pragma once

#include <span>

#include "base/int128.h"
#include "base/result.h"
#include "types/tensor.h"

namespace sardonyx {

// As tensor_from_int64s().
Result<Tensor> tensor_from_integers(ElementType type, Dims dims, std::span<const Int128> values);

}  // namespace sardonyx
