// The optimizers of ai.onnx.preview.training: Adagrad, Adam, Momentum. One call updates several
// tensors at once: its inputs are the learning rate, the count of updates so far, and then groups
// of one tensor each: all X, all gradients, all of each state.
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "eval/kernels/cast.h"
#include "eval/loops/visit.h"
#include "eval/operators/kernel.h"

namespace sardonyx::eval::kernels {
namespace {

using Doubles = TypeList<Typed<ElementType::kFloat, float>, Typed<ElementType::kDouble, double>>;

// The tensors of one group: X, gradient, states; and what becomes of X and the states.
template <size_t States>
struct Group {
    std::array<Tensor, 2 + States> in;
    std::array<Tensor, 1 + States> out;
};

template <typename T, size_t States, typename Step>
void update_elements(Group<States>* group, Step step) {
    std::array<const T*, 2 + States> in;
    std::array<T*, 1 + States> out;
    for (size_t k = 0; k < in.size(); ++k) {
        in[k] = group->in[k].template elements<T>().data();
    }
    for (size_t k = 0; k < out.size(); ++k) {
        out[k] = group->out[k].template mutable_elements<T>().data();
    }
    for (int64_t i = 0; i < group->in[0].count(); ++i) {
        double x = in[0][i];
        std::array<double, States> state;
        for (size_t k = 0; k < States; ++k) {
            state[k] = in[2 + k][i];
        }
        step(x, in[1][i], state);
        out[0][i] = static_cast<T>(x);
        for (size_t k = 0; k < States; ++k) {
            out[1 + k][i] = static_cast<T>(state[k]);
        }
    }
}

// The group that begins with input `first`; `count` groups lie side by side.
template <size_t States>
Result<Group<States>> read_group(const KernelContext& c, size_t first, size_t count) {
    Group<States> group;
    for (size_t k = 0; k < group.in.size(); ++k) {
        size_t at = first + k * count;
        group.in[k] = c.tensor(at);
        if (c.dims(at) != c.dims(first) || c.type(at) != c.type(first)) {
            return Error{fmt::format("input {} is {}, but input {} is {}", at,
                                     c.value(at).describe(), first, c.value(first).describe())};
        }
    }
    for (Tensor& out : group.out) {
        SDX_ASSIGN(out, c.scratch(c.type(first), c.dims(first)));
    }
    return group;
}

// `step(x, gradient, state)` updates one element and its `States` states in place, all in double.
template <size_t States, typename Step>
Status update_all(KernelContext& c, Step step) {
    size_t groups = 2 + States;
    size_t count = c.input_count() < 2 ? 0 : (c.input_count() - 2) / groups;
    if (count == 0 || count * groups + 2 != c.input_count() ||
        c.output_count() > count * (1 + States)) {
        return Error{fmt::format("{} inputs and {} outputs do not form groups of {} tensors",
                                 c.input_count(), c.output_count(), groups)};
    }
    for (size_t i = 0; i < count; ++i) {
        SDX_ASSIGN(Group<States> group, read_group<States>(c, 2 + i, count));
        SDX_TRY(visit(Doubles{}, c.type(2 + i), [&]<typename T>() -> Status {
            update_elements<T>(&group, step);
            return {};
        }));
        for (size_t k = 0; k <= States; ++k) {
            if (c.wants(i + k * count)) {
                c.set_output(i + k * count, group.out[k]);
            }
        }
    }
    return {};
}

}  // namespace

// https://onnx.ai/onnx/operators/onnx_aionnxpreviewtraining_Adagrad.html
Status adagrad(KernelContext& c) {
    SDX_ASSIGN(double rate, c.real_scalar(0));
    SDX_ASSIGN(int64_t updates, c.int_scalar(1));
    rate /= 1 + static_cast<double>(updates) * c.float_attribute("decay_factor");
    double norm = c.float_attribute("norm_coefficient");
    double epsilon = c.float_attribute("epsilon");
    return update_all<1>(c, [&](double& x, double gradient, std::array<double, 1>& squares) {
        gradient += norm * x;
        squares[0] += gradient * gradient;
        x -= rate * gradient / (std::sqrt(squares[0]) + epsilon);
    });
}

// https://onnx.ai/onnx/operators/onnx_aionnxpreviewtraining_Adam.html
Status adam(KernelContext& c) {
    SDX_ASSIGN(double rate, c.real_scalar(0));
    SDX_ASSIGN(int64_t updates, c.int_scalar(1));
    double alpha = c.float_attribute("alpha");
    double beta = c.float_attribute("beta");
    double norm = c.float_attribute("norm_coefficient");
    double norm_after = c.float_attribute("norm_coefficient_post");
    double epsilon = c.float_attribute("epsilon");
    if (updates > 0) {  // the bias of momentums that began at 0
        auto t = static_cast<double>(updates);
        rate *= std::sqrt(1 - std::pow(beta, t)) / (1 - std::pow(alpha, t));
    }
    return update_all<2>(c, [&](double& x, double gradient, std::array<double, 2>& momentum) {
        gradient += norm * x;
        momentum[0] = alpha * momentum[0] + (1 - alpha) * gradient;
        momentum[1] = beta * momentum[1] + (1 - beta) * gradient * gradient;
        x -= rate * momentum[0] / (std::sqrt(momentum[1]) + epsilon);
        x *= 1 - norm_after;
    });
}

// https://onnx.ai/onnx/operators/onnx_aionnxpreviewtraining_Momentum.html
Status momentum(KernelContext& c) {
    SDX_ASSIGN(double rate, c.real_scalar(0));
    SDX_ASSIGN(int64_t updates, c.int_scalar(1));
    double alpha = c.float_attribute("alpha");
    double beta = updates > 0 ? c.float_attribute("beta") : 1;
    double norm = c.float_attribute("norm_coefficient");
    std::string_view mode = c.string_attribute("mode");
    bool is_nesterov = mode == "nesterov";
    if (!is_nesterov && mode != "standard") {
        return Error{fmt::format("mode `{}` is not known", mode)};
    }
    return update_all<1>(c, [&](double& x, double gradient, std::array<double, 1>& velocity) {
        gradient += norm * x;
        velocity[0] = alpha * velocity[0] + beta * gradient;
        x -= rate * (is_nesterov ? gradient + alpha * velocity[0] : velocity[0]);
    });
}

}  // namespace sardonyx::eval::kernels
