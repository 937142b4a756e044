// What the operators of classical machine learning (ai.onnx.ml) share. They compute in double,
// apart from the products that ml_rows.h names.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "eval/operators/kernel.h"

namespace sardonyx::eval {

// A batch of feature rows; a tensor of rank 1 is one row.
struct FeatureRows {
    Tensor data;  // DOUBLE; of real_rows() FLOAT too
    int64_t rows = 0;
    int64_t columns = 0;

    bool are_floats() const { return data.element_type() == ElementType::kFloat; }

    std::span<const double> row(int64_t i) const {
        return data.elements<double>().subspan(i * columns, columns);
    }
};
// The rows and columns of an input of [C] or [N,C], without its data.
Result<FeatureRows> feature_shape(const KernelContext& c, size_t input);

// The numbers are those of TreeEnsemble's `post_transform`.
enum class PostTransform : uint8_t { kNone, kSoftmax, kLogistic, kSoftmaxZero, kProbit };
Result<PostTransform> post_transform(const KernelContext& c);
void transform_scores(PostTransform transform, std::span<double> scores);

// How a classifier with two labels and one score completes it.
enum class SecondClass : uint8_t {
    kNone,        // one score stays one
    kComplement,  // [1 - score, score]
    kOpposite,    // [-score, score]
};
void class_scores(PostTransform transform, std::vector<double>& scores, SecondClass second);
// How many scores these become.
int64_t class_score_count(int64_t scores, SecondClass second);

// The labels that a classifier has; without any, it answers with the index.
class ClassLabels {
  public:
    static Result<ClassLabels> read(const KernelContext& c, std::string_view ints,
                                    std::string_view strings);
    int64_t size() const {
        return static_cast<int64_t>(is_string() ? strings_.size() : ints_.size());
    }
    bool is_string() const { return !strings_.empty(); }
    // Output 0: for each row the label of a class, or what stands for none.
    static constexpr int64_t kNegative = -1;  // 0 or ""
    static constexpr int64_t kPositive = -2;  // 1 or "1"
    Status set_output(KernelContext& c, std::span<const int64_t> classes) const;

  private:
    std::span<const int64_t> ints_;
    std::span<const std::string> strings_;
};

// Output `i`, FLOAT[rows, width]; null where nobody wants it.
Result<float*> scores_output(KernelContext& c, size_t i, int64_t rows, int64_t width);
// Puts the scores of a row there; nowhere where `out` is null.
void put_scores(std::span<const double> scores, float* out, int64_t row);

}  // namespace sardonyx::eval
