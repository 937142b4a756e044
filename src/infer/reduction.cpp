// Operators that reduce axes, search in them, or run along them.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "infer/contents.h"
#include "infer/diagnostics.h"
#include "infer/operators.h"

namespace sardonyx::infer {
namespace {

// What a reduction of all elements of a shape computation gives.
using Combine = Dim (*)(const Dim&, const Dim&);

Dim add(const Dim& a, const Dim& b) {
    return a + b;
}
Dim multiply(const Dim& a, const Dim& b) {
    return product(std::vector<Dim>{a, b});
}

// The shape without the reduced axes, or with 1 in their place.
Shape reduced_shape(const Shape& shape, const std::vector<int>& axes, bool keeps_dims) {
    Shape result;
    for (size_t i = 0; i < shape.size(); ++i) {
        bool is_reduced = std::find(axes.begin(), axes.end(), static_cast<int>(i)) != axes.end();
        if (!is_reduced) {
            result.push_back(shape[i]);
        } else if (keeps_dims) {
            result.emplace_back(1);
        }
    }
    return result;
}

// What can be said when the axes are not known: the rank, if it stays or their number is known.
std::optional<Shape> shape_for_unknown_axes(const Shape& shape, const ListArgument& axes,
                                            std::optional<int64_t> keepdims) {
    if (keepdims.has_value() && *keepdims != 0) {
        return Shape(shape.size());
    }
    bool is_count_known = keepdims.has_value() && axes.values.has_value() &&
                          !axes.values->empty() && axes.values->size() <= shape.size();
    return is_count_known ? std::optional(Shape(shape.size() - axes.values->size())) : std::nullopt;
}

void reduce_contents(NodeContext& c, Combine combine, bool keeps_dims) {
    std::optional<std::vector<Dim>> elements =
        may_have_contents(c, 0) ? c.input_dims(0) : std::nullopt;
    bool is_vector = c.input_rank(0) == 1;
    if (!elements.has_value() || elements->empty() || !is_vector) {
        return;
    }
    Dim total = std::accumulate(elements->begin() + 1, elements->end(), elements->front(), combine);
    c.set_output_dims(0, !keeps_dims, {std::move(total)});
}

// Operators, Reduce*: the axes are an input since opset 18 (ReduceSum: 13); none means all, or
// nothing at all with `noop_with_empty_axes`.
void reduce(NodeContext& c, Combine combine) {
    const Shape* shape = c.input_shape(0);
    c.check_rank(1, 1);
    ListArgument axes = list_argument(c, "axes", 1);
    std::optional<int64_t> keepdims = c.attribute_int("keepdims");
    if (shape == nullptr) {
        c.set_output_shape(0, std::nullopt);
        return;
    }
    bool is_empty = !axes.is_given || (axes.values.has_value() && axes.values->empty());
    std::vector<int> reduced(shape->size());
    std::iota(reduced.begin(), reduced.end(), 0);
    if (is_empty && c.attribute_int("noop_with_empty_axes").value_or(0) != 0) {
        c.set_output_shape(0, *shape);
        return;
    }
    bool is_noop_unknown = is_empty && c.is_attribute_unbound("noop_with_empty_axes");
    std::optional<std::vector<int>> given;
    if (!is_empty) {
        given = normalize_axes(c, axes, static_cast<int>(shape->size()));
        reduced = given.value_or(std::vector<int>{});
    }
    if (is_noop_unknown || !keepdims.has_value() || (!is_empty && !given.has_value())) {
        c.set_output_shape(0, shape_for_unknown_axes(*shape, axes, keepdims));
        return;
    }
    c.set_output_shape(0, reduced_shape(*shape, reduced, *keepdims != 0));
    if (combine != nullptr && reduced.size() == 1) {
        reduce_contents(c, combine, *keepdims != 0);
    }
}

}  // namespace

void infer_reduce(NodeContext& c) {
    reduce(c, nullptr);
}
void infer_reduce_sum(NodeContext& c) {
    reduce(c, add);
}
void infer_reduce_prod(NodeContext& c) {
    reduce(c, multiply);
}
void infer_reduce_max(NodeContext& c) {
    reduce(c, greater_of);
}
void infer_reduce_min(NodeContext& c) {
    reduce(c, lesser_of);
}

void infer_arg_extreme(NodeContext& c) {
    const Shape* shape = c.input_shape(0);
    std::optional<int64_t> axis = c.attribute_int("axis");
    std::optional<int64_t> keepdims = c.attribute_int("keepdims");
    if (shape == nullptr || !axis.has_value() || !keepdims.has_value()) {
        c.set_output(0, ElementType::kInt64, std::nullopt);
        return;
    }
    std::optional<int> normal = c.normalize_axis(*axis, static_cast<int>(shape->size()), "axis");
    if (!normal.has_value()) {
        c.set_output(0, ElementType::kInt64, std::nullopt);
        return;
    }
    c.set_output(0, ElementType::kInt64, reduced_shape(*shape, {*normal}, *keepdims != 0));
}

// CumSum and CumProd: the axis is an input.
void infer_cumulative(NodeContext& c) {
    c.check_rank(1, 0, 1);
    std::optional<std::vector<int64_t>> axis = c.input_ints(1);
    if (c.input_shape(0) != nullptr && axis.has_value() && axis->size() == 1) {
        c.normalize_axis(axis->front(), c.input_rank(0), {}, 1);
    }
    c.pass_shape();
}

// Operators, TopK: k is an attribute in version 1 and an input since opset 10.
void infer_top_k(NodeContext& c) {
    c.check_rank(1, 1);
    const Shape* shape = c.input_shape(0);
    std::optional<int64_t> axis = c.attribute_int("axis");
    std::optional<int> normal;
    if (shape != nullptr && axis.has_value()) {
        normal = c.normalize_axis(*axis, static_cast<int>(shape->size()), "axis");
    }
    if (!normal.has_value()) {
        for (size_t i = 0; i < 2; ++i) {
            c.set_output_shape(
                i, shape != nullptr ? std::optional(Shape(shape->size())) : std::nullopt);
        }
        return;
    }
    Dim k;
    if (std::optional<int64_t> attribute = c.attribute_int("k")) {
        k = *attribute;
    } else if (std::optional<std::vector<Dim>> dims = c.input_dims(1)) {
        k = dims->size() == 1 ? dims->front() : Dim();
    }
    const Dim& size = (*shape)[static_cast<size_t>(*normal)];
    if (k.is_static() && size.is_static() && k.value() > size.value()) {
        c.fail(kInvalidValue,
               fmt::format("`TopK` takes {} elements of axis {}, which has {}", k.value(), *normal,
                           size.value()),
               c.has_input(1) ? 1 : 0);
    }
    Shape result = *shape;
    result[static_cast<size_t>(*normal)] = k.is_unknown() ? c.fresh_dim() : k;
    c.set_output_shape(0, result);
    c.set_output_shape(1, std::move(result));
}

// Operators, Unique: of the flattened input, or of its slices along an axis.
void infer_unique(NodeContext& c) {
    const Shape* shape = c.input_shape(0);
    Dim count = c.fresh_dim();
    std::optional<Shape> unique = Shape{count};
    Dim all = shape != nullptr ? product(*shape) : Dim();
    if (c.has_attribute("axis")) {
        std::optional<int64_t> axis = c.attribute_int("axis");
        std::optional<int> normal;
        if (shape != nullptr && axis.has_value()) {
            normal = c.normalize_axis(*axis, static_cast<int>(shape->size()), "axis");
        }
        unique.reset();
        all = Dim();
        if (normal.has_value()) {
            unique = *shape;
            all = (*shape)[static_cast<size_t>(*normal)];
            (*unique)[static_cast<size_t>(*normal)] = count;
        }
    }
    c.set_output_shape(0, std::move(unique));
    c.set_output(1, ElementType::kInt64, Shape{count});
    c.set_output(2, ElementType::kInt64, Shape{all});
    c.set_output(3, ElementType::kInt64, Shape{count});
}

// A scalar gives [0, n], unlike NumPy's nonzero (Operators, NonZero).
void infer_non_zero(NodeContext& c) {
    int rank = c.input_rank(0);
    c.set_output(0, ElementType::kInt64, Shape{rank >= 0 ? Dim(rank) : Dim(), Dim()});
}

}  // namespace sardonyx::infer
