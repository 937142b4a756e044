// The library oneDNN, where it is installed: products of matrices, and convolutions that it
// compiles for their shapes. It is loaded by the first call and works on the calling thread alone,
// so that results do not depend on the number of threads. Without it every call says so by its
// result, and the caller has a loop of its own.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "eval/loops/gemm.h"

namespace sardonyx::eval {

// c += a * b; false: not done.
bool multiply_by_onednn(const MatrixProduct<float>& product);

// A convolution of one picture along two axes. Channels are innermost in the picture, [height,
// width, in_channels], and in the sums, [height, width, out_channels]. It is of floats, or of uint8
// with weights of int8, whose sums are int32 and exact but for wrapping.
struct PictureConvolution {
    bool of_bytes = false;
    bool is_depthwise = false;  // each output channel sees the input channel of its number alone
    int64_t in_channels = 0;
    int64_t out_channels = 0;
    std::array<int64_t, 2> in{};            // height and width
    std::array<int64_t, 2> begin{}, end{};  // of zeros around the picture
    std::array<int64_t, 2> kernel{};
    std::array<int64_t, 2> strides{};
    std::array<int64_t, 2> dilations{};
    std::array<int64_t, 2> out{};
    // Of the weights in elements; those of one channel of each side are contiguous.
    int64_t out_step = 0;
    int64_t in_step = 0;
};

// One that is compiled, with its weights in the order that it wants.
class CompiledConvolution {
  public:
    virtual ~CompiledConvolution() = default;
    // Pictures and sums as above. Several threads may run it at once.
    virtual void run(const void* picture, void* sums) const = 0;
};

// `weights` is read here and not after. `like`, which may be null, is one with the same weights,
// whose storage serves this one too where both want them in the same order. Null: the library is
// missing, or has no fast and exact code for this on this processor.
std::shared_ptr<const CompiledConvolution> compile_convolution(const PictureConvolution& shape,
                                                               const void* weights,
                                                               const CompiledConvolution* like);

}  // namespace sardonyx::eval
