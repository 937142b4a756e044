// Kernels of standard operators that kernels of other domains call.
#pragma once

#include "eval/operators/kernel.h"

namespace sardonyx::eval::kernels {

Status add(KernelContext& c);
Status attention(KernelContext& c);
Status concat(KernelContext& c);
Status dequantize_linear(KernelContext& c);
Status gelu(KernelContext& c);
Status layer_normalization(KernelContext& c);
Status leaky_relu(KernelContext& c);
Status multiply(KernelContext& c);
Status quantize_linear(KernelContext& c);
Status reduce_mean(KernelContext& c);
Status rms_normalization(KernelContext& c);
Status sigmoid(KernelContext& c);

}  // namespace sardonyx::eval::kernels
