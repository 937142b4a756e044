// Expected types are those of onnx.shape_inference, with dims that it leaves open filled in.
#include <gtest/gtest.h>

#include "one_node.h"

namespace sardonyx::infer {
namespace {

TEST(BatchNormalization, OutputsByVersion) {
    std::vector<Input> inputs = {"FLOAT16[N, 3, 4]", "FLOAT16[3]", "FLOAT16[3]", "FLOAT16[3]",
                                 "FLOAT16[3]"};
    for (int64_t version : {1, 6, 7, 9}) {
        EXPECT_EQ(types_of("BatchNormalization", version, inputs, {}, 5),
                  "FLOAT16[N, 3, 4] FLOAT16[3] FLOAT16[3] FLOAT16[3] FLOAT16[3]");
    }
    inputs[3] = inputs[4] = "FLOAT[3]";
    for (int64_t version : {14, 15}) {
        EXPECT_EQ(
            types_of("BatchNormalization", version, inputs, {{"training_mode", int64_t{1}}}, 3),
            "FLOAT16[N, 3, 4] FLOAT[3] FLOAT[3]");
    }
    inputs[1] = "FLOAT16[4]";
    EXPECT_EQ(finding_of("BatchNormalization", 15, inputs),
              "shape-mismatch: axis 1 of input `X` of `BatchNormalization` is 3, but axis 0 of "
              "input `scale` of `BatchNormalization` is 4: shapes `[N,3,4]` and `[4]` (both are "
              "the number of channels)");
}

TEST(GroupNormalization, ScaleByVersion) {
    Attributes groups = {{"num_groups", int64_t{2}}};
    EXPECT_EQ(
        types_of("GroupNormalization", 18, {"FLOAT[N, 4, 9]", "FLOAT[2]", "FLOAT[2]"}, groups),
        "FLOAT[N, 4, 9]");
    EXPECT_EQ(
        types_of("GroupNormalization", 21, {"FLOAT[N, 4, 9]", "FLOAT[4]", "FLOAT[4]"}, groups),
        "FLOAT[N, 4, 9]");
    EXPECT_EQ(
        finding_of("GroupNormalization", 21, {"FLOAT[N, 5, 9]", "FLOAT[5]", "FLOAT[5]"}, groups),
        "invalid-value: `X` has 5 channels, and that must be a multiple of `num_groups`, 2");
}

TEST(LayerNormalization, Statistics) {
    EXPECT_EQ(types_of("LayerNormalization", 17, {"FLOAT16[N, 3, 4]", "FLOAT16[3, 4]"},
                       {{"axis", int64_t{-2}}}, 3),
              "FLOAT16[N, 3, 4] FLOAT[N, 1, 1] FLOAT[N, 1, 1]");
    EXPECT_EQ(types_of("RMSNormalization", 23, {"FLOAT16[N, 3, 4]", "FLOAT[4]"}), "FLOAT[N, 3, 4]");
    EXPECT_EQ(finding_of("LayerNormalization", 17, {"FLOAT[N, 3, 4]", "FLOAT[3]"}),
              "shape-mismatch: axis 2 of input `X` of `LayerNormalization` is 4, but axis 0 of "
              "input `Scale` of `LayerNormalization` is 3: shapes `[N,3,4]` and `[3]` (both are "
              "the size along one normalized axis)");
}

TEST(Softmax, Axis) {
    EXPECT_EQ(types_of("Softmax", 13, {"FLOAT[N, 3]"}), "FLOAT[N, 3]");
    EXPECT_EQ(types_of("Softmax", 1, {"FLOAT[3]"}), "FLOAT[3]");
    EXPECT_EQ(finding_of("LogSoftmax", 13, {"FLOAT[N, 3]"}, {{"axis", int64_t{2}}}),
              "axis-out-of-range: axis 2 of `LogSoftmax` is outside a shape of rank 2 (use an axis "
              "from -2 to 1)");
}

TEST(Dropout, MaskByVersion) {
    for (int64_t version : {1, 6, 7}) {
        EXPECT_EQ(types_of("Dropout", version, {"DOUBLE[N]"}, {}, 2), "DOUBLE[N] DOUBLE[N]");
    }
    EXPECT_EQ(types_of("Dropout", 10, {"DOUBLE[N]"}, {}, 2), "DOUBLE[N] BOOL[N]");
    EXPECT_EQ(types_of("Dropout", 22, {"DOUBLE[N]", "FLOAT", "BOOL"}, {}, 2), "DOUBLE[N] BOOL[N]");
    EXPECT_EQ(finding_of("Dropout", 13, {"FLOAT[N]", Tensor::scalar<float>(1.5F)}),
              "invalid-value: `ratio` of `Dropout` is 1.5, and must be at least 0 and below 1");
}

TEST(Losses, Reduction) {
    std::vector<Input> inputs = {"FLOAT[N, 5, d]", "INT64[N, d]", "FLOAT[5]"};
    EXPECT_EQ(types_of("SoftmaxCrossEntropyLoss", 13, inputs, {{"reduction", "none"}}, 2),
              "FLOAT[N, d] FLOAT[N, 5, d]");
    EXPECT_EQ(types_of("NegativeLogLikelihoodLoss", 22, inputs), "FLOAT");
    inputs[1] = "INT64[N, d, 2]";
    EXPECT_EQ(finding_of("NegativeLogLikelihoodLoss", 13, inputs),
              "rank-mismatch: input `input` of `NegativeLogLikelihoodLoss` has rank 3 and input "
              "`target` of `NegativeLogLikelihoodLoss` has rank 3, and must have one less (the "
              "targets have no class dimension)");
}

}  // namespace
}  // namespace sardonyx::infer
