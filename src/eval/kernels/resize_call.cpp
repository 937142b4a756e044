// What a call of Resize or Upsample asks for: the sizes and scales of the axes, and how places are
// found.

#include "eval/kernels/resize_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "eval/kernels/cast.h"
#include "eval/loops/visit.h"
#include "eval/operators/kernel.h"

namespace sardonyx::eval::kernels {

namespace {

// The size that a scale gives an axis.
Result<int64_t> scaled_size(int64_t in, double scale) {
    double size = std::floor(static_cast<double>(in) * scale);
    if (!(size >= 0 && size < 9e15)) {
        return Error{fmt::format("a size of {} scaled by {} is not valid", in, scale)};
    }
    return static_cast<int64_t>(size);
}

Result<std::vector<double>> real_list(const KernelContext& c, size_t i) {
    SDX_ASSIGN(Tensor values, cast_tensor(c, c.tensor(i), ElementType::kDouble));
    std::span<const double> all = values.elements<double>();
    return std::vector<double>(all.begin(), all.end());
}

std::vector<ResizeAxis> untouched(const Dims& dims) {
    std::vector<ResizeAxis> axes(dims.size());
    for (size_t d = 0; d < dims.size(); ++d) {
        axes[d].in = axes[d].out = dims[d];
    }
    return axes;
}

Status scale_axes(std::vector<ResizeAxis>& axes, std::span<const int> which,
                  std::span<const double> scales) {
    if (scales.size() != which.size()) {
        return Error{fmt::format("{} scales for {} axes", scales.size(), which.size())};
    }
    for (size_t i = 0; i < which.size(); ++i) {
        ResizeAxis& axis = axes[which[i]];
        axis.scale = scales[i];
        SDX_ASSIGN(axis.out, scaled_size(axis.in, axis.scale));
    }
    return {};
}

// Sizes as they are, or all axes scaled alike so that none is larger (smaller) than its size.
Status size_axes(std::vector<ResizeAxis>& axes, std::span<const int> which,
                 std::span<const int64_t> sizes, std::string_view policy) {
    if (sizes.size() != which.size()) {
        return Error{fmt::format("{} sizes for {} axes", sizes.size(), which.size())};
    }
    double common = policy == "not_larger" ? INFINITY : 0;
    for (size_t i = 0; i < which.size(); ++i) {
        ResizeAxis& axis = axes[which[i]];
        if (sizes[i] < 0) {
            return Error{fmt::format("the size {} is negative", sizes[i])};
        }
        axis.out = sizes[i];
        axis.scale =
            axis.in == 0 ? 1 : static_cast<double>(sizes[i]) / static_cast<double>(axis.in);
        common =
            policy == "not_larger" ? std::min(common, axis.scale) : std::max(common, axis.scale);
    }
    for (size_t i = 0; i < which.size() && policy != "stretch"; ++i) {
        ResizeAxis& axis = axes[which[i]];
        axis.scale = common;
        SDX_ASSIGN(axis.out, scaled_size(1, common * static_cast<double>(axis.in) + 0.5));
    }
    return {};
}

// A region for each axis: all begins, then all ends.
Status read_region(const KernelContext& c, std::vector<ResizeAxis>& axes,
                   std::span<const int> which) {
    SDX_ASSIGN(std::vector<double> region, real_list(c, 1));
    if (region.size() != 2 * which.size()) {
        return Error{fmt::format("`roi` has {} numbers for {} axes", region.size(), which.size())};
    }
    for (size_t i = 0; i < which.size(); ++i) {
        axes[which[i]].roi_begin = region[i];
        axes[which[i]].roi_end = region[which.size() + i];
    }
    return {};
}

Result<ResizeCall> read_resize(const KernelContext& c) {
    ResizeOptions options;
    options.mode = c.string_attribute("mode");
    std::vector<ResizeAxis> axes = untouched(c.dims(0));
    std::vector<int> which;
    for (size_t d = 0; d < axes.size(); ++d) {
        which.push_back(static_cast<int>(d));
    }
    if (c.version() < 11) {
        SDX_ASSIGN(std::vector<double> scales, real_list(c, 1));
        SDX_TRY(scale_axes(axes, which, scales));
        return ResizeCall{options, std::move(axes)};
    }
    options.transformation = c.string_attribute("coordinate_transformation_mode");
    options.rounding = c.string_attribute("nearest_mode");
    options.cubic_a = c.float_attribute("cubic_coeff_a");
    options.exclude_outside = c.int_attribute("exclude_outside") != 0;
    options.extrapolation = c.float_attribute("extrapolation_value");
    options.antialias = c.int_attribute("antialias") != 0;
    if (std::span<const int64_t> given = c.ints_attribute("axes"); !given.empty()) {
        which.clear();
        for (int64_t one : given) {
            SDX_ASSIGN(int axis, c.axis(one, c.rank(0)));
            which.push_back(axis);
        }
    }
    bool has_scales = c.has_input(2) && c.tensor(2).count() > 0;
    bool has_sizes = c.has_input(3) && c.tensor(3).count() > 0;
    if (has_scales == has_sizes) {
        return Error{"one of `scales` and `sizes` must be given, and not both"};
    }
    if (has_scales) {
        SDX_ASSIGN(std::vector<double> scales, real_list(c, 2));
        SDX_TRY(scale_axes(axes, which, scales));
    } else {
        SDX_ASSIGN(std::vector<int64_t> sizes, c.ints(3));
        std::string_view policy = c.string_attribute("keep_aspect_ratio_policy");
        SDX_TRY(size_axes(axes, which, sizes, policy.empty() ? "stretch" : policy));
    }
    if (options.transformation == "tf_crop_and_resize") {
        if (!c.has_input(1)) {
            return Error{"`tf_crop_and_resize` needs `roi`"};
        }
        SDX_TRY(read_region(c, axes, which));
    }
    return ResizeCall{options, std::move(axes)};
}

Result<ResizeCall> read_upsample(const KernelContext& c) {
    ResizeOptions options;
    options.mode = c.string_attribute("mode") == "nearest" ? "nearest" : "linear";
    std::vector<ResizeAxis> axes = untouched(c.dims(0));
    std::vector<int> which;
    for (size_t d = 0; d < axes.size(); ++d) {
        which.push_back(static_cast<int>(d));
    }
    std::vector<double> scales;
    if (c.version() >= 9) {
        SDX_ASSIGN(scales, real_list(c, 1));
    } else if (c.version() >= 7) {
        std::span<const float> given = c.floats_attribute("scales");
        scales.assign(given.begin(), given.end());
    } else {
        scales = {1, 1, c.float_attribute("height_scale"), c.float_attribute("width_scale")};
    }
    SDX_TRY(scale_axes(axes, which, scales));
    return ResizeCall{options, std::move(axes)};
}

}  // namespace

Result<ResizeCall> read_resampling(const KernelContext& c) {
    SDX_ASSIGN(ResizeCall call, c.schema().name == "Upsample" ? read_upsample(c) : read_resize(c));
    for (const ResizeAxis& axis : call.axes) {
        if (axis.in > 0 && !(axis.scale > 0 && std::isfinite(axis.scale))) {
            return Error{fmt::format("the scale {} is not positive", axis.scale)};
        }
    }
    return call;
}

}  // namespace sardonyx::eval::kernels
