// What a convolution is, and two fast ways to it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "eval/loops/matmul.h"
#include "eval/loops/onednn.h"
#include "eval/loops/window.h"

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
bool convolve_flat(const ConvShape& shape, const S* x, const S* w, const S* start,
                   const Workers& threads, S* out);

// Where the weights are constants of a plan: oneDNN convolves blocks of a picture with channels
// innermost, with weights that it has prepared (onednn.h).
struct DirectLayout {
    // Channels are innermost in x, [n, place, channel], and in the result; else they are planes,
    // [n, channel, place], which are brought into that order block by block.
    bool is_last_in_x = false;
    bool is_last_in_out = false;
    // Of the weights, in elements.
    int64_t out_step = 0;
    int64_t in_step = 0;
};
// Of weights [groups * out_channels, in_channels, kernel ...].
DirectLayout direct_layout(const ConvShape& shape, bool is_last_in_x, bool is_last_in_out);
// The product of matrices [m, k] x [k, n] is a convolution too, of m places with channels
// innermost.
ConvShape matrix_shape(int64_t m, int64_t k, int64_t n);

// In: float or uint8_t, with sums of float or int32_t and weights of float or int8_t.
template <typename In>
class DirectConvolution {
  public:
    using Sum = std::conditional_t<std::is_same_v<In, float>, float, int32_t>;
    using Weight = std::conditional_t<std::is_same_v<In, float>, float, int8_t>;

    // The result may be unusable: where oneDNN is missing or has nothing faster than plain
    // products, and for groups of several channels with channels innermost.
    DirectConvolution(const ConvShape& shape, const Weight* weights, DirectLayout layout);

    bool is_usable() const { return !pieces_.empty(); }
    const ConvShape& shape() const { return shape_; }
    // out[n, channel, window] = start[channel] + the sum over the window, beyond the picture of
    // `padding`, which is 0 for floats. `start` may be null: zeros.
    void run(const In* x, In padding, const Sum* start, const Workers& threads, Sum* out) const;

  private:
    // The piece of the work that one task does.
    struct Block {
        int64_t picture;  // batch and group
        int64_t index;    // along the axis that is cut
        int64_t piece;
    };
    // What a block reads along an axis: places of the picture, and zeros around them.
    struct Side {
        int64_t origin, size;
        int64_t begin, end;
    };

    bool cut();
    void cut_channels(int64_t tasks);
    bool compile(const Weight* weights);
    // All blocks are of one size: the last one begins earlier.
    int64_t first_place(int64_t block) const {
        return std::min(block * block_.out[cut_axis_], out_[cut_axis_] - block_.out[cut_axis_]);
    }
    Side side_of(size_t axis, int64_t block) const;
    bool is_inside(const Side& side, size_t axis) const {
        return side.origin >= 0 && side.origin + side.size <= in_[axis];
    }
    // The same of pieces: of the last one, some channels are known.
    int64_t first_channel(int64_t piece) const {
        return std::min(piece * block_.out_channels, out_channels_ - block_.out_channels);
    }
    void copy_places(const In* x, int64_t picture, int64_t place, int64_t count, In* out) const;
    void fill_picture(const In* x, const Block& block, In padding, In* picture) const;
    void run_block(const In* x, const Block& block, In padding, const Sum* start, Sum* out) const;

    ConvShape shape_;
    DirectLayout layout_;
    // Of one picture; the groups of a depthwise convolution are channels of one.
    int64_t groups_ = 1, in_channels_ = 0, out_channels_ = 0;
    PictureConvolution block_;                       // one block in the middle of a picture
    std::array<int64_t, 2> in_{}, out_{}, begin_{};  // of the whole picture; padding
    size_t cut_axis_ = 0;
    int64_t block_count_ = 1;
    int64_t piece_count_ = 1;      // of the channels of a picture
    std::vector<size_t> variant_;  // of each block: by the zeros around it
    std::vector<std::shared_ptr<const CompiledConvolution>> pieces_;  // [variant, group, piece]
};

// The same of 8-bit codes less their zero points: of the weights, which are constants, one or one
// for each output channel, and of x, one. The sums are exact but for wrapping.
class ByteConvolution {
  public:
    // As above; `w` is INT8 or UINT8.
    ByteConvolution(const ConvShape& shape, const Tensor& w, std::span<const int64_t> zeros,
                    DirectLayout layout);

    bool is_usable() const { return direct_.has_value() && direct_->is_usable(); }
    const ConvShape& shape() const { return shape_; }
    // x is INT8 or UINT8, whatever w is; `zero` is a code of it.
    void run(const Tensor& x, int64_t zero, const Workers& threads, int32_t* out) const;

  private:
    void subtract_window_sums(const uint8_t* x, uint32_t zero, const Workers& threads,
                              int32_t* out) const;
    void subtract_row_sums(const uint8_t* x, uint32_t zero, const Workers& threads,
                           int32_t* out) const;

    ConvShape shape_;
    DirectLayout layout_;
    // The product of codes, of weights as int8.
    std::optional<DirectConvolution<uint8_t>> direct_;
    std::vector<uint32_t> sums_;   // of those weights, by output channel
    std::vector<uint32_t> zeros_;  // their zero points; empty if they are all 0
};

// The one of this call that is kept with the node. Null: there is none.
std::shared_ptr<const ByteConvolution> kept_byte_convolution(const KernelContext& c,
                                                             const ConvShape& shape, CodeInput x,
                                                             CodeInput w, DirectLayout layout);

namespace kernels {

// Of ConvTranspose: `in` of the windows is the spatial shape of the result, `out` that of x.
Result<ConvShape> transposed_shape(const KernelContext& c, const Dims& x, const Dims& w);

}  // namespace kernels
}  // namespace sardonyx::eval
