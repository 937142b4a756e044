// What inference says of nodes that are wrong.
#include "builder.h"

namespace sardonyx::infer {
namespace {

using ir::make_attribute;
using Ints = std::vector<int64_t>;

TEST(Findings, OneTypeForOneVariable) {
    Builder b;
    b.op("Add", {b.input("FLOAT[2]"), b.input("INT64[2]")});
    EXPECT_EQ(b.found(),
              "type-mismatch: input `B` of `Add` is INT64[2], but input `A` of `Add` is FLOAT[2]: "
              "both must be of one type (`T`)\n");
    EXPECT_EQ(b.findings[0].input, 1);
    EXPECT_EQ(b.findings[0].other_input, 0);
}

TEST(Findings, TypeThatIsNotTaken) {
    Builder b(13);
    b.op("Relu", {b.input("INT32[2]")});
    EXPECT_EQ(b.found(),
              "unsupported-type: input `X` of `Relu` is INT32[2], which the operator "
              "does not take\n");
    EXPECT_EQ(b.findings[0].help,
              "opset 14 takes it; this one takes FLOAT, FLOAT16, DOUBLE, "
              "BFLOAT16");
    Builder other;
    other.op("Sin", {other.input("STRING")});
    EXPECT_EQ(other.findings.at(0).help,
              "it takes FLOAT, FLOAT16, DOUBLE, BFLOAT16; convert the value with `Cast`");
    Builder sequence;
    sequence.op("Neg", {sequence.input("Sequence[FLOAT[2]]")});
    EXPECT_EQ(sequence.findings.size(), 1U);
}

TEST(Findings, Broadcast) {
    Builder b;
    b.op("Add", {b.input("FLOAT[2, 3]"), b.input("FLOAT[4, 3]")});
    EXPECT_EQ(b.found(),
              "broadcast-mismatch: `Add` cannot broadcast shapes `[2,3]` and `[4,3]`: "
              "axis -2 is 2 in one and 4 in the other\n");
    Builder symbolic;
    symbolic.op("Add", {symbolic.input("FLOAT[N+2]"), symbolic.input("FLOAT[N+3]")});
    EXPECT_EQ(symbolic.findings.size(), 1U) << "both exceed 1 and differ by 1";
    Builder variadic;
    variadic.op("Sum", {variadic.input("FLOAT[2]"), variadic.input("FLOAT[1]"),
                        variadic.input("FLOAT[3]")});
    ASSERT_EQ(variadic.findings.size(), 1U);
    EXPECT_EQ(variadic.findings[0].input, 2);
    EXPECT_EQ(variadic.findings[0].other_input, 0);
}

TEST(Findings, ShapesRanksAndAxes) {
    Builder b;
    b.op("Gemm", {b.input("FLOAT[2, 3]"), b.input("FLOAT[4, 5]")});
    b.op("Gemm", {b.input("FLOAT[2]"), b.input("FLOAT[4, 5]")});
    b.op("Concat", {b.input("FLOAT[2, 3]"), b.input("FLOAT[2, 4]")},
         {make_attribute("axis", int64_t{0})});
    b.op("Softmax", {b.input("FLOAT[2, 3]")}, {make_attribute("axis", int64_t{2})});
    b.op("Squeeze", {b.input("FLOAT[2, 3]"), b.ints({1})});
    b.op("Unsqueeze", {b.input("FLOAT[2, 3]"), b.ints({0, 0})});
    b.op("Gather", {b.input("FLOAT[2, 3]"), b.scalar(2)});
    b.op("Reshape", {b.input("FLOAT[2, 3]"), b.ints({4, -1})});
    b.op("Reshape", {b.input("FLOAT[2, 3]"), b.ints({-1, -1})});
    b.op("Transpose", {b.input("FLOAT[2, 3]")}, {make_attribute("perm", Ints{0, 0})});
    b.op("Expand", {b.input("FLOAT[2, 3]"), b.ints({3, 3})});
    std::string codes;
    for (const Finding& finding : b.findings) {
        codes += std::string(finding.kind->code) + " ";
    }
    EXPECT_EQ(codes,
              "shape-mismatch rank-mismatch shape-mismatch axis-out-of-range shape-mismatch "
              "invalid-value invalid-value shape-mismatch invalid-value invalid-value "
              "broadcast-mismatch ");
    EXPECT_EQ(b.findings[0].message,
              "axis 1 of input `A` of `Gemm` is 3, but axis 0 of input `B` of `Gemm` is 4: shapes "
              "`[2,3]` and `[4,5]`");
}

TEST(Findings, CountsAndAttributes) {
    Builder b;
    b.op("Add", {b.input("FLOAT")});
    b.op("Neg", {nullptr});
    b.op("Flatten", {b.input("FLOAT[2, 3]")}, {make_attribute("axis", 1.0F)});
    EXPECT_EQ(b.found(),
              "argument-count: `Add` takes 2 inputs, and `B` is missing\n"
              "argument-count: `Neg` takes 1 input, and `X` is missing\n"
              "node-attribute-type: attribute `axis` of `Flatten` is FLOAT, and must be INT\n");
    EXPECT_EQ(b.findings[2].attribute, "axis");
}

TEST(Findings, DefaultOfAnInputIsNotConstant) {
    Builder b;
    b.model.ir_version = 8;
    ir::Value* shape = b.input("INT64[1]");
    std::vector<int64_t> six = {6};
    b.model.add_default(shape, Tensor::of<int64_t>({1}, std::span<const int64_t>(six)));
    EXPECT_EQ(type_of(b.op("Expand", {b.input("FLOAT[1]"), shape})), "FLOAT[unk__0]");
    b.model.ir_version = 3;  // every initializer had to be an input then
    EXPECT_EQ(type_of(b.op("Expand", {b.input("FLOAT[1]"), shape})), "FLOAT[6]");
}

}  // namespace
}  // namespace sardonyx::infer
