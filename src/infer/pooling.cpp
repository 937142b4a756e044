// Pooling: windows that slide over the spatial axes of (batch, channel, spatial...), their inverse,
// and pooling of regions of interest.

#include <fmt/format.h>

#include "infer/checks.h"
#include "infer/diagnostics.h"
#include "infer/operators.h"
#include "infer/window.h"

namespace sardonyx::infer {
namespace {

std::vector<Dim> spatial_sizes(const Shape& x) {
    return std::vector<Dim>(x.begin() + 2, x.end());
}

std::optional<Shape> pool(NodeContext& c) {
    const Shape* x = shape_of_rank(c, 0, 3, INT_MAX, kImageLayout);
    if (x == nullptr) {
        return std::nullopt;
    }
    std::vector<Dim> sizes = spatial_sizes(*x);
    std::vector<Dim> spatial(sizes.size());
    std::optional<std::vector<Dim>> kernel = read_kernel_shape(c, sizes.size());
    if (kernel.has_value()) {
        std::optional<Window> window = read_window(c, std::move(*kernel));
        if (window.has_value()) {
            spatial = window_positions(c, *window, sizes, 0);
        }
    }
    Shape shape{(*x)[0], (*x)[1]};
    shape.insert(shape.end(), spatial.begin(), spatial.end());
    return shape;
}

// The spatial sizes of MaxUnpool without `output_shape`: what a MaxPool of the same attributes may
// have come from.
std::vector<Dim> unpooled_sizes(NodeContext& c, const std::vector<Dim>& sizes) {
    std::vector<Dim> result(sizes.size());
    std::optional<std::vector<Dim>> kernel = read_kernel_shape(c, sizes.size());
    if (!kernel.has_value()) {
        return result;
    }
    std::optional<Window> window = read_window(c, std::move(*kernel));
    for (size_t i = 0; window.has_value() && i < sizes.size(); ++i) {
        result[i] = (sizes[i] - 1) * Dim(window->strides[i]) + window->kernel[i] -
                    Dim(window->pads_begin[i]) - Dim(window->pads_end[i]);
        if (result[i].is_static() && result[i].value() < 0) {
            c.fail_attribute(kInvalidValue, "pads",
                             fmt::format("the padding takes away more than there is along spatial "
                                         "axis {}: the output would have size {}",
                                         i, result[i].value()));
            result[i] = Dim();
        }
    }
    return result;
}

// (regions, channels, height, width).
std::optional<Shape> region_shape(NodeContext& c, const Dim& height, const Dim& width) {
    const Shape* x = shape_of_rank(c, 0, 4, "(batch, channel, height, width)");
    const Shape* rois = shape_of_rank(c, 1, 2, "(regions, coordinates)");
    return Shape{dim_at(rois, 0), dim_at(x, 1), height, width};
}

}  // namespace

void infer_pool(NodeContext& c) {
    c.set_output_shape(0, pool(c));
}

void infer_max_pool(NodeContext& c) {
    std::optional<Shape> shape = pool(c);
    c.set_output_shape(0, shape);
    c.set_output(1, ElementType::kInt64, std::move(shape));
}

void infer_global_pool(NodeContext& c) {
    const Shape* x = shape_of_rank(c, 0, 2, INT_MAX, kImageLayout);
    std::optional<Shape> shape;
    if (x != nullptr) {
        shape = Shape(x->size(), Dim(1));
        (*shape)[0] = (*x)[0];
        (*shape)[1] = (*x)[1];
    }
    c.set_output_shape(0, std::move(shape));
}

void infer_max_unpool(NodeContext& c) {
    const Shape* x = shape_of_rank(c, 0, 3, INT_MAX, kImageLayout);
    std::optional<Shape> shape;
    if (x != nullptr) {
        const Shape* indices = shape_of_rank(c, 1, static_cast<int>(x->size()));
        for (int i = 0; indices != nullptr && i < static_cast<int>(x->size()); ++i) {
            same_dim(c, {0, i}, {1, i}, "the size of the pooled tensor");
        }
    }
    if (c.has_input(2)) {
        c.check_rank(2, 1);
        if (x != nullptr) {
            read_kernel_shape(c, x->size() - 2);
        }
        shape = c.input_dims(2);
        if (shape.has_value() && x != nullptr && shape->size() != x->size()) {
            c.fail(kShapeMismatch,
                   fmt::format("`output_shape` has {} elements, and `X` has rank {}", shape->size(),
                               x->size()),
                   2, 0, "write the whole shape, batch and channels included");
            shape = std::nullopt;
        }
        if (!shape.has_value() && x != nullptr) {
            shape = Shape(x->size());
        }
    } else if (x != nullptr) {
        std::vector<Dim> spatial = unpooled_sizes(c, spatial_sizes(*x));
        shape = Shape{(*x)[0], (*x)[1]};
        shape->insert(shape->end(), spatial.begin(), spatial.end());
    }
    c.set_output_shape(0, std::move(shape));
}

void infer_max_roi_pool(NodeContext& c) {
    std::optional<std::vector<int64_t>> sizes = ints_of_count(c, "pooled_shape", 2, 1, 1);
    bool is_known = sizes.has_value() && c.has_attribute("pooled_shape");
    if (c.input_rank(1) == 2) {
        expect_dim(c, {1, 1}, 5, "a region is its batch index and the four sides of a box");
    }
    c.set_output_shape(0, region_shape(c, is_known ? Dim((*sizes)[0]) : Dim(),
                                       is_known ? Dim((*sizes)[1]) : Dim()));
}

void infer_roi_align(NodeContext& c) {
    std::optional<int64_t> height = int_in_range(c, "output_height", 1);
    std::optional<int64_t> width = int_in_range(c, "output_width", 1);
    int_in_range(c, "sampling_ratio", 0);
    std::optional<Shape> shape = region_shape(c, height.has_value() ? Dim(*height) : Dim(),
                                              width.has_value() ? Dim(*width) : Dim());
    if (c.input_rank(1) == 2) {
        expect_dim(c, {1, 1}, 4, "a region is the four sides of a box");
    }
    if (shape_of_rank(c, 2, 1, "(regions)") != nullptr) {
        (*shape)[0] = c.input_rank(1) == 2 ? same_dim(c, {1, 0}, {2, 0}, "the number of regions")
                                           : input_dim(c, 2, 0);
    }
    c.set_output_shape(0, std::move(shape));
}

}  // namespace sardonyx::infer
