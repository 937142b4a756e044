// Operators on images: sampling, decoding, boxes, assembling from blocks.

#include <fmt/format.h>

#include "infer/checks.h"
#include "infer/diagnostics.h"
#include "infer/operators.h"

namespace sardonyx::infer {
namespace {

// The elements of an input that is a vector; a Finding when it is not one.
std::optional<std::vector<Dim>> list_input(NodeContext& c, size_t input) {
    return shape_of_rank(c, input, 1) != nullptr ? c.input_dims(input) : std::nullopt;
}

// The number of spatial axes of Col2Im, from the first argument that tells.
std::optional<size_t> col2im_rank(const NodeContext& c,
                                  const std::optional<std::vector<Dim>>& image,
                                  const std::optional<std::vector<Dim>>& block) {
    if (image.has_value() || block.has_value()) {
        return image.has_value() ? image->size() : block->size();
    }
    for (std::string_view name : {"strides", "dilations"}) {
        if (std::optional<std::vector<int64_t>> values = c.attribute_ints(name)) {
            return values->size();
        }
    }
    std::optional<std::vector<int64_t>> pads = c.attribute_ints("pads");
    return pads.has_value() ? std::optional(pads->size() / 2) : std::nullopt;
}

// The channels of Col2Im: its input's axis 1 holds them times the size of a block.
Dim assembled_channels(NodeContext& c, const Dim& packed, const Dim& block_size) {
    if (!block_size.is_static()) {
        return {};
    }
    if (packed.is_static() && block_size.value() > 0 && packed.value() % block_size.value() != 0) {
        c.fail(kShapeMismatch,
               fmt::format("axis 1 of {} is {}, and must be a multiple of the block's size, {}",
                           c.input_name(0), packed.value(), block_size.value()),
               0, 2);
        return {};
    }
    return exact_quotient(packed, block_size.value());
}

}  // namespace

// X is (N, C, spatial...), the grid is (N, output spatial..., number of spatial axes).
void infer_grid_sample(NodeContext& c) {
    const Shape* x = shape_of_rank(c, 0, c.version() < 20 ? 4 : 3, c.version() < 20 ? 4 : INT_MAX,
                                   "(batch, channel, spatial...)");
    const Shape* grid = shape_of_rank(c, 1, 3, INT_MAX, "(batch, output spatial..., coordinates)");
    const Shape* known = x != nullptr ? x : grid;
    if (known == nullptr) {
        c.set_output_shape(0, std::nullopt);
        return;
    }
    Shape shape(known->size());
    if (x != nullptr && grid != nullptr && x->size() != grid->size()) {
        c.fail(kRankMismatch,
               fmt::format("{} has rank {} and {} has rank {}, and must be alike", c.input_name(0),
                           x->size(), c.input_name(1), grid->size()),
               1, 0);
        grid = nullptr;
    }
    shape[0] = known_dim(dim_at(x, 0), dim_at(grid, 0));
    shape[1] = dim_at(x, 1);
    if (grid != nullptr) {
        if (x != nullptr) {
            same_dim(c, {0, 0}, {1, 0}, "the batch size");
        }
        expect_dim(c, {1, -1}, static_cast<int64_t>(grid->size()) - 2,
                   "one coordinate for each spatial axis");
        for (size_t i = 2; i < shape.size(); ++i) {
            shape[i] = (*grid)[i - 1];
        }
    }
    c.set_output_shape(0, std::move(shape));
}

// theta is (N, 2, 3) with size (N, C, H, W), or (N, 3, 4) with (N, C, D, H, W).
void infer_affine_grid(NodeContext& c) {
    const Shape* theta = shape_of_rank(c, 0, 3, "(batch, 2, 3) or (batch, 3, 4)");
    std::optional<std::vector<Dim>> size = list_input(c, 1);
    if (size.has_value() && size->size() != 4 && size->size() != 5) {
        c.fail(
            kInvalidValue,
            fmt::format("{} has {} elements, and must have 4 or 5", c.input_name(1), size->size()),
            1, -1, "write (N, C, H, W) or (N, C, D, H, W)");
        size = std::nullopt;
    }
    int64_t spatial_rank = size.has_value() ? static_cast<int64_t>(size->size()) - 2 : 0;
    if (spatial_rank == 0 && dim_at(theta, 1).is_static()) {
        spatial_rank = dim_at(theta, 1).value();
    }
    if (spatial_rank != 2 && spatial_rank != 3) {
        if (dim_at(theta, 1).is_static()) {
            expect_dim(c, {0, 1}, 2, "theta holds 2x3 or 3x4 matrices");
        }
        c.set_output_shape(0, std::nullopt);
        return;
    }
    if (theta != nullptr) {
        expect_dim(c, {0, 1}, spatial_rank, "the number of spatial axes");
        expect_dim(c, {0, 2}, spatial_rank + 1, "the number of spatial axes and 1");
    }
    Shape shape(static_cast<size_t>(spatial_rank) + 2);
    shape[0] = dim_at(theta, 0);
    shape.back() = spatial_rank;
    if (size.has_value()) {
        shape[0] = known_dim(shape[0], (*size)[0]);
        for (int64_t i = 0; i < spatial_rank; ++i) {
            shape[i + 1] = (*size)[i + 2];
        }
    }
    c.set_output_shape(0, std::move(shape));
}

void infer_image_decoder(NodeContext& c) {
    shape_of_rank(c, 0, 1, "(bytes)");
    std::optional<std::string_view> format = c.attribute_string("pixel_format");
    Dim channels;
    if (format == "Grayscale") {
        channels = 1;
    } else if (format == "RGB" || format == "BGR") {
        channels = 3;
    }
    c.set_output(0, ElementType::kUint8, Shape{Dim(), Dim(), channels});
}

// boxes are (N, boxes, 4), scores (N, classes, boxes).
void infer_non_max_suppression(NodeContext& c) {
    const Shape* boxes = shape_of_rank(c, 0, 3, "(batch, box, 4)");
    const Shape* scores = shape_of_rank(c, 1, 3, "(batch, class, box)");
    if (boxes != nullptr) {
        expect_dim(c, {0, 2}, 4, "a box has four numbers");
    }
    if (boxes != nullptr && scores != nullptr) {
        same_dim(c, {0, 0}, {1, 0}, "the batch size");
        same_dim(c, {0, 1}, {1, 2}, "the number of boxes");
    }
    for (size_t scalar : {2, 3, 4}) {
        check_scalar(c, scalar);
    }
    flag(c, "center_point_box");
    c.set_output(0, ElementType::kInt64, Shape{Dim(), 3});
}

// The input is (N, C * product of the block, blocks); the output is (N, C, image...).
void infer_col2im(NodeContext& c) {
    const Shape* input = shape_of_rank(c, 0, 3, "(batch, channel * block size, block)");
    std::optional<std::vector<Dim>> image = list_input(c, 1);
    std::optional<std::vector<Dim>> block = list_input(c, 2);
    std::optional<size_t> spatial_rank = col2im_rank(c, image, block);
    if (!spatial_rank.has_value()) {
        c.set_output_shape(0, std::nullopt);
        return;
    }
    size_t rank = *spatial_rank;
    if (image.has_value() && block.has_value() && image->size() != block->size()) {
        c.fail(kShapeMismatch,
               fmt::format("{} has {} elements and {} has {}, and both have one for each spatial "
                           "axis",
                           c.input_name(1), image->size(), c.input_name(2), block->size()),
               2, 1);
        block = std::nullopt;
    }
    for (const Dim& size : block.value_or(std::vector<Dim>())) {
        if (size.is_static() && size.value() < 1) {
            c.fail(
                kInvalidValue,
                fmt::format("{} has {}, and a block is not empty", c.input_name(2), size.value()),
                2);
            block = std::nullopt;
            break;
        }
    }
    ints_of_count(c, "strides", rank, 1, 1);
    ints_of_count(c, "dilations", rank, 1, 1);
    ints_of_count(c, "pads", 2 * rank, 0, 0);
    Shape shape(2 + rank);
    shape[0] = dim_at(input, 0);
    shape[1] = block.has_value() ? assembled_channels(c, dim_at(input, 1), product(*block)) : Dim();
    for (size_t i = 0; image.has_value() && i < rank; ++i) {
        shape[2 + i] = (*image)[i];
    }
    c.set_output_shape(0, std::move(shape));
}

}  // namespace sardonyx::infer
