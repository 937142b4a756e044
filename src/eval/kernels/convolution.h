// What a convolution is, and two fast ways to it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "eval/kernels/onednn.h"
#include "eval/kernels/window.h"

namespace sardonyx::eval {

struct ConvShape {
    WindowGeometry windows;
    int64_t batch = 0;
    int64_t groups = 1;
    int64_t in_channels = 0;   // of one group
    int64_t out_channels = 0;  // of one group
    Dims result;

    bool operator==(const ConvShape&) const = default;
};

// Where each output sees few channels of the input, as in depthwise convolutions and those of
// pictures: sums over the runs of flat_windows.h. out[n, channel, window] = start[channel] + the
// sum over the window; `start` may be null: zeros. False: there are too many channels, nothing is
// done.
template <typename S>
bool convolve_flat(const ConvShape& shape, const S* x, const S* w, const S* start, int threads,
                   S* out);

// Where the weights are constants of a plan: blocks of a picture are laid out with channels
// innermost and with their padding, and oneDNN convolves them with weights that it has prepared
// (onednn.h).
// In: float or uint8_t, with sums of float or int32_t and weights of float or int8_t.
template <typename In>
class DirectConvolution {
  public:
    using Sum = std::conditional_t<std::is_same_v<In, float>, float, int32_t>;
    using Weight = std::conditional_t<std::is_same_v<In, float>, float, int8_t>;

    // Weights are [groups * out_channels, in_channels, kernel...]. The result may be unusable:
    // where oneDNN is missing or has nothing faster than products with columns.
    DirectConvolution(const ConvShape& shape, const Weight* weights);

    bool is_usable() const { return !pieces_.empty(); }
    const ConvShape& shape() const { return shape_; }
    // out[n, channel, window] = start[channel] + the sum over the window, beyond the picture of
    // `padding`. `start` may be null: zeros.
    void run(const In* x, In padding, const Sum* start, int threads, Sum* out) const;

  private:
    // The piece of the work that one task does.
    struct Block {
        int64_t picture;  // batch and group
        int64_t first;    // along the axis that is cut
        int64_t skip;     // so many places were done by the block before
        int64_t piece;
    };

    bool cut();
    void fill_picture(const In* planes, const Block& block, In padding, In* picture) const;
    void run_block(const In* x, const Block& block, In padding, const Sum* start, Sum* out) const;

    ConvShape shape_;
    PictureConvolution block_;                       // one block
    std::array<int64_t, 2> in_{}, out_{}, begin_{};  // of the whole picture; padding
    size_t cut_axis_ = 0;
    int64_t block_count_ = 1;
    int64_t piece_count_ = 1;                                         // of the channels of a group
    std::vector<std::shared_ptr<const CompiledConvolution>> pieces_;  // [group, piece]
};

}  // namespace sardonyx::eval
