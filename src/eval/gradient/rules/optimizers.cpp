// Definitions of the optimizers of ai.onnx.preview.training, so that one can differentiate through
// the steps of a training. Inputs are the learning rate, the count of updates so far, and then
// groups of one tensor each: all X, all gradients, all of each state.
#include <cmath>

#include "eval/gradient/derivative.h"

namespace sardonyx::eval::derivatives {
namespace {

double coefficient(Backward& b, std::string_view attribute) {
    return b.context().float_attribute(attribute);
}

int64_t update_count(Backward& b) {
    Result<int64_t> count = b.context().int_scalar(1);
    return count.ok() ? *count : 0;
}

// The slope at 0 counts as 0.
Expr root(const Expr& x) {
    Expr is_zero = equals(x, 0);
    return where(is_zero, 0, apply("Sqrt", where(is_zero, 1, x)));
}

// `step(rate, x, gradient, states)` updates one tensor and its `state_count` states.
template <typename Step>
std::vector<Expr> update_each(Backward& b, size_t state_count, const Step& step) {
    size_t count = (b.input_count() - 2) / (2 + state_count);
    std::vector<Expr> results(count * (1 + state_count));
    for (size_t i = 0; i < count; ++i) {
        auto input = [&](size_t k) { return b.x(2 + k * count + i); };
        Expr x = input(0);
        std::vector<Expr> states;
        for (size_t k = 0; k < state_count; ++k) {
            states.push_back(input(2 + k));
        }
        Expr gradient = input(1) + x * coefficient(b, "norm_coefficient");
        step(cast(b.x(0), x.type()), x, gradient, states);
        results[i] = x;
        for (size_t k = 0; k < state_count; ++k) {
            results[(1 + k) * count + i] = states[k];
        }
    }
    return results;
}

}  // namespace

std::vector<Expr> adagrad(Backward& b) {
    double decay = 1 + static_cast<double>(update_count(b)) * coefficient(b, "decay_factor");
    auto step = [&](const Expr& rate, Expr& x, const Expr& g, std::vector<Expr>& states) {
        states[0] = states[0] + g * g;
        x = x - rate / decay * g / (root(states[0]) + coefficient(b, "epsilon"));
    };
    return update_each(b, 1, step);
}

std::vector<Expr> adam(Backward& b) {
    double alpha = coefficient(b, "alpha");
    double beta = coefficient(b, "beta");
    auto t = static_cast<double>(update_count(b));
    // The bias of momentums that began at 0.
    double factor = t > 0 ? std::sqrt(1 - std::pow(beta, t)) / (1 - std::pow(alpha, t)) : 1;
    auto step = [&](const Expr& rate, Expr& x, const Expr& g, std::vector<Expr>& states) {
        states[0] = states[0] * alpha + g * (1 - alpha);
        states[1] = states[1] * beta + g * g * (1 - beta);
        x = x - rate * factor * states[0] / (root(states[1]) + coefficient(b, "epsilon"));
        x = x * (1 - coefficient(b, "norm_coefficient_post"));
    };
    return update_each(b, 2, step);
}

std::vector<Expr> momentum(Backward& b) {
    double alpha = coefficient(b, "alpha");
    double beta = update_count(b) > 0 ? coefficient(b, "beta") : 1;
    bool is_nesterov = b.context().string_attribute("mode") == "nesterov";
    auto step = [&](const Expr& rate, Expr& x, const Expr& g, std::vector<Expr>& states) {
        states[0] = states[0] * alpha + g * beta;
        x = x - rate * (is_nesterov ? g + states[0] * alpha : states[0]);
    };
    return update_each(b, 1, step);
}

}  // namespace sardonyx::eval::derivatives
