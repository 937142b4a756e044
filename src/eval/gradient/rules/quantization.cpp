// Rules of differentiation: codes and their scales. The codes themselves are steps, which count as
// constants.
#include "eval/gradient/derivative.h"

namespace sardonyx::eval::derivatives {
namespace {

// What the scales of DequantizeLinear belong to: the data, with `padding` zeros at the end of
// `axis`, seen as `data`, which the scales, seen as `scales`, are broadcast to.
struct ScaleLayout {
    Dims data;
    Dims scales;
    int axis = 0;
    int64_t padding = 0;
};

ScaleLayout scale_layout(Backward& b) {
    Dims dims = b.x(0).dims();
    Expr scale = b.x(1);
    int64_t block = b.context().int_attribute("block_size", 0);
    if (scale.rank() == 0 || (scale.count() == 1 && block == 0)) {
        return {{b.x(0).count()}, {1}};
    }
    ScaleLayout layout;
    layout.axis = b.axis("axis", b.x(0).rank());
    layout.data.assign(dims.begin(), dims.begin() + layout.axis);
    if (block == 0) {
        layout.data = dims;
        layout.scales.assign(dims.size(), 1);
        layout.scales[layout.axis] = scale.count();
        return layout;
    }
    layout.scales = layout.data;
    int64_t blocks = scale.dim(layout.axis);
    layout.padding = blocks * block - dims[layout.axis];
    layout.data.insert(layout.data.end(), {blocks, block});
    layout.scales.insert(layout.scales.end(), {blocks, 1});
    for (Dims* view : {&layout.data, &layout.scales}) {
        view->insert(view->end(), dims.begin() + layout.axis + 1, dims.end());
    }
    return layout;
}

}  // namespace

// The difference of code and zero point, times the scale.
void dequantize_linear(Backward& b) {
    ScaleLayout layout = scale_layout(b);
    std::vector<int64_t> none(b.x(0).rank());
    std::vector<int64_t> padding = none;
    if (layout.padding > 0) {
        padding[layout.axis] = layout.padding;
    }
    auto by_scale = [&](const Expr& x) {
        Expr total = sum_to(reshape(pad(x, none, padding), layout.data), layout.scales);
        return reshape(total, b.x(1).dims());
    };
    if (b.needs(1)) {
        Expr ones = b.algebra().full(b.x(1).type(), b.x(1).dims(), 1);
        b.add(1, by_scale(b.g() * b.rerun({b.x(0), ones})[0]));
    }
    if (b.needs(0) || b.needs(2)) {  // codes of 8-bit floats
        Expr spread = expand(reshape(cast(b.x(1), b.g().type()), layout.scales), layout.data);
        Dims padded = b.x(0).dims();
        if (layout.padding > 0) {
            padded[layout.axis] += layout.padding;
            spread = slice(reshape(spread, padded), layout.axis, 0, b.x(0).dim(layout.axis));
        }
        Expr by_code = b.g() * reshape(spread, b.x(0).dims());
        b.add(0, by_code);
        b.add(2, -by_scale(by_code));
    }
}

// Its scale is that of the interval of the elements and 0.
std::vector<Expr> dynamic_quantize_linear(Backward& b) {
    Expr x = b.x();
    Algebra& a = b.algebra();
    Expr zero = a.full(x.type(), {1}, 0);
    Expr all = concat({zero, reshape(x, {x.count()})}, 0);
    auto end = [&](std::string_view op_type) {
        return a.call(op_type, {all}, {ir::make_attribute("keepdims", int64_t{0})});
    };
    return {Expr(), (end("ReduceMax") - end("ReduceMin")) / 255};
}

}  // namespace sardonyx::eval::derivatives
