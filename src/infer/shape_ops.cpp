// Operators that ask for a shape or give the same elements another one.
#include <fmt/format.h>

#include <algorithm>

#include "infer/contents.h"
#include "infer/diagnostics.h"
#include "infer/operators.h"

namespace sardonyx::infer {
namespace {

// `start` or `end` of Shape: negative counts from the end, and all is clamped.
size_t clamp_position(int64_t position, int64_t rank) {
    position = position < 0 ? position + rank : position;
    return static_cast<size_t>(std::clamp<int64_t>(position, 0, rank));
}

// Reshape: the dims of the target with zeros replaced by the dims of the input they copy. An
// unknown Dim is left for -1, whose index is `inferred`.
struct Target {
    Shape shape;
    int inferred = -1;
    bool is_valid = true;
};

Target reshape_target(NodeContext& c, const ListArgument& wanted) {
    Target target;
    const Shape* input = c.input_shape(0);
    bool copies_zeros = c.attribute_int("allowzero").value_or(0) == 0;
    if (c.is_attribute_unbound("allowzero")) {
        input = nullptr;
    }
    for (size_t i = 0; i < wanted.values->size(); ++i) {
        const Dim& dim = (*wanted.values)[i];
        if (!dim.is_static() || dim.value() > 0 || (dim.value() == 0 && !copies_zeros)) {
            target.shape.push_back(dim);
        } else if (dim.value() == 0) {
            if (input != nullptr && i >= input->size()) {
                wanted.fail(c, kInvalidValue,
                            fmt::format("the 0 at position {} of the new shape `{}` copies an axis "
                                        "that `{}` does not have",
                                        i, to_text(*wanted.values), to_text(*input)),
                            "write the size, or -1");
                target.is_valid = false;
            }
            target.shape.push_back(input != nullptr && i < input->size() ? (*input)[i] : Dim());
        } else if (dim.value() == -1 && target.inferred < 0) {
            target.inferred = static_cast<int>(i);
            target.shape.emplace_back();
        } else {
            wanted.fail(
                c, kInvalidValue,
                fmt::format("the new shape `{}` of `Reshape` has {}", to_text(*wanted.values),
                            dim.value() == -1 ? std::string("more than one -1")
                                              : fmt::format("the size {}", dim.value())),
                "sizes cannot be negative; one -1 is computed from the other sizes");
            target.is_valid = false;
            target.shape.emplace_back();
        }
    }
    return target;
}

// Reshape keeps the number of elements: gives the one unknown dim its size, or checks the sizes.
void settle_target(NodeContext& c, const ListArgument& wanted, Target& target) {
    const Shape* input = c.input_shape(0);
    if (input == nullptr || !target.is_valid) {
        return;
    }
    std::vector<Dim> from = *input;
    std::vector<Dim> to;
    int open = target.inferred;
    bool copies_zeros = c.attribute_int("allowzero").value_or(0) == 0;
    for (size_t i = 0; i < target.shape.size(); ++i) {
        const Dim& given = (*wanted.values)[i];
        bool is_copy = copies_zeros && given.is_static() && given.value() == 0;
        // A size on both sides says nothing, unless it is 0: then no other size says anything.
        if (is_copy && i < from.size() && !(from[i].is_static() && from[i].value() == 0)) {
            from[i] = 1;
        } else if (!target.shape[i].is_unknown()) {
            to.push_back(target.shape[i]);
        } else if (open < 0) {
            open = static_cast<int>(i);
        } else if (static_cast<int>(i) != open) {
            return;
        }
    }
    // A number need not divide the expression that is left: that it does is up to the sizes.
    Dim elements = product(from);
    Dim numbers = 1;
    Dim expressions = 1;
    for (const Dim& dim : to) {
        (dim.is_static() ? numbers : expressions) = (dim.is_static() ? numbers : expressions) * dim;
    }
    bool is_mismatch = false;
    if (open < 0) {
        is_mismatch = elements.differs(numbers * expressions);
    } else if (numbers.is_static() && numbers.value() != 0) {
        Dim rest = expressions.is_static() ? elements : quotient_of_sizes(elements, expressions);
        target.shape[static_cast<size_t>(open)] = floor_div(rest, numbers);
        is_mismatch = rest.is_static() && rest.value() % numbers.value() != 0;
    }
    if (is_mismatch) {
        wanted.fail(c, kShapeMismatch,
                    fmt::format("`Reshape` cannot make `{}` into `{}`: the numbers of elements "
                                "differ",
                                to_text(*input), to_text(*wanted.values)),
                    "use a shape of the same number of elements, or one -1");
    }
}

}  // namespace

// Operators, Shape: `start` and `end` since opset 15.
void infer_shape(NodeContext& c) {
    const Shape* shape = c.input_shape(0);
    if (shape == nullptr || c.is_attribute_unbound("start") || c.is_attribute_unbound("end")) {
        c.set_output(0, ElementType::kInt64, Shape{Dim()});
        return;
    }
    int64_t rank = static_cast<int64_t>(shape->size());
    size_t start = clamp_position(c.attribute_int("start").value_or(0), rank);
    size_t end = clamp_position(c.attribute_int("end").value_or(rank), rank);
    std::vector<Dim> dims;
    for (size_t i = start; i < end; ++i) {
        dims.push_back((*shape)[i]);
    }
    c.set_output(0, ElementType::kInt64, Shape{Dim(static_cast<int64_t>(dims.size()))});
    c.set_output_dims(0, false, std::move(dims));
}

void infer_size(NodeContext& c) {
    c.set_output(0, ElementType::kInt64, Shape{});
    if (const Shape* shape = c.input_shape(0)) {
        c.set_output_dims(0, true, {product(*shape)});
    }
}

// Operators, Reshape: the new shape is an input since opset 5; 0 copies the input's axis unless
// `allowzero` is set, one -1 is what is left.
void infer_reshape(NodeContext& c) {
    ListArgument wanted = list_argument(c, "shape", 1);
    if (wanted.input == 1) {
        c.check_rank(1, 1);
    }
    if (!wanted.values.has_value()) {
        c.set_output_shape(0, std::nullopt);
        return;
    }
    Target target = reshape_target(c, wanted);
    settle_target(c, wanted, target);
    c.set_output_shape(0, std::move(target.shape));
    pass_contents(c);
}

// Operators, Flatten: an axis of [-rank, rank], both ends included.
void infer_flatten(NodeContext& c) {
    const Shape* shape = c.input_shape(0);
    std::optional<int64_t> axis = c.attribute_int("axis");
    if (shape == nullptr || !axis.has_value()) {
        c.set_output_shape(0, Shape(2));
        return;
    }
    int rank = static_cast<int>(shape->size());
    std::optional<int> split = *axis == rank ? rank : c.normalize_axis(*axis, rank, "axis");
    if (!split.has_value()) {
        c.set_output_shape(0, Shape(2));
        return;
    }
    std::span<const Dim> dims = *shape;
    c.set_output_shape(0, Shape{product(dims.first(*split)), product(dims.subspan(*split))});
}

namespace {

// Squeeze without axes takes out every axis of size 1; no shape when it cannot be told which.
std::optional<Shape> squeeze_all(const Shape& shape) {
    Shape result;
    for (const Dim& dim : shape) {
        if (!dim.is_static() && !dim.is_at_least(2)) {
            return std::nullopt;
        }
        if (!dim.is_static() || dim.value() != 1) {
            result.push_back(dim);
        }
    }
    return result;
}

std::optional<Shape> squeezed(NodeContext& c, const ListArgument& axes) {
    const Shape* shape = c.input_shape(0);
    if (shape == nullptr || (axes.is_given && !axes.values.has_value())) {
        return std::nullopt;
    }
    if (!axes.is_given) {
        return squeeze_all(*shape);
    }
    std::optional<std::vector<int>> removed =
        normalize_axes(c, axes, static_cast<int>(shape->size()));
    if (!removed.has_value()) {
        bool fits = axes.values->size() <= shape->size() && !axes.ints().has_value();
        return fits ? std::optional(Shape(shape->size() - axes.values->size())) : std::nullopt;
    }
    Shape result;
    for (size_t i = 0; i < shape->size(); ++i) {
        const Dim& dim = (*shape)[i];
        if (std::find(removed->begin(), removed->end(), static_cast<int>(i)) == removed->end()) {
            result.push_back(dim);
        } else if (dim.differs(1) || dim.is_at_least(2)) {
            axes.fail(c, kShapeMismatch,
                      fmt::format("`Squeeze` removes axis {} of `{}`, whose size is {}", i,
                                  to_text(*shape), dim.to_string()),
                      "only axes of size 1 can be removed");
        }
    }
    return result;
}

}  // namespace

// Operators, Squeeze and Unsqueeze: the axes are an input since opset 13.
void infer_squeeze(NodeContext& c) {
    c.check_rank(1, 1);
    c.set_output_shape(0, squeezed(c, list_argument(c, "axes", 1)));
    pass_contents(c);
}

void infer_unsqueeze(NodeContext& c) {
    c.check_rank(1, 0, 1);  // models of the standard's own test suite have a scalar
    ListArgument axes = list_argument(c, "axes", 1);
    const Shape* shape = c.input_shape(0);
    if (shape == nullptr || !axes.values.has_value()) {
        c.set_output_shape(0, std::nullopt);
        return;
    }
    size_t rank = shape->size() + axes.values->size();
    std::optional<std::vector<int>> added = normalize_axes(c, axes, static_cast<int>(rank));
    if (!added.has_value()) {
        c.set_output_shape(0, axes.ints().has_value() ? std::nullopt : std::optional(Shape(rank)));
        return;
    }
    Shape result;
    auto next = shape->begin();
    for (size_t i = 0; i < rank; ++i) {
        bool is_new = std::find(added->begin(), added->end(), static_cast<int>(i)) != added->end();
        result.push_back(is_new ? Dim(1) : *next++);
    }
    c.set_output_shape(0, std::move(result));
    pass_contents(c);
}

void infer_transpose(NodeContext& c) {
    const Shape* shape = c.input_shape(0);
    std::optional<std::vector<int64_t>> order = c.attribute_ints("perm");
    bool is_unknown = !order.has_value() && c.has_attribute("perm");
    if (order.has_value() && shape != nullptr) {
        std::vector<int64_t> sorted = *order;
        std::sort(sorted.begin(), sorted.end());
        bool is_permutation = sorted.size() == shape->size();
        for (size_t i = 0; is_permutation && i < sorted.size(); ++i) {
            is_permutation = sorted[i] == static_cast<int64_t>(i);
        }
        if (!is_permutation) {
            c.fail_attribute(
                kInvalidValue, "perm",
                fmt::format("`perm` of `Transpose` is `{}`, which does not order the {} axes of "
                            "`{}`",
                            to_text(*order), shape->size(), to_text(*shape)),
                "name every axis from 0 exactly once");
            is_unknown = true;
        }
    }
    if (shape == nullptr || is_unknown) {
        bool is_rank_known = shape == nullptr && order.has_value();
        c.set_output_shape(0, is_rank_known      ? std::optional(Shape(order->size()))
                              : shape != nullptr ? std::optional(Shape(shape->size()))
                                                 : std::nullopt);
        return;
    }
    Shape result(shape->size());
    for (size_t i = 0; i < result.size(); ++i) {
        size_t from = order.has_value() ? static_cast<size_t>((*order)[i]) : result.size() - 1 - i;
        result[i] = (*shape)[from];
    }
    c.set_output_shape(0, std::move(result));
    pass_contents(c);
}

// Takes every kind of type, and hands on all that is known.
void infer_identity(NodeContext& c) {
    c.set_output(0, c.input_type(0));
    pass_contents(c);
    const Tensor* constant = c.input_constant(0);
    if (constant != nullptr && c.node.output(0) != nullptr) {
        c.node.output(0)->constant = *constant;
    }
}

namespace {

// The `blocksize` of an image [N, C, H, W]. None: it or the image is not known, or is wrong; the
// output then has what is certain.
std::optional<int64_t> block_size(NodeContext& c) {
    if (!c.check_rank(0, 4) || c.input_shape(0) == nullptr) {
        c.set_output_shape(0, Shape(4));
        return std::nullopt;
    }
    std::optional<int64_t> block = c.attribute_int("blocksize");
    constexpr int64_t kMaxBlock = 1 << 20;
    if (!block.has_value() || *block < 1 || *block > kMaxBlock) {
        c.set_output_shape(0, Shape{(*c.input_shape(0))[0], Dim(), Dim(), Dim()});
        return std::nullopt;
    }
    return block;
}

}  // namespace

// Operators, DepthToSpace: [N, C, H, W] to [N, C/(b*b), H*b, W*b].
void infer_depth_to_space(NodeContext& c) {
    std::optional<int64_t> block = block_size(c);
    if (!block) {
        return;
    }
    const Shape& in = *c.input_shape(0);
    if (in[1].is_static() && in[1].value() % (*block * *block) != 0) {
        c.fail(kShapeMismatch,
               fmt::format("axis 1 of {} is {}, which `blocksize` squared ({}) does not divide",
                           c.input_name(0), in[1].to_string(), *block * *block),
               0);
    }
    c.set_output_shape(
        0, Shape{in[0], floor_div(in[1], *block * *block), in[2] * *block, in[3] * *block});
}

void infer_space_to_depth(NodeContext& c) {
    std::optional<int64_t> block = block_size(c);
    if (!block) {
        return;
    }
    const Shape& in = *c.input_shape(0);
    for (size_t axis = 2; axis < in.size(); ++axis) {
        if (in[axis].is_static() && in[axis].value() % *block != 0) {
            c.fail(kShapeMismatch,
                   fmt::format("axis {} of {} is {}, which `blocksize` {} does not divide", axis,
                               c.input_name(0), in[axis].to_string(), *block),
                   0);
        }
    }
    c.set_output_shape(0, Shape{in[0], in[1] * (*block * *block), floor_div(in[2], *block),
                                floor_div(in[3], *block)});
}

}  // namespace sardonyx::infer
