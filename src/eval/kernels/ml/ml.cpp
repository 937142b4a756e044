#include "eval/kernels/ml/ml.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "eval/kernels/cast.h"

namespace sardonyx::eval {
namespace {

struct TransformName {
    std::string_view name;
    PostTransform transform;
};
constexpr TransformName kTransforms[] = {
    {"NONE", PostTransform::kNone},         {"SOFTMAX", PostTransform::kSoftmax},
    {"LOGISTIC", PostTransform::kLogistic}, {"SOFTMAX_ZERO", PostTransform::kSoftmaxZero},
    {"PROBIT", PostTransform::kProbit},
};

double logistic(double x) {
    return 1 / (1 + std::exp(-x));
}

// Winitzki's approximation of the inverse error function, with the constant that ONNX Runtime and
// onnx.reference have: exact inverses would differ from theirs in the third digit.
double probit(double x) {
    x = 2 * x - 1;
    double sign = x < 0 ? -1 : 1;
    double log = std::log((1 - x) * (1 + x));
    double v = 2 / (std::numbers::pi * 0.147) + 0.5 * log;
    return 1.41421356 * sign * std::sqrt(-v + std::sqrt(v * v - log / 0.147));
}

void softmax(std::span<double> scores, bool keeps_zeros) {
    double greatest = *std::max_element(scores.begin(), scores.end());
    double total = 0;
    for (double& score : scores) {
        bool is_zero = keeps_zeros && std::fabs(score) <= 1e-7;
        score = is_zero ? score * std::exp(-greatest) : std::exp(score - greatest);
        total += score;
    }
    for (double& score : scores) {
        score = keeps_zeros && total == 0 ? 0.5 : score / total;
    }
}

}  // namespace

Result<FeatureRows> feature_shape(const KernelContext& c, size_t input) {
    const Dims& dims = c.dims(input);
    if (dims.empty() || dims.size() > 2) {
        return Error{
            fmt::format("input {} has shape {}, but must be [C] or [N,C]", input, to_string(dims))};
    }
    if (dims.back() == 0 && dims[0] > 0) {
        return Error{
            fmt::format("input {} ({}) has rows without features", input, to_string(dims))};
    }
    return FeatureRows{{}, dims.size() == 1 ? 1 : dims[0], dims.back()};
}

Result<PostTransform> post_transform(const KernelContext& c) {
    std::string_view name = c.string_attribute("post_transform");
    for (const TransformName& known : kTransforms) {
        if (known.name == name) {
            return known.transform;
        }
    }
    return Error{fmt::format("post_transform `{}` is not known", name)};
}

void transform_scores(PostTransform transform, std::span<double> scores) {
    if (scores.empty() || transform == PostTransform::kNone) {
        return;
    }
    if (transform == PostTransform::kSoftmax || transform == PostTransform::kSoftmaxZero) {
        softmax(scores, transform == PostTransform::kSoftmaxZero);
        return;
    }
    for (double& score : scores) {
        score = transform == PostTransform::kLogistic ? logistic(score) : probit(score);
    }
}

// As ONNX Runtime does it: SOFTMAX and SOFTMAX_ZERO do not touch a single score. PROBIT takes
// probabilities, so there the other class has the complement; ONNX Runtime leaves its column unset.
void class_scores(PostTransform transform, std::vector<double>& scores, SecondClass second) {
    bool is_pair = scores.size() == 1 && second != SecondClass::kNone;
    bool is_probit = transform == PostTransform::kProbit;
    if (is_pair) {
        bool is_opposite =
            second == SecondClass::kOpposite || transform == PostTransform::kLogistic;
        scores.insert(scores.begin(), is_opposite && !is_probit ? -scores[0] : 1 - scores[0]);
    }
    if (!is_pair || is_probit || transform == PostTransform::kLogistic) {
        transform_scores(transform, scores);
    }
}

int64_t class_score_count(int64_t scores, SecondClass second) {
    return scores == 1 && second != SecondClass::kNone ? 2 : scores;
}

Result<ClassLabels> ClassLabels::read(const KernelContext& c, std::string_view ints,
                                      std::string_view strings) {
    ClassLabels labels;
    labels.ints_ = c.ints_attribute(ints);
    labels.strings_ = c.strings_attribute(strings);
    if (!labels.ints_.empty() && !labels.strings_.empty()) {
        return Error{fmt::format("`{}` and `{}` cannot be used together", ints, strings)};
    }
    return labels;
}

Status ClassLabels::set_output(KernelContext& c, std::span<const int64_t> classes) const {
    Dims dims{static_cast<int64_t>(classes.size())};
    for (int64_t index : classes) {
        if (size() > 0 && index >= size()) {
            return Error{fmt::format("class {} has no label among {}", index, size())};
        }
    }
    if (is_string()) {
        SDX_ASSIGN(Tensor * out, c.output(0, ElementType::kString, std::move(dims)));
        std::string* result = out->mutable_elements<std::string>().data();
        for (int64_t index : classes) {
            *result++ = index >= 0 ? strings_[index] : index == kPositive ? "1" : "";
        }
        return {};
    }
    SDX_ASSIGN(Tensor * out, c.output(0, ElementType::kInt64, std::move(dims)));
    int64_t* result = out->mutable_elements<int64_t>().data();
    for (int64_t index : classes) {
        int64_t label = ints_.empty() || index < 0 ? index : ints_[index];
        *result++ = index == kNegative ? 0 : index == kPositive ? 1 : label;
    }
    return {};
}

Result<float*> scores_output(KernelContext& c, size_t i, int64_t rows, int64_t width) {
    if (!c.wants(i)) {
        return static_cast<float*>(nullptr);
    }
    SDX_ASSIGN(Tensor * out, c.output(i, ElementType::kFloat, {rows, rows == 0 ? 0 : width}));
    return out->mutable_elements<float>().data();
}

void put_scores(std::span<const double> scores, float* out, int64_t row) {
    if (out != nullptr) {
        std::transform(scores.begin(), scores.end(),
                       out + row * static_cast<int64_t>(scores.size()),
                       [](double score) { return static_cast<float>(score); });
    }
}

}  // namespace sardonyx::eval
