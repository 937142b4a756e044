// RNN, GRU and LSTM. W is (directions, gates * hidden, input), R is (directions, gates * hidden,
// hidden); with layout 1 the batch comes first in X, Y and the states.

#include <fmt/format.h>

#include "infer/checks.h"
#include "infer/diagnostics.h"
#include "infer/operators.h"

namespace sardonyx::infer {
namespace {

constexpr size_t kX = 0;
constexpr size_t kW = 1;
constexpr size_t kR = 2;
constexpr size_t kB = 3;
constexpr size_t kSequenceLengths = 4;
constexpr size_t kInitialH = 5;
constexpr size_t kInitialC = 6;
constexpr size_t kPeepholes = 7;

struct Sizes {
    Dim sequence;
    Dim batch;
    Dim directions;
    Dim hidden;
};

// 2 for "bidirectional", 1 for the others, nothing when the attribute is not known. GRU-1 has a
// misspelt default, which is not "bidirectional" either.
std::optional<int64_t> read_directions(NodeContext& c) {
    std::optional<std::string_view> direction = c.attribute_string("direction");
    if (!direction.has_value()) {
        return std::nullopt;
    }
    return *direction == "bidirectional" ? 2 : 1;
}

void read_directions_and_hidden(NodeContext& c, int64_t gates, Sizes& sizes) {
    shape_of_rank(c, kW, 3, "(directions, gates * hidden, input)");
    shape_of_rank(c, kR, 3, "(directions, gates * hidden, hidden)");
    std::optional<int64_t> directions = read_directions(c);
    bool is_weight_known = c.input_rank(kW) == 3;
    bool is_recurrence_known = c.input_rank(kR) == 3;
    for (size_t input : {kW, kR}) {
        if (c.input_rank(input) == 3) {
            Dim known = directions.has_value() ? Dim(*directions) : Dim();
            sizes.directions = known_dim(
                sizes.directions,
                expect_dim(c, {input, 0}, known, "the number of directions that `direction` says"));
        }
    }
    if (directions.has_value()) {
        sizes.directions = *directions;
    }
    std::optional<int64_t> hidden = int_in_range(c, "hidden_size", 1);
    if (hidden.has_value()) {
        sizes.hidden = *hidden;
    } else if (is_recurrence_known) {
        sizes.hidden = input_dim(c, kR, 2);
    } else if (is_weight_known) {
        sizes.hidden = exact_quotient(input_dim(c, kW, 1), gates);
    }
    if (is_recurrence_known && hidden.has_value()) {
        expect_dim(c, {kR, 2}, sizes.hidden, "`hidden_size`");
    }
    for (size_t input : {kW, kR}) {
        if (c.input_rank(input) == 3) {
            expect_dim(c, {input, 1}, Dim(gates) * sizes.hidden,
                       fmt::format("{} times the hidden size", gates));
        }
    }
}

void check_initial_state(NodeContext& c, size_t input, const Sizes& sizes, bool batch_first) {
    if (!c.has_input(input) ||
        shape_of_rank(c, input, 3,
                      batch_first ? "(batch, directions, hidden)"
                                  : "(directions, batch, hidden)") == nullptr) {
        return;
    }
    expect_dim(c, {input, batch_first ? 1 : 0}, sizes.directions, "the number of directions");
    expect_dim(c, {input, batch_first ? 0 : 1}, sizes.batch, "the batch size");
    expect_dim(c, {input, 2}, sizes.hidden, "the hidden size");
}

// A parameter (directions, factor * hidden).
void check_parameter(NodeContext& c, size_t input, const Sizes& sizes, int64_t factor) {
    if (!c.has_input(input) ||
        shape_of_rank(c, input, 2, fmt::format("(directions, {} * hidden)", factor)) == nullptr) {
        return;
    }
    expect_dim(c, {input, 0}, sizes.directions, "the number of directions");
    expect_dim(c, {input, 1}, Dim(factor) * sizes.hidden,
               fmt::format("{} times the hidden size", factor));
}

Sizes read_sizes(NodeContext& c, int64_t gates, bool batch_first) {
    Sizes sizes;
    const Shape* x = shape_of_rank(
        c, kX, 3, batch_first ? "(batch, sequence, input)" : "(sequence, batch, input)");
    sizes.sequence = dim_at(x, batch_first ? 1 : 0);
    sizes.batch = dim_at(x, batch_first ? 0 : 1);
    read_directions_and_hidden(c, gates, sizes);
    if (x != nullptr && c.input_rank(kW) == 3) {
        same_dim(c, {kX, 2}, {kW, 2}, "the input size");
    }
    check_parameter(c, kB, sizes, 2 * gates);
    if (c.has_input(kSequenceLengths) &&
        shape_of_rank(c, kSequenceLengths, 1, "(batch)") != nullptr) {
        sizes.batch = expect_dim(c, {kSequenceLengths, 0}, sizes.batch, "the batch size");
    }
    check_initial_state(c, kInitialH, sizes, batch_first);
    return sizes;
}

Sizes infer_recurrent(NodeContext& c, int64_t gates) {
    bool batch_first = flag(c, "layout");
    Sizes sizes = read_sizes(c, gates, batch_first);
    c.set_output_shape(0, batch_first
                              ? Shape{sizes.batch, sizes.sequence, sizes.directions, sizes.hidden}
                              : Shape{sizes.sequence, sizes.directions, sizes.batch, sizes.hidden});
    for (size_t state : {1, 2}) {
        c.set_output_shape(state, batch_first ? Shape{sizes.batch, sizes.directions, sizes.hidden}
                                              : Shape{sizes.directions, sizes.batch, sizes.hidden});
    }
    return sizes;
}

}  // namespace

void infer_rnn(NodeContext& c) {
    infer_recurrent(c, 1);
}

void infer_gru(NodeContext& c) {
    infer_recurrent(c, 3);
}

void infer_lstm(NodeContext& c) {
    Sizes sizes = infer_recurrent(c, 4);
    check_initial_state(c, kInitialC, sizes, flag(c, "layout"));
    check_parameter(c, kPeepholes, sizes, 3);
}

}  // namespace sardonyx::infer
