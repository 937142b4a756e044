// The window driver: where the windows of convolutions and pools lie, and which elements are in
// them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "eval/kernel.h"

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
};

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
    // How many elements the window covers with the padding counted in.
    double padded_count() const;
    void next();

  private:
    void find_taps();

    const WindowGeometry& g_;
    Dims position_;
    Dims in_strides_;
    std::vector<Tap> taps_;
};

}  // namespace sardonyx::eval
