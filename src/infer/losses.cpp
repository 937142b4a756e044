// Losses. Scores are (batch, class, d1, ...), targets (batch, d1, ...).

#include <fmt/format.h>

#include "infer/checks.h"
#include "infer/diagnostics.h"
#include "infer/operators.h"

namespace sardonyx::infer {
namespace {

// The shape of the targets as far as both inputs tell, which is that of a loss without reduction.
std::optional<Shape> target_shape(NodeContext& c) {
    const Shape* scores = shape_of_rank(c, 0, 2, INT_MAX, "(batch, class, d1, ...)");
    const Shape* target = shape_of_rank(c, 1, 1, INT_MAX, "(batch, d1, ...)");
    if (scores == nullptr && target == nullptr) {
        return std::nullopt;
    }
    if (scores == nullptr) {
        return *target;
    }
    Shape shape{(*scores)[0]};
    shape.insert(shape.end(), scores->begin() + 2, scores->end());
    if (target == nullptr) {
        return shape;
    }
    if (target->size() != shape.size()) {
        c.fail(kRankMismatch,
               fmt::format("{} has rank {} and {} has rank {}, and must have one less",
                           c.input_name(0), scores->size(), c.input_name(1), target->size()),
               1, 0, "the targets have no class dimension");
        return std::nullopt;
    }
    for (int i = 0; i < static_cast<int>(shape.size()); ++i) {
        shape[i] = same_dim(c, {0, i == 0 ? 0 : i + 1}, {1, i},
                            i == 0 ? "the batch size" : "the size of that target dimension");
    }
    return shape;
}

// The loss itself: a scalar unless `reduction` is "none".
void set_loss(NodeContext& c) {
    std::optional<Shape> unreduced = target_shape(c);
    if (c.has_input(2) && shape_of_rank(c, 2, 1, "(class)") != nullptr && c.input_rank(0) > 1) {
        same_dim(c, {0, 1}, {2, 0}, "the number of classes");
    }
    std::optional<std::string_view> reduction = c.attribute_string("reduction");
    std::optional<Shape> shape;
    if (reduction.has_value()) {
        shape = *reduction == "none" ? std::move(unreduced) : Shape{};
    }
    c.set_output_shape(0, std::move(shape));
}

}  // namespace

void infer_negative_log_likelihood_loss(NodeContext& c) {
    set_loss(c);
}

void infer_softmax_cross_entropy_loss(NodeContext& c) {
    set_loss(c);
    c.pass_shape(0, 1);
}

}  // namespace sardonyx::infer
