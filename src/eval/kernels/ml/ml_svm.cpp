// SVMClassifier and SVMRegressor (https://onnx.ai/onnx/operators/index.html#ai-onnx-ml). What the
// reference leaves open is as in ONNX Runtime.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "eval/kernels/ml/ml.h"
#include "eval/kernels/ml/ml_rows.h"
#include "eval/loops/clones.h"
#include "eval/loops/vector_math.h"
#include "eval/operators/kernel.h"

namespace sardonyx::eval::kernels {

namespace {

enum class SvmKernel : uint8_t { kLinear, kPolynomial, kRadial, kSigmoid };

// e^u = (1 + fraction) * power, for u in [-700, 700].
struct ScorePower {
    double fraction;
    double power;
};

// Without branches or calls, so that loops over it are vectorised; the scores that it is for become
// floats. NaN comes through in the fraction.
inline ScorePower power_of_score(double u) {
    // u = n * ln 2 + r with |r| <= ln(2) / 2; adding kRound rounds to an integer.
    constexpr double kRound = 0x1.8p52;
    double shifted = u * 1.44269504088896340736 + kRound;
    double n = shifted - kRound;
    double r = u - n * 6.93147180369123816490e-01;
    r = r - n * 1.90821492927058770002e-10;
    // e^r - 1 by its series, whose first term that is left out is below 1e-17 of it.
    double p = 1.0 / 6227020800.0;
    p = p * r + 1.0 / 479001600.0;
    p = p * r + 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    p = r + r * r * p;
    return {p, std::bit_cast<double>((std::bit_cast<uint64_t>(shifted) + 1023) << 52)};
}

// tanh within 1e-14 of itself.
inline double tanh_of_score(double x) {
    // tanh(a) = t / (t + 2) with t = e^2a - 1; from 20 on it is 1.
    double a = std::fabs(x);
    // NaN, of any payload, is not greater than 20 and comes through.
    ScorePower e = power_of_score(a > 20.0 ? 40.0 : a + a);
    double t = e.power * e.fraction + (e.power - 1.0);
    // Division of doubles takes most of the time: one of floats, and a step of Newton's.
    double divisor = t + 2.0;
    auto near = static_cast<double>(1.0f / static_cast<float>(divisor));
    return std::copysign(t * (near * (2.0 - divisor * near)), x);
}

// e^(factor * x), 0 or infinity from 700 on.
SDX_CLONES void powers_of_lanes(Lanes<double>* values, int64_t count, double factor) {
    double* all = values->data();
    for (int64_t i = 0; i < count * kLanes<double>; ++i) {
        double u = factor * all[i];
        double within = u > 700.0 ? 700.0 : u;
        within = within < -700.0 ? -700.0 : within;
        ScorePower e = power_of_score(within);
        double power = e.power + e.power * e.fraction;
        power = u < -700.0 ? 0.0 : power;
        all[i] = u > 700.0 ? std::numeric_limits<double>::infinity() : power;
    }
}

inline float tanh_of_score(float x) {
    return vector_tanh(x);
}

template <typename S>
SDX_CLONES void tanh_of_lanes(Lanes<S>* values, int64_t count, S gamma, S coef0) {
    S* all = values->data();
    for (int64_t i = 0; i < count * kLanes<S>; ++i) {
        all[i] = tanh_of_score(gamma * all[i] + coef0);
    }
}

// (gamma * x + coef0) ^ degree, by multiplications.
template <typename S>
SDX_CLONES void power_of_lanes(Lanes<S>* values, int64_t count, S gamma, S coef0, int degree) {
    for (int64_t i = 0; i < count; ++i) {
        Lanes<S> base;
        Lanes<S> result;
        for (int lane = 0; lane < kLanes<S>; ++lane) {
            base[lane] = gamma * values[i][lane] + coef0;
            result[lane] = 1;
        }
        for (int k = 0; k < degree; ++k) {
            for (int lane = 0; lane < kLanes<S>; ++lane) {
                result[lane] *= base[lane];
            }
        }
        values[i] = result;
    }
}

class Svm {
  public:
    // `vectors`: how many support vectors there are; without any, the model is linear.
    Status read(const KernelContext& c, int64_t vectors, const FeatureRows& x) {
        int64_t columns = x.columns;
        SDX_TRY(read_kernel(c, vectors));
        support_ = c.floats_attribute("support_vectors");
        rho = c.floats_attribute("rho");
        coefficients = c.floats_attribute("coefficients");
        auto count = static_cast<int64_t>(support_.size());
        bool fits = vectors == 0 || (count % vectors == 0 && count / vectors == columns);
        if (!fits || rho.empty() || coefficients.empty()) {
            return Error{
                fmt::format("{} numbers are not {} support vectors of {} features, or "
                            "`rho` or `coefficients` is missing",
                            count, vectors, columns)};
        }
        bool is_product = vectors > 0 && kernel_ != SvmKernel::kRadial;
        if (is_product && !is_single(x) && x.rows >= kManyRows) {
            wide_.assign(support_.begin(), support_.end());
        }
        return {};
    }

    // Whether the kernels of these rows are floats, as in ONNX Runtime: functions of products of
    // FLOAT. Their errors are about 1e-7 of the largest kernel.
    bool is_single(const FeatureRows& x) const {
        bool is_function = kernel_ == SvmKernel::kPolynomial || kernel_ == SvmKernel::kSigmoid;
        return x.are_floats() && is_function;
    }

    // Calls body(S()) with the type of the kernels.
    template <typename Body>
    void in_type_of(const FeatureRows& x, const Body& body) const {
        if (is_single(x)) {
            body(0.0f);
        } else {
            body(0.0);
        }
    }

    // The kernel of the rows and each of the support vectors, of which there are `count`.
    template <typename S>
    void kernels_of_vectors(std::span<const Lanes<S>> x, bool are_floats, int64_t count,
                            std::vector<Lanes<S>>& result) const {
        if constexpr (std::is_same_v<S, double>) {
            if (!wide_.empty()) {
                result.resize(count);
                multiply_rows<S>(x, are_floats, std::span<const double>(wide_), count,
                                 result.data());
                apply(result, count);
                return;
            }
        }
        kernels<S>(x, are_floats, support_, count, result);
    }

    // The kernel of the rows and each of `count` points of y.
    template <typename S>
    void kernels(std::span<const Lanes<S>> x, bool are_floats, std::span<const float> y,
                 int64_t count, std::vector<Lanes<S>>& result) const {
        result.resize(count);
        if constexpr (std::is_same_v<S, double>) {
            if (kernel_ == SvmKernel::kRadial) {
                squared_distances(x, y, count, result.data());
                powers_of_lanes(result.data(), count, -gamma_);
                return;
            }
        }
        multiply_rows<S>(x, are_floats, y, count, result.data());
        apply(result, count);
    }

    // For a row.
    int64_t operations(int64_t vectors, int64_t columns) const {
        int64_t function = kernel_ == SvmKernel::kLinear ? 0 : 32;
        return std::max<int64_t>(1, vectors) * (columns / 2 + function);
    }

    std::span<const float> coefficients;
    std::span<const float> rho;

    bool is_linear() const { return kernel_ == SvmKernel::kLinear; }
    // Of the linear kernel: the sum of the support vectors, each times its coefficient, whose
    // product with a row is the sum of theirs.
    std::vector<double> sum_of_vectors(int64_t columns) const {
        std::vector<double> sum(columns);
        for (size_t j = 0; j < coefficients.size(); ++j) {
            double coefficient = coefficients[j];
            for (int64_t i = 0; i < columns; ++i) {
                sum[i] += coefficient * support_[j * columns + i];
            }
        }
        return sum;
    }

  private:
    // The kernel function, applied to products.
    template <typename S>
    void apply(std::vector<Lanes<S>>& result, int64_t count) const {
        if (kernel_ == SvmKernel::kPolynomial) {
            raise(result, count);
        } else if (kernel_ == SvmKernel::kSigmoid) {
            tanh_of_lanes<S>(result.data(), count, static_cast<S>(gamma_), static_cast<S>(coef0_));
        }
    }

    template <typename S>
    void raise(std::vector<Lanes<S>>& result, int64_t count) const {
        constexpr double kMostFactors = 8;
        if (degree_ >= 0 && degree_ <= kMostFactors && degree_ == std::floor(degree_)) {
            power_of_lanes<S>(result.data(), count, static_cast<S>(gamma_), static_cast<S>(coef0_),
                              static_cast<int>(degree_));
            return;
        }
        for (Lanes<S>& values : result) {
            for (S& value : values) {
                value = static_cast<S>(std::pow(gamma_ * value + coef0_, degree_));
            }
        }
    }

    Status read_kernel(const KernelContext& c, int64_t vectors) {
        std::string_view name = c.string_attribute("kernel_type");
        std::span<const float> parameters = c.floats_attribute("kernel_params");
        if (!parameters.empty() && parameters.size() != 3) {
            return Error{fmt::format("kernel_params has {} numbers, not 3", parameters.size())};
        }
        if (!parameters.empty()) {
            gamma_ = parameters[0];
            coef0_ = parameters[1];
            degree_ = parameters[2];
        }
        if (name != "LINEAR" && name != "POLY" && name != "RBF" && name != "SIGMOID") {
            return Error{fmt::format("kernel_type `{}` is not known", name)};
        }
        kernel_ = vectors == 0 || name == "LINEAR" ? SvmKernel::kLinear
                  : name == "POLY"                 ? SvmKernel::kPolynomial
                  : name == "RBF"                  ? SvmKernel::kRadial
                                                   : SvmKernel::kSigmoid;
        return {};
    }

    SvmKernel kernel_ = SvmKernel::kLinear;
    double gamma_ = 0, coef0_ = 0, degree_ = 0;
    std::span<const float> support_;
    std::vector<double> wide_;  // the same, where there are many rows
};

}  // namespace

Status svm_regressor(KernelContext& c) {
    SDX_ASSIGN(FeatureRows x, real_rows(c));
    SDX_ASSIGN(PostTransform transform, post_transform(c));
    int64_t vectors = std::max<int64_t>(0, c.int_attribute("n_supports"));
    Svm svm;
    SDX_TRY(svm.read(c, vectors, x));
    if (static_cast<int64_t>(svm.coefficients.size()) != (vectors > 0 ? vectors : x.columns)) {
        return Error{fmt::format("{} coefficients for {} support vectors of {} features",
                                 svm.coefficients.size(), vectors, x.columns)};
    }
    bool has_one_class = c.int_attribute("one_class") != 0;
    SDX_ASSIGN(float* out, scores_output(c, 0, x.rows, 1));
    std::vector<double> combined;
    if (vectors > 0 && svm.is_linear()) {
        combined = svm.sum_of_vectors(x.columns);
    }
    int64_t operations = svm.operations(combined.empty() ? vectors : 1, x.columns);
    auto run = [&]<typename S>(S, int64_t begin, int64_t end) {
        std::vector<Lanes<S>> block;
        std::vector<Lanes<S>> values;
        for (int64_t first = begin; first < end; first += kLanes<S>) {
            load_rows(x, first, block);
            Lanes<S> sums{};
            if (vectors == 0) {
                svm.kernels<S>(block, x.are_floats(), svm.coefficients, 1, values);
                sums = values[0];
            } else if (!combined.empty()) {
                sums = dot<S, double>(block, combined);
            } else {
                svm.kernels_of_vectors<S>(block, x.are_floats(), vectors, values);
                sums = dot<S>(values, svm.coefficients);
            }
            for (int64_t k = 0; k < std::min<int64_t>(kLanes<S>, end - first); ++k) {
                double sum = static_cast<double>(sums[k]) + svm.rho[0];
                double score = has_one_class ? (sum > 0 ? 1 : -1) : sum;
                transform_scores(transform, {&score, 1});
                put_scores({&score, 1}, out, first + k);
            }
        }
    };
    for_row_pieces(c, x.rows, operations, [&](int64_t begin, int64_t end) {
        svm.in_type_of(x, [&](auto zero) { run(zero, begin, end); });
    });
    return {};
}

namespace {

struct SvmClasses {
    int64_t count = 1;                      // classes
    int64_t vectors = 0;                    // support vectors in all
    std::span<const int64_t> per_class;     // support vectors of each class
    std::vector<int64_t> starts;            // where they begin
    std::span<const float> prob_a, prob_b;  // of the pairs; empty: no probabilities
    int64_t pairs() const { return count * (count - 1) / 2; }
};

Result<SvmClasses> svm_classes(const KernelContext& c, int64_t labels) {
    SvmClasses classes;
    classes.count = std::max<int64_t>(1, labels);
    classes.per_class = c.ints_attribute("vectors_per_class");
    classes.prob_a = c.floats_attribute("prob_a");
    classes.prob_b = c.floats_attribute("prob_b");
    auto limit = static_cast<int64_t>(c.floats_attribute("support_vectors").size());
    for (int64_t count : classes.per_class) {
        classes.starts.push_back(classes.vectors);
        if (count < 0 || count > limit - classes.vectors) {
            return Error{
                fmt::format("vectors_per_class counts more than {} support vectors", limit)};
        }
        classes.vectors += count;
    }
    if (classes.vectors == 0) {
        return classes;
    }
    auto probabilities = static_cast<int64_t>(classes.prob_a.size());
    auto groups = static_cast<int64_t>(classes.per_class.size());
    if (groups != classes.count || classes.prob_a.size() != classes.prob_b.size() ||
        (probabilities != 0 && probabilities < classes.pairs())) {
        return Error{
            fmt::format("{} groups of support vectors and {} probabilities are not those "
                        "of {} classes",
                        groups, probabilities, classes.count)};
    }
    return classes;
}

// The decisions between each pair of classes.
template <typename S>
void compare_pairs(const Svm& svm, const SvmClasses& classes, std::span<const Lanes<S>> kernels,
                   std::vector<Lanes<S>>& scores) {
    // The vectors of class `own`, weighted against class `other`, whose row is other - 1 behind it.
    auto side = [&](int64_t own, int64_t line) {
        std::span<const float> weights = svm.coefficients.subspan(
            line * classes.vectors + classes.starts[own], classes.per_class[own]);
        return dot<S>(kernels.subspan(classes.starts[own], weights.size()), weights);
    };
    scores.clear();
    for (int64_t i = 0; i < classes.count; ++i) {
        for (int64_t j = i + 1; j < classes.count; ++j) {
            Lanes<S> first = side(i, j - 1);
            Lanes<S> second = side(j, i);
            for (int k = 0; k < kLanes<S>; ++k) {
                first[k] = first[k] + second[k] + svm.rho[scores.size()];
            }
            scores.push_back(first);
        }
    }
}

// How often each class won.
void count_votes(const SvmClasses& classes, std::span<const double> scores,
                 std::vector<double>& votes) {
    votes.assign(classes.count, 0);
    size_t at = 0;
    for (int64_t i = 0; i < classes.count; ++i) {
        for (int64_t j = i + 1; j < classes.count; ++j) {
            votes[scores[at++] > 0 ? i : j] += 1;
        }
    }
}

// The probabilities of the classes from those of the pairs, by the second method of Wu, Lin and
// Weng (Probability estimates for multi-class classification by pairwise coupling, 2004).
std::vector<double> couple_pairs(int64_t n, const std::vector<double>& pair) {
    std::vector<double> q(n * n, 0.0);
    std::vector<double> p(n, 1.0 / static_cast<double>(n));
    std::vector<double> qp(n);
    for (int64_t t = 0; t < n; ++t) {
        for (int64_t j = 0; j < n; ++j) {
            if (j != t) {
                q[t * n + t] += pair[j * n + t] * pair[j * n + t];
                q[t * n + j] = -pair[j * n + t] * pair[t * n + j];
            }
        }
    }
    double tolerance = 0.005 / static_cast<double>(n);
    for (int64_t round = 0; round < std::max<int64_t>(100, n); ++round) {
        double pqp = 0;
        double error = 0;
        for (int64_t t = 0; t < n; ++t) {
            qp[t] = std::inner_product(p.begin(), p.end(), q.begin() + t * n, 0.0);
            pqp += p[t] * qp[t];
        }
        for (int64_t t = 0; t < n; ++t) {
            error = std::max(error, std::fabs(qp[t] - pqp));
        }
        if (error < tolerance) {
            break;
        }
        for (int64_t t = 0; t < n; ++t) {
            double diff = (pqp - qp[t]) / q[t * n + t];
            p[t] += diff;
            pqp = (pqp + diff * (diff * q[t * n + t] + 2 * qp[t])) / ((1 + diff) * (1 + diff));
            for (int64_t j = 0; j < n; ++j) {
                qp[j] = (qp[j] + diff * q[t * n + j]) / (1 + diff);
                p[j] /= 1 + diff;
            }
        }
    }
    return p;
}

std::vector<double> probabilities(const SvmClasses& classes, const std::vector<double>& scores) {
    int64_t n = classes.count;
    std::vector<double> pair(n * n, 0.0);
    size_t at = 0;
    for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = i + 1; j < n; ++j, ++at) {
            double value = 1 / (1 + std::exp(scores[at] * classes.prob_a[at] + classes.prob_b[at]));
            value = std::clamp(value, 1e-7, 1 - 1e-7);
            pair[i * n + j] = value;
            pair[j * n + i] = 1 - value;
        }
    }
    return couple_pairs(n, pair);
}

}  // namespace

Status svm_classifier(KernelContext& c) {
    SDX_ASSIGN(FeatureRows x, real_rows(c));
    SDX_ASSIGN(PostTransform transform, post_transform(c));
    SDX_ASSIGN(ClassLabels labels, ClassLabels::read(c, "classlabels_ints", "classlabels_strings"));
    SDX_ASSIGN(SvmClasses classes, svm_classes(c, labels.size()));
    Svm svm;
    SDX_TRY(svm.read(c, classes.vectors, x));
    auto coefficients = static_cast<int64_t>(svm.coefficients.size());
    bool is_linear = classes.vectors == 0;
    bool fits = is_linear
                    ? coefficients % classes.count == 0 && coefficients / classes.count == x.columns
                    : coefficients / classes.vectors >= classes.count - 1 &&
                          static_cast<int64_t>(svm.rho.size()) >= classes.pairs();
    if (!fits) {
        return Error{
            fmt::format("{} coefficients and {} numbers in `rho` are not those of {} "
                        "classes",
                        coefficients, svm.rho.size(), classes.count)};
    }
    bool has_probabilities = !is_linear && !classes.prob_a.empty();
    bool is_binary = svm.rho.size() == 1;
    bool has_labels = !is_binary || labels.size() == 2;
    SecondClass second = !is_binary || labels.size() != 2    ? SecondClass::kNone
                         : transform == PostTransform::kNone ? SecondClass::kOpposite
                                                             : SecondClass::kComplement;
    int64_t width = is_linear || has_probabilities ? classes.count : classes.pairs();
    std::vector<int64_t> chosen(x.rows);
    SDX_ASSIGN(float* out, scores_output(c, 1, x.rows, class_score_count(width, second)));
    int64_t operations = svm.operations(is_linear ? classes.count : classes.vectors, x.columns);
    auto run = [&]<typename S>(S, int64_t begin, int64_t end) {
        std::vector<Lanes<S>> block;
        std::vector<Lanes<S>> kernels;
        std::vector<Lanes<S>> lanes;
        std::vector<double> scores;
        std::vector<double> votes;
        for (int64_t first = begin; first < end; first += kLanes<S>) {
            load_rows(x, first, block);
            if (is_linear) {
                svm.kernels<S>(block, x.are_floats(), svm.coefficients, classes.count, lanes);
                for (Lanes<S>& values : lanes) {
                    for (S& score : values) {
                        score = svm.rho[0] + score;
                    }
                }
            } else {
                svm.kernels_of_vectors<S>(block, x.are_floats(), classes.vectors, kernels);
                compare_pairs<S>(svm, classes, kernels, lanes);
            }
            for (int64_t k = 0; k < std::min<int64_t>(kLanes<S>, end - first); ++k) {
                take_lane<S>(lanes, k, scores);
                if (!is_linear) {
                    count_votes(classes, scores, votes);
                }
                if (has_probabilities) {
                    scores = probabilities(classes, scores);
                }
                const std::vector<double>& ranking = is_linear ? scores : votes;
                size_t best = greatest_of(ranking);
                chosen[first + k] = has_labels          ? static_cast<int64_t>(best)
                                    : ranking[best] > 0 ? ClassLabels::kPositive
                                                        : ClassLabels::kNegative;
                class_scores(transform, scores, second);
                put_scores(scores, out, first + k);
            }
        }
    };
    for_row_pieces(c, x.rows, operations, [&](int64_t begin, int64_t end) {
        svm.in_type_of(x, [&](auto zero) { run(zero, begin, end); });
    });
    return labels.set_output(c, chosen);
}

}  // namespace sardonyx::eval::kernels
