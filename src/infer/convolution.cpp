// Conv and its relatives. X is (batch, channel, spatial...), W (output channels, channels of one
// group, kernel...); a transposed convolution has W as (channels, output channels of one group,
// kernel...). Sections Conv, ConvTranspose, DeformConv, ConvInteger and QLinearConv of the operator
// reference.

#include <fmt/format.h>

#include "infer/checks.h"
#include "infer/diagnostics.h"
#include "infer/operators.h"
#include "infer/window.h"

namespace sardonyx::infer {
namespace {

constexpr std::string_view kWeightLayout = "(output channel, channel of a group, kernel...)";
constexpr std::string_view kTransposedLayout = "(channel, output channel of a group, kernel...)";

// Which inputs play the parts.
struct Roles {
    size_t x = 0;
    size_t w = 1;
    int bias = 2;  // -1: there is none
};

// What X and W agree about.
struct Convolution {
    bool is_rank_known = false;
    std::vector<Dim> sizes;  // spatial, of X
    Dim batch;
    std::optional<Window> window;
};

// The spatial kernel sizes: the attribute's, checked against W's dims, else W's.
std::optional<std::vector<Dim>> kernel_sizes(NodeContext& c, size_t w, size_t spatial_rank) {
    const Shape* weight = c.input_shape(w);
    std::optional<std::vector<Dim>> kernel = read_kernel_shape(c, spatial_rank);
    if (!kernel.has_value()) {
        if (c.has_attribute("kernel_shape")) {
            return std::nullopt;
        }
        std::vector<Dim> dims(spatial_rank);
        for (size_t i = 0; weight != nullptr && i < spatial_rank; ++i) {
            dims[i] = dim_at(weight, static_cast<int>(i) + 2);
        }
        return dims;
    }
    for (size_t i = 0; weight != nullptr && i < spatial_rank; ++i) {
        (*kernel)[i] = expect_dim(c, {w, static_cast<int>(i) + 2}, (*kernel)[i],
                                  fmt::format("element {} of `kernel_shape`", i));
    }
    return kernel;
}

Convolution read_convolution(NodeContext& c, const Roles& roles, std::string_view weight_layout) {
    Convolution result;
    const Shape* x = shape_of_rank(c, roles.x, 3, INT_MAX, kImageLayout);
    const Shape* w = shape_of_rank(c, roles.w, 3, INT_MAX, weight_layout);
    if (x == nullptr && w == nullptr) {
        return result;
    }
    size_t spatial_rank = (x != nullptr ? x->size() : w->size()) - 2;
    result.is_rank_known = true;
    result.batch = dim_at(x, 0);
    for (size_t i = 0; i < spatial_rank; ++i) {
        result.sizes.push_back(dim_at(x, static_cast<int>(i) + 2));
    }
    if (x != nullptr && w != nullptr && x->size() != w->size()) {
        c.fail(kRankMismatch,
               fmt::format("{} has rank {} and {} has rank {}, and both have one dimension for "
                           "each spatial axis beside their first two",
                           c.input_name(roles.x), x->size(), c.input_name(roles.w), w->size()),
               static_cast<int>(roles.w), static_cast<int>(roles.x),
               fmt::format("{} is {}", c.input_name(roles.w), weight_layout));
        return result;
    }
    std::optional<std::vector<Dim>> kernel = kernel_sizes(c, roles.w, spatial_rank);
    if (kernel.has_value()) {
        result.window = read_window(c, std::move(*kernel));
    }
    return result;
}

void check_bias(NodeContext& c, const Roles& roles, const Dim& channels) {
    if (roles.bias < 0 || !c.has_input(roles.bias)) {
        return;
    }
    if (shape_of_rank(c, roles.bias, 1, "(output channel)") != nullptr) {
        expect_dim(c, {static_cast<size_t>(roles.bias), 0}, channels, "the output channels");
    }
}

// C = W[1] * group and group divides M; gives M.
Dim check_channels(NodeContext& c, const Roles& roles, std::optional<int64_t> group) {
    Dim output_channels = input_dim(c, roles.w, 0);
    if (!group.has_value()) {
        return output_channels;
    }
    Dim expected = input_dim(c, roles.w, 1) * Dim(*group);
    Dim channels = input_dim(c, roles.x, 1);
    if (channels.differs(expected)) {
        c.fail(kShapeMismatch,
               fmt::format("{} has {} channels (axis 1), and {} takes {} (its axis 1, {}, times "
                           "`group`, {})",
                           c.input_name(roles.x), channels.to_string(), c.input_name(roles.w),
                           expected.to_string(), input_dim(c, roles.w, 1).to_string(), *group),
               static_cast<int>(roles.w), static_cast<int>(roles.x),
               "axis 1 of the weight is the number of channels of one group");
    }
    if (output_channels.is_static() && output_channels.value() % *group != 0) {
        c.fail(kInvalidValue,
               fmt::format("axis 0 of {} is {}, and must be a multiple of `group`, {}",
                           c.input_name(roles.w), output_channels.value(), *group),
               static_cast<int>(roles.w));
    }
    return output_channels;
}

std::optional<Shape> with_spatial(const Dim& batch, const Dim& channels,
                                  const std::vector<Dim>& spatial) {
    Shape shape{batch, channels};
    shape.insert(shape.end(), spatial.begin(), spatial.end());
    return shape;
}

// The output shape of a forward convolution.
std::optional<Shape> convolve(NodeContext& c, const Roles& roles) {
    std::optional<int64_t> group = int_in_range(c, "group", 1);
    Convolution convolution = read_convolution(c, roles, kWeightLayout);
    if (!convolution.is_rank_known) {
        return std::nullopt;
    }
    std::vector<Dim> spatial(convolution.sizes.size());
    if (convolution.window.has_value()) {
        spatial =
            window_positions(c, *convolution.window, convolution.sizes, static_cast<int>(roles.x));
    }
    Dim channels = check_channels(c, roles, group);
    check_bias(c, roles, channels);
    return with_spatial(convolution.batch, channels, spatial);
}

// How far a transposed convolution reaches along one axis. SAME padding cuts it to size * stride,
// where it reaches that far.
Dim transposed_size(const Window& window, size_t axis, const Dim& size, int64_t output_padding) {
    Dim stride = window.strides[axis];
    Dim last = window.extent(axis) + Dim(output_padding);
    Dim full = stride * (size - 1) + last;
    switch (window.auto_pad) {
        case AutoPad::kValid:
            return full;
        case AutoPad::kNotSet:
            return full - Dim(window.pads_begin[axis]) - Dim(window.pads_end[axis]);
        case AutoPad::kSame:
            break;
    }
    if ((last - stride).is_at_least(0)) {
        return size * stride;
    }
    return (stride - last).is_at_least(0) ? full : Dim();
}

std::vector<Dim> transposed_sizes(NodeContext& c, const Convolution& convolution) {
    size_t rank = convolution.sizes.size();
    std::vector<Dim> spatial(rank);
    if (c.has_attribute("output_shape")) {
        std::optional<std::vector<int64_t>> sizes = ints_of_count(c, "output_shape", rank, 0, 0);
        return sizes.has_value() ? std::vector<Dim>(sizes->begin(), sizes->end()) : spatial;
    }
    std::optional<std::vector<int64_t>> padding = ints_of_count(c, "output_padding", rank, 0, 0);
    if (!convolution.window.has_value() || !padding.has_value()) {
        return spatial;
    }
    for (size_t i = 0; i < rank; ++i) {
        spatial[i] = transposed_size(*convolution.window, i, convolution.sizes[i], (*padding)[i]);
        if (spatial[i].is_static() && spatial[i].value() < 0) {
            c.fail_attribute(kInvalidValue, "pads",
                             fmt::format("the padding takes away more than there is along spatial "
                                         "axis {}: the output would have size {}",
                                         i, spatial[i].value()));
            spatial[i] = Dim();
        }
    }
    return spatial;
}

// offset: (N, offset_group * product(kernel) * spatial rank, oH, oW); mask without the last factor.
void check_offsets(NodeContext& c, const Shape& output, size_t input, int64_t factor) {
    const Shape* offsets = c.input_shape(input);
    if (offsets == nullptr) {
        return;
    }
    int rank = static_cast<int>(output.size());
    if (shape_of_rank(c, input, rank, "(batch, offset, output spatial...)") == nullptr) {
        return;
    }
    std::optional<int64_t> groups = int_in_range(c, "offset_group", 1);
    Dim kernel = product(std::span(*c.input_shape(1)).subspan(2));
    same_dim(c, {0, 0}, {input, 0}, "the batch size");
    if (groups.has_value()) {
        expect_dim(c, {input, 1}, Dim(*groups) * kernel * Dim(factor),
                   factor == 1 ? "`offset_group` times the size of the kernel"
                               : "`offset_group` times the size of the kernel times the number of "
                                 "spatial axes");
    }
    for (int i = 2; i < rank; ++i) {
        expect_dim(c, {input, i}, output[i], "the size of the output there");
    }
}

}  // namespace

void infer_conv(NodeContext& c) {
    c.set_output_shape(0, convolve(c, {}));
}

void infer_conv_integer(NodeContext& c) {
    c.set_output(0, ElementType::kInt32, convolve(c, {0, 1, -1}));
}

void infer_q_linear_conv(NodeContext& c) {
    for (size_t scalar : {1, 2, 6, 7}) {
        check_scalar(c, scalar);
    }
    c.set_output_shape(0, convolve(c, {0, 3, 8}));
}

void infer_deform_conv(NodeContext& c) {
    std::optional<Shape> output = convolve(c, {0, 1, 3});
    if (output.has_value() && c.input_rank(1) >= 2) {
        check_offsets(c, *output, 2, static_cast<int64_t>(output->size()) - 2);
        check_offsets(c, *output, 4, 1);
    }
    c.set_output_shape(0, std::move(output));
}

void infer_conv_transpose(NodeContext& c) {
    const Roles roles;
    std::optional<int64_t> group = int_in_range(c, "group", 1);
    Convolution convolution = read_convolution(c, roles, kTransposedLayout);
    if (!convolution.is_rank_known) {
        c.set_output_shape(0, std::nullopt);
        return;
    }
    Dim shared = same_dim(c, {0, 1}, {1, 0}, "the number of input channels");
    if (group.has_value() && shared.is_static() && shared.value() % *group != 0) {
        c.fail(kInvalidValue,
               fmt::format("`X` has {} channels, and that must be a multiple of `group`, {}",
                           shared.value(), *group),
               0);
    }
    Dim channels = group.has_value() ? input_dim(c, 1, 1) * Dim(*group) : Dim();
    check_bias(c, roles, channels);
    std::vector<Dim> spatial = transposed_sizes(c, convolution);
    c.set_output_shape(0, with_spatial(convolution.batch, channels, spatial));
}

}  // namespace sardonyx::infer
