#include <algorithm>
#include <type_traits>

#include "eval/kernels/clones.h"
#include "eval/kernels/convolution.h"
#include "eval/kernels/scratch.h"
#include "eval/kernels/strided.h"
#include "eval/kernels/transpose.h"
#include "eval/parallel.h"

namespace sardonyx::eval {
namespace {

template <typename T>
SDX_CLONES void transpose_planes(const T* in, int64_t in_step, int64_t rows, int64_t columns,
                                 T* out, int64_t out_step) {
    transpose<(sizeof(T) == 1 ? 16 : 8)>(in, in_step, rows, columns, out, out_step);
}

template <typename Sum>
SDX_CLONES void add_to_rows(Sum* sums, int64_t rows, int64_t columns, const Sum* addend) {
    using S = std::conditional_t<std::is_same_v<Sum, float>, float, uint32_t>;  // wraps
    for (int64_t i = 0; i < rows; ++i, sums += columns) {
        for (int64_t j = 0; j < columns; ++j) {
            sums[j] = static_cast<Sum>(static_cast<S>(sums[j]) + static_cast<S>(addend[j]));
        }
    }
}

// Two axes of windows: one axis, or one that has a single place, becomes the inner one, along which
// the library is at its best.
WindowGeometry two_axes(WindowGeometry g) {
    auto swap_or_add = [&](Dims& dims, int64_t single) {
        if (dims.size() == 1) {
            dims.insert(dims.begin(), single);
        } else {
            std::swap(dims[0], dims[1]);
        }
    };
    if (g.in.size() == 1 ||
        (g.in[1] == 1 && g.out[1] == 1 && g.kernel[1] == 1 && g.begin[1] == 0)) {
        for (Dims* dims : {&g.in, &g.out, &g.kernel, &g.strides, &g.dilations}) {
            swap_or_add(*dims, 1);
        }
        swap_or_add(g.begin, 0);
    }
    return g;
}

}  // namespace

ConvShape matrix_shape(int64_t m, int64_t k, int64_t n) {
    ConvShape shape;
    shape.windows = {{m}, {1}, {1}, {1}, {0}, {0}, {m}};
    shape.batch = 1;
    shape.in_channels = k;
    shape.out_channels = n;
    shape.result = {1, n, m};
    return shape;
}

template <typename In>
DirectConvolution<In>::DirectConvolution(const ConvShape& shape, const Weight* weights)
    : DirectConvolution(
          shape, weights,
          {false, shape.in_channels * shape.windows.kernel_count(), shape.windows.kernel_count()}) {
}

template <typename In>
DirectConvolution<In>::DirectConvolution(const ConvShape& shape, const Weight* weights,
                                         DirectLayout layout)
    : shape_(shape), layout_(layout) {
    if (!cut()) {
        return;
    }
    for (int64_t i = 0; i < shape.groups * piece_count_; ++i) {
        int64_t channel = i / piece_count_ * shape.out_channels + first_channel(i % piece_count_);
        auto compiled = compile_convolution(block_, weights + channel * layout.out_step);
        if (compiled == nullptr) {
            pieces_.clear();
            return;
        }
        pieces_.push_back(std::move(compiled));
    }
}

// Chooses the block. False: there is nothing to gain.
template <typename In>
bool DirectConvolution<In>::cut() {
    // A task should take some ten microseconds; a block should stay in the cache, and have
    // windows enough for all registers.
    constexpr int64_t kTask = std::is_same_v<In, float> ? 1 << 21 : 1 << 23;
    constexpr int64_t kMostTasks = 16;
    constexpr int64_t kBlockElements = 1 << 18;
    constexpr int64_t kFewWindows = 32;
    constexpr int64_t kFewChannels = 3;
    constexpr int64_t kChannels = 32;  // of a piece
    size_t rank = shape_.windows.in.size();
    if (rank < 1 || rank > 2 || shape_.in_channels < kFewChannels ||
        shape_.out_channels < kFewChannels || shape_.windows.in_count() == 0 ||
        product(shape_.result) == 0) {
        return false;
    }
    WindowGeometry g = two_axes(shape_.windows);
    int64_t windows = g.out_count();
    int64_t work = shape_.in_channels * shape_.out_channels * g.kernel_count() * windows;
    int64_t elements = shape_.in_channels * g.in_count() + shape_.out_channels * windows;
    int64_t pictures = shape_.batch * shape_.groups;
    int64_t tasks =
        std::max(std::min(work / kTask, kMostTasks) / pictures, elements / kBlockElements);
    cut_axis_ = g.out[0] > 1 ? 0 : 1;
    int64_t blocks =
        std::clamp<int64_t>(std::min(tasks, windows / kFewWindows), 1, g.out[cut_axis_]);
    block_.in_channels = shape_.in_channels;
    block_.out_channels = shape_.out_channels;
    block_.of_bytes = !std::is_same_v<In, float>;
    for (size_t d = 0; d < 2; ++d) {
        in_[d] = g.in[d];
        out_[d] = g.out[d];
        begin_[d] = g.begin[d];
        block_.kernel[d] = g.kernel[d];
        block_.strides[d] = g.strides[d];
        block_.dilations[d] = g.dilations[d];
        block_.out[d] = d == cut_axis_ ? (g.out[d] + blocks - 1) / blocks : g.out[d];
        block_.in[d] = (block_.out[d] - 1) * g.strides[d] + g.extent(d);
    }
    block_count_ = (g.out[cut_axis_] + block_.out[cut_axis_] - 1) / block_.out[cut_axis_];
    int64_t pieces = std::min(tasks / block_count_, shape_.out_channels / kChannels);
    if (pieces > 1) {
        block_.out_channels =
            (shape_.out_channels / pieces + kChannels - 1) / kChannels * kChannels;
        piece_count_ = (shape_.out_channels + block_.out_channels - 1) / block_.out_channels;
    }
    block_.in_step = layout_.in_step;
    block_.out_step = layout_.out_step;
    return true;
}

// picture[y, x, channel] of the windows of a block.
template <typename In>
void DirectConvolution<In>::fill_picture(const In* planes, const Block& block, In padding,
                                         In* picture) const {
    int64_t channels = shape_.in_channels;
    int64_t plane = in_[0] * in_[1];
    std::array<int64_t, 2> origin = {-begin_[0], -begin_[1]};
    origin[cut_axis_] += block.first * block_.strides[cut_axis_];
    int64_t width = block_.in[1];
    int64_t from = std::clamp<int64_t>(-origin[1], 0, width);
    int64_t to = std::clamp<int64_t>(in_[1] - origin[1], from, width);
    for (int64_t y = 0; y < block_.in[0]; ++y, picture += width * channels) {
        int64_t row = origin[0] + y;
        if (row < 0 || row >= in_[0]) {
            std::fill_n(picture, width * channels, padding);
            continue;
        }
        std::fill_n(picture, from * channels, padding);
        transpose_planes(planes + row * in_[1] + origin[1] + from, plane, channels, to - from,
                         picture + from * channels, channels);
        std::fill_n(picture + to * channels, (width - to) * channels, padding);
    }
}

template <typename In>
void DirectConvolution<In>::run_block(const In* x, const Block& block, In padding, const Sum* start,
                                      Sum* out) const {
    int64_t group = block.picture % shape_.groups;
    int64_t channels = block_.out_channels;
    int64_t windows = out_[0] * out_[1];
    int64_t line = cut_axis_ == 0 ? out_[1] : 1;  // windows of one place along the cut axis
    int64_t count = block_.out[0] * block_.out[1];
    Scratch<In> picture(block_.in[0] * block_.in[1] * shape_.in_channels);
    Scratch<Sum> sums_room(count * channels);
    Sum* sums = sums_room.data();
    fill_picture(x + block.picture * shape_.in_channels * in_[0] * in_[1], block, padding,
                 picture.data());
    pieces_[group * piece_count_ + block.piece]->run(picture.data(), sums);
    int64_t done = block.skip * line;
    sums += done * channels;
    count -= done;
    int64_t channel = first_channel(block.piece);
    if (start != nullptr) {
        add_to_rows(sums, count, channels, start + group * shape_.out_channels + channel);
    }
    int64_t known = block.piece * channels - channel;
    int64_t plane = block.picture * shape_.out_channels + channel + known;
    transpose_planes(sums + known, channels, count, channels - known,
                     out + plane * windows + block.first * line + done, windows);
}

// The same for rows, which are pictures and sums as they are.
template <typename In>
void DirectConvolution<In>::run_rows(const In* x, const Block& block, const Sum* start,
                                     Sum* out) const {
    int64_t channels = block_.out_channels, width = shape_.out_channels;
    int64_t size = block_.out[1];
    bool is_whole = piece_count_ == 1 && block.skip == 0;
    Scratch<Sum> room(is_whole ? 0 : size * channels);
    Sum* sums = is_whole ? out + block.first * width : room.data();
    pieces_[block.piece]->run(x + block.first * shape_.in_channels, sums);
    int64_t channel = first_channel(block.piece);
    if (start != nullptr) {
        add_to_rows(sums, size, channels, start + channel);
    }
    int64_t known = block.piece * channels - channel;
    for (int64_t i = block.skip; i < size && !is_whole; ++i) {
        std::copy_n(sums + i * channels + known, channels - known,
                    out + (block.first + i) * width + channel + known);
    }
}

template <typename In>
void DirectConvolution<In>::run(const In* x, In padding, const Sum* start, int threads,
                                Sum* out) const {
    int64_t size = block_.out[cut_axis_];
    int64_t tasks = shape_.batch * shape_.groups * block_count_ * piece_count_;
    parallel_for(threads, tasks, 1, [&](int64_t task, int64_t) {
        Block block{};
        block.piece = task % piece_count_;
        int64_t index = task / piece_count_ % block_count_;
        block.picture = task / piece_count_ / block_count_;
        // All blocks are of one size: the last one begins earlier.
        block.first = std::min(index * size, out_[cut_axis_] - size);
        block.skip = index * size - block.first;
        layout_.is_rows ? run_rows(x, block, start, out) : run_block(x, block, padding, start, out);
    });
}

template class DirectConvolution<float>;
template class DirectConvolution<uint8_t>;

}  // namespace sardonyx::eval
