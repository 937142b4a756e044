// Rules of differentiation: reductions, running sums, and softmax.
#include <algorithm>

#include "eval/gradient/derivative.h"

namespace sardonyx::eval::derivatives {
namespace {

// The axes that are reduced, each in [0, rank).
std::vector<int64_t> reduced_axes(Backward& b) {
    int rank = b.x().rank();
    std::vector<int64_t> axes = b.list("axes", 1);
    for (int64_t& axis : axes) {
        axis += axis < 0 ? rank : 0;
    }
    bool is_all = axes.empty() && b.context().int_attribute("noop_with_empty_axes") == 0;
    return is_all ? axes_from(0, rank) : axes;
}

Dims kept_dims(Backward& b) {
    Dims dims = b.x().dims();
    for (int64_t axis : reduced_axes(b)) {
        dims[axis] = 1;
    }
    return dims;
}

// The gradient, and the result, with the reduced axes.
Expr kept_g(Backward& b) {
    return reshape(b.g(), kept_dims(b));
}
Expr kept_y(Backward& b) {
    return reshape(b.y(), kept_dims(b));
}

// The axes over which Softmax sums. Before version 13 these were all from `axis` on.
std::vector<int64_t> softmax_axes(Backward& b) {
    int rank = b.x().rank();
    int axis = b.axis("axis", rank);
    return b.version() >= 13 ? std::vector<int64_t>{axis} : axes_from(axis, rank);
}

}  // namespace

void reduce_sum(Backward& b) {
    b.add(0, kept_g(b));
}

void reduce_mean(Backward& b) {
    double count = 1;
    for (int64_t axis : reduced_axes(b)) {
        count *= static_cast<double>(b.x().dim(static_cast<int>(axis)));
    }
    b.add(0, kept_g(b) / count);
}

void reduce_sum_square(Backward& b) {
    b.add(0, kept_g(b) * b.x() * 2);
}

void reduce_l1(Backward& b) {
    b.add(0, kept_g(b) * apply("Sign", b.x()));
}

void reduce_l2(Backward& b) {
    Expr y = kept_y(b);
    b.add(0, kept_g(b) * b.x() / where(equals(y, 0), 1, y));
}

void reduce_log_sum(Backward& b) {
    b.add(0, kept_g(b) / apply("Exp", kept_y(b)));
}

void reduce_log_sum_exp(Backward& b) {
    b.add(0, kept_g(b) * apply("Exp", b.x() - kept_y(b)));
}

// Where several elements are the greatest, each of them has its part.
void reduce_extremum(Backward& b) {
    Expr chosen = cast(equals(b.x(), kept_y(b)), b.x().type());
    Expr count = sum(chosen, reduced_axes(b));
    b.add(0, kept_g(b) * chosen / where(count > 0, count, 1));  // none: NaN
}

// The product of halves, and so on: without a division, so that zeros are no exception.
std::vector<Expr> reduce_prod(Backward& b) {
    Expr x = b.x();
    std::vector<int64_t> axes = reduced_axes(b);
    std::vector<int64_t> order;
    Dims dims;
    int64_t n = 1;
    for (int axis = 0; axis < x.rank(); ++axis) {
        if (std::find(axes.begin(), axes.end(), axis) == axes.end()) {
            order.push_back(axis);
            dims.push_back(x.dim(axis));
        } else {
            n *= x.dim(axis);
        }
    }
    int last = static_cast<int>(dims.size());
    order.insert(order.end(), axes.begin(), axes.end());
    dims.push_back(n);
    Expr rest = reshape(transpose(x, order), dims);
    for (; n > 1 && rest.dim(last) == n; n -= n / 2) {
        Expr product = slice(rest, last, 0, n / 2) * slice(rest, last, n / 2, n / 2 * 2);
        rest = n % 2 == 0 ? product : concat({product, slice(rest, last, n - 1, n)}, last);
    }
    return {n == 0 ? b.y() : reshape(rest, b.y().dims())};
}

void cum_sum(Backward& b) {
    const KernelContext& c = b.context();
    b.add(0, b.algebra().call(
                 "CumSum", {b.g(), b.x(1)},
                 {ir::make_attribute("exclusive", c.int_attribute("exclusive")),
                  ir::make_attribute("reverse", int64_t{c.int_attribute("reverse") == 0})}));
}

// Products of 2, 4, ... neighbours: without a division, so that zeros are no exception.
std::vector<Expr> cum_prod(Backward& b) {
    const KernelContext& c = b.context();
    Expr x = b.x();
    Result<int64_t> given = c.int_scalar(1);
    Result<int> axis = c.axis(given.ok() ? *given : 0, x.rank());
    if (!axis.ok()) {
        b.fail(axis.error().message);
        return {};
    }
    int64_t n = x.dim(*axis);
    bool is_reverse = c.int_attribute("reverse") != 0;
    // The elements that stand `distance` before; 1 where there are none.
    auto before = [&](const Expr& e, int64_t distance) {
        Dims dims = x.dims();
        dims[*axis] = distance;
        Expr ones = b.algebra().full(x.type(), dims, 1);
        return is_reverse ? concat({slice(e, *axis, distance, n), ones}, *axis)
                          : concat({ones, slice(e, *axis, 0, n - distance)}, *axis);
    };
    Expr y = x;
    for (int64_t distance = 1; distance < n; distance *= 2) {
        y = y * before(y, distance);
    }
    return {c.int_attribute("exclusive") != 0 && n > 0 ? before(y, 1) : y};
}

void softmax(Backward& b) {
    Expr part = b.g() * b.y();
    b.add(0, part - b.y() * sum(part, softmax_axes(b)));
}

void log_softmax(Backward& b) {
    b.add(0, b.g() - apply("Exp", b.y()) * sum(b.g(), softmax_axes(b)));
}

}  // namespace sardonyx::eval::derivatives
