// Tensors whose channels are innermost, [n, place ..., channel], in place of ONNX's order, which is
// [n, channel, place ...]. Of two axes and more.
#pragma once

#include "eval/operators/kernel.h"

namespace sardonyx::eval {

// The shape of the same tensor in the other order.
Dims channels_last_dims(Dims dims);
Dims channels_first_dims(Dims dims);
// The shape of input `i` in the order of ONNX, whatever order it has.
Dims onnx_dims(const KernelContext& c, size_t i);

// The same tensor in the other order; elements of 8 bits and more.
Tensor with_channels_last(const Tensor& tensor, const Workers& threads);
Tensor with_channels_first(const Tensor& tensor, const Workers& threads);

}  // namespace sardonyx::eval
