// Expected types are those of the operator reference: onnx.shape_inference gives dims of 0 where a
// past of symbolic sizes or a packed symbolic size is involved.
#include <gtest/gtest.h>

#include "one_node.h"

namespace sardonyx::infer {
namespace {

TEST(Attention, FourAxes) {
    EXPECT_EQ(
        types_of("Attention", 23, {"FLOAT[B, 9, S, 8]", "FLOAT[B, 3, T, 8]", "FLOAT[B, 3, T, 10]"}),
        "FLOAT[B, 9, S, 10]");
    EXPECT_EQ(types_of("Attention", 25,
                       {"FLOAT[2, 9, 4, 8]", "FLOAT[2, 3, T, 8]", "FLOAT[2, 3, T, 10]",
                        "FLOAT[4, T]", "FLOAT[2, 3, 12, 8]", "FLOAT[2, 3, 12, 10]"},
                       {}, 4),
              "FLOAT[2, 9, 4, 10] FLOAT[2, 3, T+12, 8] FLOAT[2, 3, T+12, 10] FLOAT[2, 9, 4, T+12]");
}

TEST(Attention, Packed) {
    Attributes heads = {{"q_num_heads", int64_t{3}}, {"kv_num_heads", int64_t{3}}};
    EXPECT_EQ(
        types_of("Attention", 24, {"FLOAT[B, 4, 24]", "FLOAT[B, 6, 24]", "FLOAT[B, 6, 30]"}, heads),
        "FLOAT[B, 4, 30]");
    EXPECT_EQ(finding_of("Attention", 24, {"FLOAT[B, 4, 25]", "FLOAT[B, 6, 24]", "FLOAT[B, 6, 30]"},
                         heads),
              "shape-mismatch: the last dimension of input `Q` of `Attention` is 25, and must be a "
              "multiple of `q_num_heads`, 3");
    EXPECT_EQ(
        finding_of("Attention", 24, {"FLOAT[B, 4, 24]", "FLOAT[B, 6, 24]", "FLOAT[B, 6, 30]"}),
        "invalid-value: input `Q` of `Attention` has rank 3, and then `q_num_heads` is "
        "needed (write `q_num_heads=...`, or give input `Q` of `Attention` rank 4)");
}

TEST(Attention, Findings) {
    EXPECT_EQ(finding_of("Attention", 23,
                         {"FLOAT[B, 9, S, 8]", "FLOAT[B, 3, T, 7]", "FLOAT[B, 3, T, 7]"}),
              "shape-mismatch: the head size of input `Q` of `Attention` is 8 and that of input "
              "`K` of `Attention` is 7, and they must be equal");
    EXPECT_EQ(finding_of("Attention", 23,
                         {"FLOAT[B, 9, S, 8]", "FLOAT[B, 2, T, 8]", "FLOAT[B, 2, T, 8]"}),
              "invalid-value: `Attention` has 9 heads of queries and 2 of keys, and the first must "
              "be a multiple of the second");
    EXPECT_EQ(finding_of("Attention", 23,
                         {"FLOAT[B, 9, S, 8]", "FLOAT[B, 3, T, 8]", "FLOAT[B, 3, T, 8]", "",
                          "FLOAT[B, 3, P, 8]"}),
              "invalid-value: `Attention` has only one of `past_key` and `past_value` (give both, "
              "or neither)");
}

TEST(FlexAttention, Types) {
    EXPECT_EQ(types_of("FlexAttention", 1,
                       {"FLOAT16[B, 4, S, 8]", "FLOAT16[B, 2, T, 8]", "FLOAT16[B, 2, T, 6]"}, {}, 1,
                       "ai.onnx.preview"),
              "FLOAT16[B, 4, S, 6]");
}

TEST(LinearAttention, Types) {
    EXPECT_EQ(
        types_of(
            "LinearAttention", 27, {"FLOAT[B, T, 32]", "FLOAT[B, T, 16]", "FLOAT[B, T, 20]"},
            {{"q_num_heads", int64_t{4}}, {"kv_num_heads", int64_t{2}}, {"update_rule", "linear"}},
            2),
        "FLOAT[B, T, 40] FLOAT[B, 2, 8, 10]");
}

TEST(LinearAttention, Gates) {
    auto finding = [](const std::vector<Input>& gates, std::string_view rule) {
        std::vector<Input> inputs{"FLOAT[2, 4, 32]", "FLOAT[2, 4, 16]", "FLOAT[2, 4, 16]", ""};
        inputs.insert(inputs.end(), gates.begin(), gates.end());
        Answer answer = infer_one({}, "LinearAttention", 27, inputs,
                                  {{"q_num_heads", int64_t{4}},
                                   {"kv_num_heads", int64_t{2}},
                                   {"update_rule", std::string(rule)}},
                                  2);
        return answer.findings.empty() ? std::string() : answer.findings.front();
    };
    EXPECT_EQ(finding({"FLOAT[2, 4, 16]", "FLOAT[2, 4, 2]"}, "gated_delta"), "");
    EXPECT_EQ(finding({"FLOAT[2, 4, 2]", "FLOAT[2, 4, 1]"}, "gated_delta"), "");
    EXPECT_EQ(finding({"FLOAT[2, 4, 2]"}, "gated_delta"),
              "argument-count: `update_rule` of `LinearAttention` is `gated_delta`, which needs "
              "`beta` (give the input, or another rule)");
    EXPECT_NE(finding({"FLOAT[2, 4, 3]"}, "gated").find("must be 2 or 16"), std::string::npos);
    EXPECT_NE(finding({"FLOAT[2, 5, 2]"}, "gated").find("the sequence length"), std::string::npos);
    EXPECT_NE(finding({"FLOAT[2, 2]"}, "gated").find("rank"), std::string::npos);
}

TEST(CausalConvWithState, Types) {
    EXPECT_EQ(types_of("CausalConvWithState", 27, {"FLOAT[B, 6, L]", "FLOAT[6, 1, 4]", "FLOAT[6]"},
                       {}, 2),
              "FLOAT[B, 6, L] FLOAT[B, 6, 3]");
}

TEST(RotaryEmbedding, Types) {
    EXPECT_EQ(types_of("RotaryEmbedding", 23,
                       {"FLOAT[B, 4, S, 8]", "FLOAT[50, 4]", "FLOAT[50, 4]", "INT64[B, S]"}),
              "FLOAT[B, 4, S, 8]");
    EXPECT_EQ(finding_of("RotaryEmbedding", 23,
                         {"FLOAT[B, 4, S, 8]", "FLOAT[50, 3]", "FLOAT[50, 4]", "INT64[B, S]"}),
              "shape-mismatch: axis 1 of input `cos_cache` of `RotaryEmbedding` is 3, and must be "
              "4: half of the rotated size");
}

TEST(TensorScatter, Types) {
    EXPECT_EQ(
        types_of("TensorScatter", 24, {"FLOAT[B, 4, 50, 8]", "FLOAT[B, 4, S, 8]", "INT64[B]"}),
        "FLOAT[B, 4, 50, 8]");
    EXPECT_EQ(finding_of("TensorScatter", 24, {"FLOAT[B, 4, 50, 8]", "FLOAT[B, 4, S, 8]"},
                         {{"axis", int64_t{0}}}),
              "axis-out-of-range: `axis` of `TensorScatter` is the batch dimension (name the "
              "dimension of the sequence)");
}

}  // namespace
}  // namespace sardonyx::infer
