// Operators that give chosen axes new sizes: Resize, Upsample and CenterCropPad.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "infer/checks.h"
#include "infer/diagnostics.h"
#include "infer/operators.h"

namespace sardonyx::infer {
namespace {

// floor(size * scale), in single precision as the operator's reference computes it. A symbolic size
// stays exact when the scale is a fraction with a power of two below, as 2, 0.5 and 1.25 are.
Dim scaled(const Dim& size, float scale) {
    constexpr float kMaxScale = 1 << 20;
    if (size.is_static()) {
        float product = std::floor(static_cast<float>(size.value()) * scale);
        return product >= 0 && product < 9e18F ? Dim(static_cast<int64_t>(product)) : Dim();
    }
    for (int64_t denominator = 1; denominator <= 1024 && scale < kMaxScale; denominator *= 2) {
        float numerator = scale * static_cast<float>(denominator);
        if (numerator == std::floor(numerator)) {
            return floor_div(size * Dim(static_cast<int64_t>(numerator)), denominator);
        }
    }
    return {};
}

// The axes that scales and sizes are about: all, or those that `axes` lists (since 18).
std::optional<std::vector<int>> resized_axes(NodeContext& c, int rank) {
    if (c.has_attribute("axes")) {
        std::optional<std::vector<int64_t>> axes = c.attribute_ints("axes");
        return axes.has_value() ? normalize_axes(c, *axes, rank, "axes") : std::nullopt;
    }
    std::vector<int> all(static_cast<size_t>(rank));
    for (int i = 0; i < rank; ++i) {
        all[i] = i;
    }
    return all;
}

void fail_count(NodeContext& c, std::string_view what, size_t seen, size_t wanted, int input) {
    c.fail(
        kShapeMismatch,
        fmt::format("{} of `{}` has {} elements for {} axes", what, c.schema->name, seen, wanted),
        input, 0, "write one element for each axis, batch and channels included");
}

std::optional<Shape> shape_by_scales(NodeContext& c, const Shape& x, const std::vector<int>& axes,
                                     const std::vector<double>& scales, int input) {
    if (scales.size() != axes.size()) {
        fail_count(c, "the list of scales", scales.size(), axes.size(), input);
        return std::nullopt;
    }
    Shape shape = x;
    for (size_t i = 0; i < axes.size(); ++i) {
        if (!(scales[i] > 0)) {
            c.fail(kInvalidValue,
                   fmt::format("scale {} of `{}` is {}, and must be above 0", i, c.schema->name,
                               scales[i]),
                   input);
            return std::nullopt;
        }
        shape[axes[i]] = scaled(x[axes[i]], static_cast<float>(scales[i]));
    }
    return shape;
}

// `keep_aspect_ratio_policy`: one scale for all axes, the least or the greatest that the sizes ask
// for.
std::vector<Dim> keep_aspect_ratio(const Shape& x, const std::vector<int>& axes,
                                   const std::vector<Dim>& sizes, bool not_larger) {
    float scale = not_larger ? INFINITY : 0.0F;
    for (size_t i = 0; i < axes.size(); ++i) {
        const Dim& from = x[axes[i]];
        if (!from.is_static() || !sizes[i].is_static() || from.value() <= 0) {
            return std::vector<Dim>(axes.size());
        }
        float one = static_cast<float>(sizes[i].value()) / static_cast<float>(from.value());
        scale = not_larger ? std::min(scale, one) : std::max(scale, one);
    }
    std::vector<Dim> result;
    for (int axis : axes) {
        float size = std::round(scale * static_cast<float>(x[axis].value()));
        result.push_back(size >= 0 && size < 9e18F ? Dim(static_cast<int64_t>(size)) : Dim());
    }
    return result;
}

std::optional<Shape> shape_by_sizes(NodeContext& c, const Shape& x, const std::vector<int>& axes,
                                    std::vector<Dim> sizes, int input) {
    if (sizes.size() != axes.size()) {
        fail_count(c, "`sizes`", sizes.size(), axes.size(), input);
        return std::nullopt;
    }
    for (const Dim& size : sizes) {
        if (size.is_static() && size.value() < 0) {
            c.fail(kInvalidValue,
                   fmt::format("`sizes` of `{}` has {}, and sizes are not negative", c.schema->name,
                               size.value()),
                   input);
            return std::nullopt;
        }
    }
    if (c.schema->find_attribute("keep_aspect_ratio_policy") != nullptr) {
        std::optional<std::string_view> policy = c.attribute_string("keep_aspect_ratio_policy");
        if (policy == "not_larger" || policy == "not_smaller") {
            sizes = keep_aspect_ratio(x, axes, sizes, policy == "not_larger");
        } else if (policy != "stretch") {
            sizes.assign(sizes.size(), Dim());
        }
    }
    Shape shape = x;
    for (size_t i = 0; i < axes.size(); ++i) {
        shape[axes[i]] = sizes[i];
    }
    return shape;
}

// An input that is given and is not a tensor of no elements, which is how versions before 13 leave
// one out.
bool is_given(const NodeContext& c, int input) {
    if (input < 0 || !c.has_input(static_cast<size_t>(input))) {
        return false;
    }
    const Shape* shape = c.input_shape(static_cast<size_t>(input));
    return shape == nullptr || shape->size() != 1 || !(*shape)[0].equals(0);
}

// The shape with the resized axes unknown.
Shape unresized(const Shape& x, const std::vector<int>& axes) {
    Shape shape = x;
    for (int axis : axes) {
        shape[axis] = Dim();
    }
    return shape;
}

// False, after a Finding, when a list is certainly none, or not one for these axes.
bool check_lists(NodeContext& c, int scales_input, int sizes_input, const std::vector<int>& axes) {
    const std::pair<int, std::string_view> lists[] = {{scales_input, "the list of scales"},
                                                      {sizes_input, "`sizes`"}};
    for (const auto& [input, what] : lists) {
        if (!is_given(c, input)) {
            continue;
        }
        size_t at = static_cast<size_t>(input);
        if (!c.check_rank(at, 1)) {
            return false;
        }
        Dim count = input_dim(c, at, 0);
        if (count.is_static() && count.value() != static_cast<int64_t>(axes.size())) {
            fail_count(c, what, static_cast<size_t>(count.value()), axes.size(), input);
            return false;
        }
    }
    return true;
}

std::optional<std::vector<double>> constant_scales(const NodeContext& c, int input) {
    const Tensor* constant = c.input_constant(static_cast<size_t>(input));
    return constant != nullptr && constant->rank() == 1 ? to_doubles(*constant, 1 << 10)
                                                        : std::nullopt;
}

void resize(NodeContext& c, int scales_input, int sizes_input) {
    const Shape* x = c.input_shape(0);
    if (x == nullptr) {
        c.set_output_shape(0, std::nullopt);
        return;
    }
    bool has_scales = is_given(c, scales_input);
    bool has_sizes = is_given(c, sizes_input);
    std::optional<std::vector<int>> axes = resized_axes(c, static_cast<int>(x->size()));
    if (!axes.has_value()) {
        c.set_output_shape(0, Shape(x->size()));
        return;
    }
    if (!check_lists(c, scales_input, sizes_input, *axes)) {
        c.set_output_shape(0, unresized(*x, *axes));
        return;
    }
    std::optional<Shape> shape;
    if (has_scales && has_sizes && c.input_shape(scales_input) != nullptr &&
        c.input_shape(sizes_input) != nullptr) {
        c.fail(kInvalidValue, fmt::format("`{}` has both `scales` and `sizes`", c.schema->name),
               sizes_input, scales_input, "give one of them, and leave the other out");
    } else if (sizes_input >= 0 && !has_scales && !has_sizes) {
        c.fail(kInvalidValue, fmt::format("`{}` has neither `scales` nor `sizes`", c.schema->name),
               -1, -1, "give one of them");
    } else if (has_sizes) {
        if (std::optional<std::vector<Dim>> sizes = c.input_dims(sizes_input)) {
            shape = shape_by_sizes(c, *x, *axes, std::move(*sizes), sizes_input);
        }
    } else if (has_scales) {
        if (std::optional<std::vector<double>> scales = constant_scales(c, scales_input)) {
            shape = shape_by_scales(c, *x, *axes, *scales, scales_input);
        }
    }
    c.set_output_shape(0, shape.has_value() ? std::move(*shape) : unresized(*x, *axes));
}

}  // namespace

// Version 10 has `scales` as its second input; since 11 the inputs are X, roi, scales, sizes.
void infer_resize(NodeContext& c) {
    if (c.version() < 11) {
        resize(c, 1, -1);
    } else {
        resize(c, 2, 3);
    }
}

// Version 1 scales height and width by attributes, 7 all axes by one; since 9 there is an input.
void infer_upsample(NodeContext& c) {
    if (c.version() >= 9) {
        resize(c, 1, -1);
        return;
    }
    const Shape* x = c.input_shape(0);
    std::optional<Shape> shape;
    if (x != nullptr) {
        std::vector<int> all = *resized_axes(c, static_cast<int>(x->size()));
        std::vector<double> scales;
        if (const auto* floats = attribute_value<std::vector<float>>(c, "scales")) {
            scales.assign(floats->begin(), floats->end());
        } else if (c.attribute_float("height_scale") && c.attribute_float("width_scale") &&
                   x->size() == 4) {
            scales = {1, 1, *c.attribute_float("height_scale"), *c.attribute_float("width_scale")};
        }
        if (!scales.empty()) {
            shape = shape_by_scales(c, *x, all, scales, -1);
        }
        if (!shape.has_value()) {
            shape = Shape(x->size());
        }
    }
    c.set_output_shape(0, std::move(shape));
}

void infer_center_crop_pad(NodeContext& c) {
    const Shape* data = c.input_shape(0);
    shape_of_rank(c, 1, 1);
    if (data == nullptr) {
        c.set_output_shape(0, std::nullopt);
        return;
    }
    std::optional<std::vector<int>> axes = resized_axes(c, static_cast<int>(data->size()));
    if (!axes.has_value()) {
        c.set_output_shape(0, Shape(data->size()));
        return;
    }
    Shape shape = unresized(*data, *axes);
    std::optional<std::vector<Dim>> sizes = c.input_rank(1) == 1 ? c.input_dims(1) : std::nullopt;
    if (sizes.has_value() && sizes->size() != axes->size()) {
        fail_count(c, "`shape`", sizes->size(), axes->size(), 1);
        sizes = std::nullopt;
    }
    for (size_t i = 0; sizes.has_value() && i < axes->size(); ++i) {
        const Dim& size = (*sizes)[i];
        if (size.is_static() && size.value() < 0) {
            c.fail(kInvalidValue,
                   fmt::format("element {} of {} is {}, and sizes are not negative", i,
                               c.input_name(1), size.value()),
                   1);
            continue;
        }
        shape[(*axes)[i]] = size;
    }
    c.set_output_shape(0, std::move(shape));
}

}  // namespace sardonyx::infer
