// The operators of ai.onnx.preview.training: gradients, and one step of an optimizer.

#include <fmt/format.h>

#include "infer/checks.h"
#include "infer/diagnostics.h"
#include "infer/operators.h"

namespace sardonyx::infer {
namespace {

// The inputs after the learning rate and the step count are groups of one size: the tensors to
// optimize, their gradients, and states. The outputs are the new tensors and the new states: every
// group but the gradients.
void infer_optimizer(NodeContext& c, size_t groups) {
    constexpr size_t kFirst = 2;
    check_scalar(c, 0);
    check_scalar(c, 1);
    size_t count = c.node.input_count() < kFirst ? 0 : c.node.input_count() - kFirst;
    if (count % groups != 0) {
        c.fail(kArgumentCount,
               fmt::format("`{}` has {} inputs after `R` and `T`, and must have a multiple of {}",
                           c.schema->name, count, groups),
               -1, -1, "give all tensors, then all gradients, then the states");
        return;
    }
    size_t tensors = count / groups;
    for (size_t i = 0; i < tensors; ++i) {
        for (size_t group = 1; group < groups; ++group) {
            size_t other = kFirst + group * tensors + i;
            const Shape* a = c.input_shape(kFirst + i);
            const Shape* b = c.input_shape(other);
            if (a != nullptr && b != nullptr && c.check_rank(other, static_cast<int>(a->size()))) {
                for (int axis = 0; axis < static_cast<int>(a->size()); ++axis) {
                    same_dim(c, {kFirst + i, axis}, {other, axis}, "a size of one tensor");
                }
            }
        }
    }
    for (size_t i = 0; i < tensors * (groups - 1); ++i) {
        size_t input = kFirst + (i < tensors ? i : i + tensors);
        c.set_output(i, c.input_type(input));
    }
}

}  // namespace

void infer_adagrad(NodeContext& c) {
    infer_optimizer(c, 3);
}

void infer_adam(NodeContext& c) {
    infer_optimizer(c, 4);
}

void infer_momentum(NodeContext& c) {
    infer_optimizer(c, 3);
}

// The first inputs are those that `xs` names; each output is the gradient by one of them.
void infer_gradient(NodeContext& c) {
    const auto* names = attribute_value<std::vector<std::string>>(c, "xs");
    size_t count = names != nullptr ? names->size() : 0;
    for (size_t i = 0; i < c.output_count() && i < count; ++i) {
        c.set_output(i, c.input_type(i));
    }
}

}  // namespace sardonyx::infer
