#include "infer/matmul.h"

#include <fmt/format.h>

#include <algorithm>
#include <climits>

#include "infer/checks.h"
#include "infer/diagnostics.h"

namespace sardonyx::infer {
namespace {

// The axes before the matrix of both shapes, broadcast.
Shape batch_shape(NodeContext& c, size_t a, size_t b) {
    const Shape& left = *c.input_shape(a);
    const Shape& right = *c.input_shape(b);
    size_t left_rank = std::max<size_t>(left.size(), 2) - 2;
    size_t right_rank = std::max<size_t>(right.size(), 2) - 2;
    Shape batch(std::max(left_rank, right_rank), Dim(1));
    for (size_t i = 1; i <= batch.size(); ++i) {
        Dim one = i <= left_rank ? left[left_rank - i] : Dim(1);
        Dim other = i <= right_rank ? right[right_rank - i] : Dim(1);
        std::optional<Dim> both = broadcast_dims(one, other);
        if (!both.has_value()) {
            c.fail(kBroadcastMismatch,
                   fmt::format("`{}` cannot broadcast shapes `{}` and `{}`: axis -{} is {} in one "
                               "and {} in the other",
                               c.node.op_type, to_text(left), to_text(right), i + 2,
                               one.to_string(), other.to_string()),
                   static_cast<int>(b), static_cast<int>(a),
                   "make the sizes before the last two axes equal, or one of them 1");
        }
        batch[batch.size() - i] = both.value_or(Dim());
    }
    return batch;
}

}  // namespace

std::optional<Shape> matmul_shape(NodeContext& c, size_t a, size_t b) {
    const Shape* left = shape_of_rank(c, a, 1, INT_MAX);
    const Shape* right = shape_of_rank(c, b, 1, INT_MAX);
    if (left == nullptr || right == nullptr) {
        return std::nullopt;
    }
    same_dim(c, {a, -1}, {b, right->size() == 1 ? -1 : -2}, "the size that is summed over");
    Shape shape = batch_shape(c, a, b);
    if (left->size() > 1) {
        shape.push_back((*left)[left->size() - 2]);
    }
    if (right->size() > 1) {
        shape.push_back(right->back());
    }
    return shape;
}

}  // namespace sardonyx::infer
