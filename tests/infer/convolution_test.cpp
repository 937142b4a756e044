// Expected types are those of onnx.shape_inference, with dims that it leaves open filled in.
#include <gtest/gtest.h>

#include "one_node.h"

namespace sardonyx::infer {
namespace {

TEST(Conv, KernelPadsStridesDilations) {
    EXPECT_EQ(types_of("Conv", 22, {"FLOAT[1, 3, 32, 32]", "FLOAT[8, 3, 3, 3]"}),
              "FLOAT[1, 8, 30, 30]");
    EXPECT_EQ(types_of("Conv", 11, {"FLOAT[N, 4, H, 9]", "FLOAT[6, 2, 3, 3]", "FLOAT[6]"},
                       {{"group", int64_t{2}},
                        {"strides", Ints{2, 1}},
                        {"pads", Ints{1, 1, 1, 1}},
                        {"dilations", Ints{1, 2}}}),
              "FLOAT[N, 6, (H+1)//2, 7]");
    EXPECT_EQ(types_of("Conv", 1, {"FLOAT[2, 4, N]", "FLOAT[6, 4, 3]"},
                       {{"auto_pad", "SAME_UPPER"}, {"strides", Ints{2}}}),
              "FLOAT[2, 6, (N+1)//2]");
    EXPECT_EQ(
        types_of("Conv", 22, {"FLOAT16[2, 4, 7]", "FLOAT16[6, 4, 3]"}, {{"auto_pad", "VALID"}}),
        "FLOAT16[2, 6, 5]");
}

TEST(Conv, PartlyKnown) {
    EXPECT_EQ(types_of("Conv", 22, {"FLOAT[...]", "FLOAT[8, 3, 3, 3]"}), "FLOAT[?, 8, ?, ?]");
    EXPECT_EQ(types_of("Conv", 22, {"FLOAT[1, 3, 9, 9]", "FLOAT[...]"}), "FLOAT[1, ?, ?, ?]");
    EXPECT_EQ(types_of("Conv", 22, {"FLOAT[1, 3, 9, 9]", "FLOAT[M, 3, K, 3]"}),
              "FLOAT[1, M, 10-K, 7]");
    EXPECT_EQ(types_of("Conv", 22, {"?", "FLOAT[...]"}), "FLOAT[...]");
}

TEST(Conv, Findings) {
    EXPECT_EQ(finding_of("Conv", 22, {"FLOAT[1, 4, 8, 8]", "FLOAT[8, 3, 3, 3]"}),
              "shape-mismatch: input `X` of `Conv` has 4 channels (axis 1), and input `W` of "
              "`Conv` takes 3 (its axis 1, 3, times `group`, 1) (axis 1 of the weight is the "
              "number of channels of one group)");
    EXPECT_EQ(
        finding_of("Conv", 22, {"FLOAT[1, 4, 8, 8]", "FLOAT[7, 2, 3, 3]"}, {{"group", int64_t{2}}}),
        "invalid-value: axis 0 of input `W` of `Conv` is 7, and must be a multiple of "
        "`group`, 2");
    EXPECT_EQ(finding_of("Conv", 22, {"FLOAT[4, 8]", "FLOAT[7, 2, 3, 3]"}),
              "rank-mismatch: input `X` of `Conv` is FLOAT[4, 8] of rank 2, and must have at least "
              "rank 3 (its dimensions are (batch, channel, spatial...))");
    EXPECT_EQ(finding_of("Conv", 22, {"FLOAT[1, 3, 8]", "FLOAT[8, 3, 3]"}, {{"strides", Ints{0}}}),
              "invalid-value: element 0 of `strides` of `Conv` is 0, and must be 1 or more");
    EXPECT_EQ(finding_of("Conv", 22, {"FLOAT[1, 3, 8]", "FLOAT[8, 3, 3]"}, {{"pads", Ints{1}}}),
              "invalid-value: `pads` of `Conv` has 1 elements, and must have 2");
    EXPECT_EQ(
        finding_of("Conv", 22, {"FLOAT[1, 3, 8]", "FLOAT[8, 3, 3]"}, {{"kernel_shape", Ints{4}}}),
        "shape-mismatch: axis 2 of input `W` of `Conv` is 3, and must be 4: element 0 of "
        "`kernel_shape`");
    EXPECT_EQ(finding_of("Conv", 22, {"FLOAT[1, 3, 2]", "FLOAT[8, 3, 3]"}),
              "invalid-value: the window spans 3 elements along spatial axis 0, and input `X` of "
              "`Conv` has 2 there with its padding (make the kernel or its dilation smaller, or "
              "the padding larger)");
    EXPECT_EQ(finding_of("Conv", 22, {"FLOAT[1, 3, 9]", "FLOAT[8, 3, 3]", "FLOAT[9]"}),
              "shape-mismatch: axis 0 of input `B` of `Conv` is 9, and must be 8: the output "
              "channels");
}

TEST(ConvTranspose, Sizes) {
    EXPECT_EQ(
        types_of("ConvTranspose", 22, {"FLOAT[1, 4, H, 7]", "FLOAT[4, 3, 3, 3]"},
                 {{"strides", Ints{2, 3}}, {"pads", Ints{1, 0, 1, 0}}, {"group", int64_t{2}}}),
        "FLOAT[1, 6, 2*H-1, 21]");
    EXPECT_EQ(types_of("ConvTranspose", 11, {"FLOAT[1, 4, H]", "FLOAT[4, 3, 3]"},
                       {{"strides", Ints{2}}, {"auto_pad", "SAME_LOWER"}}),
              "FLOAT[1, 3, 2*H]");
    EXPECT_EQ(types_of("ConvTranspose", 1, {"FLOAT[1, 4, 14]", "FLOAT[4, 3, 3]"},
                       {{"output_shape", Ints{29}}, {"strides", Ints{2}}}),
              "FLOAT[1, 3, 29]");
    EXPECT_EQ(types_of("ConvTranspose", 22, {"FLOAT[1, 4, 14]", "FLOAT[4, 3, 3]"},
                       {{"output_padding", Ints{1}}, {"strides", Ints{2}}}),
              "FLOAT[1, 3, 30]");
    // As ONNX Runtime; the reference evaluator gives 26.
    EXPECT_EQ(types_of("ConvTranspose", 11, {"FLOAT[1, 4, 13]", "FLOAT[4, 3, 1]"},
                       {{"strides", Ints{2}}, {"auto_pad", "SAME_LOWER"}}),
              "FLOAT[1, 3, 25]");
    EXPECT_EQ(finding_of("ConvTranspose", 22, {"FLOAT[1, 4, 3]", "FLOAT[4, 3, 3]"},
                         {{"pads", Ints{3, 3}}}),
              "invalid-value: the padding takes away more than there is along spatial axis 0: the "
              "output would have size -1");
}

TEST(ConvInteger, IsInt32) {
    EXPECT_EQ(types_of("ConvInteger", 10, {"UINT8[1, 1, 3, 3]", "UINT8[1, 1, 2, 2]", "UINT8"}),
              "INT32[1, 1, 2, 2]");
}

TEST(QLinearConv, TakesTheTypeOfTheZeroPoint) {
    EXPECT_EQ(types_of("QLinearConv", 10,
                       {"UINT8[1, 1, 7, 7]", "FLOAT", "UINT8", "INT8[4, 1, 1, 1]", "FLOAT[4]",
                        "INT8[4]", "FLOAT", "INT8", "INT32[4]"}),
              "INT8[1, 4, 7, 7]");
}

TEST(DeformConv, ChecksOffsets) {
    EXPECT_EQ(types_of("DeformConv", 22,
                       {"FLOAT[1, 1, 3, 3]", "FLOAT[1, 1, 2, 2]", "FLOAT[1, 8, 2, 2]", "FLOAT[1]",
                        "FLOAT[1, 4, 2, 2]"}),
              "FLOAT[1, 1, 2, 2]");
    EXPECT_EQ(finding_of("DeformConv", 19,
                         {"FLOAT[1, 1, 3, 3]", "FLOAT[1, 1, 2, 2]", "FLOAT[1, 7, 2, 2]"}),
              "shape-mismatch: axis 1 of input `offset` of `DeformConv` is 7, and must be 8: "
              "`offset_group` times the size of the kernel times the number of spatial axes");
}

}  // namespace
}  // namespace sardonyx::infer
