// Expected types are those of onnx.shape_inference, with dims that it leaves open filled in.
#include <gtest/gtest.h>

#include <cmath>

#include "one_node.h"

namespace sardonyx::infer {
namespace {

TEST(Resize, Scales) {
    EXPECT_EQ(types_of("Resize", 10, {"FLOAT[N, 3, H, 7]", floats({1, 1, 0.5F, 0.6F})}),
              "FLOAT[N, 3, H//2, 4]");
    EXPECT_EQ(types_of("Resize", 19, {"FLOAT[N, 3, H, W]", "", floats({1, 1, 2, 1.25F})}),
              "FLOAT[N, 3, 2*H, W+W//4]");
    EXPECT_EQ(types_of("Resize", 18, {"FLOAT[N, 3, H, 8]", "", floats({3, 0.25F})},
                       {{"axes", Ints{-2, 3}}}),
              "FLOAT[N, 3, 3*H, 2]");
    EXPECT_EQ(types_of("Resize", 11, {"FLOAT[1, 1, 2, 2]", floats({}), floats({1, 1, 2, 3})}),
              "FLOAT[1, 1, 4, 6]");
    EXPECT_EQ(types_of("Resize", 19, {"FLOAT[N, 3, H, W]", "", "FLOAT[2]"}, {{"axes", Ints{2, 3}}}),
              "FLOAT[N, 3, ?, ?]");
}

TEST(Resize, Sizes) {
    Dim h = Dim::symbol("H");
    EXPECT_EQ(types_of("Resize", 13, {"FLOAT[N, 3, H, 7]", "", "", std::vector<Dim>{1, 3, h, 9}}),
              "FLOAT[1, 3, H, 9]");
    auto kept = [](const char* policy) {
        return types_of("Resize", 18, {"FLOAT[1, 1, 2, 4]", "", "", int64s({7, 8})},
                        {{"axes", Ints{2, 3}}, {"keep_aspect_ratio_policy", policy}});
    };
    EXPECT_EQ(kept("stretch"), "FLOAT[1, 1, 7, 8]");
    EXPECT_EQ(kept("not_larger"), "FLOAT[1, 1, 4, 8]");
    EXPECT_EQ(kept("not_smaller"), "FLOAT[1, 1, 7, 14]");
}

TEST(Resize, Findings) {
    EXPECT_EQ(finding_of("Resize", 19, {"FLOAT[1, 1, 2, 2]"}),
              "invalid-value: `Resize` has neither `scales` nor `sizes` (give one of them)");
    EXPECT_EQ(finding_of("Resize", 19, {"FLOAT[1, 1, 2, 2]", "", floats({2, 2})}),
              "shape-mismatch: the list of scales of `Resize` has 2 elements for 4 axes (write one "
              "element for each axis, batch and channels included)");
    EXPECT_EQ(finding_of("Resize", 10, {"FLOAT[1, 2]", floats({1, -2})}),
              "invalid-value: scale 1 of `Resize` is -2, and must be above 0");
    EXPECT_EQ(types_of("Resize", 10, {"FLOAT[9, N]", floats({INFINITY, 1e30F})}), "FLOAT[?, ?]");
}

TEST(Upsample, Versions) {
    EXPECT_EQ(types_of("Upsample", 7, {"FLOAT[N, 3, H, W]"},
                       {{"scales", std::vector<float>{1, 1, 2, 3}}}),
              "FLOAT[N, 3, 2*H, 3*W]");
    EXPECT_EQ(types_of("Upsample", 9, {"FLOAT[N, 3, 2, 2]", floats({1, 1, 2, 3})}),
              "FLOAT[N, 3, 4, 6]");
    EXPECT_EQ(types_of("Upsample", 1, {"FLOAT[N, 3, 2, 2]"},
                       {{"height_scale", 2.0F}, {"width_scale", 1.5F}}),
              "FLOAT[N, 3, 4, 3]");
}

TEST(Sampling, Grids) {
    EXPECT_EQ(types_of("GridSample", 16, {"FLOAT[N, 3, 4, 5]", "FLOAT[N, h, w, 2]"}),
              "FLOAT[N, 3, h, w]");
    EXPECT_EQ(types_of("GridSample", 22, {"FLOAT[N, 3, 4, 5, 6]", "FLOAT[N, h, w, d, 3]"}),
              "FLOAT[N, 3, h, w, d]");
    EXPECT_EQ(finding_of("GridSample", 22, {"FLOAT[N, 3, 4, 5]", "FLOAT[N, h, w, 3]"}),
              "shape-mismatch: axis 3 of input `grid` of `GridSample` is 3, and must be 2: one "
              "coordinate for each spatial axis");
    EXPECT_EQ(types_of("AffineGrid", 20, {"FLOAT[N, 2, 3]", int64s({4, 3, 5, 6})}),
              "FLOAT[4, 5, 6, 2]");
    EXPECT_EQ(types_of("AffineGrid", 20, {"FLOAT[N, 3, 4]", "INT64[...]"}), "FLOAT[N, ?, ?, ?, 3]");
}

TEST(Boxes, NonMaxSuppression) {
    EXPECT_EQ(types_of("NonMaxSuppression", 11, {"FLOAT[1, 9, 4]", "FLOAT[1, 2, 9]"}),
              "INT64[?, 3]");
    EXPECT_EQ(finding_of("NonMaxSuppression", 10, {"FLOAT[1, 9, 4]", "FLOAT[1, 2, 8]"}),
              "shape-mismatch: axis 1 of input `boxes` of `NonMaxSuppression` is 9, but axis 2 of "
              "input `scores` of `NonMaxSuppression` is 8: shapes `[1,9,4]` and `[1,2,8]` (both "
              "are the number of boxes)");
}

TEST(Images, CropPadDecodeAssemble) {
    EXPECT_EQ(types_of("CenterCropPad", 18, {"FLOAT[20, W, 3]", std::vector<Dim>{10, Dim()}},
                       {{"axes", Ints{-3, 1}}}),
              "FLOAT[10, ?, 3]");
    EXPECT_EQ(types_of("ImageDecoder", 20, {"UINT8[n]"}, {{"pixel_format", "Grayscale"}}),
              "UINT8[?, ?, 1]");
    EXPECT_EQ(types_of("Col2Im", 18, {"FLOAT[N, 10, 5]", int64s({5, 6}), int64s({1, 5})}),
              "FLOAT[N, 2, 5, 6]");
    EXPECT_EQ(finding_of("Col2Im", 18, {"FLOAT[N, 9, 5]", int64s({5, 6}), int64s({1, 5})}),
              "shape-mismatch: axis 1 of input `input` of `Col2Im` is 9, and must be a multiple of "
              "the block's size, 5");
}

}  // namespace
}  // namespace sardonyx::infer
