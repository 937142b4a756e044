// Expected types are those of onnx.shape_inference, with dims that it leaves open filled in; the
// sizes with ceil_mode are those that ONNX Runtime gives.
#include <gtest/gtest.h>

#include "one_node.h"

namespace sardonyx::infer {
namespace {

TEST(Pool, CeilMode) {
    auto pooled = [](const char* x, Ints kernel, Ints strides, Ints pads) {
        return types_of("MaxPool", 22, {x},
                        {{"kernel_shape", std::move(kernel)},
                         {"strides", std::move(strides)},
                         {"pads", std::move(pads)},
                         {"ceil_mode", int64_t{1}}});
    };
    EXPECT_EQ(pooled("FLOAT[1, 1, 4, 4]", {3, 3}, {2, 2}, {0, 0, 0, 0}), "FLOAT[1, 1, 2, 2]");
    EXPECT_EQ(pooled("FLOAT[1, 1, 2, 2]", {1, 1}, {2, 2}, {0, 0, 0, 0}), "FLOAT[1, 1, 1, 1]");
    EXPECT_EQ(pooled("FLOAT[1, 1, 2, 2]", {1, 1}, {3, 3}, {0, 0, 0, 0}), "FLOAT[1, 1, 1, 1]");
    EXPECT_EQ(pooled("FLOAT[1, 1, H]", {3}, {2}, {0, 0}), "FLOAT[1, 1, H//2]");
    EXPECT_EQ(pooled("FLOAT[1, 1, H]", {1}, {3}, {0, 0}), "FLOAT[1, 1, (H+2)//3]");
}

TEST(Pool, AllVersions) {
    for (int64_t version : {1, 7, 10, 11, 19, 22}) {
        EXPECT_EQ(types_of("AveragePool", version, {"FLOAT[N, 3, 32, 32]"},
                           {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}}),
                  "FLOAT[N, 3, 16, 16]");
    }
    EXPECT_EQ(types_of("MaxPool", 12, {"INT8[N, 3, W]"}, {{"kernel_shape", Ints{3}}}, 2),
              "INT8[N, 3, W-2] INT64[N, 3, W-2]");
    EXPECT_EQ(types_of("MaxPool", 1, {"FLOAT[N, 3, W]"}, {{"kernel_shape", Ints{3}}}),
              "FLOAT[N, 3, W-2]");
    EXPECT_EQ(types_of("LpPool", 18, {"FLOAT[N, 3, 9]"},
                       {{"kernel_shape", Ints{2}}, {"dilations", Ints{3}}}),
              "FLOAT[N, 3, 6]");
}

TEST(Pool, Global) {
    EXPECT_EQ(types_of("GlobalAveragePool", 22, {"FLOAT[N, C, H, W]"}), "FLOAT[N, C, 1, 1]");
    EXPECT_EQ(types_of("GlobalLpPool", 2, {"FLOAT[N, C, 9]"}), "FLOAT[N, C, 1]");
}

TEST(MaxUnpool, OutputShape) {
    EXPECT_EQ(types_of("MaxUnpool", 22, {"FLOAT[1, 1, 2, W]", "INT64[1, 1, 2, W]"},
                       {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}}),
              "FLOAT[1, 1, 4, 2*W]");
    EXPECT_EQ(
        types_of("MaxUnpool", 22, {"FLOAT[1, 1, 2, 2]", "INT64[1, 1, 2, 2]", int64s({1, 1, 5, 5})},
                 {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}}),
        "FLOAT[1, 1, 5, 5]");
}

TEST(Regions, Shapes) {
    EXPECT_EQ(types_of("MaxRoiPool", 22, {"FLOAT[2, 3, 9, 9]", "FLOAT[R, 5]"},
                       {{"pooled_shape", Ints{2, 4}}}),
              "FLOAT[R, 3, 2, 4]");
    EXPECT_EQ(types_of("RoiAlign", 16, {"FLOAT[2, 3, 9, 9]", "FLOAT[...]", "INT64[R]"},
                       {{"output_height", int64_t{5}}}),
              "FLOAT[R, 3, 5, 1]");
    EXPECT_EQ(finding_of("RoiAlign", 16, {"FLOAT[2, 3, 9, 9]", "FLOAT[6, 4]", "INT64[7]"}),
              "shape-mismatch: axis 0 of input `rois` of `RoiAlign` is 6, but axis 0 of input "
              "`batch_indices` of `RoiAlign` is 7: shapes `[6,4]` and `[7]` (both are the number "
              "of regions)");
}

TEST(Pool, HostileAttributes) {
    for (int64_t value : {INT64_MIN, int64_t{-1}, int64_t{0}, INT64_MAX}) {
        for (const char* attribute : {"kernel_shape", "strides", "dilations"}) {
            Answer answer = infer_one("", "MaxPool", 22, {"FLOAT[1, 1, 8]"},
                                      {{"kernel_shape", Ints{2}}, {attribute, Ints{value}}});
            EXPECT_FALSE(answer.types.empty()) << attribute << " " << value;
        }
    }
    EXPECT_EQ(finding_of("MaxPool", 22, {"FLOAT[1, 1, 8]"}, {{"kernel_shape", Ints{2, 2}}}),
              "invalid-value: `kernel_shape` of `MaxPool` has 2 elements, and must have 1");
    EXPECT_EQ(finding_of("MaxPool", 22, {"FLOAT[1, 1, 8]"},
                         {{"kernel_shape", Ints{2}}, {"dilations", Ints{-1}}}),
              "invalid-value: element 0 of `dilations` of `MaxPool` is -1, and must be 1 or more");
}

}  // namespace
}  // namespace sardonyx::infer
