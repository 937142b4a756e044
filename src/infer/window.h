// The arithmetic of windows that slide over spatial axes: how many positions a convolution or
// pooling has along each, and how far a transposed convolution reaches.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "infer/node_context.h"

namespace sardonyx::infer {

enum class AutoPad : uint8_t { kNotSet, kSame, kValid };

// One entry per spatial axis in each list. Kernel sizes may be symbolic (the dims of a weight).
struct Window {
    std::vector<Dim> kernel;
    std::vector<int64_t> strides;
    std::vector<int64_t> dilations;
    std::vector<int64_t> pads_begin;
    std::vector<int64_t> pads_end;
    AutoPad auto_pad = AutoPad::kNotSet;
    bool ceil_mode = false;

    // How many elements the kernel spans: (kernel - 1) * dilation + 1.
    Dim extent(size_t axis) const;
};

// Reads `strides`, `dilations`, `pads`, `auto_pad` and `ceil_mode` for the spatial rank that
// `kernel` has. Attributes that the operator does not have keep their neutral value. Nothing after
// a Finding, and when an attribute's value is not known.
std::optional<Window> read_window(NodeContext& c, std::vector<Dim> kernel);

// The `kernel_shape` attribute for a known spatial rank; nothing when it is absent or wrong (then
// there is a Finding).
std::optional<std::vector<Dim>> read_kernel_shape(NodeContext& c, size_t spatial_rank);

// The number of positions along each spatial axis; `sizes` are those of input `input`. A Finding
// where the window is larger than the padded input.
std::vector<Dim> window_positions(NodeContext& c, const Window& window,
                                  const std::vector<Dim>& sizes, int input);

}  // namespace sardonyx::infer
