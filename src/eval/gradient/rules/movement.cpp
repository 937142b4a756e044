// Rules of differentiation: operators that move elements.
#include <algorithm>

#include "eval/gradient/derivative.h"
#include "eval/kernels/resize.h"

namespace sardonyx::eval::derivatives {
namespace {

// first, first + 1, ... under these dims.
Expr numbered(Algebra& a, const Dims& dims, int64_t first = 1) {
    return reshape(a.range(first, first + element_count(dims).value_or(0)), dims);
}

Expr scatter_add(const Expr& into, const Expr& indices, const Expr& g, int64_t axis) {
    return into.algebra().call(
        "ScatterElements", {into, indices, g},
        {ir::make_attribute("axis", axis), ir::make_attribute("reduction", std::string("add"))});
}

// Adds to zeros of `dims` what Gather has taken from there: the elements at `indices` of the axis.
Expr give_back(const Expr& taken, const Expr& indices, const Dims& dims, int axis) {
    int64_t outer = 1;
    int64_t inner = 1;
    for (int i = 0; i < static_cast<int>(dims.size()); ++i) {
        (i < axis ? outer : inner) *= i == axis ? 1 : dims[i];
    }
    int64_t n = dims[axis];
    int64_t m = indices.count();
    Algebra& a = taken.algebra();
    Expr g = reshape(taken, {outer, m, inner});
    Expr into = a.full(g.type(), {outer, n, inner}, 0);
    if (outer == 1) {  // rows, as of an embedding
        Expr rows =
            a.call("ScatterND",
                   {reshape(into, {n, inner}), reshape(indices, {m, 1}), reshape(g, {m, inner})},
                   {ir::make_attribute("reduction", std::string("add"))});
        return reshape(rows, dims);
    }
    Expr places = expand(reshape(indices, {1, m, 1}), {outer, m, inner});
    return reshape(scatter_add(into, places, g, 1), dims);
}

// How ScatterElements and ScatterND find the places of their updates.
struct Scattering {
    std::string_view read_op;
    std::string_view write_op;
    std::vector<ir::Attribute> attributes;
    Expr indices;

    Expr read(const Expr& data) const {
        return data.algebra().call(read_op, {data, indices}, attributes);
    }
    Expr write(const Expr& into, const Expr& updates, const std::string& reduction) const {
        std::vector<ir::Attribute> all = attributes;
        all.push_back(ir::make_attribute("reduction", reduction));
        return into.algebra().call(write_op, {into, indices, updates}, all);
    }
};

// Each factor has the product of the others, also where one of them is 0.
void scattered_factors(Backward& b, const Scattering& at) {
    Expr data = b.x(0);
    Expr updates = b.x(2);
    Expr is_zero = equals(updates, 0);
    Expr zero = cast(is_zero, data.type());
    Expr factor = where(is_zero, 1, updates);
    Expr zeros = at.write(zeros_like(data), zero, "add");
    Expr product = at.write(b.algebra().full(data.type(), data.dims(), 1), factor, "mul");
    b.add(0, b.g() * where(zeros > 0, 0, product));
    Expr others = at.read(data * product) / factor;
    b.add(2, at.read(b.g()) * where(at.read(zeros) > zero, 0, others));
}

// Where several are the greatest, each of them has its part.
void scattered_extremum(Backward& b, const Scattering& at) {
    Expr y = b.y();
    Expr data_won = cast(equals(b.x(0), y), y.type());
    Expr update_won = cast(equals(b.x(2), at.read(y)), y.type());
    Expr count = at.write(data_won, update_won, "add");
    Expr part = b.g() / where(count > 0, count, 1);  // none: NaN
    b.add(0, part * data_won);
    b.add(2, at.read(part) * update_won);
}

void scattered(Backward& b, const Scattering& at) {
    std::string_view reduction = b.context().string_attribute("reduction");
    if (reduction == "mul") {
        scattered_factors(b, at);
    } else if (reduction == "max" || reduction == "min") {
        scattered_extremum(b, at);
    } else {
        b.add(0, reduction == "add" ? b.g() : at.write(b.g(), zeros_like(b.x(2)), "none"));
        b.add(2, at.read(b.g()));
    }
}

// Multiplies each axis of `x` by a matrix of resize_matrices, transposed.
Expr resized_back(const Expr& x, const std::vector<Tensor>& matrices) {
    Expr result = wide(x);
    for (size_t d = 0; d < matrices.size(); ++d) {
        if (!matrices[d].is_valid()) {
            continue;
        }
        Dims dims = result.dims();
        Dims rows = {1, dims[d], 1};
        for (size_t i = 0; i < dims.size(); ++i) {
            rows[i < d ? 0 : 2] *= i == d ? 1 : dims[i];
        }
        Expr matrix = swap_last_axes(cast(x.algebra().value(matrices[d]), result.type()));
        dims[d] = matrix.dim(0);
        result = reshape(matmul(matrix, reshape(result, rows)), dims);
    }
    return result;
}

}  // namespace

// Moves the places of the elements as it moved them.
void moved(Backward& b) {
    Dims dims = b.x().dims();
    std::vector<Expr> from = b.rerun({numbered(b.algebra(), dims)});
    for (size_t i = 0; i < from.size(); ++i) {
        if (b.has_g(i)) {
            b.add(0, put_back(b.g(i), from[i], dims));
        }
    }
}

// The same for inputs 0 and 1.
void moved_both(Backward& b) {
    Dims first = b.x(0).dims();
    Dims second = b.x(1).dims();
    int64_t n = b.x(0).count();
    int64_t all = n + b.x(1).count();
    Algebra& a = b.algebra();
    Expr from = b.rerun({numbered(a, first), numbered(a, second, 1 + n)})[0];
    Expr back = put_back(b.g(), from, {all});
    b.add(0, reshape(slice(back, 0, 0, n), first));
    b.add(1, reshape(slice(back, 0, n, all), second));
}

// The same where the operator takes floats only: DOUBLE counts far enough.
void max_unpool(Backward& b) {
    Dims dims = b.x().dims();
    Expr from = b.rerun({cast(numbered(b.algebra(), dims), ElementType::kDouble)})[0];
    b.add(0, put_back(b.g(), cast(from, ElementType::kInt64), dims));
}

void resized(Backward& b) {
    const KernelContext& c = b.context();
    if (c.string_attribute("mode") == "nearest" &&
        c.string_attribute("coordinate_transformation_mode") != "tf_crop_and_resize") {
        moved(b);
        return;
    }
    if (b.x().count() == 0 || b.y().count() == 0) {
        return;
    }
    Result<std::vector<Tensor>> matrices = kernels::resize_matrices(c);
    if (!matrices.ok()) {
        b.fail(matrices.error().message);
        return;
    }
    b.add(0, resized_back(b.g(), *matrices));
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
    b.add(0, give_back(b.g(), b.x(1), b.x().dims(), b.axis("axis", b.x().rank())));
}

// Each element stands for the first of its kind.
void unique(Backward& b) {
    Expr x = b.x();
    if (b.context().has_attribute("axis")) {
        b.add(0, give_back(b.g(), b.y(1), x.dims(), b.axis("axis", x.rank())));
    } else {
        b.add(0, reshape(give_back(b.g(), b.y(1), {x.count()}, 0), x.dims()));
    }
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
    scattered(b, {"GatherElements", "ScatterElements", {ir::make_attribute("axis", axis)}, b.x(1)});
}

void scatter_nd(Backward& b) {
    scattered(b, {"GatherND", "ScatterND", {}, b.x(1)});
}

// By the two values.
void one_hot(Backward& b) {
    Expr values = b.x(2);
    Expr zero_one = cast(b.algebra().range(0, 2), values.type());
    Expr is_on = b.rerun({b.x(0), b.x(1), zero_one})[0];
    Expr on = sum_to(b.g() * is_on, {1});
    Expr off = sum_to(b.g() * (1 - is_on), {1});
    b.add(2, concat({off, on}, 0));
}

// The limit only decides how many there are.
void range(Backward& b) {
    b.add(0, b.g());
    b.add(2, b.g() * cast(b.algebra().range(0, b.g().count()), b.g().type()));
}

void top_k(Backward& b) {
    b.add(0, scatter_add(zeros_like(b.x()), b.y(1), b.g(), b.axis("axis", b.x().rank())));
}

}  // namespace sardonyx::eval::derivatives
