// ONNX's convolution arithmetic (operators Conv and MaxPool): for an input of size d, padded by pb
// and pe, a kernel that spans e elements and a stride s,
//   out = floor((d + pb + pe - e) / s) + 1,        ceil instead of floor with ceil_mode,
//   out = ceil(d / s)                              with auto_pad SAME_UPPER and SAME_LOWER.
// With ceil_mode a window that would start in the right padding is left out, so that (out - 1) * s
// stays below d + pb.
#include "infer/window.h"

#include <fmt/format.h>

#include "infer/checks.h"
#include "infer/diagnostics.h"

namespace sardonyx::infer {
namespace {

// With ceil_mode: position `last` is left out when it starts past the input and the left padding.
Dim ceil_positions(const Dim& room, const Dim& padded_begin, int64_t pad_end, const Dim& extent,
                   int64_t stride) {
    Dim last = ceil_div(room, stride);
    if (last.is_static() && padded_begin.is_static()) {
        Dim start = last * Dim(stride);
        if (!start.is_static()) {
            return {};
        }
        return start.value() >= padded_begin.value() ? last : last + 1;
    }
    // last * stride < room + stride = padded_begin + pad_end - extent + stride.
    if ((extent - Dim(pad_end) - Dim(stride)).is_at_least(0)) {
        return last + 1;
    }
    if ((extent - Dim(pad_end)).is_at_least(1)) {
        return min(last + 1, ceil_div(padded_begin, stride));
    }
    return {};
}

Dim positions(NodeContext& c, const Window& window, size_t axis, const Dim& size, int input) {
    int64_t stride = window.strides[axis];
    if (window.auto_pad == AutoPad::kSame) {
        return ceil_div(size, stride);
    }
    bool is_padded = window.auto_pad == AutoPad::kNotSet;
    int64_t pad_begin = is_padded ? window.pads_begin[axis] : 0;
    int64_t pad_end = is_padded ? window.pads_end[axis] : 0;
    Dim padded_begin = size + Dim(pad_begin);
    Dim extent = window.extent(axis);
    Dim room = padded_begin + Dim(pad_end) - extent;
    // With ceil_mode the one window may reach past the end.
    bool reaches_past = window.ceil_mode && room.is_static() && room.value() > -stride;
    if (room.is_static() && room.value() < 0 && !reaches_past) {
        if (!size.is_static() || size.value() > 0) {
            c.fail(kInvalidValue,
                   fmt::format("the window spans {} elements along spatial axis {}, and {} has {} "
                               "there with its padding",
                               extent.to_string(), axis, c.input_name(input),
                               (padded_begin + Dim(pad_end)).to_string()),
                   input, -1, "make the kernel or its dilation smaller, or the padding larger");
        }
        return {};
    }
    if (window.ceil_mode) {
        return ceil_positions(room, padded_begin, pad_end, extent, stride);
    }
    return floor_div(room, stride) + 1;
}

std::optional<AutoPad> read_auto_pad(NodeContext& c) {
    if (c.schema->find_attribute("auto_pad") == nullptr) {
        return AutoPad::kNotSet;
    }
    std::optional<std::string_view> text = c.attribute_string("auto_pad");
    if (!text.has_value()) {
        return std::nullopt;
    }
    if (*text == "SAME_UPPER" || *text == "SAME_LOWER") {
        return AutoPad::kSame;
    }
    if (*text == "VALID") {
        return AutoPad::kValid;
    }
    if (*text == "NOTSET" || text->empty()) {
        return AutoPad::kNotSet;
    }
    return std::nullopt;  // the check of attributes against the schema speaks of this one
}

}  // namespace

Dim Window::extent(size_t axis) const {
    return (kernel[axis] - 1) * Dim(dilations[axis]) + 1;
}

std::optional<std::vector<Dim>> read_kernel_shape(NodeContext& c, size_t spatial_rank) {
    if (!c.has_attribute("kernel_shape")) {
        return std::nullopt;
    }
    std::optional<std::vector<int64_t>> sizes =
        ints_of_count(c, "kernel_shape", spatial_rank, 1, 1);
    if (!sizes.has_value()) {
        return std::nullopt;
    }
    return std::vector<Dim>(sizes->begin(), sizes->end());
}

std::optional<Window> read_window(NodeContext& c, std::vector<Dim> kernel) {
    size_t rank = kernel.size();
    std::optional<std::vector<int64_t>> strides = ints_of_count(c, "strides", rank, 1, 1);
    std::optional<std::vector<int64_t>> dilations = ints_of_count(c, "dilations", rank, 1, 1);
    std::optional<std::vector<int64_t>> pads = ints_of_count(c, "pads", 2 * rank, 0, 0);
    std::optional<AutoPad> auto_pad = read_auto_pad(c);
    if (!strides.has_value() || !dilations.has_value() || !pads.has_value() ||
        !auto_pad.has_value()) {
        return std::nullopt;
    }
    Window window;
    window.kernel = std::move(kernel);
    window.strides = std::move(*strides);
    window.dilations = std::move(*dilations);
    window.pads_begin.assign(pads->begin(), pads->begin() + rank);
    window.pads_end.assign(pads->begin() + rank, pads->end());
    window.auto_pad = *auto_pad;
    window.ceil_mode = flag(c, "ceil_mode");
    return window;
}

std::vector<Dim> window_positions(NodeContext& c, const Window& window,
                                  const std::vector<Dim>& sizes, int input) {
    std::vector<Dim> result;
    for (size_t i = 0; i < sizes.size(); ++i) {
        result.push_back(positions(c, window, i, sizes[i], input));
    }
    return result;
}

}  // namespace sardonyx::infer
