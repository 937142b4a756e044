// Rules of differentiation: convolutions and pools.
//
// All of them are products of windows with weights. The input is first brought to just what the
// windows cover (`covered`), so that none of the products below has padding, and the gradient by it
// is brought back (`uncovered`).
#include <algorithm>

#include "eval/gradient/derivative.h"
#include "eval/loops/convolution.h"

namespace sardonyx::eval::derivatives {
namespace {

// How much the windows cover beyond the input, at the begin and the end of each axis of
// [N, C, spatial...]; negative: they end before it.
struct Margin {
    std::vector<int64_t> begin = {0, 0};
    std::vector<int64_t> end = {0, 0};
};

Margin margin_of(const WindowGeometry& g) {
    Margin margin;
    for (size_t d = 0; d < g.in.size(); ++d) {
        int64_t covered = (g.out[d] - 1) * g.strides[d] + g.extent(d);
        margin.begin.push_back(g.begin[d]);
        margin.end.push_back(covered - g.begin[d] - g.in[d]);
    }
    return margin;
}

Expr covered(const Expr& x, const WindowGeometry& g) {
    Margin margin = margin_of(g);
    return pad(x, margin.begin, margin.end);
}

Expr uncovered(const Expr& x, const WindowGeometry& g) {
    Margin margin = margin_of(g);
    std::transform(margin.begin.begin(), margin.begin.end(), margin.begin.begin(), std::negate());
    std::transform(margin.end.begin(), margin.end.end(), margin.end.begin(), std::negate());
    return pad(x, margin.begin, margin.end);
}

std::vector<ir::Attribute> window_parameters(const Dims& strides, const Dims& dilations,
                                             int64_t groups) {
    return {ir::make_attribute("strides", strides), ir::make_attribute("dilations", dilations),
            ir::make_attribute("group", groups)};
}

// --- The three products of x [N, C, in...], w [O, C / groups, kernel...] and y [N, O, out...],
// each linear in two of them; x is covered.

Expr make_y(const Expr& x, const Expr& w, const WindowGeometry& g, int64_t groups) {
    return x.algebra().call("Conv", {x, w}, window_parameters(g.strides, g.dilations, groups));
}

Expr make_x(const Expr& w, const Expr& y, const WindowGeometry& g, int64_t groups) {
    return y.algebra().call("ConvTranspose", {y, w},
                            window_parameters(g.strides, g.dilations, groups));
}

// A convolution of x by y, in which channels and batch, and strides and dilations, change places.
Expr make_w(const Expr& x, const Expr& y, const WindowGeometry& g, int64_t groups) {
    Dims w_dims = {y.dim(1), x.dim(1) / groups};
    w_dims.insert(w_dims.end(), g.kernel.begin(), g.kernel.end());
    if (x.count() == 0 || y.count() == 0) {
        return x.algebra().full(x.type(), w_dims, 0);
    }
    auto grouped = [&](const Expr& e, std::vector<int64_t> order, Dims dims) {
        Dims split = {e.dim(0), groups, e.dim(1) / groups};
        split.insert(split.end(), e.dims().begin() + 2, e.dims().end());
        std::vector<int64_t> spatial = axes_from(3, e.rank() + 1);
        order.insert(order.end(), spatial.begin(), spatial.end());
        dims.insert(dims.end(), e.dims().begin() + 2, e.dims().end());
        return reshape(transpose(reshape(e, split), order), dims);
    };
    Expr images = grouped(x, {2, 1, 0}, {x.dim(1) / groups, groups * x.dim(0)});
    Expr weights = grouped(y, {1, 2, 0}, {y.dim(1), y.dim(0)});
    Expr w = x.algebra().call("Conv", {images, weights},
                              window_parameters(g.dilations, g.strides, groups));
    std::vector<int64_t> order = axes_from(0, x.rank());
    std::swap(order[0], order[1]);
    return transpose(w, order);
}

// --- Pools: each channel is an image of its own, [N * C, 1, spatial...].

Expr as_planes(const Expr& x) {
    Dims dims = x.dims();
    dims.erase(dims.begin());
    dims[0] = 1;
    dims.insert(dims.begin(), x.dim(0) * x.dim(1));
    return reshape(x, dims);
}

Expr unit_kernel(const Expr& x, const WindowGeometry& g) {
    Dims dims = {1, 1};
    dims.insert(dims.end(), g.kernel.begin(), g.kernel.end());
    return x.algebra().full(x.type(), dims, 1);
}

// Adds each element of y to all elements of its window.
Expr spread(const Expr& y, const Dims& x_dims, const WindowGeometry& g) {
    if (y.count() == 0) {
        return y.algebra().full(y.type(), x_dims, 0);
    }
    Expr planes = make_x(unit_kernel(y, g), as_planes(y), g, 1);
    return reshape(uncovered(planes, g), x_dims);
}

bool read_pool(Backward& b, WindowGeometry* g) {
    std::span<const int64_t> kernel = b.context().ints_attribute("kernel_shape");
    Dims x = b.x().dims();
    Result<WindowGeometry> found = window_geometry(b.context(), Dims(x.begin() + 2, x.end()),
                                                   Dims(kernel.begin(), kernel.end()));
    if (!found.ok()) {
        b.fail(found.error().message);
        return false;
    }
    *g = std::move(found).value();
    return true;
}

std::vector<int64_t> spatial_axes(Backward& b) {
    return axes_from(2, b.x().rank());
}

double exponent_of(Backward& b) {
    return b.version() < 2 ? b.context().float_attribute("p")
                           : static_cast<double>(b.context().int_attribute("p"));
}

}  // namespace

void conv(Backward& b) {
    Dims x = b.x(0).dims();
    Dims w = b.x(1).dims();
    Result<WindowGeometry> g =
        window_geometry(b.context(), Dims(x.begin() + 2, x.end()), Dims(w.begin() + 2, w.end()));
    if (!g.ok()) {
        b.fail(g.error().message);
        return;
    }
    int64_t groups = b.context().int_attribute("group");
    if (b.needs(0)) {
        b.add(0, b.y().count() == 0 ? zeros_like(b.x())
                                    : uncovered(make_x(b.x(1), b.g(), *g, groups), *g));
    }
    if (b.needs(1)) {
        b.add(1, make_w(covered(b.x(0), *g), b.g(), *g, groups));
    }
    if (b.needs(2)) {
        std::vector<int64_t> axes = spatial_axes(b);
        axes.push_back(0);
        b.add(2, reshape(sum(b.g(), axes), b.x(2).dims()));
    }
}

// The image is the result here.
void conv_transpose(Backward& b) {
    Result<ConvShape> shape = kernels::transposed_shape(b.context(), b.x(0).dims(), b.x(1).dims());
    if (!shape.ok()) {
        b.fail(shape.error().message);
        return;
    }
    const WindowGeometry& g = shape->windows;
    Expr image = covered(b.g(), g);
    if (b.needs(0)) {
        b.add(0, b.x().count() == 0 ? zeros_like(b.x()) : make_y(image, b.x(1), g, shape->groups));
    }
    if (b.needs(1)) {
        b.add(1, make_w(image, b.x(0), g, shape->groups));
    }
    if (b.needs(2)) {
        std::vector<int64_t> axes = spatial_axes(b);
        axes.push_back(0);
        b.add(2, reshape(sum(b.g(), axes), b.x(2).dims()));
    }
}

void average_pool(Backward& b) {
    WindowGeometry g;
    if (!read_pool(b, &g) || b.y().count() == 0) {
        return;
    }
    // How many elements each window has: the sum of its ones.
    bool counts_padding = b.context().int_attribute("count_include_pad", 0) != 0;
    Dims ones = {1, 1};
    WindowGeometry counted = g;
    for (size_t d = 0; d < g.in.size() && counts_padding; ++d) {
        counted.in[d] += g.begin[d] + g.end[d];
        counted.begin[d] = counted.end[d] = 0;
    }
    ones.insert(ones.end(), counted.in.begin(), counted.in.end());
    Expr count = make_y(covered(b.algebra().full(b.y().type(), ones, 1), counted),
                        unit_kernel(b.y(), g), counted, 1);
    b.add(0, spread(b.g() / count, b.x().dims(), g));
}

void lp_pool(Backward& b) {
    WindowGeometry g;
    if (!read_pool(b, &g)) {
        return;
    }
    double p = exponent_of(b);
    Expr y = b.y();
    Expr is_zero = equals(y, 0);
    Expr part = b.g() * where(is_zero, 0, power(where(is_zero, 1, y), 1 - p));
    Expr x = b.x();
    b.add(0, spread(part, x.dims(), g) * power(apply("Abs", x), p - 1) * apply("Sign", x));
}

// The gradient goes to the first of the greatest elements.
void max_pool(Backward& b) {
    std::vector<ir::Attribute> attributes;
    for (const ir::Attribute& attribute : b.record().attributes) {
        if (attribute.name != "storage_order") {
            attributes.push_back(attribute);
        }
    }
    Expr places = b.algebra().call("MaxPool", {b.x()}, attributes, 2)[1] + 1;
    b.add(0, put_back(b.g(), places, b.x().dims()));
}

// Adds each element of a block where it stands in the image.
void col2im(Backward& b) {
    Result<WindowGeometry> found =
        window_geometry(b.context(), b.list("image_shape", 1), b.list("block_shape", 2));
    if (!found.ok()) {
        b.fail(found.error().message);
        return;
    }
    const WindowGeometry& g = *found;
    // Counted from 1; 0: in the padding.
    Tensor places = Tensor::zeros(ElementType::kInt64, {g.kernel_count(), g.out_count()});
    int64_t* place = places.mutable_elements<int64_t>().data();
    WindowWalk walk(g);
    for (int64_t window = 0; window < g.out_count(); ++window, walk.next()) {
        for (const Tap& tap : walk.taps()) {
            place[tap.tap * g.out_count() + window] = tap.offset + 1;
        }
    }
    Expr images = reshape(b.g(), {b.g().dim(0) * b.g().dim(1), g.in_count()});
    Expr blocks = take(pad(images, {0, 1}, {0, 0}), b.algebra().value(places), 1);
    b.add(0, reshape(blocks, b.x().dims()));
}

std::vector<Expr> global_average_pool(Backward& b) {
    return {mean(b.x(), spatial_axes(b))};
}

std::vector<Expr> global_lp_pool(Backward& b) {
    double p = exponent_of(b);
    return {power(sum(power(apply("Abs", b.x()), p), spatial_axes(b)), 1 / p)};
}

std::vector<Expr> global_max_pool(Backward& b) {
    std::vector<int64_t> axes = spatial_axes(b);
    return {axes.empty() ? b.x() : b.algebra().call("ReduceMax", {b.x(), b.algebra().ints(axes)})};
}

}  // namespace sardonyx::eval::derivatives
