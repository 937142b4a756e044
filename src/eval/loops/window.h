// The window driver: where the windows of convolutions and pools lie, and which elements are in
// them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "eval/operators/kernel.h"

namespace sardonyx::eval {

// Each list has one item for each spatial axis.
struct WindowGeometry {
    Dims in;
    Dims kernel;
    Dims strides;
    Dims dilations;
    Dims begin;  // padding
    Dims end;
    Dims out;

    int64_t in_count() const;
    int64_t out_count() const;
    int64_t kernel_count() const;
    // What a window covers along axis d.
    int64_t extent(size_t d) const { return (kernel[d] - 1) * dilations[d] + 1; }

    bool operator==(const WindowGeometry&) const = default;
};

// The spatial axes of the weights of a convolution, which `kernel_shape` must agree with.
Result<Dims> kernel_of_weights(const KernelContext& c, const Dims& weights);
// From the attributes `auto_pad`, `pads`, `strides`, `dilations` and `ceil_mode`.
Result<WindowGeometry> window_geometry(const KernelContext& c, Dims in, Dims kernel);
// The attributes alone: all but `out`, with `auto_pad` not yet applied.
Result<WindowGeometry> window_attributes(const KernelContext& c, Dims in, Dims kernel);

// An element of a window that is inside the input.
struct Tap {
    int64_t tap;     // its place in the kernel
    int64_t offset;  // its place in the input plane
};

// Walks the windows in row-major order of the output.
class WindowWalk {
  public:
    explicit WindowWalk(const WindowGeometry& geometry);

    // The taps of the current window, in row-major order.
    const std::vector<Tap>& taps() const { return taps_; }
    void next();

  private:
    void find_taps();

    const WindowGeometry& g_;
    Dims position_;
    Dims in_strides_;
    std::vector<Tap> taps_;
};

// Where the windows of one row of the output (a run along the last axis) find one tap.
struct TapRow {
    bool inside = true;  // along the other axes
    int64_t offset = 0;  // in the plane, of the window 0 of the row; may be before the plane
    int64_t first = 0;   // the windows [first, end) of the row are inside along the last axis
    int64_t end = 0;
};
TapRow tap_row(const WindowGeometry& g, int64_t row, int64_t tap);

// Of the innermost spatial axis; 1 where there is none.
inline int64_t inner_stride(const WindowGeometry& g) {
    return g.strides.empty() ? 1 : g.strides.back();
}

// Calls body(row, begin, end) for the parts of rows of the output in the windows [first, first +
// count).
template <typename Body>
void for_each_row_part(const WindowGeometry& g, int64_t first, int64_t count, const Body& body) {
    int64_t width = g.out.empty() ? 1 : g.out.back();  // no spatial axes: one window
    for (int64_t at = first; at < first + count;) {
        int64_t begin = at % width;
        int64_t end = std::min(width, begin + first + count - at);
        body(at / width, begin, end);
        at += end - begin;
    }
}

}  // namespace sardonyx::eval
