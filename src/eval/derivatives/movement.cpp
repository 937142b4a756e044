// Rules of differentiation: operators that move elements.
#include <algorithm>

#include <fmt/format.h>

#include "eval/derivative.h"

namespace sardonyx::eval::derivatives {
namespace {

Expr int64_scalar(Algebra& a, int64_t number) {
    return a.value(Tensor::scalar<int64_t>(number));
}

// 1, 2, ... under these dims.
Expr numbered(Algebra& a, const Dims& dims) {
    int64_t count = element_count(dims).value_or(0);
    Expr row =
        a.call("Range", {int64_scalar(a, 1), int64_scalar(a, count + 1), int64_scalar(a, 1)});
    return reshape(row, dims);
}

Expr scatter_add(const Expr& into, const Expr& indices, const Expr& g, int64_t axis) {
    return into.algebra().call(
        "ScatterElements", {into, indices, g},
        {ir::make_attribute("axis", axis), ir::make_attribute("reduction", std::string("add"))});
}

// Whether a Scatter's updates are added to the data; otherwise they replace it.
bool adds_updates(Backward& b) {
    std::string_view reduction = b.context().string_attribute("reduction");
    if (!reduction.empty() && reduction != "none" && reduction != "add") {
        b.fail(fmt::format("reduction `{}` has no rule of differentiation; `none` and `add` have",
                           reduction));
    }
    return reduction == "add";
}

}  // namespace

// Moves the places of the elements as it moved them.
void moved(Backward& b) {
    Dims dims = b.x().dims();
    std::vector<Expr> from = b.rerun(numbered(b.algebra(), dims));
    for (size_t i = 0; i < from.size(); ++i) {
        if (b.has_g(i)) {
            b.add(0, put_back(b.g(i), from[i], dims));
        }
    }
}

void resized(Backward& b) {
    std::string_view mode = b.context().string_attribute("mode");
    if (mode != "nearest" || b.context().float_attribute("extrapolation_value") != 0) {
        b.fail(
            fmt::format("mode `{}` has no rule of differentiation; `nearest` without an "
                        "extrapolation value has",
                        mode));
        return;
    }
    moved(b);
}

void reshaped(Backward& b) {
    b.add(0, reshape(b.g(), b.x().dims()));
}

void transposed(Backward& b) {
    std::span<const int64_t> permutation = b.context().ints_attribute("perm");
    int rank = b.x().rank();
    std::vector<int64_t> inverse(rank);
    for (int i = 0; i < rank; ++i) {
        int64_t from = permutation.empty() ? rank - 1 - i : permutation[i];
        inverse[from < 0 ? from + rank : from] = i;
    }
    b.add(0, transpose(b.g(), inverse));
}

void concatenated(Backward& b) {
    int axis = b.axis("axis", b.y().rank());
    int64_t start = 0;
    for (size_t i = 0; i < b.input_count(); ++i) {
        int64_t end = start + b.x(i).dim(axis);
        if (b.needs(i)) {
            b.add(i, slice(b.g(), axis, start, end));
        }
        start = end;
    }
}

void concat_from_sequence(Backward& b) {
    if (b.context().int_attribute("new_axis") == 0) {
        concatenated(b);
        return;
    }
    int axis = b.axis("axis", b.y().rank());
    for (size_t i = 0; i < b.input_count(); ++i) {
        auto at = static_cast<int64_t>(i);
        b.add(i, reshape(slice(b.g(), axis, at, at + 1), b.x(i).dims()));
    }
}

void split(Backward& b) {
    std::vector<Expr> parts;
    for (size_t i = 0; i < b.output_count(); ++i) {
        parts.push_back(b.g(i));
    }
    b.add(0, concat(parts, b.axis("axis", b.x().rank())));
}

void sliced(Backward& b) {
    std::vector<int64_t> starts = b.list("starts", 1);
    std::vector<int64_t> axes = b.list("axes", 3);
    std::vector<int64_t> steps = b.version() < 10 ? std::vector<int64_t>() : b.list("steps", 4);
    if (std::any_of(steps.begin(), steps.end(), [](int64_t step) { return step != 1; })) {
        moved(b);
        return;
    }
    Expr x = b.x();
    std::vector<int64_t> begin(x.rank());
    std::vector<int64_t> end(x.rank());
    for (size_t i = 0; i < starts.size(); ++i) {
        int64_t axis = axes.empty() ? static_cast<int64_t>(i) : axes[i];
        axis += axis < 0 ? x.rank() : 0;
        int64_t n = x.dim(static_cast<int>(axis));
        begin[axis] = std::clamp<int64_t>(starts[i] < 0 ? starts[i] + n : starts[i], 0, n);
    }
    Dims kept = b.y().dims();
    for (int axis = 0; axis < x.rank(); ++axis) {
        end[axis] = x.dim(axis) - kept[axis] - begin[axis];
    }
    b.add(0, pad(b.g(), begin, end));
}

void padded(Backward& b) {
    Expr x = b.x();
    std::vector<int64_t> pads = b.list(b.version() < 2 ? "paddings" : "pads", 1);
    std::vector<int64_t> axes = b.version() < 18 ? std::vector<int64_t>() : b.list("axes", 3);
    axes = axes.empty() ? axes_from(0, x.rank()) : axes;
    std::vector<int64_t> begin(x.rank());
    std::vector<int64_t> end(x.rank());
    for (size_t i = 0; i < axes.size() && 2 * axes.size() == pads.size(); ++i) {
        int64_t axis = axes[i] < 0 ? axes[i] + x.rank() : axes[i];
        begin[axis] = pads[i];
        end[axis] = pads[i + axes.size()];
    }
    std::string mode(b.context().string_attribute("mode"));
    if (mode != "constant") {
        std::vector<int64_t> all = begin;
        all.insert(all.end(), end.begin(), end.end());
        Expr from =
            b.algebra().call("Pad", {numbered(b.algebra(), x.dims()), b.algebra().ints(all)},
                             {ir::make_attribute("mode", mode)});
        b.add(0, put_back(b.g(), from, x.dims()));
        return;
    }
    for (int axis = 0; axis < x.rank(); ++axis) {
        begin[axis] = -begin[axis];
        end[axis] = -end[axis];
    }
    Expr kept = pad(b.g(), begin, end);
    b.add(0, kept);
    if (b.needs(2)) {
        b.add(2, sum_to(b.g(), {}) - sum_to(kept, {}));
    }
}

void tile(Backward& b) {
    Expr x = b.x();
    Dims split;
    std::vector<int64_t> repeats;
    for (int axis = 0; axis < x.rank(); ++axis) {
        repeats.push_back(static_cast<int64_t>(split.size()));
        split.push_back(x.dim(axis) == 0 ? 0 : b.y().dims()[axis] / x.dim(axis));
        split.push_back(x.dim(axis));
    }
    b.add(0, reshape(sum(reshape(b.g(), split), repeats), x.dims()));
}

void gather(Backward& b) {
    Expr x = b.x();
    int axis = b.axis("axis", x.rank());
    int64_t outer = 1;
    int64_t inner = 1;
    for (int i = 0; i < x.rank(); ++i) {
        (i < axis ? outer : inner) *= i == axis ? 1 : x.dim(i);
    }
    int64_t n = x.dim(axis);
    int64_t m = b.x(1).count();
    Algebra& a = b.algebra();
    Expr g = reshape(b.g(), {outer, m, inner});
    Expr into = a.full(g.type(), {outer, n, inner}, 0);
    if (outer == 1) {  // rows, as of an embedding
        Expr rows =
            a.call("ScatterND",
                   {reshape(into, {n, inner}), reshape(b.x(1), {m, 1}), reshape(g, {m, inner})},
                   {ir::make_attribute("reduction", std::string("add"))});
        b.add(0, reshape(rows, x.dims()));
        return;
    }
    Expr indices = expand(reshape(b.x(1), {1, m, 1}), {outer, m, inner});
    b.add(0, reshape(scatter_add(into, indices, g, 1), x.dims()));
}

void gather_elements(Backward& b) {
    b.add(0, scatter_add(zeros_like(b.x()), b.x(1), b.g(), b.axis("axis", b.x().rank())));
}

void gather_nd(Backward& b) {
    if (b.context().int_attribute("batch_dims") != 0) {
        moved(b);
        return;
    }
    b.add(0, b.algebra().call("ScatterND", {zeros_like(b.x()), b.x(1), b.g()},
                              {ir::make_attribute("reduction", std::string("add"))}));
}

void scatter_elements(Backward& b) {
    int64_t axis = b.axis("axis", b.x().rank());
    std::vector<ir::Attribute> attributes = {ir::make_attribute("axis", axis)};
    Algebra& a = b.algebra();
    b.add(0, adds_updates(b)
                 ? b.g()
                 : a.call("ScatterElements", {b.g(), b.x(1), zeros_like(b.x(2))}, attributes));
    b.add(2, a.call("GatherElements", {b.g(), b.x(1)}, attributes));
}

void scatter_nd(Backward& b) {
    Algebra& a = b.algebra();
    b.add(0, adds_updates(b) ? b.g() : a.call("ScatterND", {b.g(), b.x(1), zeros_like(b.x(2))}));
    b.add(2, a.call("GatherND", {b.g(), b.x(1)}));
}

void top_k(Backward& b) {
    b.add(0, scatter_add(zeros_like(b.x()), b.y(1), b.g(), b.axis("axis", b.x().rank())));
}

}  // namespace sardonyx::eval::derivatives
