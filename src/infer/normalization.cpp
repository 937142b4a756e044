// Normalisations, the softmax family and Dropout: the first output has the type of the first input;
// what varies is the statistics that go beside it.

#include <fmt/format.h>

#include "infer/checks.h"
#include "infer/diagnostics.h"
#include "infer/operators.h"

namespace sardonyx::infer {
namespace {

// A vector with one element per channel of input 0 (its dimension 1; a tensor of rank 1 has one
// channel).
void check_per_channel(NodeContext& c, size_t input) {
    if (c.has_input(input) && shape_of_rank(c, input, 1, "(channel)") != nullptr &&
        c.input_rank(0) > 1) {
        same_dim(c, {0, 1}, {input, 0}, "the number of channels");
    }
}

// A parameter that broadcasts to the axes of input 0 from `axis` on (LayerNormalization).
void check_broadcasts_to_tail(NodeContext& c, size_t input, int axis) {
    const Shape* parameter = c.input_shape(input);
    const Shape* x = c.input_shape(0);
    if (parameter == nullptr || x == nullptr) {
        return;
    }
    int tail = static_cast<int>(x->size()) - axis;
    int rank = static_cast<int>(parameter->size());
    if (rank > static_cast<int>(x->size())) {
        c.fail(kRankMismatch,
               fmt::format("{} has rank {}, and the normalized part of `X` has rank {}",
                           c.input_name(input), rank, tail),
               static_cast<int>(input), 0);
        return;
    }
    for (int i = 1; i <= rank; ++i) {
        if (!(*parameter)[rank - i].equals(1) && !((*parameter)[rank - i].is_symbolic())) {
            same_dim(c, {0, -i}, {input, -i}, "the size along one normalized axis");
        }
    }
}

// The axis attribute in [0, rank); nothing when the rank or the attribute is not known.
std::optional<int> axis_of_input(NodeContext& c) {
    std::optional<int64_t> axis = c.attribute_int("axis");
    int rank = c.input_rank(0);
    if (!axis.has_value() || rank < 0) {
        return std::nullopt;
    }
    return c.normalize_axis(*axis, rank, "axis");
}

void check_positive(NodeContext& c, std::string_view attribute) {
    int_in_range(c, attribute, 1);
}

void check_ratio(NodeContext& c) {
    c.check_rank(1, 0);
    c.check_rank(2, 0);
    const Tensor* ratio = c.input_constant(1);
    if (ratio == nullptr || ratio->count() != 1) {
        return;
    }
    std::optional<std::vector<double>> value = to_doubles(*ratio);
    if (value.has_value() && !((*value)[0] >= 0 && (*value)[0] < 1)) {
        c.fail(kInvalidValue,
               fmt::format("`ratio` of `Dropout` is {}, and must be at least 0 and below 1",
                           (*value)[0]),
               1);
    }
}

}  // namespace

// The statistics have the scale's shape; through version 9 there are four, of which the last two
// are legacy, since 14 two.
void infer_batch_normalization(NodeContext& c) {
    bool is_spatial = c.version() >= 9 || c.attribute_int("spatial").value_or(0) == 1;
    std::optional<Shape> statistics;
    for (size_t i = 1; i <= 4; ++i) {
        if (is_spatial) {
            check_per_channel(c, i);
            Dim before = statistics.has_value() ? (*statistics)[0] : Dim();
            statistics =
                Shape{known_dim(before, c.input_rank(i) == 1 ? input_dim(c, i, 0) : Dim())};
        }
    }
    if (is_spatial && c.input_rank(0) > 1) {
        (*statistics)[0] = known_dim((*statistics)[0], input_dim(c, 0, 1));
    }
    constexpr int kOwnStatistics = 14;
    size_t all = c.version() >= kOwnStatistics ? 3 : 5;
    if (c.output_count() > 1 && c.output_count() < all) {
        c.fail(kArgumentCount, fmt::format("`{}` gives 1 output, or {} with the statistics, not {}",
                                           c.schema->name, all, c.output_count()));
    }
    c.pass_shape(0, 0);
    for (size_t i = 1; i < c.output_count(); ++i) {
        c.set_output_shape(i, statistics);
    }
}

void infer_instance_normalization(NodeContext& c) {
    shape_of_rank(c, 0, 3, INT_MAX, "(batch, channel, spatial...)");
    check_per_channel(c, 1);
    check_per_channel(c, 2);
    c.pass_shape(0, 0);
}

// Version 18 has a scale for each group, 21 for each channel.
void infer_group_normalization(NodeContext& c) {
    std::optional<int64_t> groups = int_in_range(c, "num_groups", 1);
    shape_of_rank(c, 0, 2, INT_MAX, "(batch, channel, spatial...)");
    Dim channels = input_dim(c, 0, 1);
    if (groups.has_value() && channels.is_static() && channels.value() % *groups != 0) {
        c.fail(kInvalidValue,
               fmt::format("`X` has {} channels, and that must be a multiple of `num_groups`, {}",
                           channels.value(), *groups),
               0);
    }
    for (size_t i : {1, 2}) {
        if (c.version() >= 21) {
            check_per_channel(c, i);
        } else if (shape_of_rank(c, i, 1, "(group)") != nullptr && groups.has_value()) {
            expect_dim(c, {i, 0}, *groups, "`num_groups`");
        }
    }
    c.pass_shape(0, 0);
}

void infer_layer_normalization(NodeContext& c) {
    std::optional<int> axis = axis_of_input(c);
    std::optional<Shape> statistics;
    if (axis.has_value()) {
        check_broadcasts_to_tail(c, 1, *axis);
        check_broadcasts_to_tail(c, 2, *axis);
        statistics = *c.input_shape(0);
        for (size_t i = *axis; i < statistics->size(); ++i) {
            (*statistics)[i] = 1;
        }
    }
    c.pass_shape(0, 0);
    ElementType stash = element_from_attribute(c, "stash_type", ElementType::kFloat, 1);
    c.set_output(1, stash, statistics);
    c.set_output(2, stash, std::move(statistics));
}

void infer_rms_normalization(NodeContext& c) {
    std::optional<int> axis = axis_of_input(c);
    if (axis.has_value()) {
        check_broadcasts_to_tail(c, 1, *axis);
    }
    c.pass_shape();
}

// LpNormalization and the softmax family. Before version 13 the default axis is 1 and the axes from
// there on count as one.
void infer_normalize_along_axis(NodeContext& c) {
    if (c.version() >= 11 || c.has_attribute("axis")) {
        axis_of_input(c);
    }
    c.pass_shape(0, 0);
}

void infer_mean_variance_normalization(NodeContext& c) {
    std::optional<std::vector<int64_t>> axes = c.attribute_ints("axes");
    if (axes.has_value() && c.has_attribute("axes") && c.input_rank(0) >= 0) {
        normalize_axes(c, *axes, c.input_rank(0), "axes");
    }
    c.pass_shape(0, 0);
}

void infer_lrn(NodeContext& c) {
    check_positive(c, "size");
    shape_of_rank(c, 0, 2, INT_MAX, "(batch, channel, spatial...)");
    c.pass_shape(0, 0);
}

// The mask is of the data's type through version 7, BOOL since 10; ratio and mode are inputs
// since 12.
void infer_dropout(NodeContext& c) {
    if (c.version() >= 12) {
        check_ratio(c);
    }
    c.pass_shape(0, 0);
    c.pass_shape(0, 1);
}

}  // namespace sardonyx::infer
