// Expected types are those of onnx.shape_inference, with dims that it leaves open filled in.
#include <gtest/gtest.h>

#include "one_node.h"

namespace sardonyx::infer {
namespace {

TEST(Recurrent, Layouts) {
    EXPECT_EQ(types_of("LSTM", 22, {"FLOAT[T, B, 4]", "FLOAT[2, 20, 4]", "FLOAT[2, 20, 5]"},
                       {{"direction", "bidirectional"}, {"hidden_size", int64_t{5}}}, 3),
              "FLOAT[T, 2, B, 5] FLOAT[2, B, 5] FLOAT[2, B, 5]");
    EXPECT_EQ(types_of("GRU", 14, {"FLOAT[B, T, 4]", "FLOAT[1, 15, 4]", "FLOAT[1, 15, 5]"},
                       {{"layout", int64_t{1}}}, 2),
              "FLOAT[B, T, 1, 5] FLOAT[B, 1, 5]");
    EXPECT_EQ(types_of("RNN", 1, {"FLOAT[T, B, 4]", "FLOAT[1, H, 4]", "FLOAT[1, H, H]"}, {}, 2),
              "FLOAT[T, 1, B, H] FLOAT[1, B, H]");
    EXPECT_EQ(types_of("GRU", 1, {"FLOAT[T, B, 4]", "FLOAT[...]", "FLOAT[...]"},
                       {{"hidden_size", int64_t{5}}}, 2),
              "FLOAT[T, 1, B, 5] FLOAT[1, B, 5]");
}

TEST(Recurrent, Findings) {
    EXPECT_EQ(finding_of("LSTM", 22, {"FLOAT[T, B, 4]", "FLOAT[1, 15, 4]", "FLOAT[1, 20, 5]"}),
              "shape-mismatch: axis 1 of input `W` of `LSTM` is 15, and must be 20: 4 times the "
              "hidden size");
    EXPECT_EQ(finding_of("LSTM", 22, {"FLOAT[T, B, 3]", "FLOAT[1, 20, 4]", "FLOAT[1, 20, 5]"}),
              "shape-mismatch: axis 2 of input `X` of `LSTM` is 3, but axis 2 of input `W` of "
              "`LSTM` is 4: shapes `[T,B,3]` and `[1,20,4]` (both are the input size)");
    EXPECT_EQ(finding_of("GRU", 22, {"FLOAT[T, B, 4]", "FLOAT[1, 15, 4]", "FLOAT[1, 15, 5]"},
                         {{"direction", "bidirectional"}}),
              "shape-mismatch: axis 0 of input `W` of `GRU` is 1, and must be 2: the number of "
              "directions that `direction` says");
    EXPECT_EQ(finding_of("RNN", 22, {"FLOAT[T, B, 4]", "FLOAT[1, 5, 4]", "FLOAT[1, 5, 5]"},
                         {{"hidden_size", int64_t{0}}}),
              "invalid-value: `hidden_size` of `RNN` is 0, and must be 1 or more");
}

}  // namespace
}  // namespace sardonyx::infer
