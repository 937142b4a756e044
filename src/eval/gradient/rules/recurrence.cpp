// Definitions of RNN, GRU and LSTM: their steps one after the other.
#include <cctype>
#include <string>

#include "eval/gradient/derivative.h"

namespace sardonyx::eval::derivatives {
namespace {

struct ActivationParameters {
    std::string_view activation;
    double alpha;  // where the attribute gives none
    double beta;
};

constexpr ActivationParameters kParameters[] = {
    {"Affine", 1, 0},   {"Elu", 1, 0},        {"HardSigmoid", 0.2, 0.5}, {"LeakyRelu", 0.01, 0},
    {"Relu", 0, 0},     {"ScaledTanh", 1, 1}, {"Sigmoid", 0, 0},         {"Softplus", 0, 0},
    {"Softsign", 0, 0}, {"Tanh", 0, 0},       {"ThresholdedRelu", 1, 0},
};

// One recurrence in one direction. Its sizes have been checked by the run.
class Steps {
  public:
    Steps(Backward& b, int64_t gates, int64_t direction, std::vector<std::string> activations)
        : b_(b), direction_(direction), names_(std::move(activations)) {
        hidden_ = b.x(2).dim(2);
        w_ = weights(1);
        r_ = weights(2);
        if (b.has_x(3)) {
            Expr both = weights(3);
            bias_w = slice(both, 0, 0, gates * hidden_);
            bias_r = slice(both, 0, gates * hidden_, 2 * gates * hidden_);
        } else {
            bias_w = bias_r = b.algebra().full(b.x(1).type(), {gates * hidden_}, 0);
        }
    }

    int64_t hidden() const { return hidden_; }
    // The rows [first, last) of gates of W and R, transposed for products with rows.
    Expr w() const { return swap_last_axes(w_); }
    Expr r(int64_t first, int64_t last) const {
        return swap_last_axes(slice(r_, 0, first * hidden_, last * hidden_));
    }
    // Gate `index` of [..., gates * hidden].
    Expr gate(const Expr& all, int64_t index) const {
        return slice(all, all.rank() - 1, index * hidden_, (index + 1) * hidden_);
    }
    // Part `index` of the peepholes.
    Expr peephole(int64_t index) const { return gate(weights(7), index); }

    Expr activate(size_t i, const Expr& x) const {
        const KernelContext& c = b_.context();
        if (!c.has_attribute("clip")) {
            return activate_unclipped(i, x);
        }
        Algebra& a = b_.algebra();
        double bound = c.float_attribute("clip");
        return activate_unclipped(
            i, a.call("Clip", {x, a.scalar(x.type(), -bound), a.scalar(x.type(), bound)}));
    }

    Expr activate_unclipped(size_t i, const Expr& x) const {
        const ActivationParameters* found = nullptr;
        for (const ActivationParameters& row : kParameters) {
            found = has_name(row.activation, names_[i]) ? &row : found;
        }
        if (found == nullptr) {
            b_.fail("an activation is not known");
            return x;
        }
        size_t at = static_cast<size_t>(direction_) * names_.size() + i;
        std::span<const float> alphas = b_.context().floats_attribute("activation_alpha");
        std::span<const float> betas = b_.context().floats_attribute("activation_beta");
        double alpha = at < alphas.size() ? alphas[at] : found->alpha;
        double beta = at < betas.size() ? betas[at] : found->beta;
        if (found->activation == "Affine") {
            return x * alpha + beta;
        }
        if (found->activation == "ScaledTanh") {
            return apply("Tanh", x * beta) * alpha;
        }
        std::vector<ir::Attribute> attributes;
        if (found->alpha != 0) {
            attributes.push_back(ir::make_attribute("alpha", static_cast<float>(alpha)));
        }
        if (found->beta != 0) {
            attributes.push_back(ir::make_attribute("beta", static_cast<float>(beta)));
        }
        return b_.algebra().call(found->activation, {x}, std::move(attributes));
    }

    Expr bias_w;
    Expr bias_r;

  private:
    // The standard writes the names with and without capitals.
    static bool has_name(std::string_view a, std::string_view b) {
        bool is_same = a.size() == b.size();
        for (size_t i = 0; i < a.size() && is_same; ++i) {
            is_same = std::tolower(static_cast<unsigned char>(a[i])) ==
                      std::tolower(static_cast<unsigned char>(b[i]));
        }
        return is_same;
    }

    // Input `i` for this direction.
    Expr weights(size_t i) const {
        Expr all = b_.x(i);
        Dims dims = all.dims();
        dims.erase(dims.begin());
        return reshape(slice(all, 0, direction_, direction_ + 1), dims);
    }

    Backward& b_;
    int64_t direction_;
    std::vector<std::string> names_;
    int64_t hidden_ = 0;
    Expr w_;
    Expr r_;
};

// What a cell makes of the product of X and W at a step ([batch, gates * hidden]; all biases are
// the cell's business) and of the state before.
struct CellState {
    Expr h;
    Expr c;  // of LSTM only
};
using Cell = CellState (*)(Backward&, const Steps&, const Expr& x, const CellState&);

// The outputs Y, Y_h and, for LSTM, Y_c.
std::vector<Expr> recurrent(Backward& b, int64_t gates, std::vector<std::string> otherwise,
                            Cell cell) {
    const KernelContext& c = b.context();
    bool is_lstm = gates == 4;
    bool batch_first = c.int_attribute("layout") != 0;
    auto steps_first = [&](const Expr& e) {
        return batch_first && !e.is_none() ? transpose(e, {1, 0, 2}) : e;
    };
    Expr x = steps_first(b.x());
    Expr initial[] = {steps_first(b.x(5)), is_lstm ? steps_first(b.x(6)) : Expr()};
    int64_t length = x.dim(0);
    int64_t batch = x.dim(1);
    int64_t directions = b.x(1).dim(0);
    bool is_reverse = c.has_attribute("direction") && c.string_attribute("direction") == "reverse";
    std::vector<int64_t> lengths = b.has_x(4) ? b.list("sequence_lens", 4) : std::vector<int64_t>();
    std::span<const std::string> names = c.strings_attribute("activations");
    std::vector<Expr> ys;
    std::vector<Expr> last_hs;
    std::vector<Expr> last_cs;
    for (int64_t d = 0; d < directions; ++d) {
        std::vector<std::string> mine = otherwise;
        for (size_t i = 0; i < mine.size() && !names.empty(); ++i) {
            mine[i] = names[static_cast<size_t>(d) * mine.size() + i];
        }
        Steps steps(b, gates, d, std::move(mine));
        Dims state_dims = {batch, steps.hidden()};
        CellState state;
        for (int i = 0; i < (is_lstm ? 2 : 1); ++i) {
            (i == 0 ? state.h : state.c) =
                initial[i].is_none() ? b.algebra().full(x.type(), state_dims, 0)
                                     : reshape(slice(initial[i], 0, d, d + 1), state_dims);
        }
        Expr products = matmul(x, steps.w());
        std::vector<Expr> y(length);
        for (int64_t i = 0; i < length; ++i) {
            // What is beyond a sequence comes before its begin on the way back, and after its end
            // otherwise: there the state stays, and Y is 0.
            int64_t t = is_reverse || d == 1 ? length - 1 - i : i;
            Expr part = reshape(slice(products, 0, t, t + 1), {batch, gates * steps.hidden()});
            CellState next = cell(b, steps, part, state);
            if (lengths.empty()) {
                state = next;
                y[t] = next.h;
            } else {
                Tensor flags = Tensor::zeros(ElementType::kBool, {batch, 1});
                for (int64_t k = 0; k < batch; ++k) {
                    flags.mutable_elements<bool>()[k] = t < lengths[k];
                }
                Expr is_inside = b.algebra().value(flags);
                state.h = where(is_inside, next.h, state.h);
                state.c = is_lstm ? where(is_inside, next.c, state.c) : state.c;
                y[t] = where(is_inside, next.h, 0);
            }
            y[t] = reshape(y[t], {1, 1, batch, steps.hidden()});
        }
        if (length > 0) {
            ys.push_back(concat(y, 0));
        }
        Dims with_direction = {1, batch, steps.hidden()};
        last_hs.push_back(reshape(state.h, with_direction));
        if (is_lstm) {
            last_cs.push_back(reshape(state.c, with_direction));
        }
    }
    Expr y = ys.empty() ? b.y() : concat(ys, 1);
    std::vector<Expr> results = {
        batch_first && !ys.empty() ? transpose(y, {2, 0, 1, 3}) : y,
        steps_first(concat(last_hs, 0)),
    };
    if (is_lstm) {
        results.push_back(steps_first(concat(last_cs, 0)));
    }
    return results;
}

CellState rnn_cell(Backward&, const Steps& steps, const Expr& x, const CellState& state) {
    Expr sum = x + matmul(state.h, steps.r(0, 1)) + steps.bias_w + steps.bias_r;
    return {steps.activate(0, sum), {}};
}

// Gates in the order z (update), r (reset), h (hidden).
CellState gru_cell(Backward& b, const Steps& steps, const Expr& x, const CellState& state) {
    Expr inputs = x + steps.bias_w;
    Expr states = matmul(state.h, steps.r(0, 2));
    auto gate = [&](int64_t i) {
        return steps.activate(
            0, steps.gate(inputs, i) + steps.gate(states, i) + steps.gate(steps.bias_r, i));
    };
    Expr update = gate(0);
    Expr reset = gate(1);
    Expr bias = steps.gate(steps.bias_r, 2);
    Expr part = b.context().int_attribute("linear_before_reset") != 0
                    ? reset * (matmul(state.h, steps.r(2, 3)) + bias)
                    : matmul(reset * state.h, steps.r(2, 3)) + bias;
    Expr candidate = steps.activate(1, steps.gate(inputs, 2) + part);
    return {(1 - update) * candidate + update * state.h, {}};
}

// Gates in the order i (input), o (output), f (forget), c (cell); peepholes i, o, f.
CellState lstm_cell(Backward& b, const Steps& steps, const Expr& x, const CellState& state) {
    Expr gates = x + matmul(state.h, steps.r(0, 4)) + steps.bias_w + steps.bias_r;
    auto gate = [&](int64_t i, int64_t peephole, const Expr& cell) {
        Expr sum = steps.gate(gates, i);
        return steps.activate(0, b.has_x(7) ? sum + steps.peephole(peephole) * cell : sum);
    };
    Expr in = gate(0, 0, state.c);
    Expr forget = b.context().int_attribute("input_forget") != 0 ? 1 - in : gate(2, 2, state.c);
    CellState next;
    next.c = forget * state.c + in * steps.activate(1, steps.gate(gates, 3));
    next.h = gate(1, 1, next.c) * steps.activate_unclipped(2, next.c);
    return next;
}

}  // namespace

std::vector<Expr> rnn(Backward& b) {
    return recurrent(b, 1, {"Tanh"}, rnn_cell);
}

std::vector<Expr> gru(Backward& b) {
    return recurrent(b, 3, {"Sigmoid", "Tanh"}, gru_cell);
}

std::vector<Expr> lstm(Backward& b) {
    return recurrent(b, 4, {"Sigmoid", "Tanh", "Tanh"}, lstm_cell);
}

}  // namespace sardonyx::eval::derivatives
