#include "eval/kernels/channels_last.h"

#include <algorithm>

#include "eval/kernels/strided.h"

namespace sardonyx::eval {

Dims channels_last_dims(Dims dims) {
    std::rotate(dims.begin() + 1, dims.begin() + 2, dims.end());
    return dims;
}

Dims channels_first_dims(Dims dims) {
    std::rotate(dims.begin() + 1, dims.end() - 1, dims.end());
    return dims;
}

Dims onnx_dims(const KernelContext& c, size_t i) {
    return c.is_channels_last(i) ? channels_first_dims(c.dims(i)) : c.dims(i);
}

Tensor with_channels_last(const Tensor& tensor, int threads) {
    Tensor out = Tensor::uninitialized(tensor.element_type(), channels_last_dims(tensor.dims()));
    copy_strided(threads, tensor, {0, channels_last_dims(row_major_strides(tensor.dims()))}, out,
                 {0, row_major_strides(out.dims())}, out.dims());
    return out;
}

Tensor with_channels_first(const Tensor& tensor, int threads) {
    Tensor out = Tensor::uninitialized(tensor.element_type(), channels_first_dims(tensor.dims()));
    copy_strided(threads, tensor, {0, channels_first_dims(row_major_strides(tensor.dims()))}, out,
                 {0, row_major_strides(out.dims())}, out.dims());
    return out;
}

}  // namespace sardonyx::eval
