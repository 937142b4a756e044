// Losses of classifiers, over log-probabilities or over scores.
#include <cmath>

#include <fmt/format.h>

#include "eval/kernels/cast.h"
#include "eval/loops/reduction.h"
#include "eval/loops/scratch.h"
#include "eval/loops/softmax.h"
#include "eval/loops/strided.h"
#include "eval/loops/visit.h"
#include "eval/operators/kernel.h"

namespace sardonyx::eval::kernels {
namespace {

// Labels and weights of a loss over scores [N, C, d1, ...].
struct Labels {
    AxisView view;                // n: classes
    std::vector<int64_t> labels;  // [outer * inner]; -1 where ignored
    std::vector<double> weights;  // by class; empty: all 1
    Dims dims;                    // of the labels

    double weight(int64_t label) const { return weights.empty() ? 1 : weights[label]; }
};

Result<Labels> read_labels(const KernelContext& c) {
    if (c.rank(0) < 2) {
        return Error{fmt::format("the scores {} must have rank 2 or more", to_string(c.dims(0)))};
    }
    Labels all;
    all.view = axis_view(c.dims(0), 1);
    all.dims = c.dims(0);
    all.dims.erase(all.dims.begin() + 1);
    if (c.dims(1) != all.dims) {
        return Error{fmt::format("the labels {} do not fit scores {}", to_string(c.dims(1)),
                                 to_string(c.dims(0)))};
    }
    SDX_ASSIGN(Tensor labels, cast_tensor(c, c.tensor(1), ElementType::kInt64));
    const ir::Attribute* ignored = c.find_attribute("ignore_index");
    for (int64_t label : labels.elements<int64_t>()) {
        bool ignores = ignored != nullptr && label == *ignored->get<int64_t>();
        if (!ignores && (label < 0 || label >= all.view.n)) {
            return Error{fmt::format("the label {} is not among {} classes", label, all.view.n)};
        }
        all.labels.push_back(ignores ? -1 : label);
    }
    if (c.has_input(2)) {
        SDX_ASSIGN(Tensor weights, cast_tensor(c, c.tensor(2), ElementType::kDouble));
        if (weights.count() != all.view.n) {
            return Error{fmt::format("{} weights for {} classes", weights.count(), all.view.n)};
        }
        all.weights.assign(weights.elements<double>().begin(), weights.elements<double>().end());
    }
    return all;
}

// Output 0: `shift` less the score, which is minus the log-probability, of each label, reduced as
// the attribute says. `shifts`: one for each label; empty: 0.
template <typename T>
Status write_loss(KernelContext& c, const Labels& all, std::span<const double> shifts) {
    std::string_view reduction = c.string_attribute("reduction");
    bool each = reduction == "none";
    SDX_ASSIGN(Tensor * out, c.output(0, c.type(0), each ? all.dims : Dims{}));
    std::span<const T> scores = c.tensor(0).elements<T>();
    double total = 0, weight_total = 0;
    for (size_t i = 0; i < all.labels.size(); ++i) {
        if (i % kPolled == 0) {
            SDX_TRY(check_interrupt(c.options()));
        }
        int64_t label = all.labels[i];
        double loss = 0;
        if (label >= 0) {
            int64_t outer = static_cast<int64_t>(i) / all.view.inner;
            int64_t inner = static_cast<int64_t>(i) % all.view.inner;
            int64_t at = (outer * all.view.n + label) * all.view.inner + inner;
            double shift = shifts.empty() ? 0 : shifts[i];
            loss = (shift - as_double(scores[at])) * all.weight(label);
            weight_total += all.weight(label);
        }
        total += loss;
        if (each) {
            out->mutable_elements<T>()[i] = static_cast<T>(loss);
        }
    }
    if (!each) {
        out->mutable_elements<T>()[0] =
            static_cast<T>(reduction == "sum" ? total : total / weight_total);
    }
    return {};
}

// The logarithm of the sum of e^score over the classes, in rows [begin, end) of scores [N, C, ...].
template <typename T>
void log_sums_of_classes(const Workers& threads, const AxisView& view, const T* scores,
                         double* sums, int64_t begin, int64_t end) {
    if constexpr (std::is_same_v<T, float>) {
        if (view.inner == 1) {
            Scratch<float> powers(kFoldRows * view.n);
            log_sums_of_rows(threads, scores + begin * view.n, view.n, end - begin, powers.data(),
                             sums + begin);
            return;
        }
    }
    for (int64_t row = begin; row < end; ++row) {
        const T* first = scores + row / view.inner * view.n * view.inner + row % view.inner;
        double most = -INFINITY;
        for (int64_t k = 0; k < view.n; ++k) {
            most = std::fmax(most, as_double(first[k * view.inner]));
        }
        double sum = 0;
        for (int64_t k = 0; k < view.n; ++k) {
            sum += std::exp(as_double(first[k * view.inner]) - most);
        }
        sums[row] = most + std::log(sum);
    }
}

// out = scores less the shift of their row, the log-probabilities, for rows [begin, end).
template <typename T>
void subtract_shifts(const AxisView& view, const T* scores, const double* shifts, T* out,
                     int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
        int64_t first = row / view.inner * view.n * view.inner + row % view.inner;
        for (int64_t k = 0; k < view.n; ++k) {
            int64_t at = first + k * view.inner;
            out[at] = static_cast<T>(as_double(scores[at]) - shifts[row]);
        }
    }
}

}  // namespace

Status negative_log_likelihood_loss(KernelContext& c) {
    SDX_ASSIGN(Labels all, read_labels(c));
    return visit(Floats{}, c.type(0),
                 [&]<typename T>() -> Status { return write_loss<T>(c, all, {}); });
}

Status softmax_cross_entropy_loss(KernelContext& c) {
    SDX_ASSIGN(Labels all, read_labels(c));
    return visit(Floats{}, c.type(0), [&]<typename T>() -> Status {
        const T* scores = c.tensor(0).elements<T>().data();
        const AxisView& view = all.view;
        std::vector<double> shifts(all.labels.size());
        auto rows = static_cast<int64_t>(view.n > 0 ? shifts.size() : 0);
        parallel_for(c.threads(), rows, items_per_task(8 * view.n),
                     [&](int64_t begin, int64_t end) {
                         log_sums_of_classes(c.threads(), view, scores, shifts.data(), begin, end);
                     });
        SDX_TRY(write_loss<T>(c, all, shifts));
        if (c.wants(1)) {
            SDX_ASSIGN(Tensor * log_probabilities, c.output(1, c.type(0), c.dims(0)));
            T* out = log_probabilities->mutable_elements<T>().data();
            parallel_for(c.threads(), rows, items_per_task(view.n),
                         [&](int64_t begin, int64_t end) {
                             subtract_shifts(view, scores, shifts.data(), out, begin, end);
                         });
        }
        return {};
    });
}

}  // namespace sardonyx::eval::kernels
