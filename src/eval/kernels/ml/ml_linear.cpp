// LinearClassifier and LinearRegressor (https://onnx.ai/onnx/operators/index.html#ai-onnx-ml). What
// the reference leaves open is as in ONNX Runtime.

#include <fmt/format.h>

#include <array>
#include <span>
#include <type_traits>
#include <vector>

#include "eval/kernels/ml/ml.h"
#include "eval/kernels/ml/ml_rows.h"
#include "eval/operators/kernel.h"

namespace sardonyx::eval::kernels {

namespace {

// One row of coefficients for each of `targets`; intercepts may be left out.
struct LinearModel {
    std::span<const float> coefficients;
    std::span<const float> intercepts;
    int64_t targets = 0;
    std::vector<double> wide = {};  // the coefficients, for rows of DOUBLE

    template <typename S>
    void scores(const FeatureRows& x, std::span<const Lanes<S>> rows,
                std::vector<Lanes<S>>& result) const {
        result.resize(targets);
        if constexpr (std::is_same_v<S, double>) {
            std::span<const double> widened(wide);
            multiply_rows<S>(rows, x.are_floats(), widened, targets, result.data());
        } else {
            multiply_rows<S>(rows, x.are_floats(), coefficients, targets, result.data());
        }
        for (int64_t t = 0; t < targets && !intercepts.empty(); ++t) {
            for (S& score : result[t]) {
                score += intercepts[t];
            }
        }
    }
};

enum class CoefficientCount : uint8_t { kExact, kMayBeMore };

// kMayBeMore: coefficients after the last row that is needed are not looked at.
Result<LinearModel> linear_model(const KernelContext& c, const FeatureRows& x, int64_t targets,
                                 CoefficientCount wanted) {
    int64_t columns = x.columns;
    LinearModel model{c.floats_attribute("coefficients"), c.floats_attribute("intercepts"),
                      targets};
    auto count = static_cast<int64_t>(model.coefficients.size());
    auto intercepts = static_cast<int64_t>(model.intercepts.size());
    // By division, as a product of hostile numbers could overflow.
    bool fits = targets > 0 && columns > 0 && count / targets >= columns &&
                (wanted == CoefficientCount::kMayBeMore ||
                 (count % targets == 0 && count / targets == columns)) &&
                (intercepts == 0 || intercepts == targets);
    if (!fits) {
        return Error{
            fmt::format("{} coefficients and {} intercepts are not those of {} targets "
                        "and {} features",
                        count, intercepts, targets, columns)};
    }
    if (!x.are_floats()) {
        model.wide.assign(model.coefficients.begin(), model.coefficients.end());
    }
    return model;
}

// The scores of each row as they are, computed as S.
template <typename S>
void put_all_scores(const KernelContext& c, const LinearModel& model, const FeatureRows& x,
                    float* out) {
    for_row_pieces(c, x.rows, x.columns * model.targets / 2, [&](int64_t begin, int64_t end) {
        std::vector<Lanes<S>> block;
        std::vector<Lanes<S>> lanes;
        for (int64_t first = begin; first < end; first += kLanes<S>) {
            load_rows(x, first, block);
            model.scores<S>(x, block, lanes);
            for (int64_t k = 0; k < std::min<int64_t>(kLanes<S>, end - first); ++k) {
                float* row = out + (first + k) * model.targets;
                for (int64_t t = 0; t < model.targets; ++t) {
                    row[t] = static_cast<float>(lanes[t][k]);
                }
            }
        }
    });
}

// Calls finish(row, scores) for each row, which may change the scores.
template <typename S, typename Finish>
void score_rows(const KernelContext& c, const LinearModel& model, const FeatureRows& x,
                const Finish& finish) {
    for_row_pieces(c, x.rows, x.columns * model.targets / 2, [&](int64_t begin, int64_t end) {
        std::vector<Lanes<S>> block;
        std::vector<Lanes<S>> lanes;
        std::vector<double> scores;
        for (int64_t first = begin; first < end; first += kLanes<S>) {
            load_rows(x, first, block);
            model.scores<S>(x, block, lanes);
            for (int64_t k = 0; k < std::min<int64_t>(kLanes<S>, end - first); ++k) {
                take_lane<S>(lanes, k, scores);
                finish(first + k, scores);
            }
        }
    });
}

}  // namespace

Status linear_regressor(KernelContext& c) {
    SDX_ASSIGN(FeatureRows x, real_rows(c));
    SDX_ASSIGN(PostTransform transform, post_transform(c));
    SDX_ASSIGN(LinearModel model,
               linear_model(c, x, c.int_attribute("targets"), CoefficientCount::kExact));
    SDX_ASSIGN(float* out, scores_output(c, 0, x.rows, model.targets));
    if (transform == PostTransform::kNone && out != nullptr) {
        in_type_of(x, [&]<typename S>(S) { put_all_scores<S>(c, model, x, out); });
        return {};
    }
    auto finish = [&](int64_t row, std::vector<double>& scores) {
        transform_scores(transform, scores);
        put_scores(scores, out, row);
    };
    in_type_of(x, [&]<typename S>(S) { score_rows<S>(c, model, x, finish); });
    return {};
}

Status linear_classifier(KernelContext& c) {
    SDX_ASSIGN(FeatureRows x, real_rows(c));
    SDX_ASSIGN(PostTransform transform, post_transform(c));
    SDX_ASSIGN(ClassLabels labels, ClassLabels::read(c, "classlabels_ints", "classlabels_strings"));
    auto count = static_cast<int64_t>(c.floats_attribute("coefficients").size());
    auto targets = static_cast<int64_t>(c.floats_attribute("intercepts").size());
    if (targets == 0) {
        if (x.columns == 0 || count % x.columns != 0) {
            return Error{
                fmt::format("{} coefficients are not those of {} features", count, x.columns)};
        }
        targets = count / x.columns;
    }
    // Models with rows of more coefficients than there are features are about; as ONNX Runtime
    // does, the rows of what is needed follow each other from the first coefficient on.
    SDX_ASSIGN(LinearModel model, linear_model(c, x, targets, CoefficientCount::kMayBeMore));
    bool has_two_labels = labels.size() == 2;
    SecondClass second = has_two_labels ? SecondClass::kComplement : SecondClass::kNone;
    std::vector<int64_t> classes(x.rows);
    SDX_ASSIGN(float* out, scores_output(c, 1, x.rows, class_score_count(model.targets, second)));
    auto finish = [&](int64_t row, std::vector<double>& scores) {
        if (scores.size() > 1) {
            classes[row] = static_cast<int64_t>(greatest_of(scores));
        } else if (has_two_labels) {
            classes[row] = scores[0] > 0 ? 1 : 0;
        } else {
            classes[row] = scores[0] > 0 ? ClassLabels::kPositive : ClassLabels::kNegative;
        }
        class_scores(transform, scores, second);
        put_scores(scores, out, row);
    };
    in_type_of(x, [&]<typename S>(S) { score_rows<S>(c, model, x, finish); });
    return labels.set_output(c, classes);
}

}  // namespace sardonyx::eval::kernels
