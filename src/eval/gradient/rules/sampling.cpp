// Definitions of the operators that read images between their pixels: GridSample, AffineGrid,
// RoiAlign, DeformConv; and the rule of MaxRoiPool.
//
// A point is a weighted sum of pixels, its taps. Their places are constants; the weights depend on
// where the point is.
#include <limits>

#include "eval/gradient/derivative.h"
#include "eval/kernels/roi_pool.h"
#include "eval/loops/window.h"

namespace sardonyx::eval::derivatives {
namespace {

// The taps of points along an axis, or in an image in row-major order: INT64 places and weights,
// each [batch, points].
struct PointTaps {
    std::vector<Expr> places;
    std::vector<Expr> weights;
};

// All products of a tap of the image so far and a tap of the next axis, of `size` pixels.
PointTaps with_axis(const PointTaps& image, const PointTaps& axis, int64_t size) {
    if (image.places.empty()) {
        return axis;
    }
    PointTaps result;
    for (size_t i = 0; i < image.places.size(); ++i) {
        for (size_t k = 0; k < axis.places.size(); ++k) {
            result.places.push_back(image.places[i] * static_cast<double>(size) + axis.places[k]);
            result.weights.push_back(image.weights[i] * axis.weights[k]);
        }
    }
    return result;
}

// The pixels of the taps times their weights, [batch, taps, points, channels]. Batch element i
// reads image number[i] of `images`, [number, channels, spatial...].
Expr weighted_pixels(const Expr& images, const Expr& number, const PointTaps& taps) {
    int64_t count = images.dim(0);
    int64_t channels = images.dim(1);
    int64_t plane = images.count() / (count * channels);
    Expr pixels = transpose(reshape(images, {count, channels, plane}), {0, 2, 1});
    Dims one = {taps.places[0].dim(0), 1, taps.places[0].dim(1)};
    std::vector<Expr> places;
    std::vector<Expr> weights;
    for (size_t i = 0; i < taps.places.size(); ++i) {
        places.push_back(reshape(taps.places[i], one));
        weights.push_back(reshape(taps.weights[i], one));
    }
    Expr start = reshape(number, {one[0], 1, 1}) * static_cast<double>(plane);
    Expr read = take(reshape(pixels, {count * plane, channels}), concat(places, 1) + start, 0);
    Dims spread = read.dims();
    spread[3] = 1;
    return read * reshape(concat(weights, 1), spread);
}

Expr clip(const Expr& x, double low, double high) {
    Algebra& a = x.algebra();
    return a.call("Clip", {x, a.scalar(x.type(), low), a.scalar(x.type(), high)});
}

// BOOL: low <= x <= high.
Expr is_within(const Expr& x, double low, double high) {
    return !(x < low) && !(x > high);
}

// x mirrored at the two borders until it lies between them.
Expr mirrored(const Expr& x, double low, double high) {
    double range = high - low;
    if (range <= 0) {
        return zeros_like(x) + low;
    }
    Algebra& a = x.algebra();
    Expr past = a.call("Mod", {apply("Abs", x - low), a.scalar(x.type(), 2 * range)},
                       {ir::make_attribute("fmod", int64_t{1})});
    return where(past > range, 2 * range - past, past) + low;
}

// An axis of an image, and what lies outside of it.
struct ImageAxis {
    double size = 1;
    double low = 0;  // mirrors of "reflection"
    double high = 0;
    std::string_view padding = "zeros";  // or border, reflection

    // Adds the tap at `place`, an integer.
    void add_tap(PointTaps* taps, const Expr& place, const Expr& weight) const {
        Expr inside = padding == "reflection" ? mirrored(place, low, high) : place;
        taps->places.push_back(cast(clip(inside, 0, size - 1), ElementType::kInt64));
        taps->weights.push_back(padding == "zeros" ? where(is_within(place, 0, size - 1), weight, 0)
                                                   : weight);
    }

    // The taps of points at `x`, in pixels: 1 (nearest), 2 (linear) or 4 (cubic) of them.
    PointTaps taps_at(Expr x, int count) const {
        // Infinities and NaN are outside.
        x = where(equals(x - x, 0), x, padding == "zeros" ? -2 * size - 8 : 0);
        PointTaps taps;
        if (count == 1) {
            add_tap(&taps, apply("Round", x), x.algebra().full(x.type(), x.dims(), 1));
            return taps;
        }
        Expr is_inside = is_within(x, low, high);
        x = padding == "border"       ? where(is_inside, x, clip(x, 0, size - 1))
            : padding == "reflection" ? where(is_inside, x, mirrored(x, low, high))
                                      : x;
        Expr first = apply("Floor", x);
        Expr r = x - first;
        if (count == 2) {
            add_tap(&taps, first, 1 - r);
            add_tap(&taps, first + 1, r);
            return taps;
        }
        constexpr double kA = -0.75;
        auto near = [](const Expr& d) { return (d * (kA + 2) - (kA + 3)) * d * d + 1; };
        auto far = [](const Expr& d) { return ((d * kA - 5 * kA) * d + 8 * kA) * d - 4 * kA; };
        add_tap(&taps, first - 1, far(r + 1));
        add_tap(&taps, first, near(r));
        add_tap(&taps, first + 1, near(1 - r));
        add_tap(&taps, first + 2, far(2 - r));
        return taps;
    }
};

// [batch, points, channels] as the result of an operator.
Expr channels_first(const Expr& x, const Dims& dims) {
    return reshape(transpose(x, {0, 2, 1}), dims);
}

// The samples of RoiAlign along one axis.
struct RegionSamples {
    Expr at;       // [regions, bins, samples], in pixels
    Expr is_used;  // BOOL [regions, 1, samples]: a region may need fewer
    Expr count;    // [regions, 1, 1]: how many a bin of the region has
};

RegionSamples region_samples(Backward& b, const Expr& low, const Expr& high, int64_t bins) {
    const KernelContext& c = b.context();
    Algebra& a = b.algebra();
    double scale = c.float_attribute("spatial_scale");
    bool is_half_pixel = c.string_attribute("coordinate_transformation_mode") == "half_pixel";
    Expr begin = low * scale - (is_half_pixel ? 0.5 : 0.0);
    Expr size = (high - low) * scale;
    size = is_half_pixel ? size : where(size < 1, 1, size);
    Expr bin = size / static_cast<double>(bins);
    int64_t samples = c.int_attribute("sampling_ratio");
    RegionSamples result;
    result.count = a.full(bin.type(), bin.dims(), static_cast<double>(samples));
    if (samples == 0) {
        result.count = where(bin > 0, apply("Ceil", bin), 0);
        Expr most = cast(apply("ReduceMax", result.count), ElementType::kInt64);
        samples = most.is_none() ? 1 : most.value().tensor().elements<int64_t>()[0];
    }
    samples = std::max<int64_t>(1, samples);
    auto numbers = [&](int64_t n, const Dims& dims) {
        return cast(reshape(a.range(0, n), dims), bin.type());
    };
    Expr sample = numbers(samples, {1, 1, samples});
    Expr share = bin / where(result.count > 0, result.count, 1);
    result.at = begin + bin * numbers(bins, {1, bins, 1}) + (sample + 0.5) * share;
    result.is_used = sample < result.count;
    return result;
}

// [regions, bins, samples] as taps of [regions, bins * samples]; nothing is read further than a
// pixel outside.
PointTaps region_taps(const RegionSamples& samples, double size) {
    Dims dims = samples.at.dims();
    Expr is_read = samples.is_used && is_within(samples.at, -1, size);
    Expr x = clip(samples.at, 0, size - 1);
    Expr first = apply("Floor", x);
    Expr r = where(is_read, x - first, 0);
    auto flat = [&](const Expr& e) { return reshape(e, {dims[0], dims[1] * dims[2]}); };
    auto place = [&](const Expr& e) {
        return flat(cast(clip(e, 0, size - 1), ElementType::kInt64));
    };
    return {{place(first), place(first + 1)}, {flat(where(is_read, 1 - r, 0)), flat(r)}};
}

// Points of a row or a column of a grid, [batch, n], as points of the grid.
PointTaps over_grid(const PointTaps& taps, const Dims& as, const Dims& grid) {
    auto spread = [&](const Expr& e) {
        return reshape(expand(reshape(e, as), grid), {grid[0], grid[1] * grid[2]});
    };
    PointTaps result;
    for (size_t i = 0; i < taps.places.size(); ++i) {
        result.places.push_back(spread(taps.places[i]));
        result.weights.push_back(spread(taps.weights[i]));
    }
    return result;
}

// DOUBLE [1, kernel * windows]: where each tap of each window lies along axis `d`.
Tensor window_places(const WindowGeometry& g, size_t d) {
    int64_t inner_taps = 1;
    int64_t inner_windows = 1;
    for (size_t k = d + 1; k < g.in.size(); ++k) {
        inner_taps *= g.kernel[k];
        inner_windows *= g.out[k];
    }
    std::vector<double> places;
    for (int64_t tap = 0; tap < g.kernel_count(); ++tap) {
        for (int64_t window = 0; window < g.out_count(); ++window) {
            places.push_back(static_cast<double>(window / inner_windows % g.out[d] * g.strides[d] -
                                                 g.begin[d] +
                                                 tap / inner_taps % g.kernel[d] * g.dilations[d]));
        }
    }
    return Tensor::of<double>({1, static_cast<int64_t>(places.size())}, places);
}

}  // namespace

std::vector<Expr> grid_sample(Backward& b) {
    const KernelContext& c = b.context();
    if (b.x().count() == 0 || b.y().count() == 0) {
        return {b.y()};
    }
    ElementType type = wide(b.x(0)).type();
    type = b.x(1).type() == ElementType::kDouble ? b.x(1).type() : type;
    Expr images = cast(b.x(0), type);
    int64_t batch = images.dim(0);
    int64_t axes = images.rank() - 2;
    int64_t points = b.x(1).count() / (batch * axes);
    Expr grid = reshape(cast(b.x(1), type), {batch, points, axes});
    bool align = c.int_attribute("align_corners") != 0;
    std::string_view mode = c.string_attribute("mode");
    int count = mode == "nearest" ? 1 : mode == "cubic" || mode == "bicubic" ? 4 : 2;
    PointTaps taps;
    for (int64_t d = 0; d < axes; ++d) {
        auto n = static_cast<double>(images.dim(static_cast<int>(d) + 2));
        ImageAxis axis = {n, align ? 0 : -0.5, align ? n - 1 : n - 0.5,
                          c.string_attribute("padding_mode")};
        // The last axis comes first in the grid.
        Expr x = reshape(slice(grid, 2, axes - 1 - d, axes - d), {batch, points});
        x = align ? (x + 1) / 2 * (n - 1) : ((x + 1) * n - 1) / 2;
        taps = with_axis(taps, axis.taps_at(x, count), static_cast<int64_t>(n));
    }
    Expr pixels = weighted_pixels(images, b.algebra().range(0, batch), taps);
    return {cast(channels_first(squeezed_sum(pixels, {1}), b.y().dims()), b.y().type())};
}

// The grid of the matrix that changes nothing, times the matrices.
std::vector<Expr> affine_grid(Backward& b) {
    Algebra& a = b.algebra();
    Expr theta = wide(b.x());
    int64_t axes = theta.dim(1);
    std::vector<int64_t> size = b.list("size", 1);
    if (b.y().count() == 0 || size.empty()) {
        return {b.y()};
    }
    size[0] = 1;
    Tensor same = Tensor::zeros(ElementType::kDouble, {1, axes, axes + 1});
    for (int64_t i = 0; i < axes; ++i) {
        same.mutable_elements<double>()[i * (axes + 2)] = 1;
    }
    Expr grid =
        a.call("AffineGrid", {a.value(same), a.ints(size)},
               {ir::make_attribute("align_corners", b.context().int_attribute("align_corners"))});
    int64_t points = grid.count() / axes;
    grid = cast(reshape(grid, {points, axes}), theta.type());
    grid = concat({grid, a.full(grid.type(), {points, 1}, 1)}, 1);
    return {cast(reshape(matmul(grid, swap_last_axes(theta)), b.y().dims()), b.y().type())};
}

std::vector<Expr> roi_align(Backward& b) {
    if (b.y().count() == 0) {
        return {b.y()};
    }
    Expr images = wide(b.x(0));
    Expr regions = cast(b.x(1), images.type());
    int64_t count = regions.dim(0);
    auto corner = [&](int64_t i) { return reshape(slice(regions, 1, i, i + 1), {count, 1, 1}); };
    int64_t height = b.y().dim(2);
    int64_t width = b.y().dim(3);
    RegionSamples y = region_samples(b, corner(1), corner(3), height);
    RegionSamples x = region_samples(b, corner(0), corner(2), width);
    int64_t rows = height * y.at.dim(2);
    int64_t columns = width * x.at.dim(2);
    PointTaps vertical = over_grid(region_taps(y, static_cast<double>(images.dim(2))),
                                   {count, rows, 1}, {count, rows, columns});
    PointTaps horizontal = over_grid(region_taps(x, static_cast<double>(images.dim(3))),
                                     {count, 1, columns}, {count, rows, columns});
    Expr pixels = weighted_pixels(images, cast(b.x(2), ElementType::kInt64),
                                  with_axis(vertical, horizontal, images.dim(3)));
    // The taps, and the samples of both axes, are what a bin is made of.
    pixels = reshape(
        pixels, {count, pixels.dim(1), height, y.at.dim(2), width, x.at.dim(2), images.dim(1)});
    Expr bins;
    if (b.context().string_attribute("mode") == "max") {
        constexpr double kNothing = -std::numeric_limits<double>::infinity();
        Expr is_used = reshape(y.is_used, {count, 1, 1, y.at.dim(2), 1, 1, 1}) &&
                       reshape(x.is_used, {count, 1, 1, 1, 1, x.at.dim(2), 1});
        bins = b.algebra().call("ReduceMax",
                                {where(is_used, pixels, kNothing), b.algebra().ints({1, 3, 5})},
                                {ir::make_attribute("keepdims", int64_t{0})});
        bins = where(equals(bins, kNothing), 0, bins);
    } else {
        Expr samples = reshape(y.count * x.count, {count, 1, 1, 1});
        bins = squeezed_sum(pixels, {1, 3, 5}) / where(samples > 0, samples, 1);
    }
    return {cast(transpose(bins, {0, 3, 1, 2}), b.y().type())};
}

// The corners of the regions are rounded, so that only the elements count.
void max_roi_pool(Backward& b) {
    Result<Tensor> places = kernels::max_roi_places(b.context());
    if (!places.ok()) {
        b.fail(places.error().message);
        return;
    }
    b.add(0, put_back(b.g(), b.algebra().value(std::move(places).value()), b.x().dims()));
}

// The columns of a convolution, each read where its offsets lead, times the weights.
std::vector<Expr> deform_conv(Backward& b) {
    const KernelContext& c = b.context();
    if (b.x().count() == 0 || b.y().count() == 0) {
        return {b.y()};
    }
    Expr x = wide(b.x(0));
    Dims w = b.x(1).dims();
    Result<WindowGeometry> found = window_geometry(c, Dims(x.dims().begin() + 2, x.dims().end()),
                                                   Dims(w.begin() + 2, w.end()));
    if (!found.ok()) {
        b.fail(found.error().message);
        return {};
    }
    const WindowGeometry& g = *found;
    int64_t kernel = g.kernel_count();
    int64_t windows = g.out_count();
    auto axes = static_cast<int64_t>(g.in.size());
    int64_t groups = c.int_attribute("group", 1);
    int64_t images = x.dim(0) * c.int_attribute("offset_group", 1);
    int64_t channels = x.dim(0) * x.dim(1) / images;
    Expr offsets = reshape(cast(b.x(2), x.type()), {images, kernel, axes, windows});
    PointTaps taps;
    for (int64_t d = 0; d < axes; ++d) {
        Expr start = cast(b.algebra().value(window_places(g, d)), x.type());
        Expr shift = reshape(slice(offsets, 2, d, d + 1), {images, kernel * windows});
        ImageAxis axis = {static_cast<double>(g.in[d])};
        taps = with_axis(taps, axis.taps_at(start + shift, 2), g.in[d]);
    }
    Dims planes = {images, channels};
    planes.insert(planes.end(), g.in.begin(), g.in.end());
    Expr pixels = weighted_pixels(reshape(x, planes), b.algebra().range(0, images), taps);
    Expr columns = channels_first(squeezed_sum(pixels, {1}), {images, channels, kernel, windows});
    if (b.has_x(4)) {
        columns = columns * reshape(cast(b.x(4), x.type()), {images, 1, kernel, windows});
    }
    int64_t height = x.dim(1) / groups * kernel;
    Expr y = matmul(reshape(cast(b.x(1), x.type()), {groups, w[0] / groups, height}),
                    reshape(columns, {x.dim(0), groups, height, windows}));
    y = reshape(y, {x.dim(0), w[0], windows});
    y = b.has_x(3) ? y + reshape(cast(b.x(3), x.type()), {w[0], 1}) : y;
    return {cast(reshape(y, b.y().dims()), b.y().type())};
}

}  // namespace sardonyx::eval::derivatives
