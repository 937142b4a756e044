#include "eval/loops/channels_last.h"

#include <algorithm>

#include "eval/loops/strided.h"

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

namespace {

// A copy whose axes have the order that `ordered` gives to dimensions, and to strides.
Tensor reordered(const Tensor& tensor, Dims (*ordered)(Dims), const Workers& threads) {
    Tensor out = Tensor::uninitialized(tensor.element_type(), ordered(tensor.dims()));
    copy_strided(threads, tensor, {0, ordered(row_major_strides(tensor.dims()))}, out,
                 {0, row_major_strides(out.dims())}, out.dims());
    return out;
}

}  // namespace

Tensor with_channels_last(const Tensor& tensor, const Workers& threads) {
    return reordered(tensor, channels_last_dims, threads);
}

Tensor with_channels_first(const Tensor& tensor, const Workers& threads) {
    return reordered(tensor, channels_first_dims, threads);
}

}  // namespace sardonyx::eval
