// Rules of differentiation: Fourier transforms.
#include "eval/gradient/derivative.h"

namespace sardonyx::eval::derivatives {
namespace {

Expr fourier(const Expr& x, int64_t length, int64_t axis, bool is_inverse, bool is_onesided) {
    Algebra& a = x.algebra();
    return a.call(
        "DFT",
        {x, a.value(Tensor::scalar<int64_t>(length)), a.value(Tensor::scalar<int64_t>(axis))},
        {ir::make_attribute("inverse", int64_t{is_inverse}),
         ir::make_attribute("onesided", int64_t{is_onesided})});
}

// x with so many elements along the axis: cut, or zeros at its end.
Expr with_length(const Expr& x, int axis, int64_t length) {
    std::vector<int64_t> begin(x.rank());
    std::vector<int64_t> end(x.rank());
    end[axis] = length - x.dim(axis);
    return pad(x, begin, end);
}

// The bins of a one-sided spectrum stand for two each, except the first one and that of half the
// length.
Expr bin_counts(const Expr& spectrum, int axis, int64_t length) {
    Dims dims(spectrum.rank(), 1);
    dims[axis] = spectrum.dim(axis);
    std::vector<double> counts;
    for (int64_t i = 0; i < dims[axis]; ++i) {
        counts.push_back(i == 0 || 2 * i == length ? 1 : 2);
    }
    return cast(spectrum.algebra().value(Tensor::of<double>(dims, counts)), spectrum.type());
}

}  // namespace

// The transposed transform is the opposite one, but for the factor 1 / length of the inverse.
void dft(Backward& b) {
    const KernelContext& c = b.context();
    Expr x = b.x();
    Result<int64_t> given = c.version() < 20 ? Result<int64_t>(c.int_attribute("axis"))
                            : b.has_x(2)     ? c.int_scalar(2)
                                             : Result<int64_t>(int64_t{-2});
    Result<int> found = c.axis(given.ok() ? *given : 0, x.rank());
    Result<int64_t> length =
        b.has_x(1) ? c.int_scalar(1) : Result<int64_t>(x.dim(found.ok() ? *found : 0));
    if (!given.ok() || !found.ok() || !length.ok()) {
        b.fail("the axis or the length cannot be read");
        return;
    }
    int axis = *found;
    bool is_inverse = c.int_attribute("inverse") != 0;
    bool is_onesided = c.int_attribute("onesided") != 0;
    Expr result;
    if (is_inverse && is_onesided) {  // the result is real, and has the length of the transform
        int64_t n = b.y().dim(axis);
        result = fourier(b.g(), n, axis, false, true) / static_cast<double>(n);
        result = result * bin_counts(result, axis, n);
    } else {
        int64_t n = *length;
        result = fourier(with_length(b.g(), axis, n), n, axis, !is_inverse, false);
        auto factor = static_cast<double>(n);
        result = is_inverse ? result / factor : result * factor;
    }
    result = with_length(result, axis, x.dim(axis));
    int last = x.rank() - 1;
    b.add(0, x.dim(last) == 1 ? slice(result, last, 0, 1) : result);
}

// The transforms of the frames.
std::vector<Expr> stft(Backward& b) {
    const KernelContext& c = b.context();
    Algebra& a = b.algebra();
    Result<int64_t> step = c.int_scalar(1);
    Result<int64_t> length = b.has_x(3)   ? c.int_scalar(3)
                             : b.has_x(2) ? Result<int64_t>(b.x(2).count())
                                          : Result<int64_t>(b.x().dim(1));
    if (!step.ok() || !length.ok()) {
        b.fail("the step or the length of the frames cannot be read");
        return {};
    }
    if (b.y().count() == 0) {
        return {b.y()};
    }
    Expr x = b.x();
    Expr signal = reshape(x, {x.dim(0), x.dim(1), x.dim(2)});
    Expr starts = a.range(0, b.y().dim(1)) * static_cast<double>(*step);
    Expr places = reshape(starts, {starts.count(), 1}) + a.range(0, *length);
    Expr frames = take(signal, places, 1);
    if (b.has_x(2)) {
        frames = frames * reshape(b.x(2), {*length, 1});
    }
    return {fourier(frames, *length, 2, false, c.int_attribute("onesided") != 0)};
}

}  // namespace sardonyx::eval::derivatives
