// Expected types are those of onnx.shape_inference, with what it leaves open filled in (it knows
// nothing of optimizers and of half of ai.onnx.ml).
#include <gtest/gtest.h>

#include "one_node.h"

namespace sardonyx::infer {
namespace {

std::string ml_types(std::string_view op_type, int64_t version, const std::vector<Input>& inputs,
                     const Attributes& attributes = {}, size_t outputs = 1) {
    return types_of(op_type, version, inputs, attributes, outputs, "ai.onnx.ml");
}

TEST(Ml, Classifiers) {
    EXPECT_EQ(
        ml_types("LinearClassifier", 1, {"FLOAT[N, 3]"},
                 {{"classlabels_ints", Ints{1, 2, 3}}, {"coefficients", std::vector<float>(9)}}, 2),
        "INT64[N] FLOAT[N, 3]");
    EXPECT_EQ(ml_types("TreeEnsembleClassifier", 3, {"FLOAT[3]"},
                       {{"classlabels_strings", Strings{"a", "b"}}}, 2),
              "STRING[1] FLOAT[1, 2]");
    EXPECT_EQ(ml_types("SVMClassifier", 1, {"FLOAT[N, 3]"}, {{"classlabels_ints", Ints{1, 2}}}, 2),
              "INT64[N] FLOAT[N, ?]");
    EXPECT_EQ(ml_types("ZipMap", 1, {"FLOAT[N, 2]"}, {{"classlabels_strings", Strings{"a", "b"}}}),
              "Sequence[Map[STRING, FLOAT]]");
}

TEST(Ml, Regressors) {
    EXPECT_EQ(ml_types("LinearRegressor", 1, {"FLOAT[N, 3]"}, {{"targets", int64_t{2}}}),
              "FLOAT[N, 2]");
    EXPECT_EQ(ml_types("SVMRegressor", 1, {"FLOAT[N, 3]"}), "FLOAT[N, 1]");
    EXPECT_EQ(ml_types("TreeEnsembleRegressor", 3, {"DOUBLE[N, 3]"}, {{"n_targets", int64_t{2}}}),
              "FLOAT[N, 2]");
    EXPECT_EQ(ml_types("TreeEnsemble", 5, {"DOUBLE[N, 3]"}, {{"n_targets", int64_t{2}}}),
              "DOUBLE[N, 2]");
}

TEST(Ml, Features) {
    EXPECT_EQ(ml_types("OneHotEncoder", 1, {"INT64[N, 2]"}, {{"cats_int64s", Ints{1, 2, 3}}}),
              "FLOAT[N, 2, 3]");
    EXPECT_EQ(ml_types("ArrayFeatureExtractor", 1, {"FLOAT[N, 3]", "INT64[1, 2]"}), "FLOAT[N, 2]");
    EXPECT_EQ(ml_types("ArrayFeatureExtractor", 1, {"FLOAT[3]", "INT64[2]"}), "FLOAT[1, 2]");
    EXPECT_EQ(ml_types("FeatureVectorizer", 1, {"FLOAT[N, 3]", "FLOAT[N, 4]"},
                       {{"inputdimensions", Ints{3, 4}}}),
              "FLOAT[N, 7]");
    EXPECT_EQ(ml_types("Scaler", 1, {"INT64[N, 3]"}), "FLOAT[N, 3]");
    EXPECT_EQ(ml_types("Imputer", 1, {"INT64[N, 3]"}), "INT64[N, 3]");
}

TEST(Ml, Labels) {
    EXPECT_EQ(ml_types("LabelEncoder", 1, {"STRING[N]"}), "INT64[N]");
    EXPECT_EQ(ml_types("LabelEncoder", 2, {"STRING[N]"},
                       {{"keys_strings", Strings{"a"}}, {"values_floats", std::vector<float>{1}}}),
              "FLOAT[N]");
    EXPECT_EQ(ml_types("LabelEncoder", 4, {"INT64[N]"},
                       {{"keys_int64s", Ints{1}}, {"values_tensor", int64s({4})}}),
              "INT64[N]");
    EXPECT_EQ(ml_types("CategoryMapper", 1, {"INT64[N, 2]"}), "STRING[N, 2]");
    EXPECT_EQ(ml_types("DictVectorizer", 1, {"Map[INT64, DOUBLE]"}), "DOUBLE[...]");
    EXPECT_EQ(ml_types("CastMap", 1, {"Map[INT64, FLOAT]"}, {{"cast_to", "TO_STRING"}}),
              "STRING[...]");
    EXPECT_EQ(finding_of("LabelEncoder", 2, {"STRING[N]"},
                         {{"keys_strings", Strings{"a"}},
                          {"values_floats", std::vector<float>{1}},
                          {"values_int64s", Ints{1}}},
                         "ai.onnx.ml"),
              "invalid-value: `LabelEncoder` has both `values_int64s` and `values_floats` (give "
              "one list of values)");
}

TEST(Ml, ParallelLists) {
    EXPECT_EQ(finding_of("TreeEnsembleRegressor", 3, {"FLOAT[N, 3]"},
                         {{"nodes_treeids", Ints{0, 0}},
                          {"nodes_hitrates", std::vector<float>{}},
                          {"nodes_nodeids", Ints{0, 1, 2}}},
                         "ai.onnx.ml"),
              "invalid-value: `nodes_nodeids` of `TreeEnsembleRegressor` has 3 elements and "
              "`nodes_treeids` has 2 (these lists have one element for each node of the trees, or "
              "leaf)");
}

TEST(Training, Optimizers) {
    auto training = [](std::string_view op_type, const std::vector<Input>& inputs, size_t outputs) {
        return types_of(op_type, 1, inputs, {}, outputs, "ai.onnx.preview.training");
    };
    EXPECT_EQ(
        training("Adam",
                 {"FLOAT", "INT64", "FLOAT[2, N]", "FLOAT[2, N]", "FLOAT[2, N]", "FLOAT[2, N]"}, 3),
        "FLOAT[2, N] FLOAT[2, N] FLOAT[2, N]");
    EXPECT_EQ(training("Momentum",
                       {"FLOAT", "INT64", "FLOAT[2]", "DOUBLE[5]", "FLOAT[2]", "DOUBLE[5]",
                        "FLOAT[2]", "DOUBLE[5]"},
                       4),
              "FLOAT[2] DOUBLE[5] FLOAT[2] DOUBLE[5]");
    EXPECT_EQ(training("Adagrad", {"FLOAT", "INT64", "FLOAT[2]", "FLOAT[2]"}, 2),
              "finding: argument-count: `Adagrad` has 2 inputs after `R` and `T`, and must have a "
              "multiple of 3 (give all tensors, then all gradients, then the states)");
}

TEST(Training, Gradient) {
    EXPECT_EQ(types_of("Gradient", 1, {"FLOAT[2]", "DOUBLE[N]", "FLOAT[7]"},
                       {{"xs", Strings{"a", "b"}}, {"zs", Strings{"c"}}, {"y", "d"}}, 2,
                       "ai.onnx.preview.training"),
              "FLOAT[2] DOUBLE[N]");
}

}  // namespace
}  // namespace sardonyx::infer
