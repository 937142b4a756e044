// Expected types are those of onnx.shape_inference, with dims that it leaves open filled in.
#include <gtest/gtest.h>

#include "one_node.h"

namespace sardonyx::infer {
namespace {

constexpr int64_t kInt8 = 3;
constexpr int64_t kFloat16 = 10;

TEST(QuantizeLinear, OutputType) {
    EXPECT_EQ(types_of("QuantizeLinear", 10, {"FLOAT[N, 3]", "FLOAT"}), "UINT8[N, 3]");
    EXPECT_EQ(types_of("QuantizeLinear", 13, {"FLOAT[N, 3]", "FLOAT[3]", "INT8[3]"}), "INT8[N, 3]");
    EXPECT_EQ(types_of("QuantizeLinear", 21, {"FLOAT[N, 3]", "FLOAT"}, {{"output_dtype", kInt8}}),
              "INT8[N, 3]");
    EXPECT_EQ(finding_of("QuantizeLinear", 21, {"FLOAT[N, 3]", "FLOAT", "UINT8"},
                         {{"output_dtype", kInt8}}),
              "type-mismatch: input `y_zero_point` of `QuantizeLinear` is UINT8, but "
              "`output_dtype` is INT8 (leave `output_dtype` out: the zero point decides)");
    EXPECT_EQ(
        finding_of("QuantizeLinear", 21, {"FLOAT[N, 3]", "FLOAT"}, {{"output_dtype", kFloat16}}),
        "unsupported-type: `output_dtype` of `QuantizeLinear` is `FLOAT16`, and the output "
        "cannot be that (write a member of `TensorProto.DataType` that the output takes)");
}

TEST(DequantizeLinear, OutputType) {
    EXPECT_EQ(types_of("DequantizeLinear", 10, {"INT8[N, 3]", "FLOAT"}), "FLOAT[N, 3]");
    EXPECT_EQ(types_of("DequantizeLinear", 19, {"INT8[N, 3]", "FLOAT16"}), "FLOAT16[N, 3]");
    EXPECT_EQ(
        types_of("DequantizeLinear", 23, {"INT8[N, 3]", "FLOAT"}, {{"output_dtype", kFloat16}}),
        "FLOAT16[N, 3]");
}

TEST(Quantization, Scales) {
    Attributes blocks = {{"block_size", int64_t{3}}, {"axis", int64_t{1}}};
    EXPECT_EQ(types_of("QuantizeLinear", 21, {"FLOAT[2, 6]", "FLOAT[2, 2]"}, blocks),
              "UINT8[2, 6]");
    EXPECT_EQ(finding_of("QuantizeLinear", 21, {"FLOAT[2, 6]", "FLOAT[2, 4]"}, blocks),
              "shape-mismatch: axis 1 of input `y_scale` of `QuantizeLinear` is 4, and must be 2: "
              "`block_size` is 3 and the data has 6 there");
    EXPECT_EQ(finding_of("QuantizeLinear", 13, {"FLOAT[2, 6]", "FLOAT[5]"}),
              "shape-mismatch: axis 1 of input `x` of `QuantizeLinear` is 6, but axis 0 of input "
              "`y_scale` of `QuantizeLinear` is 5: shapes `[2,6]` and `[5]` (both are the size "
              "along `axis`)");
    EXPECT_EQ(
        finding_of("DequantizeLinear", 13, {"INT8[2, 6]", "FLOAT[6]"}, {{"axis", int64_t{2}}}),
        "axis-out-of-range: axis 2 of `DequantizeLinear` is outside a shape of rank 2 (use "
        "an axis from -2 to 1)");
    EXPECT_EQ(types_of("DequantizeLinear", 13, {"INT8[6]", "FLOAT[1]", "INT8"}), "FLOAT[6]");
}

TEST(Quantization, Products) {
    EXPECT_EQ(types_of("MatMulInteger", 10, {"UINT8[N, 4, 3]", "INT8[3, 2]"}), "INT32[N, 4, 2]");
    EXPECT_EQ(
        types_of("QLinearMatMul", 21,
                 {"UINT8[2, 4]", "FLOAT", "UINT8", "INT8[4, 3]", "FLOAT", "INT8", "FLOAT", "INT8"}),
        "INT8[2, 3]");
    EXPECT_EQ(types_of("DynamicQuantizeLinear", 11, {"FLOAT[N, 3]"}, {}, 3),
              "UINT8[N, 3] FLOAT UINT8");
    EXPECT_EQ(finding_of("MatMulInteger", 10, {"UINT8[4, 3]", "INT8[2, 2]"}),
              "shape-mismatch: axis 1 of input `A` of `MatMulInteger` is 3, but axis 0 of input "
              "`B` of `MatMulInteger` is 2: shapes `[4,3]` and `[2,2]` (both are the size that is "
              "summed over)");
}

}  // namespace
}  // namespace sardonyx::infer
