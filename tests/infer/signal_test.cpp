// Expected types are those of onnx.shape_inference, with dims that it leaves open filled in; where
// STFT has no `onesided` they are those of its default, 1.
#include <gtest/gtest.h>

#include "one_node.h"

namespace sardonyx::infer {
namespace {

Tensor scalar(int64_t value) {
    return Tensor::scalar<int64_t>(value);
}

TEST(DFT, Sizes) {
    EXPECT_EQ(types_of("DFT", 17, {"FLOAT[N, 10, 1]"}), "FLOAT[N, 10, 2]");
    EXPECT_EQ(types_of("DFT", 20, {"FLOAT[N, L, 1]"}, {{"onesided", int64_t{1}}}),
              "FLOAT[N, L//2+1, 2]");
    EXPECT_EQ(types_of("DFT", 20, {"FLOAT[N, L, 2]"},
                       {{"onesided", int64_t{1}}, {"inverse", int64_t{1}}}),
              "FLOAT[N, 2*L-2, 1]");
    EXPECT_EQ(types_of("DFT", 20, {"FLOAT[N, 10, 4, 1]", scalar(8), scalar(1)}),
              "FLOAT[N, 8, 4, 2]");
    EXPECT_EQ(types_of("DFT", 20, {"FLOAT[N, 10, 4, 1]", "INT64", scalar(1)}), "FLOAT[N, ?, 4, 2]");
    EXPECT_EQ(types_of("DFT", 20, {"FLOAT[N, 10, 4, 1]", "", "INT64"}), "FLOAT[N, 10, 4, 2]");
}

TEST(DFT, Findings) {
    EXPECT_EQ(finding_of("DFT", 20, {"FLOAT[N, 10, 1]", "", scalar(2)}),
              "axis-out-of-range: axis 2 of `DFT` is the last, which holds real and imaginary "
              "parts");
    EXPECT_EQ(finding_of("DFT", 17, {"FLOAT[N, 10]"}),
              "shape-mismatch: the last axis of input `input` of `DFT` is 10, and must be 1 (real) "
              "or 2 (complex) (add an axis of size 1 at the end of a real signal)");
    EXPECT_EQ(finding_of("DFT", 20, {"FLOAT[N, 10, 2]"}, {{"onesided", int64_t{1}}}),
              "shape-mismatch: axis 2 of input `input` of `DFT` is 2, and must be 1: a one-sided "
              "transform takes real input");
    EXPECT_EQ(finding_of("DFT", 20, {"FLOAT[N, 10, 1]", scalar(0)}),
              "invalid-value: input `dft_length` of `DFT` is 0, and must be 1 or more");
}

TEST(STFT, Sizes) {
    EXPECT_EQ(types_of("STFT", 17, {"FLOAT[2, 128, 1]", scalar(8), "FLOAT[16]"}),
              "FLOAT[2, 15, 9, 2]");
    EXPECT_EQ(types_of("STFT", 17, {"FLOAT[B, L, 1]", scalar(8), "", scalar(16)},
                       {{"onesided", int64_t{0}}}),
              "FLOAT[B, L//8-1, 16, 2]");
    EXPECT_EQ(types_of("STFT", 17, {"FLOAT[B, L, 1]", "INT64", "", "INT64"}), "FLOAT[B, ?, ?, 2]");
    EXPECT_EQ(finding_of("STFT", 17, {"FLOAT[2, 128, 1]", scalar(8), "FLOAT[16]", scalar(12)}),
              "shape-mismatch: axis 0 of input `window` of `STFT` is 16, and must be 12: "
              "`frame_length`");
}

TEST(Windows, Sizes) {
    EXPECT_EQ(types_of("HannWindow", 17, {scalar(10)}), "FLOAT[10]");
    EXPECT_EQ(types_of("BlackmanWindow", 17, {"INT32"}, {{"output_datatype", int64_t{11}}}),
              "DOUBLE[?]");
    EXPECT_EQ(finding_of("HammingWindow", 17, {scalar(-1)}),
              "invalid-value: input `size` of `HammingWindow` is -1, and must be 0 or more");
    EXPECT_EQ(types_of("MelWeightMatrix", 17, {scalar(8), scalar(16), "INT64", "FLOAT", "FLOAT"}),
              "FLOAT[9, 8]");
}

}  // namespace
}  // namespace sardonyx::infer
