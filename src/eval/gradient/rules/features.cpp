// Rules of differentiation and definitions of ai.onnx.ml. Its operators compute in double and
// answer in FLOAT. A tensor of rank 1 is one row.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "eval/gradient/derivative.h"

namespace sardonyx::eval::derivatives {
namespace {

Expr as_rows(const Expr& x) {
    int64_t columns = x.rank() == 0 ? 1 : x.dim(x.rank() - 1);
    return reshape(cast(x, ElementType::kDouble),
                   {columns == 0 ? 0 : x.count() / columns, columns});
}

// A list of floats as DOUBLE; `dims` has as many elements.
Expr floats(Backward& b, std::string_view attribute, const Dims& dims) {
    std::span<const float> list = b.context().floats_attribute(attribute);
    return b.algebra().value(
        Tensor::of<double>(dims, std::vector<double>(list.begin(), list.end())));
}

int64_t float_count(Backward& b, std::string_view attribute) {
    return static_cast<int64_t>(b.context().floats_attribute(attribute).size());
}

// The scores [rows, classes] after `post_transform`.
Expr transformed(Backward& b, const Expr& scores) {
    std::string_view transform = b.context().string_attribute("post_transform");
    if (transform == "LOGISTIC") {
        return apply("Sigmoid", scores);
    }
    if (transform == "SOFTMAX") {
        return apply("Softmax", scores);
    }
    if (transform == "SOFTMAX_ZERO") {  // zeros stay
        Algebra& a = b.algebra();
        Expr is_zero = !(apply("Abs", scores) > 1e-7);
        Expr greatest = a.call("ReduceMax", {scores, a.ints({1})});
        Expr parts =
            where(is_zero, scores * apply("Exp", -greatest), apply("Exp", scores - greatest));
        Expr total = sum(parts, {1});
        return parts / where(equals(total, 0), 1, total);
    }
    if (transform == "PROBIT") {
        b.fail(
            "post_transform `PROBIT` has no rule of differentiation; NONE, LOGISTIC, SOFTMAX and "
            "SOFTMAX_ZERO have");
    }
    return scores;
}

// A classifier with two labels and one score completes it: with its opposite, or with what it lacks
// to 1.
Expr class_results(Backward& b, const Expr& scores, bool has_second, bool is_opposite) {
    if (scores.dim(1) != 1 || !has_second) {
        return transformed(b, scores);
    }
    bool is_logistic = b.context().string_attribute("post_transform") == "LOGISTIC";
    Expr both = concat({is_opposite || is_logistic ? -scores : 1 - scores, scores}, 1);
    return is_logistic || b.context().string_attribute("post_transform") == "PROBIT"
               ? transformed(b, both)
               : both;
}

size_t label_count(Backward& b) {
    return b.context().ints_attribute("classlabels_ints").size() +
           b.context().strings_attribute("classlabels_strings").size();
}

// Rows [rows, features] under coefficients of `targets` [targets, features], and intercepts.
Expr linear_scores(Backward& b, int64_t targets) {
    Expr rows = as_rows(b.x());
    Expr scores = matmul(rows, swap_last_axes(floats(b, "coefficients", {targets, rows.dim(1)})));
    return float_count(b, "intercepts") == 0 ? scores : scores + floats(b, "intercepts", {targets});
}

// The products of rows [rows, features] with vectors [vectors, features].
Expr row_products(const Expr& rows, const Expr& vectors) {
    return matmul(rows, swap_last_axes(vectors));
}

// The kernel of an SVM between them.
Expr svm_kernels(Backward& b, const Expr& rows, const Expr& vectors) {
    std::string_view name = b.context().string_attribute("kernel_type");
    std::span<const float> parameters = b.context().floats_attribute("kernel_params");
    double gamma = parameters.empty() ? 0 : parameters[0];
    double coef0 = parameters.empty() ? 0 : parameters[1];
    double degree = parameters.empty() ? 0 : parameters[2];
    Expr products = row_products(rows, vectors);
    if (name == "LINEAR") {
        return products;
    }
    if (name == "RBF") {
        Expr difference = reshape(rows, {rows.dim(0), 1, rows.dim(1)}) - vectors;
        return apply("Exp", squeezed_sum(difference * difference, {2}) * -gamma);
    }
    Expr line = products * gamma + coef0;
    return name == "POLY" ? power(line, degree) : apply("Tanh", line);
}

// The decisions between each pair of classes, [rows, pairs].
Expr pair_scores(Backward& b, const Expr& kernels) {
    std::span<const int64_t> sizes = b.context().ints_attribute("vectors_per_class");
    auto classes = static_cast<int64_t>(sizes.size());
    int64_t vectors = kernels.dim(1);
    std::vector<int64_t> starts = {0};
    for (int64_t size : sizes) {
        starts.push_back(starts.back() + size);
    }
    int64_t lines = vectors == 0 ? 0 : float_count(b, "coefficients") / vectors;
    Expr weights = floats(b, "coefficients", {lines, vectors});
    // The vectors of class `own`, weighted against class `other`, whose row is other - 1 behind it.
    auto side = [&](int64_t own, int64_t line) {
        Expr mine = slice(kernels, 1, starts[own], starts[own + 1]);
        Expr weight = slice(slice(weights, 0, line, line + 1), 1, starts[own], starts[own + 1]);
        return matmul(mine, swap_last_axes(weight));
    };
    std::span<const float> rho = b.context().floats_attribute("rho");
    std::vector<Expr> pairs;
    for (int64_t i = 0; i < classes; ++i) {
        for (int64_t j = i + 1; j < classes; ++j) {
            pairs.push_back(side(i, j - 1) + side(j, i) + double{rho[pairs.size()]});
        }
    }
    return pairs.empty() ? kernels : concat(pairs, 1);
}

}  // namespace

std::vector<Expr> array_feature_extractor(Backward& b) {
    Expr x = b.x();
    Expr places = reshape(b.x(1), {b.x(1).count()});
    return {reshape(take(x, places, x.rank() - 1), b.y().dims())};
}

// The parts of the rows, as far as they were not cut off.
void feature_vectorizer(Backward& b) {
    std::span<const int64_t> sizes = b.context().ints_attribute("inputdimensions");
    int64_t start = 0;
    for (size_t i = 0; i < b.input_count(); ++i) {
        Expr x = b.x(i);
        int64_t own = x.dim(x.rank() - 1);
        int64_t size = sizes.empty() ? own : sizes[i];
        int64_t kept = std::min(own, size);
        Expr part = slice(b.g(), 1, start, start + kept);
        b.add(i, reshape(pad(part, {0, 0}, {0, own - kept}), x.dims()));
        start += size;
    }
}

// What is replaced is a constant.
void imputer(Backward& b) {
    Expr x = b.x();
    double replaced = b.context().float_attribute("replaced_value_float");
    Expr is_missing = std::isnan(replaced) ? apply("IsNaN", x) : equals(x, replaced);
    b.add(0, where(is_missing, 0, b.g()));
}

std::vector<Expr> linear_classifier(Backward& b) {
    Expr rows = as_rows(b.x());
    int64_t targets = float_count(b, "coefficients") / std::max<int64_t>(1, rows.dim(1));
    Expr scores = class_results(b, linear_scores(b, targets), label_count(b) == 2, false);
    return {Expr(), cast(reshape(scores, b.y(1).dims()), ElementType::kFloat)};
}

std::vector<Expr> linear_regressor(Backward& b) {
    Expr scores = transformed(b, linear_scores(b, b.context().int_attribute("targets")));
    return {cast(reshape(scores, b.y().dims()), ElementType::kFloat)};
}

std::vector<Expr> normalizer(Backward& b) {
    std::string_view norm = b.context().string_attribute("norm");
    Expr rows = as_rows(b.x());
    if (rows.count() == 0) {
        return {b.y()};
    }
    Expr size = b.algebra().call(norm == "MAX"  ? "ReduceMax"
                                 : norm == "L1" ? "ReduceL1"
                                                : "ReduceL2",
                                 {rows, b.algebra().ints({1})});
    rows = rows / where(equals(size, 0), 1, size);
    return {cast(reshape(rows, b.y().dims()), ElementType::kFloat)};
}

void scaler(Backward& b) {
    b.add(0, cast(b.g(), ElementType::kDouble) * floats(b, "scale", {float_count(b, "scale")}));
}

std::vector<Expr> svm_classifier(Backward& b) {
    if (float_count(b, "prob_a") != 0) {
        b.fail(
            "probabilities of pairs (`prob_a`) are coupled by rounds of an iteration, and have no "
            "rule of differentiation; the scores of a model without them have");
        return {};
    }
    Expr rows = as_rows(b.x());
    int64_t columns = rows.dim(1);
    std::span<const int64_t> sizes = b.context().ints_attribute("vectors_per_class");
    bool is_linear = std::all_of(sizes.begin(), sizes.end(), [](int64_t n) { return n == 0; });
    Expr scores;
    if (is_linear) {
        int64_t classes = float_count(b, "coefficients") / std::max<int64_t>(1, columns);
        double rho = b.context().floats_attribute("rho")[0];
        scores = row_products(rows, floats(b, "coefficients", {classes, columns})) + rho;
    } else {
        int64_t vectors = float_count(b, "support_vectors") / std::max<int64_t>(1, columns);
        Expr support = floats(b, "support_vectors", {vectors, columns});
        scores = pair_scores(b, svm_kernels(b, rows, support));
    }
    bool has_second = float_count(b, "rho") == 1 && label_count(b) == 2;
    bool is_opposite = b.context().string_attribute("post_transform") == "NONE";
    scores = class_results(b, scores, has_second, is_opposite);
    return {Expr(), cast(reshape(scores, b.y(1).dims()), ElementType::kFloat)};
}

std::vector<Expr> svm_regressor(Backward& b) {
    Expr rows = as_rows(b.x());
    int64_t vectors = std::max<int64_t>(0, b.context().int_attribute("n_supports"));
    double rho = b.context().floats_attribute("rho")[0];
    int64_t columns = rows.dim(1);
    Expr scores;
    if (vectors == 0) {
        scores = row_products(rows, floats(b, "coefficients", {1, columns}));
    } else {
        Expr kernels = svm_kernels(b, rows, floats(b, "support_vectors", {vectors, columns}));
        scores = matmul(kernels, floats(b, "coefficients", {vectors, 1}));
    }
    if (b.context().int_attribute("one_class") != 0) {
        return {b.y()};  // a sign
    }
    return {cast(reshape(transformed(b, scores + rho), b.y().dims()), ElementType::kFloat)};
}

}  // namespace sardonyx::eval::derivatives
