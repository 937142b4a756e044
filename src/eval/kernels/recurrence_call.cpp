// What a call of RNN, GRU or LSTM asks for: sizes, directions, weights and activations.

#include "eval/kernels/recurrence_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <string>
#include <utility>

#include "eval/loops/activation.h"
#include "eval/loops/clones.h"
#include "eval/loops/matmul.h"
#include "eval/loops/strided.h"
#include "eval/loops/vector_math.h"
#include "eval/loops/visit.h"
#include "eval/operators/kernel.h"

namespace sardonyx::eval::kernels {

namespace {

// Applies what `Make` gives for the parameters.
template <typename Make, typename S>
SDX_CLONES void activate_all(S* x, int64_t n, float alpha, float beta) {
    const auto function = Make{}(alpha, beta);
    for (int64_t i = 0; i < n; ++i) {
        x[i] = function(x[i]);
    }
}

template <typename Make>
constexpr ActivationRow activation_row(std::string_view name, Make, float alpha = 0,
                                       float beta = 0) {
    return {name, &activate_all<Make, float>, &activate_all<Make, double>, alpha, beta};
}

struct Affine {
    float alpha;
    float beta;
    template <typename S>
    S operator()(S x) const {
        return static_cast<S>(alpha) * x + static_cast<S>(beta);
    }
};

struct ScaledTanh {
    float alpha;
    float beta;
    template <typename S>
    S operator()(S x) const {
        return static_cast<S>(alpha) * vector_tanh(static_cast<S>(beta) * x);
    }
};

// The operators' table of activation functions.
const ActivationRow kActivations[] = {
    activation_row(
        "Affine",
        [](float a, float b) {
            return Affine{a, b};
        },
        1),
    activation_row(
        "Elu", [](float a, float) { return Elu{a}; }, 1),
    activation_row(
        "HardSigmoid",
        [](float a, float b) {
            return HardSigmoid{a, b};
        },
        0.2f, 0.5f),
    activation_row(
        "LeakyRelu", [](float a, float) { return LeakyRelu{a}; }, 0.01f),
    activation_row("Relu", [](float, float) { return Relu{}; }),
    activation_row(
        "ScaledTanh",
        [](float a, float b) {
            return ScaledTanh{a, b};
        },
        1, 1),
    activation_row("Sigmoid", [](float, float) { return Sigmoid{}; }),
    activation_row("Softplus", [](float, float) { return Softplus{}; }),
    activation_row("Softsign", [](float, float) { return Softsign{}; }),
    activation_row("Tanh",
                   [](float, float) {
                       return ScaledTanh{1, 1};
                   }),
    activation_row(
        "ThresholdedRelu", [](float a, float) { return ThresholdedRelu{a}; }, 1),
};

// The standard writes the names with and without capitals.
bool same_name(std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
        return std::tolower(x) == std::tolower(y);
    });
}

}  // namespace

Result<std::vector<Activation>> activations(const KernelContext& c, int64_t directions,
                                            std::span<const std::string_view> otherwise) {
    std::vector<std::string_view> names;
    std::span<const std::string> given = c.strings_attribute("activations");
    names.assign(given.begin(), given.end());
    if (names.empty()) {
        for (int64_t d = 0; d < directions; ++d) {
            names.insert(names.end(), otherwise.begin(), otherwise.end());
        }
    }
    if (names.size() != otherwise.size() * directions) {
        return Error{fmt::format("{} activations for {} gates in {} directions", names.size(),
                                 otherwise.size(), directions)};
    }
    std::span<const float> alphas = c.floats_attribute("activation_alpha");
    std::span<const float> betas = c.floats_attribute("activation_beta");
    std::vector<Activation> all;
    for (size_t i = 0; i < names.size(); ++i) {
        const auto* row =
            std::find_if(std::begin(kActivations), std::end(kActivations),
                         [&](const ActivationRow& one) { return same_name(one.name, names[i]); });
        if (row == std::end(kActivations)) {
            return Error{fmt::format("the activation `{}` is not known", names[i])};
        }
        all.push_back({row, i < alphas.size() ? alphas[i] : row->alpha,
                       i < betas.size() ? betas[i] : row->beta});
    }
    return all;
}

Status check_dims(const KernelContext& c, size_t i, std::string_view name, const Dims& wanted) {
    if (c.has_input(i) && c.dims(i) != wanted) {
        return Error{fmt::format("`{}` is {}, and {} is needed", name, to_string(c.dims(i)),
                                 to_string(wanted))};
    }
    return {};
}

namespace {

Dims weight_dims(const Recurrence& r, int64_t in) {
    return r.weights_by_input ? Dims{r.directions, in, r.width()}
                              : Dims{r.directions, r.width(), in};
}

}  // namespace

Result<Recurrence> recurrence(const KernelContext& c, int64_t gates,
                              std::span<const std::string_view> names, WeightLayout weights) {
    if (c.rank(0) != 3 || c.rank(1) != 3 || c.rank(2) != 3) {
        return Error{"X, W and R must have rank 3"};
    }
    Recurrence r;
    int64_t layout = c.int_attribute("layout");
    if (layout != 0 && layout != 1) {
        return Error{fmt::format("`layout` is {}, but must be 0 or 1", layout)};
    }
    r.batch_first = layout == 1;
    r.steps = c.dims(0)[r.batch_first ? 1 : 0];
    r.batch = c.dims(0)[r.batch_first ? 0 : 1];
    r.input = c.dims(0)[2];
    r.gates = gates;
    r.weights_by_input = weights == WeightLayout::kByInput;
    r.hidden = c.dims(2)[r.weights_by_input ? 1 : 2];
    std::string_view direction = c.string_attribute("direction");
    if (direction.empty() || direction == "foward") {  // the default of GRU in version 1
        direction = "forward";
    }
    r.directions = direction == "bidirectional" ? 2 : 1;
    r.is_reverse = direction == "reverse";
    if (!r.is_reverse && r.directions == 1 && direction != "forward") {
        return Error{fmt::format("the direction `{}` is not known", direction)};
    }
    int64_t size = c.int_attribute("hidden_size", r.hidden);
    if (size != r.hidden) {
        return Error{fmt::format("`hidden_size` {} is not that of R, {}", size, r.hidden)};
    }
    if (r.hidden > INT32_MAX || r.input > INT32_MAX) {
        return Error{"the sizes are too large"};
    }
    // The products of all inputs with W; and a state for each row of a batch, also without steps.
    Dims products{r.batch, std::max<int64_t>(r.steps, 1), std::max<int64_t>(r.width(), 1)};
    SDX_TRY(check_size(ElementType::kDouble, products, c.options()));
    SDX_TRY(check_dims(c, 1, "W", weight_dims(r, r.input)));
    SDX_TRY(check_dims(c, 2, "R", weight_dims(r, r.hidden)));
    SDX_TRY(check_dims(c, 3, "B", {r.directions, 2 * r.width()}));
    Dims state{r.directions, r.batch, r.hidden};
    if (r.batch_first) {
        std::swap(state[0], state[1]);
    }
    SDX_TRY(check_dims(c, 5, "initial_h", state));
    r.lengths.assign(r.batch, r.steps);
    if (c.has_input(4)) {
        SDX_ASSIGN(r.lengths, c.ints(4));
        bool fits = static_cast<int64_t>(r.lengths.size()) == r.batch &&
                    std::all_of(r.lengths.begin(), r.lengths.end(),
                                [&r](int64_t n) { return n >= 0 && n <= r.steps; });
        if (!fits) {
            return Error{
                fmt::format("the sequence lengths {} do not fit a batch of {} with {} "
                            "steps",
                            to_string(r.lengths), r.batch, r.steps)};
        }
    }
    if (c.has_attribute("clip")) {
        r.clip = c.float_attribute("clip");
        if (!(r.clip >= 0)) {
            return Error{"`clip` must not be negative"};
        }
    }
    SDX_ASSIGN(r.activations, activations(c, r.directions, names));
    return r;
}

}  // namespace sardonyx::eval::kernels
