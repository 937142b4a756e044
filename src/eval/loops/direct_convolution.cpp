#include <algorithm>
#include <type_traits>

#include "eval/loops/clones.h"
#include "eval/loops/convolution.h"
#include "eval/loops/scratch.h"
#include "eval/loops/strided.h"
#include "eval/loops/transpose.h"
#include "eval/runtime/parallel.h"

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

DirectLayout direct_layout(const ConvShape& shape, bool is_last_in_x, bool is_last_in_out) {
    int64_t kernel = shape.windows.kernel_count();
    return {is_last_in_x, is_last_in_out, shape.in_channels * kernel, kernel};
}

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
DirectConvolution<In>::DirectConvolution(const ConvShape& shape, const Weight* weights,
                                         DirectLayout layout)
    : shape_(shape), layout_(layout) {
    if (!cut() || !compile(weights)) {
        pieces_.clear();
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
    size_t rank = shape_.windows.in.size();
    bool has_last = layout_.is_last_in_x || layout_.is_last_in_out;
    block_.is_depthwise =
        has_last && shape_.groups > 1 && shape_.in_channels == 1 && shape_.out_channels == 1;
    groups_ = block_.is_depthwise ? 1 : shape_.groups;
    in_channels_ = block_.is_depthwise ? shape_.groups : shape_.in_channels;
    out_channels_ = block_.is_depthwise ? shape_.groups : shape_.out_channels;
    if (rank < 1 || rank > 2 || in_channels_ < kFewChannels || out_channels_ < kFewChannels ||
        shape_.windows.in_count() == 0 || product(shape_.result) == 0 ||
        (has_last && groups_ > 1)) {
        return false;
    }
    WindowGeometry g = two_axes(shape_.windows);
    int64_t windows = g.out_count();
    int64_t work = shape_.in_channels * out_channels_ * g.kernel_count() * windows;
    int64_t elements = in_channels_ * g.in_count() + out_channels_ * windows;
    int64_t pictures = shape_.batch * groups_;
    int64_t tasks =
        std::max(std::min(work / kTask, kMostTasks) / pictures, elements / kBlockElements);
    cut_axis_ = g.out[0] > 1 ? 0 : 1;
    int64_t blocks =
        std::clamp<int64_t>(std::min(tasks, windows / kFewWindows), 1, g.out[cut_axis_]);
    block_.in_channels = in_channels_;
    block_.out_channels = out_channels_;
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
    block_.in_step = layout_.in_step;
    block_.out_step = layout_.out_step;
    if (!block_.is_depthwise) {
        cut_channels(tasks);
    }
    return true;
}

// Where the windows are too few for so many tasks.
template <typename In>
void DirectConvolution<In>::cut_channels(int64_t tasks) {
    constexpr int64_t kChannels = 64;  // of a piece: four vectors
    int64_t pieces = std::min(tasks / block_count_, out_channels_ / kChannels);
    if (pieces > 1) {
        block_.out_channels = (out_channels_ / pieces + kChannels - 1) / kChannels * kChannels;
        piece_count_ = (out_channels_ + block_.out_channels - 1) / block_.out_channels;
    }
}

// The library knows zeros around a picture; other padding is part of what it is given.
template <typename In>
typename DirectConvolution<In>::Side DirectConvolution<In>::side_of(size_t axis,
                                                                    int64_t block) const {
    int64_t first = axis == cut_axis_ ? first_place(block) : 0;
    int64_t origin = first * block_.strides[axis] - begin_[axis];
    Side side{origin, block_.in[axis], 0, 0};
    if constexpr (std::is_same_v<In, float>) {
        int64_t end = std::min(origin + side.size, in_[axis]);
        side.origin = std::max<int64_t>(origin, 0);
        side.begin = side.origin - origin;
        side.end = origin + side.size - end;
        side.size = end - side.origin;
    }
    return side;
}

// Compiles the blocks: those with the same zeros around them are one. False: one cannot be.
template <typename In>
bool DirectConvolution<In>::compile(const Weight* weights) {
    std::vector<PictureConvolution> variants;
    for (int64_t block = 0; block < block_count_; ++block) {
        PictureConvolution own = block_;
        for (size_t d = 0; d < 2; ++d) {
            Side side = side_of(d, block);
            int64_t extent = (block_.kernel[d] - 1) * block_.dilations[d] + 1;
            if (side.size < 1 || side.begin >= extent || side.end >= extent) {
                return false;  // windows of zeros alone
            }
            own.in[d] = side.size;
            own.begin[d] = side.begin;
            own.end[d] = side.end;
        }
        auto same = std::find_if(variants.begin(), variants.end(), [&](const auto& other) {
            return other.begin == own.begin && other.end == own.end;
        });
        variant_.push_back(same - variants.begin());
        if (same == variants.end()) {
            variants.push_back(own);
        }
    }
    int64_t count = groups_ * piece_count_;
    for (const PictureConvolution& variant : variants) {
        for (int64_t i = 0; i < count; ++i) {
            int64_t channel = i / piece_count_ * out_channels_ + first_channel(i % piece_count_);
            auto like = pieces_.size() < static_cast<size_t>(count) ? nullptr : pieces_[i];
            auto compiled =
                compile_convolution(variant, weights + channel * layout_.out_step, like.get());
            if (compiled == nullptr) {
                return false;
            }
            pieces_.push_back(std::move(compiled));
        }
    }
    return true;
}

// out[i, channel] of places of the picture that follow each other.
template <typename In>
void DirectConvolution<In>::copy_places(const In* x, int64_t picture, int64_t place, int64_t count,
                                        In* out) const {
    int64_t plane = in_[0] * in_[1];
    x += picture * plane * in_channels_;
    if (layout_.is_last_in_x) {
        std::copy_n(x + place * in_channels_, count * in_channels_, out);
    } else {
        transpose_planes(x + place, plane, in_channels_, count, out, in_channels_);
    }
}

// picture[y, x, channel] of the windows of a block.
template <typename In>
void DirectConvolution<In>::fill_picture(const In* x, const Block& block, In padding,
                                         In* picture) const {
    int64_t channels = in_channels_;
    Side rows = side_of(0, block.index), columns = side_of(1, block.index);
    int64_t width = columns.size;
    if (is_inside(rows, 0) && width == in_[1]) {
        copy_places(x, block.picture, rows.origin * width, rows.size * width, picture);
        return;
    }
    int64_t from = std::clamp<int64_t>(-columns.origin, 0, width);
    int64_t to = std::clamp<int64_t>(in_[1] - columns.origin, from, width);
    for (int64_t y = 0; y < rows.size; ++y, picture += width * channels) {
        int64_t row = rows.origin + y;
        if (row < 0 || row >= in_[0]) {
            std::fill_n(picture, width * channels, padding);
            continue;
        }
        std::fill_n(picture, from * channels, padding);
        copy_places(x, block.picture, row * in_[1] + columns.origin + from, to - from,
                    picture + from * channels);
        std::fill_n(picture + to * channels, (width - to) * channels, padding);
    }
}

template <typename In>
void DirectConvolution<In>::run_block(const In* x, const Block& block, In padding, const Sum* start,
                                      Sum* out) const {
    int64_t channels = block_.out_channels;
    int64_t line = cut_axis_ == 0 ? out_[1] : 1;  // windows of one place along the cut axis
    int64_t first = first_place(block.index);
    int64_t done = (block.index * block_.out[cut_axis_] - first) * line;  // by the block before
    int64_t count = block_.out[0] * block_.out[1];

    Side rows = side_of(0, block.index), columns = side_of(1, block.index);
    bool is_in_place = layout_.is_last_in_x && is_inside(rows, 0) && is_inside(columns, 1) &&
                       (columns.size == in_[1] || rows.size == 1);
    Scratch<In> room(is_in_place ? 0 : rows.size * columns.size * in_channels_);
    const In* picture = room.data();
    if (is_in_place) {
        int64_t row = block.picture * in_[0] + rows.origin;
        picture = x + (row * in_[1] + columns.origin) * in_channels_;
    } else {
        fill_picture(x, block, padding, room.data());
    }

    int64_t place = block.picture * out_[0] * out_[1] + first * line;  // with channels innermost
    bool is_whole = layout_.is_last_in_out && piece_count_ == 1 && done == 0;
    Scratch<Sum> sums_room(is_whole ? 0 : count * channels);
    Sum* sums = is_whole ? out + place * out_channels_ : sums_room.data();
    int64_t group = block.picture % groups_;
    size_t piece = (variant_[block.index] * groups_ + group) * piece_count_ + block.piece;
    pieces_[piece]->run(picture, sums);
    sums += done * channels;
    count -= done;
    place += done;
    int64_t channel = first_channel(block.piece);
    if (start != nullptr) {
        add_to_rows(sums, count, channels, start + group * out_channels_ + channel);
    }
    int64_t known = block.piece * channels - channel;
    channel += known;
    if (!layout_.is_last_in_out) {
        int64_t windows = out_[0] * out_[1];
        transpose_planes(
            sums + known, channels, count, channels - known,
            out + (block.picture * out_channels_ + channel) * windows + place % windows, windows);
    } else if (!is_whole) {
        for (int64_t i = 0; i < count; ++i) {
            std::copy_n(sums + i * channels + known, channels - known,
                        out + (place + i) * out_channels_ + channel);
        }
    }
}

template <typename In>
void DirectConvolution<In>::run(const In* x, In padding, const Sum* start, const Workers& threads,
                                Sum* out) const {
    int64_t tasks = shape_.batch * groups_ * block_count_ * piece_count_;
    parallel_for(threads, tasks, 1, [&](int64_t task, int64_t) {
        int64_t block = task / piece_count_;
        run_block(x, {block / block_count_, block % block_count_, task % piece_count_}, padding,
                  start, out);
    });
}

template class DirectConvolution<float>;
template class DirectConvolution<uint8_t>;

}  // namespace sardonyx::eval
